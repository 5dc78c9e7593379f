"""``spec-o3 bench build``: a benchmark from spectra and a label table, in SpecVI-Bench's layout."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import (
    CHECK_FAILED,
    DONE,
    CannotRun,
    ProgressBar,
    print_result,
)
from agent.cli.options import (
    LABELS,
    SEED,
    TASK,
    JsonOutput,
    TaskFiles,
    amount,
    argument,
    not_negative,
    option,
    output_folder,
    share,
)
from agent.cli.simulate import ratio
from agent.errors import Refusal
from agent.language import tr

if TYPE_CHECKING:
    from agent.tasks import Task
    from training.bench.build import Built, Entry, Ratio, Recipe, WeakClassifier


def _ratio(text: str) -> Ratio:
    yes, no = ratio(text)
    if not yes:
        raise ArgumentTypeError(tr("found {text!r}, expected YES:NO with a YES, as 1:5", text=text))
    return yes, no


@dataclass(kw_only=True)
class Options(TaskFiles, JsonOutput):
    data: list[Path] = argument("spectra: files, folders, lists", metavar="PATH")
    labels: Path = option(LABELS)
    task: str = option(TASK, metavar="KEY")
    out: Path = option("folder of the benchmark", metavar="DIR", read=output_folder)
    candidates: list[Path] = option(
        "an archive to select negatives from, in addition to the spectra labelled NO", default=[], metavar="PATH"
    )
    weak: Path | None = option("probabilities to use instead of a classifier trained here")
    keep: float = option("keep negatives with P(YES) above this", default=0.8, metavar="P", read=share)
    positives_split: float = option("share of the positives for the test set", default=0.4, read=share)
    train_ratio: tuple[int, int] = option("of the train set", default=(1, 1), metavar="YES:NO", read=_ratio)
    test_ratio: tuple[int, int] = option("of the test set", default=(1, 5), metavar="YES:NO", read=_ratio)
    min_snr: float = option("lowest S/N per pixel", default=10.0, read=amount)
    fill: bool = option("complete the set with random negatives, marked as such")
    seed: int = option(SEED, default=0, read=not_negative)


def run(arguments: Options) -> int:

    from training.bench.build import record

    task = _task(arguments)
    try:
        _check_folder(arguments.out)
        weak = _weak(arguments, task)
        placed = record.placed(arguments.out, task.key)
        recipe = _recipe(arguments, task)
        built, description = _built(arguments, recipe, task, placed, weak)
        if built.short:
            print_result(arguments, {"built": False, **description}, _wanting(built, recipe))
            return CHECK_FAILED
        _write(arguments.out, built, task, description)
    except Refusal as error:
        raise CannotRun(str(error)) from error
    except OSError as error:
        raise CannotRun(f"{error.filename or arguments.out}: {error.strerror}") from error
    text = record.markdown(description, task)
    print_result(arguments, {"built": True, **description}, f"{text}\n{arguments.out}")
    return DONE


def _check_folder(folder: Path) -> None:
    """:raises CannotRun: the folder could not be written, which would come to light after all the work"""
    nearest = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise CannotRun(tr("--out: {folder}: found no folder that can be written to", folder=nearest))


def _task(arguments: Options) -> Task:
    from agent import tasks

    known, _ = tasks.load_all([arguments.tasks] if arguments.tasks else [])
    task = tasks.find(known, arguments.task)
    if task is None:
        raise CannotRun(
            tr("--task: found {task!r}, expected one of {names}", task=arguments.task, names=", ".join(known))
        )
    return task


def _recipe(arguments: Options, task: Task) -> Recipe:
    from training.bench.build import Recipe

    return Recipe(
        task=task.key,
        keep=arguments.keep,
        test_share=arguments.positives_split,
        train_ratio=arguments.train_ratio,
        test_ratio=arguments.test_ratio,
        snr_min=arguments.min_snr,
        seed=arguments.seed,
        fill=arguments.fill,
    )


def _built(
    arguments: Options, recipe: Recipe, task: Task, placed: Any, weak: WeakClassifier
) -> tuple[Built, dict[str, Any]]:
    from training.bench.build import build
    from training.bench.build.record import build_record

    positives, candidates = _entries(arguments, task)
    with ProgressBar(None, tr("negatives found")) as bar:
        built = build(recipe, positives, candidates, weak, placed, bar.at)
    return built, build_record(built, recipe, weak.description())


def _weak(arguments: Options, task: Task) -> WeakClassifier:
    from training.specialist import SpecialistSettings
    from training.specialist.weak_classifier import NoClassifier, Predictions, TrainedClassifier

    if arguments.weak is not None:
        return Predictions(arguments.weak, task)
    if find_spec("torch") is None:
        if arguments.fill:
            return NoClassifier()
        raise CannotRun(
            tr(
                "the weak classifier is trained with torch, which is not installed: pip install "
                "'spec-o3[train]', bring predictions with --weak, or take random negatives, marked, with --fill"
            )
        )
    return TrainedClassifier(task, SpecialistSettings(seed=arguments.seed))


def _entries(arguments: Options, task: Task) -> tuple[list[Entry], list[Entry]]:
    """Return the positives, and the candidates for negatives. :raises DataError: there are none to use"""
    from agent.batch.sources import sources_from, spectra_in
    from agent.spectrum import read
    from training.bench.build import Entry
    from training.data import DataError, questions, source_of

    known = {task.key: task}
    labelled = questions(arguments.data, _known(arguments) | known, arguments.labels, task=task.key)
    positives = [
        Entry(question.key, question.source, question.spectrum) for question in labelled if question.label == "YES"
    ]
    candidates = [
        Entry(question.key, question.source, question.spectrum) for question in labelled if question.label == "NO"
    ]
    if not positives:
        raise DataError(tr("{labels}: found no spectrum that is YES for {key}", labels=arguments.labels, key=task.key))
    for file in sources_from([str(path) for path in arguments.candidates], Path.cwd()):
        if file.path.resolve() == arguments.labels.resolve():
            continue
        for spectrum in spectra_in(file):
            source = source_of(spectrum.path.name, spectrum.target)
            candidates.append(Entry(spectrum.key, source, partial(read, spectrum.path, spectrum.target or None)))
    if not candidates:
        raise DataError(tr("found no candidates for negatives; name an archive with --candidates"))
    return positives, candidates


def _known(arguments: Options) -> dict[str, Task]:
    from agent import tasks

    return tasks.load_all([arguments.tasks] if arguments.tasks else [])[0]


def _write(folder: Path, built: Built, task: Task, description: dict[str, Any]) -> None:
    """Write the two files, then the record of how they were made: it exists only if the benchmark is complete."""
    import json

    from agent.json_lines import write_atomic
    from training.bench.build import record

    (folder / "data").mkdir(parents=True, exist_ok=True)
    done = 0
    with ProgressBar(len(built.train) + len(built.test), tr("writing")) as bar:

        def one_more() -> None:
            nonlocal done
            done += 1
            bar.at(done)

        for part in record.PARTS:
            path = folder / "data" / record.file_name(part, task.key)
            record.write_parquet(path, built.part(part), task, one_more)
    write_atomic(folder / f"card_{task.key}.md", record.markdown(description, task))
    write_atomic(folder / f"build_{task.key}.json", json.dumps(description, indent=1, ensure_ascii=False) + "\n")


def _wanting(built: Built, recipe: Recipe) -> str:
    needed = sum(built.needed.values())
    if recipe.fill:
        random = sum(selected.negative == "random" for selected in (*built.train, *built.test))
        return tr(
            "found {found} of {needed} negatives, {random} of them random, and no more candidates; {missing} are "
            "missing (train {train}, test {test}), and nothing is written. Name more --candidates, or ask for fewer "
            "with --train-ratio and --test-ratio",
            found=needed - built.short,
            needed=needed,
            random=random,
            missing=built.short,
            train=built.missing("train"),
            test=built.missing("test"),
        )
    return tr(
        "found {found} of {needed} hard negatives: {accepted} of {scored} candidates have P > "
        "{keep:g}; {missing} are missing (train {train}, test {test}), and nothing is written. Name more "
        "--candidates, lower --keep, or let --fill take random ones, marked",
        found=needed - built.short,
        needed=needed,
        accepted=built.accepted,
        scored=built.scored,
        keep=recipe.keep,
        missing=built.short,
        train=built.missing("train"),
        test=built.missing("test"),
    )
