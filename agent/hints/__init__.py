"""Hints for a zoom: what the data themselves show about its window, and about what the text claims.

Facts and never a verdict: coverage, signal-to-noise ratio, the line or band of the window with its measured size,
features of the sky, the atmosphere or the instrument, and claims compared with the data. A hint is green only if its
kind was right on real spectra (``promises``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent.hints.claims import Claim, claims_of, compare, summary
from agent.hints.disturbances import disturbed, faults_in
from agent.hints.evidence import CALIBRATION, HOT, LOW_SNR, TOO_BROAD, LineEvidence, evidence
from agent.hints.promises import COOL, promise_of
from agent.hints.unexplained import unexplained
from agent.hints.view import View, entries_in, features_by_label, view_of
from agent.language import deferred, joined
from agent.lines import Band, Line, convert
from agent.lines.names import named
from agent.measure import (
    Measured,
    Undefined,
    Window,
    coverage,
    flagged,
    measure_feature,
    rest,
    signal_to_noise,
)
from agent.measure.blends import WIDTH_REACH, LineMeasurement
from agent.measure.molecules import head_ratio
from agent.measure.peaks import TwoMaxima
from agent.measure.values import number, plus_minus, redshift_text
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task
from agent.templates.rank import STELLAR
from agent.trajectory import Think, Trajectory, Zoom

Level = Literal["ok", "look", "plain"]

MOST = 9
MOST_CLAIMS = 4
MOST_WAVELENGTHS = 5
WIDE_WINDOW = 600.0  # Å; a wider window always crosses some sky, so only what lies on its line is reported
HOT_ABSORPTION = "absorption, hot stars' line"
BLENDED, UNPLACED = UNPROMISED = ("blend", "unplaced")
"""Kinds of a line that may be another one: one that is alike, or any where neither z nor a second line is known."""
ONE_VELOCITY = 100.0  # km/s; two lines closer than this, error included, are called one velocity
TWO_VELOCITIES = 150.0  # km/s, and a tenth of the FWHM: two certain lines farther apart contradict each other


@dataclass(frozen=True)
class Hint:
    """One hint: ``kind`` names the check, ``text`` is what is shown, ``subject`` the line, band or claim.

    ``level`` "ok" (green): right on real spectra in at least 95 % of the cases; "look" (amber): asks for attention;
    "plain" (grey): a fact, or a finding that is not certain enough for green. ``why`` says how often such a hint is
    right.
    """

    level: Level
    kind: str
    text: str
    subject: str = ""
    why: str = ""


def _level(kind: str, *parts: str) -> Level:
    """Return green if the kind, and each part of it that was counted, keeps what green promises; otherwise grey."""
    promise = promise_of(kind, *parts)
    return "ok" if promise is not None and promise.kept else "plain"


def _why(kind: str, *parts: str) -> str:
    promise = promise_of(kind, *parts)
    return "" if promise is None else promise.shown()


def _finding(kind: str, text: str, subject: str, view: View) -> Hint:
    """Make a hint of a feature that was found; without a promise where its name is not certain (``UNPROMISED``)."""
    if kind in UNPROMISED or not view.placed:
        return Hint("plain", kind if kind in UNPROMISED else UNPLACED, text, subject)
    parts = (subject, COOL) if view.data.cool else (subject,)
    return Hint(_level(kind, *parts), kind, text, subject, _why(kind, *parts))


def hints(
    spectrum: Spectrum,
    zoom: Zoom,
    task: Task | None = None,
    thought: str = "",
    others: Sequence[Window] | None = None,
) -> tuple[Hint, ...]:
    """Return at most ``MOST`` hints about one zoom, the most useful first; none about a call of another tool.

    :param task: whose features are preferred, and whose indices are shown where they lie in the window
    :param thought: the text that describes the zoom; its claims, and the label's, are compared with the data
    :param others: for the first zoom of a trace, the windows of its other zooms (``windows_after``); None for those.
        What is true of the whole spectrum, and emission that no window shows, is reported on the first
    """
    window = zoom.window
    if not zoom.shows_spectrum:
        return ()
    if window is None or window[0] >= window[1]:
        return (Hint("look", "window", deferred("the window is not two increasing numbers")),)
    view = view_of(spectrum, zoom, window)
    covered = coverage(view.spectrum, view.window)
    if covered == 0.0:
        lo, hi = (view.on_axis(w) for w in (view.spectrum.wavelength[0], view.spectrum.wavelength[-1]))
        text = deferred("no data in the window; the spectrum covers {lo:.0f}–{hi:.0f} Å", lo=lo, hi=hi)
        return (Hint("look", "coverage", text),)
    principal, besides = entries_in(view, task)
    outside = _outside(view)
    all_hints = [
        *_sampling(view),
        *outside,
        _in_window(view, principal, besides),
        *(Hint("look", kind, text) for kind, text in faults_in(view, spectrum)),
        *_unexplained(view, spectrum, thought, others),
        # If the label names something outside the window, measuring another line would only distract.
        *(measurement(view, principal) if principal and not outside else ()),
        *_claims(view, thought),
        *_of_task(view, task),
        *_redshift(view, spectrum, principal, task, others is not None),
        *_incomplete(view, covered),
        *(Hint("look", kind, text) for kind, text in disturbed(view, principal)),
    ]
    return tuple(all_hints[:MOST])


def windows_after(trajectory: Trajectory, zoom: Zoom) -> tuple[Window, ...] | None:
    """Return the windows of the other zooms, for the first zoom of a trace; None for the others.

    A live trace that has no zoom yet is about to get its first.
    """
    zooms = tuple(z for z in trajectory.zooms if z.shows_spectrum)
    if zooms and zooms[0].id != zoom.id:
        return None
    return tuple(z.window for z in zooms[1:] if z.window is not None)


def thought_on(trajectory: Trajectory, zoom: Zoom) -> str:
    """Return the thought that follows a zoom: the text of all thinks up to the next zoom or the answer."""
    texts: list[str] = []
    after = False
    for step in trajectory.steps:
        if after and not isinstance(step, Think):
            break
        if after and isinstance(step, Think):
            texts.append(step.text)
        after = after or step.id == zoom.id
    return "\n".join(texts)


def _outside(view: View) -> list[Hint]:
    """Return a hint if the label names a line or band outside the window. Names of groups ("Balmer") do not count."""
    labelled = named(view.zoom.label)
    if any(view.contains(entry) for entry in labelled):
        return []
    medium = view.spectrum.medium
    return [
        Hint("look", "label", deferred("{name} is at {at:.1f} Å, outside", name=e.name, at=view.on_axis(e.at(medium))))
        for e in labelled[:1]
    ]


def _sampling(view: View) -> list[Hint]:
    return [Hint("look", "sampling", view.data.coarse)] if view.data.coarse else []


def _in_window(view: View, principal: Line | Band | None, others: list[Line | Band]) -> Hint:
    snr = signal_to_noise(view.spectrum, view.window)
    if isinstance(snr, Undefined):
        return Hint("look", "snr", snr.reason)
    text = f"S/N {number(snr, 0 if abs(snr) >= 10 else 1)}"
    if view.spectrum.errors == "estimated":
        text = deferred("{text} (noise estimated from scatter)", text=text)
    level: Level = "plain" if snr >= LOW_SNR else "look"
    if principal is None:
        return Hint(level, "line", deferred("no major line or band here, {text}", text=text))
    where = f"{principal.name} {view.on_axis(principal.at(view.spectrum.medium)):.1f} Å"
    if view.spectrum.meta.get("medium_assumed"):
        vacuum = view.zoom.medium == "vacuum"
        assumed = deferred("{where} (vacuum assumed)", where=where)
        where = assumed if vacuum else deferred("{where} (air assumed)", where=where)
    if others:
        names = ", ".join(e.name for e in others[:3])
        text = deferred("{where} in window with {others}, {text}", where=where, others=names, text=text)
    else:
        text = deferred("{where} in window, {text}", where=where, text=text)
    return Hint(level, "line", text, principal.name)


def _unexplained(view: View, spectrum: Spectrum, thought: str, others: Sequence[Window] | None) -> list[Hint]:
    """Return a hint on the strongest emission that no line explains and the text does not mention; never green: it is
    something to check. It is on the zoom that shows it, without one on the first.
    """
    peak = unexplained(spectrum)
    if peak is None or (peak.suggestion is None and view.data.cool):
        return []
    at_rest = convert(
        convert(peak.observed, spectrum.medium, "vacuum") / (view.to_observed or 1.0), "vacuum", spectrum.medium
    )
    inside = view.window[0] <= at_rest <= view.window[1]
    on_axis = view.on_axis(at_rest)
    elsewhere = others is not None and not any(lo <= on_axis <= hi for lo, hi in others)
    among_balmer = view.data.between_absorption or 3600.0 < at_rest < 4000.0
    if not (inside or elsewhere) or (peak.suggestion is None and among_balmer):
        return []
    mentioned = (float(n) for n in re.findall(r"\b\d{4,5}(?:\.\d+)?\b", f"{view.zoom.label} {thought}"))
    if any(abs(n - peak.observed) < 5.0 or abs(n - at_rest) < 5.0 for n in mentioned):
        return []
    z = "z = 0" if not spectrum.redshift else f"z = {redshift_text(spectrum.redshift)}"
    text = deferred(
        "{sigma:.0f}σ emission at {at:.0f} Å (observed) is no known line at {z}",
        sigma=peak.peak.significance,
        at=peak.observed,
        z=z,
    )
    if peak.suggestion is not None:
        suggestion = peak.suggestion
        also = deferred(
            "{line} at z = {z:.4f} would also explain {others} Å",
            line=suggestion.line,
            z=suggestion.z,
            others=", ".join(f"{w:.0f}" for w in suggestion.others[:MOST_WAVELENGTHS]),
        )
        text = joined((text, also))
    return [Hint("look", "unexplained", text if inside else deferred("outside this window: {text}", text=text))]


def measurement(view: View, entry: Line | Band) -> list[Hint]:
    """Return what was measured of a line or band, the principal hint first; nothing of a line in coarse data."""
    if view.data.coarse and isinstance(entry, Line):
        return []  # the hint on the sampling says why
    if isinstance(entry, Band):
        return _band(view, entry)
    line_evidence = view.data.line(entry)
    measured = line_evidence.detection
    if measured is None:
        if line_evidence.state == "none":
            return [
                Hint(
                    "plain",
                    "none",
                    deferred("no {name}: {reason}", name=entry.name, reason=line_evidence.reason),
                    entry.name,
                )
            ]
        if line_evidence.state == "undefined":
            text = deferred("{name} not measured: {reason}", name=entry.name, reason=line_evidence.reason)
            return [Hint("look", "undefined", text, entry.name)]
        text = deferred("{name} not certain: {reason}", name=entry.name, reason=line_evidence.reason)
        return [Hint("look", "undecided", joined((text, *_size(line_evidence))), entry.name)]
    values = {
        "name": entry.name,
        "summary": summary(line_evidence),
        "reach": number(WIDTH_REACH * measured.fwhm.value),
        "velocity": plus_minus(measured.velocity),
    }
    if measured.along_bands:
        text = deferred("{name} {summary} (±{reach} km/s, continuum along the bands), at {velocity}", **values)
    else:
        text = deferred("{name} {summary} (±{reach} km/s, local continuum), at {velocity}", **values)
    if measured.companions:
        blend = ", ".join(line.name for line in measured.companions)
        text = joined((text, deferred("fitted with {lines}", lines=blend)), ", ")
    if line_evidence.alike:
        alike = deferred("cannot be told from {lines} here", lines=", ".join(line_evidence.alike))
        text = joined((text, alike))
    if not view.placed:
        text = joined((text, deferred("z is unknown and no second line confirms it")))
    return [
        _finding(BLENDED if line_evidence.alike else _promise_of(line_evidence), text, entry.name, view),
        *_width(view, measured, entry, bool(line_evidence.alike)),
        *_two(view, entry),
        *_velocities(view, entry, measured),
    ]


def _promise_of(line_evidence: LineEvidence) -> str:
    """Return the kind of a line that was found. Lines of helium and other lines of hot stars are a kind of their own in
    absorption: they are weak, and other lines and bands lie at their wavelengths.
    """
    hot = line_evidence.state == "absorption" and line_evidence.line.species in HOT
    return HOT_ABSORPTION if hot else line_evidence.state


def _size(line_evidence: LineEvidence) -> list[str]:
    measured = line_evidence.measurement
    if isinstance(measured, Undefined) or isinstance(measured.width, Undefined):
        return []
    # The width of a wave of the continuum, or of another line, is not this line's.
    if measured.at_limit or line_evidence.off_centre or measured.fwhm.value > TOO_BROAD:
        return []
    return [deferred("EW {width} (absorption > 0)", width=plus_minus(measured.width))]


def _width(view: View, measured: LineMeasurement, entry: Line, blended: bool) -> list[Hint]:
    if measured.fwhm.significance < 3.0:
        return []
    text = f"FWHM {plus_minus(measured.fwhm)}"
    if not measured.resolved:
        text = deferred("{text}, not resolved", text=text)
    return [_finding(BLENDED if blended else "width", text, entry.name, view)]


def _two(view: View, entry: Line) -> list[Hint]:
    maxima = view.data.two_maxima(entry)
    if not isinstance(maxima, TwoMaxima):
        return []
    text = deferred(
        "two maxima {separation} apart, the dip {dip:.0f} % of the lower one deep, {sigma:.0f}σ",
        separation=plus_minus(maxima.separation),
        dip=100 * maxima.dip,
        sigma=maxima.significance,
    )
    return [_finding("two maxima", text, entry.name, view)]


def _velocities(view: View, entry: Line, measured: LineMeasurement) -> list[Hint]:
    """State how far the velocity of a Balmer line is from that of another one that is certain too."""
    if entry.name not in _BALMER:
        return []
    for name in _BALMER:
        other = view.data.named(name).detection
        if name == entry.name or other is None or other.emission is not measured.emission:
            continue
        apart = apart_from(measured, other)
        text = deferred(
            "{name} is at {velocity}, {apart} apart",
            name=name,
            velocity=plus_minus(other.velocity),
            apart=plus_minus(apart),
        )
        if apart.value <= 3.0 * apart.error and apart.value + apart.error <= ONE_VELOCITY:
            equal = deferred("{text}: one velocity", text=text)
            return [_finding("velocity", equal, entry.name, view)]
        least = TWO_VELOCITIES + 0.1 * max(measured.fwhm.value, other.fwhm.value)
        if apart.value > 5.0 * apart.error and apart.value > least:
            unequal = deferred("{text}: not one velocity, so one of the two is blended or another line", text=text)
            return [Hint("look", "apart", unequal, entry.name)]
        return [Hint("plain", "apart", text, entry.name)]
    return []


def apart_from(first: LineMeasurement, second: LineMeasurement) -> Measured:
    """Return the difference of two lines' velocities in km/s, with the error of both and of the wavelength scale."""
    errors = (first.velocity.error, second.velocity.error, CALIBRATION)
    return Measured(abs(first.velocity.value - second.velocity.value), math.hypot(*errors), "km/s")


