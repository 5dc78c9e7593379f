"""The vision tower of Qwen2.5-VL: from a picture's patches to one vector per token.

Patches attend to those of their window (112 pixels wide in Qwen2.5-VL), and in some layers to the whole picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from agent.policies.nano.arrays import attend, frequencies, gated, normalised, rotate, transposed
from agent.policies.nano.folder import Array, Vision, Weights
from agent.policies.nano.pictures import Grid, Patches

EPS = 1e-6
"""Of the vision tower's norms; not a setting in Qwen2.5-VL."""


@dataclass(frozen=True)
class _Layer:
    """Matrices (in, out) with the norms' weights and the queries' scale in them."""

    qkv: Array
    qkv_bias: Array
    out: Array
    out_bias: Array
    gate_up: Array
    gate_up_bias: Array
    down: Array
    down_bias: Array
    everywhere: bool


@dataclass(frozen=True)
class _Layout:
    """How the patches of a grid are ordered for attention: windows of equal size one after the other.

    :param order: of the tokens, (tokens,), and ``back``, its inverse
    :param windows: the first patch, the number of windows and the patches of each, for each size
    :param cosines: of the patches in that order, (patches, width of a head / 2), as ``sines``
    """

    order: NDArray[np.intp]
    back: NDArray[np.intp]
    windows: tuple[tuple[int, int, int], ...]
    cosines: Array
    sines: Array


class VisionTower:
    """The tower with its weights. Safe to use from many threads at once."""

    def __init__(self, settings: Vision, weights: Weights) -> None:
        """:raises PolicyError: an array is missing or of another shape"""
        self._settings = settings
        width, inner, side = settings.hidden_size, settings.intermediate_size, settings.patch_size
        prefix = weights.prefix("visual", "model.visual")
        kernel = weights.take(f"{prefix}.patch_embed.proj.weight", width, 3, settings.temporal_patch_size, side, side)
        # A still picture is the same in each frame: the sum over the frames is taken once, here.
        self._embedding = transposed(kernel.sum(axis=2).reshape(width, -1))
        self._layers = tuple(
            self._layer(weights, f"{prefix}.blocks.{number}", number, width, inner) for number in range(settings.depth)
        )
        merged = width * settings.spatial_merge_size**2
        norm = weights.take(f"{prefix}.merger.ln_q.weight", width)
        into = weights.take(f"{prefix}.merger.mlp.0.weight", merged, merged)
        self._into = transposed(into * np.tile(norm, settings.spatial_merge_size**2))
        self._into_bias = weights.take(f"{prefix}.merger.mlp.0.bias", merged)
        self._out = transposed(weights.take(f"{prefix}.merger.mlp.2.weight", settings.out_hidden_size, merged))
        self._out_bias = weights.take(f"{prefix}.merger.mlp.2.bias", settings.out_hidden_size)
        self._layout = lru_cache(maxsize=64)(self._laid_out)

    def __call__(self, patches: Patches) -> Array:
        """Return one vector per token of the picture, (tokens, width of the language model), row by row."""
        layout = self._layout(patches.grid)
        unit = self._settings.spatial_merge_size**2
        x = patches.values @ self._embedding
        x = x.reshape(-1, unit, x.shape[1])[layout.order].reshape(x.shape)
        for layer in self._layers:
            windows = ((0, 1, len(x)),) if layer.everywhere else layout.windows
            x += self._attention(x, layer, layout, windows)
            x += gated(normalised(x, EPS) @ layer.gate_up + layer.gate_up_bias) @ layer.down + layer.down_bias
        merged = normalised(x, EPS).reshape(len(layout.order), -1) @ self._into
        merged += self._into_bias
        merged *= _gelu_factor(merged)
        embedded = (merged @ self._out + self._out_bias)[layout.back]
        return embedded.astype(np.float32, copy=False)

    def _attention(self, x: Array, layer: _Layer, layout: _Layout, windows: tuple[tuple[int, int, int], ...]) -> Array:
        heads = self._settings.num_heads
        qkv = (normalised(x, EPS) @ layer.qkv + layer.qkv_bias).reshape(len(x), 3 * heads, -1)
        rotate(qkv[:, : 2 * heads], layout.cosines, layout.sines)
        attended = np.empty((len(x), heads, qkv.shape[2]), np.float32)
        for first, count, size in windows:
            part = slice(first, first + count * size)
            # (count, size, 3, heads, width) to three of (count, heads, size, width)
            q, k, v = qkv[part].reshape(count, size, 3, heads, -1).transpose(2, 0, 3, 1, 4)
            attended[part] = attend(q, k.swapaxes(2, 3), v).transpose(0, 2, 1, 3).reshape(count * size, heads, -1)
        return attended.reshape(len(x), -1) @ layer.out + layer.out_bias

    def _layer(self, weights: Weights, name: str, number: int, width: int, inner: int) -> _Layer:
        first = weights.take(f"{name}.norm1.weight", width)
        second = weights.take(f"{name}.norm2.weight", width)
        qkv = weights.take(f"{name}.attn.qkv.weight", 3 * width, width) * first
        bias = weights.take(f"{name}.attn.qkv.bias", 3 * width)
        scale = np.float32(1 / sqrt(self._settings.head))
        qkv[:width] *= scale
        bias[:width] *= scale
        gate_up = [weights.take(f"{name}.mlp.{part}_proj.weight", inner, width) * second for part in ("gate", "up")]
        return _Layer(
            qkv=transposed(qkv),
            qkv_bias=bias,
            out=transposed(weights.take(f"{name}.attn.proj.weight", width, width)),
            out_bias=weights.take(f"{name}.attn.proj.bias", width),
            gate_up=transposed(*gate_up),
            gate_up_bias=np.concatenate(
                [weights.take(f"{name}.mlp.{part}_proj.bias", inner) for part in ("gate", "up")]
            ),
            down=transposed(weights.take(f"{name}.mlp.down_proj.weight", width, inner)),
            down_bias=weights.take(f"{name}.mlp.down_proj.bias", width),
            everywhere=number in self._settings.fullatt_block_indexes,
        )

    def _laid_out(self, grid: Grid) -> _Layout:
        settings = self._settings
        merge = settings.spatial_merge_size
        rows, columns = np.divmod(np.arange(grid.rows * grid.columns // merge**2), grid.columns // merge)
        across = settings.window_size // (settings.patch_size * merge)
        windows = rows // across * grid.columns + columns // across
        sizes = np.bincount(windows)[windows]
        # Stable: within a window the tokens keep their order.
        order = np.lexsort((windows, sizes))
        groups, first = [], 0
        for size, tokens in zip(*np.unique(sizes, return_counts=True), strict=True):
            groups.append((first, int(tokens // size), int(size * merge**2)))
            first += int(tokens * merge**2)
        inside_rows, inside_columns = np.divmod(np.arange(merge**2), merge)
        down = (rows[order][:, None] * merge + inside_rows).ravel().astype(np.float32)
        right = (columns[order][:, None] * merge + inside_columns).ravel().astype(np.float32)
        steps = frequencies(settings.rope_parameters.rope_theta, settings.head // 2)
        angles = np.concatenate([down[:, None] * steps, right[:, None] * steps], axis=1)
        return _Layout(order, np.argsort(order), tuple(groups), np.cos(angles), np.sin(angles))


def _gelu_factor(x: Array) -> Array:
    """Return what x is multiplied with in the exact GELU."""
    from scipy.special import erf

    factor: Array = (0.5 + 0.5 * erf(x / np.float32(sqrt(2)))).astype(np.float32, copy=False)
    return factor
