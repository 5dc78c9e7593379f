"""Numbers of the Trust section, from stored scores and labels: calibration, votes, label errors, thresholds.

Nothing is measured here: items without a score of ``spec-o3 certify`` are not counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from agent.trust.certify import certify
from agent.trust.features import Features
from agent.trust.reliability import Reliability, reliability
from agent.trust.score import ScoreModel, fit
from agent.trust.sides import Requirements, Side
from reviewer.store import Store
from reviewer.store.trust_values import StoredCase
from reviewer.trust.annotators import Annotators, Suspect, suspects
from reviewer.trust.calibration import Calibration, calibration
from reviewer.trust.cases import Case, CaseList, in_order, run_of, stored_case, with_objects
from reviewer.trust.labels import Label, annotators_of, posteriors_of, stored_labels, vote_times
from reviewer.trust.showings import Showings


@dataclass(frozen=True)
class ScoredList:
    """The scored cases of one policy, and what is computed from them.

    :param at: when the latest of these cases was scored
    :param reliability: on the labels that count; None without one
    :param shown: numbers of showings of the task: chosen at random, and all
    """

    listed: CaseList
    model: ScoreModel
    at: datetime
    calibration: Calibration
    reliability: Reliability | None
    annotators: Annotators
    shown: tuple[int, int]


def scored_list(store: Store, task: str, policy: str) -> ScoredList | None:
    """Return the scored cases of a policy with their figures; None if it has no scored case.

    Of its scores those count that were made by the same model as the latest of them.
    """
    stored = store.trust.cases(task)
    times = [
        (case.scored_at, case.model)
        for case in stored
        if case.drafter_name == policy and case.scored_at and case.model and case.spectrum_sha256
    ]
    if not times:
        return None
    at, sha256 = max(times)
    latest = next(
        ScoreModel.from_json(score_model.model)
        for score_model in store.trust.score_models(task)
        if score_model.sha256 == sha256
    )
    own = [case for case in stored if case.drafter_name == policy and case.model == sha256 and case.spectrum_sha256]
    people = annotators_of(store, task, stored)
    labels, contradictory = stored_labels(stored, posteriors_of(people, vote_times(store, task)))
    # The stored scores are of the cases that spec-o3 certify took: with simulated ones if any of these has a score.
    choices = Showings(stored, task, policy, None, any(case.simulated for case in own))
    cases = _cases([case for case in own if case.spectrum_sha256 not in contradictory], labels, choices)
    files = store.objects.identities(case.spectrum_sha256 for case in cases)
    cases = [replace(case, identity=files.get(case.spectrum_sha256, case.identity)) for case in cases]
    first = next(draft for _, draft in store.trust.trajectories([own[0].item]))
    run = run_of(first, max(len(case.items) for case in cases) if cases else 1)
    listed = CaseList(task, run, in_order(with_objects(cases)))
    calibrated = calibration(listed.cases, latest)
    showings = store.trust.showings(task)
    return ScoredList(
        listed=listed,
        model=latest,
        at=at,
        calibration=calibrated,
        reliability=_reliability(calibrated),
        annotators=people,
        shown=(sum(showing.arm == "random" for showing in showings), len(showings)),
    )


def sides_of(scored: ScoredList, requirements: Requirements) -> tuple[Side, Side]:
    return certify(scored.calibration.labelled, scored.calibration.pool, requirements)


def _cases(own: Sequence[StoredCase], labels: Mapping[str, Label], showings: Showings) -> list[Case]:
    by_spectrum: defaultdict[str, list[StoredCase]] = defaultdict(list)
    for case_stored in own:
        by_spectrum[str(case_stored.spectrum_sha256)].append(case_stored)
    cases = []
    for sha256, items in by_spectrum.items():
        first = items[0]
        features = None if first.features is None else Features.from_json(first.features)
        snr = None if features is None or features.log_snr is None else float(10**features.log_snr)
        case = stored_case(sha256, "", items, labels.get(sha256), showings)
        cases.append(replace(case, snr=snr, features=features, reasons=first.reasons))
    return cases


def _reliability(calibrated: Calibration) -> Reliability | None:
    if not calibrated.decided:
        return None
    groups = [case.unit for case in calibrated.decided]
    return reliability(calibrated.labelled.p, [bool(is_yes) for is_yes in calibrated.labelled.yes], groups)


def suspects_of(calibrated: Calibration) -> tuple[tuple[Suspect, Case], ...]:
    """Return the labels that disagree with P(YES) of a model that did not see them, with their cases."""
    labelled = [case for case in calibrated.cases if case.label is not None and case.features is not None]
    labels = [case.label.yes for case in labelled if case.label is not None]
    if not labelled:
        return ()
    groups = [case.spectrum_sha256 for case in labelled]
    features, units = (
        [case.features for case in labelled if case.features is not None],
        [case.unit for case in labelled],
    )
    p = fit(features, labels, units).cross_fitted
    by_spectrum = {case.spectrum_sha256: case for case in labelled}
    return tuple(
        (suspect, by_spectrum[suspect.spectrum]) for suspect in suspects(np.asarray(p).tolist(), labels, groups)
    )
