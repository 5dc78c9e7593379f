"""Imports in parts: cancelled, killed, resumed, refused; people at work meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.trajectory import Trajectory
from reviewer.cli.exchange import _import_summary
from reviewer.exchange import imports
from reviewer.exchange.imports import (
    UPLOADS_KEPT,
    Findings,
    ImportFileError,
    continue_import,
    delete_old_uploads,
    import_file,
    is_importing,
    one_import,
    own_row,
    request_of,
    start_or_resume,
)
from reviewer.exchange.recognition import by_state
from reviewer.store import Draft, ImportJob, ImportStopped, Store
from reviewer.web.background.importing import Importing
from tests.support.campaign import a_spectrum, a_trajectory, people

ROOT = Path(__file__).resolve().parents[3]
ROWS = 150


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        yield store


def a_row(number: int) -> dict[str, Any]:
    spectrum = a_spectrum(f"spec-{number % 7}.fits")
    trace: Trajectory = a_trajectory(spectrum, f"Row {number}.")
    return own_row(trace, spectrum)


def a_file(path: Path, rows: int, form: str = "lines") -> Path:
    values = [a_row(number) for number in range(rows)]
    text = json.dumps(values) if form == "list" else "\n".join(map(json.dumps, values)) + "\n"
    path.write_text(text, encoding="utf-8")
    return path


def thoughts(path: Path) -> list[str]:
    """The first thought of every item, in order of the items."""
    query = "SELECT v.body FROM items i JOIN versions v ON v.item = i.id ORDER BY i.id"
    return [json.loads(body)["steps"][0]["text"] for (body,) in selected(path, query)]


def selected(path: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def added(path: Path) -> int:
    """The number of items."""
    return int(selected(path, "SELECT count(*) FROM items")[0][0])


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for another process, for two minutes at most."""
    until = time.monotonic() + 120.0
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)


def expected(rows: int) -> list[str]:
    return [f"Row {number}." for number in range(rows)]


@pytest.mark.parametrize(("form", "stop_at"), [("lines", 1), ("list", 3), ("lines", 5)])
def test_a_cancelled_import_resumes_where_it_was(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, stop_at: int
) -> None:
    monkeypatch.setattr(imports, "PART", 4)
    path = a_file(tmp_path / "rows.jsonl", 22, form)
    parts = 0

    def cancel(job: ImportJob) -> None:
        nonlocal parts
        parts += job.progress.step == "write" and job.progress.line > 0
        if parts == stop_at:
            store.imports.end(job.id, "cancelled")

    with pytest.raises(ImportStopped):
        import_file(store, path, progress=cancel)
    assert thoughts(store.path) == expected(4 * stop_at)
    with one_import(store.path):
        job = start_or_resume(store, request_of(path))
        assert Findings.of(job).added == 4 * stop_at
        done = continue_import(store, job.id)
    assert (done.state, Findings.of(done).added, Findings.of(done).known) == ("done", 22, 0)
    assert Findings.of(done).added_items == [[1, 22]]
    assert thoughts(store.path) == expected(22)
    assert store.upkeep.verify() == []


def test_an_import_that_is_interrupted_during_the_check_resumes_the_check(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_SAVED_EVERY", 0.0)
    path = a_file(tmp_path / "rows.jsonl", 9)

    def stop(job: ImportJob) -> None:
        if job.progress.line == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_file(store, path, progress=stop)
    job = start_or_resume(store, request_of(path))
    assert (job.progress.step, job.progress.line, Findings.of(job).rows) == ("check", 5, 5)
    read: list[int] = []
    with one_import(store.path):
        continue_import(store, job.id, lambda j: read.append(j.progress.line) if j.progress.step == "check" else None)
    assert read[0] == 6
    assert thoughts(store.path) == expected(9)


def test_a_changed_file_is_not_resumed(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "PART", 4)
    path = a_file(tmp_path / "rows.jsonl", 10)
    with pytest.raises(ImportStopped):
        import_file(store, path, skip_bad=True, progress=lambda job: store.imports.end(job.id, "cancelled"))
    old = store.imports.latest()
    assert old is not None
    a_file(path, 12)
    store.imports.resume(old.id)
    with one_import(store.path), pytest.raises(ImportFileError, match="was changed since its import began"):
        continue_import(store, old.id)
    # As a new import, the rows that are here are recognised.
    imported = import_file(store, path, skip_bad=True)
    assert (len(imported.added), len(imported.known)) == (8, 4)
    assert thoughts(store.path) == expected(12)


def test_one_import_runs_at_a_time(store: Store, tmp_path: Path) -> None:
    path = a_file(tmp_path / "rows.jsonl", 2)
    assert not is_importing(store.path)
    with one_import(store.path):
        assert is_importing(store.path)
        with pytest.raises(ImportFileError, match="another import into this database is running"):
            import_file(store, path)
    assert not is_importing(store.path)
    assert thoughts(store.path) == []


def test_items_that_came_during_the_import_are_no_reason_to_wait(store: Store, tmp_path: Path) -> None:
    path = a_file(tmp_path / "rows.jsonl", 3)

    def meanwhile(job: ImportJob) -> None:
        if job.progress.step == "write" and job.progress.line == 0:
            spectrum = a_spectrum("spec-1.fits")
            store.items.add(a_trajectory(spectrum, "By somebody else."), store.spectra.add(spectrum))

    assert len(import_file(store, path, same_spectrum="leave out", progress=meanwhile).added) == 3


def command(path: Path, database: Path, program: Path = ROOT / "app.py") -> list[str]:
    return [sys.executable, str(program), "import", str(path), "--db", str(database), "--json"]


def slow_program(folder: Path, pause: float) -> Path:
    """The app, but with small parts and this pause between them: an import is not done before it is ended."""
    lines = (
        "import sys",
        f"sys.path.insert(0, {str(ROOT)!r})",
        "import app",
        "from reviewer.exchange import imports",
        f"imports.PART, imports._PAUSE = 10, {pause}",
        "raise SystemExit(app.main())",
    )
    program = folder / "slow.py"
    program.write_text("\n".join(lines), encoding="utf-8")
    return program


def recorded(database: Path) -> list[tuple[str, int]]:
    """How far the imports are, as the database records it."""
    return selected(database, "SELECT step, line FROM imports")


def is_killed(line: list[str], database: Path, progress: Callable[[Path], object], seconds: float) -> bool:
    """Kill an import this long after its progress: in a pause between two parts, or in the next part."""
    before = progress(database)
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: progress(database) != before or process.poll() is not None)
    time.sleep(seconds)
    if process.poll() is not None:
        return False
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return True


