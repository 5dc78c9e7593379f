r"""The published reward, including its oddities, because the models were trained with exactly this one.

``recipe/spec_o3/spec_o3.py`` of github.com/Maxwell-Jia/spec-o3 (commit dd6eb91): 1 for the right class, less ``alpha``
for wrong form. Without a box, YES is searched before NO: "no, not yes" reads as YES.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.trajectory.tags import read_response


@dataclass(frozen=True)
class Reward:
    """``score``; ``predicted``, the class or the text in its place; whether the form was right."""

    score: float
    predicted: str
    format_ok: bool


def score(response: str, ground_truth: str, alpha: float = 0.2) -> Reward:
    """Score everything the assistant wrote in one inspection, its turns as one text.

    :param ground_truth: "YES" or "NO"
    :param alpha: penalty for wrong form; 0.2 in the published code, not stated in the paper
    """
    well_formed, predicted = read_response(response)
    predicted = _one_line(predicted)
    right = predicted == _one_line(ground_truth)
    return Reward(float(right) - (0.0 if well_formed else alpha), predicted, well_formed)


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
