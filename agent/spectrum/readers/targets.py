"""The spectra of one file, and the selection of some of them by identifier, class or redshift warning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from agent.language import deferred
from agent.spectrum.names import LostDigitsError, id_key, id_or_text
from agent.spectrum.readers.pixels import NoDataError
from agent.spectrum.record import SeveralSpectra, Spectrum, SpectrumError

Loader = Callable[[], Spectrum]


@dataclass(frozen=True)
class CatalogueEntry:
    """What a redshift catalogue says of a target: class and subclass ("STAR M", "" if unknown), ZWARN."""

    kind: str = ""
    zwarn: int | None = None


@dataclass(frozen=True)
class Selection:
    """Which targets of a file: those that meet every condition that is given.

    :param targets: identifiers; empty: any
    :param spectype: class, or class and subclass, as the catalogue writes it ("STAR", "STAR CV"); "": any
    :param zwarn: the catalogue's redshift warning; None: any
    """

    targets: tuple[str, ...] = ()
    spectype: str = ""
    zwarn: int | None = None

    @classmethod
    def parse(cls, text: str) -> Selection | None:
        """Read ``targetid=1|2,spectype=STAR,zwarn=0``; None if the text is not of this form."""
        parts = [part.partition("=") for part in text.split(",")]
        given = {key.strip().lower(): value.strip() for key, equals, value in parts if equals and value.strip()}
        if len(given) != len(parts) or not set(given) <= {"targetid", "spectype", "zwarn"}:
            return None
        try:
            zwarn = int(given["zwarn"]) if "zwarn" in given else None
        except ValueError:
            return None
        targets = tuple(id_or_text(name) for name in given.get("targetid", "").split("|") if name.strip())
        return cls(targets, given.get("spectype", ""), zwarn)

    def __str__(self) -> str:
        parts = (
            "targetid=" + "|".join(self.targets) if self.targets else "",
            f"spectype={self.spectype}" if self.spectype else "",
            f"zwarn={self.zwarn}" if self.zwarn is not None else "",
        )
        return ",".join(part for part in parts if part)

    @property
    def needs_catalogue(self) -> bool:
        return bool(self.spectype) or self.zwarn is not None

    def accepts(self, target: str, entry: CatalogueEntry) -> bool:
        if self.targets and id_or_text(target) not in self.targets:
            return False
        kinds, words = self.spectype.upper().split(), entry.kind.upper().split()
        return words[: len(kinds)] == kinds and (self.zwarn is None or entry.zwarn == self.zwarn)


class Targets:
    """The spectra of one file, in file order, each with its name and a function that reads it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.catalogue: Callable[[], dict[str, CatalogueEntry]] | None = None
        """Returns what the file's redshift catalogue says of its targets; None: each spectrum is read to find out."""
        self.unread: Callable[[], list[str]] = list
        """Returns the parts of the file that were not read so far, by name."""
        self._loaders: dict[str, Loader] = {}
        self._skipped: set[str] = set()

    @classmethod
    def single(cls, name: str, loader: Loader) -> Targets:
        """Return the targets of a file with one spectrum, which needs no name."""
        targets = cls(name)
        targets.add("", loader)
        return targets

    def add(self, target: str, loader: Loader, skip: bool = False) -> None:
        """:param skip: it can be read by name (a sky fibre), but ``read_all`` leaves it out"""
        self._loaders.setdefault(target, loader)
        if skip:
            self._skipped.add(target)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of those that ``read_all`` would read, in file order; ("",) for a file of one spectrum."""
        return tuple(target for target in self._loaders if target not in self._skipped)

    def selected(self, selection: Selection) -> tuple[str, ...]:
        """Return the names that a selection accepts, in file order.

        :raises SpectrumError: a class or ZWARN is wanted and the file's catalogue states none
        """
        if not selection.needs_catalogue:
            return tuple(name for name in self.names if selection.accepts(name, CatalogueEntry()))
        entries = self._entries
        if not any(entry != CatalogueEntry() for entry in entries.values()):
            actual = deferred("spectra without a class or redshift warning")
            raise SpectrumError(
                self.name, actual, deferred("a catalogue to select {selection} from", selection=selection)
            )
        return tuple(name for name in self.names if selection.accepts(name, entries.get(name, CatalogueEntry())))

    @cached_property
    def _entries(self) -> dict[str, CatalogueEntry]:
        if self.catalogue is not None:
            return self.catalogue()
        entries = {}
        for name in self.names:
            try:
                spectrum = _loaded(self._loaders[name])
            except NoDataError:
                continue
            zwarn = spectrum.meta.get("zwarn", spectrum.meta.get("zwarning"))
            entries[name] = CatalogueEntry(spectrum.catalogue_class, zwarn if isinstance(zwarn, int) else None)
        return entries

    def read(self, target: str | None) -> Spectrum:
        """Read the named target, or the only target that ``read_all`` would read. A name may be a selection
        (``Selection.parse``) that accepts a single target.

        :raises SeveralSpectra: there are several and none was named, or the selection accepts several
        :raises SpectrumError: there is none of that name, or it is no spectrum
        """
        if target is None:
            usual = self.names or tuple(self._loaders)
            if len(usual) == 1:
                return _loaded(self._loaders[usual[0]])
            raise SeveralSpectra(self.name, list(self._loaders))
        target = self._named(target)
        if target not in self._loaders and (selection := Selection.parse(target)) is not None:
            names = self.selected(selection)
            if len(names) > 1:
                raise SeveralSpectra(self.name, names)
            target = names[0] if names else target
        if target not in self._loaders:
            actual = (
                ", ".join(list(self._loaders)[:5])
                if "" not in self._loaders
                else deferred("one spectrum without a name")
            )
            raise SpectrumError(self.name, actual, self._missing(target))
        return _loaded(self._loaders[target])

    def _named(self, target: str) -> str:
        """Return the name of the target as the file has it, or the given name if there is none."""
        if target in self._loaders:
            return target
        key = id_or_text(target)
        return next((name for name in self._loaders if id_or_text(name) == key), target)

    @staticmethod
    def _missing(target: str) -> str:
        try:
            id_key(target)
        except LostDigitsError:
            return deferred("a target {target}; it was rounded as a number and its last digits are lost", target=target)
        return f"a target {target}"

    def read_all(self) -> Iterator[Spectrum]:
        """Yield each, without those to be skipped and those without data.

        :raises SpectrumError: a target is damaged, or none is left
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
            raise SpectrumError(
                self.name,
                deferred("{left_out} spectra, sky or without data", left_out=left_out),
                deferred("a spectrum with data"),
            )


def _loaded(loader: Loader) -> Spectrum:
    # Absurd numbers in a damaged file overflow; the results are checked.
    with np.errstate(all="ignore"):
        return loader()
