"""Kill (SIGKILL) processes in bulk actions at random moments: the file has all of an action or nothing of it.

    python -m tests.soak.bulk_kills [--kills 200] [--items 5000] [--seed 1] [--folder FOLDER]

Rejections, assignments and changes of batch of all items, and their undo. Every action that is found complete is taken
back by one undo, which is killed as well, and every item has to be as before. Prints Markdown; exit status 1 after a
fault.
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from reviewer.store import Store
from tests.benchmarks.results import Results, command_line
from tests.support import bulk_kill

UNDO = "undo"
KINDS = tuple(bulk_kill.ACTIONS)
AT_THE_END = 0.5
"""Share of the kills around the commit; the others are spread evenly over the action."""
STEP = 1.15
"""Factor by which the expected time of the commit is corrected after each kill around it."""
LINGERS = 60.0
"""Seconds for which a process stays after its action, so that it can be killed after the commit."""
VERIFIED_EVERY = 20


class Forked:
    """A process of its own that does an action, forked so that it need not import anything.

    :ivar out: what it prints: a line before and a line after the action
    """

    def __init__(self, path: Path, kind: str, lingers: float = 0.0) -> None:
        read, write = os.pipe()
        self.number = os.fork()
        if self.number == 0:
            status = 1
            try:
                os.dup2(write, 1)
                sys.stdout = os.fdopen(1, "w")
                bulk_kill.do(path, kind, None)
                time.sleep(lingers)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(write)
        self.out = os.fdopen(read)

    def ended(self) -> int:
        """Wait for its end; return its exit status, negative after a signal."""
        self.out.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])


@dataclass
class Trial:
    """A campaign, its state before the present action, and the results so far.

    :param seconds: of actions that were not killed, by kind
    :param commit_at: seconds after which the commit is expected, by kind
    :param nothing: kills after which nothing of the action was there; ``all``: all of it
    :param waiting: the action that waits for its undo
    """

    path: Path
    rng: random.Random
    original: dict[str, object]
    seconds: dict[str, float] = field(default_factory=dict)
    commit_at: dict[str, float] = field(default_factory=dict)
    nothing: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)
    waiting: str = ""
    undone: int = 0
    stopped: bool = False
    faults: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        return self.nothing.total() + self.all.total()

    def finish(self) -> None:
        """Do the next action without a kill: the undo of the one that waits, or else one of every kind in turn."""
        kind = UNDO if self.waiting else KINDS[len(self.seconds) // 2 % len(KINDS)]
        process = Forked(self.path, kind)
        process.out.readline()
        start = time.monotonic()
        process.out.readline()
        self.seconds.setdefault(self.name(kind), time.monotonic() - start)
        self.commit_at[self.name(kind)] = time.monotonic() - start
        if status := process.ended():
            self.faults.append(f"{kind}: the process ended with status {status}")
        self.written(kind)

    def name(self, kind: str) -> str:
        return f"{UNDO} of {self.waiting}" if kind == UNDO else kind

    def kill(self) -> None:
        """Kill the process of the next action at a random moment."""
        kind = UNDO if self.waiting else self.rng.choice(KINDS)
        name = self.name(kind)
        before, facts = bulk_kill.contents(self.path), bulk_kill.facts(self.path)
        long, late = self.commit_at[name], self.rng.random() < AT_THE_END
        process = Forked(self.path, kind, LINGERS)
        process.out.readline()
        try:
            time.sleep(long * (self.rng.uniform(0.9, 1.1) if late else self.rng.random()))
        finally:
            os.kill(process.number, signal.SIGKILL)
            status = process.ended()
        there = bulk_kill.facts(self.path) != facts
        if status != -signal.SIGKILL:
            self.faults.append(f"{name}: the process ended with status {status} before it was killed")
        (self.all if there else self.nothing)[name] += 1
        if late or there:
            self.commit_at[name] *= 1 / STEP if there else STEP
        if there and not self.complete(kind, facts):
            self.faults.append(f"{name}, killed: a part of it was written: {facts}, {bulk_kill.facts(self.path)}")
        elif there:
            self.written(kind)
        elif bulk_kill.contents(self.path) != before:
            self.faults.append(f"{name}, killed: no fact was written, but derived rows differ")
        if self.kills % VERIFIED_EVERY == 0:
            self.verify()

    def written(self, kind: str) -> None:
        if kind != UNDO:
            self.waiting = kind
            return
        self.waiting = ""
        self.undone += 1
        if bulk_kill.contents(self.path) != self.original:
            self.faults.append("after an undo: items, assignments or tallies are not as before the action")

    def complete(self, kind: str, before: tuple[int, ...]) -> bool:
        """Return whether every fact of an action was written, with one log entry."""
        actions, decisions, named, assignments, batches, log = (
            now - then for now, then in zip(bulk_kill.facts(self.path), before, strict=True)
        )
        with Store.open(self.path) as store:
            last, *_ = done = store.bulk.actions(2)
        whole = done[-1].kind if kind == UNDO else kind
        expected = {
            "reject": (last.items, last.items, 0, 0),
            "assign": (0, 0, 2 * last.items, 0),
            "batch": (0, 0, 0, last.items),
        }[whole]
        return (actions, log) == (1, 1) and (decisions, named, assignments, batches) == expected and last.kind == kind

    def verify(self) -> None:
        with Store.open(self.path) as store:
            self.faults += store.upkeep.verify()


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also in the background of a shell
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        trial = run(folder / "annotations.db", arguments.kills, arguments.items, arguments.seed)
    report(trial, arguments.items)
    return 1 if trial.faults or trial.stopped else 0


def run(path: Path, kills: int, items: int, seed: int) -> Trial:
    bulk_kill.make(path, items)
    trial = Trial(path, random.Random(seed), bulk_kill.contents(path))
    while len(trial.seconds) < 2 * len(KINDS):
        trial.finish()
    try:
        while trial.kills < kills and not trial.faults:
            trial.kill()
    except KeyboardInterrupt:
        trial.stopped = True
    if trial.waiting and not (trial.faults or trial.stopped):
        trial.finish()
    trial.verify()
    return trial


def report(trial: Trial, items: int) -> None:
    results = Results()
    stopped = " Stopped by hand." if trial.stopped else ""
    results.text(f"{items:,} items, {trial.kills} kills of processes at work.{stopped}")
    table = results.table(
        {"action": "", "kills": "{}", "nothing written": "{}", "all written": "{}", "seconds": "{:.1f}"}
    )
    for name, seconds in trial.seconds.items():
        nothing, whole = trial.nothing[name], trial.all[name]
        table.row(name, nothing + whole, nothing, whole, seconds)
    table.row("all", trial.kills, trial.nothing.total(), trial.all.total(), statistics.fmean(trial.seconds.values()))
    as_before = "After each of them every item was as before the action." if not trial.faults else ""
    results.text(f"{trial.undone} undos. {as_before}")
    results.text(f"{len(trial.faults)} faults.")
    for fault in trial.faults:
        results.text(f"- {fault}")


if __name__ == "__main__":
    raise SystemExit(main())
