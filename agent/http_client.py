"""Requests to public services: one connection, pauses, retries that end, and each failure as one sentence."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any

from agent.errors import Refusal
from agent.language import deferred

PAUSE = 0.5
"""Seconds before each request that asks for something new; a repeated one waits 5, 10, 20 times as long."""
TIMEOUT = 60.0
TRIES = 4
LONGEST_PAUSE = 120.0
"""Seconds; a service that asks for more is left alone."""
LONGEST_ANSWER = 10 * TIMEOUT
LARGEST = 256 * 2**20
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_STATUS = {
    401: deferred("the service wants a password"),
    403: deferred("the service refuses access"),
    404: deferred("the service has nothing under this address"),
    429: deferred("the service takes no more requests for now"),
}


class RequestFailed(Refusal):
    """A service did not answer as it should: address and what happened. ``http_status`` is None without an answer."""

    kind = "service"
    status = 502

    def __init__(self, url: str, what: str, http_status: int | None = None) -> None:
        super().__init__(deferred("{url}: {what}", url=url, what=what))
        self.http_status = http_status


class HttpClient:
    """A client of public services; not for several threads at once.

    :param pause: ``PAUSE``
    :param timeout: seconds without a byte
    :param sleep: waits
    """

    def __init__(
        self, pause: float = PAUSE, timeout: float = TIMEOUT, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        import httpx

        self._library, self._pause, self._timeout, self._sleep = httpx, pause, timeout, sleep
        self._http = httpx.Client(
            headers={"User-Agent": "spec-o3 (review of astronomical spectra)"},
            timeout=timeout,
            follow_redirects=True,
            limits=httpx.Limits(max_connections=1),
        )

    def __enter__(self) -> HttpClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.close()

    def json(self, url: str, posted: Any = None, **query: str) -> Any:
        """Return a JSON answer; ``posted`` is sent as JSON if given. :raises RequestFailed: no answer, or no JSON"""
        sent = {} if posted is None else {"json": posted}
        content, _ = self.content(url, "GET" if posted is None else "POST", params=query, **sent)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise RequestFailed(url, deferred("{found} in place of JSON", found=kind_of(content))) from None

    def content(self, url: str, method: str = "GET", pause: bool = True, **settings: Any) -> tuple[bytes, str]:
        """Return an answer and its header Content-Range, "" without.

        :param pause: False for further parts of the same file
        :raises RequestFailed: there is none, after all tries
        """
        wait = self._pause if pause else 0.0
        for tries_left in reversed(range(TRIES)):
            self._sleep(wait)
            try:
                with self._http.stream(method, url, **settings) as answer:
                    if answer.is_success:
                        return self._read(url, answer), answer.headers.get("content-range", "")
                    status = answer.status_code
                    reason = _STATUS.get(status) or deferred("the service has a problem")
                    failure = RequestFailed(url, deferred("HTTP {status}, {why}", status=status, why=reason), status)
                    wait = _retry_after(answer.headers.get("retry-after", ""))
                    if status not in _PASSING or wait > LONGEST_PAUSE:
                        raise failure
            except self._library.TimeoutException:
                what = deferred("no answer within {seconds:g} s", seconds=self._timeout)
                failure, wait = RequestFailed(url, what), 0.0
            except self._library.RemoteProtocolError:
                failure, wait = RequestFailed(url, deferred("the answer broke off")), 0.0
            except (self._library.HTTPError, self._library.InvalidURL, OSError) as error:
                failure, wait = RequestFailed(url, deferred("no connection ({error})", error=error)), 0.0
            if tries_left:
                wait = max(wait, self._pause * 5 * 2 ** (TRIES - 1 - tries_left))
        raise failure

    def _read(self, url: str, answer: Any) -> bytes:
        content, end = bytearray(), time.monotonic() + LONGEST_ANSWER
        for piece in answer.iter_bytes():
            content += piece
            if len(content) > LARGEST or time.monotonic() > end:
                what = deferred("an answer of more than {n} MiB or {s:g} s", n=LARGEST >> 20, s=LONGEST_ANSWER)
                raise RequestFailed(url, what)
        return bytes(content)


def kind_of(content: bytes) -> str:
    """Return what an unexpected answer is, in words."""
    start = content[:500].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return deferred("a web page")
    return deferred("{n} bytes of something else", n=len(content)) if content else deferred("nothing")


def _retry_after(header: str) -> float:
    """Return the seconds of a header Retry-After, which has a number or a date."""
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return 0.0
