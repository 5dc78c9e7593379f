"""Spectra of public archives, as files that the readers of ``agent.spectrum`` know; all wavelengths are in vacuum.

Addresses and requests: SDSS, github.com/sdss/tree (``data/dr17.cfg`` to ``dr19.cfg``) and sdss_access; SPARCL,
github.com/astro-datalab/sparclclient; DESI, desidatamodel.readthedocs.io and data.desi.lbl.gov/doc/releases/dr1.
"""

from __future__ import annotations

import io
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Literal

from agent.errors import Refusal
from agent.http_client import HttpClient, RequestFailed, kind_of
from agent.language import deferred, tr
from agent.spectrum import Spectrum, SpectrumError, read
from agent.spectrum.readers import sparcl


class ArchiveError(Refusal):
    """An archive has no such spectrum, or gave something else: what was found, what was expected."""

    kind = "archive"


class Archive:
    """An archive of spectra.

    :param form: of its identifiers, in words and as a pattern
    :param service: address, without a slash at its end
    """

    form: ClassVar[str]
    pattern: ClassVar[str]
    service: str

    def __init__(self, http: HttpClient, service: str = "") -> None:
        self.http, self.service = http, service or self.service

    def parts(self, spectrum_id: str) -> dict[str, str]:
        """Return the parts of an identifier. :raises ArchiveError: it has another form"""
        match = re.fullmatch(self.pattern, spectrum_id, re.ASCII)
        if match is None:
            raise ArchiveError(deferred("found {id!r:.80}; expected {form}", id=spectrum_id, form=self.form))
        return {key: value or "" for key, value in match.groupdict().items()}

    def file_name(self, spectrum_id: str) -> str:
        raise NotImplementedError

    def content(self, *_: Any, **parts: Any) -> bytes:
        """Return a spectrum's file. :raises ArchiveError, RequestFailed: it cannot be had"""
        raise NotImplementedError

    def is_of(self, spectrum: Spectrum, *_: Any, **parts: Any) -> bool:
        """Whether a spectrum is the one with this identifier."""
        raise NotImplementedError


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
            parts = archive.parts(spectrum_id)
            path = folder / archive.file_name(spectrum_id)
            is_there = path.exists() and _problem(archive, parts, path) is None
            if not is_there:
                _write(archive, parts, path)
            yield Fetched(spectrum_id, "kept" if is_there else "fetched", path.name)
        except (ArchiveError, RequestFailed) as error:
            yield Fetched(spectrum_id, "failed", detail=str(error))


def _write(archive: Archive, parts: Mapping[str, str], path: Path) -> None:
    content = archive.content(**parts)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        if (problem := _problem(archive, parts, part)) is not None:
            raise ArchiveError(problem)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _problem(archive: Archive, parts: Mapping[str, str], path: Path) -> str | None:
    """Return why a file is not the one of this identifier."""
    try:
        spectrum = read(path)
    except SpectrumError as error:
        return error.sentence
    if archive.is_of(spectrum, **parts):
        return None
    about = ", ".join(f"{key} {value}" for key, value in spectrum.ids.items())
    return deferred("found the spectrum of another object or reduction ({about})", about=about or tr("unknown"))


_FIBRES = 1000
"""Of a plate, at most."""


def _checked_fits(content: bytes) -> bytes:
    if not content.startswith(b"SIMPLE  ="):
        raise ArchiveError(deferred("found {found}; expected a FITS file", found=kind_of(content)))
    return content


