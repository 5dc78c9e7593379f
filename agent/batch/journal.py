"""Results of a run on many spectra, appended to JSON lines so that an interrupted run can resume, and the jobs that
they still lack.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Protocol

from agent.batch.run import Job, Outcome, PolicyUnavailable, jobs_for
from agent.batch.sources import Source, key_of, spectra_in
from agent.conversation import Usage
from agent.json_lines import (
    JournalError,
    append_line,
    differences,
    drop_partial_line,
    json_line,
    json_lines,
    lock_file,
    write_atomic,
)
from agent.language import joined, tr
from agent.trajectory import Trajectory

PICTURES = "pictures"
"""Key of a row with the paths of pictures that cannot be drawn again, by the SHA-256 of their RGBA bytes."""


def result_of(outcome: Outcome, pictures: str = PICTURES) -> dict[str, Any]:
    """Return the row of the results for an inspection that has a trace.

    :param pictures: the folder of its pictures, beside the results
    """
    assert outcome.trajectory is not None
    paths = {sha256: f"{pictures}/{sha256}.png" for sha256 in outcome.pictures}
    return (
        outcome.trajectory.to_json()
        | _head(outcome)
        | {"ended": outcome.reason}
        | _tail(outcome)
        | {"usage": asdict(outcome.usage)}
        | ({PICTURES: paths} if paths else {})
    )


def save_pictures(folder: Path, pictures: Mapping[str, bytes]) -> None:
    """Write pictures into their folder, each whole or not at all. :raises JournalError: they cannot be written"""
    try:
        for sha256, png in pictures.items():
            folder.mkdir(exist_ok=True)
            part = folder / f"{sha256}.{os.getpid()}.part"
            part.write_bytes(png)
            part.replace(folder / f"{sha256}.png")
    except OSError as error:
        raise JournalError(f"{folder}: {error.strerror}") from error


def pictures_of(results: Path) -> Path:
    """Return the folder of the pictures of a results file."""
    return results.with_name(f"{results.name}.{PICTURES}")


def failure_of(outcome: Outcome) -> dict[str, Any]:
    """Return the row of the list of failures for an inspection that gave no trace."""
    return _head(outcome) | {"reason": outcome.reason} | _tail(outcome)


def _head(outcome: Outcome) -> dict[str, Any]:
    return {"source": {"file": outcome.job.file, "target": outcome.job.target}, "sample": outcome.job.sample}


def _tail(outcome: Outcome) -> dict[str, Any]:
    return {"detail": outcome.detail, "seconds": round(outcome.seconds, 3), "tries": outcome.tries}


def write_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Write the settings of a new run. :raises JournalError: they cannot be written"""
    write_atomic(path, json.dumps(settings, ensure_ascii=False, indent=2) + "\n")


def check_settings(path: Path, settings: Mapping[str, Any], results: Path) -> None:
    """Check that results were made with these settings.

    :raises JournalError: they were not, or nothing says with which
    """
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise JournalError(
            tr(
                "{results}: found results, but not with what settings they were made ({error}); choose another file",
                results=results,
                error=error,
            )
        ) from error
    changed = differences(before, json.loads(json.dumps(settings)))
    if changed:
        raise JournalError(
            tr(
                "{results}: found results of another run: {names}. Continue with the same settings, or "
                "choose another file",
                results=results,
                names=joined(changed),
            )
        )


SCHEMA = "spec-o3/run/1"
SYNC_SECONDS = 0.5
SYNC_LINES = 64


@dataclass(frozen=True)
class Inspected:
    """The results of one spectrum: its traces in the order of their samples, the seconds of each, and how many were
    truncated because the conversation no longer fitted the model.
    """

    file: str
    target: str
    trajectories: tuple[Trajectory, ...]
    seconds: tuple[float, ...] = ()
    truncated: int = 0


