"""What does not come from pip: the GPU, the disk, SQLite, a browser."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.doctor.finding import Finding, pip
from agent.doctor.packages import version

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


LITTLE = 2 * 10**9
"""Bytes of free disk below which nothing more is to be started."""
SQLITE = (3, 35, 0)
"""RETURNING came with 3.35, the trigram index of the search with 3.34."""
# In a process of its own: the store alone opens databases in this one.
_PROBE = (
    "import sqlite3; sqlite3.connect(':memory:').execute(\"CREATE VIRTUAL TABLE t USING fts5(x, "
    "tokenize='trigram')\"); print(sqlite3.sqlite_version)"
)


def gpu(needed: bool = True) -> Iterator[Finding]:
    """The cards, one finding each. ``needed`` False: none is no failure."""
    found = gpus()
    if not found:
        nvidia_smi = shutil.which("nvidia-smi")
        said = "nvidia-smi lists none" if nvidia_smi else "no nvidia-smi, so no NVIDIA driver"
        remedy = "install NVIDIA's driver; without a GPU the baseline and small models on the CPU remain"
        yield Finding("GPU", False if needed else None, said, remedy if needed else "")
    for card in found:
        told = f"{card.name}, {(card.total - card.used) / 1024:.1f} of {card.total / 1024:.1f} GiB free"
        driver = f"driver {card.driver}, compute capability {card.capability}"
        yield Finding(f"GPU {card.index}", True, f"{told}, {driver}")


def database(path: Path) -> Iterator[Finding]:
    """The folder of annotations.db, and SQLite."""
    folder = path.resolve().parent
    yield _writable("folder of the database", folder)
    if os.name == "posix" and path.is_file():
        yield _closed(path)
    yield sqlite()
    if folder.is_dir():
        yield free_disk(folder)


def _closed(path: Path) -> Finding:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & (stat.S_IRWXG | stat.S_IRWXO):
        return Finding("who can read it", True, f"{path}: its owner alone")
    # It may be meant so: a group that shares the file. It is said, and no failure.
    told = f"{path}: mode {mode:04o}, so others on this machine can read or change it, password hashes included"
    return Finding("who can read it", None, told, f"unless that is meant: chmod 600 {path}*")


def sqlite() -> Finding:
    probe = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, timeout=60)
    wanted = ".".join(map(str, SQLITE))
    remedy = f"a Python whose SQLite is {wanted} or later, with full-text search (python.org's and conda's are)"
    found = probe.stdout.strip() or (probe.stderr.strip().splitlines() or ["no answer"])[-1]
    try:
        well = probe.returncode == 0 and tuple(map(int, found.split("."))) >= SQLITE
    except ValueError:
        well = False
    return Finding("SQLite", well, found, "" if well else remedy)


def free_disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    well = free >= LITTLE
    return Finding("free disk", well, f"{free / 1e9:.1f} GB in {folder}", "" if well else "make room")


def weights() -> Finding:
    """Where models are downloaded to, and the room there; what a model takes depends on the model."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface").expanduser()
    there = next(folder for folder in (home, *home.parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    told = f"{free / 1e9:.1f} GB free in {home} (HF_HOME); a 3B model takes about 8 GB, a 7B about 17 GB"
    return Finding("disk for weights", None, told)


def chromium() -> Finding:
    """A browser for the tests: the system's, or Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        own = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
        found = next((str(path) for path in sorted(own.glob("chromium-*"))), None)
    remedy = f"{sys.executable} -m playwright install chromium"
    return Finding("Chromium", found is not None, found or "none", "" if found else remedy)


def _writable(what: str, folder: Path) -> Finding:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".spec-o3-doctor-"):
            return Finding(what, True, f"{folder} can be written to")
    except OSError as error:
        found = f"{folder}: {error.strerror}"
        return Finding(what, False, found, "name a database in a folder of yours with --db")


MATPLOTLIB = "3.10.5"
OVERVIEW = "6fc95d8a562d9a325f754c93e5dbe77acd88011368b17da5f3cd885b01bc5b28"
ZOOM = "94c5f3d1e064fda5be10b4a2c99dff79f3d41830655b4eea1e4c3a0ce2958f68"
"""SHA-256 of the RGBA bytes of two pictures of the spectrum below, by a renderer that passes the tests
against published pictures."""


def matplotlib_release() -> Finding:
    found = version("matplotlib")
    well = found == MATPLOTLIB
    remedy = "" if well else pip(f"matplotlib=={MATPLOTLIB}")
    return Finding("matplotlib", well, found or "not installed", remedy)


def pixels() -> Finding:
    """Draw a fixed made-up spectrum, whole and a window of it. Another build of FreeType or matplotlib gives
    other pixels though the version is right.
    """
    try:
        import numpy as np

        from agent import plot
    except Exception as error:
        return Finding("drawing", False, f"the renderer cannot be loaded: {error}", pip(f"matplotlib=={MATPLOTLIB}"))
    pixel = np.arange(3600)
    wavelength = 3700.0 + 1.5 * pixel
    flux = (pixel * 7919 % 1000) / 10.0 + np.abs(pixel - 1800) / 20.0
    drawn = [plot.pixels_sha256(plot.draw(wavelength, flux, window)) for window in (None, (6500.0, 6650.0))]
    if drawn == [OVERVIEW, ZOOM]:
        return Finding("drawing", True, "a test spectrum comes out as published, pixel for pixel")
    found = "a test spectrum comes out with other pixels than those that the models were trained on"
    remedy = pip(f"--force-reinstall --no-deps --only-binary :all: matplotlib=={MATPLOTLIB}")
    return Finding("drawing", False, found, remedy)
