"""The sky panel: what the stored records of catalogues say of the object of a spectrum. Nothing is queried here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from agent.language import deferred, joined, tr, trn
from agent.measure.values import Measured, Undefined
from agent.sky import photometry, plane
from agent.sky.facts import UNITS, SkyFacts, SkyQuantity, facts_of
from agent.sky.maps import MAGNITUDES, CatalogueMap, bundled
from agent.sky.matching import NO_FIBRE, FloatArray, julian_year, light_in_fibre, match_radius, matched, offsets
from agent.sky.records import SkyRecord, Source
from agent.spectrum import Spectrum
from agent.spectrum.objects import observed_at
from agent.spectrum.record import medium_may_be_set
from agent.spectrum.table import flux_unit
from reviewer.store.sky import sky_of_texts
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
_INTERNAL = "1e-17 erg/s/cm2/Angstrom"


def same_file(spectrum: Spectrum) -> tuple[str, ...]:
    """Return the hashes under which a file is stored: where it does not state its medium, a person may have, and then
    the same numbers have another hash."""
    others = ("air", "vacuum") if medium_may_be_set(spectrum) else ()
    return tuple(dict.fromkeys((spectrum.sha256, *(replace(spectrum, medium=m).sha256 for m in others))))  # type: ignore[arg-type]


def empty_panel(note: str) -> answers.SkyPanel:
    """Return a panel that says nothing but why."""
    return answers.SkyPanel(
        catalogues=[],
        numbers=[],
        point=None,
        loci=[],
        bands=[],
        sed_scale=None,
        sed_note="",
        finder=None,
        curves=[],
        names=[],
        names_hidden=False,
        simulated=False,
        note=note,
    )


def panel_of(context: Context, spectrum: Spectrum, hashes: Sequence[str], with_names: bool) -> answers.SkyPanel:
    """Return the panel of a spectrum.

    :param hashes: under which the records of its object may be stored
    :param with_names: show catalogues of names, and those that this program does not know
    """
    texts = context.store.sky.texts(*hashes)
    with context.store.database.decoding():
        sky = sky_of_texts(texts)
    if not sky:
        return empty_panel(
            tr(
                "No catalogue has been queried about this spectrum. `spec-o3 sky fetch` writes a table of their "
                "answers, and `spec-o3 sky import` adds it."
            )
        )
    open_records = [record for record in sky if _catalogue(record) is not None]
    hidden = [record for record in sky if _catalogue(record) is None]
    facts: SkyFacts = context.aids.get(("sky", spectrum.sha256, *texts), lambda: facts_of(sky, spectrum))
    bands, scale, note = _bands(context, spectrum, facts, open_records)
    return answers.SkyPanel(
        catalogues=[_answer(record) for record in (*open_records, *(hidden if with_names else ()))],
        numbers=[_number(name, label, facts.quantities[name]) for name, label in _LABELS.items()],
        point=_point(facts),
        loci=[answers.Locus.model_validate(locus) for locus in plane.loci()],
        bands=bands,
        sed_scale=scale,
        sed_note=note,
        finder=_finder(spectrum, facts),
        curves=[curve for _, curve in curves_of(facts, open_records)],
        names=[name for record in hidden if with_names for name in _names(record)],
        names_hidden=bool(hidden) and not with_names,
        simulated=any(record.simulated for record in open_records),
        note="",
    )


def curves_of(facts: SkyFacts, records: Sequence[SkyRecord]) -> list[tuple[str, answers.Curve]]:
    """Return the light curves of the object with the keys of their catalogues, one per band. Where two catalogues have
    a band of one name, the names of both say which."""
    curves: list[tuple[str, str, answers.Curve]] = []
    for record in records:
        source = _source(record, facts)
        curve = source.curve if source is not None else None
        for band in dict.fromkeys(curve.band) if curve is not None else ():
            at = [number for number, name in enumerate(curve.band) if name == band]  # type: ignore[union-attr]
            columns = {name: [getattr(curve, name)[number] for number in at] for name in ("mjd", "magnitude", "error")}
            curves.append((record.catalogue, band, answers.Curve(band=band, **columns)))
    names = [band for _, band, _ in curves]
    return [
        (key, curve if names.count(band) == 1 else curve.model_copy(update={"band": f"{band} ({_title(key)})"}))
        for key, band, curve in curves
    ]


def _catalogue(record: SkyRecord) -> CatalogueMap | None:
    """Return the map of a record's catalogue; None: its names, or that it has the object at all, may tell the class."""
    known = bundled().get(record.catalogue)
    return None if known is None or known.role == "names" else known


def _source(record: SkyRecord, facts: SkyFacts) -> Source | None:
    """Return the source of a catalogue that is the object; None if there is none."""
    known = _catalogue(record)
    return None if known is None else matched(record, facts.fibre, known.position_error)


def _title(key: str) -> str:
    known = bundled().get(key)
    return key if known is None else known.title


