"""Webhooks: which events they report, how messages are signed, repeated and given up, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from reviewer import server
from reviewer.store import NotAllowed, NotFound, Store
from reviewer.store.team.actions import Reject
from reviewer.store.team.addresses import clean_url
from reviewer.store.team.webhooks import KEPT, LONGEST_WAIT, MOST, PAUSES, STOPS_AFTER, Target
from reviewer.web.background import webhooks as sending
from reviewer.web.background.webhooks import WebhookSender, message_id, send
from tests.reviewer.web.conftest import client_of
from tests.support import cli
from tests.support.campaign import TO_VOTE, Clock, Desk, an_item, people, stopped_webhook

pytestmark = pytest.mark.usefixtures("without_page")

APP = "https://review.example.org"
ALL = ["approved", "returned", "exported"]


@dataclass
class Got:
    """A message that the receiver got."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.body)  # type: ignore[no-any-return]

    def is_signed_with(self, secret: str) -> bool:
        key = base64.b64decode(secret.split("_", 1)[1])
        text = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        expected = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
        return self.headers["webhook-signature"] == f"v1,{expected}"


Behaviour = Callable[[BaseHTTPRequestHandler], None]


def status(code: int, body: bytes = b"thank you", **headers: str) -> Behaviour:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@dataclass
class Receiver:
    """A local server. ``behaves``: what the next requests get; after the last one, 200."""

    port: int
    got: list[Got] = field(default_factory=list)
    behaves: list[Behaviour] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [message.json["data"]["name"] for message in self.got]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?key=1"

    def wait(self, number: int, seconds: float = 20) -> list[Got]:
        until(lambda: len(self.got) >= number, seconds)
        return self.got


