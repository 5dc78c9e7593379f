"""The whole proof: every seed in a process of its own, then curves and table.

What is done is not done again, so a proof that was killed goes on where it was when the same command is given
again: at the stage, within training at the last checkpoint, on the bench at the last answer.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from training.miniature.stages import SCALES, Scale, Seed
from training.settings import to_mapping

PROOF = "proof.json"
BETWEEN = 10.0
"""Seconds between two lines about how far a seed has come."""


class ProofError(ValueError):
    """A folder that this proof cannot be kept in: what is there, and what to do about it."""


def prove(folder: Path, seeds: Sequence[int], scale: Scale) -> dict[str, Any]:
    """Do what is not done yet; what ``figures.write`` makes of it.

    :raises ProofError: the folder holds something else, or a proof of another scale
    """
    from training.miniature.figures import write

    _begin(folder, scale)
    if len(seeds) == 1:
        _do(folder, seeds[0], scale.name)
    else:
        _side_by_side(folder, seeds, scale)
    return write(folder, seeds, scale)


def seed_folder(folder: Path, seed: int) -> Path:
    return folder / f"seed-{seed}"


def _begin(folder: Path, scale: Scale) -> None:
    there = folder / PROOF
    wanted = json.loads(json.dumps(to_mapping(scale)))
    if there.is_file():
        if json.loads(there.read_text("utf-8")) != wanted:
            raise ProofError(f"{folder} holds a proof with other settings: choose another --output")
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProofError(f"{folder} holds something that is no proof: choose another --output")
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f"{PROOF}.new"
    beside.write_text(json.dumps(wanted, indent=2) + "\n", "utf-8")
    os.replace(beside, there)


def _side_by_side(folder: Path, seeds: Sequence[int], scale: Scale) -> None:
    at_once = min(len(seeds), os.cpu_count() or 1)
    # torch's threads do not survive a fork.
    context = get_context("spawn")
    with ProcessPoolExecutor(at_once, context, initializer=_end_with_parent) as pool:
        for done in [pool.submit(_do, folder, seed, scale.name, at_once) for seed in seeds]:
            done.result()


def _end_with_parent() -> None:
    """Who is killed takes these processes along: else they would go on, and be in the way of the next."""
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _do(folder: Path, seed: int, scale: str, at_once: int = 1) -> None:
    import torch

    from training.environment import quiet

    quiet()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // at_once))
    Seed(seed_folder(folder, seed), seed, SCALES[scale], _Lines(seed)).do()


class _Lines:
    """Says on stderr how far a seed has come, not too often."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._next = 0.0

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            print(f"{time.strftime('%H:%M:%S')} seed {self._seed}: {line}", file=sys.stderr, flush=True)
            self._next = now + BETWEEN
