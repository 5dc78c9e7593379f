"""Routes of the review aids: measurements, templates and loci, which the page shows next to a trace.

Everything is computed from the spectrum, never from what people decided about the item that is open."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Depends, Query, Request, Response
from numpy.typing import NDArray

from agent.hints.line_table import CommonVelocity, LineAt, LineTable, line_table
from agent.language import tr
from agent.lines import Medium
from agent.loci import Place, Plane, Point, place, planes, points
from agent.measure import Measured, rest
from agent.measure.two_points import between_points, in_frame
from agent.spectrum import Spectrum
from agent.spectrum.objects import date_text
from agent.spectrum.sparkline import sparkline
from agent.templates import Library, Match, TemplateError, rank
from agent.templates.rank import STELLAR
from reviewer.rules.campaign import known_templates
from reviewer.rules.item_numbers import item_of_alias
from reviewer.store import NotFound, QueueRow
from reviewer.web.context import FOREVER, NOT_STORED, Context, ContextDep, PersonDep
from reviewer.web.live import LiveDep, QueriedSpectrumDep, SpectrumDep
from reviewer.web.models import aids as answers
from reviewer.web.models.sky import Period, SkyPanel
from reviewer.web.payload import digits
from reviewer.web.sky import empty_panel, panel_of, period_of_band, same_file
from reviewer.web.verdict_first import HIDDEN, VerdictFirst, VerdictFirstDep, shows_names
from reviewer.web.visibility import VisibleDep, VisibleItems, require_visible

BEST = 10
"""Templates in the ranking that the page gets."""
MOST_EPOCHS = 6
"""Other spectra of an object that are drawn at once, spread over all by date: there are so many tones."""
KIND_OF_TASK = {"cv": "CV", "cc": "carbon", "ss": "S", "gm": "M giant", "wd": "WD", "o": "O", "b": "B", "a": "A"}
"""Class of templates that a task is about."""

OF_TEMPLATE = "template:"
"""How the key of a template's sparkline begins."""

FloatArray = NDArray[np.float64]

router = APIRouter(prefix="/api/v1", dependencies=[Depends(require_visible)])


def for_an_hour(request: Request, response: Response) -> None:
    """Let the browser cache an answer that only a new version of the program, or of a template file, can change.

    An alias names another spectrum in another database behind the same address.
    """
    named_by_hash = item_of_alias(request.path_params["sha256"]) is None
    response.headers["Cache-Control"] = "private, max-age=3600" if named_by_hash else NOT_STORED["Cache-Control"]
    # The answer has sentences, in the language of the request.
    response.headers["Vary"] = "Cookie, Accept-Language"


@router.get("/spectrum/{sha256}/lines", dependencies=[Depends(for_an_hour)])
def lines(context: ContextDep, spectrum: SpectrumDep, task: str = "") -> answers.LineTable:
    """All lines of the class: centroid, velocity, FWHM and equivalent width at the file's redshift and at zero."""
    table: LineTable = context.aids.get(
        ("lines", spectrum.sha256, task), lambda: line_table(spectrum, context.tasks.get(task))
    )
    return lines_of(spectrum, table)


@router.get("/measure")
def measure(
    spectrum: QueriedSpectrumDep,
    lo: Annotated[float, Query(gt=0, allow_inf_nan=False)],
    hi: Annotated[float, Query(gt=0, allow_inf_nan=False)],
    frame: Literal["observed", "rest"] = "observed",
    medium: Medium = "vacuum",
    z: Annotated[float, Query(gt=-1, allow_inf_nan=False)] = 0.0,
) -> answers.Measurement:
    """Equivalent width, flux and Gaussian between two continuum points, in the frame and medium of the window.

    ``z`` converts between the two frames; it is not used where the spectrum is in the frame of the window.
    """
    between = between_points(in_frame(spectrum, frame, medium, z), (min(lo, hi), max(lo, hi)))
    fit, flux = between.fit, between.flux
    return answers.Measurement(
        ew=_quantity(between.ew),
        flux=None if flux is None else answers.MeasuredFlux(**_digits_of(flux), unit=flux.unit),
        centroid=_quantity(fit.centre if fit else None),
        fwhm=_quantity(fit.fwhm if fit else None),
        continuum=[(round(at, 3), digits(level)) for at, level in between.continuum] if between.continuum else None,
        reason=between.reason,
    )


