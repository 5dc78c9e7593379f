"""``spec-o3 grpo``: reinforcement learning from labels alone, by inspecting spectra."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import DONE, CannotRun, ProgressBar, print_result
from agent.cli.options import LABELS, option
from agent.language import tr
from training.cli.common import QUESTIONS, TrainingOptions, config_file, start_of

if TYPE_CHECKING:
    from training.grpo.learning import Prepared
    from training.grpo.settings import GrpoSettings
    from training.run import Run, Start

SHOWN = ("reward", "format_rate", "accuracy", "calls", "evidence", "no_spread")
"""Of a round's numbers, those that are printed."""


@dataclass(kw_only=True)
class Options(TrainingOptions):
    data: list[Path] | None = option(QUESTIONS, metavar="PATH")
    labels: Path | None = option(LABELS)
    validation: list[Path] | None = option(
        "questions that are inspected greedily every few rounds; the weights that do best on them are kept",
        metavar="PATH",
    )
    test: list[Path] | None = option("test data: questions about its spectra are refused", metavar="PATH")
    model: str | None = option("the model to start from (a base model: no SFT)", metavar="NAME")


def run(arguments: Options) -> int:

    from training.environment import missing, quiet

    settings = settings_of(arguments)
    if not arguments.dry_run:
        if problem := missing():
            raise CannotRun(problem)
        quiet()
    return _run(arguments, settings)


def settings_of(arguments: Options) -> GrpoSettings:
    """Return the settings of the command line. :raises SettingsError: as ``training.settings.read``"""
    from training.grpo.settings import GrpoSettings
    from training.settings import read

    data = {"data": arguments.data, "validation": arguments.validation, "test": arguments.test}
    given: dict[str, object] = {
        **{name: paths and [str(path) for path in paths] for name, paths in data.items()},
        "labels": None if arguments.labels is None else str(arguments.labels),
        **arguments.given(),
    }
    if arguments.model:
        given |= {"model.name": arguments.model, "model.adapter": None}
    named = {"model.adapter"} if arguments.model else set()
    changes = [f"{key}={json.dumps(value)}" for key, value in given.items() if value is not None or key in named]
    return read(config_file(arguments.config), GrpoSettings, [*arguments.set, *changes])


def _run(arguments: Options, settings: GrpoSettings) -> int:
    from training.environment import generation_problem, is_first_process, missing, vllm_missing
    from training.grpo.learning import prepare, processes
    from training.grpo.settings import batches, rounds
    from training.run import Run
    from training.settings import SettingsError
    from training.trl_options import check

    check("grpo", {} if arguments.dry_run and missing() else settings.trl, settings.report_to)
    if problem := generation_problem(settings.vllm.mode, settings.trl):
        raise SettingsError(problem)
    if not arguments.dry_run and (problem := vllm_missing(settings.vllm.mode)):
        raise SettingsError(problem)
    start = start_of(arguments, Run(Path(settings.output)))
    share = batches(settings, processes())
    if not arguments.dry_run and is_first_process():
        # Before the data is read, which takes a while.
        Run(Path(settings.output)).check(settings, start)
    prepared = prepare(settings)
    total = rounds(settings, len(prepared.questions))
    if is_first_process() and not arguments.json:
        print(prepared.card.text(), flush=True)
    if arguments.dry_run:
        result = {"rounds": total, **vars(share), "updates": share.updates, "card": prepared.card.to_json()}
        text = tr(
            "{n} rounds of {prompts} x {rollouts}, learned from in {updates} updates each",
            n=total,
            prompts=settings.prompts,
            rollouts=settings.rollouts,
            updates=share.updates,
        )
        print_result(arguments, result, text)
        return DONE
    return _train(arguments, settings, prepared, start)


def _train(arguments: Options, settings: GrpoSettings, prepared: Prepared, start: Start) -> int:
    from training.environment import is_first_process
    from training.grpo.learning import train
    from training.run import CardFiles

    with ProgressBar(None, tr("rounds learned from")) as bar:

        def on_step(number: int, total: int, numbers: Mapping[str, Any]) -> None:
            bar.expect(total)
            bar.at(number)
            if not arguments.json:
                print(_round_text(numbers, total), flush=True)

        card = CardFiles(prepared.card.to_json(), prepared.card.markdown())
        run = train(settings, prepared.questions, card, start, on_step, prepared.validation)
    if is_first_process():
        result = {"run": str(run.folder), "model": str(run.model), "last": _last(run)}
        print_result(arguments, result, f"learned: {run.model}")
    return DONE


def _last(run: Run) -> Mapping[str, Any]:
    """Return the log's line of the last round."""
    return next(line for line in reversed(run.logged()) if "reward" in line)


def _round_text(numbers: Mapping[str, Any], total: int) -> str:
    shown = [f"{name} {numbers[name]:.3g}" for name in SHOWN if numbers.get(name) is not None]
    return f"round {numbers['round']} of {total}: {', '.join(shown)}"
