"""The prompts that the published checkpoints were trained with, imported from SpecVI-Bench's rows by the user.

They are stored in ``trained_prompts.json`` in the folder of annotations.db. ``choose`` gives a task the imported
prompt ("trained") or the one of its task file ("ours").
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from agent.database_place import usual_place
from agent.language import deferred
from agent.settings_file import Problem, Table, Text, Whole, validate
from agent.tasks.files import TaskError, find
from agent.tasks.specvi import PARTS, files_by_part, prompts_in
from agent.tasks.values import Task

PromptChoice = Literal["trained", "ours"]
SCHEMA = "spec-o3/trained-prompts/1"
FILE = "trained_prompts.json"
VARIABLE = "SPEC_O3_PROMPTS"
HOW = deferred("`spec-o3 tasks import SpecVI-Bench/data` imports them")


class Source(Table):
    """A file from which a prompt was read: its name, its SHA-256, and how many rows of the class it has."""

    file: Text
    sha256: Text
    rows: Whole


class Variant(Table):
    """A prompt of a class, and the number of rows that carry it."""

    prompt: str
    rows: Whole


class TrainedPrompt(Table):
    """The prompt of one class: the most frequent one of its rows. ``others`` are less frequent ones."""

    prompt: str
    sha256: Text
    rows: Whole
    others: tuple[Variant, ...] = ()
    files: tuple[Source, ...]
    imported_at: Text


class _File(Table):
    format: Literal["spec-o3/trained-prompts/1"] = Field(alias="schema")
    tasks: dict[str, TrainedPrompt]


@dataclass(frozen=True)
class Imported:
    """What an import found: the prompts by task, unknown classes with their rows, and rows by system text."""

    prompts: Mapping[str, TrainedPrompt]
    unknown: Mapping[str, int]
    systems: Mapping[str, int]


def prompts_file(folder: Path | None = None) -> Path:
    """Return where the imported prompts are stored: the file that ``SPEC_O3_PROMPTS`` names, else in ``folder``.

    :param folder: that of annotations.db; None: that of its usual place
    """
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else (folder or usual_place().parent) / FILE


def load(path: Path) -> dict[str, TrainedPrompt]:
    """Return the imported prompts by task key; none if nothing has been imported.

    :raises TaskError: the file cannot be read, or a prompt differs from its SHA-256
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise TaskError(
            str(path), "file", str(error), deferred("JSON as `spec-o3 tasks import` writes it; {how}", how=HOW)
        ) from None
    prompts = validate(_File, data, str(path), _error).tasks
    for key, prompt in prompts.items():
        if _sha256(prompt.prompt) != prompt.sha256:
            raise TaskError(
                str(path),
                f"tasks.{key}.prompt",
                deferred("a changed text"),
                deferred("the text as imported; {how}", how=HOW),
            )
    return prompts


def save(path: Path, prompts: Mapping[str, TrainedPrompt]) -> None:
    """Write the prompts; the file is replaced at once. :raises TaskError: it cannot be written"""
    tasks = {key: prompt.model_dump(mode="json") for key, prompt in sorted(prompts.items())}
    text = json.dumps({"schema": SCHEMA, "tasks": tasks}, ensure_ascii=False, indent=1) + "\n"
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)
    except OSError as error:
        raise TaskError(str(path), "file", str(error), deferred("a folder that can be written")) from None
    finally:
        part.unlink(missing_ok=True)


def files_in(path: Path) -> list[Path]:
    """Return the benchmark's files: ``path`` itself, or those in the folder.

    :raises TaskError: there is no such file, or none in the folder
    """
    if path.is_file():
        return [path]
    files = [file for part in PARTS for file in files_by_part(path)[part]]
    if not files:
        expected = deferred("train_*.parquet or test_*.parquet, in it or in its folder data")
        raise TaskError(
            str(path),
            "path",
            deferred("no such file") if not path.is_dir() else deferred("a folder without them"),
            expected,
        )
    return files


def import_prompts(files: Iterable[Path], known: Mapping[str, Task], at: datetime | None = None) -> Imported:
    """Read the prompt of each class from the rows of these files.

    :param known: the tasks, by key; rows of other classes are counted
    :param at: the time to record; by default now
    :raises TaskError: a file cannot be used
    """
    counts: dict[str, Counter[str]] = {}
    sources: dict[str, list[Source]] = {}
    unknown: Counter[str] = Counter()
    systems: Counter[str] = Counter()
    for path in files:
        read = prompts_in(path)
        systems.update(read.systems)
        rows: Counter[str] = Counter()
        for (name, prompt), number in read.counts.items():
            task = find(known, name)
            if task is None:
                unknown[name] += number
                continue
            rows[task.key] += number
            counts.setdefault(task.key, Counter())[prompt] += number
        sha256 = _file_sha256(path)
        for key, number in rows.items():
            sources.setdefault(key, []).append(Source(file=path.name, sha256=sha256, rows=number))
    when = (at or datetime.now(UTC)).isoformat(timespec="seconds")
    return Imported(
        {key: _prompt(count, tuple(sources[key]), when) for key, count in counts.items()}, dict(unknown), dict(systems)
    )


def _prompt(counts: Counter[str], sources: tuple[Source, ...], at: str) -> TrainedPrompt:
    # Equal counts: by text, so that the order of the files does not matter.
    (first, rows), *others = sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))
    return TrainedPrompt(
        prompt=first,
        sha256=_sha256(first),
        rows=rows,
        others=tuple(Variant(prompt=prompt, rows=number) for prompt, number in others),
        files=sources,
        imported_at=at,
    )


def choose(
    task: Task, prompts: Mapping[str, TrainedPrompt], choice: PromptChoice | None, is_checkpoint: bool = False
) -> Task:
    """Return the task with the chosen prompt.

    :param choice: None: "trained" for a Spec-o3 checkpoint where it is imported, else "ours"
    :param is_checkpoint: whether the policy is a Spec-o3 checkpoint
    :raises TaskError: "trained" is wanted and no prompt of this task has been imported
    """
    imported = prompts.get(task.key)
    if choice == "ours" or (choice is None and not (is_checkpoint and imported is not None)):
        return task
    if imported is None:
        actual = deferred("no imported prompt of {key}", key=task.key)
        raise TaskError(
            deferred("prompt as trained"), task.key, actual, deferred("prompts of SpecVI-Bench; {how}", how=HOW)
        )
    return task.with_prompt(imported.prompt, "trained")


def _error(problem: Problem) -> TaskError:
    return TaskError(*problem)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
