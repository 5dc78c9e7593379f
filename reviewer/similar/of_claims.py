"""Facts of a trace that need its spectrum: its claims compared with the data, as the hints do (``agent/hints``).

Only the lines and molecules that are claimed are measured. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.hints.claims import Claim, claims_of, compare
from agent.hints.evidence import HOT, Evidence, LineEvidence, at_rest, evidence
from agent.measure.blends import LineMeasurement
from agent.measure.values import Measured
from agent.spectrum import Spectrum
from agent.trajectory import Think, Trajectory, Zoom
from agent.trajectory.statements import quoted_windows, text_of_step
from reviewer.similar.of_texts import (
    NEAR,
    SAME,
    edges_of_windows,
    overlap_of,
    sentences_of,
    wavelengths_of,
    whole_sentences_of,
)
from reviewer.similar.read_lines import Stated, stated_lines
from reviewer.similar.wordings import Reading, Wordings, masked

THERE = 3.0
"""σ of a line's height, and times the scatter of its neighbourhood, from which something is there."""
SHALLOW = 0.05
"""Of the continuum: a line below it is not strong."""

_WRONG = {
    "two maxima": "claim: maxima",
    "broad": "claim: width",
    "narrow": "claim: width",
    "break": "claim: break",
}
_NO_DATA = re.compile(r"\b(?:not measurable|no data|has data|have data|not covered)\b", re.IGNORECASE)
_NO_CLAIM = re.compile(
    r"\b(?:expected(?! (?:position|place|wavelength|location|spot))|"
    r"would count against|criteria are|look(?:ing)? at|turn to|test|after this|deserves)\b"
    r"|\([+−]\d|\((?:equivalent width|flux ratio|mean depth|FWHM|slope)\b",
    re.IGNORECASE,
)
"""Sentences that name features by their bounds, points or measured values, as the baseline does, or plan a zoom."""


@dataclass(frozen=True)
class Compared:
    """The claims of a trace, compared with its spectrum.

    :param facts: of claims about bands, the break, widths and maxima
    :param wrong: how many of these disagree with the spectrum; ``agreeing`` likewise
    :param readings: the statements about lines
    """

    facts: frozenset[str] = frozenset()
    wrong: int = 0
    agreeing: int = 0
    readings: tuple[Reading, ...] = ()

    def all_facts(self, wordings: Wordings | None = None) -> set[str]:
        """Return the names of the facts that hold, of those that begin with "claim: "."""
        names_of_facts, wrong, agreeing = set(self.facts), self.wrong, self.agreeing
        for reading in self.readings:
            if reading.facts and wordings is not None and wordings.doubtful(reading):
                names_of_facts.add(f"claim: doubtful {reading.sort}")
                continue
            names_of_facts |= reading.facts
            wrong += bool(reading.facts & _CONTRADICTIONS)
            agreeing += reading.disagrees is False
        if wrong > 1:
            names_of_facts.add("claim: several wrong")
        if agreeing > 1 and not wrong:
            names_of_facts.add("claim: all agree")
        return names_of_facts


def compared(trajectory: Trajectory, spectrum: Spectrum) -> Compared:
    """Compare the claims of a trace with its spectrum."""
    texts = list(_sentences(trajectory))
    claims = dict.fromkeys(claim for text in texts for claim in claims_of(text))
    others = [claim for claim in claims if claim.property not in ("emission", "absorption")]
    lines: dict[Stated, str] = {}
    for text in texts:
        for stated in _of_own_wavelength(text, trajectory):
            lines.setdefault(stated, text)
    if not others and not lines:
        return Compared()
    z = trajectory.redshift if spectrum.redshift is None else spectrum.redshift
    data = evidence(at_rest(spectrum, z or 0.0))
    verdicts = [(claim, compare(claim, data).verdict) for claim in others]
    return Compared(
        frozenset(name for claim, verdict in verdicts for name in _fact(claim, verdict, data)),
        sum(verdict == "contradicts" for _, verdict in verdicts),
        sum(verdict == "agrees" for _, verdict in verdicts),
        tuple(_read(stated, masked(text), data) for stated, text in lines.items()),
    )


def _read(stated: Stated, text: str, data: Evidence) -> Reading:
    names = frozenset(_of_line(stated, data))
    state = data.line(stated.line).state
    is_present = state in ("emission", "absorption")
    if not stated.is_present:
        clear = is_present or state == "none"
        return Reading("denial", text, "claim: line denied" in names if clear else None, names)
    if is_present and stated.sign:
        return Reading("sign", text, stated.sign != state, names)
    return Reading("presence", text, not is_present if is_present or names & _NOT_THERE else None, names)


