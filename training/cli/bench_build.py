"""``spec-o3 bench build``: a benchmark from spectra and a label table, in SpecVI-Bench's layout."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import (
    CHECK_FAILED,
    DONE,
    CannotRun,
    Command,
    ProgressBar,
    existing_folder,
    output_folder,
    print_result,
)
from agent.cli.simulate import ratio
from agent.errors import Refusal
from agent.language import tr

if TYPE_CHECKING:
    from agent.tasks import Task
    from training.bench.build import Built, Entry, Ratio, Recipe, WeakClassifier


def add(parser: ArgumentParser) -> None:
    parser.add_argument("data", nargs="+", type=Path, metavar="PATH", help=tr("spectra: files, folders, lists"))
    parser.add_argument(
        "--labels", type=Path, required=True, metavar="FILE", help=tr("the catalogue: CSV with file and label")
    )
    parser.add_argument("--task", required=True, metavar="KEY", help=tr("the class, e.g. cv"))
    parser.add_argument("--tasks", type=existing_folder, metavar="DIR", help=tr("a folder of task files of your own"))
    parser.add_argument("--output", type=output_folder, required=True, metavar="DIR", help=tr("the benchmark's folder"))
    parser.add_argument(
        "--candidates",
        nargs="+",
        type=Path,
        default=[],
        metavar="PATH",
        help=tr("an archive to select negatives from, in addition to the spectra labelled NO"),
    )
    parser.add_argument(
        "--weak",
        type=Path,
        metavar="FILE",
        help=tr("probabilities to use instead of a classifier trained here"),
    )
    parser.add_argument(
        "--keep", type=_share, default=0.8, metavar="P", help=tr("keep negatives with P(YES) above this (default 0.8)")
    )
    parser.add_argument(
        "--positives-split",
        type=_share,
        default=0.4,
        metavar="SHARE",
        help=tr("positives for the test set (0.4)"),
    )
    for part, default in (("train", (1, 1)), ("test", (1, 5))):
        parser.add_argument(
            f"--{part}-ratio",
            type=_ratio,
            default=default,
            metavar="YES:NO",
            help=tr("of the {part} set ({default}:{default2})", part=part, default=default[0], default2=default[1]),
        )
    parser.add_argument(
        "--snr-min", type=float, default=10.0, metavar="X", help=tr("lowest S/N per pixel (default 10)")
    )
    parser.add_argument(
        "--fill", action="store_true", help=tr("complete the set with random negatives, marked as such")
    )
    parser.add_argument("--seed", type=int, default=0, help=tr("seed of the random selection (default 0)"))
    parser.add_argument("--json", action="store_true", help=tr("print the result as one JSON object"))


def run(arguments: Namespace) -> int:
    from training.bench.build import record

    task = _task(arguments)
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
        placed = record.placed(arguments.output, task.key)
        recipe = _recipe(arguments, task)
        built, description = _built(arguments, recipe, task, placed)
        if built.short:
            print_result(arguments, {"built": False, **description}, _wanting(built, recipe))
            return CHECK_FAILED
        _write(arguments.output, built, task, description)
    except Refusal as error:
        raise CannotRun(str(error)) from error
    except OSError as error:
        raise CannotRun(f"{error.filename or arguments.output}: {error.strerror}") from error
    text = record.markdown(description, task)
    print_result(arguments, {"built": True, **description}, f"{text}\n{arguments.output}")
    return DONE


def _task(arguments: Namespace) -> Task:
    from agent import tasks

    known, _ = tasks.load_all([arguments.tasks] if arguments.tasks else [])
    task = tasks.find(known, arguments.task)
    if task is None:
        raise CannotRun(
            tr("--task: found {task!r}, expected one of {names}", task=arguments.task, names=", ".join(known))
        )
    return task


def _recipe(arguments: Namespace, task: Task) -> Recipe:
    from training.bench.build import Recipe

    return Recipe(
        task=task.key,
        keep=arguments.keep,
        test_share=arguments.positives_split,
        train_ratio=arguments.train_ratio,
        test_ratio=arguments.test_ratio,
        snr_min=arguments.snr_min,
        seed=arguments.seed,
        fill=arguments.fill,
    )


def _built(arguments: Namespace, recipe: Recipe, task: Task, placed: Any) -> tuple[Built, dict[str, Any]]:
    from training.bench.build import build
    from training.bench.build.record import build_record

    positives, candidates = _entries(arguments, task)
    weak = _weak(arguments, task)
    with ProgressBar(None, tr("negatives found")) as bar:
        built = build(recipe, positives, candidates, weak, placed, bar.at)
    return built, build_record(built, recipe, weak.description())


def _weak(arguments: Namespace, task: Task) -> WeakClassifier:
    from training.specialist import SpecialistSettings
    from training.specialist.weak_classifier import Predictions, TrainedClassifier

    if arguments.weak is not None:
        return Predictions(arguments.weak, task)
    if find_spec("torch") is None:
        raise CannotRun(
            tr(
                "the weak classifier is trained with torch, which is not installed: pip install "
                "'spec-o3[train]', or bring predictions with --weak"
            )
        )
    return TrainedClassifier(task, SpecialistSettings(seed=arguments.seed))


def _entries(arguments: Namespace, task: Task) -> tuple[list[Entry], list[Entry]]:
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
        for one in spectra_in(file):
            source = source_of(one.path.name, one.target)
            candidates.append(Entry(one.key, source, partial(read, one.path, one.target or None)))
    if not candidates:
        raise DataError(tr("found no candidates for negatives; name an archive with --candidates"))
    return positives, candidates


def _known(arguments: Namespace) -> dict[str, Task]:
    from agent import tasks

    return tasks.load_all([arguments.tasks] if arguments.tasks else [])[0]


def _write(folder: Path, built: Built, task: Task, description: dict[str, Any]) -> None:
    """Write the two files, then the record of how they were made: it exists only if the benchmark is complete."""
    import json

    from agent.json_lines import write_atomic
    from training.bench.build import record

    (folder / "data").mkdir(exist_ok=True)
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
    wanted = sum(built.needed.values())
    return tr(
        "found {found} of {wanted} hard negatives: {accepted} of {scored} candidates have P > "
        "{keep:g}; {missing} are missing (train {train}, test {test}), and nothing is "
        "written. Name more --candidates, lower --keep, or let --fill take random ones, marked",
        found=wanted - built.short,
        wanted=wanted,
        accepted=built.accepted,
        scored=built.scored,
        keep=recipe.keep,
        missing=built.short,
        train=built.missing("train"),
        test=built.missing("test"),
    )


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share < 1:
        raise ArgumentTypeError(tr("found {text!r}, expected a number between 0 and 1", text=text))
    return share


def _ratio(text: str) -> Ratio:
    yes, no = ratio(text)
    if not yes:
        raise ArgumentTypeError(tr("found {text!r}, expected YES:NO with a YES, as 1:5", text=text))
    return yes, no


COMMAND = Command("build", "make a benchmark from spectra and a label table", add, run)
