"""The stages of an inspection from the options: the policy of each, its settings, certificate and results file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import CannotRun
from agent.cli.policy_options import arguments_of_stages, choice_from, roster_from, task_prompts_from
from agent.language import tr

if TYPE_CHECKING:
    from agent.batch.cascade import Stage
    from agent.batch.certified import CertifiedRun
    from agent.batch.run import PolicyFor
    from agent.cli.inspect_options import InspectOptions
    from agent.cli.policy_options import PolicyChoice, StageOptions
    from agent.consensus import Limits
    from agent.conversation import Policy, SkySource
    from agent.tasks import Task

IN_PROCESSES = ("baseline", "nano", "specialist")
"""Policies that compute, in several processes at once."""
IN_THIS_PROCESS = ("local", "nano")
"""Policies whose model computes here instead of on a server."""
LOCAL_CONCURRENCY = 2
"""Conversations at once with a model in this process: one draws while the model writes for the other."""
MACHINE_SETTINGS = ("server", "server_version", "context", "device", "dtype", "revision")
"""Settings of a drafter that describe the machine: kept with each trace, but a run may resume with others."""


def stages_of(arguments: InspectOptions, task: Task, limits: Limits) -> list[Stage]:
    """Return the stages of the run, each with its policy, its certificate if it has one, and its results file."""
    from agent.batch.cascade import AFTER, Stage, results_of_stage

    own = arguments_of_stages(arguments)
    _refuse_unused_limits(arguments, own)
    stages: list[Stage] = []
    for number, chosen in enumerate(own, start=1):
        choice, about = _policy(chosen, task)
        if stages:
            about["settings"][AFTER] = {stage.name: stage.rule for stage in stages}
        stage = Stage(
            number,
            choice.key,
            about,
            _policy_for(choice),
            task_prompts_from(chosen, choice)(task),
            results_of_stage(arguments.out, number, choice.key, len(own)),
            limits=limits,
            samples=chosen.samples,
            max_turns=arguments.max_turns,
            medium=arguments.medium,
            limit=arguments.limit if number == 1 else None,
            threads=chosen.concurrency,
            processes=_processes(chosen),
        )
        stages.append(replace(stage, certified=_certified(chosen.certificate, stage)))
    return stages


def _certified(path: Path | None, stage: Stage) -> CertifiedRun | None:
    """Return the certificate of a stage, if there is one.

    :raises CertificateError: it cannot be read, or is suspended
    :raises CannotRun: it does not cover the run
    """
    if path is None:
        return None
    from agent.batch.cascade import AFTER
    from agent.batch.certified import certified_run
    from agent.plot import RENDERER
    from agent.trust.certificate import CertifiedPolicy

    run, about, task = certified_run(path, stage.task), stage.about, stage.task
    settings = {**about["settings"], "renderer": RENDERER, "max_turns": stage.max_turns}
    now = CertifiedPolicy(about["kind"], about["name"], settings)
    refusal = run.certificate.refusal(task.key, stage.prompt_sha256, now, stage.samples, stage.medium)
    if refusal and run.certificate.policy.settings.get(AFTER) != about["settings"].get(AFTER):
        raise CannotRun(
            tr(
                "--certificate {path}: {refusal}. A stage after others sees only the spectra that they leave, so its "
                "certificate must be made from such spectra: run without it, label some spectra of this stage's "
                "results, and certify these results",
                path=path,
                refusal=refusal,
            )
        )
    if refusal:
        raise CannotRun(f"--certificate {path}: {tr(refusal)}")
    return run


def _refuse_unused_limits(arguments: InspectOptions, stages: Sequence[StageOptions]) -> None:
    """:raises CannotRun: a limit was given, and each stage has a certificate instead"""
    rules = {"--majority": arguments.majority, "--min-snr": arguments.min_snr, "--margin": arguments.margin}
    given = [option for option, value in rules.items() if value is not None]
    if given and all(stage.certificate is not None for stage in stages):
        raise CannotRun(
            tr(
                "{given} has no effect with --certificate, whose verdicts follow from P(YES); leave it out",
                given=given[0],
            )
        )


def _policy_for(choice: PolicyChoice) -> PolicyFor:
    """Return the policies of the run; those that compute can be sent to other processes."""
    if choice.key == "baseline":
        return partial(baseline, sky=choice.sky)
    if choice.key == "nano" and (folder := choice.roster.nano) is not None:
        from agent.policies.nano.policy import ManySpectra

        return ManySpectra(folder, choice.sampling)
    if choice.key == "specialist" and (specialist := choice.roster.specialist) is not None:
        from agent.policies.specialist import policy

        return policy.ManySpectra(specialist)
    return choice


def baseline(sample: int, sky: SkySource | None = None) -> Policy:
    """Make the baseline, which gives the same answer for every sample."""
    from agent.policies.baseline.rule import Baseline

    return Baseline(sky)


def _processes(arguments: StageOptions) -> int | None:
    """Return the number of processes of a stage, 0 for threads in this one; None: as suits the number of spectra."""
    if arguments.key not in IN_PROCESSES:
        if arguments.processes is not None and arguments.key in (*IN_THIS_PROCESS, "replay"):
            raise CannotRun(
                tr("--processes: --policy {policy} runs in threads (use --concurrency)", policy=arguments.key)
            )
        return arguments.processes or 0
    if arguments.processes is not None:
        return int(arguments.processes)
    return None if arguments.concurrency is None else 0


def _policy(arguments: StageOptions, task: Task) -> tuple[PolicyChoice, dict[str, Any]]:
    """Return the policy, and its settings that must not change when a run resumes.

    :raises PolicyError: it cannot be used
    """
    choice = choice_from(arguments, roster_from(arguments), arguments.samples)
    health = choice.roster.health(choice.key)
    if not health.ok:
        raise CannotRun(health.sentence)
    drafter = choice().drafter
    fixed = {name: value for name, value in drafter.settings.items() if name not in MACHINE_SETTINGS}
    if drafter.kind == "model" and choice.key != "specialist":
        # The requested settings: a server that rejects some says so only in its first answer.
        fixed |= choice.sampling.settings()
    if choice.key == "specialist" and fixed["task"] != task.key:
        raise CannotRun(
            tr(
                "--model: found a specialist for {fixed!r:.60}, expected one for {key}",
                fixed=fixed["task"],
                key=task.key,
            )
        )
    about = {"kind": drafter.kind, "name": drafter.name, "settings": fixed}
    return choice, about
