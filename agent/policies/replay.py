"""Replay: says a stored trajectory again, so that it can be watched and its pictures drawn anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent.conversation import Conversation, Piece
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.tags import turn_text


class Replay:
    """The policy. Each turn is the trajectory's own in canonical text; past its end it says nothing, so that
    a trace without an answer ends without one again.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self._turns = tuple(turn_text(turn) for turn in trajectory.turns())

    @property
    def drafter(self) -> Drafter:
        """The original's: a replay has no thoughts of its own."""
        drafter = self.trajectory.drafter
        return replace(drafter, settings=dict(drafter.settings) | {"replayed": True})

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The turn of that number."""
        yield from self._turns[len(conversation.exchanges) :][:1]
