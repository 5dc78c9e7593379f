"""A campaign is a database and what lies beside it: a folder ``tasks`` holds its own target classes."""

from __future__ import annotations

from pathlib import Path

from agent import tasks
from agent.tasks import Task, TaskError


def known_tasks(db: Path) -> tuple[dict[str, Task], tuple[TaskError, ...]]:
    """Every usable task file of the program and of the campaign of ``db``; what is wrong with the rest."""
    folder = db.resolve().parent / "tasks"
    return tasks.load_all([folder] if folder.is_dir() else [])
