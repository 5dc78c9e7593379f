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
    """Something a person did.

    :param kind: "decide", "version", "autosave", ...
    :param what: what it said: item, version, key, text, as the kind needs
    :param sent: how often it was sent
    :param answer: what the server answered; None while nobody was told anything
    :param refused: the kind of the refusal, where it was one
    :param ms: from the last sending to the answer
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
    def told(self) -> bool:
        return self.answer is not None or self.refused is not None

    @property
    def acknowledged(self) -> bool:
        return self.answer is not None


class Journal:
    """One client's file. Each line is with the system before the client goes on."""

    def __init__(self, path: Path, person: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._person = person
        self._number = 0

    def intends(self, kind: str, what: dict[str, Any]) -> int:
        self._number += 1
        self._write(n=self._number, person=self._person, kind=kind, what=what)
        return self._number

    def sends(self, number: int) -> None:
        self._write(n=number, sent=1)

    def hears(self, number: int, answer: dict[str, Any], ms: float) -> None:
        self._write(n=number, answer=answer, ms=round(ms, 1))

    def refused(self, number: int, kind: str, ms: float) -> None:
        self._write(n=number, refused=kind, ms=round(ms, 1))

    def asked(self, what: str, ms: float) -> None:
        """A request that only reads."""
        self._write(asked=what, ms=round(ms, 1))

    def fault(self, sentence: str) -> None:
        """Something that must not happen."""
        self._write(fault=f"{self._person}: {sentence}")

    def close(self) -> None:
        os.close(self._file)

    def _write(self, **line: Any) -> None:
        os.write(self._file, json.dumps(line, ensure_ascii=False).encode() + b"\n")


@dataclass
class Journals:
    """The journals of a folder, read on from where the last reading ended."""

    folder: Path
    faults: list[str] = field(default_factory=list)
    asked: dict[str, list[float]] = field(default_factory=dict)

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
        """The actions of each, in their order."""
        yield from (list(actions.values()) for actions in self._of.values())

    def _new_lines(self, path: Path) -> Iterator[dict[str, Any]]:
        with path.open("rb") as file:
            file.seek(self._read_to.get(path, 0))
            # A line being written just now is left for the next reading.
            whole, _, _ = file.read().rpartition(b"\n")
        if whole:
            self._read_to[path] = self._read_to.get(path, 0) + len(whole) + 1
        yield from (json.loads(line) for line in whole.splitlines())

    def _take(self, actions: dict[int, Action], line: dict[str, Any]) -> None:
        if "fault" in line:
            self.faults.append(line["fault"])
        elif "asked" in line:
            self.asked.setdefault(line["asked"], []).append(line["ms"])
        elif "kind" in line:
            actions[line["n"]] = Action(line["n"], line["person"], line["kind"], line["what"])
        elif "sent" in line:
            actions[line["n"]].sent += 1
        else:
            one = actions[line["n"]]
            one.answer, one.refused, one.ms = line.get("answer"), line.get("refused"), line["ms"]


BACKUP = re.compile(r"annotations-[^ ]+\.db")


@dataclass(frozen=True)
class Kept:
    """Where actions of one kind are kept.

    :param said: the column with words that nobody says twice
    :param by: the rows that people wrote in the trial
    :param columns: what a row must hold, by its name in the journal
    """

    table: str
    said: str
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
    """What came out: sentences, one a fault, and how many actions were lost and doubled."""

    faults: list[str]
    lost: int = 0
    doubled: int = 0


def copied(db: Path, to: Path) -> Path:
    """The files of a database that nobody has open, as they lie: to recover them is the app's part."""
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
        _check_verdicts(connection, list(journals), found)
        _check_people(connection, list(journals), found)
        _check_imports(connection, list(journals), found)
        _check_rules(connection, list(journals), found)
    return found


def whole(db: Path, journals: Journals) -> Found:
    """The same at the end, with everything that the store checks of itself."""
    found = held_against(db, journals)
    with closing(Store.open(db)) as store:
        found.faults += store.upkeep.verify()
        found.faults += store.log.check(None)
    _check_backups(db.parent / "backups", journals, found)
    return found


def _check_backups(folder: Path, journals: Journals, found: Found) -> None:
    """Whatever bears the name of a backup is a whole one, however often its making was cut off."""
    for path in sorted(folder.glob("*.db")):
        with closing(sqlite3.connect(path)) as backup:
            wrong = [s for (s,) in backup.execute("PRAGMA integrity_check") if s != "ok"]
        found.faults += [f"{path.name}: {sentence}" for sentence in wrong]
    for one in (action for action in journals if action.kind == "backup" and action.answer):
        name = BACKUP.search(one.answer["said"])
        if name is None or not (folder / name.group()).exists():
            found.lost += 1
            found.faults.append(f"lost: a backup of which was said {one.answer['said']}")


def _check_rows(db: sqlite3.Connection, kind: str, kept: Kept, actions: list[Action], found: Found) -> None:
    rows = {row["key"]: row for row in db.execute(f"SELECT * FROM {kept.table} WHERE {kept.by}")}
    known = set()
    for one in (action for action in actions if action.kind == kind):
        row = rows.get(one.what["key"])
        known.add(one.what["key"])
        if row is None and one.acknowledged:
            found.lost += 1
            found.faults.append(f"lost: {_told(one)}")
        elif row is not None and one.refused is not None:
            found.faults.append(f"refused ({one.refused}) and yet there: {_told(one)}")
        elif row is not None and (wrong := _differs(row, kept, one)):
            found.faults.append(f"{wrong}: {_told(one)}")
    strangers = sorted(set(rows) - known)
    found.faults += [f"{kept.table}: nobody sent the key {key}" for key in strangers]
    said = Counter(row[kept.said] for row in rows.values())
    twice = [words for words, times in said.items() if times > 1]
    found.doubled += len(twice)
    found.faults += [f"doubled in {kept.table}: {words}" for words in twice]


def _differs(row: sqlite3.Row, kept: Kept, one: Action) -> str:
    """Which column is not what was sent; empty if all are."""
    wrong = [
        f"{column} is {row[column]!r}, sent was {one.what[name]!r}"
        for name, column in kept.columns.items()
        if row[column] != one.what[name]
    ]
    if one.kind == "version":
        texts = {step.get("text") for step in json.loads(row["body"])["steps"]}
        wrong += [f"a text is missing: {text:.60}" for text in one.what["thinks"] if text not in texts]
    return "; ".join(wrong)


def _check_verdicts(db: sqlite3.Connection, actions: Iterable[Action], found: Found) -> None:
    rows = {
        (row["item"], row["person"], row["version"]): row["verdict"] for row in db.execute("SELECT * FROM verdicts")
    }
    for one in (a for a in actions if a.kind == "verdict" and a.acknowledged):
        if rows.get((one.what["item"], one.person, one.what["version"])) != one.what["verdict"]:
            found.lost += 1
            found.faults.append(f"lost: {_told(one)}")


def _check_people(db: sqlite3.Connection, actions: Iterable[Action], found: Found) -> None:
    here = {row["initials"] for row in db.execute("SELECT initials FROM people")}
    for one in (a for a in actions if a.kind == "person" and a.acknowledged):
        if one.what["initials"] not in here:
            found.lost += 1
            found.faults.append(f"lost: {_told(one)}")


def _check_imports(db: sqlite3.Connection, actions: Iterable[Action], found: Found) -> None:
    there = Counter(row["name"] for row in db.execute("SELECT name FROM items WHERE batch = 'imported'"))
    for one in (a for a in actions if a.kind == "import"):
        times = [there[name] for name in one.what["names"]]
        if one.acknowledged and not all(times):
            found.lost += 1
            found.faults.append(f"lost: {_told(one)}")
        if any(times) and not all(times):
            found.faults.append(f"half of an import is there: {_told(one)}")
        if any(number > 1 for number in times):
            found.doubled += 1
            found.faults.append(f"doubled: {_told(one)}")


def _check_rules(db: sqlite3.Connection, actions: Iterable[Action], found: Found) -> None:
    """Rules are set one after the other by one person, so they must stand there in that order."""
    rows = db.execute("SELECT value FROM settings WHERE name = 'rules' ORDER BY id")
    stored = [Rules(**json.loads(value)) for (value,) in rows]
    sent = [action for action in actions if action.kind == "rules"]
    wanted = _changes([Rules(), *(Rules(**one.what) for one in sent)])
    heard = _changes([Rules(), *(Rules(**one.what) for one in sent if one.told)])
    if stored not in (wanted, heard):
        found.faults.append(f"rules: found {len(stored)} settings, expected {len(heard)} to {len(wanted)}")
        found.lost += max(0, len(heard) - len(stored))
        found.doubled += max(0, len(stored) - len(wanted))


def _changes(rules: list[Rules]) -> list[Rules]:
    return [one for number, one in enumerate(rules) if number == 0 or one != rules[number - 1]]


def _told(one: Action) -> str:
    what: dict[str, Any] = {name: value for name, value in one.what.items() if name not in ("words", "thinks")}
    return f"{one.person}'s {one.kind} {json.dumps(what, ensure_ascii=False)}"


def counted(journals: Journals) -> Iterator[tuple[str, int, int, int]]:
    """Of each kind of action: acknowledged, sent more than once, refused as the rules have it."""
    kinds = sorted({one.kind for one in journals})
    for kind in kinds:
        own = [one for one in journals if one.kind == kind]
        yield (
            kind,
            sum(one.acknowledged for one in own),
            sum(one.sent > 1 for one in own),
            sum(one.refused is not None for one in own),
        )
