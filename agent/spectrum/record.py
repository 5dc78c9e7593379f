"""The ``Spectrum`` record, its checks and its JSON form.

A ``Spectrum`` states everything that later steps need to use its numbers: medium, frame, flux unit, which pixels hold
no data and which the survey flagged. Its arrays are checked once and are then read-only."""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agent.errors import Refusal
from agent.language import deferred
from agent.spectrum.noise import ivar_from_scatter
from agent.text import LONE_SURROGATE

SCHEMA = "spec-o3/spectrum/1"
MAX_PIXELS = 10_000_000  # limit for data from a sender

ARRAYS = ("wavelength", "flux", "ivar", "mask")
EXPOSURE_ARRAYS = ("wavelength", "flux", "ivar")
MAX_EXPOSURES = 500
_TEXTS = ("medium", "frame", "flux_unit", "survey", "name", "catalogue_class", "errors")
_NUMBERS = ("ra", "dec", "redshift")
_MAPPINGS = ("ids", "snr", "meta")

_ONE_LENGTH = deferred("arrays of one length")
_CHOICES = {
    "medium": ("vacuum", "air"),
    "frame": ("observed", "rest"),
    "errors": ("measured", "estimated"),
}


def _is_finite(value: object) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _vector(name: str, what: str, values: ArrayLike) -> FloatArray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise SpectrumError(
            name, deferred("{what} that is not numbers", what=what), deferred("a 1-D array of numbers")
        ) from None
    if array.ndim != 1:
        raise SpectrumError(
            name, deferred("{what} of shape {shape}", what=what, shape=array.shape), deferred("a 1-D array")
        )
    if not np.isfinite(array).all():
        raise SpectrumError(name, deferred("{what} with NaN or infinity in it", what=what), deferred("finite numbers"))
    return _read_only(array)


def _read_only(array: _Array) -> _Array:
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def _check_pixels(name: str, wavelength: FloatArray, flux: FloatArray, ivar: FloatArray) -> None:
    """:raises SpectrumError: not two or more pixels of increasing, positive wavelength with ivar of 0 or more"""
    lengths = [wavelength.size, flux.size, ivar.size]
    if len(set(lengths)) != 1:
        raise SpectrumError(name, deferred("wavelength, flux, ivar of {lengths} pixels", lengths=lengths), _ONE_LENGTH)
    if lengths[0] < 2:
        raise SpectrumError(name, f"{lengths[0]} pixels", deferred("two or more"))
    if wavelength[0] <= 0:
        raise SpectrumError(
            name,
            deferred("a wavelength of {wavelength:g} Å", wavelength=wavelength[0]),
            deferred("positive wavelengths"),
        )
    steps = np.diff(wavelength)
    if not (steps > 0).all():
        at = int(np.argmin(steps > 0))
        pair = deferred(
            "{wavelength:.8g} Å followed by {wavelength_2:.8g} Å",
            wavelength=wavelength[at],
            wavelength_2=wavelength[at + 1],
        )
        raise SpectrumError(name, pair, deferred("wavelengths that increase from pixel to pixel"))
    if (ivar < 0).any():
        raise SpectrumError(name, deferred("a negative inverse variance"), deferred("ivar of 0 (no data) or more"))


Medium = Literal["vacuum", "air"]
Frame = Literal["observed", "rest"]
Errors = Literal["measured", "estimated"]
Scalar = str | int | float | bool | None

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
_Array = TypeVar("_Array", bound=NDArray[Any])


class SpectrumError(Refusal, ValueError):
    """A file, or values, that are no usable spectrum: its name, what was found and what was expected."""

    kind = "spectrum"

    def __init__(self, name: str, actual: str, expected: str) -> None:
        super().__init__(name, actual, expected)
        self.name = name
        self.actual = actual
        self.expected = expected

    @property
    def sentence(self) -> str:
        return deferred(
            "{name}: found {found}; expected {expected}", name=self.name, found=self.actual, expected=self.expected
        )


class SeveralSpectra(SpectrumError):
    """A file of several spectra was read without naming one; ``targets`` lists them in file order."""

    def __init__(self, name: str, targets: Sequence[str]) -> None:
        self.targets = tuple(targets)
        shown = ", ".join(self.targets[:5]) + (", …" if len(self.targets) > 5 else "")
        super().__init__(
            name,
            deferred("{n} spectra ({shown})", n=len(self.targets), shown=shown),
            deferred("one of them named as target"),
        )

    def __reduce__(self) -> tuple[type[SeveralSpectra], tuple[str, tuple[str, ...]]]:
        return SeveralSpectra, (self.name, self.targets)


