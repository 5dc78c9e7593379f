"""The ``measure`` tool: one line, band or index as a sentence with its number, in the words of the hints.

The model reads the same number that the page shows a reviewer, and how often such a finding is right. It is English
and never translated: it is part of a trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache

import numpy as np

from agent import tool
from agent.hints import Hint, measurement
from agent.hints.claims import Claim, compare
from agent.hints.disturbances import disturbed, faults_in
from agent.hints.view import View, view_of
from agent.lines import Band, Index, Line, bands, indices, lines
from agent.lines.names import named, species_named
from agent.measure import Measured, Window, band_index
from agent.measure.blends import AT_LEAST, REACH, WIDTH_REACH
from agent.measure.pixels import shown
from agent.measure.profile import SPEED_OF_LIGHT
from agent.measure.values import number, plus_minus
from agent.spectrum import Spectrum
from agent.tasks import Feature
from agent.tool import MAX_TEXT, Observation
from agent.trajectory import Zoom

HALF_WIDTH = 0.005  # of the wavelength: where an undetected line is searched for
AIR_OR_VACUUM = 2.6  # Å; within it a wavelength is that of a listed line of the ion, in the one medium or the other
SAME_LINE = 1.5  # Å; within it a feature of a task is the listed line
MOST_NAMES = 6
BREAK = "4000 Å break"
ERRORS = (
    "Errors are 1σ of the pixel noise; the flux calibration and the wavelength scale (some 10 km/s) are not in them."
)
_ION = re.compile(r"\[?[A-Z][a-z]? ?[IVX]{1,4}\]?|[A-Z][a-z]?")
_STATES = {"none": "Absent", "no band": "Absent", "undefined": "Not measured", "undecided": "Not certain"}
_STATES |= {"break": "Present", "index": "Measured"}

Subject = Line | Band | Index | str
"""What is measured; a text is ``BREAK``."""


class _Unknown(Exception):
    """The arguments name nothing that can be measured; the text says why."""


def call(spectrum: Spectrum, arguments: object) -> Observation:
    """Answer one call of ``measure`` as the model wrote it: never a picture, and nothing is raised.

    ``arguments`` is the parsed JSON of the call, of any type. Wavelengths in the answer are in the frame and medium of
    the tool's pictures. ``ok`` is False only where the arguments name nothing known.
    """
    frame, z = tool.frame_of(spectrum)
    try:
        text, ok = _answer(spectrum, *_subject(spectrum, arguments)), True
    except _Unknown as unknown:
        text, ok = f"Error: {unknown}", False
    return Observation(text[:MAX_TEXT], None, ok, None, frame, z)


def _subject(spectrum: Spectrum, arguments: object) -> tuple[Subject, str]:
    """Return what the arguments name, and a remark on it."""
    if not isinstance(arguments, Mapping):
        raise _Unknown(f"found {type(arguments).__name__}, expected an object with feature, or wavelength and element.")
    wavelength, feature = arguments.get("wavelength"), arguments.get("feature")
    if feature is None and wavelength is not None:
        return _line_at(spectrum, wavelength, arguments.get("element"))
    if not isinstance(feature, str) or not feature.strip():
        raise _Unknown(f"feature: found {feature!r:.60}, expected the name of a line, a band or an index.")
    return _by_name(feature.strip()), ""


def _by_name(name: str) -> Subject:
    if (exact := _known().get(_plain(name))) is not None:
        return exact
    entries: tuple[Line | Band, ...] = named(name)
    if len(entries) == 1:
        return entries[0]
    species = species_named(name)
    listed: tuple[Line | Band, ...] = (*lines(), *bands())
    same = entries or tuple(e for e in listed if e.species in species)
    if same:
        names = [entry.name for entry in sorted(same, key=lambda e: not e.major)][:MOST_NAMES]
        raise _Unknown(f"{name[:60]!r} can be several, name one of them: {', '.join(names)}.")
    near = get_close_matches(_plain(name), _known(), MOST_NAMES, 0.5) or ["halpha", "heii4686", "tio7054", "tio5"]
    names = list(dict.fromkeys(_name(_known()[key]) for key in near))
    raise _Unknown(
        f"no line, band or index {name[:60]!r} is known. Nearest names: {', '.join(names)}. For another line give "
        "wavelength and element."
    )


@cache
def _known() -> Mapping[str, Subject]:
    """Return everything that can be measured, by its name in plain letters."""
    listed: tuple[Line | Band, ...] = (*lines(), *bands())
    known: dict[str, Subject] = {_plain(BREAK): BREAK, "d4000": BREAK}
    known |= {_plain(name): entry for entry in listed for name in (*entry.aliases, entry.name)}
    return known | {_plain(name): index for name, index in indices().items()}


def name_of(feature: Feature) -> str:
    """Return the name by which a feature of a task is measured: its own or that of its index, else that of the listed
    line at its wavelength; "" if there is none.
    """
    plain = re.sub(r"\s*\(.*\)", "", feature.name)
    names = () if feature.kind == "line" else (feature.name, *re.findall(r"\((.*?)\)", feature.name), plain)
    for key in map(_plain, names):
        if key in _known():
            return _name(_known()[key])
    principal = feature.wavelengths[0] if feature.wavelengths else 0.0
    return next((line.name for line in lines() if abs(line.at(feature.medium) - principal) < SAME_LINE), "")


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.lower())


def _name(subject: Subject) -> str:
    return subject if isinstance(subject, str) else subject.name


def _line_at(spectrum: Spectrum, wavelength: object, element: object) -> tuple[Line, str]:
    """Return the line of that ion nearest to a rest wavelength in Å, in the medium of the spectrum; one that the list
    lacks is measured at just that wavelength.
    """
    if isinstance(wavelength, bool) or not isinstance(wavelength, int | float) or not 900 <= wavelength <= 30_000:
        raise _Unknown(f"wavelength: found {wavelength!r:.60}, expected a number in Å, from 900 to 30 000.")
    if not isinstance(element, str) or not _ION.fullmatch(element.strip()):
        raise _Unknown(f"element: found {element!r:.60}, expected an ion such as H I, Fe I or [O III].")
    medium, ion = spectrum.medium, element.strip()
    near = sorted(
        (away, line.name, line) for line in lines() if (away := abs(line.at(medium) - wavelength)) < AIR_OR_VACUUM
    )
    for _, _, line in near:
        if line.species == ion:
            return line, ""
    also = f" The list has {', '.join(name for _, name, _ in near)} at this wavelength." if near else ""
    line = Line(f"{ion} {wavelength:g}", float(wavelength), medium, "both", ion, "the call")
    return line, f"This line is not in the list, so nothing is promised for its name.{also}"


def _answer(spectrum: Spectrum, subject: Subject, remark: str) -> str:
    (frame, z), on_axis = tool.frame_of(spectrum), tool.tool_wavelength(spectrum)
    view = view_of(spectrum, Zoom("", {}, frame, z, spectrum.medium), (float(on_axis[0]), float(on_axis[-1])))
    medium = f"{spectrum.medium}{' assumed' if spectrum.meta.get('medium_assumed') else ''}"
    axis = f"{medium}, {'rest frame' if frame == 'rest' else 'as observed'}"
    stretch, data = _stretch(subject, view), view.spectrum.wavelength
    if stretch[1] <= data[0] or stretch[0] >= data[-1]:
        covered = shown((on_axis[0], on_axis[-1]))
        return f"{_name(subject)}: outside the data, which cover {covered} ({axis}). Nothing can be said about it."
    at = f" at {view.on_axis(subject.at(view.spectrum.medium)):.1f} Å" if isinstance(subject, Line | Band) else ""
    near, principal = replace(view, window=stretch), subject if isinstance(subject, Line | Band) else None
    hints = list(_hints(subject, near))
    parts = [f"{_name(subject)}{at} ({axis}). {_state(hints[0], remark)}: {'; '.join(hint.text for hint in hints)}."]
    if isinstance(subject, Line):
        parts += _of_line(subject, view)
    parts += [why] if (why := hints[0].why) and not remark else []
    doubts = dict.fromkeys(text for _, text in (*faults_in(near, spectrum), *disturbed(near, principal)))
    parts += [f"Disturbed: {'; '.join(doubts)}."] if doubts else []
    return " ".join([*parts, *filter(None, [remark]), ERRORS])


def _stretch(subject: Subject, view: View) -> Window:
    """Return the stretch of the data that decides, in Å at rest: the line's own width where it is there."""
    medium = view.spectrum.medium
    if isinstance(subject, Band):
        return subject.window(medium)
    if isinstance(subject, Index):
        band, continuum = subject.at(medium)
        return min(w[0] for w in (band, *continuum)), max(w[1] for w in (band, *continuum))
    if isinstance(subject, str):
        return 3850.0, 4100.0
    centre, half = subject.at(medium), HALF_WIDTH * subject.at(medium)
    if not view.spectrum.wavelength[0] < centre < view.spectrum.wavelength[-1]:
        return centre, centre
    if (found_line := view.data.line(subject).detection) is not None:
        centre *= 1 + found_line.velocity.value / SPEED_OF_LIGHT
        half = centre * WIDTH_REACH * found_line.fwhm.value / SPEED_OF_LIGHT
    return centre - half, centre + half


