"""Spectra of public archives, as files that the readers of ``agent.spectrum`` know; wavelengths are in vacuum.

Addresses and forms of requests: SDSS, github.com/sdss/tree (``data/dr17.cfg`` to ``dr19.cfg``) and sdss_access; SPARCL,
github.com/astro-datalab/sparclclient; DESI, desidatamodel.readthedocs.io and data.desi.lbl.gov/doc/releases/dr1.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from agent.errors import Refusal
from agent.http_client import HttpClient, RequestFailed, kind_of
from agent.language import deferred, tr
from agent.spectrum import Spectrum, SpectrumError, read
from agent.spectrum.readers import sparcl


class ArchiveError(Refusal):
    """An archive has no such spectrum, or gave something else: what was found, what was expected."""

    kind = "archive"


class Archive(Protocol):
    """An archive of spectra.

    :param form: of an identifier, for messages
    """

    form: str

    def file_name(self, spectrum_id: str) -> str:
        """Return the name of a spectrum's file. :raises ArchiveError: the identifier has another form"""

    def content(self, spectrum_id: str) -> bytes:
        """Return the file. :raises ArchiveError, RequestFailed: it cannot be had"""

    def is_of(self, spectrum_id: str, spectrum: Spectrum) -> bool:
        """Whether a spectrum is the one with this identifier."""


@dataclass(frozen=True)
class Fetched:
    """What came of an identifier: ``kept`` is a file that was there already; ``detail`` says why it failed."""

    id: str
    status: Literal["fetched", "kept", "failed"]
    file: str = ""
    detail: str = ""


def fetch(archive: Archive, ids: Iterable[str], folder: Path) -> Iterator[Fetched]:
    """Bring the spectra into ``folder``, one after the other; a file has its name once it was read as a spectrum.

    :raises OSError: the folder cannot be written
    """
    folder.mkdir(parents=True, exist_ok=True)
    for spectrum_id in dict.fromkeys(ids):
        try:
            path = folder / archive.file_name(spectrum_id)
            is_there = path.exists() and _problem(archive, spectrum_id, path) is None
            if not is_there:
                _write(archive, spectrum_id, path)
            yield Fetched(spectrum_id, "kept" if is_there else "fetched", path.name)
        except (ArchiveError, RequestFailed) as error:
            yield Fetched(spectrum_id, "failed", detail=str(error))


def _write(archive: Archive, spectrum_id: str, path: Path) -> None:
    content = archive.content(spectrum_id)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        if (problem := _problem(archive, spectrum_id, part)) is not None:
            raise ArchiveError(problem)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _problem(archive: Archive, spectrum_id: str, path: Path) -> str | None:
    """Return why a file is not the one of this identifier."""
    try:
        spectrum = read(path)
    except SpectrumError as error:
        return error.sentence
    if archive.is_of(spectrum_id, spectrum):
        return None
    about = ", ".join(f"{key} {value}" for key, value in spectrum.ids.items())
    return deferred("found the spectrum of another object ({about}); expected {id}", about=about, id=spectrum_id)


def _parts(form: re.Pattern[str], archive: Archive, spectrum_id: str) -> dict[str, str]:
    match = form.fullmatch(spectrum_id)
    if match is None:
        raise ArchiveError(deferred("found {id!r:.80}; expected {form}", id=spectrum_id, form=archive.form))
    return {key: value or "" for key, value in match.groupdict().items()}


def _checked_fits(content: bytes) -> bytes:
    if not content.startswith(b"SIMPLE  ="):
        raise ArchiveError(deferred("found {found}; expected a FITS file", found=kind_of(content)))
    return content


