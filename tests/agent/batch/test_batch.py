"""Many spectra inspected at once, and the inspect command."""

import csv
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table

import app
from agent import tasks
from agent.batch import run as batch
from agent.batch.journal import Journal, PendingJobs
from agent.batch.report import markdown
from agent.batch.run import MAX_CONSECUTIVE_FAILURES, Job, Outcome, PolicyUnavailable, inspect_many, jobs_for
from agent.batch.sources import SpectrumFile, sources_from
from agent.conversation import Conversation, PolicyError, Stop, Usage
from agent.json_lines import JournalError
from agent.policies.baseline.rule import Baseline
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.trajectory import Drafter, Trajectory
from tests.support.model_server import BadServer, Say, Status, answer, look, problem

CV = tasks.load()["cv"]
ANSWER = r"<think>Nothing to see.</think><answer>\boxed{NO} nothing.</answer>"


class ScriptedPolicy:
    """A policy that answers at once; its drafter records the sample number."""

    def __init__(self, sample: int = 0, before=lambda conversation: None) -> None:
        self.sample = sample
        self.before = before

    @property
    def drafter(self) -> Drafter:
        return Drafter("model", "scripted", {"seed": self.sample})

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
    return list(jobs_for(sources_from([str(folder)], folder), samples))


def test_every_job_has_exactly_one_outcome(folder):
    outcomes = list(inspect_many(jobs(folder, 3), CV, ScriptedPolicy, concurrency=4))
    assert Counter((o.job.key, o.job.sample) for o in outcomes) == {
        (f"star-{n}.csv", sample): 1 for n in range(6) for sample in range(3)
    }
    assert {o.reason for o in outcomes} == {"answered"}
    assert all(o.usage == Usage(1, 100, 50, 10) and o.is_inspected and o.tries == 1 for o in outcomes)
    assert all(o.trajectory.drafter.settings["seed"] == o.job.sample for o in outcomes)


def test_jobs_are_taken_only_as_they_are_needed(folder):
    taken = []

    def endless() -> Iterator[Job]:
        for sample in range(10**9):
            taken.append(sample)
            yield Job("star-0.csv", folder / "star-0.csv", sample=sample)

    outcomes = inspect_many(endless(), CV, ScriptedPolicy, concurrency=2)
    for _ in range(3):
        next(outcomes)
    outcomes.close()
    assert len(taken) <= 3 + 2 * 2


def test_a_spectrum_is_read_once_for_all_its_samples(folder, monkeypatch):
    opened = []
    real = batch.SpectrumFile.read
    monkeypatch.setattr(batch.SpectrumFile, "read", lambda self, target: opened.append(self.path) or real(self, target))
    outcomes = list(inspect_many(jobs(folder, 8), CV, ScriptedPolicy, concurrency=8))
    assert len(outcomes) == 48
    assert Counter(opened) == {folder / f"star-{n}.csv": 1 for n in range(6)}


def test_many_conversations_run_at_the_same_time(folder):
    together = threading.Barrier(8, timeout=60)
    outcomes = list(
        inspect_many(jobs(folder, 4)[:8], CV, lambda s: ScriptedPolicy(s, lambda _: together.wait()), concurrency=8)
    )
    assert [o.reason for o in outcomes] == ["answered"] * 8


def test_a_file_that_cannot_be_read_fails_alone(folder, tmp_path):
    (tmp_path / "notes.txt").write_text("Not a spectrum.")
    bad = Job("notes.txt", tmp_path / "notes.txt")
    gone = Job("gone.fits", tmp_path / "gone.fits")
    by_key = {o.job.key: o for o in inspect_many([bad, gone, *jobs(folder)], CV, ScriptedPolicy, concurrency=2)}
    assert by_key["notes.txt"].reason == by_key["gone.fits"].reason == "not read"
    assert by_key["notes.txt"].detail.startswith("notes.txt: found")
    assert by_key["notes.txt"].has_failed
    assert sum(o.is_inspected for o in by_key.values()) == 6


