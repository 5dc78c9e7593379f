"""Readers of each file layout, on files made here from known numbers."""

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits
from astropy.table import Table

from agent.spectrum import SeveralSpectra, SpectrumError, read, read_all
from tests.support.inputs.spectra import lamost_medium

N = 400
LOGLAM = 3.5682 + 0.0001 * np.arange(N)
WAVELENGTH = 10.0**LOGLAM
FLUX = 100.0 + np.arange(N) % 7
IVAR = np.where(np.arange(N) == 5, 0.0, 0.25)


def write(path: Path, *hdus) -> Path:
    fits.HDUList(list(hdus)).writeto(path)
    return path


def primary(data=None, **cards) -> fits.PrimaryHDU:
    hdu = fits.PrimaryHDU(data)
    for key, value in cards.items():
        hdu.header[key.replace("__", "-")] = value
    return hdu


def image(name: str, data) -> fits.ImageHDU:
    return fits.ImageHDU(np.asarray(data), name=name)


def table(columns: dict, name: str = "") -> fits.BinTableHDU:
    hdu = fits.BinTableHDU(Table(columns))
    hdu.name = name
    return hdu


LAMOST = {
    "TELESCOP": "LAMOST",
    "DATA_V": "LAMOST DR7",
    "OBSID": 740103008,
    "DESIG": "LAMOST J103411.25+354245.6",
    "LMJD": 58575,
    "PLANID": "HD1",
    "SPID": 3,
    "FIBERID": 8,
    "RA": 158.5,
    "DEC": 35.7,
    "Z": 0.122579,
    "CLASS": "STAR",
    "SUBCLASS": "A0",
    "SNRU": 1.5,
    "SNRR": 9.5,
    "SNRZ": -9999.0,
    "VACUUM": True,
}


def lamost_image(path: Path, third=WAVELENGTH, **cards) -> Path:
    rows = np.array([FLUX, IVAR, third, np.arange(N) == 7, np.ones(N)], dtype=np.float32)
    layout = {"EXTEN0": "Flux, Inverse, Wavelength, Andmask, Ormask", "COEFF0": 3.5682, "COEFF1": 0.0001}
    return write(path, primary(rows, **(LAMOST | layout | cards)))


def test_lamost_five_row_image(tmp_path):
    spectrum = read(lamost_image(tmp_path / "spec-58575-HD1_sp03-008.fits"))
    np.testing.assert_allclose(spectrum.wavelength, WAVELENGTH, rtol=1e-7)
    np.testing.assert_array_equal(spectrum.flux, FLUX)
    np.testing.assert_array_equal(spectrum.ivar, IVAR)
    assert np.flatnonzero(spectrum.mask).tolist() == [7]
    assert spectrum.ids == {
        "obsid": "740103008",
        "designation": "J103411.25+354245.6",
        "lmjd-planid-spid-fiberid": "58575-HD1-3-8",
    }
    assert (spectrum.ra, spectrum.dec, spectrum.redshift) == (158.5, 35.7, 0.122579)
    assert spectrum.snr == {"u": 1.5, "r": 9.5}
    assert spectrum.catalogue_class == "STAR A0"
    assert spectrum.name == "spec-58575-HD1_sp03-008.fits"
    assert (spectrum.medium, spectrum.frame, spectrum.flux_unit, spectrum.survey) == (
        "vacuum",
        "observed",
        "relative",
        "LAMOST",
    )


def test_lamost_dr1_has_its_wavelengths_in_the_header(tmp_path):
    path = lamost_image(tmp_path / "a.fits", third=FLUX / 100, EXTEN0="Flux Inverse Subcontinuum Andmask Ormask")
    np.testing.assert_allclose(read(path).wavelength, WAVELENGTH, rtol=1e-12)


def test_lamost_coadd_table_gzipped_under_any_name(tmp_path):
    vector = {k: [np.asarray(v, np.float32)] for k, v in (("FLUX", FLUX), ("IVAR", IVAR), ("WAVELENGTH", WAVELENGTH))}
    vector |= {"ANDMASK": [np.zeros(N, np.float32)], "ORMASK": [np.ones(N, np.float32)]}
    plain = write(tmp_path / "a.fits", primary(**LAMOST), table(vector, "COADD"))
    packed = tmp_path / "a.fits.fits"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    spectrum = read(packed)
    np.testing.assert_array_equal(spectrum.flux, FLUX)
    assert not spectrum.mask.any()
    assert spectrum.redshift == 0.122579


