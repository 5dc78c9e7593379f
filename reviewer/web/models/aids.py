"""Answers of the review aids: measurements, templates and loci. Wavelengths and equivalent widths are in Å."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.lines import Medium
from reviewer.web.models import Answer, Message


class Quantity(Answer):
    """A value with its 1σ error, with as many digits as the error supports; an error of 0: not known."""

    value: float
    error: float


class MeasuredFlux(Quantity):
    """A flux; ``unit`` is that of the spectrum times Å."""

    unit: str


class Measurement(Answer):
    """What lies between two continuum points, in the frame and medium of the window."""

    ew: Quantity | None = Field(description="absorption > 0")
    flux: MeasuredFlux | None = Field(description="emission > 0")
    centroid: Quantity | None
    fwhm: Quantity | None
    continuum: list[tuple[float, float]] | None = Field(description="wavelength and flux of the two points")
    reason: Message = Field(description="why a number is missing; empty if none is")


class LineMeasured(Answer):
    """A line at one redshift, measured in the rest frame and medium of the spectrum."""

    centroid: Quantity | None
    velocity: Quantity | None = Field(description="km/s against the redshift used")
    fwhm: Quantity | None = Field(description="km/s, as seen, the spectrograph's own width included")
    ew: Quantity | None = Field(description="at rest, absorption > 0")
    sky: Message = Field(description="what covers its centre: a sky line, a telluric band or an arm join")
    reason: Message = Field(description="why there are no numbers, or why they are not certain")
    certain: bool = Field(description="false where the peak may be another line")


class LineRow(Answer):
    """A line at the redshift of the file and at zero; ``rest``: its wavelength in the medium of the spectrum."""

    name: str
    species: str
    rest: float
    of_task: bool = Field(description="it is one of the features of the task")
    at_z: LineMeasured
    at_zero: LineMeasured
    sky: Message


class CommonVelocity(Quantity):
    """The mean velocity of the detected lines in km/s, and whether they agree on it."""

    lines: int
    chi2: float
    agree: bool
    text: Message


class LineTable(Answer):
    """All lines of a class in a spectrum."""

    z: float | None
    z_known: bool
    medium: Medium
    medium_assumed: bool
    rows: list[LineRow]
    velocity: CommonVelocity | None = Field(description="against the redshift of the file, or zero without one")
    velocity_at_zero: CommonVelocity | None


class TemplateMatch(Answer):
    """A template in the ranking; velocities in km/s."""

    id: str
    name: str
    kind: str = Field(serialization_alias="class")
    subtype: str
    source: str
    reduced_chi2: float
    velocity: float
    velocity_error: float | None
    z: float
    overlap: float
    rank: int


class TemplateMatches(Answer):
    """The best templates, the best of each class, and what limits the ranking."""

    matches: list[TemplateMatch]
    best_of_class: list[TemplateMatch]
    z: float | None = Field(description="of the file")
    note: str


class Template(Answer):
    """A template at rest; its flux times ``multiplier``, shifted to ``z``, matches the spectrum."""

    id: str
    name: str
    kind: str = Field(serialization_alias="class")
    subtype: str
    medium: Literal["vacuum"]
    frame: Literal["rest"]
    wavelength: list[float]
    flux: list[float]
    z: float
    multiplier: list[float]
    ranked: bool
    source: str
    citation: str
    repository: str
    licence: str
    resolving_power: float = Field(description="0: not known")


class EpochCurve(Answer):
    """A spectrum in the frame and medium of another, multiplied to its median flux where both have data."""

    wavelength: list[float]
    flux: list[float | None]


class Epoch(Answer):
    """Another spectrum of the object of an item."""

    item: int
    name: str
    survey: str
    spectrum: str
    date: str = Field(description="UTC; empty if the file states none")
    curve: EpochCurve | None = Field(description="of six at most, spread over all, and only if asked for")


class Epochs(Answer):
    """The spectra of one object, this one counted, and the others that the person may see, by date."""

    number: int
    date: str = Field(description="of this one")
    others: list[Epoch]
    complete: bool = Field(description="false while spectra that were added lately are still read")


class LocusAxis(Answer):
    """What an axis shows; no unit: a ratio."""

    name: Message
    unit: Message


class LocusPoint(Answer):
    """A template in a plane."""

    x: float
    y: float
    kind: str = Field(serialization_alias="class")
    name: str


class LocusPlace(Answer):
    """The spectrum in a plane, with 1σ errors."""

    x: float
    y: float
    x_error: float
    y_error: float


class LocusPlot(Answer):
    """A plane that separates classes."""

    title: Message
    x: LocusAxis
    y: LocusAxis
    points: list[LocusPoint]
    this: LocusPlace | None
    reason: Message = Field(description="why the spectrum is not in it")


class Loci(Answer):
    """The planes of a class."""

    plots: list[LocusPlot]


class Sparklines(Answer):
    """Spectra as lines of 120 × 24 units, for rows of lists."""

    sparklines: dict[str, str] = Field(
        description="the attribute ``d`` of an SVG path, by key; empty for a spectrum without data. What does not "
        "exist, or may not be seen, is left out"
    )
