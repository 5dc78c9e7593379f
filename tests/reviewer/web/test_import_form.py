"""What the import form of the Library tab says at the end of an import."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.cli.exchange import _import_summary
from reviewer.exchange.imports import Findings, import_file, own_row
from reviewer.store import ImportJob, Store
from reviewer.ui.imports import _summary
from tests.support.campaign import a_spectrum, a_trajectory


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        yield store


def imported(store: Store, path: Path, texts: list[str], **other) -> tuple[ImportJob, Findings]:
    spectrum = a_spectrum()
    rows = [own_row(a_trajectory(spectrum, text), spectrum) if text else {} for text in texts]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    import_file(store, path, **other)
    job = store.imports.latest()
    assert job is not None
    return job, Findings.of(job)


def test_a_refused_file_is_not_said_to_have_nothing_new(store: Store, tmp_path: Path) -> None:
    imported(store, tmp_path / "first.jsonl", ["one", "two"])
    refused = imported(store, tmp_path / "second.jsonl", ["one", "two", "new", ""])
    assert (refused[0].state, refused[1].known, refused[1].bad) == ("refused", 2, 1)
    assert "Nothing was imported: 1 row cannot be used." in _summary(store, [refused])
    added = imported(store, tmp_path / "third.jsonl", ["three", "four"])
    both = _summary(store, [refused, added])
    assert "2 new items in the queue. Nothing was imported from second.jsonl: 1 row cannot be used." in both
    skipped = imported(store, tmp_path / "second.jsonl", ["one", "two", "new", ""], skip_bad=True)
    assert "1 new item in the queue. " in _summary(store, [skipped])
    assert "1 row skipped." in _summary(store, [skipped])


def test_a_file_that_waits_for_a_choice_is_not_said_to_have_bad_rows(store: Store, tmp_path: Path) -> None:
    imported(store, tmp_path / "first.jsonl", ["one"])
    job, found = imported(store, tmp_path / "second.jsonl", ["another"], same_spectrum="ask")
    assert job.state == "refused"
    assert _import_summary(job, found, {}).startswith("nothing imported: 1 row of a spectrum that is here")
    assert "1 row of spectra that are here already" in _summary(store, [(job, found)])
