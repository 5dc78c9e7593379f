"""The audit log and the clock."""

from __future__ import annotations

import inspect
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewer import server
from reviewer.blind.plan import Plan
from reviewer.blind.results import Judgement, JudgeScore
from reviewer.rules.inspection import Inspection
from reviewer.rules.workflow import Rules
from reviewer.store import (
    Draft,
    Entry,
    Head,
    ImportJob,
    ImportProgress,
    ImportRequest,
    LeaseLost,
    QueueFilter,
    ScoreRow,
    Selection,
    SignInRefused,
    Store,
    StoreError,
    TrialRow,
)
from reviewer.store.accounts import MAX_PER_PERSON_AND_ORIGIN
from reviewer.store.audit.chain import BEFORE_THE_FIRST, BOUND
from reviewer.store.sqlite.database import Clocks, connect
from reviewer.store.sqlite.migrations import migrate
from reviewer.store.sqlite.schema import FACTS
from reviewer.store.team.actions import Action, Assign, BulkAction, Reject, SetBatch
from reviewer.store.team.imported import ImportedComment
from tests.support.blind_campaign import drawn, opened, tokens, two_drafters
from tests.support.campaign import TO_VOTE, Clock, Desk, a_spectrum, a_trajectory, an_item, people
from tests.support.kept_campaign import a_record
from tests.support.store_parts import public_methods

PASSWORD = "a long password"
ZOE = "Zoë Ångström"


def make(path: Path) -> Store:
    """Open a new store with some work of every kind."""
    store = Store.open(path, clock=Clock())
    people(store)
    store.accounts.add_person("ZO", ZOE, ["reviewer", "auditor"], PASSWORD)
    store.accounts.add_person("OL", "Has left", ["reviewer"])
    store.accounts.deactivate("CO", "OL")
    two_drafters(store, 6)
    desk = Desk(store)
    desk.until(1, *TO_VOTE)
    desk.decide("RE", 2, "keep")
    opened(store, items=(3, 4, 5, 6, 7, 8), each=2, mode="both", scorers=("RE", "AU"))
    drawn(store, items=(9, 10), each=1, scorers=("VO", "AU"))
    opened(store, items=(3, 4), each=1, mode="pairs", scorers=("ZO",))
    assumed = a_spectrum("assumed.csv", medium="air", meta={"medium_assumed": True})
    store.items.add(a_trajectory(assumed, medium="air"), store.spectra.add(assumed), key="assumed")
    desk.decide("RE", ASSUMED, "keep")
    comment(store, "First comment")
    return store


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "annotations.db"
    make(path).close()
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    shutil.copy(made, tmp_path / "annotations.db")
    return tmp_path / "annotations.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path, clock=Clock()) as store:
        yield store


# ---- every write path

ASSUMED = 13
"""The item whose file does not state its medium, in revision."""


def state_medium(store: Store) -> None:
    store.reviews.set_medium(
        person="RE",
        item_id=ASSUMED,
        base_version_id=version_of(store, ASSUMED),
        medium="vacuum",
        key="medium",
        lease_token=store.leases.take("RE", ASSUMED).token,
    )


def version_of(store: Store, item: int) -> int:
    return store.items.get(item).version.id


def signed_in(store: Store) -> str:
    return store.accounts.sign_in("ZO", PASSWORD, "10.0.0.1").token


def refused(store: Store) -> None:
    with suppress(SignInRefused):
        store.accounts.sign_in("ZO", "something else", "10.0.0.1")


def place(store: Store, person: str, kind: str) -> str:
    return tokens(store, person, kind)[0]


def judge(store: Store) -> None:
    question = next(question for question in store.blind.judging.questions(None, 1) if question.kind == "scores")
    judgement = Judgement("judge-70b", question.shown, JudgeScore(3, 4, "Sound."), "", {})
    store.blind.judging.record(by="CO", session_id=1, judgement=judgement, key="judged")


def show(store: Store) -> None:
    """Show the only item that has a score; its score is recorded first, which is an entry of its own."""
    store.trust.record_scores("CO", "cv", {}, [ScoreRow(2, 0.5, {})])
    for _ in range(2):
        assert store.triage.show(person="RE", filter=QueueFilter(task="cv"), key="a showing").item == 2


def alone(store: Store) -> None:
    """Work alone, which only a database without passwords allows."""
    store.path.with_name("alone.db").unlink(missing_ok=True)
    with Store.open(store.path.with_name("alone.db")) as empty:
        empty.accounts.work_alone("SO")
        assert [entry.what for entry in empty.log.entries()][-1] == "person added"
        empty.accounts.work_alone("SO")
        assert len(empty.log.entries(what="person added")) == 1


