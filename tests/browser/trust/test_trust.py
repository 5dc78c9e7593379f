"""The Trust section of the Progress tab: calibration, thresholds, refusals, skill, label errors; what is hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from reviewer.cli.certify import record
from reviewer.store import Draft, Store
from reviewer.trust.calibration import scoring
from reviewer.trust.cases import measured, reader_of, stored_cases
from tests.browser.support.review_app import (
    PASSWORD,
    answered,
    frames,
    held,
    let_go,
    open_tab,
    serving,
    signed_in,
    wait_for,
)
from tests.support.drawn_traces import a_store, decide
from tests.support.trust_campaign import POLICY, TASK, fill, spectrum, trace, vote

pytestmark = pytest.mark.browser

CALCULATED = 60_000
"""Milliseconds; the first figures load scikit-learn."""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, dict[str, int]]]:
    """300 labelled spectra and 100 others with P(YES); two more with a wrong label, one decided and one open."""
    path = tmp_path_factory.mktemp("trust") / "annotations.db"
    with a_store(path) as store:
        store.accounts.add_person("RE", "Rosa Eder", ["reviewer"])
        for person in ("AA", "RE"):
            store.accounts.set_password("AA", person, PASSWORD)
        planted = fill(store, labelled=300, waiting=100)
        vote(store, ("AA", "BB", "CC"), planted[:30])
        wrong = {"decided": add_wrong_label(store, 900_001), "open": add_wrong_label(store, 900_002)}
        decide(store, "BB", wrong["decided"], "reject", reason="bad_data")
        score(store)
        with serving(path) as url:
            yield url, path, wrong


def add_wrong_label(store: Store, number: int) -> int:
    """Add an item with a sure answer and the opposite known label."""
    of = spectrum(number)
    (added,) = store.items.add_all([Draft(trace(of, 9.0, "NO"), of, batch="own")])
    return int(added.item_id)


def score(store: Store) -> None:
    """What ``spec-o3 certify --score raw`` stores."""
    found = measured(stored_cases(store, TASK, POLICY), TASK, reader_of(store))
    record(store, None, TASK, scoring(found.cases, "raw"), found)


def trust_section(page: Page) -> Locator:
    """Open Progress and scroll to the Trust section, which is fetched when it comes into view."""
    open_tab(page, "Progress")
    section = page.locator("section.trust")
    section.scroll_into_view_if_needed()
    return section


@pytest.fixture
def coordinator(chromium: Browser, campaign: tuple[str, Path, dict[str, int]]) -> Iterator[Page]:
    with signed_in(chromium, campaign[0], "AA", PASSWORD) as page:
        yield page


def test_calibration_and_thresholds_that_follow_the_limits(coordinator: Page) -> None:
    section = trust_section(coordinator)
    expect(section.locator(".sides li.certified")).to_have_count(2, timeout=CALCULATED)
    expect(section.locator(".reliability .more")).to_contain_text(re.compile(r"0\.0\d\d \(0\.0\d\d to"))
    expect(section.locator(".reliability .plot .scatterlayer .point")).not_to_have_count(0)
    expect(section.locator(".sides")).to_contain_text("Promised:")
    counts = section.locator(".verdicts li strong")
    before = [int(text) for text in counts.all_inner_texts()]
    assert sum(before) == 402

    section.get_by_label("Error of YES in per cent").fill("0.1")
    expect(section.locator(".sides li.refused")).to_contain_text("YES: not certified.")
    expect(section.locator(".sides li.certified")).to_have_count(1)
    after = [int(text) for text in counts.all_inner_texts()]
    assert after[0] == 0
    assert sum(after) == 402
    assert after[2] == before[2]
    assert section.get_by_label("Error of YES", exact=True).input_value() == "0.5"  # the slider, at its end

    section.get_by_label("Error of YES in per cent").fill("")
    expect(section.locator(".sides")).to_contain_text("a limit must be above 0 and below 100 %")
    section.get_by_label("Error of YES", exact=True).fill("10")
    expect(section.locator(".sides li.certified")).to_have_count(2)
    assert section.get_by_label("Error of YES in per cent").input_value() == "10"

    thresholds = held(coordinator, "/api/v1/progress/trust/thresholds")
    section.get_by_label("Error of YES in per cent").fill("0.1")
    wait_for(coordinator, thresholds, 1)
    section.get_by_label("Error of YES in per cent").fill("9")
    wait_for(coordinator, thresholds, 2)
    answered(coordinator, thresholds[1])
    with coordinator.expect_response(lambda response: response.request == thresholds[0].request) as refusal:
        thresholds[0].fulfill(status=422, json={"error": "an earlier limit", "kind": "trust"})
    refusal.value.finished()
    frames(coordinator)
    let_go(coordinator, [])
    expect(section).not_to_contain_text("an earlier limit")
    expect(section.locator(".sides li.certified")).to_have_count(2)


def test_coordinators_see_skill_and_download_certificates_and_reviewers_do_not(
    chromium: Browser, campaign: tuple[str, Path, dict[str, int]], coordinator: Page
) -> None:
    section = trust_section(coordinator)
    skill = section.get_by_role("region", name="Skill of the annotators")
    expect(skill.locator("tbody tr")).to_have_count(3, timeout=CALCULATED)
    expect(skill.locator("tbody tr").first).to_contain_text("30")
    with coordinator.expect_download() as downloaded:
        section.get_by_role("link", name="Download certificate").click()
    assert downloaded.value.suggested_filename.startswith("cv-")
    with signed_in(chromium, campaign[0], "RE", PASSWORD) as page:
        section = trust_section(page)
        expect(section.locator(".sides li.certified")).to_have_count(2, timeout=CALCULATED)
        expect(section.get_by_role("region", name="Skill of the annotators")).to_have_count(0)
        expect(section.get_by_role("link", name="Download certificate")).to_have_count(0)


def test_a_suspected_label_opens_its_item_and_an_open_item_is_not_listed(
    campaign: tuple[str, Path, dict[str, int]], coordinator: Page
) -> None:
    wrong = campaign[2]
    section = trust_section(coordinator)
    suspects = section.get_by_role("region", name="Labels that may be wrong")
    links = suspects.locator("tbody a")
    expect(links).to_have_text(["spec-900001.fits"], timeout=CALCULATED)
    expect(suspects).to_contain_text("not listed")
    expect(section).not_to_contain_text("spec-900002")
    links.click()
    coordinator.wait_for_function("(id) => window.specO3.review.current?.item.id === id", arg=wrong["decided"])
    expect(coordinator.locator(".so-review .decision-bar")).to_be_visible()


def test_without_scores_the_section_shows_the_command_to_run(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "annotations.db"
    with a_store(path, solo=True) as store:
        fill(store, labelled=3, waiting=0)
        with serving(path) as url, signed_in(chromium, url, "AA") as page:
            section = trust_section(page)
            expect(section.locator(".empty code")).to_have_text(
                f"spec-o3 certify --db {path.resolve()} --task cv --policy '{POLICY}'"
            )
            expect(section.locator(".charts")).to_be_hidden()
