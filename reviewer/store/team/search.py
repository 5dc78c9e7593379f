"""The search of items by a filter: which match, in order, how many, and the place of one. SQL by hand, for speed."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby, islice

from agent.text import whole_number
from reviewer.rules.people import Person
from reviewer.rules.workflow import ROLES_OF, STATES, Rules, State, round_of
from reviewer.store.sqlite.database import Transaction, flagged, item_flags
from reviewer.store.sqlite.texts import search_expression
from reviewer.store.team.words import (
    ASSIGNED_TO_NOBODY,
    Seen,
    Stream,
    discussed_items,
    item_sets,
    readable_items,
    word_streams,
)
from reviewer.store.values import NOBODY, QueueFilter, TrialOutcome

# Trigrams find nothing shorter.
_SHORTEST_INDEXED = 3

MOST_NAMED = 2000
"""Items with a text of the search that are listed at once; if more have it, they are found as they are needed."""
MOST_COUNTED = 10_000
"""To which the items are counted that have such a text."""
SHORTEST_RANGE = 10_000
"""Item numbers in which words are searched at once, where most traces are hidden."""

# Items on which other people hold as many leases as decisions are missing.
_HELD = """
SELECT l.item FROM leases l JOIN standings h ON h.item = l.item
WHERE l.ended IS NULL AND l.expires_at > :now AND l.person <> :person
GROUP BY l.item
HAVING count(*) >= max(
    1, CASE h.state WHEN 'audit' THEN :auditors WHEN 'vote' THEN :votes ELSE 1 END - h."cast"
)
"""
_NOT_MINE = f"SELECT item FROM barred WHERE person = :person UNION {_HELD}"
_WITHOUT = "SELECT value FROM json_each(:without_items)"

# Written by the person, or submitted without a change.
_OWN = """(
    EXISTS (SELECT 1 FROM versions w WHERE w.author = :person AND w.item = s.item)
    OR EXISTS (SELECT 1 FROM decisions d WHERE d.item = s.item AND d.person = :person AND d.verb = 'submit')
)"""

_CONDITIONS = {
    "task": "s.task = :task",
    "survey": "s.survey = :survey",
    "snr_min": "s.snr >= :snr_min",
    "snr_max": "s.snr <= :snr_max",
    "drafter": "s.drafter = :drafter",
    "batch": "s.batch = :batch",
    "disagreement": "s.disagreement = :disagreement",
    "simulated": "s.simulated = :simulated",
}

_LATEST_TRIAL = "(SELECT t.passed FROM trials t WHERE t.item = s.item ORDER BY t.id DESC LIMIT 1)"
_TRIALS: Mapping[TrialOutcome, str] = {
    "passed": f"{_LATEST_TRIAL} IS 1",
    "failed": f"{_LATEST_TRIAL} IS 0",
    "untested": f"{_LATEST_TRIAL} IS NULL",
}


class Search:
    """One filter, for one person, at one time.

    :param person: needed for ``filter.mine``, ``words`` and ``discussed`` only
    :param now: the stored form of the present time, by which leases have expired or not
    :raises BadSearch: nothing can be searched for with ``filter.words``
    """

    def __init__(self, db: Transaction, filter: QueueFilter, person: Person | None, rules: Rules, now: str) -> None:
        self._db = db
        self._mine = filter.mine
        fields = [name for name in _CONDITIONS if getattr(filter, name) is not None]
        further = [_TRIALS[filter.trial]] if filter.trial is not None else []
        further += [ASSIGNED_TO_NOBODY] if filter.assigned == NOBODY else []
        self._conditions = [*(_CONDITIONS[name] for name in fields), *further]
        if filter.without_batches:
            self._conditions.append("s.batch NOT IN (SELECT value FROM json_each(:without_batches))")
        # The tallies have what the other conditions are about.
        self._tallied = not further and not {"snr_min", "snr_max"}.intersection(fields)
        self._by_snr = not {"snr_min", "snr_max"}.isdisjoint(fields)
        excluded = ([_NOT_MINE] if filter.mine else []) + ([_WITHOUT] if filter.without_items else [])
        self._excluded = f"({' UNION '.join(excluded)})" if excluded else ""
        self._values: dict[str, object] = {
            **{name: getattr(filter, name) for name in (*_CONDITIONS, "assigned", "listed")},
            "without_batches": json.dumps(filter.without_batches),
            "without_items": json.dumps(filter.without_items),
            "now": now,
            "person": person.initials if person else "",
            "auditors": rules.auditors,
            "votes": rules.votes,
            "chosen": None,
        }
        self._states = _states(filter, person)
        # Queries of items, in each of which an item must be. Where rows that match are read one by one from streams,
        # the value ``chosen`` has these items instead.
        self._sets = item_sets(filter)
        self._streams: tuple[Stream, ...] = ()
        self._traces_hidden = filter.verdict_first != ()
        self._counted: list[int] = []  # the first items, where they were counted
        self._named = self._find(filter, person) if self._states else None

    def walk(self, start: int | None, limit: int | None, backwards: bool = False) -> list[int]:
        """Return the first ``limit`` items beyond ``start`` (None: from the beginning), nearest first."""
        if self._named is not None:
            nearest = self._named[::-1] if backwards else self._named
            ahead = (i for i in nearest if start is None or (i < start if backwards else i > start))
            return list(islice(ahead, limit))
        if not self._states:
            return []
        if self._streams:
            known = [] if backwards or limit is None else self._counted
            known = known[0 if start is None else bisect_right(known, start) :][:limit]
            return known if limit == len(known) else self._streamed(start, limit, backwards)
        beyond, order = ("<", "DESC") if backwards else (">", "ASC")
        # Each set is read once, not once per state.
        sets = ", ".join(f"set_{n} (item) AS MATERIALIZED ({query})" for n, query in enumerate(self._sets))
        in_sets = [f"s.item IN (SELECT item FROM set_{n})" for n in range(len(self._sets))]
        conditions = [*self._conditions, *in_sets, *self._not_excluded()]
        conditions += [f"s.item {beyond} :start"] if start is not None else []
        parts = [
            f"SELECT * FROM (SELECT s.item FROM standings s INDEXED BY standings_walk "
            f"WHERE {' AND '.join([_state_in((state,)), *conditions])} ORDER BY s.item {order} LIMIT :limit)"
            for state in self._states
        ]
        sql = f"{f'WITH {sets} ' if sets else ''}{' UNION ALL '.join(parts)} ORDER BY 1 {order} LIMIT :limit"
        values = {**self._values, "start": start, "limit": -1 if limit is None else limit}
        return [row[0] for row in self._db.execute(sql, values)]

    def count(self) -> int:
        """Return the number of matching items; of a text or words that very many have, ``MOST_COUNTED`` at most."""
        if self._named is not None:
            return len(self._named)
        if not self._states:
            return 0
        if self._streams:
            self._counted = self._streamed(None, MOST_COUNTED)
            if len(self._counted) < MOST_COUNTED:
                self._named = self._counted
            return len(self._counted)
        conditions = [_state_in(self._states), *self._conditions, *self._in_sets("s.item")]
        if self._tallied and not self._sets:
            total = self._scalar("coalesce(sum(items), 0) FROM tallies s", conditions)
        else:
            index = "standings_snr" if self._by_snr else "standings_walk"
            total = self._scalar(f"count(*) FROM standings s INDEXED BY {index}", conditions)
        return total - self._excluded_of(conditions)

    def count_by_state(self) -> dict[State, int]:
        """Return the number of matching items in each state; the filter names nothing that the tallies have not."""
        assert self._tallied
        if not self._states:
            return {}
        where = " AND ".join([_state_in(self._states), *self._conditions])
        tallied = f"SELECT s.state, sum(items) FROM tallies s WHERE {where} GROUP BY 1"
        total = Counter[State](dict(self._db.execute(tallied, self._values).fetchall()))
        if self._excluded:
            excluded = (
                f"SELECT s.state, count(*) FROM standings s WHERE {where} AND s.item IN {self._excluded} GROUP BY 1"
            )
            total.subtract(dict(self._db.execute(excluded, self._values).fetchall()))
        return {state: total[state] for state in self._states if total[state] > 0}

    def before(self, item_id: int) -> int:
        """Return how many matching items have a lower number than ``item_id``."""
        if self._named is not None:
            return sum(i < item_id for i in self._named)
        if not self._states:
            return 0
        if self._streams:
            return len(self._streamed(item_id, MOST_COUNTED, backwards=True))
        self._values["before"] = item_id
        conditions = [_state_in(self._states), *self._conditions, *self._in_sets("s.item"), "s.item < :before"]
        total = self._scalar("count(*) FROM standings s INDEXED BY standings_walk", conditions)
        return total - self._excluded_of(conditions)

    def scored(self, items: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """Return the matching items that a certificate can cover, each with its P(YES); also those that others hold.

        :param items: only these; None: all
        """
        if not self._states or self._named == []:
            return []
        named = self._named if items is None else items
        if items is None and self._streams and named is None:
            named = self._streamed(None, None)
        self._values["named"] = None if named is None else json.dumps(list(named))
        some = [] if named is None else ["s.item IN (SELECT value FROM json_each(:named))"]
        mine = ["s.item NOT IN (SELECT item FROM barred WHERE person = :person)"] if self._mine else []
        without = [f"s.item NOT IN ({_WITHOUT})"]
        conditions = [_state_in(self._states), *self._conditions, *self._in_sets("s.item"), *some, *mine, *without]
        sql = (
            "SELECT s.item, c.p_yes FROM standings s JOIN scores c ON c.item = s.item "
            f"WHERE c.reasons = '[]' AND {' AND '.join(conditions)}"
        )
        return self._db.execute(sql, self._values).fetchall()

    def own_returned(self) -> int | None:
        """Return the first matching item that was returned and of which the person wrote or submitted a version."""
        if "returned" not in self._states:
            return None
        self._values["named"] = json.dumps(self._named)
        named = self._in_sets("s.item") if self._named is None else ["s.item IN (SELECT value FROM json_each(:named))"]
        conditions = ["s.state = 'returned'", _OWN, *self._conditions, *named, *self._not_excluded()]
        sql = f"SELECT s.item FROM standings s INDEXED BY standings_walk WHERE {' AND '.join(conditions)} ORDER BY 1"
        own = [item for (item,) in self._db.execute(sql, self._values)]
        if own and self._named is None and self._streams:
            chosen, self._values["chosen"] = self._values["chosen"], item_flags(own)
            own = self._streamed(None, 1)
            self._values["chosen"] = chosen
        return own[0] if own else None

    def held(self) -> list[int]:
        """Return the items on which other people hold as many leases as decisions are missing."""
        return [item for (item,) in self._db.execute(_HELD, self._values)]

    def _not_excluded(self) -> list[str]:
        return [f"s.item NOT IN {self._excluded}"] if self._excluded else []

    def _in_sets(self, item: str) -> list[str]:
        chosen = [] if self._values["chosen"] is None else [flagged("chosen", item)]
        return [*(f"{item} IN ({query})" for query in self._sets), *chosen]

    def _excluded_of(self, conditions: list[str]) -> int:
        """Return the number of excluded items. They are few: subtracting them is cheaper than testing each match."""
        if not self._excluded:
            return 0
        return self._scalar("count(*) FROM standings s", [*conditions, f"s.item IN {self._excluded}"])

    def _scalar(self, what: str, conditions: list[str]) -> int:
        sql = f"SELECT {what} WHERE {' AND '.join(conditions)}"
        return int(self._db.execute(sql, self._values).fetchone()[0])

    def _find(self, filter: QueueFilter, person: Person | None) -> list[int] | None:
        """Return the matching items, in order, if a text or a set of items leaves few, or comments are asked for. None
        if there is none of these, or too many match, or words are searched: then they are found one by one, in order.
        """
        name = self._name_search(filter.text.strip())
        if name is not None:
            self._sets.append(name.query)
        few: set[int] | None = None
        many = []
        for query in self._sets:
            matching = [item for (item,) in self._db.execute(f"{query} LIMIT {MOST_NAMED + 1}", self._values)]
            if len(matching) > MOST_NAMED:
                many.append(query)
            else:
                few = set(matching) if few is None else few.intersection(matching)
        if filter.discussed is not None:
            assert person is not None
            discussed = discussed_items(self._db, filter.discussed, person.initials)
            few = discussed if few is None else few & discussed
        if filter.words.strip():
            assert person is not None
            seen = Seen(person, filter.verdict_first)
            self._values |= seen.values | {"words": search_expression(filter.words)}
            self._streams = word_streams(seen)
            if filter.verdict_first is None:
                # Most texts are hidden. Without these sets, who wrote each of them would be looked up.
                readable = readable_items(self._db, person.initials)
                few = readable if few is None else few & readable
        elif name is not None and name.query in many:
            self._streams = (name,)
            many.remove(name.query)
        if self._streams:
            return self._choose(few, many)
        self._sets = many if few is None else [*many, "SELECT value FROM json_each(:few)"]
        if few is None:
            return None
        self._values["few"] = json.dumps(sorted(few))
        conditions = [_state_in(self._states), *self._conditions, *self._in_sets("s.item"), *self._not_excluded()]
        sql = f"SELECT s.item FROM standings s NOT INDEXED WHERE {' AND '.join(conditions)} ORDER BY 1"
        return [item for (item,) in self._db.execute(sql, self._values)]

    def _choose(self, few: set[int] | None, many: Sequence[str]) -> list[int] | None:
        """Read the items of all sets: streams would read the sets several times.

        :return: [] if no item is in all sets, otherwise None
        """
        for query in many:
            sql = f"WITH found (item) AS ({query}) SELECT json_group_array(item) FROM found"
            matching = json.loads(self._db.execute(sql, self._values).fetchone()[0])
            few = set(matching) if few is None else few.intersection(matching)
        self._sets = []
        self._values["chosen"] = None if few is None else item_flags(few)
        return None if few is None or few else []

    def _name_search(self, text: str) -> Stream | None:
        """Return where a text is searched in names and survey ids; the number of an item is only itself."""
        if not text:
            return None
        if text[0] == "#" and (number := whole_number(text[1:])) is not None:
            self._values["text"] = number
            return Stream("standings", 1, ("t.item = :text",))
        if len(text) >= _SHORTEST_INDEXED:
            # A name may be in another normal form of Unicode than what is typed.
            quoted = text.replace('"', '""')
            forms = dict.fromkeys((quoted, *(unicodedata.normalize(form, quoted) for form in ("NFC", "NFD"))))
            self._values["text"] = " OR ".join(f'"{form}"' for form in forms)
            return Stream("items_text", 1, ("t.items_text MATCH :text",))
        self._values["text"] = text
        return Stream("items", 1, ("instr(lower(t.name), lower(:text)) > 0",))

    def _streamed(self, start: int | None, limit: int | None, backwards: bool = False) -> list[int]:
        """Return the first items beyond ``start`` of the streams, nearest first."""
        items: list[int] = []
        for first, last in self._ranges(start, limit, backwards):
            items += self._within(first, last, None if limit is None else limit - len(items), backwards)
            if len(items) == limit:
                break
        return items

    def _ranges(self, start: int | None, limit: int | None, backwards: bool) -> Iterator[tuple[int, int]]:
        """Yield the first and last number of ranges of items beyond ``start``, nearest first: one with all items, or
        growing ones where most traces are hidden. A stream is read through a range before the next stream is, so the
        traces are not looked at far beyond the place at which the remarks reach ``limit``.
        """
        newest = self._db.execute("SELECT coalesce(max(item), 0) FROM standings").fetchone()[0]
        length = max(SHORTEST_RANGE, 2 * limit) if self._traces_hidden and limit is not None else newest
        first = 1 if start is None or backwards else max(1, start + 1)
        last = newest if start is None or not backwards else min(newest, start - 1)
        while first <= last:
            if backwards:
                yield max(first, last - length + 1), last
                last -= length
            else:
                yield first, min(first + length - 1, last)
                first += length
            length *= 2

    def _within(self, first: int, last: int, limit: int | None, backwards: bool) -> list[int]:
        """Return the first items of the streams within a range."""
        items: list[int] = []
        for stream in self._streams:
            if items and len(items) == limit:
                # Only what is nearer matters now.
                first, last = (items[-1] + 1, last) if backwards else (first, items[-1] - 1)
            with closing(self._rows_of(stream, first, last, backwards, without=items)) as rows:
                further = islice((item for item, _ in groupby(item for (item,) in rows)), limit)
                items = sorted((*items, *further), reverse=backwards)[:limit]
        return items

    def _rows_of(
        self, stream: Stream, first: int, last: int, backwards: bool, without: Sequence[int]
    ) -> sqlite3.Cursor:
        """Return the item of each row of a stream that matches, within a range, without some items."""
        edges = {"low": first * stream.rows_per_item, "high": (last + 1) * stream.rows_per_item}
        values = {**self._values, **edges, "found": item_flags(without)}
        conditions = [*stream.conditions, "t.rowid >= :low", "t.rowid < :high", *self._in_sets(stream.item)]
        conditions += [f"NOT {flagged('found', stream.item)}"] if without else []
        conditions += [f"s.item = {stream.item}", _state_in(self._states), *self._conditions, *self._not_excluded()]
        sql = f"SELECT s.item FROM {stream.table} t CROSS JOIN standings s WHERE {' AND '.join(conditions)}"
        return self._db.execute(f"{sql} ORDER BY t.rowid {'DESC' if backwards else 'ASC'}", values)


def _states(filter: QueueFilter, person: Person | None) -> tuple[State, ...]:
    shown = filter.states or tuple(state for state in STATES if state != "withdrawn")
    states = tuple(state for state in STATES if state in shown)
    if not filter.mine:
        return states
    if person is None or not person.active:
        return ()
    return tuple(state for state in states if (r := round_of(state)) and person.is_any(*ROLES_OF[r]))


def _state_in(states: tuple[State, ...]) -> str:
    # From a fixed set of words, so they can be part of the SQL text.
    return f"s.state IN ({', '.join(repr(state) for state in states)})"
