"""The graphics cards of this machine, as ``nvidia-smi`` tells of them; nothing of CUDA is loaded."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

_FIELDS = ("index", "name", "memory.total", "memory.used", "driver_version", "compute_cap")


@dataclass(frozen=True)
class Gpu:
    """One card; memory in MiB, ``used`` by whatever programs. ``capability`` is CUDA's, such as 8.9."""

    index: int
    name: str
    total: int
    used: int
    driver: str
    capability: str


def gpus() -> tuple[Gpu, ...]:
    """The cards that the driver knows; none where there is no driver, or it does not answer."""
    asked = ["nvidia-smi", f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = ([word.strip() for word in line.split(",")] for line in told.splitlines() if line.strip())
    return tuple(gpu for row in rows if len(row) == len(_FIELDS) and (gpu := _gpu(row)) is not None)


def _gpu(row: list[str]) -> Gpu | None:
    index, name, total, used, driver, capability = row
    try:
        return Gpu(int(index), name, int(total), int(used), driver, capability)
    except ValueError:  # "[N/A]": a card that shares its memory, or is in the middle of a reset
        return None
