"""Writes items as tasks for Label Studio, from whose annotations the items are found again."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.tasks import Task
from agent.trajectory import Answer, Think, Trajectory, Zoom
from reviewer.exchange.annotations.values import ITEM_FIELD, KEY_FIELD
from reviewer.rules.workflow import round_of
from reviewer.store import Item, QueueFilter, Store

FORMS = ("label-studio",)
"""Values of ``spec-o3 annotations tasks --for``."""
_PAGE = 200


@dataclass(frozen=True)
class TasksWritten:
    """How many items were written.

    :param blind: left out: items of blind sessions that are not closed
    :param verdict_first: left out: open items of batches in which everyone gives a verdict before they see the answer
    """

    written: int
    blind: int
    verdict_first: int


def write_tasks(
    store: Store,
    path: Path,
    chosen: QueueFilter,
    *,
    tasks: Mapping[str, Task],
    verdict_first: Collection[str] = (),
    address: str = "",
) -> TasksWritten:
    """Write the items of a filter as one JSON list; an existing file is not replaced.

    A task has the text of the trace, but neither the known label nor who drafted it.

    :param tasks: the questions, by key
    :param verdict_first: batches whose open items are left out
    :param address: of the app, e.g. "http://127.0.0.1:7860/", for a link to each item
    :raises FileExistsError: there is such a file
    :raises OSError: nothing can be written there
    """
    people = [person.initials for person in store.accounts.people()]
    blind = frozenset[int]().union(*(store.blind.scoring.hidden_items(initials) for initials in people))
    numbers = {"written": 0, "blind": 0, "verdict_first": 0}
    with path.open("x", encoding="utf-8") as out:
        try:
            for item in _items(store, chosen):
                if item.id in blind:
                    numbers["blind"] += 1
                elif item.row.batch in verdict_first and round_of(item.row.state) is not None:
                    numbers["verdict_first"] += 1
                else:
                    row = {"data": _data(item, tasks.get(item.row.task), address)}
                    out.write(",\n" if numbers["written"] else "[\n")
                    out.write(json.dumps(row, ensure_ascii=False))
                    numbers["written"] += 1
            out.write("\n]\n" if numbers["written"] else "[]\n")
        except BaseException:
            with suppress(OSError):
                os.unlink(path)
            raise
    return TasksWritten(**numbers)


def _items(store: Store, chosen: QueueFilter) -> Iterator[Item]:
    after = None
    while rows := store.queue.page(chosen, "", after, _PAGE).rows:
        yield from (store.items.get(row.item_id) for row in rows)
        after = rows[-1].item_id


def _data(item: Item, task: Task | None, address: str) -> dict[str, Any]:
    trajectory = item.version.trajectory
    link = {"link": f"{address.rstrip('/')}/#item={item.id}"} if address else {}
    return {
        ITEM_FIELD: item.id,
        KEY_FIELD: item.key,
        "name": item.row.name,
        "task": item.row.task,
        "question": task.question if task else trajectory.prompt,
        "version": item.version.number,
        "trace": trace_in_words(trajectory),
        **link,
    }


def trace_in_words(trajectory: Trajectory) -> str:
    """Return the steps of a trace as numbered paragraphs."""
    return "\n\n".join(f"{number}. {_step(step)}" for number, step in enumerate(trajectory.steps, start=1))


def _step(step: Think | Zoom | Answer) -> str:
    if isinstance(step, Think):
        return f"Think: {step.text}"
    if isinstance(step, Answer):
        return f"Answer: {step.verdict or 'no verdict'}. {step.explanation}"
    if step.measures:
        return f"Measurement: {step.label}. {step.observation}"
    if step.shows_sky:
        return f"Catalogues: {step.label}. {step.observation}" if step.label else f"Catalogues: {step.observation}"
    window, label = step.arguments.get("wavelength_range"), step.arguments.get("label")
    shown = " – ".join(map(str, window)) + " Å" if isinstance(window, list | tuple) else "the full spectrum"
    return f"Zoom: {shown}, {step.frame}" + (f", “{label}”" if label else "")
