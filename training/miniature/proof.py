"""The whole miniature proof: each seed in its own process, then the tables and the curves of ``results``.

Finished parts are not repeated, so an interrupted proof continues when the same command is run again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.errors import Refusal
from agent.language import tr
from agent.processes import end_with_parent, spawn_pool
from training.miniature import results
from training.miniature.stages import SCALES, Scale, Seed, folder_of
from training.settings import to_mapping

PROOF = "proof.json"
BETWEEN = 10.0
"""Seconds between two lines about how far a seed has come."""


class ProofError(Refusal, ValueError):
    """A folder that cannot hold this proof: its content, and what to do."""


def prove(folder: Path, seeds: Sequence[int], scale: Scale) -> dict[str, Any]:
    """Run the missing parts; return the result of ``results.write``.

    :raises ProofError: the folder holds something else, or a proof of another scale
    """
    _begin(folder, scale)
    if len(seeds) == 1:
        _do(folder, seeds[0], scale.name)
    else:
        _side_by_side(folder, seeds, scale)
    return results.write(folder, seeds, scale)


def _begin(folder: Path, scale: Scale) -> None:
    file = folder / PROOF
    expected = json.loads(json.dumps(to_mapping(scale)))
    if file.is_file():
        if json.loads(file.read_text("utf-8")) != expected:
            raise ProofError(tr("{folder} holds a proof with other settings: choose another --out", folder=folder))
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProofError(tr("{folder} holds something that is no proof: choose another --out", folder=folder))
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{PROOF}.new"
    unfinished.write_text(json.dumps(expected, indent=2) + "\n", "utf-8")
    os.replace(unfinished, file)


def _side_by_side(folder: Path, seeds: Sequence[int], scale: Scale) -> None:
    at_once = min(len(seeds), os.cpu_count() or 1)
    # end_with_parent alone: Ctrl C must end these processes too, which work for hours.
    with spawn_pool(at_once, end_with_parent) as pool:
        for done in [pool.submit(_do, folder, seed, scale.name, at_once) for seed in seeds]:
            done.result()


def _do(folder: Path, seed: int, scale: str, at_once: int = 1) -> None:
    import torch

    from training.environment import quiet

    quiet()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // at_once))
    Seed(folder_of(folder, seed), seed, SCALES[scale], _Lines(seed)).do()


class _Lines:
    """Reports the progress of a seed on stderr, not too often."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._next = 0.0

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            print(f"{time.strftime('%H:%M:%S')} seed {self._seed}: {line}", file=sys.stderr, flush=True)
            self._next = now + BETWEEN
