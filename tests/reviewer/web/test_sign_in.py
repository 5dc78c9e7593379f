"""Getting in and out over HTTP: cookies, origins, limits, and the machine of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from httpx import Response

from reviewer.rules.workflow import Rules
from reviewer.store import Store
from reviewer.web import auth
from reviewer.web.routes import sign_in

HERE = "http://127.0.0.1:7860"
PASSWORD = "Hα in emission"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    store = Store.open(tmp_path / "annotations.db", clock)
    yield store
    store.close()


def client(store: Store, local: bool = True, base_url: str = HERE) -> TestClient:
    app = FastAPI()
    app.include_router(sign_in.router(store, local))

    @app.get("/who")
    def who(request: Request) -> str | None:
        person = auth.person_of(request, store, local)
        return person.initials if person else None

    return TestClient(app, base_url=base_url, follow_redirects=False)


def team(store: Store) -> None:
    store.add_person("AB", "Ada Byron", ["coordinator", "reviewer"], PASSWORD)
    store.add_person("CD", "Cyril Dune", ["reviewer"], "second password")


def enter(browser: TestClient, initials: str, password: str = "", **headers: str) -> Response:
    return browser.post("/sign-in", data={"initials": initials, "password": password}, headers=headers)


def test_initials_are_enough_for_the_first_person_and_the_rules_say_they_work_alone(store: Store) -> None:
    browser = client(store)
    assert browser.get("/who").json() is None
    assert "Who is reviewing?" in browser.get("/sign-in").text
    assert 'type="password"' not in browser.get("/sign-in").text
    response = enter(browser, "ab")
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert browser.get("/who").json() == "AB"
    assert store.rules().solo


def test_the_only_person_on_a_machine_is_not_asked_again(store: Store) -> None:
    enter(client(store), "AB")
    another_browser = client(store)
    assert another_browser.get("/who").json() == "AB"


def test_two_without_passwords_are_told_apart_by_their_cookies(store: Store) -> None:
    ada, cyril = client(store), client(store)
    enter(ada, "AB")
    enter(cyril, "ÅÖ")
    assert (ada.get("/who").json(), cyril.get("/who").json()) == ("AB", "ÅÖ")
    assert client(store).get("/who").json() is None


def test_the_second_person_leaves_the_rules_as_the_first_set_them(store: Store) -> None:
    enter(client(store), "AB")
    store.set_rules("AB", Rules())
    enter(client(store), "CD")
    assert store.rules() == Rules()


def test_rules_set_before_the_first_person_came_are_left_alone(store: Store) -> None:
    store.set_rules(None, Rules(auditors=3, votes=3))
    enter(client(store), "AB")
    assert store.rules() == Rules(auditors=3, votes=3)


@pytest.mark.parametrize("initials", ["", "A", "ABCDE", "A1", "<b>"])
def test_initials_that_are_none_are_refused_in_a_sentence(store: Store, initials: str) -> None:
    response = enter(client(store), initials)
    assert response.status_code == 422
    assert "wanted two to four letters" in response.text
    assert "<b>" not in response.text
    assert auth.COOKIE not in response.cookies
    assert store.people() == []


def test_what_was_typed_comes_back_as_text_never_as_markup(store: Store) -> None:
    assert '"><script>' not in enter(client(store), '"><script>').text


def test_a_password_opens_a_session_that_only_the_browser_can_read(store: Store) -> None:
    team(store)
    browser = client(store)
    response = enter(browser, "ab", PASSWORD)
    cookie = response.headers["set-cookie"]
    assert response.status_code == 303
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert "Secure" not in cookie
    assert browser.get("/who").json() == "AB"


def test_over_https_the_cookie_is_secure(store: Store) -> None:
    team(store)
    response = enter(client(store, local=False, base_url="https://spec-o3.example"), "AB", PASSWORD)
    assert "Secure" in response.headers["set-cookie"]


def test_a_wrong_password_and_unknown_initials_get_the_same_answer(store: Store) -> None:
    team(store)
    wrong, unknown = enter(client(store), "AB", "wrong"), enter(client(store), "AX", "wrong")
    assert wrong.status_code == unknown.status_code == 401
    assert "Initials and password do not match." in wrong.text
    assert "Initials and password do not match." in unknown.text
    assert auth.COOKIE not in wrong.cookies


def test_after_five_wrong_passwords_even_the_right_one_waits(store: Store, clock: Clock) -> None:
    team(store)
    browser = client(store)
    for _ in range(5):
        enter(browser, "AB", "wrong")
    refused = enter(browser, "AB", PASSWORD)
    assert refused.status_code == 401
    assert "Too many attempts" in refused.text
    clock.now += timedelta(minutes=16)
    assert enter(browser, "AB", PASSWORD).status_code == 303


def test_with_one_password_set_initials_alone_no_longer_count(store: Store) -> None:
    browser = client(store)
    enter(browser, "AB")
    store.set_password("AB", "AB", PASSWORD)
    assert browser.get("/who").json() is None
    assert 'type="password"' in browser.get("/sign-in").text
    assert enter(browser, "AB").status_code == 401
    assert enter(browser, "AB", PASSWORD).status_code == 303


def test_signing_out_ends_the_session_for_every_copy_of_its_cookie(store: Store) -> None:
    team(store)
    browser = client(store)
    token = enter(browser, "AB", PASSWORD).cookies[auth.COOKIE]
    response = browser.post("/sign-out")
    assert (response.status_code, response.headers["location"]) == (303, "/sign-in")
    assert auth.COOKIE not in browser.cookies
    thief = client(store)
    thief.cookies.set(auth.COOKIE, token)
    assert thief.get("/who").json() is None


def test_a_session_ends_after_a_day_without_use_or_a_week(store: Store, clock: Clock) -> None:
    team(store)
    browser = client(store)
    enter(browser, "AB", PASSWORD)
    for _ in range(7):
        clock.now += timedelta(hours=23)
        assert browser.get("/who").json() == "AB"
    clock.now += timedelta(hours=8)
    assert browser.get("/who").json() is None
    enter(browser, "AB", PASSWORD)
    clock.now += timedelta(hours=25)
    assert browser.get("/who").json() is None


def test_signing_in_ends_what_the_browser_carried_before(store: Store) -> None:
    team(store)
    browser = client(store)
    first = enter(browser, "AB", PASSWORD).cookies[auth.COOKIE]
    second = enter(browser, "AB", PASSWORD).cookies[auth.COOKIE]
    assert first != second
    assert store.signed_in(first) is None
    assert store.signed_in(second) is not None


def test_a_proxy_on_this_machine_is_not_this_machine(store: Store) -> None:
    enter(client(store), "AB")
    for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
        assert client(store).get("/who", headers={header: "203.0.113.9"}).json() is None


def test_somebody_who_was_deactivated_is_out_at_once(store: Store) -> None:
    team(store)
    browser = client(store)
    enter(browser, "CD", "second password")
    store.deactivate("AB", "CD")
    assert browser.get("/who").json() is None
    assert enter(browser, "CD", "second password").status_code == 401


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out"])
@pytest.mark.parametrize("origin", ["http://elsewhere.example", "http://127.0.0.1:9999", "null"])
def test_a_post_from_another_site_is_refused(store: Store, path: str, origin: str) -> None:
    response = client(store).post(path, data={"initials": "AB"}, headers={"Origin": origin})
    assert response.status_code == 403
    assert store.people() == []


def test_a_post_from_our_own_page_is_taken(store: Store) -> None:
    assert enter(client(store), "AB", Origin=HERE).status_code == 303


def test_a_form_too_large_to_be_a_sign_in_is_not_read(store: Store) -> None:
    assert enter(client(store), "AB", "x" * 5000).status_code == 413
    chunked = client(store).post("/sign-in", content=iter([b"initials=AB"]))
    assert chunked.status_code == 411
    assert store.people() == []


def test_from_another_machine_nobody_gets_in_without_a_password(store: Store) -> None:
    store.work_alone("AB")
    browser = client(store, local=False, base_url="http://spec-o3.example")
    assert browser.get("/who").json() is None
    assert "<form" not in browser.get("/sign-in").text
    assert enter(browser, "AB").status_code == 403
    browser.cookies.set(auth.COOKIE, "alone:AB")
    assert browser.get("/who").json() is None


def test_a_web_site_whose_name_points_here_gets_nothing(store: Store) -> None:
    store.work_alone("AB")
    rebound = client(store, base_url="http://rebound.example:7860")
    rebound.cookies.set(auth.COOKIE, "alone:AB")
    assert rebound.get("/who").json() is None
    assert enter(rebound, "AB").status_code == 403
    assert client(store, base_url="http://localhost:7860").get("/who").json() == "AB"
    assert client(store, base_url="http://[::1]:7860").get("/who").json() == "AB"


def test_the_page_asks_nothing_of_the_network_and_is_not_cached(store: Store) -> None:
    page = client(store).get("/sign-in")
    policy = page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http://" not in page.text
    assert "https://" not in page.text
