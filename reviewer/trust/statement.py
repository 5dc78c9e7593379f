"""What a certificate says, in sentences: the result of each side, the promise, its assumptions. Numbers come from
``agent.trust``; nothing is calculated here but counts of cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agent.language import deferred, deferredn
from agent.spectrum.record import BoolArray
from agent.statistics import FloatArray
from agent.trajectory import Verdict
from agent.trust.certify import counted_once
from agent.trust.evidence import condition_text

if TYPE_CHECKING:
    from agent.trust.sides import Requirements, Side
    from reviewer.trust.calibration import Calibration
    from reviewer.trust.cases import CaseList


def percent(share: float) -> str:
    """Write a share as a percentage with three significant digits at most: 5 %, 0.37 %."""
    return f"{100 * share:.3g} %"


def side_text(side: Side, requirements: Requirements) -> str:
    """Return the result of one side in a sentence."""
    if side.threshold is None:
        return deferred("{verdict}: not certified. {why}", verdict=side.verdict, why=_sentence(side.refusal))
    values: dict[str, Any] = {
        "verdict": side.verdict,
        "other": _other(side.verdict),
        "sign": "≥" if side.verdict == "YES" else "≤",
        "threshold": f"{side.threshold:.4g}",
    }
    where = deferred("{verdict} where P(YES) {sign} {threshold}", **values)
    if side.verdict in requirements.trial:
        where = deferred("{verdict} where P(YES) {sign} {threshold} and the trace passed its evidence trial", **values)
    values |= {"errors": side.errors, "n": side.n, "limit": percent(side.limit), "where": where}
    missed = side.verdict == "NO" and requirements.no_risk == "missed"
    if side.upper is None and missed:
        return deferred(
            "{where}: {errors} of {n} YES labels are there; certified: at most {limit} of all YES objects are called "
            "NO.",
            **values,
        )
    if side.upper is None:
        return deferred(
            "{where}: {errors} of {n} labels there are {other}; certified: at most {limit} of the spectra called "
            "{verdict} are {other}.",
            **values,
        )
    values["upper"] = percent(side.upper)
    if missed:
        return deferred(
            "{where}: {errors} of {n} YES labels are there; certified: at most {limit} of all YES objects are called "
            "NO (estimated upper end {upper}).",
            **values,
        )
    return deferred(
        "{where}: {errors} of {n} labels there are {other}; certified: at most {limit} of the spectra called {verdict} "
        "are {other} (estimated upper end {upper}).",
        **values,
    )


def promise(sides: Sequence[Side], requirements: Requirements) -> str:
    """Return what is promised; "" if no side is certified."""
    parts = []
    for side in sides:
        if side.threshold is None:
            continue
        limit = percent(side.limit)
        if side.verdict == "YES":
            parts.append(deferred("at most {limit} of the spectra called YES are NO", limit=limit))
        elif requirements.no_risk == "missed":
            parts.append(deferred("at most {limit} of the YES objects are called NO", limit=limit))
        else:
            parts.append(deferred("at most {limit} of the spectra called NO are YES", limit=limit))
    if not parts:
        return ""
    values = {"sure": percent(1 - requirements.delta), "one": parts[0], "two": parts[-1]}
    if len(parts) == 1:
        promised = deferred("With a confidence of {sure}: {one}.", sure=values["sure"], one=parts[0])
    elif requirements.joint:
        promised = deferred("With a confidence of {sure} for both statements together: {one} and {two}.", **values)
    else:
        promised = deferred("With a confidence of {sure} for each of the two statements: {one} and {two}.", **values)
    if condition := condition_text(requirements.trial):
        promised = then(promised, condition)
    if requirements.method == "anytime":
        return then(promised, deferred("These numbers may be calculated again after each label."))
    once = deferred("This is valid for one calculation: to repeat it after more labels, use --method anytime.")
    return then(promised, once)


def then(first: str, second: str) -> str:
    """Return two sentences, one after the other."""
    return deferred("{first} {second}", first=first, second=second)


def assumptions(listed: CaseList, calibrated: Calibration, requirements: Requirements) -> tuple[str, ...]:
    """Return what must be true for the promise to hold, one sentence each."""
    lines = [
        deferred("The spectra to be judged are like those of this list: same survey, policy, question and settings."),
        deferred(
            "The limits were chosen before the result was seen: a limit that was chosen because it passes is not "
            "covered."
        ),
    ]
    n = len(calibrated.decided)
    if calibrated.sampling == "logged":
        lines.append(
            deferredn(
                "{n} labelled spectrum was chosen by the ordered queue; it counts with the probability with which it "
                "was chosen. People decided what they were shown, and skipped nothing because of its answer.",
                "{n} labelled spectra were chosen by the ordered queue; each counts with the probability with which it "
                "was chosen. People decided what they were shown, and skipped nothing because of its answer.",
                n,
            )
        )
        lines += [
            deferredn("{n} label does not count: {reason}.", "{n} labels do not count: {reason}.", count, reason=reason)
            for reason, count in calibrated.not_counted.items()
        ]
        if calibrated.not_counted:
            lines.append(deferred("The bounds are for the list without the spectra of these labels."))
    elif n:
        lines.append(
            deferred(
                "The {n} labelled spectra are a random sample of the list: none comes from a showing of the ordered "
                "queue, so how they were chosen is not known. This is wrong if people chose them, e.g. the interesting "
                "ones first.",
                n=n,
            )
        )
    lines += object_texts(calibrated)
    if requirements.label_noise:
        noise = percent(requirements.label_noise)
        lines.append(deferred("At least {noise} of the labels are wrong, at random.", noise=noise))
    else:
        lines.append(
            deferred(
                "Labels are taken as they are. Labels that are wrong at random, at most half of them, cost labels but "
                "do not break the bound; labels that repeat the errors of the policy do."
            )
        )
    return tuple(lines)


def object_texts(calibrated: Calibration) -> list[str]:
    """Return how labels of one object count, and where objects cannot be told apart, one sentence each."""
    n, texts = len(calibrated.decided), []
    if calibrated.objects < n:
        texts.append(counted_once(n, calibrated.objects))
        texts.append(deferred("The bounds are for objects of which spectra are labelled as of these."))
    if calibrated.unknown:
        texts.append(
            deferred(
                "Of {unknown} of the {n} labelled spectra neither position nor name is known: each counts as another "
                "object. If some are of one object, the bounds are too small.",
                unknown=calibrated.unknown,
                n=n,
            )
        )
    return texts


def without_label(listed: CaseList, calibrated: Calibration, sides: Sequence[Side]) -> str:
    """Return for what nothing is promised: the spectra that people decided without a label; "" if there are none."""
    if not listed.no_label:
        return ""
    p = np.array([p for case, p in zip(calibrated.cases, calibrated.p, strict=True) if case.no_label], dtype=float)
    counts = verdict_counts(p, sides, listed.no_label - len(p))
    return deferred(
        "nothing is promised for spectra like the {n} that people decided without a label (trace rejected, or nobody "
        "can tell): {yes} of them are called YES and {no} NO. If the policy is wrong there more often, its error rates "
        "are higher than the bounds",
        n=listed.no_label,
        yes=counts["yes"],
        no=counts["no"],
    )


def verdict_counts(
    p: FloatArray, sides: Sequence[Side], uncovered: int = 0, not_passed: Mapping[Verdict, BoolArray] | None = None
) -> dict[str, int]:
    """Return how many cases are YES, NO, or left to a person; ``uncovered`` cases are left to a person.

    :param not_passed: which cases do not get a verdict because their trace did not pass its trial, (n,)
    """
    yes, no = (next((s.threshold for s in sides if s.verdict == verdict), None) for verdict in ("YES", "NO"))
    is_yes = np.zeros(len(p), dtype=bool) if yes is None else p >= yes
    is_no = np.zeros(len(p), dtype=bool) if no is None else (p <= no) & ~is_yes
    called_by: dict[Verdict, BoolArray] = {"YES": is_yes, "NO": is_no}
    for verdict, is_called in called_by.items():
        if not_passed is not None and verdict in not_passed:
            is_called &= ~not_passed[verdict]
    called = int(is_yes.sum() + is_no.sum())
    return {"yes": int(is_yes.sum()), "no": int(is_no.sum()), "ask": len(p) - called + uncovered}


def _other(verdict: Verdict) -> Verdict:
    return "NO" if verdict == "YES" else "YES"


def _sentence(text: str) -> str:
    return text if text.endswith(".") else deferred("{text}.", text=text)
