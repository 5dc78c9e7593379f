"""How often somebody may try to sign in.

Three counts of wrong passwords within a quarter of an hour: for one person from one origin, from one origin
whoever is tried, and for one person wherever from. The last two keep nobody out of where they have signed in
before: whoever tries a colleague's password all day does not close the door that the colleague uses.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from reviewer.store.clock import ALLOWANCE, stamp
from reviewer.store.errors import SignInRefused

WITHIN = timedelta(minutes=15)
A_PERSON_FROM_AN_ORIGIN = 5
FROM_AN_ORIGIN = 30
A_PERSON = 20
REMEMBERED = timedelta(days=30)
"""For how long an origin counts as one where somebody has signed in before."""

# Attempts that failed since the last one that did not.
_HERE = """
SELECT count(*) FROM sign_ins WHERE initials = :initials AND origin = :origin AND at BETWEEN :since AND :until
    AND id > (SELECT coalesce(max(id), 0) FROM sign_ins
              WHERE initials = :initials AND origin = :origin AND ok)
"""
_OF_ORIGIN = (
    "SELECT count(*) FROM sign_ins WHERE origin = :origin AND NOT ok AND at BETWEEN :since AND :until"
)
_OF_PERSON = (
    "SELECT count(*) FROM sign_ins WHERE initials = :initials AND NOT ok AND at BETWEEN :since AND :until"
)
_WAS_HERE = (
    "SELECT 1 FROM sign_ins WHERE initials = :initials AND origin = :origin AND ok AND at >= :remembered"
)


def origin_of(address: str) -> str:
    """What counts as one origin: an address; of IPv6 the network of 64 bits that one household is given."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:100]
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((parsed, 64), strict=False).network_address) + "/64"


def count_attempt(db: sqlite3.Connection, initials: str, origin: str, at: datetime) -> int:
    """Count one more attempt as wrong, until it is found to be right; its number.

    :raises SignInRefused: there were too many; this one is not counted
    """
    who = {
        "initials": initials,
        "origin": origin,
        "since": stamp(at - WITHIN),
        "until": stamp(at + ALLOWANCE),
        "remembered": stamp(at - REMEMBERED),
    }

    def wrong(query: str) -> int:
        return int(db.execute(query, who).fetchone()[0])

    closed = wrong(_HERE) >= A_PERSON_FROM_AN_ORIGIN
    if not closed and db.execute(_WAS_HERE, who).fetchone() is None:
        closed = wrong(_OF_ORIGIN) >= FROM_AN_ORIGIN or wrong(_OF_PERSON) >= A_PERSON
    if closed:
        minutes = int(WITHIN.total_seconds() // 60)
        raise SignInRefused(f"Too many attempts; wait {minutes} minutes, or ask a coordinator.")
    db.execute("DELETE FROM sign_ins WHERE at < :remembered", who)
    added = db.execute(
        "INSERT INTO sign_ins (initials, origin, ok, at) VALUES (?, ?, 0, ?)", (initials, origin, stamp(at))
    ).lastrowid
    assert added is not None
    return added
