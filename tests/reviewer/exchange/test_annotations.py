"""Annotations of Label Studio, and tasks for it.

The files in ``annotations/`` were written by the programs' own code: JSON-MIN and tables by the converter of
label-studio-sdk 2.1 from ``label_studio.json``, which has the fields of an export of Label Studio 1.x; the records of
Argilla by ``to_list`` of Argilla 2.8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent import tasks
from reviewer.exchange.annotations import importing
from reviewer.exchange.annotations.importing import Choices, ImportedAnnotations, import_annotations
from reviewer.exchange.annotations.tasks import write_tasks
from reviewer.exchange.annotations.values import AnnotationsError
from reviewer.store import NotAllowed, NotFound, QueueFilter, Store
from reviewer.web.verdict_first import RULE
from tests.support import cli
from tests.support.blind_campaign import a_store, opened
from tests.support.campaign import Clock, an_item, people

FILES = Path(__file__).parent / "annotations"
ANN = "00000000-0000-0000-0000-000000000a11"

OF_LABEL_STUDIO = (
    "verdict: NO\nfaults: wrong line, no data\nwhy: It is a sky line.\nwhy: See Osterbrock 1996, table 2\n"
    "quality: 4\nz: 0.0121\nkind: CV > nova\nspan: wrong (“Hα”)"
)


FORMS = ("label_studio.json", "label_studio_min.json", "label_studio.csv", "label_studio.tsv")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Items 1 to 4, of spectra spec-0001.fits to spec-0004.fits."""
    with Store.open(tmp_path / "annotations.db", clock=Clock()) as store:
        people(store)
        for number in range(1, 5):
            an_item(store, number)
        yield store


def here(store: Store, name: str, tmp_path: Path) -> Path:
    """A file of ``annotations/`` whose tasks have the keys of this store's items."""
    text = (FILES / name).read_text(encoding="utf-8")
    for number in range(1, 5):
        text = text.replace(f'"k{number}"', f'"{store.items.get(number).key}"')
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def written(tmp_path: Path, rows: object) -> Path:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def of(store: Store, item: int) -> list[tuple[str | None, str, str]]:
    """Author, source and text of the comments on an item."""
    threads = store.comments.of_item(item, "CO").threads
    return [(comment.person, comment.source, comment.text) for thread in threads for comment in thread.comments]


def read(store: Store, path: Path, **choices: Any) -> ImportedAnnotations:
    return import_annotations(store, [path], Choices(**choices))


def a_task(item: object = 1, **change: Any) -> dict[str, Any]:
    """A task of Label Studio with one annotation."""
    result = {"from_name": "verdict", "to_name": "trace", "type": "choices", "value": {"choices": ["NO"]}}
    annotation = {"id": 3, "completed_by": 7, "result": [result], "was_cancelled": False} | change
    return {"id": 12, "data": {"item": item}, "annotations": [annotation], "predictions": []}


# ---- Label Studio


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_label_studio_export_gives_the_same_answers_once(
    store: Store, tmp_path: Path, name: str
) -> None:
    imported = read(store, here(store, name, tmp_path))
    assert (imported.added, imported.items, imported.problems) == (2, [1, 2], [])
    ((person, source, text),) = of(store, 1)
    assert (person, source) == (None, "Label Studio: ann@example.org")
    assert sorted(text.splitlines()) == sorted(OF_LABEL_STUDIO.splitlines())
    assert of(store, 2) == [(None, "Label Studio: 7", "verdict: YES")]
    (thread,) = store.comments.of_item(1, "CO").threads
    assert thread.comments[0].at == datetime(2026, 11, 20, 9, 30, 0, 654000, tzinfo=UTC)
    if name == "label_studio.json":
        assert text == OF_LABEL_STUDIO  # in the order of the tool
        assert imported.left_out == {"cancelled": 1, "draft": 1, "prediction": 1}
    for other in FORMS:
        again = read(store, here(store, other, tmp_path))
        assert (again.added, again.known) == (0, 2), other


def test_what_is_neither_text_nor_choice_is_counted_and_left_out(store: Store, tmp_path: Path) -> None:
    box = {"from_name": "box", "type": "rectanglelabels", "value": {"x": 1, "y": 2, "rectanglelabels": ["line"]}}
    relation = {"from_id": "a", "to_id": "b", "type": "relation", "direction": "right"}
    rows = [a_task(1, result=[box, relation]), a_task(2, result=[])]
    imported = read(store, written(tmp_path, rows))
    assert (imported.added, imported.left_out, imported.problems) == (0, {"other kind": 2, "empty": 1}, [])


