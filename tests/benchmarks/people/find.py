"""Search of texts and lists in a campaign of 100,000 traces; Markdown.

    python -m tests.benchmarks.people.find [--items 100000] [--db-dir FOLDER]

Median and 95th percentile of what the server does for a page of results (rows, total and snippets), for the next items
and for the place of an item, and the processor time of the median call, which other work on the machine does not
change. Then what the index costs: processor time per trace, and bytes per trace.

Four traces in five are English: 400 words of a vocabulary of 20,000 in which the word of rank r has a share of about
1/r, and twenty wavelengths. The others are Chinese: 500 characters of 3,000. 30,000 items have decisions with comments.
40,000 items have 60,000 comments: half of the second ones are replies, a third of the threads are resolved, and one
comment in eight mentions a person. They are filtered by for the person who did most: AB decided on 26,000 items.
"""

from __future__ import annotations

import itertools
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from agent.trajectory import Answer, Think, Trajectory, Zoom
from reviewer.rules.workflow import round_of
from reviewer.store import Discussed, Draft, QueueFilter, Store, items
from reviewer.store.sqlite.database import Transaction
from reviewer.store.sqlite.texts import COMMENT, fill_texts, index_remark
from reviewer.store.team.mentions import fill_mentions
from reviewer.web.visibility import VisibleItems
from tests.benchmarks.people.queries import timed
from tests.benchmarks.results import Results, Table, command_line
from tests.benchmarks.store import (
    DECISIONS,
    SPECTRA,
    add_items,
    append_decision,
    invented_spectra,
    kept_database,
    trajectory,
)

DECIDED = 30_000
"""Items with decisions, each with a comment."""
DISCUSSED = 0.4
"""Share of the items that have comments; half of these have two."""
ADDED = 5000
"""Drafts that are added with and without the index."""
COMMON = "the flux rises blueward of Balmer jump while emission near is broad and double peaked".split()  # noqa: SIM905
SENTENCE = "emission near the Balmer jump is broad"
CHINESE = "发射线很宽并且有双峰"
RARE, RARE_CHINESE = "quasiperiodic", "有双峰和强的蓝端"
"""In the traces of one item in 5,000."""
REMARKED, RARELY_REMARKED = "blend", "underexposed"
"""In one comment in four, and in one in 10,000; in no trace."""
PEOPLE = ("AB", "CD", "EF", "GH")


