"""Several samples of each question: the majority vote, pass@k, and how far the samples agree.

Of the samples of a question only those with YES or NO vote. A tie, or no vote at all, is no answer: it counts as
wrong, a miss if the truth is YES, and no false positive if it is NO.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import comb
from typing import Any

import numpy as np

from agent.language import tr
from agent.trajectory.steps import Verdict
from training.bench.outcomes import Outcome
from training.bench.scores import (
    NO_TASK,
    RESAMPLES,
    SEED,
    TaskCounts,
    Value,
    mean_over_tasks,
    ratio,
    resampled_counts,
    value,
)

Samples = Sequence[Outcome]
"""The samples of one question."""


def voted(samples: Samples) -> Outcome:
    """Return the outcome of the majority vote; a single sample stands for itself.

    Everything but the answer is that of the first sample that agrees with the vote: its trace stands for the question.
    """
    if len(samples) == 1:
        return samples[0]
    yes, no = votes(samples)
    verdict = _majority(yes, no)
    stands = next((sample for sample in samples if sample.predicted == verdict), samples[0])
    probabilities = [sample.probability for sample in samples if sample.probability is not None]
    return replace(
        stands,
        predicted=verdict,
        answered=_majority(*(sum(sample.answered == word for sample in samples) for word in ("YES", "NO"))),
        probability=float(np.mean(probabilities)) if len(probabilities) == len(samples) else None,
        vote_share=yes / (yes + no) if yes + no else None,
    )


def votes(samples: Samples) -> tuple[int, int]:
    """Return the number of samples that are YES, and of those that are NO."""
    return sum(sample.predicted == "YES" for sample in samples), sum(sample.predicted == "NO" for sample in samples)


def _majority(yes: int, no: int) -> Verdict | None:
    return None if yes == no else "YES" if yes > no else "NO"


def pass_at(k: int, samples: int, right: int) -> float:
    """Return the probability that at least one of ``k`` of the samples, selected at random, is right.

    Without bias: Chen et al. 2021, arXiv:2107.03374, equation 1.

    :raises ValueError: there are fewer than ``k`` samples
    """
    if not 1 <= k <= samples:
        raise ValueError(tr("k: found {k}, expected 1 to {samples}, the number of samples", k=k, samples=samples))
    return 1.0 - comb(samples - right, k) / comb(samples, k)


def ks(samples: int) -> tuple[int, ...]:
    """Return 1, 2, 4, ... up to the number of samples."""
    return tuple(2**n for n in range(samples.bit_length()))


@dataclass(frozen=True)
class TaskSamples:
    """What the samples of one task show; the values are shares with intervals by spectrum.

    :param pass_at: by k
    :param consistency: share of the samples that agree with the more frequent verdict of their question; a sample
        without a verdict agrees with none
    :param ties: questions without a majority
    """

    task: str
    questions: int
    pass_at: Mapping[int, Value]
    consistency: Value
    ties: int


@dataclass(frozen=True)
class SampleScores:
    """What the samples of all tasks show. ``pass_at`` and ``consistency`` are means over tasks.

    :param samples: per question
    """

    samples: int
    tasks: tuple[TaskSamples, ...]
    pass_at: Mapping[int, Value]
    consistency: Value

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def sample_scores(questions: Sequence[Samples], resamples: int = RESAMPLES, seed: int = SEED) -> SampleScores:
    """Return pass@k and consistency.

    :param questions: each with the same number of samples
    :raises ValueError: there is none, or the numbers differ
    """
    numbers = {len(samples) for samples in questions}
    if len(numbers) != 1:
        raise ValueError(
            tr("samples: found {numbers} per question, expected the same number for each", numbers=sorted(numbers))
        )
    (number,) = numbers
    at = ks(number)
    counted = list(_counted(questions, number, resamples, seed))
    columns = {k: ratio([1 + place], [0]) for place, k in enumerate(at)}
    agree = ratio([1 + len(at)], [0])
    ties: dict[str, int] = defaultdict(int)
    for samples in questions:
        ties[samples[0].task] += voted(samples).predicted is None if number > 1 else 0
    tasks = [
        TaskSamples(
            task=task.task,
            questions=int(task.totals[0]),
            pass_at={k: value(task.totals, task.sums, of, task.spectra, "") for k, of in columns.items()},
            consistency=value(task.totals, task.sums, agree, task.spectra, ""),
            ties=ties[task.task],
        )
        for task in counted
    ]
    return SampleScores(
        number,
        tuple(tasks),
        {k: mean_over_tasks(counted, of, NO_TASK)[0] for k, of in columns.items()},
        mean_over_tasks(counted, agree, NO_TASK)[0],
    )


def _counted(questions: Sequence[Samples], number: int, resamples: int, seed: int) -> Iterator[TaskCounts]:
    """Yield for each task the sums over its questions, by spectrum: questions, pass@k of each k, agreement."""
    at = ks(number)
    by_task: dict[str, dict[str, list[list[float]]]] = defaultdict(lambda: defaultdict(list))
    for samples in questions:
        right = sum(sample.is_right for sample in samples)
        row = [1.0, *(pass_at(k, number, right) for k in at), max(votes(samples)) / number]
        by_task[samples[0].task][samples[0].source].append(row)
    for task, spectra in sorted(by_task.items()):
        counts = np.array([np.sum(spectra[source], axis=0) for source in sorted(spectra)])
        yield TaskCounts(task, len(spectra), counts.sum(axis=0), resampled_counts(counts, task, resamples, seed))
