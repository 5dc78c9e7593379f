"""Tag syntax: whole and damaged turns of a model."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.tool import TOOL_NAME
from agent.trajectory import Answer, Think, Zoom, parse
from agent.trajectory.tags import RESERVED, Call, Reply, between, turn_text
from tests.support.strategies import arguments, plain_words, verdicts

CALL = '{"name": "spectral_visualization_tool", "arguments": {"label": "Hα", "wavelength_range": [6500, 6600]}}'
ARGUMENTS = {"label": "Hα", "wavelength_range": [6500, 6600]}


def test_turns_are_written_in_the_published_form():
    steps = Think("s1", "Look."), Zoom("s2", ARGUMENTS)
    assert turn_text(steps) == f"<think>Look.</think>\n<tool_call>\n{CALL}\n</tool_call>"
    steps = Think("s1", "Look."), Answer("s2", "YES", "broad Hα")
    assert turn_text(steps) == r"<think>Look.</think><answer>\boxed{YES} broad Hα</answer>"
    steps = Think("s1", "One."), Think("s2", "Two."), Answer("s3", "NO")
    assert turn_text(steps) == "<think>One.\n\nTwo.</think><answer>\\boxed{NO}</answer>"


@given(plain_words, arguments)
def test_a_written_zoom_is_read_back_without_fault(thought, call_arguments):
    turn = parse(turn_text((Think("s1", thought), Zoom("s2", call_arguments))))
    assert (turn.thought, turn.call, turn.answer) == (thought, Call(TOOL_NAME, call_arguments), None)
    assert turn.faults == ()


@given(plain_words, verdicts, plain_words | st.just(""))
def test_a_written_answer_is_read_back(thought, verdict, explanation):
    turn = parse(turn_text((Think("s1", thought), Answer("s2", verdict, explanation))))
    assert (turn.thought, turn.answer) == (thought, Reply(verdict, explanation))
    assert bool(turn.faults) == (verdict is None)


@given(st.text())
def test_any_text_can_be_parsed(text):
    turn = parse(text)
    assert not set(turn.thought) & set("\0\x01\x03\x1b")


@given(st.lists(st.sampled_from([*RESERVED[:6], CALL, "a", "{", "YES", r"\boxed{NO}", "<|im_end|>"]), max_size=12))
def test_any_order_of_tags_can_be_parsed(pieces):
    parse("".join(pieces))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"<think>a</think><tool_call>{CALL}", "<tool_call> not closed"),
        (f"<think>a<tool_call>{CALL}</tool_call>", "<think> not closed"),
        (f"a</think><tool_call>{CALL}</tool_call>", "</think> without <think>"),
        (f"a <tool_call>{CALL}</tool_call>", "no <think> tags"),
        (f"<think>a</think>{CALL}", "no <tool_call> tags"),
        (f"<think>a</think><tool_call>```json\n{CALL}\n```</tool_call>", None),
        (f"<think>a</think><tool_call>{CALL}</tool_call>" * 2, "2 tool calls in one turn"),
        (f"<think>a</think><tool_call>{CALL[:-1]}</tool_call>", "broken JSON in a tool call"),
        (f"<think>a</think><tool_call>{CALL.replace(chr(34), chr(39))}</tool_call>", None),
        (f"<think>a</think><tool_call>{json.dumps(ARGUMENTS)}</tool_call>", "a tool call without arguments"),
        (f"<think>a</think><tool_call>{CALL}</tool_call><answer>NO</answer>", "a tool call and an answer"),
    ],
)
def test_a_call_is_found_in_a_damaged_turn_and_the_damage_listed(text, fault):
    turn = parse(text)
    assert turn.thought.startswith("a")
    assert turn.call is not None
    assert turn.call.arguments == ARGUMENTS
    assert fault is None or any(found.startswith(fault) for found in turn.faults)


@pytest.mark.parametrize(
    ("answer", "verdict", "explanation"),
    [
        (r"\boxed{yes} ok", "YES", "ok"),
        (r"The box \boxed{ NO } says", "NO", "The box says"),
        (r"\boxed{\text{NO}}", "NO", ""),
        ("\\boxed {  NO \n} broad", "NO", "broad"),
        ("\\boxed{ \\text { YES } } broad", "YES", "broad"),
        ("\\boxed{ } broad", None, "broad"),
        (r"\boxed{maybe} hm", None, "hm"),
        ("No, it is not.", "NO", "No, it is not."),
        ("no, not yes", None, "no, not yes"),
        ("\x08oxed{YES} ok", "YES", "ok"),
    ],
)
def test_the_verdict_is_read_where_it_is_unambiguous(answer, verdict, explanation):
    assert parse(f"<think>a</think><answer>{answer}</answer>").answer == Reply(verdict, explanation)


@pytest.mark.parametrize(
    ("answer", "explanation"),
    [
        *((f"No emission{sign} BOX", "No emission") for sign in (":", " —", " -", " =>", ",", ":\n\n", ": **")),
        *((f"{lead} BOX", "") for lead in ("Answer:", "**Answer:**", "The final answer is", "My verdict —")),
        *((enclosed, "") for enclosed in ("**BOX**", "$BOX$", "`BOX`", "(BOX)", "**Answer: BOX**")),
        ("No lines. Final verdict: BOX", "No lines."),
        ("No lines (S/N 4). BOX", "No lines (S/N 4)."),
        ("Why: no lines; BOX none seen", "Why: no lines none seen"),
        ("BOX : none", ": none"),  # the canonical form
    ],
)
def test_what_only_points_at_the_box_leaves_with_it(answer, explanation):
    text = answer.replace("BOX", r"\boxed{NO}")
    assert parse(f"<think>a</think><answer>{text}</answer>").answer == Reply("NO", explanation)


def test_odd_answers_and_calls_are_read_or_listed():
    turn = parse(r"<think>a</think><answer>\boxed{NO}</answer><answer>\boxed{YES}</answer>")
    assert turn.answer == Reply("YES", "")
    assert "2 answers in one turn: the last was taken" in turn.faults
    turn = parse(r"It has no lines. \boxed{NO}")
    assert turn.answer == Reply("NO", "It has no lines.")
    assert "no <answer> tags" in turn.faults
    text = CALL.replace("6600", "NaN").replace("6500", "1e999")
    turn = parse(f"<tool_call>{text}</tool_call>")
    assert turn.call is not None
    assert turn.call.arguments["wavelength_range"] == ["1e999", "NaN"]
    turn = parse("<think>a</think><tool_call>zoom please</tool_call>")
    assert turn.call is None
    assert turn.faults == ("a tool call that cannot be read: 'zoom please'",)
    turn = parse('<think>a</think><tool_call>{"name": "crop", "arguments": {}}</tool_call>')
    assert turn.call == Call("crop", {})
    assert turn.faults == ("a call of 'crop'",)


@pytest.mark.parametrize("name", ["[1]", "{}", "null", "3", "true", '["spectral_visualization_tool"]'])
def test_a_name_that_is_no_text_is_a_fault(name):
    turn = parse(f'<tool_call>\n{{"name": {name}, "arguments": {{"wavelength_range": [1, 2]}}}}\n</tool_call>')
    assert turn.call.name == ""
    assert len(turn.faults) == 1


@pytest.mark.parametrize(
    ("damaged", "whole"),
    [
        ("H\x03b1 and \x03bb 6563 \x00c5", "Hα and λ 6563 Å"),
        ("H\x01, H\x02 and H\x031", "Hα, Hβ and Hα"),
        ("the C\x0082 Swan bands, C\x08", "the C₂ Swan bands, C₂"),
        ("FWHM \x02248 30 \x00c5", "FWHM ≈ 30 Å"),
        ("6500\x136600 \x005", "6500–6600 Å"),
        ("5 \x00b1 2", "5 ± 2"),
        ("\x1cchopped up\x1d", "“chopped up”"),
        ("\x1b[0;31mred", "red"),
    ],
)
def test_damaged_characters_are_repaired_where_there_is_no_doubt(damaged, whole):
    turn = parse(f"<think>{damaged}</think>")
    assert turn.thought == whole
    assert len(turn.faults) == 1
    assert turn.faults[0].endswith("repaired")


def test_ambiguous_damaged_characters_are_marked_as_lost_and_listed():
    turn = parse("<think>We look at the H\x03b profile again.</think>")
    assert turn.thought == "We look at the H\ufffdb profile again."
    assert turn.faults == ("U+0003 could not be repaired, in 'ook at the H\ufffdb profile ag'",)


PIECES = st.lists(st.sampled_from(["<answer>", "</answer>", "\\boxed{", "}", " ", "YES", "\n"]), max_size=12)


@given(PIECES)
def test_between_finds_what_a_regular_expression_finds(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert list(between(text, "<answer>", "</answer>")) == re.findall("<answer>(.*?)</answer>", text, re.DOTALL)
    assert list(between(text, "\\boxed{", "}")) == re.findall(r"\\boxed\{([^}]*)\}", text)


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_a_deeply_nested_call_cannot_be_read(opening: str) -> None:
    for depth in (30, 450, 900, 5000):
        closing = {"[": "]"}.get(opening, "}")
        inside = opening * depth + "1" + closing * depth
        turn = parse(f'<tool_call>{{"name": "x", "arguments": {{"a": {inside}}}}}</tool_call>')
        assert turn.call is None
        assert turn.faults[0].startswith("a tool call that cannot be read")
