"""The cold start of the language model: it learns the turns of the traces. The tower has learned to see and stays as it
is, so each picture passes through it once.

This is a loop of its own: on a CPU it takes half the time of ``training.sft``, which reads every picture again in every
epoch, pads, and computes the loss of tokens that the assistant does not write.
"""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from agent.trajectory import Trajectory
from agent.trajectory.steps import Think
from training.data.records import Example
from training.nano.sight import Stage
from training.nano.spectra import tasks
from training.nano.teacher import STATES, State, planned_calls, sentence, states_read, turn_text, varied
from training.render import IMAGE, Rendered, Renderer, pixels

if TYPE_CHECKING:
    from torch import Tensor

BETAS = (0.9, 0.95)
WEIGHT_DECAY = 0.02
MIXED = 0.5
"""Share of the traces of the measure arm that are read with other answers."""
WARMUP = 0.04
"""Share of all steps in which the rate rises."""


@dataclass(frozen=True)
class Row:
    """A text as the language model reads it.

    :param ids: of its tokens (n,); ``spoken``: whether the assistant writes them (n,)
    :param positions: in time, height and width (3, n)
    :param seen: what the tower gives for its pictures (tokens of pictures, width)
    """

    ids: Tensor
    spoken: Tensor
    positions: Tensor
    seen: Tensor

    def begun(self, tokens: int) -> Row:
        """Return the first tokens of a row with all its pictures."""
        return Row(self.ids[:tokens], self.spoken[:tokens], self.positions[:, :tokens], self.seen)

    def with_text(self, more: Rendered) -> Row:
        """Return the row with a text after it that has no picture."""
        import torch

        after = int(self.positions.max()) + 1 + torch.arange(len(more))
        return Row(
            torch.cat([self.ids, torch.tensor(more.ids)]),
            torch.cat([self.spoken, torch.tensor(more.spoken)]),
            torch.cat([self.positions, after.expand(3, -1)], 1),
            self.seen,
        )


class Learned:
    """What is learned from: the traces as they are, and those of the measure arm with other answers.

    The script's turns follow from the answers alone. So each answer may be that of another spectrum to the same call,
    with other numbers: what is stated then has to be read in it, and cannot be guessed from the rest.
    """

    def __init__(self, examples: Sequence[Example], model: Any, processor: Any, report: Callable[[str], None]) -> None:
        import torch

        self._renderer, self._inner = Renderer(processor), model.model
        self._answers: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._rows: list[tuple[Trajectory, Row, int]] = []
        with torch.no_grad():
            for done, example in enumerate(examples, 1):
                trace, pictures = example.trajectory, example.pictures()
                opening = self._renderer.opening(trace.system, trace.prompt, pictures[0], measure=trace.measure)
                self._rows.append((trace, self._row(self._renderer.example(trace, pictures)), len(opening)))
                for zoom in trace.zooms:
                    self._answers[trace.task, zoom.label].append(zoom.observation)
                if done % 500 == 0:
                    report(f"sft: {done} of {len(examples)}")

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, at: int, rng: Generator) -> Row:
        """Return trace ``at``, as it is or with other answers."""
        trace, whole, opening = self._rows[at]  # The overview is the only picture of the measure arm.
        if not trace.measure or rng.random() > MIXED:
            return whole
        task = tasks()[trace.task]
        states = [overview_states(trace)]
        text = self._renderer.speech(turn_text(task, "measure", states))
        for planned in planned_calls(trace.task, "measure"):
            answers = self._answers[trace.task, planned.name]
            answer = answers[int(rng.integers(len(answers)))]
            answer = varied(answer, [f for f in task.features if f.name in planned.features], rng)
            states.append(states_read(task, planned, answer))
            text += self._renderer.result(answer, None) + self._renderer.speech(turn_text(task, "measure", states))
        return whole.begun(opening).with_text(text)

    def _row(self, rendered: Rendered) -> Row:
        import torch

        processor = self._renderer.processor
        pictures = pixels([rendered], processor)
        ids = torch.tensor([rendered.ids])
        seen = self._inner.get_image_features(pictures["pixel_values"], pictures["image_grid_thw"]).pooler_output
        positions, _ = self._inner.get_rope_index(
            ids,
            mm_token_type_ids=(ids == processor.tokenizer.convert_tokens_to_ids(IMAGE)).int(),
            image_grid_thw=pictures["image_grid_thw"],
            attention_mask=torch.ones_like(ids),
        )
        return Row(ids[0], torch.tensor(rendered.spoken), positions[:, 0], torch.cat(list(seen)))


