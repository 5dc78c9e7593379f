"""The description of the API: OpenAPI from the routes themselves, and a page that shows it without any script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi

from agent.language import deferred, tr
from reviewer.web.context import program_version

API = "/api/v1/"
METHODS = ("get", "post", "put", "delete")
_ABOUT = deferred(
    "The routes that the page uses. Send a token of yours as `Authorization: Bearer so3_...`; it acts in your name, "
    "under the same rules as on the page. Errors are JSON: a stable `kind`, a sentence for people, and details."
)
TAGS: Mapping[str, str] = {
    "review": deferred("Review"),
    "opening": deferred("Review"),
    "aids": deferred("Evidence"),
    "trials": deferred("Evidence"),
    "live": deferred("Live"),
    "blind": deferred("Blind"),
    "blind_setup": deferred("Blind"),
    "progress": deferred("Progress"),
    "trust": deferred("Progress"),
    "audit": deferred("Progress"),
    "exports": deferred("Library"),
    "bulk": deferred("Find"),
    "comments": deferred("Comments"),
    "traces": deferred("Review"),
    "similar": deferred("Find"),
    "api": deferred("API"),
}
"""The desk of each module of routes; other modules are named after themselves."""
SESSION_ONLY = (("post", f"{API}tokens"), ("delete", f"{API}tokens/{{token_id}}"))
"""Routes that a token does not open."""


def tag_of(router: APIRouter) -> str:
    """Return the desk to which the routes of a router belong."""
    module = str(getattr(router.routes[0], "endpoint").__module__).rpartition(".")[2]  # noqa: B009
    return TAGS.get(module, module.replace("_", " ").capitalize())


def schema_of(app: FastAPI) -> dict[str, Any]:
    """Return the description of the routes of an app below ``/api/v1``; made once per app."""
    made: dict[str, Any] | None = getattr(app.state, "openapi", None)
    if made is None:
        made = app.state.openapi = _schema(app)
    return made


def _schema(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title="Spec-o3 review", version=program_version(), description=_ABOUT, routes=app.routes)
    found["paths"] = {path: found["paths"][path] for path in sorted(found["paths"]) if path.startswith(API)}
    for path, method, operation in operations(found):
        text = operation.pop("description", "").split("\n\n:")[0].split("\n:")[0].strip()
        # The first line of the docstring says what a route does; without one there is no summary to show.
        first, _, rest = re.sub(r"\s:(raises|param) .*", "", text, flags=re.DOTALL).partition("\n\n")
        operation["summary"] = " ".join(first.replace("``", "`").split())
        if rest.strip():
            operation["description"] = " ".join(rest.replace("``", "`").split())
        operation["responses"].pop("422", None)  # FastAPI's own form of it; ours is the default one
        if (method, path) in SESSION_ONLY:
            operation["security"] = [{"session": []}]
    components = found.setdefault("components", {})
    schemas = {name: one for name, one in components.get("schemas", {}).items() if "ValidationError" not in name}
    components["schemas"] = schemas
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": deferred("A token of the People tab.")},
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": "spec_o3_session",
            "description": deferred("The page's cookie."),
        },
    }
    found["security"] = [{"token": []}, {"session": []}]
    used = {tag for _, _, operation in operations(found) for tag in operation["tags"]}
    found["tags"] = [{"name": tag} for tag in dict.fromkeys((*TAGS.values(), *sorted(used))) if tag in used]
    return found


def operations(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield path, method and description of every route."""
    for path, methods in schema["paths"].items():
        yield from ((path, method, methods[method]) for method in METHODS if method in methods)


