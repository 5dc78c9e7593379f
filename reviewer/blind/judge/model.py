"""A model judge behind an OpenAI-compatible server: one question, one judgement.

Temperature 0 and a fixed seed make it repeatable. An answer that cannot be read is requested once more, with the
reason; after that the judgement has no answer. The reasoning is kept apart from the verdict.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from agent.conversation import Stop, Usage
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.text import OneLine
from reviewer.blind.judge.prompts import Briefing, Message, TraceForJudge
from reviewer.blind.plan import CANNOT_TELL, PREFERENCES, SCORES, Dimension, Kind, Score
from reviewer.blind.results import Judgement, JudgeScore
from reviewer.blind.sheet import PreferenceAnswer, Question

_TAG = "think|thinking|thought|reasoning"
_EDGE = re.compile(rf"<(/?)({_TAG})>", re.IGNORECASE)
# Some chat templates open the block themselves, so that only its end is in the answer.
_REST = re.compile(rf"^(.*)</(?:{_TAG})>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"<(?:{_TAG})>(.*)$", re.DOTALL | re.IGNORECASE)
_STEP = re.compile(r"(?:step\s*)?s?(\d+)", re.IGNORECASE)


class UnreadableAnswer(OneLine, ValueError):
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
    found = _answer_object(text, dimensions)
    scores = {dimension: _score(dimension, found.get(dimension)) for dimension in dimensions}
    given = found.get("wrong_steps")
    named = (_STEP.fullmatch(str(one).strip()) for one in given) if isinstance(given, list) else ()
    wrong = dict.fromkeys(f"s{int(match[1])}" for match in named if match)
    return JudgeScore(
        coherence=scores.get("coherence"),
        consistency=scores.get("consistency"),
        comment=_text_or_empty(found.get("justification")),
        wrong_steps=tuple(step for step in wrong if step in steps),
    )


def read_preference(text: str) -> PreferenceAnswer:
    """Read a preference for a pair as it was shown.

    :raises UnreadableAnswer: not exactly one object with the field, or another word
    """
    found = _answer_object(text, ("preference",))
    word = _normalised(found.get("preference"))
    for preference in PREFERENCES:
        if word == preference:
            return PreferenceAnswer(preference, _text_or_empty(found.get("justification")))
    raise UnreadableAnswer(f'"preference" is {_shown(found.get("preference"))}, not one of {", ".join(PREFERENCES)}')


def _answer_object(text: str, wanted: Collection[str]) -> Mapping[str, Any]:
    """Return the one object with the wanted fields; repetitions count once."""
    found = [one for one in _objects(text) if any(name in one for name in wanted)]
    if not found:
        raise UnreadableAnswer(f"it has no JSON object with {' and '.join(wanted)}")
    missing = [name for name in wanted if name not in found[-1]]
    if missing:
        raise UnreadableAnswer(f"its JSON object has no field {missing[0]}")
    if any(one.get(name) != found[-1].get(name) for one in found[:-1] for name in wanted):
        raise UnreadableAnswer(f"it has {len(found)} JSON objects that say different things")
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


SAMPLING = Sampling(temperature=0.0, max_tokens=4096, seed=1)
FIXED_SETTINGS = ("model", "dimensions", "pictures", "prompt_sha256", "temperature", "top_p", "max_tokens", "seed")
"""Settings that are the same for all questions to a judge of one name in a session."""
MAX_ATTEMPTS = 2


class Stopped(Exception):
    """The run was stopped before there was an answer."""


@dataclass(frozen=True)
class _Reply:
    """One reply: its text, its reasoning, why it ended, and the model that the server names."""

    text: str
    reasoning: str
    finish: str | None
    model: str


class Judge:
    """One model with fixed settings. Thread-safe.

    :param name: identifies its judgements
    """

    def __init__(self, name: str, endpoint: Endpoint, briefing: Briefing, sampling: Sampling = SAMPLING) -> None:
        self.name = name
        self.endpoint = endpoint
        self.briefing = briefing
        self.sampling = sampling

    @property
    def settings(self) -> dict[str, Any]:
        """Return the values of ``FIXED_SETTINGS``."""
        briefing = self.briefing
        return {
            "model": self.endpoint.model or self.endpoint.facts().model,
            "dimensions": list(briefing.dimensions),
            "pictures": briefing.pictures,
            "prompt_sha256": briefing.sha256,
            "seed": None,
            **self.sampling.settings(),
        }

    def ask(
        self,
        shown: tuple[int, ...],
        question: Question,
        traces: Sequence[TraceForJudge],
        on_usage: Callable[[Usage], None],
        stop: Stop,
    ) -> Judgement:
        """Judge one trace, or a pair as left and right.

        :param shown: the versions, for the judgement; they are not sent
        :param on_usage: called with the tokens of each request as soon as they are known
        :raises PolicyError: the server does not answer
        :raises Stopped: ``stop`` was set meanwhile
        """
        kind: Kind = "scores" if len(shown) == 1 else "pair"
        messages = self.briefing.messages(question, traces)
        first_sha256 = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
        form = self.briefing.schema(kind, traces)
        answers: list[_Reply] = []
        answer: JudgeScore | PreferenceAnswer | None = None
        used = Usage()

        def count(usage: Usage) -> None:
            nonlocal used
            used += usage
            on_usage(usage)

        while answer is None and len(answers) < MAX_ATTEMPTS:
            reply = self._reply(messages, form, count, stop)
            answers.append(reply)
            try:
                answer = self._read(kind, reply, traces)
            except UnreadableAnswer as fault:
                messages = [*messages, *self.briefing.again(kind, reply.text, str(fault))]
        settings = self.settings | {"server": self.endpoint.url, "request_sha256": first_sha256}
        settings |= {"model_says": answers[-1].model, "left_out": list(self.endpoint.left_out)}
        return Judgement(
            judge=self.name,
            shown=shown,
            answer=answer,
            reasoning="\n\n".join(one.reasoning for one in answers if one.reasoning),
            settings=settings,
            replies=tuple(one.text for one in answers),
            usage=used,
        )

    def _read(self, kind: Kind, reply: _Reply, traces: Sequence[TraceForJudge]) -> JudgeScore | PreferenceAnswer:
        """Read the answer of a reply. :raises UnreadableAnswer: there is none"""
        try:
            if kind == "pair":
                return read_preference(reply.text)
            steps = [step.id for step in traces[0].trace.steps]
            return read_score(reply.text, self.briefing.dimensions, steps)
        except UnreadableAnswer as fault:
            if reply.finish != "length":
                raise
            limit = self.sampling.max_tokens
            raise UnreadableAnswer(f"it was cut at its limit of {limit} tokens, and so {fault}") from fault

    def _reply(
        self, messages: list[Message], form: Mapping[str, Any], use: Callable[[Usage], None], stop: Stop
    ) -> _Reply:
        text, reasoning, model = "", "", ""
        finish: str | None = None
        stream = self.endpoint.stream(messages, self.sampling, stop, response_format=form, whole=True)
        with closing(stream):
            for delta in stream:
                text += delta.text
                reasoning += delta.reasoning
                finish = delta.finish or finish
                model = delta.model or model
                if delta.usage is not None:
                    use(delta.usage)
        if stop.is_set:
            raise Stopped
        verdict, thought = split_reasoning(text, reasoning)
        return _Reply(verdict, thought, finish, model)