@dataclass(frozen=True, eq=False)
class Exposure:
    """One exposure, or one arm of it, that went into a spectrum, for display.

    Medium, frame and flux unit are those of its spectrum. Arrays as in ``Spectrum``, with a length of their own.

    :param name: as the survey names it, e.g. the arm and the exposure's number
    :param ivar: 0 = no data
    :raises SpectrumError: naming ``name``
    """

    name: str
    wavelength: FloatArray
    flux: FloatArray
    ivar: FloatArray

    def __post_init__(self) -> None:
        for what in EXPOSURE_ARRAYS:
            object.__setattr__(self, what, _vector(self.name, what, getattr(self, what)))
        _check_pixels(self.name, self.wavelength, self.flux, self.ivar)

    def __reduce__(self) -> tuple[type[Exposure], tuple[Any, ...]]:
        return Exposure, (self.name, self.wavelength, self.flux, self.ivar)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """A one-dimensional spectrum and the meaning of its numbers.

    Arrays are 1-D, of one length (2 pixels or more), read-only. They may be given as anything numpy can turn
    into an array; a copy is made unless they already are read-only arrays of the right type.

    :param wavelength: Å, float64, strictly increasing, positive, in ``medium`` and ``frame``
    :param flux: ``flux_unit``, float64, finite. A pixel without a number in its file holds the straight line
        between its neighbours and ivar 0, so that nothing downstream meets a NaN and a drawn line looks as if
        the pixel were left out.
    :param ivar: 1 / ``flux_unit``², float64, finite, 0 or more; 0 = no data. If not given it is estimated
        from the pixel-to-pixel scatter (``agent.spectrum.noise``) and ``errors`` is "estimated".
    :param mask: bool, True = the survey flags the pixel; flux and ivar are kept. Not given: nothing flagged.
    :param redshift: as the catalogue or header gives it, None if unknown; a radial velocity is given as v/c
    :param snr: signal-to-noise by band or arm, as the catalogue gives it
    :param meta: anything else worth keeping, JSON scalars only
    :param model: the pipeline's best-fitting model on the same pixels (n,), ``flux_unit``, finite; None if the file has
        none
    :param exposures: the exposures that were averaged, if the file has them

    Model and exposures are for display: they belong neither to ``sha256`` nor to equality.
    :raises SpectrumError: naming ``name``, what was found and what was expected
    """

    wavelength: FloatArray
    flux: FloatArray
    ivar: FloatArray = None  # type: ignore[assignment]  # __post_init__ always leaves an array
    mask: BoolArray = None  # type: ignore[assignment]
    medium: Medium = "vacuum"
    frame: Frame = "observed"
    flux_unit: str = "relative"
    survey: str = ""
    name: str = "spectrum"
    ids: Mapping[str, str] = field(default_factory=dict)
    ra: float | None = None
    dec: float | None = None
    redshift: float | None = None
    snr: Mapping[str, float] = field(default_factory=dict)
    catalogue_class: str = ""
    meta: Mapping[str, Scalar] = field(default_factory=dict)
    errors: Errors = "measured"
    model: FloatArray | None = field(default=None, compare=False)
    exposures: tuple[Exposure, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "wavelength", _vector(self.name, "wavelength", self.wavelength))
        put(self, "flux", _vector(self.name, "flux", self.flux))
        if self.ivar is None:
            put(self, "ivar", ivar_from_scatter(self.flux))
            put(self, "errors", "estimated")
        put(self, "ivar", _vector(self.name, "ivar", self.ivar))
        mask = np.zeros(self.flux.shape, dtype=bool) if self.mask is None else self.mask
        put(self, "mask", _read_only(np.asarray(mask, dtype=bool)))
        # Survey headers have NaN and infinity where nothing was measured; JSON has neither.
        put(self, "snr", {key: value for key, value in self.snr.items() if _is_finite(value)})
        put(self, "meta", {key: value if _is_finite(value) else None for key, value in self.meta.items()})
        for mapping in _MAPPINGS:
            put(self, mapping, MappingProxyType(dict(getattr(self, mapping))))
        if self.model is not None:
            put(self, "model", _vector(self.name, "model", self.model))
        put(self, "exposures", tuple(self.exposures))
        self._check_arrays()
        self._check_values()

    def _check_arrays(self) -> None:
        if self.mask.ndim != 1 or self.mask.size != self.flux.size:
            raise SpectrumError(
                self.name,
                deferred("{size} pixels, mask of shape {shape}", size=self.flux.size, shape=self.mask.shape),
                _ONE_LENGTH,
            )
        if self.model is not None and self.model.size != self.flux.size:
            raise SpectrumError(
                self.name,
                deferred("{size} pixels, a model of {size2}", size=self.flux.size, size2=self.model.size),
                _ONE_LENGTH,
            )
        _check_pixels(self.name, self.wavelength, self.flux, self.ivar)
        if len(self.exposures) > MAX_EXPOSURES:
            raise SpectrumError(
                self.name,
                f"{len(self.exposures)} exposures",
                deferred("at most {max_exposures}", max_exposures=MAX_EXPOSURES),
            )

    def _check_values(self) -> None:
        for what, allowed in _CHOICES.items():
            if getattr(self, what) not in allowed:
                raise SpectrumError(self.name, f"{what} {getattr(self, what)!r}", " or ".join(allowed))
        for what in _NUMBERS:
            value = getattr(self, what)
            if value is not None and not np.isfinite(value):
                raise SpectrumError(self.name, f"{what} {value!r}", deferred("a finite number or None"))
        if self.redshift is not None and self.redshift <= -1:
            raise SpectrumError(self.name, f"redshift {self.redshift!r}", deferred("a redshift above -1"))
        for key, value in self.meta.items():
            if not isinstance(value, str | int | float | bool | None):
                raise SpectrumError(
                    self.name,
                    deferred("meta[{key!r}] of {name}", key=key, name=type(value).__name__),
                    deferred("a JSON scalar"),
                )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spectrum):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self) if f.compare)
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[type[Spectrum], tuple[Any, ...]]:
        values = (getattr(self, f.name) for f in fields(self))
        return Spectrum, tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)

    def __len__(self) -> int:
        return int(self.wavelength.size)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 (hex) of the little-endian arrays and of medium, frame, flux unit, name and redshift."""
        digest = hashlib.sha256()
        for array in (self.wavelength, self.flux, self.ivar):
            digest.update(array.astype("<f8", copy=False).tobytes())
        digest.update(self.mask.astype("u1").tobytes())
        meaning = (self.medium, self.frame, self.flux_unit, self.name, repr(self.redshift))
        digest.update("\0".join(meaning).encode())
        return digest.hexdigest()

    @property
    def sampling(self) -> float:
        """Median distance between neighbouring pixels, Å: 1 to 2 for surveys, 40 to 80 for photometric standards.

        Only pixels between 3700 and 9000 Å count, if at least two are there: libraries sample the infrared far more
        coarsely.
        """
        optical = self.wavelength[(self.wavelength >= 3700.0) & (self.wavelength <= 9000.0)]
        return float(np.median(np.diff(optical if optical.size > 1 else self.wavelength)))

    @cached_property
    def snr_typical(self) -> float:
        """Signal-to-noise per pixel in one number: the catalogue's r band (or median) if the file has it, otherwise the
        median of flux √ivar over pixels with data; 0 without any.
        """
        for band in ("r", "median"):
            if band in self.snr:
                return self.snr[band]
        seen = self.ivar > 0
        return float(np.median(self.flux[seen] * np.sqrt(self.ivar[seen]))) if seen.any() else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, arrays included; ``from_json`` gives back an equal value.

        The keys ``model`` and ``exposures`` are present only if there are any.
        """
        return facts(self) | {key: pack(getattr(self, key)) for key in ARRAYS} | curves(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Spectrum:
        """Read the JSON form. :raises SpectrumError: the field, what was found, what was expected"""
        name = _checked_name(data)
        arrays = {key: unpack(name, key, data.get(key)) for key in ARRAYS}
        return from_facts(data, arrays | unpack_curves(name, data))


def with_medium(spectrum: Spectrum, medium: Medium, set_by: str) -> Spectrum:
    """Return a spectrum whose file does not state the medium with the medium that a person states.

    The wavelengths keep their values: they are read as Å in another medium, not converted. A spectrum whose file states
    its medium is returned as it is.

    :param set_by: who states it, kept in ``meta["medium_set_by"]``
    """
    if not medium_may_be_set(spectrum):
        return spectrum
    meta = {key: value for key, value in spectrum.meta.items() if key != "medium_assumed"}
    return replace(spectrum, medium=medium, meta={**meta, "medium_set_by": set_by})


def medium_may_be_set(spectrum: Spectrum) -> bool:
    """Return whether the medium is an assumption, or was stated by a person, and not by the file."""
    return bool(spectrum.meta.get("medium_assumed")) or "medium_set_by" in spectrum.meta


def medium_text(spectrum: Spectrum) -> str:
    """Return the medium as it is written for a reader: "air", or "air (assumed)" where the file does not state it."""
    return f"{spectrum.medium} (assumed)" if spectrum.meta.get("medium_assumed") else spectrum.medium


def facts(spectrum: Spectrum) -> dict[str, Any]:
    """Return the JSON form without its arrays."""
    form: dict[str, Any] = {"schema": SCHEMA}
    form |= {key: getattr(spectrum, key) for key in (*_TEXTS, *_NUMBERS)}
    form |= {key: dict(getattr(spectrum, key)) for key in _MAPPINGS}
    return form


def curves(spectrum: Spectrum) -> dict[str, Any]:
    """Return the keys ``model`` and ``exposures`` of the JSON form; a spectrum without them has neither key."""
    form: dict[str, Any] = {}
    if spectrum.model is not None:
        form["model"] = pack(spectrum.model)
    if spectrum.exposures:
        form["exposures"] = [
            {"name": exposure.name} | {key: pack(getattr(exposure, key)) for key in EXPOSURE_ARRAYS}
            for exposure in spectrum.exposures
        ]
    return form


def unpack_curves(name: str, form: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``model`` and ``exposures`` for ``Spectrum``, from a form with the keys of ``curves``.

    :raises SpectrumError: naming ``name``, what was found and what was expected
    """
    model = form.get("model")
    return {
        "model": None if model is None else unpack(name, "model", model),
        "exposures": _exposures(name, form.get("exposures", [])),
    }


def _exposures(name: str, form: Any) -> tuple[Exposure, ...]:
    if not isinstance(form, list) or len(form) > MAX_EXPOSURES:
        raise SpectrumError(
            name, f"exposures {form!r:.60}", deferred("a list of at most {max_exposures}", max_exposures=MAX_EXPOSURES)
        )
    rows = [_of_type(name, "exposures", entry, Mapping) for entry in form]
    return tuple(
        Exposure(
            _of_type(name, deferred("name of an exposure"), row.get("name"), str),
            *(unpack(name, deferred("{key} of an exposure", key=key), row.get(key)) for key in EXPOSURE_ARRAYS),
        )
        for row in rows
    )


def from_facts(data: Mapping[str, Any], arrays: Mapping[str, Any]) -> Spectrum:
    """Return a spectrum from the result of ``facts``, its four arrays and, if it has any, ``model`` and ``exposures``.

    :raises SpectrumError: as ``from_json``
    """
    name = _checked_name(data)
    values = dict(arrays)
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
                raise SpectrumError(name, f"{mapping}[{key!r:.60}] {value!r}", deferred("a finite number"))
    return Spectrum(**values)


def _checked_name(data: Mapping[str, Any]) -> str:
    name = str(data.get("name") or "spectrum")
    if data.get("schema") != SCHEMA:
        raise SpectrumError(name, f"schema {data.get('schema')!r:.60}", repr(SCHEMA))
    return name


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """Return a 1-D bool or float64 array as JSON values; ``unpack`` gives the same numbers back."""
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
    """Return the float64 array in ``packed``, of at most ``MAX_PIXELS`` elements.

    :raises SpectrumError: naming ``name`` and ``key``
    """
    packed = _of_type(name, key, packed, Mapping)
    n, dtype, text = packed.get("n"), packed.get("dtype"), packed.get("data")
    if dtype not in ("<f4", "<f8", "|u1") or type(n) is not int or not 0 < n <= MAX_PIXELS:
        raise SpectrumError(
            name,
            deferred("{key} of {n!r:.20} numbers of type {dtype!r:.20}", key=key, n=n, dtype=dtype),
            deferred("<f4, <f8 or |u1 numbers"),
        )
    width = np.dtype(dtype).itemsize
    try:
        unzip = zlib.decompressobj()
        raw = unzip.decompress(base64.b64decode(_of_type(name, key, text, str), validate=True), n * width)
    except (zlib.error, binascii.Error, ValueError):
        raise SpectrumError(
            name, deferred("{key} with damaged data", key=key), deferred("base64 of zlib-compressed numbers")
        ) from None
    if len(raw) != n * width:
        raise SpectrumError(
            name,
            deferred("{key} of {n_raw} bytes", key=key, n_raw=len(raw)),
            deferred("{n} numbers in {n2} bytes", n=n, n2=n * width),
        )
    rows = np.frombuffer(raw, dtype="u1").reshape(width, n).T
    array: NDArray[np.float64] = np.ascontiguousarray(rows).view(dtype).ravel().astype(np.float64)
    return array


def _of_type(name: str, key: str, value: Any, kind: Any) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        expected = {str: deferred("text"), Mapping: deferred("an object")}.get(kind, deferred("a number"))
        raise SpectrumError(name, f"{key} {value!r:.60}", expected)
    if isinstance(value, str) and LONE_SURROGATE.search(value):
        raise SpectrumError(name, f"{key} {value!r:.60}", deferred("whole characters"))
    return value


def _number(name: str, key: str, value: Any) -> float:
    try:
        return float(_of_type(name, key, value, (int, float)))
    except OverflowError:
        raise SpectrumError(
            name, deferred("{key} of {n} digits", key=key, n=len(str(value))), deferred("a number")
        ) from None