def test_the_pause_before_another_try_doubles(folder, monkeypatch):
    def busy(conversation: Conversation) -> None:
        raise PolicyError("the server is busy")

    pauses: list[float] = []
    monkeypatch.setattr(batch._chance, "uniform", lambda low, high: 1.0)
    monkeypatch.setattr(Stop, "wait", lambda stop, seconds: bool(pauses.append(seconds)))
    list(inspect_many(jobs(folder)[:1], CV, lambda s: ScriptedPolicy(s, busy), retries=3))
    assert pauses == [0.001, 0.002, 0.004]


def test_a_policy_that_fails_is_tried_again(folder):
    calls: Counter[str] = Counter()

    def flaky(conversation: Conversation) -> None:
        calls[conversation.spectrum.name] += 1
        if calls[conversation.spectrum.name] < 3:
            raise PolicyError("the server is busy")

    outcomes = list(inspect_many(jobs(folder), CV, lambda s: ScriptedPolicy(s, flaky), concurrency=3, retries=2))
    assert {(o.reason, o.tries) for o in outcomes} == {("answered", 3)}


def test_a_permanent_failure_or_a_broken_policy_fails_its_own_job_only(folder):
    def fail(conversation: Conversation) -> None:
        if conversation.spectrum.name == "star-2.csv":
            raise ZeroDivisionError("surprise")
        if conversation.spectrum.name == "star-3.csv":
            raise PolicyError("the conversation is too long for this model")

    outcomes = inspect_many(jobs(folder), CV, lambda s: ScriptedPolicy(s, fail), retries=1)
    failed = {o.job.key: (o.reason, o.tries, o.detail) for o in outcomes if o.reason != "answered"}
    assert failed == {
        "star-2.csv": ("policy failed", 2, "ZeroDivisionError: surprise"),
        "star-3.csv": ("policy failed", 2, "the conversation is too long for this model"),
    }


def test_when_every_inspection_fails_the_run_ends_early(folder):
    calls = []

    def fail(conversation: Conversation) -> None:
        calls.append(conversation.spectrum.name)
        raise PolicyError("no server at 127.0.0.1:8000")

    endless = (Job("star-0.csv", folder / "star-0.csv", sample=n) for n in range(10**9))
    outcomes = inspect_many(endless, CV, lambda s: ScriptedPolicy(s, fail), concurrency=4, retries=1)
    seen = []
    with pytest.raises(PolicyUnavailable, match=r"14 inspections in a row failed.*no server at 127\.0\.0\.1:8000"):
        seen.extend(outcomes)
    assert len(calls) <= 2 * (4 + MAX_CONSECUTIVE_FAILURES + 2 * 4)


def test_failures_between_successes_do_not_end_the_run(folder):
    def fail_every_other(conversation: Conversation) -> None:
        if conversation.spectrum.name in ("star-0.csv", "star-2.csv", "star-4.csv"):
            raise PolicyError("no")

    work = jobs(folder) * 20
    outcomes = list(inspect_many(work, CV, lambda s: ScriptedPolicy(s, fail_every_other), concurrency=1, retries=0))
    assert Counter(o.reason for o in outcomes) == {"answered": 60, "policy failed": 60}


TOO_LONG = problem(
    400,
    "This model's maximum context length is 1300 tokens. However, you requested 3548 tokens (1500 in the messages, "
    "2048 in the completion). Please reduce the length of the messages or completion.",
)


def overflowing(body) -> Say | Status:
    """The first turn fits into the server's context, the second does not."""
    begun = any(message["role"] == "assistant" for message in body["messages"])
    return TOO_LONG if begun else Say(look(6400, 6700))


