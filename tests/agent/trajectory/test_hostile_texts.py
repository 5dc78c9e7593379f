"""Hostile text in every text field: it comes out of the store, an export, an archive and every page as it
went in, or it is refused in a sentence and nothing of it is kept.
"""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import app
from agent.batch import candidates
from agent.batch.candidates import Candidate
from agent.cli.command import CannotRun
from agent.spectrum import Spectrum
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Think
from reviewer.backup.archive import write_archive
from reviewer.backup.restore import restore
from reviewer.blind import report
from reviewer.exchange.exports import export
from reviewer.exchange.imports import import_file, own_row
from reviewer.store import Draft, Store
from tests.soak.trying import check_sentence
from tests.support.blind_campaign import a_store as a_blind_store
from tests.support.blind_campaign import key, opened, tokens
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, approve
from tests.support.hostile_texts import HALF, HOSTILE, NUL
from tests.support.kept_campaign import contents

TEXTS = {**HOSTILE, "nul": NUL, "half": HALF}


def hostile(text: str, number: int) -> tuple[Trajectory, Spectrum]:
    """A trace and a spectrum with the text wherever text can be."""
    spectrum = replace(
        a_spectrum(f"{text}{number}", redshift=0.001 * number),
        survey=text,
        ids={"obsid": text, text or "id": text},
        meta={"object": text, text or "key": text},
    )
    trace = a_trace(spectrum)
    think, look, *rest = trace.steps
    looked = replace(look, arguments={**look.arguments, "label": text, f"more {text}": text}, observation=text)
    return (
        replace(
            trace,
            steps=(replace(think, text=text), looked, *rest[:-1], Answer("s6", "YES", text)),
            drafter=Drafter("model", f"drafter {text}", {"setting": text, f"key {text}": text}),
            faults=(text,),
        ),
        spectrum,
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, Trajectory]]:
    """A database with an approved item for each text, which is also every person's comment, reason and note;
    the traces that were taken in, by item. All but half a character can be held."""
    path = tmp_path_factory.mktemp("texts") / "annotations.db"
    taken: dict[int, Trajectory] = {}
    with a_store(path) as store:
        for number, (kind, text) in enumerate(TEXTS.items(), start=1):
            before = contents(path)
            try:
                trace, spectrum = hostile(text, number)
                (added,) = store.add_items([Draft(trace, spectrum, batch=text)])
            except UnicodeEncodeError:  # UTF-8 holds no half character; the page's routes refuse it before
                assert kind == "half"
                assert contents(path) == before
                continue
            taken[added.item_id] = trace
            _said_about(store, added.item_id, text)
    return path, taken


def _said_about(store: Store, item: int, text: str) -> None:
    version = store.item(item).version
    store.mark("AA", item, version.id, "s1", "not supported", key(), note=text)
    store.autosave("AA", item, version.id, {"steps": [], "comment": text})
    lease = store.lease("AA", item)
    store.decide("AA", item, version.id, "keep", key(), lease.token, comment=text)
    changed = version.trajectory.with_steps((Think("s1", f"{text}."), *version.trajectory.steps[1:]))
    lease = store.lease("BB", item)
    store.save_version("BB", item, version.id, changed, text or "why", key(), lease.token)


def test_what_was_taken_in_is_as_it_was(kept: tuple[Path, dict[int, Trajectory]]) -> None:
    path, taken = kept
    assert len(taken) == len(TEXTS) - 1
    with Store.open(path) as store:
        for item, trace in taken.items():
            (first, last) = store.versions(item)
            assert first.trajectory == trace
            assert last.reason == trace.faults[0]
            spectrum = store.spectrum(trace.spectrum_sha256 or "")
            assert spectrum.survey == trace.faults[0]
            assert dict(spectrum.ids)["obsid"] == trace.faults[0]
            assert store.marks(item)[0].note == trace.faults[0].strip()
            assert [one.decision.comment for one in store.history(item)] == [trace.faults[0].strip()]
        assert store.verify() == []


def test_a_plain_archive_gives_every_text_back(kept: tuple[Path, dict[int, Trajectory]], tmp_path: Path) -> None:
    path, _ = kept
    with Store.open(path) as store:
        write_archive(store, tmp_path / "plain")
    restore(tmp_path / "plain", tmp_path / "annotations.db")
    found, wanted = contents(tmp_path / "annotations.db"), contents(path)
    assert len(found["log"]) == len(wanted["log"]) + 1, "the restore itself is in the log"
    found.pop("log")
    wanted.pop("log")
    assert found == wanted
    assert sorted(one.name for one in tmp_path.iterdir()) == ["annotations.db", "plain"]


def test_rows_come_in_as_they_went_out(kept: tuple[Path, dict[int, Trajectory]], tmp_path: Path) -> None:
    path, taken = kept
    with Store.open(path) as store:
        rows = [own_row(trace, store.spectrum(trace.spectrum_sha256 or "")) for trace in taken.values()]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with Store.open(tmp_path / "annotations.db") as store:
        found = import_file(store, tmp_path / "rows.jsonl")
        assert found.problems == ()
        assert [store.item(item).version.trajectory for item in found.added] == list(taken.values())


