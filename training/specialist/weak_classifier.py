"""Classifiers that find hard negatives: predictions from a file, or a specialist trained here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.json_lines import JournalError, json_lines
from agent.language import tr
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory.steps import Verdict
from training.bench.build import Entry
from training.data import DataError
from training.data.records import Question, source_of

if TYPE_CHECKING:
    from training.specialist import Specialist, SpecialistSettings


class Predictions:
    """Probabilities of YES from JSON lines: ``source`` (or ``key``), ``probability``, and optionally ``task``."""

    def __init__(self, path: Path, task: Task) -> None:
        """:raises DataError: it cannot be read, or a line has a wrong value"""
        self._path = path
        self._p: dict[str, float] = {}
        self._by_source: dict[str, float] = {}
        try:
            for line in json_lines(path):
                row, where = line.row, f"{path}: line {line.number}"
                if row.get("task", task.key) == task.key:
                    name, p = _name(row, where), _probability(row, where)
                    self._p[name] = self._by_source[source_of(name, sha256=name)] = p
        except JournalError as error:
            raise DataError(str(error)) from error
        if not self._p:
            raise DataError(tr("{path}: found no prediction for the task {key}", path=path, key=task.key))

    def learn(self, positives: Sequence[Spectrum], candidates: Iterator[tuple[Entry, Spectrum]]) -> None:
        """Do nothing: there is nothing to train, so no candidate is set aside."""

    def p(self, entries: Sequence[Entry], spectra: Sequence[Spectrum]) -> list[float | None]:
        return [self._by_source.get(entry.source, self._p.get(entry.key)) for entry in entries]

    def description(self) -> dict[str, object]:
        digest = hashlib.sha256(self._path.read_bytes()).hexdigest()
        return {"kind": "predictions", "file": self._path.name, "sha256": digest, "lines": len(self._p)}


class NoClassifier:
    """No classifier: no candidate has a probability, so all negatives are random ones (``Recipe.fill``)."""

    def learn(self, positives: Sequence[Spectrum], candidates: Iterator[tuple[Entry, Spectrum]]) -> None:
        """Do nothing."""

    def p(self, entries: Sequence[Entry], spectra: Sequence[Spectrum]) -> list[float | None]:
        return [None] * len(entries)

    def description(self) -> dict[str, object]:
        return {"kind": "none"}


class TrainedClassifier:
    """A ``training.specialist``, trained on the training positives against as many random candidates."""

    def __init__(self, task: Task, settings: SpecialistSettings) -> None:
        self._task, self._settings = task, settings
        self._specialist: Specialist | None = None
        self._description: dict[str, object] = {}

    def learn(self, positives: Sequence[Spectrum], candidates: Iterator[tuple[Entry, Spectrum]]) -> None:
        """:raises SpecialistError: too few positives or candidates"""
        from agent.policies.specialist.grid import Sampled, sample
        from training.specialist import train

        rows, aside = [sample(positive) for positive in positives], []
        for entry, spectrum in islice(candidates, len(positives)):
            rows.append(sample(spectrum))
            aside.append(entry.source)
        names = [f"positive {n}" for n in range(len(positives))]
        questions = [self._question(name, True) for name in names] + [self._question(n, False) for n in aside]
        self._specialist = train(questions, self._settings, rows=Sampled.stack(rows))
        card = self._specialist.card
        self._description = {
            "kind": "specialist",
            "settings": vars(self._settings),
            "trained_on": {"YES": len(positives), "NO": len(aside)},
            "epoch_kept": card["epoch_kept"],
            "held_out_f1": card["held_out_f1"],
            "set_aside": sorted(aside),
        }

    def p(self, entries: Sequence[Entry], spectra: Sequence[Spectrum]) -> list[float | None]:
        assert self._specialist is not None
        return [float(value) for value in self._specialist.predict(spectra)]

    def description(self) -> dict[str, object]:
        return self._description

    def _question(self, source: str, yes: bool) -> Question:
        def spectrum() -> Spectrum:
            raise AssertionError(tr("its row on the grid is given"))

        label: Verdict = "YES" if yes else "NO"
        return Question(source, source, self._task, label, "", None, False, spectrum)


def _name(row: Mapping[str, Any], where: str) -> str:
    name = row.get("source") or row.get("key")
    if not isinstance(name, str):
        raise DataError(
            tr("{where}: source: found {name!r:.60}, expected the name of a spectrum", where=where, name=name)
        )
    return name


def _probability(row: Mapping[str, Any], where: str) -> float:
    p = row.get("probability")
    if isinstance(p, bool) or not isinstance(p, int | float) or not 0 <= p <= 1:
        raise DataError(tr("{where}: probability: found {p!r:.60}, expected a number from 0 to 1", where=where, p=p))
    return float(p)
