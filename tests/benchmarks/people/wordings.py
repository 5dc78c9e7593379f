"""Two sets of wordings of simulated traces (``wordings.toml``): to choose settings, and to report figures.

The second is by another author, who saw neither the first nor what is measured of the texts.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

Pool = tuple[str, ...]


@dataclass(frozen=True)
class Wordings:
    """Sentences by what they are for; those after ``others`` are of failures."""

    windows: Pool
    nexts: Pool
    yes: Pool
    no: Pool
    doubts_of_yes: Pool
    doubts_of_no: Pool
    emission: Pool
    absorption: Pool
    absent: Pool
    atmosphere: Pool
    frames: Pool
    refine: Pool
    others: Pool
    harmless_faults: Pool
    other_window: Pool
    ghost: Pool
    wrong_frame: Pool
    again: Pool
    called_emission: Pool
    as_star: Pool
    window_as_star: Pool
    atmosphere_labels: Pool
    faults: Pool
    cuts: Pool


_SETS = tomllib.loads(Path(__file__).with_name("wordings.toml").read_text(encoding="utf-8"))
CHOOSING, REPORTING = (
    Wordings(**{name: tuple(pool) for name, pool in _SETS[key].items()}) for key in ("choosing", "reporting")
)