class Sdss:
    """The lite spectra of SDSS: DR17 for plates (SDSS I and II, BOSS, eBOSS), DR18 and DR19 for SDSS-V."""

    form = deferred(
        "PLATE-MJD-FIBERID, or FIELD-MJD-CATALOGID of SDSS-V, with @RUN2D if it is to be a certain reduction"
    )
    _FORM = re.compile(r"0*(?P<field>\d{1,6})-(?P<mjd>5\d{4}|6\d{4})-0*(?P<object>\d{1,18})(@(?P<run2d>[v\d_]{2,10}))?")
    _BOSS = 55_000  # MJD; the first spectrograph ended in 2009

    def __init__(self, http: HttpClient, service: str = "https://data.sdss.org") -> None:
        self._http, self._sas = http, f"{service}/sas"

    def file_name(self, spectrum_id: str) -> str:
        parts = _parts(self._FORM, self, spectrum_id)
        run2d = f"-{parts['run2d']}" if parts["run2d"] else ""
        return f"spec-{parts['field']:0>4}-{parts['mjd']}-{parts['object']:0>4}{run2d}.fits"

    def content(self, spectrum_id: str) -> bytes:
        for address in (addresses := self._addresses(**_parts(self._FORM, self, spectrum_id))):
            try:
                return _checked_fits(self._http.content(address)[0])
            except RequestFailed as error:
                if error.http_status != 404 or address == addresses[-1]:
                    raise
        raise AssertionError

    def _addresses(self, field: str, mjd: str, object: str, run2d: str) -> list[str]:
        """Return where it can be: of the first spectrograph, several reductions share the plates among them."""
        is_plate = int(object) <= 1000
        known = ["26", "103", "104"] if int(mjd) < self._BOSS else ["v5_13_2"] if is_plate else ["v6_1_3"]
        addresses = []
        for version in [run2d] if run2d else known:
            if version.startswith("v6_0"):
                path = f"dr18/spectro/boss/redux/{version}/spectra/lite/{field}p/{mjd}/spec-{field}-{mjd}-{object:0>11}"
            elif version.startswith("v6"):
                path = (
                    f"dr19/spectro/boss/redux/{version}/spectra/lite/{field:0>6}/{mjd}/spec-{field:0>6}-{mjd}-{object}"
                )
            else:
                survey = "eboss" if version.startswith("v") else "sdss"
                name = f"{field:0>4}/spec-{field:0>4}-{mjd}-{object:0>4}"
                path = f"dr17/{survey}/spectro/redux/{version}/spectra/lite/{name}"
            addresses.append(f"{self._sas}/{path}.fits")
        return addresses

    def is_of(self, spectrum_id: str, spectrum: Spectrum) -> bool:
        parts = _parts(self._FORM, self, spectrum_id)
        if parts["run2d"] and spectrum.meta.get("run2d") != parts["run2d"]:
            return False
        if int(parts["object"]) > 1000:
            return spectrum.ids.get("catalogid") == parts["object"]
        plate = [int(part) for part in spectrum.ids.get("plate-mjd-fiber", "").split("-") if part.isdecimal()]
        return plate == [int(parts[key]) for key in ("field", "mjd", "object")]


class Sparcl:
    """SPARCL of NOIRLab's Astro Data Lab: records of SDSS, BOSS and DESI, kept as JSON with all that it gave."""

    form = deferred("a specid (DESI: the TARGETID) or a sparcl_id, with @RELEASE if it is to be of one data release")
    _FORM = re.compile(r"(?P<number>-?\d{1,20}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(@(?P<release>[\w.-]{2,30}))?")

    def __init__(self, http: HttpClient, service: str = "https://astrosparcl.datalab.noirlab.edu") -> None:
        self._http, self._api = http, f"{service}/sparc"
        self._fields: list[Mapping[str, str]] = []

    def file_name(self, spectrum_id: str) -> str:
        _parts(self._FORM, self, spectrum_id)
        return f"sparcl-{spectrum_id.replace('@', '-')}.json"

    def content(self, spectrum_id: str) -> bytes:
        parts = _parts(self._FORM, self, spectrum_id)
        try:
            # The service has names of its own for fields ("origdp"), by data release.
            self._fields = self._fields or self._http.json(f"{self._api}/datafields/")
            release, sparcl_id = self._record(parts["number"], parts["release"])
            own = {each["newdp"]: each["origdp"] for each in self._fields if each["data_release"] == release}
            names = {own[name]: name for name in dict.fromkeys((*sparcl.FIELDS, *sparcl.ARRAYS)) if name in own}
            url = f"{self._api}/spectras/"
            _, record = self._http.json(url, [sparcl_id], include=",".join(names), format="json")
            given = {names[key]: value for key, value in record.items() if key in names}
            record = given | {"fetched_from": url, "fetched_at": datetime.now(UTC).isoformat(timespec="seconds")}
            return json.dumps(record).encode()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = deferred("found an answer in another form than SPARCL's ({error})", error=repr(error))
            raise ArchiveError(reason) from None

    def _record(self, number: str, release: str) -> tuple[str, str]:
        """Return data release and sparcl_id of the record: that of the newest release."""
        own = {each["newdp"]: each["origdp"] for each in self._fields}
        by, value = ("sparcl_id", number) if number.count("-") == 4 else ("specid", _signed(int(number)))
        search = {"outfields": [own["sparcl_id"], own["data_release"]], "search": [[own[by], value]]}
        _, *records = self._http.json(f"{self._api}/find/", search, limit="100")
        known = [(record[own["data_release"]], str(record[own["sparcl_id"]])) for record in records]
        kept = [each for each in known if release in ("", each[0])]
        newest = max((_release_key(each[0]) for each in kept), default=None)
        kept = [each for each in kept if _release_key(each[0]) == newest]
        if len(kept) != 1:
            listed = ", ".join(" ".join(each) for each in kept or known) or tr("none")
            raise ArchiveError(
                deferred("found the records {listed}; expected one, named by its sparcl_id", listed=listed)
            )
        return kept[0]

    def is_of(self, spectrum_id: str, spectrum: Spectrum) -> bool:
        parts = _parts(self._FORM, self, spectrum_id)
        number = parts["number"] if "-" in parts["number"][1:] else str(_signed(int(parts["number"])))
        return number in spectrum.ids.values() and parts["release"] in ("", spectrum.meta.get("data_release"))


def _signed(number: int) -> int:
    """Return an SDSS specObjID as SPARCL has it: in 64 bits with a sign."""
    return number - 2**64 if number >= 2**63 else number


