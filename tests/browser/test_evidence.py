"""The Evidence panel and the curves over the data, on real spectra."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.browser.page.test_layout import faults
from tests.browser.support.kept_page import KeptPage, kept_page
from tests.browser.support.review_app import (
    choose_more,
    comes_true,
    drag,
    picture,
    serving,
    settled,
    show_anew,
    show_item,
    spec_o3,
    working_alone,
)

pytestmark = pytest.mark.browser

SPECTRA = {
    "spectra/ctio_novae/CV_OLD_NOVA_GQ_MUS/GQMUSF_Williams_Optical_Spectra.csv": "cv",
    "spectra/sdss/GALAXY/spec-0266-51602-0013.fits": "cv",
    "spectra/sdss/STAR_M1/spec-0618-52049-0372.fits": "gm",
    "spectra/sdss_dr2_templates/CARBON_STAR/spDR2-017.fit": "cc",
    "spectra/stelib/M_GIANT/STELIB_v3.2_HD148783.fits": "gm",
    "spectra/int_ids_j1948/CV_NOVALIKE_ECLIPSING/J194827-131733_2459087.525057.json": "cv",
    "spectra/int_ids_j1948/CV_NOVALIKE_ECLIPSING/J194827-131733_2459099.433658.json": "cv",
}
"""An old nova in air without a redshift; a galaxy at z = 0.1213; an M dwarf with its model and 12 exposures; a
carbon star; an M giant in air at rest; two epochs of an eclipsing binary."""
OLD_NOVA, GALAXY, M_DWARF, CARBON_STAR, M_GIANT, EPOCH, OTHER_EPOCH = 1, 2, 3, 4, 5, 6, 7


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[str]:
    db = tmp_path_factory.mktemp("evidence") / "annotations.db"
    for name, task in SPECTRA.items():
        spec_o3("draft", shared / name, "--policy", "baseline", "--task", task, "--db", db)
    with serving(db) as address:
        yield address


@pytest.fixture(scope="module")
def kept(chromium: Browser, url: str) -> Iterator[KeptPage]:
    with kept_page(lambda: working_alone(chromium, url, OLD_NOVA)) as kept:
        yield kept


@pytest.fixture
def desk(kept: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of a person who works alone, at the old nova."""
    with kept.of(request) as page:
        show_anew(page, OLD_NOVA, other=GALAXY)
        yield page


def shown(page: Page, panel: str) -> list[float]:
    return list(page.evaluate(f"window.specO3.review.spectrum.{panel}.gd.layout.xaxis.range"))


def legend(page: Page) -> list[str]:
    return page.locator(".so-review .so-legend li").all_inner_texts()


def requests_of(page: Page) -> list[str]:
    """The requests from now on for evidence, as a list that grows."""
    requested: list[str] = []
    evidence = re.compile(r"/(lines|loci|templates|similar|model|exposures|measure)\b")

    def note(request: Request) -> None:
        if evidence.search(request.url):
            requested.append(request.url)

    page.on("request", note)
    return requested


def test_nothing_is_fetched_while_the_evidence_is_closed(desk: Page) -> None:
    requested = requests_of(desk)
    desk.keyboard.press("n")
    desk.wait_for_function("window.specO3.review.current.item.id === 2")
    settled(desk)
    assert requested == []
    expect(desk.locator(".so-review aside.evidence")).to_be_hidden()


@pytest.mark.smoke
def test_the_table_of_lines_says_what_was_assumed_and_moves_the_plot(desk: Page) -> None:
    desk.keyboard.press("Shift+E")
    panel = desk.locator(".so-review aside.evidence")
    expect(panel.locator(".summary").first).to_have_text("z unknown, 0 taken · wavelengths in air (assumed)")
    row = panel.locator("tbody", has_text="He II 4686")
    expect(row.locator("tr")).to_have_count(1)
    row.get_by_role("button").click()
    low, high = shown(desk, "step")
    assert low < 4686 < high
    assert high - low < 150
    box, plot = panel.bounding_box(), desk.locator(".so-review section.spectrum").bounding_box()
    assert box is not None
    assert plot is not None
    assert plot["x"] + plot["width"] <= box["x"], "the panel does not cover the plot"
    desk.get_by_role("button", name="evidence E").click()
    expect(panel).to_be_hidden()


def test_a_measured_number_is_copied_by_a_click_and_a_row_by_its_button(desk: Page) -> None:
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])
    desk.keyboard.press("Shift+E")
    row = desk.locator(".so-review aside.evidence tbody", has_text="He II 4686")
    row.locator("td").first.click()
    expect(desk.locator(".so-review .toasts")).to_contain_text("copied")
    number: str = desk.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(r"46\d\d\.?\d* ± [\d.]+ Å", number)
    row.get_by_role("button").focus()
    desk.keyboard.press("Control+c")
    desk.wait_for_function("navigator.clipboard.readText().then((text) => text.startsWith('He II 4686'))")
    assert desk.evaluate("navigator.clipboard.readText()").split("\t")[1] == number
    assert row.locator("button, [tabindex]").count() == 1, "no further tab stop"
    desk.keyboard.press("Shift+E")


