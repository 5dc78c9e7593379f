"""The steps of a trajectory as plain values: think, zoom, answer, and their JSON form."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, TypeVar, cast, get_args

from agent.errors import Refusal
from agent.language import tr
from agent.text import whole_number
from agent.tool import MEASURE, SKY_CONTEXT, TOOL_NAME, TOOLS

Frame = Literal["observed", "rest"]
Medium = Literal["vacuum", "air"]
Verdict = Literal["YES", "NO"]
DrafterKind = Literal["baseline", "model", "person", "unknown"]

DRAFTER_KINDS: tuple[DrafterKind, ...] = get_args(DrafterKind)

_Choice = TypeVar("_Choice", bound=str)
_SUREST = 0.999
"""A confidence above it, or below one less it, counts as this: certainty has no finite log odds."""


class TrajectoryError(Refusal, ValueError):
    """A trajectory that cannot be read: field, what was found and what was expected."""

    kind = "trajectory"


@dataclass(frozen=True)
class Think:
    """A thought of the agent before a zoom or the answer."""

    id: str
    text: str


@dataclass(frozen=True)
class Zoom:
    """One tool call and its result.

    ``arguments`` is the call as the model wrote it (``wavelength_range`` in Å, ``label``), kept complete even if it is
    wrong. ``frame``, ``z`` and ``medium`` define its wavelengths: in the rest frame a window lies at λ_observed =
    λ_rest (1 + z). ``picture`` is the SHA-256 of the picture's RGBA bytes, None if the tool answered with an error.

    ``tool`` is the name of the tool: ``measure`` answers in words, so such a step has neither a window nor a picture;
    ``sky_context`` answers with a picture of no window, which cannot be drawn again from the spectrum. Any other name
    is a tool of another agent's: its answer is kept as it came, and is no training data.
    """

    id: str
    arguments: Mapping[str, Any]
    frame: Frame = "observed"
    z: float = 0.0
    medium: Medium = "vacuum"
    observation: str = ""
    ok: bool = True
    picture: str | None = None
    tool: str = TOOL_NAME

    @property
    def measures(self) -> bool:
        """Whether it is a call of ``measure``."""
        return self.tool == MEASURE

    @property
    def shows_sky(self) -> bool:
        """Whether it is a call of ``sky_context``."""
        return self.tool == SKY_CONTEXT

    @property
    def shows_spectrum(self) -> bool:
        """Whether it is a call of the tool that draws the spectrum."""
        return self.tool == TOOL_NAME

    @property
    def is_foreign(self) -> bool:
        """Whether it is a call of a tool that is not ours, so that its picture cannot be drawn again."""
        return self.tool not in TOOLS

    @property
    def drawn(self) -> bool:
        """Whether the tool answered with a picture."""
        return self.picture is not None if self.is_foreign else self.ok and not self.measures

    @property
    def window(self) -> tuple[float, float] | None:
        """The requested window, in Å, in this step's own frame; None if it is not two finite numbers."""
        if not self.shows_spectrum:
            return None
        requested = self.arguments.get("wavelength_range")
        if not isinstance(requested, list | tuple) or len(requested) != 2:
            return None
        if not all(isinstance(x, int | float) and abs(x) <= sys.float_info.max for x in requested):
            return None
        return float(requested[0]), float(requested[1])

    @property
    def window_observed(self) -> tuple[float, float] | None:
        """The same window as observed wavelengths, in Å."""
        if self.window is None:
            return None
        stretch = 1.0 + self.z if self.frame == "rest" else 1.0
        return self.window[0] * stretch, self.window[1] * stretch

    @property
    def label(self) -> str:
        """What the call names: the label of its window, or what is measured."""
        if self.measures:
            named = (self.arguments.get(name) for name in ("feature", "element", "wavelength"))
            return " ".join(str(part) for part in named if part)
        if self.is_foreign:
            return self.tool
        return str(self.arguments.get("label") or "")


@dataclass(frozen=True)
class Answer:
    """The verdict and its explanation. ``verdict`` is None if no YES or NO could be read.

    ``score`` is the log odds of YES that the drafter gave with its answer, None if it gave none, as a model. A
    person who changes the verdict removes it. It is in the JSON form only if there is one.
    """

    id: str
    verdict: Verdict | None
    explanation: str = ""
    score: float | None = None


Step = Think | Zoom | Answer


def log_odds(verdict: Verdict | None, confidence: object) -> float | None:
    """Return the log odds of YES, in natural logarithms, of a verdict that is right with probability ``confidence``;
    None without a verdict or a number from 0 to 1.
    """
    if verdict is None or not isinstance(confidence, int | float) or isinstance(confidence, bool):
        return None
    if not 0 <= confidence <= 1:
        return None
    right = min(max(confidence, 1 - _SUREST), _SUREST)
    return math.log(right / (1 - right)) * (1 if verdict == "YES" else -1)


def new_step_id(steps: tuple[Step, ...]) -> str:
    """Return an id that no step in ``steps`` has; ids are never used again within a trajectory's versions."""
    numbers = (whole_number(step.id[1:]) for step in steps if step.id[:1] == "s")
    first = max((number for number in numbers if number is not None), default=0) + 1
    taken = {step.id for step in steps}
    return next(name for number in count(first) if (name := f"s{number}") not in taken)


