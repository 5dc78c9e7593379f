"""``spec-o3 sky fetch``: its table, its report, resuming after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from agent.conversation import Stop
from agent.sky.maps import FOLDER, bundled
from agent.sky.table import SkyTable
from app import main
from tests.support.cli import ROOT
from tests.support.services.fake_tap import FAULTS, FakeTap, catalogue_table, serving

POSITIONS = [(10.0, 20.0), (10.1, 20.0), (50.0, -20.0)]


@pytest.fixture
def service() -> Iterator[FakeTap]:
    ra, dec = 10 + np.arange(6) / 10, np.full(6, 20.0)
    tables = {
        "gaia": catalogue_table(bundled()["gaia_dr3"], ra, dec),
        "psc": catalogue_table(bundled()["twomass"], ra, dec),
    }
    with serving(tables) as running:
        yield running


@pytest.fixture
def given(tmp_path: Path, service: FakeTap) -> list[str]:
    """Arguments: spectra with positions and without, a file that is none, and maps of the fake service."""
    spectra = tmp_path / "spectra"
    spectra.mkdir()
    for number, position in enumerate([*POSITIONS, POSITIONS[0], None]):
        wavelength = np.arange(4000.0, 7000.0, 10)
        fields = {
            "wavelength": wavelength.tolist(),
            "flux": (1 + number // 4 + 0.1 * np.sin(wavelength + number % 3)).tolist(),
        }
        fields |= {"medium": "air", "wavelengthUnits": "Angstrom", "fluxUnits": "erg/s/cm2/A"} | (
            {} if position is None else {"ra": position[0], "dec": position[1]}
        )
        (spectra / f"{number}.json").write_text(json.dumps(fields))
    arguments = ["sky", "fetch", str(spectra / "broken.fits"), *(str(spectra / f"{n}.json") for n in range(5))]
    (spectra / "broken.fits").write_bytes(b"SIMPLE  = no")
    for key, table in (("gaia_dr3", "gaia"), ("twomass", "psc")):
        text = (FOLDER / f"{key}.toml").read_text()
        where = bundled()[key].service
        assert where is not None
        changed = text.replace(where.url, f"{service.url}/{key}").replace(f'"{where.table}"', f'"{table}"')
        (tmp_path / f"{key}.toml").write_text(changed)
        arguments += ["--map", str(tmp_path / f"{key}.toml")]
    return [*arguments, "--catalogues", "twomass,gaia_dr3", "--out", str(tmp_path / "sky.parquet")]


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict]:
    status = main([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_the_table_has_a_record_per_object_and_catalogue_and_the_report_names_what_is_missing(
    given: list[str], service: FakeTap, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, result = run(given, capsys)
    assert status == 1  # a file is unreadable
    assert result["catalogues"] == {key: {"found": 3, "not found": 1} for key in ("twomass", "gaia_dr3")}
    assert [Path(name).name for name in result["without_position"]] == ["4.json"]
    assert ["broken.fits" in name for name in result["unreadable"]] == [True]
    assert len(list(SkyTable(tmp_path / "sky.parquet").rows())) == 8
    assert [table for table, _ in service.requests] == ["gaia", "psc"]
    assert not list(tmp_path.glob("*.jsonl"))
    service.fault = FAULTS["query refused"]
    status = main([name for name in given if "broken" not in name] + ["--refresh"])
    text = capsys.readouterr().out
    assert status == 1
    assert text.count(": the service refused the query: said by the service: 4\n  spectra/0.json\n") == 2
    assert [record.status for _, record in SkyTable(tmp_path / "sky.parquet").rows()].count("found") == 6


@pytest.mark.long
def test_after_a_kill_the_same_command_asks_only_for_what_is_missing(
    given: list[str], service: FakeTap, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def hold_the_second(reply: object, rng: object) -> None:
        if len(service.requests) == 2:
            FAULTS["no answer in time"](reply, np.random.default_rng(0))  # type: ignore[arg-type]

    service.fault = hold_the_second
    process = subprocess.Popen([sys.executable, "app.py", *given], cwd=ROOT, start_new_session=True)
    assert service.held.wait(120)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "sky.parquet").exists()
    journal = tmp_path / "sky.parquet.journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"spectrum": "ab')  # as a kill within a line leaves it
    service.fault = None
    _, result = run(given, capsys)
    assert [table for table, _ in service.requests] == ["gaia", "psc", "psc"]
    assert result["catalogues"] == {key: {"found": 3, "not found": 1} for key in ("twomass", "gaia_dr3")}
    assert run(given, capsys)[1] == result
    assert len(service.requests) == 3


def test_ctrl_c_writes_the_table_of_what_was_answered(
    given: list[str], service: FakeTap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_stopped, stop = threading.Event(), Stop.set
    monkeypatch.setattr(Stop, "set", lambda self: (stop(self), is_stopped.set()))

    def interrupt(reply: object, rng: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        assert is_stopped.wait(60)

    service.fault = interrupt
    assert main(given) == 130
    assert len(service.requests) == 1
    assert len(list(SkyTable(tmp_path / "sky.parquet").rows())) == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--catalogues", "gaia_dr9"], "found the catalogue 'gaia_dr9', expected one of"),
        (["--local", "gaia_dr3"], "found 'gaia_dr3', expected KEY=PATH"),
        (["--local", "gaia_dr3=/nowhere.parquet"], "found no such file"),
    ],
)
def test_a_wrong_catalogue_or_file_is_refused(
    change: list[str], words: str, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*given, *change]) == 2
    assert words in capsys.readouterr().err


def test_without_pyvo_the_command_says_how_to_install_it(
    given: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyvo", "pyvo.dal", "pyvo.utils.http"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(given) == 2
    assert 'pip install "spec-o3[sky]"' in capsys.readouterr().err
