"""What FITS files of many producers state is used, named as not used, or refused: on files made here."""

from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits

from agent.spectrum import SpectrumError, read, read_all
from agent.spectrum.readers.fits import FitsFile
from agent.spectrum.readers.pixels import spectrum as built
from agent.spectrum.readers.producers import PRODUCERS

N = 600
W = 4000.0 + 2.5 * np.arange(N)
NOISE = 0.3
FLUX = 10.0 + 30.0 * np.exp(-0.5 * ((W - 4861.0) / 4.0) ** 2) + np.random.default_rng(1).normal(0, NOISE, N)
SIGMA = NOISE * np.linspace(0.7, 1.3, N)
GOOD = np.arange(N) % 50 != 7


def file(path: Path, *hdus) -> Path:
    fits.HDUList([*hdus] if isinstance(hdus[0], fits.PrimaryHDU) else [fits.PrimaryHDU(), *hdus]).writeto(path)
    return path


def cards(hdu, **values):
    for key, value in values.items():
        hdu.header[key.replace("__", "-")] = value
    return hdu


def primary(**values):
    return cards(fits.PrimaryHDU(), **values)


def table(name: str = "", ver: int | None = None, units: dict | None = None, **columns):
    kinds = {"f": "D", "i": "K", "b": "L"}
    made = []
    for key, values in columns.items():
        array = np.asarray(values)
        size = "" if array.ndim == 1 else str(array.shape[1])
        made.append(fits.Column(key, size + kinds[array.dtype.kind], (units or {}).get(key), array=array))
    hdu = fits.BinTableHDU.from_columns(made, name=name)
    return cards(hdu, **({"EXTVER": ver} if ver else {}))


def image(values, name: str = "", **values_of_cards):
    return cards(fits.ImageHDU(np.asarray(values), name=name), **values_of_cards)


@pytest.mark.parametrize(
    ("header", "not_used"),
    [
        ({"CDELT1": 1.0, "CD1_1": 2.5}, "card CDELT1 = 1.0"),
        ({"CDELT1": 2.5, "CD1_1": 2.5}, None),
        ({"CDELT1": 1.0, "PC1_1": 2.5, "PC1_2": 0.1}, "card PC1_2 = 0.1"),
    ],
)
def test_cards_of_the_axis_that_are_not_used_are_named(tmp_path, header, not_used):
    spectrum = read(file(tmp_path / "star.fits", cards(fits.PrimaryHDU(FLUX), CRVAL1=4000.0, **header)))
    np.testing.assert_array_equal(spectrum.wavelength, W)
    assert spectrum.meta.get("not_used") == not_used


@pytest.mark.parametrize(
    "header",
    [{"DC__FLAG": "1", "CTYPE1": "LINEAR"}, {"CUNIT1": "log(Angstrom)"}, {"CTYPE1": "WAVE-LOG"}, {"LOGLAM": True}],
)
def test_ten_to_the_power_of_the_axis_in_its_many_forms(tmp_path, header):
    spectrum = read(file(tmp_path / "a.fits", cards(fits.PrimaryHDU(FLUX), CRVAL1=3.6, CDELT1=1e-4, **header)))
    np.testing.assert_allclose(spectrum.wavelength, 10 ** (3.6 + 1e-4 * np.arange(N)), rtol=1e-12)


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("Angstroem", 1),
        ("0.1nm", 1),
        ("10**-10 m", 1),
        ("nanometers", 0.1),
        ("\u00c5", 1),
        ("microns", 1e-4),
        ("1e-9 m", 0.1),
    ],
)
def test_units_of_an_axis_in_their_spellings(tmp_path, unit, factor):
    hdu = cards(fits.PrimaryHDU(FLUX), CRVAL1=4000.0 * factor, CDELT1=2.5 * factor, CUNIT1="?" * len(unit.encode()))
    hdu.writeto(tmp_path / "a.fits")
    (tmp_path / "a.fits").write_bytes(
        (tmp_path / "a.fits").read_bytes().replace(b"?" * len(unit.encode()), unit.encode())
    )
    np.testing.assert_allclose(read(tmp_path / "a.fits").wavelength, W, rtol=1e-12)


