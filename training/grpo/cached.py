"""Generation of turns by a transformers model in batches, with a KV cache that lasts over the turns of a round.

A turn reads only the tokens that came since the last one. Equal questions of a batch are read once, and equal pictures
are encoded once, whatever the number of their rollouts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from PIL import Image

from training.grpo.rollout import GeneratedTurn, Request
from training.render import IMAGE, Rendered

if TYPE_CHECKING:
    from torch import Tensor

Sampler = Callable[["Tensor"], "Tensor"]
"""Select one token id per row (rows,) from logits (rows, vocabulary)."""


@dataclass
class _Batch:
    """Conversations that share a cache.

    :param rows: the inspection of each row
    :param read: number of tokens of each conversation that are in the cache, and the next position of each (rows,)
    :param mask: 1 where the cache holds a token of the row, 0 at padding (rows, width of the cache)
    """

    rows: list[int]
    cache: Any
    read: list[int]
    position: Tensor
    mask: Tensor

    def keep(self, rows: Sequence[int]) -> None:
        """Drop the conversations that have ended."""
        import torch

        if rows == self.rows:
            return
        places = [self.rows.index(row) for row in rows]
        at = torch.tensor(places, device=self.mask.device)
        self.cache.batch_select_indices(at)
        self.mask, self.position = self.mask[at], self.position[at]
        self.rows, self.read = list(rows), [self.read[place] for place in places]


@dataclass(frozen=True)
class _Picture:
    """What the vision tower gives for a picture (tokens, width), and its patches in time, height and width (1, 3).

    :param deep: of Qwen3-VL, also the features that its first language layers add, one per layer (tokens, width)
    """

    features: Tensor
    grid: Tensor
    deep: tuple[Tensor, ...] = ()


@dataclass
class CachedGeneration:
    """The caches of one round. The weights of the model must not change during its life.

    Layers of linear attention (Qwen3.5) have a state that padding would change: with them each conversation is a
    batch of its own.

    :param model: a ``Qwen2_5_VLForConditionalGeneration``, one of its successors, or a PEFT model on one
    :param ends: token ids that end a turn; ``forbidden``: ids that are never generated
    :param at_once: conversations per batch
    :param logprobs: also return the natural log-probability of each token, before any temperature
    """

    model: Any
    processor: Any
    ends: frozenset[int]
    forbidden: Sequence[int]
    at_once: int
    logprobs: bool = False
    _batches: list[_Batch] = field(default_factory=list)
    _pictures: dict[bytes, _Picture] = field(default_factory=dict)
    _keys: dict[int, tuple[Image.Image, bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._image = self.processor.tokenizer.convert_tokens_to_ids(IMAGE)
        self._inner = next(module for module in self.model.modules() if hasattr(module, "get_rope_index"))
        if "linear_attention" in (getattr(self.model.config.get_text_config(), "layer_types", None) or ()):
            self.at_once = 1

    def write(self, requests: Sequence[Request], sampler: Sampler) -> list[GeneratedTurn]:
        """Return the next turn of each request. A conversation that is not requested has ended and is dropped."""
        import torch

        request_of = {request.row: request for request in requests}
        written: dict[int, GeneratedTurn] = {}
        kept = []
        with torch.no_grad():
            for batch in self._batches:
                if rows := [row for row in batch.rows if row in request_of]:
                    batch.keep(rows)
                    kept.append(batch)
            known = {row for batch in kept for row in batch.rows}
            new = [row for row in request_of if row not in known]
            for batch in kept:
                written |= self._turn(batch, [request_of[row] for row in batch.rows], self._read, sampler)
            for first in range(0, len(new), self.at_once):
                rows = new[first : first + self.at_once]
                empty = torch.zeros(0)
                batch = _Batch(rows, None, [0] * len(rows), empty, empty)
                written |= self._turn(batch, [request_of[row] for row in rows], self._read_first, sampler)
                kept.append(batch)
        self._batches = kept
        return [written[request.row] for request in requests]

    def _turn(
        self,
        batch: _Batch,
        requests: Sequence[Request],
        read: Callable[[_Batch, list[Rendered]], Tensor],
        sampler: Sampler,
    ) -> dict[int, GeneratedTurn]:
        """Read what is new in the conversations, then generate until each turn has ended."""
        import torch

        logits = read(batch, [request.so_far for request in requests])
        device = logits.device
        ends = torch.tensor(sorted(self.ends), device=device)
        limits = torch.tensor([request.limit for request in requests], device=device)
        active = torch.ones(len(requests), dtype=torch.bool, device=device)
        columns: list[Tensor] = []
        probable: list[Tensor] = []
        lengths = torch.zeros_like(limits)
        while True:
            logits = logits.float()
            logits[:, self.forbidden] = float("-inf")
            chosen = sampler(logits)
            columns.append(chosen)
            if self.logprobs:
                probable.append(logits.log_softmax(dim=-1).gather(1, chosen[:, None])[:, 0])
            lengths += active
            active = active & ~torch.isin(chosen, ends) & (lengths < limits)
            if not bool(active.any()):
                break
            logits = self._step(batch, chosen, active)
        ids, counts = torch.stack(columns, dim=1).tolist(), lengths.tolist()
        # The last token of a turn was generated but not read.
        batch.read = [len(request.so_far) + count - 1 for request, count in zip(requests, counts, strict=True)]
        values = torch.stack(probable, dim=1).tolist() if probable else [None] * len(requests)
        return {
            request.row: GeneratedTurn(tuple(row[:count]), None if value is None else tuple(value[:count]))
            for request, row, count, value in zip(requests, ids, counts, values, strict=True)
        }

    def _step(self, batch: _Batch, chosen: Tensor, active: Tensor) -> Tensor:
        """Read one token per row; rows whose turn has ended get padding."""
        import torch

        batch.mask = torch.cat([batch.mask, active.to(batch.mask.dtype)[:, None]], dim=1)
        positions = batch.position[None, :, None].expand(3, -1, -1)
        output = self.model(
            input_ids=chosen[:, None],
            attention_mask=batch.mask,
            position_ids=positions,
            past_key_values=batch.cache,
            use_cache=True,
        )
        batch.position = batch.position + active.to(batch.position.dtype)
        logits: Tensor = output.logits[:, -1]
        return logits

    def _read_first(self, batch: _Batch, given: list[Rendered]) -> Tensor:
        """Read the questions, each different one once."""
        import torch
        from transformers import DynamicCache

        places: dict[tuple[Any, ...], int] = {}
        different: list[Rendered] = []
        which = []
        for rendered in given:
            key = (rendered.ids, *map(self._content, rendered.images))
            if key not in places:
                places[key] = len(different)
                different.append(rendered)
            which.append(places[key])
        once = _Batch([], DynamicCache(config=self.model.config), [0] * len(different), *self._empty(different))
        logits = self._read(once, different)
        at = torch.tensor(which, device=logits.device)
        if which != [*range(len(different))]:
            once.cache.batch_select_indices(at)
        batch.cache, batch.mask, batch.position = once.cache, once.mask[at], once.position[at]
        return logits[at]

    def _empty(self, given: Sequence[Rendered]) -> tuple[Tensor, Tensor]:
        import torch

        zeros = torch.zeros((len(given), 0), dtype=torch.long, device=self.model.device)
        return zeros.sum(dim=1), zeros

    def _read(self, batch: _Batch, given: Sequence[Rendered]) -> Tensor:
        """Read the new tokens of each conversation, padded on the left; return the logits after them."""
        import torch

        device = self.model.device
        new = [rendered.ids[read:] for rendered, read in zip(given, batch.read, strict=True)]
        self._encode([image for rendered in given for image in rendered.images])
        width = max(map(len, new))
        ids = torch.full((len(new), width), self.processor.tokenizer.pad_token_id, dtype=torch.long)
        mask = torch.zeros_like(ids)
        positions = torch.zeros((3, len(new), width), dtype=torch.long)
        pictures: list[_Picture] = []
        following = []
        for row, (rendered, tokens) in enumerate(zip(given, new, strict=True)):
            at = slice(width - len(tokens), width)
            ids[row, at], mask[row, at] = torch.tensor(tokens), 1
            whole = self._positions(rendered)
            positions[:, row, at] = whole[:, len(rendered) - len(tokens) :]
            following.append(int(whole.max()) + 1)
            pictures += [self._pictures[self._content(image)] for image in self._new_images(rendered, tokens)]
        batch.mask = torch.cat([batch.mask, mask.to(device)], dim=1)
        batch.position = torch.tensor(following, device=device)
        output = self.model(
            **self._inputs(ids.to(device), pictures),
            attention_mask=batch.mask,
            position_ids=positions.to(device),
            past_key_values=batch.cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: Tensor = output.logits[:, -1]
        return logits

    def _inputs(self, ids: Tensor, pictures: Sequence[_Picture]) -> dict[str, Any]:
        """Return the model's input for tokens (rows, width) and the pictures in them, which are encoded already."""
        import torch

        if pictures and pictures[0].deep:
            from transformers.models.qwen3_vl.modeling_qwen3_vl import BaseModelOutputWithDeepstackFeatures

            encoded = BaseModelOutputWithDeepstackFeatures(
                pooler_output=[picture.features for picture in pictures],
                deepstack_features=list(zip(*(picture.deep for picture in pictures), strict=True)),
            )
            return {"input_ids": ids, "mm_encoder_outputs": {"image": encoded}}
        embedded = self.model.get_input_embeddings()(ids)
        if pictures:
            features = torch.cat([picture.features for picture in pictures])
            embedded = embedded.masked_scatter((ids == self._image)[..., None], features.to(embedded))
        return {"inputs_embeds": embedded}

    def _encode(self, images: Sequence[Image.Image]) -> None:
        """Run the vision tower on the pictures that it has not seen in this round."""
        new = {key: image for image in images if (key := self._content(image)) not in self._pictures}
        if not new:
            return
        read = self.processor.image_processor(images=list(new.values()), return_tensors="pt")
        device = self.model.device
        grids = read["image_grid_thw"]
        features_found = self._inner.get_image_features(read["pixel_values"].to(device), grids.to(device))
        deep = getattr(features_found, "deepstack_features", None) or []
        for number, (key, features, grid) in enumerate(zip(new, features_found.pooler_output, grids, strict=True)):
            self._pictures[key] = _Picture(features, grid[None], tuple(layer[number] for layer in deep))

    def _content(self, image: Image.Image) -> bytes:
        """Return a key of the pixels; a conversation holds its pictures, so that their identity is unique."""
        known = self._keys.get(id(image))
        if known is None:
            digest = hashlib.sha256(image.tobytes()).digest() + repr(image.size).encode()
            known = self._keys[id(image)] = (image, digest)
        return known[1]

    def _new_images(self, rendered: Rendered, tokens: Sequence[int]) -> Sequence[Image.Image]:
        """Return the pictures whose tokens are all in ``tokens``, the end of ``rendered``."""
        count = sum(
            token == self._image and before != self._image
            for before, token in zip((None, *tokens), tokens, strict=False)
        )
        return rendered.images[len(rendered.images) - count :]

    def _positions(self, rendered: Rendered) -> Tensor:
        """Return the positions in time, height and width (3, tokens), as the model computes them."""
        import torch

        ids = torch.tensor([rendered.ids])
        grids = torch.cat([self._pictures[self._content(image)].grid for image in rendered.images])
        rope, _ = self._inner.get_rope_index(ids, (ids == self._image).int(), grids)
        positions: Tensor = rope[:, 0]
        return positions
