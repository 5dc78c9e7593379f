"""The queue ordered by value of information, and filtered by trials of evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.trial.report import Trial
from reviewer.drafting import demo
from reviewer.rules.campaign import Rules
from reviewer.store import Draft, ScoreRow, Showing, Store, TrialRow
from tests.browser.support.review_app import PASSWORD, serving, settled, show_item, signed_in

pytestmark = pytest.mark.browser

BY_VALUE = "next by value of information"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[tuple[str, Store, str]]:
    """The app with six items of one task; all but the last have P(YES), and items 2 and 5 a trial."""
    with Store.open(tmp_path / "annotations.db") as store:
        spectrum, trajectory = next(iter(demo.demo_items()))
        drafts = [
            Draft(trajectory, spectrum, batch="first" if n in (3, 4) else "second", key=f"item {n}")
            for n in range(1, 7)
        ]
        store.items.add_all(drafts)
        store.accounts.add_person("RV", "Person RV", ["reviewer"], password=PASSWORD)
        store.accounts.add_person("CO", "Person CO", ["coordinator"], password=PASSWORD)
        store.settings.set_rules(None, Rules())
        scores = [ScoreRow(n, p, {}) for n, p in enumerate((0.1, 0.3, 0.5, 0.7, 0.9), start=1)]
        store.trust.record_scores(None, trajectory.task, {"kind": "raw"}, scores)
        text = store.items.get(2).version.content_hash
        drafter = {"kind": "baseline", "name": "baseline", "settings": {}}
        result = Trial(text, spectrum.sha256, trajectory.task, drafter, 0, (), ()).to_json()
        store.trust.record_trials(None, [TrialRow(text, True, result, item=2), TrialRow(text, False, result, item=5)])
        with serving(store.path) as url:
            yield url, store, trajectory.task


def order_by_value(page: Page) -> None:
    page.keyboard.press("/")
    page.locator(".filter [name=order]").select_option("value")
    page.keyboard.press("Escape")
    expect(page.locator(".queue .chips")).to_contain_text(BY_VALUE)


def chosen(page: Page) -> int:
    """Return the item that the page will open next, once it has been chosen."""
    page.wait_for_function("window.specO3.review.current.place?.next.length === 1")
    return int(page.evaluate("window.specO3.review.current.place.next[0]"))


def latest(store: Store, task: str) -> Showing:
    return store.trust.showings(task)[-1]


@pytest.mark.smoke
def test_the_next_item_is_chosen_by_value_and_its_probability_is_stored(
    chromium: Browser, app: tuple[str, Store, str]
) -> None:
    url, store, task = app
    with signed_in(chromium, url, "RV", PASSWORD) as page:
        settled(page)
        show_item(page, 1)
        assert store.trust.showings(task) == []
        order_by_value(page)
        following = chosen(page)
        showing = latest(store, task)
        assert (showing.item, showing.person) == (following, "RV")
        assert following in (2, 3, 4, 5)  # the open item and the one without P(YES) are not in the list
        assert showing.probability == pytest.approx(1 / 4, abs=0.25)
        assert showing.plan["random_share"] == 0.2
        page.keyboard.press("k")
        page.wait_for_function(f"window.specO3.review.current.item.id === {following}")
        assert store.items.standing(1).state == "revision"


def test_going_back_keeps_the_choice_of_the_next_item(chromium: Browser, app: tuple[str, Store, str]) -> None:
    url, store, task = app
    with signed_in(chromium, url, "RV", PASSWORD) as page:
        settled(page)
        show_item(page, 6)  # without P(YES), so it is never chosen itself
        order_by_value(page)
        following = chosen(page)
        page.keyboard.press("n")
        page.wait_for_function(f"window.specO3.review.current.item.id === {following}")
        chip = page.locator(".queue .chips .pill", has_text=BY_VALUE)
        how = {"random": "at random", "value": "by its value"}[store.trust.showings(task)[0].arm]
        expect(chip).to_have_attribute("title", re.compile(f"chosen {how}; its probability was 0"))
        after = chosen(page)
        made = store.trust.showings(task)
        assert [showing.item for showing in made] == [following, after]
        page.keyboard.press("b")
        page.wait_for_function("window.specO3.review.current.item.id === 6")
        assert chosen(page) == after
        page.keyboard.press("n")
        page.wait_for_function(f"window.specO3.review.current.item.id === {after}")
        chosen(page)
        assert store.trust.showings(task)[:2] == made
        assert len(store.trust.showings(task)) == 3


def test_items_without_p_yes_come_by_number_and_the_page_says_so(
    chromium: Browser, app: tuple[str, Store, str]
) -> None:
    url, store, task = app
    with signed_in(chromium, url, "RV", PASSWORD) as page:
        settled(page)
        page.keyboard.press("/")
        page.locator(".filter [name=text]").fill("#6")
        expect(page.locator(".rows .row")).to_have_count(1)
        page.locator(".filter [name=order]").select_option("value")
        expect(page.locator(".toasts")).to_contain_text("No item here can be chosen by value of information")
        assert store.trust.showings(task) == []


def test_the_queue_is_filtered_by_trials(chromium: Browser, app: tuple[str, Store, str]) -> None:
    with signed_in(chromium, app[0], "RV", PASSWORD) as page:
        settled(page)
        page.keyboard.press("/")
        for outcome, items in (("passed", [2]), ("failed", [5]), ("untested", [1, 3, 4, 6])):
            page.locator(".filter [name=trial]").select_option(outcome)
            # Two of the lists have one row: the items are waited for, not their number.
            page.wait_for_function(
                "items => JSON.stringify([...document.querySelectorAll('.rows .row')].map((r) => "
                "Number(r.dataset.item))) === JSON.stringify(items)",
                arg=items,
            )
        page.keyboard.press("Escape")
        expect(page.locator(".queue .chips")).to_contain_text("no trial")
        expect(page.locator(".queue-title")).to_contain_text("4 waiting")


@pytest.mark.smoke
def test_no_probability_is_shown_where_a_verdict_comes_first(chromium: Browser, app: tuple[str, Store, str]) -> None:
    url, store, task = app
    store.settings.set("CO", "verdict_first", ["first", "second"])
    with signed_in(chromium, url, "RV", PASSWORD) as page:
        settled(page)
        show_item(page, 1)
        order_by_value(page)
        following = chosen(page)
        page.keyboard.press("n")
        page.wait_for_function(f"window.specO3.review.current.item.id === {following}")
        chosen(page)
        chip = page.locator(".queue .chips .pill", has_text=BY_VALUE)
        assert "its probability" not in (chip.get_attribute("title") or "")
        assert any(showing.item == following for showing in store.trust.showings(task))
