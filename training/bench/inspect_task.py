"""The bench as a task of Inspect (inspect.aisi.org.uk): any model that Inspect reaches becomes a row of the table.

``inspect eval training/bench/inspect_task.py -T data=FOLDER --model PROVIDER/MODEL``. The questions, the loop, the tool
and the reading of the answer are those of ``spec-o3 bench``; ``spec-o3 bench table LOG.eval`` makes the row. Only
Inspect imports this module: it needs the extra ``inspect``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio.from_thread
import anyio.to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentReasoning,
    ContentText,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Target, metric, scorer
from inspect_ai.scorer import Scorer as InspectScorer
from inspect_ai.scorer import Value as InspectValue
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolInfo, ToolParams

from agent.conversation import Conversation, Piece, Remark, Usage
from agent.foreign.own import KEY, extra_of
from agent.loop import MAX_TURNS, Ended, Text, inspect
from agent.policies.native import instructions, prompts
from agent.policies.native_turns import Reply
from agent.policies.openai.stream import CallPiece, Delta
from agent.tool import MEASURE, tool_schemas
from agent.trajectory import Drafter
from agent.trajectory.messages import data_url
from training.bench.answers import place
from training.bench.outcomes import judged, question_fields, read_outcome
from training.bench.scores import scores as scores_of
from training.data import questions as read_questions
from training.data.records import Question

OUTCOME = "outcome"
"""Key of a score's metadata: the line of a file of predictions."""


class InspectModel:
    """A policy whose turns come from Inspect's model. It runs in a thread that Inspect's event loop started.

    ``messages`` and ``output`` are the conversation as the model last had it, and its last output.
    """

    def __init__(self, model: Model, measure: bool = False) -> None:
        self._model = model
        self.measure = measure
        self._turns: list[ChatMessageAssistant] = []
        self.messages: list[ChatMessage] = []
        self.output: ModelOutput | None = None

    @property
    def drafter(self) -> Drafter:
        settings: dict[str, Any] = {"dialect": "inspect"}
        return Drafter("model", str(self._model), settings | ({MEASURE: True} if self.measure else {}))

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Yield the turn as tagged text, then its tokens and what cut it."""
        self.messages = self._messages(conversation)
        tools = [_tool_info(schema) for schema in tool_schemas(*conversation.tools[1:])]
        self.output = anyio.from_thread.run(partial(self._model.generate, self.messages, tools=tools))
        message = self.output.message
        self.messages = [*self.messages, message]
        # One answer per call: the loop runs the first.
        calls = (message.tool_calls or [])[:1]
        self._turns.append(message.model_copy(update={"tool_calls": calls or None}))
        reply = Reply()
        for part in [message.content] if isinstance(message.content, str) else message.content:
            if isinstance(part, ContentReasoning):
                yield reply.add(Delta(reasoning=part.reasoning))
            elif isinstance(part, str | ContentText):
                yield reply.add(Delta(text=part if isinstance(part, str) else part.text))
        pieces = tuple(CallPiece(0, call.id, call.function, json.dumps(call.arguments)) for call in calls)
        yield reply.add(Delta(calls=pieces)) + reply.end()
        usage = self.output.usage
        if usage is not None:
            cached = usage.input_tokens_cache_read or 0
            yield Usage(1, usage.input_tokens + cached, cached, usage.output_tokens)
        if self.output.stop_reason in ("max_tokens", "content_filter", "model_length"):
            yield Remark(f"cut: {self.output.stop_reason}")

    def _messages(self, conversation: Conversation) -> list[ChatMessage]:
        turns = len(conversation.exchanges) + conversation.turns_left
        system = [conversation.system, instructions(turns), *([prompts().measure] if conversation.measure else [])]
        overview = ContentImage(image=data_url(conversation.overview))
        messages: list[ChatMessage] = [
            ChatMessageSystem(content="\n\n".join(system)),
            ChatMessageUser(content=[overview, ContentText(text=conversation.prompt)]),
        ]
        for own, exchange in zip(self._turns, conversation.exchanges, strict=True):
            messages.append(own)
            if exchange.observation is None:
                continue
            text, image = exchange.observation.text, exchange.observation.image
            if not own.tool_calls:  # the call was written as text
                shown: list[Content] = [] if image is None else [ContentImage(image=data_url(image))]
                messages.append(ChatMessageUser(content=[*shown, ContentText(text=text)]))
                continue
            call = own.tool_calls[0]
            messages.append(ChatMessageTool(content=text, tool_call_id=call.id, function=call.function))
            if image is not None:
                # Not every provider takes a picture in a tool's answer.
                picture = ContentImage(image=data_url(image))
                messages.append(ChatMessageUser(content=[picture, ContentText(text=prompts().picture)]))
        return messages


def _tool_info(schema: dict[str, Any]) -> ToolInfo:
    function = schema["function"]
    parameters = ToolParams.model_validate(function["parameters"])
    return ToolInfo(name=function["name"], description=function["description"], parameters=parameters)


@solver
def inspection(by_name: dict[str, Question], max_turns: int, measure: bool) -> Solver:
    """Inspect the spectrum of a sample in the loop of live vetting."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        question = by_name[str(state.sample_id)]
        policy = InspectModel(get_model(), measure)
        texts, ended, fields = await anyio.to_thread.run_sync(_inspected, question, policy, max_turns)
        outcome = judged(
            fields,
            texts,
            ended.trajectory,
            ended.reason,
            prompt_tokens=ended.usage.prompt,
            cached_tokens=ended.usage.cached,
            completion_tokens=ended.usage.completion,
            sample=state.epoch - 1,
        )
        state.messages = policy.messages
        if policy.output is not None:
            state.output = policy.output
        state.metadata |= {KEY: extra_of(ended.trajectory), OUTCOME: outcome.to_json()}
        state.completed = True
        return state

    return solve