@pytest.mark.parametrize("upper", [False, True])
def test_sdss_table_with_column_names_in_either_case(tmp_path, upper):
    and_mask = np.zeros(N, np.int32)
    and_mask[3], and_mask[4], and_mask[6] = 1 << 23, 1 << 2, 1 << 24  # BRIGHTSKY, BADFLAT, NODATA
    columns = {"flux": FLUX, "loglam": LOGLAM, "ivar": IVAR, "and_mask": and_mask}
    coadd = table({k.upper() if upper else k: v for k, v in columns.items()}, "COADD")
    row = {"CLASS": ["STAR"], "SUBCLASS": ["CV"], "Z": [0.001], "PLUG_RA": [10.0], "PLUG_DEC": [-5.0], "RA": [0.0]}
    row |= {"SN_MEDIAN_ALL": [12.5], "SN_MEDIAN": [[1.0, 2.0, 3.0, 4.0, 5.0]], "ZWARNING": [4], "PLATE": [266]}
    row |= {"MJD": [51602], "FIBERID": [13]}
    spectrum = read(write(tmp_path / "spec.fits", primary(), coadd, table(row, "SPALL")))
    np.testing.assert_allclose(spectrum.wavelength, WAVELENGTH, rtol=1e-12)
    np.testing.assert_array_equal(spectrum.ivar, IVAR)
    assert np.flatnonzero(spectrum.mask).tolist() == [3, 6]
    assert spectrum.snr == {"u": 1.0, "g": 2.0, "r": 3.0, "i": 4.0, "z": 5.0, "median": 12.5}
    assert (spectrum.catalogue_class, spectrum.redshift) == ("STAR CV", 0.001)
    assert (spectrum.ra, spectrum.dec) == (10.0, -5.0)
    assert spectrum.ids["plate-mjd-fiber"] == "266-51602-13"
    assert spectrum.flux_unit == "1e-17 erg s-1 cm-2 Å-1"


def test_sdss_v_table_names_its_target_by_sdss_id(tmp_path):
    coadd = table({"MODEL": FLUX, "FLUX": FLUX, "LOGLAM": LOGLAM, "IVAR": IVAR, "AND_MASK": np.zeros(N, int)}, "COADD")
    row = {
        "SDSS_ID": [123456],
        "CATALOGID": [987654321],
        "RACAT": [1.5],
        "DECCAT": [2.5],
        "Z": [-9999.0],
        "CLASS": [""],
    }
    spectrum = read(write(tmp_path / "spec-015143-59205-4544940698.fits", primary(), coadd, table(row, "SPALL")))
    assert spectrum.ids == {"sdss_id": "123456", "catalogid": "987654321"}
    assert (spectrum.ra, spectrum.dec, spectrum.redshift) == (1.5, 2.5, None)
    np.testing.assert_array_equal(spectrum.model, FLUX)


def test_sdss_spspec_image_has_errors_in_its_third_row(tmp_path):
    rows = np.array([FLUX, FLUX - 100, np.where(np.arange(N) == 2, 0, 2.0), np.zeros(N)], np.float32)
    cards = {"COEFF0": 3.5682, "COEFF1": 0.0001, "PLATEID": 355, "MJD": 51788, "FIBERID": 240, "Z": 0.5}
    spectrum = read(write(tmp_path / "spSpec.fit", primary(rows, **cards)))
    assert spectrum.ivar[2] == 0
    assert spectrum.ivar[3] == 0.25
    assert (spectrum.redshift, spectrum.frame) == (0.5, "observed")
    np.testing.assert_allclose(spectrum.wavelength, WAVELENGTH, rtol=1e-9)


