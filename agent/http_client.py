"""Requests to public services: one connection, pauses, retries that end, and each failure as one sentence."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

from agent.errors import Refusal
from agent.language import deferred

PAUSE = 0.5
"""Seconds before each request that asks for something new; a repeated one waits 5, 10, 20 times as long."""
TIMEOUT = 60.0
TRIES = 4
LONGEST_PAUSE = 120.0
"""Seconds; a service that asks for more is left alone."""
_PASSING = (408, 425, 429, 500, 502, 503, 504)
_REASONS = {
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

    After a failure that may pass each request is tried once, until the service answers again.

    :param timeout: seconds without a byte
    :param sleep: waits
    """

    def __init__(
        self, pause: float = PAUSE, timeout: float = TIMEOUT, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        import httpx

        self._tries = TRIES
        self._library, self._pause, self._timeout, self._sleep = httpx, pause, timeout, sleep
        self._http = httpx.Client(headers={"User-Agent": "spec-o3"}, timeout=timeout, follow_redirects=True)

    def close(self) -> None:
        self._http.close()

    def json(self, url: str, posted: Any = None, **query: str) -> Any:
        """Return a JSON answer; ``posted`` is sent as JSON if given. :raises RequestFailed: no answer, or no JSON"""
        method, sent = ("GET", {}) if posted is None else ("POST", {"json": posted})
        content, _ = self.content(url, method, params=query, **sent)
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
        tries, self._tries = self._tries, 1
        for number in range(tries):
            self._sleep(wait)
            wait = self._pause * 5 * 2**number
            try:
                answer = self._http.request(method, url, **settings)
            except self._library.TimeoutException:
                failure = RequestFailed(url, deferred("no answer within {seconds:g} s", seconds=self._timeout))
            except self._library.RemoteProtocolError:
                failure = RequestFailed(url, deferred("the answer broke off"))
            except (self._library.HTTPError, self._library.InvalidURL) as error:
                failure = RequestFailed(url, deferred("no connection ({error})", error=error))
            else:
                if answer.status_code not in _PASSING:
                    self._tries = TRIES
                if answer.is_success:
                    return answer.content, answer.headers.get("content-range", "")
                reason = _REASONS.get(answer.status_code, deferred("the service has a problem"))
                text = deferred("HTTP {status}, {why}", status=answer.status_code, why=reason)
                failure = RequestFailed(url, text, answer.status_code)
                wait = max(wait, _retry_after(answer.headers.get("retry-after", "")))
                if answer.status_code not in _PASSING or wait > LONGEST_PAUSE:
                    break
        raise failure


def kind_of(content: bytes) -> str:
    """Return what an unexpected answer is, in words."""
    if content[:500].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return deferred("a web page")
    return deferred("{n} bytes of something else", n=len(content)) if content else deferred("nothing")


def _retry_after(header: str) -> float:
    """Return the seconds of a header Retry-After, which has a number or a date."""
    try:
        return float(header) if header.isdecimal() else parsedate_to_datetime(header).timestamp() - time.time()
    except ValueError:
        return 0.0
