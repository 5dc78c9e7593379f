"""labels.csv: what is read, and what is refused with its row and column."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.batch.labels import Labels, LabelsError

TASKS = {"cv": True, "Cataclysmic": True, "wd": False}


def labels(folder: Path, text: str) -> Labels:
    path = folder / "labels.csv"
    path.write_text(text, encoding="utf-8")
    return Labels.read(path, TASKS.get)


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("YES", "YES"),
        ("no", "NO"),
        ("1", "YES"),
        ("0", "NO"),
        ("True", "YES"),
        ("false", "NO"),
        (" Yes ", "YES"),
    ],
)
def test_a_label_is_yes_or_no_however_people_write_it(tmp_path, word, verdict):
    assert labels(tmp_path, f"file,label\na.fits,{word}\n").of("a.fits") == verdict


@pytest.mark.parametrize("column", ["file", "name", "path", "File", " PATH "])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_file_is_named_in_any_of_three_columns_and_known_by_its_own_name(tmp_path, column, separator):
    found = labels(tmp_path, f"\ufeff{column}{separator}label\nplates/56414/a.fits{separator}YES\n")
    assert found.of("a.fits") == "YES"
    assert found.of("A.fits") is None
    assert found.source == "labels.csv"


def test_a_path_written_on_windows_is_known_by_its_last_part(tmp_path):
    assert labels(tmp_path, "path,label\nC:\\plates\\a.fits,NO\n").of("a.fits") == "NO"


def test_a_target_has_its_own_label_or_that_of_its_file(tmp_path):
    found = labels(tmp_path, "file,target,label\nb.fits,39628,YES\nb.fits,,NO\nc.fits,7,YES\n")
    assert (found.of("b.fits", "39628"), found.of("b.fits", "1")) == ("YES", "NO")
    assert (found.of("c.fits", "8"), found.of("c.fits")) == (None, None)
    assert found.unused == ["c.fits#7"]


def test_rows_of_other_classes_are_passed_over(tmp_path):
    found = labels(tmp_path, "file,label,task\na.fits,1,cv\nb.fits,1,wd\na.fits,0,wd\nc.fits,0,Cataclysmic\n")
    assert [found.of(name) for name in ("a.fits", "b.fits", "c.fits")] == ["YES", None, "NO"]
    assert len(found) == 2


def test_what_nobody_asked_about_is_named_in_the_files_order(tmp_path):
    found = labels(tmp_path, "file,label\nc.fits,1\na.fits,0\n\nb.fits,1\n")
    found.of("a.fits")
    assert found.unused == ["c.fits", "b.fits"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("file,label\na.fits,maybe\n", "labels.csv: row 2: label: found 'maybe', wanted YES or NO"),
        ("file,label\na.fits\n", "labels.csv: row 2: label: found '', wanted YES or NO"),
        ("file,label\na.fits,1\n,1\n", "labels.csv: row 3: file: found nothing, wanted a file's name"),
        ("name,label,task\na.fits,1,quasar\n", "row 2: task: found 'quasar', wanted a class that is known"),
        ("star,label\na,1\n", "row 1: found the columns star, label; wanted file (or name, path) and label"),
        ("file\na.fits\n", "row 1: found the columns file; wanted"),
        ("", "row 1: found the columns none; wanted"),
        ("file,label\na.fits,1\nx/a.fits,0\n", "row 3: label: found NO for a.fits, which row 2 calls YES"),
    ],
)
def test_what_is_wrong_is_told_with_its_row_and_column(tmp_path, text, words):
    with pytest.raises(LabelsError) as refused:
        labels(tmp_path, text)
    assert words in str(refused.value)


def test_the_same_label_twice_is_once(tmp_path):
    assert len(labels(tmp_path, "file,label\na.fits,1\nother/a.fits,yes\n")) == 1


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(LabelsError, match=r"none\.csv"):
        Labels.read(tmp_path / "none.csv", TASKS.get)
    (tmp_path / "bytes.csv").write_bytes(b"file,label\n\xff\xfe,1\n")
    with pytest.raises(LabelsError, match=r"bytes\.csv: found no text"):
        Labels.read(tmp_path / "bytes.csv", TASKS.get)


@given(st.text(max_size=200))
def test_whatever_stands_in_the_file_gives_labels_or_a_refusal(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(("file,label\n" + text).encode(errors="replace"))
    try:
        found = Labels.read(path, TASKS.get)
    except LabelsError:
        return
    assert all(found.of(name) in ("YES", "NO") for name in found.unused)
