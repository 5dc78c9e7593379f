"""Make the trajectory of an inspection: what it states about its spectrum and its task comes from these."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from agent.plot import RENDERER
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory.record import Drafter, Trajectory
from agent.trajectory.steps import Step


def from_inspection(
    spectrum: Spectrum, task: Task, steps: Sequence[Step], drafter: Drafter, **given: Any
) -> Trajectory:
    """Return the trajectory of an inspection.

    :param given: further fields of ``Trajectory``, or other values of those that the spectrum and the task give
    """
    fields: dict[str, Any] = {
        "prompt": task.prompt,
        "redshift": spectrum.redshift,
        "medium": spectrum.medium,
        "simulated": bool(spectrum.meta.get("simulated", False)),
        "medium_assumed": bool(spectrum.meta.get("medium_assumed", False)),
        "medium_set_by": str(spectrum.meta.get("medium_set_by", "")),
    }
    return Trajectory(
        task=task.key,
        spectrum_name=spectrum.name,
        spectrum_sha256=spectrum.sha256,
        steps=tuple(steps),
        drafter=drafter,
        **fields | given,
    )


def task_settings(task: Task) -> dict[str, Any]:
    """Return the settings of a drafter that name the prompt, and what draws the pictures."""
    settings = {"prompt_sha256": hashlib.sha256(task.prompt.encode()).hexdigest(), "renderer": RENDERER}
    return settings if task.prompt_source == "ours" else settings | {"prompt_source": task.prompt_source}
