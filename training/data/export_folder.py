"""An export folder as ``spec-o3 export`` writes it: what it is believed for, and what is checked first.

``manifest.json`` is written last and has the SHA-256 of every file, so a folder without it is no whole export
and a file that was changed since is found before a single row of it is learned from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent.plot import RENDERER
from training.data.records import DataError
from training.data.rows import Row, rows
from training.data.tool_schemas import ToolSchemas

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
            raise DataError(f"{where}: schema: found {manifest.get('schema')!r:.60}, wanted {SCHEMA!r}")
        tools.meet(manifest.get("tool"), where)
        if manifest.get("renderer") != RENDERER:
            raise DataError(
                f"{where}: renderer: found {manifest.get('renderer')!r:.60}, wanted {RENDERER!r}: pictures "
                "drawn otherwise than the model will be shown them; export again with this version"
            )
        files = manifest.get("files")
        if not isinstance(files, Mapping):
            raise DataError(f"{where}: files: found {type(files).__name__}, wanted hashes by path")
        self._hashes: Mapping[str, Any] = files
        if not manifest.get("items"):
            raise DataError(f"{folder}: found an empty export, wanted approved trajectories in it")

    def rows(self, pictures: bool = True) -> Iterator[tuple[Row, tuple[Path, ...]]]:
        """Every row of ours with its picture files, all of which have been checked against the manifest.

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
            wanted = "rows" if named is None else f"{len(named)}, as {WITH_PICTURES} has"
            raise DataError(f"{self.folder / TRAJECTORIES}: found {count} rows, wanted {wanted}")

    def _named_pictures(self) -> list[tuple[Path, ...]]:
        self._check(WITH_PICTURES)
        named = []
        for row in rows(self.folder / WITH_PICTURES):
            images = row.values.get("images")
            if not isinstance(images, list):
                raise row.wrong(f"images: found {images!r:.60}, wanted paths")
            named.append(tuple(self._check(path) for path in images))
        return named

    def _check(self, name: object) -> Path:
        """The file of that name. :raises DataError: it is missing, or another than was exported"""
        wanted = self._hashes.get(name) if isinstance(name, str) else None
        if not isinstance(name, str) or wanted is None:
            raise DataError(f"{self.folder / MANIFEST}: files: found nothing for {name!r:.80}, wanted its hash")
        path = self.folder / name
        try:
            with path.open("rb") as file:
                found = "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}; the export's manifest names it") from error
        if found != wanted:
            raise DataError(
                f"{path}: found other bytes ({found:.19}…) than were exported ({wanted!s:.19}…); export again"
            )
        return path


def _manifest(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path.parent}: found no {path.name}: this export is not complete") from None
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: found no JSON ({error}), wanted the manifest of an export") from error
    if not isinstance(found, Mapping):
        raise DataError(f"{path}: found {type(found).__name__}, wanted an object")
    return found
