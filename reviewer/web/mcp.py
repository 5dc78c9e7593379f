"""``/mcp``: the spectrum tools for people's agents over HTTP, with the spectra of this database.

A request needs a person's token; what the person may not see is hidden from their agent too. Sessions and handles are
of the person whose token opened them. The extra ``mcp`` is needed; without it the address says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Set as AbstractSet
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agent import language
from agent.language import tr
from agent.mcp.desk import Client, McpError
from agent.mcp.server import server
from reviewer.drafting.from_agents import AgentDesk
from reviewer.rules.people import Person
from reviewer.store import Store
from reviewer.web.context import plain, sender_of
from reviewer.web.verdict_first import VerdictFirst

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

MOST_SESSIONS = 256
"""Open at the same time; one without a request for half an hour ends."""


class PersonsDesk(AgentDesk):
    """The database as the agent of one person uses it.

    A spectrum of a batch with *verdict first* opens after the person's own verdict: before, their agent's answer would
    be one more that they see first.
    """

    def __init__(self, store: Store, app_url: str) -> None:
        super().__init__(store.path, lambda: nullcontext(store), app_url)

    def require(self, store: Store, client: Client, hashes: AbstractSet[str]) -> None:
        super().require(store, client, hashes)
        for sha256 in hashes:
            _first(store, client).require_spectrum(sha256)

    def hidden(self, store: Store, client: Client) -> frozenset[int]:
        return super().hidden(store, client) | _first(store, client).hidden_items()


class Endpoint:
    """The route. Its sessions run from the first request to the end of the app: importing the SDK takes a quarter of a
    second, for which a start without agents does not wait.
    """

    def __init__(self, store: Store, app_url: str = "") -> None:
        self._desk = PersonsDesk(store, app_url)
        self._starting = asyncio.Lock()
        self._stop = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._sessions: StreamableHTTPSessionManager | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # What a model reads becomes part of traces, which are English.
        with language.speaking(language.ENGLISH):
            await (await self._answer(Request(scope)))(scope, receive, send)

    async def _answer(self, request: Request) -> ASGIApp:
        if request.method not in ("POST", "DELETE"):
            # A server that sends nothing but answers has no stream to open; the protocol asks for this status.
            return plain(405, "no_stream", tr("Expected POST, or DELETE of a session; there is no stream here."))
        try:
            async with self._starting:
                sessions = self._sessions or await self._start()
        except McpError as error:
            return plain(501, error.kind, str(error))
        person, _ = sender_of(request)
        request.scope["user"] = _user(person)
        return sessions.handle_request

    async def _start(self) -> StreamableHTTPSessionManager:
        """:raises McpError: the extra is not installed"""
        served = await run_in_threadpool(server, self._desk, self._desk, _known)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        # Where requests come from and the length of bodies were checked before they came here.
        sessions = StreamableHTTPSessionManager(served, json_response=True, max_sessions=MOST_SESSIONS)
        started = asyncio.Event()

        async def run() -> None:
            async with sessions.run():
                started.set()
                await self._stop.wait()

        self._running = asyncio.create_task(run())
        await started.wait()
        self._sessions = sessions
        return sessions

    async def close(self) -> None:
        """End all sessions, with the app."""
        self._stop.set()
        if self._running is not None:
            await self._running


def _first(store: Store, client: Client) -> VerdictFirst:
    assert client.person is not None
    return VerdictFirst(store, store.accounts.person(client.person))


def _user(person: Person) -> Any:
    """Return the person as the SDK keeps the owner of a session: it refuses the session to any other."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=person.initials, scopes=[]))


def _known(client: Client, context: Any) -> Client:
    """Return the client with the person of its token."""
    person, token = sender_of(context.request)
    assert token is not None
    return replace(client, person=person.initials, only_reads=not token.may_write)
