"""Simulated spectra as files: which to make for a task, and the folder with its ``labels.csv``.

Kinds of one side take turns; survey and log signal-to-noise are sampled evenly for each spectrum. Spectrum ``i`` of
``seed`` has the seed ``seed`` × 1,000,000 + i, so folders of different seeds share no spectrum.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np

from agent.simulate import simulate, simulated_for, truth
from agent.simulate.sky import sky_of
from agent.sky.records import SkyRecord
from agent.sky.table import write_table
from agent.spectrum import Spectrum
from agent.spectrum.readers import own
from agent.tables import CsvTable
from agent.tasks import Task

LABELS = "labels.csv"
SKY = "sky.parquet"
PER_SEED = 1_000_000
"""Spectra that one seed can give."""

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


def for_task(task: str | Task, number: int, ratio: tuple[int, int]) -> list[str]:
    """Return ``number`` kinds: those of the task's class and its look-alikes at ``ratio`` (YES, NO), YES first.

    :raises KeyError: as ``simulated_for``
    """
    simulated = simulated_for(task)
    yes = round(number * ratio[0] / sum(ratio))
    return taking_turns(simulated.kinds, yes) + taking_turns(simulated.look_alikes, number - yes)


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
    ordered = []
    for number, kind in enumerate(kinds):
        rng = np.random.default_rng([seed, number])
        survey = surveys[int(rng.integers(len(surveys)))]
        sampled_snr = round(float(np.exp(rng.uniform(np.log(snr[0]), np.log(snr[1])))), 2)
        z = round(float(rng.uniform(*redshift)), 5)
        ordered.append(Order(kind, survey, sampled_snr, seed * PER_SEED + number, z))
    return ordered


def write(
    folder: Path, ordered: Sequence[Order], tasks: Sequence[str | Task], with_sky: bool = False
) -> Iterator[Path]:
    """Write each spectrum to ``folder`` under its own name and yield its path; at the end write ``labels.csv`` with a
    row per spectrum and task.

    :param tasks: the questions that the labels answer
    :param with_sky: write the records of catalogues, ``sky.parquet``, too
    :raises OSError: a file cannot be written
    """
    folder.mkdir(parents=True, exist_ok=True)
    table = io.StringIO(newline="")
    records: list[tuple[str, SkyRecord]] = []
    rows = CsvTable(table, ("file", "label", "task", "kind", "survey", "snr"))
    for order in ordered:
        spectrum = order.spectrum()
        own.write(spectrum, folder / spectrum.name)
        for task in tasks:
            facts = (truth(order.kind, task), getattr(task, "key", task), order.kind, spectrum.survey, order.snr)
            rows.row((spectrum.name, *facts))
        records += [(spectrum.sha256, record) for record in (sky_of(spectrum) if with_sky else ())]
        yield folder / spectrum.name
    if with_sky:
        write_table(folder / SKY, records)
    (folder / LABELS).write_text(table.getvalue(), encoding="utf-8")
