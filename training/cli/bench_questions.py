"""What ``spec-o3 bench`` is to ask, as its options say."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent.cli.command import CannotRun

if TYPE_CHECKING:
    from agent.tasks import Task
    from training.data import Dropped
    from training.data.records import Example, Question


def questions_from(arguments: Namespace, dropped: list[Dropped]) -> list[Question]:
    """What is to be asked, held against what was trained on.

    :param dropped: what was left out is added to it
    :raises DataError: it cannot be used, or has a spectrum in common with what was trained on
    :raises CannotRun: a task that is not known, or of which there is no question
    """
    from training.bench.answers import limited
    from training.data import questions, refuse_leaks

    known, wanted = _tasks(arguments)
    only = wanted[0] if len(wanted) == 1 else None
    found = questions(
        arguments.data,
        known,
        arguments.labels,
        task=only,
        part="test",
        spectra=arguments.spectra,
        dropped=dropped,
    )
    if wanted:
        found = [one for one in found if one.task.key in wanted]
        if missing := [key for key in wanted if all(one.task.key != key for one in found)]:
            given = " ".join(map(str, arguments.data))
            raise CannotRun(f"--task: found no question of {', '.join(missing)} in {given:.200}")
    if arguments.against:
        refuse_leaks(_trained_on(arguments, known), found)
    return limited(found, arguments.limit, arguments.limit_seed) if arguments.limit else found


def _tasks(arguments: Namespace) -> tuple[dict[str, Task], list[str]]:
    """All tasks that are known, and the keys of those that are wanted; none for all."""
    from agent import tasks

    known, problems = tasks.load_all([arguments.tasks] if arguments.tasks else [])
    wanted = []
    for name in filter(None, (arguments.task or "").split(",")):
        task = tasks.find(known, name.strip())
        if task is None:
            left_out = "".join(f"; left out: {problem}" for problem in problems)
            raise CannotRun(f"--task: found {name.strip()!r}, wanted of {', '.join(known)}{left_out}")
        wanted.append(task.key)
    return known, list(dict.fromkeys(wanted))


def _trained_on(arguments: Namespace, known: Mapping[str, Task]) -> list[Example | Question]:
    """Trajectories or questions, whichever each path holds. :raises DataError: it holds neither"""
    from training.data import DataError, examples, questions

    found: list[Example | Question] = []
    for path in arguments.against:
        try:
            found += examples([path], known, arguments.spectra)
        except DataError as no_examples:
            try:
                found += questions([path], known, part="train", spectra=arguments.spectra)
            except DataError:
                raise no_examples from None
    return found
