"""What a results folder still lacks, as Parquet files, for sources by the million: names in, no Python object kept.

A row of the plan is a spectrum, or a file whose number of spectra is not known yet; a worker opens it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from agent.batch.catalogue import CHUNK, Chunk, local_file
from agent.batch.keys import Keys, hashes_of, key_hash, of_sample
from agent.batch.shards import Shards
from agent.batch.sources import SpectrumFile, is_one_spectrum, key_of

SCHEMA = pa.schema([("file", pa.string()), ("target", pa.string()), ("samples", pa.list_(pa.int16()))])
"""``samples``: the numbers of those that are to be inspected."""


@dataclass
class SurveyPlan:
    """The plan in ``folder``.

    :param rows: of the plan
    :param done: spectra that have all of their samples
    :param repeated: sources that were named before, and are left out
    """

    folder: Path
    rows: int = 0
    samples: int = 0
    done: int = 0
    repeated: int = 0

    @property
    def spectra(self) -> int:
        """Spectra of the run that are known by now."""
        return self.rows + self.done


def make_plan(
    chunks: Iterable[Chunk],
    results: Shards,
    samples: int,
    limit: int | None = None,
    is_left_out: Callable[[NDArray[np.uint64]], NDArray[np.bool_]] | None = None,
    on_chunk: Callable[[int], None] = lambda spectra: None,
) -> SurveyPlan:
    """Write the plan of a run into its results folder, in place of an earlier one.

    :param samples: per spectrum
    :param limit: of spectra, in the order of the sources; those that are done are included
    :param is_left_out: tells, for the hashes of spectra, which of them this run passes over
    :param on_chunk: called with the number of spectra that were looked at
    """
    folder = results.folder / "plan"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    plan, seen = SurveyPlan(folder), Keys()
    for number, chunk in enumerate(_expanded(chunks if limit is None else _opened(chunks, results, limit), results)):
        hashes = hashes_of(map(key_of, chunk.files, chunk.targets))
        is_chosen = seen.add_many(hashes)
        plan.repeated += int(len(is_chosen) - is_chosen.sum())
        if is_left_out is not None:
            is_chosen &= ~is_left_out(hashes)
        if limit is not None:
            is_chosen &= np.cumsum(is_chosen) <= limit - plan.spectra
        lacking = np.stack([~results.done.contains(of_sample(hashes, sample)) for sample in range(samples)], axis=1)
        pending = np.flatnonzero(is_chosen & lacking.any(axis=1))
        plan.done += int(is_chosen.sum()) - len(pending)
        plan.rows += len(pending)
        plan.samples += int(lacking[pending].sum())
        if len(pending):
            _write(folder / f"{number:06d}.parquet", chunk, pending, lacking)
        on_chunk(plan.spectra)
        if limit is not None and plan.spectra >= limit:
            break
    return plan


def _opened(chunks: Iterable[Chunk], results: Shards, limit: int) -> Iterator[Chunk]:
    """Yield the chunks in pieces of ``limit`` spectra. Files with several are opened here, to count their spectra."""
    base = results.folder.parent
    for chunk in chunks:
        for start in range(0, len(chunk.files), limit):
            piece = Chunk(chunk.files[start : start + limit], chunk.targets[start : start + limit])
            for file, target in zip(piece.files, piece.targets, strict=True):
                key = key_of(file, target)
                if is_one_spectrum(target) or key_hash(key, 0) in results.done or results.targets_of(file, target):
                    continue
                with local_file(file, base) as path:
                    names = SpectrumFile(path).names(target)
                if names != (target,):
                    results.add_targets(file, target, names)
            yield piece


def _expanded(chunks: Iterable[Chunk], results: Shards) -> Iterator[Chunk]:
    """Yield the chunks with the spectra of each file that is known to hold several in place of the file."""
    for chunk in chunks:
        if not results.knows_targets:
            yield chunk
            continue
        files, targets = [], []
        for file, target in zip(chunk.files, chunk.targets, strict=True):
            names = results.targets_of(file, target)
            files += [file] * (1 if names is None else len(names))
            targets += [target] if names is None else names
            if len(files) >= CHUNK:
                yield Chunk(files, targets)
                files, targets = [], []
        yield Chunk(files, targets)


def _write(path: Path, chunk: Chunk, pending: NDArray[np.intp], lacking: NDArray[np.bool_]) -> None:
    places: Sequence[int] = pending.tolist()
    numbers = np.arange(lacking.shape[1], dtype=np.int16)
    is_chosen = lacking[pending]
    ends = np.concatenate([[0], np.cumsum(is_chosen.sum(axis=1))]).astype(np.int32)
    table = pa.table(
        {
            "file": [chunk.files[place] for place in places],
            "target": [chunk.targets[place] for place in places],
            "samples": pa.ListArray.from_arrays(ends, np.broadcast_to(numbers, is_chosen.shape)[is_chosen]),
        },
        schema=SCHEMA,
    )
    pq.write_table(table, path)
