"""Files dropped on the page, laid out as the folder an import reads: rows, their pictures, their spectra.

A name that came from a browser or out of a zip is only ever a name inside a fresh temporary folder.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from reviewer.drafts import NAMES, ImportFileError

ROWS = (".jsonl", ".json")
PICTURES = (".png", ".jpg", ".jpeg", ".webp")

# The published cold-start set is under 1 GB; a zip that promises far more is damage or malice.
LARGEST_UNPACKED = 8 * 2**30
MOST_FILES = 500_000


@contextmanager
def laid_out(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The files of rows among ``paths``, with the other files where their rows look for them.

    A zip is unpacked. Of loose files, pictures go into ``images/`` as in the published layout, and everything
    else beside the rows. All of it is gone when the block ends.

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
            raise ImportFileError(f"found no rows in {names}; wanted .jsonl, .json or a zip of them")
        yield found


def _rows_in(folder: Path, name: str) -> list[Path]:
    """The file to import of an unpacked zip: the first with a known name, else the only one there is."""
    rows = sorted(path for path in folder.rglob("*") if path.suffix in ROWS and path.is_file())
    known = [path for wanted in NAMES for path in rows if path.name == wanted]
    if known:
        return known[:1]
    if len(rows) != 1:
        raise ImportFileError(f"{name}: found {len(rows)} files of rows, wanted one, or one of {NAMES}")
    return rows


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as packed:
            members = [member for member in packed.infolist() if not member.is_dir()]
            size = sum(member.file_size for member in members)
            if size > LARGEST_UNPACKED or len(members) > MOST_FILES:
                raise ImportFileError(
                    f"{path.name}: found {len(members)} files of {size / 1e9:.1f} GB in all, wanted "
                    f"{MOST_FILES} of {LARGEST_UNPACKED / 1e9:.1f} GB at most"
                )
            for member in members:
                _unpack_one(packed, member, folder, path.name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ImportFileError(f"{path.name}: found a broken zip ({error}), wanted a whole one") from None


def _unpack_one(packed: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, name: str) -> None:
    inside = PurePosixPath(member.filename)
    if inside.is_absolute() or ".." in inside.parts:
        raise ImportFileError(f"{name}: found {member.filename!r:.80}, wanted paths inside the zip")
    target = folder / inside
    target.parent.mkdir(parents=True, exist_ok=True)
    with packed.open(member) as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy)
