"""What a certificate is computed from: P(YES) of the cases, the labels that count, and the list they speak of.

P(YES) is fitted on the decided spectra with an even hash, the thresholds on the others: no spectrum serves both. The
rule that chooses the model may count decided spectra, but not the labels of those from which the bound is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from agent.statistics import FloatArray
from agent.trust.certify import Labelled
from agent.trust.score import FEWEST, RAW, Fit, ScoreModel, fit
from reviewer.trust.cases import Case

ScoreChoice = Literal["auto", "raw", "fitted"]
ENOUGH_TO_FIT = 200
"""Decided spectra from which on ``auto`` fits P(YES) on half of them."""


class CalibrationError(ValueError):
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
    :param assumed_random: how many of them have no logged showing
    """

    cases: tuple[Case, ...]
    p: FloatArray
    decided: tuple[Case, ...]
    labelled: Labelled
    assumed_random: int

    @property
    def sampling(self) -> Literal["logged", "assumed random"]:
        return "assumed random" if self.assumed_random else "logged"


def for_fit(case: Case) -> bool:
    """Whether a decided spectrum belongs to the half from which P(YES) is fitted."""
    return int(case.spectrum_sha256[-8:], 16) % 2 == 0


def scoring(cases: Sequence[Case], choice: ScoreChoice = "auto") -> Scoring:
    """Choose and fit the model of P(YES).

    :raises CalibrationError: ``fitted``, and the half of the decided spectra cannot carry a fit
    """
    decided = [case for case in cases if case.features is not None and case.label is not None and not case.reasons]
    half = [case for case in decided if for_fit(case)]
    labels = [case.label.yes for case in half if case.label is not None]
    counts = f"{labels.count(True)} YES and {labels.count(False)} NO"
    if choice == "raw":
        return Scoring(RAW, None, "as the policy gives it (--score raw): nothing was fitted, and all labels count")
    if choice == "auto" and len(decided) < ENOUGH_TO_FIT:
        why = f"as the policy gives it: {len(decided)} decided spectra, a fit needs {ENOUGH_TO_FIT}; all labels count"
        return Scoring(RAW, None, why)
    if min(labels.count(True), labels.count(False)) < FEWEST:
        raise CalibrationError(
            f"--score: found {counts} in the half of the decided spectra that is kept for the fit of P(YES), expected "
            f"at least {FEWEST} of each; use --score raw, or label more"
        )
    made = fit([case.features for case in half if case.features is not None], labels, [c.spectrum_sha256 for c in half])
    why = f"fitted on {len(half)} decided spectra ({counts}); the thresholds come from the others"
    return Scoring(made.model, made, why)


def calibration(cases: Sequence[Case], model: ScoreModel) -> Calibration:
    """Return the cases without a data reason, and those whose labels count: the model was not fitted on them."""
    covered = tuple(case for case in cases if case.features is not None and not case.reasons)
    p = np.array([model.p_yes(case.features) for case in covered if case.features is not None], dtype=float)
    raw = model.kind == "raw"
    counts = [at for at, case in enumerate(covered) if case.label is not None and (raw or not for_fit(case))]
    decided = tuple(covered[at] for at in counts)
    labelled = Labelled(
        p=p[counts],
        yes=np.array([case.label is not None and case.label.yes for case in decided], dtype=bool),
        shown=tuple(case.plan for case in decided),
    )
    return Calibration(covered, p, decided, labelled, sum(case.plan is None for case in decided))
