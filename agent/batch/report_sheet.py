"""The pictures of a trace on one sheet, in the order in which the model saw them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from agent import tool
from agent.plot import pixels_sha256
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from agent.trajectory.steps import Zoom

WIDEST = 2480
"""Pixels across: three of the usual pictures, at the size at which the model saw them."""
_MARGIN, _GAP = 24, 20
_TITLE, _TEXT = 22, 15  # pixels
_CAPTION = 2 * (_TEXT + 7)
_HEADER = _TITLE + _TEXT + 34
_INK, _FAINT = "#1a1d21", "#5b6470"
_LONGEST = 400  # characters of a caption that are looked at


@dataclass(frozen=True)
class Shown:
    """A picture of the trace: its number in reading order (from 1), what it shows and, beneath, its label."""

    number: int
    sha256: str
    what: str
    label: str


def shown(trajectory: Trajectory) -> list[Shown]:
    """The pictures in reading order, the full spectrum first. A call that drew nothing has none."""
    seen = [] if trajectory.overview is None else [(trajectory.overview, "full spectrum", "")]
    seen += [(z.picture, window_text(z), z.label) for z in trajectory.zooms if z.picture is not None]
    return [Shown(number, *one) for number, one in enumerate(seen, start=1)]


def window_text(zoom: Zoom) -> str:
    """``6500–6630 Å, rest frame (z 0.0012), vacuum``, or that none was asked for."""
    frame = f"rest frame (z {zoom.z:.6g})" if zoom.frame == "rest" else "observed"
    window = "the full spectrum" if zoom.window is None else f"{zoom.window[0]:g}–{zoom.window[1]:g} Å"
    return f"{window}, {frame}, {zoom.medium}"


def pictures(trajectory: Trajectory, spectrum: Spectrum) -> dict[str, Image.Image]:
    """The pictures drawn again, by the SHA-256 of their RGBA bytes. One that comes out differently, as from
    another release of the renderer, is left out."""
    drawn = [tool.overview(spectrum)]
    looks = (tool.call(spectrum, dict(zoom.arguments)).image for zoom in trajectory.zooms if zoom.picture)
    drawn += [image for image in looks if image is not None]
    by_hash = {pixels_sha256(image): image for image in drawn}
    return {one.sha256: by_hash[one.sha256] for one in shown(trajectory) if one.sha256 in by_hash}


def strip(trajectory: Trajectory, spectrum: Spectrum, pngs: Mapping[str, bytes] | None = None) -> Image.Image:
    """All pictures of the trace on white, numbered, with window and label beneath, in rows.

    :param pngs: the pictures as PNG bytes by the SHA-256 of their RGBA bytes, where they are at hand; else
        they are drawn again from ``spectrum``
    """
    if pngs is None:
        images = pictures(trajectory, spectrum)
    else:
        images = {sha256: Image.open(io.BytesIO(png)) for sha256, png in pngs.items()}
    there = [one for one in shown(trajectory) if one.sha256 in images]
    rows = _rows(there, images)
    heights = [max(images[one.sha256].height for one in row) + _CAPTION for row in rows]
    width = max((_width(row, images) for row in rows), default=800)
    height = _HEADER + sum(heights) + _GAP * len(rows) + _MARGIN
    sheet = Image.new("RGB", (max(width, 800), height), "white")
    pen = ImageDraw.Draw(sheet)
    _header(pen, trajectory, spectrum, sheet.width - 2 * _MARGIN)
    top = _HEADER
    for row, tall in zip(rows, heights, strict=True):
        left = _MARGIN
        for one in row:
            image = images[one.sha256].convert("RGBA")
            sheet.paste(image, (left, top), image)
            _caption(pen, one, left, top + image.height, image.width)
            left += image.width + _GAP
        top += tall + _GAP
    return sheet


def _rows(there: list[Shown], images: Mapping[str, Image.Image]) -> list[list[Shown]]:
    rows: list[list[Shown]] = []
    for one in there:
        if rows and _width([*rows[-1], one], images) <= WIDEST:
            rows[-1].append(one)
        else:
            rows.append([one])
    return rows


def _width(row: list[Shown], images: Mapping[str, Image.Image]) -> int:
    return 2 * _MARGIN + sum(images[one.sha256].width for one in row) + _GAP * (len(row) - 1)


def _header(pen: ImageDraw.ImageDraw, trajectory: Trajectory, spectrum: Spectrum, room: int) -> None:
    answer = trajectory.answer
    verdict = "no answer" if answer is None else answer.verdict or "an answer that is neither YES nor NO"
    simulated = " · simulated spectrum" if trajectory.simulated else ""
    title = f"{spectrum.name} · {trajectory.task} · {verdict}{simulated}"
    pen.text((_MARGIN, 18), _fitting(title, _font(_TITLE), room), fill=_INK, font=_font(_TITLE))
    by = f"by {trajectory.drafter.name} · {spectrum.survey or 'survey not known'}"
    below = 18 + _TITLE + 10
    pen.text((_MARGIN, below), _fitting(by, _font(_TEXT), room), fill=_FAINT, font=_font(_TEXT))


def _caption(pen: ImageDraw.ImageDraw, one: Shown, left: int, top: int, room: int) -> None:
    font = _font(_TEXT)
    pen.text((left, top + 4), _fitting(f"{one.number} · {one.what}", font, room), fill=_INK, font=font)
    if one.label:
        pen.text((left, top + 4 + _TEXT + 5), _fitting(one.label, font, room), fill=_FAINT, font=font)


def _fitting(text: str, font: ImageFont.FreeTypeFont, room: int) -> str:
    """The text on one line of at most ``room`` pixels, cut with an ellipsis."""
    line = " ".join(text[:_LONGEST].encode("utf-8", "replace").decode().split())
    if font.getlength(line) <= room and len(text) <= _LONGEST:
        return line
    while line and font.getlength(line + "…") > room:
        line = line[:-1]
    return line + "…"


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    # Matplotlib brings a font that has Greek and Å, whatever the machine has.
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size)
