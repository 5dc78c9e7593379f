"""Exports as logs of agents: they come back with the same content hash, and say who decided what."""

import json

import pytest

from agent.foreign import read
from agent.foreign.convert import Converter
from agent.tasks import load_all
from reviewer.exchange.logs_out import REVIEW, export_logs
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved


@pytest.fixture
def store(tmp_path):
    spectrum = a_spectrum("a.fits")
    with a_store(tmp_path / "annotations.db") as store:
        add_approved(store, (a_trace(spectrum), spectrum))
        yield store


@pytest.mark.parametrize("form", ["atif", "inspect"])
def test_out_and_in_keeps_the_content_hash(store, tmp_path, form):
    version = store.items.get(1).version
    exported = export_logs(store, "out", form, folder=tmp_path)
    file = next(path for path in sorted(exported.folder.iterdir()) if path.name.startswith(("cv_", "traces")))
    (trace,) = read(file)
    converted = Converter(load_all(), lambda sha256, name: store.spectra.get(sha256)).convert(trace)
    assert trace.format == form
    assert converted.trajectory.content_hash() == version.content_hash


def test_atif_says_who_decided_and_has_the_same_bytes_twice(store, tmp_path):
    folders = [export_logs(store, name, "atif", folder=tmp_path).folder for name in ("one", "two")]
    files = [{p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders]
    assert files[0] == files[1]
    review = json.loads(next(folders[0].glob("cv_*.json")).read_text())["extra"][REVIEW]
    assert [row["person"] for row in review["decisions"]]
    assert review["version"]["content_hash"] == store.items.get(1).version.content_hash
