"""The questions that the command line of ``spec-o3 bench`` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.cli.command import CannotRun
from agent.language import tr

if TYPE_CHECKING:
    from agent.tasks import Task
    from training.cli.bench_options import BenchOptions
    from training.data import Dropped
    from training.data.records import Example, Question

LEAVE_OUT = "--leave-out-unreadable"


def questions_from(arguments: BenchOptions, dropped: list[Dropped]) -> list[Question]:
    """Return the questions of the command line, checked against the training data.

    :param dropped: questions that were left out are added
    :raises DataError: it cannot be used, or has a spectrum in common with the training data
    :raises CannotRun: an unknown task, or one without questions
    """
    from training.bench.answers import limited
    from training.data import LabelledFileError, questions, refuse_leaks

    known, keys = tasks_from(arguments)
    only = keys[0] if len(keys) == 1 else None
    try:
        listed = questions(
            arguments.data or [],
            known,
            arguments.labels,
            task=only,
            part="test",
            spectra=arguments.spectra,
            dropped=dropped,
            leave_out="unreadable" if arguments.leave_out_unreadable else "nothing",
        )
    except LabelledFileError as error:
        raise CannotRun(tr("{error}, or score the rest with {leave_out}", error=error, leave_out=LEAVE_OUT)) from error
    if keys:
        listed = [question for question in listed if question.task.key in keys]
        if missing := [key for key in keys if all(question.task.key != key for question in listed)]:
            given = " ".join(map(str, arguments.data or []))
            raise CannotRun(
                tr("--task: found no question of {names} in {given:.200}", names=", ".join(missing), given=given)
            )
    if arguments.against:
        refuse_leaks(_trained_on(arguments, known), listed)
    return limited(listed, arguments.per_task, arguments.per_task_seed) if arguments.per_task else listed


def tasks_from(arguments: BenchOptions) -> tuple[dict[str, Task], list[str]]:
    """Return all known tasks, and the keys of the wanted ones; none means all."""
    from agent import tasks

    known, problems = tasks.load_all([arguments.tasks] if arguments.tasks else [])
    chosen = []
    for name in (key for keys in arguments.task or [] for key in keys):
        task = tasks.find(known, name)
        if task is None:
            left_out = "".join(tr("; left out: {problem}", problem=problem) for problem in problems)
            raise CannotRun(
                tr(
                    "--task: found {name!r}, expected of {names}{left_out}",
                    name=name,
                    names=", ".join(known),
                    left_out=left_out,
                )
            )
        chosen.append(task.key)
    return known, list(dict.fromkeys(chosen))


def _trained_on(arguments: BenchOptions, known: Mapping[str, Task]) -> list[Example | Question]:
    """Return the trajectories or questions of each path. :raises DataError: it has neither"""
    from training.data import DataError, examples, questions

    trained_on: list[Example | Question] = []
    for path in arguments.against or []:
        try:
            trained_on += examples([path], known, arguments.spectra)
        except DataError as no_examples:
            try:
                trained_on += questions([path], known, part="train", spectra=arguments.spectra)
            except DataError:
                raise no_examples from None
    return trained_on
