"""The rubric: the questions to scorers and the possible answers, in words (``rubric.toml``). A session keeps its own
copy from the day it opens.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from agent.language import tr
from agent.settings_file import Mismatch, load_toml, validate
from reviewer.blind.plan import DIMENSIONS, PREFERENCES, SCORES, Dimension, Preference

FILE = Path(__file__).with_name("rubric.toml")


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Wording:
    """The words of a button, and one or two sentences for its tooltip."""

    short: str
    text: str


@dataclass(frozen=True, config=ConfigDict(extra="forbid", json_schema_serialization_defaults_required=True))
class Anchor:
    """The meaning of one score. ``published``: the words are those of the paper; the others are ours."""

    score: int
    short: str
    text: str
    published: bool = False


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Scale:
    """One dimension with its question and its anchors, 0 to 5."""

    key: Dimension
    title: str
    question: str
    anchors: tuple[Anchor, ...]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Choice:
    """One answer to the question about a pair."""

    key: Preference
    short: str
    text: str


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Rubric:
    """All questions to a scorer and all possible answers."""

    version: str
    note: str
    cannot_tell: Wording
    scales: tuple[Scale, ...]
    preference_question: str
    choices: tuple[Choice, ...]

    def scale(self, dimension: Dimension) -> Scale:
        return next(scale for scale in self.scales if scale.key == dimension)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form; ``from_json`` gives back an equal value."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> Rubric:
        """Read what ``to_json`` wrote.

        :raises ValueError: naming the field; each dimension needs an anchor per score, a pair its four choices
        """
        return validate(cls, data, "rubric", lambda problem: ValueError(str(problem)))

    def __post_init__(self) -> None:
        scored = {scale.key: [anchor.score for anchor in scale.anchors] for scale in self.scales}
        if scored != {dimension: list(SCORES) for dimension in DIMENSIONS}:
            raise Mismatch(tr("the anchors {scored}", scored=scored), tr("0 to 5 of each dimension"), "scales")
        if tuple(choice.key for choice in self.choices) != PREFERENCES:
            raise Mismatch(tr("other choices"), ", ".join(PREFERENCES), "choices")


@cache
def rubric() -> Rubric:
    """Return the rubric that comes with the program."""
    data = load_toml(FILE, lambda problem: ValueError(str(problem)))
    return Rubric.from_json(
        {
            "version": data["version"],
            "note": data["note"],
            "cannot_tell": data["cannot_tell"],
            "scales": [
                {**{k: v for k, v in scale.items() if k != "anchor"}, "anchors": scale["anchor"]}
                for scale in data["dimension"]
            ],
            "preference_question": data["preference"]["question"],
            "choices": data["preference"]["choice"],
        }
    )
