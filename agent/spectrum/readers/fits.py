"""FITS access for spectra: headers, images and binary tables, each read only when requested.

Own code for speed and safety: astropy needs 48 to 140 ms of processor time for the 236 columns of one SDSS catalogue
row, this module 4 to 6 ms for the whole file; sizes are checked before memory is allocated, and a damaged card reads as
missing. The tests compare every value with astropy. What is rare is left to astropy, in memory that the file's own size
bounds: compressed images, ASCII tables and columns of variable length."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import isfinite, prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred
from agent.spectrum.record import SpectrumError

_STRING = re.compile(r"\s*'((?:[^']|'')*)'")

Value = str | int | float | bool | None
_OF_SIZE = re.compile(r"SIMPLE|XTENSION|BITPIX|NAXIS[0-9]*|PCOUNT|GCOUNT|GROUPS")


class Header:
    """The cards of one HDU, parsed on demand. A card that cannot be parsed reads as missing."""

    def __init__(self, raw: bytes) -> None:
        text = raw.decode("latin-1")
        self._cards: dict[str, str] = {}
        longer: dict[str, list[str]] = {}
        last = ""
        self.says_its_size_twice = False
        """Which of the two counts is not agreed on between programs."""
        for start in range(0, len(text), 80):
            if text[start + 8 : start + 10] == "= ":
                key = text[start : start + 8].rstrip()
                self.says_its_size_twice |= key in self._cards and _OF_SIZE.fullmatch(key) is not None
                last = "" if key in self._cards else key
                self._cards.setdefault(key, text[start + 10 : start + 80])
            elif last and text.startswith("CONTINUE", start):
                longer.setdefault(last, []).append(text[start + 10 : start + 80])
            else:
                last = ""
        for key, parts in longer.items():
            strings = [match[1] for part in (self._cards[key], *parts) if (match := _STRING.match(part))]
            self._cards[key] = f"'{''.join(string.rstrip().removesuffix('&') for string in strings)}'"

    def __contains__(self, key: str) -> bool:
        return key in self._cards

    def __getitem__(self, key: str) -> Value:
        card = self._cards.get(key)
        return None if card is None else _card_value(card)

    def keys(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the keywords that match a pattern as a whole, in the order of the header."""
        return [key for key in self._cards if pattern.fullmatch(key)]

    def text(self, key: str) -> str:
        """Return the value as text without padding, "" if it is missing or cannot be parsed."""
        value = self[key]
        return "" if value is None else str(value).strip()

    def number(self, key: str) -> float | None:
        """Return the value as a finite float, None if it is missing or no number."""
        value = self[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            try:
                value = float(str(value))
            except ValueError:
                return None
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if isfinite(number) else None

    def integer(self, key: str, default: int = 0) -> int:
        value = self[key]
        return value if isinstance(value, int) and not isinstance(value, bool) else default


def _card_value(card: str) -> Value:
    quoted = _STRING.match(card)
    if quoted:
        text = quoted[1].replace("''", "'")
        return (text if text.isascii() else _in_utf8(text)).rstrip()
    bare = card.split("/", 1)[0].strip()
    if bare in ("T", "F"):
        return bare == "T"
    try:
        return int(bare)
    except ValueError:
        pass
    try:
        return float(bare.replace("D", "E").replace("d", "e"))
    except ValueError:
        return None


def _in_utf8(text: str) -> str:
    """Return a text of a card with its letters beyond ASCII, which FITS does not allow and many programs write."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


BLOCK = 2880
MAX_HEADER_BLOCKS = 1000
MAX_HDUS = 2000
MANY = 12
"""Columns beyond which only their number is given."""
# Most bytes read at once. The largest table of one spectrum in any survey is a few MiB.
MAX_BYTES = 256 * 2**20

_IMAGE_TYPES = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
_TABLE_TYPES = {"L": "S1", "B": ">u1", "I": ">i2", "J": ">i4", "K": ">i8", "E": ">f4", "D": ">f8"}
_WHOLE = ("B", "I", "J", "K")
_WIDTHS = {"L": 1, "B": 1, "A": 1, "I": 2, "J": 4, "K": 8, "E": 4, "D": 8, "C": 8, "M": 16, "P": 8, "Q": 16}
_FORMAT = re.compile(r"\s*(\d*)([LXBIJKAEDCMPQ])", re.IGNORECASE)
_ASCII_FORMAT = re.compile(r"\s*([AIFED])\d", re.IGNORECASE)

Array = NDArray[Any]


@dataclass(frozen=True)
class Column:
    """One column of a table: where its bytes lie in a row, and ``null``, the number that stands for no data."""

    name: str
    code: str
    repeat: int
    offset: int
    unit: str
    scale: float
    zero: float
    null: int | None = None


class Hdu:
    """One header and the position of its data; the data are read separately."""

    def __init__(self, file: FitsFile, raw: bytes, offset: int, number: int = 0) -> None:
        self.header = header = Header(raw)
        self.number = number
        self._converted: dict[str, Array] = {}
        self._raw = raw
        self.name = header.text("EXTNAME").upper()
        self._file = file
        self._offset = offset
        naxis = header.integer("NAXIS")
        if not 0 <= naxis <= 99:
            raise file.refusal(f"NAXIS = {naxis}", deferred("0 to 99 axes"))
        axes = [header.integer(f"NAXIS{n}", -1) for n in range(1, naxis + 1)]
        if any(a < 0 for a in axes):
            raise file.refusal(
                deferred("NAXIS = {naxis} with a missing or negative axis length", naxis=naxis),
                deferred("a length for each axis"),
            )
        self.shape: tuple[int, ...] = tuple(reversed(axes))
        self._compressed = header["ZIMAGE"] is True
        width = abs(header.integer("BITPIX", 8)) // 8
        groups, extra = max(1, header.integer("GCOUNT", 1)), max(0, header.integer("PCOUNT"))
        self.size = width * groups * (extra + prod(axes)) if axes else 0
        file.check(offset + self.size)
        self.end = offset + -(-self.size // BLOCK) * BLOCK
        if self._compressed:
            self.shape = tuple(header.integer(f"ZNAXIS{n}") for n in range(header.integer("ZNAXIS"), 0, -1))
            if not self.shape:
                raise file.refusal(deferred("a compressed image without axes"), deferred("a length for each axis"))

    @property
    def is_table(self) -> bool:
        kind = self.header.text("XTENSION")
        return kind in ("BINTABLE", "TABLE") and len(self.shape) == 2 and not self._compressed

    @property
    def title(self) -> str:
        """The HDU in a message: its number, and its name if it has one."""
        return f"HDU {self.number} {self.name}".rstrip()

    @property
    def is_image(self) -> bool:
        return "XTENSION" not in self.header or self.header.text("XTENSION") == "IMAGE" or self._compressed

    def image(self, *index: int) -> Array:
        """Return the image, or the part of it at ``index`` along its slowest axes, scaled with BSCALE and BZERO.

        Floats come as float64, integers as int64, or as float64 with NaN where they are BLANK.
        """
        self._file.read.add((self.number, ""))
        if self._compressed:
            part: Array = self._uncompressed[index]
            return part
        dtype = _IMAGE_TYPES.get(self.header.integer("BITPIX"))
        if dtype is None:
            raise self._file.refusal(f"BITPIX = {self.header.text('BITPIX')}", "8, 16, 32, 64, -32 or -64")
        shape = self.shape[len(index) :]
        item = np.dtype(dtype).itemsize
        skipped = 0
        for at, length, below in zip(index, self.shape, range(1, len(self.shape) + 1), strict=False):
            if not 0 <= at < length:
                raise self._file.refusal(deferred("an image with {length} rows", length=length), f"row {at}")
            skipped += at * prod(self.shape[below:])
        raw = self._file.data(self._offset + skipped * item, item * prod(shape))
        array: Array = np.frombuffer(raw, dtype=dtype).reshape(shape)
        scale, zero = self.header.number("BSCALE"), self.header.number("BZERO")
        blank = self.header["BLANK"]
        if dtype[1] != "f" and isinstance(blank, int) and (array == blank).any():
            return np.where(array == blank, np.nan, array * (scale or 1.0) + (zero or 0.0))
        if dtype[1] == "f" or (scale or 1.0) != 1.0 or (zero or 0.0) % 1:
            return array.astype(np.float64) * (scale or 1.0) + (zero or 0.0)
        return array.astype(np.int64) + int(zero or 0)

    @cached_property
    def _uncompressed(self) -> Array:
        claim = prod(self.shape) * abs(self.header.integer("ZBITPIX", 8)) // 8
        if claim > MAX_BYTES:
            raise self._file.refusal(
                deferred("a compressed image of {claim} bytes", claim=claim),
                deferred("at most {max_bytes} bytes", max_bytes=MAX_BYTES),
            )
        array: Array = self._with_astropy(lambda hdu: np.asarray(hdu.data))
        if array.shape != self.shape:
            raise self._file.refusal(
                deferred("a compressed image {name} of shape {shape}", name=self.name, shape=array.shape),
                f"{self.shape}",
            )
        return array

    def _with_astropy(self, read: Callable[[Any], Array]) -> Array:
        """Return what astropy reads of this HDU alone."""
        from astropy.io import fits

        raw = self._raw + self._file.data(self._offset, self.size) + bytes(self.end - self._offset - self.size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return read(fits.HDUList.fromstring(fits.PrimaryHDU().header.tostring().encode() + raw)[1])
            except Exception as error:
                # Of any kind, over a damaged header.
                reason = " ".join(str(error).split())
                actual = deferred("{hdu} that cannot be unpacked ({error:.120})", hdu=self.title, error=reason)
                raise self._file.refusal(actual, deferred("a complete FITS file")) from None

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The table's columns by upper-case name, in file order; {} if there are none."""
        columns: dict[str, Column] = {}
        offset = 0
        if not self.is_table:
            return columns
        is_ascii = self.header.text("XTENSION") == "TABLE"
        for n in range(1, self.header.integer("TFIELDS") + 1):
            match = (_ASCII_FORMAT if is_ascii else _FORMAT).match(self.header.text(f"TFORM{n}"))
            if match is None:
                raise self._file.refusal(
                    f"TFORM{n} = {self.header.text(f'TFORM{n}')!r}", deferred("a FITS column format")
                )
            repeat, code = (1, "ascii") if is_ascii else (int(match[1] or 1), match[2].upper())
            name = self.header.text(f"TTYPE{n}") or f"COL{n}"
            scale, zero = self.header.number(f"TSCAL{n}"), self.header.number(f"TZERO{n}") or 0.0
            scale = 1.0 if scale is None else scale
            unit = self.header.text(f"TUNIT{n}")
            null = self.header[f"TNULL{n}"] if code in _WHOLE and f"TNULL{n}" in self.header else None
            null = null if isinstance(null, int) else None
            columns.setdefault(name.upper(), Column(name, code, repeat, offset, unit, scale, zero, null))
            offset += 0 if is_ascii else (repeat + 7) // 8 if code == "X" else repeat * _WIDTHS[code]
        if offset > self.shape[1]:
            raise self._file.refusal(
                deferred("columns of {offset} bytes in rows of {shape}", offset=offset, shape=self.shape[1]),
                deferred("columns that fit"),
            )
        return columns

    def column(self, name: str) -> Array:
        """Return a column (rows,) or (rows, repeat), scaled with TSCAL and TZERO; text is bytes, logicals are bool.

        Whole numbers with TNULL among them are float64 with NaN there. A column of variable length is (rows, n) if all
        its arrays have n numbers, else (rows,) of arrays.

        :raises SpectrumError: there is no such column, or its type is not covered
        """
        column = self.columns.get(name.upper())
        if column is None:
            raise self._file.refusal(f"columns {', '.join(list(self.columns)[:8])}", f"a column {name}")
        self._file.read.add((self.number, name.upper()))
        if column.code in ("ascii", "P", "Q"):
            # Kept, as each spectrum of a file asks for its row.
            if column.name not in self._converted:
                self._converted[column.name] = self._with_astropy(lambda hdu: _cells(hdu.data[column.name]))
            return self._converted[column.name]
        dtype = f"S{max(1, column.repeat)}" if column.code == "A" else _TABLE_TYPES.get(column.code)
        if dtype is None or column.repeat == 0:
            raise self._file.refusal(
                deferred("column {name} of type {code}", name=name, code=column.code),
                deferred("numbers or text of fixed length"),
            )
        rows, width = self.shape
        several = column.code != "A" and column.repeat != 1
        array: Array = np.ndarray(
            (rows, column.repeat) if several else (rows,),
            dtype=dtype,
            buffer=self._table_bytes,
            offset=column.offset,
            strides=(width, np.dtype(dtype).itemsize) if several else (width,),
        )
        if column.code == "L":
            array = array == b"T"
        null = None if column.null is None else array == column.null
        if null is not None and null.any() and np.abs(array[~null].astype(np.float64)).max(initial=0.0) < 2.0**53:
            return np.where(null, np.nan, array * column.scale + column.zero)
        if column.code not in "BIJKED" or (column.scale, column.zero) == (1.0, 0.0):
            return array
        if column.code == "K" and (column.scale, column.zero) == (1.0, 2.0**63):
            return array.astype(np.uint64) ^ np.uint64(2**63)
        if column.code in "BIJK" and column.scale == 1.0 and column.zero.is_integer():
            return array.astype(np.int64) + int(column.zero)
        return array.astype(np.float64) * column.scale + column.zero

    def cell(self, name: str, row: int) -> Value:
        """Return one cell of a column, text without padding; None without that column or row, or for an array.

        :raises SpectrumError: as ``column``
        """
        if name.upper() not in self.columns or row >= self.shape[0]:
            return None
        value = self.column(name)[row]
        if isinstance(value, bytes):
            return value.decode("latin-1").strip("\0 ")
        cell: Value = value.item() if np.ndim(value) == 0 else None
        return cell

    @cached_property
    def _table_bytes(self) -> bytes:
        if prod(self.shape) == 0:
            raise self._file.refusal(deferred("a table without rows"), deferred("a table with rows"))
        return self._file.data(self._offset, prod(self.shape))


def _cells(values: Any) -> Array:
    """Return a column that astropy read, with its arrays stacked if they have one length."""
    cells = np.asarray(values)
    if cells.dtype != object:
        return cells.astype("S") if cells.dtype.kind == "U" else cells
    arrays = [np.asarray(cell) for cell in cells]
    return np.stack(arrays) if len({array.shape for array in arrays}) == 1 else cells


class FitsFile:
    """A FITS file of ``size`` bytes. HDUs are found one after the other, on demand.

    :param path: where it is, for layouts whose redshifts are in another file of the same folder
    """

    def __init__(self, stream: BinaryIO, name: str, size: int, path: Path | None = None) -> None:
        self.name = name
        self.path = path
        self._stream = stream
        self._size = size
        self._hdus: list[Hdu] = []
        self._ended = False
        self.known: dict[str, Any] = {}
        """What a reader keeps from recognising the file to reading it."""
        self.read: set[tuple[int, str]] = set()
        """The HDUs and columns whose data were read: number, and name of the column or "" for an image."""

    def refusal(self, actual: str, expected: str) -> SpectrumError:
        return SpectrumError(self.name, actual, expected)

    def check(self, end: int) -> None:
        """:raises SpectrumError: a header claims data up to byte ``end``, beyond the end of the file"""
        if end > self._size:
            claim = deferred("a header that claims {end} bytes in a file of {size}", end=end, size=self._size)
            raise self.refusal(claim, deferred("a complete FITS file"))

    def data(self, offset: int, size: int) -> bytes:
        """Read exactly ``size`` bytes; refuse before reading if they are missing or too many."""
        self.check(offset + size)
        if size > MAX_BYTES:
            raise self.refusal(
                deferred("an array of {size} bytes", size=size),
                deferred("a spectrum, at most {max_bytes} bytes", max_bytes=MAX_BYTES),
            )
        self._stream.seek(offset)
        raw = self._stream.read(size)
        if len(raw) != size:
            raise self.refusal(
                deferred("{n_raw} bytes where the header says {size}", n_raw=len(raw), size=size),
                deferred("a complete FITS file"),
            )
        ends = raw.count(b"\n") if self._size % BLOCK else 0
        if ends and ends == raw.count(b"\r\n"):
            actual = deferred("data in which every line feed has a carriage return before it")
            raise self.refusal(actual, deferred("a FITS file that was copied in binary mode, not as text"))
        return raw

    def unread(self) -> list[str]:
        """Return the HDUs with data that were not read, and the columns of those that were."""
        names = []
        for hdu in self:
            seen = {column for number, column in self.read if number == hdu.number}
            if hdu.size and not seen:
                names.append(hdu.title)
            elif seen:
                left = [c.name for key, c in hdu.columns.items() if key not in seen]
                many = [f"{len(left)} columns of {hdu.title}"]  # of a catalogue
                names += many if len(left) > MANY else [f"column {name} of {hdu.title}" for name in left]
        return names

    @property
    def is_whole(self) -> bool:
        """Whether the file consists of complete HDUs and nothing after them, by its own headers."""
        hdus = list(self)
        return hdus[-1].end >= self._size and not any(hdu.header.says_its_size_twice for hdu in hdus)

    def __getitem__(self, index: int) -> Hdu:
        while len(self._hdus) <= index and not self._ended:
            self._find_next()
        if index >= len(self._hdus):
            raise self.refusal(f"{len(self._hdus)} HDUs", deferred("{index} or more", index=index + 1))
        return self._hdus[index]

    def __iter__(self) -> Iterator[Hdu]:
        index = 0
        while True:
            while len(self._hdus) <= index and not self._ended:
                self._find_next()
            if index >= len(self._hdus):
                return
            yield self._hdus[index]
            index += 1

    def first(self, count: int) -> list[Hdu]:
        """Return the first HDUs, fewer than ``count`` if the file has fewer."""
        return list(islice(self, count))

    def get(self, *names: str) -> Hdu | None:
        """Return the first HDU with one of these names, None if there is none."""
        return next((hdu for hdu in self if hdu.name in names), None)

    def _find_next(self) -> None:
        offset = self._hdus[-1].end if self._hdus else 0
        if offset >= self._size or len(self._hdus) >= MAX_HDUS:
            self._ended = True
            return
        self._stream.seek(offset)
        raw = b""
        for _ in range(MAX_HEADER_BLOCKS):
            block = self._stream.read(BLOCK)
            if len(block) < BLOCK or (not raw and block[:8] not in (b"SIMPLE  ", b"XTENSION")):
                # After the last HDU there is only padding or rubbish; without a first HDU it is no FITS file.
                self._ended = True
                if not self._hdus:
                    raise self.refusal(deferred("a FITS header that breaks off"), deferred("a complete FITS header"))
                return
            raw += block
            end = _end_card(block)
            if end >= 0:
                self._hdus.append(Hdu(self, raw, offset + len(raw), len(self._hdus)))
                return
        raise self.refusal(
            deferred("a header of more than {max_header_blocks} blocks", max_header_blocks=MAX_HEADER_BLOCKS),
            deferred("a header with an END card"),
        )


def _end_card(block: bytes) -> int:
    end = -1
    while (end := block.find(b"END     ", end + 1)) >= 0:
        if end % 80 == 0:
            return end
    return -1
