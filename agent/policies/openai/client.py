"""One event loop on a thread of its own, for every server that this process asks.

A thread that waits inside a blocking read cannot be told to stop; a task can, at any moment, and then closes
its connection, which is how a server learns that nobody listens any more.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Mapping
from functools import cache
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from agent.conversation import Stop
from agent.policies.openai.errors import Refusal, ServerFailure, cut, is_here, unreachable
from agent.policies.openai.stream import MalformedStream, Redactor, ServerEvents, parsed

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


class _End:
    """Nothing more comes; ``error`` says why, if it should have."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


def loop() -> asyncio.AbstractEventLoop:
    """The loop, started by whoever asks first. Its thread ends with the process."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="model servers", daemon=True).start()
        return _loop


def run_coroutine(work: Coroutine[Any, Any, Result]) -> Result:
    """Do ``work`` on the loop and wait for what it gives; not to be called on the loop itself."""
    return asyncio.run_coroutine_threadsafe(work, loop()).result()


def iterate(work: Callable[[Callable[[Item], None]], Awaitable[None]], stop: Stop) -> Generator[Item, None, None]:
    """What ``work`` puts, as it puts it. ``work`` runs on the loop and is given the function that puts.

    It begins with the first item asked for. Closing the generator or setting ``stop`` cancels it at once; the
    generator of a set ``stop`` ends without an error. An exception of ``work`` is raised here.
    """
    items: SimpleQueue[Item | _End] = SimpleQueue()

    async def whole() -> None:
        try:
            await work(items.put)
        except Exception as error:
            items.put(_End(error))
        else:
            items.put(_End())

    future = asyncio.run_coroutine_threadsafe(whole(), loop())

    def let_go() -> None:
        future.cancel()
        items.put(_End())

    with stop.waking(let_go):
        try:
            while not isinstance(item := items.get(), _End):
                yield item
            if item.error is not None and not stop.is_set:
                raise item.error
        finally:
            future.cancel()


if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream, DefaultAsyncHttpxClient

    Response = AsyncStream[object]

QUESTION = 3.0
"""Seconds for each small question."""


class Refused(Exception):
    """The server answered, but not with a turn."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class ChatApi:
    """One server and the key it is asked with.

    :param connect: seconds to wait for a connection
    """

    def __init__(self, url: str, api_key: str | None, connect: float) -> None:
        self.url = url
        self._api_key = api_key
        self._connect = connect
        self._opened: AsyncOpenAI | None = None

    async def events(self, body: Mapping[str, Any]) -> AsyncGenerator[str, None]:
        """The data of each event of one answer. Closed or cancelled, it closes the connection.

        :raises Refused: a status of 400 or more
        :raises Trouble: no connection, or no stream
        :raises BadStream: bytes that are no event stream
        """
        from openai import APIConnectionError, APIStatusError, AsyncStream

        try:
            # Not chat.completions.create: it walks through every message, 15 ms for eight pictures.
            stream = await self._client().post(
                "/chat/completions", body=body, cast_to=object, stream=True, stream_cls=AsyncStream[object]
            )
        except APIStatusError as error:
            raise Refused(self._refusal(error.status_code, error.body, error.response.headers)) from error
        except APIConnectionError as error:
            raise unreachable(error, self.url, self._connect) from error
        try:
            await self._must_be_a_stream(stream)
            decoder = ServerEvents()
            async for received in self._received(stream):
                for event in decoder.feed(received):
                    yield self.blackout().text(event)
            for event in decoder.end():
                yield self.blackout().text(event)
        except MalformedStream as bad:
            raise MalformedStream(self.blackout().text(str(bad))) from None
        finally:
            await stream.response.aclose()

    async def get(self, path: str) -> object:
        """What is at a path of the API, or at a whole address: values if it is JSON, else text.

        :raises Trouble: it cannot be had, or not in time
        """
        from openai import APIConnectionError, APIStatusError

        try:
            async with asyncio.timeout(QUESTION):
                return self.blackout().value(await self._client().get(path, cast_to=object))
        except APIStatusError as error:
            raise Refused(self._refusal(error.status_code, error.body, error.response.headers)) from error
        except APIConnectionError as error:
            raise unreachable(error, self.url, min(QUESTION, self._connect)) from error
        except TimeoutError:
            raise ServerFailure(
                f"No answer from {self.url} within {QUESTION:g} s: it hangs or is overloaded."
            ) from None
        except ValueError:
            raise ServerFailure(f"{self.url} answered something that is not what it says it is.") from None

    def blackout(self) -> Redactor:
        """For the pieces of one turn."""
        return Redactor(self._api_key)

    def refusal(self, event: Mapping[str, Any]) -> Refusal:
        """The error object that stood within a stream."""
        return self._refusal(0, event, {})

    def _refusal(self, status: int, body: object, headers: Mapping[str, str]) -> Refusal:
        """Some servers repeat the key they were given; it goes no further."""
        return Refusal.read(status, self.blackout().value(body), headers)

    async def _must_be_a_stream(self, stream: Response) -> None:
        kind = stream.response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/html":
            raise ServerFailure(
                f"{self.url} answered with a web page: it is no model server. Its address usually ends in /v1."
            )
        if kind == "application/json":
            found = parsed((await stream.response.aread()).decode(errors="replace"))
            if found.get("error"):
                raise Refused(self.refusal(found))
            raise ServerFailure(f"{self.url} does not stream its answers, which is asked of it.")

    async def _received(self, stream: Response) -> AsyncGenerator[bytes, None]:
        """The bytes as they come. Whatever the transport raises, the connection is gone."""
        try:
            async for received in stream.response.aiter_bytes():
                yield received
        except Exception as error:
            raise cut(self.url) from error

    def _client(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI, Timeout

        if self._opened is None:
            self._opened = AsyncOpenAI(
                base_url=self.url,
                # Never the OPENAI_API_KEY of the environment: it is not this server's.
                api_key=self._api_key or "none",
                # An answer has as long as the endpoint's patience; here only connections have a limit.
                timeout=Timeout(None, connect=self._connect),
                max_retries=0,
                http_client=connections(is_here(self.url)),
            )
        return self._opened


@cache
def connections(here: bool) -> DefaultAsyncHttpxClient:
    """Shared by all endpoints: to make one takes a tenth of a second. 1,000 connections at most (openai's
    default). A server on this machine is asked directly, whatever proxy the environment names.
    """
    from openai import DefaultAsyncHttpxClient

    return DefaultAsyncHttpxClient(trust_env=not here)
