"""The bundle of a catalogue: a folder, described as an RO-Crate, from whose ``data/`` everything else is recomputed.

``build`` writes it at once or not at all; two builds of one state of the database have the same bytes. ``verify``
makes every file anew and names what differs.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from agent.errors import Refusal
from agent.language import tr
from agent.tasks import Task
from reviewer.catalogue import facts as given
from reviewer.catalogue import methods, pictures, tables
from reviewer.catalogue.facts import CatalogueError, Facts, Wish, collect
from reviewer.catalogue.objects import Rows
from reviewer.catalogue.references import Bibliography, Cited
from reviewer.exchange.exports import file_hash, flush, put_in_place, write_text
from reviewer.store import Store

CRATE = "ro-crate-metadata.json"
MOST_NAMED = 20
"""Differences of a file that are named."""
_MEDIA = {
    ".csv": "text/csv",
    ".vot": "application/x-votable+xml",
    ".fits": "application/fits",
    ".txt": "text/plain",
    ".dat": "text/plain",
    ".md": "text/markdown",
    ".bib": "application/x-bibtex",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
}
_ABOUT = {
    "catalogue.csv": "The objects, one per row",
    "catalogue.vot": "The objects and their spectra as a VOTable with UCDs, units, COOSYS and TIMESYS",
    "catalogue.fits": "The objects and their spectra as FITS tables",
    "catalogue_mrt.txt": "The objects as a machine-readable table of the AAS",
    "cds/ReadMe": "Description of the tables of CDS, byte by byte",
    "cds/catalog.dat": "The objects in the form of CDS",
    "cds/spectra.dat": "The spectra in the form of CDS",
    "spectra.csv": "All spectra of the objects, with their hashes",
    "left_out.csv": "Selected items that are no rows, and why",
    "methods.md": "Methods text with the numbers in it",
    "numbers.json": "Every number of the methods text",
    "references.bib": "Bibliography of everything that was used",
    "README.md": "What is in this folder",
    given.CAMPAIGN: "Selection, rules, certificates and versions of programs",
    given.ITEMS: "Every selected item: its object, what people decided, and what is left out",
    given.SPECTRA: "The spectra that are measured and drawn",
    given.SKY: "Records of catalogues about these spectra",
}

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Built:
    """A complete bundle. ``numbers`` are those of the methods text."""

    folder: Path
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class Difference:
    """A file, or a place in it, that is not what the data give.

    :param place: row and column, line, key or pixel; "": the whole file
    """

    path: str
    place: str
    actual: str
    expected: str

    def __str__(self) -> str:
        where = f"{self.path}, {self.place}" if self.place else self.path
        return tr(
            "{where}: found {actual}, expected {expected}", where=where, actual=self.actual, expected=self.expected
        )


def folder_of(store: Store) -> Path:
    """Return the folder of this campaign's catalogues: ``annotations-catalogues`` next to ``annotations.db``."""
    path = store.path.resolve()
    return path.with_name(f"{path.stem}-catalogues")


