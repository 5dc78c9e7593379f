"""``manifest.json`` of a plain archive: which tables, how many rows, and the SHA-256 of each file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reviewer.backup.backups import BadArchive
from reviewer.store import Head

FORMAT = "spec-o3/archive/1"
NAME = "manifest.json"
PICTURES = "pictures"
_LONGEST = 10_000_000  # bytes; a manifest has a line for each table


@dataclass(frozen=True)
class TableFile:
    """What the manifest says of a table's file."""

    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What an archive holds. ``head``: of the audit log, None for a database from before it."""

    at: str
    schema: int
    head: Head | None
    left_out: tuple[str, ...]
    tables: Mapping[str, TableFile]

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "at": self.at,
            "schema": self.schema,
            "log_head": None if self.head is None else str(self.head),
            "left_out": list(self.left_out),
            "tables": {
                name: {"file": file_of(name), "rows": one.rows, "bytes": one.bytes, "sha256": one.sha256}
                for name, one in self.tables.items()
            },
        }


def file_of(table: str) -> str:
    return f"{table}.jsonl"


def read_manifest(folder: Path) -> Manifest:
    """What is in an archive. :raises BadArchive: there is none, or it is not as this program writes it"""
    path = folder / NAME
    try:
        if path.is_symlink() or not path.is_file():
            raise BadArchive(f"{folder}: found no {NAME} in it, wanted the folder of a plain archive")
        if path.stat().st_size > _LONGEST:
            raise BadArchive(f"{path}: found {path.stat().st_size} bytes, wanted a manifest")
        told = json.loads(path.read_bytes())
        if told["format"] != FORMAT:
            raise BadArchive(f"{path}: format: found {told['format']!r:.60}, wanted {FORMAT!r}")
        head = told["log_head"]
        return Manifest(
            at=str(told["at"]),
            schema=_whole(told["schema"]),
            head=None if head is None else Head.parse(head),
            left_out=tuple(map(str, told["left_out"])),
            tables={str(name): _table(str(name), one) for name, one in told["tables"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadArchive(f"{path}: it is not as this program writes it ({error!r:.200})") from error


def _table(name: str, told: Mapping[str, Any]) -> TableFile:
    if told["file"] != file_of(name):
        raise BadArchive(f"{NAME}: {name}: found the file {told['file']!r:.80}, wanted {file_of(name)!r:.80}")
    return TableFile(_whole(told["rows"]), _whole(told["bytes"]), str(told["sha256"]))


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"found {value!r:.40}, wanted a whole number")
    return value
