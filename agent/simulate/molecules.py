"""Molecular bands: titanium, vanadium, zirconium and lanthanum oxide, calcium hydride, C₂ and CN.

A band is a head where the optical depth jumps and a tail where it decays: to the red for the oxides and red CN, to the
blue for CaH, the Swan bands of C₂ and violet CN.
"""

from __future__ import annotations

# Heads are air wavelengths from Pearse & Gaydon (1976, The Identification of Molecular Spectra), with Keenan (1954, ApJ
# 120, 484) for ZrO, Keenan & Morgan (1941, ApJ 94, 501) for C₂ and CN, Reid, Hawley & Gizis (1995, AJ 110, 1838) for
# TiO and CaH. Weights within a system and tail lengths reproduce the band strengths of these papers; they are not line
# opacities.
from collections.abc import Mapping

import numpy as np

from agent.lines import air_to_vacuum
from agent.simulate.atoms import haze
from agent.simulate.profiles import FloatArray

Bands = Mapping[float, tuple[float, float]]
"""Head in air Å: (weight, tail in Å)."""

TIO: Bands = {
    4584.0: (0.45, 80), 4761.0: (0.65, 90), 4804.0: (0.25, 70), 4954.6: (0.85, 100), 5167.0: (1.0, 120),
    5448.0: (0.75, 110), 5597.0: (0.25, 60), 5759.0: (0.35, 60), 5847.6: (0.50, 120), 5899.0: (0.35, 120),
    5951.0: (0.25, 110), 6158.5: (0.75, 120), 6186.3: (0.15, 120), 6214.9: (0.20, 120), 6269.0: (0.15, 110),
    6322.0: (0.10, 100), 6351.3: (0.12, 80), 6479.0: (0.15, 60), 6651.5: (0.35, 90), 6681.1: (0.25, 70),
    6714.4: (0.15, 70), 6815.0: (0.12, 120), 7054.5: (0.50, 130), 7087.9: (0.35, 130), 7125.6: (0.30, 130),
    7197.7: (0.12, 110), 7269.0: (0.10, 100), 7589.0: (0.45, 90), 7666.0: (0.30, 80), 8432.0: (0.55, 80),
    8860.0: (0.40, 100),
}  # fmt: skip
VO: Bands = {
    7334.0: (0.7, 60), 7372.0: (0.4, 50), 7851.0: (0.8, 50), 7896.0: (0.7, 50), 7939.0: (0.5, 50),
    8521.0: (0.3, 50),
}  # fmt: skip
CAH: Bands = {
    6389.0: (0.60, 10), 6360.0: (0.10, 15), 6908.0: (0.65, 80), 6946.0: (0.50, 80), 6985.0: (0.30, 70),
    7024.0: (0.20, 60),
}  # fmt: skip
MGH: Bands = {4780.0: (0.3, 20), 5100.0: (0.35, 120)}
ZRO: Bands = {
    4620.0: (0.35, 40), 4640.6: (0.35, 40), 5304.0: (0.45, 60), 5378.0: (0.35, 50), 5551.7: (0.60, 60),
    5629.0: (0.55, 50), 5717.8: (0.50, 50), 5849.0: (0.30, 40), 6136.0: (0.25, 40), 6154.0: (0.25, 40),
    6229.0: (0.50, 45), 6260.9: (0.30, 40), 6292.0: (0.25, 35), 6345.0: (0.95, 45), 6378.3: (0.60, 40),
    6412.0: (0.45, 40), 6473.7: (0.95, 70), 6508.0: (0.45, 40), 6543.0: (0.25, 40),
}  # fmt: skip
LAO: Bands = {5599.9: (0.35, 40), 7380.0: (0.7, 40), 7403.5: (1.0, 50), 7876.0: (0.8, 40), 7910.0: (0.9, 50)}
SWAN: Bands = {
    4371.4: (0.35, 25), 4382.5: (0.30, 30), 4684.8: (0.30, 25), 4697.6: (0.35, 25), 4715.2: (0.50, 30),
    4737.1: (0.85, 55), 5097.7: (0.25, 25), 5129.3: (0.50, 35), 5165.2: (1.0, 75), 5470.3: (0.20, 25),
    5501.9: (0.30, 30), 5540.7: (0.40, 35), 5585.5: (0.55, 40), 5635.5: (0.80, 65), 6004.9: (0.15, 25),
    6059.7: (0.25, 30), 6122.1: (0.35, 35), 6191.3: (0.35, 50),
}  # fmt: skip
CN_VIOLET: Bands = {3883.4: (1.0, 45), 4216.0: (0.55, 50)}
CN_RED: Bands = {
    5730.0: (0.20, 70), 5878.0: (0.25, 90), 6206.0: (0.25, 90), 6332.0: (0.15, 90), 6478.0: (0.25, 90),
    6631.0: (0.15, 90), 6925.6: (0.45, 130), 7088.6: (0.35, 130), 7259.0: (0.35, 130), 7437.0: (0.25, 120),
    7872.8: (0.40, 200), 7930.0: (0.20, 180), 8067.0: (0.40, 200), 8270.0: (0.35, 180), 9141.0: (0.70, 250),
}  # fmt: skip


def absorb_bands(
    flux: FloatArray,
    wavelength: FloatArray,
    bands: Bands,
    strength: float,
    to_red: bool = True,
) -> None:
    """Multiply in one system of bands, τ = ``strength`` × weight × exp(-distance/tail) beyond each head.

    ``to_red``: the bands fade to the red. The tail carries a fixed ripple of
    a fifth, as unresolved rotational lines do.
    """
    if strength <= 0:
        return
    ripple = 0.8 + 0.2 * np.clip(haze(wavelength) / np.maximum((4200 / wavelength) ** 4, 1e-9), 0, 4)
    depth = np.zeros_like(wavelength)
    for head, (weight, tail) in bands.items():
        beyond = (wavelength - air_to_vacuum(head)) * (1 if to_red else -1)
        at = (beyond > -4) & (beyond < 6 * tail)
        rise = np.clip((beyond[at] + 4) / 4, 0, 1)
        depth[at] += weight * rise * np.exp(-np.maximum(beyond[at], 0) / tail)
    flux *= np.exp(-strength * ripple * depth)
