"""Details of the Review page; each was a bug once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import (
    discard,
    frames,
    held,
    let_go,
    open_fields,
    reload_at,
    serving,
    settled,
    show_item,
    spec_o3,
    wait_for,
    working_alone,
)

pytestmark = pytest.mark.browser

CARBON_STAR = "spectra/miles/CARBON_STAR/MILES_res2.50_star_m0720V.fits"
"""In air, in the rest frame, without a redshift."""


OLD_NOVA = "spectra/ctio_novae/CV_OLD_NOVA_GQ_MUS/GQMUSA_Williams_Optical_Spectra.csv"
"""Two columns that do not say whether the wavelengths are in air."""


@pytest.fixture(scope="module")
def url(galaxy: Path, tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[str]:
    """One app for this file: the galaxy, a carbon star and an old nova, drafted by the baseline."""
    db = Path(shutil.copy(galaxy, tmp_path_factory.mktemp("details")))
    spec_o3("draft", shared / CARBON_STAR, "--policy", "baseline", "--task", "cc", "--db", db)
    spec_o3("draft", shared / OLD_NOVA, "--policy", "baseline", "--task", "cv", "--db", db)
    with serving(db) as address:
        yield address


@pytest.fixture(scope="module")
def kept(chromium: Browser, url: str) -> Iterator[KeptPage]:
    with kept_page(lambda: working_alone(chromium, url, 1)) as kept:
        yield kept


@pytest.fixture
def desk(kept: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of a person who works alone, at the galaxy."""
    with kept.of(request) as page:
        reload_at(page, 1)
        yield page


def in_revision(page: Page) -> Locator:
    """Bring the item to its revision round, without unsent text; return its first zoom."""
    if page.locator(".decision-bar .round").inner_text() == "screening":
        page.keyboard.press("Shift+K")
    expect(page.locator(".decision-bar .round")).to_have_text("revision")
    settled(page)
    if page.locator(".notice button", has_text="Discard it").is_visible():
        discard(page)
    zoom = page.locator(".card.zoom").first
    open_fields(page, zoom)
    return zoom


PICTURE = "window.specO3.review.drafting.steps.find((s) => s.kind === 'zoom').picture"


def type_window(zoom: Locator, lo: str, hi: str) -> None:
    zoom.locator("[name=lo]").fill(lo)
    zoom.locator("[name=hi]").fill(hi)
    zoom.locator("[name=hi]").press("Enter")


def test_an_assumed_medium_is_called_assumed_until_it_is_stated(desk: Page) -> None:
    show_item(desk, 2)
    window = desk.locator(".card.zoom .window")
    expect(window).to_have_attribute("title", re.compile("rest, air"))
    title = desk.locator(".so-step .so-titles")
    expect(title).to_contain_text("Wavelength (Å), rest, air")
    desk.keyboard.press("ArrowLeft")
    expect(desk.locator(".card.think").first).to_contain_text("(air, rest frame)")
    show_item(desk, 3)
    expect(window).to_have_attribute("title", re.compile(r"observed, air \(assumed\)"))
    expect(title).to_contain_text("Wavelength (Å), observed, air (assumed)")
    expect(desk.locator("header.item .look")).to_have_text("air (assumed)")
    medium = desk.locator("header.item .medium")
    name = desk.locator("header.item .name")
    name.click()
    expect(desk.locator(".facts-sheet")).to_contain_text("air (assumed)")
    expect(medium).to_have_count(0)  # in screening it is a statement only
    desk.keyboard.press("Escape")
    in_revision(desk)
    picture = desk.evaluate(PICTURE)
    name.click()
    medium.select_option("vacuum")
    expect(desk.locator(".toasts")).to_contain_text("in vacuum, stated by you")
    expect(title).to_contain_text("observed, vacuum")
    expect(title).not_to_contain_text("assumed")
    # The pixels are the same.
    assert desk.evaluate(PICTURE) == picture
    assert desk.evaluate("window.specO3.review.current.spectrum.meta.medium_set_by")
    name.click()
    expect(medium.locator("option").first).to_have_text("vacuum")
    desk.keyboard.press("Escape")


def test_the_header_has_the_surveys_identifiers_and_the_rest_one_click_away(desk: Page) -> None:
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    before = desk.locator(".so-review .so-full").bounding_box()
    desk.locator("header.item .name").click()
    sheet = desk.locator(".so-review .facts-sheet")
    sheet.get_by_role("button", name="266-51602-13").click()
    expect(desk.locator(".toasts")).to_contain_text("plate-MJD-fibre copied")
    assert desk.evaluate("navigator.clipboard.readText()") == "266-51602-13"
    assert desk.locator(".so-review .so-full").bounding_box() == before, "the plot does not move"
    of_file = ("How this file was read", "flux unit", "1e-17 erg s-1 cm-2 Å-1")
    for text in ("plate-MJD-fibre", "SNRG", "heliocentric (HELIO_RV in the file", "vacuum", *of_file):
        expect(sheet).to_contain_text(text)
    box = sheet.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1366
    desk.keyboard.press("Escape")
    expect(sheet).to_be_hidden()