def stopped_webhook(store: Store) -> int:
    """A webhook in the state in which one is that reached nobody."""
    webhook, _ = store.webhooks.add("CO", "https://example.org/a", ["approved"])
    stopped = '{"events": ["approved"], "stopped_at": "2026-11-21T12:00:00", "silent_since": "2026-11-18T12:00:00"}'
    with store.database.write() as db:
        db.execute("UPDATE webhooks SET events = ? WHERE id = ?", (stopped, webhook.id))
    return webhook.id


def import_of(store: Store) -> ImportJob:
    return store.imports.create(ImportRequest(Path("rows.jsonl"), 100, 1), by="CO")


def restored(store: Store) -> None:
    store.withdrawals.withdraw("CO", Selection(first=11))
    store.withdrawals.restore("CO", Selection(first=11))


def act(store: Store, action: Action) -> BulkAction:
    return store.bulk.apply("CO", [10, 11, 12], action, store.bulk.preview("CO", [10, 11, 12], action).token, "bulk")


def comment(store: Store, text: str) -> None:
    store.comments.add(person="RE", item_id=2, text=text, step="s1", key=text)


def view(store: Store) -> int:
    return store.views.create(person="RE", name="a view", items=[1], shared=True).id


# Each method that writes, and the kind of its log entry; None: it makes none by design.
WRITES: dict[str, tuple[Callable[[Store], Any], str | None]] = {
    "accounts.add_person": (lambda s: s.accounts.add_person("NE", "New", ["reviewer"], by="CO"), "person added"),
    "accounts.work_alone": (alone, None),
    "accounts.change": (lambda s: s.accounts.change("CO", "ZO", roles=["coordinator"]), "roles changed"),
    "accounts.set_password": (lambda s: s.accounts.set_password("ZO", "ZO", "another password"), "password set"),
    "accounts.deactivate": (lambda s: s.accounts.deactivate("CO", "ZO"), "deactivated"),
    "accounts.reactivate": (lambda s: s.accounts.reactivate("CO", "OL"), "reactivated"),
    "accounts.sign_in": (signed_in, "signed in"),
    "accounts.prove": (lambda s: s.accounts.prove("ZO", PASSWORD, "10.0.0.1"), None),
    "accounts.sign_out": (lambda s: s.accounts.sign_out(signed_in(s)), "signed out"),
    "settings.set_rules": (lambda s: s.settings.set_rules("CO", Rules(votes=3)), "rules set"),
    "settings.set": (lambda s: s.settings.set("CO", "name", {"a": 1}), "setting set"),
    "settings.record_export": (lambda s: s.settings.record_export("CO", "first", {"items": []}), "exported"),
    "items.add": (lambda s: s.items.add(a_trajectory(think="One."), by="CO"), "items added"),
    "items.add_all": (lambda s: s.items.add_all([Draft(a_trajectory(think=f"{n}")) for n in range(5)]), "items added"),
    "withdrawals.withdraw": (lambda s: s.withdrawals.withdraw("CO", Selection(first=11)), "items withdrawn"),
    "withdrawals.restore": (restored, "items restored"),
    "bulk.apply": (lambda s: act(s, Assign(("RE", "AU"))), "items assigned"),
    "bulk.undo": (lambda s: s.bulk.undo("CO", act(s, Reject("duplicate")).id, "undo"), "bulk action undone"),
    "reviews.save_version": (lambda s: Desk(s).edit("RE", 2, "Another look."), "version saved"),
    "reviews.set_medium": (state_medium, "medium stated"),
    "reviews.decide": (lambda s: Desk(s).decide("VO", 1, "approve"), "decided"),
    "reviews.undo": (lambda s: s.reviews.undo(person="RE", item_id=2, key="undo"), "undone"),
    "marks.add": (lambda s: Desk(s).mark("VO", 1), "marked"),
    "inspections.add": (
        lambda s: s.inspections.add(item_id=1, inspection=Inspection("VO", z=0.1, quality=4), key="an inspection"),
        "inspected",
    ),
    "marks.commit_verdict": (
        lambda s: s.marks.commit_verdict(person="VO", item_id=1, version_id=version_of(s, 1), verdict="NO"),
        "verdict committed",
    ),
    "views.create": (lambda s: s.views.create(person="RE", name="a view", items=[1]), "view created"),
    "views.change": (lambda s: s.views.change(person="CO", view_id=view(s), filter={"words": "Hα"}), "view changed"),
    "views.delete": (lambda s: s.views.delete(person="RE", view_id=view(s)), "view deleted"),
    "comments.add": (lambda s: comment(s, "A new comment"), "commented"),
    "imported_comments.add": (
        lambda s: s.imported_comments.add([ImportedComment(1, "Argilla: ann", "verdict: NO", None, "from Argilla")]),
        "comments imported",
    ),
    "comments.set_resolved": (
        lambda s: s.comments.set_resolved(person="VO", item_id=2, thread=1, resolved=True, key="resolve"),
        "thread resolved",
    ),
    "comments.read": (lambda s: s.comments.read(person="VO", item_id=2, comment=1), None),
    "blind.sessions.create": (
        lambda s: s.blind.sessions.create("CO", Plan("more", ("JU", "AX"), items=(11, 12)), "draw"),
        "blind session drawn",
    ),
    "blind.sessions.open": (lambda s: s.blind.sessions.open("CO", 2, "open"), "blind session opened"),
    "blind.sessions.close": (lambda s: s.blind.sessions.close("CO", 1, "close"), "blind session closed"),
    "blind.scoring.score": (
        lambda s: s.blind.scoring.score(
            person="RE", token=place(s, "RE", "scores"), coherence=4, consistency=3, key="sc"
        ),
        "scored blind",
    ),
    "blind.scoring.prefer": (
        lambda s: s.blind.scoring.prefer(person="ZO", token=place(s, "ZO", "pair"), preference="left", key="pr"),
        "preferred blind",
    ),
    "blind.judging.record": (judge, "judged blind"),
    "trust.record_scores": (lambda s: s.trust.record_scores("CO", "cv", {}, [ScoreRow(1, 0.5, {})]), "scores recorded"),
    "trust.record_trials": (
        lambda s: s.trust.record_trials("CO", [TrialRow(s.items.get(1).version.content_hash, True, {})]),
        "trials recorded",
    ),
    "triage.show": (show, "shown"),
    "sky.add": (lambda s: s.sky.add([(s.items.get(1).row.spectrum_sha256, a_record("gaia_dr3"))]), "sky records added"),
    "tokens.make": (lambda s: s.tokens.make("RE", "a script", True, 30), "token made"),
    "tokens.revoke": (
        lambda s: s.tokens.revoke("CO", s.tokens.make("RE", "a script", True, 30)[0].id),
        "token revoked",
    ),
    "logins.set": (lambda s: s.logins.set("CO", "ZO", "zoe@example.org"), "sign-in name set"),
    "logins.note_sign_in": (lambda s: s.logins.note_sign_in("ZO", "10.0.0.1"), "signed in"),
    "webhooks.add": (lambda s: s.webhooks.add("CO", "https://example.org/a", ["approved"]), "webhook added"),
    "webhooks.delete": (
        lambda s: s.webhooks.delete("CO", s.webhooks.add("CO", "https://example.org/a", ["approved"])[0].id),
        "webhook deleted",
    ),
    "webhooks.start": (lambda s: s.webhooks.start("CO", stopped_webhook(s)), "webhook started"),
    # Deliveries are no facts.
    "webhooks.record": (lambda s: s.webhooks.record(1, 1, True, "200 OK"), None),
    "webhooks.tidy": (lambda s: s.webhooks.tidy(), None),
    "log.note": (lambda s: s.log.note("CO", "backup made", "a.db", bytes=3), "backup made"),
    # Not logged: leases and unsent text are private; spectra and pictures are bound by their hashes.
    "leases.take": (lambda s: s.leases.take("RE", 2), None),
    # An import is logged by its items.
    "imports.create": (import_of, None),
    "imports.resume": (lambda s: s.imports.resume(import_of(s).id), None),
    "imports.save": (lambda s: s.imports.save(import_of(s).id, ImportProgress("check", 10, 1)), None),
    "imports.end": (lambda s: s.imports.end(import_of(s).id, "cancelled"), None),
    "imports.add": (
        lambda s: s.imports.add(
            import_of(s), [Draft(a_trajectory(think="Imported."))], lambda added: ImportProgress("write", 10, 1)
        ),
        "items added",
    ),
    "items.add_part": (
        lambda s: s.items.add_part([Draft(a_trajectory(think="A part."))], "CO", lambda db, added: None),
        "items added",
    ),
    "spectra.sparklines": (lambda s: s.spectra.sparklines([s.items.get(1).row.spectrum_sha256]), None),
    "spectra.move_to_files": (lambda s: s.spectra.move_to_files(), None),
    "leases.renew": (lambda s: s.leases.renew(s.leases.take("RE", 2).token), None),
    "leases.release": (lambda s: s.leases.release(s.leases.take("RE", 2).token), None),
    "leases.autosave": (
        lambda s: s.leases.autosave(person="RE", item_id=2, base_version_id=version_of(s, 2), body={"text": "half"}),
        None,
    ),
    "leases.discard_autosave": (
        lambda s: s.leases.discard_autosave(person="RE", item_id=2, base_version_id=version_of(s, 2)),
        None,
    ),
    "spectra.add": (lambda s: s.spectra.add(a_spectrum("new.fits")), None),
    # Derived rows only.
    "upkeep.rebuild": (lambda s: s.upkeep.rebuild(), None),
}

