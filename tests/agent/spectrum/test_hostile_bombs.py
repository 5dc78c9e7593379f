"""Small files that would unpack to much are refused in one sentence, in a process with a gigabyte to spare.

One process knocks with all of them: an address space that is limited shows what was asked for, not only what
was used. ``hostile_files.py`` makes them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.spectrum import SpectrumError, read
from reviewer.exchange.imports import ImportFileError
from reviewer.ui.imports import laid_out
from tests.support import hostile_files

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc to limit the memory by")
BOMBS = {
    "gzip.fits.gz": "unpacks to more than",
    "gzip in gzip.gz": "found",
    "repeats.parquet": "a damaged Parquet file",
    "words.parquet": "a damaged Parquet file",
    "terabytes.fits": "B_MASK of shape (2147483647, 2147483647)",
    "pcount.fits": "a header that claims",
    "deep.json": "found no JSON",
    "deep.jsonl": "found no JSON",
    "digits.json": "found no JSON",
    "infinite.jsonl": "wanted",
    "too long.jsonl": "wanted",
    "flat.zip": "files of 0.3 GB in all",
    "zip in zip.zip": "found 0 files of rows",
    "bzip2.zip": "by another method than deflate",
    "huge.png": "found no picture",
    "wide.png": "found no picture",
    "square.png": "found no picture",
    "deep.toml": "broken TOML",
    "digits.toml": "broken TOML",
    "laughs.yaml": "found the alias *a",
    "tag.yaml": "found no YAML",
    "deep.yaml": "found no YAML",
    "digits.yaml": "found no YAML",
    "date.yaml": "found no YAML",
}


@pytest.fixture(scope="module")
def knocked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("bombs")
    assert set(hostile_files.made(folder)) == set(BOMBS)
    command = [sys.executable, hostile_files.__file__, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_a_sentence(knocked: dict[str, Any], name: str) -> None:
    said = knocked[name]["said"]
    assert BOMBS[name] in said[0]
    for sentence in said:
        assert not sentence.startswith("answered") or name.endswith((".jsonl", ".zip"))
        assert len(sentence) <= 500
        assert "\n" not in sentence


def test_rubbish_after_the_last_hdu_is_given_to_nobody_else_to_read(tmp_path: Path) -> None:
    from astropy.io import fits

    fits.PrimaryHDU().writeto(tmp_path / "x.fits")
    rubbish = b"ZCMPTYPE=              garbage".ljust(2880)
    (tmp_path / "x.fits").write_bytes((tmp_path / "x.fits").read_bytes() + 2 * rubbish)
    with pytest.raises(SpectrumError, match="a layout known here"):
        read(tmp_path / "x.fits")


def test_a_zip_that_lies_about_its_sizes_is_broken(tmp_path: Path) -> None:
    whole = hostile_files.zip_of({"rows.jsonl": b"0" * 5_000_000})
    told = (5_000_000).to_bytes(4, "little")
    assert whole.count(told) == 2
    path = tmp_path / "lies.zip"
    path.write_bytes(whole.replace(told, (5_000).to_bytes(4, "little")))
    with pytest.raises(ImportFileError, match="found a broken zip"), laid_out([path]):
        pass


def test_a_parquet_file_that_ends_its_reader_ends_no_more_than_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent.spectrum.readers import parquet_child

    (tmp_path / "x.parquet").write_bytes(hostile_files.parquet_of_repeats(100))
    (tmp_path / "dies.py").write_text("import os\nos.abort()\n")
    monkeypatch.setattr(parquet_child, "__file__", str(tmp_path / "dies.py"))
    with pytest.raises(SpectrumError, match="does not survive"):
        read(tmp_path / "x.parquet", "0")
