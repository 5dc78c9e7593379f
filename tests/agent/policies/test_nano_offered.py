"""The nano model where it is offered: the command line, and the Live tab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from astropy.table import Table

from agent.policies.nano.policy import NAME
from agent.simulate import simulate
from tests.support.cli import run
from tests.support.nano_model import write

pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("nano") / "model")


def table(path: Path, seed: int) -> Path:
    spectrum = simulate("cv", "LAMOST", 20.0, seed=seed)
    Table({name: getattr(spectrum, name) for name in ("wavelength", "flux", "ivar")}).write(path)
    return path


def test_spectra_are_inspected_from_the_command_line_in_processes(folder, tmp_path):
    for seed in (1, 2):
        table(tmp_path / f"{seed}.csv", seed)
    options = ("--task", "cv", "--policy", "nano", "--model", folder, "--max-tokens", 8, "--json", "--processes", 2)
    done = run("inspect", *options, "--out", "results.jsonl", "1.csv", "2.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["spectra"], summary["this_run"]["inspected"]) == (2, 2)
    assert summary["this_run"]["tokens"]["completion"] == 16
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    drafters = [line["drafter"] for line in lines]
    assert [drafter["name"] for drafter in drafters] == [NAME] * 2
    assert len(drafters[0]["settings"]["weights_sha256"]) == 64
