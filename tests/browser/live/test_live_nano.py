"""The nano model in the Live tab of the real app: listed, healthy, and watched while it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from agent.policies.nano.folder import packaged
from tests.browser.support.live_app import RUN, choose, drop, let_each_event_be_drawn, live, shown, team, write_csv
from tests.browser.support.review_app import serving

pytestmark = pytest.mark.browser

pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")


@pytest.mark.skipif(packaged() is None, reason="no weights came with the program")
def test_the_weights_that_came_with_the_program_zoom_and_answer(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first words appear while it writes; each zoom is painted; the verdict of a bright simulated CV is YES."""
    monkeypatch.delenv("SPEC_O3_NANO", raising=False)
    write_csv(tmp_path / "star.csv")
    with serving(team(tmp_path / "annotations.db", "AA")) as address, live(chromium, address, "AA") as page:
        drop(page, tmp_path / "star.csv")
        choose(page, "nano")
        let_each_event_be_drawn(page)  # A turn may be written and read within one frame.
        page.evaluate(
            """() => {
              window.seen = []
              const note = () => {
                const growing = document.querySelector('.so-live .card.growing')
                if (growing?.textContent) window.seen.push(growing.textContent)
              }
              new MutationObserver(note).observe(document.querySelector('.so-live'), {
                subtree: true, childList: true, characterData: true,
              })
            }"""
        )
        page.locator(RUN).click()
        page.wait_for_function("window.specO3.live.shownRun?.state === 'done'", timeout=60_000)
        assert shown(page, "trace.ended.reason") == "answered"
        growing = page.evaluate("window.seen")
        assert any("The continuum is blue" in text for text in growing)
        assert any("drawing the picture" in text and "6400 – 6720" in text for text in growing)
        page.wait_for_function("document.querySelectorAll('.so-live .card.zoom:not(.growing)').length >= 3")
        expect(page.locator(".so-live")).to_contain_text("YES")
