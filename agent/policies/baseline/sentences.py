"""The baseline's sentences: numbers with their errors and bounds, the judgement, the explanation.

Depends on the scorecard. A text of a trace is English, whatever the language of the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from agent.hints.evidence import evidence
from agent.lines import lines
from agent.measure import COARSE, Measured, TwoMaxima, Undefined, signal_to_noise, slope
from agent.measure.values import power_of, redshift_text, signed
from agent.policies.baseline.scorecard import Assessment, Finding, SkyFinding, Weighed, unmeasured
from agent.sky.facts import UNITS
from agent.spectrum import Spectrum
from agent.spectrum.record import medium_text
from agent.tasks import Feature
from agent.tasks.values import SkyFeature

LOW_SNR = 5.0
"""Median S/N per pixel below which the opening says that weak features cannot be judged."""
SHORT = 1000.0
"""Range in Å below which the colour is not described."""

_QUANTITIES = {
    "equivalent_width": "equivalent width",
    "fwhm": "FWHM",
    "depth": "mean depth below the continuum",
    "ratio": "flux ratio of band to continuum",
    "slope": "slope d ln F_λ / d ln λ",
    "roughness": "rms deviation from a smooth continuum",
    "absolute_magnitude": "absolute magnitude M_G",
    "absolute_magnitude_limit": "faintest possible M_G",
    "bp_rp": "BP−RP",
    "reduced_proper_motion": "reduced proper motion H",
    "parallax_over_error": "parallax over its error",
    "proper_motion_over_error": "proper motion over its error",
    "tangential_velocity": "tangential velocity",
    "variability": "scatter of G as a fraction",
    "ruwe": "RUWE",
    "j_k": "J−Ks",
    "w1_w2": "W1−W2",
    "g_w1": "G−W1",
}
_UNITS = {"equivalent_width": "Å", "fwhm": "km/s", **{str(name): unit for name, unit in UNITS.items()}}


def number(value: float, decimals: int) -> str:
    """Format a number with a true minus sign; negative decimals round to tens, hundreds, ..."""
    return f"{round(value, decimals) + 0.0:.{max(0, decimals)}f}".replace("-", "−")


def decimals_of(value: float, error: float, bounds: Sequence[float] = ()) -> int:
    """Return the decimals that show two figures of a number, but none below its error.

    There are three where two do not tell it from a bound, or where tens or hundreds are off by more than the
    error: a text is checked against a fresh measurement (``agent.hints.spans``).
    """
    finest = 3
    if error > 0:
        finest = max(-4, min(4, (1 if f"{error:e}"[0] == "1" else 0) - math.floor(math.log10(error))))
    two = 1 - math.floor(math.log10(abs(value))) if value else finest
    decimals = min(two, finest)
    if any(abs(value - bound) <= 10.0**-decimals for bound in bounds):
        decimals = min(decimals + 1, finest)
    while decimals < 0 and abs(round(value, decimals) - value) > error:
        decimals += 1
    return decimals


def with_error(measured: Measured, unit: str = "", bounds: Sequence[float] = ()) -> str:
    """Format value ± error with the figures of ``decimals_of``; the error is at least 1 in the last place."""
    value, error = measured.value, measured.error
    decimals = decimals_of(value, error, bounds)
    if decimals < 0 < error:  # 1100 ± 20: an error keeps its own figure where the places are filled with zeros
        shown = number(max(error, 1.0), min(0, -math.floor(math.log10(error))))
    else:
        shown = number(max(error, 10.0**-decimals) if error > 0 else 0.0, decimals)
    return f"{number(value, decimals)} ± {shown} {unit}".rstrip()


def _value(finding: Weighed) -> str:
    """Return the quantity and the value of a finding: "equivalent width 8.5 ± 0.1 Å"."""
    feature, measured = finding.feature, finding.measured
    assert isinstance(measured, Measured)
    bounds = [bound for bound in (feature.above, feature.below) if bound is not None]
    if isinstance(feature, SkyFeature) and measured.error == 0:
        shown = number(measured.value, min(2, decimals_of(measured.value, 0.0, bounds)))
        return f"{_QUANTITIES[feature.quantity]} {shown} {_UNITS.get(feature.quantity, '')}".rstrip()
    return f"{_QUANTITIES[feature.quantity]} {with_error(measured, _UNITS.get(feature.quantity, ''), bounds)}"


def snr_text(value: float) -> str:
    return number(value, decimals_of(value, 0.01 * value))


def opening(spectrum: Spectrum, at_rest: Spectrum) -> str:
    """Describe range, frame, S/N and colour of the whole spectrum."""
    whole = (float(at_rest.wavelength[0]), float(at_rest.wavelength[-1]))
    frame = f"{spectrum.frame} frame"
    if spectrum.redshift:
        frame = f"rest frame for z = {redshift_text(spectrum.redshift)}"
    snr = signal_to_noise(at_rest, whole)
    medium = medium_text(spectrum)
    text = f"The spectrum runs from {whole[0]:.0f} to {whole[1]:.0f} Å ({medium}, {frame})"
    if isinstance(snr, Undefined):
        return f"{text}; its S/N is undefined: {snr.reason}."
    text += f" with a median S/N of {snr_text(snr)} per pixel."
    if (unit := spectrum.meta.get("flux_unit_in_file")) is not None:
        text += f" The file gives F_ν in {unit}; the fluxes were converted to F_λ."
    if spectrum.errors == "estimated":
        text += " The file has no errors; they were estimated from the scatter."
    if snr < LOW_SNR:
        text += " At this S/N only strong features can be judged."
    step = at_rest.sampling
    if step > COARSE:
        text += f" It is sampled every {step:.0f} Å, so lines cannot be judged, only broad bands and the colour."
    return f"{text} {_colour(at_rest, whole)}".rstrip()


def _colour(at_rest: Spectrum, whole: tuple[float, float]) -> str:
    length = whole[1] - whole[0]
    if length < SHORT:
        return f"A span of {length:.0f} Å is too short for a colour."
    ends = [(whole[0] + share * length, whole[0] + (share + 0.1) * length) for share in (0.1, 0.45, 0.8)]
    colour = slope(at_rest, ends)
    if isinstance(colour, Undefined):
        return f"Its colour is undefined: {colour.reason}."
    word = "blue" if colour.value < -1 else "red" if colour.value > 0.5 else "flat"
    return f"From end to end F_λ ∝ {power_of('λ', colour.value)}: a {word} continuum."


def judged(finding: Finding, at_rest: Spectrum, shape: bool = True) -> str:
    """Describe one feature: the measurement, its bound, and whether it is met.

    :param shape: whether to add the width and the two peaks of a line that is certainly present
    """
    feature, measured = finding.feature, finding.measured
    if isinstance(measured, Undefined) or finding.presence is None:
        reason = measured.reason if isinstance(measured, Undefined) else "no bound"
        return f"{feature.name}: undefined, {reason}."
    text = f"{feature.name}: {_value(finding)}"
    if feature.quantity in ("equivalent_width", "depth"):
        # The hints measure a line against another continuum.
        along = evidence(at_rest).follows_bands(feature)
        against = "a continuum along the molecular bands" if along else "its side bands"
        text += f" in {feature.span[0]:.0f}–{feature.span[1]:.0f} Å against {against}"
    if feature.quantity == "equivalent_width":
        text += f" ({_sense(measured)})"
    text += _against_bounds(finding, finding.presence)
    return f"{text} {_shape(feature, at_rest, measured)}".rstrip() if shape else text


def _against_bounds(finding: Weighed, presence: float) -> str:
    """Return the bounds of a feature, and whether they are met, as the end of a sentence."""
    confuser = finding.feature.role == "confuser"
    text = f", {'would count against it' if confuser else 'expected'} {_bounds(finding.feature)}"
    return f"{text}{'; it' if confuser else ':'} {_verdict(presence, confuser)}{_not_counted(finding)}."


def of_catalogues(findings: Sequence[SkyFinding]) -> str:
    """Describe what catalogues tell: each number with its bound; what they do not tell, once per reason."""
    measured = [(f, f.presence) for f in findings if f.presence is not None]
    text = " ".join(f"{f.feature.name}: {_value(f)}{_against_bounds(f, here)}" for f, here in measured)
    if missing := unmeasured([f for f in findings if f.presence is None]):
        text += f" Undefined: {missing}."
    return f"Of the object itself, catalogues tell: {text.strip() or 'nothing that this task names.'}"


def _sense(measured: Measured) -> str:
    if measured.significance < 3:
        return f"{measured.significance:.1f}σ"
    return "absorption" if measured.value > 0 else "emission"


def _bounds(feature: Feature | SkyFeature) -> str:
    unit = _UNITS.get(feature.quantity, "")
    bounds = [
        (word, bound) for word, bound in (("above", feature.above), ("below", feature.below)) if bound is not None
    ]
    return " and ".join(f"{word} {number(bound, 2).rstrip('0').rstrip('.')} {unit}".rstrip() for word, bound in bounds)


_VERDICTS = (
    (0.9, "yes", "is"),
    (0.6, "probably yes", "probably is"),
    (0.4, "too close to decide", "is too close to decide"),
    (0.1, "probably no", "probably is not"),
    (-1.0, "no", "is not"),
)
"""By the probability that a value lies within its bounds: what is written of an expected feature, of a confuser."""


def _verdict(presence: float, confuser: bool) -> str:
    return next(words[confuser] for limit, *words in _VERDICTS if presence > limit)


def _not_counted(finding: Weighed) -> str:
    return f" (not counted without {finding.feature.requires})" if finding.counted < 0.5 else ""


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an", as it is pronounced: an A-type star, an M-type giant, a B-type star."""
    letter = re.match(r"[A-Z]\b", noun)
    vowel = noun[0] in "AEFHILMNORSX" if letter else noun[0].lower() in "aeiou"
    return f"{'an' if vowel else 'a'} {noun}"