def test_a_thought_shows_the_window_of_the_nearest_zoom_before_it(desk: Page) -> None:
    window = "window.specO3.review.spectrum.scene.windows.find((w) => w.selected).number"
    kinds = desk.evaluate("window.specO3.review.current.item.trajectory.steps.map((step) => step.kind)")
    zooms = [at + 1 for at, kind in enumerate(kinds) if kind == "zoom"]
    for number in range(1, len(kinds) + 1):
        desk.locator(".card .number", has_text=re.compile(f"^{number}$")).click()
        expect(desk.locator(".card.selected .number")).to_have_text(str(number))
        assert desk.evaluate(window) == max((zoom for zoom in zooms if zoom <= number), default=zooms[0])
    # The same for what the agent saw, first of all the whole spectrum.
    desk.keyboard.press("a")
    caption = desk.locator(".so-step .so-agent figcaption")
    expect(caption).to_have_text(f"What the agent saw in step {zooms[-1]}")
    desk.locator(".card .number").first.click()
    expect(caption).to_have_text("What the agent saw first")
    desk.keyboard.press("a")
    expect(desk.locator(".so-step .so-agent")).to_be_hidden()


def test_reversed_edges_wait_for_the_other_edge(desk: Page) -> None:
    zoom = in_revision(desk)
    picture = desk.evaluate(PICTURE)
    zoom.locator("[name=lo]").fill("6800")
    zoom.locator("[name=lo]").press("Tab")
    expect(zoom.locator("[name=hi]")).to_have_attribute("aria-invalid", "true")
    assert desk.evaluate(PICTURE) == picture
    zoom.locator("[name=hi]").fill("6900")
    zoom.locator("[name=hi]").press("Enter")
    desk.wait_for_function(f"(picture) => {PICTURE} !== picture", arg=picture)
    expect(zoom).to_be_focused()


def test_an_edge_being_typed_stays_when_the_window_of_the_other_edge_is_drawn(desk: Page) -> None:
    zoom = in_revision(desk)
    picture = desk.evaluate(PICTURE)
    zoom.locator("[name=lo]").fill("6480")
    zoom.locator("[name=lo]").press("Tab")
    desk.keyboard.type("68")
    desk.wait_for_function(f"(picture) => {PICTURE} !== picture", arg=picture)
    desk.keyboard.type("10")
    expect(zoom.locator("[name=hi]")).to_have_value("6810")
    desk.keyboard.press("Enter")
    edges = "window.specO3.review.drafting.steps.find((s) => s.kind === 'zoom').arguments.wavelength_range"
    desk.wait_for_function(f"{edges}[1] === 6810")
    assert desk.evaluate(edges) == [6480, 6810]


def test_a_label_typed_while_the_window_is_drawn_keeps_the_window(desk: Page) -> None:
    zoom = in_revision(desk)
    routes = held(desk, "/api/v1/zoom")
    type_window(zoom, "6470", "6820")
    wait_for(desk, routes)
    zoom.locator("[name=label]").fill("Hα region")
    zoom.locator("[name=label]").press("Enter")
    let_go(desk, routes)
    desk.wait_for_function("window.specO3.review.drafting.steps.some((s) => s.arguments?.label === 'Hα region')")
    arguments = desk.evaluate("window.specO3.review.drafting.steps.find((s) => s.kind === 'zoom').arguments")
    assert arguments == {**arguments, "wavelength_range": [6470, 6820], "label": "Hα region"}


def test_hints_follow_the_window_after_undo_and_reload(desk: Page) -> None:
    zoom = in_revision(desk)
    # An earlier test may have moved this window, and left text that is still being restored.
    type_window(zoom, "6400", "6900")
    expect(zoom.locator(".hints")).to_contain_text("[S II] 6716, S/N")
    # The statements of the texts that disagree with the window are not hints measured in it.
    hints = zoom.locator(".hints li:not(.disagrees)")
    measured = hints.all_inner_texts()
    type_window(zoom, "4820", "4900")
    expect(zoom.locator(".hints")).to_contain_text("Hα is at 6564.6 Å, outside")
    narrow = hints.all_inner_texts()
    desk.keyboard.press("Control+z")
    expect(zoom.locator("[name=hi]")).to_have_value("6900")
    if zoom.locator("[name=lo]").input_value() != "6400":
        desk.keyboard.press("Control+z")  # the first edge was drawn before the second was typed
    expect(hints).to_have_text(measured, use_inner_text=True)
    type_window(zoom, "4820", "4900")
    expect(hints).to_have_text(narrow, use_inner_text=True)
    expect(desk.locator(".so-top .saved")).to_contain_text("saved")
    desk.wait_for_function("!window.specO3.review.drafting.pending")
    desk.reload()
    expect(desk.locator(".notice")).to_contain_text("unsent text")
    expect(hints).to_have_text(narrow, use_inner_text=True)


