"""Tag syntax, and hostile text in trajectories."""

from __future__ import annotations

import csv
import io
import json
import logging
import unicodedata
from dataclasses import replace
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
from agent.cli.command import CannotRun
from agent.spectrum import Spectrum, SpectrumError
from agent.tasks import TaskError
from agent.text import LONGEST, CsvTable, cell, is_formula, one_line
from agent.tool import TOOL_NAME
from agent.trajectory import Answer, Drafter, Think, Trajectory, TrajectoryError, Zoom, parse
from agent.trajectory.tags import RESERVED, Call, Reply, turn_text
from reviewer.backup.archive import write_archive
from reviewer.backup.restore import restore
from reviewer.blind import report
from reviewer.exchange.exports import export
from reviewer.exchange.imports import ImportFileError, import_file, own_row
from reviewer.store import Draft, NotFound, Store
from reviewer.web.log import OneLineFormatter
from tests.soak.trying import check_sentence
from tests.support.blind_campaign import a_store as a_blind_store
from tests.support.blind_campaign import key, opened, tokens
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, approve
from tests.support.kept_campaign import contents
from tests.support.strategies import HALF, HOSTILE, NUL, arguments, plain_words, verdicts
from training.data import DataError

CALL = '{"name": "spectral_visualization_tool", "arguments": {"label": "Hα", "wavelength_range": [6500, 6600]}}'
ARGUMENTS = {"label": "Hα", "wavelength_range": [6500, 6600]}


def test_a_zoom_is_written_in_the_published_form():
    steps = Think("s1", "Look."), Zoom("s2", ARGUMENTS)
    assert turn_text(steps) == f"<think>Look.</think>\n<tool_call>\n{CALL}\n</tool_call>"


def test_an_answer_is_written_in_the_published_form():
    steps = Think("s1", "Look."), Answer("s2", "YES", "broad Hα")
    assert turn_text(steps) == r"<think>Look.</think><answer>\boxed{YES} broad Hα</answer>"


def test_think_steps_of_one_turn_are_joined_by_a_blank_line():
    steps = Think("s1", "One."), Think("s2", "Two."), Answer("s3", "NO")
    assert turn_text(steps) == "<think>One.\n\nTwo.</think><answer>\\boxed{NO}</answer>"


@given(plain_words, arguments)
def test_a_written_zoom_is_read_back_without_fault(thought, asked):
    turn = parse(turn_text((Think("s1", thought), Zoom("s2", asked))))
    assert (turn.thought, turn.call, turn.answer) == (thought, Call(TOOL_NAME, asked), None)
    assert turn.faults == ()


@given(plain_words, verdicts, plain_words | st.just(""))
def test_a_written_answer_is_read_back(thought, verdict, explanation):
    turn = parse(turn_text((Think("s1", thought), Answer("s2", verdict, explanation))))
    assert (turn.thought, turn.answer) == (thought, Reply(verdict, explanation))
    assert bool(turn.faults) == (verdict is None)


@given(st.text())
def test_no_text_is_too_odd_to_be_read(text):
    turn = parse(text)
    assert not set(turn.thought) & set("\0\x01\x03\x1b")


@given(
    st.lists(
        st.sampled_from([*RESERVED[:6], CALL, "a", "{", "YES", r"\boxed{NO}", "<|im_end|>"]),
        max_size=12,
    )
)
def test_no_order_of_tags_is_too_odd_to_be_read(pieces):
    parse("".join(pieces))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"<think>a</think><tool_call>{CALL}", "<tool_call> not closed"),
        (f"<think>a<tool_call>{CALL}</tool_call>", "<think> not closed"),
        (f"a</think><tool_call>{CALL}</tool_call>", "</think> without <think>"),
        (f"a <tool_call>{CALL}</tool_call>", "no <think> tags"),
        (f"<think>a</think>{CALL}", "no <tool_call> tags"),
        (f"<think>a</think><tool_call>```json\n{CALL}\n```</tool_call>", None),
        (f"<think>a</think><tool_call>{CALL}</tool_call>" * 2, "2 tool calls in one turn"),
        (f"<think>a</think><tool_call>{CALL[:-1]}</tool_call>", "broken JSON in a tool call"),
        (f"<think>a</think><tool_call>{CALL.replace(chr(34), chr(39))}</tool_call>", None),
        (f"<think>a</think><tool_call>{json.dumps(ARGUMENTS)}</tool_call>", "a tool call without arguments"),
        (f"<think>a</think><tool_call>{CALL}</tool_call><answer>NO</answer>", "a tool call and an answer"),
    ],
)
def test_a_call_is_found_in_a_damaged_turn_and_the_damage_listed(text, fault):
    turn = parse(text)
    assert turn.thought.startswith("a")
    assert turn.call is not None
    assert turn.call.arguments == ARGUMENTS
    assert fault is None or any(found.startswith(fault) for found in turn.faults)