def _hints(subject: Subject, view: View) -> Iterator[Hint]:
    if isinstance(subject, Line | Band):
        yield from measurement(view, subject) or [Hint("look", "undefined", view.data.coarse)]
    elif isinstance(subject, str):
        compared = compare(Claim(BREAK, "break", True), view.data)
        kinds = {"agrees": "break", "contradicts": "none", "cannot be told": "undefined"}
        yield Hint("plain", kinds[compared.verdict], compared.reason)
    else:
        value = band_index(view.spectrum, subject)
        band, continuum = subject.at(view.spectrum.medium)
        where = f"mean flux in {shown(band)} over that in {' and '.join(map(shown, continuum))} at rest"
        if not isinstance(value, Measured):
            yield Hint("look", "undefined", f"{value.reason} ({where})")
            return
        yield Hint("plain", "index", f"{plus_minus(value)} ({where}; about 1 without the band, less with it)")
        if (molecule := view.data.molecule(subject.species)) is not None:
            yield Hint("plain", "molecule", f"{subject.species} by all its indices: {molecule.state}")


def _state(hint: Hint, remark: str) -> str:
    if hint.kind in _STATES:
        return _STATES[hint.kind]
    if hint.level == "look":
        return "Not certain"
    return "Certain" if hint.level == "ok" and not remark else "Seen, but the name is not certain"


def _of_line(line: Line, view: View) -> Iterator[str]:
    """Yield the significance of a line, and the stretches that its number comes from."""
    measured = view.data.line(line).detection
    if measured is None:
        return
    yield f"{number(measured.amplitude.significance)}σ of its noise, {number(measured.contrast)}× its surroundings."
    stretch, wavelength = _stretch(line, view), view.spectrum.wavelength
    at = int(np.searchsorted(wavelength, line.at(view.spectrum.medium)))
    pixel = float(np.median(np.diff(wavelength[max(0, at - 8) : at + 8])))
    reach = max(REACH * (stretch[1] - stretch[0]) / 2 / WIDTH_REACH, AT_LEAST * pixel)
    summed = shown((view.on_axis(stretch[0]), view.on_axis(stretch[1])))
    curve = "the curve along the bands" if measured.along_bands else "a straight line"
    yield f"EW summed over {summed} (absorption > 0); the continuum is {curve} fitted over ±{number(reach)} Å."
