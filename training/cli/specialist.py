"""``spec-o3 specialist``: a small 1-D network for one class, trained here, and its predictions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import (
    DONE,
    CannotRun,
    ProgressBar,
    existing_folder,
    output_file,
    output_folder,
    print_result,
    progress,
)
from agent.errors import Refusal
from agent.language import tr

if TYPE_CHECKING:
    from agent.policies.specialist.grid import Sampled
    from training.bench.outcomes import Outcome
    from training.data.records import Question
    from training.specialist import Specialist, SpecialistSettings

CONFIG = Path(__file__).parents[1] / "configs" / "specialist.yaml"
PREDICTIONS = "predictions.jsonl"
_AT_ONCE = 64


def add(parser: ArgumentParser) -> None:
    does = parser.add_subparsers(metavar="", title=tr("what to do"), required=True)
    train = does.add_parser("train", help=tr("train one on labelled spectra"), description=tr("Train one."))
    _add_data(train)
    train.add_argument("--task", required=True, metavar="KEY", help=tr("the class, e.g. cv"))
    train.add_argument("--output", type=output_folder, required=True, metavar="DIR", help=tr("the specialist's folder"))
    train.add_argument(
        "--config",
        type=Path,
        default=CONFIG,
        metavar="FILE",
        help=tr("settings (training/configs/specialist.yaml)"),
    )
    train.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help=tr("other settings, e.g. seed=1"))
    train.set_defaults(run=run_train)
    predict = does.add_parser(
        "predict", help=tr("classify labelled spectra"), description=tr("Classify labelled spectra.")
    )
    predict.add_argument(
        "models", nargs="+", type=Path, metavar="MODEL", help=tr("folders of `specialist train`, one per class")
    )
    _add_data(predict)
    predict.add_argument(
        "--output",
        type=output_file,
        metavar="FILE",
        help=tr("JSON lines for `bench table` (MODEL/{predictions}, of the first)", predictions=PREDICTIONS),
    )
    predict.set_defaults(run=run_predict)


def _add_data(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        nargs="+",
        type=Path,
        required=True,
        metavar="PATH",
        help=tr("SpecVI Parquet files or a folder of them, JSON lines, or spectra with --labels"),
    )
    parser.add_argument("--labels", type=Path, metavar="FILE", help=tr("the truth of spectrum files, as CSV"))
    parser.add_argument("--tasks", type=existing_folder, metavar="DIR", help=tr("a folder of task files of your own"))
    parser.add_argument("--json", action="store_true", help=tr("print the result as one JSON object"))


def run(arguments: Namespace) -> int:
    """Never called: argparse requires one of the two subcommands."""
    raise CannotRun(tr("specialist: found no command, expected train or predict"))


def run_train(arguments: Namespace) -> int:
    from training.specialist import train

    _refuse_without_torch()
    settings = _settings(arguments)
    question_fields = _questions(arguments, arguments.task, "train")
    questions, rows = _sampled(progress(question_fields, len(question_fields), tr("reading")))
    try:
        with ProgressBar(settings.epochs, tr("epochs")) as bar:
            specialist = train(questions, settings, lambda line: bar.at(int(line["epoch"])), rows)
        specialist.save(arguments.output)
    except Refusal as error:
        raise CannotRun(str(error)) from error
    except OSError as error:
        raise CannotRun(f"{error.filename or arguments.output}: {error.strerror}") from error
    card = specialist.card
    text = tr(
        "{output}: a specialist for {task}, trained on {train}; of {held_out} held out, F1 "
        "{f1:.3f} at P ≥ {threshold:.3f}, which was chosen on them",
        output=arguments.output,
        task=specialist.task,
        train=_counted(card["train"]),
        held_out=_counted(card["held_out"]),
        f1=card["held_out_f1"],
        threshold=specialist.threshold,
    )
    summary = {key: value for key, value in card.items() if key not in ("log", "sources")}
    result = {"folder": str(arguments.output), "task": specialist.task, "threshold": specialist.threshold}
    print_result(arguments, result | summary, text)
    return DONE


def run_predict(arguments: Namespace) -> int:
    from agent.json_lines import JournalError, json_line, write_atomic
    from training.bench.scores import scores
    from training.specialist import Specialist, SpecialistError

    _refuse_without_torch()
    lines, outcomes = [], []
    try:
        for folder in arguments.models:
            specialist = Specialist.load(folder)
            drafter = {"drafter": specialist.drafter}
            for one in _answers(arguments, specialist):
                outcomes.append(one)
                lines.append(json_line(one.to_json() | drafter))
        output: Path = arguments.output or arguments.models[0] / PREDICTIONS
        write_atomic(output, "".join(lines))
    except (JournalError, SpecialistError) as error:
        raise CannotRun(str(error)) from error
    found = scores(outcomes)
    f1, accuracy = _percent(found.f1.value), _percent(found.accuracy.value)
    text = tr(
        "{output}: {n_outcomes} predictions; mean F1 {f1}, accuracy {accuracy}",
        output=output,
        n_outcomes=len(outcomes),
        f1=f1,
        accuracy=accuracy,
    )
    print_result(arguments, {"file": str(output), "predictions": len(outcomes), "scores": found.to_json()}, text)
    return DONE


def _answers(arguments: Namespace, specialist: Specialist) -> Iterator[Outcome]:
    """Return the answers of one specialist to the questions of its task."""
    questions = _questions(arguments, specialist.task, "test")
    _refuse_what_it_learned(specialist, questions)
    yield from progress(_judged(specialist, questions), len(questions), specialist.task)


def _questions(arguments: Namespace, task: str, part: str) -> list[Question]:
    from agent import tasks
    from agent.tasks.specvi import PARTS
    from training.data import DataError, questions

    known, _ = tasks.load_all([arguments.tasks] if arguments.tasks else [])
    which = next(one for one in PARTS if one == part)
    try:
        return questions(arguments.data, known, arguments.labels, task=task, part=which)
    except DataError as error:
        raise CannotRun(str(error)) from error


def _sampled(questions: Iterable[Question]) -> tuple[list[Question], Sampled]:
    """Return the questions completed from their spectra, and the spectra on the grid.

    :raises CannotRun: a spectrum cannot be read
    """
    from agent.policies.specialist.grid import Sampled, sample
    from agent.spectrum import SpectrumError
    from training.data import DataError

    known, rows = [], []
    try:
        for question in questions:
            spectrum = question.spectrum()
            known.append(question.known(spectrum))
            rows.append(sample(spectrum))
    except (DataError, SpectrumError) as error:
        raise CannotRun(str(error)) from error
    return known, Sampled.stack(rows)


def _judged(specialist: Specialist, questions: Sequence[Question]) -> Iterator[Outcome]:
    from training.bench.outcomes import Outcome, question_fields

    waiting = iter(questions)
    while some := list(islice(waiting, _AT_ONCE)):
        known, rows = _sampled(some)
        for one, p in zip(known, specialist.of_sampled(rows), strict=True):
            verdict = specialist.verdict(p)
            yield Outcome(**question_fields(one), predicted=verdict, answered=verdict, probability=round(float(p), 6))


def _refuse_what_it_learned(specialist: Specialist, questions: Sequence[Question]) -> None:
    """:raises CannotRun: a spectrum was trained on"""
    shared = sorted({question.source for question in questions} & set(specialist.card["sources"]))
    if shared:
        raise CannotRun(
            tr(
                "--data: found {n_shared} spectra of its own training ({shared}, ...), expected others",
                n_shared=len(shared),
                shared=shared[0],
            )
        )


def _settings(arguments: Namespace) -> SpecialistSettings:
    from training.settings import SettingsError, read
    from training.specialist import SpecialistSettings

    try:
        return read(arguments.config, SpecialistSettings, arguments.set)
    except SettingsError as error:
        raise CannotRun(str(error)) from error


def _refuse_without_torch() -> None:
    if find_spec("torch") is None:
        raise CannotRun(tr("torch is not installed: pip install 'spec-o3[train]'"))


def _counted(labels: dict[str, int]) -> str:
    return tr("{yes} YES and {no} NO", yes=labels["YES"], no=labels["NO"])


def _percent(value: float | None) -> str:
    return tr("not defined") if value is None else f"{100 * value:.1f} %"
