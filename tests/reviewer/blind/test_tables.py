"""From a closed session to the tables of the statistics: nothing turned round, nothing counted twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from reviewer.agreement.preference import position_bias, preference_rate
from reviewer.blind import tables
from reviewer.blind.results import Results
from reviewer.blind.values import Gold
from reviewer.store import Store
from tests.support.blind_campaign import GPT, SCORERS, SPEC, a_store, key, opened, tokens

VERDICTS = {"RE": SPEC, "AU": GPT, "VO": None}
"""Whom each scorer prefers throughout; VO finds both bad."""


def place_of(person: str, item: int, again: bool) -> int | str:
    """What somebody says of an item: who and what it is can be read off the score."""
    if person == "VO" and item % 4 == 0:
        return "cannot tell"
    return min(5, SCORERS.index(person) + item % 2 + int(again))


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Results]:
    with a_store(tmp_path / "annotations.db") as store:
        session = opened(store, mode="both", each=3, repeats=1, gold=(Gold(1, 5, None, 0),), sources=(SPEC, GPT))
        answer(store)
        store.close_blind("CO", session.id, key())
        yield store.blind_results(None, session.id)


def answer(store: Store) -> None:
    items = {store.item(n).version.content_hash: n for n in range(1, 13)}
    for person in SCORERS:
        seen: set[int] = set()
        for token in tokens(store, person):
            (shown,) = store.blind_behind(token, person).trajectories
            item = items[shown.content_hash()]
            said = place_of(person, item, item in seen)
            store.score_blind(person, token, said, 3, key())
            seen.add(item)
        for token in tokens(store, person, "pair"):
            left = store.blind_behind(token, person).trajectories[0].drafter.name
            side = "left" if left == VERDICTS[person] else "right"
            store.prefer_blind(person, token, side if VERDICTS[person] else "both bad", key())


def test_each_score_stands_in_its_own_place(results) -> None:
    table = tables.scores(results, "coherence")
    assert table.raters == tuple(sorted(SCORERS))
    assert len(table.items) == 10
    assert "1" not in table.items
    for row, item in enumerate(table.items):
        for column, person in enumerate(table.raters):
            said = place_of(person, int(item), again=False)
            found = table.values[row, column]
            assert np.isnan(found) if said == "cannot tell" else found == said


def test_one_source_at_a_time(results) -> None:
    gpt, spec = (tables.scores(results, "consistency", source) for source in (GPT, SPEC))
    assert {int(item) % 2 for item in gpt.items} == {1}
    assert {int(item) % 2 for item in spec.items} == {0}
    assert set(gpt.values.flat) == {3.0}


def test_cannot_tell_is_counted_apart(results) -> None:
    drawn = [int(item) for item in tables.scores(results, "coherence").items]
    assert tables.cannot_tell(results, "coherence") == sum(item % 4 == 0 for item in drawn) > 0
    assert tables.cannot_tell(results, "coherence", GPT) == 0
    assert tables.cannot_tell(results, "consistency") == 0


def test_correctness_goes_with_the_items_of_the_table(results) -> None:
    table = tables.scores(results, "coherence")
    # Items 1 and 2 are of spectrum 0, whose label is NO; every verdict is YES.
    assert tables.correctness(results, table) == tuple((int(item) - 1) // 2 % 2 == 1 for item in table.items)


def test_repeats_and_gold_have_tables_of_their_own(results) -> None:
    first, again = tables.repeated(results, "coherence", "RE")
    assert (again - first).tolist() == [1.0]
    given, expected, tolerance = tables.on_gold(results, "coherence", "AU")
    assert (given.tolist(), expected.tolist(), tolerance.tolist()) == ([2.0], [5.0], [0.0])
    assert all(len(part) == 0 for part in tables.on_gold(results, "consistency", "AU"))


def test_left_and_right_are_undone_exactly_once(results) -> None:
    votes = tables.votes(results)
    assert (set(votes.a), set(votes.b)) == ({SPEC}, {GPT})
    assert sorted(votes.verdicts) == ["a"] * 5 + ["b"] * 5 + ["both bad"] * 5
    rates = preference_rate(votes, SPEC, GPT)
    assert (rates.wins.value, rates.losses.value, rates.both_bad.value) == (1 / 3, 1 / 3, 1 / 3)


def test_sides_are_as_they_were_shown(results) -> None:
    pairs, sides = tables.sides(results)
    assert len(set(pairs)) == 5
    assert sides.count("both bad") == 5
    # RE and AU always disagree, and the coin lets neither side be theirs.
    assert {"left", "right"} < set(sides)
    assert position_bias(pairs, sides).n == 10
