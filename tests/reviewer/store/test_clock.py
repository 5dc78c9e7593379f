"""A clock that is set back: what happened keeps its order, what was given for a time lives no longer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from reviewer.store import LeaseLost, SignInRefused, Store
from reviewer.store.accounts import A_PERSON_FROM_AN_ORIGIN
from reviewer.store.sqlite.database import Clocks
from reviewer.web import app as server
from tests.support.campaign import Clock, Desk, an_item, people

PASSWORD = "a long password"
BACK = (timedelta(hours=1), timedelta(days=1))


@dataclass
class Machine:
    """A machine's two clocks. Time goes on in both; only the one on the wall can be set."""

    wall: Clock = field(default_factory=Clock)
    seconds: float = 0.0

    def goes_on(self, **by: float) -> None:
        self.wall.turn(**by)
        self.seconds += timedelta(**by).total_seconds()

    def is_set(self, back: timedelta) -> None:
        self.wall.now -= back

    def opens(self, path: Path) -> Store:
        return Store.open(path, clock=self.wall, elapsed=lambda: self.seconds)


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def path(tmp_path: Path, machine: Machine) -> Path:
    path = tmp_path / "annotations.db"
    with machine.opens(path) as store:
        people(store)
        store.add_person("ZO", "Zoë", ["reviewer"], PASSWORD)
        for number in range(3):
            an_item(store, number)
    return path


@pytest.fixture
def store(path: Path, machine: Machine) -> Iterator[Store]:
    with machine.opens(path) as store:
        yield store


@pytest.mark.parametrize("back", BACK, ids=str)
def test_a_lease_does_not_live_longer(store: Store, machine: Machine, back: timedelta) -> None:
    lease = store.lease("RE", 1)
    machine.goes_on(minutes=10)
    machine.is_set(back)
    machine.goes_on(minutes=4)
    assert store.renew(lease.token).person == "RE"
    machine.goes_on(minutes=14.9)
    assert store.item(1).row.held_by == ("RE",)
    machine.goes_on(minutes=0.2)
    assert store.item(1).row.held_by == ()
    with pytest.raises(LeaseLost, match="ran out"):
        store.renew(lease.token)
    assert store.lease("VO", 1).person == "VO"


@pytest.mark.parametrize("back", BACK, ids=str)
def test_a_session_does_not_live_longer(store: Store, machine: Machine, back: timedelta) -> None:
    token = store.sign_in("ZO", PASSWORD).token
    machine.is_set(back)
    assert store.signed_in(token) is not None
    machine.goes_on(days=8)
    assert store.signed_in(token) is None


@pytest.mark.parametrize("back", BACK, ids=str)
def test_the_pause_after_wrong_passwords_is_neither_shorter_nor_longer(
    store: Store, machine: Machine, back: timedelta
) -> None:
    for _ in range(A_PERSON_FROM_AN_ORIGIN):
        with pytest.raises(SignInRefused, match="do not match"):
            store.sign_in("ZO", "a wrong password")
    machine.is_set(back)
    with pytest.raises(SignInRefused, match="Too many"):
        store.sign_in("ZO", PASSWORD)
    machine.goes_on(minutes=16)
    assert store.sign_in("ZO", PASSWORD).person == "ZO"


@pytest.mark.parametrize("back", BACK, ids=str)
def test_after_a_new_start_what_was_given_in_its_future_is_over(path: Path, machine: Machine, back: timedelta) -> None:
    with machine.opens(path) as store:
        lease, token = store.lease("RE", 1), store.sign_in("ZO", PASSWORD).token
        version = store.item(1).version.id
        store.autosave("RE", 1, version, {"text": "half a sent"})
    machine.is_set(back)
    with machine.opens(path) as store:
        assert store.signed_in(token) is None
        with pytest.raises(LeaseLost):
            store.renew(lease.token)
        assert store.lease("VO", 1).person == "VO"
        assert store.autosaved("RE", 1).body == {"text": "half a sent"}
        assert store.signed_in(store.sign_in("ZO", PASSWORD).token) is not None
        assert store.verify() == []


@pytest.mark.parametrize("back", BACK, ids=str)
@pytest.mark.parametrize("again", [False, True], ids=["running", "opened again"])
def test_the_order_stays_and_the_log_says_what_happened(
    path: Path, machine: Machine, back: timedelta, again: bool
) -> None:
    store = machine.opens(path)
    desk = Desk(store)
    desk.decide("RE", 1, "keep")
    machine.goes_on(minutes=1)
    desk.edit("RE", 1, "Before the clock was set.")
    machine.is_set(back)
    if again:
        store.close()
        store = machine.opens(path)
        desk = Desk(store)
    assert store.clock_behind() == back
    desk.edit("RE", 1, "After it was.")
    desk.decide("RE", 1, "submit")
    assert store.versions(1)[-1].at == machine.wall.now
    assert [version.number for version in store.versions(1)] == [1, 2, 3]
    assert [said.decision.verb for said in store.history(1)] == ["keep", "submit"]
    assert store.standing(1).state == "audit"
    (told,) = store.log(what="clock set back")
    assert told.details == {"seconds": back.total_seconds()}
    (saved,) = store.log(after=told.number, limit=1)
    assert (saved.what, saved.at) == ("version saved", machine.wall.now)
    assert store.verify() == []
    store.close()
    machine.goes_on(minutes=1)
    with machine.opens(path) as store:
        assert store.clock_behind() is None


def test_the_page_says_so(store: Store, machine: Machine) -> None:
    store.set_password(None, "RE", PASSWORD)
    client = TestClient(server.build(store, local=True), base_url="http://127.0.0.1")
    client.post("/sign-in", data={"initials": "RE", "password": PASSWORD})
    assert client.get("/api/me").json()["clock"] == ""
    machine.is_set(timedelta(hours=1))
    assert "was set back 60 minutes" in client.get("/api/me").json()["clock"]


def test_unsent_text_of_the_newer_version_is_shown_though_the_clock_says_it_is_older(
    store: Store, machine: Machine
) -> None:
    desk = Desk(store)
    desk.decide("RE", 1, "keep")
    first = store.item(1).version.id
    second = desk.edit("RE", 1, "Again.").id
    store.autosave("RE", 1, first, {"text": "old"})
    machine.is_set(timedelta(hours=1))
    store.autosave("RE", 1, second, {"text": "new"})
    assert store.autosaved("RE", 1).body == {"text": "new"}


def test_small_corrections_are_nothing_to_tell(store: Store, machine: Machine) -> None:
    Desk(store).decide("RE", 1, "keep")
    machine.is_set(timedelta(milliseconds=700))
    Desk(store).decide("RE", 1, "submit")
    assert store.clock_behind() is None
    assert store.log(what="clock set back") == []
    assert store.check_log() == []


Moves = st.lists(st.tuples(st.floats(0, 1e5), st.floats(-1e6, 1e6)), max_size=30)


@given(Moves)
def test_the_steady_clock_never_goes_back_and_never_slower_than_time(
    moves: list[tuple[float, float]],
) -> None:
    machine = Machine()
    times = Clocks(machine.wall, lambda: machine.seconds)
    told = [(machine.seconds, times.steady())]
    for passed, moved in moves:
        machine.goes_on(seconds=passed)
        machine.is_set(timedelta(seconds=moved))
        told.append((machine.seconds, times.steady()))
        assert times.steady() >= times.now()
    for (before, earlier), (after, later) in pairwise(told):
        assert (later - earlier).total_seconds() >= (after - before) - 1e-5
