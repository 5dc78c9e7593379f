"""The import form of the Library tab: trajectories as Spec-o3 JSON Lines, or ShareGPT rows with images."""

from __future__ import annotations

import errno
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath, PureWindowsPath

import gradio as gr

from reviewer.exchange.imports import NAMES, Imported, ImportFileError, SameSpectrum, import_file
from reviewer.exchange.recognition import by_state
from reviewer.rules.campaign import CLOSED, State
from reviewer.store import Store
from reviewer.ui.widgets import (
    Changes,
    batch_link,
    counted,
    item_link,
    line,
    markup,
    message_line,
    report_errors,
    require_manager,
    table,
)

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
MOST_LINKS = 8


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
        skip_bad = gr.Checkbox(label="Skip bad rows, import the rest", container=False)
    same_spectrum = gr.Radio(
        [
            ("ask me", "ask"),
            ("import them all the same", "import"),
            ("leave them out", "leave out"),
        ],
        value="ask",
        label="Spectra that are here already for the same task with another text",
    )
    button = gr.Button("Import", size="sm", elem_classes="so-small")
    message, results = message_line(), markup(elem_classes="so-results")

    @report_errors(message)
    def import_files(
        request: gr.Request,
        paths: Sequence[str] | None,
        name: str,
        good_only: bool,
        others: SameSpectrum,
        progress: gr.Progress = gr.Progress(),  # noqa: B008
    ) -> Changes:
        me = require_manager(request, store, local).initials
        if not paths:
            return {message: line("look", "Add a file first.")}
        with unpacked([Path(path) for path in paths]) as found:
            outcomes = [
                (rows.name, _import_rows(store, rows, name.strip(), good_only, others, progress, me)) for rows in found
            ]
        waits = any(outcome.problems or (outcome.other_texts and others == "ask") for _, outcome in outcomes)
        text = _summary(store, outcomes, others)
        return {message: text, results: _details(outcomes), **({} if waits else {files: None})}

    button.click(
        import_files,
        [files, batch, skip_bad, same_spectrum],
        [message, results, files],
        show_progress_on=results,
        concurrency_id="library",
        concurrency_limit=1,
        api_visibility="private",
    )
    return ImportForm(button)


def _import_rows(
    store: Store, rows: Path, batch: str, skip_bad: bool, others: SameSpectrum, progress: gr.Progress, by: str
) -> Imported:
    def on_rows(done: int) -> None:
        progress((done, None), desc=rows.name, unit="rows checked and written")

    return import_file(store, rows, rows.parent, batch or rows.name, skip_bad, on_rows, by, others)


def _summary(store: Store, outcomes: Sequence[tuple[str, Imported]], same_spectrum: SameSpectrum) -> str:
    added = [item for _, o in outcomes for item in o.added]
    known = [item for _, o in outcomes for item in o.known]
    others = sum(len(o.other_texts) for _, o in outcomes)
    bad = sum(len(o.problems) for _, o in outcomes)
    here = _already_here(by_state(store, known))
    if others and same_spectrum == "ask":
        question = (
            f"{_rows(others)} of spectra that are here already for the same task, with another text. Nothing was "
            "imported from their files: choose above what to do with such rows, then import again."
        )
        return line("look", question, here)
    if bad and not (added or known):
        return line("bad", f'Nothing was imported: {_rows(bad)} cannot be used. Fix them, or tick "Skip bad rows".')
    text = f"{counted(len(added), 'new item')} in the queue." if added else "Nothing new."
    if others:
        done = "left out" if same_spectrum == "leave out" else "imported all the same"
        text += f" {_rows(others)} of spectra that were here already with another text: {done}."
    if bad:
        text += f" {_rows(bad)} skipped."
    link = f" {_open(store, added)}" if added else ""
    return line("look" if bad or others else "good", text, here + link)


def _already_here(states: Mapping[State, list[int]]) -> str:
    """Say which rows are in the database already, with links to their items."""
    parts = []
    for state, items in states.items():
        links = ", ".join(item_link(item) for item in items[:MOST_LINKS])
        more = f" and {len(items) - MOST_LINKS} more" if len(items) > MOST_LINKS else ""
        is_ = "is" if len(items) == 1 else "are"
        restore = ". Restore them under “Withdraw a batch”" if state == "withdrawn" else ""
        here = f"already {state} here" if state in CLOSED else f"already here, in {state}"
        parts.append(f" {len(items)} {is_} {here} ({links}{more}){restore}.")
    return "".join(parts)


def _open(store: Store, added: Sequence[int]) -> str:
    return batch_link(store.items.get(added[0]).row.batch, "Open this batch in Review")


def _rows(count: int) -> str:
    return counted(count, "row")


def _details(outcomes: Sequence[tuple[str, Imported]]) -> str:
    """List the rows that cannot be used, and those whose spectrum is here already with another text."""
    rows = [
        [escape(name), str(problem.line), escape(problem.field), escape(problem.reason)]
        for name, outcome in outcomes
        for problem in outcome.problems
    ]
    rows += [
        [escape(name), str(other.line), escape(other.name), f"here with another text: {_links(other.items)}"]
        for name, outcome in outcomes
        for other in outcome.other_texts
    ]
    if not rows:
        return ""
    more = len(rows) - MOST_SHOWN
    shown = table(["File", "Row", "Field or spectrum", "What was found"], rows[:MOST_SHOWN], empty="")
    return shown + (f'<p class="so-none">and {more} more</p>' if more > 0 else "")


def _links(items: Sequence[int]) -> str:
    return ", ".join(item_link(item) for item in items[:MOST_LINKS])
