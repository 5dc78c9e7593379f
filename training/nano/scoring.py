"""Inspections of simulated test spectra by a finished nano model, as the program runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent.loop import run
from agent.policies import Sampling
from agent.policies.nano.policy import Nano
from agent.processes import cores, ordered_map
from agent.trajectory.steps import Verdict
from training.nano.spectra import Part, known_spectrum, tasks
from training.nano.teacher import Arm

TURN_TOKENS = 32


@dataclass(frozen=True)
class Judged:
    """The verdict about a spectrum of a kind, None if there is none; ``log_odds`` of YES, 0 without a verdict."""

    task: str
    kind: str
    label: Verdict
    verdict: Verdict | None
    log_odds: float

    @property
    def right(self) -> bool:
        return self.verdict == self.label


def judge(folder: Path, arm: Arm, part: Part, count: int, report: Callable[[str], None]) -> list[Judged]:
    """Inspect the first ``count`` spectra of a part once.

    :param report: gets a line on each spectrum that is done
    :raises PolicyError: the model cannot be used
    """
    judged: list[Judged] = []
    for answer in ordered_map(partial(_judged, folder=folder, arm=arm, part=part), range(count), cores()):
        judged.append(answer)
        report(f"{arm}: {len(judged)} of {count}")
    return judged


def _judged(number: int, folder: Path, arm: Arm, part: Part) -> Judged:
    known = known_spectrum(part, number)
    policy = Nano(folder, Sampling(max_tokens=TURN_TOKENS), arm == "measure")
    answer = run(known.spectrum, tasks()[known.task], policy).answer
    verdict = None if answer is None else answer.verdict
    return Judged(known.task, known.kind, known.label, verdict, 0.0 if answer is None else answer.score or 0.0)


@dataclass(frozen=True)
class Counts:
    """Answers to a task: right YES, wrong YES, missed YES, of ``n``."""

    hit: int
    false: int
    missed: int
    n: int

    @property
    def f1(self) -> float | None:
        """F1; None without any YES."""
        whole = 2 * self.hit + self.false + self.missed
        return 2 * self.hit / whole if whole else None


def counts(judged: Sequence[Judged], task: str) -> Counts:
    """Count the answers to a task; no answer counts as NO."""
    pairs = [(answer.verdict == "YES", answer.label == "YES") for answer in judged if answer.task == task]
    hit, false, missed = (pairs.count(pair) for pair in ((True, True), (True, False), (False, True)))
    return Counts(hit, false, missed, len(pairs))
