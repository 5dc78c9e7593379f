"""Tables in text, VOTable and Parquet: what a file states is used, or named, or the file is refused."""

import io
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.table import MaskedColumn, Table

from agent.spectrum import SeveralSpectra, SpectrumError, read, read_all
from agent.spectrum.readers import opened, text

N = 200
W = 4000.0 + 2.5 * np.arange(N)
FLUX = 10.0 + np.random.default_rng(1).normal(0, 0.3, N)
SOURCE = 5937083312263887617  # as a float it would be …616


def rows(*columns, join=",") -> str:
    return "\n".join(join.join(map(str, row)) for row in zip(*columns, strict=True)) + "\n"


def put(path: Path, content: str | bytes, encoding: str = "utf-8") -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def by_astropy(table: Table, form: str, **options) -> str:
    stream = io.StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table.write(stream, format=form, **options)
    return stream.getvalue()


def refusal(path: Path) -> str:
    with pytest.raises(SpectrumError) as caught:
        read(path)
    return str(caught.value)


NAMED = rows(W / 10, FLUX, np.full(N, 0.3), join="\t")


@pytest.mark.parametrize(
    "content",
    [
        "Wavelength (nm)\tFlux (mJy)\tError (mJy)\n" + NAMED,
        "Wavelength (nm)  Flux (mJy)  Error (mJy)\n" + NAMED.replace("\t", " "),
        "wavelength,flux,error\nnm,mJy,mJy\n" + NAMED.replace("\t", ","),
        "wavelength flux error\n(nm) (mJy) (mJy)\n" + NAMED,
        "# Wavelength (nm) Flux [mJy] stddev\n" + NAMED,
        "# wave flux unc\n# nm mJy mJy\n" + NAMED,
        "wavelength_nm;flux_mJy;flux_err_mJy\n" + NAMED.replace("\t", ";"),
        "| wave [nm] | flux [mJy] | rms |\n|---|---|---|\n"
        + NAMED.replace("\t", "|").replace("\n", "|\n").replace("\n4", "\n|4"),
        "=== === ===\nwave[nm] flux[mJy] err\n=== === ===\n" + NAMED,
    ],
)
def test_names_with_units_and_lines_of_units(tmp_path, content):
    found = read(put(tmp_path / "a.txt", content))
    np.testing.assert_allclose(found.wavelength, W)
    assert (found.errors, found.meta["flux_unit_in_file"]) == ("measured", "mJy")
    np.testing.assert_allclose(found.flux * np.sqrt(found.ivar), FLUX / 0.3)


def test_a_unit_without_brackets_in_a_comment(tmp_path):
    found = read(put(tmp_path / "a.dat", "# lambda (A)  Flam W/m^2/A\n" + rows(W, FLUX, join=" ")))
    assert (found.flux_unit, found.meta["axis_from"]) == ("W/m^2/A", "column lambda (A)")


def test_every_further_column_of_numbers_is_named_and_facts_of_the_source_are_used(tmp_path):
    names = ",source_id,wavelength,flux,unc,sky,z,ra,note\n"
    one = np.full(N, 1)
    columns = (range(N), SOURCE * one, W, FLUX, 0.3 * one, W, 0.125 * one, np.arange(N), ["a b"] * N)
    found = read(put(tmp_path / "a.csv", names + rows(*columns)))
    assert (found.ids, found.redshift, found.ra) == ({"source_id": str(SOURCE)}, 0.125, None)
    assert found.meta == {
        "read_as": "text table",
        "axis_from": "column wavelength",
        "flux_from": "column flux",
        "errors_from": "column unc (sigma)",
        "not_used": "column sky; column ra",
        "medium_assumed": True,
    }


def test_of_columns_of_one_name_the_first_is_used(tmp_path):
    found = read(put(tmp_path / "a.csv", "wave,flux,wave,flux\n" + rows(W, FLUX, W + 1, -FLUX)))
    np.testing.assert_allclose(found.flux, FLUX)
    assert found.meta["not_used"] == "column wave (2); column flux (2)"


def test_an_error_without_a_name_may_be_missing_for_some_pixels(tmp_path):
    sigma = np.where(np.arange(N) == 7, np.nan, np.linspace(0.2, 0.4, N))
    found = read(put(tmp_path / "a.txt", rows(W, FLUX, sigma, join=" ")))
    assert (found.errors, np.flatnonzero(found.ivar == 0).tolist()) == ("measured", [7])


