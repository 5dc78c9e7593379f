"""The specialist, trained on simulated spectra: learning, reproducibility, saving; and its input channels."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import app
from agent.loop import run
from agent.policies.specialist.grid import FIRST, LAST, PIXELS, channels, sample
from agent.policies.specialist.network import Network, SpecialistFolder
from agent.policies.specialist.policy import Specialist as SpecialistPolicy
from agent.simulate import simulate, truth
from agent.simulate.files import for_task, orders
from agent.spectrum import Spectrum
from agent.tasks import load
from training.data.records import Question
from training.settings import SettingsError, from_mapping
from training.specialist import Specialist, SpecialistError, SpecialistSettings, train
from training.specialist.learning import log_odds, threshold_for, varied

torch = pytest.importorskip("torch")

TASK = load()["cv"]
QUICK = SpecialistSettings(epochs=8, patience=4, batch=16, steps=6, seed=3)


def questions(number: int, seed: int, ratio: tuple[int, int] = (1, 1)) -> list[Question]:
    requested = orders(for_task("cv", number, ratio), ["LAMOST", "SDSS"], (10, 40), seed)
    return [
        Question(
            key=str(order.seed),
            source=f"simulated-{order.kind}-{order.seed}.fits",
            task=TASK,
            label=truth(order.kind, "cv"),
            survey=f"simulated {order.survey}",
            snr=order.snr,
            simulated=True,
            spectrum=order.spectrum,
        )
        for order in requested
    ]


@pytest.fixture(scope="module")
def learned() -> Specialist:
    torch.set_num_threads(1)
    return train(questions(96, seed=0), QUICK)


@pytest.fixture(scope="module")
def unseen() -> list[Question]:
    return questions(48, seed=1)


def spectra(questions: list[Question]) -> list[Spectrum]:
    return [question.spectrum() for question in questions]


def test_it_learns_to_recognise_cataclysmic_variables(learned: Specialist, unseen: list[Question]) -> None:
    p = learned.predict(spectra(unseen))
    yes = np.array([question.label == "YES" for question in unseen])
    # Guessing gives 36 or more of 48 right with a probability of 4 in 10,000.
    assert (((p >= learned.threshold) == yes).sum()) >= 36
    assert p[yes].mean() > p[~yes].mean() + 0.2


def test_its_card_records_the_training_data(learned: Specialist) -> None:
    card = learned.card
    assert card["simulated"] == 96
    assert {label: card["train"][label] + card["held_out"][label] for label in ("YES", "NO")} == {"YES": 48, "NO": 48}
    assert len(card["sources"]) == 96
    kept = card["log"][card["epoch_kept"] - 1]
    assert kept["held_out_loss"] == min(line["held_out_loss"] for line in card["log"])


def test_one_seed_gives_one_network_and_another_seed_another(learned: Specialist) -> None:
    few = questions(20, seed=2)
    settings = SpecialistSettings(epochs=2, batch=8, steps=2, seed=5)
    first, again = train(few, settings), train(few, settings)
    other = train(few, SpecialistSettings(epochs=2, batch=8, steps=2, seed=6))
    inputs = spectra(few[:4])
    assert np.array_equal(first.predict(inputs), again.predict(inputs))
    assert first.card == again.card
    assert not np.array_equal(first.predict(inputs), other.predict(inputs))


def test_training_does_not_change_torchs_random_state() -> None:
    torch.manual_seed(11)
    before = torch.random.get_rng_state()
    train(questions(8, seed=2), SpecialistSettings(epochs=1, steps=1, held_out=0.5))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_saved_and_loaded_specialist_predicts_the_same(
    learned: Specialist, unseen: list[Question], tmp_path: Path
) -> None:
    learned.save(tmp_path / "cv")
    again = Specialist.load(tmp_path / "cv")
    inputs = spectra(unseen[:6])
    assert np.array_equal(again.predict(inputs), learned.predict(inputs))
    assert (again.task, again.threshold, again.settings, again.card) == (
        learned.task,
        learned.threshold,
        learned.settings,
        learned.card,
    )


def test_numpy_computes_what_torch_computes(learned: Specialist, unseen: list[Question], tmp_path: Path) -> None:
    learned.save(tmp_path)
    rows = np.concatenate([channels(sample(spectrum)) for spectrum in spectra(unseen)])
    numpy = Network.load(SpecialistFolder.read(tmp_path)).log_odds(rows)
    torchs = log_odds(learned.network, rows)
    assert np.abs(torchs).max() > 0.5
    assert np.abs(numpy - torchs).max() < 1e-4


def test_the_policy_gives_the_verdict_of_the_specialist_with_the_distance_from_its_threshold(
    learned: Specialist, unseen: list[Question], tmp_path: Path
) -> None:
    learned.save(tmp_path)
    policy, inputs = SpecialistPolicy(tmp_path), spectra(unseen[:8])
    for spectrum, p in zip(inputs, learned.predict(inputs), strict=True):
        trace = run(spectrum, TASK, policy)
        assert trace.answer is not None
        assert trace.answer.verdict == learned.verdict(p)
        assert trace.answer.score is not None
        threshold = np.log(learned.threshold / (1 - learned.threshold))
        assert trace.answer.score == pytest.approx(np.log(p / (1 - p)) - threshold, abs=1e-4)
        assert (trace.zooms, trace.faults) == ((), ())


def test_the_weights_of_earlier_releases_are_read(learned: Specialist, tmp_path: Path) -> None:
    import torch

    learned.save(tmp_path)
    (tmp_path / "weights.safetensors").unlink()
    torch.save(learned.network.state_dict(), tmp_path / "weights.pt")
    file = tmp_path / "specialist.json"
    digest = hashlib.sha256((tmp_path / "weights.pt").read_bytes()).hexdigest()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"weights_sha256": digest}))
    again, state = Specialist.load(tmp_path).network.state_dict(), learned.network.state_dict()
    assert all(torch.equal(again[name], value) for name, value in state.items())


def test_a_specialist_has_a_model_card(learned: Specialist, tmp_path: Path) -> None:
    learned.save(tmp_path / "cv-net")
    card = (tmp_path / "cv-net" / "README.md").read_text("utf-8")
    assert card.startswith("---\nlicense: unknown\n")
    assert "# cv-net\n" in card
    counts = {label: learned.card["train"][label] + learned.card["held_out"][label] for label in ("YES", "NO")}
    assert f"| cv | {counts['YES']} | {counts['NO']} |" in card
    assert f"| epochs | {len(learned.card['log'])} |" in card
    assert not any(source in card for source in learned.card["sources"])
    assert app.main(["model", "card", str(tmp_path / "cv-net"), "--license", "mit"]) == 0
    assert (tmp_path / "cv-net" / "README.md").read_text("utf-8").startswith("---\nlicense: mit\n")
    assert app.main(["model", "push", str(tmp_path / "cv-net"), "--out", str(tmp_path / "hub")]) == 0
    assert Specialist.load(tmp_path / "hub").threshold == learned.threshold


def test_a_folder_without_a_specialist_or_with_other_weights_is_refused(learned: Specialist, tmp_path: Path) -> None:
    with pytest.raises(SpecialistError, match=r"specialist\.json: No such file"):
        Specialist.load(tmp_path)
    learned.save(tmp_path)
    weights = (tmp_path / "weights.safetensors").read_bytes()
    (tmp_path / "weights.safetensors").write_bytes(weights[:-1])
    with pytest.raises(SpecialistError, match="found other bytes"):
        Specialist.load(tmp_path)
    card = json.loads((tmp_path / "specialist.json").read_text())
    (tmp_path / "specialist.json").write_text(json.dumps(card | {"schema": "other"}))
    with pytest.raises(SpecialistError, match="schema: found 'other'"):
        Specialist.load(tmp_path)


def test_too_little_training_data_is_reported() -> None:
    with pytest.raises(SpecialistError, match="found 0 sources that are YES"):
        train(questions(6, seed=0, ratio=(0, 1)), QUICK)
    with pytest.raises(SpecialistError, match="found questions of no task"):
        train([], QUICK)


def test_every_row_of_a_source_is_on_one_side() -> None:
    """A held-out source is held out in every row; otherwise validation would use training spectra."""
    repeated = [question for question in questions(8, seed=0) for _ in range(3)]
    card = train(repeated, SpecialistSettings(epochs=1, steps=1, held_out=0.5)).card
    assert card["train"] == card["held_out"] == {"YES": 6, "NO": 6}


@pytest.mark.parametrize("survey", ["LAMOST", "SDSS", "DESI"])
def test_a_line_has_the_same_grid_position_for_every_survey(survey: str) -> None:
    spectrum = simulate("pn", survey, 50, seed=0)
    rows = channels(sample(spectrum))
    assert rows.shape == (1, 3, PIXELS)
    grid = np.geomspace(FIRST, LAST, PIXELS + 1)
    oxygen = int(np.searchsorted(grid, 5008.24)) - 1
    near = rows[0, 1, oxygen - 40 : oxygen + 41]
    assert abs(int(np.argmax(near)) - 40) <= 3


def test_pixels_without_data_are_zero_and_masked() -> None:
    spectrum = simulate("a", "SDSS", 30, seed=0)
    rows = channels(sample(spectrum))
    # SDSS begins at 3800 Å, 100 Å after the start of the grid.
    assert not rows[0, :, :80].any()
    assert (rows[0, 2, 100:2900] > 0).mean() > 0.98  # except dead columns
    nothing = Spectrum(spectrum.wavelength, spectrum.flux, np.zeros(len(spectrum)))
    assert not channels(sample(nothing)).any()


def test_varied_shifts_and_tilts_but_adds_no_data() -> None:
    rows = sample(simulate("cv", "SDSS", 20, seed=1))
    other = varied(rows, np.random.default_rng(0), SpecialistSettings(shift=3))
    assert other.flux.shape == rows.flux.shape
    assert not np.array_equal(other.flux, rows.flux)
    # The first 40 pixels are before SDSS begins: a shift of three pixels must not fill them.
    assert not other.flux[0, :40].any()


def test_the_threshold_is_the_one_with_the_best_f1() -> None:
    p = np.array([0.1, 0.2, 0.6, 0.7, 0.9])
    yes = np.array([False, False, False, True, True])
    threshold, f1 = threshold_for(p, yes)
    assert 0.6 < threshold < 0.7
    assert f1 == 1.0


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(SettingsError, match="held_out: found 1"):
        from_mapping({"held_out": 1.0}, SpecialistSettings, "file")
    with pytest.raises(SettingsError, match="batch: found 1"):
        from_mapping({"batch": 1}, SpecialistSettings, "file")