def desi(path: Path, **without) -> Path:
    """Two targets and a sky fibre; neighbouring arms share two pixels; the last target is dead."""
    hdus = [primary(SURVEY="sv3", PROGRAM="dark")]
    hdus.append(
        table(
            {
                "TARGETID": [39627, 39628, -5, 39629],
                "TARGET_RA": [10.0, 11.0, 12.0, 13.0],
                "TARGET_DEC": [1.0] * 4,
                "OBJTYPE": ["TGT", "TGT", "SKY", "TGT"],
            },
            "FIBERMAP",
        )
    )
    for arm, start in (("B", 3600.0), ("R", 3600.0 + 0.8 * 98), ("Z", 3600.0 + 0.8 * 196)):
        ones = np.ones((4, 100))
        ivar = ones * {"B": 1.0, "R": 3.0, "Z": 1.0}[arm]
        ivar[3] = 0
        hdus.append(image(f"{arm}_WAVELENGTH", start + 0.8 * np.arange(100)))
        hdus.append(image(f"{arm}_FLUX", np.float32({"B": 2.0, "R": 6.0, "Z": 6.0}[arm] * ones)))
        hdus.append(image(f"{arm}_IVAR", np.float32(ivar)))
        mask = np.zeros((4, 100), np.uint32)
        mask[0, 99] = 8
        hdus.append(fits.CompImageHDU(mask.astype(np.int32), name=f"{arm}_MASK", compression_type="GZIP_1"))
    return write(path, *[h for h in hdus if h.name not in without.get("leave_out", ())])


def test_desi_targets_are_listed_merged_and_read_in_order(tmp_path):
    path = desi(tmp_path / "coadd.fits")
    with pytest.raises(SeveralSpectra) as caught:
        read(path)
    assert caught.value.targets == ("39627", "39628", "-5", "39629")
    spectrum = read(path, "39627")
    assert len(spectrum) == 296
    assert spectrum.flux[:98].tolist() == [2.0] * 98
    assert spectrum.flux[98] == pytest.approx((2 * 1 + 6 * 3) / 4)
    assert spectrum.ivar[98] == 4
    # A merged pixel is flagged only if every arm flags it: B's last pixel overlaps an unflagged R pixel.
    assert np.flatnonzero(spectrum.mask).tolist() == [295]
    assert (spectrum.ra, spectrum.ids, spectrum.name) == (10.0, {"targetid": "39627"}, "coadd.fits#39627")
    assert [s.ids["targetid"] for s in read_all(path)] == ["39627", "39628"]
    assert read(path, -5).meta["objtype"] == "SKY"
    with pytest.raises(SpectrumError, match="no pixel with data"):
        read(path, "39629")
    with pytest.raises(SpectrumError, match="expected a target 7"):
        read(path, "7")


@pytest.mark.parametrize("missing", ["Z_WAVELENGTH", "R_FLUX", "B_IVAR"])
def test_desi_files_without_an_arm_have_a_gap_and_say_so(tmp_path, missing):
    whole = read(desi(tmp_path / "whole.fits"), "39627")
    spectrum = read(desi(tmp_path / "coadd.fits", leave_out=(missing,)), "39627")
    assert spectrum.meta["arms_missing"] == missing[0]
    assert len(spectrum) < len(whole)
    assert set(spectrum.wavelength.round(3)) < set(whole.wavelength.round(3))


def test_desi_files_without_a_list_of_targets_or_any_arm_are_refused(tmp_path):
    with pytest.raises(SpectrumError, match="no FIBERMAP with TARGETID"):
        read(desi(tmp_path / "a.fits", leave_out=("FIBERMAP",)), "39627")
    with pytest.raises(SpectrumError, match="arms B, R, Z without FLUX or IVAR"):
        read(desi(tmp_path / "b.fits", leave_out=("B_FLUX", "R_FLUX", "Z_IVAR")), "39627")


def test_desi_arms_on_different_grids_are_refused_rather_than_interleaved(tmp_path):
    path = desi(tmp_path / "coadd.fits")
    with fits.open(path) as hdus:
        hdus["R_WAVELENGTH"].data += 0.3
        hdus.writeto(tmp_path / "shifted.fits")
    with pytest.raises(SpectrumError, match="interleave"):
        read(tmp_path / "shifted.fits", "39627")


