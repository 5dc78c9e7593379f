"""Spectra of archives: from a server that answers rightly, and wrongly in each way; the files are read and compared."""

import io
import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from astropy.io import fits

import app
from agent.archives import ARCHIVES, fetch
from agent.http_client import LONGEST_PAUSE, PAUSE, TRIES, HttpClient
from agent.simulate import simulate
from agent.spectrum import Spectrum, read
from agent.spectrum.readers import own
from tests.agent.archives.server import Cut, Instead, Service, Stall, Status
from tests.support.inputs.spectra import REAL, desi, fits_bytes, primary, redrock, table

IDS = {"sdss": "266-51602-13", "sparcl": "39627652591521181", "desi": "sv1-dark-17683-39627652591521181"}
SDSS = "/sas/dr17/sdss/spectro/redux/26/spectra/lite/0266/spec-0266-51602-0013.fits"
DESI = "/public/dr1/spectro/redux/iron/healpix/sv1/dark/176/17683/coadd-sv1-dark-17683.fits"
UUID = "0df60932-1fd6-11f0-8d5a-5a5a5a5a5a5a"
TARGETS = (39627652591521180, 39627652591521181, 39627652591521182)
# The service calls some fields by names of its own.
OWN = {"sparcl_id": "id", "redshift": "z", "wavelength": "loglam_"}


def simulated(survey: str) -> Spectrum:
    return simulate("cv", survey, 10.0, 4)


def sdss_file(spectrum: Spectrum, run2d: str = "26", **row: object) -> bytes:
    coadd = {
        "flux": np.float32(spectrum.flux),
        "loglam": np.log10(spectrum.wavelength),
        "ivar": np.float32(spectrum.ivar),
        "and_mask": np.where(spectrum.mask, 1 << 23, 0),
        "model": np.float32(spectrum.flux),
    }
    row = {"PLATE": 266, "MJD": 51602, "FIBERID": 13, "RUN2D": run2d, "Z": 1e-4, "CLASS": "STAR"} | row
    return fits_bytes(primary(), table(coadd), table({key: [value] for key, value in row.items()}))


def record(spectrum: Spectrum, release: str = "DESI-DR1", **fields: object) -> dict[str, object]:
    arrays = {key: getattr(spectrum, key).tolist() for key in ("wavelength", "flux", "ivar")}
    arrays |= {"mask": spectrum.mask.astype(int).tolist(), "model": (spectrum.flux * 0.9).tolist()}
    own = {"sparcl_id": UUID, "specid": TARGETS[1], "data_release": release, "redshift": 1e-4, "ra": 10.0, "dec": -5.0}
    return arrays | own | {"targetid": TARGETS[1], "survey": "sv1", "spectype": "STAR", "subtype": "CV"} | fields


def sparcl_files(*records: dict[str, object]) -> dict[str, object]:
    """The routes of SPARCL over these records."""
    fields = [
        {"data_release": each["data_release"], "newdp": name, "origdp": OWN.get(name, name), "storage": "C"}
        for each in records
        for name in each
    ]

    def find(query, body):
        (name, *values), *_ = body["search"]
        kept = [each for each in own if each[name] in values]
        return [{"status": {}}, *({key: each[key] for key in (*body["outfields"], "_dr")} for each in kept)]

    def spectra(query, ids):
        assert query["format"] == "json"
        kept = [each for each in own if each["id"] in ids]
        return [{"status": {}}, *({key: each[key] for key in (*query["include"].split(","), "_dr")} for each in kept)]

    own = [
        {OWN.get(key, key): value for key, value in each.items()} | {"_dr": each["data_release"]} for each in records
    ]
    return {"/sparc/datafields/": lambda query, body: fields, "/sparc/find/": find, "/sparc/spectras/": spectra}


def service_of(archive: str) -> Service:
    """A service that has the spectrum of ``IDS``, simulated."""
    if archive == "sdss":
        return Service({SDSS: sdss_file(simulated("SDSS"))})
    if archive == "sparcl":
        return Service(sparcl_files(record(simulated("DESI"))))
    return Service({DESI: desi(ids=TARGETS, mask=True), DESI.replace("coadd-", "redrock-"): redrock(TARGETS)})


