"""Routes of the review aids: measurements, templates, loci and similar spectra, which the page shows next to a trace.

Everything is computed from the spectrum, never from what people decided about the item that is open."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response

from agent.lines import Medium
from agent.measure import Measured
from agent.measure.line_table import CommonVelocity, LineMeasurement, LineTable, line_table
from agent.measure.two_points import between_points, in_frame
from agent.spectrum import Spectrum
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.visibility import require_visible

HOUR = "private, max-age=3600"
"""For answers that only a new version of the program, or of a template file, can change."""

router = APIRouter(prefix="/api", dependencies=[Depends(require_visible)])


@router.get("/spectrum/{sha256}/lines")
def lines(person: PersonDep, context: ContextDep, response: Response, sha256: str, task: str = "") -> dict[str, Any]:
    """All lines of the class: centroid, velocity, FWHM and equivalent width at the file's redshift and at zero."""
    spectrum = context.gallery.spectrum(sha256)
    response.headers["Cache-Control"] = HOUR
    made: dict[str, Any] = context.aids.get(
        ("lines", sha256, task), lambda: lines_json(spectrum, line_table(spectrum, context.tasks.get(task)))
    )
    return made


@router.get("/measure")
def measure(
    person: PersonDep,
    context: ContextDep,
    spectrum: str,
    lo: Annotated[float, Query(gt=0, allow_inf_nan=False)],
    hi: Annotated[float, Query(gt=0, allow_inf_nan=False)],
    frame: Literal["observed", "rest"] = "observed",
    medium: Medium = "vacuum",
    z: Annotated[float, Query(gt=-1, allow_inf_nan=False)] = 0.0,
) -> dict[str, Any]:
    """Equivalent width, flux and Gaussian between two continuum points, in the frame and medium of the window.

    ``z`` converts between the two frames; it is not used where the spectrum is in the frame of the window.
    """
    found = between_points(in_frame(context.gallery.spectrum(spectrum), frame, medium, z), (min(lo, hi), max(lo, hi)))
    fit = found.fit
    return {
        "ew": measured_json(found.ew),
        "flux": None if found.flux is None else {**_pair(found.flux), "unit": found.flux.unit},
        "centroid": measured_json(fit.centre if fit else None),
        "fwhm": measured_json(fit.fwhm if fit else None),
        "continuum": [[round(at, 3), digits(flux)] for at, flux in found.continuum] if found.continuum else None,
        "reason": found.reason,
    }


def lines_json(spectrum: Spectrum, table: LineTable) -> dict[str, Any]:
    return {
        "z": table.z,
        "z_known": table.z is not None,
        "medium": spectrum.medium,
        "medium_assumed": bool(spectrum.meta.get("medium_assumed")),
        "rows": [
            {
                "name": row.name,
                "species": row.species,
                "rest": round(row.rest, 3),
                "of_task": row.of_task,
                "at_z": _line_json(row.at_z),
                "at_zero": _line_json(row.at_zero),
                "sky": row.at_z.sky if table.z is not None else row.at_zero.sky,
            }
            for row in table.rows
        ],
        "velocity": _velocity_json(table.velocity if table.z is not None else table.velocity_at_zero),
        "velocity_at_zero": _velocity_json(table.velocity_at_zero),
    }


def _line_json(found: LineMeasurement) -> dict[str, Any]:
    return {
        "centroid": measured_json(found.centroid),
        "velocity": measured_json(found.velocity),
        "fwhm": measured_json(found.fwhm),
        "ew": measured_json(found.ew),
        "sky": found.sky,
        "reason": found.reason,
    }


def _velocity_json(found: CommonVelocity | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        **_pair(found.mean),
        "lines": found.lines,
        "chi2": digits(found.chi2, 4),
        "agree": found.agree,
        "text": found.text,
    }


def measured_json(value: Measured | None) -> dict[str, float] | None:
    """Return value and error with as many digits as the error supports; None for None."""
    return None if value is None else _pair(value)


def _pair(value: Measured) -> dict[str, float]:
    if value.error <= 0:
        return {"value": digits(value.value), "error": 0.0}
    error = digits(value.error, 3)
    decimals = len(f"{error:.12f}".rstrip("0").partition(".")[2]) if error >= 1e-9 else None
    return {"value": digits(value.value, 6) if decimals is None else round(value.value, decimals), "error": error}


def digits(value: float, significant: int = 5) -> float:
    """Round to significant digits, for JSON."""
    return float(f"{value:.{significant}g}")
