"""One trace to take away: a sheet of its pictures, a Markdown report, and both with the trace in a zip."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import Any

from agent.batch.report_sheet import pictures, shown, strip, window_text
from agent.hints import Hint
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from agent.trajectory.messages import png_of
from agent.trajectory.steps import Answer, Step, Think, Zoom

# What begins markup anywhere in a line. A link or an address that some readers make of bare text is broken at
# the colon, the first dot or the @.
_ANYWHERE = re.compile(r"[\\`*_~\[\]$|!@]|:(?=/)|\.(?=[^\W\d])")
# A backslash before these is no escape to every reader of Markdown.
_ENTITIES = {"&": "&amp;", "<": "&lt;"}
# What makes a heading, a list, a quote, a rule or an underline at the start of a line.
_AT_START = re.compile(r"^(\d{0,9})([#+=.)>-])")
# Not white space, and nothing to be seen: in a file that is read as text they hide what is there. Those that
# turn the reading direction are among them.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LINE_ENDS = re.compile(r"\r\n?|\n")


def escaped(text: str) -> str:
    """``text`` within a line or a table's cell; the ends of its lines become spaces."""
    return _escaped(re.sub(r"[ \t\r\n]+", " ", _printable(text)).strip())


def quoted(text: str) -> str:
    """``text`` as a block quote, its lines and paragraphs kept. Empty text gives an empty quote."""
    lines = [_escaped(line.strip()) for line in _LINE_ENDS.split(_printable(text))]
    written = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        # A backslash keeps the line's end where one more line of the same paragraph follows.
        written.append(f"> {line}\\" if line and following else f"> {line}".rstrip())
    return "\n".join(written)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _escaped(line: str) -> str:
    marked = _AT_START.sub(r"\1\\\2", _ANYWHERE.sub(r"\\\g<0>", line))
    return re.sub("[&<]", lambda found: _ENTITIES[found[0]], marked)


def _printable(text: str) -> str:
    # Half a character cannot be written as UTF-8.
    return _CONTROLS.sub(" ", text.encode("utf-8", "replace").decode())


__all__ = ["bundle", "markdown", "picture_names", "strip"]

_BY = {
    "baseline": "Drafted by the measuring baseline: a fixed rule, no model.",
    "model": "Drafted by a model.",
    "person": "Written by a person.",
    "unknown": "It is not known who drafted this.",
}


def picture_names(trajectory: Trajectory) -> dict[str, str]:
    """File names by picture, numbered in reading order; a picture seen twice has one."""
    names: dict[str, str] = {}
    for one in shown(trajectory):
        kind = "full" if one.sha256 == trajectory.overview else "window"
        names.setdefault(one.sha256, f"pictures/{one.number:02d}-{kind}.png")
    return names


def markdown(
    trajectory: Trajectory,
    spectrum: Spectrum,
    hints: Mapping[str, Sequence[Hint]] | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    """The trace as a report for a person. What the model, the file and the prompt say is shown as text.

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
        table(["", ""], _object(trajectory, spectrum)),
        "## What was seen and said",
        *_picture("The full spectrum", trajectory.overview, names or {}),
    ]
    for number, turn in enumerate(trajectory.turns(), start=1):
        parts.append(f"### Turn {number}")
        for step in turn:
            parts += _step(step, hints or {}, names or {})
    if trajectory.faults:
        parts += ["## What went wrong on the way", "\n".join(f"- {escaped(f)}" for f in trajectory.faults)]
    parts += ["## To repeat it", table(["", ""], _reproducibility(trajectory))]
    return "\n\n".join(parts) + "\n"


def bundle(
    trajectory: Trajectory,
    spectrum: Spectrum,
    trace: Mapping[str, Any],
    hints: Mapping[str, Sequence[Hint]] | None = None,
    pngs: Mapping[str, bytes] | None = None,
) -> bytes:
    """A zip of ``report.md``, its ``pictures/`` and ``trace.json``.

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
    """One line of JSON, so that it is JSON lines as well; ASCII, whatever the program that opens it takes for
    the file's encoding."""
    return json.dumps(trace) + "\n"


def _notices(trajectory: Trajectory) -> list[str]:
    found = [_BY[trajectory.drafter.kind]]
    if trajectory.simulated:
        found.insert(0, "**Simulated spectrum:** made by a program, seen by no telescope.")
    return ["\n>\n".join(f"> {notice}" for notice in found)]


def _question(trajectory: Trajectory) -> str:
    """The prompt's first line. Ours sets the class in bold; here that would stand as asterisks."""
    return escaped(trajectory.prompt.partition("\n")[0].replace("**", ""))


def _verdict(trajectory: Trajectory) -> str:
    answer = trajectory.answer
    if answer is None:
        return "none was given"
    return f"**{answer.verdict}**" if answer.verdict else "neither YES nor NO could be read"


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
        ("Wavelengths", f"{lo:.1f}–{hi:.1f} Å, {spectrum.medium}, {spectrum.frame} frame"),
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
            found = [f"**Look at {escaped(window_text(step))}**{label}"]
            if not step.ok:
                found.append(f"The tool answered: {escaped(step.observation)}")
            found += _picture("What the tool showed", step.picture, names)
            if hints.get(step.id):
                found.append("\n".join(_hint(hint) for hint in hints[step.id]))
            return found


def _picture(alt: str, sha256: str | None, names: Mapping[str, str]) -> list[str]:
    return [] if sha256 is None or sha256 not in names else [f"![{alt}]({names[sha256]})"]


def _hint(hint: Hint) -> str:
    return f"- {'measured' if hint.level == 'ok' else '**look**'}: {escaped(hint.text)}"


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
