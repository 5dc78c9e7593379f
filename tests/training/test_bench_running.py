"""Every question asked once, whatever comes between: in threads, in processes, killed, gone on, refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from agent.batch import run as batch
from agent.batch.journal import JournalError
from agent.policies.baseline.rule import Baseline
from agent.spectrum import SpectrumError
from tests.support.bench_questions import Broken, Wayward, question, some_questions, way_of
from training.bench.answers import FILE, SITTINGS, Answers, Run, limited, place
from training.bench.outcomes import OutcomesError
from training.bench.run import Asking, Made, ask_all
from training.bench.table import of_run
from training.data.records import Question

ROOT = Path(__file__).resolve().parents[2]
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


def bench(folder: Path, questions: list[Question], asking: Asking, settings=SETTINGS, **how) -> Made:
    with Answers(folder, questions, settings) as answers:
        return ask_all(questions, asking, answers, **how)


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / FILE).read_text(encoding="utf-8").splitlines()]


def test_every_question_is_asked_once_and_its_line_says_everything(tmp_path: Path) -> None:
    questions = some_questions(12)
    made = bench(tmp_path, questions, Asking(Wayward), concurrency=3)
    assert (made.asked, made.failed, made.gone) == (12, 0, "")
    rows = lines(tmp_path)
    assert Counter(row["source"]["file"] for row in rows) == Counter(map(place, questions))
    for row in rows:
        assert row["label"] == row["question"]["label"]
        assert (row["label_source"], row["simulated"]) == ("bench", True)
        assert row["usage"]["prompt"] == 1000 * row["usage"]["requests"]
        assert row["seconds"] >= 0
        assert row["said"][0].startswith("<think>")


def test_each_way_of_failing_is_scored_as_what_it_is(tmp_path: Path) -> None:
    questions = [question(kind, "cv", n) for n in range(20) for kind in ("cv", "fgk")]
    bench(tmp_path, questions, Asking(Wayward), concurrency=3)
    seen = set()
    for one in Run.read(tmp_path).outcomes:
        way = way_of(question(*_kind(one.key)).spectrum().name)
        seen.add(way)
        right = one.predicted == one.label
        match way:
            case "right":
                assert (right, one.format_ok, one.calls, one.errors) == (True, True, 1, 0)
            case "false positive":
                assert (one.predicted, one.answered, one.format_ok) == ("YES", "YES", True)
            case "false negative":
                assert (one.predicted, one.answered, one.format_ok) == ("NO", "NO", True)
            case "no answer":
                assert (one.predicted, one.answered, one.format_ok) == (None, None, False)
                assert one.ended == "no call and no answer"
            case "bad form":
                assert (right, one.format_ok) == (True, False)
            case "tool error":
                assert (right, one.errors) == (True, 1)
            case "turn limit":
                # The last call is not run, which the tool's error says.
                assert (one.ended, one.predicted, one.calls) == ("turn limit", None, 8)
    assert len(seen) == 7


def _kind(key: str) -> tuple[str, str, int]:
    kind, number = key.removeprefix("simulated-").removesuffix(".fits").split("-")
    return kind, "cv", int(number)


def test_threads_and_processes_in_any_number_give_the_same_outcomes(tmp_path: Path) -> None:
    questions = some_questions(10)
    found = []
    for name, how in (("a", {"concurrency": 1}), ("b", {"concurrency": 5}), ("c", {"processes": 2})):
        (tmp_path / name).mkdir()
        bench(tmp_path / name, questions, Asking(Wayward), **how)
        outcomes = Run.read(tmp_path / name).outcomes
        found.append([replace(one, seconds=None) for one in outcomes])
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 10


def test_the_baseline_can_be_asked_in_processes(tmp_path: Path) -> None:
    from agent.cli.inspect import baseline

    questions = [question("cv", "cv", 1, snr=30.0), question("fgk", "cv", 2, snr=30.0)]
    bench(tmp_path, questions, Asking(baseline), processes=2)
    outcomes = Run.read(tmp_path).outcomes
    assert [(one.predicted, one.format_ok, one.ended) for one in outcomes] == [
        ("YES", True, "answered"),
        ("NO", True, "answered"),
    ]


def test_without_the_tool_there_is_one_turn_and_no_look(tmp_path: Path) -> None:
    bench(tmp_path, some_questions(6), Asking(Wayward, with_tool=False), concurrency=2)
    for row, outcome in zip(lines(tmp_path), Run.read(tmp_path).outcomes, strict=True):
        assert len(row["said"]) == 1
        assert outcome.calls == 0


def test_what_is_known_only_once_a_spectrum_is_read_is_in_the_outcome(tmp_path: Path) -> None:
    listed = replace(question("cv", "cv", 1, survey="DESI"), survey="", snr=None, simulated=False)
    bench(tmp_path, [listed], Asking(Wayward))
    [outcome] = Run.read(tmp_path).outcomes
    assert (outcome.survey, outcome.simulated) == ("simulated DESI", True)
    assert outcome.snr == pytest.approx(12.0, rel=0.2)


def test_what_is_done_is_not_asked_again(tmp_path: Path) -> None:
    questions = some_questions(6)
    bench(tmp_path, questions, Asking(Wayward), concurrency=2)
    before = (tmp_path / FILE).read_bytes()

    def nobody(sample: int) -> Wayward:
        raise AssertionError("asked again")

    assert bench(tmp_path, questions, Asking(nobody)).asked == 0
    assert (tmp_path / FILE).read_bytes() == before
    assert len((tmp_path / SITTINGS).read_text().splitlines()) == 1


def test_a_line_that_was_cut_is_removed_and_its_question_asked_again(tmp_path: Path) -> None:
    questions = some_questions(5)
    bench(tmp_path, questions, Asking(Wayward))
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(whole[: -len(whole.splitlines()[-1]) // 2])
    assert Run.read(tmp_path).open == 1
    assert bench(tmp_path, questions, Asking(Wayward)).asked == 1
    run = Run.read(tmp_path)
    assert (run.open, len(run.outcomes)) == (0, 5)


@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed by a signal")
@pytest.mark.parametrize("processes", [0, 2])
def test_killed_and_gone_on_every_question_is_in_the_journal_once(tmp_path: Path, processes: int) -> None:
    script = (
        "import sys, pathlib\nimport tests.training.test_bench_running as t\n"
        "if __name__ == '__main__':\n"
        "    asking = t.Asking(t.Slow)\n"
        f"    t.bench(pathlib.Path(sys.argv[1]), t.some_questions(16), asking, processes={processes})\n"
    )
    (tmp_path / "go.py").write_text(script)
    running = subprocess.Popen(
        [sys.executable, tmp_path / "go.py", tmp_path], env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    try:
        journal = tmp_path / FILE
        deadline = time.monotonic() + 120
        while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    questions = some_questions(16)
    there = len(lines(tmp_path)) if journal.read_bytes().endswith(b"\n") else None
    made = bench(tmp_path, questions, Asking(Wayward), concurrency=2)
    assert made.asked < 16
    assert there is None or made.asked == 16 - there
    assert Counter(row["source"]["file"] for row in lines(tmp_path)) == Counter(map(place, questions))


class Slow(Wayward):
    """Takes its time, so that it can be killed on the way."""

    def turn(self, conversation):
        time.sleep(0.1)
        yield from super().turn(conversation)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"max_turns": 4}, "max_turns was 8, is 4"),
        ({"with_tool": False}, "with_tool was True, is False"),
        ({"policy": {**SETTINGS["policy"], "name": "another"}}, "policy.name was 'wayward', is 'another'"),
    ],
)
def test_a_run_with_other_settings_is_refused_and_nothing_is_changed(tmp_path: Path, change: dict, told: str) -> None:
    questions = some_questions(2)
    bench(tmp_path, questions, Asking(Wayward))
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(JournalError, match=told):
        bench(tmp_path, questions, Asking(Wayward), SETTINGS | change)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_other_questions_or_other_labels_are_another_run(tmp_path: Path) -> None:
    questions = some_questions(4)
    bench(tmp_path, questions[:3], Asking(Wayward))
    with pytest.raises(JournalError, match="questions was 3, is 4"):
        bench(tmp_path, questions, Asking(Wayward))
    other = replace(questions[0], label="NO")
    with pytest.raises(JournalError, match="questions_sha256 was"):
        bench(tmp_path, [other, *questions[1:3]], Asking(Wayward))
    assert bench(tmp_path, list(reversed(questions[:3])), Asking(Wayward)).asked == 0


def test_two_questions_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two of one key"):
        Answers(tmp_path, [some_questions(1)[0]] * 2, SETTINGS)


def test_one_spectrum_may_be_asked_about_in_several_tasks(tmp_path: Path) -> None:
    questions = [question("cv", "cv", 1), question("cv", "wd", 1)]
    assert bench(tmp_path, questions, Asking(Wayward)).asked == 2


def test_where_the_policy_fails_the_answer_counts_as_wrong_and_is_asked_for_again(tmp_path: Path) -> None:
    questions = some_questions(14)
    fail = [one for one in questions if way_of(one.spectrum().name) == "no answer"]
    assert fail
    made = bench(tmp_path, questions, Asking(Broken, retries=1), concurrency=2)
    assert made.failed == len(fail)
    assert "the server is out of memory" in made.failures[0]
    run = Run.read(tmp_path)
    assert set(run.failed) == set(map(place, fail))
    assert len(run.outcomes) == 14
    assert sum(one.ended == "policy failed" and one.predicted is None for one in run.outcomes) == len(fail)
    assert f"{len(fail)} counted wrong because the policy failed" in of_run(run).note
    # Its server is well again.
    assert bench(tmp_path, questions, Asking(Wayward)).asked == len(fail)
    assert Run.read(tmp_path).failed == {}


def test_a_server_that_is_gone_ends_the_sitting_and_leaves_the_rest_open(tmp_path: Path) -> None:
    def gone(sample: int) -> Wayward:
        policy = Wayward()
        policy.turn = lambda conversation: (_ for _ in ()).throw(RuntimeError("refused"))
        return policy

    questions = some_questions(40)
    made = bench(tmp_path, questions, Asking(gone, retries=0), concurrency=1)
    assert made.gone == "11 inspections in a row failed, the last one: RuntimeError: refused"
    run = Run.read(tmp_path)
    assert len(run.outcomes) == 11
    assert run.open == 29
    assert "unfinished: 29 questions not asked" in of_run(run).note


def test_a_spectrum_that_cannot_be_read_is_named_and_does_not_count(tmp_path: Path) -> None:
    def unreadable():
        raise SpectrumError("star.fits", "half a file", "a whole one")

    def broken():
        raise KeyError("flux")

    good = some_questions(2)
    bad = [replace(q, spectrum=f) for q, f in zip(some_questions(4)[2:], (unreadable, broken), strict=True)]
    made = bench(tmp_path, [*good, *bad], Asking(Wayward))
    assert made.failed == 2
    run = Run.read(tmp_path)
    assert len(run.outcomes) == 2
    assert run.unread[place(bad[0])] == "star.fits: found half a file; wanted a whole one"
    assert "KeyError: 'flux'" in run.unread[place(bad[1])]
    assert "2 spectra not read" in of_run(run).note


def test_a_folder_without_a_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutcomesError, match="holds no run of the bench"):
        Run.read(tmp_path)
    bench(tmp_path, some_questions(1), Asking(a_baseline))
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
