"""Facts of a trace that its texts and tool calls tell without the spectrum (``facts`` describes each)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from agent.lines import Band, Line, indices, sky_bands
from agent.lines.names import mentions
from agent.trajectory import Answer, Think, Trajectory, Zoom
from agent.trajectory.statements import quoted_windows, statements, text_of_step

Window = tuple[float, float]

SAME = 0.95
"""Shared part of two windows, of what they cover together, from which they are the same."""
OVERLAP = 0.6
NARROW, WIDE = 30.0, 1500.0  # Å
WHOLE = 2500.0
"""Å from which a quoted range is a part of the spectrum rather than a window."""
NEAR = 0.003
"""Relative difference of two wavelengths that are the same: 20 Å at Hα, as much as texts round."""
ROUNDED = 1.0
"""Å by which a text may round the edge of a window."""
FAR = 0.1
"""Relative difference from which a number next to a line's name is no wavelength of that line."""
LARGE_REDSHIFT = 0.01
ASIDE, CENTRED, BETTER = 0.2, 0.2, 0.15
"""Distance of the lines of a label from the middle of its window, in widths of it: they are not centred, they
are, and by how much better the other frame has to centre them.
"""
_PER_CHARACTER = 600, 6000

_STOP = re.compile(r"(?<=[.!?。！？])\s+|\n+|(?<=[。！？])")
_SENTENCE = re.compile(r"(?<=[.;!?。；！？])\s+|\n+|(?<=[。；！？])")
_WAVELENGTH = re.compile(
    r"(?:(?<=\bat )(?<!continuum at )|(?<=\bnear )|(?<=\baround )|(?<=\babout )|(?<=λ)|(?<=λ ))"
    r"(\d{4,5}(?:\.\d{1,2})?)(?![\d.]*\d)(?!\s*(?:K|km|counts)\b)"
    r"|(?<![\d.,±–-])(?<!continuum at )(\d{4,5}(?:\.\d{1,2})?)(?=[\s-]*(?:Å|\u212b|[Aa]ngstr[oö]ms?\b))"
)
_SKY = re.compile(
    r"\b(?:tellur\w+|airglow|night[- ]sky|sky|terrestrial|earth(?:['’]?s)?|ground[- ]based|from the ground|"
    r"air above|(?:earth['’]?s|night|our own|the planet['’]s) air|observatory|telescope|observing site|"
    r"(?:molecular )?oxygen (?:band|absorption|feature)|O[2₂]|H[2₂]O|water vapou?r|"
    r"(?<!stellar )(?<!star['’]s )(?<!its )(?<!photospheric )(?<!object['’]s )(?<!target['’]s )"
    r"atmospher\w+(?! of (?:a|the|this|its) (?:\w+ )?(?:star|object|target|source)))(?!\w)|大气|天光|地球",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(
    r"\b(?:ignor\w+|disregard\w*|discount\w*|exclud\w+|skip\w*|omit\w*|discard\w*|neglect\w*|mask(?:s|ed|ing)?|"
    r"contaminat\w+|contaminant\w*|"
    r"(?:leave|leaving|left|set|setting|put|putting) (?:it |this |that |them )?(?:out|aside)|"
    r"not (?:be )?(?:used?|counted?|evidence|stellar|intrinsic|diagnostic)|no (?:weight|evidence|bearing|role)|"
    r"(?:says?|tells?)(?: us| me)? nothing|(?:not|n['’]t) (?:use|count|rely|trust|belong|come from|originate))\b",
    re.IGNORECASE,
)
"""Words by which a sentence leaves a feature out of the argument."""
_ENDS = re.compile(r"[.!?…。！？\])}\"'”’*`$:;]\s*$|\d\s*$")

_FAULTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("form: order", re.compile(r"in one turn|outside the tags|before the box|given as text")),
    ("form: cut", re.compile(r"cut short|truncated|cut after|nothing was written")),
    ("form: characters", re.compile(r"damaged characters|could not be repaired")),
    ("form: call", re.compile(r"JSON|cannot be read|arguments|a call of")),
    ("form: tag", re.compile(r"not closed|no <|</\w+> without|no \\boxed|neither YES nor NO")),
)


def facts_of_texts(trajectory: Trajectory) -> set[str]:
    """Return the names of the facts that hold."""
    return {
        *_agreement(trajectory),
        *_calls(trajectory),
        *_form(trajectory),
        *_wavelengths(trajectory),
    }


