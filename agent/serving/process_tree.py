"""What a process and everything it started take in main memory, from Linux's /proc."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

_PROC = Path("/proc")


def tree_bytes(pid: int) -> int | None:
    """Main memory of a process and all that descend from it, in bytes; None where there is no /proc.

    The proportional set size: memory that several of them share is counted once. Where that may not be read,
    the resident set size.
    """
    if not (_PROC / str(pid)).is_dir():
        return None
    return 1024 * sum(_kilobytes(one) for one in _tree(pid))


def _tree(pid: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for stat in _PROC.glob("[0-9]*/stat"):
        try:
            # The name, in brackets, may hold anything; what follows the last bracket is state, parent, ...
            parent = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children[parent].append(int(stat.parent.name))
    tree = [pid]
    for one in tree:
        tree += children[one]
    return tree


def _kilobytes(pid: int) -> int:
    for name, field in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        try:
            lines = (_PROC / str(pid) / name).read_text().splitlines()
        except OSError:
            continue
        found = next((line.split()[1] for line in lines if line.startswith(field)), None)
        if found is not None:
            return int(found)
    return 0
