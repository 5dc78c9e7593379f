"""A run whose verdicts are those of a certificate: what it refuses, the verdicts, their counts, the tests of shift."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.batch.candidates import Candidate
from agent.batch.consensus import data_reasons, typical_snr
from agent.measure import Undefined
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trust.certificate import Cause, Certificate, CertificateError, Judged, read
from agent.trust.features import features_of
from agent.trust.suspension import Suspension, add_scores, suspension, suspension_path


class CertifiedRun:
    """The verdicts of one run by a certificate. Called with the samples of a spectrum, it returns its verdict.

    :param path: of the certificate
    :param causes: number of spectra by cause
    :param suspended: why the certificate was suspended after this run; None if it was not
    """

    def __init__(self, path: Path, certificate: Certificate, task: Task) -> None:
        self.path, self.certificate, self.task = path, certificate, task
        self.causes: Counter[Cause] = Counter()
        self.suspended: Suspension | None = None
        self._scores: dict[str, float] = {}

    def __call__(self, trajectories: Sequence[Trajectory], spectrum: Spectrum) -> Judged:
        """Return the verdict on one spectrum."""
        judged = self._judged(trajectories, spectrum)
        self.causes[judged.cause] += 1
        if judged.p_yes is not None and judged.cause in ("verdict", "between the thresholds", "not certified"):
            self._scores[spectrum.sha256] = judged.p_yes
        return judged

    def _judged(self, trajectories: Sequence[Trajectory], spectrum: Spectrum) -> Judged:
        certificate = self.certificate
        if len(trajectories) != certificate.samples:
            reason = f"{len(trajectories)} samples; the certificate is for {certificate.samples} per spectrum."
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
                f"{error.filename or self.path}: {error.strerror}; the tests of shift could not be kept, and without "
                "them no verdict is given. The results are complete; run again where the folder can be written"
            ) from error
        if unread := len(rows) - self.causes.total():
            self.causes["unread"] = unread
        if self.suspended is None:
            return list(rows)
        self.causes["suspended"] = self.causes.pop("verdict", 0)
        reason = f"The certificate is suspended: {self.suspended.evidence}"
        return [row if row.verdict == "ASK" else replace(row, verdict="ASK", reasons=reason) for row in rows]

    def to_json(self) -> dict[str, Any]:
        """Return what the summary of the run says about the certificate."""
        certificate, wanted = self.certificate, self.certificate.wanted
        sides: dict[str, Mapping[str, Any]] = {
            name: {"threshold": side.threshold, "limit": side.limit, "labels": side.n, "errors": side.errors}
            for name, side in (("yes", certificate.yes), ("no", certificate.no))
        }
        return {
            "file": str(self.path),
            "sha256": certificate.sha256,
            "policy": {"name": certificate.policy.name, "model_hash": certificate.policy.model_hash},
            **sides,
            "delta": wanted.delta,
            "joint": wanted.joint,
            "no_risk": wanted.no_risk,
            "statement": certificate.statement(),
            "asked": {cause: count for cause, count in sorted(self.causes.items()) if cause != "verdict"},
            "suspended": None if self.suspended is None else self.suspended.evidence,
        }

    def text(self) -> str:
        """Return the same as lines of text."""
        certificate = self.certificate
        lines = [
            f"certificate: {self.path} of {certificate.made_at[:10]} for {certificate.policy.name} (SHA-256 of its "
            f"model: {certificate.policy.model_hash})",
            certificate.statement(),
        ]
        asked = [f"{count} {_WORDS[cause]}" for cause, count in self.causes.most_common() if cause in _WORDS and count]
        lines.append(f"left to a person by the certificate: {', '.join(asked) or 'none'}")
        if self.suspended is not None:
            lines.append(
                f"THE CERTIFICATE IS SUSPENDED, and no verdict is given. {self.suspended.evidence} "
                f"({suspension_path(self.path)}). Label new spectra and certify anew"
            )
        return "\n".join(lines)


_WORDS: Mapping[Cause, str] = {
    "data": "for their data or without an answer",
    "samples": "with another number of samples",
    "survey": "of another survey",
    "S/N": "with another S/N",
    "between the thresholds": "between the thresholds",
    "not certified": "on a side that is not certified",
    "unread": "that can no longer be read",
    "suspended": "because it is suspended",
}


def certified_run(path: Path, task: Task) -> CertifiedRun:
    """Read a certificate that is to be applied. :raises CertificateError: it cannot be read, or is suspended"""
    certificate = read(path)
    found = suspension(path)
    if found is not None:
        raise CertificateError(
            f"{path}: the certificate is suspended since {found.since}, by the test of {found.by}: {found.evidence} "
            f"Label new spectra and certify anew; {suspension_path(path)} records it"
        )
    return CertifiedRun(path, certificate, task)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
