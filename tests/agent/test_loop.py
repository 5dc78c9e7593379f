"""The inspection loop and the tool: what a model may write, and what the tool answers."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import plot, tool
from agent.conversation import Conversation, Piece, PolicyError, Remark, Stop, Usage
from agent.loop import (
    MAX_CHARACTERS,
    NOT_RUN,
    Answered,
    Ended,
    Started,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    inspect,
    run,
)
from agent.plot import RENDERER, pixels_sha256
from agent.plot.curve import pixels_to_draw
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Think, Zoom

ZOOM_TURN = (
    '<think>Hα first.</think>\n<tool_call>\n{"name": "spectral_visualization_tool", "arguments": '
    '{"label": "Hα", "wavelength_range": [6500, 6600]}}\n</tool_call>'
)
ANSWER = r"<think>It is in emission.</think><answer>\boxed{YES} Balmer emission.</answer>"
TASK = Task(
    key="cv",
    title="Cataclysmic Variable (CV)",
    question="Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.",
    statements=(),
    features=(),
    confusers=(),
    references=MappingProxyType({}),
)
SPECTRUM = simulate("cv", "LAMOST", 30, 3)


class Script:
    """A policy that returns scripted turns and keeps the conversations it was given."""

    drafter = Drafter("model", "script", {"version": "1"})

    def __init__(self, turns: Sequence[str], pieces: int = 1) -> None:
        self.turns = turns
        self.pieces = pieces
        self.seen: list[Conversation] = []

    def turn(self, conversation: Conversation) -> Iterator[str]:
        text = self.turns[min(len(self.seen), len(self.turns) - 1)]
        self.seen.append(conversation)
        size = max(1, -(-len(text) // self.pieces))
        for start in range(0, len(text), size):
            yield text[start : start + size]


class Broken:
    drafter = Drafter("model", "broken")

    def turn(self, conversation: Conversation) -> Iterator[str]:
        yield "<think>Half a thou"
        raise PolicyError("the server at 127.0.0.1:8000 closed the connection: is it still running?")


def ended(*turns: str, max_turns: int = 8) -> Ended:
    *_, last = inspect(SPECTRUM, TASK, Script(turns), max_turns)
    assert isinstance(last, Ended)
    return last


@pytest.mark.parametrize(("with_tool", "max_turns"), [(True, 1), (False, 5)])
def test_turns_to_begin_with_leave_a_turn_to_the_policy(with_tool, max_turns):
    with pytest.raises(ValueError, match="begin: found 1 turns, expected fewer than the 1 allowed"):
        list(inspect(SPECTRUM, TASK, Script([ANSWER]), max_turns, with_tool=with_tool, begin=[ZOOM_TURN]))


def test_events_come_in_order_and_text_as_the_policy_writes_it():
    events = list(inspect(SPECTRUM, TASK, Script([ZOOM_TURN, ANSWER])))
    expected = [Started, Text, ToolCall, Thought, ToolResult, Text, Thought, Answered, Ended]
    assert [type(e) for e in events] == expected
    assert events[-1].reason == "answered"
    events = list(inspect(SPECTRUM, TASK, Script([ANSWER], pieces=7)))
    pieces = [e.text for e in events if isinstance(e, Text)]
    assert len(pieces) == 7
    assert "".join(pieces) == ANSWER


def test_the_trajectory_keeps_every_step_with_its_picture_frame_and_medium():
    trajectory = run(SPECTRUM, TASK, Script([ZOOM_TURN, ANSWER]))
    assert [type(s) for s in trajectory.steps] == [Think, Zoom, Think, Answer]
    assert [s.id for s in trajectory.steps] == ["s1", "s2", "s3", "s4"]
    zoom = trajectory.zooms[0]
    assert zoom.picture == tool.call(SPECTRUM, {"wavelength_range": [6500, 6600], "label": "Hα"}).picture
    assert (zoom.frame, zoom.z, zoom.medium, zoom.ok) == ("observed", 0.0, "vacuum", True)
    assert trajectory.answer == Answer("s4", "YES", "Balmer emission.")
    assert trajectory.spectrum_sha256 == SPECTRUM.sha256
    assert trajectory.overview == pixels_sha256(tool.overview(SPECTRUM))
    assert trajectory.simulated
    assert trajectory.problems() == []
    assert Trajectory.from_json(trajectory.to_json()) == trajectory


def test_with_a_redshift_windows_are_in_the_rest_frame():
    spectrum = simulate("hii", "SDSS", 30, 3, redshift=0.05)
    zoom = run(spectrum, TASK, Script([ZOOM_TURN, ANSWER])).zooms[0]
    assert (zoom.frame, zoom.z) == ("rest", 0.05)
    assert zoom.window_observed == pytest.approx((6825.0, 6930.0))


def test_settings_hold_what_repeats_the_inspection():
    settings = run(SPECTRUM, TASK, Script([ANSWER]), max_turns=5).drafter.settings
    assert settings["version"] == "1"
    assert settings["renderer"] == RENDERER
    assert settings["max_turns"] == 5
    assert len(settings["prompt_sha256"]) == 64


def test_the_policy_is_shown_each_answer_of_the_tool():
    policy = Script([ZOOM_TURN, ANSWER])
    run(SPECTRUM, TASK, policy)
    assert policy.seen[0].exchanges == ()
    (exchange,) = policy.seen[1].exchanges
    assert exchange.text == ZOOM_TURN
    assert exchange.observation.text.endswith("(6500, 6600) Å for Hα.")
    assert exchange.observation.image is not None


def test_the_call_of_the_eighth_turn_is_not_run():
    """As in the published loop: eight assistant turns, seven zooms."""
    policy = Script([ZOOM_TURN])
    events = list(inspect(SPECTRUM, TASK, policy))
    results = [e for e in events if isinstance(e, ToolResult)]
    assert len(policy.seen) == len(results) == 8
    assert [e.zoom.ok for e in results] == [True] * 7 + [False]
    assert (results[-1].zoom.observation, results[-1].picture) == (NOT_RUN, None)
    assert (events[-1].reason, events[-1].trajectory.answer) == ("turn limit", None)


def test_an_answer_without_verdict_or_beside_a_zoom():
    end = ended(r"<think>Hm.</think><answer>\boxed{MAYBE}</answer>")
    assert end.reason == "answered"
    assert end.trajectory.answer.verdict is None
    assert end.trajectory.problems() == ["the answer is neither YES nor NO"]
    end = ended(ZOOM_TURN + r"<answer>\boxed{NO}</answer>", ANSWER)
    assert [type(s) for s in end.trajectory.steps] == [Think, Zoom, Think, Answer]
    assert end.trajectory.faults == ("turn 1: a tool call and an answer in one turn",)


def test_text_written_before_a_policy_failed_is_kept():
    events = list(inspect(SPECTRUM, TASK, Broken()))
    end = events[-1]
    assert isinstance(end, Ended)
    assert (end.reason, end.trajectory.steps[0]) == ("policy failed", Think("s1", "Half a thou"))
    assert "127.0.0.1:8000" in end.detail
    with pytest.raises(PolicyError, match="is it still running"):
        run(SPECTRUM, TASK, Broken())


def test_fewer_than_one_turn_is_refused():
    with pytest.raises(ValueError, match="max_turns: found 0, expected 1 or more"):
        next(inspect(SPECTRUM, TASK, Script([ANSWER]), max_turns=0))


class Endless:
    """A model that never ends its turn; ``closed`` is true once the loop has closed its generator."""

    drafter = Drafter("model", "endless")

    def __init__(self) -> None:
        self.closed = False

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        try:
            yield "<think>"
            while True:
                yield "and on and on "
        finally:
            self.closed = True


def test_a_turn_without_end_is_cut_and_listed_as_a_fault():
    policy = Endless()
    *_, last = inspect(SPECTRUM, TASK, policy)
    assert isinstance(last, Ended)
    assert last.reason == "no call and no answer"
    assert f"turn 1: cut after {MAX_CHARACTERS} characters" in last.trajectory.faults
    assert policy.closed


class Floods:
    drafter = Drafter("model", "floods")

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        yield "<think>"
        yield "a" * 3 * MAX_CHARACTERS


def test_one_piece_longer_than_a_turn_is_cut():
    *before, last = inspect(SPECTRUM, TASK, Floods())
    assert isinstance(last, Ended)
    assert f"turn 1: cut after {MAX_CHARACTERS} characters" in last.trajectory.faults
    assert sum(len(event.text) for event in before if isinstance(event, Text)) == MAX_CHARACTERS + 1
    assert len(last.trajectory.steps[0].text) <= MAX_CHARACTERS


def test_stop_keeps_the_text_so_far_and_closes_the_policy():
    policy, stop = Endless(), Stop()
    events = inspect(SPECTRUM, TASK, policy, stop=stop)
    for event in events:
        if isinstance(event, Text) and event.text != "<think>":
            stop.set()
            break
    *_, last = events
    assert isinstance(last, Ended)
    assert (last.reason, last.detail) == ("stopped", "stopped in turn 1")
    assert last.trajectory.steps == (Think("s1", "and on and on"),)
    assert last.trajectory.faults == ("turn 1: cut short while it was being written",)
    assert policy.closed


def test_closing_the_iterator_closes_its_policy():
    policy = Endless()
    events = inspect(SPECTRUM, TASK, policy)
    next(e for e in events if isinstance(e, Text))
    events.close()
    assert policy.closed


def test_a_waker_is_called_at_once_after_stop_and_never_after_its_block():
    stop, called = Stop(), []
    with stop.waking(lambda: called.append("left")):
        pass
    stop.set()
    with stop.waking(lambda: called.append("late")):
        assert called == ["late"]


class Talkative(Script):
    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        yield from super().turn(conversation)
        yield Remark("cut at its limit of 5 tokens")
        yield Usage(requests=1, prompt=100, cached=40, completion=5)


def test_a_remark_of_a_policy_is_a_fault_and_its_tokens_are_added_up():
    *_, last = inspect(SPECTRUM, TASK, Talkative([ZOOM_TURN, ANSWER]))
    assert isinstance(last, Ended)
    assert last.trajectory.faults == tuple(f"turn {n}: cut at its limit of 5 tokens" for n in (1, 2))
    assert last.usage == Usage(2, 200, 80, 10)


def test_the_call_is_reported_before_the_turn_has_ended():
    events = inspect(SPECTRUM, TASK, Script([ZOOM_TURN + "and more words", ANSWER], pieces=40))
    called = next(e for e in events if isinstance(e, ToolCall))
    assert called.call.arguments["wavelength_range"] == [6500, 6600]
    assert isinstance(next(events), Text)


def test_a_lone_surrogate_is_replaced_before_it_is_stored():
    broken = ANSWER.replace("emission", "emi\ud800ssion")
    trajectory = run(SPECTRUM, TASK, Script([broken]))
    assert trajectory.steps[0].text == "It is in emi\ufffdssion."
    assert Trajectory.from_json(trajectory.to_json()) == trajectory


WAVELENGTH = np.linspace(4000.0, 7000.0, 80)
FLUX = np.sin(WAVELENGTH / 50.0) + 2.0


def a_spectrum(**changes) -> Spectrum:
    return Spectrum(**{"wavelength": WAVELENGTH, "flux": FLUX, "ivar": np.ones(80), **changes})


def test_every_published_tool_answer_is_reproduced_exactly(shared: Path, monkeypatch):
    # The text does not depend on the pixels, which tests/agent/test_plot.py checks; drawing all takes half a minute.
    def check_without_drawing(wavelength, flux, window, title):
        pixels_to_draw(wavelength, flux, window)
        return "picture"

    monkeypatch.setattr(tool, "draw", check_without_drawing)
    folder = shared / "conformance"
    arrays = np.load(folder / "plots" / "spectra.npz")
    cases = [json.loads(line) for line in (folder / "tool_cases.jsonl").read_text(encoding="utf-8").splitlines()]
    assert cases
    for case in cases:
        wavelength, flux = (arrays[f"{case['spectrum']}.{what}"] for what in ("wavelength", "flux"))
        filled = np.interp(wavelength, wavelength[np.isfinite(flux)], flux[np.isfinite(flux)])
        spectrum = Spectrum(wavelength, filled, np.ones(flux.size), redshift=case["redshift"])
        result = tool.call(spectrum, case["arguments"])
        assert (result.text, result.image is not None, result.ok) == (case["text"], case["image"], case["success"])


def test_the_picture_is_the_published_one_of_the_window_in_the_rest_frame():
    result = tool.call(a_spectrum(), {"wavelength_range": [5000, 6000], "label": "Hβ"})
    assert result.picture == plot.pixels_sha256(plot.draw(WAVELENGTH, FLUX, (5000, 6000)))
    assert (result.window, result.frame, result.z) == ((5000.0, 6000.0), "observed", 0.0)
    result = tool.call(a_spectrum(redshift=0.25), {"wavelength_range": [4000, 4800]})
    assert result.picture == plot.pixels_sha256(plot.draw(WAVELENGTH / 1.25, FLUX, (4000, 4800)))
    assert (result.frame, result.z) == ("rest", 0.25)
    at_rest = a_spectrum(frame="rest", redshift=0.25)
    assert tool.tool_wavelength(at_rest).tolist() == WAVELENGTH.tolist()
    assert tool.frame_of(at_rest) == ("rest", 0.25)


@pytest.mark.parametrize("redshift", [None, 0.0])
def test_no_redshift_and_a_redshift_of_zero_leave_the_spectrum_where_it_is(redshift):
    assert tool.frame_of(a_spectrum(redshift=redshift)) == ("observed", 0.0)
    assert tool.tool_wavelength(a_spectrum(redshift=redshift)).tolist() == WAVELENGTH.tolist()


def test_the_overview_is_the_tools_full_picture_without_the_file_name():
    named = a_spectrum(redshift=0.1, name="spec-1-2-3.fits")
    assert plot.pixels_sha256(tool.overview(named)) == tool.call(named, {}).picture
    assert plot.pixels_sha256(tool.overview(named)) == tool.call(a_spectrum(redshift=0.1), {}).picture


def test_a_long_answer_is_cut_in_its_middle():
    text = tool.call(a_spectrum(), {"wavelength_range": ["x" * 5000]}).text
    assert len(text) == 1024 + len("...(truncated)...")
    assert text[512:].startswith("...(truncated)...")
    assert text.endswith("available data range [4000.0, 7000.0].")


@pytest.mark.parametrize("arguments", [None, [5000, 6000]])
def test_arguments_that_are_no_object_return_an_error_as_text(arguments):
    result = tool.call(a_spectrum(), arguments)
    assert not result.ok
    assert result.text.startswith("Error when executing tool: ")


def test_a_call_of_another_tool_returns_an_error_as_text():
    assert tool.call(a_spectrum(), {}, name="image_zoom").text == "Error when executing tool: 'image_zoom'"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(requested=json_values.filter(lambda v: v is not None), label=json_values)
def test_any_arguments_of_the_model_are_answered(requested, label):
    result = tool.call(a_spectrum(), {"wavelength_range": requested, "label": label})
    assert result.ok == (result.image is not None)
    assert result.text


@pytest.mark.parametrize("window", [[5000, 10**400], [-(10**400), 6000], [5000, float("inf")]])
def test_numbers_of_any_size_are_answered(window):
    assert tool.call(a_spectrum(), {"wavelength_range": window}).text


def test_the_system_text_is_that_of_the_published_template(shared: Path):
    cases = (shared / "conformance" / "chat_template_cases.jsonl").read_text(encoding="utf-8").splitlines()
    with_tools = [case for case in map(json.loads, cases) if case["tools"]]
    assert with_tools
    for case in with_tools:
        assert case["tools"] == [tool.TOOL_SCHEMA]
        system = case["text"].partition("<|im_end|>")[0]
        assert system.removeprefix("<|im_start|>system\n").endswith(tool.TOOL_BLOCK.lstrip("\n"))
