"""The JSON form of a spectrum: self-contained, exact, and small enough to travel with a trajectory.

An array becomes ``{"n", "dtype", "data"}``: little-endian numbers, their bytes shuffled (all first bytes,
then all second bytes ..., which makes the slowly changing ones compress), zlib, base64. float32 is used
where that loses nothing.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.spectrum.record import Spectrum, SpectrumError

SCHEMA = "spec-o3/spectrum/1"
MAX_PIXELS = 10_000_000  # what a sender may make the receiver unpack

ARRAYS = ("wavelength", "flux", "ivar", "mask")
_TEXTS = ("medium", "frame", "flux_unit", "survey", "name", "catalogue_class", "errors")
_NUMBERS = ("ra", "dec", "redshift")
_MAPPINGS = ("ids", "snr", "meta")


def to_json(spectrum: Spectrum) -> dict[str, Any]:
    """The JSON form of ``spectrum``; see the module's docstring for the arrays."""
    return facts(spectrum) | {key: pack(getattr(spectrum, key)) for key in ARRAYS}


def facts(spectrum: Spectrum) -> dict[str, Any]:
    """All of the JSON form but its arrays."""
    form: dict[str, Any] = {"schema": SCHEMA}
    form |= {key: getattr(spectrum, key) for key in (*_TEXTS, *_NUMBERS)}
    form |= {key: dict(getattr(spectrum, key)) for key in _MAPPINGS}
    return form


def from_json(data: Mapping[str, Any]) -> Spectrum:
    """Read the JSON form. :raises SpectrumError: naming the field, what was found, what was wanted."""
    name = _checked_name(data)
    return from_facts(data, {key: unpack(name, key, data.get(key)) for key in ARRAYS})


def from_facts(data: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Spectrum:
    """A spectrum from what ``facts`` gave and its four arrays. :raises SpectrumError: as ``from_json``"""
    name = _checked_name(data)
    values: dict[str, Any] = dict(arrays)
    values["mask"] = values["mask"].astype(bool)
    for key in _TEXTS:
        values[key] = _of_type(name, key, data.get(key), str)
    for key in _MAPPINGS:
        values[key] = _of_type(name, key, data.get(key), Mapping)
    for key in _NUMBERS:
        number = data.get(key)
        values[key] = None if number is None else _number(name, key, number)
    values["ids"] = {str(k): str(v) for k, v in values["ids"].items()}
    values["snr"] = {str(k): _number(name, "snr", v) for k, v in values["snr"].items()}
    for mapping in ("snr", "meta"):
        for key, value in values[mapping].items():
            if isinstance(value, float) and not np.isfinite(value):
                raise SpectrumError(name, f"{mapping}[{key!r:.60}] {value!r}", "a finite number")
    return Spectrum(**values)


def _checked_name(data: Mapping[str, Any]) -> str:
    name = str(data.get("name") or "spectrum")
    if data.get("schema") != SCHEMA:
        raise SpectrumError(name, f"schema {data.get('schema')!r:.60}", repr(SCHEMA))
    return name


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """A 1-D bool or float64 array as JSON values; ``unpack`` gives the same numbers back."""
    if array.dtype == bool:
        array = array.astype("u1")
    else:
        with np.errstate(over="ignore"):
            short = array.astype("<f4")
        array = short if np.array_equal(short, array) else array.astype("<f8", copy=False)
    shuffled = array.view("u1").reshape(array.size, array.itemsize).T.tobytes()
    data = base64.b64encode(zlib.compress(shuffled, 6)).decode("ascii")
    return {"n": array.size, "dtype": array.dtype.str, "data": data}


def unpack(name: str, key: str, packed: Any) -> NDArray[np.float64]:
    """The float64 array in ``packed``; at most ``MAX_PIXELS`` are unpacked.

    :raises SpectrumError: naming ``name`` and ``key``
    """
    packed = _of_type(name, key, packed, Mapping)
    n, dtype, text = packed.get("n"), packed.get("dtype"), packed.get("data")
    if dtype not in ("<f4", "<f8", "|u1") or type(n) is not int or not 0 < n <= MAX_PIXELS:
        raise SpectrumError(name, f"{key} of {n!r:.20} numbers of type {dtype!r:.20}", "<f4, <f8 or |u1 numbers")
    width = np.dtype(dtype).itemsize
    try:
        unzip = zlib.decompressobj()
        raw = unzip.decompress(base64.b64decode(_of_type(name, key, text, str), validate=True), n * width)
    except (zlib.error, binascii.Error, ValueError):
        raise SpectrumError(name, f"{key} with damaged data", "base64 of zlib-compressed numbers") from None
    if len(raw) != n * width:
        raise SpectrumError(name, f"{key} of {len(raw)} bytes", f"{n} numbers in {n * width} bytes")
    rows = np.frombuffer(raw, dtype="u1").reshape(width, n).T
    array: NDArray[np.float64] = np.ascontiguousarray(rows).view(dtype).ravel().astype(np.float64)
    return array


def _of_type(name: str, key: str, value: Any, kind: Any) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        wanted = {str: "text", Mapping: "an object"}.get(kind, "a number")
        raise SpectrumError(name, f"{key} {value!r:.60}", wanted)
    if isinstance(value, str) and not _is_whole(value):
        raise SpectrumError(name, f"{key} {value!r:.60}", "whole characters")
    return value


def _number(name: str, key: str, value: Any) -> float:
    try:
        return float(_of_type(name, key, value, (int, float)))
    except OverflowError:
        raise SpectrumError(name, f"{key} of {len(str(value))} digits", "a number") from None


def _is_whole(text: str) -> bool:
    """Whether a text can be written; JSON can hold half a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
