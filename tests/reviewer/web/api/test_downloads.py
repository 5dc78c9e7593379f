"""Downloads of a spectrum: what is in them, who gets them, and that our own reader reads the tables back."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table
from fastapi.testclient import TestClient
from PIL import Image

from agent.simulate import simulate
from agent.spectrum import Spectrum, SpectrumError, read
from agent.spectrum.table import Window, flux_unit, written
from agent.trajectory import Answer, Think
from reviewer.figures import figure
from reviewer.pictures import windows_of
from reviewer.rules.campaign import Rules
from reviewer.store import Store
from tests.reviewer.web.conftest import a_trace, a_zoom, client_of

pytestmark = pytest.mark.usefixtures("without_page")

WINDOW = [6500, 6630]
NAME = 'CV "J0001"\r\nX: y; 光.fits'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An item whose spectrum tells its class, in the batch "all CVs"."""
    spectrum = replace(simulate("cv", "SDSS", 20.0, 1), name=NAME, catalogue_class="POLAR 7", ids={"obsid": "77"})
    steps = (
        Think("s1", "First the disc emission."),
        a_zoom(spectrum, "s2", {"wavelength_range": WINDOW, "label": "Hα of a CV"}),
        Answer("s3", "YES", "disc emission"),
    )
    with Store.open(tmp_path / "annotations.db") as store:
        for initials, roles in (("RV", ["reviewer"]), ("CO", ["coordinator"])):
            store.accounts.add_person(initials, f"Person {initials}", roles)
        store.settings.set_rules(None, Rules())
        store.items.add(a_trace(spectrum, *steps), store.spectra.add(spectrum), batch="all CVs")
        yield store


@pytest.fixture
def client(store: Store) -> TestClient:
    return client_of(store, "RV")


def test_the_figure_comes_in_three_formats_with_and_without_a_window(client: TestClient) -> None:
    address = "/api/v1/item/1/figure"
    whole, part = (client.get(f"{address}.png", params=span) for span in ({}, {"lo": 6500, "hi": 6630}))
    heights = [Image.open(io.BytesIO(answer.content)).height for answer in (whole, part)]
    assert heights[1] > 1.5 * heights[0]
    assert part.headers["content-disposition"] == 'attachment; filename="CV_J0001_X_y_.fits_figure.png"'
    assert client.get(f"{address}.pdf").content.startswith(b"%PDF")
    svg = client.get(f"{address}.svg", params={"lo": 6500, "hi": 6630}).text
    # Letters are outlines; matplotlib writes the text as a comment.
    assert "<!-- Wavelength (Å), observed frame, vacuum -->" in svg
    assert "<!-- Fλ (10⁻¹⁷ erg Å⁻¹ s⁻¹ cm⁻²) -->" in svg
    assert "<!-- 2 -->" in svg, "the window has the number of its step"
    outside = client.get(f"{address}.svg", params={"lo": 1, "hi": 2})
    assert (outside.status_code, "in 1 to 2 Å" in outside.json()["error"]) == (422, True)


def test_the_tables_are_read_by_astropy_with_units_and_by_our_own_reader(
    client: TestClient, store: Store, tmp_path: Path
) -> None:
    stored = store.spectra.get(store.items.get(1).row.spectrum_sha256 or "")
    for kind in ("csv", "ecsv"):
        answer = client.get(f"/api/v1/item/1/spectrum.{kind}")
        assert answer.headers["content-disposition"].endswith(f'_spectrum.{kind}"')
        (file := tmp_path / f"downloaded.{kind}").write_bytes(answer.content)
        table = Table.read(file, format="ascii.ecsv")
        assert len(table) == len(stored), "pixels without data are kept"
        assert str(table["flux"].unit) == "1e-17 erg / (Angstrom s cm2)"
        assert dict(table.meta)["windows"] == [{"step": 2, "from": 6500.0, "to": 6630.0}]
        assert (table.meta["ids"], table.meta["simulated"]) == ({"obsid": "77"}, True)
        assert_same(read(file), stored)


def assert_same(again: Spectrum, spectrum: Spectrum) -> None:
    for name in ("wavelength", "flux", "ivar", "mask"):
        assert np.array_equal(getattr(again, name), getattr(spectrum, name)), name
    for name in ("medium", "frame", "redshift", "errors", "ra", "dec", "flux_unit"):
        assert getattr(again, name) == getattr(spectrum, name), name
    for name in ("medium_assumed", "simulated"):
        assert again.meta.get(name) == spectrum.meta.get(name), name


