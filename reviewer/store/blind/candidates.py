"""The items that fit a plan, with who may not score them and who saw them before."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from agent.language import tr
from agent.trajectory.steps import step_from_json
from reviewer.blind.leaks import Leak, leaks_in_steps, shown_text
from reviewer.blind.plan import (
    TEXT_VERSIONS,
    UNRECORDED,
    Candidate,
    Lack,
    Plan,
    PlanError,
    TextKind,
    source_name,
)
from reviewer.store.accounts import find_person
from reviewer.store.blind.texts import BY_PEOPLE, edited
from reviewer.store.sqlite.database import Transaction

_CANDIDATES = f"""
SELECT i.id, s.version, s.number, s.state, f.id AS draft, i.drafter_kind, i.drafter_name, i.task, i.label, s.survey,
       {BY_PEOPLE} AS by_people,
       -- The spectrum in the medium that a person stated, where a version after the first says so.
       CASE WHEN EXISTS (
           SELECT 1 FROM versions m WHERE m.item = i.id AND m.number > 1 AND m.reason LIKE 'medium stated:%')
            THEN json_extract(v.body, '$.spectrum.sha256') ELSE i.spectrum END AS spectrum
FROM standings s JOIN items i ON i.id = s.item JOIN versions v ON v.id = s.version
JOIN versions f ON f.item = s.item AND f.number = 1
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
    """Return the items that fit the plan, and its gold and training items, with their texts of the plan's version. An
    item that has no such text is one candidate that says why.

    Texts are searched for leaks only if the plan leaves such texts out.

    :param progress: called with the number of texts searched so far
    :raises NotFound: a scorer is nobody's initials
    :raises PlanError: the plan is from before versions were told apart
    """
    if plan.version == UNRECORDED:
        raise PlanError("version", UNRECORDED, tr("one of {names}", names=", ".join(TEXT_VERSIONS)))
    people = [find_person(db, scorer) for scorer in plan.scorers]
    barred: dict[int, set[str]] = defaultdict(set)
    exposed: dict[int, set[str]] = defaultdict(set)
    rows = db.execute(_CANDIDATES, _parameters(plan)).fetchall()
    whom = {"people": json.dumps(plan.scorers), "items": json.dumps([row["id"] for row in rows])}
    for query, people_of in ((INVOLVED, barred), (_WROTE_BEFORE, barred), (EXPOSED, exposed)):
        for item, person in db.execute(query, whom):
            people_of[item].add(person)
    for row in rows:
        if row["drafter_kind"] == "person":
            name = row["drafter_name"].casefold()
            barred[row["id"]] |= {p.initials for p in people if name in (p.initials.casefold(), p.name.casefold())}
    aside = frozenset((*(gold.item for gold in plan.gold), *plan.training))
    texts = [text for row in rows for text in _texts(db, plan, row, row["id"] in aside)]
    leaking = frozenset[int]()
    if plan.giveaways == "leave out":
        leaking = _giving_away(db, [text.version for text in texts if text.lacks is None], progress)
    return [
        Candidate(
            item=text.row["id"],
            version=text.version,
            source=source_name(text.row["drafter_name"], text.kind),
            task=text.row["task"],
            spectrum=text.row["spectrum"],
            barred=frozenset(barred.get(text.row["id"], ())),
            gives_away=text.version in leaking,
            survey=text.row["survey"],
            label=text.row["label"],
            exposed=frozenset(exposed.get(text.row["id"], ())),
            drafter=text.row["drafter_name"],
            by_person=text.row["drafter_kind"] == "person",
            text=text.kind,
            approved=text.row["state"] == "approved",
            lacks=text.lacks,
        )
        for text in texts
    ]


class _Text(NamedTuple):
    """A text of an item, or why it has none of the plan's version."""

    row: sqlite3.Row
    version: int
    kind: TextKind
    lacks: Lack | None = None


def _texts(db: Transaction, plan: Plan, row: sqlite3.Row, aside: bool) -> list[_Text]:
    """Return an item's texts of the plan's version. Of a gold or training item, both means the draft."""
    if plan.version == "drafted" or (plan.version == "both" and aside):
        lacks: Lack | None = "edited before import" if row["by_people"] else None
        return [_Text(row, row["draft"], "drafted", lacks)]
    if row["state"] != "approved":
        return [_Text(row, row["version"], plan.texts[-1], "not approved")]
    if plan.version == "both" and row["by_people"]:
        return [_Text(row, row["draft"], "drafted", "edited before import")]
    revised = bool(row["by_people"]) or (row["number"] > 1 and _differ(db, row["draft"], row["version"]))
    if plan.version == "approved":
        return [_Text(row, row["version"], "revised" if revised else "unchanged")]
    if not revised:
        return [_Text(row, row["draft"], "drafted", "unchanged")]
    return [_Text(row, row["version"], "revised"), _Text(row, row["draft"], "drafted")]


def _differ(db: Transaction, first: int, second: int) -> bool:
    bodies = db.execute("SELECT body FROM versions WHERE id IN (?, ?) ORDER BY id", (first, second)).fetchall()
    return edited(bodies[0]["body"], bodies[1]["body"])


def _giving_away(db: Transaction, versions: Sequence[int], progress: Callable[[int], None] | None) -> frozenset[int]:
    """Return the versions whose text has a leak."""
    texts = db.execute(
        "SELECT id, body FROM versions WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(versions),)
    )
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
    return tuple((number, leak, shown_text(steps[number - 1])) for number, leak in leaks_in_steps(steps))


def _parameters(plan: Plan) -> dict[str, Any]:
    lists = {name: list(getattr(plan, name)) for name in ("items", "sources", "tasks")}
    lists |= {"named": [*(gold.item for gold in plan.gold), *plan.training], "states": list(plan.filter.states)}
    return {**asdict(plan.filter), **{name: json.dumps(values) for name, values in lists.items()}}
