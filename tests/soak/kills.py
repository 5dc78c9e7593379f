"""Kill the app (SIGKILL) at random moments while people work: every acknowledged action is stored exactly once.

    python -m tests.soak.kills [--kills 200] [--clients 4] [--in-browser 10] [--seed 1] [--db-dir FOLDER]

Scripted reviewers, a coordinator and sometimes a person in Chromium; after each kill the database is compared with
their journals. Prints Markdown, also after Ctrl C; ``result.md`` next to the database has the result so far.
Exit status 1 after a fault or a stop: database and journals are then kept. A power cut is not tested.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.results import Block, Results, command_line, markdown
from tests.soak import journal
from tests.soak import served as campaign
from tests.soak.journal import Journals
from tests.soak.people import ClientProcesses
from tests.soak.served import DidNotStart, Served

if TYPE_CHECKING:
    from tests.soak.typing_page import Typist

MOMENTS = {"at work": 7, "at its first answer": 1, "while starting": 2}
"""When the app is killed, and how many times out of ten."""
MOST_LISTED = 20
"""Number of sentences per list in the result."""


@dataclass
class Trial:
    """The app, the journals, and the results so far.

    :param planned: number of kills
    :param result: file with ``as_markdown()`` after the last kill
    :param rounds: kills while a person types in a page; ``found``: in how many of them all text was there
    :param not_ready: pages that had to be opened again because typing could not begin
    """

    served: Served
    journals: Journals
    rng: random.Random
    planned: int
    result: Path
    faults: list[str] = field(default_factory=list)
    lost: int = 0
    doubled: int = 0
    kills: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*MOMENTS, "while typing"), 0))
    starts: list[float] = field(default_factory=list)
    rounds: int = 0
    found: int = 0
    not_ready: list[str] = field(default_factory=list)
    stopped: bool = False

    @property
    def done(self) -> int:
        return sum(self.kills.values())

    def start(self) -> None:
        """Start the app by the same command; check the database of the killed one meanwhile."""
        begun = time.monotonic()
        copy = journal.copied(self.served.db, self.journals.folder.parent / "after-the-kill")
        self.served.start()
        starting = time.monotonic()
        self.journals.read()
        self._take(journal.held_against(copy, self.journals))
        if self.starts and self.rng.random() < MOMENTS["while starting"] / sum(MOMENTS.values()):
            time.sleep(max(0.0, self.rng.uniform(0, self.starts[-1]) - (time.monotonic() - starting)))
            self.killed("while starting")
            return self.start()
        self.served.answers()
        self.starts.append(time.monotonic() - begun)
        return None

    def killed(self, moment: str) -> None:
        if not self.served.running:
            self.faults.append(f"the app had ended by itself before it was killed {moment}")
        self.served.kill()
        self.kills[moment] += 1

    def type_during_a_kill(self, typist: Typist) -> None:
        """Kill the app while a person types in a page; every second time the page is closed meanwhile."""
        self.rounds += 1
        closed = self.rounds % 2 == 0
        try:
            missing = typist.type_during_a_kill(lambda: self.killed("while typing"), self.start, closed)
        finally:
            self.not_ready = typist.not_ready
        if missing:
            self.faults.append(missing)
        else:
            self.found += 1

    def keep_running(self) -> None:
        """Make sure that the app runs, and write the result so far."""
        if not self.served.running:
            self.start()
        self.result.write_text(self.as_markdown() + "\n", encoding="utf-8")

    def record_problem(self, problem: Exception) -> None:
        self.faults.append(f"after {self.done} kills: {type(problem).__name__}: {problem}")

    def finished(self) -> None:
        """Compare all journals with the whole database, after the app was stopped."""
        try:
            self.journals.read()
            self._take(journal.whole(self.served.db, self.journals))
        except Exception as problem:  # a database that cannot be checked is a fault too
            self.record_problem(problem)
        self.faults += self.journals.faults
        self.result.write_text(self.as_markdown() + "\n", encoding="utf-8")

    def _take(self, found: journal.Found) -> None:
        # The same fault is found again after each kill.
        self.faults += [fault for fault in found.faults if fault not in self.faults]
        self.lost, self.doubled = max(self.lost, found.lost), max(self.doubled, found.doubled)

    # ---- results

    def as_markdown(self) -> str:
        """The result as Markdown."""
        return markdown(list(self.blocks()))

    def blocks(self) -> Iterator[Block]:
        """The result: tables and text."""
        yield {"columns": {"": "", "number": ""}, "rows": [list(row) for row in self._counts()]}
        numbers = {"acknowledged": "{:,}", "sent again": "{}", "refused by the rules": "{}"}
        yield {"columns": {"action": "", **numbers}, "rows": [list(row) for row in journal.counted(self.journals)]}
        for what, listed in (("pages had to be opened again", self.not_ready), ("faults", self.faults)):
            if lines := _listed(what, listed):
                yield {"text": "\n".join(lines).strip()}
        if self.done < self.planned:
            why = "Stopped by hand" if self.stopped else "Ended"
            yield {"text": f"**{why} after {self.done} of {self.planned} kills.**"}
        if not self.faults:
            yield {"text": "Nothing was lost, nothing doubled, and every check held."}

    def _counts(self) -> list[tuple[str, str]]:
        of_kind = list(journal.counted(self.journals))
        return [
            ("kills", str(self.done)),
            *((f"of these {moment}", str(times)) for moment, times in self.kills.items()),
            ("restarts that were let answer", str(len(self.starts))),
            ("longest of them, s", f"{max(self.starts, default=0):.1f}"),
            ("actions acknowledged", f"{sum(row[1] for row in of_kind):,}"),
            ("actions sent again, their answer being lost", f"{sum(row[2] for row in of_kind):,}"),
            ("acknowledged actions lost", str(self.lost)),
            ("actions doubled", str(self.doubled)),
            ("times a person typed in Chromium", str(self.rounds)),
            ("of these all unsent text found", str(self.found)),
            ("pages that had to be opened again", str(len(self.not_ready))),
            ("faults", str(len(self.faults))),
        ]


def _listed(what: str, sentences: list[str]) -> list[str]:
    if not sentences:
        return []
    return ["", f"**{len(sentences)} {what}:**", "", *(f"- {sentence}" for sentence in sentences[:MOST_LISTED])]


if TYPE_CHECKING:
    from tests.soak.typing_page import Typist

AT_WORK = (0.1, 4.0)
"""Seconds from the first answer to a kill at work, from and to. Gradio, which coordinators use, is imported after
the first answer."""
ENOUGH = 20
"""Number of faults after which the trial ends."""


@contextmanager
def people_at_work(served: Served, folder: Path, clients: int, seed: int, avoid: int) -> Iterator[None]:
    """Run the clients' processes; at the end each finishes its current item."""
    processes = ClientProcesses(served.url, folder / "journals", campaign.PASSWORD, seed)
    rows = folder / "rows.json"
    rows.write_text(json.dumps(campaign.rows_to_import()), encoding="utf-8")
    for number in range(clients):
        processes.start([campaign.initials_of(number)], "--scores", "--avoid", str(avoid))
    processes.start([campaign.COORDINATOR], "--role", "coordinator", "--rows", str(rows))
    with processes.at_work():
        yield


