"""The inputs of a training run as its lineage records them: names, hashes, counts. No path and no person's name."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent.tasks.specvi import Part
from training.data.export_folder import MANIFEST, TRAJECTORIES
from training.data.reading import PUBLISHED
from training.data.specvi import files_in

_HUB_CACHE = re.compile(r"datasets--([^/]+)--([^/]+)")
"""A folder of the Hugging Face cache."""


def inputs(paths: Iterable[str | Path], part: Part = "train") -> list[dict[str, Any]]:
    """Return one record for each file or export that ``paths`` name; one that is not there is left out.

    A file: ``name``, ``kind``, ``bytes``, ``sha256``, and ``dataset`` if it is in the cache of the Hugging Face hub. An
    export: the hash of its manifest, which has those of its files, ``traces``, and as numbers only ``reviewers``,
    ``decisions`` and the traces approved by one person. A folder of spectra: ``files`` and ``bytes``, without a hash.

    :param part: the files of a folder of SpecVI-Bench that are read
    :raises OSError: a file cannot be read
    """
    return [record for path in paths for record in _records(Path(path).expanduser(), part)]


def _records(path: Path, part: Part) -> list[dict[str, Any]]:
    if path.is_file():
        return [_file(path)]
    if not path.is_dir():
        return []
    if (path / MANIFEST).is_file():
        return [_export(path)]
    for name in (TRAJECTORIES, PUBLISHED):
        if (path / name).is_file():
            return [_file(path / name)]
    if tables := files_in(path, part):
        return [_file(table) for table in tables]
    sizes = [file.stat().st_size for file in path.rglob("*") if file.is_file()]
    return [{"name": path.resolve().name, "kind": "folder", "files": len(sizes), "bytes": sum(sizes)}]


def _file(path: Path) -> dict[str, Any]:
    record = {"name": path.name, "kind": "file", "bytes": path.stat().st_size, "sha256": _sha256(path)}
    # Not resolved: files of the cache are links to files with a hash as name.
    cached = _HUB_CACHE.search(str(path.absolute()))
    return record | {"dataset": f"{cached[1]}/{cached[2]}"} if cached else record


def _export(folder: Path) -> dict[str, Any]:
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    counts, items = manifest.get("counts", {}), manifest.get("items", [])
    return {
        "name": folder.resolve().name,
        "kind": "export",
        "sha256": _sha256(folder / MANIFEST),
        "traces": counts.get("items", len(items)),
        "reviewers": len(manifest.get("people", [])),
        "decisions": sum(len(item.get("decisions", [])) for item in items),
        "by_one_person": counts.get("by_one_person", 0),
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
