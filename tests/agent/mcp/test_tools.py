from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from agent.hints import measuring
from agent.mcp.desk import Client
from agent.mcp.inspection import MOST_CALLS, MOST_OPEN, Handles
from agent.mcp.roots import Roots
from agent.mcp.server import server
from agent.mcp.tools import Tools
from agent.plot import pixels_sha256
from agent.spectrum import Exposure, Spectrum
from agent.spectrum.readers import own
from agent.tool import TOOL_NAME, overview
from agent.trajectory import Answer, Think, Zoom
from agent.trajectory.steps import log_odds
from tests.support.services.agent_client import KnownSpectra, Tray, agent_client, handle_in

WAVELENGTH = np.linspace(4000.0, 8000.0, 2500)
FLUX = 1.0 + 0.8 * np.exp(-0.5 * ((WAVELENGTH - 6564.6) / 6.0) ** 2) + np.random.default_rng(1).normal(0, 0.02, 2500)
SPECTRUM = Spectrum(WAVELENGTH, FLUX, np.full(2500, 2500.0), name="a star")
LEAK = "carbonstar"
TELLING = {
    "survey": f"simulated {LEAK}",
    "name": f"{LEAK}.fits",
    "ids": {f"id {LEAK}": LEAK},
    "ra": 123.456789,
    "dec": -12.3456789,
    "snr": {LEAK: 5.0},
    "catalogue_class": LEAK,
    "meta": dict.fromkeys(("class", "subclass", "object", "simulated", "medium_set_by", f"of {LEAK}"), LEAK),
    "model": np.full(2500, 7.0),
    "exposures": (Exposure(LEAK, WAVELENGTH, FLUX, np.ones(2500)),),
}
"""Each field of a spectrum that may tell the class, with a value that does."""


def submitted(agent, handle: str, **changes):
    given = {"task": "cv", "verdict": "YES", "explanation": "Broad Hα in emission."} | changes
    return agent.call("submit_verdict", handle=handle, **given)


def without_protocol():
    """The tools themselves, for values that no client can send, and what is submitted to them."""
    tools, handles = Tools(tray := Tray(), KnownSpectra(x=SPECTRUM)), Handles()

    def call(name, person=None, **arguments):
        return tools.call(name, {"reasoning": "because", **arguments}, Client("a", person=person), handles)

    return call, tray


def test_the_trace_of_a_verdict_has_each_call_with_its_reasoning():
    tray = Tray()
    with agent_client(server(tray, KnownSpectra(x=SPECTRUM)), name="claude-code") as agent:
        opened = agent.call("open_spectrum", path="x")
        handle = handle_in(opened.text)
        window = agent.call(
            TOOL_NAME, handle=handle, reasoning="Is Hα broad?", wavelength_range=[6500, 6600], label="Hα"
        )
        agent.call(TOOL_NAME, handle=handle, reasoning="Below?", wavelength_range=[100, 200])
        measured = agent.call("measure", handle=handle, reasoning="How strong?", feature="Hα")
        assert submitted(agent, handle, reasoning="That is it.", confidence=0.9).text.endswith("item 1.")
    (trace,) = tray.traces
    assert opened.picture == trace.overview == pixels_sha256(overview(SPECTRUM))
    assert trace.zooms == (
        Zoom("s2", {"wavelength_range": [6500, 6600], "label": "Hα"}, observation=window.text, picture=window.picture),
        Zoom("s4", {"wavelength_range": [100, 200]}, observation=trace.zooms[1].observation, ok=False),
        Zoom("s6", {"feature": "Hα"}, observation=measured.text, tool="measure"),
    )
    assert [s.text for s in trace.steps if isinstance(s, Think)] == [
        "Is Hα broad?",
        "Below?",
        "How strong?",
        "That is it.",
    ]
    assert trace.answer == Answer("s8", "YES", "Broad Hα in emission.", pytest.approx(log(9)))
    assert (trace.drafter.kind, trace.drafter.name) == ("model", "claude-code")
    assert trace.drafter.settings["client_version"] == "1.2"
    assert (trace.task, trace.prompt, trace.spectrum_sha256) == ("cv", tray.known["cv"].prompt, SPECTRUM.sha256)
    assert trace.problems() == []
    assert type(trace).from_json(json.loads(json.dumps(trace.to_json()))) == trace


