"""The fuzz targets: every parser of outside input, how to call it, and small inputs made by the program itself.

The formats are in docs/formats.md.
"""

from __future__ import annotations

from tests.soak.targets.app import DATABASES, ROUTES
from tests.soak.targets.files import SPECTRA, TRAJECTORIES
from tests.soak.targets.rows import BLIND, DRAFTS, SETTINGS, TRAINING_DATA
from tests.soak.trying import Target

_ALL = (*SPECTRA, *TRAJECTORIES, *DRAFTS, *SETTINGS, *BLIND, *TRAINING_DATA, *DATABASES, *ROUTES)
TARGETS: dict[str, Target] = {target.name: target for target in _ALL}
