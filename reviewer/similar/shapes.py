"""The spectra nearest to one: candidates by a short projection in memory, then the exact distance of their shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agent.similarity import SIZE, distances
from reviewer.similar.files import Keys, Table

if TYPE_CHECKING:
    from scipy import sparse

EXACT = 2000
"""Spectra up to which all are compared exactly."""
CANDIDATES = 400
"""Spectra that are compared exactly, of more."""
_SIZE = 64
_FITTED = 3000
_GROWTH = 3.0
_BLOCK = 8192
_SEED = 1
_OVERSAMPLED = 10
"""Random directions beyond those that are wanted, for their accuracy."""


@dataclass(frozen=True)
class _Projected:
    """Spectra with a shape: keys in order (n,), and short vectors (n, _SIZE); ``components`` None: not projected."""

    keys: Keys
    short: NDArray[np.float16]
    components: NDArray[np.float32] | None
    fitted: int


def principal_directions(matrix: NDArray[np.float32] | sparse.csr_matrix, size: int, seed: int) -> NDArray[np.float32]:
    """Return the first right singular vectors of a matrix (size, n_columns), found as by scikit-learn's
    ``randomized_svd``.

    Its last step, LAPACK's decomposition of a wide matrix, keeps the GIL for half a second, and all requests would
    wait. Here a small square matrix is decomposed; in the other steps the GIL is free.
    """
    # Not above: it would slow the start of the app.
    from sklearn.utils.extmath import randomized_range_finder

    basis = randomized_range_finder(
        matrix.T, size=size + _OVERSAMPLED, n_iter=3, power_iteration_normalizer="QR", random_state=seed
    )
    seen = np.asarray(matrix @ basis, dtype=np.float64)
    _, turned = np.linalg.eigh(seen.T @ seen)  # the largest last
    return np.asarray((basis @ turned[:, ::-1][:, :size].astype(basis.dtype)).T, dtype=np.float32)


class Shapes:
    """The shapes of a table, searched by likeness.

    :param table: rows of ``key`` and ``vector`` (SIZE,), NaN without data
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._now = _Projected(np.zeros(0, np.int64), np.zeros((0, _SIZE), np.float16), None, 0)

    def __len__(self) -> int:
        return int(self._now.keys.size)

    def has(self, keys: Keys) -> NDArray[np.bool_]:
        """Return which keys are of spectra that are searched (n,)."""
        return np.isin(keys, self._now.keys)

    def update(self, keys: Keys, pause: Callable[[], None] = lambda: None) -> None:
        """Use the spectra of these keys, of those that have a row; short vectors that are known are kept."""
        before, keys = self._now, np.unique(keys[self._table.known(keys)])
        keys = keys[keys != 0]
        if keys.size <= EXACT:
            self._now = _Projected(keys, np.zeros((keys.size, _SIZE), np.float16), None, 0)
            return
        components, fitted = before.components, before.fitted
        if components is None or keys.size > _GROWTH * fitted:
            sample = keys[np.linspace(0, keys.size - 1, min(keys.size, _FITTED)).astype(int)]
            shapes = _filled(self._table.rows(sample)["vector"])
            components, fitted = principal_directions(shapes, _SIZE, _SEED), int(keys.size)
            before = _Projected(np.zeros(0, np.int64), np.zeros((0, _SIZE), np.float16), None, 0)
            pause()
        short = np.zeros((keys.size, _SIZE), dtype=np.float16)
        at = np.minimum(np.searchsorted(before.keys, keys), max(before.keys.size - 1, 0))
        known = before.keys[at] == keys if before.keys.size else np.zeros(keys.size, dtype=bool)
        short[known] = before.short[at[known]]
        new = np.flatnonzero(~known)
        for start in range(0, new.size, 256):
            rows = new[start : start + 256]
            short[rows] = _filled(self._table.rows(keys[rows])["vector"]) @ components.T
            pause()
        self._now = _Projected(keys, short, components, fitted)

    def nearest(
        self, vector: NDArray[np.float32], candidates: int = CANDIDATES, of: Keys | None = None
    ) -> tuple[Keys, NDArray[np.float64]]:
        """Return keys and distances of the nearest spectra, the nearest first; those with too little in common are left
        out.

        :param of: keys of the only spectra that are compared
        """
        now = self._now
        rows = np.arange(now.keys.size) if of is None else np.flatnonzero(np.isin(now.keys, of))
        keys = now.keys[rows]
        if now.components is not None and keys.size > EXACT:
            own = now.components @ _filled(vector[np.newaxis].astype(np.float16))[0]
            blocks = (rows[start : start + _BLOCK] for start in range(0, rows.size, _BLOCK))
            likeness = np.concatenate([now.short[block].astype(np.float32) @ own for block in blocks])
            keys = keys[np.argpartition(-likeness, min(candidates, keys.size - 1))[:candidates]]
        apart = self.distances(vector, keys)
        order = np.argsort(apart, kind="stable")
        order = order[np.isfinite(apart[order])]
        return keys[order], apart[order]

    def likeness(self, keys: Keys) -> tuple[Keys, NDArray[np.float64]]:
        """Return the keys of all spectra (n,), and their likeness to each of these (n, n_keys), 1 the same shape; NaN
        without a shape. Of many spectra it is that of their short vectors.
        """
        now = self._now
        columns = np.full((now.keys.size, keys.size), np.nan)
        rows = self._table.rows(keys)["vector"]
        for column in np.flatnonzero(self._table.known(keys) & (keys != 0)):
            if now.components is None:
                apart = self.distances(rows[column].astype(np.float32), now.keys)
                columns[:, column] = np.where(np.isfinite(apart), 1.0 - apart, np.nan)
            elif np.isfinite(rows[column]).any():
                short = now.components @ _filled(rows[column][np.newaxis])[0]
                for start in range(0, now.keys.size, _BLOCK):
                    columns[start : start + _BLOCK, column] = (
                        now.short[start : start + _BLOCK].astype(np.float32) @ short
                    )
        return now.keys, columns

    def distances(self, vector: NDArray[np.float32], keys: Keys) -> NDArray[np.float64]:
        """Return the distance of each of these spectra (n,); infinite without a shape."""
        if not keys.size:
            return np.zeros(0)
        is_known = self._table.known(keys)
        apart = np.full(keys.size, np.inf)
        rows = self._table.rows(keys[is_known])["vector"].astype(np.float32)
        apart[is_known] = distances(vector, rows.reshape(-1, SIZE))
        return apart


def _filled(vectors: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return unit vectors with 0 where there is no data."""
    filled = np.nan_to_num(vectors.astype(np.float32), nan=0.0)
    return np.asarray(filled / np.maximum(np.linalg.norm(filled, axis=1, keepdims=True), 1e-6), dtype=np.float32)
