"""Fixtures of the tests of backups: a filled database, filled once per process."""

import shutil
from pathlib import Path

import pytest

from reviewer.store import Store
from tests.support.kept_campaign import fill


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "annotations.db"
    with Store.open(path) as store:
        fill(store)
    return path


@pytest.fixture
def database(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(made, tmp_path / "annotations.db"))
