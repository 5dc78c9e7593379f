"""The store under faults: full disks, kills, several processes, copies."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from reviewer.store import (
    CannotWrite,
    Damaged,
    FileGone,
    HeldByAnother,
    NotAllowed,
    NotAnnotations,
    QueueFilter,
    Store,
    VersionMoved,
)
from tests.support.campaign import PROCESSES, TO_AUDIT, TO_VOTE, Desk, an_item, people
from tests.support.cli import free_port
from tests.support.cli import run as spec_o3

ROOT = Path(__file__).resolve().parents[3]
NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk or change the user")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "annotations.db"
    with Store.open(path) as store:
        people(store)
        for number in range(3):
            an_item(store, number)
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    """The path of a database with a small campaign."""
    return Path(shutil.copyfile(made, tmp_path / "annotations.db"))


def client_of(store: Store) -> TestClient:
    """Return a client of an app on this store, signed in as SO, a coordinator."""
    # Not for the processes that import this module: it takes seconds.
    from reviewer import server

    store.accounts.add_person("SO", "Solo", ["reviewer", "coordinator"], password="correct horse battery")
    client = TestClient(server.build(store, local=True), base_url="http://127.0.0.1")
    client.post("/sign-in", data={"initials": "SO", "password": "correct horse battery"})
    return client


@contextmanager
def disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A new file system of this size."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return ballast


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the single line that a failed command printed; its exit status is 2."""
    assert done.returncode == 2, done
    line = done.stderr.strip()
    assert "\n" not in line, line
    return line


def work_on(desk: Desk) -> None:
    for item in (1, 2, 3):
        desk.until(item, *TO_AUDIT)
        desk.store.leases.autosave(
            person="RE", item_id=item, base_version_id=item, body={"steps": [], "comment": "long " * 20_000}
        )


@as_root
def test_a_full_disk_keeps_exactly_what_was_acknowledged(path: Path, tmp_path: Path) -> None:
    with disk(tmp_path / "disk", 4096) as folder:
        shutil.copyfile(path, folder / "annotations.db")
        with Store.open(folder / "annotations.db") as store:
            desk = Desk(store)
            ballast = fill(folder)
            with pytest.raises(CannotWrite, match=r"annotations\.db: the disk is full\. Nothing was saved"):
                work_on(desk)
            acknowledged = {item: len(store.items.history(item)) for item in (1, 2, 3)}
            ballast.unlink()
            assert store.upkeep.verify() == []
            assert {item: len(store.items.history(item)) for item in (1, 2, 3)} == acknowledged
            store.leases.autosave(
                person="RE", item_id=3, base_version_id=3, body={"steps": [], "comment": "there is room again"}
            )


def test_a_file_that_cannot_grow_is_reported(path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    body = {"steps": [], "comment": "long " * 400_000}
    with Store.open(path) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 100_000, before[1]))
        try:
            with pytest.raises(CannotWrite, match=rf"{path}.*Nothing was saved"):
                store.leases.autosave(person="RE", item_id=1, base_version_id=1, body=body)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with Store.open(path) as store:
        assert store.upkeep.verify() == []


@as_root
def test_a_read_only_file_or_folder_is_named_at_the_start(made: Path) -> None:
    # Not in pytest's folder: each run of pytest closes that to other users.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        paths = [Path(folder) / name / "annotations.db" for name in ("file", "folder")]
        for path, of_file, of_folder in zip(paths, (0o444, 0o666), (0o777, 0o555), strict=True):
            path.parent.mkdir()
            shutil.copy(made, path)
            path.chmod(of_file)
            path.parent.chmod(of_folder)
        of_file, of_folder = start_as_nobody(*paths).splitlines()
    assert of_file.startswith(f"{paths[0]}: the file is read-only")
    assert of_folder.startswith(f"{paths[1]}: ")
    assert "no write permission" in of_folder


def start_as_nobody(*paths: Path) -> str:
    """Return why a user without rights cannot start with these databases, one line each."""
    code = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from reviewer.store import CannotWrite, Store
os.setuid({NOBODY})
for path in {[str(path) for path in paths]!r}:
    try:
        Store.open(path).upkeep.check_at_start()
    except CannotWrite as refused:
        print(refused)
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", check=True).stdout


