"""Fuzz targets for databases, backups and HTTP requests."""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import traceback
from pathlib import Path
from typing import Any

from reviewer.backup.archive import MANIFEST_NAME as MANIFEST
from reviewer.backup.backups import BackupError
from reviewer.backup.restore import Restored, restore
from reviewer.rules.campaign import Rules
from reviewer.store import Draft, QueueFilter, Store, StoreError
from tests.soak.mutations import spoiled_json, spoiled_sqlite
from tests.soak.trying import DidNotHold, Target, Try, check_sentence, refused_by
from tests.support.inputs.app import archive_files, bytes_in, columns_of, database_files, fill, plain_archive, requests
from tests.support.inputs.rows import a_trajectory, sample_pictures
from tests.support.inputs.spectra import a_spectrum


class _InPlace:
    """A valid database in its own folder, which restores replace."""

    def __init__(self, folder: Path) -> None:
        self._around = folder
        self._folder = folder / "in place"
        self._folder.mkdir(exist_ok=True)
        self._database = self._folder / "annotations.db"
        fill(folder / "good.db")
        self._good = (folder / "good.db").read_bytes()

    def put(self, source: Path) -> None:
        """:raises DidNotHold: a refusal changed something, or the restored database is damaged"""
        shutil.rmtree(self._folder)
        self._folder.mkdir()
        self._database.write_bytes(self._good)
        given = bytes_in(source.parent)
        done = None
        with refused_by(BackupError, StoreError, where=self._around):
            done = restore(source, self._database)
        if bytes_in(source.parent) != given:
            raise DidNotHold("a restore that changed what it was given")
        left = bytes_in(self._folder)
        kept_as = self._database if done is None or done.kept_as is None else done.kept_as
        if left.pop(kept_as.name, None) != self._good:
            raise DidNotHold("a restore that changed what was there before")
        if done is not None:
            self._sound(done)
            left.pop(self._database.name)
        if left:
            raise DidNotHold(f"a restore that left {min(left)} behind")

    def _sound(self, done: Restored) -> None:
        with Store.open(self._database) as store:
            wrong = store.upkeep.verify(done.head)
            store.queue.page(QueueFilter(), "", limit=20)
        if wrong:
            raise DidNotHold(f"a restored database that is not sound: {wrong[0]}")


def _database(folder: Path) -> Try:
    place, source = _InPlace(folder), folder / "given" / "kept.db"
    source.parent.mkdir(exist_ok=True)

    def attempt(data: bytes) -> None:
        source.write_bytes(data)
        place.put(source)

    return attempt


def _archive(folder: Path) -> Try:
    """A plain archive with one damaged file: a table, with its new size and SHA-256 in the manifest, or the
    manifest."""
    place, spoiled = _InPlace(folder), folder / "given" / "plain"
    columns = {name: columns_of(content) for name, content in plain_archive().items() if name.endswith(".jsonl")}

    def attempt(data: bytes) -> None:
        shutil.rmtree(spoiled, ignore_errors=True)
        for name, content in plain_archive().items():
            (spoiled / name).parent.mkdir(parents=True, exist_ok=True)
            (spoiled / name).write_bytes(content)
        if data[:1] == b"{" and b'"tables"' in data:
            (spoiled / MANIFEST).write_bytes(data)
        else:
            table = max(columns, key=lambda name: len(columns[name] & columns_of(data)))
            (spoiled / table).write_bytes(data)
            manifest = json.loads((spoiled / MANIFEST).read_bytes())
            about = manifest["tables"][table.removesuffix(".jsonl")]
            about |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            about["rows"] = len(data.splitlines(keepends=True))
            (spoiled / MANIFEST).write_text(json.dumps(manifest), "utf-8")
        place.put(spoiled)

    return attempt


DATABASES = (
    Target("archive", _archive, archive_files, spoiled_json),
    Target("database", _database, database_files, spoiled_sqlite),
)