def test_only_the_questions_that_are_asked_for_are_imported(store: Store, tmp_path: Path) -> None:
    for name in ("label_studio.json", "label_studio.csv"):
        imported = read(store, here(store, name, tmp_path), questions=("quality", "z"))
        assert imported.left_out["empty"] >= 1
    assert of(store, 1) == [(None, "Label Studio: ann@example.org", "quality: 4\nz: 0.0121")]
    assert of(store, 2) == []


# ---- another program


def test_records_of_argilla_are_imported_through_the_code_of_the_docs(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(store, "argilla_flat.json", tmp_path).rename(tmp_path / "records.json")
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[3] / "docs" / "formats.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"become such a file by\n\n```python\n(.*?)```", page, re.DOTALL)
    exec(compile(code, "docs/formats.md", "exec"), {})
    assert read(store, tmp_path / "annotations.json").problems == []
    text = "verdict: NO\nfaults: wrong line, no data\nwhy: The line is a sky line.\n  Second line"
    assert of(store, 1) == [(None, f"Label Studio: {ANN}", text)]
    assert of(store, 2) == []  # discarded


# ---- again


def test_importing_again_adds_nothing_and_a_changed_annotation_adds_a_comment(store: Store, tmp_path: Path) -> None:
    assert read(store, written(tmp_path, [a_task()])).added == 1
    head = store.log.head()
    again = read(store, written(tmp_path, [a_task()]))
    assert (again.added, again.known, store.log.head()) == (0, 1, head)
    yes = {"from_name": "verdict", "type": "choices", "value": {"choices": ["YES"]}}
    assert read(store, written(tmp_path, [a_task(result=[yes])])).added == 1
    assert [text for _, _, text in of(store, 1)] == ["verdict: NO", "verdict: YES"]
    assert store.upkeep.verify() == []


def test_an_import_in_several_transactions_adds_each_once(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "PART", 2)
    rows = [{**a_task(1 + number % 4), "id": number} for number in range(7)]
    assert read(store, written(tmp_path, rows)).added == 7
    assert sum(len(of(store, item)) for item in range(1, 5)) == 7
    entries = [entry for entry in store.log.entries() if entry.what == "comments imported"]
    assert [entry.details["count"] for entry in entries] == [2, 2, 2, 1]
    assert store.upkeep.verify() == []


# ---- people


def test_who_imports_is_in_the_log_and_unknown_or_inactive_people_are_refused(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, [a_task()])
    store.accounts.deactivate("CO", "RE")
    with pytest.raises(NotFound):
        read(store, path, people={"7": "ZZ"})
    with pytest.raises(NotAllowed):
        import_annotations(store, [path], Choices(), "RE")
    assert of(store, 1) == []
    assert import_annotations(store, [path], Choices(), "CO").added == 1
    assert [entry.person for entry in store.log.entries() if entry.what == "comments imported"] == ["CO"]


# ---- which item


@pytest.mark.parametrize(
    ("data", "item_field"),
    [
        ({"spec_o3_item": 3}, None),
        ({"item": "3"}, None),
        ({"item_id": 3, "name": "other.fits"}, None),
        ({"name": "spec-0003.fits"}, None),
        ({"spectrum": "spec-0003.fits", "task": "cv"}, None),
        ({"spec_o3_item": 1, "spec_o3_key": "KEY"}, None),
        ({"source": "3", "item": 1}, "source"),
        ({"source": "KEY", "item": 1}, "source"),
        ({"source": "spec-0003.fits", "item": 1}, "source"),
    ],
)
def test_the_item_is_found_by_what_the_task_has(
    store: Store, tmp_path: Path, data: dict[str, Any], item_field: str | None
) -> None:
    data = {name: store.items.get(3).key if value == "KEY" else value for name, value in data.items()}
    assert read(store, written(tmp_path, [{**a_task(), "data": data}]), item_field=item_field).items == [3]


def problem(store: Store, tmp_path: Path, task: dict[str, Any], **choices: Any) -> str:
    """The message of the only problem, after which nothing was written."""
    head = store.log.head()
    imported = read(store, written(tmp_path, [a_task(2), task]), **choices)
    assert imported.refused
    assert store.log.head() == head
    return str(imported.problems[-1])


def test_each_problem_names_file_place_found_and_expected(store: Store, tmp_path: Path) -> None:
    def message(data: dict[str, Any], **change: Any) -> str:
        return problem(store, tmp_path, {**a_task(**change), "data": data})

    where = "rows.json: task 12, annotation 3: "
    assert message({"item": 99}) == f"{where}found item 99, expected an item of this database"
    assert message({"spec_o3_key": "0" * 64}).startswith(f"{where}found the key 0000000000000000…, which no item here")
    assert message({"text": "x"}).startswith(f"{where}found no item, expected one of the fields spec_o3_item, item,")
    assert message({"name": "gone.fits"}) == (
        f"{where}found the spectrum 'gone.fits', expected one of an item of this database"
    )
    assert message({"item": 1}, updated_at="yesterday") == (
        f"{where}updated_at: found 'yesterday', expected a time such as 2026-11-21T12:00:00Z"
    )
    assert message({"item": 1}, result=None) == f"{where}result: found None, expected a list of results"
    long = {"from_name": "why", "type": "textarea", "value": {"text": ["x" * 20_001]}}
    assert "characters, expected 20000 at most" in message({"item": 1}, result=[long])
    other = problem(store, tmp_path, a_task(), item_field="obsid")
    assert other == f"{where}obsid: found None, expected the number, key or spectrum of an item"


@pytest.mark.parametrize(
    ("place", "order", "answer"),
    [
        ({"start": 10, "end": 20}, 1, ["this bit", "and this"]),
        ({"start": 10, "end": 20}, -1, "this bit, and this"),
        (
            {"start": "/p[1]/text()[1]", "end": "/p[1]/text()[1]", "startOffset": 3, "endOffset": 9},
            1,
            ["this bit, and this"],
        ),
        ({"start": "0", "end": "0", "startOffset": 1, "endOffset": 4}, -1, ["this bit", "and this"]),
    ],
)
def test_the_text_of_a_region_is_imported_with_the_words_of_the_region(
    store: Store, tmp_path: Path, place: dict[str, Any], order: int, answer: object
) -> None:
    values: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("label", "labels", {"text": "broad Hα", "labels": ["bad"]}),
        ("comment", "textarea", {"text": answer}),
        ("sure", "choices", {"choices": ["no"]}),
    )
    results = [{"id": "r", "from_name": name, "type": kind, "value": place | value} for name, kind, value in values]
    row = {"id": 5, "annotation_id": 7, "annotator": 1, "item": 2, "updated_at": "2026-11-21T12:00:00Z"}
    minimal = row | {name: [place | value] for name, _, value in values}
    assert read(store, written(tmp_path, [a_task(1, result=results[::order])])).added == 1
    assert read(store, written(tmp_path, [minimal])).added == 1
    for line in ("label: bad (“broad Hα”)", "comment: this bit, and this (“broad Hα”)", "sure: no (“broad Hα”)"):
        assert line in of(store, 1)[0][2]
        # In a minimal file a text of its own is a list; a string is the words of the region.
        assert line in of(store, 2)[0][2] or (isinstance(answer, str) and line.startswith("comment"))