class Sdss(Archive):
    """The lite spectra of SDSS: DR17 for plates (SDSS I and II, BOSS, eBOSS), DR18 and DR19 for SDSS-V."""

    form = deferred("PLATE-MJD-FIBERID, or FIELD-MJD-CATALOGID of SDSS-V; with @RUN2D for a certain reduction")
    pattern = r"0*(?P<field>\d{1,6})-(?P<mjd>[56]\d{4})-0*(?P<number>\d{1,18})(@(?P<run2d>26|103|104|v[56]_\d+_\d+))?"
    service = "https://data.sdss.org"

    def file_name(self, spectrum_id: str) -> str:
        field, mjd, number, run2d = self.parts(spectrum_id).values()
        return f"spec-{field:0>4}-{mjd}-{number:0>4}{run2d and '-'}{run2d}.fits"

    def content(self, *, field: str, mjd: str, number: str, run2d: str) -> bytes:
        # The first spectrograph ended in 2009; several reductions share its plates among them.
        known = ["26", "103", "104"] if int(mjd) < 55_000 else ["v5_13_2" if int(number) <= _FIBRES else "v6_1_3"]
        *others, last = [run2d] if run2d else known
        for version in others:
            try:
                return _checked_fits(self.http.content(self._address(field, mjd, number, version))[0])
            except RequestFailed as error:
                if error.http_status != 404:
                    raise
        return _checked_fits(self.http.content(self._address(field, mjd, number, last))[0])

    def _address(self, field: str, mjd: str, number: str, run2d: str) -> str:
        if run2d.startswith("v6_0"):
            root, path = "dr18/spectro/boss", f"{field}p/{mjd}/spec-{field}-{mjd}-{number:0>11}"
        elif run2d.startswith("v6"):
            root, path = "dr19/spectro/boss", f"{field:0>6}/{mjd}/spec-{field:0>6}-{mjd}-{number}"
        else:
            root = "dr17/eboss/spectro" if run2d.startswith("v") else "dr17/sdss/spectro"
            path = f"{field:0>4}/spec-{field:0>4}-{mjd}-{number:0>4}"
        return f"{self.service}/sas/{root}/redux/{run2d}/spectra/lite/{path}.fits"

    def is_of(self, spectrum: Spectrum, *, field: str, mjd: str, number: str, run2d: str) -> bool:
        plate = [int(part) for part in spectrum.ids.get("plate-mjd-fiber", "").split("-") if part.isdecimal()]
        is_object = plate == [int(field), int(mjd), int(number)]
        if int(number) > _FIBRES:
            is_object = spectrum.ids.get("catalogid") == number and plate[1:2] in ([], [int(mjd)])
        return is_object and run2d in ("", spectrum.meta.get("run2d"))


class Sparcl(Archive):
    """SPARCL of NOIRLab's Astro Data Lab: records of SDSS, BOSS and DESI, kept as JSON with all that it gave."""

    form = deferred("a specid (DESI: the TARGETID) or a sparcl_id; with @RELEASE for a certain data release")
    pattern = r"(?P<number>-?\d{1,20}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(@(?P<release>[\w.-]{2,30}))?"
    service = "https://astrosparcl.datalab.noirlab.edu"
    _fields: list[dict[str, str]] | None = None

    def parts(self, spectrum_id: str) -> dict[str, str]:
        parts = super().parts(spectrum_id)
        if re.fullmatch(r"\d+", parts["number"]) and (unsigned := int(parts["number"])) >= 2**63:
            # An SDSS specObjID, which SPARCL has in 64 bits with a sign.
            parts["number"] = str(unsigned - 2**64)
        return parts

    def file_name(self, spectrum_id: str) -> str:
        return f"sparcl-{spectrum_id.replace('@', '-')}.json"

    def content(self, *, number: str, release: str) -> bytes:
        url = f"{self.service}/sparc"
        try:
            # The service has names of its own for fields ("origdp"), by data release.
            self._fields = self._fields or self.http.json(f"{url}/datafields/")
            dataset, sparcl_id = self._record(f"{url}/find/", number, release, self._fields or [])
            own = {each["newdp"]: each["origdp"] for each in self._fields or [] if each["data_release"] == dataset}
            names = {own[name]: name for name in (*sparcl.FIELDS, *sparcl.ARRAYS) if name in own}
            _, answer = self.http.json(f"{url}/spectras/", [sparcl_id], include=",".join(names), format="json")
            record = {names[key]: value for key, value in answer.items() if key in names}
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = deferred("found an answer in another form than SPARCL's ({error})", error=repr(error))
            raise ArchiveError(reason) from None
        record |= {"fetched_from": url, "fetched_at": datetime.now(UTC).isoformat(timespec="seconds")}
        return json.dumps(record).encode()

    def _record(self, url: str, number: str, release: str, fields: Iterable[Mapping[str, str]]) -> tuple[str, str]:
        """Return data release and sparcl_id of the record: that of the newest release, DR1 after EDR."""
        own = {each["newdp"]: each["origdp"] for each in fields}
        by, value = ("sparcl_id", number) if number.count("-") == 4 else ("specid", int(number))
        search = {"outfields": [own["sparcl_id"], own["data_release"]], "search": [[own[by], value]]}
        _, *records = self.http.json(url, search, limit="100")
        known = [(record[own["data_release"]], str(record[own["sparcl_id"]])) for record in records]
        ranked = [(int("0" + re.sub(r"\D", "", name)), name, key) for name, key in known if release in ("", name)]
        newest = [(name, key) for rank, name, key in ranked if rank == max(ranked)[0]]
        if len(newest) != 1:
            listed = ", ".join(map(" ".join, newest or known)) or tr("no record")
            raise ArchiveError(deferred("found {listed}; expected one record, named by its sparcl_id", listed=listed))
        return newest[0]

    def is_of(self, spectrum: Spectrum, *, number: str, release: str) -> bool:
        return number in spectrum.ids.values() and release in ("", spectrum.meta.get("data_release"))


