"""Simulated spectra as files: which to make for a task, and the folder with its ``labels.csv``.

Kinds of one side take turns; survey and log signal-to-noise are sampled evenly for each spectrum. Spectrum ``i`` of
``seed`` has the seed ``seed`` × 1,000,000 + i, so folders of different seeds share no spectrum.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from types import MappingProxyType

import numpy as np

from agent.language import tr
from agent.simulate import KINDS, simulate, truth
from agent.spectrum import Spectrum
from agent.spectrum.readers import own
from agent.tables import CsvTable

LABELS = "labels.csv"
PER_SEED = 1_000_000
"""Spectra that one seed can give."""

LOOK_ALIKES_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    # The confusers of each task file, as far as they are simulated, and kinds that the baseline mistook for the class.
    {
        "cv": ("dme", "be", "tts", "qso", "hii", "pn", "wr", "wd"),
        "cc": ("gm", "dm", "ss", "gba", "fgk", "wd"),
        "ss": ("gm", "cc", "dm", "gba"),
        "gm": ("dm", "fgk", "ss", "cc"),
        "wd": ("a", "b", "sd", "cv", "qso"),
        "o": ("b", "sd", "wr", "cv"),
        "b": ("o", "a", "sd", "wd"),
        "a": ("b", "fgk", "wd", "sd"),
    }
)
"""Kinds that a task's class is mistaken for."""

Span = tuple[float, float]
"""Lowest and highest."""


@dataclass(frozen=True)
class Order:
    """One spectrum to simulate; the arguments of ``simulate``."""

    kind: str
    survey: str
    snr: float
    seed: int
    redshift: float

    def spectrum(self) -> Spectrum:
        return simulate(self.kind, self.survey, self.snr, self.seed, self.redshift)


def for_task(task: str, number: int, ratio: tuple[int, int]) -> list[str]:
    """Return ``number`` kinds: those of the task's class and its look-alikes at ``ratio`` (YES, NO), YES first.

    :raises KeyError: no such task
    """
    if task not in LOOK_ALIKES_OF:
        raise KeyError(tr("no task {task!r}; there are {names}", task=task, names=", ".join(LOOK_ALIKES_OF)))
    own_kinds = [kind for kind in KINDS if truth(kind, task) == "YES"]
    yes = round(number * ratio[0] / sum(ratio))
    return taking_turns(own_kinds, yes) + taking_turns(LOOK_ALIKES_OF[task], number - yes)


def taking_turns(kinds: Sequence[str], number: int) -> list[str]:
    """Return ``number`` kinds, each as often as the others, or once more."""
    return [kind for kind, _ in zip(cycle(kinds), range(number), strict=False)]


def orders(
    kinds: Iterable[str], surveys: Sequence[str], snr: Span, seed: int, redshift: Span = (0.0, 0.0)
) -> list[Order]:
    """Return what to simulate, one order for each of ``kinds``; equal arguments give equal orders.

    :param redshift: range, sampled evenly; rounded to 5 decimals as catalogues have it. 0 leaves quasars and galaxies
        where ``simulate`` puts them.
    """
    made = []
    for number, kind in enumerate(kinds):
        rng = np.random.default_rng([seed, number])
        survey = surveys[int(rng.integers(len(surveys)))]
        sampled_snr = round(float(np.exp(rng.uniform(np.log(snr[0]), np.log(snr[1])))), 2)
        z = round(float(rng.uniform(*redshift)), 5)
        made.append(Order(kind, survey, sampled_snr, seed * PER_SEED + number, z))
    return made


def write(folder: Path, wanted: Sequence[Order], tasks: Sequence[str]) -> Iterator[Path]:
    """Write each spectrum to ``folder`` under its own name and yield its path; at the end write ``labels.csv`` with a
    row per spectrum and task.

    :param tasks: the questions that the labels answer
    :raises OSError: a file cannot be written
    """
    folder.mkdir(parents=True, exist_ok=True)
    table = io.StringIO(newline="")
    rows = CsvTable(table, ("file", "label", "task", "kind", "survey", "snr"))
    for order in wanted:
        spectrum = order.spectrum()
        own.write(spectrum, folder / spectrum.name)
        for task in tasks:
            facts = (truth(order.kind, task), task, order.kind, spectrum.survey, order.snr)
            rows.row((spectrum.name, *facts))
        yield folder / spectrum.name
    (folder / LABELS).write_text(table.getvalue(), encoding="utf-8")
