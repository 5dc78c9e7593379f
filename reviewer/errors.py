"""What a person is told of an exception."""

from __future__ import annotations

import logging
import secrets

from agent.spectrum import SpectrumError
from agent.trajectory import TrajectoryError
from reviewer.backup.backups import BackupError
from reviewer.exchange.exports import ExportError
from reviewer.exchange.imports import ImportFileError
from reviewer.rules.campaign import RulesError
from reviewer.rules.people import PersonError
from reviewer.store import StoreError

log = logging.getLogger("spec_o3")

REFUSALS = (
    *(StoreError, PersonError, RulesError, SpectrumError, TrajectoryError),
    *(ImportFileError, ExportError, BackupError),
)
"""What the rooms below refuse with a sentence that is meant for the person."""


def sentence(error: Exception) -> str:
    """What the person is told. A fault of the program goes to the log, with a number that finds it there."""
    if isinstance(error, REFUSALS):
        return str(error)
    if isinstance(error, OSError):
        # A full disk, a folder that may not be written: nothing a log would help with.
        return f"The machine refused: {error}"
    ticket = secrets.token_hex(4)
    log.error("a handler failed (%s)", ticket, exc_info=error)
    return f"The program failed here. Nothing was half-written. The log has it under {ticket}."
