"""Mutations of real and of small files of each layout: spectra or one sentence, in bounded time and memory."""

from __future__ import annotations

import bz2
import gzip
import importlib
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from agent.spectrum import SpectrumError
from agent.spectrum.readers import opened
from tests.agent.spectrum.test_bad_files import MOST_SPECTRA, check_valid
from tests.support.inputs.forms import FITS_FORMS, GRISM, TEXT_FORMS
from tests.support.inputs.mutations import mutated, real_files
from tests.support.inputs.refusals import refused_by

FILES = 60
MEMORY = 600 * 2**20
"""Bytes by which the reading of one file may raise the peak of the process."""
UNFORESEEN = "something its reader did not expect"
"""What ``opened`` says of an exception that no reader declares."""


def peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@contextmanager
def foreseen() -> Iterator[None]:
    """Turn the refusal of an exception that no reader declares into that exception."""
    try:
        yield
    except SpectrumError as refusal:
        if UNFORESEEN in str(refusal):
            raise AssertionError(str(refusal)) from refusal.__cause__
        raise


def faults(path: Path) -> list[str]:
    """Read a mutated file; return what was wrong in how it was refused or read."""
    before = peak()
    try:
        with refused_by(SpectrumError, where=path.parent), foreseen(), opened(path) as targets:
            for target in targets.names[:MOST_SPECTRA]:
                with refused_by(SpectrumError, where=path.parent):
                    check_valid(targets.read(target or None))
    except Exception as error:
        return [f"{type(error).__name__}: {error}"[:300]]
    return [] if peak() - before < MEMORY else [f"{(peak() - before) >> 20} MiB"]


def uncompressed(content: bytes) -> bytes:
    if content[:2] == b"\x1f\x8b":
        return gzip.decompress(content)
    return bz2.decompress(content) if content.startswith(b"BZh") else content


def check_all(files: dict[str, bytes], mutations: range, folder: Path) -> None:
    importlib.import_module("specutils")  # it takes seconds and memory, which are no file's doing
    listed = []
    for name, content in files.items():
        for number in mutations:
            path = folder / Path(name).name.removesuffix(".gz").removesuffix(".bz2")
            path.write_bytes(mutated(content, Random(f"{name} {number}")))
            listed += [f"{name}, mutation {number}: {fault}" for fault in faults(path)]
            path.unlink()
    assert not listed, "\n".join(listed)


@pytest.fixture(scope="module")
def real(shared: Path) -> dict[str, bytes]:
    folder = shared / "spectra"
    chosen = real_files(folder, FILES)
    assert len(chosen) == FILES
    return {str(path.relative_to(folder)): uncompressed(path.read_bytes()) for path in chosen}


SMALL = FITS_FORMS | TEXT_FORMS | {"a grism": GRISM}


def test_a_mutated_real_file_is_read_or_refused_in_a_sentence(real: dict[str, bytes], tmp_path: Path) -> None:
    check_all(real, range(4), tmp_path)


def test_a_mutated_small_file_is_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    check_all(SMALL, range(10), tmp_path)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_many_mutations_of_real_files(real: dict[str, bytes], tmp_path: Path) -> None:
    check_all(real, range(4, 100), tmp_path)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_many_mutations_of_small_files(tmp_path: Path) -> None:
    check_all(SMALL, range(10, 400), tmp_path)
