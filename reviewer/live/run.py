"""A run of the Live tab: one policy inspects one spectrum, once or several times, while pages watch.

Each sample is an ``agent.loop.inspect`` in a thread. One more thread per run publishes the events: it encodes
pictures and measures hints while the policies continue.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any, Literal

from PIL import Image

from agent import loop, tool
from agent.consensus import consensus
from agent.consensus import to_json as consensus_to_json
from agent.conversation import Conversation, Piece, Policy, PolicyAround, PolicyError, Stop
from agent.hints import thought_on, windows_after
from agent.language import deferred
from agent.measure import Window
from agent.policies import Sampling
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.messages import png_of
from agent.trajectory.steps import Step, Zoom, step_to_json
from agent.trajectory.tags import Call
from reviewer.errors import message
from reviewer.live.events import Event, Log
from reviewer.live.trials import LiveTrial

log = logging.getLogger("spec_o3")

ASK = "ask a person"
"""The outcome if the samples' answers are not reliable without a person's judgement."""

State = Literal["running", "done", "stopped", "failed"]
_Happened = loop.Event | Drafter | Exception
Hints = Callable[[Spectrum, Zoom, Task | None, str, tuple[Window, ...] | None], list[dict[str, str]]]
"""Measures the hints of a zoom; the text is the thought on it."""


@dataclass(frozen=True)
class RunSettings:
    """What a run does. ``at_once`` samples run at the same time; ``drafter`` is the model, as far as it is known
    without a request to the server."""

    bench: str
    spectrum: Spectrum
    task: Task
    policy: str
    drafter: Drafter
    sampling: Sampling
    samples: int = 1
    max_turns: int = loop.MAX_TURNS
    at_once: int = 1


class _Guarded(PolicyAround):
    """A policy whose internal errors end its turn with a message, as a server's errors do; details go to the log."""

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        try:
            yield from self._policy.turn(conversation)
        except Exception as fault:
            raise PolicyError(_message(fault)) from fault


class Sample:
    """The present state of one inspection. Only the publishing thread writes it, except ``began``."""

    def __init__(self, number: int, policy: Policy, settings: RunSettings) -> None:
        self.number = number
        self.policy = _Guarded(policy)
        spectrum = settings.spectrum
        self.trajectory = Trajectory(
            task=settings.task.key,
            prompt=settings.task.prompt,
            spectrum_name=spectrum.name,
            spectrum_sha256=spectrum.sha256,
            steps=(),
            drafter=settings.drafter,
            redshift=spectrum.redshift,
            medium=spectrum.medium,
            simulated=bool(spectrum.meta.get("simulated", False)),
        )
        self.hints: dict[str, list[dict[str, str]]] = {}
        self.texts: dict[int, str] = {}
        """What the policy wrote, by turn."""
        self.trial: LiveTrial | None = None
        self.ended: loop.Reason | None = None
        self.began = time.monotonic()

    @property
    def verdict(self) -> str | None:
        """YES or NO; None as long as it has not answered."""
        answer = self.trajectory.answer
        return None if answer is None else answer.verdict

    def add(self, step: Step) -> None:
        self.trajectory = self.trajectory.with_steps((*self.trajectory.steps, step))


