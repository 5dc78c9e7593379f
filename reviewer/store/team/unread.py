"""The condition by which a comment is unread for a person; the queue and the list of unread comments use it."""

from __future__ import annotations

UNREAD = """(
    c.kind = 'comment' AND c.source = '' AND c.person <> :person
    AND c.id > coalesce((SELECT r.comment FROM comment_reads r WHERE r.person = :person AND r.item = c.item), 0)
    AND (
        c.item IN (SELECT m.item FROM mentions m WHERE m.person = :person)
        OR EXISTS (SELECT 1 FROM assigned a WHERE a.person = :person AND a.item = c.item)
        OR EXISTS (SELECT 1 FROM versions w WHERE w.author = :person AND w.item = c.item)
        OR EXISTS (SELECT 1 FROM comments o WHERE o.item = c.item AND o.person = :person AND o.source = '')
        OR EXISTS (
            SELECT 1 FROM decisions d
            WHERE d.item = c.item AND d.person = :person AND d.verb NOT IN ('withdraw', 'restore')
        )
    )
)"""
"""Condition on a row ``c`` of ``comments``, for ``:person`` (initials): a comment by another person, written here and
later than the last one that the person was shown, on an item where they wrote, decided, were mentioned or are assigned.
"""

UNREAD_OF_ITEM = f"(SELECT count(*) FROM comments c WHERE c.item = s.item AND {UNREAD})"
"""Number of unread comments on the item of a row ``s`` of ``standings``, for ``:person``."""
COMMENTS_OF_ITEM = "(SELECT count(*) FROM comments c WHERE c.item = s.item AND c.kind = 'comment')"
"""Number of comments on the item of a row ``s`` of ``standings``."""
