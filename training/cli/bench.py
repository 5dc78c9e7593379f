"""``spec-o3 bench``: a policy on every question of a test set, scored; ``bench table`` compares runs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import (
    CHECK_FAILED,
    DONE,
    CannotRun,
    ProgressBar,
    delete_results,
    print_result,
    progress,
)
from agent.errors import Refusal
from agent.language import tr, trn
from training.cli.bench_options import RUNS, BenchOptions
from training.cli.bench_questions import LEAVE_OUT, questions_from, tasks_from

if TYPE_CHECKING:
    from agent.batch.run import PolicyFor
    from agent.cli.policy_options import PolicyChoice
    from agent.conversation import Stop
    from training.bench.run import InspectionOptions, SessionResult, System
    from training.bench.table import Row
    from training.data import DataCard, Dropped
    from training.data.records import Question

_NAMED = 5  # spectra in an error message


def run(arguments: BenchOptions) -> int:
    from agent.cli.command import stop_on_signal
    from agent.conversation import Stop
    from training.bench.answers import FILE, SESSIONS
    from training.bench.run import added
    from training.data import card

    if not arguments.data:
        raise CannotRun(tr("--data: found nothing, expected the questions (or `spec-o3 bench table RUN...`)"))
    stop = Stop()
    try:
        dropped: list[Dropped] = []
        questions = questions_from(arguments, dropped)
        about = card(questions, dropped=dropped)
        system = _system(arguments)
        choice = _choice(arguments)
        questions = _with_prompts(arguments, questions, choice)
        options, settings = _inspection_options(arguments, system, choice)
        _refuse_shared_examples(questions, options.policy_for)
        more = added(settings["policy"]["settings"])
        folder = arguments.out or RUNS / _file_name(settings["name"], "no-tool" if arguments.no_tool else more)
        if arguments.overwrite:
            delete_results(folder / FILE)
            (folder / SESSIONS).unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        if not arguments.json:
            print(about.text(), end="\n\n", flush=True)
        with stop_on_signal(stop):
            session = _ask(arguments, questions, options, folder, settings, stop)
        _save_card(about, folder)
        _refuse_unread(arguments, folder)
        row, result = _report(arguments, questions, folder, dropped)
    except (Refusal, OSError) as error:
        raise CannotRun(str(error)) from error
    print_result(arguments, result, _summary(row, session))
    if stop.is_set:
        raise KeyboardInterrupt
    return CHECK_FAILED if row.open or row.failed else DONE


def _refuse_unread(arguments: BenchOptions, folder: Path) -> None:
    """:raises CannotRun: spectra could not be read, and nothing allows to leave them out"""
    from training.bench.answers import Run

    run = Run.read(folder)
    if not run.unread or run.open or arguments.leave_out_unreadable:
        return
    first = "; ".join(list(run.unread.values())[:_NAMED]) + ("; …" if len(run.unread) > _NAMED else "")
    raise CannotRun(
        tr(
            "{n_unread} of the spectra cannot be read: {first}. The other answers are in {folder}: "
            "repair the files and give the command again, or score the rest with {leave_out}",
            n_unread=len(run.unread),
            first=first,
            folder=folder,
            leave_out=LEAVE_OUT,
        )
    )


def _system(arguments: BenchOptions) -> System | None:
    """Return the weights that a local policy loads; ``arguments`` then name them. A training run's folder means its
    result.
    """
    from training.bench.run import system_of
    from training.model import ModelError
    from training.run import LINEAGE, Run

    if arguments.key == "replay":
        raise CannotRun(tr("--policy replay repeats one stored trace; expected a policy that can answer questions"))
    if arguments.key != "local" or arguments.model is None:
        return None
    folder = Path(arguments.model).expanduser()
    if (folder / LINEAGE).is_file() and not Run(folder).finished:
        raise CannotRun(
            tr(
                "--model {model}: found an unfinished training run, without {model2}",
                model=arguments.model,
                model2=Run(folder).model,
            )
        )
    try:
        system = system_of(arguments.model, arguments.adapter)
    except ModelError as error:
        raise CannotRun(f"--model: {error}") from error
    arguments.model, arguments.adapter = system.model, system.adapter
    return system


def _choice(arguments: BenchOptions) -> PolicyChoice:
    from agent.cli.policy_options import choice_from, roster_from

    choice = choice_from(arguments, roster_from(arguments), arguments.samples)
    health = choice.roster.health(choice.key)
    if not health.ok:
        raise CannotRun(health.sentence)
    return choice


def _with_prompts(arguments: BenchOptions, questions: Sequence[Question], choice: PolicyChoice) -> list[Question]:
    """Return the questions with the prompts of ``--prompt``; without it, a row's own prompt is kept."""
    from agent.cli.policy_options import task_prompts_from

    known, _ = tasks_from(arguments)
    prompted = task_prompts_from(arguments, choice)
    chosen = cache(lambda key: prompted(known[key]))
    return [
        question
        if arguments.prompt is None and question.task.prompt_source == "row"
        else replace(question, task=chosen(question.task.key))
        for question in questions
    ]


