"""From simulated files to the table: simulate, bench build, specialist train and predict, bench table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import app
from agent.simulate.files import for_task, orders, write
from training.specialist import Specialist

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cataclysmic variables and look-alikes; the hard negatives are chosen by a network trained for it."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("bench")
    requested = orders(for_task("cv", 170, (3, 14)), ["LAMOST"], (12, 40), seed=2)
    assert len(list(write(folder / "spectra", requested, ["cv"]))) == 170
    arguments = ["--labels", folder / "spectra" / "labels.csv", "--task", "cv", "--out", folder / "made"]
    arguments += ["--keep", 0.3, "--test-ratio", "1:2", "--fill"]
    assert app.main(["bench", "build", str(folder / "spectra"), *map(str, arguments)]) == 0
    return folder / "made"


@pytest.fixture(scope="module")
def specialist(benchmark: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specialist") / "cv"
    arguments = ["--data", benchmark, "--task", "cv", "--out", folder]
    arguments += ["--set", "epochs=6", "batch=8", "steps=6", "held_out=0.25"]
    assert app.main(["specialist", "train", *map(str, arguments)]) == 0
    return folder


def test_the_training_spectra_of_the_weak_classifier_are_set_aside(benchmark: Path) -> None:
    record: dict[str, Any] = json.loads((benchmark / "build_cv.json").read_text())
    weak = record["weak_classifier"]
    assert weak["trained_on"] == {"YES": record["parts"]["train"]["YES"], "NO": len(weak["set_aside"])}
    used = {name for sources in record["sources"].values() for name in sources}
    assert not used & set(weak["set_aside"])
    assert record["candidates"]["scored"] > 0
    assert "a small 1-D network trained on" in (benchmark / "card_cv.md").read_text()


def test_train_predict_and_table_agree_on_one_split(
    benchmark: Path, specialist: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = json.loads((benchmark / "build_cv.json").read_text())
    card = Specialist.load(specialist).card
    assert card["sources"] == record["sources"]["train"]
    assert card["simulated"] == len(card["sources"])
    assert card["surveys"] == {"simulated LAMOST": len(card["sources"])}
    assert app.main(["specialist", "predict", str(specialist), "--data", str(benchmark)]) == 0
    rows = [json.loads(line) for line in (specialist / "predictions.jsonl").read_text().splitlines()]
    assert sorted(row["source"] for row in rows) == record["sources"]["test"]
    threshold = Specialist.load(specialist).threshold
    for row in rows:
        assert row["predicted"] == ("YES" if row["probability"] >= threshold else "NO")
        assert row["simulated"] is True
        assert row["drafter"]["kind"] == "specialist"
    capsys.readouterr()
    assert app.main(["bench", "table", str(specialist), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["simulated"] == "yes"
    assert row["scores"]["n"] == len(rows)


def test_the_baseline_answers_the_same_questions(benchmark: Path, tmp_path: Path) -> None:
    """Any policy can run a benchmark made here; this test uses the baseline."""
    arguments = ["--data", benchmark, "--policy", "baseline", "--out", tmp_path / "run", "--per-task", 6]
    assert app.main(["bench", *map(str, arguments), "--gallery", "0"]) == 0
    answers = (tmp_path / "run" / "answers.jsonl").read_text().splitlines()
    assert len(answers) == 6


def test_a_specialist_is_not_tested_on_its_training_spectra(
    benchmark: Path, specialist: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = benchmark / "data" / "train_cv.parquet"
    assert app.main(["specialist", "predict", str(specialist), "--data", str(train)]) == 2
    assert "spectra of its own training" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "--task", "cv", "--out", "x", "--set", "epoch=3"], "did you mean epochs?"),
        (["train", "--task", "cv", "--out", "x", "--set", "batch=1"], "batch: found 1, expected a whole number"),
        (["train", "--task", "wd", "--out", "x"], "found no question of task wd"),
        (["predict", "nowhere"], "nowhere/specialist.json: No such file or directory"),
    ],
)
def test_bad_arguments_are_reported_in_one_line(
    benchmark: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert app.main(["specialist", *arguments, "--data", str(benchmark)]) == 2
    stderr = capsys.readouterr().err
    assert words in stderr
    assert stderr.count("\n") == 1


def test_the_shipped_settings_are_the_defaults() -> None:
    from training.cli.common import config_file
    from training.settings import read
    from training.specialist import SpecialistSettings

    assert read(config_file("specialist"), SpecialistSettings) == SpecialistSettings()
