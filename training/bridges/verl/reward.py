"""verl's ``compute_score`` over ``training.reward.score``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from training.reward import score

# What the chat template writes between two turns of the assistant; verl leaves out the special tokens of a response.
_RESULT = re.compile(r"\n?user\n<tool_response>\n.*?\n</tool_response>\nassistant\n", re.DOTALL)


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    alpha: float = 0.2,
    **_: Any,
) -> dict[str, float]:
    """Score the assistant's text of a response; the tool's texts in it are not read.

    :param solution_str: the response as verl decodes it, without special tokens
    :param ground_truth: "YES" or "NO"
    :param alpha: penalty for wrong form; set it with ``custom_reward_function.reward_kwargs.alpha``
    :returns: ``score``, and for verl's log ``acc`` (1: the right class was read) and ``format`` (1: the form is right)
    """
    reward = score(_RESULT.sub("\n", solution_str), ground_truth, alpha)
    right = reward.score + (0.0 if reward.format_ok else alpha)
    return {"score": reward.score, "acc": right, "format": float(reward.format_ok)}
