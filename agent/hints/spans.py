"""Parts of a text that can be tied to pixels: windows, wavelengths, lines, and numbers that were measured again.

A span has a status only where it is certain what the text means: a window next to its tool call, a number with the name
of its quantity and feature. Wavelengths are Å on the axis of the spectrum's data, in its own frame and medium. English
only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from agent.hints.claims import MOLECULES, summary
from agent.hints.evidence import Evidence, at_rest, evidence
from agent.language import deferred
from agent.lines import Line, Medium, convert_window
from agent.lines.names import mentions
from agent.measure import Measured, TwoMaxima, Undefined, signal_to_noise
from agent.measure.values import plus_minus
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task
from agent.trajectory import Trajectory, Zoom
from agent.trajectory.statements import Statement, statements, text_of_step

Window = tuple[float, float]
Status = Literal["ok", "stale", "unknown"]
Kind = Literal["window", "wavelength", "line", "number", "verdict"]

HALF_OF_LINE = 600.0  # km/s on either side of a line that is named
ROUGH = 0.25
"""Relative difference from which a number written without an error disagrees: methods differ by less."""


@dataclass(frozen=True)
class Span:
    """``text[start:end]`` of a step.

    :param range: wavelengths in Å on the axis of the spectrum's data; None for what has no place
    :param about: the id of the zoom or answer it is about
    :param note: what the text says and what is measured, for a person
    :param new: the text that would agree; None if a person has to write it
    """

    start: int
    end: int
    kind: Kind
    status: Status = "unknown"
    range: Window | None = None
    about: str | None = None
    note: str = ""
    new: str | None = None


class SpanReader:
    """Reads the texts of trajectories on one spectrum; each feature and line is measured once.

    :param redshift: what the tool was given; None: none
    """

    def __init__(self, spectrum: Spectrum | None, redshift: float | None, task: Task | None) -> None:
        self._spectrum = spectrum
        self._z = (redshift or 0.0) if spectrum is not None and spectrum.frame == "observed" else 0.0
        self._task = task

    @cached_property
    def _at_rest(self) -> Spectrum:
        assert self._spectrum is not None
        return at_rest(self._spectrum, self._z)

    @cached_property
    def _data(self) -> Evidence:
        return evidence(self._at_rest)

    def spans(self, trajectory: Trajectory, draft: Trajectory | None = None) -> dict[str, tuple[Span, ...]]:
        """Return the spans of each text by the id of its step, in reading order, none over another."""
        by_step: dict[str, list[Statement]] = {}
        for statement in statements(trajectory, draft):
            by_step.setdefault(statement.step, []).append(statement)
        return {
            step.id: self._of_text(trajectory, step.id, text_of_step(step), by_step.get(step.id, []))
            for step in trajectory.steps
            if not isinstance(step, Zoom)
        }

    def _of_text(self, trajectory: Trajectory, step: str, text: str, about: list[Statement]) -> tuple[Span, ...]:
        spans = [self._of_statement(statement, trajectory) for statement in about]
        if self._spectrum is not None:
            spans += self._measured(trajectory, text, about)
            spans += self._named(text)
        kept: list[Span] = []
        for span in spans:  # the first kinds win: a line's name inside a window or a number is part of it
            if all(span.end <= other.start or span.start >= other.end for other in kept):
                kept.append(span)
        return tuple(sorted(kept, key=lambda span: span.start))

    def _of_statement(self, statement: Statement, trajectory: Trajectory) -> Span:
        status: Status = "unknown" if statement.agrees is None else "ok" if statement.agrees else "stale"
        numbers = {step.id: number for number, step in enumerate(trajectory.steps, start=1)}
        zoom = next((z for z in trajectory.zooms if z.id == statement.about), None)
        shown = None
        if statement.quoted is not None and self._spectrum is not None:
            shown = self._on_axis(statement.quoted, zoom or next(iter(trajectory.zooms), None))
        if statement.kind == "verdict":
            says = {"says": statement.says, "found": statement.actual}
            note = deferred("the text says {says}, the answer is {found}", **says) if statement.agrees is False else ""
        elif statement.agrees is False:
            note = deferred(
                "the text says {says}, the window of step {step} is {found}",
                says=statement.says,
                step=numbers[statement.about or ""],
                found=statement.actual,
            )
        else:
            note = "" if zoom is None else deferred("the window of step {step}", step=numbers[zoom.id])
        return Span(statement.start, statement.end, statement.kind, status, shown, statement.about, note, statement.new)

    # ---- wavelengths

    def _on_axis(self, window: Window, zoom: Zoom | None) -> Window:
        """Convert a window of a zoom's frame and medium to the axis of the data."""
        spectrum = self._spectrum
        assert spectrum is not None
        if zoom is None:
            return window
        lo, hi = convert_window(window, zoom.medium, spectrum.medium)
        if zoom.frame == "rest" and spectrum.frame == "observed":
            lo, hi = lo * (1 + zoom.z), hi * (1 + zoom.z)
        return lo, hi

    def _rest_on_axis(self, window: Window) -> Window:
        """Convert rest wavelengths in the spectrum's medium to the axis of the data."""
        return window[0] * (1 + self._z), window[1] * (1 + self._z)

    def _around(self, line: Line) -> Window:
        at = line.at(self._at_rest.medium)
        half = at * HALF_OF_LINE / 299_792.458
        return self._rest_on_axis((at - half, at + half))

    def _named(self, text: str) -> Iterator[Span]:
        medium = self._at_rest.medium
        for start, end, entry in mentions(text):
            if isinstance(entry, Line):
                note = _at_rest(f"{entry.name} {entry.at(medium):.1f} Å", medium)
                yield Span(start, end, "line", range=self._around(entry), note=note)
            else:
                head = deferred("{name}: band head at {at:.1f} Å", name=entry.name, at=entry.at(medium))
                note = _at_rest(head, medium)
                yield Span(start, end, "line", range=self._rest_on_axis(entry.window(medium)), note=note)
        for match in _WAVELENGTH.finditer(text):
            at = float(match["value"].replace(",", ""))
            if 900 <= at <= 30_000:
                shown = self._rest_on_axis((at - 5.0, at + 5.0))
                taken = {
                    "vacuum": deferred("{at:g} Å, taken as at rest in vacuum", at=at),
                    "air": deferred("{at:g} Å, taken as at rest in air", at=at),
                }
                yield Span(*match.span(), "wavelength", range=shown, note=taken[medium])

    # ---- numbers

    def _measured(self, trajectory: Trajectory, text: str, about: list[Statement]) -> Iterator[Span]:
        yield from self._signal_to_noise(trajectory, text, about)
        subject: Line | None = None
        before = 0
        for clause in _CLAUSE.finditer(text):
            words = clause[0]
            feature, tail = self._feature_in(words)
            if feature is not None:
                yield from self._feature_value(text, clause.start() + tail, clause.end(), feature)
            named = {entry for _, _, entry in mentions(words) if isinstance(entry, Line)}
            if len(named) == 1:
                subject = next(iter(named))
            elif named or not _CONTINUES.match(words) or "\n" in text[before : clause.start()]:
                subject = None
            before = clause.end()
            if subject is not None:
                yield from self._line_values(text, clause.start(), clause.end(), subject)
            yield from self._index_values(text, clause.start(), clause.end())

    def _signal_to_noise(self, trajectory: Trajectory, text: str, about: list[Statement]) -> Iterator[Span]:
        for match in _SNR.finditer(text):
            start = max((end.end() for end in _END.finditer(text, 0, match.start())), default=0)
            quotes = [s for s in about if s.kind == "window" and start <= s.start and s.end <= match.start()]
            zoom = next((z for z in trajectory.zooms if len(quotes) == 1 and z.id == quotes[0].about), None)
            if zoom is not None and zoom.window is not None:
                lo, hi = self._on_axis(zoom.window, zoom)
                window = lo / (1 + self._z), hi / (1 + self._z)
                of = f"{zoom.window[0]:g} – {zoom.window[1]:g} Å"
            elif _WHOLE.search(text[start : match.start()]):
                wavelength = self._at_rest.wavelength
                window, of = (float(wavelength[0]), float(wavelength[-1])), ""
            else:
                continue
            fresh = signal_to_noise(self._at_rest, window)
            if isinstance(fresh, float):
                note = (
                    deferred("S/N {snr:.1f} per pixel in the window of the zoom {window}", snr=fresh, window=of)
                    if of
                    else deferred("S/N {snr:.1f} per pixel of the whole spectrum", snr=fresh)
                )
                yield _compared(text, match, Measured(fresh, 0.01 * fresh), self._rest_on_axis(window), note)

    def _feature_in(self, clause: str) -> tuple[Feature | None, int]:
        """Return the task's feature that the clause begins with or quotes alone, and where its name ends."""
        ends = [
            (match.end(), feature)
            for feature in (self._task.features if self._task else ())
            if (match := _feature_pattern(feature.name).search(clause)) is not None
        ]
        longest = max((len(feature.name) for _, feature in ends), default=0)
        best = [(end, feature) for end, feature in ends if len(feature.name) == longest]
        return (best[0][1], best[0][0]) if len(best) == 1 and len(ends) == 1 else (None, 0)

    def _feature_value(self, text: str, start: int, end: int, feature: Feature) -> Iterator[Span]:
        words = _QUANTITIES.get(feature.quantity)
        match = words and re.compile(rf"\s*[:(]\s*{words}\s+{_VALUE}").match(text, start, end)
        if not match:
            return
        fresh = self._data.feature(feature)
        if isinstance(fresh, Measured):
            shown = self._rest_on_axis(feature.in_medium(self._at_rest.medium).span)
            yield _compared(text, match, fresh, shown, _fresh(feature.name, fresh))

    def _line_values(self, text: str, start: int, end: int, line: Line) -> Iterator[Span]:
        for quantity, pattern in _OF_A_LINE:
            matches = list(pattern.finditer(text, start, end))
            if len(matches) != 1:
                continue
            line_evidence = self._data.line(line)
            fresh: Measured | Undefined | None = None
            if quantity == "separation":
                maxima = self._data.two_maxima(line)
                fresh = maxima.separation if isinstance(maxima, TwoMaxima) else None
            elif line_evidence.detection is not None:
                fresh = {
                    "fwhm": line_evidence.detection.fwhm,
                    "velocity": line_evidence.detection.velocity,
                    "ew": line_evidence.detection.width,
                }[quantity]
            if isinstance(fresh, Measured):
                note = deferred(
                    "{measured} ({summary})", measured=_fresh(line.name, fresh), summary=summary(line_evidence)
                )
                yield _compared(text, matches[0], fresh, self._around(line), note, quantity)

    def _index_values(self, text: str, start: int, end: int) -> Iterator[Span]:
        for match in _INDEX.finditer(text, start, end):
            for species in MOLECULES:
                bands = self._data.molecule(species)
                for name, fresh in bands.indices if bands else ():
                    if name == match["name"] and isinstance(fresh, Measured):
                        yield _compared(text, match, fresh, None, _fresh(name, fresh))
                        break
                else:
                    continue
                break


