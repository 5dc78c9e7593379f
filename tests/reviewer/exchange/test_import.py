"""Imports: rows, pictures, lists of JSON and zips, whole and damaged."""

from __future__ import annotations

import io
import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.table import Table
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from agent.plot import pixels_sha256
from agent.spectrum import read
from agent.trajectory import json_rows
from agent.trajectory.json_rows import elements
from agent.trajectory.steps import Zoom
from reviewer.exchange import imports
from reviewer.exchange.exports import export
from reviewer.exchange.imports import ImportFileError, OtherText, import_file, own_row
from reviewer.exchange.pictures import PictureFiles
from reviewer.exchange.recognition import by_state
from reviewer.exchange.uploads import unpacked
from reviewer.store import QueueFilter, Store
from tests.agent.trajectory.test_trajectory import published_row
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved
from tests.support.inputs.refusals import check_sentence
from tests.support.inputs.rows import DAMAGED_ZIPS, NOT_NAMES, with_picture_names, with_pictures, zip_of
from tests.support.memory import peaks


@pytest.fixture
def store(tmp_path):
    with a_store(tmp_path / "annotations.db") as store:
        yield store


def count(store: Store) -> int:
    return store.queue.page(QueueFilter(), "AA").total


def write_rows(path: Path, *rows: object) -> Path:
    text = "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def write_sharegpt(folder: Path, *rows: dict) -> Path:
    """Write rows and their pictures, each picture of another colour."""
    (folder / "images").mkdir(parents=True)
    for number, path in enumerate(p for row in rows for p in row["images"]):
        Image.new("RGB", (40, 30), (number % 256, 20, 30)).save(folder / path)
    path = folder / "train_sharegpt.json"
    path.write_text(json.dumps(list(rows)), encoding="utf-8")
    return path


def test_our_rows_are_imported_once_with_their_spectra(store, tmp_path):
    spectra = a_spectrum("a.fits"), a_spectrum("b.fits", redshift=None)
    traces = [a_trace(spectrum) for spectrum in spectra]
    path = write_rows(tmp_path / "drafts.jsonl", *map(own_row, traces, spectra))
    imported = import_file(store, path)
    items = [store.items.get(item_id) for item_id in imported.added]
    assert [item.version.trajectory for item in items] == traces
    assert [store.spectra.get(item.row.spectrum_sha256) for item in items] == list(spectra)
    assert {item.row.batch for item in items} == {"drafts.jsonl"}
    assert imported.known == ()
    again = import_file(store, path)
    assert (again.added, len(again.known), count(store)) == ((), 2, 2)


def test_one_bad_row_keeps_every_row_out_unless_the_good_ones_are_requested(store, tmp_path):
    good = own_row(a_trace(a_spectrum()), a_spectrum())
    path = write_rows(tmp_path / "drafts.jsonl", good, "{", good | {"label": "MAYBE"})
    imported = import_file(store, path)
    assert (imported.added, count(store)) == ((), 0)
    assert [(p.line, p.field) for p in imported.problems] == [(2, "row"), (3, "label")]
    assert str(imported.problems[1]) == "row 3: label: found 'MAYBE', expected YES, NO or null"
    imported = import_file(store, path, skip_bad=True)
    assert (len(imported.added), [p.line for p in imported.problems]) == (1, [2, 3])


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"task": "quasar"}, "task", "found 'quasar', expected one of"),
        ({"steps": []}, "steps", "found none"),
        ({"spectrum_data": 7}, "spectrum_data", "found int, expected a spectrum"),
        ({"spectrum_data": {"schema": "x"}}, "spectrum", "schema 'x'"),
        ({"spectrum_data": a_spectrum("other.fits").to_json()}, "spectrum", "expected"),
        ({"spectrum_data": None}, "spectrum", "found neither the spectrum nor every picture"),
        ({"medium": "air"}, "medium", "found air, expected the spectrum's, vacuum"),
        ({"redshift": 0.5}, "steps[2].z", "found 0.01, expected the redshift, 0.5"),
        ({"pictures": {"ab": "../../x.png"}}, "images", "expected a path inside the file's folder"),
        ({"pictures": {"ab": "none.png"}}, "images", "found no file 'none.png'"),
    ],
)
def test_a_bad_field_of_ours_is_named(store, tmp_path, changes, field, reason):
    row = own_row(a_trace(a_spectrum()), a_spectrum()) | changes
    (problem,) = import_file(store, write_rows(tmp_path / "drafts.jsonl", row)).problems
    assert (problem.line, problem.field) == (1, field)
    assert reason in problem.reason


