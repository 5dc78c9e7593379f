"""Wordings that are read wrongly are learned from many traces, and failures are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.similar.wordings import Reading, Wordings, WordingsError, fit, masked

NOT_THERE = frozenset({"claim: line not there"})
LINES = ("Hα", "Hβ", "He II 4686", "[O III] 5007")


def reading(text: str, disagrees: bool | None) -> Reading:
    return Reading("presence", masked(text), disagrees, NOT_THERE if disagrees else frozenset())


def traces() -> list[list[Reading]]:
    """Return 1000 traces: true claims, plans in a tenth of them, half of lines that are not there; 1 % of failures."""
    found = []
    for number in range(1000):
        line = LINES[number % 4]
        said = [reading(f"{line} is clearly visible in this window.", disagrees=False)]
        if number % 10 == 0:
            said.append(reading(f"Still open is {line} with its neighbours.", disagrees=number % 20 == 0))
        if number % 100 == 7:
            said.append(reading(f"{line} stands out without any doubt.", disagrees=True))
        if number % 3 == 0:
            said.append(reading(f"Where {line} ought to be there is noise.", disagrees=None))
        found.append(said)
    return found


def test_names_of_lines_and_numbers_do_not_count() -> None:
    assert masked("[O III] 5007 and Hα are at 31σ.") == "line and line are at σ."


@pytest.fixture(scope="module")
def learned() -> Wordings:
    return fit(traces(), 1000)


def test_a_phrase_that_often_disagrees_is_doubtful(learned: Wordings) -> None:
    for text, doubtful in (
        ("Still open is Ca II K with its neighbours.", True),
        ("Ca II K is clearly visible in this window.", False),
        ("Where Ca II K ought to be there is noise.", False),
        ("Something else is said of Ca II K.", False),
    ):
        assert learned.doubtful(reading(text, disagrees=True)) is doubtful, text


def test_a_failure_in_few_traces_is_believed_and_one_in_many_is_a_doubt(learned: Wordings) -> None:
    failure = reading("He I 5876 stands out without any doubt.", disagrees=True)
    diluted = [*traces(), *[[reading("Hα is there.", disagrees=False)]] * 1100]
    assert not fit(diluted, 2100).doubtful(failure)
    assert learned.doubtful(failure)


def test_nothing_is_learned_from_few_traces_and_of_another_sort(learned: Wordings) -> None:
    plan = reading("Still open is Ca II K with its neighbours.", disagrees=True)
    assert not fit(traces()[:200], 200).doubtful(plan)
    assert not learned.doubtful(Reading("denial", plan.text, True, NOT_THERE))


def test_it_is_kept_in_a_file(tmp_path: Path, learned: Wordings) -> None:
    learned.write(path := tmp_path / "wordings.json")
    assert Wordings.read(path) == learned


@pytest.mark.parametrize("content", [b"", b"[]", b'{"fitted": 3}', b'{"fitted": 3, "phrases": {"sign": 4}}', b"\xff"])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "wordings.json").write_bytes(content)
    with pytest.raises(WordingsError, match=r"wordings\.json"):
        Wordings.read(tmp_path / "wordings.json")
