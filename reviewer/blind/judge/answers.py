"""Reading a judge's answer: reasoning apart from verdict, the one JSON object wherever it stands. What cannot
be read is said in words that the judge is told; nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from agent.text import OneLine
from reviewer.blind.results import JudgedScore
from reviewer.blind.sheet import OwnPreference
from reviewer.blind.values import CANNOT_TELL, PREFERENCES, SCORES, Dimension, Score

_TAG = "think|thinking|thought|reasoning"
_EDGE = re.compile(rf"<(/?)({_TAG})>", re.IGNORECASE)
# Some chat templates open the block themselves, so that only its end is in the answer.
_REST = re.compile(rf"^(.*)</(?:{_TAG})>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"<(?:{_TAG})>(.*)$", re.DOTALL | re.IGNORECASE)
_STEP = re.compile(r"(?:step\s*)?s?(\d+)", re.IGNORECASE)


class Unreadable(OneLine, ValueError):
    """An answer that cannot be read: what is wrong with it, in words for who wrote it."""


def apart(text: str, reasoning: str = "") -> tuple[str, str]:
    """What was said, and what was thought: what the server split off, and what stands in tags of the text.

    A block that does not end is thought to its end: an answer was not come to.
    """
    thoughts = [reasoning.strip()]

    def taken(pattern: re.Pattern[str], text: str) -> str:
        thoughts.extend(match[match.lastindex or 0].strip() for match in pattern.finditer(text))
        return pattern.sub("", text)

    blocks = list(_blocks(text))
    thoughts.extend(text[start:end].strip() for _, start, end, _ in blocks)
    ends = (0, *(after for *_, after in blocks))
    begins = (*(before for before, *_ in blocks), len(text))
    text = "".join(text[end:begin] for end, begin in zip(ends, begins, strict=True))
    for pattern in (_REST, _OPEN):
        text = taken(pattern, text)
    return text.strip(), "\n\n".join(filter(None, thoughts))


def _blocks(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Where each block begins, its thought begins and ends, and the block ends: at the first end of its name.

    Looking from each beginning for its end would take as long as there are beginnings, times the text.
    """
    edges = list(_EDGE.finditer(text))
    following: dict[str, re.Match[str]] = {}
    closed: list[tuple[re.Match[str], re.Match[str]]] = []
    for edge in reversed(edges):
        name = edge[2].lower()
        if edge[1]:
            following[name] = edge
        elif name in following:
            closed.append((edge, following[name]))
    done = 0
    for begin, end in reversed(closed):
        if begin.start() >= done:
            yield begin.start(), begin.end(), end.start(), end.end()
            done = end.end()


def read_score(text: str, dimensions: Collection[Dimension], steps: Collection[str]) -> JudgedScore:
    """A score of each of the dimensions; None for one that was not asked for.

    :param steps: those that there are; marks of others are left out
    :raises Unreadable: not one object with these fields, or a value out of range
    """
    found = _the_object(text, dimensions)
    scores = {dimension: _score(dimension, found.get(dimension)) for dimension in dimensions}
    given = found.get("wrong_steps")
    named = (_STEP.fullmatch(str(one).strip()) for one in given) if isinstance(given, list) else ()
    wrong = dict.fromkeys(f"s{int(match[1])}" for match in named if match)
    return JudgedScore(
        coherence=scores.get("coherence"),
        consistency=scores.get("consistency"),
        comment=_words(found.get("justification")),
        wrong_steps=tuple(step for step in wrong if step in steps),
    )


def read_preference(text: str) -> OwnPreference:
    """A preference as the pair was shown.

    :raises Unreadable: not one object with the field, or another word
    """
    found = _the_object(text, ("preference",))
    said = _plain(found.get("preference"))
    for preference in PREFERENCES:
        if said == preference:
            return OwnPreference(preference, _words(found.get("justification")))
    raise Unreadable(f'"preference" is {_shown(found.get("preference"))}, not one of {", ".join(PREFERENCES)}')


def _the_object(text: str, wanted: Collection[str]) -> Mapping[str, Any]:
    """The one object with the wanted fields; the same one twice is once."""
    found = [one for one in _objects(text) if any(name in one for name in wanted)]
    if not found:
        raise Unreadable(f"it has no JSON object with {' and '.join(wanted)}")
    missing = [name for name in wanted if name not in found[-1]]
    if missing:
        raise Unreadable(f"its JSON object has no field {missing[0]}")
    if any(one.get(name) != found[-1].get(name) for one in found[:-1] for name in wanted):
        raise Unreadable(f"it has {len(found)} JSON objects that say different things")
    return found[-1]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        end = start + 1
        try:
            found, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            yield {str(name).strip().lower(): value for name, value in found.items()}
        start = text.find("{", end)


def _score(name: str, given: object) -> Score:
    if _plain(given).startswith(CANNOT_TELL):
        return CANNOT_TELL
    number = given
    if isinstance(given, str) and re.fullmatch(r"\s*\d+(?:\.0+)?\s*(?:/\s*5\s*)?", given):
        number = float(given.partition("/")[0])
    if isinstance(number, bool) or not isinstance(number, int | float) or number not in SCORES:
        raise Unreadable(f'"{name}" is {_shown(given)}, not 0, 1, 2, 3, 4, 5 or "{CANNOT_TELL}"')
    return int(number)


def _plain(given: object) -> str:
    """A word as it is compared: models write it with capitals, or with an underscore for the space."""
    return re.sub(r"[\s_-]+", " ", given).strip().lower() if isinstance(given, str) else ""


def _words(given: object) -> str:
    return given.strip() if isinstance(given, str) else ""


def _shown(given: object) -> str:
    return f"{json.dumps(given, ensure_ascii=False):.40}"
