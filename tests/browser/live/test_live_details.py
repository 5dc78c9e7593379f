"""Details of the Live tab: faults of a model or the network, and cases of daily work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from agent.simulate import simulate
from agent.spectrum.readers import own
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.live_app import (
    RUN,
    Cable,
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
from tests.browser.support.review_app import comes_true, frames, serving
from tests.support.model_server import BadServer, Behaviour, Paced, Say, answer, look, talking

pytestmark = pytest.mark.browser

ONE_LINE = "(header) => header.scrollHeight <= 30 && header.scrollWidth <= header.clientWidth"
IN_THE_WINDOW = """(element) => {
  const { left, right, top, bottom } = element.getBoundingClientRect()
  return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight
}"""

SHORT = talking((look(6400, 6700), answer("YES")), pieces=4)


@pytest.fixture(scope="module")
def model() -> Iterator[BadServer]:
    with BadServer(SHORT) as server:
        yield server


@pytest.fixture(scope="module")
def url(model: BadServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("live-details")
    name_servers(folder, {"model": model.url})
    with serving(team(folder / "annotations.db", "AA")) as address:
        yield address


@pytest.fixture
def paced(model: BadServer) -> Iterator[Paced]:
    """Three looks, the second and third at other windows, and an answer; each turn waits for the test."""
    turns = [look(6400 + 10 * n, 6700, thought=f"Look number {n}. " * 12) for n in range(3)]
    paced = Paced((*turns, answer("YES", thought="No doubt.")))
    yield paced
    paced.let()


@pytest.fixture(scope="module")
def kept(chromium: Browser, url: str) -> Iterator[KeptPage]:
    with kept_page(lambda: live(chromium, url, "AA")) as kept:
        yield kept


@pytest.fixture
def desk(kept: KeptPage, model: BadServer, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page with one spectrum on the bench and the model chosen for the question about CVs."""
    model.answers = SHORT
    with kept.of(request) as page:
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
        page.reload()
        open_live(page)
        # Runs belong to the spectrum: those of the tests before would be back with the same file.
        page.evaluate(
            """() => Promise.all(window.specO3.live.bench.rows.map(async (row) => {
              for (const { run } of row.results) await fetch(`/api/v1/live/runs/${run}`, { method: 'DELETE' })
              await window.specO3.live.adding.remove(row.id)
            }))"""
        )
        expect(page.locator(".so-live .queue .row")).to_have_count(0)
        write_csv(tmp_path / "star.csv")
        drop(page, tmp_path / "star.csv")
        choose(page, "model")
        yield page


def ran(page: Page) -> None:
    page.keyboard.press("r")
    page.wait_for_function("(window.specO3.live.shownRun?.state ?? 'running') !== 'running'")


def test_a_file_that_does_not_state_its_medium_is_shown_with_the_assumed_one(desk: Page, tmp_path: Path) -> None:
    stated = tmp_path / "star.csv"
    (tmp_path / "unstated.csv").write_text(stated.read_text().removeprefix("# wavelengths: vacuum\n"))
    drop(desk, tmp_path / "unstated.csv")
    header = desk.locator(".so-live header.item")
    expect(header.locator(".name")).to_have_text("unstated")
    expect(header.locator(".look")).to_have_text("air (assumed)")
    expect(desk.locator(".so-live").get_by_role("combobox", name="medium")).to_have_count(0)
    ran(desk)
    expect(header.locator(".name")).to_have_text("unstated")


def test_what_of_a_file_is_not_used_is_in_the_header_and_how_it_was_read_in_a_sheet(desk: Page, tmp_path: Path) -> None:
    meta = {"axis_from": "column lam", "not_used": "column flux_unc; HDU 3 CONTINUUM", "pixels_repeated": 2}
    place = {"name": "partly.fits", "ra": 10.0, "dec": 5.0, "medium": "air"}
    partly = replace(simulate("cv", "SDSS", 25.0, 7), **place, meta={**meta, "medium_assumed": True})
    own.write(partly, tmp_path / "partly.fits")
    drop(desk, tmp_path / "partly.fits")
    header = desk.locator(".so-live header.item")
    note = header.locator(".warning")
    expect(note).to_have_text("not used: column flux_unc; HDU 3 CONTINUUM")
    assert header.evaluate(ONE_LINE)
    sheet = desk.get_by_role("dialog", name="How this file was read")
    for width in (1366, 390):
        desk.set_viewport_size({"width": width, "height": 844})
        note.click()
        expect(sheet).to_contain_text("column lam")
        expect(sheet).to_contain_text("2 pixels averaged with others of the same wavelength")
        comes_true(sheet, IN_THE_WINDOW)
        comes_true(note, IN_THE_WINDOW)
        desk.keyboard.press("Escape")
        expect(sheet).to_be_hidden()
        expect(note).to_be_focused()
    # The same lines are in the sheet of the name, which every spectrum has.
    header.locator(".name").click()
    expect(desk.get_by_role("dialog", name="About the spectrum")).to_contain_text("column flux_unc; HDU 3 CONTINUUM")
    desk.keyboard.press("Escape")


