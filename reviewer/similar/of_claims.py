"""Facts of a trace that need its spectrum: its claims compared with the data, as the hints do (``agent/hints``).

Only the lines and molecules that are claimed are measured. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.hints.claims import Claim, claims_of, compare
from agent.hints.evidence import Evidence, at_rest, evidence
from agent.lines import Line
from agent.lines.names import named
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from agent.trajectory.statements import text_of_step
from reviewer.similar.of_texts import sentences_of

_WRONG = {
    "two maxima": "claim: maxima",
    "broad": "claim: width",
    "narrow": "claim: width",
    "break": "claim: break",
}
_SEEN = re.compile(
    r"\b(?:clear(?:ly)?|visible|present|prominent|detected|seen|stands? out|stood out|obvious|unmistakable|evident|"
    r"appears?|strong)\b",
    re.IGNORECASE,
)
_NOT_STATED = re.compile(
    r"\b(?:no|not|nor|neither|without|lack\w*|absen\w+|if|whether|would|should|could|may|might|expect\w*|check\w*|next|"
    r"criteri\w+|emission|absorption|zoom)\b|n't\b|\?",
    re.IGNORECASE,
)


_NO_CLAIM = re.compile(
    r"\b(?:expected|would count against|criteria are|not measurable|look(?:ing)? at|turn to|test|after this|deserves)\b"
    r"|\([+−]\d|\((?:equivalent width|flux ratio|mean depth|FWHM|slope)\b",
    re.IGNORECASE,
)
"""Sentences that name features by their bounds, points or measured values, as the baseline does, or plan a zoom."""


def facts_of_claims(trajectory: Trajectory, spectrum: Spectrum) -> set[str]:
    """Return the names of the facts that hold, of those that begin with "claim: "."""
    written = map(text_of_step, trajectory.steps)  # not labels: they say what is looked for
    texts = [s for text in written for s in sentences_of(text) if not _NO_CLAIM.search(s)]
    claims = dict.fromkeys(claim for text in texts for claim in claims_of(text))
    seen = dict.fromkeys(name for text in texts for name in _called_visible(text))
    if not claims and not seen:
        return set()
    z = trajectory.redshift if spectrum.redshift is None else spectrum.redshift
    data = evidence(at_rest(spectrum, z or 0.0))
    wrong, agreeing = 0, 0
    found: set[str] = set()
    for claim in claims:
        verdict = compare(claim, data).verdict
        wrong += verdict == "contradicts"
        agreeing += verdict == "agrees"
        found.update(_fact(claim, verdict, data))
    states = {data.named(name).state for name in seen}
    if "none" in states:
        found.add("claim: line not there")
    if states & {"none", "undecided"}:
        found.add("claim: line unsupported")
    if wrong > 1:
        found.add("claim: several wrong")
    if agreeing > 1 and not wrong:
        found.add("claim: all agree")
    return found


def _fact(claim: Claim, verdict: str, data: Evidence) -> Iterator[str]:
    if claim.property in ("band", "break"):
        if verdict == "contradicts":
            present = "claim: bands not there" if claim.positive else "claim: bands denied"
            yield present if claim.property == "band" else "claim: break"
        return
    state = data.named(claim.subject).state
    if state == "undefined" and claim.positive:
        centre = data.named(claim.subject).line.at(data.spectrum.medium)
        wavelength = data.spectrum.wavelength
        if not wavelength[0] <= centre <= wavelength[-1]:
            yield "claim: line not covered"
    if state in ("none", "undecided") and claim.positive and claim.property in ("emission", "absorption"):
        yield f"claim: {claim.property} unsupported"
    if verdict != "contradicts":
        return
    if state == "none":
        yield "claim: line not there"
    elif claim.property in _WRONG:
        yield _WRONG[claim.property]
    elif not claim.positive:
        yield "claim: line denied"
    else:
        yield f"claim: {claim.property} for {state}"


def _called_visible(text: str) -> Iterator[str]:
    """Yield the lines that a sentence calls visible without saying whether in emission or absorption."""
    for sentence in sentences_of(text):
        if _SEEN.search(sentence) and not _NOT_STATED.search(sentence):
            yield from (entry.name for entry in named(sentence) if isinstance(entry, Line))
