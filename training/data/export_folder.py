"""An export folder of ``spec-o3 export``: its manifest and hashes, and the check that its tool is ours.

``manifest.json`` is written last and has the SHA-256 of every file: without it the folder is incomplete. Data made
with a different tool are refused, because our tool block would describe it wrongly.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent.language import tr
from agent.plot import RENDERER
from agent.tool import MEASURE_SCHEMA, SKY_SCHEMA, TOOL_SCHEMA
from training.data.records import DataError
from training.data.rows import Row, rows

# The text of the block mentions <tools></tools> before the actual tags.
_BLOCK = re.compile(r"<tools>(?!</tools>)(.*?)</tools>", re.DOTALL)


class ToolSchemas:
    """The tool schemas of the inputs, by input; a schema that differs is refused."""

    def __init__(self) -> None:
        self._stated: dict[str, str] = {}

    def add(self, schema: object, where: str) -> None:
        """Add a schema. :raises DataError: it differs from an earlier one (a mixture), or it is not ours"""
        canonical = json.dumps(schema, sort_keys=True)
        for other, place in self._stated.items():
            if other != canonical:
                raise DataError(
                    tr(
                        "mixture of tool schemas: {where} has {canonical}, {place} has {other}; expected data made "
                        "with one tool",
                        where=where,
                        canonical=_short_name(canonical),
                        place=place,
                        other=_short_name(other),
                    )
                )
        self._stated[canonical] = where
        ours = json.dumps(TOOL_SCHEMA, sort_keys=True)
        if canonical != ours:
            raise DataError(
                tr(
                    "{where}: tool: found the schema {canonical}, expected {ours}, the tool that models are "
                    "trained with here",
                    where=where,
                    canonical=_short_name(canonical),
                    ours=_short_name(ours),
                )
            )


def stated_in(system: str) -> object | None:
    """Return the tool schema in a system turn; None without one; ours if it allows the same calls.
    ``measure`` and ``sky_context``, which may be offered too, are left out.

    :raises ValueError: the tool block does not have exactly one tool
    """
    block = _BLOCK.search(system)
    if block is None:
        return None
    try:
        tools = block[1].strip()
        for further in (SKY_SCHEMA, MEASURE_SCHEMA):
            tools = tools.removesuffix(f"\n{json.dumps(further)}")
        schema = json.loads(tools, strict=False)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            tr("found {block!r:.60} between <tools> and </tools>, expected one tool", block=block[1].strip())
        ) from error
    return TOOL_SCHEMA if _calls(schema) == _calls(TOOL_SCHEMA) else schema


def _calls(schema: object) -> object:
    """Return the parts of a schema that decide which calls are allowed: names, types, and required fields."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("function"), Mapping):
        return schema
    function: Mapping[str, Any] = schema["function"]
    return function.get("name"), _types(function.get("parameters"))


def _types(value: object) -> object:
    if not isinstance(value, Mapping):
        return sorted(value, key=str) if isinstance(value, list) else value
    return {
        key: _named_types(inner) if key == "properties" else _types(inner)
        for key, inner in value.items()
        if key != "description" and inner not in (None, [], {})
    }


def _named_types(properties: object) -> object:
    """Return the same for properties, one of which may itself be named ``description``."""
    if not isinstance(properties, Mapping):
        return properties
    return {name: _types(inner) for name, inner in properties.items()}


