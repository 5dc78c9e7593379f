"""A campaign in which every tab has something to show, and whose own words are Greek: what a page shows in Latin
letters is no data."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

from agent.spectrum import Spectrum
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Step, Think
from reviewer.blind.plan import Plan
from reviewer.exchange import exports
from reviewer.rules.inspection import Inspection
from reviewer.store import Draft, Selection, Store
from reviewer.store.team.actions import Assign, Reject
from tests.browser.support.review_app import PASSWORD
from tests.support.blind_campaign import answer_one
from tests.support.drawn_traces import a_spectrum, a_trace, decide

EVERYTHING = ("AA", "BB", "CC")
"""People with all roles."""
SCORERS = ("SA", "SB", "SC")
TALK, PAIR, RETURNED, REJECTED, VOTE = 1, 2, 3, 4, 5
"""Items: one that people talk about and that waits for its first decision, one of the same spectrum, one that was
returned, one that was rejected, one in the vote."""
APPROVED = (7, 8, 9, 10)
EXPORT = "2026-1"
_keys = (f"language-{n}" for n in count())


def campaign(db: Path) -> Path:
    """Six items in several states, four approved ones of two drafters that SA and SB have scored blind, a session that
    waits for SC, an export, a withdrawn batch, assignments, comments, views, a token, a webhook.

    Everybody has the password ``PASSWORD``.
    """
    with Store.open(db) as store:
        for person in (*EVERYTHING, *SCORERS):
            roles = ("reviewer", "auditor", "coordinator") if person in EVERYTHING else ("reviewer",)
            store.accounts.add_person(person, f"Πρόσωπο {ord(person[1])}", roles, PASSWORD)
        _decided(store)
        _scored(store)
        _talked(store)
        _kept(store)
        exports.export(store, EXPORT, person="AA")
    return db


def draft(name: str, source: str, refused: bool = True) -> tuple[Trajectory, Spectrum]:
    """A trace whose texts are Greek, and its spectrum.

    :param refused: it has a zoom that the tool refused, with which it cannot be submitted
    """
    spectrum = a_spectrum(name)

    def greek(step: Step) -> Step:
        if isinstance(step, Think):
            return replace(step, text=f"Η γραμμή Hα είναι πλατιά, {source}.")
        return replace(step, explanation="Πλατιά Hα.") if isinstance(step, Answer) else step

    trace = a_trace(spectrum)
    kept = trace.steps if refused else (*trace.steps[:3], trace.steps[-1])
    steps = tuple(greek(step) for step in kept)
    return replace(trace, steps=steps, drafter=Drafter("model", source)), spectrum


def _decided(store: Store) -> None:
    names = ("α1", "α1", "α3", "α4", "α5", "α6")
    drafts = (Draft(*draft(name, f"Μ{number % 2}"), batch="β1") for number, name in enumerate(names))
    store.items.add_all(drafts)
    for item, last in ((RETURNED, None), (VOTE, "pass")):
        for verb in ("keep", "submit"):
            decide(store, "AA", item, verb)
        decide(store, "BB", item, last or "return", comment="6563 Å;")
    decide(store, "CC", VOTE, "pass")
    decide(store, "BB", VOTE, "approve", comment="6563 Å")
    decide(store, "BB", REJECTED, "reject", reason="other", comment="6563 Å")
    version = store.items.get(TALK).version
    mark = {"item_id": TALK, "version_id": version.id, "step_id": "s1", "mark": "hallucinated feature"}
    store.marks.add(person="BB", key=next(_keys), note="6563 Å", **mark)
    for person, quality in (("BB", 4), ("CC", 1)):
        found = Inspection(person, z=0.01 * quality, quality=quality, issues="R", spectype="STAR", comment="6563 Å")
        store.inspections.add(item_id=VOTE, inspection=found, key=next(_keys))


def _scored(store: Store) -> None:
    """A closed session with its report, and one that is open."""
    drafts = (Draft(*draft(name, source), batch="β3") for name in ("γ1", "γ2") for source in ("Ζ", "Ω"))
    for added in store.items.add_all(drafts):
        for person, verb in (
            ("AA", "keep"),
            ("AA", "submit"),
            *((p, v) for v in ("pass", "approve") for p in ("BB", "CC")),
        ):
            decide(store, person, added.item_id, verb)
    plan = Plan("δ1", SCORERS[:2], mode="both", items=APPROVED)
    first = store.blind.sessions.create("AA", plan, next(_keys)).id
    store.blind.sessions.open("AA", first, next(_keys))
    for person in plan.scorers:
        for work in store.blind.scoring.assignments(person):
            answer_one(store, person, work)
    store.blind.sessions.close("AA", first, next(_keys))
    again = replace(plan, name="δ2", scorers=SCORERS[2:], each=1)
    store.blind.sessions.open("AA", store.blind.sessions.create("AA", again, next(_keys)).id, next(_keys))
    store.blind.sessions.create("AA", replace(again, name="δ3"), next(_keys))


def _talked(store: Store) -> None:
    thread = store.comments.add(person="BB", item_id=TALK, text="Είναι Hα, @AA;", key=next(_keys)).id
    store.comments.add(person="CC", item_id=TALK, text="Ναι.", thread=thread, key=next(_keys))
    other = store.comments.add(person="CC", item_id=TALK, text="6563 Å", step="s1", key=next(_keys)).id
    store.comments.set_resolved(person="CC", item_id=TALK, thread=other, resolved=True, key=next(_keys))


def _kept(store: Store) -> None:
    """What the forms and dialogs list."""
    for items, action in (([1, 2], Assign(("AA", "BB"))), ([6], Reject("bad_data"))):
        store.bulk.apply("AA", items, action, store.bulk.preview("AA", items, action).token, next(_keys))
    store.views.create(person="AA", name="ε1", filter={"words": "Hα"}, shared=True)
    store.tokens.make("AA", "ζ1", may_write=True, days=90)
    store.webhooks.add("AA", "https://127.0.0.1/", ["approved"])
    store.items.add_all([Draft(*draft("η1", "Μ1"), batch="β2")])
    store.withdrawals.withdraw("AA", Selection("β2"))
