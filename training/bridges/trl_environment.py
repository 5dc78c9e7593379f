"""The tool and the reward for TRL's own ``GRPOTrainer`` (``environment_factory``, TRL 1.16).

TRL parses the turns and runs the loop itself, so only the tool and the reward are ours; docs/training.md lists what
differs from ``spec-o3 grpo`` and has the code that puts the parts together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from agent import tool
from agent.conversation import SYSTEM
from agent.loop import MAX_TURNS
from agent.spectrum import Spectrum
from training.data.records import Question
from training.reward import score

MAX_CALLS = MAX_TURNS - 1
"""``max_tool_calling_iterations`` that gives the published eight turns."""

RESPONSE_TEMPLATE: dict[str, Any] = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open": "<tool_call>",
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
    },
}
"""How transformers parses a turn. The thoughts stay in the content, because the reward reads their tags."""


def chat_template() -> str:
    """Return a chat template with tools that writes what the cold start and live vetting write."""
    trainer = yaml.safe_load((Path(__file__).parent / "verl" / "trainer.yaml").read_text("utf-8"))
    return str(trainer["actor_rollout_ref"]["model"]["custom_chat_template"])


def rows(questions: Sequence[Question]) -> list[dict[str, Any]]:
    """Return the rows of the data set: the prompt without its question, which ``reset`` adds with the picture."""
    prompt = [
        {"role": "system", "content": [{"type": "text", "text": SYSTEM}]},
        {"role": "user", "content": []},
    ]
    return [{"prompt": prompt, "question": n, "label": question.label} for n, question in enumerate(questions)]


class SpectralEnvironment:
    """What one trajectory needs. TRL makes the instances, and offers each public method to the model as a tool.

    :param questions: in the order of ``rows``
    """

    def __init__(self, questions: Sequence[Question]) -> None:
        self._questions = questions
        self._spectrum: Spectrum | None = None

    def reset(self, question: int, **_: Any) -> list[dict[str, Any]]:
        """Begin with the question of this number; return its picture (RGB) and its text as blocks."""
        self._spectrum = self._questions[question].spectrum()
        overview = tool.overview(self._spectrum).convert("RGB")
        return [
            {"type": "image", "image": overview},
            {"type": "text", "text": "\n" + self._questions[question].task.prompt},
        ]

    def spectral_visualization_tool(self, wavelength_range: list[float], label: str = "") -> list[dict[str, Any]]:
        """A tool for visualizing spectral data with wavelength range zooming capabilities.

        Args:
            wavelength_range: Wavelength range to focus on [min_wavelength, max_wavelength] in Angstroms
            label: Optional label for the spectral feature being analyzed
        """
        assert self._spectrum is not None, "TRL calls reset first"
        seen = tool.call(self._spectrum, {"wavelength_range": wavelength_range, "label": label})
        picture = [] if seen.image is None else [{"type": "image", "image": seen.image.convert("RGB")}]
        return [*picture, {"type": "text", "text": seen.text}]


# TRL describes the method to the model by its annotations; the tool's own description has no return value.
del SpectralEnvironment.spectral_visualization_tool.__annotations__["return"]


def reward(completions: Sequence[Sequence[Mapping[str, Any]]], label: Sequence[str], **_: Any) -> list[float]:
    """Score the assistant's text of each trajectory; ``label`` is the column of ``rows``."""
    texts = ["\n".join(map(_text, (m for m in turns if m["role"] == "assistant"))) for turns in completions]
    return [score(text, truth).score for text, truth in zip(texts, label, strict=True)]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
