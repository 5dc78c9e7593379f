"""A model judge behind an OpenAI-compatible server: one thing asked, one judgement.

Temperature 0 and a fixed seed, so that it can be asked again. An answer that cannot be read is asked for once
more, with what was wrong; after that the judgement is that there is none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from agent.conversation import Stop, Usage
from agent.policies.openai.endpoint import Endpoint
from agent.policies.sampling import Sampling
from reviewer.blind.judge.answers import Unreadable, apart, read_preference, read_score
from reviewer.blind.judge.prompts import Briefing, Message, ShownToJudge
from reviewer.blind.results import JudgedScore, Judgement
from reviewer.blind.sheet import OwnPreference, Question
from reviewer.blind.values import Kind

SAMPLING = Sampling(temperature=0.0, max_tokens=4096, seed=1)
THE_SAME = ("model", "dimensions", "pictures", "prompt_sha256", "temperature", "top_p", "max_tokens", "seed")
"""Settings that are the same for everything that a judge of one name is asked in a session."""
ASKS = 2


class Stopped(Exception):
    """Somebody asked to stop before there was an answer."""


@dataclass(frozen=True)
class _Said:
    """One answer: word for word, what it thought, and how it ended."""

    text: str
    reasoning: str
    finish: str | None
    model: str


class Judge:
    """One model, asked in one way. Safe to use from many threads at once.

    :param name: by which its judgements are kept
    """

    def __init__(self, name: str, endpoint: Endpoint, briefing: Briefing, sampling: Sampling = SAMPLING) -> None:
        self.name = name
        self.endpoint = endpoint
        self.briefing = briefing
        self.sampling = sampling

    @property
    def settings(self) -> dict[str, Any]:
        """``THE_SAME``, with their values."""
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
        traces: Sequence[ShownToJudge],
        use: Callable[[Usage], None],
        stop: Stop,
    ) -> Judgement:
        """Ask about one trace, or about two as left and right.

        :param shown: the versions, for the judgement; they are not sent
        :param use: told the tokens of each request as soon as they are known
        :raises PolicyError: the server cannot be asked
        :raises Stopped: ``stop`` was set meanwhile
        """
        kind: Kind = "scores" if len(shown) == 1 else "pair"
        messages = self.briefing.messages(question, traces)
        first_sha256 = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
        form = self.briefing.schema(kind, traces)
        answers: list[_Said] = []
        answer: JudgedScore | OwnPreference | None = None
        used = Usage()

        def count(usage: Usage) -> None:
            nonlocal used
            used += usage
            use(usage)

        while answer is None and len(answers) < ASKS:
            said = self._said(messages, form, count, stop)
            answers.append(said)
            try:
                answer = self._read(kind, said, traces)
            except Unreadable as fault:
                messages = [*messages, *self.briefing.again(kind, said.text, str(fault))]
        settings = self.settings | {"server": self.endpoint.url, "request_sha256": first_sha256}
        settings |= {"model_says": answers[-1].model, "left_out": list(self.endpoint.left_out)}
        return Judgement(
            judge=self.name,
            shown=shown,
            answer=answer,
            reasoning="\n\n".join(one.reasoning for one in answers if one.reasoning),
            settings=settings,
            said=tuple(one.text for one in answers),
            usage=used,
        )

    def _read(self, kind: Kind, said: _Said, traces: Sequence[ShownToJudge]) -> JudgedScore | OwnPreference:
        """:raises Unreadable: it is no answer"""
        try:
            if kind == "pair":
                return read_preference(said.text)
            steps = [step.id for step in traces[0].trace.steps]
            return read_score(said.text, self.briefing.dimensions, steps)
        except Unreadable as fault:
            if said.finish != "length":
                raise
            limit = self.sampling.max_tokens
            raise Unreadable(f"it was cut at its limit of {limit} tokens, and so {fault}") from fault

    def _said(
        self, messages: list[Message], form: Mapping[str, Any], use: Callable[[Usage], None], stop: Stop
    ) -> _Said:
        text, reasoning, model = "", "", ""
        finish: str | None = None
        stream = self.endpoint.stream(messages, self.sampling, stop, response_format=form)
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
        verdict, thought = apart(text, reasoning)
        return _Said(verdict, thought, finish, model)
