"""Numbers of the Trust section, from stored scores and labels: calibration, votes, label errors, thresholds.

Nothing is measured here: items without a score of ``spec-o3 certify`` are not counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agent.trust.certify import Side, Wanted, certify
from agent.trust.features import Features
from agent.trust.plans import Plan
from agent.trust.reliability import Reliability, reliability
from agent.trust.score import RAW, ScoreModel, fit
from reviewer.store import Store
from reviewer.store.trust_values import StoredCase
from reviewer.trust.annotators import Annotators, Suspect, suspects
from reviewer.trust.calibration import Calibration, calibration
from reviewer.trust.cases import Case, CaseList, in_order, run_of
from reviewer.trust.labels import Label, annotators_of, posteriors_of, stored_labels, vote_times


@dataclass(frozen=True)
class ScoredList:
    """The scored cases of one policy, and what is computed from them.

    :param reliability: on the labels that count; None without one
    :param shown: numbers of showings of the task: chosen at random, and all
    """

    found: CaseList
    model: ScoreModel
    calibration: Calibration
    reliability: Reliability | None
    annotators: Annotators
    shown: tuple[int, int]


def scored_list(store: Store, task: str, policy: str) -> ScoredList | None:
    """Return the scored cases of a policy with their figures; None if it has no score of the task's last run.

    A fitted model is only known for the last policy that was scored; the raw one for every policy.
    """
    stored = store.trust.cases(task)
    scored = store.trust.scored(task)
    known = {} if scored is None else {scored.sha256: ScoreModel.from_json(scored.model)}
    known.setdefault(RAW.sha256, RAW)
    own = [one for one in stored if one.drafter_name == policy and one.model in known and one.spectrum_sha256]
    models = [known[str(one.model)] for one in own]
    if not own:
        return None
    latest = next((model for model in models if model.kind != "raw"), RAW)
    own = [one for one, model in zip(own, models, strict=True) if model == latest]
    people = annotators_of(store, task, stored)
    labels, contradictory = stored_labels(stored, posteriors_of(people, vote_times(store, task)))
    cases = _cases([one for one in own if one.spectrum_sha256 not in contradictory], labels)
    first = next(draft for _, draft in store.trust.trajectories([own[0].item]))
    run = run_of(first, max(len(case.items) for case in cases) if cases else 1)
    states = {one.item: one.state for one in own}
    no_label = sum(
        case.label is None and any(states[item] in ("rejected", "cannot tell") for item in case.items) for case in cases
    )
    found = CaseList(task, run, in_order(cases), no_label=no_label)
    made = calibration(found.cases, latest)
    showings = store.trust.showings(task)
    return ScoredList(
        found=found,
        model=latest,
        calibration=made,
        reliability=_reliability(made),
        annotators=people,
        shown=(sum(one.arm == "random" for one in showings), len(showings)),
    )


def sides_of(scored: ScoredList, wanted: Wanted) -> tuple[Side, Side]:
    return certify(scored.calibration.labelled, scored.calibration.p, wanted)


def _cases(own: Sequence[StoredCase], labels: Mapping[str, Label]) -> list[Case]:
    by_spectrum: defaultdict[str, list[StoredCase]] = defaultdict(list)
    for one in own:
        by_spectrum[str(one.spectrum_sha256)].append(one)
    found = []
    for sha256, items in by_spectrum.items():
        first = items[0]
        features = None if first.features is None else Features.from_json(first.features)
        plan = next((Plan.from_json(one.plan) for one in items if one.plan is not None), None)
        snr = None if features is None or features.log_snr is None else float(10**features.log_snr)
        numbers = tuple(one.item for one in items)
        label = labels.get(sha256)
        found.append(Case(sha256, "", numbers, None, label, plan, first.survey, snr, features, first.reasons))
    return found


def _reliability(made: Calibration) -> Reliability | None:
    if not made.decided:
        return None
    groups = [case.spectrum_sha256 for case in made.decided]
    return reliability(made.labelled.p, [bool(one) for one in made.labelled.yes], groups)


def suspects_of(made: Calibration) -> tuple[tuple[Suspect, Case], ...]:
    """Return the labels that disagree with P(YES) of a model that did not see them, with their cases."""
    labelled = [case for case in made.cases if case.label is not None and case.features is not None]
    labels = [case.label.yes for case in labelled if case.label is not None]
    if not labelled:
        return ()
    groups = [case.spectrum_sha256 for case in labelled]
    p = fit([case.features for case in labelled if case.features is not None], labels, groups).cross_fitted
    by_spectrum = {case.spectrum_sha256: case for case in labelled}
    return tuple((one, by_spectrum[one.spectrum]) for one in suspects(np.asarray(p).tolist(), labels, groups))
