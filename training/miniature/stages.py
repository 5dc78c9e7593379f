"""The stages of one seed of the proof, each a folder that exists once the stage is done.

``random`` (initial weights, tokenizer), ``zooms`` and ``overviews`` (learning to describe pictures), ``base``, then
``sft`` and ``grpo``, with ``-no-tool`` variants; ``bench`` has a report of each. Uses training.sft, .grpo and .bench.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from training.data.records import Example, Question
from training.miniature.examples import questions
from training.miniature.model import Size
from training.run import CardFiles, Run
from training.settings import ModelSettings


@dataclass(frozen=True)
class Learning:
    """One supervised stage: number of spectra, steps, examples per step, and learning rate."""

    spectra: int
    steps: int
    batch: int
    rate: float


@dataclass(frozen=True)
class Rounds:
    """The GRPO stage, with fields as in ``training.grpo.GrpoSettings``."""

    spectra: int
    rounds: int
    prompts: int
    rollouts: int
    rate: float


@dataclass(frozen=True)
class Scale:
    """All settings of a proof but its seeds.

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
        # Too small to learn anything; it shows that every stage runs and resumes.
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


WITHOUT = "-no-tool"
MODELS = ("base", "sft", "grpo", f"sft{WITHOUT}", f"grpo{WITHOUT}")
"""What is put on the bench, in the order of the table."""

BETA2 = 0.95
"""How long AdamW remembers the size of gradients: twenty steps, not the usual thousand. In trials from random
weights seeing was learned with it; what else differed between the trials was not separated."""

OnMessage = Callable[[str], None]
"""Receives one line of progress."""


