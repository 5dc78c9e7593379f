"""Certificates from cases, and the certificates in the folder beside the database with their state."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from agent.language import tr
from agent.trial.report import Trial
from agent.trust.certificate import (
    Certificate,
    CertificateError,
    CertifiedPolicy,
    LabelCounts,
    read,
    short_hash,
)
from agent.trust.evidence import EvidenceCounts, TrialOutcome, TrialSettings, outcome_of, settings_of
from agent.trust.score import ScoreModel
from agent.trust.sides import Requirements, Side
from agent.trust.suspension import Suspension, suspension
from reviewer.trust.calibration import Calibration, CalibrationError, for_fit
from reviewer.trust.cases import Case, CaseList

if TYPE_CHECKING:
    from reviewer.store import Store

FOLDER = "certificates"
MOST_COMPARED = 5000
"""Cases of a list that a certificate keeps for the tests of shift."""
_SIDE_FILES = (".suspended.json", ".shift.json")


def certificate_of(
    listed: CaseList,
    model: ScoreModel,
    calibrated: Calibration,
    sides: Sequence[Side],
    requirements: Requirements,
    at: datetime,
    evidence: EvidenceCounts | None = None,
    trial: TrialSettings | None = None,
) -> Certificate:
    """Return the certificate of these sides. It covers the surveys and the range of S/N of the labelled spectra.

    :param trial: how the trials were made, if ``wanted.trial``
    """
    yes, no = sides
    policy, labels = listed.policy, [bool(is_yes) for is_yes in calibrated.labelled.yes]
    sources = Counter(case.label.source for case in calibrated.decided if case.label is not None)
    snr = [case.snr for case in calibrated.decided if case.snr is not None]
    compared, p, p_yes = _compared(model, calibrated)
    return Certificate(
        task=listed.task,
        prompt_sha256=policy.prompt_sha256,
        policy=CertifiedPolicy(policy.kind, policy.name, policy.settings),
        samples=policy.samples,
        score=model,
        surveys=tuple(sorted({case.survey for case in calibrated.decided})),
        snr=(min(snr, default=0.0), max(snr, default=0.0)),
        medium=policy.medium,
        labels=LabelCounts(
            ", ".join(f"{n} {source}" for source, n in sources.items()),
            *(len(labels), sum(labels), listed.no_label, calibrated.objects, calibrated.unknown),
        ),
        sampling=calibrated.sampling,
        yes=yes,
        no=no,
        requirements=requirements,
        calibration=p,
        calibration_yes=p_yes,
        spectra=tuple(short_hash(case.spectrum_sha256) for case in compared),
        evidence=evidence,
        trial=trial,
        made_at=at.astimezone(UTC).isoformat(timespec="seconds"),
        program=f"spec-o3 {_version()}",
    )


def evidence_of(own: Collection[Trial]) -> EvidenceCounts | None:
    """Count what trials found; None if there are none."""
    if not own:
        return None
    return EvidenceCounts(
        tried=len(own),
        tested=sum(trial.passed is not None for trial in own),
        passed=sum(trial.passed is True for trial in own),
        removals=sum(trial.still_claims.n for trial in own),
        still_claimed=sum(trial.still_claims.k for trial in own),
        placebos=sum(trial.placebo.n for trial in own),
        changed=sum(trial.placebo.k for trial in own),
    )


def own_trials(listed: CaseList, trials: Iterable[Trial]) -> dict[str, Trial]:
    """Return the trials of traces of the list by this policy with its settings, by content hash; the last counts.

    Trials of other texts, e.g. of what people made of a trace, are left out.
    """
    hashes = {trace.content_hash() for traces in listed.samples.values() for trace in traces}
    policy = (listed.policy.kind, listed.policy.name)
    settings: Mapping[str, object] = json.loads(json.dumps(dict(listed.policy.settings), default=str))

    def is_own(trial: Trial) -> bool:
        given = trial.drafter.get("settings") or {}
        same = all(settings[key] == value for key, value in given.items() if key in settings)
        return (
            trial.content_hash in hashes and (trial.drafter.get("kind"), trial.drafter.get("name")) == policy and same
        )

    return {trial.content_hash: trial for trial in trials if is_own(trial)}


def trial_outcomes(
    listed: CaseList, own: Mapping[str, Trial], settings: TrialSettings | None = None
) -> tuple[dict[str, TrialOutcome], TrialSettings]:
    """Return the outcome of each case by its spectrum, and how all the trials were made.

    :param own: of ``own_trials``
    :param settings: how they have to be made; None: all in the same way
    :raises CalibrationError: they were made in different ways
    """
    try:
        used = settings_of(own.values()) if settings is None else settings
    except ValueError as error:
        raise CalibrationError(tr("--require-trial: {error}", error=error)) from error
    fitting = {key: trial for key, trial in own.items() if used.fits(trial)}
    return {
        sha256: outcome_of([fitting.get(trace.content_hash()) for trace in traces])
        for sha256, traces in listed.samples.items()
    }, used


def stored_trials(store: Store, listed: CaseList) -> Iterator[Trial]:
    """Yield the stored trials of the traces of a list from the database."""
    if not store.trust.any_trials():
        return
    for case in listed.cases:
        for item, trace in zip(case.items, listed.samples.get(case.spectrum_sha256, ()), strict=False):
            stored = store.trust.trial_of(item, trace.content_hash())
            if stored is not None:
                yield Trial.from_json(stored.result)


def _compared(
    model: ScoreModel, calibrated: Calibration
) -> tuple[tuple[Case, ...], tuple[float, ...], tuple[bool, ...] | None]:
    """Return the cases with which new ones are compared: P(YES), and their labels if these are of a random sample.

    Labels that the ordered queue chose are none: then it is the list, without the half from which P(YES) was fitted,
    and of a long list the cases with the smallest hash.
    """
    if calibrated.sampling == "assumed random":
        cases, p = calibrated.decided, calibrated.labelled.p
        return cases, tuple(float(value) for value in p), tuple(bool(value) for value in calibrated.labelled.yes)
    rows = [
        (case.spectrum_sha256, case, float(p))
        for case, p, is_in in zip(calibrated.cases, calibrated.p, calibrated.in_list, strict=True)
        if is_in and (model.kind == "raw" or not for_fit(case))
    ]
    rows = sorted(rows, key=lambda row: row[0])[:MOST_COMPARED]
    return tuple(case for _, case, _ in rows), tuple(p for _, _, p in rows), None


@dataclass(frozen=True)
class Listed:
    """A file of the folder: its certificate, and why it is suspended (None: it is not); or why it cannot be read."""

    path: Path
    certificate: Certificate | None
    suspension: Suspension | None
    problem: str = ""


def listed(database: Path, task: str) -> tuple[Listed, ...]:
    """Return the certificates of a task in the folder ``certificates`` beside the database, by name."""
    folder = database.resolve().parent / FOLDER
    certificates = []
    for path in sorted(folder.glob("*.json")):
        if path.name.endswith(_SIDE_FILES):
            continue
        try:
            certificate = read(path)
            if certificate.task == task:
                certificates.append(Listed(path, certificate, suspension(path)))
        except CertificateError as error:
            certificates.append(Listed(path, None, None, str(error)))
    return tuple(certificates)


def _version() -> str:
    try:
        return version("spec-o3")
    except PackageNotFoundError:
        return "(not installed)"
