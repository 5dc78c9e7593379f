"""``spec-o3 grpo``: reinforcement learning from labels alone, by inspecting spectra."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import DONE, CannotRun, ProgressBar, output_folder, print_result
from agent.language import tr

if TYPE_CHECKING:
    from training.grpo.learning import Prepared
    from training.grpo.settings import GrpoSettings
    from training.run import Run, Start

SHOWN = ("reward", "format_rate", "accuracy", "calls", "evidence", "no_spread")
"""Of a round's numbers, those that are printed."""


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--config", required=True, metavar="FILE", help=tr("settings in YAML, or the name of shipped ones")
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=tr("change a setting: rounds=5, model.method=lora; may be repeated"),
    )
    parser.add_argument(
        "--data",
        nargs="+",
        metavar="PATH",
        help=tr("questions: SpecVI Parquet files or a folder of them, JSON lines, or spectra with labels"),
    )
    parser.add_argument(
        "--validation",
        nargs="+",
        metavar="PATH",
        help=tr("questions that are inspected greedily every few rounds; the weights that do best on them are kept"),
    )
    parser.add_argument(
        "--test", nargs="+", metavar="PATH", help=tr("test data: questions about its spectra are refused")
    )
    parser.add_argument("--model", metavar="MODEL", help=tr("the model to start from (a base model: no SFT)"))
    parser.add_argument("--output", type=output_folder, metavar="DIR", help=tr("the run's folder"))
    parser.add_argument("--no-tool", action="store_true", help=tr("the ablation without the tool: one turn"))
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--resume", action="store_true", help=tr("continue from the run's last checkpoint"))
    begin.add_argument("--overwrite", action="store_true", help=tr("delete an existing run, and begin again"))
    parser.add_argument("--dry-run", action="store_true", help=tr("only check the settings and count the data"))
    parser.add_argument("--json", action="store_true", help=tr("print the result as one JSON object"))


def run(arguments: Namespace) -> int:
    from training.environment import missing, quiet

    if not arguments.dry_run:
        if problem := missing():
            raise CannotRun(problem)
        quiet()
    return _run(arguments, settings_of(arguments))


def settings_of(arguments: Namespace) -> GrpoSettings:
    """Return the settings of the command line. :raises SettingsError: as ``training.settings.read``"""
    from training.cli.sft import config_file
    from training.grpo.settings import GrpoSettings
    from training.settings import read

    given = {
        "data": arguments.data,
        "validation": arguments.validation,
        "test": arguments.test,
        "output": None if arguments.output is None else str(arguments.output),
    }
    if arguments.model:
        given |= {"model.name": arguments.model, "model.adapter": None}
    if arguments.no_tool:
        given["with_tool"] = False
    named = {"model.adapter"} if arguments.model else set()
    changes = [f"{key}={json.dumps(value)}" for key, value in given.items() if value is not None or key in named]
    return read(config_file(arguments.config), GrpoSettings, [*arguments.set, *changes])


def _run(arguments: Namespace, settings: GrpoSettings) -> int:
    from training.environment import is_first_process, missing, vllm_missing
    from training.grpo.learning import prepare, processes
    from training.grpo.settings import batches, rounds
    from training.run import Run
    from training.settings import SettingsError
    from training.trl_options import check

    check("grpo", {} if arguments.dry_run and missing() else settings.trl, settings.report_to)
    if not arguments.dry_run and (problem := vllm_missing(settings.vllm.mode)):
        raise SettingsError(problem)
    start: Start = "resume" if arguments.resume else "again" if arguments.overwrite else "new"
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


def _train(arguments: Namespace, settings: GrpoSettings, prepared: Prepared, start: Start) -> int:
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
