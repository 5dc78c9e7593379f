"""Read the answer of a model judge: its reasoning apart, and the one JSON object with its scores or its preference.

Nothing is guessed: an answer that is not clear raises ``UnreadableAnswer``, whose message is sent to the judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from agent.errors import Refusal
from reviewer.blind.plan import CANNOT_TELL, PREFERENCES, SCORES, Dimension, Score
from reviewer.blind.results import JudgeScore
from reviewer.blind.sheet import PreferenceAnswer

_TAG = "think|thinking|thought|reasoning"
_EDGE = re.compile(rf"<(/?)({_TAG})>", re.IGNORECASE)
# Some chat templates open the block themselves, so that only its end is in the answer.
_REST = re.compile(rf"^(.*)</(?:{_TAG})>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"<(?:{_TAG})>(.*)$", re.DOTALL | re.IGNORECASE)
_STEP = re.compile(r"(?:step\s*)?s?(\d+)", re.IGNORECASE)


class UnreadableAnswer(Refusal, ValueError):
    """An answer that cannot be read; the message is sent to the judge."""


def split_reasoning(text: str, reasoning: str = "") -> tuple[str, str]:
    """Split a reply into answer and reasoning: what the server separated, and what is in reasoning tags of the text.

    A block without an end tag is reasoning to the end of the text: there is no answer.
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
    """Yield for each block its start, the start and end of its text, and its end: the first end tag of its name.

    One pass from the end, as a search from each start tag would take quadratic time.
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


def read_score(text: str, dimensions: Collection[Dimension], steps: Collection[str]) -> JudgeScore:
    """Read the score of each dimension; None for one that was not requested.

    :param steps: the steps of the trace; other marks are left out
    :raises UnreadableAnswer: not exactly one object with these fields, or a value out of range
    """
    answer = _answer_object(text, dimensions)
    scores = {dimension: _score(dimension, answer.get(dimension)) for dimension in dimensions}
    given = answer.get("wrong_steps")
    named = (_STEP.fullmatch(str(word).strip()) for word in given) if isinstance(given, list) else ()
    wrong = dict.fromkeys(f"s{int(match[1])}" for match in named if match)
    return JudgeScore(
        coherence=scores.get("coherence"),
        consistency=scores.get("consistency"),
        comment=_text_or_empty(answer.get("justification")),
        wrong_steps=tuple(step for step in wrong if step in steps),
    )


def read_preference(text: str) -> PreferenceAnswer:
    """Read a preference for a pair as it was shown.

    :raises UnreadableAnswer: not exactly one object with the field, or another word
    """
    answer = _answer_object(text, ("preference",))
    word = _normalised(answer.get("preference"))
    for preference in PREFERENCES:
        if word == preference:
            return PreferenceAnswer(preference, _text_or_empty(answer.get("justification")))
    raise UnreadableAnswer(f'"preference" is {_shown(answer.get("preference"))}, not one of {", ".join(PREFERENCES)}')


def _answer_object(text: str, names: Collection[str]) -> Mapping[str, Any]:
    """Return the one object with the wanted fields; repetitions count once."""
    answers = [answer for answer in _objects(text) if any(name in answer for name in names)]
    if not answers:
        raise UnreadableAnswer(f"it has no JSON object with {' and '.join(names)}")
    missing = [name for name in names if name not in answers[-1]]
    if missing:
        raise UnreadableAnswer(f"its JSON object has no field {missing[0]}")
    if any(answer.get(name) != answers[-1].get(name) for answer in answers[:-1] for name in names):
        raise UnreadableAnswer(f"it has {len(answers)} JSON objects that contradict each other")
    return answers[-1]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        end = start + 1
        try:
            parsed, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict):
            yield {str(name).strip().lower(): value for name, value in parsed.items()}
        start = text.find("{", end)


def _score(name: str, given: object) -> Score:
    if _normalised(given).startswith(CANNOT_TELL):
        return CANNOT_TELL
    number = given
    if isinstance(given, str) and re.fullmatch(r"\s*\d+(?:\.0+)?\s*(?:/\s*5\s*)?", given):
        number = float(given.partition("/")[0])
    if isinstance(number, bool) or not isinstance(number, int | float) or number not in SCORES:
        raise UnreadableAnswer(f'"{name}" is {_shown(given)}, not 0, 1, 2, 3, 4, 5 or "{CANNOT_TELL}"')
    return int(number)


def _normalised(given: object) -> str:
    """Return a word in the form in which words are compared: models write capitals, or underscores for spaces."""
    return re.sub(r"[\s_-]+", " ", given).strip().lower() if isinstance(given, str) else ""


def _text_or_empty(given: object) -> str:
    return given.strip() if isinstance(given, str) else ""


def _shown(given: object) -> str:
    return f"{json.dumps(given, ensure_ascii=False):.40}"
