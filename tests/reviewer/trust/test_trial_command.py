"""``spec-o3 trial``: trials of a results file and of a database, exit status, resuming, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import agent.tasks
import app
from agent.trial.report import read_trials
from reviewer.store import Store, StoredTrial
from tests.support.drawn_traces import a_store


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two simulated spectra, and the results file of the baseline on them."""
    folder = tmp_path_factory.mktemp("trial")
    spectra = folder / "spectra"
    options = ["--task", "cv", "--survey", "SDSS", "--snr", "25:30", "--n", "2"]
    assert app.main(["simulate", *options, "--out", str(spectra)]) == 0
    found = folder / "results.jsonl"
    given = ["inspect", "--task", "cv", "--processes", "1", "--out", str(found), str(spectra)]
    assert app.main(given) == 0
    return found


def trial(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    capsys.readouterr()
    status = app.main(["trial", "--processes", "1", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out or captured.err


def test_the_baseline_passes_and_the_file_resumes(capsys, results: Path, tmp_path: Path) -> None:
    out = tmp_path / "trials.jsonl"
    status, text = trial(capsys, results, "--policy", "baseline", "--out", out, "--limit", 1)
    assert status == 0, text
    assert "1 trace, 1 with evidence to test, 1 of them passed" in text
    first = out.read_bytes()
    status, text = trial(capsys, results, "--policy", "baseline", "--out", out, "--json")
    found = json.loads(text)
    assert status == 0
    assert (found["traces"], found["tested"], found["passed"], found["failed"]) == (2, 2, 2, [])
    assert found["left_out"] == {"done before": 1}
    assert found["summary"][0]["placebo"]["k"] == 0
    assert out.read_bytes().startswith(first)
    assert len(list(read_trials(out))) == 2


def test_a_file_with_a_trace_of_which_nothing_could_be_tested_resumes(capsys, results: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    without_zoom = {**rows[0], "steps": [step for step in rows[0]["steps"] if step["kind"] != "zoom"]}
    mixed = results.parent / "untestable.jsonl"
    for order in ([rows[1], without_zoom], [without_zoom, rows[1]], [without_zoom]):
        mixed.write_text("".join(json.dumps(row) + "\n" for row in order), encoding="utf-8")
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
        for _ in range(2):
            given = (mixed, "--policy", "baseline", "--concurrency", 1, "--out", out, "--json")
            status, text = trial(capsys, *given)
            assert status == 0, text
        assert json.loads(text)["left_out"] == {"done before": len(order)}
    assert [made.passed for made in read_trials(out)] == [None]


def test_a_file_of_other_trials_or_of_something_else_stays_as_it_is(capsys, results: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "trials.jsonl", tmp_path / "notes.txt"
    given = (results, "--policy", "baseline", "--out", out)
    assert trial(capsys, *given)[0] == 0
    before = out.read_bytes()
    lines = [json.loads(line) for line in before.splitlines()]
    for option in ("--placebos", "--edit-seed"):
        status, text = trial(capsys, *given, option, 3)
        assert (status, f"{option.removeprefix('--').removeprefix('edit-')} " in text) == (2, True), text
        assert "expected 3; choose another file" in text
    lines[0]["drafter"]["settings"]["made"] = "up"
    out.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    status, text = trial(capsys, *given)
    assert (status, "found trials of settings {" in text) == (2, True), text
    for content in (b"my notes\nwithout an end", b"one line", b"\x89PNG\r\n\xff\xfe", b'{"schema": "spec-o3/other/1"'):
        other.write_bytes(content)
        assert trial(capsys, *given[:-1], other)[0] == 2
        assert other.read_bytes() == content
    for length in (5, before.index("α".encode()) + 1):  # the run was ended within a line, or within a letter
        out.write_bytes(before + before[:length])
        assert trial(capsys, *given)[0] == 0
    missing = tmp_path / "missing.jsonl"
    assert trial(capsys, tmp_path / "none.jsonl", *given[1:-1], missing)[0] == 2
    assert not missing.exists()


def test_a_trial_that_failed_gives_status_1(capsys, results: Path, tmp_path: Path) -> None:
    out = tmp_path / "trials.jsonl"
    assert trial(capsys, results, "--policy", "baseline", "--out", out)[0] == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for one in lines[0]["outcomes"]:
        one["followed"] = one["edit"] == "placebo"
    out.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    status, text = trial(capsys, results, "--policy", "baseline", "--out", out)
    assert status == 1
    assert "2 traces, 2 with evidence to test, 1 of them passed" in text


def test_traces_of_another_policy_or_task_are_left_out(capsys, results: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    rows[0]["drafter"]["name"] = "another"
    other = results.parent / "other.jsonl"
    other.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = ("--policy", "baseline", "--json", "--out")
    _, text = trial(capsys, other, "--limit", 1, *options, tmp_path / "a.jsonl")
    assert json.loads(text)["left_out"] == {"of another policy": 1}
    _, text = trial(capsys, results, "--task", "wd", *options, tmp_path / "b.jsonl")
    assert json.loads(text)["left_out"] == {"of another task": 2}


def test_a_spectrum_that_has_changed_is_a_failure_with_its_name(capsys, results: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    rows[0]["source"], rows[1]["source"] = rows[1]["source"], rows[0]["source"]
    mixed = results.parent / "mixed.jsonl"
    mixed.write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    status, text = trial(capsys, mixed, "--policy", "baseline", "--out", tmp_path / "trials.jsonl")
    assert status == 1
    assert "found a trace of another spectrum" in text
    assert rows[0]["source"]["file"] in text


def trials(store: Store) -> list[StoredTrial]:
    """Return the last trials of items 1 and 2."""
    last = [store.trust.trial_of(item, store.items.get(item).version.content_hash) for item in (1, 2)]
    return [trial for trial in last if trial is not None]


def test_drafts_of_a_database_are_tried_and_recorded(capsys, tmp_path: Path, results: Path) -> None:
    path = tmp_path / "annotations.db"
    with a_store(path):
        pass
    spectra = results.parent / "spectra"
    assert app.main(["draft", "--db", str(path), "--task", "cv", str(spectra)]) == 0
    status, text = trial(capsys, "--db", path, "--policy", "baseline", "--limit", 1, "--json")
    assert status == 0, text
    assert json.loads(text)["tested"] == 1
    with Store.open(path) as store:
        stored = trials(store)
    assert [one.passed for one in stored] == [True]
    status, text = trial(capsys, "--db", path, "--policy", "baseline", "--by", "QQ")
    assert (status, "QQ" in text) == (2, True)


def test_a_run_that_ended_between_database_and_file_loses_no_trial(capsys, tmp_path, results, monkeypatch) -> None:
    path, out = tmp_path / "annotations.db", tmp_path / "trials.jsonl"
    with a_store(path):
        pass
    assert app.main(["draft", "--db", str(path), "--task", "cv", str(results.parent / "spectra")]) == 0
    given = ("--db", path, "--policy", "baseline", "--limit", 1, "--out", out)

    def crash(*_: object) -> None:
        raise SystemExit(137)

    for name in ("agent.batch.trials.TrialsFile.add", "reviewer.cli.trial._record"):
        with monkeypatch.context() as patch:
            patch.setattr(name, crash)
            with pytest.raises(SystemExit):
                trial(capsys, *given)
    assert trial(capsys, *given)[0] == 0
    with Store.open(path) as store:
        recorded = [trial.result["content_hash"] for trial in trials(store)]
    assert recorded == [trial.content_hash for trial in read_trials(out)]
    assert len(recorded) == 1


def test_a_task_of_the_campaign_is_known(capsys, tmp_path: Path) -> None:
    path = tmp_path / "annotations.db"
    with a_store(path):
        pass
    (tmp_path / "tasks").mkdir()
    text = (Path(agent.tasks.__file__).parent / "cv.toml").read_text(encoding="utf-8")
    own = text.replace('key = "cv"', 'key = "own"').replace('aliases = ["cataclysmic"]', "aliases = []")
    (tmp_path / "tasks" / "own.toml").write_text(own, encoding="utf-8")
    status, text = trial(capsys, "--db", path, "--policy", "baseline", "--task", "own")
    assert (status, text.splitlines()[0]) == (0, "0 traces, 0 with evidence to test, 0 of them passed")


def test_what_cannot_run_gives_status_2(capsys, results: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "trials.jsonl")
    for arguments, message in (
        ((), "found neither of RESULTS and --db, expected one"),
        ((results,), "--out: found none"),
        ((results, *out, "--by", "AA"), "--by: found no --db"),
        ((results, *out, "--task", "xx"), "--task: found 'xx', expected one of"),
    ):
        status, text = trial(capsys, *arguments, "--policy", "baseline")
        assert (status, message in text) == (2, True), text


def test_a_seed_below_0_is_refused(capsys, results: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="2"):
        trial(capsys, results, "--out", tmp_path / "trials.jsonl", "--edit-seed", "-5")
    assert "found '-5', expected a whole number, 0 or more" in capsys.readouterr().err
