"""Several samples of each question, and several runs with different seeds: votes, pass@k, spread, resuming, report."""

from __future__ import annotations

import csv
import json
import zlib
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from agent.simulate import files
from tests.support.bench import VERDICTS, WAYS, Broken, Varied, Wayward, outcomes, question, some_questions, varied
from tests.support.model_server import BadServer, answer, talking
from training.bench import report
from training.bench.answers import FILE, SESSIONS, Answers, Run, place
from training.bench.outcomes import Outcome, OutcomesError
from training.bench.run import InspectionOptions, ask_all
from training.bench.samples import ks, pass_at, sample_scores, voted
from training.bench.scores import F1, Value, counted, scores
from training.bench.seeds import difference, of_task, over_tasks, refuse_other_questions
from training.bench.several_runs import row_of_runs
from training.bench.table import Row, markdown, of_run, row

SETTINGS = {
    "name": "varied",
    "stage": "",
    "policy": {"kind": "model", "name": "varied", "settings": {"temperature": 1.0}},
    "with_tool": True,
    "max_turns": 8,
    "samples": 4,
}
FOUR = InspectionOptions(Varied, samples=4)


def samples_of(truth: str, words: str, task: str = "cv") -> list[Outcome]:
    """One question: a sample for each character of + (YES), - (NO) and ? (no verdict)."""
    (one,) = outcomes(truth, "+", task)
    return [
        replace(one, predicted=VERDICTS[word], answered=VERDICTS[word], sample=number)
        for number, word in enumerate(words)
    ]


@pytest.mark.parametrize(
    ("words", "verdict", "share"),
    [("++-", "YES", 2 / 3), ("+--", "NO", 1 / 3), ("+-", None, 0.5), ("??", None, None), ("+???", "YES", 1.0)],
)
def test_the_majority_of_the_verdicts_is_the_answer(words: str, verdict: str | None, share: float | None) -> None:
    found = voted(samples_of("+", words))
    assert (found.predicted, found.answered) == (verdict, verdict)
    assert found.vote_share == (share if share is None else pytest.approx(share))


def test_the_trace_that_is_shown_agrees_with_the_vote() -> None:
    (one,) = samples_of("-", "+")
    assert voted([one]) is one
    assert voted(samples_of("+", "-++")).sample == 1
    assert voted(samples_of("+", "-+")).sample == 0


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_the_subsets_with_a_right_sample(numbers: tuple[int, int, int]) -> None:
    n, right, k = numbers
    subsets = list(combinations([True] * right + [False] * (n - right), k))
    assert pass_at(k, n, right) == pytest.approx(sum(map(any, subsets)) / len(subsets))


def test_numbers_of_samples_must_be_equal_and_enough() -> None:
    with pytest.raises(ValueError, match="k: found 5, expected 1 to 4"):
        pass_at(5, 4, 1)
    assert [ks(n) for n in (1, 4, 6, 8)] == [(1,), (1, 2, 4), (1, 2, 4), (1, 2, 4, 8)]
    with pytest.raises(ValueError, match=r"found \[2, 3\] per question"):
        sample_scores([samples_of("+", "++"), samples_of("+", "+++")])


def test_scores_of_samples_by_hand() -> None:
    first = samples_of("+", "++--")
    second = [replace(sample, source="other", key="other") for sample in samples_of("-", "-??-")]
    third = [replace(sample, source="third", key="third") for sample in samples_of("-", "++++", "wd")]
    found = sample_scores([first, second, third])
    cv, wd = found.tasks
    # Two right of four for both: pass@1 1/2, pass@2 1 - 1/6, pass@4 1; agreement 2/4 and 2/4.
    assert [value.value for value in cv.pass_at.values()] == pytest.approx([1 / 2, 5 / 6, 1.0])
    assert (cv.consistency.value, cv.ties, wd.ties) == (0.5, 1, 0)
    assert [value.value for value in wd.pass_at.values()] == [0.0, 0.0, 0.0]
    assert found.pass_at[2].value == pytest.approx(5 / 12)
    assert found.consistency.value == pytest.approx(0.75)
    assert wd.consistency.words == "no interval: one spectrum"


def test_pass_at_1_is_the_mean_accuracy_of_single_samples() -> None:
    questions = [
        [replace(sample, source=f"s{n}", key=f"s{n}") for sample in samples_of("+-"[n % 2], words)]
        for n, words in enumerate(["++-?", "+-+-", "----", "?+++", "-+--"])
    ]
    single = scores(sample for samples in questions for sample in samples)
    assert sample_scores(questions).pass_at[1].value == pytest.approx(single.accuracy.value)


@pytest.mark.parametrize("how", [{"concurrency": 3}, {"processes": 2}])
def test_every_sample_is_in_the_journal_once_and_is_voted_on(tmp_path: Path, how: dict) -> None:
    questions = some_questions(8)
    with Answers(tmp_path, questions, SETTINGS) as answers:
        made = ask_all(questions, FOUR, answers, gpus=2, **how)
    assert made.answered == 32
    rows = [json.loads(line) for line in (tmp_path / FILE).read_text().splitlines()]
    assert Counter((row["source"]["file"], row["sample"]) for row in rows) == {
        (place(question), sample): 1 for question in questions for sample in range(4)
    }
    assert {(row["sample"], row["drafter"]["settings"]["seed"]) for row in rows} == {(n, n) for n in range(4)}
    run = Run.read(tmp_path)
    assert (run.open, len(run.samples), len(run.outcomes)) == (0, 8, 8)
    for samples in run.samples:
        # Of a simulated spectrum the name is not that of the file.
        name = next(question for question in questions if question.key == samples[0].key).spectrum().name
        assert [sample.predicted for sample in samples] == [varied(name, sample) for sample in range(4)]
    assert [sample.cached_tokens for sample in run.samples[0]] == [400] * 4
    session = json.loads((tmp_path / SESSIONS).read_text())
    assert run.cost.gpu_seconds_per_sample == pytest.approx(2 * session["seconds"] / 32)


