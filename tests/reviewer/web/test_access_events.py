"""Every event of the page, called over HTTP as nobody, as each role and as somebody who has left."""

from __future__ import annotations

import inspect
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr
import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from starlette.routing import Mount

from reviewer.backup.backups import DailyBackups
from reviewer.exchange import exports as exporting
from reviewer.store import Store
from reviewer.web import app as server
from reviewer.web.auth import COOKIE

PASSWORD = "Balmer decrement"
PEOPLE = {"CO": "coordinator", "RE": "reviewer", "AU": "auditor", "EX": "coordinator", "TA": "reviewer"}
OTHERS = ("RE", "AU")
REFUSED = "This is for coordinator"


@dataclass(frozen=True)
class Event:
    """What an event is sent here, and whether only a coordinator's call of it is heard.

    :param changes: sent by a coordinator it changes the database, so that a refusal of the same data counts
    :param after: what draws the form first: Gradio refuses a choice that its session was not offered
    """

    data: tuple[Any, ...] = ()
    leads: bool = False
    changes: bool = False
    after: str | None = None


_LOOK = "people_tab.look"

EVENTS = {
    "draft_form.draft": Event((None, "cv", "batch"), leads=True),
    "draft_form.<lambda>": Event(),
    "stops draft_form.draft": Event(),
    "import_form.bring_in": Event((None, "batch", ""), leads=True),
    "export_form.take_out": Event(("first", None, None, None), leads=True),
    "backups_form.one_more": Event(leads=True, changes=True),
    "library.look": Event(),
    "rules_form.switch": Event((True,)),
    "rules_form.try_out": Event((2, 3, 2, 2)),
    "rules_form.keep": Event((False, 1, 3, 2, 2), leads=True, changes=True),
    _LOOK: Event(),
    "people_tab.choose": Event(("RE",), leads=True, after=_LOOK),
    "people_tab.set_roles": Event(("TA", ["auditor"]), leads=True, changes=True, after=_LOOK),
    "people_tab.leave_or_return": Event(("TA",), leads=True, changes=True, after=_LOOK),
    "people_tab.set_password": Event(("TA", "Paschen decrement"), leads=True, changes=True, after=_LOOK),
    "people_tab.set_own": Event(("Paschen decrement", "Brackett decrement")),
    "people_tab.add_person": Event(("NN", "N. N.", ["reviewer"], PASSWORD), leads=True, changes=True),
}
"""Every event by its handler's name. One that is not here fails the first test below."""


def events_of(app: FastAPI) -> dict[str, int]:
    """The number by which each event is called, by its name."""
    mounts = (r for r in app.state.gradio.routes if isinstance(r, Mount))
    (blocks,) = (mount.app.get_blocks() for mount in mounts if hasattr(mount.app, "get_blocks"))
    assert isinstance(blocks, gr.Blocks)
    named: dict[int, str] = {}
    for number, event in blocks.fns.items():
        if event.fn is None:
            named[number] = "stops " + ", ".join(named[one] for one in event.cancels)
        else:
            handler = inspect.unwrap(event.fn)
            named[number] = f"{handler.__module__.split('.')[-1]}.{handler.__qualname__.split('.')[-1]}"
    assert len(set(named.values())) == len(named)
    return {name: number for number, name in named.items()}


@dataclass(frozen=True)
class Served:
    """The app on a port of this machine, and everybody's cookie."""

    address: str
    store: Store
    events: dict[str, int]
    tokens: dict[str, str]

    def call(self, who: str, name: str) -> tuple[int, str]:
        """The status with which the event was taken, and all that was answered."""
        cookies = {COOKIE: self.tokens[who]} if who in self.tokens else {}
        session = f"{who}{self.events[name]}"
        with httpx.Client(base_url=self.address, cookies=cookies, timeout=60) as client:
            before = EVENTS[name].after
            if before is not None:
                self._join(client, before, session)
            status, told = self._join(client, name, session)
            if who == "CO":
                return status, told
            # The other way in: closed as this one is, or to the same handler.
            again = client.post("/gradio_api/run/predict", json=self._asked(name, session))
            assert (again.status_code == 401) == (status == 401)
            return status, told + again.text

    def _asked(self, name: str, session: str) -> dict[str, Any]:
        return {"data": EVENTS[name].data, "fn_index": self.events[name], "session_hash": session}

    def _join(self, client: httpx.Client, name: str, session: str) -> tuple[int, str]:
        joined = client.post("/gradio_api/queue/join", json=self._asked(name, session))
        if joined.status_code != 200:
            return joined.status_code, joined.text
        told = []
        with client.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as answers:
            for line in answers.iter_lines():
                told.append(line)
                if '"process_completed"' in line:
                    break
        return 200, "\n".join(told)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("events")
    store = Store.open(folder / "annotations.db")
    for initials, role in PEOPLE.items():
        store.add_person(initials, f"Person {initials}", [role], PASSWORD)
    tokens = {who: store.sign_in(who, PASSWORD).token for who in ("CO", "RE", "AU", "EX")}
    store.deactivate("CO", "EX")
    app = server.build(store, local=True, backups=DailyBackups(store, folder / "backups"))
    with socket.socket() as free, pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "FOLDER", folder / "approved")
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        running = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=running.run, daemon=True)
        thread.start()
        while not running.started:
            time.sleep(0.02)
        yield Served(f"http://127.0.0.1:{port}", store, events_of(app), tokens)
        running.should_exit = True
        thread.join(timeout=20)
    store.close()


def test_every_event_is_in_the_table(served: Served) -> None:
    assert set(served.events) == set(EVENTS)


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_heard_from_those_it_is_for(served: Served, name: str) -> None:
    event = EVENTS[name]
    before = served.store.log_head()
    for who in ("nobody", "EX"):
        status, told = served.call(who, name)
        assert status == 401, f"{who}: {told}"
    for who in OTHERS:
        status, told = served.call(who, name)
        assert status == 200
        assert (REFUSED in told) == event.leads, f"{who}: {told}"
    assert served.store.log_head() == before
    status, told = served.call("CO", name)
    assert status == 200
    assert REFUSED not in told
    # What stops another event has nothing on the server to be called.
    assert ("function has no backend method" if name.startswith("stops") else '"success":true') in told
    assert (served.store.log_head() != before) == event.changes, told
