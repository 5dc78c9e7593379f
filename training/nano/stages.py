"""The stages of the nano model, each a folder that exists once it is done: random weights, SFT, GRPO, the finished one.

Each stage continues from its last checkpoint. Uses training.sft and training.grpo with their own settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from agent.errors import Refusal
from agent.json_lines import write_atomic
from agent.language import tr
from training.miniature.model import Size, shrunk
from training.miniature.stage_parts import BETA2, OnMessage, Rounds, grpo_settings, once, save_random, start_of, steps
from training.model_card.card import README
from training.nano.package import SCORES, package
from training.nano.spectra import questions
from training.nano.teacher import Shrink, Traces, phrases
from training.run import Run
from training.settings import ModelSettings, to_mapping

RANDOM, SFT, GRPO, FINISHED = "random", "sft", "grpo", "nano"
SETTINGS = "nano.json"
VERSION = "1"
"""Of the weights, as it is stored with each trace."""


@dataclass(frozen=True)
class Cold:
    """The SFT stage: each trace is used once."""

    traces: int
    batch: int
    rate: float
    checkpoints: int
    workers: int = 1


@dataclass(frozen=True)
class Reward(Rounds):
    """The GRPO stage."""

    checkpoints: int


@dataclass(frozen=True)
class Scale:
    """All settings of a model but its seed.

    :param test: simulated questions of the model card
    :param dtype: of the computation; the weights that are trained are float32
    """

    name: str
    size: Size
    sft: Cold
    grpo: Reward
    test: int
    dtype: Literal["bfloat16", "float32"] = "bfloat16"
    turns: int = 5
    turn_tokens: int = 32


_SIZE = Size(
    width=256,
    layers=5,
    keys=2,
    inner=704,
    sight_width=160,
    sight_layers=4,
    sight_inner=448,
    # One attention per picture takes less time on a CPU than one per window.
    whole=(0, 1, 2, 3),
    picture=(8, 60),
    context=1024,
    paper=True,
)
SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        # Too small to learn anything; it shows that every stage runs and resumes.
        "quick": Scale(
            "quick",
            Size(width=64, layers=2, inner=128, keys=1, sight_width=32, picture=(8, 12), context=1024, paper=True),
            Cold(traces=12, batch=4, rate=1e-3, checkpoints=1),
            Reward(
                4, 1, prompts=2, rollouts=2, mini_batch=2, rate=1e-4, validation=2, validate_rounds=1, checkpoints=1
            ),
            test=8,
            dtype="float32",
            turns=2,
        ),
        "full": Scale(
            "full",
            _SIZE,
            Cold(traces=28_800, batch=16, rate=7e-4, checkpoints=50),
            Reward(
                400,
                24,
                prompts=8,
                rollouts=8,
                mini_batch=8,
                rate=4e-5,
                validation=200,
                validate_rounds=8,
                checkpoints=5,
            ),
            test=1600,
        ),
    }
)


@dataclass(frozen=True)
class Stages:
    """The stages in a folder."""

    folder: Path
    seed: int
    scale: Scale
    report: OnMessage

    @property
    def shrink(self) -> Shrink:
        return partial(shrunk, size=self.scale.size)

    def random(self) -> Path:
        """Make tokenizer and random weights, unless they are there; return their folder."""
        # The bytes of any text have tokens; all other text of a trace is a phrase.
        texts = [*phrases(), "Error: The specified wavelength range is invalid or outside the available data range"]
        make = partial(save_random, texts=texts, phrases=phrases(), size=self.scale.size, seed=self.seed)
        return once(self.folder / RANDOM, make)

    def sft(self) -> Path:
        """Learn from the traces of the script, unless that is done; return the folder of the model.

        :raises ModelError, RunError: as ``training.sft.train``
        """
        from training.sft import SftSettings, train

        run, cold = Run(self.folder / SFT), self.scale.sft
        if not run.finished:
            settings = SftSettings(
                model=self._model(self.random()),
                output=str(run.folder),
                seed=self.seed,
                max_length=self.scale.size.context,
                epochs=1.0,
                batch_size=cold.batch,
                learning_rate=cold.rate,
                warmup=0.04,
                beta2=BETA2,
                weight_decay=0.02,
                save_steps=cold.checkpoints,
                keep_checkpoints=2,
                gradient_checkpointing=False,
                workers=cold.workers,
            )
            traces = Traces("sft", cold.traces, self.shrink)
            train(settings, traces, start=start_of(run.folder), on_step=steps(SFT, self.report))
        return run.model

    def grpo(self) -> Path:
        """Learn from the published reward, unless that is done; return the folder of the model.

        :raises ModelError, RunError: as ``training.grpo.learning.train``
        """
        from training.grpo.learning import train

        run, reward = Run(self.folder / GRPO), self.scale.grpo
        if not run.finished:
            settings = grpo_settings(
                self._model(self.sft()),
                run.folder,
                self.seed,
                reward,
                self.scale.size.context,
                max_turns=self.scale.turns,
                turn_tokens=self.scale.turn_tokens,
                per_device=reward.rollouts,
                warmup=1,
                loss="grpo",
                kl=0.0,
                save_rounds=reward.checkpoints,
            )
            selected, validation = questions("grpo", reward.spectra), questions("validation", reward.validation)
            train(
                settings, selected, start=start_of(run.folder), on_step=steps(GRPO, self.report), validation=validation
            )
        return run.model

    def package(self) -> Path:
        """Judge simulated test spectra and write the finished folder, unless it is there; return it.

        :raises ModelError, RunError: as the stages
        """
        from training.nano.scoring import judge

        folder = self.folder / FINISHED
        if not (folder / README).is_file():
            model, count = self.grpo(), self.scale.test
            judged = judge(model, questions("test", count), lambda done: self.report(f"test: {done} of {count}"))
            package(model, folder, VERSION, judged)
        return folder

    def _model(self, folder: Path) -> ModelSettings:
        return ModelSettings(name=str(folder), frozen=(), dtype=self.scale.dtype)


class StagesError(Refusal, ValueError):
    """A folder that cannot hold this training: its content, and what to do."""


def train(folder: Path, seed: int, scale: Scale, report: OnMessage) -> dict[str, Any]:
    """Run the missing stages and return the finished folder with its scores.

    :raises StagesError: the folder holds something else, or training with other settings
    :raises ModelError, RunError: as the stages
    """
    _begin(folder, seed, scale)
    finished = Stages(folder, seed, scale, report).package()
    scored: dict[str, Any] = json.loads((finished / SCORES).read_text("utf-8"))
    f1 = [task["f1"] or 0.0 for task in scored["tasks"].values()]
    return {"folder": str(finished), "mean_f1": sum(f1) / len(f1), **scored}


def _begin(folder: Path, seed: int, scale: Scale) -> None:
    """Write the settings of a new folder, or check that those of an old one are the same."""
    file = folder / SETTINGS
    expected = json.loads(json.dumps({"seed": seed, **to_mapping(scale)}))
    if file.is_file():
        if json.loads(file.read_text("utf-8")) != expected:
            raise StagesError(
                tr(
                    "{there}: found other settings, expected those of this command: choose another --out",
                    there=file,
                )
            )
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StagesError(
            tr("{folder}: found other files, expected an empty folder: choose another --out", folder=folder)
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(file, json.dumps(expected, indent=2) + "\n")
