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
from agent.trajectory.steps import Think, Zoom
from reviewer.exchange import exports as exporting
from reviewer.exchange.exports import ExportError, ItemRows, NothingToExport, export
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
    """Two approved items of three, one of them simulated."""
    path = tmp_path_factory.mktemp("approved") / "annotations.db"
    real, simulated, other = a_spectrum("a.fits"), a_spectrum("b.fits", redshift=None), a_spectrum("c.fits")
    with a_store(path) as store:
        add_approved(store, (a_trace(real), real), (a_trace(simulated, "NO", simulated=True), simulated))
        store.items.add_all([Draft(a_trace(other), other)])
    return path


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


def test_an_export_holds_the_head_of_the_log(approved, tmp_path):
    head = approved.log.head()
    made = export(approved, "one", "AA", tmp_path)
    assert (made.folder / "log_head.txt").read_text() == f"{head}\n"
    assert approved.log.head() != head, "the export itself is in the log"
    assert approved.log.check(head) == []


def test_two_exports_of_one_state_are_the_same_bytes(approved, tmp_path):
    first = export(approved, "one", "AA", tmp_path / "here")
    second = export(approved, "two", "BB", tmp_path / "there")
    assert every_byte(first.folder) == every_byte(second.folder)
    assert [(e.name, e.person) for e in approved.settings.exports()] == [("one", "AA"), ("two", "BB")]


def with_author(trajectory):
    """The trajectory as it is exported: AA wrote its second version."""
    return replace(trajectory, authors=("AA",))


