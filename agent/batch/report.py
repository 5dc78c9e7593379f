"""Export of one trace: a sheet of its pictures, a Markdown report, and a zip of both with the trace."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from agent import tool
from agent.hints import Hint
from agent.measure.values import signed
from agent.plot import pixels_sha256
from agent.spectrum import Spectrum
from agent.spectrum.record import medium_text
from agent.tables import markdown_table
from agent.trajectory import Trajectory
from agent.trajectory.messages import png_of
from agent.trajectory.steps import Answer, Step, Think, Zoom

MAX_SHEET_WIDTH = 2480
"""Pixels across: three of the usual pictures, at the size at which the model saw them."""
_MARGIN, _GAP = 24, 20
_TITLE, _TEXT = 22, 15  # pixels
_CAPTION = 2 * (_TEXT + 7)
_HEADER = _TITLE + _TEXT + 34
_INK, _FAINT = "#1a1d21", "#5b6470"
_LONGEST = 400  # characters of a caption that are measured


@dataclass(frozen=True)
class SheetPicture:
    """A picture of the trace: its number in reading order (from 1), what it shows, and its label."""

    number: int
    sha256: str
    what: str
    label: str


def sheet_pictures(trajectory: Trajectory) -> list[SheetPicture]:
    """List the pictures in reading order, the full spectrum first. A call that drew nothing has none."""
    seen = [] if trajectory.overview is None else [(trajectory.overview, "full spectrum", "")]
    seen += [(z.picture, window_text(z), z.label) for z in trajectory.zooms if z.picture is not None]
    return [SheetPicture(number, *picture) for number, picture in enumerate(seen, start=1)]


def window_text(zoom: Zoom) -> str:
    """Describe a window, for example ``6500–6630 Å, rest frame (z 0.0012), vacuum``; of another tool its name."""
    if not zoom.shows_spectrum:
        return zoom.tool
    frame = f"rest frame (z {zoom.z:.6g})" if zoom.frame == "rest" else "observed"
    window = "the full spectrum" if zoom.window is None else f"{zoom.window[0]:g}–{zoom.window[1]:g} Å"
    return f"{window}, {frame}, {zoom.medium}"


def pictures(trajectory: Trajectory, spectrum: Spectrum, folder: Path | None = None) -> dict[str, Image.Image]:
    """Draw the pictures again, by the SHA-256 of their RGBA bytes.

    A picture that comes out differently, as with another release of the renderer, is left out.

    :param folder: of pictures that cannot be drawn again (``agent.batch.journal``)
    """
    drawn = [tool.overview(spectrum)]
    if folder is not None:
        stored = (folder / f"{zoom.picture}.png" for zoom in trajectory.zooms if zoom.picture and zoom.shows_sky)
        drawn += [Image.open(path).convert("RGBA") for path in stored if path.is_file()]
    zooms = (zoom for zoom in trajectory.zooms if zoom.picture and zoom.shows_spectrum)
    zoomed = (tool.call(spectrum, dict(zoom.arguments)).image for zoom in zooms)
    drawn += [image for image in zoomed if image is not None]
    by_hash = {pixels_sha256(image): image for image in drawn}
    return {
        sheet_picture.sha256: by_hash[sheet_picture.sha256]
        for sheet_picture in sheet_pictures(trajectory)
        if sheet_picture.sha256 in by_hash
    }


def picture_sheet(trajectory: Trajectory, spectrum: Spectrum, pngs: Mapping[str, bytes] | None = None) -> Image.Image:
    """Draw all pictures of the trace on white, in rows, numbered, with window and label below each.

    :param pngs: the pictures as PNG bytes by the SHA-256 of their RGBA bytes, if available; otherwise
        they are drawn again from ``spectrum``
    """
    if pngs is None:
        images = pictures(trajectory, spectrum)
    else:
        images = {sha256: Image.open(io.BytesIO(png)) for sha256, png in pngs.items()}
    shown = [sheet_picture for sheet_picture in sheet_pictures(trajectory) if sheet_picture.sha256 in images]
    rows = _rows(shown, images)
    heights = [max(images[cell.sha256].height for cell in row) + _CAPTION for row in rows]
    width = max((_width(row, images) for row in rows), default=800)
    height = _HEADER + sum(heights) + _GAP * len(rows) + _MARGIN
    sheet = Image.new("RGB", (max(width, 800), height), "white")
    pen = ImageDraw.Draw(sheet)
    _header(pen, trajectory, spectrum, sheet.width - 2 * _MARGIN)
    top = _HEADER
    for row, tall in zip(rows, heights, strict=True):
        left = _MARGIN
        for cell in row:
            image = images[cell.sha256].convert("RGBA")
            sheet.paste(image, (left, top), image)
            _caption(pen, cell, left, top + image.height, image.width)
            left += image.width + _GAP
        top += tall + _GAP
    return sheet


def _rows(shown: list[SheetPicture], images: Mapping[str, Image.Image]) -> list[list[SheetPicture]]:
    rows: list[list[SheetPicture]] = []
    for sheet_picture in shown:
        if rows and _width([*rows[-1], sheet_picture], images) <= MAX_SHEET_WIDTH:
            rows[-1].append(sheet_picture)
        else:
            rows.append([sheet_picture])
    return rows


def _width(row: list[SheetPicture], images: Mapping[str, Image.Image]) -> int:
    return 2 * _MARGIN + sum(images[sheet_picture.sha256].width for sheet_picture in row) + _GAP * (len(row) - 1)


def _header(pen: ImageDraw.ImageDraw, trajectory: Trajectory, spectrum: Spectrum, width: int) -> None:
    answer = trajectory.answer
    verdict = "no answer" if answer is None else answer.verdict or "an answer that is neither YES nor NO"
    simulated = " · simulated spectrum" if trajectory.simulated else ""
    title = f"{spectrum.name} · {trajectory.task} · {verdict}{simulated}"
    pen.text((_MARGIN, 18), _fitting(title, _font(_TITLE), width), fill=_INK, font=_font(_TITLE))
    by = f"by {trajectory.drafter.name} · {spectrum.survey or 'survey not known'}"
    below = 18 + _TITLE + 10
    pen.text((_MARGIN, below), _fitting(by, _font(_TEXT), width), fill=_FAINT, font=_font(_TEXT))


def _caption(pen: ImageDraw.ImageDraw, picture: SheetPicture, left: int, top: int, width: int) -> None:
    font = _font(_TEXT)
    pen.text((left, top + 4), _fitting(f"{picture.number} · {picture.what}", font, width), fill=_INK, font=font)
    if picture.label:
        pen.text((left, top + 4 + _TEXT + 5), _fitting(picture.label, font, width), fill=_FAINT, font=font)


def _fitting(text: str, font: ImageFont.FreeTypeFont, width: int) -> str:
    """Fit the text on one line of at most ``width`` pixels, cut with an ellipsis."""
    line = " ".join(text[:_LONGEST].encode("utf-8", "replace").decode().split())
    if font.getlength(line) <= width and len(text) <= _LONGEST:
        return line
    while line and font.getlength(line + "…") > width:
        line = line[:-1]
    return line + "…"


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    import matplotlib  # here: importing it takes 0.3 s, which a start of the web app would wait for

    # Its own font has Greek letters and Å.
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", size)


# Characters that begin markup anywhere in a line. Links that some readers make of bare text are broken at
# the colon, the first dot or the @.
_ANYWHERE = re.compile(r"[\\`*_~\[\]$|!@]|:(?=/)|\.(?=[^\W\d])")
# Not every reader of Markdown accepts a backslash before these.
_ENTITIES = {"&": "&amp;", "<": "&lt;"}
# Characters that begin a heading, a list, a quote, a rule or an underline at the start of a line.
_AT_START = re.compile(r"^(\d{0,9})([#+=.)>-])")
# Invisible characters, which can hide text in a file that is read as text, and those that
# change the reading direction.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LINE_ENDS = re.compile(r"\r\n?|\n")


def escaped(text: str) -> str:
    """Escape ``text`` for a line or a table cell; line ends become spaces."""
    return _escaped(re.sub(r"[ \t\r\n]+", " ", _printable(text)).strip())


def quoted(text: str) -> str:
    """Return ``text`` as a block quote with its lines and paragraphs. Empty text gives an empty quote."""
    lines = [_escaped(line.strip()) for line in _LINE_ENDS.split(_printable(text))]
    written = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        # A backslash keeps the line end if another line of the same paragraph follows.
        written.append(f"> {line}\\" if line and following else f"> {line}".rstrip())
    return "\n".join(written)


def _escaped(line: str) -> str:
    marked = _AT_START.sub(r"\1\\\2", _ANYWHERE.sub(r"\\\g<0>", line))
    return re.sub("[&<]", lambda match: _ENTITIES[match[0]], marked)


def _printable(text: str) -> str:
    # A lone surrogate cannot be written as UTF-8.
    return _CONTROLS.sub(" ", text.encode("utf-8", "replace").decode())


__all__ = ["bundle", "markdown", "picture_names", "picture_sheet"]

_BY = {
    "baseline": "Drafted by the measuring baseline: a fixed rule, no model.",
    "model": "Drafted by a model.",
    "person": "Written by a person.",
    "unknown": "The drafter is unknown.",
}


def picture_names(trajectory: Trajectory) -> dict[str, str]:
    """Return file names by picture, numbered in reading order; a repeated picture has one name."""
    names: dict[str, str] = {}
    for sheet_picture in sheet_pictures(trajectory):
        kind = "full" if sheet_picture.sha256 == trajectory.overview else "window"
        names.setdefault(sheet_picture.sha256, f"pictures/{sheet_picture.number:02d}-{kind}.png")
    return names


def markdown(
    trajectory: Trajectory,
    spectrum: Spectrum,
    hints: Mapping[str, Sequence[Hint]] | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    """Return the trace as a Markdown report. Text of the model, the file and the prompt is escaped.

    :param hints: of each zoom, by its step id
    :param names: paths of the pictures by SHA-256, as ``picture_names`` gives them; without one a picture is
        left out
    """
    parts = [
        f"# {escaped(spectrum.name)}",
        *_notices(trajectory),
        f"**Question:** {_question(trajectory)}",
        f"**Verdict:** {_verdict(trajectory)}",
        "## Object",
        markdown_table(["", ""], _object(trajectory, spectrum)),
        "## Pictures and texts",
        *_picture("The full spectrum", trajectory.overview, names or {}),
    ]
    for number, turn in enumerate(trajectory.turns(), start=1):
        parts.append(f"### Turn {number}")
        for step in turn:
            parts += _step(step, hints or {}, names or {})
    if trajectory.faults:
        parts += ["## Faults", "\n".join(f"- {escaped(f)}" for f in trajectory.faults)]
    parts += ["## Repeating it", markdown_table(["", ""], _reproducibility(trajectory))]
    return "\n\n".join(parts) + "\n"


def bundle(
    trajectory: Trajectory,
    spectrum: Spectrum,
    trace: Mapping[str, Any],
    hints: Mapping[str, Sequence[Hint]] | None = None,
    pngs: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return a zip of ``report.md``, its ``pictures/`` and ``trace.json``.

    :param trace: what ``trace.json`` holds, one row that ``spec-o3 import`` reads
    :param pngs: the pictures by the SHA-256 of their RGBA bytes, where they are at hand; else drawn again
    """
    if pngs is None:
        pngs = {sha256: png_of(image) for sha256, image in pictures(trajectory, spectrum).items()}
    names = {sha256: name for sha256, name in picture_names(trajectory).items() if sha256 in pngs}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("report.md", markdown(trajectory, spectrum, hints, names))
        zipped.writestr("trace.json", trace_json(trace))
        for sha256, name in names.items():
            zipped.writestr(name, pngs[sha256], zipfile.ZIP_STORED)
    return packed.getvalue()


