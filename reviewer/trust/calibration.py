"""What a certificate is computed from: P(YES) of the cases, the labels that count, and the list they speak of.

P(YES) is fitted on the decided objects with an even hash, the thresholds on the others: no object serves both. The
rule that chooses the model may count decided spectra, but not the labels of those from which the bound is computed.

Once the ordered queue has shown spectra, only labels whose showing has a known probability count: how people chose the
others is not known. Without any showing all labels count, as if the spectra were a random sample of the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.spectrum.record import BoolArray
from agent.statistics import FloatArray
from agent.trajectory import Verdict
from agent.trust.evidence import TrialOutcome
from agent.trust.score import FEWEST, RAW, Fit, ScoreModel, fit
from agent.trust.sides import Labelled, in_half
from reviewer.trust.cases import Case
from reviewer.trust.showings import NOT_SHOWN

ScoreChoice = Literal["auto", "raw", "fitted"]
ENOUGH_TO_FIT = 200
"""Decided spectra from which on ``auto`` fits P(YES) on half of them."""


class CalibrationError(Refusal, ValueError):
    """P(YES) cannot be fitted: how many spectra of which label were found, how many are needed."""


@dataclass(frozen=True)
class Scoring:
    """A model of P(YES), the fit that it comes from, and the reason for it in a sentence."""

    model: ScoreModel
    fit: Fit | None
    why: str


@dataclass(frozen=True)
class Calibration:
    """The cases that a certificate can cover, with their P(YES), and those whose labels count.

    :param p: (n,) P(YES) of each case
    :param decided: cases of ``labelled``, in the order in which they were decided
    :param sampling: how the labelled spectra were chosen: "logged" with known probabilities, or "assumed random"
    :param in_list: (n,) whether the bound speaks of a case: not of those decided without a label, and, if ``sampling``
        is "logged", not of those that people chose
    :param not_counted: number of labels that do not count, by reason
    :param trials: outcome of the evidence trial of each case, (n,); empty: not known
    """

    cases: tuple[Case, ...]
    p: FloatArray
    decided: tuple[Case, ...]
    labelled: Labelled
    sampling: Literal["logged", "assumed random"]
    in_list: BoolArray
    not_counted: Mapping[str, int] = field(default_factory=dict)
    trials: tuple[TrialOutcome, ...] = ()

    @property
    def objects(self) -> int:
        """Number of objects of the labels that count."""
        return len({case.unit for case in self.decided})

    @property
    def unknown(self) -> int:
        """Number of labels that count of spectra without position and name."""
        return sum(not case.identity.is_known for case in self.decided)

    @property
    def pool(self) -> FloatArray:
        """P(YES) of the list that the bound speaks of, decided or not."""
        return self.p[self.in_list]

    def not_passed(self, verdicts: Collection[Verdict]) -> dict[Verdict, BoolArray]:
        """Return the cases that do not get these verdicts because a trial was made and not passed, (n,) each."""
        barred = np.array([trial in ("failed", "untested") for trial in self.trials], dtype=bool)
        return dict.fromkeys(verdicts, barred)


def for_fit(case: Case) -> bool:
    """Whether a decided spectrum belongs to the half from which P(YES) is fitted; all of an object are in one half."""
    return int(case.unit[-8:], 16) % 2 == 0


def scoring(cases: Sequence[Case], choice: ScoreChoice = "auto", stored: ScoreModel | None = None) -> Scoring:
    """Choose and fit the model of P(YES).

    :param stored: the model by which the queue was ordered; ``auto`` keeps it once spectra were shown, because the
        weights of their labels are by its P(YES)
    :raises CalibrationError: ``fitted``, and the half of the decided spectra cannot carry a fit
    """
    decided = [case for case in cases if case.features is not None and case.label is not None and not case.reasons]
    half = [case for case in decided if for_fit(case)]
    labels = [case.label.yes for case in half if case.label is not None]
    counts = deferred("{yes} YES and {no} NO", yes=labels.count(True), no=labels.count(False))
    if choice == "raw":
        why = deferred("as the policy gives it (--score raw): nothing was fitted, so no label was set aside for it")
        return Scoring(RAW, None, why)
    if choice == "auto" and stored is not None and any(case.shown is not None for case in decided):
        why = deferred(
            "by the model that ordered the queue ({kind}), because labels of its showings are weighted by it; --score "
            "raw or fitted chooses another, and then these labels do not count",
            kind=stored.kind,
        )
        return Scoring(stored, None, why)
    if choice == "auto" and len(decided) < ENOUGH_TO_FIT:
        why = deferred(
            "as the policy gives it: {n} decided spectra, a fit needs {needed}", n=len(decided), needed=ENOUGH_TO_FIT
        )
        return Scoring(RAW, None, why)
    if min(labels.count(True), labels.count(False)) < FEWEST:
        raise CalibrationError(
            tr(
                "--score: found {counts} in the half of the decided spectra that is kept for the fit of "
                "P(YES), expected at least {fewest} of each; use --score raw, or label more",
                counts=counts,
                fewest=FEWEST,
            )
        )
    fitted = fit([case.features for case in half if case.features is not None], labels, [case.unit for case in half])
    why = deferred(
        "fitted on {n} decided spectra ({counts}); the thresholds come from the others", n=len(half), counts=counts
    )
    return Scoring(fitted.model, fitted, why)


def calibration(
    cases: Sequence[Case], model: ScoreModel, trials: Mapping[str, TrialOutcome] | None = None
) -> Calibration:
    """Return the cases without a data reason, and those whose labels count: the model was not fitted on them.

    :param trials: outcome of the trial of each case by its spectrum, for a certificate with the condition that traces
        passed theirs
    """
    covered = tuple(case for case in cases if case.features is not None and not case.reasons)
    p = np.array([model.p_yes(case.features) for case in covered if case.features is not None], dtype=float)
    raw = model.kind == "raw"
    usable = [at for at, case in enumerate(covered) if case.label is not None and (raw or not for_fit(case))]
    logged = any(case.shown is not None for case in covered if case.label is not None)
    problems = {at: _problem(covered[at], float(p[at])) for at in usable} if logged else dict.fromkeys(usable, "")
    counts = [at for at in usable if not problems[at]]
    decided = tuple(covered[at] for at in counts)
    in_list = np.array([not case.no_label for case in covered], dtype=bool)
    in_list[[at for at in usable if problems[at]]] = False
    outcomes = () if trials is None else tuple(trials.get(case.spectrum_sha256, "not made") for case in covered)
    labelled = Labelled(
        p=p[counts],
        yes=np.array([case.label is not None and case.label.yes for case in decided], dtype=bool),
        shown=tuple(case.shown.plan if logged and case.shown is not None else None for case in decided),
        passed=np.array([outcomes[at] == "passed" for at in counts], dtype=bool) if trials is not None else None,
        objects=np.unique([case.unit for case in decided], return_inverse=True)[1],
    )
    return Calibration(
        covered,
        p,
        decided,
        labelled,
        "logged" if logged else "assumed random",
        in_list,
        dict(Counter(problem for problem in problems.values() if problem)),
        outcomes,
    )


def require_trials(calibrated: Calibration, verdicts: Collection[Verdict]) -> None:
    """Check that each label that may count for these verdicts has a trial.

    A label without one is not left out: whether a trial was made could depend on the label.

    :raises CalibrationError: how many have none, and what to do
    """
    outcome = {case.spectrum_sha256: trial for case, trial in zip(calibrated.cases, calibrated.trials, strict=True)}
    needed = np.any([in_half(verdict, calibrated.labelled.p) for verdict in verdicts], axis=0)
    of = [case for case, is_needed in zip(calibrated.decided, needed, strict=True) if is_needed]
    without = [case.name for case in of if outcome[case.spectrum_sha256] == "not made"]
    if without:
        named = ", ".join(without[:3])
        if len(without) > 3:
            named = tr("{names} and {n} more", names=named, n=len(without) - 3)
        raise CalibrationError(
            tr(
                "--require-trial: found no trial by this policy with its settings for {n_without} of the "
                "{n_of} labelled spectra that may be called {names} ({named}), expected one of each trace. "
                "Make them with spec-o3 trial; those of a results file are named with --trials FILE",
                n_without=len(without),
                n_of=len(of),
                names=tr(" or ").join(verdicts),
                named=named,
            )
        )


def _problem(case: Case, p: float) -> str:
    """Return why a label has no weight, "" if it has one."""
    return NOT_SHOWN if case.shown is None else case.shown.problem_with(p)
