"""The Live tab in the real app: files are dropped; runs are watched, stopped, repeated and sent to review."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.support.live_app import (
    RUN,
    cards,
    choose,
    drop,
    let_each_event_be_drawn,
    live,
    name_servers,
    open_live,
    row,
    shown,
    team,
    write_csv,
)
from tests.browser.support.review_app import picture, serving, settled
from tests.support.model_server import BadServer, Behaviour, Paced, Say, answer, look

pytestmark = pytest.mark.browser

LAMOST_FILE = "spectra/lamost/STAR_A0/spec-55939-GAC_061N46_V3_sp07-078.fits"
THOUGHTS = ("Strong Balmer emission; is Hα broad?", "Broad and double. The wings of Hβ?", "A disc.")
TURNS = (look(6400, 6700, "Hα", THOUGHTS[0]), look(4800, 4920, "Hβ", THOUGHTS[1]), answer("YES", thought=THOUGHTS[2]))
PEOPLE = ("AA", "BB", "CC", "DD", "FF", "GG", "HH")


@pytest.fixture(scope="module")
def model() -> Iterator[BadServer]:
    """A model server."""
    with BadServer() as server:
        yield server


@pytest.fixture(scope="module")
def url(model: BadServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One app for this file, with the demo in its library and a bench per person."""
    folder = tmp_path_factory.mktemp("live")
    name_servers(folder, {"slow": model.url})
    with serving(team(folder / "annotations.db", *PEOPLE)) as address:
        yield address


@pytest.fixture(autouse=True)
def paced(model: BadServer) -> Iterator[Paced]:
    """The model stops in each turn until the test lets it go on."""
    model.answers = paced = Paced(TURNS)
    yield paced
    paced.let()


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "star.csv"
    write_csv(path)
    return path


def over(page: Page) -> None:
    page.wait_for_function("(window.specO3.live.shownRun?.state ?? 'running') !== 'running'")


def stop_in_the_middle(page: Page, model: BadServer, paced: Paced) -> None:
    """Wait for a window on the spectrum and some words of the next turn, then stop."""
    paced.let(0)
    expect(page.locator(".so-live .card.growing")).to_have_count(1)
    expect(cards(page)).to_have_count(2)
    expect(page.locator(".so-live .card.zoom")).to_have_count(1)
    expect(page.locator(".so-live .card.growing .text")).to_contain_text("Broad")
    assert shown(page, "run.state") == "running"
    page.keyboard.press("Escape")
    over(page)
    assert model.wait(lambda: model.open == 0)


def test_a_real_file_is_dropped_run_stopped_run_again_and_sent_to_review(
    chromium: Browser, url: str, model: BadServer, paced: Paced, shared: Path
) -> None:
    file = shared / LAMOST_FILE
    with live(chromium, url, "AA") as page:
        expect(page.locator(".so-live .welcome")).to_contain_text("Add a spectrum")
        drop(page, file)
        expect(row(page, file.name)).to_have_class("row current")
        expect(page.locator(".so-live .item .facts")).to_contain_text("LAMOST")
        expect(row(page, file.name).locator(".sparkline path[d^='M']")).to_have_count(1)
        choose(page, "slow")
        expect(page.locator(".so-live .health.well")).to_contain_text("spec-o3")
        page.keyboard.press("r")
        expect(page.locator(".so-live .run-head .turn")).to_contain_text("turn 1 of 8")
        expect(page.locator(RUN)).to_contain_text("Stop")
        stop_in_the_middle(page, model, paced)
        expect(page.locator(".so-live .ending")).to_contain_text("Stopped by you")
        expect(cards(page).nth(2)).to_contain_text("Broad")
        expect(row(page, file.name)).to_contain_text("stopped")
        paced.let()
        page.locator(".so-live .ending button", has_text="Again").click()
        expect(cards(page)).to_have_count(6)
        expect(page.locator(".so-live .ending .outcome")).to_have_text("YES")
        expect(row(page, file.name)).to_contain_text("YES")
        picture(page, "live")
        page.locator(".so-live .send").click()
        expect(page.locator(".so-live .notice")).to_contain_text("is in the queue")
        item = shown(page, "run.sent.get(0)")
        page.locator(".so-live .notice button", has_text="Open it").click()
        page.wait_for_function(f"window.specO3.review.current.item.id === {item}")
        settled(page)
        expect(page.locator(f'.so-review .queue [data-item="{item}"]')).to_have_count(1)
        assert page.evaluate("window.specO3.review.current.item.row.name") == file.name
        expect(page.locator(".so-review .card.answer")).to_contain_text("YES")
        expect(page.locator(".so-review .decision-bar .round")).to_contain_text("screening")


