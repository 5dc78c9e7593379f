"""Blind sessions in the store."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from agent.trajectory import Drafter
from reviewer.blind.balance import TooFew
from reviewer.blind.pictures import list_pictures
from reviewer.blind.plan import AnalysisPlan, Filter, Gold, Plan, analysis_sha256
from reviewer.blind.results import Judgement, JudgeScore
from reviewer.blind.rubric import rubric
from reviewer.blind.sheet import CHANGEABLE, PreferenceAnswer, ScoreAnswer, count_changeable
from reviewer.store import Draft, KeyReused, NotAllowed, NotFound, Store, leases, reviews
from reviewer.store.blind import scoring, turns
from tests.support.blind_campaign import (
    GPT,
    SCORERS,
    SPEC,
    a_store,
    answer_before,
    answer_one,
    drawn,
    key,
    opened,
    tokens,
    trace,
    two_drafters,
)
from tests.support.campaign import PROCESSES, Clock, Desk, a_spectrum, edited, people


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with a_store(tmp_path / "annotations.db", clock=Clock()) as store:
        yield store


def score(store: Store, person: str, token: str, coherence: object = 4, consistency: object = 3) -> ScoreAnswer:
    return store.blind.scoring.score(
        person=person, token=token, coherence=coherence, consistency=consistency, key=key()
    )


def score_everything(store: Store) -> None:
    for person in SCORERS:
        for token in tokens(store, person):
            score(store, person, token)
        for token in tokens(store, person, "pair"):
            store.blind.scoring.prefer(person=person, token=token, preference="left", key=key())


def closed(store: Store, session: int):
    store.blind.sessions.close("CO", session, key())
    return store.blind.results.of_session(None, session)


# ---- creating


def test_a_session_is_created_opened_and_closed(store) -> None:
    session = drawn(store, number=3)
    assert (session.state, session.name, session.drawn_by) == ("drawn", "gpt against ours", "CO")
    assert session.rubric is None
    assert session.questions["cv"].title == "Cataclysmic Variable (CV)"
    assert store.blind.sessions.open("CO", session.id, key()).rubric == rubric()
    assert store.blind.sessions.close("CO", session.id, key()).state == "closed"
    assert [s.id for s in store.blind.sessions.all(None)] == [session.id]
    assert store.upkeep.verify() == []


def test_the_same_key_twice_is_one_session_and_another_plan_under_it_is_refused(store) -> None:
    plan = Plan("once", SCORERS)
    first = store.blind.sessions.create("CO", plan, "k1")
    assert store.blind.sessions.create("CO", plan, "k1") == first
    with pytest.raises(KeyReused):
        store.blind.sessions.create("CO", replace(plan, seed=2), "k1")
    assert store.blind.sessions.open("CO", first.id, "k2") == store.blind.sessions.open("CO", first.id, "k2")
    with pytest.raises(KeyReused):
        store.blind.sessions.close("CO", first.id, "k2")
    with pytest.raises(NotAllowed, match="is open; only a new session can be opened"):
        store.blind.sessions.open("CO", first.id, "k3")
    store.blind.sessions.close("CO", first.id, "k4")
    store.blind.sessions.close("CO", first.id, "k4")
    with pytest.raises(NotAllowed, match="closed already"):
        store.blind.sessions.close("CO", first.id, "k5")
    assert len(store.blind.sessions.all(None)) == 1


def test_scorers_have_to_be_active_people(store) -> None:
    with pytest.raises(NotFound, match="'QQ'"):
        drawn(store, scorers=("RE", "QQ"))
    store.accounts.deactivate("CO", "RE")
    with pytest.raises(NotAllowed, match="RE: no longer active"):
        drawn(store)


def test_a_person_who_worked_on_an_item_is_barred_from_scoring_it(store) -> None:
    desk = Desk(store)
    desk.decide("RE", 1, "keep")
    desk.mark("AU", 2)
    store.marks.commit_verdict(person="VO", item_id=3, version_id=store.items.get(3).version.id, verdict="YES")
    desk.decide("VO", 4, "keep")
    desk.edit("RE", 4, "Clearer now.")
    by_person = trace("re", 90, drafter=Drafter("person", "dr re"))
    (item,) = store.items.add_all([Draft(by_person, a_spectrum("spec-55859-F5902_sp01-090.fits"))])
    barred = {c.item: set(c.barred) for c in store.blind.sessions.candidates(None, Plan("any", SCORERS)) if c.barred}
    assert barred == {1: {"RE"}, 2: {"AU"}, 3: {"VO"}, 4: {"RE", "VO"}, item.item_id: {"RE"}}


def test_a_filter_selects_candidates(store) -> None:
    two_drafters(store, 2, task="cc")
    Desk(store).decide("ED", 1, "reject", reason="bad_data")

    def items(**plan: object) -> list[int]:
        return [c.item for c in store.blind.sessions.candidates(None, Plan("any", SCORERS, **plan))]

    assert len(items()) == 16
    assert items(tasks=("cc",)) == [13, 14, 15, 16]
    assert items(filter=Filter(states=("rejected",))) == [1]
    assert items(sources=(SPEC,), tasks=("cc",)) == [14, 16]
    assert items(items=(3, 99)) == [3]
    assert items(filter=Filter(snr_min=21.0)) == []
    assert items(filter=Filter(survey="LAMOST", snr_min=19.0, snr_max=21.0)) == list(range(1, 17))
    assert items(filter=Filter(simulated=True)) == []
    assert items(filter=Filter(batch="nowhere")) == []
    assert items(filter=Filter(batch="nowhere"), gold=(Gold(5, 5),)) == [5]


def test_texts_with_giveaways_are_left_out_or_flagged(store) -> None:
    spectrum = a_spectrum("spec-55859-F5902_sp01-098.fits")
    revealing = edited(trace(GPT, 98), "As GPT-5 I see a broad Hα.")
    item = store.items.add_all([Draft(one, spectrum) for one in (revealing, trace(SPEC, 98))])[0].item_id
    session = drawn(store)
    (found,) = store.blind.sessions.leaks("CO", session.id)
    assert (found.item, found.source, found.step, found.giveaway.words) == (item, GPT, 1, "GPT-5")
    strict = drawn(store, giveaways="leave out")
    assert store.blind.sessions.leaks("CO", strict.id) == ()
    assert strict.notes == (
        "1 trajectories reveal their authors and were left out.",
        "1 spectrum was left out because a source has no trajectory of it (gpt-5 in 1).",
    )


def test_who_wrote_a_trace_before_it_was_imported_is_barred_from_it(store) -> None:
    spectrum = a_spectrum("spec-55859-F5902_sp01-099.fits")
    drafts = [Draft(trace(source, 99, authors=("AU",) if source == GPT else ()), spectrum) for source in (GPT, SPEC)]
    theirs = {added.item_id for added in store.items.add_all(drafts)}
    candidates = store.blind.sessions.candidates("CO", Plan("n", SCORERS))
    assert [c.barred for c in candidates if c.item in theirs] == [frozenset({"AU"}), frozenset()]


def test_candidates_have_survey_label_and_who_saw_them_in_an_open_session(store) -> None:
    given_up = drawn(store, items=(1, 2), each=3)
    store.blind.sessions.close("CO", given_up.id, key())
    session = opened(store, items=(3, 4), each=2)
    by_item = {c.item: c for c in store.blind.sessions.candidates("CO", Plan("n", SCORERS))}
    assert {c.survey for c in by_item.values()} == {"LAMOST"}
    assert [by_item[item].label for item in (1, 3)] == ["NO", "YES"]
    assert by_item[1].exposed == frozenset()
    shown = {person for person in SCORERS if tokens(store, person)}
    assert by_item[3].exposed == by_item[4].exposed == shown
    assert len(shown) == 2
    again = drawn(store, name="again", items=(3, 4), each=1, earlier="bar")
    assert again.id > session.id
    with pytest.raises(TooFew, match="items: item 3 may be seen by 1 of 3 scorers, expected 2"):
        drawn(store, name="again", items=(3, 4), each=2, earlier="bar")


def test_a_showing_in_another_session_prevents_the_opening_where_the_plan_bars_it(store) -> None:
    strict = drawn(store, items=(1, 2), training=(3,), each=3, earlier="bar")
    lenient = drawn(store, items=(1, 2), each=3)
    opened(store, items=(3, 4), each=3)
    store.blind.sessions.open("CO", lenient.id, key())
    found = r"AU has been shown, in another session, item 1 since .* There are 5 more items like it"
    with pytest.raises(NotAllowed, match=found):
        store.blind.sessions.open("CO", strict.id, key())
    only_training = drawn(store, items=(5, 6), training=(3,), each=3, earlier="bar")
    assert store.blind.sessions.open("CO", only_training.id, key()).state == "open"


def test_training_items_are_found_whatever_the_filter_and_come_first(store) -> None:
    session = opened(store, tasks=("cv",), training=(12,), filter=Filter(survey="LAMOST"), number=2)
    first = tokens(store, "RE")[0]
    assert store.blind.scoring.sheet(first, "RE").training
    assert not store.blind.scoring.sheet(tokens(store, "RE")[1], "RE").training
    assert session.plan.training == (12,)


def test_the_analysis_plan_is_hashed_and_logged_when_the_session_opens(store) -> None:
    session = drawn(store, analysis=AnalysisPlan("coherence", GPT, SPEC, margin=0.3))
    assert session.analysis_sha256 is None
    session = store.blind.sessions.open("CO", session.id, key())
    assert session.rubric is not None
    assert session.analysis_sha256 == analysis_sha256(session.plan, session.rubric)
    (entry,) = [entry for entry in store.log.entries() if entry.what == "blind session opened"]
    assert entry.details["analysis_plan_sha256"] == session.analysis_sha256
    other = replace(session.plan, analysis=replace(session.plan.analysis, margin=0.4))
    assert analysis_sha256(other, session.rubric) != session.analysis_sha256


def test_a_created_session_does_not_change(store) -> None:
    session = opened(store)
    token = tokens(store, "RE")[0]
    before = store.blind.scoring.sheet(token, "RE")
    item = next(
        c.item
        for c in store.blind.sessions.candidates(None, Plan("any", SCORERS))
        if store.items.get(c.item).version.trajectory == store.blind.scoring.source(token, "RE").trajectories[0]
    )
    Desk(store).decide("ED", item, "keep")
    Desk(store).edit("ED", item, "Another text altogether.")
    store.settings.set_rules("CO", replace(store.settings.rules(), votes=3))
    assert store.blind.scoring.sheet(token, "RE") == before
    assert store.blind.sessions.get(None, session.id).plan == session.plan


def test_work_on_an_item_between_creation_and_opening_prevents_the_opening(store, monkeypatch) -> None:
    session = drawn(store, items=(1, 2), each=3)
    with pytest.raises(NotAllowed, match="You score this in a blind session"):
        Desk(store).decide("RE", 1, "keep")
    # An earlier release did not refuse such a decision; it must be found nevertheless.
    with monkeypatch.context() as earlier:
        for part in (leases, reviews):
            earlier.setattr(part, "refuse_withheld", lambda db, person, item_id: None)
        Desk(store).decide("RE", 1, "keep")
    with pytest.raises(NotAllowed, match=r"RE has worked on item 1 since session 1 was created"):
        store.blind.sessions.open("CO", session.id, key())
    assert store.blind.sessions.close("CO", session.id, key()).state == "closed"
    with pytest.raises(NotAllowed, match="never open"):
        store.blind.results.of_session(None, session.id)


# ---- scoring


def test_nothing_is_scored_before_it_opens_or_after_it_closes(store) -> None:
    session = drawn(store)
    with sqlite3.connect(store.path) as reader:
        first = "SELECT token FROM blind_assignments WHERE scorer = 'RE' AND place = 1"
        (token,) = reader.execute(first).fetchone()
    reader.close()
    assert store.blind.scoring.assignments("RE") == ()
    for request in (store.blind.scoring.sheet, store.blind.scoring.source):
        with pytest.raises(NotAllowed, match="has not been opened yet"):
            request(token, "RE")
    with pytest.raises(NotAllowed, match="has not been opened yet"):
        score(store, "RE", token)
    store.blind.sessions.open("CO", session.id, key())
    store.blind.scoring.score(person="RE", token=token, coherence=4, consistency=3, key="kept")
    store.blind.sessions.close("CO", session.id, key())
    with pytest.raises(NotAllowed, match="is closed; nothing can be scored"):
        score(store, "RE", token)
    # A repeated request is acknowledged again, so no scorer believes that an answer was lost.
    assert store.blind.scoring.score(person="RE", token=token, coherence=4, consistency=3, key="kept") == ScoreAnswer(
        4, 3
    )
    assert store.blind.scoring.assignments("RE") == ()


def test_only_the_scorer_of_an_assignment_can_use_it(store) -> None:
    opened(store)
    token = tokens(store, "RE")[0]
    for person in ("AU", "CO", "QQ"):
        for request in (
            lambda person=person: store.blind.scoring.sheet(token, person),
            lambda person=person: store.blind.scoring.source(token, person),
            lambda person=person: score(store, person, token),
            lambda person=person: store.blind.scoring.prefer(person=person, token=token, preference="left", key=key()),
        ):
            with pytest.raises(NotFound, match="have no such assignment"):
                request()
    with pytest.raises(NotFound, match="have no such assignment"):
        store.blind.scoring.sheet("made up", "RE")


def test_a_score_is_zero_to_five_or_cannot_tell(store) -> None:
    opened(store)
    token = tokens(store, "RE")[0]
    for bad in (6, -1, True, "5", None, 2.5, "cannot"):
        with pytest.raises(NotAllowed, match=r"Coherence: found .*, expected 0 to 5 or “cannot tell”"):
            score(store, "RE", token, coherence=bad)
        with pytest.raises(NotAllowed, match="Physical consistency"):
            score(store, "RE", token, consistency=bad)
    assert store.blind.scoring.sheet(token, "RE").mine is None


def test_the_later_answer_counts_and_both_are_kept(store) -> None:
    session = opened(store)
    token = tokens(store, "RE")[0]
    for answer in (ScoreAnswer(1, 1), ScoreAnswer("cannot tell", 0)):
        score(store, "RE", token, answer.coherence, answer.consistency)
        assert store.blind.scoring.sheet(token, "RE").mine == answer
    (response,) = (response for response in closed(store, session.id).responses if response.token == token)
    assert (response.answer, response.changes) == (ScoreAnswer("cannot tell", 0), 1)


def test_the_same_key_twice_is_one_answer_and_another_answer_under_it_is_refused(store) -> None:
    session = opened(store, mode="both")
    other, token = tokens(store, "RE")[-2:]
    pair = tokens(store, "RE", "pair")[0]
    answer_before(store, "RE", token)

    def given(key: str = "k", **changed: object) -> None:
        answer = {"coherence": 4, "consistency": 3, "comment": "fine", "wrong_steps": ["s1"]}
        store.blind.scoring.score(**{"person": "RE", "token": token, "key": key} | answer | changed)

    def preferred(key: str = "p", preference: str = "equal") -> None:
        store.blind.scoring.prefer(person="RE", token=pair, preference=preference, key=key)

    for _ in range(2):
        given()
        preferred()
    for changed in ({"consistency": 4}, {"wrong_steps": []}, {"token": other}, {"key": "p"}):
        with pytest.raises(KeyReused):
            given(**changed)
    for changed in ({"preference": "left"}, {"key": "k"}):
        with pytest.raises(KeyReused):
            preferred(**changed)
    responses = {response.token: response for response in closed(store, session.id).responses}
    assert (responses[token].answer, responses[token].changes) == (ScoreAnswer(4, 3, "fine", ("s1",)), 0)
    assert (responses[pair].answer, responses[pair].changes) == (PreferenceAnswer("equal"), 0)


def test_scores_and_preferences_are_accepted_only_for_their_kind(store) -> None:
    opened(store, mode="both")
    with pytest.raises(NotAllowed, match="This is a pair"):
        score(store, "RE", tokens(store, "RE", "pair")[0])
    with pytest.raises(NotAllowed, match="This is a single trace"):
        store.blind.scoring.prefer(person="RE", token=tokens(store, "RE")[0], preference="left", key=key())
    with pytest.raises(NotAllowed, match="found 'neither', expected one of left, right, equal, both bad"):
        store.blind.scoring.prefer(person="RE", token=tokens(store, "RE", "pair")[0], preference="neither", key=key())
    with pytest.raises(NotFound, match="no step 's9'"):
        store.blind.scoring.score(
            person="RE", token=tokens(store, "RE")[0], coherence=1, consistency=1, key=key(), wrong_steps=["s1", "s9"]
        )


def test_progress_is_only_counts(store) -> None:
    session = opened(store, mode="both", each=3)
    answer_before(store, "RE", tokens(store, "RE", "pair")[0])
    score(store, "RE", tokens(store, "RE")[-1])
    store.blind.scoring.prefer(person="RE", token=tokens(store, "RE", "pair")[0], preference="right", key=key())
    progress = store.blind.sessions.progress("CO", session.id)
    assert [(p.scorer, p.done, p.assigned) for p in progress] == [("RE", 13, 18), ("AU", 0, 18), ("VO", 0, 18)]
    assert [w.answered for w in store.blind.scoring.assignments("RE")] == [True] * 13 + [False] * 5


def test_an_open_session_has_no_results(store) -> None:
    session = opened(store)
    score_everything(store)
    with pytest.raises(NotAllowed, match="is open; its results are available once it is closed"):
        store.blind.results.of_session(None, session.id)


# ---- what a scorer sees


def test_a_sheet_holds_what_a_scorer_may_see(store) -> None:
    opened(store)
    token = tokens(store, "RE")[0]
    sheet = store.blind.scoring.sheet(token, "RE")
    (shown,) = sheet.traces
    assert [f"{step.id} {step.kind}" for step in shown.steps] == ["s1 think", "s2 zoom", "s3 think", "s4 answer"]
    zoom = shown.steps[1]
    assert (zoom.text, zoom.window) == ("Hα", (6500.0, 6600.0))
    assert (zoom.frame, zoom.z, zoom.medium) == ("observed", 0.0, "vacuum")
    assert (shown.overview, zoom.picture) == (0, 1)
    assert (sheet.place, sheet.of) == (1, len(tokens(store, "RE")))
    assert sheet.question.guide.startswith("- **")
    (behind,) = store.blind.scoring.source(token, "RE").trajectories
    assert list_pictures(behind)[zoom.picture].name == behind.zooms[0].picture
    assert list_pictures(behind)[shown.overview].name == behind.overview


def test_steps_of_a_sheet_are_numbered_anew(store) -> None:
    traces = [trace(source, 50) for source in (GPT, SPEC)]
    renamed = [t.with_steps(tuple(replace(s, id=f"{s.id}-{t.drafter.name}") for s in t.steps)) for t in traces]
    spectrum = a_spectrum("spec-55859-F5902_sp01-050.fits")
    items = [added.item_id for added in store.items.add_all([Draft(t, spectrum) for t in renamed])]
    opened(store, items=tuple(items), mode="pairs", each=3)
    sheet = store.blind.scoring.sheet(tokens(store, "RE", "pair")[0], "RE")
    assert [[step.id for step in shown.steps] for shown in sheet.traces] == [["s1", "s2", "s3", "s4"]] * 2


def test_no_sheet_reveals_a_source(store) -> None:
    """Search every sheet and list of work for everything that must not be in it."""
    session = opened(store, mode="both", repeats=1, gold=(Gold(1, 5, 5),), each=3)
    secrets = {GPT, SPEC, "gpt", "o3", "temperature", "endpoint", "gpu.example", ".fits", "LAMOST", "14812345"}
    secrets |= {session.name, "baseline", "label", "repeat", "gold", "drafter", "version", "item", "2026-"}
    for candidate in store.blind.sessions.candidates(None, Plan("any", SCORERS)):
        secrets |= {candidate.spectrum, store.items.get(candidate.item).version.content_hash}
    secrets |= {"cd" * 32, "ab" * 32}
    sheets = 0
    for person in SCORERS:
        for work in store.blind.scoring.assignments(person):
            answer_one(store, person, work)
            sheet = asdict(store.blind.scoring.sheet(work.token, person))
            # The text of the task is the same for every source; a random token may contain "o3".
            del sheet["question"]
            text = json.dumps([sheet, asdict(work)], ensure_ascii=False).replace(work.token, "")
            found = [s for s in secrets if re.search(re.escape(s), text, re.IGNORECASE)]
            assert found == []
            sheets += 1
    assert sheets > 30


# ---- the order of the places


def test_places_are_opened_in_order_and_answers_become_final(store) -> None:
    """A list of 20 traces: the present place, five before it, and one after it to fetch, not to answer."""
    two_drafters(store, 4, task="cc")
    opened(store, each=3)
    mine = tokens(store, "RE")
    assert len(mine) == 20
    assert {work.changeable for work in store.blind.scoring.assignments("RE")} == {CHANGEABLE}
    for present in range(21):
        seen = [allowed(lambda t=t: store.blind.scoring.sheet(t, "RE")) for t in mine]
        assert seen == [present - CHANGEABLE <= place <= present + 1 for place in range(20)]
        assert seen == [allowed(lambda t=t: store.blind.scoring.source(t, "RE")) for t in mine]
        wrong = [place for place in range(20) if not present - CHANGEABLE <= place <= present]
        for place in wrong:
            with pytest.raises(NotAllowed, match=r"is final: only the last 5 answers|answered in order"):
                score(store, "RE", mine[place])
        if present < 20:
            score(store, "RE", mine[max(0, present - CHANGEABLE)], 1, 1)
            score(store, "RE", mine[present])


def allowed(request) -> bool:
    try:
        request()
    except NotAllowed:
        return False
    return True


@pytest.mark.parametrize(("traces", "repeats"), [(2, 1), (8, 3), (12, 0), (16, 8)])
def test_no_scorer_can_open_the_first_showing_while_its_repeat_is_in_front(store, traces, repeats) -> None:
    """And how much can be opened is the same with and without repeats, for lists of one length."""
    two_drafters(store, 2, task="cc")
    session = opened(store, items=tuple(range(1, traces + 1)), each=1, repeats=repeats, scorers=("RE",))
    with store.database.read() as db:
        rows = db.execute("SELECT token, place, repeat_of FROM blind_assignments WHERE session = ?", (session.id,))
        places = {row["token"]: (row["place"], row["repeat_of"]) for row in rows}
    assert sum(first is not None for _, first in places.values()) == repeats
    for work in store.blind.scoring.assignments("RE"):
        assert work.changeable == count_changeable(traces + repeats)
        _, first = places[work.token]
        # The two traces of a list of two are shown next to each other.
        if first is not None and traces > 2:
            with pytest.raises(NotAllowed, match="is final"):
                store.blind.scoring.sheet(first, "RE")
        answer_one(store, "RE", work)


def test_gold_and_training_items_do_not_count_for_how_much_can_be_changed(store) -> None:
    """They would make a list long in which a trace and its repeat are near each other."""
    opened(store, items=(1, 2, 3, 4), each=3, repeats=1, gold=tuple(Gold(n, 5) for n in range(5, 13)))
    assert {work.changeable for work in store.blind.scoring.assignments("RE")} == {count_changeable(5)}
    assert count_changeable(13) > count_changeable(5)


def test_answers_out_of_order_of_an_earlier_release_leave_the_first_gap_in_front(store, monkeypatch) -> None:
    opened(store, each=3)
    mine = tokens(store, "RE")
    with monkeypatch.context() as earlier:
        earlier.setattr(scoring, "require_in_turn", lambda *_, **__: None)
        score(store, "RE", mine[5])
    with pytest.raises(NotAllowed, match="Place 1 has no answer yet"):
        store.blind.scoring.sheet(mine[5], "RE")
    for token in mine[:5]:
        score(store, "RE", token)
    assert store.blind.scoring.sheet(mine[5], "RE").mine == ScoreAnswer(4, 3)
    assert allowed(lambda: score(store, "RE", mine[6]))


def test_items_are_hidden_from_their_scorers_until_the_session_is_closed(store) -> None:
    before = drawn(store, items=(1, 2, 3, 4), mode="both", each=3, gold=(Gold(9, 5, 5),))
    # Items 9 and 10 have the same spectrum: item 10 and its name would reveal the source of the gold item.
    hidden = frozenset({1, 2, 3, 4, 9, 10})
    assert [store.blind.scoring.hidden_items(p) for p in (*SCORERS, "CO")] == [hidden] * 3 + [frozenset()]
    store.blind.sessions.open("CO", before.id, key())
    assert store.blind.scoring.hidden_items("RE") == hidden
    opened(store, items=(5, 6), each=3, mode="pairs")
    assert store.blind.scoring.hidden_items("RE") == hidden | {5, 6}
    store.blind.sessions.close("CO", before.id, key())
    assert store.blind.scoring.hidden_items("RE") == {5, 6}


# ---- results


def test_results_hold_everything_that_the_statistics_need(store) -> None:
    session = opened(store, mode="both", repeats=1, gold=(Gold(1, 5, 4, 0),), each=3)
    score_everything(store)
    results = closed(store, session.id)
    assert len(results.first("scores")) == 3 * 10
    assert len(results.first("pair")) == 3 * 5
    assert [response.scorer for response in results.responses] == sorted(
        (response.scorer for response in results.responses), key=SCORERS.index
    )
    assert {response.gold for response in results.gold()} == {Gold(1, 5, 4, 0)}
    assert len(results.gold()) == 3
    for kind in ("scores", "pair"):
        for first, again in results.repeats(kind):
            assert first.scorer == again.scorer
            assert first.shown[::-1] == again.shown
        assert len(results.repeats(kind)) == 3
    # As many of one drafter as of the other, and the gold item. Labels alternate, every verdict is YES.
    assert Counter(t.source for t in results.traces.values()) == {GPT: 6, SPEC: 5}
    assert all(t.correct is (t.label == "YES") for t in results.traces.values())
    assert {t.correct for t in results.traces.values()} == {True, False}
    assert all(t.characters > 50 for t in results.traces.values())
    assert results.rubric == rubric()


def test_unanswered_questions_are_in_the_results_without_an_answer(store) -> None:
    session = opened(store)
    score(store, "RE", tokens(store, "RE")[0])
    responses = closed(store, session.id).responses
    assert sum(response.answer is not None for response in responses) == 1
    assert all(response.at is None for response in responses if response.answer is None)


def test_judgements_are_separate_from_scores_and_count_for_no_person(store) -> None:
    session = drawn(store, mode="both", items=(1, 2), each=3)
    one, other = (store.items.get(item).version.id for item in (1, 2))
    single = Judgement("gpt-5", (one,), JudgeScore(4, "cannot tell", "fair"), "Let me see.", {"temperature": 0})
    pair = Judgement("gpt-5", (other, one), PreferenceAnswer("equal"), "", {})
    with pytest.raises(NotAllowed, match="has not been open"):
        store.blind.judging.record(by="CO", session_id=session.id, judgement=single, key="j1")
    store.blind.sessions.open("CO", session.id, key())
    with pytest.raises(NotAllowed, match="Only a coordinator"):
        store.blind.judging.record(by="RE", session_id=session.id, judgement=single, key="j1")
    for _ in range(2):
        store.blind.judging.record(by="CO", session_id=session.id, judgement=single, key="j1")
        store.blind.judging.record(by=None, session_id=session.id, judgement=pair, key="j2")
    with pytest.raises(KeyReused):
        store.blind.judging.record(by="CO", session_id=session.id, judgement=pair, key="j1")
    stranger = replace(single, shown=(store.items.get(5).version.id,))
    with pytest.raises(NotFound, match="Nobody in session 1 was shown"):
        store.blind.judging.record(by="CO", session_id=session.id, judgement=stranger, key="j3")
    assert store.blind.judging.recorded_keys(None, session.id, "gpt-5") == {"j1", "j2"}
    assert all(progress.done == 0 for progress in store.blind.sessions.progress("CO", session.id))
    results = closed(store, session.id)
    assert results.judgements == (single, pair)
    assert all(response.answer is None for response in results.responses)


def test_a_session_that_does_not_exist_is_named(store) -> None:
    for request in (
        lambda n: store.blind.sessions.get("CO", n),
        lambda n: store.blind.results.of_session("CO", n),
        lambda n: store.blind.sessions.open("CO", n, key()),
        lambda n: store.blind.sessions.close("CO", n, key()),
        lambda n: store.blind.sessions.progress("CO", n),
        lambda n: store.blind.sessions.leaks("CO", n),
    ):
        with pytest.raises(NotFound, match="no blind session 7"):
            request(7)


# ---- many at once, and many items


def score_mine(path: Path, person: str) -> int:
    """Answer everything assigned to a person; change each answer once and send it twice."""
    with Store.open(path) as store:
        mine = tokens(store, person)
        for token in mine:
            for coherence in (1, 4):
                for _ in range(2):
                    store.blind.scoring.score(
                        person=person, token=token, coherence=coherence, consistency=3, key=f"{token} {coherence}"
                    )
    return len(mine)


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(3, mp_context=PROCESSES) as processes:
        yield processes


def test_processes_that_score_at_once_lose_nothing(tmp_path, processes) -> None:
    path = tmp_path / "annotations.db"
    with a_store(path, 8) as store:
        session = opened(store, each=3)
        done = list(processes.map(score_mine, [path] * 3, SCORERS))
        assert done == [16] * 3
        results = closed(store, session.id)
        assert [(response.answer, response.changes) for response in results.responses] == [(ScoreAnswer(4, 3), 1)] * 48
        assert store.upkeep.verify() == []


def create_once(path: Path, number: int) -> int:
    with Store.open(path) as store:
        return store.blind.sessions.create("CO", Plan("once", SCORERS), "the one key").id


def test_processes_that_create_under_one_key_make_one_session(tmp_path, processes) -> None:
    path = tmp_path / "annotations.db"
    a_store(path).close()
    assert set(processes.map(create_once, [path] * 4, range(4))) == {1}
    with Store.open(path) as store:
        assert len(store.blind.sessions.all(None)) == 1


def queries(store: Store, do) -> int:
    """Count the statements of a call on all connections."""
    statements: list[str] = []
    store.database.writer.set_trace_callback(statements.append)
    with store.database.read() as reader:
        reader.conn.set_trace_callback(statements.append)
    do()
    with store.database.read() as reader:
        reader.conn.set_trace_callback(None)
    store.database.writer.set_trace_callback(None)
    return len(statements)


def test_the_number_of_queries_does_not_grow_with_the_database(tmp_path) -> None:
    counted = []
    for spectra in (3, 60):
        with a_store(tmp_path / f"{spectra}.db", spectra) as store:
            session = opened(store, mode="both", items=(1, 2, 3, 4), each=3)
            token = tokens(store, "RE")[0]
            plan = Plan("any", SCORERS, giveaways="leave out")
            counted.append(
                [
                    queries(store, lambda store=store, plan=plan: store.blind.sessions.candidates(None, plan)),
                    queries(store, lambda store=store: store.blind.scoring.hidden_items("RE")),
                    queries(store, lambda store=store: store.blind.scoring.assignments("RE")),
                    queries(store, lambda store=store, token=token: store.blind.scoring.sheet(token, "RE")),
                    queries(store, lambda store=store, token=token: score(store, "RE", token)),
                    queries(store, lambda store=store, s=session: store.blind.sessions.progress("CO", s.id)),
                    queries(store, lambda store=store, s=session: closed(store, s.id)),
                ]
            )
    assert counted[0] == counted[1]
    assert all(counted[0])


def test_the_queries_of_a_scorer_scan_no_table(tmp_path) -> None:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        with store.database.read() as db:
            for sql in (scoring._ASSIGNMENT, turns.OPEN_PLACES, turns.ORDER, scoring._HIDDEN):
                values = {"person": "RE", "session": 1} if ":person" in sql else ("t", "RE")
                plan = [row["detail"] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
                scans = [line for line in plan if line.startswith("SCAN") and "blind_s" not in line]
                # Sessions and their states are few; all other tables must use an index.
                assert [line for line in scans if not re.match(r"SCAN ([sc]|mine)\b", line)] == [], plan