def test_desi_exposures_of_one_target_are_averaged_by_ivar(tmp_path):
    hdus = [primary(), table({"TARGETID": [7, 7]}, "FIBERMAP")]
    for arm, start in (("B", 3600.0), ("R", 3680.0), ("Z", 3760.0)):
        hdus.append(image(f"{arm}_WAVELENGTH", start + 0.8 * np.arange(100)))
        hdus.append(image(f"{arm}_FLUX", np.outer([1.0, 5.0], np.ones(100))))
        hdus.append(image(f"{arm}_IVAR", np.outer([3.0, 1.0], np.ones(100))))
    spectrum = read(write(tmp_path / "spectra.fits", *hdus))
    np.testing.assert_allclose(spectrum.flux, 2.0)
    np.testing.assert_allclose(spectrum.ivar, 4.0)
    assert spectrum.meta["exposures"] == 2


def test_linear_and_logarithmic_images(tmp_path):
    path = write(tmp_path / "star.fits", primary(FLUX, CRVAL1=5000.0, CDELT1=2.0, CRPIX1=11.0))
    spectrum = read(path)
    assert spectrum.wavelength[[0, 10, -1]].tolist() == [4980.0, 5000.0, 4980.0 + 2 * (N - 1)]
    assert (spectrum.errors, spectrum.medium, spectrum.meta["medium_assumed"]) == ("estimated", "air", True)
    cards = {"CRVAL1": 3.5682, "CD1_1": 0.0001, "DC__FLAG": 1, "VACUUM": True, "OBJECT": "HD 1", "BUNIT": "adu"}
    spectrum = read(write(tmp_path / "log.fits", primary(FLUX, **cards)))
    np.testing.assert_allclose(spectrum.wavelength, WAVELENGTH, rtol=1e-12)
    assert (spectrum.medium, spectrum.flux_unit, spectrum.ids) == ("vacuum", "adu", {"object": "HD 1"})
    assert "medium_assumed" not in spectrum.meta
    path = write(tmp_path / "nm.fits", primary(FLUX, CRVAL1=400.0, CDELT1=0.1, CUNIT1="nm", CTYPE1="AWAV"))
    assert read(path).wavelength[0] == pytest.approx(4000.0)
    assert read(path).medium == "air"


def test_stelib_like_zero_ranges_hold_no_data_but_keep_their_pixels(tmp_path):
    flux = FLUX.copy()
    flux[:3], flux[100:150], flux[200] = 0, 0, 0
    cards = {"CRVAL1": 3200.0, "CDELT1": 1.0, "STARIDEN": "HD1", "ISEXTINC": 0.1, "SPECTYPE": "M2III"}
    spectrum = read(write(tmp_path / "s.fits", primary(flux, RA=" 5:30:00.0", DEC="-7:30:00.0", **cards)))
    assert len(spectrum) == N
    assert np.flatnonzero(spectrum.ivar == 0).tolist() == [0, 1, 2, *range(100, 150)]
    assert (spectrum.survey, spectrum.medium, spectrum.frame) == ("STELIB", "air", "rest")
    assert (spectrum.ra, spectrum.dec) == (82.5, -7.5)


def test_iraf_multispec_apertures_with_a_sigma_band(tmp_path):
    cube = np.stack([np.stack([FLUX, 2 * FLUX]), np.full((2, N), 4.0)])
    cards = {"WAT0_001": "system=multispec", "APNUM1": "12 1 1.0 2.0", "APNUM2": "14 2 3.0 4.0"}
    cards |= {"BANDID1": "spectrum - background fit", "BANDID2": "sigma - background fit"}
    cards["WAT2_001"] = 'wtype=multispec spec1 = "12 1 0 4000. 2. 400 0. 1. 2." '
    cards["WAT2_002"] = 'spec2 = "14 2 0 5000. 3. 400 0. 3. 4."'
    path = write(tmp_path / "m.fits", primary(cube, **cards))
    assert [s.wavelength[0] for s in read_all(path)] == [4000.0, 5000.0]
    second = read(path, "14")
    np.testing.assert_array_equal(second.flux, 2 * FLUX)
    assert set(second.ivar) == {1 / 16}


def marz(path: Path) -> Path:
    flux = np.stack([FLUX, 2 * FLUX, FLUX])
    flux[0, 10] = np.nan
    fibres = {"NAME": ["obj_a", "sky_1", "obj_b"], "TYPE": ["P", "S", "P"], "RA": [np.pi / 2, 0, 0], "DEC": [0.0] * 3}
    hdus = [primary(flux, CRVAL1=5000.0, CDELT1=1.0, CRPIX1=1.0), image("VARIANCE", np.full((3, N), 4.0))]
    return write(path, *hdus, image("SKY", np.zeros(N)), table(fibres, "FIBRES"))


