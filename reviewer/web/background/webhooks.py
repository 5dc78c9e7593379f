"""Delivery of webhooks: a thread that sends what the store has to deliver, and the form of the messages.

Messages are signed as in the Standard Webhooks specification. One app per database delivers, each event at least once:
an app that is killed between the answer and its record sends the event again, with the same id.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import os
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from agent import locks
from agent.language import tr
from agent.text import one_line
from reviewer.store import Delivery, Store, StoreError, WebhookEvent
from reviewer.store.team.addresses import is_inside, is_refused
from reviewer.store.team.webhooks import Target

ANSWER_SECONDS = 10.0
"""An attempt ends after this time, however slowly the answer comes."""
LARGEST_ANSWER = 4096
"""Bytes of an answer that are read."""
_SHOWN = 200  # characters of an answer that are shown
_TIDY_SECONDS = 86_400.0
_UNRECORDED_SECONDS = 60.0
"""Pause after the database could not be read or written."""
_STOP_SECONDS = 3.0

log = logging.getLogger("spec_o3")


@dataclass(frozen=True)
class Answer:
    """What an attempt got. ``text``: a sentence with the status and the beginning of the answer, or what went wrong."""

    delivered: bool
    text: str


def message_of(event: WebhookEvent, address: str) -> dict[str, Any]:
    """Return the body of a message: ids and links, no text of traces and nothing of people.

    :param address: that of the app, with which the links begin
    """
    if event.item is not None:
        links = {"page": f"{address}/#item={event.item}", "api": f"{address}/api/v1/item/{event.item}"}
        data = {"item": event.item, "task": event.task, "links": links}
    else:
        own = f"{address}/api/v1/exports/{event.export}"
        data = {"export": event.export, "name": event.name}
        data["links"] = {"manifest": f"{own}/manifest", "zip": f"{own}/zip"}
    return {"type": event.kind, "timestamp": event.at.isoformat(), "data": data}


def message_id(event: WebhookEvent) -> str:
    """Return the id of a message, the same for each attempt. After a restore numbers are given again, so it depends on
    the time of the event too."""
    what = json.dumps([event.id, event.kind, event.item, event.export, event.at.isoformat()])
    return "evt_" + hashlib.sha256(what.encode()).hexdigest()[:32]


def signature(secret: str, id: str, timestamp: int, body: bytes) -> str:
    """Return the signature of a message: ``v1,`` and Base64 of HMAC-SHA256 of ``id.timestamp.body``."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = b".".join((id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode("ascii")


def send(target: Target, id: str, message: dict[str, Any], seconds: float = ANSWER_SECONDS) -> Answer:
    """Send one message. Redirects are not followed, and proxies of the environment are not used."""
    body = json.dumps(message, ensure_ascii=False).encode()
    now = int(datetime.now(UTC).timestamp())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "spec-o3",
        "webhook-id": id,
        "webhook-timestamp": str(now),
        "webhook-signature": signature(target.secret, id, now, body),
    }
    try:
        return _post(target.url, headers, body, time.monotonic() + seconds)
    except TimeoutError:
        return Answer(False, tr("There was no answer within {seconds} seconds.", seconds=f"{seconds:g}"))
    except (OSError, HTTPException, ValueError) as error:
        return Answer(False, one_line(str(error) or type(error).__name__)[:_SHOWN])


def _post(url: str, headers: dict[str, str], body: bytes, deadline: float) -> Answer:
    parts = urlsplit(url)
    host = parts.hostname or ""
    is_plain = parts.scheme == "http"
    with (
        closing(_connected(host, parts.port or (80 if is_plain else 443), is_plain, deadline)) as raw,
        _ended(raw, deadline) as late,
    ):
        try:
            raw.settimeout(_left(deadline))
            stream = raw if is_plain else ssl.create_default_context().wrap_socket(raw, server_hostname=host)
            with closing(stream):
                connection = HTTPConnection(host, parts.port)
                connection.auto_open = 0
                connection.sock = stream
                target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request("POST", target, body, {"Host": parts.netloc, **headers})
                response = connection.getresponse()
                start = response.read(LARGEST_ANSWER)
        except (OSError, HTTPException, ValueError):
            if late.is_set():
                raise TimeoutError from None
            raise
    if late.is_set():
        raise TimeoutError
    text = one_line(f"{response.status} {response.reason} {start.decode(errors='replace')}").strip()[:_SHOWN]
    if 300 <= response.status < 400:
        text = tr("{answer} (redirects are not followed)", answer=text)
    return Answer(200 <= response.status < 300, text)


