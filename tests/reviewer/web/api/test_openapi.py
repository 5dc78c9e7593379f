"""The description of the API: complete, consistent, and shown by Swagger UI from this server."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.store import Store
from reviewer.web import openapi
from tests.js import answer_types
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
        for inner in value:
            yield from parts(inner)


def test_every_route_of_the_api_is_described(schema: dict[str, Any], app: FastAPI) -> None:
    described = {f"{method.upper()} {path}": operation for path, method, operation in openapi.operations(schema)}
    assert set(described) == set(WITHOUT_PARAMETERS) | set(WITH_PARAMETERS)
    assert set(described) == {f"{method} {path}" for method, path in routes(app) if path.startswith("/api/v1/")}
    for call, operation in described.items():
        assert operation["summary"].endswith((".", ":")) or ";" in operation["summary"], f"{call} has no docstring"
        assert ":raises" not in str(operation), call
        assert "default" in operation["responses"], call
        assert "422" not in operation["responses"], call
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
        in_path = [given for given in operation.get("parameters", ()) if given["in"] == "path"]
        named = {given["name"] for given in in_path}
        assert named == set(re.findall(r"\{(\w+)\}", path)), f"{method} {path}"
        assert all(given["required"] for given in in_path)
        assert all("schema" in given for given in operation.get("parameters", ()))
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
            assert script.request(method, re.sub(r"{\w+}", "1", path), json={"name": "x"}).status_code == 403
    error = schema["components"]["schemas"]["Problem"]
    for path in ("/api/v1/item/1", "/api/v1/queue?limit=x", "/api/v1/webhooks/9/deliveries"):
        assert set(script.get(path).json()) == set(error["required"]), path


def test_the_page_loads_swagger_ui_from_this_server_only(script: TestClient) -> None:
    answer = script.get("/api/v1/docs")
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
    assert policy["connect-src"] == "'self'"
    (inline,) = re.findall(r"<script>(.*?)</script>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    assert policy["script-src"] == f"'sha256-{digest}' 127.0.0.1:7860/ui/swagger/"
    for address in re.findall(r'(?:src|href)="([^"]+)"', answer.text):
        loaded = script.get(urljoin(f"{HERE}/api/v1/docs", address))
        assert loaded.status_code == 200, address
        assert urljoin(f"{HERE}/api/v1/docs", address).startswith(HERE), address
    assert "url: 'openapi.json'" in inline
    assert '"supportedSubmitMethods": ["get"]' in inline
    assert script.get("/ui/swagger/redoc.standalone.js").status_code == 404


def test_every_answer_is_described(schema: dict[str, Any]) -> None:
    described = [call for call, answer in answer_types.answers(schema) if is_described(schema, answer)]
    every = {f"{method.upper()} {path}" for path, method, _ in openapi.operations(schema)}
    assert len(described) == len(set(described))
    assert sorted(every - set(described)) == []


def is_described(schema: dict[str, Any], answer: dict[str, Any]) -> bool:
    """Return whether an answer has another media type than JSON, or a schema that names its object."""
    content = answer.get("content", {})
    if "application/json" not in content:
        return bool(content)
    shown = content["application/json"]["schema"]
    shown = shown.get("items", shown)
    return any("$ref" in part for part in (shown, *shown.get("anyOf", ()))) and "Any" not in str(shown)


def test_the_names_of_the_answers_are_names_in_typescript(schema: dict[str, Any]) -> None:
    assert not re.findall(r"interface .*[^\w ].* \{", answer_types.typescript(schema))
