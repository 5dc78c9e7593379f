"""Task files: TOML in, checked ``Task`` values out. ``docs/tasks.md`` describes the format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from agent.errors import Refusal
from agent.language import deferred
from agent.lines import Medium, indices
from agent.settings_file import Mismatch, Number, Problem, Table, Text, load_toml, validate
from agent.tasks.values import (
    AxisQuantity,
    Confuser,
    Feature,
    FeatureKind,
    PlaneAxis,
    PlaneOfTask,
    Quantity,
    Role,
    Sign,
    Simulated,
    SkyFeature,
    SkyQuantity,
    Statement,
    Task,
)

FOLDER = Path(__file__).parent
QUESTION = "Analyze the provided spectrum to determine if it is "


class TaskError(Refusal, ValueError):
    """A task file that cannot be used: the file, the field, what was found there and what was expected."""

    def __init__(self, file: str, field: str, actual: str, expected: str) -> None:
        super().__init__(file, field, actual, expected)
        self.file = file
        self.field = field
        self.actual = actual
        self.expected = expected

    @property
    def sentence(self) -> str:
        return deferred(
            "{file}: {field}: found {found}; expected {expected}",
            file=self.file,
            field=self.field,
            found=self.actual,
            expected=self.expected,
        )


def load(folder: str | os.PathLike[str] | None = None) -> dict[str, Task]:
    """Return the program's tasks and after them those of ``folder``, by key, in the order of file names.

    :raises TaskError: for the first file that cannot be used; ``load_all`` continues and lists them
    """
    tasks, problems = load_all([folder] if folder is not None else [])
    if problems:
        raise problems[0]
    return tasks


def load_all(
    folders: Iterable[str | os.PathLike[str]] = (),
) -> tuple[dict[str, Task], tuple[TaskError, ...]]:
    """Return every usable task of the program and of ``folders``, and the errors of the other files.

    A task whose key or alias is already taken is refused, so that a user's file never silently replaces ours.
    """
    tasks: dict[str, Task] = {}
    problems: list[TaskError] = []
    taken: dict[str, str] = {}
    files: dict[str, Path] = {}
    for folder in (FOLDER, *map(Path, folders)):
        if not folder.is_dir():
            problems.append(
                TaskError(str(folder), "folder", deferred("no such folder"), deferred("a folder of task files"))
            )
        for path in sorted(folder.glob("*.toml")):
            try:
                task = read(path)
                for name in (task.key, *task.aliases):
                    if name in taken:
                        raise TaskError(
                            str(path),
                            "key",
                            deferred("{name!r}, already used by {taken}", name=name, taken=taken[name]),
                            deferred("a new name"),
                        )
            except TaskError as problem:
                problems.append(problem)
                continue
            tasks[task.key] = task
            taken |= dict.fromkeys((task.key, *task.aliases), path.name)
            files[task.key] = path
    for task in list(tasks.values()):
        if unknown := [key for key in task.planes_of if key not in tasks]:
            expected = deferred("one of {names}", names=", ".join(tasks))
            problems.append(TaskError(str(files[task.key]), "planes_of", repr(unknown[0]), expected))
            del tasks[task.key]
    return tasks, tuple(problems)


def find(tasks: Mapping[str, Task], name: str) -> Task | None:
    """Return the task with that key or alias ("cc", "carbon"), in upper or lower case; None if there is none."""
    key = name.strip().lower()
    return next((t for t in tasks.values() if key in (t.key, *t.aliases)), None)


def read(path: str | os.PathLike[str]) -> Task:
    """Read one task file. :raises TaskError: it cannot be read, or a field is missing, unknown or wrong"""
    data = load_toml(Path(path), _error)
    file = validate(_TaskFile, data, str(path), _error)
    names = file.references

    def entries(field: str, model: type[_Entry], tables: Iterable[dict[str, Any]]) -> list[Any]:
        listed = []
        for number, table in enumerate(tables, start=1):
            prefix = f"{field} {number} ({table.get('name') or table.get('weight') or 'unnamed'}), "
            entry = validate(model, table, str(path), _error, prefix)
            unknown = next((key for key in entry.references if key not in names), None)
            if unknown is not None or not entry.references:
                found_there = "none" if unknown is None else repr(unknown)
                raise TaskError(str(path), f"{prefix}references", found_there, deferred("keys of [references]"))
            listed.append(entry)
        return listed

    task = Task(
        key=file.key,
        title=file.title,
        question=file.question,
        statements=tuple(Statement(**dict(e)) for e in entries("guide", _StatementTable, file.guide)),
        features=tuple(_feature(e) for e in entries("feature", _FeatureTable, file.feature)),
        confusers=tuple(Confuser(**dict(e)) for e in entries("confuser", _ConfuserTable, file.confuser)),
        references=MappingProxyType(dict(names)),
        aliases=tuple(alias.lower() for alias in file.aliases),
        planes_of=file.planes_of,
        simulated=None if file.simulated is None else Simulated(**dict(file.simulated)),
        sky=tuple(SkyFeature(**dict(e)) for e in entries("sky", _SkyTable, file.sky)),
    )
    feature_names = [feature.name for feature in task.features]
    _check_names(str(path), "feature", task.features)
    _check_names(str(path), "sky", task.sky, feature_names)
    planes = (_plane(table, number, str(path), feature_names) for number, table in enumerate(file.plane, start=1))
    return replace(task, planes=tuple(planes))


def _error(problem: Problem) -> TaskError:
    return TaskError(*problem)


def _check_names(path: str, field: str, entries: Sequence[Feature | SkyFeature], taken: Sequence[str] = ()) -> None:
    """:raises TaskError: a name stands twice, or what an entry requires is missing or requires the entry itself"""
    required_by = {entry.name: entry.requires for entry in entries}
    names = [*taken, *(entry.name for entry in entries)]
    if repeated := sorted(name for name in set(names) if names.count(name) > 1):
        raise TaskError(path, f"{field}.name", deferred("{name!r} twice", name=repeated[0]), deferred("each name once"))
    for number, entry in enumerate(entries, start=1):
        place = f"{field} {number} ({entry.name}), requires"
        seen = [entry.name]
        while (required := required_by[seen[-1]]) is not None:
            if required not in required_by:
                raise TaskError(path, place, repr(required), deferred("the name of another feature of the file"))
            if required in seen:
                raise TaskError(path, place, " → ".join([*seen, required]), deferred("no circle of features"))
            seen.append(required)


def _checked(test: Callable[[Any], bool]) -> AfterValidator:
    """Make a validator that refuses a value; the field's description states what is expected."""

    def check(value: Any) -> Any:
        if not test(value):
            raise ValueError
        return value

    return AfterValidator(check)