_NUM = r"[−-]?\d+(?:[,\u202f\u2009]\d{3})*(?:\.\d+)?"
_VALUE = rf"(?P<value>{_NUM})(?P<between>\s*(?:±|\+/-|\\pm)\s*)?(?P<error>(?<=[±\-m\s])\d+(?:\.\d+)?)?"
_IS = r"\s*(?:of|is|was|=|≈|~|∼|:|about|around|roughly|approximately|\s)*\s*"
_KMS = r"\s*\$?\s*km\s*(?:/\s*s|s(?:⁻¹|\^?\{?-1\}?|\^−1))"
_CLAUSE = re.compile(r"[^.;\n]+(?:\.(?=\S)[^.;\n]*)*")
_END = re.compile(r"[.;!?](?=\s)|\n")
_CONTINUES = re.compile(
    r"\s*(?:Its\b|It\b|The line\b|The profile\b|two maxima\b|the peaks\b|a Gaussian\b)", re.IGNORECASE
)
_WAVELENGTH = re.compile(r"(?<![\d.,–-])(?P<value>\d{4,5}(?:\.\d+)?)\s*(?:Å|\\AA|[Aa]ngstroms?\b)")
_WHOLE = re.compile(r"\bspectrum (?:runs|extends|covers|ranges)\b", re.IGNORECASE)
_SNR = re.compile(rf"(?:S/N|SNR|signal-to-noise(?: ratio)?){_IS}{_VALUE}", re.IGNORECASE)
_INDEX = re.compile(rf"\b(?P<name>TiO5|CaH[123]|CaOH|VO7434){_IS}{_VALUE}")
_OF_A_LINE = (
    ("ew", re.compile(rf"(?:\bEW|\bequivalent width|\bW_?λ)(?:\s*\([^()]*\))?{_IS}{_VALUE}\s*\$?\s*(?:Å|\\AA|A\b)")),
    ("fwhm", re.compile(rf"\bFWHM(?:\s*\([^()]*\))?{_IS}{_VALUE}{_KMS}")),
    ("velocity", re.compile(rf"\b(?:radial )?velocity{_IS}{_VALUE}{_KMS}")),
    ("separation", re.compile(rf"\b(?:two maxima stand|(?:peak )?separation|separated by){_IS}{_VALUE}{_KMS}")),
)
_QUANTITIES = {
    "equivalent_width": r"(?:equivalent width|EW)",
    "fwhm": "FWHM",
    "depth": "mean depth below the continuum",
    "ratio": "flux ratio of band to continuum",
    "slope": "slope d ln F_λ / d ln λ",
    "roughness": "rms deviation from a smooth continuum",
}


