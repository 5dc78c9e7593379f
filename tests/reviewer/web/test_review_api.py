"""The Review page's HTTP routes over a real store: answers, withheld data and refusals."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from agent import language, plot, tool
from agent.simulate import simulate
from agent.spectrum import Exposure, Spectrum
from agent.tasks import load
from agent.trajectory import Answer, Step, Think, Trajectory, Zoom
from reviewer import server
from reviewer.rules.campaign import Rules
from reviewer.store import Store
from reviewer.web.language import COOKIE as LANGUAGE
from reviewer.web.payload import known_lines, spectrum_bytes
from tests.reviewer.web.conftest import a_trace, a_zoom, client_of

pytestmark = pytest.mark.usefixtures("without_page")

WINDOWS = ([6500, 6630], [4800, 4920])


def drafted(seed: int = 1) -> tuple[Trajectory, Spectrum]:
    """A trajectory with two zooms, and its simulated spectrum."""
    spectrum = simulate("cv", "LAMOST", 20.0, seed)
    steps: list[Step] = []
    for number, window in enumerate(WINDOWS):
        arguments = {"wavelength_range": window, "label": f"look {number}"}
        steps.append(Think(f"s{2 * number + 1}", f"Thought {number}."))
        steps.append(a_zoom(spectrum, f"s{2 * number + 2}", arguments))
    steps += [Think("s5", "Broad Balmer emission."), Answer("s6", "YES", "An accretion disc.")]
    return a_trace(spectrum, *steps), spectrum


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        for initials, role in (("RV", "reviewer"), ("AA", "auditor"), ("AB", "auditor"), ("CO", "coordinator")):
            store.accounts.add_person(initials, f"Person {initials}", [role])
        store.settings.set_rules(None, Rules())
        for seed in (1, 2):
            trajectory, spectrum = drafted(seed)
            store.items.add(trajectory, store.spectra.add(spectrum), batch="tests")
        yield store


def test_only_a_database_of_nothing_but_the_demo_is_called_one(tmp_path: Path, app: Any) -> None:
    assert client_of(app, "RV").get("/api/v1/me").json()["demo"] == 0
    with Store.open(tmp_path / "demo.db") as examples:
        examples.accounts.add_person("CD", "Person CD", ["reviewer"])
        for seed, batch, expected in ((1, "demo", 1), (2, "mine", 0)):
            trajectory, spectrum = drafted(seed)
            examples.items.add(trajectory, examples.spectra.add(spectrum), batch=batch)
            assert client_of(examples, "CD").get("/api/v1/me").json()["demo"] == expected


@pytest.fixture
def app(store: Store) -> Any:
    return server.build(store, local=True)


def decide(client: TestClient, item: int, verb: str, **more: Any) -> Any:
    lease = client.post(f"/api/v1/item/{item}/lease", json={})
    token = lease.json().get("lease", "")
    shown = client.get(f"/api/v1/item/{item}").json()
    body = {"version": shown["version"]["id"], "verb": verb, "key": f"{verb}-{item}-{id(client)}", "lease": token}
    return client.post(f"/api/v1/item/{item}/decide", json={**body, **more})


def test_the_spectrum_arrives_as_it_is_stored(app: Any, store: Store) -> None:
    client = client_of(app, "RV")
    row = client.get("/api/v1/queue").json()["rows"][0]
    answer = client.get(f"/api/v1/spectrum/{row['spectrum']}")
    raw = answer.content
    length = struct.unpack("<I", raw[:4])[0]
    header = json.loads(raw[4 : 4 + length])
    kept = store.spectra.get(row["spectrum"])
    assert (4 + length) % 8 == 0
    assert np.array_equal(np.frombuffer(raw, "<f8", header["n"], 4 + length), kept.wavelength)
    flux = np.frombuffer(raw, "<f4", header["n"], 4 + length + 16 * header["n"])
    assert np.array_equal(flux, kept.flux.astype("<f4"))
    assert header["fluxUnit"] == kept.flux_unit
    assert (header["model"], header["exposures"]) == (None, None)
    assert "immutable" in answer.headers["cache-control"]
    for curve in ("model", "exposures"):
        refused = client.get(f"/api/v1/spectrum/{row['spectrum']}/{curve}")
        assert (refused.status_code, "the file has no" in refused.json()["error"]) == (404, True)


def test_model_and_exposures_are_sent_on_request(app: Any, store: Store) -> None:
    client = client_of(app, "RV")
    _, spectrum = drafted(3)
    ivar = np.where(np.arange(50) == 7, 0.0, 1.0)
    part = Exposure("B2-1", spectrum.wavelength[:50], spectrum.flux[:50], ivar)
    whole = replace(spectrum, name="with curves", model=spectrum.flux * 1.01, exposures=(part,))
    sha256 = store.spectra.add(whole)
    header = client.get(f"/api/v1/spectrum/{sha256}").content
    about = json.loads(header[4 : 4 + struct.unpack("<I", header[:4])[0]])
    assert (about["model"], about["exposures"]) == (True, 1)
    model = client.get(f"/api/v1/spectrum/{sha256}/model").json()
    assert model["flux"] == pytest.approx(whole.model, rel=1e-4)
    (sent,) = client.get(f"/api/v1/spectrum/{sha256}/exposures").json()["exposures"]
    assert sent["name"] == "B2-1"
    assert sent["wavelength"] == pytest.approx(part.wavelength, abs=1e-3)
    assert sent["flux"][7] is None, "no data there"
    assert sent["flux"][8] == pytest.approx(part.flux[8], rel=1e-4)


def test_the_picture_on_a_card_is_the_one_the_model_saw(app: Any) -> None:
    client = client_of(app, "RV")
    body = client.get("/api/v1/item/1").json()["trajectory"]
    assert body["label"] is None, "it would influence the reviewer"
    zoom = body["steps"][1]
    query = {"spectrum": body["spectrum"]["sha256"], "arguments": json.dumps(zoom["arguments"])}
    answer = client.get(f"/api/v1/picture/{zoom['picture']}", params=query)
    assert answer.headers["content-type"] == "image/png"
    other = client.get(f"/api/v1/picture/{'0' * 64}", params=query)
    assert other.status_code == 409
    assert "not the one the model saw" in other.json()["error"]


def test_why_a_drafter_cannot_tell_is_sent_but_not_before_the_own_verdict(app: Any, store: Store) -> None:
    trajectory, spectrum = drafted(3)
    marked = store.items.add(replace(trajectory, cannot_tell="no primary feature"), store.spectra.add(spectrum))
    client = client_of(app, "RV")
    assert client.get(f"/api/v1/item/{marked}").json()["draft_cannot_tell"] == "no primary feature"
    assert "no primary feature" not in client.get(f"/api/v1/item/{marked}", params={"verdict_first": True}).text
    assert client.get("/api/v1/item/1").json()["draft_cannot_tell"] is None


def an_item_of_assumed_medium(store: Store) -> tuple[int, Trajectory, Spectrum]:
    """An item whose file does not state its medium, read as air, in revision."""
    trajectory, spectrum = drafted(4)
    assumed = replace(spectrum, medium="air", meta={"medium_assumed": True})
    steps = tuple(replace(s, medium="air") if isinstance(s, Zoom) else s for s in trajectory.steps)
    text = replace(trajectory, spectrum_sha256=assumed.sha256, medium="air", medium_assumed=True, steps=steps)
    return store.items.add(text, store.spectra.add(assumed)), text, assumed


def state_medium(client: TestClient, item: int, medium: str, key: str = "key-of-medium") -> Any:
    lease = client.post(f"/api/v1/item/{item}/lease", json={}).json()["lease"]
    base = client.get(f"/api/v1/item/{item}").json()["version"]["id"]
    return client.post(f"/api/v1/item/{item}/medium", json={"base": base, "medium": medium, "key": key, "lease": lease})


def test_a_reviewer_states_the_medium_and_everything_follows_but_the_pictures(app: Any, store: Store) -> None:
    item, before, _ = an_item_of_assumed_medium(store)
    client = client_of(app, "RV")
    assert "assumed" in client.get(f"/api/v1/item/{item}/hints").text
    assert state_medium(client, item, "vacuum").status_code == 403  # in screening
    decide(client, item, "keep")
    assert state_medium(client, item, "vacuum").status_code == 200

    shown = client.get(f"/api/v1/item/{item}").json()
    after = shown["trajectory"]
    assert (after["medium"], after["medium_set_by"], "medium_assumed" in after) == ("vacuum", "RV", False)
    zooms = [step for step in after["steps"] if step["kind"] == "zoom"]
    assert [z["medium"] for z in zooms] == ["vacuum", "vacuum"]
    assert [(z["picture"], z["arguments"]) for z in zooms] == [(z.picture, dict(z.arguments)) for z in before.zooms]
    assert shown["edited_by"] == {}
    assert shown["row"]["spectrum"] == after["spectrum"]["sha256"] != before.spectrum_sha256
    stated = store.spectra.get(shown["row"]["spectrum"])
    assert (stated.medium, stated.meta["medium_set_by"]) == ("vacuum", "RV")
    assert "assumed" not in client.get(f"/api/v1/item/{item}/hints").text
    query = {"spectrum": shown["row"]["spectrum"], "arguments": json.dumps(zooms[0]["arguments"])}
    assert client.get(f"/api/v1/picture/{zooms[0]['picture']}", params=query).headers["content-type"] == "image/png"

    (entry,) = [entry for entry in store.log.entries() if entry.what == "medium stated"]
    assert (entry.person, entry.subject) == ("RV", f"item {item}")
    assert (entry.details["medium"], entry.details["before"]) == ("vacuum", "air (assumed)")
    assert store.upkeep.verify() == []
    back = state_medium(client, item, "air", "another-key")
    assert back.status_code == 200
    assert client.get(f"/api/v1/item/{item}").json()["row"]["spectrum"] == before.spectrum_sha256


def test_hints_and_statements_are_in_the_language_of_the_request(app: Any, store: Store) -> None:
    """They are measured once, and what was measured is the same for all languages."""
    trajectory, spectrum = drafted(5)
    item = store.items.add(trajectory, store.spectra.add(spectrum))
    client, chinese = client_of(app, "RV"), {"Accept-Language": "zh-CN"}
    address = f"/api/v1/item/{item}/hints"
    english = client.get(address).json()
    assert "in window" in json.dumps(english)
    shown = client.get(address, headers=chinese).json()
    assert [hint["kind"] for hint in shown["hints"]["s2"]] == [hint["kind"] for hint in english["hints"]["s2"]]
    assert any("窗口中有" in hint["text"] for hint in shown["hints"]["s2"])
    assert any("真实光谱" in hint["why"] for hint in shown["hints"]["s2"])
    assert client.get(address).json() == english
    lines = f"/api/v1/spectrum/{spectrum.sha256}/lines?task=cv"
    assert "条谱线" in client.get(lines, headers=chinese).json()["velocity"]["text"]
    assert "lines" in client.get(lines).json()["velocity"]["text"]


def test_an_assumed_medium_can_be_confirmed_and_a_stated_one_not_changed(app: Any, store: Store) -> None:
    item, before, _ = an_item_of_assumed_medium(store)
    client = client_of(app, "RV")
    decide(client, item, "keep")
    assert state_medium(client, item, "air").status_code == 200
    body = client.get(f"/api/v1/item/{item}").json()["trajectory"]
    assert (body["medium"], body["medium_set_by"]) == ("air", "RV")
    assert body["spectrum"]["sha256"] == before.spectrum_sha256
    assert "assumed" not in client.get(f"/api/v1/item/{item}/hints").text
    decide(client, 1, "keep")
    refused = state_medium(client, 1, "air")
    assert (refused.status_code, "The file states its medium (vacuum)" in refused.json()["error"]) == (403, True)


def test_the_history_names_who_wrote_the_text_before_the_import(app: Any, store: Store) -> None:
    trajectory = store.items.get(1).version.trajectory
    imported = store.items.add(replace(trajectory, prompt="Once more?", authors=("AA", "QQ")))
    client = client_of(app, "RV")
    assert client.get(f"/api/v1/item/{imported}/history").json()["versions"][0]["before_import"] == ["AA", "QQ"]
    assert client.get("/api/v1/item/1/history").json()["versions"][0]["before_import"] == []
    hidden = client.get(f"/api/v1/item/{imported}", params={"verdict_first": True})
    assert hidden.json()["hidden"]
    assert "QQ" not in hidden.text
    assert "QQ" not in client.get(f"/api/v1/item/{imported}/history", params={"verdict_first": True}).text


def test_an_auditor_does_not_see_the_other_audit_before_deciding(app: Any) -> None:
    reviser, first, second = (client_of(app, initials) for initials in ("RV", "AA", "AB"))
    assert decide(reviser, 1, "keep").status_code == 200
    assert decide(reviser, 1, "submit").status_code == 200
    assert decide(first, 1, "pass", comment="a secret opinion").status_code == 200
    before = second.get("/api/v1/item/1")
    assert "a secret opinion" not in before.text
    assert "a secret opinion" not in second.get("/api/v1/item/1/history").text
    assert before.json()["standing"]["withheld"] == 1
    passed = decide(second, 1, "pass").json()
    assert (passed["state"], passed["progress"]) == ("vote", "vote 0 of 2")
    assert (passed["done"], passed["needed"]) == (0, 2)
    assert "a secret opinion" in reviser.get("/api/v1/item/1/history").text


def revising(client: TestClient) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keep item 1 and open it for revision; return what is shown, and the fields of a new version."""
    decide(client, 1, "keep")
    lease = client.post("/api/v1/item/1/lease", json={}).json()["lease"]
    shown = client.get("/api/v1/item/1").json()
    return shown, {"base": shown["version"]["id"], "steps": shown["trajectory"]["steps"], "lease": lease}


