r"""The log odds of YES against NO at the token with which a model chooses the word in its ``\boxed{}``.

From the logits of a model in this process, or from the alternatives that a server lists per token (``logprobs`` and
``top_logprobs`` of the Chat Completions API, https://platform.openai.com/docs/api-reference/chat/object).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agent.conversation import Remark, Score
from agent.trajectory.tags import parse

LISTED = 20
"""Alternatives per token that are requested from a server: the most that OpenAI and vLLM (by default) allow."""
NOT_LISTED = -9999.0
"""What servers write in place of the logarithm of a probability of 0, because JSON has no infinity."""

_BOX = re.compile(r"\\boxed\s*\{\s*(?:\\text\s*\{\s*)?([A-Za-z]+)")
_MARK = "\\boxed"


@dataclass(frozen=True)
class _Choice:
    """The log odds at the token that chose the word of a box; ``at``: where the box begins in the turn's text."""

    at: int
    log_odds: float


class AnswerOdds:
    r"""The log odds of YES against NO at the token that chooses the answer word.

    That token is the one with which the first letter of the word in ``\boxed{`` is written. Of all tokens that could
    stand in its place, those that begin YES there are one class, those that begin NO the other: "Y", "YES", " yes",
    "YES}", or a whole phrase as ``\boxed{YES}``. The log odds are the logarithm of the probability of the first class
    minus that of the second, both before temperature and top-p: ln Σ exp(z) over the first minus ln Σ exp(z) over the
    second, where z are logits or log-probabilities. They are conditional on the thought that the model has just
    written, and so are not the probability of the class. If no token of one class could stand there, as in a
    vocabulary with a phrase for YES only, there are no log odds.

    A server lists only the most probable tokens. A class with no token among them gets the probability of the least
    probable listed one, which none of its tokens exceeds: the log odds are then a bound, and farther from 0 in truth
    unless the class has several such tokens.

    :param texts: the texts of all tokens, in the order of the logits; called only at a token that chooses
    """

    def __init__(self, texts: Callable[[], Sequence[str]] | None = None) -> None:
        self._texts = texts
        self._choices: list[_Choice] = []

    def add(self, before: str, after: str, logits: Callable[[], ArrayLike]) -> None:
        """Take one token: the turn's text before and after it, and the logits (vocabulary,) from which it came, which
        are requested only at a token that chooses.
        """
        if (at := _chosen_at(before, after)) is not None and self._texts is not None:
            self._add(at, before, self._texts(), np.asarray(logits(), np.float64))

    def add_listed(self, before: str, after: str, token: Mapping[str, Any]) -> None:
        """Take one token with the alternatives that a server lists: an entry of ``logprobs.content``."""
        if (at := _chosen_at(before, after)) is None:
            return
        written = token.get("token")
        listed = token.get("top_logprobs")
        alternatives = list(filter(None, map(_alternative, listed if isinstance(listed, list) else ())))
        # vLLM lists the written token even if it is less probable than alternatives that it leaves out.
        floor = min((value for text, value in alternatives if text != written), default=None)
        own = _alternative(token)
        if own is not None and all(text != written for text, _ in alternatives):
            alternatives.append(own)
        if floor is not None:
            self._add(
                at, before, [text for text, _ in alternatives], np.array([value for _, value in alternatives]), floor
            )

    def of_answer(self, text: str) -> float | None:
        """Return the log odds that belong to the answer of a whole turn; None if there are none.

        As the loop reads a turn: the first box after the last ``<answer>``.
        """
        first = text.rfind("<answer>")
        return next((choice.log_odds for choice in self._choices if choice.at >= first), None)

    def _add(
        self, at: int, before: str, texts: Sequence[str], values: NDArray[np.float64], floor: float | None = None
    ) -> None:
        begun = before[at:]
        sums: list[float] = []
        for tokens in _classes(begun, texts):
            if tokens:
                sums.append(_log_sum(values[tokens]))
            elif floor is not None:
                sums.append(floor)
        if len(sums) == 2:
            self._choices.append(_Choice(at, sums[0] - sums[1]))


def pieces_of_score(written: str, tokens: Sequence[Mapping[str, Any]]) -> tuple[Score | Remark, ...]:
    """Return the score of a served turn, or a remark that the server gave nothing to calculate it from.

    Empty if the turn has no answer of YES or NO, or if the word is not in a box.

    :param written: the turn as tagged text
    :param tokens: the entries of ``logprobs.content`` of the turn, in order
    """
    if not has_verdict(written):
        return ()
    if not tokens:
        return (Remark("the server sent no log-probabilities: the answer has no score"),)
    odds, text = AnswerOdds(), ""
    for token in tokens:
        piece = token.get("token")
        after = text + piece if isinstance(piece, str) else text
        odds.add_listed(text, after, token)
        text = after
    score = odds.of_answer(text)
    return () if score is None else (Score(score),)


def has_verdict(written: str) -> bool:
    """Return whether the loop takes a turn (tagged text) for an answer of YES or NO."""
    turn = parse(written)
    return turn.call is None and turn.answer is not None and turn.answer.verdict is not None


def _chosen_at(before: str, after: str) -> int | None:
    """Return where the box begins whose word begins with the token between two texts; None if there is no such box."""
    at = after.rfind(_MARK)
    if at < 0 or _BOX.match(before, at):
        return None
    word = _BOX.match(after, at)
    return at if word is not None and (_begins(word[1], "YES") or _begins(word[1], "NO")) else None


def _classes(begun: str, texts: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the indices of the tokens that begin YES and of those that begin NO after ``begun``."""
    yes: list[int] = []
    no: list[int] = []
    for number, text in enumerate(texts):
        word = _BOX.match(begun + text) if begun else _BOX.search(text)
        if word is not None:
            for verdict, tokens in (("YES", yes), ("NO", no)):
                if _begins(word[1], verdict):
                    tokens.append(number)
    return yes, no


def _begins(word: str, verdict: str) -> bool:
    word = word.upper()
    return word == verdict or verdict.startswith(word)


def _log_sum(values: NDArray[np.float64]) -> float:
    largest = float(values.max())
    return largest + float(np.log(np.exp(values - largest).sum()))


def _alternative(entry: object) -> tuple[str, float] | None:
    """Return text and log-probability of an entry; None if it has none, or stands for a probability of 0."""
    if not isinstance(entry, Mapping):
        return None
    text, value = entry.get("token"), entry.get("logprob")
    if not isinstance(text, str) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return (text, float(value)) if value > NOT_LISTED else None
