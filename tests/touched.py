"""Make the targets beyond `make test` that a change can touch: `python -m tests.touched [BASE]` (options: --help).

The change is what git says differs from BASE: a commit, else where this branch left the remote's main branch. Without
either, everything is made.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
EVERYTHING = ("long", "browser-all", "test-models")
EVERYWHERE = (
    "pyproject.toml",
    "requirements",
    "Makefile",
    ".ci/",
    "reviewer/store/",
    "tests/support/",
    "tests/conftest.py",
)
"""Files of these beginnings reach every test."""
RULES = (
    ("tests/models/", ("test-models",)),
    ("tests/browser/", ("browser-all",)),
    ("tests/js/", ("browser-all",)),
    ("tests/", ("long",)),
    ("training/", ("test-models",)),
    ("agent/locale/", ("browser-all",)),
    ("agent/", EVERYTHING),
    ("app.py", EVERYTHING),
    ("reviewer/ui/static/", ("browser-all",)),
    ("reviewer/", ("long", "browser-all")),
)
"""Beginnings of paths with what they touch; the first that fits counts, and other files (docs) touch nothing."""


def targets(files: Iterable[str], desks: Iterable[str]) -> list[str]:
    """The targets for changed files, as arguments of make.

    :param desks: folders of browser tests. Where every file that touches the browser tests is of such a desk (a folder
        or module of its name), only their folders are named, else all of tests/browser
    """
    touched: dict[str, set[str]] = {}
    for file in files:
        if file.startswith(EVERYWHERE):
            return [*EVERYTHING]
        found = next((named for beginning, named in RULES if file.startswith(beginning)), ())
        own = set(desks) & {PurePosixPath(file).stem, *PurePosixPath(file).parts[1:-1]}
        for name in found:
            touched.setdefault(name, set()).add(f"tests/browser/{min(own)}" if own else "tests/browser")
    paths = touched.get("browser-all", set())
    narrowed = [] if not paths or "tests/browser" in paths else [f"BROWSER_TESTS={' '.join(sorted(paths))}"]
    return [*(name for name in EVERYTHING if name in touched), *narrowed]


def changed_since(base: str) -> list[str] | None:
    """Files that differ from ``base`` ("": from the remote's main branch), or None where git knows no such commit."""
    if not base:
        base = _git("merge-base", "HEAD", "origin/HEAD") or ""
        if base in ("", _git("rev-parse", "HEAD")):
            return None
    listed = _git("diff", "--name-only", base, "HEAD")
    return None if listed is None else listed.splitlines()


def _git(*arguments: str) -> str | None:
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else None


def make_each(arguments: Sequence[str], may_begin: Callable[[], bool], make: Callable[[list[str]], int]) -> int:
    """Make target after target until one fails; return the exit status.

    :param arguments: those of ``targets``: each variable counts for every target
    :param may_begin: called before each target; those that may not begin are named
    :param make: calls make with its arguments and returns its exit status
    """
    variables = [argument for argument in arguments if "=" in argument]
    for target in (argument for argument in arguments if "=" not in argument):
        if not may_begin():
            print(f"{target}: NOT RUN, there is no time left to begin it", file=sys.stderr)
        elif status := make([target, *variables]):
            return status
    return 0


def main() -> int:
    """Say what the change touches, on standard error, and make it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", nargs="?", default="", metavar="BASE")
    parser.add_argument("--begin-within", type=float, metavar="SECONDS", help="begin no target later")
    given = parser.parse_args()
    files = changed_since(given.base)
    folders = [path.name for path in (ROOT / "tests" / "browser").iterdir() if list(path.glob("test_*.py"))]
    named = [*EVERYTHING] if files is None else targets(files, folders)
    of = "no commit to compare with" if files is None else f"{len(files)} changed files"
    print(f"{of}: {', '.join(named) or 'nothing beyond make test'}", file=sys.stderr)
    last = time.monotonic() + given.begin_within if given.begin_within is not None else float("inf")
    return make_each(
        named, lambda: time.monotonic() <= last, lambda line: subprocess.run(["make", *line], cwd=ROOT).returncode
    )


if __name__ == "__main__":
    sys.exit(main())
