"""Tables of records (``sky.parquet``): a row per spectrum and catalogue, with the record as JSON.

Other programs find the quantities of the nearest source as columns. Rows are sorted by spectrum, so that the
records of a spectrum are read from one row group.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred, tr
from agent.sky.maps import QUANTITIES
from agent.sky.records import Sky, SkyError, SkyRecord, record_from, record_text
from agent.text import one_line

ROWS = 2_000
"""Per row group."""
_PLAIN = ("spectrum", "catalogue", "status", "detail", "queried_at", "sources", "separation")


def write_table(path: Path, rows: Iterable[tuple[str, SkyRecord]]) -> int:
    """Write the records of spectra, each by the spectrum's SHA-256, and return how many. The file is whole or missing.

    Of two records of one spectrum and catalogue the last one counts.

    :raises OSError: the file cannot be written
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    latest = {(sha256, record.catalogue): record for sha256, record in rows}
    ordered = sorted(latest.items(), key=lambda item: item[0])
    schema = pa.schema(
        [
            *((name, pa.string()) for name in _PLAIN[:5]),
            ("sources", pa.int32()),
            *((name, pa.float64()) for name in ("separation", *QUANTITIES)),
            ("record", pa.string()),
        ]
    )
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with pq.ParquetWriter(part, schema, compression="zstd") as writer:
            for start in range(0, len(ordered), ROWS):
                values = [_row(sha256, record) for (sha256, _), record in ordered[start : start + ROWS]]
                writer.write_table(pa.Table.from_pylist(values, schema=schema))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return len(ordered)


def _row(sha256: str, record: SkyRecord) -> dict[str, Any]:
    nearest = record.sources[0] if record.sources else None
    row = {"spectrum": sha256, "record": record_text(record), "sources": len(record.sources)}
    row |= {name: getattr(record, name) for name in ("catalogue", "status", "detail", "queried_at")}
    return row if nearest is None else row | {"separation": nearest.separation} | dict(nearest.values)


class SkyTable:
    """A table of records, read where it is needed; usable from many threads and, pickled, in other processes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return SkyTable, (self.path,)

    def __call__(self, sha256: str) -> Sky:
        """Return the records of a spectrum; none if the table has none. :raises SkyError: the table cannot be read"""
        start, end = (int(np.searchsorted(self._keys, sha256.encode(), side)) for side in ("left", "right"))
        return Sky.of(record for _, record in self._between(start, end))

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    def rows(self) -> Iterator[tuple[str, SkyRecord]]:
        """Yield every record with the SHA-256 of its spectrum. :raises SkyError: the table cannot be read"""
        yield from self._between(0, len(self._keys))

    def _between(self, start: int, end: int) -> Iterator[tuple[str, SkyRecord]]:
        while start < end:
            group = int(np.searchsorted(self._starts, start, side="right")) - 1
            first = int(self._starts[group])
            keys, texts = self._group(group)
            stop = min(end, first + len(keys))
            for number in range(start, stop):
                where = tr("{path}, row {number}", path=self.path, number=number + 1)
                yield keys[number - first], record_from(texts[number - first] or "", where)
            start = stop

    @cached_property
    def catalogues(self) -> tuple[str, ...]:
        """Keys of the catalogues of which it has records, sorted. :raises SkyError: the table cannot be read"""
        columns = self._columns(lambda file: file.read(["catalogue"]), 1, len(self))
        return tuple(sorted(set(columns["catalogue"])))

    @cached_property
    def _file(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(self.path)
        except (OSError, pa.ArrowException) as error:
            raise SkyError(
                deferred(
                    "{path}: found no readable Parquet file ({error}); expected a table of `spec-o3 sky fetch`",
                    path=self.path,
                    error=str(error),
                )
            ) from None
        if missing := {"spectrum", "catalogue", "record"} - set(file.schema_arrow.names):
            raise SkyError(
                deferred(
                    "{path}: found no column {names}; expected a table of `spec-o3 sky fetch`",
                    path=self.path,
                    names=", ".join(sorted(missing)),
                )
            )
        return file

    @cached_property
    def _keys(self) -> NDArray[np.bytes_]:
        keys = self._columns(lambda file: file.read(["spectrum"]), 1, len(self))["spectrum"]
        known = np.array([str(key).encode() for key in keys], dtype="S64")
        if (known[1:] < known[:-1]).any():
            raise SkyError(
                deferred("{path}: found rows in another order; expected them sorted by spectrum", path=self.path)
            )
        return known

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        metadata = self._file.metadata
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        return np.cumsum([0, *sizes[:-1]]) if sizes else np.zeros(1, dtype=np.int64)

    @cached_property
    def _group(self) -> Any:
        @lru_cache(maxsize=4)
        def read(number: int) -> tuple[list[str], list[str]]:
            first, rows = int(self._starts[number]), self._file.metadata.row_group(number).num_rows
            columns = self._columns(
                lambda file: file.read_row_group(number, ["spectrum", "record"]), first + 1, first + rows
            )
            return columns["spectrum"], columns["record"]

        return read

    def _columns(self, read: Callable[[Any], Any], first: int, last: int) -> Mapping[str, list[str]]:
        import pyarrow as pa

        try:
            columns: Mapping[str, list[str]] = read(self._file).to_pydict()
        except (OSError, ValueError, pa.ArrowException) as error:
            raise SkyError(
                deferred(
                    "{path}, rows {first} to {last}: they cannot be read ({error}); expected a table of `spec-o3 sky "
                    "fetch`. The file is damaged: write or copy it again",
                    path=self.path,
                    first=first,
                    last=last,
                    error=one_line(str(error), 200),
                )
            ) from None
        return columns
