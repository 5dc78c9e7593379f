"""Logs of other agents are imported as rows of ours are: checked first, nothing twice, problems by log and field."""

import json
from pathlib import Path

import pytest

from agent.foreign import read
from agent.foreign.record import Result
from reviewer.exchange.foreign import Logs, logs_at, request_of_logs
from reviewer.exchange.imports import Findings, continue_import, imports_folder, one_import, start_or_resume
from reviewer.exchange.uploads import unpacked
from reviewer.store import ImportJob, Store
from tests.agent.foreign import logs_atif
from tests.agent.foreign.test_convert import WRITERS, steps_of
from tests.agent.foreign.turns import an_example
from tests.support.campaign import people
from tests.support.drawn_traces import a_spectrum, a_trace


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        yield store


def imported(store: Store, folder: Path, skip_bad: bool = False) -> ImportJob:
    request = request_of_logs(store, Logs(logs_at(folder)), "logs", skip_bad)
    with one_import(store.path):
        return continue_import(store, start_or_resume(store, request).id)


def logs_of_all_formats(folder: Path) -> None:
    for number, (name, writer) in enumerate(WRITERS.items()):
        (folder / name).mkdir(parents=True)
        writer(*an_example(number), folder / name)


def test_a_folder_of_logs_of_all_formats(store: Store, tmp_path: Path) -> None:
    logs_of_all_formats(tmp_path / "logs")
    for number in range(len(WRITERS)):
        store.spectra.add(an_example(number)[1])
    job = imported(store, tmp_path / "logs")
    findings = Findings.of(job)
    assert (job.state, findings.added, findings.bad) == ("done", len(WRITERS), 0)
    texts = [steps_of(store.items.get(item).version.trajectory) for item in range(1, 1 + len(WRITERS))]
    expected = [steps_of(an_example(number)[0]) for number in range(len(WRITERS))]
    assert all(steps in texts for steps in expected)
    assert [path.name for path in imports_folder(store.path).iterdir() if path.is_dir()] == []
    again = Findings.of(imported(store, tmp_path / "logs"))
    assert (again.added, again.known) == (0, len(WRITERS))


def test_a_missing_spectrum_is_asked_for_by_name(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    logs_atif.examples(*an_example(1), folder)
    (folder / "broken.json").write_text('{"schema_version": "ATIF-v1.6", "agent": {}, "steps": []}')
    job = imported(store, folder)
    problems = [str(problem) for problem in Findings.of(job).problems]
    assert (job.state, store.queue.of_spectrum(None, "s1.fits", "cv")) == ("refused", [])
    assert "broken.json: agent.name: found" in problems[0]
    assert "run.json: found no spectrum 's1.fits'" in problems[1]
    assert "--spectra DIR" in problems[1]


def test_good_logs_are_imported_if_bad_ones_are_skipped(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    trajectory, spectrum = an_example(1)
    store.spectra.add(spectrum)
    logs_atif.examples(trajectory, spectrum, folder)
    (folder / "broken.json").write_text('{"schema_version": "ATIF-v9.9", "agent": {}, "steps": []}')
    findings = Findings.of(imported(store, folder, skip_bad=True))
    assert (findings.added, findings.bad) == (1, 1)


def test_uploaded_pictures_of_a_log_are_found_beside_it(tmp_path: Path) -> None:
    log = logs_atif.examples(*an_example(1), tmp_path)
    with unpacked([log, *tmp_path.glob("*.png")]) as (rows,):
        (trace,) = read(rows)
    pictures = [event.pictures for event in trace.events if isinstance(event, Result)]
    assert (trace.faults, bool(pictures[0])) == ((), True)


def test_rows_of_ours_are_no_logs(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(a_trace(a_spectrum()).to_json()) + "\n")
    assert logs_at(tmp_path / "rows.jsonl") == ()
    assert logs_at(tmp_path) == ()
