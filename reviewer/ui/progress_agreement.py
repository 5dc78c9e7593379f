"""How alike people decide, where they differ, how near they are to known labels: in the Progress tab, fetched
after its charts are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from fastapi import APIRouter

from agent.tasks import Task
from reviewer.agreement.bootstrap import DEFAULT, Resampling
from reviewer.agreement.rounds import gold_agreement, round_agreement
from reviewer.agreement.values import Estimate
from reviewer.store import Store
from reviewer.store.alike import Apart, DecidedTogether, OnGold
from reviewer.ui.desk import At, Who
from reviewer.workflow import Round

GOLD = (
    "An item counts as gold when it came with a known label and is approved or rejected by now. A reviewer's "
    "first verdict on it, committed before they saw the answer (“my verdict first”), is compared with the "
    "label; “cannot tell” is counted apart."
)
JUDGED: tuple[Round, ...] = ("audit", "vote")
"""The rounds in which several people decide on the same version without seeing each other's decisions."""

_NOBODY = "no text was decided on by two people in a round that is over"
_CANNOT_TELL = "cannot tell"
_ENOUGH = 10_000_000  # resampled items in all; with so many the ends of an interval no longer move
_FEWEST_DRAWS = 200


def router(store: Store) -> APIRouter:
    """``GET /api/progress/agreement?task=&batch=``, for anybody who is signed in. What was calculated is kept
    until somebody decides something."""
    routes = APIRouter(prefix="/api")
    kept: dict[tuple[str | None, str | None], tuple[tuple[int | None, ...], dict[str, Any]]] = {}
    one_at_a_time = Lock()

    @routes.get("/progress/agreement")
    def agreement(person: Who, at: At, task: str = "", batch: str | None = None) -> dict[str, Any]:
        chosen = (task or None, batch)
        with one_at_a_time:
            now = store.facts_so_far()
            if kept.get(chosen, (None, None))[0] != now:
                kept[chosen] = (now, _figures(store, at.tasks, *chosen))
        hidden = store.hidden_items(person.initials)
        total, items = store.apart(*chosen, hidden=hidden)
        return {
            **kept[chosen][1],
            "disagreements": {"total": total, "items": [_apart_json(one, at.tasks) for one in items]},
        }

    return routes


def _figures(store: Store, tasks: Mapping[str, Task], task: str | None, batch: str | None) -> dict[str, Any]:
    gold = store.on_gold(task, batch)
    return {
        "rounds": _rounds(store.decided_together(task, batch), tasks),
        "gold": _gold(gold),
        "gold_items": len({one.item for one in gold}),
        "gold_meaning": GOLD,
    }


def _rounds(decisions: Sequence[DecidedTogether], tasks: Mapping[str, Task]) -> list[dict[str, Any]]:
    """Of each round every task, and all tasks together where there are several."""
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
            title = "all tasks" if key is None else _title(tasks, key)
            estimates = {"raw": _json(alike.raw, own), "alpha": _json(alike.alpha, own)}
            found.append({"round": judged, "task": key, "title": title, **estimates})
    return found


def _json(one: Estimate, decisions: Sequence[DecidedTogether]) -> dict[str, Any]:
    return (one if decisions else replace(one, reason=_NOBODY)).to_json()


def _gold(verdicts: Sequence[OnGold]) -> list[dict[str, Any]]:
    """One row a reviewer, by initials."""
    found = []
    for person in dict.fromkeys(one.person for one in verdicts):
        own = [one for one in verdicts if one.person == person]
        told = [one for one in own if one.verdict != _CANNOT_TELL]
        right = gold_agreement(
            [one.item for one in told],
            [one.verdict for one in told],
            [one.label for one in told],
            _resampling(len(told)),
        )
        found.append({"person": person, "right": right.to_json(), "cannot_tell": len(own) - len(told)})
    return found


def _apart_json(one: Apart, tasks: Mapping[str, Task]) -> dict[str, Any]:
    said = {judged: dict(verbs) for judged, verbs in one.said.items()}
    return {
        "id": one.item,
        "name": one.name,
        "title": _title(tasks, one.task),
        "state": one.state,
        "said": said,
    }


def _resampling(items: int) -> Resampling:
    draws = min(DEFAULT.draws, max(_FEWEST_DRAWS, _ENOUGH // max(1, items)))
    return Resampling(draws=draws)


def _title(tasks: Mapping[str, Task], key: str) -> str:
    return tasks[key].title if key in tasks else key
