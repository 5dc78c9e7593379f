"""What sentences say about single lines."""

from __future__ import annotations

import pytest

from reviewer.similar.read_lines import stated_lines

CLAIMED = {
    "Hβ is in emission.": "emission",
    "The flux rises to a sharp peak at Hβ.": "emission",
    "A bright bump sits on Hβ.": "emission",
    "Hβ pokes above the continuum.": "emission",
    "Hβ is in emission rather than in absorption.": "emission",
    "Hβ is seen in absorption.": "absorption",
    "The flux dips at Hβ.": "absorption",
    "Hβ forms a deep trough.": "absorption",
    "At Hβ the flux falls below the continuum.": "absorption",
    "Hβ shows no emission but absorption.": None,
    "We clearly detect Hβ.": "",
    "Hβ cannot be missed.": "",
    "Hβ is there without any doubt.": "",
    "Hβ can be seen easily.": "",
}


@pytest.mark.parametrize("text", CLAIMED)
def test_a_claim_is_read_with_its_sign(text: str) -> None:
    found = [(stated_line.line.name, stated_line.sign) for stated_line in stated_lines(text) if stated_line.is_present]
    assert found == ([] if CLAIMED[text] is None else [("Hβ", CLAIMED[text])])


@pytest.mark.parametrize(
    "text",
    [
        "There is no Hβ.",
        "Nothing is seen of Hβ.",
        "Hβ is missing.",
        "The spectrum lacks Hβ.",
        "Hβ isn't visible.",
        "I find no Hβ in emission or absorption.",
        "Hβ is too weak to be seen.",
    ],
)
def test_a_denial_is_no_claim(text: str) -> None:
    assert [(stated_line.line.name, stated_line.is_present) for stated_line in stated_lines(text)] == [("Hβ", False)]


@pytest.mark.parametrize(
    "text",
    [
        "Next I look at Hβ.",
        "If Hβ is in emission, it is a cataclysmic variable.",
        "Hβ should be in absorption.",
        "Is Hβ in emission?",
        "I want to be certain about Hβ.",
        "The primary criteria are: Hβ, Hγ.",
        "Hα, Hβ, Hγ and Hδ are in emission.",
        "Hβ in 4800 to 4900 Å.",
        "The continuum is smooth.",
    ],
)
def test_plans_conditions_questions_and_lists_state_nothing(text: str) -> None:
    assert list(stated_lines(text)) == []


def test_each_part_of_a_sentence_is_read_for_itself() -> None:
    found = list(stated_lines("Hα is in strong emission, but no He II 4686 is visible."))
    assert [(one.line.name, one.sign, one.is_present, one.strong) for one in found] == [
        ("Hα", "emission", True, True),
        ("He II 4686", "", False, False),
    ]


def test_a_line_that_is_only_named_is_told_from_one_that_is_called_visible() -> None:
    assert [stated_line.seen for stated_line in stated_lines("This is Hβ. I recognise Hγ.")] == [False, True]
