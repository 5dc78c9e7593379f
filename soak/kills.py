"""SIGKILL of the app at random moments while people work: what was acknowledged is there, once.

    python -m soak.kills [--kills 200] [--clients 4] [--in-browser 10] [--seed 1] [--db-dir FOLDER]

The real app in a process group of its own, a team with passwords, each client a process that is signed in
and keeps a journal: leases, unsent text, versions, decisions and taking them back, marks, verdicts, blind
scores, each submit under a key that is sent again when its answer was lost; and a coordinator who changes
rules, adds people and imports. The app is killed at work, at its first answer, and while it starts, and
started again by the same command and nothing else. After each kill the files, as they lie there, are held
against the journals; at the end all of it is, with the store's own checks. At some of the kills somebody
types in a page in Chromium.

SIGKILL leaves the system's cache of the disk alone; what a power cut does is not tried here. Markdown; exit
status 1 if anything did not hold, and then the database and the journals are kept.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from soak import campaign, checking
from soak.client import Client
from soak.journal import Journals
from soak.served import DidNotStart, Served

if TYPE_CHECKING:
    from soak.typing_page import Typist

AT_WORK = (0.1, 1.5)
"""Seconds from the first answer to a kill at work, from and to."""
MOMENTS = {"at work": 7, "at its first answer": 1, "while starting": 2}
ENOUGH = 20
"""Faults after which the trial ends."""
TO_FINISH = 180.0
"""Seconds that clients have at the end to finish what they began."""


@dataclass
class Trial:
    """One run: the app, the journals, and what came out so far."""

    served: Served
    journals: Journals
    rng: random.Random
    faults: list[str] = field(default_factory=list)
    lost: int = 0
    doubled: int = 0
    kills: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*MOMENTS, "while typing"), 0))
    starts: list[float] = field(default_factory=list)

    def start(self) -> None:
        """By the same command, without help; what was killed is checked while it starts."""
        begun = time.monotonic()
        copy = checking.copied(self.served.db, self.journals.folder.parent / "after-the-kill")
        self.served.start()
        starting = time.monotonic()
        self._check(copy)
        if self.starts and self.rng.random() < MOMENTS["while starting"] / sum(MOMENTS.values()):
            time.sleep(max(0.0, self.rng.uniform(0, self.starts[-1]) - (time.monotonic() - starting)))
            self.killed("while starting")
            return self.start()
        self.served.answers()
        self.starts.append(time.monotonic() - begun)
        return None

    def killed(self, moment: str) -> None:
        self.served.kill()
        self.kills[moment] += 1

    def _check(self, copy: Path) -> None:
        self.journals.read()
        self._take(checking.held_against(copy, self.journals))

    def _take(self, found: checking.Found) -> None:
        # The same fault is found again after each kill.
        self.faults += [fault for fault in found.faults if fault not in self.faults]
        self.lost, self.doubled = max(self.lost, found.lost), max(self.doubled, found.doubled)

    def finished(self) -> None:
        self.journals.read()
        self._take(checking.whole(self.served.db, self.journals))
        self.faults += self.journals.faults

    @property
    def done(self) -> int:
        return sum(self.kills.values())


@contextmanager
def people_at_work(served: Served, folder: Path, clients: int, seed: int, avoid: int) -> Iterator[None]:
    """The clients' processes; at the end each is asked to finish what it began."""
    client = Client(served.url, folder / "journals", campaign.PASSWORD, seed)
    rows = folder / "rows.json"
    rows.write_text(json.dumps(campaign.rows_to_import()), encoding="utf-8")
    running = []
    try:
        for number in range(clients):
            more = ("--scores", "--avoid", str(avoid))
            running.append(client.start([campaign.initials_of(number)], *more))
        running.append(client.start([campaign.COORDINATOR], "--role", "coordinator", "--rows", str(rows)))
        for process in running:
            assert process.stdout is not None
            if process.stdout.readline() != "at work\n":
                raise DidNotStart("a client could not sign in")
        yield
        _finish(running)
    finally:
        for process in running:
            process.kill()
            process.wait()