def _is_window(window: tuple[float, float]) -> bool:
    return 0 < window[0] < window[1]


_Window = Annotated[tuple[Number, Number], _checked(_is_window)]
_Wavelength = Annotated[float, Field(gt=0, strict=True, allow_inf_nan=False)]
_Names = tuple[Annotated[str, Field(strict=True)], ...]
_TEXT = "a text"


class _SimulatedTable(Table):
    kinds: _Names = Field(min_length=1, description=deferred("a list of texts"))
    look_alikes: _Names = Field(min_length=1, description=deferred("a list of texts"))


class _TaskFile(Table):
    """The top level of a task file."""

    key: Text = Field(description=deferred("lower-case letters, digits and _ only, as in cv"))
    title: Text = Field(description=_TEXT)
    question: Text = Field(description=deferred("one line, {question!r} and the title in **bold**", question=QUESTION))
    guide: list[dict[str, Any]] = Field(min_length=1, description=deferred("at least one [[guide]]"))
    feature: list[dict[str, Any]] = Field(min_length=1, description=deferred("at least one [[feature]]"))
    sky: list[dict[str, Any]] = Field(default=[], description=deferred("any number of [[sky]]"))
    confuser: list[dict[str, Any]] = Field(default=[], description=deferred("any number of [[confuser]]"))
    references: dict[str, str] = Field(description=deferred("a table of key = 'author year journal'"))
    aliases: _Names = Field(default=(), description=deferred("a list of texts"))
    plane: list[dict[str, Any]] = Field(default=[], description=deferred("any number of [[plane]]"))
    planes_of: _Names = Field(default=(), description=deferred("a list of texts"))
    simulated: _SimulatedTable | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        question = self.question
        if not question.startswith(QUESTION) or f"**{self.title}**" not in question or "\n" in question:
            raise Mismatch(
                repr(question),
                deferred("one line, {question!r} and the title in **bold**", question=QUESTION),
                "question",
            )
        if not (self.key.isascii() and self.key.isidentifier() and self.key.islower()):
            raise Mismatch(repr(self.key), deferred("lower-case letters, digits and _ only, as in cv"), "key")
        return self


