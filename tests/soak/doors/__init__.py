"""Every door through which bytes come in, how to knock at each, and small valid inputs for it, made by the
program itself; docs/formats.md says what they take.
"""

from __future__ import annotations

from tests.soak.doors.app import DATABASES, ROUTES
from tests.soak.doors.files import SPECTRA, TRAJECTORIES
from tests.soak.doors.rows import BLIND, DRAFTS, SETTINGS, TRAINING_DATA
from tests.soak.trying import Door

_ALL = (*SPECTRA, *TRAJECTORIES, *DRAFTS, *SETTINGS, *BLIND, *TRAINING_DATA, *DATABASES, *ROUTES)
DOORS: dict[str, Door] = {door.name: door for door in _ALL}