def fetched(service: Service, archive: str, *ids: str, folder: Path, sleep=lambda seconds: None, timeout: float = 20.0):
    with closing(HttpClient(PAUSE, timeout, sleep)) as http:
        return list(fetch(ARCHIVES[archive](http, service.url), ids or (IDS[archive],), folder))


@pytest.mark.parametrize("archive", ARCHIVES)
def test_a_spectrum_comes_once_and_is_kept(archive, tmp_path):
    with service_of(archive) as service:
        (first,) = fetched(service, archive, folder=tmp_path)
        number = len(service.requests)
        (second,) = fetched(service, archive, folder=tmp_path)
        assert (first.status, second.status, len(service.requests)) == ("fetched", "kept", number)
        assert service.most_at_once == 1
        assert {request.headers["user-agent"] for request in service.requests} == {"spec-o3"}
    spectrum = read(tmp_path / first.file)
    assert (spectrum.medium, "medium_assumed" in spectrum.meta) == ("vacuum", False)
    assert [path.name for path in tmp_path.iterdir()] == [first.file]


def test_what_sdss_and_sparcl_serve_is_read_unchanged(tmp_path):
    for archive, survey in (("sdss", "SDSS"), ("sparcl", "DESI")):
        with service_of(archive) as service:
            (got,) = fetched(service, archive, folder=tmp_path)
        spectrum, expected = read(tmp_path / got.file), simulated(survey)
        np.testing.assert_allclose(spectrum.wavelength, expected.wavelength, rtol=1e-12)
        stored = np.float32 if archive == "sdss" else np.float64
        for key in ("flux", "ivar", "mask"):
            np.testing.assert_array_equal(getattr(spectrum, key), getattr(expected, key).astype(stored))
        assert spectrum.model is not None
        assert spectrum.redshift == pytest.approx(1e-4)
    assert (spectrum.ids["targetid"], spectrum.ids["sparcl_id"]) == (str(TARGETS[1]), UUID)
    assert (spectrum.ra, spectrum.dec, spectrum.catalogue_class) == (10.0, -5.0, "STAR CV")
    assert json.loads((tmp_path / got.file).read_bytes())["fetched_from"] == f"{service.url}/sparc"


def test_of_a_coadd_only_the_rows_of_the_target_are_transferred(tmp_path):
    ids = tuple(range(10**16, 10**16 + 40))
    with fits.open(io.BytesIO(desi(ids=ids, mask=True))) as hdus:
        # Most of a real file.
        hdus.insert(6, fits.ImageHDU(np.zeros(4 << 20, np.uint8), name="B_RESOLUTION"))
        content = fits_bytes(*hdus)
    names = ("sv1-dark-17683-10000000000000007", "sv1-dark-17683-10000000000000038")
    with Service({DESI: content, DESI.replace("coadd-", "redrock-"): redrock(ids)}) as service:
        got = fetched(service, "desi", *names, folder=tmp_path)
        parts = [request.headers["range"] for request in service.requests if request.path == DESI]
    assert [each.status for each in got] == ["fetched"] * 2
    assert parts.count("bytes=0-2879") == 1
    assert sum(int(last) - int(first) for first, last in (part[6:].split("-") for part in parts)) < len(content) / 4
    spectra = [read(tmp_path / each.file) for each in got]
    (tmp_path / "whole.fits").write_bytes(content)
    for spectrum, target in zip(spectra, (ids[7], ids[38]), strict=True):
        whole = read(tmp_path / "whole.fits", target)
        for key in ("wavelength", "flux", "ivar", "mask"):
            np.testing.assert_array_equal(getattr(spectrum, key), getattr(whole, key))
        assert spectrum.meta["survey"] == "sv1"
    assert [spectrum.redshift for spectrum in spectra] == [0.4, pytest.approx(0.0001)]


V6 = "15000-59146-4375924756"
ADDRESSES = {
    "266-51602-13": "dr17/sdss/spectro/redux/26/spectra/lite/0266/spec-0266-51602-0013.fits",
    "4055-55359-1": "dr17/eboss/spectro/redux/v5_13_2/spectra/lite/4055/spec-4055-55359-0001.fits",
    "10000-57346-3": "dr17/eboss/spectro/redux/v5_13_2/spectra/lite/10000/spec-10000-57346-0003.fits",
    "3150-54823-4@103": "dr17/sdss/spectro/redux/103/spectra/lite/3150/spec-3150-54823-0004.fits",
    V6: f"dr19/spectro/boss/redux/v6_1_3/spectra/lite/015000/59146/spec-0{V6}.fits",
    f"{V6}@v6_0_4": "dr18/spectro/boss/redux/v6_0_4/spectra/lite/15000p/59146/spec-15000-59146-04375924756.fits",
}


