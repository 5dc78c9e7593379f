"""Whatever a file holds, ``read`` gives a spectrum or a ``SpectrumError`` of one line, and takes no more
memory than the file deserves."""

import gzip
import io
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.io import fits
from astropy.table import Table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.spectrum import SeveralSpectra, SpectrumError, read, read_all

N = 60
WAVELENGTH = 4000.0 + 2.0 * np.arange(N)
FLUX = 10.0 + np.arange(N) % 5


def fits_bytes(*hdus) -> bytes:
    stream = io.BytesIO()
    fits.HDUList(list(hdus)).writeto(stream)
    return stream.getvalue()


def linear_image(flux=FLUX, **cards) -> bytes:
    hdu = fits.PrimaryHDU(np.asarray(flux, np.float32))
    for key, value in ({"CRVAL1": 4000.0, "CDELT1": 2.0} | cards).items():
        hdu.header[key] = value
    return fits_bytes(hdu)


def lamost_image() -> bytes:
    hdu = fits.PrimaryHDU(np.array([FLUX, FLUX, WAVELENGTH, 0 * FLUX, 0 * FLUX], np.float32))
    hdu.header["TELESCOP"], hdu.header["EXTEN0"] = "LAMOST", "Flux, Inverse, Wavelength, Andmask, Ormask"
    return fits_bytes(hdu)


def sdss_table() -> bytes:
    coadd = {"flux": FLUX, "loglam": np.log10(WAVELENGTH), "ivar": FLUX, "and_mask": np.zeros(N, int)}
    row = {"Z": [0.1], "CLASS": ["STAR"], "PLUG_RA": [1.0], "SN_MEDIAN": [[1.0] * 5]}
    return fits_bytes(fits.PrimaryHDU(), fits.BinTableHDU(Table(coadd)), fits.BinTableHDU(Table(row)))


def desi_coadd() -> bytes:
    hdus = [fits.PrimaryHDU(), fits.BinTableHDU(Table({"TARGETID": [1, 2]}), name="FIBERMAP")]
    for arm, start in (("B", 3600.0), ("R", 3640.0), ("Z", 3680.0)):
        hdus.append(fits.ImageHDU(start + 0.8 * np.arange(60), name=f"{arm}_WAVELENGTH"))
        hdus += [fits.ImageHDU(np.ones((2, 60), np.float32), name=f"{arm}_{what}") for what in ("FLUX", "IVAR")]
    return fits_bytes(*hdus)


def csv_text() -> bytes:
    rows = "\n".join(f"{w:.2f},{f:.3f},1.0" for w, f in zip(WAVELENGTH, FLUX, strict=True))
    return f"# a star\nwavelength,flux,err\n{rows}\n".encode()


def parquet_bytes(**columns) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"wavelength": WAVELENGTH, "flux": FLUX} | columns), stream)
    return stream.getvalue()


WHOLE = {
    "image": linear_image(),
    "lamost": lamost_image(),
    "lamost.gz": gzip.compress(lamost_image()),
    "sdss": sdss_table(),
    "desi": desi_coadd(),
    "csv": csv_text(),
    "csv.gz": gzip.compress(csv_text()),
    "parquet": parquet_bytes(),
}


def refusal(path: Path) -> str:
    with pytest.raises(SpectrumError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path.name}: found ")
    assert "; wanted " in message
    assert "\n" not in message
    with pytest.raises(SpectrumError):
        list(read_all(path))
    return message


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", WHOLE)
def test_the_undamaged_files_of_these_tests_are_spectra(tmp_path, kind):
    path = written(tmp_path / "x", WHOLE[kind])
    assert all(len(s) >= N for s in read_all(path))


def test_missing_files_directories_and_empty_files(tmp_path):
    assert "no file at" in refusal(tmp_path / "none.fits")
    assert "a directory" in refusal(tmp_path)
    assert "an empty file" in refusal(written(tmp_path / "empty.fits", b""))
    assert "an empty gzip file" in refusal(written(tmp_path / "empty.gz", gzip.compress(b"")))


