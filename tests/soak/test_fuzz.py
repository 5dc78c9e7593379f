"""The fuzz targets in short form: every seed, some damaged inputs, and files that would unpack to much."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.soak.served import ROOT
from tests.soak.targets import TARGETS
from tests.soak.trying import DidNotHold, check_sentence, tried
from tests.support.inputs import bombs
from tests.support.inputs.bombs import BOMBS

DAMAGED = {"parquet": 2, "fits": 15, "fits.gz": 15, "specvi": 8, "import.sharegpt": 15, "zip": 15, "routes": 60}
"""How many damaged inputs where trying one takes long; 40 elsewhere."""
MOST_SEEDS = {"parquet": 5, "routes": None}
"""How many seeds where trying one takes long; 30 elsewhere."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = tempfile.tempdir
    yield tmp_path
    tempfile.tempdir = before  # the target of zips watches a folder of its own


@pytest.mark.parametrize("name", TARGETS)
def test_an_input_is_answered_or_refused_in_a_sentence(name: str, folder: Path) -> None:
    target, chance = TARGETS[name], random.Random(7)
    attempt = target.make(folder)
    seeds = list(target.seeds())[: MOST_SEEDS.get(name, 30)]
    damaged = [target.mutate(chance.choice(seeds), chance) for _ in range(DAMAGED.get(name, 40))]
    for data in (b"", *seeds, *damaged):
        find = tried(attempt, data)
        assert find is None, find.story


@pytest.mark.parametrize("text", ["", "a\nb", "x" * 501, "\x1b[2J", "\u202e", f"{__file__}: no such file"])
def test_what_is_no_sentence_is_seen(text: str) -> None:
    with pytest.raises(DidNotHold):
        check_sentence(text)


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """What the target of each bomb, and the reader of spectra, said of it."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("no /proc to limit the memory by")
    folder = tmp_path_factory.mktemp("bombs")
    bombs.write(folder)
    command = [sys.executable, "-m", bombs.__name__, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, list[list[str]]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_a_sentence(refusals: dict[str, list[list[str]]], name: str) -> None:
    target, _, expected = BOMBS[name]
    by_target, by_reader = refusals[name]
    assert expected in by_target[0]
    assert by_reader or target in ("import.jsonl", "zip")
