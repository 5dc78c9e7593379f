"""The tables of blind sessions, which migration 2 makes. Every one of them holds facts."""

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
