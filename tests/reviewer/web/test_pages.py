"""Handlers of the Gradio tabs, drafts, imports, links and the progress routes."""

from __future__ import annotations

import json
import logging
import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from astropy import units
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.table import Table
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Think
from reviewer import server
from reviewer.agreement.reliability import gold_agreement, round_agreement
from reviewer.cli.exchange import _import_summary
from reviewer.exchange import uploads
from reviewer.exchange.imports import Findings, ImportFileError, import_file, own_row
from reviewer.rules.campaign import STATES, Rules, RulesError
from reviewer.store import ImportJob, NotAllowed, Store
from reviewer.ui import exports, widgets
from reviewer.ui.drafts import Outcome, draft_file
from reviewer.ui.imports import _summary
from reviewer.ui.people import role_in_words
from reviewer.ui.rules import in_words
from reviewer.web import auth
from reviewer.web.payload import links, sexagesimal
from reviewer.web.routes.progress import GOLD, pace_of
from tests.reviewer.web.conftest import client_of
from tests.support.blind_campaign import GPT, SPEC, a_store, answer_one, key, opened
from tests.support.campaign import TO_AUDIT, TO_VOTE, Desk, a_spectrum, a_trajectory, an_item, people

pytestmark = pytest.mark.usefixtures("without_page")


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    store = Store.open(tmp_path / "annotations.db")
    store.accounts.add_person("CO", "Cora", ["coordinator"], "correct horse")
    store.accounts.add_person("RE", "Rosa", ["reviewer"], "battery staple")
    yield store
    store.close()


def from_browser(cookie: str = "") -> Any:
    return SimpleNamespace(cookies={auth.COOKIE: cookie}, headers={"host": "127.0.0.1:7860"})


def signed_in(store: Store, initials: str, password: str) -> Any:
    return from_browser(store.accounts.sign_in(initials, password).token)


def test_an_event_needs_a_session_and_the_role(store: Store) -> None:
    for cookie in ("", "alone:CO", "made up"):
        with pytest.raises(NotAllowed, match="signed out"):
            widgets.require_person(from_browser(cookie), store, True)
    rosa = signed_in(store, "RE", "battery staple")
    assert widgets.require_person(rosa, store, True).initials == "RE"
    with pytest.raises(NotAllowed, match=r"Only a coordinator can do this; RE is reviewer\."):
        widgets.require_person(rosa, store, True, "coordinator")


def test_imports_and_exports_need_a_coordinator_unless_a_person_works_alone(store: Store) -> None:
    rosa, cora = signed_in(store, "RE", "battery staple"), signed_in(store, "CO", "correct horse")
    assert widgets.require_manager(cora, store, True).initials == "CO"
    with pytest.raises(NotAllowed):
        widgets.require_manager(rosa, store, True)
    store.settings.set_rules("CO", Rules(solo=True))
    assert widgets.require_manager(rosa, store, True).initials == "RE"


def test_errors_of_a_handler_are_shown_as_escaped_text_and_internal_ones_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    message: Any = object()

    @widgets.report_errors(message)
    def handler(error: Exception) -> widgets.Changes:
        raise error

    @widgets.report_errors(message)
    def stepwise() -> Iterator[widgets.Changes]:
        yield {"table": "one row"}
        raise OSError(28, "No space left on device", "annotations.db")

    refused = handler(NotAllowed("Only <b>they</b> may."))[message]
    assert "Only &lt;b&gt;they&lt;/b&gt; may." in refused
    assert 'role="alert"' in refused
    first, second = stepwise()
    assert first == {"table": "one row"}, "changes before the failure stay on the page"
    assert "No space left on device" in second[message]
    with caplog.at_level(logging.ERROR, "spec_o3"):
        shown = handler(ZeroDivisionError("secret detail"))[message]
    assert "secret detail" not in shown
    (record,) = caplog.records
    assert record.args is not None
    assert str(record.args[0]) in shown


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


def test_roles_and_exports_are_described_in_words() -> None:
    assert role_in_words("reviewer") == "screening, revision and vote"
    assert role_in_words("auditor") == "audit, vote and adjudication"
    counts = {"items": 1, "pictures": 1234, "simulated": 1, "by_one_person": 1}
    counts |= {"tasks": {"cv": 1}, "drafters": {"baseline": 1}}
    words = exports.in_words({"counts": counts}).split(" · ")
    assert words[:3] == ["1 item", "1\u202f234 pictures", "cv 1"]
    assert words[3:] == ["drafted by baseline 1", "1 simulated", "1 reviewed by one person alone"]


def desi_coadd(path: Path) -> Path:
    """Three simulated DESI targets in one file."""
    spectra = [simulate(kind, "DESI", 25.0, seed) for seed, kind in enumerate(("cv", "wd", "a"))]
    hdus = [fits.PrimaryHDU(), fits.BinTableHDU(Table({"TARGETID": [101, 102, 103]}), name="FIBERMAP")]
    for arm, low, high in (("B", 3600, 5800), ("R", 5760, 7620), ("Z", 7520, 9824)):
        grid = np.arange(low, high, 0.8)
        flux = [np.interp(grid, s.wavelength, s.flux) for s in spectra]
        ivar = [np.interp(grid, s.wavelength, s.ivar) for s in spectra]
        hdus.append(fits.ImageHDU(grid, name=f"{arm}_WAVELENGTH"))
        hdus.append(fits.ImageHDU(np.array(flux, np.float32), name=f"{arm}_FLUX"))
        hdus.append(fits.ImageHDU(np.array(ivar, np.float32), name=f"{arm}_IVAR"))
    fits.HDUList(hdus).writeto(path)
    return path


