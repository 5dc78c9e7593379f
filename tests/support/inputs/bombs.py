"""Small files that would unpack to much, each with the name of its file and what its refusal says.

``python -m tests.support.inputs.bombs FOLDER`` reads each in a process of limited memory and processor time, and
prints the refusals as JSON.
"""

from __future__ import annotations

import gzip
import json
import resource
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from agent.simulate import simulate
from agent.spectrum import SpectrumError, read_all
from agent.tasks import TaskError
from agent.tasks.files import read as read_task
from reviewer.exchange.imports import ImportFileError, import_file
from reviewer.exchange.pictures import PictureError, PictureFiles
from reviewer.exchange.uploads import unpacked
from reviewer.store import Store
from tests.support.inputs.refusals import check_sentence
from tests.support.inputs.rows import png_of, zip_of
from tests.support.inputs.spectra import fits_that_claims, linear_image, parquet_of_long_words, parquet_of_repeats
from training.settings import SettingsError
from training.settings import read as read_settings
from training.sft import SftSettings

MEMORY = 2**30
"""Bytes of address space beyond what the imports took."""
PROCESSOR_SECONDS = 240
"""Of processor time for all of them."""
TASK = b'key = "x"\ntitle = "X"\na = '
LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n"
    for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)


def gzip_of_zeros(size: int, before: bytes = b"") -> bytes:
    return gzip.compress(before + bytes(size), 9, mtime=0)


def deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def _too_long() -> bytes:
    spectrum = simulate("cv", "LAMOST", 20.0, 1).to_json()
    spectrum["flux"] |= {"n": 9_999_999, "data": "eJw="}
    return json.dumps({"schema": "spec-o3/trajectory/1", "spectrum_data": spectrum}).encode()


SHAREGPT, ROWS = "train_sharegpt.json", "rows.jsonl"
BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "zeros in gzip": ("x.fits.gz", lambda: gzip_of_zeros(120_000_000), "unpacks to more than"),
    "an image and zeros in gzip": (
        "x.fits.gz",
        lambda: gzip_of_zeros(200 * 2**20, linear_image()[:2880]),
        "unpacks to more than",
    ),
    "gzip in gzip": ("x.fits.gz", lambda: gzip.compress(gzip_of_zeros(120_000_000)), "found"),
    "repeats in Parquet": ("x.parquet", lambda: parquet_of_repeats(36_000_000), "a damaged Parquet file"),
    "words in Parquet": ("x.parquet", lambda: parquet_of_long_words(50_000, 200_000), "a damaged Parquet file"),
    "terabytes in FITS": (
        "x.fits",
        lambda: fits_that_claims(ZNAXIS1=2**31 - 1, ZNAXIS2=2**31 - 1),
        "B_MASK of shape (2147483647, 2147483647)",
    ),
    "PCOUNT": ("x.fits", lambda: fits_that_claims(PCOUNT=2**40), "a header that claims"),
    "deep JSON": (SHAREGPT, lambda: deep(200_000), "found no JSON"),
    "a deep row": (ROWS, lambda: b'{"a":' * 200_000 + b"1" + b"}" * 200_000, "found no JSON"),
    "digits in JSON": (SHAREGPT, lambda: b"[" + b"9" * 1_000_000 + b"]", "found no JSON"),
    "infinity in a row": (ROWS, lambda: b'{"schema": "spec-o3/trajectory/1", "redshift": 1e999}', "expected"),
    "a spectrum of another length": (ROWS, _too_long, "expected"),
    "a flat zip": (
        "x.zip",
        lambda: zip_of({f"{n}.jsonl": b"0" * 30_000_000 for n in range(10)}),
        "files of 0.3 GB in all",
    ),
    "zip in zip": (
        "x.zip",
        lambda: zip_of({"inner.zip": zip_of({"rows.jsonl": b"0" * 10_000_000})}),
        "found 0 files of rows",
    ),
    "a zip of bzip2": (
        "x.zip",
        lambda: zip_of({"rows.jsonl": b"0" * 50_000_000}, method=zipfile.ZIP_BZIP2),
        "by another method than deflate",
    ),
    "a huge PNG": ("x.png", lambda: png_of(2**31 - 1, 2**31 - 1), "found no picture"),
    "a wide PNG": ("x.png", lambda: png_of(16_000_000, 1, b"\0" * 64), "found no picture"),
    "a square PNG": ("x.png", lambda: png_of(3_999, 3_999, b"\0" * 100), "found no picture"),
    "deep TOML": ("x.toml", lambda: TASK + deep(50_000), "broken TOML"),
    "digits in TOML": ("x.toml", lambda: TASK + b"9" * 100_000, "broken TOML"),
    "laughs in YAML": ("x.yaml", LAUGHS.encode, "found the alias *a"),
    "a tag in YAML": ("x.yaml", lambda: b'model: !!python/object/apply:os.system ["true"]\n', "found broken YAML"),
    "deep YAML": ("x.yaml", lambda: deep(20_000), "found broken YAML"),
    "digits in YAML": ("x.yaml", lambda: b"a: " + b"9" * 100_000, "found broken YAML"),
    "no date in YAML": ("x.yaml", lambda: b"a: 2001-13-45\n", "found broken YAML"),
}


def _import(path: Path) -> None:
    with Store.open(path.with_name("annotations.db")) as store:
        for problem in import_file(store, path, path.parent, "bombs").problems:
            raise ImportFileError(str(problem))


def _unpack(path: Path) -> None:
    with unpacked([path]):
        pass


READERS: dict[str, Callable[[Path], object]] = {
    **dict.fromkeys(("x.fits", "x.fits.gz", "x.parquet"), lambda path: list(read_all(path))),
    **dict.fromkeys(("train_sharegpt.json", "rows.jsonl"), _import),
    "x.zip": _unpack,
    "x.png": lambda path: PictureFiles(path.parent).sha256(path.name),
    "x.toml": read_task,
    "x.yaml": lambda path: read_settings(path, SftSettings),
}
"""Reader by the name of the file."""
REFUSALS = (SpectrumError, ImportFileError, PictureError, TaskError, SettingsError)


def refusal(path: Path, content: bytes) -> str:
    """Return the sentence with which the reader of this file refuses the content; empty if it accepts it."""
    path.write_bytes(content)
    try:
        READERS[path.name](path)
    except REFUSALS as error:
        check_sentence(str(error), path.parent)
        return str(error)
    return ""


def main(folder: Path) -> None:
    for name in READERS:
        refusal(folder / name, b"")  # what the first use of a library maps is no file's doing
    now = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    # The system ends what takes longer; the slowest unpack the 64 MiB that anybody may bring.
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    print(json.dumps({name: refusal(folder / file, make()) for name, (file, make, _) in BOMBS.items()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
