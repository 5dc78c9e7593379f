"""Taking items back that came in by mistake: a batch or a part of one, while nobody has worked on them.

Nothing is deleted: every item gets the decision "withdraw", which a later "restore" ends. A withdrawn item is in no
queue and in no figure, and it can be found by its state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from agent.language import deferred
from reviewer.rules.workflow import State, Verb
from reviewer.store.accounts import find_person, require_coordinator
from reviewer.store.history import History
from reviewer.store.sqlite.database import Database, Transaction, stamp
from reviewer.store.values import LARGEST_ID

_CHOSEN = """
SELECT item FROM standings
WHERE (:batch IS NULL OR batch = :batch) AND item BETWEEN :first AND :last AND (state = 'withdrawn') = :withdrawn
"""

# What people did with items, by the name that a message gives it. An item's own first version has no author.
_WORK: Mapping[str, str] = {
    deferred("a new version"): "SELECT item FROM versions WHERE author IS NOT NULL",
    deferred("a decision"): """
        SELECT d.item FROM decisions d LEFT JOIN decisions w ON w.id = d.withdraws
        WHERE d.verb NOT IN ('withdraw', 'restore') AND w.verb IS NOT 'withdraw'
    """,
    deferred("a mark"): "SELECT item FROM marks",
    deferred("a verdict"): "SELECT item FROM verdicts",
    deferred("an inspection"): "SELECT item FROM inspections",
    deferred("unsent text"): "SELECT item FROM autosaves",
    deferred("open now"): "SELECT item FROM leases WHERE ended IS NULL AND expires_at > :now AND person IS NOT :by",
    deferred("in a blind session"): """
        SELECT v.item FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right)
    """,
}
_WORKED_ON = " UNION ALL ".join(
    f"SELECT item, '{what}' AS what FROM ({items}) WHERE item IN (SELECT item FROM chosen)"
    for what, items in _WORK.items()
)

_BATCHES = """
SELECT b.*, i.added_at FROM (
    SELECT s.batch, count(*) AS items, sum(s.state = 'withdrawn') AS withdrawn, min(s.item) AS first,
        max(s.item) AS last
    FROM standings s GROUP BY s.batch
) b JOIN items i ON i.id = b.last ORDER BY b.last DESC
"""
_STATES = "SELECT batch, state, sum(items) FROM tallies WHERE items > 0 GROUP BY 1, 2"
_JUDGED = """
SELECT batch, sum(disagreement * items), sum(compared * items) FROM standing_figures WHERE items > 0 GROUP BY 1
"""

_DECIDE = """
INSERT INTO decisions (key, item, version, person, round, verb, reason, comment, withdraws, rules, at)
SELECT :key || item, item, version, :person, 'screening', :verb, '', '', NULL, :rules, :at
FROM standings WHERE item = :item
"""


@dataclass(frozen=True)
class Batch:
    """A batch by its name: number of items, how many of them are withdrawn, its lowest and highest item number.

    :param added_at: when its last item was added
    :param states: number of items by state
    :param disagreed: items on whose current version two people decided differently, of ``compared``
    """

    name: str
    items: int
    withdrawn: int
    first: int
    last: int
    added_at: datetime
    states: Mapping[State, int]
    disagreed: int
    compared: int


@dataclass(frozen=True)
class Selection:
    """Items to withdraw or to restore: of one batch (None: of all), from ``first`` to ``last``."""

    batch: str | None = None
    first: int = 1
    last: int = LARGEST_ID


@dataclass(frozen=True)
class Untouched:
    """The items of a selection that can be withdrawn, and those that people have worked on, with what was done.

    :param withdrawn: the items of the selection that are withdrawn, and can be restored
    """

    items: tuple[int, ...]
    worked_on: Mapping[int, str]
    withdrawn: tuple[int, ...]


class Withdrawals:
    """Withdraws items and restores them."""

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history

    def batches(self) -> list[Batch]:
        """Return every batch that has items, the one with the newest item first."""
        with self._database.read() as db:
            states: dict[str, dict[State, int]] = {}
            for batch, state, items in db.execute(_STATES):
                states.setdefault(batch, {})[state] = items
            judged = {batch: (disagreed, compared) for batch, disagreed, compared in db.execute(_JUDGED)}
            batches = []
            for name, items, withdrawn, first, last, at in db.execute(_BATCHES):
                added_at, (disagreed, compared) = datetime.fromisoformat(at), judged.get(name, (0, 0))
                by_state = states.get(name, {})
                batches.append(Batch(name, items, withdrawn, first, last, added_at, by_state, disagreed, compared))
            return batches

    def preview(self, selection: Selection, by: str | None = None) -> Untouched:
        """Return what withdrawing and restoring the selection would do.

        :param by: the person who would do it: an item that only they have open can be withdrawn
        """
        with self._database.read() as db:
            return self._preview(db, selection, by)

    def withdraw(self, by: str, selection: Selection) -> Untouched:
        """Withdraw the items of a selection that nobody has worked on, in one transaction; the others stay.

        :param by: initials of a coordinator
        :return: what was done: ``items`` were withdrawn now
        :raises NotAllowed: ``by`` is no coordinator
        """
        with self._database.write() as db:
            self._require(db, by)
            untouched = self._preview(db, selection, by)
            self._decide(db, by, "withdraw", untouched.items, selection)
            return untouched

    def restore(self, by: str, selection: Selection) -> tuple[int, ...]:
        """Restore the withdrawn items of a selection, and return them.

        :raises NotAllowed: ``by`` is no coordinator
        """
        with self._database.write() as db:
            self._require(db, by)
            items = self._preview(db, selection, by).withdrawn
            self._decide(db, by, "restore", items, selection)
            return items

    def _require(self, db: Transaction, by: str) -> None:
        require_coordinator(db, find_person(db, by).initials)

    def _preview(self, db: Transaction, selection: Selection, by: str | None) -> Untouched:
        values = {
            "batch": selection.batch,
            "first": selection.first,
            "last": selection.last,
            "now": stamp(self._database.steady()),
            "by": by,
        }

        def items(withdrawn: bool) -> list[int]:
            rows = db.execute(f"{_CHOSEN} ORDER BY item", {**values, "withdrawn": withdrawn})
            return [item for (item,) in rows]

        affected = db.execute(f"WITH chosen AS ({_CHOSEN}) {_WORKED_ON}", {**values, "withdrawn": False})
        worked_on: dict[int, str] = {}
        for item, what in affected:
            worked_on.setdefault(item, what)
        free = tuple(item for item in items(withdrawn=False) if item not in worked_on)
        return Untouched(free, dict(sorted(worked_on.items())), tuple(items(withdrawn=True)))

    def _decide(self, db: Transaction, by: str, verb: Verb, items: Sequence[int], selection: Selection) -> None:
        if not items:
            return
        (before,) = db.execute("SELECT coalesce(max(id), 0) FROM decisions").fetchone()
        shared = {
            "key": f"{verb}:{uuid4().hex}:",
            "person": by,
            "verb": verb,
            "rules": self._history.current_rules(db)[0],
            "at": stamp(self._database.now()),
        }
        db.conn.executemany(_DECIDE, [{**shared, "item": item} for item in items])
        (last,) = db.execute("SELECT max(id) FROM decisions").fetchone()
        subject = f"item {items[0]}" if len(items) == 1 else f"items {items[0]} to {items[-1]}"
        details = {"count": len(items)} | ({} if selection.batch is None else {"batch": selection.batch})
        what = {"withdraw": "items withdrawn", "restore": "items restored"}[verb]
        self._database.log(db, by, what, subject, details, {"decisions": (before + 1, last)})
        for item in items:
            self._history.refresh(db, item)