def step_to_json(step: Step) -> dict[str, Any]:
    """Return the JSON form of a step; ``step_from_json`` gives back an equal value."""
    match step:
        case Think():
            return {"id": step.id, "kind": "think", "text": step.text}
        case Zoom():
            zoom = {
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
            return zoom | {"tool": step.tool} if step.tool != TOOL_NAME else zoom
        case Answer():
            answer = {"id": step.id, "kind": "answer", "verdict": step.verdict, "explanation": step.explanation}
            return answer if step.score is None else answer | {"score": step.score}


def step_from_json(data: object, number: int) -> Step:
    """Read the JSON form of the step with this number. :raises TrajectoryError: the field"""
    where = f"steps[{number}]."
    if not isinstance(data, Mapping):
        raise TrajectoryError(
            tr("steps[{number}]: found {name}, expected an object", number=number, name=type(data).__name__)
        )
    step_id = text_of(data, "id", where)
    kind = one_of(data, "kind", ("think", "zoom", "answer"), where)
    if kind == "think":
        return Think(step_id, text_of(data, "text", where))
    if kind == "answer":
        score = number_of(data, "score", where)
        return Answer(step_id, verdict_of(data, "verdict", where), text_of(data, "explanation", where), score)
    ok = data.get("ok")
    if not isinstance(ok, bool):
        raise TrajectoryError(tr("{where}ok: found {ok!r:.60}, expected true or false", where=where, ok=ok))
    z = number_of(data, "z", where)
    if z is None:
        raise TrajectoryError(tr("{where}z: found null, expected a number", where=where))
    return Zoom(
        id=step_id,
        arguments=object_of(data, "arguments", where),
        frame=one_of(data, "frame", ("observed", "rest"), where),
        z=z,
        medium=one_of(data, "medium", ("vacuum", "air"), where),
        observation=text_of(data, "observation", where),
        ok=ok,
        picture=text_or_none(data, "picture", where),
        tool=text_of(data, "tool", where) if data.get("tool") else TOOL_NAME,
    )


def text_of(data: Mapping[str, Any], key: str, where: str = "") -> str:
    """Return the text in a field. :raises TrajectoryError: it is no text, or not valid UTF-8"""
    value = data.get(key)
    if not isinstance(value, str):
        raise TrajectoryError(tr("{where}{key}: found {value!r:.60}, expected text", where=where, key=key, value=value))
    try:
        value.encode()
    except UnicodeEncodeError as error:
        broken = tr("a lone surrogate, U+{code:04X}, at {at}", code=ord(value[error.start]), at=error.start)
        raise TrajectoryError(
            tr("{where}{key}: found {broken}, expected whole characters", where=where, key=key, broken=broken)
        ) from None
    return value


def text_or_none(data: Mapping[str, Any], key: str, where: str = "") -> str | None:
    return None if data.get(key) is None else text_of(data, key, where)


def initials_of(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the initials in a field, none if it is missing or null. :raises TrajectoryError: it is no list of them"""
    value = data.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(map(_is_initials, value)):
        raise TrajectoryError(
            tr(
                "{key}: found {value!r:.60}, expected a list of initials of two to four capital letters",
                key=key,
                value=value,
            )
        )
    return tuple(value)


def _is_initials(value: object) -> bool:
    return isinstance(value, str) and 2 <= len(value) <= 4 and value.isalpha() and value == value.upper()


def number_of(data: Mapping[str, Any], key: str, where: str = "") -> float | None:
    """Return the number in a field, None for null. :raises TrajectoryError: it is no finite number"""
    value = data.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise TrajectoryError(
            tr("{where}{key}: found {value!r:.60}, expected a finite number or null", where=where, key=key, value=value)
        )
    return float(value)


def verdict_of(data: Mapping[str, Any], key: str, where: str = "") -> Verdict | None:
    """Return the verdict in a field. :raises TrajectoryError: it is none of YES, NO and null"""
    value = data.get(key)
    if value not in ("YES", "NO", None):
        raise TrajectoryError(
            tr("{where}{key}: found {value!r:.60}, expected YES, NO or null", where=where, key=key, value=value)
        )
    return cast("Verdict | None", value)


def object_of(data: Mapping[str, Any], key: str, where: str = "") -> dict[str, Any]:
    """Return the object in a field, valid for any JSON reader.

    :raises TrajectoryError: it is no object, or has values that JSON lacks: NaN, an infinity, a lone surrogate
    """
    value = data.get(key)
    if not isinstance(value, Mapping):
        raise TrajectoryError(
            tr("{where}{key}: found {value!r:.60}, expected an object", where=where, key=key, value=value)
        )
    try:
        json.dumps(dict(value), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise TrajectoryError(
            tr("{where}{key}: found what JSON cannot hold ({error}), expected JSON", where=where, key=key, error=error)
        ) from None
    return dict(value)


def one_of(data: Mapping[str, Any], key: str, allowed: tuple[_Choice, ...], where: str = "") -> _Choice:
    """Return the field's value, one of ``allowed``. :raises TrajectoryError: it is another"""
    value = data.get(key)
    for choice in allowed:
        if value == choice:
            return choice
    raise TrajectoryError(
        tr(
            "{where}{key}: found {value!r:.60}, expected one of {names}",
            where=where,
            key=key,
            value=value,
            names=", ".join(allowed),
        )
    )
