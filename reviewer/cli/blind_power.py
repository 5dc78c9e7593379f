"""``spec-o3 blind power``: the chance that a planned session shows a true difference."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from agent.cli.command import DONE, CannotRun, at_least_one, print_result
from agent.language import tr
from reviewer.cli.common import add_json

DIFFERENCES = (0.2, 0.3, 0.5)


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--spectra", type=at_least_one, required=True, metavar="N", help=tr("spectra in all"))
    parser.add_argument("--scorers", type=at_least_one, required=True, metavar="N", help=tr("people who score"))
    parser.add_argument("--each", type=at_least_one, metavar="N", help=tr("scorers per spectrum (all of them)"))
    parser.add_argument(
        "--sources",
        type=at_least_one,
        default=2,
        metavar="N",
        help=tr("sources that are compared, two per drafter if both versions are (2)"),
    )
    parser.add_argument(
        "--difference",
        type=float,
        nargs="+",
        default=list(DIFFERENCES),
        metavar="X",
        help=tr("true differences of the primary comparison, in points of the scale (0.2 0.3 0.5)"),
    )
    parser.add_argument(
        "--simulations", type=at_least_one, default=200, metavar="N", help=tr("simulated sessions (200)")
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help=tr("seed of the simulation (1)"))
    group = parser.add_argument_group(
        tr("standard deviations in points of the scale"),
        tr("a report of an earlier session has those of its own scorers"),
    )
    for name, words in (
        ("spectrum", tr("between spectra")),
        ("trace", tr("between traces of one spectrum")),
        ("scorer", tr("of scorers' severity")),
        ("taste", tr("of a scorer's taste for a source")),
        ("rest", tr("of what is left")),
    ):
        group.add_argument(f"--sd-{name}", type=float, metavar="SD", help=words)
    add_json(parser)


def run(arguments: Namespace) -> int:
    from reviewer.blind.plan import PlanError
    from reviewer.blind.power import DEFAULT, Spread, power

    names = ("spectrum", "trace", "scorer", "taste", "rest")
    given = {name: getattr(arguments, f"sd_{name}") for name in names}
    for name, value in given.items():
        if value is not None and not 0 <= value < 10:
            raise CannotRun(tr("--sd-{name}: found {value:g}, expected 0 to 10", name=name, value=value))
    spread = Spread(**{name: getattr(DEFAULT, name) if value is None else value for name, value in given.items()})
    each = arguments.scorers if arguments.each is None else arguments.each
    try:
        found = [
            power(
                arguments.spectra,
                arguments.scorers,
                each,
                difference,
                arguments.sources,
                arguments.simulations,
                arguments.seed,
                spread,
            )
            for difference in arguments.difference
        ]
    except PlanError as error:
        raise CannotRun(
            tr(
                "--{field}: found {found}, expected {expected}",
                field=error.field,
                found=error.found,
                expected=error.expected,
            )
        ) from error
    assumed = ", ".join(f"{name} {getattr(spread, name):g}" for name in names)
    text = "\n".join([*(one.sentence for one in found), tr("standard deviations: {assumed}", assumed=assumed)])
    print_result(arguments, {"power": [one.to_json() for one in found], "standard_deviations": vars(spread)}, text)
    return DONE
