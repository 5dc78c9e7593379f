"""Trajectories: steps, the tagged text that models write, and the record with its JSON form."""

from agent.trajectory.record import (
    SCHEMA,
    Answer,
    Drafter,
    DrafterKind,
    Medium,
    Step,
    Think,
    Trajectory,
    TrajectoryError,
    Verdict,
    Zoom,
    new_step_id,
    parse,
)

__all__ = [
    "SCHEMA",
    "Answer",
    "Drafter",
    "DrafterKind",
    "Medium",
    "Step",
    "Think",
    "Trajectory",
    "TrajectoryError",
    "Verdict",
    "Zoom",
    "new_step_id",
    "parse",
]
