-- The tables and indexes of annotations.db. A backup is restored only if its schema has exactly this text, so the text
-- is not edited, comments inside a statement included: a change of the schema is a new migration (schema.py, which also
-- has the triggers that are generated).

-- People, settings, sessions
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

-- Items, versions, and what people decide about them
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
-- First versions whose text names the people who wrote it before it was imported.
CREATE INDEX versions_with_authors ON versions (item) WHERE number = 1 AND instr(body, '"authors":[') > 0;
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

-- Work in hand, and exports
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

-- Derived from the facts. The columns by which the queue filters are copied here, so that its queries read one narrow
-- table. Triggers count items by all of them that are not ranges, in tallies: a total is the sum of a few rows for any
-- number of items.
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

-- Blind scoring
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

CREATE TABLE work_times (
    id INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL UNIQUE REFERENCES decisions (id),
    opened_at TEXT NOT NULL,
    -- Seconds from opening the item to the decision, and how many of them the person was active.
    elapsed REAL NOT NULL CHECK (elapsed >= 0),
    active REAL NOT NULL CHECK (active BETWEEN 0 AND elapsed)
);

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

-- Derived: what the Progress tab counts, by task and batch, kept by triggers like tallies.
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

-- Facts: what people say about an item. kind 'resolved' and 'reopened' change the state of a thread.
CREATE TABLE comments (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    -- The current version when it was written.
    version INTEGER NOT NULL REFERENCES versions (id),
    -- Of that version; '': about the whole item.
    step TEXT NOT NULL,
    -- The first comment of the thread; NULL: this one begins a thread.
    thread INTEGER REFERENCES comments (id),
    kind TEXT NOT NULL CHECK (kind IN ('comment', 'resolved', 'reopened')),
    -- The item's round when it was written; '': it was decided or withdrawn. Judges of the round do not see it.
    round TEXT NOT NULL,
    -- NULL: imported from another program, and its author is no person of this database.
    person TEXT REFERENCES people (initials),
    -- Where an imported comment comes from, with the author's name there; '': written here.
    source TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT NOT NULL,
    CHECK ((kind = 'comment') = (text <> '')),
    CHECK (person IS NOT NULL OR source <> '')
);
CREATE INDEX comments_by_item ON comments (item, id);
-- The items on which a person commented.
CREATE INDEX comments_by_person ON comments (person, item);
-- Derived from the texts: the people whose initials a comment names.
CREATE TABLE mentions (
    person TEXT NOT NULL REFERENCES people (initials),
    comment INTEGER NOT NULL REFERENCES comments (id),
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (person, comment)
) WITHOUT ROWID;
-- How far a person has read: the last comment on the item that they were shown.
CREATE TABLE comment_reads (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    comment INTEGER NOT NULL REFERENCES comments (id),
    at TEXT NOT NULL,
    PRIMARY KEY (person, item)
) WITHOUT ROWID;

-- Facts: an action on many items at once, and its undo.
CREATE TABLE bulk_actions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('reject', 'assign', 'unassign', 'batch', 'undo')),
    details TEXT NOT NULL CHECK (json_valid(details)),
    items INTEGER NOT NULL,
    undoes INTEGER UNIQUE REFERENCES bulk_actions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    at TEXT NOT NULL,
    CHECK ((kind = 'undo') = (undoes IS NOT NULL))
);
-- Facts: who shall work on an item. assigned 0 takes it back.
CREATE TABLE assignments (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    assigned INTEGER NOT NULL CHECK (assigned IN (0, 1)),
    bulk INTEGER NOT NULL REFERENCES bulk_actions (id),
    at TEXT NOT NULL
);
CREATE INDEX assignments_by_item ON assignments (item, id);
CREATE INDEX assignments_by_bulk ON assignments (bulk);
-- Derived: the assignments in force.
CREATE TABLE assigned (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (person, item)
) WITHOUT ROWID;
CREATE INDEX assigned_by_item ON assigned (item);
-- Facts: an item was put into another batch. standings.batch is the present one, items.batch that of its import.
CREATE TABLE batch_changes (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    before TEXT NOT NULL,
    batch TEXT NOT NULL,
    bulk INTEGER NOT NULL REFERENCES bulk_actions (id),
    at TEXT NOT NULL
);
CREATE INDEX batch_changes_by_item ON batch_changes (item, id);
CREATE INDEX batch_changes_by_bulk ON batch_changes (bulk);
-- Facts: the decisions of a bulk action.
CREATE TABLE bulk_decisions (
    decision INTEGER PRIMARY KEY REFERENCES decisions (id),
    bulk INTEGER NOT NULL REFERENCES bulk_actions (id)
);
CREATE INDEX bulk_decisions_by_bulk ON bulk_decisions (bulk);

