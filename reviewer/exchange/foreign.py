"""Logs of other agents, converted into our JSON lines and pictures, which are imported as an uploaded file is.

The lines lie in the folder of uploads until their import can no longer be resumed. A log that cannot be converted is a
line that says why, so that it is counted, listed and left out like any bad row.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.errors import Refusal
from agent.foreign import FORMATS, ForeignTraceError, detect, read
from agent.foreign.convert import Converted, Converter
from agent.foreign.sessions import inspections
from agent.language import tr
from agent.spectrum import Spectrum
from agent.spectrum.folder import SpectraFolder, SpectrumNotFound
from reviewer.exchange.draft_file import NAMES, ImportFileError
from reviewer.exchange.imports import imports_folder, own_row, request_of
from reviewer.rules.campaign import known_tasks
from reviewer.store import ImportRequest, SameSpectrum, Store

OWN = "spec-o3"
"""The name of our own format, which is no log of an agent."""
_LINES = "logs.jsonl"


@dataclass(frozen=True)
class Logs:
    """Logs to convert.

    :param format: one of ``FORMATS``; None: each by its content
    :param task: key of the task of the traces that do not state theirs
    :param spectra: folder of the spectra that are not in the database
    """

    files: tuple[Path, ...]
    format: str | None = None
    task: str | None = None
    spectra: Path | None = None


def logs_at(path: Path, format: str = "auto") -> tuple[Path, ...]:
    """Return the logs of other agents at a path: the file, or those in the folder; none if it is an import of ours.

    :param format: "auto", ``OWN``, or one of ``FORMATS``
    :raises ImportFileError: a file cannot be read
    """
    if format == OWN or (path.is_dir() and any((path / name).is_file() for name in NAMES)):
        return ()
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    try:
        return tuple(file for file in files if file.is_file() and _is_log(file, format, path.is_dir()))
    except OSError as error:
        raise ImportFileError(f"{error.filename}: {error.strerror}") from error


def _is_log(file: Path, format: str, in_folder: bool) -> bool:
    if format in FORMATS and not in_folder:
        return True
    recognised = detect(file)
    return recognised is not None and (format == "auto" or FORMATS[recognised] == FORMATS[format])


def request_of_logs(
    store: Store,
    logs: Logs,
    batch: str,
    skip_bad: bool = False,
    same_spectrum: SameSpectrum = "import",
    on_log: Callable[[int], None] = lambda done: None,
    inside: Path | None = None,
) -> ImportRequest:
    """Return the request for logs, converted. The same unchanged logs give the same file, so that it resumes.

    :param on_log: called with the number of logs converted so far
    :param inside: the folder of the upload that the logs are in; None: they are elsewhere
    :raises ImportFileError: a file cannot be read or written
    """
    uploads = inside or imports_folder(store.path)
    try:
        states = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in logs.files]
        what = repr((states, logs.format, logs.task, str(logs.spectra and logs.spectra.resolve())))
        folder = uploads / f"logs-{hashlib.sha256(what.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
        if not folder.is_dir():
            uploads.mkdir(mode=0o700, exist_ok=True)
            part = Path(tempfile.mkdtemp(prefix="logs-part-", dir=uploads))
            try:
                _write(store, logs, part, on_log)
                part.replace(folder)
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
    except OSError as error:
        raise ImportFileError(tr("{error}. Nothing was imported.", error=error)) from error
    return request_of(folder / _LINES, None, batch, skip_bad, same_spectrum, uploaded=True)


def _write(store: Store, logs: Logs, folder: Path, on_log: Callable[[int], None]) -> None:
    """Write the lines and pictures of logs. :raises OSError: a file cannot be read or written"""
    tasks, _ = known_tasks(store.path)
    converter = Converter(tasks, _Spectra(store, logs.spectra).find, logs.task)
    (folder / "images").mkdir()
    with (folder / _LINES).open("w", encoding="utf-8") as lines:
        for done, file in enumerate(logs.files, start=1):
            for converted in _converted(converter, file, logs.format):
                row = converted if isinstance(converted, dict) else _row(store, converted, folder)
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            on_log(done)


def _converted(converter: Converter, file: Path, format: str | None) -> Iterator[Converted | dict[str, Any]]:
    """Yield the traces of a log, and as a row with its reason each that cannot be converted."""
    any_trace = False
    try:
        for trace in read(file, format):
            for inspection in inspections(trace):
                any_trace = True
                try:
                    yield converter.convert(inspection)
                except Refusal as refusal:
                    yield _not_converted(inspection.name, refusal)
        if not any_trace:
            yield _not_converted(file.name, ForeignTraceError(tr("found no run of an agent, expected one or more")))
    except ForeignTraceError as refusal:
        yield _not_converted(file.name, refusal)


def _not_converted(name: str, refusal: Refusal) -> dict[str, Any]:
    # What could not be read may quote anything.
    texts = (name, str(refusal).removeprefix(f"{name}: "))
    return {"not_converted": [text.encode("utf-8", "replace").decode() for text in texts]}


def _row(store: Store, converted: Converted, folder: Path) -> dict[str, Any]:
    paths = {}
    for sha256, png in converted.pictures.items():
        paths[sha256] = f"images/{sha256}.png"
        (folder / paths[sha256]).write_bytes(png)
    stored = converted.trajectory.spectrum_sha256
    is_stored = stored is not None and store.spectra.exists(stored)
    return own_row(converted.trajectory, None if is_stored else converted.spectrum, paths)


class _Spectra:
    """The spectra of the database, and of a folder."""

    def __init__(self, store: Store, folder: Path | None) -> None:
        self._store = store
        try:
            self._folder = None if folder is None else SpectraFolder(folder)
        except SpectrumNotFound as error:
            raise ImportFileError(str(error)) from error

    def find(self, sha256: str | None, name: str) -> Spectrum | None:
        stored = self._store.spectra.named(name) if sha256 is None else [sha256]
        if len(stored) == 1 and self._store.spectra.exists(stored[0]):
            return self._store.spectra.get(stored[0])
        if self._folder is None or (sha256 is None and name not in self._folder):
            return None
        try:
            return self._folder.find(name, sha256)
        except SpectrumNotFound:
            return None


def requests_of_uploads(
    store: Store, files: Sequence[Path], batch: str, skip_bad: bool, same_spectrum: SameSpectrum
) -> list[ImportRequest]:
    """Return the requests for uploaded files: one per file with rows of ours, and one for all logs."""
    uploads = imports_folder(store.path)
    logs = [file for file in files if logs_at(file)]
    rows = [file for file in files if file not in logs]
    choices = (skip_bad, same_spectrum)
    requests = [request_of(file, file.parent, batch or file.name, *choices, uploaded=True) for file in rows]
    if logs:
        folder = uploads / logs[0].resolve().relative_to(uploads).parts[0]
        name = batch or (logs[0].name if len(logs) == 1 else tr("{n} logs", n=len(logs)))
        requests.append(request_of_logs(store, Logs(tuple(logs), spectra=folder), name, *choices, inside=folder))
    return requests
