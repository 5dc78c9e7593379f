"""What both parts of the network compute in the same way: normalisation, rotation by position, attention, SwiGLU.

All in float32. A factor that is the same for every token (the weights of an RMSNorm, the scale of the queries) is
multiplied into the matrix after it when the model is loaded.
"""

from __future__ import annotations

import numpy as np

from agent.policies.nano.folder import Array


def transposed(*matrices: Array) -> Array:
    """Return matrices (out, in), one after the other, as one contiguous matrix (in, out): the faster order here."""
    return np.ascontiguousarray(np.concatenate(matrices).T)


def normalised(x: Array, eps: float) -> Array:
    """Return x (n, width) divided by the root of its mean square, row by row: an RMSNorm without its weights."""
    squares = np.vecdot(x, x)
    squares /= np.float32(x.shape[1])
    squares += np.float32(eps)
    result: Array = x * (1 / np.sqrt(squares))[:, None]
    return result


def frequencies(theta: float, width: int) -> Array:
    """Return the angles per position of rotary embedding, (width / 2,)."""
    exponents = np.arange(0, width, 2, dtype=np.float32) / np.float32(width)
    rates: Array = (1 / np.power(np.float32(theta), exponents)).astype(np.float32)
    return rates


def rotate(x: Array, cosines: Array, sines: Array) -> None:
    """Rotate x (n, heads, width) in place by angles (n, width / 2): component i with component i + width / 2."""
    half = x.shape[2] // 2
    first, second = x[..., :half], x[..., half:]
    c, s = cosines[:, None], sines[:, None]
    turned = first * c - second * s
    second *= c
    second += first * s
    first[:] = turned


def attend(queries: Array, keys: Array, values: Array, mask: Array | None = None) -> Array:
    """Return softmax(q k + mask) v. Shapes (..., n, w), (..., w, m), (..., m, w); the mask (n, m) is of 0 and −∞."""
    scores = queries @ keys
    if mask is not None:
        scores += mask
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    sums = scores.sum(axis=-1, keepdims=True)
    weighted = scores @ values
    weighted /= sums
    return weighted.astype(np.float32, copy=False)


def gated(both: Array) -> Array:
    """Return silu(gate) · up for the two halves of (n, 2 × inner)."""
    inner = both.shape[1] // 2
    gate, up = both[:, :inner], both[:, inner:]
    gates: Array = -gate
    # exp overflows to infinity for very negative gates, and gate / infinity is the 0 that is wanted.
    with np.errstate(over="ignore"):
        np.exp(gates, out=gates)
    np.add(gates, 1, out=gates)
    np.divide(gate, gates, out=gates)
    np.multiply(gates, up, out=gates)
    return gates