def test_the_evidence_of_a_file_on_the_bench_is_measured_too(desk: Page) -> None:
    desk.keyboard.press("Shift+E")
    evidence = desk.locator(".so-live aside.evidence")
    expect(evidence.get_by_role("button", name="Hα")).to_be_visible()
    expect(evidence.get_by_role("tab")).to_have_text(["Lines", "Loci", "Templates", "Sky", "Guide"])
    desk.keyboard.press("t")
    expect(desk.locator(".so-live .so-legend li")).to_contain_text("template · ")
    desk.get_by_label("Question").select_option("gm")
    expect(evidence.locator(".line.own")).to_have_text(["Hα", "Ca II 8542"])
    expect(desk.locator(".so-live .so-legend li")).to_have_count(0)
    desk.keyboard.press("Shift+E")
    expect(evidence).to_be_hidden()


def test_a_call_that_cannot_be_run_is_shown_with_its_fault_folded(desk: Page, model: BadServer) -> None:
    reversed_and_cut = look(6700, 6400).removesuffix("}\n</tool_call>")
    model.answers = talking((reversed_and_cut, answer("NO")), pieces=5)
    ran(desk)
    expect(desk.locator(".so-live .card.zoom")).to_be_visible()
    faults = desk.locator(".so-live .faults")
    expect(faults.locator("summary")).to_contain_text("noted")
    expect(faults.locator("li").first).to_be_hidden()
    expect(desk.locator(".so-live .ending .outcome")).to_be_visible()


def test_the_turn_limit_is_shown_during_the_run_and_when_it_ends_the_run(desk: Page, model: BadServer) -> None:
    model.answers = lambda body: Say(look(6400, 6700), pieces=6, delay=0.05)
    desk.keyboard.press("w")
    desk.get_by_label("Turn limit").fill("2")
    desk.keyboard.press("Escape")
    expect(desk.locator(".so-live .settings")).to_contain_text("2 turns")
    desk.keyboard.press("r")
    expect(desk.locator(".so-live .run-head .turn")).to_contain_text("turn 2 of 2")
    expect(desk.locator(".so-live .ending")).to_contain_text("No answer in 2 turns")
    expect(desk.locator(".so-live .card.zoom").last).to_contain_text("Not run")


@pytest.mark.smoke
def test_a_file_that_is_no_spectrum_is_a_message_and_the_others_are_added(desk: Page, tmp_path: Path) -> None:
    (tmp_path / "shopping.txt").write_text("milk\nbread\n")
    write_csv(tmp_path / "other.csv", seed=3)
    drop(desk, tmp_path / "other.csv", tmp_path / "shopping.txt", tmp_path / "star.csv")
    expect(desk.locator(".so-live .problems p")).to_have_count(1)
    expect(desk.locator(".so-live .problems")).to_contain_text("shopping.txt")
    expect(desk.locator(".so-live .queue .row")).to_have_count(2)
    expect(row(desk, "other.csv")).to_have_class("row current")


def test_run_all_goes_through_the_bench_and_each_row_gets_its_verdict(
    desk: Page, model: BadServer, tmp_path: Path
) -> None:
    for seed in (2, 3):
        write_csv(tmp_path / f"star{seed}.csv", seed=seed)
    drop(desk, tmp_path / "star2.csv", tmp_path / "star3.csv")
    desk.locator(".so-live .row .pick").first.click()
    before = len(model.chats)
    desk.keyboard.press("Alt+r")
    for name in ("star.csv", "star2.csv", "star3.csv"):
        expect(row(desk, name).locator(".pill.green")).to_have_text("YES")
    assert len(model.chats) - before == 6
    expect(row(desk, "star3.csv")).to_have_class("row current")


