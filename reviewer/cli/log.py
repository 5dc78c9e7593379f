"""``spec-o3 log``: show the audit log and verify it; also the database checks of ``spec-o3 doctor``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from agent.cli import doctor
from agent.cli.command import CHECK_FAILED, DONE, CannotRun, print_result, refuse_ignored
from agent.cli.doctor import Options as DoctorOptions
from agent.cli.options import JsonOutput, at_least_one, option
from agent.language import deferred, tr, trn
from agent.text import one_line, visible
from reviewer.cli.common import Database, database_of, opened

if TYPE_CHECKING:
    from reviewer.store import Entry, Store

_SHOWN = 20
_DETAILS = 120  # characters


@dataclass(kw_only=True)
class Options(Database, JsonOutput):
    check: bool = option("verify the whole log, and every fact against it")
    head: str | None = option("with --check: an earlier end of the log that was kept elsewhere", metavar="NUMBER:HASH")
    person: str | None = option("only entries by this person", metavar="INITIALS")
    what: str | None = option("only entries of this kind, e.g. 'decided'", metavar="WORDS")
    last: int | None = option(
        deferred("number of entries, the latest ones (default {shown})", shown=_SHOWN), read=at_least_one
    )


def run(arguments: Options) -> int:
    if arguments.head and not arguments.check:
        raise CannotRun(tr("--head is compared by --check: give both"))
    if arguments.check:
        refuse_ignored(arguments, tr("--check verifies the whole log"), "--person", "--what", "--last")
    with opened(database_of(arguments), must_exist=True) as store:
        return _check(arguments, store) if arguments.check else _show(arguments, store)


def _show(arguments: Options, store: Store) -> int:
    entries = store.log.last(arguments.last or _SHOWN, arguments.person, arguments.what)
    head = store.log.head()
    result = {"head": str(head), "entries": [_to_json(entry) for entry in entries]}
    print_result(arguments, result, "\n".join([*map(_line, entries), tr("the log ends at {head}", head=head)]))
    return DONE


def _check(arguments: Options, store: Store) -> int:
    from reviewer.store import Head

    try:
        known = Head.parse(arguments.head) if arguments.head else None
    except ValueError as error:
        raise CannotRun(f"--head: {error}") from error
    wrong, head = store.log.check(known), store.log.head()
    text = (
        "\n".join(wrong)
        if wrong
        else trn(
            "{n:,} entry and all facts it covers are unchanged",
            "{n:,} entries and all facts they cover are unchanged",
            head.number,
        )
    )
    text += "\n" + tr("the log ends at {head}", head=head)
    print_result(arguments, {"ok": not wrong, "wrong": wrong, "head": str(head)}, text)
    return CHECK_FAILED if wrong else DONE


def _to_json(entry: Entry) -> dict[str, Any]:
    return {**asdict(entry), "at": entry.at.isoformat(), "details": dict(entry.details)}


def _line(entry: Entry) -> str:
    """Return one entry on one line, without the hashes that only the check uses."""
    values = {name: value for name, value in entry.details.items() if name not in ("facts", "people")}
    more = f"  {visible(json.dumps(values, ensure_ascii=False))}" if values else ""
    if len(more) > _DETAILS:
        more = f"{more[:_DETAILS]}…"
    who, subject = entry.person or "-", f" {one_line(entry.subject)}" if entry.subject else ""
    return f"{entry.number:6}  {entry.at:%Y-%m-%d %H:%M:%S}  {who:4}  {entry.what}{subject}{more}"


if TYPE_CHECKING:
    from agent import doctor as checks
    from agent.doctor import Finding

_OLD = timedelta(days=2)


def run_doctor(arguments: DoctorOptions) -> int:
    return doctor.run(arguments, {"database": database_checks})


def database_checks(options: checks.DoctorOptions) -> Iterator[Finding]:
    """Check the pages, the last backup and the audit log of the database, if there is one, without changing it."""
    from agent.doctor import Finding
    from reviewer.store import StoreError
    from reviewer.store.sqlite.tables import summary

    if not options.database.is_file():
        return
    try:
        seen = summary(options.database)
    except StoreError as error:
        restore = f"spec-o3 restore BACKUP --db {options.database}"
        yield Finding(tr("integrity"), False, str(error), restore)
        return
    sound = tr("every page of {database} is sound, schema {schema}", database=options.database, schema=seen.schema)
    yield Finding(tr("integrity"), True, sound)
    yield _backups(options)
    yield Finding(tr("audit log"), None, tr("ends at {head}", head=seen.head))


def _backups(options: checks.DoctorOptions) -> Finding:
    from agent.doctor import Finding
    from reviewer.backup.backups import default_folder, list_backups

    folder = default_folder(options.database)
    backups = list_backups(options.database, folder)
    again = f"spec-o3 backup --db {options.database}"
    if not backups:
        return Finding(tr("last backup"), None, tr("none in {folder}", folder=folder), again)
    age = datetime.now(UTC) - backups[0].at
    text = tr("{span} ago, {path}, and {n} earlier", span=_span(age), path=backups[0].path, n=len(backups) - 1)
    return Finding(tr("last backup"), None, text, again if age > _OLD else "")


def _span(age: timedelta) -> str:
    hours = age.total_seconds() / 3600
    if hours < 2:
        return tr("{n:.0f} min", n=60 * hours)
    return tr("{n:.0f} h", n=hours) if hours < 48 else tr("{n:.0f} days", n=hours / 24)
