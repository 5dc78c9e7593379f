"""Calibration and ranking of P(YES), against scikit-learn and by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

import app
from agent.cli.stages import baseline
from agent.trust.reliability import BINS, binned
from tests.support.bench import Varied, outcomes, question, some_questions, under
from tests.support.training_data import write_predictions
from training.bench import gallery, report, table
from training.bench.answers import Answers, Run
from training.bench.calibration import calibrations
from training.bench.outcomes import Outcome
from training.bench.run import InspectionOptions, ask_all
from training.bench.table import of_run, row

RESAMPLES = 100


def with_p(truth: str, probabilities: list[float], task: str = "cv", **given) -> list[Outcome]:
    rows = outcomes(truth, "".join("+" if p >= 0.5 else "-" for p in probabilities), task, **given)
    return [replace(row, probability=p) for row, p in zip(rows, probabilities, strict=True)]


probabilities = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.62, 0.9, 1.0])


@given(st.lists(st.tuples(st.booleans(), probabilities), min_size=2, max_size=40))
def test_the_measures_agree_with_scikit_learn(rows: list[tuple[bool, float]]) -> None:
    y, p = [is_yes for is_yes, _ in rows], [value for _, value in rows]
    (found,) = calibrations(with_p("".join("+" if is_yes else "-" for is_yes in y), p), RESAMPLES)
    (task,) = found.tasks
    assert task.brier.value == pytest.approx(brier_score_loss(y, p))
    if any(y):
        assert task.ap.value == pytest.approx(average_precision_score(y, p))
    else:
        assert task.ap.words == "not defined: no positives"
    if len(set(y)) == 2:
        assert task.auc.value == pytest.approx(roc_auc_score(y, p))
    else:
        assert task.auc.words == "not defined: all questions have the same truth"
    for value in (task.brier, task.ece, task.auc, task.ap):
        assert value.value is None or not math.isnan(value.value)
        assert value.lo is None or 0 <= value.lo <= value.hi <= 1


def test_the_calibration_error_by_hand() -> None:
    # Bins 0.1 to 0.2 (two questions, one YES) and 0.9 to 1 (two, both YES).
    (found,) = calibrations(with_p("+-++", [0.1, 0.2 - 1e-6, 0.9, 1.0]), RESAMPLES)
    assert found.ece.value == pytest.approx(2 / 4 * abs(0.5 - 0.15) + 2 / 4 * abs(1 - 0.95), abs=1e-5)
    full = [one for one in found.bins if one.n]
    assert [(one.lo, one.n, one.positives) for one in full] == [(0.1, 2, 0.5), (0.9, 2, 1.0)]
    assert [one.probability for one in full] == pytest.approx([0.15, 0.95], abs=1e-5)


def test_edges_belong_to_the_upper_bin_and_1_to_the_last() -> None:
    values = [n / 10 for n in range(11)]
    found = binned(values, [True] * 11)
    assert [one.n for one in found] == [1] * (BINS - 1) + [2]
    assert binned([], [])[0].positives is None


def test_the_interval_is_resampled_by_spectrum() -> None:
    rng = np.random.default_rng(3)
    truth = "".join(rng.choice(["+", "-"], 60))
    p = [float(np.clip(0.5 + (0.2 if word == "+" else -0.2) + rng.normal(0, 0.2), 0, 1)) for word in truth]
    rows = with_p(truth, p)
    (found,) = calibrations(rows, 1000)
    # The same rows of four times fewer spectra are no more certain than these fewer spectra.
    clustered = [replace(row, source=f"star-{n // 4}") for n, row in enumerate(rows)]
    (fewer,) = calibrations(clustered, 1000)
    assert fewer.auc.value == found.auc.value
    assert found.auc.lo < found.auc.value < found.auc.hi
    assert (fewer.auc.lo, fewer.auc.hi) != (found.auc.lo, found.auc.hi)


def test_means_are_over_tasks_in_which_they_are_defined() -> None:
    rows = [*with_p("+-+-", [0.9, 0.1, 0.4, 0.5]), *under("wd", with_p("--", [0.2, 0.6], "wd"))]
    (found,) = calibrations(rows, RESAMPLES)
    assert found.auc.value == pytest.approx(0.75)
    assert found.brier.value == pytest.approx(np.mean([np.mean([0.01, 0.01, 0.36, 0.25]), np.mean([0.04, 0.36])]))


def test_answers_without_p_are_counted_and_left_out() -> None:
    rows = [*with_p("+-", [0.9, 0.1]), *under("x", outcomes("+", "?"))]
    (found,) = calibrations(rows, RESAMPLES)
    assert (found.n, found.without) == (2, 1)
    assert calibrations(outcomes("+-", "+-"), RESAMPLES) == []


def settings(**more) -> dict:
    policy = {"kind": "baseline", "name": "b", "settings": {}}
    return {"name": "b", "stage": "", "policy": policy, "with_tool": True, "max_turns": 8, **more}


def test_the_log_odds_of_the_baseline_are_calibrated_in_report_and_gallery(tmp_path: Path) -> None:
    questions = [question(kind, "cv", n, snr=25.0) for n in range(4) for kind in ("cv", "fgk")]
    with Answers(tmp_path, questions, settings()) as answers:
        ask_all(questions, InspectionOptions(baseline), answers)
    run = Run.read(tmp_path)
    for line, one in zip(
        sorted(
            map(json.loads, (tmp_path / "answers.jsonl").read_text().splitlines()), key=lambda r: r["question"]["key"]
        ),
        run.outcomes,
        strict=True,
    ):
        (score,) = [step["score"] for step in line["steps"] if step["kind"] == "answer"]
        assert one.probability == pytest.approx(1 / (1 + math.exp(-score)))
    found = of_run(run)
    gallery.write(run, found, gallery.spectra_of(questions))
    result = report.write(found, run.settings)
    (one,) = result["calibration"]
    assert (one["source"], one["n"]) == ("probability", 8)
    text = (tmp_path / report.REPORT).read_text()
    assert "## Calibration of P(YES)\n\nP(YES) is from the policy's log odds." in text
    assert "| task | n | positives | Brier score | calibration error | ROC AUC | average precision |" in text
    page = (tmp_path / gallery.FILE).read_text()
    assert page.count(' questions">') == sum(bin_.n > 0 for bin_ in found.calibrations[0].bins)


def test_the_vote_share_is_calibrated(tmp_path: Path) -> None:
    questions = some_questions(12)
    with Answers(tmp_path, questions, settings(samples=5)) as answers:
        ask_all(questions, InspectionOptions(Varied, samples=5), answers)
    found = of_run(Run.read(tmp_path))
    (one,) = found.calibrations
    assert one.source == "vote_share"
    assert one.n + one.without == 12
    assert "the share of YES among the 5 samples of a question" in table.calibrated(found, one)


def test_without_p_the_report_gives_the_reason(tmp_path: Path) -> None:
    questions = some_questions(4)
    with Answers(tmp_path, questions, settings()) as answers:
        ask_all(questions, InspectionOptions(Varied), answers)
    run = Run.read(tmp_path)
    assert report.write(of_run(run), run.settings)["calibration"] == []
    text = (tmp_path / report.REPORT).read_text()
    assert "Not defined: the answers have no probability, and each question has one sample." in text


def test_the_table_has_the_calibration_of_a_specialist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cnn.jsonl"
    write_predictions(path, with_p("++--", [0.9, 0.6, 0.7, 0.1]))
    assert app.main(["bench", "table", str(path), "--no-published"]) == 0
    out = capsys.readouterr().out
    assert "cnn: P(YES), the probability that the specialist gives: Brier score 0.16" in out
    assert "ROC AUC 0.750" in out
    assert app.main(["bench", "table", str(path), "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["rows"][0]["calibration"]
    assert one["auc"]["value"] == pytest.approx(0.75)
    assert row(path).calibrations[0].n == 4