def test_a_cut_run_of_samples_resumes_with_exactly_the_missing_ones(tmp_path: Path) -> None:
    questions = some_questions(4)
    with Answers(tmp_path, questions, SETTINGS) as answers:
        ask_all(questions, FOUR, answers)
    whole = Run.read(tmp_path)
    kept = (tmp_path / FILE).read_bytes().splitlines(keepends=True)
    lost = [json.loads(kept[n]) for n in (1, 6, 7)]
    (tmp_path / FILE).write_bytes(b"".join(line for n, line in enumerate(kept) if n not in (1, 6, 7)))
    cut = Run.read(tmp_path)
    # A question counts once all its samples are there.
    assert (cut.open, len(cut.outcomes)) == (3, 2)
    assert "unfinished: 3 samples to come" in of_run(cut).note
    with Answers(tmp_path, questions, SETTINGS) as answers:
        assert ask_all(questions, FOUR, answers).answered == 3
    new = [json.loads(line) for line in (tmp_path / FILE).read_text().splitlines()[13:]]
    assert {(row["source"]["file"], row["sample"]) for row in new} == {
        (row["source"]["file"], row["sample"]) for row in lost
    }
    again = Run.read(tmp_path)
    assert [[sample.predicted for sample in samples] for samples in again.samples] == [
        [sample.predicted for sample in samples] for samples in whole.samples
    ]


def test_a_sample_whose_policy_failed_does_not_vote_and_is_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr("agent.batch.run.PAUSE", 0.001)
    questions = some_questions(10)
    with Answers(tmp_path, questions, SETTINGS) as answers:
        made = ask_all(questions, InspectionOptions(Broken, retries=0, samples=4), answers)
    run = Run.read(tmp_path)
    broken = [samples for samples in run.samples if samples[0].ended == "policy failed"]
    assert broken
    assert 4 * len(broken) == made.failed
    assert all(voted(samples).predicted is None for samples in broken)
    assert len(run.samples) == 10


def test_the_report_has_the_vote_pass_at_k_and_the_cost(tmp_path: Path) -> None:
    questions = some_questions(12)
    with Answers(tmp_path, questions, SETTINGS) as answers:
        ask_all(questions, FOUR, answers, concurrency=2)
    row = of_run(Run.read(tmp_path))
    assert row.name == "varied (majority of 4)"
    assert (row.scores.n, row.scores.cached_tokens, row.scores.prompt_tokens) == (12, 400.0, 1000.0)
    result = report.write(row, Run.read(tmp_path).settings)
    assert list(result["samples"]["pass_at"]) == [1, 2, 4]
    text = (tmp_path / report.REPORT).read_text()
    assert "## Samples: 4 per question" in text
    assert "| task | n | pass@1 | pass@2 | pass@4 | samples that agree | ties |" in text
    assert "| GPU-seconds per sample | undefined: number of GPUs not given (`--gpus`) |" in text
    assert "| Tokens per sample, mean | 1,000 read (400 of them cached), 50 written |" in text
    assert "nan" not in text.lower().split()


@pytest.fixture
def sky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "sky"
    list(files.write(folder, files.orders(["cv", "fgk"] * 2, ["LAMOST"], (20.0, 40.0), seed=5), ["cv"]))
    return folder


def test_the_command_samples_with_a_temperature_and_a_seed_each(sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with BadServer(talking((answer("YES"),))) as server:
        given = ["bench", "--data", str(sky), "--labels", str(sky / "labels.csv"), "--out", "run", "--gallery", "0"]
        given += ["--policy", "spec-o3", "--server", server.url, "--model", "spec-o3", "--samples", "3"]
        assert app.main(given) == 2
        assert "--samples: 3 at temperature 0 are identical; set --temperature" in capsys.readouterr().err
        assert app.main([*given, "--temperature", "0.7", "--seed", "5", "--gpus", "8"]) == 0
        assert Counter(request.body["seed"] for request in server.chats) == {5: 4, 6: 4, 7: 4}
    assert "now: 12 samples in " in capsys.readouterr().out
    found = json.loads(Path("run/scores.json").read_text())
    assert found["samples"]["samples"] == 3
    assert found["gpu_seconds_per_sample"] > 0
    assert found["scores"]["n"] == 4


def test_a_policy_that_always_gives_the_same_answer_is_not_sampled(sky, capsys):
    given = ["bench", "--data", str(sky), "--labels", str(sky / "labels.csv"), "--out", "run", "--samples", "2"]
    assert app.main(given) == 2
    assert "--samples: found 2, expected 1: baseline gives the same answer each time" in capsys.readouterr().err


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
    for number, task in enumerate(several.scores.tasks):
        same = [row.scores.tasks[number] for row in rows]
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