def _shape(feature: Feature, at_rest: Spectrum, measured: Measured) -> str:
    """Describe the width of a line that is there beyond doubt, as the hints judge it, and the two peaks of a disc."""
    if feature.kind != "line" or feature.quantity != "equivalent_width" or measured.significance < 5:
        return ""
    line = next((e for e in lines() if abs(e.at(feature.medium) - feature.wavelengths[0]) < 0.5), None)
    if line is None:
        return ""
    data = evidence(at_rest)
    fitted = data.line(line).detection
    if fitted is None or fitted.fwhm.significance <= 3:
        return ""
    seen_by = f", instrument {fitted.instrument:.0f} km/s" if fitted.instrument else ""
    parts = [f"a Gaussian has FWHM {with_error(fitted.fwhm, 'km/s')}{seen_by}"]
    maxima = data.two_maxima(line)
    if isinstance(maxima, TwoMaxima):
        parts.append(f"two maxima stand {with_error(maxima.separation, 'km/s')} apart")
    return f"Its shape: {'; '.join(parts)}."


def weighing(assessment: Assessment, title: str) -> str:
    """Return a judgement in plain words and, behind it, a list of the points on either side and their sum."""
    measured = [f for f in assessment.weighed if f.presence is not None]
    ranked = sorted(measured, key=lambda f: -abs(f.points))
    sides = (
        ("For", [f for f in ranked if f.points >= 0.25]),
        ("Against", [f for f in ranked if f.points <= -0.25]),
        ("Deciding little", [f for f in ranked if 0.05 <= abs(f.points) < 0.25]),
    )
    lines = [judgement(assessment, title, figures=False) + "."]
    lines += [f"{side}: {', '.join(_named(f) for f in findings)}." for side, findings in sides if findings]
    if unseen := [in_sentence(f.feature.name.partition(" (")[0]) for f in measured if _is_unseen(f)]:
        lines.append(f"Not seen, and would count against it: {', '.join(unseen)}.")
    if len(measured) < len(assessment.weighed):
        lines.append(f"Not measurable: {unmeasured(assessment.weighed)}.")
    total = f"Start {signed(assessment.start)}, total {signed(assessment.total)}"
    if assessment.total > 0 and not assessment.shown:
        total += ", but no primary feature is present, so the total counts as 0"
    lines.append(f"{total}; YES needs more than 0: {assessment.verdict}.")
    return "\n".join(lines)


