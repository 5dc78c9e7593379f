"""A session says which version of the texts it scores: as drafted, as approved, or both as two sources."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from agent.trajectory import Drafter, Trajectory, Zoom
from reviewer import server
from reviewer.blind.balance import TooFew
from reviewer.blind.plan import Plan, PlanError
from reviewer.blind.sampling import sample
from reviewer.blind.session_file import read_session, rerun_plan, session_version
from reviewer.exchange import blind_report as report
from reviewer.store import BlindSession, Draft, NotAllowed, NotFound, Store
from reviewer.store.blind.texts import edited as texts_differ
from tests.support.blind_campaign import PASSWORD, answer_one, key
from tests.support.campaign import TO_VOTE, Desk, a_spectrum, a_trajectory, people

SCORERS = ("SA", "SB")
BASELINE, MODEL = "rule-based baseline", "Spec-o3-7B"
REVISED, UNCHANGED = f"{BASELINE}, revised by people", f"{BASELINE}, approved unchanged"
APPROVED = (("VO", "approve"), ("CO", "approve"))
MARK = "Checked by eye"


def trace(number: int, source: str = BASELINE, **other: object) -> tuple[Trajectory, str]:
    kind = "baseline" if source == BASELINE else "model"
    spectrum = a_spectrum(f"spec-{number:04d}.fits", meta={"medium_assumed": True})
    made = a_trajectory(spectrum, f"Hα of {number} is broad.", drafter=Drafter(kind, source), medium_assumed=True)
    return replace(made, **other), spectrum


def add(store: Store, number: int, source: str = BASELINE, **other: object) -> int:
    made, spectrum = trace(number, source, **other)
    return store.items.add_all([Draft(made, spectrum, batch="november")])[0].item_id


def approve(store: Store, item: int, edit: bool = False, medium: str = "") -> None:
    desk = Desk(store)
    desk.decide("RE", item, "keep")
    if edit:
        desk.edit("RE", item, f"{MARK} {item}.")
    if medium:
        version = store.items.get(item).version.id
        lease = store.leases.take("RE", item).token
        store.reviews.set_medium(
            person="RE", item_id=item, base_version_id=version, medium=medium, key=desk.key(), lease_token=lease
        )
    desk.until(item, *TO_VOTE[1:], *APPROVED)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Items of one drafter: 1 approved unchanged, 2 and 3 revised and approved, 4 revised and not approved, 5 drafted,
    6 revised before it was imported, 7 approved after only its medium was stated, 8 as 7 and revised."""
    path = tmp_path_factory.mktemp("versions") / "annotations.db"
    with Store.open(path) as store:
        people(store)
        for scorer in SCORERS:
            store.accounts.add_person(scorer, f"Dr {scorer}", ["reviewer"])
        for number in range(1, 9):
            add(store, number, authors=("ZZ",) if number == 6 else ())
        approve(store, 1)
        approve(store, 2, edit=True)
        approve(store, 3, edit=True)
        Desk(store).decide("RE", 4, "keep")
        Desk(store).edit("RE", 4, f"{MARK} 4.")
        approve(store, 7, medium="air")
        approve(store, 8, edit=True, medium="air")
    return path


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Iterator[Store]:
    with Store.open(Path(shutil.copyfile(made, tmp_path / "annotations.db"))) as store:
        yield store


def planned(version: str = "drafted", **other: object) -> Plan:
    return Plan.from_json({"name": "n", "scorers": list(SCORERS), "version": version, **other})


def created(store: Store, version: str = "drafted", **other: object) -> BlindSession:
    return store.blind.sessions.create("CO", planned(version, **other), key())


def closed(store: Store, session: BlindSession) -> int:
    store.blind.sessions.open("CO", session.id, key())
    for scorer in SCORERS:
        for work in store.blind.scoring.assignments(scorer):
            answer_one(store, scorer, work)
    store.blind.sessions.close("CO", session.id, key())
    return session.id


def shown(store: Store, session: BlindSession) -> dict[tuple[int, str], str]:
    """The first thought of each trace by item and source."""
    return {
        (trace.item, trace.source): trace.trajectory.steps[0].text
        for trace in store.blind.checks.traces("CO", session.id)
    }


