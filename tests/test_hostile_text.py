"""Hostile text through the whole product: messages, logs, tables, databases, archives and reports."""

from __future__ import annotations

import csv
import io
import json
import logging
import sys
import unicodedata
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from agent.batch import candidates
from agent.batch.candidates import Candidate
from agent.cli.command import CannotRun, Command
from agent.spectrum import Spectrum, SpectrumError
from agent.tables import CsvTable, cell, is_formula
from agent.tasks import TaskError
from agent.text import LONGEST, one_line, whole_number
from agent.trajectory import Answer, Drafter, Think, Trajectory, TrajectoryError, new_step_id
from reviewer.backup.archive import write_archive
from reviewer.backup.restore import restore
from reviewer.exchange import blind_report
from reviewer.exchange.exports import export
from reviewer.exchange.imports import ImportFileError, import_file, own_row
from reviewer.store import Draft, Head, NotFound, QueueFilter, Store
from reviewer.web.bodies import declared_length
from reviewer.web.log import OneLineFormatter
from tests.support.blind_campaign import a_store as a_blind_store
from tests.support.blind_campaign import key, opened, tokens
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved, decide, revise
from tests.support.inputs.refusals import check_sentence
from tests.support.kept_campaign import contents
from tests.support.strategies import HALF, HOSTILE, NUL
from training.data import DataError


@pytest.mark.parametrize("text", ["", "a\nb", "x" * 501, "\x1b[2J", "\u202e", f"{__file__}: no such file"])
def test_what_is_no_sentence_is_recognised(text: str) -> None:
    with pytest.raises(AssertionError):
        check_sentence(text)


ANY_TEXT = st.text(st.characters(categories=None), max_size=700)  # half characters too


