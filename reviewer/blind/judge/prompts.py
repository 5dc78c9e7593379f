"""The messages to a model judge: the session's rubric word for word, and the sheet that a scorer would see.

They are made from sheets and measured values only, so that a judge is as blind as a scorer.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from PIL import Image

from agent.tool import MEASURE, SKY_CONTEXT
from agent.trajectory.messages import data_url
from reviewer.blind.judge.measured import MeasuredValues
from reviewer.blind.judge.settings import Place, Sees
from reviewer.blind.plan import CANNOT_TELL, PREFERENCES, SCORES, Dimension, Kind
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import Question, SheetStep, SheetTrace

FILE = Path(__file__).with_name("prompts.toml")

Block = dict[str, Any]
Message = dict[str, Any]


@dataclass(frozen=True)
class Prompts:
    """The texts of ``prompts.toml``, with ``$names`` as placeholders, and their version."""

    version: str
    instructions: str
    pictures: str
    values: str
    text: str
    no_values: str
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
    """One trace with what its judge gets of the spectrum.

    :param pictures: by their number on the sheet; none for a judge without pictures
    :param values: None for a judge without values, and where no spectrum is stored
    """

    trace: SheetTrace
    pictures: Sequence[Image.Image] = ()
    values: MeasuredValues | None = None


@dataclass(frozen=True)
class Briefing:
    """The instructions for one request to a judge.

    :param dimensions: the dimensions to score
    :param system: text of the system message, before the instructions
    :param instructions_in: the message that has the instructions
    """

    rubric: Rubric
    dimensions: tuple[Dimension, ...]
    sees: Sees = "pictures"
    system: str = ""
    instructions_in: Place = "system"

    @property
    def sha256(self) -> str:
        """Return the hash of everything that is the same for all traces."""
        fixed = {
            "prompts": asdict(prompts()),
            "rubric": self.rubric.to_json(),
            "dimensions": self.dimensions,
            "sees": self.sees,
            "system": self.system,
            "instructions_in": self.instructions_in,
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
        instructions, system = self._instructions(kind), self.system
        if self.instructions_in == "user":
            blocks = [_text(f"{instructions}\n\n"), *blocks]
        else:
            system = "\n\n".join(filter(None, (system, instructions)))
        content: str | list[Block] = blocks if self.sees == "pictures" else "".join(block["text"] for block in blocks)
        first = [{"role": "system", "content": system}] if system else []
        return [*first, {"role": "user", "content": content}]

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
        seen = {"pictures": texts.pictures, "measured values": texts.values, "text": texts.text}[self.sees]
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
        yield _text(f"The question about the spectrum:\n{question_text}\n")
        for name, judge in zip(("",) if len(shown) == 1 else ("left", "right"), shown, strict=True):
            yield _text(f"\n{name.capitalize()}:\n<trace>\n" if name else "\n<trace>\n")
            if self.sees == "measured values":
                yield _text(_measured(judge.values.whole if judge.values else prompts().no_values))
            if judge.trace.overview is not None:
                yield from self._picture("Picture of the whole spectrum", judge, judge.trace.overview)
            for step in judge.trace.steps:
                yield _text(_step(step))
                if judge.values is not None and step.id in judge.values.windows:
                    yield _text(_measured(judge.values.windows[step.id]))
                if step.picture is not None:
                    yield from self._picture(f"Picture of {step.id}", judge, step.picture)
            yield _text("</trace>\n")

    def _picture(self, what: str, shown: TraceForJudge, number: int) -> Iterator[Block]:
        if self.sees == "pictures":
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
    result = f" The tool {'answered' if step.ok else 'refused'}: {_escaped(step.observation)}"
    others = {MEASURE: "a measurement", SKY_CONTEXT: "what catalogues measured of the object"}
    what = others.get(step.tool) or f"a zoom into {_window(step)}"
    return f"{step.id}, {what}{called}.{result if step.observation else ''}\n"


def _window(step: SheetStep) -> str:
    if step.window is None:
        return "a window that is not valid"
    frame = f"in the rest frame at z = {step.z:.6g}" if step.frame == "rest" else "as observed"
    return f"{step.window[0]:g} to {step.window[1]:g} Å {frame}, in {step.medium}"


def _measured(values: str) -> str:
    return f"<measured>{values}</measured>\n"


def _escaped(text: str) -> str:
    """Return a text that can neither close the ``<trace>`` tag around it nor pass for measured values."""
    return re.sub(r"<(/?\s*(?:trace|measured)\s*)>", r"‹\1›", text, flags=re.IGNORECASE)
