"""The description of the API: complete, consistent, and shown without any script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from reviewer.store import Store
from reviewer.web import app as server
from reviewer.web import openapi
from tests.reviewer.web.test_access import WITH_PARAMETERS, WITHOUT_PARAMETERS, routes

HERE = "http://127.0.0.1:7860"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("openapi") / "annotations.db") as store:
        store.accounts.add_person("CO", "Cora", ["coordinator"], "Balmer decrement")
        yield store


@pytest.fixture(scope="module")
def app(store: Store) -> FastAPI:
    return server.build(store, local=True)


@pytest.fixture(scope="module")
def script(app: FastAPI, store: Store) -> TestClient:
    secret = store.tokens.make("CO", "a script", False, None)[1]
    return TestClient(app, base_url=HERE, headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture(scope="module")
def schema(script: TestClient) -> dict[str, Any]:
    answer = script.get("/api/v1/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a value."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from parts(one)


def test_every_route_of_the_api_is_described(schema: dict[str, Any], app: FastAPI) -> None:
    described = {f"{method.upper()} {path}": operation for path, method, operation in openapi.operations(schema)}
    assert set(described) == set(WITHOUT_PARAMETERS) | set(WITH_PARAMETERS)
    assert set(described) == {f"{method} {path}" for method, path in routes(app) if path.startswith("/api/v1/")}
    for call, operation in described.items():
        assert operation["summary"].endswith((".", ":")) or ";" in operation["summary"], f"{call} has no docstring"
        assert ":raises" not in str(operation), call
        assert set(operation["responses"]) == {"200", "default"}, call
        assert len(operation["tags"]) == 1, call


def test_the_description_is_consistent(schema: dict[str, Any]) -> None:
    assert re.fullmatch(r"3\.1\.\d", schema["openapi"])
    assert schema["info"]["title"]
    assert schema["info"]["version"]
    ids = [operation["operationId"] for _, _, operation in openapi.operations(schema)]
    assert len(ids) == len(set(ids))
    assert {operation["tags"][0] for _, _, operation in openapi.operations(schema)} == {
        t["name"] for t in schema["tags"]
    }
    for part in parts(schema):
        if "$ref" in part:
            found: Any = schema
            for step in part["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            assert found
    for path, method, operation in openapi.operations(schema):
        named = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
        assert named == set(re.findall(r"\{(\w+)\}", path)), f"{method} {path}"
        assert all(one["required"] for one in operation.get("parameters", ()) if one["in"] == "path")
        assert all("schema" in one for one in operation.get("parameters", ()))
        assert method != "get" or "requestBody" not in operation
    assert "ValidationError" not in str(schema)


def test_security_and_errors_are_described(schema: dict[str, Any], script: TestClient) -> None:
    schemes = schema["components"]["securitySchemes"]
    assert schemes["token"]["scheme"] == "bearer"
    assert schema["security"] == [{"token": []}, {"session": []}]
    for path, method, operation in openapi.operations(schema):
        closed = (method, path) in openapi.SESSION_ONLY
        assert operation.get("security") == ([{"session": []}] if closed else None), f"{method} {path}"
        if closed:
            assert script.request(method, path.replace("{token_id}", "1"), json={"name": "x"}).status_code == 403
    error = schema["components"]["schemas"]["Problem"]
    for path in ("/api/v1/item/1", "/api/v1/queue?limit=x", "/api/v1/webhooks/9/deliveries"):
        assert set(script.get(path).json()) == set(error["required"]), path


class Seen(HTMLParser):
    """The ids, links, tags and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.add(tag)
        self.ids += [found["id"] or ""] if "id" in found else []
        self.links += [found["href"] or ""] if tag == "a" else []
        assert not {name for name in found if name.startswith("on") or name == "style"}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_shows_every_route_and_object(schema: dict[str, Any], script: TestClient) -> None:
    answer = script.get("/api/v1/docs")
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    page = Seen()
    page.feed(answer.text)
    assert len(page.ids) == len(set(page.ids))
    for path, method, operation in openapi.operations(schema):
        assert f"{method.upper()} {path}" in page.text
        assert operation["summary"].replace("`", "") in " ".join(page.text.split())
    for link in page.links:
        assert not link.startswith("#") or link[1:] in page.ids, link
    assert "http://127.0.0.1:7860/api/v1/queue" in page.text
    assert page.text.count(':7860/api/v1/tokens"') == 1  # to read; a token does not open the other one
    assert '--json \'{"url": "...", "events": ["approved"]}\'' in page.text


def test_the_description_needs_a_session_or_a_token(app: FastAPI) -> None:
    for path in ("/api/v1/openapi.json", "/api/v1/docs"):
        assert TestClient(app, base_url=HERE).get(path).status_code == 401
