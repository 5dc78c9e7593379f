"""Routes of the Progress tab's charts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from threading import Lock
from typing import Any

from fastapi import APIRouter, Request

from agent.language import deferred, localized, tr
from agent.statistics import DEFAULT, Resampling
from agent.tasks import Task
from reviewer.agreement.reliability import gold_agreement, round_agreement
from reviewer.agreement.values import Estimate
from reviewer.rules.workflow import Round
from reviewer.store import TIME_DEFINITION, Progress, Store, Yielded
from reviewer.store.statistics import COMPARED, Disagreement, GoldVerdict, SharedDecision
from reviewer.web.context import ContextDep, PersonDep

router = APIRouter(prefix="/api/v1")


@router.get("/progress")
def progress(person: PersonDep, context: ContextDep, task: str = "", batch: str | None = None) -> dict[str, Any]:
    """The numbers of the Progress tab, of a task and batch or of all."""
    facets = context.store.queue.facets()
    return {
        **progress_json(context.store.statistics.counts(task or None, batch)),
        "tasks": {key: _title(context.tasks, key) for key in facets.get("task", ())},
        "batches": list(facets.get("batch", ())),
        "at": context.store.database.now().isoformat(),
    }


def progress_json(progress: Progress) -> dict[str, Any]:
    """Return ``Progress`` as JSON. An undefined fraction is null; the page says why."""
    return {
        "by_task": {task: dict(states) for task, states in progress.by_task.items()},
        "by_person": {person: dict(rounds) for person, rounds in progress.by_person.items()},
        "time_meaning": tr(TIME_DEFINITION),
        "versions_by": dict(progress.versions_by),
        "time_by_person": {
            person: {name: asdict(spent) for name, spent in rounds.items()}
            for person, rounds in progress.time_by_person.items()
        },
        "assigned": {person: dict(states) for person, states in progress.assigned.items()},
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
    return {**asdict(yielded), "fraction": yielded.fraction}


def _title(tasks: Mapping[str, Any], key: str) -> str:
    # The task file may be gone while its items are still here.
    return tasks[key].title if key in tasks else key


GOLD = deferred(
    "An item counts as gold when it came with a known label and is decided by now. A reviewer's "
    "first verdict on it, committed before they saw the answer (“my verdict first”), is compared with the "
    "label; “cannot tell” is counted separately."
)
JUDGED: tuple[Round, ...] = ("audit", "vote")
"""The rounds in which several people decide on the same version without seeing each other's decisions."""

_NOBODY = deferred("no version was decided by two people in a finished round")
_CANNOT_TELL = "cannot tell"
_ENOUGH = 10_000_000  # resampled items in all; with more, the interval no longer changes
_FEWEST_RESAMPLES = 200


_MOST_CONFLICTS = 50


class AgreementCache:
    """The figures of each task and batch, until the next decision; calculated by one thread at a time. ``localized``
    translates their texts."""

    def __init__(self) -> None:
        self._figures: dict[tuple[str | None, str | None], tuple[tuple[int | None, ...], dict[str, Any]]] = {}
        self._lock = Lock()

    def figures(self, store: Store, tasks: Mapping[str, Task], task: str | None, batch: str | None) -> dict[str, Any]:
        with self._lock:
            now = store.statistics.last_facts()
            cached = self._figures.get((task, batch))
            if cached is None or cached[0] != now:
                cached = self._figures[task, batch] = (now, _figures(store, tasks, task, batch))
            return cached[1]


@router.get("/progress/agreement")
def agreement(
    request: Request, person: PersonDep, context: ContextDep, task: str = "", batch: str | None = None
) -> dict[str, Any]:
    """How well people agree, and the items on which they do not."""
    cache: AgreementCache = request.app.state.agreement
    figures = cache.figures(context.store, context.tasks, task or None, batch)
    hidden = context.store.blind.scoring.hidden_items(person.initials)
    total, items = context.store.statistics.disagreements(task or None, batch, hidden=hidden)
    return {
        **localized(figures),
        "disagreements": {"total": total, "items": [_apart_json(one, context.tasks) for one in items]},
        "conflicts": _conflicts(context.store, context.tasks, task or None, batch, hidden),
    }


