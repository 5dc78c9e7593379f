"""The form of Qwen3.5: written, read back, sent to a server, and its faults in words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop import Text, inspect
from agent.policies.local.chat_template import TEMPLATES, form_in
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import TOOL_NAME, TOOL_SCHEMA
from agent.trajectory.forms import FORMS, QWEN3_5, SPEC_O3
from agent.trajectory.steps import Answer, Think, Zoom
from agent.trajectory.tags import parse, turn_text
from tests.support.model_server import TRAJECTORY, BadServer, Say

SPECTRUM, TASK = simulate("cv", "LAMOST", 30, 3), load()["cv"]
WINDOW = "<parameter=wavelength_range>\n[6500, 6630.5]\n</parameter>\n"
CALL = f"<tool_call>\n<function={TOOL_NAME}>\n{WINDOW}</function>\n</tool_call>"
# No surrogates and no control characters, which ``repair`` changes in both forms.
words = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="<"), max_size=40).map(str.strip)


def thinking(rest: str) -> str:
    return f"<think>\nI look.\n</think>\n\n{rest}"


def test_a_turn_is_written_as_the_published_template_writes_it() -> None:
    zoom = Zoom("s2", {"wavelength_range": [6500, 6630.5], "label": "Hα and [N II]"})
    assert QWEN3_5.turn([Think("s1", "I look."), zoom]) == (
        f"<think>\nI look.\n</think>\n\n<tool_call>\n<function={TOOL_NAME}>\n{WINDOW}"
        "<parameter=label>\nHα and [N II]\n</parameter>\n</function>\n</tool_call>"
    )
    answered = QWEN3_5.turn([Think("s1", "Broad."), Answer("s2", "YES", "Broad Hα.")])
    assert answered == "<think>\nBroad.\n</think>\n\n<answer>\\boxed{YES} Broad Hα.</answer>"


def test_the_tools_stand_before_the_system_text_and_only_with_a_tool() -> None:
    system = QWEN3_5.system("Rules.", with_tool=True)
    assert system.startswith("# Tools\n\n")
    assert json.dumps(TOOL_SCHEMA) in system
    assert system.endswith("</IMPORTANT>\n\nRules.")
    assert QWEN3_5.system("Rules.", with_tool=False) == "Rules."


@given(words, words, st.lists(st.floats(1, 1e5) | st.integers(1, 10**5), max_size=3))
def test_a_written_call_is_read_back_without_fault(thought: str, label: str, window: list[float]) -> None:
    """Also a label that is a number or JSON in the tool's schema of texts: it stays the text it was."""
    for text in (label, "6563", "[1, 2]", "true", "a </parameter> b", "two\nlines"):
        arguments = {"wavelength_range": window, "label": text}
        turn = parse(QWEN3_5.turn([Think("s1", thought), Zoom("s2", arguments)]))
        assert (turn.thought, turn.faults) == (thought, ())
        assert turn.call is not None
        assert turn.call.arguments == arguments


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_stored_turn_and_a_turn_as_written_are_sent_in_the_form(form) -> None:
    steps = (Think("s1", "I look."), Zoom("s2", {"wavelength_range": [6500, 6600]}))
    assert form.again(turn_text(steps)) == form.turn(steps)
    assert form.again(turn_text([Think("s1", "No."), Answer("s2", "NO", "Flat.")])) == form.turn(
        [Think("s1", "No."), Answer("s2", "NO", "Flat.")]
    )
    odd = form.opening + " odd  \n\n text </think><tool_call>\n<function=x>"
    assert form.again(odd) == odd