def _release_key(release: str) -> tuple[str, int]:
    """Return what orders the data releases of a survey: DESI-EDR before DESI-DR1."""
    survey, _, name = release.partition("-")
    digits = re.sub(r"\D", "", name)
    return survey, int(digits or 0)


class Desi:
    """Coadds by healpix of DESI DR1: of a large file only the target's rows are read and kept, with its redshift."""

    form = deferred("SURVEY-PROGRAM-HEALPIX-TARGETID, e.g. sv1-dark-17683-39627652591521181")
    _FORM = re.compile(
        r"(?P<group>(?P<survey>[a-z\d]{2,9})-(?P<program>[a-z]{2,9})-(?P<pixel>\d{1,5}))-(?P<target>\d{1,18})"
    )

    def __init__(self, http: HttpClient, service: str = "https://data.desi.lbl.gov") -> None:
        self._http, self._folder = http, f"{service}/public/dr1/spectro/redux/iron/healpix"
        self._files: tuple[str, Any, Any] | None = None

    def file_name(self, spectrum_id: str) -> str:
        _parts(self._FORM, self, spectrum_id)
        return f"desi-{spectrum_id}.fits"

    def content(self, spectrum_id: str) -> bytes:
        parts = _parts(self._FORM, self, spectrum_id)
        try:
            # Targets of one healpix follow each other, and share the files.
            if self._files is None or self._files[0] != parts["group"]:
                self._files = parts["group"], self._opened("coadd", parts), self._opened("redrock", parts)
            return _one_target(parts, *self._files[1:])
        except (OSError, LookupError, ValueError, TypeError) as error:
            self._files = None
            raise ArchiveError(deferred("found a damaged coadd ({error}); expected DESI's", error=error)) from None
        except RequestFailed:
            self._files = None
            raise

    def _opened(self, kind: str, parts: Mapping[str, str]) -> Any:
        from astropy.io import fits

        folder = f"{parts['survey']}/{parts['program']}/{int(parts['pixel']) // 100}/{parts['pixel']}"
        remote = _Remote(self._http, f"{self._folder}/{folder}/{kind}-{parts['group']}.fits")
        return fits.open(io.BufferedReader(remote, 2**16))

    def is_of(self, spectrum_id: str, spectrum: Spectrum) -> bool:
        target = _parts(self._FORM, self, spectrum_id)["target"]
        return spectrum.survey == "DESI" and spectrum.ids.get("targetid") == target


def _one_target(parts: Mapping[str, str], coadd: Any, redrock: Any) -> bytes:
    """Return a FITS file with the rows of one target, in the layout of DESI."""
    from astropy.io import fits

    target = int(parts["target"])
    fibermap, fitted = coadd["FIBERMAP"].data, redrock["REDSHIFTS"].data
    rows = [row for row, each in enumerate(fibermap["TARGETID"].tolist()) if each == target]
    if len(rows) != 1:
        actual = deferred("found {n} targets {target} in {group}", n=len(rows), target=target, group=parts["group"])
        raise ArchiveError(deferred("{actual}; expected one", actual=actual))
    primary = fits.PrimaryHDU()
    primary.header.update(SURVEY=parts["survey"], PROGRAM=parts["program"], HPXPIXEL=int(parts["pixel"]))
    primary.header["HISTORY"] = f"One target of DESI DR1, coadd-{parts['group']}.fits and its redrock table"
    hdus = [primary, fits.BinTableHDU(fibermap[rows], name="FIBERMAP")]
    for arm in "BRZ":
        hdus.append(fits.ImageHDU(coadd[f"{arm}_WAVELENGTH"].data, name=f"{arm}_WAVELENGTH"))
        for what in ("FLUX", "IVAR", "MASK"):
            name = f"{arm}_{what}"
            hdus.append(fits.ImageHDU(coadd[name].section[rows[0] : rows[0] + 1, :], name=name))
    hdus.append(fits.BinTableHDU(fitted[fitted["TARGETID"] == target], name="REDSHIFTS"))
    fits.HDUList(hdus).writeto(packed := io.BytesIO())
    return packed.getvalue()


class _Remote(io.RawIOBase):
    """A file of a server, of which parts are read."""

    def __init__(self, http: HttpClient, url: str) -> None:
        self._http, self._url, self._at = http, url, 0
        start, stated = http.content(url, headers={"Range": "bytes=0-2879"})
        _checked_fits(start)
        size = re.fullmatch(r"bytes 0-\d+/(\d+)", stated)
        if size is None:
            raise ArchiveError(deferred("{url}: found a whole file; expected the part that was requested", url=url))
        self._size = int(size[1])

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._size)
        if self._at >= end:
            return 0
        part = {"Range": f"bytes={self._at}-{end - 1}"}
        content, _ = self._http.content(self._url, pause=False, headers=part)
        if len(content) != end - self._at:
            raise RequestFailed(self._url, deferred("the answer broke off"))
        buffer[: len(content)] = content
        self._at = end
        return len(content)


ARCHIVES = {"sparcl": Sparcl, "sdss": Sdss, "desi": Desi}
