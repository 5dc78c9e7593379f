"""How a round is spread over processes and updates, and which questions it asks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from training.grpo.settings import GrpoSettings
from training.settings import SettingsError


@dataclass(frozen=True)
class Batches:
    """A round in TRL's terms, which counts trajectories a process.

    :param per_device: trajectories a process learns from at once
    :param accumulated: of such, an update
    :param round: of such, a round
    """

    per_device: int
    accumulated: int
    round: int

    @property
    def updates(self) -> int:
        """Updates a round."""
        return self.round // self.accumulated


def batches(settings: GrpoSettings, processes: int) -> Batches:
    """The same round whatever the number of processes: ``prompts`` times ``rollouts`` trajectories.

    :raises SettingsError: it cannot be divided so
    """
    if settings.prompts % settings.mini_batch:
        raise SettingsError(
            f"mini_batch: found {settings.mini_batch}, wanted a divisor of prompts ({settings.prompts})"
        )
    trajectories = settings.mini_batch * settings.rollouts
    at_once = processes * settings.per_device
    if trajectories % at_once:
        raise SettingsError(
            f"an update has {settings.mini_batch} x {settings.rollouts} = {trajectories} trajectories, which "
            f"{processes} processes of per_device {settings.per_device} cannot share: wanted a divisor of it"
        )
    if settings.vllm.mode == "colocate" and processes % settings.vllm.tensor_parallel:
        raise SettingsError(
            f"vllm.tensor_parallel: found {settings.vllm.tensor_parallel}, wanted a divisor of the "
            f"{processes} processes"
        )
    accumulated = trajectories // at_once
    return Batches(settings.per_device, accumulated, accumulated * settings.prompts // settings.mini_batch)


def rounds(settings: GrpoSettings, questions: int) -> int:
    """How many rounds the run has. What is left over of an epoch is not asked, as published.

    :raises SettingsError: fewer questions than a round asks
    """
    if questions < settings.prompts:
        raise SettingsError(f"prompts: found {settings.prompts} a round, but only {questions} questions")
    return settings.rounds or settings.epochs * (questions // settings.prompts)


def asked(settings: GrpoSettings, questions: int) -> list[tuple[int, ...]]:
    """By round, the questions that it asks; each epoch is shuffled anew. It follows from the seed alone, so
    that a resumed run asks what an uninterrupted one would have asked.
    """
    total = rounds(settings, questions)
    per_epoch = questions // settings.prompts
    found: list[tuple[int, ...]] = []
    for number in range(total):
        epoch, place = divmod(number, per_epoch)
        if place == 0:
            order = np.random.default_rng([settings.seed, epoch]).permutation(questions)
        start = place * settings.prompts
        found.append(tuple(int(n) for n in order[start : start + settings.prompts]))
    return found


def seed_of(seed: int, *place: int) -> int:
    """A seed for the random numbers of one place in a run (round, process, call): they are the same whatever
    was drawn before, so that a resumed run writes what an uninterrupted one would have written.
    """
    return int(np.random.SeedSequence([seed, *place]).generate_state(1, np.uint64)[0] >> np.uint64(1))
