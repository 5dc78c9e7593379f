"""A campaign whose spectra have a place in the sky, and browsers of its people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewer.rules.campaign import Rules
from reviewer.store import Store
from reviewer.ui import page
from tests.reviewer.web.conftest import client_of
from tests.support.campaign import Clock, a_trajectory, people

Get = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def without_page() -> Iterator[None]:
    """Build apps without Gradio's page, which takes a third of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "mount", lambda app, *_: app)
        yield


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db", clock=Clock()) as store:
        people(store)
        store.settings.set_rules(None, Rules())
        yield store


@pytest.fixture
def panel(store: Store) -> Get:
    """Get the panel of a spectrum, by its hash or alias, as a person."""
    clients: dict[str, Any] = {}

    def get(name: str, person: str = "RE", status: int = 200) -> Any:
        client = clients.setdefault(person, client_of(store, person))
        answer = client.get(f"/api/v1/spectrum/{name}/sky")
        assert answer.status_code == status, answer.text
        assert status != 200 or answer.headers["cache-control"] == "no-store"
        return answer.json()

    return get


@pytest.fixture
def add(store: Store) -> Callable[..., int]:
    """Add an item over a spectrum, with records of its object; return its number."""

    def added(spectrum: Any, *records: Any, batch: str = "november") -> int:
        item = store.items.add(a_trajectory(spectrum), store.spectra.add(spectrum), batch=batch)
        store.sky.add([(spectrum.sha256, record) for record in records])
        return item

    return added
