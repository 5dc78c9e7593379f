"""The authors of a text stay with it from an export into another database."""

import json
from dataclasses import replace

import pytest

from reviewer.exchange.exports import export
from reviewer.exchange.imports import import_file
from reviewer.exchange.item import read_approved
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, NotAllowed, QueueFilter, Selection, Store
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved, approve, decide

AA_WROTE_IT = "AA wrote this text before it was imported, so another person has to"
FILES = ("trajectories.jsonl", "train_sharegpt.json")


@pytest.fixture(params=FILES)
def imported(request, tmp_path):
    """A database with one item that AA revised in another one; BB has sent it to audit here."""
    with a_store(tmp_path / "first.db") as first:
        spectrum = a_spectrum()
        add_approved(first, (a_trace(spectrum), spectrum))
        made = export(first, "one", folder=tmp_path)
    with a_store(tmp_path / "second.db") as second:
        assert import_file(second, made.folder / request.param).added == (1,)
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


def test_an_author_screens_and_revises_their_imported_text(imported):
    decide(imported, "AA", 1, "keep")
    decide(imported, "AA", 1, "submit")
    assert imported.items.standing(1).state == "audit"


def test_one_person_working_alone_decides_on_their_imported_text(imported):
    imported.settings.set_rules("AA", Rules(solo=True))
    approve(imported, 1)
    assert imported.items.standing(1).state == "approved"


def test_an_imported_text_that_nobody_worked_on_here_can_be_withdrawn(imported):
    assert imported.withdrawals.withdraw("AA", Selection()).items == (1,)
    assert imported.items.standing(1).state == "withdrawn"


def test_the_authors_of_all_databases_are_in_the_next_export(imported, tmp_path):
    decide(imported, "BB", 1, "keep")
    lease = imported.leases.take("BB", 1)
    version = imported.items.get(1).version
    first, *rest = version.trajectory.steps
    imported.reviews.save_version(
        person="BB",
        item_id=1,
        base_version_id=version.id,
        trajectory=version.trajectory.with_steps((replace(first, text="Begin with Hβ."), *rest)),
        reason="clearer",
        key="revised",
        lease_token=lease.token,
    )
    decide(imported, "BB", 1, "submit")
    imported.settings.set_rules("AA", Rules(auditors=1, votes=1, approve_at=1, reject_at=1))
    decide(imported, "CC", 1, "pass")
    decide(imported, "CC", 1, "approve")
    made = export(imported, "two", folder=tmp_path)
    for name in FILES:
        text = (made.folder / name).read_text(encoding="utf-8")
        row = json.loads(text)[0] if name.endswith(".json") else json.loads(text)
        assert row["authors"] == ["AA", "BB"]
    assert made.manifest["items"][0]["authors"] == ["AA", "BB"]
    assert "authors" not in json.loads((made.folder / "train.jsonl").read_text(encoding="utf-8"))
    approved = read_approved(imported, 1)
    assert approved.trajectory.content_hash() == imported.items.get(1).version.content_hash


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