@pytest.mark.parametrize("kind", ["image", "lamost", "sdss", "desi"])
def test_a_fits_file_that_breaks_off_is_refused(tmp_path, kind):
    whole = WHOLE[kind]
    end_of_data = len(whole) - 2880 + 8
    for length in (100, 2880 + 20, end_of_data // 2):
        message = refusal(written(tmp_path / "cut.fits", whole[:length]))
        assert "complete FITS" in message or "breaks off" in message or "FITS HDUs" in message or "DESI arms" in message


@pytest.mark.parametrize("kind", ["lamost.gz", "csv.gz"])
def test_a_gzip_file_that_breaks_off_or_is_damaged_is_refused(tmp_path, kind):
    whole = WHOLE[kind]
    assert "damaged gzip data" in refusal(written(tmp_path / "cut.gz", whole[: len(whole) * 2 // 3]))
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    assert "damaged gzip data" in refusal(written(tmp_path / "flipped.gz", bytes(flipped)))


def test_a_header_that_claims_ten_gigabytes_allocates_nothing(tmp_path):
    claim = linear_image().replace(b"NAXIS1  =                   60", b"NAXIS1  =           2500000000")
    path = written(tmp_path / "claim.fits", claim)
    packed = written(tmp_path / "claim.fits.gz", gzip.compress(claim))
    tracemalloc.start()
    for bad in (path, packed):
        assert "a header that claims 10000" in refusal(bad)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 2**20


def test_a_table_that_claims_a_billion_rows_is_refused(tmp_path):
    claim = sdss_table().replace(b"NAXIS2  =                   60", b"NAXIS2  =           1000000000")
    assert "a header that claims" in refusal(written(tmp_path / "claim.fits", claim))


def test_a_gzip_bomb_is_left_unexploded(tmp_path):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    megabyte = bytes(2**20)
    bomb = b"".join([packer.compress(linear_image()[:2880])] + [packer.compress(megabyte) for _ in range(200)])
    path = written(tmp_path / "bomb.fits.gz", bomb + packer.flush())
    assert path.stat().st_size < 2**20
    assert "that unpacks to more than" in refusal(path)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (linear_image(np.ones((50, 60))), "an image of 60 x 50 pixels"),
        (linear_image(np.ones((3, 50, 60))), "an image of 60 x 50 x 3 pixels"),
        (linear_image(CTYPE1="RA---TAN"), "first axis is RA---TAN"),
        (fits_bytes(fits.PrimaryHDU(FLUX)), "without CRVAL1 and CDELT1"),
        (linear_image(CRVAL1=0.0, CDELT1=1.0), "an axis without unit"),
        (linear_image(CRVAL1=9000.0, CDELT1=-200.0), "an axis without unit from -2800"),
        (linear_image(np.full(N, np.nan)), "no pixel with data"),
        (linear_image(np.zeros(N)), "no pixel with data"),
        (linear_image(np.ones(4)), "4 pixels"),
        (linear_image(EIGEN0=14.0, COEFF0=3.5), "a library of basis vectors"),
        (fits_bytes(fits.PrimaryHDU()), "FITS HDUs"),
        (fits_bytes(fits.PrimaryHDU(), fits.BinTableHDU(Table({"RA": [1.0], "Z": [0.1]}))), "columns RA, Z"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 container"),
        (b'{"wavelengths": [1, 2], "flux": [1, 2]}', "a JSON container"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG picture"),
        (b"\x00\x01\x02\x03" * 100, "a binary file"),
        (b"PAR1" + bytes(100), "a damaged Parquet file"),
        (parquet_bytes(flux=["x"] * N), "a column flux that is not numbers"),
        (parquet_bytes(flux=[None] * N), "no pixel with data"),
        (
            fits_bytes(fits.PrimaryHDU(), fits.BinTableHDU(Table({"wave": WAVELENGTH, "flux": ["x"] * N}))),
            "not numbers",
        ),
    ],
)
def test_files_that_hold_no_spectrum_say_what_they_hold(tmp_path, content, found):
    assert found in refusal(written(tmp_path / "file", content))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("It was a dark night.\nThe seeing was poor.\n", "text from line 2"),
        ("In 1994 we observed 12 stars.\n", "column names without a line of data"),
        ("# only\n# comments\n", "no line of data"),
        ("\n".join(f"{n}" for n in range(4000, 4100)), "one column of numbers"),
        ("\n".join(f"{n} 1.0" for n in range(4000, 4005)), "5 pixels"),
        ("\n".join(f"{w} 1.0" for w in np.linspace(0.35, 0.9, 50)), "an axis without unit from 0.35 to 0.9"),
        ("\n".join(f"{w} 1.0" for w in [*range(4000, 4050), 4020]), "4049 Å followed by 4020 Å"),
        ("\n".join(f"{w} 1.0" for w in [*range(4000, 4050), 4049]), "4049 Å followed by 4049 Å"),
        ("\n".join(f"{w} nan" for w in range(4000, 4050)), "no pixel with data"),
        ("\n".join(f"{w} 0.0" for w in range(4000, 4050)), "no pixel with data"),
        ("ra,dec,mag\n" + "1,2,3\n" * 50, "columns ra, dec, mag"),
        ("wave [parsec],flux\n" + "\n".join(f"{w},1" for w in range(4000, 4050)), "wavelengths in 'parsec'"),
        ("\n".join(["4000 1.0"] * 5 + ["4010 x"] * 5), "text from line 1"),
    ],
)
def test_text_that_is_no_spectrum_says_what_it_is(tmp_path, content, found):
    assert found in refusal(written(tmp_path / "file.txt", content.encode()))


def test_wavelengths_without_a_number_are_refused(tmp_path):
    rows = "".join(f"{w},1\n" for w in [*range(4000, 4050), "nan"])
    assert "NaN or infinity" in refusal(written(tmp_path / "a.csv", ("wave,flux\n" + rows).encode()))


def test_a_bench_row_without_its_arrays_is_refused(tmp_path):
    path = written(tmp_path / "a.parquet", parquet_bytes(extra_info=["x"] * N))
    with pytest.raises(SpectrumError, match="found row 7 without create_kwargs"):
        read(path, "7")


def test_cards_that_cannot_be_parsed_are_ignored(tmp_path):
    raw = linear_image(OBJECT="a star", RA="north", EXPTIME=3)
    raw = raw.replace(b"EXPTIME =                    3", b"EXPTIME = 3 minutes or so     ")
    spectrum = read(written(tmp_path / "x.fits", raw))
    assert spectrum.ra is None
    assert "exptime" not in spectrum.meta


@pytest.fixture(scope="module")
def scratch(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "file"


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(sorted(WHOLE)),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=12)), max_size=4),
    keep=st.one_of(st.just(1.0), st.floats(0, 1)),
)
def test_no_other_exception_escapes_whatever_the_damage(scratch, kind, changes, keep):
    raw = bytearray(WHOLE[kind])
    for place, new in changes:
        start = int(place * len(raw))
        raw[start : start + len(new)] = new
    scratch.write_bytes(raw[: int(keep * len(raw))])
    try:
        spectra = [read(scratch)]
    except SeveralSpectra:
        spectra = list(_until_damage(scratch))
    except SpectrumError as error:
        _check_foreseen(error)
        return
    for spectrum in spectra:
        assert np.isfinite(spectrum.flux).all()
        assert (np.diff(spectrum.wavelength) > 0).all()
        assert (spectrum.ivar >= 0).all()


