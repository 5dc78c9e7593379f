"""A trace to take away: the sheet of its pictures, the Markdown report, and the zip of both."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent import plot, tool
from agent.batch.report import bundle, escaped, markdown, picture_names, quoted, strip
from agent.batch.report_sheet import pictures, shown
from agent.hints import hints
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.tasks import load
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Think, Zoom
from reviewer.exchange.imports import import_file, own_row
from reviewer.store import Store

SPECTRUM = simulate("cv", "LAMOST", 25.0, 1)
TASK = load()["cv"]
TRACE = run(SPECTRUM, TASK, Baseline())

NASTY = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![a](http://evil.example/p.png)",
    "[a](javascript:alert(1))",
    "[a]: http://evil.example",
    "<http://evil.example>",
    "http://evil.example and www.evil.example and a@evil.example",
    "# heading",
    "- list",
    "12. list",
    "> quote",
    "```\ncode",
    "    code",
    "---",
    "===",
    "a | b\n--- | ---",
    "&lt;b&gt; &#60;",
    "*a* _b_ ~~c~~ `d` $e$",
    "\\<b>",
    "a\x00b\x1b[31mc\u202ed",
)


def said(words: str, **more: str) -> Trajectory:
    """The trace with these words wherever somebody else's can stand."""
    steps = []
    for step in TRACE.steps:
        if isinstance(step, Think):
            steps.append(replace(step, text=words))
        elif isinstance(step, Zoom):
            steps.append(replace(step, arguments={**step.arguments, "label": words}))
        else:
            steps.append(replace(step, explanation=words))
    drafter = Drafter("model", words, {"note": words, "many": [words]})
    return replace(
        TRACE,
        steps=tuple(steps),
        drafter=drafter,
        prompt=words,
        task=words,
        faults=(words,),
        spectrum_name=words,
    )


def tokens(text: str) -> list[object]:
    """What a Markdown reader finds in the text: every token, those within lines too."""
    markdown_it = pytest.importorskip("markdown_it")
    reader = markdown_it.MarkdownIt("gfm-like", {"linkify": False})
    found = []
    for token in reader.parse(text):
        found += [token, *(token.children or ())]
    return found


def plain(text: str) -> str:
    """The words that somebody sees."""
    return "".join(t.content if t.type == "text" else "\n" if "break" in t.type else "" for t in tokens(text))


def test_every_picture_is_on_the_sheet_pixel_for_pixel():
    sheet = strip(TRACE, SPECTRUM)
    drawn = tool.overview(SPECTRUM).convert("RGB")
    top = next(y for y in range(sheet.height) if sheet.crop((24, y, 24 + drawn.width, y + drawn.height)) == drawn)
    assert top > 0
    assert sheet.getpixel((0, 0)) == (255, 255, 255)
    assert sheet.width <= 2480


def test_the_sheet_from_pictures_at_hand_is_the_one_drawn_again():
    drawn = pictures(TRACE, SPECTRUM)
    packed = {}
    for sha256, image in drawn.items():
        buffer = io.BytesIO()
        image.save(buffer, format="PNG")
        packed[sha256] = buffer.getvalue()
    assert strip(TRACE, SPECTRUM, packed).tobytes() == strip(TRACE, SPECTRUM).tobytes()


def test_a_picture_that_comes_out_differently_is_left_out_not_shown_wrongly():
    other = replace(TRACE, overview="0" * 64)
    assert set(pictures(other, SPECTRUM)) == set(pictures(TRACE, SPECTRUM)) - {TRACE.overview}
    assert strip(other, SPECTRUM).height <= strip(TRACE, SPECTRUM).height


def test_pictures_are_numbered_in_reading_order_and_one_seen_twice_has_one_name():
    assert [one.number for one in shown(TRACE)] == list(range(1, len(TRACE.zooms) + 2))
    twice = TRACE.with_steps((*TRACE.steps[:2], *TRACE.steps))
    names = picture_names(twice)
    assert names[TRACE.overview] == "pictures/01-full.png"
    assert len(names) == len(picture_names(TRACE))


