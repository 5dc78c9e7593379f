"""People and roles, checks of initials, names and passwords, and the hashes of passwords and tokens.

Pure functions; ``reviewer.store.accounts`` stores the results and limits sign-in attempts.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Literal, get_args

from agent.errors import Refusal
from agent.language import tr

Role = Literal["reviewer", "auditor", "coordinator"]
ROLES: tuple[Role, ...] = get_args(Role)

# N = 2^15, r = 8, p = 3 (32 MiB): one of the equivalent settings of the OWASP Password Storage Cheat Sheet.
# The numbers are stored in each hash, so they can be raised without making old passwords invalid.
_LOG2_N, _R, _P = 15, 8, 3
_HASH_BYTES, _SALT_BYTES = 32, 16
_MEMORY_LIMIT = 256 * 1024 * 1024

SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 200

_COMMON_PASSWORDS = """
12345678 123456789 1234567890 87654321 0123456789 1q2w3e4r 1qaz2wsx abc12345 abcd1234 a1b2c3d4 admin
administrator astronomer astronomy baseball changeme computer dragon football galaxy iloveyou letmein
master michelle monkey observatory passw0rd password princess qwerty qwertyui qwertyuiop qwertz qwertzui
secret shadow spectra spectrum starwars sunshine superman telescope trustno welcome whatever speco3
spec-o3 test testtest
"""
_COMMON = frozenset(_COMMON_PASSWORDS.split())


class PersonError(Refusal, ValueError):
    """Invalid initials, name, role or password; the message says what was found and what was expected."""


@dataclass(frozen=True)
class Person:
    """A person. ``initials`` identify them in votes, versions and exports.

    :param active: False for a deactivated account: its decisions stay, new ones are refused
    :param has_password: False in single-user mode, without signing in
    """

    initials: str
    name: str
    roles: frozenset[Role]
    active: bool = True
    has_password: bool = False

    def is_any(self, *roles: Role) -> bool:
        return not self.roles.isdisjoint(roles)


def clean_initials(text: str) -> str:
    """Return initials in stored form: two to four letters, upper case. :raises PersonError: they are invalid"""
    initials = text.strip().upper()
    if not 2 <= len(initials) <= 4 or not initials.isalpha():
        raise PersonError(tr("Initials need two to four letters; found {found:.40}.", found=repr(text)))
    return initials


def clean_name(text: str) -> str:
    """Return a name without surrounding or doubled spaces. :raises PersonError: it is empty or too long"""
    name = " ".join(text.split())
    if not 1 <= len(name) <= 100:
        raise PersonError(tr("name: found {found:.40}, expected 1 to 100 characters", found=repr(text)))
    return name


def clean_roles(roles: frozenset[str] | set[str] | tuple[str, ...] | list[str]) -> frozenset[Role]:
    """Return the checked roles. :raises PersonError: there are none, or one is unknown"""
    known = frozenset(role for role in ROLES if role in roles)
    if not roles or len(known) != len(set(roles)):
        raise PersonError(
            tr("roles: found {roles}, expected one or more of {known}", roles=sorted(roles), known=", ".join(ROLES))
        )
    return known


def checked_password(password: str, initials: str, name: str) -> str:
    """Return the password if this person may use it.

    :raises PersonError: it is too short or too long, is a common password, or is the person's name or initials
    """
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise PersonError(
            tr(
                "password: found {n} characters, expected {least} to {most}",
                n=len(password),
                least=SHORTEST_PASSWORD,
                most=LONGEST_PASSWORD,
            )
        )
    plain = "".join(password.casefold().split())
    own = {"".join(word.casefold().split()) for word in (name, initials)} - {""}
    personal = any(plain.strip("0123456789!.-_") in (word, word * 2, word[::-1]) for word in own)
    if personal:
        raise PersonError(tr("This password is the person's name or initials. Choose another."))
    if len(set(plain)) < 3 or plain in _COMMON or plain.rstrip("0123456789!.") in _COMMON:
        raise PersonError(tr("This password is too common. Choose another."))
    return password


# Without letters and digits that are read as others: l, 1, I, o, 0, O.
_EASY_TO_COPY = "abcdefghijkmnpqrstuvwxyz23456789"


def generated_password() -> str:
    """Return a new random password of four groups of four: 80 random bits, easy to read aloud and to type."""
    return "-".join("".join(secrets.choice(_EASY_TO_COPY) for _ in range(4)) for _ in range(4))


def hash_password(password: str) -> str:
    """Return ``scrypt$log2N$r$p$salt$hash`` of a checked password in hex, with a new salt."""
    salt = secrets.token_bytes(_SALT_BYTES)
    digest = _scrypt(password, salt, _LOG2_N, _R, _P)
    return f"scrypt${_LOG2_N}${_R}${_P}${salt.hex()}${digest.hex()}"


def password_matches(password: str, kept: str | None) -> bool:
    """Return whether ``password`` matches the stored hash ``kept``.

    Without a stored hash the same work is done, so that the time does not reveal which initials exist.
    """
    _, log2_n, r, p, salt, digest = (kept or _DUMMY_HASH).split("$")
    tried = _scrypt(password, bytes.fromhex(salt), int(log2_n), int(r), int(p))
    return hmac.compare_digest(tried, bytes.fromhex(digest)) and kept is not None


def new_token() -> str:
    """Return a new session or lease token: 256 random bits, safe in a cookie."""
    return secrets.token_urlsafe(32)


def token_hash(token: str) -> str:
    """Return the stored form of a session token. A plain SHA-256 is enough: the token itself is random."""
    return hashlib.sha256(token.encode()).hexdigest()


def _scrypt(password: str, salt: bytes, log2_n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(
        password.encode(), salt=salt, n=1 << log2_n, r=r, p=p, maxmem=_MEMORY_LIMIT, dklen=_HASH_BYTES
    )


_DUMMY_HASH = f"scrypt${_LOG2_N}${_R}${_P}${'00' * _SALT_BYTES}${'00' * _HASH_BYTES}"
