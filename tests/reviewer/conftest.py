"""Fixtures of the reviewer's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reviewer.rules import people as passwords

QUICK = 4


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[pytest.MonkeyPatch]:
    """Hash passwords with 2**4 rounds of scrypt, not 2**15: tests set and check hundreds of them."""
    with pytest.MonkeyPatch.context() as patch:
        full = passwords._LOG2_N
        patch.setattr(passwords, "_LOG2_N", QUICK)
        patch.setattr(passwords, "_DUMMY_HASH", passwords._DUMMY_HASH.replace(f"${full}$", f"${QUICK}$", 1))
        yield patch


@pytest.fixture
def slow_passwords(quick_passwords: pytest.MonkeyPatch) -> Iterator[None]:
    """The real cost of a password hash, as in the product."""
    quick = {name: getattr(passwords, name) for name in ("_LOG2_N", "_DUMMY_HASH")}
    quick_passwords.undo()
    yield
    for name, value in quick.items():
        quick_passwords.setattr(passwords, name, value)
