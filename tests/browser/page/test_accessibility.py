"""axe-core on every tab and dialog, in the light and the dark theme, and the size of every target."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.support.review_app import ROOT, TABS, open_tab, settled

pytestmark = pytest.mark.browser
AXE = ROOT / "tests/js/node_modules/axe-core/axe.min.js"

RULES = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'] })
  const message = ({ any, all, none }) => [...any, ...all, ...none][0]?.message
  const line = (id, node) => `${id}: ${node.target.join(' ')} ${node.html.slice(0, 160)} ${message(node)}`
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => line(id, node)))
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
def with_axe(desk: Page) -> Page:
    """The desk, with axe-core loaded."""
    settled(desk)
    add_axe(desk)
    return desk


def add_axe(page: Page) -> None:
    assert AXE.is_file(), f"{AXE} is missing; `make browser` installs it"
    page.evaluate(AXE.read_text(encoding="utf-8"))


def use_theme(page: Page, theme: str) -> None:
    if page.evaluate("document.documentElement.dataset.theme ?? 'light'") != theme:
        page.locator(".so-person > button").click()
        page.locator(".so-top .theme").click()
        page.locator(".so-person > button").click()
    assert page.evaluate("document.documentElement.dataset.theme ?? 'light'") == theme


def violations(page: Page) -> list[str]:
    """What axe finds once nothing moves any more: a colour that is being faded in is none of the theme's."""
    page.evaluate("Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))")
    return list(page.evaluate(RULES))


def in_both_themes(page: Page) -> list[str]:
    return [f"{theme}: {wrong}" for theme in ("light", "dark") for wrong in in_theme(page, theme)]


def in_theme(page: Page, theme: str) -> list[str]:
    use_theme(page, theme)
    return violations(page)


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.smoke
def test_axe_finds_nothing_on_a_tab_and_every_target_has_24_pixels_or_space_around_it(with_axe: Page, tab: str) -> None:
    open_tab(with_axe, tab)
    assert in_both_themes(with_axe) == []
    assert with_axe.evaluate(SMALL) == []


OVER_THE_PAGE = {
    **dict.fromkeys(("x", "m", "h", "?"), ("Review", "dialog.panel")),
    **dict.fromkeys(("g", "Shift+Q", "Shift+S"), ("Review", ".so-review .evidence")),
    ".so-review .so-more": ("Review", ".so-review .so-menu:popover-open"),
    "button:text('Audit log')": ("Progress", "dialog.panel"),
    **{
        f".so-people {button}": ("People", "dialog.panel")
        for button in (
            "[aria-label='Change RE']",
            "button:text('Rules')",
            "button:text('Webhooks')",
            "button:text('API')",
        )
    },
    "Shift+E": ("Review", ".so-review .evidence"),
    "/": ("Review", ".so-review form.filter"),
}
"""Dialogs and panels: the key or the button that opens each, its tab, and where it is."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_dialogs_and_panels(with_axe: Page, theme: str) -> None:
    wrong = {}
    for opener, (tab, place) in OVER_THE_PAGE.items():
        open_tab(with_axe, tab)
        use_theme(with_axe, theme)
        if opener.startswith((".", "button")):
            with_axe.locator(f"{opener}:visible").click()
        else:
            with_axe.locator(".so-review .card .number").first.click()
            with_axe.keyboard.press(opener)
        expect(with_axe.locator(place).first).to_be_visible()
        if found := violations(with_axe):
            wrong[opener] = found
        if place.endswith(".evidence"):
            with_axe.get_by_role("button", name="Close the evidence").click()
        else:
            with_axe.keyboard.press("Escape")
        expect(with_axe.locator(place)).to_be_hidden()
    assert not wrong, wrong


@pytest.mark.smoke
def test_axe_finds_nothing_on_the_sign_in_page(with_axe: Page) -> None:
    page = with_axe.context.browser.new_page() if with_axe.context.browser else with_axe.context.new_page()
    page.goto(with_axe.url.split("#")[0] + "sign-in")
    add_axe(page)
    found = violations(page)
    page.close()
    assert found == []


@pytest.mark.smoke
def test_a_page_has_one_heading_a_language_and_landmarks(with_axe: Page) -> None:
    open_tab(with_axe, "Review")
    assert with_axe.locator("h1").count() == 1
    assert with_axe.evaluate("document.documentElement.lang") == "en"
    assert with_axe.get_by_role("banner").count() == 1
    assert with_axe.get_by_role("main").count() == 1
