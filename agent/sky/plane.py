"""The colour-magnitude plane of Gaia: where kinds of stars lie (``plane.toml``), and what reddening does there.

The loci are intrinsic and rounded; they are for orientation, and no policy decides by their outlines.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from agent.language import deferred
from agent.settings_file import Number, Problem, Table, Text, load_toml, validate
from agent.sky.records import SkyError

FILE = Path(__file__).with_name("plane.toml")

REDDENING = (0.134, 0.274)
"""E(BP−RP) and A_G in mag for E(B−V) = 0.1 (Casagrande & VandenBerg 2018 MNRAS 479, L102, their mean)."""

NAMES: Mapping[str, str] = MappingProxyType(
    {
        "main_sequence": deferred("main sequence"),
        "giant_branch": deferred("giant branch"),
        "red_clump": deferred("red clump"),
        "asymptotic_giants": deferred("asymptotic giants, Miras"),
        "horizontal_branch": deferred("blue horizontal branch"),
        "hot_subdwarfs": deferred("hot subdwarfs"),
        "white_dwarfs": deferred("white dwarfs"),
        "cataclysmic_variables": deferred("cataclysmic variables"),
    }
)


class PlaneLocus(Table):
    """A line, or the outline of a region (not closed: its last point is followed by the first).

    :param key: its table in ``plane.toml``; ``name`` is for people
    :param points: intrinsic BP−RP and M_G in mag
    :param name_at: where the middle of its name stands in a plot; None: there is no space for it
    """

    key: str
    kind: Literal["line", "region"]
    citation: Text
    points: Annotated[tuple[tuple[Number, Number], ...], Field(min_length=3)]
    name_at: tuple[Number, Number] | None = None

    @property
    def name(self) -> str:
        return NAMES[self.key]

    @property
    def bp_rp(self) -> tuple[float, ...]:
        return tuple(colour for colour, _ in self.points)

    @property
    def absolute_magnitude(self) -> tuple[float, ...]:
        return tuple(magnitude for _, magnitude in self.points)


@cache
def loci() -> tuple[PlaneLocus, ...]:
    """Return the loci in the order of the file. :raises SkyError: the file is damaged"""

    def error(problem: Problem) -> SkyError:
        return SkyError(problem.sentence)

    tables = load_toml(FILE, error).items()
    return tuple(validate(PlaneLocus, {"key": key, **table}, FILE.name, error) for key, table in tables)


def line(key: str) -> PlaneLocus:
    """Return a locus by its key. :raises KeyError: none has that key"""
    return {locus.key: locus for locus in loci()}[key]


def magnitude_on(key: str, bp_rp: float) -> float | None:
    """Return M_G of a line whose colours increase at an intrinsic BP−RP; None beyond its ends."""
    locus = line(key)
    if not locus.bp_rp[0] <= bp_rp <= locus.bp_rp[-1]:
        return None
    return float(np.interp(bp_rp, locus.bp_rp, locus.absolute_magnitude))


def main_sequence(bp_rp: float) -> float | None:
    """Return M_G of a dwarf of that intrinsic BP−RP; None where there is no main sequence (bluer than −0.32, redder
    than 5.1)."""
    return magnitude_on("main_sequence", bp_rp)