def _fresh(name: str, measured: Measured) -> str:
    return deferred("{name}: measured {value}", name=name, value=plus_minus(measured))


def _at_rest(what: str, medium: Medium) -> str:
    if medium == "air":
        return deferred("{what} at rest, air", what=what)
    return deferred("{what} at rest, vacuum", what=what)


@cache
def _feature_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of a feature's name before its value; "Hγ weak" may be denied as "Hγ not weak"."""
    denied = re.sub(r"(\\ )((?:very\\ )?(?:weak|strong|broad|filled))", r"(?: not)?\1\2", re.escape(name), count=1)
    return re.compile(rf"(?<!\w){denied}(?=\s*[:(])", re.IGNORECASE)


def _compared(
    text: str, match: re.Match[str], fresh: Measured, shown: Window | None, note: str, method: str = ""
) -> Span:
    """Compare a number, or value ± error, with a fresh measurement.

    :param method: the quantity of a line, which other people may measure in another way; "" for a number that is
        defined without doubt
    """
    written = match["value"]
    value = float(re.sub(r"[,\u202f\u2009]", "", written).replace("−", "-"))
    decimals = len(written.partition(".")[2])
    has_error = match["error"] is not None and match["between"] is not None
    end = match.end("error") if has_error else match.end("value")
    expected = abs(fresh.value) if method == "ew" and value >= 0 else fresh.value
    last_digit = 0.5 * 10.0**-decimals
    difference = abs(value - expected)
    allowed = max(3 * fresh.error, ROUGH * abs(expected)) if method else fresh.error
    if difference <= max(allowed, 1.01 * last_digit):
        return Span(match.start("value"), end, "number", "ok", shown, None, note)
    plain = f"{expected:.{decimals}f}"
    if float(plain) == 0.0 and expected:
        plain = f"{expected:.2g}"
    new = plain if "-" in written else plain.replace("-", "−")
    if has_error:
        error_decimals = len(match["error"].partition(".")[2])
        new += f"{match['between']}{fresh.error:.{error_decimals}f}"
    was = text[match.start("value") : end]
    note = deferred("the text says {was}. {note}", was=was, note=note)
    return Span(match.start("value"), end, "number", "stale", shown, None, note, new)
