"""``spec-o3 certify --check``: the tests of shift of a certificate on what was decided since it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, print_result
from agent.language import tr
from reviewer.cli.certify_sources import cases_from, sources, trials_from

if TYPE_CHECKING:
    from agent.trust.certificate import Certificate
    from agent.trust.evidence import TrialOutcome
    from agent.trust.suspension import Suspension
    from reviewer.cli.certify_options import CertifyOptions
    from reviewer.store import Store
    from reviewer.trust.cases import Case, CaseList


def run_check(arguments: CertifyOptions) -> int:
    """Test a certificate; suspend it on an alarm. Status 0: in force; 1: suspended.

    :raises CannotRun: the certificate or the cases cannot be read, or it is for another policy
    """
    from agent.trust.certificate import read
    from agent.trust.suspension import suspension
    from reviewer.trust.certificates import trial_outcomes

    path = arguments.retest
    assert path is not None
    certificate = read(path)
    before = suspension(path)
    arguments.task = arguments.task or certificate.task
    with sources(arguments) as (task, store):
        if store is not None:
            arguments.policy = arguments.policy or certificate.policy.name
        cases = cases_from(arguments, task, store)
        _require_same_run(certificate, cases)
        new = new_cases(certificate, cases, store)
        trials: Mapping[str, TrialOutcome] = {}
        if certificate.trial is not None:
            trials, _ = trial_outcomes(cases, trials_from(arguments, store, cases), certificate.trial)
    return _checked(arguments, path, certificate, new, before, trials)


def new_cases(certificate: Certificate, cases: CaseList, store: Store | None) -> tuple[Case, ...]:
    """Return the covered cases that were decided after the certificate was made, in order.

    Of a results file, those are new that the certificate was not made from. Once the ordered queue has shown spectra,
    only those count that it chose at random from the whole list: others are no random sample. Of an object that was
    decided before, or of several new spectra of one object, no further label counts.
    """
    from agent.trust.certificate import short_hash

    arms = {} if store is None else {showing.item: showing.arm for showing in store.trust.showings(cases.task)}
    used = frozenset(certificate.spectra)
    made_at = datetime.fromisoformat(certificate.made_at)

    def at_random(case: Case) -> bool:
        return not arms or (
            case.shown is not None and not case.shown.problem and {arms.get(item) for item in case.items} == {"random"}
        )

    def is_new(case: Case) -> bool:
        if case.label is None or case.features is None or not at_random(case):
            return False
        if store is not None and (case.label.at is None or case.label.at <= made_at):
            return False
        if store is None and short_hash(case.spectrum_sha256) in used:
            return False
        judged = certificate.judge(case.features, case.survey, case.snr, case.reasons)
        return judged.cause not in ("data", "survey", "S/N")

    labelled = [(case, is_new(case)) for case in cases.cases if case.label is not None]
    before = {case.unit for case, new in labelled if not new}
    firsts: dict[str, Case] = {}
    for case, new in labelled:
        if new and case.unit not in before:
            firsts.setdefault(case.unit, case)
    return tuple(firsts.values())


def _checked(
    arguments: CertifyOptions,
    path: Path,
    certificate: Certificate,
    new: Sequence[Case],
    before: Suspension | None,
    trials: Mapping[str, TrialOutcome],
) -> int:
    """Test the new cases, and print the result.

    Errors of a verdict that needs a trial are counted among the cases that passed theirs.

    :param trials: outcome of the trial of each case by its spectrum
    """
    from agent.trust.suspension import monitor_of, suspend, suspended_by

    monitor = monitor_of(certificate)
    without = 0
    for case in new:
        if case.features is not None and case.label is not None:
            at = None if case.label.at is None else case.label.at.isoformat(timespec="seconds")
            judged = certificate.judge(case.features, case.survey, case.snr, case.reasons)
            needs_trial = judged.verdict in certificate.requirements.trial
            outcome = trials.get(case.spectrum_sha256, "not made")
            without += needs_trial and outcome == "not made"
            is_called = not needs_trial or outcome == "passed"
            monitor.add_label(certificate.score.p_yes(case.features), case.label.yes, at, is_called)
    now = before
    if now is None and monitor.alarm is not None:
        now = suspended_by(monitor.alarm, certificate, datetime.now(UTC).isoformat(timespec="seconds"))
        try:
            suspend(path, now)
        except OSError as error:
            raise CannotRun(
                tr(
                    "{path}: {strerror}; it should be suspended: {evidence}",
                    path=path,
                    strerror=error.strerror,
                    evidence=now.evidence,
                )
            ) from error
    result: dict[str, Any] = {
        "certificate": str(path),
        "new_labels": len(new),
        "without_trial": without,
        "suspended": None if now is None else {"since": now.since, "by": now.by, "evidence": now.evidence},
        "tests": {
            by: {"cases": count, "e_value": value, "alarm_at": needed}
            for by, (count, value, needed) in monitor.evidence().items()
        },
    }
    if now is not None:
        text = tr(
            "{path}: suspended since {since} by {by}. {evidence} Certify anew on labels from now on.",
            path=path,
            since=now.since,
            by=now.by,
            evidence=now.evidence,
        )
    else:
        text = tr(
            "{path}: in force. {n_new} newly decided spectra were tested; no shift was found.",
            path=path,
            n_new=len(new),
        )
        if not new:
            text = tr(
                "{path}: in force. No spectrum that it covers was decided at random since {made_at}.",
                path=path,
                made_at=certificate.made_at,
            )
    if without:
        text += tr(
            " {without} of them are beyond a threshold but have no evidence trial, which the certificate "
            "needs: they do not count as called YES or NO. spec-o3 trial makes it; --trials names those "
            "of a results file.",
            without=without,
        )
    print_result(arguments, result, text)
    return DONE if now is None else CHECK_FAILED


def _require_same_run(certificate: Certificate, cases: CaseList) -> None:
    """Check that the cases are of the certificate's policy. :raises CannotRun: they are not"""
    from agent.trust.certificate import CertifiedPolicy

    run = cases.policy
    policy = CertifiedPolicy(run.kind, run.name, run.settings)
    refusal = certificate.refusal(cases.task, run.prompt_sha256, policy, run.samples, run.medium)
    if refusal:
        raise CannotRun(refusal)
