"""Uploaded files with rows of drafts, arranged in a folder as the importer expects them. A zip is unpacked with care:
it may be damaged, or made to do harm.
"""

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
from pathlib import Path, PurePosixPath, PureWindowsPath

from agent.foreign import detect
from agent.language import tr
from reviewer.exchange.draft_file import NAMES, ImportFileError

ROWS = (".jsonl", ".json", ".eval")
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
def unpacked(paths: Sequence[Path], inside: Path | None = None) -> Iterator[list[Path]]:
    """Arrange uploaded files in a new folder as the importer expects them, and yield the files with rows.

    A zip is unpacked. Single files lie next to the rows, and pictures also in ``images/`` as in the published layout.

    :param inside: where the folder is made; it is deleted if the block fails. None: among the temporary files, and it
        is deleted when the block ends
    :raises ImportFileError: a zip is broken or too large, or there are no rows
    """
    folder = Path(tempfile.mkdtemp(prefix="spec-o3-import-", dir=inside))
    try:
        yield _arranged(paths, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if inside is None:
        shutil.rmtree(folder, ignore_errors=True)


def _arranged(paths: Sequence[Path], target: Path) -> list[Path]:
    loose = target / "loose"
    (loose / "images").mkdir(parents=True)
    rows: list[Path] = []
    for number, path in enumerate(paths):
        if path.suffix.lower() == ".zip":
            folder = target / f"zip{number}"
            _unpack(path, folder)
            rows += _rows_in(folder, path.name)
        else:
            for place in (loose, loose / "images") if path.suffix.lower() in PICTURES else (loose,):
                shutil.copyfile(path, place / path.name)
    rows += [path for path in sorted(loose.iterdir()) if path.suffix.lower() in ROWS]
    if not rows:
        names = ", ".join(path.name for path in paths)
        raise ImportFileError(
            tr("found no rows in {names}; expected .jsonl, .json, .eval or a zip of them", names=names)
        )
    return rows


def _rows_in(folder: Path, name: str) -> list[Path]:
    """Return the files to import from an unpacked zip: the first with a known name, else the only one, else logs."""
    rows = sorted(path for path in folder.rglob("*") if path.suffix in ROWS and path.is_file())
    known = [path for chosen in NAMES for path in rows if path.name == chosen]
    if known:
        return known[:1]
    if len(rows) > 1 and (logs := [path for path in rows if detect(path) is not None]):
        return logs
    if len(rows) != 1:
        raise ImportFileError(
            tr(
                "{name}: found {n_rows} files of rows, expected one, or one of {names}",
                name=name,
                n_rows=len(rows),
                names=NAMES,
            )
        )
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
            tr(
                "{name}: found a file whose name cannot be one here ({strerror}), expected plain names",
                name=path.name,
                strerror=error.strerror,
            )
        ) from None
    except _BROKEN as error:
        raise ImportFileError(
            tr("{name}: found a broken zip ({error}), expected a whole one", name=path.name, error=error)
        ) from None


def _refuse_too_much(path: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    """Check the unpacked size of a zip. :raises ImportFileError: it is implausible or above the limit"""
    size = sum(member.file_size for member in members)
    largest = min(LARGEST_UNPACKED, SMALL + LARGEST_RATIO * path.stat().st_size)
    if size > largest or len(members) > MOST_FILES:
        raise ImportFileError(
            tr(
                "{name}: found {n_members} files of {size:.3g} GB in all, expected {most_files} of "
                "{largest:.3g} GB at most",
                name=path.name,
                n_members=len(members),
                size=size / 1000000000.0,
                most_files=MOST_FILES,
                largest=largest / 1000000000.0,
            )
        )


def _place(member: zipfile.ZipInfo, folder: Path, name: str) -> Path:
    """Return the path for a file of a zip. :raises ImportFileError: it is outside ``folder``, or no plain file"""
    # Some programs that make zips write backslashes; a device's name opens the device on Windows.
    inside = PurePosixPath(member.filename.replace("\\", "/"))
    reserved = PureWindowsPath(inside)
    if inside.is_absolute() or ".." in inside.parts or reserved.drive or reserved.is_reserved():
        raise ImportFileError(
            tr("{name}: found {filename!r:.80}, expected paths inside the zip", name=name, filename=member.filename)
        )
    if stat.S_ISLNK(member.external_attr >> 16):
        raise ImportFileError(
            tr("{name}: found the link {filename!r:.80}, expected files", name=name, filename=member.filename)
        )
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # The others are unpacked in one piece, however large that gets.
        raise ImportFileError(
            tr(
                "{name}: found {filename!r:.80} packed by another method than deflate",
                name=name,
                filename=member.filename,
            )
        )
    return folder / inside


def _unpack_one(packed: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with packed.open(member) as source, target.open("xb") as copy:
        shutil.copyfileobj(source, copy)
