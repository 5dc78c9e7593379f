"""The interactive spectrum in Chromium: drawing, zoom, dragging and keys."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task, load
from tests.browser.support.spectrum_page import Item, StepWindow, served, spectrum_item

pytestmark = pytest.mark.browser

CV_WINDOWS = [
    StepWindow("s2", 2, 6450, 6680, label="Hα"),
    StepWindow("s4", 4, 4600, 4800, label="He II 4686"),
    StepWindow("s6", 6, 4800, 4930, label="Hβ"),
]
Z = 0.06


def hydrogen_task() -> Task:
    """A task about Hα alone."""
    feature = Feature(
        "Hα", "line", "primary", "air", (6500, 6630), (6555, 6570), (), "equivalent_width", "accretion", ()
    )
    return Task("cv", "CV", "Is it a CV?", (), (feature,), (), {})


def flat(**changes: Any) -> Spectrum:
    """3000 pixels of 2 Å, flux 100 ± 1."""
    wavelength = 4000 + 2.0 * np.arange(3000)
    values: dict[str, Any] = {
        "wavelength": wavelength,
        "flux": np.full(3000, 100.0),
        "ivar": np.ones(3000),
        "mask": np.zeros(3000, dtype=bool),
        "redshift": 0.0,
    }
    return Spectrum(**(values | changes))


def items() -> dict[str, Item]:
    cv = simulate("cv", "LAMOST", snr=15, seed=3)
    galaxy = simulate("hii", "SDSS", snr=10, seed=2, redshift=Z)
    rest_window = [StepWindow("s2", 2, 4800, 5100, frame="rest", z=Z, label="[O III]")]
    holed = flat(
        ivar=np.where((np.arange(3000) >= 1000) & (np.arange(3000) < 1050), 0.0, 1.0),
        mask=(np.arange(3000) >= 2000) & (np.arange(3000) < 2010),
    )
    return {
        "cv": spectrum_item(cv, "cv", windows=CV_WINDOWS, selected="s2", task=hydrogen_task()),
        "locked": spectrum_item(cv, "locked", windows=CV_WINDOWS, selected="s2", editable=False),
        "galaxy": spectrum_item(galaxy, "galaxy", windows=rest_window, selected="s2"),
        "names": spectrum_item(cv, "names", task=load()["cv"], windows=CV_WINDOWS, selected="s4"),
        "holed": spectrum_item(holed, "holed"),
        "assumed": spectrum_item(flat(medium="air", meta={"medium_assumed": True}), "assumed"),
        "heliocentric": spectrum_item(flat(redshift=0.1, meta={"velocity_frame": "heliocentric"}), "heliocentric"),
        "dead": spectrum_item(
            flat(
                flux=np.where(np.arange(3000) < 1500, 100.0 + np.arange(3000) % 3, 5000.0),
                ivar=np.where(np.arange(3000) < 1500, 1.0, 0.0),
            ),
            "dead",
        ),
        "emission": spectrum_item(
            flat(flux=100 + 80 * np.exp(-0.5 * ((4000 + 2.0 * np.arange(3000) - 6564.6) / 6) ** 2)),
            "emission",
            windows=[StepWindow("s2", 2, 6500, 6630, label="Hα")],
            selected="s2",
        ),
        "wide": wide_item(),
        "spiked": spectrum_item(
            flat(flux=np.where(np.arange(3000) == 1280, 900.0, 100.0)),
            "spiked",
            windows=[StepWindow("s2", 2, 6500, 6630)],
            selected="s2",
        ),
        "crowded": spectrum_item(
            flat(),
            "crowded",
            windows=[StepWindow(f"s{k}", k, 6500 + k, 6630 + k) for k in range(2, 9)],
            second=[StepWindow("t3", 3, 5800, 5950)],
            selected="s2",
        ),
        "air": spectrum_item(flat(medium="air"), "air", windows=[StepWindow("s2", 2, 6500, 6630)], selected="s2"),
    }


def wide_item() -> Item:
    """From the ultraviolet to 30 µm, as CALSPEC has it, with the wavelengths of a task."""
    wavelength = np.geomspace(1141, 300111, 3000)
    spectrum = flat(wavelength=wavelength, flux=(wavelength / 5000) ** -2.0, ivar=np.full(3000, 1e4))
    return spectrum_item(spectrum, "wide") | {"range": {"lo": 3701, "hi": 9002, "medium": "vacuum"}}


@pytest.fixture(scope="module")
def loaded(chromium: Browser) -> Iterator[Page]:
    """The page, loaded once: plotly takes seconds to parse."""
    with served(items()) as address, chromium.new_context() as context:
        page = context.new_page()
        page.on("pageerror", lambda error: ERRORS.append(str(error)))
        page.goto(address)
        page.wait_for_function("window.ready")
        yield page


ERRORS: list[str] = []


@pytest.fixture
def view(loaded: Page) -> Iterator[Page]:
    """The page with a new view; an uncaught error fails the test."""
    ERRORS.clear()
    loaded.set_viewport_size({"width": 1100, "height": 900})
    loaded.mouse.move(0, 0)
    loaded.evaluate("fresh()")
    yield loaded
    assert ERRORS == []


def show(view: Page, name: str) -> None:
    """Show an item, and wait until its panels are drawn in the size that they have on the page."""
    view.evaluate("(name) => showItem(name)", name)
    view.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def command(view: Page, name: str, argument: Any = None) -> None:
    view.evaluate("([name, argument]) => view.command(name, argument ?? undefined)", [name, argument])


def shown_range(view: Page, panel: str = "full") -> list[float]:
    return list(view.evaluate(f"view.{panel}.gd.layout.xaxis.range"))


def choose(view: Page, name: str) -> None:
    """Choose an entry of the toolbar's menu."""
    view.locator(".so-more").click()
    view.locator(f'.so-menu [data-command="{name}"]').click()


