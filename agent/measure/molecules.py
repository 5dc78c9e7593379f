"""Which molecules a spectrum shows, by the indices of the literature: present, absent, or not decided.

A single index can be low because of noise, an emission line or another molecule, so each molecule needs two indices,
and C2 needs that TiO is absent. The bounds were chosen on one half of a collection of real spectra; docs/hints.md has
the figures on the other half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agent.lines import Band, bands, convert_window, indices
from agent.measure.bands import band_index, flux_ratio
from agent.measure.profile import equivalent_width
from agent.measure.values import Measured, Undefined
from agent.spectrum import Spectrum

State = Literal["present", "absent", "undecided"]

BREAK_ABOVE = 1.3  # Dn(4000) of a break; young stars and hot stars have less (Kauffmann et al. 2003 MNRAS 341, 33)
NO_BREAK_BELOW = 1.1
BLUE = 1.05  # C2-5165 of a continuum that is so blue that the index says nothing about shallow bands


@dataclass(frozen=True)
class MoleculeEvidence:
    """Whether a molecule's bands are there, and the indices that decide it, by name."""

    species: str
    state: State
    indices: tuple[tuple[str, Measured | Undefined], ...]


@dataclass(frozen=True)
class _Bound:
    """Index (a name of indices.toml, or "head 4737" for the fall across a band head) and its two bounds."""

    index: str
    present_below: float
    absent_above: float


# Present: all of `needed` are below their first bound by 2σ. Absent: any of them is above its second bound by 2σ.
_RULES: dict[str, tuple[_Bound, ...]] = {
    "TiO": (_Bound("TiO5", 0.85, 0.95), _Bound("CaOH", 0.90, 0.98)),
    "C2": (_Bound("C2-4737", 0.85, 0.95), _Bound("C2-5165", 0.80, 0.92)),
    "CN": (_Bound("CN-6926", 0.90, 0.98), _Bound("CN-7872", 0.92, 0.99)),
    "CaH": (_Bound("CaH1", 0.90, 0.97), _Bound("TiO5", 0.85, 0.95)),
    "ZrO": (_Bound("ZrO-6474", 0.80, 0.95), _Bound("ZrO-6345", 0.94, 0.98)),
    "VO": (_Bound("VO7434", 0.85, 0.95), _Bound("CaOH", 0.60, 0.90)),
}
# Swan bands of warm DQ white dwarfs lie on a steep blue continuum: the fall across the head shows them.
_HEADS: dict[str, tuple[_Bound, ...]] = {"C2": (_Bound("head 4737", 0.94, 0.98), _Bound("head 5165", 0.94, 0.98))}
_EXCLUDES = {"C2": "TiO", "CN": "TiO"}
# Emission lines of novae (He I 7065, [O I] 6300) lie in the continuum of both TiO indices, but not at these two heads.
_TIO_HEADS = (("head 7054", 0.95), ("head 6159", 0.93))
_DEEP_TIO = ("head 7054", 0.85)
_NEEDS = {"CaH": "TiO", "VO": "TiO"}


def molecule(spectrum: Spectrum, species: str) -> MoleculeEvidence | None:
    """Return what the indices say about a molecule in a spectrum at rest; None for a molecule without a rule."""
    if species not in _RULES:
        return None
    indices = [(bound, _measured(spectrum, bound.index)) for bound in _RULES[species]]
    state = _state(indices)
    if state != "present" and species in _HEADS:
        by_head = [(bound, _measured(spectrum, bound.index)) for bound in _HEADS[species]]
        by_head_state = _state(by_head)
        if by_head_state == "present":
            indices, state = [*indices, *by_head], "present"
        elif state == "absent" and (by_head_state != "absent" or _holds(indices[1][1], lambda v, _: v > BLUE)):
            # On a blue continuum shallow bands do not bring the index below 1.
            indices, state = [*indices, *by_head], "undecided"
    excluded = _EXCLUDES.get(species)
    if state == "present" and excluded is not None and _has(spectrum, excluded):
        other = [(bound, _measured(spectrum, bound.index)) for bound in _RULES[excluded]]
        indices, state = [*indices, *other], "undecided"
    needed = _NEEDS.get(species)
    if state == "present" and not (
        (species != "TiO" or _falls_at_tio(spectrum)) and (needed is None or _has(spectrum, needed))
    ):
        state = "undecided"
    return MoleculeEvidence(species, state, tuple((bound.index, value) for bound, value in indices))


