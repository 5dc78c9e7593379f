"""Each client's journal of requests and answers, and its check against the database."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reviewer.rules.campaign import Rules
from reviewer.store import Store
from tests.soak.served import TYPIST


@dataclass
class Action:
    """An action of a person.

    :param kind: "decide", "version", "autosave", ...
    :param what: its content: item, version, key, text, as the kind needs
    :param sent: number of times it was sent
    :param answer: the server's answer; None as long as there is none
    :param refused: the kind of refusal, if it was refused
    :param ms: from the last time it was sent to the answer
    """

    number: int
    person: str
    kind: str
    what: dict[str, Any]
    sent: int = 0
    answer: dict[str, Any] | None = None
    refused: str | None = None
    ms: float = 0.0

    @property
    def answered(self) -> bool:
        return self.answer is not None or self.refused is not None

    @property
    def acknowledged(self) -> bool:
        return self.answer is not None


class Journal:
    """One client's journal file. Each line is written to the file before the client continues."""

    def __init__(self, path: Path, person: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._person = person
        self._number = 0

    def begin(self, kind: str, what: dict[str, Any]) -> int:
        self._number += 1
        self._write(n=self._number, person=self._person, kind=kind, what=what)
        return self._number

    def sent(self, number: int) -> None:
        self._write(n=number, sent=1)

    def answered(self, number: int, answer: dict[str, Any], ms: float) -> None:
        self._write(n=number, answer=answer, ms=round(ms, 1))

    def refused(self, number: int, kind: str, ms: float) -> None:
        self._write(n=number, refused=kind, ms=round(ms, 1))

    def read_request(self, what: str, ms: float) -> None:
        """Record a request that only reads."""
        self._write(asked=what, ms=round(ms, 1))

    def fault(self, sentence: str) -> None:
        """Record something that must not happen."""
        self._write(fault=f"{self._person}: {sentence}")

    def close(self) -> None:
        os.close(self._file)

    def _write(self, **line: Any) -> None:
        os.write(self._file, json.dumps(line, ensure_ascii=False).encode() + b"\n")


@dataclass
class Journals:
    """The journals of a folder; each reading continues where the last one ended."""

    folder: Path
    faults: list[str] = field(default_factory=list)
    reads: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._read_to: dict[Path, int] = {}
        self._of: dict[Path, dict[int, Action]] = {}

    def read(self) -> None:
        for path in sorted(self.folder.glob("*.jsonl")):
            actions = self._of.setdefault(path, {})
            for line in self._new_lines(path):
                self._take(actions, line)

    def __iter__(self) -> Iterator[Action]:
        for actions in self._of.values():
            yield from actions.values()

    def by_person(self) -> Iterator[list[Action]]:
        """The actions of each person, in order."""
        yield from (list(actions.values()) for actions in self._of.values())

    def _new_lines(self, path: Path) -> Iterator[dict[str, Any]]:
        with path.open("rb") as file:
            file.seek(self._read_to.get(path, 0))
            # A line that is not complete yet is left for the next reading.
            whole, _, _ = file.read().rpartition(b"\n")
        if whole:
            self._read_to[path] = self._read_to.get(path, 0) + len(whole) + 1
        yield from (json.loads(line) for line in whole.splitlines())

    def _take(self, actions: dict[int, Action], line: dict[str, Any]) -> None:
        if "fault" in line:
            self.faults.append(line["fault"])
        elif "asked" in line:
            self.reads.setdefault(line["asked"], []).append(line["ms"])
        elif "kind" in line:
            actions[line["n"]] = Action(line["n"], line["person"], line["kind"], line["what"])
        elif "sent" in line:
            actions[line["n"]].sent += 1
        else:
            action = actions[line["n"]]
            action.answer, action.refused, action.ms = line.get("answer"), line.get("refused"), line["ms"]


BACKUP = re.compile(r"annotations-[^ ]+\.db")


@dataclass(frozen=True)
class Kept:
    """Table of the actions of one kind.

    :param unique: the column whose text is different in every action
    :param by: condition for the rows that clients wrote in the trial
    :param columns: the columns to compare, by their names in the journal
    """

    table: str
    unique: str
    by: str
    columns: dict[str, str]


TABLES = {
    "decide": Kept(
        "decisions",
        "comment",
        f"verb <> 'undo' AND person <> '{TYPIST}'",
        {"item": "item", "version": "version", "verb": "verb", "reason": "reason", "comment": "comment"},
    ),
    "undo": Kept("decisions", "key", "verb = 'undo'", {"item": "item"}),
    "version": Kept(
        "versions", "reason", f"author IS NOT NULL AND author <> '{TYPIST}'", {"item": "item", "base": "parent"}
    ),
    "mark": Kept("marks", "note", "1", {"item": "item", "version": "version", "step": "step", "mark": "mark"}),
    "score": Kept("blind_scores", "comment", "1", {"coherence": "coherence", "consistency": "consistency"}),
}


@dataclass
class Found:
    """Result of a check: one sentence per fault, and the numbers of lost and doubled actions."""

    faults: list[str]
    lost: int = 0
    doubled: int = 0


def copied(db: Path, to: Path) -> Path:
    """Copy the files of a closed database without recovering them, which is the app's task."""
    to.mkdir(exist_ok=True)
    for old in to.iterdir():
        old.unlink()
    for suffix in ("", "-wal"):
        source = db.with_name(db.name + suffix)
        if source.exists():
            shutil.copyfile(source, to / source.name)
    return to / db.name


def held_against(db: Path, journals: Journals) -> Found:
    """Check a copy of the database against all that was acknowledged up to now."""
    found = Found([])
    with closing(sqlite3.connect(db)) as connection:
        connection.row_factory = sqlite3.Row
        for (sentence,) in connection.execute("PRAGMA integrity_check"):
            if sentence != "ok":
                found.faults.append(f"integrity: {sentence}")
        for kind, kept in TABLES.items():
            _check_rows(connection, kind, kept, list(journals), found)
        _check_acknowledged(connection, list(journals), found)
        _check_imports(connection, list(journals), found)
        _check_rules(connection, list(journals), found)
    return found


def whole(db: Path, journals: Journals) -> Found:
    """Check the database at the end of the trial, with the store's own checks and the backups."""
    found = held_against(db, journals)
    with closing(Store.open(db)) as store:
        found.faults += store.upkeep.verify()
        found.faults += store.log.check(None)
    _check_backups(db.parent / "backups", journals, found)
    return found


def _check_backups(folder: Path, journals: Journals, found: Found) -> None:
    """Every file with the name of a backup is complete, even if the app was killed while it made one."""
    for path in sorted(folder.glob("*.db")):
        with closing(sqlite3.connect(path)) as backup:
            wrong = [s for (s,) in backup.execute("PRAGMA integrity_check") if s != "ok"]
        found.faults += [f"{path.name}: {sentence}" for sentence in wrong]
    for action in (action for action in journals if action.kind == "backup" and action.answer):
        name = BACKUP.search(action.answer["said"])
        if name is None or not (folder / name.group()).exists():
            found.lost += 1
            found.faults.append(f"lost: a backup, reported as {action.answer['said']}")


def _check_rows(db: sqlite3.Connection, kind: str, kept: Kept, actions: list[Action], found: Found) -> None:
    rows = {row["key"]: row for row in db.execute(f"SELECT * FROM {kept.table} WHERE {kept.by}")}
    known = set()
    for action in (action for action in actions if action.kind == kind):
        row = rows.get(action.what["key"])
        known.add(action.what["key"])
        if row is None and action.acknowledged:
            found.lost += 1
            found.faults.append(f"lost: {_described(action)}")
        elif row is not None and action.refused is not None:
            found.faults.append(f"refused ({action.refused}) and yet there: {_described(action)}")
        elif row is not None and (wrong := _differs(row, kept, action)):
            found.faults.append(f"{wrong}: {_described(action)}")
    strangers = sorted(set(rows) - known)
    found.faults += [f"{kept.table}: nobody sent the key {key}" for key in strangers]
    texts = Counter(row[kept.unique] for row in rows.values())
    twice = [words for words, times in texts.items() if times > 1]
    found.doubled += len(twice)
    found.faults += [f"doubled in {kept.table}: {words}" for words in twice]


def _differs(row: sqlite3.Row, kept: Kept, action: Action) -> str:
    """Return the columns that are not as sent, as a sentence; empty if all are."""
    wrong = [
        f"{column} is {row[column]!r}, sent was {action.what[name]!r}"
        for name, column in kept.columns.items()
        if row[column] != action.what[name]
    ]
    if action.kind == "version":
        texts = {step.get("text") for step in json.loads(row["body"])["steps"]}
        wrong += [f"a text is missing: {text:.60}" for text in action.what["thinks"] if text not in texts]
    return "; ".join(wrong)


def _check_acknowledged(db: sqlite3.Connection, actions: Iterable[Action], found: Found) -> None:
    """Every acknowledged verdict and every acknowledged person is there."""
    verdicts = set(map(tuple, db.execute("SELECT item, person, version, verdict FROM verdicts")))
    people = set(map(tuple, db.execute("SELECT initials FROM people")))
    for action in (a for a in actions if a.kind in ("verdict", "person") and a.acknowledged):
        what = action.what
        if action.kind == "person":
            there = (what["initials"],) in people
        else:
            there = (what["item"], action.person, what["version"], what["verdict"]) in verdicts
        if not there:
            found.lost += 1
            found.faults.append(f"lost: {_described(action)}")


def _check_imports(db: sqlite3.Connection, actions: Iterable[Action], found: Found) -> None:
    there = Counter(row["name"] for row in db.execute("SELECT name FROM items WHERE batch = 'imported'"))
    for action in (a for a in actions if a.kind == "import"):
        times = [there[name] for name in action.what["names"]]
        if action.acknowledged and not all(times):
            found.lost += 1
            found.faults.append(f"lost: {_described(action)}")
        if any(times) and not all(times):
            found.faults.append(f"half of an import is there: {_described(action)}")
        if any(number > 1 for number in times):
            found.doubled += 1
            found.faults.append(f"doubled: {_described(action)}")


def _check_rules(db: sqlite3.Connection, actions: Iterable[Action], found: Found) -> None:
    """One person sets the rules one after the other, so they must be stored in that order."""
    rows = db.execute("SELECT value FROM settings WHERE name = 'rules' ORDER BY id")
    stored = [Rules(**json.loads(value)) for (value,) in rows]
    sent = [action for action in actions if action.kind == "rules"]
    with_unanswered = _changes([Rules(), *(Rules(**action.what) for action in sent)])
    answered = _changes([Rules(), *(Rules(**action.what) for action in sent if action.answered)])
    if stored not in (with_unanswered, answered):
        found.faults.append(f"rules: found {len(stored)} settings, expected {len(answered)} to {len(with_unanswered)}")
        found.lost += max(0, len(answered) - len(stored))
        found.doubled += max(0, len(stored) - len(with_unanswered))


def _changes(rules: list[Rules]) -> list[Rules]:
    return [rule for number, rule in enumerate(rules) if number == 0 or rule != rules[number - 1]]


def _described(action: Action) -> str:
    what: dict[str, Any] = {name: value for name, value in action.what.items() if name not in ("words", "thinks")}
    return f"{action.person}'s {action.kind} {json.dumps(what, ensure_ascii=False)}"


def counted(journals: Journals) -> Iterator[tuple[str, int, int, int]]:
    """Per kind of action: number acknowledged, sent more than once, refused by the rules."""
    kinds = sorted({action.kind for action in journals})
    for kind in kinds:
        own = [action for action in journals if action.kind == kind]
        yield (
            kind,
            sum(action.acknowledged for action in own),
            sum(action.sent > 1 for action in own),
            sum(action.refused is not None for action in own),
        )
