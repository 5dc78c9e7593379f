"""``spec-o3 bench`` as a person or a script runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import app
from agent.simulate import files
from tests.support.bad_server import BadServer, Status, answer, look, talking
from training.bench.run import called, contender, stage

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def sky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 16 simulated spectra, of which 4 are of each of four kinds, with their labels for cv and
    wd."""
    folder = tmp_path_factory.mktemp("data") / "sky"
    orders = files.orders(["cv", "wd", "fgk", "sd"] * 4, ["LAMOST", "SDSS"], (8.0, 40.0), seed=3)
    assert len(list(files.write(folder, orders, ["cv", "wd"]))) == 16
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sky: Path) -> Path:
    """An empty current folder, no pause before another try, and no server in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("agent.batch.run.PAUSE", 0.001)
    for name in ("SPEC_O3_SERVER", "SPEC_O3_SERVERS", "SPEC_O3_MODEL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def bench(sky: Path, *arguments: object) -> int:
    """``spec-o3 bench --data SKY --labels SKY/labels.csv --output run ARGUMENTS``."""
    given = ["--data", sky, "--labels", sky / "labels.csv", "--output", "run", *arguments]
    return app.main(["bench", *map(str, given)])


def lines(path: str = "run/answers.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def scores(path: str = "run/scores.json") -> dict:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def refused(capsys: pytest.CaptureFixture[str], status: int) -> str:
    """The one line that says why it could not run."""
    told = capsys.readouterr().err
    assert status == 2
    assert told.startswith("spec-o3: ")
    assert told.count("\n") == 1
    return told


def test_a_bench_is_scored_and_leaves_a_folder(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(sky) == 0
    out = capsys.readouterr().out
    assert out.startswith("32 questions of 16 spectra")
    assert re.search(r"^baseline, no model +32 ", out, re.MULTILINE)
    assert "now: 32 questions in " in out
    names = {"answers.jsonl", "answers.jsonl.run.json", "questions.jsonl", "sittings.jsonl", "scores.json"}
    names |= {"report.md", "gallery.html", "data_card.md", "data_card.json"}
    assert {path.name for path in Path("run").iterdir()} == names
    found = scores()
    assert found["schema"] == "spec-o3/bench/1"
    assert [task["task"] for task in found["scores"]["tasks"]] == ["cv", "wd"]
    assert (found["simulated"], found["open"], found["failed"]) == ("yes", 0, 0)
    assert {one["by"] for one in found["groups"]} == {"survey", "S/N", "task, survey"}


def test_in_processes_the_scores_are_the_same(here: Path, sky: Path) -> None:
    some = ["--task", "cv", "--limit", 8]
    assert bench(sky, *some, "--concurrency", 1) == 0
    assert bench(sky, *some, "--output", "other", "--concurrency", 2) == 0
    told = [scores(f"{name}/scores.json")["scores"] for name in ("run", "other")]
    assert [{**one, "seconds": None} for one in told] == [{**told[0], "seconds": None}] * 2


def test_json_is_all_that_is_printed_if_asked_for(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(sky, "--task", "wd", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told == scores()
    assert [task["task"] for task in told["scores"]["tasks"]] == ["wd"]


def test_a_server_is_asked_greedily_and_its_tokens_are_counted(here: Path, sky: Path) -> None:
    with BadServer(talking((look(6500, 6630), answer("YES")))) as server:
        how = ["--policy", "spec-o3", "--server", server.url, "--model", "spec-o3"]
        assert bench(sky, "--task", "cv", *how, "--concurrency", 4) == 0
        assert {asked.body["temperature"] for asked in server.chats} == {0.0}
        assert len(server.chats) == 32
    found = scores()
    assert found["name"] == "spec-o3"
    cv = found["scores"]["tasks"][0]
    assert (cv["tp"], cv["fp"], cv["fn"]) == (4, 12, 0)
    assert cv["f1"]["value"] == pytest.approx(2 * 4 / (2 * 4 + 12))
    assert found["scores"]["calls"] == 1.0
    assert found["scores"]["prompt_tokens"] > 0
    page = Path("run/gallery.html").read_text(encoding="utf-8")
    assert page.count("<article") == 12


def test_without_the_tool_nobody_is_told_of_it(here: Path, sky: Path) -> None:
    with BadServer(talking((answer("NO"),))) as server:
        how = ["--policy", "spec-o3", "--server", server.url, "--model", "spec-o3", "--no-tool"]
        assert bench(sky, "--task", "cv", *how) == 0
        assert not any("spectral_visualization_tool" in json.dumps(asked.body) for asked in server.chats)
    assert scores()["name"] == "spec-o3 (without the tool)"


def test_the_same_command_goes_on_where_it_was(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(sky, "--task", "cv", "--limit", 8) == 0
    first = scores()
    journal = Path("run/answers.jsonl")
    kept = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(kept[:5]) + kept[5][:50])
    capsys.readouterr()
    assert bench(sky, "--task", "cv", "--limit", 8) == 0
    assert "now: 3 questions in " in capsys.readouterr().out
    assert len({row["question"]["key"] for row in lines()}) == len(lines()) == 8
    assert scores()["scores"]["f1"] == first["scores"]["f1"]


def test_another_run_is_not_mixed_in(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(sky, "--task", "cv", "--limit", 4) == 0
    capsys.readouterr()
    told = refused(capsys, bench(sky, "--task", "cv", "--limit", 4, "--no-tool"))
    assert "found results of another run: with_tool was True, is False" in told
    assert "questions was 4, is 8" in refused(capsys, bench(sky, "--task", "cv", "--limit", 8))


def test_a_limit_keeps_both_labels(here: Path, sky: Path) -> None:
    assert bench(sky, "--limit", 5) == 0
    counts = Counter((row["question"]["task"], row["question"]["label"]) for row in lines())
    assert counts == {(task, label): n for task in ("cv", "wd") for label, n in (("YES", 1), ("NO", 4))}


def test_a_task_of_ones_own_on_spectra_of_ones_own(here: Path, sky: Path) -> None:
    Path("tasks").mkdir()
    own = (ROOT / "agent" / "tasks" / "cv.toml").read_text(encoding="utf-8")
    own = own.replace('key = "cv"', 'key = "dwarfnova"', 1)
    lines_of = [line for line in own.splitlines() if not line.startswith("aliases")]
    Path("tasks/dwarfnova.toml").write_text("\n".join(lines_of), encoding="utf-8")
    table = [
        "file,label",
        *(f"{path.name},{'YES' if '-cv-' in path.name else 'NO'}" for path in sky.glob("*.fits")),
    ]
    Path("mine.csv").write_text("\n".join(table), encoding="utf-8")
    given = [
        "--data",
        sky,
        "--labels",
        "mine.csv",
        "--tasks",
        "tasks",
        "--task",
        "dwarfnova",
        "--output",
        "own",
    ]
    assert app.main(["bench", *map(str, given)]) == 0
    [task] = scores("own/scores.json")["scores"]["tasks"]
    assert (task["task"], task["n"], task["positives"]) == ("dwarfnova", 16, 4)
    assert "## Beside the published figures\n\n| system" in Path("own/report.md").read_text(encoding="utf-8")


def test_an_unknown_task_is_named_with_those_there_are(
    here: Path, sky: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refused(capsys, bench(sky, "--task", "cv,quasar"))
    assert "--task: found 'quasar', wanted of " in told
    assert "cv" in told
    assert not Path("run").exists()


def test_a_task_of_which_nothing_is_asked_is_named(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--task: found no question of gm in" in refused(capsys, bench(sky, "--task", "cv,gm"))


def test_bad_data_is_told_in_one_line(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: object) -> str:
        return refused(capsys, app.main(["bench", *map(str, arguments)]))

    assert "--data: found nothing" in told("--policy", "baseline")
    [star] = list(sky.glob("*-cv-3000000.fits"))
    assert "found no labels; name a table" in told("--data", star, "--task", "cv")
    Path("empty").mkdir()
    assert "empty" in told("--data", "empty", "--labels", sky / "labels.csv", "--task", "cv")
    assert "gone" in told("--data", "gone", "--labels", sky / "labels.csv", "--task", "cv")
    assert "no.csv" in told("--data", sky, "--labels", "no.csv", "--task", "cv")
    assert not Path("training").exists()


def test_a_test_set_that_was_trained_on_is_refused(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(sky, "--task", "cv", "--limit", 3) == 0
    capsys.readouterr()
    # What was answered there is what somebody learns from.
    traces = "run/answers.jsonl"
    told = refused(capsys, bench(sky, "--task", "cv", "--output", "b", "--spectra", sky, "--against", traces))
    assert "3 spectra are in the training and in the test data: simulated-" in told
    other = here / "other"
    list(files.write(other, files.orders(["cv", "fgk"], ["LAMOST"], (20.0, 30.0), seed=99), ["cv"]))
    given = ["--data", other, "--labels", other / "labels.csv", "--output", "c"]
    assert app.main(["bench", *map(str, given), "--spectra", str(sky), "--against", traces]) == 0


def test_what_cannot_be_asked_is_refused_before_anything_is_made(
    here: Path, sky: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "says one stored trace again" in refused(capsys, bench(sky, "--policy", "replay"))
    assert "nowhere" in refused(capsys, bench(sky, "--policy", "local", "--model", "nowhere"))
    Path("half").mkdir()
    Path("half/lineage.json").write_text('[{"kind": "base", "name": "x"}]')
    told = refused(capsys, bench(sky, "--policy", "local", "--model", "half"))
    assert "--model half: found an unfinished training run" in told
    assert not Path("run").exists()


def test_failures_of_the_server_are_bad_news_and_tried_again(
    here: Path, sky: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ["--task", "cv", "--policy", "spec-o3", "--model", "spec-o3", "--concurrency", 1, "--limit", 4]
    with BadServer([Status(400, "the prompt is too long")]) as server:
        assert bench(sky, *how, "--server", server.url) == 1
    out = capsys.readouterr().out
    assert "4 failed; the next run tries them again:" in out
    assert "4 counted wrong because the policy failed" in out
    with BadServer(talking((answer("NO"),))) as server:
        assert bench(sky, *how, "--server", server.url) == 0
    assert scores()["failed"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a process is stopped by a signal")
def test_ctrl_c_keeps_what_is_done_and_reports_it(here: Path, sky: Path) -> None:
    with BadServer(talking((look(6500, 6630), answer("YES")), delay=0.02)) as server:
        command = [sys.executable, ROOT / "app.py", "bench", "--data", sky, "--labels", sky / "labels.csv"]
        command += ["--output", "run", "--policy", "spec-o3", "--server", server.url, "--model", "spec-o3"]
        running = subprocess.Popen(
            [*map(str, command), "--concurrency", "1"], stdout=subprocess.PIPE, env={**os.environ}, text=True
        )
        try:
            deadline = time.monotonic() + 120
            while not Path("run/answers.jsonl").exists() or not lines():
                assert running.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            out, _ = running.communicate(timeout=120)
        finally:
            running.kill()
            running.wait()
    assert running.returncode == 130
    done = len(lines())
    assert 0 < done < 32
    assert f"unfinished: {32 - done} questions not asked" in out
    assert scores()["open"] == 32 - done


LINEAGE = [
    {"kind": "base", "name": "Qwen/Qwen2.5-VL-3B-Instruct"},
    {"kind": "sft", "name": "runs/sft"},
    {"kind": "grpo", "name": "runs/rl"},
]


def test_a_training_runs_folder_stands_for_its_model_and_its_stage(tmp_path: Path) -> None:
    for number, name in ((1, "base"), (2, "sft"), (3, "sft-rl")):
        model = tmp_path / name / "model"
        model.mkdir(parents=True)
        (model / "config.json").write_text("{}")
        (tmp_path / name / "lineage.json").write_text(json.dumps(LINEAGE[:number]))
    found = {name: contender(str(tmp_path / name)) for name in ("base", "sft", "sft-rl")}
    assert [(one.name, one.stage) for one in found.values()] == [
        ("base", ""),
        ("sft", "SFT"),
        ("sft-rl", "SFT + RL"),
    ]
    assert found["sft"].model == str(tmp_path / "sft" / "model")
    shutil.rmtree(tmp_path / "sft" / "model")
    adapter = tmp_path / "sft" / "model"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text('{"base_model_name_or_path": "Qwen/Qwen2.5-VL-3B-Instruct"}')
    lora = contender(str(tmp_path / "sft"))
    assert (lora.model, lora.adapter) == ("Qwen/Qwen2.5-VL-3B-Instruct", str(adapter))


def test_stages_are_called_as_the_ablations_are() -> None:
    assert stage(LINEAGE[:1]) == "base"
    assert stage([LINEAGE[0], LINEAGE[2]]) == "RL without SFT"
    assert stage([*LINEAGE, LINEAGE[2]]) == "SFT + RL"
    assert called("x", "SFT + RL", with_tool=False) == "x (SFT + RL, without the tool)"
    assert called("x", "", with_tool=True) == "x"
