"""The stages of the nano model, each a folder that exists once it is done: traces, random weights, sight, SFT, model.

Each stage continues from its last checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agent.errors import Refusal
from agent.json_lines import write_atomic
from agent.language import tr
from training.miniature.model import Size
from training.miniature.stage_parts import OnMessage, once, save_random
from training.model_card.card import README
from training.nano.package import SCORES, finish, save
from training.nano.sight import Stage
from training.nano.teacher import ARMS, Arm, phrases, repeated
from training.nano.traces import Traces, make
from training.settings import to_mapping

TRACES, RANDOM, SIGHT, SFT, FINISHED = "traces", "random", "sight", "sft", "nano"
SETTINGS, SFT_LOG = "nano.json", f"{SFT}.jsonl"
VERSION = "3"
"""Of the weights, as it is stored with each trace."""
OUTSIDE = "Error: The specified wavelength range is invalid or outside the available data range"


@dataclass(frozen=True)
class Scale:
    """All settings of a model but its seed.

    :param arms: that it learns, ``measure`` among them
    :param spectra: learned from, each with a trace of each arm; ``held_out``: so many others show how far the sight is
    :param examples: spectra whose answers of ``measure`` the vocabulary is made from; ``least``: how often a text has
        to come again in them to be one token
    :param test: simulated questions of the model card
    :param dtype: of the computation; the weights that are trained are float32
    """

    name: str
    arms: tuple[Arm, ...]
    size: Size
    spectra: int
    held_out: int
    examples: int
    least: int
    sight: Stage
    sft: Stage
    test: int


_SIZE = Size(
    width=256,
    layers=3,
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
            ARMS,
            Size(width=64, layers=2, inner=128, keys=1, sight_width=32, whole=(0, 1), picture=(8, 12), paper=True),
            spectra=6,
            held_out=4,
            examples=4,
            least=4,
            sight=Stage(epochs=1, batch=8, rate=1e-3, kept=1),
            sft=Stage(epochs=1, batch=4, rate=1e-3, kept=1),
            test=8,
        ),
        "full": Scale(
            "full",
            ("measure",),
            _SIZE,
            spectra=4096,
            held_out=96,
            examples=384,
            least=14,
            sight=Stage(epochs=5, batch=32, rate=1.5e-3, kept=250),
            sft=Stage(epochs=8, batch=8, rate=1.5e-3, kept=100),
            test=800,
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

    def traces(self) -> Path:
        """Write the traces of the script that are missing; return their folder."""
        scale = self.scale
        make(self.folder / TRACES, scale.held_out + scale.spectra, scale.arms, scale.size, self.report)
        return self.folder / TRACES

    def random(self) -> Path:
        """Make tokenizer and random weights, unless they are there; return their folder."""
        if (folder := self.folder / RANDOM).is_dir():
            return folder
        examples = Traces(self.traces(), 0, self.scale.examples, ("measure",))
        answers = [zoom.observation for example in examples for zoom in example.trajectory.zooms]
        whole = [*phrases(), *repeated(answers, self.scale.least)]
        # The bytes of any text have tokens; what is no phrase is made of what the answers are made of.
        texts = [*whole, *answers, OUTSIDE]
        size, seed = self.scale.size, self.seed
        return once(folder, partial(save_random, texts=texts, phrases=whole, size=size, seed=seed))

    def sight(self) -> Path:
        """Let the vision tower learn what windows show, unless that is done; return the folder of the model."""
        from training.nano.sight import collect, train

        folder, scale = self.folder / SIGHT, self.scale
        if not folder.is_dir():
            learned, held_out = (
                collect(Traces(self.traces(), first, spectra, scale.arms), self.report)
                for first, spectra in ((scale.held_out, scale.spectra), (0, scale.held_out))
            )
            train(folder, self.random(), learned, held_out, scale.sight, self.seed, self.report)
        return folder

    def sft(self) -> Path:
        """Learn from the traces of the script, unless that is done; return the folder of the model.

        :raises ModelError: the model cannot be loaded
        """
        from training.nano.cold_start import train

        folder, scale = self.folder / SFT, self.scale
        if not folder.is_dir():
            traces = Traces(self.traces(), scale.held_out, scale.spectra, scale.arms)
            train(folder, self.sight(), traces, scale.sft, self.seed, self.report)
        return folder

    def package(self) -> Path:
        """Judge simulated test spectra and write the finished folder, unless it is there; return it.

        :raises ModelError: as the stages
        """
        from training.nano.scoring import judge

        folder, count = self.folder / FINISHED, self.scale.test
        model = once(folder, lambda unfinished: save(self.sft(), unfinished, VERSION))
        if not (folder / README).is_file():
            judged = {arm: judge(model, arm, "test", count, self.report) for arm in self.scale.arms}
            finish(folder, VERSION, judged, to_mapping(self.scale) | {"seed": self.seed}, self.folder / SFT_LOG)
        return folder


class StagesError(Refusal, ValueError):
    """A folder that cannot hold this training: its content, and what to do."""


def train(folder: Path, seed: int, scale: Scale, report: OnMessage) -> dict[str, Any]:
    """Run the missing stages and return the finished folder with its scores.

    :raises StagesError: the folder holds something else, or training with other settings
    :raises ModelError: as the stages
    """
    _begin(folder, seed, scale)
    finished = Stages(folder, seed, scale, report).package()
    scored: dict[str, Any] = json.loads((finished / SCORES).read_text("utf-8"))
    f1 = [task["f1"] or 0.0 for task in scored["arms"]["measure"]["tasks"].values()]
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
