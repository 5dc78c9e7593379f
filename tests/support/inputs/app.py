"""Databases, plain archives and HTTP requests: small valid ones, and damaged ones with their refusals."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from reviewer.backup.archive import write_archive
from reviewer.exchange.imports import import_file
from reviewer.store import Store
from reviewer.store.sqlite.files import exclusive_access
from tests.support.inputs.rows import WINDOW, json_or_none, own_lines, plan_data, with_pictures

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
"""Databases of earlier releases, as SQL."""


THEN = datetime(2026, 11, 1, tzinfo=UTC)


def fill(path: Path) -> None:
    """A database with two people, two items, a decision, a mark and unsent text."""
    path.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as name, Store.open(path, lambda: THEN) as store:
        folder = Path(name)
        store.accounts.add_person("CO", "Person", ["coordinator"])
        store.accounts.add_person("RV", "Person", ["reviewer", "auditor"])
        with_pictures(folder)
        (folder / "rows.jsonl").write_bytes(own_lines()[0])
        import_file(store, folder / "rows.jsonl", folder, "damaged")
        version = store.items.get(1).version.id
        store.marks.add(
            person="RV", item_id=1, version_id=version, step_id="s1", mark="supported", key="k" * 10, note="well seen"
        )
        store.reviews.decide(
            person="RV",
            item_id=1,
            version_id=version,
            verb="keep",
            key="k" * 11,
            lease_token=store.leases.take("RV", 1).token,
            comment="c",
        )
        store.leases.autosave(
            person="RV",
            item_id=2,
            base_version_id=store.items.get(2).version.id,
            body={"steps": [], "comment": "half a thou"},
        )
        store.settings.set("CO", "greeting", {"b": [1, 2.5, None, "ö"]})
    # Exclusive access ends the write-ahead log, which the first bytes of the file show.
    with exclusive_access(path):
        pass


def database_files() -> list[bytes]:
    """A database of the present schema, and those of earlier releases."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "annotations.db"
        fill(path)
        made = [path.read_bytes()]
    for dump in sorted(SCHEMAS.glob("*.sql")):
        with closing(sqlite3.connect(":memory:")) as db:
            db.executescript(dump.read_text("utf-8"))
            made.append(db.serialize())
    return made


