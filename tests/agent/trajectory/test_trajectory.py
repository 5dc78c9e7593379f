"""The trajectory record and its forms: JSON, chat messages and ShareGPT rows."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent.conversation import Conversation, Exchange
from agent.policies.spec_o3 import messages
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import TOOL_BLOCK, Observation
from agent.trajectory import Answer, Drafter, Think, Trajectory, TrajectoryError, Zoom, new_step_id, parse
from agent.trajectory.tags import turn_text
from tests.support.inputs.refusals import check_sentence
from tests.support.strategies import trajectories

SMALL = Trajectory(
    task="cv",
    prompt="Is it?",
    spectrum_name="a.fits",
    spectrum_sha256=None,
    steps=(
        Think("s1", "Look at Hα."),
        Zoom("s2", {"wavelength_range": [6500, 6600], "label": "Hα"}, "rest", 0.1, picture="ab" * 32),
        Think("s3", "Broad."),
        Answer("s4", "YES", "broad Hα"),
    ),
    drafter=Drafter("person", "JD"),
)


@given(trajectories())
def test_the_json_form_gives_back_an_equal_value(trajectory):
    text = json.dumps(trajectory.to_json(), allow_nan=False)
    again = Trajectory.from_json(json.loads(text))
    assert again == trajectory
    assert again.content_hash() == trajectory.content_hash()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("schema", "other/1", "schema: found 'other/1', expected 'spec-o3/trajectory/1'"),
        ("task", None, "task: found None, expected text"),
        ("prompt", "\ud800", "prompt: found a lone surrogate"),
        ("redshift", True, "redshift: found True, expected a finite number"),
        ("redshift", float("nan"), "redshift: found nan"),
        ("redshift", 10**400, "redshift: found 1000"),
        ("redshift", -1, "redshift: found -1"),
        ("label", "MAYBE", "label: found 'MAYBE', expected YES, NO or null"),
        ("medium", "water", "medium: found 'water', expected one of vacuum, air"),
        ("drafter", {"kind": "robot", "name": ""}, "drafter.kind: found 'robot'"),
        ("simulated", "no", "simulated: found 'no', expected true or false"),
        ("steps", {}, "steps: found dict, expected a list"),
        ("steps", [7], r"steps\[1\]: found int, expected an object"),
        ("steps", [{"id": "s1", "kind": "guess"}], r"steps\[1\].kind: found 'guess', expected one of think"),
        ("steps", [{"id": [], "kind": "think"}], r"steps\[1\].id: found \[\], expected text"),
        ("authors", "AA", "authors: found 'AA', expected a list of initials of two to four capital letters"),
        ("authors", ["aa"], r"authors: found \['aa'\], expected a list of initials"),
    ],
)
def test_a_bad_field_is_named_with_found_and_expected(field, value, words):
    with pytest.raises(TrajectoryError, match=words) as refused:
        Trajectory.from_json(SMALL.to_json() | {field: value})
    check_sentence(str(refused.value))


def test_the_authors_are_no_part_of_the_content_or_of_what_a_model_reads():
    written = replace(SMALL, authors=("AA", "BB"))
    assert written.content_hash() == SMALL.content_hash()
    assert written.to_messages() == SMALL.to_messages()
    assert "authors" not in SMALL.to_json()
    assert Trajectory.from_json(written.to_json()).authors == ("AA", "BB")


def test_a_list_and_two_steps_with_one_id_are_refused():
    with pytest.raises(TrajectoryError, match="found list, expected an object"):
        Trajectory.from_json([])
    data = SMALL.to_json()
    data["steps"][2]["id"] = "s1"
    with pytest.raises(TrajectoryError, match="two with the id 's1'"):
        Trajectory.from_json(data)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_arguments_that_json_cannot_hold_are_refused(number):
    data = SMALL.to_json()
    data["steps"][1]["arguments"] = {"wavelength_range": [6500, number]}
    with pytest.raises(TrajectoryError, match=r"steps\[2\].arguments: found what JSON cannot hold"):
        Trajectory.from_json(data)


def test_a_rest_frame_window_is_converted_to_observed_wavelengths():
    assert SMALL.zooms[0].window == (6500.0, 6600.0)
    assert SMALL.zooms[0].window_observed == pytest.approx((7150.0, 7260.0))


@pytest.mark.parametrize("bad", [10**400, float("nan"), float("inf"), "6500", None])
def test_a_window_that_is_not_two_finite_numbers_is_none(bad):
    assert Zoom("s1", {"wavelength_range": [bad, 6600]}).window is None
    assert Zoom("s1", {"wavelength_range": [6500, bad]}).window_observed is None


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ((Think("s1", "a"),), "the last step is not an answer"),
        ((Think("s1", "a"), Answer("s2", None)), "the answer is neither YES nor NO"),
        ((Answer("s1", "NO"),), "turn 1 has no think text"),
        ((Think("s1", "a"), Zoom("s2", {}), Think("s3", "b"), Answer("s4", "NO")), "step 2 has no picture"),
        ((Think("s1", "a </think>"), Answer("s2", "NO")), "step 1 contains </think>"),
        ((Think("s1", "a"), Answer("s2", "NO"), Answer("s3", "NO")), "there is more than one answer"),
    ],
)
def test_problems_that_exclude_a_trajectory_from_training_are_listed(steps, problem):
    assert SMALL.problems() == []
    assert any(found.startswith(problem) for found in SMALL.with_steps(steps).problems())


def test_a_new_step_gets_an_unused_id():
    assert new_step_id(SMALL.steps) == "s5"
    assert new_step_id(()) == "s1"
    last = "9" * 18
    assert new_step_id((Think(f"s{last}", "a"), Think(f"s{int(last) + 1}", "b"))) == f"s{int(last) + 2}"


# Qwen2.5-VL's stock template: every turn between its marks, blocks in order, an image as three tokens.
STOCK = jinja2.Template(
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% for block in message.content %}"
    "{% if block.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ block.text }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}",
    keep_trailing_newline=True,
)


def published_cases(shared: Path) -> list[dict]:
    """The cases with at most one tool call per turn, with the tool block and without a generation prompt."""
    lines = (shared / "conformance" / "chat_template_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["tools"] and not case["add_generation_prompt"]]
    return [case for case in cases if not _two_tool_turns(case["messages"])]


def _two_tool_turns(messages: list[dict]) -> bool:
    roles = [message["role"] for message in messages]
    return ("tool", "tool") in pairwise(roles)


def as_trajectory(messages: list[dict]) -> Trajectory:
    """The trajectory that the published messages contain."""
    steps, prompt = [], ""
    for message in messages:
        content = message["content"]
        if message["role"] == "user":
            prompt = content[1]["text"].removeprefix("\n")
        elif message["role"] == "assistant":
            turn = parse(content)
            call = message.get("tool_calls", [{}])[0].get("function") or turn.call
            steps.append(Think(f"s{len(steps)}", turn.thought))
            if call:
                arguments = call["arguments"] if isinstance(call, dict) else call.arguments
                steps.append(Zoom(f"s{len(steps)}", arguments))
            else:
                steps.append(Answer(f"s{len(steps)}", turn.answer.verdict, turn.answer.explanation))
        elif message["role"] == "tool":
            zoom, ok = steps.pop(), not isinstance(content, str)
            text = content[1]["text"] if ok else content
            steps.append(Zoom(zoom.id, zoom.arguments, observation=text, ok=ok))
    return Trajectory("cc", prompt, "", None, tuple(steps), Drafter("unknown", ""))


def test_a_trajectory_renders_as_with_the_published_template(shared):
    cases = published_cases(shared)
    assert len(cases) >= 5
    for case in cases:
        messages = as_trajectory(case["messages"]).to_messages()
        assert STOCK.render(messages=messages) == case["text"]


@given(trajectories())
def test_every_picture_has_a_place_and_every_turn_but_the_last_has_an_answer(trajectory):
    count = len(trajectory.pictures)
    messages = trajectory.to_messages([f"{n}.png" for n in range(count)])
    blocks = [block for message in messages for block in message["content"]]
    assert [b["image"] for b in blocks if b["type"] == "image"] == [f"{n}.png" for n in range(count)]
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user"] + ["assistant", "user"] * len(trajectory.zooms) + ["assistant"]


def test_too_few_pictures_are_refused():
    trajectory = Trajectory("cc", "?", "", None, (), Drafter("unknown", ""))
    with pytest.raises(TrajectoryError, match="images: found 0, expected 1"):
        trajectory.to_messages([])


SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
PICTURE = Image.new("RGBA", (8, 8), "white")
OPENING = "<|im_start|>assistant\n"


def observation_of(zoom: Zoom) -> Observation:
    return Observation(zoom.observation, PICTURE if zoom.ok else None, zoom.ok, None, "observed", 0.0)


def conversation(trajectory: Trajectory) -> tuple[Conversation, list[str]]:
    """The conversation of all answered turns, and the texts of the turns without an answer."""
    exchanges, unanswered = [], []
    for turn in trajectory.turns():
        zoom = turn[-1]
        if isinstance(zoom, Zoom) and zoom.observation:
            exchanges.append(Exchange(turn_text(turn), observation_of(zoom)))
        else:
            unanswered.append(turn_text(turn))
    task = SimpleNamespace(prompt=trajectory.prompt)
    return Conversation(SPECTRUM, task, PICTURE, 8, tuple(exchanges), trajectory.system), unanswered


def rendered(found: list[dict]) -> str:
    """Render as a server does: each picture is a block of type image; then the stock template."""
    as_images = [
        message | {"content": [{"type": "image"} if b["type"] == "image_url" else b for b in message["content"]]}
        for message in found
    ]
    return STOCK.render(messages=as_images)


def test_a_conversation_renders_as_with_the_published_template(shared):
    cases = published_cases(shared)
    assert len(cases) >= 5
    for case in cases:
        before, unanswered = conversation(as_trajectory(case["messages"]))
        text = rendered(messages(before))
        text += "".join(f"{OPENING}{turn}<|im_end|>\n" for turn in unanswered)
        assert text == case["text"]


def test_pictures_are_data_urls_and_marks_are_not_sent_twice():
    before = Conversation(SPECTRUM, TASK, PICTURE, 8)
    block = messages(before)[1]["content"][0]
    assert block["type"] == "image_url"
    assert block["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    exchange = Exchange("<think>a</think><|im_end|>", observation_of(Zoom("s1", {}, observation="Seen.", ok=True)))
    text = rendered(messages(Conversation(SPECTRUM, TASK, PICTURE, 7, (exchange,))))
    assert "<think>a</think><|im_end|>\n<|im_start|>user" in text


@pytest.mark.parametrize("text", ["no tags at all", "<think>a\r\nb</think>", " \n", "Grüße <|im_start|>"])
def test_a_turn_is_sent_again_unchanged(text):
    exchange = Exchange(text, Observation("Error: no.", None, False, None, "observed", 0.0))
    found = messages(Conversation(SPECTRUM, TASK, PICTURE, 7, (exchange,)))
    assert found[2] == {"role": "assistant", "content": [{"type": "text", "text": text}]}
    assert found[3]["content"][-1]["text"] == "Error: no.\n</tool_response>"


observations = st.builds(
    lambda text, ok: Observation(text, PICTURE if ok else None, ok, None, "observed", 0.0),
    st.text(max_size=60),
    st.booleans(),
)
exchanges = st.lists(st.builds(Exchange, st.text(max_size=80), observations), min_size=1, max_size=7)


@given(exchanges)
def test_each_request_begins_with_the_previous_request(exchanges):
    """Byte for byte; otherwise the server processes the whole conversation again in each turn."""
    sent = []
    for number in range(len(exchanges) + 1):
        found = messages(Conversation(SPECTRUM, TASK, PICTURE, 8 - number, tuple(exchanges[:number])))
        sent.append([json.dumps(message) for message in found])
    for earlier, later in pairwise(sent):
        assert later[: len(earlier)] == earlier
        assert len(later) == len(earlier) + 2


CALL = '<tool_call>\n{"name": "spectral_visualization_tool", "arguments": %s}\n</tool_call>'
RESPONSE = (
    "<tool_response>\n<image>Generated spectral visualization focused on wavelength range (6500, 6600) Å.\n"
    "</tool_response>"
)


def published_row(calls: int = 1, **changes) -> dict:
    """A row as in the published file: no redshift, no frame, no drafter."""
    turns = [
        {"from": "system", "value": "You are a helpful assistant." + TOOL_BLOCK},
        {"from": "human", "value": '<image>\nAnalyze ... is a "Cataclysmic Variables (CV)".\n\nKey indicators'},
    ]
    for _ in range(calls):
        arguments = '{"label": "H\x03b1", "wavelength_range": [6500, 6600]}'
        turns.append({"from": "gpt", "value": f"<think>Look at H\x03b1.</think>\n{CALL % arguments}"})
        turns.append({"from": "human", "value": RESPONSE})
    turns.append({"from": "gpt", "value": r"<think>Broad.</think><answer>\boxed{YES} broad</answer>"})
    row = {
        "conversations": turns,
        "images": [f"images/lf_cv_0_{k}.png" for k in range(calls + 1)],
        "sample_index": 0,
        "source_name": "spec-55886-GAC_sp02-178.fits.gz",
        "ground_truth": "YES",
        "total_iterations": calls + 1,
        "total_tool_calls": calls,
    }
    return row | changes


@given(trajectories(one_think_a_turn=True))
def test_a_sharegpt_row_reads_back_as_the_same_values(trajectory):
    paths = [f"images/{n}.png" for n in range(len(trajectory.pictures))]
    row = json.loads(json.dumps(trajectory.to_sharegpt(paths)))
    again = Trajectory.from_sharegpt(row, trajectory.pictures)
    unboxed = trajectory.answer is not None and trajectory.answer.verdict is None
    assert replace(again, faults=()) == trajectory
    assert bool(again.faults) == unboxed


def test_a_published_row_is_read_with_its_damaged_characters():
    trajectory = Trajectory.from_sharegpt(published_row(), ["aa", "bb"])
    assert trajectory.steps == (
        Think("s1", "Look at Hα."),
        Zoom(
            "s2",
            {"label": "Hα", "wavelength_range": [6500, 6600]},
            observation="Generated spectral visualization focused on wavelength range (6500, 6600) Å.",
            picture="bb",
        ),
        Think("s3", "Broad."),
        Answer("s4", "YES", "broad"),
    )
    assert (trajectory.task, trajectory.label, trajectory.overview) == ("cv", "YES", "aa")
    assert trajectory.system == "You are a helpful assistant."
    assert any("2 damaged characters repaired" in fault for fault in trajectory.faults)
    assert any("does not state the frame" in fault for fault in trajectory.faults)


def test_published_rows_are_read_whole_and_counted_alike():
    trajectory = Trajectory.from_sharegpt(published_row(calls=9))
    assert len(trajectory.zooms) == 9
    assert len(trajectory.steps) == 20
    row = Trajectory.from_sharegpt(published_row(calls=3), list("abcd")).to_sharegpt(list("abcd"))
    assert (row["total_iterations"], row["total_tool_calls"], len(row["conversations"])) == (4, 3, 9)
    row = published_row()
    row["conversations"][3]["value"] = "<tool_response>\nError: no.\n</tool_response>"
    zoom = Trajectory.from_sharegpt(row | {"images": ["0.png"]}, ["aa"]).zooms[0]
    assert (zoom.ok, zoom.picture, zoom.observation) == (False, None, "Error: no.")


def _without(row: dict, turn: int) -> dict:
    return row | {"conversations": [t for n, t in enumerate(row["conversations"]) if n != turn]}


def _with_value(row: dict, turn: int, value: object) -> dict:
    turns = [dict(t, value=value) if n == turn else t for n, t in enumerate(row["conversations"])]
    return row | {"conversations": turns}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (published_row(images=["only.png"]), "images: found 1, expected 2: one for each <image>"),
        (published_row(images=None), "images: found NoneType, expected 2"),
        (published_row(authors=["A"]), r"authors: found \['A'\], expected a list of initials of two to four capital"),
        (published_row(conversations=[]), r"conversations: found \[\], expected a list of turns"),
        (published_row(ground_truth="maybe"), "ground_truth: found 'maybe', expected YES, NO or null"),
        (_without(published_row(), 1), "conversations: found no question, expected"),
        (_without(published_row(), 2), "expected gpt"),
        (_with_value(published_row(), 2, "<think>a</think>"), r"conversations\[2\]: found no readable tool call"),
        (_with_value(published_row(), 3, "thanks"), r"conversations\[3\]: found 'thanks', expected <tool_response>"),
        (_with_value(published_row(), 1, "no picture"), "found 0 <image> in the question, expected one"),
        (_with_value(published_row(), 1, "<image>\nIs it a quasar?"), "expected one that names a class"),
        (_with_value(published_row(), 2, 7), r"conversations\[2\].value: found 7, expected text"),
    ],
)
def test_a_row_that_cannot_be_read_names_the_field(row, words):
    with pytest.raises(TrajectoryError, match=words):
        Trajectory.from_sharegpt(row)
