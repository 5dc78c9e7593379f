"""The schema of annotations.db, as numbered migrations. A released one is never edited: add the next.

Facts (versions, decisions, marks, verdicts, settings) are appended; triggers refuse every change and deletion of
them. ``standings`` and ``barred`` are derived and can be rebuilt at any time. There are no cascades.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reviewer.store.audit.chain import BOUND, NewEntry, append
from reviewer.store.sqlite.database import Transaction
from reviewer.store.sqlite.teamwork_tables import EVENT_TRIGGERS, TEAMWORK_FACTS, TEAMWORK_TABLES, TEXT_TABLES
from reviewer.store.sqlite.texts import fill_texts

BLIND_TABLES = """
CREATE TABLE blind_sessions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    -- What the tasks ask, in the words of the day: task files may change while people score.
    questions TEXT NOT NULL CHECK (json_valid(questions)),
    notes TEXT NOT NULL CHECK (json_valid(notes)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
CREATE TABLE blind_assignments (
    token TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    scorer TEXT NOT NULL REFERENCES people (initials),
    kind TEXT NOT NULL CHECK (kind IN ('scores', 'pair')),
    place INTEGER NOT NULL,
    -- The one to score, or the left one of a pair.
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    spectrum TEXT REFERENCES spectra (sha256),
    repeat_of TEXT REFERENCES blind_assignments (token),
    gold INTEGER NOT NULL,
    UNIQUE (session, scorer, place),
    CHECK ((kind = 'pair') = (on_the_right IS NOT NULL))
) WITHOUT ROWID;
CREATE TABLE blind_states (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    rubric TEXT CHECK (rubric IS NULL OR json_valid(rubric)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    UNIQUE (session, state),
    CHECK ((state = 'open') = (rubric IS NOT NULL))
);
CREATE TABLE blind_scores (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    -- NULL: cannot tell from these data.
    coherence INTEGER CHECK (coherence BETWEEN 0 AND 5),
    consistency INTEGER CHECK (consistency BETWEEN 0 AND 5),
    comment TEXT NOT NULL,
    wrong_steps TEXT NOT NULL CHECK (json_valid(wrong_steps)),
    at TEXT NOT NULL
);
CREATE INDEX blind_scores_by_assignment ON blind_scores (assignment, id);
CREATE TABLE blind_preferences (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    preference TEXT NOT NULL CHECK (preference IN ('left', 'right', 'equal', 'both bad')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX blind_preferences_by_assignment ON blind_preferences (assignment, id);
CREATE TABLE blind_judgements (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    judge TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    -- NULL: nothing that can be read as one.
    answer TEXT CHECK (answer IS NULL OR json_valid(answer)),
    reasoning TEXT NOT NULL,
    settings TEXT NOT NULL CHECK (json_valid(settings)),
    said TEXT NOT NULL CHECK (json_valid(said)),
    usage TEXT NOT NULL CHECK (json_valid(usage)),
    cost REAL,
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
CREATE INDEX blind_judgements_by_session ON blind_judgements (session, judge);
"""

BLIND_FACTS = (
    "blind_sessions",
    "blind_assignments",
    "blind_states",
    "blind_scores",
    "blind_preferences",
    "blind_judgements",
)


LOG_TABLE = """
CREATE TABLE log (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    at TEXT NOT NULL,
    -- NULL: whoever holds the file itself, or somebody who is not signed in.
    person TEXT REFERENCES people (initials),
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
"""


def begin(db: Transaction) -> None:
    """Append log entries that cover the rows from before the log, one per table, at the time of the migration."""
    (at,) = db.execute("SELECT applied_at FROM migrations ORDER BY number DESC LIMIT 1").fetchone()
    people = tuple(row[0] for row in db.execute("SELECT initials FROM people ORDER BY initials"))
    if people:
        append(db, at, NewEntry(None, "log begun", "people", {"count": len(people)}, people=people))
    there = db.table_names()
    for table, bound in BOUND.items():
        if table not in there:
            continue  # a later migration creates it
        first, last, count = db.execute(f"SELECT min({bound.key}), max({bound.key}), count(*) FROM {table}").fetchone()
        if count:
            entry = NewEntry(None, "log begun", table, {"count": count}, facts={table: (first, last)})
            append(db, at, entry)


# Identifies our files in SQLite's header: "SpO3" in ASCII.
APPLICATION_ID = 0x53704F33


@dataclass(frozen=True)
class Migration:
    """One step of the schema; ``run`` receives the transaction that also records the step.

    :param per_version: seconds of processor time that it takes for each version of an item, where that is noticed
    """

    number: int
    name: str
    run: Callable[[Transaction], None]
    per_version: float = 0.0


_SETTINGS_AND_PEOPLE = """
CREATE TABLE people (
    initials TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    roles TEXT NOT NULL CHECK (json_valid(roles)),
    password TEXT,
    active INTEGER NOT NULL DEFAULT 1,
    added_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE settings (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
CREATE INDEX settings_by_name ON settings (name, id);
CREATE TABLE sessions (
    token_hash TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (initials),
    started_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT
) WITHOUT ROWID;
CREATE TABLE sign_ins (
    id INTEGER PRIMARY KEY,
    initials TEXT NOT NULL,
    origin TEXT NOT NULL,
    ok INTEGER NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX sign_ins_by_initials ON sign_ins (initials, origin, at);
"""

_SPECTRA = """
CREATE TABLE grids (
    sha256 TEXT PRIMARY KEY,
    pixels INTEGER NOT NULL,
    wavelength_type TEXT NOT NULL CHECK (wavelength_type IN ('<f4', '<f8')),
    wavelength BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE spectra (
    sha256 TEXT PRIMARY KEY,
    grid TEXT NOT NULL REFERENCES grids (sha256),
    name TEXT NOT NULL,
    survey TEXT NOT NULL,
    medium TEXT NOT NULL CHECK (medium IN ('vacuum', 'air')),
    frame TEXT NOT NULL CHECK (frame IN ('observed', 'rest')),
    flux_unit TEXT NOT NULL,
    redshift REAL,
    ra REAL,
    dec REAL,
    catalogue_class TEXT NOT NULL,
    errors TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    flux_type TEXT NOT NULL CHECK (flux_type IN ('<f4', '<f8')),
    flux BLOB NOT NULL,
    ivar_type TEXT NOT NULL CHECK (ivar_type IN ('<f4', '<f8')),
    ivar BLOB NOT NULL,
    mask BLOB NOT NULL,
    added_at TEXT NOT NULL
);
CREATE TABLE pictures (sha256 TEXT PRIMARY KEY, png BLOB NOT NULL);
"""

_ITEMS = """
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    spectrum TEXT REFERENCES spectra (sha256),
    name TEXT NOT NULL,
    task TEXT NOT NULL,
    drafter_kind TEXT NOT NULL,
    drafter_name TEXT NOT NULL,
    label TEXT CHECK (label IN ('YES', 'NO')),
    simulated INTEGER NOT NULL,
    batch TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    added_at TEXT NOT NULL
);
CREATE INDEX items_by_spectrum ON items (spectrum);
-- Substring search without reading every row; three letters or more.
CREATE VIRTUAL TABLE items_text USING fts5 (text, content='', tokenize='trigram');
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    parent INTEGER REFERENCES versions (id),
    author TEXT REFERENCES people (initials),
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    -- Last, because SQLite reads through a long column to get at those behind it.
    body TEXT NOT NULL CHECK (json_valid(body)),
    UNIQUE (item, number)
);
CREATE INDEX versions_by_author ON versions (author, item) WHERE author IS NOT NULL;
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    verb TEXT NOT NULL,
    reason TEXT NOT NULL,
    comment TEXT NOT NULL,
    withdraws INTEGER UNIQUE REFERENCES decisions (id),
    rules INTEGER NOT NULL REFERENCES settings (id),
    at TEXT NOT NULL,
    CHECK ((verb = 'undo') = (withdraws IS NOT NULL))
);
CREATE INDEX decisions_by_item ON decisions (item, id);
CREATE TABLE marks (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    step TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    mark TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX marks_by_item ON marks (item, id);
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    verdict TEXT NOT NULL CHECK (verdict IN ('YES', 'NO', 'cannot tell')),
    at TEXT NOT NULL,
    UNIQUE (item, person, version)
);
"""

_WORK_IN_HAND = """
CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    renewed_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended TEXT CHECK (ended IN ('decided', 'released', 'round over', 'expired', 'deactivated'))
);
CREATE UNIQUE INDEX leases_running ON leases (item, person) WHERE ended IS NULL;
CREATE TABLE autosaves (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    base_version INTEGER NOT NULL REFERENCES versions (id),
    body TEXT NOT NULL CHECK (json_valid(body)),
    at TEXT NOT NULL,
    PRIMARY KEY (person, item, base_version)
);
CREATE TABLE exports (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    manifest TEXT NOT NULL CHECK (json_valid(manifest)),
    at TEXT NOT NULL
);
"""

# The columns by which the queue filters are copied here, so that its queries read one narrow table. Triggers count
# items by all of them that are not ranges, in ``tallies``: a total is the sum of a few rows for any number of items.
_DERIVED = """
CREATE TABLE standings (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    state TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    number INTEGER NOT NULL,
    "cast" INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    disagreement INTEGER NOT NULL,
    decided_at TEXT,
    task TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    drafter TEXT NOT NULL,
    batch TEXT NOT NULL,
    simulated INTEGER NOT NULL
);
-- In order of item within each state, with everything the queue filters by.
CREATE INDEX standings_walk
    ON standings (state, item, task, survey, snr, drafter, batch, disagreement, simulated);
CREATE INDEX standings_snr
    ON standings (snr, state, task, survey, drafter, batch, disagreement, simulated);
CREATE TABLE tallies (
    state TEXT, task TEXT, survey TEXT, drafter TEXT, batch TEXT, disagreement INTEGER, simulated INTEGER,
    items INTEGER NOT NULL CHECK (items >= 0),
    PRIMARY KEY (state, task, survey, drafter, batch, disagreement, simulated)
) WITHOUT ROWID;
CREATE TABLE barred (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (person, item)
) WITHOUT ROWID;
CREATE INDEX barred_by_item ON barred (item);
"""

TALLIED = ("state", "task", "survey", "drafter", "batch", "disagreement", "simulated")


def _keep_tallies() -> str:
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


FACTS = ("versions", "decisions", "marks", "verdicts", "settings")


def _refuse_changes(table: str) -> str:
    return "".join(
        f"CREATE TRIGGER {table}_no_{what} BEFORE {what} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are facts: append, never {what}'); END;\n"
        for what in ("update", "delete")
    )


def first_schema(db: Transaction) -> None:
    """Create the tables of the first release."""
    for script in (_SETTINGS_AND_PEOPLE, _SPECTRA, _ITEMS, _WORK_IN_HAND, _DERIVED):
        db.executescript(script)
    db.execute(
        "INSERT INTO settings (name, value, at) VALUES ('rules', ?, strftime('%Y-%m-%dT%H:%M:%f+00:00'))",
        ('{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 2}',),
    )
    db.executescript(_keep_tallies())
    for table in FACTS:
        db.executescript(_refuse_changes(table))


def blind_sessions(db: Transaction) -> None:
    """Add blind scoring sessions."""
    db.executescript(BLIND_TABLES)
    for table in BLIND_FACTS:
        db.executescript(_refuse_changes(table))


def audit_log(db: Transaction) -> None:
    """Add the audit log, which covers the existing rows; exports become facts."""
    db.executescript(LOG_TABLE)
    for table in ("log", "exports"):
        db.executescript(_refuse_changes(table))
    begin(db)


_WORK_TIMES = """
CREATE TABLE work_times (
    id INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL UNIQUE REFERENCES decisions (id),
    opened_at TEXT NOT NULL,
    -- Seconds from opening the item to the decision, and how many of them the person was active.
    elapsed REAL NOT NULL CHECK (elapsed >= 0),
    active REAL NOT NULL CHECK (active BETWEEN 0 AND elapsed)
);
"""


def work_times(db: Transaction) -> None:
    """Add the time that a person worked on an item before a decision."""
    db.executescript(_WORK_TIMES)
    db.executescript(_refuse_changes("work_times"))


_INSPECTIONS = """
CREATE TABLE inspections (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    -- Redshift in the medium of the spectrum; NULL: none given.
    z REAL CHECK (z > -1),
    quality INTEGER CHECK (quality BETWEEN 0 AND 4),
    issues TEXT NOT NULL,
    spectype TEXT NOT NULL CHECK (spectype IN ('', 'STAR', 'GALAXY', 'QSO')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX inspections_by_item ON inspections (item, person, id);
"""


def inspections(db: Transaction) -> None:
    """Add the reviewers' own redshifts, qualities, issues and classes."""
    db.executescript(_INSPECTIONS)
    db.executescript(_refuse_changes("inspections"))


_TRUST = """
-- Derived: replaced whenever P(YES) is measured again.
CREATE TABLE score_models (
    sha256 TEXT NOT NULL,
    task TEXT NOT NULL,
    at TEXT NOT NULL,
    model TEXT NOT NULL CHECK (json_valid(model)),
    PRIMARY KEY (sha256, task)
) WITHOUT ROWID;
CREATE TABLE scores (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    p_yes REAL NOT NULL CHECK (p_yes BETWEEN 0 AND 1),
    -- Why no certificate covers the item; without reasons it can be ordered by value of information.
    reasons TEXT NOT NULL CHECK (json_valid(reasons)),
    features TEXT NOT NULL CHECK (json_valid(features)),
    model TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX scores_in_order ON scores (item, p_yes) WHERE reasons = '[]';
-- Facts: the items that the queue chose by value of information, each with the probability of its choice.
CREATE TABLE showings (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    arm TEXT NOT NULL CHECK (arm IN ('random', 'value')),
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    at TEXT NOT NULL
);
CREATE INDEX showings_by_item ON showings (item, id, at);
-- Facts: what a drafter wrote after edits of the spectrum. passed is NULL where nothing could be tested.
CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    passed INTEGER CHECK (passed IN (0, 1)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    result TEXT NOT NULL CHECK (json_valid(result))
);
CREATE INDEX trials_by_item ON trials (item, id, passed);
"""

TRUST_FACTS = ("showings", "trials")


def trust(db: Transaction) -> None:
    """Add P(YES) of items, the showings of the ordered queue, and the trials of evidence."""
    db.executescript(_TRUST)
    for table in TRUST_FACTS:
        db.executescript(_refuse_changes(table))


_IMPORTS = """
-- One row per import of a file: what was asked, and how much of the file is safely in the database. Its last change is
-- written in the transaction that adds the items, so an import resumes exactly where it was.
CREATE TABLE imports (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    -- Bytes and time of the last change (ns): a changed file is not resumed.
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    spectra TEXT,
    batch TEXT NOT NULL,
    skip_bad INTEGER NOT NULL,
    same_spectrum TEXT NOT NULL CHECK (same_spectrum IN ('import', 'leave out', 'ask')),
    uploaded INTEGER NOT NULL,
    person TEXT REFERENCES people (initials),
    -- The last item before the import: only items up to it are "already here".
    newest INTEGER NOT NULL,
    step TEXT NOT NULL CHECK (step IN ('check', 'write')),
    state TEXT NOT NULL CHECK (state IN ('running', 'cancelled', 'failed', 'refused', 'done')),
    -- Of the present step: bytes and lines read, and what was found in them.
    "offset" INTEGER NOT NULL,
    line INTEGER NOT NULL,
    counts TEXT NOT NULL CHECK (json_valid(counts)),
    message TEXT NOT NULL,
    seconds REAL NOT NULL,
    started_at TEXT NOT NULL,
    changed_at TEXT NOT NULL
);
-- For rows whose spectrum is not known: the search index takes a second for a name among a million.
CREATE INDEX items_by_name ON items (name);
"""

# Derived: what the Progress tab counts, by task and batch, kept by triggers like ``tallies``.
_FIGURES = """
CREATE TABLE decision_figures (
    person TEXT, round TEXT, day TEXT, task TEXT, batch TEXT, decisions INTEGER NOT NULL,
    PRIMARY KEY (person, round, day, task, batch)
) WITHOUT ROWID;
-- Active time before decisions, by whole seconds below a thousand, then by tens.
CREATE TABLE time_figures (
    person TEXT, round TEXT, active REAL, task TEXT, batch TEXT, decisions INTEGER NOT NULL,
    PRIMARY KEY (person, round, active, task, batch)
) WITHOUT ROWID;
CREATE TABLE version_figures (
    author TEXT, task TEXT, batch TEXT, versions INTEGER NOT NULL, PRIMARY KEY (author, task, batch)
) WITHOUT ROWID;
CREATE TABLE standing_figures (
    day TEXT, state TEXT, task TEXT, batch TEXT, compared INTEGER, disagreement INTEGER, items INTEGER NOT NULL,
    PRIMARY KEY (day, state, task, batch, compared, disagreement)
) WITHOUT ROWID;
"""
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


def _figure_triggers(batch_of: str, authored: str, moved: str) -> dict[str, str]:
    """Return the triggers that keep the tables of figures, by name.

    :param batch_of: the table with the task and batch of an item, joined as ``i``
    :param authored: the same table, with the condition that names an item
    :param moved: the first columns of ``standings`` of whose changes the figures depend
    """
    counted = "d.verb NOT IN ('undo', 'withdraw', 'restore')"
    decided = f"""
    INSERT INTO decision_figures SELECT d.person, d.round, substr(d.at, 1, 10), i.task, i.batch, :n
    FROM decisions d JOIN {batch_of} = d.item WHERE d.id = :id AND {counted}
    ON CONFLICT DO UPDATE SET decisions = decisions + excluded.decisions;"""
    timed = f"""
    INSERT INTO time_figures SELECT d.person, d.round, {_BIN}, i.task, i.batch, :n
    FROM work_times w JOIN decisions d ON d.id = w.decision JOIN {batch_of} = d.item
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
    events = {
        "decisions_counted AFTER INSERT ON decisions": of(decided, "new.id", 1),
        "decisions_uncounted AFTER INSERT ON decisions WHEN new.withdraws IS NOT NULL": undone,
        "times_counted AFTER INSERT ON work_times": of(timed, "new.decision", 1),
        "versions_counted AFTER INSERT ON versions WHEN new.author IS NOT NULL": (
            f"INSERT INTO version_figures SELECT new.author, task, batch, 1 FROM {authored} = new.item "
            "ON CONFLICT DO UPDATE SET versions = versions + 1;"
        ),
        "standings_come AFTER INSERT ON standings": come,
        "standings_gone AFTER DELETE ON standings": out,
        f"standings_moved AFTER UPDATE OF {moved}, compared, disagreement ON standings": out + come,
    }
    return {event.split()[0]: f"CREATE TRIGGER {event} BEGIN {body} END;\n" for event, body in events.items()}


def fill_figures(db: Transaction) -> None:
    """Derive the tables of figures from the facts."""
    for table, rows in FIGURES.items():
        db.execute(f"DELETE FROM {table}")
        db.execute(f"INSERT INTO {table} {rows}")


def imports(db: Transaction) -> None:
    """Add the imports of files, an index of the items' names, and the figures of the Progress tab."""
    db.executescript(_IMPORTS)
    db.executescript(_FIGURES)
    fill_figures(db)
    db.executescript("".join(_figure_triggers("items i ON i.id", "items WHERE id", "state, decided_at").values()))


def authors(db: Transaction) -> None:
    """Add an index of the first versions whose text names the people who wrote it before it was imported."""
    db.execute(
        "CREATE INDEX versions_with_authors ON versions (item) WHERE number = 1 AND instr(body, '\"authors\":[') > 0"
    )


_RECOUNTED = ("decisions_counted", "decisions_uncounted", "times_counted", "versions_counted", "standings_moved")


def _follow_batches() -> str:
    """Return the triggers of the figures for items whose batch can change: it is that of ``standings``."""
    kept = _figure_triggers("standings i ON i.item", "standings WHERE item", "state, batch, decided_at")
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
    again = "".join(f"DROP TRIGGER {name};\n{kept[name]}" for name in _RECOUNTED)
    return (
        f"{again}CREATE TRIGGER standings_rebatched AFTER UPDATE OF batch ON standings WHEN new.batch <> old.batch "
        f"BEGIN {moves}END;\n"
    )


def teamwork(db: Transaction) -> None:
    """Add comments, assignments, bulk actions, views, tokens, webhooks, and the search of texts."""
    db.executescript(TEAMWORK_TABLES)
    for table in TEAMWORK_FACTS:
        db.executescript(_refuse_changes(table))
    db.executescript(EVENT_TRIGGERS)
    db.executescript(_follow_batches())
    db.executescript(TEXT_TABLES)
    fill_texts(db)


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "first schema", first_schema),
    Migration(2, "blind sessions", blind_sessions),
    Migration(3, "audit log", audit_log),
    Migration(4, "work times", work_times),
    Migration(5, "inspections", inspections),
    Migration(6, "trust", trust),
    Migration(7, "imports and figures", imports, per_version=3e-5),
    Migration(8, "index of authors", authors),
    Migration(9, "teamwork", teamwork, per_version=4e-4),
)
