"""Tokens of scripts: what they open, in whose name, and until when."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.store import CannotWrite, NotAllowed, NotFound, Store
from reviewer.store.accounts import MAX_PER_ORIGIN
from reviewer.store.team.tokens import MOST, TokenRefused
from reviewer.web.auth import COOKIE, READS_BY_POST, TokenChecks, TooManyWrongTokens
from tests.reviewer.web.test_access import routes
from tests.support.blind_campaign import a_store, opened
from tests.support.campaign import Clock, an_item

HERE = "http://127.0.0.1:7860"
PASSWORD = "Balmer decrement"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db", clock) as store:
        store.accounts.add_person("CO", "Cora", ["coordinator"], PASSWORD)
        store.accounts.add_person("RE", "Rosa", ["reviewer"], PASSWORD)
        yield store


@pytest.fixture
def app(store: Store) -> FastAPI:
    return server.build(store, local=True)


def script(app: FastAPI, token: str, **more: Any) -> TestClient:
    headers = {"Authorization": f"Bearer {token}"}
    return TestClient(app, base_url=HERE, headers=headers, follow_redirects=False, **more)


def browser(app: FastAPI, store: Store, initials: str) -> TestClient:
    cookies = {COOKIE: store.accounts.sign_in(initials, PASSWORD).token}
    return TestClient(app, base_url=HERE, follow_redirects=False, cookies=cookies)


def secret_of(store: Store, person: str = "RE", may_write: bool = True, days: int | None = None) -> str:
    return store.tokens.make(person, "a script", may_write, days)[1]


def test_a_token_is_shown_once_and_only_its_hash_is_stored(app: FastAPI, store: Store) -> None:
    rosa = browser(app, store, "RE")
    made = rosa.post("/api/v1/tokens", json={"name": " plots  of  November ", "may_write": True, "days": 30})
    token = made.json()["token"]
    assert made.status_code == 200
    assert made.headers["cache-control"] == "no-store"
    assert token.startswith("so3_")
    assert len(token) == 4 + 43
    assert script(app, token).get("/api/v1/me").json()["initials"] == "RE"
    listed = rosa.get("/api/v1/tokens").json()["tokens"]
    assert [(row["name"], row["may_write"]) for row in listed] == [("plots of November", True)]
    assert listed[0]["used_at"] is not None
    assert token not in rosa.get("/api/v1/tokens").text
    with closing(sqlite3.connect(store.path)) as db:
        everything = "\n".join(db.iterdump())
    assert token not in everything
    assert hashlib.sha256(token.encode()).hexdigest() in everything
    assert token not in repr(store.log.entries(limit=1000))
    (entry,) = store.log.entries(what="token made")
    assert (entry.person, entry.subject, entry.details["name"]) == ("RE", "RE", "plots of November")


def test_a_token_acts_as_its_person_under_the_same_rules(app: FastAPI, store: Store) -> None:
    item = an_item(store)
    rosa = script(app, secret_of(store))
    assert rosa.get("/api/v1/log").status_code == 403
    assert rosa.get("/api/v1/webhooks").status_code == 403
    lease = rosa.post(f"/api/v1/item/{item}/lease").json()["lease"]
    version = store.items.get(item).version.id
    body = {"version": version, "verb": "keep", "key": "a key of a script", "lease": lease}
    assert rosa.post(f"/api/v1/item/{item}/decide", json=body).status_code == 200
    assert store.items.get(item).standing.decisions[-1].person == "RE"
    store.accounts.set_roles("CO", "RE", ["coordinator"])
    assert rosa.get("/api/v1/log").status_code == 200


def test_a_token_to_read_only_reads(app: FastAPI, store: Store) -> None:
    item = an_item(store)
    reader = script(app, secret_of(store, "CO", may_write=False))
    assert reader.get(f"/api/v1/item/{item}").status_code == 200
    head = store.log.head()
    seen = set()
    for method, template in routes(app):
        if template.startswith("/api/v1/") and method not in ("GET", "HEAD"):
            path = template.replace("{item_id}", str(item)).replace("{", "").replace("}", "")
            answer = reader.request(method, path, json={})
            reads = template in READS_BY_POST
            assert (answer.status_code == 403) != reads, f"{method} {template}: {answer.status_code}"
            if reads:
                seen.add(template)
            else:
                assert "may only read" in answer.json()["error"]
    assert seen == READS_BY_POST
    call = {"wavelength_range": [6500, 6600], "label": "Hα"}
    assert reader.post("/api/v1/zoom", json={"item": item, "arguments": call}).status_code == 200
    assert store.log.head() == head


def test_tokens_open_the_api_only(app: FastAPI, store: Store) -> None:
    leader = script(app, secret_of(store, "CO"))
    for method, template in routes(app):
        if template.startswith(("/api/v1/", "/ui/", "/assets/", "/static/")):
            continue
        path = template.replace("{", "").replace("}", "")
        with_token = leader.request(method, path)
        without = TestClient(app, base_url=HERE, follow_redirects=False).request(method, path)
        assert with_token.status_code == without.status_code, f"{method} {path}"
    assert leader.get("/").status_code == 303
    assert leader.post("/gradio_api/upload").status_code == 401


def test_tokens_cannot_make_or_revoke_tokens(app: FastAPI, store: Store) -> None:
    secret = secret_of(store, "CO")
    leader = script(app, secret)
    with_cookie = script(app, secret, cookies={COOKIE: store.accounts.sign_in("CO", PASSWORD).token})
    for sender in (leader, with_cookie):
        for answer in (
            sender.post("/api/v1/tokens", json={"name": "another"}),
            sender.delete("/api/v1/tokens/1"),
        ):
            assert (answer.status_code, answer.json()["kind"]) == (403, "not_allowed")
    assert len(store.tokens.listed("CO")) == 1
    assert leader.get("/api/v1/tokens").status_code == 200


def test_with_a_token_the_cookie_does_not_count(app: FastAPI, store: Store) -> None:
    cora = store.accounts.sign_in("CO", PASSWORD).token
    assert script(app, secret_of(store), cookies={COOKIE: cora}).get("/api/v1/me").json()["initials"] == "RE"
    wrong = script(app, "so3_" + "x" * 43, cookies={COOKIE: cora}).get("/api/v1/me")
    assert (wrong.status_code, wrong.json()["kind"]) == (401, "signed_out")


def test_only_a_token_needs_no_check_of_the_site(app: FastAPI, store: Store) -> None:
    elsewhere = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    assert script(app, secret_of(store)).get("/api/v1/me", headers=elsewhere).status_code == 200
    assert browser(app, store, "RE").get("/api/v1/me", headers=elsewhere).status_code == 403
    assert script(app, secret_of(store)).post("/sign-out", headers=elsewhere).status_code == 403
    with_token = elsewhere | {"Authorization": f"Bearer {secret_of(store)}"}
    for path in ("/", "/gradio_api/info", "/docs/"):  # there the cookie counts, so the site is checked
        assert browser(app, store, "RE").get(path, headers=with_token).status_code == 403
    other_scheme = elsewhere | {"Authorization": "Bearer of another program"}
    assert browser(app, store, "RE").get("/api/v1/me", headers=other_scheme).status_code == 403


def test_credentials_of_a_proxy_are_no_tokens(app: FastAPI, store: Store) -> None:
    rosa = browser(app, store, "RE")
    for value in ("Basic c28zXzp4", "Bearer eyJhbGciOiJSUzI1NiJ9.e30.x", "Bearer", ""):
        assert rosa.get("/api/v1/me", headers={"Authorization": value}).status_code == 200
    assert script(app, secret_of(store)).get("/api/v1/me").status_code == 200
    lower = {"Authorization": f"bearer  {secret_of(store)} "}
    assert TestClient(app, base_url=HERE).get("/api/v1/me", headers=lower).status_code == 200


def test_a_token_ends_in_time(app: FastAPI, store: Store, clock: Clock) -> None:
    senders = {days: script(app, secret_of(store, days=days)) for days in (30, 90, 365, None)}
    begin = clock.now
    for days, sender in senders.items():
        clock.now = begin + timedelta(days=(days or 4000) - 0.001)
        assert sender.get("/api/v1/me").status_code == 200, days
        clock.turn(days=0.002)
        answer = sender.get("/api/v1/me")
        assert answer.status_code == (200 if days is None else 401), days
        if days is not None:
            assert "ended on" in answer.json()["error"]
            assert answer.headers["www-authenticate"] == "Bearer"


def test_revoked_tokens_and_those_of_inactive_people_open_nothing(app: FastAPI, store: Store) -> None:
    first, second, third = secret_of(store), secret_of(store), secret_of(store, "CO")
    rosa, cora = browser(app, store, "RE"), browser(app, store, "CO")
    assert rosa.delete("/api/v1/tokens/3").status_code == 404
    assert rosa.delete("/api/v1/tokens/1").status_code == 200
    assert rosa.get("/api/v1/tokens?everybody=true").status_code == 403
    assert [row["id"] for row in cora.get("/api/v1/tokens?everybody=true").json()["tokens"]] == [3, 2]
    refused = script(app, first).get("/api/v1/me")
    assert (refused.status_code, refused.json()["kind"]) == (401, "signed_out")
    assert "revoked" in refused.json()["error"]
    assert script(app, second).get("/api/v1/me").status_code == 200
    store.accounts.deactivate("CO", "RE")
    assert script(app, second).get("/api/v1/me").status_code == 401
    store.accounts.reactivate("CO", "RE")
    assert script(app, second).get("/api/v1/me").status_code == 401
    assert cora.delete("/api/v1/tokens/3").status_code == 200
    assert script(app, third).get("/api/v1/me").status_code == 401
    assert [entry.details["token"] for entry in store.log.entries(what="token revoked")] == [1, 3]


def test_a_restore_ends_tokens_and_drops_what_webhooks_wait_for(store: Store) -> None:
    secret = secret_of(store)
    webhook, _ = store.webhooks.add("CO", "https://example.org/hook", ["exported"])
    store.settings.record_export("CO", "first", {"items": []})
    assert store.webhooks.listed("CO")[0].waiting == 1
    store.upkeep.record_restore("backup", None, None)
    with pytest.raises(TokenRefused, match="revoked"):
        store.tokens.use(secret)
    assert store.webhooks.due() == []
    assert store.webhooks.deliveries("CO", webhook.id) == []


def test_the_last_use_is_written_once_per_minute_where_the_disk_has_space(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = secret_of(store)

    def used() -> Any:
        assert store.tokens.use(secret)[1].initials == "RE"
        return store.tokens.listed("RE")[0].used_at

    def full() -> Any:
        raise CannotWrite("full")

    first = used()
    clock.turn(seconds=59)
    assert used() == first
    clock.turn(seconds=2)
    assert used() == clock()
    clock.turn(minutes=2)
    monkeypatch.setattr(store.database, "write", full)
    used()


def test_an_origin_may_send_few_tokens_that_do_not_exist(store: Store) -> None:
    now = [0.0]
    checks = TokenChecks(store, lambda: now[0])
    good, ended = secret_of(store), secret_of(store)
    store.tokens.revoke("RE", 2)
    for _ in range(3 * MAX_PER_ORIGIN):  # neither is an attempt to guess one
        for known in (ended, "so3_short"):
            with pytest.raises(TokenRefused):
                checks.use(known, "192.0.2.1")
    for number in range(MAX_PER_ORIGIN):
        with pytest.raises(TokenRefused, match="no such token"):
            checks.use(f"so3_{number:043d}", "192.0.2.1")
    for number in (1, MAX_PER_ORIGIN + 1):
        with pytest.raises(TooManyWrongTokens, match="15 minutes"):
            checks.use(f"so3_{number:043d}", "192.0.2.1")
    with pytest.raises(TokenRefused, match="revoked"):
        checks.use(ended, "192.0.2.1")
    # A neighbour behind the same address shuts nobody out.
    assert checks.use(good, "192.0.2.1")[1].initials == "RE"
    now[0] += 15 * 60 + 1
    with pytest.raises(TokenRefused, match="no such token"):
        checks.use(f"so3_{1:043d}", "192.0.2.1")
    (entry,) = store.log.entries(what="tokens refused")
    assert entry.details == {"origin": "192.0.2.1", "count": MAX_PER_ORIGIN}
    app = server.build(store, local=True)
    statuses = [script(app, f"so3_{n:043d}").get("/api/v1/me").status_code for n in range(MAX_PER_ORIGIN + 1)]
    assert statuses == [401] * MAX_PER_ORIGIN + [429]


def test_a_token_needs_a_name_and_one_of_the_ends_and_a_person_has_a_limited_number(store: Store, clock: Clock) -> None:
    for name, days in (("", 30), ("   ", 30), ("n" * 61, 30), ("a\x1b[2J", 30), ("a", 31), ("a", 0), ("a", -1)):
        with pytest.raises(NotAllowed):
            store.tokens.make("RE", name, True, days)
    assert store.tokens.listed("RE") == []
    for _ in range(MOST):
        store.tokens.make("RE", "one more", False, 30)
    with pytest.raises(NotAllowed, match="Revoke one"):
        store.tokens.make("RE", "one more", False, 30)
    clock.turn(days=31)
    store.tokens.make("RE", "one more", False, 30)
    with pytest.raises(NotFound):
        store.tokens.revoke("RE", 10_000)


def test_without_passwords_tokens_work_from_this_machine_only(tmp_path: Path) -> None:
    with Store.open(tmp_path / "alone.db") as alone:
        alone.accounts.work_alone("ME")
        secret = secret_of(alone, "ME")
        app = server.build(alone, local=True)
        assert script(app, secret).get("/api/v1/me").json()["initials"] == "ME"
        for base, more in (("http://rebound.example:7860", {}), (HERE, {"X-Forwarded-For": "203.0.113.9"})):
            headers = {"Authorization": f"Bearer {secret}", **more}
            assert TestClient(app, base_url=base).get("/api/v1/me", headers=headers).status_code == 403


def test_a_blind_scorer_does_not_see_more_by_token(tmp_path: Path) -> None:
    with a_store(tmp_path / "blind.db") as blind:
        opened(blind)
        hidden = {who.initials: blind.blind.scoring.hidden_items(who.initials) for who in blind.accounts.people()}
        scorer, items = next((initials, items) for initials, items in hidden.items() if items)
        sender = script(server.build(blind, local=True), secret_of(blind, scorer))
        assert sender.get(f"/api/v1/item/{min(items)}").status_code == 403
        assert all(row["blind"] for row in sender.get("/api/v1/queue").json()["rows"] if row["id"] in items)
