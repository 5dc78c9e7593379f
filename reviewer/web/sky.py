"""The sky panel: what the stored records of catalogues say of the object of a spectrum. Nothing is queried here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from agent.language import deferred, joined, tr, trn
from agent.lines import Medium
from agent.measure.values import Measured, Undefined
from agent.sky import photometry, plane
from agent.sky.curves import Period, period_of
from agent.sky.facts import UNITS, SkyFacts, facts_of
from agent.sky.maps import MAGNITUDES, CatalogueMap, bundled
from agent.sky.matching import (
    NO_FIBRE,
    Target,
    julian_year,
    light_in_fibre,
    match_radius,
    matched,
    nearest_offsets,
    offsets,
)
from agent.sky.records import LightCurve, SkyRecord, Source
from agent.spectrum import Spectrum
from agent.spectrum.objects import observed_at
from agent.spectrum.record import medium_may_be_set
from agent.spectrum.table import flux_unit
from agent.tasks.values import SkyQuantity
from reviewer.store import NotFound
from reviewer.web.context import Context
from reviewer.web.models import sky as answers
from reviewer.web.payload import digits

_LABELS: Mapping[SkyQuantity, str] = {
    "absolute_magnitude": deferred("absolute magnitude M_G, without extinction"),
    "absolute_magnitude_limit": deferred("faintest M_G that the parallax allows (2σ)"),
    "bp_rp": deferred("colour BP − RP"),
    "reduced_proper_motion": deferred("reduced proper motion H_G"),
    "parallax_over_error": deferred("parallax over its error"),
    "proper_motion_over_error": deferred("proper motion over its error"),
    "tangential_velocity": deferred("tangential velocity"),
    "variability": deferred("scatter of G, as a share of the flux"),
    "ruwe": deferred("RUWE of the astrometry"),
    "j_k": deferred("colour J − Ks"),
    "w1_w2": deferred("colour W1 − W2"),
    "g_w1": deferred("colour G − W1"),
}
_NOTHING = deferred(
    "No catalogue has been queried about this spectrum. `spec-o3 sky fetch` writes a table of their answers, and "
    "`spec-o3 sky import` adds it."
)
_WAITING = deferred("Names and types are shown after your own verdict.")

_INTERNAL = "1e-17 erg/s/cm2/Angstrom"
_Match = tuple[CatalogueMap, Source]
"""A catalogue, and its source that is the object."""


def same_file(spectrum: Spectrum) -> tuple[str, ...]:
    """Return the hashes under which a file is stored: where it does not state its medium, a person may have, and then
    the same numbers have another hash."""
    media: tuple[Medium, ...] = ("air", "vacuum") if medium_may_be_set(spectrum) else (spectrum.medium,)
    return tuple(replace(spectrum, medium=medium).sha256 for medium in media)


def prepare() -> None:
    """Import what the panel needs, which takes a second and 90 MB."""
    photometry.pivot("G")
    light_in_fibre(np.zeros(1), None)


def empty_panel(note: str, **more: Any) -> answers.SkyPanel:
    """Return a panel that says nothing but why."""
    empty: dict[str, Any] = dict.fromkeys(("catalogues", "numbers", "loci", "bands", "curves", "names"), ())
    empty |= {"point": None, "sed_scale": None, "sed_note": "", "finder": None, "names_hidden": False}
    return answers.SkyPanel.model_validate({**empty, "simulated": False, "note": tr(note), **more})


def panel_of(context: Context, spectrum: Spectrum, hashes: Sequence[str], with_names: bool) -> answers.SkyPanel:
    """Return the panel of a spectrum.

    :param hashes: under which the records of its object may be stored
    :param with_names: show catalogues of names, and those that this program does not know
    """
    sky = context.store.sky.of(*hashes)
    if not sky:
        return empty_panel(_NOTHING)
    records = [record for record in sky if not _tells(record)]
    names = [record for record in sky if _tells(record)]
    if not records and not with_names:
        return empty_panel(_WAITING, names_hidden=True)
    facts = facts_of(sky, spectrum)
    matches = matches_of(records, facts)
    bands, scale, sed_note = _bands(context, spectrum, matches)
    return empty_panel(
        "",
        catalogues=[_answer(record) for record in (*records, *(names if with_names else ()))],
        numbers=[
            answers.SkyNumber(name=name, label=label, unit=UNITS[name], **_number(facts.quantities[name]))
            for name, label in _LABELS.items()
        ],
        point=None if facts.source is None else _point(facts),
        loci=plane.loci(),
        bands=bands,
        sed_scale=scale,
        sed_note=sed_note,
        finder=None if facts.gaia is None else _finder(spectrum, facts, facts.gaia),
        curves=[_curve(name, *curve) for name, curve in curves_of(matches).items()],
        names=[
            {"catalogue": _title(record), "id": each.id, "separation": each.separation, "texts": each.texts}
            for record in names
            if with_names
            for each in record.sources
        ],
        names_hidden=bool(names) and not with_names,
        simulated=any(record.simulated for record in records),
    )


def _tells(record: SkyRecord) -> bool:
    """Whether names in a catalogue, or that it has the object at all, may tell the class; of one that this program does
    not know it may."""
    known = bundled().get(record.catalogue)
    return known is None or known.role == "names"


def matches_of(records: Sequence[SkyRecord], facts: SkyFacts) -> list[_Match]:
    """Return the sources that are the object, of known catalogues."""
    known = [(bundled()[record.catalogue], record) for record in records]
    own = [(catalogue, matched(record, facts.fibre, catalogue.position_error)) for catalogue, record in known]
    return [(catalogue, source) for catalogue, source in own if source is not None]


def _title(record: SkyRecord) -> str:
    known = bundled().get(record.catalogue)
    return record.catalogue if known is None else known.title


def _answer(record: SkyRecord) -> answers.CatalogueAnswer:
    known = bundled().get(record.catalogue)
    same = ("catalogue", "status", "detail", "queried_at", "service", "simulated")
    return answers.CatalogueAnswer(
        **{name: getattr(record, name) for name in same},
        title=_title(record),
        sources=len(record.sources),
        separation=min((source.separation for source in record.sources), default=None),
        citation="" if known is None else known.citation,
    )


def _number(value: Measured | Undefined) -> dict[str, Any]:
    if isinstance(value, Undefined):
        return {"value": None, "error": 0.0, "reason": value.reason}
    return {"value": digits(value.value), "error": digits(value.error, 3), "reason": ""}


def _point(facts: SkyFacts) -> answers.PlanePoint:
    colour, magnitude, limit = (
        _number(facts.quantities[name]) for name in ("bp_rp", "absolute_magnitude", "absolute_magnitude_limit")
    )
    return answers.PlanePoint(
        bp_rp=colour["value"],
        bp_rp_error=colour["error"],
        absolute_magnitude=magnitude["value"],
        error=magnitude["error"],
        limit=limit["value"],
        reddening=plane.REDDENING,
        reason=joined(dict.fromkeys(filter(None, (colour["reason"], magnitude["reason"])))),
    )


# ---- light curves


def curves_of(matches: Sequence[_Match]) -> dict[str, tuple[LightCurve, str]]:
    """Return the light curves of the object, each with one of its bands, by the band. Where two catalogues have a band
    of one name, the names of both say which."""
    curves = [(catalogue.title, source.curve) for catalogue, source in matches if source.curve is not None]
    each = [(title, curve, band) for title, curve in curves for band in dict.fromkeys(curve.band)]
    bands = [band for *_, band in each]
    return {band if bands.count(band) == 1 else f"{band} ({title})": (curve, band) for title, curve, band in each}


def period_of_band(context: Context, spectrum: Spectrum, hashes: Sequence[str], band: str) -> answers.Period:
    """Return the period of a light curve of the panel. :raises NotFound: it has none of that band"""
    sky = context.store.sky.of(*hashes)
    records = [record for record in sky if not _tells(record)]
    known = curves_of(matches_of(records, facts_of(sky, spectrum)))
    if band not in known:
        raise NotFound(tr("There is no light curve of the band {band!r:.40}.", band=band))
    curve, own = known[band]
    period: Period | Undefined = context.aids.get(("period", str(hash(curve)), own), partial(period_of, curve, own))
    if isinstance(period, Undefined):
        return answers.Period(period=None, false_alarm=None, reason=period.reason)
    return answers.Period(period=digits(period.days, 9), false_alarm=digits(period.false_alarm, 3), reason="")


def _curve(name: str, curve: LightCurve, band: str) -> answers.Curve:
    at = [number for number, each in enumerate(curve.band) if each == band]
    columns = {column: [getattr(curve, column)[number] for number in at] for column in ("mjd", "magnitude", "error")}
    return answers.Curve(band=name, **columns)


# ---- photometry


def _bands(
    context: Context, spectrum: Spectrum, matches: Sequence[_Match]
) -> tuple[list[answers.Band], float | None, str]:
    """Return the magnitudes of the catalogues beside those of the spectrum, the scale, and a sentence on both."""
    bands: list[answers.Band] = []
    for catalogue, source in matches:
        survey: photometry.Survey = "panstarrs" if catalogue.key.startswith("ps1") else "sdss2010"
        synthetic: Mapping[str, Measured | Undefined] = context.aids.get(
            ("synthetic", spectrum.sha256, survey), partial(photometry.synthetic, spectrum, survey=survey)
        )
        for name in MAGNITUDES if catalogue.role != "light curve" else ():
            if name in source.values:
                bands.append(_band(catalogue.title, name, source.values, synthetic[name], survey))
    differences = [band.difference for band in bands if band.difference is not None]
    own, internal = flux_unit(spectrum.flux_unit), flux_unit(_INTERNAL)
    if own is not None and internal is not None:
        note = trn(
            "Spectrum minus catalogue: {median:+.2f} mag in {n} band.",
            "Spectrum minus catalogues: median {median:+.2f} mag over {n} bands.",
            len(differences),
            median=median(differences or [0.0]),
        )
        return bands, float(internal.to(own)), note if differences else ""
    if not differences:
        note = tr("The flux is relative and the spectrum covers no band: they cannot be drawn on it.")
        return bands, None, note if bands else ""
    shift, alone = median(differences), len(differences) == 1
    note = trn(
        "The flux is relative: it is scaled to the catalogue in {n} band.",
        "The flux is relative: it is scaled to the catalogues by the median over {n} bands, so only the differences "
        "between bands mean something.",
        len(differences),
    )
    return [_shifted(band, shift, alone) for band in bands], 10 ** (-0.4 * shift), note


def _band(
    title: str, name: str, values: Mapping[str, float], own: Measured | Undefined, survey: photometry.Survey
) -> answers.Band:
    magnitude, error = values[name], values.get(f"{name}_error", 0.0)
    flux = photometry.flux_of(name, magnitude, survey)
    return answers.Band(
        name=name,
        catalogue=title,
        wavelength=round(photometry.pivot(name, survey), 1),
        flux=digits(flux),
        flux_error=digits(0.4 * math.log(10) * error * flux, 3),
        magnitude=magnitude,
        magnitude_error=error,
        synthetic=round(own.value, 3) if isinstance(own, Measured) else None,
        difference=round(own.value - magnitude, 3) if isinstance(own, Measured) else None,
        reason=own.reason if isinstance(own, Undefined) else "",
    )


def _shifted(band: answers.Band, shift: float, alone: bool) -> answers.Band:
    """Return a band with its synthetic magnitude, if there is one, on the scale of the catalogues."""
    if band.synthetic is None or band.difference is None:
        return band
    reason = tr("the flux is relative, and no other band can be compared") if alone else ""
    difference = None if alone else round(band.difference - shift, 3)
    return band.model_copy(
        update={"synthetic": round(band.synthetic - shift, 3), "difference": difference, "reason": reason}
    )


# ---- finder


def _finder(spectrum: Spectrum, facts: SkyFacts, record: SkyRecord) -> answers.Finder:
    """Return the surroundings at the time of the observation.

    The fibre follows the motion of the object from the time at which the position of the file fits it best: surveys
    point at the star.
    """
    catalogue, sources = bundled()[record.catalogue], record.sources
    mjd = observed_at(spectrum.ids, spectrum.meta)
    observed = record.epochs[1] if mjd is None else julian_year(mjd)
    ra, dec, years = (
        np.array([(s.ra, s.dec, observed - s.values.get("epoch", catalogue.epoch)) for s in sources]).reshape(-1, 3).T
    )
    motion = (
        np.array([(s.values.get("pm_ra", 0.0), s.values.get("pm_dec", 0.0)) for s in sources]).reshape(-1, 2) / 1000
    )
    place = offsets(record.ra, record.dec, ra, dec) + motion * years[:, None]
    own = [source is facts.source for source in sources]
    if facts.source is not None:
        target = Target("", record.ra, record.dec, record.epochs)
        place = place - place[own] + nearest_offsets(target, [facts.source], catalogue.epoch)
    # A source without a magnitude counts as the faintest.
    faintest = max((source.values["G"] for source in sources if "G" in source.values), default=0.0)
    light = 10 ** (-0.4 * np.array([source.values.get("G", faintest) for source in sources]))
    light = light * light_in_fibre(np.hypot(*place.T), facts.fibre)
    columns = np.column_stack([place, motion, light / max(float(light.sum()), 1e-300)]).round(5).tolist()
    return answers.Finder(
        stars=[
            answers.FieldStar(
                **dict(zip(("east", "north", "motion_east", "motion_north", "share"), numbers, strict=True)),
                magnitude=source.values.get("G"),
                matched=is_own,
            )
            for source, is_own, numbers in zip(sources, own, columns, strict=True)
        ],
        fibre=facts.fibre,
        radius=record.radius,
        blend=None if facts.blend is None else digits(facts.blend.share, 3),
        text=" ".join(_sentences(record, facts, catalogue.title)),
    )


def _sentences(record: SkyRecord, facts: SkyFacts, title: str) -> Iterator[str]:
    radius, source = record.radius, facts.source
    if not record.sources:
        yield tr("{title} has no source within {radius:g}″.", title=title, radius=radius)
    elif source is None or facts.blend is None:
        limit, nearest = match_radius(facts.fibre), record.sources[0].separation
        yield tr(
            "{title} has no source within {limit:.1f}″; the nearest one is {nearest:.1f}″ away.",
            title=title,
            limit=limit,
            nearest=nearest,
        )
    else:
        yield tr("{title} {id}, {apart:.2f}″ away.", title=title, id=source.id, apart=source.separation)
        if len(record.sources) == 1:
            yield tr("It is the only source within {radius:g}″.", radius=radius)
        elif facts.blend.is_blend:
            yield tr("A blend: other sources add {share:.0%} of its light to the fibre.", share=facts.blend.share)
        else:
            yield tr("No blend: other sources add {share:.1%} of its light to the fibre.", share=facts.blend.share)
        if facts.fibre is None:
            yield tr("The fibre is not known; an aperture of {diameter:g}″ is taken.", diameter=2 * NO_FIBRE)
