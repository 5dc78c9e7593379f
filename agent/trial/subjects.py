"""What a tool call is about, and what a text states about it.

A subject is a line or a molecular band that a trial can edit. It comes from the label of the call: a feature of the
task, else a line or band of the lists; without one, from the claims of the thought after the call.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent.hints.claims import MOLECULES, Claim, claims_of
from agent.hints.evidence import evidence
from agent.hints.measuring import name_of
from agent.language import deferred
from agent.lines import Band, Line, Medium, bands, lines
from agent.lines.names import named, species_named
from agent.measure import LineMeasurement, Undefined, Window, coverage
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task
from agent.trajectory.steps import Zoom

Sense = Literal["emission", "absorption", "band"]

REACH = 1500.0  # km/s on either side of a line that no feature of the task describes
SPEED_OF_LIGHT = 299_792.458
SIDE = 30.0  # Å, the stretch before the head of a band from which its pseudo-continuum is taken


@dataclass(frozen=True)
class Subject:
    """A line or a band. All windows are Å at rest, in the medium of the spectrum.

    :param name: as in the lists ("Hα", "TiO 7054"), or the feature's name if the lists have none
    :param sense: what its presence means: a line in emission or in absorption, or a band
    :param span: the stretch that it covers; ``side_bands``: where its continuum is taken
    :param line: of the list, None for a band
    :param species: of the line or band, "" if not known
    :param feature: of the task, in the medium of the spectrum; None if the task does not measure it
    """

    name: str
    sense: Sense
    span: Window
    side_bands: tuple[Window, ...]
    line: Line | None = None
    species: str = ""
    feature: Feature | None = None

    def is_in(self, window: Window) -> bool:
        """Return whether the window shows the middle of the subject."""
        return window[0] <= sum(self.span) / 2 <= window[1]


def subject_of(zoom: Zoom, thought: str, at_rest: Spectrum, task: Task) -> Subject | None:
    """Return what a tool call is about; None if neither its label nor the thought after it names a line or band.

    A feature whose absence is what the task asks for ("CaH 6385 weak") is no subject: it has nothing to remove.

    :param thought: the text of the turn after the call
    :param at_rest: the spectrum at rest (``agent.measure.rest``)
    """
    medium = at_rest.medium
    subjects = subjects_of_task(task, medium)
    if zoom.measures:
        of_label = [s for s in subjects if s.feature is not None and name_of(s.feature) == zoom.label]
    else:
        of_label = [subject for subject in subjects if _is_named(subject, zoom.label)]
    if of_label:
        # The feature that the spectrum shows, if the label names a line both in emission and in absorption.
        return min(of_label, key=lambda subject: is_there(subject, at_rest) is not True)
    if any(f.name in zoom.label for f in task.features if _is_absence(f)):
        return None
    entries: Sequence[Line | Band] = named(zoom.label)
    if not entries and (species := species_named(zoom.label)):
        of_species = [subject for subject in subjects if subject.species in species]
        if of_species:
            return min(of_species, key=lambda of_specy: zoom.window is None or not of_specy.is_in(zoom.window))
        known: tuple[Line | Band, ...] = (*lines(), *bands())
        entries = [e for e in known if e.species in species and e.major]
    claims = claims_of(thought)
    if not entries:
        entries = [e for claim in claims for e in _entries_of(claim)]
    within = [e for e in entries if _inside(zoom, e, medium)] or list(entries)
    if not within:
        return None
    if isinstance(within[0], Band):
        return _of_band(within[0], medium)
    return _of_line(within[0], _sense_of(within[0], zoom.label, claims, at_rest), at_rest, task)


def subjects_of_task(task: Task, medium: Medium) -> list[Subject]:
    """Return the features of a task that can be edited, as subjects, in the order of the task."""
    return [_of_feature(f.in_medium(medium)) for f in task.features if _can_be_edited(f)]


def _is_named(subject: Subject, label: str) -> bool:
    """Return whether a label names the feature of the subject, and not its absence or a comparison of it."""
    if subject.feature is None:
        return False
    return bool(re.search(rf"(?<!no ){re.escape(subject.feature.name)}(?! (weak|strong))", label))


def is_there(subject: Subject, at_rest: Spectrum) -> bool | None:
    """Return whether the spectrum shows the subject; None if it cannot be measured or is not decided."""
    if subject.feature is not None:
        measured = evidence(at_rest).feature(subject.feature)
        return None if isinstance(measured, Undefined) else subject.feature.is_present(measured.value)
    if coverage(at_rest, subject.span) < 0.5:
        return None
    if subject.line is not None:
        state = evidence(at_rest).line(subject.line).state
        return None if state in ("undecided", "undefined") else state == subject.sense
    molecule = evidence(at_rest).molecule(subject.species)
    return None if molecule is None or molecule.state == "undecided" else molecule.state == "present"


def states(thought: str, subject: Subject, later: str = "") -> bool | None:
    """Return whether a text states that the subject is there (True), that it is not (False), or neither (None).

    A text that states both counts as True: it still claims the subject. The sentences of the rule-based baseline on a
    feature of the task are read as what they are; everything else is read by ``agent.hints.claims``.

    :param thought: the thought right after the tool call
    :param later: all later text. What it says of a molecule after other zooms is not about one of its bands
    """
    stated = _of_scorecard(f"{thought}\n{later}", subject)
    if stated is None:
        texts = ((thought, True), (later, subject.sense != "band"))
        claims = [(claim, of_species) for text, of_species in texts for claim in claims_of(text)]
        readings = (_reading(claim, subject, of_species) for claim, of_species in claims)
        stated = [reading for reading in readings if reading is not None]
    return None if not stated else any(stated)


def undecidable(subject: Subject, at_rest: Spectrum, strength: float | None = None) -> str:
    """Return why the noise hides whether the subject is there, as a clause; "" if it does not.

    The bound from which the task calls a feature present must be farther than 2σ from what is measured without it.

    :param strength: of an injection (``agent.trial.typical.Typical``): then the bound must be farther than 2σ from this
        instead
    """
    feature = subject.feature
    if feature is None:
        return ""
    measured = evidence(at_rest).feature(feature)
    if isinstance(measured, Undefined):
        return measured.reason
    bound = feature.below if feature.above is None else feature.above
    if feature.above is not None and feature.below is not None:
        bound = min(feature.above, feature.below, key=abs)
    value = _NOTHING[feature.quantity] if strength is None else _as_measured(strength, subject, feature)
    distance = abs(value - (bound or 0.0))
    if distance > 2 * measured.error:
        return ""
    return deferred(
        "its error of {error:.2g} hides whether it passes the bound {bound:g}", error=measured.error, bound=bound
    )


def _as_measured(strength: float, subject: Subject, feature: Feature) -> float:
    """Return the strength of an injection in the quantity of the feature: a mean depth is a share of the continuum."""
    if feature.quantity != "depth":
        return strength
    return 1.0 - strength if subject.sense == "band" else strength / (feature.span[1] - feature.span[0])


_QUANTITY = "equivalent width|FWHM|mean depth|flux ratio"
_VERDICTS = {
    "yes": True,
    "probably yes": True,
    "no": False,
    "probably no": False,
    "too close to decide": None,
    "is": True,
    "probably is": True,
    "is not": False,
    "probably is not": False,
    "is too close to decide": None,
}


def _of_scorecard(text: str, subject: Subject) -> list[bool] | None:
    """Return what the baseline's sentences state about the feature of a subject; None without such a sentence.

    Baselines before version 4 wrote the points in brackets behind the verdict.
    A sentence on the measurement goes before the lists of what counts for and against, which name a feature that is
    too close to decide as if it were there.
    """
    if subject.feature is None:
        return None
    name = re.escape(subject.feature.name)
    judged = rf"(?<!\w){name}: (?:{_QUANTITY}) [^;:]*?(?:: |; it )({'|'.join(_VERDICTS)})(?=\.| \()"
    verdicts = [_VERDICTS[match] for match in re.findall(judged, text)]
    if verdicts:
        return [verdict for verdict in verdicts if verdict is not None]
    listed = rf"(?<!\w)(no )?{name} \((?:[+−]\d|(?:{_QUANTITY}) )"
    stated = [match[1] is None for match in re.finditer(listed, text, re.IGNORECASE)]
    return stated or None


def _reading(claim: Claim, subject: Subject, of_species: bool) -> bool | None:
    """Return what a claim states about a subject; None if it is about something else."""
    if subject.sense == "band":
        about = claim.property == "band" and claim.subject == subject.species and of_species
        return claim.positive if about else None
    if claim.subject != subject.name:
        return None
    if claim.property == subject.sense:
        return claim.positive
    if claim.property in ("emission", "absorption"):
        return False if claim.positive else None
    if claim.property == "two maxima" and claim.positive:
        return subject.sense == "emission"
    return None


_NOTHING = {"equivalent_width": 0.0, "depth": 0.0, "ratio": 1.0}
"""What is measured, by quantity, where there is no line or band."""


def _can_be_edited(feature: Feature) -> bool:
    """Return whether a feature is a line or band whose removal makes it absent."""
    nothing = _NOTHING.get(feature.quantity)
    if nothing is None or not feature.side_bands or feature.is_present(nothing):
        return False
    # "Present" must mean more of it, not less.
    return not (feature.quantity == "ratio" and feature.below is None)


def _is_absence(feature: Feature) -> bool:
    """Return whether a feature counts as present where there is no band: "CaH 6385 weak"."""
    return feature.quantity == "ratio" and feature.is_present(1.0)


def _of_feature(feature: Feature) -> Subject:
    if feature.kind == "line" and feature.quantity in ("equivalent_width", "depth"):
        known = lines()
        line = next((e for w in feature.wavelengths for e in known if abs(w - e.at(feature.medium)) < 1.5), None)
        sense: Sense = "emission" if feature.below is not None and feature.below <= 0 else "absorption"
        name = feature.name if line is None else line.name
        species = "" if line is None else line.species
        return Subject(name, sense, feature.span, feature.side_bands, line, species, feature)
    species = next((m for m in MOLECULES if m in species_named(feature.name)), "")
    return Subject(feature.name, "band", feature.span, feature.side_bands, None, species, feature)


def _of_band(band: Band, medium: Medium) -> Subject:
    lo, hi = band.window(medium)
    head = band.at(medium)
    before = (head - SIDE, head - 3.0) if band.shading == "red" else (head + 3.0, head + SIDE)
    after = (hi, hi + SIDE) if band.shading == "red" else (lo - SIDE, lo)
    return Subject(band.name, "band", (lo, hi), (before, after), None, band.species)


def _of_line(line: Line, sense: Sense, at_rest: Spectrum, task: Task) -> Subject:
    """Return a line as a subject: the feature of the task with this sense, or the line alone. Its stretch is that in
    which the task measures the line, even if for another feature ("Hγ weak"); otherwise what the line covers.
    """
    centre = line.at(at_rest.medium)
    features = [f.in_medium(at_rest.medium) for f in task.features if f.kind == "line" and f.side_bands]
    of_line = [f for f in features if abs(f.wavelengths[0] - centre) < 1.5]
    for subject in (_of_feature(f) for f in of_line if _can_be_edited(f)):
        if subject.line == line and subject.sense == sense:
            return subject
    if of_line:
        return Subject(line.name, sense, of_line[0].span, of_line[0].side_bands, line, line.species)
    measured = evidence(at_rest).line(line).detection
    reach = max(REACH, 1.5 * measured.fwhm.value if isinstance(measured, LineMeasurement) else 0.0)
    half = centre * reach / SPEED_OF_LIGHT
    sides = ((centre - 2.2 * half, centre - half), (centre + half, centre + 2.2 * half))
    return Subject(line.name, sense, (centre - half, centre + half), sides, line, line.species)


def _sense_of(line: Line, label: str, claims: Sequence[Claim], at_rest: Spectrum) -> Sense:
    """Return the sense in which a text speaks of a line: what it claims, else what the label of the call names, else
    what it denies; without any of these the sense that is measured, or is usual.
    """
    for claim in claims:
        if claim.subject == line.name and claim.positive:
            if claim.property in ("emission", "absorption"):
                return "emission" if claim.property == "emission" else "absorption"
            if claim.property == "two maxima":
                return "emission"
    named_senses: list[Sense] = [sense for sense in ("emission", "absorption") if sense in label.lower()]
    if len(named_senses) == 1:
        return named_senses[0]
    for claim in claims:
        if claim.subject == line.name and claim.property in ("emission", "absorption"):
            return "emission" if claim.property == "emission" else "absorption"
    measured = evidence(at_rest).line(line).measurement
    if isinstance(measured, LineMeasurement) and measured.stands_out:
        return "emission" if measured.emission else "absorption"
    return "absorption" if line.kind == "absorption" else "emission"


def _entries_of(claim: Claim) -> list[Line | Band]:
    entries: list[Line | Band] = [line for line in lines() if line.name == claim.subject]
    return entries or [band for band in bands() if band.species == claim.subject]


def _inside(zoom: Zoom, entry: Line | Band, medium: Medium) -> bool:
    window = zoom.window
    return window is not None and window[0] <= entry.at(medium) <= window[1]
