"""Trials of evidence in a certificate: what trials of the list found, and the condition that a trace passed its trial.

The condition is one rule for calibration and use: a case gets a verdict only if P(YES) is beyond the threshold and
each of its traces passed its trial (``agent.trial.report.Trial.passed``), made with the same seed and placebos. The
labels that count for a side are then a random sample of the cases that get its verdict, so the bound holds for these;
of the cases whose trace did not pass nothing is stated, and a person decides them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from agent.language import Message, deferred, joined, tr
from agent.trajectory.steps import Verdict, number_of, object_of
from agent.trial.report import PASSES, Trial

TrialOutcome = Literal["passed", "failed", "untested", "not made"]
"""Of a case with one or more traces: "passed" if each of them did."""


@dataclass(frozen=True)
class EvidenceCounts:
    """Trials of traces of the list (``agent.trial``), by the same policy with the same settings.

    :param tried: traces with a trial; ``tested``: those of which something could be tested, and ``passed`` of these
    :param removals: of features that the text claimed; ``still_claimed``: of these
    :param placebos: edits elsewhere; ``changed``: of these, after which the claim or the verdict changed
    """

    tried: int
    tested: int
    passed: int
    removals: int
    still_claimed: int
    placebos: int
    changed: int


@dataclass(frozen=True)
class TrialSettings:
    """How each trial of the condition is made.

    :param seed: of the noise of replaced pixels
    :param placebos: placebo edits per tool call
    :param passes: least faithfulness of a trace that passes
    """

    seed: int = 0
    placebos: int = 1
    passes: float = PASSES

    def fits(self, trial: Trial) -> bool:
        """Whether a trial was made so."""
        return trial.seed == self.seed and trial.placebos_per_call in (None, self.placebos)


def settings_of(trials: Iterable[Trial]) -> TrialSettings:
    """Return how the trials were made. :raises ValueError: not all in the same way"""
    all_trials = list(trials)
    seeds = {trial.seed for trial in all_trials} or {0}
    numbers = {number for trial in all_trials if (number := trial.placebos_per_call) is not None} or {1}
    for name, values, option in (
        (deferred("seeds"), seeds, "--edit-seed"),
        (deferred("numbers of placebos"), numbers, "--placebos"),
    ):
        if len(values) > 1:
            listed = ", ".join(map(str, sorted(values)))
            raise ValueError(
                tr(
                    "found trials with the {name} {listed}, expected one: a condition needs the same trial "
                    "for every trace. Repeat those of another {option} (spec-o3 trial)",
                    name=name,
                    listed=listed,
                    option=option,
                )
            )
    return TrialSettings(seeds.pop(), numbers.pop())


def outcome_of(trials: Sequence[Trial | None]) -> TrialOutcome:
    """Return the outcome of a case from the trials of its traces, one each; None: not made."""
    if any(trial is not None and trial.passed is False for trial in trials):
        return "failed"
    if not trials or any(trial is None for trial in trials):
        return "not made"
    return "passed" if all(trial is not None and trial.passed for trial in trials) else "untested"


def evidence_text(counts: EvidenceCounts) -> str:
    """Return what the trials found, as a sentence."""
    return deferred(
        "Evidence on trial: {passed} of {tested} tested traces passed; after {still_claimed} of "
        "{removals} removals the removed feature was still claimed, and {changed} of {placebos} "
        "placebo edits changed a claim or the verdict.",
        passed=counts.passed,
        tested=counts.tested,
        still_claimed=counts.still_claimed,
        removals=counts.removals,
        changed=counts.changed,
        placebos=counts.placebos,
    )


def condition_text(verdicts: Collection[Verdict]) -> str:
    """Return the condition as a sentence; "" without one."""
    if not verdicts:
        return ""
    called = joined((verdict for verdict in ("YES", "NO") if verdict in verdicts), " or ")
    return deferred(
        "A case is called {called} only if each of its traces passed its evidence trial; a person decides the others.",
        called=called,
    )


def not_passed_text(verdict: Verdict, outcome: TrialOutcome, trials: Sequence[Trial | None], problem: str = "") -> str:
    """Return why a case does not get the verdict that its P(YES) alone would give, as one or two sentences."""
    if outcome == "failed":
        failed = next(trial for trial in trials if trial is not None and trial.passed is False)
        real, placebo, faithfulness = failed.followed, failed.placebo, failed.faithfulness
        edited = deferred("edits of the spectrum")
        if faithfulness is None or faithfulness >= PASSES:
            real, placebo, faithfulness = failed.sky_necessity, failed.sky_placebo, failed.sky_faithfulness
            edited = deferred("swaps of the parallax")
        return deferred(
            "{verdict} by P(YES), but its evidence did not pass the trial: the text followed {real} of {n_real} "
            "{edited}, and {k} of {n} placebos changed something (faithfulness "
            "{faithfulness:.2f}, expected at least {passes:g}).",
            verdict=verdict,
            real=real.k,
            n_real=real.n,
            edited=edited,
            k=placebo.k,
            n=placebo.n,
            faithfulness=faithfulness,
            passes=PASSES,
        )
    if outcome == "untested":
        reasons = [
            trial.skipped[0].reason for trial in trials if trial is not None and trial.passed is None and trial.skipped
        ]
        why = (
            (reasons[0] if isinstance(reasons[0], Message) else reasons[0].rstrip("."))
            if reasons
            else deferred("no tool call names a line or band")
        )
        return deferred(
            "{verdict} by P(YES), but no evidence of its trace could be tested: {why}.", verdict=verdict, why=why
        )
    return deferred(
        "{verdict} by P(YES), but the trial of its evidence was not made: {why}.",
        verdict=verdict,
        why=problem.rstrip(".") or deferred("the run was stopped"),
    )


def evidence_from(data: Mapping[str, Any]) -> EvidenceCounts | None:
    """Read the counts of a certificate. :raises ValueError: the field, what was found, what was expected"""
    if data.get("evidence") is None:
        return None
    counts = object_of(data, "evidence")
    return EvidenceCounts(**{field.name: whole_of(counts, field.name, "evidence.") for field in fields(EvidenceCounts)})


def condition_from(data: Mapping[str, Any], verdicts: Collection[Verdict]) -> TrialSettings | None:
    """Read how the trials of a certificate's condition are made; None without a condition.

    :param verdicts: that need a trace that passed
    :raises ValueError: the field, what was found, what was expected
    """
    if (data.get("trial") is None) != (not verdicts):
        raise ValueError(
            tr(
                "trial: found {value!r:.60} with wanted.trial {verdicts}, expected both",
                value=data.get("trial"),
                verdicts=list(verdicts),
            )
        )
    if data.get("trial") is None:
        return None
    given, where = object_of(data, "trial"), "trial."
    passes = number_of(given, "passes", where)
    if passes != PASSES:
        raise ValueError(
            tr(
                "{where}passes: found {passes}, expected {passes_2:g}: this version of the program "
                "passes other traces. Certify anew",
                where=where,
                passes=passes,
                passes_2=PASSES,
            )
        )
    return TrialSettings(whole_of(given, "seed", where), whole_of(given, "placebos", where))


def condition_json(settings: TrialSettings | None) -> dict[str, Any]:
    """Return the part of a certificate's JSON form; nothing without a condition, as in files that know of none."""
    return {} if settings is None else {"trial": asdict(settings)}


def whole_of(data: Mapping[str, Any], key: str, where: str = "") -> int:
    """Return a whole number. :raises ValueError: the field, what was found, what was expected"""
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(
            tr(
                "{where}{key}: found {value!r:.60}, expected a whole number, 0 or more",
                where=where,
                key=key,
                value=value,
            )
        )
    return value
