"""An inspection by another agent while it runs: the calls on one spectrum so far, and the trace that they make."""

from __future__ import annotations

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from agent import tool
from agent.loop import MAX_CHARACTERS
from agent.mcp.desk import Client, McpError
from agent.plot import pixels_sha256
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.text import LONE_SURROGATE
from agent.tool import MEASURE, Observation
from agent.trajectory import Answer, Drafter, Step, Think, Trajectory, Verdict, Zoom
from agent.trajectory.from_inspection import from_inspection, task_settings
from agent.trajectory.steps import log_odds

MOST_OPEN = 32
"""Spectra that a client may have open; the next one closes the oldest."""
MOST_CALLS = 200
"""Calls on one handle. An inspection of the published agent has at most eight turns."""


class Inspection:
    """The calls on one spectrum. Calls of several threads are recorded one after the other, under ``lock``."""

    def __init__(self, spectrum: Spectrum) -> None:
        self.spectrum = spectrum
        self.overview = tool.overview(spectrum)
        self.lock = threading.Lock()
        self._steps: list[Step] = []

    def add(self, reasoning: str, name: str, arguments: Mapping[str, Any], observation: Observation) -> None:
        """Append a thought and the call that it led to.

        :param arguments: JSON values only (``json_values``)
        """
        number = len(self._steps)
        zoom = Zoom(
            id=f"s{number + 2}",
            arguments=arguments,
            frame=observation.frame,
            z=observation.z,
            medium=self.spectrum.medium,
            observation=observation.text,
            ok=observation.ok,
            picture=observation.picture,
            tool=name,
        )
        self._steps += [Think(f"s{number + 1}", reasoning), zoom]

    def check(self) -> None:
        """:raises McpError: the handle has had as many calls as it may"""
        if len(self._steps) >= 2 * MOST_CALLS:
            raise McpError(f"handle: found {MOST_CALLS} calls on it, expected at most so many; submit your verdict")

    def trajectory(
        self, task: Task, client: Client, reasoning: str, verdict: Verdict, explanation: str, confidence: float | None
    ) -> Trajectory:
        """Return the trace so far with its answer. The inspection stays as it is and can be continued."""
        number = len(self._steps)
        steps = (
            *self._steps,
            Think(f"s{number + 1}", reasoning),
            Answer(f"s{number + 2}", verdict, explanation, log_odds(verdict, confidence)),
        )
        settings = {"client": client.name, "client_version": client.version, **task_settings(task), MEASURE: True}
        return from_inspection(
            self.spectrum,
            task,
            steps,
            Drafter("model", client.name, settings),
            overview=pixels_sha256(self.overview),
        )


def json_values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as a trajectory can keep them: NaN and the infinities become text, half characters U+FFFD.

    :raises McpError: they are longer, or nest deeper, than any call of ours
    """
    try:
        text = LONE_SURROGATE.sub("\ufffd", json.dumps(dict(arguments), ensure_ascii=False))
        if len(text) <= MAX_CHARACTERS:
            kept: dict[str, Any] = json.loads(text, parse_constant=str)
            return kept
    except (ValueError, RecursionError):
        pass
    raise McpError(f"arguments: found values that nest too deep or are too long, expected {MAX_CHARACTERS} characters")


class Handles:
    """The open inspections of each person: known by names that nobody can guess, limited in number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[str | None, OrderedDict[str, Inspection]] = {}

    def open(self, client: Client, inspection: Inspection) -> str:
        """Return a new handle. The oldest is closed if there are too many."""
        handle = secrets.token_urlsafe(16)
        with self._lock:
            opened = self._of.setdefault(client.person, OrderedDict())
            opened[handle] = inspection
            if len(opened) > MOST_OPEN:
                opened.popitem(last=False)
        return handle

    def get(self, client: Client, handle: object) -> Inspection:
        """Return an inspection. :raises McpError: no such handle is open"""
        with self._lock:
            opened = self._of.get(client.person, OrderedDict())
            if isinstance(handle, str) and handle in opened:
                return opened[handle]
        raise McpError(
            f"handle: found {handle!r:.60}, expected one that open_spectrum gave in this session. A handle is closed "
            f"when {MOST_OPEN} more spectra were opened after it; call open_spectrum again."
        )
