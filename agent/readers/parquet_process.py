"""A Parquet file read by another process, which may die of it; see ``agent.readers.parquet_child``."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.readers import parquet_child
from agent.spectrum import SpectrumError

SECONDS = 120.0
"""For one answer. A group of a few hundred MiB takes a second or two."""
_WANTED = "a complete Parquet file"


class ParquetProcess:
    """One file, open in a process of its own until this is no longer used. Safe in many threads."""

    def __init__(self, name: str, path: Path) -> None:
        """:raises SpectrumError: it is damaged"""
        import pyarrow as pa

        self.name = name
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-P", parquet_child.__file__, str(path.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        weakref.finalize(self, _end, self._process)
        told, schema = self._answer()
        self.groups: tuple[int, ...] = tuple(told["groups"])
        """The number of rows of each group."""
        self.schema = pa.ipc.read_schema(pa.py_buffer(schema))

    def table(self, group: int, columns: Sequence[str]) -> Any:
        """The columns of a group as an Arrow table. :raises SpectrumError: it is damaged, or too large"""
        import pyarrow as pa

        with self._lock:
            asked = {"group": group, "columns": list(columns)}
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(json.dumps(asked).encode() + b"\n")
                self._process.stdin.flush()
            except OSError:
                raise self._dead() from None
            _, content = self._answer()
        return pa.ipc.open_stream(pa.py_buffer(content)).read_all()

    def _answer(self) -> tuple[dict[str, Any], bytes]:
        """:raises SpectrumError: there was none, or it was a refusal"""
        assert self._process.stdout is not None
        watch = threading.Timer(SECONDS, self._process.kill)
        watch.start()
        try:
            line = self._process.stdout.readline()
            told = json.loads(line) if line.endswith(b"\n") else None
            content = self._process.stdout.read(told["bytes"]) if told and "bytes" in told else b""
        finally:
            watch.cancel()
        if told is not None and "error" in told:
            raise SpectrumError(self.name, f"a damaged Parquet file ({told['error']})", _WANTED)
        if told is None or len(content) != told["bytes"]:
            raise self._dead()
        return told, content

    def _dead(self) -> SpectrumError:
        return SpectrumError(
            self.name, "a Parquet file that the program which reads it does not survive", _WANTED
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue  # what was still to be written has nobody to read it
