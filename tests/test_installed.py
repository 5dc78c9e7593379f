"""The program as a wheel, installed outside a checkout: where its database is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from agent import database_place
from reviewer.store import Store

ROOT = Path(__file__).resolve().parents[1]
PACKAGED = ("app.py", "agent", "reviewer", "training", "pyproject.toml", "README.md", "LICENSE")


class Installed:
    """A virtual environment with our wheel; the other packages are those of this environment."""

    def __init__(self, folder: Path) -> None:
        self.home, self.here = folder / "home", folder / "work"
        self.home.mkdir()
        self.here.mkdir()
        self._bin = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.packages = next((folder / "venv").rglob("site-packages"))

    @property
    def data(self) -> Path:
        return self.home / "data" / "spec-o3"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LANG")}
        environment |= {"HOME": str(self.home), "XDG_DATA_HOME": str(self.home / "data"), "LC_ALL": "C.UTF-8"}
        command = [str(self._bin / "spec-o3"), *arguments]
        return subprocess.run(command, cwd=self.here, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment ``venv`` in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("installed")
    source, wheels = folder / "source", folder / "wheels"
    source.mkdir()
    for name in PACKAGED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "-q"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(wheels), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    shutil.rmtree(source)
    venv.create(folder / "venv", with_pip=False)
    packages = next((folder / "venv").rglob("site-packages"))
    others = {
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        *_of_pth(Path(sysconfig.get_path("purelib"))),
    }
    (packages / "others.pth").write_text("\n".join(sorted(others)), encoding="utf-8")
    python = next((folder / "venv").glob("[bS]*/python*"))
    install = [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(next(wheels.glob("*.whl")))]
    subprocess.run(install, check=True, capture_output=True)
    return folder


def _of_pth(folder: Path) -> list[str]:
    lines = (line for file in folder.glob("*.pth") for line in file.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if "site-packages" in line and Path(line).is_dir()]


@pytest.fixture
def installed(environment: Path, tmp_path: Path) -> Installed:
    (tmp_path / "venv").symlink_to(environment / "venv")
    return Installed(tmp_path)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_database_is_in_the_users_data_folder_and_all_that_belongs_to_it(installed: Installed) -> None:
    before = files(installed.packages)
    spectrum = installed.home / "spectrum.csv"
    spectrum.write_text("wavelength,flux\n" + "".join(f"{4000 + step},{1 + step % 7}\n" for step in range(900)))
    drafted = installed.run("draft", str(spectrum), "--task", "cv", "--policy", "baseline")
    assert drafted.returncode == 0, drafted
    made = installed.run("backup")
    assert (made.returncode, str(installed.data / "backups")) == (0, str(Path(made.stdout.split(" ")[0]).parent)), made
    assert files(installed.data) >= {"annotations.db", "backups"}
    assert files(installed.packages) == before
    assert files(installed.here) == set()


def test_a_database_in_the_current_folder_is_used(installed: Installed) -> None:
    Store.open(installed.here / "annotations.db").close()
    assert installed.run("backup").returncode == 0
    assert "backups" in files(installed.here)
    assert not installed.data.exists()


def test_a_database_among_the_packages_is_found_and_moved_by_the_command_of_doctor(installed: Installed) -> None:
    wrong = installed.packages / "annotations.db"
    with Store.open(wrong) as store:
        store.accounts.add_person("CO", "Dr CO", ["coordinator"], password="Hα in emission")
    (installed.packages / "backups").mkdir()
    try:
        for command in (("app", "--no-browser"), ("backup",), ("log",), ("tasks",)):
            refused = installed.run(*command)
            assert (refused.returncode, refused.stdout) == (2, ""), refused
            assert f"{wrong.name}: found the database of an earlier release" in refused.stderr
            assert not installed.data.exists()
        doctor = installed.run("doctor", "database")
        assert doctor.returncode == 1
        assert "among the installed packages" in " ".join(doctor.stdout.split())
        subprocess.run(doctor.stdout.split("→ ")[1].splitlines()[0], shell=True, check=True)
        assert files(installed.data) == {"annotations.db", "backups"}
        shown = installed.run("log", "--json")
        assert shown.returncode == 0
        assert "CO" in shown.stdout
    finally:
        wrong.unlink(missing_ok=True)
        shutil.rmtree(installed.packages / "backups", ignore_errors=True)


def test_a_checkout_keeps_its_database_next_to_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Store.open(tmp_path / "annotations.db").close()
    assert database_place.usual_place() == ROOT / "annotations.db"
    assert database_place.database(Path("other.db")) == Path("other.db")
