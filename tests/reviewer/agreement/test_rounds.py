"""Agreement of review's decisions, by round and task, and of one reviewer with gold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.agreement.rounds import agreement_by, gold_agreement, round_agreement
from reviewer.agreement.values import ScoresError

# Wikipedia, "Fleiss' kappa": fourteen raters put each of ten subjects into one of five categories.
FLEISS = (
    (0, 0, 0, 0, 14),
    (0, 2, 6, 4, 2),
    (0, 0, 3, 5, 6),
    (0, 3, 9, 2, 0),
    (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0),
    (2, 5, 3, 2, 2),
    (6, 5, 2, 1, 0),
    (0, 2, 2, 3, 7),
)


def decisions(rows: list[tuple[str, str, str]]) -> tuple[list[str], list[str], list[str]]:
    return [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]


def test_raw_agreement_of_fleisss_fourteen_raters() -> None:
    """Mean P of 0.378 and kappa 0.210; alpha is that less a correction for the 140 decisions."""
    rows = []
    for item, counts in enumerate(FLEISS):
        verbs = [f"category {k}" for k, n in enumerate(counts) for _ in range(n)]
        rows += [(f"i{item}", f"S{rater:02}", verb) for rater, verb in enumerate(verbs)]
    found = round_agreement(*decisions(rows))
    assert found.raw.value == pytest.approx(0.378, abs=5e-4)
    assert found.alpha.value == pytest.approx(1 - (1 - 0.20993) * 139 / 140, abs=5e-5)
    assert found.raw.detail["decisions"]["category 2"] == 39


def test_raw_agreement_averages_over_items_that_two_decided_on() -> None:
    rows = [
        ("a", "AB", "keep"),
        ("a", "CD", "keep"),
        ("a", "EF", "discard"),
        ("b", "AB", "keep"),
        ("b", "CD", "keep"),
    ]
    found = round_agreement(*decisions([*rows, ("c", "AB", "discard")]))
    assert found.raw.value == pytest.approx((1 / 3 + 1) / 2)
    assert found.raw.n == found.alpha.n == 2


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "nobody decided anything"),
        ([("a", "AB", "keep"), ("b", "AB", "keep")], "there is one reviewer only"),
        ([("a", "AB", "keep"), ("b", "CD", "keep")], "no item was decided on by two reviewers"),
    ],
)
def test_nobody_to_agree_with(rows: list[tuple[str, str, str]], reason: str) -> None:
    found = round_agreement(*decisions(rows))
    assert str(found.raw) == str(found.alpha) == f"undefined: {reason}"


def test_unanimous_is_full_raw_agreement_and_no_alpha() -> None:
    rows = [(item, person, "pass") for item in "abcdef" for person in ("AB", "CD")]
    found = round_agreement(*decisions([*rows, ("g", "AB", "return")]))
    assert found.raw.value == 1
    assert found.raw.low == pytest.approx(0.61, abs=5e-3)
    assert str(found.alpha) == "undefined: every decision is pass"


def test_one_item_shows_no_alpha() -> None:
    found = round_agreement(*decisions([("a", "AB", "pass"), ("a", "CD", "return")]))
    assert found.raw.value == 0
    assert str(found.alpha) == "undefined: only one item was decided on by two reviewers"


def test_rounds_and_tasks_are_reckoned_apart() -> None:
    groups = [("audit", "cv"), ("audit", "cv"), ("vote", "cv"), ("vote", "cv")]
    rows = [("a", "AB", "pass"), ("a", "CD", "pass"), ("a", "AB", "approve"), ("a", "CD", "reject")]
    found = agreement_by(groups, *decisions(rows))
    assert {group: one.raw.value for group, one in found.items()} == {("audit", "cv"): 1, ("vote", "cv"): 0}
    assert agreement_by([], [], [], []) == {}


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(["AB", "CD", "EF"])),
        st.sampled_from(["keep", "discard"]),
    )
)
def test_decisions_have_an_agreement_or_words_in_any_order(given_verbs: dict[tuple[str, str], str]) -> None:
    rows = [(item, person, verb) for (item, person), verb in given_verbs.items()]
    found, turned = round_agreement(*decisions(rows)), round_agreement(*decisions(rows[::-1]))
    assert found == turned
    for one in (found.raw, found.alpha):
        assert one.value is not None or "score" not in one.reason


def test_decisions_that_cannot_be_are_refused() -> None:
    with pytest.raises(ScoresError, match="1 items, 1 people, 0 decisions"):
        round_agreement(["a"], ["AB"], [])
    with pytest.raises(ScoresError, match="'AB' has two scores for 'a'"):
        round_agreement(["a", "a"], ["AB", "AB"], ["keep", "keep"])
    with pytest.raises(ScoresError, match="1 groups for 0 decisions"):
        agreement_by(["x"], [], [], [])


def test_a_reviewer_on_gold() -> None:
    found = gold_agreement(["a", "b", "c"], ["keep", "keep", "discard"], ["keep", "discard", "discard"])
    assert (found.value, found.n) == (pytest.approx(2 / 3), 3)
    assert str(gold_agreement([], [], [])) == "undefined: no gold item was decided on"
    with pytest.raises(ScoresError, match="0 decisions, 1 expected"):
        gold_agreement(["a"], [], ["keep"])