def lines_of(spectrum: Spectrum, table: LineTable) -> answers.LineTable:
    """Return the table of lines of a spectrum, in the language of the context."""
    return answers.LineTable(
        z=table.z,
        z_known=table.z is not None,
        medium=spectrum.medium,
        medium_assumed=bool(spectrum.meta.get("medium_assumed")),
        rows=[
            answers.LineRow(
                name=row.name,
                species=row.species,
                rest=round(row.rest, 3),
                of_task=row.of_task,
                at_z=_line(row.at_z),
                at_zero=_line(row.at_zero),
                sky=row.at_z.sky if table.z is not None else row.at_zero.sky,
            )
            for row in table.rows
        ],
        velocity=_velocity(table.velocity if table.z is not None else table.velocity_at_zero),
        velocity_at_zero=_velocity(table.velocity_at_zero),
    )


def _line(measured: LineAt) -> answers.LineMeasured:
    return answers.LineMeasured(
        centroid=_quantity(measured.centroid),
        velocity=_quantity(measured.velocity),
        fwhm=_quantity(measured.fwhm),
        ew=_quantity(measured.ew),
        sky=measured.sky,
        reason=measured.reason,
        certain=measured.certain,
    )


def _velocity(velocity: CommonVelocity | None) -> answers.CommonVelocity | None:
    if velocity is None:
        return None
    return answers.CommonVelocity(
        **_digits_of(velocity.mean),
        lines=velocity.lines,
        chi2=digits(velocity.chi2, 4),
        agree=velocity.agree,
        text=velocity.text,
    )


def _quantity(value: Measured | None) -> answers.Quantity | None:
    return None if value is None else answers.Quantity(**_digits_of(value))


def _digits_of(value: Measured) -> dict[str, float]:
    """Return value and error with as many digits as the error supports."""
    if value.error <= 0:
        return {"value": digits(value.value), "error": 0.0}
    error = digits(value.error, 3)
    decimals = len(f"{error:.12f}".rstrip("0").partition(".")[2]) if error >= 1e-9 else None
    return {"value": digits(value.value, 6) if decimals is None else round(value.value, decimals), "error": error}


# ---- templates


@router.get("/spectrum/{sha256}/templates", dependencies=[Depends(for_an_hour)])
def templates(context: ContextDep, spectrum: SpectrumDep, sha256: str, task: str = "") -> answers.TemplateMatches:
    """The ten best templates of all, and the best of each class. None of a hidden item: the library names real
    objects, and this spectrum may be one of them."""
    if item_of_alias(sha256) is not None:
        return answers.TemplateMatches(matches=[], best_of_class=[], z=spectrum.redshift, note=tr(HIDDEN))
    library, problems = _library(context)
    matches = _matches(context, spectrum)
    rows = [_match(number, match, library) for number, match in enumerate(matches, start=1)]
    best: dict[str, answers.TemplateMatch] = {}
    for row in rows:
        best.setdefault(row.kind, row)
    return answers.TemplateMatches(
        matches=rows[:BEST],
        best_of_class=list(best.values()),
        z=spectrum.redshift,
        note=" ".join(_notes(spectrum, KIND_OF_TASK.get(task), best, problems)),
    )


