"""The journal of a run: whole lines, nothing lost or repeated, also after a kill."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table
from hypothesis import given
from hypothesis import strategies as st

from agent.batch.journal import Journal
from agent.batch.run import Job, Outcome
from agent.conversation import Usage
from agent.json_lines import JournalError, drop_partial_line
from reviewer.exchange.imports import import_file
from reviewer.store import Store
from tests.support.drawn_traces import a_spectrum, a_trace
from tests.support.held import is_left

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = {"task": "cv", "max_turns": 8, "policy": {"name": "spec-o3-7b", "settings": {"temperature": 0.7}}}


def an_outcome(number: int = 0, sample: int = 0, reason: str = "answered", target: str = "") -> Outcome:
    file = f"star-{number}.fits"
    job = Job(f"{file}#{target}" if target else file, Path(file), target, sample)
    if reason in ("not read", "no data"):
        return Outcome(job, reason, "found nothing")
    spectrum = a_spectrum(file)
    return Outcome(job, reason, "", spectrum, a_trace(spectrum), Usage(3, 900, 600, 80), 1.25, 1)


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "results.jsonl"


ODD_NAMES = ("ligne\u2028.fits", "line\nfeed.fits", "bad\udcff.fits", "宽🌟.fits", 'q"\\\\.fits')


@pytest.mark.parametrize("reason", ["answered", "not read"])
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_journal_opens_again_with_every_row_that_it_writes(path, reason, name):
    outcome = an_outcome(reason=reason)
    job = Job(f"{name}#{name}", Path(name), name)
    with Journal(path, SETTINGS) as journal:
        journal.add(replace(outcome, job=job, detail=name))
        counts = journal.done, journal.failed
    assert counts in ((1, 0), (0, 1))
    with Journal(path, SETTINGS) as journal:
        assert (journal.done, journal.failed) == counts
        assert journal.is_done(job.key) is bool(counts[0])
        assert [(found.file, found.trajectories) for found in journal.inspected()] == [
            (name, (outcome.trajectory,))
        ] * counts[0]


def test_a_line_holds_the_trajectory_and_its_source(path):
    outcome = an_outcome(3, sample=2, target="39627")
    with Journal(path, SETTINGS) as journal:
        journal.add(outcome, {"note": "by night"})
    (row,) = lines(path)
    assert {key: row[key] for key in outcome.trajectory.to_json()} == outcome.trajectory.to_json()
    assert row["source"] == {"file": "star-3.fits", "target": "39627"}
    assert (row["sample"], row["ended"], row["tries"], row["seconds"]) == (2, "answered", 1, 1.25)
    assert row["usage"] == {"requests": 3, "prompt": 900, "cached": 600, "completion": 80}
    assert row["note"] == "by night"


def test_finished_work_is_known_when_the_journal_is_opened_again(path):
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome(1))
        journal.add(an_outcome(1, sample=1))
        assert (journal.done, journal.spectra) == (2, 1)
    with Journal(path, SETTINGS) as journal:
        assert (journal.done, journal.spectra) == (2, 1)
        assert journal.is_done("star-1.fits", 1)
        assert journal.knows("star-1.fits")
        assert not journal.is_done("star-1.fits", 2)
        assert not journal.is_done("star-2.fits")
        with pytest.raises(ValueError, match=r"star-1\.fits: sample 1 is in the results already"):
            journal.add(an_outcome(1, sample=1))
    assert len(lines(path)) == 2


@pytest.mark.parametrize("reason", ["turn limit", "truncated", "no call and no answer"])
def test_a_trace_without_an_answer_is_done_too(path, reason):
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome(reason=reason))
        assert journal.is_done("star-0.fits")


def test_a_stopped_inspection_is_not_recorded(path):
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome(reason="stopped"))
        assert (journal.done, journal.failed) == (0, 0)
    assert path.read_bytes() == b""


def test_failures_are_listed_until_they_are_done(path):
    failed = path.with_name("results.jsonl.failed.jsonl")
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome(1, reason="not read"))
        journal.add(an_outcome(2, reason="policy failed"))
        journal.add(an_outcome(2, reason="policy failed"))
        assert journal.failed == 2
        assert not journal.is_done("star-1.fits")
    assert [(row["source"]["file"], row["reason"]) for row in lines(failed)] == [
        ("star-1.fits", "not read"),
        ("star-2.fits", "policy failed"),
    ]
    with Journal(path, SETTINGS) as journal:
        assert journal.failed == 2
        journal.add(an_outcome(2))
    assert [row["source"]["file"] for row in lines(failed)] == ["star-1.fits"]
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome(1))
    assert not failed.exists()


@given(st.integers(0, 10_000))
def test_a_partial_line_is_removed_and_its_work_done_again(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("torn") / "results.jsonl"
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome(1))
        before = path.stat().st_size
        journal.add(an_outcome(2))
    whole = path.read_bytes()
    path.write_bytes(whole[: max(before, len(whole) - 1 - cut)])
    with Journal(path, SETTINGS) as journal:
        assert [journal.is_done(f"star-{n}.fits") for n in (1, 2)] == [True, False]
        journal.add(an_outcome(2))
    assert path.read_bytes() == whole


@given(st.binary(max_size=300), st.integers(0, 200_000))
def test_dropping_a_partial_line_keeps_everything_up_to_the_last_line_end(tmp_path_factory, tail, filling):
    path = tmp_path_factory.mktemp("lines") / "f"
    content = tail + b"x" * filling
    path.write_bytes(content)
    with path.open("r+b") as file:
        end = drop_partial_line(file)
    assert end == content.rfind(b"\n") + 1
    assert path.read_bytes() == content[:end]


def test_results_with_other_settings_are_refused_with_the_differences(path):
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome())
    other = SETTINGS | {"max_turns": 4, "policy": {"name": "spec-o3-7b", "settings": {"seed": 1}}}
    with pytest.raises(JournalError) as refused:
        Journal(path, other)
    for words in (
        "max_turns was 8, is 4",
        "policy.settings.temperature was 0.7, is not given",
        "policy.settings.seed was not given, is 1",
        "choose another file",
    ):
        assert words in str(refused.value)
    assert len(lines(path)) == 1


def test_empty_results_take_new_settings(path):
    Journal(path, SETTINGS).close()
    with Journal(path, SETTINGS | {"max_turns": 4}) as journal:
        journal.add(an_outcome())
    assert json.loads(path.with_name("results.jsonl.run.json").read_text())["max_turns"] == 4


def test_what_is_no_journal_is_left_unchanged_and_settings_must_be_known(path):
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome())
    path.with_name("results.jsonl.run.json").unlink()
    with pytest.raises(JournalError, match="not with what settings they were made"):
        Journal(path, SETTINGS)
    path.write_text("Dear diary,\n\ntoday")
    with pytest.raises(JournalError, match="choose another file"):
        Journal(path, SETTINGS)
    assert path.read_text() == "Dear diary,\n\ntoday"


NOWHERE = '{"source": {"path": "a.fits", "target": ""}, "sample": 0}'
NO_TARGET = '{"source": {"file": "a.fits", "target": null}, "sample": 0}'


@pytest.mark.parametrize("bad", ["no JSON", "[1]", '{"schema": 1}', NOWHERE, NO_TARGET])
def test_a_damaged_line_in_the_middle_is_named(path, bad):
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome())
    path.write_text(bad + "\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(JournalError, match=r"results\.jsonl: line 1: found"):
        Journal(path, SETTINGS)


def test_two_runs_do_not_write_to_the_same_results(path):
    context = multiprocessing.get_context("spawn")
    with Journal(path, SETTINGS):
        process = context.Process(target=_open_again, args=(str(path), reply := context.SimpleQueue()))
        process.start()
        process.join(60)
        assert "another run is writing there" in reply.get()


def _open_again(path: str, reply) -> None:
    try:
        Journal(Path(path), SETTINGS).close()
    except JournalError as error:
        reply.put(str(error))
    else:
        reply.put("opened")


def test_the_traces_of_a_spectrum_are_grouped_in_the_order_of_their_samples(path):
    with Journal(path, SETTINGS) as journal:
        for number, sample in ((1, 1), (2, 0), (1, 0), (2, 1), (3, 0)):
            journal.add(an_outcome(number, sample))
        found = list(journal.inspected())
    assert [(inspected.file, len(inspected.trajectories)) for inspected in found] == [
        ("star-1.fits", 2),
        ("star-2.fits", 2),
        ("star-3.fits", 1),
    ]
    assert found[0].trajectories[0] == an_outcome(1).trajectory


def test_fsync_is_called_at_the_end_and_once_per_interval_while_writing(path, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr("agent.batch.journal.os.fsync", lambda file: synced.append(real(file)))
    monkeypatch.setattr("agent.batch.journal.monotonic", lambda: 0.0)
    with Journal(path, SETTINGS) as journal:
        before = len(synced)
        for number in range(64):
            journal.add(an_outcome(0, number))
        assert len(synced) == before + 1
        journal.add(an_outcome(1))
        assert len(synced) == before + 1
    assert len(synced) == before + 2


def test_a_full_disk_is_reported_and_leaves_whole_lines(path):
    resource = pytest.importorskip("resource")
    with Journal(path, SETTINGS) as journal:
        journal.add(an_outcome(1))
        size = path.stat().st_size
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
            with pytest.raises(JournalError, match="what was written before is safe"):
                journal.add(an_outcome(2))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, old_handler)
        assert path.stat().st_size == size
        assert not journal.is_done("star-2.fits")
        journal.add(an_outcome(2))
    assert [row["source"]["file"] for row in lines(path)] == ["star-1.fits", "star-2.fits"]


@pytest.fixture
def sky(tmp_path) -> Path:
    """Twenty survey files."""
    folder = tmp_path / "sky"
    folder.mkdir()
    wavelength = np.linspace(3800.0, 9000.0, 3000)
    for n in range(20):
        flux = 100.0 + n + 80.0 * np.exp(-0.5 * ((wavelength - 6564.6) / 12.0) ** 2)
        Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(3000, 0.04)}).write(folder / f"star-{n:02d}.csv")
    return folder


@pytest.mark.parametrize("how", [["--processes", "2"], ["--concurrency", "2"]])
def test_after_a_kill_each_spectrum_is_inspected_exactly_once_and_can_be_imported(sky, tmp_path, how):
    arguments = ["inspect", "sky", "--task", "cv", "--out", "r.jsonl", *how]
    held = [sys.executable, "-m", "tests.support.held", "r.jsonl", "3", *arguments]
    results = tmp_path / "r.jsonl"
    variables = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(held, cwd=tmp_path, env=variables, start_new_session=True)
    try:
        wait_until(lambda: results.exists() and results.read_bytes().count(b"\n") == 3)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    # Children end by themselves after their parent.
    wait_until(lambda: not is_left(process.pid))
    killed = results.read_bytes()
    assert killed.count(b"\n") == 3
    command = [sys.executable, str(ROOT / "app.py"), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert Counter(row["source"]["file"] for row in lines(results)) == {f"sky/star-{n:02d}.csv": 1 for n in range(20)}
    assert results.read_bytes().startswith(killed[: killed.rfind(b"\n") + 1])
    with Store.open(tmp_path / "a.db") as store:
        imported = import_file(store, results, spectra=sky)
        assert (len(imported.added), imported.problems) == (20, ())


def wait_until(done) -> None:
    for _ in range(3000):
        if done():
            return
        time.sleep(0.02)
    raise AssertionError("the condition was still false after a minute")