@pytest.mark.parametrize("kind", ["csv", "ecsv"])
def test_what_is_assumed_or_estimated_stays_so_when_a_table_is_read_back(tmp_path: Path, kind: str) -> None:
    wavelength = np.linspace(1200.0, 1900.0, 300)
    plain = Spectrum(
        wavelength,
        np.sin(wavelength) + 3,
        medium="vacuum",
        frame="rest",
        name="a\n# medium: air",
        redshift=-0.001,
        ra=1.5,
        dec=-2.25,
        meta={"medium_assumed": True},
    )
    (file := tmp_path / f"plain.{kind}").write_bytes(written(plain, (), kind))  # type: ignore[arg-type]
    assert_same(read(file), plain)


def test_a_letter_that_means_another_unit_elsewhere_is_the_angstrom() -> None:
    assert str(flux_unit("erg/s/cm^2/A")) == "erg / (Angstrom s cm2)"
    assert flux_unit("relative") is flux_unit("adu") is flux_unit("") is None


@pytest.mark.parametrize("rule", [True, False], ids=["the batch's rule", "the person's switch"])
def test_a_hidden_item_gives_no_name_no_class_and_no_windows(client: TestClient, store: Store, rule: bool) -> None:
    if rule:
        store.settings.set("CO", "verdict_first", ["all CVs"])
    hidden = {} if rule else {"verdict_first": True}
    for file in ("figure.svg", "spectrum.csv", "spectrum.ecsv"):
        answer = client.get(f"/api/v1/item/1/{file}", params=hidden)
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith('attachment; filename="item_1_')
        assert re.findall(r"CV|J0001|POLAR|obsid|[Ss]imulated [A-Z]|step|<!-- 2 -->", answer.text) == []


def test_an_item_that_the_person_scores_blind_is_refused(
    client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.blind.scoring, "hidden_items", lambda person: frozenset({1}))
    for file in ("figure.png", "spectrum.csv"):
        assert client.get(f"/api/v1/item/1/{file}").status_code == 403
    monkeypatch.undo()
    assert client.get("/api/v1/item/1/spectrum.csv").status_code == 200
    assert client.get("/api/v1/item/1/figure.exe").status_code == 422
    assert client.get("/api/v1/item/2/figure.png").status_code == 404


def test_a_row_of_the_bench_and_a_run_give_the_same_files(client: TestClient) -> None:
    row = client.post("/api/v1/live/bench", json={"item": 1}).json()["id"]
    bench = f"/api/v1/live/bench/{row}"
    assert "windows: []" in client.get(f"{bench}/spectrum.csv").text
    assert client.get(f"{bench}/figure.pdf").content.startswith(b"%PDF")
    started = client.post("/api/v1/live/runs", json={"bench": row, "task": "cv", "policy": "baseline"}).json()["run"]
    client.get(f"/api/v1/live/runs/{started}/events")
    run = f"/api/v1/live/runs/{started}"
    zooms = [s for s in client.get(run).json()["traces"][0]["steps"] if s["kind"] == "zoom"]
    assert client.get(f"{run}/spectrum.ecsv").text.count("step: ") == len(zooms) > 0
    assert client.get(f"{run}/figure.svg", params={"lo": 6500, "hi": 6630}).status_code == 200
    assert client.get(f"{run}/figure.svg", params={"sample": 5}).status_code == 404


def test_windows_lie_in_the_wavelengths_of_the_spectrum() -> None:
    spectrum = replace(simulate("cv", "LAMOST", 20.0, 1), redshift=0.01)
    zoom = a_zoom(spectrum, "s1", {"wavelength_range": WINDOW})
    assert zoom.frame == "rest"
    ((step, lo, hi),) = windows_of([zoom], spectrum)
    assert (step, round(lo, 1), round(hi, 1)) == (1, 6565.0, 6696.3)
    assert windows_of([zoom], replace(spectrum, frame="rest")) == (Window(1, 6500.0, 6630.0),)


def test_a_figure_of_flagged_missing_and_few_pixels_can_be_drawn() -> None:
    wavelength = np.linspace(5000.0, 5100.0, 20)
    odd = Spectrum(
        wavelength, np.zeros(20), np.zeros(20), np.ones(20, bool), name="$\\bad_{$", flux_unit="$x", survey="测"
    )
    assert figure(odd, [Window(1, 1.0, 2.0), Window(2, 9000.0, 1.0)], "png", (5000.0, 5020.0)).startswith(b"\x89PNG")
    with pytest.raises(SpectrumError, match="fewer than two pixels"):
        figure(odd, (), "png", (5000.0, 5001.0))
