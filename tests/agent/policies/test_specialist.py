"""The specialist as a policy: its answers, what it refuses, and ``spec-o3 inspect`` with it. Without torch."""

from __future__ import annotations

import csv
import json
import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import app
from agent import tasks
from agent.loop import run
from agent.policies.specialist.grid import PIXELS, channels, sample
from agent.policies.specialist.network import Network, SpecialistError, SpecialistFolder
from agent.policies.specialist.policy import ManySpectra, Specialist
from agent.simulate import simulate
from agent.spectrum import Spectrum
from tests.support.specialist import specialist

CV = tasks.load()["cv"]
STAR = simulate("cv", "SDSS", 30, seed=1)


def test_it_answers_in_one_turn_with_a_score_that_is_0_at_its_threshold(tmp_path: Path) -> None:
    policy = Specialist(specialist(tmp_path, threshold=0.4))
    trace = run(STAR, CV, policy)
    rows = channels(sample(STAR))
    log_odds = float(Network.load(SpecialistFolder.read(tmp_path)).log_odds(rows)[0])
    assert trace.answer is not None
    assert trace.answer.score == pytest.approx(log_odds - math.log(0.4 / 0.6))
    assert trace.answer.verdict == ("YES" if trace.answer.score >= 0 else "NO")
    assert (trace.zooms, trace.faults, trace.cannot_tell) == ((), (), "")
    assert policy.drafter.settings.items() <= trace.drafter.settings.items()
    assert (
        trace.drafter.settings["weights_sha256"]
        == json.loads((tmp_path / "specialist.json").read_text())["weights_sha256"]
    )


def test_the_threshold_decides_the_verdict(tmp_path: Path) -> None:
    low = run(STAR, CV, Specialist(specialist(tmp_path / "low", threshold=1e-6))).answer
    high = run(STAR, CV, Specialist(specialist(tmp_path / "high", threshold=1 - 1e-6))).answer
    assert low is not None
    assert high is not None
    assert (low.verdict, high.verdict) == ("YES", "NO")


def test_without_data_on_its_grid_it_cannot_tell(tmp_path: Path) -> None:
    policy = Specialist(specialist(tmp_path))
    nothing = Spectrum(STAR.wavelength, STAR.flux, np.zeros(len(STAR)))
    assert not channels(sample(nothing)).any()
    infrared = replace(STAR, wavelength=STAR.wavelength + 10000.0)
    assert run(infrared, CV, policy).cannot_tell == "there are no data between 3700 and 9000 Å"


def test_rows_are_computed_one_by_one_and_alike(tmp_path: Path) -> None:
    network = Network.load(SpecialistFolder.read(specialist(tmp_path)))
    rows = np.random.default_rng(0).normal(size=(3, 3, PIXELS)).astype(np.float32)
    together = network.log_odds(rows)
    assert len({round(float(one), 6) for one in together}) == 3
    assert np.array_equal(together, [network.log_odds(row[None])[0] for row in rows])
    assert network.log_odds(rows[:0]).shape == (0,)


def test_it_can_be_sent_to_another_process(tmp_path: Path) -> None:
    policy = ManySpectra(specialist(tmp_path))(3)
    before = run(STAR, CV, policy)
    after = run(STAR, CV, pickle.loads(pickle.dumps(policy)))
    assert before.answer == after.answer


def test_another_task_is_refused_before_an_answer(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="found a specialist for 'wd', expected one for cv"):
        run(STAR, CV, Specialist(specialist(tmp_path, task="wd")))


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ({"schema": "other"}, "schema: found 'other', expected 'spec-o3/specialist/1'"),
        ({"threshold": 1.0}, "threshold: found 1.0, expected a number between 0 and 1"),
        ({"threshold": None}, "threshold: found None, expected a number between 0 and 1"),
        ({"weights_sha256": "0"}, "found other bytes than specialist.json says"),
    ],
)
def test_a_damaged_folder_is_reported(tmp_path: Path, card: dict[str, Any], message: str) -> None:
    health = Specialist(specialist(tmp_path, **card)).check()
    assert not health.ok or "threshold" in message
    with pytest.raises(SpecialistError, match=message):
        _ = Specialist(tmp_path).drafter


def test_weights_of_another_shape_or_none_are_reported(tmp_path: Path) -> None:
    assert "specialist.json: No such file" in Specialist(tmp_path).check().sentence
    with pytest.raises(SpecialistError, match=r"weights: body\.0\.weight: found nothing, expected the shape"):
        Network({})
    with pytest.raises(SpecialistError, match=r"body\.0\.weight: found the shape \(2, 2\), expected"):
        Network({"body.0.weight": np.zeros((2, 2), np.float32)})


@pytest.fixture
def sky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with six simulated spectra in ``sky``."""
    monkeypatch.chdir(tmp_path)
    assert app.main(["simulate", "--out", "sky", "--task", "cv", "--n", "6"]) == 0
    return tmp_path


def rows(path: str = "t.csv") -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_inspect_with_a_specialist_alone_in_threads_and_in_processes(sky: Path) -> None:
    specialist(sky / "net")
    command = ["inspect", "sky", "--task", "cv", "--policy", "specialist", "--model", "net"]
    assert app.main([*command, "--out", "a.jsonl", "--table", "a.csv", "--concurrency", "2"]) == 0
    assert app.main([*command, "--out", "b.jsonl", "--table", "b.csv", "--processes", "2"]) == 0
    first, second = rows("a.csv"), rows("b.csv")
    assert len(first) == 6
    assert len({row["score"] for row in first}) == 6
    assert [(row["file"], row["verdict"], row["score"]) for row in first] == [
        (row["file"], row["verdict"], row["score"]) for row in second
    ]
    assert app.main([*command, "--out", "a.jsonl", "--table", "a.csv", "--concurrency", "2"]) == 0
    specialist(sky / "net", seed=1)
    assert app.main([*command, "--out", "a.jsonl"]) == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "--policy specialist needs --model, a folder of `spec-o3 specialist train`"),
        (["--model", "nowhere"], "nowhere/specialist.json: No such file"),
        (["--model", "wd"], "found a specialist for 'wd', expected one for cv"),
        (["--model", "wd", "--temperature", "1"], "--temperature has no effect with --policy specialist"),
    ],
)
def test_inspect_refuses_a_specialist_that_cannot_be_used(sky, capsys, more, message):
    specialist(sky / "wd", task="wd")
    command = ["inspect", "sky", "--task", "cv", "--policy", "specialist", "--out", "r.jsonl"]
    assert app.main([*command, *more]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not Path("r.jsonl").exists()