def trace_json(trace: Mapping[str, Any]) -> str:
    """Return one line of ASCII JSON, which is also valid JSON lines in any encoding."""
    return json.dumps(trace) + "\n"


def _notices(trajectory: Trajectory) -> list[str]:
    lines = [_BY[trajectory.drafter.kind]]
    if trajectory.simulated:
        lines.insert(0, "**Simulated spectrum:** made by a program, seen by no telescope.")
    return ["\n>\n".join(f"> {notice}" for notice in lines)]


def _question(trajectory: Trajectory) -> str:
    """Return the prompt's first line without the asterisks of its bold class name."""
    return escaped(trajectory.prompt.partition("\n")[0].replace("**", ""))


def _verdict(trajectory: Trajectory) -> str:
    answer = trajectory.answer
    if answer is None:
        return "none was given"
    if answer.verdict is None:
        return "neither YES nor NO could be read"
    score = "" if answer.score is None else f" (log odds {signed(answer.score)})"
    return f"**{answer.verdict}**{score}"


def _object(trajectory: Trajectory, spectrum: Spectrum) -> list[tuple[str, str]]:
    at = spectrum.redshift
    lo, hi = spectrum.wavelength[0], spectrum.wavelength[-1]
    noise = " (noise estimated from the scatter)" if spectrum.errors == "estimated" else ""
    rows = [("Survey", escaped(spectrum.survey) or "not known")]
    rows += [(escaped(name), escaped(value)) for name, value in spectrum.ids.items()]
    if spectrum.ra is not None and spectrum.dec is not None:
        rows.append(("Position", f"RA {spectrum.ra:.6f}°, Dec {spectrum.dec:+.6f}°"))
    return [
        *rows,
        ("S/N per pixel", f"{spectrum.snr_typical:.3g}{noise}"),
        ("Redshift", "not known" if at is None else f"{at:.6g}"),
        ("Wavelengths", f"{lo:.1f}–{hi:.1f} Å, {medium_text(spectrum)}, {spectrum.frame} frame"),
        ("Flux unit", escaped(spectrum.flux_unit)),
        ("Class in the catalogue", escaped(spectrum.catalogue_class) or "none"),
    ]


