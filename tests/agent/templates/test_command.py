"""``spec-o3 templates``: list, rank and build, with their exit status and what they print."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import app
from agent.templates import bundled


def star(folder: Path, name: str, template: str = "mean A3 dwarf") -> Path:
    """Write a template as a text spectrum."""
    found = next(t for t in bundled().templates if t.about.name == template)
    seen = np.isfinite(found.flux)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    flux = found.flux[seen]
    table = np.stack([found.wavelength[seen], flux, np.full(flux.size, 0.01)], axis=1)
    np.savetxt(path, table, header="wavelength_vacuum flux error")
    return path


def test_list_names_class_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["templates", "list"]) == 0
    text = capsys.readouterr().out
    assert "HD 146051" in text
    assert "STELIB" in text
    assert app.main(["templates", "list", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["templates"]
    assert len(entries) == len(bundled().templates)
    assert entries[0]["licence"]
    assert entries[0]["coverage"][0] < entries[0]["coverage"][1]


def test_rank_prints_the_best_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = star(tmp_path, "star.txt")
    assert app.main(["templates", "rank", str(path), "--json", "--number", "3"]) == 0
    found = json.loads(capsys.readouterr().out)["matches"]
    assert [match["rank"] for match in found] == [1, 2, 3]
    assert found[0]["name"] == "mean A3 dwarf"
    assert app.main(["templates", "rank", str(path)]) == 0
    assert "km/s" in capsys.readouterr().out


def test_build_writes_a_file_that_rank_uses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    star(tmp_path, "spectra/mine/odd.txt", "HD 146051")
    out = tmp_path / "own" / "own.npz"
    out.parent.mkdir()
    assert app.main(["templates", "build", "--from", str(tmp_path / "spectra"), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["templates"] == 1
    path = star(tmp_path, "star.txt", "HD 146051")
    command = ["templates", "rank", str(path), "--templates", str(out.parent), "--json"]
    assert app.main(command) == 0
    assert "mine" in [match["kind"] for match in json.loads(capsys.readouterr().out)["matches"][:2]]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["list", "--templates", "{0}/gone"], "found nothing, expected a folder"),
        (["rank", "{0}/gone.fits"], "gone.fits"),
        (["build", "--from", "{0}", "--out", "{0}/x.npz"], "no usable spectrum"),
        (["build", "--from", "{0}", "--manifest", "{0}/gone.csv", "--out", "{0}/x.npz"], "gone.csv"),
    ],
)
def test_what_cannot_run_says_why(tmp_path, capsys, arguments, wrong):
    try:
        status = app.main(["templates", *(a.format(tmp_path) for a in arguments)])
    except SystemExit as ended:  # refused when the options are read
        status = ended.code
    assert status == 2
    assert wrong in capsys.readouterr().err
