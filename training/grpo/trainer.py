"""TRL's GRPO trainer with our inspections as its generation, and each forward pass cut to its own length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent.language import tr
from training.grpo.generators import RoundGenerator
from training.grpo.round import RoundRunner
from training.model import Resumable

if TYPE_CHECKING:
    from torch import Tensor


def trainer_class(runner: RoundRunner) -> Any:
    """Return the trainer's class; set its ``writer`` before training."""
    from trl import GRPOTrainer

    class Inspecting(Resumable, GRPOTrainer):  # type: ignore[misc]
        """TRL's trainer with ``runner`` as its generation."""

        writer: RoundGenerator

        def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
            import torch

            self._round_inputs = inputs
            output: dict[str, Any] = super()._generate_and_score_completions(inputs)
            if "pixel_values" not in output:
                raise RuntimeError(tr("TRL dropped the round's pictures: it counts their tokens otherwise"))
            # The pixels of a round are gigabytes: keep them in main memory until they are needed.
            output["pixel_values"] = output["pixel_values"].cpu()
            output["spoken"] = torch.zeros_like(output["completion_mask"], dtype=torch.bool)
            for row, spoken in zip(output["spoken"], self._rolled.spoken, strict=True):
                row[: len(spoken)] = torch.tensor(spoken)
            output["counts"] = torch.tensor(self._rolled.counts, device=output["spoken"].device)
            self._divergence, self._gap = [0.0, 0.0], [0.0, 0.0]
            return output

        def _prepare_inputs(self, generation_batch: Any) -> dict[str, Any]:
            inputs: dict[str, Any] = super()._prepare_inputs(generation_batch)
            if runner.filters and "weight" not in inputs:
                _weigh(self, self._buffered_inputs)
            return inputs

        def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
            rolled = self._rolled = runner.run(self._round_inputs, self.writer, self.is_world_process_zero())
            return (
                rolled.prompt_ids,
                rolled.completion_ids,
                rolled.learned,
                rolled.completions,
                rolled.logprobs,
                {"scored": rolled.rewards},
                rolled.images,
                rolled.images,
            )

        def _get_per_token_logps_and_entropies(
            self,
            model: Any,
            input_ids: Tensor,
            attention_mask: Tensor,
            logits_to_keep: int,
            batch_size: int | None = None,
            **options: Any,
        ) -> Any:
            """Read each forward pass without the columns in which all its rows are padding.

            TRL pads a round to its longest question and its longest completion.
            """
            import torch

            rows = len(input_ids)
            rolled = []
            for first in range(0, rows, batch_size or rows):
                part = slice(first, min(first + (batch_size or rows), rows))
                columns, kept = _used(attention_mask[part], logits_to_keep)
                given = super()._get_per_token_logps_and_entropies(
                    model,
                    input_ids[part, columns],
                    attention_mask[part, columns],
                    kept,
                    **_of_rows(part, columns, options),
                )
                rolled.append([_widened(tensor, logits_to_keep) for tensor in given])
            logps, entropies, losses = zip(*rolled, strict=True)
            self._latest = torch.cat(logps).detach()
            joined = None if entropies[0] is None else torch.cat(entropies)
            auxiliary = None if losses[0] is None else torch.stack(losses).mean()
            return torch.cat(logps), joined, auxiliary

        def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
            inputs = {**inputs, "pixel_values": inputs["pixel_values"].to(self.accelerator.device)}
            loss: Tensor = super()._compute_loss(model, inputs) * inputs.get("weight", 1.0)
            mask = inputs["completion_mask"] * inputs["tool_mask"]
            old = inputs.get("old_per_token_logps")
            if (sampled := inputs.get("sampling_per_token_logps")) is not None:
                # Without old probabilities the round has one update, so these are still those of its weights.
                gap = ((self._latest if old is None else old) - sampled)[inputs["spoken"]].abs()
                gap = gap[~gap.isnan()]
                self._gap[0] += float(gap.sum())
                self._gap[1] += len(gap)
            self._divergence[0] += 0.0 if old is None else _divergence(old, self._latest, mask)
            self._divergence[1] += int(mask.sum())
            return loss

        def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
            if "loss" in logs:
                logs = _log_line(self, runner, logs)
            # Our numbers are in ``logs`` already.
            self._metrics["train"].clear()
            super().log(logs, start_time)

        def create_model_card(self, *args: Any, **options: Any) -> None:
            """Omitted: a run describes itself in its own files."""

    return Inspecting


