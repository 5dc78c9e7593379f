"""A specialist's folder with random weights, for tests without torch."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from agent.policies.specialist.grid import CHANNELS
from agent.policies.specialist.network import CARD, FILTERS, HIDDEN, LAYERS, SCHEMA, WEIGHTS, WIDTHS


def specialist(folder: Path, task: str = "cv", threshold: float = 0.4, seed: int = 0, **more: Any) -> Path:
    """Write the folder and return it; ``more`` replaces fields of the card."""
    rng = np.random.default_rng(seed)
    state: dict[str, np.ndarray[Any, Any]] = {}

    def add(name: str, *shape: int) -> None:
        state[name] = rng.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape).astype(np.float32)

    before = CHANNELS
    for number, (filters, width) in enumerate(zip(FILTERS, WIDTHS, strict=True)):
        add(f"body.{LAYERS * number}.weight", filters, before, width)
        for name in (f"{LAYERS * number}.bias", f"{LAYERS * number + 1}.weight", f"{LAYERS * number + 1}.bias"):
            add(f"body.{name}", filters)
        before = filters
    for name, inputs, outputs in (("head.1", 2 * before, HIDDEN), ("head.3", HIDDEN, 1)):
        add(f"{name}.weight", outputs, inputs)
        add(f"{name}.bias", outputs)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(state, folder / WEIGHTS)
    digest = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    card = {
        "schema": SCHEMA,
        "task": task,
        "threshold": threshold,
        "weights_sha256": digest,
        "settings": {},
        "card": {},
    }
    (folder / CARD).write_text(json.dumps(card | more), encoding="utf-8")
    return folder
