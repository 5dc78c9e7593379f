"""Text as matplotlib's Agg backend renders it: DejaVu Sans, 80 dots per inch, auto-hinted.

A word is rasterised once and cached."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from matplotlib import get_data_path
from matplotlib.ft2font import FT2Font, LoadFlags
from matplotlib.transforms import Affine2D
from numpy.typing import NDArray

from agent.plot.curve import DPI

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in pixels, y upwards."""

Across = Literal["left", "center", "right"]
Upwards = Literal["top", "bottom", "baseline", "center_baseline"]

LINE_SPACING = 1.2

_fonts = threading.local()


@dataclass(frozen=True)
class Font:
    size: float
    """In points."""
    bold: bool = False


@dataclass(frozen=True)
class Word:
    """One line of text. Lengths in pixels; they are whole 64ths, so that sums of them are exact."""

    width: float
    height: float
    descent: float
    ink: NDArray[np.uint8]
    """Coverage, (rows, columns), top row first."""
    ink_left: float
    ink_up: float


@dataclass(frozen=True)
class Line:
    """A word and where its baseline starts, relative to the point at which the block is set."""

    word: Word
    x: float
    y: float


@dataclass(frozen=True)
class Block:
    """Lines of text relative to the point at which they are set: their box, and each line."""

    box: Box
    lines: tuple[Line, ...]
    frame: Box
    """Left, bottom, width and height (not corners) of what a drawn frame goes around."""
    angle: float = 0.0

    def at(self, x: float, y: float) -> Box:
        """Return the box when the block is set at (x, y)."""
        x0, y0, x1, y1 = self.box
        return x0 + x, y0 + y, x1 + x, y1 + y


@lru_cache(maxsize=2048)
def word(text: str, font: Font) -> Word:
    """Rasterise ``text`` in ``font``; it must be one line of characters that DejaVu Sans has."""
    face = _face(font)
    face.set_text(text, 0.0, flags=LoadFlags.FORCE_AUTOHINT)
    width, height = face.get_width_height()
    face.draw_glyphs_to_bitmap(antialiased=True)
    left, up = face.get_bitmap_offset()
    descent = face.get_descent() / 64
    return Word(width / 64, height / 64, descent, np.array(face), left / 64, up / 64)


def _face(font: Font) -> FT2Font:
    """Return the font. An FT2Font holds the text it sets, so there is one per thread."""
    faces: dict[Font, FT2Font] = _fonts.__dict__.setdefault("faces", {})
    if font not in faces:
        name = "DejaVuSans-Bold.ttf" if font.bold else "DejaVuSans.ttf"
        faces[font] = FT2Font(f"{get_data_path()}/fonts/ttf/{name}", hinting_factor=8, _kerning_factor=0)
        faces[font].set_size(font.size, DPI)
    faces[font].clear()
    return faces[font]


@lru_cache(maxsize=2048)
def block(text: str, font: Font, across: Across, upwards: Upwards) -> Block:
    """Align lines of text as ``matplotlib.text.Text._get_layout`` does, operation by operation."""
    words, heights, baselines, last_rise, descent = _stacked(text, font)
    width = max(w.width for w in words)
    bottom = baselines[-1] - descent
    height = 0.0 - bottom
    x_at = {"left": 0.0, "center": width / 2, "right": width}[across]
    y_at = {
        "top": 0.0,
        "bottom": bottom,
        "baseline": bottom + descent,
        "center_baseline": bottom + height - last_rise / 2.0,
    }[upwards]
    slack = {"left": 0.0, "center": 0.5, "right": 1.0}[across]
    lines = tuple(Line(w, (width - w.width) * slack - x_at, y - y_at) for w, y in zip(words, baselines, strict=True))
    left, low = min(line.x for line in lines), min(line.y - descent for line in lines)
    right = max(line.x + line.word.width for line in lines)
    high = max(line.y - descent + tall for line, tall in zip(lines, heights, strict=True))
    box = (-x_at, bottom - y_at, -x_at + width, bottom - y_at + height)
    return Block(box, lines, (left, low, right - left, high - low))


@lru_cache(maxsize=16)
def upright(text: str, font: Font) -> Block:
    """Return one line that reads upwards, set at the middle of its lower side, which turns to the right."""
    words, _, (baseline,), _, descent = _stacked(text, font)
    width, bottom = words[0].width, baseline - descent
    turn = Affine2D().rotate_deg(90)
    corners = turn.transform([(0.0, bottom), (0.0, 0.0), (width, 0.0), (width, bottom)])
    (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    x_at, y_at = turn.transform((width / 2.0, bottom)).tolist()
    x, y = (turn.transform((0.0, baseline)) - (x_at, y_at)).tolist()
    box = (x0 - x_at, y0 - y_at, x0 - x_at + (x1 - x0), y0 - y_at + (y1 - y0))
    return Block(box, (Line(words[0], x, y),), box, angle=90.0)


def _stacked(text: str, font: Font) -> tuple[list[Word], list[float], list[float], float, float]:
    """Return the words of the lines, their heights and baselines; the distance of the last baseline above the bottom of
    the line before it; the last descent. The first line's top is at 0.
    """
    strut = word("lp", font)
    step = (strut.height - strut.descent) * LINE_SPACING
    words: list[Word] = []
    heights: list[float] = []
    baselines: list[float] = []
    y = rise = descent = 0.0
    for text_line in text.split("\n"):
        w = word(text_line, font)
        height, descent = max(w.height, strut.height), max(w.descent, strut.descent)
        rise = (height - descent) - y
        y = y - max(step, (height - descent) * LINE_SPACING) if words else -(height - descent)
        words.append(w)
        heights.append(height)
        baselines.append(y)
        y -= descent
    return words, heights, baselines, rise, descent
