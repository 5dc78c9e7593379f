"""What a closed session holds, as plain values: who said what of which trajectory, and what that was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent.conversation import Usage
from agent.trajectory.steps import Verdict
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import OwnPreference, OwnScore, Question
from reviewer.blind.values import Gold, Kind, Plan, Score


@dataclass(frozen=True)
class ShownTrace:
    """A trajectory that was scored, and what the scorers were not told.

    :param label: the known truth, if there is one
    :param characters: of its thoughts and its explanation together: judges are known to like length
    """

    item: int
    version: int
    source: str
    source_kind: str
    task: str
    spectrum: str | None
    simulated: bool
    label: Verdict | None
    verdict: Verdict | None
    characters: int

    @property
    def correct(self) -> bool | None:
        """Whether the verdict is the label; None where either is missing."""
        return None if self.label is None or self.verdict is None else self.verdict == self.label


@dataclass(frozen=True)
class Said:
    """One assignment with what its scorer said last.

    :param shown: versions: the one that was scored; or the left and the right one
    :param repeat_of: the token of its first showing to the same scorer
    :param gold: what was expected of it; None for everything that is in the results
    :param answer: an ``OwnScore``, for a pair an ``OwnPreference``; None where nothing was said
    :param at: when it was said
    :param changes: how often the scorer changed their mind before
    """

    token: str
    scorer: str
    kind: Kind
    place: int
    shown: tuple[int, ...]
    repeat_of: str | None
    gold: Gold | None
    answer: OwnScore | OwnPreference | None
    at: datetime | None
    changes: int


@dataclass(frozen=True)
class JudgedScore:
    """What a model judge said of one trace. None: it was not asked for that dimension."""

    coherence: Score | None
    consistency: Score | None
    comment: str = ""
    wrong_steps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """What a model judge said. It never counts as a person's.

    :param shown: the version; of a pair both, in the order in which the judge was shown them
    :param answer: None where it said nothing that can be read; ``said`` has what it was
    :param reasoning: what it emitted besides its verdict, kept apart
    :param settings: what would let somebody ask it again
    :param said: its answer word for word; two where it was asked again
    :param usage: the tokens of all that was asked for this judgement
    :param cost: what they cost; None where nobody gave prices
    :param by: who had it asked; None for whoever holds the file. The store fills it in
    """

    judge: str
    shown: tuple[int, ...]
    answer: JudgedScore | OwnPreference | None
    reasoning: str
    settings: Mapping[str, Any]
    said: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    by: str | None = field(default=None, compare=False)

    @property
    def kind(self) -> Kind:
        return "scores" if len(self.shown) == 1 else "pair"


@dataclass(frozen=True)
class Results:
    """A closed session.

    :param said: every assignment, by scorer in the plan's order, then by place
    :param traces: by version
    """

    session: int
    plan: Plan
    rubric: Rubric
    questions: Mapping[str, Question]
    notes: tuple[str, ...]
    drawn_by: str | None
    drawn_at: datetime
    opened_at: datetime
    closed_at: datetime
    traces: Mapping[int, ShownTrace]
    said: tuple[Said, ...]
    judgements: tuple[Judgement, ...]

    def first(self, kind: Kind) -> tuple[Said, ...]:
        """What counts: no repeats, no gold items; assignments without an answer are among them."""
        return tuple(one for one in self.said if one.kind == kind and one.repeat_of is None and one.gold is None)

    def repeats(self, kind: Kind) -> tuple[tuple[Said, Said], ...]:
        """First showing and repeat, wherever both were answered."""
        by_token = {one.token: one for one in self.said}
        both = ((by_token[one.repeat_of], one) for one in self.said if one.repeat_of and one.kind == kind)
        return tuple((one, again) for one, again in both if one.answer and again.answer)

    def gold(self) -> tuple[Said, ...]:
        """The gold items' assignments."""
        return tuple(one for one in self.said if one.gold is not None)
