"""The benchmark table, the gallery of failures and the report."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from agent.batch import run as batch
from tests.support.bench import Broken, Wayward, outcomes, question, some_questions, under
from tests.support.training_data import write_predictions
from training.bench import gallery, report, table
from training.bench.answers import Answers, Run
from training.bench.gallery import KINDS, chosen, kinds, totals
from training.bench.outcomes import Outcome
from training.bench.published import is_specvi, published
from training.bench.run import InspectionOptions, ask_all
from training.bench.scores import scores
from training.bench.table import Row, of_run, row
from training.data.records import Question

TRUTH = "++++------"


def a_row(name: str, rows: list[Outcome], data: str = "LAMOST") -> Row:
    return Row(name, Path(name), "model", data, tuple(rows), scores(rows, 200))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run in which all questions are answered."""
    folder = tmp_path_factory.mktemp("run")
    questions = [*some_questions(12), *[question(kind, "wd", 30) for kind in ("wd", "fgk")]]
    settings = {
        "name": "wayward",
        "stage": "SFT + RL",
        "policy": {"kind": "model", "name": "wayward"},
        "with_tool": False,
        "max_turns": 8,
    }
    with Answers(folder, questions, settings) as answers:
        ask_all(questions, InspectionOptions(Wayward, with_tool=False), answers, concurrency=2)
    return folder


def test_a_run_is_named_with_its_stage_and_the_missing_tool(run: Path) -> None:
    found = row(run)
    assert found.name == "wayward (SFT + RL, without the tool)"
    assert (found.simulated, found.data) == ("yes", "simulated LAMOST")
    assert found.note == "simulated spectra"
    assert found.cost.wall > 0


def test_predictions_make_a_row_too(tmp_path: Path, run: Path) -> None:
    (tmp_path / "cnn-cv").mkdir()
    write_predictions(tmp_path / "cnn-cv" / "predictions.jsonl", outcomes(TRUTH, TRUTH, format_ok=None, calls=None))
    for path in (tmp_path / "cnn-cv", tmp_path / "cnn-cv" / "predictions.jsonl"):
        found = row(path)
        assert (found.name, found.kind, found.scores.f1.value) == ("cnn-cv", "predictions", 1.0)
        assert found.scores.format_rate.words == "nothing written"


def test_the_published_rows_have_their_values_and_sources() -> None:
    by_name = {published_row.name: published_row for published_row in published()}
    assert by_name["Spec-o3-7B"].f1["wd"] == 53.6
    assert by_name["Spec-o3-3B"].accuracy["mean"] == 88.8
    assert by_name["Spec-o3-7B, no RL"].f1 == {"mean": 41.6}
    assert by_name["Spec-o3-7B on DESI, mean of cv, cc, gm"].f1["mean"] == 77.4
    assert all(published_row.source for published_row in published())
    assert by_name["S1-VL-32B-SFT"].f1 == {"cv": 60.7, "cc": 42.8, "ss": 43.7, "gm": 36.3, "wd": 27.4, "mean": 42.2}
    assert by_name["Spec-o3-3B, SFT on about 200 trajectories"].f1 == {"cv": 77.8}
    assert len(published()) == len(by_name) == 26


def test_approximate_figures_are_marked_and_statements_are_below_the_table() -> None:
    b_star = [a_row("a", outcomes("+-", "+-", "b"))]
    lines = table.text(b_star).splitlines()
    base = next(line for line in lines if line.startswith("base model of Spec-o3"))
    assert base.split()[-3:] == ["~30", "–", "published"]
    (found,) = [one for one in table.to_json(b_star)["published"] if one["approximate"]]
    assert found["f1"] == {"mean": 30}
    csv_lines = table.csv_text(b_star).splitlines()
    assert any("base model" in line and "approximate: the paper" in line for line in csv_lines)
    assert not any("0.2 s per sample" in line for line in lines)
    assert any("0.2 s per sample" in line for line in table.text([a_row("a", outcomes("+-", "+-"))]).splitlines())


def test_only_published_rows_with_a_task_in_common_are_shown() -> None:
    o_star = [a_row("a", outcomes("+-", "+-", "o"))]
    assert [shown.name for shown in table.published_shown(o_star)] == [
        "Spec-o3-7B, not trained on these: mean of o, b, a",
        "o3, mean of o, b, a",
        "base model of Spec-o3, mean of o, b, a",
    ]
    assert table.published_shown([a_row("a", outcomes("+-", "+-", "agn"))]) == []