@router.get("/templates/{template_id}")
def template(context: ContextDep, spectrum: QueriedSpectrumDep, template_id: str) -> answers.Template:
    """One template, the redshift at which it matches a spectrum, and the polynomial that brings it to its flux."""
    library, _ = _library(context)
    if template_id not in library:
        raise NotFound(tr("There is no template with this id."))
    template = library[template_id]
    seen = np.isfinite(template.flux)
    wavelength, flux = template.wavelength[seen], template.flux[seen]
    match = next((m for m in _matches(context, spectrum) if library.templates[m.place].about.id == template_id), None)
    if match is None:
        z = 0.0 if spectrum.frame == "rest" else spectrum.redshift or 0.0
        multiplier = np.full(flux.size, level_ratio(spectrum, wavelength, flux))
    else:
        z, multiplier = match.z, match.multiplier(wavelength)
    about = template.about
    return answers.Template(
        id=about.id,
        name=about.name,
        kind=about.kind,
        subtype=about.subtype,
        medium="vacuum",
        frame="rest",
        wavelength=np.round(wavelength, 2).tolist(),
        flux=[digits(value) for value in flux.tolist()],
        z=z,
        multiplier=[digits(value) for value in multiplier.tolist()],
        ranked=match is not None,
        source=about.source,
        citation=about.citation,
        repository=about.repository,
        licence=about.licence,
        resolving_power=about.resolving_power,
    )


def level_ratio(spectrum: Spectrum, wavelength: FloatArray, flux: FloatArray) -> float:
    """Return the ratio of the median fluxes of a spectrum and a template (vacuum Å, at rest) where both have data; of
    all data if they have nothing in common.
    """
    at_rest = rest(spectrum, None, "vacuum")
    seen = at_rest.ivar > 0
    common = seen & (at_rest.wavelength >= wavelength[0]) & (at_rest.wavelength <= wavelength[-1])
    used = common if common.any() else seen
    if not used.any():
        return 1.0
    own = np.interp(at_rest.wavelength[used], wavelength, flux)
    return float(np.median(at_rest.flux[used]) / (np.median(own) or 1.0))


def _library(context: Context) -> tuple[Library, tuple[TemplateError, ...]]:
    library: tuple[Library, tuple[TemplateError, ...]] = context.aids.get(
        ("library",), lambda: known_templates(context.store.path)
    )
    return library


def _matches(context: Context, spectrum: Spectrum) -> list[Match]:
    library, _ = _library(context)
    matches: list[Match] = context.aids.get(("ranked", spectrum.sha256), lambda: rank(spectrum, library))
    return matches


def _match(number: int, match: Match, library: Library) -> answers.TemplateMatch:
    about = library.templates[match.place].about
    return answers.TemplateMatch(
        id=about.id,
        name=about.name,
        kind=about.kind,
        subtype=about.subtype,
        source=about.source,
        reduced_chi2=digits(match.reduced_chi2, 4),
        velocity=_digits_of(Measured(match.velocity, match.error or 0.0, "km/s"))["value"],
        velocity_error=None if match.error is None else digits(match.error, 3),
        z=digits(match.z, 7),
        overlap=round(match.overlap, 3),
        rank=number,
    )


def _notes(
    spectrum: Spectrum, class_name: str | None, classes: Collection[str], problems: Sequence[TemplateError]
) -> list[str]:
    """Return sentences on what limits the ranking."""
    notes = []
    if not classes:
        notes.append(tr("No template covers enough of this spectrum."))
    elif class_name is not None and class_name not in classes:
        notes.append(
            tr(
                "No template of the class of the question ({wanted}) covers enough of this spectrum.",
                wanted=class_name,
            )
        )
    if spectrum.frame == "observed" and spectrum.redshift is None:
        notes.append(tr("The file has no redshift: all templates were tried within 1 000 km/s of zero."))
    elif spectrum.redshift is not None and spectrum.frame == "observed" and abs(spectrum.redshift) > STELLAR:
        notes.append(tr("The redshift of the file is no star's: stars were also tried within 1 000 km/s of zero."))
    if spectrum.meta.get("medium_assumed"):
        notes.append(tr("The file does not state air or vacuum: if air is wrong, velocities are 80 km/s off."))
    notes += [str(problem) for problem in problems]
    return notes


