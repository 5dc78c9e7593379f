"""How large a proof is: what the model learns from, for how long, and how it is asked at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from training.miniature.model import Size


@dataclass(frozen=True)
class Learning:
    """One supervised stage: from how many spectra, for how many steps of how many examples, at which rate."""

    spectra: int
    steps: int
    batch: int
    rate: float


@dataclass(frozen=True)
class Rounds:
    """The GRPO stage: as ``training.grpo.GrpoSettings`` has it."""

    spectra: int
    rounds: int
    prompts: int
    rollouts: int
    rate: float


@dataclass(frozen=True)
class Scale:
    """Everything about a proof but its seeds.

    :param turns: assistant turns that an inspection may take, in training and on the bench
    :param turn_tokens: most tokens of one turn
    :param bench: questions of the bench
    :param checkpoints: steps, or rounds, from one checkpoint to the next
    """

    name: str
    size: Size
    zooms: Learning
    overviews: Learning
    sft: Learning
    grpo: Rounds
    bench: int
    turns: int = 4
    turn_tokens: int = 128
    checkpoints: int = 10


SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        # Learns nothing: that every stage runs and goes on where it was is all that it shows.
        "quick": Scale(
            "quick",
            Size(picture=(8, 12), vocabulary=700, context=2048, paper=True),
            zooms=Learning(spectra=4, steps=3, batch=4, rate=2e-3),
            overviews=Learning(spectra=2, steps=2, batch=4, rate=2e-3),
            sft=Learning(spectra=4, steps=3, batch=2, rate=1e-3),
            grpo=Rounds(spectra=4, rounds=2, prompts=2, rollouts=2, rate=1e-4),
            bench=4,
            turns=2,
            turn_tokens=16,
            checkpoints=1,
        ),
        "hour": Scale(
            "hour",
            Size(
                picture=(8, 45),
                vocabulary=900,
                context=2048,
                sight_width=64,
                sight_layers=2,
                paper=True,
            ),
            zooms=Learning(spectra=800, steps=450, batch=32, rate=1e-3),
            overviews=Learning(spectra=400, steps=250, batch=32, rate=5e-4),
            sft=Learning(spectra=240, steps=240, batch=8, rate=1e-3),
            grpo=Rounds(spectra=112, rounds=14, prompts=8, rollouts=8, rate=5e-5),
            bench=80,
        ),
    }
)
