"""The lists from which the ordered queue chooses, cached: items with P(YES) on which a person may act.

A person waits for the next item, and reading a long list takes longer than choosing from it. So a list is read once,
and later only the items that the audit log names since then are read again.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agent.statistics import FloatArray
from agent.text import whole_number
from reviewer.rules.people import Person
from reviewer.rules.workflow import Rules
from reviewer.store.sqlite.database import Transaction
from reviewer.store.team.search import Search
from reviewer.store.values import QueueFilter

Items = NDArray[np.int64]

# Entries after which every list is as before.
_WITHOUT_EFFECT = (
    *("shown", "marked", "inspected", "verdict committed", "exported", "setting set", "backup made", "clock set back"),
    *("signed in", "signed out", "sign-in refused", "password set", "name changed"),
    *("scored blind", "preferred blind", "judged blind"),
    "items added",  # they have no P(YES) yet
)
_TRIALS = "trials recorded"  # without effect unless the filter names an outcome
_CHANGES = """
SELECT DISTINCT subject FROM log WHERE number > ? AND what NOT IN (SELECT value FROM json_each(?)) LIMIT ?
"""
_LARGEST_CHANGE = 500
_LISTS = 32


@dataclass(frozen=True)
class WaitingList:
    """Items and their P(YES), both (n,), as of one entry of the log."""

    items: Items
    p: FloatArray
    head: int

    def without(self, items: Iterable[int]) -> WaitingList:
        """Return the list without these items."""
        gone = np.fromiter(items, dtype=np.int64)
        if not gone.size:
            return self
        kept = ~np.isin(self.items, gone)
        return replace(self, items=self.items[kept], p=self.p[kept])


class WaitingLists:
    """Waiting lists by person and filter; safe to use from several threads."""

    def __init__(self) -> None:
        self._lists: OrderedDict[tuple[str, QueueFilter, Rules], WaitingList] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, db: Transaction, filter: QueueFilter, person: Person, rules: Rules, now: str) -> WaitingList:
        """Return the items of the filter with P(YES) on which the person may act now, without those others hold.

        Items that no certificate can cover are not in it.

        :param now: the stored form of the present time
        """
        search = Search(db, replace(filter, mine=True), person, rules, now)
        (head,) = db.execute("SELECT coalesce(max(number), 0) FROM log").fetchone()
        key = (person.initials, filter, rules)
        with self._lock:
            known = self._lists.get(key)
        without_effect = _WITHOUT_EFFECT if filter.trial is not None else (*_WITHOUT_EFFECT, _TRIALS)
        waiting = None
        # A change elsewhere, e.g. of a list, can change whether an item matches.
        elsewhere = filter.text or filter.words or filter.assigned or filter.listed or filter.discussed
        if known is not None and not elsewhere:
            waiting = _updated(db, known, search.scored, head, without_effect)
        if waiting is None:
            waiting = _listed(search.scored(), head)
        with self._lock:
            self._lists[key] = waiting
            self._lists.move_to_end(key)
            while len(self._lists) > _LISTS:
                self._lists.popitem(last=False)
        return waiting.without(search.held())


def _updated(
    db: Transaction,
    known: WaitingList,
    read: Callable[[list[int]], list[tuple[int, float]]],
    head: int,
    without_effect: Sequence[str],
) -> WaitingList | None:
    """Return the list as of ``head``; None if too much has changed since.

    :param without_effect: entries of the log after which the list is as before
    """
    if known.head == head:
        return known
    subjects = [row[0] for row in db.execute(_CHANGES, (known.head, json.dumps(without_effect), _LARGEST_CHANGE))]
    named = [whole_number(subject.removeprefix("item ")) for subject in subjects if subject.startswith("item ")]
    changed = [item for item in named if item is not None]
    if len(changed) < len(subjects) or len(subjects) == _LARGEST_CHANGE:
        return None
    if not changed:
        return replace(known, head=head)
    rest, more = known.without(changed), _listed(read(changed), head)
    return WaitingList(np.concatenate((rest.items, more.items)), np.concatenate((rest.p, more.p)), head)


def _listed(rows: list[tuple[int, float]], head: int) -> WaitingList:
    items = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
    return WaitingList(items, np.fromiter((row[1] for row in rows), dtype=float, count=len(rows)), head)
