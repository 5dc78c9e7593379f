"""How a file was read, in words: from what the arrays of a spectrum come, and what of the file was not used.

Readers keep it in ``Spectrum.meta`` (docs/formats.md, "How a file was read"). Older spectra have only some of the keys.
"""

from __future__ import annotations

from agent.language import deferred, deferredn, joined
from agent.spectrum.record import Scalar, Spectrum

Line = tuple[str, str]
"""A label and a text, to be translated where they are shown."""

COUNTS = ("pixels_without_wavelength", "pixels_repeated", "pixels_of_overlaps")
"""Keys with numbers of pixels, which name nothing of the file."""
KEYS = (
    *("read_as", "read_by", "axis_from", "flux_from", "flux_unit_in_file", "errors_from", "mask_from"),
    *("medium_from", "medium_assumed", "medium_set_by"),
    *("velocity_frame", "velocity_frame_from", "velocity_correction"),
    *("not_used", "columns_unused", "arms_missing", *COUNTS, "wavelengths_unrounded"),
)

_WORDS = {
    word: word
    for word in (
        *(deferred("air"), deferred("vacuum"), deferred("heliocentric"), deferred("barycentric")),
        *(deferred("geocentric"), deferred("topocentric"), deferred("unknown"), deferred("relative")),
        *(deferred("count"), deferred("counts"), deferred("adu"), deferred("normalized"), deferred("normalised")),
    )
}


def account(spectrum: Spectrum) -> list[Line]:
    """Return how a file was read; what is not known is left out."""
    return [
        *sources(spectrum),
        (deferred("medium"), _medium(spectrum)),
        *_velocity_frame(spectrum),
        *warnings(spectrum),
    ]


def sources(spectrum: Spectrum) -> list[Line]:
    """Return from what layout, wavelengths, flux, errors and mask were read."""
    in_file = _text(spectrum, "flux_unit_in_file")
    unit = deferred("{unit} (in the file: {in_file})", unit=spectrum.flux_unit, in_file=in_file) if in_file else ""
    errors = _text(spectrum, "errors_from")
    if spectrum.errors == "estimated":
        errors = deferred("estimated from the scatter of the pixels")
    lines = (
        (deferred("layout"), _text(spectrum, "read_as") or _text(spectrum, "read_by")),
        (deferred("wavelengths from"), _text(spectrum, "axis_from")),
        (deferred("flux from"), _text(spectrum, "flux_from")),
        (deferred("flux unit"), unit or _WORDS.get(spectrum.flux_unit, spectrum.flux_unit)),
        (deferred("errors from") if spectrum.errors == "measured" else deferred("errors"), errors),
        (deferred("mask from"), _text(spectrum, "mask_from")),
    )
    return [(label, text) for label, text in lines if text]


def warnings(spectrum: Spectrum) -> list[Line]:
    """Return what of the file was not used, left out or changed: shown without being asked for."""
    columns, without, repeated, overlaps = (_count(spectrum, key) for key in ("columns_unused", *COUNTS))
    arms, unrounded = _text(spectrum, "arms_missing"), spectrum.meta.get("wavelengths_unrounded") is True
    all_without = deferredn(
        "{n} pixel whose wavelength is 0, negative or NaN",
        "{n} pixels whose wavelengths are 0, negative or NaN",
        without,
    )
    all_repeated = deferredn(
        "{n} pixel averaged with another of the same wavelength",
        "{n} pixels averaged with others of the same wavelength",
        repeated,
    )
    all_overlaps = deferredn("{n} pixel where two orders overlap", "{n} pixels where two orders overlap", overlaps)
    lines = (
        (deferred("not used"), _text(spectrum, "not_used")),
        (deferred("not used"), deferredn("{n} column", "{n} columns", columns) if columns else ""),
        (deferred("left out"), all_without if without else ""),
        (deferred("left out"), all_overlaps if overlaps else ""),
        (deferred("left out"), deferred("the file has no data of arm {arms}", arms=arms) if arms else ""),
        (deferred("changed"), all_repeated if repeated else ""),
        (deferred("changed"), deferred("wavelengths rounded in the file, evenly spaced again") if unrounded else ""),
    )
    labels = dict.fromkeys(label for label, text in lines if text)
    return [(label, joined(text for other, text in lines if text and other == label)) for label in labels]


def _medium(spectrum: Spectrum) -> str:
    medium, source = _WORDS[spectrum.medium], _text(spectrum, "medium_from")
    if spectrum.meta.get("medium_assumed") is True:
        return deferred("{medium} (assumed: the file does not say)", medium=medium)
    if "medium_set_by" in spectrum.meta:
        return deferred("{medium} (stated by a person: the file does not say)", medium=medium)
    return deferred("{what} ({source})", what=medium, source=source) if source else medium


def _velocity_frame(spectrum: Spectrum) -> list[Line]:
    frame, source = _text(spectrum, "velocity_frame"), _text(spectrum, "velocity_frame_from")
    if not frame:
        return []
    frame = _WORDS.get(frame, frame)
    applied: Scalar = spectrum.meta.get("velocity_correction")
    if isinstance(applied, float):
        source = deferred("{source}, {velocity:+.2f} km/s applied", source=source, velocity=applied)
    text = deferred("{what} ({source})", what=frame, source=source) if source else frame
    return [(deferred("velocity frame"), text)]


def _text(spectrum: Spectrum, key: str) -> str:
    value = spectrum.meta.get(key)
    return value if isinstance(value, str) else ""


def _count(spectrum: Spectrum, key: str) -> int:
    value = spectrum.meta.get(key)
    return value if isinstance(value, int) and value > 0 else 0
