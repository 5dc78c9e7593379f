"""Greedy inspections of many spectra by a nano model, with the log odds of each verdict, in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agent.trajectory import Drafter
from agent.trajectory.steps import Verdict
from agent.trajectory.tags import parse
from training.data.records import Question
from training.settings import ModelSettings

if TYPE_CHECKING:
    from torch import Tensor

    from training.grpo.rollout import Request

AT_ONCE = 64
TURNS, TURN_TOKENS, TOKENS = 5, 32, 1000
"""Limits of an inspection: assistant turns, tokens of one, tokens of all."""
LIMIT = 10.0
"""Log odds beyond this are of no use; also those of an inspection whose verdict has none."""


@dataclass(frozen=True)
class Judged:
    """The verdict about a question, None if there is none; ``log_odds`` of YES; ``text`` is all that was written."""

    question: Question
    verdict: Verdict | None
    log_odds: float
    text: str

    @property
    def right(self) -> bool:
        return self.verdict == self.question.label


def judge(folder: Path, questions: Sequence[Question], progress: Callable[[int], None] | None = None) -> list[Judged]:
    """Inspect each question once with the model of ``folder``.

    :param folder: a model with a processor
    :param progress: gets the number of questions done
    """
    from training.grpo.generators import GreedyGenerator
    from training.grpo.rollout import Limits, run_rollouts
    from training.model import load
    from training.render import Renderer

    loaded = load(ModelSettings(name=str(folder), frozen=(), dtype="float32"))
    tokenizer = loaded.processor.tokenizer
    yes, no = (tokenizer.convert_tokens_to_ids(rf"<answer>\boxed{{{word}}} ") for word in ("YES", "NO"))
    odds: dict[int, float] = {}

    def record(requests: Sequence[Request], logits: Tensor, chosen: Sequence[int]) -> None:
        for place, (request, token) in enumerate(zip(requests, chosen, strict=True)):
            if token in (yes, no):
                odds[request.row] = float(logits[place, yes] - logits[place, no])

    model: Any = loaded.model.eval()
    judged: list[Judged] = []
    for first in range(0, len(questions), AT_ONCE):
        some = questions[first : first + AT_ONCE]
        odds.clear()
        batch = run_rollouts(
            some,
            Renderer(loaded.processor),
            GreedyGenerator(model, loaded.processor, AT_ONCE, record),
            Limits(TURNS, TURN_TOKENS, TOKENS),
            Drafter("model", "nano"),
        )
        for row, (question, rollout) in enumerate(zip(some, batch.rollouts, strict=True)):
            reply = parse(rollout.turns[-1]).answer if rollout.turns else None
            verdict = None if reply is None else reply.verdict
            certain = 0.0 if verdict is None else LIMIT if verdict == "YES" else -LIMIT
            log_odds = float(np.clip(odds.get(row, certain), -LIMIT, LIMIT))
            judged.append(Judged(question, verdict, log_odds, rollout.response))
        if progress is not None:
            progress(len(judged))
    return judged


@dataclass(frozen=True)
class Counts:
    """Answers to one task: right YES, wrong YES, missed YES, and questions that are left to a person."""

    hit: int
    false: int
    missed: int
    left: int
    n: int

    @property
    def f1(self) -> float | None:
        """F1 of the questions that are not left; None without any YES."""
        whole = 2 * self.hit + self.false + self.missed
        return 2 * self.hit / whole if whole else None

    @property
    def coverage(self) -> float:
        return 1 - self.left / self.n if self.n else 0.0


def counts(judged: Sequence[Judged], task: str, bound: float = 0.0, even: float = 0.0) -> Counts:
    """Count the answers to a task.

    :param bound: log odds above which the answer is YES
    :param even: an answer nearer than this to ``bound`` is left to a person
    """
    mine = [answer for answer in judged if answer.question.task.key == task]
    kept = [answer for answer in mine if abs(answer.log_odds - bound) >= even]
    pairs = [(answer.log_odds > bound, answer.question.label == "YES") for answer in kept]
    hit, false, missed = (pairs.count(pair) for pair in ((True, True), (True, False), (False, True)))
    return Counts(hit, false, missed, len(mine) - len(kept), len(mine))
