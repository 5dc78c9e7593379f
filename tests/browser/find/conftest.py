"""A campaign of 150 items and three people, and the Find tab of the coordinator."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from agent.trajectory import Answer, Drafter, Think, Zoom
from reviewer.rules.campaign import Rules
from reviewer.store import Draft, Store
from tests.browser.find.pages import App, reload_find
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import PASSWORD, serving, signed_in
from tests.support.campaign import a_spectrum, a_trajectory

ITEMS = 150
PEOPLE = {"CO": ["coordinator", "reviewer"], "RE": ["reviewer"], "AU": ["auditor"]}
TEXTS = (
    "A sky line at 5577 Å was taken for emission of the star.",
    "The Balmer absorption lines are broad, as of a white dwarf.",
    "The C2 Swan bands at 5165 Å are absent, so it is no carbon star.",
)
"""Of the first thought of every third item."""


def drafts() -> Iterator[Draft]:
    for n in range(1, ITEMS + 1):
        spectrum = a_spectrum(f"spec-55859-F5902_sp01-{n:03d}.fits", snr={"r": float(n)})
        window = {"wavelength_range": [6500 + n % 7, 6600 + n % 5], "label": "Hα"}
        again = n % 15 == 0
        zooms = [Zoom(f"z{k}", window, picture="ab" * 32) for k in range(3 if again else 1)]
        steps = (
            Think("s1", TEXTS[n % 3]),
            *zooms,
            Think("s3", "Let me see that again, once more the same window." if again else "Double peaked, so a disk."),
            Answer("s4", "YES", "Seen again and once more in the same window." if again else "Broad Balmer emission."),
        )
        trajectory = a_trajectory(spectrum, steps=steps, drafter=Drafter("model", f"model {n % 2}"))
        yield Draft(trajectory, spectrum, batch="pilot" if n <= 100 else "second")


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Items 3, 6, 9, ... have the first text, 1, 4, 7, ... the second; 15, 30, 45, ... open a window three times."""
    with Store.open(tmp_path_factory.mktemp("campaign") / "annotations.db") as store:
        for initials, roles in PEOPLE.items():
            store.accounts.add_person(initials, f"Person {initials}", roles, password=PASSWORD)
        store.items.add_all(drafts())
        store.settings.set_rules(None, Rules())
    return store.path


@pytest.fixture(scope="module")
def app(campaign: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app over a copy of the campaign, with its store."""
    copy = Path(shutil.copy(campaign, tmp_path_factory.mktemp("find")))
    with Store.open(copy) as store, serving(copy) as url:
        yield url, store


@pytest.fixture(scope="module")
def store(app: App) -> Store:
    return app[1]


@pytest.fixture(scope="module")
def kept(chromium: Browser, app: App) -> Iterator[KeptPage]:
    with kept_page(lambda: signed_in(chromium, app[0], "CO", PASSWORD)) as kept:
        yield kept


@pytest.fixture
def page(kept: KeptPage, app: App, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The Find tab of the coordinator, as at the first visit."""
    with kept.of(request) as page:
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); location.hash = '#tab=find' }")
        reload_find(page)
        yield page