def test_the_server_makes_the_picture_of_a_new_window_whatever_the_page_sends(app: Any, store: Store) -> None:
    reviser = client_of(app, "RV")
    shown, version = revising(reviser)
    before = store.items.get(1).version.content_hash
    assert reviser.post("/api/v1/item/1/version", json={**version, "key": "same-key-1"}).status_code == 200
    assert store.items.get(1).version.content_hash == before, "of unchanged steps"
    version["base"] = store.items.get(1).version.id
    steps = version["steps"]
    steps[1]["arguments"] = {"wavelength_range": [6450, 6700], "label": "wider"}
    steps[1]["picture"] = "f" * 64
    steps[1]["observation"] = "a lie"
    sent = {**version, "reason": "wider", "key": "wider-key-1"}
    assert reviser.post("/api/v1/item/1/version", json=sent).status_code == 200
    zoom = store.items.get(1).version.trajectory.zooms[0]
    assert zoom.observation.endswith(" visualization focused on wavelength range (6450, 6700) Å for wider.")
    again = tool.call(store.spectra.get(shown["row"]["spectrum"]), dict(zoom.arguments))
    assert again.image is not None
    assert zoom.picture == plot.pixels_sha256(again.image)


def test_a_save_on_an_old_version_is_refused_and_both_texts_are_returned(app: Any) -> None:
    reviser = client_of(app, "RV")
    _, version = revising(reviser)

    def save(text: str, key: str) -> Any:
        first, *others = version["steps"]
        steps = [{**first, "text": text}, *others]
        return reviser.post("/api/v1/item/1/version", json={**version, "steps": steps, "key": key})

    assert save("mine from one tab", "tab-one-key").status_code == 200
    refused = save("mine from the other tab", "tab-two-key")
    assert refused.status_code == 409
    assert refused.json()["kind"] == "version_moved"
    assert refused.json()["detail"]["steps"][0]["text"] == "mine from one tab"
    assert "mine from the other tab" in json.dumps(reviser.get("/api/v1/item/1").json()["autosave"])


