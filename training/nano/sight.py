"""The first stage: the vision tower learns what a window shows, before the language model learns to say it.

Two heads that are thrown away afterwards: the first tells the state of each stated feature of a picture from the tokens
of the picture, the second where the curve runs in each column of them. Both give far more gradient than the few words
of a trace.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agent.simulate import CLASSES
from agent.trajectory.steps import Think, Zoom
from training.data.records import Example
from training.nano.spectra import tasks
from training.nano.teacher import STATES, planned_calls, sentence

if TYPE_CHECKING:
    from torch import Tensor

POINTS = 4
"""Places per token column at which the height of the curve is learned."""
CURVE = 0.5
"""Weight of the loss of the curve's height against that of the states."""


@dataclass(frozen=True)
class Stage:
    """How long, and how fast, a part of the model learns; ``kept``: steps between checkpoints."""

    epochs: int
    batch: int
    rate: float
    kept: int


@dataclass(frozen=True)
class Sights:
    """Pictures (n, height, width, 3) of equal size with what is stated of them.

    :param picture: of each statement, its place among the pictures, ascending, (m,); ``feature`` and ``state`` likewise
    """

    pictures: NDArray[np.uint8]
    picture: NDArray[np.int64]
    feature: NDArray[np.int64]
    state: NDArray[np.int64]


@cache
def features() -> tuple[tuple[str, str], ...]:
    """Return every feature that is stated, as (task, name)."""
    return tuple((key, feature.name) for key in CLASSES for feature in tasks()[key].features)


@cache
def _states(task: str) -> dict[str, dict[str, int]]:
    """Return the number of the state of each sentence, by feature."""
    return {
        feature.name: {sentence(task, feature, state): number for number, state in enumerate(STATES)}
        for feature in tasks()[task].features
    }


def stated(example: Example) -> Iterator[tuple[int, str, int]]:
    """Yield what a trace states of its pictures: the number of the picture, the feature, and its state. What later
    windows show is stated of the overview too; what answers of ``measure`` say, of no picture.
    """
    task, trajectory = example.trajectory.task, example.trajectory
    plan, zooms, picture = planned_calls(task, "picture"), 0, 0
    names: Sequence[str] = [f.name for f in tasks()[task].features if f.kind == "slope"]
    shown = True
    for step in trajectory.steps:
        if isinstance(step, Zoom):
            if step.measures:
                return
            names, shown = plan[zooms].features, step.drawn
            zooms, picture = zooms + 1, picture + step.drawn
        elif isinstance(step, Think):
            for name in names:
                for text, state in _states(task)[name].items():
                    if text in step.text:
                        yield 0, name, state
                        if shown and picture:
                            yield picture, name, state


def collect(examples: Sequence[Example], report: Callable[[str], None]) -> list[Sights]:
    """Read the pictures and statements of traces of the picture arm, those of each size together."""
    number = {feature: place for place, feature in enumerate(features())}
    by_size: dict[tuple[int, ...], tuple[list[NDArray[np.uint8]], list[tuple[int, int, int]]]] = {}
    for done, example in enumerate(examples, 1):
        known: dict[int, list[tuple[str, int]]] = {}
        for place, name, state in stated(example):
            known.setdefault(place, []).append((name, state))
        for place, picture in enumerate(example.pictures()):
            pixels = np.asarray(picture.convert("RGB"))
            pictures, rows = by_size.setdefault(pixels.shape, ([], []))
            rows += [(len(pictures), number[example.trajectory.task, name], s) for name, s in known.get(place, [])]
            pictures.append(pixels)
        if done % 500 == 0:
            report(f"sight: {done} of {len(examples)}")
    return [Sights(np.stack(pictures), *np.array(rows, np.int64).T) for pictures, rows in by_size.values() if rows]


