"""Many inspections at once: lazily, in threads and in processes, through failures, until stopped."""

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table

from agent import tasks
from agent.batch import run as batch
from agent.batch.run import IN_A_ROW, Job, Outcome, PolicyGone, inspect_many, jobs_of
from agent.batch.sources import Source, files, spectra
from agent.conversation import Conversation, PolicyError, Stop, Usage
from agent.policies.baseline.rule import Baseline
from agent.trajectory import Drafter

CV = tasks.load()["cv"]
ANSWER = r"<think>Nothing to see.</think><answer>\boxed{NO} nothing.</answer>"


class Said:
    """A policy that answers at once, and remembers for whom."""

    def __init__(self, sample: int = 0, before=lambda conversation: None) -> None:
        self.sample = sample
        self.before = before

    @property
    def drafter(self) -> Drafter:
        return Drafter("model", "said", {"seed": self.sample})

    def turn(self, conversation: Conversation) -> Iterator:
        self.before(conversation)
        yield ANSWER
        yield Usage(1, 100, 50, 10)


def baseline(sample: int) -> Baseline:
    return Baseline()


def broken(sample: int):
    raise PolicyError("no such model here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Six small survey files."""
    where = tmp_path_factory.mktemp("survey")
    wavelength = np.linspace(3800.0, 9000.0, 600)
    for n in range(6):
        flux = 100.0 + n + 80.0 * np.exp(-0.5 * ((wavelength - 6564.6) / 12.0) ** 2)
        table = Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(600, 0.04)})
        table.write(where / f"star-{n}.csv")
    return where


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(batch, "PAUSE", 0.001)


def jobs(folder: Path, samples: int = 1) -> list[Job]:
    return list(jobs_of(files([str(folder)], folder), samples))


def test_every_job_has_its_outcome_once(folder):
    outcomes = list(inspect_many(jobs(folder, 3), CV, Said, concurrency=4))
    assert Counter((o.job.key, o.job.sample) for o in outcomes) == {
        (f"star-{n}.csv", sample): 1 for n in range(6) for sample in range(3)
    }
    assert {o.reason for o in outcomes} == {"answered"}
    assert all(o.usage == Usage(1, 100, 50, 10) and o.is_inspected and o.tries == 1 for o in outcomes)


def test_each_sample_has_the_policy_of_its_number(folder):
    outcomes = inspect_many(jobs(folder, 3), CV, Said, concurrency=2)
    for outcome in outcomes:
        assert outcome.trajectory.drafter.settings["seed"] == outcome.job.sample


def test_jobs_are_taken_only_as_they_are_needed(folder):
    taken = []

    def endless() -> Iterator[Job]:
        for sample in range(10**9):
            taken.append(sample)
            yield Job("star-0.csv", folder / "star-0.csv", sample=sample)

    outcomes = inspect_many(endless(), CV, Said, concurrency=2)
    for _ in range(3):
        next(outcomes)
    outcomes.close()
    assert len(taken) <= 3 + 2 * 2


def test_a_spectrum_is_read_once_for_all_its_samples(folder, monkeypatch):
    opened = []
    real = batch.SpectrumFile.read
    monkeypatch.setattr(batch.SpectrumFile, "read", lambda self, target: opened.append(self.path) or real(self, target))
    outcomes = list(inspect_many(jobs(folder, 8), CV, Said, concurrency=8))
    assert len(outcomes) == 48
    assert Counter(opened) == {folder / f"star-{n}.csv": 1 for n in range(6)}


def test_many_conversations_wait_at_the_same_time(folder):
    together = threading.Barrier(8, timeout=60)
    outcomes = list(inspect_many(jobs(folder, 4)[:8], CV, lambda s: Said(s, lambda _: together.wait()), concurrency=8))
    assert [o.reason for o in outcomes] == ["answered"] * 8


def test_a_file_that_cannot_be_read_fails_alone(folder, tmp_path):
    (tmp_path / "notes.txt").write_text("Not a spectrum.")
    bad = Job("notes.txt", tmp_path / "notes.txt")
    gone = Job("gone.fits", tmp_path / "gone.fits")
    by_key = {o.job.key: o for o in inspect_many([bad, gone, *jobs(folder)], CV, Said, concurrency=2)}
    assert by_key["notes.txt"].reason == by_key["gone.fits"].reason == "not read"
    assert by_key["notes.txt"].detail.startswith("notes.txt: found")
    assert by_key["notes.txt"].has_failed
    assert sum(o.is_inspected for o in by_key.values()) == 6


def test_a_policy_that_fails_is_tried_again(folder):
    asked: Counter[str] = Counter()

    def flaky(conversation: Conversation) -> None:
        asked[conversation.spectrum.name] += 1
        if asked[conversation.spectrum.name] < 3:
            raise PolicyError("the server is busy")

    outcomes = list(inspect_many(jobs(folder), CV, lambda s: Said(s, flaky), concurrency=3, retries=2))
    assert {(o.reason, o.tries) for o in outcomes} == {("answered", 3)}


def test_one_that_fails_for_good_is_told_with_its_sentence_and_the_others_are_done(folder):
    def one(conversation: Conversation) -> None:
        if conversation.spectrum.name == "star-3.csv":
            raise PolicyError("the conversation is too long for this model")

    outcomes = {o.job.key: o for o in inspect_many(jobs(folder), CV, lambda s: Said(s, one), retries=1)}
    failed = outcomes.pop("star-3.csv")
    assert (failed.reason, failed.tries) == ("policy failed", 2)
    assert failed.detail == "the conversation is too long for this model"
    assert {o.reason for o in outcomes.values()} == {"answered"}


