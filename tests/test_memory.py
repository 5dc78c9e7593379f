"""What the server holds of the machine's memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_THREADS = """
import ctypes, sys, threading
sys.path.insert(0, sys.argv[1])
from reviewer.web.app import keep_together

if sys.argv[2] == "together" and not keep_together():
    sys.exit(3)
barrier = threading.Barrier(16)

def work() -> None:
    barrier.wait()
    kept = [bytes(4096) for _ in range(2000)]
    barrier.wait()

threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fopen(sys.argv[3].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


def heaps(folder: Path, how: str) -> int:
    """How many heaps sixteen threads at work leave behind."""
    told = folder / f"{how}.xml"
    root = Path(__file__).resolve().parents[1]
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", _THREADS, root, how, told], env=environment, check=False)
    if done.returncode == 3 or not told.exists():
        pytest.skip("this machine's C library cannot be told")
    return told.read_text().count("<heap nr=")


def test_threads_share_two_heaps(tmp_path: Path) -> None:
    assert heaps(tmp_path, "together") <= 2 < heaps(tmp_path, "apart")
