"""What the texts of a trajectory say about its own steps: wavelength windows of tool calls, and the verdict.

Only texts and tool calls are compared, not the spectrum, so this is fast. A window or verdict that
cannot be tied to one step for certain has no status. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.language import deferred
from agent.trajectory.record import Trajectory
from agent.trajectory.steps import Answer, Step, Think, Zoom

Window = tuple[float, float]
Kind = Literal["window", "verdict"]

SHORTEST, LONGEST = 900.0, 30_000.0
"""Wavelengths in Å that a number of a window can be."""
NEARLY_EQUAL = 0.8
"""Shared part of two windows, as a fraction of what they cover together, from which a quoted window is meant to be the
window of the tool call next to it."""
ROUNDED = 10.0
"""Å by which a wavelength written with "about" may differ."""


@dataclass(frozen=True)
class Quoted:
    """A window as it is written: ``text[start:end]``, both edges as numbers (Å) and the places of their digits."""

    start: int
    end: int
    window: Window
    digits: tuple[tuple[int, int], tuple[int, int]]
    allowed: tuple[float, float]
    """Å by which each edge may differ: half of its last digit."""

    def equals(self, window: Window) -> bool:
        return all(
            abs(written - is_) <= tolerance + 1e-6
            for written, is_, tolerance in zip(self.window, window, self.allowed, strict=True)
        )


@dataclass(frozen=True)
class Statement:
    """A part of a text, ``text[start:end]``, about a step of the same trajectory.

    :param step: the id of the think or answer that has the text
    :param about: the id of the zoom or answer it is about; None: of no step for certain
    :param agrees: whether it agrees with that step; None if it cannot be told
    :param quoted: the window in Å, in the frame and medium of the zoom; None for a verdict
    :param says: what the text says, in a few words; ``actual``: what the step has instead, "" where it agrees
    :param new: the text that agrees; None if a person has to write it
    """

    step: str
    start: int
    end: int
    kind: Kind
    about: str | None = None
    agrees: bool | None = None
    quoted: Window | None = None
    says: str = ""
    actual: str = ""
    new: str | None = None


def text_of_step(step: Step) -> str:
    """Return the text of a think or the explanation of an answer; "" for a zoom."""
    return step.text if isinstance(step, Think) else step.explanation if isinstance(step, Answer) else ""


def statements(trajectory: Trajectory, earlier: Trajectory | None = None) -> tuple[Statement, ...]:
    """Return the windows and verdict words of all texts, in reading order.

    :param earlier: the draft. A text that quotes a window as it was in the draft is about that zoom
    """
    before = {zoom.id: zoom for zoom in earlier.zooms} if earlier else {}
    return tuple(
        statement
        for number, step in enumerate(trajectory.steps)
        if not isinstance(step, Zoom)
        for statement in sorted(
            [*_windows(trajectory.steps, number, before), *_verdicts(trajectory, number)], key=lambda s: s.start
        )
    )


def disagreements(trajectory: Trajectory, earlier: Trajectory | None = None) -> tuple[Statement, ...]:
    """Return the statements that disagree with their tool call or with the answer."""
    return tuple(s for s in statements(trajectory, earlier) if s.agrees is False)


def sentence(statement: Statement, trajectory: Trajectory) -> str:
    """Describe a disagreement for a person: "Step 5 says 6950 to 7250 Å; the window of step 4 is 6922 – 7250 Å"."""
    numbers = {step.id: number for number, step in enumerate(trajectory.steps, start=1)}
    values = {"step": numbers[statement.step], "says": statement.says, "found": statement.actual}
    if statement.kind == "verdict":
        return deferred("Step {step} says {says}; the answer is {found}", **values)
    values["other"] = numbers.get(statement.about or "", "?")
    return deferred("Step {step} says {says}; the window of step {other} is {found}", **values)


# ---- windows

_NUMBER = r"(?:\d{1,2}[,\u202f\u2009]\d{3}|\d{3,5})(?:\.\d{1,3})?"
_UNIT = r"(?:Å|\u212b|\\AA\b|\\mathrm\{\\AA\}|[Aa]ngstr[oö]ms?\b|AA\b|A\b)"
_JOINED = rf"\s*(?:{_UNIT}\s*)?(?:to\b|through\b|until\b|–|—|--|-|−|\.\.\.?|…)\s*"
_LAST = rf"(?P<hi>{_NUMBER})(?![\d_]|[.,]\d|[-–]\d)"
_QUOTE = re.compile(
    rf"(?<![\d.,\-–_/])(?P<lo>{_NUMBER}){_JOINED}"
    rf"{_LAST}(?P<unit>\s*\$?\s*{_UNIT})?"
)
_BETWEEN = re.compile(
    rf"(?<=between )(?P<lo>{_NUMBER})\s*(?:{_UNIT}\s*)?and\s+{_LAST}(?P<unit>\s*\$?\s*{_UNIT})", re.IGNORECASE
)
_LIST = re.compile(rf"(?<=[\[(])(?P<lo>{_NUMBER})\s*,\s*(?P<hi>{_NUMBER})(?P<unit>\s*{_UNIT})?(?=[\])])")
_OTHER_UNIT = re.compile(r"\s*(?:K\b|kK\b|km\b|nm\b|pc\b|kpc\b|%|°|µm|μm|counts\b|s\b|e-|px\b|pixels?\b|days?\b|yr)")
_ABOUT = re.compile(r"(?:\babout|\baround|\broughly|\bapproximately|\bsome|~|≈|∼)\s*\$?$", re.IGNORECASE)
_BREAK = re.compile(r"[.;!?](?=\s)|\n")

_OF_PREVIOUS = re.compile(
    r"\b(?:in|within|across|of|from)\s+(?:the|this|that)\s+(?:zoomed(?:-in)?\s+|new\s+|last\s+|requested\s+)?"
    r"(?:window|zoom|view|picture|image|panel)(?:\s+(?:of|from|at|on|between))?[\s,:(\[~]*$"
    r"|\bthe\s+(?:zoomed(?:-in)?|requested)\s+(?:window|region|range|view|spectrum|picture|image|plot)"
    r"(?:\s+(?:of|from|at|on|between))?[\s,:(\[~]*$"
    r"|\bthis\s+(?:window|zoom|view)(?:\s+(?:of|from|at|on|covers|shows|spans))?[\s,:(\[~]*$",
    re.IGNORECASE,
)
_OF_NEXT = re.compile(
    r"\b(?:first|next)\s+zoom:[^.;!?\n]{0,120}$"
    r"|\b(?:first|next|then|now),?\s+i\s+(?:will\s+)?(?:\w+\s+(?:at|into)|zoom|inspect|examine|check)\b[^;!?\n]{0,120}$"
    r"|(?<!after )(?<!by )(?<!from )(?<!on )\bzoom(?:ing)?\s+(?:in\s*)?(?:to|on|onto|into|in|at)\b[^;!?\n]{0,80}$",
    re.IGNORECASE,
)
_OF_ALL = re.compile(r"\bspectrum (?:runs|extends|covers|ranges|spans)\b[^.;\n]{0,30}$", re.IGNORECASE)
_OBSERVED = re.compile(r"^[\s,)]*\(?\s*(?:in the )?observed\b", re.IGNORECASE)


def quoted_windows(text: str) -> Iterator[Quoted]:
    """Yield the wavelength windows that a text quotes: "6950 to 7250 Å", "6950-7250", "[6950, 7250]"."""
    matches = [match for pattern in (_QUOTE, _BETWEEN, _LIST) for match in pattern.finditer(text)]
    for match in sorted(matches, key=lambda match: match.start()):
        if match["unit"] is None and _OTHER_UNIT.match(text, match.end()):
            continue
        edges = [match[name].replace(",", "").replace("\u202f", "").replace("\u2009", "") for name in ("lo", "hi")]
        lo, hi = map(float, edges)
        if not (SHORTEST <= lo < hi <= LONGEST):
            continue
        about = ROUNDED if _ABOUT.search(text[: match.start()]) else 0.0
        tolerances = [max(about, 0.5 * 10.0 ** -len(edge.partition(".")[2])) for edge in edges]
        yield Quoted(
            match.start(), match.end(), (lo, hi), (match.span("lo"), match.span("hi")), (tolerances[0], tolerances[1])
        )


def _windows(steps: Sequence[Step], number: int, before: dict[str, Zoom]) -> Iterator[Statement]:
    step = steps[number]
    text = text_of_step(step)
    quotes = list(quoted_windows(text))
    if not quotes:
        return
    zooms = [s for s in steps if isinstance(s, Zoom) and s.window is not None and s.ok]
    previous = _nearest(steps[:number][::-1])
    following = _nearest(steps[number + 1 :]) if isinstance(step, Think) else None
    for quote in quotes:
        lead = text[_clause_start(text, quote.start) : quote.start]
        alone = sum(_clause_start(text, q.start) == _clause_start(text, quote.start) for q in quotes) == 1
        later = any(q.start > quote.end for q in quotes)
        announced = alone and not later and _OF_NEXT.search(lead) is not None
        described = isinstance(step, Think) and _OF_PREVIOUS.search(lead) is not None
        observed = _OBSERVED.match(text[quote.end :]) is not None
        of_all = _OF_ALL.search(lead) is not None
        yield _compared(
            step.id, text, quote, zooms, before, previous, following, announced, described, observed, of_all
        )


def _compared(
    step: str,
    text: str,
    quote: Quoted,
    zooms: Sequence[Zoom],
    before: dict[str, Zoom],
    previous: Zoom | None,
    following: Zoom | None,
    announced: bool,
    described: bool,
    observed: bool,
    of_all: bool,
) -> Statement:
    written = text[quote.start : quote.end]
    near = [z for z in (following if announced else previous, previous, following) if z is not None]
    same = next((z for z in [*near, *zooms] if any(quote.equals(w) for w in _both_frames(z))), None)
    tied: Zoom | None = None
    if of_all:
        pass
    elif announced and following is not None and same is not following:
        earlier = same is not None and previous in zooms and zooms.index(same) <= zooms.index(previous)
        tied = None if earlier else following
    elif same is None:
        tied = previous if described else _as_it_was(quote, [*near, *zooms], before) or _nearly(quote, near)
    if tied is None:
        about = same.id if same else None
        return Statement(step, quote.start, quote.end, "window", about, same is not None or None, quote.window, written)
    shown = tied.window_observed if observed else tied.window
    assert shown is not None
    new = None if same is not None else _rewritten(text, quote, shown)
    stated = f"{_angstrom(shown[0])} – {_angstrom(shown[1])} Å"
    return Statement(step, quote.start, quote.end, "window", tied.id, False, quote.window, written, stated, new)


def _nearest(steps: Sequence[Step]) -> Zoom | None:
    """Return the first zoom of these steps if its window can be compared."""
    zoom = next((s for s in steps if isinstance(s, Zoom)), None)
    return zoom if zoom is not None and zoom.window is not None and zoom.ok else None


def _clause_start(text: str, at: int) -> int:
    ends = [match.end() for match in _BREAK.finditer(text, 0, at)]
    return ends[-1] if ends else 0


def _both_frames(zoom: Zoom) -> tuple[Window, ...]:
    return tuple(w for w in (zoom.window, zoom.window_observed) if w is not None)


def _as_it_was(quote: Quoted, zooms: Sequence[Zoom], before: dict[str, Zoom]) -> Zoom | None:
    """Return the zoom whose window in the draft is the one quoted."""
    return next((z for z in zooms if z.id in before and any(quote.equals(w) for w in _both_frames(before[z.id]))), None)


def _nearly(quote: Quoted, near: Sequence[Zoom]) -> Zoom | None:
    near_enough = [zoom for zoom in near if zoom.window and _overlap(quote.window, zoom.window) >= NEARLY_EQUAL]
    return near_enough[0] if len({zoom.id for zoom in near_enough}) == 1 else None


def _overlap(window: Window, other: Window) -> float:
    shared = min(window[1], other[1]) - max(window[0], other[0])
    return max(shared, 0.0) / (max(window[1], other[1]) - min(window[0], other[0]))


def _rewritten(text: str, quote: Quoted, window: Window) -> str:
    """Write the window in the way of the quote: its words and unit, with other edges."""
    (_, lo_to), (hi_from, hi_to) = quote.digits
    return f"{_angstrom(window[0])}{text[lo_to:hi_from]}{_angstrom(window[1])}{text[hi_to : quote.end]}"


def _angstrom(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


# ---- verdict

_WORD = re.compile(
    r"(?P<boxed>\\boxed\{\s*)?(?<![A-Za-z/'’-])(?P<word>YES|NO)\b(?!\s*(?:/|or\b|and\b))"
    r"(?=[\s*_}\"'”’)\]]*(?:[.,;:!(]|$|\n|—|–|because\b|is a default))"
    r"|\b(?:answer|verdict|conclusion)\s*(?:is|:|=|→)\s*[*_“\"']*(?P<plain>[Yy]es|[Nn]o)\b(?=[\s*_}\"'”’)\]]*(?:[.,;:!(]|$|\n))"
)
_CONDITIONAL = re.compile(
    r"\b(?:would|could|should|might|may|needs?|require[sd]?|than|above|below|either|or|not)\b[^.,;:\n]{0,40}$"
    r"|\b(?:if|unless|whether)\b(?:(?!\b(?:so|therefore|hence|thus)\b)[^.;:\n]){0,80}$",
    re.IGNORECASE,
)


def _verdicts(trajectory: Trajectory, number: int) -> Iterator[Statement]:
    """Yield the word YES or NO that concludes the last thought or the explanation."""
    steps, answer = trajectory.steps, trajectory.answer
    step = steps[number]
    concludes = isinstance(step, Answer) or (number + 1 < len(steps) and isinstance(steps[number + 1], Answer))
    if answer is None or answer.verdict is None or not concludes:
        return
    text = text_of_step(step)
    words = [match for match in _WORD.finditer(text) if not _CONDITIONAL.search(text[: match.start()])]
    if words:
        match = words[-1]
        name = "word" if match["word"] else "plain"
        written = match[name].upper()
        agrees = written == answer.verdict
        stated = "" if agrees else answer.verdict
        yield Statement(step.id, *match.span(name), "verdict", answer.id, agrees, None, written, stated)