def test_a_redshift_gives_each_line_two_rows(desk: Page) -> None:
    desk.keyboard.press("Shift+E")
    show_item(desk, GALAXY)
    panel = desk.locator(".so-review aside.evidence")
    expect(panel.locator(".summary").first).to_contain_text("z = 0.1213164 from the file · wavelengths in vacuum")
    row = panel.locator("tbody", has_text="Mg b1")
    expect(row.locator("tr")).to_have_count(2)
    row.locator("tr").first.get_by_role("button").click()
    low, high = shown(desk, "step")
    assert low < 5185.05 * 1.1213164 < high
    row.locator("tr").last.locator("th").click()
    low, high = shown(desk, "step")
    assert low < 5185.05 < high
    desk.keyboard.press("Shift+E")


def test_the_open_panel_and_its_tab_are_remembered_and_tabs_work_by_keys(desk: Page) -> None:
    before = desk.locator(".card.selected .number").inner_text()
    desk.keyboard.press("Shift+E")
    desk.get_by_role("tab", name="Lines").focus()
    desk.keyboard.press("ArrowRight")
    expect(desk.get_by_role("tab", name="Loci")).to_be_focused()
    assert before == desk.locator(".card.selected .number").inner_text(), "the arrow selected no step"
    desk.reload()
    expect(desk.locator(".so-review aside.evidence")).to_be_visible()
    expect(desk.get_by_role("tab", name="Loci")).to_have_attribute("aria-selected", "true")
    desk.get_by_role("tab", name="Lines").click()
    desk.get_by_role("button", name="Close the evidence").click()
    expect(desk.locator(".so-review aside.evidence")).to_be_hidden()


def test_model_and_exposures_are_drawn_where_the_file_has_them(desk: Page) -> None:
    desk.locator(".so-review .so-more").click()
    expect(desk.locator(".so-review .so-menu .entry", has_text="template")).to_be_visible()
    expect(desk.locator(".so-review .so-menu .entry", has_text="model")).to_be_hidden()
    desk.keyboard.press("Escape")
    desk.keyboard.press("Shift+M")
    expect(desk.locator(".toasts")).to_contain_text("no pipeline model")
    show_item(desk, M_DWARF)
    requested = requests_of(desk)
    choose_more(desk, "model")
    expect(desk.locator(".so-review .so-legend li")).to_have_text(["pipeline model · SDSS"])
    desk.keyboard.press("Shift+O")
    expect(desk.locator(".so-review .so-legend li")).to_have_count(13)
    assert [url.rpartition("/")[2] for url in requested] == ["model", "exposures"]
    desk.keyboard.press("Shift+O")
    expect(desk.locator(".so-review .so-legend li")).to_have_count(1)
    show_item(desk, GALAXY)
    assert legend(desk) == []


def test_the_other_epochs_of_a_binary_are_listed_and_drawn_with_their_dates(desk: Page) -> None:
    show_item(desk, EPOCH)
    desk.get_by_role("button", name="2 epochs").click()
    sheet = desk.locator(".others-sheet.epochs")
    expect(sheet.get_by_role("link")).to_have_text([f"#{OTHER_EPOCH}"])
    expect(sheet.locator("li")).to_contain_text(["2020-08-26 00:36", "2020-09-06 22:24"])
    sheet.get_by_role("button", name="Draw over the data").click()
    expect(desk.locator(".so-review .so-legend li")).to_have_text(["2020-09-06 22:24"])
    desk.get_by_role("button", name="2 epochs").click()
    sheet.get_by_role("button", name="Remove from the plot").click()
    expect(desk.locator(".so-review .so-legend li")).to_have_count(0)
    desk.get_by_role("button", name="2 epochs").click()
    sheet.get_by_role("link").click()
    comes_true(desk.locator("body"), f"() => location.hash.includes('item={OTHER_EPOCH}')")


