"""Routes of exports and catalogues: making them, their downloads as a zip, and the tables of the campaign."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from agent.language import tr
from reviewer.catalogue import bundle
from reviewer.catalogue.facts import HIDDEN, CatalogueError, Facts, Wish
from reviewer.exchange import tables
from reviewer.exchange.exports import MANIFEST, check_name, folder_of
from reviewer.rules.people import Person
from reviewer.store import Export, NotAllowed, NotFound, Store
from reviewer.web.access import may_manage
from reviewer.web.background.exporting import CatalogueWish, Exporting, ExportWish
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models import exports as answers
from reviewer.web.models import media
from reviewer.web.reports import export_in_words
from reviewer.web.requests import ItemNumber, Sent
from reviewer.web.visibility import VisibleDep, VisibleItems

router = APIRouter(prefix="/api/v1")

_TYPES = {"csv": "text/csv; charset=utf-8", "fits": "application/fits", "vot": "application/x-votable+xml"}
_PIECE = 1 << 16


def manager(person: PersonDep, context: ContextDep) -> Person:
    """Return the person who sent the request. :raises NotAllowed: they may not add, import and export"""
    if not may_manage(person, context.store):
        raise NotAllowed(
            tr(
                "Only a {roles} can do this; {person} is {theirs}.",
                roles=tr("coordinator"),
                person=person.initials,
                theirs=tr(", ").join(tr(role) for role in sorted(person.roles)),
            )
        )
    return person


ManagerDep = Annotated[Person, Depends(manager)]


class ExportRequest(Sent):
    """An export to make. ``simulated``: with simulated spectra; ``replace``: one of this name may be replaced."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    task: str | None = None
    batch: str | None = None
    simulated: bool = True
    replace: bool = False