def texts_of(trajectory: Trajectory) -> list[str]:
    """Return every text that the drafter wrote, labels included, in reading order."""
    written = [step.label if isinstance(step, Zoom) else text_of_step(step) for step in trajectory.steps]
    return [text for text in (*written, trajectory.cannot_tell) if text.strip()]


def last_thought(trajectory: Trajectory) -> str:
    """Return the last thought before the answer; "" without an answer or a thought."""
    if trajectory.answer is None:
        return ""
    return next((s.text for s in reversed(trajectory.steps) if isinstance(s, Think)), "")


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, parted at semicolons."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


def whole_sentences_of(text: str) -> list[str]:
    return [part for part in _STOP.split(text) if part.strip()]


def _agreement(trajectory: Trajectory) -> Iterator[str]:
    answers = {step.id for step in trajectory.steps if isinstance(step, Answer)}
    described = _ends_of_descriptions(trajectory)
    for statement in statements(trajectory):
        if statement.kind == "verdict" and statement.agrees is False:
            yield "verdict: explanation" if statement.step in answers else "verdict: thought"
        elif statement.kind == "window" and statement.agrees is False:
            yield "window: another"
        elif statement.kind == "window" and statement.about is None and statement.quoted is not None:
            lo, hi = statement.quoted
            if NARROW <= hi - lo < WHOLE and statement.start < described.get(statement.step, 0):
                yield "window: none"


def _ends_of_descriptions(trajectory: Trajectory) -> dict[str, int]:
    """Return where the first two sentences of each thought that follows a zoom end, by step."""
    ends = {}
    for before, step in pairwise(trajectory.steps):
        if isinstance(before, Zoom) and before.drawn and before.shows_spectrum and isinstance(step, Think):
            breaks = [match.end() for match in _SENTENCE.finditer(step.text)]
            ends[step.id] = breaks[1] if len(breaks) > 1 else len(step.text)
    return ends


# ---- tool calls


def _calls(trajectory: Trajectory) -> Iterator[str]:
    zooms = trajectory.zooms
    counted = {0: "zoom: none", 1: "zoom: one", 2: "zoom: two", 5: "zoom: five", 6: "zoom: five"}
    if len(zooms) >= 7 or len(zooms) in counted:
        yield counted.get(len(zooms), "zoom: many")
    failed = sum(not zoom.ok for zoom in zooms)
    if failed:
        yield "zoom: failed"
    if failed > 1:
        yield "zoom: failed often"
    zooms = tuple(zoom for zoom in zooms if zoom.shows_spectrum)
    if any(not zoom.label.strip() for zoom in zooms):
        yield "zoom: no label"
    windows = [zoom.window for zoom in zooms]
    if any(window is None or window[0] >= window[1] for window in windows):
        yield "zoom: no window"
    usable = [window for window in windows if window is not None and window[0] < window[1]]
    widths = [hi - lo for lo, hi in usable]
    if any(width < NARROW for width in widths):
        yield "zoom: narrow"
    if any(width > WIDE for width in widths):
        yield "zoom: wide"
    yield from _repeated(usable)


def _repeated(windows: list[Window]) -> Iterator[str]:
    most = 0
    for number, window in enumerate(windows):
        shared = [overlap_of(window, earlier) for earlier in windows[:number]]
        most = max(most, sum(part >= SAME for part in shared))
        if any(OVERLAP <= part < SAME for part in shared):
            yield "zoom: overlap"
    if most:
        yield "zoom: repeated" if most == 1 else "zoom: often"


def overlap_of(window: Window, other: Window) -> float:
    """Return the shared part of two windows, as a fraction of what they cover together."""
    shared = min(window[1], other[1]) - max(window[0], other[0])
    return max(shared, 0.0) / (max(window[1], other[1]) - min(window[0], other[0]))


# ---- the answer and the form