def _conflicts(
    store: Store, tasks: Mapping[str, Task], task: str | None, batch: str | None, hidden: Collection[int]
) -> dict[str, Any]:
    """Return how many items people inspected with different results, and the latest of them."""
    compared, more = store.statistics.compared_inspections(task, batch)
    apart = [one for one in store.inspections.of_items(compared - frozenset(hidden)) if one.merged.conflict]
    return {
        "total": len(apart),
        "of_last": COMPARED if more else None,
        "items": [
            {
                "id": one.item_id,
                "name": one.name,
                "title": _title(tasks, one.task),
                "conflict": list(one.merged.conflict),
                "found": [
                    {"person": i.person, "z": i.z, "quality": i.quality, "type": i.spectype} for i in one.inspections
                ],
            }
            for one in apart[: -_MOST_CONFLICTS - 1 : -1]
        ],
    }


def _figures(store: Store, tasks: Mapping[str, Task], task: str | None, batch: str | None) -> dict[str, Any]:
    gold = store.statistics.gold_verdicts(task, batch)
    return {
        "rounds": _rounds(store.statistics.shared_decisions(task, batch), tasks),
        "rounds_of_last": COMPARED if (store.statistics.last_facts()[0] or 0) > COMPARED else None,
        "gold": _gold(gold),
        "gold_items": len({one.item for one in gold}),
        "gold_meaning": GOLD,
    }


def _rounds(decisions: Sequence[SharedDecision], tasks: Mapping[str, Task]) -> list[dict[str, Any]]:
    """Return the agreement per round and task, and over all tasks if there are several."""
    found = []
    for judged in JUDGED:
        of_round = [one for one in decisions if one.round == judged]
        keys = list(dict.fromkeys(one.task for one in of_round))
        for key in [None, *keys] if len(keys) != 1 else keys:
            own = [one for one in of_round if key in (None, one.task)]
            alike = round_agreement(
                [one.version for one in own],
                [one.person for one in own],
                [one.verb for one in own],
                _resampling(len({one.version for one in own})),
            )
            title = deferred("all tasks") if key is None else _title(tasks, key)
            estimates = {"raw": _json(alike.raw, own), "alpha": _json(alike.alpha, own)}
            found.append({"round": judged, "task": key, "title": title, **estimates})
    return found


def _json(one: Estimate, decisions: Sequence[SharedDecision]) -> dict[str, Any]:
    return (one if decisions else replace(one, reason=_NOBODY)).to_json()


def _gold(verdicts: Sequence[GoldVerdict]) -> list[dict[str, Any]]:
    """Return one row per reviewer, by initials."""
    found = []
    for person in dict.fromkeys(one.person for one in verdicts):
        own = [one for one in verdicts if one.person == person]
        decided = [one for one in own if one.verdict != _CANNOT_TELL]
        right = gold_agreement(
            [one.item for one in decided],
            [one.verdict for one in decided],
            [one.label for one in decided],
            _resampling(len(decided)),
        )
        found.append({"person": person, "right": right.to_json(), "cannot_tell": len(own) - len(decided)})
    return found


def _apart_json(one: Disagreement, tasks: Mapping[str, Task]) -> dict[str, Any]:
    decisions = {judged: dict(verbs) for judged, verbs in one.decisions.items()}
    return {
        "id": one.item,
        "name": one.name,
        "title": _title(tasks, one.task),
        "state": one.state,
        "said": decisions,
    }


def _resampling(items: int) -> Resampling:
    resamples = min(DEFAULT.resamples, max(_FEWEST_RESAMPLES, _ENOUGH // max(1, items)))
    return Resampling(resamples=resamples)
