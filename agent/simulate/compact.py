"""Recipes for white dwarfs and hot subdwarfs. Same shape as the recipes in ``agent.simulate.stars``."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from agent.lines import air_to_vacuum
from agent.simulate import atoms, molecules
from agent.simulate.atoms import balmer_absorption
from agent.simulate.molecules import absorb_bands
from agent.simulate.profiles import FloatArray, absorb_lorentzian, absorb_stark, balmer_jump, planck
from agent.simulate.stars import Recipe


def hydrogen_white_dwarf(wavelength: FloatArray, temperature: float, strength: float = 1.0) -> FloatArray:
    """DA: Balmer lines tens of Å wide that vanish quickly towards the series limit (log g near 8)."""
    flux = planck(wavelength, temperature) * balmer_jump(wavelength, 0.12 if temperature < 20000 else 0.03)
    hgamma = atoms.white_dwarf_balmer(temperature) * strength
    balmer_absorption(flux, wavelength, hgamma, core=0.5 + 0.1 * (temperature < 20000), last=9, steepness=0.35)
    return flux


def white_dwarf(wavelength: FloatArray, rng: Generator) -> Recipe:
    """A white dwarf of spectral type DA, DB, DC, DZ, DQ or DO (Sion et al. 1983, ApJ 269, 253)."""
    kind = str(rng.choice(["DA", "DB", "DC", "DZ", "DQ", "DO"], p=[0.62, 0.13, 0.06, 0.07, 0.07, 0.05]))
    draw = {"DA": _da, "DB": _db, "DC": _dc, "DZ": _dz, "DQ": _dq, "DO": _do}[kind]
    flux, temperature = draw(wavelength, rng)
    return flux, {"temperature": temperature, "state": kind, "e_bv": rng.uniform(0, 0.06)}


def hot_subdwarf(wavelength: FloatArray, rng: Generator) -> Recipe:
    """sdB, sdO or He-sdO: log g 5 to 6, lines between those of a B star and a white dwarf (Heber 2009, ARA&A
    47, 211).
    """
    kind = str(rng.choice(["sdB", "sdO", "He-sdO"], p=[0.6, 0.2, 0.2]))
    temperature = rng.uniform(24000, 34000) if kind == "sdB" else rng.uniform(38000, 55000)
    flux = planck(wavelength, temperature)
    hydrogen = {"sdB": rng.uniform(5.0, 8.5), "sdO": rng.uniform(3.5, 5.5), "He-sdO": rng.uniform(0.3, 1.5)}[kind]
    balmer_absorption(flux, wavelength, hydrogen, core=0.55, last=12, steepness=0.08)
    helium = {"sdB": (0.4, 0.0), "sdO": (0.3, 1.2), "He-sdO": (2.0, 2.5)}[kind]
    for lines, ew in zip((atoms.HELIUM_I, atoms.HELIUM_II), helium, strict=True):
        for air, share in lines.items():
            absorb_stark(flux, wavelength, air_to_vacuum(air), ew * share, 0.5)
    return flux, {"temperature": temperature, "state": kind, "e_bv": rng.uniform(0, 0.1)}


def _da(wavelength: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
    temperature = float(np.exp(rng.uniform(np.log(6800), np.log(60000))))
    return hydrogen_white_dwarf(wavelength, temperature, rng.uniform(0.85, 1.15)), temperature


def _db(wavelength: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
    """Helium lines tens of Å wide, no hydrogen (Beauchamp et al. 1999, ApJ 516, 887)."""
    temperature = rng.uniform(12500, 28000)
    flux = planck(wavelength, temperature)
    strongest = float(np.interp(temperature, (12000, 16000, 24000, 30000), (3.0, 13.0, 20.0, 14.0)))
    for air, share in atoms.HELIUM_I.items():
        absorb_stark(flux, wavelength, air_to_vacuum(air), strongest * share, 0.5)
    return flux, temperature


def _dc(wavelength: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
    temperature = rng.uniform(5500, 11000)
    return planck(wavelength, temperature), temperature


def _dz(wavelength: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
    """Ca II H and K, very broad in dense helium, with Mg I and Fe I (Dufour et al. 2007, ApJ 663, 1291)."""
    temperature = rng.uniform(6000, 10000)
    flux = planck(wavelength, temperature)
    calcium, width = rng.uniform(8, 45), rng.uniform(10, 30)
    for air, share in ((3933.7, 1.0), (3968.5, 0.8)):
        absorb_lorentzian(flux, wavelength, air_to_vacuum(air), calcium * share, width)
    for air, share in ((4226.7, 0.10), (5172.7, 0.10), (5183.6, 0.12), (4383.5, 0.04), (8542.1, 0.04)):
        absorb_lorentzian(flux, wavelength, air_to_vacuum(air), calcium * share, width * 0.5)
    return flux, temperature


def _dq(wavelength: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
    """Swan bands on a blue continuum, without CN, CH or metals (Dufour, Bergeron & Fontaine 2005, ApJ 627,
    404).
    """
    temperature = rng.uniform(6500, 10000)
    flux = planck(wavelength, temperature)
    absorb_bands(flux, wavelength, molecules.SWAN, rng.uniform(0.3, 1.2), to_red=False)
    return flux, temperature


def _do(wavelength: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
    temperature = rng.uniform(48000, 90000)
    flux = planck(wavelength, temperature)
    for air, share in atoms.HELIUM_II.items():
        absorb_stark(flux, wavelength, air_to_vacuum(air), rng.uniform(6, 12) * share, 0.4)
    return flux, temperature
