"""The current text and state of each item, for programs that read all of them piece by piece."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agent.trajectory import Trajectory
from reviewer.rules.workflow import STATES, State, round_of
from reviewer.store.history import version_from
from reviewer.store.sqlite.database import Database


@dataclass(frozen=True)
class CurrentTrace:
    """An item that is not withdrawn, the id of its current version, and the SHA-256 of its spectrum."""

    item: int
    version: int
    spectrum: str | None


class Traces:
    """Current versions, their trajectories by the id of the version, and states."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(self, after: int = 0, limit: int = 2000) -> list[CurrentTrace]:
        """Return the first ``limit`` items whose number is above ``after``, in order."""
        sql = """
            SELECT s.item, s.version, i.spectrum FROM standings s JOIN items i ON i.id = s.item
            WHERE s.item > ? AND s.state <> 'withdrawn' ORDER BY s.item LIMIT ?
        """
        with self._database.read() as db:
            return [CurrentTrace(*row) for row in db.execute(sql, (after, limit))]

    def of_versions(self, versions: Sequence[int]) -> dict[int, Trajectory]:
        """Return the trajectories of these versions by their id; of those that exist."""
        marks = ", ".join("?" * len(versions))
        with self._database.read() as db:
            rows = db.execute(f"SELECT * FROM versions WHERE id IN ({marks})", tuple(versions)).fetchall()
            return {row["id"]: version_from(row).trajectory for row in rows}

    def unjudged(self, person: str, batches: Collection[str] | None = None) -> frozenset[int]:
        """Return the open items on which a person has given no verdict and of which they wrote no version.

        :param batches: only items of these; None: of all
        """
        states = ", ".join(repr(state) for state in STATES if round_of(state) is not None)
        of_batches = "" if batches is None else "AND batch IN (SELECT value FROM json_each(:batches))"
        sql = f"""
            SELECT item FROM standings WHERE state IN ({states}) {of_batches}
            EXCEPT SELECT item FROM verdicts WHERE person = :person
            EXCEPT SELECT item FROM versions WHERE author = :person
        """
        values = {"person": person, "batches": json.dumps(sorted(batches or ()))}
        with self._database.read() as db:
            return frozenset(item for (item,) in db.execute(sql, values))

    def states(self, items: Sequence[int]) -> dict[int, State]:
        """Return the state of each of these items that exists."""
        sql = "SELECT item, state FROM standings WHERE item IN (SELECT value FROM json_each(?))"
        with self._database.read() as db:
            return dict(db.execute(sql, (json.dumps(list(items)),)))
