"""Routes of the audit log, for coordinators and for a person who works alone."""

from __future__ import annotations

from threading import Lock
from time import perf_counter
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse

from agent.language import tr, trn
from reviewer.rules.people import Person
from reviewer.store import Entry, NotAllowed, Store
from reviewer.web.access import may_manage
from reviewer.web.context import ContextDep, PersonDep, plain
from reviewer.web.models import audit as answers

PAGE = 50
LARGEST = 2**63 - 1
"""The largest integer of SQLite."""
SHOWN_FAULTS = 20
_DETAILS = (
    *("number", "round", "step", "count", "batch", "medium", "roles", "before", "from", "to", "copy", "seconds"),
    *("auditors", "votes", "approve_at", "reject_at", "solo", "assignments"),
)
"""Details that are shown. Not among them: verbs, reasons, marks and verdicts, which a coordinator who votes on the
same item must not know before; addresses of people; digests."""


def in_charge(person: PersonDep, context: ContextDep) -> Person:
    """Return the person if they may read the log. :raises NotAllowed: they may not"""
    if not may_manage(person, context.store):
        raise NotAllowed(tr("Only a coordinator reads the audit log; {initials} is not one.", initials=person.initials))
    return person


InCharge = Annotated[Person, Depends(in_charge)]
Number = Annotated[int | None, Query(ge=1, le=LARGEST)]

router = APIRouter(prefix="/api/v1/log")


class Check:
    """Verifies the log, once at a time: it reads every entry and every fact."""

    def __init__(self) -> None:
        self._running = Lock()

    def run(self, store: Store) -> answers.LogChecked | None:
        """Return the result; None if a check is running already."""
        if not self._running.acquire(blocking=False):
            return None
        try:
            begun = perf_counter()
            wrong, head = store.log.check(), store.log.head()
            return answers.LogChecked(
                faults=wrong[:SHOWN_FAULTS],
                more_faults=max(0, len(wrong) - SHOWN_FAULTS),
                entries=head.number,
                head=str(head),
                seconds=round(perf_counter() - begun, 1),
            )
        finally:
            self._running.release()


@router.get("")
def entries(
    person: InCharge, context: ContextDep, who: str = "", what: str = "", item: Number = None, before: Number = None
) -> answers.LogPage:
    """Return up to ``PAGE`` entries, newest first, and the number below which the next page begins."""
    listed = context.store.log.last(PAGE + 1, who or None, what or None, item, before)[::-1]
    return answers.LogPage(
        entries=[_entry(entry) for entry in listed[:PAGE]],
        next=listed[PAGE - 1].number if len(listed) > PAGE else None,
        kinds=context.store.log.kinds(),
        people=[person.initials for person in context.store.accounts.people()],
        head=str(context.store.log.head()),
    )


@router.post("/check", response_model=answers.LogChecked)
def check(request: Request, person: InCharge, context: ContextDep) -> answers.LogChecked | JSONResponse:
    """Verify the chain and every fact that it covers. Runs in a thread, as every route here that is not async."""
    running: Check = request.app.state.audit_check
    busy = tr("The log is being verified already. Wait for the result, then try again.")
    return running.run(context.store) or plain(409, "busy", busy)


def _entry(entry: Entry) -> answers.LogEntry:
    return answers.LogEntry(
        number=entry.number,
        at=entry.at,
        person=entry.person,
        what=entry.what,
        subject=entry.subject,
        details={name: entry.details[name] for name in _DETAILS if name in entry.details},
        text=_text(entry),
    )


def _text(entry: Entry) -> str:
    """Return the details of what people do together, and of what scripts use, as a sentence; "": ``details`` say it."""
    known = entry.details
    match entry.what:
        case "commented" if known.get("thread") is not None:
            return tr("a reply in thread {thread}", thread=known["thread"])
        case "commented":
            return tr("on step {step}", step=known["step"]) if known.get("step") else tr("on the whole item")
        case "thread resolved" | "thread reopened":
            return tr("thread {thread}", thread=known.get("thread"))
        case "comments imported":
            return trn("{n} comment", "{n} comments", known.get("count", 0))
        case "items decided" | "items assigned" | "items unassigned" | "batch set" | "bulk action undone":
            return _text_of_bulk(entry)
        case "token made" | "token revoked":
            return _text_of_token(entry)
        case "webhook added":
            return tr("to {host}: {events}", host=known.get("host"), events=", ".join(known.get("events", ())))
        case "webhook deleted" | "webhook started":
            return tr("to {host}", host=known.get("host"))
        case "webhook stopped":
            return trn(
                "to {host}, with {n} event that still waited",
                "to {host}, with {n} events that still waited",
                known.get("count", 0),
                host=known.get("host"),
            )
        case "view created" | "view changed" if isinstance(known.get("items"), int):
            return trn("a list of {n} item", "a list of {n} items", known["items"])
        case _:
            return ""


def _text_of_bulk(entry: Entry) -> str:
    known = entry.details
    number, items = known.get("action"), known.get("count", 0)
    people = ", ".join(known.get("initials", ()))
    match entry.what:
        case "items assigned":
            what = trn("{n} item, to {people}", "{n} items, to {people}", items, people=people)
        case "items unassigned":
            what = trn("{n} item, from {people}", "{n} items, from {people}", items, people=people)
        case "batch set":
            batch = known.get("batch")
            what = trn("{n} item, into the batch {batch}", "{n} items, into the batch {batch}", items, batch=batch)
        case "bulk action undone":
            undone = known.get("undoes")
            what = trn("{n} item of action {undone}", "{n} items of action {undone}", items, undone=undone)
        case _:
            what = trn("{n} item", "{n} items", items)
    return tr("action {number}: {what}", number=number, what=what)


def _text_of_token(entry: Entry) -> str:
    known = entry.details
    name = known.get("name")
    if entry.what == "token revoked":
        return tr("“{name}”", name=name)
    may = tr("reads and writes") if known.get("may_write") else tr("reads only")
    ends = known.get("expires_at")
    if ends is None:
        return tr("“{name}”, {may}, without an end", name=name, may=may)
    return tr("“{name}”, {may}, until {day}", name=name, may=may, day=ends[:10])
