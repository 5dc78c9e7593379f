r"""The published reward, to the last oddity.

``recipe/spec_o3/spec_o3.py`` of github.com/Maxwell-Jia/spec-o3 (commit dd6eb91): 1 for the right class, less
``alpha`` for bad form, nothing for using the tool. The models were trained against exactly this, oddities
included: the order of think and answer is not checked, and without a box YES is looked for before NO, so that
"no, not yes" is read as YES.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.trajectory.tags import between

CLASSES = ("YES", "NO")


@dataclass(frozen=True)
class Reward:
    """``score``; ``predicted``, the class or whatever stood in its place; whether the form was right."""

    score: float
    predicted: str
    format_ok: bool


def score(response: str, ground_truth: str, alpha: float = 0.2) -> Reward:
    """Score everything an assistant said in one inspection, its turns in one text.

    :param ground_truth: "YES" or "NO"
    :param alpha: what bad form costs; 0.2 in the published code, not stated in the paper
    """
    well_formed, predicted = _read(response)
    predicted = _one_line(predicted)
    right = predicted == _one_line(ground_truth)
    return Reward(float(right) - (0.0 if well_formed else alpha), predicted, well_formed)


def _read(response: str) -> tuple[bool, str]:
    answers = list(between(response, "<answer>", "</answer>"))
    one_answer = response.count("<answer>") == response.count("</answer>") == len(answers) == 1
    thought = response.count("<think>") == response.count("</think>") > 0
    answer = answers[-1].strip() if answers else ""  # of several the last counts
    box = _boxed(answer)
    predicted = _class_named(answer) if box is None else box
    if not predicted:
        predicted = _boxed(response) or _class_named(response) or _last_line(response)
    return thought and one_answer and box in CLASSES, predicted


def _boxed(text: str) -> str | None:
    """What the first box holds, in capitals if it is a class; None without a box."""
    box = next(between(text, "\\boxed{", "}"), None)
    if box is None:
        return None
    words = box.strip()
    return words.upper() if words.upper() in CLASSES else words


def _class_named(text: str) -> str:
    return next((name for name in CLASSES if re.search(rf"\b{name}\b", text, re.IGNORECASE)), "")


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.split("\n")) if line.strip()), "")


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
