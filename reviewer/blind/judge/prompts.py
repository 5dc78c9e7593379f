"""The messages to a model judge: the session's rubric word for word, and the sheet that a scorer would see.

They are made from sheets only, so that a judge is as blind as a scorer.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from PIL import Image

from agent import tool
from agent.plot import RENDERER, pixels_sha256
from agent.trajectory import Trajectory
from agent.trajectory.messages import data_url
from reviewer.blind.plan import CANNOT_TELL, PREFERENCES, SCORES, Dimension, Kind
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import Question, SheetStep, SheetTrace
from reviewer.store import Store

FILE = Path(__file__).with_name("prompts.toml")

Block = dict[str, Any]
Message = dict[str, Any]


@dataclass(frozen=True)
class Prompts:
    """The texts of ``prompts.toml``, with ``$names`` as placeholders."""

    instructions: str
    pictures: str
    text: str
    score: str
    pair: str
    answer: str
    again: str
    fields: Mapping[str, str]


@cache
def prompts() -> Prompts:
    """Return the texts that come with the program."""
    with FILE.open("rb") as opened:
        texts = tomllib.load(opened)
    fields = texts.pop("fields")
    return Prompts(**{name: text.strip() for name, text in texts.items()}, fields=fields)


@dataclass(frozen=True)
class TraceForJudge:
    """One trace with its pictures, by their number on the sheet; none for a judge that sees text alone."""

    trace: SheetTrace
    pictures: Sequence[Image.Image] = ()


@dataclass(frozen=True)
class Briefing:
    """The instructions to one judge in one session.

    :param dimensions: the dimensions to score; a judge of one gets no pairs, as that question is about both
    """

    rubric: Rubric
    dimensions: tuple[Dimension, ...]
    pictures: bool

    @property
    def sha256(self) -> str:
        """Return the hash of everything that is the same for all traces."""
        fixed = {
            "prompts": asdict(prompts()),
            "rubric": self.rubric.to_json(),
            "dimensions": self.dimensions,
            "pictures": self.pictures,
        }
        return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()

    def fields(self, kind: Kind) -> tuple[str, ...]:
        """Return the fields of an answer. The justification comes first, so that the model reasons before it scores."""
        fields = (*self.dimensions, "wrong_steps") if kind == "scores" else ("preference",)
        return ("justification", *fields)

    def messages(self, question: Question, shown: Sequence[TraceForJudge]) -> list[Message]:
        """Return the messages about one trace, or about a pair as left and right."""
        kind: Kind = "scores" if len(shown) == 1 else "pair"
        blocks = list(self._blocks(question, shown))
        content: str | list[Block] = blocks if self.pictures else "".join(block["text"] for block in blocks)
        return [{"role": "system", "content": self._instructions(kind)}, {"role": "user", "content": content}]

    def again(self, kind: Kind, reply: str, fault: str) -> list[Message]:
        """Return the messages that follow an answer that cannot be read."""
        fields = ", ".join(self.fields(kind))
        request = Template(prompts().again).substitute(fault=fault, fields=fields)
        # Some servers refuse an empty turn.
        return [{"role": "assistant", "content": reply or "{}"}, {"role": "user", "content": request}]

    def schema(self, kind: Kind, shown: Sequence[TraceForJudge]) -> dict[str, Any]:
        """Return the JSON schema of the answer for ``response_format``."""
        text = {"type": "string"}
        score = {"anyOf": [{"type": "integer", "enum": list(SCORES)}, {"type": "string", "enum": [CANNOT_TELL]}]}
        forms: dict[str, Any] = dict.fromkeys(self.dimensions, score)
        forms["justification"] = text
        forms["preference"] = {"type": "string", "enum": list(PREFERENCES)}
        steps = [step.id for step in shown[0].trace.steps]
        forms["wrong_steps"] = {
            "type": "array",
            "items": {"type": "string", "enum": steps} if steps else text,
        }
        fields = self.fields(kind)
        form = {
            "type": "object",
            "properties": {name: forms[name] for name in fields},
            "required": list(fields),
            "additionalProperties": False,
        }
        return {"type": "json_schema", "json_schema": {"name": "judgement", "strict": True, "schema": form}}

    def _instructions(self, kind: Kind) -> str:
        texts = prompts()
        what = texts.score if kind == "scores" else texts.pair
        rules = self._scales() if kind == "scores" else self._choices()
        seen = texts.pictures if self.pictures else texts.text
        return "\n\n".join((texts.instructions, seen, what, *rules, f"{texts.answer}\n{self._form(kind)}"))

    def _scales(self) -> Iterator[str]:
        for dimension in self.dimensions:
            scale = self.rubric.scale(dimension)
            anchors = [f"{anchor.score}: {anchor.short}. {anchor.text}" for anchor in scale.anchors]
            yield "\n".join((f"{scale.title} ({dimension}). {scale.question}", *anchors))
        yield f"Instead of a number, “{CANNOT_TELL}”: {self.rubric.cannot_tell.text}"

    def _choices(self) -> Iterator[str]:
        choices = [f"{choice.key}: {choice.text}" for choice in self.rubric.choices]
        yield "\n".join((self.rubric.preference_question, *choices))

    def _form(self, kind: Kind) -> str:
        wording = prompts().fields
        lines = []
        for name in self.fields(kind):
            text = wording["score"] if name in self.dimensions else wording[name]
            choices = ", ".join(f'"{choice}"' for choice in PREFERENCES)
            lines.append(f'"{name}": {Template(text).substitute(choices=choices)}')
        return "\n".join(lines)

    def _blocks(self, question: Question, shown: Sequence[TraceForJudge]) -> Iterator[Block]:
        question_text = "\n\n".join(filter(None, (question.title, question.question, question.guide)))
        yield _text(f"What was asked about the spectrum:\n{question_text}\n")
        for name, one in zip(("",) if len(shown) == 1 else ("left", "right"), shown, strict=True):
            yield _text(f"\n{name.capitalize()}:\n<trace>\n" if name else "\n<trace>\n")
            if one.trace.overview is not None:
                yield from self._picture("The whole spectrum, seen first", one, one.trace.overview)
            for step in one.trace.steps:
                yield _text(_step(step))
                if step.picture is not None:
                    yield from self._picture(f"What was seen in {step.id}", one, step.picture)
            yield _text("</trace>\n")

    def _picture(self, what: str, shown: TraceForJudge, number: int) -> Iterator[Block]:
        if self.pictures:
            yield _text(f"{what}:\n")
            yield {"type": "image_url", "image_url": {"url": data_url(shown.pictures[number])}}
            yield _text("\n")


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _step(step: SheetStep) -> str:
    match step.kind:
        case "think":
            return f"{step.id}, a thought: {_escaped(step.text)}\n"
        case "answer":
            return f"{step.id}, the answer: {step.verdict or 'neither YES nor NO'}. {_escaped(step.text)}\n"
    called = f", called “{_escaped(step.text)}”" if step.text else ""
    result = f" The tool {'said' if step.ok else 'refused'}: {_escaped(step.observation)}"
    return f"{step.id}, a look at {_window(step)}{called}.{result if step.observation else ''}\n"


def _window(step: SheetStep) -> str:
    if step.window is None:
        return "a window that is none"
    frame = f"in the rest frame at z = {step.z:.6g}" if step.frame == "rest" else "as observed"
    return f"{step.window[0]:g} to {step.window[1]:g} Å {frame}, in {step.medium}"


def _escaped(text: str) -> str:
    """Return a text that cannot close the ``<trace>`` tag around it."""
    return re.sub(r"<(/?\s*trace\s*)>", r"‹\1›", text, flags=re.IGNORECASE)


class PictureUnavailable(Exception):
    """A picture that is neither stored nor can be drawn again: one sentence why."""


def pictures(store: Store, trajectory: Trajectory, spectrum_sha256: str | None) -> tuple[Image.Image, ...]:
    """Return the pictures by their number on the sheet: the first picture, then each zoom's.

    :raises PictureUnavailable: one is neither stored nor drawn with the same pixels
    """
    seen: list[tuple[str, dict[str, Any]]] = []
    if trajectory.overview is not None:
        seen.append((trajectory.overview, {}))
    seen += [(zoom.picture, dict(zoom.arguments)) for zoom in trajectory.zooms if zoom.picture is not None]
    spectrum = None
    made = []
    for sha256, arguments in seen:
        kept = store.spectra.picture(sha256)
        if kept is not None:
            made.append(Image.open(io.BytesIO(kept)).convert("RGBA"))
            continue
        if spectrum_sha256 is None:
            raise PictureUnavailable(f"picture {sha256:.12}… is not kept, and there is no spectrum to draw it from")
        if spectrum is None:
            spectrum = replace(store.spectra.get(spectrum_sha256), redshift=trajectory.redshift)
        drawn = tool.call(spectrum, arguments).image
        if drawn is None or pixels_sha256(drawn) != sha256:
            raise PictureUnavailable(f"picture {sha256:.12}… is drawn with other pixels here (renderer {RENDERER})")
        made.append(drawn)
    return tuple(made)