def _sentences(trajectory: Trajectory) -> Iterator[str]:
    """Yield the sentences that may claim something, parted at semicolons: not labels, which say what is looked for, and
    none that announces the window of a later tool call.
    """
    zooms = [(at, zoom.window) for at, zoom in enumerate(trajectory.steps) if isinstance(zoom, Zoom)]
    for at, step in enumerate(trajectory.steps):
        later = [w for place, w in zooms if w is not None and place > at] if isinstance(step, Think) else []
        before = [w for place, w in zooms if w is not None and place < at]
        for whole in whole_sentences_of(text_of_step(step)):
            quoted = [quote.window for quote in quoted_windows(whole)]
            announced = [w for w in quoted if any(overlap_of(w, other) >= SAME for other in later)]
            if any(not any(overlap_of(w, other) >= SAME for other in before) for w in announced):
                continue
            if not _NO_DATA.search(whole):
                yield from (part for part in sentences_of(whole) if not _NO_CLAIM.search(part))


def _of_own_wavelength(sentence: str, trajectory: Trajectory) -> Iterator[Stated]:
    """Yield what a sentence states of lines, without those to which it gives a wavelength that is not their own."""
    values, _ = wavelengths_of(sentence, edges_of_windows(trajectory))
    for stated in stated_lines(sentence):
        own = stated.line.at(trajectory.medium)
        if all(abs(value / own - 1.0) < NEAR for value in values):
            yield stated


_CONTRADICTIONS = {
    *("claim: emission for absorption", "claim: absorption for emission", "claim: line not there"),
    "claim: line denied",
}
_NOT_THERE = {
    *("claim: line not there", "claim: nothing there", "claim: line only named", "claim: hot line in a cool star"),
    *("claim: forbidden line alone", "claim: never in absorption"),
}
"""Facts of a line that is not there for certain."""


def _of_line(stated: Stated, data: Evidence) -> Iterator[str]:
    """Yield the facts of a statement about a line."""
    evidence = data.line(stated.line)
    if not stated.is_present:
        if evidence.state in ("emission", "absorption") and stated.sign in ("", evidence.state):
            yield "claim: line denied"
        return
    if evidence.state == "undefined":
        centre, wavelength = evidence.line.at(data.spectrum.medium), data.spectrum.wavelength
        if not wavelength[0] <= centre <= wavelength[-1]:
            yield "claim: line not covered"
        return
    if stated.sign and evidence.state in ("emission", "absorption"):
        if stated.sign != evidence.state:
            yield f"claim: {stated.sign} for {evidence.state}"
        return
    if evidence.state in ("emission", "absorption"):
        return
    if not stated.seen:
        if abs(_height(evidence)) < THERE:
            yield "claim: line only named"
        return
    if evidence.state == "none":
        yield "claim: line not there"
    yield f"claim: {stated.sign or 'line'} unsupported"
    unlikely = set(_unlikely(evidence, data))
    yield from unlikely
    height = _height(evidence) * {"emission": 1, "absorption": -1, "": 0}[stated.sign] or abs(_height(evidence))
    if abs(height) < THERE:
        yield "claim: nothing there"
    elif height < 0 and not unlikely:
        yield "claim: opposite sign"
    if stated.strong and (height < 2 * THERE or _shallow(evidence)):
        yield "claim: weak called strong"
    if stated.sign == "absorption" and evidence.line.kind == "emission":
        yield "claim: never in absorption"


def _unlikely(evidence: LineEvidence, data: Evidence) -> Iterator[str]:
    """Yield why a line is not in such a spectrum: what is at its wavelength is something else, of either sign."""
    if data.cool and evidence.line.species in HOT:
        yield "claim: hot line in a cool star"
    if evidence.line.name.startswith("[") and not _hydrogen_emits(data):
        yield "claim: forbidden line alone"


def _height(evidence: LineEvidence) -> float:
    """Return the height of what is at a line, in units of its error or of the scatter around it, whichever is larger:
    positive in emission, negative in absorption; 0 where the nearest peak is somewhere else.
    """
    measured = evidence.measurement
    if not isinstance(measured, LineMeasurement) or measured.at_limit or evidence.off_centre:
        return 0.0
    amplitude = measured.amplitude
    unit = max(amplitude.error, measured.structure)
    return amplitude.value / unit if unit > 0 else 0.0


def _shallow(evidence: LineEvidence) -> bool:
    measured = evidence.measurement
    return (
        isinstance(measured, LineMeasurement)
        and isinstance(measured.depth, Measured)
        and abs(measured.depth.value) < SHALLOW
    )


def _hydrogen_emits(data: Evidence) -> bool:
    """Return whether Hα or Hβ is in emission, or may be: the gas of a nebula emits both."""
    states = [data.named(name).state for name in ("Hα", "Hβ")]
    return "emission" in states or all(state == "undefined" for state in states)


def _fact(claim: Claim, verdict: str, data: Evidence) -> Iterator[str]:
    """Yield the fact of a claim about a band, the break, or the width or maxima of a line."""
    if verdict != "contradicts":
        return
    if claim.property == "band":
        yield "claim: bands not there" if claim.positive else "claim: bands denied"
    elif claim.property != "break" and data.named(claim.subject).state == "none":
        yield "claim: line not there"
    else:
        yield _WRONG[claim.property]
