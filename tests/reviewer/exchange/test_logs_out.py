"""Exports as logs of agents: they come back with the same content hash, and say who decided what."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent import tool
from agent.foreign import read
from agent.foreign.convert import Converter
from agent.plot import pixels_sha256, png_bytes
from agent.tasks import load_all
from agent.trajectory import Trajectory
from agent.trajectory.steps import Think, Zoom
from reviewer.exchange import exports
from reviewer.exchange.exports import Exported, NothingToExport, export
from reviewer.exchange.item import ApprovedItem, read_approved
from reviewer.exchange.logs_out import REVIEW, LogFormat, layout_of_logs
from reviewer.exchange.manifest import ManifestParts
from reviewer.store import Store
from tests.support import cli
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    spectrum = a_spectrum("a.fits")
    with a_store(tmp_path / "annotations.db") as store:
        add_approved(store, (a_trace(spectrum), spectrum))
        yield store


def exported(store: Store, folder: Path, form: LogFormat, name: str = "out") -> Exported:
    return export(store, name, folder=folder, layout=layout_of_logs(form))


def log_in(folder: Path) -> Path:
    return next(path for path in sorted(folder.iterdir()) if path.name.startswith(("cv_", "traces")))


def back(store: Store, log: Path) -> list[Trajectory]:
    converter = Converter(load_all(), lambda sha256, name: store.spectra.get(sha256 or ""))
    return [converter.convert(trace).trajectory for trace in read(log)]


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", ["atif", "inspect"])
def test_out_and_in_keeps_the_content_hash(store: Store, tmp_path: Path, form: LogFormat) -> None:
    log = log_in(exported(store, tmp_path, form).folder)
    assert {trace.format for trace in read(log)} == {form}
    assert [trace.content_hash() for trace in back(store, log)] == [store.items.get(1).version.content_hash]


def test_atif_says_who_decided_and_has_the_same_bytes_twice(store: Store, tmp_path: Path) -> None:
    folders = [exported(store, tmp_path, "atif", name).folder for name in ("one", "two")]
    assert files_of(folders[0]) == files_of(folders[1])
    review = json.loads(next(folders[0].glob("cv_*.json")).read_text())["extra"][REVIEW]
    assert [row["person"] for row in review["decisions"]]
    assert review["version"]["content_hash"] == store.items.get(1).version.content_hash


@pytest.mark.parametrize("form", ["atif", "inspect"])
def test_the_manifest_has_the_hash_of_every_file_and_each_is_on_the_disk(
    store: Store, tmp_path: Path, form: LogFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    monkeypatch.setattr(exports.os, "fsync", lambda handle: synced.add(exports.os.fstat(handle).st_ino))
    folder = exported(store, tmp_path, form).folder
    files = files_of(folder)
    manifest = json.loads(files.pop("manifest.json"))
    assert manifest["files"] == {name: f"sha256:{hashlib.sha256(data).hexdigest()}" for name, data in files.items()}
    assert (manifest["schema"], manifest["counts"]["items"]) == (f"spec-o3/export-{form}/1", 1)
    assert {path.stat().st_ino for path in (folder, *folder.rglob("*"))} <= synced


def a_foreign_item(approved: ApprovedItem) -> ApprovedItem:
    """The item with a failed call and a picture of another agent's tool, and no answer. No review would approve it."""
    assert approved.spectrum is not None
    image = tool.overview(approved.spectrum).rotate(180)
    failed = Zoom("s2", {"code": "plot("}, observation="SyntaxError: '(' was never closed", ok=False, tool="py")
    seen = Zoom("s3", {"code": "plot()"}, observation="plotted", picture=pixels_sha256(image), tool="py")
    steps = (Think("s1", "Use my own tool."), failed, seen, Think("s4", "I do not know."))
    stored = {pixels_sha256(image): png_bytes(image)}
    provenance = {**approved.provenance, "verdict": None}
    trajectory = replace(approved.trajectory, steps=steps)
    return replace(approved, item_id=7, trajectory=trajectory, stored=stored, provenance=provenance)


def test_a_failed_call_a_foreign_tool_and_no_answer_are_in_the_log_of_inspect(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries

    approved = read_approved(store, 1)
    assert approved is not None
    item = a_foreign_item(approved)
    with ManifestParts(tmp_path) as parts:
        assert layout_of_logs("inspect").write(tmp_path, [approved, item], parts) == []
    path = tmp_path / "traces.eval"
    log = read_eval_log(str(path))
    assert (log.status, log.eval.dataset.sample_ids) == ("success", ["cv_1", "cv_7"])
    assert [summary.id for summary in read_eval_log_sample_summaries(str(path))] == ["cv_1", "cv_7"]
    sample = read_eval_log_sample(str(path), "cv_7")
    assert sample == log.samples[1]
    failed, seen = [message for message in sample.messages if message.role == "tool"]
    assert (failed.function, failed.text) == ("py", "SyntaxError: '(' was never closed")
    assert failed.error.message == failed.text
    assert (seen.error, [part.type for part in seen.content]) == (None, ["image", "text"])
    last = sample.messages[-1]
    assert ([part.reasoning for part in last.content], last.tool_calls) == (["I do not know."], None)
    assert (sample.scores["state"].value, sample.scores["state"].answer) == ("approved", None)
    hashes = [trace.content_hash() for trace in back(store, path)]
    assert hashes == [row.trajectory.content_hash() for row in (approved, item)]


@pytest.mark.parametrize("form", ["atif", "inspect"])
def test_where_everything_is_left_out_the_reasons_are_printed(tmp_path: Path, form: LogFormat) -> None:
    spectrum = a_spectrum("a.fits")
    with a_store(tmp_path / "annotations.db", solo=True) as store:
        add_approved(store, (replace(a_trace(spectrum), overview="0" * 64), spectrum))
        with pytest.raises(NothingToExport, match=r"of 1 approved \(item 1: picture 000000000000… is drawn with other"):
            exported(store, tmp_path, form)
    done = cli.run("export", "out", "--as", form, "--db", tmp_path / "annotations.db")
    assert done.returncode == 1
    assert "nothing exported: found no approved item that can be exported, of 1 approved (item 1:" in done.stdout
    assert not (tmp_path / "annotations-exports" / "out").exists()
