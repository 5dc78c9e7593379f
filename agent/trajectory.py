"""A trajectory as plain values: what was thought, looked at and answered about one spectrum.

Values only. They know nothing of databases, pages or servers. Identity (item, version, author) is
the store's concern. One JSON form, declared here once, is used to save, to send to the page, to
import and to export; ``schema`` names its version. The tagged text that models read and write is in
``agent.wire``.

A trajectory is a flat sequence of steps. An assistant turn is a run of think steps closed by one zoom
or by the answer, so a reviewer can add, move or remove a step without thinking about turns.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

SCHEMA = "spec-o3/trajectory/1"

Frame = Literal["observed", "rest"]
Medium = Literal["vacuum", "air"]
Verdict = Literal["YES", "NO"]
DrafterKind = Literal["baseline", "model", "person", "unknown"]


class TrajectoryError(ValueError):
    """A trajectory that cannot be read: names the field, what was found and what was wanted."""


@dataclass(frozen=True)
class Think:
    """What the agent says to itself before it looks or answers."""

    id: str
    text: str


@dataclass(frozen=True)
class Zoom:
    """One call of the tool and what came back.

    ``arguments`` is the call as the model wrote it (``wavelength_range`` in Å, ``label``), kept whole
    even where it is wrong. ``frame``, ``z`` and ``medium`` say how its wavelengths are to be read:
    in the rest frame a window lies at λ_observed = λ_rest (1 + z). ``picture`` is the SHA-256 of the
    picture's RGBA bytes, None where the tool answered with an error.
    """

    id: str
    arguments: Mapping[str, Any]
    frame: Frame = "observed"
    z: float = 0.0
    medium: Medium = "vacuum"
    observation: str = ""
    ok: bool = True
    picture: str | None = None

    @property
    def window(self) -> tuple[float, float] | None:
        """The window asked for, in Å, in this step's own frame; None if it is not two finite numbers."""
        asked = self.arguments.get("wavelength_range")
        if not isinstance(asked, list | tuple) or len(asked) != 2:
            return None
        if not all(isinstance(x, int | float) and abs(x) < float("inf") for x in asked):
            return None
        return float(asked[0]), float(asked[1])

    @property
    def window_observed(self) -> tuple[float, float] | None:
        """The same window as observed wavelengths, in Å."""
        if self.window is None:
            return None
        stretch = 1.0 + self.z if self.frame == "rest" else 1.0
        return self.window[0] * stretch, self.window[1] * stretch

    @property
    def label(self) -> str:
        return str(self.arguments.get("label") or "")


@dataclass(frozen=True)
class Answer:
    """The verdict and its explanation. ``verdict`` is None where no YES or NO could be read."""

    id: str
    verdict: Verdict | None
    explanation: str = ""


Step = Think | Zoom | Answer