def _finish(running: Sequence[subprocess.Popen[str]]) -> None:
    for process in running:
        assert process.stdin is not None
        process.stdin.close()
    for process in running:
        status = process.wait(timeout=TO_FINISH)
        if status:
            raise DidNotStart(f"a client ended with status {status}")


def kill_again_and_again(trial: Trial, kills: int, typist: Typist | None, in_browser: int) -> None:
    while trial.done < kills and len(trial.faults) < ENOUGH:
        typed = trial.kills["while typing"]
        if typist is not None and typed < in_browser * (trial.done + 1) / kills:
            closed = typed % 2 == 1
            missing = typist.through_a_kill(lambda: trial.killed("while typing"), trial.start, closed)
            trial.faults += [missing] if missing else []
            continue
        soon = trial.rng.random() < MOMENTS["at its first answer"] / sum(MOMENTS.values())
        if not soon:
            time.sleep(trial.rng.uniform(*AT_WORK))
        trial.killed("at its first answer" if soon else "at work")
        trial.start()
        if sys.stderr.isatty():
            print(f"\r{trial.done} of {kills} kills", end="", file=sys.stderr, flush=True)


def run(given: argparse.Namespace, folder: Path) -> Trial:
    (folder / "journals").mkdir(parents=True)
    db = folder / "annotations.db"
    typists_item = campaign.made(db, given.clients, given.items, scorers=given.clients)
    served = Served(db, folder / "app.log")
    trial = Trial(served, Journals(folder / "journals"), random.Random(given.seed))
    try:
        served.start()
        served.answers()
        with ExitStack() as stack:
            typist = stack.enter_context(_typist(trial, typists_item)) if given.in_browser else None
            stack.enter_context(people_at_work(served, folder, given.clients, given.seed, typists_item))
            kill_again_and_again(trial, given.kills, typist, given.in_browser)
        served.stop()
        trial.finished()
    except (DidNotStart, subprocess.TimeoutExpired) as problem:
        trial.faults.append(str(problem))
    finally:
        served.kill()
    return trial


def _typist(trial: Trial, item: int) -> Typist:
    from soak.typing_page import Typist  # the browser, for who asks for it

    return Typist(trial.served.url, campaign.TYPIST, campaign.PASSWORD, item, trial.rng)


def told(trial: Trial) -> str:
    """The result as Markdown."""
    of_kind = list(checking.counted(trial.journals))
    lines = [
        "| kills | restarts | actions acknowledged | sent again | lost | doubled | longest restart, s |",
        "|---:|---:|---:|---:|---:|---:|---:|",
        f"| {trial.done} | {len(trial.starts)} | {sum(row[1] for row in of_kind):,} | "
        f"{sum(row[2] for row in of_kind)} | {trial.lost} | {trial.doubled} | "
        f"{max(trial.starts, default=0):.1f} |",
        "",
        "Killed " + ", ".join(f"{moment}: {times}" for moment, times in trial.kills.items()) + ".",
        "",
        "| action | acknowledged | sent again | refused by the rules |",
        "|---|---:|---:|---:|",
        *(f"| {kind} | {heard:,} | {again} | {refused} |" for kind, heard, again, refused in of_kind),
    ]
    if trial.faults:
        lines += [
            "",
            f"**{len(trial.faults)} faults:**",
            "",
            *(f"- {fault}" for fault in trial.faults[:ENOUGH]),
        ]
    else:
        lines += ["", "Nothing was lost, nothing doubled, and every check held."]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m soak.kills",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--clients", type=int, default=4, help="processes, each one person (4)")
    parser.add_argument(
        "--in-browser", type=int, default=10, help="kills while somebody types in Chromium (10)"
    )
    parser.add_argument("--items", type=int, default=2000, help="items to work on (2000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--db-dir", type=Path, metavar="FOLDER", help="a new folder for database and journals"
    )
    given = parser.parse_args(argv)
    folder = given.db_dir or Path(tempfile.mkdtemp(prefix="spec-o3-kills-"))
    trial = run(given, folder)
    print(told(trial))
    if trial.faults:
        print(f"\nDatabase, journals and the app's log are kept in {folder}.")
        return 1
    if given.db_dir is None:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
