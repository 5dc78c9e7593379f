"""Exports: complete, labelled, reproducible, and importable again."""

import hashlib
import json
import os
import re
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pyarrow
import pytest
from PIL import Image

from agent.plot import pixels_sha256
from agent.trajectory import Trajectory
from agent.trajectory.steps import Think, Zoom
from reviewer.exchange import exports as exporting
from reviewer.exchange.exports import Exported, ExportError, ItemRows, NothingToExport, export
from reviewer.exchange.imports import import_file
from reviewer.exchange.item import ApprovedItem
from reviewer.store import Draft, NotFound, QueueFilter, Store
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved, approve, decide
from tests.support.memory import peaks


@pytest.fixture
def store(tmp_path):
    with a_store(tmp_path / "annotations.db") as store:
        yield store


@pytest.fixture(scope="module")
def approved_file(tmp_path_factory) -> Path:
    """A database with two approved items of three, one of them simulated."""
    path = tmp_path_factory.mktemp("approved") / "annotations.db"
    real, simulated, other = a_spectrum("a.fits"), a_spectrum("b.fits", redshift=None), a_spectrum("c.fits")
    with a_store(path) as store:
        add_approved(store, (a_trace(real), real), (a_trace(simulated, "NO", simulated=True), simulated))
        store.items.add_all([Draft(a_trace(other), other)])
    return path


@pytest.fixture(scope="module")
def exported(approved_file, tmp_path_factory) -> Exported:
    """An export of ``approved_file``, only read."""
    with Store.open(approved_file) as store:
        return export(store, "one", folder=tmp_path_factory.mktemp("exported"))


@pytest.fixture(scope="module")
def trajectories(approved_file) -> list[Trajectory]:
    """The approved trajectories as they are exported: AA wrote their second versions."""
    with Store.open(approved_file) as store:
        return [replace(store.items.get(item).version.trajectory, authors=("AA",)) for item in (1, 2)]


@pytest.fixture
def approved(approved_file, tmp_path):
    """A store on a copy of ``approved_file``."""
    shutil.copy(approved_file, tmp_path / "approved.db")
    with Store.open(tmp_path / "approved.db") as store:
        yield store