def test_a_plan_without_a_version_is_of_texts_as_drafted() -> None:
    plan = Plan.from_json({"name": "n", "scorers": ["SA"], "each": 1})
    assert (plan.version, plan.to_json()["version"]) == ("drafted", "drafted")
    assert Plan.from_json({"name": "n", "scorers": ["SA"], "each": 1, "version": None}).version == "drafted"
    with pytest.raises(PlanError, match=r"version: found .*revised.*drafted, approved, both"):
        Plan.from_json({"name": "n", "scorers": ["SA"], "each": 1, "version": "revised"})


def test_as_drafted_every_trace_is_the_first_text_under_its_drafters_name(store: Store) -> None:
    session = created(store)
    assert shown(store, session) == {(item, BASELINE): f"Hα of {item} is broad." for item in (1, 2, 3, 4, 5, 7, 8)}
    (note,) = session.notes
    assert note == "1 item was left out because people revised it before it was imported: its draft is not here."


def test_as_approved_revised_and_unchanged_texts_are_sources_of_their_own(store: Store) -> None:
    session = created(store, "approved")
    assert shown(store, session) == {
        (1, UNCHANGED): "Hα of 1 is broad.",
        (2, REVISED): f"{MARK} 2.",
        (3, REVISED): f"{MARK} 3.",
        (7, UNCHANGED): "Hα of 7 is broad.",  # only its medium was stated
        (8, REVISED): f"{MARK} 8.",
    }
    assert session.notes == ("3 items were left out because they are not approved.",)


def test_both_are_two_traces_of_each_revised_item(store: Store) -> None:
    session = created(store, "both", mode="both")
    assert shown(store, session) == {
        (item, source): text
        for item in (2, 3, 8)
        for source, text in ((BASELINE, f"Hα of {item} is broad."), (REVISED, f"{MARK} {item}."))
    }
    assert "2 items were left out because they were approved as they were drafted" in " ".join(session.notes)
    assert "3 items were left out because they are not approved" in " ".join(session.notes)
    drawn = sample(session.plan, store.blind.sessions.candidates("CO", session.plan))
    pairs = [one.shown for one in drawn.of("SA") if one.kind == "pair"]
    assert sorted(two[0].item for two in pairs) == [2, 3, 8]
    assert all(two[0].item == two[1].item and two[0].version != two[1].version for two in pairs)


def test_of_several_traces_by_one_drafter_the_draft_and_its_own_revision_are_compared(store: Store) -> None:
    twice = add(store, 2, steps=a_trajectory(think="Another sample.").steps)
    approve(store, twice, edit=True)
    for seed in range(6):
        plan = planned("both", mode="both", seed=seed)
        drawn = sample(plan, store.blind.sessions.candidates("CO", plan))
        items = {}
        for candidate in drawn.candidates:
            items.setdefault(candidate.spectrum, []).append((candidate.item, candidate.text))
        assert all(len({item for item, _ in texts}) == 1 and len(texts) == 2 for texts in items.values())


def test_each_drafter_has_both_of_its_sources(store: Store) -> None:
    for number in (2, 3):
        approve(store, add(store, number, MODEL), edit=True)
    session = created(store, "both", mode="both", sources=[MODEL, BASELINE])
    sources = {source for _, source in shown(store, session)}
    assert sources == {BASELINE, REVISED, MODEL, f"{MODEL}, revised by people"}
    assert len(shown(store, session)) == 8
    results = store.blind.results.of_session("CO", closed(store, session))
    assert len(results.first("pair")) == 2 * 2 * 6


def test_a_medium_that_a_person_stated_is_no_edit_and_holds_for_the_draft(store: Store) -> None:
    session = created(store, "both", mode="both")
    traces = [trace for trace in store.blind.checks.traces("CO", session.id) if trace.item == 8]
    assert len({trace.spectrum for trace in traces}) == 1
    zooms = [zoom.medium for trace in traces for zoom in trace.trajectory.steps if isinstance(zoom, Zoom)]
    assert zooms == ["air", "air"]
    store.blind.sessions.open("CO", session.id, key())
    for work in store.blind.scoring.assignments("SA"):
        sheet = store.blind.scoring.sheet(work.token, "SA")
        spectrum = store.spectra.get(store.blind.scoring.source(work.token, "SA").spectrum)
        mediums = {step.medium for trace in sheet.traces for step in trace.steps if step.kind == "zoom"}
        assert mediums == {spectrum.medium}
        answer_one(store, "SA", work)
    for question in store.blind.judging.questions("CO", session.id):
        medium = store.spectra.get(question.spectrum).medium
        assert {zoom.medium for trajectory in question.trajectories for zoom in trajectory.zooms} == {medium}


