"""Right matches and blends found in simulated fields of stars, of which the generator knows the truth.

A star of G 12 to 19.5 with a proper motion of 0 to 1″/yr (all speeds alike, so far more fast ones than in the sky) is
looked up at a position that holds for an epoch up to 20 years from that of Gaia, with an error of 0.1 to 0.3″ per axis.
Field stars have the density of the sky to G 21, counts ∝ 10^(0.25 G), motions of some mas/yr, and Gaia's errors; of two
within 0.4″ Gaia has the brighter one only. The truth of a blend is the light in the fibre, which misses the star by as
much as the position did, when it was observed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agent.sky.maps import bundled
from agent.sky.matching import BLEND, Target, blend_of, light_in_fibre, matched, moved, on_sky, record_of
from agent.sky.records import Source

DENSITIES = {"pole": 4_000, "b = 30°": 12_000, "b = 10°": 60_000, "b = 3°": 200_000}
"""Sources per square degree with G < 21."""
FAINTEST, SLOPE, RESOLVED = 21.0, 0.25, 0.4
FIELD = 45.0
"""Arcseconds around the star that are filled."""
FIBRES = (3.3, 3.0, 2.0, 1.5)
GAIA = 2016.0


@dataclass(frozen=True)
class Rates:
    """:param false: share of the blends found that are none"""

    n: int
    right: float
    blends: int
    recovered: float
    false: float


def measure(n: int, density: float, is_stated: bool, seed: int = 0) -> Rates:
    rng = np.random.default_rng(seed)
    results = np.array([_one(rng, density, is_stated) for _ in range(n)])
    right, truth, blended = results.T
    return Rates(
        n,
        float(right.mean()),
        int(truth.sum()),
        float(blended[truth].mean()) if truth.any() else math.nan,
        float((~truth)[blended].mean()) if blended.any() else math.nan,
    )


def _one(rng: np.random.Generator, density: float, is_stated: bool) -> tuple[bool, bool, bool]:
    fibre = float(rng.choice(FIBRES))
    observed = rng.uniform(2005, 2025)
    epoch = rng.uniform(1996, 2036) if is_stated else rng.uniform(1998, observed)
    speed, angle = rng.uniform(0, 1000), rng.uniform(0, 2 * math.pi)
    motion = (speed * math.sin(angle), speed * math.cos(angle))
    star = (rng.uniform(0, 360), math.degrees(math.asin(rng.uniform(-0.99, 0.99))))
    error = rng.normal(0, rng.uniform(0.1, 0.3), 2)
    at = on_sky(*moved(*star, *motion, epoch - GAIA), *error)
    target = Target("x", *at, (epoch, epoch) if is_stated else (1998.0, observed), fibre, observed=observed)

    number = rng.poisson(density * math.pi * (FIELD / 3600) ** 2)
    radius, around = FIELD * np.sqrt(rng.uniform(0, 1, number)), rng.uniform(0, 2 * math.pi, number)
    east, north = np.append(0.0, radius * np.sin(around)), np.append(0.0, radius * np.cos(around))
    field_magnitudes = FAINTEST + np.log10(np.maximum(rng.uniform(0, 1, number), 1e-9)) / SLOPE
    magnitude = np.append(rng.uniform(12, 19.5), field_magnitudes)
    field_speed, field_angle = 5 * np.exp(rng.normal(0, 0.9, number)), rng.uniform(0, 2 * math.pi, number)
    pm_ra, pm_dec = (
        np.append(motion[0], field_speed * np.sin(field_angle)),
        np.append(motion[1], field_speed * np.cos(field_angle)),
    )

    apart = np.hypot(east[:, None] - east, north[:, None] - north)
    brighter = magnitude[None, :] < magnitude[:, None]
    lost = ((apart < RESOLVED) & brighter).any(axis=1)
    noise = np.maximum(0.02, 0.3 * 10 ** (0.25 * (magnitude - 19)))  # mas, and mas/yr
    sources = [
        Source(
            str(i),
            *on_sky(*star, east[i] + rng.normal(0, noise[i]) / 1000, north[i] + rng.normal(0, noise[i]) / 1000),
            0.0,
            {
                "pm_ra": pm_ra[i] + rng.normal(0, noise[i]),
                "pm_dec": pm_dec[i] + rng.normal(0, noise[i]),
                "G": magnitude[i],
            },
        )
        for i in np.flatnonzero(~lost).tolist()
    ]
    record = record_of(bundled()["gaia_dr3"], target, sources)
    source = matched(record, fibre)

    years = observed - GAIA
    x, y = east + (pm_ra * years - motion[0] * years) / 1000, north + (pm_dec * years - motion[1] * years) / 1000
    light = 10 ** (-0.4 * magnitude) * light_in_fibre(np.hypot(x - error[0], y - error[1]), fibre)
    is_blend = bool(light[1:].sum() >= BLEND * light[0])
    blended = source is not None and blend_of(record, source, fibre, observed=observed).is_blend
    return source is not None and source.id == "0", is_blend, blended


REPORTED = 2
"""The seed of the figures that are reported: rules were chosen on seed 0, and seed 1 is that of the tests."""


def main(n: int = 5_000) -> None:
    print("| field | epoch | n | right match | blends | found | false |\n|---|---|---|---|---|---|---|")
    for name, density in DENSITIES.items():
        for is_stated in (True, False):
            rates = measure(n, density, is_stated, REPORTED)
            print(
                f"| {name}, {density:,}/deg² | {'stated' if is_stated else 'not stated'} | {rates.n:,} | "
                f"{rates.right:.4f} | {rates.blends} | {rates.recovered:.3f} | {rates.false:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