-- A filter with a name, or a list of items with one. They change, so they are no facts.
CREATE TABLE views (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    shared INTEGER NOT NULL CHECK (shared IN (0, 1)),
    filter TEXT NOT NULL CHECK (json_valid(filter)),
    -- Number of items of a list; NULL: the view is a filter.
    items INTEGER,
    made_at TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    deleted_at TEXT
);
CREATE UNIQUE INDEX views_by_name ON views (person, name) WHERE deleted_at IS NULL;
CREATE TABLE view_items (
    view INTEGER NOT NULL REFERENCES views (id),
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (view, item)
) WITHOUT ROWID;

-- Access for scripts, in the name of a person. Only the hash of a token is kept.
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    person TEXT NOT NULL REFERENCES people (initials),
    name TEXT NOT NULL,
    may_write INTEGER NOT NULL CHECK (may_write IN (0, 1)),
    made_at TEXT NOT NULL,
    expires_at TEXT,
    used_at TEXT,
    revoked_at TEXT
);
-- The name by which a proxy knows a person (for sign-in by OpenID Connect).
CREATE TABLE logins (
    login TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (initials),
    at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE webhooks (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    events TEXT NOT NULL CHECK (json_valid(events)),
    person TEXT NOT NULL REFERENCES people (initials),
    made_at TEXT NOT NULL,
    deleted_at TEXT
);
-- What webhooks report; written by triggers, in the transaction of the change.
CREATE TABLE webhook_events (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('approved', 'returned', 'exported')),
    item INTEGER REFERENCES items (id),
    export INTEGER REFERENCES exports (id),
    at TEXT NOT NULL
);
CREATE TABLE webhook_deliveries (
    webhook INTEGER NOT NULL REFERENCES webhooks (id),
    event INTEGER NOT NULL REFERENCES webhook_events (id),
    attempts INTEGER NOT NULL,
    -- '': at once; NULL: delivered, or given up.
    next_at TEXT,
    delivered_at TEXT,
    answer TEXT NOT NULL,
    PRIMARY KEY (webhook, event)
) WITHOUT ROWID;
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook, event) WHERE next_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event);

-- The indexes of the search, without their text: it is in versions, comments, decisions and marks. Rows are only added,
-- as those are. The order of rows is that of items.
-- One row per version: rowid = item * 2^20 + number.
CREATE VIRTUAL TABLE traces_text USING fts5 (text, content='', tokenize='unicode61 remove_diacritics 2');
-- One row per comment, comment of a decision and note of a mark: rowid = item * 2^32 + 4 * id + 0, 1 or 2.
CREATE VIRTUAL TABLE remarks_text USING fts5 (text, content='', tokenize='unicode61 remove_diacritics 2');

-- What webhooks report.
CREATE TRIGGER standings_reported AFTER UPDATE OF state ON standings
WHEN new.state <> old.state AND new.state IN ('approved', 'returned') AND EXISTS (SELECT 1 FROM webhooks WHERE deleted_at IS NULL)
BEGIN INSERT INTO webhook_events (kind, item, at) VALUES (new.state, new.item, strftime('%Y-%m-%dT%H:%M:%f+00:00')); END;
CREATE TRIGGER exports_reported AFTER INSERT ON exports WHEN EXISTS (SELECT 1 FROM webhooks WHERE deleted_at IS NULL)
BEGIN INSERT INTO webhook_events (kind, export, at) VALUES ('exported', new.id, strftime('%Y-%m-%dT%H:%M:%f+00:00')); END;
CREATE TRIGGER webhook_events_due AFTER INSERT ON webhook_events
BEGIN INSERT INTO webhook_deliveries (webhook, event, attempts, next_at, answer)
SELECT w.id, new.id, 0, '', '' FROM webhooks w
WHERE w.deleted_at IS NULL AND EXISTS (SELECT 1 FROM json_each(w.events) e WHERE e.value = new.kind); END;
