"""A relay between a browser and the app that records every answer completely.

The browser itself cannot be used: it drops the bodies of a page that is left, and waits for ever for the body of an
endless answer.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_OF_ONE_HOP = {"connection", "keep-alive", "transfer-encoding", "upgrade"}


class RecordedAnswers:
    """All answers sent to the browser, by address: headers and bodies."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._sent: dict[str, list[bytes]] = {}
        self._lock = threading.Lock()

    def add(self, path: str, part: bytes) -> None:
        with self._lock:
            self._sent.setdefault(self.url.rstrip("/") + path, []).append(part)

    def sent(self) -> dict[str, bytes]:
        """Return what was sent so far, by address, each beginning with the address."""
        with self._lock:
            return {address: address.encode() + b"".join(parts) for address, parts in self._sent.items()}


@contextmanager
def relayed(url: str) -> Iterator[RecordedAnswers]:
    """Run a relay in front of the app at ``url``; its own address is ``RecordedAnswers.url``."""
    app = urlsplit(url).netloc

    class Relay(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _relay(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length) if length else None
            there = http.client.HTTPConnection(app, timeout=120)
            try:
                headers = {k: v for k, v in self.headers.items() if k.lower() not in _OF_ONE_HOP}
                # Uncompressed, so that the record can be searched.
                headers["Accept-Encoding"] = "identity"
                there.request(self.command, self.path, body, headers)
                self._answer(there.getresponse())
            except OSError:
                # One side closed the connection, e.g. because a page was closed.
                self.close_connection = True
            finally:
                there.close()

        def _answer(self, answer: http.client.HTTPResponse) -> None:
            headers = [(k.lower(), v) for k, v in answer.getheaders() if k.lower() not in _OF_ONE_HOP]
            recorded.add(self.path, repr(sorted(headers)).encode())
            self.send_response_only(answer.status)
            for name, value in headers:
                self.send_header(name, value)
            if answer.length is None and answer.status not in (204, 304):
                # Without a known length, e.g. a stream of events: it ends with the connection.
                self.send_header("connection", "close")
                self.close_connection = True
            self.end_headers()
            while part := answer.read1(65536):
                recorded.add(self.path, part)
                self.wfile.write(part)

        def log_message(self, *_: object) -> None:
            pass

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = do_OPTIONS = _relay

    with ThreadingHTTPServer(("127.0.0.1", 0), Relay) as server:
        recorded = RecordedAnswers(f"http://127.0.0.1:{server.server_port}/")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield recorded
        finally:
            server.shutdown()
