"""Catalogues in local files: Parquet, folders of Parquet files such as HATS, FITS tables, VOTable, CSV and ECSV.

Parquet, FITS and CSV are read piece by piece, and of Parquet only the row groups near a target, so that the memory does
not grow with the file; VOTable and ECSV are read as a whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agent.sky.columns import FloatArray, NoAnswer, rows_of
from agent.sky.maps import CatalogueMap
from agent.sky.matching import Target, reach
from agent.sky.records import RADIUS, Source
from agent.sky.tap import radius_of
from agent.text import one_line

PIECE = 250_000
"""Rows that are read at once."""
COVERED = 0.5
"""Degrees. A file that has no source so near to a target is taken not to cover it: catalogues have more sources."""
_SAMPLE = 20_000
"""Rows of a piece from which coverage is decided."""

Piece = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Columns, and the units that the file states."""


@dataclass(frozen=True)
class LocalFile:
    """A file or folder with rows of a catalogue, under the names of its map."""

    path: Path

    def sources(self, catalogue: CatalogueMap, targets: Sequence[Target]) -> tuple[list[list[Source] | None], str]:
        """Return the sources near each target, None where the file does not cover it, and the columns that are read.

        :raises NoAnswer: the file cannot be read, is cut short or is not of this catalogue
        """
        from scipy.spatial import KDTree

        near: list[dict[str, Source]] = [{} for _ in targets]
        is_covered = np.zeros(len(targets), dtype=bool)
        center = _vectors(np.array([t.ra for t in targets]), np.array([t.dec for t in targets]))
        tree, largest = KDTree(center), radius_of(catalogue, targets)
        years = max(reach(target, catalogue.epoch, 1.0) for target in targets)
        try:
            for columns, units in self._pieces(catalogue, targets, max(largest / 3600, COVERED)):
                rows = rows_of(catalogue, columns, units)
                at = _vectors(rows.ra, rows.dec)
                at[~np.isfinite(at).all(axis=1)] = (9, 9, 9)  # without a position, so near nothing
                allowed = _chord(np.minimum(largest, RADIUS + years * rows.speed if catalogue.has_motion else largest))
                nearest, _ = tree.query(at, distance_upper_bound=_chord(largest))
                for row in np.flatnonzero(nearest <= allowed).tolist():
                    for number in tree.query_ball_point(at[row], np.broadcast_to(allowed, len(at))[row]):
                        if near[number].setdefault(rows.ids[row], source := rows.source(row)) is not source:
                            raise NoAnswer(f"found {rows.ids[row]} twice; expected each source once")
                if len(sample := at[:: max(1, len(at) // _SAMPLE)]) and not is_covered.all():
                    apart, _ = KDTree(sample).query(center, distance_upper_bound=_chord(COVERED * 3600))
                    is_covered |= np.isfinite(apart)
        except NoAnswer as error:
            raise NoAnswer(f"{self.path.name}: {error}") from error
        except Exception as error:  # pyarrow, astropy and the system raise many kinds
            raise NoAnswer(f"{self.path.name}: it cannot be read ({one_line(str(error), 150)})") from error
        query = f"columns {', '.join(catalogue.columns_read)}"
        return [[*of.values()] if known else None for of, known in zip(near, is_covered, strict=True)], query

    def _pieces(self, catalogue: CatalogueMap, targets: Sequence[Target], margin: float) -> Iterator[Piece]:
        needed = {name.lower() for name in catalogue.columns_read}
        endings = [name.lower() for name in self.path.suffixes if name.lower() not in (".gz", ".bz2", ".zst")]
        kind = ".parquet" if self.path.is_dir() else endings[-1] if endings else ""
        if kind == ".parquet":
            return _of_parquet(self.path, needed, catalogue, targets, margin)
        if kind in (".fits", ".fit", ".fts"):
            return _of_fits(self.path, needed)
        if kind in (".vot", ".xml", ".votable", ".ecsv"):
            return _of_table(self.path, "ascii.ecsv" if kind == ".ecsv" else "votable")
        if kind in (".csv", ".tsv"):
            return _of_csv(self.path, needed, catalogue.id, "," if kind == ".csv" else "\t")
        raise NoAnswer("found an unknown kind of file; expected .parquet, .fits, .vot, .csv, .ecsv or a HATS folder")


def _of_parquet(
    path: Path, needed: set[str], catalogue: CatalogueMap, targets: Sequence[Target], margin: float
) -> Iterator[Piece]:
    import pyarrow.parquet as pq

    for part in [path] if path.is_file() else _parts(path):
        with pq.ParquetFile(part) as file:
            names = [name for name in file.schema_arrow.names if name.lower() in needed]
            groups = list(range(file.num_row_groups))
            if len(names) == len(needed):
                groups = [n for n in groups if _is_near(file.metadata.row_group(n), catalogue, targets, margin)]
            for group in groups:
                for batch in file.iter_batches(PIECE, [group], names):
                    yield {name: batch.column(name).to_numpy(zero_copy_only=False) for name in names}, {}


def _of_fits(path: Path, needed: set[str]) -> Iterator[Piece]:
    from astropy.io import fits

    with warnings.catch_warnings(action="error"), fits.open(path, memmap=True) as file:  # a cut file warns
        table = next((each for each in file if isinstance(each, fits.BinTableHDU)), None)
        if table is None:
            raise NoAnswer("found no table, expected one with the columns of the map")
        columns = [column for column in table.columns if column.name.lower() in needed]
        units = {column.name: column.unit for column in columns}
        for start in range(0, max(1, len(table.data)), PIECE):
            part = table.data[start : start + PIECE]
            values = {column.name: part[column.name] for column in columns}
            yield (
                {
                    c.name: values[c.name] if c.null is None else np.ma.masked_equal(values[c.name], c.null)
                    for c in columns
                },
                units,
            )


def _of_table(path: Path, form: str) -> Iterator[Piece]:
    from astropy.table import Table

    with warnings.catch_warnings(action="ignore"):
        table = Table.read(path, format=form)
    yield dict(table.columns), {name: table[name].unit for name in table.colnames}


def _of_csv(path: Path, needed: set[str], identifier: str, delimiter: str) -> Iterator[Piece]:
    import pyarrow as pa
    from pyarrow import csv

    with pa.input_stream(path) as stream:  # Gaia's files begin with comments
        comments = [line.startswith(b"#") for line in stream.read(2**18).split(b"\n")].index(False)

    def opened(convert: Any = None) -> Any:
        read = csv.ReadOptions(skip_rows=comments, block_size=2**24)
        return csv.open_csv(pa.input_stream(path), read, csv.ParseOptions(delimiter=delimiter), convert)

    if path.suffix.lower() in (".csv", ".tsv"):
        with path.open("rb") as file:
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                raise NoAnswer("the last line has no line end: the file is cut short")
    with opened() as first:  # the types of the first rows; a column of them may have whole numbers, or nothing
        fields = [field for field in first.schema if field.name.lower() in needed]
    numbers = [f.name for f in fields if f.name.lower() != identifier.lower() and not pa.types.is_string(f.type)]
    names = [field.name for field in fields]
    convert = csv.ConvertOptions(include_columns=names, column_types=dict.fromkeys(numbers, pa.float64()))
    with opened(convert) as batches:
        for batch in batches:
            yield {name: batch.column(name).to_numpy(zero_copy_only=False) for name in names}, {}


def _parts(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder. :raises NoAnswer: the folder itself says that there are others"""
    import pyarrow.parquet as pq

    paths = sorted(path for path in folder.rglob("*.parquet") if path.name != "data_thumbnail.parquet")
    for metadata in folder.rglob("_metadata"):
        rows, expected = sum(pq.read_metadata(path).num_rows for path in paths), pq.read_metadata(metadata).num_rows
        if rows != expected:
            raise NoAnswer(f"found {rows} rows, expected {expected} as in {metadata.name}")
    for partitions in folder.rglob("partition_info.csv"):
        expected = len(partitions.read_text(encoding="utf-8").split()) - 1
        if expected != len(paths):
            raise NoAnswer(f"found {len(paths)} Parquet files, expected {expected} as in {partitions.name}")
    if not paths:
        raise NoAnswer("found no Parquet file in the folder")
    return paths


def _is_near(group: Any, catalogue: CatalogueMap, targets: Sequence[Target], margin: float) -> bool:
    """Whether a row group can have rows within ``margin`` degrees of a target, by its statistics."""
    columns = [group.column(number) for number in range(group.num_columns)]
    limits = {
        column.path_in_schema.lower(): (float(column.statistics.min), float(column.statistics.max))
        for column in columns
        if column.path_in_schema.lower() in (catalogue.ra.lower(), catalogue.dec.lower())
        and column.is_stats_set
        and column.statistics.has_min_max
    }
    low, high = limits.get(catalogue.dec.lower(), (-90.0, 90.0))
    first, last = limits.get(catalogue.ra.lower(), (0.0, 360.0))
    ra, dec = np.array([(target.ra, target.dec) for target in targets]).T
    # The largest difference of right ascension of points within the margin; around a pole every one is possible.
    sine = np.sin(np.radians(margin)) / np.cos(np.radians(np.minimum(np.abs(dec), 90 - margin - 1e-6)))
    width = np.where(np.abs(dec) + margin < 90, np.degrees(np.arcsin(np.minimum(sine, 1))), 360)
    away = np.abs((ra - (first + last) / 2 + 180) % 360 - 180)
    return bool(((dec >= low - margin) & (dec <= high + margin) & (away <= (last - first) / 2 + width)).any())


def _vectors(ra: FloatArray, dec: FloatArray) -> FloatArray:
    longitude, latitude = np.radians(ra), np.radians(dec)
    return np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], 1)


def _chord(arcseconds: Any) -> Any:
    """Return the distance on the unit sphere of points so far apart, a little more for rounding."""
    return 2 * np.sin(np.radians(np.asarray(arcseconds) / 3600) / 2) + 1e-12