class Journal:
    """The results, open for one writer, in three files; as a context manager it closes them.

    ``results.jsonl`` has one line per sample: the trajectory's JSON form with ``source`` (``file``, relative to this
    folder, and ``target``), ``sample``, ``ended``, ``detail``, ``usage``, ``seconds`` and ``tries``.
    ``results.jsonl.run.json`` has the settings; a run with other settings is refused.
    ``results.jsonl.failed.jsonl`` lists failed jobs, which the next run retries. ``results.jsonl.pictures`` has the
    pictures that cannot be drawn again, which ``pictures`` of a line names.

    A sample counts as done once its line is with the operating system. fsync follows after half a second or 64
    lines: a power cut loses at most those, and they are inspected again. A partial last line is removed on opening.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Open or create the results.

        :param settings: what must stay the same when a run resumes, as JSON values
        :raises JournalError: another process writes there, the settings differ, or the file is damaged
        """
        self.path = path
        self._settings_path = path.with_name(path.name + ".run.json")
        self._failed_path = path.with_name(path.name + ".failed.jsonl")
        self._places: dict[str, dict[int, int]] = {}  # where the line of a spectrum's sample begins
        self._failed: dict[tuple[str, int], Mapping[str, Any]] = {}
        self._unsynced = 0
        self._synced = monotonic()
        try:
            self._file: BinaryIO = path.open("a+b", buffering=0)
        except OSError as error:
            raise JournalError(f"{path}: {error.strerror}") from error
        try:
            lock_file(self._file, path)
            self._agree({"schema": SCHEMA, **settings})
            # Only after the check: a file that is not ours must not be shortened.
            self._end = drop_partial_line(self._file)
            self._load()
        except BaseException:
            self._file.close()
            raise

    @property
    def done(self) -> int:
        """Number of samples in the results."""
        return sum(map(len, self._places.values()))

    @property
    def spectra(self) -> int:
        """Number of spectra with a sample in the results."""
        return len(self._places)

    @property
    def failed(self) -> int:
        """Number of samples that failed and have not succeeded since."""
        return len(self._failed)

    def is_done(self, key: str, sample: int = 0) -> bool:
        """Whether this sample of this spectrum is in the results."""
        return sample in self._places.get(key, ())

    def knows(self, key: str) -> bool:
        """Whether any sample of this spectrum is in the results."""
        return key in self._places

    def add(self, outcome: Outcome, more: Mapping[str, Any] | None = None) -> None:
        """Record the outcome of a job; a stopped job is not recorded and runs again.

        :param more: further keys for the line of a trace, as JSON values
        :raises JournalError: it cannot be written, and counts as not done
        :raises ValueError: the sample is in the results already
        """
        job = outcome.job
        if outcome.has_failed:
            failure = failure_of(outcome)
            self._failed[job.key, job.sample] = failure
            append_line(self._failed_path, json_line(failure))
        elif outcome.is_inspected and outcome.trajectory is not None:
            if self.is_done(job.key, job.sample):
                raise ValueError(tr("{key}: sample {sample} is in the results already", key=job.key, sample=job.sample))
            folder = pictures_of(self.path)
            save_pictures(folder, outcome.pictures)
            start = self._append(json_line(result_of(outcome, folder.name) | dict(more or {})).encode())
            self._places.setdefault(job.key, {})[job.sample] = start
            self._failed.pop((job.key, job.sample), None)

    def inspected(self) -> Iterator[Inspected]:
        """Yield each spectrum with its traces, in the order of their first lines.

        :raises JournalError: a line is not a trace
        """
        with self.path.open("rb") as lines:
            for samples in self._places.values():
                rows = [self._row(lines, samples[sample]) for sample in sorted(samples)]
                source = rows[0][0]["source"]
                seconds = tuple(row["seconds"] for row, _ in rows if isinstance(row.get("seconds"), int | float))
                traces = tuple(trace for _, trace in rows)
                truncated = sum(row.get("ended") == "truncated" for row, _ in rows)
                seconds = seconds if len(seconds) == len(rows) else ()
                yield Inspected(source["file"], source["target"], traces, seconds, truncated)

    def close(self) -> None:
        """Sync to disk, rewrite the list of remaining failures, and release the lock."""
        if self._file.closed:
            return
        try:
            self._sync()
            if self._failed:
                write_atomic(self._failed_path, "".join(map(json_line, self._failed.values())))
            else:
                self._failed_path.unlink(missing_ok=True)
        finally:
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _agree(self, settings: Mapping[str, Any]) -> None:
        if self.path.stat().st_size == 0:
            write_settings(self._settings_path, settings)
        else:
            check_settings(self._settings_path, settings, self.path)

    def _load(self) -> None:
        for line in json_lines(self.path):
            key, sample = place_of(line.row, self.path, line.number)
            self._places.setdefault(key, {})[sample] = line.start
        if self._failed_path.exists():
            for line in json_lines(self._failed_path):
                place = place_of(line.row, self._failed_path, line.number)
                if not self.is_done(*place):
                    self._failed[place] = line.row

    def _row(self, lines: BinaryIO, start: int) -> tuple[Mapping[str, Any], Trajectory]:
        lines.seek(start)
        try:
            row = json.loads(lines.readline())
            return row, Trajectory.from_json(row)
        except (ValueError, KeyError) as error:
            raise JournalError(
                tr("{path}: the line at byte {start}: {error}", path=self.path, start=start, error=error)
            ) from error

    def _append(self, line: bytes) -> int:
        """Append a line; return its start byte."""
        try:
            written = 0
            while written < len(line):
                written += self._file.write(line[written:]) or 0
        except OSError as error:
            self._file.truncate(self._end)
            raise JournalError(
                tr("{path}: {strerror}; what was written before is safe", path=self.path, strerror=error.strerror)
            ) from error
        start, self._end = self._end, self._end + len(line)
        self._unsynced += 1
        if self._unsynced >= SYNC_LINES or monotonic() - self._synced >= SYNC_SECONDS:
            self._sync()
        return start

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._unsynced = 0
        self._synced = monotonic()


