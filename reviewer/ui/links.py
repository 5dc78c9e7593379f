"""Where else to look at an object: deep links by coordinates or survey id. Nothing is fetched here."""

from __future__ import annotations

from urllib.parse import urlencode

from agent.spectrum import Spectrum


def links(spectrum: Spectrum) -> list[dict[str, str]]:
    """``[{"name", "url"}]``: SIMBAD and Gaia DR3 (VizieR I/355) around the position, the survey's page."""
    found = []
    if spectrum.ra is not None and spectrum.dec is not None:
        place = f"{spectrum.ra:.6f} {spectrum.dec:+.6f}"
        simbad = urlencode({"Coord": place, "Radius": 10, "Radius.unit": "arcsec"})
        gaia = urlencode({"-source": "I/355/gaiadr3", "-c": place, "-c.rs": 10, "-out.add": "_r"})
        found.append({"name": "SIMBAD", "url": f"https://simbad.cds.unistra.fr/simbad/sim-coo?{simbad}"})
        found.append({"name": "Gaia", "url": f"https://vizier.cds.unistra.fr/viz-bin/VizieR-4?{gaia}"})
    page = _survey_page(spectrum)
    if page and not spectrum.meta.get("simulated"):
        found.append({"name": spectrum.survey, "url": page})
    return found


def _survey_page(spectrum: Spectrum) -> str | None:
    ids, survey = spectrum.ids, spectrum.survey.upper()
    # An obsid holds from release to release; some early files carry a negative one, which no page knows.
    if survey.startswith("LAMOST") and ids.get("obsid", "").isdigit():
        return "https://www.lamost.org/dr10/v2.0/spectrum/view?" + urlencode({"obsid": ids["obsid"]})
    if survey.startswith("SDSS") and ids.get("plate-mjd-fiber", "").count("-") == 2:
        plate, mjd, fiber = ids["plate-mjd-fiber"].split("-")
        query = urlencode({"plate": plate, "mjd": mjd, "fiber": fiber})
        return f"https://skyserver.sdss.org/dr18/VisualTools/explore/summary?{query}"
    if survey.startswith("DESI") and ids.get("targetid"):
        return f"https://www.legacysurvey.org/viewer/desi-spectrum/dr1/targetid{ids['targetid']}"
    return None


def sexagesimal(ra: float, dec: float) -> str:
    """A position (degrees, ICRS) as ``19 48 27.70 −13 17 34.0``, ready to be pasted into any search box."""
    tenths_s = round((ra % 360) / 15 * 3600 * 100)
    hours, rest = divmod(tenths_s, 360_000)
    minutes, seconds = divmod(rest, 6_000)
    sign = "-" if dec < 0 else "+"
    tenths = round(abs(dec) * 3600 * 10)
    degrees, rest = divmod(tenths, 36_000)
    arcmin, arcsec = divmod(rest, 600)
    right = f"{hours % 24:02d} {minutes:02d} {seconds / 100:05.2f}"
    return f"{right} {sign}{degrees:02d} {arcmin:02d} {arcsec / 10:04.1f}"
