"""``spec-o3 inspect`` as a person or a script runs it."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table

import app
from agent.batch.inspecting import Work
from agent.batch.journal import Journal, JournalError
from agent.batch.sources import files
from tests.support.bad_server import BadServer, Say, Status, answer, look

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """The current folder, with ``sky/star-0.csv`` to ``star-2.csv``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sky").mkdir()
    for n in range(3):
        a_file(tmp_path / "sky" / f"star-{n}.csv", 100.0 + n)
    return tmp_path


def a_file(path: Path, level: float) -> None:
    wavelength = np.linspace(3800.0, 9000.0, 900)
    flux = level + 80.0 * np.exp(-0.5 * ((wavelength - 6564.6) / 12.0) ** 2)
    Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(900, 0.04)}).write(path)


def inspect(*arguments: object) -> int:
    """``spec-o3 inspect --task cv --out r.jsonl ARGUMENTS`` in this process, in threads."""
    how = [] if "--policy" in arguments or "--processes" in arguments else ["--concurrency", "2"]
    return app.main(["inspect", "--task", "cv", "--out", "r.jsonl", *how, *map(str, arguments)])


def lines(path: str = "r.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def table(path: str = "c.csv") -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_folder_becomes_results_and_a_ranked_table(here, capsys):
    assert inspect("sky", "--table", "c.csv") == 0
    assert sorted(row["source"]["file"] for row in lines()) == [f"sky/star-{n}.csv" for n in range(3)]
    rows = table()
    assert sorted(row["file"] for row in rows) == [f"sky/star-{n}.csv" for n in range(3)]
    assert {row["verdict"] for row in rows} <= {"YES", "NO", "ASK"}
    told = capsys.readouterr().out
    assert told.startswith("3 spectra in r.jsonl: ")
    assert "now: 3 inspections in " in told
    assert "spectra/s" in told
    assert "table: c.csv" in told


def test_the_summary_is_json_if_asked_for(here, capsys):
    assert inspect("sky", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["spectra"] == told["yes"] + told["no"] + told["ask"] == 3
    assert told["this_run"]["inspected"] == 3
    assert told["this_run"]["tokens"] == {"requests": 0, "prompt": 0, "cached": 0, "completion": 0}
    assert (told["failed"], told["table"]) == (0, None)


def test_nothing_is_inspected_twice_and_more_can_be_asked_for_later(here, capsys):
    assert inspect("sky/star-0.csv") == 0
    first = Path("r.jsonl").read_bytes()
    assert inspect("sky", "--resume", "--table", "c.vot") == 0
    assert Path("r.jsonl").read_bytes().startswith(first)
    assert len(lines()) == 3
    assert inspect("sky") == 0
    assert len(lines()) == 3
    assert "3 spectra in r.jsonl" in capsys.readouterr().out


def test_it_goes_on_from_another_folder(here, monkeypatch):
    assert inspect("sky/star-0.csv") == 0
    monkeypatch.chdir(here / "sky")
    arguments = ["--task", "cv", "--concurrency", "1", "--out", "../r.jsonl"]
    assert app.main(["inspect", *arguments, "star-0.csv", "star-1.csv"]) == 0
    assert [row["source"]["file"] for row in lines("../r.jsonl")] == ["sky/star-0.csv", "sky/star-1.csv"]


def test_a_limit_counts_spectra(here):
    assert inspect("sky", "--limit", 2) == 0
    assert inspect("sky", "--limit", 2) == 0
    assert sorted(row["source"]["file"] for row in lines()) == ["sky/star-0.csv", "sky/star-1.csv"]


def test_a_list_on_standard_input_is_taken(here, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("sky/star-2.csv\n"))
    assert inspect("-") == 0
    assert [row["source"]["file"] for row in lines()] == ["sky/star-2.csv"]


def test_what_cannot_be_read_is_bad_news_and_is_tried_again(here, capsys):
    Path("sky/star-9.csv").write_text("wavelength,flux\nnot,numbers\n")
    assert inspect("sky") == 1
    assert "1 failed, listed in r.jsonl.failed.jsonl" in capsys.readouterr().out
    (failure,) = lines("r.jsonl.failed.jsonl")
    assert (failure["source"]["file"], failure["reason"]) == ("sky/star-9.csv", "not read")
    assert len(lines()) == 3
    Path("sky/star-9.csv").unlink()
    a_file(Path("sky/star-9.csv"), 90.0)
    assert inspect("sky") == 0
    assert len(lines()) == 4
    assert not Path("r.jsonl.failed.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gone.fits"], "gone.fits: found no such file or folder"),
        (["empty"], "empty: found no file that looks like a spectrum"),
        (["sky", "--table", "c.docx"], "c.docx: found a name that ends in '.docx'"),
        (["sky", "--table", "taken.csv"], "taken.csv: found a file that is not of these results"),
        (["sky", "--resume"], "r.jsonl: found no results to go on with"),
        (["sky", "--out", "no/r.jsonl"], "found no folder"),
        (["sky", "--task", "quasar"], "--task: found 'quasar', wanted one of"),
        (["sky", "--majority", "2"], "majority: found 2.0, wanted more than 0 and at most 1"),
        (["sky", "--samples", "3"], "--samples: found 3, wanted 1: baseline says the same each time"),
        (["sky", "--policy", "spec-o3", "--server", "http://127.0.0.1:9/v1"], "127.0.0.1:9"),
        (["sky", "--policy", "oracle"], "--policy: found 'oracle'"),
    ],
)
def test_what_cannot_begin_says_why_has_status_2_and_leaves_nothing(here, capsys, arguments, words):
    (here / "empty").mkdir()
    (here / "taken.csv").write_text("mine")
    assert inspect(*arguments) == 2
    assert words in capsys.readouterr().err
    assert sorted(path.name for path in here.iterdir()) == ["empty", "sky", "taken.csv"]
    assert (here / "taken.csv").read_text() == "mine"