def test_the_report_says_whose_it_is_and_what_the_object_is():
    found = {zoom.id: hints(SPECTRUM, zoom, TASK) for zoom in TRACE.zooms}
    text = markdown(TRACE, SPECTRUM, found, picture_names(TRACE))
    words = plain(text)
    assert "Simulated spectrum" in words
    assert "no model" in words
    assert f"{SPECTRUM.wavelength[0]:.1f}" in words
    assert SPECTRUM.sha256 in words
    assert plot.RENDERER in words
    for step in TRACE.steps:
        if isinstance(step, Think):
            assert all(line.strip() in words for line in step.text.split("\n"))
    for several in found.values():
        for hint in several:
            assert hint.text in words
    assert [t.attrs["src"] for t in tokens(text) if t.type == "image"] == list(picture_names(TRACE).values())


def test_a_trace_without_an_answer_or_a_picture_is_reported_too():
    bare = replace(TRACE, steps=(), overview=None, faults=("turn 1: nothing was written",), simulated=False)
    text = markdown(bare, replace(SPECTRUM, ra=None, dec=None, redshift=None))
    assert "none was given" in text
    assert "nothing was written" in text
    assert "Simulated" not in text
    assert strip(bare, SPECTRUM).size[0] == 800


def test_a_tool_that_refused_is_quoted():
    zoom = Zoom("s1", {"wavelength_range": [1, 2]}, observation="Error: <outside>", ok=False)
    text = plain(markdown(TRACE.with_steps((zoom, Answer("s2", None, "x"))), SPECTRUM))
    assert "The tool answered: Error: <outside>" in text
    assert "neither YES nor NO" in text


@pytest.mark.parametrize("words", NASTY)
def test_words_of_others_are_words_in_the_report_and_nothing_else(words):
    harmless = {token.type for token in tokens(markdown(said("plain words"), SPECTRUM))}
    harmless |= {"softbreak", "hardbreak"}
    found = tokens(markdown(said(words), replace(SPECTRUM, name=words, survey=words, ids={words: words})))
    assert {token.type for token in found} <= harmless


VISIBLE = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]))


@given(VISIBLE)
def test_a_line_of_words_is_read_as_it_was_written(words):
    assert plain(escaped(words)) == re.sub(" +", " ", words).strip()


@given(st.lists(VISIBLE.map(str.strip).filter(bool), min_size=1))
def test_lines_of_words_are_read_as_they_were_written(lines):
    assert plain(quoted("\n".join(lines))) == "\n".join(lines)


def test_half_a_character_is_left_out():
    assert quoted("half \ud800") == "> half ?"


@given(st.text())
def test_no_words_make_markup(words):
    for text in (escaped(words), quoted(words)):
        types = {token.type for token in tokens(text)}
        assert types <= {
            *("inline", "text", "text_special", "softbreak", "hardbreak"),
            *("paragraph_open", "paragraph_close", "blockquote_open", "blockquote_close"),
        }
        text.encode()


@pytest.mark.parametrize("words", NASTY)
def test_a_label_of_any_kind_fits_on_the_sheet(words):
    sheet = strip(said(words * 50), replace(SPECTRUM, name=words * 50))
    assert sheet.width <= 2480


def test_the_zip_holds_all_and_its_trace_imports(tmp_path):
    found = {zoom.id: hints(SPECTRUM, zoom, TASK) for zoom in TRACE.zooms}
    content = bundle(TRACE, SPECTRUM, own_row(TRACE, SPECTRUM), found)
    packed = zipfile.ZipFile(io.BytesIO(content))
    assert packed.testzip() is None
    names = picture_names(TRACE)
    assert set(packed.namelist()) == {"report.md", "trace.json", *names.values()}
    for sha256, name in names.items():
        assert plot.pixels_sha256(Image.open(io.BytesIO(packed.read(name)))) == sha256
    assert Trajectory.from_json(json.loads(packed.read("trace.json"))) == TRACE
    packed.extract("trace.json", tmp_path)
    with Store.open(tmp_path / "annotations.db") as store:
        imported = import_file(store, tmp_path / "trace.json")
        assert (len(imported.added), imported.problems) == (1, ())
        assert store.item(imported.added[0]).version.trajectory == TRACE