@pytest.mark.parametrize(
    ("column", "unit", "values", "medium"),
    [
        ("frequency", "THz", 2.99792458e6 / W, "vacuum"),
        ("energy", "eV", 12398.419843320026 / W, "vacuum"),
        ("wavenumber", "1 / cm", 1e8 / W, "vacuum"),
        ("loglam", "", np.log10(W), "air"),
        ("lnlam", "", np.log(W), "air"),
        ("wave", "vacuum Angstrom", W, "vacuum"),
    ],
)
@pytest.mark.parametrize("form", ["ascii.ecsv", "votable", "parquet"])
def test_axes_of_other_kinds(tmp_path, column, unit, values, medium, form):
    table = Table({column: values, "flux": FLUX})
    if unit:
        table[column].unit = unit if form != "votable" or "vacuum" not in unit else "Angstrom"
        table[column].description = unit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table.write(tmp_path / "a", format=form)
    found = read(tmp_path / "a")
    np.testing.assert_allclose(found.wavelength, W)
    np.testing.assert_allclose(found.flux, FLUX)
    assert (found.medium, found.meta.get("medium_assumed")) == (medium, True if medium == "air" else None)


@pytest.mark.parametrize("delimiter", [" ", ","])
def test_an_ecsv_table_with_masks_truth_values_and_words(tmp_path, delimiter):
    masked = np.arange(N) % 20 == 5
    table = Table({"wavelength": W, "flux": MaskedColumn(FLUX, mask=masked), "ivar": np.full(N, 4.0)})
    table["mask"], table["note"] = np.arange(N) == 3, ["two words"] * N
    table["flux"].description = "a text\nthat needs several lines, " * 5
    found = read(put(tmp_path / "a.ecsv", by_astropy(table, "ascii.ecsv", delimiter=delimiter)))
    assert np.flatnonzero(found.ivar == 0).tolist() == np.flatnonzero(masked).tolist()
    assert (np.flatnonzero(found.mask).tolist(), found.meta["mask_from"]) == ([3], "column mask (not 0 = bad)")


@pytest.mark.parametrize(
    ("form", "read_as"),
    [("ascii.mrt", "AAS machine-readable table (MRT)"), ("ascii.ipac", "IPAC table"), ("ascii.rst", "text table")],
)
def test_tables_that_other_programs_write(tmp_path, form, read_as):
    table = Table({"wavelength": W, "flux": FLUX, "e_flux": np.full(N, 0.5)})
    table["wavelength"].unit, table["wavelength"].description = "Angstrom", "in vacuum"
    found = read(put(tmp_path / "a.txt", by_astropy(table, form)))
    np.testing.assert_allclose(found.wavelength, W)
    np.testing.assert_allclose(found.ivar, 4.0)
    assert found.meta["read_as"] == read_as
    assert found.medium == ("vacuum" if form == "ascii.mrt" else "air")  # the others keep no description


@pytest.mark.parametrize(
    ("form", "name", "part"),
    [
        ("ascii.mrt", "AAS machine-readable table (MRT)", "F6.1"),
        ("ascii.ipac", "IPAC table", "double|"),
        ("ascii.ecsv", "ECSV table", "datatype: float64}"),
    ],
)
def test_a_damaged_or_huge_table_of_a_known_form_is_refused_by_its_name(tmp_path, form, name, part, monkeypatch):
    content = by_astropy(Table({"wavelength": W, "flux": FLUX}), form)
    assert f"found {name} that cannot be read: " in refusal(put(tmp_path / "broken", content.replace(part, "?:{")))
    monkeypatch.setattr(text, "MAX_ASTROPY", 1000)
    assert f"found {name} of " in refusal(put(tmp_path / "huge", content.replace("datatype: float64}", "?:{")))


def test_a_column_that_tells_spectra_apart_gives_one_target_for_each_value(tmp_path):
    content = "id,wave,flux\n" + rows([SOURCE] * N, W, FLUX) + rows([7] * N, W, 2 * FLUX)
    first, second = read_all(put(tmp_path / "a.csv", content))
    assert (first.name, first.ids, second.ids) == (f"a.csv#{SOURCE}", {"id": str(SOURCE)}, {"id": "7"})
    np.testing.assert_allclose(second.flux, 2 * FLUX)
    content = "instrument_id,wave,flux\n" + rows(["B/1"] * N, W[::-1], FLUX) + rows(["R"] * N, W[::-1], 2 * FLUX)
    assert read(put(tmp_path / "b.csv", content), "B_1").meta.get("not_used") is None


