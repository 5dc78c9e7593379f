"""A database with something in every table, and databases compared row for row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.conversation import Usage
from agent.sky.records import SkyRecord, Source
from agent.spectrum import Spectrum
from agent.trajectory import Drafter
from reviewer.blind.plan import Plan
from reviewer.blind.results import Judgement, JudgeScore
from reviewer.rules.inspection import Inspection
from reviewer.store import Draft, ImportProgress, ImportRequest, QueueFilter, ScoreRow, Store, TrialRow, WorkTime
from reviewer.store.sqlite import schema
from reviewer.store.sqlite.database import Transaction
from reviewer.store.sqlite.schema import Migration
from reviewer.store.team.actions import Assign, Reject, SetBatch
from tests.support.campaign import TO_VOTE, Desk, a_spectrum, a_trajectory, an_item, people

PASSWORD = "Hα in emission"
NOT_COMPARED = ("sessions", "sign_ins", "tokens", "webhooks", "webhook_events", "webhook_deliveries")
_INDEXES = ("items_text", "traces_text", "remarks_text", "sqlite_")
"""How the names of tables begin whose rows depend on the order in which they were written."""
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def fill(store: Store) -> None:
    """Add people, items of every kind, a few decisions, unsent text, an export and hostile names."""
    people(store)
    store.accounts.set_password("CO", "CO", PASSWORD)
    desk = Desk(store)
    desk.until(an_item(store, 0), *TO_VOTE)
    desk.until(an_item(store, 1), ("RE", "keep"))
    desk.edit("RE", 2, "Hα\u2028is \"broad\"\n\t\u0000-free, ünïcode ☉ and 'quotes'\\")
    desk.decide("RE", 2, "submit", worked=WorkTime(61.25, 1 / 3))
    desk.decide("AU", 1 + 1, "return", comment="look again")
    an_item(store, 2)
    store.items.add_all([strange_numbers(), without_a_spectrum()])
    version = store.items.get(3).version
    desk.mark("RE", 3, key="a mark's key", note="well seen")
    store.marks.commit_verdict(person="RE", item_id=3, version_id=version.id, verdict="YES")
    found = Inspection("RE", z=0.1 + 0.2, quality=4, issues="RC", spectype="QSO", comment="[O III], Hβ\u2028")
    store.inspections.add(item_id=3, inspection=found, key="an inspection's key")
    store.leases.autosave(
        person="RE", item_id=3, base_version_id=version.id, body={"steps": [], "comment": "half a thou"}
    )
    imported = store.imports.create(ImportRequest(Path("/nowhere/rows.jsonl"), 1000, 10**18), "CO")
    store.imports.save(imported.id, ImportProgress("check", 500, 2, {"rows": 2}, 1 / 3))
    store.imports.end(imported.id, "cancelled")
    score_and_try(store, waiting=3, tried=(1, 3, 4))
    work_together(store, 3, 4)
    store.settings.set("CO", "greeting", "hello")
    store.settings.set("CO", "nested", {"b": [1, 2.5, None, "ö"], "a": True})
    store.settings.record_export("CO", "first-round", {"items": [], "π": 3.14159})
    store.accounts.sign_in("CO", PASSWORD, "127.0.0.1")
    # Last, so that ``to_schema_9`` can take its entry off the log.
    records = (a_record("gaia_dr3"), a_record("simbad", "failed", "HTTP 500 “later”\u2028"))
    store.sky.add([(store.items.get(3).row.spectrum_sha256 or "", record) for record in records])


def a_record(catalogue: str, status: str = "found", detail: str = "", **values: float) -> SkyRecord:
    """A record of one catalogue, with one source if it has any."""
    sources = (Source("42 ☉", 10.0, -5.0, 0.1 + 0.2, {"G": 18.25, "BP": 18.5, "RP": 17.75} | values),)
    found = sources if status == "found" else ()
    return SkyRecord(catalogue, status, 10.0, -5.0, (1998.0, 2012.5), detail, sources=found)  # type: ignore[arg-type]


def work_together(store: Store, first: int, second: int) -> None:
    """Comment on an open item in a resolved thread, act on both in bulk, save views, and name a person's login."""
    thread = store.comments.add(person="AU", item_id=first, text="@RE: is Hα “real”?\u2028", key="a comment's key").id
    store.comments.add(person="RE", item_id=first, text="Yes.", key="a reply's key", thread=thread)
    store.comments.set_resolved(person="AU", item_id=first, thread=thread, resolved=True, key="a resolution's key")
    for action in (Assign(("RE", "AU")), Assign(("AU",), assigned=False), SetBatch("renamed"), Reject("other", "No.")):
        token = store.bulk.preview("CO", [first, second], action).token
        done = store.bulk.apply("CO", [first, second], action, token, f"key of {action.kind}")
    store.bulk.undo("CO", done.id, "key of an undo")
    store.views.create(person="RE", name="Ünsure", filter={"words": '"broad line"', "state": ["audit"]}, shared=True)
    store.views.create(person="CO", name="a list", items=[second, first])
    store.logins.set("CO", "RE", "re@example.org")