@pytest.mark.parametrize("kind", ["WAVE-TAB", "VELO", "VOPT", "ZOPT", "RA---TAN"])
def test_an_axis_that_is_no_wavelength_is_refused_by_its_name(tmp_path, kind):
    with pytest.raises(SpectrumError, match=kind):
        read(file(tmp_path / "a.fits", cards(fits.PrimaryHDU(FLUX), CTYPE1=kind, CRVAL1=4000.0, CDELT1=2.5)))


def test_a_row_without_an_identifier_does_not_round_the_others(tmp_path):
    ids = np.array([39627835576420141, -1, 39627835576420142])
    columns = [fits.Column("TARGETID", "K", null=-1, array=ids)]
    path = file(tmp_path / "ids.fits", fits.BinTableHDU.from_columns(columns))
    with open(path, "rb") as stream:
        assert FitsFile(stream, "ids.fits", path.stat().st_size)[1].column("TARGETID").tolist() == ids.tolist()


@pytest.mark.parametrize(
    ("hdus", "facts"),
    [
        (
            [primary(DMODCLS="OneSpec"), table(wave=W, flux=FLUX, ivar=SIGMA**-2, mask=GOOD.astype(int))],
            ("PypeIt OneSpec", "vacuum", int((~GOOD).sum())),
        ),
        (
            [table("SPAT1", OPT_WAVE=W, OPT_COUNTS=FLUX, OPT_COUNTS_IVAR=SIGMA**-2, OPT_MASK=GOOD)],
            ("PypeIt spec1d", "vacuum", int((~GOOD).sum())),
        ),
        (
            [primary(TELESCOP="JWST"), table(WAVELENGTH=W, FLUX=FLUX, FLUX_ERROR=SIGMA, DQ=np.where(GOOD, 4, 5))],
            ("JWST", "vacuum", int((~GOOD).sum())),
        ),
        (
            [
                primary(TELESCOP="HST", SDQFLAGS=16),
                table(WAVELENGTH=W, FLUX=FLUX, ERROR=SIGMA, DQ=np.where(GOOD, 1, 16)),
            ],
            ("HST", "vacuum", int((~GOOD).sum())),
        ),
        (
            [primary(TELESCOP="HST"), table(WAVELENGTH=W, FLUX=FLUX, ERROR=SIGMA, DQ=~GOOD, DQ_WGT=GOOD.astype(int))],
            ("HST COS", "vacuum", int((~GOOD).sum())),
        ),
        (
            [table("1", WAVELENGTH=W, SIGNAL=FLUX, VAR=SIGMA**2, MASK=np.where(GOOD, 2, np.where(W > 4500, 64, 3)))],
            ("Euclid SIR", "vacuum", int((~GOOD).sum())),
        ),
        (
            [primary(MAPKEY="calspec"), table(WAVELENGTH=W, FLUX=FLUX, STATERROR=SIGMA, DATAQUAL=GOOD.astype(int))],
            ("CALSPEC", "vacuum", int((~GOOD).sum())),
        ),
        ([primary(INSTRUME="ESPRESSO"), table(WAVE=W, FLUX=FLUX)], ("ESPRESSO", "vacuum", 0)),
        ([table(WAVE=W, WAVE_AIR=W - 1, FLUX=FLUX)], ("ESPRESSO", "vacuum", 0)),
        ([primary(TELESCOP="FUSE"), table(WAVE=W / 4, FLUX=FLUX, ERROR=SIGMA)], ("FUSE", "vacuum", 0)),
        ([primary(TELESCOP="IUE"), table(WAVELENGTH=W, FLUX=FLUX)], ("a space telescope", "vacuum", 0)),
        ([table(WAVELENGTH=W / 3.0, FLUX=FLUX, units={"WAVELENGTH": "Angstrom"})], ("below 2000 Å", "vacuum", 0)),
    ],
)
def test_what_a_producer_means_is_known(tmp_path, hdus, facts):
    spectrum = read(file(tmp_path / "star.fits", *hdus))
    assert (spectrum.meta["medium_from"], spectrum.medium, int(spectrum.mask.sum())) == facts


def test_every_producer_says_something():
    for one in PRODUCERS:
        assert one.cards or one.columns or one.hdus or one.file, one.name
        assert one.medium or one.refused, one.name


