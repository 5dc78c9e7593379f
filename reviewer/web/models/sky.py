"""Answers of the sky panel: what catalogues know of the object of a spectrum."""

from __future__ import annotations

from typing import Literal

from reviewer.web.models import Answer, Message

Status = Literal["found", "not found", "not asked", "failed"]


class CatalogueAnswer(Answer):
    """What one catalogue answered. ``detail``: why it failed or was not queried. ``queried_at``: ISO 8601, or "".
    Catalogues of names are left out as long as ``names_hidden``: membership may tell the class."""

    catalogue: str
    title: str
    status: Status
    detail: str
    queried_at: str
    service: str
    sources: int
    separation: float | None
    citation: str
    simulated: bool


class SkyNumber(Answer):
    """A quantity with its label, or the reason why there is none."""

    name: str
    label: Message
    unit: str
    value: float | None
    error: float
    reason: Message


class Locus(Answer):
    """A drawn sequence or region of the colour-magnitude plane: a line, or the outline of a region."""

    name: str
    kind: Literal["line", "region"]
    bp_rp: list[float]
    absolute_magnitude: list[float]
    citation: str
    name_at: tuple[float, float] | None  # the middle of its name; None: there is no space for it


class PlanePoint(Answer):
    """Where the object lies: M_G with error, or, where the parallax is too uncertain, only the faintest possible M_G
    (``limit``: it is as bright as this or brighter). ``reddening``: the change of both for E(B−V) = 0.1."""

    bp_rp: float | None
    bp_rp_error: float
    absolute_magnitude: float | None
    error: float
    limit: float | None
    reddening: tuple[float, float]
    reason: Message


class Band(Answer):
    """A catalogue magnitude as flux (F_λ, 1e-17 erg/s/cm²/Å) at the band's pivot wavelength (Å, vacuum), and the
    synthetic magnitude of the spectrum. ``difference``: synthetic minus catalogue, mag; None where the spectrum does
    not cover the band, or has a relative flux and covers no other one (``reason``)."""

    name: str
    catalogue: str
    wavelength: float
    flux: float
    flux_error: float
    magnitude: float
    magnitude_error: float
    synthetic: float | None
    difference: float | None
    reason: Message


class FieldStar(Answer):
    """A source of Gaia: offsets to the east and north of the fibre (arcseconds) at the time of the observation, its
    motion (arcsec/yr), magnitude, and the share of the light in the fibre that is its own (0 to 1)."""

    east: float
    north: float
    motion_east: float
    motion_north: float
    magnitude: float | None
    share: float
    matched: bool


class Finder(Answer):
    """The surroundings. ``fibre``: diameter in arcseconds, None: not known. ``blend``: light of other sources over that
    of the matched one; ``radius``: of the field, arcseconds. ``text``: which source it is, in one sentence."""

    stars: list[FieldStar]
    fibre: float | None
    radius: float
    blend: float | None
    text: str


class Curve(Answer):
    """A light curve of one band."""

    band: str
    mjd: list[float]
    magnitude: list[float]
    error: list[float]


class NameOf(Answer):
    """What a catalogue of names calls a source; only after one's own verdict."""

    catalogue: str
    id: str
    separation: float
    texts: dict[str, str]


class SkyPanel(Answer):
    """Everything of the panel. ``names_hidden``: names and types exist, but wait for the person's own verdict.
    ``sed_scale``: factor that brings the catalogue fluxes of ``bands`` to the unit of the spectrum. Of a relative flux
    it is the median over the bands that the spectrum covers (``sed_note``), and synthetic magnitudes are scaled by it;
    None where it covers none: then no point can be drawn on the spectrum."""

    catalogues: list[CatalogueAnswer]
    numbers: list[SkyNumber]
    point: PlanePoint | None
    loci: list[Locus]
    bands: list[Band]
    sed_scale: float | None
    sed_note: str
    finder: Finder | None
    curves: list[Curve]
    names: list[NameOf]
    names_hidden: bool
    simulated: bool
    note: str


class Period(Answer):
    """The strongest period of a light curve (days), and its false-alarm probability by Baluev's bound."""

    period: float | None
    false_alarm: float | None
    reason: Message