def judgement(assessment: Assessment, title: str, figures: bool) -> str:
    """Return what decides, and what speaks against it or is excluded, as one sentence without its full stop.

    :param title: of the task
    :param figures: whether each feature has its value; then semicolons part them, so that each is read by itself
    """
    is_yes, name = assessment.verdict == "YES", _figure if figures else _name_or_not
    kind = with_article(re.sub(r" \(.*\)", "", title))
    measured = [f for f in assessment.weighed if f.presence is not None]
    # What is present speaks for the class, a confuser against it; absent, it is the other way round.
    plain = [f for f in measured if _within(f) is (f.points > 0) or f.feature.role == "confuser"]
    ranked = sorted((f for f in plain if abs(f.points) >= 0.25), key=lambda f: f.points, reverse=is_yes)
    deciding = [f for f in ranked[:3] if (f.points > 0) is is_yes]
    # That a line is not in absorption is nothing new where it is in emission.
    known = {f.feature.wavelengths[:1] for f in measured if _within(f) and f.points > 0} - {()}
    opposing = [f for f in ranked[::-1] if (f.points > 0) is not is_yes]
    opposing = [f for f in opposing if _within(f) or f.feature.wavelengths[:1] not in known]
    listed = list(map(name, sorted(deciding, key=lambda f: not _within(f))))
    parts = "; " if figures else ", "
    text = f"{parts}and ".join(filter(None, (parts.join(listed[:-1]), *listed[-1:]))) or "no single feature decides"
    if listed:
        verb = ("are", "speak") if len(listed) > 1 else ("is", "speaks")
        text += f" {f'{verb[0]} as expected of' if is_yes else f'{verb[1]} against'} {kind}"
    unseen = [f for f in measured if is_yes and _is_unseen(f) and _what(f)]
    unseen = [f for f in unseen if f.feature.wavelengths[:1] not in known] or unseen
    other = [f for f in (*opposing[:1], *deciding) if _within(f) and f.feature.role == "confuser" and _what(f)]
    if opposing:
        text += f"; {'against' if is_yes else 'for'} it: {name(opposing[0])}"
    if other:
        text += f"; {in_sentence(other[0].feature.name)} points to {_what(other[0])}"
    elif unseen and not opposing:
        text += f"; no {in_sentence(unseen[0].feature.name)} seen, so {_what(unseen[0])} is unlikely"
    return f"{text[0].upper()}{text[1:]}"


