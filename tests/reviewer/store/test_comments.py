"""Comments: threads, who sees them, mentions, and what is unread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from reviewer.store import Comment, KeyReused, NotAllowed, NotFound, Selection, Store
from reviewer.store.team.imported import ImportedComment
from reviewer.store.team.mentions import mentioned
from reviewer.store.team.unread import COMMENTS_OF_ITEM, UNREAD_OF_ITEM
from tests.support.blind_campaign import opened, two_drafters
from tests.support.campaign import TO_AUDIT, TO_VOTE, Clock, Desk, an_item

Say = Callable[..., Comment]


@pytest.fixture
def item(store: Store) -> int:
    return an_item(store)


@pytest.fixture
def say(store: Store, item: int, clock: Clock) -> Say:
    """Add a comment, one minute after the one before."""
    keys = iter(range(1000))

    def add(person: str, text: str = "Is this a sky line?", **more: Any) -> Comment:
        clock.turn(minutes=1)
        return store.comments.add(**{"person": person, "item_id": item, "text": text, "key": f"k{next(keys)}", **more})

    return add


def texts(store: Store, item: int, person: str, **more: bool) -> list[list[str]]:
    """The comments of each thread that a person sees."""
    return [[c.text for c in thread.comments] for thread in store.comments.of_item(item, person, **more).threads]


def unread(store: Store, person: str) -> list[str]:
    return [comment.comment.text for comment in store.comments.unread(person).comments]


def test_a_thread_has_its_step_version_and_replies_in_order(store: Store, item: int, say: Say) -> None:
    first = say("RE", "  Is this Hα?\n", step="s2", version_id=store.items.get(item).version.id)
    say("CO", "About the item.")
    say("AU", "Yes.", thread=first.id, step="s1")
    step, whole = store.comments.of_item(item, "RE").threads
    assert (step.step, step.version, step.resolved) == ("s2", 1, None)
    assert [(c.person, c.text, c.step) for c in step.comments] == [("RE", "Is this Hα?", "s2"), ("AU", "Yes.", "s2")]
    assert (whole.step, [c.person for c in whole.comments]) == ("", ["CO"])
    assert step.comments[0].at == datetime(2026, 11, 21, 12, 1, tzinfo=UTC)


def test_a_thread_is_resolved_and_opened_again(store: Store, item: int, say: Say) -> None:
    thread = say("RE").id
    other = say("RE", "Another one.").id

    def change(person: str, resolved: bool, key: str) -> list[str | None]:
        store.comments.set_resolved(person=person, item_id=item, thread=thread, resolved=resolved, key=key)
        return [t.resolved and t.resolved.person for t in store.comments.of_item(item, "RE").threads]

    assert change("AU", True, "r1") == ["AU", None]
    assert change("CO", True, "r2") == ["AU", None]  # it is so already
    assert change("AU", True, "r1") == ["AU", None]
    assert change("CO", False, "r3") == [None, None]
    assert change("AU", True, "r1") == [None, None]  # sent again, late
    kinds = [entry.what for entry in store.log.entries(limit=100) if entry.what.startswith(("comm", "thread"))]
    assert kinds == ["commented", "commented", "thread resolved", "thread reopened"]
    with pytest.raises(KeyReused):
        store.comments.set_resolved(person="AU", item_id=item, thread=other, resolved=True, key="r1")


def test_the_same_key_adds_one_comment(store: Store, item: int, say: Say) -> None:
    first = say("RE", "Once.", key="one key")
    assert say("RE", "Once.", key="one key") == first
    for change in ({"text": "Twice."}, {"person": "AU"}, {"item_id": an_item(store, 1)}):
        with pytest.raises(KeyReused):
            say(**{"person": "RE", "text": "Once.", "key": "one key", **change})
    with pytest.raises(KeyReused):
        say("RE", "Once.", key="one key", thread=first.id)
    assert texts(store, item, "RE") == [["Once."]]


def test_a_comment_that_cannot_be_stored_is_refused(store: Store, say: Say) -> None:
    end = store.log.head()
    for change, error, message in (
        ({"text": " \n "}, NotAllowed, "A comment needs a text"),
        ({"text": "a" * 20_001}, NotAllowed, "has 20001 characters; a comment has 20000 at most"),
        ({"step": "s9"}, NotFound, "Version 1 of item 1 has no step 's9'"),
        ({"version_id": 99}, NotFound, "no version with the id 99"),
        ({"thread": 99}, NotFound, "Item 1 has no thread 99"),
        ({"item_id": 99}, NotFound, "There is no item 99"),
        ({"person": "XX"}, NotFound, "nobody with the initials"),
    ):
        with pytest.raises(error, match=message):
            say(**{"person": "RE", **change})
    assert store.log.head() == end


def test_a_reply_belongs_to_a_thread_of_its_item_and_not_to_another_reply(store: Store, item: int, say: Say) -> None:
    reply = say("AU", thread=say("RE").id)
    for wrong in ({"thread": reply.id}, {"thread": reply.thread, "item_id": an_item(store, 1)}):
        with pytest.raises(NotFound, match="no thread"):
            say("RE", **wrong)
    with pytest.raises(NotFound, match="no thread"):
        store.comments.set_resolved(person="RE", item_id=item, thread=reply.id, resolved=True, key="resolve")


def test_a_step_that_was_changed_since_is_refused_and_another_one_is_not(store, item, say, desk) -> None:
    seen = store.items.get(item).version.id
    desk.decide("RE", item, "keep")
    desk.edit("RE", item, "Hα is narrow.")  # step s1
    with pytest.raises(NotAllowed, match=r"changed in version 2, and you see version 1\. Nothing was saved"):
        say("AU", step="s1", version_id=seen)
    assert say("AU", step="s2", version_id=seen).version == 2
    assert say("AU", version_id=seen).version == 2


def test_anybody_active_comments_in_every_state(store: Store, item: int, say: Say, desk: Desk) -> None:
    store.withdrawals.withdraw("CO", Selection())
    say("CO", "Withdrawn.")
    store.withdrawals.restore("CO", Selection())
    desk.until(item, ("RE", "reject"))
    thread = say("VO", "Rejected.")
    assert thread.round == ""
    assert store.items.standing(item).state == "rejected"
    store.accounts.deactivate("CO", "JU")
    with pytest.raises(NotAllowed, match="JU is no longer active"):
        say("JU")
    with pytest.raises(NotAllowed, match="JU is no longer active"):
        store.comments.set_resolved(person="JU", item_id=item, thread=thread.id, resolved=True, key="resolve")


def test_judges_do_not_see_what_others_wrote_in_their_round(store: Store, item: int, say: Say, desk: Desk) -> None:
    say("VO", "Before the audit.")
    desk.until(item, *TO_AUDIT)
    say("AX", "I would return it.")
    say("AU", "Mine.")
    assert texts(store, item, "AU") == [["Before the audit."], ["Mine."]]
    assert store.comments.of_item(item, "AU").hidden == 1
    assert store.comments.of_item(item, "JU").hidden == 2
    # The author and people of other roles cannot audit it.
    for person in ("RE", "VO"):
        assert len(texts(store, item, person)) == 3
    desk.decide("AU", item, "pass")
    assert texts(store, item, "AU") == [["Before the audit."], ["I would return it."], ["Mine."]]
    assert store.comments.of_item(item, "AU").hidden == 0
    store.reviews.undo(person="AU", item_id=item, key="undo")
    assert store.comments.of_item(item, "AU").hidden == 1


def test_an_earlier_round_is_shown_like_its_decisions(store: Store, item: int, say: Say, desk: Desk) -> None:
    desk.until(item, *TO_AUDIT)
    say("AU", "In the audit.")
    desk.until(item, ("AU", "pass"), ("AX", "pass"))
    say("RE", "In the vote.")
    assert texts(store, item, "VO") == [["In the audit."]]
    assert texts(store, item, "RE") == [["In the audit."], ["In the vote."]]
    # The audit is open again: what was said in the vote is hidden from those who may audit.
    store.reviews.undo(person="AX", item_id=item, key="undo")
    assert texts(store, item, "AX") == []
    assert store.comments.of_item(item, "AX").hidden == 2


def test_a_new_version_shows_what_was_said_about_the_old_one(store: Store, item: int, say: Say, desk: Desk) -> None:
    desk.until(item, *TO_AUDIT)
    say("AU", "Hα is missing.")
    desk.decide("AU", item, "return", comment="look again")
    desk.edit("RE", item, "Hα is narrow.")
    desk.decide("RE", item, "submit")
    assert texts(store, item, "AX") == [["Hα is missing."]]


def test_once_decided_everybody_sees_everything(store: Store, item: int, say: Say, desk: Desk) -> None:
    desk.until(item, *TO_VOTE)
    say("RE", "In the vote.")
    desk.until(item, ("VO", "approve"), ("JU", "approve"))
    assert store.items.standing(item).round is None
    for person in ("AU", "CO", "VO"):
        assert texts(store, item, person) == [["In the vote."]]


def test_a_hidden_answer_hides_every_comment_by_others(store: Store, item: int, say: Say) -> None:
    thread = say("RE", "Clearly a CV.").id
    say("AU", "I see nothing.", thread=thread)
    assert texts(store, item, "AU", answer_hidden=True) == [["I see nothing."]]
    assert store.comments.of_item(item, "AU", answer_hidden=True).hidden == 1


def test_a_thread_that_others_resolved_in_the_round_is_shown_open(store, item, say, desk) -> None:
    thread = say("VO").id
    desk.until(item, *TO_AUDIT)
    store.comments.set_resolved(person="AX", item_id=item, thread=thread, resolved=True, key="resolve")
    (audits,), (votes,) = (store.comments.of_item(item, person).threads for person in ("AU", "VO"))
    assert (audits.resolved, votes.resolved and votes.resolved.person) == (None, "AX")


def test_a_hidden_thread_is_as_one_that_is_not_there(store: Store, item: int, say: Say, desk: Desk) -> None:
    def act(person: str, thread: int, hidden: bool) -> None:
        for resolved in (True, False):
            with pytest.raises(NotFound, match=f"has no thread {thread}"):
                store.comments.set_resolved(
                    person=person, item_id=item, thread=thread, resolved=resolved, key="x", answer_hidden=hidden
                )
        with pytest.raises(NotFound, match=f"has no thread {thread}"):
            say(person, thread=thread, answer_hidden=hidden)

    first = say("RE").id
    act("AU", first, hidden=True)
    desk.until(item, *TO_AUDIT)
    second = say("AX", "No emission at all.").id
    act("AU", second, hidden=False)
    # Those who see it, and its author, reply and resolve it.
    say("VO", thread=second)
    store.comments.set_resolved(person="AX", item_id=item, thread=second, resolved=True, key="resolve")


def test_a_judge_resolves_a_thread_that_others_have_resolved_unseen(store, item, say, desk) -> None:
    thread = say("VO").id
    desk.until(item, *TO_AUDIT)
    for person in ("AX", "AU"):
        store.comments.set_resolved(person=person, item_id=item, thread=thread, resolved=True, key=f"by {person}")
    (shown,) = store.comments.of_item(item, "AU").threads
    assert shown.resolved.person == "AU"


def test_comments_by_others_are_unread_where_a_person_takes_part(store: Store, item: int, say: Say) -> None:
    say("RE", "First.")
    assert unread(store, "AU") == []
    say("AU", "Second.")
    say("RE", "Third.")
    assert unread(store, "AU") == ["Third."]
    assert unread(store, "RE") == []
    say("CO", "Fourth.")
    assert (unread(store, "AU"), unread(store, "RE")) == (["Fourth.", "Third."], ["Fourth."])
    assert store.comments.unread("AU", limit=1).total == 2


def _decided(desk: Desk, item: int) -> None:
    desk.decide("RE", item, "keep")


def _wrote(desk: Desk, item: int) -> None:
    desk.decide("VO", item, "keep")
    desk.edit("RE", item, "Hα is narrow.")


def _was_assigned(desk: Desk, item: int) -> None:
    with desk.store.database.write() as db:
        db.execute("INSERT INTO assigned VALUES ('RE', ?)", (item,))


def _was_mentioned(desk: Desk, item: int) -> None:
    desk.store.comments.add(person="VO", item_id=item, text="What does @RE say?", key="mention")


def _commented(desk: Desk, item: int) -> None:
    desk.store.comments.add(person="RE", item_id=item, text="I see nothing.", key="own")


@pytest.mark.parametrize("take_part", [_decided, _wrote, _was_assigned, _was_mentioned, _commented])
def test_each_way_to_take_part_makes_comments_unread(store, item, say, desk, take_part) -> None:
    take_part(desk, item)
    say("AU", "New.")
    assert unread(store, "RE")[0] == "New."
    assert "New." not in unread(store, "JU")
    with store.database.read() as db:
        sql = f"SELECT {COMMENTS_OF_ITEM}, {UNREAD_OF_ITEM} FROM standings s WHERE s.item = :item"
        comments, number = db.execute(sql, {"item": item, "person": "RE"}).fetchone()
    assert number == store.comments.unread("RE").total
    assert comments == sum(map(len, texts(store, item, "CO")))


def test_withdrawing_a_batch_is_no_part_in_its_items(store: Store, item: int, say: Say) -> None:
    store.withdrawals.withdraw("CO", Selection())
    say("RE")
    assert unread(store, "CO") == []


def test_reading_goes_forward_only(store: Store, item: int, say: Say) -> None:
    first = say("AU", "Hello @RE")
    second = say("AU", "Are you there?")
    assert store.comments.read(person="RE", item_id=item, comment=second.id) == second.id
    assert unread(store, "RE") == []
    assert store.comments.read(person="RE", item_id=item, comment=first.id) == second.id
    say("AU", "Well.")
    assert unread(store, "RE") == ["Well."]
    assert store.comments.of_item(item, "RE").read == second.id


def test_a_hidden_comment_is_counted_and_stays_unread(store: Store, item: int, say: Say, desk: Desk) -> None:
    desk.until(item, *TO_AUDIT)
    hidden = say("AX", "What do you think, @AU?")
    found = store.comments.unread("AU")
    assert (found.total, [(comment.hidden, comment.mentioned) for comment in found.comments]) == (1, [(True, True)])
    # Neither reading nor commenting goes beyond it.
    assert store.comments.read(person="AU", item_id=item, comment=hidden.id) == 0
    say("AU", "Mine.")
    assert store.comments.unread("AU").total == 1
    desk.decide("AU", item, "pass")
    (one,) = store.comments.unread("AU").comments
    assert (one.comment.text, one.hidden) == ("What do you think, @AU?", False)
    assert store.comments.read(person="AU", item_id=item, comment=99) == hidden.id + 1
    assert store.comments.unread("AU").total == 0


def test_items_that_a_person_scores_blind_are_in_no_list(store: Store, desk: Desk) -> None:
    two_drafters(store, 3)
    store.comments.add(person="CO", item_id=1, text="@RE, look.", key="mention")
    session = opened(store, items=(1, 2), each=2, scorers=("RE", "AU"))
    assert store.comments.unread("RE").total == 0
    with pytest.raises(NotAllowed, match="blind session"):
        store.comments.read(person="RE", item_id=1, comment=1)
    store.blind.sessions.close("CO", session.id, "close it")
    assert store.comments.unread("RE").total == 1


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("@AB", {"AB"}),
        ("Look, @AB: (@CD), @AB's line.", {"AB", "CD"}),
        ("@ab @Ab @AB1 @ABC @AB_ AB @XY", set()),
        ("me@AB.org a.b+c@CD x-@AB @@AB é@AB", set()),
        ("请@AB看一下，@王明请看", {"AB", "王明"}),
        ("@王明亮", {"王明亮"}),
        ("@王明，@王", {"王明"}),
        ("@AB,@CD/@EFGH", {"AB", "CD", "EFGH"}),
        ("", set()),
    ],
)
def test_a_mention_is_at_and_initials_as_a_word(text: str, people: set[str]) -> None:
    assert mentioned(text, ["AB", "CD", "EFGH", "王明", "王明亮"]) == people
    assert mentioned(text, []) == set()


def test_a_person_who_is_added_later_is_mentioned_from_then_on(store: Store, item: int, say: Say) -> None:
    say("RE", "@NE and @NEW, what is this?")
    store.accounts.add_person("NE", "Nell", ["reviewer"])
    assert unread(store, "NE") == ["@NE and @NEW, what is this?"]
    assert store.upkeep.verify() == []
    store.accounts.add_person("NEW", "Newt", ["reviewer"])
    assert len(unread(store, "NEW")) == 1
    assert store.upkeep.verify() == []


def test_wrong_mentions_are_found_and_derived_again(store: Store, item: int, say: Say) -> None:
    say("RE", "@AU and @CO")
    with store.database.write() as db:
        db.execute("DELETE FROM mentions WHERE person = 'CO'")
    assert store.upkeep.verify() == ["the mentions do not follow from the texts of the comments; rebuild"]
    store.upkeep.rebuild()
    assert store.upkeep.verify() == []
    assert unread(store, "CO") == ["@AU and @CO"]


def test_an_imported_comment_keeps_its_time_and_author(store: Store, item: int, say: Say) -> None:
    add = store.imported_comments.add
    at = datetime(2025, 3, 1, 9, 30, tzinfo=UTC)
    maria = ImportedComment(item, "Label Studio, maria", "Agreed, @RE.", at, "ls:1")
    au = ImportedComment(item, "Argilla, au", "Not for me.", at, "ar:1", person="AU")
    assert (add([maria]), add([maria, au], by="CO"), add([maria])) == (1, 1, 0)
    first, second = (thread.comments[0] for thread in store.comments.of_item(item, "CO").threads)
    assert (first.person, first.source, first.at) == (None, "Label Studio, maria", at)
    assert (second.person, second.source) == ("AU", "Argilla, au")
    # They are no news, and their authors take no part by them.
    assert (unread(store, "RE"), unread(store, "CO")) == ([], [])
    say("VO", "New.")
    assert (unread(store, "RE"), unread(store, "AU")) == (["New."], [])
    logged = [(e.person, e.what) for e in store.log.entries(limit=100) if "comment" in e.what]
    assert logged == [(None, "comments imported"), ("CO", "comments imported"), ("VO", "commented")]
    assert store.upkeep.verify() == []


def test_an_imported_comment_that_cannot_be_stored_is_refused(store: Store, item: int) -> None:
    good = ImportedComment(item, "Argilla", "Agreed.", None, "key")
    for bad, why in (
        (replace(good, key="other", source=" "), "needs a source"),
        (replace(good, key="other", text=" "), "needs a text"),
        (replace(good, key="other", person="XX"), "nobody with the initials"),
        (replace(good, key="other", item_id=99), "no item 99"),
    ):
        with pytest.raises((NotAllowed, NotFound), match=why):
            store.imported_comments.add([good, bad])
    assert store.comments.of_item(item, "CO").threads == ()


# ---- search