# ---- sparklines


@router.get("/sparklines")
def sparklines(
    person: PersonDep,
    context: ContextDep,
    live: LiveDep,
    visible: VisibleDep,
    response: Response,
    of: Annotated[str, Query(pattern="^[^,]+(,[^,]+){0,199}$", max_length=20_000)],
) -> answers.Sparklines:
    """Up to 200 spectra as SVG paths. ``of``: their hashes or aliases, as ``spectrum`` of the rows, or "template:" with
    the id of a template, separated by commas."""
    keys = dict.fromkeys(of.split(","))
    templates = {key: key.removeprefix(OF_TEMPLATE) for key in keys if key.startswith(OF_TEMPLATE)}
    hashes = visible.spectra([key for key in keys if key not in templates])
    paths: dict[str, str | None] = dict(context.store.spectra.sparklines([*hashes.values()]))
    bench = live.benches.of(person.initials)
    drawn = {key: paths[sha256] if sha256 in paths else bench.sparkline(sha256) for key, sha256 in hashes.items()}
    drawn |= {key: _sparkline_of_template(context, name) for key, name in templates.items()}
    known = {key: path for key, path in drawn.items() if path is not None}
    lasting = len(known) == len(keys) and all(item_of_alias(key) is None and key not in templates for key in keys)
    response.headers.update(FOREVER if lasting else NOT_STORED)
    return answers.Sparklines(sparklines=known)


def _sparkline_of_template(context: Context, template_id: str) -> str | None:
    library, _ = _library(context)
    if template_id not in library:
        return None
    path: str = context.aids.get(("sparkline", template_id), lambda: sparkline(library[template_id].spectrum()))
    return path


# ---- epochs


@router.get("/item/{item_id}/epochs")
def epochs(
    context: ContextDep, visible: VisibleDep, first: VerdictFirstDep, item_id: int, curves: bool = False
) -> answers.Epochs:
    """The other spectra of the object of an item. None of an item whose answer is hidden, and none that is hidden: one
    name for both would tell.
    """
    return epochs_of(context, visible, first, context.store.items.get(item_id).row, curves)


