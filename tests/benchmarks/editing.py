"""Time until an edit is shown, in Chromium; Markdown, milliseconds.

    python -m tests.benchmarks.editing [--edits N] [--items N] [--db-dir FOLDER]

Opens an item in revision on the real app, in headless Chromium without a GPU, with the agent's picture in place of the
window. The clock runs from the key press (letter, or Enter after a new lower edge) or the end of a drag until the frame
after the letter, or after the new picture with its hints, was drawn. No window was drawn before.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from reviewer.rules.campaign import Rules
from reviewer.store import Store
from tests.benchmarks.next_item import filled
from tests.benchmarks.results import Results, command_line, median_95_longest
from tests.browser.support.review_app import open_fields, serving, settled
from tests.support.campaign import Desk
from tests.support.chromium import TOUR_SEEN, launch

EDITS = 40
WARMING = 5
ITEMS = 20
STEP = 3.0
"""Å by which the edge moves per edit."""

CLOCK = """(kind) => {
  // Set before the event; the clock starts at the event.
  const cards = document.querySelectorAll('.so-review .card.zoom')
  const card = [...cards].find((card) => card.classList.contains('selected')) ?? cards[0]
  const id = card.dataset.step
  const now = () => document.querySelector(`.so-review .card[data-step="${id}"]`)
  const picture = () => document.querySelector('.so-review .so-agent img')
  const before = picture()?.src
  const area = document.querySelector('.so-review .card.think textarea')
  const length = area?.value.length
  const seen = kind === 'letter'
    ? () => area.value.length !== length
    : () => {
      const image = picture()
      const waits = now().querySelector('.hints .waiting')
      return image && image.src !== before && image.complete && image.naturalWidth > 0 && !waits
    }
  window.edited = new Promise((done) => {
    const type = kind === 'letter' || kind === 'typed' ? 'keydown' : 'pointerup'
    addEventListener(type, (event) => {
      const start = performance.now()
      const check = () => {
        if (!seen()) return requestAnimationFrame(check)
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0))
      }
      requestAnimationFrame(check)
    }, { once: true, capture: true })
  })
}"""
WAIT = """() => Promise.race([window.edited, new Promise((_, failed) => {
  setTimeout(() => failed(new Error('no edit was seen')), 20000)
})])"""


def type_letters(page: Page, edits: int) -> list[float]:
    page.locator(".so-review .card.think .number").first.click()
    page.keyboard.press("Enter")
    expect(page.locator(".so-review .card.think textarea")).to_be_focused()
    times = []
    for _ in range(WARMING + edits):
        page.wait_for_timeout(150)
        page.evaluate(CLOCK, "letter")
        page.keyboard.press("e")
        times.append(float(page.evaluate(WAIT)))
    page.keyboard.press("Escape")
    return times[WARMING:]


def type_edges(page: Page, edits: int) -> list[float]:
    card = page.locator(".so-review .card.zoom").first
    open_fields(page, card)
    times = []
    for number in range(WARMING + edits):
        page.wait_for_timeout(500)
        field = card.locator("[name=lo]")
        low = float(field.input_value())
        field.fill(f"{low - STEP:.1f}" if number % 2 else f"{low + STEP + 0.1 * number:.1f}")
        page.evaluate(CLOCK, "typed")
        page.keyboard.press("Enter")
        times.append(float(page.evaluate(WAIT)))
    return times[WARMING:]


def drag_windows(page: Page, edits: int) -> list[float]:
    page.locator(".so-review .card.zoom header").first.click()
    times = []
    for number in range(WARMING + edits):
        page.wait_for_timeout(500)
        start = 5000.0 + STEP * number
        places = page.evaluate(
            """([a, b]) => {
              const { host, geometry } = window.specO3.review.spectrum.full
              const box = host.getBoundingClientRect()
              return [a, b].map((w) => [box.x + geometry.x(w), box.y + (geometry.top + geometry.bottom) / 2])
            }""",
            [start, start + 400],
        )
        (x0, y0), (x1, y1) = places
        page.mouse.move(x0, y0)
        page.keyboard.down("Shift")
        page.mouse.down()
        page.mouse.move(x1, y1, steps=4)
        page.evaluate(CLOCK, "dragged")
        page.mouse.up()
        page.keyboard.up("Shift")
        times.append(float(page.evaluate(WAIT)))
    return times[WARMING:]


def in_revision(db: Path) -> Path:
    """A person who works alone keeps the first item, so that it can be edited."""
    with closing(Store.open(db)) as store:
        store.accounts.work_alone("AB")
        store.settings.set_rules("AB", Rules(solo=True))
        Desk(store).decide("AB", 1, "keep")
    return db


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--edits", type=int, default=EDITS, help=f"of each kind, after {WARMING} ({EDITS})")
    parser.add_argument("--items", type=int, default=ITEMS, help=f"in the database ({ITEMS})")
    parser.add_argument("--db-dir", type=Path, help="folder in which databases are kept")
    arguments = parser.parse_args()
    edits = arguments.edits
    table = Results().table({"edit": "", "median": "{:.0f}", "95th percentile": "{:.0f}", "longest": "{:.0f}"})
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launch(playwright)
        made = filled(arguments.items, arguments.db_dir or Path(folder))
        with serving(in_revision(Path(shutil.copy(made, folder) if arguments.db_dir else made))) as url:
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.add_init_script(TOUR_SEEN)
            # The only person here is let in without a sign-in page.
            page.goto(f"{url}#item=1")
            expect(page.locator(".so-review .card").first).to_be_visible(timeout=60_000)
            settled(page)
            page.keyboard.press("a")
            table.row("letter in a think", *median_95_longest(type_letters(page, edits)))
            table.row("window edge typed", *median_95_longest(type_edges(page, edits)))
            table.row("window dragged", *median_95_longest(drag_windows(page, edits)))
        browser.close()


if __name__ == "__main__":
    main()