@pytest.mark.parametrize(
    ("rest", "arguments", "fault"),
    [
        (CALL.replace(WINDOW, ""), {}, "a tool call without wavelength_range"),
        (
            CALL.replace("[6500, 6630.5]", "6500 to 6630"),
            "6500 to 6630",
            "wavelength_range: '6500 to 6630' is not JSON",
        ),
        (CALL.replace("6630.5]", "6630.5"), "[6500, 6630.5", "wavelength_range: '[6500, 6630.5' is not JSON"),
        (CALL.replace("6630.5]", "6630.5] Å"), "[6500, 6630.5] Å", "wavelength_range: '[6500, 6630.5] Å' is not JSON"),
        (CALL + CALL, [6500, 6630.5], "2 tool calls in one turn: the first was taken"),
        (
            CALL.replace("</function>", f"</function>\n<function={TOOL_NAME}>\n</function>"),
            [6500, 6630.5],
            "2 functions in one tool call: the first was taken",
        ),
        (CALL.replace(WINDOW, WINDOW + WINDOW), [6500, 6630.5], "'wavelength_range' twice: the first was taken"),
        (CALL.replace(TOOL_NAME, "zoom"), [6500, 6630.5], "a call of 'zoom'"),
        (CALL.replace("<tool_call>\n", "", 1), [6500, 6630.5], "</tool_call> without <tool_call>"),
        (CALL.removesuffix("</tool_call>"), [6500, 6630.5], "<tool_call> not closed"),
        (CALL.removesuffix("</function>\n</tool_call>"), [6500, 6630.5], "<function> not closed"),
        (CALL.partition("30.5")[0], None, "a tool call that cannot be read: '<function=spectral_visualization_tool>"),
        (CALL.partition(">\n<par")[0], None, "a tool call that cannot be read: '<function=spectral_visualization_too"),
        (f"<function={TOOL_NAME}>\n{WINDOW}</function>", [6500, 6630.5], "no <tool_call> tags"),
    ],
)
def test_a_wrong_call_is_a_fault_in_words(rest: str, arguments: object, fault: str) -> None:
    turn = parse(thinking(rest))
    assert any(text.startswith(fault) for text in turn.faults), turn.faults
    if arguments is None:
        assert turn.call is None
    else:
        assert turn.call is not None
        assert turn.call.arguments.get("wavelength_range", {}) == arguments


@pytest.mark.parametrize("opened", [True, False], ids=["by the template", "by the model"])
@pytest.mark.parametrize("reasoning", [True, False], ids=["split off", "as text"])
def test_an_inspection_by_a_server_in_this_form(opened: bool, reasoning: bool) -> None:
    """The stored trace does not depend on how the server gives the thought; each turn is sent again as written."""
    rests = [CALL, "<answer>\\boxed{YES} Broad.</answer>"]
    if reasoning:
        says = [Say(f"\n\n{rest}", reasoning="I look.\n") for rest in rests]
    else:
        says = [Say(thinking(rest).removeprefix("<think>\n" if opened else "")) for rest in rests]
    with BadServer(says) as server:
        events = list(inspect(SPECTRUM, TASK, SpecO3(Endpoint(server.url), form=QWEN3_5)))
    trajectory = events[-1].trajectory
    assert trajectory.faults == ()
    assert [turn_text(turn) for turn in trajectory.turns()] == [
        '<think>I look.</think>\n<tool_call>\n{"name": "spectral_visualization_tool", "arguments": '
        '{"wavelength_range": [6500, 6630.5]}}\n</tool_call>',
        "<think>I look.</think><answer>\\boxed{YES} Broad.</answer>",
    ]
    assert "".join(event.text for event in events if isinstance(event, Text)) == "".join(map(thinking, rests))
    first, second = (chat.body["messages"] for chat in server.chats)
    assert first[0]["content"][0]["text"] == QWEN3_5.system("You are a helpful assistant.", with_tool=True)
    assert second[2]["content"][0]["text"] == thinking(CALL)
    assert trajectory.drafter.settings["dialect"] == "qwen3.5"


def test_a_stored_trace_is_continued_in_the_form() -> None:
    with BadServer([Say("Broad.\n</think>\n\n<answer>\\boxed{YES} Broad.</answer>")]) as server:
        list(inspect(SPECTRUM, TASK, SpecO3(Endpoint(server.url), form=QWEN3_5), begin=TRAJECTORY[:1]))
    sent = server.chats[0].body["messages"][2]["content"][0]["text"]
    assert sent.startswith("<think>\n")
    assert parse(sent).call == parse(TRAJECTORY[0]).call
    assert f"<function={TOOL_NAME}>\n<parameter=" in sent


def test_a_folder_says_in_which_form_it_was_trained(tmp_path) -> None:
    assert form_in(tmp_path) is None
    assert form_in(None) is None
    for name, template in TEMPLATES.items():
        (tmp_path / "chat_template.jinja").write_text(template, encoding="utf-8")
        assert form_in(tmp_path) is FORMS[name]
    (tmp_path / "chat_template.jinja").write_text("as published", encoding="utf-8")
    assert form_in(tmp_path) is None
    assert TEMPLATES[SPEC_O3.name] != TEMPLATES[QWEN3_5.name]
