"""TypeScript types of the API's answers, from its OpenAPI description: ``tests/js/answers.d.ts``, not in git.

    python -m tests.js.answer_types

A key that may be left out is never null, so ``| null`` is left out of its type.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("answers.d.ts")
_HEAD = "// Types of the API's answers, written by `python -m tests.js.answer_types`. Read by `make js` only.\n"
_REFERENCE = "#/components/schemas/"
_WORDS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
Schema = Mapping[str, Any]


def typescript(description: Schema) -> str:
    """Return the types of all objects in the answers of an OpenAPI description."""
    schemas: Schema = description["components"]["schemas"]
    return "\n".join([_HEAD, *(_interface(name, schemas[name]) for name in sorted(_answered(description, schemas)))])


def answers(description: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield each operation, as ``GET /api/v1/me``, with its successful answer."""
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    yield f"{method.upper()} {path}", answer


def _answered(description: Schema, schemas: Schema) -> set[str]:
    """Return the names of all schemas that are part of an answer."""
    names: set[str] = set()
    waiting = [reference for _, answer in answers(description) for reference in _references(answer)]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += _references(schemas[name])
    return names


def _references(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].removeprefix(_REFERENCE)
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _references(part)


def _interface(name: str, schema: Schema) -> str:
    required = schema.get("required", ())
    lines = [_comment(schema, ""), f"interface {name} {{\n"]
    for key, field in schema.get("properties", {}).items():
        optional = key not in required
        kinds = [kind for kind in _union(field) if not (optional and kind == "null")]
        lines += [_comment(field, "  "), f"  {key}{'?' if optional else ''}: {' | '.join(kinds)}\n"]
    return "".join([*lines, "}\n"])


def _comment(schema: Schema, indent: str) -> str:
    text = " ".join(str(schema.get("description", "")).replace("``", "`").split())
    return f"{indent}/** {text} */\n" if text else ""


def _union(schema: Schema) -> list[str]:
    """Return the types that a value may have, each once."""
    if "$ref" in schema:
        return [schema["$ref"].removeprefix(_REFERENCE)]
    if "const" in schema:
        return [_literal(schema["const"])]
    if "enum" in schema:
        return [_literal(value) for value in schema["enum"]]
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return list(dict.fromkeys(kind for choice in choices for kind in _union(choice)))
    match schema.get("type"):
        case "array" if "prefixItems" in schema:
            return [f"[{', '.join(_type(part) for part in schema['prefixItems'])}]"]
        case "array":
            item = _type(schema.get("items", {}))
            return [f"({item})[]" if " | " in item else f"{item}[]"]
        case "object":
            values = schema.get("additionalProperties", True)
            return [f"Record<string, {_type(values) if isinstance(values, Mapping) else 'any'}>"]
        case kind:
            return [_WORDS.get(str(kind), "any")]


def _type(schema: Schema) -> str:
    return " | ".join(_union(schema))


def _literal(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else json.dumps(value)


def main() -> None:
    """Write the file again."""
    from reviewer import server
    from reviewer.store import Store
    from reviewer.web import openapi

    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "annotations.db") as store:
        FILE.write_text(typescript(openapi.schema_of(server.build(store, local=True))), encoding="utf-8")


if __name__ == "__main__":
    main()