@dataclass(frozen=True)
class Seed:
    """One seed's part of the proof, in its folder. ``do`` runs what is missing."""

    folder: Path
    seed: int
    scale: Scale
    report: OnMessage

    def do(self) -> None:
        """:raises ModelError, RunError, JournalError: as the stages' own commands would"""
        self._once("random", self._random)
        self._once("base", self._base)
        for end in ("", WITHOUT):
            self._sft(end)
            self._grpo(end)
        for model in MODELS:
            self._bench(model)

    def _once(self, name: str, make: Callable[[Path], None]) -> None:
        """Return the folder; it exists once it is complete."""
        folder = self.folder / name
        if folder.is_dir():
            return
        unfinished = self.folder / f"{name}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        make(unfinished)
        unfinished.rename(folder)

    def _random(self, folder: Path) -> None:
        import torch

        from training.miniature.examples import texts
        from training.miniature.model import model_for, processor_for

        self.report("tokenizer and random weights")
        size = self.scale.size
        # A hundred examples contain every text of the script.
        described = [*self._described(True, 100), *self._inspected(True, 100), *self._inspected(False, 100)]
        processor = processor_for(texts(described), size)
        torch.manual_seed(self.seed)
        model_for(processor.tokenizer, size).save_pretrained(folder)
        processor.save_pretrained(folder)

    def _base(self, folder: Path) -> None:
        start = self.folder / "random"
        for name, learning in (("zooms", self.scale.zooms), ("overviews", self.scale.overviews)):
            run = self.folder / name
            examples = partial(self._described, name == "overviews")
            self._learn(run, start, learning, examples, with_tool=False)
            start = run / "model"
        shutil.copytree(start, folder)

    def _sft(self, end: str) -> None:
        with_tool = not end
        examples = partial(self._inspected, with_tool)
        run = self.folder / f"sft{end}"
        self._learn(run, self.folder / "base", self.scale.sft, examples, with_tool)

    def _learn(
        self,
        folder: Path,
        start: Path,
        learning: Learning,
        examples: Callable[[], list[Example]],
        with_tool: bool,
    ) -> None:
        from training.sft import SftSettings, train

        if Run(folder).finished:
            return
        settings = SftSettings(
            model=_model(start),
            output=str(folder),
            seed=self.seed,
            with_tool=with_tool,
            max_length=self.scale.size.context,
            max_steps=learning.steps,
            batch_size=learning.batch,
            learning_rate=learning.rate,
            beta2=BETA2,
            save_steps=self.scale.checkpoints,
            keep_checkpoints=1,
            gradient_checkpointing=False,
        )
        self.report(f"{folder.name}: drawing the pictures")
        given = examples()
        train(settings, given, card=_card(given), start=_start(folder), on_step=self._steps(folder.name))

    def _grpo(self, end: str) -> None:
        from training.grpo.learning import train
        from training.grpo.settings import GrpoSettings

        folder, scale = self.folder / f"grpo{end}", self.scale
        if Run(folder).finished:
            return
        settings = GrpoSettings(
            model=_model(self.folder / f"sft{end}"),
            output=str(folder),
            seed=self.seed,
            with_tool=not end,
            prompts=scale.grpo.prompts,
            rollouts=scale.grpo.rollouts,
            mini_batch=scale.grpo.prompts,
            per_device=scale.grpo.rollouts,
            rounds=scale.grpo.rounds,
            learning_rate=scale.grpo.rate,
            max_turns=scale.turns,
            turn_tokens=scale.turn_tokens,
            prompt_tokens=scale.size.context // 2,
            response_tokens=scale.size.context // 2,
            writing_batch=scale.grpo.prompts * scale.grpo.rollouts,
            gradient_checkpointing=False,
            save_rounds=scale.checkpoints,
            keep_checkpoints=1,
            traces=scale.grpo.prompts,
        )
        selected = questions("grpo", scale.grpo.spectra)
        train(settings, selected, card=_card(selected), start=_start(folder), on_step=self._steps(folder.name))

    def _bench(self, model: str) -> None:
        from agent.policies import Sampling
        from agent.policies.local.policy import Local
        from training.bench import gallery, report
        from training.bench.answers import Answers
        from training.bench.answers import Run as BenchRun
        from training.bench.run import InspectionOptions, ask_all, system_of
        from training.bench.table import of_run

        folder = self.folder / "bench" / model
        if (folder / report.SCORES).is_file():
            return
        folder.mkdir(parents=True, exist_ok=True)
        who = system_of(str(self.folder / model))
        policy = Local(who.model, sampling=Sampling(max_tokens=self.scale.turn_tokens))
        with_tool = not model.endswith(WITHOUT)
        settings = {
            "name": "miniature",
            "stage": who.stage or "base",
            "policy": {"kind": "model", "name": model, "settings": policy.sampling.settings()},
            "with_tool": with_tool,
            "max_turns": self.scale.turns,
        }
        selected = questions("bench", self.scale.bench)
        options = InspectionOptions(lambda _: policy, self.scale.turns, with_tool)
        with Answers(folder, selected, settings) as answers:
            left = len(selected) - answers.done
            ask_all(selected, options, answers, progress=lambda n: self.report(f"bench of {model}: {n} of {left}"))
        run = BenchRun.read(folder)
        row = of_run(run)
        gallery.write(run, row, gallery.spectra_of(selected), 4)
        report.write(row, run.settings, gallery.FILE)

    def _described(self, overviews: bool, most: int | None = None) -> list[Example]:
        from training.miniature.examples import described
        from training.miniature.model import shrunk

        shrink = partial(shrunk, size=self.scale.size)
        part = self.scale.overviews if overviews else self.scale.zooms
        selected = questions("pictures", part.spectra)[:most]
        return [one for question in selected for one in described(question, shrink, overviews)]

    def _inspected(self, with_tool: bool, most: int | None = None) -> list[Example]:
        from training.miniature.examples import inspected
        from training.miniature.model import shrunk

        shrink = partial(shrunk, size=self.scale.size)
        selected = questions("sft", self.scale.sft.spectra)[:most]
        return [inspected(question, shrink, with_tool) for question in selected]

    def _steps(self, name: str) -> Callable[[int, int, Mapping[str, Any]], None]:
        def on_step(step: int, steps: int, numbers: Mapping[str, Any]) -> None:
            key = "reward" if "reward" in numbers else "loss"
            self.report(f"{name}: step {step} of {steps}, {key} {float(numbers[key]):.3f}")

        return on_step


def _model(folder: Path) -> ModelSettings:
    return ModelSettings(name=str(folder), frozen=(), dtype="float32")


def _card(records: Sequence[Example] | Sequence[Question]) -> CardFiles:
    from training.data import card

    found = card(records)
    return CardFiles(json.loads(json.dumps(found.to_json())), found.markdown())


def _start(folder: Path) -> Any:
    return "resume" if (folder / "settings.yaml").is_file() else "new"
