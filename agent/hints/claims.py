"""Claims of a thought or a label about a spectrum, each compared with the data.

A claim names a line, a molecule or the 4000 Å break and states a property: emission, absorption, broad, narrow, two
maxima, a band. Sentences about what to expect or to check are not claims. English only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from agent.hints.evidence import Evidence, LineEvidence
from agent.language import deferred, joined
from agent.lines import Line
from agent.lines.names import named, species_named
from agent.measure import Measured, Undefined, coverage
from agent.measure.molecules import BREAK_ABOVE, NO_BREAK_BELOW, break_4000
from agent.measure.peaks import TwoMaxima
from agent.measure.values import number, plus_minus

Property = Literal["emission", "absorption", "broad", "narrow", "two maxima", "band", "break"]
Verdict = Literal["agrees", "contradicts", "cannot be told"]

MOLECULES = ("TiO", "C2", "CN", "CaH", "ZrO", "VO")
BROAD = {"emission": 600.0, "absorption": 1000.0}
"""FWHM in km/s above which a line is broad: gas in a disc, and the pressure-broadened lines of dense stars."""
ONE_MAXIMUM = 30.0  # σ of a line's height from which one maximum is stated as a fact
BALMER = ("Hα", "Hβ")  # what a claim about "the Balmer lines" is compared with


@dataclass(frozen=True)
class Claim:
    """A statement about one subject: the name of a line, a molecule, or "4000 Å break"."""

    subject: str
    property: Property
    positive: bool

    def __str__(self) -> str:
        words = {"band": "bands", "break": ""}.get(self.property, self.property)
        return f"{'' if self.positive else 'no '}{self.subject} {words}".strip()

    def shown(self) -> str:
        """Return the same words as a message."""
        present, absent = _SHOWN[self.property]
        return deferred(present if self.positive else absent, subject=self.subject)


_SHOWN: dict[Property, tuple[str, str]] = {
    "emission": (deferred("{subject} emission"), deferred("no {subject} emission")),
    "absorption": (deferred("{subject} absorption"), deferred("no {subject} absorption")),
    "broad": (deferred("{subject} broad"), deferred("no {subject} broad")),
    "narrow": (deferred("{subject} narrow"), deferred("no {subject} narrow")),
    "two maxima": (deferred("{subject} two maxima"), deferred("no {subject} two maxima")),
    "band": (deferred("{subject} bands"), deferred("no {subject} bands")),
    "break": (deferred("4000 Å break"), deferred("no 4000 Å break")),
}


@dataclass(frozen=True)
class Compared:
    """A claim, what the data say about it, and the number or the reason."""

    claim: Claim
    verdict: Verdict
    reason: str


_SENTENCE = re.compile(
    r"(?<=[.;!?])\s+|\n+|(?<=\))\s*,\s+|,\s+(?=but\b|while\b|whereas\b|although\b|with no\b|and no\b|yet\b)"
)
_NOT_A_CLAIM = re.compile(
    r"\b(if|whether|would|should|could|may|might|can be|expect\w*|typical\w*|usual\w*|normally|check\w*|look(ing)? for|"
    r"let me|need to|next|possibl[ey]|perhaps|maybe|likely|suggestive|search\w*|zoom\w*|inspect\w*|verify|"
    r"confirm whether|characteristics?|hallmark|guide|criteri\w+|require[sd]?|bound|met|wanted|against it|unless|"
    r"measurable)\b|\?",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(no|not|without|lacks?|lacking|absent|absence|none|nor|neither|never|missing|fails? to|devoid)\b|n't\b|"
    r"\bfree of\b",
    re.IGNORECASE,
)
_PROPERTIES: tuple[tuple[Property, re.Pattern[str]], ...] = (
    ("two maxima", re.compile(r"double[- ]?peak|two (\w+ )?(peaks|maxima)|twin peaks|two-peaked", re.IGNORECASE)),
    ("broad", re.compile(r"\b(broad(ened)?|wide)\b", re.IGNORECASE)),
    ("narrow", re.compile(r"\b(narrow|unresolved)\b", re.IGNORECASE)),
    ("emission", re.compile(r"\b(emission|emit\w*)\b", re.IGNORECASE)),
    ("absorption", re.compile(r"\babsor\w+\b|\btrough\b", re.IGNORECASE)),
)
_BAND = re.compile(
    r"\bband|\bhead|\bswan\b|\bmolecul|\babsorption|\bpresent|\bstrong|\bdeep|\bclear|\bprominent|\bsystem", re.I
)
_BREAK = re.compile(r"\b4000\s*(å|angstrom|a)?[\s-]*break\b|\bd4000\b|\bdn\(4000\)", re.IGNORECASE)


def claims_of(text: str) -> tuple[Claim, ...]:
    """Return the claims of a text, in its order, each once."""
    claims: list[Claim] = []
    for sentence in _SENTENCE.split(text):
        if sentence and not _NOT_A_CLAIM.search(sentence):
            claims += _claims_of_sentence(sentence)
    return tuple(dict.fromkeys(claims))


def _claims_of_sentence(sentence: str) -> list[Claim]:
    positive = _NEGATION.search(sentence) is None
    if _BREAK.search(sentence):
        return [Claim("4000 Å break", "break", positive)]
    species = species_named(sentence)
    claims: list[Claim] = []
    molecules = [m for m in MOLECULES if m in species]
    if molecules and (_BAND.search(sentence) or not positive):
        claims += [Claim(m, "band", positive) for m in molecules]
    subjects = [entry.name for entry in named(sentence) if isinstance(entry, Line)]
    if not subjects and "H I" in species and re.search(r"balmer", sentence, re.IGNORECASE):
        subjects = list(BALMER)
    stated = [name for name, pattern in _PROPERTIES if pattern.search(sentence)]
    if {"emission", "absorption"} <= set(stated) or {"broad", "narrow"} <= set(stated):
        return claims  # a sentence about two components, or two lines with different properties
    if not positive and len(stated) > 1:
        # "no broad emission": what is denied is the combination, and the more special word carries it.
        stated = [name for name in stated if name in ("two maxima", "broad", "narrow")] or stated
    return [*claims, *(Claim(subject, name, positive) for subject in subjects for name in stated)]


def compare(claim: Claim, data: Evidence) -> Compared:
    """Compare a claim with the spectrum."""
    if claim.property == "break":
        return _break(claim, data)
    if claim.property == "band":
        return _band(claim, data)
    line_evidence = data.named(claim.subject)
    if line_evidence.state == "undefined":
        return Compared(claim, "cannot be told", line_evidence.reason)
    if claim.property in ("emission", "absorption"):
        return _sign(claim, line_evidence)
    if claim.property == "two maxima":
        return _two(claim, line_evidence, data)
    return _width(claim, line_evidence)


def _decided(claim: Claim, true: bool, reason: str) -> Compared:
    return Compared(claim, "agrees" if true is claim.positive else "contradicts", reason)


def _sign(claim: Claim, line_evidence: LineEvidence) -> Compared:
    if line_evidence.state == "undecided":
        return Compared(claim, "cannot be told", line_evidence.reason)
    return _decided(claim, line_evidence.state == claim.property, summary(line_evidence))


def summary(line_evidence: LineEvidence) -> str:
    """Describe a line that was found, or the limit: "in emission, EW −46.3 ± 1.2 Å"."""
    measured = line_evidence.detection
    if measured is None:
        return line_evidence.reason
    width = measured.width
    size = deferred("no continuum to compare with") if isinstance(width, Undefined) else f"EW {plus_minus(width)}"
    if line_evidence.state == "emission":
        return deferred("in emission, {size}", size=size)
    return deferred("in absorption, {size}", size=size)


def _width(claim: Claim, line_evidence: LineEvidence) -> Compared:
    measured = line_evidence.detection
    if measured is None:
        if line_evidence.state == "none" and claim.positive:
            return Compared(claim, "contradicts", line_evidence.reason)
        return Compared(claim, "cannot be told", line_evidence.reason)
    bound, fwhm = BROAD[line_evidence.state], measured.fwhm
    text = deferred("FWHM {fwhm}, broad from {bound} km/s on", fwhm=plus_minus(fwhm), bound=number(bound))
    is_broad: bool | None = None
    if fwhm.value - 2 * fwhm.error > bound and measured.resolved:
        is_broad = True
    elif fwhm.value + 2 * fwhm.error < bound:
        is_broad = False
    elif measured.instrument is not None and measured.instrument > bound:
        text = deferred("the spectrograph's own FWHM is {fwhm} km/s", fwhm=number(measured.instrument))
    if is_broad is None:
        return Compared(claim, "cannot be told", text)
    return _decided(claim, is_broad is (claim.property == "broad"), text)


def _two(claim: Claim, line_evidence: LineEvidence, data: Evidence) -> Compared:
    maxima = data.two_maxima(line_evidence.line)
    if isinstance(maxima, TwoMaxima):
        text = deferred("two maxima {separation} apart", separation=plus_minus(maxima.separation))
        return _decided(claim, True, text)
    measured = line_evidence.detection
    if isinstance(maxima, Undefined) or (measured is None and line_evidence.state != "none"):
        return Compared(
            claim, "cannot be told", maxima.reason if isinstance(maxima, Undefined) else line_evidence.reason
        )
    if measured is None or not measured.emission:
        return _decided(claim, False, summary(line_evidence))
    sure = measured.amplitude.significance > ONE_MAXIMUM and measured.fwhm.value < BROAD["emission"]
    if not measured.resolved or sure:
        blend, fwhm = ", ".join(line.name for line in measured.companions), f"FWHM {plus_minus(measured.fwhm)}"
        text = deferred("one maximum with {blend}", blend=blend) if blend else deferred("one maximum")
        return _decided(claim, False, joined((text, fwhm), ", "))
    return Compared(claim, "cannot be told", deferred("no dip of 3σ between two maxima"))


def _band(claim: Claim, data: Evidence) -> Compared:
    bands = data.molecule(claim.subject)
    if bands is None:
        return Compared(claim, "cannot be told", deferred("no index is defined"))
    values = [(name, value) for name, value in bands.indices if isinstance(value, Measured)]
    text = ", ".join(f"{name} {plus_minus(value)}" for name, value in values)
    text = text or deferred("its indices are not covered")
    if bands.state == "undecided":
        return Compared(claim, "cannot be told", text)
    return _decided(claim, bands.state == "present", text)


def _break(claim: Claim, data: Evidence) -> Compared:
    if coverage(data.spectrum, (3850.0, 4100.0)) < 0.9:
        return Compared(claim, "cannot be told", deferred("3850–4100 Å is not covered"))
    value = break_4000(data.spectrum)
    if isinstance(value, Undefined):
        return Compared(claim, "cannot be told", value.reason)
    text = f"Dn(4000) {plus_minus(value)}"
    if value.value - 2 * value.error > BREAK_ABOVE:
        return _decided(claim, True, text)
    if value.value + 2 * value.error < NO_BREAK_BELOW:
        return _decided(claim, False, text)
    return Compared(claim, "cannot be told", text)
