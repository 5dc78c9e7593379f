"""Versions, decisions, marks and verdicts: appended once, checked when written, never changed."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer.rules.workflow import VERBS, Rules
from reviewer.store import (
    CannotWrite,
    Draft,
    KeyReused,
    NotAllowed,
    NotFound,
    Store,
    StoreError,
    TimeSpent,
    VersionMoved,
    WorkTime,
    WrongSpectrum,
)
from reviewer.store.sqlite.schema import FACTS
from tests.support.campaign import TO_AUDIT, TO_VOTE, Clock, Desk, a_spectrum, a_trajectory, an_item, edited, people
from tests.support.kept_campaign import fill, score_blind


def test_an_item_is_read_as_it_was_added(store):
    spectrum = a_spectrum()
    trajectory = a_trajectory(spectrum, label="YES", label_source="SIMBAD", simulated=True)
    (added,) = store.items.add_all([Draft(trajectory, spectrum, "november", pictures={"ab" * 32: b"png"})])
    item = store.items.get(added.item_id)
    assert (item.version.trajectory, item.version.number, item.version.author) == (trajectory, 1, None)
    assert item.label == "YES"
    assert (item.row.survey, item.row.snr, item.row.batch, item.row.simulated) == ("LAMOST", 20.0, "november", True)
    assert item.standing.state == "screening"
    assert store.spectra.picture("ab" * 32) == b"png"
    assert store.spectra.picture("cd" * 32) is None


def test_importing_the_same_again_adds_nothing(store):
    drafts = [Draft(a_trajectory(a_spectrum(f"{n}.fits"), think=str(n)), a_spectrum(f"{n}.fits")) for n in range(3)]
    first = store.items.add_all(drafts)
    again = store.items.add_all(drafts)
    assert [a.new for a in first] == [True] * 3
    assert [(a.item_id, a.new) for a in again] == [(a.item_id, False) for a in first]
    assert store.statistics.counts().by_task == {"cv": {"screening": 3}}


def test_a_given_key_identifies_the_item_whatever_its_content(store):
    first = store.items.add(a_trajectory(think="first"), key="LAMOST/14812345/cv")
    assert store.items.add(a_trajectory(think="second"), key="LAMOST/14812345/cv") == first
    assert store.items.get(first).version.trajectory.steps[0].text == "first"


def test_one_bad_draft_keeps_every_item_out(store):
    other = a_trajectory(a_spectrum("another.fits"))
    with pytest.raises(WrongSpectrum, match=r"another\.fits: found the spectrum"):
        store.items.add_all([Draft(a_trajectory(a_spectrum()), a_spectrum()), Draft(other, a_spectrum())])
    with pytest.raises(NotFound, match="No spectrum"):
        store.items.add(replace(other, spectrum_sha256=None), spectrum_sha256="0" * 64)
    assert store.statistics.counts().by_task == {}


def test_a_spectrum_that_is_stored_is_found_through_the_trajectory(store):
    spectrum = a_spectrum()
    store.spectra.add(spectrum)
    item_id = store.items.add(a_trajectory(spectrum))
    assert store.items.get(item_id).row.spectrum_sha256 == spectrum.sha256


def test_progress_of_an_import_is_reported(store):
    reported = []
    store.items.add_all((Draft(a_trajectory(think=str(n))) for n in range(250)), reported.append)
    assert reported == [100, 200, 250]


def test_items_and_versions_that_do_not_exist_are_named(store):
    for request in (store.items.get, store.items.versions, store.items.standing, store.items.history):
        with pytest.raises(NotFound, match="no item 77"):
            request(77)
    with pytest.raises(NotFound, match="no version with the id 77"):
        store.items.version(77)


def test_an_edit_is_a_new_version_with_author_parent_and_reason(store, desk):
    item_id = an_item(store)
    desk.decide("RE", item_id, "keep")
    version = desk.edit("RE", item_id, "The line is Hα at 6563 Å.")
    draft, current = store.items.versions(item_id)
    assert current == version == store.items.version(version.id)
    assert (version.number, version.author, version.reason, version.parent_id) == (2, "RE", "clearer", draft.id)
    assert draft.trajectory.steps[0].text == "Hα looks broad."
    assert version.content_hash == version.trajectory.content_hash()


def test_unchanged_text_makes_no_version(store, desk):
    item_id = an_item(store)
    desk.decide("RE", item_id, "keep")
    assert desk.edit("RE", item_id, "Hα looks broad.").number == 1
    assert len(store.items.versions(item_id)) == 1


def test_the_second_of_two_edits_of_one_version_is_refused_and_both_texts_are_kept(store, desk):
    item_id = an_item(store)
    desk.until(item_id, ("RE", "keep"))
    desk.edit("RE", item_id, "two")
    third = desk.edit("RE", item_id, "three")
    hers = desk.edit("RE", item_id, "four, hers")
    his = edited(third.trajectory, "four, his")
    with pytest.raises(VersionMoved, match="based on version 3; RE has saved version 4 since") as moved:
        desk.save("RE", item_id, his, base_version_id=third.id, reason="why")
    assert moved.value.theirs == hers
    assert moved.value.yours == his
    kept = store.leases.autosaved("RE", item_id)
    assert (kept.base_version_id, kept.body) == (third.id, {**his.to_json(), "comment": "why"})
    assert [v.trajectory.steps[0].text for v in store.items.versions(item_id)][-1] == "four, hers"


def test_a_version_cannot_change_the_identity_of_the_item(store, desk):
    item_id = an_item(store)
    desk.decide("RE", item_id, "keep")
    version = store.items.get(item_id).version
    for change in ({"task": "wd"}, {"label": "NO"}, {"simulated": True}, {"spectrum_name": "other.fits"}):
        with pytest.raises(NotAllowed, match=next(iter(change))):
            desk.save("RE", item_id, replace(version.trajectory, **change))


def test_text_cannot_be_edited_outside_revision_but_is_kept_as_unsent(store, desk):
    item_id = an_item(store)
    version = store.items.get(item_id).version
    with pytest.raises(NotAllowed, match="in revision only; this item is in screening"):
        desk.save("RE", item_id, edited(version.trajectory, "x"))
    assert store.leases.autosaved("RE", item_id).body["steps"][0]["text"] == "x"


def test_a_saved_version_removes_its_autosave(store, desk):
    item_id = an_item(store)
    desk.decide("RE", item_id, "keep")
    version = store.items.get(item_id).version
    store.leases.autosave(person="RE", item_id=item_id, base_version_id=version.id, body={"text": "half a sen"})
    assert store.leases.autosaved("RE", item_id).body == {"text": "half a sen"}
    desk.edit("RE", item_id, "half a sentence, and the rest")
    assert store.leases.autosaved("RE", item_id) is None


def test_a_decision_removes_its_comment_from_the_autosave_and_keeps_other_text(store, desk):
    item_id = an_item(store)
    version = store.items.get(item_id).version
    as_drawn = version.trajectory.to_json()["steps"]
    rewritten = edited(version.trajectory, "Hα is broad.").to_json()["steps"]
    store.leases.autosave(
        person="RE", item_id=item_id, base_version_id=version.id, body={"steps": as_drawn, "comment": "a good one"}
    )
    store.leases.autosave(
        person="VO", item_id=item_id, base_version_id=version.id, body={"steps": as_drawn, "comment": "VO's own"}
    )
    desk.decide("RE", item_id, "keep", comment="a good one")
    assert store.leases.autosaved("RE", item_id) is None
    assert store.leases.autosaved("VO", item_id).body["comment"] == "VO's own"
    store.leases.autosave(
        person="RE", item_id=item_id, base_version_id=version.id, body={"steps": rewritten, "comment": "hopeless"}
    )
    desk.decide("RE", item_id, "reject", reason="bad_data", comment="hopeless")
    assert store.leases.autosaved("RE", item_id).body == {"steps": rewritten, "comment": ""}


def test_a_new_version_makes_old_audits_stale(store, desk):
    item_id = an_item(store)
    desk.until(item_id, *TO_AUDIT, ("AU", "pass"), ("AX", "return"))
    desk.edit("RE", item_id, "corrected")
    standing = store.items.get(item_id).standing
    assert [(d.person, d.verb) for d in standing.stale] == [("AU", "pass"), ("AX", "return")]
    assert desk.decide("RE", item_id, "submit").progress == "audit 0 of 2"
    assert desk.decide("AU", item_id, "pass").progress == "audit 1 of 2"


def test_a_text_that_could_not_be_exported_cannot_be_submitted(store, desk):
    unfinished = a_trajectory().with_steps(a_trajectory().steps[:-1])
    item_id = store.items.add(unfinished)
    desk.decide("RE", item_id, "keep")
    with pytest.raises(NotAllowed, match="the last step is not an answer"):
        desk.decide("RE", item_id, "submit")


def test_an_item_passes_every_round_and_its_history_lists_the_decisions(store, desk):
    item_id = an_item(store)
    standing = desk.until(item_id, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
    assert (standing.state, standing.decided_by) == ("approved", ("VO", "CO"))
    decisions = [(r.decision.person, r.decision.round, r.decision.verb) for r in store.items.history(item_id)]
    assert decisions[0] == ("RE", "screening", "keep")
    assert decisions[-1] == ("CO", "vote", "approve")
    assert store.queue.approved() == store.queue.approved(task="cv", batch="november") == [item_id]
    assert store.queue.approved(task="carbon") == []


def test_a_repeated_request_gets_the_first_answer_whatever_came_after(store, desk):
    item_id = an_item(store)
    version, lease = store.items.get(item_id).version, store.leases.take("RE", item_id).token
    lost = {"version_id": version.id, "lease_token": lease, "key": "lost answer"}
    first = desk.decide("RE", item_id, "keep", **lost)
    assert desk.decide("RE", item_id, "keep", **lost) == first
    desk.edit("RE", item_id, "two")
    saving = desk.last_key
    desk.decide("RE", item_id, "submit")
    assert desk.decide("RE", item_id, "keep", **lost) == first
    saved = store.items.versions(item_id)[1]
    repeated = {"base_version_id": version.id, "key": saving, "lease_token": ""}
    assert desk.save("RE", item_id, saved.trajectory, **repeated) == saved


def test_a_key_cannot_be_used_for_something_else(store, desk):
    item_id, other = an_item(store), an_item(store, 1)
    same = {"lease_token": store.leases.take("RE", item_id).token, "key": "k"}
    desk.decide("RE", item_id, "keep", **same)
    with pytest.raises(KeyReused):
        desk.decide("RE", item_id, "reject", **same, reason="bad_data")
    with pytest.raises(KeyReused):
        desk.decide("RE", other, "keep", **same)
    with pytest.raises(KeyReused):
        store.reviews.undo(person="RE", item_id=item_id, key="k")


def test_the_vote_after_the_last_one_is_refused_and_changes_nothing(store, desk):
    item_id = an_item(store)
    before = desk.until(item_id, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
    with pytest.raises(NotAllowed, match="already approved"):
        store.leases.take("JU", item_id)
    with pytest.raises(NotAllowed, match="already approved"):
        desk.decide("JU", item_id, "reject", lease_token="no lease", reason="bad_data")
    assert store.items.standing(item_id) == before


def test_a_decision_on_a_version_that_moved_on_or_of_another_item_is_refused(store, desk):
    item_id, other = an_item(store), an_item(store, 1)
    old = store.items.get(item_id).version
    desk.decide("RE", item_id, "keep")
    new = desk.edit("RE", item_id, "two")
    with pytest.raises(VersionMoved) as moved:
        desk.decide("RE", item_id, "submit", version_id=old.id)
    assert (moved.value.theirs, moved.value.yours) == (new, None)
    with pytest.raises(NotFound, match="has no version"):
        desk.decide("RE", other, "keep", version_id=new.id)


def test_the_store_applies_the_rules(store, desk):
    item_id = an_item(store)
    desk.until(item_id, *TO_AUDIT)
    lease = store.leases.take("AU", item_id).token
    for person, verb, sentence in (
        ("RE", "keep", "in audit now"),
        ("VO", "pass", "Audit is for auditor or coordinator; VO is reviewer"),
        ("AU", "return", "Returning needs a comment"),
        ("AU", "reject", "Rejecting needs a reason"),
        ("AU", "undo", "is not one"),
    ):
        with pytest.raises(NotAllowed, match=sentence):
            desk.decide(person, item_id, verb, lease_token=lease)
    assert store.items.standing(item_id).progress == "audit 0 of 2"


def test_undo_keeps_the_decision_in_the_history_and_removes_its_effect(store, desk):
    item_id = an_item(store)
    desk.until(item_id, *TO_VOTE, ("VO", "approve"))
    before = store.items.standing(item_id)
    desk.decide("CO", item_id, "reject", reason="duplicate")
    assert (
        store.reviews.undo(person="CO", item_id=item_id, key="u")
        == store.reviews.undo(person="CO", item_id=item_id, key="u")
        == before
    )
    decided, undo = store.items.history(item_id)[-2:]
    assert (decided.decision.verb, decided.withdrawn_by) == ("reject", undo.decision.id)
    assert desk.decide("CO", item_id, "approve").state == "approved"


def test_only_the_latest_decision_can_be_undone_by_its_person(store, desk):
    item_id = an_item(store)
    desk.until(item_id, *TO_AUDIT, ("AU", "pass"))
    with pytest.raises(NotAllowed, match="AU's; only AU can undo it"):
        store.reviews.undo(person="RE", item_id=item_id, key="u")
    with pytest.raises(NotAllowed, match="no decision to undo"):
        store.reviews.undo(person="RE", item_id=an_item(store, 1), key="u")


def test_the_latest_mark_per_person_and_step_is_valid_and_cleared_removes_it(store, desk):
    item_id = an_item(store)
    desk.mark("RE", item_id, "s1", "supported", key="m1")
    desk.mark("RE", item_id, "s1", "hallucinated feature", key="m2", note="no Hα here ")
    for n, (step, name) in enumerate((("s1", "supported"), ("s2", "needless zoom"), ("s2", "cleared")), start=3):
        desk.mark("VO", item_id, step, name, key=f"m{n}")
    assert [(m.person, m.step_id, m.mark, m.note) for m in store.marks.of_item(item_id)] == [
        ("RE", "s1", "hallucinated feature", "no Hα here"),
        ("VO", "s1", "supported", ""),
    ]


def test_a_mark_is_written_once_per_key_and_on_a_step_that_exists(store, desk):
    item_id = an_item(store)
    first = desk.mark("RE", item_id, "s1", "supported", key="m1")
    assert desk.mark("RE", item_id, "s1", "supported", key="m1") == first
    with pytest.raises(KeyReused):
        desk.mark("RE", item_id, "s2", "supported", key="m1")
    with pytest.raises(NotFound, match="no step 's9'"):
        desk.mark("RE", item_id, "s9", "supported", key="m2")
    with pytest.raises(NotAllowed, match="one of supported"):
        desk.mark("RE", item_id, "s1", "nice", key="m3")


def test_a_verdict_is_committed_once(store):
    item_id = an_item(store)
    version = store.items.get(item_id).version
    first = store.marks.commit_verdict(person="VO", item_id=item_id, version_id=version.id, verdict="NO")
    assert store.marks.commit_verdict(person="VO", item_id=item_id, version_id=version.id, verdict="NO") == first
    with pytest.raises(NotAllowed, match="already committed NO"):
        store.marks.commit_verdict(person="VO", item_id=item_id, version_id=version.id, verdict="YES")
    store.marks.commit_verdict(person="RE", item_id=item_id, version_id=version.id, verdict="cannot tell")
    assert [(v.person, v.verdict) for v in store.marks.verdicts(item_id)] == [("VO", "NO"), ("RE", "cannot tell")]


def test_facts_cannot_be_changed_by_another_program(tmp_path):
    with Store.open(tmp_path / "filled.db") as store:
        fill(store)
        score_blind(store)
    with closing(sqlite3.connect(tmp_path / "filled.db")) as stranger:
        for table in FACTS:
            assert stranger.execute(f"SELECT count(*) FROM {table}").fetchone() > (0,), table
            column = stranger.execute(f"PRAGMA table_info({table})").fetchone()[1]
            for change in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
                with pytest.raises(sqlite3.IntegrityError, match=f"{table} are facts: append"):
                    stranger.execute(change)


def test_people_with_decisions_cannot_be_deleted(store, desk):
    desk.decide("RE", an_item(store), "keep")
    stranger = sqlite3.connect(store.path)
    stranger.execute("PRAGMA foreign_keys = ON")
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        stranger.execute("DELETE FROM people WHERE initials = 'RE'")
    stranger.close()


RULES = [Rules(), Rules(auditors=1), Rules(votes=3), Rules(reject_at=1), Rules(approve_at=1), Rules(solo=True)]
moves = st.lists(
    st.tuples(
        st.sampled_from(("RE", "AU", "AX", "VO", "CO", "JU")),
        st.sampled_from([*sorted({v for verbs in VERBS.values() for v in verbs}), "undo", "edit"]),
    )
    | st.sampled_from(RULES),
    max_size=15,
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(moves, min_size=1, max_size=2))
def test_what_is_derived_always_follows_from_the_facts(tmp_path_factory, stories):
    path = tmp_path_factory.mktemp("db") / "annotations.db"
    with Store.open(path, clock=Clock()) as store:
        people(store)
        desk = Desk(store)
        for number, story in enumerate(stories):
            item_id = an_item(store, number)
            for step, move in enumerate(story):
                if isinstance(move, Rules):
                    store.settings.set_rules("CO", move)
                    continue
                who, verb = move
                try:
                    if verb == "undo":
                        store.reviews.undo(person=who, item_id=item_id, key=f"undo {number} {step}")
                    elif verb == "edit":
                        desk.edit(who, item_id, f"edit {step}")
                    else:
                        desk.until(item_id, (who, verb))
                except NotAllowed:
                    continue
        assert store.upkeep.verify() == []
        before = [store.items.get(n + 1).row for n in range(len(stories))]
        assert store.upkeep.rebuild() == len(stories)
        assert [store.items.get(n + 1).row for n in range(len(stories))] == before
        assert store.upkeep.verify() == []


FIGURES = {
    "decision_figures": "decisions",
    "time_figures": "decisions",
    "version_figures": "versions",
    "standing_figures": "items",
}


def test_verify_finds_wrong_figures_and_rebuild_repairs_them(store, desk):
    item_id, other = an_item(store), an_item(store, 1)
    desk.decide("RE", item_id, "keep", worked=WorkTime(100.0, 41.4))
    desk.edit("RE", item_id, "Seen again.")
    desk.decide("RE", other, "reject", reason="bad_data", worked=WorkTime(100.0, 66.6))
    store.reviews.undo(person="RE", item_id=other, key="undo")
    before = store.statistics.counts()
    assert before.by_person == {"RE": {"screening": 1}}
    assert before.time_by_person["RE"]["screening"] == TimeSpent(1, 41.0)
    assert store.upkeep.verify() == []
    for (table, column), fault in product(FIGURES.items(), ("UPDATE {0} SET {1} = {1} + 1", "DELETE FROM {0}")):
        with closing(sqlite3.connect(store.path)) as stranger, stranger:
            stranger.execute(fault.format(table, column))
        assert store.upkeep.verify() == [f"the figures of the table {table} do not follow from the facts; rebuild"]
        store.upkeep.rebuild()
        assert store.upkeep.verify() == []
        store.statistics._counted.clear()
        assert store.statistics.counts() == before


def test_verify_finds_a_changed_standing_and_rebuild_repairs_it(store, desk):
    item_id = an_item(store)
    desk.decide("RE", item_id, "keep")
    stranger = sqlite3.connect(store.path)
    stranger.execute("UPDATE standings SET state = 'approved'")
    stranger.execute("UPDATE tallies SET items = items + 1")
    stranger.commit()
    stranger.close()
    assert store.upkeep.verify() == [
        f"item {item_id}: its standing does not follow from its facts; rebuild",
        "the tallies do not add up to the standings; rebuild",
    ]
    assert store.upkeep.rebuild() == 1
    assert store.upkeep.verify() == []


def test_every_refusal_is_a_store_error():
    kinds = [NotAllowed, NotFound, VersionMoved, KeyReused, CannotWrite, WrongSpectrum]
    assert all(issubclass(kind, StoreError) for kind in kinds)


def test_times_of_facts_are_those_of_the_clock_and_in_order(store, desk, clock):
    item_id = an_item(store)
    for who, verb in TO_VOTE:
        clock.turn(minutes=1, milliseconds=7)
        desk.decide(who, item_id, verb)
    times = [r.at for r in store.items.history(item_id)]
    assert times[-1] == clock.now
    assert all(a < b for a, b in pairwise(times))