# What they end, or the choice that they follow, makes an entry as well.
TWO_ENTRIES = (
    *("accounts.sign_out", "withdrawals.restore", "triage.show", "bulk.undo", "views.change", "views.delete"),
    *("tokens.revoke", "webhooks.delete", "webhooks.start"),
)

# Writes only its entry; rewrites existing values; is a part of other methods.
APART = {"upkeep.record_restore", "upkeep.check_at_start", "leases.keep_unsent"}

# A method writes if its source contains one of these.
WRITING = ("_database.write()", "keep_unsent(", "add_all(", "add_part(")


def facts_of(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(path)) as reader:
        return {table: sorted(reader.execute(f"SELECT * FROM {table}"), key=repr) for table in (*BOUND, "people")}


def test_every_method_that_writes_is_listed_here(store: Store) -> None:
    sources = {name: inspect.getsource(method) for name, method in public_methods(store).items()}
    writing = {name for name, source in sources.items() if any(w in source for w in WRITING)}
    assert writing - APART == set(WRITES)


def test_the_log_binds_every_table_of_facts() -> None:
    with closing(connect(Path(":memory:"))) as memory:
        migrate(memory, Path(":memory:"))
        guarded = {
            row[0]
            for row in memory.execute(
                "SELECT tbl_name FROM sqlite_schema WHERE name LIKE '%\\_no\\_delete' ESCAPE '\\'"
            )
        }
        assert guarded == set(FACTS)
        assert guarded - {"log"} <= set(BOUND)
        # Every column is bound.
        for table, bound in BOUND.items():
            columns = {row[1] for row in memory.execute(f"PRAGMA table_info({table})")}
            assert columns == set(bound.columns), table


