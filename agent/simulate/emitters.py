"""Recipes for sources with emission lines: cataclysmic variables, T Tauri stars, quasars, H II galaxies."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from agent.lines import air_to_vacuum
from agent.simulate import atoms
from agent.simulate.profiles import FloatArray, absorb_stark, emit_disc, emit_gaussian, power_law
from agent.simulate.stars import Recipe, cool_star, hydrogen_white_dwarf, m_dwarf

_HELIUM_IN_DISCS = {4471.5: 0.22, 4921.9: 0.10, 5015.7: 0.12, 5875.6: 0.30, 6678.2: 0.18, 7065.2: 0.15}


def cataclysmic_variable(wavelength: FloatArray, rng: Generator) -> Recipe:
    """A white dwarf fed by a Roche-lobe-filling star, in one of five states (Warner 1995, Cataclysmic
    Variable Stars).
    """
    states = {"quiescent": 0.42, "novalike": 0.18, "outburst": 0.15, "polar": 0.12, "low": 0.13}
    state = str(rng.choice(list(states), p=list(states.values())))
    recipe = {
        "quiescent": _quiescent,
        "novalike": _novalike,
        "outburst": _outburst,
        "polar": _polar,
        "low": _low,
    }[state]
    return recipe(wavelength, rng), {"state": state, "e_bv": rng.uniform(0, 0.2)}


def t_tauri_star(wavelength: FloatArray, rng: Generator) -> Recipe:
    """A K7 to M3 star, veiled, with strong narrow Hα, Ca II and [O I] emission and Li I 6708 (Hartmann,
    Herczeg & Calvet 2016, ARA&A 54, 135).
    """
    flux = (
        m_dwarf(wavelength, rng)[0] if rng.random() < 0.5 else cool_star(wavelength, rng.uniform(4000, 4500), 1.0, True)
    )
    flux = flux + rng.uniform(0.0, 0.6) * power_law(wavelength, -1.0)
    absorb_stark(flux, wavelength, air_to_vacuum(6707.8), 0.4, 0.4)
    halpha = rng.uniform(15, 120)
    shares = {
        6562.8: 1.0,
        4861.3: 0.30,
        4340.5: 0.2,
        4101.7: 0.18,
        3933.7: 0.3,
        3968.5: 0.25,
        6300.3: 0.03,
        8498.0: 0.12,
        8542.1: 0.13,
        8662.1: 0.11,
    }
    atoms.emission_lines(
        flux, wavelength, {air: halpha * share for air, share in shares.items()}, rng.uniform(150, 350)
    )
    return flux, {"state": "classical T Tauri", "e_bv": rng.uniform(0.1, 0.8)}


def quasar(wavelength: FloatArray, rng: Generator) -> Recipe:
    """A power law with broad lines at the strengths of Vanden Berk et al. (2001, AJ 122, 549), hydrogen
    forest blueward of Lyα.
    """
    flux = power_law(wavelength, rng.uniform(-1.9, -1.1))
    fwhm = rng.uniform(2800, 7000)
    broad: dict[float, float] = {
        1215.7: 90, 1240.1: 15, 1396.8: 8, 1549.1: 28, 1908.7: 21, 2798.7: 32, 4102.9: 5, 4341.7: 13,
        4862.7: 46, 6564.6: 190,
    }  # fmt: skip
    narrow: dict[float, float] = {3728.5: 1.6, 3869.9: 1.4, 4960.3: 3.5, 5008.2: 13, 6585.3: 3, 6725.0: 2}
    for centre, ew in broad.items():
        emit_gaussian(flux, wavelength, centre, ew * rng.uniform(0.6, 1.4), fwhm)
    for centre, ew in narrow.items():
        emit_gaussian(flux, wavelength, centre, ew * rng.uniform(0.5, 1.5), rng.uniform(300, 700))
    for iron_blend, ew in ((2450.0, 30), (4570.0, 20), (5280.0, 18)):
        emit_gaussian(flux, wavelength, iron_blend, ew, 13000)
    forest = wavelength < 1215.7
    flux[forest] *= np.exp(-0.6 * rng.gamma(0.7, 1.0, size=int(forest.sum())))
    return flux, {"state": "broad-line", "e_bv": rng.uniform(0, 0.05)}


def star_forming_galaxy(wavelength: FloatArray, rng: Generator) -> Recipe:
    """Young stars and an H II region: narrow Balmer lines with [O III], [O II], [N II], [S II] (Osterbrock &
    Ferland 2006).
    """
    flux = power_law(wavelength, rng.uniform(-1.8, -0.3))
    atoms.balmer_absorption(flux, wavelength, 5.0, core=0.5, last=12)
    hbeta, excitation = rng.uniform(8, 80), rng.uniform(0.5, 6)
    shares = {
        6562.8: 3.3, 4861.3: 1.0, 4340.5: 0.42, 4101.7: 0.22, 3970.1: 0.13, 5006.8: excitation,
        4958.9: excitation / 3, 3727.5: 2.0, 3868.8: 0.08 * excitation, 6583.4: 0.5, 6548.0: 0.17,
        6716.4: 0.35, 6730.8: 0.26, 5875.6: 0.13, 6300.3: 0.06,
    }  # fmt: skip
    atoms.emission_lines(flux, wavelength, {air: hbeta * share for air, share in shares.items()}, 140)
    return flux, {"state": "H II", "e_bv": rng.uniform(0, 0.08)}


def planetary_nebula(wavelength: FloatArray, rng: Generator) -> Recipe:
    """Narrow lines of an ionised nebula, [O III] above all, over a faint hot star (Osterbrock & Ferland
    2006).
    """
    flux = power_law(wavelength, rng.uniform(-3.5, -1.5))
    hbeta, excitation = float(np.exp(rng.uniform(np.log(30), np.log(800)))), rng.uniform(0.0, 1.0)
    oxygen, nitrogen = rng.uniform(3, 15), rng.uniform(0.02, 2.5)
    shares = {
        6562.8: 3.2, 4861.3: 1.0, 4340.5: 0.45, 4101.7: 0.25, 3970.1: 0.15, 5006.8: oxygen,
        4958.9: oxygen / 3, 6583.4: nitrogen, 6548.0: nitrogen / 3, 3868.8: 0.08 * oxygen,
        4685.7: 0.6 * excitation, 5411.5: 0.05 * excitation, 5875.6: 0.16, 6678.2: 0.05, 7065.2: 0.06,
        7135.8: 0.2, 6716.4: 0.08, 6730.8: 0.1, 6300.3: 0.05, 9068.6: 0.3,
    }  # fmt: skip
    atoms.emission_lines(flux, wavelength, {air: hbeta * share for air, share in shares.items()}, 70)
    return flux, {"state": "nebula", "e_bv": rng.uniform(0, 0.8)}


def wolf_rayet_star(wavelength: FloatArray, rng: Generator) -> Recipe:
    """Wind lines of helium with nitrogen (WN; late ones narrower, with He I and hydrogen) or carbon (WC), up to
    thousands of km/s wide (Crowther 2007, ARA&A 45, 177).
    """
    flux = power_law(wavelength, rng.uniform(-3.6, -3.0))
    kind = str(rng.choice(["WN", "late WN", "WC"]))
    late = kind == "late WN"
    strength, fwhm = (
        (rng.uniform(15, 45), rng.uniform(500, 1200)) if late else (rng.uniform(20, 150), rng.uniform(1000, 3000))
    )
    lines = {
        "WN": {
            4685.7: 1.0, 4640.0: 0.3, 4860.0: 0.25, 5411.5: 0.25, 5875.6: 0.15, 6562.0: 0.5, 7115.0: 0.2, 4100.0: 0.25,
        },
        "late WN": {
            4685.7: 0.9, 4638.0: 0.8, 4861.0: 0.5, 5411.5: 0.08, 5875.6: 0.6, 6562.0: 1.8, 6678.2: 0.3, 7065.2: 0.4,
            7115.0: 0.15, 4471.5: 0.1, 4340.5: 0.3, 4100.0: 0.35,
        },
        "WC": {
            4650.0: 1.5, 4685.7: 0.5, 5696.0: 0.7, 5806.0: 1.2, 6562.0: 0.2, 6740.0: 0.3, 7065.0: 0.2, 7725.0: 0.3,
        },
    }[kind]  # fmt: skip
    atoms.emission_lines(flux, wavelength, {air: strength * share for air, share in lines.items()}, fwhm)
    return flux, {"state": kind, "e_bv": rng.uniform(0.2, 1.0)}


def blank_sky(wavelength: FloatArray, rng: Generator) -> Recipe:
    """A fibre on empty sky: no source, only the residuals of the sky subtraction."""
    return np.zeros_like(wavelength), {"state": "blank sky", "e_bv": 0.0}


def _disc_lines(flux: FloatArray, wavelength: FloatArray, halpha: float, decrement: float, rim: float) -> None:
    for upper in range(3, 9):
        emit_disc(flux, wavelength, atoms.balmer_wavelength(upper), halpha * decrement ** (upper - 3), rim)
    for air, share in _HELIUM_IN_DISCS.items():
        emit_disc(flux, wavelength, air_to_vacuum(air), halpha * share, rim)


def _quiescent(wavelength: FloatArray, rng: Generator) -> FloatArray:
    """Dwarf nova between outbursts: white dwarf, optically thin disc, sometimes the red star; double peaks
    if seen at high inclination.
    """
    star = hydrogen_white_dwarf(wavelength, rng.uniform(11000, 20000)) * rng.uniform(0.1, 0.6)
    flux = star + power_law(wavelength, rng.uniform(-2.2, -0.8))
    if rng.random() < 0.4:
        flux = flux + rng.uniform(0.2, 0.8) * m_dwarf(wavelength, rng)[0]
    rim = rng.uniform(350, 700) if rng.random() < 0.65 else rng.uniform(120, 300)
    _disc_lines(flux, wavelength, rng.uniform(25, 130), rng.uniform(0.72, 0.92), rim)
    emit_disc(flux, wavelength, air_to_vacuum(4685.7), rng.uniform(0, 8), rim)
    emit_disc(flux, wavelength, air_to_vacuum(5169.0), rng.uniform(0, 6), rim)
    for air in (8498.0, 8542.1, 8662.1):
        emit_disc(flux, wavelength, air_to_vacuum(air), rng.uniform(0, 8), rim)
    return flux


def _novalike(wavelength: FloatArray, rng: Generator) -> FloatArray:
    """High mass transfer: hot blue disc, weaker single-peaked lines, He II 4686 and the Bowen blend."""
    flux = power_law(wavelength, rng.uniform(-2.8, -1.8))
    atoms.balmer_absorption(flux, wavelength, rng.uniform(0, 3), core=0.4, last=10)
    _disc_lines(flux, wavelength, rng.uniform(8, 35), rng.uniform(0.5, 0.75), rng.uniform(150, 450))
    emit_disc(flux, wavelength, air_to_vacuum(4685.7), rng.uniform(2, 12), 250)
    emit_disc(flux, wavelength, air_to_vacuum(4645.0), rng.uniform(1, 6), 500)
    return flux


def _outburst(wavelength: FloatArray, rng: Generator) -> FloatArray:
    """Dwarf nova in outburst: optically thick disc, broad shallow Balmer absorption with emission cores,
    strongest at Hα.
    """
    flux = power_law(wavelength, rng.uniform(-2.9, -2.1))
    absorption, core = rng.uniform(4, 12), rng.uniform(0.12, 0.3)
    for upper in range(4, 11):
        absorb_stark(flux, wavelength, atoms.balmer_wavelength(upper), absorption, core)
    absorb_stark(flux, wavelength, atoms.balmer_wavelength(3), 0.4 * absorption, core / 2)
    emission = rng.uniform(2, 12)
    for upper, share in ((3, 1.0), (4, 0.4), (5, 0.2)):
        emit_disc(
            flux,
            wavelength,
            atoms.balmer_wavelength(upper),
            emission * share,
            rng.uniform(200, 450),
            inner=0.2,
        )
    emit_disc(flux, wavelength, air_to_vacuum(4685.7), rng.uniform(0.3, 4), 300)
    return flux


def _polar(wavelength: FloatArray, rng: Generator) -> FloatArray:
    """Magnetic: an accretion stream, lines with a narrow and a broad part, He II 4686 near Hβ, cyclotron
    humps.
    """
    flux = power_law(wavelength, rng.uniform(-1.5, 0.0))
    for centre in rng.uniform(4500, 9000, size=3):
        flux += rng.uniform(0, 0.5) * np.exp(-0.5 * ((wavelength - centre) / 350) ** 2)
    halpha, helium_two = rng.uniform(20, 80), rng.uniform(0.5, 1.2)
    shares = {
        6562.8: 1.0,
        4861.3: 0.85,
        4340.5: 0.7,
        4101.7: 0.6,
        3970.1: 0.45,
        4685.7: helium_two * 0.85,
    } | _HELIUM_IN_DISCS
    for width, part in ((350.0, 0.4), (1300.0, 0.6)):
        atoms.emission_lines(flux, wavelength, {air: halpha * part * share for air, share in shares.items()}, width)
    return flux


def _low(wavelength: FloatArray, rng: Generator) -> FloatArray:
    """Mass transfer nearly stopped: white dwarf and red dwarf visible, narrow Balmer emission from the heated face."""
    flux = (
        hydrogen_white_dwarf(wavelength, rng.uniform(10000, 20000))
        + rng.uniform(0.3, 1.2) * m_dwarf(wavelength, rng)[0]
    )
    halpha = rng.uniform(10, 40)
    shares = {6562.8: 1.0, 4861.3: 0.6, 4340.5: 0.4, 4101.7: 0.3, 5875.6: 0.08}
    atoms.emission_lines(
        flux, wavelength, {air: halpha * share for air, share in shares.items()}, rng.uniform(200, 500)
    )
    return flux
