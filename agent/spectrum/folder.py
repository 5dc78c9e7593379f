"""A folder of survey files, in which the spectrum of a trajectory is found by name or by hash."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path

from agent.errors import Refusal
from agent.language import deferred
from agent.spectrum import Spectrum, SpectrumError, read_all
from agent.spectrum.names import file_key, parts

_KEPT = 16  # spectra read last; a data set often needs one several times in a row


class SpectrumNotFound(Refusal):
    """The folder does not have the spectrum: what was expected, what was found."""


class SpectraFolder:
    """Survey files under a folder, read on demand."""

    def __init__(self, folder: Path) -> None:
        """:raises SpectrumNotFound: there is no such folder"""
        if not folder.is_dir():
            raise SpectrumNotFound(deferred("{folder}: found no folder, expected one of survey files", folder=folder))
        self.folder = folder
        self._by_name: dict[str, Path] = {}
        self._by_key: dict[str, Path] = {}
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            self._by_name.setdefault(path.name, path)
            self._by_key.setdefault(file_key(path.name), path)
        self._by_hash: dict[str, Path] | None = None
        self._recent: OrderedDict[tuple[str, str | None], Spectrum] = OrderedDict()

    def __contains__(self, name: str) -> bool:
        """Return whether a file of that name exists; it is not opened."""
        return self._path(name) is not None

    def find(self, name: str, sha256: str | None) -> Spectrum:
        """Return the spectrum with this file name and, if given, this hash.

        :raises SpectrumNotFound: there is none, or there are several and no hash to select one
        """
        key = name, sha256
        if key not in self._recent:
            self._recent[key] = self._search(name, sha256)
            if len(self._recent) > _KEPT:
                self._recent.popitem(last=False)
        return self._recent[key]

    def _search(self, name: str, sha256: str | None) -> Spectrum:
        path = self._path(name)
        if sha256 is None:
            return self._only_one(name, path)
        spectrum = self._with_hash([path] if path is not None else [], sha256)
        if spectrum is None:
            path = self._hashes().get(sha256)
            spectrum = None if path is None else self._with_hash([path], sha256)
        if spectrum is None:
            raise SpectrumNotFound(
                deferred(
                    "found no spectrum {name!r} with sha256 {sha256:.12}… in {folder}",
                    name=name,
                    sha256=sha256,
                    folder=self.folder,
                )
            )
        return spectrum

    def _path(self, name: str) -> Path | None:
        """Return the file of that name, else one that ``file_key`` takes for the same."""
        # A trajectory may come from anywhere: only the last part of its file name is trusted.
        file, _, _ = parts(Path(name).name)
        return self._by_name.get(Path(name).name) or self._by_key.get(file_key(file))

    def _only_one(self, name: str, path: Path | None) -> Spectrum:
        if path is None:
            raise SpectrumNotFound(deferred("found no file {name!r} in {folder}", name=name, folder=self.folder))
        try:
            spectra = list(read_all(path))
        except SpectrumError as error:
            raise SpectrumNotFound(str(error)) from error
        if len(spectra) != 1:
            raise SpectrumNotFound(
                deferred(
                    "found {n_spectra} spectra in {name}, expected one or a sha256",
                    n_spectra=len(spectra),
                    name=path.name,
                )
            )
        return spectra[0]

    def _with_hash(self, paths: Iterable[Path], sha256: str) -> Spectrum | None:
        for path in paths:
            try:
                for spectrum in read_all(path):
                    if spectrum.sha256 == sha256:
                        return spectrum
            except SpectrumError:
                continue  # not every file of a folder is a spectrum
        return None

    def _hashes(self) -> dict[str, Path]:
        """Read all spectra once and return the file of each hash; used if the name is not found."""
        if self._by_hash is None:
            self._by_hash = {}
            for path in self._by_name.values():
                try:
                    for spectrum in read_all(path):
                        self._by_hash[spectrum.sha256] = path
                except SpectrumError:
                    continue
        return self._by_hash