@as_root
def test_a_file_on_a_read_only_disk_is_named_at_the_start(path: Path, tmp_path: Path) -> None:
    with disk(tmp_path / "disk", 4096) as folder:
        shutil.copyfile(path, folder / "annotations.db")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        error = one_line(spec_o3("app", "--db", folder / "annotations.db", "--no-browser", "--port", free_port()))
    assert f"{folder / 'annotations.db'}: " in error
    assert "no write permission" in error


def test_a_port_in_use_is_reported_before_any_file_is_made(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        error = one_line(spec_o3("app", "--db", tmp_path / "new.db", "--no-browser", "--port", str(port)))
    assert f"cannot serve on 127.0.0.1:{port}" in error
    assert f"--port {port + 1}" in error
    assert not (tmp_path / "new.db").exists()


def flip(path: Path, start: int, length: int) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        content = file.read(length)
        file.seek(start)
        file.write(bytes(byte ^ 0xFF for byte in content))


def page_of(path: Path, table: str) -> tuple[int, int]:
    """The offset of the first page of a table, and the page size."""
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    return (root - 1) * size, size


def test_an_app_does_not_start_with_a_damaged_database(made: Path, path: Path) -> None:
    for table in ("people", "standings", "decisions"):
        shutil.copyfile(made, path)
        flip(path, *page_of(path, table))
        with pytest.raises(Damaged), Store.open(path) as store:
            store.upkeep.check_at_start()
    error = one_line(spec_o3("app", "--db", path, "--no-browser", "--port", str(free_port())))
    assert "is damaged" in error
    assert "spec-o3 restore" in error


def test_damage_found_later_is_an_error_message_and_other_tables_are_readable(path: Path) -> None:
    flip(path, *page_of(path, "versions"))
    with Store.open(path) as store:
        store.upkeep.check_at_start()
        with pytest.raises(Damaged, match=r"annotations\.db: the file is damaged .* `spec-o3 restore"):
            store.items.get(1)
        assert [person.initials for person in store.accounts.people()][:2] == ["AU", "AX"]


@pytest.mark.parametrize("table", ["pictures", "spectra"])
def test_a_start_does_not_read_large_tables(path: Path, table: str) -> None:
    flip(path, *page_of(path, table))
    with Store.open(path) as store:
        store.upkeep.check_at_start()
        with pytest.raises(Damaged):
            store.upkeep.verify()


def test_the_error_for_a_damaged_file_header_names_restore(path: Path) -> None:
    flip(path, 0, 100)
    with pytest.raises(NotAnnotations, match="spec-o3 restore"):
        Store.open(path)


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced", "log deleted"])
def test_a_file_that_is_removed_while_open_takes_no_more_decisions(path: Path, how: str) -> None:
    with Store.open(path) as store:
        desk = Desk(store)
        desk.decide("RE", 1, "keep")
        elsewhere = path.with_name("elsewhere.db")
        if how == "deleted":
            path.unlink()
        elif how == "moved":
            path.rename(elsewhere)
        elif how == "replaced":
            shutil.copyfile(path, elsewhere)
            elsewhere.replace(path)
        else:
            path.with_name(f"{path.name}-wal").unlink()
        with pytest.raises(FileGone, match=r"was moved, deleted or replaced .* Nothing was saved"):
            desk.decide("RE", 2, "keep")
        if how == "moved":
            assert not path.exists()
            elsewhere.rename(path)
            assert desk.decide("RE", 2, "keep").state == "revision"


def test_a_read_makes_no_empty_file_in_place_of_a_removed_one(path: Path) -> None:
    with Store.open(path) as store:
        path.unlink()
        with pytest.raises(FileGone):
            store.accounts.people()
        assert not path.exists()


def test_every_connection_flushes_each_transaction_to_the_disk(path: Path) -> None:
    with Store.open(path) as store, store.database.read() as reader, store.database.write() as writer:
        for connection in (reader, writer):
            assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2, "2 is FULL"


@pytest.mark.parametrize("links", [True, False])
def test_a_copy_is_flushed_before_it_gets_its_name_and_its_folder_after(path, monkeypatch, links) -> None:
    target = path.with_name("copy.db")
    flushed: list[tuple[str, bool]] = []
    fsync = os.fsync

    def on_fsync(handle: int) -> None:
        flushed.append((os.readlink(f"/proc/self/fd/{handle}"), target.exists()))
        fsync(handle)

    def no_links(*_: object) -> None:
        raise OSError("no hard links here")

    monkeypatch.setattr(os, "fsync", on_fsync)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    with Store.open(path) as store:
        store.upkeep.backup(target)
    part = f"{target}.{os.getpid()}.part"
    assert flushed == [(part, False), (str(target.parent), True)]


def test_a_reader_that_comes_back_after_the_end_is_closed(path: Path) -> None:
    store = Store.open(path)
    with store.database.read() as reader:
        store.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        reader.execute("SELECT 1")


def test_an_error_of_the_store_reaches_the_page_as_a_message_with_status_503(path: Path) -> None:
    with Store.open(path) as store:
        client = client_of(store)
        path.rename(path.with_name("away.db"))
        answer = client.post("/api/v1/item/1/lease", json={})
        assert (answer.status_code, answer.json()["kind"]) == (503, "store")
        assert "was moved, deleted or replaced" in answer.json()["error"]


def test_a_page_of_one_person_is_refused_after_another_has_signed_in(path: Path) -> None:
    with Store.open(path) as store:
        client = client_of(store)
        mine = client.post("/api/v1/item/1/lease", json={}, headers={"X-Spec-O3-Person": "SO"})
        assert mine.status_code == 200
        body = {"base": 1, "steps": [], "comment": "of RE"}
        other = client.post("/api/v1/item/1/autosave", json=body, headers={"X-Spec-O3-Person": "RE"})
        assert (other.status_code, other.json()["kind"]) == (409, "other_person")
        assert "This page belongs to RE, but SO has signed in since" in other.json()["error"]
        assert store.leases.autosaved("SO", 1) is None


def test_an_autosave_returns_the_text_that_it_replaced(path: Path) -> None:
    with Store.open(path) as store:
        client = client_of(store)

        def autosave(comment: str, after: str | None) -> dict[str, object]:
            body = {"base": 1, "steps": [], "comment": comment, "after": after}
            answer: dict[str, object] = client.post("/api/v1/item/1/autosave", json=body).json()
            return answer

        first = autosave("first tab", None)
        assert first["replaced"] is None
        second = autosave("second tab", None)
        assert second["replaced"] == {"at": first["at"], "body": {"steps": [], "comment": "first tab"}}
        assert autosave("second tab goes on", str(second["at"]))["replaced"] is None


ITEMS = 25


@pytest.fixture
def shared_path(tmp_path):
    shared_path = tmp_path / "annotations.db"
    with Store.open(shared_path) as store:
        people(store)
        for initials in ("PA", "PB", "PC", "PD"):
            store.accounts.add_person(initials, f"Screener {initials}", ["reviewer"])
        for number in range(ITEMS):
            an_item(store, number)
    return shared_path


def claim_everything(shared_path: Path, person: str) -> list[int]:
    """Take and decide every free item until none is left."""
    mine, todo = [], QueueFilter(states=("screening",))
    with Store.open(shared_path) as store:
        while (item_id := store.queue.first_undone(todo, person)) is not None:
            try:
                lease = store.leases.take(person, item_id)
            except HeldByAnother:
                continue
            if lease.round != "screening":
                continue  # kept by another process meanwhile: it is offered for revision now
            Desk(store).decide(person, item_id, "keep", lease_token=lease.token)
            mine.append(item_id)
    return mine


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(3, mp_context=PROCESSES) as processes:
        yield processes


def test_processes_that_claim_at_once_get_every_item_once(shared_path, processes):
    claims = list(processes.map(claim_everything, [shared_path] * 3, ["PA", "PB", "PC"]))
    claimed = sorted(item_id for mine in claims for item_id in mine)
    assert claimed == list(range(1, ITEMS + 1))
    with Store.open(shared_path) as store:
        assert store.statistics.counts().by_task == {"cv": {"revision": ITEMS}}
        assert store.upkeep.verify() == []


def lease_all(store: Store, person: str) -> set[int]:
    got = set()
    for item_id in range(1, ITEMS + 1):
        try:
            store.leases.take(person, item_id)
            got.add(item_id)
        except HeldByAnother:
            continue
    return got


def test_threads_of_one_server_never_lease_one_item_twice(shared_path):
    with Store.open(shared_path) as store, ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda person: lease_all(store, person), ["PA", "PB", "PC", "PD"]))
        assert sorted(item_id for mine in got for item_id in mine) == list(range(1, ITEMS + 1))