def until(done: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver(0)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.got.append(Got(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            behaviour = receiver.behaves.pop(0) if receiver.behaves else status(200)
            try:
                behaviour(self)
            except OSError:
                self.close_connection = True

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        http.block_on_close = False
        receiver.port = http.server_address[1]
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield receiver
        http.shutdown()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db", clock) as store:
        people(store)
        yield store


@contextmanager
def delivering(store: Store) -> Iterator[WebhookSender]:
    sender = WebhookSender(store, APP, every=0.02)
    sender.start()
    try:
        yield sender
    finally:
        sender.close()


def exported(store: Store, *names: str) -> None:
    for name in names:
        store.settings.record_export("CO", name, {"items": []})


def kinds(store: Store, webhook: int = 1) -> list[tuple[str, int | None]]:
    return [
        (delivery.event.kind, delivery.event.item)
        for delivery in reversed(store.webhooks.deliveries("CO", webhook, 10_000))
    ]


# ---- events


def test_events_are_those_since_the_webhook_was_added(store: Store) -> None:
    desk, first, second = Desk(store), an_item(store, 1), an_item(store, 2)
    desk.until(first, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
    exported(store, "before")
    store.webhooks.add("CO", "https://example.org/all", ALL)
    store.webhooks.add("CO", "https://example.org/returned", ["returned"])
    assert kinds(store, 1) == []
    desk.until(second, ("RE", "keep"), ("RE", "submit"), ("AU", "return"))
    desk.edit("RE", second, "Broad, and double peaked.")
    desk.until(second, ("RE", "submit"), ("AU", "pass"), ("AX", "pass"), ("VO", "approve"), ("CO", "approve"))
    exported(store, "after")
    assert kinds(store, 1) == [("returned", second), ("approved", second), ("exported", None)]
    assert kinds(store, 2) == [("returned", second)]
    last = store.webhooks.deliveries("CO", 1)[0]
    assert (last.event.name, last.event.export, last.attempts) == ("after", 2, 0)
    # An approval that is undone and repeated is two events.
    store.reviews.undo(person="CO", item_id=second, key="take it back")
    assert len(kinds(store, 1)) == 3
    desk.decide("CO", second, "approve")
    assert kinds(store, 1)[3:] == [("approved", second)]
    ids = {message_id(delivery.event) for delivery in store.webhooks.deliveries("CO", 1)}
    assert len(ids) == 4
    assert store.upkeep.verify() == []


def test_an_undo_reports_no_state_that_was_reported_before(store: Store) -> None:
    desk, items = Desk(store), [an_item(store, number) for number in range(3)]
    store.webhooks.add("CO", "https://example.org/all", ALL)
    for item in items:
        desk.until(item, ("RE", "keep"), ("RE", "submit"), ("AU", "return"))
    returned = [("returned", item) for item in items]
    assert kinds(store) == returned
    reject = Reject("duplicate")
    action = store.bulk.apply("CO", items, reject, store.bulk.preview("CO", items, reject).token, "reject them")
    assert {store.items.standing(item).state for item in items} == {"rejected"}
    store.bulk.undo("CO", action.id, "take it back")
    desk.edit("RE", items[0], "Broad, and double peaked.")
    desk.decide("RE", items[0], "submit")
    store.reviews.undo(person="RE", item_id=items[0], key="take this back")
    assert {store.items.standing(item).state for item in items} == {"returned"}
    assert kinds(store) == returned
    assert len(store.webhooks.due()) == 1
    # It is reported when an item is returned once more.
    desk.until(items[0], ("RE", "submit"), ("AU", "return"))
    assert kinds(store) == [*returned, ("returned", items[0])]


def test_neither_a_rebuild_nor_a_refused_transaction_makes_events(store: Store) -> None:
    desk, item = Desk(store), an_item(store)
    desk.until(item, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
    store.webhooks.add("CO", "https://example.org/all", ALL)
    store.upkeep.rebuild()

    def fail() -> None:
        with store.database.write() as db:
            db.execute("INSERT INTO exports (name, person, manifest, at) VALUES ('x', 'CO', '{}', '2026')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert kinds(store) == []


def test_a_deleted_webhook_gets_nothing_more(store: Store) -> None:
    store.webhooks.add("CO", "https://example.org/all", ALL)
    exported(store, "one")
    assert len(store.webhooks.due()) == 1
    store.webhooks.record(1, 1, False, "500")
    store.webhooks.delete("CO", 1)
    exported(store, "two")
    assert store.webhooks.due() == []
    store.webhooks.record(1, 1, True, "200")  # the answer of an attempt that had begun
    with pytest.raises(NotFound):
        store.webhooks.deliveries("CO", 1)
    with store.database.read() as db:
        assert db.execute("SELECT secret FROM webhooks").fetchone()[0] == ""
        assert db.execute("SELECT count(*) FROM webhook_deliveries").fetchone()[0] == 0


def test_a_failed_event_is_repeated_with_growing_pauses_then_given_up(store: Store, clock: Clock) -> None:
    assert list(PAUSES) == sorted(PAUSES)
    assert sum(PAUSES, timedelta()) < timedelta(days=1)
    store.webhooks.add("CO", "https://example.org/all", ALL)
    exported(store, "one", "two")
    for attempt, pause in enumerate(PAUSES, start=1):
        ((_, delivery),) = store.webhooks.due()
        assert (delivery.event.name, delivery.attempts) == ("one", attempt - 1)
        store.webhooks.record(1, delivery.event.id, False, f"failed {attempt}")
        clock.turn(seconds=pause.total_seconds() - 1)
        assert store.webhooks.due() == []
        clock.turn(seconds=1)
    store.webhooks.record(1, store.webhooks.due()[0][1].event.id, False, "the last one")
    given_up = store.webhooks.deliveries("CO", 1)[1]
    assert (given_up.attempts, given_up.next_at, given_up.delivered_at) == (len(PAUSES) + 1, None, None)
    assert given_up.answer == "the last one"
    ((_, following),) = store.webhooks.due()
    assert following.event.name == "two"


def test_a_clock_that_was_set_back_does_not_stop_an_event(store: Store, clock: Clock) -> None:
    store.webhooks.add("CO", "https://example.org/all", ALL)
    exported(store, "one")
    clock.turn(days=300)
    store.webhooks.record(1, 1, False, "failed")
    clock.turn(days=-300)
    # As after a restart: another process knows nothing of the later time.
    with Store.open(store.path, clock) as again:
        assert len(again.webhooks.due()) == 1


def test_old_deliveries_are_dropped_then_deleted(store: Store, clock: Clock) -> None:
    store.webhooks.add("CO", "https://example.org/all", ALL)
    exported(store, "one", "two")
    store.webhooks.record(1, 1, True, "200 OK")
    now = datetime.now(UTC) - clock.now  # the events have the time of the machine
    clock.turn(seconds=(now + LONGEST_WAIT).total_seconds() - 60)
    store.webhooks.tidy()
    assert store.webhooks.listed("CO")[0].waiting == 1
    clock.turn(seconds=120)
    store.webhooks.tidy()
    assert [delivery.answer for delivery in store.webhooks.deliveries("CO", 1)[::-1]] == [
        "200 OK",
        "Dropped: it waited for 7 days.",
    ]
    (webhook,) = store.webhooks.listed("CO")
    assert (webhook.waiting, webhook.lost) == (0, 1)
    assert store.webhooks.due() == []
    clock.turn(days=KEPT.days)
    store.webhooks.tidy()
    assert kinds(store) == []
    assert store.webhooks.listed("CO")[0].lost == 0


def give_up(store: Store, events: int) -> None:
    """Let the next events of webhook 1 fail until they are given up."""
    for _ in range(events):
        ((_, delivery),) = store.webhooks.due()
        for pause in (*PAUSES, timedelta()):
            store.webhooks.record(1, delivery.event.id, False, "no answer")
            store.database._clocks._clock.turn(seconds=pause.total_seconds())  # type: ignore[attr-defined]


def test_a_webhook_that_reaches_nobody_is_stopped_and_started_again(store: Store, clock: Clock) -> None:
    added, _ = store.webhooks.add("CO", "https://example.org/all", ["exported"])
    names = [f"export {number}" for number in range(30)]
    exported(store, *names)
    store.webhooks.record(1, 1, True, "200 OK")
    delivered_at = store.database.steady()
    give_up(store, STOPS_AFTER - 1)
    assert store.webhooks.listed("CO")[0].stopped_at is None
    # One delivery in between: it begins to count again.
    store.webhooks.record(1, STOPS_AFTER + 1, True, "200 OK")
    delivered_at = store.database.steady()
    give_up(store, STOPS_AFTER)
    (webhook,) = store.webhooks.listed("CO")
    assert (webhook.stopped_at, webhook.silent_since) == (store.database.steady(), delivered_at)
    assert (webhook.waiting, webhook.lost, webhook.events) == (0, 28, ("exported",))
    assert timedelta(days=2) < webhook.stopped_at - webhook.silent_since < timedelta(days=4)
    assert store.webhooks.due() == []
    # Nothing is queued any more, whatever happens, and what was answered too late changes nothing.
    exported(store, *(f"later {number}" for number in range(50)))
    store.webhooks.record(1, 25, True, "200 OK")
    assert len(kinds(store)) == 30
    assert store.webhooks.deliveries("CO", 1)[0].answer == "Dropped: the webhook is stopped."
    assert store.webhooks.target("CO", 1).url == added.url
    with pytest.raises(NotAllowed):
        store.webhooks.start("RE", 1)
    with pytest.raises(NotFound):
        store.webhooks.start("CO", 2)
    assert store.webhooks.start("CO", 1).stopped_at is None
    with pytest.raises(NotAllowed, match="Webhook 1 is not stopped"):
        store.webhooks.start("CO", 1)
    # It gets the next event; if that fails too, it is stopped at once.
    exported(store, "after the start", "the one after")
    assert store.webhooks.due()[0][1].event.name == "after the start"
    give_up(store, 1)
    assert store.webhooks.listed("CO")[0].stopped_at is not None
    store.webhooks.start("CO", 1)
    exported(store, "answered", "not answered")
    store.webhooks.record(1, store.webhooks.due()[0][1].event.id, True, "200 OK")
    give_up(store, 1)
    assert store.webhooks.listed("CO")[0].stopped_at is None
    assert store.upkeep.verify() == []


# ---- messages


def test_messages_are_signed_and_hold_ids_and_links_only(store: Store, receiver: Receiver) -> None:
    desk, item = Desk(store), an_item(store)
    _, secret = store.webhooks.add("CO", receiver.url, ALL)
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    with delivering(store):
        desk.until(item, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
        exported(store, "one")
        receiver.wait(2)
    approved, export = receiver.got
    assert approved.path == "/hook?key=1"
    assert approved.headers["content-type"] == "application/json"
    assert all(message.is_signed_with(secret) for message in receiver.got)
    assert not approved.is_signed_with("whsec_" + base64.b64encode(b"another").decode())
    assert abs(int(approved.headers["webhook-timestamp"]) - time.time()) < 60
    assert approved.json["type"] == "approved"
    assert approved.json["data"] == {
        "item": item,
        "task": "cv",
        "links": {"page": f"{APP}/#item={item}", "api": f"{APP}/api/v1/item/{item}"},
    }
    assert export.json["data"] == {
        "export": 1,
        "name": "one",
        "links": {"manifest": f"{APP}/api/v1/exports/1/manifest", "zip": f"{APP}/api/v1/exports/1/zip"},
    }
    assert set(approved.json) == {"type", "timestamp", "data"}
    until(lambda: all(delivery.delivered_at for delivery in store.webhooks.deliveries("CO", 1)))
    assert store.webhooks.deliveries("CO", 1)[0].answer == "200 OK thank you"


def test_the_signature_is_that_of_the_specification() -> None:
    """The example of the reference implementations of Standard Webhooks."""
    body = b'{"test": 2432232314}'
    made = sending.signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_events_of_a_webhook_come_in_order_while_others_do_not_wait(store: Store, receiver: Receiver) -> None:
    with receiving() as slow:
        slow.behaves = [status(500), status(200)]
        store.webhooks.add("CO", slow.url, ALL)
        store.webhooks.add("CO", receiver.url, ALL)
        names = [f"export-{number}" for number in range(20)]
        with delivering(store):
            exported(store, *names)
            receiver.wait(20)
            assert receiver.names == names
            # The pause before the next attempt begins when this one is recorded.
            until(lambda: store.webhooks.deliveries("CO", 1)[-1].attempts == 1)
            assert slow.names == ["export-0"]
            store.database._clocks._clock.turn(seconds=5)  # type: ignore[attr-defined]
            slow.wait(21)
        assert slow.names == ["export-0", *names]
        assert slow.got[0].id == slow.got[1].id
        assert slow.got[0].body == slow.got[1].body


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Send a byte of the headers at a time, faster than the timeout of a socket, until the client hangs up."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)


def hang(handler: BaseHTTPRequestHandler) -> None:
    """Say nothing until the client hangs up."""
    handler.rfile.read()


def close(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100_000):
        handler.wfile.write(b"y" * 1000)


def noise(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"\x00\xff\x1b[2J not HTTP\r\n\r\n")


@pytest.mark.parametrize(
    ("behaviour", "delivered", "answer"),
    [
        (status(204, b""), True, "204 No Content"),
        (status(500, b"no <b>\x1b[2J\nroom"), False, "500 Internal Server Error no <b>"),
        (status(302, b"", Location="http://127.0.0.1:1/"), False, "302 Found (redirects are not followed)"),
        (status(404), False, "404 Not Found thank you"),
        (drip, False, "no answer within 2 seconds"),
        (hang, False, "no answer within 2 seconds"),
        (close, False, ""),
        (noise, False, ""),
        (endless, True, "200 OK yyy"),
    ],
)
def test_every_answer_ends_in_time_and_is_short(
    receiver: Receiver, behaviour: Behaviour, delivered: bool, answer: str
) -> None:
    receiver.behaves = [behaviour]
    # Without its deadline, this would never return from those that wait for the client to hang up.
    seconds = 2.0 if behaviour in (drip, hang) else 30.0
    found = send(Target(1, receiver.url, "whsec_AAAA"), "evt", {"type": "test"}, seconds)
    assert found.delivered is delivered
    assert answer in found.text
    assert 0 < len(found.text) < 300
    assert found.text.isprintable()
    assert len(receiver.wait(1)) == 1


def test_nothing_is_sent_through_a_proxy_of_the_environment_or_without_a_certificate(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The receiver speaks no TLS: nothing of the message may reach it.
    secure = Target(1, receiver.url.replace("http:", "https:"), "whsec_AAAA")
    assert not send(secure, "evt", {"type": "test"}, seconds=2).delivered
    assert receiver.got == []
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{cli.free_port()}")
    assert send(Target(1, receiver.url, "whsec_AAAA"), "evt", {}).delivered


def test_a_name_that_leads_elsewhere_is_refused_when_a_message_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = "203.0.113.9 169.254.169.254 fe80::1%eth0 0.0.0.0 224.0.0.1 fd00:ec2::254 100.100.100.200"
    for address in elsewhere.split():
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, to=address, **__: [(0, 0, 0, "", (to, 80))])
        refused = send(Target(1, "http://localhost/", "whsec_AAAA"), "evt", {}, seconds=1)
        assert refused.text == f"Nothing is sent to {address.partition('%')[0]}."
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("169.254.169.254", 443))])
    assert "Nothing is sent" in send(Target(1, "https://example.org/", "whsec_AAAA"), "evt", {}).text
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [])
    assert "no address" in send(Target(1, "https://example.org/", "whsec_AAAA"), "evt", {}).text


ACCEPTED = """
https://example.org/hook https://example.org:8443/a?b=c http://127.0.0.1:8000/ http://[::1]:8000/x http://localhost/x
http://10.1.2.3/x http://192.168.0.9:81 http://[fd00::5]/x https://[64:ff9b::cb00:7109]/x
"""
REFUSED = """
example.org/hook ftp://example.org/ file:///etc/passwd http://example.org/hook http://203.0.113.9/
http://localhost.example.org/ http://169.254.169.254/latest/meta-data https://169.254.169.254/
https://100.100.100.200/latest/meta-data/ https://100.64.0.1/ https://[::ffff:100.100.100.200]/
https://[64:ff9b::6464:64c8]/ https://192.0.0.192/ https://168.63.129.16/ https://[fd00:42::42]/ http://[fe80::1]/
http://0.0.0.0/ https://[::ffff:169.254.169.254]/ https://[64:ff9b::a9fe:a9fe]/ http://[64:ff9b::a00:1]/
http://[fd00:ec2::254]/latest/meta-data http://[fd20:ce::254]/ http://224.0.0.1/ https://user:password@example.org/
https://example.org/#part https://example.org:99999/ https://münchen.example/ https:///path https://[::1
"""


def test_addresses_that_are_accepted_and_refused() -> None:
    for url in (*ACCEPTED.split(), " https://example.org/hook "):
        assert clean_url(url) == url.strip()
    odd = ("", "https://exa mple.org/", "https://example.org/\x00", "https://example.org/\nHost: x")
    for url in (*REFUSED.split(), *odd, "https://example.org/" + "x" * 500):
        with pytest.raises(NotAllowed, match="Address of the webhook"):
            clean_url(url)


def test_two_apps_on_one_database_deliver_once(store: Store, receiver: Receiver) -> None:
    store.webhooks.add("CO", receiver.url, ALL)
    with Store.open(store.path, store.database.now) as other, delivering(store), delivering(other):
        exported(store, *(f"export-{number}" for number in range(30)))
        receiver.wait(30)
        time.sleep(0.3)
    assert len(receiver.got) == 30
    assert len({message.id for message in receiver.got}) == 30


def test_an_event_that_could_not_be_recorded_is_sent_again(
    store: Store, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_UNRECORDED_SECONDS", 0.05)
    store.webhooks.add("CO", receiver.url, ALL)
    exported(store, "one")
    record, failures = store.webhooks.record, iter([True, False])

    def fails_once(*given: Any) -> None:
        if next(failures, False):
            raise sending.StoreError("the disk is full")
        record(*given)

    monkeypatch.setattr(store.webhooks, "record", fails_once)
    with delivering(store):
        receiver.wait(2)
        until(lambda: store.webhooks.deliveries("CO", 1)[0].delivered_at is not None)
    assert receiver.got[0].id == receiver.got[1].id


# ---- the routes


def test_coordinators_manage_webhooks(store: Store, receiver: Receiver) -> None:
    app = server.build(store, local=True)
    leader, reviewer = client_of(app, "CO"), client_of(app, "RE")
    webhook = {"url": receiver.url, "events": ["exported"]}
    assert reviewer.post("/api/v1/webhooks", json=webhook).status_code == 403
    added = leader.post("/api/v1/webhooks", json=webhook).json()
    secret = added.pop("secret")
    assert leader.get("/api/v1/webhooks").json() == {"webhooks": [added]}
    assert secret not in leader.get("/api/v1/webhooks").text
    tested = leader.post(f"/api/v1/webhooks/{added['id']}/test").json()
    assert tested == {"delivered": True, "answer": "200 OK thank you"}
    assert receiver.got[0].is_signed_with(secret)
    assert receiver.got[0].json["type"] == "test"
    exported(store, "one")
    assert leader.get("/api/v1/webhooks").json()["webhooks"][0]["waiting"] == 1
    (waiting,) = leader.get(f"/api/v1/webhooks/{added['id']}/deliveries").json()["deliveries"]
    assert (waiting["event"], waiting["attempts"], waiting["delivered_at"]) == ("exported", 0, None)
    assert leader.post("/api/v1/webhooks", json=webhook | {"events": []}).status_code == 422
    assert leader.post("/api/v1/webhooks", json=webhook | {"events": ["deleted"]}).status_code == 422
    assert leader.post("/api/v1/webhooks", json=webhook | {"url": "http://example.org"}).status_code == 403
    assert leader.delete(f"/api/v1/webhooks/{added['id']}").json() == {}
    assert leader.get("/api/v1/webhooks").json() == {"webhooks": []}
    number = stopped_webhook(store, receiver.url)
    (stopped,) = leader.get("/api/v1/webhooks").json()["webhooks"]
    assert (stopped["lost"], stopped["waiting"], stopped["events"]) == (11, 0, ["exported"])
    assert stopped["silent_since"] == stopped["made_at"] <= stopped["stopped_at"]
    assert reviewer.post(f"/api/v1/webhooks/{number}/start").status_code == 403
    started = leader.post(f"/api/v1/webhooks/{number}/start").json()
    assert started == stopped | {"stopped_at": None, "silent_since": None}
    assert leader.post(f"/api/v1/webhooks/{number}/start").status_code == 403
    log = repr(store.log.entries(limit=1000))
    assert secret not in log
    assert "/hook" not in log
    assert "webhook added" in log


def test_there_is_a_limited_number_of_webhooks(store: Store) -> None:
    for number in range(MOST):
        store.webhooks.add("CO", f"https://example.org/{number}", ALL)
    with pytest.raises(NotAllowed, match="Delete one first"):
        store.webhooks.add("CO", "https://example.org/more", ALL)
    with pytest.raises(NotAllowed):
        store.webhooks.add("RE", "https://example.org/more", ALL)
    for wrong in ([], ["approved", "approved"], ["other"]):
        with pytest.raises(NotAllowed):
            store.webhooks.add("CO", "https://example.org/more", wrong)


# ---- restarts


@contextmanager
def running(path: Path) -> Iterator[cli.Running]:
    """The program itself, as its own process group."""
    process = cli.start("app", "--db", path, "--port", cli.free_port(), "--no-browser", "--no-backups")
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(20)


def test_an_app_that_is_killed_before_it_records_delivers_again_with_the_same_id(
    tmp_path: Path, receiver: Receiver
) -> None:
    path = tmp_path / "annotations.db"
    with Store.open(path) as store:
        people(store)
        an_item(store)
        _, secret = store.webhooks.add("CO", receiver.url, ALL)
        with running(path) as first:

            def kill(handler: BaseHTTPRequestHandler) -> None:
                first.send_signal(signal.SIGKILL)
                first.wait(20)
                status(200)(handler)

            receiver.behaves = [status(200), kill]
            exported(store, "recorded", "twice", "later")
            receiver.wait(2, 60)
            first.wait(20)
        assert [delivery.delivered_at is None for delivery in store.webhooks.deliveries("CO", 1)] == [True, True, False]
        with running(path):
            receiver.wait(4, 60)
            until(lambda: all(delivery.delivered_at for delivery in store.webhooks.deliveries("CO", 1)))
        time.sleep(0.2)
    assert receiver.names == ["recorded", "twice", "twice", "later"]
    assert receiver.got[1].id == receiver.got[2].id
    assert all(message.is_signed_with(secret) for message in receiver.got)
