"""Spectra in files beside the database."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import app
from agent.spectrum import Exposure, Spectrum
from reviewer.backup import backups
from reviewer.backup.archive import write_archive
from reviewer.backup.backups import back_up, read_metadata, spectra_of_backups
from reviewer.backup.restore import restore
from reviewer.store import CannotWrite, Draft, Store, spectrum_files
from reviewer.store.spectra import FILES_FROM
from reviewer.store.spectrum_files import SpectrumFileError, SpectrumFiles, copy_new
from tests.support.campaign import a_spectrum, a_trajectory
from tests.support.kept_campaign import differences

ROOT = Path(__file__).resolve().parents[3]


def with_curves(name: str) -> Spectrum:
    plain = a_spectrum(name)
    exposure = Exposure("b1", plain.wavelength, plain.flux * 2, plain.ivar)
    return replace(plain, model=np.cos(np.arange(plain.flux.size)), exposures=(exposure,), mask=plain.flux > 1)


def same(spectrum: Spectrum, other: Spectrum) -> bool:
    curves = spectrum.model is None or (other.model is not None and spectrum.model.tobytes() == other.model.tobytes())
    return (
        spectrum == other and curves and len(spectrum.exposures) == len(other.exposures) and spectrum.meta == other.meta
    )


def arrays_in_database(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        (number,) = db.execute("SELECT count(*) FROM spectra WHERE length(flux) > 0").fetchone()
    return int(number)


def test_new_spectra_are_in_files_from_the_set_number_on(store: Store) -> None:
    store.settings.set(None, FILES_FROM, 2)
    spectra = [with_curves(f"{n}.fits") for n in range(4)]
    store.items.add_all(Draft(a_trajectory(s, f"{n}"), s) for n, s in enumerate(spectra[:2]))
    store.items.add_all(Draft(a_trajectory(s, f"{n}"), s) for n, s in enumerate(spectra[2:]))
    assert arrays_in_database(store.path) == 2
    assert sorted(store.spectra.in_files()) == sorted(s.sha256 for s in spectra[2:])
    assert list(store.spectra.files.names()) == sorted(s.sha256 for s in spectra[2:])
    assert all(same(s, store.spectra.get(s.sha256)) for s in spectra)
    path = store.spectra.files.path(spectra[2].sha256)
    assert (
        path == store.path.with_name("annotations.db.spectra") / spectra[2].sha256[:2] / f"{spectra[2].sha256[2:]}.bin"
    )
    assert path.stat().st_mode & 0o777 == 0o600
    assert store.upkeep.verify() == []


def test_spectra_are_moved_to_files_and_the_database_shrinks(store: Store) -> None:
    spectra = [with_curves(f"{n}.fits") for n in range(205)]
    for spectrum in spectra:
        store.spectra.add(spectrum)
    before = store.path.stat().st_size
    told: list[int] = []
    assert store.spectra.move_to_files(told.append) == 205
    assert told == [100, 200, 205]
    assert store.spectra.move_to_files() == 0
    store.upkeep.shrink()
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert store.path.stat().st_size < before / 2
    assert all(same(s, store.spectra.get(s.sha256)) for s in spectra)


MOVE = """
import sys, time
from reviewer.store import Store

def wait(moved):
    print(moved, flush=True)
    time.sleep(600)

with Store.open(sys.argv[1]) as store:
    store.spectra.move_to_files(wait)