@pytest.mark.parametrize(("name", "path"), ADDRESSES.items())
def test_addresses_of_sdss(name, path, tmp_path):
    with Service({}) as service:
        (got,) = fetched(service, "sdss", name, folder=tmp_path)
        assert service.requests[0].path == f"/sas/{path}"
    assert got.detail.endswith("HTTP 404, the service has nothing under this address")


def test_a_plate_of_segue_2_is_in_another_reduction(tmp_path):
    path = SDSS.replace("/26/", "/103/")
    with Service({path: sdss_file(simulated("SDSS"), "103")}) as service:
        (got,) = fetched(service, "sdss", folder=tmp_path)
    assert (got.status, read(tmp_path / got.file).meta["run2d"]) == ("fetched", "103")


def test_an_sdss_v_spectrum_is_known_by_its_catalogid(tmp_path):
    for number, (catalogid, mjd) in enumerate(((4375924756, 59146), (4375924757, 59146), (4375924756, 59147))):
        content = sdss_file(simulated("SDSS"), "v6_1_3", CATALOGID=catalogid, SDSS_ID=5, MJD=mjd)
        with Service({f"/sas/{ADDRESSES[V6]}": content}) as service:
            (got,) = fetched(service, "sdss", V6, folder=tmp_path / str(number))
        assert got.status == ("failed" if number else "fetched")


@pytest.mark.parametrize("archive", ARCHIVES)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Status(404), "HTTP 404, the service has nothing under this address"),
        (Status(403), "HTTP 403, the service refuses access"),
        (Status(500), "HTTP 500, the service has a problem"),
        (Stall(), "no answer within 0.1 s"),
        (Instead(), "found a web page; expected a FITS file|a web page in place of JSON"),
        (Instead(b""), "found nothing; expected a FITS file|nothing in place of JSON"),
        (Instead(b"[]"), "found 2 bytes of something else; expected|found an answer in another form"),
        (Cut(), "the answer broke off"),
    ],
    ids=lambda value: getattr(value, "__class__", type(value)).__name__,
)
def test_what_goes_wrong_is_said_by_identifier_and_leaves_no_file(archive, wrong, words, tmp_path):
    with service_of(archive) as service:
        service.wrong["*"] = [wrong] * 20
        (got,) = fetched(service, archive, folder=tmp_path, timeout=0.1 if isinstance(wrong, Stall) else 20)
        assert (got.id, got.status) == (IDS[archive], "failed")
        assert any(word in got.detail for word in words.split("|")), got.detail
        assert list(tmp_path.iterdir()) == []
        service.wrong.clear()
        assert fetched(service, archive, folder=tmp_path)[0].status == "fetched"


@pytest.mark.parametrize("wrong", [Status(503), Status(429), Cut()], ids=["503", "429", "cut"])
@pytest.mark.parametrize("archive", ARCHIVES)
def test_what_passes_is_tried_again(archive, wrong, tmp_path):
    pauses: list[float] = []
    with service_of(archive) as service:
        service.wrong["*"] = [wrong] * (TRIES - 1)
        assert fetched(service, archive, folder=tmp_path, sleep=pauses.append)[0].status == "fetched"
    assert pauses[:TRIES] == [PAUSE, 5 * PAUSE, 10 * PAUSE, 20 * PAUSE]


def test_the_pause_that_a_service_wants_is_kept_unless_it_is_too_long(tmp_path):
    far = "Fri, 01 Jan 2100 00:00:00 GMT"
    for wanted, status in (
        ("7", "fetched"),
        (f"{LONGEST_PAUSE + 1:g}", "failed"),
        (far, "failed"),
        ("soon", "fetched"),
    ):
        pauses: list[float] = []
        with service_of("sdss") as service:
            service.wrong["*"] = [Status(503, retry_after=wanted)]
            (got,) = fetched(service, "sdss", folder=tmp_path / wanted[:4], sleep=pauses.append)
        waited = {"7": [7.0], "soon": [5 * PAUSE]}.get(wanted, [])
        assert (got.status, pauses) == (status, [PAUSE, *waited])