def test_a_draft_that_was_restored_is_unchanged(store: Store) -> None:
    item = add(store, 9)
    first = store.items.get(item).version.trajectory
    desk = Desk(store)
    desk.decide("RE", item, "keep")
    desk.edit("RE", item, "Something else.")
    desk.edit("RE", item, first.steps[0].text)
    desk.until(item, *TO_VOTE[1:], *APPROVED)
    session = created(store, "approved")
    assert (item, UNCHANGED) in shown(store, session)


@pytest.mark.parametrize("use", ["items", "gold", "training"])
def test_a_named_item_without_a_text_of_the_version_is_refused(store: Store, use) -> None:
    for version, item, message in (
        ("drafted", 6, "people revised item 6 before it was imported, so its draft is not here"),
        ("approved", 4, "item 4 is not approved"),
        ("both", 5, "item 5 is not approved"),
        ("both", 1, "item 1 was approved as it was drafted, so it has one text, not two"),
    ):
        other = {"items": {"items": [item, 2]}, "gold": {"gold": [{"item": item, "coherence": 3}]}}
        plan = planned(version, **other.get(use, {"training": [item]}))
        candidates = store.blind.sessions.candidates("CO", plan)
        if version == "both" and use != "items":  # practice and calibration need the draft alone
            assert item in {candidate.item for candidate in sample(plan, candidates).candidates}
            continue
        with pytest.raises(TooFew, match=message):
            store.blind.sessions.create("CO", plan, key())


def test_approved_text_of_states_without_approved_is_refused() -> None:
    with pytest.raises(PlanError, match=r"filter\.states: found screening, expected .approved. among them"):
        planned("approved", filter={"states": ["screening"]})


def test_the_sources_of_the_primary_comparison_are_those_of_the_version() -> None:
    compare = {"first": REVISED, "second": BASELINE}
    assert planned("both", sources=[BASELINE], mode="pairs", analysis=compare).analysis.first == REVISED
    for version in ("drafted", "approved"):
        with pytest.raises(PlanError, match="analysis: found"):
            planned(version, sources=[BASELINE], analysis=compare)


def test_a_name_of_a_machine_and_of_a_person_is_refused(store: Store) -> None:
    add(store, 5, "Spec-o3-7B")
    add(store, 3, drafter=Drafter("person", "Spec-o3-7B"))
    plan = planned(sources=["Spec-o3-7B"], design="separate")
    with pytest.raises(TooFew, match="Spec-o3-7B is the name of two sources"):
        store.blind.sessions.create("CO", plan, key())


def test_a_drafter_named_as_revised_text_of_another_is_refused(store: Store) -> None:
    approve(store, add(store, 2, REVISED), edit=True)
    with pytest.raises(TooFew, match=f"{REVISED} is the name of two sources"):
        store.blind.sessions.create("CO", planned("both"), key())


def test_an_item_that_is_no_longer_approved_is_not_opened_as_approved(store: Store) -> None:
    session = created(store, "approved")
    drafted = created(store)
    store.reviews.undo(person="CO", item_id=2, key=key())
    with pytest.raises(NotAllowed, match=f"Item 2 was approved when session {session.id} was created, and is not now"):
        store.blind.sessions.open("CO", session.id, key())
    store.blind.sessions.open("CO", drafted.id, key())