@pytest.mark.parametrize("name", WRITES)
def test_a_write_makes_its_entry_and_changes_only_bound_tables(store: Store, name: str) -> None:
    do, kind = WRITES[name]
    before, end = facts_of(store.path), store.log.head()
    do(store)
    new = store.log.entries(after=end.number)
    changed = {table for table, rows in facts_of(store.path).items() if rows != before[table]}
    if kind is None:
        assert (new, changed) == ([], set())
    else:
        assert new[-1].what == kind
        assert len(new) == (2 if name in TWO_ENTRIES else 1)
        bound = {*new[-1].details.get("facts", {}), *(["people"] if "people" in new[-1].details else [])}
        assert bound == changed
    assert store.upkeep.verify() == []


def test_the_same_key_twice_is_one_entry(store: Store) -> None:
    for _ in range(2):
        store.reviews.undo(person="RE", item_id=2, key="one key")
        Desk(store).mark("VO", 1, key="another key")
        store.marks.commit_verdict(person="VO", item_id=1, version_id=version_of(store, 1), verdict="NO")
    assert [len(store.log.entries(what=what)) for what in ("undone", "marked", "verdict committed")] == [1, 1, 1]
    end = store.log.head()
    store.settings.set_rules("CO", store.settings.rules())
    store.items.add(a_trajectory(think="Known."))
    store.items.add(a_trajectory(think="Known."))
    store.accounts.sign_out("no such token")
    assert store.log.head().number == end.number + 1


def test_a_refused_sign_in_names_only_existing_people(store: Store) -> None:
    refused(store)
    with pytest.raises(SignInRefused):
        store.accounts.sign_in("HUNTER2!", "RE", "10.9.9.9")
    known, unknown = store.log.entries(what="sign-in refused")
    assert (known.person, known.subject, known.details) == (None, "ZO", {"origin": "10.0.0.1"})
    assert (unknown.subject, unknown.details) == ("unknown", {"origin": "10.9.9.9"})


