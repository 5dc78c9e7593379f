"""What scorers are asked, in words (``rubric.toml``). A session keeps its own copy from the day it opens."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reviewer.blind.plan import DIMENSIONS, PREFERENCES, SCORES, Dimension, Preference

FILE = Path(__file__).with_name("rubric.toml")


@dataclass(frozen=True)
class Wording:
    """Words for a button, and a sentence or two for its tooltip."""

    short: str
    text: str


@dataclass(frozen=True)
class Anchor:
    """What one score means. ``published`` where the paper has it; the others are ours."""

    score: int
    short: str
    text: str
    published: bool = False


@dataclass(frozen=True)
class Scale:
    """One dimension with its question and its anchors, 0 to 5."""

    key: Dimension
    title: str
    question: str
    anchors: tuple[Anchor, ...]


@dataclass(frozen=True)
class Choice:
    """One answer to the question about a pair."""

    key: Preference
    short: str
    text: str


@dataclass(frozen=True)
class Rubric:
    """Everything a scorer is asked and may answer."""

    version: str
    note: str
    cannot_tell: Wording
    scales: tuple[Scale, ...]
    preference_question: str
    choices: tuple[Choice, ...]

    def scale(self, dimension: Dimension) -> Scale:
        return next(scale for scale in self.scales if scale.key == dimension)

    def to_json(self) -> dict[str, Any]:
        """The JSON form; ``from_json`` gives back an equal value."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rubric:
        """Read what ``to_json`` wrote.

        :raises ValueError: it has not both dimensions with an anchor for each score, and the four choices
        """
        rubric = cls(
            version=data["version"],
            note=data["note"],
            cannot_tell=Wording(**data["cannot_tell"]),
            scales=tuple(
                Scale(**{**scale, "anchors": tuple(Anchor(**anchor) for anchor in scale["anchors"])})
                for scale in data["scales"]
            ),
            preference_question=data["preference_question"],
            choices=tuple(Choice(**choice) for choice in data["choices"]),
        )
        scored = {scale.key: [anchor.score for anchor in scale.anchors] for scale in rubric.scales}
        if scored != {dimension: list(SCORES) for dimension in DIMENSIONS}:
            raise ValueError(f"rubric: found the anchors {scored}, wanted 0 to 5 of each dimension")
        if tuple(choice.key for choice in rubric.choices) != PREFERENCES:
            raise ValueError(f"rubric: wanted the choices {', '.join(PREFERENCES)}")
        return rubric


@cache
def rubric() -> Rubric:
    """The rubric that comes with the program."""
    with FILE.open("rb") as opened:
        data = tomllib.load(opened)
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
