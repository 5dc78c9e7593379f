"""Reading a spectrum once, and opening its file once, for all jobs that want it."""

from __future__ import annotations

import threading
from collections.abc import Generator
from pathlib import Path

from agent.readers import opened
from agent.spectrum import Spectrum, SpectrumError


class SpectrumFile:
    """A survey file that stays open from one spectrum to the next; threads read it one after the other. It is
    closed once nobody holds it any more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._session: Generator[Spectrum | SpectrumError | None, str, None] | None = None

    def read(self, target: str) -> Spectrum | SpectrumError:
        """The spectrum of that name, "" for the only one; or why it cannot be read."""
        with self._lock:
            try:
                if self._session is None:
                    self._session = _session(self.path)
                    next(self._session)
                found = self._session.send(target)
            except SpectrumError as error:  # one that closed the file
                self._session = None
                return error
            assert found is not None
            return found


class Reading:
    """One spectrum, read when it is first asked for."""

    def __init__(self, file: SpectrumFile, target: str) -> None:
        self._lock = threading.Lock()
        self._file: SpectrumFile | None = file
        self._target = target
        self._found: Spectrum | SpectrumError | None = None

    def spectrum(self) -> Spectrum | SpectrumError:
        """The spectrum, or why there is none; to every thread the same."""
        with self._lock:
            if self._found is None and self._file is not None:
                self._found = self._file.read(self._target)
                self._file = None
            assert self._found is not None
            return self._found


def _session(path: Path) -> Generator[Spectrum | SpectrumError | None, str, None]:
    """Answers each name sent with its spectrum. A target that is damaged leaves the file open for the others;
    whatever else goes wrong is told, by ``opened``, as a ``SpectrumError``."""
    with opened(path) as targets:
        answer: Spectrum | SpectrumError | None = None
        while True:
            target = yield answer
            try:
                answer = targets.read(target or None)
            except SpectrumError as error:
                answer = error