def every_byte(folder: Path) -> dict[str, bytes]:
    """The content of every file but log_head.txt, which changes with each export."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.name != "log_head.txt")
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_two_exports_of_one_state_are_the_same_bytes_and_hold_the_head_of_the_log(approved, tmp_path):
    head = approved.log.head()
    first = export(approved, "one", "AA", tmp_path / "first")
    assert (first.folder / "log_head.txt").read_text() == f"{head}\n"
    assert approved.log.head() != head, "the export itself is in the log"
    assert approved.log.check(head) == []
    second = export(approved, "two", "BB", tmp_path / "second")
    assert every_byte(first.folder) == every_byte(second.folder)
    assert [(e.name, e.person) for e in approved.settings.exports()] == [("one", "AA"), ("two", "BB")]
    with pytest.raises(NotFound):
        export(approved, "three", "ZZ", tmp_path / "third")


def test_importing_an_export_gives_equal_trajectories(exported, trajectories, tmp_path):
    with a_store(tmp_path / "again.db") as again:
        for source in (exported.folder, exported.folder / "trajectories.jsonl"):
            import_file(again, source)
        rows = again.queue.page(QueueFilter(), "AA").rows
        assert [again.items.get(row.item_id).version.trajectory for row in rows] == trajectories
        assert [again.spectra.get(row.spectrum_sha256).name for row in rows] == ["a.fits", "b.fits"]
    with a_store(tmp_path / "sharegpt.db") as again:
        ids = import_file(again, exported.folder / "train_sharegpt.json").added
        assert [again.items.get(item_id).version.trajectory for item_id in ids] == [
            replace(merged(trajectory), drafter=again.items.get(item_id).version.trajectory.drafter)
            for item_id, trajectory in zip(ids, trajectories, strict=True)
        ]


def merged(trajectory):
    """The trajectory as in the tagged text: one think step per turn, steps numbered anew."""
    steps = []
    for step in trajectory.steps:
        if isinstance(step, Think) and steps and isinstance(steps[-1], Think):
            steps[-1] = replace(steps[-1], text=f"{steps[-1].text}\n\n{step.text}")
        else:
            steps.append(step)
    return trajectory.with_steps(tuple(replace(s, id=f"s{n}") for n, s in enumerate(steps, start=1)))


def test_without_a_label_the_ground_truth_of_a_row_is_the_approved_answer(store, tmp_path):
    known, unknown = a_spectrum("a.fits"), a_spectrum("b.fits")
    add_approved(store, (a_trace(known, label="NO", label_source="catalogue"), known), (a_trace(unknown), unknown))
    result = export(store, "one", folder=tmp_path)
    rows = json.loads((result.folder / "train_sharegpt.json").read_text(encoding="utf-8"))
    assert [(row["ground_truth"], row["label_source"]) for row in rows] == [("NO", "catalogue"), ("YES", "review")]
    with a_store(tmp_path / "again.db") as again:
        ids = import_file(again, result.folder / "train_sharegpt.json").added
        assert [again.items.get(item_id).label for item_id in ids] == ["NO", None], "a review is no independent label"


@pytest.mark.parametrize("how", ["", "mark", "verdict", "edit"])
def test_a_draft_that_cannot_tell_is_exported_only_with_a_persons_answer(store, tmp_path, how):
    sure, unsure = a_spectrum("a.fits"), a_spectrum("b.fits")
    store.items.add_all([Draft(a_trace(unsure, "NO", cannot_tell="no data at Hα"), unsure), Draft(a_trace(sure), sure)])
    decide(store, "BB", 1, "keep")
    assert not store.marks.answer_confirmed(1)
    version = store.items.get(1).version
    given = {"person": "BB", "item_id": 1}
    if how == "mark":
        store.marks.add(**given, version_id=version.id, step_id="s6", mark="supported", key="key-mark")
    elif how == "verdict":
        store.marks.commit_verdict(**given, version_id=version.id, verdict="NO")
    elif how == "edit":
        *steps, answer = version.trajectory.steps
        changed = version.trajectory.with_steps((*steps, replace(answer, explanation="No emission at Hα.")))
        given |= {"base_version_id": version.id, "lease_token": store.leases.take("BB", 1).token}
        store.reviews.save_version(**given, trajectory=changed, reason="", key="key-edit")
    assert store.marks.answer_confirmed(1) is bool(how)
    approve(store, 2)
    decide(store, "BB", 1, "submit")
    for verb in ("pass", "approve"):
        for person in ("AA", "CC"):
            decide(store, person, 1, verb)
    result = export(store, "one", folder=tmp_path)
    items = [row["item"] for row in rows_of(result.folder / "train.jsonl")]
    assert items == ([1, 2] if how else [2])
    why = "the drafter cannot tell (no data at Hα), and no person has changed or confirmed its answer"
    assert [(left.item_id, left.reason) for left in result.left_out] == ([] if how else [(1, why)])


def test_an_item_of_which_nobody_can_tell_is_never_exported(store, tmp_path):
    certain, other = a_spectrum("a.fits"), a_spectrum("b.fits")
    add_approved(store, (a_trace(certain), certain))
    store.items.add_all([Draft(a_trace(other), other)])
    decide(store, "AA", 2, "reject", reason="cannot_tell")
    assert store.items.get(2).standing.state == "cannot tell"
    figures = store.statistics.counts()
    assert (figures.yielded.rejected, figures.yielded.cannot_tell, figures.yielded.fraction) == (0, 1, 1.0)
    assert figures.by_task == {"cv": {"approved": 1, "cannot tell": 1}}
    assert [row["item"] for row in rows_of(export(store, "one", folder=tmp_path).folder / "train.jsonl")] == [1]


def test_every_row_has_its_pictures_pixel_for_pixel_and_the_messages_a_model_reads(exported, trajectories):
    sharegpt = json.loads((exported.folder / "train_sharegpt.json").read_text(encoding="utf-8"))
    trl = rows_of(exported.folder / "train.jsonl")
    assert [row["item"] for row in trl] == [1, 2], "only what is approved"
    for trajectory, row, messages in zip(trajectories, sharegpt, trl, strict=True):
        pictures = [trajectory.overview, *(z.picture for z in trajectory.zooms if z.ok)]
        assert [pixels_sha256(Image.open(exported.folder / path)) for path in row["images"]] == pictures
        assert sum(turn["value"].count("<image>") for turn in row["conversations"]) == len(pictures)
        assert messages["messages"] == trajectory.to_messages()
        assert messages["images"] == row["images"]
    for rows in (sharegpt, trl):
        assert pyarrow.Table.from_pylist(rows).num_rows == 2, "as data loaders need"


def test_dataset_info_describes_the_columns_for_llama_factory(exported):
    info = json.loads((exported.folder / "dataset_info.json").read_text())["spec_o3"]
    row = json.loads((exported.folder / info["file_name"]).read_text(encoding="utf-8"))[0]
    assert set(info["columns"].values()) <= set(row)
    speakers = [turn[info["tags"]["role_tag"]] for turn in row["conversations"]]
    assert speakers == ["system", "human", "gpt", "human", "gpt", "human", "gpt"]


def test_the_manifest_lists_the_decisions_of_each_item(exported, trajectories):
    manifest = exported.manifest
    first = manifest["items"][0]
    assert [(d["round"], d["verb"], d["person"], d["version"]) for d in first["decisions"]] == [
        ("screening", "keep", "AA", 1),
        ("revision", "submit", "AA", 2),
        ("audit", "pass", "BB", 2),
        ("audit", "pass", "CC", 2),
        ("vote", "approve", "BB", 2),
        ("vote", "approve", "CC", 2),
    ]
    assert [(v["number"], v["author"]) for v in first["versions"]] == [(1, None), (2, "AA")]
    assert first["authors"] == ["AA"]
    assert first["version"]["content_hash"] == replace(trajectories[0], authors=()).content_hash()
    assert first["drafter"]["kind"] == "baseline"
    assert manifest["people"] == ["AA", "BB", "CC"]
    counts = {"items": 2, "simulated": 1, "verdicts": {"NO": 1, "YES": 1}, "prompts": {"ours": 2}}
    assert manifest["counts"].items() >= counts.items()
    assert not manifest["one_person"]


def test_the_manifest_has_the_hash_of_every_file_and_is_written_as_json_dumps_writes_it(exported):
    manifest = exported.manifest
    files = {name: data for name, data in every_byte(exported.folder).items() if name != "manifest.json"}
    assert manifest["files"] == {name: "sha256:" + hashlib.sha256(data).hexdigest() for name, data in files.items()}
    assert {b"assistant_only_loss=True", b"max_length=None"} <= set(re.findall(rb"\w+=\w+", files["README.md"]))
    text = (exported.folder / "manifest.json").read_text(encoding="utf-8")
    assert text == json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
    assert manifest.items() >= exported.summary.items()
    assert manifest.keys() - exported.summary.keys() == {"files", "items"}


def test_memory_does_not_grow_with_the_export_and_work_of_one_person_is_labelled(tmp_path):
    sizes = (2, 5, 20)  # the first call fills the caches of pictures
    spectrum = a_spectrum()
    first, zoom, think, *rest = a_trace(spectrum).steps  # an approval revises the first
    for items in sizes:
        with a_store(tmp_path / f"{items}.db", solo=True) as store:
            texts = (f"{n} " + "Look at Hα. " * 1500 for n in range(items))
            steps = ((first, zoom, replace(think, text=text), *rest) for text in texts)
            add_approved(store, *((a_trace(spectrum, steps=changed), spectrum) for changed in steps))
    _, few, many = peaks(exported_alone, *(tmp_path / f"{items}.db" for items in sizes))
    # An item's texts, row and provenance are more than 72 kB as objects; half of it leaves room for
    # objects in cycles, which the collector frees when it comes to them.
    assert many < few + 15 * 36_000
    manifest = json.loads((tmp_path / "2" / "one" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["one_person"], manifest["counts"]["by_one_person"], manifest["rules"]["solo"]) == (True, 2, True)


def exported_alone(database: Path) -> None:
    with Store.open(database) as store:
        export(store, "one", folder=database.with_suffix(""), processes=1)


def test_simulated_spectra_are_labelled_and_can_be_left_out(exported, approved, tmp_path):
    assert [row["simulated"] for row in rows_of(exported.folder / "train.jsonl")] == [False, True]
    real = export(approved, "real", folder=tmp_path, include_simulated=False)
    assert [row["item"] for row in rows_of(real.folder / "train.jsonl")] == [1]
    assert real.left_out == ()


def test_pictures_that_cannot_be_drawn_are_exported_as_imported(store, tmp_path):
    green = Image.new("RGBA", (50, 40), "green")
    green.save(tmp_path / "green.png")
    sha256 = pixels_sha256(green)
    trace = a_trace(a_spectrum(), spectrum_sha256=None, overview=sha256)
    trace = trace.with_steps(
        tuple(replace(s, picture=sha256) if isinstance(s, Zoom) and s.ok else s for s in trace.steps)
    )
    store.items.add_all([Draft(trace, pictures={sha256: (tmp_path / "green.png").read_bytes()})])
    approve(store, 1)
    folder = export(store, "one", folder=tmp_path).folder
    with a_store(tmp_path / "again.db") as again:
        (item_id,) = import_file(again, folder).added
        approved = store.items.get(1).version.trajectory
        assert again.items.get(item_id).version.trajectory == replace(approved, authors=("AA",))
        assert again.spectra.picture(sha256) is not None


def test_an_item_whose_pictures_are_drawn_differently_is_left_out_and_listed(store, tmp_path):
    good, bad = a_spectrum("a.fits"), a_spectrum("b.fits")
    add_approved(store, (a_trace(good), good), (a_trace(bad, overview="ab" * 32), bad))
    result = export(store, "one", folder=tmp_path)
    assert [item.item_id for item in result.left_out] == [2]
    assert "drawn with other pixels here" in result.left_out[0].reason
    assert result.manifest["left_out"] == [{"item": 2, "reason": result.left_out[0].reason}]


@pytest.mark.parametrize("name", ["", "..", "a/b", "a..b", ".hidden", "a b", "é", "x" * 81, "/a"])
def test_a_name_that_is_no_folder_name_is_refused(store, tmp_path, name):
    with pytest.raises(ExportError, match="name: found"):
        export(store, name, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_taken_is_refused_unless_it_is_to_be_replaced(approved, tmp_path):
    before = every_byte(export(approved, "one", folder=tmp_path).folder)
    with pytest.raises(ExportError, match="found an export of that name"):
        export(approved, "one", folder=tmp_path)
    assert every_byte(tmp_path / "one") == before
    second = export(approved, "one", folder=tmp_path, task="cv", include_simulated=False, replace=True)
    assert second.manifest["counts"]["items"] == 1
    assert every_byte(second.folder).keys() < before.keys()


def test_a_folder_that_is_no_export_is_never_replaced(approved, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "thesis.tex").write_text("years of work")
    with pytest.raises(ExportError, match="no export; it will not be replaced"):
        export(approved, "one", folder=tmp_path, replace=True)
    assert (tmp_path / "one" / "thesis.tex").exists()


def test_a_failure_leaves_the_earlier_export_and_nothing_else(approved, tmp_path, monkeypatch):
    out = tmp_path / "out"
    first = export(approved, "one", folder=out)
    before = every_byte(out)

    def full(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "flush", full)
    with pytest.raises(OSError, match="No space left"):
        export(approved, "one", folder=out, replace=True)
    assert every_byte(out) == before
    assert list(out.iterdir()) == [first.folder]


def test_nothing_approved_writes_nothing(store, tmp_path):
    store.items.add_all([Draft(a_trace(a_spectrum()), a_spectrum())])
    with pytest.raises(NothingToExport, match="found no approved item"):
        export(store, "one", folder=tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_an_undone_decision_is_not_in_the_manifest(store, tmp_path):
    spectrum = a_spectrum()
    (item_id,) = [a.item_id for a in store.items.add_all([Draft(a_trace(spectrum), spectrum)])]
    decide(store, "BB", item_id, "reject", reason="duplicate")
    store.reviews.undo(person="BB", item_id=item_id, key="undo-1")
    approve(store, item_id)
    (item,) = export(store, "one", folder=tmp_path).manifest["items"]
    assert "reject" not in {d["verb"] for d in item["decisions"]}


def kill_process(part: Path, approved_item: ApprovedItem) -> ItemRows:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process still runs")


def test_one_and_two_processes_write_the_same_bytes(approved, tmp_path):
    spectrum = a_spectrum("d.fits")
    add_approved(approved, (a_trace(spectrum, overview="ab" * 32), spectrum))
    alone, both = (export(approved, str(n), folder=tmp_path, processes=n) for n in (1, 2))
    assert [item.item_id for item in alone.left_out] == [4]
    assert both.left_out == alone.left_out
    assert every_byte(both.folder) == every_byte(alone.folder)


def test_a_killed_process_leaves_nothing_and_is_reported(approved, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "write_item", kill_process)
    with pytest.raises(ExportError, match=r"no export was made: a worker process was ended from outside"):
        export(approved, "one", folder=tmp_path / "out", processes=2)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_interrupted_export_leaves_the_earlier_one_and_nothing_else(approved, tmp_path):
    first = export(approved, "one", folder=tmp_path / "out")
    before = every_byte(first.folder)

    def interrupted(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(approved, "one", folder=tmp_path / "out", replace=True, progress=interrupted, processes=2)
    assert list((tmp_path / "out").iterdir()) == [first.folder]
    assert every_byte(first.folder) == before


@pytest.mark.parametrize("streaming", [False, True])
def test_hugging_face_loads_the_folder_as_it_lies_with_the_pictures_as_a_column(exported, tmp_path, streaming):
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset(str(exported.folder), cache_dir=str(tmp_path), streaming=streaming)
    rows, own = list(loaded["train"]), rows_of(exported.folder / "train.jsonl")
    for row, line in zip(rows, own, strict=True):
        assert (row["item"], row["task"], row["simulated"]) == (line["item"], line["task"], line["simulated"])
        hashes = [pixels_sha256(picture) for picture in row["images"]]
        assert hashes == [pixels_sha256(Image.open(exported.folder / path)) for path in line["images"]]
        assert sum(turn["value"].count("<image>") for turn in row["conversations"]) == len(row["images"])


def test_an_export_without_any_label_or_redshift_loads_with_the_same_columns(store, tmp_path, exported):
    datasets = pytest.importorskip("datasets")
    spectrum = a_spectrum("ohne Ä.fits", redshift=None)
    add_approved(store, (replace(a_trace(spectrum), label=None), spectrum))
    folder = export(store, "one", folder=tmp_path / "out", licence="cc-by-4.0").folder
    both = [datasets.load_dataset(str(path), cache_dir=str(tmp_path / "cache")) for path in (folder, exported.folder)]
    assert both[0]["train"].features == both[1]["train"].features
    assert (both[0]["train"][0]["redshift"], both[0]["train"][0]["source_name"]) == (None, "ohne Ä.fits")
    assert "license: cc-by-4.0" in (folder / "README.md").read_text(encoding="utf-8")


# mlcroissant calls pandas in a way that pandas will remove.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*inplace keyword")
def test_croissant_is_valid_and_gives_the_rows(exported):
    mlcroissant = pytest.importorskip("mlcroissant")
    described = mlcroissant.Dataset(str(exported.folder / "croissant.json"))
    assert described.metadata.ctx.issues.errors == set()
    rows = [{key.removeprefix("traces/"): value for key, value in row.items()} for row in described.records("traces")]
    for row, line in zip(rows, rows_of(exported.folder / "train.jsonl"), strict=True):
        assert (row["item"], row["task"].decode()) == (line["item"], line["task"])
        assert [path.decode() for path in row["images_file_names"]] == line["images"]
        assert row["conversations"][-1]["traces/conversations/from"] == b"gpt"
    described_hash = json.loads((exported.folder / "croissant.json").read_text())["distribution"][0]["sha256"]
    assert described_hash == hashlib.sha256((exported.folder / "metadata.parquet").read_bytes()).hexdigest()
