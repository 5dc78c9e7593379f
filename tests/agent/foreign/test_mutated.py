"""Mutated logs of all formats: traces or a refusal, and no other file opened, no connection, no program started.

A longer run: ``python -m tests.agent.foreign.mutated FOLDER NUMBER SEED``.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.foreign.test_convert import WRITERS
from tests.agent.foreign.turns import an_example

ROOT = Path(__file__).resolve().parents[3]


def check(names: list[str], folder: Path, number: int) -> None:
    for name in names:
        (folder / name).mkdir()
        WRITERS[name](*an_example(1), folder / name)
    command = [sys.executable, "-m", "tests.agent.foreign.mutated", str(folder), str(number), "1"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    answer = json.loads(finished.stdout.splitlines()[-1])
    assert (answer["wrong"], answer["outside"]) == ([], [])
    assert answer["trajectories"] > 0
    assert answer["refused"] > 0 or names == ["openinference"]  # its lines repeat all that a damaged one says


def test_ten_mutated_logs_of_each_format(tmp_path: Path) -> None:
    check(list(WRITERS), tmp_path, 10)


@pytest.mark.long
@pytest.mark.parametrize("name", WRITERS)
def test_six_hundred_mutated_logs(name: str, tmp_path: Path) -> None:
    check([name], tmp_path, 600)
