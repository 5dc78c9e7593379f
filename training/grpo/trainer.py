"""TRL's GRPO trainer with inspections in the place of its generation, and its log in our words.

What is replaced are three of TRL's own methods, found by reading TRL 1.16: who writes a round, what is kept
of the probabilities for the log, and the log. Advantages, clips and loss are TRL's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from training.grpo.generators import RoundWriter
from training.grpo.round import Asking
from training.model import Resumable

if TYPE_CHECKING:
    from torch import Tensor


def inspecting(asking: Asking) -> Any:
    """The trainer's class; its ``writer`` has to be set before it trains."""
    from trl import GRPOTrainer

    class Inspecting(Resumable, GRPOTrainer):  # type: ignore[misc]
        """TRL's trainer with ``asking`` as its generation."""

        writer: RoundWriter

        def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
            self._asked = inputs
            output: dict[str, Any] = super()._generate_and_score_completions(inputs)
            if "pixel_values" not in output:
                raise RuntimeError("TRL dropped the round's pictures: it counts their tokens otherwise")
            # A round's pixels are gigabytes. They wait in main memory until their turn.
            output["pixel_values"] = output["pixel_values"].cpu()
            self._divergence = [0.0, 0.0]
            return output

        def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
            found = asking.ask(self._asked, self.writer, self.is_world_process_zero())
            return (
                found.prompt_ids,
                found.completion_ids,
                found.spoken,
                found.completions,
                found.logprobs,
                {"scored": found.rewards},
                found.images,
                found.images,
            )

        def _get_per_token_logps_and_entropies(self, *args: Any, **options: Any) -> Any:
            found = super()._get_per_token_logps_and_entropies(*args, **options)
            self._latest = found[0].detach()
            return found

        def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
            inputs = {**inputs, "pixel_values": inputs["pixel_values"].to(self.accelerator.device)}
            loss: Tensor = super()._compute_loss(model, inputs)
            mask = inputs["completion_mask"] * inputs["tool_mask"]
            old = inputs.get("old_per_token_logps")
            self._divergence[0] += 0.0 if old is None else _divergence(old, self._latest, mask)
            self._divergence[1] += int(mask.sum())
            return loss

        def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
            if "loss" in logs:
                logs = _line(self, asking, logs)
            # Ours are in ``logs`` already, under one name each.
            self._metrics["train"].clear()
            super().log(logs, start_time)

        def create_model_card(self, *args: Any, **options: Any) -> None:
            """None: a run says what it is in its own files."""

    return Inspecting


def _divergence(old: Tensor, new: Tensor, mask: Tensor) -> float:
    """Sum over the spoken tokens of an estimate of KL(old || new) that is never negative: r - 1 - log r, with
    r = new / old (Schulman, http://joschu.net/blog/kl-approx.html).
    """
    gap = (new - old) * mask
    return float((gap.exp() - 1 - gap).sum())


def _line(trainer: Any, asking: Asking, logs: Mapping[str, float]) -> dict[str, Any]:
    """The round's line in the log: what was asked, and what TRL says of learning from it."""
    import torch

    metrics = trainer._metrics["train"]

    def mean(name: str) -> float | None:
        values = metrics.get(name)
        return sum(values) / len(values) if values else None

    told = torch.tensor(trainer._divergence, dtype=torch.float64, device="cpu")
    total = trainer.accelerator.reduce(told.to(trainer.accelerator.device), reduction="sum")
    named = {
        "clip_low": "clip_ratio/low_mean",
        "clip_high": "clip_ratio/high_mean",
        "entropy": "entropy",
        "kl_start": "kl",
        "vllm_gap": "sampling/sampling_logp_difference/mean",
    }
    seconds = sum(metrics["step_time"])
    rolled = asking.seconds_writing + asking.seconds_drawing
    return {
        "round": asking.round,
        **asking.numbers,
        **{name: logs[name] for name in ("loss", "grad_norm", "learning_rate") if name in logs},
        **{name: value for name, key in named.items() if (value := mean(key)) is not None},
        "kl_old": float(total[0] / max(float(total[1]), 1.0)),
        "seconds_writing": round(asking.seconds_writing, 3),
        "seconds_drawing": round(asking.seconds_drawing, 3),
        "seconds_learning": round(seconds - rolled, 3),
    }
