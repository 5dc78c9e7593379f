"""The plain archive: written and restored row for row; a changed archive is refused."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from reviewer.backup import archive as reading
from reviewer.backup.archive import read_archive, write_archive
from reviewer.backup.archive_values import numbers_in, numbers_out
from reviewer.backup.backups import BackupError, BadArchive
from reviewer.backup.restore import restore
from reviewer.store import Draft, NewerSchema, OlderSchema, QueueFilter, Store
from reviewer.store.sqlite.tables import LEFT_OUT
from tests.support.campaign import Desk, a_spectrum, a_trajectory
from tests.support.kept_campaign import NOT_COMPARED, contents, differences, fill, plant_migration, score_blind
from tests.support.memory import peaks

Plain = dict[str, Any]


@pytest.fixture(scope="module")
def database(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copyfile(made, tmp_path_factory.mktemp("archive") / "annotations.db"))


@pytest.fixture(scope="module")
def whole(database: Path) -> Path:
    folder = database.with_name("plain")
    with Store.open(database) as store:
        write_archive(store, folder)
    return folder


@pytest.fixture
def plain(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "plain"))


def test_a_restored_archive_is_equal_row_for_row(database: Path, plain: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    head = read_archive(plain, new)
    assert differences(database, new) == []
    with Store.open(new) as store, Store.open(database) as old:
        assert head == store.log.head() == old.log.head()
        assert store.upkeep.verify() == []
        for text in ("spec-0000", "14812345", "strange"):
            shown = store.queue.page(QueueFilter(text=text), "CO")
            assert shown.total == old.queue.page(QueueFilter(text=text), "CO").total > 0
        for words in ("broad", "real", '"look again"', '"well seen"'):
            shown = store.queue.page(QueueFilter(words=words), "RE")
            assert shown.total == old.queue.page(QueueFilter(words=words), "RE").total > 0
        assert store.accounts.sign_in("CO", "Hα in emission", "127.0.0.1")


def test_only_the_known_tables_are_left_out(database: Path, whole: Path) -> None:
    """The comparison above ignores tables that it does not know."""
    assert set(NOT_COMPARED) == set(LEFT_OUT)
    assert {path.stem for path in whole.glob("*.jsonl")} == contents(database).keys()


def test_archiving_what_was_restored_gives_the_same_files(plain: Path, tmp_path: Path) -> None:
    read_archive(plain, tmp_path / "new.db")
    with Store.open(tmp_path / "new.db") as store:
        write_archive(store, tmp_path / "again")
    files = [path.relative_to(plain) for path in plain.rglob("*") if path.suffix != ".json" and path.is_file()]
    assert len(files) == len([path for path in (tmp_path / "again").rglob("*") if path.is_file()]) - 1
    for name in files:
        assert (tmp_path / "again" / name).read_bytes() == (plain / name).read_bytes(), name
    assert (tmp_path / "again").stat().st_mode & 0o777 == 0o700


@given(arrays.arrays(np.dtype("<f4"), st.integers(0, 20), elements=st.floats(width=32, allow_nan=True)))
def test_float32_reads_back_to_the_same_bits(array: np.ndarray) -> None:
    written = json.loads(json.dumps(numbers_out(array), allow_nan=False))
    assert numbers_in("<f4", written).tobytes() == array.tobytes()
    digits = [Decimal(n).normalize().as_tuple().digits for n in map(repr, written) if "x" not in n]
    assert all(len(number) <= 9 for number in digits), "a float32 has no more than nine digits"


@given(arrays.arrays(np.dtype("<u8"), st.integers(0, 20)), st.sampled_from(["<f4", "<f8"]))
def test_arbitrary_bits_read_back(bits: np.ndarray, width: str) -> None:
    array = bits.view(width)
    written = json.loads(json.dumps(numbers_out(array), allow_nan=False))
    assert numbers_in(width, written).tobytes() == array.tobytes()


def edit(path: Path, change: Callable[[list[Plain]], object]) -> None:
    """Change the rows of a file and adapt the manifest to them."""
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    change(rows)
    content = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    path.write_bytes(content)
    adapt_manifest(path, content, rows=len(rows))


def adapt_manifest(path: Path, content: bytes, **other: int) -> None:
    manifest = json.loads((path.parent / "manifest.json").read_text())
    about = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest["tables"][path.stem] |= about | other
    (path.parent / "manifest.json").write_text(json.dumps(manifest))


def set_manifest(folder: Path, **changes: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | changes))


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


PICTURE = "ab" * 32
BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a changed file": (lambda f: flip(f / "decisions.jsonl"), "decisions.jsonl"),
    "a changed picture": (lambda f: flip(f / "pictures" / f"{PICTURE}.png"), "SHA-256 differs from the one in its row"),
    "a missing table": (lambda f: (f / "marks.jsonl").unlink(), "found no marks.jsonl"),
    "a missing picture": (lambda f: (f / "pictures" / f"{PICTURE}.png").unlink(), "No such file"),
    "an extra file": (lambda f: (f / "readme.txt").touch(), "found 'readme.txt', which its manifest"),
    "an extra picture": (lambda f: (f / "pictures" / "x.png").touch(), "found 2 files, expected the 1"),
    "no manifest": (lambda f: (f / "manifest.json").unlink(), "found no manifest.json, expected"),
    "a wild manifest": (lambda f: (f / "manifest.json").write_text("[[[[" * 9999), "not as this program writes"),
    "another format": (lambda f: set_manifest(f, format="thesis"), "format: found 'thesis'"),
    "a newer schema": (lambda f: set_manifest(f, schema=99), "its schema is number 99"),
    "an older schema": (lambda f: set_manifest(f, schema=2, log_head=None), "found schema 2, expected 9 or later"),
    "another head": (lambda f: set_manifest(f, log_head=f"3:{'0' * 64}"), "found a log that ends at"),
    "a table of no schema": (lambda f: set_manifest(f, tables={}), "which its manifest does not name"),
    "a line too few": (
        lambda f: (f / "log.jsonl").write_text("\n".join((f / "log.jsonl").read_text().split("\n")[1:])),
        "log.jsonl: found",
    ),
    "an unknown column": (
        lambda f: edit(f / "people.jsonl", lambda rows: rows[1].update(wage=1)),
        r"people.jsonl: line 2: found the column 'wage', which people does not have",
    ),
    "another type": (
        lambda f: edit(f / "items.jsonl", lambda rows: rows[0].update(simulated="yes")),
        "items.jsonl: line 1: simulated: found 'yes', expected INTEGER",
    ),
    "the same row twice": (
        lambda f: edit(f / "marks.jsonl", lambda rows: rows.append(dict(rows[0], id=77))),
        "marks.jsonl: line 2: marks refuses this row: UNIQUE",
    ),
    "half a character": (
        lambda f: edit_text(f / "people.jsonl", '"Dr AU"', '"\\ud800"'),
        "people.jsonl: line 1: people refuses this row",
    ),
    "a row that is no object": (
        lambda f: edit_text(f / "marks.jsonl", "", "[1]\n", at_the_end=True),
        "marks.jsonl: line 2: found",
    ),
    "a word among the numbers": (
        lambda f: edit(f / "spectra.jsonl", lambda rows: rows[0]["flux"].__setitem__(3, "bright")),
        "spectra.jsonl: line 1: flux",
    ),
    "a number too large": (
        lambda f: edit(f / "spectra.jsonl", lambda rows: rows[0]["flux"].__setitem__(3, 1e300)),
        "spectra.jsonl: line 1: flux.*too large",
    ),
    "a picture elsewhere": (
        lambda f: edit(f / "pictures.jsonl", lambda rows: rows[0].update(sha256="../../secret")),
        "found the picture '../../secret', expected 64 hexadecimal digits",
    ),
    "a table elsewhere": (lambda f: elsewhere(f), "'../people.jsonl'|../people.jsonl"),
    "a link to a table": (lambda f: linked(f / "people.jsonl"), "expected a plain file"),
    "a link to a picture": (lambda f: linked(f / "pictures" / f"{PICTURE}.png"), "expected a plain file"),
    "a link to the pictures": (lambda f: linked(f / "pictures"), "expected a folder"),
}


def edit_text(path: Path, old: str, new: str, at_the_end: bool = False) -> None:
    text = path.read_text()
    content = (text + new if at_the_end else text.replace(old, new, 1)).encode()
    path.write_bytes(content)
    adapt_manifest(path, content)


def elsewhere(folder: Path) -> None:
    (folder / "people.jsonl").rename(folder.parent / "people.jsonl")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["tables"]["../people"] = manifest["tables"].pop("people") | {"file": "../people.jsonl"}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def linked(path: Path) -> None:
    folder = path.parent if path.parent.name == "plain" else path.parent.parent
    away = folder.parent / f"away-{path.name}"
    path.rename(away)
    path.symlink_to(away)


@pytest.mark.parametrize("how", BROKEN)
def test_a_changed_archive_is_refused(database: Path, plain: Path, tmp_path: Path, how: str) -> None:
    change, message = BROKEN[how]
    change(plain)
    target = tmp_path / "annotations.db"
    shutil.copyfile(database, target)
    with pytest.raises((BadArchive, NewerSchema, OlderSchema), match=message):
        restore(plain, target)
    assert contents(target) == contents(database)
    assert not list(tmp_path.glob("*part*"))


def test_a_changed_fact_is_found_although_all_checksums_match(plain: Path, tmp_path: Path) -> None:
    edit(plain / "decisions.jsonl", lambda rows: rows[3].update(comment="I never said this"))
    with pytest.raises(BackupError, match=r"plain: log \d+: decisions 4 .*changed"):
        restore(plain, tmp_path / "new.db")


def test_an_archive_never_replaces_a_folder_and_is_never_left_incomplete(database, whole, tmp_path, monkeypatch):
    with Store.open(database) as store:
        with pytest.raises(BackupError, match="found an existing file or folder"):
            write_archive(store, whole)
        with pytest.raises(BackupError, match="No archive was made"):
            write_archive(store, tmp_path / "nowhere" / "plain")

        def stop(done: int, of: int) -> None:
            if done > of // 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write_archive(store, tmp_path / "plain", stop)
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_is_too_long_is_not_read_into_memory(plain, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(reading, "LONGEST_LINE", 200)
    with pytest.raises(BadArchive, match="found a line of more than 200 bytes"):
        read_archive(plain, tmp_path / "new.db")


def test_memory_does_not_grow_with_the_database(tmp_path: Path) -> None:
    sizes = {"first": 1, "few": 20, "many": 200}  # the first call imports modules
    for name, items in sizes.items():
        with Store.open(tmp_path / f"{name}.db") as store:
            spectra = (a_spectrum(f"spec-{n:04d}.fits", ids={"obsid": str(n)}) for n in range(items))
            store.items.add_all(Draft(a_trajectory(s), s, batch="many") for s in spectra)
    _, out_few, out_many = peaks(archived, *(tmp_path / f"{name}.db" for name in sizes))
    _, in_few, in_many = peaks(read_again, *(tmp_path / f"{name}.plain" for name in sizes))
    assert out_many < 1.5 * out_few
    assert in_many < 1.5 * in_few


def archived(database: Path) -> None:
    with Store.open(database) as store:
        write_archive(store, database.with_suffix(".plain"))


def read_again(folder: Path) -> None:
    read_archive(folder, folder.with_suffix(".new"))


def test_an_archive_of_an_earlier_release_is_upgraded(database, plain, tmp_path, monkeypatch) -> None:
    new, straight = tmp_path / "new.db", Path(shutil.copyfile(database, tmp_path / "straight.db"))
    plant_migration(monkeypatch)
    restore(plain, new)
    Store.open(straight).close()
    assert differences(straight, new) == ["log", "migrations"]
    with Store.open(new) as store:
        assert store.upkeep.verify() == []


def test_every_table_is_restored_with_rows(database: Path, tmp_path: Path) -> None:
    path = tmp_path / "annotations.db"
    shutil.copyfile(database, path)
    with Store.open(path) as store:
        score_blind(store)
        desk = Desk(store)
        desk.edit("RE", 2, "I looked again.")
        desk.decide("RE", 2, "submit")
        write_archive(store, tmp_path / "plain")
    read_archive(tmp_path / "plain", tmp_path / "new.db")
    assert differences(path, tmp_path / "new.db") == []
    assert [name for name, rows in contents(path).items() if not rows] == []


def test_json_text_of_any_layout_comes_back_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    texts = ["{}", "[1,2]", "[1, 2]", '"word"', "null", "1e5", '{"a": 1, "a": 2}', "  5", "12345678901234567890123"]
    with Store.open(path) as store:
        fill(store)
    with closing(sqlite3.connect(path)) as db:
        for number, text in enumerate(texts):
            row = (100 + number, f"odd {number}", text, "2026-11-21T12:00:00.000+00:00")
            db.execute("INSERT INTO settings (id, name, value, at) VALUES (?, ?, ?, ?)", row)
        db.commit()
    with Store.open(path) as store:
        write_archive(store, tmp_path / "plain")
    read_archive(tmp_path / "plain", tmp_path / "new.db")
    assert differences(path, tmp_path / "new.db") == []
