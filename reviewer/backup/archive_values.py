"""Conversion of a database row to plain JSON and back to the same bits; see docs/backups.md.

Arrays and masks are lists of numbers (NaN and infinity as bits: ``"0x7fc00000"``), pictures are files named by the row,
other bytes are base64. JSON text becomes JSON if writing it again gives the same text, else it stays a string.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.language import tr
from reviewer.backup.backups import BadArchive
from reviewer.store.spectra import Width, pack_as, pack_mask, unpack_as
from reviewer.store.sqlite.tables import Table, Value

Plain = dict[str, Any]
ARRAYS: Mapping[tuple[str, str], str] = {
    ("grids", "wavelength"): "wavelength_type",
    ("spectra", "flux"): "flux_type",
    ("spectra", "ivar"): "ivar_type",
}
"""Columns with an array, and the column with its width."""
MASKS = {("spectra", "mask"): ("spectra", "flux")}
"""Columns with a mask, and the array of the same length."""
PICTURES = {("pictures", "png"): "sha256"}
"""Columns with a picture, and the column with the name of its file."""
PICTURE_NAME = re.compile("[0-9a-f]{64}")
_COMPACT = (",", ":")
_SPACED = (", ", ": ")
# The columns whose JSON is written without spaces.
_SEPARATORS = {("versions", "body"): _COMPACT, ("log", "details"): _COMPACT}


def to_plain(table: Table, row: Mapping[str, Value], keep_picture: Callable[[str, bytes], str]) -> Plain:
    """Convert a row to JSON values.

    :param keep_picture: writes the file of a picture, given its key and bytes, and returns its SHA-256
    """
    return {column: _out(table, row, column, keep_picture) for column in table.columns}


def from_plain(table: Table, plain: Plain, picture: Callable[[str, str], bytes]) -> dict[str, Value]:
    """Convert a row back from JSON values. Unknown columns are kept; ``Table.wrong`` reports them.

    :param picture: returns the bytes of a picture, given its key and the SHA-256 of its file
    :raises BadArchive: naming the column, what was found and what was expected
    """
    row: dict[str, Value] = {}
    for column, value in plain.items():
        try:
            row[column] = _in(table, plain, column, value, picture)
        except (ValueError, TypeError, KeyError, OverflowError, binascii.Error) as error:
            raise BadArchive(
                tr(
                    "{column}: found {value!r:.80}, which cannot be read back ({error})",
                    column=column,
                    value=value,
                    error=error,
                )
            ) from None
    return row


def _out(table: Table, row: Mapping[str, Value], column: str, keep: Callable[[str, bytes], str]) -> Any:
    value, place = row[column], (table.name, column)
    if isinstance(value, bytes):
        return _bytes_out(table, row, column, value, keep)
    if isinstance(value, str) and column in table.json_columns:
        return _json_out(value, _SEPARATORS.get(place, _SPACED))
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}
    return value


def _bytes_out(
    table: Table, row: Mapping[str, Value], column: str, value: bytes, keep: Callable[[str, bytes], str]
) -> Any:
    place = (table.name, column)
    if place in ARRAYS:
        return numbers_out(unpack_as(_width(row[ARRAYS[place]]), value))
    if place in MASKS:
        array = MASKS[place][1]
        pixels = unpack_as(_width(row[ARRAYS[table.name, array]]), _bytes(row[array])).size
        bits = np.unpackbits(np.frombuffer(zlib.decompress(value), dtype="u1"), count=pixels)
        return bits.tolist()
    if place in PICTURES and PICTURE_NAME.fullmatch(str(row[PICTURES[place]])):
        return keep(str(row[PICTURES[place]]), value)
    return {"base64": base64.b64encode(value).decode()}


def _in(table: Table, plain: Plain, column: str, value: Any, picture: Callable[[str, str], bytes]) -> Value:
    place = (table.name, column)
    if column in table.json_columns:
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False, separators=_SEPARATORS.get(place, _SPACED))
    if isinstance(value, dict) and value.keys() == {"base64"}:
        return base64.b64decode(value["base64"], validate=True)
    if isinstance(value, dict) and value.keys() == {"number"}:
        return float(value["number"])
    if value is None:
        return None
    if place in ARRAYS:
        return pack_as(_width(plain[ARRAYS[place]]), numbers_in(_width(plain[ARRAYS[place]]), value))
    if place in MASKS:
        if not isinstance(value, list) or not set(value) <= {0, 1}:
            raise ValueError(tr("expected a list of 0 and 1"))
        return pack_mask(np.array(value, dtype=bool))
    if place in PICTURES:
        return picture(str(plain[PICTURES[place]]), value)
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError(tr("expected text or a number"))
    return value


def numbers_out(array: NDArray[Any]) -> list[float | str]:
    """Return the shortest decimal numbers that read back to the same bits; NaN and infinity as their bits."""
    # A signalling NaN warns when it is cast; it is written as bits below.
    with np.errstate(invalid="ignore"):
        doubles = array.astype("<f8")
    if array.dtype.itemsize == 4:
        # NumPy writes a float32 with the fewest digits that identify it; as a double it would have 17.
        short = array.astype("U").astype("<f8")
        bits = np.dtype("<u4")
        with np.errstate(over="ignore", invalid="ignore"):
            same = short.astype("<f4").view(bits) == array.view(bits)
        doubles = np.where(same, short, doubles)
    numbers: list[float | str] = doubles.tolist()
    for index in np.flatnonzero(~np.isfinite(array)):
        numbers[index] = "0x" + array[index : index + 1].astype(array.dtype.newbyteorder(">")).tobytes().hex()
    return numbers


def numbers_in(width: Width, numbers: Any) -> NDArray[Any]:
    """Return the array that ``numbers_out`` converted. :raises ValueError: this is no list of numbers"""
    if not isinstance(numbers, list):
        raise ValueError(tr("expected a list of numbers"))
    strange = {i: n for i, n in enumerate(numbers) if type(n) not in (float, int)}
    plain = [0.0 if i in strange else n for i, n in enumerate(numbers)] if strange else numbers
    with np.errstate(over="ignore"):
        array = np.array(plain, dtype="<f8").astype(width)
    if not np.isfinite(array).all():
        raise ValueError(tr("a number is too large for {width}", width=width))
    for index, bits in strange.items():
        if not isinstance(bits, str) or not re.fullmatch(f"0x[0-9a-f]{{{2 * array.itemsize}}}", bits):
            raise ValueError(tr("number {index} is {bits!r:.40}", index=index, bits=bits))
        array[index : index + 1] = np.frombuffer(bytes.fromhex(bits[2:]), dtype=array.dtype.newbyteorder(">"))
    return array


def _json_out(text: str, separators: tuple[str, str]) -> Any:
    try:
        value = json.loads(text)
        again = json.dumps(value, ensure_ascii=False, separators=separators, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    # A string in the archive is always the stored text itself.
    return value if again == text and value is not None and not isinstance(value, str) else text


def _width(value: object) -> Width:
    if value == "<f4":
        return "<f4"
    if value == "<f8":
        return "<f8"
    raise ValueError(tr("found the width {value!r:.20}, expected <f4 or <f8", value=value))


def _bytes(value: Value) -> bytes:
    assert isinstance(value, bytes)
    return value
