"""Wavelengths in air and in vacuum."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

Medium = Literal["vacuum", "air"]
FloatArray = NDArray[np.float64]

# By convention (IAU; NIST, SDSS and all line lists follow it) wavelengths below this are quoted in vacuum,
# whatever a file states.
SHORTEST_AIR_WAVELENGTH = 2000.0


@overload
def refractive_index(vacuum: float) -> float: ...
@overload
def refractive_index(vacuum: FloatArray) -> FloatArray: ...
def refractive_index(vacuum: float | FloatArray) -> float | FloatArray:
    """Return the refractive index n of standard air (15 °C, 101 325 Pa, dry, 450 ppm CO2) at vacuum wavelengths in Å.

    Ciddor 1996, Applied Optics 35, 1566, equation 1; the form that SDSS, pydl and specutils ("Ciddor1996") use. Morton
    2000 (ApJS 130, 403, equation 8, after Birch & Downs 1994) differs from it by less than 0.001 Å between 3000 and 11
    000 Å.
    """
    inverse_micron_squared = (1e4 / vacuum) ** 2
    return 1.0 + 5.792105e-2 / (238.0185 - inverse_micron_squared) + 1.67917e-3 / (57.362 - inverse_micron_squared)


@overload
def vacuum_to_air(wavelength: float) -> float: ...
@overload
def vacuum_to_air(wavelength: FloatArray) -> FloatArray: ...
def vacuum_to_air(wavelength: float | FloatArray) -> float | FloatArray:
    """Convert vacuum wavelengths (Å) to air, same shape; below 2000 Å unchanged."""
    if isinstance(wavelength, np.ndarray):
        changed = wavelength / refractive_index(np.maximum(wavelength, SHORTEST_AIR_WAVELENGTH))
        return np.where(wavelength < SHORTEST_AIR_WAVELENGTH, wavelength, changed)
    if wavelength < SHORTEST_AIR_WAVELENGTH:
        return wavelength
    return wavelength / refractive_index(wavelength)


@overload
def air_to_vacuum(wavelength: float) -> float: ...
@overload
def air_to_vacuum(wavelength: FloatArray) -> FloatArray: ...
def air_to_vacuum(wavelength: float | FloatArray) -> float | FloatArray:
    """Convert air wavelengths (Å) to vacuum, same shape; below 2000 Å unchanged.

    The inverse of ``vacuum_to_air`` by iteration, to better than 1e-9 Å in the optical. (Between 2000.00 and
    2000.65 Å vacuum the convention itself has no inverse: there two vacuum wavelengths share one air
    wavelength.)
    """
    if isinstance(wavelength, np.ndarray):
        air = np.maximum(wavelength, SHORTEST_AIR_WAVELENGTH)
        return np.where(wavelength < SHORTEST_AIR_WAVELENGTH, wavelength, _to_vacuum(air))
    return wavelength if wavelength < SHORTEST_AIR_WAVELENGTH else _to_vacuum(wavelength)


@overload
def _to_vacuum(air: float) -> float: ...
@overload
def _to_vacuum(air: FloatArray) -> FloatArray: ...
def _to_vacuum(air: float | FloatArray) -> float | FloatArray:
    vacuum = air
    for _ in range(4):
        vacuum = air * refractive_index(vacuum)
    return vacuum


@overload
def convert(wavelength: float, given: Medium, target: Medium) -> float: ...
@overload
def convert(wavelength: FloatArray, given: Medium, target: Medium) -> FloatArray: ...
def convert(wavelength: float | FloatArray, given: Medium, target: Medium) -> float | FloatArray:
    """Convert wavelengths (Å) from one medium to another. The same medium changes nothing."""
    if given == target:
        return wavelength
    return air_to_vacuum(wavelength) if target == "vacuum" else vacuum_to_air(wavelength)