def heights(pictures: NDArray[np.uint8], columns: int) -> NDArray[np.float32]:
    """Return where the curve runs: mean, highest and lowest place of its ink (n, columns, 3), 0 at the top and 1 at the
    bottom; NaN where there is none.
    """
    ink = (pictures[..., 2].astype(np.float32) - pictures[..., 0]) / 255
    ink[ink < 0.15] = 0
    n, height, width = ink.shape
    rows = (np.arange(height, dtype=np.float32) + 0.5) / height
    blocks = ink.reshape(n, height, columns, width // columns).sum(3)
    total = blocks.sum(1)
    seen = blocks > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (blocks * rows[:, None]).sum(1) / total
    top = np.where(seen.any(1), rows[seen.argmax(1)], np.nan)
    bottom = np.where(seen.any(1), rows[height - 1 - seen[:, ::-1].argmax(1)], np.nan)
    return np.stack([mean, top, bottom], axis=2).astype(np.float32)


def patches(pictures: NDArray[np.uint8], processor: Any) -> Tensor:
    """Return the patches of pictures of one size in the order of Qwen2.5-VL's processor, (n, patches, values): a
    single frame, as all frames of a still picture are equal.
    """
    import torch

    settings = processor.image_processor
    side, merge = settings.patch_size, settings.merge_size
    n, height, width, _ = pictures.shape
    mean, std = (torch.tensor(values) for values in (settings.image_mean, settings.image_std))
    x = (torch.from_numpy(pictures).float() / 255 - mean) / std
    x = x.reshape(n, height // side // merge, merge, side, width // side // merge, merge, side, 3)
    x = x.permute(0, 1, 4, 2, 5, 7, 3, 6)
    return x.reshape(n, -1, 3 * side * side)


def tokens_of(tower: Any, values: Tensor, rows: int, columns: int) -> Tensor:
    """Return the tokens of pictures of one size, (n, tokens, width): what the tower gives where each patch attends to
    its whole picture, but all pictures in a single attention.

    :param values: as ``patches`` gives them
    :param rows: of patches; ``columns`` likewise
    """
    import torch
    from torch.nn import functional
    from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import apply_rotary_pos_emb_vision
    from transformers.vision_utils import get_vision_position_ids

    n, count = values.shape[:2]
    kernel = tower.patch_embed.proj.weight
    # Frames are equal: the sum of the kernel over them is what each frame is multiplied with.
    x = functional.linear(values, kernel.sum(2).flatten(1))
    places = get_vision_position_ids(torch.tensor([[1, rows, columns]]), tower.spatial_merge_size)
    angles = tower.rotary_pos_emb(x[0], places)
    for block in tower.blocks:
        attention = block.attn
        qkv = attention.qkv(block.norm1(x)).reshape(n, count, 3, attention.num_heads, -1).unbind(2)
        turned = apply_rotary_pos_emb_vision(qkv[0], qkv[1], *angles)
        attended = functional.scaled_dot_product_attention(*(part.transpose(1, 2) for part in (*turned, qkv[2])))
        x = x + attention.proj(attended.transpose(1, 2).reshape(n, count, -1))
        x = x + block.mlp(block.norm2(x))
    merged: Tensor = tower.merger(x)
    return merged.reshape(n, -1, merged.shape[-1])


def heads(width: int) -> Any:
    """Return the two heads, for tokens of that width."""
    import torch
    from torch import nn

    class Heads(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.queries = nn.Embedding(len(features()), width)
            self.norm = nn.LayerNorm(width)
            self.keys, self.values = nn.Linear(width, width), nn.Linear(width, width)
            self.states = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, len(STATES)))
            self.curve = nn.Linear(width, 3 * POINTS)
            self.count = 4

        def forward(self, tokens: Tensor, rows: int, picture: Tensor, feature: Tensor) -> tuple[Tensor, Tensor]:
            """:param tokens: (pictures, rows × columns, width)"""
            curve = self.curve(tokens.reshape(tokens.shape[0], rows, -1, tokens.shape[2]).mean(1))
            x, queries = self.norm(tokens), self.queries(feature)
            split = (len(feature), -1, self.count, width // self.count)
            keys, values = self.keys(x)[picture].reshape(split), self.values(x)[picture].reshape(split)
            scores = torch.einsum("nhw,nthw->nht", queries.reshape(len(feature), *split[2:]), keys)
            weights = torch.softmax(scores / math.sqrt(split[3]), dim=2)
            seen = torch.einsum("nht,nthw->nhw", weights, values).reshape(len(feature), width)
            return self.states(torch.cat([seen, queries], 1)), curve.reshape(curve.shape[0], -1, 3)

    return Heads()


def _firsts(sights: Sights, batch: int) -> range:
    """Return where the batches of a group begin: whole batches, or a single smaller batch of all pictures."""
    return range(0, max(1, len(sights.pictures) - batch + 1), batch)


def _of(sights: Sights, places: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor]:
    """Return the statements about some pictures: the place in the batch, the feature, the state."""
    import torch

    starts = np.searchsorted(sights.picture, places)
    ends = np.searchsorted(sights.picture, places, side="right")
    rows = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)])
    which = np.repeat(np.arange(len(places)), ends - starts)
    return torch.from_numpy(which), torch.from_numpy(sights.feature[rows]), torch.from_numpy(sights.state[rows])


