"""Opening the page: its requests, the tabs, and their state after a reload."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.browser.support.review_app import serving
from tests.support.chromium import profile

PAINTED = """() => window.specO3?.review?.current
  && document.querySelector('.so-review .card') && document.querySelector('.so-review .so-full .main-svg')"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    db = tmp_path_factory.mktemp("opening") / "annotations.db"
    with closing(Store.open(db)) as store:
        store.accounts.work_alone("AB")
        store.items.add_all(
            Draft(t, s, batch="first two" if n < 2 else "demo") for n, (s, t) in enumerate(demo.demo_items())
        )
        store.views.create(person="AB", name="the first two", filter={"batch": "first two"})
    with serving(db) as url:
        yield url


@pytest.fixture
def opened(chromium: Browser) -> Iterator[Page]:
    with profile(chromium, private=True) as context:
        yield context.new_page()


@pytest.mark.smoke
def test_the_first_item_needs_each_file_once_and_no_gradio_event(address: str, opened: Page) -> None:
    requested: list[str] = []
    opened.on("request", lambda request: requested.append(request.url))
    opened.route("**/gradio_api/queue/*", lambda route: route.abort())
    opened.goto(address, wait_until="commit")
    opened.wait_for_function(PAINTED, timeout=60_000)
    expect(opened.locator("#so-tabs [role=tab][data-tab-id]").first).to_be_visible()
    assert any("/api/v1/spectrum/" in url for url in requested)
    once = [url for url in requested if "/ui/" in url or "/api/v1/me" in url or "/api/v1/spectrum/" in url]
    assert len(once) == len(set(once)), sorted(once)


def test_an_item_opened_while_the_first_one_is_still_searched_for_stays(address: str, opened: Page) -> None:
    held: list[Route] = []
    opened.route("**/api/v1/first*", lambda route: held.append(route))
    opened.goto(address, wait_until="commit")
    opened.wait_for_function("window.specO3?.review", timeout=60_000)
    opened.evaluate("location.hash = 'item=3'")
    opened.wait_for_function("window.specO3.review.current?.item.id === 3")
    with opened.expect_response("**/api/v1/first*") as answered:
        for route in held:
            route.continue_()
    assert answered.value.json()["id"] not in (None, 3)
    opened.wait_for_timeout(1000)  # the first item would be shown by now
    assert opened.evaluate("window.specO3.review.current.item.id") == 3


# Follow a link at the worst moment: just before the Review desk puts its first item into the address.
FOLLOW_AS_THE_ADDRESS_IS_SET = """
const replace = history.replaceState.bind(history)
history.replaceState = (state, title, url) => {
  history.replaceState = replace
  location.hash = '%s'
  replace(state, title, url)
}
"""


def in_front(page: Page, tab: str) -> None:
    expect(page.locator("#so-tabs [role=tab][data-tab-id][aria-selected=true]")).to_have_text(tab)


@pytest.mark.parametrize(("link", "at_first"), [("#view=1", True), ("#item=3", False), ("#batch=first%20two", False)])
def test_a_link_followed_while_the_page_loads_is_opened(address: str, opened: Page, link: str, at_first: bool) -> None:
    if at_first:
        opened.goto(f"{address}{link}", wait_until="commit")
    else:
        opened.add_init_script(FOLLOW_AS_THE_ADDRESS_IS_SET % link)
        opened.goto(address, wait_until="commit")
    if link.startswith("#view"):
        in_front(opened, "Find")
        expect(opened.locator(".so-find .total")).to_have_text("2 items")
        expect(opened.locator(".so-find .views li.current")).to_contain_text("the first two")
    elif link.startswith("#batch"):
        expect(opened.locator(".so-review .queue .rows").get_by_role("option")).to_have_count(2)
        expect(opened.locator(".so-review .chips")).to_contain_text("first two")
        in_front(opened, "Review")
    else:
        opened.wait_for_function("window.specO3?.review?.current?.item.id === 3")
        in_front(opened, "Review")


