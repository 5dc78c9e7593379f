"""``spec-o3 inspect``: inspect many spectra with a policy, and rank the candidates."""

from __future__ import annotations

import hashlib
import signal
import sys
import threading
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, get_args

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, at_least_one, print_result, progress
from agent.cli.policy_options import add_policy_options, choice_from, roster_from, task_prompts_from
from agent.cli.selection import add_selection_options, selected_sources, skipped_text
from agent.processes import cores

if TYPE_CHECKING:
    from agent.batch.candidates import Candidate
    from agent.batch.certified import CertifiedRun
    from agent.batch.consensus import Limits
    from agent.batch.journal import Journal, RunSummary
    from agent.batch.run import PolicyFor
    from agent.batch.sources import Source
    from agent.cli.policy_options import PolicyChoice
    from agent.conversation import Policy, Stop
    from agent.tasks import Task

IN_THIS_PROCESS = ("local", "nano")
"""Policies whose model computes here instead of on a server."""
LOCAL_CONCURRENCY = 2
"""Conversations at once with a model in this process: one draws while the model writes for the other."""
MACHINE_SETTINGS = ("server", "server_version", "context", "device", "dtype", "revision")
"""Settings of a drafter that describe the machine: kept with each trace, but a run may resume with others."""


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="survey files, folders, lists (@FILE, or CSV with a column file), or - for a list on stdin",
    )
    parser.add_argument("--task", required=True, help="target class: key or alias of a task, for example cv")
    parser.add_argument("--tasks", type=Path, metavar="DIR", help="folder with your own task files")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="results file, as JSON lines")
    parser.add_argument(
        "--resume",
        action=BooleanOptionalAction,
        help="resume existing results, or refuse to (default: resume if there are any)",
    )
    parser.add_argument("--table", type=Path, metavar="FILE", help="table of candidates: .csv, .vot, .xml or .fits")
    parser.add_argument(
        "--samples", type=at_least_one, default=1, metavar="N", help="independent samples per spectrum (default 1)"
    )
    parser.add_argument(
        "--max-turns", type=at_least_one, default=8, metavar="N", help="maximum turns per inspection (default 8)"
    )
    add_selection_options(parser)
    parser.add_argument("--limit", type=at_least_one, metavar="N", help="inspect only the first N spectra")
    parser.add_argument(
        "--concurrency", type=at_least_one, metavar="N", help="conversations with a server at once (default 64)"
    )
    parser.add_argument(
        "--processes",
        type=at_least_one,
        metavar="N",
        help="number of processes, for baseline and nano (default: one per core)",
    )
    parser.add_argument(
        "--majority",
        type=float,
        metavar="X",
        help="leave to a person if a smaller fraction of the samples agrees (default 2/3)",
    )
    parser.add_argument(
        "--min-snr", type=float, metavar="X", help="leave to a person below this S/N per pixel (default 3)"
    )
    parser.add_argument(
        "--person-seconds",
        type=_positive,
        metavar="X",
        help="compare with the seconds that a person takes per spectrum (the Progress tab has the medians)",
    )
    parser.add_argument(
        "--margin",
        type=float,
        metavar="X",
        help="leave to a person if the log odds that the policy gives are within X of 0 (default 1)",
    )
    parser.add_argument(
        "--certificate",
        type=Path,
        metavar="FILE",
        help="give the verdicts of a certificate (spec-o3 certify), and leave to a person what it does not cover",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    add_policy_options(parser)


def run(arguments: Namespace) -> int:
    from agent.batch.candidates import (
        CERTIFIED_COLUMNS,
        COLUMNS,
        TableError,
        candidates_from,
        check_table_path,
        ranked,
        write_table,
    )
    from agent.batch.journal import Journal, JournalError
    from agent.batch.sources import SourceError
    from agent.conversation import PolicyError, Stop
    from agent.trust.certificate import CertificateError

    task, limits, stop = _task(arguments), _limits(arguments), Stop()
    try:
        if arguments.table is not None:
            check_table_path(arguments.table)
        _check_files(arguments)
        choice, policy = _policy(arguments)
        task = task_prompts_from(arguments, choice)(task)
        found, skipped = selected_sources(arguments, arguments.paths, arguments.out.parent)
        settings = {"task": task.key, "prompt_sha256": _sha256(task.prompt), "max_turns": arguments.max_turns}
        # Left out otherwise, so that results of earlier releases resume.
        if task.prompt_source != "ours":
            settings["prompt"] = task.prompt_source
        if arguments.medium is not None:
            settings["medium"] = arguments.medium
        certified = _certified(arguments, task, policy)
        policy_for = _policy_for(choice)
        with Journal(arguments.out, {**settings, "policy": policy}) as journal:
            with stop_on_signal(stop):
                summary = _inspect(arguments, found, task, policy_for, journal, stop)
            inspected = progress(journal.inspected(), journal.spectra, "counting")
            found_rows = list(
                candidates_from(inspected, arguments.out.parent, task, limits, arguments.medium, certified)
            )
            if certified is not None:
                found_rows = certified.tested(found_rows)
                if certified.suspended is None:
                    found_rows = _after_trials(arguments, certified, found_rows, policy_for, journal, stop)
            rows = ranked(found_rows)
            failed = journal.failed
        if arguments.table is not None:
            write_table(rows, arguments.table, CERTIFIED_COLUMNS if certified else COLUMNS)
    except (CertificateError, JournalError, PolicyError, SourceError, TableError) as error:
        raise CannotRun(str(error)) from error
    result = _result(arguments, summary, rows, failed, limits) | {"skipped": skipped}
    text = _text(arguments, summary, rows)
    if certified is not None:
        result |= {"certificate": certified.to_json()}
        text += f"\n{certified.text()}"
    print_result(arguments, result, text + skipped_text(skipped))
    if stop.is_set:
        raise KeyboardInterrupt
    is_incomplete = certified is not None and (certified.suspended is not None or certified.causes["trial not made"])
    return CHECK_FAILED if summary.failed or summary.gone or is_incomplete else DONE


def _certified(arguments: Namespace, task: Task, policy: Mapping[str, Any]) -> CertifiedRun | None:
    """Return the certificate of ``--certificate``, if there is one.

    :param policy: as the results' settings have it
    :raises CertificateError: it cannot be read, or is suspended
    :raises CannotRun: it does not cover the run
    """
    if arguments.certificate is None:
        return None
    from agent.batch.certified import certified_run
    from agent.plot import RENDERER
    from agent.trust.certificate import CertifiedPolicy

    rules = {"--majority": arguments.majority, "--min-snr": arguments.min_snr, "--margin": arguments.margin}
    given = [option for option, value in rules.items() if value is not None]
    if given:
        raise CannotRun(f"{given[0]} has no effect with --certificate, whose verdicts follow from P(YES); leave it out")
    found = certified_run(arguments.certificate, task)
    settings = {**policy["settings"], "renderer": RENDERER, "max_turns": arguments.max_turns}
    now = CertifiedPolicy(policy["kind"], policy["name"], settings)
    refusal = found.certificate.refusal(task.key, _sha256(task.prompt), now, arguments.samples, arguments.medium)
    if refusal:
        raise CannotRun(f"--certificate {arguments.certificate}: {refusal}")
    return found


def _after_trials(
    arguments: Namespace,
    certified: CertifiedRun,
    rows: list[Candidate],
    policy_for: PolicyFor,
    journal: Journal,
    stop: Stop,
) -> list[Candidate]:
    """Return the rows after the trials that the certificate needs of verdicts; all rows if it needs none."""
    from agent.batch.certified import Trying
    from agent.batch.run import THREADS

    needed = sum(row.verdict in certified.certificate.wanted.trial for row in rows)
    if not needed:
        return rows
    processes = _processes(arguments, needed * arguments.samples)
    threads = arguments.concurrency or (LOCAL_CONCURRENCY if arguments.policy in IN_THIS_PROCESS else THREADS)
    with stop_on_signal(stop), ProgressBar(needed * arguments.samples, "trying the evidence") as bar:
        trying = Trying(policy_for, processes, threads, arguments.medium, lambda done, of: _at(bar, done, of))
        return certified.after_trials(rows, journal.inspected(), trying, arguments.out, stop)


def _at(bar: ProgressBar, done: int, of: int) -> None:
    bar.expect(of)
    bar.at(done)


def _policy_for(choice: PolicyChoice) -> PolicyFor:
    """Return the policies of the run; those that compute can be sent to other processes."""
    if choice.key == "baseline":
        return baseline
    if choice.key == "nano" and (folder := choice.roster.nano) is not None:
        from agent.policies.nano.policy import ManySpectra

        return ManySpectra(folder, choice.sampling)
    return choice


def baseline(sample: int) -> Policy:
    """Make the baseline, which gives the same answer for every sample."""
    from agent.policies.baseline.rule import Baseline

    return Baseline()


def _inspect(
    arguments: Namespace,
    found: Sequence[Source],
    task: Task,
    policy_for: PolicyFor,
    journal: Journal,
    stop: Stop,
) -> RunSummary:
    from agent.batch.journal import PendingJobs, record
    from agent.batch.run import THREADS, inspect_many

    work = PendingJobs(found, arguments.samples, journal, arguments.limit)
    processes = _processes(arguments, work.expected)
    local = arguments.policy in IN_THIS_PROCESS
    outcomes = inspect_many(
        work,
        task,
        policy_for,
        concurrency=processes or arguments.concurrency or (LOCAL_CONCURRENCY if local else THREADS),
        processes=processes > 0,
        max_turns=arguments.max_turns,
        medium=arguments.medium,
        stop=stop,
    )
    with ProgressBar(work.expected, "inspecting") as bar:

        def done(number: int) -> None:
            bar.expect(work.expected)
            bar.at(number)

        with closing(outcomes):  # stops running inspections on any error
            return record(outcomes, journal, done)


@contextmanager
def stop_on_signal(stop: Stop) -> Iterator[None]:
    """Within the block, the first Ctrl C (or SIGTERM) sets ``stop`` and the second one interrupts."""

    def on_signal(number: int, _: FrameType | None) -> None:
        signal.signal(number, before[number])
        print("\nstopping; finished inspections are kept. Press Ctrl C again to quit at once", file=sys.stderr)
        # Not here: the interrupted code may hold the lock that set() takes.
        threading.Thread(target=stop.set).start()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {int(number): signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _processes(arguments: Namespace, jobs: int) -> int:
    """Return the number of processes, 0 for threads in this one."""
    if arguments.policy not in ("baseline", "nano"):
        if arguments.processes is not None:
            raise CannotRun(f"--processes: --policy {arguments.policy} runs in threads (use --concurrency)")
        return 0
    if arguments.processes is not None:
        return int(arguments.processes)
    if arguments.concurrency is not None:
        return 0
    # A process takes a second or two to start; a few jobs are done sooner without.
    return min(cores(), jobs // 4)


def _policy(arguments: Namespace) -> tuple[PolicyChoice, dict[str, Any]]:
    """Return the policy, and its settings that must not change when a run resumes.

    :raises PolicyError: it cannot be used
    """
    choice = choice_from(arguments, roster_from(arguments), arguments.samples)
    health = choice.roster.health(choice.key)
    if not health.ok:
        raise CannotRun(health.sentence)
    drafter = choice().drafter
    fixed = {name: value for name, value in drafter.settings.items() if name not in MACHINE_SETTINGS}
    if drafter.kind == "model":
        # The requested settings: a server that rejects some says so only in its first answer.
        fixed |= choice.sampling.settings()
    about = {"kind": drafter.kind, "name": drafter.name, "settings": fixed}
    return choice, about


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _task(arguments: Namespace) -> Task:
    from agent import tasks

    known, problems = tasks.load_all([arguments.tasks] if arguments.tasks else [])
    task = tasks.find(known, arguments.task)
    if task is None:
        left_out = "".join(f"; left out: {problem}" for problem in problems)
        raise CannotRun(f"--task: found {arguments.task!r}, expected one of {', '.join(known)}{left_out}")
    return task


def _limits(arguments: Namespace) -> Limits:
    from agent.batch.consensus import Limits

    given = {"majority": arguments.majority, "snr": arguments.min_snr, "margin": arguments.margin}
    try:
        return Limits(**{name: value for name, value in given.items() if value is not None})
    except ValueError as error:
        raise CannotRun(str(error)) from error


def _check_files(arguments: Namespace) -> None:
    results, table = arguments.out, arguments.table
    if not results.resolve().parent.is_dir():
        raise CannotRun(f"{results}: found no folder {results.resolve().parent}")
    if results.exists() and arguments.resume is False:
        raise CannotRun(f"{results}: found results; resume them (--resume), or choose another file")
    if not results.exists() and arguments.resume:
        raise CannotRun(f"{results}: found no results to resume")
    if not results.exists() and table is not None and table.exists():
        raise CannotRun(f"{table}: found a file that does not belong to these results; choose another, or remove it")


def _result(
    arguments: Namespace, summary: RunSummary, rows: Sequence[Candidate], failed: int, limits: Limits
) -> dict[str, Any]:
    from agent.batch.candidates import CandidateVerdict

    counts = Counter(row.verdict for row in rows)
    seconds = summary.seconds or 1.0
    per_spectrum, ratio = _time(arguments, summary)
    return {
        "results": str(arguments.out),
        "table": None if arguments.table is None else str(arguments.table),
        "spectra": len(rows),
        **{verdict.lower(): counts[verdict] for verdict in get_args(CandidateVerdict)},
        "within_margin": sum(row.score is not None and abs(row.score) < limits.margin for row in rows),
        "failed": failed,
        "this_run": {
            "inspected": summary.inspected,
            "spectra": summary.spectra,
            "failed": summary.failed,
            "truncated": summary.truncated,
            "without_data": summary.empty,
            "seconds": round(summary.seconds, 3),
            "spectra_per_second": round(summary.spectra / seconds, 3),
            "seconds_per_spectrum": None if per_spectrum is None else round(per_spectrum, 4),
            "person_to_policy": None if ratio is None else round(ratio, 3),
            "tokens": asdict(summary.usage),
            "gone": summary.gone,
        },
    }


def _text(arguments: Namespace, summary: RunSummary, rows: Sequence[Candidate]) -> str:
    counts = Counter(row.verdict for row in rows)
    lines = [
        f"{len(rows)} spectra in {arguments.out}: {counts['YES']} YES, {counts['NO']} NO, "
        f"{counts['ASK']} left to a person"
    ]
    if summary.inspected:
        per_spectrum, ratio = _time(arguments, summary)
        rate = f", {1 / per_spectrum:.2f} spectra/s, {per_spectrum:.3g} s per spectrum" if per_spectrum else ""
        if ratio is not None:
            rate += f" ({arguments.person_seconds:g} s of a person are {ratio:.3g} times as long)"
        lines.append(f"this run: {summary.inspected} inspections in {summary.seconds:.0f} s{rate}{_tokens(summary)}")
    if summary.truncated:
        lines.append(
            f"{summary.truncated} truncated: the conversation no longer fitted the model. Allow fewer turns or tokens "
            "per turn, or serve the model with a larger --context"
        )
    if summary.empty:
        lines.append(f"{summary.empty} targets have no data")
    if arguments.table is not None:
        lines.append(f"table: {arguments.table}")
    if summary.failed:
        lines.append(f"{summary.failed} failed, listed in {arguments.out}.failed.jsonl; the next run retries them:")
        lines += [f"  {failure}" for failure in summary.failures]
    if summary.gone:
        lines.append(f"stopped early: {summary.gone}")
    return "\n".join(lines)


def _time(arguments: Namespace, summary: RunSummary) -> tuple[float | None, float | None]:
    """Return the time of this run divided by its spectra, and how many times longer a person takes; None: unknown."""
    if not summary.spectra or not summary.seconds:
        return None, None
    own = summary.seconds / summary.spectra
    return own, None if arguments.person_seconds is None else arguments.person_seconds / own


def _tokens(summary: RunSummary) -> str:
    usage = summary.usage
    if not usage.requests:
        return ""
    cached = f" ({usage.cached:,} of them cached)" if usage.cached else ""
    return f"; tokens: {usage.prompt:,} read{cached}, {usage.completion:,} written"


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ArgumentTypeError(f"found {text!r}, expected a number above 0")
    return number
