"""Damaged backups and plain archives: each is restored whole, or refused in a sentence and nothing is changed."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given

from reviewer.backup.archive import MANIFEST_NAME
from reviewer.backup.backups import BackupError
from reviewer.backup.restore import restore
from reviewer.store import QueueFilter, Store, StoreError
from tests.support.inputs.app import archive_files, bytes_in, columns_of, database_files, fill, plain_archive
from tests.support.inputs.damage import damaged_database, damaged_json, examples
from tests.support.inputs.refusals import refused_by

COLUMNS = {name: columns_of(content) for name, content in plain_archive().items() if name.endswith(".jsonl")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a good database, which restores replace in a copy."""
    folder = tmp_path_factory.mktemp("restores")
    fill(folder / "good.db")
    return folder


def check_restore(folder: Path, source: Path) -> None:
    """Restore over a copy of the good database: it is refused without a trace, or what is restored is consistent."""
    place = folder / "in place"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    database, good = place / "annotations.db", (folder / "good.db").read_bytes()
    database.write_bytes(good)
    given_files = bytes_in(source.parent)
    restored = None
    with refused_by(BackupError, StoreError, where=folder):
        restored = restore(source, database)
    assert bytes_in(source.parent) == given_files, "a restore that changed what it was given"
    left = bytes_in(place)
    kept_as = database if restored is None or restored.kept_as is None else restored.kept_as
    assert left.pop(kept_as.name, None) == good, "a restore that changed what was there before"
    if restored is not None:
        with Store.open(database) as store:
            assert store.upkeep.verify(restored.head) == []
            store.queue.page(QueueFilter(), "", limit=20)
        left.pop(database.name)
    assert list(left) == [], "a restore that left something behind"


@examples(15)
@given(content=damaged_database(database_files()))
def test_any_damaged_database_is_restored_whole_or_refused(folder: Path, content: bytes) -> None:
    source = folder / "given" / "kept.db"
    source.parent.mkdir(exist_ok=True)
    source.write_bytes(content)
    check_restore(folder, source)


@examples(15)
@given(content=damaged_json(archive_files()))
def test_any_damaged_plain_archive_is_restored_whole_or_refused(folder: Path, content: bytes) -> None:
    """One file is damaged: a table, with its new size and SHA-256 in the manifest, or the manifest."""
    source = folder / "plain archive" / "plain"
    shutil.rmtree(source, ignore_errors=True)
    for name, whole in plain_archive().items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(whole)
    if content[:1] == b"{" and b'"tables"' in content:
        (source / MANIFEST_NAME).write_bytes(content)
    else:
        table = max(COLUMNS, key=lambda name: len(COLUMNS[name] & columns_of(content)))
        (source / table).write_bytes(content)
        manifest = json.loads((source / MANIFEST_NAME).read_bytes())
        about = manifest["tables"][table.removesuffix(".jsonl")]
        about |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        about["rows"] = len(content.splitlines(keepends=True))
        (source / MANIFEST_NAME).write_text(json.dumps(manifest), "utf-8")
    check_restore(folder, source)
