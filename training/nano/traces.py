"""The traces of the script, made once and kept in a folder: a file of 32 spectra each, with a trace for each arm.

Making a trace takes longer than learning from it, and each is learned from several times.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import overload

from PIL import Image

from agent.processes import cores, ordered_map
from agent.trajectory import Trajectory
from training.data.records import Example
from training.miniature.model import Size, shrunk
from training.nano.spectra import known_spectrum
from training.nano.teacher import Arm, taught

AT_ONCE = 32
"""Spectra of a file."""


def make(folder: Path, spectra: int, arms: Sequence[Arm], size: Size, report: Callable[[str], None]) -> None:
    """Make the files that are missing, with all cores. :raises OSError: the folder cannot be written"""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{first:06d}.zip" for first in range(0, spectra, AT_ONCE)]
    missing = [file for file in files if not file.is_file()]
    for done, _ in enumerate(ordered_map(partial(_make, arms=arms, size=size), missing, cores()), 1):
        report(f"traces: {done} of {len(missing)} files")


def _make(file: Path, arms: Sequence[Arm], size: Size) -> None:
    import torch

    torch.set_num_threads(1)
    first = int(file.stem)
    unfinished = file.with_suffix(".unfinished")
    with zipfile.ZipFile(unfinished, "w") as archive:
        for place in range(AT_ONCE):
            known = known_spectrum("sft", first + place)
            for arm in arms:
                example = taught(known, arm, partial(shrunk, size=size))
                pictures = example.pictures()
                row = {"key": example.key, "pictures": len(pictures), "trajectory": example.trajectory.to_json()}
                archive.writestr(f"{place}-{arm}.json", json.dumps(row, ensure_ascii=False))
                for number, picture in enumerate(pictures):
                    buffer = io.BytesIO()
                    picture.save(buffer, "png")
                    archive.writestr(f"{place}-{arm}-{number}.png", buffer.getvalue())
    unfinished.rename(file)


@dataclass(frozen=True)
class Traces(Sequence[Example]):
    """The kept traces of some arms: of each spectrum one after the other.

    :param first: number of the first spectrum; ``spectra``: how many
    """

    folder: Path
    first: int
    spectra: int
    arms: tuple[Arm, ...]

    def __len__(self) -> int:
        return self.spectra * len(self.arms)

    @overload
    def __getitem__(self, at: int) -> Example: ...
    @overload
    def __getitem__(self, at: slice) -> list[Example]: ...
    def __getitem__(self, at: int | slice) -> Example | list[Example]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(f"{at} of {len(self)} traces")
        number, arm = divmod(at, len(self.arms))
        shard, place = divmod(self.first + number, AT_ONCE)
        return read(self.folder / f"{shard * AT_ONCE:06d}.zip", place, self.arms[arm])

    def __iter__(self) -> Iterator[Example]:
        return (self[at] for at in range(len(self)))


def read(file: Path, place: int, arm: Arm) -> Example:
    """Read a trace of a file."""
    archive = _opened(file)
    row = json.loads(archive.read(f"{place}-{arm}.json"))

    def pictures() -> list[Image.Image]:
        names = [f"{place}-{arm}-{number}.png" for number in range(row["pictures"])]
        return [Image.open(io.BytesIO(archive.read(name))) for name in names]

    return Example(row["key"], row["key"], Trajectory.from_json(row["trajectory"]), pictures)


@lru_cache(maxsize=512)
def _opened(file: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(file)
