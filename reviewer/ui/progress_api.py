"""What the Progress tab's charts are drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from reviewer.store import Progress, Store, Yielded
from reviewer.ui.desk import At, Who


def progress_router(store: Store) -> APIRouter:
    """``GET /api/progress?task=&batch=``, for anybody who is signed in."""
    routes = APIRouter(prefix="/api")

    @routes.get("/progress")
    def progress(person: Who, at: At, task: str = "", batch: str | None = None) -> dict[str, Any]:
        facets = store.facets()
        return {
            **progress_json(store.counts(task or None, batch)),
            "tasks": {key: _title(at.tasks, key) for key in facets.get("task", ())},
            "batches": list(facets.get("batch", ())),
            "at": store.now().isoformat(),
        }

    return routes


def progress_json(progress: Progress) -> dict[str, Any]:
    """``Progress`` as JSON. A fraction that is not defined is null; the page says why in words."""
    return {
        "by_task": {task: dict(states) for task, states in progress.by_task.items()},
        "by_person": {person: dict(rounds) for person, rounds in progress.by_person.items()},
        "versions_by": dict(progress.versions_by),
        "disagreement": {
            "disagreed": progress.disagreed,
            "compared": progress.compared,
            "fraction": progress.disagreed / progress.compared if progress.compared else None,
        },
        "yielded": _yield_json(progress.yielded),
        "per_day": {day: dict(rounds) for day, rounds in progress.per_day.items()},
        "decided_per_day": {day: _yield_json(y) for day, y in progress.decided_per_day.items()},
    }


def _yield_json(yielded: Yielded) -> dict[str, float | None]:
    return {"approved": yielded.approved, "rejected": yielded.rejected, "fraction": yielded.fraction}


def _title(tasks: Mapping[str, Any], key: str) -> str:
    # A task file may have been taken away since; its items are still here.
    return tasks[key].title if key in tasks else key
