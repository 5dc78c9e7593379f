"""What is logged of a round, each number with its definition here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from training.grpo.rollout import Rolled
from training.reward import Reward


@dataclass(frozen=True)
class Outcome:
    """One trajectory in numbers, small enough to be told to the other processes.

    :param answered: it ended with an answer that is YES or NO
    :param predicted: the class as the reward reads it, or whatever stood in its place
    :param calls: calls that the tool answered; ``errors`` of them with an error
    :param tokens: of all that followed the question; ``spoken`` of them by the assistant
    """

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


def outcome(rolled: Rolled, reward: Reward) -> Outcome:
    """What one trajectory came to."""
    answer = rolled.trajectory.answer
    looks = rolled.looks
    return Outcome(
        reward=reward.score,
        format_ok=reward.format_ok,
        answered=answer is not None and answer.verdict is not None,
        predicted=reward.predicted,
        label=rolled.question.label,
        calls=len(looks),
        errors=sum(not zoom.ok for zoom in looks),
        turns=len(rolled.turns),
        tokens=len(rolled.said),
        spoken=sum(rolled.said.spoken),
        truncated=rolled.truncated,
    )


def measured(outcomes: Sequence[Outcome], rollouts: int) -> dict[str, float | None]:
    """The round in numbers.

    ``reward`` and ``reward_std`` (of all trajectories, not within groups); shares of all trajectories:
    ``format_rate``, ``answer_rate``, ``yes_rate``, ``accuracy`` (the class that the reward reads, against the
    label), ``truncated``; ``tool_error_rate``, of the calls that the tool answered, None without any;
    ``no_spread``, the share of groups whose rewards are all the same and which therefore teach nothing.

    :param outcomes: group after group
    :param rollouts: how many make a group
    :raises ValueError: no whole number of groups
    """
    if not outcomes or len(outcomes) % rollouts:
        raise ValueError(f"found {len(outcomes)} outcomes, wanted whole groups of {rollouts}")
    rewards = [one.reward for one in outcomes]
    groups = [rewards[start : start + rollouts] for start in range(0, len(rewards), rollouts)]
    calls = sum(one.calls for one in outcomes)
    return {
        "reward": fmean(rewards),
        "reward_std": pstdev(rewards),
        "format_rate": fmean(one.format_ok for one in outcomes),
        "answer_rate": fmean(one.answered for one in outcomes),
        "yes_rate": fmean(one.predicted == "YES" for one in outcomes),
        "accuracy": fmean(one.predicted == one.label for one in outcomes),
        "calls": calls / len(outcomes),
        "tool_error_rate": sum(one.errors for one in outcomes) / calls if calls else None,
        "turns": fmean(one.turns for one in outcomes),
        "tokens": fmean(one.tokens for one in outcomes),
        "tokens_max": max(one.tokens for one in outcomes),
        "spoken": fmean(one.spoken for one in outcomes),
        "spoken_max": max(one.spoken for one in outcomes),
        "truncated": fmean(one.truncated for one in outcomes),
        "no_spread": fmean(max(group) == min(group) for group in groups),
    }
