"""The gallery of failures: which are shown, and that the page shows words as words and needs nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.batch import run as batch
from tests.support.bench_outcomes import outcomes, under
from tests.support.bench_questions import Broken, Wayward, question
from training.bench import gallery, report
from training.bench.answers import Answers, Run
from training.bench.build.candidates import KINDS, chosen, kinds, totals
from training.bench.run import Asking, ask_all
from training.bench.table import Row, of_run
from training.data.records import Question

SETTINGS = {
    "name": "<b>wayward</b>",
    "stage": "",
    "policy": {"kind": "model", "name": "wayward"},
    "with_tool": True,
    "max_turns": 3,
}


class Page(HTMLParser):
    """What is in a page: tags with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_each_kind_of_failure_is_what_it_says() -> None:
    right, fp, fn, none = outcomes("+-+-", "++-?")
    assert kinds(right) == ()
    assert kinds(fp) == ("false positive",)
    assert kinds(fn) == ("false negative",)
    assert kinds(replace(none, format_ok=False)) == ("no answer", "bad form")
    assert kinds(replace(right, errors=2)) == ("tool error",)
    assert totals([right, fp, fn, none]) == {**dict.fromkeys(KINDS, 0), "false positive": 1} | {
        "false negative": 1,
        "no answer": 1,
    }


def test_the_best_spectra_come_first_and_tasks_take_turns() -> None:
    cv = [replace(one, snr=float(n)) for n, one in enumerate(outcomes("-----", "+++++"))]
    wd = under("wd", [replace(one, snr=100.0 + n) for n, one in enumerate(outcomes("---", "+++", "wd"))])
    shown = chosen([*cv, *wd, *under("x", outcomes("-", "+"))], 3)
    # Two of one task, one of the other: by signal-to-noise alone all three would be of wd.
    assert [(one.task, one.snr) for one in shown] == [("cv", 4.0), ("cv", 3.0), ("wd", 102.0)]
    assert chosen(cv, 0) == []


@given(st.lists(st.sampled_from(["+", "-", "?"]), max_size=30), st.integers(0, 5), st.randoms())
def test_no_kind_is_shown_more_often_than_wanted_if_it_is_the_only_one(said: list[str], most: int, random) -> None:
    rows = outcomes("-" * len(said), "".join(said))
    shown = chosen(rows, most)
    assert all(count <= most for count in totals(shown).values())
    assert totals(shown) == {kind: min(most, count) for kind, count in totals(rows).items()}
    random.shuffle(rows)
    assert chosen(rows, most) == shown


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return [
        question(kind, task, n, snr=10.0 + n)
        for task in ("cv", "wd")
        for n, kind in enumerate(["cv", "wd"] * 8 + ["fgk", "sd"] * 4)
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, questions: list[Question]) -> Run:
    folder = tmp_path_factory.mktemp("run")
    with Answers(folder, questions, SETTINGS) as answers:
        ask_all(questions, Asking(Wayward, max_turns=3), answers, concurrency=2)
    return Run.read(folder)


@pytest.fixture(scope="module")
def page(run: Run, questions: list[Question]) -> str:
    gallery.write(run, of_run(run), gallery.spectra_of(questions), 3)
    return (run.folder / gallery.FILE).read_text(encoding="utf-8")


def test_the_page_needs_nothing_beside_it(page: str) -> None:
    found = Page(page)
    assert found.all("link") == []
    assert all("src" not in script for script in found.all("script"))
    sources = [image["src"] for image in found.all("img")]
    assert len(sources) > 10
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert not re.search(r"https?://", page)


def test_words_of_models_are_words(page: str) -> None:
    found = Page(page)
    assert len(found.all("script")) == 1
    assert found.all("b") == [b for b in found.all("b") if b.get("class") in (None, "yes", "no")]
    assert "<script>alert(1)</script>" in found.text
    assert "Failures of <b>wayward</b>, simulated spectra" in found.text
    assert "&lt;b&gt;wayward&lt;/b&gt;" in page