def test_a_service_that_does_not_answer_is_tried_once_for_each_further_spectrum(tmp_path):
    names = [f"4055-55359-{fibre}" for fibre in (1, 2, 3)]
    with Service({}) as service:
        service.wrong["*"] = [Status(503)] * (TRIES + 1)
        got = fetched(service, "sdss", *names, folder=tmp_path)
        assert len(service.requests) == TRIES + 2
    assert ["503" in each.detail for each in got] == [True, True, False]


def test_a_server_that_is_away(tmp_path):
    with service_of("sdss") as service:
        pass
    (got,) = fetched(service, "sdss", folder=tmp_path)
    assert "no connection" in got.detail


@pytest.mark.parametrize(
    ("archive", "content", "words"),
    [
        ("sdss", sdss_file(simulated("SDSS"), FIBERID=14), "another object or reduction (plate-mjd-fiber 266-"),
        ("sdss", sdss_file(simulated("SDSS"))[:20_000], "claims"),
        ("sdss", redrock(), "a table of redshifts without spectra"),
        ("desi", desi(ids=TARGETS)[:8000], "expected DESI's"),
        ("desi", desi(ids=(1, 2), mask=True), f"found 0 rows of {TARGETS[1]}; expected one"),
        ("desi", fits_bytes(primary()), "expected DESI's"),
    ],
    ids=["other object", "cut file", "no spectrum", "cut coadd", "other targets", "no coadd"],
)  # fmt: skip
def test_a_file_that_is_not_the_spectrum_gets_no_name(archive, content, words, tmp_path):
    path = urlsplit(SDSS if archive == "sdss" else DESI).path
    files = {path: content, DESI.replace("coadd-", "redrock-"): redrock(TARGETS)}
    with Service(files) as service:
        (got,) = fetched(service, archive, folder=tmp_path)
    assert words in got.detail
    assert list(tmp_path.iterdir()) == []


def test_a_service_without_ranges_is_refused(tmp_path):
    with service_of("desi") as service:
        service.ranges = False
        (got,) = fetched(service, "desi", folder=tmp_path)
    assert "found the whole file; expected the part that was requested" in got.detail


def test_of_several_records_the_newest_release_is_taken_or_the_one_named(tmp_path):
    spectrum = simulated("DESI")
    other = UUID.replace("0df6", "1df6")
    early = record(spectrum, "DESI-EDR", sparcl_id=other)
    with Service(sparcl_files(early, record(spectrum))) as service:
        names = (IDS["sparcl"], f"{IDS['sparcl']}@DESI-EDR", other, "5", f"{IDS['sparcl']}@DESI-DR9")
        *got, unknown, unreleased = fetched(service, "sparcl", *names, folder=tmp_path)
    assert [read(tmp_path / each.file).meta["data_release"] for each in got] == ["DESI-DR1", "DESI-EDR", "DESI-EDR"]
    assert unknown.detail == "found no record; expected one record, named by its sparcl_id"
    assert f"DESI-DR1 {UUID}" in unreleased.detail
    twice = record(spectrum, sparcl_id=other)
    with Service(sparcl_files(twice, record(spectrum))) as service:
        (got,) = fetched(service, "sparcl", folder=tmp_path / "twice")
    assert f"found DESI-DR1 {other}, DESI-DR1 {UUID}; expected one record" in got.detail


def test_a_record_of_another_object_gets_no_name(tmp_path):
    files = sparcl_files(record(simulated("DESI")))
    other = sparcl_files(record(simulated("DESI"), specid=7, targetid=7))
    with Service(files | {"/sparc/spectras/": other["/sparc/spectras/"]}) as service:
        (got,) = fetched(service, "sparcl", folder=tmp_path)
    assert "another object or reduction (sparcl_id" in got.detail
    assert list(tmp_path.iterdir()) == []


def test_an_identifier_of_sdss_has_a_sign_in_sparcl(tmp_path):
    number = 9461151178522120192  # of eBOSS: above 2^63
    spectrum = record(simulated("SDSS"), "BOSS-DR17", specid=number - 2**64, targetid=0)
    with Service(sparcl_files(spectrum)) as service:
        got = fetched(service, "sparcl", str(number), str(number - 2**64), folder=tmp_path)
    assert [each.status for each in got] == ["fetched"] * 2


