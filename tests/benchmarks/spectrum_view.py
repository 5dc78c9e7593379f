"""Browser time of the interactive spectrum; needs an otherwise idle machine.

    python -m tests.benchmarks.spectrum_view

Opens the view alone in headless Chromium without a GPU; prints medians and 95th percentiles in milliseconds. "show":
the main thread's time for another item; "to paint": until the next frame is drawn; "smooth", "z", "windows": one
change of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from agent.simulate import simulate
from agent.spectrum import Spectrum
from tests.benchmarks.results import Results, Table, command_line
from tests.browser.support.spectrum_page import Item, StepWindow, served, spectrum_item
from tests.support.chromium import launch

WINDOWS = [StepWindow("s2", 2, 6450, 6680), StepWindow("s4", 4, 4600, 4800), StepWindow("s6", 6, 4800, 4930)]

MEASURE = """async ({ name, rounds }) => {
  fresh({})
  await showItem(name)
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))
  const times = { show: [], 'to paint': [], smooth: [], z: [], windows: [] }
  const timed = async (what, action) => {
    const start = performance.now()
    action()
    await null // painting waits for the caller to be done
    times[what].push(performance.now() - start)
  }
  for (let i = 0; i < rounds; i += 1) {
    const next = { ...item, id: `${name} ${i}` }
    await frame()
    const start = performance.now()
    await timed('show', () => view.show(next))
    await frame()
    times['to paint'].push(performance.now() - start)
    await timed('smooth', () => view.command('smooth', 1 + i / rounds))
    await timed('z', () => view.command('z', 0.001 * (i + 1)))
    const moved = item.windows.map((w) => (w.id === 's4' ? { ...w, hi: w.hi + i } : w))
    await timed('windows', () => view.update({ windows: moved }))
    view.command('smooth', 0)
  }
  return times
}"""


def long_spectrum(pixels: int) -> Spectrum:
    rng = np.random.default_rng(pixels)
    wavelength = np.geomspace(3600, 9800, pixels)
    return Spectrum(
        wavelength=wavelength, flux=rng.normal(100, 5, pixels), ivar=np.full(pixels, 0.04), name=f"{pixels} pixels"
    )


def items() -> dict[str, Item]:
    spectra = {"lamost": simulate("cv", "LAMOST", snr=15, seed=3)}
    spectra |= {f"noise-{pixels}": long_spectrum(pixels) for pixels in (4_000, 8_000, 12_000)}
    return {name: spectrum_item(spectrum, name, windows=WINDOWS, selected="s2") for name, spectrum in spectra.items()}


def report(page: Page, table: Table, name: str, rounds: int) -> None:
    times: dict[str, list[float]] = page.evaluate(MEASURE, {"name": name, "rounds": rounds})
    table.row(name, *((float(np.median(ms)), float(np.percentile(ms, 95))) for ms in times.values()))


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    made: dict[str, Any] = items()
    with served(made) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 760, "height": 800})
        page.goto(address)
        page.wait_for_function("window.ready")
        results = Results()
        results.text("Milliseconds: median, 95th percentile.")
        timed = dict.fromkeys(("show", "to paint", "smooth", "z", "windows"), "{:.1f}, {:.1f}")
        table = results.table({"spectrum": "", **timed})
        for name in made:
            report(page, table, name, arguments.rounds)
        browser.close()


if __name__ == "__main__":
    main()
