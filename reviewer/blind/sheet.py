"""The sheet: everything that a scorer may see of an assignment.

Each field is copied by name from the steps, so that nothing else can reach a scorer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent.tool import TOOL_NAME
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Frame, Medium, Step, Think, Verdict, Zoom
from reviewer.blind.plan import Kind, Preference, Score


@dataclass(frozen=True)
class SheetStep:
    """One step with its own id: s1, s2, … in order.

    :param text: of a thought or an explanation; of a zoom, the label of the window, or what it measured
    :param picture: of a zoom, its number among the trace's pictures; None where there is none
    """

    id: str
    kind: Literal["think", "zoom", "answer"]
    text: str
    verdict: Verdict | None = None
    window: tuple[float, float] | None = None
    frame: Frame | None = None
    z: float | None = None
    medium: Medium | None = None
    observation: str = ""
    ok: bool = True
    picture: int | None = None
    tool: str = TOOL_NAME


@dataclass(frozen=True)
class SheetTrace:
    """One trajectory. ``overview`` is the number of its first picture, None where none was kept."""

    steps: tuple[SheetStep, ...]
    overview: int | None


@dataclass(frozen=True)
class Question:
    """The question about the spectrum: the task's words when the session was sampled."""

    title: str
    question: str
    guide: str


@dataclass(frozen=True)
class ScoreAnswer:
    """A scorer's latest scores of a trace."""

    coherence: Score
    consistency: Score
    comment: str = ""
    wrong_steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class PreferenceAnswer:
    """A scorer's latest answer about a pair."""

    preference: Preference
    comment: str = ""


@dataclass(frozen=True)
class Sheet:
    """Everything that a scorer's browser receives about one assignment, except spectrum and pictures.

    :param place: in this scorer's order, from 1 to ``of``
    :param traces: the one to score; or left and right
    :param training: it is for practice, and in no result
    :param mine: this scorer's latest answer; None before the first
    """

    token: str
    session: int
    kind: Kind
    place: int
    of: int
    question: Question
    traces: tuple[SheetTrace, ...]
    mine: ScoreAnswer | PreferenceAnswer | None = None
    training: bool = False


CHANGEABLE = 5
"""How many answers before the first unanswered place can still be opened and changed, in lists that are not short."""


def count_changeable(number: int) -> int:
    """Return how many answers before the present place can be changed in a list of ``number`` places of one kind.

    Fewer than the distance of a trace and its hidden repeat (``order.repeat_distance``), so that nobody can look up
    their first answer. It follows from the length of the list alone, with as many repeats as a list of this length can
    have: whether there are any does not show.

    :param number: places of this kind, without gold and training items
    """
    # With d traces, at a distance of d // 2, at most (d + 1) // 2 + 1 repeats fit: d // 2 >= (number - 1) // 3.
    return max(1, min(CHANGEABLE, (number - 1) // 3 - 1))


def trace_of(trajectory: Trajectory) -> SheetTrace:
    """Return a trajectory as a scorer sees it."""
    overview = None if trajectory.overview is None else 0
    return SheetTrace(_steps(trajectory.steps, 0 if overview is None else 1), overview)


def _steps(steps: Sequence[Step], next_picture: int) -> tuple[SheetStep, ...]:
    sheet_steps = []
    for number, step in enumerate(steps, start=1):
        picture = None
        if isinstance(step, Zoom) and step.picture is not None:
            picture, next_picture = next_picture, next_picture + 1
        sheet_steps.append(_step(f"s{number}", step, picture))
    return tuple(sheet_steps)


def _step(step_id: str, step: Step, picture: int | None) -> SheetStep:
    match step:
        case Think():
            return SheetStep(step_id, "think", step.text)
        case Answer():
            return SheetStep(step_id, "answer", step.explanation, verdict=step.verdict)
        case Zoom():
            return SheetStep(
                step_id,
                "zoom",
                step.label,
                window=step.window,
                frame=step.frame,
                z=step.z,
                medium=step.medium,
                observation=step.observation,
                ok=step.ok,
                picture=picture,
                tool=step.tool,
            )
