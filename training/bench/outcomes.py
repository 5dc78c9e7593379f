"""The outcome of each question of a bench, answered by a model, the baseline or a specialist.

The scored class is the one that the published reward reads from everything the assistant wrote
(``training.reward``), with its oddities; the answer as the loop of live vetting reads it is kept too, and the report
gives the F1 for that reading as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, cast, get_args

from agent.batch.journal import JournalError, json_lines, write_atomic
from agent.spectrum import Spectrum
from agent.text import OneLine
from agent.trajectory import Trajectory
from agent.trajectory.steps import Verdict
from training.data.records import Question
from training.reward import score

Reading = Literal["published", "loop"]
"""Which reading of the assistant's text is scored: that of the published reward, or that of the loop."""


class OutcomesError(OneLine):
    """Outcomes or predictions that cannot be read: which file and line, what was found, what was expected."""


@dataclass(frozen=True)
class Outcome:
    """One question and its outcome.

    :param source: which spectrum; what is resampled
    :param predicted: as the published reward reads it; None where that is neither YES nor NO
    :param answered: as the loop reads it; None without an answer, or with one that is neither YES nor NO
    :param format_ok: the published form; None for whoever writes nothing, as specialists
    :param ended: why the inspection ended, as ``agent.loop`` says it, or "policy failed"
    :param calls: of the tool, answered with a picture or not; None for whoever has none
    :param errors: calls that the tool answered with an error
    :param seconds: from the question to the answer, whatever else ran at the time
    :param probability: of YES, where whoever answered gives one
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

    @property
    def is_right(self) -> bool:
        return self.predicted == self.label

    def read_by(self, reading: Reading) -> Outcome:
        """The same with that reading as the one to be scored."""
        if reading == "published":
            return self
        return Outcome(**{**_values(self), "predicted": self.answered})

    def to_json(self) -> dict[str, Any]:
        """A line of a predictions file."""
        return asdict(self)


def judged(
    question: Mapping[str, Any], texts: Iterable[str], trajectory: Trajectory, ended: str, **counted: Any
) -> Outcome:
    """The outcome of an inspection.

    :param question: as ``asked`` gives it
    :param texts: what the assistant wrote, one text per turn
    :param counted: ``seconds``, ``prompt_tokens``, ``completion_tokens``
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
        **counted,
    )


def failed(question: Mapping[str, Any]) -> Outcome:
    """The outcome where the policy could not go on: no answer, and no form to be asked for."""
    return Outcome(**question, predicted=None, answered=None, format_ok=None, ended="policy failed")


def question_fields(question: Question, spectrum: Spectrum | None = None) -> dict[str, Any]:
    """What an outcome says of its question.

    :param spectrum: once it has been read, it tells more: files are not opened to be listed
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
    """The outcome of a classifier that says no words.

    :param probability: of YES
    :param more: ``seconds``
    """
    row = question_fields(question, spectrum)
    return Outcome(**row, predicted=verdict, answered=verdict, probability=probability, **more)


def write_predictions(path: Path, found: Iterable[Outcome]) -> None:
    """A file that ``bench table`` takes. :raises JournalError: it cannot be written"""
    write_atomic(path, "".join(json.dumps(one.to_json(), ensure_ascii=False, allow_nan=False) + "\n" for one in found))


def read_predictions(path: Path) -> list[Outcome]:
    """Outcomes of a file of JSON lines, as specialists leave them: ``key``, ``source``, ``task``, ``label``
    and ``predicted`` in each, and if wanted the other fields of ``Outcome``. Further keys are passed over.

    :raises OutcomesError: it cannot be read, or a line lacks something or says what cannot be
    """
    try:
        return [_outcome(line.row, f"{path}: line {line.number}") for line in json_lines(path)]
    except JournalError as error:
        raise OutcomesError(str(error)) from error


def _outcome(row: Mapping[str, Any], where: str) -> Outcome:
    for name in ("key", "source", "task"):
        if not isinstance(row.get(name), str):
            raise OutcomesError(f"{where}: {name}: found {row.get(name)!r:.60}, expected text")
    if row.get("label") not in get_args(Verdict):
        raise OutcomesError(f"{where}: label: found {row.get('label')!r:.60}, expected YES or NO")
    if "predicted" not in row or row["predicted"] not in ("YES", "NO", None):
        found = repr(row["predicted"]) if "predicted" in row else "nothing"
        raise OutcomesError(f"{where}: predicted: found {found:.60}, expected YES, NO or null")
    for name in ("snr", "seconds", "probability"):
        if not isinstance(row.get(name), int | float | None) or isinstance(row.get(name), bool):
            raise OutcomesError(f"{where}: {name}: found {row[name]!r:.60}, expected a number or null")
    known = {field.name for field in fields(Outcome)}
    given = {name: value for name, value in row.items() if name in known}
    return Outcome(**{"answered": row["predicted"], **given})


def _values(outcome: Outcome) -> dict[str, Any]:
    return {field.name: getattr(outcome, field.name) for field in fields(outcome)}


def _verdict(read: str) -> Verdict | None:
    return cast("Verdict", read) if read in get_args(Verdict) else None
