"""Prompts of SpecVI-Bench's rows: import, choice per policy, and what a trace says about them."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import app
from agent.cli.command import CannotRun
from agent.cli.policy_options import PolicyOptions, choice_from, roster_from, task_prompts_from
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.policies.local.model import Weights
from agent.policies.roster import Roster
from agent.policies.servers import Server
from agent.simulate import files, simulate
from agent.tasks import TaskError, load, trained
from agent.tasks.specvi import prompt_text
from tests.support.cli import parsed
from tests.support.model_server import BadServer, answer, talking
from tests.support.training_data import specvi_file, specvi_row

TASKS = load()
GUIDE = "Analyze the provided spectrum to determine if it is a **Carbon Star (C-type)**.\n\n- **Swan** bands\n"


def with_prompt(number: int, text: str, source: str = "carbon", system: str = "You are a helpful assistant.") -> dict:
    turns = [{"role": "system", "content": system}, {"role": "user", "content": f"<image>\n{text}"}]
    return specvi_row(number, source, prompt=turns)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the prompts of cv and cc, as the import stores them."""
    rows = [specvi_row(0), with_prompt(1, GUIDE)]
    found = trained.import_prompts([specvi_file(tmp_path / "train_cv.parquet", rows)], TASKS)
    path = tmp_path / "trained_prompts.json"
    trained.save(path, found.prompts)
    monkeypatch.setenv("SPEC_O3_PROMPTS", str(path))
    return path


def test_each_class_gets_the_prompt_of_its_rows_with_their_source(tmp_path: Path) -> None:
    path = specvi_file(tmp_path / "train_cc.parquet", [with_prompt(n, GUIDE) for n in range(3)], group=2)
    found = trained.import_prompts([path], TASKS, datetime(2026, 1, 2, tzinfo=UTC))
    assert set(found.prompts) == {"cc"}
    one = found.prompts["cc"]
    assert (one.prompt, one.rows, one.others, one.imported_at) == (GUIDE, 3, (), "2026-01-02T00:00:00+00:00")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert [(s.file, s.sha256, s.rows) for s in one.files] == [("train_cc.parquet", sha256, 3)]


def test_the_models_text_is_the_rows_text_to_the_last_character() -> None:
    turns = [{"role": "user", "content": "<image>\nQuestion.\n\n- guide \n"}]
    assert prompt_text(turns) == "Question.\n\n- guide \n"
    with pytest.raises(ValueError, match="found 0 user turns with text, expected one"):
        prompt_text([{"role": "user", "content": "<image>\n"}][:0])


def test_of_several_prompts_the_most_frequent_is_taken_and_all_are_counted(tmp_path: Path) -> None:
    rows = [with_prompt(n, "Rare words.") for n in range(2)] + [with_prompt(n, GUIDE) for n in range(3)]
    files = [specvi_file(tmp_path / f"{part}_cc.parquet", rows) for part in ("train", "test")]
    one = trained.import_prompts(files, TASKS).prompts["cc"]
    assert (one.prompt, one.rows) == (GUIDE, 6)
    assert [(other.prompt, other.rows) for other in one.others] == [("Rare words.", 4)]


def test_what_was_stored_is_read_back_and_a_changed_prompt_is_refused(stored: Path) -> None:
    found = trained.load(stored)
    assert found["cc"].prompt == GUIDE
    data = json.loads(stored.read_text(encoding="utf-8"))
    data["tasks"]["cc"]["prompt"] += "!"
    stored.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(TaskError, match=r"tasks\.cc\.prompt: found a changed text"):
        trained.load(stored)
    stored.write_text("{", encoding="utf-8")
    with pytest.raises(TaskError, match="expected JSON as `spec-o3 tasks import` writes it"):
        trained.load(stored)


def test_other_files_are_refused_with_what_was_expected(tmp_path: Path) -> None:
    path = tmp_path / "train_cv.parquet"
    pq.write_table(pa.table({"wavelength": [1.0]}), path)
    with pytest.raises(TaskError, match="found no columns data_source, prompt"):
        trained.import_prompts([path], TASKS)
    path.write_bytes(b"PAR1 and not more")
    with pytest.raises(TaskError, match="damaged Parquet file"):
        trained.import_prompts([path], TASKS)
    with pytest.raises(TaskError, match="a folder without them"):
        trained.files_in(tmp_path / "..")
    specvi_file(path, [specvi_row(0), specvi_row(1, prompt=[{"role": "user", "content": ""}])])
    with pytest.raises(TaskError, match="row 1: found prompt: found 1 user turns with text"):
        trained.import_prompts([path], TASKS)


def test_a_checkpoint_gets_the_prompt_as_trained_by_default_and_others_ours(stored: Path) -> None:
    prompts = trained.load(stored)
    cc = TASKS["cc"]
    assert trained.choose(cc, prompts, None, is_checkpoint=False) == cc
    chosen = trained.choose(cc, prompts, None, is_checkpoint=True)
    assert (chosen.prompt, chosen.prompt_source) == (GUIDE, "trained")
    assert trained.choose(cc, prompts, "ours", is_checkpoint=True) == cc
    assert trained.choose(cc, prompts, "trained").prompt == GUIDE
    # Nothing imported for it: the default is ours, and the refusal says how to import.
    assert trained.choose(TASKS["o"], prompts, None, is_checkpoint=True) == TASKS["o"]
    with pytest.raises(TaskError, match=r"no imported prompt of o; expected .*spec-o3 tasks import"):
        trained.choose(TASKS["o"], prompts, "trained")


