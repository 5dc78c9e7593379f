"""The journal of a bench run: one line per sample of a question, with the trace, the assistant's text, time and tokens.

It is the journal of ``spec-o3 inspect`` with ``question`` and ``said`` in each line, so an interrupted run resumes with
the missing questions, and ``spec-o3 import`` reads the file. ``questions.jsonl`` lists the questions without spectra.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent.batch.journal import Journal
from agent.batch.run import Outcome as Inspected
from agent.json_lines import JournalError, append_line, json_line, json_lines, write_atomic
from agent.language import tr
from agent.trajectory import Trajectory
from training.bench.outcomes import Outcome, OutcomesError, failed, judged, question_fields
from training.bench.samples import voted
from training.data.records import Question

FILE = "answers.jsonl"
SETTINGS = f"{FILE}.run.json"
QUESTIONS = "questions.jsonl"
SESSIONS = "sittings.jsonl"
LABEL_SOURCE = "bench"


def place(question: Question) -> str:
    """Return the name of a question in the journal; one spectrum may have questions of several tasks."""
    return f"{question.task.key} {question.key}"


def questions_digest(questions: Iterable[Question]) -> dict[str, Any]:
    """Return the number of questions and their digest, which may not change from one session to the next."""
    digest, number = hashlib.sha256(), 0
    for question in sorted(questions, key=place):
        number += 1
        row = (place(question), question.source, question.label, question.task.prompt)
        digest.update(json.dumps(row).encode())
    return {"questions": number, "questions_sha256": digest.hexdigest()}


class Answers:
    """The journal in the folder of a run, open for one writer; as a context manager it closes."""

    def __init__(self, folder: Path, questions: Sequence[Question], settings: Mapping[str, Any]) -> None:
        """Open or create the journal.

        :param settings: what may not change from one session to the next, as JSON values
        :raises JournalError: another process writes there, the settings differ, or the file is damaged
        """
        self.folder = folder
        self._questions = {place(question): question for question in questions}
        if len(self._questions) < len(questions):
            raise ValueError(tr("questions: found two of one key and task"))
        self._journal = Journal(folder / FILE, {**settings, **questions_digest(questions)})
        lines = (json_line(question_fields(question)) for question in questions)
        write_atomic(folder / QUESTIONS, "".join(lines))

    @property
    def done(self) -> int:
        return self._journal.done

    def has(self, question: Question, sample: int = 0) -> bool:
        """Return whether this sample of the question is done, also if it has no verdict."""
        return self._journal.is_done(place(question), sample)

    def add(self, outcome: Inspected) -> None:
        """Record the outcome of a sample of a question. A stopped question is not recorded and is repeated.

        :raises JournalError: it cannot be written, and counts as not done
        """
        question = self._questions[outcome.job.key]
        if outcome.trajectory is not None:
            labelled = replace(outcome.trajectory, label=question.label, label_source=LABEL_SOURCE)
            outcome = replace(outcome, trajectory=labelled)
        detail = {"question": question_fields(question, outcome.spectrum), "said": list(outcome.texts)}
        self._journal.add(outcome, detail)

    def add_session(self, questions: int, seconds: float, gpus: int | None = None) -> None:
        """Record the time of a session; a killed session leaves no record.

        :param questions: samples that were answered
        :param gpus: that the policy used; None if not known
        """
        line = {"asked": questions, "seconds": round(seconds, 3)}
        line |= {} if gpus is None else {"gpus": gpus}
        append_line(self.folder / SESSIONS, json.dumps(line) + "\n")

    def close(self) -> None:
        self._journal.close()

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Run:
    """The present content of the folder of a run.

    :param samples: for each question, its samples in their order; questions that still lack one are left out. A sample
        whose policy failed is one without an answer
    :param failed: messages of failed samples, by the question's name in the journal
    :param unread: messages of questions whose spectrum could not be read; they do not count
    :param open: number of samples that are not done yet
    :param cost: time of all sessions
    """

    folder: Path
    settings: Mapping[str, Any]
    samples: tuple[tuple[Outcome, ...], ...]
    failed: Mapping[str, str]
    unread: Mapping[str, str]
    open: int
    cost: Cost

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """One outcome per question, by task and key: its only sample, or the majority vote."""
        return tuple(voted(samples) for samples in self.samples)

    @classmethod
    def read(cls, folder: Path) -> Run:
        """:raises OutcomesError: it holds no run of the bench, or what it holds is damaged"""
        try:
            settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
            number = settings.get("samples", 1)
            questions = {f"{row['task']} {row['key']}": row for row in _rows(folder / QUESTIONS)}
            outcomes = {(row["source"]["file"], row["sample"]): _outcome(row) for row in _rows(folder / FILE)}
            failures = _failures(folder, outcomes)
            for (name, sample), (reason, _) in failures.items():
                if reason == "policy failed":
                    outcomes[name, sample] = failed(questions[name], sample)
            by_question = {
                name: tuple(outcomes[name, sample] for sample in range(number) if (name, sample) in outcomes)
                for name in questions
            }
            cost = _cost(folder / SESSIONS)
        except (OSError, JournalError) as error:
            raise OutcomesError(
                tr("{folder} holds no run of the bench: {error}", folder=folder, error=error)
            ) from error
        except (KeyError, TypeError, ValueError) as error:
            detail = f"{type(error).__name__}: {error}"
            raise OutcomesError(
                tr("{folder} holds a run of the bench that is damaged: {detail}", folder=folder, detail=detail)
            ) from error
        complete = [samples for samples in by_question.values() if len(samples) == number]
        return cls(
            folder,
            settings,
            tuple(sorted(complete, key=lambda samples: (samples[0].task, samples[0].key))),
            {name: detail for (name, _), (reason, detail) in failures.items() if reason == "policy failed"},
            {name: detail for (name, _), (reason, detail) in failures.items() if reason != "policy failed"},
            number * len(questions) - len(outcomes.keys() | failures.keys()),
            cost,
        )

    def traces(self) -> Iterator[tuple[Outcome, Trajectory, tuple[str, ...]]]:
        """Yield the outcome, the trace and the raw texts of each sample that has a trace."""
        for row in _rows(self.folder / FILE):
            yield _outcome(row), Trajectory.from_json(row), tuple(row["said"])


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    return (line.row for line in json_lines(path))


def _outcome(row: Mapping[str, Any]) -> Outcome:
    usage = row["usage"]
    return judged(
        row["question"],
        row["said"],
        Trajectory.from_json(row),
        row["ended"],
        seconds=row["seconds"],
        prompt_tokens=usage["prompt"],
        cached_tokens=usage["cached"],
        completion_tokens=usage["completion"],
        sample=row["sample"],
    )


def _failures(folder: Path, done: Container[tuple[str, int]]) -> dict[tuple[str, int], tuple[str, str]]:
    """Return reason and message of each sample without a trace, by its question's name and its number."""
    path = folder / f"{FILE}.failed.jsonl"
    if not path.is_file():
        return {}
    failures = {(row["source"]["file"], row["sample"]): (row["reason"], row["detail"]) for row in _rows(path)}
    return {name: failure for name, failure in failures.items() if name not in done}