def _weigh(trainer: Any, buffered: list[dict[str, Any]]) -> None:
    """Set the ``weight`` of each forward pass of a round, by which its loss is multiplied: TRL's mean of an update is
    over all trajectories (``bnpo``: forward passes), also those without a loss; with the weight it is over those that
    count, of all processes. ``dapo`` divides by the tokens that carry a loss, so its weight is 1.
    """
    import torch

    each = trainer.args.gradient_accumulation_steps
    kept = torch.stack([batch["counts"] for batch in buffered]).float()
    kept = kept.amax(dim=1) if trainer.loss_type == "bnpo" else kept.mean(dim=1)
    shares = trainer.accelerator.reduce(kept.view(-1, each).mean(dim=1), reduction="mean").tolist()
    for place, batch in enumerate(buffered):
        share = shares[place // each]
        batch["weight"] = 1.0 if trainer.loss_type == "dapo" or share == 0 else 1 / share


def _divergence(old: Tensor, new: Tensor, mask: Tensor) -> float:
    """Return the sum over the assistant tokens of an estimate of KL(old || new) that is never negative: r - 1 - log r,
    with r = new / old (Schulman, http://joschu.net/blog/kl-approx.html).
    """
    gap = (new - old) * mask
    return float((gap.exp() - 1 - gap).sum())


def _log_line(trainer: Any, runner: RoundRunner, logs: Mapping[str, float]) -> dict[str, Any]:
    """Return the round's line of the log: the inspections, and TRL's numbers of the update."""
    import torch

    metrics = trainer._metrics["train"]

    def mean(name: str) -> float | None:
        values = metrics.get(name)
        return sum(values) / len(values) if values else None

    sums = torch.tensor([*trainer._divergence, *trainer._gap], dtype=torch.float64, device="cpu")
    total = trainer.accelerator.reduce(sums.to(trainer.accelerator.device), reduction="sum").tolist()
    named = {
        "clip_low": "clip_ratio/low_mean",
        "clip_high": "clip_ratio/high_mean",
        "entropy": "entropy",
        "kl_start": "kl",
    }
    seconds = sum(metrics["step_time"])
    rolled = runner.seconds_writing + runner.seconds_drawing
    return {
        "round": runner.round,
        **runner.numbers,
        **{name: logs[name] for name in ("loss", "grad_norm", "learning_rate") if name in logs},
        **{name: value for name, key in named.items() if (value := mean(key)) is not None},
        "kl_old": total[0] / max(total[1], 1.0),
        **({"vllm_gap": total[2] / total[3]} if total[3] else {}),
        **({"merge_kept": kept} if (kept := getattr(trainer.writer, "kept", None)) is not None else {}),
        "seconds_writing": round(runner.seconds_writing, 3),
        "seconds_drawing": round(runner.seconds_drawing, 3),
        "seconds_learning": round(seconds - rolled, 3),
    }


def _used(mask: Tensor, completion: int) -> tuple[slice, int]:
    """Return the columns with a token in any row, and how many of them belong to the completion.

    :param mask: 1 at tokens (rows, prompt + ``completion``); the prompt is padded left, the completion right
    """
    used = mask.any(dim=0).nonzero()[:, 0]
    prompt = mask.shape[1] - completion
    stop = max(int(used[-1]) + 1, prompt + 1)
    return slice(int(used[0]), stop), stop - prompt


def _widened(values: Tensor | None, width: int) -> Tensor | None:
    """Pad per-token values (rows, tokens) with zeros on the right; others are left as they are."""
    from torch.nn.functional import pad

    return values if values is None or values.dim() < 2 else pad(values, (0, width - values.shape[1]))


def _of_rows(rows: slice, columns: slice, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return TRL's arguments for some rows and columns: the patches of all pictures are one long tensor."""
    counts, grids = options["num_images"], options["image_grid_thw"]
    first = sum(counts[: rows.start])
    pictures = slice(first, first + sum(counts[rows]))
    patches = grids.prod(dim=-1)
    start = int(patches[:first].sum())
    return dict(options) | {
        "pixel_values": options["pixel_values"][start : start + int(patches[pictures].sum())],
        "image_grid_thw": grids[pictures],
        "num_images": counts[rows],
        "mm_token_type_ids": options["mm_token_type_ids"][rows, columns],
    }