def _what(confuser: Weighed) -> str:
    """Return what the spectrum would be, with which the ``why`` of a confuser begins: "a B star"; "" if it does not."""
    begin = re.match(r"An? [^.:;]+", confuser.feature.why)
    return f"a{begin[0][1:]}" if begin else ""


def _is_unseen(finding: Weighed) -> bool:
    """Return whether a line or band that would count against the class is absent without doubt: nothing is detected."""
    feature, measured = finding.feature, finding.measured
    if (
        isinstance(feature, SkyFeature)
        or feature.role != "confuser"
        or (finding.presence or 0.0) > 0.1
        or isinstance(measured, Undefined)
    ):
        return False
    if feature.quantity == "equivalent_width" and feature.kind == "line" and absent(feature.name).startswith("no "):
        bound = feature.below if feature.above is None else feature.above
        return measured.value * (bound or 0.0) <= 0 or measured.significance < 3
    return feature.quantity in ("ratio", "depth") and absent(feature.name).startswith("no ")


def _named(finding: Weighed) -> str:
    unsure = finding.points > 0 and not _within(finding)
    name = f"perhaps {in_sentence(finding.feature.name)}" if unsure else _name_or_not(finding)
    return f"{name} ({signed(finding.points)})"


def _name_or_not(finding: Weighed) -> str:
    """Return the feature's name, denied if the feature does not lie within its bounds."""
    return in_sentence(finding.feature.name) if _within(finding) else absent(finding.feature.name)


def _figure(finding: Weighed) -> str:
    return f"{_name_or_not(finding)} ({_value(finding)})"


def _within(finding: Weighed) -> bool:
    return (finding.presence or 0.0) > 0.5


def absent(name: str) -> str:
    """Deny a feature by its name: "no Hβ emission", "CaH 6385 not weak (CaH1)"."""
    if name.startswith("No "):
        return name[3:]
    denied = re.sub(r" (very )?(weak|strong|broad|narrow|filled in)\b", r" not \1\2", name, count=1)
    return denied if denied != name else f"no {in_sentence(name)}"


def in_sentence(name: str) -> str:
    """Write a name that begins with an ordinary word with a small letter: "blue continuum", but "He I 4471"."""
    words = r"(Blue|Hot|High|Deep|No lines|Red|Broad|Weak|Strong|Colour|Luminosity|Motion|Variability|No pa|No pr)\b"
    return name[0].lower() + name[1:] if re.match(words, name) else name


def explanation(assessment: Assessment, title: str, reason: str = "") -> str:
    """Explain the answer in two sentences: what decides and what speaks against it, and how clear that is.

    :param title: of the task
    :param reason: why these data do not allow an answer; "" if they do
    """
    if reason:
        default = f"{assessment.verdict} is a default, because the format needs an answer; a person has to decide"
        return f"These data do not allow an answer: {reason}. {default}."
    size = abs(assessment.score)
    margin = "a narrow decision" if size < 1 else "a decision" if size < 3 else "a clear decision"
    decides = judgement(assessment, title, figures=True)
    return f"{decides}. By the scorecard this is {margin} ({signed(assessment.score)})."