@cache
def plain_archive() -> dict[str, bytes]:
    """The files of a plain archive. Made once: a table of another archive does not fit this one's log."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder / "annotations.db")
        with Store.open(folder / "annotations.db") as store:
            write_archive(store, folder / "plain")
        return bytes_in(folder / "plain")


def archive_files() -> list[bytes]:
    """The tables and the manifest of a plain archive."""
    return [content for name, content in plain_archive().items() if ".json" in name and content]


def columns_of(lines: bytes) -> set[str]:
    first = json_or_none(lines.partition(b"\n")[0])
    return set(first) if isinstance(first, dict) else set()


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
STRANGE = {
    "a view without end": (f"CREATE VIEW odd AS {ENDLESS} SELECT x FROM c", "found the view 'odd'"),
    "a trigger without end": (
        f"CREATE TRIGGER odd AFTER INSERT ON log BEGIN SELECT ({ENDLESS} SELECT max(x) FROM c); END",
        "found the trigger 'odd', which is not spec-o3's",
    ),
    "a trigger that deletes": (
        "CREATE TRIGGER odd AFTER INSERT ON log BEGIN DELETE FROM people; END",
        "found the trigger 'odd'",
    ),
    "a trigger that rolls back": (
        "CREATE TRIGGER odd AFTER UPDATE ON sessions BEGIN SELECT RAISE(ROLLBACK, 'no'); END",
        "found the trigger 'odd'",
    ),
    "an index of gigabytes": (
        "CREATE INDEX odd ON log (length(hex(zeroblob(length(what) * length(hash)))))",
        "found the index 'odd'",
    ),
    "a table of gigabytes": ("CREATE TABLE odd (a, b GENERATED ALWAYS AS (hex(zeroblob(a))))", "found the table 'odd'"),
    "a virtual table": ("CREATE VIRTUAL TABLE odd USING fts5(text)", "found the table 'odd"),
    "a trigger that is missing": ("DROP TRIGGER decisions_no_update", "found no trigger 'decisions_no_update'"),
    "a column of its own": ("ALTER TABLE people ADD COLUMN odd", "found a different table 'people'"),
    "a column with a check": (
        "ALTER TABLE people ADD COLUMN odd CHECK (length(zeroblob(length(name) * 9000000)) > 0) DEFAULT 1",
        "found a different table 'people'",
    ),
    "another list of releases": (
        "INSERT INTO migrations VALUES (-1, 'odd', '2026')",
        r"found the migrations \[-1, 9, 10, 11\]",
    ),
    "a name with an escape": ('CREATE TABLE "\x1b[2J\n" (a)', r"found the table '\\x1b\[2J\\n'"),
}
"""Statements that change a database in ways spec-o3 never does, and the refusals."""


REQUESTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST", "/api/v1/zoom", {"item": 1, "arguments": {"wavelength_range": WINDOW, "label": "x"}}),
    ("POST", "/api/v1/renew", {"lease": "abc"}),
    ("POST", "/api/v1/release", {"lease": "abc"}),
    (
        "POST",
        "/api/v1/item/1/autosave",
        {"base": 1, "steps": [{"id": "s1", "kind": "think", "text": "a"}], "comment": "b"},
    ),
    ("POST", "/api/v1/item/1/discard", {"base": 1, "steps": [], "comment": ""}),
    (
        "POST",
        "/api/v1/item/1/version",
        {
            "base": 1,
            "steps": [{"id": "s1", "kind": "think", "text": "a"}],
            "reason": "r",
            "key": "k" * 10,
            "lease": "LEASE",
        },
    ),
    (
        "POST",
        "/api/v1/item/1/decide",
        {"version": 1, "verb": "keep", "key": "k" * 11, "lease": "LEASE", "reason": "", "comment": "c"},
    ),
    ("POST", "/api/v1/item/1/undo", {"key": "k" * 12}),
    (
        "POST",
        "/api/v1/item/1/mark",
        {"version": 1, "step": "s1", "mark": "not supported", "note": "n", "key": "k" * 13},
    ),
    ("POST", "/api/v1/item/1/verdict", {"version": 1, "verdict": "YES"}),
    ("POST", "/api/v1/item/1/lease", {}),
    (
        "POST",
        "/api/v1/blind/sheet/abc/score",
        {"coherence": 3, "consistency": None, "comment": "c", "wrong_steps": ["1"], "key": "k" * 14},
    ),
    ("POST", "/api/v1/blind/sheet/abc/prefer", {"preference": "left", "comment": "c", "key": "k" * 15}),
    ("POST", "/api/v1/blind/preview", {"plan": plan_data()}),
    ("POST", "/api/v1/blind/sessions", {"plan": plan_data(), "key": "k" * 16}),
    ("POST", "/api/v1/blind/sessions/1/open", {"key": "k" * 17}),
    (
        "POST",
        "/api/v1/bulk/preview",
        {"selection": {"items": [1, 2]}, "action": {"kind": "reject", "reason": "other", "comment": "c"}},
    ),
    (
        "POST",
        "/api/v1/bulk",
        {
            "selection": {"filter": {"batch": "damaged"}, "without": [2]},
            "action": {"kind": "assign", "people": ["RV"]},
            "token": "t",
            "key": "k" * 18,
        },
    ),
    ("POST", "/api/v1/bulk/1/undo", {"key": "k" * 19}),
    (
        "POST",
        "/api/v1/views",
        {
            "name": "damaged",
            "shared": True,
            "filter": {"words": '"broad line" -noise ab*', "state": ["audit"], "listed": 1},
        },
    ),
    ("POST", "/api/v1/views", {"name": "a list", "selection": {"filter": {"batch": "damaged"}, "without": [2]}}),
    ("POST", "/api/v1/views/1", {"name": "renamed", "shared": False, "selection": {"items": [1, 2]}}),
    ("POST", "/api/v1/live/bench", {"item": 1}),
    ("POST", "/api/v1/live/runs", {"bench": "x", "task": "cv", "policy": "baseline", "samples": 1, "max_turns": 2}),
    ("POST", "/api/v1/live/runs/x/review", {"samples": [0]}),
    ("GET", "/api/v1/queue", {"after": 1, "limit": 3, "text": "a", "snr_min": 1.0, "task": "cv", "state": "screening"}),
    ("GET", "/api/v1/item/1", {"verdict_first": "true"}),
    ("GET", "/api/v1/place/1", {"batch": "x"}),
    ("GET", "/api/v1/item/1/hints", {"version": 1}),
    ("GET", "/api/v1/picture/abc", {"spectrum": "x", "redshift": 0.1, "arguments": "{}"}),
    ("GET", "/api/v1/atlas", {"survey": "LAMOST", "task": "cv"}),
    ("GET", "/api/v1/spectrum/abc/lines", {"task": "cv"}),
    ("GET", "/api/v1/spectrum/abc/templates", {"task": "cv"}),
    ("GET", "/api/v1/spectrum/abc/loci", {"task": "cv"}),
    ("GET", "/api/v1/templates/calspec-vega", {"spectrum": "abc"}),
    ("GET", "/api/v1/item/1/similar", {}),
    ("GET", "/api/v1/item/1/similar", {"by": "text", "limit": 3}),
    ("POST", "/api/v1/similar", {"examples": [1], "counterexamples": [2], "limit": 5}),
    ("POST", "/api/v1/groups", {"selection": {"items": [1, 2]}, "groups": 2}),
    ("GET", "/api/v1/groups", {}),
    ("GET", "/api/v1/groups/1", {}),
    ("GET", "/api/v1/measure", {"spectrum": "abc", "lo": 6500, "hi": 6600, "frame": "rest", "medium": "air", "z": 0.1}),
    ("GET", "/api/v1/live/health", {"policy": "baseline"}),
    ("GET", "/api/v1/live/library", {"q": "a", "limit": 3}),
    ("GET", "/api/v1/blind/sheet/a/picture/0/1", {}),
    ("GET", "/api/v1/progress", {}),
    ("POST", "/api/v1/tokens", {"name": "a", "may_write": True, "days": 30}),
    ("POST", "/api/v1/webhooks", {"url": "https://example.org/a", "events": ["approved"]}),
    ("POST", "/api/v1/exports", {"name": "../a", "task": "cv", "batch": "b", "simulated": False, "replace": True}),
    ("POST", "/api/v1/catalogues", {"name": "../a", "task": "cv", "view": 1, "authors": ["A"], "replace": True}),
    ("POST", "/sign-in", {"initials": "RV", "password": "x"}),
)


REFUSED_REQUESTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST", "/api/v1/zoom", {"item": 1, "arguments": {"wavelength_range": [4010.0, "\ud800"], "label": "x"}}),
    ("POST", "/api/v1/zoom", {"item": 1, "arguments": {"wavelength_range": [4010.0, float("nan")]}}),
    ("POST", "/api/v1/live/bench", {"item": 2**63}),
    ("POST", "/api/v1/item/1/decide", {"version": 10**30, "verb": "keep", "key": "k" * 11, "lease": "LEASE"}),
    ("POST", "/api/v1/item/1/mark", {"version": 1, "\x1b[2J": "vacuum"}),
    ("POST", "/api/v1/item/1/undo", {"key": "k" * 12, "a" * 4000: 1}),
    ("GET", "/api/v1/picture/abc", {"arguments": "no JSON"}),
    ("GET", "/api/v1/picture/abc", {"arguments": "[" * 5000}),
    ("GET", f"/api/v1/item/{10**40}", {}),
)
"""Requests that once got status 500, or a refusal that was not a sentence."""