def _form(trajectory: Trajectory) -> Iterator[str]:
    answers = [step for step in trajectory.steps if isinstance(step, Answer)]
    if not answers:
        yield "answer: none"
    elif answers[-1].verdict is None:
        yield "answer: unreadable"
    elif not answers[-1].explanation.strip():
        yield "answer: bare"
    if len(answers) > 1:
        yield "answer: several"
    last = trajectory.steps[-1] if trajectory.steps else None
    if isinstance(last, Think):
        yield "end: thought"
    elif isinstance(last, Zoom):
        yield "end: zoom"
    texts = [text_of_step(step) for step in trajectory.steps if not isinstance(step, Zoom)]
    written = [text for text in texts if text.strip()]
    if written and not _ENDS.search(written[-1]):
        yield "end: mid-sentence"
    if trajectory.cannot_tell:
        yield "cannot tell"
    for fault in trajectory.faults:
        yield next((name for name, pattern in _FAULTS if pattern.search(fault)), "form: other")
    if any(isinstance(step, Think) and not step.text.strip() for step in trajectory.steps):
        yield "text: empty"
    long_ones = [s.strip() for text in written for s in sentences_of(text) if len(s.strip()) >= 60]
    if len(set(long_ones)) < len(long_ones):
        yield "text: repeated"
    length = sum(map(len, written))
    if length < _PER_CHARACTER[0]:
        yield "text: short"
    elif length > _PER_CHARACTER[1]:
        yield "text: long"


# ---- wavelengths


def _wavelengths(trajectory: Trajectory) -> Iterator[str]:
    z = trajectory.redshift or 0.0
    zooms = trajectory.zooms
    at_rest = zooms[-1].frame == "rest" if zooms else bool(z)
    if at_rest:
        yield "frame: rest"
    if z > LARGE_REDSHIFT:
        yield "redshift: large"
    if trajectory.medium == "air":
        yield "medium: air"
    texts = texts_of(trajectory)
    if any(map(_SKY.search, texts)):
        yield "sky: named"
    if any(_on_sky(zoom) and not _explained(trajectory, zoom) for zoom in zooms):
        yield "sky: window"
    for zoom in zooms:
        yield from _labelled(zoom, z)
    previous: Zoom | None = None
    for step in trajectory.steps:
        if isinstance(step, Zoom):
            previous = step
            continue
        text = text_of_step(step)
        if isinstance(step, Think) and previous is not None and _describes_others(text, previous):
            yield "thought: outside"
        previous = None if isinstance(step, Think) else previous
        yield from _quoted(text, trajectory, at_rest, z)


def _labelled(zoom: Zoom, z: float) -> Iterator[str]:
    window = zoom.window
    if window is None or window[0] >= window[1]:
        return
    known = _entries(zoom.label)
    outside = bool(known) and not any(_inside(entry, window, zoom) for entry in known)
    if outside:
        yield "label: outside"
    if not known or abs(z) < NEAR:
        return
    stretch = 1.0 + z if zoom.frame == "rest" else 1.0 / (1.0 + z)
    other = (window[0] / stretch, window[1] / stretch)
    off, off_there = (_off_centre(known, w, zoom) for w in (window, other))
    shifted = off > ASIDE and off_there < CENTRED and off - off_there > BETTER
    if shifted or (outside and any(_inside(entry, other, zoom) for entry in known)):
        yield "frame: window"


def _off_centre(known: list[Line | Band], window: Window, zoom: Zoom) -> float:
    """Return how far the middle of the lines and band heads is from that of a window, as a fraction of its width."""
    places = [entry.at(zoom.medium) for entry in known]
    return abs(min(places) + max(places) - window[0] - window[1]) / 2 / (window[1] - window[0])


def _entries(text: str) -> list[Line | Band]:
    return [entry for _, _, entry in mentions(text)]


def _inside(entry: Line | Band, window: Window, zoom: Zoom) -> bool:
    """Return whether a line lies in a window, or the window overlaps a band, in the medium of the zoom."""
    if isinstance(entry, Line):
        return window[0] <= entry.at(zoom.medium) <= window[1]
    lo, hi = entry.window(zoom.medium)
    return lo < window[1] and hi > window[0]


def _describes_others(text: str, zoom: Zoom) -> bool:
    """Return whether the first two sentences on a window name lines, none of which lies in it."""
    window = zoom.window
    if window is None or not zoom.ok or window[0] >= window[1]:
        return False
    known = _entries(" ".join(sentences_of(text)[:2]))
    stretch = 1.0 + zoom.z if zoom.frame == "observed" else 1.0
    at_rest = (window[0] / stretch, window[1] / stretch)
    return bool(known) and not any(_inside(entry, w, zoom) for entry in known for w in (window, at_rest))


