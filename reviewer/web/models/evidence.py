"""What is drawn and measured beside a trace. Wavelengths are in Å, in the medium and frame named beside them."""

from __future__ import annotations

from pydantic import Field

from agent.hints import Level
from agent.hints.spans import Kind as SpanKind
from agent.hints.spans import Status as SpanStatus
from agent.lines import LineKind, SkyKind
from agent.spectrum.record import Medium
from reviewer.web.models import Answer, Message
from reviewer.web.models.item import ZoomDrawn


class PipelineModel(Answer):
    """The model that a survey's pipeline fitted, on the pixels of the spectrum and in its flux unit."""

    name: str
    flux: list[float]


class SingleExposure(Answer):
    """One exposure of a spectrum, in its medium, frame and flux unit; null where there is no data."""

    name: str
    wavelength: list[float]
    flux: list[float | None]


class Exposures(Answer):
    """The single exposures of a spectrum."""

    exposures: list[SingleExposure]


class AtlasLine(Answer):
    """A line or band head, at rest; ``major``: drawn by default, ``task``: it belongs to the task."""

    name: str
    wavelength: float
    medium: Medium
    kind: LineKind
    major: bool
    task: bool


class AtlasBand(Answer):
    """Observed wavelengths disturbed by the sky, the atmosphere or the join of two arms."""

    name: str
    lo: float
    hi: float
    medium: Medium
    kind: SkyKind


class AtlasRange(Answer):
    """The wavelengths of a task, at rest."""

    lo: float
    hi: float
    medium: Medium


class Atlas(Answer):
    """Lines, band heads and sky bands of a spectrum; ``range`` null: the task has no features."""

    lines: list[AtlasLine]
    bands: list[AtlasBand]
    range: AtlasRange | None


class Hint(Answer):
    """A measurement beside a tool call or a thought.

    ``level`` ok: right on real spectra in at least 95 % of the cases; look: asks for attention; plain: a fact.
    """

    level: Level
    kind: str
    text: Message
    why: Message = Field(description="how often this kind of hint is right")


class ItemHints(Answer):
    """The hints on each tool call of an item, by step."""

    hints: dict[str, list[Hint]]


class Span(Answer):
    """A part of a text that is tied to pixels, or to a step. Offsets are those of JavaScript strings."""

    start: int
    end: int
    kind: SpanKind
    status: SpanStatus
    range: tuple[float, float] | None = Field(description="Å on the axis of the spectrum's data")
    about: str | None = Field(description="the step it is about")
    note: Message
    new: str | None = Field(description="the text that agrees with the data")


class StatementDisagreement(Answer):
    """A text that disagrees with its tool call or with the answer."""

    step: str
    text: str


class Statements(Answer):
    """The parts of each text that state something, by step, and what disagrees."""

    spans: dict[str, list[Span]]
    disagreements: list[StatementDisagreement]


class ZoomPreview(Answer):
    """A tool call that was carried out and not stored; the page gives the step its id."""

    step: ZoomDrawn
    png: str | None = Field(description="the picture in base64; null: none was drawn")
    hints: list[Hint]
