"""The sky pane of the drawer on a blended cataclysmic variable, with failed, empty and unasked catalogues."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from agent.sky.maps import bundled
from reviewer.web.models import sky
from tests.browser.page.test_accessibility import SMALL, add_axe, in_theme
from tests.browser.page.test_layout import faults
from tests.browser.support.review_app import frames, settled, show_item

pytestmark = pytest.mark.browser
FIRST, SECOND = 1, 2
PERIOD = 0.0785


CATALOGUES: dict[str, tuple[sky.Status, str]] = {
    "Gaia DR3": ("found", ""),
    "AllWISE": ("failed", "HTTP status 503"),
    "2MASS": ("not found", ""),
    "ZTF DR23": ("not asked", "only with --curves"),
}
"""Status and detail of each catalogue."""
LONGEST = max((catalogue.title for catalogue in bundled().values()), key=len)
WORDS = [
    "found, 2 sources, the nearest at 0.21″ · simulated",
    "failed: HTTP status 503",
    "not found: no source near the position",
    "not asked: only with --curves",
]
STARS = [(0.1, 17, 0.8, 0.2), (1.2, 18.5, 0.2, 0), (-6, None, 0, 0)]
"""East (″), G, share of the light, motion (″/yr) of the sources."""


def panel() -> sky.SkyPanel:
    mjd = np.sort(58_000 + 500 * np.random.default_rng(1).random(60))
    curve = {"mjd": mjd.tolist(), "magnitude": (17 + 0.2 * np.sin(2 * np.pi * mjd / PERIOD)).tolist()}
    outline = {
        "bp_rp": [0.0, 1.0, 1.4, 0.2],
        "absolute_magnitude": [4.0, 4.0, 10.0, 12.0],
        "citation": "A 2018",
        "name_at": [3, 12],
    }
    sequence = {
        "bp_rp": [-0.3, 0.8, 2.5, 5.0],
        "absolute_magnitude": [-2.0, 4.5, 10.0, 16.0],
        "citation": "B 2020",
        "name_at": None,
    }
    limit = {"absolute_magnitude": None, "error": 0, "limit": 8.1, "reddening": [0.134, 0.274]}
    no_name = {"names": [], "names_hidden": True, "simulated": True, "note": ""}
    source = {"queried_at": "2026-11-28T10:11:00Z", "service": "https://tap.example.org", "citation": "Gaia 2023"}
    magnitude = {"catalogue": LONGEST, "flux": 90, "flux_error": 3, "magnitude": 17.2, "magnitude_error": 0.02}
    return sky.SkyPanel.model_validate(
        {
            "catalogues": [
                {"catalogue": title, "title": title, "status": status, "detail": detail, **source}
                | {"sources": 2 * (status == "found"), "separation": 0.21 if status == "found" else None}
                | {"simulated": status == "found"}
                for title, (status, detail) in CATALOGUES.items()
            ],
            "numbers": [
                {"name": "bp_rp", "label": "BP − RP", "unit": "mag", "value": 0.55, "error": 0.04, "reason": ""},
                {"name": "m", "label": "M_G", "unit": "mag", "value": None, "error": 0, "reason": "parallax of 2.5σ"},
            ],
            "point": {"bp_rp": 0.55, "bp_rp_error": 0.04, "reason": "parallax of 2.5σ", **limit},
            "loci": [
                {"name": "main sequence", "kind": "line", **sequence},
                {"name": "cataclysmic <b>variables</b>", "kind": "region", **outline},
            ],
            "bands": [
                {"name": name, "wavelength": at, "synthetic": synthetic, "reason": reason, **magnitude}
                | {"difference": synthetic and synthetic - 17.2}
                for name, at, synthetic, reason in (
                    ("BP", 5036, 17.25, ""),
                    ("RP", 7769, 17.6, ""),
                    ("J", 12350, None, "the spectrum does not cover the band"),
                )
            ],
            "sed_scale": 1,
            "sed_note": "Spectrum minus catalogues: median +0.2 mag.",
            "finder": {
                "stars": [
                    {"east": east, "north": 0.2, "motion_east": motion, "motion_north": -motion, "magnitude": g}
                    | {"share": share, "matched": share > 0.5}
                    for east, g, share, motion in STARS
                ],
                "fibre": 3.3,
                "radius": 10,
                "blend": 0.25,
                "text": "A blend: other sources add 25% of its light.",
            },
            "curves": [{"band": name, "error": [0.02] * 60, **curve} for name in ("g", "r")],
            **no_name,
        }
    )


@pytest.fixture
def asked(desk: Page) -> Iterator[list[str]]:
    """The first item with its drawer closed; the requests to the sky from now on."""
    requests: list[str] = []

    def answer(route: Route) -> None:
        requests.append(route.request.url)
        period = sky.Period(period=PERIOD, false_alarm=1e-14, reason="")
        body = period if "/period" in route.request.url else panel()
        route.fulfill(content_type="application/json", body=body.model_dump_json())

    desk.route(re.compile("/spectrum/[^/]+/sky"), answer)
    desk.set_viewport_size({"width": 1366, "height": 768})
    show_item(desk, SECOND)
    show_item(desk, FIRST)
    yield requests
    desk.unroute_all()
    if desk.locator(".so-review .evidence").is_visible():
        desk.get_by_role("button", name="Close the evidence").click()


def opened(desk: Page) -> Locator:
    desk.locator(".so-review .card .number").first.click()
    desk.keyboard.press("Shift+S")
    pane = desk.locator(".so-review .sky-pane")
    expect(pane).to_be_visible()
    return pane


def test_the_pane_is_asked_only_while_it_is_open_and_says_what_each_catalogue_answered(
    desk: Page, asked: list[str]
) -> None:
    assert asked == []
    pane = opened(desk)
    assert len(asked) == 1
    expect(desk.locator(".so-review .evidence .pane")).to_be_focused()
    listed = pane.get_by_role("region", name="Catalogues").get_by_role("listitem")
    expect(listed).to_contain_text(WORDS)
    expect(pane).to_contain_text("Simulated, not observed.")
    expect(pane).to_contain_text("Failed: AllWISE.")
    expect(pane).to_contain_text("Names and types are shown after your own verdict.")
    expect(pane.get_by_role("row", name="M_G")).to_contain_text("parallax of 2.5σ")
    expect(pane.get_by_role("img", name="Colour and luminosity")).to_have_accessible_name(re.compile("M_G 8.1 or bri"))
    expect(pane.get_by_role("img", name="Finder")).to_contain_text("20 %")
    assert pane.locator(".locus b").count() == 0, "a name is no markup"
    expect(pane.get_by_role("row", name=f"RP {LONGEST}")).to_contain_text("+0.40 !")
    expect(pane.get_by_role("row", name=f"J {LONGEST}")).to_contain_text("does not cover the band")


def test_fluxes_of_catalogues_are_drawn_on_the_spectrum_until_the_next_item(desk: Page, asked: list[str]) -> None:
    button = opened(desk).get_by_role("button", name="Draw on the spectrum")
    legend = desk.locator(".so-review .so-legend li")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(legend).to_have_text(["catalogue fluxes"])
    frames(desk)
    drawn = "window.specO3.review.spectrum.full.gd.data.filter(({ mode }) => mode === 'markers+text')"
    assert desk.evaluate(f"{drawn}.map(({{ text, error_y }}) => [text, error_y.array])") == [
        [["BP", "RP", "J"], [3, 3, 3]]
    ]
    button.click()
    expect(legend).to_have_count(0)
    button.click()
    expect(legend).to_have_count(1)
    show_item(desk, SECOND)
    expect(legend).to_have_count(0)
    expect(desk.locator(".so-review .sky-pane")).to_be_visible()
    assert len(asked) == 2


def test_a_light_curve_is_folded_only_on_request(desk: Page, asked: list[str]) -> None:
    pane = opened(desk)
    shown = "(host) => host.layout.xaxis.range[1]"
    plot = pane.get_by_role("img", name="Light curve")
    assert plot.evaluate(shown) > 58_000
    pane.get_by_role("button", name="Suggest period").click()
    field = pane.get_by_role("textbox", name="Period (days)")
    expect(field).to_have_value("0.07850000")
    expect(pane.get_by_role("status")).to_contain_text("Strongest period of g; false-alarm probability 1.0 × 10⁻¹⁴")
    assert asked[-1].endswith("/sky/period?band=g")
    assert plot.evaluate(shown) > 58_000, "a suggestion folds nothing"
    pane.get_by_role("button", name="Fold", exact=True).click()
    assert plot.evaluate("(host) => [host.layout.xaxis.range, host.data[0].x.length]") == [[0, 2], 120]
    field.fill("-1")
    field.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    pane.get_by_role("button", name="Unfold").click()
    assert plot.evaluate(shown) > 58_000


@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1180), (1366, 768), (1920, 1080)])
def test_nothing_is_cut_off_and_axe_finds_nothing(desk: Page, asked: list[str], width: int, height: int) -> None:
    pane = opened(desk)
    desk.set_viewport_size({"width": width, "height": height})
    settled(desk)
    frames(desk)
    assert faults(desk) == []
    assert pane.evaluate("(e) => e.parentElement.scrollWidth <= e.parentElement.clientWidth")
    cut = """(e) => [...e.querySelectorAll('.locus')].flatMap((host) => {
      const { right, bottom } = host.getBoundingClientRect()
      const texts = [...host.querySelectorAll('text')].filter((text) => text.textContent.trim())
      return texts.filter((text) => {
        const box = text.getBoundingClientRect()
        return box.right > right + 1 || box.bottom > bottom + 1
      }).map((text) => text.textContent)
    })"""
    assert pane.evaluate(cut) == []
    assert width < 500 or desk.evaluate(SMALL) == []
    add_axe(desk)
    desk.set_viewport_size({"width": 1366, "height": 768})
    theme = "dark" if width in (390, 1366) else "light"
    assert in_theme(desk, theme) == []


def test_a_step_about_the_sky_shows_its_picture_and_its_numbers_and_no_window(desk: Page, asked: list[str]) -> None:
    shown = desk.evaluate(
        """async () => {
          const { TraceView } = await import('./ui/trace/view.js')
          const pictures = []
          const root = document.body.appendChild(document.createElement('div'))
          const trace = new TraceView(root, { onSelect: () => {}, onPicture: (url) => pictures.push(url) })
          const step = { id: 's1', kind: 'zoom', tool: 'sky_context', arguments: {}, frame: 'observed', z: 0 }
          const steps = [{ ...step, medium: 'vacuum', observation: 'M_G 9.6', ok: true, picture: 'abc' }]
          const nothing = { marks: {}, hints: {}, editedBy: {}, originals: new Map() }
          trace.show({ steps, ...nothing, editable: true, markable: false, pictureURL: () => '/sky.png' })
          trace.select('s1')
          trace.edit('s1')
          root.querySelector('.picture').click()
          root.querySelector('.step-more').click()
          await new Promise(requestAnimationFrame)
          const menu = [...root.querySelectorAll('.so-menu .entry')].map((entry) => entry.textContent)
          const parts = ['.brief', '.measured', 'img', 'input', '.window', '.waiting']
          const found = parts.map((part) => root.querySelector(part)?.outerHTML ?? null)
          root.remove()
          return [menu, pictures, ...found]
        }"""
    )
    menu, pictures, line, numbers, picture, *windows = shown
    assert menu
    assert not [entry for entry in menu if entry.startswith("edit")]
    assert pictures == ["/sky.png"]
    assert "catalogues" in line
    assert "M_G 9.6" in numbers
    assert 'alt="What the agent saw"' in picture
    assert windows == [None, None, None]
