"""The plain archive: the whole database as text files."""
