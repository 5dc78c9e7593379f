"""Messages for exceptions, for every part of the app that shows one to a person."""

from __future__ import annotations

import logging
import secrets

from agent.language import tr
from agent.spectrum import SpectrumError
from agent.trajectory import TrajectoryError
from reviewer.backup.backups import BackupError
from reviewer.exchange.annotations.values import AnnotationsError
from reviewer.exchange.exports import ExportError
from reviewer.exchange.imports import ImportFileError
from reviewer.rules.campaign import RulesError
from reviewer.rules.item_numbers import ItemNumbersError
from reviewer.rules.people import PersonError
from reviewer.store import StoreError

log = logging.getLogger("spec_o3")

REFUSALS = (
    *(StoreError, PersonError, RulesError, SpectrumError, TrajectoryError),
    *(ImportFileError, AnnotationsError, ExportError, BackupError, ItemNumbersError),
)
"""Exceptions whose text is written for the person."""


def message(error: Exception) -> str:
    """Return the message for an exception; the details of an internal error go to the log."""
    if isinstance(error, REFUSALS):
        return str(error)
    if isinstance(error, OSError):
        # A full disk, a folder that may not be written: a log would not help.
        return tr("The operating system reported: {error}", error=error)
    return internal_error("a handler", error)


def internal_error(where: str, error: Exception) -> str:
    """Log an unexpected exception under a number, and return the message that names the number."""
    number = secrets.token_hex(4)
    log.error("internal error %s in %s", number, where, exc_info=error)
    return tr("Internal error {number}. Nothing was saved; details are in the server log.", number=number)
