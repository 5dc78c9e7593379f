"""Policy that answers with a specialist: one turn, no zoom, an answer with a score and without a reason."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from agent.conversation import CannotTell, Conversation, Piece, PolicyError, Score
from agent.language import deferred
from agent.measure.values import signed
from agent.policies.openai.health import Health
from agent.policies.specialist.grid import FIRST, LAST, channels, sample
from agent.policies.specialist.network import Network, SpecialistError, SpecialistFolder
from agent.trajectory import Drafter

NAME = "specialist, 1-D network"


@dataclass(frozen=True)
class Specialist:
    """The policy. It can be pickled and sent to other processes.

    The score of an answer is the log odds of YES minus those of the threshold of the specialist: 0 is the threshold.

    :param path: a folder of ``spec-o3 specialist train``
    """

    path: Path

    @property
    def drafter(self) -> Drafter:
        """Task, threshold and weights. :raises SpecialistError: the folder cannot be read"""
        folder = self._folder
        settings = {"task": folder.task, "threshold": folder.threshold, "weights_sha256": folder.weights_sha256}
        return Drafter("model", NAME, settings)

    @property
    def task(self) -> str:
        """Key of the task that it was trained on. :raises SpecialistError: the folder cannot be read"""
        return self._folder.task

    def check(self) -> Health:
        """Check whether it can be used."""
        try:
            folder, _ = self._folder, self._network
            return Health(True, deferred("{name}, in this process, for {tasks}", name=NAME, tasks=folder.task), NAME)
        except PolicyError as problem:
            return Health(False, problem.sentence, NAME)

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Yield the answer and its score. :raises SpecialistError: it was trained on another task"""
        folder, task = self._folder, conversation.task.key
        if task != folder.task:
            raise SpecialistError(
                deferred(
                    "{path}: found a specialist for {task!r:.60}, expected one for {task2}",
                    path=self.path,
                    task=folder.task,
                    task2=task,
                )
            )
        rows = sample(conversation.spectrum)
        log_odds = float(self._network.log_odds(channels(rows))[0])
        score = log_odds - math.log(folder.threshold / (1 - folder.threshold))
        verdict = "YES" if score >= 0 else "NO"
        yield (
            f"<think>A 1-D convolutional network, trained on labels of the class {task}, gives log odds of YES of "
            f"{signed(log_odds)}; its threshold is at {signed(log_odds - score)}. It gives no reason, and no line was "
            f"measured.</think><answer>\\boxed{{{verdict}}} The log odds of the network are "
            f"{'above' if verdict == 'YES' else 'below'} its threshold.</answer>"
        )
        yield Score(score)
        if not rows.seen.any():
            yield CannotTell(deferred("there are no data between {first:.0f} and {last:.0f} Å", first=FIRST, last=LAST))

    @cached_property
    def _folder(self) -> SpecialistFolder:
        return SpecialistFolder.read(self.path)

    @cached_property
    def _network(self) -> Network:
        return Network.load(self._folder)


@dataclass(frozen=True)
class ManySpectra:
    """Makes the policy of each sample in a run on many spectra, in this process or in others: it can be pickled."""

    path: Path

    def __call__(self, sample: int = 0) -> Specialist:
        """Make the policy; every sample has the same answer."""
        return Specialist(self.path)
