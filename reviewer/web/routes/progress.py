"""Routes of the Progress tab's charts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from threading import Lock
from typing import Any

from fastapi import APIRouter, Request

from agent.language import deferred
from agent.statistics import DEFAULT, Resampling
from agent.tasks import Task
from reviewer.agreement.reliability import gold_agreement, round_agreement
from reviewer.agreement.values import Estimate
from reviewer.rules.workflow import Round, Rules, State
from reviewer.store import TIME_DEFINITION, Store
from reviewer.store.statistics import COMPARED, Disagreement, GoldVerdict, SharedDecision
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models import progress as answers

router = APIRouter(prefix="/api/v1")


@router.get("/progress")
def progress(
    person: PersonDep, context: ContextDep, task: str = "", batch: str | None = None
) -> answers.ProgressFigures:
    """The numbers of the Progress tab, of a task and batch or of all."""
    facets, counts = context.store.queue.facets(), context.store.statistics.counts(task or None, batch)
    now, me = context.store.database.now(), person.initials
    states = sum((Counter(states) for states in counts.by_task.values()), Counter[State]())
    decisions = {day: sum(rounds.values()) for day, rounds in counts.per_day.items()}
    return answers.ProgressFigures(
        mine=answers.OwnWork(
            today=counts.days_of.get(me, {}).get(now.date().isoformat(), 0),
            rounds=counts.by_person.get(me, {}),
            waiting=context.store.queue.waiting(me, task or None, batch),
        ),
        pace=pace_of(states, decisions, now.date(), context.store.settings.rules()),
        by_task=counts.by_task,
        by_person=counts.by_person,
        time_meaning=TIME_DEFINITION,
        versions_by=counts.versions_by,
        time_by_person={
            initials: {name: answers.TimeSpent.model_validate(spent) for name, spent in rounds.items()}
            for initials, rounds in counts.time_by_person.items()
        },
        assigned=counts.assigned,
        disagreement=answers.DisagreementShare(
            disagreed=counts.disagreed,
            compared=counts.compared,
            fraction=counts.disagreed / counts.compared if counts.compared else None,
        ),
        yielded=answers.DecidedItems.model_validate(counts.yielded),
        per_day=counts.per_day,
        decided_per_day={
            day: answers.DecidedItems.model_validate(decided) for day, decided in counts.decided_per_day.items()
        },
        tasks={key: _title(context.tasks, key) for key in facets.get("task", ())},
        batches=tuple(facets.get("batch", ())),
        at=now,
    )


def pace_of(states: Mapping[State, int], decisions: Mapping[str, int], today: date, rules: Rules) -> answers.Pace:
    """Return when a campaign with these items by state and decisions by UTC date will be done."""
    rounds: tuple[State, ...] = ("vote", "audit", "revision", "screening")
    needed: dict[State, int] = {"adjudication": 1}
    for at, state in enumerate(rounds):
        needed[state] = sum(rules.people_needed(later) for later in rounds[: at + 1])
    needed["returned"] = needed["revision"]
    missing = sum(number * needed.get(state, 0) for state, number in states.items())
    last = [decisions.get((today - timedelta(days=back)).isoformat(), 0) for back in range(_PACE_DAYS)]
    worked = [back for back, number in enumerate(last) if number]
    over = worked[-1] + 1 if worked else 0  # a younger campaign has fewer days
    if len(worked) < 2 or sum(last) < _FEWEST_DECISIONS:
        return answers.Pace(missing=missing, per_day=None, days=None, over=over)
    days = math.ceil(missing * over / sum(last))
    return answers.Pace(missing=missing, per_day=sum(last) / over, days=days, over=over)


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

_PACE_DAYS, _FEWEST_DECISIONS = 7, 10  # decisions of fewer than two days, or fewer than these, are no pace
_NOBODY = deferred("no version was decided by two people in a finished round")
_CANNOT_TELL = "cannot tell"
_ENOUGH = 10_000_000  # resampled items in all; with more, the interval no longer changes
_FEWEST_RESAMPLES = 200


_MOST_CONFLICTS = 50


class AgreementCache:
    """The figures of each task and batch, until the next decision; calculated by one thread at a time."""

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
) -> answers.Agreement:
    """How well people agree, and the items on which they do not."""
    cache: AgreementCache = request.app.state.agreement
    figures = cache.figures(context.store, context.tasks, task or None, batch)
    hidden = context.store.blind.scoring.hidden_items(person.initials)
    total, items = context.store.statistics.disagreements(task or None, batch, hidden=hidden)
    return answers.Agreement.model_validate(
        {
            **figures,
            "disagreements": {"total": total, "items": [_apart(item, context.tasks) for item in items]},
            "conflicts": _conflicts(context.store, context.tasks, task or None, batch, hidden),
        }
    )


def _conflicts(
    store: Store, tasks: Mapping[str, Task], task: str | None, batch: str | None, hidden: Collection[int]
) -> answers.InspectionConflicts:
    """Return how many items people inspected with different results, and the latest of them."""
    compared, more = store.statistics.compared_inspections(task, batch)
    apart = [item for item in store.inspections.of_items(compared - frozenset(hidden)) if item.merged.conflict]
    return answers.InspectionConflicts(
        total=len(apart),
        of_last=COMPARED if more else None,
        items=[
            answers.InspectionConflict(
                id=item.item_id,
                name=item.name,
                title=_title(tasks, item.task),
                conflict=item.merged.conflict,
                inspections=[answers.InspectionResult.model_validate(inspection) for inspection in item.inspections],
            )
            for item in apart[: -_MOST_CONFLICTS - 1 : -1]
        ],
    )


def _figures(store: Store, tasks: Mapping[str, Task], task: str | None, batch: str | None) -> dict[str, Any]:
    gold = store.statistics.gold_verdicts(task, batch)
    return {
        "rounds": _rounds(store.statistics.shared_decisions(task, batch), tasks),
        "rounds_of_last": COMPARED if (store.statistics.last_facts()[0] or 0) > COMPARED else None,
        "gold": _gold(gold),
        "gold_items": len({verdict.item for verdict in gold}),
        "gold_meaning": GOLD,
    }


def _rounds(decisions: Sequence[SharedDecision], tasks: Mapping[str, Task]) -> list[dict[str, Any]]:
    """Return the agreement per round and task, and over all tasks if there are several."""
    rounds = []
    for judged in JUDGED:
        of_round = [decision for decision in decisions if decision.round == judged]
        keys = list(dict.fromkeys(shared.task for shared in of_round))
        for key in [None, *keys] if len(keys) != 1 else keys:
            own = [shared for shared in of_round if key in (None, shared.task)]
            alike = round_agreement(
                [shared.version for shared in own],
                [shared.person for shared in own],
                [shared.verb for shared in own],
                _resampling(len({shared.version for shared in own})),
            )
            title = deferred("all tasks") if key is None else _title(tasks, key)
            estimates = {"raw": _with_reason(alike.raw, own), "alpha": _with_reason(alike.alpha, own)}
            rounds.append({"round": judged, "task": key, "title": title, **estimates})
    return rounds


def _with_reason(estimate: Estimate, decisions: Sequence[SharedDecision]) -> Estimate:
    return estimate if decisions else replace(estimate, reason=_NOBODY)


def _gold(verdicts: Sequence[GoldVerdict]) -> list[dict[str, Any]]:
    """Return one row per reviewer, by initials."""
    people = []
    for person in dict.fromkeys(verdict.person for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.person == person]
        decided = [given for given in own if given.verdict != _CANNOT_TELL]
        right = gold_agreement(
            [given.item for given in decided],
            [given.verdict for given in decided],
            [given.label for given in decided],
            _resampling(len(decided)),
        )
        people.append({"person": person, "right": right, "cannot_tell": len(own) - len(decided)})
    return people


def _apart(disagreement: Disagreement, tasks: Mapping[str, Task]) -> answers.ApartItem:
    return answers.ApartItem(
        id=disagreement.item,
        name=disagreement.name,
        title=_title(tasks, disagreement.task),
        state=disagreement.state,
        decisions={judged: dict(verbs) for judged, verbs in disagreement.decisions.items()},
    )


def _resampling(items: int) -> Resampling:
    resamples = min(DEFAULT.resamples, max(_FEWEST_RESAMPLES, _ENOUGH // max(1, items)))
    return Resampling(resamples=resamples)