def _falls_at_tio(spectrum: Spectrum) -> bool:
    """Return whether the flux falls across the heads of TiO; in the latest types it is faint and flat at 6159 Å."""
    return _falls(spectrum, *_DEEP_TIO) or all(_falls(spectrum, head, below) for head, below in _TIO_HEADS)


def _falls(spectrum: Spectrum, head: str, below: float) -> bool:
    """Return whether the flux falls across a band head to less than ``below``, or may do so within 1σ; True where it is
    not covered.
    """
    fall = _measured(spectrum, head)
    return isinstance(fall, Undefined) or fall.value - fall.error < below


def _has(spectrum: Spectrum, species: str) -> bool:
    needed = molecule(spectrum, species)
    return needed is not None and needed.state == "present"


def _state(indices: list[tuple[_Bound, Measured | Undefined]]) -> State:
    measured = [(bound, value) for bound, value in indices if isinstance(value, Measured)]
    if len(measured) == len(indices) and all(m.value + 2 * m.error < bound.present_below for bound, m in measured):
        return "present"
    if any(m.value - 2 * m.error > bound.absent_above for bound, m in measured):
        return "absent"
    return "undecided"


def _holds(value: Measured | Undefined, test: Callable[[float, float], bool]) -> bool:
    return isinstance(value, Measured) and test(value.value, value.error)


def _measured(spectrum: Spectrum, name: str) -> Measured | Undefined:
    if name.startswith("head "):
        number = name.removeprefix("head ")
        band = next(b for b in bands() if b.species in ("C2", "TiO") and b.name.endswith(number))
        return head_ratio(spectrum, band)
    return band_index(spectrum, indices()[name])


def head_ratio(spectrum: Spectrum, band: Band) -> Measured | Undefined:
    """Return the mean flux from 3 to 15 Å inside a band's head over that from 3 to 15 Å before it."""
    head, toward = band.at(spectrum.medium), 1.0 if band.shading == "red" else -1.0
    before = sorted((head - toward * 3.0, head - toward * 15.0))
    after = sorted((head + toward * 3.0, head + toward * 15.0))
    return flux_ratio(spectrum, (after[0], after[1]), [(before[0], before[1])])


def is_cool(spectrum: Spectrum) -> bool:
    """Return whether the spectrum is that of a cool star: TiO, C2 or the Mg b lines.

    In such a spectrum a feature at the wavelength of a helium line is a blend of metal lines or bands, and a bump is
    a stretch between bands.
    """
    span, *sides = (convert_window(window, "air", spectrum.medium) for window in _MG_B)
    return has_bands(spectrum) or _holds(
        equivalent_width(spectrum, span, sides), lambda value, error: value - error > 1.5
    )


def has_bands(spectrum: Spectrum) -> bool:
    """Return whether molecules shape the continuum of a spectrum at rest: TiO, C2, CN or ZrO."""
    by_tio = _holds(_measured(spectrum, "TiO5"), lambda value, error: value + error < 0.85)
    if by_tio and _falls_at_tio(spectrum):
        return True
    return any(_has(spectrum, species) for species in ("TiO", "C2", "CN", "ZrO"))


_MG_B = ((5158.0, 5192.0), (5110.0, 5150.0), (5200.0, 5240.0))
"""The Mg b lines and their two side bands, Å in air."""


def break_4000(spectrum: Spectrum) -> Measured | Undefined:
    """Return Dn(4000): mean F_ν of 4000–4100 Å over that of 3850–3950 Å (Balogh et al. 1999 ApJ 527, 54; air, rest).

    F_ν is proportional to λ² F_λ; the square of the ratio of the mid-wavelengths is used.
    """
    red, blue = (convert_window(window, "air", spectrum.medium) for window in ((4000.0, 4100.0), (3850.0, 3950.0)))
    ratio = flux_ratio(spectrum, red, [blue])
    scale = (4050.0 / 3900.0) ** 2
    return ratio if isinstance(ratio, Undefined) else Measured(ratio.value * scale, ratio.error * scale)