def test_the_log_holds_no_secret_and_no_comment(store: Store) -> None:
    token = signed_in(store)
    store.accounts.set_password("CO", "ZO", "the newest password")
    lease = store.leases.take("VO", 1).token
    remark = "Nobody is to read this in a log"
    Desk(store).decide("VO", 1, "approve", key="the-key", lease_token=lease, comment=remark)
    comment(store, remark)
    Desk(store).mark("VO", 1, key="mark-key", note=remark)
    store.blind.scoring.score(
        person="RE", token=place(store, "RE", "scores"), coherence=5, consistency=2, key="score-key", comment=remark
    )
    (scored,) = store.log.entries(what="scored blind")
    assert set(scored.details) == {"place", "facts"}
    text = repr(store.log.entries(limit=10_000))
    (kept,) = sqlite3.connect(store.path).execute("SELECT password FROM people WHERE initials = 'ZO'").fetchone()
    for secret in (PASSWORD, "newest", kept, kept.split("$")[-1], token, lease, remark, "the-key", ZOE):
        assert secret not in text


# ---- reading the log


def test_the_log_is_read_in_order_by_page_person_and_kind(store: Store) -> None:
    every = store.log.entries(limit=1000)
    assert [entry.number for entry in every] == list(range(1, len(every) + 1))
    assert every[0].previous == BEFORE_THE_FIRST
    assert [entry.hash for entry in every[:-1]] == [entry.previous for entry in every[1:]]
    assert store.log.entries(after=3, limit=2) == every[3:5]
    assert store.log.entries(person="AU") == [entry for entry in every if entry.person == "AU"] != []
    assert {entry.what for entry in store.log.entries(person="RE", what="decided")} == {"decided"}
    assert store.log.head() == Head(every[-1].number, every[-1].hash)
    assert isinstance(every[0], Entry)


def test_a_head_is_written_and_read() -> None:
    known = Head(12, "0f" * 32)
    assert Head.parse(f" {known}\n") == known
    for wrong in ("", "12", "12:", "x:" + "0f" * 32, "12:" + "0F" * 32, "-1:" + "0f" * 32, "12:" + "0f" * 31):
        with pytest.raises(ValueError, match="expected NUMBER:HASH"):
            Head.parse(wrong)


# ---- detecting changes


@dataclass
class OtherProgram:
    """Changes made with another SQLite program, triggers circumvented."""

    path: Path

    def execute(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.path)) as other:
            triggers = other.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                other.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                other.execute(statement)
            for _, sql in triggers:
                other.execute(sql)
            other.commit()


def found(path: Path, known: Head | None = None) -> list[str]:
    with Store.open(path) as store:
        return store.log.check(known)


def test_the_program_itself_cannot_change_an_entry(store: Store) -> None:
    for statement in ("UPDATE log SET what = 'nothing'", "DELETE FROM log WHERE number = 2"):
        other = sqlite3.connect(store.path)
        with closing(other), pytest.raises(sqlite3.IntegrityError, match="append, never"):
            other.execute(statement)


CASES = {
    "UPDATE decisions SET verb = 'reject' WHERE id = 3": "decisions 3 was changed since it was written",
    "UPDATE versions SET body = replace(body, 'broad', 'flat') WHERE id = 4": "versions 1 to 12 was changed",
    "INSERT INTO marks VALUES (1, 'k', 1, 1, 's1', 'RE', 'supported', '', '2026')": (
        "marks 1: no entry of the log covers it"
    ),
    "DELETE FROM blind_assignments WHERE session = 2 AND place = 1": "found 1 rows, expected 2",
    "UPDATE people SET roles = '[\"coordinator\"]' WHERE initials = 'RE'": "RE: this person's roles",
    "INSERT INTO people VALUES ('EV', 'Eve', '[\"coordinator\"]', NULL, 1, '2026')": (
        "EV: no entry of the log covers this person"
    ),
    "DELETE FROM people WHERE initials = 'JU'": "JU: this person is in the log, but not in the database",
    "UPDATE log SET person = 'VO' WHERE number = 12": "log 12: it was changed",
    "DELETE FROM log WHERE number = 12": "log 13: it follows 11, so entries are missing",
    "UPDATE log SET hash = previous WHERE number = 12": "log 13: it does not follow from the entry before it",
}


@pytest.mark.parametrize("statement", CASES)
def test_a_change_by_another_program_is_found(path: Path, statement: str) -> None:
    assert found(path) == []
    OtherProgram(path).execute(statement)
    wrong = found(path)
    assert any(CASES[statement] in sentence for sentence in wrong), wrong
    with Store.open(path) as store:
        assert set(wrong) <= set(store.upkeep.verify())


