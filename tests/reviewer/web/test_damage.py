"""Damaged files, through every way in: reported as damage, never as an internal error."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.exchange.exports import ExportError, export
from reviewer.similar.background import Similar, _Pace
from reviewer.store import Store, StoreError
from reviewer.web import errors
from reviewer.web.auth import ALONE, COOKIE
from tests.support.campaign import TO_VOTE, Desk, an_item, people
from tests.support.cli import run

pytestmark = pytest.mark.usefixtures("without_page")

ITEMS = (1, 2, 3)
LONG = "Hα looks broad. " * 800
"""A thought of several pages of the file."""
ROUTES = (
    *("GET /api/v1/me", "GET /api/v1/queue", "GET /api/v1/facets", "GET /api/v1/find?words=broad"),
    *("GET /api/v1/progress", "GET /api/v1/progress/agreement", "GET /api/v1/log", "POST /api/v1/log/check"),
    *("GET /api/v1/exports", "GET /api/v1/blind/setup", "POST /api/v1/next"),
)
OF_ITEMS = ("item/{}", "item/{}/history", "item/{}/version/1", "item/{}/similar")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with texts of several pages and two approved items."""
    path = tmp_path_factory.mktemp("sound") / "annotations.db"
    with Store.open(path) as store:
        people(store)
        desk = Desk(store)
        for item in ITEMS:
            an_item(store, item, think=f"{LONG}{item}")
        for item in (1, 2):
            desk.until(item, *TO_VOTE, ("VO", "approve"), ("JU", "approve"))
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    shutil.copyfile(sound, tmp_path / "annotations.db")
    return tmp_path / "annotations.db"


def overflow_pages(path: Path, table: str) -> list[int]:
    """Return the offsets of the pages of the file that hold only text of rows of a table."""
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        pages = db.execute("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'overflow'", (table,))
        return [(number - 1) * size for (number,) in pages]


def overwrite(path: Path, start: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(start + 4)  # after the number of the next page
        file.write(content)


def problems_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """Use the database in every way; return the reports of damage, and what was not reported as such."""
    reports: list[str] = []
    others: list[str] = []

    def on_internal_error(where: str, error: Exception) -> str:
        others.append(f"{where}: {error!r}")
        return "internal error"

    def use(name: str, call: Callable[[], object]) -> None:
        try:
            call()
        except (StoreError, ExportError) as error:
            reports.append(str(error))
        except Exception as error:
            others.append(f"{name}: {error!r}")

    monkeypatch.setattr(errors, "internal_error", on_internal_error)
    try:
        store = Store.open(path)
    except StoreError as error:
        return [str(error)], []
    with store:
        use("start", store.upkeep.check_at_start)
        use("log", lambda: reports.extend(store.log.check()))
        use("verify", lambda: reports.extend(store.upkeep.verify()))
        use("export", lambda: export(store, "round", folder=path.parent / "exports", processes=1))
        use("backup", lambda: store.upkeep.backup(path.with_name("copy.db")))
        similar = Similar(store)
        use("similar items", lambda: similar._update(_Pace(similar._stopped)))
        cookies = {COOKIE: f"{ALONE}CO"}
        app = server.build(store, local=True)
        client = TestClient(app, base_url="http://127.0.0.1", cookies=cookies, raise_server_exceptions=False)
        of_items = [f"GET /api/v1/{route.format(item)}" for item in ITEMS for route in OF_ITEMS]
        for route in (*ROUTES, *of_items):
            method, address = route.split()
            answer = client.request(method, address, json={} if method == "POST" else None)
            if answer.status_code == 503:
                reports.append(answer.json()["error"])
            elif answer.status_code == 500:
                others.append(f"{route}: {answer.text}")
    return reports, others


@pytest.mark.parametrize("content", [b"\xff" * 4092, bytes(4092), random.Random(3).randbytes(4092)])
def test_a_damaged_page_of_a_text_is_reported_everywhere(
    path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    pages = overflow_pages(path, "versions")
    assert len(pages) > 5
    overwrite(path, random.Random(1).choice(pages), content)
    reports, others = problems_of(path, monkeypatch)
    assert others == []
    assert [report for report in reports if "is damaged" in report and "spec-o3 restore" in report]


def test_the_commands_report_a_damaged_page(path: Path) -> None:
    for page in overflow_pages(path, "versions"):
        overwrite(path, page, b"\xff" * 4092)
    for command in (("log", "--check"), ("export", "round"), ("tables",), ("backup",), ("doctor", "database")):
        done = run(*command, "--db", path)
        assert "Traceback" not in done.stderr, done
    checked = run("log", "--check", "--db", path)
    assert checked.returncode == 1
    assert "the file is damaged" in checked.stdout


UNREADABLE = "CASE {row} % 3 WHEN 1 THEN CAST(x'ff4142' AS TEXT) WHEN 2 THEN '{{' || char(1) ELSE x'00ff10' END"
"""By the number of a row: no text, no UTF-8, no JSON."""
WITHOUT_ROWID = ("grids", "people")
PLAIN = ("versions.author", "decisions.comment", "items.drafter_name")
"""Columns of texts that are given as they are stored, JSON or not."""
CODED = (
    *("versions.body", "versions.at", "decisions.at", "spectra.flux", "spectra.details"),
    *("grids.wavelength", "log.details", "log.at", "settings.value", "people.roles"),
)


@pytest.mark.parametrize("place", [*PLAIN, *CODED])
def test_a_value_that_cannot_be_read_is_reported_everywhere(
    path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    table, column = place.split(".")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        row = 2 if table in WITHOUT_ROWID else "rowid"
        rows = db.execute(f"UPDATE {table} SET {column} = {UNREADABLE.format(row=row)}").rowcount
        db.commit()
    reports, others = problems_of(path, monkeypatch)
    assert others == []
    assert rows
    assert reports