class Run:
    """One run and its state. ``id`` cannot be guessed."""

    def __init__(self, owner: str, settings: RunSettings, policies: Sequence[Policy], hints: Hints) -> None:
        """Prepare a run with one policy per sample."""
        self.id = secrets.token_urlsafe(12)
        self.owner = owner
        self.settings = settings
        self.started = datetime.now(UTC)
        self.stop = Stop()
        self.log = Log()
        self.state: State = "running"
        self.samples = tuple(Sample(number, policy, settings) for number, policy in enumerate(policies))
        self.pictures: dict[str, bytes] = {}
        self.consensus: dict[str, Any] | None = None
        self.displaced: list[str] = []
        """Runs of its owner that were dropped to keep the limits when it started."""
        self._hints = hints
        self._waiting = iter(self.samples)
        self._taking = threading.Lock()
        self._happened: SimpleQueue[tuple[Sample, _Happened]] = SimpleQueue()

    def start(self) -> None:
        """Start the threads, in the language of the context; they do not keep the program from ending."""
        threading.Thread(target=copy_context().run, args=(self._publish,), name=f"run {self.id}", daemon=True).start()
        for _ in range(min(self.settings.at_once, len(self.samples))):
            threading.Thread(
                target=copy_context().run, args=(self._work,), name=f"sample of {self.id}", daemon=True
            ).start()

    @property
    def outcome(self) -> str | None:
        """YES, NO or ``ASK``; None while it runs and if no sample answered."""
        if self.consensus is None:
            return None
        return self.consensus["verdict"] or ASK

    @property
    def has_answer(self) -> bool:
        """Whether at least one sample answered YES or NO."""
        return any(sample.verdict for sample in self.samples)

    @property
    def size(self) -> int:
        """The size of its pictures and of its spectrum in bytes."""
        spectrum = self.settings.spectrum
        arrays = (spectrum.wavelength, spectrum.flux, spectrum.ivar, spectrum.mask)
        return sum(map(len, tuple(self.pictures.values()))) + sum(array.nbytes for array in arrays)

    def end(self) -> None:
        """Stop its samples and their trials, as far as they are running."""
        self.stop.set()
        for sample in self.samples:
            if sample.trial is not None:
                sample.trial.stop.set()

    # ---- in the policies' threads

    def _work(self) -> None:
        while True:
            with self._taking:
                sample = next(self._waiting, None)
            if sample is None:
                return
            sample.began = time.monotonic()
            try:
                for happened in self._inspect(sample):
                    self._happened.put((sample, happened))
            except Exception as fault:
                self._happened.put((sample, fault))

    def _inspect(self, sample: Sample) -> Iterator[_Happened]:
        settings = self.settings
        if self.stop.is_set:
            yield loop.Ended("stopped", sample.trajectory, deferred("stopped before it started"))
            return
        for event in loop.inspect(settings.spectrum, settings.task, sample.policy, settings.max_turns, self.stop):
            yield event
            if isinstance(event, loop.Started):
                # May send a request to the server, so only once there is something to show.
                yield sample.policy.drafter

    # ---- in the publishing thread

    def _publish(self) -> None:
        running = len(self.samples)
        while running:
            sample, happened = self._happened.get()
            if sample.ended is not None:
                continue
            try:
                event = self._event_of(sample, happened)
            except Exception as fault:
                event = self._event_of(sample, fault)
            if event is not None:
                self.log.add({**event, "sample": sample.number})
            running -= sample.ended is not None
        self._end()

    def _event_of(self, sample: Sample, happened: _Happened) -> Event | None:
        """Store what happened, and return its event for the pages; None if they get none."""
        match happened:
            case loop.Started():
                self._keep(happened.picture, happened.overview)
                sample.trajectory = replace(sample.trajectory, overview=happened.picture)
                drafter = sample.trajectory.to_json()["drafter"]
                seen = {"overview": happened.picture, "prompt": happened.prompt}
                return {"kind": "started", **seen, "max_turns": happened.max_turns, "drafter": drafter}
            case Drafter():
                sample.trajectory = replace(sample.trajectory, drafter=happened)
                return None
            case loop.Text():
                sample.texts[happened.turn] = sample.texts.get(happened.turn, "") + happened.text
                return {"kind": "said", "turn": happened.turn, "text": happened.text}
            case loop.ToolCall():
                return {"kind": "called", "turn": happened.turn, **self._call(happened.call)}
            case loop.Thought():
                return {**_step(sample, "thought", happened.turn, happened.think), **self._claims(sample)}
            case loop.ToolResult():
                return self._tool_result(sample, happened)
            case loop.Answered():
                return _step(sample, "answered", happened.turn, happened.answer)
            case loop.Ended():
                sample.trajectory = happened.trajectory
                return _ended(sample, happened)
            case Exception():
                return _ended(sample, loop.Ended("policy failed", sample.trajectory, _message(happened)))

    def _call(self, call: Call) -> Event:
        frame, z = tool.frame_of(self.settings.spectrum)
        measures = call.name == tool.MEASURE
        zoom = Zoom("", call.arguments, frame, z, tool=tool.MEASURE if measures else tool.TOOL_NAME)
        return {
            "window": zoom.window and list(zoom.window),
            "label": zoom.label,
            "frame": frame,
            "z": z,
            "tool": zoom.tool,
        }

    def _tool_result(self, sample: Sample, result: loop.ToolResult) -> Event:
        zoom = result.zoom
        if result.picture is not None and zoom.picture is not None:
            self._keep(zoom.picture, result.picture)
        hints = self._measured(sample, zoom, "") if zoom.drawn else []
        sample.hints[zoom.id] = hints
        event = _step(sample, "looked", result.turn, zoom)
        return {**event, "picture": zoom.picture, "hints": hints}

    def _claims(self, sample: Sample) -> Event:
        """Measure the hints of the last zoom again, with the claims of the thought on it."""
        zoom = sample.trajectory.zooms[-1] if sample.trajectory.zooms else None
        if zoom is None or not zoom.drawn:
            return {}
        thought = thought_on(sample.trajectory, zoom)
        sample.hints[zoom.id] = self._measured(sample, zoom, thought)
        return {"zoom": zoom.id, "hints": sample.hints[zoom.id]}

    def _measured(self, sample: Sample, zoom: Zoom, thought: str) -> list[dict[str, str]]:
        others = windows_after(sample.trajectory, zoom)
        return self._hints(self.settings.spectrum, zoom, self.settings.task, thought, others)

    def _keep(self, sha256: str, picture: Image.Image) -> None:
        if sha256 not in self.pictures:
            self.pictures[sha256] = png_of(picture)

    def _end(self) -> None:
        reasons = [sample.ended for sample in self.samples]
        traces = [sample.trajectory for sample in self.samples]
        answered = any(trace.answer is not None for trace in traces)
        if "stopped" in reasons:
            state: State = "stopped"
        else:
            state = "failed" if all(reason == "policy failed" for reason in reasons) else "done"
        if answered or state == "done":
            try:
                agreed = consensus(traces, self.settings.spectrum, self.settings.task)
                self.consensus = consensus_to_json(agreed)
                self.log.add({"kind": "consensus", **self.consensus})
            except Exception as fault:
                log.error("no consensus of run %s", self.id, exc_info=fault)
        self.state = state
        self.log.add({"kind": "over", "state": state})


def _step(sample: Sample, kind: str, turn: int, step: Step) -> Event:
    sample.add(step)
    return {"kind": kind, "turn": turn, "step": step_to_json(step)}


def _ended(sample: Sample, ended: loop.Ended) -> Event:
    sample.ended = ended.reason
    return {
        "kind": "ended",
        "reason": ended.reason,
        "detail": ended.detail,
        "faults": list(ended.trajectory.faults),
        "usage": asdict(ended.usage),
        "seconds": round(time.monotonic() - sample.began, 3),
        "drafter": ended.trajectory.to_json()["drafter"],
    }


def _message(fault: Exception) -> str:
    return fault.sentence if isinstance(fault, PolicyError) else message(fault)
