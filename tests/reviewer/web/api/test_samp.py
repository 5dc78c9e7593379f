"""SAMP through the server: a real hub of this machine, and tables and spectra that go to other programs and come."""

from __future__ import annotations

import io
import xmlrpc.client
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.table import Table
from fastapi.testclient import TestClient

from agent.simulate import simulate
from agent.spectrum import read
from agent.trajectory import Answer, Think
from reviewer.rules.campaign import Rules
from reviewer.samp import ITEM, MOST_WAITING
from reviewer.store import Store
from tests.reviewer.web.conftest import a_trace, client_of
from tests.support.services.samp_hub import Program, a_hub

pytestmark = pytest.mark.usefixtures("without_page")

CALL = "/api/v1/samp/call"
TABLE, SPECTRUM, ROW = "table.load.votable", "spectrum.load.ssa-generic", "table.highlight.row"
REGISTER = {"method": "register", "arguments": []}
PLACES = {1: (10.5, -5.25), 2: (187.706, 12.391), 3: (None, None)}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Three items: two with positions, of which the second is in a batch with *verdict first*; one without."""
    with Store.open(tmp_path / "annotations.db") as store:
        for initials, roles in (("RV", ["reviewer"]), ("CO", ["coordinator"])):
            store.accounts.add_person(initials, f"Person {initials}", roles)
        store.settings.set_rules(None, Rules())
        for number, (ra, dec) in PLACES.items():
            spectrum = replace(simulate("cv", "SDSS", 20.0, number), name=f"U Gem {number}", ra=ra, dec=dec, ids={})
            trace = a_trace(spectrum, Think("s1", "Emission."), Answer("s2", "YES", "emission"))
            store.items.add(trace, store.spectra.add(spectrum), batch="later" if number == 2 else "first")
        yield store


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    with client_of(store, "RV") as client:
        yield client


class Page:
    """What the page does: it registers, and calls the hub with the key that it got."""

    def __init__(self, client: TestClient) -> None:
        self._client = client
        self.key = ""
        registration = self.call("register")
        self.key, self.id = registration["samp.private-key"], registration["samp.self-id"]

    def send(self, method: str, *about: Any) -> Any:
        keys = [self.key] if self.key else []
        return self._client.post(CALL, json={"method": method, "arguments": [*keys, *about]})

    def call(self, method: str, *about: Any) -> Any:
        answer = self.send(method, *about)
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]

    def tell(self, mtype: str, **parameters: Any) -> Any:
        return self.call("notifyAll", {"samp.mtype": mtype, "samp.params": parameters})

    def messages(self, number: int) -> list[dict[str, Any]]:
        """The next messages, as soon as the hub has delivered so many."""
        received: list[dict[str, Any]] = []
        while len(received) < number:
            received += self.call("pullCallbacks")
        return received


def connected(client: TestClient, *mtypes: str) -> Page:
    page = Page(client)
    page.call("declareMetadata", {"samp.name": "Spec-o3"})
    page.call("declareSubscriptions", {mtype: {} for mtype in mtypes})
    return page


def test_a_table_and_a_spectrum_go_to_two_programs(client: TestClient, store: Store, tmp_path: Path) -> None:
    with a_hub(tmp_path):
        topcat, splat = Program("TOPCAT", TABLE, ROW), Program("SPLAT", SPECTRUM)
        page = connected(client, ROW)
        names = {page.call("getMetadata", each)["samp.name"] for each in page.call("getRegisteredClients")}
        assert {"TOPCAT", "SPLAT"} <= names
        assert topcat.get_metadata(page.id)["samp.name"] == "Spec-o3"
        sent = client.post("/api/v1/samp/table", json={}).json()
        receivers = page.tell(TABLE, url=f"http://127.0.0.1{sent['path']}", **{"table-id": sent["path"]})
        assert receivers == [topcat.get_public_id()]
        mtype, parameters = topcat.message()
        assert mtype == TABLE
        file = client.post("/api/v1/samp/spectrum/1").json()
        assert page.tell(SPECTRUM, url=file["path"], name=file["name"]) == [splat.get_public_id()]
        assert splat.message() == (SPECTRUM, {"url": file["path"], "name": "U Gem 1"})
    client.cookies.clear()  # programs have no session
    table = Table.read(io.BytesIO(client.get(parameters["url"]).content), format="votable")
    assert table[ITEM].tolist() == sent["items"] == [1, 2, 3]
    assert [str(name) for name in table["name"]] == ["U Gem 1", "U Gem 2", "U Gem 3"]
    assert np.ma.filled(table["ra"], np.nan)[:2].tolist() == [10.5, 187.706]
    assert np.isnan(np.ma.filled(table["dec"], np.nan)[2])
    assert (table["ra"].unit, table["dec"].meta["ucd"]) == ("deg", "pos.eq.dec;meta.main")
    stored = store.spectra.get(store.items.get(1).row.spectrum_sha256 or "")
    (path := tmp_path / "sent.vot").write_bytes(client.get(file["path"]).content)
    back = read(path)
    assert np.array_equal(back.wavelength, stored.wavelength)
    np.testing.assert_allclose(back.ivar, stored.ivar, rtol=1e-9)
    assert (back.flux_unit, back.medium, back.ra, back.dec) == (stored.flux_unit, stored.medium, 10.5, -5.25)
    assert back.meta.get("medium_assumed") == stored.meta.get("medium_assumed")


def test_messages_of_programs_come_to_the_page_and_calls_are_answered(client: TestClient, tmp_path: Path) -> None:
    (file := tmp_path / "sent.vot").write_text("<VOTABLE/>")
    with a_hub(tmp_path):
        topcat = Program("TOPCAT")
        page = connected(client, TABLE, ROW)
        topcat.tell(TABLE, url=f"file://{file}", name="a table", **{"table-id": "t1"})
        (message,) = page.messages(1)
        assert message["samp.methodName"] == "samp.client.receiveNotification"
        sender, content = message["samp.params"]
        assert sender == topcat.get_public_id()
        assert content["samp.params"]["table-id"] == "t1"
        assert client.post("/api/v1/samp/fetch", json={"url": f"file://{file}"}).text == "<VOTABLE/>"
        for other in ("file:///etc/hosts", "http://127.0.0.1:1/", f"file://{tmp_path}/annotations.db"):
            refused = client.post("/api/v1/samp/fetch", json={"url": other})
            assert (refused.status_code, "No program has sent" in refused.json()["error"]) == (403, True)
        message_id = topcat.call(page.id, "tag", {"samp.mtype": ROW, "samp.params": {"row": "3"}})
        (call,) = page.messages(1)
        assert call["samp.methodName"] == "samp.client.receiveCall"
        assert call["samp.params"][1] == message_id
        assert call["samp.params"][2].items() >= {"samp.mtype": ROW, "samp.params": {"row": "3"}}.items()
        page.call("reply", message_id, {"samp.status": "samp.ok", "samp.result": {}})


def test_no_program_learns_of_the_environment_and_strange_messages_change_nothing(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "s3cret")
    with a_hub(tmp_path):
        other = Program("other")
        page = connected(client, "client.env.get", TABLE, ROW)
        other.notify(page.id, {"samp.mtype": "client.env.get", "samp.params": {"name": "SECRET"}})
        nested: Any = "deep"
        for _ in range(60):
            nested = [nested]
        strange = [
            {"samp.mtype": TABLE},
            {"samp.mtype": TABLE, "samp.params": ["no map"]},
            {"samp.mtype": TABLE, "samp.params": {"url": {"no": "text"}, "n": 3, "when": xmlrpc.client.DateTime(0)}},
            {"samp.mtype": ROW, "samp.params": {"row": nested, "bytes": xmlrpc.client.Binary(b"\0\xff")}},
        ]
        for message in strange:
            other.notify(page.id, message)
        received = page.messages(1 + len(strange))
        assert len(received) == 1 + len(strange)
        assert "s3cret" not in str(received)
        for number in range(MOST_WAITING + 20):
            other.notify(page.id, {"samp.mtype": ROW, "samp.params": {"row": str(number)}})
        other.disconnect()
        gone = page.send("getMetadata", "nobody")
        assert (gone.status_code, "refuses" in gone.json()["error"]) == (409, True)
        assert page.call("getRegisteredClients"), "the connection holds"


def test_a_new_page_ends_the_registration_of_the_last_and_the_end_is_a_sentence(
    client: TestClient, tmp_path: Path
) -> None:
    no_hub = client.post(CALL, json=REGISTER)
    with a_hub(tmp_path) as hub:
        first, second = connected(client), connected(client)
        ended = first.send("pullCallbacks")
        assert (ended.status_code, ended.json()["kind"]) == (409, "samp")
        assert "not connected with the SAMP hub any more" in ended.json()["error"]
        assert second.call("pullCallbacks") == []
        strange = second.send("reply", "too", "many", "words", "here")
        assert strange.status_code == 422
        second.call("unregister")
        third = connected(client)
        hub.stop()
        lost = third.send("getRegisteredClients")
        assert (lost.status_code, "does not answer" in lost.json()["error"]) == (409, True)
    with a_hub(tmp_path) as hub:
        hub.stop()
        assert client.post(CALL, json=REGISTER).json()["kind"] == "samp"
    assert no_hub.status_code == 409
    assert "Start TOPCAT, Aladin" in no_hub.json()["error"]


def test_the_hub_of_the_server_is_for_people_on_its_machine(client: TestClient, store: Store) -> None:
    assert client.get("/api/v1/samp").json() == {"here": True}
    store.accounts.set_password(None, "RV", "a long enough password")
    assert client.post(CALL, json=REGISTER).status_code == 401
    signed_in = client.post("/sign-in", data={"initials": "RV", "password": "a long enough password"})
    assert signed_in.status_code == 303
    assert client.get("/api/v1/samp").json() == {"here": False}
    refused = client.post(CALL, json=REGISTER)
    assert (refused.status_code, "work on that machine alone" in refused.json()["error"]) == (403, True)


def test_files_are_had_by_their_address_only(client: TestClient, store: Store) -> None:
    path = client.post("/api/v1/samp/table", json={"batch": "first"}).json()["path"]
    with client_of(store, "RV") as other:  # of another server
        assert other.get(path).status_code == 404
    client.cookies.clear()
    assert client.get(path).headers["content-type"] == "application/x-votable+xml"
    assert client.get("/samp/unknown.vot").status_code == 404
    assert client.post("/api/v1/samp/table", json={}).status_code == 401


def votable(table: Table) -> bytes:
    table.write(file := io.BytesIO(), format="votable")
    return file.getvalue()


def rows_of(client: TestClient, content: bytes, query: str = "") -> Any:
    answer = client.post(f"/api/v1/samp/rows{query}", files={"file": ("theirs.vot", content)})
    return answer.json()["items"] if answer.status_code == 200 else answer.json()["error"]


def test_the_rows_of_a_table_are_found_by_number_position_and_name(client: TestClient) -> None:
    ours = client.get(client.post("/api/v1/samp/table", json={}).json()["path"]).content
    assert rows_of(client, ours) == [1, 2, 3]
    shuffled = Table.read(io.BytesIO(ours), format="votable")[[2, 0]]
    assert rows_of(client, votable(shuffled)) == [3, 1]
    places = Table({"RAJ2000": [187.7061, 10.5, 200.0], "DEJ2000": [12.391, -5.2504, 0.0]})
    assert rows_of(client, votable(places)) == [2, 1, None]
    # The numbers of another database: names and positions count.
    foreign = Table({ITEM: [3, 1], "name": ["another 3", "another 1"], "ra": [10.5, 77.0], "dec": [-5.25, 8.0]})
    assert rows_of(client, votable(foreign)) == [1, None]
    assert "columns with positions (ra, dec) or names" in rows_of(client, votable(Table({"mag": [1.0]})))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no XML",
        b"<VOTABLE>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><VOTABLE/>',
        b'<VOTABLE><RESOURCE><TABLE><DATA><BINARY><STREAM href="file:///etc/passwd"/></BINARY></DATA></TABLE></RESOURCE></VOTABLE>',
        votable(Table({"ra": ["10 30 00", "no"], "dec": ["+5 0 0", ""]})),
        votable(Table({"ra": [np.nan, 1e300], "dec": [np.inf, -91.0]})),
    ],
)
def test_what_is_no_table_of_objects_is_refused_or_matches_nothing(client: TestClient, content: bytes) -> None:
    found = rows_of(client, content)
    assert isinstance(found, str) or found == [None, None]


def test_hidden_items_go_nowhere(client: TestClient, store: Store) -> None:
    store.settings.set("CO", "verdict_first", ["later"])
    assert client.post("/api/v1/samp/table", json={}).json()["items"] == [1, 3]
    assert client.get("/api/v1/samp/position/1").json() == {"ra": 10.5, "dec": -5.25}
    assert client.get("/api/v1/samp/position/2").json() == {"ra": None, "dec": None}
    hidden = client.post("/api/v1/samp/spectrum/2").json()
    assert "Gem" not in hidden["name"] + client.get(hidden["path"]).text
    assert "187.7" not in client.get(hidden["path"]).text
    places = votable(Table({"ra": [187.706], "dec": [12.391]}))
    assert rows_of(client, places) == [None]
    assert rows_of(client, votable(Table({"ra": [10.5], "dec": [-5.25]})), "?verdict_first=true") == [None]
