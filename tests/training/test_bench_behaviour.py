"""What a policy does: calls, length and windows of right and of wrong answers, kinds of tool errors."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from agent import tool
from agent.loop import NOT_RUN
from agent.simulate import simulate
from agent.tasks import load
from agent.trajectory.steps import Zoom
from tests.support.bench import Wayward, question, way_of
from training.bench import report
from training.bench.answers import FILE, Answers, Run
from training.bench.behaviour import Behaviour, behaviour, error_kind
from training.bench.run import InspectionOptions, ask_all
from training.bench.table import of_run
from training.bench.windows import WindowCounts
from training.data.records import Question

SETTINGS = {
    "name": "wayward",
    "stage": "",
    "policy": {"kind": "model", "name": "wayward", "settings": {}},
    "with_tool": True,
    "max_turns": 3,
}


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return [question(kind, "cv", n) for n in range(14) for kind in ("cv", "fgk")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, questions: list[Question]) -> Run:
    folder = tmp_path_factory.mktemp("run")
    with Answers(folder, questions, SETTINGS) as answers:
        ask_all(questions, InspectionOptions(Wayward, max_turns=3), answers, concurrency=2)
    return Run.read(folder)


@pytest.fixture(scope="module")
def found(run: Run) -> Behaviour:
    return behaviour(run, load())


def test_means_of_right_and_wrong_answers_are_those_of_the_journal(run: Run, found: Behaviour) -> None:
    rows = [json.loads(line) for line in (run.folder / FILE).read_text().splitlines()]
    outcomes = {outcome.key: outcome for outcome in run.outcomes}
    of = {contrast.name: contrast for contrast in found.contrasts}
    for is_right in (True, False):
        mine = [row for row in rows if outcomes[row["question"]["key"]].is_right == is_right]
        calls = sum(step["kind"] == "zoom" for row in mine for step in row["steps"]) / len(mine)
        texts = [trace[2] for trace in run.traces() if trace[0].is_right == is_right]
        written = sum(len(text) for turns in texts for text in turns) / len(mine)
        tokens = sum(row["usage"]["completion"] for row in mine) / len(mine)
        mean = "mean_right" if is_right else "mean_wrong"
        assert getattr(of["tool calls"], mean) == pytest.approx(calls)
        assert getattr(of["characters written"], mean) == pytest.approx(written)
        assert getattr(of["tokens written"], mean) == pytest.approx(tokens)
        assert getattr(of["turns"], mean) == pytest.approx(sum(map(len, texts)) / len(mine))
    calls = of["tool calls"]
    assert calls.difference.value == pytest.approx(calls.mean_right - calls.mean_wrong)
    assert calls.difference.lo < calls.difference.value < calls.difference.hi
    assert (calls.right + calls.wrong, found.samples) == (28, 28)


def test_tool_errors_are_counted_by_kind(questions: list[Question], found: Behaviour) -> None:
    ways = Counter(way_of(question.spectrum().name) for question in questions)
    assert min(ways["tool error"], ways["turn limit"]) > 0
    assert found.tool_errors == {
        "the window is outside the spectrum, or cannot be drawn": ways["tool error"],
        "beyond the last allowed turn": ways["turn limit"],
    }


@pytest.mark.parametrize(
    ("arguments", "name", "kind"),
    [
        ({"wavelength_range": [10, 20]}, tool.TOOL_NAME, "the window is outside the spectrum, or cannot be drawn"),
        ({"wavelength_range": [6600, 6500]}, tool.TOOL_NAME, "the window ends before it begins"),
        ({"wavelength_range": "6500-6600"}, tool.TOOL_NAME, "the window is not two numbers"),
        ({"wavelength_range": [6500]}, tool.TOOL_NAME, "the window is not two numbers"),
        ({"wavelength_range": [6500, 6600]}, "measure", "another tool, or arguments that are no object"),
    ],
)
def test_each_refusal_of_the_tool_has_its_kind(arguments: dict, name: str, kind: str) -> None:
    answer = tool.call(simulate("cv", "LAMOST", 20.0, 1), arguments, name)
    assert not answer.ok
    assert error_kind(Zoom("s1", arguments, observation=answer.text, ok=False)) == kind
    assert error_kind(Zoom("s1", arguments, observation=NOT_RUN, ok=False)) == "beyond the last allowed turn"


def test_windows_name_the_features_of_the_task_in_them(questions: list[Question], found: Behaviour) -> None:
    (cv,) = found.windows
    ways = Counter(way_of(question.spectrum().name) for question in questions)
    first, second = cv.frequent
    assert (first.lo, first.hi, first.zooms) == (6500, 6630, 28 - ways["tool error"])
    assert (second.lo, second.hi, second.zooms) == (4800, 4920, ways["turn limit"])
    features = load()["cv"].features
    alpha = [feature.name for feature in features if feature.wavelengths and 6540 < feature.wavelengths[0] < 6590]
    assert alpha
    assert set(alpha) <= set(first.features)
    use = {feature.name: feature for feature in cv.features}
    assert use[alpha[0]].samples == first.zooms
    assert list(use) == [feature.name for feature in features]


def test_lines_are_compared_in_the_medium_of_the_spectrum() -> None:
    task = load()["cv"]
    feature = next(feature for feature in task.features if feature.wavelengths)
    in_air, in_vacuum = (feature.in_medium(medium).wavelengths[0] for medium in ("air", "vacuum"))
    assert in_vacuum - in_air > 1
    # The window ends between the two.
    window = {"wavelength_range": [in_air - 60, (in_air + in_vacuum) / 2]}
    for medium, is_in in (("air", True), ("vacuum", False)):
        counts = WindowCounts("cv", task)
        counts.add([Zoom("s1", window, medium=medium)], True)
        assert (feature.name in counts.result().frequent[0].features) is is_in


def test_windows_of_about_the_same_place_and_width_are_one() -> None:
    counts = WindowCounts("own", None)
    for lo, hi in ((6500, 6630), (6510, 6650), (6400, 6750), (4800, 4930)):
        counts.add([Zoom("s1", {"wavelength_range": [lo, hi]})], lo > 5000)
    result = counts.result()
    assert [(one.lo, one.hi, one.zooms, one.right) for one in result.frequent] == [
        (6505, 6640, 2, 2),
        (4800, 4930, 1, 0),
        (6400, 6750, 1, 1),
    ]
    assert result.features == ()


def test_where_all_answers_are_right_there_is_no_difference_but_a_reason(tmp_path: Path) -> None:
    right = [one for n in range(60) if way_of((one := question("cv", "cv", n)).spectrum().name) == "right"][:2]
    with Answers(tmp_path, right, SETTINGS) as answers:
        ask_all(right, InspectionOptions(Wayward), answers)
    calls = behaviour(Run.read(tmp_path), load()).contrasts[0]
    assert (calls.mean_right, calls.mean_wrong) == (1.0, None)
    assert calls.difference.words == "not defined: all answers are right, or all are wrong"


def test_the_report_has_the_sections(run: Run, found: Behaviour) -> None:
    result = report.write(of_run(run), run.settings, behaviour=found)
    assert result["behaviour"]["windows"][0]["frequent"][0]["zooms"] == found.windows[0].frequent[0].zooms
    text = (run.folder / report.REPORT).read_text()
    for heading in ("## Right and wrong answers", "## Tool errors", "## Windows", "### cv: "):
        assert f"\n{heading}" in text
    assert "| 6500 to 6630 |" in text
    assert "nan" not in text.lower().split()