def titles(view: Page) -> list[str]:
    """The titles of the axes of the window, without one those of the whole spectrum."""
    panel = "step" if view.locator(".so-step").is_visible() else "full"
    return view.locator(f".so-{panel} .so-titles > text").all_text_contents()


def line_at(view: Page, name: str) -> float:
    """Return where the full plot draws a line, in pixels."""
    return float(
        view.evaluate(
            """(name) => {
              const index = view.item.lines.findIndex((line) => line.name === name)
              return document.querySelector(`.so-full [data-line="${index}"] .so-dots`).getBBox().x
            }""",
            name,
        )
    )


def screen(view: Page, wavelength: float, panel: str = "full") -> tuple[float, float]:
    """Return a point on the page: a wavelength of the data at half height of a panel."""
    x, y = view.evaluate(
        """([panel, wavelength]) => {
          const { host, geometry } = view[panel]
          const box = host.getBoundingClientRect()
          return [box.x + geometry.x(wavelength), box.y + (geometry.top + geometry.bottom) / 2]
        }""",
        [panel, wavelength],
    )
    return x, y


def drag(view: Page, start: float, end: float, panel: str = "full", shift: bool = False) -> None:
    (x0, y0), (x1, y1) = screen(view, start, panel), screen(view, end, panel)
    view.mouse.move(x0, y0)
    if shift:
        view.keyboard.down("Shift")
    view.mouse.down()
    view.mouse.move((x0 + x1) / 2, y1, steps=3)
    view.mouse.move(x1, y1, steps=3)
    view.mouse.up()
    if shift:
        view.keyboard.up("Shift")


def events(view: Page, what: str) -> list[Any]:
    return list(view.evaluate(f"window.events.{what}"))


# What is drawn


@pytest.mark.smoke
def test_axes_show_frame_medium_and_unit_and_relative_flux_has_none(view: Page) -> None:
    show(view, "galaxy")
    assert titles(view) == ["Wavelength (Å), observed, vacuum", "Fλ (10⁻¹⁷ erg s⁻¹ cm⁻² Å⁻¹)"]
    show(view, "assumed")
    assert titles(view)[0] == "Wavelength (Å), observed, air (assumed)"
    show(view, "heliocentric")
    assert titles(view)[0] == "Wavelength (Å), observed, vacuum, heliocentric"
    command(view, "frame")
    assert titles(view)[0] == "Wavelength (Å), rest, vacuum"
    show(view, "cv")
    assert titles(view)[1].startswith("Flux (relative")
    assert "erg" not in view.locator(".so-view").inner_text()


@pytest.mark.smoke
def test_bands_have_the_numbers_of_the_steps_and_the_selected_one_is_highlighted(view: Page) -> None:
    show(view, "cv")
    assert sorted(view.locator(".so-full .so-badge").all_inner_texts()) == ["2", "4", "6"]
    assert view.locator(".so-full .so-badge.so-selected").inner_text() == "2"
    assert view.locator(".so-step .so-badge").count() == 0


@pytest.mark.smoke
def test_pixels_without_data_break_the_line_and_are_hatched(view: Page) -> None:
    show(view, "holed")
    drawn = view.evaluate("view.full.gd.data[2].x.map((x, i) => [x, view.full.gd.data[2].y[i]])")
    within = [y for x, y in drawn if x is not None and 6001 < x < 6097]
    assert within == []
    assert any(x is None or np.isnan(x) for x, _ in drawn)
    assert view.locator(".so-full .so-gap").count() == 1
    assert view.locator(".so-full .so-masked").count() == 1


def test_hatching_is_drawn_while_another_view_on_the_page_is_hidden(view: Page) -> None:
    show(view, "holed")
    fills = view.evaluate(
        """async () => {
          const root = document.createElement('div')
          root.style.height = '600px'
          document.body.append(root)
          const { SpectrumView } = await import('/ui/spectrum/view.js')
          const other = new SpectrumView(root)
          other.show(window.item)
          await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
          document.getElementById('root').hidden = true
          const [, id] = /#([^)"]+)/.exec(root.querySelector('.so-gap').getAttribute('fill'))
          const own = root.contains(document.getElementById(id))
          const all = [...document.querySelectorAll('[id]')].map((element) => element.id)
          other.destroy()
          root.remove()
          document.getElementById('root').hidden = false
          return { own, ours: all.filter((each) => each.startsWith('so-hatch')) }
        }"""
    )
    assert fills["own"]
    assert len(fills["ours"]) == len(set(fills["ours"])) == 2


