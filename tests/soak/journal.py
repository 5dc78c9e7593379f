"""What a client meant to do and what it was told, on the disk before and after each request.

A client writes a line before it sends an action for the first time, one each time it sends it, and one when
it has the answer. So whatever is in the database can be held against what somebody was told is in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Action:
    """Something a person did.

    :param kind: "decide", "version", "autosave", ...
    :param what: what it said: item, version, key, text, as the kind needs
    :param sent: how often it was sent
    :param answer: what the server answered; None while nobody was told anything
    :param refused: the kind of the refusal, where it was one
    :param ms: from the last sending to the answer
    """

    number: int
    person: str
    kind: str
    what: dict[str, Any]
    sent: int = 0
    answer: dict[str, Any] | None = None
    refused: str | None = None
    ms: float = 0.0

    @property
    def told(self) -> bool:
        return self.answer is not None or self.refused is not None

    @property
    def acknowledged(self) -> bool:
        return self.answer is not None


class Journal:
    """One client's file. Each line is with the system before the client goes on."""

    def __init__(self, path: Path, person: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._person = person
        self._number = 0

    def intends(self, kind: str, what: dict[str, Any]) -> int:
        self._number += 1
        self._write(n=self._number, person=self._person, kind=kind, what=what)
        return self._number

    def sends(self, number: int) -> None:
        self._write(n=number, sent=1)

    def hears(self, number: int, answer: dict[str, Any], ms: float) -> None:
        self._write(n=number, answer=answer, ms=round(ms, 1))

    def refused(self, number: int, kind: str, ms: float) -> None:
        self._write(n=number, refused=kind, ms=round(ms, 1))

    def asked(self, what: str, ms: float) -> None:
        """A request that only reads."""
        self._write(asked=what, ms=round(ms, 1))

    def fault(self, sentence: str) -> None:
        """Something that must not happen."""
        self._write(fault=f"{self._person}: {sentence}")

    def close(self) -> None:
        os.close(self._file)

    def _write(self, **line: Any) -> None:
        os.write(self._file, json.dumps(line, ensure_ascii=False).encode() + b"\n")


@dataclass
class Journals:
    """The journals of a folder, read on from where the last reading ended."""

    folder: Path
    faults: list[str] = field(default_factory=list)
    asked: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._read_to: dict[Path, int] = {}
        self._of: dict[Path, dict[int, Action]] = {}

    def read(self) -> None:
        for path in sorted(self.folder.glob("*.jsonl")):
            actions = self._of.setdefault(path, {})
            for line in self._new_lines(path):
                self._take(actions, line)

    def __iter__(self) -> Iterator[Action]:
        for actions in self._of.values():
            yield from actions.values()

    def by_person(self) -> Iterator[list[Action]]:
        """The actions of each, in their order."""
        yield from (list(actions.values()) for actions in self._of.values())

    def _new_lines(self, path: Path) -> Iterator[dict[str, Any]]:
        with path.open("rb") as file:
            file.seek(self._read_to.get(path, 0))
            # A line being written just now is left for the next reading.
            whole, _, _ = file.read().rpartition(b"\n")
        if whole:
            self._read_to[path] = self._read_to.get(path, 0) + len(whole) + 1
        yield from (json.loads(line) for line in whole.splitlines())

    def _take(self, actions: dict[int, Action], line: dict[str, Any]) -> None:
        if "fault" in line:
            self.faults.append(line["fault"])
        elif "asked" in line:
            self.asked.setdefault(line["asked"], []).append(line["ms"])
        elif "kind" in line:
            actions[line["n"]] = Action(line["n"], line["person"], line["kind"], line["what"])
        elif "sent" in line:
            actions[line["n"]].sent += 1
        else:
            one = actions[line["n"]]
            one.answer, one.refused, one.ms = line.get("answer"), line.get("refused"), line["ms"]