@pytest.mark.parametrize("name", ["order", "ECHELLE_ORDER"])
def test_orders_are_one_spectrum(tmp_path, name):
    content = f"{name},wave,flux\n" + rows([1] * N, W, FLUX) + rows([2] * N, W + 450, FLUX)
    found = read(put(tmp_path / "a.csv", content))
    assert (found.meta["pixels_of_overlaps"], found.meta["not_used"]) == (20, f"column {name}")


@pytest.mark.parametrize("form", ["ascii.ecsv", "votable", "csv"])
def test_rows_of_arrays_are_spectra(tmp_path, form):
    table = Table({"object": ["x", "y"], "wave": [W, W], "flux": [FLUX, 3 * FLUX]})
    if form == "csv":
        cells = [[name, f'"{wave.tolist()}"', f'"{flux.tolist()}"'] for name, wave, flux in table.iterrows()]
        put(tmp_path / "a", "object,wave,flux\n" + "\n".join(map(",".join, cells)))
    else:
        table.write(tmp_path / "a", format=form)
    with pytest.raises(SeveralSpectra):
        read(tmp_path / "a")
    second = read(tmp_path / "a", "1")
    np.testing.assert_allclose(second.flux, 3 * FLUX)
    assert second.ids == {"object": "y"}


def test_a_column_of_a_flat_parquet_table_may_tell_spectra_apart(tmp_path):
    columns = {
        "targetid": [SOURCE] * N + [2] * N,
        "wave": np.tile(W, 2),
        "flux": np.tile(FLUX, 2),
        "sky": np.tile(W, 2),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert [s.ids["targetid"] for s in read_all(tmp_path / "a.parquet")] == [str(SOURCE), "2"]
    assert read(tmp_path / "a.parquet", SOURCE).meta["not_used"] == "column sky"


def gaiaxpy(sampling=None, size=343) -> Table:
    table = Table(
        {"source_id": [SOURCE, 5], "flux": np.full((2, size), 2e-17), "flux_error": np.full((2, size), 1e-18)}
    )
    if sampling is not None:
        table.meta["sampling"] = sampling.tolist()
    return table


@pytest.mark.parametrize("form", ["csv", "ecsv of GaiaXPy", "ascii.ecsv", "votable"])
def test_a_table_of_gaiaxpy_has_a_source_per_row(tmp_path, form):
    own = np.linspace(400.0, 900.0, 51)
    if form in ("csv", "ecsv of GaiaXPy"):
        cells = [
            [str(one), f'"{tuple(flux.tolist())}"', f'"{tuple(errors.tolist())}"']
            for one, flux, errors in gaiaxpy().iterrows()
        ]
        header = (
            "# %ECSV 1.0\n# ---\n# datatype:\n# -\n#   name: source_id\n#   datatype: long\n"
            if "GaiaXPy" in form
            else ""
        )
        put(tmp_path / "a", header + "source_id,flux,flux_error\n" + "\n".join(map(",".join, cells)))
        expected = np.arange(3360.0, 10201.0, 20.0)
    else:
        gaiaxpy(own, own.size).write(tmp_path / "a", format=form)
        if form == "votable":
            param = f'<PARAM name="sampling" datatype="double" arraysize="*" value="{" ".join(map(str, own))}"/>'
            put(tmp_path / "a", (tmp_path / "a").read_bytes().replace(b"<DATA>", param.encode() + b"<DATA>"))
        expected = own * 10
    with opened(tmp_path / "a") as targets:
        assert targets.names == (str(SOURCE), "5")
        found = targets.read(str(SOURCE))
    np.testing.assert_allclose(found.wavelength, expected)
    np.testing.assert_allclose(found.ivar, 1e36)
    assert (found.medium, found.survey, found.flux_unit) == ("vacuum", "Gaia XP", "W m-2 nm-1")
    assert found.ids == {"gaia_dr3": str(SOURCE)}


def test_a_table_of_gaiaxpy_without_its_wavelengths_is_refused(tmp_path):
    path = put(tmp_path / "a.ecsv", by_astropy(gaiaxpy(size=51), "ascii.ecsv"))
    assert "51 fluxes of a source of Gaia, and 343 wavelengths" in refusal(path)


def test_columns_about_a_source_do_not_make_other_samples_gaia(tmp_path):
    columns = (np.full(N, SOURCE), W, FLUX, np.full(N, 0.3))
    found = read(put(tmp_path / "a.csv", "source_id,wavelength,flux,flux_error\n" + rows(*columns)))
    assert (found.survey, found.wavelength[0], found.ids) == ("", 4000.0, {"source_id": str(SOURCE)})


def test_gaia_datalink_with_further_columns(tmp_path):
    axis = np.arange(336.0, 1021.0, 2.0)
    one = np.ones(axis.size, int)
    columns = (SOURCE * one, 1 * one, 251.5 * one, -51.5 * one, axis, 1e-17 * one, 1e-18 * one)
    content = "source_id,solution_id,ra,dec,wavelength,flux,flux_error\n" + rows(*columns)
    found = read(put(tmp_path / "XP.csv", content))
    assert (found.wavelength[0], found.medium, found.survey, found.ra) == (3360.0, "vacuum", "Gaia XP", 251.5)
    assert (found.ids, found.meta["not_used"]) == ({"gaia_dr3": str(SOURCE)}, "column solution_id")


@pytest.mark.parametrize(
    ("comment", "medium", "source"),
    [
        ("# Wavelengths in vacuum, heliocentric", "vacuum", '"Wavelengths in vacuum, heliocentric"'),
        ("# medium: air", "air", "medium"),
        ("# medium: vacuum (assumed)", "vacuum", None),
        ("# TELESCOP= 'HST     '           / telescope", "vacuum", "a space telescope"),
        ("# observed at airmass 1.2, wavelength calibration with HeNe", "air", None),
        ("# vacuum wavelengths were converted to air", "air", None),
        ("# survey: SDSS", "vacuum", "SDSS"),
    ],
)
def test_what_a_comment_says_of_the_medium(tmp_path, comment, medium, source):
    found = read(put(tmp_path / "a.txt", f"{comment}\n" + rows(W, FLUX, join=" ")))
    assert (found.medium, found.meta.get("medium_from")) == (medium, source)
    assert found.meta.get("medium_assumed") == (True if source is None else None)


SNID = "    4 1024   2500.00  10000.00     10     sn2005kl      -9.99  Ic-norm     3  2\n"
BINS = np.full(N, 16.0)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (rows(W, FLUX, join=" ").encode("utf-16"), "a text in UTF-16"),
        (rows(W, FLUX, join=" ").encode("utf-16-le"), "a text in UTF-16"),
        (rows(W, FLUX, join=" ").encode("utf-16-be"), "a text in UTF-16"),
        (rows(W, FLUX, join=";").replace(".", ","), "numbers with decimal commas"),
        ("wave\tflux\n" + rows(W, FLUX, join="\t").replace(".", ","), "numbers with decimal commas"),
        (rows(range(4000, 4000 + N), FLUX, join=" ").replace(".", ","), "numbers with decimal commas"),
        (SNID + "     10  8       1.16741  8       0.62519\n", "a template of SNID"),
        (rows(3200 + 16 * np.arange(N), 12 + 0.01 * np.arange(N), BINS, join=" "), "magnitude and width of bins"),
        (rows(3200 + 50 * np.arange(N), 12 + 0.01 * np.arange(N), BINS, join=" "), "magnitude and width of bins"),
        ("# wave [A] flux [mag]\n" + rows(W, FLUX, join=" "), "a flux in 'mag'"),
        ("wave,flux\n" + rows(W, ["a"] * N), "a column flux that is not numbers"),
        ("wave,flux\n" + rows(W, [*FLUX[1:], "a"]), f"'a' in line {N + 1}, column 2"),
        ('wave,flux\n"[4000, x]","[1, 2]"\n', "arrays in cells that are not numbers"),
    ],
)
def test_what_is_no_spectrum_is_refused_by_what_it_is(tmp_path, content, found):
    assert found in refusal(put(tmp_path / "a.dat", content))


def test_tables_of_a_votable_are_spectra_of_their_names(tmp_path):
    from astropy.io.votable import from_table
    from astropy.io.votable.tree import VOTableFile

    whole: VOTableFile = from_table(Table({"wave": W, "flux": FLUX}), table_id="blue")
    other = from_table(Table({"wave": W, "flux": 2 * FLUX, "sky": FLUX}), table_id="red")
    whole.resources.append(other.resources[0])
    whole.to_xml(str(tmp_path / "a.vot"))
    blue, red = read_all(tmp_path / "a.vot")
    assert (blue.name, red.name, red.meta["not_used"]) == ("a.vot#blue", "a.vot#red", "column sky")
