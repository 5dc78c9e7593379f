"""The runs of a spectrum in the Live tab: kept, compared, removed, and found again after a reload."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.support.live_app import (
    RUN,
    cards,
    choose,
    drop,
    live,
    name_servers,
    open_live,
    row,
    shown,
    team,
    write_csv,
)
from tests.browser.support.review_app import serving
from tests.support.model_server import BadServer, Behaviour, Paced, Say, answer, look, talking

pytestmark = pytest.mark.browser

PEOPLE = ("AA", "CC", "DD", "FF")
VERDICTS = ("YES", "NO", "NO")


def voting(body: Any) -> Behaviour:
    """Zoom on Hα, then on He II, and answer by the seed: one YES, two NO."""
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    way = (look(6400, 6700, "Hα"), look(4600, 4760, "He II 4686"), answer(VERDICTS[body["seed"] % 3]))
    return Say(way[min(turn, len(way) - 1)])


@pytest.fixture(scope="module")
def model() -> Iterator[BadServer]:
    with BadServer() as server:
        yield server


@pytest.fixture(scope="module")
def url(model: BadServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("live-runs")
    name_servers(folder, {"voter": model.url, "gone": "http://127.0.0.1:9/v1"})
    with serving(team(folder / "annotations.db", *PEOPLE)) as address:
        yield address


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    write_csv(tmp_path / "star.csv")
    return tmp_path / "star.csv"


def tabs(page: Page) -> Locator:
    return page.locator(".so-live .run-tab")


def run(page: Page, policy: str, samples: int = 1) -> str:
    """Run a policy and wait until it is over; return its id."""
    choose(page, policy)
    field = page.get_by_label("Samples", exact=True)
    if field.is_enabled():
        field.fill(str(samples))
        field.press("Enter")
    before = page.evaluate("window.specO3.live.shownRun?.id ?? ''")
    page.locator(RUN).click()
    page.wait_for_function("(id) => (window.specO3.live.shownRun?.id ?? '') !== id", arg=before)
    page.wait_for_function("window.specO3.live.shownRun.state !== 'running'")
    return str(shown(page, "run.id"))


def three_runs(page: Page, model: BadServer) -> list[str]:
    """A run of the baseline, a vote of three, and a run that fails; oldest first."""
    model.answers = voting
    baseline = run(page, "baseline")
    page.locator(".so-live .settings").click()
    page.get_by_label("Seed").fill("0")
    page.keyboard.press("Escape")
    vote = run(page, "voter", samples=3)
    return [baseline, vote, run(page, "gone")]


def test_runs_are_shown_complete_found_again_after_a_reload_and_removed(
    chromium: Browser, url: str, model: BadServer, csv: Path
) -> None:
    with live(chromium, url, "AA") as page:
        drop(page, csv)
        _, vote, failed = three_runs(page, model)
        expect(tabs(page)).to_have_text(["gone · failed", "voter ×3 · 1 YES 2 NO", "rule-based baseline · YES"])
        expect(tabs(page).nth(0)).to_have_attribute("aria-selected", "true")
        expect(page.locator(".so-live .ending.red")).to_contain_text("No server at")
        # The row shows the newest answer, not the failure after it.
        expect(row(page, csv.name).locator(".sub")).to_contain_text("voter ×3")
        tabs(page).nth(1).click()
        expect(page.locator(".so-live article.vote .cast p")).to_have_text("1 YES · 2 NO of 3")
        assert shown(page, "run.id") == vote
        windows = "window.specO3.live.spectrum.scene.windows.map((w) => w.span)"
        assert page.evaluate(windows) == [[6400, 6700], [4600, 4760]]
        page.keyboard.press("]")
        expect(cards(page)).to_have_count(6)
        tabs(page).nth(2).click()
        expect(page.locator(".so-live .ending .outcome")).to_have_text("YES")
        hints = page.locator(".so-live .card.zoom").first.locator(".hints")
        hints.locator("summary").click()
        expect(hints.locator("li").first).to_be_visible()
        page.keyboard.press(",")
        page.keyboard.press(",")
        page.wait_for_function("(id) => window.specO3.live.shownRun.id === id", arg=failed)
        expect(page.locator(".so-live .ending.red")).to_contain_text("No server at")
        assert page.evaluate(windows) == []
        # A reload finds the runs again, with the one that was shown.
        tabs(page).nth(1).click()
        page.wait_for_function("(id) => window.specO3.live.shownRun.id === id", arg=vote)
        labels = tabs(page).all_inner_texts()
        page.reload()
        open_live(page)
        expect(tabs(page)).to_have_text(labels)
        expect(tabs(page).nth(1)).to_have_attribute("aria-selected", "true")
        assert shown(page, "run.id") == vote
        # A failed run is removed at once, also where its events have not come yet; another one after a question.
        page.route(f"**/api/v1/live/runs/{failed}/events*", lambda route: None)
        tabs(page).nth(0).click()
        page.wait_for_function("(id) => window.specO3.live.shownRun.id === id", arg=failed)
        page.keyboard.press("Backspace")
        expect(tabs(page)).to_have_text(labels[1:])
        page.wait_for_function("(id) => window.specO3.live.shownRun.id === id", arg=vote)
        page.locator(".so-live .remove-run").click()
        page.get_by_role("button", name="Cancel").click()
        expect(tabs(page)).to_have_count(2)
        page.locator(".so-live .remove-run").click()
        page.get_by_role("button", name="Remove the run").click()
        expect(tabs(page)).to_have_text(labels[2:])
        assert page.evaluate("async (id) => (await fetch(`/api/v1/live/runs/${id}`)).status", vote) == 404
        expect(page.locator(".so-live .ending .outcome")).to_have_text("YES")
        expect(row(page, csv.name).locator(".pill").first).to_have_text("YES")


def test_two_runs_are_compared_as_two_items_are_in_review(
    chromium: Browser, url: str, model: BadServer, csv: Path
) -> None:
    with live(chromium, url, "CC") as page:
        drop(page, csv)
        three_runs(page, model)
        tabs(page).nth(2).click()
        page.keyboard.press("c")
        choices = page.locator(".others-sheet li button")
        expect(choices).to_have_count(4)
        expect(choices.nth(2)).to_contain_text("voter ×3, sample 2 Cataclysmic Variable (CV) · answer NO")
        choices.nth(2).click()
        second = page.locator(".so-live > .second")
        expect(second.locator(".card")).to_have_count(6)
        expect(second.locator(".side")).to_have_text("R · voter ×3, sample 2 · NO")
        expect(second.locator(".differences")).to_contain_text(
            "rule-based baseline answers YES, voter ×3, sample 2 answers NO."
        )
        expect(page.locator(".so-live .steps .side").first).to_have_text("L · rule-based baseline · YES")
        sides = page.evaluate("window.specO3.live.spectrum.scene.windows.map((w) => String(w.number)[0])")
        assert set(sides) == {"L", "R"}
        second.locator(".card.zoom", has_text="He II 4686").locator(".number").click()
        page.wait_for_function("window.specO3.live.spectrum.scene.windows.find((w) => w.selected)?.number === 'R4'")
        # A trace without an answer says why.
        page.keyboard.press("c")
        expect(second).to_be_hidden()
        page.keyboard.press("c")
        choices.nth(0).click()
        expect(second.locator(".differences")).to_contain_text("answers YES, gone answers nothing.")
        expect(second.locator(".differences .ended")).to_contain_text("No server at")
        # Another run in front is compared with the same second trace; the vote has no steps to compare.
        tabs(page).nth(1).click()
        expect(second).to_be_visible()
        expect(page.locator(".so-live .steps .side").first).to_contain_text("L · voter ×3, sample 1")
        page.keyboard.press("v")
        expect(second).to_be_hidden()
        expect(page.locator(".so-live article.vote")).to_be_visible()


def test_earlier_runs_can_be_read_while_another_runs_and_stop_ends_the_one_in_progress(
    chromium: Browser, url: str, model: BadServer, csv: Path
) -> None:
    model.answers = paced = Paced((look(6400, 6700, "Hα"), answer("YES")))
    with live(chromium, url, "DD") as page:
        drop(page, csv)
        baseline = run(page, "baseline")
        choose(page, "voter")
        page.locator(RUN).click()
        paced.let(0)
        expect(page.locator(".so-live .card.growing")).to_have_count(1)
        expect(tabs(page).nth(0).locator(".spinner")).to_be_visible()
        tabs(page).nth(1).click()
        page.wait_for_function("(id) => window.specO3.live.shownRun.id === id", arg=baseline)
        expect(page.locator(".so-live .ending .outcome")).to_have_text("YES")
        expect(page.locator(RUN)).to_contain_text("Stop")
        page.keyboard.press("Escape")
        expect(tabs(page).nth(0)).to_have_text("voter · stopped")
        assert shown(page, "run.id") == baseline
        expect(row(page, csv.name).locator(".pill").first).to_have_text("YES")
        paced.let()
        bench = page.locator(".so-live > .queue")
        page.keyboard.press("q")
        expect(bench).to_be_hidden()
        page.keyboard.press("q")
        expect(bench).to_be_visible()


def test_the_bench_is_cleared_after_a_question_and_a_spectrum_that_returns_has_its_runs(
    chromium: Browser, url: str, model: BadServer, csv: Path, tmp_path: Path
) -> None:
    write_csv(tmp_path / "other.csv", seed=2)
    model.answers = talking((look(6400, 6700), answer("NO")), pieces=1)
    with live(chromium, url, "FF") as page:
        drop(page, csv, tmp_path / "other.csv")
        run(page, "voter")
        clear = page.locator(".so-live .queue-title").get_by_role("button", name="clear")
        clear.click()
        expect(page.locator("dialog.panel")).to_contain_text("2 spectra leave the bench.")
        page.keyboard.press("Escape")
        expect(page.locator(".so-live .queue .row")).to_have_count(2)
        clear.click()
        page.get_by_role("button", name="Clear the bench").click()
        expect(page.locator(".so-live .queue .row")).to_have_count(0)
        expect(page.locator(".so-live .welcome")).to_be_visible()
        expect(page.locator(".so-live .runs")).to_be_hidden()
        drop(page, csv)
        expect(tabs(page)).to_have_text(["voter · NO"])
        expect(cards(page)).to_have_count(4)