_BALMER = ("Hα", "Hβ", "Hγ", "Hδ")


def _band(view: View, band: Band) -> list[Hint]:
    """Return what the flux does across a band's head, and what the molecule's indices say."""
    ratio = head_ratio(view.spectrum, band)
    molecule = view.data.molecule(band.species)
    if isinstance(ratio, Undefined):
        text = deferred("{name} not measured: {reason}", name=band.name, reason=ratio.reason)
    else:
        fall = Measured(abs(100 * (1 - ratio.value)), 100 * ratio.error)
        by = {"by": plus_minus(fall), "name": band.name}
        if ratio.value < 1:
            text = deferred("the flux falls by {by} % across the head of {name}", **by)
        else:
            text = deferred("the flux rises by {by} % across the head of {name}", **by)
    if molecule is None:
        return [Hint("plain", "head", text, band.species)]
    values = ", ".join(f"{name} {plus_minus(v)}" for name, v in molecule.indices if isinstance(v, Measured))
    if not values:
        uncovered = deferred("the indices of {species} are not covered", species=band.species)
        return [Hint("look", "head", joined((text, uncovered)), band.species)]
    values_of = {"species": band.species, "values": values, "text": text}
    if molecule.state == "present":
        return [_finding("band", deferred("{species} bands: {values}; {text}", **values_of), band.species, view)]
    if molecule.state == "absent":
        return [_finding("no band", deferred("no {species} bands: {values}; {text}", **values_of), band.species, view)]
    return [Hint("look", "head", deferred("{species} not certain: {values}; {text}", **values_of), band.species)]