LOOPBACK = "http://127.0.0.1:7860"
BETWEEN_BASES = 3000
"""Requests until the database is made again: the items they add make the queue slower."""


class _Faults(logging.Handler):
    """Collects the exceptions that the program logged."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self.errors.append(error)


class _App:
    """The app over a small database of its own, with one person who has all roles."""

    def __init__(self, folder: Path) -> None:
        from starlette.testclient import TestClient

        from reviewer.server import build
        from reviewer.web.auth import ALONE, COOKIE

        path = folder / "annotations.db"
        for old in folder.glob("annotations.db*"):
            old.unlink()
        self.store = Store.open(path)
        self.store.accounts.add_person("RV", "Person", ["reviewer", "auditor", "coordinator"])
        for initials in ("AA", "BB"):
            self.store.accounts.add_person(initials, f"Person {initials}", ["reviewer"])
        self.store.settings.set_rules(None, Rules(solo=True))
        trajectory, spectrum = a_trajectory(), a_spectrum()
        self.store.items.add_all([Draft(trajectory, spectrum, batch="fuzz", pictures=sample_pictures())])
        self.client = TestClient(build(self.store, local=True), base_url=LOOPBACK, raise_server_exceptions=False)
        self.client.cookies.set(COOKIE, f"{ALONE}RV")
        self.lease = ""
        self.requests = 0

    def take_lease(self) -> None:
        answer = self.client.post("/api/v1/item/1/lease")
        self.lease = answer.json().get("lease", "") if answer.status_code == 200 else ""


def routes(folder: Path) -> Try:
    apps = [_App(folder)]
    faults = _Faults()
    log = logging.getLogger("spec_o3")
    log.addHandler(faults)
    log.propagate = False

    def attempt(data: bytes) -> None:
        app = apps[0]
        app.requests += 1
        if app.requests % BETWEEN_BASES == 0:
            app.store.close()
            app = apps[0] = _App(folder)
        request = _read(data)
        if request is None:
            return
        method, path, body = request
        if app.requests % 50 == 1 or not app.lease:
            app.take_lease()
        faults.errors.clear()
        answer = _send(app, method, path, body)
        if answer is None:
            return
        if answer.status_code >= 500 and answer.status_code != 503:
            raise (faults.errors[0] if faults.errors else DidNotHold(f"{answer.status_code}: {answer.text[:200]}"))
        if answer.headers.get("content-type") == "application/json":
            result = answer.json()
            if answer.status_code >= 400 and isinstance(result, dict) and "error" in result:
                check_sentence(result["error"])

    return attempt


def _read(data: bytes) -> tuple[str, str, Any] | None:
    try:
        request = json.loads(data)
        method, path, body = request["method"], request["path"], request["body"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    if method not in ("GET", "POST") or not isinstance(path, str) or not path.startswith(("/api/v1/", "/sign-in")):
        return None
    # For this client a stream of events has no end.
    return None if path.endswith("/events") else (method, path, body)


def _send(app: _App, method: str, path: str, body: Any) -> Any:
    try:
        if path.startswith("/sign-in"):
            form = {str(k): str(v) for k, v in body.items()} if isinstance(body, dict) else {"initials": str(body)}
            return app.client.request(method, path, data=form, follow_redirects=False)
        if method == "GET":
            query = {str(k): str(v) for k, v in body.items()} if isinstance(body, dict) else {}
            return app.client.get(path, params=query)
        text = json.dumps(body).replace('"LEASE"', json.dumps(app.lease))
        return app.client.post(path, content=text.encode(), headers={"content-type": "application/json"})
    except Exception as error:
        # Requests that httpx refuses to send do not matter; exceptions of the app do.
        if any("/reviewer/" in frame.filename for frame in traceback.extract_tb(error.__traceback__)):
            raise
        return None


ROUTES = (Target("routes", routes, requests, spoiled_json),)