def test_a_mask_of_unknown_meaning_that_flags_most_pixels_is_named_and_not_used(tmp_path):
    spectrum = read(file(tmp_path / "a.fits", table(wave=W, flux=FLUX, mask=GOOD.astype(int))))
    assert not spectrum.mask.any()
    assert "mask_from" not in spectrum.meta
    assert f"column mask (not 0 for {GOOD.sum()} of {N} pixels)" in spectrum.meta["not_used"]
    spectrum = read(file(tmp_path / "b.fits", table(wave=W, flux=FLUX, good=GOOD)))
    np.testing.assert_array_equal(spectrum.mask, ~GOOD)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "sigma") for name in ("ERR", "FLUX_ERROR", "eflux", "e_Flux", "dflux", "unc", "flux_unc", "STDDEV")),
        *((name, "sigma") for name in ("std", "sig", "error_flux", "fluxe", "uncertainty", "noise", "flux_sigma")),
        *((name, "variance") for name in ("var", "VARIANCE", "flux_var", "variance_flux")),
        *((name, "ivar") for name in ("ivar", "IVAR_FLUX", "inv_var", "inverse variance", "flux ivar")),
    ],
)
def test_errors_are_found_by_their_many_names(tmp_path, name, kind):
    values = {"sigma": SIGMA, "variance": SIGMA**2, "ivar": SIGMA**-2}[kind]
    spectrum = read(file(tmp_path / "a.fits", table(**{"wave": W, "flux": FLUX, name: values})))
    np.testing.assert_allclose(spectrum.ivar, SIGMA**-2, rtol=1e-12)
    assert spectrum.meta["errors_from"] == f"column {name} ({kind})"


def test_errors_in_another_unit_than_the_flux_are_converted_or_named(tmp_path):
    units = {"wave": "Angstrom", "flux": "mJy"}
    for unit, values, expected in (("Jy", SIGMA / 1e3, "sigma"), ("mJy2", SIGMA**2, "variance"), ("K", SIGMA, None)):
        made = table(wave=W, flux=FLUX, err=values, units=units | {"err": unit})
        spectrum = read(file(tmp_path / f"{unit}.fits", made))
        if expected:
            assert spectrum.meta["errors_from"] == f"column err ({expected})"
            np.testing.assert_allclose(spectrum.ivar**-0.5 / spectrum.flux, SIGMA / FLUX, rtol=1e-9)
        else:
            assert spectrum.errors == "estimated"
            assert "column err (K)" in spectrum.meta["not_used"]


def test_a_table_of_photometry_and_one_of_a_model_are_named_and_not_used(tmp_path):
    few = table("SED", WAVELENGTH=np.linspace(3500.0, 9000.0, 12), FLUX=np.ones(12))
    path = file(
        tmp_path / "a.fits", few, table("STAR", WAVELENGTH=W, FLUX=FLUX), table("MODEL", WAVELENGTH=W, FLUX=FLUX)
    )
    spectrum = read(path)
    assert len(spectrum) == N
    assert spectrum.meta["not_used"] == "HDU 1 SED; HDU 3 MODEL"


def test_several_tables_are_several_targets(tmp_path):
    one, two = (table("EXTRACT1D", n, WAVELENGTH=W * n, FLUX=FLUX) for n in (1, 2))
    found = list(read_all(file(tmp_path / "x1d.fits", one, two)))
    assert [spectrum.name for spectrum in found] == ["x1d.fits#EXTRACT1D-1", "x1d.fits#EXTRACT1D-2"]
    assert [spectrum.wavelength[0] for spectrum in found] == [4000.0, 8000.0]
    assert all("not_used" not in spectrum.meta for spectrum in found)


def test_a_row_with_its_first_wavelength_and_step(tmp_path):
    rows = {"WAVELENGTH": [1050.0, 1851.0], "DELTAW": [1.5, 2.5], "FLUX": [FLUX, 2 * FLUX], "SIGMA": [SIGMA, SIGMA]}
    found = list(
        read_all(
            file(
                tmp_path / "swp1.mxlo", primary(TELESCOP="IUE"), table("MELO", units={"WAVELENGTH": "ANGSTROM"}, **rows)
            )
        )
    )
    np.testing.assert_array_equal(found[1].wavelength, 1851.0 + 2.5 * np.arange(N))
    assert [spectrum.name for spectrum in found] == ["swp1.mxlo#0", "swp1.mxlo#1"]


