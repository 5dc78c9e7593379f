"""One approved item written into an export: its pictures as files, its rows as text. Needs no database."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.messages import to_messages
from reviewer.approved import Approved, NotFit, pictures
from reviewer.drafts import own_row


@dataclass(frozen=True)
class LeftOut:
    """An approved item that cannot be training data, and why."""

    item_id: int
    reason: str


@dataclass(frozen=True)
class Written:
    """What has been made of an item. ``trl`` and ``own`` are lines; ``files`` has the hash of each picture's
    file by its path in the export."""

    item_id: int
    sharegpt: Mapping[str, Any]
    trl: str
    own: str
    files: Mapping[str, str]
    provenance: Mapping[str, Any]


def write_item(part: Path, one: Approved) -> Written | LeftOut:
    """Write the pictures of an item to the folder ``part``, flushed to the disk; all of them or none.

    :raises OSError: the disk is full, or nothing can be written there
    """
    try:
        shown = pictures(one)
    except NotFit as unfit:
        return LeftOut(one.item_id, str(unfit))
    paths = [f"images/{one.trajectory.task}_{one.item_id}_{k}.png" for k in range(len(shown))]
    for path, picture in zip(paths, shown, strict=True):
        _write(part / path, picture.png)
    stored = {p.sha256: path for p, path in zip(shown, paths, strict=True) if not p.drawn}
    return Written(
        item_id=one.item_id,
        sharegpt=one.trajectory.to_sharegpt(paths),
        trl=json.dumps(_trl_row(one, paths), ensure_ascii=False),
        own=json.dumps(own_row(one.trajectory, one.spectrum, stored), ensure_ascii=False),
        files={path: _digest(picture.png) for path, picture in zip(paths, shown, strict=True)},
        provenance=one.provenance,
    )


def _digest(data: bytes) -> str:
    """The hash of a file as the manifest says it."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _trl_row(one: Approved, paths: Sequence[str]) -> dict[str, Any]:
    trajectory = one.trajectory
    return {
        "messages": to_messages(trajectory),
        "images": list(paths),
        "item": one.item_id,
        "task": trajectory.task,
        "label": trajectory.label,
        "simulated": trajectory.simulated,
        "drafter_kind": trajectory.drafter.kind,
    }
