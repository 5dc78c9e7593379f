"""The stages of one seed of the proof, each a folder that exists once the stage is done.

``random`` (initial weights, tokenizer), ``practice`` (learning to see), then the cold start and GRPO of each branch;
``bench`` has a report of each model. Uses training.sft, training.grpo and training.bench.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Literal

from training.data.records import Example, Question
from training.miniature.examples import Errors
from training.miniature.model import Size
from training.miniature.spectra import questions
from training.miniature.stage_parts import BETA2, OnMessage, Rounds, grpo_settings, once, save_random, start_of, steps
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
class Reward(Rounds):
    """The GRPO stage."""

    warmup: int
    loss: Literal["dapo", "grpo"] = "grpo"
    schedule: Literal["constant", "linear", "cosine"] = "linear"
    per_device: int = 16
    kl: float = 0.0


@dataclass(frozen=True)
class Scale:
    """All settings of a proof but its seeds.

    :param errors: those planted in the drafts that one branch learns from without a review
    :param turns: assistant turns that an inspection may take, in training and on the bench
    :param turn_tokens: most tokens of one turn
    :param bench: questions of the bench
    :param checkpoints: steps from one checkpoint to the next; a tenth of that in rounds
    """

    name: str
    size: Size
    practice: Learning
    sft: Learning
    grpo: Reward
    bench: int
    errors: Errors = field(default_factory=lambda: Errors(misread=0.35, astray=0.2))
    turns: int = 5
    turn_tokens: int = 64
    checkpoints: int = 50


SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        # Too small to learn anything; it shows that every stage runs and resumes.
        "quick": Scale(
            "quick",
            Size(picture=(8, 12), vocabulary=500, context=1024, paper=True),
            practice=Learning(spectra=8, steps=3, batch=4, rate=2e-3),
            sft=Learning(spectra=6, steps=3, batch=2, rate=1e-3),
            grpo=Reward(
                6, 2, prompts=2, rollouts=2, mini_batch=2, rate=1e-4, warmup=1, validation=3, validate_rounds=1
            ),
            bench=6,
            turns=2,
            turn_tokens=16,
            checkpoints=1,
        ),
        "full": Scale(
            "full",
            Size(picture=(8, 45), vocabulary=600, context=1024, paper=True),
            practice=Learning(spectra=4000, steps=1000, batch=32, rate=1e-3),
            sft=Learning(spectra=2000, steps=500, batch=12, rate=5e-4),
            # One update per round: few questions at a time move the model towards the answer that most of them have.
            grpo=Reward(
                2000,
                60,
                prompts=32,
                rollouts=8,
                mini_batch=32,
                rate=1.5e-4,
                warmup=4,
                validation=240,
                validate_rounds=5,
            ),
            bench=420,
        ),
    }
)


@dataclass(frozen=True)
class Branch:
    """A model of the proof: how it differs from the others.

    :param corrected: what the reviewer has corrected in the traces that its cold start learns from
    """

    name: str
    title: str
    with_tool: bool = True
    corrected: Literal["text and answer", "answer", "nothing"] = "text and answer"
    grpo: bool = False

    @property
    def start(self) -> str:
        """The folder of the model from which its last stage starts."""
        return self.name.replace("grpo", "sft") if self.grpo else "base"


BRANCHES = (
    Branch("sft", "SFT"),
    Branch("grpo", "SFT + GRPO", grpo=True),
    Branch("sft-no-tool", "SFT, no tool", with_tool=False),
    Branch("grpo-no-tool", "SFT + GRPO, no tool", with_tool=False, grpo=True),
    Branch("sft-drafts", "SFT on uncorrected drafts", corrected="nothing"),
    Branch("sft-answers", "SFT on drafts with the answer corrected", corrected="answer"),
)
MODELS = ("base", *(branch.name for branch in BRANCHES))
"""What is put on the bench, in the order of the table."""

AT_ONCE = 60
"""Bench questions that are inspected together."""


def folder_of(proof: Path, seed: int) -> Path:
    """Return the folder of a seed in the folder of the proof."""
    return proof / f"seed-{seed}"


@dataclass(frozen=True)
class Seed:
    """One seed's part of the proof, in its folder. ``do`` runs what is missing."""

    folder: Path
    seed: int
    scale: Scale
    report: OnMessage

    def do(self) -> None:
        """:raises ModelError, RunError, JournalError: as the stages' own commands would"""
        once(self.folder / "random", self._random)
        once(self.folder / "base", self._base)
        for branch in BRANCHES:
            if branch.grpo:
                self._grpo(branch)
            else:
                self._sft(branch)
        for model in MODELS:
            self._bench(model)

    def _random(self, folder: Path) -> None:
        from training.miniature.examples import phrases, texts

        self.report("tokenizer and random weights")
        # A hundred examples contain every text of the script.
        some = [*self._practised(100)]
        for branch in BRANCHES:
            if branch.corrected != "answer":  # it has no sentence of its own
                some += self._inspected(branch, 100)
        prompts = sorted({example.trajectory.prompt for example in some if len(example.trajectory.prompt) > 60})
        save_random(folder, texts(some), phrases(prompts), self.scale.size, self.seed)

    def _base(self, folder: Path) -> None:
        run, learning = self.folder / "practice", self.scale.practice
        self._learn(run, self.folder / "random", learning, partial(self._practised, learning.spectra), with_tool=False)
        shutil.copytree(run / "model", folder)

    def _sft(self, branch: Branch) -> None:
        run, learning = self.folder / branch.name, self.scale.sft
        examples = partial(self._inspected, branch, learning.spectra)
        self._learn(run, self.folder / branch.start, learning, examples, branch.with_tool)

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
        train(settings, given, card=_card(given), start=start_of(folder), on_step=steps(folder.name, self.report))

    def _grpo(self, branch: Branch) -> None:
        from training.grpo.learning import train

        folder, scale = self.folder / branch.name, self.scale
        if Run(folder).finished:
            return
        grpo = scale.grpo
        settings = grpo_settings(
            _model(self.folder / branch.start),
            folder,
            self.seed,
            grpo,
            scale.size.context,
            max_turns=scale.turns,
            turn_tokens=scale.turn_tokens,
            with_tool=branch.with_tool,
            per_device=grpo.per_device if grpo.prompts * grpo.rollouts % grpo.per_device == 0 else grpo.rollouts,
            warmup=grpo.warmup,
            schedule=grpo.schedule,
            stratified=True,
            loss=grpo.loss,
            kl=grpo.kl,
            save_rounds=max(1, scale.checkpoints // 10),
        )
        selected, validation = questions("grpo", grpo.spectra), questions("validation", grpo.validation)
        train(settings, selected, _card(selected), start_of(folder), steps(folder.name, self.report), validation)

    def _bench(self, model: str) -> None:
        from agent.batch.run import Job, Outcome
        from agent.trajectory import Drafter
        from training.bench import gallery, report
        from training.bench.answers import Answers, place
        from training.bench.answers import Run as BenchRun
        from training.bench.run import system_of
        from training.bench.table import of_run
        from training.grpo.generators import GreedyGenerator
        from training.grpo.rollout import Limits, run_rollouts
        from training.model import load
        from training.render import Renderer

        folder = self.folder / "bench" / model
        if (folder / report.SCORES).is_file():
            return
        folder.mkdir(parents=True, exist_ok=True)
        who, scale, with_tool = system_of(str(self.folder / model)), self.scale, not model.endswith("-no-tool")
        settings = {
            "name": "miniature",
            "stage": who.stage or "base",
            "policy": {
                "kind": "model",
                "name": model,
                "settings": {"temperature": 0.0, "max_tokens": scale.turn_tokens},
            },
            "with_tool": with_tool,
            "max_turns": scale.turns,
        }
        selected = questions("bench", scale.bench)
        loaded = load(_model(Path(who.model)))
        with Answers(folder, selected, settings) as answers:
            left = [question for question in selected if not answers.has(question)]
            for first in range(0, len(left), AT_ONCE):
                some = left[first : first + AT_ONCE]
                since = monotonic()
                batch = run_rollouts(
                    some,
                    Renderer(loaded.processor),
                    GreedyGenerator(loaded.model.eval(), loaded.processor, AT_ONCE),
                    Limits(scale.turns, scale.turn_tokens, scale.size.context // 2),
                    Drafter("model", model),
                    with_tool,
                )
                each = (monotonic() - since) / len(some)
                for question, rollout in zip(some, batch.rollouts, strict=True):
                    answers.add(
                        Outcome(
                            Job(place(question), Path(question.source)),
                            "truncated" if rollout.truncated else rollout.reason,
                            trajectory=rollout.trajectory,
                            seconds=each,
                            texts=rollout.turns,
                        )
                    )
                answers.add_session(len(some), each * len(some))
                self.report(f"bench of {model}: {first + len(some)} of {len(left)}")
        run = BenchRun.read(folder)
        row = of_run(run)
        gallery.write(run, row, gallery.spectra_of(selected), 4)
        report.write(row, run.settings, gallery.FILE)

    def _practised(self, count: int) -> list[Example]:
        from training.miniature.examples import practised
        from training.miniature.model import shrunk

        shrink = partial(shrunk, size=self.scale.size)
        return [practised(number, shrink) for number in range(count)]

    def _inspected(self, branch: Branch, count: int) -> list[Example]:
        from training.miniature.examples import inspected, script_of
        from training.miniature.model import shrunk

        shrink = partial(shrunk, size=self.scale.size)
        errors = Errors() if branch.corrected == "text and answer" else self.scale.errors
        right = branch.corrected == "answer"
        selected = questions("sft", count)
        return [
            inspected(question, script_of(question, number, errors, right), shrink, branch.with_tool)
            for number, question in enumerate(selected)
        ]


def _model(folder: Path) -> ModelSettings:
    return ModelSettings(name=str(folder), frozen=(), dtype="float32")


def _card(records: Sequence[Example] | Sequence[Question]) -> CardFiles:
    from training.data import card

    made_card = card(records)
    return CardFiles(json.loads(json.dumps(made_card.to_json())), made_card.markdown())