@dataclass(frozen=True)
class Cost:
    """Time of a run, from its sessions; killed sessions are not in it.

    :param samples: samples answered
    :param seconds: wall time, many samples at a time
    :param gpu_seconds: wall time times the number of GPUs; None if a session does not state it
    """

    samples: int = 0
    seconds: float = 0.0
    gpu_seconds: float | None = None

    @property
    def wall(self) -> float | None:
        """Seconds per sample; None if not measured."""
        return self.seconds / self.samples if self.samples else None

    @property
    def gpu_seconds_per_sample(self) -> float | None:
        return None if self.gpu_seconds is None or not self.samples else self.gpu_seconds / self.samples


def _cost(path: Path) -> Cost:
    sessions = list(_rows(path)) if path.is_file() else []
    questions = sum(session["asked"] for session in sessions)
    seconds = sum(session["seconds"] for session in sessions)
    if not sessions or any("gpus" not in session for session in sessions):
        return Cost(questions, seconds)
    return Cost(questions, seconds, sum(session["seconds"] * session["gpus"] for session in sessions))


def limited(questions: Iterable[Question], most: int, seed: int = 0) -> list[Question]:
    """Select at most ``most`` questions of each task, by their names and the seed, in their order.

    The selection does not depend on the order or on the other questions; a smaller one is part of a larger one of the
    same label. Each existing label has at least one, if ``most`` is 2 or more.
    """
    given = list(questions)
    by_task: dict[str, dict[str, list[Question]]] = defaultdict(lambda: defaultdict(list))
    for question in given:
        by_task[question.task.key][question.label].append(question)
    taken: set[str] = set()
    for labels in by_task.values():
        for label, number in _shares({name: len(rows) for name, rows in labels.items()}, most).items():
            taken.update(place(chosen) for chosen in _shuffled(labels[label], seed)[:number])
    return [chosen for chosen in given if place(chosen) in taken]


def _shares(numbers: dict[str, int], most: int) -> dict[str, int]:
    """Return the number of each label: its share, but at least one."""
    total = sum(numbers.values())
    if total <= most or len(numbers) == 1:
        return {label: min(number, most) for label, number in numbers.items()}
    yes = min(max(1, round(most * numbers["YES"] / total)), max(1, most - 1))
    return {"YES": yes, "NO": most - yes}


def _shuffled(questions: Sequence[Question], seed: int) -> list[Question]:
    return sorted(questions, key=lambda question: hashlib.sha256(f"{seed} {place(question)}".encode()).digest())