def test_both_halves_of_a_deep2_spectrum_are_one(tmp_path):
    halves = [table(f"{kind}-{arm}", SPEC=[FLUX], LAMBDA=[W + at], IVAR=[SIGMA**-2])
              for kind in ("Bxspf", "Horne") for arm, at in (("B", 0.0), ("R", 1600.0))]  # fmt: skip
    spectrum = read(file(tmp_path / "spec1d.fits", *halves))
    assert (spectrum.wavelength[0], spectrum.wavelength[-1], len(spectrum)) == (4000.0, W[-1] + 1600.0, 2 * N)
    assert (spectrum.survey, spectrum.medium) == ("DEEP2", "air")
    assert spectrum.meta["not_used"] == "HDU 3 HORNE-B; HDU 4 HORNE-R"


def test_rows_of_columns_of_variable_length_keep_their_lengths(tmp_path):
    lengths = (N, N - 100)
    cells = {key: np.array([values[:n] for n in lengths], dtype=object)
             for key, values in (("WAVE", W), ("FLUX", FLUX), ("ERR", SIGMA))}  # fmt: skip
    columns = [fits.Column(key, "PD()", array=values) for key, values in cells.items()]
    found = list(read_all(file(tmp_path / "vla.fits", fits.BinTableHDU.from_columns(columns))))
    assert [len(spectrum) for spectrum in found] == list(lengths)
    np.testing.assert_array_equal(found[1].flux, FLUX[:-100])


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (("FLUX", "ERROR", "WAVELENGTH"), "sigma"),
        (("DATA", "STAT", "WAVE"), "variance"),
        (("SCI", "IVAR", "LAMBDA"), "ivar"),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_images_of_flux_errors_and_wavelengths_in_any_order(tmp_path, names, kinds, order):
    values = (FLUX, {"sigma": SIGMA, "variance": SIGMA**2, "ivar": SIGMA**-2}[kinds], W)
    path = file(tmp_path / "a.fits", *(image(values[n], names[n]) for n in order), image(FLUX, "CONTINUUM"))
    spectrum = read(path)
    np.testing.assert_array_equal(spectrum.wavelength, W)
    np.testing.assert_array_equal(spectrum.flux, FLUX)
    np.testing.assert_allclose(spectrum.ivar, SIGMA**-2)
    assert spectrum.meta["not_used"] == "HDU 4 CONTINUUM"


@pytest.mark.parametrize(("kind", "power"), [("sigma", 1), ("variance", 2), ("ivar", -2)])
def test_a_second_image_without_a_name_is_the_errors_if_it_agrees_with_the_scatter(tmp_path, kind, power):
    cards_of_axis = {"CRVAL1": 4000.0, "CDELT1": 2.5}
    first = cards(fits.PrimaryHDU(FLUX), **cards_of_axis)
    spectrum = read(file(tmp_path / "a.fits", first, image(SIGMA**power)))
    np.testing.assert_allclose(spectrum.ivar, SIGMA**-2)
    assert kind in spectrum.meta["errors_from"]
    spectrum = read(file(tmp_path / "b.fits", first.copy(), image(np.full(N, 500.0))))
    assert spectrum.errors == "estimated"
    assert spectrum.meta["not_used"] == "HDU 1"


def test_rows_of_wavelength_flux_and_error(tmp_path):
    rows = np.array([W / 1e4, FLUX, SIGMA])
    spectrum = read(file(tmp_path / "a.fits", cards(fits.PrimaryHDU(rows), XUNITS="um", YUNITS="Jy", NORDERS=1)))
    np.testing.assert_allclose(spectrum.wavelength, W)
    assert (spectrum.medium, spectrum.errors, spectrum.meta["flux_unit_in_file"]) == ("vacuum", "measured", "Jy")
    rest = cards(fits.PrimaryHDU(rows * [[1e4], [1], [1]]), CUNIT1="angstroms", CTYPE1="WAVEREST")
    assert read(file(tmp_path / "b.fits", rest)).frame == "rest"
    cube = np.array([[W, FLUX, SIGMA, GOOD], [W + 1000, FLUX, SIGMA, GOOD]])
    orders = list(read_all(file(tmp_path / "c.fits", fits.PrimaryHDU(cube))))
    assert [spectrum.wavelength[0] for spectrum in orders] == [4000.0, 5000.0]
    assert orders[0].meta["not_used"] == "row 4"
    with pytest.raises(SpectrumError, match="an image of 600 x 3 pixels"):
        read(file(tmp_path / "d.fits", fits.PrimaryHDU(np.array([FLUX, FLUX, FLUX]))))


