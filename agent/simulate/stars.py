"""Recipes for stars, white dwarfs and hot subdwarfs: lines and bands on a continuum.

A recipe takes the working grid (vacuum Å, rest frame of the source) and a random generator, and returns the flux and
the values it sampled.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from agent.lines import air_to_vacuum
from agent.simulate import atoms, molecules
from agent.simulate.atoms import balmer_absorption, cool_star_lines, hot_star_lines
from agent.simulate.molecules import absorb_bands
from agent.simulate.profiles import (
    FloatArray,
    absorb_gaussian,
    absorb_lorentzian,
    absorb_stark,
    balmer_jump,
    emit_disc,
    planck,
)

Facts = dict[str, str | float]
Recipe = tuple[FloatArray, Facts]


def hot_star(wavelength: FloatArray, rng: Generator, temperature: float, supergiant: bool) -> FloatArray:
    """An O, B, A or early F star without reddening. In a supergiant the hydrogen lines are narrow (low
    pressure).
    """
    hgamma = atoms.main_sequence_balmer(temperature) * rng.uniform(0.88, 1.12)
    jump = 0.5 * np.exp(-0.5 * (np.log(temperature / 9300) / 0.45) ** 2)
    flux = planck(wavelength, temperature) * balmer_jump(wavelength, float(jump))
    share = rng.uniform(0.12, 0.3) if supergiant else 1.0
    if supergiant and temperature > 22000:
        share += 0.25  # hydrogen lines depend less on luminosity there
    # In A stars the cores are about half deep at R 2000: the line is mostly wing.
    core = float(np.interp(temperature, (8000, 10000, 13000, 17000), (0.46, 0.48, 0.50, 0.55)))
    balmer_absorption(
        flux,
        wavelength,
        hgamma * share,
        core=0.75 if supergiant else core,
        last=24 if supergiant else 17,
    )
    v_sin_i = 40 if supergiant else float(rng.gamma(2.0, 70.0))
    hot_star_lines(flux, wavelength, temperature, v_sin_i, supergiant)
    if temperature < 9800:
        share_of_metals = np.clip((9800 - temperature) / 3000, 0, 1)
        flux *= np.exp(-0.05 * share_of_metals * atoms.haze(wavelength))
        for air, ew in (
            (3968.5, 0.7),
            (4226.7, 0.05),
            (4383.5, 0.12),
            (5172.7, 0.10),
            (5183.6, 0.15),
            (8542.1, 0.8),
            (8662.1, 0.8),
        ):
            absorb_gaussian(flux, wavelength, air_to_vacuum(air), 2.0 * float(share_of_metals) * ew, 5.0)
    return flux


def o_star(wavelength: FloatArray, rng: Generator) -> Recipe:
    temperature, supergiant = rng.uniform(31000, 47000), rng.random() < 0.2
    flux = hot_star(wavelength, rng, temperature, supergiant)
    if supergiant:
        wind = {6562.8: rng.uniform(0.5, 5), 4685.7: rng.uniform(0.5, 3), 4634.1: 0.5, 4640.6: 0.8}
        atoms.emission_lines(flux, wavelength, wind, 350)
    return flux, {
        "temperature": temperature,
        "state": "Of supergiant" if supergiant else "dwarf",
        "e_bv": rng.uniform(0.05, 0.9),
    }


def b_star(wavelength: FloatArray, rng: Generator) -> Recipe:
    temperature, supergiant = float(np.exp(rng.uniform(np.log(11000), np.log(29000)))), rng.random() < 0.15
    flux = hot_star(wavelength, rng, temperature, supergiant)
    return flux, {
        "temperature": temperature,
        "state": "supergiant" if supergiant else "dwarf",
        "e_bv": rng.uniform(0, 0.6),
    }


def be_star(wavelength: FloatArray, rng: Generator) -> Recipe:
    """A B star in a decretion disc: Hα in emission a few hundred km/s wide (Porter & Rivinius 2003, PASP
    115, 1153).
    """
    temperature = rng.uniform(12000, 28000)
    flux = hot_star(wavelength, rng, temperature, supergiant=False)
    halpha, rim = rng.uniform(8, 45), rng.uniform(90, 200)
    from_disc = {3: 1.0, 4: 0.12, 5: 0.03}
    for upper, share in from_disc.items():
        emit_disc(flux, wavelength, atoms.balmer_wavelength(upper), halpha * share, rim, inner=0.3)
    return flux, {"temperature": temperature, "state": "Be", "e_bv": rng.uniform(0.05, 0.5)}


def a_star(wavelength: FloatArray, rng: Generator) -> Recipe:
    temperature, supergiant = rng.uniform(7500, 10300), rng.random() < 0.12
    flux = hot_star(wavelength, rng, temperature, supergiant)
    return flux, {
        "temperature": temperature,
        "state": "supergiant" if supergiant else "dwarf",
        "e_bv": rng.uniform(0, 0.3),
    }


def fgk_star(wavelength: FloatArray, rng: Generator) -> Recipe:
    temperature, dwarf = rng.uniform(4000, 7000), rng.random() < 0.7
    metals = rng.uniform(0.4, 1.3)
    flux = cool_star(wavelength, temperature, metals, dwarf)
    return flux, {
        "temperature": temperature,
        "state": "dwarf" if dwarf else "giant",
        "e_bv": rng.uniform(0, 0.3),
    }


def cool_star(wavelength: FloatArray, temperature: float, metals: float, dwarf: bool) -> FloatArray:
    """An F, G or K star without reddening; MgH and the first TiO appear below 4300 K."""
    flux = planck(wavelength, temperature) * balmer_jump(wavelength, 0.12)
    balmer_absorption(flux, wavelength, atoms.main_sequence_balmer(temperature), core=0.7, last=10)
    cool_star_lines(flux, wavelength, temperature, metals, dwarf)
    absorb_bands(flux, wavelength, molecules.MGH, 0.6 * float(np.clip((5000 - temperature) / 900, 0, 1)) * dwarf)
    absorb_bands(flux, wavelength, molecules.TIO, 0.2 * float(np.clip((4250 - temperature) / 400, 0, 1)))
    absorb_bands(flux, wavelength, molecules.CN_VIOLET, 0.25 * (not dwarf) * metals, to_red=False)
    return flux


def carbon_like_giant(wavelength: FloatArray, rng: Generator) -> Recipe:
    """A barium or CH giant of type G or K: strong CH, CN and Ba II; C₂ faint at best (Keenan 1942; McClure
    1984, PASP 96, 117).
    """
    temperature = rng.uniform(4700, 5500)
    flux = cool_star(wavelength, temperature, 0.8, dwarf=False)
    absorb_gaussian(flux, wavelength, air_to_vacuum(4304.0), rng.uniform(2, 5), 24.0)
    absorb_bands(flux, wavelength, molecules.CN_VIOLET, rng.uniform(0.3, 0.7), to_red=False)
    absorb_bands(flux, wavelength, molecules.SWAN, rng.uniform(0.0, 0.08), to_red=False)
    for air, ew in ((4077.7, 0.8), (4215.5, 0.5), (4554.0, 0.9), (4934.1, 0.6), (6141.7, 0.4), (6496.9, 0.5)):
        absorb_gaussian(flux, wavelength, air_to_vacuum(air), ew, 3.5)
    return flux, {"temperature": temperature, "state": "barium or CH giant", "e_bv": rng.uniform(0, 0.3)}


_M_TIO = (0.22, 0.32, 0.45, 0.62, 0.85, 1.15, 1.55, 2.0, 2.5)
_M_GIANT_TEMPERATURE = (3850, 3780, 3710, 3630, 3540, 3430, 3270, 3080, 2850)
_M_DWARF_TEMPERATURE = (3850, 3680, 3510, 3380, 3200, 3030, 2850, 2680, 2570)


def m_giant(wavelength: FloatArray, rng: Generator) -> Recipe:
    """M0 III to M8 III: TiO by type, VO from M5; weak CaH, weak neutral sodium, strong calcium triplet
    (Fluks et al. 1994, A&AS 105, 311), Hα of the chromosphere 1 Å strong (Eaton 1995, AJ 109, 1797).
    """
    subtype = rng.uniform(0, 8)
    temperature = float(np.interp(subtype, range(9), _M_GIANT_TEMPERATURE))
    flux = planck(wavelength, temperature)
    cool_star_lines(flux, wavelength, max(temperature, 3500), 0.8, dwarf=False)
    absorb_bands(flux, wavelength, molecules.TIO, float(np.interp(subtype, range(9), _M_TIO)) * rng.uniform(0.9, 1.1))
    absorb_bands(flux, wavelength, molecules.VO, 0.35 * max(subtype - 4.5, 0))
    absorb_bands(flux, wavelength, molecules.CN_RED, 0.08)
    absorb_gaussian(flux, wavelength, atoms.balmer_wavelength(3), 1.1, 3.0)
    return flux, {"subtype": subtype, "state": "giant", "e_bv": float(rng.gamma(1.5, 0.15))}


def m_dwarf(wavelength: FloatArray, rng: Generator, active: bool = False) -> Recipe:
    """M0 V to M8 V: TiO as in giants, but strong CaH, Na I, K I and Ca I (Reid et al. 1995; Kirkpatrick et
    al. 1991, ApJS 77, 417).
    """
    subtype = rng.uniform(2 if active else 0, 8)
    temperature = float(np.interp(subtype, range(9), _M_DWARF_TEMPERATURE))
    flux = planck(wavelength, temperature)
    cool_star_lines(flux, wavelength, max(temperature, 3500), 0.6, dwarf=True)
    absorb_bands(flux, wavelength, molecules.TIO, 0.72 * float(np.interp(subtype, range(9), _M_TIO)))
    absorb_bands(flux, wavelength, molecules.VO, 0.3 * max(subtype - 5.5, 0))
    hydride = float(np.interp(subtype, (0, 2, 4, 8), (0.25, 0.45, 0.75, 0.9)))
    absorb_bands(flux, wavelength, molecules.CAH, hydride, to_red=False)
    absorb_gaussian(flux, wavelength, air_to_vacuum(6235.0), 30 * hydride**2, 35.0)  # CaOH
    absorb_bands(flux, wavelength, molecules.MGH, 0.8 * hydride)
    growth = float(np.interp(subtype, (0, 4, 8), (1.0, 2.0, 3.0)))
    for air, ew, fwhm in (
        (4226.7, 4.0, 12.0), (5890.0, 2.0, 9.0), (5895.9, 1.8, 9.0), (7664.9, 0.8, 6.0), (7699.0, 0.7, 6.0),
        (8183.3, 0.9, 5.0), (8194.8, 1.2, 5.0),
    ):  # fmt: skip
        absorb_lorentzian(flux, wavelength, air_to_vacuum(air), ew * growth, fwhm * 0.7)
    if not active:
        # Hα of a quiet chromosphere (Cram & Mullan 1979, ApJ 234, 579).
        absorb_gaussian(flux, wavelength, atoms.balmer_wavelength(3), 0.4, 2.0)
    if active:
        halpha = rng.uniform(1.5, 12)
        decrement = {6562.8: 1.0, 4861.3: 1.2, 4340.5: 1.4, 4101.7: 1.5, 3970.1: 1.0, 3933.7: 1.6}
        atoms.emission_lines(flux, wavelength, {air: halpha * share for air, share in decrement.items()}, 90)
    return flux, {
        "subtype": subtype,
        "state": "active dwarf" if active else "dwarf",
        "e_bv": rng.uniform(0, 0.05),
    }


def active_m_dwarf(wavelength: FloatArray, rng: Generator) -> Recipe:
    """An M dwarf with chromospheric Balmer and Ca II emission, unresolved (Reid et al. 1995)."""
    return m_dwarf(wavelength, rng, active=True)


def s_star(wavelength: FloatArray, rng: Generator) -> Recipe:
    """An S star: ZrO in addition to or instead of TiO, LaO in the purest, strong Na D and Ba II (Keenan 1954; Ake
    1979, ApJ 234, 538).
    """
    temperature, purity = rng.uniform(2900, 3700), rng.uniform(0.2, 1.0)
    coolness = 0.5 + (3700 - temperature) / 800
    flux = planck(wavelength, temperature)
    cool_star_lines(flux, wavelength, max(temperature, 3500), 0.8, dwarf=False)
    absorb_bands(flux, wavelength, molecules.TIO, (1.3 - purity) * 0.9 * coolness)
    absorb_bands(flux, wavelength, molecules.ZRO, (0.3 + 0.5 * purity) * coolness)
    absorb_bands(flux, wavelength, molecules.LAO, max(purity - 0.4, 0) * coolness)
    absorb_bands(flux, wavelength, molecules.CN_RED, 0.15)
    for air, ew in ((4554.0, 1.4), (4934.1, 1.0), (5890.0, 2.5), (5895.9, 2.2), (6141.7, 1.2), (6496.9, 2.2)):
        absorb_gaussian(flux, wavelength, air_to_vacuum(air), ew, 5.0)
    if rng.random() < 0.25:
        atoms.emission_lines(flux, wavelength, {6562.8: 4.0, 4861.3: 2.0, 4340.5: 3.0, 4101.7: 5.0}, 90)
    return flux, {
        "temperature": temperature,
        "purity": purity,
        "state": "S",
        "e_bv": float(rng.gamma(1.5, 0.1)),
    }


def carbon_star(wavelength: FloatArray, rng: Generator) -> Recipe:
    """A carbon star: cool N type, warm R or CH type, or dwarf (Keenan 1993, PASP 105, 905; Green 2013, ApJ
    765, 12).
    """
    state = str(rng.choice(["N", "R or CH", "dwarf"], p=[0.4, 0.45, 0.15]))
    temperature = {
        "N": rng.uniform(2500, 3300),
        "R or CH": rng.uniform(3900, 5000),
        "dwarf": rng.uniform(3700, 4300),
    }[state]
    swan = {"N": rng.uniform(1.0, 2.8), "R or CH": rng.uniform(0.45, 1.8), "dwarf": rng.uniform(0.5, 1.5)}[state]
    flux = planck(wavelength, temperature)
    cool_star_lines(flux, wavelength, max(temperature, 3700), 0.9, dwarf=state == "dwarf")
    absorb_bands(flux, wavelength, molecules.SWAN, swan, to_red=False)
    absorb_bands(flux, wavelength, molecules.CN_RED, swan * {"N": 1.0, "R or CH": 0.85, "dwarf": 0.6}[state])
    absorb_bands(flux, wavelength, molecules.CN_VIOLET, 0.4 + 0.5 * swan, to_red=False)
    if state == "N":
        # Violet depression: an unidentified or SiC₂ and C₃ opacity below about 4500 Å (Yamashita 1972, Ann.
        # Tokyo Obs. 13, 169).
        flux *= np.exp(-1.5 * np.clip((4700 - wavelength) / 500, 0, 3))
        absorb_gaussian(flux, wavelength, air_to_vacuum(5892.0), 5.0, 9.0)
    for air, ew in ((4554.0, 0.8), (4934.1, 0.5), (6141.7, 0.5), (6496.9, 0.5)):
        absorb_gaussian(flux, wavelength, air_to_vacuum(air), ew, 4.5)
    if rng.random() < 0.12:
        atoms.emission_lines(flux, wavelength, {6562.8: rng.uniform(1, 5)}, 90)
    return flux, {
        "temperature": temperature,
        "state": state,
        "swan": swan,
        "e_bv": float(rng.gamma(1.5, 0.12)),
    }


def hydrogen_white_dwarf(wavelength: FloatArray, temperature: float, strength: float = 1.0) -> FloatArray:
    """DA: Balmer lines tens of Å wide, shallow in hot stars and towards the series limit (log g near 8)."""
    flux = planck(wavelength, temperature) * balmer_jump(wavelength, 0.12 if temperature < 20000 else 0.03)
    hgamma = atoms.white_dwarf_balmer(temperature) * strength
    balmer_absorption(flux, wavelength, hgamma, core=atoms.white_dwarf_core(temperature), last=10, dissolution=0.1)
    return flux


def white_dwarf(wavelength: FloatArray, rng: Generator) -> Recipe:
    """A white dwarf of spectral type DA, DB, DC, DZ, DQ or DO (Sion et al. 1983, ApJ 269, 253)."""
    kind = str(rng.choice(["DA", "DB", "DC", "DZ", "DQ", "DO"], p=[0.62, 0.13, 0.06, 0.07, 0.07, 0.05]))
    recipe = {"DA": _da, "DB": _db, "DC": _dc, "DZ": _dz, "DQ": _dq, "DO": _do}[kind]
    flux, temperature = recipe(wavelength, rng)
    return flux, {"temperature": temperature, "state": kind, "e_bv": rng.uniform(0, 0.06)}


def hot_subdwarf(wavelength: FloatArray, rng: Generator) -> Recipe:
    """sdB, sdO or He-sdO: log g 5 to 6, lines between those of a B star and a white dwarf (Heber 2009, ARA&A
    47, 211).
    """
    kind = str(rng.choice(["sdB", "sdO", "He-sdO"], p=[0.6, 0.2, 0.2]))
    temperature = rng.uniform(24000, 34000) if kind == "sdB" else rng.uniform(38000, 55000)
    flux = planck(wavelength, temperature)
    hydrogen = {"sdB": rng.uniform(5.0, 8.5), "sdO": rng.uniform(3.5, 5.5), "He-sdO": rng.uniform(0.3, 1.5)}[kind]
    balmer_absorption(flux, wavelength, hydrogen, core=rng.uniform(0.24, 0.38), last=12, dissolution=0.02)
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
    absorb_bands(flux, wavelength, molecules.SWAN, rng.uniform(0.08, 0.7), to_red=False)
    return flux, temperature


def _do(wavelength: FloatArray, rng: Generator) -> tuple[FloatArray, float]:
    temperature = rng.uniform(48000, 90000)
    flux = planck(wavelength, temperature)
    for air, share in atoms.HELIUM_II.items():
        absorb_stark(flux, wavelength, air_to_vacuum(air), rng.uniform(6, 12) * share, 0.4)
    return flux, temperature