def place_of(row: Mapping[str, Any], path: Path, number: int) -> tuple[str, int]:
    """Return the name of the spectrum and the sample that a row is about. :raises JournalError: it names none"""
    source, sample = row.get("source"), row.get("sample")
    if not isinstance(source, Mapping) or not isinstance(sample, int):
        raise JournalError(
            tr("{path}: line {number}: found no source and sample, expected a line of a run", path=path, number=number)
        )
    file, target = source.get("file"), source.get("target")
    if not isinstance(file, str) or not isinstance(target, str):
        raise JournalError(
            tr(
                "{path}: line {number}: found the source {source!r:.80}, expected file and target",
                path=path,
                number=number,
                source=source,
            )
        )
    return key_of(file, target), sample


MAX_MESSAGES = 5  # failure messages in the summary; the journal has all


class CompletedJobs(Protocol):
    """The jobs that earlier runs completed: a journal, or several read as one."""

    def is_done(self, key: str, sample: int) -> bool: ...

    def knows(self, key: str) -> bool: ...


class PendingJobs:
    """The jobs that the results lack, found one at a time; a file is not opened if the results show that it holds
    one spectrum. ``passed_over`` names the spectra that were filtered out; ``is_complete`` is set after the last
    spectrum.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        samples: int,
        known: CompletedJobs,
        limit: int | None = None,
        is_chosen: Callable[[Job], bool] = lambda _: True,
    ) -> None:
        """:param limit: of spectra, those that are done already included"""
        self._sources = sources
        self._samples = samples
        self._known = known
        self._limit = limit
        self._is_chosen = is_chosen
        self._files = 0
        self._spectra = 0
        self._skipped = 0
        self.passed_over: list[str] = []
        self.is_complete = False

    @property
    def expected(self) -> int:
        """Estimated number of jobs: a file not opened yet counts as one spectrum."""
        number = self._spectra + max(0, len(self._sources) - self._files)
        if self._limit is not None:
            number = min(number, self._limit)
        return number * self._samples - self._skipped

    def __iter__(self) -> Iterator[Job]:
        for job in jobs_for(islice(self._each(), self._limit), self._samples):
            if self._known.is_done(job.key, job.sample):
                self._skipped += 1
            else:
                yield job
        self.is_complete = True

    def _each(self) -> Iterator[Source]:
        for source in self._sources:
            self._files += 1
            for spectrum in spectra_in(source, self._known.knows):
                if self._is_chosen(Job(spectrum.key, spectrum.path, spectrum.target)):
                    self._spectra += 1
                    yield spectrum
                else:
                    self.passed_over.append(spectrum.key)


@dataclass
class RunSummary:
    """Summary of a run. ``truncated`` counts inspections whose conversation no longer fitted the model, ``empty``
    targets without data. ``failures`` are the first few messages; ``gone`` is the message that ended the run early, if
    any.
    """

    inspected: int = 0
    truncated: int = 0
    spectra: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    empty: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    gone: str = ""


def record(
    outcomes: Iterable[Outcome], journal: Journal, progress: Callable[[int], None] = lambda _: None
) -> RunSummary:
    """Record every outcome in the journal.

    :param progress: called with the number of finished jobs
    """
    summary = RunSummary()
    since = monotonic()
    keys: set[str] = set()
    try:
        for number, outcome in enumerate(outcomes, start=1):
            _take(outcome, journal, summary)
            if outcome.is_inspected:
                keys.add(outcome.job.key)
            progress(number)
    except PolicyUnavailable as gone:
        summary.gone = gone.sentence
    summary.spectra = len(keys)
    summary.seconds = monotonic() - since
    return summary


def _take(outcome: Outcome, journal: Journal, summary: RunSummary) -> None:
    summary.usage += outcome.usage
    if outcome.reason == "no data" and outcome.job.target:
        # A fibre without an object: nothing to inspect.
        summary.empty += 1
        return
    journal.add(outcome)
    summary.inspected += outcome.is_inspected
    summary.truncated += outcome.reason == "truncated"
    summary.failed += outcome.has_failed
    if outcome.has_failed and len(summary.failures) < MAX_MESSAGES:
        summary.failures.append(f"{outcome.job.key}: {outcome.detail}")
