"""The items that fit a plan, with who may not score them and who saw them before."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from agent.trajectory.steps import step_from_json
from reviewer.blind.leaks import Leak, leaks_in_steps, shown_text
from reviewer.blind.plan import Candidate, Plan
from reviewer.store.accounts import find_person
from reviewer.store.sqlite.database import Transaction

_CANDIDATES = """
SELECT i.id, s.version, i.drafter_kind, i.drafter_name, i.task, i.label, s.survey,
       -- The spectrum in the medium that a person stated, where a version after the first says so.
       CASE WHEN EXISTS (
           SELECT 1 FROM versions m WHERE m.item = i.id AND m.number > 1 AND m.reason LIKE 'medium stated:%')
            THEN json_extract(v.body, '$.spectrum.sha256') ELSE i.spectrum END AS spectrum
FROM standings s JOIN items i ON i.id = s.item JOIN versions v ON v.id = s.version
WHERE s.state <> 'withdrawn' AND (i.id IN (SELECT value FROM json_each(:named)) OR (
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
    AND (:listed IS NULL OR i.id IN (SELECT item FROM view_items WHERE view = :listed))
))
ORDER BY i.id
"""

# The people who worked on an item in review: who wrote a version, decided, marked a step, committed a
# verdict or inspected the spectrum.
INVOLVED = """
SELECT item, author AS person FROM versions WHERE author IN (SELECT value FROM json_each(:people))
UNION SELECT item, person FROM decisions
    WHERE person IN (SELECT value FROM json_each(:people)) AND verb NOT IN ('withdraw', 'restore')
UNION SELECT item, person FROM marks WHERE person IN (SELECT value FROM json_each(:people))
UNION SELECT item, person FROM verdicts WHERE person IN (SELECT value FROM json_each(:people))
UNION SELECT item, person FROM inspections WHERE person IN (SELECT value FROM json_each(:people))
"""

# Who wrote an item before it was imported here; a search for the key costs less than reading the JSON.
_WROTE_BEFORE = """
SELECT v.item, a.value AS person FROM versions v, json_each(v.body, '$.authors') a
WHERE v.item IN (SELECT value FROM json_each(:items)) AND v.number = 1 AND instr(v.body, '"authors":[') > 0
      AND a.value IN (SELECT value FROM json_each(:people))
"""

# Who was shown an item in an earlier session, whether or not they answered.
EXPOSED = """
SELECT DISTINCT v.item, a.scorer FROM blind_assignments a
JOIN versions v ON v.id = a.version OR v.id = a.on_the_right
WHERE a.scorer IN (SELECT value FROM json_each(:people))
  AND a.session IN (SELECT session FROM blind_states WHERE state = 'open')
"""


def find_candidates(db: Transaction, plan: Plan, progress: Callable[[int], None] | None = None) -> list[Candidate]:
    """Return the items that fit the plan, and its gold and training items, at their current versions.

    Texts are searched for leaks only if the plan leaves such texts out.

    :param progress: called with the number of texts searched so far
    :raises NotFound: a scorer is nobody's initials
    """
    people = [find_person(db, scorer) for scorer in plan.scorers]
    barred: dict[int, set[str]] = defaultdict(set)
    exposed: dict[int, set[str]] = defaultdict(set)
    rows = db.execute(_CANDIDATES, _parameters(plan)).fetchall()
    whom = {"people": json.dumps(plan.scorers), "items": json.dumps([row["id"] for row in rows])}
    for query, found in ((INVOLVED, barred), (_WROTE_BEFORE, barred), (EXPOSED, exposed)):
        for item, person in db.execute(query, whom):
            found[item].add(person)
    for row in rows:
        if row["drafter_kind"] == "person":
            name = row["drafter_name"].casefold()
            barred[row["id"]] |= {p.initials for p in people if name in (p.initials.casefold(), p.name.casefold())}
    leaking = _giving_away(db, rows, progress) if plan.giveaways == "leave out" else frozenset()
    return [
        Candidate(
            item=row["id"],
            version=row["version"],
            source=row["drafter_name"],
            task=row["task"],
            spectrum=row["spectrum"],
            barred=frozenset(barred.get(row["id"], ())),
            gives_away=row["version"] in leaking,
            survey=row["survey"],
            label=row["label"],
            exposed=frozenset(exposed.get(row["id"], ())),
        )
        for row in rows
    ]


def _giving_away(
    db: Transaction, rows: Sequence[sqlite3.Row], progress: Callable[[int], None] | None
) -> frozenset[int]:
    """Return the versions whose text has a leak."""
    versions = json.dumps([row["version"] for row in rows])
    texts = db.execute("SELECT id, body FROM versions WHERE id IN (SELECT value FROM json_each(?))", (versions,))
    leaking = set()
    for number, row in enumerate(texts):
        if progress is not None:
            progress(number)
        if in_body(row["body"]):
            leaking.add(row["id"])
    return frozenset(leaking)


def in_body(body: str) -> tuple[tuple[int, Leak, str], ...]:
    """Return the leaks of a stored text, each with the number and the text of its step."""
    stored = json.loads(body)["steps"]
    steps = [step_from_json(step, number) for number, step in enumerate(stored, start=1)]
    return tuple((number, found, shown_text(steps[number - 1])) for number, found in leaks_in_steps(steps))


def _parameters(plan: Plan) -> dict[str, Any]:
    lists = {name: list(getattr(plan, name)) for name in ("items", "sources", "tasks")}
    lists |= {"named": [*(gold.item for gold in plan.gold), *plan.training], "states": list(plan.filter.states)}
    return {**asdict(plan.filter), **{name: json.dumps(values) for name, values in lists.items()}}
