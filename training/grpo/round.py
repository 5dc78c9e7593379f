"""What stands in the place of TRL's own generation: a round of inspections, scored, measured and kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent.trajectory import Drafter
from training.data.records import Question
from training.grpo.generators import RoundWriter
from training.grpo.metrics import measured, outcome
from training.grpo.rollout import Limits, Rolled, roll
from training.grpo.settings import GrpoSettings
from training.render import IMAGE, Renderer
from training.reward import Reward, score
from training.run import Run
from training.settings import SettingsError

LABEL_SOURCE = "training data"

Rows = Sequence[Mapping[str, Any]]
"""A round's rows of the data set, one a trajectory: ``question``, its place, and ``round``, from 0."""


@dataclass(frozen=True)
class Asked:
    """A round in the form that TRL takes, a place in each list a trajectory."""

    prompt_ids: list[list[int]]
    completion_ids: list[list[int]]
    spoken: list[list[int]]
    completions: list[list[dict[str, str]]]
    logprobs: list[list[float]] | None
    rewards: list[float]
    images: list[list[Any]]


class Asking:
    """Asks rounds of questions, and knows the numbers of the last."""

    def __init__(self, settings: GrpoSettings, questions: Sequence[Question], renderer: Renderer, run: Run) -> None:
        self.round = 0
        self.numbers: dict[str, float | None] = {}
        self.seconds_writing = 0.0
        self.seconds_drawing = 0.0
        self._settings = settings
        self._questions = questions
        self._renderer = renderer
        self._run = run

    def ask(self, rows: Rows, writer: RoundWriter, keeps_traces: bool) -> Asked:
        """Inspect what the rows name; with several processes each asks its own rows, at the same time.

        :raises SettingsError: a question is longer than allowed
        """
        from accelerate.utils import gather_object

        settings = self._settings
        (number,) = {int(row["round"]) for row in rows}
        self.round = number + 1
        limits = Limits(settings.max_turns, settings.turn_tokens, settings.response_tokens)
        with writer.round(number):
            rollout = roll(
                [self._questions[row["question"]] for row in rows],
                self._renderer,
                writer,
                limits,
                self._drafter(limits),
                settings.with_tool,
            )
        self._check(rollout.rolled)
        rewards = [score(one.response, one.question.label, settings.alpha) for one in rollout.rolled]
        outcomes = [outcome(*pair) for pair in zip(rollout.rolled, rewards, strict=True)]
        self.numbers = measured(gather_object(outcomes), settings.rollouts)
        self.seconds_writing, self.seconds_drawing = rollout.seconds_writing, rollout.seconds_drawing
        if keeps_traces:
            self._keep(rollout.rolled, rewards)
        return _for_trl(rollout.rolled, rewards)

    def _drafter(self, limits: Limits) -> Drafter:
        settings = self._settings
        told = {
            "run": Path(settings.output).name,
            "round": self.round,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "max_tokens": limits.turn or limits.response,
            "max_response_tokens": limits.response,
        }
        return Drafter("model", f"{Path(settings.output).name}, round {self.round}", told)

    def _check(self, rolled: Sequence[Rolled]) -> None:
        """TRL would drop every picture of the round, without a word, if one did not fit its tokens."""
        mark = self._renderer.processor.tokenizer.convert_tokens_to_ids(IMAGE)
        longest = self._settings.prompt_tokens
        for one in rolled:
            if len(one.prompt) > longest:
                raise SettingsError(
                    f"prompt_tokens: {one.question.key} has {len(one.prompt)} tokens with its picture, "
                    f"{longest} are allowed"
                )
            marks = one.prompt.ids.count(mark) + one.said.ids.count(mark)
            wanted = sum(map(self._renderer.image_tokens, one.images))
            if marks != wanted:
                raise ValueError(f"{one.question.key}: {marks} picture tokens, but pictures of {wanted}")

    def _keep(self, rolled: Sequence[Rolled], rewards: Sequence[Reward]) -> None:
        """A few of the round as our JSON lines, of as many questions as there are."""
        group = self._settings.rollouts
        order = sorted(range(len(rolled)), key=lambda n: (n % group, n))[: self._settings.traces]
        if not order:
            return
        self._run.traces.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(_trace(rolled[n], rewards[n]), ensure_ascii=False) + "\n" for n in sorted(order)]
        (self._run.traces / f"round-{self.round:05d}.jsonl").write_text("".join(lines), "utf-8")


def _trace(rolled: Rolled, reward: Reward) -> dict[str, Any]:
    """A line that ``spec-o3 import`` takes: the trajectory with its spectrum, its label and its reward."""
    drafter = rolled.trajectory.drafter
    told = {"reward": reward.score, "predicted": reward.predicted[:60], "ended": rolled.reason}
    trajectory = replace(
        rolled.trajectory,
        drafter=replace(drafter, settings=dict(drafter.settings) | told),
        label=rolled.question.label,
        label_source=LABEL_SOURCE,
    )
    return trajectory.to_json() | {"spectrum_data": rolled.question.spectrum().to_json()}


def _for_trl(rolled: Sequence[Rolled], rewards: Sequence[Reward]) -> Asked:
    known = [list(one.logprobs) for one in rolled if one.logprobs is not None]
    return Asked(
        prompt_ids=[list(one.prompt.ids) for one in rolled],
        completion_ids=[list(one.said.ids) for one in rolled],
        spoken=[[int(spoken) for spoken in one.said.spoken] for one in rolled],
        completions=[[{"role": "assistant", "content": one.response}] for one in rolled],
        logprobs=known if len(known) == len(rolled) else None,
        rewards=[reward.score for reward in rewards],
        images=[list(one.images) for one in rolled],
    )
