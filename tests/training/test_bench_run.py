"""Running the benchmark, and its command."""

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
from dataclasses import replace
from pathlib import Path

import pytest

import app
from agent.batch import run as batch
from agent.cli.stages import LOCAL_CONCURRENCY
from agent.conversation import Stop
from agent.json_lines import JournalError
from agent.policies.baseline.rule import Baseline
from agent.simulate import files
from agent.sky.table import write_table
from agent.spectrum import SpectrumError, read
from agent.tasks import load
from tests.support.bench import Broken, Wayward, question, some_questions, way_of
from tests.support.cli import parsed
from tests.support.drawn_traces import a_spectrum, a_trace
from tests.support.model_server import BadServer, Status, answer, look, talking
from tests.support.training_data import own_lines, specvi_file, specvi_row
from training.bench.answers import FILE, SESSIONS, Answers, Run, limited, place
from training.bench.outcomes import OutcomesError
from training.bench.run import InspectionOptions, SessionResult, ask_all, row_name, stage, system_of
from training.bench.table import of_run
from training.cli.bench import _ask
from training.cli.bench_options import BenchOptions
from training.data.records import Question

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
    """``spec-o3 bench --data SKY --labels SKY/labels.csv --out run --concurrency 1 ARGUMENTS``. Processes, which
    take seconds to start, are tried where they matter."""
    given = ["--data", sky, "--labels", sky / "labels.csv", "--out", "run", "--concurrency", 1, *arguments]
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


def test_rows_keep_their_own_prompt_unless_another_is_chosen(here, monkeypatch, capsys):
    path = specvi_file(here / "test_cv.parquet", [specvi_row(0), specvi_row(1)])
    row = "The published words about cv.\n\nGuide."

    def prompts(name: str, *arguments: str) -> set[tuple[str, str]]:
        given = ["bench", "--data", str(path), "--out", name, "--concurrency", "1", "--gallery", "0", *arguments]
        assert app.main(given) == 0
        rows = [json.loads(line) for line in (here / name / FILE).read_text(encoding="utf-8").splitlines()]
        return {(row["prompt"], row["drafter"]["settings"].get("prompt_source", "ours")) for row in rows}

    assert prompts("own") == {(row, "row")}
    assert prompts("ours", "--prompt", "ours") == {(load()["cv"].prompt, "ours")}
    assert app.main(["bench", "--data", str(path), "--out", "none", "--prompt", "trained"]) == 2
    assert "no imported prompt of cv" in capsys.readouterr().err
    monkeypatch.setenv("SPEC_O3_PROMPTS", str(here / "prompts.json"))
    assert app.main(["tasks", "import", str(path)]) == 0
    assert prompts("trained", "--prompt", "trained") == {(row, "trained")}


