"""Damaged files of settings, tasks, servers, labels, journals and training data, and files that unpack to much."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agent.batch.journal import Journal
from agent.batch.labels import Labels, LabelsError
from agent.batch.sources import SourceError, sources_from
from agent.json_lines import JournalError
from agent.policies.servers import RosterError, read_servers
from agent.spectrum import SpectrumError
from agent.tasks import TaskError
from agent.tasks.files import read as read_task
from tests.conftest import ROOT
from tests.support.inputs import bombs, rows
from tests.support.inputs.damage import damaged_bytes, damaged_json, damaged_text, examples
from tests.support.inputs.refusals import refused_by
from training.data import DataError, questions
from training.data import examples as training_examples
from training.settings import SettingsError
from training.settings import read as read_settings
from training.sft import SftSettings

MOST = 6
"""Rows of a file that are read; more cost time and show nothing new."""


def read_labels(path: Path) -> None:
    labels = Labels.read(path, lambda name: name == "cv" if name in ("cv", "cc") else None)
    for name in [*labels.unused][:MOST]:
        labels.of(name)


def read_sources(path: Path) -> None:
    for source in islice(sources_from([f"@{path}"], path.parent), MOST):
        source.key.encode("utf-8", "surrogateescape")


def read_a_task(path: Path) -> None:
    task = read_task(path)
    assert task.prompt
    assert task.guide


def read_journal(path: Path) -> None:
    run = {"task": "cv", "n": 1}
    path.with_name("results.jsonl.run.json").write_text(json.dumps({"schema": "spec-o3/run/1"} | run), "utf-8")
    with Journal(path, run) as journal:
        for inspected in journal.inspected():
            assert isinstance(inspected.file, str)


def read_examples(path: Path) -> None:
    for example in training_examples([path], rows.TASKS, spectra=path.parent)[:MOST]:
        with refused_by(DataError, where=path.parent):
            example.pictures()


def read_questions(path: Path) -> None:
    for question in questions([path], rows.TASKS, spectra=path.parent)[:MOST]:
        with refused_by(DataError, SpectrumError, where=path.parent):
            question.spectrum()


Reader = Callable[[Path], object]
FILES: dict[str, tuple[Reader, type[Exception], SearchStrategy[bytes]]] = {
    "labels.csv": (read_labels, LabelsError, damaged_text(rows.label_tables())),
    "list.csv": (read_sources, SourceError, damaged_text(rows.label_tables())),
    "mine.toml": (read_a_task, TaskError, damaged_text(rows.task_files())),
    "servers.toml": (read_servers, RosterError, damaged_text(rows.server_files())),
    "run.yaml": (lambda path: read_settings(path, SftSettings), SettingsError, damaged_text(rows.settings_files())),
    "results.jsonl": (read_journal, JournalError, damaged_json(rows.journals())),
    "rows.jsonl": (read_examples, DataError, damaged_json(rows.own_lines())),
    "train_sharegpt.json": (read_examples, DataError, damaged_json(rows.sharegpt_rows())),
    "test_cv.parquet": (read_questions, DataError, damaged_bytes(rows.specvi_files())),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("settings")
    rows.with_pictures(folder)
    return folder


@pytest.mark.parametrize("name", FILES)
@examples(30)
@given(data=st.data())
def test_any_damaged_file_is_read_or_refused_in_a_sentence(folder: Path, name: str, data: st.DataObject) -> None:
    read, refusal, damaged = FILES[name]
    (folder / name).write_bytes(data.draw(damaged))
    with refused_by(refusal, where=folder):
        read(folder / name)


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The refusal of each bomb by its reader."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("no /proc to limit the memory by")
    command = [sys.executable, "-m", bombs.__name__, str(tmp_path_factory.mktemp("bombs"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    refusals: dict[str, str] = json.loads(done.stdout)
    return refusals


@pytest.mark.parametrize("name", bombs.BOMBS)
def test_a_bomb_is_refused_in_a_sentence(refusals: dict[str, str], name: str) -> None:
    assert bombs.BOMBS[name][2] in refusals[name]
