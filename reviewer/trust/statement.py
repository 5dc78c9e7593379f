"""What a certificate says, in sentences: the result of each side, the promise, its assumptions. Numbers come from
``agent.trust``; nothing is calculated here but counts of cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agent.spectrum.record import BoolArray
from agent.statistics import FloatArray
from agent.trajectory import Verdict
from agent.trust.evidence import condition_text

if TYPE_CHECKING:
    from agent.trust.certify import Side, Wanted
    from reviewer.trust.calibration import Calibration
    from reviewer.trust.cases import CaseList


def percent(share: float) -> str:
    """Write a share as a percentage with three significant digits at most: 5 %, 0.37 %."""
    return f"{100 * share:.3g} %"


def side_text(side: Side, wanted: Wanted) -> str:
    """Return the result of one side in a sentence."""
    if side.threshold is None:
        return f"{side.verdict}: not certified. {_sentence(side.refusal)}"
    sign = "≥" if side.verdict == "YES" else "≤"
    where = f"{side.verdict} where P(YES) {sign} {side.threshold:.4g}"
    if side.verdict in wanted.trial:
        where += " and the trace passed its evidence trial"
    if side.verdict == "NO" and wanted.no_risk == "missed":
        counts = f"{side.errors} of {side.n} YES labels are there"
        what = "of all YES objects are called NO"
    else:
        counts = f"{side.errors} of {side.n} labels there are {_other(side.verdict)}"
        what = f"of the spectra called {side.verdict} are {_other(side.verdict)}"
    upper = "" if side.upper is None else f" (estimated upper end {percent(side.upper)})"
    return f"{where}: {counts}; certified: at most {percent(side.limit)} {what}{upper}."


def promise(sides: Sequence[Side], wanted: Wanted) -> str:
    """Return what is promised; "" if no side is certified."""
    parts = []
    for side in sides:
        if side.threshold is None:
            continue
        if side.verdict == "YES":
            parts.append(f"at most {percent(side.limit)} of the spectra called YES are NO")
        elif wanted.no_risk == "missed":
            parts.append(f"at most {percent(side.limit)} of the YES objects are called NO")
        else:
            parts.append(f"at most {percent(side.limit)} of the spectra called NO are YES")
    if not parts:
        return ""
    sure = percent(1 - wanted.delta)
    if len(parts) == 2 and wanted.joint:
        how = f"With a confidence of {sure} for both statements together"
    elif len(parts) == 2:
        how = f"With a confidence of {sure} for each of the two statements"
    else:
        how = f"With a confidence of {sure}"
    when = " These numbers may be calculated again after each label." if wanted.method == "anytime" else ""
    once = (
        " This is valid for one calculation: to repeat it after more labels, use --method anytime." if not when else ""
    )
    condition = f" {text}" if (text := condition_text(wanted.trial)) else ""
    return f"{how}: {' and '.join(parts)}.{condition}{when}{once}"


def assumptions(found: CaseList, made: Calibration, wanted: Wanted) -> tuple[str, ...]:
    """Return what must be true for the promise to hold, one sentence each."""
    lines = [
        "The spectra to be judged are like those of this list: same survey, policy, question and settings.",
        "The limits were chosen before the result was seen: a limit that was chosen because it passes is not covered.",
    ]
    n = len(made.decided)
    if made.sampling == "logged":
        lines.append(
            f"{n} labelled spectra were chosen by the ordered queue; each counts with the probability with which it "
            "was chosen. People decided what they were shown, and skipped nothing because of its answer."
        )
        lines += [f"{count} labels do not count: {reason}." for reason, count in made.not_counted.items()]
        if made.not_counted:
            lines.append("The bounds are for the list without the spectra of these labels.")
    elif n:
        lines.append(
            f"The {n} labelled spectra are a random sample of the list: none comes from a showing of the ordered "
            "queue, so how they were chosen is not known. This is wrong if people chose them, e.g. the interesting "
            "ones first."
        )
    if wanted.label_noise:
        lines.append(f"At least {percent(wanted.label_noise)} of the labels are wrong, at random.")
    else:
        lines.append(
            "Labels are taken as they are. Labels that are wrong at random, at most half of them, cost labels but do "
            "not break the bound; labels that repeat the errors of the policy do."
        )
    return tuple(lines)


def without_label(found: CaseList, made: Calibration, sides: Sequence[Side]) -> str:
    """Return for what nothing is promised: the spectra that people decided without a label; "" if there are none."""
    if not found.no_label:
        return ""
    p = np.array([p for case, p in zip(made.cases, made.p, strict=True) if case.no_label], dtype=float)
    counts = verdict_counts(p, sides, found.no_label - len(p))
    return (
        f"nothing is promised for spectra like the {found.no_label} that people decided without a label (trace "
        f"rejected, or nobody can tell): {counts['yes']} of them are called YES and {counts['no']} NO. If the policy "
        "is wrong there more often, its error rates are higher than the bounds"
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
    text = text.strip()
    return text if text.endswith(".") else f"{text}."