def test_a_header_value_that_is_no_number_is_null_on_the_page_and_in_json():
    spectrum = simulate("cv", "LAMOST", 20.0, 1)
    odd = replace(spectrum, meta={**spectrum.meta, "Z_ERR": float("nan")}, snr={"g": float("inf"), "r": 3.0})
    packed = spectrum_bytes(odd)
    (length,) = struct.unpack("<I", packed[:4])
    header = json.loads(packed[4 : 4 + length], parse_constant=pytest.fail)
    assert (header["meta"]["Z_ERR"], header["snr"]) == (None, {"r": 3.0})
    assert Spectrum.from_json(json.loads(json.dumps(odd.to_json(), allow_nan=False))) == odd


def test_how_a_file_was_read_comes_with_its_spectrum_in_the_language_of_the_request(
    app: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    trajectory, spectrum = drafted(5)
    read = replace(spectrum, meta={"axis_from": "column lam", "not_used": "column flux_unc", "pixels_repeated": 2})
    item = store.items.add(replace(trajectory, spectrum_sha256=read.sha256), store.spectra.add(read))
    client = client_of(app, "RV")
    sha256 = client.get(f"/api/v1/item/{item}").json()["row"]["spectrum"]

    def answer() -> tuple[Any, Any]:
        sent = client.get(f"/api/v1/spectrum/{sha256}")
        # The browser keeps the answer for good, but not in another language.
        assert sent.headers["vary"].startswith("Cookie, Accept-Language")
        (length,) = struct.unpack("<I", sent.content[:4])
        header = json.loads(sent.content[4 : 4 + length])
        return header["read"], header["warnings"]

    of_file, warnings = answer()
    assert ["wavelengths from", "column lam"] in of_file
    averaged = ["changed", "2 pixels averaged with others of the same wavelength"]
    assert warnings == [["not used", "column flux_unc"], averaged]
    monkeypatch.setenv("SPEC_O3_PSEUDO", "1")
    client.cookies.set(LANGUAGE, language.PSEUDO)
    assert answer()[1][0] == ["⟦not used⟧", "column flux_unc"]


def test_a_band_head_is_not_marked_as_the_line_at_its_wavelength() -> None:
    """ZrO 4641 is at the Bowen blend of cataclysmic variables."""
    marked = {task: {line.name for line in known_lines(load()[task]) if line.task} for task in ("cv", "ss")}
    assert {"Bowen blend", "He II 4686", "Hα"} <= marked["cv"]
    assert not any(name.startswith("ZrO") for name in marked["cv"])
    assert any(name.startswith("ZrO") for name in marked["ss"])


def test_an_item_that_was_returned_comes_first_for_its_author_with_what_is_to_be_changed(app: Any) -> None:
    author, auditor, coordinator = (client_of(app, initials) for initials in ("RV", "AA", "CO"))
    assert decide(author, 2, "keep").status_code == 200
    assert decide(author, 2, "submit").status_code == 200
    assert author.get("/api/v1/first").json()["id"] == 1
    assert decide(auditor, 2, "return", comment="Quote the Balmer decrement too.").status_code == 200
    assert author.get("/api/v1/first").json()["id"] == 2
    assert coordinator.get("/api/v1/first").json()["id"] == 1
    request = author.get("/api/v1/item/2").json()["request"]
    assert (request["person"], request["comment"]) == ("AA", "Quote the Balmer decrement too.")
    assert author.get("/api/v1/item/1").json()["request"] is None
    # It can be submitted once its text is changed.
    submit, reject = author.get("/api/v1/item/2").json()["may"]["verbs"]
    assert "change it before submitting" in submit["refusal"]
    assert submit["refusal_if_changed"] is None
    assert reject["refusal"] is reject["refusal_if_changed"] is None
    of_auditor = auditor.get("/api/v1/item/2").json()["may"]["verbs"][0]
    assert of_auditor["refusal_if_changed"] == of_auditor["refusal"] != submit["refusal"]


def test_the_next_waiting_item_follows_the_one_shown_and_a_decision_changes_the_stamp(app: Any) -> None:
    client = client_of(app, "RV")
    for after, item in (({}, 1), ({"after": 1}, 2), ({"after": 2}, 1)):
        first = client.get("/api/v1/first", params={"mine": True, **after}).json()
        assert first == {"id": item, "from_start": after == {"after": 2}}
    before = client.get("/api/v1/queue").json()["stamp"]
    waiting = client.get("/api/v1/queue", params={"mine": True}).json()["total"]
    assert client.get("/api/v1/queue/stamp").json() == {"stamp": before, "waiting": waiting, "sessions": 0}
    assert decide(client, 1, "reject", reason="bad_data").status_code == 200
    after = client.get("/api/v1/queue/stamp").json()
    assert after["stamp"] > before
    assert after["waiting"] == client.get("/api/v1/queue", params={"mine": True}).json()["total"] == waiting - 1
