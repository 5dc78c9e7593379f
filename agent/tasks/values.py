"""A task as plain values: question, diagnostic guide, features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from agent.lines import Medium, convert, convert_window

Window = tuple[float, float]
FeatureKind = Literal["line", "band", "slope", "index"]
Role = Literal["primary", "secondary", "confuser"]
Quantity = Literal["equivalent_width", "fwhm", "depth", "ratio", "slope", "roughness"]
SkyQuantity = Literal[
    "absolute_magnitude",
    "absolute_magnitude_limit",
    "bp_rp",
    "reduced_proper_motion",
    "parallax_over_error",
    "proper_motion_over_error",
    "tangential_velocity",
    "variability",
    "ruwe",
    "j_k",
    "w1_w2",
    "g_w1",
]
"""What catalogues tell of an object; ``agent.sky.facts`` computes it."""
AxisQuantity = Literal["width", "fwhm", "ratio", "emission_width", "emission_fwhm"]
Sign = Literal["emission", "absorption", "either"]
PromptSource = Literal["ours", "trained", "row"]
"""Where a prompt comes from: the task file, the imported rows of SpecVI-Bench, or the row of the question itself."""


@dataclass(frozen=True)
class Statement:
    """One bullet of a diagnostic guide.

    ``weight`` is the word in bold brackets: Primary, Secondary, ...; ``references`` are keys of ``Task.references``.
    ``why`` is the physics behind the sign; empty if the file does not state it.
    """

    section: str
    weight: str
    text: str
    references: tuple[str, ...]
    why: str = ""


class _Bounded:
    above: float | None
    below: float | None

    def is_present(self, value: float) -> bool:
        """Return whether a measured ``quantity`` lies within the bounds."""
        return (self.above is None or value > self.above) and (self.below is None or value < self.below)


@dataclass(frozen=True)
class Feature(_Bounded):
    """A feature to inspect in the rest frame, and how to measure it. All wavelengths are Å in ``medium``.

    :param window: the stretch to zoom into
    :param span: the stretch the feature itself covers
    :param side_bands: the continuum windows; for "slope" the windows whose mean fluxes give it; for "roughness" none
    :param quantity: what is measured: "equivalent_width" (Å, absorption > 0), "fwhm" (km/s), "depth" (mean 1
        − F/C in ``span``), "ratio" (mean flux in ``span`` over that in ``side_bands``), "slope" (d ln F_λ /
        d ln λ) or "roughness" (rms deviation of ``span`` from a smooth curve, as a fraction)
    :param above: the feature counts as present where the quantity is above this; None = unbounded
    :param below: and below this; None = unbounded
    :param sign: for "fwhm", which carries none itself: a line of the other sign is not measured
    :param requires: name of another feature of the task without which this one has no meaning, as the width of a
        line has none without the line; None = always meaningful
    :param role: "confuser" means that its presence speaks against the class
    :param wavelengths: of the lines or band heads themselves, first the principal one
    """

    name: str
    kind: FeatureKind
    role: Role
    medium: Medium
    window: Window
    span: Window
    side_bands: tuple[Window, ...]
    quantity: Quantity
    why: str
    references: tuple[str, ...]
    wavelengths: tuple[float, ...] = ()
    above: float | None = None
    below: float | None = None
    sign: Sign = "either"
    requires: str | None = None

    def in_medium(self, medium: Medium) -> Feature:
        """Return the feature with every wavelength in the wanted medium."""
        return replace(
            self,
            medium=medium,
            window=convert_window(self.window, self.medium, medium),
            span=convert_window(self.span, self.medium, medium),
            side_bands=tuple(convert_window(w, self.medium, medium) for w in self.side_bands),
            wavelengths=tuple(convert(w, self.medium, medium) for w in self.wavelengths),
        )


@dataclass(frozen=True)
class SkyFeature(_Bounded):
    """What the catalogues should tell of an object of the class: the fields mean what those of ``Feature`` do.

    :param quantity: in the unit that ``agent.sky.facts.UNITS`` states; magnitudes without extinction
    :param requires: name of another sky feature of the task
    """

    name: str
    role: Role
    quantity: SkyQuantity
    why: str
    references: tuple[str, ...]
    above: float | None = None
    below: float | None = None
    requires: str | None = None

    wavelengths = ()


@dataclass(frozen=True)
class Confuser:
    """An object that resembles the class, how to tell it apart, and why that separates them (may be empty)."""

    name: str
    tell_apart: str
    references: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True)
class PlaneAxis:
    """One axis of a locus plane: indices of the literature, or a feature of the task.

    :param index: names of indices, whose sum is the axis; empty if it is a feature
    :param quantity: what is measured of the feature; "emission_...": only of a line in emission beyond doubt
    :param name: what the axis is called
    """

    index: tuple[str, ...] = ()
    feature: str = ""
    quantity: AxisQuantity = "width"
    name: str = ""


@dataclass(frozen=True)
class PlaneOfTask:
    """Two axes in which the class and its look-alikes lie apart.

    :param kinds: classes of templates that are shown; empty: all stars. A line's window in a star too cool for the line
        measures something else
    """

    title: str
    x: PlaneAxis
    y: PlaneAxis
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Simulated:
    """Kinds of ``agent.simulate``: those that belong to the class, and those that are mistaken for it."""

    kinds: tuple[str, ...]
    look_alikes: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """One question about a spectrum.

    ``features`` are in order of diagnostic priority; ``references`` maps short keys to "author year journal";
    ``question`` is the line that names the class. ``own_prompt`` replaces the question and the guide, and
    ``prompt_source`` says where it comes from. ``planes_of`` has the keys of tasks whose planes are also shown for this
    one. ``simulated`` is None if no spectra can be simulated for the task. ``sky`` is no part of the prompt.
    """

    key: str
    title: str
    question: str
    statements: tuple[Statement, ...]
    features: tuple[Feature, ...]
    confusers: tuple[Confuser, ...]
    references: Mapping[str, str]
    aliases: tuple[str, ...] = ()
    own_prompt: str | None = None
    prompt_source: PromptSource = "ours"
    planes: tuple[PlaneOfTask, ...] = ()
    planes_of: tuple[str, ...] = ()
    simulated: Simulated | None = None
    sky: tuple[SkyFeature, ...] = ()

    @property
    def guide(self) -> str:
        """The diagnostic guide as Markdown: one bullet per section, below it one bullet per statement, its weight in
        bold, and below that a line with the reason.
        """
        return "\n".join(self._guide(reasons=True))

    @property
    def criteria(self) -> str:
        """The guide without the reasons: what to look for only."""
        return "\n".join(self._guide(reasons=False))

    def _guide(self, reasons: bool) -> Iterator[str]:
        for section, statements in groupby(self.statements, key=lambda s: s.section):
            yield f"- **{section}:**"
            for statement in statements:
                yield f"  - **({statement.weight}):** {statement.text}"
                if reasons and statement.why:
                    yield f"    Why: {statement.why}"
        if self.confusers:
            yield "- **(Confusers):** objects that look alike, and how to tell them apart:"
        for confuser in self.confusers:
            yield f"  - **{confuser.name}:** {confuser.tell_apart}"
            if reasons and confuser.why:
                yield f"    Why: {confuser.why}"

    @property
    def prompt(self) -> str:
        """The user's text after ``<image>\\n``: the question line, a blank line, the guide."""
        if self.own_prompt is not None:
            return self.own_prompt
        return f"{self.question}\n\n{self.guide}"

    @property
    def prompt_without_reasons(self) -> str:
        """The prompt that a nano model is trained with, whose tokenizer knows it word for word."""
        return self.own_prompt if self.own_prompt is not None else f"{self.question}\n\n{self.criteria}"

    def with_prompt(self, prompt: str, source: PromptSource = "row") -> Task:
        """Return the task with another prompt: the whole user's text after ``<image>\\n``."""
        return replace(self, own_prompt=prompt, prompt_source=source)

    def feature(self, name: str) -> Feature:
        """Return the feature of that name. :raises KeyError: there is none"""
        for feature in self.features:
            if feature.name == name:
                return feature
        raise KeyError(name)

    def root(self, feature: Feature) -> Feature:
        """Return the feature on which ``feature`` depends in the end: itself if it requires none."""
        return feature if feature.requires is None else self.root(self.feature(feature.requires))