def _on_sky(zoom: Zoom) -> bool:
    """Return whether the middle of a window lies on a band of the atmosphere, or a band fills a third of it."""
    window = zoom.window_observed
    if window is None or window[0] >= window[1]:
        return False
    middle = sum(window) / 2
    for band in sky_bands():
        if band.kind != "telluric":
            continue
        lo, hi = band.window(zoom.medium)
        if lo <= middle <= hi or min(hi, window[1]) - max(lo, window[0]) > (window[1] - window[0]) / 3:
            return True
    return False


def _explained(trajectory: Trajectory, zoom: Zoom) -> bool:
    """Return whether the label of a window names a line, band or band index in it, in one of the frames, or the texts
    next to it name the sky.
    """
    window, at, stretch = zoom.window, trajectory.steps.index(zoom), 1.0 + (trajectory.redshift or 0.0)
    if window is not None:
        frames = [(window[0] * s, window[1] * s) for s in (1.0, stretch, 1.0 / stretch)]
        if any(_inside(entry, frame, zoom) for entry in _entries(zoom.label) for frame in frames):
            return True
        measured = [index.at(zoom.medium)[0] for name, index in indices().items() if name in zoom.label]
        if any(lo < frame[1] and hi > frame[0] for lo, hi in measured for frame in frames):
            return True
    near = trajectory.steps[max(at - 1, 0) : at + 2]
    return any(_SKY.search(step.label if isinstance(step, Zoom) else text_of_step(step)) for step in near)


def _quoted(text: str, trajectory: Trajectory, at_rest: bool, z: float) -> Iterator[str]:
    """Compare the single wavelengths of a text with the lines that its sentence names, and with the sky's bands."""
    edges = edges_of_windows(trajectory)
    for whole in whole_sentences_of(text):
        explained = _SKY.search(whole) is not None or _LEFT_OUT.search(whole) is not None
        for sentence in sentences_of(whole):
            numbers, named_lines = wavelengths_of(sentence, edges)
            own = [entry.at(trajectory.medium) for entry in named_lines]
            for value in numbers:
                if any(abs(value / wavelength - 1.0) < NEAR for wavelength in own):
                    continue
                of_line = list(_of_line(value, own, z))
                yield from of_line
                if "frame: text" in of_line:
                    continue
                observed = value * (1.0 + z) if at_rest else value
                if not explained and _is_sky(observed, trajectory):
                    yield "sky: unnamed"


def edges_of_windows(trajectory: Trajectory) -> list[float]:
    """Return both edges of all windows that were opened, in Å, as tool calls have them."""
    return [edge for zoom in trajectory.zooms if zoom.window is not None for edge in zoom.window]


def wavelengths_of(sentence: str, edges: Sequence[float] = ()) -> tuple[list[float], list[Line | Band]]:
    """Return the single wavelengths in Å that a sentence gives, without those of windows and in names of lines, and the
    lines and bands that it names; both empty if it gives none.

    :param edges: of windows that were opened: a text may give both in words that do not read as a window
    """
    windows = [(quote.start, quote.end) for quote in quoted_windows(sentence)]
    numbers = [
        (match.start(), value)
        for match in _WAVELENGTH.finditer(sentence)
        if 3000.0 < (value := float(match[1] or match[2])) < 11000.0
        and not any(start <= match.start() < end for start, end in windows)
        and not any(abs(value - edge) <= ROUNDED for edge in edges)
    ]
    if not numbers:
        return [], []
    mentioned = list(mentions(sentence))
    outside = [value for at, value in numbers if not any(start <= at < end for start, end, _ in mentioned)]
    return outside, [entry for _, _, entry in mentioned]


def _of_line(value: float, own: list[float], z: float) -> Iterator[str]:
    if not own:
        return
    if abs(z) > NEAR and any(abs(value / (w * (1 + z)) - 1) < NEAR or abs(value * (1 + z) / w - 1) < NEAR for w in own):
        yield "frame: text"
    elif all(NEAR < abs(value / wavelength - 1.0) < FAR for wavelength in own):
        yield "wavelength: wrong"


def _is_sky(observed: float, trajectory: Trajectory) -> bool:
    for band in sky_bands():
        lo, hi = band.window(trajectory.medium)
        if band.kind != "arm join" and lo <= observed <= hi:
            return True
    return False
