"""Several runs of one system with different seeds in one row of the table."""

from __future__ import annotations

import csv
import json
import zlib
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

import pytest

import app
from tests.support.bench import WAYS, Wayward, outcomes, question, some_questions
from training.bench.answers import Answers
from training.bench.outcomes import OutcomesError
from training.bench.run import InspectionOptions, ask_all
from training.bench.scores import F1, Value, counted, scores
from training.bench.seeds import difference, of_task, over_tasks, refuse_other_questions
from training.bench.several_runs import row_of_runs
from training.bench.table import Row, markdown, row

TRUTH = "+++++-----"
RIGHT, WRONG = TRUTH, "-----+++++"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three finished runs of the bench on the same questions about two tasks, with other answers in each."""
    questions = [*some_questions(16), *(question(kind, "wd", 40 + n) for n in range(4) for kind in ("wd", "fgk"))]
    folders = []
    for seed in range(3):
        folder = tmp_path_factory.mktemp("runs") / f"seed-{seed}"
        folder.mkdir()
        settings = {"name": f"m-{seed}", "stage": "SFT", "policy": {"kind": "model", "name": "m"}}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tests.support.bench.way_of", lambda name, seed=seed: _way(name, seed))
            with Answers(folder, questions, settings | {"with_tool": True, "max_turns": 3}) as answers:
                ask_all(questions, InspectionOptions(Wayward, 3), answers, concurrency=2, gpus=2)
        folders.append(folder)
    return folders


def _way(name: str, seed: int) -> str:
    number = zlib.crc32(f"{name} {seed}".encode())
    return "right" if number % 3 else WAYS[number % len(WAYS)]


def test_the_row_is_the_mean_over_runs_with_its_spread(runs: list[Path]) -> None:
    rows = [row(path) for path in runs]
    several = row_of_runs("mine", rows)
    f1 = [row.scores.f1.value for row in rows]
    assert len(set(f1)) > 1, "the runs differ"
    assert several.name == "mine (3 runs)"
    assert several.scores.f1.value == pytest.approx(fmean(f1))
    assert several.runs.f1.each == pytest.approx(f1)
    assert several.runs.f1.deviation == pytest.approx(stdev(f1))
    assert several.scores.n == rows[0].scores.n == 24
    for place, task in enumerate(several.scores.tasks):
        same = [row.scores.tasks[place] for row in rows]
        assert {one.task for one in same} == {task.task}
        for name in ("f1", "accuracy", "recall"):
            assert getattr(task, name).value == pytest.approx(fmean(getattr(one, name).value for one in same))
        assert task.tp == pytest.approx(fmean(one.tp for one in same))
        assert task.positives == same[0].positives
    for name in ("accuracy", "format_rate", "answer_rate", "f1_by_loop"):
        values = [getattr(row.scores, name).value for row in rows]
        assert getattr(several.scores, name).value == pytest.approx(fmean(values))
    assert several.cost.samples == 3 * 24
    assert several.cost.gpu_seconds_per_sample == pytest.approx(2 * several.cost.wall)
    assert several.scores.calls == pytest.approx(fmean(row.scores.calls for row in rows))


def test_equal_runs_have_the_interval_of_one() -> None:
    run = [*outcomes(TRUTH, "+++--+----"), *outcomes("++++----", "+++-+---", "wd")]
    alone = scores(run)
    same = [counted(run)] * 3
    for found, one in ((over_tasks(same, F1).mean, alone.f1), (of_task(same, "wd", F1, "").mean, alone.tasks[1].f1)):
        assert (found.value, found.lo, found.hi) == pytest.approx((one.value, one.lo, one.hi))
    assert over_tasks(same, F1).deviation == pytest.approx(0, abs=1e-12)
    assert over_tasks(same[:1], F1).deviation is None


def test_the_interval_resamples_runs_too() -> None:
    """Runs of F1 0 and 1: the mean over two that are sampled is 0, 0.5 or 1, in 1/4, 1/2 and 1/4 of the resamples."""
    both = [counted(outcomes(TRUTH, predicted)) for predicted in (WRONG, RIGHT)]
    assert over_tasks(both, F1).mean == Value(0.5, 0.0, 1.0)
    # Four more of F1 1 leave 1/6 of the runs with F1 0: no chance of 2.5 % that more than half of them are sampled.
    many = over_tasks([both[0], *[both[1]] * 5], F1).mean
    assert many.value == pytest.approx(5 / 6)
    assert many.lo == pytest.approx(0.5)
    assert many.hi == 1.0


def test_a_difference_pairs_the_runs_of_a_seed_or_does_not() -> None:
    good, bad = outcomes(TRUTH, RIGHT), outcomes(TRUTH, WRONG)
    # In each seed the second system is as good as the first; the seeds differ.
    paired = difference([good, bad], [good, bad], paired=True)
    assert (paired.each, paired.mean) == ((0.0, 0.0), Value(0.0, 0.0, 0.0))
    free = difference([good, bad], [good, bad]).mean
    assert (free.value, free.lo, free.hi) == (0.0, -1.0, 1.0)


def test_runs_of_other_questions_are_not_one_row(runs: list[Path], tmp_path: Path) -> None:
    one, two = outcomes(TRUTH, RIGHT), outcomes(TRUTH, WRONG)
    refuse_other_questions([one, two], ["a", "b"])
    for others in (two[1:], [replace(two[0], label="NO"), *two[1:]], outcomes(TRUTH, WRONG, "wd")):
        with pytest.raises(ValueError, match=r"a and b: found 10 and .* questions that are not the same"):
            refuse_other_questions([one, others], ["a", "b"])
    with pytest.raises(OutcomesError, match="mine: found a run that is named twice"):
        row_of_runs("mine", [row(runs[0]), row(runs[0])])
    other = Row("x", tmp_path, "model", "", tuple(one), scores(one))
    with pytest.raises(OutcomesError, match="expected the same in all runs of a row"):
        row_of_runs("mine", [row(runs[0]), other])


def test_the_command_puts_the_runs_in_one_row(runs, tmp_path, capsys):
    files = ["--csv", tmp_path / "t.csv", "--markdown", tmp_path / "t.md", "--no-published"]
    given = ["--row", f"mine={','.join(map(str, runs))}", *files]
    assert app.main(["bench", "table", *map(str, [runs[0], *given])]) == 0
    out = capsys.readouterr().out
    assert "mine (3 runs): means over 3 runs, with intervals that resample runs and spectra; mean F1 of each run" in out
    assert "m-0 (SFT) against mine (3 runs), 24 questions in common: mean F1" in out
    assert "McNemar" not in out
    found = list(csv.DictReader((tmp_path / "t.csv").open()))
    mine = [line for line in found if line["system"] == "mine (3 runs)"]
    assert [(line["task"], line["runs"]) for line in mine] == [("cv", "3"), ("wd", "3"), ("mean", "3")]
    several = row_of_runs("mine", [row(path) for path in runs])
    assert float(mine[0]["f1_sd"]) == pytest.approx(100 * several.runs.f1_of["cv"].deviation, abs=0.01)
    assert float(mine[2]["f1_sd"]) == pytest.approx(100 * several.runs.f1.deviation, abs=0.01)
    assert {line["runs"] for line in found if line["system"] == "m-0 (SFT)"} == {"1"}
    assert markdown([row(runs[0]), several], False) == (tmp_path / "t.md").read_text()

    assert app.main(["bench", "table", *map(str, given), "--json"]) == 0
    (plain,) = json.loads(capsys.readouterr().out)["rows"]
    assert plain["runs"]["paths"] == [str(path) for path in runs]
    assert plain["runs"]["f1"]["each"] == pytest.approx(list(several.runs.f1.each))
    assert plain["calibration"] == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], "found no run, expected RUN or --row NAME=RUN,RUN"),
        (["--row", "mine=/no/where"], "/no/where: found no such file"),
    ],
)
def test_a_row_without_runs_is_refused(given: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["bench", "table", *given]) == 2
    assert expected in capsys.readouterr().err


def test_a_row_needs_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app.main(["bench", "table", "--row", "a,b"])
    assert "found 'a,b', expected NAME=RUN,RUN,..." in capsys.readouterr().err
