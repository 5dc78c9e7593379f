"""Search of traces and remarks: what words find, for whom, and that the indexes follow the facts."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.trajectory import Answer, Think, Trajectory
from reviewer.rules.workflow import Rules
from reviewer.store import BadSearch, QueueFilter, QueueRow, Snippet, Store
from reviewer.store.sqlite.texts import MOST_WORDS, hits, search_expression, spaced, trace_text
from reviewer.store.team import search
from reviewer.store.team.imported import ImportedComment
from reviewer.store.team.mentions import mentioned
from reviewer.web.payload import standing_for
from tests.support import kept_campaign
from tests.support.campaign import PEOPLE, TO_AUDIT, TO_VOTE, Clock, Desk, a_spectrum, a_trajectory, an_item, people
from tests.support.kept_campaign import unguarded


def a_trace(*thoughts: str, **other: object) -> Trajectory:
    steps = (*(Think(f"s{n}", text) for n, text in enumerate(thoughts, start=1)), Answer("end", "YES", "So be it."))
    return a_trajectory(**{"steps": steps, "spectrum_name": f"{uuid4().hex}.fits", **other})


def found(store: Store, words: str, person: str = "CO", **other: object) -> list[int]:
    """Return the items that words find, by each way of asking for them, which agree."""
    wanted = QueueFilter(words=words, **other)
    page = store.queue.page(wanted, person, limit=500)
    items = [row.item_id for row in page.rows]
    assert page.total == len(items)
    assert store.queue.neighbours(0, wanted, person, 500) == items
    assert store.queue.neighbours(10**6, wanted, person, 500, backwards=True) == items[::-1]
    for number, item in enumerate(items):
        assert store.queue.position(item, wanted, person) == number
        assert store.queue.neighbours(item, wanted, person, 2) == items[number + 1 : number + 3]
        assert [r.item_id for r in store.queue.page(wanted, person, item, 2).rows] == items[number + 1 : number + 3]
    return items


TEXTS = (
    "The emission near 6563.2 Å is broad, and Hα is double-peaked.",
    "Broad absorption; no emission near 6563 Å.",
    "发射线很宽，并且有双峰。",
    "双星，宽吸收。 Naïve façade of Ångström.",
    "ΗΒ in emission: narrow. Nothing broad was seen.",
)


FINDS: dict[tuple[int, ...], str] = {
    (1, 2, 5): "emission|EMISSION broad|broad emission|emiss*|emission* (broad)|^broad|broad !?|broad\x00emission",
    (1, 2): '"emission near"|"near 656"*|6563',
    (5,): 'emission -"emission near"|ηβ',
    (1,): "broad -absorption -nothing|6563.2|Hα|hα|double-peaked|peaked double|and",
    (1, 5): "-absor* broad",
    (4,): "naive|facade ANGSTROM|吸收 naive",
    (3, 4): "宽|双*",
    (3,): "双峰|很宽 双峰|宽 -吸收",
    (): '"emission ne*"|"broad emission"|OR NOT near|absor* -near|"near 65*|"peaked double"|峰双|text:emission',
    (1, 2, 3, 4, 5): "|   ",
}
REFUSED = '"|-emission|!?|*|e*|em*|"emission ne"*|broad 6563.2*'
"""Searches with a | between them; the items of ``TEXTS`` that each finds."""


def test_words_phrases_beginnings_and_exclusions(store: Store) -> None:
    for text in TEXTS:
        store.items.add(a_trace(text))
    for items, searches in FINDS.items():
        for words in searches.split("|"):
            assert found(store, words) == list(items), words
    for words in (*REFUSED.split("|"), " ".join(["broad"] * (MOST_WORDS + 1))):
        with pytest.raises(BadSearch):
            store.queue.page(QueueFilter(words=words), "CO")


@given(st.text(max_size=60) | st.text(alphabet="ab\"*-^:()'{}+ \x00宽双é", max_size=30))
def test_no_text_is_refused_by_sqlite(words: str) -> None:
    """A search is carried out or refused in words; what is found by an index is what ``hits`` marks."""
    text = "ab a b 宽 双 é aba"
    try:
        expression = search_expression(words)
    except BadSearch:
        return
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5 (text, content='', tokenize='unicode61 remove_diacritics 2')")
        db.execute("INSERT INTO t (rowid, text) VALUES (1, ?)", (spaced(text),))
        matches = db.execute("SELECT count(*) FROM t WHERE t MATCH ?", (expression,)).fetchone()[0]
    assert bool(hits(expression, [text])[0]) == bool(matches)


@pytest.mark.parametrize(
    ("words", "text", "marked"),
    [
        ("宽", "很宽的线很宽", ["宽", "宽"]),
        ("双峰 line", "A line有双峰。Two lines, one Line", ["line", "双峰", "Line"]),
        ('"a line"', "a line, a-line, a very long line", ["a line", "a-line"]),
        ("naive -no", "Naïve 😀 宽 naïve", ["Naïve", "naïve"]),
        ("naive -no", "Naïve, no", []),
        ("emi*", "Emission emi gemi", ["Emission", "emi"]),
        ("x", "\x02x\x03 \x00 x", ["x", "x"]),
        ("宽 a", "\u8c48宽 a 😀𝛼宽a", ["宽", "a", "宽", "a"]),
    ],
)
def test_hits_are_the_parts_of_the_text_that_match(words: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in hits(search_expression(words), [text])[0]] == marked


def test_everything_of_a_trace_is_searched(store: Store) -> None:
    spectrum = a_spectrum()
    store.spectra.add(spectrum)
    store.items.add(a_trajectory(spectrum, think="Firstthought"), spectrum.sha256)
    for words in ("firstthought", "disk", '"double peaked"', "Hα", '"balmer emission"'):
        assert found(store, words) == [1], words
    unable = a_trace("Noise.", cannot_tell="Onlynoise remains.", spectrum_name="b.fits")
    store.items.add(unable)
    assert found(store, "onlynoise") == [2]
    assert found(store, "cataclysmic") == [], "the prompt is the same for all"


def test_only_the_current_version_counts(store: Store, desk: Desk) -> None:
    item = an_item(store, 1, think="Firstversion is broad.")
    desk.until(item, ("RE", "keep"))
    desk.edit("RE", item, "Secondversion is broad.")
    assert found(store, "firstversion") == []
    assert found(store, "secondversion") == [item]
    assert found(store, "broad -firstversion") == [item]


def fill(store: Store) -> Store:
    """Thirty items in several states, with remarks."""
    people(store)
    desk = Desk(store)
    for n in range(30):
        an_item(store, n, think=f"Common text{n % 3} of item{n}.", task=("cv", "carbon")[n % 2])
    desk.until(2, *TO_AUDIT)
    desk.until(3, *TO_VOTE)
    desk.until(4, ("RE", "reject"))
    desk.decide("RE", 5, "keep", comment="Common remark.")
    desk.decide("RE", 30, "keep", comment="Common remark.")
    desk.edit("RE", 5, "Common text2 again.")
    store.leases.take("RE", 7)
    with store.database.write() as db:
        db.execute("INSERT INTO assigned SELECT iif(id % 4, 'RE', 'AU'), id FROM items WHERE id % 2 = 0")
    return store


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("several") / "annotations.db", clock=Clock()) as store:
        yield fill(store)


OTHERS = (
    {},
    {"mine": True},
    {"task": "cv"},
    {"states": ("audit", "vote", "rejected")},
    {"snr_min": 1.0},
    {"text": "spec"},
    {"text": "s"},
    {"text": "#5"},
    {"text": "none"},
    {"assigned": "AU"},
    {"assigned": "nobody"},
    {"assigned": "RE", "mine": True, "text": "spec-00"},
    {"trial": "untested"},
    {"without_items": (1, 5, 6)},
    {"without_batches": ("november",)},
)


@pytest.mark.parametrize("person", ["RE", "AU", "CO"])
def test_words_combine_with_every_other_field(several: Store, monkeypatch: pytest.MonkeyPatch, person: str) -> None:
    def expected(words: str, other: dict[str, object]) -> list[int]:
        rest = several.queue.page(QueueFilter(**other), person, limit=500).rows
        return [row.item_id for row in rest if row.item_id in everything[words]]

    everything = {words: set(found(several, words, person)) for words in ("common", "text1", "remark", "nothing")}
    assert everything["common"] == set(range(1, 31))
    assert everything["text1"] == set(range(2, 31, 3)) - {5}
    assert everything["remark"] == {5, 30}
    for most in (search.MOST_NAMED, 0):
        monkeypatch.setattr(search, "MOST_NAMED", most)
        for words, other in product(everything, OTHERS):
            assert found(several, words, person, **other) == expected(words, other), (words, other, most)


def test_assignments_are_found_as_they_are(several: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    items = {"RE": range(2, 31, 4), "AU": range(4, 31, 4), "nobody": range(1, 31, 2), None: range(1, 31)}
    for (assigned, theirs), other in product(items.items(), OTHERS):
        rest = several.queue.page(QueueFilter(**{**other, "assigned": None}), "RE", limit=500).rows
        expected = [row.item_id for row in rest if row.item_id in theirs]
        for most in (2000, 0):
            monkeypatch.setattr(search, "MOST_NAMED", most)
            assert found(several, "", "RE", **{**other, "assigned": assigned}) == expected, (assigned, other)
    monkeypatch.setattr(search, "MOST_COUNTED", 5)
    assert several.queue.page(QueueFilter(text="spec"), "VO").total == 5


def test_what_very_many_have_is_counted_to_a_limit(several: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_COUNTED", 7)
    page = several.queue.page(QueueFilter(words="common"), "CO", after=20, limit=5)
    assert ([row.item_id for row in page.rows], page.total) == ([21, 22, 23, 24, 25], 7)


def remark(desk: Desk, item: int) -> None:
    """AU audits item 1 with a remark and marks a step with another, so does AX."""
    for person in ("AU", "AX"):
        desk.mark(person, item, note="Marknote")
    desk.decide("AU", item, "pass", comment="Auditnote")


def test_remarks_of_others_are_not_found_by_those_who_may_still_judge(store: Store, desk: Desk) -> None:
    item = an_item(store)
    desk.until(item, ("RE", "keep"))
    desk.edit("RE", item, "RE is an author now.")
    desk.until(item, ("RE", "submit"))
    remark(desk, item)
    assert found(store, "auditnote", "AU") == found(store, "auditnote", "RE") == [item]
    assert found(store, "auditnote", "AX") == found(store, "auditnote", "JU") == found(store, "auditnote", "CO") == []
    assert found(store, "marknote", "AX") == found(store, "marknote", "AU") == [item], "one's own"
    assert found(store, "marknote", "RE") == found(store, "marknote", "CO") == [], "marks wait until all have judged"
    desk.decide("AX", item, "pass")
    assert found(store, "auditnote", "JU") == found(store, "auditnote", "VO") == [], (
        "the vote is independent of the audit"
    )
    assert found(store, "auditnote", "AU") == [item], "one's own"
    assert found(store, "auditnote", "RE") == [item], "an author does not vote"
    for person in ("VO", "CO"):
        desk.decide(person, item, "approve")
    assert [found(store, "auditnote", person) for person in ("AX", "JU", "VO")] == [[item]] * 3
    assert found(store, "marknote", "JU") == [item]


def test_who_may_still_judge_is_who_the_page_withholds_decisions_from(store: Store, desk: Desk) -> None:
    """The condition in SQL and the rules of the page agree, for every person and state."""
    for n, decisions in enumerate(
        (
            (),
            TO_AUDIT[:1],
            TO_AUDIT,
            (*TO_AUDIT, ("AU", "pass")),
            TO_VOTE,
            (*TO_VOTE, ("VO", "approve")),
            (("RE", "reject"),),
        )
    ):
        item = an_item(store, n)
        if decisions:
            desk.until(item, *decisions)
        with store.database.write() as db:
            db.execute(
                "INSERT INTO decisions (key, item, version, person, round, verb, reason, comment, rules, at) "
                "SELECT ?, item, version, 'JU', 'screening', 'keep', '', 'Foreignnote', 1, "
                "'2026-11-21T12:00:00.000+00:00' FROM standings WHERE item = ?",
                (uuid4().hex, item),
            )
            (number,) = db.execute("SELECT max(id) FROM decisions").fetchone()
            db.execute(
                "INSERT INTO remarks_text (rowid, text) VALUES (?, 'Foreignnote')", (item * 2**32 + 4 * number + 1,)
            )
    store.accounts.deactivate("CO", "AX")
    for person in map(store.accounts.person, ("RE", "AU", "AX", "VO", "CO")):
        shown = []
        for item in range(1, 8):
            standing = store.items.get(item).standing
            cast = replace(
                standing, decisions=(*standing.decisions, replace(_any_decision(store), round=standing.round))
            )
            if standing_for(cast, store.settings.rules(), person, waiting=False).withheld == 0:
                shown.append(item)
        assert found(store, "foreignnote", person.initials) == shown, person


def _any_decision(store: Store) -> object:
    return replace(store.items.get(2).standing.decisions[0], person="ZZ")


def test_hidden_traces_are_not_searched_before_the_own_verdict(store: Store, desk: Desk) -> None:
    items = [an_item(store, n, think="Secretword.") for n in range(4)]
    desk.decide("RE", 2, "keep", comment="Secretword by RE.")
    desk.until(4, ("RE", "reject"))
    version = store.items.get(3).version.id
    store.marks.commit_verdict(person="RE", item_id=3, version_id=version, verdict="YES")
    with store.database.write() as db:
        db.execute("UPDATE standings SET batch = 'december' WHERE item = 1")
    assert found(store, "secretword", "RE", verdict_first=()) == items
    assert found(store, "secretword", "RE", verdict_first=("november",)) == [1, 2, 3, 4], "one's own remark on 2"
    assert found(store, "secretword -by", "RE", verdict_first=("november",)) == [1, 3, 4]
    assert found(store, "secretword", "VO", verdict_first=("november",)) == [1, 4], "4 is decided"
    assert found(store, "secretword", "VO", verdict_first=None) == [4]


def snippets(store: Store, words: str, person: str = "CO", **other: object) -> dict[int, tuple[Snippet, ...]]:
    wanted = QueueFilter(words=words, **other)
    return store.finding.snippets(wanted, person, found(store, words, person, **other))


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.hits]


def test_snippets_are_of_the_texts_that_match(store: Store, desk: Desk) -> None:
    long = "before " * 40 + "Hα is broad here " + "after " * 60 + "broad"
    store.items.add(a_trace("Broad.", long, "no", "BROAD 宽线 broad", "broad again"))
    (first, second, third) = snippets(store, "broad")[1]
    assert [(one.where, one.step, marked(one)) for one in (first, second, third)] == [
        ("trace", "s1", ["Broad"]),
        ("trace", "s2", ["broad"]),
        ("trace", "s4", ["BROAD", "broad"]),
    ]
    assert second.text.startswith("… before ")
    assert second.text.endswith("after …")
    assert len(second.text) <= 204
    desk.decide("RE", 1, "keep", comment="A broad remark; 宽.")
    assert [snippet.where for snippet in snippets(store, "broad")[1]] == ["trace", "trace", "comment"]
    assert [(snippet.where, marked(snippet)) for snippet in snippets(store, "宽")[1]] == [
        ("trace", ["宽"]),
        ("comment", ["宽"]),
    ]
    assert [snippet.where for snippet in snippets(store, "broad -remark")[1]] == ["trace"] * 3
    assert [snippet.text for snippet in snippets(store, '"broad remark"')[1]] == ["A broad remark; 宽."]


def test_snippets_show_nothing_that_is_hidden(store: Store, desk: Desk) -> None:
    item = an_item(store, think="Auditnote in the trace.")
    desk.until(item, *TO_AUDIT)
    remark(desk, item)
    assert [snippet.where for snippet in snippets(store, "auditnote", "RE")[item]] == ["trace", "comment"]
    assert [snippet.where for snippet in snippets(store, "auditnote", "JU")[item]] == ["trace"]
    assert store.finding.snippets(QueueFilter(words="auditnote", verdict_first=None), "JU", [item]) == {}
    assert [snippet.where for snippet in store.finding.snippets(QueueFilter(words="marknote"), "AX", [item])[item]] == [
        "comment"
    ]


def index_of(db: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    db.execute(f"CREATE VIRTUAL TABLE temp.v USING fts5vocab (main, {table}, instance)")
    rows = db.execute("SELECT term, doc, offset FROM v ORDER BY 1, 2, 3").fetchall()
    db.execute("DROP TABLE temp.v")
    return rows


@pytest.fixture
def whole(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store.open(tmp_path / "whole.db", clock=clock) as store:
        kept_campaign.fill(store)
        yield store


def test_the_indexes_follow_the_facts(whole: Store) -> None:
    assert whole.upkeep.verify() == []
    with closing(sqlite3.connect(whole.path)) as db:
        before = {table: index_of(db, table) for table in ("traces_text", "remarks_text")}
    assert all(before.values())
    done: list[int] = []
    whole.upkeep.rebuild(done.append)
    with closing(sqlite3.connect(whole.path)) as db:
        assert {table: index_of(db, table) for table in before} == before
    assert whole.upkeep.verify() == []
    body = whole.items.get(2).version.trajectory.to_json()
    assert trace_text(body) == trace_text(json.loads(json.dumps(body)))


@pytest.mark.parametrize("table", ["traces_text", "remarks_text"])
def test_missing_and_extra_rows_of_an_index_are_found_and_mended(whole: Store, table: str) -> None:
    with unguarded(whole.path) as db:
        db.execute(f"INSERT INTO {table} (rowid, text) VALUES (77, 'not there')")
    assert whole.upkeep.verify() == [f"the index {table} lacks 0 texts and has 1 that are not there; rebuild"]
    whole.upkeep.rebuild()
    assert whole.upkeep.verify() == []
    with unguarded(whole.path) as db:
        (rows,) = db.execute(f"SELECT count(*) FROM {table}_docsize").fetchone()
        db.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
    assert whole.upkeep.verify() == [f"the index {table} lacks {rows} texts and has 0 that are not there; rebuild"]
    whole.upkeep.rebuild()
    assert whole.upkeep.verify() == []
    assert found(whole, "looks", "CO") == [1, 3]
    assert found(whole, "again", "CO") == [2]


def test_who_is_unknown_cannot_search_words(store: Store) -> None:
    an_item(store)
    row = store.queue.page(QueueFilter(words="broad"), "CO").rows[0]
    assert isinstance(row, QueueRow)
    with pytest.raises(Exception, match="ZZ"):
        store.queue.page(QueueFilter(words="broad"), "ZZ")


def test_solo_mode_withholds_nothing(store: Store, desk: Desk) -> None:
    store.settings.set_rules("CO", Rules(solo=True))
    item = an_item(store)
    desk.decide("CO", item, "keep", comment="Solonote")
    assert found(store, "solonote", "CO") == [item]


@pytest.fixture(scope="module")
def talked_about(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("talk") / "annotations.db", clock=Clock()) as store:
        talk(fill(store))
        yield store


def talk(several: Store) -> None:
    """Add comments of several people: replies, mentions, resolved threads, reads; in any order on most items, and on
    some as each part of the conditions needs it; marks, verdicts, and a returned item of VO."""
    desk = Desk(several)
    rng = random.Random(1)
    add, set_resolved = several.comments.add, several.comments.set_resolved
    threads = {item: add(person="CO", item_id=item, text="Well?", key=f"{item}").id for item in (23, 25, 27, 29)}
    add(person="CO", item_id=25, text="@RE?", key="reply", thread=threads[25])
    for item, changes in ((23, (True, False)), (25, (True, False, True))):
        for n, resolved in enumerate(changes):
            set_resolved(person="AU", item_id=item, thread=threads[item], resolved=resolved, key=f"{item} {n}")
    at = datetime(2026, 11, 1, tzinfo=UTC)
    several.imported_comments.add([ImportedComment(27, "Argilla, au", "An old one.", at, "old", person="AU")])
    desk.decide("VO", 29, "keep")
    desk.edit("RE", 29, "Text1 by RE, who does nothing else here.")
    for item in (9, 15, 21):
        desk.until(item, *TO_AUDIT, ("AU", "return"))
    for n in range(90):
        item, person = rng.randrange(1, 23), rng.choice(("RE", "AU", "CO"))
        there = [thread.id for thread in several.comments.of_item(item, person).threads]
        thread = rng.choice([None, *there])
        say = {"person": person, "item_id": item, "key": f"k{n}"}
        if n % 3 == 1 and there:
            set_resolved(**say, thread=there[0], resolved=rng.random() < 0.7)
        elif n % 3 == 2 and thread is not None:
            several.comments.read(person=person, item_id=item, comment=thread)
        else:
            whom = rng.choice(("", "", "@RE", "@AU"))
            add(**say, text=f"{whom} Text1 in comment {n}.".strip(), thread=thread)
    for item in (3, 23):
        desk.mark("RE", item, note="Text1 noted.")
    for item in (6, 24):
        version = several.items.get(item).version.id
        several.marks.commit_verdict(person="RE", item_id=item, version_id=version, verdict="YES")
    desk.edit("VO", 21, "Text1 by VO.")
    desk.until(21, ("VO", "submit"), ("AX", "return"))


def plainly_discussed(store: Store, person: str) -> dict[str, set[int]]:
    """Return the items of each kind of discussion, computed from the facts one by one."""
    with store.database.read() as db:
        rows = db.execute("SELECT * FROM comments ORDER BY id").fetchall()
        read = dict(db.execute("SELECT item, comment FROM comment_reads WHERE person = ?", (person,)).fetchall())
        part = {item for (item,) in db.execute("SELECT item FROM assigned WHERE person = ?", (person,))}
        part |= {item for (item,) in db.execute("SELECT item FROM versions WHERE author = ?", (person,))}
        decisions = db.execute("SELECT item, verb FROM decisions WHERE person = ?", (person,))
        part |= {item for item, verb in decisions if verb not in ("withdraw", "restore")}
    names = {row["id"] for row in rows if person in mentioned(row["text"], PEOPLE)}
    part |= {row["item"] for row in rows if row["id"] in names or (row["person"] == person and not row["source"])}
    last = {row["thread"]: row["kind"] for row in rows if row["kind"] != "comment"}
    is_open = {row["id"] for row in rows if last.get(row["thread"] or row["id"]) != "resolved"}
    return {
        "open": {row["item"] for row in rows if row["id"] in is_open},
        "mentioned": {row["item"] for row in rows if row["id"] in is_open & names},
        "unread": {
            row["item"]
            for row in rows
            if (row["kind"], row["source"]) == ("comment", "") and row["person"] != person
            if row["item"] in part and row["id"] > read.get(row["item"], 0)
        },
    }


@pytest.mark.parametrize("person", ["RE", "AU", "CO", "VO"])
def test_items_with_comments_are_those_of_a_plain_computation(talked_about, monkeypatch, person) -> None:
    plain = plainly_discussed(talked_about, person)
    assert all(items for kind, items in plain.items() if kind != "mentioned" or person in ("RE", "AU"))
    for other in (*OTHERS, {"words": "text1"}, {"words": "text1", "text": "spec"}, {"words": "nothing"}):
        words = str(other.get("words", ""))
        rest = {name: value for name, value in other.items() if name != "words"}
        everything = found(talked_about, words, person, **rest)
        for most in (search.MOST_NAMED, 0):
            monkeypatch.setattr(search, "MOST_NAMED", most)
            for kind, items in plain.items():
                expected = [item for item in everything if item in items]
                assert found(talked_about, words, person, discussed=kind, **rest) == expected, (kind, other, most)
    unread = talked_about.comments.unread(person, 200)
    assert ({comment.row.item_id for comment in unread.comments}, len(unread.comments)) == (
        plain["unread"],
        unread.total,
    )
    shared = talked_about.finding.shared(person, range(1, 31))
    assert {item for item, one in shared.items() if one.unread} == plain["unread"]


@pytest.mark.parametrize("person", PEOPLE)
def test_verdict_first_everywhere_is_that_in_every_batch(talked_about: Store, person: str) -> None:
    """The first has a faster way."""
    batches = tuple(batch.name for batch in talked_about.withdrawals.batches())
    for words in ("text1", "remark", "noted", "well"):
        for other in OTHERS:
            everywhere = found(talked_about, words, person, verdict_first=None, **other)
            assert everywhere == found(talked_about, words, person, verdict_first=batches, **other), (words, other)


@pytest.mark.parametrize("person", ["RE", "AU", "VO"])
@pytest.mark.parametrize("states", [(), ("screening",)])
def test_the_first_to_do_is_ones_own_returned_item_that_matches(talked_about, person, states) -> None:
    own = {"RE": {9, 15, 21}, "VO": {21}}.get(person, set())
    seen = set()
    for words in ("", "text1", "remark", "nothing"):
        for discussed in (None, "open", "unread", "mentioned"):
            for text in ("", "spec-00", "s"):
                wanted = {"discussed": discussed, "text": text, "states": states}
                items = found(talked_about, words, person, mine=True, **wanted)
                returned = [item for item in items if item in own and not states]
                expected = next(iter(returned or items), None)
                assert talked_about.queue.first_undone(QueueFilter(words=words, **wanted), person) == expected
                seen.add(expected)
    assert not own.isdisjoint(seen) or states or not own


@pytest.mark.parametrize("seed", [0, 3])
def test_words_of_traces_and_of_remarks_are_found_in_order(store, monkeypatch, seed) -> None:
    """Few or many items ahead, in both directions: of the traces, of the remarks, and of both once."""
    rng = random.Random(seed)
    traces, remarks = (set(rng.sample(range(1, 41), rng.randrange(3, (12, 30)[seed // 2]))) for _ in range(2))
    for item in range(1, 41):
        an_item(store, item, think="Sought." if item in traces else "Other.")
    for item in sorted(remarks, key=lambda _: rng.random()):
        for n in range(rng.randrange(1, 4)):
            store.comments.add(person="RE", item_id=item, text="Sought.", key=f"{item} {n}")
    # With a rule by which traces can be hidden (here none is), they are read in ranges.
    wanted = QueueFilter(words="sought", verdict_first=((), ("december",))[seed % 2])
    items = sorted(traces | remarks)
    assert found(store, "sought") == items
    monkeypatch.setattr(search, "SHORTEST_RANGE", 4)
    for item in range(42):
        after, before = [i for i in items if i > item], [i for i in items[::-1] if i < item]
        assert store.queue.position(item, wanted, "CO") == len(before)
        for n in (1, 2, 5, 11):
            assert store.queue.neighbours(item, wanted, "CO", n) == after[:n]
            assert store.queue.neighbours(item, wanted, "CO", n, backwards=True) == before[:n]
    for most in (1, 7, len(items) - 1):
        monkeypatch.setattr(search, "MOST_COUNTED", most)
        page = store.queue.page(wanted, "CO", after=items[most // 2], limit=5)
        assert page.total == most
        assert [row.item_id for row in page.rows] == items[most // 2 + 1 :][:5]
