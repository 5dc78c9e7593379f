"""The specialist's folder and its network with numpy: weights in, log odds of YES out. Without torch.

The network is the one of ``training.specialist.learning.network``: convolutions with stride 2, each with a group
normalisation and a GELU; mean and maximum over the pixels; two linear layers.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from agent.conversation import PolicyError
from agent.language import deferred
from agent.policies.specialist.grid import CHANNELS, Float32
from agent.processes import one_thread

SCHEMA = "spec-o3/specialist/1"
WEIGHTS, CARD = "weights.safetensors", "specialist.json"
EARLIER_WEIGHTS = "weights.pt"

FILTERS = (16, 32, 48, 64, 96, 128)
WIDTHS = (11, 9, 7, 7, 5, 5)  # pixels, odd
STRIDE = 2
GROUP = 8
"""Filters that are normalised together."""
HIDDEN = 64
LAYERS = 3
"""Modules per convolution in the state of the network: convolution, normalisation, GELU."""
_EPS = 1e-5  # torch's GroupNorm


class SpecialistError(PolicyError):
    """A specialist that cannot be trained or loaded: what, what was found, what was expected."""

    retry = False


@dataclass(frozen=True)
class SpecialistFolder:
    """The folder of a trained specialist, with its weights checked against its card.

    :param weights: the file of the weights
    :param card: the whole content of ``specialist.json``
    """

    weights: Path
    card: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the card and check the weights. :raises SpecialistError: there is none, or it is damaged"""
        card = _card(folder / CARD)
        weights = folder / (WEIGHTS if (folder / WEIGHTS).is_file() else EARLIER_WEIGHTS)
        try:
            digest = hashlib.sha256(weights.read_bytes()).hexdigest()
        except OSError as error:
            raise SpecialistError(
                deferred(
                    "{weights}: {strerror}; expected a folder of `specialist train`",
                    weights=weights,
                    strerror=error.strerror,
                )
            ) from error
        if digest != card.get("weights_sha256"):
            raise SpecialistError(
                deferred("{weights}: found other bytes than {card} says, expected its own", weights=weights, card=CARD)
            )
        return cls(weights, card)

    @property
    def task(self) -> str:
        return str(self.card.get("task"))

    @property
    def weights_sha256(self) -> str:
        return str(self.card["weights_sha256"])

    @property
    def threshold(self) -> float:
        """P at or above it is YES. :raises SpecialistError: it is not a number between 0 and 1"""
        value = self.card.get("threshold")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
            raise SpecialistError(
                deferred(
                    "{parent}: threshold: found {found!r:.60}, expected a number between 0 and 1",
                    parent=self.weights.parent / CARD,
                    found=value,
                )
            )
        return float(value)


class Network:
    """The network in numpy.

    :param state: the arrays of the weights by torch's names
    """

    def __init__(self, state: Mapping[str, Float32]) -> None:
        """:raises SpecialistError: an array is missing or has another shape"""
        self._convolutions = []
        before = CHANNELS
        for number, (filters, width) in enumerate(zip(FILTERS, WIDTHS, strict=True)):
            at = LAYERS * number
            kernel = _array(state, f"body.{at}.weight", (filters, before, width))
            # (before × width, filters): one multiplication per convolution.
            matrix = np.ascontiguousarray(kernel.reshape(filters, -1).T)
            bias, scale, offset = (
                _array(state, name, (filters,))
                for name in (f"body.{at}.bias", f"body.{at + 1}.weight", f"body.{at + 1}.bias")
            )
            self._convolutions.append((width, matrix, bias, scale, offset))
            before = filters
        self._hidden = _linear(state, "head.1", 2 * before, HIDDEN)
        self._last = _linear(state, "head.3", HIDDEN, 1)

    @classmethod
    def load(cls, folder: SpecialistFolder) -> Self:
        """Load the weights of a folder. :raises SpecialistError: they cannot be read here"""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        if folder.weights.name != WEIGHTS:
            raise SpecialistError(
                deferred(
                    "{weights}: found weights of an earlier release, expected {weights2}; train it again with "
                    "`spec-o3 specialist train`",
                    weights=folder.weights,
                    weights2=WEIGHTS,
                )
            )
        try:
            return cls(load_file(folder.weights))
        except (OSError, SafetensorError, ValueError) as error:
            raise SpecialistError(
                deferred("{weights}: found no weights that can be read ({error})", weights=folder.weights, error=error)
            ) from error

    def log_odds(self, rows: Float32) -> NDArray[np.float64]:
        """Return the log odds of YES (spectra,) for rows (spectra, CHANNELS, PIXELS), with equal prior probabilities of
        YES and NO.
        """
        with one_thread():
            odds = [self._log_odds(row) for row in rows]
        return np.array(odds, dtype=np.float64)

    def _log_odds(self, row: Float32) -> float:
        x: Float32 = row
        for width, matrix, bias, scale, offset in self._convolutions:
            padded = np.pad(x, ((0, 0), (width // 2, width // 2)))
            windows = np.lib.stride_tricks.sliding_window_view(padded, width, axis=1)[:, ::STRIDE]
            y = windows.transpose(1, 0, 2).reshape(windows.shape[1], -1) @ matrix + bias
            x = _gelu(_normalised(np.ascontiguousarray(y.T)) * scale[:, None] + offset[:, None])
        pooled = np.concatenate([x.mean(axis=1), x.max(axis=1)])
        hidden, last = self._hidden, self._last
        return float((_gelu(pooled @ hidden[0] + hidden[1]) @ last[0] + last[1])[0])


def _normalised(y: Float32) -> Float32:
    """Return y (filters, pixels) with mean 0 and variance 1 in each group of filters."""
    groups = y.reshape(len(y) // GROUP, -1)
    centred = groups - groups.mean(axis=1, keepdims=True)
    centred /= np.sqrt((centred * centred).mean(axis=1, keepdims=True) + _EPS)
    normalised: Float32 = centred.reshape(y.shape)
    return normalised


def _gelu(x: Float32) -> Float32:
    from scipy.special import erf

    activated: Float32 = (0.5 * x * (1 + erf(x * np.float32(1 / math.sqrt(2))))).astype(np.float32)
    return activated


def _linear(state: Mapping[str, Float32], name: str, before: int, after: int) -> tuple[Float32, Float32]:
    weight = _array(state, f"{name}.weight", (after, before))
    return np.ascontiguousarray(weight.T), _array(state, f"{name}.bias", (after,))


def _array(state: Mapping[str, Float32], name: str, shape: tuple[int, ...]) -> Float32:
    array = state.get(name)
    if array is None or array.shape != shape:
        was = "nothing" if array is None else deferred("the shape {shape}", shape=array.shape)
        raise SpecialistError(
            deferred("weights: {name}: found {was}, expected the shape {shape}", name=name, was=was, shape=shape)
        )
    return array.astype(np.float32, copy=False)


def _card(path: Path) -> dict[str, Any]:
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecialistError(
            deferred("{path}: {strerror}; expected a folder of `specialist train`", path=path, strerror=error.strerror)
        ) from error
    except (ValueError, RecursionError) as error:
        raise SpecialistError(
            deferred("{path}: found no JSON ({names})", path=path, names=" ".join(str(error).split())[:200])
        ) from error
    schema = card.get("schema") if isinstance(card, dict) else None
    if schema != SCHEMA:
        raise SpecialistError(
            deferred("{path}: schema: found {found!r:.60}, expected {schema!r}", path=path, found=schema, schema=SCHEMA)
        )
    return dict(card)
