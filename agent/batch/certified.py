"""A run whose verdicts are those of a certificate: what it refuses, the verdicts, the trials that they need, their
counts, the tests of shift.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.batch.candidates import Candidate
from agent.batch.journal import Inspected
from agent.batch.run import MAX_CONSECUTIVE_FAILURES, PolicyFor
from agent.batch.sources import key_of
from agent.batch.trials import Case, SpectrumIn, TrialsFile, Work, try_all
from agent.consensus import data_reasons, typical_snr
from agent.conversation import Stop
from agent.json_lines import JournalError
from agent.language import deferred, tr
from agent.measure import Undefined
from agent.processes import ProcessLost
from agent.spectrum import Spectrum
from agent.spectrum.record import Medium
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trial.report import Trial
from agent.trust.certificate import Cause, Certificate, CertificateError, Judged, read
from agent.trust.evidence import TrialOutcome, TrialSettings, not_passed_text, outcome_of
from agent.trust.features import features_of
from agent.trust.suspension import Suspension, add_scores, suspension, suspension_path


class CertifiedRun:
    """The verdicts of one run by a certificate. Called with the samples of a spectrum, it returns its verdict.

    :param path: of the certificate
    :param causes: number of spectra by cause
    :param suspended: why the certificate was suspended after this run; None if it was not
    :param trials: numbers of traces whose trial was made in this run, was made before, and could not be made; None:
        no verdict needed one
    """

    def __init__(self, path: Path, certificate: Certificate, task: Task) -> None:
        self.path, self.certificate, self.task = path, certificate, task
        self.causes: Counter[Cause] = Counter()
        self.suspended: Suspension | None = None
        self.trials: TrialCounts | None = None
        self._scores: dict[str, float] = {}

    def __call__(self, trajectories: Sequence[Trajectory], spectrum: Spectrum) -> Judged:
        """Return the verdict on one spectrum, and count it."""
        judged = self.judge(trajectories, spectrum)
        self.count(judged, spectrum.sha256)
        return judged

    def count(self, judged: Judged, spectrum_sha256: str) -> None:
        """Count a verdict, and keep its P(YES) for the tests of shift."""
        self.causes[judged.cause] += 1
        if judged.p_yes is not None and judged.cause in ("verdict", "between the thresholds", "not certified"):
            self._scores[spectrum_sha256] = judged.p_yes

    def judge(self, trajectories: Sequence[Trajectory], spectrum: Spectrum) -> Judged:
        """Return the verdict on one spectrum without counting it, as a process or machine that has the spectrum can."""
        certificate = self.certificate
        if len(trajectories) != certificate.samples:
            reason = deferred(
                "{n_trajectories} samples; the certificate is for {samples} per spectrum.",
                n_trajectories=len(trajectories),
                samples=certificate.samples,
            )
            return Judged("ASK", "samples", reason, None)
        features = features_of(trajectories, spectrum, self.task, with_claims=certificate.score.uses_claims)
        snr = typical_snr(spectrum)
        reasons = data_reasons(trajectories, spectrum, self.task)
        return certificate.judge(features, spectrum.survey, None if isinstance(snr, Undefined) else snr, reasons)

    def tested(self, rows: Sequence[Candidate]) -> list[Candidate]:
        """Test the new P(YES) for a shift; return the rows, without verdicts if that suspends the certificate.

        :param rows: all rows of the run
        :raises CertificateError: the state of the tests cannot be read or written
        """
        try:
            self.suspended = add_scores(self.path, self.certificate, self._scores, _now())
        except OSError as error:
            raise CertificateError(
                tr(
                    "{value}: {strerror}; the tests of shift could not be kept, and without them no verdict is "
                    "given. The results are complete; run again where the folder can be written",
                    value=error.filename or self.path,
                    strerror=error.strerror,
                )
            ) from error
        if unread := len(rows) - self.causes.total():
            self.causes["unread"] = unread
        if self.suspended is None:
            return list(rows)
        self.causes["suspended"] = self.causes.pop("verdict", 0)
        reason = deferred("The certificate is suspended: {evidence}", evidence=self.suspended.evidence)
        return [row if row.verdict == "ASK" else replace(row, verdict="ASK", reasons=reason) for row in rows]

    def after_trials(
        self, rows: Sequence[Candidate], inspected: Iterable[Inspected], trying: Trying, results: Path, stop: Stop
    ) -> list[Candidate]:
        """Make the trials that verdicts need; return the rows, without the verdicts whose traces did not pass theirs.

        The trials are kept in ``trials_path(results)``, so that a later run does not make them again. One that could
        not be made is not kept.

        :param rows: all rows of the run, with the verdicts by P(YES)
        :param inspected: all spectra of the results
        :raises CertificateError: the file of trials cannot be used
        """
        settings, verdicts = self.certificate.trial, self.certificate.requirements.trial
        needed = {(row.file, row.target): row.verdict for row in rows if row.verdict in verdicts}
        if settings is None or not needed:
            return list(rows)
        traces = {
            (trial.file, trial.target): trial.trajectories
            for trial in inspected
            if (trial.file, trial.target) in needed
        }
        path = trials_path(results)
        try:
            file = TrialsFile(
                path, {"kind": self.certificate.policy.kind, "name": self.certificate.policy.name}, settings.seed
            )
            usable = {key: trial for key, trial in file.done.items() if settings.fits(trial)}
            cases = [
                Case(key_of(*place), trace, SpectrumIn(results.parent / place[0], place[1], trying.medium))
                for place, samples in traces.items()
                for trace in samples
                if trace.content_hash() not in usable
            ]
            problems = trying.run(cases, settings, self.task, file, stop)
        except JournalError as error:
            raise CertificateError(
                tr("{error}; trials of these results are kept there. Remove it to make them again", error=error)
            ) from error
        usable = {key: trial for key, trial in file.done.items() if settings.fits(trial)}
        self.trials = TrialCounts(file.added, sum(map(len, traces.values())) - len(cases), len(cases) - file.added)
        return [self._after_trial(row, traces.get((row.file, row.target), ()), usable, problems) for row in rows]

    def _after_trial(
        self, row: Candidate, traces: Sequence[Trajectory], trials: Mapping[str, Trial], problems: Mapping[str, str]
    ) -> Candidate:
        if row.verdict == "ASK" or row.verdict not in self.certificate.requirements.trial:
            return row
        hashes = [trace.content_hash() for trace in traces]
        of_traces = [trials.get(content_hash) for content_hash in hashes]
        outcome = outcome_of(of_traces)
        if outcome == "passed":
            return row
        problem = next((problems[content_hash] for content_hash in hashes if content_hash in problems), "")
        self.causes["verdict"] -= 1
        self.causes[_CAUSES[outcome]] += 1
        return replace(row, verdict="ASK", reasons=not_passed_text(row.verdict, outcome, of_traces, problem))

    def to_json(self) -> dict[str, Any]:
        """Return what the summary of the run says about the certificate."""
        certificate, requirements = self.certificate, self.certificate.requirements
        sides: dict[str, Mapping[str, Any]] = {
            name: {"threshold": side.threshold, "limit": side.limit, "labels": side.n, "errors": side.errors}
            for name, side in (("yes", certificate.yes), ("no", certificate.no))
        }
        return {
            "file": str(self.path),
            "sha256": certificate.sha256,
            "policy": {"name": certificate.policy.name, "model_hash": certificate.policy.model_hash},
            **sides,
            "delta": requirements.delta,
            "joint": requirements.joint,
            "no_risk": requirements.no_risk,
            "statement": str(certificate.statement()),
            "trials": None if self.trials is None else self.trials.to_json(),
            "asked": {cause: count for cause, count in sorted(self.causes.items()) if cause != "verdict"},
            "suspended": None if self.suspended is None else self.suspended.evidence,
        }

    def text(self) -> str:
        """Return the same as lines of text."""
        certificate = self.certificate
        lines = [
            tr(
                "certificate: {path} of {date} for {policy} (SHA-256 of its model: {model_hash})",
                path=self.path,
                date=certificate.made_at[:10],
                policy=certificate.policy.name,
                model_hash=certificate.policy.model_hash,
            ),
            tr(certificate.statement()),
        ]
        if self.trials is not None:
            trials = self.trials
            line = tr(
                "evidence trials: {n} traces in this run, {before} before", n=trials.finished, before=trials.before
            )
            if trials.not_made:
                failed = tr("{n} could not be made; the next run tries them again", n=trials.not_made)
                line = tr(", ").join((line, failed))
            lines.append(line)
        causes = [tr(_WORDS[cause], n=count) for cause, count in self.causes.most_common() if cause in _WORDS and count]
        lines.append(
            tr("left to a person by the certificate: {counts}", counts=tr(", ").join(causes) if causes else tr("none"))
        )
        if self.suspended is not None:
            lines.append(tr("THE CERTIFICATE IS SUSPENDED, and no verdict is given. "))
        return "\n".join(lines)


_WORDS: Mapping[Cause, str] = {
    "data": deferred("{n} for their data or without an answer"),
    "samples": deferred("{n} with another number of samples"),
    "survey": deferred("{n} of another survey"),
    "S/N": deferred("{n} with another S/N"),
    "between the thresholds": deferred("{n} between the thresholds"),
    "not certified": deferred("{n} on a side that is not certified"),
    "trial failed": deferred("{n} whose evidence did not pass its trial"),
    "trial untested": deferred("{n} of whose evidence nothing could be tested"),
    "trial not made": deferred("{n} whose trial was not made"),
    "unread": deferred("{n} that can no longer be read"),
    "suspended": deferred("{n} because it is suspended"),
}


_CAUSES: Mapping[TrialOutcome, Cause] = {
    "failed": "trial failed",
    "untested": "trial untested",
    "not made": "trial not made",
}


@dataclass(frozen=True)
class TrialCounts:
    """Traces of the verdicts that need a trial: made in this run, made before, could not be made."""

    finished: int
    before: int
    not_made: int

    def to_json(self) -> dict[str, int]:
        return {"made": self.finished, "before": self.before, "not_made": self.not_made}


@dataclass(frozen=True)
class Trying:
    """How the trials of a run are made: by the policy of the run.

    :param processes: 2 or more: in so many processes; otherwise in ``threads`` of this one
    :param medium: of spectra whose file does not state it
    :param on_trial: called with the number of traces that are done and of all
    """

    policy_for: PolicyFor
    processes: int
    threads: int
    medium: Medium | None = None
    on_trial: Callable[[int, int], None] = lambda done, of: None

    def run(
        self, cases: Sequence[Case], settings: TrialSettings, task: Task, file: TrialsFile, stop: Stop
    ) -> dict[str, str]:
        """Make the trials and keep them; return what prevented others, by content hash of the trace.

        Many that fail in a row end it: the policy is gone.
        """
        problems: dict[str, str] = {}
        if not cases or stop.is_set:
            return problems
        work = Work({task.key: task}, self.policy_for, settings.seed, settings.placebos)
        processes, in_a_row, inner = min(self.processes, len(cases)), 0, Stop()
        try:
            with stop.waking(inner.set), closing(try_all(cases, work, processes, self.threads, inner)) as tried:
                for done, outcome in enumerate(tried, start=1):
                    if outcome.trial is None:
                        problems[outcome.case.trajectory.content_hash()] = outcome.problem
                    else:
                        file.add(outcome.trial)
                    in_a_row = 0 if outcome.trial is not None else in_a_row + 1
                    self.on_trial(done, len(cases))
                    if in_a_row >= max(processes, self.threads) + MAX_CONSECUTIVE_FAILURES:
                        gone = deferred(
                            "{n} trials in a row failed, the last one: {problem}", n=in_a_row, problem=outcome.problem
                        )
                        return {case.trajectory.content_hash(): gone for case in cases} | problems
        except ProcessLost as lost:
            return {case.trajectory.content_hash(): str(lost) for case in cases} | problems
        return problems


def trials_path(results: Path) -> Path:
    """Return the name of the file with the trials that verdicts of a certificate needed."""
    return results.with_name(results.name + ".trials.jsonl")


def certified_run(path: Path, task: Task) -> CertifiedRun:
    """Read a certificate that is to be applied. :raises CertificateError: it cannot be read, or is suspended"""
    certificate = read(path)
    suspended = suspension(path)
    if suspended is not None:
        raise CertificateError(
            tr(
                "{path}: the certificate is suspended since {since}, by the test of {by}: {evidence} Label "
                "new spectra and certify anew; {path2} records it",
                path=path,
                since=suspended.since,
                by=suspended.by,
                evidence=suspended.evidence,
                path2=suspension_path(path),
            )
        )
    return CertifiedRun(path, certificate, task)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
