"""Sets of wordings of simulated traces (``wordings.toml``), each by another author.

Settings are chosen on eight of them. Figures are reported of the ninth, whose author saw neither the others nor how
texts are read.
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


REPORTING = "reporting"
SETS = {
    key: Wordings(**{name: tuple(pool) for name, pool in pools.items()})
    for key, pools in tomllib.loads(Path(__file__).with_name("wordings.toml").read_text(encoding="utf-8")).items()
}
