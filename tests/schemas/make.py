"""Write a small campaign with rows in every table as SQL, for the tests of the next migration.

Run it before a migration is added, with the program as it was released:

    PYTHONPATH=. python tests/schemas/make.py tests/schemas/3.sql

Never overwrite a dump: it holds what its release wrote. Its number is that of the last migration.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from contextlib import closing, suppress
from io import BytesIO
from pathlib import Path
from uuid import uuid4

from PIL import Image

from agent.plot import pixels_sha256
from agent.trajectory import Drafter
from reviewer.rules.inspection import Inspection
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, ImportRequest, SignInRefused, Store, WorkTime
from reviewer.store.sqlite.schema import APPLICATION_ID
from tests.support.campaign import TO_AUDIT, TO_VOTE, Clock, Desk, a_spectrum, a_trajectory, people
from tests.support.kept_campaign import score_and_try

DRAFTERS = ("gpt-5", "Spec-o3-7B")
# They store no rows themselves; those are in their shadow tables.
VIRTUAL_TABLES = ("items_text", "remarks_text", "traces_text")


def fill(store: Store, clock: Clock) -> None:
    """Fill the store with some weeks of work."""
    people(store)
    if hasattr(store, "webhooks"):
        store.webhooks.add("CO", "http://127.0.0.1:9/hook", ["approved", "exported"])
        store.tokens.make("RE", "a script", True, None)
    store.accounts.add_person("ZO", "Zoë Ångström", ["reviewer", "auditor"], "a long password")
    store.settings.set_rules("CO", Rules(auditors=2, votes=3, approve_at=2, reject_at=2))
    store.settings.set("CO", "campaign", {"name": "November", "classes": ["cv"]})
    spectra = [a_spectrum(f"spec-{n:04d}.fits", redshift=0.01 * n) for n in range(4)]
    drafts = [
        Draft(a_trajectory(s, f"{who} sees Hα.", drafter=Drafter("model", who), label="YES"), s, "november")
        for s in spectra
        for who in DRAFTERS
    ]
    picture = Image.new("RGB", (3, 2), "navy")
    png = BytesIO()
    picture.save(png, format="PNG")
    shown = {pixels_sha256(picture.convert("RGBA")): png.getvalue()}
    store.items.add_all([*drafts, Draft(a_trajectory(think="Only its picture is left."), pictures=shown)])
    clock.turn(days=1)
    desk = Desk(store)
    _approve(desk, clock)
    desk.until(2, *TO_AUDIT, ("AU", "return"))
    desk.edit("RE", 2, "Hα is narrow; the second look says so.")
    desk.until(7, *TO_AUDIT, ("AU", "pass"))
    desk.until(9, ("RE", "reject"))
    _hold(store, desk, clock)
    if hasattr(store, "inspections"):
        store.inspections.add(
            item_id=8,
            inspection=Inspection("RE", z=0.0012, quality=3, issues="R", comment="Blue shift."),
            key=uuid4().hex,
        )
    if hasattr(store, "blind"):
        _score_blind(store, clock)
    if hasattr(store, "imports"):
        store.imports.create(ImportRequest(Path("/nowhere/rows.jsonl"), 1000, 10**18), "CO")
    if hasattr(store, "trust"):
        score_and_try(store, waiting=5, tried=(5, 6, 8))
    if hasattr(store, "bulk"):
        _act_on_many(store)
    if hasattr(store, "comments"):
        _discuss(store)
    store.accounts.deactivate("CO", "JU")


def _approve(desk: Desk, clock: Clock) -> None:
    store = desk.store
    desk.until(1, *TO_VOTE)
    version = store.items.get(1).version.id
    store.marks.add(
        person="VO",
        item_id=1,
        version_id=version,
        step_id="s3",
        mark="hallucinated feature",
        key=uuid4().hex,
        note="=cmd|'x'!A1 and “quotes”",
    )
    store.marks.commit_verdict(person="VO", item_id=1, version_id=version, verdict="cannot tell")
    desk.decide("VO", 1, "approve", comment="Fine.\nTwo lines.")
    store.reviews.undo(person="VO", item_id=1, key=desk.key())
    clock.turn(minutes=3)
    # Decisions of earlier schemas had no time: a dump of one of those is made with the program of its release.
    desk.decide("VO", 1, "approve", worked=WorkTime(180.0, 42.5))
    desk.until(1, ("ZO", "approve"))
    store.settings.record_export("CO", "first", {"items": [1], "note": "größer"})


def _hold(store: Store, desk: Desk, clock: Clock) -> None:
    """Add leases of every kind, unsent text, a session and a refused sign-in."""
    store.leases.release(store.leases.take("RE", 3).token)
    store.leases.take("AX", 7)
    store.leases.take("VO", 4)
    clock.turn(hours=1)
    store.leases.take("RE", 4)
    store.leases.autosave(
        person="RE", item_id=4, base_version_id=store.items.get(4).version.id, body={"steps": ["half a sent"]}
    )
    store.accounts.sign_out(store.accounts.sign_in("ZO", "a long password", "10.0.0.1").token)
    store.accounts.sign_in("ZO", "a long password", "10.0.0.2")
    with suppress(SignInRefused):
        store.accounts.sign_in("ZO", "a wrong password", "10.0.0.3")


def _act_on_many(store: Store) -> None:
    """Add a bulk action of each kind, and an undo."""
    from reviewer.store.team.actions import Assign, Reject, SetBatch

    for action in (
        Assign(("RE", "AU")),
        Assign(("AU",), assigned=False),
        SetBatch("December"),
        Reject("other", "Überbelichtet."),
        Reject("duplicate"),
    ):
        token = store.bulk.preview("CO", [3, 5, 6], action).token
        done = store.bulk.apply("CO", [3, 5, 6], action, token, uuid4().hex)
        if isinstance(action, Reject) and action.comment:
            store.bulk.undo("CO", done.id, uuid4().hex)


def _discuss(store: Store) -> None:
    """Add a resolved and an open thread, an imported comment, what was read, views, and a sign-in name."""
    from reviewer.store.team.imported import ImportedComment

    thread = store.comments.add(person="AU", item_id=8, text="@ZO: is Hα “real”? 宽吗?", key=uuid4().hex, step="s2").id
    store.comments.add(person="ZO", item_id=8, text="Yes.", key=uuid4().hex, thread=thread)
    store.comments.set_resolved(person="AU", item_id=8, thread=thread, resolved=True, key=uuid4().hex)
    store.comments.add(person="RE", item_id=7, text="发射线很宽。", key=uuid4().hex, step="s1")
    store.imported_comments.add([ImportedComment(2, "Label Studio, maria", "Agreed.", None, "label studio 1")])
    store.views.create(person="RE", name="Ünsure", filter={"words": '"broad line"', "state": ["audit"]}, shared=True)
    store.views.create(person="CO", name="a list", items=[3, 1])
    store.views.delete(person="CO", view_id=store.views.create(person="CO", name="gone", items=[2]).id)
    store.logins.set("CO", "RE", "re@example.org")


def _score_blind(store: Store, clock: Clock) -> None:
    from agent.conversation import Usage
    from reviewer.blind.plan import Plan
    from reviewer.blind.results import Judgement, JudgeScore

    plan = Plan("ours against gpt", ("RE", "AU"), mode="both", items=(3, 4, 5, 6), each=2)
    sessions = [store.blind.sessions.create("CO", plan, uuid4().hex) for _ in range(3)]
    for session in sessions[:2]:
        store.blind.sessions.open("CO", session.id, uuid4().hex)
        for work in store.blind.scoring.assignments("RE"):
            if work.kind == "scores" and not work.answered:
                store.blind.scoring.score(
                    person="RE",
                    token=work.token,
                    coherence=4,
                    consistency="cannot tell",
                    key=uuid4().hex,
                    comment="Fair.",
                    wrong_steps=["s1"],
                )
            elif not work.answered:
                store.blind.scoring.prefer(person="RE", token=work.token, preference="left", key=uuid4().hex)
        clock.turn(minutes=20)
    question = next(
        question for question in store.blind.judging.questions("CO", sessions[0].id) if question.kind == "scores"
    )
    judgement = Judgement(
        "judge-70b",
        question.shown,
        JudgeScore(3, 4, "Sound."),
        "First the lines.",
        {"temperature": 0.0},
        ("{...}",),
        Usage(100, 20),
        0.0012,
    )
    store.blind.judging.record(by="CO", session_id=sessions[0].id, judgement=judgement, key=uuid4().hex)
    store.blind.sessions.close("CO", sessions[0].id, uuid4().hex)


def dump(path: Path) -> str:
    """The whole file as SQL."""
    with closing(sqlite3.connect(path)) as connection:
        of_virtual = tuple(f'INSERT INTO "{table}" ' for table in VIRTUAL_TABLES)
        lines = [line for line in connection.iterdump() if not line.startswith(of_virtual)]
    lines.append(f"PRAGMA application_id = {APPLICATION_ID};")
    return "\n".join(lines) + "\n"


def main(target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "annotations.db"
        clock = Clock()
        with Store.open(path, clock=clock) as store:
            fill(store, clock)
            assert store.upkeep.verify() == []
        with closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
            empty = [t for (t,) in tables if not connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0]]
        if empty:
            raise SystemExit(f"no rows in {', '.join(empty)}")
        target.write_text(dump(path), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
