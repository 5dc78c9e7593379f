"""Routes of SAMP: the hub of this machine, the files that other programs fetch, and the tables that they send."""

from __future__ import annotations

import secrets
from importlib.util import find_spec
from typing import Annotated, Any, Literal
from urllib.request import urlopen

from cachetools import TTLCache
from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import Field
from starlette.datastructures import UploadFile

from agent.language import tr
from agent.spectrum.table import written
from reviewer.samp import LARGEST_FILE, HubLink, SampProblem, items_of, table_of
from reviewer.store import NotAllowed, NotFound, QueueFilter, Store
from reviewer.web.auth import needs_passwords, reached_as_this_machine
from reviewer.web.context import Context, ContextDep, PersonDep, SessionDep
from reviewer.web.models import media
from reviewer.web.models.samp import ForPrograms, Hub, HubAnswer, Position, Rows
from reviewer.web.requests import Filter, Object, Sent
from reviewer.web.routes.downloads import ItemShown
from reviewer.web.visibility import VisibleDep, VisibleItems, require_visible

VOTABLE = "application/x-votable+xml"
KEPT_BYTES = 200_000_000
KEPT_SECONDS = 86_400
_SECONDS = 30  # for a program that sends a file

router = APIRouter(prefix="/api/v1/samp")
files = APIRouter(prefix="/samp")
"""Open without a session, as programs have none: who knows the address of a file may have it."""

Text = Annotated[str, Field(max_length=2000)]


class Calls(Sent):
    """A call of the hub: a method of the Web Profile and its arguments."""

    method: Literal[
        "register", "unregister", "declareMetadata", "declareSubscriptions", "getRegisteredClients", "getMetadata",
        "notifyAll", "reply", "pullCallbacks"
    ]  # fmt: skip
    arguments: Annotated[list[Text | Object], Field(max_length=4)]


class SentByProgram(Sent):
    """The address of a file that another program has sent."""

    url: Text


class Samp:
    """What the routes work on; the app keeps one in ``app.state.samp``."""

    def __init__(self) -> None:
        self.hub = HubLink()
        self._files: TTLCache[str, bytes] = TTLCache(KEPT_BYTES, KEPT_SECONDS, getsizeof=len)

    def keep(self, content: bytes) -> str:
        """Keep a file for other programs and return its path."""
        key = secrets.token_urlsafe(24)
        self._files[key] = content
        return f"{files.prefix}/{key}.vot"

    def file(self, key: str) -> bytes:
        """Return a file. :raises NotFound: there is none any more"""
        if (content := self._files.get(key)) is None:
            raise NotFound(tr("This file is no longer here. Send it again from the page."))
        return content


def samp_of(request: Request) -> Samp:
    samp: Samp = request.app.state.samp
    return samp


SampDep = Annotated[Samp, Depends(samp_of)]


def _is_here(request: Request, context: Context) -> bool:
    return (
        find_spec("pyvo") is not None
        and context.local
        and reached_as_this_machine(request.headers)
        and not needs_passwords(context.store.accounts.people())
    )


def _require_here(request: Request, person: SessionDep, context: ContextDep) -> None:
    if not _is_here(request, context):
        raise NotAllowed(tr("The SAMP hub of the server's machine is for people who work on that machine alone."))


@router.get("")
def hub(request: Request, person: PersonDep, context: ContextDep) -> Hub:
    """Whether the page reaches its hub through this server."""
    return Hub(here=_is_here(request, context))


@router.post("/call", dependencies=[Depends(_require_here)])
def call(samp: SampDep, sent: Calls) -> HubAnswer:
    """Call the hub of this machine."""
    return HubAnswer(value=samp.hub.call(sent.method, sent.arguments))


@router.post("/fetch", dependencies=[Depends(_require_here)], **media("application/octet-stream"))
def fetch(samp: SampDep, sent: SentByProgram) -> Response:
    """The file that a program on this machine has sent; no other address is opened."""
    if sent.url not in samp.hub.urls:
        raise NotAllowed(tr("No program has sent {url:.200}.", url=sent.url))
    try:
        with urlopen(sent.url, timeout=_SECONDS) as file:
            content: bytes = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise SampProblem(tr("The file of the other program cannot be read: {error}", error=str(error))) from None
    if len(content) > LARGEST_FILE:
        raise SampProblem(tr("The file of the other program has more than {size} MB.", size=LARGEST_FILE // 10**6))
    return Response(content, media_type="application/octet-stream")


@router.post("/spectrum/{item_id}", dependencies=[Depends(require_visible)])
def spectrum(person: SessionDep, samp: SampDep, item_id: int, shown: ItemShown) -> ForPrograms:
    """The spectrum of an item as a file for other programs."""
    path = samp.keep(written(shown.spectrum, (), "vot"))
    return ForPrograms(path=path, name=shown.spectrum.name, items=[item_id])


@router.get("/position/{item_id}", dependencies=[Depends(require_visible)])
def position(shown: ItemShown, item_id: int) -> Position:
    """The position of the object of an item."""
    return Position(ra=shown.spectrum.ra, dec=shown.spectrum.dec)


@router.post("/table")
def table(person: SessionDep, context: ContextDep, visible: VisibleDep, samp: SampDep, sent: Filter) -> ForPrograms:
    """The items of a filter as a table for other programs, without those whose answer is hidden."""
    rows = _rows(context.store, visible, sent.query())
    content = table_of(rows, context.store.objects.identities({row.spectrum_sha256 or "" for row in rows}))
    return ForPrograms(path=samp.keep(content), name="Spec-o3", items=[row.item_id for row in rows])


@files.get("/{key}.vot", **media(VOTABLE))
def file(samp: SampDep, key: str) -> Response:
    """A file for other programs, for a day."""
    return Response(samp.file(key), media_type=VOTABLE)


@router.post("/rows")
async def rows(request: Request, person: SessionDep, context: ContextDep, visible: VisibleDep) -> Rows:
    """The items of the rows of a table that another program has sent."""
    async with request.form(max_files=1) as form:
        sent = form.get("file")
        if not isinstance(sent, UploadFile):
            raise NotFound(tr("Found no file in the request; expected a VOTable."))
        return await run_in_threadpool(_matched, context.store, visible, sent)


def _matched(store: Store, visible: VisibleItems, sent: UploadFile) -> Rows:
    candidates = _rows(store, visible, QueueFilter())
    known = store.objects.identities({row.spectrum_sha256 or "" for row in candidates})
    return Rows(items=items_of(sent.filename or "table", sent.file, candidates, known))


def _rows(store: Store, visible: VisibleItems, query: QueueFilter) -> list[Any]:
    rows = store.queue.rows(sorted(visible.matching(query)))
    hidden = visible.verdict_first.hidden(rows)
    return [row for row in rows if row.item_id not in hidden]
