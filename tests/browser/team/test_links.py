"""Links to an item, its version, step and range, and two traces of one spectrum side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from agent import tool
from agent.spectrum import Spectrum
from agent.trajectory import Answer, Drafter, Think, Zoom
from reviewer.drafting import demo
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, Store
from tests.browser.page.test_layout import faults
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import (
    PASSWORD,
    choose_more,
    open_fields,
    serving,
    show_anew,
    show_item,
    signed_in,
    working_alone,
)
from tests.support.chromium import profile
from tests.support.drawn_traces import decide, revise

pytestmark = pytest.mark.browser


def zoom(spectrum: Spectrum, name: str, lo: float, hi: float) -> Zoom:
    arguments = {"label": "a window", "wavelength_range": [lo, hi]}
    frame, z = tool.frame_of(spectrum)
    seen = tool.call(spectrum, arguments)
    return Zoom(name, arguments, frame, z, spectrum.medium, seen.text, seen.ok, seen.picture)


def make(path: Path, solo: bool = True) -> None:
    """Items 1 to 3 of one spectrum at z = 0.031 (two drafters, and another task), item 4 of another, 5 at rest.

    Item 1 is in its revision round, with three versions. Items 2 and 3 share the first window of item 1.
    """
    spectrum, trace = next((s, t) for s, t in demo.demo_items() if s.redshift and len(t.steps) > 6)
    lo, hi = trace.zooms[0].arguments["wavelength_range"]
    steps = (
        Think("s1", "Begin with the strongest line."),
        zoom(spectrum, "s2", lo + 4, hi + 10),
        Think("s3", "Then a window that nobody else opened."),
        zoom(spectrum, "s4", 8000, 8200),
        Think("s5", "No broad lines."),
        Answer("s6", "YES" if trace.answer and trace.answer.verdict == "NO" else "NO", "The lines are narrow."),
    )
    other = replace(trace, drafter=Drafter("model", "another drafter"), steps=steps)
    third = replace(other, task="cc", prompt="Is it a carbon star?")
    rest = replace(spectrum, frame="rest", name="at rest.fits", wavelength=spectrum.wavelength / 1.031)
    at_rest = replace(trace, spectrum_name=rest.name, spectrum_sha256=rest.sha256, overview=None)
    at_rest = at_rest.with_steps((Think("s1", "One window."), zoom(rest, "s2", 6500, 6700), Answer("s3", "NO", "No.")))
    another = next((s, t) for s, t in demo.demo_items() if s.name != spectrum.name)
    with closing(Store.open(path)) as store:
        password = None if solo else PASSWORD
        for initials in ("AA", "BB") if not solo else ("AA",):
            store.accounts.add_person(initials, initials, ("reviewer", "auditor", "coordinator"), password=password)
        store.settings.set_rules("AA", Rules(solo=solo))
        drafts = [(trace, spectrum), (other, spectrum), (third, spectrum), another[::-1], (at_rest, rest)]
        store.items.add_all([Draft(t, s, batch="links") for t, s in drafts])
        decide(store, "AA", 1, "keep")
        for text in ("second-version", "third-version"):
            revise(store, "AA", 1, text)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    db = tmp_path_factory.mktemp("links") / "annotations.db"
    make(db)
    with serving(db) as address:
        yield address


@pytest.fixture(scope="module")
def kept(chromium: Browser, url: str) -> Iterator[KeptPage]:
    with kept_page(lambda: working_alone(chromium, url, 4)) as kept:
        yield kept


@pytest.fixture
def desk(kept: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of a person who works alone, at another item than the links name."""
    with kept.of(request) as page:
        show_anew(page, 4, other=5)
        yield page


def follow(page: Page, link: str) -> None:
    """Change the address, as a link that is clicked or pasted does."""
    page.evaluate("(link) => { location.hash = link }", link)


def at(page: Page, item: int) -> None:
    page.wait_for_function("(id) => window.specO3.review.current?.item.id === id", arg=item)


def window_range(page: Page) -> list[float]:
    return list(page.evaluate("window.specO3.review.spectrum.step.range.map((edge) => Math.round(edge * 10) / 10)"))


def card(page: Page, step: str) -> Locator:
    return page.locator(f'.so-review .trace .card[data-step="{step}"]')


def notice(page: Page) -> Locator:
    return page.locator(".so-review .notice span").first