def test_an_inspection_can_be_continued_after_a_verdict():
    tray = Tray()
    with agent_client(server(tray, KnownSpectra(x=SPECTRUM))) as agent:
        handle = agent.open("x")
        submitted(agent, handle)
        agent.call(TOOL_NAME, handle=handle, wavelength_range=[4500, 5000])
        submitted(agent, handle, task="CC", verdict="NO")
    first, second = tray.traces
    assert (len(first.zooms), len(second.zooms)) == (0, 1)
    assert (first.answer.verdict, second.answer.verdict, second.task) == ("YES", "NO", "cc")
    assert first.answer.score is None


@pytest.mark.parametrize(
    ("verdict", "confidence", "score"),
    [("YES", 0.5, 0.0), ("YES", 0.8, log(4)), ("NO", 0.8, -log(4)), ("YES", 1, log(999)), ("NO", 0, log(999))],
)
def test_a_confidence_is_the_log_odds_of_yes(verdict, confidence, score):
    assert log_odds(verdict, confidence) == pytest.approx(score)


@pytest.mark.parametrize("reasoning", [None, "", " \n", 7, ["why"]])
def test_a_call_without_reasoning_is_refused_with_the_reason(reasoning):
    with agent_client(server(tray := Tray(), KnownSpectra(x=SPECTRUM))) as agent:
        handle = agent.open("x")
        for tool, arguments in {
            "open_spectrum": {"path": "x"},
            TOOL_NAME: {"handle": handle, "wavelength_range": [5000, 6000]},
            "measure": {"handle": handle, "feature": "Hα"},
            "submit_verdict": {"handle": handle, "task": "cv", "verdict": "YES", "explanation": "x"},
        }.items():
            answered = agent.call(tool, **arguments, reasoning=reasoning)
            assert answered.is_error
            assert "why you make this call" in answered.text
            assert answered.picture is None
        submitted(agent, handle)
    assert tray.traces[0].zooms == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"task": "no task"},
        {"task": 7},
        {"verdict": "yes"},
        {"verdict": ["YES"]},
        {"explanation": " "},
        {"confidence": 1.5},
        {"confidence": True},
        {"confidence": "high"},
        {"handle": "x"},
        {"handle": ["x"]},
        {"handle": None},
    ],
)
def test_a_verdict_with_a_wrong_field_is_refused_by_its_name(changes):
    with agent_client(server(tray := Tray(), KnownSpectra(x=SPECTRUM))) as agent:
        given = {"handle": agent.open("x")} | changes
        answered = submitted(agent, **given)
    assert answered.is_error
    assert answered.text.startswith(f"Error: {next(iter(changes))}: found ")
    assert tray.traces == []


def test_clients_do_not_see_each_others_handles():
    spectra = KnownSpectra(x=SPECTRUM)
    one_server = server(Tray(), spectra)
    with agent_client(one_server) as first, agent_client(one_server) as second:
        handle = first.open("x")
        assert second.call("measure", handle=handle, feature="Hα").text.startswith("Error: handle: found")
    call, _ = without_protocol()  # as over HTTP, where one run of a server has many people
    handle = handle_in(call("open_spectrum", path="x", person="AB").text)
    answers = [call("measure", handle=handle, feature="Hα", person=person).ok for person in ("AB", "CD", None)]
    assert answers == [True, False, False]


def test_the_oldest_handle_is_closed_when_too_many_are_open():
    with agent_client(server(Tray(), KnownSpectra(x=SPECTRUM))) as agent:
        handles = [agent.open("x") for _ in range(MOST_OPEN + 1)]
        assert len(set(handles)) == len(handles)
        assert f"when {MOST_OPEN} more spectra" in agent.call("measure", handle=handles[0], feature="Hα").text
        assert not agent.call("measure", handle=handles[1], feature="Hα").is_error


def test_a_handle_has_a_limited_number_of_calls():
    with agent_client(server(Tray(), KnownSpectra(x=SPECTRUM))) as agent:
        handle = agent.open("x")
        answers = [agent.call(TOOL_NAME, handle=handle, wavelength_range="x").text for _ in range(MOST_CALLS + 1)]
        assert "submit your verdict" in answers[-1]
        assert "submit your verdict" not in answers[-2]
        assert not submitted(agent, handle).is_error