def _answer(record: SkyRecord) -> answers.CatalogueAnswer:
    known = bundled().get(record.catalogue)
    return answers.CatalogueAnswer(
        catalogue=record.catalogue,
        title=_title(record.catalogue),
        status=record.status,
        detail=record.detail,
        queried_at=record.queried_at,
        service=record.service,
        sources=len(record.sources),
        separation=record.sources[0].separation if record.sources else None,
        citation="" if known is None else known.citation,
        simulated=record.simulated,
    )


def _names(record: SkyRecord) -> Iterator[answers.NameOf]:
    for source in record.sources:
        yield answers.NameOf(
            catalogue=_title(record.catalogue), id=source.id, separation=source.separation, texts=source.texts
        )


def _number(name: SkyQuantity, label: str, value: Measured | Undefined) -> answers.SkyNumber:
    known = value if isinstance(value, Measured) else None
    return answers.SkyNumber(
        name=name,
        label=label,
        unit=UNITS[name],
        value=None if known is None else digits(known.value),
        error=0.0 if known is None else digits(known.error, 3),
        reason=value.reason if isinstance(value, Undefined) else "",
    )


def _point(facts: SkyFacts) -> answers.PlanePoint | None:
    if facts.source is None:
        return None
    colour, magnitude, limit = (
        facts.quantities[name] for name in ("bp_rp", "absolute_magnitude", "absolute_magnitude_limit")
    )
    return answers.PlanePoint(
        bp_rp=digits(colour.value) if isinstance(colour, Measured) else None,
        bp_rp_error=digits(colour.error, 3) if isinstance(colour, Measured) else 0.0,
        absolute_magnitude=digits(magnitude.value) if isinstance(magnitude, Measured) else None,
        error=digits(magnitude.error, 3) if isinstance(magnitude, Measured) else 0.0,
        limit=digits(limit.value) if isinstance(limit, Measured) else None,
        reddening=plane.REDDENING,
        reason=joined(dict.fromkeys(value.reason for value in (colour, magnitude) if isinstance(value, Undefined))),
    )


# ---- photometry


def _bands(
    context: Context, spectrum: Spectrum, facts: SkyFacts, records: Sequence[SkyRecord]
) -> tuple[list[answers.Band], float | None, str]:
    """Return the magnitudes of the catalogues beside those of the spectrum, the scale, and a sentence on both."""
    rows = [
        (record.catalogue, name, source.values[name], source.values.get(f"{name}_error", 0.0))
        for record in records
        if bundled()[record.catalogue].role != "light curve" and (source := _source(record, facts)) is not None
        for name in MAGNITUDES
        if name in source.values
    ]
    synthetic = [_synthetic(context, spectrum, key)[name] for key, name, _, _ in rows]
    differences = [
        own.value - magnitude
        for (_, _, magnitude, _), own in zip(rows, synthetic, strict=True)
        if isinstance(own, Measured)
    ]
    absolute = photometry.is_absolute(spectrum)
    shift = 0.0 if absolute or not differences else median(differences)
    alone = not absolute and len(differences) == 1
    scale = _scale(spectrum) if absolute else 10 ** (-0.4 * shift) if differences else None
    shown = [_band(*row, own, shift, alone) for row, own in zip(rows, synthetic, strict=True)]
    return shown, scale, _sed_note(rows != [], absolute, differences)


def _synthetic(context: Context, spectrum: Spectrum, key: str) -> Mapping[str, Measured | Undefined]:
    survey: photometry.Survey = "panstarrs" if key.startswith("ps1") else "sdss2010"
    known: Mapping[str, Measured | Undefined] = context.aids.get(
        ("synthetic", spectrum.sha256, survey), lambda: photometry.synthetic(spectrum, survey=survey)
    )
    return known


def _scale(spectrum: Spectrum) -> float:
    own, internal = flux_unit(spectrum.flux_unit), flux_unit(_INTERNAL)
    return 1.0 if own is None or internal is None else float(internal.to(own))


def _band(
    key: str, name: str, magnitude: float, error: float, own: Measured | Undefined, shift: float, alone: bool
) -> answers.Band:
    """:param shift: mag, of all synthetic magnitudes; ``alone``: it comes from this band only"""
    survey: photometry.Survey = "panstarrs" if key.startswith("ps1") else "sdss2010"
    flux = photometry.flux_of(name, magnitude, survey)
    synthetic = own.value - shift if isinstance(own, Measured) else None
    reason = own.reason if isinstance(own, Undefined) else ""
    if synthetic is not None and alone:
        reason = deferred("the flux is relative, and no other band can be compared")
    return answers.Band(
        name=name,
        catalogue=_title(key),
        wavelength=round(photometry.pivot(name, survey), 1),
        flux=digits(flux),
        flux_error=digits(0.4 * math.log(10) * error * flux, 3),
        magnitude=magnitude,
        magnitude_error=error,
        synthetic=None if synthetic is None else round(synthetic, 3),
        difference=None if synthetic is None or alone else round(synthetic - magnitude, 3),
        reason=reason,
    )


