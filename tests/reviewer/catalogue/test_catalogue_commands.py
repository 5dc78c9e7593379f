"""``spec-o3 catalogue`` and ``spec-o3 catalogue verify``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from reviewer.store import Store
from tests.reviewer.catalogue.conftest import Campaign
from tests.support.cli import run


def test_a_catalogue_is_made_and_verified(campaign: Campaign, tmp_path: Path) -> None:
    db = shutil.copy(campaign.db, tmp_path)
    out = tmp_path / "cvs"
    words = [
        "catalogue",
        "--task",
        "cv",
        "--db",
        str(db),
        "--view",
        "Tonight's",
        "--creator",
        "Ada Öther",
        "--out",
        str(out),
    ]
    made = run(*words)
    assert made.returncode == 0, made.stderr
    assert f"1 object with 1 spectrum in {out}" in made.stdout
    assert "left out: 1, trace rejected: wrong class" in made.stdout
    assert run(*words).returncode == 2
    verified = run("catalogue", "verify", str(out), "--facts", "--db", str(db))
    assert (verified.returncode, verified.stdout.strip()) == (0, "every number and picture is as the data give it")
    (out / "numbers.json").write_text("{}")
    verified = run("catalogue", "verify", str(out), "--json")
    assert verified.returncode == 1
    assert {difference["path"] for difference in json.loads(verified.stdout)["differences"]} == {"numbers.json"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["catalogue"], "--task: found None, expected one of"),
        (["catalogue", "--task", "cv", "--view", "nothing"], "--view: found the views none of the name 'nothing'"),
        (["catalogue", "--task", "wd"], "found no item that was approved with YES, of 0 selected (none)"),
        (["catalogue", "--task", "cv", "--view", "999"], "There is no view 999."),
    ],
)
def test_what_cannot_be_made_is_refused(campaign: Campaign, tmp_path: Path, words: list[str], message: str) -> None:
    db = shutil.copy(campaign.db, tmp_path)
    refused = run(*words, "--db", str(db))
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "annotations-catalogues").exists() or not any(
        (tmp_path / "annotations-catalogues").iterdir()
    )


def test_a_folder_that_is_no_catalogue_is_refused(tmp_path: Path) -> None:
    refused = run("catalogue", "verify", str(tmp_path))
    assert (refused.returncode, "expected a catalogue" in refused.stderr) == (2, True)


def test_two_views_of_one_name_are_told_apart_by_their_numbers(campaign: Campaign, tmp_path: Path) -> None:
    db = shutil.copy(campaign.db, tmp_path)
    with Store.open(db) as store:
        other = store.views.create(person="BB", name="Tonight's", items=[1])
    refused = run("catalogue", "--task", "cv", "--db", str(db), "--view", "Tonight's")
    assert f"found the views {campaign.view}, {other.id}" in refused.stderr
