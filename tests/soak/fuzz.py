"""Fuzz every parser of outside input (``tests.soak.targets``), each in a process with limited memory; prints Markdown.

    python -m tests.soak.fuzz --minutes 10 --seed 1 --targets fits,zip
    python -m tests.soak.fuzz --replay soak-finds/fits/find-0123456789ab

With atheris (``pip install -e '.[soak]'``) guided by byte-code coverage, without it by executed lines (slower).
Exit status 1 if a check failed (``tests.soak.trying``): inputs and reports are kept in the folder of finds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.benchmarks.results import Block, Results

FINDS = Path("soak-finds")
STALLED = 60.0
"""Seconds within which a process must write its state; if it does not, its current input has stopped it."""
GRACE = 120.0
"""Extra seconds that a process may take to count the lines its corpus reaches."""
MOST_RESTARTS = 20


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(argv)
    if arguments.replay is not None:
        return _replay(arguments.replay)
    from tests.soak.targets import TARGETS

    requested = list(TARGETS) if arguments.targets is None else arguments.targets.split(",")
    unknown = [name for name in requested if name not in TARGETS]
    if unknown:
        print(f"no such target: {unknown[0]}; there are {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    seconds = 60 * arguments.minutes / len(requested)
    found = {}
    for name in requested:
        found[name] = _fuzzed(name, arguments.finds / name, seconds, arguments.seed)
        print(f"{name}: {found[name]['inputs']} inputs, {len(found[name]['finds'])} finds", file=sys.stderr)
    results = Results()
    for block in _blocks(found, arguments):
        results.add(block)
    return 1 if any(state["finds"] for state in found.values()) else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.soak.fuzz", description="Run every fuzz target on damaged input.")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", help="some of them, separated by commas")
    parser.add_argument("--finds", type=Path, default=FINDS, help="folder for the inputs that failed a check")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one kept input again")
    return parser.parse_args(argv)


def _fuzzed(name: str, folder: Path, seconds: float, seed: int) -> dict[str, Any]:
    """Fuzz a target for this time and return the final state; a process that died is started again."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    until = time.monotonic() + seconds
    for attempt in range(MOST_RESTARTS):
        left = until - time.monotonic()
        if attempt and left < 1:
            break
        reason = _one_process(name, folder, max(1.0, left), seed + attempt)
        state = _state(folder)
        if state.get("done"):
            break
        _keep_fatal(folder, state, reason)
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    return _state(folder)


def _one_process(name: str, folder: Path, seconds: float, seed: int) -> str:
    """Run one process; return what ended it, or "" if it finished by itself."""
    command = [
        sys.executable,
        "-m",
        "tests.soak.fuzz_child",
        name,
        str(folder),
        f"--seconds={seconds}",
        f"--seed={seed}",
    ]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with (folder / "output.txt").open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        began = time.monotonic()
        while process.poll() is None:
            time.sleep(0.2)
            age = time.time() - _written(folder, began)
            over = time.monotonic() - began > seconds
            if age > STALLED + (GRACE if over else 0):
                process.kill()
                process.wait()
                return f"an input that the process had been at for {age:.0f} s"
    return "" if process.returncode == 0 else f"a process that ended with status {process.returncode}"


def _written(folder: Path, began: float) -> float:
    try:
        return (folder / "state.json").stat().st_mtime
    except OSError:
        return time.time() - (time.monotonic() - began)


def _state(folder: Path) -> dict[str, Any]:
    state: dict[str, Any] = {"inputs": 0, "finds": {}, "lines": 0, "of": 0, "seconds": 0.0, "memory": 0}
    if (folder / "state.json").exists():
        state |= json.loads((folder / "state.json").read_text("utf-8"))
    return state


def _keep_fatal(folder: Path, state: dict[str, Any], reason: str) -> None:
    """Keep the input that ended its process."""
    now, kept = folder / "now", f"find-fatal-{len(state['finds'])}"
    if now.exists():
        shutil.copyfile(now, folder / kept)
    tail = (folder / "output.txt").read_text("utf-8", "replace")[-3000:]
    (folder / f"{kept}.txt").write_text(f"{reason}\n\n{tail}", "utf-8")
    state["finds"].setdefault(reason, {"file": kept, "times": 0})["times"] += 1
    (folder / "state.json").write_text(json.dumps(state), "utf-8")


def _replay(kept: Path) -> int:
    """Run a kept input again, with the target that its folder is named after."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="spec-o3-replay-") as scratch:
        command = [sys.executable, "-m", "tests.soak.fuzz_child", kept.resolve().parent.name, scratch]
        return subprocess.run([*command, "--replay", str(kept)], check=False).returncode


def _blocks(found: dict[str, dict[str, Any]], arguments: argparse.Namespace) -> Iterator[Block]:
    how = "coverage of byte code (atheris)" if find_spec("atheris") else "lines that ran"
    total = sum(state["inputs"] for state in found.values())
    yield {
        "text": f"{total} inputs at {len(found)} targets in {arguments.minutes:g} minutes, seed {arguments.seed}, "
        f"guided by {how}. Lines: of the lines of functions in modules that a target enters, those that its "
        "corpus reached. Memory: the most that the process held."
    }
    columns = {"target": "", "inputs": "{}", "per second": "{:.0f}", "lines": "", "memory, MiB": "{}", "finds": "{}"}
    rows = []
    for name, state in found.items():
        rate = state["inputs"] / max(state["seconds"], 1.0)
        reached = f"{state['lines']} of {state['of']}" if state["of"] else "–"
        rows.append([name, state["inputs"], rate, reached, state["memory"] // 2**20, len(state["finds"])])
    yield {"columns": columns, "rows": rows}
    finds = [
        f"- {name}: {kind} ({find['times']} times); "
        f"`python -m tests.soak.fuzz --replay {arguments.finds / name / find['file']}`"
        for name, state in found.items()
        for kind, find in state["finds"].items()
    ]
    yield {"text": "\n".join(finds or ["Everything held."])}


if __name__ == "__main__":
    raise SystemExit(main())
