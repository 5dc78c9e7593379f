"""Fuzz one target with limited memory; ``tests.soak.fuzz`` starts it as a process.

The folder has the progress in ``state.json`` and the current input in ``now``, also if that input ends the process.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

MEMORY = 3 * 2**30
"""Bytes of address space in addition to what the imports took."""
BETWEEN = 1.0
"""Seconds between two writes of the state."""
MEASURED = 400
"""Number of corpus inputs that are run once more to count the lines they reach."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", type=Path)
    arguments = parser.parse_args()
    atheris = None if arguments.replay else _atheris()
    if atheris is None:
        from tests.soak import targets
    else:
        with atheris.instrument_imports(include=["agent", "reviewer", "training"], enable_loader_override=False):
            from tests.soak import targets
    from tests.soak.trying import tried

    target = targets.TARGETS[arguments.target]
    scratch = arguments.folder / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    attempt = target.make(scratch)
    _limit_memory()
    if arguments.replay:
        find = tried(attempt, arguments.replay.read_bytes())
        print(find.story if find else "held")
        return 1 if find else 0
    run = _Run(arguments.folder, lambda data: tried(attempt, data))
    seeds = list(target.seeds())
    for seed in seeds:
        run.one(seed)
    until = time.monotonic() + arguments.seconds
    if atheris is None:
        from tests.soak.trying import by_lines

        by_lines(run.one, seeds, target.mutate, random.Random(arguments.seed), until)
        run.finish()
        return 0
    corpus = arguments.folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for seed in seeds:
        (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        return (target.mutate(data, chance) if chance.random() < 0.7 else atheris.Mutate(data, most))[:most]

    def one(data: bytes) -> None:
        if time.monotonic() > until:
            run.measure(attempt, corpus)
            run.finish()
            os._exit(0)
        run.one(data)

    options = [
        "-max_len=1048576",
        "-timeout=86400",
        "-rss_limit_mb=0",
        f"-seed={arguments.seed}",
        f"-artifact_prefix={arguments.folder}/",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one, custom_mutator=mutate)
    atheris.Fuzz()
    return 0


def _atheris():  # type: ignore[no-untyped-def]
    try:
        import atheris
    except ImportError:
        return None
    return atheris


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class _Run:
    """Counts of the run; keeps one input per kind of failure."""

    def __init__(self, folder: Path, attempt: Callable[[bytes], object]) -> None:
        self._folder = folder
        self._attempt = attempt
        self._now = folder / "now"
        self._written = 0.0
        self._state = {"inputs": 0, "finds": {}, "lines": 0, "of": 0, "seconds": 0.0, "memory": 0, "done": False}
        self._began = time.monotonic()
        if (folder / "state.json").exists():
            self._state |= json.loads((folder / "state.json").read_text())

    def one(self, data: bytes) -> None:
        self._now.write_bytes(data)
        find = self._attempt(data)
        self._state["inputs"] += 1
        finds = self._state["finds"]
        if find is not None and find.kind not in finds:
            name = hashlib.sha1(data).hexdigest()[:12]
            (self._folder / f"find-{name}").write_bytes(data)
            (self._folder / f"find-{name}.txt").write_text(find.story)
            finds[find.kind] = {"file": f"find-{name}", "times": 0}
        if find is not None:
            finds[find.kind]["times"] += 1
        if time.monotonic() - self._written > BETWEEN or find is not None:
            self._write()

    def measure(self, attempt: Callable[[bytes], None], corpus: Path) -> None:
        """Count the lines that the corpus reaches, and all lines in the modules it enters."""
        from tests.soak.trying import Lines, tried

        inputs = sorted(corpus.iterdir(), key=lambda path: path.stat().st_size)
        chosen = inputs[:: max(1, len(inputs) // MEASURED)]
        with Lines() as lines:
            for path in chosen:
                tried(attempt, path.read_bytes())
        files = {file for file, _ in lines.seen}
        self._state["lines"] = len(lines.seen)
        self._state["of"] = sum(len(_runnable(Path(file))) for file in files)

    def finish(self) -> None:
        self._state["done"] = True
        self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        self._state["seconds"] = self._written - self._began
        self._state["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        part = self._folder / "state.part"
        part.write_text(json.dumps(self._state))
        part.replace(self._folder / "state.json")


def _runnable(file: Path) -> set[int]:
    """Return the line numbers of a module's functions; lines outside functions ran at import."""
    found: set[int] = set()
    todo = [compile(file.read_text("utf-8"), str(file), "exec")]
    while todo:
        code = todo.pop()
        if code.co_flags & inspect.CO_OPTIMIZED:
            found |= {line for _, _, line in code.co_lines() if line and line > code.co_firstlineno}
        todo += [inner for inner in code.co_consts if hasattr(inner, "co_lines")]
    return found


if __name__ == "__main__":
    raise SystemExit(main())
