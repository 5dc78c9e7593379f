"""Certificate: the file that states which error rates of which verdicts are bounded, and for which spectra.

A certificate covers one task, one text of the question, one policy with its settings, and the surveys and S/N of its
calibration spectra. What it does not cover is refused or left to a person.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from agent.errors import Refusal
from agent.json_lines import differences
from agent.language import deferred, joined
from agent.spectrum.record import Medium
from agent.trajectory import TrajectoryError, Verdict
from agent.trajectory.steps import number_of, object_of, one_of, text_of
from agent.trust.certify import counted_once
from agent.trust.evidence import (
    EvidenceCounts,
    TrialSettings,
    condition_from,
    condition_json,
    condition_text,
    evidence_from,
    evidence_text,
    whole_of,
)
from agent.trust.features import Features
from agent.trust.files import write_json
from agent.trust.score import ScoreError, ScoreModel
from agent.trust.sides import Requirements, Side

SCHEMA = "spec-o3/certificate/1"
NOT_COMPARED = ("seed", "prompt_sha256", "prompt_source")
"""Settings of a policy that may differ: the seed is another for each sample, and the prompt has its own field."""

Cause = Literal[
    "verdict",
    "data",
    "samples",
    "survey",
    "S/N",
    "between the thresholds",
    "not certified",
    "trial failed",
    "trial untested",
    "trial not made",
    "unread",
    "suspended",
]
"""Why a case got its verdict by a certificate: "verdict" for YES and NO, else the kind of reason to ask a person."""


class CertificateError(Refusal):
    """A certificate cannot be read: which file and field, what was found, what was expected."""


_KEYS = {"requirements": "wanted"}
"""Fields that have another name in the file."""


@dataclass(frozen=True)
class CertifiedPolicy:
    """The policy whose verdicts are certified.

    :param settings: those that a run must not change (``agent.batch.journal``), and ``max_turns`` and ``renderer``
        as each trace has them
    """

    kind: str
    name: str
    settings: Mapping[str, Any]

    @property
    def model_hash(self) -> str:
        """SHA-256 of the weights, or of the baseline's scorecards; "not known" for a server, where weights can change
        under the same name.
        """
        known = (self.settings[key] for key in ("weights_sha256", "scorecards_sha256") if key in self.settings)
        return str(next(known, "not known"))

    @property
    def compared(self) -> dict[str, Any]:
        """Kind, name and settings that must agree, as JSON values."""
        settings = {key: value for key, value in self.settings.items() if key not in NOT_COMPARED}
        settings_compared: dict[str, Any] = json.loads(
            json.dumps({"kind": self.kind, "name": self.name, "settings": settings})
        )
        return settings_compared


@dataclass(frozen=True)
class LabelCounts:
    """The labels of a certificate: where they come from, how many, and how many of them are YES.

    :param without: spectra that people decided without a label; nothing is promised for spectra like these
    :param objects: of which they are, each counted once; None: a file from before objects were counted
    :param unknown: labels of spectra without position and name, each taken as of another object
    """

    source: str
    n: int
    yes: int
    without: int = 0
    objects: int | None = None
    unknown: int | None = None


@dataclass(frozen=True)
class Judged:
    """The verdict of a certificate on one case.

    :param reason: why a person should decide, as a sentence; "" for YES and NO
    :param p_yes: P(YES); None where the policy gave no answer
    """

    verdict: Literal["YES", "NO", "ASK"]
    cause: Cause
    reason: str
    p_yes: float | None


@dataclass(frozen=True)
class Certificate:
    """Two thresholds of P(YES) with a stated error bound, and what they hold for.

    :param task: key of the task, and ``prompt_sha256`` of the whole text of its question
    :param samples: independent samples per spectrum
    :param surveys: of the calibration spectra, and ``snr`` the range of their median S/N per pixel
    :param medium: stated for spectra whose file does not; None: nothing was stated
    :param sampling: how the labelled spectra were chosen: "logged" with known probabilities, or "assumed random"
    :param calibration: P(YES) of the calibration cases, for the tests of shift
    :param calibration_yes: their labels, in the same order; None if they are the list from which the queue chose
    :param spectra: short hashes of the spectra of ``calibration``, which are not new cases (``short_hash``)
    :param evidence: what trials of traces of the list found; None: none was tried. No bound follows from it
    :param trial: how the trials are made that the traces of the verdicts ``wanted.trial`` must pass; None: no such
        condition
    :param made_at: ISO 8601 with time zone
    :param program: name and version of the program
    """

    task: str
    prompt_sha256: str
    policy: CertifiedPolicy
    samples: int
    score: ScoreModel
    surveys: tuple[str, ...]
    snr: tuple[float, float]
    medium: Medium | None
    labels: LabelCounts
    sampling: Literal["logged", "assumed random"]
    yes: Side
    no: Side
    requirements: Requirements
    calibration: tuple[float, ...]
    made_at: str
    program: str
    calibration_yes: tuple[bool, ...] | None = None
    spectra: tuple[str, ...] = ()
    evidence: EvidenceCounts | None = None
    trial: TrialSettings | None = None

    def refusal(
        self, task: str, prompt_sha256: str, policy: CertifiedPolicy, samples: int, medium: Medium | None = None
    ) -> str:
        """Return why the certificate does not cover a run, naming each field that differs; "" if it does."""
        before = {"task": self.task, "prompt_sha256": self.prompt_sha256, "policy": self.policy.compared}
        now = {"task": task, "prompt_sha256": prompt_sha256, "policy": policy.compared}
        changed = differences(
            before | {"samples": self.samples, "medium": self.medium}, now | {"samples": samples, "medium": medium}
        )
        if not changed:
            return ""
        return deferred(
            "the certificate is for another run: {changed}. Run with the same settings, or certify anew",
            changed=joined(changed),
        )

    def judge(self, features: Features, survey: str, snr: float | None, reasons: Sequence[str]) -> Judged:
        """Return the verdict on one case: YES, NO, or ASK with the reason.

        :param survey: of the spectrum
        :param snr: measured median S/N per pixel; None if undefined
        :param reasons: of ``agent.trust.features.data_reasons``
        """
        p = None if features.log_odds is None else self.score.p_yes(features)
        if reasons or p is None:
            return Judged("ASK", "data", joined(reasons, " ") if reasons else deferred("The policy gave no answer."), p)
        if survey not in self.surveys:
            known = joined((survey or deferred("unknown") for survey in self.surveys), ", ")
            where = deferred(
                "the survey is {survey}; the certificate covers {known}",
                survey=survey or deferred("unknown"),
                known=known,
            )
            return Judged("ASK", "survey", deferred("Not covered by the certificate: {where}.", where=where), p)
        low, high = self.snr
        if snr is None or not low <= snr <= high:
            snr_text = deferred("undefined") if snr is None else f"{snr:.1f}"
            where = deferred(
                "S/N {found} per pixel; the certificate covers {low:.1f} to {high:.1f}",
                found=snr_text,
                low=low,
                high=high,
            )
            return Judged("ASK", "S/N", deferred("Not covered by the certificate: {where}.", where=where), p)
        return self._by_thresholds(p)

    def statement(self) -> str:
        """Return what is certified, in one sentence per side that is."""
        confidence = 100 * (1 - self.requirements.delta)
        if self.requirements.joint:
            sure = deferred("stated with {confidence:g} % confidence for both sides together", confidence=confidence)
        else:
            sure = deferred("stated with {confidence:g} % confidence", confidence=confidence)
        sentences = []
        if self.yes.threshold is not None:
            sentences.append(
                deferred(
                    "Of the cases called YES at most {limit:g} % are NO, {sure}.", limit=100 * self.yes.limit, sure=sure
                )
            )
        if self.no.threshold is not None and self.requirements.no_risk == "missed":
            sentences.append(
                deferred(
                    "Of the YES objects at most {limit:g} % are called NO, {sure}.",
                    limit=100 * self.no.limit,
                    sure=sure,
                )
            )
        elif self.no.threshold is not None:
            sentences.append(
                deferred(
                    "Of the cases called NO at most {limit:g} % are YES, {sure}.", limit=100 * self.no.limit, sure=sure
                )
            )
        if sentences and self.labels.objects not in (None, self.labels.n):
            sentences.append(counted_once(self.labels.n, int(self.labels.objects or 0)))
        if sentences and self.requirements.trial:
            sentences.append(condition_text(self.requirements.trial))
        if self.labels.without:
            sentences.append(
                deferred(
                    "Nothing is promised for cases like the {without} that people decided without a label.",
                    without=self.labels.without,
                )
            )
        if self.evidence is not None:
            sentences.append(evidence_text(self.evidence))
        return joined(sentences, " ")

    def _by_thresholds(self, p: float) -> Judged:
        yes, no = self.yes.threshold, self.no.threshold
        if yes is not None and p >= yes:
            return Judged("YES", "verdict", "", p)
        if no is not None and p <= no:
            return Judged("NO", "verdict", "", p)
        side: Verdict = "YES" if p >= 0.5 else "NO"
        if (yes if side == "YES" else no) is None:
            return Judged(
                "ASK", "not certified", deferred("P(YES) is {p:.3f}, and {side} is not certified.", p=p, side=side), p
            )
        bounds = [] if yes is None else [deferred("YES from {yes:.3f}", yes=yes)]
        if no is not None:
            bounds.append(deferred("NO up to {no:.3f}", no=no))
        text = deferred("P(YES) is {p:.3f}; certified are {sides}.", p=p, sides=joined(bounds, " and "))
        return Judged("ASK", "between the thresholds", text, p)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, with the SHA-256 of the rest of it."""
        form = asdict(self) | {"score": self.score.to_json(), "policy": asdict(self.policy)}
        form = {_KEYS.get(key, key): value for key, value in form.items() if key != "trial"} | condition_json(
            self.trial
        )
        if not self.requirements.trial:
            # As files before this condition: the hash of a certificate names it in its suspension.
            del form["wanted"]["trial"]
        form["labels"] = {key: value for key, value in form["labels"].items() if value is not None}
        content = {"schema": SCHEMA, **json.loads(json.dumps(form))}
        return content | {"sha256": _sha256(content)}

    @property
    def sha256(self) -> str:
        return str(self.to_json()["sha256"])

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Certificate:
        """Read the JSON form. :raises CertificateError: the field, what was found, what was expected"""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            schema = data.get("schema") if isinstance(data, Mapping) else type(data).__name__
            raise CertificateError(
                deferred("schema: found {found!r:.60}, expected {schema!r}", found=schema, schema=SCHEMA)
            )
        content = {key: value for key, value in data.items() if key != "sha256"}
        if data.get("sha256") != _sha256(content):
            raise CertificateError(
                deferred(
                    "sha256: found {value!r:.80}, expected {content}: the file was changed after it was "
                    "written. Certify anew",
                    value=data.get("sha256"),
                    content=_sha256(content),
                )
            )
        try:
            return _read(data)
        except (TrajectoryError, ScoreError, ValueError) as error:
            raise CertificateError(str(error)) from error


