"""The tools: their descriptions for a client, and their answers. Each call is recorded in the inspection of its handle.

Answers are English and never translated: they are part of traces. Of a spectrum they tell its data, frame and medium;
name, header, catalogue and label stay here, as they may tell the class.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from agent import tasks, tool
from agent.errors import Refusal
from agent.hints import measuring
from agent.loop import MAX_CHARACTERS
from agent.mcp import app
from agent.mcp.desk import Client, Desk, McpError, Spectra
from agent.mcp.inspection import Handles, Inspection, json_values
from agent.plot import png_bytes
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.text import LONE_SURROGATE, one_line
from agent.tool import MEASURE, MEASURE_SCHEMA, TOOL_NAME, TOOL_SCHEMA
from agent.trajectory import Verdict

OPEN, SUBMIT, QUEUE = "open_spectrum", "submit_verdict", "queue"
WHY_REASONING = (
    "what you see so far and why you make this call. People review it as a step of your trace, so it cannot be left out"
)
INTERACTIVE = (OPEN, TOOL_NAME)
"""Tools whose result an interactive picture can show."""
_HANDLE = {"type": "string", "description": f"Handle of the spectrum, from {OPEN}"}
_REASONING = {"type": "string", "description": f"{WHY_REASONING[0].upper()}{WHY_REASONING[1:]}."}
_TASK = {"type": "string", "description": f'Key of the task, from {QUEUE}, for example "cv"'}


@dataclass(frozen=True)
class ToolAnswer:
    """The answer of a tool. ``picture`` is a PNG file, ``numbers`` returns what an interactive picture shows. ``ok`` is
    False if it is an error, which the model reads.
    """

    text: str
    picture: bytes | None = None
    ok: bool = True
    numbers: Callable[[], dict[str, Any]] | None = None


@dataclass(frozen=True)
class ToolDescription:
    """A tool as a client lists it. ``schema`` is the JSON schema of its arguments, for the model only: the tools check
    their arguments themselves, so that a wrong one gets the published answer.
    """

    name: str
    title: str
    description: str
    schema: Mapping[str, Any]
    only_reads: bool = True


def _object(required: tuple[str, ...], **properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _of_handle(schema: Mapping[str, Any], title: str) -> ToolDescription:
    """Return one of our tools with a handle and the reasoning as further arguments, and otherwise unchanged."""
    function = copy.deepcopy(schema["function"])
    parameters = function["parameters"]
    parameters["properties"] = {"handle": _HANDLE, "reasoning": _REASONING, **parameters["properties"]}
    parameters["required"] = ["handle", "reasoning", *parameters["required"]]
    return ToolDescription(function["name"], title, function["description"], parameters)


DESCRIPTIONS = (
    ToolDescription(
        OPEN,
        "Open a spectrum",
        "Opens a spectrum: a handle for the other tools, what its wavelengths mean, and a picture of all of it.",
        _object(
            ("path", "reasoning"),
            path={
                "type": "string",
                "description": "Path of a survey file relative to a folder of the server; or the name or SHA-256 of a "
                f"spectrum in its database, or an item as {QUEUE} names it",
            },
            target={
                "type": "string",
                "description": "Which spectrum of a file with several: its identifier, or #1, #2, ... by its place",
            },
            reasoning=_REASONING,
        ),
    ),
    _of_handle(TOOL_SCHEMA, "Show a window of the spectrum"),
    _of_handle(MEASURE_SCHEMA, "Measure a line or band"),
    ToolDescription(
        SUBMIT,
        "Submit the verdict",
        "Ends the inspection of a spectrum for one task: your verdict, with all calls on the handle, becomes a draft "
        "that people review.",
        _object(
            ("handle", "reasoning", "task", "verdict", "explanation"),
            handle=_HANDLE,
            reasoning=_REASONING,
            task=_TASK,
            verdict={"type": "string", "enum": ["YES", "NO"], "description": "Whether the object is of the class"},
            explanation={"type": "string", "description": "The evidence for the verdict, as seen and measured"},
            confidence={"type": "number", "description": "Probability that the verdict is right, 0 to 1"},
        ),
        only_reads=False,
    ),
    ToolDescription(
        QUEUE,
        "List tasks and waiting spectra",
        "Lists the tasks, and the spectra that wait for a first decision. With a task: its guide, what to look for.",
        _object((), task=_TASK),
    ),
)


class Tools:
    """Answers calls of any number of clients, in any thread."""

    def __init__(self, desk: Desk, spectra: Spectra) -> None:
        self._desk = desk
        self._spectra = spectra
        self._calls: Mapping[str, Callable[[Mapping[str, Any], Client, Handles], ToolAnswer]] = {
            OPEN: self._open,
            TOOL_NAME: self._window,
            MEASURE: self._measure,
            SUBMIT: self._submit,
            QUEUE: self._queue,
        }

    def call(self, name: str, arguments: Mapping[str, Any], client: Client, handles: Handles) -> ToolAnswer:
        """Answer one call as the model wrote it. A call that is refused is an error as answer.

        :raises KeyError: there is no tool of that name
        """
        answer = self._calls[name]
        try:
            return answer(arguments, client, handles)
        except Refusal as error:
            return ToolAnswer(f"Error: {error}", ok=False)

    def guide(self, name: object) -> Task:
        """Return the task of that key or alias. :raises McpError: there is none"""
        known = self._desk.tasks()
        task = tasks.find(known, name) if isinstance(name, str) else None
        if task is None:
            raise McpError(f"task: found {name!r:.60}, expected one of {', '.join(known)}")
        return task

    def _open(self, arguments: Mapping[str, Any], client: Client, handles: Handles) -> ToolAnswer:
        path = _text(arguments, "path", "a path relative to a folder of the server, or a name in its database", 1000)
        target = arguments.get("target")
        if target is not None and not isinstance(target, str | int):
            raise McpError(f"target: found {target!r:.60}, expected the identifier of a spectrum in the file, or #1")
        _text(arguments, "reasoning", WHY_REASONING)
        spectrum = self._spectra.find(path, None if target in (None, "") else str(target), client)
        if spectrum is None:
            raise McpError(
                f"path: found {path!r:.200}, which is neither a file below a folder of this server nor a spectrum in "
                f"its database; expected a path relative to such a folder, a name, a SHA-256 or an item of {QUEUE}"
            )
        inspection = Inspection(spectrum)
        handle = handles.open(client, inspection)
        name = one_line(path if target in (None, "") else f"{path} {target}")
        numbers = partial(app.numbers, spectrum, handle, None)
        return ToolAnswer(_about(spectrum, handle, name), png_bytes(inspection.overview), numbers=numbers)

    def _window(self, arguments: Mapping[str, Any], client: Client, handles: Handles) -> ToolAnswer:
        return _call(TOOL_NAME, tool.call, arguments, client, handles)

    def _measure(self, arguments: Mapping[str, Any], client: Client, handles: Handles) -> ToolAnswer:
        return _call(MEASURE, measuring.call, arguments, client, handles)

    def _submit(self, arguments: Mapping[str, Any], client: Client, handles: Handles) -> ToolAnswer:
        reasoning = _text(arguments, "reasoning", WHY_REASONING)
        inspection = handles.get(client, arguments.get("handle"))
        task = self.guide(arguments.get("task"))
        verdict = arguments.get("verdict")
        if verdict not in ("YES", "NO"):
            raise McpError(f"verdict: found {verdict!r:.60}, expected YES or NO")
        explanation = _text(arguments, "explanation", "the evidence for the verdict, as you saw and measured it")
        confidence = arguments.get("confidence")
        if confidence is not None and (
            isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1
        ):
            raise McpError(f"confidence: found {confidence!r:.60}, expected a probability from 0 to 1")
        with inspection.lock:
            trace = inspection.trajectory(task, client, reasoning, cast("Verdict", verdict), explanation, confidence)
        if client.only_reads:
            raise McpError("token: found one that may only read, expected one that may write. Nothing was submitted.")
        submitted = self._desk.submit(trace, inspection.spectrum, client)
        place = f"item {submitted.item}" + (f", {submitted.address}" if submitted.address else "")
        if not submitted.new:
            return ToolAnswer(f"This trace was submitted before: {place}. Nothing was added.")
        return ToolAnswer(f"Submitted as a draft for people to review: {place}.")

    def _queue(self, arguments: Mapping[str, Any], client: Client, handles: Handles) -> ToolAnswer:
        named = arguments.get("task")
        chosen = None if named in (None, "") else self.guide(named)
        waiting = {each.task: each for each in self._desk.queue(client)}
        lines = [] if chosen is None else [chosen.prompt, ""]
        for task in self._desk.tasks().values() if chosen is None else (chosen,):
            of_task = waiting.get(task.key)
            number, items = (of_task.number, of_task.items) if of_task else (0, ())
            some = f"; not yet submitted by you: {', '.join(items)}" if items else ""
            lines.append(f"{task.key} ({task.title}): {number} wait{some}")
        if chosen is None:
            lines.append(f"Call {QUEUE} with a task for its guide, and {OPEN} with an item as path.")
        return ToolAnswer("\n".join(lines))


def _call(
    name: str,
    answer: Callable[[Spectrum, object], tool.Observation],
    arguments: Mapping[str, Any],
    client: Client,
    handles: Handles,
) -> ToolAnswer:
    """Answer a call of one of our tools on the spectrum of its handle, and record it."""
    reasoning = _text(arguments, "reasoning", WHY_REASONING)
    inspection = handles.get(client, arguments.get("handle"))
    own = {key: value for key, value in arguments.items() if key not in ("handle", "reasoning")}
    kept = json_values(own)
    with inspection.lock:
        inspection.check()
        observation = answer(inspection.spectrum, own)
        observation = replace(observation, text=LONE_SURROGATE.sub("\ufffd", observation.text))
        inspection.add(reasoning, name, kept, observation)
    picture = None if observation.image is None else png_bytes(observation.image)
    is_shown = observation.ok and name in INTERACTIVE
    numbers = partial(app.numbers, inspection.spectrum, arguments["handle"], observation.window) if is_shown else None
    return ToolAnswer(observation.text, picture, observation.ok, numbers)


def _about(spectrum: Spectrum, handle: str, name: str) -> str:
    """Return what a client gets of a spectrum: nothing of it may tell the class.

    :param name: as the client named it
    """
    frame, z = tool.frame_of(spectrum)
    wavelength = tool.tool_wavelength(spectrum)
    medium = f"{spectrum.medium} (assumed)" if spectrum.meta.get("medium_assumed") else spectrum.medium
    moved = f", observed ones divided by 1 + z with z = {z:g}" if z and spectrum.frame == "observed" else ""
    return "\n".join(
        (
            f"handle: {handle}",
            f"spectrum: {name}",
            f"sha256: {spectrum.sha256}",
            f"wavelengths: {wavelength[0]:.1f} to {wavelength[-1]:.1f} Å, {medium}, {frame} frame{moved}",
            f"data: {len(spectrum)} pixels, some {spectrum.sampling:.3g} Å apart, S/N {spectrum.snr_typical:.3g}",
            f"The picture is of the whole spectrum. {TOOL_NAME} and {MEASURE} use the same wavelengths.",
        )
    )


def _text(arguments: Mapping[str, Any], key: str, expected: str, longest: int = MAX_CHARACTERS) -> str:
    """Return the text of an argument. :raises McpError: it is none, is empty or too long"""
    value = arguments.get(key)
    if not isinstance(value, str) or not value.strip():
        raise McpError(f"{key}: found {value!r:.60}, expected {expected}.")
    if len(value) > longest:
        raise McpError(f"{key}: found {len(value)} characters, expected at most {longest}.")
    return LONE_SURROGATE.sub("\ufffd", value)
