"""An inspection as an environment: ``reset`` with a question, ``step`` with each turn of the assistant, a reward.

It runs ``agent.loop.inspect``, so the tool, its errors and its pictures are those of live vetting. No torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from PIL import Image

from agent.conversation import Conversation, Piece
from agent.language import tr
from agent.loop import MAX_TURNS, Ended, Event, Started, ToolResult, inspect
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.messages import Message, to_messages, tool_result
from training.data.records import Question
from training.reward import Reward, score


class Step(NamedTuple):
    """What follows a turn of the assistant.

    ``observation`` is the tool's message, None at the end of the episode; ``reward`` is 0 before the end. ``info`` has
    ``picture`` (RGB, or None), ``ok`` (None without a call) and, at the end, ``reason`` of ``agent.loop.Ended``,
    ``predicted`` and ``format_ok`` of the reward.
    """

    observation: Message | None
    reward: float
    done: bool
    info: dict[str, Any]


class Environment:
    """One episode at a time; use one instance per trajectory that runs at the same time.

    :param max_turns: turns of the assistant; the call of the last one is not run, as published
    :param with_tool: False: the tool is not described, and there is one turn
    :param alpha: penalty for wrong form
    :param drafter: who writes the turns, for ``trajectory``
    """

    def __init__(
        self,
        max_turns: int = MAX_TURNS,
        with_tool: bool = True,
        alpha: float = 0.2,
        drafter: Drafter | None = None,
    ) -> None:
        self.messages: list[Message] = []
        self.pictures: list[Image.Image] = []
        self._max_turns = max_turns
        self._with_tool = with_tool
        self._alpha = alpha
        self._policy = _Suspended(drafter or Drafter("model", "environment"))
        self._question: Question | None = None
        self._events: Iterator[Event] = iter(())
        self._turns: list[str] = []
        self._ended: Ended | None = None

    def reset(self, question: Question) -> list[Message]:
        """Begin an episode.

        :returns: the system turn and the question with its picture (RGB), as chat messages with lists of blocks
        """
        self._question, self._turns, self._ended = question, [], None
        self._policy.waits = False
        spectrum = question.spectrum()
        self._events = inspect(spectrum, question.task, self._policy, self._max_turns, with_tool=self._with_tool)
        started = next(self._events)
        assert isinstance(started, Started), "an inspection begins with Started"
        self.pictures = [started.overview.convert("RGB")]
        self._advance()
        seen = self._policy.conversation
        assert seen is not None, "the first turn is waited for"
        self.messages = to_messages(seen.system, seen.prompt, [], self.pictures)
        if not self._with_tool:
            self.messages[0]["content"] = [{"type": "text", "text": seen.system}]
        return list(self.messages)

    def step(self, text: str) -> Step:
        """Take the assistant's turn, without its end token, and run its call.

        :raises RuntimeError: the episode has ended, or none has begun
        """
        if self._question is None or self._ended is not None:
            raise RuntimeError(tr("step: found no episode in progress, expected reset() first"))
        self._turns.append(text)
        self.messages.append({"role": "assistant", "content": [{"type": "text", "text": text}]})
        self._policy.text, self._policy.waits = text, False
        result = self._advance()
        picture = None if result is None or result.picture is None else result.picture.convert("RGB")
        info: dict[str, Any] = {"picture": picture, "ok": None if result is None else result.zoom.ok}
        if self._ended is not None:
            reward = self.reward()
            info |= {"reason": self._ended.reason, "predicted": reward.predicted, "format_ok": reward.format_ok}
            return Step(None, reward.score, True, info)
        assert result is not None, "only a call continues an episode"
        observation = tool_result(
            result.zoom.observation, None if picture is None else {"type": "image", "image": picture}
        )
        self.messages.append(observation)
        if picture is not None:
            self.pictures.append(picture)
        return Step(observation, 0.0, False, info)

    def reward(self) -> Reward:
        """Score what the assistant has written so far.

        :raises RuntimeError: no episode has begun
        """
        if self._question is None:
            raise RuntimeError(tr("reward: found no episode, expected reset() first"))
        return score("\n".join(self._turns), self._question.label, self._alpha)

    @property
    def trajectory(self) -> Trajectory:
        """The trajectory of the episode. :raises RuntimeError: it has not ended"""
        if self._ended is None:
            raise RuntimeError(tr("trajectory: found no ended episode, expected steps until done"))
        return self._ended.trajectory

    def _advance(self) -> ToolResult | None:
        """Run to the next turn of the assistant or to the end; return the result of the call on the way."""
        result = None
        for event in self._events:
            if isinstance(event, ToolResult):
                result = event
            elif isinstance(event, Ended):
                self._ended = event
            if self._policy.waits:
                break
        return result


class _Suspended:
    """A policy whose turns come from outside: it yields an empty text and waits."""

    def __init__(self, drafter: Drafter) -> None:
        self.drafter = drafter
        self.conversation: Conversation | None = None
        self.waits = False
        self.text = ""

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        self.conversation = conversation
        self.waits = True
        yield ""
        if self.text:
            yield self.text
