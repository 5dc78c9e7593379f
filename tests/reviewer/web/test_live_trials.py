"""Evidence on trial in the Live tab: started on a finished trace, watched, stopped; only its owner gets it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.conversation import Conversation, Piece
from agent.policies import Sampling
from agent.policies.baseline.rule import Baseline
from agent.policies.roster import Roster
from agent.simulate import simulate
from agent.tasks import load
from agent.trajectory import Drafter, TrajectoryError
from reviewer import server
from reviewer.live.run import Run, RunSettings
from reviewer.live.runs import Runs, TooManyRunning
from reviewer.store import Draft, NotFound, Store
from tests.reviewer.web.conftest import client_of, events_of
from tests.support.drawn_traces import a_store, a_trace

pytestmark = pytest.mark.usefixtures("without_page")

SPECTRUM = simulate("cv", "LAMOST", 25.0, 1)
TWO_TURNS = 2
"""A zoom and the answer: the baseline knows how many turns are left."""


class Waits:
    """The baseline, which waits in every turn once ``waits`` is set."""

    def __init__(self) -> None:
        self.waits = False
        self.is_waiting = threading.Event()
        self._baseline = Baseline()

    @property
    def drafter(self) -> Drafter:
        return self._baseline.drafter

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        if self.waits:
            self.is_waiting.set()
            conversation.stop.wait(60)
        yield from self._baseline.turn(conversation)


@pytest.fixture
def runs() -> Iterator[Runs]:
    runs = Runs(lambda spectrum, zoom, task, text, others: [])
    yield runs
    runs.close()


def finished(runs: Runs, policy: Waits) -> Run:
    who = Drafter("baseline", "baseline")
    settings = RunSettings("b", SPECTRUM, load()["cv"], "baseline", who, Sampling(), max_turns=TWO_TURNS)
    run = runs.start("AA", settings, [policy])
    events_of(run.log)
    return run


def test_a_trial_reports_its_progress_and_ends_with_its_result(runs: Runs) -> None:
    run = finished(runs, Waits())
    tried = runs.try_evidence(run, run.samples[0])
    first, *_, last = events_of(tried.log)
    assert first == {"kind": "progress", "done": 0, "of": 1}
    assert (last["kind"], last["state"], last["detail"]) == ("over", "done", "")
    assert {outcome["edit"] for outcome in last["result"]["outcomes"]} == {"remove", "flip", "shift", "placebo"}
    assert last["result"]["necessity"] == {"k": 1, "n": 1}
    assert last["result"]["placebo"] == {"k": 0, "n": 1}
    assert tried.result is not None
    assert tried.result.content_hash == run.samples[0].trajectory.content_hash()


def test_a_trial_can_be_stopped_and_nothing_of_it_is_kept(runs: Runs) -> None:
    policy = Waits()
    run = finished(runs, policy)
    policy.waits = True
    tried = runs.try_evidence(run, run.samples[0])
    assert policy.is_waiting.wait(60)
    with pytest.raises(TooManyRunning):
        runs.try_evidence(run, run.samples[0])
    tried.stop.set()
    assert events_of(tried.log)[-1] == {"kind": "over", "state": "stopped", "detail": "", "result": None}
    policy.waits = False
    again = runs.try_evidence(run, run.samples[0])
    assert events_of(again.log)[-1]["state"] == "done"


def test_a_run_is_kept_while_its_trial_is_running(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewer.live.runs.MOST_FINISHED", 0)
    policy = Waits()
    run = finished(runs, policy)
    policy.waits = True
    tried = runs.try_evidence(run, run.samples[0])
    assert policy.is_waiting.wait(60)
    other = finished(runs, Waits())
    assert runs.of("AA", run.id) is run
    with pytest.raises(TooManyRunning):
        runs.try_evidence(other, other.samples[0])
    tried.stop.set()
    events_of(tried.log)
    finished(runs, Waits())
    with pytest.raises(NotFound):
        runs.of("AA", run.id)


def test_a_result_that_cannot_be_sent_ends_the_trial(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise KeyError("drafter")

    monkeypatch.setattr("reviewer.live.trials.result_json", fails)
    run = finished(runs, Waits())
    last = events_of(runs.try_evidence(run, run.samples[0]).log)[-1]
    assert (last["state"], last["result"]) == ("failed", None)
    assert "Internal error" in last["detail"]


def test_a_running_sample_cannot_be_tried(runs: Runs) -> None:
    policy = Waits()
    policy.waits = True
    who = Drafter("baseline", "baseline")
    run = runs.start("AA", RunSettings("b", SPECTRUM, load()["cv"], "baseline", who, Sampling()), [policy])
    assert policy.is_waiting.wait(60)
    with pytest.raises(TrajectoryError, match="still running"):
        runs.try_evidence(run, run.samples[0])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with a_store(tmp_path / "annotations.db", solo=True) as store:
        store.items.add_all([Draft(a_trace(SPECTRUM), SPECTRUM)])
        yield store


def test_the_page_starts_a_trial_and_gets_texts_and_pictures(store: Store) -> None:
    app = server.build(store, local=True, roster=Roster(()))
    mine, theirs = client_of(app, "AA"), client_of(app, "BB")
    row = mine.post("/api/v1/live/bench", json={"item": 1}).json()["id"]

    def run_of(policy: str) -> str:
        sent = {"bench": row, "task": "cv", "policy": policy, "max_turns": TWO_TURNS}
        run = mine.post("/api/v1/live/runs", json=sent).json()["run"]
        events_of(app.state.live.runs.of("AA", run).log)
        return f"/api/v1/live/runs/{run}"

    replayed = mine.post(f"{run_of('replay')}/trial", json={})
    assert replayed.status_code >= 400
    assert "Replay repeats a stored trace" in replayed.json()["error"]
    run = run_of("baseline")
    assert mine.get(run).json()["trials"] == [False]
    assert mine.get(f"{run}/trial/events").status_code == 404
    assert theirs.post(f"{run}/trial", json={}).status_code == 404
    assert mine.post(f"{run}/trial", json={}).status_code == 200
    assert '"kind": "over", "state": "done"' in mine.get(f"{run}/trial/events").text
    assert mine.get(run).json()["trials"] == [True]
    assert mine.get(f"{run}/trial/0/texts").json()["after"]
    assert mine.get(f"{run}/trial/0/picture").content.startswith(b"\x89PNG")
    for path in ("events", "0/texts", "0/picture"):
        assert theirs.get(f"{run}/trial/{path}").status_code == 404
    app.state.live.close()