def test_three_real_stars_with_all_their_evidence(desk: Page) -> None:
    """Also takes the pictures of the documentation."""
    desk.keyboard.press("Shift+E")
    panel = desk.locator(".so-review aside.evidence")
    expect(panel.locator("tbody").first).to_be_visible()
    choose_more(desk, "equivalent width")
    drag(desk, "step", 6525, 6600)
    expect(desk.locator(".so-review .so-width-text")).to_contain_text(
        re.compile(r"EW −\d+(\.\d)? ± [\d.]+ Å \(absorption > 0\) · centroid 65[56]\d[\d.]* ± [\d.]+ Å")
    )
    picture(desk, "evidence-cv")
    desk.keyboard.press("Escape")
    desk.get_by_role("tab", name="Templates").click()
    show_item(desk, CARBON_STAR)
    expect(panel.locator(".match").first).to_be_visible()
    # The first one is this spectrum itself.
    first = desk.locator(".so-review .so-legend li").first
    for key in ("t", "Shift+T", "Shift+T"):
        before = legend(desk)
        desk.keyboard.press(key)
        expect(first).not_to_have_text(before[0] if before else "")
    expect(desk.locator(".so-review .so-legend li")).to_contain_text("MILES 0720")
    expect(panel.locator(".match", has_text="MILES 0720")).to_contain_text("carbon")
    picture(desk, "evidence-carbon")
    desk.get_by_role("tab", name="Loci").click()
    show_item(desk, M_GIANT)
    caption = panel.locator("figcaption").first
    expect(caption).to_contain_text(re.compile(r"TiO5 index 0\.23\d ± 0\.00\d"))
    picture(desk, "evidence-giant")
    desk.get_by_role("tab", name="Lines").click()
    desk.keyboard.press("Shift+E")


TEMPLATE = re.compile(
    r"template · .+ · (MILES|SDSS DR2 templates|STELIB|PyHammer.*) · −?[\d.\s]+ ± [\d.]+\skm/s · χ²ν [\d.]+"
)


def test_the_best_template_is_drawn_and_others_are_chosen_by_keys(desk: Page) -> None:
    show_item(desk, M_DWARF)
    desk.keyboard.press("t")
    expect(desk.locator(".so-review .so-legend li")).to_have_text([TEMPLATE])
    best = legend(desk)
    desk.keyboard.press("Shift+T")
    desk.wait_for_function("(before) => document.querySelector('.so-legend li')?.innerText !== before", arg=best[0])
    desk.keyboard.press("Shift+E")
    desk.get_by_role("tab", name="Templates").click()
    chosen = desk.locator(".so-review .match :checked")
    expect(chosen).to_have_count(1)
    matches = desk.locator(".so-review label.match")
    expect(matches.locator(".sparkline path[d^='M']")).to_have_count(matches.count())
    label = chosen.evaluate("(one) => one.closest('label').innerText")
    assert label.startswith(legend(desk)[0].split(" · ")[1])
    chosen.focus()
    desk.keyboard.press("ArrowUp")
    expect(desk.locator(".so-review .so-legend li")).to_have_text(best)
    desk.keyboard.press("t")
    expect(desk.locator(".so-review .so-legend li")).to_have_count(0)
    desk.get_by_role("tab", name="Lines").click()
    desk.keyboard.press("Shift+E")


def test_the_index_plots_show_the_library_by_class_and_this_spectrum(desk: Page) -> None:
    desk.keyboard.press("Shift+E")
    desk.get_by_role("tab", name="Loci").click()
    show_item(desk, M_DWARF)
    first = desk.locator(".so-review .loci figure").first
    expect(first.locator("figcaption")).to_contain_text("M giant and M dwarf by TiO and CaH")
    expect(first.locator("figcaption")).to_contain_text(re.compile(r"TiO5 index 0\.6\d+ ± 0\.0\d+"))
    assert {"this spectrum", "M dwarf", "M giant"} <= {
        text.lstrip("★▲◆ ") for text in first.locator(".key li").all_inner_texts()
    }
    drawn = first.locator(".locus").evaluate("(host) => host.data.map((trace) => [trace.name, trace.x.length])")
    assert drawn[-1] == ["this one", 1]
    assert dict(drawn)["M dwarf"] >= 10
    desk.get_by_role("tab", name="Lines").click()
    desk.keyboard.press("Shift+E")


@pytest.mark.parametrize("width", [390, 820, 1366])
def test_what_the_panel_adds_can_be_reached_and_hit_and_the_bar_stays(desk: Page, width: int) -> None:
    desk.set_viewport_size({"width": width, "height": 844})
    desk.keyboard.press("Shift+E")
    panel = desk.locator(".so-review aside.evidence")
    for pane in ("Loci", "Templates", "Lines"):
        desk.get_by_role("tab", name=pane).click()
        expect(panel.locator("tbody:visible, .match:visible, figure:visible").first).to_be_visible()
        assert faults(desk) == [], pane
        small = panel.locator("button, summary, [role=tab], label").evaluate_all(
            """(all) => all.filter((target) => target.getClientRects().length)
              .map((target) => [target.textContent, target.getBoundingClientRect()])
              .filter(([, box]) => box.height < 24 || box.width < 24).map(([text]) => text)"""
        )
        assert width < 500 or small == [], pane
        assert panel.locator(".pane").evaluate("(pane) => pane.scrollWidth <= pane.clientWidth"), pane
    for name in ("Keep", "Reject", "Next"):
        button = desk.locator(".decision-bar").get_by_role("button", name=name)
        expect(button).to_be_in_viewport(ratio=0.99)
    desk.keyboard.press("Shift+E")