def test_a_row_that_is_no_object_is_named(store, tmp_path):
    problems = import_file(store, write_rows(tmp_path / "drafts.jsonl", "{}", "7", "[]", '"text"', "null")).problems[1:]
    assert [problem.line for problem in problems] == [2, 3, 4, 5]
    assert all("expected an object" in problem.reason for problem in problems)


def test_an_alias_of_a_task_becomes_its_key(store, tmp_path):
    row = own_row(replace(a_trace(a_spectrum()), task="carbon"), a_spectrum())
    (item_id,) = import_file(store, write_rows(tmp_path / "drafts.jsonl", row)).added
    assert store.items.get(item_id).version.trajectory.task == "cc"


def test_published_rows_are_imported_with_their_pictures(store, tmp_path):
    path = write_sharegpt(tmp_path / "published", published_row(), published_row(calls=9))
    item, longer = (store.items.get(item_id) for item_id in import_file(store, path.parent).added)
    trajectory = item.version.trajectory
    assert (trajectory.task, trajectory.label, len(trajectory.steps)) == ("cv", "YES", 4)
    for sha256 in (trajectory.overview, trajectory.zooms[0].picture):
        assert store.spectra.picture(sha256).startswith(b"\x89PNG")
    assert item.row.spectrum_sha256 is None
    assert len(longer.version.trajectory.zooms) == 9


def test_a_published_row_finds_its_spectrum_by_name(store, tmp_path):
    name = "spec-55886-GAC_sp02-178.csv"
    path = write_sharegpt(tmp_path / "published", published_row(source_name=name))
    survey = tmp_path / "survey" / "deep"
    survey.mkdir(parents=True)
    (problem,) = import_file(store, path, spectra=tmp_path / "survey").problems
    assert (problem.field, f"found no file '{name}'" in problem.reason) == ("spectrum", True)
    Table({"wavelength": np.linspace(4000.0, 9000.0, 50), "flux": np.linspace(1.0, 2.0, 50)}).write(survey / name)
    (item_id,) = import_file(store, path, spectra=tmp_path / "survey").added
    item = store.items.get(item_id)
    assert item.row.spectrum_sha256 == item.version.trajectory.spectrum_sha256 == read(survey / name).sha256


def test_our_rows_find_their_spectrum_by_hash_whatever_its_name(store, tmp_path):
    survey = tmp_path / "survey"
    survey.mkdir()
    (survey / "notes.txt").write_text("not a spectrum")
    table = Table({"wavelength": np.linspace(6000.0, 7000.0, 50), "flux": np.linspace(1.0, 2.0, 50)})
    table.write(survey / "x.csv")
    spectrum = read(survey / "x.csv")
    trace = replace(a_trace(spectrum), spectrum_name="renamed")
    path = write_rows(tmp_path / "drafts.jsonl", own_row(trace, None))
    (item_id,) = import_file(store, path, spectra=survey).added
    assert store.spectra.get(store.items.get(item_id).row.spectrum_sha256) == spectrum


def test_a_stored_spectrum_is_found_without_a_file(store, tmp_path):
    store.spectra.add(a_spectrum())
    path = write_rows(tmp_path / "drafts.jsonl", own_row(a_trace(a_spectrum()), None))
    (item_id,) = import_file(store, path).added
    assert store.items.get(item_id).row.spectrum_sha256 == a_spectrum().sha256


