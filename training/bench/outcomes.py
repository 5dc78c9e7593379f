"""The outcome of each question of a bench, answered by a model, the baseline or a specialist.

The scored class is read as the published reward does (``training.reward``), including its oddities. The answer as the
loop of live vetting reads it is stored too, and the report gives its F1 as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, cast, get_args

from agent.errors import Refusal
from agent.json_lines import JournalError, json_lines
from agent.language import tr
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from agent.trajectory.steps import Verdict
from training.data.records import Question
from training.reward import score

Reading = Literal["published", "loop"]
"""Which reading of the assistant's text is scored: that of the published reward, or that of the loop."""


class OutcomesError(Refusal):
    """Outcomes or predictions that cannot be read: which file and line, what was found, what was expected."""


@dataclass(frozen=True)
class Outcome:
    """One question and its outcome.

    :param source: identifies the spectrum; the unit of resampling
    :param predicted: as the published reward reads it; None where that is neither YES nor NO
    :param answered: as the loop reads it; None without an answer, or with one that is neither YES nor NO
    :param format_ok: whether it has the published form; None for systems without text, e.g. specialists
    :param ended: why the inspection ended, as in ``agent.loop``, or "policy failed"
    :param calls: tool calls, answered with a picture or not; None for systems without a tool
    :param errors: calls that the tool answered with an error
    :param seconds: from the question to the answer, with everything else that ran at the time
    :param probability: of YES, if the system gives one, as a specialist does, or a policy that gives log odds
    :param cached_tokens: those of ``prompt_tokens`` that the server had in its cache
    :param sample: the number of this sample of the question, from 0; for a majority vote the sample that stands for it
    :param vote_share: of YES among the samples with YES or NO; None if there is one sample, or no such one
    """

    key: str
    source: str
    task: str
    label: Verdict
    predicted: Verdict | None
    answered: Verdict | None
    format_ok: bool | None = None
    ended: str = "answered"
    survey: str = ""
    snr: float | None = None
    simulated: bool = False
    calls: int | None = None
    errors: int = 0
    seconds: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    probability: float | None = None
    cached_tokens: int = 0
    sample: int = 0
    vote_share: float | None = None

    @property
    def is_right(self) -> bool:
        return self.predicted == self.label

    def read_by(self, reading: Reading) -> Outcome:
        """Return the outcome with that reading of the answer as the scored one."""
        if reading == "published":
            return self
        return Outcome(**{**_values(self), "predicted": self.answered})

    def to_json(self) -> dict[str, Any]:
        """Return the object for a line of a predictions file."""
        return asdict(self)


def judged(
    question: Mapping[str, Any], texts: Iterable[str], trajectory: Trajectory, ended: str, **counted: Any
) -> Outcome:
    """Return the outcome of an inspection.

    :param question: as ``question_fields`` gives it
    :param texts: what the assistant wrote, one text per turn
    :param counted: ``seconds``, ``prompt_tokens``, ``cached_tokens``, ``completion_tokens``, ``sample``
    """
    reward = score("\n".join(texts), question["label"])
    answer = trajectory.answer
    return Outcome(
        **question,
        predicted=_verdict(reward.predicted),
        answered=None if answer is None else answer.verdict,
        format_ok=reward.format_ok,
        ended=ended,
        calls=len(trajectory.zooms),
        errors=sum(not zoom.ok for zoom in trajectory.zooms),
        probability=None if answer is None or answer.score is None else _logistic(answer.score),
        **counted,
    )


def failed(question: Mapping[str, Any], sample: int = 0) -> Outcome:
    """Return the outcome if the policy failed: no answer, and no form to judge."""
    return Outcome(**question, predicted=None, answered=None, format_ok=None, ended="policy failed", sample=sample)


def _logistic(log_odds: float) -> float:
    """Return the probability of these log odds, without overflow."""
    odds = math.exp(-abs(log_odds))
    return 1 / (1 + odds) if log_odds >= 0 else odds / (1 + odds)