def read(path: Path) -> Certificate:
    """Read a certificate. :raises CertificateError: the file, the field, what was found, what was expected"""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CertificateError(
            deferred(
                "{path}: {strerror}; expected a certificate of spec-o3 certify", path=path, strerror=error.strerror
            )
        ) from error
    except (ValueError, RecursionError) as error:
        raise CertificateError(
            deferred(
                "{path}: found no JSON ({error}), expected a certificate of spec-o3 certify", path=path, error=error
            )
        ) from error
    try:
        return Certificate.from_json(data)
    except CertificateError as error:
        raise CertificateError(f"{path}: {error}") from error


def write(certificate: Certificate, path: Path) -> None:
    """Write a certificate atomically. :raises OSError: it cannot be written"""
    write_json(path, certificate.to_json())


def short_hash(spectrum_sha256: str) -> str:
    """Return the first 16 hexadecimal digits of a hash: among a million spectra two agree with probability 3e-8."""
    return spectrum_sha256[:16]


def _sha256(content: Mapping[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _read(data: Mapping[str, Any]) -> Certificate:
    policy, labels, requirements = (
        object_of(data, "policy"),
        object_of(data, "labels"),
        _requirements(object_of(data, "wanted")),
    )
    calibration = tuple(_p(value) for value in _list(data, "calibration"))
    known = None if data.get("calibration_yes") is None else _list(data, "calibration_yes")
    if known is not None and (len(known) != len(calibration) or not all(isinstance(entry, bool) for entry in known)):
        raise CertificateError(
            deferred(
                "calibration_yes: expected null, or true and false for {n_calibration} cases",
                n_calibration=len(calibration),
            )
        )
    return Certificate(
        task=text_of(data, "task"),
        prompt_sha256=text_of(data, "prompt_sha256"),
        policy=CertifiedPolicy(
            text_of(policy, "kind", "policy."),
            text_of(policy, "name", "policy."),
            object_of(policy, "settings", "policy."),
        ),
        samples=whole_of(data, "samples"),
        score=ScoreModel.from_json(object_of(data, "score")),
        surveys=tuple(str(entry) for entry in _list(data, "surveys")),
        snr=_pair(data, "snr"),
        medium=_medium(data),
        labels=LabelCounts(
            text_of(labels, "source", "labels."),
            *(whole_of(labels, name, "labels.") for name in ("n", "yes", "without")),
            *(_whole_or_none(labels, name, "labels.") for name in ("objects", "unknown")),
        ),
        sampling=one_of(data, "sampling", ("logged", "assumed random")),
        yes=_side(data, "yes", "YES"),
        no=_side(data, "no", "NO"),
        requirements=requirements,
        calibration=calibration,
        made_at=text_of(data, "made_at"),
        program=text_of(data, "program"),
        calibration_yes=None if known is None else tuple(known),
        spectra=tuple(str(entry) for entry in _list(data, "spectra")),
        evidence=evidence_from(data),
        trial=condition_from(data, requirements.trial),
    )


_MEDIA: tuple[Medium, ...] = ("vacuum", "air")


def _medium(data: Mapping[str, Any]) -> Medium | None:
    return None if data.get("medium") is None else one_of(data, "medium", _MEDIA)


def _side(data: Mapping[str, Any], key: str, verdict: Verdict) -> Side:
    side, where = object_of(data, key), f"{key}."
    one_of(side, "verdict", (verdict,), where)
    threshold = number_of(side, "threshold", where)
    if threshold is not None and not 0 <= threshold <= 1:
        raise CertificateError(
            deferred(
                "{where}threshold: found {threshold:g}, expected 0 to 1, or null", where=where, threshold=threshold
            )
        )
    return Side(
        verdict=verdict,
        threshold=threshold,
        n=whole_of(side, "n", where),
        errors=whole_of(side, "errors", where),
        upper=number_of(side, "upper", where),
        limit=_number(side, "limit", where),
        missing=_whole_or_none(side, "missing", where),
        refusal=text_of(side, "refusal", where),
    )


def _whole_or_none(data: Mapping[str, Any], key: str, where: str) -> int | None:
    return None if data.get(key) is None else whole_of(data, key, where)


def _requirements(data: Mapping[str, Any]) -> Requirements:
    where = "wanted."
    joint = data.get("joint")
    if not isinstance(joint, bool):
        raise CertificateError(
            deferred("{where}joint: found {joint!r:.60}, expected true or false", where=where, joint=joint)
        )
    return Requirements(
        yes=_number(data, "yes", where),
        no=_number(data, "no", where),
        delta=_number(data, "delta", where),
        joint=joint,
        method=one_of(data, "method", ("fixed", "anytime"), where),
        no_risk=one_of(data, "no_risk", ("omission", "missed"), where),
        label_noise=_number(data, "label_noise", where),
        trial=tuple(_verdict(entry) for entry in (_list(data, "trial", where) if "trial" in data else ())),
    )


def _verdict(value: object) -> Verdict:
    return one_of({"trial": value}, "trial", ("YES", "NO"), "wanted.")


def _list(data: Mapping[str, Any], key: str, where: str = "") -> list[Any]:
    value = data.get(key)
    if not isinstance(value, list):
        raise CertificateError(f"{where}{key}: found {value!r:.60}, expected a list")
    return value


def _number(data: Mapping[str, Any], key: str, where: str = "") -> float:
    value = number_of(data, key, where)
    if value is None:
        raise CertificateError(deferred("{where}{key}: found null, expected a number", where=where, key=key))
    return value


def _pair(data: Mapping[str, Any], key: str) -> tuple[float, float]:
    pair = _list(data, key)
    if len(pair) != 2:
        raise CertificateError(deferred("{key}: found {pair!r:.60}, expected [lowest, highest]", key=key, pair=pair))
    low, high = (_number({key: value}, key) for value in pair)
    return low, high


def _p(value: object) -> float:
    p = _number({"calibration": value}, "calibration")
    if not 0 <= p <= 1:
        raise CertificateError(deferred("calibration: found {p:g}, expected P(YES) from 0 to 1", p=p))
    return p
