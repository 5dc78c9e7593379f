"""Export approved trajectories: a folder with training data and its provenance; docs/formats.md lists the files.

``manifest.json`` is written last: it marks a complete export. Worker processes draw the pictures; only this process
reads the database. Two exports of one state have the same bytes except for ``log_head.txt``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.plot import RENDERER
from agent.processes import ProcessLost, cores, ordered_map
from agent.tool import TOOL_SCHEMA
from agent.trajectory import SCHEMA as TRAJECTORY_SCHEMA
from agent.trajectory import Trajectory
from agent.trajectory.sharegpt import REVIEWED
from reviewer.exchange.dataset import CROISSANT, METADATA, UNKNOWN, DatasetRows, croissant, front_matter
from reviewer.exchange.imports import own_row
from reviewer.exchange.item import ApprovedItem, NotTrainable, pictures, read_approved
from reviewer.exchange.manifest import ManifestParts
from reviewer.store import TIME_DEFINITION, Store


@dataclass(frozen=True)
class LeftOut:
    """An approved item that cannot be training data, and why."""

    item_id: int
    reason: str


@dataclass(frozen=True)
class ItemRows:
    """The rows of one item. ``trl`` and ``own`` are lines; ``files`` has the hash of each picture file by its path in
    the export.
    """

    item_id: int
    sharegpt: Mapping[str, Any]
    trl: str
    own: str
    files: Mapping[str, str]
    provenance: Mapping[str, Any]


def write_item(part: Path, approved_item: ApprovedItem) -> ItemRows | LeftOut:
    """Write the pictures of an item to the folder ``part``, flushed to the disk; all of them or none.

    :raises OSError: the disk is full, or nothing can be written there
    """
    try:
        shown = pictures(approved_item)
    except NotTrainable as reason_unfit:
        return LeftOut(approved_item.item_id, reason_unfit.args[0])
    paths = [f"images/{approved_item.trajectory.task}_{approved_item.item_id}_{k}.png" for k in range(len(shown))]
    files = {path: write_file(part / path, picture.png) for path, picture in zip(paths, shown, strict=True)}
    stored = {p.sha256: path for p, path in zip(shown, paths, strict=True) if not p.drawn}
    return ItemRows(
        item_id=approved_item.item_id,
        sharegpt=_sharegpt_row(approved_item.trajectory, paths),
        trl=json.dumps(_trl_row(approved_item, paths), ensure_ascii=False),
        own=json.dumps(own_row(approved_item.trajectory, approved_item.spectrum, stored), ensure_ascii=False),
        files=files,
        provenance=approved_item.provenance,
    )


def write_file(path: Path, data: bytes) -> str:
    """Write a file, flushed to the disk; return its hash in the form of the manifest."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _sharegpt_row(trajectory: Trajectory, paths: Sequence[str]) -> dict[str, Any]:
    """Return the row; where no label is known, ``ground_truth`` is the answer that the reviewers approved."""
    row = trajectory.to_sharegpt(paths)
    if row["ground_truth"] is None and trajectory.answer is not None:
        row |= {"ground_truth": trajectory.answer.verdict, "label_source": REVIEWED}
    return row


def _trl_row(approved_item: ApprovedItem, paths: Sequence[str]) -> dict[str, Any]:
    trajectory = approved_item.trajectory
    return {
        "messages": trajectory.to_messages(),
        "images": list(paths),
        "item": approved_item.item_id,
        "task": trajectory.task,
        "label": trajectory.label,
        "simulated": trajectory.simulated,
        "drafter_kind": trajectory.drafter.kind,
    }


SCHEMA = "spec-o3/export/1"
MANIFEST = "manifest.json"
LOG_HEAD = "log_head.txt"
README = "README.md"
WORTH_PROCESSES = 60
"""Number of items from which several processes save more time than they take to start."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")

# LLaMA-Factory's names for the columns of a ShareGPT file.
_DATASET_INFO = {
    "spec_o3": {
        "file_name": "train_sharegpt.json",
        "formatting": "sharegpt",
        "columns": {"messages": "conversations", "images": "images"},
        "tags": {
            "role_tag": "from",
            "content_tag": "value",
            "user_tag": "human",
            "assistant_tag": "gpt",
            "system_tag": "system",
        },
    }
}


class ExportError(Refusal):
    """An export that was not made: what was found, what was expected. No file was changed."""

    kind = "export"
    status = 409


class NothingToExport(ExportError):
    """No approved item was found, or none that can be exported."""


@dataclass(frozen=True)
class Layout:
    """What an export is written as.

    :param schema: of its manifest
    :param write: writes items to a folder, and their files and provenance to the manifest; returns those left out
    """

    schema: str
    write: Callable[[Path, Iterable[ApprovedItem], ManifestParts], list[LeftOut]]


@dataclass(frozen=True)
class Exported:
    """A complete export. ``summary`` is its manifest without the lists of files and items."""

    folder: Path
    summary: dict[str, Any]
    left_out: tuple[LeftOut, ...]

    @property
    def manifest(self) -> dict[str, Any]:
        """Return the content of ``manifest.json``, which is as long as the export and read at each call."""
        manifest: dict[str, Any] = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        return manifest


def folder_of(store: Store) -> Path:
    """Return the folder of this campaign's exports: ``annotations-exports`` next to ``annotations.db``."""
    path = store.path.resolve()
    return path.with_name(f"{path.stem}-exports")


