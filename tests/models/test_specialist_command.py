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
    """Cataclysmic variables against what looks alike, negatives drawn by a network trained on the way."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("bench")
    wanted = orders(for_task("cv", 170, (3, 14)), ["LAMOST"], (12, 40), seed=2)
    assert len(list(write(folder / "spectra", wanted, ["cv"]))) == 170
    given = ["--labels", folder / "spectra" / "labels.csv", "--task", "cv", "--output", folder / "made"]
    given += ["--keep", 0.3, "--test-ratio", "1:2", "--fill"]
    assert app.main(["bench", "build", str(folder / "spectra"), *map(str, given)]) == 0
    return folder / "made"


@pytest.fixture(scope="module")
def specialist(benchmark: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specialist") / "cv"
    given = ["--data", benchmark, "--task", "cv", "--output", folder]
    given += ["--set", "epochs=6", "batch=8", "steps=6", "held_out=0.25"]
    assert app.main(["specialist", "train", *map(str, given)]) == 0
    return folder


def test_what_the_weak_classifier_learned_from_is_set_aside(benchmark: Path) -> None:
    said: dict[str, Any] = json.loads((benchmark / "build_cv.json").read_text())
    weak = said["weak_classifier"]
    assert weak["trained_on"] == {"YES": said["parts"]["train"]["YES"], "NO": len(weak["set_aside"])}
    used = {name for sources in said["sources"].values() for name in sources}
    assert not used & set(weak["set_aside"])
    assert said["candidates"]["scored"] > 0
    assert "a small 1-D network trained on" in (benchmark / "card_cv.md").read_text()


def test_train_predict_and_table_agree_on_one_split(
    benchmark: Path, specialist: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = json.loads((benchmark / "build_cv.json").read_text())
    card = Specialist.load(specialist).card
    assert card["sources"] == said["sources"]["train"]
    assert card["simulated"] == len(card["sources"])
    assert card["surveys"] == {"simulated LAMOST": len(card["sources"])}
    assert app.main(["specialist", "predict", str(specialist), "--data", str(benchmark)]) == 0
    rows = [json.loads(line) for line in (specialist / "predictions.jsonl").read_text().splitlines()]
    assert sorted(row["source"] for row in rows) == said["sources"]["test"]
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
    """A benchmark made here is one for everybody: here for the policy that measures."""
    given = ["--data", benchmark, "--policy", "baseline", "--output", tmp_path / "run", "--limit", 6]
    assert app.main(["bench", *map(str, given), "--gallery", "0"]) == 0
    answers = (tmp_path / "run" / "answers.jsonl").read_text().splitlines()
    assert len(answers) == 6


def test_a_specialist_is_not_tested_on_what_it_learned(
    benchmark: Path, specialist: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = benchmark / "data" / "train_cv.parquet"
    assert app.main(["specialist", "predict", str(specialist), "--data", str(train)]) == 2
    assert "spectra of its own training" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["train", "--task", "cv", "--output", "x", "--set", "epoch=3"], "did you mean epochs?"),
        (["train", "--task", "cv", "--output", "x", "--set", "batch=1"], "batch: found 1, expected a whole number"),
        (["train", "--task", "wd", "--output", "x"], "found no question of task wd"),
        (["predict", "nowhere"], "nowhere/specialist.json: No such file or directory"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(
    benchmark: Path, capsys: pytest.CaptureFixture[str], given: list[str], words: str
) -> None:
    assert app.main(["specialist", *given, "--data", str(benchmark)]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


def test_the_shipped_settings_are_the_defaults() -> None:
    from training.cli.specialist import CONFIG
    from training.settings import read
    from training.specialist import SpecialistSettings

    assert read(CONFIG, SpecialistSettings) == SpecialistSettings()
