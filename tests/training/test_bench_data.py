"""Labelled spectra that the bench cannot use: files of any ending, missing files, damaged files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import app
from agent.simulate import files
from training.data import DataError, Dropped, LabelledFileError, questions, survey_files


@pytest.fixture
def sky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of 4 simulated spectra, of which 2 are CVs, without a label table."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "sky"
    list(files.write(folder, files.orders(["cv", "fgk"] * 2, ["LAMOST"], (20.0, 40.0), seed=5), ["cv"]))
    (folder / "labels.csv").unlink()
    return folder


def labelled(sky: Path, *more: str) -> Path:
    """A label table of the files in the folder, and of those named ``more``."""
    names = [path.name for path in sorted(sky.iterdir()) if path.name != "labels.csv"] + list(more)
    rows = [f"{name},{'YES' if '-cv-' in name else 'NO'}" for name in names]
    table = sky.parent / "truth.csv"
    table.write_text("\n".join(["file,label", *rows]) + "\n")
    return table


def bench(sky: Path, table: Path, *arguments: object) -> int:
    given = ["--data", sky, "--labels", table, "--task", "cv", "--out", "run", "--concurrency", 1, *arguments]
    return app.main(["bench", *map(str, given)])


def report() -> tuple[dict, str]:
    return json.loads(Path("run/scores.json").read_text()), Path("run/report.md").read_text()


def test_a_labelled_file_is_read_whatever_its_ending(sky: Path) -> None:
    first, second = sorted(sky.glob("*-cv-*.fits"))
    first.rename(sky / "star-cv-a.jsonl")
    second.rename(sky / "star-cv-b.spectrum")
    assert bench(sky, labelled(sky), "--gallery", 0) == 0
    scores, _ = report()
    assert (scores["scores"]["n"], scores["scores"]["tasks"][0]["positives"]) == (4, 2)


@pytest.mark.parametrize("name", ["bad-cv-x.fits", "bad-cv-x.jsonl"])
def test_a_labelled_file_that_is_no_spectrum_ends_the_run_unless_it_may_be_left_out(sky, name, capsys):
    (sky / name).write_bytes(b"\x89PNG\r\n\x1a\n")
    table = labelled(sky)
    assert bench(sky, table) == 2
    problem = capsys.readouterr().err
    assert f"sky/{name}: cannot be read: found a PNG picture" in problem
    assert "score the rest with --leave-out-unreadable" in problem
    assert not Path("run").exists()
    assert bench(sky, table, "--leave-out-unreadable") == 0
    scores, text = report()
    assert list(scores["left_out"]) == [f"sky/{name}"]
    assert scores["scores"]["n"] == 4
    assert "**Labelled spectra that were left out: 1 (below).**" in text
    assert "cannot be read: found a PNG picture |" in text.partition("## Left out: 1")[2]


def test_a_labelled_file_that_is_missing_ends_the_run_unless_it_may_be_left_out(sky, capsys):
    table = labelled(sky, "gone-cv-1.fits", "gone-cv-2.fits")
    assert bench(sky, table) == 2
    problem = capsys.readouterr().err
    assert "found 2 labelled spectra without data (gone-cv-1.fits: in truth.csv but not among the spectra" in problem
    assert bench(sky, table, "--leave-out-unreadable") == 0
    assert list(report()[0]["left_out"]) == ["gone-cv-1.fits", "gone-cv-2.fits"]


def test_a_spectrum_that_is_damaged_inside_ends_the_run_and_the_other_answers_are_kept(sky, capsys):
    # A text file is opened without being read, so that the damage shows only when its question is put.
    (sky / "bad-cv-x.txt").write_text("wavelength flux\n4000 1.0\n")
    table = labelled(sky)
    assert bench(sky, table) == 2
    problem = capsys.readouterr().err
    assert "1 of the spectra cannot be read: " in problem
    assert "bad-cv-x.txt: found 1 pixels; expected a spectrum of at least 10 pixels" in problem
    assert not Path("run/scores.json").exists()
    assert len(Path("run/answers.jsonl").read_text().splitlines()) == 4
    assert bench(sky, table, "--leave-out-unreadable") == 0
    scores, text = report()
    assert (scores["scores"]["n"], scores["unread"], len(scores["left_out"])) == (4, 1, 1)
    assert r"bad-cv-x\.txt: found 1 pixels" in text.partition("## Left out: 1")[2]
    # The repaired file is the only one that is read again.
    shutil.copy(next(sky.glob("*-cv-*.fits")), sky / "bad-cv-x.txt")
    survey_files._file.cache_clear()  # as in a new process
    capsys.readouterr()
    assert bench(sky, table) == 0
    assert "now: 1 question in " in capsys.readouterr().out
    assert report()[0]["left_out"] == {}


def test_training_data_name_what_is_missing_and_refuse_what_cannot_be_read(sky: Path) -> None:
    table = labelled(sky, "gone-cv-1.fits")
    dropped: list[Dropped] = []
    assert len(questions([sky], None, table, task="cv", dropped=dropped)) == 4
    assert [one.key for one in dropped if one.labelled] == ["gone-cv-1.fits"]
    (sky / "bad-cv-x.dat").write_bytes(b"PK\x03\x04")
    with pytest.raises(LabelledFileError, match=r"sky/bad-cv-x\.dat: cannot be read: found a ZIP archive"):
        questions([sky], None, labelled(sky), task="cv")


def test_a_file_without_a_label_may_be_anything(sky: Path) -> None:
    table = labelled(sky)
    (sky / "notes.fits").write_bytes(b"\x89PNG\r\n\x1a\n")
    (sky / "notes.jsonl").write_text("{}\n")
    assert len(questions([sky], None, table, task="cv", leave_out="nothing")) == 4
    with pytest.raises(DataError):
        questions([sky / "none.fits"], None, table, task="cv")
