"""Atomic lines of stars: hydrogen, helium and metals, by temperature and gravity.

Wavelengths are air, converted to vacuum on use. Strengths are equivalent widths in Å, rounded from the literature at
each table, interpolated in log T: for the appearance of a class, not for abundances.
"""

from __future__ import annotations

import numpy as np

from agent.lines import air_to_vacuum
from agent.simulate.profiles import (
    C_KM_S,
    FloatArray,
    absorb_gaussian,
    absorb_lorentzian,
    absorb_stark,
    emit_gaussian,
)

RYDBERG_H = 109_677.583
"""Rydberg constant of hydrogen in cm⁻¹; Balmer lines follow from it in vacuum."""

_BALMER_MAIN_SEQUENCE = {
    # Hγ of dwarfs against temperature: O to A after Balona & Crampton (1974, MNRAS 166, 203), F to K after
    # Jaschek & Jaschek (1987).
    3800: 0.2, 4500: 0.5, 5200: 1.2, 6000: 2.6, 6500: 4.0, 7000: 6.5, 7500: 10.0, 8200: 14.5, 9000: 17.0,
    9800: 16.0, 11500: 11.5, 13500: 8.6, 15500: 7.3, 18500: 5.9, 22000: 4.8, 26000: 4.0, 30000: 3.5,
    34000: 2.9, 40000: 2.3, 50000: 1.9,
}  # fmt: skip
_BALMER_WHITE_DWARF = {
    # Hγ of log g = 8 hydrogen white dwarfs: shape of the curve in Bergeron, Saffer & Liebert (1992, ApJ 394,
    # 228), largest near 13,000 K.
    5500: 0.3, 6500: 2.0, 7500: 6.0, 8500: 12.0, 9500: 23.0, 10500: 33.0, 12000: 42.0, 13500: 43.0,
    16000: 38.0, 20000: 30.0, 25000: 21.0, 30000: 15.0, 40000: 10.0, 60000: 6.5, 80000: 5.0,
}  # fmt: skip
_CORE_WHITE_DWARF = {
    # Residual depth of the core of Hβ at R about 2000, log g = 8: measured on spectra of DA stars of known temperature.
    6500: 0.15, 7500: 0.22, 8500: 0.32, 9500: 0.45, 12000: 0.53, 14000: 0.47, 20000: 0.40, 33000: 0.27,
    60000: 0.14, 80000: 0.11,
}  # fmt: skip
_HELIUM_I = {
    # He I 4471 of dwarfs: after Lennon, Dufton & Fitzsimmons (1993, A&AS 97, 559) for B and Conti &
    # Alschuler (1971, ApJ 170, 325) for O.
    9500: 0.0, 10500: 0.06, 11500: 0.15, 13500: 0.40, 15500: 0.70, 18500: 1.15, 22000: 1.35, 26000: 1.15,
    30000: 0.95, 34000: 0.85, 38000: 0.50, 43000: 0.20, 50000: 0.05,
}  # fmt: skip
_HELIUM_II = {
    # He II 4541: after Conti & Alschuler (1971).
    28000: 0.0, 31000: 0.12, 33000: 0.25, 35000: 0.45, 38000: 0.65, 42000: 0.80, 50000: 0.95,
}  # fmt: skip
_CALCIUM_K = {
    # Ca II K of dwarfs: after Gray & Corbally (2009), ch. 4 and 5.
    5000: 12.0, 5500: 10.0, 6000: 8.5, 6500: 7.0, 7000: 5.8, 7500: 4.6, 8000: 3.4, 8500: 2.4, 9000: 1.5,
    9800: 0.7, 11000: 0.22, 14000: 0.07, 20000: 0.0,
}  # fmt: skip

