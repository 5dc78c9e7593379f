"""Records of catalogues: what one catalogue answered about the surroundings of one object, with all its sources.

A record says whether the catalogue has sources there (``found``), has none (``not found``), was not queried (``not
asked``) or could not be read (``failed``). Only an answer that was complete and checked is ``not found``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal, get_args

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked

from agent.errors import Refusal
from agent.language import tr
from agent.text import one_line

Status = Literal["found", "not found", "not asked", "failed"]
STATUSES: tuple[Status, ...] = get_args(Status)

RADIUS = 10.0
"""Arcseconds around the object within which every source is kept."""

_CHECKED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class SkyError(Refusal, ValueError):
    """Records, a catalogue or its map that cannot be used: where, what was found and what was expected."""

    kind = "sky"


@checked(frozen=True, config=_CHECKED)
class LightCurve:
    """Brightness over time, columns of one length: MJD in days (UTC or TDB, as the catalogue has it), magnitudes with
    1σ errors, and the band of each point.
    """

    mjd: tuple[float, ...]
    magnitude: tuple[float, ...]
    error: tuple[float, ...]
    band: tuple[str, ...]

    def __post_init__(self) -> None:
        if len({len(self.mjd), len(self.magnitude), len(self.error), len(self.band)}) > 1:
            raise ValueError("columns of different lengths")


@checked(frozen=True, config=_CHECKED)
class Source:
    """A source of a catalogue near the object.

    :param id: its identifier in the catalogue
    :param ra: degrees, ICRS, at the epoch of the record's catalogue; ``dec`` too
    :param separation: arcseconds from the object, both at one epoch after proper motion (``agent.sky.matching``)
    :param values: quantities under this program's names and in its units (``agent.sky.maps``); what the catalogue does
        not give is missing
    :param texts: names and types, of catalogues that have the role "names" only
    """

    id: str
    ra: float
    dec: float
    separation: float
    values: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    curve: LightCurve | None = None


@checked(frozen=True, config=_CHECKED)
class SkyRecord:
    """The answer of one catalogue about one object.

    :param catalogue: key of the catalogue's map, which names its release
    :param detail: why it failed or was not queried, as one sentence in English; "" otherwise
    :param service: address of the service, or name of the file
    :param query: text of the query, without the object's position; for a file, its columns
    :param queried_at: ISO 8601, UTC; "" if it was not queried
    :param radius: arcseconds
    :param ra: degrees, ICRS, of the object; ``dec`` too
    :param epochs: Julian years between which that position holds; equal where the epoch is stated
    :param sources: all within ``radius``, the nearest first
    :param simulated: drawn by the simulator, not measured
    """

    catalogue: str
    status: Status
    ra: float
    dec: float
    epochs: tuple[float, float]
    detail: str = ""
    service: str = ""
    query: str = ""
    queried_at: str = ""
    radius: float = RADIUS
    sources: tuple[Source, ...] = ()
    simulated: bool = False

    def __post_init__(self) -> None:
        if (self.status == "found") != bool(self.sources):
            raise ValueError(f"status {self.status!r} with {len(self.sources)} sources")
        if (self.status in ("failed", "not asked")) != bool(self.detail):
            raise ValueError(f"status {self.status!r} with the detail {self.detail!r:.60}")

    @property
    def is_answer(self) -> bool:
        """Whether the catalogue answered: only then is the absence of a source a fact."""
        return self.status in ("found", "not found")

    @property
    def query_sha256(self) -> str:
        return hashlib.sha256(self.query.encode()).hexdigest()

    @cached_property
    def sha256(self) -> str:
        """Hash of the whole record, as JSON with sorted keys."""
        text = json.dumps(self.to_json(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return JSON values; ``record_from`` gives back an equal record."""
        values: dict[str, Any] = _adapter().dump_python(self, mode="json")
        return values


@cache
def _adapter() -> TypeAdapter[SkyRecord]:
    return TypeAdapter(SkyRecord)


def record_from(text: str | bytes, where: str) -> SkyRecord:
    """Read the JSON text of a record.

    :param where: file and row, for the message
    :raises SkyError: it is not the text of a record
    """
    try:
        return _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "record"
        raise SkyError(
            tr(
                "{where}: {field}: found {found}; expected a record of a catalogue ({reason})",
                where=where,
                field=place,
                found=one_line(repr(first["input"]), 60),
                reason=first["msg"],
            )
        ) from None


def record_text(record: SkyRecord) -> str:
    """Return the JSON text that ``record_from`` reads."""
    return _adapter().dump_json(record).decode()


@dataclass(frozen=True)
class Sky:
    """The records of one object, one per catalogue."""

    records: Mapping[str, SkyRecord] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[SkyRecord]) -> Sky:
        """Return the records by their catalogues; of two of one catalogue the later one in the order given."""
        return cls({record.catalogue: record for record in records})

    def __iter__(self) -> Iterator[SkyRecord]:
        return iter(self.records.values())

    def __bool__(self) -> bool:
        return bool(self.records)

    @cached_property
    def sha256(self) -> str:
        """Hash of the hashes of its records, sorted."""
        return hashlib.sha256("".join(sorted(record.sha256 for record in self)).encode()).hexdigest()
