"""Messages for exceptions, for every part of the app that shows one to a person."""

from __future__ import annotations

import logging
import secrets

from agent.errors import Refusal
from agent.language import tr

log = logging.getLogger("spec_o3")


def message(error: Exception) -> str:
    """Return the message for an exception; the details of an internal error go to the log."""
    if isinstance(error, Refusal):
        return str(error)  # written for the person
    if isinstance(error, OSError):
        # A full disk, a folder that may not be written: a log would not help.
        return tr("The operating system reported: {error}", error=error)
    return internal_error("a handler", error)


def internal_error(where: str, error: Exception) -> str:
    """Log an unexpected exception under a number, and return the message that names the number."""
    number = secrets.token_hex(4)
    log.error("internal error %s in %s", number, where, exc_info=error)
    return tr("Internal error {number}. Nothing was saved; details are in the server log.", number=number)
