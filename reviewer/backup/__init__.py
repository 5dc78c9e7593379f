"""Keeping what the reviewers did: backups with retention, restoring them, and the plain archive."""
