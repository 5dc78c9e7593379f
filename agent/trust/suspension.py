"""Suspension of a certificate: the file that says so, and the tests of shift whose state is kept between runs.

Next to ``FILE`` are ``FILE.suspended.json``, while it is suspended, and ``FILE.shift.json``, the state of the tests.
Both name the certificate by its SHA-256 and have no effect on another one that takes its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agent.language import tr
from agent.trust.certificate import Certificate, CertificateError, read, short_hash
from agent.trust.files import locked, write_json
from agent.trust.shift import Alarm, ShiftError, ShiftMonitor
from agent.trust.sides import Side

SUSPENDED = "spec-o3/suspension/1"
SHIFT = "spec-o3/shift/1"


@dataclass(frozen=True)
class Suspension:
    """Why a certificate is suspended.

    :param certificate: its SHA-256
    :param since: when the change probably began
    :param by: the test that raised the alarm
    :param evidence: the alarm as a sentence
    :param at: when it was suspended, ISO 8601
    """

    certificate: str
    since: str
    by: str
    evidence: str
    at: str


def suspension(path: Path) -> Suspension | None:
    """Return why the certificate in a file is suspended; None if it is not.

    :raises CertificateError: the certificate, or the file that may suspend it, cannot be read
    """
    file = suspension_path(path)
    if not file.exists():
        return None
    data = _object(file, SUSPENDED)
    if data.get("certificate") != read(path).sha256:
        return None
    try:
        return Suspension(**{name: str(data[name]) for name in Suspension.__dataclass_fields__})
    except KeyError as error:
        raise CertificateError(
            tr("{beside}: {args}: found nothing, expected text", beside=file, args=error.args[0])
        ) from error


def suspend(path: Path, suspended: Suspension) -> None:
    """Suspend the certificate in a file. :raises OSError: it cannot be written"""
    write_json(suspension_path(path), {"schema": SUSPENDED, **asdict(suspended)})


def suspension_path(path: Path) -> Path:
    """Return the name of the file that suspends a certificate."""
    return path.with_name(path.name + ".suspended.json")


def shift_path(path: Path) -> Path:
    """Return the name of the file with the state of the tests of a certificate."""
    return path.with_name(path.name + ".shift.json")


def monitor_of(certificate: Certificate) -> ShiftMonitor:
    """Return new tests of a certificate, with its delta as the probability of any false alarm.

    New scores are not compared with labelled cases that the ordered queue chose: these are no random sample of the
    list. They are compared if ``calibration`` is the whole list, without ``calibration_yes``.

    The error of NO is tested only if it is the share of YES among the cases called NO: the share of YES objects that
    are missed is not an error rate of these cases.
    """
    no = None if certificate.requirements.no_risk == "missed" else _tested(certificate.no)
    chosen = certificate.sampling == "logged" and certificate.calibration_yes is not None
    return ShiftMonitor(
        () if chosen else certificate.calibration,
        _tested(certificate.yes),
        no,
        certificate.requirements.delta,
        calibration_yes=None if chosen else certificate.calibration_yes,
    )


def add_scores(path: Path, certificate: Certificate, scores: Mapping[str, float], at: str) -> Suspension | None:
    """Add P(YES) of new cases to the tests of a certificate, and suspend it on an alarm.

    A spectrum counts once, however often it is inspected, and those of the calibration are no new cases. The cases of
    one call are added in the order of their SHA-256: a list that is sorted, for example by class, is not a shift.

    :param scores: P(YES) by the SHA-256 of the spectrum; only of cases that the certificate covers
    :param at: now, ISO 8601
    :raises CertificateError: the state cannot be used
    :raises OSError: it cannot be written
    """
    file = shift_path(path)
    with locked(file.with_name(file.name + ".lock")):
        monitor, seen = _state(file, certificate)
        known = set(certificate.spectra)
        for spectrum in sorted(score for score in set(scores) - seen if short_hash(score) not in known):
            monitor.add_score(scores[spectrum], at)
        state = {"certificate": certificate.sha256, "monitor": monitor.to_json(), "seen": sorted(seen | set(scores))}
        write_json(file, {"schema": SHIFT, **state})
        if monitor.alarm is None:
            return None
        suspended = suspended_by(monitor.alarm, certificate, at)
        suspend(path, suspended)
        return suspended


def suspended_by(alarm: Alarm, certificate: Certificate, at: str) -> Suspension:
    """Return the suspension that follows from an alarm."""
    since = f"new case {alarm.since}" + (f" ({alarm.since_at})" if alarm.since_at else "")
    return Suspension(certificate.sha256, since, alarm.by, alarm.text, at)


def _tested(side: Side) -> tuple[float, float] | None:
    return None if side.threshold is None else (side.threshold, side.limit)


def _state(file: Path, certificate: Certificate) -> tuple[ShiftMonitor, set[str]]:
    """Return the tests of a certificate and the spectra that they have counted."""
    if not file.exists():
        return monitor_of(certificate), set()
    data = _object(file, SHIFT)
    if data.get("certificate") != certificate.sha256:
        return monitor_of(certificate), set()
    seen = data.get("seen")
    monitor = data.get("monitor")
    if not isinstance(monitor, Mapping) or not isinstance(seen, list):
        raise CertificateError(
            tr("{beside}: found no tests with their spectra; remove the file to begin the tests anew", beside=file)
        )
    try:
        return ShiftMonitor.from_json(monitor), set(_texts(seen))
    except ShiftError as error:
        raise CertificateError(f"{file}: {error}") from error


def _texts(values: Iterable[object]) -> Iterable[str]:
    return (str(value) for value in values)


def _object(path: Path, schema: str) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CertificateError(
            tr("{path}: found what cannot be read ({error}), expected {schema}", path=path, error=error, schema=schema)
        ) from error
    if not isinstance(data, Mapping) or data.get("schema") != schema:
        actual = data.get("schema") if isinstance(data, Mapping) else type(data).__name__
        raise CertificateError(
            tr("{path}: schema: found {found!r:.60}, expected {schema!r}", path=path, found=actual, schema=schema)
        )
    return data
