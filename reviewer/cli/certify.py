"""``spec-o3 certify``: thresholds of P(YES) with a stated error bound, or what is missing for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, print_result
from agent.language import tr, trn
from agent.trajectory import Verdict
from reviewer.cli.certify_options import REQUIRED, CertifyOptions
from reviewer.cli.certify_sources import cases_from, sources, trials_from
from reviewer.trust.labels import SOURCES

SHOWN = 5
"""Names of spectra that are printed for each reason; --json has them all."""

if TYPE_CHECKING:
    from agent.tasks import Task
    from agent.trial.report import Trial
    from agent.trust.evidence import TrialOutcome, TrialSettings
    from agent.trust.score import ScoreModel
    from agent.trust.sides import Requirements, Side
    from reviewer.store import Store
    from reviewer.trust.calibration import Calibration, Scoring
    from reviewer.trust.cases import CaseList


def run(arguments: CertifyOptions) -> int:
    """Certify, or check a certificate. Status 0: written, or not suspended; 1: refused, or suspended; 2: not run."""
    if arguments.retest is not None:
        from reviewer.cli.certify_check import run_check

        return run_check(arguments)
    from reviewer.trust.calibration import CalibrationError, calibration, require_trials, scoring
    from reviewer.trust.certificates import trial_outcomes

    with sources(arguments) as (task, store):
        if store is None and arguments.by is not None:
            raise CannotRun(tr("--by: found no --db, expected the database in which this person records the scores"))
        if store is not None:
            store.accounts.require_coordinator(arguments.by)
        cases = cases_from(arguments, task, store)
        own, required = trials_from(arguments, store, cases), REQUIRED.get(arguments.require_trial or "", ())
        try:
            chosen = scoring(cases.cases, arguments.score, ordering_model(store, cases))
            trials, settings = trial_outcomes(cases, own) if required else (None, None)
            calibrated = calibration(cases.cases, chosen.model, trials)
            if required:
                require_trials(calibrated, required)
        except CalibrationError as refusal:
            print_result(arguments, {"refusal": str(refusal)}, tr("refused: {reason}", reason=refusal))
            return CHECK_FAILED
        if store is not None:
            record(store, arguments.by, task, chosen, cases)
    return _certified(arguments, cases, chosen, calibrated, requirements_from(arguments, calibrated), own, settings)


def _certified(
    arguments: CertifyOptions,
    cases: CaseList,
    chosen: Scoring,
    calibrated: Calibration,
    requirements: Requirements,
    trials: Mapping[str, Trial],
    settings: TrialSettings | None,
) -> int:
    """Compute the two sides, print them, and write the certificate if at least one side is certified."""
    from agent.trust.certificate import write
    from agent.trust.certify import certify
    from agent.trust.evidence import evidence_text
    from reviewer.trust.certificates import certificate_of, evidence_of

    evidence = evidence_of(trials.values())
    sides = certify(calibrated.labelled, calibrated.pool, requirements)
    is_certified = any(side.threshold is not None for side in sides)
    written = arguments.out if is_certified else None
    if written is not None:
        made_at = datetime.now(UTC)
        try:
            write(
                certificate_of(cases, chosen.model, calibrated, sides, requirements, made_at, evidence, settings),
                written,
            )
        except OSError as error:
            raise CannotRun(
                tr("{written}: {strerror}; no certificate was written", written=written, strerror=error.strerror)
            ) from error
    result = _result(cases, chosen, calibrated, sides, requirements, written)
    if evidence is not None:
        result["evidence"] = asdict(evidence) | {"text": evidence_text(evidence)}
    print_result(arguments, result, _text(result, is_certified))
    return DONE if is_certified else CHECK_FAILED


def _result(
    cases: CaseList,
    chosen: Scoring,
    calibrated: Calibration,
    sides: Sequence[Side],
    requirements: Requirements,
    written: Path | None,
) -> dict[str, Any]:
    from reviewer.trust.statement import (
        assumptions,
        object_texts,
        promise,
        side_text,
        verdict_counts,
        without_label,
    )

    sources = Counter(case.label.source for case in cases.cases if case.label is not None)
    return {
        "certificate": None if written is None else str(written),
        "task": cases.task,
        "policy": {"kind": cases.policy.kind, "name": cases.policy.name, "samples": cases.policy.samples},
        "cases": len(cases.cases),
        "without_certificate": len(cases.cases) - len(calibrated.cases),
        "labels": dict(sources),
        "calibration": {
            "n": len(calibrated.decided),
            "yes": int(calibrated.labelled.yes.sum()),
            "objects": calibrated.objects,
            "without_position_and_name": calibrated.unknown,
            "sampling": calibrated.sampling,
            "not_counted": dict(calibrated.not_counted),
        },
        "objects": object_texts(calibrated),
        "no_label": cases.no_label,
        "not_promised": without_label(cases, calibrated, sides),
        "left_out": {reason: list(names) for reason, names in cases.left_out.items()},
        "score": {"kind": chosen.model.kind, "sha256": chosen.model.sha256, "why": chosen.why},
        "wanted": asdict(requirements),
        "sides": [asdict(side) | {"text": side_text(side, requirements)} for side in sides],
        "verdicts": verdict_counts(
            calibrated.p, sides, len(cases.cases) - len(calibrated.cases), calibrated.not_passed(requirements.trial)
        ),
        "trials": dict(Counter(calibrated.trials)) if requirements.trial else None,
        "promise": promise(sides, requirements),
        "assumptions": list(assumptions(cases, calibrated, requirements)),
    }


def _text(result: dict[str, Any], is_certified: bool) -> str:
    labels, policy, verdicts = result["labels"], result["policy"], result["verdicts"]
    counts = ", ".join(f"{n} {tr(SOURCES[source])}" for source, n in labels.items()) or tr("none")
    lines = [
        tr(
            "{task}, policy {policy!r}: {spectra} spectra, {labelled} with a label ({counts})",
            task=result["task"],
            policy=policy["name"],
            spectra=result["cases"],
            labelled=sum(labels.values()),
            counts=counts,
        )
    ]
    if result["without_certificate"]:
        lines.append(
            trn(
                "{n} of them is left to a person because of its data",
                "{n} of them are left to a person because of their data",
                result["without_certificate"],
            )
        )
    for reason, names in result["left_out"].items():
        lines.append(tr("left out: {n}, {reason}: {names}", n=len(names), reason=tr(reason), names=_names(names)))
    lines.append(f"P(YES) {result['score']['why']}")
    counted = result["calibration"]
    lines.append(
        tr("labels that count: {n} ({yes} YES), chosen by the ordered queue", n=counted["n"], yes=counted["yes"])
        if counted["sampling"] == "logged"
        else tr("labels that count: {n} ({yes} YES), assumed to be a random sample", n=counted["n"], yes=counted["yes"])
    )
    lines += [
        tr("labels that do not count: {n}, {reason}", n=n, reason=tr(reason))
        for reason, n in counted["not_counted"].items()
    ]
    if result["trials"] is not None:
        lines.append(_trials_text(result["trials"], result["wanted"]["trial"]))
    lines += [side["text"] for side in result["sides"]]
    if not is_certified:  # else among the assumptions
        lines += [text for text in map(tr, result["objects"]) if text not in "\n".join(lines)]
    lines.append(
        tr(
            "of this list: {yes} YES, {no} NO, {ask} left to a person",
            yes=verdicts["yes"],
            no=verdicts["no"],
            ask=verdicts["ask"],
        )
    )
    if is_certified:
        lines.append(tr("promised: {promise}", promise=result["promise"]))
    if "evidence" in result:
        lines.append(tr(result["evidence"]["text"]))
    if result["not_promised"]:
        lines.append(tr("not promised: {what}", what=result["not_promised"]))
    if is_certified:
        lines += [tr("assumed: {what}", what=assumption) for assumption in result["assumptions"]]
        written = result["certificate"]
        lines.append(
            tr("certificate: {path}", path=written)
            if written
            else tr("no file was written; --out FILE writes the certificate")
        )
    else:
        lines.append(tr("refused: no certificate was written"))
    return "\n".join(lines)


def _trials_text(counts: Mapping[TrialOutcome, int], verdicts: Sequence[Verdict]) -> str:
    """Return how many cases passed the trial that these verdicts need."""
    values: dict[str, Any] = {name: counts.get(name, 0) for name in ("passed", "failed", "untested")}
    values["verdicts"] = tr(" and ").join(verdicts)
    without = counts.get("not made", 0)  # as stored
    if not without:
        return tr(
            "evidence trial, needed for {verdicts}: {passed} passed, {failed} failed, {untested} untested", **values
        )
    return trn(
        "evidence trial, needed for {verdicts}: {passed} passed, {failed} failed, {untested} untested; {n} has no "
        "trial and is counted below as if it passed",
        "evidence trial, needed for {verdicts}: {passed} passed, {failed} failed, {untested} untested; {n} have no "
        "trial and are counted below as if they passed",
        without,
        **values,
    )


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN])
    return tr("{names} and {n} more", names=shown, n=len(names) - SHOWN) if len(names) > SHOWN else shown


def ordering_model(store: Store | None, cases: CaseList) -> ScoreModel | None:
    """Return the model that made the latest stored P(YES) of the policy's items; None if they have none."""
    from agent.trust.score import ScoreModel

    if store is None:
        return None
    own = [case for case in store.trust.cases(cases.task) if case.drafter_name == cases.policy.name]
    latest = max((scored for scored in own if scored.scored_at is not None), key=attrgetter("scored_at"), default=None)
    models = {score_model.sha256: score_model.model for score_model in store.trust.score_models(cases.task)}
    return None if latest is None else ScoreModel.from_json(models[str(latest.model)])


def record(store: Store, by: str | None, task: Task, chosen: Scoring, cases: CaseList) -> None:
    """Store P(YES) of every item, by which the queue can be ordered."""
    from reviewer.store.trust_values import ScoreRow

    rows = [
        ScoreRow(item, chosen.model.p_yes(case.features), case.features.to_json(), case.reasons)
        for case in cases.cases
        if case.features is not None
        for item in case.items
    ]
    store.trust.record_scores(by, task.key, chosen.model.to_json(), rows)


def requirements_from(arguments: CertifyOptions, calibrated: Calibration) -> Requirements:
    """Return what is to be certified. Labels with logged probabilities need the method that can weight them."""
    from agent.trust.sides import Requirements

    return Requirements(
        yes=arguments.error_yes,
        no=arguments.error_no,
        delta=arguments.delta,
        joint=arguments.joint,
        method=arguments.method or ("anytime" if calibrated.sampling == "logged" else "fixed"),
        no_risk=arguments.no_risk,
        label_noise=arguments.label_noise,
        trial=REQUIRED.get(arguments.require_trial or "", ()),
    )
