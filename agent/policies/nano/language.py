"""The language model of Qwen2.5-VL, with a cache of what it has read."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from agent.policies.nano.arrays import attend, frequencies, gated, normalised, rotate, transposed
from agent.policies.nano.folder import Array, Language, Weights

GROWTH = 512
"""Tokens by which a cache grows."""

Positions = NDArray[np.int64]
"""Positions of tokens in time, height and width, (3, n)."""


class Cache:
    """Keys and values of the tokens that were read; it grows as needed. One conversation uses it at a time.

    The values are (layers, heads, tokens, width), the keys (layers, heads, width, tokens): with them in this order the
    scores of one token take a seventh of the time.
    """

    def __init__(self, settings: Language) -> None:
        layers, heads, width = settings.num_hidden_layers, settings.num_key_value_heads, settings.head
        self.keys = np.empty((layers, heads, width, 0), np.float32)
        self.values = np.empty((layers, heads, 0, width), np.float32)
        self.length = 0

    def reserve(self, tokens: int) -> None:
        """Make space for so many tokens in all."""
        layers, heads, capacity, width = self.values.shape
        if tokens > capacity:
            n, larger = self.length, -(-tokens // GROWTH) * GROWTH
            keys = np.empty((layers, heads, width, larger), np.float32)
            values = np.empty((layers, heads, larger, width), np.float32)
            keys[..., :n] = self.keys[..., :n]
            values[:, :, :n] = self.values[:, :, :n]
            self.keys, self.values = keys, values

    def copy_from(self, other: Cache, length: int) -> None:
        """Take the first ``length`` tokens of another cache."""
        self.length = 0
        self.reserve(length)
        self.keys[..., :length] = other.keys[..., :length]
        self.values[:, :, :length] = other.values[:, :, :length]
        self.length = length


@dataclass(frozen=True)
class _Layer:
    """Matrices (in, out) with the norms' weights and the queries' scale in them."""

    qkv: Array
    qkv_bias: Array
    out: Array
    gate_up: Array
    down: Array


class LanguageModel:
    """The layers with their weights. Safe to use from many threads at once, each with its own cache."""

    def __init__(self, settings: Language, weights: Weights, tied: bool) -> None:
        """:raises PolicyError: an array is missing or of another shape"""
        self._settings = settings
        width = settings.hidden_size
        prefix = weights.prefix("model.language_model", "language_model.model", "model")
        self.embedding = weights.take(f"{prefix}.embed_tokens.weight", settings.vocab_size, width)
        head = self.embedding if tied else weights.take("lm_head.weight", settings.vocab_size, width)
        self._head = transposed(head * weights.take(f"{prefix}.norm.weight", width))
        self._layers = tuple(
            self._layer(weights, f"{prefix}.layers.{number}") for number in range(settings.num_hidden_layers)
        )
        rotary = settings.rope_parameters
        self._frequencies = frequencies(rotary.rope_theta, settings.head)
        self._axes = np.repeat(np.arange(3), rotary.mrope_section)

    def read(self, x: Array, positions: Positions, cache: Cache) -> Array:
        """Read tokens (n, width) after those in ``cache``, which then holds them too; return the states (n, width)."""
        n, past, settings = len(x), cache.length, self._settings
        cache.reserve(past + n)
        angles = positions[self._axes].T.astype(np.float32) * self._frequencies
        cosines, sines = np.cos(angles), np.sin(angles)
        heads, held, width = settings.num_attention_heads, settings.num_key_value_heads, settings.head
        group = heads // held
        mask = _later(n, past, group) if n > 1 else None
        for number, layer in enumerate(self._layers):
            keys, values = cache.keys[number], cache.values[number]
            qkv = normalised(x, settings.rms_norm_eps) @ layer.qkv
            qkv += layer.qkv_bias
            split = qkv.reshape(n, heads + 2 * held, width)
            rotate(split[:, : heads + held], cosines, sines)
            keys[..., past : past + n] = split[:, heads : heads + held].transpose(1, 2, 0)
            values[:, past : past + n] = split[:, heads + held :].swapaxes(0, 1)
            # Queries that share a key stand one after the other: (held, group × n, width).
            queries = split[:, :heads].swapaxes(0, 1).reshape(held, group * n, width)
            attended = attend(queries, keys[..., : past + n], values[:, : past + n], mask)
            x = x + attended.reshape(heads, n, width).swapaxes(0, 1).reshape(n, -1) @ layer.out
            x += gated(normalised(x, settings.rms_norm_eps) @ layer.gate_up) @ layer.down
        cache.length = past + n
        return normalised(x, settings.rms_norm_eps)

    def logits(self, states: Array) -> Array:
        """Return the logits (n, vocabulary) that follow states (n, width)."""
        logits: Array = states @ self._head
        return logits

    def _layer(self, weights: Weights, name: str) -> _Layer:
        settings = self._settings
        width, inner = settings.hidden_size, settings.intermediate_size
        sizes = {"q": width, "k": settings.num_key_value_heads * settings.head}
        sizes["v"] = sizes["k"]
        first = weights.take(f"{name}.input_layernorm.weight", width)
        second = weights.take(f"{name}.post_attention_layernorm.weight", width)
        qkv = [
            weights.take(f"{name}.self_attn.{part}_proj.weight", size, width) * first for part, size in sizes.items()
        ]
        bias = [weights.take(f"{name}.self_attn.{part}_proj.bias", size) for part, size in sizes.items()]
        scale = np.float32(1 / sqrt(settings.head))
        qkv[0] *= scale
        bias[0] *= scale
        gate_up = [weights.take(f"{name}.mlp.{part}_proj.weight", inner, width) * second for part in ("gate", "up")]
        return _Layer(
            qkv=transposed(*qkv),
            qkv_bias=np.concatenate(bias),
            out=transposed(weights.take(f"{name}.self_attn.o_proj.weight", width, width)),
            gate_up=transposed(*gate_up),
            down=transposed(weights.take(f"{name}.mlp.down_proj.weight", width, inner)),
        )


def _later(n: int, past: int, group: int) -> Array:
    """Return the mask of n new tokens: none attends to a later one. (group × n, past + n)"""
    mask = np.zeros((n, past + n), np.float32)
    mask[:, past:][np.triu_indices(n, 1)] = -np.inf
    return np.tile(mask, (group, 1))
