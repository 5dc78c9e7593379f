"""What stays hidden: names before one's own verdict, and everything of an item that is hidden or scored blind."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.store import Store
from reviewer.web.verdict_first import neutral_trajectory
from tests.reviewer.sky.objects import STAR, failed, gaia, named, source, starry
from tests.reviewer.web.conftest import client_of
from tests.support.blind_campaign import opened
from tests.support.campaign import TO_VOTE, Desk

HIDDEN = "Hidden until you have given your verdict."
TYPE = "a cataclysmic binary"
WINDOW = {"spectrum": "item-1", "of": "item-1", "lo": "6500", "hi": "6600"}


def commit(store: Store, item: int, person: str, verdict: str = "YES") -> None:
    version = store.items.get(item).version.id
    store.marks.commit_verdict(person=person, item_id=item, version_id=version, verdict=verdict)


def simbad_link(store: Store, item: int, person: str) -> str:
    return client_of(store, person).get(f"/api/v1/item/{item}").json().get("simbad", "")


def test_names_wait_for_ones_own_verdict(add, panel, store) -> None:
    spectrum = starry()
    item = add(spectrum, gaia(spectrum, source(**STAR)), named(spectrum, otype=TYPE), named(spectrum, "vsx"))
    before = panel(spectrum.sha256)
    assert (before["names"], before["names_hidden"]) == ([], True)
    assert [answer["catalogue"] for answer in before["catalogues"]] == ["gaia_dr3"]
    assert simbad_link(store, item, "RE") == ""
    commit(store, item, "RE", "NO")
    after = panel(spectrum.sha256)
    assert [(name["catalogue"], name["texts"]) for name in after["names"]] == [("SIMBAD", {"otype": TYPE})]
    assert {answer["catalogue"]: answer["status"] for answer in after["catalogues"]} == {
        "gaia_dr3": "found",
        "simbad": "found",
        "vsx": "not found",
    }
    assert not after["names_hidden"]
    assert simbad_link(store, item, "RE").startswith("https://simbad.cds.unistra.fr/simbad/sim-coo?Coord=150.0")
    assert panel(spectrum.sha256, "AU") == before
    assert simbad_link(store, item, "AU") == ""


def test_names_are_shown_to_everybody_once_the_item_is_decided(add, panel, store) -> None:
    spectrum = starry()
    item = add(spectrum, named(spectrum, otype=TYPE))
    Desk(store).until(item, *TO_VOTE)
    assert panel(spectrum.sha256, "RE")["names"] == [], "a decision of a round is no verdict on the spectrum"
    Desk(store).until(item, ("VO", "approve"), ("JU", "approve"))
    assert store.items.get(item).standing.state == "approved"
    for person in ("RE", "CO"):
        assert panel(spectrum.sha256, person)["names"] != []
        assert simbad_link(store, item, person) != ""


def test_a_withdrawn_item_is_not_decided(add, panel, store) -> None:
    from reviewer.store import Selection

    spectrum = starry()
    item = add(spectrum, named(spectrum, otype=TYPE))
    store.withdrawals.withdraw("CO", Selection(first=item))
    assert panel(spectrum.sha256)["names"] == []


def test_whether_a_catalogue_of_names_has_the_object_does_not_change_what_is_sent(add, panel) -> None:
    """Being in a list of variable stars is a class."""
    here, without, broken = (starry(number) for number in range(3))
    star = source(**STAR)
    add(here, gaia(here, star), named(here, "vsx", Type="UG"), named(here, "a_list_of_carbon_stars", type="C"))
    add(without, gaia(without, star), named(without, "vsx"), named(without, "a_list_of_carbon_stars"))
    add(broken, gaia(broken, star), failed(broken, "vsx"), failed(broken, "a_list_of_carbon_stars"))
    shown = [panel(spectrum.sha256) for spectrum in (here, without, broken)]
    for answer in shown:
        for band in answer["bands"]:
            del band["synthetic"], band["difference"]  # of the spectra, which differ
        del answer["sed_note"]
    assert shown[0] == shown[1] == shown[2]


# ---- hidden items


@pytest.fixture(params=["verdict first", "the person's switch", "blind"])
def hidden(request: pytest.FixtureRequest, store: Store, add) -> Iterator[tuple[TestClient, dict[str, str]]]:
    """The browser of a person for whom the first item is hidden, and what its page adds to requests."""
    for number in range(2):
        add(starry(number), batch="november")
    if request.param == "verdict first":
        store.settings.set("CO", "verdict_first", ["november"])
    if request.param == "blind":
        opened(store, scorers=("RE", "AU", "VO"), each=2)
    app = server.build(store, local=True)
    yield client_of(app, "RE"), {"verdict_first": "true"} if request.param == "the person's switch" else {}
    app.state.context.similar.close()


def payloads(client: TestClient, query: dict[str, str], store: Store) -> dict[str, tuple[int, bytes, str]]:
    """Every answer of every route that reads something, about the first item."""
    work = [each.token for each in store.blind.scoring.assignments("RE")] if store.blind.sessions.all("CO") else []
    values = {"item_id": "1", "sha256": "item-1", "name": "ab" * 32, "token": work[0] if work else "none"}
    values |= dict.fromkeys(("number", "view_id", "trace", "run", "row", "session", "export_id", "key"), "1")
    values |= {"template_id": "calspec-vega", "kind": "csv", "webhook_id": "1"}
    read: dict[str, tuple[int, bytes, str]] = {}
    described = client.get("/api/v1/openapi.json").json()["paths"]
    for path in sorted(path for path, methods in described.items() if "get" in methods):
        parameters = {each["name"] for each in described[path]["get"].get("parameters", ()) if each["in"] == "query"}
        sent = {name: value for name, value in {**WINDOW, **query}.items() if name in parameters}
        answer = client.get(path.format(**values), params=sent)
        # The number of the log's last entry: an import of records has one, as a backup has.
        content = re.sub(rb'"stamp":\d+', b"", answer.content)
        read[path] = (answer.status_code, content, answer.headers.get("cache-control", ""))
    return read


def test_records_change_no_byte_of_what_a_hidden_item_sends(hidden, store: Store) -> None:
    client, query = hidden
    before = payloads(client, query, store)
    answered = {path for path, (status, *_) in before.items() if status == 200}
    assert {"/api/v1/queue", "/api/v1/sparklines"} <= answered
    if query or not store.blind.sessions.all("CO"):
        assert {"/api/v1/item/{item_id}", "/api/v1/spectrum/{sha256}", "/api/v1/spectrum/{sha256}/sky"} <= answered
        assert json.loads(before["/api/v1/spectrum/{sha256}/sky"][1])["note"] == HIDDEN
    else:
        assert {"/api/v1/blind/sheet/{token}", "/api/v1/blind/sheet/{token}/spectrum"} <= answered
        assert before["/api/v1/spectrum/{sha256}/sky"][0] == 403
    for number in range(2):
        spectrum = starry(number)
        records = (gaia(spectrum, source(**STAR)), named(spectrum, otype=TYPE), failed(spectrum, "vsx"))
        store.sky.add([(spectrum.sha256, record) for record in records])
    after = payloads(client, query, store)
    assert {path for path in before if before[path] != after[path]} == set()


def test_a_step_of_the_sky_tool_is_not_among_the_windows_of_a_hidden_item() -> None:
    zoom = {"id": "s1", "kind": "zoom", "arguments": {"wavelength_range": [6500, 6600]}, "picture": "a"}
    sky = {"id": "s2", "kind": "zoom", "tool": "sky_context", "arguments": {}, "observation": "M_G 10", "picture": "b"}
    sent = neutral_trajectory({"spectrum": {"sha256": "0" * 64}, "steps": [zoom, sky]}, 1)
    assert [step["id"] for step in sent["steps"]] == ["s1"]


def test_the_panel_of_a_hidden_spectrum_is_refused_under_its_hash(add, panel, store) -> None:
    spectrum = starry()
    add(spectrum, gaia(spectrum, source(**STAR)))
    store.settings.set("CO", "verdict_first", ["november"])
    client = client_of(store, "RE")
    assert client.get(f"/api/v1/spectrum/{spectrum.sha256}/sky").status_code == 403
    assert panel("item-1")["note"] == HIDDEN
    commit(store, 1, "RE")
    assert panel(spectrum.sha256)["point"] is not None
