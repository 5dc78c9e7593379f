"""Rows of the table for millions of spectra: kept beside the shards as they are made, completed where they are missing,
and ranked without holding them in memory.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, overload

import numpy as np
from numpy.typing import NDArray

from agent.batch.candidates import ORDER, Candidate, candidate, candidates_from, place
from agent.batch.certified import CertifiedRun
from agent.batch.journal import Inspected
from agent.batch.keys import Keys, hashes_of, of_sample
from agent.batch.run import Outcome
from agent.batch.shards import Shards
from agent.batch.sources import key_of
from agent.consensus import Limits, consensus
from agent.json_lines import JournalError, json_line
from agent.language import tr
from agent.spectrum import Spectrum
from agent.spectrum.record import Medium
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trust.certificate import Certificate, Judged

CHUNK = 50_000
"""Rows that are checked together."""
_FIELDS = {field.name for field in fields(Candidate)}


@dataclass(frozen=True)
class RowMaker:
    """Makes the row of a spectrum from its samples, by a certificate or by ``Limits``. The workers of a run have one
    each.
    """

    task: Task
    limits: Limits
    certificate: Certificate | None = None

    @property
    def rules(self) -> str:
        """A short name of what decides a row; a row made by other rules is made again."""
        rules = {"task": self.task.key, "limits": asdict(self.limits)}
        if self.certificate is not None:
            rules = {"task": self.task.key, "certificate": self.certificate.sha256}
        return sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:16]

    def __call__(self, spectrum: Spectrum, outcomes: Sequence[Outcome]) -> bytes:
        """Return the row as a line."""
        traces = [outcome.trajectory for outcome in outcomes if outcome.trajectory is not None]
        job, seconds = outcomes[0].job, [round(outcome.seconds, 3) for outcome in outcomes]
        truncated = sum(outcome.reason == "truncated" for outcome in outcomes)
        agreed = consensus(traces, spectrum, self.task, self.limits)
        judged = self.judge(traces, spectrum)
        row = candidate(job.file, job.target, traces, spectrum, agreed, "", seconds, truncated, judged)
        return self.line(row, judged, spectrum.sha256)

    def judge(self, trajectories: Sequence[Trajectory], spectrum: Spectrum) -> Judged | None:
        """Return the verdict of the certificate, if there is one."""
        if self.certificate is None:
            return None
        return CertifiedRun(Path(), self.certificate, self.task).judge(trajectories, spectrum)

    def line(self, row: Candidate, judged: Judged | None = None, spectrum_sha256: str = "") -> bytes:
        """Return a row as a line, with what ``CertifiedRun.count`` needs."""
        by = None if judged is None else {**asdict(judged), "spectrum_sha256": spectrum_sha256}
        return json_line({"rules": self.rules, "judged": by, **asdict(row)}).encode()


def rows_of(
    results: Shards,
    make: RowMaker,
    medium: Medium | None = None,
    certified: CertifiedRun | None = None,
    given: Collection[str] | None = None,
) -> Iterator[Candidate]:
    """Yield one row per spectrum of the results, the newest first. Rows that are missing, do not have all samples of
    their spectrum, or follow other rules, are made first, from the spectra.

    :param certified: counts the verdicts, if they are those of a certificate
    :param given: names of the spectra whose rows are wanted; None: all
    :raises JournalError: a line is no row
    """
    covered = Keys()
    for _ in _current(results, make.rules, covered, also_unread=False):
        pass
    if len(covered) < len(results.done):
        judged: list[tuple[Judged | None, str]] = []

        def judge(trajectories: Sequence[Trajectory], spectrum: Spectrum) -> Judged:
            judgement = make.judge(trajectories, spectrum)
            assert judgement is not None
            judged.append((judgement, spectrum.sha256))
            return judgement

        lacking = _inspected(results, covered)
        with_judge = None if make.certificate is None else judge
        for row in candidates_from(lacking, results.folder.parent, make.task, make.limits, medium, with_judge):
            results.add_row(make.line(row, *(judged.pop() if judged else (None, ""))))
    for row, by in _current(results, make.rules, Keys()):
        if given is not None and key_of(row.file, row.target) not in given:
            continue
        if certified is not None and by is not None:
            certified.count(Judged(by["verdict"], by["cause"], by["reason"], by["p_yes"]), by["spectrum_sha256"])
        yield row


def _current(
    results: Shards, rules: str, covered: Keys, also_unread: bool = True
) -> Iterator[tuple[Candidate, Mapping[str, Any] | None]]:
    """Yield the last row of each spectrum, if it follows these rules and has all samples that are done; with what a
    certificate said of it.

    :param covered: gets the samples of these rows
    :param also_unread: also a row of a spectrum that could not be read, or had changed, when the row was made
    """
    seen = Keys()
    for path in reversed(results.row_files()):
        for chunk in _chunks_backwards(path):
            hashes = hashes_of(key_of(row["file"], row["target"]) for row in chunk)
            newest = seen.add_many(hashes)
            done = np.sum(
                [results.done.contains(of_sample(hashes, number)) for number in range(results.samples)], axis=0
            )
            for number, row in enumerate(chunk):
                is_right = row["rules"] == rules and row["n"] == done[number] and (also_unread or row["is_current"])
                is_right = is_right and row.keys() >= _FIELDS  # older programs had other columns
                if newest[number] and is_right:
                    yield Candidate(**{name: value for name, value in row.items() if name in _FIELDS}), row["judged"]
                else:
                    newest[number] = False
            for number in range(results.samples):
                of_it = of_sample(hashes[newest], number)
                covered.add_many(of_it[results.done.contains(of_it)])


def _chunks_backwards(path: Path) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the rows of a file from the last to the first, without an incomplete last one."""
    starts = array("q", [0])
    with path.open("rb") as file:
        for line in file:
            starts.append(starts[-1] + len(line))
        if starts[-1] and not line.endswith(b"\n"):
            starts.pop()
        for end in range(len(starts) - 1, 0, -CHUNK):
            begin = max(0, end - CHUNK)
            file.seek(starts[begin])
            lines = file.read(starts[end] - starts[begin]).splitlines()
            try:
                yield [json.loads(line) for line in reversed(lines)]
            except ValueError as error:
                raise JournalError(
                    tr("{path}: found no JSON ({error}), expected rows of a table", path=path, error=error)
                ) from error


