"""The ``measure`` tool: the numbers of the hints, in words; and an inspection that uses it, wherever a trace goes."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from agent.batch.report import markdown
from agent.hints import hints, windows_after
from agent.hints.measuring import call as measure
from agent.loop import run
from agent.policies.roster import Replay
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.tool import MEASURE_SCHEMA, TOOL_BLOCK, TOOL_SCHEMA, tool_block
from agent.trajectory import Drafter, Trajectory, Zoom
from reviewer.blind.judge.prompts import _step
from reviewer.blind.sheet import trace_of
from reviewer.exchange.annotations.tasks import trace_in_words
from reviewer.pictures import revise
from tests.support.model_server import answer, look
from training.data.export_folder import stated_in

CV, DWARF = simulate("cv", "LAMOST", 30, 3), simulate("gm", "LAMOST", 40, 1)
TASK = load()["cv"]


def measuring(**arguments: object) -> str:
    call = json.dumps({"name": "measure", "arguments": arguments})
    return f"<think>How strong?</think>\n<tool_call>\n{call}\n</tool_call>"


class Scripted:
    """Writes these turns."""

    def __init__(self, *turns: str, measure: bool = True) -> None:
        self.turns, self.measure, self.seen = turns, measure, []
        self.drafter = Drafter("model", "scripted", {"measure": True} if measure else {})

    def turn(self, conversation):
        self.seen.append(conversation)
        yield self.turns[len(conversation.exchanges)]


TURNS = (look(6400, 6700), measuring(feature="Hα"), measuring(feature="Hq"), answer("YES"))


def test_the_number_is_the_one_of_the_hint_with_its_stretch_and_promise():
    seen = measure(CV, {"feature": "H-alpha"})
    (hint,) = (h for h in hints(CV, Zoom("", {"wavelength_range": [6400, 6700], "label": "Hα"})) if "EW" in h.text)
    assert seen.text.startswith(f"Hα at 6564.6 Å (vacuum, as observed). Certain: {hint.text}")
    for part in (hint.why, "σ of its noise", "EW summed over 6", "continuum is a straight line", "Errors are 1σ"):
        assert part in seen.text
    assert (seen.ok, seen.image, seen.window) == (True, None, None)
    # By its wavelength in either medium it is the same line.
    assert {measure(CV, {"wavelength": w, "element": "H I"}).text for w in (6564.6, 6562.8)} == {seen.text}


@pytest.mark.parametrize(
    ("spectrum", "arguments", "ok", "part"),
    [
        (DWARF, {"feature": "TiO 7054"}, True, "Certain: TiO bands: TiO5 "),
        (CV, {"feature": "TiO5"}, True, "(vacuum, as observed). Measured: "),
        (CV, {"feature": "4000 Å break"}, True, "Absent: Dn(4000) "),
        (CV, {"feature": "Lyα"}, True, "outside the data, which cover 3700–90"),
        (replace(CV, redshift=0.01), {"feature": "Hα"}, True, "(vacuum, rest frame)"),
        (CV, {"wavelength": 5432.1, "element": "Fe I"}, True, "not in the list, so nothing is promised"),
        (CV, {"feature": "Hq"}, False, "Nearest names: "),
        (CV, {"feature": "Balmer"}, False, "can be several, name one of them: "),
        (CV, {"feature": "x" * 5000}, False, "Nearest names: Hα, He II 4686"),
        (CV, {"wavelength": 10**400, "element": "Fe I"}, False, "from 900 to 30 000"),
        (CV, {"wavelength": float("nan"), "element": "Fe I"}, False, "from 900 to 30 000"),
        (CV, {"wavelength": 5000, "element": ["Fe I"]}, False, "expected an ion such as"),
        (CV, {}, False, "found None, expected the name"),
        (CV, [], False, "found list, expected an object"),
    ],
)
def test_bands_places_and_wrong_calls_are_answers_in_words(spectrum: Spectrum, arguments, ok, part):
    seen = measure(spectrum, arguments)
    assert (seen.ok, part in seen.text, len(seen.text) <= 1024) == (ok, True, True), seen.text
    assert seen.text.startswith("Error: ") is not ok


def test_an_inspection_measures_and_its_trace_is_whole_everywhere():
    policy = Scripted(*TURNS)
    trace = run(CV, TASK, policy)
    assert [c.measure for c in policy.seen] == [True] * 4
    zoom, measured, wrong = trace.zooms
    assert (measured.tool, measured.ok, measured.picture, measured.window, measured.label) == (
        "measure",
        True,
        None,
        None,
        "Hα",
    )
    assert (wrong.ok, wrong.observation[:16]) == (False, "Error: no line, ")
    assert trace.faults == ()
    assert trace.problems() == []
    assert Trajectory.from_json(json.loads(json.dumps(trace.to_json()))) == trace
    assert trace.drafter.settings["measure"] is True
    # One picture each for the overview and the zoom; the block has both tools, each of which training accepts.
    assert len(trace.pictures) == 2
    row = trace.to_sharegpt(["a.png", "b.png"])
    system = row["conversations"][0]["value"]
    assert system.endswith(tool_block(measure=True))
    assert stated_in(system) == TOOL_SCHEMA
    assert Trajectory.from_sharegpt(row, trace.pictures).steps == trace.steps
    assert '{"name": "measure", "arguments": {"feature": "Hα"}}' in row["conversations"][4]["value"]
    # No hint, no window, never a wrong one.
    assert hints(CV, measured, TASK) == ()
    assert windows_after(trace, zoom) == ()
    assert "Measurement: Hα. Hα at" in trace_in_words(trace)
    assert "**Tool: measure**: Hα" in markdown(trace, CV, {}, {})
    assert "s4, a measurement, called “Hα”. The tool answered: Hα at" in _step(trace_of(trace).steps[3])
    again = run(CV, TASK, Replay(trace))
    assert again.steps == trace.steps


def test_a_reviewer_who_changes_what_is_measured_gets_the_answer_of_the_tool():
    trace = run(CV, TASK, Scripted(*TURNS))
    gallery = SimpleNamespace(spectrum=lambda sha256: CV)
    steps = trace.to_json()["steps"]
    assert revise(trace, steps, gallery) == trace
    steps[3] |= {"arguments": {"feature": "Hβ"}, "observation": "Hβ is absent."}
    changed = revise(trace, steps, gallery).steps[3]
    assert changed == replace(
        trace.steps[3], arguments={"feature": "Hβ"}, observation=measure(CV, {"feature": "Hβ"}).text
    )


def test_without_the_offer_a_call_is_a_fault_and_the_published_answer():
    trace = run(CV, TASK, Scripted(*TURNS[1:], measure=False))
    assert trace.faults[0] == "turn 1: a call of 'measure', which was not offered"
    assert trace.zooms[0].observation == "Error when executing tool: 'measure'"
    assert not trace.measure
    assert "tool" not in trace.to_json()["steps"][1]
    assert tool_block() == TOOL_BLOCK
    assert json.dumps(MEASURE_SCHEMA) not in TOOL_BLOCK
