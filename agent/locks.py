"""Locks between processes, of filelock: exclusive, and ended by the system when their process ends, killed or not."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

_EVERY = 0.02
"""Seconds between two attempts."""


def take(handle: int, patience: float | None = 0.0, stopped: Callable[[float], object] = time.sleep) -> bool:
    """Lock an open file; return whether that worked. Closing the file ends the lock.

    :param patience: seconds to wait for another holder of the lock; None: until it ends
    :param stopped: waits between two attempts; gets the seconds, and ends the waiting by returning true
    :raises OSError: the file system has no locks
    """
    from filelock import lock_descriptor

    end = None if patience is None else time.monotonic() + patience
    while not lock_descriptor(handle, blocking=False):
        if (end is not None and time.monotonic() >= end) or stopped(_EVERY):
            return False
    return True


def open_folder(folder: Path) -> int:
    """Open a folder to lock it. Windows opens no folders, so there a file in it is locked.

    :raises OSError: it cannot be opened
    """
    if os.name == "nt":
        return os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    return os.open(folder, os.O_RDONLY)