class Writer:
    """Writes traces with words as frequent as in a language."""

    def __init__(self, seed: int) -> None:
        self._rng = rng = np.random.default_rng(seed)
        syllables = [consonant + vowel for consonant in "bcdfglmnprstv" for vowel in "aeiou"]
        made = dict.fromkeys("".join(rng.choice(syllables, size=int(rng.integers(2, 5)))) for _ in range(40_000))
        self._words = np.array([*COMMON, *list(made)[:20_000]])
        self._characters = np.array([chr(code) for code in rng.permutation(np.arange(0x4E00, 0x4E00 + 3000))])

    def _some(self, vocabulary: np.ndarray, number: int) -> list[str]:
        shares = np.cumsum(1 / np.arange(1, len(vocabulary) + 1))
        return list(vocabulary[np.searchsorted(shares, self._rng.random(number) * shares[-1])])

    def english(self, words: int) -> str:
        places = [f"{place:.1f} Å" for place in self._rng.uniform(3600, 9200, words // 20)]
        return " ".join([*self._some(self._words, words), *places, SENTENCE])

    def chinese(self, characters: int) -> str:
        return "".join(self._some(self._characters, characters)) + CHINESE

    def rewrite(self, number: int, old: Trajectory) -> Trajectory:
        """Return a trajectory with other texts. :param number: of the item, which decides on the language"""
        write = self.chinese if number % 5 == 0 else self.english
        rare = (RARE_CHINESE if number % 5 == 0 else f" {RARE}") if number % 5000 < 2 else ""

        def step(old: Think | Zoom | Answer) -> Think | Zoom | Answer:
            if isinstance(old, Think):
                return replace(old, text=write(100))
            return replace(old, explanation=write(60) + rare) if isinstance(old, Answer) else old

        return replace(old, steps=tuple(step(one) for one in old.steps))


def campaign(number: int, folder: Path) -> Path:
    """Return a database of so many items in ``folder``; make it if it does not exist."""
    return kept_database(folder / f"find-comments-{number}.db", lambda path: fill(path, number))


def fill(path: Path, number: int) -> None:
    rng, writer = random.Random(1), Writer(1)
    with Store.open(path) as store:
        add_items(store, 1, rng)
        store.items.add_all(drafts(number - 1, rng, writer))
        with store.database.write() as db:
            for item in range(1, min(number, DECIDED) + 1):
                for person, verb in rng.choice(DECISIONS):
                    comment = writer.english(20) if item % 5 else writer.chinese(20)
                    append_decision(store, db, item, person, verb, comment)
            db.execute("INSERT INTO assigned SELECT iif(id % 7, 'AB', 'CD'), id FROM items WHERE id % 25 = 0")
            add_comments(db, number, rng, writer)


def add_comments(db: Transaction, number: int, rng: random.Random, writer: Writer) -> None:
    """Add comments, in an order that has nothing to do with that of the items."""
    standings = {item: rest for item, *rest in db.execute("SELECT item, version, state FROM standings")}
    items = rng.sample(range(1, number + 1), round(DISCUSSED * number))
    items += rng.sample(items, len(items) // 2)
    rng.shuffle(items)
    ids = itertools.count(1)
    first: dict[int, int] = {}

    def add(item: int, thread: int | None, kind: str, text: str) -> int:
        comment, (version, state), person = next(ids), standings[item], rng.choice(PEOPLE)
        written = (version, "", thread, kind, round_of(state) or "", person, "", text, "2026-11-26T12:00:00.000+00:00")
        db.execute(f"INSERT INTO comments VALUES ({', '.join('?' * 12)})", (comment, f"{comment}", item, *written))
        index_remark(db, COMMENT, comment, text)
        return comment

    for n, item in enumerate(items):
        words = [writer.english(20)]
        words += [f"@{rng.choice(PEOPLE)}"] * (rng.random() < 1 / 8)
        words += [REMARKED] * (rng.random() < 1 / 4) + [RARELY_REMARKED] * (n % 10_000 < 2)
        thread = first.get(item) if rng.random() < 1 / 2 else None
        comment = add(item, thread, "comment", " ".join(words))
        first.setdefault(item, comment)
        if thread is None and rng.random() < 1 / 3:
            add(item, comment, "resolved", "")
            if rng.random() < 1 / 10:
                add(item, comment, "reopened", "")
    fill_mentions(db)


def drafts(number: int, rng: random.Random, writer: Writer) -> Iterator[Draft]:
    spectra = invented_spectra(np.random.default_rng(1))
    for item in range(number):
        spectrum = spectra[item % SPECTRA]
        made = replace(trajectory(rng, spectrum), spectrum_name=f"{item:06d}-{spectrum.name}")
        yield Draft(writer.rewrite(item, made), spectrum, batch=f"batch {item % 5}", key=f"find {item}")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--items", type=int, default=100_000, metavar="N")
    parser.add_argument("--db-dir", type=Path, metavar="FOLDER", help="keep the campaign there")
    chosen = parser.parse_args()
    results = Results()
    numbers = {"median, ms": "{:.1f}", "95 %, ms": "{:.1f}", "CPU, ms": "{:.1f}"}
    table = results.table({"items": "{:,}", "what": "", **numbers})
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.db_dir or Path(temporary)
        with Store.open(campaign(chosen.items, folder)) as store:
            searches(table, store, chosen.items)
            costs(results, store, folder)


SEARCHES = {
    "a rare word": QueueFilter(words=RARE),
    "a word of nearly every trace": QueueFilter(words="balmer"),
    "three such words": QueueFilter(words="balmer emission broad"),
    "a phrase of nearly every trace": QueueFilter(words=f'"{SENTENCE}"'),
    "a phrase of such words, in no trace": QueueFilter(words='"broad flux double near"'),
    "the beginning of a word": QueueFilter(words="bal*"),
    "the beginnings of three words": QueueFilter(words="bal* tir* dou*"),
    "a wavelength": QueueFilter(words="656*"),
    "Chinese, in every Chinese trace": QueueFilter(words=CHINESE[:5]),
    "Chinese, rare": QueueFilter(words=RARE_CHINESE),
    "Chinese, one character": QueueFilter(words="宽"),
    "a common word without another": QueueFilter(words="balmer -double"),
    "a common word, one state": QueueFilter(words="balmer", states=("approved",)),
    "a common word, S/N above 38": QueueFilter(words="balmer", snr_min=38.0),
    "a common word, mine": QueueFilter(words="balmer", mine=True),
    "a common word, assigned": QueueFilter(words="balmer", assigned="CD"),
    "a common word and a common name": QueueFilter(words="balmer", text="spec"),
    "a common word, own verdict first": QueueFilter(words="balmer", verdict_first=None),
    "assigned": QueueFilter(assigned="AB"),
    "assigned to nobody": QueueFilter(assigned="nobody"),
    "no search": QueueFilter(),
    "a word of comments": QueueFilter(words=REMARKED),
    "a rare word of comments": QueueFilter(words=RARELY_REMARKED),
}
OF_COMMENTS: dict[str, Discussed] = {"open threads": "open", "unread": "unread", "mentions me": "mentioned"}
BESIDES = {
    "": QueueFilter(),
    ", a common word": QueueFilter(words="balmer"),
    ", a word of comments": QueueFilter(words=REMARKED),
    ", a common name": QueueFilter(text="spec"),
    ", mine": QueueFilter(mine=True),
}
"""What the filter by comments is combined with."""


def searches(table: Table, store: Store, number: int) -> None:
    rng = random.Random(1)

    def at() -> int:
        return rng.randrange(number)

    def measure(name: str, visible: VisibleItems, wanted: QueueFilter) -> None:
        timed(table, number, f"page: {name}", lambda: visible.matching_rows(wanted, rng.choice((None, at())), 40))
        if wanted.discussed is None:
            timed(table, number, f"next three: {name}", lambda: visible.neighbours(at(), wanted, 3))
            timed(table, number, f"place: {name}", lambda: visible.position(at(), wanted))
        else:
            timed(table, number, f"next to do: {name}", lambda: visible.next_undone(at(), wanted))
            timed(table, number, f"first to do: {name}", lambda: visible.first_undone(wanted))

    person, who_did_most = store.accounts.person("GH"), store.accounts.person("AB")
    for name, wanted in SEARCHES.items():
        measure(name, VisibleItems(store, person, verdict_first=name.endswith("verdict first")), wanted)
    for name, discussed in OF_COMMENTS.items():
        for besides, wanted in BESIDES.items():
            measure(f"{name}{besides}", VisibleItems(store, who_did_most), replace(wanted, discussed=discussed))
    timed(table, number, "list of unread comments", lambda: store.comments.unread(who_did_most.initials))


def costs(results: Results, store: Store, folder: Path) -> None:
    """Report what the index costs: when drafts are added, in the file, and in an upgrade."""
    seconds, sizes = {}, {}
    for which in ("with", "without"):
        path = folder / f"added-{which}.db"
        path.unlink(missing_ok=True)
        some = list(drafts(ADDED, random.Random(1), Writer(1)))
        with Store.open(path) as new, ExitStack() as patched:
            if which == "without":
                patched.enter_context(patch.object(items, "index_trace", lambda *_: None))
            before = time.process_time()
            new.items.add_all(some)
            seconds[which] = time.process_time() - before
        sizes[which] = path.stat().st_size
        path.unlink()
    added = (seconds["with"] - seconds["without"]) / ADDED
    per_trace = (sizes["with"] - sizes["without"]) / ADDED
    results.text(
        f"Adding {ADDED:,} drafts takes {seconds['with']:.1f} s of processor time, {seconds['without']:.1f} s without "
        f"the index: {1e3 * added:.2f} ms per trace. The index adds {per_trace / 1024:.1f} KiB per trace to the file."
    )
    before = time.process_time()
    try:
        with store.database.write() as db:
            fill_texts(db)
            used = time.process_time() - before
            raise _RolledBack
    except _RolledBack:
        results.text(f"Filling the indexes again (an upgrade, `rebuild`): {used:.0f} s of processor time.")


class _RolledBack(Exception):
    pass


if __name__ == "__main__":
    main()