@pytest.mark.parametrize(
    ("answer", "verdict", "explanation"),
    [
        (r"\boxed{yes} ok", "YES", "ok"),
        (r"The box \boxed{ NO } says", "NO", "The box says"),
        (r"\boxed{\text{NO}}", "NO", ""),
        (r"\boxed{maybe} hm", None, "hm"),
        ("No, it is not.", "NO", "No, it is not."),
        ("no, not yes", None, "no, not yes"),
        ("\x08oxed{YES} ok", "YES", "ok"),
    ],
)
def test_the_verdict_is_read_where_there_can_be_but_one(answer, verdict, explanation):
    assert parse(f"<think>a</think><answer>{answer}</answer>").answer == Reply(verdict, explanation)


def test_of_two_answers_the_last_is_taken_as_the_reward_does():
    turn = parse(r"<think>a</think><answer>\boxed{NO}</answer><answer>\boxed{YES}</answer>")
    assert turn.answer == Reply("YES", "")
    assert "2 answers in one turn: the last was taken" in turn.faults


def test_a_box_without_tags_is_an_answer():
    turn = parse(r"It has no lines. \boxed{NO}")
    assert turn.answer == Reply("NO", "It has no lines.")
    assert "no <answer> tags" in turn.faults


def test_numbers_json_does_not_have_become_text():
    text = CALL.replace("6600", "NaN").replace("6500", "1e999")
    turn = parse(f"<tool_call>{text}</tool_call>")
    assert turn.call is not None
    assert turn.call.arguments["wavelength_range"] == ["1e999", "NaN"]


def test_a_call_that_cannot_be_read_is_a_fault_and_no_call():
    turn = parse("<think>a</think><tool_call>zoom please</tool_call>")
    assert turn.call is None
    assert turn.faults == ("a tool call that cannot be read: 'zoom please'",)


def test_another_tool_s_name_is_kept_and_listed():
    turn = parse('<think>a</think><tool_call>{"name": "crop", "arguments": {}}</tool_call>')
    assert turn.call == Call("crop", {})
    assert turn.faults == ("a call of 'crop'",)


@pytest.mark.parametrize(
    ("damaged", "whole"),
    [
        ("H\x03b1 and \x03bb 6563 \x00c5", "Hα and λ 6563 Å"),
        ("H\x01, H\x02 and H\x031", "Hα, Hβ and Hα"),
        ("the C\x0082 Swan bands, C\x08", "the C₂ Swan bands, C₂"),
        ("FWHM \x02248 30 \x00c5", "FWHM ≈ 30 Å"),
        ("6500\x136600 \x005", "6500–6600 Å"),
        ("5 \x00b1 2", "5 ± 2"),
        ("\x1cchopped up\x1d", "“chopped up”"),
        ("\x1b[0;31mred", "red"),
    ],
)
def test_characters_that_were_lost_are_put_back_where_there_is_no_doubt(damaged, whole):
    turn = parse(f"<think>{damaged}</think>")
    assert turn.thought == whole
    assert len(turn.faults) == 1
    assert turn.faults[0].endswith("repaired")


def test_characters_that_may_have_been_several_are_shown_as_lost_and_listed():
    turn = parse("<think>We look at the H\x03b profile again.</think>")
    assert turn.thought == "We look at the H\ufffdb profile again."
    assert turn.faults == ("U+0003 could not be repaired, in 'ook at the H\ufffdb profile ag'",)


ANY_TEXT = st.text(st.characters(categories=None), max_size=700)  # half characters too


