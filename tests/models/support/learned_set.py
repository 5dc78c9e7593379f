"""The learned traces as training data: in the layout of the published cold-start set, and as labelled questions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tests.models.support.learned_traces import INSPECTED, inspected, shown

LABELS = {"cv": "YES", "cc": "NO", "wd": "YES"}
"""They differ from some of the answers of the tiny model."""


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


def asked(file: Path, classes: Iterable[str] = INSPECTED) -> Path:
    """Write a question with its label and spectrum per class as JSON lines to ``file``; return it."""
    lines = []
    for key in classes:
        trace = replace(inspected(key).trajectory, label=LABELS[key])
        lines.append(json.dumps(trace.to_json() | {"spectrum_data": shown(key).to_json()}) + "\n")
    file.write_text("".join(lines), "utf-8")
    return file
