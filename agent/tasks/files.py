"""Task files: TOML in, checked ``Task`` values out. ``docs/tasks.md`` describes the format."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from agent.tasks.values import Confuser, Feature, FeatureKind, Quantity, Role, Sign, Statement, Task, Window
from agent.text import OneLine, one_line

FOLDER = Path(__file__).parent
QUESTION = "Analyze the provided spectrum to determine if it is "

_FILE = ("key", "title", "question", "aliases", "guide", "feature", "confuser", "references")


class TaskError(OneLine, ValueError):
    """A task file that cannot be used: names the file, the field, what was found there and what was
    wanted."""

    def __init__(self, file: str, field: str, found: str, wanted: str) -> None:
        super().__init__(file, field, found, wanted)
        self.file = file
        self.field = field
        self.found = found
        self.wanted = wanted

    def __str__(self) -> str:
        return one_line(f"{self.file}: {self.field}: found {self.found}; wanted {self.wanted}")


def load(folder: str | os.PathLike[str] | None = None) -> dict[str, Task]:
    """The tasks that come with the program and, after them, those of ``folder``, by key in order of file
    name.

    :raises TaskError: for the first file that cannot be used; ``load_all`` goes on and lists them
    """
    tasks, problems = load_all([folder] if folder is not None else [])
    if problems:
        raise problems[0]
    return tasks


def load_all(
    folders: Iterable[str | os.PathLike[str]] = (),
) -> tuple[dict[str, Task], tuple[TaskError, ...]]:
    """Every usable task of the program and of ``folders``, and what is wrong with the rest.

    A task whose key or alias is taken already is refused, so that a user's file never silently replaces ours.
    """
    tasks: dict[str, Task] = {}
    problems: list[TaskError] = []
    taken: dict[str, str] = {}
    for folder in (FOLDER, *map(Path, folders)):
        if not folder.is_dir():
            problems.append(TaskError(str(folder), "folder", "no such folder", "a folder of task files"))
        for path in sorted(folder.glob("*.toml")):
            try:
                task = read(path)
                for name in (task.key, *task.aliases):
                    if name in taken:
                        raise TaskError(str(path), "key", f"{name!r}, taken by {taken[name]}", "a new name")
            except TaskError as problem:
                problems.append(problem)
                continue
            tasks[task.key] = task
            taken |= dict.fromkeys((task.key, *task.aliases), path.name)
    return tasks, tuple(problems)


def find(tasks: Mapping[str, Task], name: str) -> Task | None:
    """The task with that key or alias ("cc", "carbon"), whatever the case; None if there is none."""
    wanted = name.strip().lower()
    return next((t for t in tasks.values() if wanted in (t.key, *t.aliases)), None)


def read(path: str | os.PathLike[str]) -> Task:
    """One task file. :raises TaskError: it cannot be read, or a field is missing, unknown or wrong."""
    file = str(path)
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(file, "file", str(error), "a readable UTF-8 text file") from None
    except (ValueError, RecursionError) as error:
        # tomllib's own errors, and what escapes it: a number of 5,000 digits, brackets a thousand deep.
        raise TaskError(file, "file", f"broken TOML, {error}", "TOML as in docs/tasks.md") from None
    return _task(_Table(file, "", data))


def _task(table: _Table) -> Task:
    table.refuse_unknown(_FILE)
    title = table.text("title")
    question = table.text("question")
    if not question.startswith(QUESTION) or f"**{title}**" not in question or "\n" in question:
        raise table.error("question", repr(question), f"one line, {QUESTION!r} and the title in **bold**")
    key = table.text("key")
    if not (key.isascii() and key.isidentifier() and key.islower()):
        raise table.error("key", repr(key), "lower-case letters, digits and _ only, as in cv")
    names = table.mapping("references")
    task = Task(
        key=key,
        title=title,
        question=question,
        statements=tuple(_statement(t, names) for t in table.tables("guide", wanted="at least one")),
        features=tuple(_feature(t, names) for t in table.tables("feature", wanted="at least one")),
        confusers=tuple(_confuser(t, names) for t in table.tables("confuser")),
        references=MappingProxyType(names),
        aliases=tuple(alias.lower() for alias in table.texts("aliases", missing=())),
    )
    repeated = {f.name for f in task.features if [g.name for g in task.features].count(f.name) > 1}
    if repeated:
        raise table.error("feature.name", f"{sorted(repeated)[0]!r} twice", "each name once")
    return task


def _statement(table: _Table, names: Mapping[str, str]) -> Statement:
    table.refuse_unknown(("section", "weight", "text", "references"))
    return Statement(table.text("section"), table.text("weight"), table.text("text"), table.references(names))


def _confuser(table: _Table, names: Mapping[str, str]) -> Confuser:
    table.refuse_unknown(("name", "tell_apart", "references"))
    return Confuser(table.text("name"), table.text("tell_apart"), table.references(names))


def _feature(table: _Table, names: Mapping[str, str]) -> Feature:
    table.refuse_unknown(tuple(Feature.__dataclass_fields__))
    window = table.window("window")
    feature = Feature(
        name=table.text("name"),
        kind=table.choice("kind", get_args(FeatureKind)),
        role=table.choice("role", get_args(Role)),
        medium=table.choice("medium", ("air", "vacuum")),
        window=window,
        span=table.window("span", missing=window),
        side_bands=table.windows("side_bands"),
        quantity=table.choice("quantity", get_args(Quantity)),
        why=table.text("why"),
        references=table.references(names),
        wavelengths=table.numbers("wavelengths"),
        above=table.number("above"),
        below=table.number("below"),
        sign=table.choice("sign", get_args(Sign), missing="either"),
    )
    if feature.above is None and feature.below is None:
        raise table.error("above, below", "neither", "at least one: what makes the feature present")
    if not feature.side_bands:
        raise table.error("side_bands", "none", "one or more continuum windows [lo, hi]")
    if feature.quantity in ("equivalent_width", "fwhm", "depth") and any(
        lo < feature.span[1] and hi > feature.span[0] for lo, hi in feature.side_bands
    ):
        raise table.error("side_bands", f"one that overlaps the span {feature.span}", "windows beside it")
    return feature


class _Table:
    """One TOML table of one file: hands out its fields checked, and knows how to complain about them."""

    def __init__(self, file: str, where: str, data: Mapping[str, Any]) -> None:
        self.file = file
        self.where = where
        self.data = data

    def error(self, field: str, found: str, wanted: str) -> TaskError:
        return TaskError(self.file, f"{self.where}{field}", found, wanted)

    def refuse_unknown(self, known: tuple[str, ...]) -> None:
        for field in self.data:
            if field not in known:
                raise self.error(field, "a field that means nothing here", "one of " + ", ".join(known))

    def text(self, field: str) -> str:
        value = self.data.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self.error(field, _shown(value), "a text")
        return value.strip()

    def texts(self, field: str, missing: tuple[str, ...] | None = None) -> tuple[str, ...]:
        value = self.data.get(field, missing)
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            raise self.error(field, _shown(value), "a list of texts")
        return tuple(value)

    def choice(self, field: str, allowed: tuple[str, ...], missing: str | None = None) -> Any:
        value = self.data.get(field, missing)
        if value not in allowed:
            raise self.error(field, _shown(value), " or ".join(allowed))
        return value

    def number(self, field: str) -> float | None:
        value = self.data.get(field)
        if value is not None and not _is_number(value):
            raise self.error(field, _shown(value), "a finite number")
        return None if value is None else float(value)

    def numbers(self, field: str) -> tuple[float, ...]:
        value = self.data.get(field, [])
        if not isinstance(value, list) or not all(_is_number(v) and v > 0 for v in value):
            raise self.error(field, _shown(value), "a list of positive numbers in Å")
        return tuple(float(v) for v in value)

    def window(self, field: str, missing: Window | None = None) -> Window:
        value = self.data.get(field, missing)
        if not _is_window(value):
            raise self.error(field, _shown(value), "[lo, hi] in Å, 0 < lo < hi")
        return float(value[0]), float(value[1])

    def windows(self, field: str) -> tuple[Window, ...]:
        value = self.data.get(field)
        if not isinstance(value, list) or not all(_is_window(v) for v in value):
            raise self.error(field, _shown(value), "a list of [lo, hi] in Å, 0 < lo < hi")
        return tuple((float(lo), float(hi)) for lo, hi in value)

    def mapping(self, field: str) -> dict[str, str]:
        value = self.data.get(field)
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            raise self.error(field, _shown(value), "a table of key = 'author year journal'")
        return dict(value)

    def references(self, names: Mapping[str, str]) -> tuple[str, ...]:
        found = self.texts("references")
        unknown = [key for key in found if key not in names]
        if not found or unknown:
            raise self.error("references", repr(unknown[0]) if unknown else "none", "keys of [references]")
        return found

    def tables(self, field: str, wanted: str = "") -> tuple[_Table, ...]:
        value = self.data.get(field, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value) or (wanted and not value):
            raise self.error(field, _shown(value), f"{wanted or 'any number of'} [[{field}]]".strip())
        return tuple(
            _Table(
                self.file,
                f"{field} {number} ({entry.get('name') or entry.get('weight') or 'no name'}), ",
                entry,
            )
            for number, entry in enumerate(value, start=1)
        )


def _shown(value: Any) -> str:
    return "nothing" if value is None else f"{value!r:.60}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_window(value: Any) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(_is_number(v) for v in value):
        return False
    return bool(0 < value[0] < value[1])