def test_importing_an_export_gives_equal_trajectories(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    expected = [with_author(approved.items.get(i).version.trajectory) for i in approved.queue.approved()]
    with a_store(tmp_path / "again.db") as again:
        for source in (made.folder, made.folder / "trajectories.jsonl"):
            import_file(again, source)
        rows = again.queue.page(QueueFilter(), "AA").rows
        assert [again.items.get(row.item_id).version.trajectory for row in rows] == expected
        assert [again.spectra.get(row.spectrum_sha256).name for row in rows] == ["a.fits", "b.fits"]


def test_importing_the_sharegpt_rows_of_an_export_gives_the_same_trace(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    expected = [with_author(approved.items.get(i).version.trajectory) for i in approved.queue.approved()]
    with a_store(tmp_path / "again.db") as again:
        ids = import_file(again, made.folder / "train_sharegpt.json").added
        read = [again.items.get(item_id).version.trajectory for item_id in ids]
    assert [replace(t, drafter=w.drafter) for t, w in zip(read, map(merged, expected), strict=True)] == [
        merged(w) for w in expected
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
    made = export(store, "one", folder=tmp_path)
    rows = json.loads((made.folder / "train_sharegpt.json").read_text(encoding="utf-8"))
    assert [(row["ground_truth"], row["label_source"]) for row in rows] == [("NO", "catalogue"), ("YES", "review")]
    with a_store(tmp_path / "again.db") as again:
        ids = import_file(again, made.folder / "train_sharegpt.json").added
        assert [again.items.get(item_id).label for item_id in ids] == ["NO", None], "a review is no independent label"


def confirm(store: Store, how: str) -> None:
    """Let a person stand behind the answer of item 1, in one of three ways."""
    version = store.items.get(1).version
    if how == "mark":
        store.marks.add(person="BB", item_id=1, version_id=version.id, step_id="s6", mark="supported", key="key-mark")
    elif how == "verdict":
        store.marks.commit_verdict(person="BB", item_id=1, version_id=version.id, verdict="NO")
    elif how == "edit":
        *steps, answer = version.trajectory.steps
        store.reviews.save_version(
            person="BB",
            item_id=1,
            base_version_id=version.id,
            trajectory=version.trajectory.with_steps((*steps, replace(answer, explanation="No emission at Hα."))),
            reason="",
            key="key-edit",
            lease_token=store.leases.take("BB", 1).token,
        )


@pytest.mark.parametrize("how", ["", "mark", "verdict", "edit"])
def test_a_draft_that_cannot_tell_is_exported_only_with_a_persons_answer(store, tmp_path, how):
    sure, unsure = a_spectrum("a.fits"), a_spectrum("b.fits")
    store.items.add_all([Draft(a_trace(unsure, "NO", cannot_tell="no data at Hα"), unsure), Draft(a_trace(sure), sure)])
    decide(store, "BB", 1, "keep")
    assert not store.marks.answer_confirmed(1)
    confirm(store, how)
    assert store.marks.answer_confirmed(1) is bool(how)
    approve(store, 2)
    decide(store, "BB", 1, "submit")
    for verb in ("pass", "approve"):
        for person in ("AA", "CC"):
            decide(store, person, 1, verb)
    made = export(store, "one", folder=tmp_path)
    items = [row["item"] for row in rows_of(made.folder / "train.jsonl")]
    assert items == ([1, 2] if how else [2])
    why = "the drafter cannot tell (no data at Hα), and no person has changed or confirmed its answer"
    assert [(one.item_id, one.reason) for one in made.left_out] == ([] if how else [(1, why)])


def test_an_item_of_which_nobody_can_tell_is_never_exported(store, tmp_path):
    one, other = a_spectrum("a.fits"), a_spectrum("b.fits")
    add_approved(store, (a_trace(one), one))
    store.items.add_all([Draft(a_trace(other), other)])
    decide(store, "AA", 2, "reject", reason="cannot_tell")
    assert store.items.get(2).standing.state == "cannot tell"
    figures = store.statistics.counts()
    assert (figures.yielded.rejected, figures.yielded.cannot_tell, figures.yielded.fraction) == (0, 1, 1.0)
    assert figures.by_task == {"cv": {"approved": 1, "cannot tell": 1}}
    assert [row["item"] for row in rows_of(export(store, "one", folder=tmp_path).folder / "train.jsonl")] == [1]


def test_only_what_is_approved_is_exported(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    assert [row["item"] for row in rows_of(made.folder / "train.jsonl")] == approved.queue.approved() == [1, 2]


def test_every_row_has_its_pictures_pixel_for_pixel(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    sharegpt = json.loads((made.folder / "train_sharegpt.json").read_text(encoding="utf-8"))
    for item_id, row in zip(approved.queue.approved(), sharegpt, strict=True):
        trajectory = approved.items.get(item_id).version.trajectory
        expected = [trajectory.overview, *(z.picture for z in trajectory.zooms if z.ok)]
        assert [pixels_sha256(Image.open(made.folder / path)) for path in row["images"]] == expected
        marks = sum(turn["value"].count("<image>") for turn in row["conversations"])
        assert marks == len(row["images"])


def test_trl_rows_are_the_messages_a_model_reads(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    for row in rows_of(made.folder / "train.jsonl"):
        assert row["messages"] == approved.items.get(row["item"]).version.trajectory.to_messages()
        assert all((made.folder / path).is_file() for path in row["images"])


@pytest.mark.parametrize("name", ["train.jsonl", "train_sharegpt.json"])
def test_the_rows_fit_one_arrow_table_as_data_loaders_need(approved, tmp_path, name):
    made = export(approved, "one", folder=tmp_path)
    text = (made.folder / name).read_text(encoding="utf-8")
    rows = json.loads(text) if name.endswith(".json") else [json.loads(line) for line in text.splitlines()]
    assert pyarrow.Table.from_pylist(rows).num_rows == 2


def test_the_readme_is_in_the_manifest_and_gives_the_options_that_trl_needs(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    readme = (made.folder / "README.md").read_bytes()
    assert made.manifest["files"]["README.md"] == f"sha256:{hashlib.sha256(readme).hexdigest()}"
    assert {b"assistant_only_loss=True", b"max_length=None"} <= set(re.findall(rb"\w+=\w+", readme))


def test_dataset_info_describes_the_columns_for_llama_factory(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    info = json.loads((made.folder / "dataset_info.json").read_text())["spec_o3"]
    row = json.loads((made.folder / info["file_name"]).read_text(encoding="utf-8"))[0]
    assert set(info["columns"].values()) <= set(row)
    speakers = [turn[info["tags"]["role_tag"]] for turn in row["conversations"]]
    assert speakers == ["system", "human", "gpt", "human", "gpt", "human", "gpt"]


def test_the_manifest_lists_the_decisions_of_each_item(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    manifest = json.loads((made.folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest == made.manifest
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
    assert first["version"]["content_hash"] == approved.items.get(1).version.content_hash
    assert first["drafter"]["kind"] == "baseline"
    assert manifest["people"] == ["AA", "BB", "CC"]
    assert manifest["counts"]["items"] == 2
    assert manifest["counts"]["simulated"] == 1
    assert manifest["counts"]["verdicts"] == {"NO": 1, "YES": 1}
    assert manifest["counts"]["prompts"] == {"ours": 2}
    assert not manifest["one_person"]


def test_the_manifest_has_the_hash_of_every_file(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    files = {name: data for name, data in every_byte(made.folder).items() if name != "manifest.json"}
    hashes = {name: "sha256:" + hashlib.sha256(data).hexdigest() for name, data in files.items()}
    assert made.manifest["files"] == hashes


def test_the_manifest_is_written_as_json_dumps_writes_it(approved, tmp_path):
    made = export(approved, "one", folder=tmp_path)
    text = (tmp_path / "one" / "manifest.json").read_text(encoding="utf-8")
    assert text == json.dumps(made.manifest, ensure_ascii=False, indent=1) + "\n"
    assert made.manifest.items() >= made.summary.items()
    assert made.manifest.keys() - made.summary.keys() == {"files", "items"}


def test_memory_does_not_grow_with_the_export(tmp_path):
    sizes = (3, 10, 60)  # the first call fills the caches of pictures
    for items in sizes:
        with a_store(tmp_path / f"{items}.db", solo=True) as store:
            spectrum = a_spectrum()
            trace = a_trace(spectrum)
            longer = (replace(trace.steps[0], text=f"{n} " + "Look at Hα. " * 500) for n in range(items))
            traces = (replace(trace, steps=(first, *trace.steps[1:])) for first in longer)
            add_approved(store, *((each, spectrum) for each in traces))
    _, few, many = peaks(exported, *(tmp_path / f"{items}.db" for items in sizes))
    # An item's texts, row and provenance are more than 24 kB as objects; half of it leaves room for
    # objects in cycles, which the collector frees when it comes to them.
    assert many < few + 50 * 12_000


def exported(database: Path) -> None:
    with Store.open(database) as store:
        export(store, "one", folder=database.with_suffix(""), processes=1)


def test_work_of_one_person_is_labelled(tmp_path):
    with a_store(tmp_path / "alone.db", solo=True) as store:
        add_approved(store, (a_trace(a_spectrum()), a_spectrum()))
        manifest = export(store, "one", folder=tmp_path).manifest
    assert manifest["one_person"]
    assert manifest["counts"]["by_one_person"] == 1
    assert manifest["rules"]["solo"]


def test_simulated_spectra_are_labelled_and_can_be_left_out(approved, tmp_path):
    everything = export(approved, "all", folder=tmp_path)
    assert [row["simulated"] for row in rows_of(everything.folder / "train.jsonl")] == [False, True]
    real = export(approved, "real", folder=tmp_path, include_simulated=False)
    assert [row["item"] for row in rows_of(real.folder / "train.jsonl")] == [1]
    assert real.left_out == ()


def test_pictures_that_cannot_be_drawn_are_exported_as_imported(store, tmp_path):
    drawn = Image.new("RGBA", (50, 40), "green")
    (tmp_path / "in").mkdir()
    drawn.save(tmp_path / "in" / "green.png")
    sha256 = pixels_sha256(drawn)
    trace = a_trace(a_spectrum(), spectrum_sha256=None, overview=sha256)
    steps = tuple(replace(s, picture=sha256) if isinstance(s, Zoom) and s.ok else s for s in trace.steps)
    trace = trace.with_steps(steps)
    store.items.add_all([Draft(trace, pictures={sha256: (tmp_path / "in" / "green.png").read_bytes()})])
    approve(store, 1)
    made = export(store, "one", folder=tmp_path)
    with a_store(tmp_path / "again.db") as again:
        (item_id,) = import_file(again, made.folder).added
        assert again.items.get(item_id).version.trajectory == with_author(store.items.get(1).version.trajectory)
        assert again.spectra.picture(sha256) is not None


def test_an_item_whose_pictures_are_drawn_differently_is_left_out_and_listed(store, tmp_path):
    good, bad = a_spectrum("a.fits"), a_spectrum("b.fits")
    add_approved(store, (a_trace(good), good), (a_trace(bad, overview="ab" * 32), bad))
    made = export(store, "one", folder=tmp_path)
    assert [item.item_id for item in made.left_out] == [2]
    assert "drawn with other pixels here" in made.left_out[0].reason
    assert made.manifest["left_out"] == [{"item": 2, "reason": made.left_out[0].reason}]


@pytest.mark.parametrize("name", ["", "..", "a/b", "../a", "a..b", ".hidden", "a b", "é", "x" * 81, "a/../b", "/a"])
def test_a_name_that_is_no_folder_name_is_refused(approved, tmp_path, name):
    with pytest.raises(ExportError, match="name: found"):
        export(approved, name, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_taken_is_refused_unless_it_is_to_be_replaced(approved, tmp_path):
    first = export(approved, "one", folder=tmp_path)
    before = every_byte(first.folder)
    with pytest.raises(ExportError, match="found an export of that name"):
        export(approved, "one", folder=tmp_path)
    third = a_spectrum("d.fits")
    add_approved(approved, (a_trace(third), third))
    second = export(approved, "one", folder=tmp_path, replace=True)
    assert second.manifest["counts"]["items"] == 3
    assert every_byte(second.folder) != before


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

    monkeypatch.setattr(exporting, "_flush", full)
    with pytest.raises(OSError, match="No space left"):
        export(approved, "one", folder=out, replace=True)
    assert every_byte(out) == before
    assert list(out.iterdir()) == [first.folder]


def test_nothing_approved_writes_nothing(store, tmp_path):
    store.items.add_all([Draft(a_trace(a_spectrum()), a_spectrum())])
    with pytest.raises(NothingToExport, match="found no approved item"):
        export(store, "one", folder=tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_an_unknown_person_cannot_be_the_exporter(approved, tmp_path):
    with pytest.raises(NotFound):
        export(approved, "one", "ZZ", tmp_path / "out")


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
    more = [a_spectrum(f"{n}.fits") for n in range(4)]
    traces = [a_trace(each, overview="ab" * 32) if n % 2 else a_trace(each) for n, each in enumerate(more)]
    add_approved(approved, *zip(traces, more, strict=True))
    alone = export(approved, "alone", folder=tmp_path, processes=1)
    both = export(approved, "both", folder=tmp_path, processes=2)
    assert [item.item_id for item in alone.left_out] == [5, 7]
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