def _sed_note(any_magnitude: bool, absolute: bool, differences: Sequence[float]) -> str:
    if not any_magnitude:
        return ""
    if not differences and absolute:
        return tr("The spectrum covers no band of the catalogues.")
    if not differences:
        return tr("The flux is relative and the spectrum covers no band of the catalogues: they cannot be drawn on it.")
    if absolute:
        return trn(
            "Spectrum minus catalogue: {median:+.2f} mag in {n} band.",
            "Spectrum minus catalogues: median {median:+.2f} mag over {n} bands.",
            len(differences),
            median=median(differences),
        )
    return trn(
        "The flux is relative: it is scaled to the catalogue in {n} band.",
        "The flux is relative: it is scaled to the catalogues by the median over {n} bands, so only the differences "
        "between bands mean something.",
        len(differences),
    )


# ---- finder


def _finder(spectrum: Spectrum, facts: SkyFacts) -> answers.Finder | None:
    """Return the surroundings at the time of the observation; None where Gaia did not answer.

    The fibre follows the motion of the object from the time at which the position of the file fits it best: surveys
    point at the star.
    """
    record = facts.gaia
    if record is None:
        return None
    catalogue = bundled()[record.catalogue]
    mjd = observed_at(spectrum.ids, spectrum.meta)
    observed = record.epochs[1] if mjd is None else julian_year(mjd)
    motions = (
        np.array([(s.values.get("pm_ra", 0.0), s.values.get("pm_dec", 0.0)) for s in record.sources]).reshape(-1, 2)
        / 1000
    )
    years = observed - np.array([s.values.get("epoch", catalogue.epoch) for s in record.sources])
    place = _offsets(record) + motions * years[:, None]
    light = _light(record, facts.fibre)
    own = [source is facts.source for source in record.sources]
    if facts.source is not None:
        this = own.index(True)
        place = place - _fibre_moved(place[this], motions[this], observed, record.epochs)
    return answers.Finder(
        stars=[
            answers.FieldStar(
                east=round(float(place[n, 0]), 3),
                north=round(float(place[n, 1]), 3),
                motion_east=round(float(motions[n, 0]), 5),
                motion_north=round(float(motions[n, 1]), 5),
                magnitude=source.values.get("G"),
                share=round(float(light[n]), 4),
                matched=own[n],
            )
            for n, source in enumerate(record.sources)
        ],
        fibre=facts.fibre,
        radius=record.radius,
        blend=None if facts.blend is None else digits(facts.blend.share, 3),
        text=_finder_text(record, facts, catalogue),
    )


def _offsets(record: SkyRecord) -> FloatArray:
    """Return offsets (n, 2) to the east and north of the record's position in arcseconds, at the catalogue's epochs."""
    ra, dec = (np.array([getattr(source, name) for source in record.sources]) for name in ("ra", "dec"))
    return offsets(record.ra, record.dec, ra, dec)


def _fibre_moved(place: FloatArray, motion: FloatArray, observed: float, epochs: tuple[float, float]) -> FloatArray:
    """Return how far (2,) the fibre has moved with the object since its position fitted best.

    :param place: offset (2,) of the object when it was observed
    """
    speed = float(motion @ motion)
    since = float(place @ motion) / speed if speed > 0 else 0.0
    moved: FloatArray = motion * (observed - np.clip(observed - since, *epochs))
    return moved


def _light(record: SkyRecord, fibre: float | None) -> FloatArray:
    """Return the share (n,) of each source of the light in the fibre; without a magnitude it counts as the faintest."""
    known = [source.values["G"] for source in record.sources if "G" in source.values]
    level = np.array([source.values.get("G", max(known, default=0.0)) for source in record.sources])
    light = 10 ** (-0.4 * level) * light_in_fibre(np.array([source.separation for source in record.sources]), fibre)
    shares: FloatArray = light / max(float(light.sum()), 1e-300)
    return shares


def _finder_text(record: SkyRecord, facts: SkyFacts, catalogue: CatalogueMap) -> str:
    if not record.sources:
        return tr("{title} has no source within {radius:g}″.", title=catalogue.title, radius=record.radius)
    nearest = record.sources[0].separation
    if facts.source is None or facts.blend is None:
        return tr(
            "{title} has no source within {limit:.1f}″; the nearest one is {nearest:.1f}″ away.",
            title=catalogue.title,
            limit=match_radius(facts.fibre),
            nearest=nearest,
        )
    which = tr("{title} {id}, {nearest:.2f}″ away.", title=catalogue.title, id=facts.source.id, nearest=nearest)
    share = facts.blend.share
    if len(record.sources) == 1:
        other = tr("It is the only source within {radius:g}″.", radius=record.radius)
    elif facts.blend.is_blend:
        other = tr("A blend: other sources add {share:.0%} of its light to the fibre.", share=share)
    else:
        other = tr("No blend: other sources add {share:.1%} of its light to the fibre.", share=share)
    return f"{which} {other}" if facts.fibre is not None else f"{which} {other} {_no_fibre()}"


def _no_fibre() -> str:
    return tr("The fibre is not known; an aperture of {diameter:g}″ is taken.", diameter=2 * NO_FIBRE)
