"""SQLite itself: connection, schema, migrations, copies of the file."""
