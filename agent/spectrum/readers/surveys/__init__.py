"""Layouts of single surveys: LAMOST, SDSS and its plates and Milky Way Mapper, DESI, and AAOmega as Marz reads it."""
