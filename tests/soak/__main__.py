"""Run every long trial and write the results to docs/measurements.md.

    python -m tests.soak [--only NAME ...]

Each trial runs in its own process; results are kept as JSON with date, machine and versions. After Ctrl C or
SIGTERM a trial prints what it has and the document does not change. Exit status 1 on any failure or a stop.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from tests.benchmarks.__main__ import ORDER
from tests.benchmarks.results import ROOT, VARIABLE, Block, command_line, conditions, keep, write_document


@dataclass(frozen=True)
class Trial:
    """Heading, description and command of a trial."""

    name: str
    title: str
    about: str
    command: tuple[str, ...]


TRIALS = (
    Trial(
        "kills",
        "Killed while people work",
        "SIGKILL of the app at random moments, while scripted people edit and vote over HTTP and a person types "
        "in Chromium; the same command starts it again. After each kill the database is compared with the answers "
        "that each client received. Power cuts are not tested.",
        ("-m", "tests.soak.kills", "--kills", "200"),
    ),
    Trial(
        "load",
        "Fifty people at once",
        "Scripted reviewers over HTTP, each acting every one to three seconds, and three people with the Progress "
        "tab open, on the server's cores. Goals: no error, nothing lost or doubled, 95 % of submits (decisions, "
        "versions) within 200 ms, memory and open files flat.",
        ("-m", "tests.soak.load", "--reviewers", "50", "--minutes", "10"),
    ),
    Trial(
        "bulk-kills",
        "Killed in actions on many items at once",
        "SIGKILL of processes that reject 5,000 items, assign them, put them into a batch, or undo that, at "
        "random moments and often in the commit. Each action must be in the database as a whole or not at all; "
        "one undo brings every item back. Power cuts are not tested.",
        ("-m", "tests.soak.bulk_kills", "--kills", "200"),
    ),
    Trial(
        "survey-kills",
        "Killed while a survey runs on Ray",
        "SIGKILL of the driver, the four workers and the two model servers of `spec-o3 inspect --engine ray` at "
        "random moments. Every spectrum must be in the results exactly once. Power cuts are not tested.",
        ("-m", "tests.soak.survey_kills", "--kills", "200"),
    ),
    Trial(
        "bad-input",
        "Bad input",
        "Damaged files, rows, settings, requests, databases and model output, by hypothesis. Each must give an "
        "answer or a refusal in one sentence, within seconds, with nothing left behind.",
        ("-m", "tests.soak.bad_input"),
    ),
)


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--only", nargs="+", choices=[t.name for t in TRIALS], help="run only these again")
    only = parser.parse_args().only
    # A shell makes background processes ignore Ctrl C, and the trials would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    passed = True
    for trial in TRIALS:
        if only is None or trial.name in only:
            print(f"{trial.title} ...", file=sys.stderr, flush=True)
            status, section = run_trial(trial)
            if status is None:
                return 1
            passed = passed and status == 0
            keep(trial.name, section)
            write_document(ORDER)
    return 0 if passed else 1


def run_trial(trial: Trial) -> tuple[int | None, dict[str, Any]]:
    """Run a trial; return its exit status (None: it was stopped) and its section."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        # In its own session, so that Ctrl C does not reach the browser, which the trial closes itself.
        process = subprocess.Popen(
            [sys.executable, *trial.command], cwd=ROOT, start_new_session=True, env={**os.environ, VARIABLE: str(file)}
        )
        stopped = threading.Event()

        def stop(number: int, frame: FrameType | None) -> None:
            stopped.set()
            process.send_signal(signal.SIGINT)

        before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            status = process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        failed: list[Block] = [{"text": f"Failed with exit status {status}."}]
        blocks = json.loads(file.read_text(encoding="utf-8")) if file.exists() else failed
    section = {"title": trial.title, "about": trial.about, "command": f"python {' '.join(trial.command)}"}
    return None if stopped.is_set() else status, {**section, "conditions": conditions(), "blocks": blocks}


if __name__ == "__main__":
    raise SystemExit(main())