def test_a_window_is_drawn_in_steps_with_its_error_band(view: Page) -> None:
    show(view, "cv")
    x = view.evaluate("view.step.gd.data[2].x.slice(0, 6)")
    y = view.evaluate("view.step.gd.data[2].y.slice(0, 6)")
    assert x[1] == pytest.approx(x[2])
    assert y[0] == y[1]
    assert y[2] == y[3]
    assert view.evaluate("view.step.gd.data[0].x.length") > 0
    command(view, "error")
    assert view.evaluate("view.step.gd.data[0].x.length") == 0


def test_few_lines_by_default_including_the_tasks_own_and_all_on_request(view: Page) -> None:
    show(view, "cv")
    few = view.locator(".so-full .so-line").count()
    assert view.locator(".so-full .so-task .so-name").all_text_contents() == ["Hα"]
    view.locator(".so-full .so-task .so-name").hover()
    assert view.locator(".so-tip").inner_text() == "Hα 6562.79 air · 6564.60 vac · in the guide"
    command(view, "linelist", "all")
    assert view.locator(".so-full .so-line").count() > 2 * few
    command(view, "linelist", "emission")
    assert view.locator(".so-full .so-line.so-absorption:not(.so-task)").count() == 0
    command(view, "lines")
    assert view.locator(".so-full .so-line").count() == 0


@pytest.mark.smoke
def test_a_line_listed_in_air_is_drawn_at_its_vacuum_wavelength(view: Page) -> None:
    show(view, "cv")
    assert line_at(view, "Hα") == pytest.approx(view.evaluate("view.full.geometry.x(6564.61)"), abs=0.15)
    show(view, "air")
    command(view, "linelist", "all")
    assert line_at(view, "Hα") == pytest.approx(view.evaluate("view.full.geometry.x(6562.79)"), abs=0.15)


@pytest.mark.smoke
def test_the_readout_shows_flux_error_and_bands_at_the_pixel(view: Page) -> None:
    show(view, "air")
    view.mouse.move(*screen(view, 7600))
    text = view.locator(".so-readout").inner_text()
    assert "7600.00\u202fÅ observed" in text
    assert "flux 100.0 ± 1.0" in text
    assert "S/N 100" in text
    assert "O₂ A telluric band" in text


FLAT_CURVE = """({ kind, medium = 'air', z = 0, name = 'M6 III' }) => {
  const wavelength = Float64Array.from({ length: 300 }, (_, i) => 4200 + 15 * i)
  const flux = wavelength.map(() => 50)
  view.update({ overlays: [...view.item.overlays, { kind, name, medium, z, wavelength, flux, note: 'STELIB' }] })
}"""


def curve(view: Page, trace: int, axis: str) -> list[float]:
    """Return the coordinates of a trace of the full plot: 0 error, 1 raw, then exposures, data, template and model."""
    return [value for value in view.evaluate(f"Array.from(view.full.gd.data[{trace}].{axis})") if value is not None]


@pytest.mark.smoke
def test_a_template_is_drawn_at_its_own_redshift_and_named(view: Page) -> None:
    show(view, "air")
    view.evaluate(FLAT_CURVE, {"kind": "template", "z": 0.1})
    assert curve(view, 3, "x")[0] == pytest.approx(4620, abs=0.02)
    assert curve(view, 3, "y")[0] == pytest.approx(50)
    command(view, "z", 0.2)
    assert curve(view, 3, "x")[0] == pytest.approx(4620, abs=0.02), "trying a redshift moves the lines only"
    assert view.locator(".so-legend li").all_inner_texts() == ["template · M6 III · STELIB"]
    view.evaluate("view.update({ overlays: [] })")
    assert view.evaluate("view.full.gd.data.length") == 3
    assert view.locator(".so-legend").is_hidden()


def test_the_normalised_view_divides_data_errors_and_curves_by_the_pseudo_continuum(view: Page) -> None:
    show(view, "air")
    view.evaluate(FLAT_CURVE, {"kind": "template"})
    command(view, "normalised")
    assert curve(view, 2, "y")[:1] == pytest.approx([1.0])
    assert curve(view, 3, "y")[:1] == pytest.approx([0.5])
    band = curve(view, 0, "y")
    assert (min(band), max(band)) == (pytest.approx(0.99), pytest.approx(1.01))
    assert titles(view)[1] == "Flux / pseudo-continuum"
    command(view, "normalised")
    assert curve(view, 2, "y")[:1] == pytest.approx([100])


MEASURED = {
    "ew": {"value": -5.53, "error": 0.44},
    "flux": {"value": 1234.0, "error": 12.0, "unit": "relative × Å"},
    "centroid": {"value": 6559.83, "error": 0.31},
    "fwhm": {"value": 1057.0, "error": 56.0},
    "continuum": [[6500, 99], [6620, 101]],
    "reason": "",
    "frame": "observed",
    "span": [6500, 6620],
}