def _short_name(canonical: str) -> str:
    """Return a short name of a schema: the tool's name, and the beginning of a hash."""
    schema = json.loads(canonical)
    function = schema.get("function") if isinstance(schema, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return f"{str(name or 'no name')[:60]} ({hashlib.sha256(canonical.encode()).hexdigest()[:12]})"


MANIFEST, TRAJECTORIES, WITH_PICTURES = "manifest.json", "trajectories.jsonl", "train.jsonl"
SCHEMA = "spec-o3/export/1"


class ExportFolder:
    """An export whose manifest has been read and agrees with this program."""

    def __init__(self, folder: Path, tools: ToolSchemas) -> None:
        """:raises DataError: no export, an incomplete or an empty one, or one of another tool or renderer"""
        self.folder = folder
        manifest = _manifest(folder / MANIFEST)
        where = str(folder / MANIFEST)
        if manifest.get("schema") != SCHEMA:
            raise DataError(
                tr(
                    "{where}: schema: found {get!r:.60}, expected {schema!r}",
                    where=where,
                    get=manifest.get("schema"),
                    schema=SCHEMA,
                )
            )
        tools.add(manifest.get("tool"), where)
        if manifest.get("renderer") != RENDERER:
            raise DataError(
                tr(
                    "{where}: renderer: found {get!r:.60}, expected {renderer!r}: pictures drawn differently "
                    "from those that the model will see; export again with this version",
                    where=where,
                    get=manifest.get("renderer"),
                    renderer=RENDERER,
                )
            )
        files = manifest.get("files")
        if not isinstance(files, Mapping):
            raise DataError(
                tr("{where}: files: found {name}, expected hashes by path", where=where, name=type(files).__name__)
            )
        self._hashes: Mapping[str, Any] = files
        if not manifest.get("items"):
            raise DataError(tr("{folder}: found an empty export, expected approved trajectories in it", folder=folder))

    def rows(self, pictures: bool = True) -> Iterator[tuple[Row, tuple[Path, ...]]]:
        """Yield every row with its picture files, all of which have been checked against the manifest.

        :param pictures: False leaves the pictures unread and unnamed
        :raises DataError: a file is missing, or is another than the manifest says
        """
        self._check(TRAJECTORIES)
        named = self._named_pictures() if pictures else None
        count = 0
        for count, row in enumerate(rows(self.folder / TRAJECTORIES), start=1):
            if named is not None and count > len(named):
                break
            yield row, () if named is None else named[count - 1]
        if not count or (named is not None and count != len(named)):
            expected = "rows" if named is None else f"{len(named)}, as {WITH_PICTURES} has"
            raise DataError(
                tr(
                    "{folder}: found {count} rows, expected {wanted}",
                    folder=self.folder / TRAJECTORIES,
                    count=count,
                    wanted=expected,
                )
            )

    def _named_pictures(self) -> list[tuple[Path, ...]]:
        self._check(WITH_PICTURES)
        named = []
        for row in rows(self.folder / WITH_PICTURES):
            images = row.values.get("images")
            if not isinstance(images, list):
                raise row.wrong(tr("images: found {images!r:.60}, expected paths", images=images))
            named.append(tuple(self._check(path) for path in images))
        return named

    def _check(self, name: object) -> Path:
        """Return the file of that name. :raises DataError: it is missing, or differs from the manifest"""
        expected = self._hashes.get(name) if isinstance(name, str) else None
        if not isinstance(name, str) or expected is None:
            raise DataError(
                tr(
                    "{folder}: files: found nothing for {name!r:.80}, expected its hash",
                    folder=self.folder / MANIFEST,
                    name=name,
                )
            )
        path = self.folder / name
        try:
            with path.open("rb") as file:
                digest = "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(
                tr("{path}: {value}; the export's manifest names it", path=path, value=error.strerror or error)
            ) from error
        if digest != expected:
            raise DataError(
                tr(
                    "{path}: found other bytes ({found:.19}…) than were exported ({wanted!s:.19}…); export again",
                    path=path,
                    found=digest,
                    wanted=expected,
                )
            )
        return path


def _manifest(path: Path) -> Mapping[str, Any]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            tr("{parent}: found no {name}: this export is not complete", parent=path.parent, name=path.name)
        ) from None
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(
            tr("{path}: found no JSON ({error}), expected the manifest of an export", path=path, error=error)
        ) from error
    if not isinstance(manifest, Mapping):
        raise DataError(tr("{path}: found {name}, expected an object", path=path, name=type(manifest).__name__))
    return manifest
