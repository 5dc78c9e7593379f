"""The questions the agent is asked: one TOML file a target class, with a diagnostic guide and the features to
look at.

The published diagnostic guides are not public. The guides here are written for this program from the
literature, each statement with its references; ``docs/tasks.md`` says how to add a class.
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
