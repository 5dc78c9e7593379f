"""Small JSON files next to a certificate: atomic writing, and a lock against other runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent import locks


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file atomically: another program reads the old content or the new one.

    :raises OSError: it cannot be written; an old file is unchanged
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(data, ensure_ascii=False, indent=1) + "\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Within the block, other processes wait that lock the same file, which is created empty if it does not exist.

    :raises OSError: it cannot be opened for writing
    """
    with path.open("ab") as file:
        locks.take(file.fileno(), None)
        yield
