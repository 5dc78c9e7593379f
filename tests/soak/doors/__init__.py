"""Every door through which bytes come in, how to knock at each, and small valid inputs for it, made by the
program itself; docs/formats.md says what they take.
"""

from __future__ import annotations

from tests.soak.doors import blind, databases, drafts, routes, settings, spectra, training_data, trajectories
from tests.soak.trying import Door

_KINDS = (spectra, trajectories, drafts, settings, blind, training_data, databases, routes)
DOORS: dict[str, Door] = {door.name: door for kind in _KINDS for door in kind.DOORS}
