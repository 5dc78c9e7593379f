"""What the command line names, to one name a spectrum."""

import io
from pathlib import Path

import pytest

from agent.batch.sources import Source, SourceError, files, spectra


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Path:
    """data/a/2.fits.gz, data/a/1.FITS, data/b.csv, data/notes.md, data/.hidden/3.fits; the current folder."""
    for name in ("a/2.fits.gz", "a/1.FITS", "b.csv", "notes.md", ".hidden/3.fits", ".4.fits"):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("wavelength,flux\n1,2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def keys(*given: str, results: Path = Path(), stdin: str | None = None) -> list[str]:
    listed = None if stdin is None else io.StringIO(stdin)
    return [source.key for source in files(given, results, listed)]


def test_a_folder_is_gone_through_by_name_and_only_what_looks_like_a_spectrum_is_taken(tree):
    assert keys("data") == ["data/b.csv", "data/a/1.FITS", "data/a/2.fits.gz"]


def test_a_table_of_labels_beside_the_spectra_is_none(tree):
    (tree / "data" / "labels.csv").write_text("file,label\n1.FITS,YES\n")
    (tree / "data" / "unreadable.csv").write_bytes(b"\xff\xfe\x00")
    assert keys("data") == ["data/b.csv", "data/unreadable.csv", "data/a/1.FITS", "data/a/2.fits.gz"]


def test_a_file_that_is_named_is_taken_whatever_its_name(tree):
    assert keys("data/notes.md") == ["data/notes.md"]


def test_a_file_has_one_name_however_it_is_given(tree):
    assert keys("data/b.csv", "./data/../data/b.csv", str(tree / "data/b.csv"), "data") == [
        "data/b.csv",
        "data/a/1.FITS",
        "data/a/2.fits.gz",
    ]


def test_names_are_relative_to_the_results_wherever_the_run_is_started(tree, monkeypatch):
    (tree / "out").mkdir()
    assert keys("data/b.csv", results=tree / "out") == ["../data/b.csv"]
    monkeypatch.chdir(tree / "data")
    assert keys("b.csv", results=tree / "out") == ["../data/b.csv"]


def test_a_link_to_a_folder_does_not_change_the_name(tree):
    (tree / "link").symlink_to(tree / "data")
    assert keys("link/b.csv", results=tree) == ["data/b.csv"]


def test_a_list_has_a_path_on_each_line(tree):
    (tree / "list.txt").write_text("# mine\ndata/b.csv\n\n  data/a/1.FITS\n")
    assert keys("@list.txt") == ["data/b.csv", "data/a/1.FITS"]
    assert keys("list.txt") == ["list.txt"]


@pytest.mark.parametrize(
    "text",
    [
        "file,target\nb.csv,\na/1.FITS,17\n",
        "class;path;Target\nCV;b.csv;\nCV;a/1.FITS;17\n",
        "\ufeffpath\ttarget\nb.csv\t\na/1.FITS\t17\n",
    ],
)
def test_a_csv_with_a_column_for_the_file_is_a_list_and_its_paths_lie_beside_it(tree, text):
    (tree / "data" / "list.csv").write_text(text, encoding="utf-8")
    assert keys("data/list.csv") == keys("@data/list.csv") == ["data/b.csv", "data/a/1.FITS#17"]


def test_a_csv_without_one_is_a_spectrum(tree):
    assert keys("data/b.csv") == ["data/b.csv"]


def test_standard_input_is_a_list(tree):
    assert keys("-", stdin="data/b.csv\n") == ["data/b.csv"]
    assert keys("-", stdin="file,target\ndata/b.csv,5\n") == ["data/b.csv#5"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("gone.fits", "gone.fits: found no such file or folder"),
        ("@gone.txt", "gone.txt: No such file"),
        ("@bytes.txt", "bytes.txt: found no text"),
        ("holes.csv", "holes.csv: line 3: file: found nothing, wanted the path"),
        ("-", "-: found no standard input"),
    ],
)
def test_what_is_not_there_is_named(tree, given, words):
    (tree / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    (tree / "holes.csv").write_text("file,class\na.fits,CV\n,CV\n")
    with pytest.raises(SourceError, match=words):
        keys(given)


def test_a_file_with_several_spectra_is_one_source_each_without_sky(shared):
    path = shared / "spectra/desi/QSO/coadd-main-dark-9144.fits"
    found = list(spectra(Source(path, "c.fits")))
    assert [source.key for source in found] == [f"c.fits#{source.target}" for source in found]
    assert len(found) == 2


def test_what_cannot_be_opened_is_left_to_whoever_reads_it(tree):
    source = Source(tree / "data/notes.md", "notes.md")
    assert list(spectra(source)) == [source]


def test_a_file_that_is_known_is_not_opened(tree):
    source = Source(tree / "gone.fits", "gone.fits")
    assert list(spectra(source, {"gone.fits"}.__contains__)) == [source]
    named = Source(tree / "gone.fits", "gone.fits", "7")
    assert list(spectra(named)) == [named]