def test_a_missing_or_broken_picture_is_named(store, tmp_path):
    path = write_sharegpt(tmp_path / "published", published_row(), published_row(calls=2))
    (tmp_path / "published" / "images" / "lf_cv_0_2.png").write_bytes(b"no picture")
    (problem,) = import_file(store, path).problems
    assert (problem.line, problem.field) == (2, "images")
    assert "images/lf_cv_0_2.png: found no picture" in problem.reason


def test_pictures_of_our_rows_must_match_their_hash(store, tmp_path):
    picture = Image.new("RGBA", (30, 20), "blue")
    picture.save(tmp_path / "blue.png")
    trace = a_trace(a_spectrum())
    right = pixels_sha256(picture)
    steps = tuple(replace(s, picture=right) if isinstance(s, Zoom) and s.ok else s for s in trace.steps)
    trace = replace(trace, overview=right, steps=steps, spectrum_sha256=None)
    wrong = own_row(trace, None, {"ab" * 32: "blue.png"})
    (problem,) = import_file(store, write_rows(tmp_path / "wrong.jsonl", wrong)).problems
    assert problem.field == "pictures"
    assert "found other pixels" in problem.reason
    path = write_rows(tmp_path / "right.jsonl", own_row(trace, None, {right: "blue.png"}))
    (item_id,) = import_file(store, path).added
    assert store.items.get(item_id).version.trajectory == trace


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none", None, "found no such file"),
        ("empty.jsonl", b"", "found no rows"),
        ("list.json", b"[1, 2", "found no JSON"),
        ("binary.jsonl", b"\xff\xfe\x00", "no UTF-8"),
    ],
)
def test_a_file_without_rows_is_refused(store, tmp_path, name, content, words):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ImportFileError, match=words):
        import_file(store, tmp_path / name)


def test_a_picture_is_stored_without_metadata(store, tmp_path):
    path = write_sharegpt(tmp_path / "published", published_row())
    image = path.parent / "images" / "lf_cv_0_0.png"
    metadata = PngInfo()
    metadata.add_text("Author", "somebody@a-laptop")
    Image.open(image).save(image, pnginfo=metadata, dpi=(100, 100))
    import_file(store, path)
    stored = Image.open(io.BytesIO(store.spectra.picture(pixels_sha256(Image.open(image)))))
    stored.load()
    assert stored.info == {}


@pytest.mark.parametrize(
    ("mode", "suffix", "saved"),
    [
        ("RGB", "png", {}),
        ("RGBA", "png", {}),
        ("P", "png", {}),
        ("P", "png", {"transparency": 0}),
        ("RGB", "png", {"transparency": (0, 0, 0)}),
        ("L", "png", {}),
        ("I;16", "png", {}),
        ("RGB", "jpeg", {}),
        ("RGBA", "webp", {"lossless": True}),
    ],
)
def test_a_stored_picture_has_the_pixels_of_its_file(tmp_path, mode, suffix, saved):
    pixels = np.random.default_rng(1).integers(0, 256, (12, 9, 4), np.uint8)
    pixels[:3] = 0
    picture = Image.fromarray(pixels).convert("L" if mode == "I;16" else "RGB" if mode == "P" else mode)
    picture.convert(mode).save(tmp_path / f"x.{suffix}", **saved)
    files = PictureFiles(tmp_path)
    stored = Image.open(io.BytesIO(files.png(f"x.{suffix}")), formats=("PNG",))
    assert pixels_sha256(stored) == files.sha256(f"x.{suffix}")


def test_a_picture_that_changes_during_the_import_keeps_every_row_out(store, tmp_path):
    path = write_sharegpt(tmp_path / "published", published_row())
    image = path.parent / "images" / "lf_cv_0_1.png"

    def changed(done: int) -> None:
        Image.new("RGB", (40, 30), "white").save(image)

    with pytest.raises(ImportFileError, match=r"Nothing was imported: .*found other bytes than before"):
        import_file(store, path, progress=changed)
    assert count(store) == 0


