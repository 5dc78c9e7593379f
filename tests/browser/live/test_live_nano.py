"""The nano model in the Live tab of the real app: listed, healthy, and watched while it writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from agent.policies.nano.folder import packaged
from agent.policies.nano.policy import NAME
from tests.browser.support.live_app import (
    RUN,
    cards,
    choose,
    drop,
    let_each_event_be_drawn,
    live,
    shown,
    team,
    write_csv,
)
from tests.browser.support.review_app import serving
from tests.support.nano_model import change, put, write

pytestmark = pytest.mark.browser

pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    base = tmp_path_factory.mktemp("nano")
    folder = write(base / "model")
    # Little space after the prompt: with random weights a turn has no end of its own.
    change(folder, "config.json", text_config__max_position_embeddings=1400)
    put(folder, "abstain.json", {"version": "1", "tasks": ["cv"]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPEC_O3_NANO", str(folder))
        with serving(team(base / "annotations.db", "AA")) as address:
            yield address


def test_a_run_of_the_nano_model(chromium: Browser, url: str, tmp_path: Path) -> None:
    write_csv(tmp_path / "star.csv")
    with live(chromium, url, "AA") as page:
        policies = page.locator(".so-live .policy select")
        expect(policies.locator("option[value=nano]")).to_have_text(NAME)
        drop(page, tmp_path / "star.csv")
        choose(page, "nano")
        page.locator(RUN).click()
        page.wait_for_function("window.specO3.live.shownRun?.state === 'done'", timeout=60_000)
        expect(cards(page).first).to_be_visible()
        assert shown(page, "trace.ended.reason") == "no call and no answer"
        # Another question than those of its folder.
        choose(page, "nano", task="wd")
        page.locator(RUN).click()
        page.wait_for_function("window.specO3.live.shownTrace?.ended?.reason === 'policy failed'", timeout=60_000)
        expect(page.locator(".so-live")).to_contain_text("was not trained on the task 'wd'; it knows cv")


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
        page.wait_for_function(
            "[...document.querySelectorAll('.so-live .card img')].filter((one) => one.naturalWidth > 100).length >= 3"
        )
        expect(page.locator(".so-live")).to_contain_text("YES")
