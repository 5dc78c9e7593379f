"""SpecVI-Bench: Parquet files ``{train,test}_{cc,cv,gm,ss,wd}.parquet``, one question per row.

Questions are listed without their spectra. At the first use the spectra of a file are copied to an uncompressed
temporary file mapped into memory (64 kB per row), because Parquet is read in order and training in any order.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from agent import tasks
from agent.language import tr
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.readers.parquet import BENCH_COLUMNS, bench_spectrum
from agent.tasks import Task
from agent.tasks.specvi import Part, files_by_part, prompt_text
from agent.trajectory.steps import Verdict
from training.data.records import DataError, Question, source_of

_LISTED = ("data_source", "prompt", "reward_model", "extra_info.name")
# Columns that ``bench build`` adds; the published files lack them, and are of LAMOST.
_OURS = ("extra_info.survey", "extra_info.snr", "extra_info.simulated")
_BATCH = 64
_BUFFER = 2**20


def is_specvi(path: Path) -> bool:
    """Return whether a file is a Parquet file in the benchmark's layout."""
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:
            if file.read(4) != b"PAR1":
                return False
        with _naming_damage(path), pq.ParquetFile(path) as parquet:
            return {"extra_info", "reward_model"} <= set(parquet.schema_arrow.names)
    except OSError:
        return False


def files_in(folder: Path, part: Part | None) -> list[Path]:
    """Return the benchmark's files in a folder, or in ``data`` below it; [] if there are none.

    :raises DataError: there are training and test files and ``part`` does not say which are wanted
    """
    files = files_by_part(folder)
    if part is not None:
        return files[part]
    if all(files.values()):
        where = files["train"][0].parent
        raise DataError(
            tr(
                "{where}: found train_*.parquet and test_*.parquet, expected one of the two; name the files",
                where=where,
            )
        )
    return [*files["train"], *files["test"]]


def questions_of(path: Path, known: Mapping[str, Task]) -> Iterator[Question]:
    """Yield a question for each row, with the row's own prompt.

    :raises DataError: the file is damaged or no benchmark, or a field of a row is wrong
    """
    import pyarrow.parquet as pq

    spectra = _Spectra(path)
    in_words: dict[tuple[str, str], Task] = {}
    with _naming_damage(path), pq.ParquetFile(path) as file:
        number = -1
        for batch in file.iter_batches(_BATCH, columns=[*_LISTED, *_OURS]):
            for row in batch.to_pylist():
                number += 1
                try:
                    yield _question(path, number, row, known, spectra, in_words)
                except ValueError as error:
                    raise DataError(f"{path}: row {number}: {error}") from error
    if number < 0:
        raise DataError(tr("{path}: found no rows, expected questions", path=path))


def _question(
    path: Path,
    number: int,
    row: Mapping[str, Any],
    known: Mapping[str, Task],
    spectra: _Spectra,
    in_words: dict[tuple[str, str], Task],
) -> Question:
    """:raises ValueError: a field is wrong"""
    name = str(row.get("data_source"))
    task = tasks.find(known, name)
    if task is None:
        raise ValueError(
            tr("data_source: found {name!r:.60}, expected one of {names}", name=name, names=", ".join(known))
        )
    words = prompt_text(row.get("prompt"))
    own = task if words == task.prompt else task.with_prompt(words)
    worded = in_words.setdefault((task.key, words), own)
    info = row.get("extra_info") or {}
    try:
        source = source_of(str(info.get("name") or ""))
    except ValueError:
        raise ValueError(tr("extra_info.name: found nothing, expected the name of the spectrum")) from None
    label = _label(row.get("reward_model"))
    read = partial(spectra.read, number)
    survey, is_simulated = str(info.get("survey") or "LAMOST"), info.get("simulated") is True
    return Question(f"{path.name}#{number}", source, worded, label, survey, info.get("snr"), is_simulated, read)


def _label(reward_model: object) -> Verdict:
    label = reward_model.get("ground_truth") if isinstance(reward_model, Mapping) else None
    if label == "YES":
        return "YES"
    if label == "NO":
        return "NO"
    raise ValueError(tr("reward_model.ground_truth: found {found!r:.60}, expected YES or NO", found=label))


class _Spectra:
    """The spectra of one file, read at random from a temporary copy."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._copy: Any = None

    def read(self, row: int) -> Spectrum:
        """:raises DataError: the row holds no spectrum, or the file cannot be read"""
        with self._lock:
            if self._copy is None:
                self._copy = self._cached_copy()
        with _naming_damage(self._path):
            values = self._copy.get_batch(row // _BATCH).slice(row % _BATCH, 1).to_pylist()[0]
        try:
            spectrum = bench_spectrum(self._path.name, row, values)
        except SpectrumError as error:
            raise DataError(f"{self._path}: row {row}: {error}") from error
        if spectrum.redshift is not None or values["extra_info"].get("spectrum"):
            return spectrum
        # A published row without a redshift means 0.
        return replace(spectrum, redshift=0.0)

    def __reduce__(self) -> tuple[type[_Spectra], tuple[Path]]:
        return _Spectra, (self._path,)  # another process makes its own copy

    def _cached_copy(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # With buffering, all compressed data would be in memory at once.
        with (
            _naming_damage(self._path),
            pq.ParquetFile(self._path, buffer_size=_BUFFER, pre_buffer=False) as file,
        ):
            columns = [name for name in BENCH_COLUMNS if name in file.schema_arrow.names]
            schema = pa.schema([file.schema_arrow.field(name) for name in columns])
            with (
                tempfile.NamedTemporaryFile(prefix="spec-o3-", suffix=".arrow", delete=False) as copy,
                pa.ipc.new_file(copy, schema) as writer,
            ):
                for batch in _equal_batches(file.iter_batches(_BATCH, columns=columns), schema):
                    writer.write_batch(batch)
            mapped = pa.memory_map(copy.name)
            # Removed now, so that nothing is left however the program ends; where an open file cannot be removed
            # (Windows), the system's cleaning of temporary files removes it.
            with suppress(PermissionError):
                Path(copy.name).unlink()
            return pa.ipc.open_file(mapped)


def _equal_batches(batches: Iterator[Any], schema: Any) -> Iterator[Any]:
    """Yield the rows in batches of ``_BATCH``: pyarrow's may be shorter at the end of a row group."""
    import pyarrow as pa

    waiting = pa.Table.from_batches([], schema)
    for batch in batches:
        waiting = pa.concat_tables([waiting, pa.Table.from_batches([batch]).select(schema.names).cast(schema)])
        while waiting.num_rows >= _BATCH:
            yield waiting.slice(0, _BATCH).combine_chunks().to_batches()[0]
            waiting = waiting.slice(_BATCH)
    if waiting.num_rows:
        yield waiting.combine_chunks().to_batches()[0]


@contextmanager
def _naming_damage(path: Path) -> Iterator[None]:
    """Within the block, turn the errors of pyarrow over a damaged file into ``DataError``."""
    import pyarrow as pa

    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise DataError(
            tr("{path}: found a damaged Parquet file ({error!s:.200}), expected a complete one", path=path, error=error)
        ) from error