def test_which_policies_are_checkpoints() -> None:
    servers = [Server(key="a", url="http://h/v1"), Server(key="b", url="http://h/v1", dialect="native")]
    roster = Roster(servers, Weights("runs/Spec-o3-7B"))
    assert [roster.is_checkpoint(key) for key in ("a", "b", "local", "baseline", "replay")] == [
        *(True, False, True, False, False)
    ]
    assert not Roster((), Weights("Qwen/Qwen2.5-VL-3B-Instruct")).is_checkpoint("local")


def test_the_trace_says_which_prompt_was_used(stored: Path) -> None:
    spectrum = simulate("cc", "LAMOST", 30.0, 1)
    ours = run(spectrum, TASKS["cc"], Baseline())
    assert "prompt_source" not in ours.drafter.settings
    trace = run(spectrum, trained.choose(TASKS["cc"], trained.load(stored), "trained"), Baseline())
    assert trace.drafter.settings["prompt_source"] == "trained"
    assert trace.prompt == GUIDE


def chosen(*options: str):
    arguments = parsed(PolicyOptions, *options)
    return task_prompts_from(arguments, choice_from(arguments, roster_from(arguments)))


def test_the_option_overrides_the_default_of_the_policy(stored: Path) -> None:
    assert chosen("--policy", "spec-o3")(TASKS["cc"]).prompt == GUIDE
    assert chosen("--policy", "spec-o3", "--prompt", "ours")(TASKS["cc"]) == TASKS["cc"]
    assert chosen()(TASKS["cc"]) == TASKS["cc"]
    assert chosen("--prompt", "trained")(TASKS["cc"]).prompt == GUIDE
    with pytest.raises(CannotRun, match="--prompt: prompt as trained: o: found no imported prompt of o"):
        chosen("--prompt", "trained")(TASKS["o"])


def test_inspect_sends_the_prompt_as_trained_to_a_checkpoint_and_the_results_name_it(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SPEC_O3_SERVERS", raising=False)
    list(files.write(tmp_path / "sky", files.orders(["cc"], ["LAMOST"], (30.0, 30.0), seed=1), ["cc"]))
    out = tmp_path / "results.jsonl"
    with BadServer(talking((answer("YES"),))) as server:
        given = ["inspect", str(tmp_path / "sky"), "--task", "cc", "--out", str(out), "--policy", "spec-o3"]
        assert app.main([*given, "--server", server.url]) == 0
        (asked,) = [request.body for request in server.asked if request.path.endswith("chat/completions")]
        assert asked["messages"][1]["content"][-1]["text"] == f"\n{GUIDE}"
        row = json.loads(out.read_text(encoding="utf-8"))
        assert row["drafter"]["settings"]["prompt_source"] == "trained"
        capsys.readouterr()
        assert app.main([*given, "--server", server.url, "--prompt", "ours"]) == 2
    assert "prompt was 'trained', is not given" in capsys.readouterr().err


def test_tasks_lists_imports_and_reports_variants(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("SPEC_O3_PROMPTS")
    database = str(tmp_path / "annotations.db")
    assert app.main(["tasks", "--db", database]) == 0
    before = capsys.readouterr().out
    assert "Cataclysmic Variable (CV)" in before
    assert "spec-o3 tasks import SpecVI-Bench/data" in before
    folder = tmp_path / "SpecVI-Bench"
    (folder / "data").mkdir(parents=True)
    rows = [with_prompt(n, GUIDE) for n in range(2)] + [with_prompt(2, GUIDE.replace("Swan", "CN"), system="Else.")]
    specvi_file(folder / "data" / "train_cc.parquet", [*rows, specvi_row(3, "comet")])
    assert app.main(["tasks", "import", str(folder), "--db", database]) == 0
    out = capsys.readouterr().out
    assert "2 variants in 3 rows; the most frequent one, of 2 rows, was taken" in out
    assert "CN" in out
    assert "left out: 1 row of 'comet', no task here" in out
    assert "1 row has another system text" in out
    assert (tmp_path / "trained_prompts.json").is_file()
    assert app.main(["tasks", "--db", database, "--json"]) == 0
    listed = {load["key"]: load["prompts"] for load in json.loads(capsys.readouterr().out)["tasks"]}
    assert listed["cc"] == ["trained", "ours"]
    assert listed["cv"] == ["ours"]


def test_an_import_replaces_the_classes_it_finds_and_keeps_the_others(stored, tmp_path, capsys):
    path = specvi_file(tmp_path / "test_cv.parquet", [with_prompt(0, "New words.", "cv")])
    assert app.main(["tasks", "--json", "import", str(path), "--db", str(tmp_path / "annotations.db")]) == 0
    printed = capsys.readouterr()
    assert "tasks: its options now follow the word import" in printed.err
    assert json.loads(printed.out)["prompts_file"] == str(stored)
    found = trained.load(stored)
    assert (found["cv"].prompt, found["cc"].prompt) == ("New words.", GUIDE)
