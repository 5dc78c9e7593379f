"""Run the tests of damaged input with the long profile of hypothesis; prints Markdown.

    python -m tests.soak.bad_input [FILE ...]

Each run tries other examples. Exit status 1 if a test failed: its smallest example is printed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from tests.benchmarks.results import ROOT, Results, command_line

FILES = (
    "tests/agent/spectrum/test_bad_files.py",
    "tests/agent/trajectory/test_bad_output.py",
    "tests/reviewer/exchange/test_bad_rows.py",
    "tests/reviewer/backup/test_bad_databases.py",
    "tests/reviewer/web/test_bad_requests.py",
    "tests/test_bad_settings.py",
)
LONGEST = 3600
"""Seconds that one test may take."""


def run(file: str) -> tuple[int, int, float]:
    """Run the tests of a file; return how many there were, how many failed, and the minutes."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["--hypothesis-profile=long", f"--timeout={LONGEST}", f"--junitxml={report}"]
        subprocess.run([sys.executable, "-m", "pytest", "-q", *options, file], cwd=ROOT, stdout=sys.stderr, check=False)
        suite = ElementTree.parse(report).find("testsuite")
        assert suite is not None
        counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors")}
        return counts["tests"], counts["failures"] + counts["errors"], float(suite.attrib["time"]) / 60


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("files", nargs="*", default=FILES, metavar="FILE", help="only these files of tests")
    files = parser.parse_args().files
    table = Results().table({"file": "", "tests": "{:,}", "failed": "{:,}", "minutes": "{:.1f}"})
    failed = 0
    for file in files:
        row = run(file)
        table.row(f"`{file}`", *row)
        failed += row[1]
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
