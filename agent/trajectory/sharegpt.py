"""Rows of the published cold-start layout (``train_sharegpt.json``, LLaMA-Factory's ShareGPT) and back.

``conversations`` of ``{"from": "system" | "human" | "gpt", "value": text}``, ``images`` as paths in the order
of the ``<image>`` tags, and the published columns ``sample_index``, ``source_name``, ``ground_truth``,
``total_iterations``, ``total_tool_calls``. What the published rows do not say and a trace needs (redshift,
frame, medium, who drafted it) stands in columns of our own, which other readers ignore; a row without them is
read as observed wavelengths of an unknown drafter, and that is listed as a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from agent.tool import TOOL_BLOCK
from agent.trajectory.messages import pictures_of, to_messages
from agent.trajectory.record import Drafter, DrafterKind, Trajectory
from agent.trajectory.repair import repair
from agent.trajectory.steps import (
    Answer,
    Frame,
    Medium,
    Step,
    Think,
    TrajectoryError,
    Zoom,
    number_of,
    one_of,
    text_or_none,
    verdict_of,
)
from agent.trajectory.tags import Turn, parse

IMAGE = "<image>"
_RESPONSE, _RESPONSE_END = "<tool_response>", "</tool_response>"
_KINDS: tuple[DrafterKind, ...] = ("baseline", "model", "person", "unknown")

# The published class names, one of which is in every question line, and the benchmark's keys for them.
PUBLISHED_TASKS = {
    "Cataclysmic": "cv",
    "Carbon Star": "cc",
    "S-type Star": "ss",
    "M-type Giant": "gm",
    "White Dwarf": "wd",
}


def to_sharegpt(trajectory: Trajectory, image_paths: Sequence[str]) -> dict[str, Any]:
    """A row; ``image_paths`` are the overview's and one for each zoom that has a picture.

    :raises TrajectoryError: the number of paths is not the number of pictures
    """
    frames = {(zoom.frame, zoom.z) for zoom in trajectory.zooms}
    if len(frames) > 1:
        raise TrajectoryError(f"frames: found {len(frames)} in one trajectory, which a row cannot say")
    frame, z = frames.pop() if frames else ("observed", 0.0)
    speakers = {"system": "system", "user": "human", "assistant": "gpt"}
    return {
        "conversations": [
            {"from": speakers[message["role"]], "value": _flat(message["content"])}
            for message in to_messages(trajectory, image_paths)
        ],
        "images": list(image_paths),
        "source_name": trajectory.spectrum_name,
        "ground_truth": trajectory.label,
        "total_iterations": sum(1 for _ in trajectory.turns()),
        "total_tool_calls": len(trajectory.zooms),
        "task": trajectory.task,
        "redshift": trajectory.redshift,
        "frame": frame,
        "z": z,
        "medium": trajectory.medium,
        "spectrum_sha256": trajectory.spectrum_sha256,
        "drafter_kind": trajectory.drafter.kind,
        "drafter_name": trajectory.drafter.name,
        "label_source": trajectory.label_source,
        "simulated": trajectory.simulated,
    }


def from_sharegpt(row: Mapping[str, Any], pictures: Sequence[str] | None = None) -> Trajectory:
    """Read a row; ``pictures`` are the SHA-256 of its images' RGBA bytes, in their order.

    :raises TrajectoryError: naming the field, what was found and what was wanted
    """
    reading = _Reading(row)
    turns = list(_turns(row))
    system = reading.system(turns)
    prompt = reading.prompt(turns)
    reading.steps_of(turns)
    images = row.get("images")
    found = len(images) if isinstance(images, list) else type(images).__name__
    if found != reading.images:
        raise TrajectoryError(f"images: found {found}, wanted {reading.images}: one for each {IMAGE}")
    trajectory = Trajectory(
        task=text_or_none(row, "task") or _task(prompt),
        system=system,
        prompt=prompt,
        spectrum_name=text_or_none(row, "source_name") or "",
        spectrum_sha256=text_or_none(row, "spectrum_sha256"),
        redshift=number_of(row, "redshift"),
        medium=reading.medium,
        steps=tuple(reading.steps),
        drafter=Drafter(
            kind="unknown" if row.get("drafter_kind") is None else one_of(row, "drafter_kind", _KINDS),
            name=text_or_none(row, "drafter_name") or "",
        ),
        label=verdict_of(row, "ground_truth"),
        label_source=text_or_none(row, "label_source") or "",
        simulated=row.get("simulated") is True,
        faults=tuple(reading.faults),
    )
    return trajectory if pictures is None else with_pictures(trajectory, pictures)


def with_pictures(trajectory: Trajectory, pictures: Sequence[str]) -> Trajectory:
    """The trajectory with the SHA-256 of its pictures: the overview's, then one a zoom that got one.

    :raises TrajectoryError: the number of ``pictures`` is not the number wanted
    """
    wanted = len(pictures_of(trajectory))
    if len(pictures) != wanted:
        raise TrajectoryError(f"pictures: found {len(pictures)}, wanted {wanted}: the overview and one a zoom")
    overview, *rest = pictures
    seen = iter(rest)
    steps = (replace(s, picture=next(seen)) if isinstance(s, Zoom) and s.ok else s for s in trajectory.steps)
    return replace(trajectory, overview=overview, steps=tuple(steps))


class _Reading:
    """One row being read, front to back; turns are taken off the front of the list given."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.faults: list[str] = []
        self.steps: list[Step] = []
        self.images = 0
        self._ids = (f"s{n}" for n in count(1))
        self.medium: Medium = "vacuum" if row.get("medium") is None else one_of(row, "medium", ("vacuum", "air"))
        self._frame: Frame = "observed"
        self._z = number_of(row, "z") or 0.0
        if row.get("frame") is None:
            self.faults.append("the row does not say the frame: windows are read as observed wavelengths")
        else:
            self._frame = one_of(row, "frame", ("observed", "rest"))

    def system(self, turns: list[_Said]) -> str:
        if turns[0].speaker != "system":
            self.faults.append("no system turn")
            return ""
        system, mark, block = self._clean(turns.pop(0)).partition(TOOL_BLOCK[:9])
        if mark and mark + block.rstrip() != TOOL_BLOCK:
            self.faults.append("the system turn describes the tool in other words than the published ones")
        return system.strip()

    def prompt(self, turns: list[_Said]) -> str:
        if not turns or turns[0].speaker != "human":
            raise TrajectoryError("conversations: found no question, wanted a human turn after the system's")
        question = self._clean(turns.pop(0))
        if question.count(IMAGE) != 1:
            found = f"{question.count(IMAGE)} {IMAGE} in the question"
            raise TrajectoryError(f"conversations: found {found}, wanted one: the full spectrum")
        self.images += 1
        if not question.startswith(IMAGE + "\n"):
            self.faults.append("the question does not begin with the picture")
        return question.replace(IMAGE, "").strip()

    def steps_of(self, turns: list[_Said]) -> None:
        while turns:
            said = turns.pop(0)
            if said.speaker != "gpt":
                raise TrajectoryError(f"{said.where}: found a {said.speaker} turn, wanted gpt")
            turn = parse(said.value)
            self.faults.extend(f"{said.where}: {fault}" for fault in turn.faults)
            if turn.thought:
                self.steps.append(Think(next(self._ids), turn.thought))
            response = turns.pop(0) if turns and turns[0].speaker == "human" else None
            self._close(said, turn, response)

    def _close(self, said: _Said, turn: Turn, response: _Said | None) -> None:
        """What ends an assistant turn: a zoom where the tool answered, else the answer."""
        if response is not None:
            if turn.call is None:
                raise TrajectoryError(f"{said.where}: found no readable tool call, wanted one: it was answered")
            self.steps.append(self._zoom(turn.call.arguments, response))
        elif turn.answer is not None:
            self.steps.append(Answer(next(self._ids), turn.answer.verdict, turn.answer.explanation))
        elif turn.call is not None:
            self.faults.append(f"{said.where}: a tool call that was never answered was left out")

    def _zoom(self, arguments: Mapping[str, Any], response: _Said) -> Zoom:
        text = self._clean(response).strip()
        if not (text.startswith(_RESPONSE) and text.endswith(_RESPONSE_END)):
            raise TrajectoryError(f"{response.where}: found {text!r:.60}, wanted {_RESPONSE} … {_RESPONSE_END}")
        text = text.removeprefix(_RESPONSE).removesuffix(_RESPONSE_END)
        pictures = text.count(IMAGE)
        if pictures > 1:
            raise TrajectoryError(f"{response.where}: found {pictures} {IMAGE}, wanted one at most")
        self.images += pictures
        return Zoom(
            id=next(self._ids),
            arguments=arguments,
            frame=self._frame,
            z=self._z,
            medium=self.medium,
            observation=text.replace(IMAGE, "").strip(),
            ok=pictures == 1,
        )

    def _clean(self, said: _Said) -> str:
        text, faults = repair(said.value)
        self.faults.extend(f"{said.where}: {fault}" for fault in faults)
        return text


@dataclass(frozen=True)
class _Said:
    """One entry of ``conversations``."""

    where: str
    speaker: str
    value: str


def _turns(row: Mapping[str, Any]) -> Iterator[_Said]:
    conversations = row.get("conversations") if isinstance(row, Mapping) else None
    if not isinstance(conversations, list) or not conversations:
        raise TrajectoryError(f"conversations: found {conversations!r:.60}, wanted a list of turns")
    for number, said in enumerate(conversations):
        where = f"conversations[{number}]"
        if not isinstance(said, Mapping):
            raise TrajectoryError(f"{where}: found {said!r:.60}, wanted an object")
        speaker = one_of(said, "from", ("system", "human", "gpt"), f"{where}.")
        value = said.get("value")
        if not isinstance(value, str):
            raise TrajectoryError(f"{where}.value: found {value!r:.60}, wanted text")
        yield _Said(where, speaker, value)


def _task(prompt: str) -> str:
    question = prompt.partition("\n")[0]
    for name, key in PUBLISHED_TASKS.items():
        if name in question:
            return key
    raise TrajectoryError(f"conversations: found the question {question!r:.80}, wanted one that names a class")


def _flat(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "".join(IMAGE if block["type"] == "image" else block["text"] for block in blocks)