def test_marz_objects_by_name_with_sky_fibres_left_out(tmp_path):
    path = marz(tmp_path / "field.fits")
    assert [s.ids["object"] for s in read_all(path)] == ["obj_a", "obj_b"]
    assert {(s.medium, s.meta["medium_assumed"]) for s in read_all(path)} == {("air", True)}
    first = read(path, "obj_a")
    assert first.ra == pytest.approx(90.0)
    assert first.ivar[9] == 0.25
    assert first.ivar[10] == 0
    assert first.flux[10] == pytest.approx((first.flux[9] + first.flux[11]) / 2)
    assert first.medium == "air"
    assert read(path, "sky_1").flux[0] == 200.0


def test_marz_wavelength_hdu_may_be_logarithmic(tmp_path):
    hdus = [primary(FLUX, VACUUM=True, LOGSCALE=True), image("VARIANCE", np.ones(N)), image("WAVELENGTH", LOGLAM)]
    spectrum = read(write(tmp_path / "log.fits", *hdus))
    np.testing.assert_allclose(spectrum.wavelength, WAVELENGTH, rtol=1e-12)
    assert spectrum.medium == "vacuum"


def test_fits_table_with_named_columns_and_a_unit(tmp_path):
    columns = {"wave": WAVELENGTH / 10, "flux": FLUX, "err": np.full(N, 2.0)}
    hdu = table(columns)
    hdu.header["TUNIT1"] = "nm"
    spectrum = read(write(tmp_path / "t.fits", primary(OBJECT="x"), hdu))
    np.testing.assert_allclose(spectrum.wavelength, WAVELENGTH)
    assert set(spectrum.ivar) == {0.25}
    assert (spectrum.errors, spectrum.medium, spectrum.meta["medium_assumed"]) == ("measured", "air", True)


def test_scaled_integer_columns_and_images_are_unscaled(tmp_path):
    columns = [
        fits.Column("wave", "D", array=WAVELENGTH),
        fits.Column("flux", "J", array=FLUX.astype(int)),
        fits.Column("mask", "L", array=np.arange(N) == 3),
    ]
    hdu = fits.BinTableHDU.from_columns(columns)
    hdu.header["XSCAL2"], hdu.header["XZERO2"] = 0.5, 10.0
    path = write(tmp_path / "t.fits", primary(), hdu)
    # Renamed in the bytes, because astropy would scale the numbers while it writes them.
    path.write_bytes(path.read_bytes().replace(b"XSCAL2", b"TSCAL2").replace(b"XZERO2", b"TZERO2"))
    with fits.open(path) as theirs:
        expected = np.asarray(theirs[1].data["flux"])
    spectrum = read(path)
    np.testing.assert_allclose(spectrum.flux, expected)
    np.testing.assert_allclose(spectrum.flux, 0.5 * FLUX + 10.0)
    assert np.flatnonzero(spectrum.mask).tolist() == [3]
    short = primary(np.arange(N, dtype=np.int16) + 5, CRVAL1=5000.0, CDELT1=1.0)
    path = write(tmp_path / "i.fits", short)
    raw = path.read_bytes().replace(b"EXTEND  =                    T", b"BZERO   =                100.5", 1)
    path.write_bytes(raw)
    np.testing.assert_allclose(read(path).flux, np.arange(N) + 105.5)


def test_calspec_is_vacuum(tmp_path):
    columns = {"WAVELENGTH": WAVELENGTH, "FLUX": FLUX, "STATERROR": np.ones(N)}
    spectrum = read(write(tmp_path / "vega.fits", primary(MAPKEY="calspec", TARGETID="VEGA"), table(columns, "SCI")))
    assert (spectrum.survey, spectrum.medium, spectrum.ids) == ("CALSPEC", "vacuum", {"object": "VEGA"})


def test_a_table_of_vectors_holds_one_spectrum_per_row(tmp_path):
    columns = {"wavelength": np.tile(WAVELENGTH, (2, 1)), "flux": np.stack([FLUX, 3 * FLUX])}
    path = write(tmp_path / "rows.fits", primary(), table(columns))
    with pytest.raises(SeveralSpectra):
        read(path)
    assert read(path, 1).flux[0] == 300.0