def test_results_are_not_gone_on_with_where_that_was_forbidden_or_the_settings_differ(here, capsys):
    assert inspect("sky/star-0.csv") == 0
    before = Path("r.jsonl").read_bytes()
    assert inspect("sky", "--no-resume") == 2
    assert "found results; go on with them (--resume)" in capsys.readouterr().err
    assert inspect("sky", "--max-turns", 3) == 2
    assert "max_turns was 8, is 3" in capsys.readouterr().err
    assert Path("r.jsonl").read_bytes() == before


def test_results_that_cannot_be_written_end_the_run_and_what_is_under_way(here, capsys, monkeypatch):
    def full(self: Journal, outcome: object) -> None:
        raise JournalError("r.jsonl: No space left on device; what was written before is safe")

    monkeypatch.setattr(Journal, "add", full)
    assert inspect("sky") == 2
    assert "No space left on device" in capsys.readouterr().err
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("inspect")]


def test_how_much_there_is_to_do_is_known_better_and_better(here):
    assert inspect("sky/star-0.csv") == 0
    settings = json.loads(Path("r.jsonl.run.json").read_text(encoding="utf-8"))
    settings.pop("schema")
    with Journal(Path("r.jsonl"), settings) as journal:
        work = Work(list(files(["sky"], here)), 2, journal)
        assert work.expected == 6
        assert len(list(work)) == work.expected == 5
        few = Work(list(files(["sky"], here)), 2, journal, limit=2)
        assert few.expected == 4
        assert len(list(few)) == few.expected == 3


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5"])
def test_numbers_of_things_are_whole_and_one_at_least(here, capsys, number):
    with pytest.raises(SystemExit) as refused:
        inspect("sky", "--samples", number)
    assert refused.value.code == 2
    assert "wanted a whole number, 1 or more" in capsys.readouterr().err


def opinions(body: dict) -> Say:
    """One look, then YES from even seeds and NO from odd ones."""
    if sum(message["role"] == "assistant" for message in body["messages"]) == 0:
        return Say(look(6400, 6700))
    return Say(answer("NO" if body["seed"] % 2 else "YES"))


SERVED = ("--policy", "spec-o3", "--temperature", "0.7", "--seed", "0")


def test_samples_of_a_served_model_are_counted_and_a_thin_majority_asks_a_person(here, capsys):
    with BadServer(opinions) as server:
        served = (*SERVED, "--server", server.url)
        assert inspect("sky", *served, "--samples", 2, "--table", "c.csv", "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["ask"], told["this_run"]["inspected"], told["this_run"]["spectra"]) == (3, 6, 3)
        assert told["this_run"]["tokens"] == {"requests": 12, "prompt": 1200, "cached": 480, "completion": 84}
        assert {row["reasons"] for row in table()} == {"The samples are split: 1 YES, 1 NO."}
        assert inspect("sky", *served, "--samples", 3, "--table", "c.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["this_run"]["inspected"] == 3
    assert {(row["verdict"], row["yes"], row["no"], row["n"]) for row in table()} == {("YES", "2", "1", "3")}
    assert Counter(row["sample"] for row in lines()) == {0: 3, 1: 3, 2: 3}
    assert {row["drafter"]["settings"]["seed"] for row in lines() if row["sample"] == 2} == {2}


def test_a_model_asked_otherwise_is_another_run(here, capsys):
    with BadServer(opinions) as server:
        served = ("--policy", "spec-o3", "--seed", "0", "--server", server.url)
        assert inspect("sky", *served, "--temperature", "0.7") == 0
        capsys.readouterr()
        assert inspect("sky", *served, "--temperature", "0.9") == 2
    assert "policy.settings.temperature was 0.7, is 0.9" in capsys.readouterr().err


def test_a_server_that_fails_for_good_ends_the_run_with_its_sentence(here, capsys, monkeypatch):
    monkeypatch.setattr("agent.batch.run.PAUSE", 0.001)
    for n in range(3, 20):
        (here / "sky" / f"star-{n}.csv").write_bytes((here / "sky" / "star-0.csv").read_bytes())
    with BadServer([Status(400)]) as server:
        assert inspect("sky", *SERVED, "--server", server.url, "--concurrency", 1) == 1
    told = capsys.readouterr().out
    assert "ended early: 11 inspections in a row failed" in told
    assert "0 spectra in r.jsonl" in told
    assert len(lines("r.jsonl.failed.jsonl")) == 11


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("how", [["--processes", "1"], ["--concurrency", "1"]])
def test_ctrl_c_keeps_what_is_done_and_still_makes_the_table(here, number, how):
    for n in range(3, 60):
        (here / "sky" / f"star-{n}.csv").write_bytes((here / "sky" / "star-0.csv").read_bytes())
    command = [sys.executable, str(ROOT / "app.py"), "inspect", "sky", "--task", "cv", "--out", "r.jsonl"]
    process = subprocess.Popen(
        [*command, "--table", "c.csv", *how],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    for _ in range(3000):
        if Path("r.jsonl").exists() and Path("r.jsonl").read_bytes().count(b"\n"):
            break
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "what is done is kept" in err
    assert "Traceback" not in err
    assert 1 <= len(lines()) < 60
    assert len(table()) == len(lines())
    assert f"{len(lines())} spectra in r.jsonl" in out
