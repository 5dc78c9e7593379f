"""The questions of the agent: one TOML file per target class, with a diagnostic guide and the features to inspect.

Our guides are written from the literature, each statement with its references. The published ones are in
SpecVI-Bench's rows, from which ``agent.tasks.trained`` imports them. ``docs/tasks.md`` explains how to add a class.
"""

from __future__ import annotations

from agent.tasks.files import FOLDER, QUESTION, TaskError, find, load, load_all, read
from agent.tasks.values import Confuser, Feature, Statement, Task

__all__ = [
    "FOLDER",
    "QUESTION",
    "Confuser",
    "Feature",
    "Statement",
    "Task",
    "TaskError",
    "find",
    "load",
    "load_all",
    "read",
]
