"""What a policy does: calls, length and time of right and of wrong answers, and the errors of its tool calls.

Everything is of single samples with a trace, whatever was voted; right and wrong are those of the sample. A sample
without YES or NO is wrong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agent.loop import NOT_RUN
from agent.statistics import FloatArray, divided
from agent.tasks import Task
from agent.trajectory.steps import Zoom
from training.bench.answers import Run
from training.bench.outcomes import Outcome
from training.bench.scores import Counts, Value, estimate, resampled_counts
from training.bench.windows import TaskWindows, WindowCounts


@dataclass(frozen=True)
class Length:
    """The length of a trace: assistant turns, characters that the assistant wrote."""

    turns: int
    characters: int


@dataclass(frozen=True)
class Contrast:
    """A quantity for right and for wrong samples: their numbers and means, and the difference of the means.

    :param difference: right minus wrong, with an interval by spectrum
    """

    name: str
    right: int
    wrong: int
    mean_right: float | None
    mean_wrong: float | None
    difference: Value


@dataclass(frozen=True)
class Behaviour:
    """What the samples of a run do.

    :param tool_errors: calls without a picture, by kind, the most frequent first
    :param windows: by task; those without a zoom are left out
    """

    samples: int
    contrasts: tuple[Contrast, ...]
    tool_errors: Mapping[str, int]
    windows: tuple[TaskWindows, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


Quantity = Callable[[Outcome, Length], float | None]

QUANTITIES: Mapping[str, Quantity] = {
    "tool calls": lambda outcome, length: outcome.calls,
    "turns": lambda outcome, length: length.turns,
    "characters written": lambda outcome, length: length.characters,
    "tokens written": lambda outcome, length: outcome.completion_tokens or None,
    "tokens read": lambda outcome, length: outcome.prompt_tokens or None,
    "seconds": lambda outcome, length: outcome.seconds,
}
_NOT_EXECUTED = "Error when executing tool: "  # as ``agent.tool`` begins these answers
NO_RIGHT_OR_WRONG = "not defined: all answers are right, or all are wrong"


def behaviour(run: Run, tasks: Mapping[str, Task]) -> Behaviour:
    """Return what the samples of a run do, from its traces.

    :param tasks: by key, for the lines that belong to a task; the windows of other tasks are given without lines
    :raises OutcomesError: the journal is damaged
    """
    samples: list[tuple[Outcome, Length]] = []
    errors: Counter[str] = Counter()
    windows: dict[str, WindowCounts] = {}
    for outcome, trajectory, texts in run.traces():
        samples.append((outcome, Length(len(texts), sum(map(len, texts)))))
        errors.update(error_kind(zoom) for zoom in trajectory.zooms if not zoom.ok)
        counts = windows.setdefault(outcome.task, WindowCounts(outcome.task, tasks.get(outcome.task)))
        counts.add(trajectory.zooms, outcome.is_right)
    return Behaviour(
        len(samples),
        tuple(contrasted for name, of in QUANTITIES.items() if (contrasted := contrast(name, of, samples)) is not None),
        dict(errors.most_common()),
        tuple(counts.result() for _, counts in sorted(windows.items()) if counts.zooms),
    )


def error_kind(zoom: Zoom) -> str:
    """Return why a call has no picture, from the arguments and the tool's answer."""
    if zoom.observation == NOT_RUN:
        return "beyond the last allowed turn"
    if zoom.observation.startswith(_NOT_EXECUTED):
        return "another tool, or arguments that are no object"
    if zoom.measures:
        return "nothing known to measure"
    if zoom.shows_sky:
        return "no catalogue records of the object, or a call with other arguments than a label"
    if zoom.window is None:
        return "the window is not two numbers"
    if zoom.window[0] >= zoom.window[1]:
        return "the window ends before it begins"
    return "the window is outside the spectrum, or cannot be drawn"


def contrast(name: str, of: Quantity, samples: Iterable[tuple[Outcome, Length]]) -> Contrast | None:
    """Return a quantity for right and for wrong samples; None if no sample has it."""
    by_spectrum: dict[str, Counts] = defaultdict(lambda: np.zeros(4))
    for outcome, length in samples:
        quantity = of(outcome, length)
        if quantity is not None:
            by_spectrum[outcome.source][[0, 1] if outcome.is_right else [2, 3]] += 1, quantity
    if not by_spectrum:
        return None
    counts = np.array([by_spectrum[source] for source in sorted(by_spectrum)])
    totals = counts.sum(axis=0)
    right, wrong = _means(totals[None, :])[0]
    between = _difference(resampled_counts(counts, name))
    return Contrast(
        name,
        int(totals[0]),
        int(totals[2]),
        None if np.isnan(right) else float(right),
        None if np.isnan(wrong) else float(wrong),
        estimate(float(_difference(totals[None, :])[0]), between, len(counts), NO_RIGHT_OR_WRONG),
    )


def _means(counts: Counts) -> FloatArray:
    """Return the means of right and of wrong: (sets, 4) -> (sets, 2)."""
    return divided(counts[:, [1, 3]], counts[:, [0, 2]])


def _difference(counts: Counts) -> FloatArray:
    means = _means(counts)
    return np.asarray(means[:, 0] - means[:, 1], dtype=float)


def rows(contrasts: Sequence[Contrast]) -> list[list[str]]:
    """Return the cells of a table: quantity, mean when right, mean when wrong, difference."""
    return [
        [
            contrast.name,
            _mean(contrast.mean_right, contrast.right),
            _mean(contrast.mean_wrong, contrast.wrong),
            _signed(contrast.difference),
        ]
        for contrast in contrasts
    ]


def _mean(mean: float | None, number: int) -> str:
    return "–" if mean is None else f"{mean:,.2f} (n = {number})"


def _signed(value: Value) -> str:
    if value.value is None:
        return value.words
    if value.lo is None or value.hi is None:
        return f"{value.value:+,.2f} ({value.words})"
    return f"{value.value:+,.2f} [{value.lo:+,.2f}, {value.hi:+,.2f}]"
