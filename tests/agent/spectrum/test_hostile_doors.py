"""The fuzzer in short: every door with its seeds and inputs spoiled from them; tests.soak.fuzz is the long form."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.soak.doors import DOORS
from tests.soak.trying import DidNotHold, check_sentence, tried

SPOILED = {"parquet": 2, "fits": 15, "fits.gz": 15, "specvi": 8, "import.sharegpt": 15, "zip": 15}
"""How many inputs where trying one takes long; 40 elsewhere."""

NO_REQUESTS = (
    ("POST", "/api/look", {"item": 1, "arguments": {"wavelength_range": [4010.0, "\ud800"], "label": "x"}}),
    ("POST", "/api/look", {"item": 1, "arguments": {"wavelength_range": [4010.0, float("nan")]}}),
    ("POST", "/api/live/bench", {"item": 2**63}),
    ("POST", "/api/item/1/decide", {"version": 10**30, "verb": "keep", "key": "k" * 11, "lease": "LEASE"}),
    ("POST", "/api/item/1/mark", {"version": 1, "\x1b[2J": "vacuum"}),
    ("POST", "/api/item/1/undo", {"key": "k" * 12, "a" * 4000: 1}),
    ("GET", "/api/picture/abc", {"arguments": "no JSON"}),
    ("GET", "/api/picture/abc", {"arguments": "[" * 5000}),
    ("GET", f"/api/item/{10**40}", {}),
)
"""Each was an answer 500, or a refusal that was no sentence."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = tempfile.tempdir
    yield tmp_path
    tempfile.tempdir = before  # the door of zips watches a folder of its own


@pytest.mark.parametrize("name", [name for name in DOORS if name != "routes"])
def test_what_comes_in_is_answered_or_refused_in_a_sentence(name: str, folder: Path) -> None:
    door, chance = DOORS[name], random.Random(7)
    attempt = door.make(folder)
    seeds = list(door.seeds())[:12]
    spoiled = [door.mutate(chance.choice(seeds), chance) for _ in range(SPOILED.get(name, 40))]
    for data in (b"", *seeds, *spoiled):
        find = tried(attempt, data)
        assert find is None, find.story


def test_no_request_of_a_person_makes_the_program_fail(folder: Path) -> None:
    door, chance = DOORS["routes"], random.Random(7)
    attempt = door.make(folder)
    seeds = list(door.seeds())
    known = [json.dumps({"method": m, "path": p, "body": b}).encode() for m, p, b in NO_REQUESTS]
    for data in (*seeds, *known, *(door.mutate(chance.choice(seeds), chance) for _ in range(60))):
        find = tried(attempt, data)
        assert find is None, find.story


@pytest.mark.parametrize("text", ["", "a\nb", "x" * 501, "\x1b[2J", "\u202e", f"{__file__}: no such file"])
def test_the_fuzzer_sees_what_is_no_sentence(text: str) -> None:
    with pytest.raises(DidNotHold):
        check_sentence(text)