def _step(step: Step, hints: Mapping[str, Sequence[Hint]], names: Mapping[str, str]) -> list[str]:
    match step:
        case Think():
            return [quoted(step.text)]
        case Answer():
            verdict = step.verdict or "neither YES nor NO"
            return [f"**Answer: {verdict}**", *([quoted(step.explanation)] if step.explanation else [])]
        case Zoom():
            label = f": {escaped(step.label)}" if step.label else ""
            lines = [f"**{'Look at' if step.shows_spectrum else 'Tool:'} {escaped(window_text(step))}**{label}"]
            if not (step.drawn and step.shows_spectrum):
                lines.append(f"The tool answered: {escaped(step.observation)}")
            lines += _picture("What the tool showed", step.picture, names)
            if hints.get(step.id):
                lines.append("\n".join(_hint(hint) for hint in hints[step.id]))
            return lines


def _picture(alt: str, sha256: str | None, names: Mapping[str, str]) -> list[str]:
    return [] if sha256 is None or sha256 not in names else [f"![{alt}]({names[sha256]})"]


def _hint(hint: Hint) -> str:
    return f"- {'**look**' if hint.level == 'look' else 'measured'}: {escaped(hint.text)}"


def _reproducibility(trajectory: Trajectory) -> list[tuple[str, str]]:
    settings = {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        for key, value in trajectory.drafter.settings.items()
    }
    rows = {
        "drafter": f"{trajectory.drafter.name} ({trajectory.drafter.kind})",
        **settings,
        "task": trajectory.task,
        "redshift given to the tool": "none" if trajectory.redshift is None else repr(trajectory.redshift),
        "spectrum SHA-256": trajectory.spectrum_sha256 or "none",
        "first picture SHA-256": trajectory.overview or "none",
        "trace": trajectory.content_hash(),
        "program": f"spec-o3 {metadata.version('spec-o3')}",
    }
    return [(escaped(key), escaped(value)) for key, value in rows.items()]
