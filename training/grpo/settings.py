"""Settings of a GRPO run, and the schedule of its rounds. Defaults are the published ones where there are any.

Published: ``recipe/spec_o3/configs/spec_o3.yaml`` of github.com/Maxwell-Jia/spec-o3 (commit dd6eb91), for verl, with
verl's defaults for the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass as settings_dataclass

from agent.language import tr
from agent.loop import MAX_TURNS
from agent.settings_file import Flag, Mismatch, Whole
from training.settings import (
    CLOSED,
    AtLeast0,
    AtLeast1,
    AtLeast1OrNull,
    ModelSettings,
    Real,
    SettingsError,
    Texts,
    check_merge,
)
from training.trl_options import Options, Tracker, refuse

Engine = Literal["none", "colocate", "server"]
Correction = Literal["none", "token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]


@settings_dataclass(frozen=True, config=CLOSED)
class VllmSettings:
    """Generation. ``none``: by the trained model itself, through transformers.

    :param mode: ``colocate``, a vLLM inside each process, on the training GPUs; ``server``, one on other GPUs
    :param memory: share of the GPU memory that a colocated vLLM takes
    :param sleep: a colocated vLLM gives its memory back while the trained model learns
    :param tensor_parallel: processes that share a colocated vLLM
    :param correction: how TRL corrects for differences between the probabilities of vLLM and the trained model:
        by token, as a whole trajectory of thousands of tokens would often be masked; published: none
    :param options: further arguments of a colocated vLLM, as ``vllm.LLM`` names them
    """

    mode: Engine = "none"
    memory: Real = 0.3
    sleep: Flag = False
    tensor_parallel: Whole = 1
    host: str = "127.0.0.1"
    port: Whole = 8000
    group_port: Whole = 51216
    timeout: Real = 240.0
    correction: Correction = "token_truncate"
    options: dict[str, Any] = field(default_factory=dict)


@settings_dataclass(frozen=True, config=CLOSED)
class GrpoSettings:
    """One run. A round asks ``prompts`` questions, each inspected ``rollouts`` times, and is learned from in
    as many updates as it has mini-batches.

    :param data: input of ``training.data.questions``; ``labels``, a table for spectrum files in it;
        ``spectra_folder``, the spectra of rows that only name them
    :param tasks: keys of the tasks that are used; None: all
    :param task_files: a folder with task files of one's own
    :param validation: labelled data like ``data``, inspected greedily every ``validate_rounds`` rounds; the weights
        with the best reward on it are kept. None of its spectra may be in ``data``
    :param validation_questions: use so many of them, selected by ``seed``; None: all
    :param patience: stop after so many validations without a better reward; None: never
    :param test: test data; questions about its spectra are refused, or dropped with ``drop_leaks``
    :param skip_damaged: questions with damaged text (``training.data.damage``) are dropped; they are counted in any
        case
    :param alpha: penalty for wrong form
    :param evidence: added to the reward if a tool call of the trajectory stands its trial (``training.grpo.evidence``),
        whatever the answer; 0: the published reward, and no trial. Each trial continues two more inspections
    :param mini_batch: questions per update, as verl counts them
    :param per_device: trajectories per process and forward pass in training; changes memory use, and with
        ``loss: bnpo`` the result, with the others none
    :param stratified: each round has each task and label in nearly the same share as the data, not at random
    :param rounds: number of rounds; None: as many as ``epochs`` has
    :param warmup: rounds in which the learning rate rises from 0
    :param schedule: of the learning rate afterwards: constant, or down to 0 in the last round
    :param clip_low: the ratio of new to old probability counts down to 1 - ``clip_low``
    :param dual_clip: and up to this for what did worse than its group; TRL's ``delta``
    :param kl: weight of the divergence from where the run started
    :param loss: ``grpo``: the mean over the tokens of each trajectory, then over trajectories, which is what the
        published token-mean over micro-batches of one trajectory comes to; ``dapo``: each token counts alike;
        ``bnpo``: each token of a forward pass, then the mean over passes, so the result depends on ``per_device``
        and the number of processes; ``dr_grpo``: the sum of a trajectory, divided by ``response_tokens``
    :param scale: ``group``: an advantage is divided by the standard deviation of its group's rewards
    :param max_turns: assistant turns. 8 allows 7 tool calls, as the published code; 9 allows the paper's 8
    :param mask_unfinished: a trajectory without an answer at its last turn or at a token limit counts in the mean of
        its group, but carries no loss itself
    :param filter_groups: the mean of the loss is over the groups whose rewards are not all equal (with ``bnpo``: the
        forward passes with one of these); nothing is sampled in place of the others
    :param turn_tokens: most tokens of a turn; None: as many as are left of ``response_tokens``
    :param prompt_tokens: most tokens of a question, its picture included; a longer one ends the run
    :param response_tokens: most tokens after the question, tool results included
    :param writing_batch: conversations that transformers continues at once in each process
    :param save_rounds: rounds between checkpoints, of which the last ``keep_checkpoints`` are kept
    :param traces: trajectories per round that are saved for people to read
    :param deepspeed: a DeepSpeed file, if the launcher's settings do not name one
    :param merge: merge the LoRA adapter into the weights at the end
    :param report_to: trackers that receive the lines of the log
    :param trl: further options of TRL's ``GRPOConfig``
    """

    model: ModelSettings
    output: str
    data: Texts = ()
    labels: str | None = None
    spectra_folder: str | None = None
    tasks: Texts | None = None
    task_files: str | None = None
    validation: Texts = ()
    validate_rounds: AtLeast1 = 10
    validation_questions: AtLeast1OrNull = None
    patience: AtLeast1OrNull = None
    test: Texts = ()
    drop_leaks: Flag = False
    skip_damaged: Flag = False
    seed: Whole = 42
    with_tool: Flag = True
    alpha: Real = 0.2
    evidence: Annotated[Real, Field(ge=0, description="a number, 0 or more")] = 0.0
    prompts: AtLeast1 = 64
    rollouts: Annotated[Whole, Field(ge=2, description="a whole number, 2 or more")] = 8
    mini_batch: AtLeast1 = 32
    per_device: AtLeast1 = 1
    epochs: AtLeast1 = 3
    stratified: Flag = False
    rounds: AtLeast1OrNull = None
    learning_rate: Real = 1e-6
    warmup: AtLeast0 = 0
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    weight_decay: Real = 0.01
    max_grad_norm: Real = 1.0
    clip_low: Real = 0.2
    clip_high: Real = 0.2
    dual_clip: Real | None = 3.0
    kl: Real = 0.0
    loss: Literal["dapo", "grpo", "bnpo", "dr_grpo"] = "grpo"
    scale: Literal["group", "batch", "none"] = "group"
    temperature: Annotated[Real, Field(gt=0, description="a number above 0: identical rollouts teach nothing")] = 1.0
    top_p: Annotated[Real, Field(gt=0, le=1, description="a number above 0 and at most 1")] = 1.0
    max_turns: AtLeast1 = MAX_TURNS
    mask_unfinished: Flag = False
    filter_groups: Flag = False
    turn_tokens: AtLeast1OrNull = None
    prompt_tokens: AtLeast1 = 2048
    response_tokens: AtLeast1 = 32768
    writing_batch: AtLeast1 = 32
    vllm: VllmSettings = field(default_factory=VllmSettings)
    gradient_checkpointing: Flag = True
    save_rounds: AtLeast1 = 10
    keep_checkpoints: AtLeast1 = 2
    traces: AtLeast0 = 8
    deepspeed: str | None = None
    merge: Flag = False
    report_to: tuple[Tracker, ...] = ()
    trl: Options = field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse("grpo", self.trl)
        if self.evidence and not self.with_tool:
            raise Mismatch(
                tr("{evidence:g} with `with_tool: false`", evidence=self.evidence),
                tr("0, or `with_tool: true`: the trial is one of a tool call"),
                field="evidence",
            )
        if self.evidence and self.max_turns < 2:
            raise Mismatch(
                tr("{evidence:g} with `max_turns: 1`", evidence=self.evidence),
                tr("0, or `max_turns` of 2 or more: nothing is written after the only turn"),
                field="evidence",
            )
        return check_merge(self)


@dataclass(frozen=True)
class Batches:
    """A round in TRL's terms, which counts trajectories per process.

    :param per_device: trajectories per forward pass
    :param accumulated: forward passes per update
    :param round: forward passes per round
    """

    per_device: int
    accumulated: int
    round: int

    @property
    def updates(self) -> int:
        """Updates per round."""
        return self.round // self.accumulated


def batches(settings: GrpoSettings, processes: int) -> Batches:
    """Return the batches of a round, the same for any number of processes: ``prompts`` times ``rollouts``
    trajectories.

    :raises SettingsError: it cannot be divided so
    """
    if settings.prompts % settings.mini_batch:
        raise SettingsError(
            tr(
                "mini_batch: found {mini_batch}, expected a divisor of prompts ({prompts})",
                mini_batch=settings.mini_batch,
                prompts=settings.prompts,
            )
        )
    trajectories = settings.mini_batch * settings.rollouts
    at_once = processes * settings.per_device
    if trajectories % at_once:
        raise SettingsError(
            tr(
                "an update has {mini_batch} x {rollouts} = {trajectories} trajectories, which {processes} "
                "processes of per_device {per_device} cannot share: expected a divisor of it",
                mini_batch=settings.mini_batch,
                rollouts=settings.rollouts,
                trajectories=trajectories,
                processes=processes,
                per_device=settings.per_device,
            )
        )
    if settings.vllm.mode == "colocate" and processes % settings.vllm.tensor_parallel:
        raise SettingsError(
            tr(
                "vllm.tensor_parallel: found {tensor_parallel}, expected a divisor of the {processes} processes",
                tensor_parallel=settings.vllm.tensor_parallel,
                processes=processes,
            )
        )
    accumulated = trajectories // at_once
    return Batches(settings.per_device, accumulated, accumulated * settings.prompts // settings.mini_batch)


def rounds(settings: GrpoSettings, questions: int) -> int:
    """Return the number of rounds. The rest of an epoch that fills no round is left out, as published.

    :raises SettingsError: fewer questions than a round asks
    """
    if questions < settings.prompts:
        raise SettingsError(
            tr(
                "prompts: found {prompts} a round, but only {questions} questions",
                prompts=settings.prompts,
                questions=questions,
            )
        )
    return settings.rounds or settings.epochs * (questions // settings.prompts)


def schedule(settings: GrpoSettings, strata: Sequence[Hashable]) -> list[tuple[int, ...]]:
    """Return the questions of each round; each epoch is shuffled anew. The order depends on the seed and the questions
    alone, so a resumed run has the same rounds as an uninterrupted one.

    :param strata: task and label of each question
    """
    total = rounds(settings, len(strata))
    per_epoch = len(strata) // settings.prompts
    batches: list[tuple[int, ...]] = []
    for number in range(total):
        epoch, place = divmod(number, per_epoch)
        if place == 0:
            random = np.random.default_rng([settings.seed, epoch])
            order = [int(n) for n in random.permutation(len(strata))]
            if settings.stratified:
                order = _spread(order, strata)
        start = place * settings.prompts
        batches.append(tuple(order[start : start + settings.prompts]))
    return batches


def _spread(order: Sequence[int], strata: Sequence[Hashable]) -> list[int]:
    """Return the same questions in an order in which each stratum is spread evenly."""
    members: dict[Hashable, list[int]] = defaultdict(list)
    for question in order:
        members[strata[question]].append(question)
    # The one of rank r among n is at (r + 0.5) / n; those at the same place keep their order.
    places = {
        question: (rank + 0.5) / len(stratum) for stratum in members.values() for rank, question in enumerate(stratum)
    }
    return sorted(order, key=places.__getitem__)


def derived_seed(seed: int, *place: int) -> int:
    """Return a seed for one place in a run (round, process, call).

    It does not depend on what was sampled before, so a resumed run samples the same as an uninterrupted one.
    """
    return int(np.random.SeedSequence([seed, *place]).generate_state(1, np.uint64)[0] >> np.uint64(1))
