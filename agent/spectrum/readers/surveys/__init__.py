"""Layouts of single surveys, one module each: LAMOST, SDSS, DESI, and AAOmega as Marz reads it."""