def test_a_truncated_log_is_found_by_a_head_kept_elsewhere(path: Path) -> None:
    with Store.open(path) as store:
        early, end = store.log.head(), store.log.note(None, "backup made")
    assert found(path, early) == found(path, end) == []
    OtherProgram(path).execute(f"DELETE FROM log WHERE number = {end.number}")
    assert found(path) == []
    assert found(path, end) == [
        f"the log ends at {early.number}, expected {end.number} as stored elsewhere: its end was removed"
    ]
    assert found(path, early) == []
    with Store.open(path) as store:
        store.log.note(None, "something else")
    (sentence,) = found(path, end)
    assert sentence.startswith(f"log {end.number}: found the hash")


def test_at_most_a_thousand_faults_are_listed(path: Path) -> None:
    with Store.open(path) as store:
        store.items.add_all(Draft(a_trajectory(think=f"{n}")) for n in range(1200))
    OtherProgram(path).execute("UPDATE log SET details = '{}'")
    wrong = found(path)
    assert len(wrong) == 1001
    assert wrong[-1] == "and more"


def test_an_unreadable_entry_is_reported_without_a_crash(path: Path) -> None:
    for details in ("[1]", '{"facts": 3}', '{"facts": {"decisions": [1]}}', '{"facts": {"nowhere": [1,1,1,"x"]}}'):
        OtherProgram(path).execute(f"UPDATE log SET details = '{details}' WHERE number = 12")
        assert any("log 12" in sentence for sentence in found(path))


# ---- random changes


def _cells(path: Path) -> list[tuple[str, str, int]]:
    """Every cell of the bound tables and of the log: table, column, position."""
    with closing(sqlite3.connect(path)) as reader:
        return [
            (table, column, position)
            for table in (*BOUND, "people", "log")
            for column in [row[1] for row in reader.execute(f"PRAGMA table_info({table})")]
            for position in range(reader.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        ]


@pytest.fixture(scope="module")
def cells(made: Path) -> list[tuple[str, str, int]]:
    return _cells(made)


def _other(value: object, chance: int) -> object:
    """A different value of the same kind."""
    if isinstance(value, int | float):
        return value + chance
    if value is None:
        return "x"
    place = chance % max(1, len(str(value)))
    text = str(value)
    return text[:place] + ("b" if text[place : place + 1] == "a" else "a") + text[place + 1 :]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_change_of_any_cell_is_found(data, made, cells, tmp_path_factory) -> None:
    table, column, position = data.draw(st.sampled_from(cells))
    path = tmp_path_factory.mktemp("tampered") / "annotations.db"
    shutil.copy(made, path)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA ignore_check_constraints = ON")
        for (name,) in other.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            other.execute(f"DROP TRIGGER {name}")
        keys = ", ".join(row[1] for row in other.execute(f"PRAGMA table_info({table})") if row[5])
        where = f"({keys}) = (SELECT {keys} FROM {table} ORDER BY {keys} LIMIT 1 OFFSET {position})"
        (value,) = other.execute(f"SELECT {column} FROM {table} WHERE {where}").fetchone()
        new = _other(value, data.draw(st.integers(1, 1000)))
        try:
            other.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (new,))
        except sqlite3.IntegrityError:
            # Duplicate key or forbidden null: nothing was changed.
            return
        other.commit()
    assert found(path) != [], (table, column, position, value, new)
    shutil.rmtree(path.parent)


ACTS: tuple[Callable[[Store, Desk, int], Any], ...] = (
    lambda s, d, n: d.decide("RE", n, "keep"),
    lambda s, d, n: d.decide("RE", n, "submit"),
    lambda s, d, n: d.decide("AU", n, "pass"),
    lambda s, d, n: d.decide("AX", n, "return", comment="Look again."),
    lambda s, d, n: d.decide("VO", n, "approve"),
    lambda s, d, n: d.edit("RE", n, f"A look of {n}: {uuid4().hex}"),
    lambda s, d, n: s.reviews.undo(person="RE", item_id=n, key=d.key()),
    lambda s, d, n: d.mark("AX", n),
    lambda s, d, n: s.marks.commit_verdict(person="VO", item_id=n, version_id=version_of(s, n), verdict="YES"),
    lambda s, d, n: an_item(s, n),
    lambda s, d, n: s.settings.set_rules("CO", Rules(auditors=1 + n % 2)),
    lambda s, d, n: s.accounts.set_roles("CO", "JU", ["auditor", "reviewer"][: 1 + n % 2]),
    lambda s, d, n: (s.accounts.deactivate, s.accounts.reactivate)[n % 2]("CO", "JU"),
    lambda s, d, n: s.blind.sessions.create("CO", Plan("x", ("JU", "AX"), items=(11, 12)), d.key()),
    lambda s, d, n: s.blind.sessions.open("CO", 1 + n % 3, d.key()),
    lambda s, d, n: s.blind.sessions.close("CO", 1 + n % 3, d.key()),
    lambda s, d, n: s.log.note(None, "backup made", str(n)),
)