def test_submitting_waits_for_the_window_just_typed(desk: Page) -> None:
    zoom = in_revision(desk)
    routes = held(desk, "/api/v1/zoom")
    zoom.locator("[name=lo]").fill("6450")
    zoom.locator("[name=lo]").press("Enter")
    wait_for(desk, routes)
    desk.keyboard.press("Control+s")
    frames(desk)
    expect(desk.locator(".toasts")).not_to_contain_text("Saved as a version")
    let_go(desk, routes)
    expect(desk.locator(".toasts")).to_contain_text("Saved as a version")
    first = "window.specO3.review.current.item.trajectory.steps.find((s) => s.kind === 'zoom')"
    assert desk.evaluate(f"{first}.arguments.wavelength_range")[0] == 6450


def test_removing_a_step_selects_the_step_in_its_place(desk: Page) -> None:
    in_revision(desk)
    count = desk.locator(".card").count()
    desk.locator(".card .number").nth(1).click()
    desk.keyboard.press("Delete")
    expect(desk.locator(".card")).to_have_count(count - 1)
    expect(desk.locator(".card.selected .number")).to_have_text("2")
    desk.keyboard.press("Control+z")
    expect(desk.locator(".card")).to_have_count(count)


def test_missing_parts_are_shown_until_something_changes(desk: Page) -> None:
    in_revision(desk)
    desk.locator(".card .number").first.click()
    desk.keyboard.press("Delete")
    desk.keyboard.press("k")
    expect(desk.locator(".notice")).to_contain_text("Not submitted")
    desk.keyboard.press("Control+z")
    expect(desk.locator(".notice")).to_be_hidden()


def test_an_inspection_is_made_with_the_keyboard_and_kept(desk: Page) -> None:
    desk.get_by_label("Redshift", exact=True).fill("0.3688")
    desk.keyboard.press("Enter")
    show_item(desk, 2)
    show_item(desk, 1)
    expect(desk.get_by_label("Redshift", exact=True)).to_have_value("0.36880")
    desk.keyboard.press("Shift+Q")
    panel = desk.locator(".inspection-form")
    for key in "p4rc":
        panel.press(key)
    panel.get_by_label("Class", exact=True).select_option("QSO")
    panel.get_by_label("Comment").fill("[O III] and Hβ")
    panel.get_by_label("Comment").press("Enter")
    expect(desk.locator(".toasts")).to_contain_text("Inspection saved")
    desk.get_by_role("button", name="Close the evidence").click()
    expect(desk.locator(".item .inspection")).to_contain_text("z 0.36880 · quality 4 · issues RC · QSO")
    settled(desk)
    # On another machine: nothing is taken from this browser's storage.
    desk.evaluate("() => localStorage.clear()")
    desk.reload()
    expect(desk.locator(".item .inspection")).to_contain_text("quality 4")
    expect(desk.get_by_label("Redshift", exact=True)).to_have_value("0.36880")
    desk.get_by_label("Back to the file's redshift").click()
    expect(desk.get_by_label("Redshift", exact=True)).to_have_value(re.compile(r"0\.121\d+"))


def test_an_inspection_with_a_bad_redshift_is_not_sent(desk: Page) -> None:
    desk.keyboard.press("Shift+Q")
    panel = desk.locator(".inspection-form")
    panel.get_by_label("Redshift found").fill("-1.5")
    panel.get_by_label("Comment").fill("half a sentence")
    panel.get_by_label("Redshift found").press("Enter")
    expect(panel.get_by_role("alert")).to_have_text(
        "z: found “-1.5”, expected a number above −1, 20 at most, or nothing"
    )
    desk.get_by_role("button", name="Close the evidence").click()
    expect(panel).to_be_hidden()
    # What was typed is offered again.
    desk.keyboard.press("Shift+Q")
    expect(panel.get_by_label("Redshift found")).to_have_value("-1.5")
    expect(panel.get_by_label("Comment")).to_have_value("half a sentence")
    panel.press("Escape")


def test_the_second_of_two_tabs_shows_both_texts_and_merges_nothing(desk: Page) -> None:
    in_revision(desk)
    other = desk.context.new_page()
    other.goto(desk.url)
    settled(other)
    for page, text in ((desk, " Ours."), (other, " Theirs.")):
        page.bring_to_front()
        think = page.locator(".card.think").first
        think.locator(".brief").dblclick()
        think.locator("textarea").press("End")
        think.locator("textarea").press_sequentially(text)
        page.keyboard.press("Escape")
    desk.bring_to_front()
    desk.keyboard.press("Control+s")
    expect(desk.locator(".toasts")).to_contain_text("Saved as a version")
    other.bring_to_front()
    other.keyboard.press("Control+s")
    panel = other.locator("dialog.panel")
    expect(panel.locator("del")).to_contain_text("Ours")
    expect(panel.locator("ins")).to_contain_text("Theirs")
    panel.get_by_role("button", name="Replace its steps by mine").click()
    expect(other.locator(".card.think").first).to_contain_text("Theirs.")
