"""axe-core on every tab and dialog, in the light and the dark theme, and the size of every target."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.browser.page.test_layout import TABS, open_tab
from tests.browser.support.review_app import PASSWORD, ROOT, serving, settled, signed_in

pytestmark = pytest.mark.browser
expect.set_options(timeout=20_000)
AXE = ROOT / "tests/js/node_modules/axe-core/axe.min.js"

RULES = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'] })
  const message = ({ any, all, none }) => [...any, ...all, ...none][0]?.message
  const line = (id, node) => `${id}: ${node.target.join(' ')} ${node.html.slice(0, 160)} ${message(node)}`
  // Gradio names its box for files in other words than it shows, and has no parameter for either.
  const gradios = (id, node) => id === 'label-content-name-mismatch' && node.html.includes('upload-container')
  return violations.flatMap(({ id, nodes }) => nodes.filter((node) => !gradios(id, node)).map((node) => line(id, node)))
}"""

SMALL = """() => {
  const kinds = 'button, a[href], input, select, textarea, summary, [role=tab], [role=option]'
  const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  const targets = [...document.querySelectorAll(kinds)].filter((e) => seen(e) && e.offsetWidth && e.offsetHeight)
  const box = (e) => (e.closest('label') ?? e).getBoundingClientRect()
  const inText = (e) => e.parentElement.textContent.trim() !== e.textContent.trim()
  const inline = (e) => getComputedStyle(e).display === 'inline' && inText(e)
  const small = targets.filter((e) => Math.min(box(e).width, box(e).height) < 23.9 && !inline(e))
  // A small target passes where a circle of 24 px around its middle meets no other target.
  const near = (e) => targets.some((other) => {
    if (other === e || other.contains(e) || e.contains(other)) return false
    const [a, b] = [box(e), box(other)]
    const [x, y] = [a.x + a.width / 2, a.y + a.height / 2]
    const [dx, dy] = [Math.max(b.left - x, 0, x - b.right), Math.max(b.top - y, 0, y - b.bottom)]
    return Math.hypot(dx, dy) < 12
  })
  const size = (e) => `${Math.round(box(e).width)} x ${Math.round(box(e).height)}`
  return small.filter(near).map((e) => `${e.outerHTML.slice(0, 120)} ${size(e)}`)
}"""
"""Targets smaller than 24 x 24 px that WCAG 2.5.8 does not except (inline in a sentence, or with space around)."""


@pytest.fixture(scope="module")
def desk(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page of a coordinator with every role."""
    db = tmp_path_factory.mktemp("accessibility") / "annotations.db"
    with closing(Store.open(db)) as store:
        store.accounts.add_person("CO", "Person CO", ["reviewer", "auditor", "coordinator"], password=PASSWORD)
        store.accounts.add_person("RE", "Rosa Eder", ["reviewer"], password=PASSWORD)
        store.items.add_all(Draft(t, s, batch="demo") for s, t in demo.demo_items())
    with serving(db) as url, signed_in(chromium, url, "CO", PASSWORD) as page:
        page.wait_for_function("window.specO3?.review?.current?.place")
        settled(page)
        add_axe(page)
        yield page


def add_axe(page: Page) -> None:
    assert AXE.is_file(), f"{AXE} is missing; `make browser` installs it"
    page.evaluate(AXE.read_text(encoding="utf-8"))


def use_theme(page: Page, theme: str) -> None:
    if page.evaluate("document.documentElement.dataset.theme ?? 'light'") != theme:
        page.locator(".so-top .theme").click()
    assert page.evaluate("document.documentElement.dataset.theme ?? 'light'") == theme


def violations(page: Page) -> list[str]:
    """What axe finds once nothing moves any more: a colour that is being faded in is none of the theme's."""
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))")
    return list(page.evaluate(RULES))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tab", TABS)
def test_axe_finds_nothing_on_a_tab(desk: Page, tab: str, theme: str) -> None:
    open_tab(desk, tab)
    use_theme(desk, theme)
    assert violations(desk) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("key", ["x", "m", "h", "?", "g", "Shift+V"])
def test_axe_finds_nothing_in_a_dialog(desk: Page, key: str, theme: str) -> None:
    open_tab(desk, "Review")
    use_theme(desk, theme)
    desk.locator(".so-review .card .number").first.click()
    desk.keyboard.press(key)
    expect(desk.locator("dialog.panel")).to_be_visible()
    found = violations(desk)
    desk.keyboard.press("Escape")
    assert found == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("tab", "button"), [("Review", ".decision-bar .round"), ("Progress", "button:text('Audit log')")]
)
def test_axe_finds_nothing_in_a_dialog_opened_by_a_button(desk: Page, tab: str, button: str, theme: str) -> None:
    open_tab(desk, tab)
    use_theme(desk, theme)
    desk.locator(f"{button}:visible").click()
    expect(desk.locator("dialog.panel")).to_be_visible()
    found = violations(desk)
    desk.keyboard.press("Escape")
    assert found == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("key", ["E", "/"])
def test_axe_finds_nothing_in_a_panel_of_the_page(desk: Page, key: str, theme: str) -> None:
    open_tab(desk, "Review")
    use_theme(desk, theme)
    desk.locator(".so-review .card .number").first.click()
    desk.keyboard.press("Shift+E" if key == "E" else key)
    expect(desk.locator({"E": ".so-review .evidence", "/": ".so-review form.filter"}[key]).first).to_be_visible()
    found = violations(desk)
    desk.keyboard.press("Escape")
    desk.keyboard.press("Shift+E") if key == "E" else None
    assert found == []


@pytest.mark.parametrize("tab", TABS)
def test_every_target_is_24_pixels_or_has_space_around_it(desk: Page, tab: str) -> None:
    open_tab(desk, tab)
    assert desk.evaluate(SMALL) == []


def test_axe_finds_nothing_on_the_sign_in_page(desk: Page) -> None:
    page = desk.context.browser.new_page() if desk.context.browser else desk.context.new_page()
    page.goto(desk.url.split("#")[0] + "sign-in")
    add_axe(page)
    found = violations(page)
    page.close()
    assert found == []


def test_a_page_has_one_heading_a_language_and_landmarks(desk: Page) -> None:
    open_tab(desk, "Review")
    assert desk.locator("h1").count() == 1
    assert desk.evaluate("document.documentElement.lang") == "en"
    assert desk.get_by_role("banner").count() == 1
    assert desk.get_by_role("main").count() == 1