def export(
    store: Store,
    name: str,
    person: str | None = None,
    folder: Path | None = None,
    task: str | None = None,
    batch: str | None = None,
    include_simulated: bool = True,
    replace: bool = False,
    progress: Callable[[int, int], None] | None = None,
    processes: int | None = None,
    licence: str = UNKNOWN,
    layout: Layout | None = None,
) -> Exported:
    """Write the approved items to ``folder/name``.

    :param folder: by default ``folder_of(store)``, next to the database
    :param person: initials, for the list of exports in annotations.db; None: not listed. Items that this person
        scores in a blind session that is not closed are left out
    :param task: only this task's; ``batch`` only this import's
    :param replace: replace an export of that name, which stays until the new one is complete
    :param progress: called with the number of items done, and of all
    :param processes: number of processes that draw; by default one per core, or only this one for few items. The
        files do not depend on it
    :param licence: of the data set, an identifier of Hugging Face's list
    :param layout: by default training data, which alone is listed and uses ``processes`` and ``licence``
    :raises ExportError: the name cannot be used or is taken, there is nothing to export, or a process that
        drew was killed
    :raises OSError: the disk is full, or nothing can be written there; what was there is as it was
    """
    folder = folder or folder_of(store)
    target = _target_of(folder, name, replace)
    items, blind = _items_of(store, person, task, batch)
    if processes is None:
        processes = cores() if len(items) >= WORTH_PROCESSES else 1
    chosen = layout or Layout(SCHEMA, partial(_write_training, store, processes, licence))

    folder.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".part", dir=folder))
    try:
        with ManifestParts(part) as parts:
            approved = _approved(store, items, include_simulated, progress)
            left_out = [*chosen.write(part, approved, parts), *blind]
            if not parts.items:
                raise NothingToExport(_nothing_to_export(len(items) + len(blind), left_out))
            summary = {"schema": chosen.schema, **_summary(store, parts, left_out)}
            parts.write(part / MANIFEST, summary)
        put_in_place(part, target)
    except ProcessLost as lost:
        raise ExportError(tr("{target}: no export was made: {lost}", target=target, lost=lost)) from lost
    finally:
        shutil.rmtree(part, ignore_errors=True)
    exported = Exported(target, summary, tuple(left_out))
    if person is not None and layout is None:
        store.settings.record_export(person, name, exported.manifest)
    return exported


def _items_of(store: Store, person: str | None, task: str | None, batch: str | None) -> tuple[list[int], list[LeftOut]]:
    """Return the approved items that a person may export, and those hidden from them."""
    if person is not None:
        store.accounts.person(person)
    items = store.queue.approved(task, batch)
    # An export names the drafters, so a blind scorer gets it without the items to score.
    hidden = store.blind.scoring.hidden_items(person) if person is not None else frozenset()
    blind = [LeftOut(item, deferred("you score it in a blind session")) for item in items if item in hidden]
    return [item for item in items if item not in hidden], blind


def _approved(
    store: Store,
    items: Sequence[int],
    include_simulated: bool,
    progress: Callable[[int, int], None] | None,
) -> Iterator[ApprovedItem]:
    """Yield each item when it is requested: with several processes a few before its turn."""
    for number, item_id in enumerate(items):
        if progress is not None:
            progress(number, len(items))
        rows = read_approved(store, item_id)
        if rows is not None and (include_simulated or not rows.trajectory.simulated):
            yield rows


def check_name(name: str) -> None:
    """Check the name of the folder of an export or a catalogue. :raises ExportError: it cannot be used"""
    if not _NAME.fullmatch(name) or len(name) > 80:
        raise ExportError(
            tr("name: found {name!r:.80}, expected letters, digits, -, _ and single dots, 80 at most", name=name)
        )


