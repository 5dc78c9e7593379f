"""Rules of the review workflow: pure functions and values."""