def _inspected(results: Shards, covered: Keys) -> Iterator[Inspected]:
    """Yield the spectra with a sample that is not covered, with all of their samples."""
    waiting: dict[str, dict[int, tuple[Path, int]]] = {}  # places only: of ten million spectra, the rows are too large
    for place_of_row, row in results.rows_without(covered):
        source = row["source"]
        key = key_of(source["file"], source["target"])
        of_it = waiting.setdefault(key, {})
        of_it[row["sample"]] = place_of_row
        hashes = hashes_of([key])
        if len(of_it) == sum(results.done.contains(of_sample(hashes, number))[0] for number in range(results.samples)):
            rows = [results.row_at(place) for _, place in sorted(waiting.pop(key).items())]
            yield Inspected(
                source["file"],
                source["target"],
                tuple(Trajectory.from_json(row) for row in rows),
                tuple(row["seconds"] for row in rows),
                sum(row["ended"] == "truncated" for row in rows),
            )


@dataclass
class RankedRows(Sequence[Candidate]):
    """Rows in the order of the table (``agent.batch.candidates``), read from a file when they are asked for."""

    _file: BinaryIO
    _starts: NDArray[np.int64]
    _ranked: int = 0

    @classmethod
    def sorted(cls, rows: Iterable[Candidate], path: Path) -> RankedRows:
        """Write the rows to the file, and put them in order."""
        starts, keys, end = array("q"), array("d"), 0
        given = iter(rows)
        first = next(given, None)  # before the file: the rows' own folder may not be there yet
        part = path.with_name(f".{path.name}.part")
        with part.open("wb") as file:
            for row in () if first is None else chain([first], given):
                line = json_line(asdict(row)).encode()
                file.write(line)
                starts.append(end)
                keys.extend(place(row)[:5])
                end += len(line)
        ordered = cls(part.open("rb"), np.frombuffer(starts, np.int64))
        # The next run may write its rows while these are read.
        part.replace(path)
        ordered._order(np.frombuffer(keys, np.float64).reshape(-1, 5))
        return ordered

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, number: int) -> Candidate: ...

    @overload
    def __getitem__(self, number: slice) -> list[Candidate]: ...

    def __getitem__(self, number: int | slice) -> Candidate | list[Candidate]:
        if isinstance(number, slice):
            return [self[index] for index in range(*number.indices(len(self)))]
        at = range(len(self))[number]
        row = self._read(int(self._starts[at]))
        return replace(row, rank=at + 1) if at < self._ranked else row

    def _read(self, start: int) -> Candidate:
        self._file.seek(start)
        return Candidate(**json.loads(self._file.readline()))

    def _order(self, keys: NDArray[np.float64]) -> None:
        order = np.lexsort(keys.T[::-1])
        self._starts = self._starts[order]
        differ = np.ones(len(keys) + 1, bool)
        differ[1:-1] = False
        for column in keys.T:
            ordered = column[order]
            differ[1:-1] |= ordered[1:] != ordered[:-1]
        # Rows that are alike in all numbers follow by name.
        ends = np.flatnonzero(differ)
        for number in np.flatnonzero(np.diff(ends) > 1).tolist():
            begin, end = ends[number : number + 2].tolist()
            alike = self._starts[begin:end].tolist()
            alike.sort(key=lambda start: place(self._read(start))[5:])
            self._starts[begin:end] = alike
        self._ranked = int((keys[:, 0] != ORDER["ASK"]).sum())