@given(ANY_TEXT)
def test_a_message_is_one_line_of_visible_characters(text: str) -> None:
    line = one_line(text)
    assert len(line) <= LONGEST
    assert line.splitlines() in ([line], [])
    assert not [c for c in line if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set(line) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\ufeff")
    line.encode()


def test_what_is_too_long_keeps_its_beginning_and_its_end() -> None:
    line = one_line("file.fits: " + "x" * 10**6 + "; expected a spectrum")
    assert line.startswith("file.fits: ")
    assert line.endswith("; expected a spectrum")


@pytest.mark.parametrize("text", [*HOSTILE.values(), HALF, NUL], ids=[*HOSTILE, "half", "nul"])
def test_exceptions_that_quote_what_came_from_outside_say_one_line(text: str) -> None:
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


@given(st.floats(allow_nan=False) | st.integers(-(10**20), 10**20))
def test_a_number_stays_a_number(number: float) -> None:
    assert type(number)(cell(number)) == number


def test_nothing_is_nothing_and_words_are_left_alone() -> None:
    assert [cell(value) for value in (None, "a - b", "Hα", True)] == ["", "a - b", "Hα", "True"]


@pytest.mark.parametrize("text", [*HOSTILE.values(), HALF, NUL], ids=[*HOSTILE, "half", "nul"])
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
                (added,) = store.items.add_all([Draft(trace, spectrum, batch=text)])
            except UnicodeEncodeError:  # UTF-8 holds no half character; the page's routes refuse it before
                assert kind == "half"
                assert contents(path) == before
                continue
            taken[added.item_id] = trace
            _said_about(store, added.item_id, text)
    return path, taken


def _said_about(store: Store, item: int, text: str) -> None:
    version = store.items.get(item).version
    store.marks.add(
        person="AA", item_id=item, version_id=version.id, step_id="s1", mark="not supported", key=key(), note=text
    )
    store.leases.autosave(person="AA", item_id=item, base_version_id=version.id, body={"steps": [], "comment": text})
    lease = store.leases.take("AA", item)
    store.reviews.decide(
        person="AA", item_id=item, version_id=version.id, verb="keep", key=key(), lease_token=lease.token, comment=text
    )
    changed = version.trajectory.with_steps((Think("s1", f"{text}."), *version.trajectory.steps[1:]))
    lease = store.leases.take("BB", item)
    store.reviews.save_version(
        person="BB",
        item_id=item,
        base_version_id=version.id,
        trajectory=changed,
        reason=text or "why",
        key=key(),
        lease_token=lease.token,
    )


def test_what_was_taken_in_is_as_it_was(kept: tuple[Path, dict[int, Trajectory]]) -> None:
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
            assert [one.decision.comment for one in store.items.history(item)] == [trace.faults[0].strip()]
        assert store.upkeep.verify() == []


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
        rows = [own_row(trace, store.spectra.get(trace.spectrum_sha256 or "")) for trace in taken.values()]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with Store.open(tmp_path / "annotations.db") as store:
        found = import_file(store, tmp_path / "rows.jsonl")
        assert found.problems == ()
        assert [store.items.get(item).version.trajectory for item in found.added] == list(taken.values())


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
                json.dumps(store.items.get(item).version.trajectory.to_json(), ensure_ascii=False).encode()
            assert store.upkeep.verify() == []
        (tmp_path / "annotations.db").unlink()


def test_an_export_of_hostile_texts_comes_in_again(tmp_path: Path) -> None:
    traces = {}
    with a_store(tmp_path / "annotations.db") as store:
        for number, text in enumerate(HOSTILE.values(), start=1):
            spectrum = a_spectrum(f"{number}.fits", redshift=0.001 * number)
            plain = a_trace(spectrum)
            thought = replace(plain.steps[2], text=f"a {text} b")
            trace = replace(plain, steps=(*plain.steps[:2], thought, *plain.steps[3:]))
            (added,) = store.items.add_all([Draft(trace, spectrum, batch=text)])
            approve(store, added.item_id)
            traces[trace.spectrum_sha256] = trace
        made = export(store, "out", "AA", tmp_path / "exports")
        assert made.left_out == ()
    with Store.open(tmp_path / "again.db") as store:
        found = import_file(store, made.folder / "trajectories.jsonl")
        assert found.problems == ()
        assert len(found.added) == len(traces)
        for item in found.added:
            again = store.items.get(item).version.trajectory
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
                store.blind.scoring.score(
                    person=scorer,
                    token=token,
                    coherence=(1, 2, 3, 4, 5)[number % 5],
                    consistency=3,
                    key=key(),
                    comment=text,
                )
        store.blind.sessions.close("CO", session.id, key())
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
        candidates.write_table([row(text) for text in texts], tmp_path / "candidates.vot")
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
        raise CannotRun(f"{text}: found no such file; expected one")

    command = SimpleNamespace(name="refuses", help="refuses", add=lambda parser: None, run=refuse)
    monkeypatch.setattr(app, "COMMANDS", (command,))
    assert app.main(["refuses"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("spec-o3: ")
    assert told.count("\n") == 1
    check_sentence(told.removesuffix("\n").removeprefix("spec-o3: "))
    told.encode()