def score_and_try(store: Store, waiting: int, tried: tuple[int, int, int]) -> None:
    """Score an item that waits for a coordinator and one that no certificate covers, show the first by value of
    information, and record trials that passed, failed and tested nothing."""
    reasons = ("S/N 2, expected 3 or more",)
    rows = [ScoreRow(waiting, 1 / 3, {"vote": -2.2}), ScoreRow(waiting + 1, 0.75, {"vote": None}, reasons)]
    store.trust.record_scores("CO", "cv", {"kind": "raw", "bias": 0.1}, rows)
    shown = store.triage.show(person="CO", filter=QueueFilter(task="cv"), key="a showing's key")
    assert shown is not None
    for item, passed in zip(tried, (True, False, None), strict=True):
        content_hash = store.items.get(item).version.content_hash
        store.trust.record_trials("CO", [TrialRow(content_hash, passed, {"text_after": "Hα “remains”.\u2028"}, item)])


def score_blind(store: Store) -> None:
    """Draw a blind session of two new items, answer all of one person's questions and one as a judge, and close it."""
    spectrum = a_spectrum("blind.fits")
    traces = [a_trajectory(spectrum, f"{who} sees Hα.", drafter=Drafter("model", who)) for who in ("ours", "gpt")]
    items = store.items.add_all(Draft(trace, spectrum) for trace in traces)
    plan = Plan("ours against gpt", ("RE", "AU"), mode="both", items=tuple(item.item_id for item in items), each=2)
    session = store.blind.sessions.create("CO", plan, "key of a session")
    store.blind.sessions.open("CO", session.id, "key of its opening")
    for work in store.blind.scoring.assignments("RE"):
        answer = {"person": "RE", "token": work.token, "key": f"key of {work.token}"}
        if work.kind == "scores":
            store.blind.scoring.score(
                **answer, coherence=4, consistency="cannot tell", comment="Fair.", wrong_steps=["s1"]
            )
        else:
            store.blind.scoring.prefer(**answer, preference="left")
    question = next(each for each in store.blind.judging.questions("CO", session.id) if each.kind == "scores")
    judgement = Judgement(
        *("judge-70b", question.shown, JudgeScore(3, 4, "Sound."), "First the lines.", {"temperature": 0.0}),
        *(("{...}",), Usage(100, 20), 0.0012),
    )
    store.blind.judging.record(by="CO", session_id=session.id, judgement=judgement, key="key of a judgement")
    store.blind.sessions.close("CO", session.id, "key of its closing")


def strange_numbers() -> Draft:
    """A spectrum with numbers that are difficult to write: smallest, largest, -0.0, many digits."""
    spectrum = a_spectrum("strange.fits")
    flux = np.array(spectrum.flux)
    flux[:6] = [5e-324, 1.7976931348623157e307, -0.0, 1 / 3, 0.1, -2.5e-45]
    mask = np.zeros(flux.size, dtype=bool)
    mask[[0, 7, 8, 299]] = True
    strange = Spectrum(
        spectrum.wavelength, flux, spectrum.ivar, mask=mask, name="../strange\n.fits", survey="=1+1", redshift=1e-17
    )
    return Draft(a_trajectory(strange, think="<script>alert(1)</script>"), strange, batch="strange")


def without_a_spectrum() -> Draft:
    return Draft(a_trajectory(think="Imported."), pictures={"ab" * 32: PNG}, batch="imported")


def contents(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table that is compared, sorted."""
    assert path.is_file()
    with closing(sqlite3.connect(path)) as db:
        names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
        return {
            name: sorted(db.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr)
            for (name,) in names
            if name not in NOT_COMPARED and not name.startswith(_INDEXES)
        }


def differences(path: Path, other: Path) -> list[str]:
    """Return the names of the tables with different rows."""
    first, second = contents(path), contents(other)
    return [name for name in sorted(first | second) if first.get(name) != second.get(name)]


@contextmanager
def unguarded(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database without its triggers, to change rows directly; restore the triggers afterwards."""
    with closing(sqlite3.connect(path)) as db:
        guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        yield db
        for _, sql in guards:
            db.execute(sql)
        db.commit()


def add_urgency(db: Transaction) -> None:
    """Migrate as a later release might."""
    db.execute("ALTER TABLE items ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0")


def plant_migration(patch: pytest.MonkeyPatch, run: Callable[[Transaction], None] = add_urgency) -> int:
    """Make this program a later release, with one more migration; return its number."""
    number = schema.MIGRATIONS[-1].number + 1
    patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, Migration(number, "planted", run)))
    return number


def to_schema_9(path: Path) -> None:
    """Turn a database of the present schema into one from before the first release."""
    with unguarded(path) as db:
        db.execute("DELETE FROM log WHERE what = 'sky records added' AND number = (SELECT max(number) FROM log)")
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE sparklines")
        db.execute("DROP TABLE sky_records")
    set_migrations(path, *range(1, 10))


def set_migrations(path: Path, *numbers: int) -> None:
    """Record these migrations in a database, in place of those that it has had."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM migrations")
        db.executemany("INSERT INTO migrations VALUES (?, '', '2026')", [(number,) for number in numbers])
        db.commit()
