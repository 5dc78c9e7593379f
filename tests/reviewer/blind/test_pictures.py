"""The pictures of blind sessions: no title in their pixels tells the file or the source."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from PIL import Image, ImageDraw

from agent import plot, tool
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory, Zoom
from reviewer.blind.pictures import PictureUnavailable, count_states, neutral_pictures, revealing_pictures
from reviewer.blind.titles import has_neutral_title, replace_title
from tests.support.blind_campaign import two_sources

FILE = "Spectrum: spec-56414-HD161547N531412F01_sp07-007.fits"
WAVELENGTH = np.linspace(3700.0, 9100.0, 3000)
FLUX = 1.0 + 0.3 * np.sin(WAVELENGTH / 40.0)


class Stored:
    """Stored spectra and pictures, as the store has them."""

    def __init__(self, *spectra: Spectrum, **pictures: bytes) -> None:
        self.spectra = {spectrum.sha256: spectrum for spectrum in spectra}
        self.pictures = pictures

    def exists(self, sha256: str) -> bool:
        return sha256 in self.spectra

    def get(self, sha256: str) -> Spectrum:
        return self.spectra[sha256]

    def picture(self, sha256: str) -> bytes | None:
        return self.pictures.get(sha256)


def titled(title: str, window: tuple[float, float] | None = None, scale: float = 1.0) -> Image.Image:
    return plot.draw(WAVELENGTH, scale * FLUX, window, title)


TITLES = [FILE, "Spectrum", "M13 $x_2^{gg}$", "first line\nsecond line", "W" * 70, ".", "gpqy (Å)"]
NARROW = [(FILE, scale, window) for scale in (1.0, 1e-17) for window in ((6500.0, 6530.0), (6563.0, 6565.0))]
WIDE = [(title, (1.0, 1e-17)[n % 2], (None, (6500.0, 6620.0))[n // 2 % 2]) for n, title in enumerate(TITLES)]


@pytest.mark.parametrize(
    ("title", "scale", "window"),
    [*WIDE, *product((FILE, "Spectrum"), (1.0, 1e-17), (None,)), *NARROW, ("W" * 70, 1.0, (6563.0, 6565.0))],
)
def test_title_is_replaced_and_nothing_else(title: str, scale: float, window: tuple[float, float] | None) -> None:
    """Including pictures of one pixel, with a thousand ticks; the factor "1e-17" of the flux axis stays."""
    shown = replace_title(titled(title, window, scale))
    neutral = titled("Spectrum", window, scale)
    assert has_neutral_title(shown)
    assert has_neutral_title(neutral)
    assert has_neutral_title(titled(title, window, scale)) == (title == "Spectrum")
    # A long title makes a narrow picture wider, which would tell it too; a pixel is lost by rounding.
    assert abs(shown.width - neutral.width) <= 1
    if shown.size == neutral.size and title == "Spectrum":
        differing = (np.asarray(shown) != np.asarray(neutral)).any(axis=2)
        assert not differing[20 + 8 :].any(), "something below the title has changed"
    if scale != 1.0:
        above = np.asarray(shown)[28:40, 40:110]
        assert (above[..., :3] < 128).any(), "the factor of the flux axis is lost"


def test_a_picture_without_the_published_axes_is_left_and_may_reveal() -> None:
    image = Image.new("RGBA", (400, 300), "white")
    ImageDraw.Draw(image).text((100, 10), FILE, fill="black")
    assert replace_title(image) is None
    assert not has_neutral_title(image)


def test_a_title_lower_than_the_published_one_is_seen() -> None:
    image = titled("Spectrum")
    ImageDraw.Draw(image).text((400, 26), "LAMOST", fill="black")
    assert not has_neutral_title(image)
    assert has_neutral_title(replace_title(image))


def kept(title: str) -> tuple[Trajectory, bytes, Trajectory]:
    """A trace with its spectrum; a picture of it with this title; and the trace with this picture as the first one."""
    trajectory = two_sources(1)[0].trajectory
    spectrum = two_sources(1)[0].spectrum
    picture = plot.draw(tool.tool_wavelength(spectrum), spectrum.flux, None, title)
    return trajectory, plot.png_bytes(picture), replace(trajectory, overview=plot.pixels_sha256(picture))


def test_with_its_spectrum_every_picture_is_drawn_anew() -> None:
    """Even if another one, with the name of a file in it, was kept."""
    draft = two_sources(1)[0]
    _, png, trajectory = kept(FILE)
    stored = Stored(draft.spectrum, **{trajectory.overview: png})
    shown = neutral_pictures(stored, trajectory, draft.spectrum.sha256)
    drawn = replace(draft.spectrum, redshift=trajectory.redshift)
    wanted = [tool.overview(drawn), *(tool.call(drawn, dict(z.arguments)).image for z in trajectory.zooms if z.picture)]
    assert len(shown) == 1 + sum(zoom.picture is not None for zoom in trajectory.zooms) > 1
    assert [plot.pixels_sha256(one.image) for one in shown] == [plot.pixels_sha256(image) for image in wanted]
    assert all(has_neutral_title(one.image) for one in shown)
    assert {one.state for one in shown} == {"drawn anew"}
    assert revealing_pictures(stored, draft.spectrum.sha256, trajectory) == ()


def test_without_its_spectrum_the_title_of_a_kept_picture_is_removed() -> None:
    _, png, trajectory = kept(FILE)
    foreign = Image.new("RGBA", (60, 40), "red")
    file = io.BytesIO()
    foreign.save(file, "PNG")
    name = plot.pixels_sha256(foreign)
    steps = [replace(step, picture=name) if isinstance(step, Zoom) else step for step in trajectory.steps]
    trajectory = trajectory.with_steps(steps)
    stored = Stored(**{trajectory.overview: png, name: file.getvalue()})
    first, *others = neutral_pictures(stored, trajectory, None)
    assert first.state == "title removed"
    assert has_neutral_title(first.image)
    assert others
    assert all(one.state == "unchanged" and one.may_reveal for one in others)
    zooms = [number for number, step in enumerate(trajectory.steps, start=1) if isinstance(step, Zoom)]
    assert [revealing_picture.step for revealing_picture in revealing_pictures(stored, None, trajectory)] == zooms
    counts = count_states(stored, [("A", None, trajectory)])
    assert counts == {"A": {"title removed": 1, "unchanged": len(zooms)}}


def test_counts_are_those_of_the_pictures_that_are_shown() -> None:
    """Counting draws nothing; a window in which the stored spectrum has no pixel cannot be drawn anew."""
    draft = two_sources(1)[0]
    _, png, trajectory = kept(FILE)
    (first, *_) = [step for step in trajectory.steps if isinstance(step, Zoom)]
    outside = replace(first, arguments={"wavelength_range": [100.0, 200.0]}, picture=trajectory.overview)
    trajectory = trajectory.with_steps([outside if step.id == first.id else step for step in trajectory.steps])
    stored = Stored(draft.spectrum, **{trajectory.overview: png})
    shown = neutral_pictures(stored, trajectory, draft.spectrum.sha256)
    counted = count_states(stored, [("A", draft.spectrum.sha256, trajectory)])
    assert counted == {"A": {"drawn anew": len(shown) - 1, "title removed": 1}}
    assert [one.state for one in shown].count("title removed") == 1


def vast_png() -> bytes:
    """Return the head of a PNG that states a size which Pillow refuses."""
    head = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


@pytest.mark.parametrize("file", [None, b"no picture", vast_png()])
def test_a_picture_that_is_neither_kept_nor_drawn_is_an_error(file: bytes | None) -> None:
    trajectory = two_sources(1)[0].trajectory
    stored = Stored() if file is None else Stored(**{trajectory.overview: file})
    with pytest.raises(PictureUnavailable, match=r"picture [0-9a-f]{12}… is "):
        neutral_pictures(stored, trajectory, None)
    assert revealing_pictures(stored, None, trajectory) == ()
