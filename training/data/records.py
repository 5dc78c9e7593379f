"""Records of training data: an ``Example`` is a trajectory to learn from, a ``Question`` a spectrum to judge.

``source`` identifies the spectrum of a row in whatever file: the survey's file name without folder and compression,
with ``#target`` where a file holds several, else its SHA-256. Splits are made and checked by it alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from PIL import Image

from agent.errors import Refusal
from agent.language import tr
from agent.spectrum import Spectrum
from agent.spectrum.names import file_key, id_or_text, parts
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trajectory.steps import Verdict


@dataclass(frozen=True)
class Example:
    """A trajectory with its pictures: the overview, then one per zoom that has one.

    :param key: identifies the row in messages: its file and row number
    :param source: identifies its spectrum
    :param pictures: returns the pictures, RGB or RGBA
    :param survey: from its row or the file's name, else ""
    :param snr: signal-to-noise per pixel if the row has it
    """

    key: str
    source: str
    trajectory: Trajectory
    pictures: Callable[[], Sequence[Image.Image]] = field(compare=False)
    survey: str = ""
    snr: float | None = None


@dataclass(frozen=True)
class Question:
    """A spectrum, the task, and the truth.

    A list of ten thousand files is made without reading one, so ``survey``, ``snr`` and ``simulated`` may be
    missing until the spectrum has been read: ``known`` adds them.

    :param task: its ``prompt`` is what the model reads: a published row's own words where it has them
    :param survey: name for the groups of the report: LAMOST, SDSS, DESI, "simulated LAMOST", ...; "" where only
        the spectrum says it
    :param snr: median signal-to-noise per pixel; None if unknown until the spectrum is read
    :param spectrum: returns the spectrum
    """

    key: str
    source: str
    task: Task
    label: Verdict
    survey: str
    snr: float | None
    simulated: bool
    spectrum: Callable[[], Spectrum] = field(compare=False)

    def known(self, spectrum: Spectrum) -> Question:
        """Return the question with survey, signal-to-noise and simulation taken from its spectrum."""
        return replace(
            self,
            survey=self.survey or spectrum.survey or "unknown",
            snr=spectrum.snr_typical if self.snr is None else self.snr,
            simulated=self.simulated or spectrum.meta.get("simulated") is True,
        )


_NAMELESS = ("", "spectrum")  # the second is the default name of a ``Spectrum``
_LAMOST = re.compile(r"spec-\d{5}-.+_sp\d\d-\d{3}\.fits")


def source_of(name: str, target: str = "", sha256: str | None = None) -> str:
    """Return the name of the survey's file without folder and compression, with ``#target`` where it holds several.

    :param name: as a row has it; a ``#target`` may stand in it
    :param sha256: of the spectrum; what identifies one without a name
    :raises ValueError: neither name nor hash is there
    """
    file, _, inside = parts(name.strip())
    file = file_key(file)
    if file.lower() in _NAMELESS:
        if not sha256:
            raise ValueError(tr("found neither name nor hash of the spectrum, expected one of them"))
        return f"sha256:{sha256}"
    target = id_or_text(target or inside)
    return f"{file}#{target}" if target else file


def survey_of(source: str) -> str:
    """Return LAMOST if the file name has LAMOST's own pattern, else ""."""
    return "LAMOST" if _LAMOST.fullmatch(source) else ""


class DataError(Refusal, ValueError):
    """Data that cannot be used: which file, row and field, what was found, what was expected. One line."""

    def __init__(self, message: str) -> None:
        # A row may hold lone surrogates, which cannot be printed.
        super().__init__(" ".join(message.encode("utf-8", "replace").decode().split()))


@dataclass(frozen=True)
class Dropped:
    """A row that was left out, and why. The data card counts them by reason.

    :param labelled: it is a spectrum of a label table, without which a score is of fewer spectra than the table has
    """

    key: str
    reason: str
    labelled: bool = field(default=False, compare=False)