def epochs_of(
    context: Context, visible: VisibleItems, first: VerdictFirst, row: QueueRow, curves: bool = False
) -> answers.Epochs:
    """Return the other spectra of the object of the item in this row, as far as the person may see them."""
    if row.spectrum_sha256 is None or first.hides(row):
        return answers.Epochs(number=1, date="", others=[], complete=True)
    known, complete = context.store.objects.epochs(row.spectrum_sha256)
    seen = visible.spectra([epoch.sha256 for epoch in known])
    rows = context.store.queue.rows_of_spectrum(*seen) if seen else []
    hidden = visible.items | first.hidden(rows)
    dates = {epoch.sha256: "" if epoch.mjd is None else date_text(epoch.mjd) for epoch in known}
    shown: dict[str, QueueRow] = {}
    for each in sorted(rows, key=lambda each: each.task != row.task):
        sha256 = each.spectrum_sha256 or ""
        # The same file in another medium, which a person stated, is no other epoch.
        is_same = (each.name, dates[sha256]) == (row.name, dates[row.spectrum_sha256])
        if each.item_id not in hidden and each.state != "withdrawn" and not is_same:
            shown.setdefault(sha256, each)
    others = [(sha256, shown[sha256]) for sha256 in dates if sha256 in shown]
    drawn = {sha256 for sha256, _ in others[:: -(-len(others) // MOST_EPOCHS) or 1]} if curves else set()
    this = context.gallery.spectrum(row.spectrum_sha256) if drawn else None
    return answers.Epochs(
        number=len(others) + 1,
        date=dates.get(row.spectrum_sha256, ""),
        others=[
            answers.Epoch(
                item=other.item_id,
                name=other.name,
                survey=other.survey,
                spectrum=sha256,
                date=dates[sha256],
                curve=_curve(context.gallery.spectrum(sha256), this) if this and sha256 in drawn else None,
            )
            for sha256, other in others
        ],
        complete=complete,
    )


def _curve(spectrum: Spectrum, this: Spectrum) -> answers.EpochCurve:
    z = next((each.redshift for each in (spectrum, this) if each.redshift is not None), 0.0)
    placed = in_frame(spectrum, this.frame, this.medium, z)
    levels = []
    for curve, other in ((this, placed), (placed, this)):
        both = (curve.ivar > 0) & (curve.wavelength >= other.wavelength[0])
        both &= curve.wavelength <= other.wavelength[-1]
        levels.append(float(np.median(curve.flux[both])) if both.any() else 0.0)
    ratio = levels[0] / levels[1] if min(levels) > 0 else 1.0
    flux = zip((ratio * placed.flux).tolist(), (placed.ivar > 0).tolist(), strict=True)
    return answers.EpochCurve(
        wavelength=np.round(placed.wavelength, 3).tolist(),
        flux=[digits(value) if is_data else None for value, is_data in flux],
    )


# ---- the sky


@router.get("/spectrum/{sha256}/sky")
def sky(
    person: PersonDep, context: ContextDep, visible: VisibleDep, spectrum: SpectrumDep, sha256: str, response: Response
) -> SkyPanel:
    """What catalogues know of the object, from the records in the database. Nothing of a hidden item; names and types
    only after your own verdict."""
    response.headers.update(NOT_STORED)
    if item_of_alias(sha256) is not None:
        return empty_panel(HIDDEN)
    hashes = [*visible.spectra(same_file(spectrum)).values()]
    rows = context.store.queue.rows_of_spectrum(*hashes)
    return panel_of(context, spectrum, hashes, shows_names(context.store, person, rows))


@router.get("/spectrum/{sha256}/sky/period")
def sky_period(
    context: ContextDep, visible: VisibleDep, spectrum: SpectrumDep, sha256: str, band: str, response: Response
) -> Period:
    """The strongest period of a light curve of the sky panel, by its band. Nothing of a hidden item."""
    response.headers.update(NOT_STORED)
    if item_of_alias(sha256) is not None:
        return Period(period=None, false_alarm=None, reason=HIDDEN)
    return period_of_band(context, spectrum, [*visible.spectra(same_file(spectrum)).values()], band)


# ---- loci


@router.get("/spectrum/{sha256}/loci", dependencies=[Depends(for_an_hour)])
def loci(context: ContextDep, spectrum: SpectrumDep, task: str = "") -> answers.Loci:
    """The planes that separate the class from its look-alikes: the templates, and this spectrum."""
    known_task = context.tasks.get(task)
    shown = () if known_task is None else planes(known_task, context.tasks)
    return answers.Loci(plots=[_plot(context, spectrum, plane) for plane in shown])


def _plot(context: Context, spectrum: Spectrum, plane: Plane) -> answers.LocusPlot:
    library, _ = _library(context)
    known: list[Point] = context.aids.get(("points", plane.key), lambda: points(plane, library))
    here: Place = context.aids.get(("place", plane.key, spectrum.sha256), lambda: place(plane, spectrum))
    own = None
    if here.x is not None and here.y is not None:
        own = answers.LocusPlace(
            x=digits(here.x.value, 4),
            y=digits(here.y.value, 4),
            x_error=digits(here.x.error, 3),
            y_error=digits(here.y.error, 3),
        )
    return answers.LocusPlot(
        title=plane.title,
        x=answers.LocusAxis.model_validate(plane.x),
        y=answers.LocusAxis.model_validate(plane.y),
        points=[answers.LocusPoint(x=digits(p.x, 4), y=digits(p.y, 4), kind=p.kind, name=p.name) for p in known],
        this=own,
        reason=here.reason,
    )
