"""Script that reads a Parquet file in its own process with bounded memory, run by ``agent.spectrum.readers.parquet``: a
damaged file can make the C++ library end the process (pyarrow 26) or request any amount of memory.

Output: first the number of rows of each group and the schema; then, for each input line ``{"group", "columns"}``, a
line ``{"bytes"}`` and so many bytes of Arrow's stream format, or a line ``{"error"}``.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from agent.language import tr

MEMORY = 3 * 2**30
"""Bytes of address space beyond what the imports took."""
MOST = 512 * 2**20
"""Bytes of the requested columns of one group, uncompressed."""


def main(path: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    _limit_memory()
    # Output of the library itself must not mix with the replies.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        file = pq.ParquetFile(path)
        groups = [file.metadata.row_group(n).num_rows for n in range(file.metadata.num_row_groups)]
        _reply(out, file.schema_arrow.serialize(), {"groups": groups})
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        _refuse(out, error)
        return
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            table = file.read_row_group(request["group"], columns=request["columns"])
            if table.nbytes > MOST:
                raise ValueError(tr("rows of {nbytes} bytes, expected at most {most}", nbytes=table.nbytes, most=MOST))
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as stream:
                stream.write_table(table)
            _reply(out, sink.getvalue(), {})
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            _refuse(out, error)


def _reply(out: Any, content: Any, more: dict[str, Any]) -> None:
    out.write(json.dumps(more | {"bytes": len(content)}).encode() + b"\n")
    out.write(content)
    out.flush()


def _refuse(out: Any, error: Exception) -> None:
    out.write(json.dumps({"error": str(error) or type(error).__name__}).encode() + b"\n")
    out.flush()


def _limit_memory() -> None:
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as statm:
            now = int(statm.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    except (ImportError, OSError, ValueError):
        return  # no such limits on this system: MOST still bounds what is sent


if __name__ == "__main__":
    main(sys.argv[1])