def _check_foreseen(error: SpectrumError) -> None:
    assert "did not expect" not in str(error)
    assert "\n" not in str(error)


def _until_damage(path: Path):
    try:
        yield from read_all(path)
    except SpectrumError:
        return


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    keyword=st.sampled_from(
        ["NAXIS", "NAXIS1", "BITPIX", "CRVAL1", "CDELT1", "CRPIX1", "BSCALE", "BZERO", "TFIELDS", "TFORM1"]
    ),
    value=st.one_of(
        st.integers(-(10**18), 10**18),
        st.floats(),
        st.sampled_from(["'1PB(9)'", "T", "'K'", "-1", "0", "''"]),
    ),
    kind=st.sampled_from(["image", "lamost", "sdss", "desi"]),
)
def test_no_value_of_a_structural_card_is_trusted(scratch, keyword, value, kind):
    raw = WHOLE[kind]
    at = raw.find(f"{keyword:<8}=".encode())
    card = f"{keyword:<8}= {value!s:>20}".encode().ljust(80)[:80]
    scratch.write_bytes(raw if at < 0 else raw[:at] + card + raw[at + 80 :])
    try:
        spectra = list(read_all(scratch))
    except SpectrumError as error:
        _check_foreseen(error)
        return
    assert all(np.isfinite(s.flux).all() for s in spectra)
