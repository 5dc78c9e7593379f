"""A task of the program is one TOML file: an F star, as a contributor adds it, on every path without a line of code."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import simulate, tasks
from agent.loci import planes
from agent.tasks import files
from app import main
from reviewer.rules.campaign import known_tasks

OPTIONAL = ("planes_of", "[[plane]]", "[simulated]")


def f_star(with_optional: bool) -> str:
    """The file of A stars as one of F stars, with planes and simulated kinds or without."""
    text = (tasks.FOLDER / "a.toml").read_text(encoding="utf-8")
    for before, after in (
        ('key = "a"', 'key = "f"'),
        ("A-type Star", "F-type Star"),
        ("A star between", "F star between"),
    ):
        text = text.replace(before, after)
    text = text.replace('kinds = ["a"]', 'kinds = ["fgk"]').replace('"fgk", "wd"', '"a", "wd"')
    if with_optional:
        return text
    text = text.partition("\n[[plane]]")[0]
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("planes_of"))


@pytest.fixture(params=[True, False], ids=["all keys", "required keys"])
def with_optional(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """The program with the additional file; whether it has the optional keys."""
    folder = shutil.copytree(tasks.FOLDER, tmp_path / "program")
    (folder / "f.toml").write_text(f_star(request.param), encoding="utf-8")
    monkeypatch.setattr(files, "FOLDER", folder)
    simulate._tasks.cache_clear()
    yield request.param
    simulate._tasks.cache_clear()


def test_the_file_is_a_task_everywhere(with_optional: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known, problems = known_tasks(tmp_path / "annotations.db")  # what the app, imports and drafts offer
    assert (known["f"].title, problems) == ("F-type Star", ())
    assert main(["tasks", "--json"]) == 0
    assert "f" in json.dumps(json.loads(capsys.readouterr().out))
    shown = planes(known["f"], known)
    assert [plane.owner for plane in shown] == (["wd", "f"] if with_optional else [])

    spectra = tmp_path / "spectra"
    status = main(["simulate", str(spectra), "--task", "f", "--n", "2", "--snr", "30:30"])
    if with_optional:
        assert status == 0
        with (spectra / "labels.csv").open(encoding="utf-8") as lines:
            assert [(row["task"], row["kind"], row["label"]) for row in csv.DictReader(lines)] == [
                ("f", "fgk", "YES"),
                ("f", "b", "NO"),
            ]
    else:
        assert status == 2
        assert "nothing is simulated for 'f': its task file has no table [simulated]" in capsys.readouterr().err
        assert main(["simulate", str(spectra), "--kinds", "fgk,b", "--n", "2", "--snr", "30:30"]) == 0
    capsys.readouterr()

    out = tmp_path / "out.jsonl"
    command = ["inspect", "--task", "f", "--policy", "baseline", "--out", str(out), str(spectra)]
    assert main(command) == 0
    answers = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert sum("F-type Star" in json.dumps(answer) for answer in answers) == 2
