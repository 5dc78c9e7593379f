"""One trial of kills as it goes: what was killed and started, what was found, and the result so far."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.soak import checking
from tests.soak.journal import Journals
from tests.soak.served import Served

if TYPE_CHECKING:
    from tests.soak.typing_page import Typist

MOMENTS = {"at work": 7, "at its first answer": 1, "while starting": 2}
"""When the app is killed, and how often of ten."""
MOST_TOLD = 20
"""Sentences of a kind that the result holds."""


@dataclass
class Trial:
    """The app, the journals, and what came out so far.

    :param wanted: kills
    :param result: a file that holds ``told()`` as it was after the last kill
    :param rounds: kills under somebody who was to type in a page; ``found``: in how many all of it was there
    :param not_ready: pages that had to be opened again, as somebody could not begin on them
    """

    served: Served
    journals: Journals
    rng: random.Random
    wanted: int
    result: Path
    faults: list[str] = field(default_factory=list)
    lost: int = 0
    doubled: int = 0
    kills: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*MOMENTS, "while typing"), 0))
    starts: list[float] = field(default_factory=list)
    rounds: int = 0
    found: int = 0
    not_ready: list[str] = field(default_factory=list)
    stopped: bool = False

    @property
    def done(self) -> int:
        return sum(self.kills.values())

    def start(self) -> None:
        """By the same command, without help; what was killed is checked while it starts."""
        begun = time.monotonic()
        copy = checking.copied(self.served.db, self.journals.folder.parent / "after-the-kill")
        self.served.start()
        starting = time.monotonic()
        self.journals.read()
        self._take(checking.held_against(copy, self.journals))
        if self.starts and self.rng.random() < MOMENTS["while starting"] / sum(MOMENTS.values()):
            time.sleep(max(0.0, self.rng.uniform(0, self.starts[-1]) - (time.monotonic() - starting)))
            self.killed("while starting")
            return self.start()
        self.served.answers()
        self.starts.append(time.monotonic() - begun)
        return None

    def killed(self, moment: str) -> None:
        if not self.served.running:
            self.faults.append(f"the app had ended by itself before it was killed {moment}")
        self.served.kill()
        self.kills[moment] += 1

    def types_through_a_kill(self, typist: Typist) -> None:
        """A kill under somebody who types in a page, which is closed meanwhile every other time."""
        self.rounds += 1
        closed = self.rounds % 2 == 0
        try:
            missing = typist.through_a_kill(lambda: self.killed("while typing"), self.start, closed)
        finally:
            self.not_ready = typist.not_ready
        if missing:
            self.faults.append(missing)
        else:
            self.found += 1

    def goes_on(self) -> None:
        """Whatever a round left behind, the app runs again, and the result so far is on the disk."""
        if not self.served.running:
            self.start()
        self.result.write_text(self.told() + "\n", encoding="utf-8")

    def went_wrong(self, problem: Exception) -> None:
        self.faults.append(f"after {self.done} kills: {type(problem).__name__}: {problem}")

    def finished(self) -> None:
        """The app is stopped: all of the journals against all of the database."""
        try:
            self.journals.read()
            self._take(checking.whole(self.served.db, self.journals))
        except Exception as problem:  # a database that cannot be checked is a fault like others, and the worst
            self.went_wrong(problem)
        self.faults += self.journals.faults
        self.result.write_text(self.told() + "\n", encoding="utf-8")

    def _take(self, found: checking.Found) -> None:
        # The same fault is found again after each kill.
        self.faults += [fault for fault in found.faults if fault not in self.faults]
        self.lost, self.doubled = max(self.lost, found.lost), max(self.doubled, found.doubled)

    # ---- what came out

    def told(self) -> str:
        """The result as Markdown."""
        lines = ["| | |", "|---|---:|", *(f"| {what} | {number} |" for what, number in self._counts())]
        of_kind = list(checking.counted(self.journals))
        lines += ["", "| action | acknowledged | sent again | refused by the rules |", "|---|---:|---:|---:|"]
        lines += [f"| {kind} | {heard:,} | {again} | {refused} |" for kind, heard, again, refused in of_kind]
        lines += _listed("pages had to be opened again", self.not_ready)
        lines += _listed("faults", self.faults)
        if self.done < self.wanted:
            why = "Stopped by hand" if self.stopped else "Ended"
            lines += ["", f"**{why} after {self.done} of {self.wanted} kills.**"]
        if not self.faults:
            lines += ["", "Nothing was lost, nothing doubled, and every check held."]
        return "\n".join(lines)

    def _counts(self) -> list[tuple[str, str]]:
        of_kind = list(checking.counted(self.journals))
        return [
            ("kills", str(self.done)),
            *((f"of these {moment}", str(times)) for moment, times in self.kills.items()),
            ("restarts that were let answer", str(len(self.starts))),
            ("longest of them, s", f"{max(self.starts, default=0):.1f}"),
            ("actions acknowledged", f"{sum(row[1] for row in of_kind):,}"),
            ("actions sent again, their answer being lost", f"{sum(row[2] for row in of_kind):,}"),
            ("acknowledged actions lost", str(self.lost)),
            ("actions doubled", str(self.doubled)),
            ("times somebody typed in Chromium", str(self.rounds)),
            ("of these all unsent text found", str(self.found)),
            ("pages that had to be opened again", str(len(self.not_ready))),
            ("faults", str(len(self.faults))),
        ]


def _listed(what: str, sentences: list[str]) -> list[str]:
    if not sentences:
        return []
    return ["", f"**{len(sentences)} {what}:**", "", *(f"- {one}" for one in sentences[:MOST_TOLD])]