def test_a_library_item_is_searched_and_picked_by_keyboard(desk: Page) -> None:
    desk.keyboard.press("/")
    field = desk.get_by_label("Search the library")
    expect(field).to_be_focused()
    expect(desk.locator("dialog .option").first).to_be_visible()
    field.fill("demo-0012")  # one search, where typing may be two
    expect(desk.locator("dialog .option .name")).to_have_text([re.compile("^demo-0012")])
    desk.keyboard.press("ArrowDown")
    picked = desk.locator("dialog .option:focus .name").inner_text()
    desk.keyboard.press("Enter")
    expect(row(desk, picked)).to_have_class("row current")
    found = desk.evaluate("async () => (await fetch('/api/v1/live/library?q=demo-0012&limit=1')).json()")
    expect(desk.get_by_label("Question")).to_have_value(found[0]["task"])
    assert found[0]["name"] == picked


def test_after_a_click_on_an_earlier_card_the_page_stays_there_until_follow_is_clicked(
    desk: Page, model: BadServer, paced: Paced
) -> None:
    model.answers = paced
    zooms = desk.locator(".so-live .card.zoom:not(.growing)")
    desk.keyboard.press("r")
    paced.let(0, 1)
    expect(zooms.nth(1)).to_be_attached()
    desk.locator(".so-live .card").first.locator(".number").click()
    expect(desk.locator(".so-live .follow")).to_be_visible()
    place = desk.locator(".so-live .live-trace").evaluate("(e) => e.scrollTop")
    paced.let(2)
    expect(zooms.nth(2)).to_be_attached()
    assert desk.locator(".so-live .live-trace").evaluate("(e) => e.scrollTop") == place
    expect(desk.locator(".so-live .card.selected .number")).to_have_text("1")
    desk.locator(".so-live .follow").click()
    expect(desk.locator(".so-live .follow")).to_be_hidden()
    paced.let()
    expect(desk.locator(".so-live .card.answer")).to_be_in_viewport()


@pytest.mark.smoke
def test_a_lost_connection_is_shown_and_no_step_is_missed_or_shown_twice(
    chromium: Browser, url: str, model: BadServer, paced: Paced, tmp_path: Path
) -> None:
    model.answers = paced
    before = len(model.chats)
    write_csv(tmp_path / "cut.csv", seed=5)
    with Cable(url) as cable, live(chromium, cable.url, "AA") as page:
        drop(page, tmp_path / "cut.csv")
        choose(page, "model")
        page.keyboard.press("r")
        paced.let(0)
        expect(cards(page)).to_have_count(2)
        cable.cut()
        expect(page.locator(".so-live .lost")).to_contain_text("connection lost")
        paced.let()
        assert model.wait(lambda: model.open == 0 and len(model.chats) == before + 4)
        cable.mend()
        expect(page.locator(".so-live .ending .outcome")).to_have_text("YES")
        expect(page.locator(".so-live .lost")).to_have_text("")
        assert shown(page, "trace.steps.map((s) => s.kind)") == ["think", "zoom"] * 3 + ["think", "answer"]
        thoughts = shown(page, "trace.steps.filter((s) => s.kind === 'think').map((s) => s.text.slice(0, 13))")
        assert thoughts == ["Look number 0", "Look number 1", "Look number 2", "No doubt."]
        expect(cards(page)).to_have_count(8)


def test_trace_pictures_report_figure_and_table_can_be_downloaded(desk: Page) -> None:
    ran(desk)
    links = ("Trace", "trace.json"), ("Pictures", "strip.png"), ("Report", "report.zip")
    for link, ending in (*links, ("Figure (PDF)", "figure.pdf"), ("Spectrum (ECSV)", "spectrum.ecsv")):
        desk.locator(".so-live .download").click()
        with desk.expect_download() as kept:
            desk.locator(".so-live .sheet a", has_text=link).click()
        assert kept.value.suggested_filename.endswith(ending)
        assert Path(kept.value.path()).stat().st_size > 500
    hrefs = desk.locator(".so-live .sheet a").evaluate_all("(links) => links.map((link) => link.href)")
    assert any("figure.svg?sample=0&lo=" in href for href in hrefs), "the window of the lower plot"


