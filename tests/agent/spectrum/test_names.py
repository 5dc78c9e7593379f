"""Names of one file and spellings of one identifier: the comparison itself, and every place that needs it."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
import unicodedata
from pathlib import Path

import pytest

import app
from agent import tasks
from agent.batch.labels import Labels, LabelsError
from agent.batch.sources import SourceError, sources_from
from agent.spectrum import SpectrumError, read
from agent.spectrum.folder import SpectraFolder
from agent.spectrum.names import LostDigitsError, file_key, id_key, spellings
from agent.spectrum.readers.targets import Selection, Targets
from reviewer.store import Draft, QueueFilter
from tests.support.drawn_traces import a_spectrum, a_store, a_trace
from training.data.records import source_of

ACCENTS = "étoile é ö1.fits"
NFC, NFD = (unicodedata.normalize(form, ACCENTS) for form in ("NFC", "NFD"))
TARGET = 39627747886112324


def test_names_of_one_file_have_one_key() -> None:
    names = [f"{folder}{form}{ending}" for folder in ("", "a/b/", "a\\") for form in (NFC, NFD) for ending in ENDINGS]
    assert {file_key(name) for name in names} == {NFC}
    assert len({file_key(name) for name in ("x.fits", "X.fits", "x.fit", "xgz", "x.fits.gz.fits", ".gz")}) == 6
    assert set(spellings(f"{NFD}.gz#12.0")) >= {f"{form}{ending}#12" for form in (NFC, NFD) for ending in ENDINGS[:2]}
    assert {source_of(f"{name}#7") for name in names} == {f"{NFC}#7"}
    assert source_of("test #2.fits.gz") == "test #2.fits"


ENDINGS = ("", ".gz", ".bz2", ".GZ")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        *((str(TARGET), str(TARGET)), (f" {TARGET} ", str(TARGET)), ("12.0", "12"), ("12.", "12"), ("0.0", "0")),
        *(("1.2345E+4", "12345"), ("1.5", "1.5"), ("1e5", "1e5"), ("007", "007"), ("", ""), ("spec-1.0", "spec-1.0")),
        *(("9007199254740991.0", "9007199254740991"), ("-3.0", "-3.0"), ("1e99", None), ("é", "é")),
        *((f"{TARGET}.0", None), ("3.96E+16", None), ("3.96277478861123e+16", None), ("1.23457E+11", None)),
    ],
)
def test_an_identifier_written_as_a_float_is_the_same_or_has_lost_digits(text: str, key: str | None) -> None:
    if key is None:
        with pytest.raises(LostDigitsError, match="last digits are lost"):
            id_key(text)
    else:
        assert id_key(text) == key


@pytest.fixture(scope="module")
def spectra(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three simulated spectra: one named in NFD, two compressed."""
    folder = tmp_path_factory.mktemp("names")
    made = folder / "made"
    assert app.main(["simulate", "--task", "cv", "--n", "3", "--snr", "25:30", "--out", str(made)]) == 0
    files = sorted(made.glob("*.fits"))
    out = folder / "spectra"
    out.mkdir()
    shutil.copy(files[0], out / NFD)
    (out / "b.fits.gz").write_bytes(gzip.compress(files[1].read_bytes()))
    (out / "c.fits").write_bytes(files[2].read_bytes())
    return out


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The labels of the three, each by another name than its file has."""
    path = tmp_path / "labels.csv"
    path.write_text(f"file,label\n{NFC},YES\nb.fits,NO\nc.fits.bz2,YES\n", encoding="utf-8")
    return path


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict]:
    capsys.readouterr()
    status = app.main([*map(str, arguments), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_draft_certify_and_bench_find_the_labels(capsys, spectra: Path, table: Path, tmp_path: Path) -> None:
    drafts, results = tmp_path / "d.jsonl", tmp_path / "r.jsonl"
    status, found = printed(capsys, "draft", "--task", "cv", "--labels", table, "--out", drafts, spectra)
    assert (status, found["drafted"], found["without_label"], found["labels_unused"]) == (0, 3, [], [])
    printed(capsys, "inspect", "--task", "cv", "--processes", 1, "--out", results, spectra)
    _, found = printed(capsys, "certify", results, "--labels", table, "--task", "cv", "--simulated")
    assert found.get("labels", found) == {"known": 3} or "refusal" in found, found

    from training.data.survey_files import labelled_spectra

    dropped: list = []
    questions = labelled_spectra([spectra], table, tasks.load(), ["cv"], dropped, "nothing")
    assert sorted(question.label for question in questions) == ["NO", "YES", "YES"]
    assert not dropped


def test_lists_and_folders_find_the_file(spectra: Path, table: Path, tmp_path: Path) -> None:
    given = tmp_path / "list.csv"
    given.write_text(f"file\n{spectra.name}/{NFC}\n{spectra.name}/b.fits\n", encoding="utf-8-sig")
    shutil.copytree(spectra, tmp_path / spectra.name)
    listed = list(sources_from([f"@{given}"], tmp_path))
    assert [source.path.name for source in listed] == [NFD, "b.fits.gz"]
    with given.open(encoding="utf-8") as stdin:
        assert len(list(sources_from(["-"], tmp_path, stdin))) == 2
    folder = SpectraFolder(spectra)
    for name, target in ((NFC, ""), ("b.fits", ""), ("c.fits.gz", ""), (f"{NFC}.bz2", "")):
        assert folder.find(f"{name}{target}", None).name
        assert name in folder
    (spectra / "d.fits.bz2").write_bytes(bz2.compress((spectra / "c.fits").read_bytes()))
    assert SpectraFolder(spectra).find("d.fits", None).sha256 == read(spectra / "c.fits").sha256
    (spectra / "d.fits.bz2").unlink()


def some_targets() -> Targets:
    targets = Targets("coadd.fits")
    for name in (str(TARGET), str(TARGET + 1), "12"):
        targets.add(name, lambda name=name: a_spectrum(name))
    return targets


def test_a_target_written_as_a_float_is_found_or_said_to_have_lost_digits(tmp_path: Path) -> None:
    assert some_targets().read("12.0").name == "12"
    assert some_targets().selected(Selection.parse(f"targetid=12.0| {TARGET}")) == (str(TARGET), "12")
    for rounded in (f"{TARGET}.0", "3.96E+16"):
        with pytest.raises(SpectrumError, match="last digits are lost"):
            some_targets().read(rounded)
        table = tmp_path / "labels.csv"
        table.write_text(f"file;target;label\na.fits;12.0;YES\na.fits;{rounded};NO\n")
        with pytest.raises(LabelsError, match=r"row 3: target: found .* last digits are lost"):
            Labels.read(table, lambda name: True)
        with pytest.raises(SourceError, match=r"row 3: target: found .* last digits are lost"):
            list(sources_from([f"@{table}"], tmp_path))


def test_a_catalogue_with_targets_as_floats_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for targets, is_exact in (([12.0, 13.0], True), ([float(TARGET), 1.0], False)):
        pq.write_table(pa.table({"file": ["a.fits", "a.fits"], "target": targets}), tmp_path / "c.parquet")
        if is_exact:
            assert [source.target for source in sources_from([str(tmp_path / "c.parquet")], tmp_path)] == ["12", "13"]
        else:
            with pytest.raises(SourceError, match=r"row 0: target: .* last digits are lost"):
                list(sources_from([str(tmp_path / "c.parquet")], tmp_path))


def test_items_of_a_database_are_found_by_any_spelling(tmp_path: Path) -> None:
    with a_store(tmp_path / "a.db") as store:
        spectra = [a_spectrum(name) for name in (NFD, "b.fits.gz", f"c.fits#{TARGET}", "c.fits", "c.fits.gz")]
        store.items.add_all([Draft(a_trace(spectrum), spectrum) for spectrum in spectra])
        named = {
            name: store.imported_comments.items_named(name, None) for name in (NFC, "b.fits", f"c.fits.gz#{TARGET}")
        }
        assert list(named.values()) == [[1], [2], [3]]
        assert store.imported_comments.items_named("c.fits.gz", None) == [5], "the exact name comes first"
        for form in (NFC, NFD):
            assert [row.item_id for row in store.queue.page(QueueFilter(text=form[:8]), "AA").rows] == [1]


def test_predictions_name_their_spectra_in_any_spelling(tmp_path: Path) -> None:
    from training.bench.build import Entry
    from training.specialist.weak_classifier import Predictions

    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps({"source": name, "probability": 0.5}) + "\n" for name in (NFD, "b.fits.gz")))
    found = Predictions(path, tasks.load()["cv"])
    entries = [Entry(name, source_of(name), lambda: a_spectrum("any")) for name in (NFC, "a/b.fits", "c.fits")]
    assert found.p(entries, []) == [0.5, 0.5, None]
    assert found.description()["lines"] == 2
