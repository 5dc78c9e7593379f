"""Databases to score blind in, with names that would be noticed, and the Blind tab as its users come to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from review_app import PASSWORD, signed_in

from agent.spectrum import Spectrum
from agent.steps import Think
from agent.trajectory import Drafter, Trajectory
from reviewer import demo
from reviewer.store import Draft, Store

ZETA, OMEGA = "zeta-vision-9000", "Omega Survey Reader"
SETTINGS = {"endpoint": "http://zq-endpoint.example/v1", "temperature": 0.7}
SCORERS = ("SA", "SB", "SC")
TELLING = "As a language model called GPT-5 I would look again. "


def two_sources(spectra: int = 4, first: str = ZETA, second: str = OMEGA) -> list[Draft]:
    """Two traces of each of some simulated spectra, which have names, ids, positions and classes of their own.
    The second drafter has other words; its first trace says who wrote it."""
    drafts = []
    for number, (spectrum, trajectory) in enumerate(islice(demo.demo_items(), spectra)):
        seen = _named(spectrum, number)
        told = replace(
            trajectory, spectrum_name=seen.name, spectrum_sha256=seen.sha256, label="YES", simulated=False
        )
        telling = TELLING if number == 0 else ""
        drafts += [
            Draft(_by(first, told), seen, batch="zq-batch-of-november"),
            Draft(_by(second, _in_other_words(told, telling)), seen, batch="zq-batch-of-november"),
        ]
    return drafts


def _named(spectrum: Spectrum, number: int) -> Spectrum:
    return replace(
        spectrum,
        name=f"zq-observed-{number:03d}.fits",
        survey="LAMOST",
        ids={"obsid": f"77889900{number}", "gaia": f"4455667788990{number}"},
        ra=123.456789 + number,
        dec=-12.345678,
        catalogue_class="ZQ-CLASS",
        meta={"date_obs": "2031-07-13", "zq_header": "zq-observer"},
    )


def _by(source: str, trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, drafter=Drafter("model", source, SETTINGS))


def _in_other_words(trajectory: Trajectory, telling: str) -> Trajectory:
    steps = [
        replace(step, text=f"{telling if at == 0 else ''}Seen from here: {step.text}")
        if isinstance(step, Think)
        else step
        for at, step in enumerate(trajectory.steps)
    ]
    return trajectory.with_steps(tuple(steps))


def team(db: Path, drafts: list[Draft]) -> Path:
    """A database with these items, three scorers and a coordinator, each with a password."""
    store = Store.open(db)
    try:
        for initials in SCORERS:
            store.add_person(initials, f"Scorer {initials}", ["reviewer", "auditor"], password=PASSWORD)
        store.add_person("CO", "Cora", ["coordinator"], password=PASSWORD)
        store.add_items(drafts)
    finally:
        store.close()
    return db


@contextmanager
def blind(chromium: Browser, url: str, initials: str) -> Iterator[Page]:
    """Somebody's page with the Blind tab in front."""
    with signed_in(chromium, url, initials, PASSWORD) as page:
        open_blind(page)
        yield page


def open_blind(page: Page) -> None:
    page.get_by_role("tab", name="Blind").click()
    page.wait_for_function("window.specO3?.blind", timeout=30_000)


def in_front(page: Page, place: int) -> None:
    """Wait until the sheet at this place is the one shown."""
    expect(page.locator(".blind .place.current")).to_have_text(str(place), timeout=20_000)
    page.wait_for_function(f"window.specO3.blind.desk.current?.sheet.place === {place}")
