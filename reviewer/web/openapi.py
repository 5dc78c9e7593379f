"""The description of the API: OpenAPI from the routes themselves, and Swagger UI to show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.utils import get_openapi

from reviewer.web.context import program_version

API = "/api/v1/"
METHODS = ("get", "post", "put", "delete")
_ABOUT = (
    "The routes that the page uses. Send a token of yours as `Authorization: Bearer so3_...`; it acts in your name, "
    "under the same rules as on the page. Errors are JSON: a stable `kind`, a sentence for people, and details."
)
TAGS: Mapping[str, str] = {
    "review": "Review",
    "opening": "Review",
    "aids": "Evidence",
    "trials": "Evidence",
    "live": "Live",
    "blind": "Blind",
    "blind_setup": "Blind",
    "progress": "Progress",
    "trust": "Progress",
    "audit": "Progress",
    "exports": "Data",
    "bulk": "Find",
    "comments": "Comments",
    "traces": "Review",
    "similar": "Find",
    "api": "API",
}
"""The desk of each module of routes; other modules are named after themselves."""
SESSION_ONLY = (
    *(("post", f"{API}tokens"), ("delete", f"{API}tokens/{{token_id}}")),
    *(("post", f"{API}people{path}") for path in ("", "/password")),
    *(("post", f"{API}people/{{initials}}/{change}") for change in ("account", "login", "active", "password")),
    *(("post", f"{API}{path}") for path in ("rules", "rules/preview", "verdict-first")),
)
"""Routes that a token does not open."""


def tag_of(router: APIRouter) -> str:
    """Return the desk to which the routes of a router belong."""
    module = str(getattr(router.routes[0], "endpoint").__module__).rpartition(".")[2]  # noqa: B009
    return TAGS.get(module, module.replace("_", " ").capitalize())


def schema_of(app: FastAPI) -> dict[str, Any]:
    """Return the description of the routes of an app below ``/api/v1``; made once per app."""
    description: dict[str, Any] | None = getattr(app.state, "openapi", None)
    if description is None:
        description = app.state.openapi = _schema(app)
    return description


def _schema(app: FastAPI) -> dict[str, Any]:
    description = get_openapi(title="Spec-o3 review", version=program_version(), description=_ABOUT, routes=app.routes)
    description["paths"] = {
        path: description["paths"][path] for path in sorted(description["paths"]) if path.startswith(API)
    }
    for path, method, operation in operations(description):
        text = operation.pop("description", "").split("\n\n:")[0].split("\n:")[0].strip()
        # The first line of the docstring says what a route does; without one there is no summary to show.
        first, _, rest = re.sub(r"\s:(raises|param) .*", "", text, flags=re.DOTALL).partition("\n\n")
        operation["summary"] = " ".join(first.replace("``", "`").split())
        if rest.strip():
            operation["description"] = " ".join(rest.replace("``", "`").split())
        operation["responses"].pop("422", None)  # FastAPI's own form of it; ours is the default one
        if (method, path) in SESSION_ONLY:
            operation["security"] = [{"session": []}]
    components = description.setdefault("components", {})
    schemas = {
        name: component for name, component in components.get("schemas", {}).items() if "ValidationError" not in name
    }
    components["schemas"] = schemas
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "A token of the People tab."},
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": "spec_o3_session",
            "description": "The page's cookie.",
        },
    }
    description["security"] = [{"token": []}, {"session": []}]
    used = {tag for _, _, operation in operations(description) for tag in operation["tags"]}
    description["tags"] = [{"name": tag} for tag in dict.fromkeys((*TAGS.values(), *sorted(used))) if tag in used]
    return description


def operations(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield path, method and description of every route."""
    for path, methods in schema["paths"].items():
        yield from ((path, method, methods[method]) for method in METHODS if method in methods)


SWAGGER = ("swagger-ui-bundle.js", "swagger-ui.css")
"""The files of Swagger UI that the page loads, below ``/ui/swagger/``."""


def swagger_file(name: str) -> Path:
    """Return a file of Swagger UI in the installed package, found without importing it."""
    package = find_spec("fastapi_offline")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "static" / name


def page() -> bytes:
    """Return the page that shows the description; its addresses are relative to ``/api/v1/docs``."""
    script, style = (f"../../ui/swagger/{name}" for name in SWAGGER)
    shown = get_swagger_ui_html(
        openapi_url="openapi.json",
        title="Spec-o3 review",
        swagger_js_url=script,
        swagger_css_url=style,
        swagger_favicon_url="../../favicon.ico",
        # "Try it out" acts in earnest, with the session of the person who clicks it.
        swagger_ui_parameters={"deepLinking": True, "supportedSubmitMethods": ["get"]},
    )
    return bytes(shown.body)