def copied(page: Page) -> str:
    """The link that the button of the header copies, from "#" on."""
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {configurable: true, value: "
        "{writeText: (text) => { window.copied = text; return Promise.resolve() }}})"
    )
    choose_more(page, "copy the link")
    expect(page.locator(".so-review .toasts")).to_contain_text("Link copied.")
    link: str = page.evaluate("window.copied")
    return link.removeprefix(page.evaluate("location.origin + location.pathname"))


# ---- links


@pytest.mark.smoke
def test_a_link_opens_item_version_step_and_range(desk: Page) -> None:
    follow(desk, "#item=1&version=2&step=s4&range=6700-6800")
    at(desk, 1)
    expect(desk.locator(".version-line")).to_contain_text("Version 2 of 3, to read only.")
    expect(card(desk, "s1")).to_contain_text("second-version")
    expect(card(desk, "s4")).to_have_class(re.compile("selected"))
    expect(card(desk, "s4")).to_be_in_viewport()
    assert window_range(desk) == [6700, 6800]
    assert desk.evaluate("location.hash") == "#item=1&version=2"


@pytest.mark.smoke
def test_an_earlier_version_can_be_read_but_not_decided_or_edited(desk: Page) -> None:
    follow(desk, "#item=1&version=1")
    expect(desk.locator(".version-line")).to_contain_text("Version 1 of 3")
    for button in desk.locator(".decision-bar button.primary, .decision-bar button.danger").all():
        expect(button).to_be_disabled()
    expect(card(desk, "s2").locator("input")).to_have_count(0)
    for key in ("k", "Shift+K", "y", "Enter", "Delete"):
        desk.keyboard.press(key)
    expect(desk.locator(".so-review .toasts")).to_contain_text(
        "You are reading version 1. Show the current version first."
    )
    assert desk.evaluate("window.specO3.review.current.item.version.number") == 3
    desk.get_by_role("button", name="Show the current version").click()
    expect(desk.locator(".version-line")).to_be_hidden()
    expect(card(desk, "s1")).to_contain_text("third-version")
    open_fields(desk, card(desk, "s2"))
    expect(desk.locator(".decision-bar button.primary")).to_be_enabled()
    assert desk.evaluate("location.hash") == "#item=1"
    desk.keyboard.press("Escape")
    desk.keyboard.press("h")
    desk.locator("dialog .timeline a", has_text="read").nth(1).click()
    expect(desk.locator("dialog.panel")).to_have_count(0)
    expect(desk.locator(".version-line")).to_contain_text("Version 2 of 3")


def test_what_is_being_written_stays_while_an_earlier_version_is_read(desk: Page) -> None:
    show_item(desk, 1)
    card(desk, "s1").locator(".brief").dblclick()
    desk.keyboard.type(" unsent-word")
    desk.keyboard.press("Escape")
    follow(desk, "#item=1&version=2&step=s3")
    expect(card(desk, "s1")).to_contain_text("second-version")
    expect(card(desk, "s1")).not_to_contain_text("unsent-word")
    follow(desk, "#item=1&step=s1")
    expect(card(desk, "s1")).to_contain_text("unsent-word")
    desk.keyboard.press("Control+z")
    expect(card(desk, "s1")).not_to_contain_text("unsent-word")


UNSHOWN = (
    ("version=9", "Item 1 has no version 9; its current version is 3."),
    ("range=100-200", "The range of the link, 100 – 200 Å, is outside of this spectrum."),
    ("version=&colour=red", "A part of the link cannot be read and was ignored: version=, colour=red."),
    ("step=%3Cimg%20src%3Dx%3E", "This version has no step <img src=x>, which the link names."),
    ("beside=999", "Item 999 is no trace of this spectrum that you may see, so it is not shown next to it."),
)
"""Parts of a link that cannot be shown, and what the page says of each."""


def test_parts_that_cannot_be_shown_are_named_and_the_rest_is(desk: Page) -> None:
    for parts, message in UNSHOWN:
        follow(desk, f"#item=1&{parts}")
        expect(notice(desk)).to_have_text(message)
        at(desk, 1)
        expect(card(desk, "s1")).to_contain_text("third-version")
        expect(desk.locator(".so-review img[src=x]")).to_have_count(0)


