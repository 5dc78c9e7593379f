"""Catalogues in local files: Parquet, folders of Parquet files such as HATS, FITS tables, VOTable, CSV and ECSV.

Parquet, FITS and CSV are read piece by piece, and of Parquet only the row groups near a target, so that the memory does
not grow with the file; VOTable and ECSV are read as a whole.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.sky.columns import FloatArray, NoAnswer, rows_of
from agent.sky.maps import CatalogueMap
from agent.sky.matching import Target, reach, record_of, without_answer
from agent.sky.records import RADIUS, SkyRecord, Source
from agent.sky.tap import radius_of
from agent.text import one_line

PIECE = 250_000
"""Rows that are read at once."""
COVERED = 0.5
"""Degrees. A file that has no source so near to a target is taken not to cover it: its catalogues have more."""
_SAMPLE = 20_000
"""Rows of a piece from which coverage is decided."""

Piece = tuple[Mapping[str, Any], Mapping[str, Any]]
"""Columns, and the units that the file states."""


@dataclass(frozen=True)
class LocalCatalogue:
    """A file or folder with rows of a catalogue, under the names of its map."""

    catalogue: CatalogueMap
    path: Path

    def records(self, targets: Sequence[Target], **facts: Any) -> list[SkyRecord]:
        """Return the records of the targets: of one that the file does not cover it is "not asked".

        :raises NoAnswer: the file cannot be read, is cut short or is not of this catalogue
        """
        near, is_covered = self._near(targets)
        facts = facts | {"query": f"columns {', '.join(self.catalogue.columns_read)}"}
        reason = f"{self.path.name} has no source within {COVERED:g}° of the position: it may not cover it"
        return [
            record_of(self.catalogue, target, sources, **facts)
            if covered
            else without_answer(self.catalogue.key, target, "not asked", reason, **facts)
            for target, sources, covered in zip(targets, near, is_covered, strict=True)
        ]

    def _near(self, targets: Sequence[Target]) -> tuple[list[list[Source]], NDArray[np.bool_]]:
        from scipy.spatial import KDTree

        near: list[list[Source]] = [[] for _ in targets]
        is_covered = np.zeros(len(targets), dtype=bool)
        known: set[tuple[int, str]] = set()
        center = _vectors(np.array([t.ra for t in targets]), np.array([t.dec for t in targets]))
        tree = KDTree(center)
        largest = radius_of(self.catalogue, targets)
        years = max(reach(target, self.catalogue.epoch, 1.0) for target in targets)
        count = 0
        try:
            for columns, units in self._pieces(targets, max(largest / 3600, COVERED)):
                rows = rows_of(self.catalogue, columns, units)
                count += len(rows.ids)
                at = _vectors(rows.ra, rows.dec)
                at[~np.isfinite(at).all(axis=1)] = (9, 9, 9)  # no position, so near nothing
                allowed = RADIUS + years * rows.speed if self.catalogue.has_motion else np.full(len(at), largest)
                nearest, _ = tree.query(at, distance_upper_bound=_chord(largest))
                for row in np.flatnonzero(nearest <= _chord(np.minimum(allowed, largest))).tolist():
                    for number in tree.query_ball_point(at[row], _chord(min(allowed[row], largest))):
                        if (number, rows.ids[row]) in known:
                            raise NoAnswer(f"found {rows.ids[row]} twice; expected each source once")
                        known.add((number, rows.ids[row]))
                        near[number].append(rows.source(row))
                sample = at[:: max(1, len(at) // _SAMPLE)]
                if len(sample) and not is_covered.all():
                    apart, _ = KDTree(sample).query(center, distance_upper_bound=_chord(COVERED * 3600))
                    is_covered |= np.isfinite(apart)
        except NoAnswer as error:
            raise NoAnswer(f"{self.path.name}: {error}") from error
        except Exception as error:  # pyarrow, astropy and the system raise many kinds
            raise NoAnswer(f"{self.path.name}: it cannot be read ({one_line(str(error), 150)})") from error
        return near, is_covered

    def _pieces(self, targets: Sequence[Target], margin: float) -> Iterator[Piece]:
        names = [name.lower() for name in self.path.suffixes]
        kind = next((name for name in reversed(names) if name not in (".gz", ".bz2", ".zst")), "")
        if self.path.is_dir() or kind == ".parquet":
            return self._of_parquet(targets, margin)
        if kind in (".fits", ".fit", ".fts"):
            return self._of_fits()
        if kind in (".vot", ".xml", ".votable", ".ecsv"):
            return self._of_table("ascii.ecsv" if kind == ".ecsv" else "votable")
        if kind in (".csv", ".tsv", ".txt"):
            return self._of_csv()
        raise NoAnswer("found an unknown kind of file; expected .parquet, .fits, .vot, .csv, .ecsv or a HATS folder")

    def _of_parquet(self, targets: Sequence[Target], margin: float) -> Iterator[Piece]:
        import pyarrow.parquet as pq

        paths = [self.path] if self.path.is_file() else _parts(self.path)
        needed = {name.lower() for name in self.catalogue.columns_read}
        for path in paths:
            with pq.ParquetFile(path) as file:
                names = [name for name in file.schema_arrow.names if name.lower() in needed]
                if len(names) < len(needed):
                    yield dict.fromkeys(names, ()), {}  # whose columns are refused
                groups = [
                    number
                    for number in range(file.num_row_groups)
                    if _is_near(file.metadata.row_group(number), self.catalogue, targets, margin)
                ]
                for batch in file.iter_batches(PIECE, row_groups=groups, columns=names) if groups else ():
                    yield {name: batch.column(name).to_numpy(zero_copy_only=False) for name in names}, {}

    def _of_fits(self) -> Iterator[Piece]:
        from astropy.io import fits

        with warnings.catch_warnings(action="error"), fits.open(self.path, memmap=True) as file:  # a cut file warns
            table = next((each for each in file if isinstance(each, fits.BinTableHDU)), None)
            if table is None:
                raise NoAnswer("found no table, expected one with the columns of the map")
            needed = {name.lower() for name in self.catalogue.columns_read}
            columns = [column for column in table.columns if column.name.lower() in needed]
            units = {column.name: column.unit for column in columns}
            for start in range(0, max(1, len(table.data)), PIECE):
                part = table.data[start : start + PIECE]
                yield {column.name: np.ma.masked_equal(part[column.name], column.null) for column in columns}, units

    def _of_table(self, form: str) -> Iterator[Piece]:
        from astropy.table import Table

        with warnings.catch_warnings(action="ignore"):
            table = Table.read(self.path, format=form)
        yield dict(table.columns), {name: table[name].unit for name in table.colnames}

    def _of_csv(self) -> Iterator[Piece]:
        import pyarrow as pa
        from pyarrow import csv as reader

        with pa.input_stream(self.path) as stream:
            head = stream.read(2**16).decode("utf-8", "replace").splitlines()
        comments = next((number for number, line in enumerate(head) if not line.startswith("#")), len(head))
        if comments == len(head):
            raise NoAnswer("found no line with names of columns")
        if self.path.suffix.lower() not in (".gz", ".bz2", ".zst"):
            with self.path.open("rb") as file:
                file.seek(-1, 2)
                if file.read(1) not in b"\r\n":
                    raise NoAnswer("the last line has no line end: the file is cut short")
        delimiter = csv.Sniffer().sniff(head[comments], ",;\t|").delimiter
        needed = {name.lower() for name in self.catalogue.columns_read}
        names = next(csv.reader([head[comments]], delimiter=delimiter))
        texts = {name for name in names if name.lower() in {c.lower() for c in self.catalogue.texts.values()}}
        with pa.input_stream(self.path) as stream:
            batches = reader.open_csv(
                stream,
                reader.ReadOptions(skip_rows=comments, block_size=2**24),
                reader.ParseOptions(delimiter=delimiter),
                reader.ConvertOptions(
                    include_columns=[name for name in names if name.lower() in needed],
                    column_types={
                        **{name: pa.float64() for name in names if name.lower() in _of_numbers(self.catalogue)},
                        **dict.fromkeys(texts, pa.string()),
                    },
                    null_values=["", "null", "NULL", "NaN", "nan", "--"],
                ),
            )
            for batch in batches:
                columns = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}
                yield columns, {}


def _of_numbers(catalogue: CatalogueMap) -> set[str]:
    read = (catalogue.ra, catalogue.dec, *(column.column for column in catalogue.columns.values()))
    return {name.lower() for name in read} - {catalogue.id.lower()}


def _parts(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder. :raises NoAnswer: its own list names another number of them"""
    import pyarrow.parquet as pq

    paths = sorted(path for path in folder.rglob("*.parquet") if path.name != "data_thumbnail.parquet")
    lists = sorted(folder.rglob("partition_info.csv"))
    metadata = sorted(folder.rglob("_metadata"))
    if len(lists) > 1 or len(metadata) > 1:
        raise NoAnswer("found several catalogues in the folder; expected the folder of one")
    if lists:
        expected = sum(1 for line in lists[0].read_text().splitlines()[1:] if line.strip())
        if expected != len(paths):
            raise NoAnswer(f"found {len(paths)} Parquet files, expected the {expected} of {lists[0].name}")
    if metadata:
        rows, expected = sum(pq.read_metadata(path).num_rows for path in paths), pq.read_metadata(metadata[0]).num_rows
        if rows != expected:
            raise NoAnswer(f"found {rows} rows, expected the {expected} of {metadata[0].name}: files are missing")
    if not paths:
        raise NoAnswer("found no Parquet file in the folder")
    return paths


