"""The choice of the prompt in the Live tab, and the time that the Review tab sends with a decision."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.tasks import load
from agent.tasks.trained import import_prompts, save
from reviewer.rules.campaign import Rules
from reviewer.store import Store
from tests.browser.support.live_app import RUN, choose, drop, name_servers, open_live, shown, team, write_csv
from tests.browser.support.review_app import PASSWORD, serving, settled, signed_in
from tests.support.drawn_traces import a_spectrum, a_trace
from tests.support.model_server import BadServer, answer, talking
from tests.support.training_data import specvi_file, specvi_row

pytestmark = pytest.mark.browser

# Moves the page's clock forward, or hides the page, and reports activity.
CONTROL = """() => {
  const now = Date.now.bind(Date)
  let ahead = 0
  Date.now = () => now() + ahead
  window.wait = (seconds) => { ahead += 1000 * seconds }
  window.move = () => document.body.dispatchEvent(new PointerEvent('pointermove', { bubbles: true }))
  window.hide = (hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
    document.dispatchEvent(new Event('visibilitychange'))
  }
}"""


@pytest.fixture
def model() -> Iterator[BadServer]:
    with BadServer(talking((answer("YES"),))) as server:
        yield server


@pytest.fixture
def database(tmp_path: Path, model: BadServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One draft to screen; the prompt of cv is imported, that of no other class."""
    monkeypatch.setenv("SPEC_O3_PROMPTS", str(tmp_path / "trained_prompts.json"))
    rows = [specvi_row(0, prompt=[{"role": "user", "content": "<image>\nIs it a **CV**? As in training."}])]
    found = import_prompts([specvi_file(tmp_path / "train_cv.parquet", rows)], load())
    save(tmp_path / "trained_prompts.json", found.prompts)
    name_servers(tmp_path, {"model": model.url})
    path = team(tmp_path / "annotations.db", "RV")
    with Store.open(path) as store:
        store.settings.set_rules(None, Rules())
        spectrum = a_spectrum("one.fits")
        store.items.add(a_trace(spectrum), store.spectra.add(spectrum))
    return path


def test_prompt_and_time(chromium: Browser, database: Path, model: BadServer, tmp_path: Path) -> None:
    with serving(database) as url, signed_in(chromium, url, "RV", PASSWORD) as page:
        a_decision_sends_the_active_time(page, database)
        open_live(page)
        the_prompt_is_chosen(page, model, tmp_path)


def a_decision_sends_the_active_time(page: Page, database: Path) -> None:
    settled(page)
    page.evaluate(CONTROL)
    page.evaluate("wait(60); move(); wait(30); move()")  # worked
    page.evaluate("wait(500); move()")  # a pause
    page.evaluate("wait(20); hide(true); wait(40); hide(false)")  # worked 20 s, then in another window
    page.evaluate("wait(10)")
    page.locator(".decision-bar button:not(.link)", has_text="Keep").first.click()
    expect(page.locator(".toasts")).to_contain_text("Kept")
    with closing(sqlite3.connect(database)) as reader:
        ((elapsed, active),) = reader.execute("SELECT elapsed, active FROM work_times").fetchall()
    real = elapsed - 660  # seconds that the test itself took
    assert 0 <= real < 60
    assert 120 <= active <= 120 + real
    page.get_by_role("tab", name="Progress").click()
    card = page.locator(".so-progress section", has_text="Time per item")
    expect(card).to_contain_text(f"RVscreening{math.floor(active + 0.5)}")
    card.locator(".defined").hover()
    expect(card.locator(".meaning")).to_contain_text("A pause of more than two minutes")


def the_prompt_is_chosen(page: Page, model: BadServer, tmp_path: Path) -> None:
    write_csv(tmp_path / "star.csv")
    drop(page, tmp_path / "star.csv")
    prompt = page.get_by_label("Prompt")
    settings = page.locator(".so-live .settings")
    for policy, task, expected, enabled in (
        ("model", "cv", "trained", True),
        ("model", "wd", "ours", False),
    ):
        choose(page, policy, task)
        settings.click()
        expect(prompt).to_have_value(expected)
        assert prompt.locator("option", has_text="as trained").is_enabled() == enabled
        hint = "their default" if enabled else "spec-o3 tasks import SpecVI-Bench/data"
        expect(page.locator(".so-live .fields")).to_contain_text(hint)
        page.keyboard.press("Escape")
    choose(page, "model", "cv")
    expect(settings).to_contain_text("prompt as trained")
    page.locator(RUN).click()
    page.wait_for_function("window.specO3.live.shownRun?.state === 'done'")
    assert shown(page, "trace.drafter.settings.prompt_source") == "trained"
    settings.click()
    prompt.select_option("ours")
    page.keyboard.press("Escape")
    page.locator(RUN).click()
    page.wait_for_function(
        "window.specO3.live.shownRun?.state === 'done' && window.specO3.live.shownRun.prompt === 'ours'"
    )
    texts = [chat.body["messages"][1]["content"][-1]["text"] for chat in model.chats]
    assert texts[0] == "\nIs it a **CV**? As in training."
    assert texts[1].startswith("\nAnalyze the provided spectrum")
