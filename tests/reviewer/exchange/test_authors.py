"""The authors of a text stay with it from an export into another database."""

import json
from dataclasses import replace

import pytest

from reviewer.exchange.exports import export
from reviewer.exchange.imports import import_file
from reviewer.exchange.item import read_approved
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, NotAllowed, QueueFilter, Selection, Store
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved, decide, revise

AA_WROTE_IT = "AA wrote this text before it was imported, so another person has to"


@pytest.fixture
def imported(tmp_path):
    """A database with one item that AA revised in another one."""
    with a_store(tmp_path / "first.db") as first:
        spectrum = a_spectrum()
        add_approved(first, (a_trace(spectrum), spectrum))
        folder = export(first, "one", folder=tmp_path, processes=1).folder
    with a_store(tmp_path / "second.db") as second:
        assert import_file(second, folder / "trajectories.jsonl").added == (1,)
        yield second


def to_audit(store: Store) -> None:
    decide(store, "BB", 1, "keep")
    decide(store, "BB", 1, "submit")


def waiting_for(store: Store, person: str) -> int:
    return store.queue.page(QueueFilter(mine=True), person).total


def test_an_author_does_not_audit_or_vote_on_their_imported_text(imported):
    to_audit(imported)
    with pytest.raises(NotAllowed, match=f"{AA_WROTE_IT} audit it"):
        decide(imported, "AA", 1, "pass")
    assert [waiting_for(imported, person) for person in ("AA", "BB", "CC")] == [0, 1, 1]
    decide(imported, "BB", 1, "pass")
    decide(imported, "CC", 1, "pass")
    with pytest.raises(NotAllowed, match=f"{AA_WROTE_IT} vote on it"):
        decide(imported, "AA", 1, "approve")
    decide(imported, "BB", 1, "approve")
    decide(imported, "CC", 1, "reject", reason="bad_data")
    with pytest.raises(NotAllowed, match=f"{AA_WROTE_IT} adjudicate it"):
        decide(imported, "AA", 1, "approve")
    assert imported.upkeep.verify() == []
    imported.upkeep.rebuild()
    assert imported.upkeep.verify() == []
    assert waiting_for(imported, "AA") == 0


def test_an_author_screens_and_revises_and_alone_decides_on_their_imported_text(imported):
    decide(imported, "AA", 1, "keep")
    decide(imported, "AA", 1, "submit")
    assert imported.items.standing(1).state == "audit"
    imported.settings.set_rules("AA", Rules(solo=True))
    decide(imported, "AA", 1, "pass")
    decide(imported, "AA", 1, "approve")
    assert imported.items.standing(1).state == "approved"


def test_an_imported_text_that_nobody_worked_on_here_can_be_withdrawn(imported):
    assert imported.withdrawals.withdraw("AA", Selection()).items == (1,)
    assert imported.items.standing(1).state == "withdrawn"


def test_the_authors_of_all_databases_are_in_the_next_export(imported, tmp_path):
    decide(imported, "BB", 1, "keep")
    revise(imported, "BB", 1, "Begin with Hβ.")
    decide(imported, "BB", 1, "submit")
    imported.settings.set_rules("AA", Rules(auditors=1, votes=1, approve_at=1, reject_at=1))
    decide(imported, "CC", 1, "pass")
    decide(imported, "CC", 1, "approve")
    exported = export(imported, "two", folder=tmp_path, processes=1)
    (row,) = json.loads((exported.folder / "train_sharegpt.json").read_text(encoding="utf-8"))
    own, trl = (
        json.loads((exported.folder / name).read_text("utf-8")) for name in ("trajectories.jsonl", "train.jsonl")
    )
    assert [part["authors"] for part in (row, own, exported.manifest["items"][0])] == [["AA", "BB"]] * 3
    assert "authors" not in trl
    assert read_approved(imported, 1).trajectory.content_hash() == imported.items.get(1).version.content_hash


def test_a_person_added_after_the_import_is_recognised_as_its_author(tmp_path):
    with a_store(tmp_path / "annotations.db") as store:
        spectrum = a_spectrum()
        store.items.add_all([Draft(a_trace(spectrum, authors=("DD",)), spectrum)])
        to_audit(store)
        assert store.upkeep.verify() == []
        store.accounts.add_person("DD", "Person DD", ("auditor",))
        assert store.upkeep.verify() == []
        assert waiting_for(store, "DD") == 0
        with pytest.raises(NotAllowed, match="DD wrote this text before it was imported"):
            decide(store, "DD", 1, "pass")


def test_a_version_cannot_change_the_authors_before_the_import(imported):
    decide(imported, "BB", 1, "keep")
    lease = imported.leases.take("BB", 1)
    version = imported.items.get(1).version
    with pytest.raises(NotAllowed, match="A version cannot change authors"):
        imported.reviews.save_version(
            person="BB",
            item_id=1,
            base_version_id=version.id,
            trajectory=replace(version.trajectory, authors=()),
            reason="",
            key="without",
            lease_token=lease.token,
        )