def kill_again_and_again(trial: Trial, typist: Typist | None, in_browser: int) -> None:
    """:raises DidNotStart: the app does not start by itself, so that there is nothing more to kill"""
    while trial.done < trial.planned and len(trial.faults) < ENOUGH:
        try:
            if typist is not None and trial.rounds < in_browser * (trial.done + 1) / trial.planned:
                trial.type_during_a_kill(typist)
            else:
                _kill_at_work(trial)
        except DidNotStart:
            raise
        except Exception as problem:  # report the problem of one round and continue with the next
            trial.record_problem(problem)
        trial.keep_running()
        if sys.stderr.isatty():
            print(f"\r{trial.done} of {trial.planned} kills", end="", file=sys.stderr, flush=True)


def _kill_at_work(trial: Trial) -> None:
    soon = trial.rng.random() < MOMENTS["at its first answer"] / sum(MOMENTS.values())
    if not soon:
        time.sleep(trial.rng.uniform(*AT_WORK))
    trial.killed("at its first answer" if soon else "at work")
    trial.start()


def run(given: argparse.Namespace, folder: Path) -> Trial:
    """Run the whole trial in a new folder; the returned results are complete up to its end, also after an error."""
    (folder / "journals").mkdir(parents=True)
    db = folder / "annotations.db"
    typists_item = campaign.made(db, given.clients, given.items, scorers=given.clients)
    served, journals = Served(db, folder / "app.log"), Journals(folder / "journals")
    trial = Trial(served, journals, random.Random(given.seed), given.kills, folder / "result.md")
    try:
        served.start()
        served.answers()
        with ExitStack() as stack:
            typist = stack.enter_context(_typist(trial, typists_item)) if given.in_browser else None
            stack.enter_context(people_at_work(served, folder, given.clients, given.seed, typists_item))
            kill_again_and_again(trial, typist, given.in_browser)
        served.stop()
    except KeyboardInterrupt:
        trial.stopped = True
    except Exception as problem:  # as in a round: the reason is one of the faults, and the results are kept
        trial.record_problem(problem)
    finally:
        served.kill()
    trial.finished()
    return trial


def _typist(trial: Trial, item: int) -> Typist:
    from tests.soak.typing_page import Typist  # imports Playwright, which only this needs

    return Typist(trial.served.url, campaign.TYPIST, campaign.PASSWORD, item, trial.rng)


def main(argv: Sequence[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--clients", type=int, default=4, help="processes, each one person (4)")
    parser.add_argument("--in-browser", type=int, default=10, help="kills while a person types in Chromium (10)")
    parser.add_argument("--items", type=int, default=2000, help="items to work on (2000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--db-dir", type=Path, metavar="FOLDER", help="a new folder for database and journals")
    given = parser.parse_args(argv)
    folder = given.db_dir or Path(tempfile.mkdtemp(prefix="spec-o3-kills-"))
    # A shell makes background processes ignore Ctrl C.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    print(f"The result so far is in {folder / 'result.md'}.", file=sys.stderr, flush=True)
    trial = run(given, folder)
    results = Results()
    for block in trial.blocks():
        results.add(block)
    if trial.faults or trial.stopped:
        print(f"\nDatabase, journals and the app's log are kept in {folder}.", file=sys.stderr)
        return 1
    if given.db_dir is None:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