def lines(*columns, join=" ") -> str:
    return "\n".join(join.join(f"{v:.6f}" for v in row) for row in zip(*columns, strict=True)) + "\n"


def text(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def test_text_without_headings(tmp_path):
    two = read(text(tmp_path / "a.txt", lines(WAVELENGTH, FLUX)))
    how = {"read_as": "text table", "axis_from": "column 1", "flux_from": "column 2"}
    assert (two.errors, two.medium, two.meta) == ("estimated", "air", {"medium_assumed": True} | how)
    three = read(text(tmp_path / "b", lines(WAVELENGTH, FLUX, np.full(N, 2.0), join="\t")))
    assert set(three.ivar) == {0.25}
    assert three.errors == "measured"
    header = '*\n*   H Z 2 9\n*\nSET .Z.UNITS = "mjy"\n'
    spectrum = read(text(tmp_path / "hz29.oke", header + lines(WAVELENGTH, FLUX)))
    assert (len(spectrum), spectrum.meta["flux_unit_in_file"]) == (N, "mjy")
    rows = [f"{w:.3f} {f:.6E}".replace("E", "D") for w, f in zip(WAVELENGTH, FLUX, strict=True)]
    np.testing.assert_allclose(read(text(tmp_path / "a.txt", "\n".join(rows))).flux, FLUX)


@pytest.mark.parametrize(
    ("further", "not_used"),
    [
        ([-FLUX], "column 3"),
        ([np.gradient(WAVELENGTH)], "column 3 (width of bins)"),
        ([np.full(N, 300.0)], "column 3 (constant, 300)"),
        ([FLUX, FLUX], "columns 3 to 4"),
    ],
)
def test_columns_without_a_name_that_cannot_be_errors_are_said_to_be_not_used(tmp_path, further, not_used):
    found = read(text(tmp_path / "a.txt", lines(WAVELENGTH, FLUX, *further)))
    assert (found.errors, found.meta["not_used"]) == ("estimated", not_used)


def test_descending_wavelengths_are_reversed_with_all_other_columns(tmp_path):
    sigma = np.linspace(1, 2, N)
    path = text(tmp_path / "a.csv", "wave,flux,err\n" + lines(WAVELENGTH[::-1], FLUX, sigma, join=","))
    spectrum = read(path)
    np.testing.assert_allclose(spectrum.flux, FLUX[::-1])
    np.testing.assert_allclose(spectrum.ivar, 1 / sigma[::-1] ** 2, rtol=1e-5)


def test_csv_with_headings_windows_line_ends_a_byte_order_mark_and_empty_cells(tmp_path):
    rows = lines(WAVELENGTH, FLUX, join=",").splitlines()
    rows[4] = rows[4].split(",")[0] + ","
    path = tmp_path / "a.csv"
    path.write_bytes(("\ufeffWavelength,Flux\r\n" + "\r\n".join(rows)).encode("utf-8"))
    spectrum = read(path)
    assert len(spectrum) == N
    assert spectrum.ivar[4] == 0
    assert (spectrum.ivar[5:] > 0).all()


def test_skyserver_csv_is_vacuum(tmp_path):
    path = text(tmp_path / "a.csv", "Wavelength,Flux,BestFit,SkyFlux\n" + lines(WAVELENGTH, FLUX, FLUX, FLUX, join=","))
    assert (read(path).survey, read(path).medium) == ("SDSS", "vacuum")


def test_ecsv_units_are_applied(tmp_path):
    data = Table({"wavelength": WAVELENGTH / 10, "flux": FLUX, "ivar": IVAR})
    data["wavelength"].unit, data["flux"].unit = "nm", "W/(m2 um)"
    data.write(tmp_path / "a.ecsv")
    spectrum = read(tmp_path / "a.ecsv")
    np.testing.assert_allclose(spectrum.wavelength, WAVELENGTH)
    np.testing.assert_array_equal(spectrum.ivar, IVAR)
    assert spectrum.flux_unit == "W / (um m2)"


def test_comment_headers_name_columns_and_facts(tmp_path):
    header = "# ORIG: DESI\n# RA : 193.8\n# DEC: -35.2\n# TYPE: DA\n# S/N: 16.8\n# z = 0.01\n"
    header += "# WAVELENGTH FLUX IVAR\n"
    spectrum = read(text(tmp_path / "a.spec", header + lines(WAVELENGTH, FLUX, IVAR)))
    assert (spectrum.survey, spectrum.medium, spectrum.ra, spectrum.dec) == ("DESI", "vacuum", 193.8, -35.2)
    assert (spectrum.catalogue_class, spectrum.redshift, spectrum.snr) == ("DA", 0.01, {"median": 16.8})
    np.testing.assert_allclose(spectrum.ivar, IVAR)


def test_fixed_width_columns_that_run_together_are_cut_where_columns_end(tmp_path):
    flux = np.where(np.arange(N) > 300, 100.0 + FLUX, FLUX / 10)
    rows = [f"{w:7.1f}{f:10.6f}{f:10.6f}" for w, f in zip(3000 + 5.0 * np.arange(N), flux, strict=True)]
    assert "4505.0200" in rows[301].replace(" ", "") or len(rows[301].split()) < 3
    spectrum = read(text(tmp_path / "p.dat", "\n".join(rows)))
    np.testing.assert_allclose(spectrum.flux, flux, atol=1e-6)


@pytest.mark.parametrize(("column", "medium", "assumed"), [("wave_vac", "vacuum", None), ("wave", "air", True)])
def test_a_parquet_column_may_state_the_medium(tmp_path, column, medium, assumed):
    pq.write_table(pa.table({column: WAVELENGTH, "flux": FLUX, "ivar": IVAR}), tmp_path / "a.parquet")
    spectrum = read(tmp_path / "a.parquet")
    np.testing.assert_array_equal(spectrum.ivar, IVAR)
    assert (spectrum.medium, spectrum.meta.get("medium_assumed")) == (medium, assumed)


@pytest.mark.parametrize(
    ("cards", "frame", "applied"),
    [
        ({}, None, None),
        ({"SPECSYS": "BARYCENT"}, "barycentric", None),
        ({"SPECSYS": "TOPOCENT", "HELIO_RV": 12.5}, "topocentric", None),
        ({"HELIO_RV": -12.5}, "heliocentric", -12.5),
        ({"HELIO": True}, "heliocentric", None),
        ({"HELIO": False, "HELIO_RV": 0.0}, "topocentric", None),
    ],
)
def test_the_velocity_frame_is_kept_where_the_header_states_it(tmp_path, cards, frame, applied):
    image = primary(FLUX.astype(np.float32), CRVAL1=4000.0, CDELT1=2.0, **cards)
    meta = read(write(tmp_path / "a.fits", image)).meta
    assert (meta.get("velocity_frame"), meta.get("velocity_correction")) == (frame, applied)


@pytest.mark.parametrize("layout", ["lists", "struct of lists", "list of structs"])
def test_a_row_of_a_parquet_catalogue(tmp_path, layout):
    flux = [FLUX, 2 * FLUX]
    pixels = {"wave_vac": [WAVELENGTH] * 2, "flux": flux, "ivar": [IVAR] * 2}
    about = {"Object_ID": [7, 8], "RA": [10.5, 359.0], "DEC": [-3.25, 2.0], "Z": [0.31, -99.0]}
    nested = [{"wave_vac": WAVELENGTH.tolist(), "flux": one.tolist(), "ivar": IVAR.tolist()} for one in flux]
    if layout == "lists":
        columns = pixels
    elif layout == "struct of lists":
        columns = {"spectrum": nested}
    else:
        columns = {
            "pixels": [[dict(zip(one, row, strict=True)) for row in zip(*one.values(), strict=True)] for one in nested]
        }
    pq.write_table(pa.table(about | columns), tmp_path / "Npix=44.parquet")
    first, second = read(tmp_path / "Npix=44.parquet", "0"), read(tmp_path / "Npix=44.parquet", "1")
    np.testing.assert_array_equal(first.flux, FLUX)
    np.testing.assert_array_equal(second.flux, 2 * FLUX)
    np.testing.assert_array_equal(second.ivar, IVAR)
    assert (first.medium, first.ids, first.ra, first.dec, first.redshift) == (
        "vacuum",
        {"object_id": "7"},
        10.5,
        -3.25,
        0.31,
    )
    assert second.redshift is None


def test_what_lacks_in_rows_of_a_parquet_catalogue(tmp_path):
    pixels = [{"wave_vac": wave, "flux": flux} for wave, flux in zip(WAVELENGTH.tolist(), FLUX.tolist(), strict=True)]
    columns = {"redshift": [None, 0.2], "z": [0.1, 0.3], "pixels": [pixels, [None, *pixels]]}
    pq.write_table(pa.table(columns), tmp_path / "Npix=44.parquet")
    assert read(tmp_path / "Npix=44.parquet", "0").redshift == 0.1
    second = read(tmp_path / "Npix=44.parquet", "1")
    assert (len(second), second.meta["pixels_without_wavelength"]) == (N, 1)


def test_parquet_with_one_spectrum_per_row(tmp_path):
    rows = {"wave": [WAVELENGTH.tolist()] * 3, "flux": [(k * FLUX).tolist() for k in (1, 2, 3)]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet", row_group_size=2)
    assert read(tmp_path / "a.parquet", "2").flux[0] == 300.0
    assert [s.name for s in read_all(tmp_path / "a.parquet")] == [f"a.parquet#{n}" for n in range(3)]


def test_specvi_bench_rows(tmp_path):
    def row(name, z, label):
        kwargs = {"flux": FLUX.tolist(), "wavelength": WAVELENGTH.tolist(), "redshift": z}
        info = {
            "index": f"id-{name}",
            "name": name,
            "tools_kwargs": {"spectral_visualization_tool": {"create_kwargs": kwargs}},
        }
        return {
            "images": [{"bytes": b"png"}],
            "data_source": "cv",
            "prompt": [{"role": "user", "content": "?"}],
            "reward_model": {"ground_truth": label, "type": "rule"},
            "agent_name": "tool_agent",
            "extra_info": info,
        }

    rows = [row("spec-1.fits.gz", 0.25, "YES"), row("spec-2.fits.gz", None, "NO")]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "test.parquet")
    first, second = read_all(tmp_path / "test.parquet")
    assert (first.name, first.redshift, second.redshift) == ("spec-1.fits.gz", 0.25, None)
    assert (first.meta["ground_truth"], first.meta["data_source"]) == ("YES", "cv")
    assert first.ids == {"index": "id-spec-1.fits.gz"}
    assert (first.medium, first.survey) == ("vacuum", "LAMOST")
    np.testing.assert_array_equal(first.flux, FLUX)
    json.dumps(first.to_json())


def test_a_layout_that_only_specutils_knows_is_read_with_it(tmp_path):
    pytest.importorskip("specutils")
    first = primary(SURVEY="apogee")
    first.header["HISTORY"] = "APOGEE apVisit"
    chips = [image("", a.reshape(2, 200)[::-1, ::-1].repeat(2, axis=0)[[0, 2]]) for a in (FLUX, FLUX / 10, WAVELENGTH)]
    flux, sigma, wavelength = (
        image("", np.vstack([c.data, c.data[1:] * k])) for c, k in zip(chips, (1, 1, 0.9), strict=True)
    )
    for hdu, unit in ((flux, "Flux"), (sigma, "Flux error"), (wavelength, "Wavelength (Angstrom)")):
        hdu.header["BUNIT"] = unit
    path = write(tmp_path / "apVisit.fits", first, flux, sigma, image("", np.zeros((3, 200), int)), wavelength)
    spectrum = read(path)
    np.testing.assert_allclose(spectrum.wavelength[200:], WAVELENGTH)
    np.testing.assert_allclose(spectrum.ivar[200:], (FLUX / 10) ** -2)
    assert spectrum.meta["read_as"] == "APOGEE apVisit, by specutils"


def test_a_file_with_one_spectrum_has_no_targets(tmp_path):
    lamost_image(tmp_path / "here.fits")
    with pytest.raises(SpectrumError, match=r"here\.fits: found one spectrum without a name; expected a target 3"):
        read(tmp_path / "here.fits", target=3)


def test_an_exposure_of_lamost_without_wavelengths_is_left_out(tmp_path):
    path = tmp_path / "med-1.fits"
    path.write_bytes(lamost_medium(table({"FLUX": FLUX, "IVAR": FLUX}, "B-2")))
    assert [exposure.name for exposure in read(path).exposures] == ["B-1", "R-1"]
