"""``spec-o3 specialist``: a small 1-D network for one class, trained here, and its predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import (
    DONE,
    CannotRun,
    ProgressBar,
    print_result,
    progress,
)
from agent.cli.options import TASK, JsonOutput, argument, option, output_file, output_folder
from agent.language import deferred, tr
from training.cli.common import Questions, Settings, config_file

if TYPE_CHECKING:
    from agent.policies.specialist.grid import Sampled
    from training.bench.outcomes import Outcome
    from training.data.records import Question
    from training.specialist import Specialist, SpecialistSettings

PREDICTIONS = "predictions.jsonl"
_AT_ONCE = 64


@dataclass(kw_only=True)
class TrainOptions(Questions, Settings, JsonOutput):
    task: str = option(TASK, metavar="KEY")
    out: Path = option("folder of the specialist", metavar="DIR", read=output_folder)
    config: str = option("settings in YAML, or the name of shipped ones", default="specialist", metavar="FILE")


@dataclass(kw_only=True)
class PredictOptions(Questions, JsonOutput):
    models: list[Path] = argument("folders of `specialist train`, one per class", metavar="MODEL")
    out: Path | None = option(
        deferred("JSON lines for `bench table` (default: MODEL/{predictions}, of the first)", predictions=PREDICTIONS),
        read=output_file,
    )


def run_train(arguments: TrainOptions) -> int:
    from agent.json_lines import JournalError
    from training.model_card.facts import CardError
    from training.specialist import SpecialistError, train

    _refuse_without_torch()
    settings = _settings(arguments)
    question_fields = _questions(arguments, arguments.task, "train")
    questions, rows = _sampled(progress(question_fields, len(question_fields), tr("reading")))
    try:
        with ProgressBar(settings.epochs, tr("epochs")) as bar:
            specialist = train(questions, settings, lambda line: bar.at(int(line["epoch"])), rows)
        specialist.save(arguments.out)
    except (SpecialistError, CardError, JournalError) as error:
        raise CannotRun(str(error)) from error
    except OSError as error:
        raise CannotRun(f"{error.filename or arguments.out}: {error.strerror}") from error
    card = specialist.card
    text = tr(
        "{output}: a specialist for {task}, trained on {train}; of {held_out} held out, F1 "
        "{f1:.3f} at P ≥ {threshold:.3f}, which was chosen on them",
        output=arguments.out,
        task=specialist.task,
        train=_counted(card["train"]),
        held_out=_counted(card["held_out"]),
        f1=card["held_out_f1"],
        threshold=specialist.threshold,
    )
    summary = {key: value for key, value in card.items() if key not in ("log", "sources")}
    result = {"folder": str(arguments.out), "task": specialist.task, "threshold": specialist.threshold}
    print_result(arguments, result | summary, text)
    return DONE


def run_predict(arguments: PredictOptions) -> int:
    from agent.json_lines import json_line, write_atomic
    from training.bench.scores import scores
    from training.specialist import Specialist

    _refuse_without_torch()
    lines, outcomes = [], []
    for folder in arguments.models:
        specialist = Specialist.load(folder)
        drafter = {"drafter": specialist.drafter}
        for answer in _answers(arguments, specialist):
            outcomes.append(answer)
            lines.append(json_line(answer.to_json() | drafter))
    output: Path = arguments.out or arguments.models[0] / PREDICTIONS
    write_atomic(output, "".join(lines))
    scored = scores(outcomes)
    f1, accuracy = _percent(scored.f1.value), _percent(scored.accuracy.value)
    text = tr(
        "{output}: {n_outcomes} predictions; mean F1 {f1}, accuracy {accuracy}",
        output=output,
        n_outcomes=len(outcomes),
        f1=f1,
        accuracy=accuracy,
    )
    print_result(arguments, {"file": str(output), "predictions": len(outcomes), "scores": scored.to_json()}, text)
    return DONE


def _answers(arguments: PredictOptions, specialist: Specialist) -> Iterator[Outcome]:
    """Return the answers of one specialist to the questions of its task."""
    questions = _questions(arguments, specialist.task, "test")
    _refuse_what_it_learned(specialist, questions)
    yield from progress(_judged(specialist, questions), len(questions), specialist.task)


def _questions(arguments: Questions, task: str, part: str) -> list[Question]:
    from agent import tasks
    from agent.tasks.specvi import PARTS
    from training.data import questions

    known, _ = tasks.load_all([arguments.tasks] if arguments.tasks else [])
    which = next(name for name in PARTS if name == part)
    return questions(arguments.data, known, arguments.labels, task=task, part=which)


def _sampled(questions: Iterable[Question]) -> tuple[list[Question], Sampled]:
    """Return the questions completed from their spectra, and the spectra on the grid.

    :raises CannotRun: a spectrum cannot be read
    """
    from agent.policies.specialist.grid import Sampled, sample

    known, rows = [], []
    for question in questions:
        spectrum = question.spectrum()
        known.append(question.known(spectrum))
        rows.append(sample(spectrum))
    return known, Sampled.stack(rows)


def _judged(specialist: Specialist, questions: Sequence[Question]) -> Iterator[Outcome]:
    from training.bench.outcomes import Outcome, question_fields

    waiting = iter(questions)
    while some := list(islice(waiting, _AT_ONCE)):
        known, rows = _sampled(some)
        for question, p in zip(known, specialist.of_sampled(rows), strict=True):
            verdict = specialist.verdict(p)
            yield Outcome(
                **question_fields(question), predicted=verdict, answered=verdict, probability=round(float(p), 6)
            )


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


def _settings(arguments: TrainOptions) -> SpecialistSettings:
    from training.settings import read
    from training.specialist import SpecialistSettings

    return read(config_file(arguments.config), SpecialistSettings, arguments.set)


def _refuse_without_torch() -> None:
    if find_spec("torch") is None:
        raise CannotRun(tr("torch is not installed: pip install 'spec-o3[train]'"))


def _counted(labels: dict[str, int]) -> str:
    return tr("{yes} YES and {no} NO", yes=labels["YES"], no=labels["NO"])


def _percent(value: float | None) -> str:
    return tr("not defined") if value is None else f"{100 * value:.1f} %"
