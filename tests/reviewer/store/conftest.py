"""Fixtures of the store's tests: a store with people on a clock that the test turns."""

import pytest

from reviewer.store import Store
from tests.support.campaign import Clock, Desk, people


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    with Store.open(tmp_path / "annotations.db", clock=clock) as store:
        people(store)
        yield store


@pytest.fixture
def desk(store):
    return Desk(store)