def _inspected(question: Question, policy: InspectModel, max_turns: int) -> tuple[list[str], Ended, dict[str, Any]]:
    spectrum = question.spectrum()
    texts: list[str] = []
    for event in inspect(spectrum, question.task, policy, max_turns):
        if isinstance(event, Text):
            texts += [""] * (event.turn - len(texts))
            texts[event.turn - 1] += event.text
        elif isinstance(event, Ended):
            ended = event
    return texts, ended, question_fields(question, spectrum)


@metric
def bench_scores() -> Metric:
    """F1, accuracy and the share with an answer, as ``spec-o3 bench`` has them: means over tasks."""

    def of_all(scores: list[SampleScore]) -> InspectValue:
        outcomes = [read_outcome((each.score.metadata or {})[OUTCOME], "score") for each in scores]
        result = scores_of(outcomes)
        named = {"f1": result.f1, "accuracy": result.accuracy, "answered": result.answer_rate}
        return {name: float("nan") if each.value is None else each.value for name, each in named.items()}

    return of_all


@scorer(metrics=[bench_scores()])
def verdict() -> InspectScorer:
    """Score the verdict as the published reward reads it; an answer that is neither YES nor NO is wrong."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = state.metadata[OUTCOME]
        right = outcome["predicted"] == target.text
        return Score(value=int(right), answer=outcome["predicted"] or "none", metadata={OUTCOME: outcome})

    return score


@task
def spec_o3(
    data: str,
    labels: str | None = None,
    classes: str | None = None,
    spectra: str | None = None,
    measure: bool = False,
    max_turns: int = MAX_TURNS,
) -> Task:
    """Inspect labelled spectra.

    :param data: what ``spec-o3 bench --data`` takes, several separated by commas
    :param labels: table of labels, for spectra without one in their folder
    :param classes: only these tasks, keys separated by commas
    :param spectra: folder of the spectra of rows that only name them
    :param measure: offer the ``measure`` tool too
    :param max_turns: of the assistant; as published 8
    """
    keys: Sequence[str] | None = classes.split(",") if classes else None
    only = keys[0] if keys is not None and len(keys) == 1 else None
    given = read_questions(
        data.split(","),
        labels=Path(labels) if labels else None,
        task=only,
        part="test",
        spectra=Path(spectra) if spectra else None,
    )
    by_place = {place(each): each for each in given if keys is None or each.task.key in keys}
    samples = [
        Sample(input=each.task.prompt, target=each.label, id=name, metadata={"task": each.task.key})
        for name, each in by_place.items()
    ]
    return Task(
        dataset=MemoryDataset(samples, name="spec-o3"),
        solver=inspection(by_place, max_turns, measure),
        scorer=verdict(),
    )