def test_the_report_and_its_files_name_the_versions(store: Store) -> None:
    session = closed(store, created(store, "both", mode="both"))
    files = {name: content.decode() for name, content in report.files(store, "CO", session).items()}
    assert "Version: both, as two sources." in files["report.html"]
    assert "approved, revised by people" in files["report.html"]
    assert f"{REVISED} less {BASELINE}" in files["report.html"]
    rows = list(csv.DictReader(io.StringIO(files["answers.csv"])))
    scored = [row for row in rows if row["kind"] == "scores"]
    assert {(row["source"], row["version"]) for row in scored} == {(BASELINE, "drafted"), (REVISED, "revised")}
    assert len({row["item"] for row in scored}) == 6  # a trace has a number of its own
    pairs = [row for row in rows if row["kind"] == "pair"]
    assert {frozenset((row["left_version"], row["right_version"])) for row in pairs} == {
        frozenset(("drafted", "revised"))
    }
    exported = json.loads(files["session.json"])
    assert exported["plan"]["version"] == "both"
    assert {(one["source"], one["version"]) for one in exported["items"]} == {
        (BASELINE, "drafted"),
        (REVISED, "revised"),
    }
    assert len(exported["items"]) == 6


def test_both_sources_have_a_mean_of_their_own_scores(store: Store) -> None:
    session = created(store, "both")
    store.blind.sessions.open("CO", session.id, key())
    kinds = {candidate.version: candidate.text for candidate in store.blind.sessions.candidates("CO", session.plan)}
    with sqlite3.connect(store.path) as db:
        tokens = dict(db.execute("SELECT token, version FROM blind_assignments").fetchall())
    for scorer in SCORERS:
        for work in store.blind.scoring.assignments(scorer):
            points = 5 if kinds[tokens[work.token]] == "revised" else 1
            store.blind.scoring.score(person=scorer, token=work.token, coherence=points, consistency=points, key=key())
    store.blind.sessions.close("CO", session.id, key())
    table = report.files(store, "CO", session.id)["statistics.csv"].decode()
    rows = [row for row in csv.DictReader(io.StringIO(table)) if row["section"] == "scores"]
    means = {(row["of"], row["value"]) for row in rows if "mean" in row["statistic"] and row["dimension"]}
    assert {(of, float(value)) for of, value in means if value} >= {(REVISED, 5.0), (BASELINE, 1.0)}


def test_a_session_is_repeated_from_its_file_in_its_own_version(store: Store, tmp_path: Path) -> None:
    session = closed(store, created(store, "both", mode="both"))
    report.write(store, "CO", session, tmp_path / "report")
    read = read_session(tmp_path / "report" / "session.json")
    version = session_version(read)
    plan = rerun_plan(read, lambda texts: store.blind.results.items_by_content(texts, version))
    assert (plan["version"], plan["items"]) == ("both", [2, 3, 8])
    again = store.blind.sessions.create("CO", Plan.from_json({**plan, "scorers": list(SCORERS)}), key())
    assert len(shown(store, again)) == 6
    revised = store.items.get(4).version.content_hash
    with pytest.raises(NotFound, match="1 of 1 traces are not the text of any item here as it was drafted"):
        store.blind.results.items_by_content([revised])
    with pytest.raises(NotFound, match="1 of 1 traces are not the text of any approved item here"):
        store.blind.results.items_by_content([revised], "approved")


def test_form_preview_and_list_name_the_version_and_its_sources(store: Store) -> None:
    store.accounts.add_person("CC", "Dr CC", ["coordinator"], password=PASSWORD)
    client = TestClient(server.build(store, local=True), base_url="http://127.0.0.1", follow_redirects=False)
    assert client.post("/sign-in", data={"initials": "CC", "password": PASSWORD}).status_code == 303
    setup = client.get("/api/v1/blind/setup").json()
    assert setup["sources"] == {"drafted": [BASELINE], "approved": [REVISED, UNCHANGED], "both": [REVISED, BASELINE]}
    (stratum,) = setup["strata"]
    assert [stratum[name] for name in ("items", "drafted", "approved")] == [8, 7, 5]

    def preview(version: str, **other: object) -> dict:
        plan = {"name": "n", "scorers": list(SCORERS), "version": version, **other}
        return client.post("/api/v1/blind/preview", json={"plan": plan}).json()

    both = preview("both", mode="both")
    assert (both["version"], both["spectra"], both["compared"], both["candidates"]) == ("both", 3, 2, 3)
    assert {(row["source"], row["number"]) for row in both["scores"]} == {(REVISED, 3), (BASELINE, 3)}
    assert [row["number"] for row in both["pairs"]] == [3]
    assert [row["questions"] for row in both["scorers"]] == [9, 9]
    approved = preview("approved")
    assert {(row["source"], row["number"]) for row in approved["scores"]} == {(REVISED, 3), (UNCHANGED, 2)}
    assert approved["compared"] is None  # of different spectra, for which no power is calculated
    refused = client.post(
        "/api/v1/blind/preview", json={"plan": {"name": "n", "scorers": ["SA"], "version": "current"}}
    )
    assert refused.status_code >= 400
    session = created(store, "approved")
    (listed,) = client.get("/api/v1/blind/sessions").json()
    assert (listed["version"], listed["plan"]["version"]) == ("approved", "approved")
    prints = client.get(f"/api/v1/blind/sessions/{session.id}/fingerprints").json()
    assert set(prints["traces"]) == set(prints["pictures"]) == {REVISED, UNCHANGED}


