"""A process of scripted people: each signs in, works, and keeps a journal, until standard input is closed."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.soak.journal import Journal
from tests.soak.people import Coordinator, Habits, reviewer
from tests.soak.served import ROOT
from tests.soak.talking import Talking

Work = Callable[[asyncio.Event], Awaitable[None]]
PROGRESS_EVERY = 15.0
"""Seconds between two looks at the Progress tab of somebody who has it open and comes back to it."""


@dataclass
class Client:
    """Such a process, from outside."""

    url: str
    journals: Path
    password: str
    seed: int

    def start(self, people: Sequence[str], *more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.soak.client", "--url", self.url, "--journals", str(self.journals)]
        command += ["--password", self.password, "--seed", str(self.seed), "--people", *people, *more]
        return subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


async def look_at_progress(talking: Talking, rng: random.Random, stop: asyncio.Event) -> None:
    """What the Progress tab fetches each time it comes into view."""
    while not stop.is_set():
        await talking.asks("progress", "/api/progress")
        await talking.asks("agreement", "/api/progress/agreement")
        await asyncio.sleep(rng.uniform(0.5, 1.5) * PROGRESS_EVERY)


def work_of(talking: Talking, given: argparse.Namespace) -> Work:
    """What this person does, by the role the command line gave."""
    rng = random.Random(f"{given.seed} {talking.initials}")
    if given.role == "coordinator":
        rows = json.loads(given.rows.read_text(encoding="utf-8"))
        return Coordinator(talking, rows, rng).works
    if given.role == "progress":
        return lambda stop: look_at_progress(talking, rng, stop)
    habits = Habits((given.pause[0], given.pause[1]), given.looks, given.avoid, given.scores)
    return reviewer(talking, habits, given.seed).works


async def run(given: argparse.Namespace) -> None:
    """All of this process's people at once; says "at work" once all are signed in."""
    stop = asyncio.Event()
    asyncio.get_running_loop().run_in_executor(None, sys.stdin.read).add_done_callback(lambda _: stop.set())
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        everybody = []
        for initials in given.people:
            http = httpx.AsyncClient(base_url=given.url, timeout=60, trust_env=False)
            await stack.enter_async_context(http)
            journal = Journal(given.journals / f"{initials}.jsonl", initials)
            stack.callback(journal.close)
            talking = Talking(http, journal, initials)
            if await talking.sign_in(given.password):
                everybody.append(talking)
        print("at work", flush=True)
        for talking in everybody:
            group.create_task(_to_the_end(work_of(talking, given), talking, stop))


async def _to_the_end(work: Work, talking: Talking, stop: asyncio.Event) -> None:
    try:
        await work(stop)
    except Exception as error:
        # One script that fails would end the others' as well; the fault is told where the verdict is made.
        talking.journal.fault(f"the script stopped: {type(error).__name__}: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.client", description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--journals", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--password", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", nargs="+", required=True, metavar="INITIALS")
    parser.add_argument("--role", choices=("reviewer", "coordinator", "progress"), default="reviewer")
    parser.add_argument("--pause", type=float, nargs=2, default=(0.0, 0.05), metavar="SECONDS")
    parser.add_argument("--looks", action="store_true", help="fetch what the page paints as well")
    parser.add_argument("--scores", action="store_true", help="take part in open blind sessions")
    parser.add_argument("--avoid", type=int, nargs="*", default=(), metavar="ITEM")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="trajectories to import from")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
