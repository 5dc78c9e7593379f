"""Files of a folder: those that are read by content, and those that are skipped with a reason."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

import app
from agent.batch.sources import sources_from
from tests.support.inputs.spectra import FITS, JSON, TEXT, desi, plate, redrock, zbest


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sky").mkdir()
    return tmp_path / "sky"


def scan(folder: Path) -> tuple[list[str], dict[str, str]]:
    skipped: dict[str, str] = {}
    found = [
        s.path.name for s in sources_from([str(folder)], folder, None, lambda p, why: skipped.update({p.name: why}))
    ]
    return found, skipped


def test_files_with_other_names_are_taken_by_content(folder):
    contents = {
        "star.json": JSON["catalog"],
        "star.asci": TEXT["spaced"],
        "star.oke": TEXT["figaro"],
        "star": TEXT["spaced"],
        "star.fz": FITS["sdss"],
        "star.fits": FITS["image"],
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    assert scan(folder) == (sorted(contents), {})


def test_every_other_file_is_named_with_the_reason(folder):
    contents = {
        "README.md": b"Spectra of 12 stars.",
        "labels.csv": b"file,label\nstar.fits,YES\n",
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "settings.json": b'{"a": 1}',
        "r.jsonl": b'{"schema": 1}\n{"schema": 2}\n',
        "empty": b"",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / ".hidden").write_bytes(b"x")
    (folder / "star.fits").write_bytes(FITS["image"])
    found, skipped = scan(folder)
    assert found == ["star.fits"]
    assert set(skipped) == set(contents)
    for name, reason in {
        "README.md": "found ",
        "labels.csv": "a list or a table of labels",
        "picture.png": "a PNG picture",
        "settings.json": "a JSON object with a",
        "r.jsonl": "JSON lines",
        "empty": "an empty file",
    }.items():
        assert reason in skipped[name]


@pytest.mark.parametrize(
    ("spectra", "content", "table", "its_content"),
    [
        ("coadd-1-2.fits", desi(), "redrock-1-2.fits", redrock()),
        ("coadd-1-2.fits.gz", desi(), "zbest-1-2.fits", redrock(name="ZBEST")),
        ("spPlate-1-2.fits", plate(), "spZbest-1-2.fits", zbest()),
    ],
)
def test_a_redshift_table_is_skipped_where_its_spectra_are(folder, spectra, content, table, its_content):
    (folder / spectra).write_bytes(content)
    (folder / table).write_bytes(its_content)
    assert scan(folder) == ([spectra], {table: f"the redshifts of {spectra}, read with it"})
    (folder / spectra).unlink()
    assert scan(folder) == ([table], {})  # inspecting it fails, with words that name the coadd


def test_inspect_prints_what_it_skipped(folder, capsys):
    (folder / "star.oke").write_bytes(TEXT["spaced"])
    (folder / "notes.md").write_text("Cloudy.")
    command = ["inspect", "sky", "--task", "cv", "--concurrency", "1"]
    app.main([*command, "--out", "a.jsonl"])
    out = capsys.readouterr().out
    assert "files skipped because they hold no spectrum: 1" in out
    assert "notes.md: found " in out
    app.main([*command, "--out", "b.jsonl", "--json"])
    assert [Path(load["file"]).name for load in json.loads(capsys.readouterr().out)["skipped"]] == ["notes.md"]
    (folder / "star.oke").unlink()
    app.main([*command, "--out", "c.jsonl"])
    assert "found no file that looks like a spectrum; skipped sky/notes.md: found" in capsys.readouterr().err


PARTS = ("int_ids_j1948", "ugem_halpha_text", "ing_oke1974_text", "wiserep_pessto", "osc_boneyard", "faststars")


def test_every_file_of_the_real_collection_is_taken_or_named(tmp_path, shared):
    folder = tmp_path / "spectra"
    for part in PARTS:
        shutil.copytree(shared / "spectra" / part, folder / part)
    found, skipped = scan(folder)
    there = [path for path in folder.rglob("*") if path.is_file()]
    assert len(found) + len(skipped) == len(there)
    assert skipped == {}
    kinds = Counter(Path(name).suffix if not name.startswith("txhugem") else "none" for name in found)
    assert {".json", ".asci", ".oke", ".dat", "none"} <= set(kinds)