@given(ANY_TEXT)
def test_a_message_is_one_line_of_visible_characters(text: str) -> None:
    line = one_line(text)
    assert len(line) <= LONGEST
    assert line.splitlines() in ([line], [])
    assert not [c for c in line if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set(line) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\ufeff")
    line.encode()


TEXTS = {**HOSTILE, "nul": NUL, "half": HALF}
every_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    line = one_line("file.fits: " + "x" * 10**6 + "; expected a spectrum")
    assert line.startswith("file.fits: ")
    assert line.endswith("; expected a spectrum")


@every_text
def test_exceptions_that_quote_outside_text_are_one_line(text: str) -> None:
    refusals = (
        *(SpectrumError(text, text, text), TaskError(text, text, text, text), TrajectoryError(text)),
        *(ImportFileError(text), NotFound(text), DataError(text)),
    )
    for refusal in refusals:
        assert str(refusal) == one_line(str(refusal))


@given(st.lists(ANY_TEXT, min_size=1, max_size=3))
def test_no_cell_of_a_table_is_a_formula_and_every_cell_reads_back(texts: list[str]) -> None:
    written = io.StringIO(newline="")
    CsvTable(written, ["a"] * len(texts)).row(texts)
    _, row = csv.reader(io.StringIO(written.getvalue(), newline=""))
    for text, read in zip(texts, row, strict=True):
        plain = text.replace("\0", "").encode("utf-8", "replace").decode()
        assert not is_formula(read)
        assert read in (plain, f"'{plain}")
        assert not read.startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("text", ["formula", "plus", "minus", "at", "tab", "full width"])
def test_a_text_that_a_spreadsheet_would_calculate_gets_an_apostrophe(text: str) -> None:
    assert cell(HOSTILE[text]) == f"'{HOSTILE[text]}"
    assert cell(f"  {HOSTILE[text].strip()}").startswith("'")


def test_none_is_an_empty_cell_and_plain_words_and_numbers_are_unchanged() -> None:
    assert [cell(value) for value in (None, "a - b", "Hα", True)] == ["", "a - b", "Hα", "True"]
    for number in (-1.5, 5e-324, -(10**20), 0, float("inf")):
        assert type(number)(cell(number)) == number


@every_text
def test_hostile_text_forges_no_entry_of_the_log(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError as error:
        about = (type(error), error, error.__traceback__)
    record = logging.LogRecord("spec_o3", logging.ERROR, "f", 1, "%s failed (%s)", (text, "ab12"), about)
    entry, *rest = OneLineFormatter().format(record).splitlines()
    assert "failed (ab12)" in entry or len(entry) >= 2_000 or "…" in entry
    assert rest
    assert all(line.startswith("    | ") for line in rest)
    assert "\x1b" not in OneLineFormatter().format(record)


def hostile(text: str, number: int) -> tuple[Trajectory, Spectrum]:
    """A trace and a spectrum with the text in every field that holds text."""
    spectrum = replace(
        a_spectrum(f"{text}{number}", redshift=0.001 * number),
        survey=text,
        ids={"obsid": text, text or "id": text},
        meta={"object": text, text or "key": text},
    )
    trace = a_trace(spectrum)
    think, zoom, *rest = trace.steps
    changed = replace(zoom, arguments={**zoom.arguments, "label": text, f"more {text}": text}, observation=text)
    return (
        replace(
            trace,
            steps=(replace(think, text=text), changed, *rest[:-1], Answer("s6", "YES", text)),
            drafter=Drafter("model", f"drafter {text}", {"setting": text, f"key {text}": text}),
            faults=(text,),
        ),
        spectrum,
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, Trajectory]]:
    """A database with one item per text, which is also each comment, reason and note; and the traces by item.

    Half a character cannot be stored and has no item.
    """
    path = tmp_path_factory.mktemp("texts") / "annotations.db"
    taken: dict[int, Trajectory] = {}
    with a_store(path) as store:
        for number, (kind, text) in enumerate(TEXTS.items(), start=1):
            before = contents(path)
            try:
                trace, spectrum = hostile(text, number)
                (added,) = store.items.add_all([Draft(trace, spectrum, batch=text)])
            except UnicodeEncodeError:  # not in UTF-8; the page's routes refuse it earlier
                assert kind == "half"
                assert contents(path) == before
                continue
            taken[added.item_id] = trace
            _write_everywhere(store, added.item_id, text)
    return path, taken


def _write_everywhere(store: Store, item: int, text: str) -> None:
    """Use the text as note, comment, step and reason on an item."""
    version = store.items.get(item).version.id
    given = {"person": "AA", "item_id": item, "version_id": version, "key": key()}
    store.marks.add(**given, step_id="s1", mark="not supported", note=text)
    body = {"steps": [], "comment": text}
    store.leases.autosave(person="AA", item_id=item, base_version_id=version, body=body)
    decide(store, "AA", item, "keep", comment=text)
    revise(store, "BB", item, f"{text}.", text or "why")


def test_texts_are_stored_unchanged(kept: tuple[Path, dict[int, Trajectory]]) -> None:
    path, taken = kept
    assert len(taken) == len(TEXTS) - 1
    with Store.open(path) as store:
        for item, trace in taken.items():
            (first, last) = store.items.versions(item)
            assert first.trajectory == trace
            assert last.reason == trace.faults[0]
            spectrum = store.spectra.get(trace.spectrum_sha256 or "")
            assert spectrum.survey == trace.faults[0]
            assert dict(spectrum.ids)["obsid"] == trace.faults[0]
            assert store.marks.of_item(item)[0].note == trace.faults[0].strip()
            assert [entry.decision.comment for entry in store.items.history(item)] == [trace.faults[0].strip()]
        assert store.upkeep.verify() == []


def test_a_plain_archive_gives_every_text_back(kept: tuple[Path, dict[int, Trajectory]], tmp_path: Path) -> None:
    path, _ = kept
    with Store.open(path) as store:
        write_archive(store, tmp_path / "plain")
    restore(tmp_path / "plain", tmp_path / "annotations.db")
    restored, expected = contents(tmp_path / "annotations.db"), contents(path)
    assert len(restored.pop("log")) == len(expected.pop("log")) + 1, "the restore itself is in the log"
    assert restored == expected
    assert sorted(file.name for file in tmp_path.iterdir()) == ["annotations.db", "plain"]


def test_exported_rows_are_imported_unchanged(kept: tuple[Path, dict[int, Trajectory]], tmp_path: Path) -> None:
    path, taken = kept
    with Store.open(path) as store:
        rows = [own_row(trace, store.spectra.get(trace.spectrum_sha256 or "")) for trace in taken.values()]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with Store.open(tmp_path / "annotations.db") as store:
        imported = import_file(store, tmp_path / "rows.jsonl")
        assert imported.problems == ()
        assert [store.items.get(item).version.trajectory for item in imported.added] == list(taken.values())


@pytest.mark.parametrize("text", [HALF, NUL], ids=["half", "nul"])
def test_rows_that_cannot_be_stored_are_refused_and_leave_nothing(text: str, tmp_path: Path) -> None:
    row = json.dumps(own_row(a_trace(a_spectrum()), a_spectrum()))
    for field in ("Look at Hα first.", "broad Hα", "baseline, no model", "a.fits", "LAMOST"):
        quoted = json.dumps(field)[1:-1]
        assert quoted in row
        (tmp_path / "rows.jsonl").write_text(row.replace(quoted, json.dumps(text)[1:-1]) + "\n", "utf-8")
        with Store.open(tmp_path / "annotations.db") as store:
            imported = import_file(store, tmp_path / "rows.jsonl")
            for problem in imported.problems:
                check_sentence(str(problem))
            assert bool(imported.added) != bool(imported.problems)
            for item in imported.added:
                json.dumps(store.items.get(item).version.trajectory.to_json(), ensure_ascii=False).encode()
            assert store.upkeep.verify() == []
        (tmp_path / "annotations.db").unlink()


def test_an_export_of_hostile_texts_can_be_imported_again(tmp_path: Path) -> None:
    text = "a " + " b ".join(HOSTILE.values())
    spectrum = a_spectrum()
    first, zoom, _, *rest = a_trace(spectrum).steps
    trace = a_trace(spectrum, steps=(first, zoom, Think("s3", text), *rest))
    with a_store(tmp_path / "annotations.db") as store:
        add_approved(store, (trace, spectrum))
        exported = export(store, "out", "AA", tmp_path / "exports")
        assert exported.left_out == ()
    with Store.open(tmp_path / "again.db") as store:
        (item,) = import_file(store, exported.folder / "trajectories.jsonl").added
        assert store.items.get(item).version.trajectory.steps[1:] == trace.steps[1:]


class Elements(HTMLParser):
    """The elements of a page with the names of their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[tuple[str, ...]] = set()
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add((tag, *sorted(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data


def a_report(folder: Path, text: str) -> str:
    folder.mkdir()
    with a_blind_store(folder / "annotations.db", spectra=2) as store:
        session = opened(store, name=text)
        for scorer in ("RE", "AU", "VO"):
            for number, token in enumerate(tokens(store, scorer)):
                given = {"coherence": (1, 2, 3, 4, 5)[number % 5], "consistency": 3, "comment": text}
                store.blind.scoring.score(person=scorer, token=token, key=key(), **given)
        store.blind.sessions.close("CO", session.id, key())
        return blind_report.as_html(store, "CO", session.id)


def test_a_report_holds_hostile_names_and_comments_as_text(tmp_path: Path) -> None:
    plain = Elements(a_report(tmp_path / "plain", "a session"))
    text = " ".join(HOSTILE[kind] for kind in ("markup", "entity", "quotes", "template"))
    page = Elements(a_report(tmp_path / "hostile", text))
    assert page.elements == plain.elements
    assert text in page.words


def test_a_votable_holds_hostile_texts_as_cells(tmp_path: Path) -> None:
    def row(text: str) -> Candidate:
        empty = dict.fromkeys(candidate.name for candidate in candidates.COLUMNS)
        names = dict.fromkeys(("reasons", "file", "target", "name", "survey", "medium", "explanation"), text)
        numbers = {"n": 1, "yes": 1, "no": 0, "none": 0, "zooms": 1.0, "faults": 0}
        return Candidate(**(empty | names | numbers | {"verdict": "YES", "task": "cv"}))

    def written(*texts: str) -> ElementTree.ElementTree:
        candidates.write_table([row(text) for text in texts], tmp_path / "candidates.vot")
        return ElementTree.parse(tmp_path / "candidates.vot")

    def elements(tree: ElementTree.ElementTree) -> set[tuple[str, ...]]:
        return {(element.tag, *sorted(element.attrib)) for element in tree.iter()}

    tree = written(*TEXTS.values())
    assert elements(tree) == elements(written("a name"))
    cells = [element.text or "" for element in tree.iter() if element.tag.endswith("}TD")]
    assert len(cells) == len(TEXTS) * len(candidates.COLUMNS)
    for text in TEXTS.values():
        assert cells.count(text) == 7 or not text.isprintable()


@every_text
def test_a_command_that_cannot_run_prints_one_line(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(arguments: object) -> int:
        raise CannotRun(f"{text}: found no such file; expected one")

    @dataclass
    class NoOptions:
        pass

    monkeypatch.setitem(sys.modules, "refuses", SimpleNamespace(Options=NoOptions, run=refuse))
    command = Command("refuses", "refuses", "refuses")
    monkeypatch.setattr(app, "COMMANDS", (command,))
    assert app.main(["refuses"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("spec-o3: ")
    assert printed.count("\n") == 1
    check_sentence(printed.removesuffix("\n").removeprefix("spec-o3: "))
    printed.encode()


@pytest.mark.parametrize("text", ["", "²", "٣", "-1", "+1", "1_0", "1.0", "9" * 19, "9" * 5000])
def test_text_that_is_no_number_is_read_as_none(text: str, tmp_path: Path) -> None:
    assert whole_number(text) is None
    assert declared_length({"content-length": text}) is None
    with pytest.raises(ValueError, match="NUMBER:HASH"):
        Head.parse(f"{text}:{'a' * 64}")
    assert new_step_id((Think(f"s{text}", "a"), Think("s3", "b"))) == "s4"
    with Store.open(tmp_path / "annotations.db") as store:
        assert store.queue.page(QueueFilter(text=f"#{text}"), "").rows == ()
