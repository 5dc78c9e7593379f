"""``spec-o3 blind power``: the chance that a planned session shows a true difference."""

from __future__ import annotations

from dataclasses import dataclass

from agent.cli.command import DONE, CannotRun, print_result
from agent.cli.options import SEED, JsonOutput, at_least_one, not_negative, option
from agent.language import deferred, tr

DIFFERENCES = (0.2, 0.3, 0.5)


@dataclass(kw_only=True)
class DeviationOptions:
    """How much scores scatter."""

    TITLE = deferred("standard deviations in points of the scale")
    ABOUT = deferred("a report of an earlier session has those of its own scorers")

    sd_spectrum: float | None = option("between spectra", metavar="SD")
    sd_trace: float | None = option("between traces of one spectrum", metavar="SD")
    sd_scorer: float | None = option("of scorers' severity", metavar="SD")
    sd_taste: float | None = option("of a scorer's taste for a source", metavar="SD")
    sd_rest: float | None = option("of what is left", metavar="SD")


@dataclass(kw_only=True)
class Options(DeviationOptions, JsonOutput):
    spectra: int = option("spectra in all", read=at_least_one, flag="--n-spectra")
    scorers: int = option("people who score", read=at_least_one, flag="--n-scorers")
    each: int | None = option("scorers per spectrum (default: all of them)", read=at_least_one)
    sources: int = option(
        "sources that are compared, two per drafter if both versions are",
        default=2,
        read=at_least_one,
        flag="--n-sources",
    )
    difference: list[float] = option(
        "true differences of the primary comparison, in points of the scale", default=list(DIFFERENCES)
    )
    simulations: int = option("simulated sessions", default=200, read=at_least_one)
    seed: int = option(SEED, default=0, read=not_negative)


def run(arguments: Options) -> int:
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
        powers = [
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
                found=error.actual,
                expected=error.expected,
            )
        ) from error
    assumed = ", ".join(f"{name} {getattr(spread, name):g}" for name in names)
    text = "\n".join(
        [*(estimated.sentence for estimated in powers), tr("standard deviations: {assumed}", assumed=assumed)]
    )
    print_result(
        arguments, {"power": [estimated.to_json() for estimated in powers], "standard_deviations": vars(spread)}, text
    )
    return DONE