def test_a_conversation_too_long_for_the_model_is_truncated_kept_and_not_tried_again(folder):
    with BadServer(overflowing) as server:
        work = jobs(folder) * 4
        policy = SpecO3(Endpoint(server.url, "spec-o3"), stream=False)
        outcomes = list(inspect_many(work, CV, lambda s: policy, concurrency=2, retries=2))
        assert len(server.chats) == 2 * len(work)
    assert {(o.reason, o.tries, o.is_inspected, o.has_failed) for o in outcomes} == {("truncated", 1, True, False)}
    trace = outcomes[0].trajectory
    assert trace is not None
    assert (trace.answer, len(trace.zooms)) == (None, 1)
    assert trace.faults == (f"turn 2: truncated: {outcomes[0].detail}",)
    assert "too long for the model: 1,500 tokens to read and up to 2,048 to write, of 1,300" in outcomes[0].detail


@pytest.mark.parametrize("refusal", [TOO_LONG, Status(400)])
def test_an_error_in_the_first_turn_that_would_come_again_is_not_tried_again(folder, refusal):
    with BadServer([refusal]) as server:
        policy = SpecO3(Endpoint(server.url, "spec-o3"))
        outcomes = list(inspect_many(jobs(folder), CV, lambda s: policy, retries=2))
        assert len(server.chats) == len(outcomes)
    assert {(o.reason, o.tries) for o in outcomes} == {("policy failed", 1)}


def test_truncated_samples_are_in_results_summary_table_and_report(folder, tmp_path, capsys):
    out, table = tmp_path / "results.jsonl", tmp_path / "table.csv"
    with BadServer(overflowing) as server:
        given = ["inspect", str(folder), "--task", "cv", "--policy", "spec-o3", "--server", server.url]
        status = app.main([*given, "--out", str(out), "--table", str(table)])
    printed = capsys.readouterr().out
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert not any(chat.body["stream"] for chat in server.chats)
    assert (status, (tmp_path / "results.jsonl.failed.jsonl").exists()) == (0, False)
    assert [(row["ended"], row["tries"]) for row in rows] == [("truncated", 1)] * 6
    assert "6 truncated: the conversation no longer fitted the model" in printed
    with table.open(newline="", encoding="utf-8") as lines:
        found = list(csv.DictReader(lines))
    assert {(row["verdict"], row["none"], row["truncated"]) for row in found} == {("ASK", "1", "1")}
    assert all(
        "Truncated, because the conversation no longer fitted the model: 1 of 1." in row["reasons"] for row in found
    )
    spectrum = SpectrumFile(folder / "star-0.csv").read("")
    trace = next(t for row in rows if (t := Trajectory.from_json(row)).spectrum_name == "star-0.csv")
    assert "turn 2: truncated" in markdown(trace, spectrum)


def test_a_stop_ends_running_inspections_and_starts_no_others(folder):
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
    outcomes = list(inspect_many(work, CV, lambda s: ScriptedPolicy(s, wait), concurrency=2, stop=stop))
    thread.join()
    assert {o.reason for o in outcomes} == {"stopped"}
    assert len(outcomes) <= 4
    assert not any(o.is_inspected or o.has_failed for o in outcomes)


def test_closing_the_iterator_stops_running_inspections_but_does_not_set_the_callers_stop(folder):
    stop = Stop()
    stopped = []

    def wait_unless_first(conversation: Conversation) -> None:
        if conversation.spectrum.name != "star-0.csv":
            stopped.append(conversation.stop.wait(60))

    outcomes = inspect_many(jobs(folder), CV, lambda s: ScriptedPolicy(s, wait_unless_first), concurrency=2, stop=stop)
    assert next(outcomes).job.key == "star-0.csv"
    outcomes.close()
    assert stopped
    assert all(stopped)
    assert not stop.is_set