def test_simultaneous_votes_are_counted_up_to_the_required_number(shared_path):
    with Store.open(shared_path) as store:
        Desk(store).until(1, *TO_VOTE)
        version, start = store.items.get(1).version, threading.Barrier(4)

        def vote(person: str) -> str:
            start.wait()
            try:
                lease = store.leases.take(person, 1)
                return Desk(store).decide(person, 1, "approve", version_id=version.id, lease_token=lease.token).progress
            except NotAllowed:
                return "refused"

        with ThreadPoolExecutor(4) as pool:
            results = sorted(pool.map(vote, ["VO", "CO", "PA", "PB"]))
        assert results == ["approved", "refused", "refused", "vote 1 of 2"]
        assert len(store.items.standing(1).decided_by) == 2


def test_two_saves_at_once_make_one_version_and_one_refusal(shared_path):
    with Store.open(shared_path) as store:
        desk = Desk(store)
        desk.decide("RE", 1, "keep")
        base, lease = store.items.get(1).version, store.leases.take("RE", 1)
        start = threading.Barrier(2)

        def save(text: str) -> str:
            steps = base.trajectory.steps[1:] if text == "a" else base.trajectory.steps[2:]
            given = {"base_version_id": base.id, "key": text, "lease_token": lease.token}
            start.wait()
            try:
                return str(desk.save("RE", 1, base.trajectory.with_steps(steps), **given).number)
            except VersionMoved as moved:
                return f"refused by {moved.theirs.number}"

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(save, ["a", "b"])) == ["2", "refused by 2"]


