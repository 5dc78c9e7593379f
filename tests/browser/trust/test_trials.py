"""Evidence on trial next to the trace: chips, numbers, texts and pictures; hidden with the answer; in the Live tab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.tasks import load
from agent.trial.run import trial
from reviewer.store import Draft, TrialRow
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import open_tab, serving, show_item, signed_in
from tests.support.drawn_traces import a_store, decide, revise

pytestmark = pytest.mark.browser

HIDDEN_BATCH = "judged first"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Item 1 was tried, 2 too but the verdict comes first in its batch, 3 was edited since, 4 was not tried."""
    db = tmp_path_factory.mktemp("trials") / "annotations.db"
    task = load()["cv"]
    with a_store(db, solo=True) as store:
        for seed in range(1, 5):
            spectrum = simulate("cv", "SDSS", 18.0, seed)
            whole = run(spectrum, task, Baseline())
            trajectory = whole.with_steps((*whole.steps[:3], whole.steps[-1]))
            batch = HIDDEN_BATCH if seed == 2 else "first"
            store.items.add_all([Draft(trajectory, spectrum, batch=batch)])
            if seed < 4:
                edits = ("remove", "placebo")
                tried = trial(trajectory, None, spectrum, task, Baseline(), edits=edits)
                store.trust.record_trials("AA", [TrialRow(tried.content_hash, tried.passed, tried.to_json())])
        decide(store, "AA", 3, "keep")
        revise(store, "AA", 3)
        store.settings.set("AA", "verdict_first", [HIDDEN_BATCH])
    with serving(db) as address:
        yield address


@pytest.fixture(scope="module")
def kept(chromium: Browser, url: str) -> Iterator[KeptPage]:
    with kept_page(lambda: signed_in(chromium, url, "AA")) as kept:
        yield kept


@pytest.fixture
def desk(kept: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of a coordinator who works alone."""
    with kept.of(request) as page:
        open_tab(page, "Review")
        yield page


def explained(desk: Page) -> Locator:
    """The sheet of the badge in the head of the trace, opened by keyboard."""
    desk.locator(".trial-badge").focus()
    desk.keyboard.press("Enter")
    return desk.locator(".trial-sheet:popover-open")


def open_zoom(desk: Page) -> Locator:
    """The card of the zoom, opened."""
    zoom = desk.locator(".so-review .card.zoom").first
    zoom.locator("header").click()
    expect(zoom.locator(".hints")).to_be_attached()
    return zoom


@pytest.mark.smoke
def test_a_tried_trace_has_a_badge_and_chips_with_their_numbers(desk: Page) -> None:
    show_item(desk, 1)
    expect(desk.locator(".trial-badge")).to_have_text("trial ✓")
    sheet = explained(desk)
    expect(sheet).to_contain_text(
        "1 of 1 removal followed, 0 of 1 placebo edit changed the claim or the answer. Passed."
    )
    expect(sheet).not_to_contain_text("another policy")
    expect(sheet).to_contain_text("Policy: rule-based baseline; random seed 0.")
    desk.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    expect(desk.locator(".trial-badge")).to_be_focused()
    zoom = open_zoom(desk)
    zoom.locator("summary", has_text="2 edits followed").click()
    chips = zoom.locator("button.trial")
    expect(chips).to_have_text(["✓ Hα removed: the claim was dropped", "✓ edit elsewhere: no change"])
    removed = chips.first
    assert "removed from the spectrum" in (removed.get_attribute("title") or "")
    removed.click()
    expect(sheet).to_contain_text("A policy that reads the spectrum no longer claims it.")
    expect(sheet.locator("dl")).to_contain_text("claimed → not claimed")
    expect(sheet.locator("blockquote").first).to_contain_text("Hα emission: equivalent width")
    expect(sheet.locator("blockquote").first).not_to_contain_text("<")
    sheet.get_by_role("button", name="Show the edited window").click()
    shown = sheet.locator("img")
    expect(shown).to_have_count(2)
    desk.wait_for_function("document.querySelectorAll('.trial-sheet:popover-open img')[1].naturalWidth > 100")
    desk.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    expect(removed).to_be_focused()


@pytest.mark.smoke
def test_nothing_is_shown_before_the_verdict_and_everything_after_it(desk: Page) -> None:
    show_item(desk, 2)
    expect(desk.locator(".card.zoom")).to_have_count(1)
    open_zoom(desk)
    expect(desk.locator("button.trial, .trial-badge, .trial-dot")).to_have_count(0)
    desk.locator(".decision-bar").get_by_role("button", name="YES").click()
    expect(explained(desk)).to_contain_text("1 of 1 removal followed")
    desk.keyboard.press("Escape")
    expect(open_zoom(desk).locator("button.trial")).to_have_count(2)


def test_an_edited_version_says_that_another_one_was_tried(desk: Page) -> None:
    show_item(desk, 3)
    expect(desk.locator(".trial-badge")).to_have_text("trial ?")
    expect(explained(desk)).to_contain_text("an earlier version of this trace was tried")
    desk.keyboard.press("Escape")
    expect(open_zoom(desk).locator("button.trial")).to_have_count(0)
    show_item(desk, 4)
    open_zoom(desk)
    expect(desk.locator("button.trial, .trial-badge, .trial-dot")).to_have_count(0)


def test_a_live_trace_is_put_on_trial(desk: Page) -> None:
    open_tab(desk, "Live")
    desk.get_by_role("button", name="Try one from the library").click()
    expect(desk.locator(".so-live header.item .name")).not_to_have_text("No spectrum yet")
    desk.locator(".so-live .decision-bar .run").click()
    start = desk.get_by_role("button", name="Put the evidence on trial")
    start.click()
    result = desk.locator(".on-trial")
    expect(result).to_contain_text("removals followed", timeout=120_000)
    followed = desk.locator(".so-live .card.zoom details.followed").first
    followed.locator("summary").click()
    expect(followed.locator("button.trial").first).to_be_visible()
    desk.locator(".so-live .trial-badge").click()
    expect(desk.locator(".so-live .trial-sheet:popover-open")).to_contain_text("Evidence on trial")
