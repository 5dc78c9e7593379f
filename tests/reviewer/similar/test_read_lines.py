"""What sentences say about single lines."""

from __future__ import annotations

from reviewer.similar.read_lines import stated_lines

CLAIMED: dict[str | None, str] = {
    "emission": "Hβ is in emission. | The flux rises to a sharp peak at Hβ. | A bright bump sits on Hβ.",
    "emission ": "Hβ pokes above the continuum. | Hβ is in emission rather than in absorption.",
    "absorption": "Hβ is seen in absorption. | The flux dips at Hβ. | Hβ forms a deep trough.",
    "absorption ": "At Hβ the flux falls below the continuum.",
    None: "Hβ shows no emission but absorption.",
    "": "We clearly detect Hβ. | Hβ cannot be missed. | Hβ is there without any doubt. | Hβ can be seen easily.",
}
DENIED = (
    "There is no Hβ. | Nothing is seen of Hβ. | Hβ is missing. | The spectrum lacks Hβ. | Hβ isn't visible. | "
    "I find no Hβ in emission or absorption. | Hβ is too weak to be seen."
)
SILENT = (
    "Next I look at Hβ. | If Hβ is in emission, it is a cataclysmic variable. | Hβ should be in absorption. | "
    "Is Hβ in emission? | I want to be certain about Hβ. | The primary criteria are: Hβ, Hγ. | "
    "Hα, Hβ, Hγ and Hδ are in emission. | Hβ in 4800 to 4900 Å. | The continuum is smooth."
)


def test_a_claim_is_read_with_its_sign() -> None:
    for sign, texts in CLAIMED.items():
        for text in texts.split(" | "):
            claims = [(line.line.name, line.sign) for line in stated_lines(text) if line.is_present]
            assert claims == ([] if sign is None else [("Hβ", sign.strip())]), text


def test_a_denial_is_no_claim() -> None:
    for text in DENIED.split(" | "):
        assert [(line.line.name, line.is_present) for line in stated_lines(text)] == [("Hβ", False)], text


def test_plans_conditions_questions_and_lists_state_nothing() -> None:
    for text in SILENT.split(" | "):
        assert list(stated_lines(text)) == [], text


def test_each_part_of_a_sentence_is_read_for_itself() -> None:
    found = list(stated_lines("Hα is in strong emission, but no He II 4686 is visible."))
    assert [(one.line.name, one.sign, one.is_present, one.strong) for one in found] == [
        ("Hα", "emission", True, True),
        ("He II 4686", "", False, False),
    ]


def test_a_line_that_is_only_named_is_told_from_one_that_is_called_visible() -> None:
    assert [stated_line.seen for stated_line in stated_lines("This is Hβ. I recognise Hγ.")] == [False, True]