def test_no_key_acts_in_a_tab_that_is_not_open(desk: Page) -> None:
    review = "window.specO3.review.spectrum.state.smoothing"
    at_live = "window.specO3.live.spectrum.state.smoothing"
    before = desk.evaluate(review)
    desk.keyboard.press("s")
    assert desk.evaluate(at_live) > 0
    assert desk.evaluate(review) == before
    desk.get_by_role("tab", name="Review").click()
    expect(desk.locator(".so-review .decision-bar")).to_be_visible()
    desk.keyboard.press("r")
    expect(desk.locator(".so-live")).to_be_hidden()
    assert desk.evaluate("window.specO3.live.shownRun") is None
    desk.get_by_role("tab", name="Live").click()
    desk.keyboard.press("?")
    expect(desk.locator("dialog.panel")).to_contain_text("run, and run again")


def test_a_finished_run_fits_the_screen(desk: Page) -> None:
    ran(desk)
    for width, height in ((1366, 768), (1920, 1080)):
        desk.set_viewport_size({"width": width, "height": height})
        frames(desk)
        outside = desk.evaluate(
            """() => ['.so-live > *', '.decision-bar > *', '.queue-title *', '.so-live .bring *']
              .flatMap((selector) => [...document.querySelectorAll(selector)])
              .filter((e) => {
                const { width, left, right, bottom } = e.getBoundingClientRect()
                return width && (left < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5)
              }).map((e) => e.className)"""
        )
        assert outside == []
        assert desk.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert (desk.locator(".so-live .decision-bar").bounding_box() or {"height": 99})["height"] < 60
        expect(desk.locator(RUN)).to_contain_text("Again")


def two_ways(body: Mapping[str, Any]) -> Behaviour:
    """Behave in two ways, by the seed: zoom on Hα, then on Hβ, or on He II and on Hα again."""
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    ways = (
        (look(6400, 6700), look(4800, 4920, "Hβ"), answer("YES")),
        (look(6400, 6700), look(4600, 4760, "He II 4686"), look(6400, 6700), answer("NO")),
    )
    way = ways[body["seed"] % len(ways)]
    return Say(way[min(turn, len(way) - 1)])


def test_the_vote_is_shown_though_all_events_of_the_run_come_at_once(desk: Page, model: BadServer) -> None:
    def late(route: Route) -> None:
        run = route.request.url.split("/events")[0]
        while desk.request.get(run).json()["state"] == "running":
            pass
        route.continue_()

    model.answers = SHORT
    desk.route("**/api/v1/live/runs/*/events*", late)
    choose(desk, "model", samples=3)
    ran(desk)
    expect(desk.locator(".so-live article.vote")).to_be_visible()


def test_the_vote_shows_all_windows_of_the_samples_and_they_are_selected_by_click_and_key(
    desk: Page, model: BadServer
) -> None:
    model.answers = two_ways
    choose(desk, "model", samples=3)
    desk.locator(".so-live .settings").click()
    desk.get_by_label("Seed").fill("2")
    desk.keyboard.press("Escape")
    ran(desk)
    vote = desk.locator(".so-live article.vote")
    expect(vote).to_be_visible()
    windows = "window.specO3.live.spectrum.scene.windows"
    drawn = desk.evaluate(f"{windows}.map((w) => [w.number, ...w.span])")
    assert drawn == [[1, 6400, 6700], [2, 4800, 4920], [3, 4600, 4760]]
    assert vote.locator(".path .seen").all_inner_texts() == ["1", "2", "3", "1"]
    assert desk.locator(".so-live .so-full .so-badge").all_inner_texts() == ["3", "2", "1"]  # from left to right
    selected = f"{windows}.find((w) => w.selected).number"
    assert desk.evaluate(selected) == 1
    expect(vote.locator(".path.selected")).to_have_count(2)
    vote.locator(".path .does", has_text="He II 4686").click()
    desk.wait_for_function(f"{selected} === 3")
    expect(vote.locator(".path.selected")).to_contain_text("4600 – 4760")
    desk.keyboard.press("ArrowLeft")
    expect(vote.locator(".path.selected")).to_contain_text("4800 – 4920")
    desk.locator(".so-live .so-full .so-badge", has_text="3").click()
    expect(vote.locator(".path.selected")).to_contain_text("4600 – 4760")
    vote.locator(".path.selected .who button").click()
    expect(desk.locator(".so-live .card.selected")).to_contain_text("4600 – 4760")
    assert desk.evaluate(f"{windows}.map((w) => w.number)") == [2, 4, 6]