@settings(max_examples=25, deadline=None)
@given(acts=st.lists(st.tuples(st.sampled_from(ACTS), st.integers(1, 6)), max_size=12))
def test_any_sequence_of_actions_verifies(made, tmp_path_factory, acts) -> None:
    path = tmp_path_factory.mktemp("acted") / "annotations.db"
    shutil.copy(made, path)
    with Store.open(path, clock=Clock()) as store:
        desk = Desk(store)
        for act, number in acts:
            with suppress(StoreError):
                act(store, desk, number)
        assert store.upkeep.verify() == []
    shutil.rmtree(path.parent)


BACK = timedelta(days=1)
"""The clock is set back by more than a lease, a session without use and a pause after wrong passwords last."""


@dataclass
class Machine:
    """The two clocks of a machine: only the wall clock can be set."""

    wall: Clock = field(default_factory=Clock)
    seconds: float = 0.0

    def advance(self, **by: float) -> None:
        self.wall.turn(**by)
        self.seconds += timedelta(**by).total_seconds()

    def set_back(self, back: timedelta) -> None:
        self.wall.now -= back

    def open(self, machine_path: Path) -> Store:
        return Store.open(machine_path, clock=self.wall, elapsed=lambda: self.seconds)


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def machine_path(tmp_path: Path, machine: Machine) -> Path:
    machine_path = tmp_path / "annotations.db"
    with machine.open(machine_path) as machine_store:
        people(machine_store)
        machine_store.accounts.add_person("ZO", "Zoë", ["reviewer"], PASSWORD)
        for number in range(3):
            an_item(machine_store, number)
    return machine_path


@pytest.fixture
def machine_store(machine_path: Path, machine: Machine) -> Iterator[Store]:
    with machine.open(machine_path) as machine_store:
        yield machine_store


def test_a_lease_does_not_last_longer_when_the_clock_is_set_back(machine_store: Store, machine: Machine) -> None:
    lease = machine_store.leases.take("RE", 1)
    machine.advance(minutes=10)
    machine.set_back(BACK)
    machine.advance(minutes=4)
    assert machine_store.leases.renew(lease.token).person == "RE"
    machine.advance(minutes=14.9)
    assert machine_store.items.get(1).row.held_by == ("RE",)
    machine.advance(minutes=0.2)
    assert machine_store.items.get(1).row.held_by == ()
    with pytest.raises(LeaseLost, match="ran out"):
        machine_store.leases.renew(lease.token)
    assert machine_store.leases.take("VO", 1).person == "VO"


def test_a_session_does_not_last_longer_when_the_clock_is_set_back(machine_store: Store, machine: Machine) -> None:
    token = machine_store.accounts.sign_in("ZO", PASSWORD).token
    machine.set_back(BACK)
    assert machine_store.accounts.signed_in(token) is not None
    machine.advance(days=8)
    assert machine_store.accounts.signed_in(token) is None


def test_the_pause_after_wrong_passwords_is_unchanged_when_the_clock_is_set_back(machine_store, machine) -> None:
    for _ in range(MAX_PER_PERSON_AND_ORIGIN):
        with pytest.raises(SignInRefused, match="do not match"):
            machine_store.accounts.sign_in("ZO", "a wrong password")
    machine.set_back(BACK)
    with pytest.raises(SignInRefused, match="Too many"):
        machine_store.accounts.sign_in("ZO", PASSWORD)
    machine.advance(minutes=16)
    assert machine_store.accounts.sign_in("ZO", PASSWORD).person == "ZO"


def test_leases_and_sessions_from_the_future_have_ended_after_a_restart(machine_path: Path, machine: Machine) -> None:
    with machine.open(machine_path) as machine_store:
        lease, token = machine_store.leases.take("RE", 1), machine_store.accounts.sign_in("ZO", PASSWORD).token
        version = machine_store.items.get(1).version.id
        machine_store.leases.autosave(person="RE", item_id=1, base_version_id=version, body={"text": "half a sent"})
    machine.set_back(BACK)
    with machine.open(machine_path) as machine_store:
        assert machine_store.accounts.signed_in(token) is None
        with pytest.raises(LeaseLost):
            machine_store.leases.renew(lease.token)
        assert machine_store.leases.take("VO", 1).person == "VO"
        assert machine_store.leases.autosaved("RE", 1).body == {"text": "half a sent"}
        assert machine_store.accounts.signed_in(machine_store.accounts.sign_in("ZO", PASSWORD).token) is not None
        assert machine_store.upkeep.verify() == []