def overview_states(trace: Trajectory) -> dict[str, State]:
    """Return what the first turn of a trace states."""
    first = next(step.text for step in trace.steps if isinstance(step, Think))
    return {
        feature.name: state
        for feature in tasks()[trace.task].features
        if feature.kind == "slope"
        for state in STATES
        if sentence(trace.task, feature, state) in first
    }


def loss_of(row: Row, language: Any, image: int) -> Tensor:
    """Return the sum of the losses of the tokens that the assistant writes."""
    import torch
    from torch.nn import functional

    embedding = language.embed_tokens
    mask = (row.ids == image)[:, None]
    read = embedding(row.ids).masked_scatter(mask, row.seen)[None]
    hidden = language(inputs_embeds=read, position_ids=row.positions[:, None], use_cache=False).last_hidden_state[0]
    # Tied weights: the embedding is the head.
    logits = functional.linear(hidden[:-1][row.spoken[1:]], embedding.weight)
    loss: Tensor = functional.cross_entropy(logits, row.ids[1:][row.spoken[1:]], reduction="sum")
    assert torch.isfinite(loss)
    return loss


def train(
    folder: Path,
    model: Path,
    examples: Sequence[Example],
    stage: Stage,
    seed: int,
    report: Callable[[str], None],
) -> None:
    """Train the language model of ``model`` and write the model with it to ``folder``; continue from the last
    checkpoint.

    :param stage: its batch is of traces
    :raises ModelError: the model cannot be loaded
    """
    import torch

    from training.model import load, save
    from training.settings import ModelSettings

    loaded = load(ModelSettings(name=str(model), frozen=(), dtype="float32"))
    language, image = loaded.model.model.language_model, loaded.processor.tokenizer.convert_tokens_to_ids(IMAGE)
    learned = Learned(examples, loaded.model, loaded.processor, report)
    per_epoch = max(1, len(learned) // stage.batch)
    total = stage.epochs * per_epoch
    optimizer = torch.optim.AdamW(language.parameters(), lr=stage.rate, betas=BETAS, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _share_of_rate(step, total))
    begin, log = 0, folder.parent / f"{folder.name}.jsonl"
    checkpoint = folder.parent / f"{folder.name}.pt"
    if checkpoint.is_file():
        kept = torch.load(checkpoint, weights_only=True)
        language.load_state_dict(kept["language"])
        optimizer.load_state_dict(kept["optimizer"]), schedule.load_state_dict(kept["schedule"])
        begin = kept["step"]
    since = time.monotonic()
    for step in range(begin, total):
        epoch, place = divmod(step, per_epoch)
        order = np.random.default_rng([seed, epoch]).permutation(len(learned))
        rng = np.random.default_rng([seed, epoch, place])
        batch = [learned.row(int(at), rng) for at in order[place * stage.batch : (place + 1) * stage.batch]]
        spoken = sum(int(row.spoken[1:].sum()) for row in batch)
        optimizer.zero_grad()
        loss = 0.0
        for row in batch:
            part = loss_of(row, language, image) / spoken
            part.backward()
            loss += float(part)
        torch.nn.utils.clip_grad_norm_(language.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        line = {"step": step + 1, "of": total, "loss": round(loss, 5), "s": round(time.monotonic() - since, 1)}
        with log.open("a", encoding="utf-8") as opened:
            opened.write(json.dumps(line) + "\n")
        report(f"sft: {line}")
        if (step + 1) % stage.kept == 0 or step + 1 == total:
            kept = {"language": language.state_dict(), "step": step + 1}
            states = {"optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}
            torch.save(kept | states, checkpoint.with_suffix(".new"))
            checkpoint.with_suffix(".new").rename(checkpoint)
    save(loaded, folder)


def _share_of_rate(step: int, total: int) -> float:
    """Return the rate of a step as a share of the highest: it rises, then falls as a cosine."""
    warm = max(1, round(WARMUP * total))
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, total - warm)))
