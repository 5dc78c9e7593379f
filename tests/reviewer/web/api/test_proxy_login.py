"""Sign-in through a proxy's header: believed from the proxy only, and refused in every other case."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import Request
from fastapi.testclient import TestClient

from agent.cli.command import CannotRun
from reviewer import server
from reviewer.rules.people import PersonError
from reviewer.store import NotAllowed, Store
from reviewer.web.auth import COOKIE
from reviewer.web.proxies import NotBelieved, ProxyLogin
from reviewer.web.settings import ServerSettings
from tests.support import cli

PUBLIC = "https://review.example.org"
HOST = {"Host": "review.example.org"}
NAME = "X-Forwarded-Email"
PASSWORD = "Balmer decrement"
PROXY = "10.0.5.7"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        store.accounts.add_person("CO", "Cora", ["coordinator"], PASSWORD)
        store.accounts.add_person("RE", "Rosa", ["reviewer"])
        store.logins.set("CO", "RE", "Rosa@Example.org ")
        yield store


def client(store: Store, peer: str = PROXY, only: bool = False, addresses: str | None = "10.0.5.0/24") -> TestClient:
    app = server.build(store, local=False, public=PUBLIC, login=ProxyLogin.parse(NAME, addresses, only))
    return TestClient(app, base_url=PUBLIC, follow_redirects=False, client=(peer, 4711))


def who(answer: Any) -> str | None:
    return answer.json()["initials"] if answer.status_code == 200 else None


def test_the_proxy_names_the_person_of_a_request(store: Store) -> None:
    browser = client(store)
    for login in ("rosa@example.org", "ROSA@example.org", "  rosa@example.org"):
        assert who(browser.get("/api/v1/me", headers={NAME: login})) == "RE"
    page = browser.get("/", headers={NAME: "rosa@example.org"})
    assert page.status_code == 200
    assert COOKIE not in page.headers.get("set-cookie", "")
    assert browser.get("/api/v1/me").status_code == 401  # per request: nothing is kept
    assert "Documentation" in browser.get("/docs/", headers={NAME: "rosa@example.org"}).text


def test_a_sign_in_is_logged_once_per_day_and_origin(store: Store) -> None:
    browser = client(store)
    for _ in range(3):
        browser.get("/", headers={NAME: "rosa@example.org", "X-Forwarded-For": "203.0.113.9"})
    (entry,) = store.log.entries(what="signed in")
    assert (entry.person, entry.details) == ("RE", {"origin": "203.0.113.9", "by": "proxy"})
    browser.get("/", headers={NAME: "rosa@example.org", "X-Forwarded-For": "203.0.113.10"})
    assert len(store.log.entries(what="signed in")) == 2


def test_the_header_is_refused_from_other_addresses(store: Store) -> None:
    app = client(store).app
    for peer in ("10.0.6.7", "127.0.0.1", "::1", "203.0.113.9", "not an address", ""):
        browser = TestClient(app, base_url=PUBLIC, follow_redirects=False, client=(peer, 4711))
        for path in ("/", "/api/v1/me", "/sign-in", "/ui/common/theme.css", "/gradio_api/info", "/nowhere"):
            for more in ({}, {"X-Forwarded-For": PROXY}, {"X-Real-IP": PROXY}, {"Forwarded": f"for={PROXY}"}):
                answer = browser.get(path, headers={NAME: "rosa@example.org", **more})
                assert (answer.status_code, answer.json()["kind"]) == (403, "not_the_proxy"), (peer, path)
                assert "from the sign-in proxy only" in answer.json()["error"]
        assert browser.get("/sign-in").status_code == 200


def test_the_header_counts_by_the_connection_and_not_by_the_forwarded_address(store: Store) -> None:
    # The proxy names the browser's address: it must not be compared with that of the proxy.
    through = client(store).get(
        "/api/v1/me", headers={NAME: "rosa@example.org", "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    )
    assert who(through) == "RE"
    # This machine's forwarded headers are applied, so the app would take this request for one of the proxy.
    spoofed = client(store, "127.0.0.1").get("/api/v1/me", headers={NAME: "rosa@example.org", "X-Forwarded-For": PROXY})
    assert spoofed.json()["kind"] == "not_the_proxy"


def test_by_default_only_this_machine_is_the_proxy(store: Store) -> None:
    for peer in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
        assert who(client(store, peer, addresses=None).get("/api/v1/me", headers={NAME: "rosa@example.org"})) == "RE"
    refused = client(store, PROXY, addresses=None).get("/api/v1/me", headers={NAME: "rosa@example.org"})
    assert refused.json()["kind"] == "not_the_proxy"


def test_two_headers_and_names_that_are_none_are_refused(store: Store) -> None:
    browser = client(store)
    twice = browser.get("/api/v1/me", headers=[(NAME, "rosa@example.org"), (NAME.lower(), "rosa@example.org")])
    assert (twice.status_code, twice.json()["kind"]) == (403, "not_the_proxy")
    assert "more than once" in twice.json()["error"]
    for value in ("x" * 201, "rosa\x7f@example.org"):
        assert browser.get("/api/v1/me", headers={NAME: value}).status_code == 403, value
    raw = {"type": "http", "headers": [(NAME.lower().encode(), b"\xff\xfe")], "state": {"spec_o3_peer": PROXY}}
    with pytest.raises(NotBelieved, match="no sign-in name"):
        ProxyLogin.parse(NAME, PROXY).name_in(Request(raw))
    for value in ("", "   "):
        assert browser.get("/api/v1/me", headers={NAME: value}).json()["kind"] == "signed_out"
    store.logins.set("CO", "RE", "Zoë@例え.jp")
    assert who(browser.get("/api/v1/me", headers=[(NAME.encode(), "zoë@例え.jp".encode())])) == "RE"


def test_an_unknown_person_learns_what_to_do(store: Store) -> None:
    browser = client(store)
    headers = {NAME: "<new>@example.org"}
    assert browser.get("/api/v1/me", headers=headers).json()["kind"] == "signed_out"
    opened = browser.get("/", headers=headers)
    assert (opened.status_code, opened.headers["location"]) == (303, "/sign-in")
    page = browser.get("/sign-in", headers=headers).text
    assert "&lt;new&gt;@example.org is not known here" in page
    assert "coordinator" in page
    assert 'type="password"' in page
    only = client(store, only=True).get("/sign-in", headers=headers).text
    assert "&lt;new&gt;@example.org is not known here" in only
    assert 'type="password"' not in only


def test_a_coordinator_can_sign_in_by_password_and_set_the_name(store: Store) -> None:
    browser = client(store)
    headers = {NAME: "cora@example.org"}
    entered = browser.post("/sign-in", data={"initials": "CO", "password": PASSWORD}, headers=headers)
    assert entered.status_code == 303
    assert who(browser.get("/api/v1/me", headers=headers)) == "CO"
    store.logins.set("CO", "CO", "cora@example.org")
    # A name that the proxy gives comes before the cookie of the person who used this browser before.
    assert who(browser.get("/api/v1/me", headers={NAME: "rosa@example.org"})) == "RE"


def test_an_inactive_person_is_refused_whatever_cookie_comes_with_it(store: Store) -> None:
    session = store.accounts.sign_in("CO", PASSWORD).token
    store.accounts.deactivate("CO", "RE")
    browser = client(store)
    browser.cookies.set(COOKIE, session)
    headers = {NAME: "rosa@example.org"}
    assert browser.get("/api/v1/me", headers=headers).status_code == 401
    assert "RE is no longer active here" in browser.get("/sign-in", headers=headers).text
    assert who(browser.get("/api/v1/me")) == "CO"


def test_only_the_proxy_signs_people_in_where_passwords_are_not_accepted(store: Store) -> None:
    session = store.accounts.sign_in("CO", PASSWORD).token
    browser = client(store, only=True)
    browser.cookies.set(COOKIE, session)
    assert browser.get("/api/v1/me").status_code == 401
    refused = browser.post("/sign-in", data={"initials": "CO", "password": PASSWORD})
    assert refused.status_code == 403
    assert "passwords are not accepted" in refused.text
    assert "Open this page under its usual address" in browser.get("/sign-in").text
    assert who(browser.get("/api/v1/me", headers={NAME: "rosa@example.org"})) == "RE"
    # Scripts cannot sign in there: their tokens still count.
    secret = store.tokens.make("CO", "a script", False, None)[1]
    assert who(browser.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})) == "CO"


def test_the_page_says_how_to_sign_out(store: Store) -> None:
    browser = client(store)
    headers = {NAME: "rosa@example.org"}
    left = browser.post("/sign-out", headers=headers)
    assert (left.status_code, left.headers["location"]) == (303, "/sign-in")
    page = browser.get("/sign-in", headers=headers).text
    assert "You are signed in as Rosa (RE)" in page
    assert "To sign out, sign out of your organisation" in page


def test_the_header_opens_nothing_to_other_sites_and_nothing_without_the_option(store: Store) -> None:
    headers = {NAME: "rosa@example.org", "Origin": "https://elsewhere.example"}
    answer = client(store).post("/api/v1/renew", json={"lease": "x"}, headers=headers)
    assert answer.json()["kind"] == "other_site"
    without = TestClient(server.build(store, local=False, public=PUBLIC), base_url=PUBLIC, client=("127.0.0.1", 1))
    assert without.get("/api/v1/me", headers={NAME: "rosa@example.org"}).json()["kind"] == "signed_out"


def test_sign_in_names_are_set_by_coordinators_and_belong_to_one_person(store: Store) -> None:
    with pytest.raises(NotAllowed):
        store.logins.set("RE", "RE", "me@example.org")
    with pytest.raises(PersonError, match="is that of RE"):
        store.logins.set("CO", "CO", "ROSA@example.org")
    end = store.log.head()
    assert store.logins.set("CO", "RE", "rosa@example.org") == "rosa@example.org"
    assert store.log.head() == end  # it had this name already
    store.logins.set("CO", "RE", "rosa@new.example")
    assert store.logins.of_people() == {"RE": "rosa@new.example"}
    assert store.logins.person("rosa@example.org") is None
    store.logins.set("CO", "RE", " ")
    assert store.logins.of_people() == {}
    assert "rosa" not in repr(store.log.entries(limit=100)).lower()
    for wrong in ("x" * 201, "a\nb"):
        with pytest.raises(PersonError, match="Sign-in name"):
            store.logins.set("CO", "RE", wrong)


def test_unusable_options_are_refused() -> None:
    headers = ("", "Cookie", "Host", "Authorization", "X-Forwarded-For", "x forwarded", "X:Y", "é", "X-A\n")
    addresses = ("", "proxy.example.org", "10.0.0.1/8,", "0.0.0.0/0", "::/0", "1.2.3.4/33")
    for header, given in (*((header, None) for header in headers), *((NAME, given) for given in addresses)):
        with pytest.raises(CannotRun, match="--proxy-login"):
            ProxyLogin.parse(header, given)


def test_the_options_need_the_proxy_and_somebody_who_can_manage(store: Store) -> None:
    login = ProxyLogin.parse(NAME)
    with pytest.raises(CannotRun, match="expected --behind URL too"):
        ServerSettings(store.path, port=cli.free_port(), login=login).check()
    ServerSettings(store.path, port=cli.free_port(), login=login, public=PUBLIC).check()
    with pytest.raises(CannotRun, match="no coordinator has a sign-in name"):
        server._prepare(store, PUBLIC, ProxyLogin.parse(NAME, only=True))
    refused = cli.run("app", "--db", store.path, "--proxy-login-only")
    assert refused.returncode != 0
    assert "--proxy-login-header NAME" in refused.stderr


@contextmanager
def running(store: Store, *options: str) -> Iterator[str]:
    port = cli.free_port()
    given = ("--port", port, "--no-browser", "--no-backups", "--behind", PUBLIC, *options)
    process = cli.start("app", "--db", store.path, *given)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def test_a_real_server_takes_the_address_of_the_connection(store: Store) -> None:
    for options, expected in ((("--proxy-login-from", "127.0.0.1"), 200), (("--proxy-login-from", "10.0.5.0/24"), 403)):
        with running(store, "--proxy-login-header", NAME, *options) as address:
            for forwarded in ({}, {"X-Forwarded-For": "10.0.5.7"}, {"X-Forwarded-For": "203.0.113.9"}):
                headers = {**HOST, NAME: "rosa@example.org", **forwarded}
                assert httpx.get(f"{address}/api/v1/me", headers=headers, timeout=60).status_code == expected
            if expected == 200:
                page = httpx.get(address, headers={**HOST, NAME: "rosa@example.org"}, timeout=60)
                assert page.status_code == 200
