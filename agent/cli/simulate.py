"""``spec-o3 simulate``: write labelled simulated spectra as files, with a table of what each one is."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import DONE, CannotRun, print_result, progress
from agent.language import tr

if TYPE_CHECKING:
    from agent.simulate.files import Order

Span = tuple[float, float]


def add(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help=tr("output folder, new or empty"))
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--task", metavar="KEY", help=tr("spectra of this task's class and of objects confused with it, labelled")
    )
    what.add_argument(
        "--kinds", metavar="KIND,...", help=tr("these kinds in turn, labelled for all tasks (default: all kinds)")
    )
    parser.add_argument("--n", type=int, default=100, metavar="N", help=tr("number of spectra (default 100)"))
    parser.add_argument(
        "--ratio",
        type=ratio,
        default=(1, 1),
        metavar="YES:NO",
        help=tr("with --task: ratio of the two labels (default 1:1)"),
    )
    parser.add_argument(
        "--survey",
        default="LAMOST",
        metavar="SURVEY,...",
        help=tr("LAMOST, SDSS, DESI; chosen at random for each spectrum (default LAMOST)"),
    )
    parser.add_argument(
        "--snr", type=_span, default=(5.0, 40.0), metavar="LOW:HIGH", help=tr("median S/N per pixel (default 5:40)")
    )
    parser.add_argument("--seed", type=int, default=0, help=tr("random seed (default 0)"))
    parser.add_argument(
        "--redshift",
        type=_span,
        default=(0.0, 0.0),
        metavar="LOW:HIGH",
        help=tr("redshift, known to the catalogue (default 0)"),
    )
    parser.add_argument("--json", action="store_true", help=tr("print the result as one JSON object"))


def run(arguments: Namespace) -> int:
    from agent.simulate import CLASSES
    from agent.simulate.files import write
    from agent.tasks import load

    orders = _orders(arguments)
    folder: Path = arguments.folder
    # The published classes first; a task without simulated kinds has no labels.
    known = [key for key, task in load().items() if task.simulated is not None]
    tasks = [arguments.task] if arguments.task else list(dict.fromkeys([*CLASSES, *known]))
    try:
        if folder.exists() and any(folder.iterdir()):
            raise CannotRun(tr("{folder}: found files in it, expected a new or an empty folder", folder=folder))
        for _ in progress(write(folder, orders, tasks), len(orders), tr("simulating")):
            pass
    except OSError as error:
        raise CannotRun(f"{error.filename or folder}: {error.strerror}") from error
    kinds = Counter(order.kind for order in orders)
    per_kind = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    result = {"folder": str(folder), "spectra": len(orders), "kinds": dict(kinds), "tasks": tasks}
    print_result(
        arguments,
        result,
        tr(
            "{folder}: {n} simulated spectra ({per_kind}) and labels.csv",
            folder=folder,
            n=len(orders),
            per_kind=per_kind,
        ),
    )
    return DONE


def _orders(arguments: Namespace) -> list[Order]:
    """Return what to simulate. :raises CannotRun: an impossible number, or an unknown kind, task or survey"""
    from agent.simulate import KINDS
    from agent.simulate.files import PER_SEED, for_task, orders, taking_turns
    from agent.simulate.instrument import SURVEYS

    if not 1 <= arguments.n <= PER_SEED:
        raise CannotRun(tr("--n: found {n}, expected 1 to {per_seed}", n=arguments.n, per_seed=PER_SEED))
    if arguments.seed < 0:
        raise CannotRun(tr("--seed: found {seed}, expected 0 or more", seed=arguments.seed))
    if arguments.snr[0] <= 0:
        raise CannotRun(tr("--snr: found {snr:g}, expected more than 0", snr=arguments.snr[0]))
    if arguments.redshift[0] <= -1:
        raise CannotRun(tr("--redshift: found {redshift:g}, expected more than -1", redshift=arguments.redshift[0]))
    surveys = _known("--survey", arguments.survey.upper(), list(SURVEYS))
    if arguments.task:
        try:
            kinds = for_task(arguments.task, arguments.n, arguments.ratio)
        except KeyError as error:
            raise CannotRun(f"--task: {error.args[0]}") from error
    else:
        kinds = taking_turns(_known("--kinds", arguments.kinds or ",".join(KINDS), KINDS), arguments.n)
    return orders(kinds, surveys, arguments.snr, arguments.seed, arguments.redshift)


def _known(option: str, given: str, available: Sequence[str]) -> list[str]:
    names = [name.strip() for name in given.split(",") if name.strip()]
    for name in names or [given]:
        if name not in available:
            raise CannotRun(
                tr(
                    "{option}: found {name!r}, expected one of {names}",
                    option=option,
                    name=name,
                    names=", ".join(available),
                )
            )
    return names


def _span(text: str) -> Span:
    """Parse LOW:HIGH, or one number for both."""
    low, _, high = text.partition(":")
    try:
        span = float(low), float(high or low)
    except ValueError:
        span = (1.0, 0.0)
    if not span[0] <= span[1] < float("inf"):
        raise ArgumentTypeError(tr("found {text!r}, expected LOW:HIGH, for example 5:40", text=text))
    return span


def ratio(text: str) -> tuple[int, int]:
    """Parse YES:NO."""
    yes, _, no = text.partition(":")
    if not (yes.isdecimal() and no.isdecimal() and int(yes) + int(no) > 0):
        raise ArgumentTypeError(tr("found {text!r}, expected YES:NO, for example 1:5", text=text))
    return int(yes), int(no)
