"""Rows of the published cold-start layout (``train_sharegpt.json``, LLaMA-Factory's ShareGPT), read and written.

A trace needs more than the published columns (redshift, frame, medium, drafter): these are columns of our own. A row
without them is read as observed wavelengths of an unknown drafter, which is listed as a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product
from typing import Any

from agent.language import tr
from agent.tool import MEASURE, SKY_CONTEXT, TOOL_BLOCK, TOOL_NAME, tool_block
from agent.trajectory.messages import Message
from agent.trajectory.repair import repair
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
    number_of,
    one_of,
    text_or_none,
    verdict_of,
)
from agent.trajectory.tags import Call, Turn, parse

IMAGE = "<image>"
_RESPONSE, _RESPONSE_END = "<tool_response>", "</tool_response>"

# The published class names, one of which is in every question line, and the benchmark's keys for them.
PUBLISHED_TASKS = {
    "Cataclysmic": "cv",
    "Carbon Star": "cc",
    "S-type Star": "ss",
    "M-type Giant": "gm",
    "White Dwarf": "wd",
}


REVIEWED = "review"
"""The ``label_source`` of a ``ground_truth`` that the reviewers of the text decided: no independent label."""


@dataclass(frozen=True)
class Row:
    """The content of a row; the fields are those of ``Trajectory``."""

    task: str
    system: str
    prompt: str
    spectrum_name: str
    spectrum_sha256: str | None
    redshift: float | None
    medium: Medium
    steps: tuple[Step, ...]
    drafter_kind: DrafterKind
    drafter_name: str
    label: Verdict | None
    label_source: str
    simulated: bool
    faults: tuple[str, ...] = ()
    cannot_tell: str = ""
    medium_assumed: bool = False
    medium_set_by: str = ""
    authors: tuple[str, ...] = ()
    drafter_measure: bool = False
    drafter_sky: bool = False


def write_row(row: Row, messages: Sequence[Message], image_paths: Sequence[str]) -> dict[str, Any]:
    """Return a row in the published layout.

    :param messages: the chat messages of the trajectory
    :param image_paths: the overview's, then one per zoom with a picture
    :raises TrajectoryError: the zooms have different frames, which a row cannot hold
    """
    zooms = [step for step in row.steps if isinstance(step, Zoom)]
    frames = {(zoom.frame, zoom.z) for zoom in zooms}
    if len(frames) > 1:
        raise TrajectoryError(
            tr("frames: found {n_frames} in one trajectory, expected one: a row holds one frame", n_frames=len(frames))
        )
    frame, z = frames.pop() if frames else ("observed", 0.0)
    speakers = {"system": "system", "user": "human", "assistant": "gpt"}
    written = {
        "conversations": [
            {"from": speakers[message["role"]], "value": _flat(message["content"])} for message in messages
        ],
        "images": list(image_paths),
        "source_name": row.spectrum_name,
        "ground_truth": row.label,
        "total_iterations": sum(message["role"] == "assistant" for message in messages),
        "total_tool_calls": len(zooms),
        "task": row.task,
        "redshift": row.redshift,
        "frame": frame,
        "z": z,
        "medium": row.medium,
        "spectrum_sha256": row.spectrum_sha256,
        "drafter_kind": row.drafter_kind,
        "drafter_name": row.drafter_name,
        "label_source": row.label_source,
        "simulated": row.simulated,
        "medium_assumed": row.medium_assumed,
    }
    written |= {name: text for name in ("cannot_tell", "medium_set_by") if (text := getattr(row, name))}
    return written | ({"authors": list(row.authors)} if row.authors else {})


def read_row(row: Mapping[str, Any]) -> Row:
    """Read a row in the published layout.

    :raises TrajectoryError: naming the field, what was found and what was expected
    """
    reading = _Reading(row)
    turns = list(_turns(row))
    system = reading.system(turns)
    prompt = reading.prompt(turns)
    reading.steps_of(turns)
    images = row.get("images")
    number = len(images) if isinstance(images, list) else type(images).__name__
    if number != reading.images:
        raise TrajectoryError(
            tr(
                "images: found {found}, expected {images}: one for each {image}",
                found=number,
                images=reading.images,
                image=IMAGE,
            )
        )
    reviewed = row.get("label_source") == REVIEWED
    return Row(
        task=text_or_none(row, "task") or _task(prompt),
        system=system,
        prompt=prompt,
        spectrum_name=text_or_none(row, "source_name") or "",
        spectrum_sha256=text_or_none(row, "spectrum_sha256"),
        redshift=number_of(row, "redshift"),
        medium=reading.medium,
        steps=tuple(reading.steps),
        drafter_kind="unknown" if row.get("drafter_kind") is None else one_of(row, "drafter_kind", DRAFTER_KINDS),
        drafter_name=text_or_none(row, "drafter_name") or "",
        label=None if reviewed else verdict_of(row, "ground_truth"),
        label_source="" if reviewed else text_or_none(row, "label_source") or "",
        simulated=row.get("simulated") is True,
        faults=tuple(reading.faults),
        cannot_tell=text_or_none(row, "cannot_tell") or "",
        medium_assumed=row.get("medium_assumed") is True,
        medium_set_by=text_or_none(row, "medium_set_by") or "",
        authors=initials_of(row, "authors"),
        drafter_measure=reading.measure,
        drafter_sky=reading.sky,
    )


class _Reading:
    """Reader of one row; turns are removed from the front of the given list."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.faults: list[str] = []
        self.steps: list[Step] = []
        self.images = 0
        self.measure = self.sky = False
        self._ids = (f"s{n}" for n in count(1))
        self.medium: Medium = "vacuum" if row.get("medium") is None else one_of(row, "medium", ("vacuum", "air"))
        self._frame: Frame = "observed"
        self._z = number_of(row, "z") or 0.0
        if row.get("frame") is None:
            self.faults.append("the row does not state the frame: windows are read as observed wavelengths")
        else:
            self._frame = one_of(row, "frame", ("observed", "rest"))

    def system(self, turns: list[_Message]) -> str:
        if turns[0].speaker != "system":
            self.faults.append("no system turn")
            return ""
        system, mark, block = self._clean(turns.pop(0)).partition(TOOL_BLOCK[:9])
        offers = {tool_block(*offer): offer for offer in product((False, True), repeat=2)}
        self.measure, self.sky = offers.get(mark + block.rstrip(), (False, False))
        if mark and mark + block.rstrip() not in offers:
            self.faults.append("the system turn describes the tool in other words than the published ones")
        return system.strip()

    def prompt(self, turns: list[_Message]) -> str:
        if not turns or turns[0].speaker != "human":
            raise TrajectoryError(tr("conversations: found no question, expected a human turn after the system's"))
        question = self._clean(turns.pop(0))
        if question.count(IMAGE) != 1:
            marks = tr("{n} {mark} in the question", n=question.count(IMAGE), mark=IMAGE)
            raise TrajectoryError(tr("conversations: found {found}, expected one: the full spectrum", found=marks))
        self.images += 1
        if not question.startswith(IMAGE + "\n"):
            self.faults.append("the question does not begin with the picture")
        return question.replace(IMAGE, "").strip()

    def steps_of(self, turns: list[_Message]) -> None:
        while turns:
            message = turns.pop(0)
            if message.speaker != "gpt":
                raise TrajectoryError(
                    tr("{where}: found a {speaker} turn, expected gpt", where=message.where, speaker=message.speaker)
                )
            turn = parse(message.value)
            self.faults.extend(f"{message.where}: {fault}" for fault in turn.faults)
            if turn.thought:
                self.steps.append(Think(next(self._ids), turn.thought))
            response = turns.pop(0) if turns and turns[0].speaker == "human" else None
            self._close(message, turn, response)

    def _close(self, message: _Message, turn: Turn, response: _Message | None) -> None:
        """Add the step that ends an assistant turn: a zoom if the tool answered, otherwise the answer."""
        if response is not None:
            if turn.call is None:
                raise TrajectoryError(
                    tr("{where}: found no readable tool call, expected one: it was answered", where=message.where)
                )
            self.steps.append(self._zoom(turn.call, response))
        elif turn.answer is not None:
            self.steps.append(Answer(next(self._ids), turn.answer.verdict, turn.answer.explanation))
        elif turn.call is not None:
            self.faults.append(f"{message.where}: a tool call that was never answered was left out")

    def _zoom(self, call: Call, response: _Message) -> Zoom:
        text = self._clean(response).strip()
        if not (text.startswith(_RESPONSE) and text.endswith(_RESPONSE_END)):
            raise TrajectoryError(
                tr(
                    "{where}: found {text!r:.60}, expected {response} … {response_end}",
                    where=response.where,
                    text=text,
                    response=_RESPONSE,
                    response_end=_RESPONSE_END,
                )
            )
        text = text.removeprefix(_RESPONSE).removesuffix(_RESPONSE_END)
        pictures = text.count(IMAGE)
        if pictures > 1:
            raise TrajectoryError(
                tr(
                    "{where}: found {pictures} {image}, expected one at most",
                    where=response.where,
                    pictures=pictures,
                    image=IMAGE,
                )
            )
        self.images += pictures
        answer = text.replace(IMAGE, "").strip()
        measures = self.measure and call.name == MEASURE and not pictures
        shows_sky = self.sky and call.name == SKY_CONTEXT
        return Zoom(
            id=next(self._ids),
            arguments=call.arguments,
            frame=self._frame,
            z=self._z,
            medium=self.medium,
            observation=answer,
            ok=not answer.startswith("Error") if measures else pictures == 1,
            tool=MEASURE if measures else SKY_CONTEXT if shows_sky else TOOL_NAME,
        )

    def _clean(self, message: _Message) -> str:
        text, faults = repair(message.value)
        self.faults.extend(f"{message.where}: {fault}" for fault in faults)
        return text


