"""Files that promise little and would unpack to much; ``python hostile_files.py FOLDER`` knocks with each of
them in a process whose memory is limited, and says as JSON what became of it."""

from __future__ import annotations

import gzip
import io
import json
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

MEMORY = 2**30
"""Bytes of address space beyond what the imports took."""
PROCESSOR_SECONDS = 240
"""Of processor time for all of them."""

TASK = 'key = "x"\ntitle = "X"\n'


def gzip_of_zeros(size: int) -> bytes:
    return gzip.compress(b"\0" * size, 9, mtime=0)


def zip_of(members: dict[str, bytes], **about: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            member = zipfile.ZipInfo(name)
            member.compress_type = about.get("method", zipfile.ZIP_DEFLATED)
            member.external_attr = about.get("mode", 0o600) << 16
            packed.writestr(member, content)
    return made.getvalue()


def png_of(width: int, height: int, rows: bytes = b"") -> bytes:
    """A picture that says it is so large."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def parquet_of_repeats(rows: int) -> bytes:
    """A list column of which one value is all there is; a few kilobytes stand for ``rows`` numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = io.BytesIO()
    values = pa.array(np.full(rows, 5000.0))
    lists = pa.ListArray.from_arrays(pa.array([0, rows], pa.int32()), values)
    pq.write_table(pa.table({"wavelength": lists, "flux": lists}), made, compression="zstd")
    return made.getvalue()


def parquet_of_long_words(rows: int, length: int) -> bytes:
    """A dictionary of one long word that every row points to."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = io.BytesIO()
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * length]))
    pq.write_table(
        pa.table({"wavelength": word, "flux": pa.array(np.full(rows, 1.0))}),
        made,
        compression="zstd",
        store_schema=False,
    )
    return made.getvalue()


def fits_that_claims(**cards: object) -> bytes:
    from astropy.io import fits
    from astropy.table import Table

    image = np.zeros((4, 50), np.int32)
    made = io.BytesIO()
    names = [fits.PrimaryHDU(), fits.BinTableHDU(Table({"TARGETID": [1, 2, 3, 4]}), name="FIBERMAP")]
    for arm in "BRZ":
        names.append(fits.ImageHDU(np.arange(50.0) + 4000, name=f"{arm}_WAVELENGTH"))
        names += [fits.ImageHDU(np.ones((4, 50)), name=f"{arm}_{what}") for what in ("FLUX", "IVAR")]
        names.append(fits.CompImageHDU(image, name=f"{arm}_MASK"))
    fits.HDUList(names).writeto(made)
    raw = made.getvalue()
    for key, value in cards.items():
        start = raw.index(f"{key:8}= ".encode())
        raw = raw[:start] + f"{key:8}= {value:>20}".ljust(80).encode() + raw[start + 80 :]
    return raw


def deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def deep_object(depth: int) -> bytes:
    return b'{"a":' * depth + b"1" + b"}" * depth


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n"
    for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)


def made(folder: Path) -> dict[str, Path]:
    """The files, written into the folder, by what they are."""
    from agent.simulate import simulate

    spectrum = simulate("cv", "LAMOST", 20.0, 1).to_json()
    too_long = spectrum | {"flux": spectrum["flux"] | {"n": 9_999_999, "data": "eJw="}}
    inner = zip_of({"rows.jsonl": b"0" * 10_000_000})
    contents = {
        "gzip.fits.gz": gzip_of_zeros(120_000_000),
        "gzip in gzip.gz": gzip.compress(gzip_of_zeros(120_000_000)),
        "repeats.parquet": parquet_of_repeats(36_000_000),
        "words.parquet": parquet_of_long_words(50_000, 200_000),
        "terabytes.fits": fits_that_claims(ZNAXIS1=2**31 - 1, ZNAXIS2=2**31 - 1),
        "pcount.fits": fits_that_claims(PCOUNT=2**40),
        "deep.json": deep(200_000),
        "deep.jsonl": deep_object(200_000),
        "digits.json": b"[" + b"9" * 1_000_000 + b"]",
        "infinite.jsonl": b'{"schema": "spec-o3/trajectory/1", "redshift": 1e999}',
        "too long.jsonl": json.dumps({"schema": "spec-o3/trajectory/1", "spectrum_data": too_long}).encode(),
        "flat.zip": zip_of({f"{n}.jsonl": b"0" * 30_000_000 for n in range(10)}),
        "zip in zip.zip": zip_of({"inner.zip": inner}),
        "bzip2.zip": zip_of({"rows.jsonl": b"0" * 50_000_000}, method=zipfile.ZIP_BZIP2),
        "huge.png": png_of(2**31 - 1, 2**31 - 1),
        "wide.png": png_of(16_000_000, 1, b"\0" * 64),
        "square.png": png_of(3_999, 3_999, b"\0" * 100),
        "deep.toml": TASK.encode() + b"a = " + deep(50_000),
        "digits.toml": TASK.encode() + b"a = " + b"9" * 100_000,
        "laughs.yaml": LAUGHS.encode(),
        "tag.yaml": b'model: !!python/object/apply:os.system ["true"]\n',
        "deep.yaml": deep(20_000),
        "digits.yaml": b"a: " + b"9" * 100_000,
        "date.yaml": b"a: 2001-13-45\n",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in contents}


def knocked(path: Path) -> list[str]:
    """What is said at each target that such a file may be brought to. Raises what no target declares."""
    from agent.spectrum import SpectrumError, read_all
    from agent.tasks import TaskError
    from agent.tasks.files import read as read_task
    from reviewer.exchange.imports import ImportFileError, import_file
    from reviewer.exchange.pictures import PictureError, PictureFiles
    from reviewer.store import Store
    from reviewer.ui.imports import unpacked
    from training.settings import SettingsError
    from training.settings import read as read_settings
    from training.sft import SftSettings

    def imported() -> str:
        with Store.open(path.parent / "annotations.db") as store:
            if path.suffix != ".zip":
                return str(import_file(store, path).problems[0])
            with unpacked([path]) as rows:
                return str(import_file(store, rows[0]).problems[0])

    readers: dict[str, Callable[[], object]] = {
        ".toml": lambda: read_task(path),
        ".yaml": lambda: read_settings(path, SftSettings),
        ".png": lambda: PictureFiles(path.parent).png(path.name),
        ".zip": imported,
        ".json": imported,
        ".jsonl": imported,
    }
    targets = [readers.get(path.suffix, lambda: list(read_all(path))), lambda: list(read_all(path))]
    said = []
    for target in targets:
        try:
            said.append(f"answered: {target()!s:.300}")
        except (SpectrumError, TaskError, ImportFileError, PictureError, SettingsError) as refusal:
            said.append(str(refusal))
    return said


def main(folder: Path) -> None:
    import resource

    import pyarrow.parquet  # noqa: F401  what the first use of it maps is not the file's doing
    from astropy.io import fits  # noqa: F401

    knocked(folder / "warm.png")
    now = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    # The system ends what takes longer; the slowest unpack the 64 MiB that anybody may bring.
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".db" or "annotations" in path.name:
            continue
        found[path.name] = {"said": knocked(path)}
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