def test_a_bench_is_scored_and_leaves_a_folder(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(sky) == 0
    out = capsys.readouterr().out
    assert out.startswith("32 questions of 16 spectra")
    assert re.search(r"^rule-based baseline +32 ", out, re.MULTILINE)
    assert "now: 32 questions in " in out
    names = {"answers.jsonl", "answers.jsonl.run.json", "questions.jsonl", "sittings.jsonl", "scores.json"}
    names |= {"report.md", "gallery.html", "data_card.md", "data_card.json"}
    assert {path.name for path in Path("run").iterdir()} == names
    found = scores()
    assert found["schema"] == "spec-o3/bench/1"
    assert [task["task"] for task in found["scores"]["tasks"]] == ["cv", "wd"]
    assert (found["simulated"], found["open"], found["failed"]) == ("yes", 0, 0)
    assert {one["by"] for one in found["groups"]} == {"survey", "S/N", "task, survey"}


def test_json_is_all_that_is_printed_if_asked_for(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(sky, "--task", "wd", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told == scores()
    assert [task["task"] for task in told["scores"]["tasks"]] == ["wd"]


def test_a_server_is_asked_greedily_and_its_tokens_are_counted(here: Path, sky: Path) -> None:
    with BadServer(talking((look(6500, 6630), answer("YES")))) as server:
        how = ["--policy", "spec-o3", "--server", server.url, "--model", "spec-o3"]
        assert bench(sky, "--task", "cv", *how, "--concurrency", 4) == 0
        assert {request.body["temperature"] for request in server.chats} == {0.0}
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
        assert not any("spectral_visualization_tool" in json.dumps(request.body) for request in server.chats)
    assert scores()["name"] == "spec-o3 (without the tool)"


def test_examples_and_measuring_are_rows_of_their_own_and_examples_of_the_test_set_are_refused(
    here: Path, sky: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = here / "approved.jsonl"
    pair = [(a_trace(spectrum, verdict), spectrum) for verdict in ("YES", "NO") for spectrum in [a_spectrum(verdict)]]
    own_lines(examples, *pair)
    with BadServer(talking((answer("NO"),)), models=["m"]) as server:
        how = ["--task", "cv", "--per-task", 4, "--policy", "openai", "--server", server.url, "--model", "m"]
        assert bench(sky, *how) == 0
        write_table(here / "sky.parquet", [])
        more = [*how, "--examples", examples, "--examples-number", 2, "--measure", "--sky", here / "sky.parquet"]
        assert bench(sky, *more, "--out", "more") == 0
        assert "measure was not given, is True" in refused(capsys, bench(sky, *more))
        assert "needs the tool, which --no-tool takes away" in refused(capsys, bench(sky, *more, "--no-tool"))
        shared = read(next(iter(sky.glob("*.fits"))))
        own_lines(examples, *pair, (a_trace(shared), shared))
        told = refused(capsys, bench(sky, *more, "--out", "leak", "--data", sky))
        assert "are of the same object as an example" in told
    assert json.loads(Path("more/scores.json").read_text())["name"] == "m (with 2 examples, with measure, with sky)"
    assert app.main(["bench", "table", "more", "run", "--json"]) == 0
    assert scores()["name"] == "m"


def test_another_run_is_not_mixed_in(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(sky, "--task", "cv", "--per-task", 4) == 0
    capsys.readouterr()
    told = refused(capsys, bench(sky, "--task", "cv", "--per-task", 4, "--no-tool"))
    assert "found results of another run: with_tool was True, is False" in told
    assert "questions was 4, is 8" in refused(capsys, bench(sky, "--task", "cv", "--per-task", 8))


def test_a_limit_keeps_both_labels(here: Path, sky: Path) -> None:
    assert bench(sky, "--per-task", 5) == 0
    counts = Counter((row["question"]["task"], row["question"]["label"]) for row in lines())
    assert counts == {(task, label): n for task in ("cv", "wd") for label, n in (("YES", 1), ("NO", 4))}


def test_a_task_of_ones_own_on_spectra_of_ones_own(here: Path, sky: Path) -> None:
    Path("tasks").mkdir()
    own = (ROOT / "agent" / "tasks" / "cv.toml").read_text(encoding="utf-8")
    own = own.replace('key = "cv"', 'key = "dwarfnova"', 1)
    lines_of = [line for line in own.splitlines() if not line.startswith("aliases")]
    Path("tasks/dwarfnova.toml").write_text("\n".join(lines_of), encoding="utf-8")
    table = ["file,label", *(f"{path.name},{'YES' if '-cv-' in path.name else 'NO'}" for path in sky.glob("*.fits"))]
    Path("mine.csv").write_text("\n".join(table), encoding="utf-8")
    given = ["--data", sky, "--labels", "mine.csv", "--tasks", "tasks", "--task", "dwarfnova", "--out", "own"]
    assert app.main(["bench", "--concurrency", "1", *map(str, given)]) == 0
    [task] = scores("own/scores.json")["scores"]["tasks"]
    assert (task["task"], task["n"], task["positives"]) == ("dwarfnova", 16, 4)
    assert "## Comparison with the published figures\n\n| system" in Path("own/report.md").read_text(encoding="utf-8")


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
    assert "--task: found 'quasar', expected of " in refused(capsys, bench(sky, "--task", "cv,quasar"))
    assert "--task: found no question of gm in" in refused(capsys, bench(sky, "--task", "cv,gm"))
    assert not Path("run").exists()
    assert not Path("training").exists()


def test_a_test_set_that_was_trained_on_is_refused(here: Path, sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(sky, "--task", "cv", "--per-task", 3) == 0
    capsys.readouterr()
    # What was answered there is what somebody learns from.
    traces = "run/answers.jsonl"
    told = refused(capsys, bench(sky, "--task", "cv", "--out", "b", "--spectra", sky, "--against", traces))
    assert "3 spectra are in the training and in the test data: simulated-" in told
    other = here / "other"
    list(files.write(other, files.orders(["cv", "fgk"], ["LAMOST"], (20.0, 30.0), seed=99), ["cv"]))
    given = ["--data", other, "--labels", other / "labels.csv", "--out", "c"]
    assert app.main(["bench", "--concurrency", "1", *map(str, given), "--spectra", str(sky), "--against", traces]) == 0


def test_what_cannot_be_asked_is_refused_before_anything_is_made(here, sky, capsys):
    assert "repeats one stored trace" in refused(capsys, bench(sky, "--policy", "replay"))
    assert "nowhere" in refused(capsys, bench(sky, "--policy", "local", "--model", "nowhere"))
    Path("half").mkdir()
    Path("half/lineage.json").write_text('[{"kind": "base", "name": "x"}]')
    told = refused(capsys, bench(sky, "--policy", "local", "--model", "half"))
    assert "--model half: found an unfinished training run" in told
    assert not Path("run").exists()


def test_failures_of_the_server_are_bad_news_and_tried_again(here, sky, capsys):
    how = ["--task", "cv", "--policy", "spec-o3", "--model", "spec-o3", "--concurrency", 1, "--per-task", 4]
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
        command += ["--out", "run", "--policy", "spec-o3", "--server", server.url, "--model", "spec-o3"]
        running = subprocess.Popen(
            [*map(str, command), "--concurrency", "1"], stdout=subprocess.PIPE, env={**os.environ}, text=True
        )
        try:
            deadline = time.monotonic() + 120
            while True:
                # Asked before the file is read: it may write and end in between.
                ended = running.poll()
                if Path("run/answers.jsonl").exists() and lines():
                    break
                assert ended is None
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
    assert f"unfinished: {32 - done} questions to come" in out
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
    found = {name: system_of(str(tmp_path / name)) for name in ("base", "sft", "sft-rl")}
    assert [(one.name, one.stage) for one in found.values()] == [("base", ""), ("sft", "SFT"), ("sft-rl", "SFT + RL")]
    assert found["sft"].model == str(tmp_path / "sft" / "model")
    shutil.rmtree(tmp_path / "sft" / "model")
    adapter = tmp_path / "sft" / "model"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text('{"base_model_name_or_path": "Qwen/Qwen2.5-VL-3B-Instruct"}')
    lora = system_of(str(tmp_path / "sft"))
    assert (lora.model, lora.adapter) == ("Qwen/Qwen2.5-VL-3B-Instruct", str(adapter))


def test_stages_are_called_as_the_ablations_are() -> None:
    assert stage(LINEAGE[:1]) == "base"
    assert stage([LINEAGE[0], LINEAGE[2]]) == "RL without SFT"
    assert stage([*LINEAGE, LINEAGE[2]]) == "SFT + RL"
    assert row_name("x", "SFT + RL", with_tool=False) == "x (SFT + RL, without the tool)"
    assert row_name("x", "", with_tool=True) == "x"


SETTINGS = {
    "name": "wayward",
    "stage": "",
    "policy": {"kind": "model", "name": "wayward", "settings": {"temperature": 0.0}},
    "with_tool": True,
    "max_turns": 8,
}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "PAUSE", 0.001)


def ask(folder: Path, questions: list[Question], asking: InspectionOptions, settings=SETTINGS, **how) -> SessionResult:
    with Answers(folder, questions, settings) as answers:
        return ask_all(questions, asking, answers, **how)


def answer_lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / FILE).read_text(encoding="utf-8").splitlines()]


def test_every_question_is_asked_once_and_its_line_says_everything(tmp_path: Path) -> None:
    questions = some_questions(12)
    made = ask(tmp_path, questions, InspectionOptions(Wayward), concurrency=3)
    assert (made.answered, made.failed, made.gone) == (12, 0, "")
    rows = answer_lines(tmp_path)
    assert Counter(row["source"]["file"] for row in rows) == Counter(map(place, questions))
    for row in rows:
        assert row["label"] == row["question"]["label"]
        assert (row["label_source"], row["simulated"]) == ("bench", True)
        assert row["usage"]["prompt"] == 1000 * row["usage"]["requests"]
        assert row["seconds"] >= 0
        assert row["said"][0].startswith("<think>")


def test_each_way_of_failing_is_scored_as_what_it_is(tmp_path: Path) -> None:
    questions = [question(kind, "cv", n) for n in range(20) for kind in ("cv", "fgk")]
    ask(tmp_path, questions, InspectionOptions(Wayward), concurrency=3)
    seen = set()
    for outcome in Run.read(tmp_path).outcomes:
        way = way_of(question(*_kind(outcome.key)).spectrum().name)
        seen.add(way)
        right = outcome.predicted == outcome.label
        match way:
            case "right":
                assert (right, outcome.format_ok, outcome.calls, outcome.errors) == (True, True, 1, 0)
            case "false positive":
                assert (outcome.predicted, outcome.answered, outcome.format_ok) == ("YES", "YES", True)
            case "false negative":
                assert (outcome.predicted, outcome.answered, outcome.format_ok) == ("NO", "NO", True)
            case "no answer":
                assert (outcome.predicted, outcome.answered, outcome.format_ok) == (None, None, False)
                assert outcome.ended == "no call and no answer"
            case "bad form":
                assert (right, outcome.format_ok) == (True, False)
            case "tool error":
                assert (right, outcome.errors) == (True, 1)
            case "turn limit":
                # The last call is not run, which the tool's error says.
                assert (outcome.ended, outcome.predicted, outcome.calls) == ("turn limit", None, 8)
    assert len(seen) == 7


def _kind(key: str) -> tuple[str, str, int]:
    kind, number = key.removeprefix("simulated-").removesuffix(".fits").split("-")
    return kind, "cv", int(number)


def test_threads_and_processes_in_any_number_give_the_same_outcomes(tmp_path: Path) -> None:
    questions = some_questions(10)
    found = []
    for name, how in (("a", {"concurrency": 1}), ("b", {"concurrency": 5}), ("c", {"processes": 2})):
        (tmp_path / name).mkdir()
        ask(tmp_path / name, questions, InspectionOptions(Wayward), **how)
        outcomes = Run.read(tmp_path / name).outcomes
        found.append([replace(outcome, seconds=None) for outcome in outcomes])
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 10


def test_what_is_known_only_once_a_spectrum_is_read_is_in_the_outcome(tmp_path: Path) -> None:
    listed = replace(question("cv", "cv", 1, survey="DESI"), survey="", snr=None, simulated=False)
    ask(tmp_path, [listed], InspectionOptions(Wayward))
    [outcome] = Run.read(tmp_path).outcomes
    assert (outcome.survey, outcome.simulated) == ("simulated DESI", True)
    assert outcome.snr == pytest.approx(12.0, rel=0.2)


def test_what_is_done_is_not_asked_again(tmp_path: Path) -> None:
    questions = some_questions(6)
    ask(tmp_path, questions, InspectionOptions(Wayward), concurrency=2)
    before = (tmp_path / FILE).read_bytes()

    def nobody(sample: int) -> Wayward:
        raise AssertionError("asked again")

    assert ask(tmp_path, questions, InspectionOptions(nobody)).answered == 0
    assert (tmp_path / FILE).read_bytes() == before
    assert len((tmp_path / SESSIONS).read_text().splitlines()) == 1


def test_a_line_that_was_cut_is_removed_and_its_question_asked_again(tmp_path: Path) -> None:
    questions = some_questions(5)
    ask(tmp_path, questions, InspectionOptions(Wayward))
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[: -len(whole.splitlines()[-1]) // 2])
    assert Run.read(tmp_path).open == 1
    assert ask(tmp_path, questions, InspectionOptions(Wayward)).answered == 1
    run = Run.read(tmp_path)
    assert (run.open, len(run.outcomes)) == (0, 5)


@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed by a signal")
@pytest.mark.parametrize("processes", [0, 2])
def test_killed_and_gone_on_every_question_is_in_the_journal_once(tmp_path: Path, processes: int) -> None:
    script = (
        "import sys, pathlib\nimport tests.training.test_bench_run as t\n"
        "if __name__ == '__main__':\n"
        "    asking = t.InspectionOptions(t.Slow)\n"
        f"    t.ask(pathlib.Path(sys.argv[1]), t.some_questions(16), asking, processes={processes})\n"
    )
    (tmp_path / "go.py").write_text(script)
    running = subprocess.Popen(
        [sys.executable, tmp_path / "go.py", tmp_path], env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    try:
        journal = tmp_path / FILE
        deadline = time.monotonic() + 120
        while True:
            ended = running.poll()
            if journal.exists() and journal.read_bytes().count(b"\n") >= 3:
                break
            assert ended is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    questions = some_questions(16)
    there = len(answer_lines(tmp_path)) if journal.read_bytes().endswith(b"\n") else None
    made = ask(tmp_path, questions, InspectionOptions(Wayward), concurrency=2)
    assert made.answered < 16
    assert there is None or made.answered == 16 - there
    assert Counter(row["source"]["file"] for row in answer_lines(tmp_path)) == Counter(map(place, questions))


class Slow(Wayward):
    """Takes its time, so that it can be killed on the way."""

    def turn(self, conversation):
        time.sleep(0.1)
        yield from super().turn(conversation)


def test_a_run_with_other_settings_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    questions = some_questions(2)
    ask(tmp_path, questions, InspectionOptions(Wayward))
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    other = SETTINGS | {"policy": {**SETTINGS["policy"], "name": "another"}}
    with pytest.raises(JournalError, match=r"policy.name was 'wayward', is 'another'"):
        ask(tmp_path, questions, InspectionOptions(Wayward), other)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_other_questions_or_other_labels_are_another_run(tmp_path: Path) -> None:
    questions = some_questions(4)
    ask(tmp_path, questions[:3], InspectionOptions(Wayward))
    with pytest.raises(JournalError, match="questions was 3, is 4"):
        ask(tmp_path, questions, InspectionOptions(Wayward))
    other = replace(questions[0], label="NO")
    with pytest.raises(JournalError, match="questions_sha256 was"):
        ask(tmp_path, [other, *questions[1:3]], InspectionOptions(Wayward))
    assert ask(tmp_path, list(reversed(questions[:3])), InspectionOptions(Wayward)).answered == 0


def test_a_question_has_one_name_and_a_spectrum_several_tasks(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two of one key"):
        Answers(tmp_path, [some_questions(1)[0]] * 2, SETTINGS)
    questions = [question("cv", "cv", 1), question("cv", "wd", 1)]
    assert ask(tmp_path, questions, InspectionOptions(Wayward)).answered == 2


def test_where_the_policy_fails_the_answer_counts_as_wrong_and_is_asked_for_again(tmp_path: Path) -> None:
    questions = some_questions(14)
    fail = [question for question in questions if way_of(question.spectrum().name) == "no answer"]
    assert fail
    made = ask(tmp_path, questions, InspectionOptions(Broken, retries=1), concurrency=2)
    assert made.failed == len(fail)
    assert "the server is out of memory" in made.failures[0]
    run = Run.read(tmp_path)
    assert set(run.failed) == set(map(place, fail))
    assert len(run.outcomes) == 14
    assert sum(outcome.ended == "policy failed" and outcome.predicted is None for outcome in run.outcomes) == len(fail)
    assert f"{len(fail)} counted wrong because the policy failed" in of_run(run).note
    # Its server is well again.
    assert ask(tmp_path, questions, InspectionOptions(Wayward)).answered == len(fail)
    assert Run.read(tmp_path).failed == {}


def test_a_server_that_is_gone_ends_the_sitting_and_leaves_the_rest_open(tmp_path: Path) -> None:
    def gone(sample: int) -> Wayward:
        policy = Wayward()
        policy.turn = lambda conversation: (_ for _ in ()).throw(RuntimeError("refused"))
        return policy

    questions = some_questions(40)
    made = ask(tmp_path, questions, InspectionOptions(gone, retries=0), concurrency=1)
    assert made.gone == "11 inspections in a row failed, the last one: RuntimeError: refused"
    run = Run.read(tmp_path)
    assert len(run.outcomes) == 11
    assert run.open == 29
    assert "unfinished: 29 questions to come" in of_run(run).note


def test_a_spectrum_that_cannot_be_read_is_named_and_does_not_count(tmp_path: Path) -> None:
    def unreadable():
        raise SpectrumError("star.fits", "half a file", "a whole one")

    def broken():
        raise KeyError("flux")

    good = some_questions(2)
    bad = [replace(q, spectrum=f) for q, f in zip(some_questions(4)[2:], (unreadable, broken), strict=True)]
    made = ask(tmp_path, [*good, *bad], InspectionOptions(Wayward))
    assert made.failed == 2
    run = Run.read(tmp_path)
    assert len(run.outcomes) == 2
    assert run.unread[place(bad[0])] == "star.fits: found half a file; expected a whole one"
    assert "KeyError: 'flux'" in run.unread[place(bad[1])]
    assert "2 spectra not read" in of_run(run).note


def test_a_folder_without_a_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutcomesError, match="holds no run of the bench"):
        Run.read(tmp_path)
    ask(tmp_path, some_questions(1), InspectionOptions(a_baseline))
    (tmp_path / FILE).write_text('{"not": "ours"}\n')
    with pytest.raises(OutcomesError, match="that is damaged: KeyError"):
        Run.read(tmp_path)


def a_baseline(sample: int) -> Baseline:
    return Baseline()


def test_a_limited_set_keeps_the_shares_and_is_the_same_each_time() -> None:
    questions = [*some_questions(60, kinds=("cv", *["fgk"] * 5)), *some_questions(4, "wd", ("wd", "cv"))]
    some = limited(questions, 12)
    cv = [one for one in some if one.task.key == "cv"]
    assert Counter(one.label for one in cv) == {"YES": 2, "NO": 10}
    assert sum(one.task.key == "wd" for one in some) == 4
    assert limited(list(reversed(questions)), 12) == list(reversed(some))
    assert limited(questions, 12, seed=1) != some
    assert set(map(place, limited(questions, 6))) < set(map(place, some))


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_a_small_set_has_both_labels_where_there_is_room(most: int) -> None:
    questions = some_questions(40, kinds=("cv", *["fgk"] * 19))
    some = limited(questions, most)
    assert len(some) == most
    assert len({one.label for one in some}) == min(most, 2)


@pytest.mark.parametrize(
    ("policy", "expected"), [("local", LOCAL_CONCURRENCY), ("nano", LOCAL_CONCURRENCY), ("spec-o3", batch.THREADS)]
)
def test_a_model_in_this_process_has_few_conversations_at_once(monkeypatch, tmp_path, policy, expected):
    used = []

    def ask(*_: object, concurrency: int, **__: object) -> SessionResult:
        used.append(concurrency)
        return SessionResult()

    monkeypatch.setattr("training.bench.run.ask_all", ask)
    arguments = parsed(BenchOptions, "--policy", policy)
    settings = {"name": "one", "policy": {"kind": "model"}}
    _ask(arguments, some_questions(2), InspectionOptions(lambda _: Baseline()), tmp_path, settings, Stop())
    assert used == [expected]
