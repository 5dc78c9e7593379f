"""Whose text a stored version is, the drafter's or one that people revised; the trajectory as a session shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.trajectory import Medium, Trajectory, Zoom
from reviewer.blind.plan import UNRECORDED, Plan, TextKind, source_name
from reviewer.store.sqlite.database import Transaction

BY_PEOPLE = """
(f.author IS NOT NULL OR EXISTS (
    -- An index has the items whose first version names authors.
    SELECT 1 FROM versions w WHERE w.item = f.item AND w.number = 1 AND instr(w.body, '"authors":[') > 0
        AND json_array_length(w.body, '$.authors') > 0
))
"""
"""Whether people wrote on the first version ``f`` of an item before it was imported here."""

# Each version that a session shows, with the first version of its item where that is another one.
_SHOWN = f"""
SELECT DISTINCT v.id, v.body, i.drafter_name, CASE WHEN v.number > 1 THEN f.body END AS draft,
       {BY_PEOPLE} AS by_people
FROM blind_assignments a
JOIN versions v ON v.id IN (a.version, a.on_the_right)
JOIN items i ON i.id = v.item
JOIN versions f ON f.item = v.item AND f.number = 1
WHERE a.session = ?
"""

# Of a step: its number follows from its place, and stating the medium of the spectrum edits nothing.
_NO_TEXT = ("id", "medium")


@dataclass(frozen=True)
class ShownText:
    """What kind of text a session shows, and the name of its source."""

    kind: TextKind
    source: str
    drafter: str


def edited(draft: str, later: str) -> bool:
    """Return whether the steps of two stored texts differ. A version that only states the medium has the same steps,
    and so has one that restores the draft."""
    return draft != later and _steps(draft) != _steps(later)


def shown_texts(db: Transaction, session_id: int, plan: Plan) -> dict[int, ShownText]:
    """Return the kind of each text that a session shows, by version."""
    shown = {}
    for row in db.execute(_SHOWN, (session_id,)):
        by_people = bool(row["by_people"]) or (row["draft"] is not None and edited(row["draft"], row["body"]))
        kind: TextKind
        if plan.version == UNRECORDED:
            kind = "current, edited" if by_people else "current"
        else:
            kind = "revised" if by_people else plan.texts[-1]
        shown[row["id"]] = ShownText(kind, source_name(row["drafter_name"], kind), row["drafter_name"])
    return shown


def shown_trajectory(body: str, spectrum: str | None, medium: Medium | None) -> Trajectory:
    """Return a stored text as a session shows it: the windows of a draft are in the medium that a person has stated
    since, as they are in later versions.

    :param spectrum: the SHA-256 of the spectrum over which it is shown; None if there is only the text
    :param medium: of that spectrum
    """
    trajectory = Trajectory.from_json(json.loads(body))
    own = trajectory.spectrum_sha256
    stated = trajectory.medium_assumed if own is None else own != spectrum
    if medium is None or not stated or trajectory.medium == medium:
        return trajectory
    steps = (replace(step, medium=medium) if isinstance(step, Zoom) else step for step in trajectory.steps)
    return replace(trajectory, medium=medium, steps=tuple(steps))


def _steps(body: str) -> list[Mapping[str, Any]]:
    return [{key: value for key, value in step.items() if key not in _NO_TEXT} for step in json.loads(body)["steps"]]