@pytest.mark.smoke
def test_steps_arrive_one_by_one_and_each_window_is_drawn_as_soon_as_it_is_called(
    chromium: Browser, url: str, csv: Path, paced: Paced
) -> None:
    with live(chromium, url, "BB") as page:
        let_each_event_be_drawn(page)
        # Record what is on the page at each change.
        page.evaluate(
            """() => {
              window.seen = []
              new MutationObserver(() => {
                const whole = document.querySelectorAll('.so-live .card:not(.growing)').length
                const called = document.querySelector('.so-live .card.zoom.growing .edges')?.textContent
                window.seen.push({ whole, called })
              }).observe(document.querySelector('.so-live .live-trace'),
                { childList: true, subtree: true, characterData: true })
            }"""
        )
        drop(page, csv)
        choose(page, "slow")
        page.locator(RUN).click()
        half = page.locator(".so-live .card.growing .text")
        expect(half).to_contain_text(THOUGHTS[0][:10])
        assert len(half.inner_text()) < len(THOUGHTS[0])
        paced.let()
        expect(cards(page)).to_have_count(6)
        over(page)
        seen = page.evaluate("window.seen")
        counts = [s["whole"] for s in seen]
        assert counts == sorted(counts)
        assert set(counts) == set(range(7))
        assert {"6400 – 6700", "4800 – 4920"} <= {s["called"] for s in seen}
        assert shown(page, "trace.steps.map((s) => s.kind)") == ["think", "zoom", "think", "zoom", "think", "answer"]


def test_the_baseline_answers_and_arrows_step_through_its_windows(chromium: Browser, url: str, csv: Path) -> None:
    with live(chromium, url, "CC") as page:
        drop(page, csv)
        choose(page, "baseline")
        expect(page.get_by_label("Samples", exact=True)).to_be_disabled()
        page.keyboard.press("r")
        over(page)
        expect(page.locator(".so-live .ending .outcome")).to_have_text("YES")
        steps = shown(page, "trace.steps")
        for _ in steps:
            page.keyboard.press("ArrowLeft")
        for number, step in enumerate(steps, start=1):
            expect(page.locator(".so-live .card.selected .number")).to_have_text(str(number))
            if step["kind"] == "zoom":
                lo, hi = step["arguments"]["wavelength_range"]
                span = page.evaluate("window.specO3.live.spectrum.scene.windows.find((w) => w.selected).span")
                assert span == pytest.approx([lo, hi])
            page.keyboard.press("ArrowRight")
        page.locator(".so-live .so-full .so-badge", has_text=re.compile("^2$")).click()
        expect(page.locator(".so-live .card.selected .number")).to_have_text("2")


def voting(body: Mapping[str, Any]) -> Behaviour:
    """Behave in four ways, by the seed: three zoom on Hα first, two of them answer YES."""
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    ways = (
        (look(6400, 6700), look(4600, 4760, "He II 4686"), answer("YES")),
        (look(6400, 6700), answer("YES")),
        (look(6400, 6700), look(4600, 4760, "He II 4686"), answer("NO")),
        (look(4900, 5100, "[O III] 5007"), answer("NO")),
    )
    way = ways[body["seed"] % len(ways)]
    return Say(way[min(turn, len(way) - 1)], pieces=6, delay=0.02)


