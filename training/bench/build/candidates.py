"""Which failures go into the gallery, and in which order: the same ones each time."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.batch.journal import JournalError, json_lines
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory.steps import Verdict
from training.bench.build import Entry
from training.bench.outcomes import Outcome
from training.data import DataError
from training.data.records import Question

KINDS: Mapping[str, str] = {
    "false positive": "said YES, the truth is NO",
    "false negative": "said NO, the truth is YES",
    "no answer": "no YES or NO in what was said",
    "bad form": "not in the published form, whatever was meant",
    "tool error": "a call that the tool answered with an error",
}
"""What can go wrong, in the order in which it is shown; a question may be of several kinds."""


def kinds(outcome: Outcome) -> tuple[str, ...]:
    """What went wrong with one; empty if nothing did."""
    is_kind = {
        "false positive": outcome.predicted == "YES" and outcome.label == "NO",
        "false negative": outcome.predicted == "NO" and outcome.label == "YES",
        "no answer": outcome.predicted is None,
        "bad form": outcome.format_ok is False,
        "tool error": outcome.errors > 0,
    }
    return tuple(kind for kind in KINDS if is_kind[kind])


def totals(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many there are of each kind."""
    found = dict.fromkeys(KINDS, 0)
    for one in outcomes:
        for kind in kinds(one):
            found[kind] += 1
    return found


def chosen(outcomes: Iterable[Outcome], most: int) -> list[Outcome]:
    """At most so many of each kind: task by task in turn, and of each task those with the highest
    signal-to-noise first, because a mistake about a good spectrum is nobody else's fault.
    """
    failures = [one for one in outcomes if kinds(one)]
    taken: dict[tuple[str, str], Outcome] = {}
    for kind in KINDS:
        for one in _in_turn([one for one in failures if kind in kinds(one)])[:most]:
            taken[one.task, one.key] = one
    return sorted(taken.values(), key=lambda one: (_place(one), one.task, _order(one)))


def _in_turn(failures: Sequence[Outcome]) -> list[Outcome]:
    by_task: dict[str, list[Outcome]] = defaultdict(list)
    for one in sorted(failures, key=_order):
        by_task[one.task].append(one)
    ranked = [(rank, task, one) for task, several in by_task.items() for rank, one in enumerate(several)]
    return [one for _, _, one in sorted(ranked, key=lambda entry: entry[:2])]


def _order(one: Outcome) -> tuple[float, str]:
    return (-one.snr if one.snr is not None else float("inf"), one.key)


def _place(one: Outcome) -> int:
    return list(KINDS).index(kinds(one)[0])


if TYPE_CHECKING:
    from training.specialist import Specialist, SpecialistSettings


class Predictions:
    """Probabilities of YES read from JSON lines: ``source`` (or ``key``), ``probability``, and if wanted
    ``task``."""

    def __init__(self, path: Path, task: Task) -> None:
        """:raises DataError: it cannot be read, or a line says what cannot be"""
        self._path = path
        self._p: dict[str, float] = {}
        try:
            for line in json_lines(path):
                row, where = line.row, f"{path}: line {line.number}"
                if row.get("task", task.key) == task.key:
                    self._p[_name(row, where)] = _probability(row, where)
        except JournalError as error:
            raise DataError(str(error)) from error
        if not self._p:
            raise DataError(f"{path}: found no prediction for the task {task.key}")

    def learn(self, positives: Sequence[Spectrum], candidates: Iterator[tuple[Entry, Spectrum]]) -> None:
        """Nothing is to be learned, so no candidate is set aside."""

    def p(self, entries: Sequence[Entry], spectra: Sequence[Spectrum]) -> list[float | None]:
        return [self._p.get(one.source, self._p.get(one.key)) for one in entries]

    def told(self) -> dict[str, object]:
        digest = hashlib.sha256(self._path.read_bytes()).hexdigest()
        return {"kind": "predictions", "file": self._path.name, "sha256": digest, "lines": len(self._p)}


class Trained:
    """A ``training.specialist``, trained on the training positives against as many random candidates."""

    def __init__(self, task: Task, settings: SpecialistSettings) -> None:
        self._task, self._settings = task, settings
        self._specialist: Specialist | None = None
        self._told: dict[str, object] = {}

    def learn(self, positives: Sequence[Spectrum], candidates: Iterator[tuple[Entry, Spectrum]]) -> None:
        """:raises SpecialistError: too few of either"""
        from training.specialist import train
        from training.specialist.grid import Sampled, sample

        rows, aside = [sample(one) for one in positives], []
        for entry, spectrum in islice(candidates, len(positives)):
            rows.append(sample(spectrum))
            aside.append(entry.source)
        names = [f"positive {n}" for n in range(len(positives))]
        asked = [self._question(name, True) for name in names] + [self._question(n, False) for n in aside]
        self._specialist = train(asked, self._settings, rows=Sampled.stack(rows))
        card = self._specialist.card
        self._told = {
            "kind": "specialist",
            "settings": vars(self._settings),
            "trained_on": {"YES": len(positives), "NO": len(aside)},
            "epoch_kept": card["epoch_kept"],
            "held_out_f1": card["held_out_f1"],
            "set_aside": sorted(aside),
        }

    def p(self, entries: Sequence[Entry], spectra: Sequence[Spectrum]) -> list[float | None]:
        assert self._specialist is not None
        return [float(one) for one in self._specialist.predict(spectra)]

    def told(self) -> dict[str, object]:
        return self._told

    def _question(self, source: str, yes: bool) -> Question:
        def spectrum() -> Spectrum:
            raise AssertionError("its row on the grid is given")

        label: Verdict = "YES" if yes else "NO"
        return Question(source, source, self._task, label, "", None, False, spectrum)


def _name(row: Mapping[str, Any], where: str) -> str:
    name = row.get("source") or row.get("key")
    if not isinstance(name, str):
        raise DataError(f"{where}: source: found {name!r:.60}, wanted the name of a spectrum")
    return name


def _probability(row: Mapping[str, Any], where: str) -> float:
    p = row.get("probability")
    if isinstance(p, bool) or not isinstance(p, int | float) or not 0 <= p <= 1:
        raise DataError(f"{where}: probability: found {p!r:.60}, wanted a number from 0 to 1")
    return float(p)
