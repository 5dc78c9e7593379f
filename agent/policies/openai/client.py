"""HTTP of an OpenAI-compatible server through the ``openai`` package and its HTTP client, on one event loop in its own
thread.

A task on that loop can be cancelled at any moment, which closes its connection; a thread in a blocking read cannot.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from agent.conversation import Stop
from agent.language import deferred
from agent.policies.openai.errors import ErrorResponse, ServerFailure, StreamsOnly, broken_off, is_here, unreachable
from agent.policies.openai.route import SESSION_HEADER
from agent.policies.openai.stream import END, MalformedStream, Redactor, ServerEvents

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


class _End:
    """End of the items; ``error`` if it came too early."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


def loop() -> asyncio.AbstractEventLoop:
    """Return the loop, started on first use. Its thread ends with the process."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = _new_loop()
            threading.Thread(target=_loop.run_forever, name="model servers", daemon=True).start()
        return _loop


def _new_loop() -> asyncio.AbstractEventLoop:
    """Return an event loop: uvloop's, which takes less CPU time per request, or asyncio's where there is none."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def run_coroutine(work: Coroutine[Any, Any, Result]) -> Result:
    """Run ``work`` on the loop and wait for its result; must not be called on the loop itself."""
    return asyncio.run_coroutine_threadsafe(work, loop()).result()


def run_until(work: Coroutine[Any, Any, Result], stop: Stop) -> Result | None:
    """Run ``work`` on the loop and wait for its result; None if ``stop`` was set before, which cancels it."""
    future = asyncio.run_coroutine_threadsafe(work, loop())
    with stop.waking(future.cancel):
        try:
            return future.result()
        except CancelledError:
            return None