@dataclass(frozen=True)
class Drafter:
    """Who thought: kind, name, and the settings that would let somebody repeat it."""

    kind: DrafterKind
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trajectory:
    """One inspection of one spectrum for one question.

    ``prompt`` is the user's text after the first picture (question line, blank line, guide);
    ``redshift`` is what the tool was given (None: none), which fixes the frame of every window;
    ``overview`` is the SHA-256 of the first picture's RGBA bytes; ``label`` is the known truth, if any,
    never the model's opinion; ``faults`` lists what the parser forgave.
    """

    task: str
    prompt: str
    spectrum_name: str
    spectrum_sha256: str | None
    steps: tuple[Step, ...]
    drafter: Drafter
    system: str = "You are a helpful assistant."
    redshift: float | None = None
    medium: Medium = "vacuum"
    overview: str | None = None
    label: Verdict | None = None
    label_source: str = ""
    simulated: bool = False
    faults: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer | None:
        """The last answer step, None if nothing was answered."""
        return next((s for s in reversed(self.steps) if isinstance(s, Answer)), None)

    @property
    def zooms(self) -> tuple[Zoom, ...]:
        return tuple(s for s in self.steps if isinstance(s, Zoom))

    def step(self, step_id: str) -> Step:
        """The step with this id. :raises KeyError: there is none."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    def turns(self) -> Iterator[tuple[Step, ...]]:
        """Assistant turns: think steps closed by one zoom or the answer; a trailing run of thinks is a turn too."""
        turn: list[Step] = []
        for step in self.steps:
            turn.append(step)
            if not isinstance(step, Think):
                yield tuple(turn)
                turn = []
        if turn:
            yield tuple(turn)

    def problems(self) -> list[str]:
        """What keeps this trajectory from being training data, one sentence each; empty if nothing does."""
        found = []
        if not self.steps or not isinstance(self.steps[-1], Answer):
            found.append("the last step is not an answer")
        if sum(isinstance(s, Answer) for s in self.steps) > 1:
            found.append("there is more than one answer")
        if self.answer is not None and self.answer.verdict is None:
            found.append("the answer is neither YES nor NO")
        for number, turn in enumerate(self.turns(), start=1):
            if not any(isinstance(s, Think) and s.text.strip() for s in turn):
                found.append(f"turn {number} has no think text")
        for number, step in enumerate(self.steps, start=1):
            if isinstance(step, Zoom) and step.ok and step.picture is None:
                found.append(f"step {number} has no picture")
        return found

    def with_steps(self, steps: tuple[Step, ...]) -> Trajectory:
        return replace(self, steps=steps)

    def to_json(self) -> dict[str, Any]:
        """The JSON form; ``from_json`` gives back an equal value."""
        return {
            "schema": SCHEMA,
            "task": self.task,
            "system": self.system,
            "prompt": self.prompt,
            "spectrum": {"name": self.spectrum_name, "sha256": self.spectrum_sha256},
            "redshift": self.redshift,
            "medium": self.medium,
            "overview": self.overview,
            "drafter": {
                "kind": self.drafter.kind,
                "name": self.drafter.name,
                "settings": dict(self.drafter.settings),
            },
            "label": self.label,
            "label_source": self.label_source,
            "simulated": self.simulated,
            "steps": [_step_to_json(s) for s in self.steps],
            "faults": list(self.faults),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trajectory:
        """Read the JSON form. :raises TrajectoryError: naming the field, what was found, what was wanted."""
        if data.get("schema") != SCHEMA:
            raise TrajectoryError(f"schema: found {data.get('schema')!r}, wanted {SCHEMA!r}")
        spectrum = _field(data, "spectrum", Mapping)
        drafter = _field(data, "drafter", Mapping)
        steps = _field(data, "steps", list)
        label = data.get("label")
        if label not in ("YES", "NO", None):
            raise TrajectoryError(f"label: found {label!r}, wanted YES, NO or null")
        redshift = data.get("redshift")
        if redshift is not None and not isinstance(redshift, int | float):
            raise TrajectoryError(f"redshift: found {redshift!r}, wanted a number or null")
        ids = [s.get("id") if isinstance(s, Mapping) else None for s in steps]
        if len(set(ids)) != len(ids):
            raise TrajectoryError("steps: two steps have the same id")
        return cls(
            task=_field(data, "task", str),
            system=_field(data, "system", str),
            prompt=_field(data, "prompt", str),
            spectrum_name=_field(spectrum, "name", str, "spectrum."),
            spectrum_sha256=spectrum.get("sha256"),
            redshift=redshift,
            medium=_one_of(data, "medium", ("vacuum", "air")),
            overview=data.get("overview"),
            drafter=Drafter(
                kind=_one_of(drafter, "kind", ("baseline", "model", "person", "unknown"), "drafter."),
                name=_field(drafter, "name", str, "drafter."),
                settings=dict(drafter.get("settings") or {}),
            ),
            label=label,
            label_source=str(data.get("label_source") or ""),
            simulated=bool(data.get("simulated", False)),
            steps=tuple(_step_from_json(s, n) for n, s in enumerate(steps, start=1)),
            faults=tuple(str(f) for f in data.get("faults") or ()),
        )

    def content_hash(self) -> str:
        """SHA-256 of the canonical JSON (sorted keys, no spaces, UTF-8), tagged with the algorithm."""
        canonical = json.dumps(self.to_json(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def new_step_id(steps: tuple[Step, ...]) -> str:
    """An id no step in ``steps`` has; ids are never used again within a trajectory's versions."""
    taken = [int(s.id[1:]) for s in steps if s.id[:1] == "s" and s.id[1:].isdigit()]
    return f"s{max(taken, default=0) + 1}"


def _step_to_json(step: Step) -> dict[str, Any]:
    match step:
        case Think():
            return {"id": step.id, "kind": "think", "text": step.text}
        case Zoom():
            return {
                "id": step.id,
                "kind": "zoom",
                "arguments": dict(step.arguments),
                "frame": step.frame,
                "z": step.z,
                "medium": step.medium,
                "observation": step.observation,
                "ok": step.ok,
                "picture": step.picture,
            }
        case Answer():
            return {"id": step.id, "kind": "answer", "verdict": step.verdict, "explanation": step.explanation}


def _step_from_json(data: Any, number: int) -> Step:
    where = f"steps[{number}]."
    if not isinstance(data, Mapping):
        raise TrajectoryError(f"steps[{number}]: found {type(data).__name__}, wanted an object")
    step_id = _field(data, "id", str, where)
    match data.get("kind"):
        case "think":
            return Think(step_id, _field(data, "text", str, where))
        case "zoom":
            return Zoom(
                id=step_id,
                arguments=dict(_field(data, "arguments", Mapping, where)),
                frame=_one_of(data, "frame", ("observed", "rest"), where),
                z=float(_field(data, "z", (int, float), where)),
                medium=_one_of(data, "medium", ("vacuum", "air"), where),
                observation=_field(data, "observation", str, where),
                ok=_field(data, "ok", bool, where),
                picture=data.get("picture"),
            )
        case "answer":
            verdict = data.get("verdict")
            if verdict not in ("YES", "NO", None):
                raise TrajectoryError(f"{where}verdict: found {verdict!r}, wanted YES, NO or null")
            return Answer(step_id, verdict, _field(data, "explanation", str, where))
        case kind:
            raise TrajectoryError(f"{where}kind: found {kind!r}, wanted think, zoom or answer")


def _field(data: Mapping[str, Any], key: str, kind: Any, where: str = "") -> Any:
    value = data.get(key)
    if not isinstance(value, kind):
        wanted = kind.__name__ if isinstance(kind, type) else "a number"
        raise TrajectoryError(f"{where}{key}: found {value!r:.60}, wanted {wanted}")
    return value


def _one_of(data: Mapping[str, Any], key: str, allowed: tuple[str, ...], where: str = "") -> Any:
    value = data.get(key)
    if value not in allowed:
        raise TrajectoryError(f"{where}{key}: found {value!r:.60}, wanted one of {', '.join(allowed)}")
    return value
