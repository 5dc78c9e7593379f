"""The learned traces in the layout of the published cold-start set: rows of chats, and their pictures."""

from __future__ import annotations

import json
from pathlib import Path

from tests.models.support.learned_traces import INSPECTED, inspected


def written(folder: Path) -> Path:
    """Write ``train_sharegpt.json`` with one row per class, and its pictures, to ``folder``; return its path."""
    (folder / "images").mkdir(parents=True)
    rows = []
    for key in INSPECTED:
        trace = inspected(key)
        names = [f"images/lf_{key}_0_{k}.png" for k in range(len(trace.pictures))]
        for name, picture in zip(names, trace.pictures, strict=True):
            picture.save(folder / name)
        row = trace.trajectory.to_sharegpt(names)
        rows.append(row)
    file = folder / "train_sharegpt.json"
    file.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return file