def test_a_killed_import_resumes_and_adds_every_row_once(tmp_path: Path) -> None:
    """SIGKILL at random moments of the check and of the write; the same command each time."""
    rows, rng = ROWS, random.Random(7)
    path, database = a_file(tmp_path / "rows.jsonl", rows), tmp_path / "annotations.db"
    with Store.open(database) as store:
        people(store)
    counts: list[int] = []
    slow = command(path, database, slow_program(tmp_path, 0.3))
    for progress in (recorded, added, added):
        if not is_killed(slow, database, progress, rng.uniform(0.0, 0.4)):
            break
        counts.append(added(database))
        assert thoughts(database) == expected(counts[-1])
    assert any(0 < number < rows for number in counts), counts
    done = subprocess.run(command(path, database), capture_output=True, text=True, check=True)
    assert thoughts(database) == expected(rows)
    assert json.loads(done.stdout)["rows"] == rows
    with Store.open(database) as store:
        assert store.upkeep.verify() == []
        last = store.imports.latest()
        assert last is not None
        assert last.state == "done"
        # More than one, where an import was done before it could be killed.
        assert sum(Findings.of(store.imports.get(job)).added for job in range(1, last.id + 1)) == rows


def ended(importing: Importing, job: int) -> str:
    wait_until(lambda: not importing.status(job).running)
    status = importing.status(job)
    assert not status.running
    return status.job.state


def test_an_import_of_the_page_is_cancelled_at_once_survives_the_server_and_is_resumed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_file(tmp_path / "rows.jsonl", ROWS)
    importing = Importing(store)
    with monkeypatch.context() as patch:
        patch.setattr("reviewer.web.background.importing.PROGRAM", slow_program(tmp_path, 1.0))
        (job,) = importing.start([request_of(path)], "CO")
        with pytest.raises(ImportFileError, match="Another import is running"):
            importing.start([request_of(path)], "CO")
        wait_until(lambda: added(store.path))
        importing.cancel([job.id])
        before = added(store.path)
        assert ended(importing, job.id) == "cancelled"
        assert added(store.path) == before < ROWS
        importing.resume([job.id], "CO")
    wait_until(lambda: added(store.path) > before)
    importing.close()  # the server is stopped
    again = Importing(store)
    status = again.status(job.id)
    assert status is not None
    assert (status.running, status.ended, status.can_resume) == (False, True, True)
    assert before < added(store.path) < ROWS
    again.resume([job.id], "CO")
    assert ended(again, job.id) == "done"
    assert thoughts(store.path) == expected(ROWS)
    again.close()


