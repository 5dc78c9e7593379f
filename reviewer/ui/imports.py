"""The import form of the Library tab: trajectories as Spec-o3 JSON Lines, or ShareGPT rows with images."""

from __future__ import annotations

import errno
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath, PureWindowsPath

import gradio as gr

from reviewer.exchange.imports import NAMES, Imported, ImportFileError, import_file
from reviewer.store import Store
from reviewer.ui.widgets import Changes, line, markup, message_line, report_errors, require_manager, table

ROWS = (".jsonl", ".json")
PICTURES = (".png", ".jpg", ".jpeg", ".webp")

# The published cold-start set is under 1 GB; a zip that promises far more is damage or malice.
LARGEST_UNPACKED = 8 * 2**30
LARGEST_RATIO = 100
"""Largest ratio of unpacked to packed size: rows compress to a tenth, pictures hardly at all."""
SMALL = 64 * 2**20
"""Bytes to which any zip may unpack."""
MOST_FILES = 500_000

_NO_NAMES = (errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EINVAL, errno.EILSEQ)
_BROKEN: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    OverflowError,
)
_BROKEN += (zlib.error, struct.error, IndexError)


@contextmanager
def unpacked(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Arrange uploaded files in a temporary folder as the importer expects them, and yield the files with rows.

    A zip is unpacked. Of single files, pictures go into ``images/`` as in the published layout, the others next to
    the rows. The folder is deleted when the block ends.

    :raises ImportFileError: a zip is broken or too large, or there are no rows
    """
    with tempfile.TemporaryDirectory(prefix="spec-o3-import-") as made:
        loose = Path(made) / "loose"
        (loose / "images").mkdir(parents=True)
        found: list[Path] = []
        for number, path in enumerate(paths):
            if path.suffix.lower() == ".zip":
                folder = Path(made) / f"zip{number}"
                _unpack(path, folder)
                found += _rows_in(folder, path.name)
            else:
                where = loose / "images" if path.suffix.lower() in PICTURES else loose
                shutil.copyfile(path, where / path.name)
        found += [path for path in sorted(loose.iterdir()) if path.suffix.lower() in ROWS]
        if not found:
            names = ", ".join(path.name for path in paths)
            raise ImportFileError(f"found no rows in {names}; expected .jsonl, .json or a zip of them")
        yield found


def _rows_in(folder: Path, name: str) -> list[Path]:
    """Return the file to import from an unpacked zip: the first with a known name, else the only one."""
    rows = sorted(path for path in folder.rglob("*") if path.suffix in ROWS and path.is_file())
    known = [path for wanted in NAMES for path in rows if path.name == wanted]
    if known:
        return known[:1]
    if len(rows) != 1:
        raise ImportFileError(f"{name}: found {len(rows)} files of rows, expected one, or one of {NAMES}")
    return rows


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as packed:
            members = [member for member in packed.infolist() if not member.is_dir()]
            _refuse_too_much(path, members)
            for member in members:
                _unpack_one(packed, member, _place(member, folder, path.name))
    except OSError as error:
        if error.errno not in _NO_NAMES:
            raise
        raise ImportFileError(
            f"{path.name}: found a file whose name cannot be one here ({error.strerror}), expected plain names"
        ) from None
    except _BROKEN as error:
        raise ImportFileError(f"{path.name}: found a broken zip ({error}), expected a whole one") from None


def _refuse_too_much(path: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    """Check the unpacked size of a zip. :raises ImportFileError: it is implausible or above the limit"""
    size = sum(member.file_size for member in members)
    largest = min(LARGEST_UNPACKED, SMALL + LARGEST_RATIO * path.stat().st_size)
    if size > largest or len(members) > MOST_FILES:
        raise ImportFileError(
            f"{path.name}: found {len(members)} files of {size / 1e9:.3g} GB in all, expected "
            f"{MOST_FILES} of {largest / 1e9:.3g} GB at most"
        )


def _place(member: zipfile.ZipInfo, folder: Path, name: str) -> Path:
    """Return the path for a file of a zip. :raises ImportFileError: it is outside ``folder``, or no plain file"""
    # Some programs that make zips write backslashes; a device's name opens the device on Windows.
    inside = PurePosixPath(member.filename.replace("\\", "/"))
    reserved = PureWindowsPath(inside)
    if inside.is_absolute() or ".." in inside.parts or reserved.drive or reserved.is_reserved():
        raise ImportFileError(f"{name}: found {member.filename!r:.80}, expected paths inside the zip")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise ImportFileError(f"{name}: found the link {member.filename!r:.80}, expected files")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # The others are unpacked in one piece, however large that gets.
        raise ImportFileError(f"{name}: found {member.filename!r:.80} packed by another method than deflate")
    return folder / inside


def _unpack_one(packed: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with packed.open(member) as source, target.open("xb") as copy:
        shutil.copyfileobj(source, copy)


_ABOUT = (
    "Spec-o3 JSON Lines, or ShareGPT rows with their images folder: as one zip, or as separate files. Survey files "
    "that are added with them give the spectra. Every row is checked before anything is saved."
)
# A page of problems is enough to see the pattern.
MOST_SHOWN = 200


@dataclass(frozen=True)
class ImportForm:
    """The components that other parts of the tab update."""

    button: gr.Button

    def show(self, may_use: bool) -> Changes:
        return {self.button: gr.update(interactive=may_use)}


def build(store: Store, local: bool) -> ImportForm:
    """Build the form and its handlers."""
    markup(f'<h3>Import trajectories</h3><p class="about">{escape(_ABOUT)}</p>')
    files = gr.File(label="Rows, pictures, spectra, or a zip", file_count="multiple", height=84)
    with gr.Row(equal_height=True):
        batch = gr.Textbox(label="Batch name (for filtering)", placeholder="the file's name", max_length=100)
        skip_bad = gr.Checkbox(label="Import the valid rows if others are not", container=False)
    button = gr.Button("Import", size="sm", elem_classes="so-small")
    message, results = message_line(), markup(elem_classes="so-results")

    @report_errors(message)
    def import_files(
        request: gr.Request,
        paths: Sequence[str] | None,
        name: str,
        good_only: bool,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Changes:
        me = require_manager(request, store, local).initials
        if not paths:
            return {message: line("look", "Add a file first.")}
        with unpacked([Path(path) for path in paths]) as found:
            outcomes = [(rows.name, _import_rows(store, rows, name.strip(), good_only, progress, me)) for rows in found]
        clean = not any(outcome.problems for _, outcome in outcomes)
        return {message: _summary(outcomes), results: _problems(outcomes), **({files: None} if clean else {})}

    button.click(
        import_files,
        [files, batch, skip_bad],
        [message, results, files],
        show_progress_on=results,
        concurrency_id="library",
        concurrency_limit=1,
        api_visibility="private",
    )
    return ImportForm(button)


def _import_rows(store: Store, rows: Path, batch: str, skip_bad: bool, progress: gr.Progress, by: str) -> Imported:
    def on_rows(done: int) -> None:
        progress((done, None), desc=rows.name, unit="rows checked and written")

    return import_file(store, rows, rows.parent, batch or rows.name, skip_bad, on_rows, by)


def _summary(outcomes: Sequence[tuple[str, Imported]]) -> str:
    added = sum(len(o.added) for _, o in outcomes)
    known = sum(o.known for _, o in outcomes)
    bad = sum(len(o.problems) for _, o in outcomes)
    text = f"{added} trajectories new in the queue."
    if known:
        text += f" {known} were there already."
    if not bad:
        return line("good", text)
    if added or known:
        return line("look", f"{text} {bad} bad rows were left out.")
    return line("bad", f"Nothing was imported: {bad} bad rows. Correct them, or import the valid rows only.")


def _problems(outcomes: Sequence[tuple[str, Imported]]) -> str:
    rows = [
        [escape(name), str(problem.line), escape(problem.field), escape(problem.reason)]
        for name, outcome in outcomes
        for problem in outcome.problems
    ]
    if not rows:
        return ""
    more = len(rows) - MOST_SHOWN
    shown = table(["File", "Row", "Field", "What was found"], rows[:MOST_SHOWN], empty="")
    return shown + (f'<p class="so-none">and {more} more</p>' if more > 0 else "")
