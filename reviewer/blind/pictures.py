"""The pictures that scorers and judges see: all with the neutral title, whatever stood in the stored ones.

A picture is drawn anew where the spectrum is stored. Otherwise the title of the kept picture is replaced.
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, get_args

import numpy as np
from PIL import Image

from agent import tool
from agent.errors import Refusal
from agent.language import tr
from agent.sky import context
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from reviewer.blind.titles import has_neutral_title, replace_title

PictureState = Literal["drawn anew", "title removed", "unchanged"]
PICTURE_STATES: tuple[PictureState, ...] = get_args(PictureState)
"""From the stored spectrum; a kept picture with the neutral title in place of its own; a kept picture that is none of
the published renderer's, so that its title, if it has one, cannot be found: it may reveal its source.
"""


class PictureUnavailable(Refusal):
    """A picture that is neither stored nor can be drawn: one sentence why."""


class Spectra(Protocol):
    """Stored spectra and pictures: the store's ``spectra``."""

    def exists(self, sha256: str) -> bool: ...

    def get(self, sha256: str) -> Spectrum: ...

    def picture(self, sha256: str) -> bytes | None: ...


@dataclass(frozen=True)
class NeutralPicture:
    """A picture as it is shown, RGBA, and what was done for it."""

    image: Image.Image
    state: PictureState

    @property
    def may_reveal(self) -> bool:
        """Whether something other than the neutral title, or no title, stands above the axes."""
        return not (has_neutral_title(self.image) or context.has_own_titles(self.image))


@dataclass(frozen=True)
class PictureOf:
    """One picture of a trace: its name (SHA-256 of the pixels that the model saw), the arguments of the tool for it
    (None: it shows the sky, and cannot be drawn again), and the number of its step, from 1; 0 for the first picture,
    which no step has.
    """

    name: str
    arguments: Mapping[str, Any] | None
    step: int


def list_pictures(trajectory: Trajectory) -> tuple[PictureOf, ...]:
    """Return the pictures of a trace by their number on the sheet: the first picture, then each zoom's."""
    pictures = [] if trajectory.overview is None else [PictureOf(trajectory.overview, {}, 0)]
    numbers = {step.id: number for number, step in enumerate(trajectory.steps, start=1)}
    pictures += [
        PictureOf(zoom.picture, zoom.arguments if zoom.shows_spectrum else None, numbers[zoom.id])
        for zoom in trajectory.zooms
        if zoom.picture is not None
    ]
    return tuple(pictures)


def neutral_picture(
    spectra: Spectra, picture: PictureOf, spectrum_sha256: str | None, redshift: float | None
) -> NeutralPicture:
    """Return one picture as scorers and judges see it.

    :param redshift: of the trajectory: the spectrum is drawn in the rest frame that follows from it
    :raises PictureUnavailable: it is not kept, and there is no spectrum from which it can be drawn
    """
    if picture.arguments is not None and spectrum_sha256 is not None and spectra.exists(spectrum_sha256):
        spectrum = replace(spectra.get(spectrum_sha256), redshift=redshift)
        drawn = tool.call(spectrum, dict(picture.arguments)).image
        if drawn is not None:
            return NeutralPicture(drawn, "drawn anew")
    kept = spectra.picture(picture.name)
    if kept is None:
        raise PictureUnavailable(
            tr("picture {name:.12}… is not kept and cannot be drawn from a stored spectrum", name=picture.name)
        )
    return _without_title(picture.name, kept)


def neutral_pictures(
    spectra: Spectra, trajectory: Trajectory, spectrum_sha256: str | None
) -> tuple[NeutralPicture, ...]:
    """Return the pictures of a trace as scorers and judges see them, by their number on the sheet.

    :param spectra: the store's ``spectra``
    :raises PictureUnavailable: one is not kept, and there is no spectrum from which it can be drawn
    """
    return tuple(
        neutral_picture(spectra, picture, spectrum_sha256, trajectory.redshift) for picture in list_pictures(trajectory)
    )


def count_states(
    spectra: Spectra, traces: Iterable[tuple[str, str | None, Trajectory]]
) -> Mapping[str, Counter[PictureState]]:
    """Count the pictures of traces by source and state, without drawing any.

    :param traces: source, SHA-256 of the spectrum, and trajectory. Pictures that cannot be shown are not counted
    """
    counts: dict[str, Counter[PictureState]] = defaultdict(Counter)
    for source, sha256, trajectory in traces:
        kept, pictures = _kept_only(spectra, sha256, trajectory)
        counts[source]["drawn anew"] += pictures - len(kept)
        for _, shown in kept:
            if shown is not None:
                counts[source][shown.state] += 1
    return {source: +counted for source, counted in sorted(counts.items())}


def revealing_pictures(spectra: Spectra, sha256: str | None, trajectory: Trajectory) -> tuple[PictureOf, ...]:
    """Return the pictures of a trace that have something other than the neutral title above their axes.

    Those that are drawn anew have it from ``agent.tool``, and are not drawn here.
    """
    kept, _ = _kept_only(spectra, sha256, trajectory)
    return tuple(picture for picture, shown in kept if shown is not None and shown.may_reveal)


def _kept_only(
    spectra: Spectra, sha256: str | None, trajectory: Trajectory
) -> tuple[list[tuple[PictureOf, NeutralPicture | None]], int]:
    """Return the pictures that cannot be drawn anew, each as it is shown (None: not at all); and how many there are."""
    pictures = list_pictures(trajectory)
    spectrum = None
    if sha256 is not None and pictures and spectra.exists(sha256):
        spectrum = replace(spectra.get(sha256), redshift=trajectory.redshift)
    neutral: list[tuple[PictureOf, NeutralPicture | None]] = []
    for picture in pictures:
        if spectrum is not None and _can_draw(spectrum, picture.arguments):
            continue
        kept = spectra.picture(picture.name)
        try:
            neutral.append((picture, None if kept is None else _without_title(picture.name, kept)))
        except PictureUnavailable:
            neutral.append((picture, None))
    return neutral, len(pictures)


def _can_draw(spectrum: Spectrum, arguments: Mapping[str, Any] | None) -> bool:
    """Return whether the tool answers with a picture."""
    if arguments is None:
        return False
    window = arguments.get("wavelength_range")
    wavelength = tool.tool_wavelength(spectrum)
    finite = np.isfinite(spectrum.flux) & np.isfinite(wavelength)
    if window is None:
        return bool(finite.any())
    try:
        low, high = (float(end) for end in window)
    except (TypeError, ValueError, OverflowError):
        return False
    return bool(low < high and (finite & (wavelength >= low) & (wavelength <= high)).any())


def _without_title(name: str, kept: bytes) -> NeutralPicture:
    """:raises PictureUnavailable: the kept file cannot be read"""
    try:
        with Image.open(io.BytesIO(kept)) as opened:
            image = opened.convert("RGBA")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise PictureUnavailable(tr("picture {name:.12}… is kept, but it cannot be read", name=name)) from error
    replaced = replace_title(image)
    return NeutralPicture(image, "unchanged") if replaced is None else NeutralPicture(replaced, "title removed")