class CatalogueRequest(Sent):
    """A catalogue to make of the items of a class, or of those of them in a saved view."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    task: Annotated[str, Field(max_length=100)]
    view: ItemNumber | None = None
    simulated: bool = False
    replace: bool = False
    title: Annotated[str, Field(max_length=300)] = ""
    authors: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=500)] = ()
    licence: Annotated[str, Field(max_length=200)] = ""


@router.get("/exports")
def exports(person: PersonDep, context: ContextDep) -> answers.ExportList:
    """The exports of the campaign, newest first, with the numbers of what is in them."""
    folder = folder_of(context.store) if may_manage(person, context.store) else None
    return answers.ExportList(
        exports=[
            answers.ExportListed(
                id=export.id,
                name=export.name,
                person=export.person,
                at=export.at,
                counts=export.manifest.get("counts", {}),
                words=export_in_words(export.manifest),
                folder=str(folder / export.name) if folder and (folder / export.name / MANIFEST).is_file() else None,
            )
            for export in reversed(context.store.settings.exports())
        ]
    )


@router.post("/exports")
def export(person: ManagerDep, request: Request, sent: ExportRequest) -> answers.ExportState:
    """Start to export the approved items; ``GET /api/v1/exports/status`` says when it is done."""
    exporting: Exporting = request.app.state.exporting
    return answers.ExportState.model_validate(exporting.start(person.initials, ExportWish(**sent.model_dump())))


@router.get("/exports/status")
def status(person: ManagerDep, request: Request) -> answers.ExportState | answers.NoExport:
    """How far the last export is that a script started: ``state`` is "running", "done", "failed" or "none"."""
    exporting: Exporting = request.app.state.exporting
    if exporting.status is None:
        return answers.NoExport(state="none")
    return answers.ExportState.model_validate(exporting.status)


@router.get("/exports/{export_id}/manifest", responses={200: {"model": answers.ExportManifest}})
def manifest(context: ContextDep, visible: VisibleDep, export_id: int) -> Response:
    """The manifest of an export, as it was recorded when it was made."""
    export = _export(context.store, visible, export_id)
    text = json.dumps(export.manifest, ensure_ascii=False, indent=1) + "\n"
    return Response(text, media_type="application/json", headers=_named(f"{export.name}-manifest.json"))


@router.get("/exports/{export_id}/zip", **media("application/zip"))
def zipped(person: ManagerDep, context: ContextDep, visible: VisibleDep, export_id: int) -> Response:
    """The files of an export as a zip, sent while it is packed.

    :raises NotFound: the folder is gone, is elsewhere, or was replaced by another export of that name
    """
    export = _export(context.store, visible, export_id)
    folder = folder_of(context.store) / export.name
    if not _is_of(folder, export):
        raise NotFound(
            tr(
                "{folder}: found no files of the export {name!r} of {at:%Y-%m-%d %H:%M}, expected those with "
                "its manifest. The folder was moved, deleted, or replaced by a later export; export again.",
                folder=folder,
                name=export.name,
                at=export.at,
            )
        )
    return _zip(folder)


@router.get("/catalogues")
def catalogues(person: ManagerDep, context: ContextDep, request: Request) -> answers.CatalogueList:
    """How far the last catalogue is that was started since the server was, and the names of those that are complete."""
    exporting: Exporting = request.app.state.exporting
    complete = bundle.folder_of(context.store).glob(f"[!.]*/{bundle.CRATE}")
    return answers.CatalogueList.model_validate(
        {"last": exporting.catalogue, "catalogues": sorted(path.parent.name for path in complete)}
    )


@router.post("/catalogues")
def make_catalogue(
    person: ManagerDep, context: ContextDep, request: Request, sent: CatalogueRequest
) -> answers.CatalogueState:
    """Start to make a catalogue of decided items; ``GET /api/v1/catalogues`` says when it is done."""
    task = context.tasks.get(sent.task)
    if task is None:
        names = ", ".join(context.tasks)
        raise CatalogueError(tr("task: found {task!r:.100}, expected one of {names}", task=sent.task, names=names))
    wish = Wish(task, sent.view, sent.simulated, sent.title, sent.authors, sent.licence)
    exporting: Exporting = request.app.state.exporting
    status = exporting.start_catalogue(person.initials, CatalogueWish(sent.name, wish, sent.replace))
    return answers.CatalogueState.model_validate(status)


@router.get("/catalogues/{name}/zip", **media("application/zip"))
def zipped_catalogue(person: ManagerDep, context: ContextDep, visible: VisibleDep, name: str) -> Response:
    """The files of a catalogue as a zip, sent while it is packed.

    :raises NotFound: there is no catalogue of this name
    :raises NotAllowed: it says of an item what is withheld from the person
    """
    check_name(name)
    folder = bundle.folder_of(context.store) / name
    if not (folder / bundle.CRATE).is_file():
        raise NotFound(tr("{folder}: found no {name}, expected a catalogue", folder=folder, name=bundle.CRATE))
    for item in Facts.read(folder).items:
        if item["out"] != HIDDEN:
            visible.require(item["item"])
    return _zip(folder)


@router.get("/tables/{name}.{kind}", **media(*_TYPES.values()))
def table(
    person: ManagerDep,
    context: ContextDep,
    name: Literal["decisions", "inspections", "inspections-merged"],
    kind: tables.Format,
    bom: bool = False,
) -> Response:
    """A table of the campaign, as far as this person may see it. With ``bom=1``, CSV begins with a byte-order mark, so
    that Excel reads it as UTF-8.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.{kind}"
        tables.table(context.store, name, person.initials).write(path, kind, bom)
        return Response(path.read_bytes(), media_type=_TYPES[kind], headers=_named(path.name))


def _zip(folder: Path) -> Response:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return StreamingResponse(_packed(folder, files), media_type="application/zip", headers=_named(f"{folder.name}.zip"))


def _export(store: Store, visible: VisibleItems, export_id: int) -> Export:
    export = store.settings.export(export_id)
    for item in export.manifest.get("items", ()):
        visible.require(item["item"])
    return export


def _is_of(folder: Path, export: Export) -> bool:
    try:
        return bool(json.loads((folder / MANIFEST).read_text(encoding="utf-8")) == export.manifest)
    except (OSError, ValueError):
        return False


def _named(name: str) -> dict[str, str]:
    # An export's name consists of letters, digits, dots and dashes: nothing in it can end the header.
    return {"Content-Disposition": f'attachment; filename="{name}"'}


class _Pieces:
    """A file that only collects what is written, for ``zipfile``; it cannot be read or searched."""

    def __init__(self) -> None:
        self._held = bytearray()

    def write(self, data: bytes) -> int:
        self._held += data
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def taken(self) -> bytes:
        held = bytes(self._held)
        self._held.clear()
        return held


def _packed(folder: Path, files: list[Path]) -> Iterator[bytes]:
    """Yield the bytes of a zip with these files in a folder of the export's name; one piece is in memory at a time."""
    pieces = _Pieces()
    with zipfile.ZipFile(pieces, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files:
            inside = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
            # Pictures are compressed already.
            inside.compress_type = zipfile.ZIP_STORED if path.suffix == ".png" else zipfile.ZIP_DEFLATED
            with path.open("rb") as source, packed.open(inside, "w") as entry:
                while piece := source.read(_PIECE):
                    entry.write(piece)
                    yield pieces.taken()
    yield pieces.taken()
