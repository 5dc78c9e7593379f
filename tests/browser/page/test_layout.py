"""The page from 360 to 2560 pixels wide and at browser zoom, which makes the page smaller in CSS pixels."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.support.review_app import TABS, frames, open_tab

pytestmark = pytest.mark.browser
SIZES = {
    "390x844": (390, 844),
    "360x740": (360, 740),
    "820x1180": (820, 1180),
    "1024x768": (1024, 768),
    "1180x800": (1180, 800),
    "1366x768": (1366, 768),
    "1366x768 at 125 %": (1093, 614),
    "1366x768 at 150 %": (911, 512),
    "1366x768 at 200 %": (683, 384),
    "1920x1080": (1920, 1080),
    "2560x1300": (2560, 1300),
}

FAULTS = """() => {
  const faults = []
  const page = document.documentElement
  if (page.scrollWidth > innerWidth) faults.push(`the page is ${page.scrollWidth} px wide`)
  const text = (e) => e.getAttribute('aria-label') || e.textContent || e.className
  const name = (e) => `${e.tagName} ${text(e).trim().slice(0, 50)}`
  for (const e of document.querySelectorAll('button, a[href], input, select, textarea, summary, [role=tab]')) {
    const seen = e.checkVisibility({ visibilityProperty: true, opacityProperty: true })
    if (!seen || !e.offsetWidth || !e.offsetHeight) continue
    e.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    const box = e.getBoundingClientRect()
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)
    if (!at) faults.push(`${name(e)} is outside`)
    else if (!e.contains(at) && !at.contains(e) && !e.closest('label')?.contains(at)) {
      faults.push(`${name(e)} is under ${name(at)}`)
    }
    if (box.left < -1 || box.right > innerWidth + 1) faults.push(`${name(e)} is cut off`)
    if (e.matches('[role=tab]') && e.scrollWidth > e.clientWidth + 1) faults.push(`the name of ${name(e)} is cut off`)
  }
  const named = '.so-sheet .block:has(> .checkbox-container), .so-sheet button:is(.sm, .lg)'
  for (const e of document.querySelectorAll(named)) {
    if (e.checkVisibility() && e.scrollWidth > e.clientWidth + 1) faults.push(`the words of ${name(e)} are cut off`)
  }
  for (const plot of document.querySelectorAll('.so-panel')) {
    const { height } = plot.getBoundingClientRect()
    if (plot.checkVisibility() && height < 100) faults.push(`a plot is ${height} px high`)
  }
  for (const desk of document.querySelectorAll('.so-desk')) desk.scrollTop = 0
  scrollTo(0, 0)
  return faults
}"""
"""Controls that cannot be reached at their middle, plots without height, and horizontal overflow."""


STEADY_FAULTS = f"""async () => {{
  let before, frames = 0
  while (frames < 120) {{
    const faults = ({FAULTS})()
    if (!faults.length) return []
    const now = faults.join()
    frames = now === before ? frames + 1 : 0
    before = now
    await new Promise(requestAnimationFrame)
  }}
  return ({FAULTS})()
}}"""
"""The faults that stay once the page no longer changes: it draws itself in its size over some frames."""


def faults(page: Page) -> list[str]:
    return list(page.evaluate(STEADY_FAULTS))


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.smoke
def test_every_control_can_be_reached_at_every_width(desk: Page, tab: str) -> None:
    open_tab(desk, tab)
    wrong = {}
    for name, (width, height) in SIZES.items():
        desk.set_viewport_size({"width": width, "height": height})
        if found := faults(desk):
            wrong[name] = found
    assert not wrong, wrong


@pytest.mark.smoke
def test_the_decision_bar_stays_in_the_window(desk: Page) -> None:
    open_tab(desk, "Review")
    bar = desk.locator(".so-review .decision-bar")
    for width, height in ((390, 844), (683, 384), (911, 512), (1093, 614)):
        desk.set_viewport_size({"width": width, "height": height})
        for name in ("Keep", "Reject", "Next"):
            button = bar.get_by_role("button", name=name)
            expect(button, f"{name} at {width} x {height}").to_be_in_viewport(ratio=0.99)


@pytest.mark.parametrize("width", [1180, 390])
def test_the_queue_with_names_is_a_drawer_that_a_key_and_a_button_open(desk: Page, width: int) -> None:
    desk.set_viewport_size({"width": width, "height": 800})
    open_tab(desk, "Review")
    queue = desk.locator(".so-review > .queue")
    names = queue.locator(".row .name")
    button = desk.locator(".so-review .open-queue" if width < 900 else ".so-review .queue .short")
    expect(names.first).to_be_hidden()
    expect(queue.locator(".sparkline").first).to_be_visible(visible=width > 900)
    button.click()
    expect(names.first).to_be_in_viewport(ratio=0.5)
    assert desk.evaluate("document.activeElement.closest('.queue') !== null")
    desk.keyboard.press("Escape")
    expect(names.first).to_be_hidden()
    desk.keyboard.press("q")
    row = queue.locator(".row:not(.current)").first
    number = row.get_attribute("data-item")
    row.click()
    expect(names.first).to_be_hidden()
    desk.wait_for_function(f"window.specO3.review.current.item.id === {number}")


def test_the_theme_is_that_of_the_system_until_the_person_chooses_one(desk: Page) -> None:
    desk.set_viewport_size({"width": 1366, "height": 768})
    themes = "() => [document.documentElement.dataset.theme, document.body.classList.contains('dark')]"
    for scheme in ("dark", "light", "dark"):
        desk.emulate_media(color_scheme=scheme)
        desk.wait_for_function(
            f"([theme, dark]) => `${{({themes})()}}` === `${{[theme, dark]}}`", arg=[scheme, scheme == "dark"]
        )
    desk.locator(".so-person > button").click()
    desk.get_by_role("button", name="Dark or light theme").click()
    for scheme in ("light", "dark"):
        desk.emulate_media(color_scheme=scheme)
        desk.wait_for_function("(query) => matchMedia(query).matches", arg=f"(prefers-color-scheme: {scheme})")
        frames(desk)
        assert desk.evaluate(themes) == ["light", False]
    desk.keyboard.press("Escape")
    desk.evaluate("localStorage.removeItem('so-theme')")  # the page is that of all tests of this module
    desk.emulate_media(color_scheme="light")


def test_roles_and_switches_are_in_a_sheet_below_the_initials(desk: Page) -> None:
    desk.set_viewport_size({"width": 1366, "height": 768})
    sheet = desk.locator("#so-person")
    expect(sheet).to_be_hidden()
    desk.locator(".so-person > button").click()
    expect(sheet).to_contain_text("auditor")
    sheet.get_by_role("button", name="Dark or light theme").click()
    assert desk.evaluate("document.documentElement.dataset.theme") == "dark"
    sheet.get_by_role("button", name="Dark or light theme").click()
    desk.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
