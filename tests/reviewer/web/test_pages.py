"""Handlers of the Gradio tabs, drafts, imports, links and the progress routes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy import units
from astropy.coordinates import SkyCoord
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from agent.spectrum import Spectrum
from reviewer import server
from reviewer.agreement.reliability import gold_agreement, round_agreement
from reviewer.exchange import uploads
from reviewer.exchange.imports import ImportFileError
from reviewer.rules.campaign import STATES, Rules, RulesError
from reviewer.store import Store
from reviewer.web.payload import links, sexagesimal, simbad
from reviewer.web.routes.people import in_words, role_in_words
from reviewer.web.routes.progress import GOLD, pace_of
from tests.reviewer.web.conftest import client_of
from tests.support.blind_campaign import GPT, SPEC, a_store, answer_one, key, opened
from tests.support.campaign import TO_AUDIT, TO_VOTE, Desk, an_item, people

pytestmark = pytest.mark.usefixtures("without_page")


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    store = Store.open(tmp_path / "annotations.db")
    store.accounts.add_person("CO", "Cora", ["coordinator"], "correct horse")
    store.accounts.add_person("RE", "Rosa", ["reviewer"], "battery staple")
    yield store
    store.close()


@given(*[st.integers(1, 6)] * 4, st.booleans())
def test_all_valid_rules_can_be_described(auditors: int, votes: int, approve: int, reject: int, solo: bool) -> None:
    try:
        rules = Rules(auditors, votes, approve, reject, solo)
    except RulesError:
        return
    words = in_words(rules)
    if solo:
        assert "One person" in words
    else:
        assert f"{rules.approve_at} to approve" in words
        assert f"{rules.reject_at} to reject" in words
        assert ("adjudication" in words) == (votes > 1)


def test_roles_are_described_in_words() -> None:
    assert role_in_words("reviewer") == "screening, revision and vote"
    assert role_in_words("auditor") == "audit, vote and adjudication"


def packed(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), text)
    return path


def test_rows_find_the_pictures_and_survey_files_that_came_with_them(tmp_path: Path) -> None:
    path = packed(tmp_path / "set.zip", set__train_sharegpt_dot_json="[]", set__images__a_dot_png="x")
    with uploads.unpacked([path]) as (rows,):
        assert rows.name == "train_sharegpt.json"
        assert (rows.parent / "images" / "a.png").read_text() == "x"
    assert not rows.exists()
    # Of an export, the rows with spectra are taken and not those for training.
    names = ("train_dot_jsonl", "trajectories_dot_jsonl", "manifest_dot_json")
    path = packed(tmp_path / "export.zip", train_sharegpt_dot_json="[]", **dict.fromkeys(names, "{}"))
    with uploads.unpacked([path]) as (rows,):
        assert rows.name == "trajectories.jsonl"
    single = [tmp_path / name for name in ("a.PNG", "rows.jsonl", "spec.fits")]
    for file in single:
        file.write_text(file.name)
    with uploads.unpacked(single) as (rows,):
        assert (rows.parent / "images" / "a.PNG").is_file()
        assert (rows.parent / "spec.fits").is_file()


def test_files_that_cannot_be_unpacked_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "broken.zip", rows_dot_json="[1, 2, 3]")
    damaged = path.read_bytes().replace(b"[1, 2, 3]", b"[1, 2, 4]", 1)
    for content in (b"", b"no zip at all", b"PK\x03\x04 but then nothing", damaged):
        path.write_bytes(content)
        with pytest.raises(ImportFileError, match=r"broken\.zip: found a broken zip"), uploads.unpacked([path]):
            pass
    (tmp_path / "a.png").write_text("x")
    with pytest.raises(ImportFileError, match=r"expected \.jsonl"), uploads.unpacked([tmp_path / "a.png"]):
        pass
    path = packed(tmp_path / "two.zip", a_dot_json="[]", b_dot_json="[]")
    with pytest.raises(ImportFileError, match="found 2 files of rows"), uploads.unpacked([path]):
        pass
    monkeypatch.setattr(uploads, "LARGEST_UNPACKED", 5_000)
    path = packed(tmp_path / "big.zip", rows_dot_json="[" + " " * 10_000 + "]")
    with pytest.raises(ImportFileError, match=r"big\.zip: found 1 files"), uploads.unpacked([path]):
        pass


def spectrum(**known: Any) -> Spectrum:
    return Spectrum(np.linspace(4000, 9000, 50), np.ones(50), np.ones(50), **known)


def named(found: list[dict[str, str]]) -> dict[str, str]:
    return {link["name"]: link["url"] for link in found}


def test_a_position_has_links_to_gaia_and_simbad() -> None:
    found = named(links(spectrum(ra=64.065186, dec=-45.28982, survey="")))
    assert set(found) == {"Gaia"}, "the header of a spectrum is sent before a verdict"
    for url in (*found.values(), simbad(64.065186, -45.28982)):
        assert "64.065186" in url
        assert "-45.289820" in url


def test_an_id_has_a_link_to_the_page_of_its_survey() -> None:
    for survey, ids, part in (
        ("LAMOST", {"obsid": "101005"}, "lamost.org/dr10/v2.0/spectrum/view?obsid=101005"),
        ("SDSS", {"plate-mjd-fiber": "266-51602-13"}, "plate=266&mjd=51602&fiber=13"),
        ("DESI", {"targetid": "39633559463397282"}, "targetid39633559463397282"),
    ):
        assert part in named(links(spectrum(survey=survey, ids=ids)))[survey]
    assert links(spectrum(survey="LAMOST", ids={"obsid": "-28762"})) == []
    assert links(spectrum(survey="simulated LAMOST", ids={"obsid": "5"}, meta={"simulated": True})) == []


@given(st.floats(0, 360, exclude_max=True), st.floats(-90, 90))
def test_sexagesimal_is_what_astropy_reads_back(ra: float, dec: float) -> None:
    read = SkyCoord(sexagesimal(ra, dec), unit=(units.hourangle, units.deg))
    assert read.separation(SkyCoord(ra, dec, unit="deg")).arcsec < 0.12


@pytest.fixture
def voted_store(tmp_path: Path) -> Iterator[Store]:
    """Six items: two unanimous votes, a split finished vote, a split open vote, one audit, one new item."""
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.settings.set_rules("CO", Rules(votes=3, approve_at=2, reject_at=2))
        for initials in ("VB", "VC"):
            store.accounts.add_person(initials, initials, ["reviewer"])
        desk = Desk(store)
        first, second, split, open_vote, passed, _ = (an_item(store, n, label="YES") for n in range(6))
        for item in (first, second):
            desk.until(item, *TO_VOTE, ("VO", "approve"), ("VB", "approve"))
        desk.until(split, *TO_VOTE, ("VO", "approve"), ("VB", "reject"), ("VC", "abstain"))
        desk.until(open_vote, *TO_VOTE, ("VO", "approve"), ("VB", "reject"))
        desk.until(passed, *TO_AUDIT, ("AU", "pass"))
        yield store


def agreement(client: TestClient, **query: str) -> dict[str, Any]:
    answer = client.get("/api/v1/progress/agreement", params=query)
    assert answer.status_code == 200
    return dict(answer.json())


def test_rounds_are_compared_and_disagreements_listed_once_they_are_over(voted_store: Store) -> None:
    found = {row["round"]: row for row in agreement(client_of(voted_store, "CO"))["rounds"]}
    # Four items were audited by two people; the item still in audit is not counted.
    assert (found["audit"]["raw"]["value"], found["audit"]["raw"]["n"]) == (1.0, 4)
    assert found["audit"]["alpha"]["text"] == "undefined: every decision is pass"
    votes = [("1", "VO", "approve"), ("1", "VB", "approve"), ("2", "VO", "approve"), ("2", "VB", "approve")]
    votes += [("3", "VO", "approve"), ("3", "VB", "reject"), ("3", "VC", "abstain")]
    expected = round_agreement(*zip(*votes, strict=True))
    assert found["vote"]["raw"]["value"] == expected.raw.value == pytest.approx(2 / 3)
    assert found["vote"]["alpha"]["value"] == pytest.approx(expected.alpha.value)
    assert found["vote"]["title"] == found["audit"]["title"]
    disagreements = agreement(client_of(voted_store, "CO"))["disagreements"]
    assert disagreements["total"] == 1
    (item,) = disagreements["items"]
    assert (item["id"], item["state"]) == (3, "adjudication")
    assert item["decisions"]["vote"] == {"approve": 1, "reject": 1, "abstain": 1}
    assert agreement(client_of(voted_store, "CO"), task="carbon")["disagreements"] == {"total": 0, "items": []}


def test_progress_begins_with_what_the_person_did_and_what_waits_for_them(voted_store: Store) -> None:
    for person, rounds in (("VO", {"vote": 4}), ("AU", {"audit": 5})):
        client = client_of(voted_store, person)
        mine = client.get("/api/v1/progress").json()["mine"]
        assert (mine["today"], mine["rounds"]) == (sum(rounds.values()), rounds)
        waiting = {
            state: client.get("/api/v1/queue", params={"mine": True, "state": state}).json()["total"]
            for state in STATES
        }
        assert mine["waiting"] == {state: number for state, number in waiting.items() if number}
        assert client.get("/api/v1/queue/stamp").json()["waiting"] == sum(waiting.values())
        assert client.get("/api/v1/progress?task=carbon").json()["mine"] == {"today": 0, "rounds": {}, "waiting": {}}


def test_sessions_to_score_are_counted_until_every_sheet_has_an_answer(tmp_path: Path) -> None:
    with a_store(tmp_path / "annotations.db") as store:
        opened(store, scorers=("ED", "JU"), sources=(GPT, SPEC))
        client = client_of(store, "ED")
        assert client.get("/api/v1/queue/stamp").json()["sessions"] == 1
        trust = client.get("/api/v1/progress/trust").json()
        assert (trust["policies"], trust["command"]) == ([], None), "the names of the sources"
        assert client_of(store, "CO").get("/api/v1/progress/trust").json()["policies"] != []
        for work in store.blind.scoring.assignments("ED"):
            answer_one(store, "ED", work)
        assert client.get("/api/v1/queue/stamp").json()["sessions"] == 0
        assert client_of(store, "JU").get("/api/v1/queue/stamp").json()["sessions"] == 1
        assert client_of(store, "CO").get("/api/v1/queue/stamp").json()["sessions"] == 0


@pytest.mark.parametrize(
    ("decisions", "per_day", "days"),
    [
        ({}, None, None),
        ({"2026-11-28": 500}, None, None),  # of one day only
        ({"2026-11-27": 4, "2026-11-28": 5}, None, None),  # too few
        ({"2026-11-21": 400, "2026-11-28": 10}, None, None),  # too long ago
        ({"2026-11-27": 4, "2026-11-28": 6}, 5.0, 6),  # a young campaign
        ({"2026-11-20": 900, "2026-11-22": 7, "2026-11-28": 7}, 2.0, 14),
    ],
)
def test_the_pace_is_that_of_the_last_days(decisions: dict[str, int], per_day: float | None, days: int | None) -> None:
    states = {"screening": 1, "revision": 1, "returned": 1, "audit": 2, "vote": 1, "adjudication": 1, "approved": 9}
    pace = pace_of(states, decisions, date(2026, 11, 28), Rules(auditors=2, votes=2, approve_at=2, reject_at=1))
    assert (pace.missing, pace.per_day, pace.days) == (6 + 5 + 5 + 2 * 4 + 2 + 1, per_day, days)


def test_an_undone_decision_is_not_counted(voted_store: Store) -> None:
    before = agreement(client_of(voted_store, "CO"))["rounds"]
    voted_store.reviews.undo(person="VC", item_id=3, key="undo-the-vote-of-VC")
    after = {row["round"]: row for row in agreement(client_of(voted_store, "CO"))["rounds"]}
    # The vote on item 3 is open again, so only the two unanimous votes are left.
    assert after["vote"]["raw"]["n"] == 2
    assert before[1]["raw"]["n"] == 3


def test_reviewers_are_compared_with_labels_of_decided_items(voted_store: Store) -> None:
    assert agreement(client_of(voted_store, "CO"))["gold"] == []
    given = (("VC", 1, "YES"), ("VC", 2, "NO"), ("VC", 4, "NO"), ("VO", 1, "cannot tell"))
    for person, item, verdict in given:
        version = voted_store.items.get(item).version.id
        voted_store.marks.commit_verdict(person=person, item_id=item, version_id=version, verdict=verdict)
    found = agreement(client_of(voted_store, "CO"))
    rows = {row["person"]: row for row in found["gold"]}
    # Item 4 is in an open round: its label is not used.
    expected = gold_agreement(["1", "2"], ["YES", "NO"], ["YES", "YES"])
    assert (rows["VC"]["right"]["value"], rows["VC"]["right"]["n"]) == (expected.value, 2)
    assert (rows["VO"]["right"]["text"], rows["VO"]["cannot_tell"]) == ("undefined: no gold item was decided on", 1)
    assert (found["gold_meaning"], found["gold_items"]) == (GOLD, 2)


def test_a_campaign_without_decisions_has_reasons_instead_of_numbers(tmp_path) -> None:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        found = agreement(client_of(store, "CO"))
    assert [row["round"] for row in found["rounds"]] == ["audit", "vote"]
    for row in found["rounds"]:
        for name in ("raw", "alpha"):
            why = "undefined: no version was decided by two people in a finished round"
            assert row[name]["text"] == why


def test_items_scored_blind_are_not_listed_for_their_scorers(tmp_path) -> None:
    with a_store(tmp_path / "annotations.db") as store:
        store.accounts.add_person("VB", "Dr VB", ["reviewer"])
        story = (("RE", "keep"), ("RE", "submit"), ("AU", "pass"), ("AX", "pass"))
        desk = Desk(store)
        desk.until(1, *story, ("VO", "approve"), ("VB", "reject"))
        total, items = store.statistics.disagreements()
        assert (total, [disagreement.item for disagreement in items]) == (1, [1])
        opened(store, scorers=("ED", "JU"), sources=(GPT, SPEC))
        app = server.build(store, local=True)
        seen = {who: agreement(client_of(app, who))["disagreements"]["total"] for who in ("ED", "CO")}
        store.blind.sessions.close("CO", 1, key())
    assert seen == {"ED": 0, "CO": 1}
