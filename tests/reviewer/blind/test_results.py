"""What the store tells about the traces and the answers of a closed session."""

from __future__ import annotations

import json
from pathlib import Path

from agent.trajectory.steps import Think
from reviewer.blind.plan import Gold, analysis_sha256
from reviewer.blind.results import Response, Results
from reviewer.blind.rubric import rubric
from reviewer.exchange import blind_report as report
from reviewer.rules.inspection import Inspection
from reviewer.store import Draft, Store
from tests.support.blind_campaign import GPT, SCORERS, SPEC, a_store, drawn, key, opened, tokens, trace
from tests.support.campaign import Clock, Desk, a_spectrum, people


def score_all(store: Store, clock: Clock, person: str, *scores: int) -> None:
    """Give each trace these scores, one after the other, in both dimensions."""
    for token in tokens(store, person):
        for score in scores:
            clock.turn(seconds=10)
            store.blind.scoring.score(person=person, token=token, coherence=score, consistency=score, key=key())


def closed(store: Store, session: int) -> Results:
    store.blind.sessions.close("CO", session, key())
    return store.blind.results.of_session(None, session)


def of(results: Results, scorer: str) -> list[Response]:
    return [response for response in results.responses if response.scorer == scorer]


def test_survey_signal_to_noise_and_leaks_of_each_trace(tmp_path: Path) -> None:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        sdss = a_spectrum("sdss.fits", survey="SDSS", snr={"r": 7.5})
        faint = a_spectrum("faint.fits", snr={"median": 2.0})
        telling = trace(SPEC, 0, spectrum_name=sdss.name, spectrum_sha256=sdss.sha256)
        first, *others = telling.steps
        assert isinstance(first, Think)
        steps = (Think(first.id, "As a language model called GPT-5 I see Hα."), *others)
        plain = trace(GPT, 1, spectrum_name=faint.name, spectrum_sha256=faint.sha256)
        store.items.add_all([Draft(telling.with_steps(steps), sdss), Draft(plain, faint)])
        session = opened(store, sources=(SPEC, GPT), design="separate", each=1, scorers=("RE",))
        found = closed(store, session.id)
    about = {trace.source: (trace.survey, trace.snr, trace.reveals) for trace in found.traces.values()}
    assert about == {SPEC: ("SDSS", 7.5, True), GPT: ("LAMOST", 2.0, False)}


def test_the_first_answer_is_kept_beside_the_last(tmp_path: Path) -> None:
    clock = Clock()
    with a_store(tmp_path / "annotations.db", clock=clock) as store:
        session = opened(store, mode="both", each=3).id
        score_all(store, clock, "RE", 1, 4, 3)
        score_all(store, clock, "AU", 2)
        for token in tokens(store, "RE", "pair"):
            for side in ("left", "equal"):
                clock.turn(seconds=10)
                store.blind.scoring.prefer(person="RE", token=token, preference=side, key=key())  # type: ignore[arg-type]
        found = closed(store, session)
    for one in of(found, "RE"):
        assert one.first_at < one.at
        if one.kind == "scores":
            assert (one.first_answer.coherence, one.answer.coherence, one.changes) == (1, 3, 2)  # type: ignore[union-attr]
        else:
            assert (one.first_answer.preference, one.answer.preference) == ("left", "equal")  # type: ignore[union-attr]
    assert all((one.first_answer, one.first_at) == (one.answer, one.at) for one in of(found, "AU"))
    assert all(one.first_answer is None and one.first_at is None for one in of(found, "VO"))


def test_the_hash_of_the_analysis_plan_is_that_of_the_opening(tmp_path: Path) -> None:
    with a_store(tmp_path / "annotations.db", clock=Clock()) as store:
        session = opened(store, each=3)
        logged = store.blind.results.report_material(None, session.id).analysis_sha256
        found = closed(store, session.id)
        files = report.files(store, None, session.id)
    assert logged == analysis_sha256(session.plan, rubric()) == analysis_sha256(found.plan, found.rubric)
    assert f"SHA-256 {logged}, logged when the session opened." in files["report.html"].decode()
    assert json.loads(files["session.json"])["analysis_sha256"] == logged


def test_the_barred_are_those_whom_the_sampling_barred(tmp_path: Path) -> None:
    with a_store(tmp_path / "annotations.db", clock=Clock()) as store:
        Desk(store).decide("VO", 3, "keep")
        store.inspections.add(item_id=4, inspection=Inspection("AU", z=0.1), key=key())
        session = opened(store, items=(3, 4, 5, 6), each=1)
        candidates = store.blind.sessions.candidates(None, session.plan)
        barred = store.blind.results.report_material(None, session.id).barred
        shown = {trace.item for trace in store.blind.checks.traces(None, session.id)}
    assert barred == {
        (who, candidate.item) for candidate in candidates for who in candidate.barred if candidate.item in shown
    }
    assert barred == {("VO", 3), ("AU", 4)}


def test_what_a_scorer_saw_in_an_earlier_session_is_marked(tmp_path: Path) -> None:
    with a_store(tmp_path / "annotations.db", clock=Clock()) as store:
        # RE sees items 1 to 4 in a session that was opened; AU is in one that never was.
        before = opened(store, items=(1, 2, 3, 4), scorers=("RE",), each=1).id
        store.blind.sessions.close("CO", before, key())
        assert not any(response.exposed for response in store.blind.results.of_session(None, before).responses)
        never = drawn(store, items=(1, 2, 3, 4), scorers=("AU",), each=1).id
        store.blind.sessions.close("CO", never, key())
        session = opened(store, mode="both", each=3).id
        # A session that is opened later exposes nothing in this one.
        later = opened(store, items=(5, 6), scorers=("VO",), each=1).id
        store.blind.sessions.close("CO", later, key())
        found = closed(store, session)
    for scorer in SCORERS:
        for one in of(found, scorer):
            seen = any(found.traces[version].item <= 4 for version in one.shown)
            assert one.exposed == (scorer == "RE" and seen), (scorer, one)
    assert {response.kind for response in found.responses if response.exposed} == {"scores", "pair"}


def test_a_session_opened_between_sampling_and_opening_of_another_is_an_earlier_one(tmp_path: Path) -> None:
    with a_store(tmp_path / "annotations.db", clock=Clock()) as store:
        session = drawn(store, items=(1, 2), each=3).id
        opened(store, items=(1, 2), scorers=("RE",), each=1)
        store.blind.sessions.open("CO", session, key())
        found = closed(store, session)
    assert {response.scorer for response in found.responses if response.exposed} == {"RE"}


def test_training_items_are_in_no_result_and_no_judge_gets_them(tmp_path: Path) -> None:
    with a_store(tmp_path / "annotations.db", clock=Clock()) as store:
        session = opened(store, each=3, training=(1, 2), gold=(Gold(3, 5),), repeats=1).id
        judged = {shown for question in store.blind.judging.questions(None, session) for shown in question.shown}
        found = closed(store, session)
    trained = [response for response in found.responses if response.training]
    assert {found.traces[one.shown[0]].item for one in trained} == {1, 2}
    assert len(trained) == 2 * len(SCORERS)
    assert not {one.token for one in trained} & {one.token for one in found.first("scores")}
    assert judged == {version for one in found.first("scores") for version in one.shown}
