"""Similar traces and spectra: measured facts, vectors, their files, rankings by example, and groups."""