def _is_near(group: Any, catalogue: CatalogueMap, targets: Sequence[Target], margin: float) -> bool:
    """Whether a row group can have rows within ``margin`` degrees of a target, by its statistics."""
    limits = {}
    for number in range(group.num_columns):
        column = group.column(number)
        statistics = column.statistics
        if statistics is not None and statistics.has_min_max:
            limits[column.path_in_schema.lower()] = (float(statistics.min), float(statistics.max))
    low, high = limits.get(catalogue.dec.lower(), (-90.0, 90.0))
    dec = np.array([target.dec for target in targets])
    ra = np.array([target.ra for target in targets])
    near = (dec >= low - margin) & (dec <= high + margin)
    first, last = limits.get(catalogue.ra.lower(), (0.0, 360.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Largest difference of right ascension of points within the margin; near a pole there is none.
        sine = np.sin(np.radians(margin)) / np.cos(np.radians(dec))
        wide = np.where((sine < 1) & (np.abs(dec) + margin < 90), np.degrees(np.arcsin(np.minimum(sine, 1))), 360.0)
    away = (ra - (first + last) / 2 + 180) % 360 - 180
    near &= np.abs(away) <= (last - first) / 2 + wide
    return bool(near.any())


def _vectors(ra: FloatArray, dec: FloatArray) -> FloatArray:
    longitude, latitude = np.radians(ra), np.radians(dec)
    return np.stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], 1)


def _chord(arcseconds: Any) -> Any:
    """Return the distance on the unit sphere of points so far apart, a little more for rounding."""
    return 2 * np.sin(np.radians(np.asarray(arcseconds) / 3600) / 2) + 1e-12
