"""How the server asks the machine for memory."""

from __future__ import annotations

import ctypes
import os

# From <malloc.h> of the GNU C library.
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_ARENAS = 2
_OF_ITS_OWN = 256 * 1024
"""Bytes from which a piece of memory goes back to the machine as soon as it is free."""


def keep_together() -> bool:
    """Let the server's threads share two heaps; whether that could be said (GNU C library, nothing else set).

    Each of forty threads would have a heap of its own, and each keeps what its largest piece of work took.
    The threshold for large pieces is fixed as well; else the library raises it to the largest it has seen.
    """
    if any(name.startswith("MALLOC_") for name in os.environ):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(_M_ARENA_MAX, _ARENAS) and mallopt(_M_MMAP_THRESHOLD, _OF_ITS_OWN))
