"""The long trials in a few seconds each, with real processes; and what is wrong in a database is found."""

from __future__ import annotations

import argparse
import json
import random
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from reviewer.store import Store
from tests.benchmarks.results import ROOT
from tests.soak import journal as checking
from tests.soak import kills, load
from tests.soak import served as campaign
from tests.soak.journal import Journal, Journals
from tests.soak.kills import Trial
from tests.soak.served import Served
from tests.soak.talking import Unsent
from tests.support import cli
from tests.support.campaign import Desk

if TYPE_CHECKING:
    from tests.soak.typing_page import Typist


@pytest.fixture(autouse=True)
def forked_apps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the app for each start, instead of importing it again."""
    monkeypatch.setattr(campaign, "start_app", cli.start)


def test_what_was_acknowledged_outlives_kills(tmp_path: Path) -> None:
    given = argparse.Namespace(kills=5, clients=3, in_browser=0, items=120, seed=3)
    trial = kills.run(given, tmp_path / "trial")
    assert trial.faults == []
    assert trial.done >= 5
    assert (trial.lost, trial.doubled) == (0, 0)
    assert sum(journal.acknowledged for journal in trial.journals) > 10
    assert "Nothing was lost" in trial.as_markdown()
    assert f"| kills | {trial.done} |" in trial.result.read_text(encoding="utf-8")


@pytest.mark.long
def test_a_trial_that_is_stopped_tells_what_it_has(tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    more = ("--kills", "200", "--clients", "1", "--in-browser", "0", "--items", "40", "--db-dir", str(folder))
    command = [sys.executable, "-m", "tests.soak.kills", *more]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as trial:
        while not (folder / "result.md").exists():
            assert trial.poll() is None
            time.sleep(0.05)
        trial.terminate()
        told, _ = trial.communicate()
    assert trial.returncode == 1
    assert re.search(r"\| kills \| [1-9]", told)
    assert re.search(r"Stopped by hand after \d+ of 200 kills", told)
    assert "| faults | 0 |" in told


class Broken:
    """A page on which nothing works, which Chromium does not have on demand."""

    not_ready = ("chrome-error://chromewebdata/: no such page",)

    def type_during_a_kill(self, kill: Callable[[], None], restart: Callable[[], None], closed: bool) -> str:
        kill()
        raise RuntimeError("the browser is gone")


@pytest.mark.long
def test_what_one_round_meets_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    (folder / "journals").mkdir(parents=True)
    campaign.made(folder / "annotations.db", reviewers=1, items=2, scorers=1)
    served, journals = Served(folder / "annotations.db", folder / "app.log"), Journals(folder / "journals")
    trial = Trial(served, journals, random.Random(1), 3, folder / "result.md")
    try:
        trial.start()
        kills.kill_again_and_again(trial, cast("Typist", Broken()), in_browser=1)
    finally:
        served.kill()
    assert trial.faults == ["after 1 kills: RuntimeError: the browser is gone"]
    assert trial.done >= 3
    told = trial.result.read_text(encoding="utf-8")
    assert "| of these while typing | 1 |" in told
    assert "| of these all unsent text found | 0 |" in told
    assert "no such page" in told


@pytest.mark.long
def test_reviewers_at_once_meet_no_error_and_lose_nothing(tmp_path: Path) -> None:
    trial = load.run(tmp_path / "trial", reviewers=8, seconds=6, items=120, pause=(0.1, 0.4), every=0.5)
    assert trial.faults == []
    assert trial.submits()
    told = load.as_markdown(trial)
    assert f"| 8 | {trial.seconds / 60:.1f} |" in told
    assert "| progress |" in told


# ---- the reckoning itself


@pytest.fixture
def decided(tmp_path: Path) -> Callable[..., tuple[Path, Journals]]:
    """A database with one decision in it, and a journal that tells of it what the test says."""

    def make(key: str = "sent under this", **what: object) -> tuple[Path, Journals]:
        db, journals = tmp_path / "annotations.db", tmp_path / "journals"
        journals.mkdir()
        campaign.made(db, reviewers=1, items=2, scorers=1)
        said = {"item": 2, "verb": "keep", "comment": "keep RAA-1", "reason": "", "key": "sent under this"}
        with closing(Store.open(db)) as store:
            said["version"] = store.items.get(2).version.id
            Desk(store).decide("RAA", 2, "keep", key=said["key"], comment="keep RAA-1")
        journal = Journal(journals / "RAA.jsonl", "RAA")
        number = journal.begin("decide", {**said, "key": key, **what})
        journal.sent(number)
        journal.answered(number, {}, 1.0)
        journal.close()
        read = Journals(journals)
        read.read()
        return db, read

    return make


def test_a_decision_that_is_there_as_it_was_sent_is_in_order(decided: Callable[..., tuple[Path, Journals]]) -> None:
    assert checking.whole(*decided()).faults == []


def test_an_acknowledged_decision_that_is_not_there_is_lost(decided: Callable[..., tuple[Path, Journals]]) -> None:
    found = checking.held_against(*decided(key="another key"))
    assert found.lost == 1
    assert any(fault.startswith("lost: RAA's decide") for fault in found.faults)
    assert any("nobody sent the key sent under this" in fault for fault in found.faults)


def test_a_decision_that_says_something_else_is_told(decided: Callable[..., tuple[Path, Journals]]) -> None:
    (fault,) = checking.held_against(*decided(verb="reject")).faults
    assert fault.startswith("verb is 'keep', sent was 'reject'")


def test_words_that_stand_there_twice_are_doubled(decided: Callable[..., tuple[Path, Journals]]) -> None:
    db, journals = decided()
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute(
            "INSERT INTO decisions (key, item, version, person, round, verb, reason, comment, rules, at) "
            "SELECT 'again', item, version, person, round, verb, reason, comment, rules, at FROM decisions "
            "WHERE key = 'sent under this'"
        )
    found = checking.held_against(db, journals)
    assert found.doubled == 1
    # And the store itself tells that no entry of the log speaks of it.
    assert len(checking.whole(db, journals).faults) > len(found.faults)


def test_a_line_that_is_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    whole = json.dumps({"n": 1, "person": "RAA", "kind": "undo", "what": {"item": 1, "key": "k"}})
    path = tmp_path / "RAA.jsonl"
    path.write_text(whole + '\n{"n": 1, "se', encoding="utf-8")
    journals = Journals(tmp_path)
    journals.read()
    assert [journal.sent for journal in journals] == [0]
    with path.open("a", encoding="utf-8") as file:
        file.write('nt": 1}\n')
    journals.read()
    assert [journal.sent for journal in journals] == [1]


def test_unsent_text_is_what_was_typed_last_until_it_is_a_version() -> None:
    typed = Unsent().after("autosave", {"item": 4, "base": 7, "words": ("a", "")})
    later = typed.after("autosave", {"item": 4, "base": 9, "words": ("b", "")})
    assert later.expected(4) == (9, ("b", ""))
    assert later.after("version", {"item": 4, "base": 9, "words": ("c", "")}).expected(4) == (7, ("a", ""))
    refused = later.after("version", {"item": 4, "base": 7, "words": ("c", "")}, "version_moved")
    assert refused.expected(4) == (7, ("c", ""))
    assert typed.after("discard", {"item": 4, "base": 7}).expected(4) is None


def test_a_comment_is_unsent_until_its_version_is_decided() -> None:
    typed = Unsent().after("autosave", {"item": 4, "base": 7, "words": ("a", "looks right")})
    decided = {"item": 4, "version": 7, "texts": ("a",)}
    assert typed.after("decide", decided).expected(4) is None
    assert typed.after("decide", decided, "lease_lost").expected(4) == (7, ("a", "looks right"))
    assert typed.after("decide", {**decided, "texts": ("b",)}).expected(4) == (7, ("a", ""))
