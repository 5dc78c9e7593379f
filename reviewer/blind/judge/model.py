"""A model judge behind an OpenAI-compatible server: one question, one judgement.

An answer that cannot be read is requested once more, with the reason; after that the judgement has no answer. The
reasoning is kept apart from the verdict.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from agent.conversation import Stop, Usage
from agent.errors import Refusal
from agent.language import tr
from agent.policies.openai.endpoint import Endpoint
from reviewer.blind.judge.answers import UnreadableAnswer, read_preference, read_score, split_reasoning
from reviewer.blind.judge.length import prompt_tokens
from reviewer.blind.judge.prompts import Briefing, Message, TraceForJudge, prompts
from reviewer.blind.judge.settings import JudgeSettings
from reviewer.blind.plan import Dimension, Kind
from reviewer.blind.results import Judgement, JudgeScore
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import PreferenceAnswer, Question

FIXED_SETTINGS = (
    *("model", "dimensions", "separately", "samples", "sees", "prompt_sha256"),
    *("system", "instructions_in", "reasoning", "chat_template_kwargs"),
    *("temperature", "top_p", "max_tokens", "seed"),
)
"""Settings that are the same for all questions to a judge of one name in a session."""
MAX_ATTEMPTS = 2


class Stopped(Exception):
    """The run was stopped before there was an answer."""


class TooLong(Refusal):
    """A question that does not fit in the server's context, with its answer: one sentence. It was not sent."""


@dataclass(frozen=True)
class JudgeQuestion:
    """One request to a judge, to be answered by one judgement.

    :param shown: the version of a trace; of a pair both, the left one first. They are not sent
    :param traces: in the same order
    :param dimensions: to be scored; not used for a pair
    :param sample: from 1
    """

    shown: tuple[int, ...]
    question: Question
    traces: tuple[TraceForJudge, ...]
    dimensions: tuple[Dimension, ...]
    sample: int = 1

    @property
    def kind(self) -> Kind:
        return "scores" if len(self.shown) == 1 else "pair"


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
    :param rubric: as it was when the session opened
    """

    def __init__(
        self, name: str, endpoint: Endpoint, rubric: Rubric, configuration: JudgeSettings | None = None
    ) -> None:
        self.name = name
        self.endpoint = endpoint
        self.rubric = rubric
        self.configuration = configuration or JudgeSettings()

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings that are the same for all questions: those of ``FIXED_SETTINGS``, and a few facts."""
        return {
            "model": self.endpoint.model or self.endpoint.facts().model,
            **self.configuration.to_json(),
            "preset": self.configuration.preset,
            "prompt_version": prompts().version,
            "prompt_sha256": self.briefing(self.configuration.dimensions).sha256,
        }

    def briefing(self, dimensions: tuple[Dimension, ...]) -> Briefing:
        """Return the instructions for a request about these dimensions."""
        chosen = self.configuration
        return Briefing(self.rubric, dimensions, chosen.sees, chosen.system, chosen.instructions_in)

    @property
    def context(self) -> int | None:
        """Tokens that a prompt and its answer may have together; None if neither settings nor server say it."""
        known = [limit for limit in (self.configuration.context, self.endpoint.facts().context) if limit is not None]
        return min(known) if known else None

    def ask(self, question: JudgeQuestion, on_usage: Callable[[Usage], None], stop: Stop) -> Judgement:
        """Judge one trace, or a pair as left and right.

        :param on_usage: called with the tokens of each request as soon as they are known
        :raises PolicyError: the server does not answer
        :raises TooLong: the question does not fit in the context
        :raises Stopped: ``stop`` was set meanwhile
        """
        briefing = self.briefing(question.dimensions)
        messages = briefing.messages(question.question, question.traces)
        self._check_length(messages)
        first_sha256 = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
        form = briefing.schema(question.kind, question.traces) if self.configuration.sends_schema else None
        answers: list[_Reply] = []
        answer: JudgeScore | PreferenceAnswer | None = None
        used = Usage()

        def count(usage: Usage) -> None:
            nonlocal used
            used += usage
            on_usage(usage)

        while answer is None and len(answers) < MAX_ATTEMPTS:
            reply = self._reply(messages, form, question.sample, count, stop)
            answers.append(reply)
            try:
                answer = self._read(question, reply)
            except UnreadableAnswer as fault:
                messages = [*messages, *briefing.again(question.kind, reply.text, str(fault))]
                try:
                    self._check_length(messages)
                except TooLong:
                    break
        settings = self.settings | {"server": self.endpoint.url, "request_sha256": first_sha256}
        settings |= {"model_says": answers[-1].model, "left_out": list(self.endpoint.left_out)}
        sent = form is not None and "response_format" not in self.endpoint.left_out
        settings |= {"json_schema": "sent" if sent else "not sent", "sample": question.sample}
        if question.kind == "scores":
            settings["scored"] = list(question.dimensions)
        return Judgement(
            judge=self.name,
            shown=question.shown,
            answer=answer,
            reasoning="\n\n".join(answer.reasoning for answer in answers if answer.reasoning),
            settings=settings,
            replies=tuple(answer.text for answer in answers),
            usage=used,
        )

    def _check_length(self, messages: Sequence[Message]) -> None:
        """Check that a prompt and the longest answer fit. :raises TooLong: they do not"""
        limit = self.context
        if limit is None:
            return
        prompt, answer = prompt_tokens(messages), self.configuration.sampling.max_tokens
        if prompt + answer > limit:
            raise TooLong(
                tr(
                    "about {prompt:,} tokens and {answer:,} for the answer, the limit is {limit:,}",
                    prompt=prompt,
                    answer=answer,
                    limit=limit,
                )
            )

    def _read(self, question: JudgeQuestion, reply: _Reply) -> JudgeScore | PreferenceAnswer:
        """Read the answer of a reply. :raises UnreadableAnswer: there is none"""
        try:
            if question.kind == "pair":
                return read_preference(reply.text)
            steps = [step.id for step in question.traces[0].trace.steps]
            return read_score(reply.text, question.dimensions, steps)
        except UnreadableAnswer as fault:
            if reply.finish != "length":
                raise
            limit = self.configuration.sampling.max_tokens
            # Sent to the judge.
            raise UnreadableAnswer(f"it was cut at its limit of {limit} tokens, and so {fault}") from fault

    def _reply(
        self,
        messages: list[Message],
        form: Mapping[str, Any] | None,
        sample: int,
        use: Callable[[Usage], None],
        stop: Stop,
    ) -> _Reply:
        text, reasoning, model = "", "", ""
        finish: str | None = None
        stream = self.endpoint.stream(
            messages,
            # Samples of one seed would all be the same.
            self.configuration.sampling.for_sample(sample - 1),
            stop,
            response_format=form,
            template=self.configuration.template,
            whole=True,
        )
        with closing(stream):
            for delta in stream:
                text += delta.text + delta.refusal
                reasoning += delta.reasoning
                finish = delta.finish or finish
                model = delta.model or model
                if delta.usage is not None:
                    use(delta.usage)
        if stop.is_set:
            raise Stopped
        verdict, thought = split_reasoning(text, reasoning)
        return _Reply(verdict, thought, finish, model)