def last(outcomes: Iterator[Outcome]) -> Outcome:
    return list(outcomes)[-1]


def test_every_target_of_a_file_becomes_an_item_and_is_reported_at_once(store: Store, tmp_path: Path) -> None:
    path = desi_coadd(tmp_path / "coadd.fits")
    skipped = last(draft_file(store, path, load()["cv"], "", min_snr=1e6))
    assert (skipped.added, skipped.problems, len(skipped.skipped)) == ((), (), 3)
    assert all("expected 1e+06 or more" in reason for reason in skipped.skipped)
    drafting = draft_file(store, path, load()["cv"], "night 1")
    (first,) = next(drafting).added
    drafting.close()
    assert store.items.get(first).standing.state == "screening", "drafts that were made before a stop stay"
    outcomes = list(draft_file(store, path, load()["cv"], "night 1"))
    assert [len(o.added) for o in outcomes] == [0, 1, 2, 2]
    assert [o.done for o in outcomes] == [False, False, False, True]
    assert {store.items.get(i).row.batch for i in outcomes[-1].added} == {"night 1"}
    assert (outcomes[-1].known, outcomes[-1].problems) == ((first,), ())


def test_the_medium_can_be_stated_for_files_that_do_not(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "star.csv"
    path.write_text("wavelength,flux\n" + "\n".join(f"{w},{1 + w % 7}" for w in range(4000, 8000, 2)))
    outcome = last(draft_file(store, path, load()["cv"], "", medium="vacuum"))
    item = store.items.get(outcome.added[0])
    spectrum = store.spectra.get(item.row.spectrum_sha256)
    assert (spectrum.medium, spectrum.meta["medium_set_by"]) == ("vacuum", "option")
    assert "medium_assumed" not in spectrum.meta
    assert (item.version.trajectory.medium, item.version.trajectory.medium_set_by) == ("vacuum", "option")
    stated = last(draft_file(store, desi_coadd(tmp_path / "coadd.fits"), load()["cv"], "", medium="air"))
    assert store.items.get(stated.added[0]).version.trajectory.medium == "vacuum"


def test_a_draft_of_a_spectrum_that_is_here_with_another_text_is_left_out(store: Store, tmp_path: Path) -> None:
    spectrum = simulate("cv", "LAMOST", 20.0, 1)
    first = run(spectrum, load()["cv"], Baseline())
    other = first.with_steps((Think("t1", "Another text."), *first.steps[1:]))
    here = store.items.add(other, store.spectra.add(spectrum))
    path = tmp_path / "again.json"
    path.write_text(json.dumps(spectrum.to_json()))
    left = last(draft_file(store, path, load()["cv"], "", leave_out_others=True))
    assert (left.added, left.known, left.others) == ((), (), (here,))
    made = last(draft_file(store, path, load()["cv"], ""))
    assert (len(made.added), made.others) == (1, (here,))


def test_a_problem_does_not_repeat_the_name_of_the_file_and_gives_the_line(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "mail.csv"
    path.write_text("wavelength,flux\n4000,1\n\n4001,please find attached\n")
    (problem,) = last(draft_file(store, path, load()["cv"], "")).problems
    assert problem.startswith("found 'please find attached' in line 4, column 2, which is no number; expected lines")
    assert "mail.csv" not in problem


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


def test_a_position_has_links_to_simbad_and_gaia() -> None:
    found = named(links(spectrum(ra=64.065186, dec=-45.28982, survey="")))
    assert set(found) == {"SIMBAD", "Gaia"}
    assert all("64.065186" in url and "-45.289820" in url for url in found.values())


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


# ---- the end of an import in words


def imported(store: Store, path: Path, texts: list[str], **other: Any) -> tuple[ImportJob, Findings]:
    spectrum = a_spectrum()
    rows = [own_row(a_trajectory(spectrum, text), spectrum) if text else {} for text in texts]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    import_file(store, path, **other)
    job = store.imports.latest()
    assert job is not None
    return job, Findings.of(job)


def test_a_refused_file_is_not_said_to_have_nothing_new(store: Store, tmp_path: Path) -> None:
    imported(store, tmp_path / "first.jsonl", ["one", "two"])
    refused = imported(store, tmp_path / "second.jsonl", ["one", "two", "new", ""])
    assert (refused[0].state, refused[1].known, refused[1].bad) == ("refused", 2, 1)
    assert "Nothing was imported: 1 row cannot be used." in _summary(store, [refused])
    added = imported(store, tmp_path / "third.jsonl", ["three", "four"])
    both = _summary(store, [refused, added])
    assert "2 new items in the queue. Nothing was imported from second.jsonl: 1 row cannot be used." in both
    skipped = imported(store, tmp_path / "second.jsonl", ["one", "two", "new", ""], skip_bad=True)
    assert "1 new item in the queue. " in _summary(store, [skipped])
    assert "1 row skipped." in _summary(store, [skipped])


def test_a_file_that_waits_for_a_choice_is_not_said_to_have_bad_rows(store: Store, tmp_path: Path) -> None:
    imported(store, tmp_path / "first.jsonl", ["one"])
    job, found = imported(store, tmp_path / "second.jsonl", ["another"], same_spectrum="ask")
    assert job.state == "refused"
    assert _import_summary(job, found, {}).startswith("nothing imported: 1 row of a spectrum that is here")
    assert "1 row of spectra that are here already" in _summary(store, [(job, found)])