class Desi(Archive):
    """Coadds by healpix of DESI DR1: of a large file only the target's rows are read and kept, with its redshift."""

    form = deferred("SURVEY-PROGRAM-HEALPIX-TARGETID, e.g. sv1-dark-17683-39627652591521181")
    pattern = r"(?P<survey>[a-z\d]{2,9})-(?P<program>[a-z]{2,9})-(?P<pixel>\d{1,5})-(?P<target>\d{1,18})"
    service = "https://data.desi.lbl.gov"
    _files: tuple[str, Any, Any] = "", None, None

    def file_name(self, spectrum_id: str) -> str:
        return f"desi-{spectrum_id}.fits"

    def content(self, *, survey: str, program: str, pixel: str, target: str) -> bytes:
        folder = f"{self.service}/public/dr1/spectro/redux/iron/healpix/{survey}/{program}/{int(pixel) // 100}/{pixel}"
        address = f"{folder}/coadd-{survey}-{program}-{pixel}.fits"
        files, self._files = self._files, ("", None, None)  # not used again after a failure
        try:
            with warnings.catch_warnings(action="ignore"):  # astropy's, of what then raises an exception
                if files[0] != address:
                    files = address, self._opened(address), self._opened(address.replace("/coadd-", "/redrock-"))
                content = _one_target(address, int(target), *files[1:])
        except (OSError, LookupError, ValueError, TypeError) as error:
            raise ArchiveError(deferred("found a damaged coadd ({error}); expected DESI's", error=error)) from None
        self._files = files
        return content

    def _opened(self, address: str) -> Any:
        from astropy.io import fits

        return fits.open(io.BufferedReader(_Remote(self.http, address), 2**16))

    def is_of(self, spectrum: Spectrum, *, target: str, **_: str) -> bool:
        return spectrum.survey == "DESI" and spectrum.ids.get("targetid") == target


def _one_target(address: str, target: int, coadd: Any, redrock: Any) -> bytes:
    """Return a FITS file with the rows of one target, in the layout of DESI."""
    from astropy.io import fits

    fibermap, fitted = coadd["FIBERMAP"].data, redrock["REDSHIFTS"].data
    rows = [row for row, each in enumerate(fibermap["TARGETID"].tolist()) if each == target]
    if len(rows) != 1:
        actual = deferred("{url}: found {n} rows of {target}; expected one", url=address, n=len(rows), target=target)
        raise ArchiveError(actual)
    _, survey, program, pixel = Path(address).stem.split("-")
    primary = fits.PrimaryHDU()
    primary.header.update(SURVEY=survey, PROGRAM=program, HPXPIXEL=int(pixel))
    primary.header["HISTORY"] = f"TARGETID {target} of {address}"
    hdus = [primary, fits.BinTableHDU(fibermap[rows], name="FIBERMAP")]
    for arm in "BRZ":
        hdus.append(fits.ImageHDU(coadd[f"{arm}_WAVELENGTH"].data, name=f"{arm}_WAVELENGTH"))
        for name in (f"{arm}_FLUX", f"{arm}_IVAR", f"{arm}_MASK"):
            hdus.append(fits.ImageHDU(coadd[name].section[rows[0] : rows[0] + 1, :], name=name))
    hdus.append(fits.BinTableHDU(fitted[fitted["TARGETID"] == target], name="REDSHIFTS"))
    fits.HDUList(hdus).writeto(packed := io.BytesIO())
    return packed.getvalue()


class _Remote(io.RawIOBase):
    """A file of a server, of which parts are read."""

    def __init__(self, http: HttpClient, url: str) -> None:
        self._http, self._url, self._at = http, url, 0
        start, stated = http.content(url, headers=_part(0, 2880))
        _checked_fits(start)
        if (size := re.fullmatch(r"bytes 0-\d+/(\d+)", stated)) is None:
            raise ArchiveError(deferred("{url}: found the whole file; expected the part that was requested", url=url))
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
        content, _ = self._http.content(self._url, pause=False, headers=_part(self._at, end))
        if len(content) != end - self._at:
            raise RequestFailed(self._url, deferred("the answer broke off"))
        buffer[: len(content)] = content
        self._at = end
        return len(content)


def _part(start: int, end: int) -> dict[str, str]:
    return {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}  # a part of the file itself


ARCHIVES: Mapping[str, type[Archive]] = {"sparcl": Sparcl, "sdss": Sdss, "desi": Desi}
