"""``Trajectory``: the steps of one inspection of one spectrum as plain values, with its JSON form.

A flat sequence of steps: an assistant turn is a run of think steps, closed by one zoom or by the answer. Depends on no
database, page or server; item, version and author belong to the store.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from agent.language import deferred, tr
from agent.tool import MEASURE
from agent.trajectory.messages import to_messages
from agent.trajectory.sharegpt import Row, read_row, write_row
from agent.trajectory.steps import (
    DRAFTER_KINDS,
    Answer,
    DrafterKind,
    Frame,
    Medium,
    Step,
    Think,
    TrajectoryError,
    Verdict,
    Zoom,
    initials_of,
    new_step_id,
    number_of,
    object_of,
    one_of,
    step_from_json,
    step_to_json,
    text_of,
    text_or_none,
    verdict_of,
)
from agent.trajectory.tags import CONTROL, Turn, control_tokens, parse, reserved_tags

__all__ = [
    "SCHEMA",
    "Answer",
    "Drafter",
    "DrafterKind",
    "Frame",
    "Medium",
    "Step",
    "Think",
    "Trajectory",
    "TrajectoryError",
    "Turn",
    "Verdict",
    "Zoom",
    "new_step_id",
    "parse",
]

SCHEMA = "spec-o3/trajectory/1"


@dataclass(frozen=True)
class Drafter:
    """The author of a trajectory: kind, name, and the settings needed to repeat the work."""

    kind: DrafterKind
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trajectory:
    """One inspection of one spectrum for one question.

    ``prompt`` is the user's text after the first picture (question line, blank line, guide); ``redshift`` is what the
    tool was given (None: none), which fixes the frame of every window; ``overview`` is the SHA-256 of the first
    picture's RGBA bytes; ``label`` is the known truth, if any, never the model's opinion; ``faults`` lists what the
    parser accepted although it was wrong.

    ``cannot_tell`` is why the data allow no answer, as the drafter states it ("" = they do); the format still needs YES
    or NO. ``medium_assumed``: the file did not state ``medium``; ``medium_set_by``: who stated it instead, "" for the
    file or nobody.

    ``authors``: initials of the people who wrote versions of this text before it was imported, none for a fresh draft.
    They are not part of the text: ``content_hash`` leaves them out.
    """

    task: str
    prompt: str
    spectrum_name: str
    spectrum_sha256: str | None
    steps: tuple[Step, ...]
    drafter: Drafter
    system: str = "You are a helpful assistant."
    redshift: float | None = None
    medium: Medium = "vacuum"
    overview: str | None = None
    label: Verdict | None = None
    label_source: str = ""
    simulated: bool = False
    faults: tuple[str, ...] = ()
    cannot_tell: str = ""
    medium_assumed: bool = False
    medium_set_by: str = ""
    authors: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer | None:
        """The last answer step; None if nothing was answered."""
        return next((s for s in reversed(self.steps) if isinstance(s, Answer)), None)

    @property
    def measure(self) -> bool:
        """Whether its author was offered the ``measure`` tool."""
        return self.drafter.settings.get(MEASURE) is True or any(zoom.measures for zoom in self.zooms)

    @property
    def sky(self) -> bool:
        """Whether its author was offered ``sky_context``."""
        return self.drafter.settings.get("sky") is True or any(zoom.shows_sky for zoom in self.zooms)

    @property
    def zooms(self) -> tuple[Zoom, ...]:
        """All calls of all tools."""
        return tuple(s for s in self.steps if isinstance(s, Zoom))

    def step(self, step_id: str) -> Step:
        """Return the step with this id. :raises KeyError: there is none"""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    def turns(self) -> Iterator[tuple[Step, ...]]:
        """Yield the assistant turns: think steps closed by one zoom or the answer; trailing thinks are a turn too."""
        turn: list[Step] = []
        for step in self.steps:
            turn.append(step)
            if not isinstance(step, Think):
                yield tuple(turn)
                turn = []
        if turn:
            yield tuple(turn)

    def problems(self, pictures: bool = True) -> list[str]:
        """Return why this trajectory cannot be training data, one sentence each; empty if nothing prevents it.

        :param pictures: whether every zoom must have the hash of its picture; rows with picture files have none until
            the files are read
        """
        problems = []
        if not self.steps or not isinstance(self.steps[-1], Answer):
            problems.append(deferred("the last step is not an answer"))
        if sum(isinstance(s, Answer) for s in self.steps) > 1:
            problems.append(deferred("there is more than one answer"))
        if self.answer is not None and self.answer.verdict is None:
            problems.append(deferred("the answer is neither YES nor NO"))
        problems += self.control_problems()
        for number, turn in enumerate(self.turns(), start=1):
            if not any(isinstance(s, Think) and s.text.strip() for s in turn):
                problems.append(deferred("turn {number} has no think text", number=number))
        for number, step in enumerate(self.steps, start=1):
            if pictures and isinstance(step, Zoom) and step.drawn and step.picture is None:
                problems.append(deferred("step {number} has no picture", number=number))
            if isinstance(step, Zoom) and step.is_foreign:
                problems.append(
                    deferred("step {number} calls a tool of another agent, {tool!r:.60}", number=number, tool=step.tool)
                )
            for tag in reserved_tags(_words(step)):
                if tag in CONTROL:
                    continue  # among the control tokens
                problems.append(
                    deferred(
                        "step {number} contains {tag}, which a model reads as part of its format",
                        number=number,
                        tag=tag,
                    )
                )
        return problems

    def control_problems(self) -> list[str]:
        """Return which texts contain control tokens of the tokenizer, one sentence each."""
        texts = [(deferred("the system message"), self.system), (deferred("the prompt"), self.prompt)]
        for number, step in enumerate(self.steps, start=1):
            name = deferred("step {number}", number=number)
            seen = step.observation if isinstance(step, Zoom) else ""
            texts.append((name, f"{_words(step)}\n{seen}"))
        return [
            deferred("{text} contains {tag}, which a model reads as part of its format", text=name, tag=token)
            for name, text in texts
            for token in control_tokens(text)
        ]

    def with_steps(self, steps: tuple[Step, ...]) -> Trajectory:
        return replace(self, steps=steps)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; ``from_json`` gives back an equal value."""
        form = {
            "schema": SCHEMA,
            "task": self.task,
            "system": self.system,
            "prompt": self.prompt,
            "spectrum": {"name": self.spectrum_name, "sha256": self.spectrum_sha256},
            "redshift": self.redshift,
            "medium": self.medium,
            "overview": self.overview,
            "drafter": {
                "kind": self.drafter.kind,
                "name": self.drafter.name,
                "settings": dict(self.drafter.settings),
            },
            "label": self.label,
            "label_source": self.label_source,
            "simulated": self.simulated,
            "steps": [step_to_json(s) for s in self.steps],
            "faults": list(self.faults),
        }
        # Left out otherwise, so that the hash of the content, which is an item's key, stays as it was without them.
        if self.cannot_tell:
            form["cannot_tell"] = self.cannot_tell
        if self.medium_assumed:
            form["medium_assumed"] = True
        if self.medium_set_by:
            form["medium_set_by"] = self.medium_set_by
        if self.authors:
            form["authors"] = list(self.authors)
        return form

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trajectory:
        """Read the JSON form. :raises TrajectoryError: the field, what was found, what was expected"""
        if not isinstance(data, Mapping):
            raise TrajectoryError(tr("found {name}, expected an object", name=type(data).__name__))
        if data.get("schema") != SCHEMA:
            raise TrajectoryError(
                tr("schema: found {get!r:.60}, expected {schema!r}", get=data.get("schema"), schema=SCHEMA)
            )
        spectrum, drafter = object_of(data, "spectrum"), object_of(data, "drafter")
        redshift = number_of(data, "redshift")
        if redshift is not None and redshift <= -1:
            raise TrajectoryError(tr("redshift: found {redshift!r}, expected one above -1, or null", redshift=redshift))
        return cls(
            task=text_of(data, "task"),
            system=text_of(data, "system"),
            prompt=text_of(data, "prompt"),
            spectrum_name=text_of(spectrum, "name", "spectrum."),
            spectrum_sha256=text_or_none(spectrum, "sha256", "spectrum."),
            redshift=redshift,
            medium=one_of(data, "medium", ("vacuum", "air")),
            overview=text_or_none(data, "overview"),
            drafter=Drafter(
                kind=one_of(drafter, "kind", DRAFTER_KINDS, "drafter."),
                name=text_of(drafter, "name", "drafter."),
                settings=object_of(drafter, "settings", "drafter.") if "settings" in drafter else {},
            ),
            label=verdict_of(data, "label"),
            label_source=text_or_none(data, "label_source") or "",
            simulated=_flag(data, "simulated"),
            steps=_steps(data.get("steps")),
            faults=_faults(data.get("faults") or []),
            cannot_tell=text_or_none(data, "cannot_tell") or "",
            medium_assumed=_flag(data, "medium_assumed"),
            medium_set_by=text_or_none(data, "medium_set_by") or "",
            authors=initials_of(data, "authors"),
        )

    def content_hash(self) -> str:
        """Return the SHA-256 of the canonical JSON without the authors (sorted keys, no spaces, UTF-8), tagged with the
        algorithm.
        """
        text = replace(self, authors=()).to_json()
        canonical = json.dumps(text, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()

    @property
    def pictures(self) -> tuple[str | None, ...]:
        """SHA-256 of each picture in the order of the messages; None for a picture that is not available."""
        return (self.overview, *(zoom.picture for zoom in self.zooms if zoom.drawn))

    def with_pictures(self, pictures: Sequence[str]) -> Trajectory:
        """Return the trajectory with the SHA-256 of its pictures: the overview's, then one per zoom that has one.

        :raises TrajectoryError: the number of ``pictures`` is not the expected one
        """
        expected = len(self.pictures)
        if len(pictures) != expected:
            raise TrajectoryError(
                tr(
                    "pictures: found {n_pictures}, expected {expected}: the overview and one per zoom",
                    n_pictures=len(pictures),
                    expected=expected,
                )
            )
        overview, *rest = pictures
        others = iter(rest)
        steps = (replace(s, picture=next(others)) if isinstance(s, Zoom) and s.drawn else s for s in self.steps)
        return replace(self, overview=overview, steps=tuple(steps))

    def to_messages(self, images: Sequence[object] | None = None) -> list[dict[str, Any]]:
        """Return the chat messages that a Spec-o3 model was trained on; see ``agent.trajectory.messages``."""
        return to_messages(self.system, self.prompt, tuple(self.turns()), images, self.measure, self.sky)

    def to_sharegpt(self, image_paths: Sequence[str]) -> dict[str, Any]:
        """Return a row in the published cold-start layout; see ``agent.trajectory.sharegpt``.

        :param image_paths: the overview's, then one per zoom that has a picture
        :raises TrajectoryError: the number of paths is not the number of pictures, or the frames differ
        """
        row = Row(
            drafter_kind=self.drafter.kind,
            drafter_name=self.drafter.name,
            drafter_measure=self.measure,
            drafter_sky=self.sky,
            **{name: getattr(self, name) for name in _IN_A_ROW},
        )
        return write_row(row, self.to_messages(image_paths), image_paths)

    @classmethod
    def from_sharegpt(cls, row: Mapping[str, Any], pictures: Sequence[str] | None = None) -> Trajectory:
        """Read a row in the published cold-start layout.

        :param pictures: SHA-256 of the RGBA bytes of its images, in their order
        :raises TrajectoryError: naming the field, what was found and what was expected
        """
        read = read_row(row)
        settings = {MEASURE: True} if read.drafter_measure else {}
        settings |= {"sky": True} if read.drafter_sky else {}
        drafter = Drafter(read.drafter_kind, read.drafter_name, settings)
        trajectory = cls(drafter=drafter, **{name: getattr(read, name) for name in _IN_A_ROW})
        return trajectory if pictures is None else trajectory.with_pictures(pictures)


_IN_A_ROW = tuple(f.name for f in fields(Row) if not f.name.startswith("drafter_"))


def _words(step: Step) -> str:
    match step:
        case Think():
            return step.text
        case Answer():
            return step.explanation
        case Zoom():
            return step.label


def _steps(data: object) -> tuple[Step, ...]:
    if not isinstance(data, list):
        raise TrajectoryError(tr("steps: found {name}, expected a list", name=type(data).__name__))
    steps = tuple(step_from_json(s, n) for n, s in enumerate(data, start=1))
    seen: set[str] = set()
    for step in steps:
        if step.id in seen:
            raise TrajectoryError(tr("steps: found two with the id {id!r:.60}, expected one", id=step.id))
        seen.add(step.id)
    return steps


def _flag(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise TrajectoryError(tr("{key}: found {value!r:.60}, expected true or false", key=key, value=value))
    return value


def _faults(data: object) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(f, str) for f in data):
        raise TrajectoryError(tr("faults: found {data!r:.60}, expected a list of sentences", data=data))
    return tuple(data)
