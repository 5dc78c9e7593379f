"""What a file holds: the names of its spectra and how to read each, without having read any."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from agent.spectrum.readers.pixels import NoDataError
from agent.spectrum.record import SeveralSpectra, Spectrum, SpectrumError

Loader = Callable[[], Spectrum]


class Targets:
    """The spectra of one file, in file order, each by its name and a function that reads it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._loaders: dict[str, Loader] = {}
        self._skipped: set[str] = set()

    @classmethod
    def single(cls, name: str, loader: Loader) -> Targets:
        """A file of one spectrum, which needs no name."""
        targets = cls(name)
        targets.add("", loader)
        return targets

    def add(self, target: str, loader: Loader, skip: bool = False) -> None:
        """:param skip: it is there to be asked for (a sky fibre), but no object of its own"""
        self._loaders.setdefault(target, loader)
        if skip:
            self._skipped.add(target)

    @property
    def names(self) -> tuple[str, ...]:
        """Of those that ``read_all`` would try, in file order; ("",) for a file of one spectrum."""
        return tuple(target for target in self._loaders if target not in self._skipped)

    def read(self, target: str | None) -> Spectrum:
        """The one named, or the only one.

        :raises SeveralSpectra: there are several and none was named
        :raises SpectrumError: there is none of that name, or it is no spectrum
        """
        if target is None and len(self._loaders) == 1:
            return _loaded(next(iter(self._loaders.values())))
        if target is None:
            raise SeveralSpectra(self.name, list(self._loaders))
        if target not in self._loaders:
            there = ", ".join(list(self._loaders)[:5]) if "" not in self._loaders else "one spectrum without a name"
            raise SpectrumError(self.name, there, f"a target {target}")
        return _loaded(self._loaders[target])

    def read_all(self) -> Iterator[Spectrum]:
        """Each in turn, without those to be skipped and those without data.

        :raises SpectrumError: one of them is damaged, or none is left
        """
        left_out, given = 0, 0
        for target, loader in self._loaders.items():
            if target in self._skipped:
                left_out += 1
                continue
            try:
                spectrum = _loaded(loader)
            except NoDataError:
                if len(self._loaders) == 1:
                    raise
                left_out += 1
                continue
            given += 1
            yield spectrum
        if not given:
            raise SpectrumError(self.name, f"{left_out} spectra, sky or without data", "a spectrum with data")


def _loaded(loader: Loader) -> Spectrum:
    # Absurd numbers in a damaged file overflow on the way; what comes of them is checked.
    with np.errstate(all="ignore"):
        return loader()
