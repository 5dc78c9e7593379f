"""Tables of migration 9: comments, assignments, bulk actions, views, tokens, webhooks, and search of texts."""

from __future__ import annotations

TEAMWORK_TABLES = """
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
"""

TOKENIZER = "tokenize='unicode61 remove_diacritics 2'"
VERSIONS_PER_ITEM = 2**20
REMARKS_PER_ITEM = 2**32
# Without their text: it is in versions, comments, decisions and marks. Rows are only added, as those are. The order of
# rows is that of items.
TEXT_TABLES = f"""
-- One row per version: rowid = item * 2^20 + number.
CREATE VIRTUAL TABLE traces_text USING fts5 (text, content='', {TOKENIZER});
-- One row per comment, comment of a decision and note of a mark: rowid = item * 2^32 + 4 * id + 0, 1 or 2.
CREATE VIRTUAL TABLE remarks_text USING fts5 (text, content='', {TOKENIZER});
"""

TEAMWORK_FACTS = ("comments", "bulk_actions", "assignments", "batch_changes", "bulk_decisions")

_HOOKED = "EXISTS (SELECT 1 FROM webhooks WHERE deleted_at IS NULL)"
_NOW = "strftime('%Y-%m-%dT%H:%M:%f+00:00')"
EVENT_TRIGGERS = f"""
CREATE TRIGGER standings_reported AFTER UPDATE OF state ON standings
WHEN new.state <> old.state AND new.state IN ('approved', 'returned') AND {_HOOKED}
BEGIN INSERT INTO webhook_events (kind, item, at) VALUES (new.state, new.item, {_NOW}); END;
CREATE TRIGGER exports_reported AFTER INSERT ON exports WHEN {_HOOKED}
BEGIN INSERT INTO webhook_events (kind, export, at) VALUES ('exported', new.id, {_NOW}); END;
CREATE TRIGGER webhook_events_due AFTER INSERT ON webhook_events
BEGIN INSERT INTO webhook_deliveries (webhook, event, attempts, next_at, answer)
SELECT w.id, new.id, 0, '', '' FROM webhooks w
WHERE w.deleted_at IS NULL AND EXISTS (SELECT 1 FROM json_each(w.events) e WHERE e.value = new.kind); END;
"""
