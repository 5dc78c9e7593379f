"""What a GRPO run is told. The defaults are the published ones where there are any.

Published is ``recipe/spec_o3/configs/spec_o3.yaml`` of github.com/Maxwell-Jia/spec-o3 (commit dd6eb91), for
verl, with verl's defaults for what it leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from agent.loop import MAX_TURNS
from training.settings import ModelSettings, SettingsError

Engine = Literal["none", "colocate", "server"]
Correction = Literal["none", "token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]


@dataclass(frozen=True)
class VllmSettings:
    """Who writes. ``none``: the model that learns, through transformers.

    :param mode: ``colocate``, a vLLM inside each process, on the GPUs that learn; ``server``, one on others
    :param memory: share of each GPU that a colocated vLLM takes
    :param tensor_parallel: processes that share a colocated vLLM
    :param correction: how TRL weighs what vLLM and the model that learns give other probabilities for;
        published, none
    """

    mode: Engine = "none"
    memory: float = 0.3
    tensor_parallel: int = 1
    host: str = "127.0.0.1"
    port: int = 8000
    group_port: int = 51216
    timeout: float = 240.0
    correction: Correction = "none"


@dataclass(frozen=True)
class GrpoSettings:
    """One run. A round asks ``prompts`` questions, each inspected ``rollouts`` times, and is learned from in
    as many updates as it has mini-batches.

    :param data: what ``training.data.questions`` reads; ``labels``, a table for spectrum files in it;
        ``spectra_folder``, where spectra are that rows only name
    :param tasks: keys of those that are asked, None: all
    :param test: test data; whose sources are among the questions is refused, or dropped with ``drop_leaks``
    :param alpha: what bad form costs
    :param mini_batch: questions an update; published, verl counts them so
    :param per_device: trajectories that a process holds at once while it learns; changes memory, not results
    :param rounds: how many, None: as many as ``epochs`` has
    :param clip_low: the ratio of new to old probability counts down to 1 - ``clip_low``
    :param dual_clip: and up to this for what did worse than its group; TRL's ``delta``
    :param kl: weight of the divergence from where the run started
    :param loss: ``dapo``: each token counts alike, as in the published token-mean
    :param scale: ``group``: an advantage is divided by the standard deviation of its group's rewards
    :param max_turns: assistant turns. 8 allows 7 looks, as the published code; 9 the paper's 8
    :param turn_tokens: most tokens of a turn; None: as many as are left of ``response_tokens``
    :param prompt_tokens: most tokens of a question, its picture included; a longer one ends the run
    :param response_tokens: most tokens of all that follows the question, what the tool says included
    :param writing_batch: turns that transformers writes at once in each process
    :param save_rounds: a checkpoint every so many rounds, of which the last ``keep_checkpoints`` are kept
    :param traces: trajectories a round that are kept to be looked at
    :param deepspeed: a DeepSpeed file, where the launcher's own settings do not name one
    :param merge: what LoRA learned is worked into the weights at the end, and saved whole
    """

    model: ModelSettings
    output: str
    data: tuple[str, ...] = ()
    labels: str | None = None
    spectra_folder: str | None = None
    tasks: tuple[str, ...] | None = None
    test: tuple[str, ...] = ()
    drop_leaks: bool = False
    seed: int = 42
    with_tool: bool = True
    alpha: float = 0.2
    prompts: int = 64
    rollouts: int = 8
    mini_batch: int = 32
    per_device: int = 1
    epochs: int = 3
    rounds: int | None = None
    learning_rate: float = 1e-6
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    clip_low: float = 0.2
    clip_high: float = 0.2
    dual_clip: float | None = 3.0
    kl: float = 0.0
    loss: Literal["dapo", "grpo", "bnpo", "dr_grpo"] = "dapo"
    scale: Literal["group", "batch", "none"] = "group"
    temperature: float = 1.0
    top_p: float = 1.0
    max_turns: int = MAX_TURNS
    turn_tokens: int | None = None
    prompt_tokens: int = 2048
    response_tokens: int = 32768
    writing_batch: int = 32
    vllm: VllmSettings = field(default_factory=VllmSettings)
    gradient_checkpointing: bool = True
    save_rounds: int = 10
    keep_checkpoints: int = 2
    traces: int = 8
    deepspeed: str | None = None
    merge: bool = False

    def __post_init__(self) -> None:
        least = {
            "prompts": 1,
            "rollouts": 2,
            "mini_batch": 1,
            "per_device": 1,
            "epochs": 1,
            "max_turns": 1,
            "prompt_tokens": 1,
            "response_tokens": 1,
            "writing_batch": 1,
            "save_rounds": 1,
            "keep_checkpoints": 1,
            "traces": 0,
        }
        for name, smallest in least.items():
            if (found := getattr(self, name)) < smallest:
                raise SettingsError(f"{name}: found {found}, wanted {smallest} or more")
        for name in ("rounds", "turn_tokens"):
            if (found := getattr(self, name)) is not None and found < 1:
                raise SettingsError(f"{name}: found {found}, wanted 1 or more, or null")
        if self.temperature <= 0:
            raise SettingsError(
                f"temperature: found {self.temperature}, wanted above 0: rollouts all alike teach nothing"
            )
        if not 0 < self.top_p <= 1:
            raise SettingsError(f"top_p: found {self.top_p}, wanted above 0, at most 1")
        if self.merge and self.model.method != "lora":
            raise SettingsError("merge: there is nothing to merge with `method: full`; wanted `method: lora`")


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


def schedule(settings: GrpoSettings, questions: int) -> list[tuple[int, ...]]:
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


def derived_seed(seed: int, *place: int) -> int:
    """A seed for the random numbers of one place in a run (round, process, call): they are the same whatever
    was drawn before, so that a resumed run writes what an uninterrupted one would have written.
    """
    return int(np.random.SeedSequence([seed, *place]).generate_state(1, np.uint64)[0] >> np.uint64(1))