@dataclass(frozen=True)
class _Message:
    """One entry of ``conversations``."""

    where: str
    speaker: str
    value: str


def _turns(row: Mapping[str, Any]) -> Iterator[_Message]:
    conversations = row.get("conversations") if isinstance(row, Mapping) else None
    if not isinstance(conversations, list) or not conversations:
        raise TrajectoryError(
            tr("conversations: found {conversations!r:.60}, expected a list of turns", conversations=conversations)
        )
    for number, message in enumerate(conversations):
        where = f"conversations[{number}]"
        if not isinstance(message, Mapping):
            raise TrajectoryError(tr("{where}: found {value!r:.60}, expected an object", where=where, value=message))
        speaker = one_of(message, "from", ("system", "human", "gpt"), f"{where}.")
        value = message.get("value")
        if not isinstance(value, str):
            raise TrajectoryError(tr("{where}.value: found {value!r:.60}, expected text", where=where, value=value))
        yield _Message(where, speaker, value)


def _task(prompt: str) -> str:
    question = prompt.partition("\n")[0]
    for name, key in PUBLISHED_TASKS.items():
        if name in question:
            return key
    raise TrajectoryError(
        tr("conversations: found the question {question!r:.80}, expected one that names a class", question=question)
    )


def _flat(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "".join(IMAGE if block["type"] == "image" else block["text"] for block in blocks)