def test_the_link_that_is_copied_opens_what_was_in_front(desk: Page) -> None:
    follow(desk, "#item=1&version=2&step=s4&range=6700-6800.5")
    at(desk, 1)
    expect(card(desk, "s4")).to_have_class(re.compile("selected"))
    desk.wait_for_function("window.specO3.review.spectrum.step.range?.[0] === 6700")
    assert copied(desk) == "#item=1&version=2&step=s4&range=6700-6800.5"
    # The window of the selected step needs no range, and the current version no number.
    follow(desk, "#item=1&step=s4")
    expect(desk.locator(".version-line")).to_be_hidden()
    desk.wait_for_function("window.specO3.review.spectrum.step.range?.[0] !== 6700")
    assert copied(desk) == "#item=1&step=s4"
    follow(desk, "#item=2&beside=3&step=s4")
    at(desk, 2)
    expect(desk.locator(".so-review > .second")).to_be_visible()
    expect(desk.locator(".differences")).to_contain_text("#3 is about another question: Carbon Star")
    expect(card(desk, "s4")).to_have_class(re.compile("selected"))
    assert copied(desk) == "#item=2&step=s4&beside=3"


def test_without_a_clipboard_the_link_is_shown_to_copy(desk: Page) -> None:
    show_item(desk, 1)
    desk.evaluate("Object.defineProperty(navigator, 'clipboard', {configurable: true, value: undefined})")
    choose_more(desk, "copy the link")
    expect(desk.get_by_role("textbox", name="Copy")).to_have_value(re.compile(r"^http.*#item=1&step=s\d$"))


def test_a_range_is_of_the_observed_frame_where_the_data_are_at_rest(desk: Page) -> None:
    follow(desk, "#item=5&step=s2&range=6703.1-6806.2")
    at(desk, 5)
    desk.wait_for_function("window.specO3.review.spectrum.freeRange")
    z: float = desk.evaluate("window.specO3.review.current.item.trajectory.redshift")
    assert z == pytest.approx(0.031)
    assert window_range(desk) == [round(6703.1 / (1 + z), 1), round(6806.2 / (1 + z), 1)]
    assert copied(desk) == "#item=5&step=s2&range=6703.1-6806.2"


# ---- two traces


def open_menu(page: Page, item: int) -> None:
    page.locator("button.others").click()
    page.locator(".others-sheet li button", has_text=f"#{item}").click()


@pytest.mark.smoke
def test_another_trace_is_shown_next_to_the_first(desk: Page) -> None:
    show_item(desk, 1)
    expect(desk.locator("button.others")).to_have_text("2 other traces ▾")
    open_menu(desk, 2)
    second = desk.locator(".so-review > .second")
    expect(second).to_be_visible()
    expect(second.locator(".card")).to_have_count(6)
    assert desk.evaluate("location.hash") == "#item=1&beside=2"
    expect(second.locator(".differences")).to_contain_text("#1 answers NO, #2 answers YES.")
    expect(second.locator(".differences")).to_contain_text("Windows: 1 in both,")
    expect(second.locator(".differences")).to_contain_text("1 only in #2.")
    # The second is to read only, the first can be edited.
    expect(second.locator("input, textarea, select, .step-more, .mark")).to_have_count(0)
    open_fields(desk, card(desk, "s2"))


def test_windows_of_both_are_on_the_spectrum_in_the_colours_of_their_heads(desk: Page) -> None:
    follow(desk, "#item=1&beside=2")
    at(desk, 1)
    full = desk.locator(".so-full")
    expect(full.locator(".so-window.so-right")).to_have_count(2)
    left, right = full.locator(".so-window.so-left"), full.locator(".so-window.so-right")
    assert left.count() == desk.locator(".so-review .steps:not(.second) .card.zoom").count()
    stroke = "(e) => getComputedStyle(e).stroke"
    assert left.first.evaluate(stroke) != right.first.evaluate(stroke)
    head = desk.locator(".side.so-right")
    assert head.evaluate("(e) => getComputedStyle(e).borderBottomColor") == right.first.evaluate(stroke)


def test_a_window_that_both_opened_leads_from_one_trace_to_the_other(desk: Page) -> None:
    follow(desk, "#item=1&beside=2")
    at(desk, 1)
    shared = card(desk, "s2").locator(".shared")
    expect(shared).to_have_text("= R2")
    shared.click()
    other = desk.locator('.second .card[data-step="beside s2"]')
    expect(other).to_have_class(re.compile("selected"))
    expect(desk.locator(".so-full .so-badge.so-selected")).to_have_text("R2")
    # A window of the second trace has no handles to drag.
    expect(desk.locator(".so-step .so-edge:visible")).to_have_count(0)
    other.locator(".shared").click()
    expect(card(desk, "s2")).to_have_class(re.compile("selected"))
    expect(desk.locator(".so-full .so-badge.so-selected")).to_have_text("L2")
    expect(desk.locator(".so-step .so-edge:visible")).to_have_count(2)
    own = desk.locator('.second .card[data-step="beside s4"]')
    expect(own.locator(".shared")).to_have_count(0)
    desk.locator(".so-full .so-badge", has_text="R4").click()
    expect(own).to_have_class(re.compile("selected"))


