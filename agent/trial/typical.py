"""Typical strength and width of a line or band, for injections.

Values of ``typical.toml`` are medians over spectra of the class; a feature without one gets what its bounds demand.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agent.trial.subjects import SPEED_OF_LIGHT, Subject

FILE = Path(__file__).with_name("typical.toml")
FACTOR = 2.0
"""An injected line has at least this many times the equivalent width from which the task calls it present."""
WIDTH = {"emission": 500.0, "absorption": 1000.0, "band": 0.0}
STRENGTH = {"emission": -20.0, "absorption": 5.0, "band": 0.6}


@dataclass(frozen=True)
class Typical:
    """:param strength: equivalent width in Å (absorption > 0), or for a band the flux ratio to its side bands
    :param fwhm: km/s; 0 for a band
    """

    strength: float
    fwhm: float


def typical_of(subject: Subject, task: str) -> Typical:
    """Return the typical strength and width of a subject in the class of a task.

    A feature of the task is at least as strong as its bounds demand with a margin, so that its presence is no matter
    of the last decimal.
    """
    feature = subject.feature
    known = None if feature is None else _table().get(task, {}).get(feature.name)
    strength = STRENGTH[subject.sense] if known is None else known.strength
    fwhm = 0.0 if known is None else known.fwhm
    if feature is None:
        return Typical(strength, fwhm or WIDTH[subject.sense])
    # A line without a measured width must fit into the stretch in which it is measured.
    lo, hi = feature.span
    fwhm = fwhm or min(WIDTH[subject.sense], 0.5 * (hi - lo) / (0.5 * (hi + lo)) * SPEED_OF_LIGHT)
    if subject.sense == "band" and feature.quantity == "depth" and feature.above is not None:
        return Typical(min(strength, 1.0 - FACTOR * feature.above), 0.0)
    if feature.quantity == "ratio" and feature.below is not None:
        return Typical(min(strength, 0.75 * feature.below), 0.0)
    span = feature.span[1] - feature.span[0] if feature.quantity == "depth" else 1.0
    if feature.below is not None and feature.below <= 0:
        strength = min(strength, FACTOR * feature.below * span - 1.0)
        if feature.above is not None:
            strength = max(strength, (0.5 * feature.below + 0.5 * feature.above) * span)
    elif feature.above is not None:
        strength = max(strength, FACTOR * feature.above * span + 0.5)
        if feature.below is not None:
            strength = min(strength, (0.5 * feature.above + 0.5 * feature.below) * span)
    return Typical(strength, fwhm)


@cache
def _table() -> Mapping[str, Mapping[str, Typical]]:
    if not FILE.exists():
        return {}
    with FILE.open("rb") as opened:
        read = tomllib.load(opened)
    return {task: {name: Typical(*map(float, pair)) for name, pair in table.items()} for task, table in read.items()}
