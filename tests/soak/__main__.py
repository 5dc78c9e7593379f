"""Every long trial, one after the other, with the results in docs/measurements.md.

    python -m soak [--only NAME ...]

Each runs in a process of its own and prints Markdown, which goes into ``docs/measurements.md`` with date,
machine and versions, whatever came out. Stopped by Ctrl C or SIGTERM, it prints what there is and leaves the
document as it was. Exit status 1 if anything did not hold, or it was stopped.
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from types import FrameType

from tests.benchmarks.document import conditions, kept, write
from tests.soak.served import ROOT


@dataclass(frozen=True)
class Trial:
    """A heading, what is tried, and the command that does it."""

    name: str
    title: str
    about: str
    command: tuple[str, ...]


TRIALS = (
    Trial(
        "kills",
        "Killed while people work",
        "SIGKILL of the app at random moments, while scripted people edit and vote over HTTP and somebody "
        "types in a page in Chromium; started again by the same command. Each client keeps a journal of what "
        "it was told, which is held against the database after each kill. A power cut is not tried.",
        ("-m", "tests.soak.kills", "--kills", "200"),
    ),
    Trial(
        "load",
        "Fifty people at once",
        "Scripted reviewers over HTTP, each doing something every one to three seconds, and three people "
        "with the Progress tab open. They run on the same cores as the server. The goals: no error, nothing "
        "lost or doubled, 95 of 100 submits (decisions, versions) within 200 ms, memory and open files flat.",
        ("-m", "tests.soak.load", "--reviewers", "50", "--minutes", "10"),
    ),
    Trial(
        "fuzz",
        "Bad input",
        "Spoiled files and texts at every door through which something comes in. What holds: an answer or a "
        "refusal in one sentence, in seconds, with bounded memory and nothing left behind.",
        ("-m", "tests.soak.fuzz", "--minutes", "10"),
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=[t.name for t in TRIALS], help="try only these again")
    only = parser.parse_args().only
    # A shell lets what it starts in the background ignore Ctrl C, and the trials would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    held = True
    for trial in TRIALS:
        if only is None or trial.name in only:
            print(f"{trial.title} ...", file=sys.stderr, flush=True)
            status, text = tried(trial)
            if status is None:
                print(text)
                return 1
            held = held and status == 0
            write({**kept(), trial.title: text})
    return 0 if held else 1


def tried(trial: Trial) -> tuple[int | None, str]:
    """Run it; its exit status (None: it was stopped) and its section."""
    # In a session of its own, so that Ctrl C does not reach the browser of a trial that is about to close it.
    process = subprocess.Popen(
        [sys.executable, *trial.command], stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    )
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        process.send_signal(signal.SIGINT)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        output, _ = process.communicate()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    # The section has its heading already.
    printed = re.sub(r"\A## .*\n+", "", output).strip()
    head = f"{trial.about}\n\n    python {' '.join(trial.command)}\n\n{conditions()}"
    status = None if stopped.is_set() else process.returncode
    return status, f"{head}\n\n{printed or f'Failed with exit status {process.returncode}.'}"


if __name__ == "__main__":
    raise SystemExit(main())