"""


def test_a_killed_move_loses_nothing_and_resumes(store: Store) -> None:
    spectra = [a_spectrum(f"{n}.fits") for n in range(500)]
    for some in (spectra[:250], spectra[250:]):
        store.items.add_all(Draft(a_trajectory(s, s.name), s) for s in some)
    seen = []
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", MOVE, str(store.path)], stdout=subprocess.PIPE, cwd=ROOT)
        assert process.stdout.readline() == b"100\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        seen.append(arrays_in_database(store.path))
        assert all(same(s, store.spectra.get(s.sha256)) for s in spectra[::20])
    assert seen == [400, 300]
    store.spectra.move_to_files()
    assert arrays_in_database(store.path) == 0
    assert all(same(s, store.spectra.get(s.sha256)) for s in spectra)


def in_files(store: Store, *names: str) -> list[Spectrum]:
    store.settings.set(None, FILES_FROM, 0)
    spectra = [with_curves(name) for name in names]
    for spectrum in spectra:
        store.spectra.add(spectrum)
    return spectra


def test_a_missing_file_is_named_and_written_again_by_an_import(store: Store) -> None:
    (spectrum,) = in_files(store, "a.fits")
    path = store.spectra.files.path(spectrum.sha256)
    path.unlink()
    with pytest.raises(SpectrumFileError, match=r"\.bin: found no file with this spectrum\. Copy it from .* import"):
        store.spectra.get(spectrum.sha256)
    store.spectra.add(spectrum)
    assert same(spectrum, store.spectra.get(spectrum.sha256))


@pytest.mark.parametrize("damage", ["one bit", "cut", "empty", "another spectrum's", "the length"])
def test_a_damaged_file_is_named(store: Store, damage: str) -> None:
    spectrum, other = in_files(store, "a.fits", "b.fits")
    path = store.spectra.files.path(spectrum.sha256)
    data = bytearray(path.read_bytes())
    if damage == "one bit":
        data[-5] ^= 1
    elif damage == "the length":
        data[40] ^= 1
    elif damage == "another spectrum's":
        data = bytearray(store.spectra.files.path(other.sha256).read_bytes())
    else:
        del data[0 if damage == "empty" else len(data) // 2 :]
    path.write_bytes(data)
    with pytest.raises(SpectrumFileError, match=r"it is damaged\. Move it away"):
        store.spectra.get(spectrum.sha256)
    assert same(other, store.spectra.get(other.sha256))


def test_a_backup_copies_new_files_and_a_restore_brings_them_back(store: Store, tmp_path: Path) -> None:
    first, second = in_files(store, "a.fits", "b.fits")
    store.spectra.files.path(second.sha256).unlink()
    made = back_up(store.path, tmp_path / "backups", "by hand")
    assert (made.spectra, made.spectra_missing) == (2, 1)
    assert read_metadata(made.path) == made
    store.spectra.add(second)
    complete = back_up(store.path, tmp_path / "backups", "by hand")
    assert (complete.spectra, complete.spectra_missing) == (2, 0)
    copies = SpectrumFiles(spectra_of_backups(tmp_path / "backups"))
    assert set(copies.names()) == {first.sha256, second.sha256}
    third = in_files(store, "c.fits")[0]
    latest = back_up(store.path, tmp_path / "backups", "by hand")
    copies.path(third.sha256).unlink()
    database = store.path
    store.close()
    shutil.rmtree(database.with_name("annotations.db.spectra"))
    done = restore(latest.path, database)
    assert done.spectra_missing == (third.sha256,)
    with Store.open(database) as again:
        assert same(first, again.spectra.get(first.sha256))
        assert same(second, again.spectra.get(second.sha256))
        with pytest.raises(SpectrumFileError):
            again.spectra.get(third.sha256)


def test_a_backup_that_is_stopped_among_the_spectra_leaves_no_copy_without_them(store: Store, tmp_path: Path) -> None:
    in_files(store, "a.fits", "b.fits", "c.fits")
    folder = tmp_path / "backups"

    class Stopped(Exception):
        pass

    def stop(done: int, of: int) -> None:
        if (done, of) == (2, 3):
            raise Stopped

    with pytest.raises(Stopped):
        back_up(store.path, folder, "by hand", stop)
    assert [path.name for path in folder.iterdir()] == ["spectra"]
    assert len(list(SpectrumFiles(folder / "spectra").names())) == 2
    seen: list[tuple[int, int]] = []
    made = back_up(store.path, folder, "by hand", lambda done, of: seen.append((done, of)))
    assert seen[:3] == [(0, 3), (1, 3), (2, 3)]
    assert (made.spectra, made.spectra_missing) == (3, 0)


def test_a_failure_after_the_copy_of_the_database_leaves_no_copy(store, tmp_path, monkeypatch) -> None:
    in_files(store, "a.fits")
    real = backups.copy_new

    def full(*arguments: object) -> object:
        if len(arguments) == 3:
            raise CannotWrite("The disk is full.")
        return real(*arguments)

    monkeypatch.setattr(backups, "copy_new", full)
    with pytest.raises(CannotWrite, match="full"):
        back_up(store.path, tmp_path / "backups", "by hand")
    assert [path.name for path in (tmp_path / "backups").iterdir()] == ["spectra"]


def test_a_damaged_file_is_not_copied_to_another_disk(store, tmp_path, monkeypatch) -> None:
    first, second = in_files(store, "a.fits", "b.fits")
    path = store.spectra.files.path(first.sha256)
    path.write_bytes(path.read_bytes()[:-1])

    def other_disk(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(spectrum_files.os, "link", other_disk)
    _, missing = copy_new(store.spectra.files.folder, tmp_path / "copies", [first.sha256, second.sha256])
    assert missing == [first.sha256]
    assert list(SpectrumFiles(tmp_path / "copies").names()) == [second.sha256]


def test_two_threads_write_the_same_spectrum(tmp_path: Path) -> None:
    files, parts = SpectrumFiles(tmp_path / "files"), (b"x" * 100_000, b"y", b"z", b"{}")
    with ThreadPoolExecutor(8) as threads:
        for number in range(50):
            sha256 = hashlib.sha256(bytes([number])).hexdigest()
            list(threads.map(lambda _, name=sha256: files.write(name, parts), range(8)))
            assert files.read(sha256) == parts
    assert not list(files.folder.glob("*/*.part"))


def test_a_plain_archive_has_the_arrays_of_the_files(store: Store, tmp_path: Path) -> None:
    spectra = in_files(store, "a.fits", "b.fits")
    plain = tmp_path / "plain.db"
    with Store.open(plain) as other:
        for spectrum in spectra:
            other.spectra.add(spectrum)
    write_archive(store, tmp_path / "archive")
    database = store.path
    store.close()
    restore(tmp_path / "archive", tmp_path / "restored.db")
    assert arrays_in_database(tmp_path / "restored.db") == 2
    with Store.open(tmp_path / "restored.db") as again:
        assert all(same(s, again.spectra.get(s.sha256)) for s in spectra)
        assert again.spectra.in_files() == []
    assert "spectra" in differences(database, tmp_path / "restored.db")
    with closing(sqlite3.connect(plain)) as one, closing(sqlite3.connect(tmp_path / "restored.db")) as two:
        rows = "SELECT sha256, flux, ivar, mask, details FROM spectra ORDER BY 1"
        assert one.execute(rows).fetchall() == two.execute(rows).fetchall()


def test_the_command_moves_checks_and_names_what_is_wrong(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    spectra = [a_spectrum(f"{n}.fits") for n in range(3)]
    for spectrum in spectra:
        store.spectra.add(spectrum)

    def run(*options: str) -> tuple[int, str]:
        status = app.main(["spectra", "--db", str(store.path), *options])
        return status, capsys.readouterr().out

    status, out = run("--to-files", "--check")
    assert status == 0
    assert "3 spectra moved to files" in out
    assert "all files are there and match their hashes" in out
    path = store.spectra.files.path(spectra[1].sha256)
    path.write_bytes(path.read_bytes()[:-1])
    assert run()[0] == 0
    status, out = run("--check")
    assert (status, f"{path}: found" in out) == (1, True)
    path.unlink()
    status, out = run()
    assert (status, f"{path}: found no file" in out) == (1, True)
