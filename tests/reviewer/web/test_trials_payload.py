"""Evidence on trial in an item's payload: only of the version that was tried, and never while the answer is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from agent import tool
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Trajectory
from agent.trial.making import edited_again
from agent.trial.report import Skipped, Trial
from agent.trial.run import trial
from reviewer.store import Draft, Store, TrialRow
from tests.reviewer.web.conftest import client_of
from tests.support.drawn_traces import a_removal, a_spectrum, a_store, a_trace, decide, revise

pytestmark = pytest.mark.usefixtures("without_page")

WRITTEN = "No line stands out at Hα any more."
HIDDEN = {"verdict_first": "true"}


def a_trial(trajectory: Trajectory, seed: int = 0) -> Trial:
    """One removal that was followed and one placebo that changed nothing, on the first zoom; the second is skipped."""
    removal = replace(a_removal(), text_after=WRITTEN)
    placebo = replace(removal, edit="placebo", verdict_after="YES", claimed_after=True, followed=False)
    return Trial(
        content_hash=trajectory.content_hash(),
        spectrum_sha256=str(trajectory.spectrum_sha256),
        task="cv",
        drafter={"kind": "baseline", "name": "baseline, no model", "settings": {}},
        seed=seed,
        outcomes=(removal, placebo),
        skipped=(Skipped("s4", None, "the call got no picture and no number"),),
    )


def record(store: Store, *trials: Trial) -> None:
    rows = [TrialRow(trial.content_hash, trial.passed, trial.to_json()) for trial in trials]
    assert store.trust.record_trials("AA", rows).added == len(trials)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Item 1 with a trial, item 2 without one, and three people with all roles."""
    with a_store(tmp_path / "annotations.db", solo=True) as store:
        for number, name in enumerate(("a.fits", "b.fits")):
            spectrum = a_spectrum(name, redshift=0.01 + number / 1000)
            store.items.add_all([Draft(a_trace(spectrum), spectrum, batch="first")])
        record(store, a_trial(store.items.get(1).version.trajectory))
        yield store


@pytest.fixture
def client(store: Store) -> TestClient:
    return client_of(store, "AA")


def trial_of(client: TestClient, item: int, **query: str) -> Any:
    return client.get(f"/api/v1/item/{item}", params=query).json()["trial"]


def test_the_payload_has_the_last_trial_of_the_version(store: Store, client: TestClient) -> None:
    shown = trial_of(client, 1)
    assert shown["of_this_version"] is True
    assert shown["necessity"] == {"k": 1, "n": 1}
    assert shown["placebo"] == {"k": 0, "n": 1}
    assert shown["passed"] is True
    assert [(o["number"], o["step"], o["edit"], o["followed"]) for o in shown["outcomes"]] == [
        (0, "s2", "remove", True),
        (1, "s2", "placebo", False),
    ]
    texts = client.get(f"/api/v1/item/1/trial/{shown['key']}/0/texts")
    assert texts.json() == {"after": WRITTEN, "before": ""}
    assert client.get(f"/api/v1/item/1/trial/{shown['key']}/2/texts").status_code == 404
    assert shown["skipped"] == [{"step": "s4", "edit": None, "reason": "the call got no picture and no number"}]
    assert trial_of(client, 2) is None
    record(store, a_trial(store.items.get(1).version.trajectory, seed=7))
    after = trial_of(client, 1)
    assert (shown["seed"], after["seed"]) == (0, 7)
    assert shown["key"] != after["key"]


def test_an_edited_version_has_no_result_of_the_earlier_one(store: Store, client: TestClient) -> None:
    decide(store, "AA", 1, "keep")
    revise(store, "AA", 1)
    assert trial_of(client, 1) == {"of_this_version": False}
    record(store, a_trial(store.items.get(1).version.trajectory))
    assert trial_of(client, 1)["of_this_version"] is True


def test_nothing_of_a_trial_is_sent_while_the_answer_is_hidden(store: Store, client: TestClient) -> None:
    key = trial_of(client, 1)["key"]
    answer = client.get("/api/v1/item/1", params=HIDDEN)
    assert answer.json()["hidden"] is True
    assert answer.json()["trial"] is None
    assert WRITTEN not in answer.text
    for what in ("texts", "picture"):
        assert client.get(f"/api/v1/item/1/trial/{key}/0/{what}", params=HIDDEN).status_code == 403
    store.settings.set("AA", "verdict_first", ["first"])
    assert trial_of(client, 1) is None
    for what in ("texts", "picture"):
        assert client.get(f"/api/v1/item/1/trial/{key}/0/{what}").status_code == 403
    version = store.items.get(1).version.id
    assert client.post("/api/v1/item/1/verdict", json={"version": version, "verdict": "NO"}).status_code == 200
    assert trial_of(client, 1)["of_this_version"] is True


@pytest.fixture(scope="module")
def real() -> tuple[Spectrum, Trajectory, Trial]:
    """A trial of the baseline on a simulated CV: a removal and a placebo on its first zoom."""
    spectrum, task = simulate("cv", "SDSS", 18.0, 2), load()["cv"]
    whole = run(spectrum, task, Baseline())
    trajectory = whole.with_steps((*whole.steps[:3], whole.steps[-1]))
    return spectrum, trajectory, trial(trajectory, None, spectrum, task, Baseline(), edits=("remove", "placebo"))


def test_the_edited_window_is_drawn_again_from_the_stored_seed(
    store: Store, client: TestClient, real: tuple[Spectrum, Trajectory, Trial]
) -> None:
    spectrum, trajectory, tried = real
    item = store.items.add_all([Draft(trajectory, spectrum, batch="real")])[0].item_id
    record(store, tried)
    shown = trial_of(client, item)
    address = f"/api/v1/item/{item}/trial/{shown['key']}"
    removal = next(o for o in shown["outcomes"] if o["edit"] == "remove" and o["subject"] == "Hα")
    answer = client.get(f"{address}/{removal['number']}/picture")
    assert answer.headers["content-type"] == "image/png"
    picture = pixels(answer.content)
    zoom = next(zoom for zoom in trajectory.zooms if zoom.id == removal["step"])
    original = tool.call(spectrum, dict(zoom.arguments)).image
    lo, hi = removal["window"]
    assert original is not None
    assert not np.array_equal(picture, np.asarray(original))
    _, edited = edited_again(tried, removal["number"], trajectory, spectrum, load()["cv"])
    assert np.array_equal(picture, np.asarray(tool.call(edited.spectrum, dict(zoom.arguments)).image))
    inside = (spectrum.wavelength > lo) & (spectrum.wavelength < hi)
    assert edited.spectrum.flux[inside].max() < 0.6 * spectrum.flux[inside].max()
    assert client.get(f"{address}/{len(shown['outcomes'])}/picture").status_code == 404
    assert client.get(f"/api/v1/item/{item}/trial/another/{removal['number']}/picture").status_code == 404


def test_an_edit_that_cannot_be_repeated_gives_no_picture(
    store: Store, client: TestClient, real: tuple[Spectrum, Trajectory, Trial]
) -> None:
    spectrum, trajectory, tried = real
    item = store.items.add_all([Draft(trajectory, spectrum, batch="real")])[0].item_id
    changed = tuple(replace(outcome, energy=2 * outcome.energy) for outcome in tried.outcomes)
    record(store, replace(tried, outcomes=changed))
    key = trial_of(client, item)["key"]
    answer = client.get(f"/api/v1/item/{item}/trial/{key}/0/picture")
    assert answer.status_code == 404
    assert "run the trial again" in answer.json()["error"]


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(png)).convert("RGBA"))