def measuring(view: Page, answer: dict[str, Any]) -> None:
    """Show the flat spectrum in a view whose measurements are recorded and answered."""
    view.evaluate(
        """(answer) => {
          window.requests = []
          const measure = (lo, hi) => { requests.push([lo, hi]); return Promise.resolve(answer) }
          fresh({ measure, copy: (text) => { window.copied = text } })
        }""",
        answer,
    )
    view.evaluate("() => showItem('air').then(() => view.show({ ...item, offers: { width: true } }))")


@pytest.mark.smoke
def test_a_drag_from_continuum_to_continuum_measures_an_equivalent_width(view: Page) -> None:
    measuring(view, MEASURED)
    choose(view, "width-mode")
    before = shown_range(view, "step")
    drag(view, 6540, 6600, panel="step")
    (requests,) = view.evaluate("requests")
    assert requests == pytest.approx([6540, 6600], abs=1)
    assert view.locator(".so-width-text").inner_text() == (
        "EW −5.5 ± 0.4 Å (absorption > 0) · centroid 6559.8 ± 0.3 Å · FWHM 1\u202f060 ± 60 km/s · continuum 100.0 · "
        "observed, air"
    )
    view.locator(".so-width-text .number", has_text="FWHM").click()
    assert view.evaluate("copied") == "1060 ± 60 km/s"
    assert view.locator(".so-step .so-width .so-base").count() == 1
    assert shown_range(view, "step") == before, "the drag did not zoom"
    command(view, "width-off")
    assert view.locator(".so-width").count() == 0
    drag(view, 6540, 6600, panel="step")
    assert shown_range(view, "step") != before


def test_an_equivalent_width_is_measured_by_two_keys_at_the_pointer_or_at_a_cursor(view: Page) -> None:
    measuring(view, MEASURED)
    for at in (6600, 6540):
        view.mouse.move(*screen(view, at, "step"))
        command(view, "width")
    (requests,) = view.evaluate("requests")
    assert requests == pytest.approx([6540, 6600], abs=1)
    view.mouse.move(0, 0)
    command(view, "width")
    for key in ("Home", "Enter", "ArrowRight", "Shift+ArrowRight", "Enter"):
        view.keyboard.press(key)
    lo, hi = view.evaluate("requests[1]")
    assert hi - lo == pytest.approx(22, abs=0.01), "one pixel and ten, 2 Å each"
    view.keyboard.press("Escape")
    assert not view.evaluate("view.width.on")


def test_what_cannot_be_measured_says_why(view: Page) -> None:
    nothing = dict.fromkeys(("ew", "flux", "centroid", "fwhm", "continuum"))
    measuring(view, MEASURED | nothing | {"reason": "9 pixels in 6540–6541 Å"})
    command(view, "width-mode")
    drag(view, 6540, 6600, panel="step")
    assert "undefined: 9 pixels in 6540–6541 Å" in view.locator(".so-width-text").inner_text()


def test_pixels_without_a_variance_are_drawn_faintly_on_request_and_change_no_range(view: Page) -> None:
    show(view, "dead")
    before = view.evaluate("view.full.gd.layout.yaxis.range")
    assert view.evaluate("view.full.gd.data.length") == 3
    button = view.locator('[data-command="unmeasured"]')
    choose(view, "unmeasured")
    assert button.get_attribute("aria-pressed") == "true"
    assert min(curve(view, 3, "x")) > 6990
    assert set(curve(view, 3, "y")) == {5000}
    assert view.evaluate("view.full.gd.layout.yaxis.range") == before
    assert view.locator(".so-legend").inner_text() == "1\u202f500 pixels with ivar = 0: not measured"
    assert view.locator(".so-full .so-off-scale path").count() == 0
    view.mouse.move(*screen(view, 8000))
    assert "no data" in view.locator(".so-readout").inner_text()
    command(view, "unmeasured")
    assert view.evaluate("view.full.gd.data.length") == 3
    assert view.locator(".so-legend").is_hidden()
    show(view, "air")
    assert button.is_hidden()
    command(view, "unmeasured")
    assert view.evaluate("view.state.unmeasured") is False


def test_a_legend_draws_each_sign_and_moves_nothing(view: Page) -> None:
    show(view, "cv")
    before = view.locator(".so-full").bounding_box()
    view.locator(".so-more").click()
    view.locator(".so-key summary").click()
    sheet = view.locator(".so-menu")
    assert "Orange: a line or band head of the guide of this class" in sheet.inner_text()
    assert view.locator(".so-full").bounding_box() == before
    box = sheet.bounding_box()
    assert box
    assert 0 <= box["x"] <= 1100 - box["width"]
    signs = sheet.locator("li svg :is(path, rect)").evaluate_all(
        "(all) => all.map((sign) => { const { width, height } = sign.getBoundingClientRect(); return width + height })"
    )
    assert len(signs) > 5
    assert min(signs) > 4
    view.keyboard.press("Escape")
    assert sheet.is_hidden()


# Plots in words


def described(view: Page, panel: str, text: str) -> str:
    """Wait until a plot is described with ``text``; return the description that its figure refers to."""
    figure = view.locator(f".so-{panel}")
    view.wait_for_function(
        "([id, text]) => document.getElementById(id).textContent.includes(text)",
        arg=[figure.get_attribute("aria-describedby"), text],
    )
    return view.locator(f"[id={figure.get_attribute('aria-describedby')}]").text_content() or ""