def test_a_policy_that_cannot_be_made_ends_the_run_at_once(folder):
    with pytest.raises(PolicyError, match="no such model here"):
        list(inspect_many(jobs(folder), CV, broken, concurrency=2))
    with pytest.raises(PolicyError, match="no such model here"):
        list(inspect_many(jobs(folder)[:1], CV, broken, concurrency=1, processes=1))


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"max_turns": 0}])
def test_numbers_below_one_are_refused(folder, wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: found 0, expected 1 or more"):
        list(inspect_many(jobs(folder), CV, ScriptedPolicy, **wrong))


def test_processes_give_the_same_outcomes_as_threads(folder, tmp_path):
    (tmp_path / "notes.txt").write_text("Not a spectrum.")
    work = [*jobs(folder)[:3], Job("notes.txt", tmp_path / "notes.txt")]
    run = partial(inspect_many, work, CV, baseline, max_turns=3)
    there = {o.job.key: o for o in run(concurrency=2, processes=2)}
    here = {o.job.key: o for o in run(concurrency=2)}
    assert {k: without_time(o) for k, o in there.items()} == {k: without_time(o) for k, o in here.items()}
    assert there["star-0.csv"].trajectory.answer is not None


def without_time(outcome: Outcome) -> Outcome:
    return replace(outcome, seconds=0.0)


def test_stopping_processes_keeps_finished_outcomes(folder):
    stop = Stop()
    outcomes = []
    for outcome in inspect_many(jobs(folder) * 20, CV, baseline, concurrency=1, processes=1, stop=stop):
        outcomes.append(outcome)
        stop.set()
    assert outcomes[0].is_inspected
    assert len(outcomes) <= 2 * 1 + 1


class InProcess(ScriptedPolicy):
    """Names its process in the drafter; in the first turn it waits for ``TOGETHER`` conversations of its process."""

    @property
    def drafter(self) -> Drafter:
        return Drafter("model", "scripted", {"process": os.getpid()})


TOGETHER = 4
together = threading.Barrier(TOGETHER, timeout=60)


def in_process(sample: int) -> InProcess:
    return InProcess(sample)


def in_process_together(sample: int) -> InProcess:
    return InProcess(sample, lambda _: together.wait())


def killed(sample: int) -> InProcess:
    return InProcess(sample, lambda _: os.kill(os.getpid(), signal.SIGKILL))


def test_processes_share_the_conversations_and_keep_the_samples_of_a_spectrum_together(folder):
    work = jobs(folder, 8)
    outcomes = list(inspect_many(work, CV, in_process, concurrency=8, processes=2))
    assert Counter((o.job.key, o.job.sample) for o in outcomes) == {(job.key, job.sample): 1 for job in work}
    where = {(o.job.key, o.trajectory.drafter.settings["process"]) for o in outcomes}
    assert len(where) == 6
    assert len({process for _, process in where}) == 2
    assert os.getpid() not in {process for _, process in where}


def test_jobs_run_in_processes_and_a_killed_one_ends_the_run_with_a_sentence(folder):
    outcomes = inspect_many(jobs(folder, 4)[:8], CV, in_process_together, concurrency=2 * TOGETHER, processes=2)
    assert [o.reason for o in outcomes] == ["answered"] * 8
    with pytest.raises(PolicyUnavailable, match="ended from outside"):
        list(inspect_many(jobs(folder), CV, killed, concurrency=4, processes=2))


def test_closing_the_iterator_ends_the_processes(folder):
    before = {child.pid for child in multiprocessing.active_children()}
    outcomes = inspect_many(jobs(folder, 50), CV, in_process, concurrency=4, processes=2)
    next(outcomes)
    outcomes.close()
    assert {child.pid for child in multiprocessing.active_children()} == before


ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """The current folder, with ``sky/star-0.csv`` to ``star-2.csv``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sky").mkdir()
    for n in range(3):
        a_file(tmp_path / "sky" / f"star-{n}.csv", 100.0 + n)
    return tmp_path


def a_file(path: Path, level: float) -> None:
    wavelength = np.linspace(3800.0, 9000.0, 900)
    flux = level + 80.0 * np.exp(-0.5 * ((wavelength - 6564.6) / 12.0) ** 2)
    Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(900, 0.04)}).write(path)


def inspect(*arguments: object) -> int:
    """``spec-o3 inspect --task cv --out r.jsonl ARGUMENTS`` in this process, in threads."""
    workers = [] if "--policy" in arguments or "--processes" in arguments else ["--concurrency", "2"]
    return app.main(["inspect", "--task", "cv", "--out", "r.jsonl", *workers, *map(str, arguments)])


def lines(path: str = "r.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def table(path: str = "c.csv") -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_folder_gives_results_and_a_ranked_table(here, capsys):
    assert inspect("sky", "--table", "c.csv") == 0
    assert sorted(row["source"]["file"] for row in lines()) == [f"sky/star-{n}.csv" for n in range(3)]
    rows = table()
    assert sorted(row["file"] for row in rows) == [f"sky/star-{n}.csv" for n in range(3)]
    assert {row["verdict"] for row in rows} <= {"YES", "NO", "ASK"}
    printed = capsys.readouterr().out
    assert printed.startswith("3 spectra in r.jsonl: ")
    assert "this run: 3 inspections in " in printed
    assert "spectra/s" in printed
    assert "table: c.csv" in printed


def test_the_time_of_a_person_is_compared_with_that_of_the_policy(here, capsys):
    assert inspect("sky", "--json", "--person-seconds", "40", "--table", "c.csv") == 0
    this_run = json.loads(capsys.readouterr().out)["this_run"]
    assert this_run["person_to_policy"] == pytest.approx(40 / this_run["seconds_per_spectrum"], rel=0.01)
    assert all(0 < float(row["seconds"]) < 60 for row in table())
    assert inspect("sky", "--json") == 0
    # Nothing was left to do.
    assert json.loads(capsys.readouterr().out)["this_run"]["person_to_policy"] is None


def test_nothing_is_inspected_twice_and_more_can_be_added_later(here, capsys):
    assert inspect("sky/star-0.csv") == 0
    first = Path("r.jsonl").read_bytes()
    assert inspect("sky", "--table", "c.vot") == 0
    assert Path("r.jsonl").read_bytes().startswith(first)
    assert len(lines()) == 3
    assert inspect("sky") == 0
    assert len(lines()) == 3
    assert "3 spectra in r.jsonl" in capsys.readouterr().out


def test_a_run_resumes_from_another_folder(here, monkeypatch):
    assert inspect("sky/star-0.csv") == 0
    monkeypatch.chdir(here / "sky")
    arguments = ["--task", "cv", "--concurrency", "1", "--out", "../r.jsonl"]
    assert app.main(["inspect", *arguments, "star-0.csv", "star-1.csv"]) == 0
    assert [row["source"]["file"] for row in lines("../r.jsonl")] == ["sky/star-0.csv", "sky/star-1.csv"]


def test_a_limit_counts_spectra(here):
    assert inspect("sky", "--limit", 2) == 0
    assert inspect("sky", "--limit", 2) == 0
    assert sorted(row["source"]["file"] for row in lines()) == ["sky/star-0.csv", "sky/star-1.csv"]


def test_a_file_that_cannot_be_read_gives_status_1_and_is_tried_again(here, capsys):
    Path("sky/star-9.csv").write_text("wavelength,flux\nnot,numbers\n")
    assert inspect("sky") == 1
    assert "1 failed, listed in r.jsonl.failed.jsonl" in capsys.readouterr().out
    (failure,) = lines("r.jsonl.failed.jsonl")
    assert (failure["source"]["file"], failure["reason"]) == ("sky/star-9.csv", "not read")
    assert len(lines()) == 3
    Path("sky/star-9.csv").unlink()
    a_file(Path("sky/star-9.csv"), 90.0)
    assert inspect("sky") == 0
    assert len(lines()) == 4
    assert not Path("r.jsonl.failed.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.fits"], "gone.fits: found no such file or folder"),
        (["empty"], "empty: found no file that looks like a spectrum"),
        (["sky", "--table", "taken.csv"], "taken.csv: found a file that does not belong to these results"),
        (["sky", "--resume"], "r.jsonl: found no results to resume"),
        (["sky", "--out", "no/r.jsonl"], "found no folder"),
        (["sky", "--task", "quasar"], "--task: found 'quasar', expected one of"),
        (["sky", "--majority", "2"], "majority: found 2.0, expected more than 0 and at most 1"),
        (["sky", "--policy", "spec-o3", "--server", "http://127.0.0.1:9/v1"], "127.0.0.1:9"),
    ],
)
def test_a_run_that_cannot_start_gives_the_reason_and_status_2_and_no_files(here, capsys, arguments, words):
    (here / "empty").mkdir()
    (here / "taken.csv").write_text("mine")
    assert inspect(*arguments) == 2
    assert words in capsys.readouterr().err
    assert sorted(path.name for path in here.iterdir()) == ["empty", "sky", "taken.csv"]
    assert (here / "taken.csv").read_text() == "mine"


def test_results_are_not_resumed_with_no_resume_or_with_other_settings(here, capsys):
    assert inspect("sky/star-0.csv") == 0
    before = Path("r.jsonl").read_bytes()
    assert inspect("sky", "--no-resume") == 2
    assert "found results; choose another file, or --overwrite" in capsys.readouterr().err
    assert inspect("sky", "--max-turns", 3) == 2
    assert "max_turns was 8, is 3" in capsys.readouterr().err
    assert Path("r.jsonl").read_bytes() == before


def test_overwrite_begins_again_and_deletes_nothing_but_results(here, capsys):
    assert inspect("sky", "--table", "c.csv") == 0
    assert inspect("sky/star-0.csv", "--max-turns", 3, "--overwrite", "--table", "c.csv") == 0
    assert len(lines()) == 1
    Path("r.jsonl.run.json").unlink()
    assert inspect("sky/star-0.csv", "--overwrite") == 2
    assert "r.jsonl: found something that no run wrote" in capsys.readouterr().err
    assert len(lines()) == 1


def test_results_that_cannot_be_written_end_the_run_and_its_threads(here, capsys, monkeypatch):
    def full(self: Journal, outcome: object) -> None:
        raise JournalError("r.jsonl: No space left on device; what was written before is safe")

    monkeypatch.setattr(Journal, "add", full)
    assert inspect("sky") == 2
    assert "No space left on device" in capsys.readouterr().err
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("inspect")]


def test_the_expected_number_of_jobs_becomes_exact(here):
    assert inspect("sky/star-0.csv") == 0
    settings = json.loads(Path("r.jsonl.run.json").read_text(encoding="utf-8"))
    settings.pop("schema")
    with Journal(Path("r.jsonl"), settings) as journal:
        work = PendingJobs(list(sources_from(["sky"], here)), 2, journal)
        assert work.expected == 6
        assert len(list(work)) == work.expected == 5
        few = PendingJobs(list(sources_from(["sky"], here)), 2, journal, limit=2)
        assert few.expected == 4
        assert len(list(few)) == few.expected == 3


def test_counts_are_whole_numbers_of_at_least_one(here, capsys):
    with pytest.raises(SystemExit) as refused:
        inspect("sky", "--samples", "0")
    assert refused.value.code == 2
    assert "expected a whole number, 1 or more" in capsys.readouterr().err


def opinions(body: dict) -> Say:
    """One zoom, then YES from even seeds and NO from odd ones."""
    if sum(message["role"] == "assistant" for message in body["messages"]) == 0:
        return Say(look(6400, 6700))
    return Say(answer("NO" if body["seed"] % 2 else "YES"))


SERVED = ("--policy", "spec-o3", "--temperature", "0.7", "--seed", "0")


def test_samples_of_a_served_model_are_counted_and_a_split_needs_a_person(here, capsys):
    with BadServer(opinions) as server:
        served = (*SERVED, "--server", server.url)
        assert inspect("sky", *served, "--samples", 2, "--table", "c.csv", "--json") == 0
        summary = json.loads(capsys.readouterr().out)
        assert (summary["ask"], summary["this_run"]["inspected"], summary["this_run"]["spectra"]) == (3, 6, 3)
        assert summary["this_run"]["tokens"] == {"requests": 12, "prompt": 1200, "cached": 480, "completion": 84}
        assert {row["reasons"] for row in table()} == {"The samples are split: 1 YES, 1 NO."}
        assert inspect("sky", *served, "--samples", 3, "--table", "c.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["this_run"]["inspected"] == 3
    assert {(row["verdict"], row["yes"], row["no"], row["n"]) for row in table()} == {("YES", "2", "1", "3")}
    assert Counter(row["sample"] for row in lines()) == {0: 3, 1: 3, 2: 3}
    assert {row["drafter"]["settings"]["seed"] for row in lines() if row["sample"] == 2} == {2}


def test_other_model_settings_make_another_run(here, capsys):
    with BadServer(opinions) as server:
        served = ("--policy", "spec-o3", "--seed", "0", "--server", server.url)
        assert inspect("sky", *served, "--temperature", "0.7") == 0
        capsys.readouterr()
        assert inspect("sky", *served, "--temperature", "0.9") == 2
    assert "policy.settings.temperature was 0.7, is 0.9" in capsys.readouterr().err


def test_a_server_that_always_fails_ends_the_run_with_its_message(here, capsys, monkeypatch):
    monkeypatch.setattr("agent.batch.run.PAUSE", 0.001)
    for n in range(3, 20):
        (here / "sky" / f"star-{n}.csv").write_bytes((here / "sky" / "star-0.csv").read_bytes())
    with BadServer([Status(400)]) as server:
        assert inspect("sky", *SERVED, "--server", server.url, "--concurrency", 1) == 1
    printed = capsys.readouterr().out
    assert "stopped early: 11 inspections in a row failed" in printed
    assert "0 spectra in r.jsonl" in printed
    assert len(lines("r.jsonl.failed.jsonl")) == 11


@pytest.mark.parametrize(
    ("number", "how"), [(signal.SIGINT, ["--processes", "1"]), (signal.SIGTERM, ["--concurrency", "1"])]
)
def test_ctrl_c_keeps_finished_work_and_still_writes_the_table(here, number, how):
    # So many that it is not done before the signal.
    for n in range(3, 600):
        (here / "sky" / f"star-{n}.csv").write_bytes((here / "sky" / "star-0.csv").read_bytes())
    command = [sys.executable, str(ROOT / "app.py"), "inspect", "sky", "--task", "cv", "--out", "r.jsonl"]
    process = subprocess.Popen(
        [*command, "--table", "c.csv", *how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    for _ in range(3000):
        if Path("r.jsonl").exists() and Path("r.jsonl").read_bytes().count(b"\n"):
            break
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "finished inspections are kept" in err
    assert "Traceback" not in err
    assert 1 <= len(lines()) < 600
    assert len(table()) == len(lines())
    number = len(lines())
    assert f"{number} {'spectrum' if number == 1 else 'spectra'} in r.jsonl" in out


@pytest.mark.parametrize(("option", "expected"), [([], "air (assumed)"), (["--medium", "vacuum"], "vacuum")])
def test_the_medium_of_files_that_do_not_state_it_can_be_stated(folder, tmp_path, monkeypatch, option, expected):
    monkeypatch.chdir(tmp_path)
    assert inspect("--table", "t.csv", *option, folder / "star-0.csv") == 0
    row = Table.read("t.csv")[0]
    assert row["medium"] == expected
    # The table reads the file again: with another medium its hash would not be that of the trace.
    assert "differs" not in str(row["reasons"])
    trace = json.loads(Path("r.jsonl").read_text().splitlines()[0])
    stated = bool(option)
    assert (trace["medium"], trace.get("medium_assumed", False)) == (expected.split()[0], not stated)
    assert trace.get("medium_set_by", "") == ("option" if stated else "")