def test_regions_of_one_paragraph_differ_by_their_offsets(store: Store, tmp_path: Path) -> None:
    first, second = ({"start": "/p[1]", "end": "/p[1]", "startOffset": n, "endOffset": n + 3} for n in (1, 9))
    values = (
        ("labels", first | {"text": "broad Hα", "labels": ["bad"]}),
        ("labels", second | {"text": "sky", "labels": ["bad"]}),
    )
    results = [
        {"from_name": kind, "type": kind, "value": value}
        for kind, value in (*values, ("textarea", second | {"text": ["why"]}))
    ]
    assert read(store, written(tmp_path, [a_task(1, result=results)])).added == 1
    assert "textarea: why (“sky”)" in of(store, 1)[0][2]


def test_a_spectrum_that_several_items_have_names_them(store: Store, tmp_path: Path) -> None:
    again = replace(store.items.get(3).version.trajectory, task="cc")
    store.items.add(again, again.spectrum_sha256)
    named = {"name": "spec-0003.fits"}
    assert "which several items have (#3, #5)" in problem(store, tmp_path, {**a_task(), "data": named})
    rows = [{**a_task(), "data": named | {"task": "cc"}}]
    assert read(store, written(tmp_path, rows)).items == [5]


def test_the_rest_is_imported_if_problems_are_skipped(store: Store, tmp_path: Path) -> None:
    imported = read(store, written(tmp_path, [a_task(99), a_task(1), {"text": "x"}]), skip_bad=True)
    assert (imported.added, imported.refused, len(imported.problems)) == (1, False, 2)
    assert str(imported.problems[1]) == "rows.json: row 3: found no task of Label Studio"
    assert len(of(store, 1)) == 1