def test_what_may_reveal_an_author_is_listed_by_the_source_of_its_text(store: Store) -> None:
    item = add(store, 10)
    desk = Desk(store)
    desk.decide("RE", item, "keep")
    desk.edit("RE", item, "As GPT-5 I see a broad line.")
    desk.until(item, *TO_VOTE[1:], *APPROVED)
    session = created(store, "both")
    (leak,) = [leak for leak in store.blind.sessions.leaks("CO", session.id) if leak.giveaway.words == "GPT-5"]
    assert (leak.item, leak.source) == (item, REVISED)
    plan = planned("both", giveaways="leave out")
    assert item not in {
        candidate.item for candidate in sample(plan, store.blind.sessions.candidates("CO", plan)).candidates
    }


def as_before(store: Store, session: BlindSession, current: bool) -> None:
    """Make a session as earlier releases stored it: without the version; with the texts of that day if ``current``."""
    plan = session.plan.to_json()
    del plan["version"]
    with sqlite3.connect(store.path) as db:
        triggers = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN "
            "('blind_sessions', 'blind_assignments')"
        ).fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        text = json.dumps(plan, ensure_ascii=False, sort_keys=True)
        db.execute("UPDATE blind_sessions SET plan = ? WHERE id = ?", (text, session.id))
        if current:
            db.execute(
                "UPDATE blind_assignments SET version = (SELECT s.version FROM standings s JOIN versions v "
                "ON v.item = s.item WHERE v.id = blind_assignments.version) WHERE session = ?",
                (session.id,),
            )
        for _, sql in triggers:
            db.execute(sql)
        db.commit()


@pytest.mark.parametrize(
    ("current", "sentence"),
    [
        (True, "although people had edited 4 of the 7 traces"),
        (False, "None of the 7 traces had been edited by a person."),
    ],
)
def test_the_report_of_an_earlier_session_says_that_versions_were_not_told_apart(store, current, sentence) -> None:
    session = created(store)
    closed(store, session)
    as_before(store, session, current)
    page = report.as_html(store, "CO", session.id)
    assert page.count("made before drafted and edited texts were told apart") == 2
    assert page.count(sentence) == 2
    files = report.files(store, "CO", session.id)
    exported = json.loads(files["session.json"])
    assert "version" not in exported["plan"]
    edited_items = sum(one["version"] == "current, edited" for one in exported["items"])
    assert edited_items == (4 if current else 0)
    assert {one["source"] for one in exported["items"]} == {BASELINE}


def test_an_earlier_session_that_is_not_open_yet_is_not_opened_if_it_mixes_texts(store: Store) -> None:
    mixed, drafts = created(store), created(store, seed=2)
    as_before(store, mixed, True)
    as_before(store, drafts, False)
    with pytest.raises(NotAllowed, match="before drafted and edited texts were told apart, and people edited 4"):
        store.blind.sessions.open("CO", mixed.id, key())
    assert store.blind.sessions.open("CO", drafts.id, key()).plan.to_json().get("version") is None
    with pytest.raises(PlanError, match="version: found current"):
        store.blind.sessions.create("CO", store.blind.sessions.get("CO", drafts.id).plan, key())


def test_texts_differ_by_what_a_scorer_sees() -> None:
    first = a_trajectory()
    stored = json.dumps(first.to_json())
    other_ids = first.with_steps(tuple(replace(step, id=f"x{n}") for n, step in enumerate(first.steps)))
    assert not texts_differ(stored, json.dumps(other_ids.to_json()))
    assert texts_differ(stored, json.dumps(first.with_steps(first.steps[1:]).to_json()))