def test_a_policy_that_breaks_fails_its_own_job_only(folder):
    def one(conversation: Conversation) -> None:
        if conversation.spectrum.name == "star-2.csv":
            raise ZeroDivisionError("surprise")

    outcomes = {o.job.key: o.detail for o in inspect_many(jobs(folder), CV, lambda s: Said(s, one), retries=0)}
    assert outcomes["star-2.csv"] == "ZeroDivisionError: surprise"
    assert sorted(filter(None, outcomes.values())) == ["ZeroDivisionError: surprise"]


def test_when_everybody_fails_nobody_else_is_asked(folder):
    asked = []

    def gone(conversation: Conversation) -> None:
        asked.append(conversation.spectrum.name)
        raise PolicyError("no server at 127.0.0.1:8000")

    endless = (Job("star-0.csv", folder / "star-0.csv", sample=n) for n in range(10**9))
    outcomes = inspect_many(endless, CV, lambda s: Said(s, gone), concurrency=4, retries=1)
    seen = []
    with pytest.raises(PolicyGone, match=r"14 inspections in a row failed.*no server at 127\.0\.0\.1:8000"):
        seen.extend(outcomes)
    assert len(asked) <= 2 * (4 + IN_A_ROW + 2 * 4)


def test_failures_between_successes_do_not_end_the_run(folder):
    def every_other(conversation: Conversation) -> None:
        if conversation.spectrum.name in ("star-0.csv", "star-2.csv", "star-4.csv"):
            raise PolicyError("no")

    work = jobs(folder) * 20
    outcomes = list(inspect_many(work, CV, lambda s: Said(s, every_other), concurrency=1, retries=0))
    assert Counter(o.reason for o in outcomes) == {"answered": 60, "policy failed": 60}


def test_a_stop_ends_what_is_under_way_and_begins_nothing_else(folder):
    stop = Stop()
    waiting = threading.Barrier(3, timeout=60)

    def wait(conversation: Conversation) -> None:
        waiting.wait()
        conversation.stop.wait(60)

    def stopper() -> None:
        waiting.wait()
        stop.set()

    thread = threading.Thread(target=stopper)
    thread.start()
    work = jobs(folder, 4)
    outcomes = list(inspect_many(work, CV, lambda s: Said(s, wait), concurrency=2, stop=stop))
    thread.join()
    assert {o.reason for o in outcomes} == {"stopped"}
    assert len(outcomes) <= 4
    assert not any(o.is_inspected or o.has_failed for o in outcomes)


def test_closing_the_iterator_stops_what_is_under_way_and_leaves_the_callers_stop_alone(folder):
    stop = Stop()
    let_go = []

    def second(conversation: Conversation) -> None:
        if conversation.spectrum.name != "star-0.csv":
            let_go.append(conversation.stop.wait(60))

    outcomes = inspect_many(jobs(folder), CV, lambda s: Said(s, second), concurrency=2, stop=stop)
    assert next(outcomes).job.key == "star-0.csv"
    outcomes.close()
    assert let_go
    assert all(let_go)
    assert not stop.is_set


def test_a_policy_that_cannot_be_made_ends_the_run_at_once(folder):
    with pytest.raises(PolicyError, match="no such model here"):
        list(inspect_many(jobs(folder), CV, broken, concurrency=2))


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"max_turns": 0}])
def test_numbers_that_mean_nothing_are_refused(folder, wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: found 0, wanted 1 or more"):
        list(inspect_many(jobs(folder), CV, Said, **wrong))


def test_processes_do_what_threads_do(folder, tmp_path):
    (tmp_path / "notes.txt").write_text("Not a spectrum.")
    work = [*jobs(folder)[:3], Job("notes.txt", tmp_path / "notes.txt")]
    run = partial(inspect_many, work, CV, baseline, max_turns=3)
    there = {o.job.key: o for o in run(concurrency=2, processes=True)}
    here = {o.job.key: o for o in run(concurrency=2)}
    assert {k: without_time(o) for k, o in there.items()} == {k: without_time(o) for k, o in here.items()}
    assert there["star-0.csv"].trajectory.answer is not None


def without_time(outcome: Outcome) -> Outcome:
    return replace(outcome, seconds=0.0)


def test_a_policy_that_cannot_be_made_in_a_process_ends_the_run_at_once(folder):
    with pytest.raises(PolicyError, match="no such model here"):
        list(inspect_many(jobs(folder)[:1], CV, broken, concurrency=1, processes=True))


def test_stopping_processes_keeps_what_is_done(folder):
    stop = Stop()
    outcomes = []
    for outcome in inspect_many(jobs(folder) * 20, CV, baseline, concurrency=1, processes=True, stop=stop):
        outcomes.append(outcome)
        stop.set()
    assert outcomes[0].is_inspected
    assert len(outcomes) <= 2 * 1 + 1


def test_the_targets_of_a_file_are_found_in_order_and_inspected_from_one_opening(shared):
    path = shared / "spectra/desi/QSO/coadd-main-dark-9144.fits"
    sources = list(spectra(Source(path, "coadd.fits")))
    assert len(sources) == 2
    outcomes = list(inspect_many(jobs_of(sources), CV, Said, concurrency=2))
    assert {o.job.key for o in outcomes} == {s.key for s in sources}
    assert all(o.spectrum.ids["targetid"] == o.job.target for o in outcomes)
