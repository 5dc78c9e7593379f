"""One row of the table from several runs of a system that differ by their training or sampling seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from agent.language import tr
from training.bench.answers import Cost
from training.bench.outcomes import Outcome, OutcomesError
from training.bench.scores import (
    ACCURACY,
    ANSWERED,
    F1,
    FORMED,
    NONE_CALLED,
    NONE_POSITIVE,
    NOTHING,
    PRECISION,
    RECALL,
    WRITTEN,
    YES,
    N,
    Scores,
    TaskCounts,
    TaskScores,
    counted,
    ratio,
)
from training.bench.seeds import defined_tasks, of_task, over_questions, over_tasks, refuse_other_questions
from training.bench.table import Row, SeveralRuns


def row_of_runs(name: str, rows: Sequence[Row]) -> Row:
    """Return the row of several runs: means over the runs, with intervals over runs and spectra.

    :param rows: of each run
    :raises OutcomesError: a run is named twice, or they have different questions
    """
    paths = [row.path.resolve() for row in rows]
    if len(set(paths)) < len(paths):
        raise OutcomesError(tr("{name}: found a run that is named twice, expected different runs", name=name))
    try:
        refuse_other_questions([row.outcomes for row in rows], [str(row.path) for row in rows])
    except ValueError as error:
        raise OutcomesError(f"{name}: {error}") from error
    kinds = {row.kind for row in rows}
    counts = [counted(row.outcomes) for row in rows]
    runs = SeveralRuns(
        tuple(rows),
        over_tasks(counts, F1),
        over_tasks(counts, ACCURACY),
        {task_counts.task: of_task(counts, task_counts.task, F1, NOTHING) for task_counts in counts[0]},
    )
    return Row(
        name=f"{name} ({len(rows)} {'run' if len(rows) == 1 else 'runs'})",
        path=Path(name),
        kind=kinds.pop() if len(kinds) == 1 else "several kinds",
        data=rows[0].data,
        outcomes=tuple(outcome for row in rows for outcome in row.outcomes),
        scores=_scores(rows, counts, runs),
        open=sum(row.open for row in rows),
        unread=sum(row.unread for row in rows),
        failed=sum(row.failed for row in rows),
        cost=_cost([row.cost for row in rows]),
        runs=runs,
    )


def _cost(costs: Sequence[Cost]) -> Cost:
    """Return the time of all runs together; its GPU seconds are known if those of each are."""
    gpus = [cost.gpu_seconds for cost in costs if cost.gpu_seconds is not None]
    known = sum(gpus) if len(gpus) == len(costs) else None
    return Cost(sum(cost.samples for cost in costs), sum(cost.seconds for cost in costs), known)


def _scores(rows: Sequence[Row], counts: Sequence[Sequence[TaskCounts]], runs: SeveralRuns) -> Scores:
    by_loop = [counted([outcome.read_by("loop") for outcome in row.outcomes]) for row in rows]
    single = [counted(_single(row)) for row in rows]
    spectra = rows[0].scores.spectra

    def mean(of: Callable[[Scores], float | None]) -> float | None:
        values = [value for row in rows if (value := of(row.scores)) is not None]
        return fmean(values) if values else None

    return Scores(
        n=rows[0].scores.n,
        spectra=spectra,
        tasks=tuple(_task([row.scores.tasks[place] for row in rows], counts) for place in range(len(counts[0]))),
        accuracy=runs.accuracy.mean,
        f1=runs.f1.mean,
        f1_of=defined_tasks(counts, F1),
        f1_by_loop=over_tasks(by_loop, F1).mean,
        format_rate=over_questions(single, ratio([FORMED], [WRITTEN]), spectra, "nothing written").mean,
        answer_rate=over_questions(single, ratio([ANSWERED], [N]), spectra, "").mean,
        yes_rate=over_questions(counts, ratio([YES], [N]), spectra, "").mean,
        calls=mean(lambda row: row.calls),
        errors=mean(lambda row: row.errors),
        seconds=mean(lambda row: row.seconds),
        prompt_tokens=mean(lambda row: row.prompt_tokens) or 0.0,
        completion_tokens=mean(lambda row: row.completion_tokens) or 0.0,
        cached_tokens=mean(lambda row: row.cached_tokens) or 0.0,
    )


def _single(row: Row) -> list[Outcome]:
    """Return the samples of a run, of which form and answers are counted; of one sample, the answers themselves."""
    return [outcome for several in row.samples for outcome in several] or list(row.outcomes)


def _task(same: Sequence[TaskScores], counts: Sequence[Sequence[TaskCounts]]) -> TaskScores:
    first = same[0]
    return TaskScores(
        task=first.task,
        n=first.n,
        spectra=first.spectra,
        positives=first.positives,
        tp=fmean(task_scores.tp for task_scores in same),
        fp=fmean(task_scores.fp for task_scores in same),
        fn=fmean(task_scores.fn for task_scores in same),
        tn=fmean(task_scores.tn for task_scores in same),
        without=fmean(task_scores.without for task_scores in same),
        accuracy=of_task(counts, first.task, ACCURACY, "").mean,
        precision=of_task(counts, first.task, PRECISION, NONE_CALLED).mean,
        recall=of_task(counts, first.task, RECALL, NONE_POSITIVE).mean,
        f1=of_task(counts, first.task, F1, NOTHING).mean,
    )