def test_what_a_file_of_one_producer_is_that_holds_no_spectrum(tmp_path):
    with pytest.raises(SpectrumError, match="a MUSE source of ORIGIN"):
        read(file(tmp_path / "origin-1.fits", primary(ORIGIN="ORIGIN", ORIGIN_V="ORIGIN_1"), table(WAVE=W, FLUX=FLUX)))


def test_a_flux_that_no_spectrum_has_may_stand_where_it_has_no_weight():
    spectrum = built("a", W, np.where(GOOD, FLUX, 1e35), np.where(GOOD, 1.0, 0.0))
    assert spectrum.flux.max() < 100


@pytest.mark.parametrize("padding", [0.0, np.nan, -999.0])
def test_pixels_without_a_wavelength_are_left_out_and_counted(padding):
    wavelength = np.where((np.arange(N) < 7) | (np.arange(N) > N - 4), padding, W)
    spectrum = built("a", wavelength, FLUX, mask=~GOOD, model=FLUX)
    assert (len(spectrum), spectrum.meta["pixels_without_wavelength"]) == (N - 10, 10)
    np.testing.assert_array_equal(spectrum.flux, FLUX[7:-3])
    np.testing.assert_array_equal(spectrum.mask, ~GOOD[7:-3])
    with pytest.raises(SpectrumError, match="wavelengths in 3 of 600 pixels"):
        built("a", np.where(np.arange(N) < 3, W, padding), FLUX)


def test_pixels_of_one_wavelength_are_averaged_and_counted():
    order = np.sort(np.append(np.arange(N), [5, 5, 9]))
    flux = np.where(np.arange(order.size) == 6, FLUX[5] + 3.0, FLUX[order])
    spectrum = built("a", W[order], flux, np.ones(order.size))
    assert (len(spectrum), spectrum.meta["pixels_repeated"]) == (N, 3)
    assert spectrum.flux[5] == pytest.approx(FLUX[5] + 1.0)
    np.testing.assert_array_equal(spectrum.flux[6:], FLUX[6:])
    assert spectrum.ivar[5] == 1.0


@pytest.mark.parametrize("reverse", [False, True])
def test_overlapping_orders_are_cut_in_the_middle_of_their_overlap(reverse):
    starts = (4000.0, 4801.0, 5602.0, 7000.0)
    orders = [start + 2.5 * np.arange(400) for start in starts]
    wavelength = np.concatenate(orders[::-1] if reverse else orders)
    spectrum = built("a", wavelength, wavelength / 100.0, np.ones(wavelength.size))
    assert (np.diff(spectrum.wavelength) > 0).all()
    np.testing.assert_allclose(spectrum.flux, spectrum.wavelength / 100.0)
    assert spectrum.meta["pixels_of_overlaps"] == wavelength.size - len(spectrum) == 160
    with pytest.raises(SpectrumError, match="followed by"):
        built("a", np.concatenate([orders[0], orders[0] + 1.0]), np.ones(800))


def test_it_is_known_what_of_a_file_was_not_read(tmp_path):
    path = file(tmp_path / "a.fits", table("STAR", wave=W, flux=FLUX, extra=FLUX), image(FLUX, "OTHER"))
    with open(path, "rb") as stream:
        opened = FitsFile(stream, "a.fits", path.stat().st_size)
        for column in ("WAVE", "FLUX"):
            opened[1].column(column)
        assert opened.unread() == ["column extra of HDU 1 STAR", "HDU 2 OTHER"]


def test_a_card_that_continues_is_read_whole(tmp_path):
    hdu = cards(fits.PrimaryHDU(FLUX), CRVAL1=4000.0, CDELT1=2.5, OBJECT="a star " * 20)
    assert read(file(tmp_path / "a.fits", hdu)).ids["object"] == ("a star " * 20).strip()
