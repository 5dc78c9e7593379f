"""The spectra of the proof, all of them simulated, and what is asked about them.

Two questions: is it a cataclysmic variable, is it a carbon star. Their signs (Hα and Hβ in broad emission,
the Swan bands of C2) can be seen in a picture of 40 tokens once one has zoomed in. Half of each part is the
class itself, half its look-alikes, so whoever always says YES has an F1 of 66.7 %; the surveys and the
signal-to-noise are drawn evenly.

Nothing here measures how well anything does on the sky: see ``agent.simulate``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from agent.simulate import simulate
from agent.simulate.instrument import SURVEYS
from agent.tasks import Task, read
from training.data import source_of
from training.data.records import Question

TASKS = Path(__file__).with_name("tasks")
Part = Literal["pictures", "sft", "grpo", "bench"]

_SEEDS: Mapping[Part, int] = {"pictures": 1, "sft": 2, "grpo": 3, "bench": 4}
_ROOM = 10_000_000
"""Seeds of simulated spectra that a part has to itself: no spectrum is in two parts."""
_STEP = 100_000
"""From a seed to the next that is tried for a state; more than a part has questions."""
SNR = (10.0, 40.0)


@dataclass(frozen=True)
class Mix:
    """What is asked of a task.

    :param kind: the simulator's name of the class, and ``states`` of it that are drawn; none named: all
    :param others: the look-alikes
    """

    task: str
    kind: str
    others: tuple[str, ...]
    states: tuple[str, ...] = ()


MIXES = (
    # In outburst and in its low state a cataclysmic variable hides the signs that are asked for here.
    Mix("mini_cv", "cv", ("be", "hii", "sd", "dme", "tts", "a"), ("quiescent",)),
    Mix("mini_cc", "cc", ("gba", "gm", "dm", "ss", "fgk")),
)


def questions(part: Part, count: int) -> list[Question]:
    """The first ``count`` questions of a part; equal arguments give equal questions. Of four in a row each
    task has two, one of them of its own class.

    The tasks are the proof's own, in ``TASKS``: those of the program with a guide of one line, because a
    model as small as this one uses no more.
    """
    known = {mix.task: read(TASKS / f"{mix.task}.toml") for mix in MIXES}
    return [_question(part, number, known) for number in range(count)]


def _question(part: Part, number: int, known: Mapping[str, Task]) -> Question:
    mix = MIXES[number % len(MIXES)]
    is_one = number // len(MIXES) % 2 == 0
    first = _SEEDS[part] * _ROOM + number
    drawn = np.random.default_rng([first])
    kind = mix.kind if is_one else str(drawn.choice(mix.others))
    survey = str(drawn.choice(sorted(SURVEYS)))
    snr = round(float(drawn.uniform(*SNR)), 1)
    seed = _seed(mix, kind, survey, first) if is_one else first
    name = f"simulated-{kind}-{seed:04d}.fits"
    return Question(
        key=f"{part} {number}",
        source=source_of(name),
        task=known[mix.task],
        label="YES" if is_one else "NO",
        survey=f"simulated {survey}",
        snr=snr,
        simulated=True,
        spectrum=partial(simulate, kind, survey, snr, seed),
    )


def _seed(mix: Mix, kind: str, survey: str, first: int) -> int:
    """The first seed from there on that draws the class in one of the wanted states."""
    for seed in range(first, first + _ROOM, _STEP):
        if not mix.states or simulate(kind, survey, SNR[0], seed).meta["state"] in mix.states:
            return seed
    raise AssertionError("a state that is drawn one time in three is drawn within a hundred times")
