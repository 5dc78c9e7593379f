"""Answers of the Trust section of the Progress tab: numbers of ``reviewer.trust.figures`` with their definitions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agent.language import deferred, tr, trn
from agent.tasks import Task
from reviewer.store import Store
from reviewer.trust.labels import SOURCES
from reviewer.web.models import trust as answers

if TYPE_CHECKING:
    from agent.trust.estimates import Share
    from agent.trust.sides import Requirements
    from reviewer.trust.annotators import Suspect
    from reviewer.trust.cases import Case
    from reviewer.trust.certificates import Listed
    from reviewer.trust.figures import ScoredList

_MOST_SUSPECTS = 50
_CLOSED = ("approved", "rejected", "cannot tell", "withdrawn")

METHOD = deferred(
    "Method: any time. The section is opened again and again, so its thresholds come from tests that stay valid "
    "however often they are repeated after further labels; they need more labels than one count (spec-o3 certify)."
)
SUSPECT = deferred(
    "Cross-validated P(YES) of models that did not see the spectrum disagrees strongly with its label: confident "
    "learning (Northcutt, Jiang & Chuang 2021, JAIR 70, 1373). A second decision finds out which of the two is wrong."
)
ECE = deferred(
    "Expected calibration error: mean distance of the points from the dashed line, weighted by the number of labels "
    "(Guo et al. 2017, arXiv:1706.04599)."
)
BRIER = deferred("Mean of (P(YES) − label)², 0 is perfect (Brier 1950, Mon. Weather Rev. 78, 1).")
MODELS = {
    "raw": deferred(
        "The logistic function of the log odds that the policy gives, else of its votes; nothing is fitted."
    ),
    "scaled": deferred("A line in the log odds of the policy, fitted on half of the labels (Platt 1999)."),
    "logistic": deferred("Logistic regression in all features, fitted on half of the labels."),
    "isotonic": deferred("A non-decreasing function of the log odds of the policy, fitted on half of the labels."),
}
SHOWINGS = deferred(
    "Items that the ordered queue gave to a person, and how many of them it chose at random from the whole list. The "
    "random share keeps rates and bounds valid and cheap; 20 % is wanted."
)
UNDECIDED = deferred(
    "Spectra that no certificate covers because of their data: low S/N, coarse sampling, no data at a primary feature, "
    "or a policy that gave no answer. A person decides them."
)
_ESTIMATE = deferred(
    "From the labels, and P(YES) of the other spectra (prediction-powered estimate); the interval has the confidence "
    "1 − δ at any time, whatever the queue did."
)
PREVALENCE = deferred("Share of YES among all spectra of the list that a certificate can cover.")
UNFLAGGED = deferred("Share of YES among the spectra that are not called YES.")
RECALL = deferred("Share of the YES objects that are called YES.")
LABELLED = deferred(
    "Spectra whose label counts here: known beforehand, answer of an approved version, or votes of people that agree "
    "(posterior of 95 %). Spectra from which P(YES) was fitted are left out."
)


def missing_scores(store: Store, task: str, policy: str) -> tuple[str, str | None]:
    """Return why there are no figures, and the command that makes them."""
    if not policy:
        why = tr(
            "There are no items that a policy has drafted. Thresholds need spectra with answers of a policy and labels."
        )
        return why, None
    command = shlex.join(["spec-o3", "certify", "--db", str(store.path.resolve()), "--task", task, "--policy", policy])
    why = tr(
        "No item of {policy} has a P(YES) yet. A coordinator calculates it on the server with the "
        "command below, which may run while people work; then calibration, thresholds and the "
        "ordered queue appear.",
        policy=policy,
    )
    return why, command


def scores_of(scored: ScoredList) -> answers.ScoreModel:
    return answers.ScoreModel(
        model=f"P(YES): {scored.model.kind}",
        model_meaning=MODELS[scored.model.kind],
        text=tr(
            "{n} spectra, scored {at:%Y-%m-%d %H:%M} UTC; newer items have no P(YES) until spec-o3 certify runs again",
            n=len(scored.listed.cases),
            at=scored.at,
        ),
    )


def reliability_of(scored: ScoredList) -> answers.ReliabilityDiagram:
    bins = [] if scored.reliability is None else scored.reliability.bins
    return answers.ReliabilityDiagram(
        bins=[
            answers.ReliabilityBin(n=part.n, mean=part.probability, share=part.positives, low=ends[0], high=ends[1])
            for part in bins
            if part.probability is not None and part.positives is not None and (ends := part.interval) is not None
        ]
    )


def calibration_of(scored: ScoredList) -> answers.CalibrationErrors | None:
    measured = scored.reliability
    if measured is None:
        return None
    values = {"ece": f"{measured.ece:.3f}", "by_chance": f"{measured.by_chance:.3f}"}
    if measured.interval is None:
        text = tr("{ece}; by chance {by_chance}", **values)
    else:
        low, high = (f"{end:.3f}" for end in measured.interval)
        text = tr("{ece} ({low} to {high}); by chance {by_chance}", low=low, high=high, **values)
    from agent.trust.reliability import INTERVAL
    from reviewer.trust.statement import then

    return answers.CalibrationErrors(
        meaning=then(ECE, INTERVAL), text=text, brier_meaning=BRIER, brier=f"{measured.brier:.3f}"
    )


def rates_of(scored: ScoredList) -> list[answers.TrustFigure]:
    calibration, (random, shown) = scored.calibration, scored.shown
    undecided = len(scored.listed.cases) - len(calibration.cases)
    yes = int(calibration.labelled.yes.sum())
    labelled = tr(
        "{yes} YES and {no} NO, of {n} spectra", yes=yes, no=len(calibration.decided) - yes, n=len(calibration.cases)
    )
    if calibration.objects < len(calibration.decided):
        labelled = tr("{labelled}; labels of {n} objects", labelled=labelled, n=calibration.objects)
    left = tr("of {n} spectra", n=len(scored.listed.cases))
    share = None if not shown else f"{100 * random / shown:.0f} %"
    of = (
        tr("{random} of {shown} showings", random=random, shown=shown)
        if shown
        else tr("undefined: the ordered queue has shown no item yet")
    )
    rows = (
        (tr("Labels"), LABELLED, str(len(calibration.decided)), labelled),
        (tr("Not covered"), UNDECIDED, str(undecided), left),
        (tr("Random showings"), SHOWINGS, share, of),
    )
    return [
        answers.TrustFigure(name=name, meaning=meaning, value=value, note=note) for name, meaning, value, note in rows
    ]


def skill_of(scored: ScoredList) -> answers.Skills:
    people = scored.annotators
    first = people.skills[0] if people.skills else None
    votes = tr(
        "Spectra on which the person gave a verdict: their own verdict before they saw the answer, or their decision."
    )
    return answers.Skills(
        rows=[answers.PersonSkill.model_validate(skill) for skill in people.skills],
        reason=people.reason,
        meanings=answers.SkillMeanings(
            votes=votes,
            sensitivity=first.sensitivity.definition if first else "",
            specificity=first.specificity.definition if first else "",
        ),
    )


def suspects_of(store: Store, suspects: Sequence[tuple[Suspect, Case]]) -> answers.LabelSuspects:
    """Return the first of the suspects that may be listed.

    The label and P(YES) of a spectrum with an open item, of any policy or class, stay hidden: they would influence
    its reviewers.
    """
    items: list[answers.LabelSuspect] = []
    for suspect, case in suspects:
        if len(items) == _MOST_SUSPECTS:
            break
        item = case.items[0]
        rows = store.queue.rows_of_spectrum(case.spectrum_sha256)
        if any(row.state not in _CLOSED for row in rows):
            continue
        row = next(row for row in rows if row.item_id == item)
        items.append(
            answers.LabelSuspect(
                item=item,
                name=row.name,
                label="YES" if suspect.label else "NO",
                p_yes=suspect.p_yes,
                reason=suspect.reason,
                source="" if case.label is None else SOURCES[case.label.source],
            )
        )
    total = len(suspects)
    left = total - len(items)
    hidden = ""
    if left and len(items) == _MOST_SUSPECTS:
        hidden = trn(
            "{n} is not listed: the list ends after {most}, or an item of the spectrum is still open.",
            "{n} are not listed: the list ends after {most}, or an item of the spectrum is still open.",
            left,
            most=_MOST_SUSPECTS,
        )
    elif left:
        hidden = trn(
            "{n} is not listed: an item of the spectrum is still open.",
            "{n} are not listed: an item of the spectrum is still open.",
            left,
        )
    reason = tr("No label disagrees strongly with P(YES).")
    return answers.LabelSuspects(total=total, items=items, reason=reason, meaning=SUSPECT, hidden=hidden)


def thresholds_of(scored: ScoredList, requirements: Requirements) -> dict[str, Any]:
    """Return the values of ``Thresholds``, which translates their texts, so that they can be kept for everybody."""
    from reviewer.trust.figures import sides_of
    from reviewer.trust.statement import assumptions, promise, side_text, verdict_counts

    sides = sides_of(scored, requirements)
    uncovered = len(scored.listed.cases) - len(scored.calibration.cases)
    return {
        "counts": verdict_counts(scored.calibration.p, sides, uncovered),
        "sides": [
            {"verdict": side.verdict, "threshold": side.threshold, "text": side_text(side, requirements)}
            for side in sides
        ],
        "promise": promise(sides, requirements),
        "assumptions": list(assumptions(scored.listed, scored.calibration, requirements)),
        "method": METHOD,
        "rates": _estimates(scored, sides[0].threshold, requirements.delta),
    }


def _estimates(scored: ScoredList, threshold: float | None, delta: float) -> list[dict[str, Any]]:
    """Return prevalence, YES among the unflagged and recall, at the threshold of YES or, without one, at 0.5."""
    from agent.trust.estimates import estimates
    from reviewer.trust.statement import then

    calibration = scored.calibration
    flagged = 0.5 if threshold is None else threshold
    shares = estimates(calibration.labelled, calibration.pool, flagged, delta)
    at = f"P(YES) ≥ {flagged:.4g}"
    where = deferred("{at}, as no threshold of YES is certified", at=at) if threshold is None else at
    rows = (
        (deferred("Prevalence"), then(PREVALENCE, _ESTIMATE), shares.prevalence, ""),
        (deferred("YES in the unflagged"), then(UNFLAGGED, _ESTIMATE), shares.unflagged, where),
        (deferred("Recall"), then(RECALL, _ESTIMATE), shares.recall, where),
    )
    return [_share(name, meaning, share, flagged_at) for name, meaning, share, flagged_at in rows]


def _share(name: str, meaning: str, share: Share, flagged_at: str) -> dict[str, Any]:
    if share.value is None:
        note = deferred("undefined: no case or no label there")
        return {"name": name, "meaning": meaning, "value": None, "note": note}
    ends = {"low": f"{100 * share.low:.3g}", "high": f"{100 * share.high:.3g}"}
    note = deferred("{low} to {high} %", **ends)
    if flagged_at:
        note = deferred("{low} to {high} %; flagged: {flagged_at}", flagged_at=flagged_at, **ends)
    return {"name": name, "meaning": meaning, "value": f"{100 * share.value:.3g} %", "note": note}


def certificate_row(listed: Listed) -> answers.CertificateRow:
    from agent.trust.evidence import condition_text

    file = listed.path.name
    if listed.certificate is None:
        return answers.CertificateRow(file=file, state=tr("cannot be read"), is_valid=False, text=listed.problem)
    suspended, certificate = listed.suspension, listed.certificate
    text = tr(
        "{policy}, made {date}, {n} labels",
        policy=certificate.policy.name,
        date=certificate.made_at[:10],
        n=certificate.labels.n,
    )
    if certificate.labels.objects not in (None, certificate.labels.n):
        text = tr("{text} of {n} objects", text=text, n=certificate.labels.objects)
    if condition := condition_text(certificate.requirements.trial):
        text = tr("{text}. {more}", text=text, more=tr(condition).removesuffix(".").removesuffix("。"))
    if suspended is not None:
        text = tr(
            "{text}. Suspended since {since} by {by}. {evidence}",
            text=text,
            since=suspended.since,
            by=suspended.by,
            evidence=suspended.evidence,
        )
    state = tr("in force") if suspended is None else tr("suspended")
    return answers.CertificateRow(file=file, state=state, is_valid=suspended is None, text=text)


def title_of(tasks: Mapping[str, Task], key: str) -> str:
    # The task file may be gone while its items are still here.
    return tasks[key].title if key in tasks else key
