"""``spec-o3 simulate``: write labelled simulated spectra as files, with a table of what each one is."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import DONE, CannotRun, print_result, progress
from agent.cli.options import SEED, JsonOutput, not_negative, option, output_folder
from agent.language import tr

if TYPE_CHECKING:
    from agent.simulate.files import Order

Span = tuple[float, float]
Ratio = tuple[int, int]


def span(text: str) -> Span:
    """Read LOW:HIGH, or one number for both."""
    low, _, high = text.partition(":")
    try:
        limits = float(low), float(high or low)
    except ValueError:
        limits = (1.0, 0.0)
    if not limits[0] <= limits[1] < float("inf"):
        raise ArgumentTypeError(tr("found {text!r}, expected LOW:HIGH, for example 5:40", text=text))
    return limits


def ratio(text: str) -> tuple[int, int]:
    """Read YES:NO."""
    yes, _, no = text.partition(":")
    if not (yes.isdecimal() and no.isdecimal() and int(yes) + int(no) > 0):
        raise ArgumentTypeError(tr("found {text!r}, expected YES:NO, for example 1:5", text=text))
    return int(yes), int(no)


@dataclass(kw_only=True)
class Options(JsonOutput):
    out: Path = option("folder to write, new or empty", metavar="DIR", read=output_folder)
    task: str | None = option(
        "spectra of this task's class and of objects confused with it, labelled",
        metavar="KEY",
        one_of="kind",
    )
    kinds: str | None = option(
        "these kinds in turn, labelled for all tasks (default: all kinds)", metavar="KIND,...", one_of="kind"
    )
    n: int = option("number of spectra", default=100)
    ratio: Ratio = option("with --task: ratio of the two labels", default=(1, 1), metavar="YES:NO", read=ratio)
    survey: str = option("LAMOST, SDSS, DESI; chosen at random for each spectrum", default="LAMOST", metavar="SURVEY")
    snr: Span = option("median S/N per pixel", default=(5.0, 40.0), metavar="LOW:HIGH", read=span)
    seed: int = option(SEED, default=0, read=not_negative)
    with_sky: bool = option(
        "also write sky.parquet: what catalogues would have at the position, as `spec-o3 sky fetch` does"
    )
    redshift: Span = option("redshift, known to the catalogue", default=(0.0, 0.0), metavar="LOW:HIGH", read=span)


def run(arguments: Options) -> int:
    from agent.simulate import CLASSES
    from agent.simulate.files import LABELS, SKY, write
    from agent.tasks import load

    orders = _orders(arguments)
    folder = arguments.out
    # The published classes first; a task without simulated kinds has no labels.
    known = [key for key, task in load().items() if task.simulated is not None]
    tasks = [arguments.task] if arguments.task else list(dict.fromkeys([*CLASSES, *known]))
    try:
        if folder.exists() and any(folder.iterdir()):
            raise CannotRun(tr("{folder}: found files in it, expected a new or an empty folder", folder=folder))
        for _ in progress(write(folder, orders, tasks, arguments.with_sky), len(orders), tr("simulating")):
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
            "{folder}: {n} simulated spectra ({per_kind}) and {tables}",
            folder=folder,
            n=len(orders),
            per_kind=per_kind,
            tables=", ".join([LABELS, SKY][: 1 + arguments.with_sky]),
        ),
    )
    return DONE


def _orders(arguments: Options) -> list[Order]:
    """Return what to simulate. :raises CannotRun: an impossible number, or an unknown kind, task or survey"""
    from agent.simulate import KINDS
    from agent.simulate.files import PER_SEED, for_task, orders, taking_turns
    from agent.simulate.instrument import SURVEYS

    if not 1 <= arguments.n <= PER_SEED:
        raise CannotRun(tr("--n: found {n}, expected 1 to {per_seed}", n=arguments.n, per_seed=PER_SEED))
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