HELIUM_I = {
    # air Å: strength against 4471 (multiplets; relative strengths as in Lennon et al. 1993 near B2 V)
    3819.6: 0.75, 4009.3: 0.45, 4026.2: 1.0, 4120.8: 0.25, 4143.8: 0.50, 4387.9: 0.60, 4471.5: 1.0,
    4713.1: 0.25, 4921.9: 0.55, 5015.7: 0.30, 5875.6: 0.75, 6678.2: 0.60, 7065.2: 0.45,
}  # fmt: skip
HELIUM_II = {4025.6: 0.4, 4199.8: 0.8, 4541.6: 1.0, 4685.7: 1.2, 5411.5: 1.3}
_HOT_METALS = {
    # air Å: (equivalent width at the peak, temperature of the peak), Walborn & Fitzpatrick (1990, PASP 102,
    # 379) for what is seen where.
    4088.9: (0.45, 30000), 4116.1: (0.25, 30000), 4552.6: (0.35, 24000), 4649.0: (0.75, 28000),
    4070.0: (0.50, 28000), 4128.1: (0.25, 13000), 4130.9: (0.25, 13000), 4267.2: (0.30, 19000),
    4481.2: (0.40, 10500), 4233.2: (0.20, 9000), 4549.5: (0.20, 9000), 4583.8: (0.20, 9000), 5018.4: (0.20, 9000),
    5169.0: (0.25, 9000), 6347.1: (0.35, 11000), 6371.4: (0.25, 11000),
}  # fmt: skip
_COOL_METALS = {
    # air Å: equivalent width in the Sun at R about 2000, blends taken together (Moore, Minnaert & Houtgast
    # 1966, rounded). The blends at 4533.5, 4549.6 and 5413, seen near He II, are as strong as in real F to K stars.
    4045.8: 1.2, 4063.6: 0.8, 4071.7: 0.7, 4077.7: 0.4, 4143.9: 0.5, 4202.0: 0.4, 4226.7: 1.5, 4271.8: 0.8,
    4325.8: 0.8, 4383.5: 1.0, 4404.8: 0.9, 4415.1: 0.4, 4455.0: 0.4, 4528.6: 0.4, 4533.5: 0.6, 4549.6: 0.7,
    4554.0: 0.25, 4668.0: 0.4, 4891.5: 0.4, 4920.5: 0.5, 4957.6: 0.7, 5041.0: 0.4, 5110.4: 0.2, 5167.3: 0.9,
    5172.7: 1.3, 5183.6: 1.6, 5208.4: 0.6, 5227.2: 0.6, 5270.3: 0.9, 5328.0: 0.7, 5371.5: 0.4, 5397.1: 0.3,
    5405.8: 0.3, 5410.9: 0.25, 5415.2: 0.3, 5429.7: 0.4, 5446.9: 0.4, 5528.4: 0.3, 5586.8: 0.3, 5615.6: 0.3,
    5890.0: 0.8, 5895.9: 0.6, 6102.7: 0.15, 6122.2: 0.25, 6137.0: 0.3, 6162.2: 0.3, 6191.6: 0.2, 6230.7: 0.2,
    6400.0: 0.25, 6495.0: 0.3, 8498.0: 1.4, 8542.1: 3.6, 8662.1: 2.7,
}  # fmt: skip


def by_temperature(table: dict[int, float], temperature: float) -> float:
    """Interpolate a table at a temperature in K, linear in log T, constant beyond its ends."""
    return float(np.interp(np.log10(temperature), np.log10(list(table)), list(table.values())))


def balmer_wavelength(upper: int) -> float:
    """Return the vacuum wavelength in Å of the Balmer line from level ``upper``."""
    # Fine structure puts the strong transitions 0.22 cm⁻¹ above Bohr's terms: 0.09 Å at Hα.
    return 1e8 / (RYDBERG_H * (0.25 - 1 / upper**2) + 0.22)


def balmer_absorption(
    flux: FloatArray,
    wavelength: FloatArray,
    hgamma_ew: float,
    core: float,
    last: int = 16,
    dissolution: float = 0.0,
) -> None:
    """Multiply in the Balmer series from Hα to level ``last``.

    Strengths against Hγ are near 1 for a dwarf and fall to the series limit. At high pressure levels dissolve (Inglis
    & Teller 1939, ApJ 90, 439; Hummer & Mihalas 1988, ApJ 331, 794): equivalent width and core depth of the n-th line
    beyond Hγ are then both multiplied by exp(-``dissolution`` n²), so high lines become shallow at a constant width.

    :param hgamma_ew: equivalent width of Hγ in Å
    :param core: residual depth of the cores, 0 to 1
    """
    for upper in range(3, last + 1):
        beyond = max(upper - 5, 0)
        strength = {3: 0.85, 4: 1.15 if dissolution else 1.0, 5: 1.0}.get(upper, 0.93**beyond)
        left = float(np.exp(-dissolution * beyond**2))
        absorb_stark(flux, wavelength, balmer_wavelength(upper), hgamma_ew * strength * left, core * left)


def main_sequence_balmer(temperature: float) -> float:
    """Return the equivalent width of Hγ in Å of a dwarf."""
    return by_temperature(_BALMER_MAIN_SEQUENCE, temperature)


def white_dwarf_balmer(temperature: float) -> float:
    """Return the equivalent width of Hγ in Å of a hydrogen white dwarf of log g = 8."""
    return by_temperature(_BALMER_WHITE_DWARF, temperature)


def white_dwarf_core(temperature: float) -> float:
    """Return the residual depth of the Balmer cores of a hydrogen white dwarf of log g = 8: it falls as the star gets
    hotter.
    """
    return by_temperature(_CORE_WHITE_DWARF, temperature)