def test_both_plots_have_a_name_and_say_what_they_show(view: Page) -> None:
    show(view, "emission")
    assert view.get_by_role("figure", name="Whole spectrum", exact=True).count() == 1
    assert view.get_by_role("figure", name="Window of the selected step").count() == 1
    assert described(view, "full", "emission at") == (
        "Flux against wavelength, 4000\u202fÅ to 9998\u202fÅ, observed, vacuum. "
        "Window: step 2: Hα · 6500 – 6630\u202fÅ observed. Strongest features: emission at 6564\u202fÅ (Hα)."
    )
    assert "Window of step 2: Hα · 6500 – 6630\u202fÅ observed." in described(view, "step", "step 2")
    show(view, "cv")
    view.evaluate("view.select('s4')")
    described(view, "step", "Window of step 4")


# Redshift and frames


def bands_at(view: Page) -> list[list[float]]:
    """Return left edges and widths of sky bands and windows in the full plot, in pixels."""
    rectangles = view.locator(".so-full .so-skies rect, .so-full .so-windows rect")
    return list(rectangles.evaluate_all("(all) => all.map((r) => [r.x.baseVal.value, r.width.baseVal.value])"))


@pytest.mark.smoke
def test_lines_move_with_z_but_sky_windows_and_zoom_do_not(view: Page) -> None:
    show(view, "cv")
    drag(view, 6000, 7000)
    assert events(view, "window") == []
    before = shown_range(view)
    line = line_at(view, "Hα")
    still = bands_at(view)
    command(view, "z", 0.01)
    assert shown_range(view) == before
    assert line_at(view, "Hα") - line == pytest.approx(65.6 / view.evaluate("view.full.geometry.perPixel"), abs=0.3)
    assert bands_at(view) == still


@pytest.mark.smoke
def test_the_frame_switch_keeps_the_pixels_in_view_and_names_both_axes(view: Page) -> None:
    show(view, "galaxy")
    span = "view.scene.windows[0].span"
    assert view.evaluate(span) == pytest.approx([4800 * (1 + Z), 5100 * (1 + Z)]), "a window in the rest frame"
    drag(view, 5000, 6000)
    observed = shown_range(view)
    before = view.evaluate(span)
    command(view, "z", 0.5)
    assert view.evaluate(span) == before
    command(view, "z", Z)
    assert view.locator(".so-step .so-axis-name").text_content() == "rest (Å)"
    command(view, "frame")
    assert shown_range(view) == pytest.approx([edge / (1 + Z) for edge in observed])
    assert titles(view)[0] == "Wavelength (Å), rest, vacuum"
    assert view.locator(".so-step .so-axis-name").text_content() == "observed (Å)"


@pytest.mark.smoke
def test_the_redshift_field_takes_z_or_velocity_with_any_minus_sign(view: Page) -> None:
    show(view, "cv")
    field = view.locator(".so-field")
    field.fill("twelve")
    field.press("Enter")
    assert view.evaluate("view.state.z") == 0
    assert field.get_attribute("aria-invalid") == "true"
    assert "a redshift above" in (field.get_attribute("title") or "")
    command(view, "redshift")
    view.keyboard.type("−0.00123")
    view.keyboard.press("Enter")
    assert view.evaluate("view.state.z") == -0.00123
    assert field.input_value() == "−0.00123"
    assert (field.get_attribute("title") or "").startswith("cz −369\u202fkm/s")
    command(view, "unit")
    field.fill("2997.92458")
    field.press("Enter")
    assert view.evaluate("view.state.z") == pytest.approx(0.01)
    command(view, "z-file")
    assert view.evaluate("view.state.z") == 0


@pytest.mark.smoke
def test_naming_the_line_under_the_pointer_gives_the_redshift(view: Page) -> None:
    show(view, "galaxy")
    command(view, "z", 0)
    drag(view, 5100, 5500)
    view.mouse.click(*screen(view, 5008.24 * (1 + Z) + 1), button="right")
    menu = view.locator(".so-naming-list")
    menu.select_option(index=menu.locator("option").all_inner_texts().index(option_of(view, "[O III] 5007")))
    assert view.evaluate("view.state.z") == pytest.approx(Z, abs=3e-4)
    view.keyboard.press("Escape")
    assert view.evaluate("view.state.z") == 0
    assert menu.is_hidden()
    box = view.locator(".so-step").bounding_box()
    assert box
    view.mouse.click(box["x"] + box["width"] - 25, box["y"] + box["height"] - 50, button="right")
    place, around = view.locator(".so-naming").bounding_box(), view.locator(".so-view").bounding_box()
    assert place
    assert around
    assert around["x"] <= place["x"] <= around["x"] + around["width"] - place["width"]
    assert place["y"] + place["height"] <= 900


def option_of(view: Page, name: str) -> str:
    texts = view.locator(".so-naming-list option").all_inner_texts()
    return next(text for text in texts if text.startswith(name))


# Zoom