def test_memory_does_not_grow_with_the_file(tmp_path):
    paths = []
    for rows in (3, 10, 50):  # the first calls import modules
        prompts = [f"{n} {'Look at Hα. ' * 1000}" for n in range(rows)]
        (own := tmp_path / "own" / str(rows)).mkdir(parents=True)
        spectrum = a_spectrum()
        lines = (own_row(a_trace(spectrum, prompt=prompt), spectrum) for prompt in prompts)
        paths.append(write_rows(own / "rows.jsonl", *lines))
        row = published_row()
        system, _, *rest = row["conversations"]
        first = '<image>\nIs it a "Cataclysmic Variables (CV)"? '
        talks = ([system, {"from": "human", "value": first + prompt}, *rest] for prompt in prompts)
        published = ({**row, "conversations": talk} for talk in talks)
        paths.append(write_sharegpt(tmp_path / "published" / str(rows), *published))
    _, _, *few, own_many, published_many = peaks(imported_in_small_parts, *paths)
    # The text alone is 13,000 characters, of two bytes each because of the Greek; half of it leaves room
    # for objects in cycles, which the collector frees when it comes to them.
    assert own_many < few[0] + 40 * 13_000
    assert published_many < few[1] + 40 * 13_000


def imported_in_small_parts(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, Store.open(path.parent / "annotations.db") as store:
        patch.setattr(imports, "PART", 10)
        patch.setattr(json_rows, "CHUNK", 50_000)
        imported = import_file(store, path)
        assert not imported.problems
        assert len(imported.added) == int(path.parent.name)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def read_list(text: str, chunk: int) -> list[Any]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_rows, "CHUNK", chunk)
        return list(elements(io.StringIO(text)))


@given(st.lists(ANYTHING, max_size=5), st.integers(1, 40), st.sampled_from([None, 0, 3]), st.booleans())
def test_elements_are_read_as_json_reads_them(
    values: list[Any], chunk: int, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=ascii_only)
    assert read_list(text, chunk) == values


@given(st.text('[]{},:"\\ \nu0123eE.+-truefalsnINity', max_size=30), st.integers(1, 8))
def test_text_is_refused_exactly_if_json_refuses_it(text: str, chunk: int) -> None:
    text = f"[{text}"
    try:
        expected = json.dumps(json.loads(text))
    except ValueError:
        with pytest.raises(ValueError, match=r": char \d+$"):
            read_list(text, chunk)
    else:
        # As text, because NaN is not equal to itself.
        assert json.dumps(read_list(text, chunk)) == expected


@pytest.mark.parametrize("number", ["-Infinity", "1.25e-17", "1" * 100, "NaN", "true", "null"])
def test_numbers_and_literals_are_read_to_their_end(number: str) -> None:
    text = f"[{number} , {number}]"
    assert {json.dumps(read_list(text, chunk)) for chunk in range(1, 12)} == {json.dumps(json.loads(text))}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[1, 2", r"Expecting ',' delimiter: char 5"),
        ("[1] 2", r"Extra data: char 4"),
        ("", r"Expecting a list: char 0"),
        ("\ufeff[1]", r"Expecting a list: char 0"),
        ('[{"a": 1}, {"a" 1}]', r"Expecting ':' delimiter: char 16"),
    ],
)
def test_the_position_of_a_fault_is_that_in_the_file(text: str, words: str) -> None:
    for chunk in (1, 7, 100):
        with pytest.raises(ValueError, match=words):
            read_list(text, chunk)


def test_a_long_list_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    path, row = tmp_path / "long.json", json.dumps({"text": "x" * 1000})
    path.write_text("[" + ",\n".join([row] * 4_000) + "]", encoding="utf-8")
    (peak,) = peaks(four_thousand, path)
    assert peak < 10 * SMALL_CHUNK < path.stat().st_size / 2


SMALL_CHUNK = 100_000