def question_fields(question: Question, spectrum: Spectrum | None = None) -> dict[str, Any]:
    """Return the fields of an outcome that come from its question.

    :param spectrum: fills fields that the list of questions lacks, because files are not opened to be listed
    """
    row = {
        "key": question.key,
        "source": question.source,
        "task": question.task.key,
        "label": question.label,
        "survey": question.survey,
        "snr": question.snr,
        "simulated": question.simulated,
    }
    if spectrum is not None:
        row["survey"] = question.survey or spectrum.survey
        row["snr"] = spectrum.snr_typical if question.snr is None else question.snr
        row["simulated"] = question.simulated or bool(spectrum.meta.get("simulated", False))
    return row


def predicted(
    question: Question, verdict: Verdict, probability: float, spectrum: Spectrum | None = None, **more: Any
) -> Outcome:
    """Return the outcome of a classifier that writes no text.

    :param probability: of YES
    :param more: ``seconds``
    """
    row = question_fields(question, spectrum)
    return Outcome(**row, predicted=verdict, answered=verdict, probability=probability, **more)


def read_predictions(path: Path) -> list[Outcome]:
    """Read outcomes from JSON lines, as specialists write them.

    Each line has ``key``, ``source``, ``task``, ``label`` and ``predicted``, and optionally the other fields of
    ``Outcome``. Further keys are ignored.

    :raises OutcomesError: it cannot be read, or a field is missing or wrong
    """
    try:
        return [read_outcome(line.row, f"{path}: line {line.number}") for line in json_lines(path)]
    except JournalError as error:
        raise OutcomesError(str(error)) from error


def read_log(path: Path) -> tuple[str, list[Outcome]]:
    """Return the model and the outcomes of a log of Inspect, of the task in ``inspect_task``.

    :raises OutcomesError: the extra ``inspect`` is missing, or the file is no such log
    """
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise OutcomesError(
            tr('{path}: found no inspect-ai, which reads it; expected: pip install "spec-o3[inspect]"', path=path)
        ) from error
    try:
        log = read_eval_log(str(path))
    except Exception as error:  # of many kinds: zip, JSON, pydantic
        raise OutcomesError(
            tr("{path}: found no log of Inspect ({name})", path=path, name=type(error).__name__)
        ) from error
    outcomes = []
    for sample in log.samples or ():
        for given in (sample.scores or {}).values():
            if isinstance(row := (given.metadata or {}).get("outcome"), Mapping):
                outcomes.append(read_outcome(row, tr("{path}: sample {id}", path=path, id=sample.id)))
    if not outcomes:
        raise OutcomesError(tr("{path}: found no outcome, expected a log of training/bench/inspect_task.py", path=path))
    return log.eval.model, outcomes


def read_outcome(row: Mapping[str, Any], where: str) -> Outcome:
    """Read the line of a file of predictions. :raises OutcomesError: the field that is missing or wrong"""
    for name in ("key", "source", "task"):
        if not isinstance(row.get(name), str):
            raise OutcomesError(
                tr("{where}: {name}: found {get!r:.60}, expected text", where=where, name=name, get=row.get(name))
            )
    if row.get("label") not in get_args(Verdict):
        raise OutcomesError(
            tr("{where}: label: found {get!r:.60}, expected YES or NO", where=where, get=row.get("label"))
        )
    if "predicted" not in row or row["predicted"] not in ("YES", "NO", None):
        predicted = repr(row["predicted"]) if "predicted" in row else "nothing"
        raise OutcomesError(
            tr("{where}: predicted: found {found:.60}, expected YES, NO or null", where=where, found=predicted)
        )
    for name in ("snr", "seconds", "probability"):
        if not isinstance(row.get(name), int | float | None) or isinstance(row.get(name), bool):
            raise OutcomesError(
                tr(
                    "{where}: {name}: found {row!r:.60}, expected a number or null",
                    where=where,
                    name=name,
                    row=row[name],
                )
            )
    known = {field.name for field in fields(Outcome)}
    given = {name: value for name, value in row.items() if name in known}
    return Outcome(**{"answered": row["predicted"], **given})


def _values(outcome: Outcome) -> dict[str, Any]:
    return {field.name: getattr(outcome, field.name) for field in fields(outcome)}


def _verdict(read: str) -> Verdict | None:
    return cast("Verdict", read) if read in get_args(Verdict) else None