def test_what_a_trace_cannot_hold_is_refused_or_kept_as_text():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    odd = [float("nan"), [float("inf"), 1], "\ud800", {"\udfff": "\ud800"}, "x" * 200_000, [10**5000], deep]
    call, tray = without_protocol()
    handle = handle_in(call("open_spectrum", path="x").text)
    for value in odd:
        assert not call(TOOL_NAME, handle=handle, wavelength_range=value, reasoning="a \ud800").ok
    assert call("submit_verdict", handle=handle, task="cv", verdict="NO", explanation="e").ok
    assert [zoom.arguments["wavelength_range"] for zoom in tray.traces[0].zooms] == [
        "NaN",
        ["Infinity", 1],
        "\ufffd",
        {"\ufffd": "\ufffd"},
    ]
    json.dumps(tray.traces[0].to_json(), allow_nan=False, ensure_ascii=False).encode()


def test_calls_at_once_are_each_recorded():
    call, tray = without_protocol()
    handle = handle_in(call("open_spectrum", path="x").text)
    numbers = range(24)
    threads = [
        threading.Thread(
            target=call, args=("measure",), kwargs={"handle": handle, "reasoning": f"{n}", "feature": "Hα"}
        )
        for n in numbers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert call("submit_verdict", handle=handle, task="cv", verdict="NO", explanation="e").ok
    thoughts = {step.text for step in tray.traces[0].steps if isinstance(step, Think)}
    assert thoughts == {f"{n}" for n in numbers} | {"because"}
    assert len({step.id for step in tray.traces[0].steps}) == 2 * len(numbers) + 2


def test_nothing_that_tells_the_class_is_served(tmp_path: Path):
    telling = replace(SPECTRUM, **TELLING)
    own.write(telling, tmp_path / "s1.fits")
    answers = []
    with ExitStack() as stack:
        sent = [
            stack.enter_context(agent_client(server(Tray(), KnownSpectra(x=spectrum))))
            for spectrum in (telling, replace(SPECTRUM, snr=TELLING["snr"]))
        ]
        sent.append(stack.enter_context(agent_client(server(Tray(), Roots([tmp_path])))))
        for agent in sent:
            opened = agent.call("open_spectrum", path="s1.fits" if agent is sent[-1] else "x")
            handle = handle_in(opened.text)
            calls = [agent.call("measure", handle=handle, feature=name) for name in ("Hα", "TiO 7054", "C2 5165", "?")]
            calls += [agent.call(TOOL_NAME, handle=handle, wavelength_range=window) for window in ([5e3, 6e3], "x")]
            calls += [submitted(agent, handle), agent.call("queue"), agent.call("queue", task="cc")]
            assert not calls[-1].is_error
            assert LEAK not in json.dumps([vars(each) for each in (opened, *calls)]).lower()
            assert "123.45" not in opened.text
            answers.append([vars(each) for each in calls])
    # What is served is independent of those fields.
    assert answers[0] == answers[1] == answers[2]


def test_the_guides_are_resources_by_the_key_of_the_task():
    with agent_client(server(tray := Tray(), KnownSpectra())) as agent:
        uris = [resource.uri for resource in agent.ask("list_resources").resources]
        assert uris == [*(f"spec-o3://tasks/{key}" for key in tray.known), "ui://spec-o3/spectrum.html"]
        (guide,) = agent.ask("read_resource", uris[0]).contents
        assert guide.text == tray.known["a"].prompt
        for method, given in {
            "read_resource": ("spec-o3://tasks/../x",),
            "call_tool": ("no_tool", {}),
        }.items():
            with pytest.raises(Exception, match=r"(found|Unknown)"):
                agent.ask(method, *given)


def test_an_unforeseen_error_is_a_result_without_its_words(caplog):
    class Broken(Tray):
        def queue(self, client):
            raise RuntimeError("a secret")

    with agent_client(server(Broken(), KnownSpectra())) as agent:
        answered = agent.call("queue")
    assert answered.is_error
    assert "secret" not in answered.text
    assert "a secret" in caplog.text


def test_measure_answers_as_without_mcp():
    with agent_client(server(Tray(), KnownSpectra(x=SPECTRUM))) as agent:
        handle = agent.open("x")
        for arguments in ({"feature": "Hα"}, {"feature": 7}, {}, {"wavelength": 6564.6, "element": "H"}):
            expected = measuring.call(SPECTRUM, arguments)
            answered = agent.call("measure", handle=handle, **arguments)
            assert (answered.text, answered.is_error, answered.picture) == (expected.text, not expected.ok, None)
