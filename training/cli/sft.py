"""``spec-o3 sft``: supervised fine-tuning (the cold start), from a file of settings."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import DONE, CannotRun, ProgressBar, print_result, progress
from agent.cli.options import option
from agent.language import tr
from training.cli.common import TrainingOptions, config_file, start_of

if TYPE_CHECKING:
    from training.data.records import Example
    from training.render import Renderer
    from training.run import Start
    from training.sft import Prepared, SftSettings


@dataclass(kw_only=True)
class Options(TrainingOptions):
    data: list[Path] | None = option("exports, JSON lines, train_sharegpt.json", metavar="PATH")
    trajectories: int | None = option(
        "learn from N trajectories, selected by the seed, each task and label in the same share (default: all)"
    )
    show_mask: int | None = option("print the Nth example with its loss mask, and stop (default 1)", bare=1)


def run(arguments: Options) -> int:

    from training.environment import missing, quiet

    settings = settings_of(arguments)
    problem = missing()
    if problem and not (arguments.dry_run and arguments.show_mask is None):
        raise CannotRun(problem)
    if problem:
        return _count(arguments, settings, problem)
    quiet()
    return _run(arguments, settings)


def settings_of(arguments: Options) -> SftSettings:
    """Return the settings of the command line. :raises SettingsError: as ``training.settings.read``"""
    from training.settings import read
    from training.sft import SftSettings

    given = {
        "data": None if arguments.data is None else [str(path) for path in arguments.data],
        "trajectories": arguments.trajectories,
        **arguments.given(),
    }
    changes = [f"{key}={json.dumps(value)}" for key, value in given.items() if value is not None]
    return read(config_file(arguments.config), SftSettings, [*arguments.set, *changes])


def _run(arguments: Options, settings: SftSettings) -> int:
    from training.environment import is_first_process
    from training.model import processor
    from training.render import Renderer
    from training.run import Run
    from training.sft import prepare
    from training.trl_options import check

    check("sft", settings.trl, settings.report_to)
    start = start_of(arguments, Run(Path(settings.output)))
    shows_only = arguments.dry_run or arguments.show_mask is not None
    if not shows_only and is_first_process():
        # Before the data is read, which takes a while.
        Run(Path(settings.output)).check(settings, start)
    renderer = Renderer(processor(settings.model))
    prepared = prepare(settings, renderer, _with_progress)
    if is_first_process() and not arguments.json:
        print(prepared.card.text(), flush=True)
    if shows_only:
        return _show(arguments, settings, renderer, prepared)
    return _train(arguments, settings, prepared, start)


def _count(arguments: Options, settings: SftSettings, problem: str) -> int:
    """Print what is known without torch.

    :param problem: what this Python lacks
    """
    from training.sft import prepare, steps

    prepared = prepare(settings, None, _with_progress)
    plan = steps(settings, len(prepared.examples))
    if not arguments.json:
        print(prepared.card.text(), flush=True)
    text = _steps_text(plan) + "\n" + tr("tokens, mask and trained parameters were not counted: {why}", why=problem)
    print_result(arguments, {"card": prepared.card.to_json(), **plan}, text)
    return DONE


def _steps_text(plan: Mapping[str, Any]) -> str:
    return tr("{steps} steps of {examples} examples", steps=plan["steps"], examples=plan["examples_a_step"])


def _show(arguments: Options, settings: SftSettings, renderer: Renderer, prepared: Prepared) -> int:
    from training.sft import mask_text, rendered, token_counts

    every = [*prepared.examples, *prepared.held_out]
    number = 1 if arguments.show_mask is None else arguments.show_mask
    if not 1 <= number <= len(every):
        raise CannotRun(
            tr(
                "--show-mask: found {number}, expected 1 to {n_every}, one of the examples",
                number=number,
                n_every=len(every),
            )
        )
    example = every[number - 1]
    read = rendered(example, renderer, settings.with_tool)
    tokenizer = renderer.processor.tokenizer
    mask = mask_text(read, tokenizer, sys.stdout.isatty() and not os.environ.get("NO_COLOR"))
    counted = token_counts(read, tokenizer)
    result: dict[str, Any] = {
        "example": example.key,
        "tokens": vars(counted),
        "card": prepared.card.to_json(),
    }
    text = f"\n{example.key}\n\n{mask}\n\n{counted}"
    if arguments.dry_run:
        plan = _plan(settings, prepared)
        result |= plan
        text += (
            "\n\n"
            + tr("{n:,} of {parameters:,} parameters learn", n=plan["learning"], parameters=plan["parameters"])
            + "\n"
            + _steps_text(plan)
        )
    print_result(arguments, result, text)
    return DONE


def _plan(settings: SftSettings, prepared: Prepared) -> dict[str, Any]:
    """Describe how many numbers would be trained, and in how many steps."""
    from training.model import load, trainable
    from training.sft import steps

    learning, parameters = trainable(load(settings.model).model)
    return {"learning": learning, "parameters": parameters, **steps(settings, len(prepared.examples))}


def _train(arguments: Options, settings: SftSettings, prepared: Prepared, start: Start) -> int:
    from training.environment import is_first_process
    from training.run import CardFiles
    from training.sft import train

    card = CardFiles(prepared.card.to_json(), prepared.card.markdown())
    with _Watch() as watch:
        finished = train(settings, prepared.examples, prepared.held_out, card, start, watch.on_step)
    if is_first_process():
        last: dict[str, Any] = next((line for line in reversed(finished.logged()) if "loss" in line), {})
        result = {"run": str(finished.folder), "model": str(finished.model), **last}
        print_result(
            arguments,
            result,
            tr(
                "{model}: learned in {steps} steps, loss {loss}",
                model=finished.model,
                steps=last.get("step"),
                loss=_short(last),
            ),
        )
    return DONE


class _Watch:
    """A progress bar on a terminal; otherwise one line per step, for log files."""

    def __init__(self) -> None:
        self._bar = ProgressBar(None, tr("learning"))

    def on_step(self, step: int, steps: int, numbers: Mapping[str, Any]) -> None:
        if sys.stderr.isatty():
            self._bar.expect(steps)
            self._bar.at(step, f"loss {_short(numbers)}")
        else:
            print(
                tr("step {step} of {steps}: loss {numbers}", step=step, steps=steps, numbers=_short(numbers)),
                file=sys.stderr,
                flush=True,
            )

    def __enter__(self) -> _Watch:
        self._bar.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.__exit__(*error)


def _with_progress(examples: Sequence[Example]) -> Iterable[Example]:
    from training.environment import is_first_process

    return _bar(examples) if is_first_process() else examples


def _bar(examples: Sequence[Example]) -> Iterator[Example]:
    yield from progress(examples, len(examples), tr("reading"))


def _short(numbers: Mapping[str, Any]) -> str:
    return f"{numbers['loss']:.4f}" if isinstance(numbers.get("loss"), float) else "unknown"
