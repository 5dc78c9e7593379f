"""The pictures of a trace for a judge: kept ones as pixels alone, the others drawn again."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

from PIL import Image

from agent import tool
from agent.plot import RENDERER, pixels_sha256
from agent.trajectory import Trajectory
from reviewer.store import Store


class PictureGone(Exception):
    """A picture that was seen and cannot be had any more: one sentence why."""


def pictures(store: Store, trajectory: Trajectory, spectrum_sha256: str | None) -> tuple[Image.Image, ...]:
    """By their number on the sheet: the first picture, then each zoom's (as ``sheet.pictures_of``).

    :raises PictureGone: one is neither kept nor drawn with the same pixels
    """
    seen: list[tuple[str, dict[str, Any]]] = []
    if trajectory.overview is not None:
        seen.append((trajectory.overview, {}))
    seen += [(zoom.picture, dict(zoom.arguments)) for zoom in trajectory.zooms if zoom.picture is not None]
    spectrum = None
    made = []
    for sha256, arguments in seen:
        kept = store.picture(sha256)
        if kept is not None:
            made.append(Image.open(io.BytesIO(kept)).convert("RGBA"))
            continue
        if spectrum_sha256 is None:
            raise PictureGone(f"picture {sha256:.12}… is not kept, and there is no spectrum to draw it from")
        if spectrum is None:
            spectrum = replace(store.spectrum(spectrum_sha256), redshift=trajectory.redshift)
        drawn = tool.call(spectrum, arguments).image
        if drawn is None or pixels_sha256(drawn) != sha256:
            raise PictureGone(f"picture {sha256:.12}… is drawn with other pixels here (renderer {RENDERER})")
        made.append(drawn)
    return tuple(made)