@pytest.mark.smoke
def test_zoom_survives_every_other_control(view: Page) -> None:
    show(view, "cv")
    drag(view, 4600, 5200)
    drag(view, 6500, 6600, panel="step")
    before = shown_range(view), shown_range(view, "step")
    assert before[0] == pytest.approx([4600, 5200], abs=20)
    for name in (
        "smooth+",
        "smooth+",
        "error",
        "lines",
        "linelist",
        "sky",
        "unit",
        "smooth-",
        "normalised",
        "normalised",
        "brush",
        "brush",
    ):
        command(view, name)
    command(view, "z", 0.0001)
    view.evaluate("view.setTheme('dark')")
    view.evaluate("view.update({ windows: view.item.windows.slice(0, 2) })")
    assert (shown_range(view), shown_range(view, "step")) == before
    command(view, "reset")
    assert shown_range(view)[0] < 3800
    drag(view, 4600, 5200)
    show(view, "galaxy")
    low, high = shown_range(view)
    assert low < 3900 < 9000 < high


def test_the_flux_range_follows_the_wavelengths_shown_until_a_person_sets_it(view: Page) -> None:
    show(view, "cv")
    whole = view.evaluate("view.full.gd.layout.yaxis.range")
    drag(view, 7000, 8000)
    assert view.evaluate("view.full.gd.layout.yaxis.range")[1] < whole[1]
    view.evaluate("Plotly.relayout(view.full.gd, { 'yaxis.range[0]': 1, 'yaxis.range[1]': 2 })")
    command(view, "smooth+")
    assert view.evaluate("view.full.gd.layout.yaxis.range") == [1, 2]
    command(view, "reset")
    assert view.evaluate("view.full.gd.layout.yaxis.range")[1] > 2


def test_the_wheel_zooms_about_the_pointer(view: Page) -> None:
    show(view, "cv")
    before = shown_range(view)
    view.mouse.move(*screen(view, 6563))
    view.mouse.wheel(0, -300)
    view.wait_for_function(
        "(width) => { const [a, b] = view.full.gd.layout.xaxis.range; return b - a < 0.7 * width }",
        arg=before[1] - before[0],
    )
    low, high = shown_range(view)
    assert (6563 - low) / (high - low) == pytest.approx((6563 - before[0]) / (before[1] - before[0]), abs=0.01)


def test_selecting_a_step_out_of_view_brings_it_into_view(view: Page) -> None:
    show(view, "cv")
    drag(view, 7000, 8000)
    view.evaluate("view.select('s4', { zoomTo: true })")
    low, high = shown_range(view)
    assert low < 4600 < 4800 < high
    assert shown_range(view, "step")[0] == pytest.approx(4600 - 0.03 * 200)


def test_a_drag_zooms_the_wavelengths_alone_and_with_ctrl_the_flux_too(view: Page) -> None:
    show(view, "spiked")
    command(view, "reset")
    (x0, y0), (x1, _) = screen(view, 5000), screen(view, 7000)
    whole = view.evaluate("view.full.gd.layout.yaxis.range")
    view.mouse.move(x0, y0)
    view.mouse.down()
    view.mouse.move(x1, y0 - 20, steps=4)
    assert view.locator(".so-full .so-brush").is_visible()
    view.mouse.up()
    assert shown_range(view) == pytest.approx([5000, 7000], abs=10)
    assert view.evaluate("view.full.gd.layout.yaxis.range")[0] < 99, "the data are still shown"
    assert view.locator(".so-full .so-brush").is_hidden()
    command(view, "reset")
    view.keyboard.down("Control")
    view.mouse.move(x0, y0 + 10)
    view.mouse.down()
    view.mouse.move(x1, y0 - 10, steps=4)
    view.mouse.up()
    view.keyboard.up("Control")
    low, high = view.evaluate("view.full.gd.layout.yaxis.range")
    per_pixel = (whole[1] - whole[0]) / view.evaluate("view.full.geometry.height")
    assert high - low == pytest.approx(20 * per_pixel, rel=0.1)
    view.mouse.dblclick(*screen(view, 6000))
    assert shown_range(view)[0] == pytest.approx(4000, abs=5)


def test_a_finger_can_scroll_the_page_over_a_plot_and_drag_across_it(view: Page) -> None:
    show(view, "cv")
    actions = """(panel) => [panel.host, ...panel.host.querySelectorAll('.so-plot *')].map(
      (element) => getComputedStyle(element).touchAction)"""
    assert set(view.evaluate(f"({actions})(view.full)")) == {"pan-y pinch-zoom"}
    command(view, "brush")
    assert set(view.evaluate(f"({actions})(view.full)")) == {"none"}


def test_a_spectrum_beyond_the_optical_opens_on_the_wavelengths_of_the_task(view: Page) -> None:
    show(view, "wide")
    assert shown_range(view) == pytest.approx([3700, 9300])
    assert view.locator(".so-readout").inner_text() == "above: 3700 – 9300\u202fÅ of 1141 – 300111\u202fÅ"
    view.locator(".so-more").click()
    reset = view.locator(".so-menu button", has_text="show all")
    assert "1141 – 300111" in (reset.get_attribute("title") or "")
    reset.click()
    assert shown_range(view) == pytest.approx([1141, 300111])
    view.locator(".so-more").click()
    view.locator(".so-menu button", has_text="zoom out").click()
    assert shown_range(view) == pytest.approx([3700, 9300])
    drag(view, 5000, 6000)
    command(view, "reset")
    assert shown_range(view) == pytest.approx([3700, 9300])


