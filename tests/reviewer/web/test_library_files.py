"""Files that come in by the Library tab: survey files drafted one by one, uploads laid out for an import."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from astropy.table import Table

from agent.simulate import simulate
from agent.tasks import load
from reviewer.exchange.imports import ImportFileError
from reviewer.store import Store
from reviewer.ui import imports
from reviewer.ui.drafts import Outcome, draft_file


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(tmp_path / "annotations.db")
    yield store
    store.close()


def desi_coadd(path: Path, dead: tuple[int, ...] = ()) -> Path:
    """Three simulated DESI targets in one file; the targets in ``dead`` have no data."""
    spectra = [simulate(kind, "DESI", 25.0, seed) for seed, kind in enumerate(("cv", "wd", "a"))]
    hdus = [fits.PrimaryHDU(), fits.BinTableHDU(Table({"TARGETID": [101, 102, 103]}), name="FIBERMAP")]
    for arm, low, high in (("B", 3600, 5800), ("R", 5760, 7620), ("Z", 7520, 9824)):
        grid = np.arange(low, high, 0.8)
        flux = [np.interp(grid, s.wavelength, s.flux) for s in spectra]
        ivar = [
            np.zeros_like(grid) if n in dead else np.interp(grid, s.wavelength, s.ivar) for n, s in enumerate(spectra)
        ]
        hdus.append(fits.ImageHDU(grid, name=f"{arm}_WAVELENGTH"))
        hdus.append(fits.ImageHDU(np.array(flux, np.float32), name=f"{arm}_FLUX"))
        hdus.append(fits.ImageHDU(np.array(ivar, np.float32), name=f"{arm}_IVAR"))
    fits.HDUList(hdus).writeto(path)
    return path


def last(outcomes: Iterator[Outcome]) -> Outcome:
    return list(outcomes)[-1]


def test_every_target_of_a_file_becomes_an_item_and_is_told_as_it_is_made(store: Store, tmp_path: Path) -> None:
    path = desi_coadd(tmp_path / "coadd.fits")
    outcomes = list(draft_file(store, path, load()["cv"], "night 1"))
    assert [len(o.added) for o in outcomes] == [1, 2, 3, 3]
    assert [o.done for o in outcomes] == [False, False, False, True]
    assert {store.item(i).row.batch for i in outcomes[-1].added} == {"night 1"}
    assert outcomes[-1].problems == ()


def test_the_same_file_again_adds_nothing_and_says_which_items_it_is(store: Store, tmp_path: Path) -> None:
    path = desi_coadd(tmp_path / "coadd.fits", dead=(1, 2))
    first = last(draft_file(store, path, load()["cv"], ""))
    again = last(draft_file(store, path, load()["cv"], ""))
    assert first.added == again.known
    assert again.added == ()


def test_what_was_drafted_before_a_stop_stays(store: Store, tmp_path: Path) -> None:
    drafting = draft_file(store, desi_coadd(tmp_path / "coadd.fits"), load()["cv"], "")
    made = next(drafting).added
    drafting.close()
    assert len(made) == 1
    assert store.item(made[0]).standing.state == "screening"


def test_a_file_that_is_no_spectrum_is_an_outcome_in_the_readers_own_words(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary")
    outcome = last(draft_file(store, path, load()["cv"], ""))
    assert outcome.done
    assert len(outcome.problems) == 1
    assert "notes.txt" in outcome.problems[0]
    assert outcome.added == ()


def test_real_lamost_files_are_drafted(store: Store, shared: Path, tmp_path: Path) -> None:
    source = next((shared / "spectra" / "lamost").rglob("spec-*_sp*.fits*"))
    path = tmp_path / source.name
    shutil.copyfile(source, path)
    outcome = last(draft_file(store, path, load()["a"], ""))
    assert outcome.problems == ()
    assert store.item(outcome.added[0]).row.survey == "LAMOST"


def packed(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), text)
    return path


def test_a_zip_is_unpacked_where_its_rows_find_their_pictures(tmp_path: Path) -> None:
    path = packed(tmp_path / "set.zip", set__train_sharegpt_dot_json="[]", set__images__a_dot_png="x")
    with imports.laid_out([path]) as found:
        (rows,) = found
        assert rows.name == "train_sharegpt.json"
        assert (rows.parent / "images" / "a.png").read_text() == "x"
    assert not rows.exists()


def test_of_an_export_the_rows_with_spectra_are_taken_not_those_for_training(tmp_path: Path) -> None:
    path = packed(
        tmp_path / "export.zip",
        train_dot_jsonl="{}",
        train_sharegpt_dot_json="[]",
        trajectories_dot_jsonl="{}",
        manifest_dot_json="{}",
    )
    with imports.laid_out([path]) as found:
        assert [rows.name for rows in found] == ["trajectories.jsonl"]


def test_loose_pictures_lie_in_images_and_survey_files_beside_the_rows(tmp_path: Path) -> None:
    for name in ("rows.jsonl", "a.PNG", "spec.fits"):
        (tmp_path / name).write_text(name)
    with imports.laid_out(sorted(tmp_path.iterdir())) as found:
        (rows,) = found
        assert (rows.parent / "images" / "a.PNG").is_file()
        assert (rows.parent / "spec.fits").is_file()


@pytest.mark.parametrize("name", ["../outside.json", "/outside.json", "a/../../outside.json"])
def test_a_zip_that_reaches_outside_itself_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "{}")
    with pytest.raises(ImportFileError, match="wanted paths inside the zip"), imports.laid_out([path]):
        pass


def test_a_zip_that_promises_too_much_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "big.zip", rows_dot_json="[" + " " * 10_000 + "]")
    monkeypatch.setattr(imports, "LARGEST_UNPACKED", 5_000)
    with pytest.raises(ImportFileError, match=r"big\.zip: found 1 files"), imports.laid_out([path]):
        pass


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04 but then nothing"])
def test_a_broken_zip_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.zip"
    path.write_bytes(content)
    with pytest.raises(ImportFileError, match=r"broken\.zip: found a broken zip"), imports.laid_out([path]):
        pass


def test_a_zip_whose_bytes_were_damaged_is_named(tmp_path: Path) -> None:
    path = packed(tmp_path / "bad.zip", rows_dot_json="[1, 2, 3]")
    content = path.read_bytes()
    path.write_bytes(content.replace(b"[1, 2, 3]", b"[1, 2, 4]", 1))
    with pytest.raises(ImportFileError, match=r"bad\.zip: found a broken zip"), imports.laid_out([path]):
        pass


def test_files_without_any_rows_say_what_was_wanted(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("x")
    with pytest.raises(ImportFileError, match=r"wanted \.jsonl"), imports.laid_out([tmp_path / "a.png"]):
        pass


def test_a_zip_with_two_unknown_files_of_rows_is_not_guessed_at(tmp_path: Path) -> None:
    path = packed(tmp_path / "two.zip", a_dot_json="[]", b_dot_json="[]")
    with pytest.raises(ImportFileError, match="found 2 files of rows"), imports.laid_out([path]):
        pass