@pytest.mark.parametrize("again", [False, True], ids=["running", "opened again"])
def test_the_order_of_versions_stays_and_the_log_records_the_change_of_the_clock(machine_path, machine, again) -> None:
    machine_store = machine.open(machine_path)
    desk = Desk(machine_store)
    desk.decide("RE", 1, "keep")
    machine.advance(minutes=1)
    desk.edit("RE", 1, "Before the clock was set.")
    machine.set_back(BACK)
    if again:
        machine_store.close()
        machine_store = machine.open(machine_path)
        desk = Desk(machine_store)
    assert machine_store.log.clock_behind() == BACK
    desk.edit("RE", 1, "After it was.")
    desk.decide("RE", 1, "submit")
    assert machine_store.items.versions(1)[-1].at == machine.wall.now
    assert [version.number for version in machine_store.items.versions(1)] == [1, 2, 3]
    assert [record.decision.verb for record in machine_store.items.history(1)] == ["keep", "submit"]
    assert machine_store.items.standing(1).state == "audit"
    (entry,) = machine_store.log.entries(what="clock set back")
    assert entry.details == {"seconds": BACK.total_seconds()}
    (saved,) = machine_store.log.entries(after=entry.number, limit=1)
    assert (saved.what, saved.at) == ("version saved", machine.wall.now)
    assert machine_store.upkeep.verify() == []
    machine_store.close()
    machine.advance(minutes=1)
    with machine.open(machine_path) as machine_store:
        assert machine_store.log.clock_behind() is None


def test_the_page_reports_that_the_clock_was_set_back(machine_store: Store, machine: Machine) -> None:
    machine_store.accounts.set_password(None, "RE", PASSWORD)
    client = TestClient(server.build(machine_store, local=True), base_url="http://127.0.0.1")
    client.post("/sign-in", data={"initials": "RE", "password": PASSWORD})
    assert client.get("/api/v1/me").json()["clock"] == ""
    machine.set_back(timedelta(hours=1))
    assert "was set back 60 minutes" in client.get("/api/v1/me").json()["clock"]


def test_unsent_text_of_the_newer_version_is_returned_although_its_time_is_older(machine_store, machine) -> None:
    desk = Desk(machine_store)
    desk.decide("RE", 1, "keep")
    first = machine_store.items.get(1).version.id
    second = desk.edit("RE", 1, "Again.").id
    machine_store.leases.autosave(person="RE", item_id=1, base_version_id=first, body={"text": "old"})
    machine.set_back(timedelta(hours=1))
    machine_store.leases.autosave(person="RE", item_id=1, base_version_id=second, body={"text": "new"})
    assert machine_store.leases.autosaved("RE", 1).body == {"text": "new"}


def test_small_corrections_of_the_clock_are_not_reported(machine_store: Store, machine: Machine) -> None:
    Desk(machine_store).decide("RE", 1, "keep")
    machine.set_back(timedelta(milliseconds=700))
    Desk(machine_store).decide("RE", 1, "submit")
    assert machine_store.log.clock_behind() is None
    assert machine_store.log.entries(what="clock set back") == []
    assert machine_store.log.check() == []


Moves = st.lists(st.tuples(st.floats(0, 1e5), st.floats(-1e6, 1e6)), max_size=30)


@given(Moves)
def test_the_steady_clock_never_goes_back_and_is_never_slower_than_time(moves: list[tuple[float, float]]) -> None:
    machine = Machine()
    times = Clocks(machine.wall, lambda: machine.seconds)
    readings = [(machine.seconds, times.steady())]
    for passed, moved in moves:
        machine.advance(seconds=passed)
        machine.set_back(timedelta(seconds=moved))
        readings.append((machine.seconds, times.steady()))
        assert times.steady() >= times.now()
    for (before, earlier), (after, later) in pairwise(readings):
        assert (later - earlier).total_seconds() >= (after - before) - 1e-5


def test_entries_about_an_item_are_those_of_actions_with_this_item_among_them(store: Store) -> None:
    begin = store.log.head().number
    for action in (Assign(("RE",)), SetBatch("other"), Reject("duplicate")):
        items = [3, 5]
        token = store.bulk.preview("CO", items, action).token
        store.bulk.apply("CO", items, action, token, f"a key of {action.kind}")
    store.imported_comments.add([ImportedComment(n, "Argilla", "NO", None, f"import {n}") for n in (3, 5)])
    kinds = ["items assigned", "batch set", "items decided", "comments imported"]
    about = {n: [e.what for e in store.log.last(item=n) if e.number > begin] for n in (3, 4, 5)}
    assert about == {3: kinds, 4: [], 5: kinds}