def open_new(shared_path: Path) -> int:
    with Store.open(shared_path) as store:
        return len(store.accounts.people())


def test_processes_may_open_a_new_database_at_once(tmp_path, processes):
    shared_path = tmp_path / "new.db"
    assert list(processes.map(open_new, [shared_path] * 6)) == [0] * 6
    with Store.open(shared_path) as store:
        assert store.upkeep.verify() == []


# Decides without end, and prints each item after it was acknowledged.
WRITER = """
import sys
sys.path.insert(0, {tests!r})
from tests.support.campaign import Desk, an_item
from reviewer.store import Store
store = Store.open({path!r})
desk = Desk(store)
number = 1000
while True:
    item_id = an_item(store, number)
    desk.decide("RE", item_id, "keep")
    version = desk.edit("RE", item_id, "text " * 2000)
    print(item_id, version.id, flush=True)
    number += 1
"""


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(shared_path):
    after = 4
    code = WRITER.format(tests=str(ROOT), path=str(shared_path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as writer:
        printed = [writer.stdout.readline() for _ in range(after)]
        os.kill(writer.pid, signal.SIGKILL)
        printed += writer.stdout.read().splitlines(keepends=True)
    acknowledged = [tuple(map(int, line.split())) for line in printed if line.endswith("\n")]
    assert len(acknowledged) >= after
    with Store.open(shared_path) as store:
        assert store.upkeep.verify() == []
        for item_id, version_id in acknowledged:
            item = store.items.get(item_id)
            assert (item.version.id, item.version.number, item.row.state) == (version_id, 2, "revision")
            assert item.version.trajectory.steps[0].text == "text " * 2000


def test_a_reader_sees_one_moment_while_others_write(shared_path):
    with Store.open(shared_path) as store:
        desk = Desk(store)
        stop = threading.Event()

        def write() -> None:
            try:
                for item_id in range(1, ITEMS + 1):
                    desk.until(item_id, *TO_AUDIT)
            finally:
                stop.set()

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            seen = set()
            while True:
                counts = store.statistics.counts().by_task["cv"]
                seen.add(sum(counts.values()))
                page = store.queue.page(QueueFilter(states=("screening",)), "RE", limit=ITEMS)
                assert len(page.rows) == page.total
                if stop.is_set():
                    break
            writing.result()
        assert seen == {ITEMS}


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        yield store


def test_a_store_may_be_closed_twice(store):
    store.close()
    store.close()
