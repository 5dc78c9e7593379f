"""The command line: real processes, their output and exit status 0, 1 or 2."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table

import app
from agent.cli.command import ProgressBar
from agent.tasks import FOLDER
from reviewer.exchange.imports import own_row
from reviewer.store import QueueFilter, Store
from tests.support.cli import free_port, run
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved

ROOT = Path(__file__).resolve().parents[1]


def test_it_starts_as_a_program_from_another_folder(tmp_path):
    command = [sys.executable, str(ROOT / "app.py"), "doctor", "--help"]
    started = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    forked = run("doctor", "--help", cwd=tmp_path)
    assert (started.returncode, started.stdout) == (forked.returncode, forked.stdout) == (0, started.stdout)


@pytest.fixture
def survey_file(tmp_path) -> Path:
    """A made-up spectrum with a broad Hα, as a survey's table would have it."""
    wavelength = np.linspace(3800.0, 9000.0, 600)
    flux = 100.0 + 80.0 * np.exp(-0.5 * ((wavelength - 6564.6) / 12.0) ** 2)
    path = tmp_path / "star.csv"
    Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(600, 0.04)}).write(path)
    return path


def test_baseline_drafts_are_reproducible_and_imported_once(survey_file, tmp_path):
    draft = ("draft", "--task", "cv", "--label", "YES", survey_file, "--json")
    drafted = run(*draft, "--out", "d.jsonl", cwd=tmp_path)
    assert drafted.returncode == 0, drafted.stderr
    survey_file.rename(tmp_path / "elsewhere")
    imported = run("import", "d.jsonl", "--db", "a.db", "--json", cwd=tmp_path)
    assert imported.returncode == 0, imported.stderr
    numbers = {"import": 1, "rows": 1, "added": [1], **dict.fromkeys(("known", "others", "control", "bad"), 0)}
    lists = {key: [] for key in ("known_items", "other_texts", "control_texts", "problems")}
    assert json.loads(imported.stdout) == numbers | lists
    with Store.open(tmp_path / "a.db") as store:
        trajectory = store.items.get(1).version.trajectory
    assert (trajectory.task, trajectory.label, trajectory.drafter.kind) == ("cv", "YES", "baseline")
    (tmp_path / "elsewhere").rename(survey_file)
    again = run(*draft, "--db", "a.db", cwd=tmp_path)
    for summary in map(json.loads, (drafted.stdout, again.stdout)):
        assert summary.pop("seconds_per_draft") > 0
        assert summary == {"drafted": 1, "added": 0, "refused": []}