@pytest.mark.parametrize("indent", [None, 2])
def test_one_task_alone_and_tasks_on_lines_are_read(store: Store, tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(a_task(1), indent=indent) + "\n", encoding="utf-8-sig")
    assert read(store, path).items == [1]
    path.write_text("\n" + "\r\n\r\n".join(json.dumps(a_task(n)) for n in (1, 2, 3)))
    assert read(store, path).items == [2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1}\n{"id":', "found text that is no JSON and no table"),
        ("", "found no annotations, expected an export of Label Studio"),
        ('[{"text": "x"}]', "found no annotations, expected an export of Label Studio"),
        ("wavelength,flux\n1,2\n", "found no annotations, expected an export of Label Studio"),
        ("[" * 100_000, "found text that is no JSON and no table"),
        ("\x89PNG\xff", "found text that is no JSON and no table"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_line(store: Store, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(AnnotationsError, match=message) as refused:
        read(store, path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_hostile_text_is_imported_as_text(store: Store, tmp_path: Path) -> None:
    evil = {"from_name": "why", "type": "textarea", "value": {"text": ["<script>\ud800\0</script>\n\nverdict: YES"]}}
    assert read(store, written(tmp_path, [a_task(result=[evil])])).added == 1
    assert of(store, 1)[0][2] == "why: <script>?</script>\n  \n  verdict: YES"


# ---- tasks


def test_tasks_of_label_studio_find_back_to_their_items(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    batch = QueueFilter(batch="november")
    assert write_tasks(store, path, batch, tasks=tasks.load(), address="http://desk:7860/").written == 4
    rows = json.loads(path.read_text(encoding="utf-8"))
    data = rows[1]["data"]
    assert (data["spec_o3_item"], data["name"], data["task"]) == (2, "spec-0002.fits", "cv")
    assert (data["link"], data["question"]) == ("http://desk:7860/#item=2", tasks.load()["cv"].question)
    assert data["trace"].startswith("1. Think: Hα looks broad.\n\n2. Zoom: 6500 – 6600 Å, observed, “Hα”\n")
    assert data["trace"].endswith("4. Answer: YES. Broad Balmer emission.")
    annotated = [{**a_task(), "id": 500 + n, "data": row["data"]} for n, row in enumerate(rows)]
    assert read(store, written(tmp_path, annotated)).items == [1, 2, 3, 4]


def test_tasks_leave_out_what_people_must_judge_without_help(tmp_path: Path) -> None:
    with a_store(tmp_path / "annotations.db") as store:
        opened(store, items=(6, 7), each=3)
        all_items = store.queue.page(QueueFilter(), "").total
        counts = write_tasks(store, tmp_path / "a.json", QueueFilter(), tasks={})
        assert counts.blind > 0
        assert counts.written + counts.blind == all_items
        assert '"spec_o3_item": 6,' not in (tmp_path / "a.json").read_text(encoding="utf-8")
        batch = store.items.get(1).row.batch
        store.settings.set("CO", RULE, [batch])
        counts = write_tasks(
            store, tmp_path / "b.json", QueueFilter(), tasks={}, verdict_first=store.settings.get(RULE)
        )
        assert counts.verdict_first > 0
        with pytest.raises(FileExistsError):
            write_tasks(store, tmp_path / "b.json", QueueFilter(), tasks={})


# ---- the command


def test_the_command_writes_tasks_and_imports_annotations(store: Store, tmp_path: Path) -> None:
    exported = cli.run("annotations", "tasks", "--out", tmp_path / "tasks.json", "--db", store.path, "--json")
    assert json.loads(exported.stdout)["written"] == 4
    again = cli.run("annotations", "tasks", "--out", tmp_path / "tasks.json", "--db", store.path)
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    file = here(store, "label_studio.json", tmp_path)
    options = ("--author", "ann@example.org=au", "--db", store.path)
    head = store.log.head()
    dry = cli.run("annotations", "import", file, "--dry-run", *options)
    assert store.log.head() == head
    assert dry.stdout.splitlines() == [
        "2 comments would be added.",
        "1 left out: skipped by its author.",
        "1 left out: a draft that was not submitted.",
        "1 left out: a prediction of a model.",
    ]
    done = cli.run("annotations", "import", file, "--json", *options)
    assert done.returncode == 0
    assert json.loads(done.stdout)["items"] == [1, 2]
    assert of(store, 1)[0][:2] == ("AU", "Label Studio: ann@example.org")
    bad = cli.run("annotations", "import", written(tmp_path, [a_task(99)]), "--db", store.path)
    assert bad.returncode == 1
    assert bad.stdout.splitlines() == [
        "Nothing was imported: 1 annotation cannot be used.",
        "Correct the file, or leave such annotations out with --skip-bad.",
        "rows.json: task 12, annotation 3: found item 99, expected an item of this database",
    ]
    wrong = cli.run("annotations", "import", file, "--author", "ann", "--db", store.path)
    assert "found 'ann', expected AUTHOR=INITIALS" in wrong.stderr