def test_a_link_counts_more_than_the_tab_that_was_open(address: str, opened: Page) -> None:
    opened.goto(address)
    opened.get_by_role("tab", name="Live").click(timeout=60_000)
    opened.wait_for_function("sessionStorage.getItem('so-tab') === 'live'")
    opened.goto("about:blank")
    opened.goto(f"{address}#item=3")
    opened.wait_for_function("window.specO3?.review?.current?.item.id === 3")
    in_front(opened, "Review")


@pytest.mark.smoke
def test_the_page_obeys_its_content_security_policy(address: str, opened: Page) -> None:
    errors: list[str] = []
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.goto(address)
    opened.wait_for_function(PAINTED, timeout=60_000)
    for tab in ("Live", "Blind", "Progress", "Data", "People", "Review"):
        opened.get_by_role("tab", name=tab).click()
        expect(opened.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
    assert not [text for text in errors if "Content Security Policy" in text]


@pytest.mark.parametrize("tab", ["Find", "Data"])
def test_a_reload_keeps_the_open_tab_and_item(address: str, opened: Page, tab: str) -> None:
    opened.goto(f"{address}#item=4")
    opened.wait_for_function(PAINTED, timeout=60_000)
    opened.get_by_role("tab", name=tab).click()
    opened.wait_for_function("(id) => sessionStorage.getItem('so-tab') === id", arg=tab.lower())
    if tab == "Find":
        opened.locator(".so-find .views a", has_text="the first two").click()
        opened.wait_for_function("location.hash === '#view=1'")
    opened.reload()
    in_front(opened, tab)
    expect(opened.locator(".so-review")).to_be_hidden()
    opened.wait_for_function("window.specO3?.review?.current?.item.id === 4")
    in_front(opened, tab)


STYLES = """(selector) => {
  const names = ['appearance', 'background-color', 'background-image', 'border-top-width', 'border-top-style',
    'border-radius', 'padding', 'font-size', 'font-weight', 'height', 'color', 'text-transform']
  const computed = () => [...document.querySelectorAll(selector)].map((element) => {
    const style = getComputedStyle(element)
    const name = `${element.localName}.${element.className}`
    // For a button "button" and "auto" are the same.
    const value = (each) => style.getPropertyValue(each).replace(/^button$/, 'auto')
    return names.map((each) => `${name} ${each}: ${value(each)}`)
  }).flat()
  const theirs = [...document.styleSheets].filter(({ href, ownerNode }) => !href?.includes('/ui/') && !ownerNode.id)
  const withThem = computed()
  for (const sheet of theirs) sheet.disabled = true
  const without = computed()
  for (const sheet of theirs) sheet.disabled = false
  const pairs = without.map((each, at) => [each, withThem[at]])
  return { count: pairs.length, differences: pairs.filter(([a, b]) => a !== b) }
}"""
GRADIOS_RULE = """() => [...document.styleSheets].some(({ href, cssRules }) => !href?.includes('/ui/')
  && [...cssRules].some(({ selectorText }) => /^\\.gradio-container[^ ]* select$/.test(selectorText ?? '')))"""


def test_the_controls_of_the_plot_are_the_same_with_and_without_gradios_stylesheet(address: str, opened: Page) -> None:
    opened.goto(address)
    opened.wait_for_function(PAINTED, timeout=60_000)
    opened.wait_for_function(GRADIOS_RULE, timeout=60_000)
    expect(opened.locator("#so-review .so-review .decision-bar .comment")).to_have_css("border-radius", "7px")
    expect(opened.locator(".so-review .so-badge:not(.so-selected)").first).to_be_visible()
    for selector in ("button", "input:not([type=checkbox])", "select"):
        styles = opened.evaluate(STYLES, f".so-review .so-view {selector}")
        assert styles["count"] > 0
        assert styles["differences"] == []
    opened.keyboard.press("/")
    for place in (".so-controls select", ".filter select"):
        expect(opened.locator(f".so-review {place}").first).to_have_css("appearance", "auto")


def shown(page: Page, item: int) -> None:
    page.wait_for_function("(id) => window.specO3?.review?.current?.item.id === id", arg=item, timeout=60_000)
    expect(page).to_have_url(f"{page.url.partition('#')[0]}#item={item}")


@pytest.mark.smoke
def test_back_and_forward_go_item_by_item_and_tab_by_tab(address: str, opened: Page) -> None:
    opened.goto(address)
    opened.wait_for_function(PAINTED, timeout=60_000)
    shown(opened, 1)
    entries = opened.evaluate("history.length")
    opened.keyboard.press("n")
    shown(opened, 2)
    opened.keyboard.press("n")
    shown(opened, 3)
    opened.locator(".so-review .queue .rows [data-item='5']").click()
    shown(opened, 5)
    opened.get_by_role("tab", name="Progress").click()
    expect(opened).to_have_url(f"{address}#tab=progress")
    opened.get_by_role("tab", name="Find").click()
    expect(opened).to_have_url(f"{address}#tab=find")
    opened.locator(".so-find [data-item='4'] a.open-item").click()
    shown(opened, 4)
    in_front(opened, "Review")
    assert opened.evaluate("history.length") == entries + 6

    opened.go_back()
    in_front(opened, "Find")
    opened.go_back()
    in_front(opened, "Progress")
    opened.go_back()
    in_front(opened, "Review")
    for item in (5, 3, 2, 1):
        shown(opened, item)
        if item > 1:
            opened.go_back()
    for item in (2, 3, 5):
        opened.go_forward()
        shown(opened, item)
    opened.go_forward()
    in_front(opened, "Progress")
    assert opened.evaluate("history.length") == entries + 6


def test_a_link_to_a_tab_opens_it_and_a_reload_keeps_it(address: str, opened: Page) -> None:
    opened.goto(f"{address}#tab=progress")
    in_front(opened, "Progress")
    opened.wait_for_function("window.specO3?.review?.current", timeout=60_000)
    expect(opened).to_have_url(f"{address}#tab=progress")  # the item that opens behind it does not replace it
    opened.reload()
    in_front(opened, "Progress")
    opened.get_by_role("tab", name="Review").click()
    shown(opened, 1)
    # No such tab: the first one.
    opened.goto("about:blank")
    opened.goto(f"{address}#tab=nothing")
    shown(opened, 1)


def test_review_these_is_one_entry_of_the_history(address: str, opened: Page) -> None:
    opened.goto(f"{address}#item=6")
    opened.wait_for_function(PAINTED, timeout=60_000)
    opened.get_by_role("tab", name="Find").click()
    opened.locator(".so-find .views a", has_text="the first two").click()
    expect(opened.locator(".so-find .total")).to_have_text("2 items")
    opened.locator(".so-find button", has_text="Review these").click()
    shown(opened, 1)
    opened.go_back()
    in_front(opened, "Find")
    expect(opened).to_have_url(f"{address}#view=1")


@pytest.mark.smoke
def test_back_keeps_typed_text(address: str, opened: Page) -> None:
    opened.goto(f"{address}#item=1")
    opened.wait_for_function(PAINTED, timeout=60_000)
    opened.keyboard.press("n")
    shown(opened, 2)
    opened.keyboard.press("c")
    opened.keyboard.type("half a thou")
    opened.go_back()
    shown(opened, 1)
    expect(opened.locator(".decision-bar .comment")).to_have_value("")
    opened.keyboard.press("Escape")
    # A dialog belongs to its item: it closes, and its text is offered again.
    opened.keyboard.press("x")
    opened.locator("dialog.panel textarea").fill("too faint")
    opened.go_forward()
    shown(opened, 2)
    expect(opened.locator("dialog.panel")).to_have_count(0)
    expect(opened.locator(".decision-bar .comment")).to_have_value("half a thou")
    opened.go_back()
    shown(opened, 1)
    opened.keyboard.press("x")
    expect(opened.locator("dialog.panel textarea")).to_have_value("too faint")