def train(
    folder: Path,
    model: Path,
    learned: Sequence[Sights],
    held_out: Sequence[Sights],
    stage: Stage,
    seed: int,
    report: Callable[[str], None],
) -> None:
    """Train the tower of ``model`` and write the model with it to ``folder``; continue from the last checkpoint.

    :raises ModelError: the model cannot be loaded
    """
    import torch
    from torch.nn import functional

    from training.model import load, save
    from training.settings import ModelSettings

    epochs, batch, rate = stage.epochs, stage.batch, stage.rate
    loaded = load(ModelSettings(name=str(model), frozen=(), dtype="float32"))
    processor, tower = loaded.processor, loaded.model.model.visual
    torch.manual_seed(seed)
    width = loaded.model.config.text_config.hidden_size
    head = heads(width)
    parameters = [*tower.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=rate, betas=(0.9, 0.95), weight_decay=0.02)
    plan = [(group, first) for group, sights in enumerate(learned) for first in _firsts(sights, batch)]
    total = epochs * len(plan)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=total + 1, pct_start=0.05)
    side = processor.image_processor.patch_size
    begin, log = 0, folder.parent / f"{folder.name}.jsonl"
    checkpoint = folder.parent / f"{folder.name}.pt"
    if checkpoint.is_file():
        kept = torch.load(checkpoint, weights_only=True)
        tower.load_state_dict(kept["tower"]), head.load_state_dict(kept["head"])
        optimizer.load_state_dict(kept["optimizer"]), schedule.load_state_dict(kept["schedule"])
        begin = kept["step"]

    def seen(sights: Sights, places: NDArray[np.int64]) -> tuple[Tensor, int]:
        rows, columns = (size // side for size in sights.pictures.shape[1:3])
        return tokens_of(tower, patches(sights.pictures[places], processor), rows, columns), rows // 2

    def score() -> dict[str, float]:
        right = sum_loss = count = 0.0
        kinds = np.zeros((len(STATES), len(STATES)), np.int64)
        with torch.no_grad():
            for sights in held_out:
                for first in range(0, len(sights.pictures), batch):
                    places = np.arange(first, min(first + batch, len(sights.pictures)))
                    which, feature, state = _of(sights, places)
                    states, _ = head(*seen(sights, places), which, feature)
                    mine = state != len(STATES) - 1
                    sum_loss += float(functional.cross_entropy(states[mine], state[mine], reduction="sum"))
                    best = states[mine].argmax(1)
                    np.add.at(kinds, (state[mine].numpy(), best.numpy()), 1)
                    right, count = right + float((best == state[mine]).sum()), count + int(mine.sum())
        hit = kinds[0, 0]
        shares = {"recall": hit / max(1, kinds[0].sum()), "precision": hit / max(1, kinds[:, 0].sum())}
        return {"loss": sum_loss / count, "right": right / count, **shares}

    since = time.monotonic()
    for step in range(begin, total):
        epoch, place = divmod(step, len(plan))
        if place == 0 or step == begin:
            rng = np.random.default_rng([seed, epoch])
            shuffled = [rng.permutation(len(sights.pictures)) for sights in learned]
            batches = rng.permutation(len(plan))
        group, first = plan[batches[place]]
        sights, places = learned[group], shuffled[group][first : first + batch]
        which, feature, state = _of(sights, places)
        tokens, rows = seen(sights, places)
        states, curve = head(tokens, rows, which, feature)
        loss = functional.cross_entropy(states, state)
        target = torch.from_numpy(heights(sights.pictures[places], curve.shape[1]))
        drawn_in = ~torch.isnan(target)
        drawn = functional.smooth_l1_loss(curve[drawn_in], target[drawn_in], beta=0.02)
        optimizer.zero_grad()
        (loss + CURVE * 10 * drawn).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        if (step + 1) % stage.kept == 0 or step + 1 == total:
            line = {"step": step + 1, "of": total, "s": round(time.monotonic() - since), "train": float(loss)}
            line |= {"curve": float(drawn), **score()}
            with log.open("a", encoding="utf-8") as opened:
                opened.write(json.dumps(line) + "\n")
            report(f"sight: {line}")
            kept = {"tower": tower.state_dict(), "head": head.state_dict(), "step": step + 1}
            torch.save(
                kept | {"optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()},
                checkpoint.with_suffix(".new"),
            )
            checkpoint.with_suffix(".new").rename(checkpoint)
    save(loaded, folder)