class Page:
    """The parts of the page as HTML.

    :param address: that of the app, for the commands to copy
    """

    def __init__(self, schema: Mapping[str, Any], address: str) -> None:
        self._schema = schema
        self._address = address
        self._named: Mapping[str, Any] = schema["components"]["schemas"]

    @property
    def tags(self) -> str:
        """The list of routes by desk."""
        return "".join(
            f"<p>{escape(tr(tag))}</p><ul>"
            + "".join(
                f'<li><a href="#{_anchor(method, path)}">{method.upper()} {escape(path.removeprefix(API))}</a></li>'
                for path, method, _ in self._of(tag)
            )
            + "</ul>"
            for tag in self._tags
        )

    @property
    def models(self) -> str:
        """The list of objects that bodies consist of."""
        links = "".join(f'<li><a href="#model-{escape(name)}">{escape(name)}</a></li>' for name in self._named)
        return f"<p>{escape(tr('Objects'))}</p><ul>{links}</ul>"

    @property
    def text(self) -> str:
        """The description of every route, and of the objects in their bodies."""
        about = _code(escape(tr(_ABOUT)))
        file = f'<a href="openapi.json">{escape(tr("This description as a file (OpenAPI 3.1)"))}</a>'
        routes = "".join(
            f"<h2>{escape(tr(tag))}</h2>" + "".join(self._route(*route) for route in self._of(tag))
            for tag in self._tags
        )
        models = "".join(
            f'<h3 id="model-{escape(name)}">{escape(name)}</h3>{self._paragraph(model)}{self._fields(model)}'
            for name, model in self._named.items()
        )
        return (
            f"<h1>{escape(tr('API'))}</h1><p>{about}</p><p>{file}</p>{routes}<h2>{escape(tr('Objects'))}</h2>{models}"
        )

    @cached_property
    def _tags(self) -> list[str]:
        return [tag["name"] for tag in self._schema["tags"]]

    def _of(self, tag: str) -> list[tuple[str, str, dict[str, Any]]]:
        return [route for route in operations(self._schema) if tag in route[2]["tags"]]

    def _route(self, path: str, method: str, operation: Mapping[str, Any]) -> str:
        parts = [
            f'<h3 id="{_anchor(method, path)}"><code>{method.upper()} {escape(path)}</code></h3>',
            f"<p>{_code(escape(operation['summary']))}</p>",
            self._paragraph(operation),
        ]
        rows = [
            (one["name"], one["schema"], one.get("required", False), one.get("description", ""))
            for one in operation.get("parameters", ())
            if one["in"] in ("path", "query")
        ]
        if rows:
            parts.append(self._table(rows))
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            body = escape(tr("Body, {kind}:", kind=kind))
            parts.append(f"<p>{body} {self._type(content.get('schema', {}))}</p>")
        parts.append(f"<pre><code>{escape(self._curl(path, method, operation))}</code></pre>")
        return "".join(parts)

    def _curl(self, path: str, method: str, operation: Mapping[str, Any]) -> str:
        words = ["curl"]
        if (method, path) in SESSION_ONLY:
            return tr("Needs a session: use the People tab.")
        words.append('-H "Authorization: Bearer $TOKEN"')
        content = operation.get("requestBody", {}).get("content", {})
        if method != "get" and not (method == "post" and content):
            words.append(f"-X {method.upper()}")
        if "application/json" in content:
            example = json.dumps(self._example(content["application/json"].get("schema", {})))
            words.append(f"--json '{example}'")
        needed = "&".join(
            f"{one['name']}={self._example(one['schema'])}"
            for one in operation.get("parameters", ())
            if one["in"] == "query" and one.get("required")
        )
        words.append(f'"{self._address}{path}{"?" if needed else ""}{needed}"')
        return " \\\n  ".join((" ".join(words[:2]), *words[2:]))

    def _example(self, schema: Mapping[str, Any], depth: int = 0) -> Any:
        """Return a value of a schema with what it requires."""
        schema = self._resolved(schema)
        if "default" in schema:
            return schema["default"]
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][0]
        if schema.get("anyOf"):
            return self._example(schema["anyOf"][0], depth)
        kind = schema.get("type")
        if kind == "array" and schema.get("minItems"):
            return [self._example(schema.get("items", {}), depth + 1)]
        if kind == "object" or "properties" in schema:
            own = schema.get("properties", {})
            return {name: self._example(own[name], depth + 1) for name in schema.get("required", ()) if depth < 4}
        return {"string": "...", "integer": 1, "number": 1.0, "boolean": True, "array": []}.get(str(kind))

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        reference = schema.get("$ref")
        return self._named[reference.rpartition("/")[2]] if reference else schema

    def _fields(self, model: Mapping[str, Any]) -> str:
        if not model.get("properties"):
            return f"<p>{self._type(model)}</p>"
        needed = model.get("required", ())
        return self._table(
            [(name, one, name in needed, one.get("description", "")) for name, one in model["properties"].items()]
        )

    def _table(self, rows: list[tuple[str, Mapping[str, Any], bool, str]]) -> str:
        headings = [tr("Name"), tr("Type"), tr("Default"), tr("Meaning")]
        cells = [
            [
                f"<code>{escape(name)}</code>",
                self._type(schema),
                escape(tr("required")) if needed else _default(schema),
                _code(escape(" ".join(meaning.replace("``", "`").split()))),
            ]
            for name, schema, needed, meaning in rows
        ]
        used = [column for column in range(4) if any(row[column] for row in cells)]
        head = "".join(f"<th>{escape(headings[column])}</th>" for column in used)
        body = "".join("<tr>" + "".join(f"<td>{row[column]}</td>" for column in used) + "</tr>" for row in cells)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _type(self, schema: Mapping[str, Any]) -> str:
        """Return the type of a value in words, with links to objects."""
        if "$ref" in schema:
            name = escape(schema["$ref"].rpartition("/")[2])
            return f'<a href="#model-{name}">{name}</a>'
        if "const" in schema:
            return f"<code>{escape(json.dumps(schema['const'], ensure_ascii=False))}</code>"
        if "enum" in schema:
            return ", ".join(
                f"<code>{escape(json.dumps(value, ensure_ascii=False))}</code>" for value in schema["enum"]
            )
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices:
            return f" {escape(tr('or'))} ".join(dict.fromkeys(self._type(one) for one in choices))
        if schema.get("type") == "array":
            return f"{escape(tr('list of'))} {self._type(schema.get('items', {}))}"
        bounds = [
            f"{sign} {schema[bound]}"
            for bound, sign in (
                ("minimum", "≥"),
                ("exclusiveMinimum", ">"),
                ("maximum", "≤"),
                ("exclusiveMaximum", "<"),
            )
            if bound in schema
        ]
        return " ".join((escape(str(schema.get("type", tr("any")))), *(escape(bound) for bound in bounds)))

    @staticmethod
    def _paragraph(part: Mapping[str, Any]) -> str:
        text = " ".join(str(part.get("description", "")).replace("``", "`").split())
        return f"<p>{_code(escape(text))}</p>" if text else ""


def _default(schema: Mapping[str, Any]) -> str:
    if schema.get("default") in (None, "", []):
        return ""
    return f"<code>{escape(json.dumps(schema['default'], ensure_ascii=False))}</code>"


def _anchor(method: str, path: str) -> str:
    return f"{method}-{re.sub(r'[^a-z0-9]+', '-', path.removeprefix(API).lower()).strip('-')}"


def _code(text: str) -> str:
    """Write what is between backquotes as code; ``text`` is HTML already."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