def four_thousand(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, path.open(encoding="utf-8") as file:
        patch.setattr(json_rows, "CHUNK", SMALL_CHUNK)
        assert sum(1 for _ in elements(file)) == 4_000


@pytest.mark.parametrize("name", NOT_NAMES)
@pytest.mark.parametrize("form", ["trajectories.jsonl", "train_sharegpt.json"])
def test_a_row_with_an_impossible_picture_name_is_refused(store, tmp_path, form: str, name: str) -> None:
    with_pictures(tmp_path)
    (tmp_path / form).write_bytes(with_picture_names(form, NOT_NAMES[name]))
    (problem,) = import_file(store, tmp_path / form, tmp_path).problems
    check_sentence(str(problem), tmp_path)
    assert "expected " in problem.reason
    assert count(store) == 0


@pytest.mark.parametrize("kind", DAMAGED_ZIPS)
def test_a_zip_that_is_damaged_or_names_outside_files_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, message = DAMAGED_ZIPS[kind]
    (tmp_path / "made").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "made"))
    (tmp_path / "dropped.zip").write_bytes(content)
    with pytest.raises(ImportFileError, match=message) as refused, unpacked([tmp_path / "dropped.zip"]):
        pass
    check_sentence(str(refused.value), tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["dropped.zip", "made"]


def test_a_device_in_a_zip_is_unpacked_as_a_plain_file(tmp_path: Path) -> None:
    (tmp_path / "dropped.zip").write_bytes(zip_of({"rows.jsonl": b"{}"}, mode=stat.S_IFCHR | 0o666))
    with unpacked([tmp_path / "dropped.zip"]) as (rows,):
        assert stat.S_ISREG(rows.lstat().st_mode)
        assert rows.read_bytes() == b"{}"


def an_export(store: Store, tmp_path: Path) -> Path:
    """Two approved items whose texts people rewrote, exported."""
    traces = [(a_trace(s), s) for s in (a_spectrum(f"{name}.fits") for name in "ab")]
    add_approved(store, *traces)
    return export(store, "mine", folder=tmp_path / "out").folder


@pytest.mark.parametrize("name", ["trajectories.jsonl", "train_sharegpt.json"])
def test_an_export_imported_into_the_same_database_adds_nothing(store: Store, tmp_path: Path, name: str) -> None:
    folder = an_export(store, tmp_path)
    approved = tuple(store.queue.approved())
    imported = import_file(store, folder / name)
    assert (imported.added, imported.known, imported.other_texts) == ((), approved, ())
    assert by_state(store, [(approved[0], approved[-1])], 5) == {"approved": (2, list(approved))}
    assert count(store) == 2


def test_another_text_on_the_same_spectrum_and_task_waits_for_a_choice(store: Store, tmp_path: Path) -> None:
    spectrum = a_spectrum("a.fits")
    store.items.add(a_trace(spectrum), store.spectra.add(spectrum))
    row = own_row(a_trace(spectrum, "NO"), spectrum)
    other = own_row(a_trace(a_spectrum("b.fits")), a_spectrum("b.fits"))
    path = write_rows(tmp_path / "new.jsonl", row, other)
    waiting = import_file(store, path, same_spectrum="ask")
    assert (waiting.added, waiting.other_texts) == ((), (OtherText(1, "a.fits", (1,)),))
    assert count(store) == 1
    without = import_file(store, path, same_spectrum="leave out")
    assert [store.items.get(item).row.name for item in without.added] == ["b.fits"]
    assert len(import_file(store, path, same_spectrum="import").added) == 1
    assert count(store) == 3


def test_texts_of_one_file_on_one_spectrum_are_no_reason_to_wait(store: Store, tmp_path: Path) -> None:
    spectrum = a_spectrum("a.fits")
    rows = [own_row(a_trace(spectrum, verdict), spectrum) for verdict in ("YES", "NO")]
    imported = import_file(store, write_rows(tmp_path / "samples.jsonl", *rows), same_spectrum="ask")
    assert (len(imported.added), imported.other_texts) == (2, ())
