"""Edits of the records of an object: a swapped parallax, and a placebo; and what a text states of the luminosity.

Pure functions from records to an ``EditedSky``. Spectrum, magnitudes and colours stay; motions in the swap, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from agent.language import deferred
from agent.measure.values import Measured
from agent.sky.context import for_agent
from agent.sky.facts import GAIA, LEAST_SIGNIFICANCE, ZERO_POINT, SkyFacts, facts_of
from agent.sky.matching import matched, on_sky
from agent.sky.records import Sky, Source
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.tasks.values import SkyFeature
from agent.trial.edits import NotEdited

BEYOND = 4.0  # mag beyond the bound of the task at which a swap puts the object
WITHOUT = 8.0  # mag by which a swap moves the object where the task has no bound
SIGNIFICANCE = 20.0  # ϖ/σ after a swap where it was too small for a distance
NEAR = 1.0  # mag: a number of a text that is as near to M_G is that
_STATED = re.compile(r"(?:M_?G|[Aa]bsolute (?:G )?magnitude)[^\d.;−–-]{0,30}([−–-]?\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class EditedSky:
    """Edited records.

    :param before: M_G before the edit, or the faintest one that the parallax allowed; ``after``: M_G after it
    :param energy: Σ (change / σ)², σ before the edit
    :param side: +1 where the entry of the task is met after the edit, −1 where not, 0 without an entry
    """

    sky: Sky
    before: float
    after: float
    energy: float
    side: float = 0.0


def swap(sky: Sky, spectrum: Spectrum, task: Task) -> EditedSky | NotEdited:
    """Replace the parallax by one that puts the object on the other side of the task's bound of the luminosity.

    Its relative error stays, or becomes that of ``SIGNIFICANCE`` where it was too large for a distance.
    """
    facts = facts_of(for_agent(sky), spectrum)
    magnitude = facts.quantities["absolute_magnitude"]
    limit = facts.quantities["absolute_magnitude_limit"]
    significance, g = facts.quantities["parallax_over_error"], facts.magnitudes.get("G")
    if not isinstance(significance, Measured) or not isinstance(limit, Measured) or g is None:
        return NotEdited(deferred("the records give no luminosity"))
    known = magnitude if isinstance(magnitude, Measured) else limit
    entry = next(
        (f for f in task.sky if f.quantity == f"absolute_magnitude{'' if known is magnitude else '_limit'}"), None
    )
    is_met = entry is not None and entry.is_present(known.value)
    if known is limit and not is_met:
        return NotEdited(deferred("the parallax leaves open on which side of the bound it is"))
    if entry is not None and min(abs(known.value - bound) for bound in _bounds(entry)) <= 2 * known.error:
        return NotEdited(deferred("its error hides on which side of the bound it is"))
    after = _other_side(known.value, entry, is_met)
    parallax = 10 ** ((after - g.value + 10) / 5)
    error = parallax / (significance.value if significance.value > LEAST_SIGNIFICANCE else SIGNIFICANCE)

    def exchanged(values: Mapping[str, float]) -> dict[str, float]:
        return {**values, "parallax": parallax + ZERO_POINT, "parallax_error": error}

    of_object = _values(facts)
    moved = (parallax + ZERO_POINT - of_object["parallax"]) / of_object["parallax_error"]
    side = 0.0 if entry is None else (-1.0 if is_met else 1.0) * (-1.0 if entry.role == "confuser" else 1.0)
    return EditedSky(_edited(sky, facts, exchanged), known.value, after, moved**2, side)


def placebo(sky: Sky, spectrum: Spectrum, real: EditedSky, rng: np.random.Generator) -> EditedSky | NotEdited:
    """Turn the direction of the proper motion, whose size stays, by as many σ as the swap, at most to the opposite;
    the other sources turn about the object by the same angle.
    """
    facts = facts_of(for_agent(sky), spectrum)
    values = _values(facts)
    east, north = values.get("pm_ra", 0.0), values.get("pm_dec", 0.0)
    sigma = max(values.get("pm_ra_error", 0.0), values.get("pm_dec_error", 0.0))
    size = math.hypot(east, north) / sigma if sigma > 0 else 0.0
    if size <= 0 and len(facts.gaia.sources if facts.gaia else ()) < 2:
        return NotEdited(deferred("it has neither a motion nor a neighbour to turn"))
    half = min(1.0, math.sqrt(real.energy) / (2 * size)) if size > 0 else 1.0
    angle = 2 * math.asin(half) * (1.0 if rng.random() < 0.5 else -1.0)
    cos, sin = math.cos(angle), math.sin(angle)

    def turned(own: Mapping[str, float]) -> dict[str, float]:
        motion = {"pm_ra": east * cos - north * sin, "pm_dec": east * sin + north * cos}
        return {**own, **(motion if size > 0 else {})}

    def around(source: Source, centre: Source) -> Source:
        x = (source.ra - centre.ra + 180) % 360 - 180
        x, y = x * math.cos(math.radians(centre.dec)) * 3600, (source.dec - centre.dec) * 3600
        ra, dec = on_sky(centre.ra, centre.dec, x * cos - y * sin, x * sin + y * cos)
        return replace(source, ra=ra, dec=dec)

    return replace(real, sky=_edited(sky, facts, turned, around), energy=(2 * half * size) ** 2, side=0.0)


def magnitudes_stated(text: str) -> list[float]:
    """Return the numbers that a text gives as M_G, in its order."""
    return [float(number.replace("−", "-").replace("–", "-")) for number in _STATED.findall(text)]


def states_magnitude(text: str, magnitude: float) -> bool | None:
    """Return whether a text gives this M_G; None if it gives none at all."""
    stated = magnitudes_stated(text)
    return any(abs(number - magnitude) <= NEAR for number in stated) if stated else None


def _bounds(entry: SkyFeature) -> list[float]:
    return [bound for bound in (entry.above, entry.below) if bound is not None]


def _other_side(magnitude: float, entry: SkyFeature | None, is_met: bool) -> float:
    if entry is None:
        return magnitude + math.copysign(WITHOUT, WITHOUT / 2 - magnitude)
    if entry.below is None or entry.above is None:
        outwards = -1.0 if entry.below is None else 1.0
        return _bounds(entry)[0] + outwards * BEYOND * (1.0 if is_met else -1.0)
    return entry.above - BEYOND if is_met else (entry.above + entry.below) / 2


def _values(facts: SkyFacts) -> Mapping[str, float]:
    return {} if facts.source is None else facts.source.values


def _edited(
    sky: Sky,
    facts: SkyFacts,
    change: Callable[[Mapping[str, float]], dict[str, float]],
    around: Callable[[Source, Source], Source] = lambda source, centre: source,
) -> Sky:
    """Return records in which the matched source has other values in every release of Gaia that has its parallax."""
    records = []
    for record in sky:
        if record.catalogue in GAIA and (own := matched(record, facts.fibre)) is not None:
            others = (around(source, own) for source in record.sources if source is not own)
            record = replace(record, sources=(replace(own, values=change(own.values)), *others))
        records.append(record)
    return Sky.of(records)
