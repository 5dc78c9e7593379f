"""Counts that are derived from the facts: the queue's tallies and the figures of the Progress tab, kept by triggers."""

from __future__ import annotations

from reviewer.store.sqlite.database import Transaction

TALLIED = ("state", "task", "survey", "drafter", "batch", "disagreement", "simulated")

# Rows in force: neither undone nor an undo, and no withdrawal of the item.
_IN_FORCE = """
d.verb NOT IN ('undo', 'withdraw', 'restore') AND NOT EXISTS (SELECT 1 FROM decisions u WHERE u.withdraws = d.id)
"""
_BIN = "iif(w.active < 1000, round(w.active), 10 * round(w.active / 10))"
FIGURES = {
    "decision_figures": "SELECT d.person, d.round, substr(d.at, 1, 10), s.task, s.batch, count(*) "
    f"FROM decisions d JOIN standings s ON s.item = d.item WHERE {_IN_FORCE} GROUP BY 1, 2, 3, 4, 5",
    "time_figures": f"SELECT d.person, d.round, {_BIN}, s.task, s.batch, count(*) FROM work_times w JOIN decisions d "
    f"ON d.id = w.decision JOIN standings s ON s.item = d.item WHERE {_IN_FORCE} GROUP BY 1, 2, 3, 4, 5",
    "version_figures": "SELECT v.author, s.task, s.batch, count(*) FROM versions v JOIN standings s ON s.item = v.item "
    "WHERE v.author IS NOT NULL GROUP BY 1, 2, 3",
    "standing_figures": "SELECT coalesce(substr(decided_at, 1, 10), ''), state, task, batch, compared, disagreement, "
    "count(*) FROM standings GROUP BY 1, 2, 3, 4, 5, 6",
}
"""The tables of figures, and what each holds, derived from the facts."""


def fill_figures(db: Transaction) -> None:
    """Derive the tables of figures from the facts."""
    for table, rows in FIGURES.items():
        db.execute(f"DELETE FROM {table}")
        db.execute(f"INSERT INTO {table} {rows}")


def tally_triggers() -> str:
    """Return the triggers that keep ``tallies`` equal to the number of standings."""
    same_as_old = " AND ".join(f"{column} = old.{column}" for column in TALLIED)
    out = f"UPDATE tallies SET items = items - 1 WHERE {same_as_old};"
    new = ", ".join(f"new.{column}" for column in TALLIED)
    come = f"INSERT INTO tallies VALUES ({new}, 1) ON CONFLICT DO UPDATE SET items = items + 1;"
    events = {"insert": come, "delete": out, f"update OF {', '.join(TALLIED)}": out + come}
    return "".join(
        f"CREATE TRIGGER standings_{event.split()[0]} AFTER {event} ON standings BEGIN {body} END;\n"
        for event, body in events.items()
    )


def figure_triggers() -> str:
    """Return the triggers that keep the tables of figures. An item's batch is that of ``standings``: it can change."""
    counted = "d.verb NOT IN ('undo', 'withdraw', 'restore')"
    decided = f"""
    INSERT INTO decision_figures SELECT d.person, d.round, substr(d.at, 1, 10), i.task, i.batch, :n
    FROM decisions d JOIN standings i ON i.item = d.item WHERE d.id = :id AND {counted}
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions;"""
    timed = f"""
    INSERT INTO time_figures SELECT d.person, d.round, {_BIN}, i.task, i.batch, :n
    FROM work_times w JOIN decisions d ON d.id = w.decision JOIN standings i ON i.item = d.item
    WHERE w.decision = :id AND {counted}
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions;"""

    def of(template: str, row: str, number: int) -> str:
        return template.replace(":id", row).replace(":n", str(number))

    undone = of(decided, "new.withdraws", -1) + of(timed, "new.withdraws", -1)
    columns = ("state", "task", "batch", "compared", "disagreement")
    standing = {which: ", ".join(f"{which}.{c}" for c in columns) for which in ("old", "new")}
    day = {which: f"coalesce(substr({which}.decided_at, 1, 10), '')" for which in ("old", "new")}
    come = (
        f"INSERT INTO standing_figures VALUES ({day['new']}, {standing['new']}, 1) "
        "ON CONFLICT DO UPDATE SET items = items + 1;"
    )
    same = " AND ".join(f"{c} = old.{c}" for c in columns)
    out = f"UPDATE standing_figures SET items = items - 1 WHERE day = {day['old']} AND {same};"
    moved = "state, batch, decided_at, compared, disagreement"
    events = {
        "decisions_counted AFTER INSERT ON decisions": of(decided, "new.id", 1),
        "decisions_uncounted AFTER INSERT ON decisions WHEN new.withdraws IS NOT NULL": undone,
        "times_counted AFTER INSERT ON work_times": of(timed, "new.decision", 1),
        "versions_counted AFTER INSERT ON versions WHEN new.author IS NOT NULL": (
            "INSERT INTO version_figures SELECT new.author, task, batch, 1 FROM standings WHERE item = new.item "
            "ON CONFLICT DO UPDATE SET versions = versions + 1;"
        ),
        "standings_come AFTER INSERT ON standings": come,
        "standings_gone AFTER DELETE ON standings": out,
        f"standings_moved AFTER UPDATE OF {moved} ON standings": out + come,
    }
    triggers = "".join(f"CREATE TRIGGER {event} BEGIN {body} END;\n" for event, body in events.items())
    return triggers + _rebatched()


def _rebatched() -> str:
    """Return the trigger that moves an item's figures to its new batch."""
    moves = ""
    for table, number in (
        ("decision_figures", "decisions"),
        ("time_figures", "decisions"),
        ("version_figures", "versions"),
    ):
        for batch, sign in (("old.batch", "-"), ("new.batch", "")):
            rows = FIGURES[table].replace("s.batch", batch).replace("count(*)", f"{sign}count(*)")
            rows = rows.replace("GROUP BY", "AND s.item = new.item GROUP BY")
            moves += f"INSERT INTO {table} {rows} ON CONFLICT DO UPDATE SET {number} = {number} + excluded.{number}; "
    return (
        "CREATE TRIGGER standings_rebatched AFTER UPDATE OF batch ON standings WHEN new.batch <> old.batch "
        f"BEGIN {moves}END;\n"
    )