def iterate(work: Callable[[Callable[[Item], None]], Awaitable[None]], stop: Stop) -> Generator[Item, None, None]:
    """Yield what ``work`` puts. ``work`` runs on the loop and receives the function that puts an item.

    It starts with the first item requested. Closing the generator or setting ``stop`` cancels it at once; the
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

    def cancel() -> None:
        future.cancel()
        items.put(_End())

    with stop.waking(cancel):
        try:
            while not isinstance(item := items.get(), _End):
                yield item
            if item.error is not None and not stop.is_set:
                raise item.error
        finally:
            future.cancel()


if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream, DefaultAsyncHttpxClient

    Stream = AsyncStream[object]

INFO_SECONDS = 3.0
"""Seconds for each request about the server itself."""


class ChatApi:
    """One server and its key.

    :param connect: seconds to wait for a connection
    """

    def __init__(self, url: str, api_key: str | None, connect: float) -> None:
        self.url = url
        self._api_key = api_key
        self._connect = connect
        # Servers that need no key ignore it; openai's client does not go without.
        self._key = api_key or "none"
        self._opened: AsyncOpenAI | None = None

    async def events(
        self, body: Mapping[str, Any], route: str, path: str = "/chat/completions"
    ) -> AsyncGenerator[str, None]:
        """Yield the data of each event of one answer. Closing or cancelling it closes the connection.

        An answer that comes whole, also where a stream was requested, is one event, then ``END``.

        :param route: the session of the conversation (``agent.policies.openai.route``)

        :raises ErrorResponse: a status of 400 or more
        :raises StreamsOnly: it streams an answer that was requested whole
        :raises ServerFailure: no connection, or a web page
        :raises MalformedStream: bytes that are not an event stream
        """
        from openai import APIConnectionError, APIStatusError, AsyncStream

        if not body.get("stream"):
            yield self.redactor().text(await self._whole(body, route, path))
            yield END
            return
        try:
            # Not chat.completions.create: it copies every message and builds a model per chunk, which with six
            # pictures takes 12.5 ms of CPU time per turn instead of 3.7 (a whole turn has 11.5). Iterating over
            # AsyncStream itself is as fast as this, but hides whether [DONE] came and has no limit for a line.
            # Its max_retries would also retry unknown hosts and bad certificates, and not a broken stream.
            headers = {SESSION_HEADER: route}
            stream = await self._client().post(
                path,
                body=body,
                cast_to=object,
                options={"headers": headers},
                stream=True,
                stream_cls=AsyncStream[object],
            )
        except APIStatusError as error:
            raise self._error(error.status_code, error.body, error.response.headers) from error
        except APIConnectionError as error:
            raise unreachable(error, self.url, self._connect) from error
        try:
            if (whole := await self._whole_instead(stream)) is not None:
                yield self.redactor().text(whole)
                yield END
                return
            decoder = ServerEvents()
            async for received in self._received(stream):
                for event in decoder.feed(received):
                    yield self.redactor().text(event)
            for event in decoder.end():
                yield self.redactor().text(event)
        except MalformedStream as bad:
            raise MalformedStream(self.redactor().text(str(bad))) from None
        finally:
            await stream.response.aclose()

    async def get(self, path: str) -> object:
        """Get a path of the API, or a complete address: values if it is JSON, otherwise text.

        :raises ServerFailure: there is no answer, or not in time
        """
        address = path if "://" in path else f"{self.url}{path}"
        # Not the connections of the turns: they may all be taken. Made before the clock starts: it imports openai.
        client = connections(is_here(self.url), "about servers")
        try:
            async with asyncio.timeout(INFO_SECONDS):
                answer = await client.get(address, headers=self._headers())
        except TimeoutError:
            sentence = deferred(
                "No answer from {url} within {info_seconds:g} s: it hangs or is overloaded.",
                url=self.url,
                info_seconds=INFO_SECONDS,
            )
            raise ServerFailure(sentence, late=True) from None
        except Exception as error:
            raise unreachable(error, self.url, INFO_SECONDS) from error
        if answer.status_code >= 400:
            raise self._error(answer.status_code, _values(answer.content), answer.headers)
        if "json" not in answer.headers.get("content-type", ""):
            return self.redactor().text(answer.text)
        try:
            return self.redactor().value(answer.json())
        except (ValueError, RecursionError):
            raise ServerFailure(
                deferred("{url} answered with content that does not match its content type.", url=self.url)
            ) from None

    def redactor(self) -> Redactor:
        """Return a redactor for the pieces of one turn."""
        return Redactor(self._api_key)

    def error_in(self, event: Mapping[str, Any]) -> ErrorResponse:
        """Return the error object inside a stream."""
        return self._error(0, event, {})

    def _error(self, status: int, body: object, headers: Mapping[str, str]) -> ErrorResponse:
        """Redact the key, which some servers repeat."""
        return ErrorResponse.read(status, self.redactor().value(body), headers)

    async def _whole(self, body: Mapping[str, Any], route: str, path: str) -> str:
        """Return an answer that comes in one piece.

        Not through openai's client, which takes as much CPU time per request as all below it.
        """
        from openai import Timeout

        content = json.dumps(body).encode()
        headers = self._headers() | {"Content-Type": "application/json", SESSION_HEADER: route}
        timeout = Timeout(None, connect=self._connect)
        try:
            with connection(is_here(self.url)) as client:
                answer = await client.post(f"{self.url}{path}", content=content, headers=headers, timeout=timeout)
        except Exception as error:
            raise unreachable(error, self.url, self._connect) from error
        if answer.status_code >= 400:
            raise self._error(answer.status_code, _values(answer.content), answer.headers)
        if self._kind(answer.headers) == "text/event-stream":
            raise StreamsOnly
        return answer.content.decode(errors="replace")

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"}

    def _kind(self, headers: Mapping[str, str]) -> str:
        """Return the content type. :raises ServerFailure: it is that of a web page"""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/html":
            raise ServerFailure(
                deferred(
                    "{url} answered with a web page: it is no model server. Its address usually ends in /v1.",
                    url=self.url,
                )
            )
        return kind

    async def _whole_instead(self, stream: Stream) -> str | None:
        """Return an answer that came whole although a stream was requested; None if it is a stream."""
        if self._kind(stream.response.headers) != "application/json":
            return None
        return (await stream.response.aread()).decode(errors="replace")

    async def _received(self, stream: Stream) -> AsyncGenerator[bytes, None]:
        """Yield the bytes as they arrive. Any error of the transport means that the connection is lost."""
        try:
            async for received in stream.response.aiter_bytes():
                yield received
        except Exception as error:
            raise broken_off(self.url) from error

    def _client(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI, Timeout

        if self._opened is None:
            self._opened = AsyncOpenAI(
                base_url=self.url,
                # Never the OPENAI_API_KEY of the environment: it is not this server's.
                api_key=self._key,
                # The endpoint limits the time of an answer; here only connecting has a limit.
                timeout=Timeout(None, connect=self._connect),
                max_retries=0,
                http_client=connections(is_here(self.url)),
            )
        return self._opened


def _values(content: bytes) -> object:
    """Return the content of an error as values if it is JSON, otherwise as text."""
    text = content.decode(errors="replace")
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


@cache
def connections(here: bool, use: Literal["turns", "about servers"] = "turns") -> DefaultAsyncHttpxClient:
    """Return the HTTP client shared by all endpoints, because creating one takes 0.1 s. At most 1,000 connections
    (openai's default) for each use. A server on this machine is reached directly, without the environment's proxy.
    """
    from openai import DefaultAsyncHttpxClient

    return DefaultAsyncHttpxClient(trust_env=not here)


@contextmanager
def connection(here: bool) -> Iterator[DefaultAsyncHttpxClient]:
    """Lend an HTTP client that has one connection and no other user. For the thread of the loop.

    A client with many connections examines all of them, each with a system call, when a request begins and when it
    ends.
    """
    from openai import DefaultAsyncHttpxClient

    idle = _idle(here)
    client = idle.pop() if idle else DefaultAsyncHttpxClient(trust_env=not here, verify=_certificates(here))
    try:
        yield client
    finally:
        idle.append(client)


@cache
def _idle(here: bool) -> list[DefaultAsyncHttpxClient]:
    """Return the list of clients that nobody uses, the latest used last."""
    return []


@cache
def _certificates(here: bool) -> Any:
    """Return the ``SSLContext`` that a client makes for itself, which takes 0.03 s."""
    from openai import DefaultAsyncHttpxClient

    # httpx, or its successor in later releases of openai.
    library: Any = import_module(DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0])
    return library.create_ssl_context(trust_env=not here)
