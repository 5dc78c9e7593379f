"""A certificate of the baseline, for tests."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from agent import tasks
from agent.plot import RENDERER
from agent.policies.baseline.rule import Baseline
from agent.trust.certificate import Certificate, CertifiedPolicy, LabelCounts
from agent.trust.score import RAW
from agent.trust.sides import Requirements, Side

YES = Side("YES", 0.8, 59, 0, 0.0495, 0.05)
NO = Side("NO", 0.2, 120, 1, 0.039, 0.05)


def certificate(**changed: Any) -> Certificate:
    """Return a certificate of the baseline for cv; ``changed`` replaces fields."""
    drafter, task = Baseline().drafter, tasks.load()["cv"]
    given: dict[str, Any] = {
        "task": task.key,
        "prompt_sha256": hashlib.sha256(task.prompt.encode()).hexdigest(),
        "policy": CertifiedPolicy(
            drafter.kind, drafter.name, {**drafter.settings, "renderer": RENDERER, "max_turns": 8}
        ),
        "samples": 1,
        "score": RAW,
        "surveys": ("",),
        "snr": (1.0, 1000.0),
        "medium": None,
        "labels": LabelCounts("annotations.db", 179, 62),
        "sampling": "assumed random",
        "yes": YES,
        "no": NO,
        "requirements": Requirements(),
        "calibration": tuple(np.random.default_rng(0).random(200).tolist()),
        "made_at": "2026-01-02T03:04:05+00:00",
        "program": "spec-o3 1.0",
    }
    return Certificate(**given | changed)
