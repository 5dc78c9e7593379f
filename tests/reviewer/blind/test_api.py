"""The Blind tab's HTTP routes: what scorers and coordinators receive, and what is withheld from them."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from agent import plot, tool
from agent.trajectory import Trajectory, Zoom
from reviewer import server
from reviewer.blind.plan import Plan
from reviewer.blind.titles import has_neutral_title
from reviewer.exchange.exports import NothingToExport, export
from reviewer.store import Draft, Store
from tests.support.blind_campaign import (
    OMEGA,
    PASSWORD,
    SESSION_SCORERS,
    TELLING,
    ZETA,
    by,
    chunks_of,
    picture_by,
    team,
    two_sources,
)

BOTH = Plan("zq session", SESSION_SCORERS, mode="both", each=2, repeats=1)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return team(tmp_path_factory.mktemp("blind") / "first.db", two_sources(4, TELLING))


@pytest.fixture
def store(database: Path, tmp_path: Path) -> Iterator[Store]:
    path = tmp_path / "annotations.db"
    path.write_bytes(database.read_bytes())
    with Store.open(path) as store:
        yield store


@pytest.fixture
def app(store: Store) -> Any:
    return server.build(store, local=True)


def key() -> str:
    return uuid4().hex


def client_of(app: Any, initials: str) -> TestClient:
    client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
    answer = client.post("/sign-in", data={"initials": initials, "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    return client


def opened(store: Store, plan: Plan = BOTH) -> int:
    session = store.blind.sessions.create("CO", plan, key())
    store.blind.sessions.open("CO", session.id, key())
    return session.id


def everything(client: TestClient, token: str) -> dict[str, tuple[dict[str, str], bytes]]:
    """Every response about one sheet with its headers, by path, with the token replaced."""
    sheet = client.get(f"/api/v1/blind/sheet/{token}").json()
    paths = ["", "/spectrum", "/atlas"]
    for at, trace in enumerate(sheet["traces"]):
        numbers = [trace["overview"], *(step["picture"] for step in trace["steps"])]
        paths += [f"/picture/{at}/{number}" for number in numbers if number is not None]
    found = {}
    for path in paths:
        answer = client.get(f"/api/v1/blind/sheet/{token}{path}")
        assert answer.status_code == 200, (path, answer.text)
        headers = {name: value for name, value in answer.headers.items() if name not in ("date", "content-length")}
        found[path] = (headers, answer.content.replace(token.encode(), b"TOKEN"))
    return found


def answered(client: TestClient, place: dict[str, Any]) -> dict[str, tuple[dict[str, str], bytes]]:
    """Every response about one sheet, which is then answered: places are opened in order."""
    found = everything(client, place["token"])
    verb = "score" if place["kind"] == "scores" else "prefer"
    given = {"coherence": 3, "consistency": 2} if verb == "score" else {"preference": "equal"}
    body = {**given, "comment": "zq-comment", "key": key()}
    answer = client.post(f"/api/v1/blind/sheet/{place['token']}/{verb}", json=body)
    assert answer.status_code == 200, answer.text
    return found


def test_under_another_source_the_same_traces_are_the_same_bytes(tmp_path: Path) -> None:
    """Another drafter, of another kind, with other settings and another known label."""
    plain = [draft for draft in two_sources(3) if draft.trajectory.drafter.name == ZETA]
    sent = []
    for source, label in ((ZETA, "YES"), (OMEGA, "NO")):
        drafts = [replace(draft, trajectory=of(source, label, draft.trajectory)) for draft in plain]
        with Store.open(team(tmp_path / f"{label}.db", drafts)) as store:
            opened(store, Plan(f"about {source}", ("SA",), each=1, repeats=1, seed=7))
            client = client_of(server.build(store, local=True), "SA")
            (work,) = client.get("/api/v1/blind/work").json()
            sent.append([answered(client, place) for place in work["places"]])
    assert len(sent[0]) == 4
    assert sent[0] == sent[1]


def of(source: str, label: str, trajectory: Trajectory) -> Trajectory:
    made = by(source, trajectory)
    drafter = replace(made.drafter, kind="baseline" if source == OMEGA else "model", settings={"a": source})
    return replace(made, label=label, drafter=drafter)


def test_a_sheet_has_only_the_numbers_of_its_spectrum(app: Any, store: Store) -> None:
    opened(store)
    client = client_of(app, "SA")
    (work,) = client.get("/api/v1/blind/work").json()
    packed = client.get(f"/api/v1/blind/sheet/{work['places'][0]['token']}/spectrum").content
    (length,) = struct.unpack("<I", packed[:4])
    header = json.loads(packed[4 : 4 + length])
    shown = {name: value for name, value in header.items() if value not in (None, "", [], {})}
    # The lines are drawn at the redshift; the typical S/N is computed from the numbers.
    numbers = {"n", "medium", "frame", "fluxUnit", "errors", "redshift", "snr_typical"}
    assert set(shown) <= {"name", *numbers}
    assert shown["name"] == "spectrum"


def test_a_picture_is_sent_without_the_metadata_of_its_file(tmp_path: Path) -> None:
    """The metadata of an imported picture may name its program and author."""
    image, png = picture_by(ZETA)
    name = hashlib.sha256(image.tobytes()).hexdigest()
    trajectory = two_sources(1)[0].trajectory
    steps = tuple(replace(s, picture=name) if isinstance(s, Zoom) else s for s in trajectory.steps)
    draft = Draft(replace(trajectory.with_steps(steps), overview=name, spectrum_sha256=None), pictures={name: png})
    with Store.open(team(tmp_path / "a.db", [draft])) as store:
        opened(store, Plan("one", ("SA",), each=1))
        client = client_of(server.build(store, local=True), "SA")
        token = client.get("/api/v1/blind/work").json()[0]["places"][0]["token"]
        assert client.get(f"/api/v1/blind/sheet/{token}/spectrum").status_code == 404
        answer = client.get(f"/api/v1/blind/sheet/{token}/picture/0/0")
        with Image.open(BytesIO(answer.content)) as seen:
            assert seen.tobytes() == image.tobytes()
    assert set(chunks_of(answer.content)) == {b"IHDR", b"IDAT", b"IEND"}
    assert ZETA.encode() in png
    assert ZETA.encode() not in answer.content


def test_no_picture_has_the_name_of_its_file_as_title(tmp_path: Path) -> None:
    """Kept pictures of traces with and without a stored spectrum, of one session."""
    drafts = []
    for number, draft in enumerate(two_sources(2)):
        seen = draft.spectrum
        drawn = plot.draw(tool.tool_wavelength(seen), seen.flux, None, f"Spectrum: {seen.name}")
        assert not has_neutral_title(drawn)
        name = plot.pixels_sha256(drawn)
        made = replace(draft.trajectory, overview=name)
        if number >= 2:
            zooms = tuple(replace(s, picture=name) if isinstance(s, Zoom) else s for s in made.steps)
            made, seen = replace(made.with_steps(zooms), spectrum_sha256=None), None
        drafts.append(Draft(made, seen, pictures={name: plot.png_bytes(drawn)}))
    shown = 0
    with Store.open(team(tmp_path / "a.db", drafts)) as store:
        opened(store, Plan("one", ("SA",), each=1, items=(1, 2, 3, 4)))
        client = client_of(server.build(store, local=True), "SA")
        (work,) = client.get("/api/v1/blind/work").json()
        for place in work["places"]:
            sheet = client.get(f"/api/v1/blind/sheet/{place['token']}").json()
            for number in range(1 + sum(step["picture"] is not None for step in sheet["traces"][0]["steps"])):
                answer = client.get(f"/api/v1/blind/sheet/{place['token']}/picture/0/{number}")
                with Image.open(BytesIO(answer.content)) as seen_there:
                    assert has_neutral_title(seen_there)
                shown += 1
            body = {"coherence": 3, "consistency": 3, "key": key()}
            assert client.post(f"/api/v1/blind/sheet/{place['token']}/score", json=body).status_code == 200
    assert shown > 8


@pytest.mark.parametrize("path", ["/picture/2/0", "/picture/-1/0", "/picture/0/99", "/picture/0/-1"])
def test_a_picture_that_is_not_on_the_sheet_is_not_found(app: Any, store: Store, path: str) -> None:
    opened(store)
    client = client_of(app, "SA")
    (work,) = client.get("/api/v1/blind/work").json()
    assert client.get(f"/api/v1/blind/sheet/{work['places'][0]['token']}{path}").status_code == 404


def test_the_token_of_another_scorer_is_like_one_that_does_not_exist(app: Any, store: Store) -> None:
    opened(store)
    mine, theirs = client_of(app, "SA"), client_of(app, "SB")
    token = theirs.get("/api/v1/blind/work").json()[0]["places"][0]["token"]
    for path in ("", "/spectrum", "/atlas", "/picture/0/0"):
        answers = [mine.get(f"/api/v1/blind/sheet/{t}{path}") for t in (token, "made-up")]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].json() == answers[1].json()
    assert client_of(app, "CO").get("/api/v1/blind/work").json() == []


def test_an_answer_counts_once_and_can_be_changed(app: Any, store: Store) -> None:
    session = opened(store)
    client = client_of(app, "SA")
    (work,) = client.get("/api/v1/blind/work").json()
    token = work["places"][0]["token"]
    given = {"coherence": 4, "consistency": None, "comment": "noisy", "wrong_steps": ["s1"], "key": key()}
    for _ in range(2):
        answer = client.post(f"/api/v1/blind/sheet/{token}/score", json=given)
        assert answer.json()["consistency"] == "cannot tell"
    other = client.post(f"/api/v1/blind/sheet/{token}/score", json={**given, "coherence": 1})
    assert (other.status_code, other.json()["kind"]) == (409, "key_reused")
    for wrong in ({"coherence": 6}, {"coherence": 2.5}, {"coherence": True}, {"wrong_steps": ["s99"]}):
        refused = client.post(f"/api/v1/blind/sheet/{token}/score", json={**given, "key": key(), **wrong})
        assert refused.status_code in (404, 422), wrong
    again = client.post(f"/api/v1/blind/sheet/{token}/score", json={**given, "coherence": 0, "key": key()})
    assert again.json()["coherence"] == 0
    assert client.get(f"/api/v1/blind/sheet/{token}").json()["mine"]["coherence"] == 0
    for place in work["places"][1:]:
        if place["kind"] == "pair":
            break
        answered(client, place)
    pair = place["token"]
    chosen = client.post(f"/api/v1/blind/sheet/{pair}/prefer", json={"preference": "both bad", "key": key()})
    assert chosen.json() == {"preference": "both bad", "comment": ""}
    store.blind.sessions.close("CO", session, key())
    late = client.post(f"/api/v1/blind/sheet/{token}/score", json={**given, "key": key()})
    assert (late.status_code, late.json()["kind"]) == (403, "not_allowed")
    assert client.get(f"/api/v1/blind/sheet/{token}").status_code == 403


def test_items_scored_blind_are_withheld_from_their_scorers_everywhere_else(app: Any, store: Store) -> None:
    session = opened(store, replace(BOTH, scorers=("SA",), each=1))
    client, other = client_of(app, "SA"), client_of(app, "SB")
    rows = client.get("/api/v1/queue").json()["rows"]
    assert [row["id"] for row in rows] == list(range(1, 9))
    assert {json.dumps({**row, "id": 0}) for row in rows} == {json.dumps({**rows[0], "id": 0})}
    assert ZETA not in json.dumps(rows)
    for query in (
        {"drafter": ZETA},
        {"text": "zq"},
        {"survey": "LAMOST"},
        {"snr_min": 1},
        {"batch": "november"},
        {"simulated": False},
    ):
        assert client.get("/api/v1/queue", params=query).json()["rows"] == [], query
        assert len(other.get("/api/v1/queue", params=query).json()["rows"]) > 0, query
    found = store.items.get(1)
    sha256 = found.row.spectrum_sha256
    zoom = found.version.trajectory.zooms[0]
    for path in (
        *(f"/api/v1/item/1{more}" for more in ("", "/history", "/hints")),
        *("/api/v1/place/1", f"/api/v1/spectrum/{sha256}", f"/api/v1/picture/{zoom.picture}"),
        f"/api/v1/picture/{'0' * 64}?spectrum={sha256}",
    ):
        assert client.get(path).status_code == 403, path
        assert ZETA not in client.get(path).text
    for path, body in (
        ("/api/v1/item/1/lease", {}),
        ("/api/v1/zoom", {"item": 1, "arguments": {"wavelength_range": [6500, 6600]}}),
        ("/api/v1/live/bench", {"item": 1}),
    ):
        assert client.post(path, json=body).status_code == 403, path
        assert other.post(path, json=body).status_code == 200, path
    of = {"of": f"{sha256},item-1"}
    assert client.get("/api/v1/sparklines", params=of).json()["sparklines"] == {}
    assert set(other.get("/api/v1/sparklines", params=of).json()["sparklines"]) == {sha256, "item-1"}
    assert client.get("/api/v1/first").json() == {"id": None, "from_start": False}
    assert other.get("/api/v1/first").json() == {"id": 1, "from_start": False}
    assert client.get("/api/v1/live/library").json() == []
    assert len(other.get("/api/v1/live/library").json()) == 8
    store.blind.sessions.close("CO", session, key())
    assert client.get("/api/v1/item/1").status_code == 200


def test_the_queue_skips_withheld_items(app: Any, store: Store) -> None:
    opened(store, Plan("some", ("SA",), each=1, items=(3, 4, 6)))
    client = client_of(app, "SA")
    # Items 5 and 6 are two traces of one spectrum.
    assert client.get("/api/v1/place/2").json() == {"next": [7, 8], "back": [1], "before": 1}
    assert client.get("/api/v1/place/7").json()["back"] == [2]
    drafted = client.get("/api/v1/queue", params={"drafter": ZETA, "limit": 2}).json()
    assert [row["id"] for row in drafted["rows"]] == [1, 7]


def test_an_export_holds_no_item_that_its_exporter_scores_blind(store: Store, tmp_path: Path) -> None:
    store.accounts.add_person("SX", "Both", ["reviewer", "coordinator"])
    opened(store, Plan("some", ("SX",), each=1))
    store_approved = store.queue.approved
    store.queue.approved = lambda *arguments: [1, 2]  # type: ignore[method-assign]
    try:
        with pytest.raises(NothingToExport, match="you score it in a blind session"):
            export(store, "mine", person="SX", folder=tmp_path)
    finally:
        store.queue.approved = store_approved  # type: ignore[method-assign]


def plan_of(**other: Any) -> dict[str, Any]:
    return {"name": "zeta against omega", "scorers": list(SESSION_SCORERS), "mode": "both", **other}


def test_a_coordinator_sets_a_session_up(app: Any, store: Store) -> None:
    client = client_of(app, "CO")
    setup = client.get("/api/v1/blind/setup").json()
    assert [(stratum["source"], stratum["items"]) for stratum in setup["strata"]] == [(OMEGA, 4), (ZETA, 4)]
    assert {person["initials"] for person in setup["people"]} == {*SESSION_SCORERS, "CO"}
    seen = client.post("/api/v1/blind/preview", json={"plan": plan_of(number=2)}).json()
    assert [(stratum["source"], stratum["number"]) for stratum in seen["scores"]] == [(OMEGA, 2), (ZETA, 2)]
    assert [stratum["number"] for stratum in seen["pairs"]] == [2]
    assert sum(scorer["questions"] for scorer in seen["scorers"]) == 2 * (4 + 2)
    assert client.get("/api/v1/blind/sessions").json() == []
    sent = {"plan": plan_of(number=2), "key": key()}
    made = [client.post("/api/v1/blind/sessions", json=sent).json() for _ in range(2)]
    assert made[0] == made[1]
    assert made[0]["state"] == "drawn"
    assert [scorer["questions"] for scorer in made[0]["progress"]] == [
        scorer["questions"] for scorer in seen["scorers"]
    ]


def test_a_preview_has_spectra_by_stratum_and_how_many_two_scorers_share(app: Any, store: Store) -> None:
    client = client_of(app, "CO")
    seen = client.post("/api/v1/blind/preview", json={"plan": plan_of(strata=["survey", "label"], training=[2])}).json()
    # The training item is one source's trace of a spectrum, which is not compared then.
    assert seen["strata"] == [{"stratum": ["cv", "LAMOST", "YES"], "spectra": 3}]
    assert (seen["spectra"], seen["training"]) == (3, 1)
    assert seen["shared"] == {"least": 1, "most": 1}
    assert [one["questions"] for one in seen["scorers"]] == [2 * 3 + 1] * 3


def test_the_power_of_a_plan_is_calculated_or_refused_with_a_message(app: Any) -> None:
    client = client_of(app, "CO")

    def ask(**other: object) -> Any:
        return client.post("/api/v1/blind/power", json={"spectra": 10, "scorers": 3, "each": 3} | other)

    sentences = ask().json()["sentences"]
    assert [re.search(r"a difference of (\S+)\.$", sentence)[1] for sentence in sentences] == ["0.3", "0.5"]
    assert "spec-o3 blind power" in ask(spectra=121).json()["sentences"][0]
    assert (ask(spectra=4).status_code, ask(each=4).status_code, ask(scorers=-1).status_code) == (422, 422, 422)
    assert "spectra: found 4" in ask(spectra=4).json()["error"]


@pytest.mark.parametrize(
    ("wrong", "status", "sentence"),
    [
        ({"each": 9}, 422, "each: found 9 scorers per item"),
        ({"number": 40}, 409, "expected 40 spectra of each"),
        ({"scorers": ["SA", "NOBODY"]}, 404, "NOBODY"),
    ],
)
def test_an_impossible_plan_is_refused_with_a_message(app, wrong, status, sentence) -> None:
    client = client_of(app, "CO")
    for path, more in (("/api/v1/blind/preview", {}), ("/api/v1/blind/sessions", {"key": key()})):
        answer = client.post(path, json={"plan": plan_of(**wrong), **more})
        assert answer.status_code == status, answer.text
        assert sentence in answer.json()["error"]


def test_giveaways_are_listed_with_their_sentence_but_not_for_a_scorer(app: Any, store: Store) -> None:
    store.accounts.add_person("BX", "Both", ["reviewer", "coordinator"], password=PASSWORD)
    session = store.blind.sessions.create("CO", replace(BOTH, scorers=(*SESSION_SCORERS, "BX")), key()).id
    found = client_of(app, "CO").get(f"/api/v1/blind/sessions/{session}/giveaways").json()
    gpt = next(giveaway for giveaway in found if giveaway["words"] == "GPT-5")
    assert (gpt["item"], gpt["source"], gpt["step"], gpt["kind"]) == (2, OMEGA, 1, "model")
    assert gpt["sentence"] == TELLING.strip()
    refused = client_of(app, "BX").get(f"/api/v1/blind/sessions/{session}/giveaways")
    assert refused.status_code == 403
    assert OMEGA not in refused.text


def test_fingerprints_and_history_are_shown_before_the_opening(app: Any, store: Store) -> None:
    """A coordinator who scores sees the history, which names no source, and no fingerprints."""
    store.accounts.add_person("BX", "Both", ["reviewer", "coordinator"], password=PASSWORD)
    plan = replace(BOTH, scorers=(*SESSION_SCORERS, "BX"))
    given_up = store.blind.sessions.create("CO", replace(plan, seed=41), key())
    store.blind.sessions.close("CO", given_up.id, key())
    session = store.blind.sessions.create("CO", plan, key()).id
    client, both = client_of(app, "CO"), client_of(app, "BX")
    found = client.get(f"/api/v1/blind/sessions/{session}/fingerprints").json()
    assert found["traces"] == {OMEGA: 4, ZETA: 4}
    assert "it takes 10 traces of each source" in found["sentence"]
    assert set(found["pictures"]) == {OMEGA, ZETA}
    assert {state for states in found["pictures"].values() for state in states} == {"drawn anew"}
    refused = both.get(f"/api/v1/blind/sessions/{session}/fingerprints")
    assert refused.status_code == 403
    assert OMEGA not in refused.text
    for one in (client, both):
        answer = one.get(f"/api/v1/blind/sessions/{session}/history")
        assert OMEGA not in answer.text
        (unopened,) = answer.json()["unopened"]
        assert (unopened["session"], unopened["seed"]) == (given_up.id, 41)
        assert unopened["discarded"] is not None
        assert answer.json()["earlier"] == []


def test_a_coordinator_who_scores_gets_no_sources_of_their_spectra_from_other_sessions(app: Any, store: Store) -> None:
    store.accounts.add_person("BX", "Both", ["reviewer", "coordinator"], password=PASSWORD)
    earlier = opened(store, replace(BOTH, items=(1, 2), repeats=0))
    store.blind.sessions.close("CO", earlier, key())
    own = opened(store, replace(BOTH, scorers=("BX",), each=1))
    client = client_of(app, "BX")
    copy = client.post("/api/v1/blind/sessions", json={"plan": BOTH.to_json(), "key": key()}).json()["id"]
    withheld = {one["id"]: one["withheld"] for one in client.get("/api/v1/blind/sessions").json()}
    assert withheld[own].startswith("You score in this session")
    for session in (copy, earlier):
        assert withheld[session].startswith(f"Session {session} has traces that you score in another session")
        for what in ("giveaways", "fingerprints", "report.html", "report.zip"):
            refused = client.get(f"/api/v1/blind/sessions/{session}/{what}")
            assert (refused.status_code, OMEGA in refused.text) == (403, False), (session, what)
    assert all(one["withheld"] == "" for one in client_of(app, "CO").get("/api/v1/blind/sessions").json())


def test_the_coordinator_of_an_open_session_sees_only_its_progress(app: Any, store: Store) -> None:
    session = opened(store)
    scorer, client = client_of(app, "SA"), client_of(app, "CO")
    (work,) = scorer.get("/api/v1/blind/work").json()
    for place in work["places"]:
        answered(scorer, place)
    answer = client.get("/api/v1/blind/sessions")
    assert "zq-comment" not in answer.text
    assert answer.json()[0]["progress"][0] == {
        "scorer": "SA",
        "done": len(work["places"]),
        "questions": len(work["places"]),
    }
    for word in ("report.html", "report.zip"):
        assert client.get(f"/api/v1/blind/sessions/{session}/{word}").status_code == 403
    closed = client.post(f"/api/v1/blind/sessions/{session}/close", json={"key": key()}).json()
    assert closed["state"] == "closed"
    page = client.get(f"/api/v1/blind/sessions/{session}/report.html")
    assert page.headers["content-type"].startswith("text/html")
    assert ZETA in page.text
    packed = client.get(f"/api/v1/blind/sessions/{session}/report.zip")
    assert packed.content.startswith(b"PK")
