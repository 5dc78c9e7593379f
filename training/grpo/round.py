"""One GRPO round or validation: run the inspections, score them, compute the metrics, save sample traces."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, TypeVar

from agent.language import tr
from agent.trajectory import Drafter
from training.data.records import Question
from training.grpo.evidence import Evidence, outcomes_of, planned
from training.grpo.generators import RoundGenerator
from training.grpo.rollout import Limits, Rollout, RolloutBatch, continue_rollouts, run_rollouts
from training.grpo.settings import GrpoSettings, derived_seed
from training.render import IMAGE, Renderer
from training.reward import Reward, score
from training.run import Run
from training.settings import SettingsError


@dataclass(frozen=True)
class TrajectoryMetrics:
    """The numbers of one trajectory, small enough to be sent to the other processes.

    :param answered: it ended with the answer YES or NO
    :param predicted: the class as the reward reads it, or the text in its place
    :param calls: calls that were run; ``errors``: those answered with an error
    :param tokens: everything after the question; ``spoken``: the assistant's
    :param evidence: what became of its evidence on trial; None: not tested
    """

    task: str
    reward: float
    format_ok: bool
    answered: bool
    predicted: str
    label: str
    calls: int
    errors: int
    turns: int
    tokens: int
    spoken: int
    truncated: bool
    evidence: Evidence | None = None


def trajectory_metrics(rolled: Rollout, reward: Reward, evidence: Evidence | None = None) -> TrajectoryMetrics:
    """Return the numbers of one trajectory."""
    answer = rolled.trajectory.answer
    calls = rolled.tool_calls
    return TrajectoryMetrics(
        task=rolled.question.task.key,
        reward=reward.score,
        format_ok=reward.format_ok,
        answered=answer is not None and answer.verdict is not None,
        predicted=reward.predicted,
        label=rolled.question.label,
        calls=len(calls),
        errors=sum(not zoom.ok for zoom in calls),
        turns=len(rolled.turns),
        tokens=len(rolled.completion),
        spoken=sum(rolled.completion.spoken),
        truncated=rolled.truncated,
        evidence=evidence,
    )


def round_metrics(outcomes: Sequence[TrajectoryMetrics], rollouts: int) -> dict[str, float | None]:
    """Return the logged numbers of a round.

    ``reward`` and ``reward_std`` (of all trajectories, not within groups); shares of all trajectories:
    ``format_rate``, ``answer_rate``, ``yes_rate``, ``accuracy`` (the class that the reward reads, against the
    label), ``truncated``; ``tool_error_rate``, of the calls that the tool answered, None without any;
    ``no_spread``, the share of groups whose rewards are all equal, which gives no gradient.

    :param outcomes: group after group
    :param rollouts: trajectories per group
    :raises ValueError: no whole number of groups
    """
    if not outcomes or len(outcomes) % rollouts:
        raise ValueError(
            tr(
                "found {n_outcomes} outcomes, expected whole groups of {rollouts}",
                n_outcomes=len(outcomes),
                rollouts=rollouts,
            )
        )
    rewards = [outcome.reward for outcome in outcomes]
    groups = [rewards[start : start + rollouts] for start in range(0, len(rewards), rollouts)]
    calls = sum(outcome.calls for outcome in outcomes)
    return {
        "reward": fmean(rewards),
        "reward_std": pstdev(rewards),
        "format_rate": fmean(outcome.format_ok for outcome in outcomes),
        "answer_rate": fmean(outcome.answered for outcome in outcomes),
        "yes_rate": fmean(outcome.predicted == "YES" for outcome in outcomes),
        "accuracy": fmean(outcome.predicted == outcome.label for outcome in outcomes),
        "calls": calls / len(outcomes),
        "tool_error_rate": sum(outcome.errors for outcome in outcomes) / calls if calls else None,
        "turns": fmean(outcome.turns for outcome in outcomes),
        "tokens": fmean(outcome.tokens for outcome in outcomes),
        "tokens_max": max(outcome.tokens for outcome in outcomes),
        "spoken": fmean(outcome.spoken for outcome in outcomes),
        "spoken_max": max(outcome.spoken for outcome in outcomes),
        "truncated": fmean(outcome.truncated for outcome in outcomes),
        "no_spread": fmean(max(group) == min(group) for group in groups),
    }


def evidence_metrics(outcomes: Sequence[TrajectoryMetrics]) -> dict[str, float | None]:
    """Return the logged numbers of the evidence on trial.

    ``evidence``: share of all trajectories whose evidence held, which is what the reward counts; ``evidence_tested``:
    number of trajectories that could be tested; ``removal_followed`` and ``placebo_followed``: shares of these, None
    without any.
    """
    tested = [outcome.evidence for outcome in outcomes if outcome.evidence is not None]
    return {
        "evidence": sum(metrics.holds for metrics in tested) / len(outcomes),
        "evidence_tested": len(tested),
        "removal_followed": fmean(metrics.removal_followed for metrics in tested) if tested else None,
        "placebo_followed": fmean(metrics.placebo_followed for metrics in tested) if tested else None,
    }


def validation_metrics(outcomes: Sequence[TrajectoryMetrics]) -> dict[str, float | None]:
    """Return the logged numbers of a validation, one greedy inspection per question.

    The shares of ``round_metrics``, and ``f1``: that of the class YES, as the mean over the tasks that have it.
    """
    numbers = round_metrics(outcomes, 1)
    names = ("reward", "format_rate", "yes_rate", "accuracy", "calls", "tool_error_rate", "turns", "truncated")
    scores = []
    for task in sorted({outcome.task for outcome in outcomes}):
        mine = [outcome for outcome in outcomes if outcome.task == task]
        right = sum(outcome.label == outcome.predicted == "YES" for outcome in mine)
        either = sum(outcome.label == "YES" for outcome in mine) + sum(outcome.predicted == "YES" for outcome in mine)
        if either:
            scores.append(2 * right / either)
    return {name: numbers[name] for name in names} | {"f1": fmean(scores) if scores else None}


LABEL_SOURCE = "training data"

Item = TypeVar("Item")

Rows = Sequence[Mapping[str, Any]]
"""Rows of the data set, one per trajectory: ``question`` (an index) and ``round`` (from 0)."""


@dataclass(frozen=True)
class RoundBatch:
    """A round in the form that TRL takes; each list has one element per trajectory.

    :param spoken: 1 at the assistant's tokens of the completion; ``learned``: those of them that carry a loss
    :param counts: whether it counts in the mean of the loss
    """

    prompt_ids: list[list[int]]
    completion_ids: list[list[int]]
    spoken: list[list[int]]
    learned: list[list[int]]
    counts: list[bool]
    completions: list[list[dict[str, str]]]
    logprobs: list[list[float]] | None
    rewards: list[float]
    images: list[list[Any]]


class RoundRunner:
    """Runs rounds, and holds the metrics of the last one."""

    def __init__(self, settings: GrpoSettings, questions: Sequence[Question], renderer: Renderer, run: Run) -> None:
        self.round = 0
        self.numbers: dict[str, float | None] = {}
        self.seconds_writing = 0.0
        self.seconds_drawing = 0.0
        self._settings = settings
        self._questions = questions
        self._renderer = renderer
        self._run = run

    def run(self, rows: Rows, writer: RoundGenerator, save_traces: bool) -> RoundBatch:
        """Inspect the questions of the rows; with several processes each takes its own rows at the same time.

        :raises SettingsError: a question is longer than allowed
        """
        from accelerate import PartialState

        settings = self._settings
        (number,) = {int(row["round"]) for row in rows}
        self.round = number + 1
        with writer.round(number):
            batch = self._inspect([self._questions[row["question"]] for row in rows], writer)
            self.seconds_writing, self.seconds_drawing = batch.seconds_writing, batch.seconds_drawing
            rollouts = batch.rollouts
            evidence = self._evidence(rollouts, writer) if settings.evidence else [None] * len(rollouts)
        rewards = self._rewards(rollouts, evidence)
        outcomes = gathered([trajectory_metrics(*rollout) for rollout in zip(rollouts, rewards, evidence, strict=True)])
        self.numbers = round_metrics(outcomes, settings.rollouts)
        if settings.evidence:
            self.numbers |= evidence_metrics(outcomes)
        if save_traces:
            self._save_traces(rollouts, rewards, evidence)
        counts = self._counts(outcomes, PartialState().process_index * len(rollouts), len(rollouts))
        learned = [count and self._may_learn(rollout) for count, rollout in zip(counts, rollouts, strict=True)]
        self.numbers["masked"] = fmean(not learns for learns in gathered(learned))
        return _for_trl(rollouts, rewards, learned, counts)

    def validate(self, questions: Sequence[Question], writer: RoundGenerator) -> dict[str, float | None]:
        """Inspect each question once, greedily, and return the numbers; several processes share the questions.

        The reward is the published one, without evidence on trial.
        """
        from accelerate import PartialState

        state = PartialState()
        mine = questions[state.process_index :: state.num_processes]
        with writer.round(self.round, greedy=True):
            # A process without a question inspects the first one too: a shared vLLM needs a request from each.
            rollouts = self._inspect(mine or questions[:1], writer).rollouts[: len(mine)]
        rewards = self._rewards(rollouts, [None] * len(rollouts))
        return validation_metrics(gathered([trajectory_metrics(*pair) for pair in zip(rollouts, rewards, strict=True)]))

    def _inspect(self, questions: Sequence[Question], writer: RoundGenerator) -> RolloutBatch:
        limits = self._limits
        with_tool = self._settings.with_tool
        batch = run_rollouts(questions, self._renderer, writer, limits, self._drafter(limits), with_tool)
        self._check(batch.rollouts)
        return batch

    @property
    def _limits(self) -> Limits:
        settings = self._settings
        return Limits(settings.max_turns, settings.turn_tokens, settings.response_tokens)

    def _evidence(self, rollouts: Sequence[Rollout], writer: RoundGenerator) -> list[Evidence | None]:
        """Put the evidence of the rollouts on trial. With several processes all call it, also without a test."""
        from accelerate import PartialState

        since = time.perf_counter()
        tests = planned(rollouts, derived_seed(self._settings.seed, self.round, PartialState().process_index, 1))
        self.seconds_drawing += time.perf_counter() - since
        limits = self._limits
        pairs = [continuation for test in tests for continuation in (test.removed, test.placebo)]
        batch = continue_rollouts(pairs, self._renderer, writer, limits, self._drafter(limits), len(rollouts))
        self.seconds_writing += batch.seconds_writing
        self.seconds_drawing += batch.seconds_drawing
        return outcomes_of(tests, rollouts, batch.rollouts)

    def _rewards(self, rollouts: Sequence[Rollout], evidence: Sequence[Evidence | None]) -> list[Reward]:
        settings = self._settings
        rewards = []
        for rollout, outcome in zip(rollouts, evidence, strict=True):
            reward = score(rollout.response, rollout.question.label, settings.alpha)
            holds = outcome is not None and outcome.holds
            rewards.append(replace(reward, score=reward.score + settings.evidence) if holds else reward)
        return rewards

    @property
    def filters(self) -> bool:
        """Whether groups without spread do not count."""
        return self._settings.filter_groups

    def _counts(self, outcomes: Sequence[TrajectoryMetrics], first: int, number: int) -> list[bool]:
        """Return which of the ``number`` trajectories of this process count in the mean of the loss.

        :param outcomes: of all processes, ``first`` being the first of this one
        """
        size = self._settings.rollouts
        starts = [place // size * size for place in range(first, first + number)]
        spread = [len({outcome.reward for outcome in outcomes[start : start + size]}) > 1 for start in starts]
        return [spreads or not self.filters for spreads in spread]

    def _may_learn(self, rollout: Rollout) -> bool:
        ended = not rollout.truncated and rollout.reason != "turn limit"
        return ended or not self._settings.mask_unfinished

    def _drafter(self, limits: Limits) -> Drafter:
        settings = self._settings
        details = {
            "run": Path(settings.output).name,
            "round": self.round,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "max_tokens": limits.turn or limits.response,
            "max_response_tokens": limits.response,
        }
        return Drafter("model", f"{Path(settings.output).name}, round {self.round}", details)

    def _check(self, rolled: Sequence[Rollout]) -> None:
        """Check tokens: TRL silently drops all pictures of a round if one does not match its tokens."""
        mark = self._renderer.processor.tokenizer.convert_tokens_to_ids(IMAGE)
        longest = self._settings.prompt_tokens
        for rollout in rolled:
            if len(rollout.prompt) > longest:
                raise SettingsError(
                    tr(
                        "prompt_tokens: {key} has {n_prompt} tokens with its picture, at most {longest} are allowed",
                        key=rollout.question.key,
                        n_prompt=len(rollout.prompt),
                        longest=longest,
                    )
                )
            marks = rollout.prompt.ids.count(mark) + rollout.completion.ids.count(mark)
            expected = sum(map(self._renderer.image_tokens, rollout.images))
            if marks != expected:
                raise ValueError(
                    tr(
                        "{key}: {marks} picture tokens, but pictures of {wanted}",
                        key=rollout.question.key,
                        marks=marks,
                        wanted=expected,
                    )
                )

    def _save_traces(
        self, rolled: Sequence[Rollout], rewards: Sequence[Reward], evidence: Sequence[Evidence | None]
    ) -> None:
        """Save some trajectories of the round as JSON lines, of as many different questions as possible."""
        group = self._settings.rollouts
        order = sorted(range(len(rolled)), key=lambda n: (n % group, n))[: self._settings.traces]
        if not order:
            return
        self._run.traces.mkdir(parents=True, exist_ok=True)
        lines = [
            json.dumps(_trace(rolled[n], rewards[n], evidence[n]), ensure_ascii=False) + "\n" for n in sorted(order)
        ]
        (self._run.traces / f"round-{self.round:05d}.jsonl").write_text("".join(lines), "utf-8")


def _trace(rolled: Rollout, reward: Reward, evidence: Evidence | None) -> dict[str, Any]:
    """Return a row for ``spec-o3 import``: the trajectory with its spectrum, label, reward and tested evidence."""
    drafter = rolled.trajectory.drafter
    details = {"reward": reward.score, "predicted": reward.predicted[:60], "ended": rolled.reason}
    if evidence is not None:
        details |= {"removal_followed": evidence.removal_followed, "placebo_followed": evidence.placebo_followed}
    trajectory = replace(
        rolled.trajectory,
        drafter=replace(drafter, settings=dict(drafter.settings) | details),
        label=rolled.question.label,
        label_source=LABEL_SOURCE,
    )
    return trajectory.to_json() | {"spectrum_data": rolled.question.spectrum().to_json()}


def gathered(items: list[Item]) -> list[Item]:
    """Return the items of all processes, in the order of the processes."""
    from accelerate.utils import gather_object

    gathered_items: list[Item] = gather_object(items)
    return gathered_items


def _for_trl(
    rolled: Sequence[Rollout], rewards: Sequence[Reward], learned: Sequence[bool], counts: Sequence[bool]
) -> RoundBatch:
    known = [list(rollout.logprobs) for rollout in rolled if rollout.logprobs is not None]
    return RoundBatch(
        prompt_ids=[list(rollout.prompt.ids) for rollout in rolled],
        completion_ids=[list(rollout.completion.ids) for rollout in rolled],
        spoken=[list(map(int, rollout.completion.spoken)) for rollout in rolled],
        learned=[
            [int(spoken and learns) for spoken in rollout.completion.spoken]
            for rollout, learns in zip(rolled, learned, strict=True)
        ],
        counts=list(counts),
        completions=[[{"role": "assistant", "content": rollout.response}] for rollout in rolled],
        logprobs=known if len(known) == len(rolled) else None,
        rewards=[reward.score for reward in rewards],
        images=[list(rollout.images) for rollout in rolled],
    )
