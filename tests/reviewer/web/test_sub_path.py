"""An app below a path of its host: addresses, redirects and cookies; and what is wrong with a path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from agent.cli.command import CannotRun
from reviewer import server
from reviewer.store import Store
from reviewer.web import settings
from reviewer.web.auth import COOKIE
from reviewer.web.settings import ServerSettings

ROOT = Path(__file__).resolve().parents[3]
PUBLIC = "https://institute.example/groups/review/"
BASE = "/groups/review"
PASSWORD = "Balmer decrement"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, FastAPI]]:
    with Store.open(tmp_path_factory.mktemp("below") / "annotations.db") as store:
        store.accounts.add_person("CO", "Cora", ["coordinator"], PASSWORD)
        yield store, server.build(store, local=False, public=PUBLIC)


def browser(team: tuple[Store, FastAPI], cookie: str | None = None) -> TestClient:
    """A proxy without any header about TLS or its path."""
    headers = {} if cookie is None else {"cookie": cookie}
    return TestClient(team[1], base_url="http://institute.example", headers=headers, follow_redirects=False)


def session(store: Store) -> str:
    return f"{COOKIE}={store.accounts.sign_in('CO', PASSWORD).token}"


@pytest.mark.parametrize("at", ["", BASE], ids=["the proxy takes the path off", "the proxy keeps it"])
def test_redirects_cookies_and_headers_name_the_path(team: tuple[Store, FastAPI], at: str) -> None:
    stranger = browser(team)
    assert stranger.get(f"{at}/").headers["location"] == f"{BASE}/sign-in"
    assert stranger.get(f"{at}/docs/deep/x.md").headers["location"] == f"{BASE}/sign-in?next=%2Fdocs%2Fdeep%2Fx.md"
    chosen = stranger.get(f"{at}/sign-in?language=zh")
    assert chosen.headers["location"] == f"{BASE}/sign-in"
    assert f"Path={BASE}/;" in chosen.headers["set-cookie"]
    entered = stranger.post(f"{at}/sign-in", data={"initials": "CO", "password": PASSWORD})
    assert entered.headers["location"] == f"{BASE}/"
    for part in (f"Path={BASE}/", "Secure", "HttpOnly", "SameSite=strict"):
        assert part in entered.headers["set-cookie"], part
    page = browser(team, session(team[0]))
    for language in ("en", "zh"):
        answer = page.get(f"{at}/", headers={"accept-language": language})
        assert f"institute.example{BASE}/ui/" in answer.headers["content-security-policy"]
        root = f'"root":"https://institute.example{BASE}{"" if language == "en" else "/zh"}"'
        assert root in answer.text.replace('": "', '":"')
        assert page.get(f"{at}/{'' if language == 'en' else 'zh/'}gradio_api/info").status_code == 200
        assert not re.findall(r'(?:href|src|action)="/[^"]*"', answer.text)
    assert page.get(f"{at}/manifest.json").json()["id"] == f"{BASE}/"
    assert page.get(f"{at}/api/v1/openapi.json").json()["servers"] == [{"url": f"{BASE}/"}]
    policy = page.get(f"{at}/api/v1/docs").headers["content-security-policy"]
    assert f"institute.example{BASE}/ui/swagger/" in policy
    left = page.post(f"{at}/sign-out")
    assert left.headers["location"] == f"{BASE}/sign-in"
    assert f"Path={BASE}/;" in left.headers["set-cookie"]


def test_the_path_without_its_slash_leads_to_the_page(team: tuple[Store, FastAPI]) -> None:
    answer = browser(team).get(BASE)
    assert (answer.status_code, answer.headers["location"]) == (308, f"{BASE}/")
    assert browser(team).get(f"{BASE}er/sign-in").status_code == 404


def test_a_cookie_of_the_same_name_from_another_app_of_the_host_does_not_count(team: tuple[Store, FastAPI]) -> None:
    """A browser sends the cookie of the longer path first."""
    own = session(team[0])
    assert browser(team, f"{own}; {COOKIE}=of-the-app-at-the-root").get("/api/v1/me").status_code == 200
    assert (
        browser(team, f"so-language=zh; {own}; so-language=en")
        .get("/docs/")
        .text.startswith('<!doctype html>\n<html lang="zh-CN">')
    )


@pytest.mark.parametrize("public", [None, "https://institute.example"])
def test_behind_a_proxy_the_cookie_is_secure_whatever_its_headers_say(team: tuple[Store, FastAPI], public: str) -> None:
    app = server.build(team[0], local=public is None, public=public)
    for said in ({}, {"X-Forwarded-Proto": "http"}):
        client = TestClient(app, base_url="http://institute.example", follow_redirects=False, headers=said)
        entered = client.post("/sign-in", data={"initials": "CO", "password": PASSWORD})
        assert entered.status_code == 303
        assert ("Secure" in entered.headers["set-cookie"]) == (public is not None)
        assert "Path=/;" in entered.headers["set-cookie"]


def check(public: str) -> None:
    ServerSettings(Path("annotations.db"), public=public).check()


@pytest.fixture(autouse=True)
def any_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "require_free", lambda host, port: None)


def test_a_path_that_can_be_one_and_is_not_used_by_the_app_is_accepted() -> None:
    used = ("api", "ui", "docs", "static", "assets", "sign-in", "gradio_api", "zh", "theme.css")
    good = ("", "/", "/review", "/review/", "/user/ann%40obs.example/proxy/7860/", "/~ann/a.b-c_d/", "/apis/", "/.x/")
    for path in good:
        check(f"https://institute.example{path}")
    for path in ("//", "/a//b", "/../x", "/a/./b/", "/a/..", "/a?b", "/a#b", "/a b", "/a;b/", "/a'/", "/ä/"):
        with pytest.raises(CannotRun, match="expected an https address"):
            check(f"https://institute.example{path}")
    for first in used:
        with pytest.raises(CannotRun, match=f"a path that begins with /{first}/"):
            check(f"https://institute.example/{first}/review/")


def test_no_page_names_an_absolute_address() -> None:
    """What a browser gets is relative to the page; JavaScript has a rule of its own (tests/js/addresses.js)."""
    # headers.py replaces the one in Gradio's page.
    absolute = re.compile(r"""(?:href|src|action)=(?:\\?["'])/|url\(["']?/|import\(["']/|RedirectResponse\(f?["']/""")
    files = [
        path
        for path in (ROOT / "reviewer").rglob("*")
        if path.suffix in (".py", ".html", ".css") and "exchange" not in path.parts and path.name != "headers.py"
    ]
    assert len(files) > 200
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if absolute.search(line)
    ]
    assert found == []
