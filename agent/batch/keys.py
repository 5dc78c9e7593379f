"""Sets of keys by the ten million: each key is the 128-bit hash of a spectrum's name and a sample number, in sorted
numpy arrays. A Python set of as many names would take gigabytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
"""Shape (n, 2): the two halves of each hash."""

_Half = NDArray[np.uint64]
_Level = tuple[_Half, _Half]
"""First and second halves of keys, in the order of the second ones."""

_STEP = 0x9E3779B97F4A7C15
"""An odd number: its multiples are all different modulo 2⁶⁴, so the samples of one spectrum have different keys."""
_LARGEST = 2_000_000
"""Keys of the largest sorted array. Merging larger ones would take more memory than searching several."""
_SMALLEST = 50_000
"""Single keys are kept in a Python set until there are so many."""


def hashes_of(names: Iterable[str]) -> Hashes:
    """Return the hashes of the names of spectra (``agent.batch.sources.key_of``), for sample 0."""
    digests = b"".join(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest() for name in names)
    return np.frombuffer(digests, np.uint64).reshape(-1, 2)


def of_sample(hashes: Hashes, sample: int) -> Hashes:
    """Return the keys of a sample of these spectra."""
    if not sample:
        return hashes
    shifted = hashes.copy()
    shifted[:, 1] += np.uint64(sample * _STEP % 2**64)
    return shifted


def key_hash(name: str, sample: int) -> tuple[int, int]:
    """Return the two halves of the key of one sample."""
    high, low = of_sample(hashes_of([name]), sample)[0]
    return int(high), int(low)


class Keys:
    """A set of keys that only grows; 16 bytes per key."""

    def __init__(self) -> None:
        self._levels: list[_Level] = []
        self._single: set[tuple[int, int]] = set()

    def __len__(self) -> int:
        return sum(len(low) for _, low in self._levels) + len(self._single)

    def __contains__(self, key: tuple[int, int]) -> bool:
        return key in self._single or bool(self._in_levels(*_halves(np.array([key], np.uint64)))[0])

    def add(self, key: tuple[int, int]) -> None:
        """Add a key that is not in the set."""
        self._single.add(key)
        if len(self._single) >= _SMALLEST:
            self._settle()

    def add_many(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Add keys; return which of them were new. Of equal ones among them, only the first is."""
        self._settle()
        high, low = _halves(hashes)
        order = np.lexsort((high, low))  # stable: the first of equal ones comes first
        high, low = high[order], low[order]
        new = ~self._in_levels(high, low)
        new[1:] &= (high[1:] != high[:-1]) | (low[1:] != low[:-1])
        self._push(high[new], low[new])
        is_new = np.zeros(len(hashes), bool)
        is_new[order] = new
        return is_new

    def contains(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Return for each key whether it is in the set."""
        self._settle()
        high, low = _halves(hashes)
        # Ordered questions find their answers near each other in memory.
        order = np.argsort(low)
        is_known = np.empty(len(hashes), bool)
        is_known[order] = self._in_levels(high[order], low[order])
        return is_known

    def _in_levels(self, high: _Half, low: _Half) -> NDArray[np.bool_]:
        is_known = np.zeros(len(low), bool)
        for there_high, there_low in self._levels:
            place = np.searchsorted(there_low, low)
            # Keys with the same second half stand next to each other; the first half decides.
            waiting = np.arange(len(low))
            while len(waiting):
                at = place[waiting]
                waiting, at = waiting[at < len(there_low)], at[at < len(there_low)]
                same = there_low[at] == low[waiting]
                waiting, at = waiting[same], at[same]
                right = there_high[at] == high[waiting]
                is_known[waiting[right]] = True
                waiting = waiting[~right]
                place[waiting] += 1
        return is_known

    def _settle(self) -> None:
        if self._single:
            self._push(*_ordered(*_halves(np.array(list(self._single), np.uint64))))
            self._single = set()

    def _push(self, high: _Half, low: _Half) -> None:
        """Add a sorted level, merged with the last ones while these are not larger."""
        if not len(low):
            return
        self._levels.append((high, low))
        while len(self._levels) > 1:
            (last_high, last_low), (high, low) = self._levels[-1], self._levels[-2]
            if len(low) > len(last_low) or len(low) + len(last_low) > _LARGEST:
                break
            self._levels[-2:] = [_ordered(np.concatenate([high, last_high]), np.concatenate([low, last_low]))]


def _halves(hashes: Hashes) -> _Level:
    return np.ascontiguousarray(hashes[:, 0]), np.ascontiguousarray(hashes[:, 1])


def _ordered(high: _Half, low: _Half) -> _Level:
    order = np.argsort(low)
    return high[order], low[order]