def test_an_export_can_be_imported_again(tmp_path):
    with a_store(tmp_path / "a.db") as store:
        none = run("export", "--db", "a.db", "--out", "out/one", cwd=tmp_path)
        assert (none.returncode, none.stdout.split(":")[0]) == (1, "nothing exported")
        add_approved(store, (a_trace(a_spectrum()), a_spectrum()))
        expected = replace(store.items.get(1).version.trajectory, authors=("AA",))
    exported = run("export", "--out", "out/one", "--db", "a.db", "--by", "AA", "--json", cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    printed = json.loads(exported.stdout)
    assert (Path(printed["folder"]).name, printed["counts"]["items"], printed["left_out"]) == ("one", 1, [])
    assert run("import", "out/one", "--db", "b.db", cwd=tmp_path).stdout == "1 imported\n"
    with Store.open(tmp_path / "b.db") as store:
        assert store.items.get(1).version.trajectory == expected
    taken = run("export", "--out", "out/one", "--db", "a.db", cwd=tmp_path)
    assert taken.returncode == 2
    assert "found an export of that name" in taken.stderr


def test_bad_rows_fail_the_import_and_are_named(tmp_path):
    good = own_row(a_trace(a_spectrum()), a_spectrum())
    (tmp_path / "d.jsonl").write_text(json.dumps(good) + "\n" + json.dumps(good | {"label": 3}) + "\n")
    refused = run("import", "d.jsonl", "--db", "a.db", cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stdout.splitlines() == [
        "nothing imported: 1 row is bad (--skip-bad imports the others)",
        "row 2: label: found 3, expected YES, NO or null",
    ]
    with Store.open(tmp_path / "a.db") as store:
        assert store.queue.page(QueueFilter(), "").total == 0
    assert run("import", "d.jsonl", "--db", "a.db", "--skip-bad", cwd=tmp_path).returncode == 1
    with Store.open(tmp_path / "a.db") as store:
        assert store.queue.page(QueueFilter(), "").total == 1


def test_a_file_that_is_no_spectrum_fails_and_the_others_are_drafted(survey_file, tmp_path):
    (tmp_path / "notes.txt").write_text("Not a spectrum at all.")
    done = run("draft", "--task", "cv", survey_file, "notes.txt", "--out", "d.jsonl", "--json", cwd=tmp_path)
    assert done.returncode == 1
    printed = json.loads(done.stdout)
    assert printed["drafted"] == 1
    assert printed["refused"][0].startswith("notes.txt: found")
    assert len((tmp_path / "d.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["draft", "--task", "quasar", "x.csv", "--out", "d.jsonl"], "--task: found 'quasar', expected one of"),
        (["import", "none.jsonl", "--db", "a.db"], "none.jsonl: found no such file"),
        (["export", "one", "--db", "none.db"], "none.db: found no database"),
        (["export", "../one", "--db", "a.db"], "found no database"),
        (["import", "d.jsonl", "--db", "notes.txt"], "notes.txt"),
        (["draft", "--task", "cv", "x.csv", "--out", "notes.txt"], "notes.txt: found a file of that name"),
        (["simulate"], "the following arguments are required: --out"),
        (["export"], "found both or neither of NAME and --out, expected one"),
        (["fly"], "invalid choice: 'fly'"),
    ],
)
def test_a_command_that_cannot_run_prints_one_line_and_has_status_2(arguments, words, tmp_path):
    (tmp_path / "notes.txt").write_text("Somebody's notes, kept as they are. " * 20)
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "notes.txt").read_text().startswith("Somebody's notes")


def test_without_a_command_or_with_options_only_the_web_app_starts(monkeypatch):
    given = []
    monkeypatch.setattr("reviewer.server.serve", given.append)
    assert app.main([]) == app.main(["--port", "9000", "--no-browser"]) == 0
    started = [(settings.host, settings.port, settings.open_browser) for settings in given]
    assert started == [("127.0.0.1", 7860, True), ("127.0.0.1", 9000, False)]


def test_the_web_app_gets_the_model_servers_of_the_command_line(monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr("reviewer.server.serve", lambda settings: given.append((settings.servers, settings.server)))
    servers = tmp_path / "servers.toml"
    assert app.main(["app", "--servers", str(servers), "--server", "http://127.0.0.1:9"]) == 0
    assert given == [(servers, "http://127.0.0.1:9")]


def test_the_web_app_does_not_start_with_model_servers_that_cannot_be_used(tmp_path, capsys):
    database = tmp_path / "a.db"
    for option, value in (("--servers", str(tmp_path / "none.toml")), ("--server", "not an address")):
        assert app.main(["app", "--db", str(database), "--port", str(free_port()), option, value]) == 2
        assert value in capsys.readouterr().err
    assert not database.exists()


class Terminal:
    """A standard error stream that is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_a_bar_appears_after_two_seconds_and_is_cleared_at_the_end(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    terminal = Terminal()
    with ProgressBar(10, "drafting", terminal) as bar:
        now[0] += 1.9
        bar.at(4)
        assert terminal.text == ""
        now[0] += 0.2
        bar.at(5)
        assert "drafting:  50%" in terminal.text
        assert " 5/10 [00:02<00:02," in terminal.text
    assert terminal.text.endswith("\r")
    assert terminal.text.rpartition("drafting")[2].rstrip("\r").endswith("\r" + " " * len(terminal.text.split("\r")[1]))


def test_a_bar_shows_the_mean_rate_the_time_left_and_a_note(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    shown = []
    for seconds, done, total, note in (
        (3, 0, 50, ""),
        (50, 100, 400, "0.30 spent"),
        (600, 5, 20, ""),
        (3600, 3600, 40_000, ""),
        (5, 10, None, ""),
    ):
        now[0], terminal = 0.0, Terminal()
        with ProgressBar(1, "inspecting", terminal) as bar:
            bar.expect(total)
            now[0] += seconds
            bar.at(done, note)
            shown.append(terminal.text.strip("\r").rpartition("|")[2].removeprefix("inspecting:").strip())
    assert shown == [
        "0/50 [00:03<?, ?it/s]",
        "100/400 [00:50<02:30,  2.00it/s, 0.30 spent]",
        "5/20 [10:00<30:00, 120.00s/it]",
        "3600/40000 [1:00:00<10:06:40,  1.00it/s]",
        "10it [00:05,  2.00it/s]",
    ]


def test_no_bar_where_stderr_is_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr("agent.cli.command.BAR_DELAY", 0.0)
    with (tmp_path / "log").open("w") as log, ProgressBar(10, "drafting", log) as bar:
        bar.at(5)
    assert (tmp_path / "log").read_text() == ""


def test_a_task_file_of_the_campaign_is_used_and_a_broken_one_is_named(survey_file, tmp_path):
    own = (FOLDER / "cv.toml").read_text(encoding="utf-8")
    own = own.replace('key = "cv"', 'key = "polar"').replace("aliases = ", "aliases = [] # ")
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "polar.toml").write_text(own, encoding="utf-8")
    (tmp_path / "tasks" / "broken.toml").write_text("key = 5", encoding="utf-8")
    done = run("draft", "--task", "polar", survey_file, "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with Store.open(tmp_path / "a.db") as store:
        assert store.items.get(1).row.task == "polar"
    done = run("draft", "--task", "quasar", survey_file, "--db", "a.db", cwd=tmp_path)
    assert done.returncode == 2
    assert "broken.toml" in done.stderr


@pytest.mark.parametrize(("command", "port"), [("app", "0"), ("app", "65536"), ("app", "many"), ("serve", "-5")])
def test_a_port_that_does_not_exist_is_refused(command, port, tmp_path):
    done = run(command, "--port", port, "--db" if command == "app" else "--name", tmp_path / "new.db", cwd=tmp_path)
    assert done.returncode == 2
    assert "from 1 to 65535" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "place", "message"),
    [
        ("inspect", ".", ".: found a folder, expected the name of a file"),
        ("draft", "a/..", "a/..: found a folder, expected the name of a file"),
        ("draft", "no/such/folder/d.jsonl", "no/such/folder"),
    ],
)
def test_results_that_cannot_be_written_are_refused_in_a_sentence(command, place, message, survey_file, tmp_path):
    done = run(command, survey_file, "--task", "cv", "--policy", "baseline", "--out", place, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["star.csv"]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("withdraw", ("--items abc", "--restore", "--dry-run", "--by CO")),
        ("log --check", ("--person CO", "--what decided", "--last 3")),
        ("import --job 1", ("--batch other", "--spectra .", "--skip-bad")),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(command, options, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Store.open(tmp_path / "annotations.db").close()
    for option in options:
        assert app.main([*command.split(), *option.split(), "--db", "annotations.db"]) == 2
        error = capsys.readouterr().err
        assert "would be ignored" in error
        assert option.split()[0] in error or option.split()[-1] in error


@pytest.mark.parametrize(
    ("rows", "arguments"),
    [
        ("half a row {", ("import", "rows.jsonl")),
        ("", ("import", "missing.jsonl")),
        ("no spectrum", ("draft", "rows.jsonl", "--task", "cv", "--policy", "baseline")),
    ],
)
def test_a_command_that_adds_nothing_leaves_no_new_database_and_keeps_an_old_one(rows, arguments, tmp_path):
    (tmp_path / "rows.jsonl").write_text(rows)
    done = run(*arguments, "--db", "new.db", cwd=tmp_path)
    assert done.returncode in (1, 2), done
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]
    Store.open(tmp_path / "new.db").close()
    assert run(*arguments, "--db", "new.db", cwd=tmp_path).returncode in (1, 2)
    assert (tmp_path / "new.db").is_file()
