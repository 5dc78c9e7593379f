"""What a session's report needs besides its results: what the texts are called by, who was kept from what."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from reviewer.store.accounts import Accounts
from reviewer.store.blind_drawing import blind_session_by_id
from reviewer.store.clock import stamp
from reviewer.store.errors import NotFound

_HASHES = """
SELECT DISTINCT v.id, v.content_hash
FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right) WHERE a.session = ?
"""

# As it was on the day of the drawing, so that a report of a closed session stays the same.
_HANDS_THEN = """
WITH shown AS (
    SELECT DISTINCT v.item FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right)
    WHERE a.session = :session
), scorers AS (SELECT value AS person FROM json_each(:people))
SELECT item, author AS person FROM versions
WHERE item IN shown AND author IN scorers AND at <= :at
UNION SELECT item, person FROM decisions WHERE item IN shown AND person IN scorers AND at <= :at
UNION SELECT item, person FROM marks WHERE item IN shown AND person IN scorers AND at <= :at
UNION SELECT item, person FROM verdicts WHERE item IN shown AND person IN scorers AND at <= :at
UNION SELECT i.id, p.initials FROM items i JOIN people p
WHERE i.id IN shown AND p.initials IN scorers AND i.drafter_kind = 'person'
      AND lower(i.drafter_name) IN (lower(p.initials), lower(p.name))
"""

_BY_CONTENT = """
SELECT v.content_hash, min(s.item) AS item FROM standings s JOIN versions v ON v.id = s.version
WHERE v.content_hash IN (SELECT value FROM json_each(?)) GROUP BY 1
"""


@dataclass(frozen=True)
class BlindMaterial:
    """What stands behind the numbers of a session.

    :param content_hashes: of each version that was shown
    :param barred: scorer and item of the session that were kept apart, as the scorer had a hand in the item
    :param names: initials and names of the scorers, so that they can be taken out of what is published
    """

    content_hashes: dict[int, str]
    barred: frozenset[tuple[str, int]]
    names: dict[str, str]


class BlindReporting(Accounts):
    """Reading only."""

    def blind_material(self, by: str | None, session_id: int) -> BlindMaterial:
        """What the report of a session needs besides its results.

        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: there is no such session
        """
        with self._reading() as db:
            self._require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            hashes = {row["id"]: row["content_hash"] for row in db.execute(_HASHES, (session_id,))}
            asked = {
                "session": session_id,
                "people": json.dumps(session.plan.scorers),
                "at": stamp(session.drawn_at),
            }
            hands = frozenset((row["person"], row["item"]) for row in db.execute(_HANDS_THEN, asked))
            names = {scorer: self._person(db, scorer).name for scorer in session.plan.scorers}
        return BlindMaterial(hashes, hands, names)

    def items_by_content(self, content_hashes: Iterable[str]) -> dict[str, int]:
        """The item whose current text this is, the first of several.

        :raises NotFound: some of them are nobody's current text; the sentence says how many
        """
        wanted = list(dict.fromkeys(content_hashes))
        with self._reading() as db:
            rows: list[sqlite3.Row] = db.execute(_BY_CONTENT, (json.dumps(wanted),)).fetchall()
        found = {row["content_hash"]: int(row["item"]) for row in rows}
        if missing := [one for one in wanted if one not in found]:
            raise NotFound(
                f"{len(missing)} of {len(wanted)} traces are no item's current text here, "
                f"the first of them {missing[0]:.20}…"
            )
        return found