def _inspection_options(
    arguments: BenchOptions, system: System | None, choice: PolicyChoice
) -> tuple[InspectionOptions, dict[str, Any]]:
    """Return the options of the inspections, and the settings that must not change between sessions."""
    from agent.cli.stages import MACHINE_SETTINGS, baseline
    from training.bench.run import InspectionOptions

    for option in ("measure", "sky", "examples") if arguments.no_tool else ():
        if getattr(arguments, option):
            raise CannotRun(tr("--{option} needs the tool, which --no-tool takes away", option=option))
    given = Path(arguments.model).name if arguments.model else ""
    drafter = choice().drafter
    lasting = {name: value for name, value in drafter.settings.items() if name not in MACHINE_SETTINGS}
    if drafter.kind == "model":
        lasting |= choice.sampling.settings()
    settings = {
        "name": arguments.name or (system.name if system else given or drafter.name),
        "stage": system.stage if system else "",
        "policy": {"kind": drafter.kind, "name": drafter.name, "settings": lasting},
        "with_tool": not arguments.no_tool,
        "max_turns": arguments.max_turns,
    }
    # Left out otherwise, so that runs of earlier releases resume.
    if arguments.samples > 1:
        settings["samples"] = arguments.samples
    if arguments.prompt is not None:
        settings["prompt"] = arguments.prompt
    policy_for = partial(baseline, sky=choice.sky) if choice.key == "baseline" else choice
    with_tool = not arguments.no_tool
    return InspectionOptions(policy_for, arguments.max_turns, with_tool, samples=arguments.samples), settings


def _save_card(card: DataCard, folder: Path) -> None:
    """Save the data card in the run's folder."""
    from agent.json_lines import write_atomic

    write_atomic(folder / "data_card.md", card.markdown())
    write_atomic(folder / "data_card.json", json.dumps(card.to_json(), ensure_ascii=False, indent=2) + "\n")


def _ask(
    arguments: BenchOptions,
    questions: Sequence[Question],
    options: InspectionOptions,
    folder: Path,
    settings: Mapping[str, Any],
    stop: Stop,
) -> SessionResult:
    from agent.batch.run import THREADS
    from agent.cli.stages import IN_THIS_PROCESS, LOCAL_CONCURRENCY
    from training.bench.answers import Answers
    from training.bench.run import ask_all

    with Answers(folder, questions, settings) as answers:
        left = len(questions) * options.samples - answers.done
        processes = _processes(arguments, left)
        threads = LOCAL_CONCURRENCY if arguments.key in IN_THIS_PROCESS else THREADS
        with ProgressBar(left, tr("asking")) as bar:
            session = ask_all(
                questions,
                options,
                answers,
                concurrency=arguments.concurrency or threads,
                processes=processes,
                stop=stop,
                progress=bar.at,
                gpus=arguments.gpus,
            )
    return session


def _processes(arguments: BenchOptions, questions: int) -> int:
    """Return the number of processes, 0 for threads in this one: the baseline computes, other policies wait."""
    if arguments.key != "baseline":
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # A process takes a second or two to start; fewer questions are answered in that time.
    return min(arguments.concurrency or cores, questions // 4)


def _report(
    arguments: BenchOptions, questions: Sequence[Question], folder: Path, dropped: Sequence[Dropped]
) -> tuple[Row, dict[str, Any]]:
    from training.bench import gallery, report
    from training.bench.answers import Run
    from training.bench.behaviour import behaviour
    from training.bench.table import of_run

    run = Run.read(folder)
    row = of_run(run)
    if arguments.gallery:
        spectra = gallery.spectra_of(questions)
        gallery.write(run, row, spectra, arguments.gallery)
    left_out = {left.key: left.reason for left in dropped if left.labelled} | dict(run.unread)
    known, _ = tasks_from(arguments)
    file = gallery.FILE if arguments.gallery else ""
    result = report.write(row, run.settings, file, left_out, behaviour(run, known))
    return row, result


def _summary(row: Row, session: SessionResult) -> str:
    from training.bench import table

    lines = [table.text([row]), ""]
    if session.answered:
        if row.samples:
            now = trn(
                "now: {n} sample in {s:.0f} s", "now: {n} samples in {s:.0f} s", session.answered, s=session.seconds
            )
        else:
            now = trn(
                "now: {n} question in {s:.0f} s", "now: {n} questions in {s:.0f} s", session.answered, s=session.seconds
            )
        lines.append(now)
    if session.failed:
        lines.append(tr("{n} failed; the next run tries them again:", n=session.failed))
        lines += [f"  {failure}" for failure in session.failures]
    if session.gone:
        lines.append(tr("stopped early: {reason}", reason=tr(session.gone)))
        lines.append(
            trn(
                "{n} question is left; run the same command again to continue",
                "{n} questions are left; run the same command again to continue",
                row.open,
            )
        )
    lines.append(tr("report: {file}", file=row.path / "report.md"))
    return "\n".join(lines)


def _refuse_shared_examples(questions: Sequence[Question], policy_for: PolicyFor) -> None:
    """:raises CannotRun: an example in the prompt is of a spectrum or an object of the test set"""
    examples = getattr(policy_for(0), "examples", None)
    if examples is None:
        return
    shared: set[str] = set()
    for question in progress(questions, len(questions), tr("comparing with the examples")):
        # A spectrum that cannot be read is reported where it is asked about.
        with suppress(Refusal, OSError, ValueError):
            spectrum = question.spectrum()
            shared |= {spectrum.name} if examples.has_object_of(spectrum) else set()
    if shared:
        raise CannotRun(
            tr(
                "examples: {n} of the spectra that are asked about are of the same object as an example ({names}): "
                "expected examples of other objects",
                n=len(shared),
                names=", ".join(sorted(shared)[:_NAMED]),
            )
        )


def _file_name(name: str, more: str) -> str:
    plain = [re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-.").lower() for part in (name, more)]
    return "-".join(filter(None, (plain[0] or "run", plain[1])))
