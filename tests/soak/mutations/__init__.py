"""Ways to spoil an input: bytes of any kind, and JSON, TOML, FITS, gzip, zip and SQLite from within.

Blind changes of bytes hardly ever get past a checksum or a closing bracket; these know just enough of a
format to leave its outside whole and spoil what is inside.
"""

from __future__ import annotations

from tests.soak.mutations.fits_cards import spoiled_fits
from tests.soak.mutations.packed import inside_gzip, inside_zip
from tests.soak.mutations.sqlite import spoiled_sqlite
from tests.soak.mutations.values import Mutate, spoiled_bytes, spoiled_json, spoiled_text

__all__ = [
    "Mutate",
    "inside_gzip",
    "inside_zip",
    "spoiled_bytes",
    "spoiled_fits",
    "spoiled_json",
    "spoiled_sqlite",
    "spoiled_text",
]