def _of_task(view: View, task: Task | None) -> list[Hint]:
    """Return the task's own ratios whose bands lie in the window, those named in the label first; at most two."""
    hints_of_task = []
    for feature in features_by_label(task, view.zoom.label):
        in_medium = feature.in_medium(view.spectrum.medium)
        if feature.quantity != "ratio" or not (
            view.window[0] <= in_medium.span[0] and in_medium.span[1] <= view.window[1]
        ):
            continue
        measured = measure_feature(view.spectrum, feature)
        if isinstance(measured, Undefined):
            continue
        values = {"name": feature.name, "ratio": plus_minus(measured), "bounds": _bounds(feature)}
        if feature.is_present(measured.value):
            text = deferred("{name}: ratio {ratio}, within the bound ({bounds})", **values)
        else:
            text = deferred("{name}: ratio {ratio}, outside the bound ({bounds})", **values)
        hints_of_task.append(Hint("plain", "index", text, feature.name))
    return hints_of_task[:2]


def _bounds(feature: Feature) -> str:
    above, below = feature.above, feature.below
    if above is not None and below is not None:
        return deferred("above {above:g} and below {below:g}", above=above, below=below)
    return deferred("below {bound:g}", bound=below) if above is None else deferred("above {bound:g}", bound=above)


def _claims(view: View, thought: str) -> list[Hint]:
    """Compare the claims of the label and the thought with the data: contradictions first."""
    compared = [
        compare(claim, view.data) for claim in dict.fromkeys([*claims_of(view.zoom.label), *claims_of(thought)])
    ]
    order = {"contradicts": 0, "agrees": 1, "cannot be told": 2}
    hints_of_claims = []
    for claimed in sorted(compared, key=lambda c: order[c.verdict])[:MOST_CLAIMS]:
        values = {"claim": claimed.claim.shown(), "reason": claimed.reason}
        if claimed.verdict == "agrees":
            text = deferred("“{claim}” agrees: {reason}", **values)
            level = _level("claim") if _is_certain(claimed.claim, view) else "plain"
            hints_of_claims.append(Hint(level, "claim", text, str(claimed.claim), _why("claim")))
        elif claimed.verdict == "contradicts":
            text = deferred("“{claim}” contradicts the data: {reason}", **values)
            hints_of_claims.append(Hint("look", "contradiction", text, str(claimed.claim), _why("contradiction")))
        else:
            text = deferred("“{claim}” cannot be told from these data: {reason}", **values)
            hints_of_claims.append(Hint("plain", "claim", text, str(claimed.claim)))
    return hints_of_claims