def build(
    store: Store,
    wish: Wish,
    target: Path,
    person: str | None = None,
    replace: bool = False,
    progress: OnProgress | None = None,
) -> Built:
    """Write the catalogue of the present state of the database to the folder ``target``.

    :param person: as for ``collect``
    :param replace: a catalogue there may be replaced; it stays until the new catalogue is complete
    :param progress: called with the number of pictures drawn, and of all: 0 and 0 while the facts are read
    :raises CatalogueError: the folder is taken, or there is no row
    :raises OSError: the disk is full, or nothing can be written there; what was there is as it was
    """
    if target.exists() and not (replace and (target / CRATE).is_file()):
        actual = tr("a catalogue") if (target / CRATE).is_file() else tr("a folder or file that is no catalogue")
        raise CatalogueError(tr("{target}: found {actual}, expected a new name", target=target, actual=actual))
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    try:
        collect(store, wish, part, person, (lambda: None) if progress is None else partial(progress, 0, 0))
        numbers = derive(part, part, progress)
        for path in part.rglob("*"):
            flush(path)
        put_in_place(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return Built(target, numbers)


def derive(source: Path, out: Path, progress: OnProgress | None = None) -> dict[str, Any]:
    """Make every file of a bundle but ``data/`` from the facts in ``source``; return the numbers of the text."""
    rows = Rows.of(Facts.read(source))
    cited = Cited.of(rows)
    bibliography = Bibliography.of(cited.all)
    numbers = methods.numbers_of(rows)
    text = methods.methods_text(rows, numbers, cited, bibliography)
    summary = methods.abstract(rows, numbers)
    write_text(out / "numbers.json", json.dumps(numbers, ensure_ascii=False, indent=1) + "\n")
    write_text(out / "methods.md", text)
    write_text(out / "references.bib", bibliography.bibtex())
    tables.write_tables(rows, out, summary, methods.paragraphs(text))
    pictures.draw(rows, out, progress)
    write_text(out / "README.md", _readme(rows, summary))
    write_text(out / CRATE, json.dumps(_crate(rows, source, out, summary), ensure_ascii=False, indent=1) + "\n")
    return numbers


def _readme(rows: Rows, summary: str) -> str:
    named = "\n".join(f"| `{path}` | {about} |" for path, about in _ABOUT.items())
    return (
        f"# {rows.facts.campaign['title']}\n\n{summary}\n\n| file | content |\n|---|---|\n{named}\n"
        f"| `{pictures.FIGURES}/` | one figure per object, numbered as in the table, with the windows of the trace |\n"
        f"| `{pictures.GALLERY}/` | pages of {pictures.PER_PAGE} objects |\n\n"
        "`spec-o3 catalogue verify FOLDER` makes each file anew from `data/` and names what differs.\n"
    )


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _crate(rows: Rows, source: Path, out: Path, summary: str) -> dict[str, Any]:
    """Return the metadata of an RO-Crate 1.1 (w3id.org/ro/crate/1.1), with the SHA-256 of each file."""
    campaign = rows.facts.campaign
    in_data = {path: source / path for path in (given.CAMPAIGN, given.ITEMS, given.SPECTRA, given.SKY)}
    derived = {path: out / path for path in _files(out) if path != CRATE and path not in in_data}
    files = [_entity(path, where) for path, where in sorted((derived | in_data).items())]
    people = [{"@id": f"#author-{n}", "@type": "Person", "name": name} for n, name in enumerate(campaign["authors"], 1)]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": campaign["title"],
        "description": summary,
        "datePublished": campaign["decided_until"][:10] or "1970-01-01",
        "license": campaign["licence"] or "not stated",
        "author": _references(people),
        "hasPart": _references(files),
        "mentions": [{"@id": "#build"}],
    }
    program = {
        "@id": "#spec-o3",
        "@type": "SoftwareApplication",
        "name": "spec-o3",
        "softwareVersion": campaign["versions"]["spec-o3"],
        "softwareRequirements": ", ".join(f"{name} {text}" for name, text in campaign["versions"].items()),
    }
    action = {
        "@id": "#build",
        "@type": "CreateAction",
        "name": "spec-o3 catalogue",
        "instrument": {"@id": "#spec-o3"},
        "object": [{"@id": path} for path in in_data],
        "result": [{"@id": path} for path in sorted(derived)],
    }
    about = {"@id": "https://w3id.org/ro/crate/1.1"}
    descriptor = {"@id": CRATE, "@type": "CreativeWork", "conformsTo": about, "about": {"@id": "./"}}
    return {
        "@context": "https://w3id.org/ro/crate/1.1/context",
        "@graph": [descriptor, root, *people, program, action, *files],
    }


