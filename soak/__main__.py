"""Every long trial, one after the other, with the results in docs/measurements.md.

    python -m soak [--only NAME ...]

Each runs in a process of its own and prints Markdown, which goes into ``docs/measurements.md`` with date,
machine and versions, whatever came out. Exit status 1 if anything did not hold.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass

from benchmarks.document import conditions, kept, write
from soak.served import ROOT


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
        ("-m", "soak.kills", "--kills", "200"),
    ),
    Trial(
        "load",
        "Fifty people at once",
        "Scripted reviewers over HTTP, each doing something every one to three seconds, and three people "
        "with the Progress tab open. They run on the same cores as the server. The goals: no error, nothing "
        "lost or doubled, 95 of 100 submits (decisions, versions) within 200 ms, memory and open files flat.",
        ("-m", "soak.load", "--reviewers", "50", "--minutes", "10"),
    ),
    Trial(
        "fuzz",
        "Bad input",
        "Spoiled files and texts at every door through which something comes in. What holds: an answer or a "
        "refusal in one sentence, in seconds, with bounded memory and nothing left behind.",
        ("-m", "soak.fuzz", "--minutes", "10"),
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=[t.name for t in TRIALS], help="try only these again")
    only = parser.parse_args().only
    held = True
    for trial in TRIALS:
        if only is None or trial.name in only:
            print(f"{trial.title} ...", file=sys.stderr, flush=True)
            status, text = tried(trial)
            held = held and status == 0
            write({**kept(), trial.title: text})
    return 0 if held else 1


def tried(trial: Trial) -> tuple[int, str]:
    """Run it; its exit status and its section."""
    done = subprocess.run(
        [sys.executable, *trial.command], stdout=subprocess.PIPE, text=True, cwd=ROOT, check=False
    )
    # The section has its heading already.
    printed = re.sub(r"\A## .*\n+", "", done.stdout).strip()
    head = f"{trial.about}\n\n    python {' '.join(trial.command)}\n\n{conditions()}"
    return done.returncode, f"{head}\n\n{printed or f'Failed with exit status {done.returncode}.'}"


if __name__ == "__main__":
    raise SystemExit(main())
