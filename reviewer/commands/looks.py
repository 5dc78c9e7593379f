"""What ``spec-o3 doctor`` is told of the database itself: whether it is sound, its backups, its log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.doctor.capabilities import Where
    from agent.doctor.finding import Finding

_OLD = timedelta(days=2)


def database(where: Where) -> Iterator[Finding]:
    """Nothing where there is no database yet. The file is read and not changed, nor upgraded."""
    from agent.doctor.finding import Finding
    from reviewer.store import StoreError
    from reviewer.store.rows import glance

    if not where.database.is_file():
        return
    try:
        seen = glance(where.database)
    except StoreError as error:
        restore = f"spec-o3 restore BACKUP --db {where.database}"
        yield Finding("integrity", False, str(error), restore)
        return
    yield Finding("integrity", True, f"every page of {where.database} is sound, schema {seen.schema}")
    yield _backups(where)
    told = "none: the schema is from before it" if seen.head is None else f"ends at {seen.head}"
    yield Finding("audit log", None, told)


def _backups(where: Where) -> Finding:
    from agent.doctor.finding import Finding
    from reviewer.keeping.backups import listed
    from reviewer.keeping.names import folder_beside

    folder = folder_beside(where.database)
    made = listed(where.database, folder)
    again = f"spec-o3 backup --db {where.database}"
    if not made:
        return Finding("last backup", None, f"none in {folder}", again)
    age = datetime.now(UTC) - made[0].at
    told = f"{_span(age)} ago, {made[0].path}, and {len(made) - 1} earlier"
    return Finding("last backup", None, told, again if age > _OLD else "")


def _span(age: timedelta) -> str:
    hours = age.total_seconds() / 3600
    if hours < 2:
        return f"{60 * hours:.0f} min"
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} days"