@pytest.mark.smoke
def test_a_vote_without_a_majority_needs_a_person_and_shows_where_the_traces_differ(
    chromium: Browser, url: str, model: BadServer, csv: Path
) -> None:
    model.answers = voting
    with live(chromium, url, "DD") as page:
        drop(page, csv)
        choose(page, "slow", samples=4)
        page.locator(".so-live .settings").click()
        page.get_by_label("Seed").fill("4")
        page.keyboard.press("Escape")
        page.keyboard.press("r")
        over(page)
        vote = page.locator(".so-live article.vote")
        expect(vote.locator(".outcome")).to_have_text("Ask a person")
        expect(vote.locator(".cast p")).to_have_text("2 YES · 2 NO of 4")
        expect(vote.locator(".reasons")).to_contain_text("split")
        expect(vote.locator(".fraction summary")).to_contain_text("YES 50 %")
        expect(vote.locator("h3")).to_have_text("The traces differ from turn 1")
        expect(vote.locator(".path").first).to_contain_text("6400 – 6700")
        expect(vote.locator(".path .who").first).to_have_text("1 2 3")
        expect(row(page, csv.name)).to_contain_text("ask a person")
        chips = page.locator(".so-live .sample")
        assert chips.all_inner_texts() == ["vote", "1 YES", "2 YES", "3 NO", "4 NO"]
        vote.locator(".path", has_text="[O III] 5007").locator(".who button").click()
        expect(chips.nth(4)).to_have_attribute("aria-selected", "true")
        expect(page.locator(".so-live .card.selected")).to_contain_text("4900 – 5100")
        page.keyboard.press("v")
        page.locator(".so-live .send", has_text="Send all 4").click()
        expect(page.locator(".so-live .notice")).to_contain_text("are in the queue")


@pytest.mark.smoke
def test_two_people_run_at_once_and_do_not_see_each_other(
    chromium: Browser, url: str, csv: Path, tmp_path: Path, paced: Paced
) -> None:
    other_file = tmp_path / "other.csv"
    write_csv(other_file, seed=2)
    with live(chromium, url, "FF") as one, live(chromium, url, "GG") as other:
        for page, file in ((one, csv), (other, other_file)):
            drop(page, file)
            choose(page, "slow")
            page.keyboard.press("r")
        for page in (one, other):
            expect(page.locator(".so-live .card.growing .text")).to_contain_text("Strong")
        assert shown(one, "run.state") == shown(other, "run.state") == "running"
        run = shown(one, "run.id")
        assert other.evaluate("async (id) => (await fetch(`/api/v1/live/runs/${id}`)).status", run) == 404
        paced.let()
        for page, file in ((one, csv), (other, other_file)):
            expect(cards(page)).to_have_count(6)
            expect(page.locator(".so-live .queue .row")).to_have_count(1)
            expect(row(page, file.name)).to_contain_text("YES")


def test_a_reload_restores_the_bench_and_the_running_run(chromium: Browser, url: str, csv: Path, paced: Paced) -> None:
    with live(chromium, url, "HH") as page:
        drop(page, csv)
        choose(page, "slow")
        page.keyboard.press("r")
        paced.let(0)
        expect(cards(page)).to_have_count(2)
        run = shown(page, "run.id")
        page.reload()
        open_live(page)
        expect(row(page, csv.name)).to_have_class("row current")
        expect(page.locator(".so-live .card.growing .text")).to_contain_text("Broad")
        assert shown(page, "run.state") == "running"
        paced.let()
        expect(cards(page)).to_have_count(6)
        assert shown(page, "run.id") == run
        assert shown(page, "trace.steps.map((s) => s.text).filter(Boolean)") == list(THOUGHTS)
        expect(page.locator(".so-live .ending .outcome")).to_have_text("YES")
