"""Rows of the table: a run of the bench, a specialist's predictions; each with scores made the same way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.bench.answers import FILE, Run
from training.bench.contender import called
from training.bench.outcomes import Outcome, OutcomesError, read_predictions
from training.bench.published import is_specvi
from training.bench.scores import Scores, scores
from training.bench.wording import Simulated, simulated

PREDICTIONS = "predictions.jsonl"


@dataclass(frozen=True)
class Row:
    """A system and what it scored.

    :param name: with the stage of training, and "without the tool", where that is so
    :param data: what was asked, in words
    :param open: questions not asked yet; ``unread``: those whose spectrum could not be read
    :param wall: seconds a question while the run ran, many at a time; None where nobody took the time
    """

    name: str
    path: Path
    kind: str
    data: str
    outcomes: tuple[Outcome, ...]
    scores: Scores
    open: int = 0
    unread: int = 0
    failed: int = 0
    wall: float | None = None

    @property
    def simulated(self) -> Simulated:
        return simulated(self.outcomes)

    @property
    def note(self) -> str:
        """What keeps it from being a whole run over real spectra; "" if nothing does."""
        there = {
            f"unfinished: {self.open} questions not asked": self.open,
            f"{self.unread} spectra not read": self.unread,
            f"{self.failed} counted wrong because the policy failed": self.failed,
            "simulated spectra": self.simulated == "yes",
            "partly simulated spectra": self.simulated == "partly",
        }
        return "; ".join(words for words, is_so in there.items() if is_so)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "path": str(self.path),
            "kind": self.kind,
            "data": self.data,
            "simulated": self.simulated,
            "open": self.open,
            "unread": self.unread,
            "failed": self.failed,
            "seconds_a_question_at_work": self.wall,
            "scores": self.scores.to_json(),
        }


def row(path: Path) -> Row:
    """The row of a run's folder, or of a file of predictions (or a folder that holds one).

    :raises OutcomesError: it is neither, or is damaged, or holds nothing yet
    """
    if path.is_dir() and (path / FILE).is_file():
        return of_run(Run.read(path))
    file = path / PREDICTIONS if path.is_dir() else path
    if not file.is_file():
        wanted = f"the folder of a run (with {FILE}), or predictions ({PREDICTIONS})"
        raise OutcomesError(f"{path}: found no such file, wanted {wanted}")
    outcomes = tuple(sorted(read_predictions(file), key=lambda one: (one.task, one.key)))
    name = file.parent.name if file.name == PREDICTIONS else file.stem
    return Row(name, path, "predictions", _data(outcomes), outcomes, _scores(outcomes, path))


def of_run(run: Run) -> Row:
    """The row of a run. :raises OutcomesError: nothing was answered yet"""
    settings = run.settings
    policy = settings["policy"]
    name = called(settings["name"], settings["stage"], settings["with_tool"])
    return Row(
        name=name,
        path=run.folder,
        kind=policy["kind"],
        data=_data(run.outcomes),
        outcomes=run.outcomes,
        scores=_scores(run.outcomes, run.folder),
        open=run.open,
        unread=len(run.unread),
        failed=len(run.failed),
        wall=run.wall,
    )


def _scores(outcomes: tuple[Outcome, ...], path: Path) -> Scores:
    if not outcomes:
        raise OutcomesError(f"{path}: found no answer yet")
    return scores(outcomes)


def _data(outcomes: tuple[Outcome, ...]) -> str:
    """Surveys, most frequent first, or the benchmark's name."""
    if is_specvi(outcomes):
        return "SpecVI-Bench"
    surveys = [one.survey or "survey not known" for one in outcomes]
    return ", ".join(sorted(set(surveys), key=lambda name: (-surveys.count(name), name)))