def test_what_a_program_wrote_that_ended_by_itself_is_in_its_log(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text("raise SystemExit('no memory left')", encoding="ascii")
    monkeypatch.setattr("reviewer.web.background.importing.PROGRAM", program)
    importing = Importing(store)
    (job,) = importing.start([request_of(a_file(tmp_path / "rows.jsonl", 1))], "CO")
    assert ended(importing, job.id) == "running"
    status = importing.status(job.id)
    assert status is not None
    assert (status.ended, status.can_resume) == (True, True)
    assert status.log.read_text(encoding="utf-8") == "no memory left\n"
    importing.close()


def test_only_files_in_an_allowed_folder_are_imported_by_path(store: Store, tmp_path: Path) -> None:
    allowed = tmp_path / "surveys"
    (allowed / "deep").mkdir(parents=True)
    secret = a_file(tmp_path / "secret.jsonl", 1)
    (allowed / "link.jsonl").symlink_to(secret)
    importing = Importing(store, [allowed])
    inside = a_file(allowed / "deep" / "rows.jsonl", 1)
    assert importing.path_on_server(f" {inside} ") == inside.resolve()
    outside = (secret, allowed / "link.jsonl", allowed / ".." / "secret.jsonl", Path("secret.jsonl"))
    for desk, path in (*((importing, path) for path in outside), (Importing(store), inside)):
        with pytest.raises(ImportFileError, match="expected a file or folder inside"):
            desk.path_on_server(str(path))


def test_uploaded_files_are_deleted_at_the_end_and_kept_until_then(store: Store, tmp_path: Path) -> None:
    importing = Importing(store)
    folder = importing.folder / "upload"
    folder.mkdir()
    path = a_file(folder / "rows.jsonl", 3)
    job = store.imports.create(request_of(path, skip_bad=True, uploaded=True), "CO")
    store.imports.end(job.id, "cancelled")
    with pytest.raises(ImportStopped):
        continue_import(store, job.id)
    assert path.exists()
    store.imports.resume(job.id)
    with one_import(store.path):
        continue_import(store, job.id)
    assert not folder.exists()
    assert thoughts(store.path) == expected(3)


@pytest.mark.parametrize("state", ["cancelled", "running", "no import"])
def test_uploaded_files_of_an_import_that_nobody_resumes_are_deleted_in_the_end(
    store: Store, tmp_path: Path, state: str
) -> None:
    importing = Importing(store)
    folder = importing.folder / "upload"
    folder.mkdir()
    path = a_file(folder / "rows.jsonl", 3)
    jobs = [] if state == "no import" else [store.imports.create(request_of(path, uploaded=True), "CO").id]
    if state == "cancelled":
        store.imports.end(jobs[0], "cancelled")
    soon, late = (datetime.now(UTC) + UPLOADS_KEPT + timedelta(minutes=minutes) for minutes in (-1, 1))
    assert delete_old_uploads(store, soon) == []
    with one_import(store.path):
        assert delete_old_uploads(store, late) == []
    assert all(importing.status(job).can_resume for job in jobs)
    assert delete_old_uploads(store, late) == [folder.resolve()]
    assert not folder.exists()
    assert not any(importing.status(job).can_resume for job in jobs)
    assert not is_importing(store.path)


def test_a_resumed_import_keeps_its_uploaded_files_for_as_long_again(store: Store, tmp_path: Path) -> None:
    folder = Importing(store).folder / "upload"
    folder.mkdir()
    job = store.imports.create(request_of(a_file(folder / "rows.jsonl", 3), uploaded=True), "CO")
    store.imports.end(job.id, "cancelled")
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE imports SET changed_at = '2026-01-01T00:00:00.000000+00:00'")
    store.imports.resume(job.id, "CO")
    assert delete_old_uploads(store, datetime.now(UTC)) == []
    assert folder.exists()


def test_somebody_else_resumes_the_import_of_a_person_who_left(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "PART", 4)
    path = a_file(tmp_path / "rows.jsonl", 10)
    store.accounts.add_person("ZZ", "Zoe", ["coordinator"])
    with pytest.raises(ImportStopped):
        import_file(store, path, skip_bad=True, by="ZZ", progress=lambda job: store.imports.end(job.id, "cancelled"))
    job = store.imports.latest()
    store.accounts.deactivate("CO", "ZZ")
    store.imports.resume(job.id, "CO")
    with one_import(store.path):
        continue_import(store, job.id)
    assert thoughts(store.path) == expected(10)
    assert [entry.person for entry in store.log.entries() if entry.what == "items added"] == ["ZZ", "CO", "CO"]


def test_a_file_that_changes_during_the_check_is_not_written(store: Store, tmp_path: Path) -> None:
    path = a_file(tmp_path / "rows.jsonl", 5)
    job = start_or_resume(store, request_of(path))
    real = imports.Recognition.find

    def find(self: imports.Recognition, draft: Draft) -> object:
        with path.open("a") as file:
            file.write("\n")
        return real(self, draft)

    with one_import(store.path), pytest.MonkeyPatch.context() as patch:
        patch.setattr(imports.Recognition, "find", find)
        patch.setattr(imports, "_SAVED_EVERY", 1e9)
        with pytest.raises(ImportFileError, match="was changed since its import began"):
            continue_import(store, job.id)
    assert thoughts(store.path) == []
    assert store.imports.get(job.id).state == "failed"


def test_rows_of_items_in_any_order_are_all_counted(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_MOST_RANGES", 3)
    rows = [json.dumps(a_row(number)) for number in range(20)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")
    import_file(store, path)
    path.write_text("\n".join(rows[::-2]), encoding="utf-8")
    import_file(store, path)
    job = store.imports.latest()
    assert job is not None
    findings = Findings.of(job)
    assert (findings.known, findings.known_items, findings.unlisted) == (10, [[20, 20], [18, 18], [16, 16]], 7)
    summary = _import_summary(job, findings, by_state(store, findings.known_items, 20))
    assert "3 already screening here: items 16, 18, 20" in summary
    assert "7 more rows are already here" in summary
