"""The condition by which a comment is unread for a person; the queue and the list of unread comments use it."""

from __future__ import annotations

import json

from reviewer.store.sqlite.database import Transaction, flagged, item_flags

_NEW = """c.kind = 'comment' AND c.source = '' AND c.person <> :person
    AND c.id > coalesce((SELECT r.comment FROM comment_reads r WHERE r.person = :person AND r.item = c.item), 0)"""
# The tables that say on which items a person takes part, each with the condition on its rows.
_PART = {
    "mentions": "p.person = :person",
    "assigned": "p.person = :person",
    "versions": "p.author = :person",
    "comments": "p.person = :person AND p.source = ''",
    "decisions": "p.person = :person AND p.verb NOT IN ('withdraw', 'restore')",
}
# Mentions have no index by item.
_IN_PART = " OR ".join(
    f"EXISTS (SELECT 1 FROM {table} p WHERE p.item = c.item AND {condition})"
    if table != "mentions"
    else f"c.item IN (SELECT p.item FROM mentions p WHERE {condition})"
    for table, condition in _PART.items()
)
# What a person wrote is everywhere in these tables: to read them through is faster than to look up each row.
_READ_THROUGH = ("comments", "decisions")
_ITEMS_OF_PART = " UNION ALL ".join(
    f"SELECT p.item FROM {table} p {'NOT INDEXED' if table in _READ_THROUGH else ''} WHERE {condition}"
    for table, condition in _PART.items()
)

UNREAD = f"({_NEW} AND ({_IN_PART}))"
"""Condition on a row ``c`` of ``comments``, for ``:person`` (initials): a comment by another person, written here and
later than the last one that the person was shown, on an item where they wrote, decided, were mentioned or are assigned.
It is for the comments of a few items.
"""
ALL_UNREAD = f"comments c NOT INDEXED WHERE {flagged('part', 'c.item')} AND {_NEW}"
"""What follows FROM in a query of all unread comments: the same condition; ``:part`` is ``items_of_part``."""


def items_of_part(db: Transaction, person: str) -> bytes:
    """Return the items on which a person takes part, as ``item_flags``."""
    sql = f"SELECT json_group_array(item) FROM ({_ITEMS_OF_PART})"
    return item_flags(json.loads(db.execute(sql, {"person": person}).fetchone()[0]))


UNREAD_OF_ITEM = f"(SELECT count(*) FROM comments c WHERE c.item = s.item AND {UNREAD})"
"""Number of unread comments on the item of a row ``s`` of ``standings``, for ``:person``."""
COMMENTS_OF_ITEM = "(SELECT count(*) FROM comments c WHERE c.item = s.item AND c.kind = 'comment')"
"""Number of comments on the item of a row ``s`` of ``standings``."""