def test_the_published_benchmark_is_recognised_by_its_size() -> None:
    sizes = {"cv": 1458, "cc": 1321, "ss": 1442, "gm": 1321, "wd": 1212}
    rows = [
        outcome for task, n in sizes.items() for outcome in outcomes("+-" * (n // 2) + "-" * (n % 2), "-" * n, task)
    ]
    assert len(rows) == 6754
    assert is_specvi(rows)
    assert not is_specvi(rows[1:])


def test_the_text_table_has_all_rows_intervals_and_notes_on_the_data() -> None:
    rows = [a_row("ours", outcomes(TRUTH, "+++-++----")), a_row("theirs", outcomes(TRUTH, "-+++------"))]
    lines = table.text(rows).splitlines()
    assert lines[0].split()[:5] == ["system", "n", "F1", "cv", "mean"]
    assert lines[2].startswith("ours ")
    assert "66.7 [" in lines[2]
    assert lines[4].startswith("── published (other data than the rows above) ─")
    spec_o3 = next(line for line in lines if line.startswith("Spec-o3-7B "))
    assert spec_o3.split() == ["Spec-o3-7B", "81.0", "76.5", "88.7", "published"]
    assert any(line.startswith("ours against theirs, 10 questions in common: mean F1 -19.0 [") for line in lines)
    assert "github.com/Maxwell-Jia/spec-o3" in lines[-1]
    assert not any(line.startswith("CarbonNet") for line in table.text(rows, False).splitlines())


def test_missing_values_and_partial_means_are_explained_in_the_notes() -> None:
    few = a_row("few", outcomes("+-", "+-"))
    more = a_row("more", [*outcomes("+-", "+-"), *outcomes("--", "--", "wd")])
    notes = table.notes([few, more], False)
    assert "more: wd: F1 not defined: no positives, and nothing was called positive" in notes
    assert "more: the mean F1 is that of cv" in notes
    assert "few: the mean F1 is that of cv" in notes


def test_systems_without_common_questions_and_odd_names() -> None:
    first, second = a_row("one", outcomes("+-", "+-")), a_row("other", under("x", outcomes("+-", "+-")))
    assert table.compared(first, second) == "one against other: found no question in common"
    text = table.markdown([a_row("a|b <i>*c*", outcomes(TRUTH, TRUTH))])
    assert r"| a\|b &lt;i>\*c\* | 10 |" in text
    assert "| Spec-o3-7B (published) |" in text
    text = table.text([a_row("ours", outcomes(TRUTH, TRUTH), "SpecVI-Bench")])
    assert "as many questions of each task" in text
    assert "other data" not in text


def test_csv_has_one_line_per_system_and_task_and_one_for_the_mean() -> None:
    rows = [a_row("=ours", [*outcomes(TRUTH, "+++-++----"), *outcomes("--", "--", "wd")])]
    found = list(csv.DictReader(io.StringIO(table.csv_text(rows))))
    ours = [line for line in found if line["system"] == "'=ours"]
    assert [line["task"] for line in ours] == ["cv", "wd", "mean"]
    assert (ours[0]["f1"], ours[0]["positives"]) == ("66.67", "4")
    assert float(ours[0]["f1_lo"]) < 66.67 < float(ours[0]["f1_hi"])
    assert (ours[1]["f1"], ours[1]["recall"]) == ("", "")
    assert "f1 not defined: no positives" in ours[1]["note"]
    spec_o3 = [line for line in found if line["system"] == "Spec-o3-7B (published)"]
    assert {line["task"]: (line["f1"], line["accuracy"]) for line in spec_o3}["mean"] == ("76.5", "88.7")
    assert not any("nan" in cell.lower().split() for line in found for cell in line.values())


def bench_table(*arguments: object) -> int:
    return app.main(["bench", "table", *map(str, arguments)])


def test_the_command_writes_all_formats(tmp_path: Path, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    specialist = tmp_path / "cnn.jsonl"
    answered = [
        Outcome(known.key, known.source, known.task, known.label, known.label, known.label, simulated=True)
        for known in row(run).outcomes
    ]
    write_predictions(specialist, answered)
    files = {"--csv": tmp_path / "t.csv", "--markdown": tmp_path / "t.md"}
    arguments = [argument for pair in files.items() for argument in pair]
    assert bench_table(run, specialist, *arguments) == 0
    out = capsys.readouterr().out
    assert out.startswith("system")
    assert "wayward (SFT + RL, without the tool) against cnn, 14 questions in common" in out
    assert all(path.read_text(encoding="utf-8") for path in files.values())
    assert bench_table(run, specialist, "--json", "--no-published") == 0
    summary = json.loads(capsys.readouterr().out)
    assert [line["name"] for line in summary["rows"]] == ["wayward (SFT + RL, without the tool)", "cnn"]
    assert summary["rows"][0]["simulated"] == "yes"
    assert summary["comparisons"][0]["n"] == 14
    assert summary["published"] == []


def test_a_path_that_is_no_run_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench_table(tmp_path / "gone") == 2
    assert "gone: found no such file, expected the folder of a run" in capsys.readouterr().err
    (tmp_path / "empty.jsonl").write_text("")
    assert bench_table(tmp_path / "empty.jsonl") == 2
    assert "empty.jsonl: found no answer yet" in capsys.readouterr().err
    (tmp_path / "bad.jsonl").write_text("no json\n")
    assert bench_table(tmp_path / "bad.jsonl") == 2
    assert "bad.jsonl: line 1: found no JSON" in capsys.readouterr().err


SETTINGS = {
    "name": "<b>wayward</b>",
    "stage": "",
    "policy": {"kind": "model", "name": "wayward"},
    "with_tool": True,
    "max_turns": 3,
}


class Page(HTMLParser):
    """The parsed page: tags with their attributes, and the text."""

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


def test_each_kind_of_failure_is_recognised() -> None:
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
    cv = [replace(outcome, snr=float(n)) for n, outcome in enumerate(outcomes("-----", "+++++"))]
    wd = under("wd", [replace(outcome, snr=100.0 + n) for n, outcome in enumerate(outcomes("---", "+++", "wd"))])
    shown = chosen([*cv, *wd, *under("x", outcomes("-", "+"))], 3)
    # Two of one task, one of the other; by signal-to-noise alone, all three would be of wd.
    assert [(outcome.task, outcome.snr) for outcome in shown] == [("cv", 4.0), ("cv", 3.0), ("wd", 102.0)]
    assert chosen(cv, 0) == []


@given(st.lists(st.sampled_from(["+", "-", "?"]), max_size=30), st.integers(0, 5), st.randoms())
def test_a_single_kind_is_shown_at_most_as_often_as_requested(answers: list[str], most: int, random) -> None:
    rows = outcomes("-" * len(answers), "".join(answers))
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
def gallery_run(tmp_path_factory: pytest.TempPathFactory, questions: list[Question]) -> Run:
    folder = tmp_path_factory.mktemp("run")
    with Answers(folder, questions, SETTINGS) as answers:
        ask_all(questions, InspectionOptions(Wayward, max_turns=3), answers, concurrency=2)
    return Run.read(folder)


@pytest.fixture(scope="module")
def page(gallery_run: Run, questions: list[Question]) -> str:
    gallery.write(gallery_run, of_run(gallery_run), gallery.spectra_of(questions), 3)
    return (gallery_run.folder / gallery.FILE).read_text(encoding="utf-8")


def test_the_page_needs_no_other_file(page: str) -> None:
    found = Page(page)
    assert found.all("link") == []
    assert all("src" not in script for script in found.all("script"))
    sources = [image["src"] for image in found.all("img")]
    assert len(sources) > 10
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert not re.search(r"https?://", page)


def test_text_of_models_is_escaped(page: str) -> None:
    found = Page(page)
    assert len(found.all("script")) == 1
    assert found.all("b") == [b for b in found.all("b") if b.get("class") in (None, "right", "wrong")]
    assert "<script>alert(1)</script>" in found.text
    assert "Failures of <b>wayward</b>, simulated spectra" in found.text
    assert "&lt;b&gt;wayward&lt;/b&gt;" in page


def test_there_is_a_filter_for_every_kind_of_failure(page: str, gallery_run: Run) -> None:
    found = Page(page)
    counts = totals(gallery_run.outcomes)
    offered = [field["value"] for field in found.all("input") if field["name"] == "kind"]
    assert offered == ["", *[kind for kind in KINDS if counts[kind]]]
    assert len(offered) == 6
    assert [field["value"] for field in found.all("input") if field["name"] == "task"] == ["", "cv", "wd"]
    cards = found.all("article")
    for kind in offered[1:]:
        shown = sum(kind in card["data-kinds"].split("|") for card in cards)
        assert shown >= min(3, counts[kind])
    assert {card["data-task"] for card in cards} == {"cv", "wd"}


def test_a_card_names_its_spectrum_and_shows_every_zoom(page: str, gallery_run: Run) -> None:
    shown = chosen(gallery_run.outcomes, 3)
    cards = page.split("<article")[1:]
    assert len(cards) == len(shown)
    for card, outcome in zip(cards, shown, strict=True):
        words = Page(card).text
        assert outcome.source in words
        assert f"truth {outcome.label}" in words
        assert f"S/N per pixel {outcome.snr:.3g}" in words
        pictures = len(Page(card).all("img"))
        assert pictures == 1 + (outcome.calls - outcome.errors if outcome.ended != "turn limit" else outcome.calls - 1)
    tool_error = next(card for card, outcome in zip(cards, shown, strict=True) if "tool error" in kinds(outcome))
    assert re.search(r'class="result error">(Error: The specified|Not run)', tool_error)


def test_the_colour_of_an_answer_says_whether_it_is_right(page: str, gallery_run: Run) -> None:
    shown = chosen(gallery_run.outcomes, 3)
    colours = set()
    for card, outcome in zip(page.split("<article")[1:], shown, strict=True):
        (read,) = [b for b in Page(card).all("b") if b.get("class")]
        assert read["class"] == ("right" if outcome.is_right else "wrong")
        colours.add((outcome.predicted, outcome.label, read["class"]))
    assert {("YES", "NO", "wrong"), ("NO", "YES", "wrong")} <= colours
    assert any(colour == "right" for _, _, colour in colours)
    assert 'Answer: <span class="wrong">YES</span>' in page


def test_bad_form_is_shown_as_it_was_written(page: str, gallery_run: Run) -> None:
    bad = [outcome for outcome in chosen(gallery_run.outcomes, 3) if outcome.format_ok is False]
    assert bad
    as_written = re.findall("<pre>(.*?)</pre>", page, re.DOTALL)
    assert any(text.endswith("because of the lines.&lt;/answer&gt;") for text in as_written)
    assert page.count("As it was written") == len(bad)


def test_the_page_is_reproducible_and_needs_no_spectra(page: str, gallery_run: Run, questions: list[Question]) -> None:
    gallery.write(gallery_run, of_run(gallery_run), gallery.spectra_of(list(reversed(questions))), 3)
    assert (gallery_run.folder / gallery.FILE).read_text(encoding="utf-8") == page
    assert gallery.write(gallery_run, of_run(gallery_run), gallery.spectra_of([]), 3) == page.count("<article")
    words = (gallery_run.folder / gallery.FILE).read_text(encoding="utf-8")
    assert "<img" not in words
    assert "This picture cannot be drawn again." in words


def test_a_policy_that_failed_has_a_card_without_a_trace(tmp_path, questions, monkeypatch):
    monkeypatch.setattr(batch, "PAUSE", 0.001)
    with Answers(tmp_path, questions[:24], SETTINGS) as answers:
        made = ask_all(questions[:24], InspectionOptions(Broken, retries=0), answers)
    assert made.failed
    gallery_run = Run.read(tmp_path)
    gallery.write(gallery_run, of_run(gallery_run), gallery.spectra_of(questions))
    assert "There is no trace: the policy failed." in (tmp_path / gallery.FILE).read_text(encoding="utf-8")


def test_a_run_without_a_failure_has_a_page_that_states_it() -> None:
    rows = outcomes("+-", "+-")
    from training.bench.scores import scores

    text = gallery.page(Row("good", Path(), "model", "LAMOST", tuple(rows), scores(rows, 50)), [], [])
    assert "nothing went wrong" in text
    assert Page(text).all("input") == []


def test_the_report_links_the_gallery_and_lists_the_scores(gallery_run: Run) -> None:
    row = of_run(gallery_run)
    result = report.write(row, gallery_run.settings, gallery.FILE)
    text = (gallery_run.folder / "report.md").read_text(encoding="utf-8")
    assert text.startswith("# &lt;b>wayward&lt;/b>\n\n> **simulated spectra**")
    assert "[gallery.html](gallery.html)" in text
    assert "| cv | 24 | 8 |" in text
    assert "## By S/N" in text
    assert "nan" not in text.lower().split()
    assert result["scores"]["n"] == 48
    assert result["settings"]["max_turns"] == 3