def _references(entities: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    return [{"@id": entity["@id"]} for entity in entities]


def _entity(path: str, file: Path) -> dict[str, Any]:
    kind = path.split("/")[0]
    about = {pictures.FIGURES: "Spectrum of an object with the windows of its trace", pictures.GALLERY: "Gallery page"}
    return {
        "@id": path,
        "@type": "File",
        "name": _ABOUT.get(path) or about[kind],
        "encodingFormat": _MEDIA.get(file.suffix, "text/plain"),
        "contentSize": str(file.stat().st_size),
        "sha256": file_hash(file).removeprefix("sha256:"),
    }


# ---- verifying


def verify(folder: Path, progress: OnProgress | None = None) -> list[Difference]:
    """Make every file anew from ``folder/data`` and return what differs, file by file; [] if nothing does.

    :raises CatalogueError: there is no bundle, or its data cannot be read
    """
    if not (folder / CRATE).is_file():
        raise CatalogueError(tr("{folder}: found no {name}, expected a catalogue", folder=folder, name=CRATE))
    differences = _versions(Facts.read(folder).campaign["versions"])
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        try:
            derive(folder, out, progress)
        except (Refusal, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            return [*differences, *_changed_data(folder), _damaged(error)]
        expected = {*_files(out), given.CAMPAIGN, given.ITEMS, given.SPECTRA, given.SKY}
        present = set(_files(folder))
        differences += [Difference(path, "", tr("no file"), tr("a file")) for path in sorted(expected - present)]
        differences += [
            Difference(path, "", tr("a file"), tr("no file of that name")) for path in sorted(present - expected)
        ]
        differences += _changed_data(folder)
        for path in sorted(set(_files(out)) & present):
            differences += _compared(path, (folder / path).read_bytes(), (out / path).read_bytes())
    return differences


def _damaged(error: Exception) -> Difference:
    reason = str(error) if isinstance(error, Refusal) else f"{type(error).__name__}: {error}"
    return Difference(f"{given.DATA}/", "", reason, tr("data from which a catalogue can be made"))


def _versions(stated: Mapping[str, str]) -> list[Difference]:
    """Return which programs are other releases here: their pictures may differ."""
    here = given.versions()
    return [
        Difference(given.CAMPAIGN, f"versions.{name}", version, here.get(name, tr("none")))
        for name, version in stated.items()
        if here.get(name) != version
    ]


def _changed_data(folder: Path) -> list[Difference]:
    """Return the files of ``data/`` that have not the hash in the RO-Crate."""
    try:
        graph = json.loads((folder / CRATE).read_bytes())["@graph"]
        stated = {entity["@id"]: str(entity.get("sha256")) for entity in graph}
    except (ValueError, KeyError, TypeError) as error:
        return [Difference(CRATE, "", str(error), tr("the metadata of an RO-Crate"))]
    files = [path for path in _files(folder) if path.startswith(f"{given.DATA}/")]
    hashes = {path: file_hash(folder / path).removeprefix("sha256:") for path in files}
    return [
        Difference(path, "sha256", sha256, stated.get(path, tr("no file of that name")))
        for path, sha256 in hashes.items()
        if stated.get(path) != sha256
    ]


def _compared(path: str, actual: bytes, expected: bytes) -> list[Difference]:
    """Return what differs between two contents of a file."""
    if actual == expected:
        return []
    suffix = Path(path).suffix
    if suffix == ".png":
        return _pixels(path, actual, expected)
    if suffix in (".pdf", ".fits"):
        return [Difference(path, _byte(actual, expected), f"{len(actual)} bytes", tr("those of a new file"))]
    texts = actual.decode("utf-8", "replace"), expected.decode("utf-8", "replace")
    named = list(_cells(path, *texts) if suffix == ".csv" else _text_lines(path, *texts))
    # Another end of line or quoting is a change too.
    return named[:MOST_NAMED] or [
        Difference(path, _byte(actual, expected), tr("other bytes"), tr("those of a new file"))
    ]


def _byte(actual: bytes, expected: bytes) -> str:
    at = next(
        (n for n, (a, b) in enumerate(zip(actual, expected, strict=False)) if a != b), min(len(actual), len(expected))
    )
    return tr("byte {n}", n=at)


def _pixels(path: str, actual: bytes, expected: bytes) -> list[Difference]:
    from PIL import Image

    try:
        images = [np.asarray(Image.open(io.BytesIO(data)).convert("RGBA")) for data in (actual, expected)]
    except Exception as error:  # Pillow raises many kinds over a damaged file
        return [Difference(path, "", str(error), tr("a picture"))]
    if images[0].shape != images[1].shape:
        return [Difference(path, tr("size"), str(images[0].shape[:2]), str(images[1].shape[:2]))]
    changed = int((images[0] != images[1]).any(axis=2).sum())
    return [Difference(path, tr("pixels"), tr("{n} others", n=changed), tr("those of a new picture"))]


def _cells(path: str, actual: str, expected: str) -> Iterator[Difference]:
    rows = [list(csv.reader(io.StringIO(text, newline=""))) for text in (actual, expected)]
    heading = rows[1][0]
    for number, (row, right) in enumerate(zip_longest(*rows, fillvalue=[]), start=1):
        for column, (cell, right_cell) in enumerate(zip_longest(row, right, fillvalue="")):
            if cell != right_cell:
                name = heading[column] if column < len(heading) else str(column + 1)
                yield Difference(path, tr("row {n}, {name}", n=number, name=name), repr(cell), repr(right_cell))


def _text_lines(path: str, actual: str, expected: str) -> Iterator[Difference]:
    for number, (line, right) in enumerate(
        zip_longest(actual.split("\n"), expected.split("\n"), fillvalue=""), start=1
    ):
        if line != right:
            yield Difference(path, tr("line {n}", n=number), repr(line)[:200], repr(right)[:200])


def compare(store: Store, folder: Path, tasks: Mapping[str, Task]) -> list[Difference]:
    """Return which facts of a bundle the database has otherwise now.

    :raises CatalogueError: the bundle or its class cannot be read, or nothing is in the catalogue now
    """
    campaign = Facts.read(folder).campaign
    selection = campaign["selection"]
    key = campaign["task"]["key"]
    if key not in tasks:
        raise CatalogueError(
            tr("found a catalogue of the class {key!r}, expected one of {keys}", key=key, keys=", ".join(tasks))
        )
    view = selection["view"]["number"] if selection["view"] else None
    wish = Wish(
        tasks[key], view, selection["simulated"], campaign["title"], tuple(campaign["authors"]), campaign["licence"]
    )
    differences = []
    with tempfile.TemporaryDirectory() as place:
        collect(store, wish, Path(place))
        for path in (given.CAMPAIGN, given.ITEMS, given.SPECTRA, given.SKY):
            differences += _compared(path, (folder / path).read_bytes(), (Path(place) / path).read_bytes())
    return differences