class _Entry(Table):
    """Base of the tables of a task file."""

    references: _Names = Field(description=deferred("a list of texts"))


class _StatementTable(_Entry):
    section: Text = Field(description=_TEXT)
    weight: Text = Field(description=_TEXT)
    text: Text = Field(description=_TEXT)
    why: Text = Field(default="", description=_TEXT)


class _ConfuserTable(_Entry):
    name: Text = Field(description=_TEXT)
    tell_apart: Text = Field(description=_TEXT)
    why: Text = Field(default="", description=_TEXT)


class _BoundedTable(_Entry):
    """What [[feature]] and [[sky]] have in common."""

    name: Text = Field(description=_TEXT)
    role: Role
    why: Text = Field(description=_TEXT)
    above: Number | None = Field(default=None, description=deferred("a finite number"))
    below: Number | None = Field(default=None, description=deferred("a finite number"))
    requires: Text | None = Field(default=None, description=deferred("the name of another feature"))

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.above is None and self.below is None:
            raise Mismatch(
                deferred("neither"), deferred("at least one: what makes the feature present"), "above, below"
            )
        return self


class _SkyTable(_BoundedTable):
    """One [[sky]]; ``agent.tasks.values.SkyFeature`` describes the fields."""

    quantity: SkyQuantity


class _FeatureTable(_BoundedTable):
    """One [[feature]]; ``agent.tasks.Feature`` describes the fields."""

    kind: FeatureKind
    medium: Medium
    window: _Window = Field(description=deferred("[lo, hi] in Å, 0 < lo < hi"))
    span: _Window | None = Field(default=None, description=deferred("[lo, hi] in Å, 0 < lo < hi"))
    side_bands: tuple[_Window, ...] = Field(default=(), description=deferred("a list of [lo, hi] in Å, 0 < lo < hi"))
    quantity: Quantity
    wavelengths: tuple[_Wavelength, ...] = Field(default=(), description=deferred("a list of positive numbers in Å"))
    sign: Sign = "either"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.side_bands and self.quantity != "roughness":
            raise Mismatch(deferred("none"), deferred("one or more continuum windows [lo, hi]"), "side_bands")
        span = self.span or self.window
        if self.quantity in ("equivalent_width", "fwhm", "depth") and any(
            lo < span[1] and hi > span[0] for lo, hi in self.side_bands
        ):
            raise Mismatch(
                deferred("one that overlaps the span {span}", span=span),
                deferred("windows outside the span"),
                "side_bands",
            )
        return self


class _AxisTable(Table):
    index: _Names = Field(default=(), description=deferred("a list of texts"))
    feature: str = Field(default="", description=_TEXT)
    quantity: AxisQuantity = Field(default="width", alias="as")
    name: str = Field(default="", description=_TEXT)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.index) == bool(self.feature):
            raise Mismatch(
                deferred("both") if self.index else deferred("neither"), deferred("one of them"), "index, feature"
            )
        if unknown := [name for name in self.index if name not in indices()]:
            raise Mismatch(repr(unknown[0]), deferred("one of {names}", names=", ".join(indices())), "index")
        return self

    def axis(self) -> PlaneAxis:
        return PlaneAxis(self.index, self.feature, self.quantity, self.name or self.feature or " + ".join(self.index))


class _PlaneTable(Table):
    """One [[plane]]; ``agent.tasks.values.PlaneOfTask`` describes the fields."""

    title: Text = Field(description=_TEXT)
    x: _AxisTable
    y: _AxisTable
    kinds: _Names = Field(default=(), description=deferred("a list of texts"))


def _plane(table: dict[str, Any], number: int, path: str, features: Sequence[str]) -> PlaneOfTask:
    """Return a plane of a task file. :raises TaskError: a field is wrong, or an axis is of no feature of the file"""
    prefix = f"plane {number} ({table.get('title', 'unnamed')}), "
    plane = validate(_PlaneTable, table, path, _error, prefix)
    for name, axis in (("x", plane.x), ("y", plane.y)):
        if axis.feature and axis.feature not in features:
            expected = deferred("the name of another feature of the file")
            raise TaskError(path, f"{prefix}{name}.feature", repr(axis.feature), expected)
    return PlaneOfTask(plane.title, plane.x.axis(), plane.y.axis(), plane.kinds)


def _feature(table: _FeatureTable) -> Feature:
    return Feature(**(dict(table) | {"span": table.span or table.window}))