@pytest.mark.parametrize("text", [HALF, NUL], ids=["half", "nul"])
def test_rows_that_cannot_be_kept_are_refused_and_leave_nothing(text: str, tmp_path: Path) -> None:
    row = json.dumps(own_row(a_trace(a_spectrum()), a_spectrum()))
    for field in ("Look at Hα first.", "broad Hα", "baseline, no model", "a.fits", "LAMOST"):
        quoted = json.dumps(field)[1:-1]
        assert quoted in row
        (tmp_path / "rows.jsonl").write_text(row.replace(quoted, json.dumps(text)[1:-1]) + "\n", "utf-8")
        with Store.open(tmp_path / "annotations.db") as store:
            found = import_file(store, tmp_path / "rows.jsonl")
            for problem in found.problems:
                check_sentence(str(problem))
            assert bool(found.added) != bool(found.problems)
            for item in found.added:
                json.dumps(store.item(item).version.trajectory.to_json(), ensure_ascii=False).encode()
            assert store.verify() == []
        (tmp_path / "annotations.db").unlink()


def test_an_export_of_hostile_texts_comes_in_again(tmp_path: Path) -> None:
    traces = {}
    with a_store(tmp_path / "annotations.db") as store:
        for number, text in enumerate(HOSTILE.values(), start=1):
            spectrum = a_spectrum(f"{number}.fits", redshift=0.001 * number)
            plain = a_trace(spectrum)
            thought = replace(plain.steps[2], text=f"a {text} b")
            trace = replace(plain, steps=(*plain.steps[:2], thought, *plain.steps[3:]))
            (added,) = store.add_items([Draft(trace, spectrum, batch=text)])
            approve(store, added.item_id)
            traces[trace.spectrum_sha256] = trace
        made = export(store, "out", "AA", tmp_path / "exports")
        assert made.left_out == ()
    with Store.open(tmp_path / "again.db") as store:
        found = import_file(store, made.folder / "trajectories.jsonl")
        assert found.problems == ()
        assert len(found.added) == len(traces)
        for item in found.added:
            again = store.item(item).version.trajectory
            assert again.steps[1:] == traces[again.spectrum_sha256].steps[1:]


class Elements(HTMLParser):
    """The elements of a page with their attributes' names, and its words."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: set[tuple[str, tuple[str, ...]]] = set()
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add((tag, tuple(sorted(name for name, _ in attrs))))

    def handle_data(self, data: str) -> None:
        self.words += data


def a_report(folder: Path, text: str) -> str:
    folder.mkdir()
    with a_blind_store(folder / "annotations.db", spectra=2) as store:
        session = opened(store, name=text)
        for scorer in ("RE", "AU", "VO"):
            for number, token in enumerate(tokens(store, scorer)):
                store.score_blind(scorer, token, (1, 2, 3, 4, 5)[number % 5], 3, key(), comment=text)
        store.close_blind("CO", session.id, key())
        return report.as_html(store, "CO", session.id)


def test_a_report_holds_hostile_names_and_comments_as_words(tmp_path: Path) -> None:
    plain = Elements(a_report(tmp_path / "plain", "a session"))
    for number, kind in enumerate(("markup", "entity", "quotes", "template")):
        page = Elements(a_report(tmp_path / str(number), HOSTILE[kind]))
        assert page.found == plain.found
        assert HOSTILE[kind] in page.words


def test_a_votable_holds_hostile_texts_as_cells(tmp_path: Path) -> None:
    def row(text: str) -> Candidate:
        empty = dict.fromkeys(candidate.name for candidate in candidates.COLUMNS)
        names = dict.fromkeys(("reasons", "file", "target", "name", "survey", "explanation"), text)
        numbers = {"n": 1, "yes": 1, "no": 0, "none": 0, "looks": 1.0, "faults": 0}
        return Candidate(**(empty | names | numbers | {"verdict": "YES", "task": "cv"}))

    def written(*texts: str) -> ElementTree.ElementTree:
        candidates.write([row(text) for text in texts], tmp_path / "candidates.vot")
        return ElementTree.parse(tmp_path / "candidates.vot")

    def elements(tree: ElementTree.ElementTree) -> set[tuple[str, ...]]:
        return {(one.tag, *sorted(one.attrib)) for one in tree.iter()}

    tree = written(*TEXTS.values())
    assert elements(tree) == elements(written("a name"))
    cells = [one.text or "" for one in tree.iter() if one.tag.endswith("}TD")]
    assert len(cells) == len(TEXTS) * len(candidates.COLUMNS)
    for text in TEXTS.values():
        assert cells.count(text) == 6 or not text.isprintable()


@pytest.mark.parametrize("text", [*TEXTS.values()], ids=[*TEXTS])
def test_what_a_command_cannot_do_is_told_in_one_line(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(arguments: object) -> int:
        raise CannotRun(f"{text}: found no such file; wanted one")

    command = SimpleNamespace(name="refuses", help="refuses", add=lambda parser: None, run=refuse)
    monkeypatch.setattr(app, "COMMANDS", (command,))
    assert app.main(["refuses"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("spec-o3: ")
    assert told.count("\n") == 1
    check_sentence(told.removesuffix("\n").removeprefix("spec-o3: "))
    told.encode()