def test_every_kind_there_is_can_be_filtered_for(page: str, run: Run) -> None:
    found = Page(page)
    counts = totals(run.outcomes)
    offered = [one["value"] for one in found.all("input") if one["name"] == "kind"]
    assert offered == ["", *[kind for kind in KINDS if counts[kind]]]
    assert len(offered) == 6
    assert [one["value"] for one in found.all("input") if one["name"] == "task"] == ["", "cv", "wd"]
    cards = found.all("article")
    for kind in offered[1:]:
        shown = sum(kind in card["data-kinds"].split("|") for card in cards)
        assert shown >= min(3, counts[kind])
    assert {card["data-task"] for card in cards} == {"cv", "wd"}


def test_a_card_says_what_it_is_of_and_shows_every_look(page: str, run: Run) -> None:
    shown = chosen(run.outcomes, 3)
    cards = page.split("<article")[1:]
    assert len(cards) == len(shown)
    for card, one in zip(cards, shown, strict=True):
        words = Page(card).text
        assert one.source in words
        assert f"truth {one.label}" in words
        assert f"S/N a pixel {one.snr:.3g}" in words
        pictures = len(Page(card).all("img"))
        assert pictures == 1 + (one.calls - one.errors if one.ended != "turn limit" else one.calls - 1)
    tool_error = next(card for card, one in zip(cards, shown, strict=True) if "tool error" in kinds(one))
    assert re.search(r'class="told error">(Error: The specified|Not run)', tool_error)


def test_bad_form_is_shown_as_it_was_written(page: str, run: Run) -> None:
    bad = [one for one in chosen(run.outcomes, 3) if one.format_ok is False]
    assert bad
    as_written = re.findall("<pre>(.*?)</pre>", page, re.DOTALL)
    assert any(text.endswith("because of the lines.&lt;/answer&gt;") for text in as_written)
    assert page.count("As it was written") == len(bad)


def test_it_is_the_same_page_each_time(page: str, run: Run, questions: list[Question]) -> None:
    gallery.write(run, of_run(run), gallery.spectra_of(list(reversed(questions))), 3)
    assert (run.folder / gallery.FILE).read_text(encoding="utf-8") == page


def test_spectra_that_are_gone_leave_the_words(page: str, run: Run) -> None:
    assert gallery.write(run, of_run(run), gallery.spectra_of([]), 3) == page.count("<article")
    words = (run.folder / gallery.FILE).read_text(encoding="utf-8")
    assert "<img" not in words
    assert "This picture cannot be drawn again." in words


def test_a_policy_that_failed_has_a_card_without_a_trace(
    tmp_path: Path, questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "PAUSE", 0.001)
    with Answers(tmp_path, questions[:24], SETTINGS) as answers:
        made = ask_all(questions[:24], Asking(Broken, retries=0), answers)
    assert made.failed
    run = Run.read(tmp_path)
    gallery.write(run, of_run(run), gallery.spectra_of(questions))
    assert "There is no trace: the policy failed." in (tmp_path / gallery.FILE).read_text(encoding="utf-8")


def test_a_run_without_a_failure_says_so() -> None:
    rows = outcomes("+-", "+-")
    from training.bench.scores import scores

    text = gallery.page(Row("good", Path(), "model", "LAMOST", tuple(rows), scores(rows, 50)), [], [])
    assert "nothing went wrong" in text
    assert Page(text).all("input") == []


def test_the_report_links_the_gallery_and_says_what_was_scored(run: Run) -> None:
    row = of_run(run)
    result = report.write(row, run.settings, gallery.FILE)
    text = (run.folder / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# &lt;b>wayward&lt;/b>\n\n> **simulated spectra**")
    assert "[gallery.html](gallery.html)" in text
    assert "| cv | 24 | 8 |" in text
    assert "## By S/N" in text
    assert "nan" not in text.lower().split()
    assert result["scores"]["n"] == 48
    assert result["settings"]["max_turns"] == 3