def _is_certain(claim: Claim, view: View) -> bool:
    """Return whether a hint of the claim's own line or band would be green: a claim is not surer than the line."""
    if claim.property in ("band", "break") or not claim.positive:
        return True
    about = view.data.named(claim.subject)
    parts = (claim.subject, COOL) if view.data.cool else (claim.subject,)
    return view.placed and not about.alike and _level(_promise_of(about), *parts) == "ok"


def _redshift(
    view: View, spectrum: Spectrum, principal: Line | Band | None, task: Task | None, whole: bool
) -> list[Hint]:
    """Return what to know about z, once for a trace: it is unknown, or no star has it. In the latter case each zoom
    says what its line is at z = 0.
    """
    if spectrum.frame == "rest" and spectrum.redshift is None:
        return []
    if spectrum.redshift is None:
        unknown = deferred("the file has no redshift: lines are searched at z = 0")
        # Where its own lines confirm that z is near 0, this is a fact and nothing to check.
        return [Hint("plain" if view.placed else "look", "redshift", unknown)] if whole else []
    if task is None or abs(spectrum.redshift) <= STELLAR or spectrum.frame == "rest":
        return []
    hints_of_z = []
    if whole:
        z = number(spectrum.redshift, 4)
        hints_of_z = [
            Hint(
                "look", "redshift", deferred("the file's redshift {z} is too large for a star, whose z is near 0", z=z)
            )
        ]
    if isinstance(principal, Line):
        at_zero = evidence(rest(spectrum, 0.0)).line(principal)
        star = deferred("if it is a star (z = 0), {name}: {summary}", name=principal.name, summary=summary(at_zero))
        hints_of_z.append(Hint("look", "redshift", star))
    return hints_of_z


def _incomplete(view: View, covered: float) -> list[Hint]:
    incomplete = []
    if covered < 0.995:
        text = deferred("{share:.0f} % of the window has no data", share=100 * (1 - covered))
        incomplete.append(Hint("look", "coverage", text))
    share = flagged(view.spectrum, view.window)
    if share > 0.02:
        text = deferred("the survey flags {share:.0f} % of the pixels here", share=100 * share)
        incomplete.append(Hint("look", "mask", text))
    return incomplete