@pytest.mark.parametrize(
    ("archive", "name"), [("sdss", "266-51602"), ("sparcl", "../x"), ("desi", "39627652591521181")]
)
def test_an_identifier_of_another_form_is_refused_without_a_request(archive, name, tmp_path):
    with service_of(archive) as service:
        (got,) = fetched(service, archive, name, folder=tmp_path)
        assert (got.status, service.requests) == ("failed", [])
    assert got.detail.startswith(f"found {name!r}; expected ")


def test_a_damaged_file_in_the_folder_is_fetched_again(tmp_path):
    with service_of("sdss") as service:
        (got,) = fetched(service, "sdss", folder=tmp_path)
        path = tmp_path / got.file
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        assert fetched(service, "sdss", folder=tmp_path)[0].status == "fetched"
    assert path.read_bytes() == whole


def test_the_command(tmp_path, monkeypatch, capsys):
    list_of = tmp_path / "list.txt"
    list_of.write_text("# of one plate\n266-51602-13  # a CV\n266-51602-14\n", encoding="utf-8")
    with service_of("sdss") as service:
        options = ("--out", str(tmp_path / "out"), "--pause", "0", "--service", service.url)
        command = ["fetch", f"@{list_of}", "266-51602-13", "--from", "sdss", *options]
        assert app.main([*command, "--json"]) == 1
        result = json.loads(capsys.readouterr().out)
        assert [each["status"] for each in result["spectra"]] == ["fetched", "failed"]
        assert app.main(command) == 1
        shown = capsys.readouterr().out
        assert "0 fetched, 1 kept, 1 failed\n  266-51602-14: " in shown
        monkeypatch.setattr("sys.stdin", list_of.open(encoding="utf-8"))
        list_of.write_text("266-51602-13", encoding="utf-8")
        assert app.main(["fetch", "-", "--from", "sdss", *options]) == 0
    assert app.main(["fetch", "@missing", "--from", "sdss", *options]) == 2
    list_of.write_text("#\n", encoding="utf-8")
    assert app.main(["fetch", f"@{list_of}", "--from", "sdss", *options]) == 2
    assert "found no identifiers, expected some: PLATE-MJD-FIBERID" in capsys.readouterr().err


def test_real_spectra_come_as_they_are(tmp_path):
    if not REAL.is_dir():
        pytest.skip("no real spectra beside the checkout")
    path = REAL / "sdss/GALAXY/spec-0266-51602-0013.fits"
    with Service({SDSS: path.read_bytes()}) as service:
        (got,) = fetched(service, "sdss", folder=tmp_path)
    assert replace(read(tmp_path / got.file), name=path.name) == read(path)
    ours = tmp_path / "ours.fits"
    own.write(read(path), ours)
    with Service({SDSS: ours.read_bytes()}) as service:
        (got,) = fetched(service, "sdss", folder=tmp_path / "own")
    assert read(tmp_path / "own" / got.file) == read(path)
    coadd = REAL / "desi/UNLABELLED/coadd-sv3-dark-26065.fits"
    with fits.open(coadd) as hdus:
        targets = hdus["FIBERMAP"].data["TARGETID"].tolist()
    address = DESI.replace("sv1", "sv3").replace("/176/17683", "/260/26065").replace("17683", "26065")
    files = {address: coadd.read_bytes(), address.replace("coadd-", "redrock-"): redrock(targets)}
    target = next(each for each in targets if each > 0)
    with Service(files) as service:
        (got,) = fetched(service, "desi", f"sv3-dark-26065-{target}", folder=tmp_path)
    spectrum, whole = read(tmp_path / got.file), read(coadd, target)
    for key in ("wavelength", "flux", "ivar", "mask"):
        np.testing.assert_array_equal(getattr(spectrum, key), getattr(whole, key))
    assert (spectrum.ra, spectrum.dec, spectrum.ids) == (whole.ra, whole.dec, whole.ids)


@pytest.mark.live_services
@pytest.mark.parametrize("archive", ARCHIVES)
def test_the_real_archives(archive, tmp_path):
    with closing(HttpClient()) as http:
        (got,) = fetch(ARCHIVES[archive](http), (IDS[archive],), tmp_path)
    assert (got.status, got.detail) == ("fetched", "")
