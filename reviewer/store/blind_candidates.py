"""What a blind session can be drawn from: items, who had a hand in them, texts that give themselves away."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from agent.steps import step_from_json
from reviewer.blind.giveaways import Giveaway, in_steps, words_of
from reviewer.blind.values import Candidate, Plan
from reviewer.store.accounts import Accounts

_CANDIDATES = """
SELECT i.id, s.version, i.drafter_kind, i.drafter_name, i.task, i.spectrum
FROM standings s JOIN items i ON i.id = s.item
WHERE i.id IN (SELECT value FROM json_each(:gold)) OR (
    (:items = '[]' OR i.id IN (SELECT value FROM json_each(:items)))
    AND (:sources = '[]' OR s.drafter IN (SELECT value FROM json_each(:sources)))
    AND (:tasks = '[]' OR s.task IN (SELECT value FROM json_each(:tasks)))
    AND (:states = '[]' OR s.state IN (SELECT value FROM json_each(:states)))
    AND (:survey IS NULL OR s.survey = :survey)
    AND (:batch IS NULL OR s.batch = :batch)
    AND (:snr_min IS NULL OR s.snr >= :snr_min)
    AND (:snr_max IS NULL OR s.snr <= :snr_max)
    AND (:disagreement IS NULL OR s.disagreement = :disagreement)
    AND (:simulated IS NULL OR s.simulated = :simulated)
)
ORDER BY i.id
"""

# Whoever has seen an item in review and left something there: a text, a decision, a mark, a verdict.
HANDS = """
SELECT item, author AS person FROM versions WHERE author IN (SELECT value FROM json_each(:people))
UNION SELECT item, person FROM decisions WHERE person IN (SELECT value FROM json_each(:people))
UNION SELECT item, person FROM marks WHERE person IN (SELECT value FROM json_each(:people))
UNION SELECT item, person FROM verdicts WHERE person IN (SELECT value FROM json_each(:people))
"""


class BlindCandidates(Accounts):
    """Reading only."""

    def blind_candidates(
        self, by: str | None, plan: Plan, progress: Callable[[int], None] | None = None
    ) -> list[Candidate]:
        """Every item that the plan lets through, and its gold items, at the versions that are current now.

        Texts are searched for what gives them away only where the plan leaves such out.

        :param progress: called with the number of texts searched so far
        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: a scorer is nobody's initials
        """
        with self._reading() as db:
            self._require_coordinator(db, by)
            people = [self._person(db, scorer) for scorer in plan.scorers]
            barred: dict[int, set[str]] = defaultdict(set)
            for item, person in db.execute(HANDS, {"people": json.dumps(plan.scorers)}):
                barred[item].add(person)
            rows = db.execute(_CANDIDATES, _asked(plan)).fetchall()
            for row in rows:
                if row["drafter_kind"] == "person":
                    name = row["drafter_name"].casefold()
                    barred[row["id"]] |= {
                        p.initials for p in people if name in (p.initials.casefold(), p.name.casefold())
                    }
            telling = _giving_away(db, rows, progress) if plan.giveaways == "leave out" else frozenset()
        return [
            Candidate(
                item=row["id"],
                version=row["version"],
                source=row["drafter_name"],
                task=row["task"],
                spectrum=row["spectrum"],
                barred=frozenset(barred.get(row["id"], ())),
                gives_away=row["version"] in telling,
            )
            for row in rows
        ]


def _giving_away(
    db: sqlite3.Connection, rows: Sequence[sqlite3.Row], progress: Callable[[int], None] | None
) -> frozenset[int]:
    """Those versions whose text tells who wrote it."""
    versions = json.dumps([row["version"] for row in rows])
    texts = db.execute(
        "SELECT id, body FROM versions WHERE id IN (SELECT value FROM json_each(?))", (versions,)
    )
    telling = set()
    for number, row in enumerate(texts):
        if progress is not None:
            progress(number)
        if in_body(row["body"]):
            telling.add(row["id"])
    return frozenset(telling)


def in_body(body: str) -> tuple[tuple[int, Giveaway, str], ...]:
    """What gives away a stored text, with the number and the words of its step."""
    stored = json.loads(body)["steps"]
    steps = [step_from_json(step, number) for number, step in enumerate(stored, start=1)]
    return tuple((number, found, words_of(steps[number - 1])) for number, found in in_steps(steps))


def _asked(plan: Plan) -> dict[str, Any]:
    lists = {name: list(getattr(plan, name)) for name in ("items", "sources", "tasks")}
    lists |= {"gold": [gold.item for gold in plan.gold], "states": list(plan.filter.states)}
    return {**asdict(plan.filter), **{name: json.dumps(values) for name, values in lists.items()}}
