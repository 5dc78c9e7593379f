"""``spec-o3 inspect``: inspect many spectra with a policy, and rank the candidates."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from agent.cli.command import (
    CHECK_FAILED,
    DONE,
    CannotRun,
    ProgressBar,
    delete_results,
    print_result,
    progress,
    stop_on_signal,
)
from agent.cli.engine import RayEngine, check_engine_options, check_stages
from agent.cli.inspect_options import InspectOptions
from agent.cli.options import output_file, output_folder
from agent.cli.selection import Skipped, selected_sources, skipped_text
from agent.cli.stages import IN_PROCESSES, IN_THIS_PROCESS, LOCAL_CONCURRENCY, stages_of
from agent.language import tr, trn

if TYPE_CHECKING:
    from agent.batch.candidates import Candidate, CandidateVerdict
    from agent.batch.cascade import Cascade, Stage, StageRun
    from agent.batch.certified import CertifiedRun
    from agent.batch.journal import Journal, PendingJobs, RunSummary
    from agent.batch.sources import Source
    from agent.consensus import Limits
    from agent.conversation import Stop
    from agent.tasks import Task


def run(arguments: InspectOptions) -> int:
    from agent.batch.candidates import check_table_path, columns_for, ranked, write_table
    from agent.batch.cascade import Cascade
    from agent.batch.rows import RankedRows
    from agent.conversation import Stop

    check_engine_options(arguments)
    try:
        arguments.out = (output_folder if arguments.engine == "ray" else output_file)(str(arguments.out))
    except ArgumentTypeError as error:
        raise CannotRun(f"--out: {error}") from error
    task, limits, stop = _task(arguments), _limits(arguments), Stop()
    skipped: list[Skipped] = []
    rows: Sequence[Candidate]
    if arguments.table is not None:
        check_table_path(arguments.table)
    stages = stages_of(arguments, task, limits)
    check_stages(arguments, stages)
    _check_files(arguments, [stage.results for stage in stages])
    with stop_on_signal(stop):
        if arguments.engine == "ray":
            cascade = Cascade(stages, RayEngine(arguments, skipped))
            rows = RankedRows.sorted(cascade.rows([], stop), stages[0].results / "table.jsonl")
        else:
            sources, skipped = selected_sources(arguments, arguments.paths, arguments.out.parent)
            cascade = Cascade(stages, run_stage)
            rows = ranked(cascade.rows(sources, stop))
    if arguments.table is not None:
        is_certified = any(stage.certified is not None for stage in stages)
        write_table(rows, arguments.table, columns_for(is_certified, len(stages) > 1))
    counts: Counter[CandidateVerdict] = Counter()
    within_margin = 0
    for row in rows:
        counts[row.verdict] += 1
        within_margin += row.score is not None and abs(row.score) < limits.margin
    result = _result(arguments, cascade, counts, within_margin) | {"skipped": skipped}
    print_result(arguments, result, _text(arguments, cascade, counts) + skipped_text(skipped))
    if stop.is_set:
        raise KeyboardInterrupt
    return DONE if cascade.is_complete else CHECK_FAILED


def run_stage(stage: Stage, sources: Sequence[Source], stop: Stop) -> StageRun:
    """Run a stage on this machine: the ``RunStage`` of the default engine."""
    from agent.batch.candidates import candidates_from
    from agent.batch.cascade import KnownSpectra, StageRun, keys_of
    from agent.batch.journal import Journal, PendingJobs
    from agent.batch.sources import key_of

    folder, certified = stage.results.parent, stage.certified
    with Journal(stage.results, stage.settings) as journal:
        known = journal if stage.number == 1 else KnownSpectra(journal)
        work = PendingJobs(sources, stage.samples, known, stage.limit)
        summary = _inspect(stage, work, journal, stop)
        given = None if stage.number == 1 else keys_of(sources)
        inspected = progress(journal.inspected(), journal.spectra, tr("counting"))
        chosen = (traced for traced in inspected if given is None or key_of(traced.file, traced.target) in given)
        rows = list(candidates_from(chosen, folder, stage.task, stage.limits, stage.medium, certified))
        if certified is not None:
            rows = certified.tested(rows)
            if certified.suspended is None:
                rows = _after_trials(stage, certified, rows, journal, stop)
        return StageRun(summary, journal.failed, rows)


def _after_trials(
    stage: Stage, certified: CertifiedRun, rows: list[Candidate], journal: Journal, stop: Stop
) -> list[Candidate]:
    """Return the rows after the trials that the certificate needs of verdicts; all rows if it needs none."""
    from agent.batch.certified import Trying

    needed = sum(row.verdict in certified.certificate.requirements.trial for row in rows)
    if not needed:
        return rows
    processes, threads = _workers(stage, needed * stage.samples)
    with ProgressBar(needed * stage.samples, tr("trying the evidence")) as bar:
        trying = Trying(stage.policy_for, processes, threads, stage.medium, lambda done, of: _at(bar, done, of))
        return certified.after_trials(rows, journal.inspected(), trying, stage.results, stop)


def _at(bar: ProgressBar, done: int, of: int) -> None:
    bar.expect(of)
    bar.at(done)


def _inspect(stage: Stage, work: PendingJobs, journal: Journal, stop: Stop) -> RunSummary:
    from agent.batch.journal import record
    from agent.batch.run import inspect_many

    processes, threads = _workers(stage, work.expected)
    outcomes = inspect_many(
        work,
        stage.task,
        stage.policy_for,
        concurrency=processes or threads if stage.policy in IN_PROCESSES else threads,
        processes=processes,
        max_turns=stage.max_turns,
        medium=stage.medium,
        stop=stop,
    )
    with ProgressBar(work.expected, tr("inspecting")) as bar:

        def done(number: int) -> None:
            bar.expect(work.expected)
            bar.at(number)

        with closing(outcomes):  # stops running inspections on any error
            return record(map(stage.marked, outcomes), journal, done)


def _workers(stage: Stage, jobs: int) -> tuple[int, int]:
    """Return the number of processes, 0 for threads in this one, and the number of threads."""
    from agent.batch.run import THREADS
    from agent.processes import cores

    # A process takes a second or two to start; a few jobs are done sooner without.
    processes = min(cores(), jobs // 4) if stage.processes is None else stage.processes
    return processes, stage.threads or (LOCAL_CONCURRENCY if stage.policy in IN_THIS_PROCESS else THREADS)


def _task(arguments: InspectOptions) -> Task:
    from agent import tasks

    known, problems = tasks.load_all([arguments.tasks] if arguments.tasks else [])
    task = tasks.find(known, arguments.task)
    if task is None:
        left_out = "".join(tr("; left out: {problem}", problem=problem) for problem in problems)
        raise CannotRun(
            tr(
                "--task: found {task!r}, expected one of {names}{left_out}",
                task=arguments.task,
                names=", ".join(known),
                left_out=left_out,
            )
        )
    return task


def _limits(arguments: InspectOptions) -> Limits:
    from agent.consensus import Limits

    given = {"majority": arguments.majority, "snr": arguments.min_snr, "margin": arguments.margin}
    try:
        return Limits(**{name: value for name, value in given.items() if value is not None})
    except ValueError as error:
        raise CannotRun(str(error)) from error


def _check_files(arguments: InspectOptions, results: Sequence[Path]) -> None:
    out, table = arguments.out, arguments.table
    if arguments.overwrite:
        delete_results(*results)
    existing = [path for path in results if path.exists()]
    if not out.resolve().parent.is_dir():
        raise CannotRun(tr("{out}: found no folder {parent}", out=out, parent=out.resolve().parent))
    if existing and arguments.no_resume:
        raise CannotRun(tr("{there}: found results; choose another file, or --overwrite", there=existing[0]))
    if not existing and arguments.resume:
        raise CannotRun(tr("{out}: found no results to resume", out=out))
    if not (existing or arguments.overwrite) and table is not None and table.exists():
        raise CannotRun(
            tr("{table}: found a file that does not belong to these results; choose another, or remove it", table=table)
        )


def _result(
    arguments: InspectOptions, cascade: Cascade, counts: Counter[CandidateVerdict], within_margin: int
) -> dict[str, Any]:
    from agent.batch.candidates import CandidateVerdict
    from agent.batch.cascade import people_share, run_json, stages_json

    result = {
        "results": str(arguments.out),
        "table": None if arguments.table is None else str(arguments.table),
        "spectra": counts.total(),
        **{verdict.lower(): counts[verdict] for verdict in get_args(CandidateVerdict)},
        "within_margin": within_margin,
        "failed": sum(stage.failed for stage in cascade.counts),
        "this_run": run_json(cascade.summary(), arguments.person_seconds),
    }
    if len(cascade.stages) > 1:
        return result | {"people_share": people_share(counts), "stages": stages_json(cascade)}
    certified = cascade.stages[0].certified
    return result if certified is None else result | {"certificate": certified.to_json()}


def _text(arguments: InspectOptions, cascade: Cascade, counts: Counter[CandidateVerdict]) -> str:
    from agent.batch.cascade import people_share, person_ratio, seconds_per_spectrum, stages_text, tokens_text

    summary = cascade.summary()
    share = people_share(counts) if len(cascade.stages) > 1 else None
    line = trn(
        "{n} spectrum in {out}: {yes} YES, {no} NO, {ask} left to a person",
        "{n} spectra in {out}: {yes} YES, {no} NO, {ask} left to a person",
        counts.total(),
        out=arguments.out,
        yes=counts["YES"],
        no=counts["NO"],
        ask=counts["ASK"],
    )
    lines = [line if share is None else tr("{line} ({share:.1f} %)", line=line, share=100 * share)]
    lines += stages_text(cascade)
    if summary.inspected:
        per_spectrum, ratio = seconds_per_spectrum(summary), person_ratio(summary, arguments.person_seconds)
        run = trn(
            "this run: {n} inspection in {seconds:.0f} s",
            "this run: {n} inspections in {seconds:.0f} s",
            summary.inspected,
            seconds=summary.seconds,
        )
        if per_spectrum:
            rate = {"run": run, "rate": 1 / per_spectrum, "seconds": per_spectrum}
            run = tr("{run}, {rate:.2f} spectra/s, {seconds:.3g} s per spectrum", **rate)
        if ratio is not None:
            person = {"run": run, "seconds": arguments.person_seconds, "ratio": ratio}
            run = tr("{run} ({seconds:g} s of a person are {ratio:.3g} times as long)", **person)
        lines.append(tr("; ").join((run, *tokens_text(summary.usage))))
    if summary.truncated:
        lines.append(
            tr(
                "{n} truncated: the conversation no longer fitted the model. Allow fewer turns or tokens per turn, or "
                "serve the model with a larger --context",
                n=summary.truncated,
            )
        )
    if summary.empty:
        lines.append(trn("{n} target has no data", "{n} targets have no data", summary.empty))
    if arguments.table is not None:
        lines.append(tr("table: {table}", table=arguments.table))
    for stage in cascade.counts:
        if failed := stage.summary.failed:
            listed = _failures(stage.stage.results)
            lines.append(tr("{n} failed, listed in {file}; the next run retries them:", n=failed, file=listed))
            lines += [f"  {failure}" for failure in stage.summary.failures]
        if stage.summary.gone:
            lines.append(tr("stopped early: {reason}", reason=tr(stage.summary.gone)))
            lines.append(tr("run the same command again to continue"))
    lines += [stage.certified.text() for stage in cascade.stages if stage.certified is not None]
    return "\n".join(lines)


def _failures(results: Path) -> Path:
    """Return the file that lists the failures of a stage."""
    return results / "failed.jsonl" if results.is_dir() else results.with_name(f"{results.name}.failed.jsonl")