def _connected(host: str, port: int, is_plain: bool, deadline: float) -> socket.socket:
    """Return a connection to the first address of a host that accepts one.

    The addresses are checked here: a name that had another address when the webhook was added leads nowhere else.
    """
    problem: OSError = OSError(tr("{host} has no address.", host=host))
    for _, _, _, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        ip = ip_address(str(address[0]).partition("%")[0])
        if is_refused(ip) or (is_plain and not is_inside(ip)):
            problem = OSError(tr("Nothing is sent to {address}.", address=str(ip)))
            continue
        try:
            return socket.create_connection((str(address[0]), port), timeout=_left(deadline))
        except OSError as error:
            problem = error
    raise problem


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


@contextmanager
def _ended(raw: socket.socket, deadline: float) -> Iterator[threading.Event]:
    """Shut a connection down at the deadline: the timeout of a socket begins again with every byte that comes."""
    late = threading.Event()
    number = os.dup(raw.fileno())  # it stays ours when TLS takes the socket over

    def end() -> None:
        late.set()
        with suppress(OSError), socket.socket(fileno=os.dup(number)) as same:
            same.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), end)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
        timer.join()
        os.close(number)


class WebhookSender:
    """Delivers the events of an open store in threads, one per webhook that has some.

    The events of a webhook are delivered in their order: while one is tried again, the later ones wait.

    :param address: that of the app, without a slash at its end
    :param every: seconds between two reads of the database
    """

    def __init__(self, store: Store, address: str, every: float = 1.0) -> None:
        self.address = address.rstrip("/")
        self._store = store
        self._every = every
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._busy: dict[int, threading.Thread] = {}

    def test(self, target: Target) -> Answer:
        """Send a test message now; it is not recorded."""
        message = {"type": "test", "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds")}
        data = {"webhook": target.id, "links": {"page": f"{self.address}/"}}
        return send(target, f"evt_test_{secrets.token_hex(8)}", {**message, "data": data})

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop. An attempt without an answer yet is made again by the next app."""
        self._stop.set()
        deadline = time.monotonic() + _STOP_SECONDS
        for thread in (self._thread, *self._busy.values()):
            if thread is not None:
                thread.join(max(0.0, deadline - time.monotonic()))

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            # Before there is anything to deliver, no lock is needed.
            with suppress(StoreError):
                if self._store.webhooks.due():
                    break
        tidied = -_TIDY_SECONDS
        with self._only_here():
            while not self._stop.wait(self._every):
                try:
                    self._start_due()
                    if self._busy and time.monotonic() - tidied > _TIDY_SECONDS:
                        tidied = time.monotonic()
                        self._store.webhooks.tidy()
                except StoreError as error:
                    log.error("webhooks wait: %s", error)
                    self._stop.wait(_UNRECORDED_SECONDS)
                except Exception:
                    # If the thread ended, nothing more would be delivered, and nobody would notice.
                    log.exception("the delivery of webhooks failed")

    def _start_due(self) -> None:
        self._busy = {number: thread for number, thread in self._busy.items() if thread.is_alive()}
        for target, delivery in self._store.webhooks.due():
            if target.id not in self._busy:
                thread = threading.Thread(target=self._deliver, args=(target, delivery), daemon=True)
                self._busy[target.id] = thread
                thread.start()

    def _deliver(self, target: Target, delivery: Delivery | None) -> None:
        """Deliver an event, and as long as that succeeds the next ones of this webhook."""
        try:
            while delivery is not None and not self._stop.is_set():
                answer = send(target, message_id(delivery.event), message_of(delivery.event, self.address))
                self._store.webhooks.record(target.id, delivery.event.id, answer.delivered, answer.text)
                following = dict(self._store.webhooks.due()) if answer.delivered else {}
                # The webhook may have been deleted meanwhile.
                delivery = following.get(target)
        except StoreError as error:
            # It will be delivered again: better twice than never, but not every second.
            log.error("webhook %d: an attempt could not be recorded: %s", target.id, error)
            self._stop.wait(_UNRECORDED_SECONDS)
        except Exception:
            if not self._stop.is_set():
                log.exception("webhook %d: the delivery failed", target.id)

    @contextmanager
    def _only_here(self) -> Iterator[None]:
        """Wait until no other app on this database delivers. The lock ends with its process."""
        path = self._store.path.with_name(f"{self._store.path.name}.webhooks")
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            locks.take(handle, None, lambda _: self._stop.wait(self._every))
            yield
        finally:
            os.close(handle)
