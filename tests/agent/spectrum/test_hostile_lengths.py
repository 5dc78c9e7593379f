"""What a model writes is read in time that grows with its length, to any depth, and numbers of any length
are no exception.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation import Conversation, Piece
from agent.loop import MAX_CHARACTERS, Ended, Said, inspect
from agent.text import whole_number
from agent.trajectory.steps import Think, new_step_id
from agent.trajectory.tags import between, parse
from reviewer.blind.leaks import giveaways
from reviewer.store import Head, QueueFilter, Store
from reviewer.web.access import told_length
from reviewer.web.routes import sign_in
from tests.reviewer.web.test_live_runs import SPECTRUM, TASK, WHO
from tests.support import hostile_turns


def test_no_text_of_a_model_takes_its_readers_for_ever() -> None:
    # The system ends the process when its seconds of processor time are used up.
    command = [sys.executable, hostile_turns.__file__]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout) == (0, "read\n"), done.stderr[-2000:]


PIECES = st.lists(st.sampled_from(["<answer>", "</answer>", "\\boxed{", "}", " ", "YES", "\n"]), max_size=12)


@given(PIECES)
def test_what_stands_between_is_what_a_pattern_finds(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert list(between(text, "<answer>", "</answer>")) == re.findall("<answer>(.*?)</answer>", text, re.DOTALL)
    assert list(between(text, "\\boxed{", "}")) == re.findall(r"\\boxed\{([^}]*)\}", text)


@pytest.mark.parametrize(
    ("box", "verdict"),
    [
        ("\\boxed{YES}", "YES"),
        ("\\boxed {  NO \n}", "NO"),
        ("\\boxed{ \\text { YES } }", "YES"),
        ("\\boxed{\\text{NO}}", "NO"),
        ("\\boxed{ }", None),
        ("\\boxed{\\text{YES} or so}", "YES"),  # no box, and one of the two words
        ("\\boxed{maybe}", None),
    ],
)
def test_a_box_is_read_with_white_space_anywhere(box: str, verdict: str | None) -> None:
    answer = parse(f"<think>a</think><answer>{box} broad</answer>").answer
    assert answer is not None
    assert answer.verdict == verdict


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_a_call_of_any_depth_is_one_that_cannot_be_read(opening: str) -> None:
    for depth in (30, 450, 900, 5000):
        closing = {"[": "]"}.get(opening, "}")
        inside = opening * depth + "1" + closing * depth
        turn = parse(f'<tool_call>{{"name": "x", "arguments": {{"a": {inside}}}}}</tool_call>')
        assert turn.call is None
        assert turn.faults[0].startswith("a tool call that cannot be read")


def test_one_piece_longer_than_a_turn_is_cut() -> None:
    class Floods:
        drafter = WHO

        def turn(self, conversation: Conversation) -> Iterator[Piece]:
            yield "<think>"
            yield "a" * 3 * MAX_CHARACTERS

    happened = list(inspect(SPECTRUM, TASK, Floods()))
    last = happened[-1]
    assert isinstance(last, Ended)
    assert f"turn 1: cut after {MAX_CHARACTERS} characters" in last.trajectory.faults
    assert sum(len(one.text) for one in happened if isinstance(one, Said)) == MAX_CHARACTERS + 1
    assert len(last.trajectory.steps[0].text) <= MAX_CHARACTERS  # type: ignore[union-attr]


def test_giveaways_of_which_there_are_thousands_are_all_found() -> None:
    found = giveaways("x.fits gpt-4 " * 3000)
    assert [one.words for one in found[:2]] == ["x.fits", "gpt-4"]
    assert len(found) == 6000


@pytest.mark.parametrize("text", ["", "²", "٣", "-1", "+1", "1_0", "1 1", "1.0", "9" * 19, "9" * 5000])
def test_what_is_no_number_is_none_and_raises_nothing(text: str, tmp_path: Path) -> None:
    assert whole_number(text) is None
    assert told_length({"content-length": text}) is None
    with pytest.raises(ValueError, match="NUMBER:HASH"):
        Head.parse(f"{text}:{'a' * 64}")
    assert new_step_id((Think(f"s{text}", "a"), Think("s3", "b"))) == "s4"
    with Store.open(tmp_path / "annotations.db") as store:
        assert store.queue(QueueFilter(text=f"#{text}"), "").rows == ()


def test_a_step_gets_an_id_that_no_step_has() -> None:
    last = "9" * 18
    assert new_step_id((Think(f"s{last}", "a"), Think(f"s{int(last) + 1}", "b"))) == f"s{int(last) + 2}"


@pytest.mark.parametrize("length", ["²", "9" * 5000, "x", ""])
def test_a_form_whose_length_is_no_number_is_refused(length: str, tmp_path: Path) -> None:
    app = FastAPI()
    with Store.open(tmp_path / "annotations.db") as store:
        app.include_router(sign_in.router(store, local=True))
        browser = TestClient(app, base_url="http://127.0.0.1:7860")
        headers = {b"content-length": length.encode("latin-1"), b"origin": b"http://127.0.0.1:7860"}
        answer = browser.post("/sign-in", content=b"initials=AB", headers=headers)  # type: ignore[arg-type]
    assert answer.status_code == 411