def test_the_last_wavelength_on_the_axis_is_not_cut(view: Page) -> None:
    view.set_viewport_size({"width": 390, "height": 900})
    show(view, "wide")
    command(view, "reset")
    for panel_range in (None, [3000, 10000], [200000, 300000]):
        view.evaluate("(range) => { view.full.setRange(range); view.command('smooth', 0) }", panel_range)
        view.wait_for_function("view.stale.size === 0")
        right = view.evaluate(
            """Math.max(...[...document.querySelectorAll('.so-full .xtick text')].map(
                 (label) => label.getBoundingClientRect().right))"""
        )
        box = view.locator(".so-full").bounding_box()
        assert box
        assert right <= box["x"] + box["width"]


@pytest.mark.smoke
def test_a_window_shows_all_of_its_pixels_and_the_whole_spectrum_marks_those_beyond_its_range(view: Page) -> None:
    show(view, "spiked")
    assert view.evaluate("view.step.gd.layout.yaxis.range")[1] > 900
    assert view.locator(".so-step .so-off-scale path").count() == 0
    assert view.evaluate("view.full.gd.layout.yaxis.range")[1] < 200
    view.locator(".so-full .so-off-scale path").hover()
    assert view.locator(".so-tip").inner_text() == "6560.00\u202fÅ observed: flux 900, beyond the drawn range"
    view.mouse.move(0, 0)
    assert view.locator(".so-tip").is_hidden()


def test_the_numbers_of_windows_are_below_the_data_and_do_not_overlap(view: Page) -> None:
    show(view, "crowded")
    boxes = view.locator(".so-full .so-badge").evaluate_all(
        "(all) => all.map((badge) => badge.getBoundingClientRect().toJSON())"
    )
    assert len(boxes) == 7
    lowest = """() => {
      const { full } = view
      const y = full.gd._fullLayout.yaxis
      const least = Math.min(...view.data.flux.filter(Number.isFinite)) * view.scene.scale
      return full.host.getBoundingClientRect().top + full.geometry.top + y.l2p(least)
    }"""
    assert all(box["top"] >= view.evaluate(lowest) - 2 for box in boxes)
    lefts = sorted(box["left"] for box in boxes)
    assert all(b - a >= 24 for a, b in pairwise(lefts))
    brackets = view.locator(".so-full .so-second path").bounding_box()
    assert brackets
    assert brackets["y"] <= min(box["top"] for box in boxes)
    assert view.locator(".so-full .so-second text").all_text_contents() == [
        "3" + "The other trajectory's step 3: 5800 – 5950\u202fÅ observed"
    ]


@pytest.mark.parametrize("width", [390, 1366])
def test_names_of_lines_are_whole_and_overlap_neither_each_other_nor_the_data(view: Page, width: int) -> None:
    view.set_viewport_size({"width": width, "height": 900 if width > 700 else 480})
    show(view, "names")
    for lines in ("few", "all"):
        command(view, "linelist", lines)
        for panel in ("full", "step"):
            boxes = view.locator(f".so-{panel} .so-name").evaluate_all(
                "(all) => all.map((name) => name.getBoundingClientRect().toJSON())"
            )
            frame = view.evaluate(
                f"""() => {{
                  const {{ host, geometry, rows }} = view.{panel}
                  const top = host.getBoundingClientRect().top + geometry.top
                  return [top, top + geometry.axisHeight + geometry.rows * 14 + 4]
                }}"""
            )
            assert all(frame[0] <= box["top"] + 4 and box["bottom"] <= frame[1] + 2 for box in boxes), (boxes, frame)
            for i, box in enumerate(boxes):
                for other in boxes[i + 1 :]:
                    assert (
                        box["right"] <= other["left"]
                        or other["right"] <= box["left"]
                        or box["bottom"] <= other["top"] + 3
                        or other["bottom"] <= box["top"] + 3
                    ), (lines, panel, box, other)


# Setting windows


@pytest.mark.smoke
def test_shift_and_drag_sets_the_selected_steps_window(view: Page) -> None:
    show(view, "cv")
    before = shown_range(view)
    drag(view, 5800, 5950, shift=True)
    calls = events(view, "window")
    assert [call["final"] for call in calls] == [False] * (len(calls) - 1) + [True]
    last = calls[-1]
    assert last["id"] == "s2"
    assert (last["lo"], last["hi"]) == pytest.approx((5800, 5950), abs=6)
    assert last["lo"] == round(last["lo"])
    assert shown_range(view) == before
    low, high = shown_range(view, "step")
    assert low < last["lo"] < last["hi"] < high


@pytest.mark.smoke
def test_a_rest_frame_step_gets_its_window_in_its_own_frame(view: Page) -> None:
    show(view, "galaxy")
    drag(view, 6600 * (1 + Z), 6700 * (1 + Z), shift=True)
    last = events(view, "window")[-1]
    assert (last["lo"], last["hi"]) == pytest.approx((6600, 6700), abs=6)