def interstellar_lines(flux: FloatArray, wavelength: FloatArray, e_bv: float) -> None:
    """Multiply in Ca II, Na I and the diffuse bands 4430, 5780 and 6284 of the interstellar gas; ``e_bv`` in mag.

    Equivalent widths against E(B-V): Na I after Munari & Zwitter (1997, A&A 318, 269), Ca II after Megier et al. (2009,
    A&A 507, 833), the bands 5780 and 6284 after Friedman et al. (2011, ApJ 727, 33), 4430 after Snow, Zukowski & Massey
    (2002, ApJ 578, 877), rounded.
    """
    calcium, sodium = 0.6 * (1 - np.exp(-2.5 * e_bv)), 0.9 * (1 - np.exp(-3.5 * e_bv))
    for air, ew, fwhm in (
        (3933.7, calcium, 60.0), (3968.5, 0.6 * calcium, 60.0), (5890.0, sodium, 60.0), (5895.9, 0.75 * sodium, 60.0),
        (4428.0, 2.0 * e_bv, 1300.0), (5780.5, 0.5 * e_bv, 120.0), (6283.8, 1.0 * e_bv, 200.0),
    ):  # fmt: skip
        _line(flux, wavelength, air, float(ew), fwhm)


def hot_star_lines(
    flux: FloatArray, wavelength: FloatArray, temperature: float, v_sin_i: float, supergiant: bool = False
) -> None:
    """Multiply in He I, He II, Ca II K and the light metals of an O, B or A star, widened by rotation (``v_sin_i`` in
    km/s); metals are twice as strong in a supergiant.
    """
    helium_one, helium_two = by_temperature(_HELIUM_I, temperature), by_temperature(_HELIUM_II, temperature)
    for air, share in HELIUM_I.items():
        _line(flux, wavelength, air, helium_one * share, max(v_sin_i, 130))
    for air, share in HELIUM_II.items():
        _line(flux, wavelength, air, helium_two * share, max(v_sin_i, 200))
    for air, (peak, where) in _HOT_METALS.items():
        weight = np.exp(-0.5 * ((np.log(temperature / where)) / 0.2) ** 2)
        _line(flux, wavelength, air, float(peak * weight) * (2.0 if supergiant else 1.0), v_sin_i)
    _line(flux, wavelength, 3933.7, by_temperature(_CALCIUM_K, temperature), max(v_sin_i, 150))


def cool_star_lines(
    flux: FloatArray, wavelength: FloatArray, temperature: float, metals: float = 1.0, dwarf: bool = True
) -> None:
    """Add the metal lines of an F, G, K or early M star: Ca II H and K, the G band, Mg b, Na D, Fe I and many weak
    lines.

    ``metals`` scales all but the strongest. Neutral lines grow as the star cools; Na D and Ca I 4227 grow
    much more in dwarfs, the calcium triplet in giants (Gray & Corbally 2009, ch. 6 to 8; Jones, Alloin &
    Jones 1984, ApJ 283, 457).
    """
    growth = float(np.clip((5800 / temperature) ** 3.5, 0.1, 3.5)) * metals
    for air, ew in _COOL_METALS.items():
        factor = growth
        if air in (5890.0, 5895.9, 4226.7):
            factor *= 1.6 if dwarf and temperature < 4800 else 0.9
        if 8490 < air < 8670:
            factor = (0.9 if dwarf else 1.35) * float(np.clip(1 - (4200 - temperature) / 1500, 0.2, 1))
        _line(flux, wavelength, air, ew * factor, 200)
    calcium = by_temperature(_CALCIUM_K, max(temperature, 5000))
    for air, share in ((3933.7, 1.0), (3968.5, 0.85)):
        centre = air_to_vacuum(air)
        absorb_lorentzian(flux, wavelength, centre, calcium * share * 0.7, 5.0)
        absorb_gaussian(flux, wavelength, centre, calcium * share * 0.5, 7.0)
    g_band = 8.0 * float(np.clip((7200 - temperature) / 1700, 0, 1)) * min(metals, 1.5)
    absorb_gaussian(flux, wavelength, air_to_vacuum(4304.0), g_band, 18.0)
    flux *= np.exp(-0.10 * growth * haze(wavelength))


def haze(wavelength: FloatArray) -> FloatArray:
    """Return the optical depth of the thousands of weak lines without a list: a fixed random pattern, denser to the
    blue.

    It represents line blanketing, so it depends on wavelength alone; the mean is near 1 at 4200 Å and falls
    as λ⁻⁴.
    """
    points = np.arange(np.log(2500.0), np.log(12000.0), 2.5e-4)
    pattern = np.random.default_rng(1817).exponential(size=points.size)
    depth: FloatArray = np.interp(np.log(wavelength), points, pattern) * (4200.0 / wavelength) ** 4
    return np.clip(depth, 0, 6)


def emission_lines(flux: FloatArray, wavelength: FloatArray, lines: dict[float, float], fwhm_km_s: float) -> None:
    """Add Gaussian emission lines {air Å: equivalent width Å}."""
    for air, ew in lines.items():
        emit_gaussian(flux, wavelength, air_to_vacuum(air), ew, fwhm_km_s)


def _line(flux: FloatArray, wavelength: FloatArray, air: float, ew: float, fwhm_km_s: float) -> None:
    if ew > 0.005:
        centre = air_to_vacuum(air)
        absorb_gaussian(flux, wavelength, centre, ew, max(fwhm_km_s, 60) / C_KM_S * centre)
