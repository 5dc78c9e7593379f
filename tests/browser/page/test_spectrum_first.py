"""How much of the screen the data have on real files, and how little stands around them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.browser.support.review_app import PASSWORD, serving, show_item, signed_in, spec_o3

pytestmark = pytest.mark.browser
SIZES = ((1366, 768), (1920, 1080), (820, 1180), (390, 844))
DEMO = 6  # items of the demo
TABLE = os.environ.get("SPEC_O3_PAGE_TABLE")
"""File for the table of what was measured (JSON Lines); if unset, none is written."""

REAL = (
    "lamost/STAR_K5/spec-59641-GAC100N17B2_sp06-049.fits.gz",
    "lamost/QSO/spec-60591-LN042429N340750BM01_sp01-005.fits.gz",
    "lamost/STAR_gM0/spec-58575-HD103621N361936B01_sp03-063.fits",
    "lamost/STAR_A1V/spec-55859-F5907_sp05-114.fits.gz",
    "sdss/odd_sky_fibre_called_WD/spec-1944-53385-0486.fits",
    "sdss/GALAXY/spec-0266-51602-0013.fits",
    "sdss/QSO/spec-0332-52367-0639.fits",
    "eso_standards_text/WD_DA_cool/fg138_31.dat",
    "ctio_novae/CV_OLD_NOVA_GQ_MUS/GQMUSF_Williams_Optical_Spectra.csv",
    "lsr1835/M8.5_ULTRACOOL_DWARF_ACTIVE/spec_119.txt",
)

MEASURE = r"""() => {
  const inView = (box) =>
    box.width > 0 && box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight
  const isShown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  const controls = 'button, a[href], input, select, textarea, summary, [role=button]'
  const all = [...document.querySelectorAll(controls)]
  const visible = all.filter((e) => isShown(e) && inView(e.getBoundingClientRect()))
  const styles = new Set()
  let words = 0
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode
    if (!data.trim() || !isShown(parentElement) || parentElement.closest('option, .so-summary')) continue
    const range = document.createRange()
    range.selectNodeContents(texts.currentNode)
    if (!inView(range.getBoundingClientRect())) continue
    const { fontSize, fontWeight, fontStyle } = getComputedStyle(parentElement)
    styles.add(`${fontSize} ${fontWeight} ${fontStyle}`)
    // An axis has its numbers: a word has two letters, or is a Chinese character or two.
    words += data.match(/\p{Script=Han}{1,2}|[\p{L}]{2,}/gu)?.length ?? 0
  }
  const plots = window.specO3.review.spectrum.panels.filter(({ host }) => isShown(host))
  const places = plots.map(({ host, geometry }) => ({
    top: Math.round(host.getBoundingClientRect().top + geometry.top), width: geometry.width, height: geometry.height,
  }))
  const cards = [...document.querySelectorAll('.so-review .trace .card')].map((e) => e.getBoundingClientRect())
  const ticks = plots.flatMap(({ plot }) => ['.xtick', '.ytick'].map((axis) => plot.querySelectorAll(axis).length))
  return {
    area: 100 * places.reduce((sum, { width, height }) => sum + width * height, 0) / innerWidth / innerHeight,
    top: places[0].top, heights: places.map(({ height }) => height), ticks: Math.min(...ticks),
    controls: visible.length, words, styles: styles.size, wide: document.documentElement.scrollWidth > innerWidth,
    steps: cards.length, seen: cards.filter(({ top, bottom }) => top >= 0 && bottom <= innerHeight).length,
  }
}"""


@dataclass
class Shown:
    """What a page shows of an item at a size."""

    area: float
    """per cent of the window that the data areas of the plots fill"""
    top: int
    heights: list[float]
    ticks: int
    controls: int
    words: int
    styles: int
    wide: bool
    steps: int
    seen: int

    def faults(self, width: int) -> list[str]:
        """Return what is not as ``docs/design/reviewer.md`` promises it."""
        limits = {
            "the page is wider than its window": self.wide,
            f"{self.ticks} ticks on an axis": self.ticks < 3,
            f"{self.styles} styles of text": self.styles > 8,
        }
        if width >= 1366:
            limits |= {
                f"data areas of {self.area:.1f} %": self.area < (40 if width == 1366 else 50),
                f"{self.seen} of {self.steps} steps in view": self.seen < min(10, self.steps),
                f"{self.controls} controls": self.controls > 35,
                f"{self.words} words": self.words > 220,
            }
        else:
            limits[f"plots of {self.heights} px"] = min(self.heights) < 160
        return [text for text, wrong in limits.items() if wrong]


def measure(page: Page) -> Shown:
    return Shown(**page.evaluate(MEASURE))


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("first") / "annotations.db"
    with closing(Store.open(path)) as store:
        store.accounts.add_person("CO", "Person CO", ["reviewer", "auditor", "coordinator"], password=PASSWORD)
        store.items.add_all(Draft(t, s, batch="demo") for s, t in islice(demo.demo_items(), DEMO))
    return path


@pytest.fixture
def page(chromium: Browser, db: Path) -> Iterator[Page]:
    with serving(db) as url, signed_in(chromium, url, "CO", PASSWORD) as page:
        page.wait_for_function("window.specO3?.review?.current?.place")
        yield page


def at_size(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function(
        "window.specO3.review.spectrum.panels.every(({ host, width }) => width === host.clientWidth)"
    )


@pytest.mark.smoke
def test_the_spectrum_is_the_largest_thing_on_the_screen(page: Page) -> None:
    tops = set()
    for width, height in SIZES:
        at_size(page, width, height)
        for item in (1, 3, 6):
            show_item(page, item)
            shown = measure(page)
            assert shown.faults(width) == [], (width, item)
            if width == 1366:
                tops.add(shown.top)
    assert len(tops) == 1


def test_it_is_so_for_ten_real_files_in_every_theme_and_language(page: Page, db: Path, shared: Path) -> None:
    files = [shared / "spectra" / name for name in REAL]
    told = spec_o3("draft", "--db", db, "--task", "cv", "--policy", "baseline", *files)
    assert re.match("10 drafted", told)
    page.reload()
    page.wait_for_function("window.specO3?.review?.current?.place")
    items = range(DEMO + 1, DEMO + 1 + len(files))
    faults, rows, tops = {}, [], set()
    for language in ("en", "zh"):
        if language == "zh":
            page.get_by_role("button", name="Help").click()
            page.get_by_role("menuitemradio", name="中文").click()
            page.wait_for_function("document.documentElement.lang.startsWith('zh')")
            page.wait_for_function("window.specO3?.review?.current?.place")
        for (width, height), theme in product(SIZES, ("light", "dark")):
            page.evaluate("(theme) => window.specO3.review.spectrum.setTheme(theme)", theme)
            at_size(page, width, height)
            for item, file in zip(items, files, strict=True):
                show_item(page, item)
                shown = measure(page)
                about = {"file": file.name, "size": f"{width}x{height}", "theme": theme, "language": language}
                rows.append({**about, **vars(shown)})
                if wrong := shown.faults(width):
                    faults[file.name, width, theme, language] = wrong
                if width == 1366:
                    tops.add((language, shown.top))
    if TABLE:
        Path(TABLE).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert faults == {}
    assert len(tops) == 2, tops