def _target_of(folder: Path, name: str, replace: bool) -> Path:
    """Return the folder of a new export. :raises ExportError: the name cannot be used or is taken"""
    check_name(name)
    target = folder / name
    if target.is_symlink() or target.is_file():
        raise ExportError(tr("{target}: found a file, expected a new name", target=target))
    if target.exists() and not replace:
        raise ExportError(tr("{target}: found an export of that name; choose another, or replace it", target=target))
    if target.exists() and not (target / MANIFEST).is_file():
        raise ExportError(tr("{target}: found a folder that is no export; it will not be replaced", target=target))
    return target


def _nothing_to_export(items: int, left_out: Sequence[LeftOut]) -> str:
    if not left_out:
        return tr("found no approved item that matches, expected at least one")
    why = "; ".join(tr("item {item}: {reason}", item=row.item_id, reason=tr(row.reason)) for row in left_out[:3])
    return tr("found no approved item that can be exported, of {n} approved ({why})", n=items, why=why)


def _write_training(
    store: Store, processes: int, licence: str, part: Path, approved: Iterable[ApprovedItem], parts: ManifestParts
) -> list[LeftOut]:
    """Write every row and the files that describe them; return the items without a row."""
    (part / "images").mkdir()
    left_out = []
    names = ("train_sharegpt.json", "train.jsonl", "trajectories.jsonl")
    with ExitStack() as files:
        sharegpt, trl, own = (files.enter_context(_text_file(part / name)) for name in names)
        table = files.enter_context(DatasetRows(part / METADATA))
        for rows in files.enter_context(closing(ordered_map(partial(write_item, part), approved, processes))):
            if isinstance(rows, LeftOut):
                left_out.append(rows)
                continue
            row = {**rows.sharegpt, "sample_index": parts.items, "item": rows.item_id}
            sharegpt.write(",\n" if parts.items else "[\n")
            sharegpt.write(json.dumps(row, ensure_ascii=False))
            trl.write(rows.trl + "\n")
            own.write(rows.own + "\n")
            table.add(rows.sharegpt, rows.item_id, rows.provenance["verdict"])
            parts.add_files(rows.files)
            parts.add_item(rows.provenance)
        sharegpt.write("\n]\n")
    write_text(part / "dataset_info.json", json.dumps(_DATASET_INFO, indent=1) + "\n")
    readme = Path(__file__).with_name("readme.md").read_text(encoding="utf-8")
    write_text(part / README, front_matter(licence, parts.items) + readme)
    write_text(part / CROISSANT, croissant(licence, file_hash(part / METADATA).removeprefix("sha256:")))
    described = (METADATA, CROISSANT, "dataset_info.json", README)
    parts.add_files({name: file_hash(part / name) for name in (*names, *described)})
    write_text(part / LOG_HEAD, f"{store.log.head()}\n")
    return left_out


def _summary(store: Store, parts: ManifestParts, left_out: Sequence[LeftOut]) -> dict[str, Any]:
    return {
        "trajectory_schema": TRAJECTORY_SCHEMA,
        "tool": TOOL_SCHEMA,
        "renderer": RENDERER,
        "rules": asdict(store.settings.rules()),
        "people": sorted(parts.people),
        "one_person": parts.one_person,
        "counts": parts.counts,
        "time": {
            "definition": TIME_DEFINITION,
            "by_round": {
                name: {"decisions": spent.decisions, "median_seconds": round(spent.median_seconds, 1)}
                for name, spent in store.statistics.time_by_round(parts.ids).items()
            },
        },
        "left_out": [{"item": row.item_id, "reason": row.reason} for row in left_out],
    }


def file_hash(path: Path) -> str:
    """Return the hash of a file in the form of the manifest."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def _text_file(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", newline="\n")


def write_text(path: Path, text: str) -> None:
    with _text_file(path) as file:
        file.write(text)


def put_in_place(part: Path, target: Path) -> None:
    """Flush the folder to the disk, then rename it. A replaced export is restored if that fails."""
    # The processes have flushed the pictures; their directory entries are flushed here.
    for path in (*part.glob("*"), part):
        flush(path)
    # mkdtemp makes private folders; an export is for others.
    part.chmod(0o755)
    old = part.with_suffix(".old")
    if target.exists():
        target.rename(old)
    try:
        part.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
    flush(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def flush(path: Path) -> None:
    """Flush a file or folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
