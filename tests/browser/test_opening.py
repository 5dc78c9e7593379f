"""The Review desk opens before Gradio's page is up, and moves into its tab."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.browser.support.review_app import serving

REQUESTS = 72
"""Until the first item is there, the page's own included: the desk's modules, styles and plotly, and what is
asked of the server for one item and its pictures. Gradio's hundred and more come after it."""
PAINTED = """() => window.specO3?.review?.current
  && document.querySelector('.so-review .card') && document.querySelector('.so-review .so-full .main-svg')"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    db = tmp_path_factory.mktemp("opening") / "annotations.db"
    with closing(Store.open(db)) as store:
        store.work_alone("AB")
        store.add_items(Draft(t, s, batch="demo") for s, t in demo.demo_items())
    with serving(db) as url:
        yield url


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Page]:
    with chromium.new_context(viewport={"width": 1366, "height": 768}) as context:
        yield context.new_page()


def test_the_first_item_is_there_before_gradio_is_asked_for(address: str, opened: Page) -> None:
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(address, wait_until="commit")
    opened.wait_for_function(PAINTED, timeout=60_000)
    expect(opened.locator("#so-tabs [role=tab]").first).to_be_visible(timeout=60_000)
    gradio = next(at for at, url in enumerate(asked) if url.endswith("/page"))
    before = asked[:gradio]
    assert any("/api/spectrum/" in url for url in before)
    assert not any("/assets/" in url or "/gradio_api/" in url for url in before)
    assert gradio <= REQUESTS, before
    once = [url for url in before if "/ui/" in url or "/api/me" in url or "/api/spectrum/" in url]
    assert len(once) == len(set(once)), sorted(once)


def test_the_desk_moves_into_its_tab_with_what_is_being_typed(address: str, opened: Page) -> None:
    opened.goto(address, wait_until="commit")
    opened.wait_for_function(PAINTED, timeout=60_000)
    early = opened.locator("body > .so-review")
    if early.count():
        opened.locator(".so-review .decision-bar input, .so-review .decision-bar textarea").first.focus()
    focused = opened.evaluate("document.activeElement.tagName")
    expect(opened.locator("#so-review .so-review .card").first).to_be_visible(timeout=60_000)
    assert opened.locator(".so-review").count() == 1
    assert opened.evaluate("document.activeElement.tagName") == focused
    opened.keyboard.press("Escape")
    before = opened.evaluate("window.specO3.review.current.item.id")
    opened.keyboard.press("n")
    opened.wait_for_function(f"window.specO3.review.current.item.id !== {before}")
    # The tabs take turns with it.
    opened.get_by_role("tab", name="Progress").click()
    expect(opened.locator(".so-review")).to_be_hidden()
    opened.get_by_role("tab", name="Review").click()
    expect(opened.locator(".so-review .card").first).to_be_visible()


def test_a_reload_in_another_tab_comes_back_to_it(address: str, opened: Page) -> None:
    opened.goto(address)
    opened.get_by_role("tab", name="Live").click(timeout=60_000)
    expect(opened.locator(".so-live .queue, .so-live .bench, .so-live").first).to_be_visible(timeout=60_000)
    opened.wait_for_function("sessionStorage.getItem('so-tab') !== null")
    opened.reload()
    expect(opened.locator("#so-tabs [role=tab][aria-selected=true]")).to_have_text("Live", timeout=60_000)
    expect(opened.locator(".so-review")).to_be_hidden()


def test_gradios_styles_do_not_win_over_ours(address: str, opened: Page) -> None:
    opened.goto(address)
    comment = opened.locator("#so-review .so-review .decision-bar .comment")
    expect(comment).to_be_visible(timeout=60_000)
    expect(comment).to_have_css("border-radius", "7px")
    opened.get_by_role("tab", name="Blind").click()
    expect(opened.locator(".so-blind input[type=checkbox]").first).to_have_css("appearance", "auto")


def test_where_gradios_program_is_lost_on_the_way_the_page_says_so_and_the_desk_works(
    address: str, opened: Page
) -> None:
    opened.clock.install()
    opened.route("**/assets/*.js", lambda route: route.abort())
    with opened.expect_event("requestfailed", lambda request: "/assets/" in request.url):
        opened.goto(address, wait_until="commit")
        opened.wait_for_function(PAINTED, timeout=60_000)
    expect(opened.locator(".so-coming")).to_contain_text("the other tabs are coming")
    opened.clock.fast_forward(30_000)
    expect(opened.locator(".so-coming [role=alert]")).to_contain_text("The other tabs did not come")
    opened.keyboard.press("n")
    opened.wait_for_function("window.specO3.review.current.place")
    opened.unroute_all()
    opened.get_by_role("button", name="Reload").click()
    expect(opened.locator("#so-tabs [role=tab]").first).to_be_visible(timeout=60_000)
    expect(opened.locator(".so-coming")).to_have_count(0)