@pytest.mark.smoke
def test_an_edge_can_be_dragged_and_the_other_keeps_every_digit(view: Page) -> None:
    show(view, "cv")
    view.evaluate(
        "view.update({ windows: view.item.windows.map((w) => (w.id === 's2' ? { ...w, lo: 6450.123 } : w)) })"
    )
    drag(view, 6680, 6640, panel="step")
    last = events(view, "window")[-1]
    assert last["final"]
    assert last["lo"] == 6450.123
    assert last["hi"] == pytest.approx(6640, abs=1.5)


def test_dragging_the_number_of_the_selected_band_moves_the_whole_band(view: Page) -> None:
    show(view, "cv")
    box = view.locator(".so-full .so-badge.so-selected").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.mouse.move(x, y)
    view.mouse.down()
    view.mouse.move(x - 100, y, steps=4)
    view.mouse.up()
    last = events(view, "window")[-1]
    moved = 100 * view.evaluate("view.full.geometry.perPixel")
    assert last["lo"] == pytest.approx(6450 - moved, abs=2)
    assert last["hi"] - last["lo"] == pytest.approx(230, abs=2)


def test_brush_mode_needs_no_shift_and_ends_after_one_window(view: Page) -> None:
    show(view, "cv")
    command(view, "brush")
    assert view.evaluate("view.state.brush")
    drag(view, 4300, 4400)
    assert events(view, "window")[-1]["final"]
    assert not view.evaluate("view.state.brush")


def test_escape_cancels_a_drag_of_a_window_and_of_the_view(view: Page) -> None:
    show(view, "cv")
    before = shown_range(view)
    for keys in (("Shift",), ()):
        x, y = screen(view, 5800)
        for key in keys:
            view.keyboard.down(key)
        view.mouse.move(x, y)
        view.mouse.down()
        view.mouse.move(x + 60, y, steps=3)
        view.keyboard.press("Escape")
        view.mouse.up()
        for key in keys:
            view.keyboard.up(key)
    calls = events(view, "window")
    assert not any(call["final"] for call in calls)
    assert (calls[-1]["lo"], calls[-1]["hi"]) == (6450, 6680)
    assert shown_range(view) == before
    assert view.locator(".so-full .so-brush").is_hidden()


def test_arrow_keys_on_an_edge_move_it_by_pixels_of_the_data(view: Page) -> None:
    show(view, "air")
    view.locator(".so-step .so-edge.so-hi").focus()
    view.keyboard.press("ArrowRight")
    view.keyboard.press("Shift+ArrowLeft")
    assert [call["hi"] for call in events(view, "window")] == [6632, 6612]


@pytest.mark.smoke
def test_a_drag_over_a_locked_window_only_changes_the_view(view: Page) -> None:
    show(view, "locked")
    assert view.locator(".so-edge:visible").count() == 0
    drag(view, 5800, 5950, shift=True)
    assert events(view, "window") == []
    low, high = shown_range(view, "step")
    assert (low, high) == pytest.approx((5788, 5962), abs=8)


def test_clicking_a_band_or_its_number_selects_the_step(view: Page) -> None:
    show(view, "cv")
    view.mouse.click(*screen(view, 4700))
    view.locator(".so-full .so-badge", has_text="6").click()
    assert events(view, "select") == ["s4", "s6"]
    assert shown_range(view)[0] < 3800


# Smoothing and state


@pytest.mark.smoke
def test_smoothing_is_shown_in_pixels_and_velocity_and_raw_data_stay_visible(view: Page) -> None:
    show(view, "cv")
    for _ in range(3):
        command(view, "smooth+")
    smoothing = view.locator(".so-smoothing")
    assert smoothing.input_value() == "1.5"
    assert smoothing.get_attribute("title") == "Gaussian σ = 1.5 px (≈ 104\u202fkm/s)"
    assert view.evaluate("view.full.gd.data[1].x.length") > 0
    command(view, "smooth", 0)
    assert view.evaluate("view.full.gd.data[1].x.length") == 0


def test_the_page_gets_an_event_for_every_change_of_state(view: Page) -> None:
    show(view, "cv")
    command(view, "smooth+")
    choose(view, "sky")
    states = events(view, "state")
    assert states[0]["smoothing"] == 0.5
    assert states[1]["sky"] is False


# Layout and theme


def test_plots_fill_the_width_they_are_given(view: Page) -> None:
    show(view, "cv")
    for width in (500, 1300):
        view.set_viewport_size({"width": width, "height": 800})
        view.wait_for_function(
            "(width) => view.full.gd.layout.width === width - 24 && view.step.gd.layout.width === width - 24", arg=width
        )
        assert view.evaluate("document.documentElement.scrollWidth") <= width
        assert view.evaluate(
            """[...document.querySelectorAll('.so-controls > *')]
                 .every((control) => control.getBoundingClientRect().right <= innerWidth)"""
        )


def test_the_dark_theme_reaches_the_plots(view: Page) -> None:
    show(view, "cv")
    light = view.evaluate("view.full.gd.data[2].line.color")
    view.evaluate("view.setTheme('dark')")
    assert view.evaluate("view.full.gd.data[2].line.color") != light
    view.evaluate("view.setTheme('light')")
    assert view.evaluate("view.full.gd.data[2].line.color") == light