def test_closing_returns_to_one_trace(desk: Page) -> None:
    show_item(desk, 1)
    open_menu(desk, 2)
    desk.locator(".side-row .close").click()
    expect(desk.locator(".so-review > .second")).to_be_hidden()
    expect(desk.locator(".so-full .so-window.so-right")).to_have_count(0)
    expect(desk.locator("button.others")).to_be_focused()
    assert desk.evaluate("location.hash") == "#item=1"
    open_menu(desk, 2)
    show_item(desk, 4)
    expect(desk.locator(".so-review > .second")).to_be_hidden()
    expect(desk.locator("button.others")).to_have_count(0)


@pytest.mark.parametrize(
    ("link", "place"), [("#item=1&beside=2", ".so-review > .second"), ("#item=1&version=2", ".version-line")]
)
def test_nothing_is_cut_off_or_covered(desk: Page, link: str, place: str) -> None:
    follow(desk, link)
    at(desk, 1)
    expect(desk.locator(place)).to_be_visible()
    for width, height in ((390, 844), (820, 1180), (1366, 768), (1920, 1080)):
        desk.set_viewport_size({"width": width, "height": height})
        assert faults(desk) == [], width


def test_a_narrow_page_shows_one_trace_at_a_time(desk: Page) -> None:
    desk.set_viewport_size({"width": 390, "height": 844})
    follow(desk, "#item=1&beside=2")
    at(desk, 1)
    second = desk.locator(".so-review > .second")
    expect(second.locator(".card").first).to_be_hidden()
    desk.locator(".so-review .side.so-right").click()
    expect(second.locator(".card").first).to_be_visible()
    expect(card(desk, "s1")).to_be_hidden()
    desk.locator(".so-review .side.so-left").click()
    expect(card(desk, "s1")).to_be_visible()


# ---- what a person may not see yet


@pytest.fixture(scope="module")
def team_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    db = tmp_path_factory.mktemp("team") / "annotations.db"
    make(db, solo=False)
    with serving(db) as address:
        yield address


@pytest.mark.smoke
def test_no_second_trace_and_no_version_before_ones_own_verdict(chromium: Browser, team_url: str) -> None:
    with signed_in(chromium, team_url, "BB", PASSWORD) as page:
        page.wait_for_function("window.specO3?.review?.current")
        page.keyboard.press("p")
        show_item(page, 2)
        expect(page.locator(".decision-bar .ask")).to_be_visible()
        expect(page.locator("button.others")).to_have_count(0)
        follow(page, "#item=2&beside=3")
        expect(notice(page)).to_have_text("A second trace is shown once you have given your own verdict.")
        expect(page.locator(".so-review > .second")).to_be_hidden()
        # Item 3 is hidden too, so it is not named after the verdict on item 2; item 1, which is in revision, is too.
        page.keyboard.press("7")
        expect(page.locator(".decision-bar .ask")).to_be_hidden()
        expect(page.locator("button.others")).to_have_count(0)
        follow(page, "#item=2&beside=3")
        expect(notice(page)).to_contain_text("Item 3 is no trace of this spectrum that you may see")
        follow(page, "#item=1&version=2")
        at(page, 1)
        expect(notice(page)).to_contain_text("Give your own verdict first")
        expect(page.locator(".version-line")).to_be_hidden()


@pytest.mark.smoke
def test_a_link_survives_the_signing_in(chromium: Browser, team_url: str) -> None:
    with profile(chromium) as context:
        page = context.new_page()
        page.goto(f"{team_url}#item=2&step=s4")
        page.wait_for_url(lambda address: "/sign-in" in address)
        page.fill("input[name=initials]", "BB")
        page.fill("input[name=password]", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda address: "/sign-in" not in address)
        page.wait_for_function("window.specO3?.review?.current?.item.id === 2")
        expect(card(page, "s4")).to_have_class(re.compile("selected"))
