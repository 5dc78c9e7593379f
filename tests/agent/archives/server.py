"""A small server of files and answers, right or wrong on purpose.

    with Service({"/sas/x.fits": content}) as service:
        service.wrong["/sas/x.fits"] = [Status(503, retry_after="1")]
        HttpClient(...).content(service.url + "/sas/x.fits")

What is wrong with a path is used in order, then it is answered rightly. A value of ``files`` may be a function of the
query and the posted JSON.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Status:
    """An answer with a status of HTTP."""

    status: int
    retry_after: str | None = None


@dataclass(frozen=True)
class Instead:
    """Other content, with status 200 and without regard to a header Range."""

    content: bytes = b"<!DOCTYPE html><html><body>The archive is being moved</body></html>"


@dataclass(frozen=True)
class Cut:
    """The beginning of the answer; then the connection is closed."""

    size: int = 100


@dataclass(frozen=True)
class Stall:
    """Nothing, until the server is closed."""


Wrong = Status | Instead | Cut | Stall
Answer = Callable[[Mapping[str, str], Any], Any]


@dataclass
class Request:
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass
class Service:
    """The server, on a free port.

    :param wrong: by path; "*" for every path
    """

    files: dict[str, bytes | Answer]
    wrong: dict[str, list[Wrong]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    ranges: bool = True
    most_at_once: int = 0

    def __enter__(self) -> Service:
        self._closing, self._lock, self._now = threading.Event(), threading.Lock(), 0
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                service._serve(self)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            self._answer(handler)
        except ConnectionError:
            handler.close_connection = True
        finally:
            with self._lock:
                self._now -= 1

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        address = urlsplit(handler.path)
        posted = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        request = Request(
            address.path, dict(parse_qsl(address.query)), handler.headers, json.loads(posted) if posted else None
        )
        self.requests.append(request)
        left = self.wrong.get(address.path) or self.wrong.get("*")
        wrong = left.pop(0) if left else None
        served = self.files.get(address.path)
        if isinstance(wrong, Stall):
            self._closing.wait()
            raise ConnectionError
        if isinstance(wrong, Status) or (served is None and wrong is None):
            retry_after = wrong.retry_after if isinstance(wrong, Status) else None
            headers = {} if retry_after is None else {"Retry-After": retry_after}
            _send(handler, wrong.status if isinstance(wrong, Status) else 404, b"", headers)
            return
        content = served if isinstance(served, bytes) else b""
        if callable(served):
            content = json.dumps(served(request.query, request.body)).encode()
        if isinstance(wrong, Instead):
            _send(handler, 200, wrong.content, {})
            return
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("range", ""))
        status, headers = 200, {}
        if part and self.ranges:
            first, last = int(part[1]), min(int(part[2]), len(content) - 1)
            status, headers = 206, {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
            content = content[first : last + 1]
        _send(handler, status, content, headers, wrong.size if isinstance(wrong, Cut) else None)
        if isinstance(wrong, Cut):
            raise ConnectionError


def _send(
    handler: BaseHTTPRequestHandler, status: int, content: bytes, headers: Mapping[str, str], size: int | None = None
) -> None:
    handler.send_response(status)
    for name, value in {**headers, "Content-Length": str(len(content))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content[:size])
