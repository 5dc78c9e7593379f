"""What a certificate is made from and what comes out: labelled cases, requirements, and the result of one side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agent.language import tr
from agent.statistics import FloatArray
from agent.trajectory.steps import Verdict
from agent.trust.plans import Plan

BoolArray = NDArray[np.bool_]

HALF = 0.5
"""No threshold of YES is below it and none of NO above it: a verdict is never the less probable class."""


@dataclass(frozen=True)
class Labelled:
    """Decided cases in the order in which they were decided.

    :param p: P(YES), (n,)
    :param yes: whether the label is YES, (n,)
    :param shown: how each case was chosen; None: assumed at random from the list
    :param passed: whether each trace of a case passed its evidence trial, (n,); None: not known
    :param objects: the number of the object of each case, (n,); None: each is of another one, and that is what is
        kept where no two are of one object
    """

    p: FloatArray
    yes: BoolArray
    shown: tuple[Plan | None, ...] = ()
    passed: BoolArray | None = None
    objects: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        p, yes = np.asarray(self.p, dtype=float), np.asarray(self.yes, dtype=bool)
        shown = self.shown or (None,) * len(p)
        if not len(p) == len(yes) == len(shown):
            raise ValueError(
                tr(
                    "found {n_p} P(YES), {n_yes} labels and {n_shown} plans, expected as many of each",
                    n_p=len(p),
                    n_yes=len(yes),
                    n_shown=len(shown),
                )
            )
        if not ((p >= 0) & (p <= 1)).all():
            raise ValueError(tr("found a P(YES) outside 0 to 1"))
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "yes", yes)
        object.__setattr__(self, "shown", shown)
        if self.objects is not None and len(np.unique(self.objects)) == len(p):
            object.__setattr__(self, "objects", None)
        if self.passed is not None:
            passed = np.asarray(self.passed, dtype=bool)
            if len(passed) != len(p):
                raise ValueError(
                    tr(
                        "found {n_passed} outcomes of trials for {n_p} P(YES), expected as many",
                        n_passed=len(passed),
                        n_p=len(p),
                    )
                )
            object.__setattr__(self, "passed", passed)

    def that_passed(self, verdict: Verdict) -> Labelled:
        """Return the cases without those that P(YES) may give a verdict and whose trace did not pass its trial.

        :raises ValueError: ``passed`` is not known
        """
        if self.passed is None:
            raise ValueError(tr("found labels without trials, expected the outcome of the trial of each case"))
        kept = self.passed | ~in_half(verdict, self.p)
        shown = tuple(plan for plan, keep in zip(self.shown, kept, strict=True) if keep)
        objects = None if self.objects is None else self.objects[kept]
        return Labelled(self.p[kept], self.yes[kept], shown, self.passed[kept], objects)

    @property
    def units(self) -> tuple[NDArray[np.intp] | None, ...]:
        """The numbers by which labels are counted: of objects, and, where objects repeat, None for single labels."""
        return (None,) if self.objects is None else (self.objects, None)


@dataclass(frozen=True)
class Requirements:
    """What is to be certified.

    :param yes: largest share of NO among the cases called YES
    :param no: largest share of YES among the cases called NO ("omission"), or of YES objects called NO ("missed")
    :param delta: probability with which a bound may be wrong; of each side, or of either side if ``joint``
    :param method: "fixed" counts once; "anytime" may be repeated after each label
    :param label_noise: a lower bound of the share of wrong labels; 0: labels are taken as they are, which is valid if
        at most half of them are wrong. Not used for "missed"
    :param trial: verdicts that need traces that passed their evidence trial; the labels of a side are then those of
        cases that passed (``agent.trust.evidence``)
    """

    yes: float = 0.05
    no: float = 0.05
    delta: float = 0.05
    joint: bool = False
    method: Literal["fixed", "anytime"] = "fixed"
    no_risk: Literal["omission", "missed"] = "omission"
    label_noise: float = 0.0
    trial: tuple[Verdict, ...] = ()

    def __post_init__(self) -> None:
        for name, value in (("yes", self.yes), ("no", self.no), ("delta", self.delta)):
            if not 0 < value < 1:
                raise ValueError(
                    tr(
                        "found {name} = {value:g}, expected a number between 0 and 1 (e.g. 0.05)",
                        name=name,
                        value=value,
                    )
                )
        if not 0 <= self.label_noise < 0.5:
            raise ValueError(
                tr(
                    "found label_noise = {label_noise:g}, expected 0 or more and less than 0.5",
                    label_noise=self.label_noise,
                )
            )

    @property
    def side_delta(self) -> float:
        """δ of one side."""
        return self.delta / 2 if self.joint else self.delta

    def limit(self, verdict: Verdict) -> float:
        """The largest error rate of a side."""
        return self.yes if verdict == "YES" else self.no

    def noise(self, verdict: Verdict) -> float:
        """The lower bound of wrong labels that counts on this side."""
        return 0.0 if verdict == "NO" and self.no_risk == "missed" else self.label_noise

    def measured_limit(self, verdict: Verdict) -> float:
        """The limit of the error rate measured with wrong labels: η + limit (1 − 2 η)."""
        noise = self.noise(verdict)
        return noise + self.limit(verdict) * (1 - 2 * noise)


@dataclass(frozen=True)
class Side:
    """Result of one side.

    :param threshold: cases with P(YES) of at least it are called YES (YES), of at most it NO (NO); None: not certified
    :param n: labels among the cases called so, those of one object as one; if refused, at the first threshold that
        was tested
    :param errors: labels among them that contradict the verdict
    :param upper: upper bound of the error rate at 1 − δ; the guarantee is for the limit, and this is no more than it
    :param missing: how many more labels of the kind in ``refusal`` certify it, if none of them is an error; None if
        it is certified or more labels do not help
    :param refusal: why it is not certified, and what helps; "" if it is certified
    """

    verdict: Verdict
    threshold: float | None
    n: int
    errors: int
    upper: float | None
    limit: float
    missing: int | None = None
    refusal: str = ""


def called(verdict: Verdict, p: FloatArray, threshold: float) -> BoolArray:
    """Return which cases get this verdict at a threshold."""
    return p >= threshold if verdict == "YES" else p <= threshold


def in_half(verdict: Verdict, p: FloatArray) -> BoolArray:
    """Return which cases get this verdict at some threshold."""
    return p >= HALF if verdict == "YES" else p < HALF
