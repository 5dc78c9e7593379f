"""Spectra: the ``Spectrum`` record and reading it from survey files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agent.spectrum.noise import STRETCH
from agent.spectrum.record import Exposure, SeveralSpectra, Spectrum, SpectrumError

__all__ = ["STRETCH", "Exposure", "SeveralSpectra", "Spectrum", "SpectrumError", "read", "read_all"]


def read(path: str | os.PathLike[str], target: str | int | None = None) -> Spectrum:
    """Read the spectrum of a survey file; the layout is detected from the contents, not from the name.

    :param target: which spectrum of a file that holds several: a DESI TARGETID, the name of a Marz object, or
        the number of a row, as listed by ``SeveralSpectra.targets``
    :raises SeveralSpectra: the file holds several and no target was named
    :raises SpectrumError: the file cannot be read as a spectrum; never another exception
    """
    from agent.spectrum.readers import read as read_file

    return read_file(path, None if target is None else str(target))


def read_all(path: str | os.PathLike[str]) -> Iterator[Spectrum]:
    """Yield every spectrum of a file; targets without data (dead fibres, padding) are left out.

    :raises SpectrumError: when first advanced, if the file is no spectrum file or holds no usable one
    """
    from agent.spectrum.readers import read_all as read_all_in_file

    return read_all_in_file(path)
