"""Facts that are measured of every trace: a closed list, each with a sentence for people.

Faults of a trace are often not visible in single words, so a trace is also described by what was measured of it:
whether its texts and its tool calls agree, how it is built, and whether its claims agree with the spectrum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agent.language import tr

VERSION = 4
"""Of the list and its measurements: files of another version are measured again."""


def sentences() -> dict[str, str]:
    """Return a sentence per fact in the language of the context; the facts in a fixed order."""
    return {
        # Texts and tool calls
        "window: another": tr("A text quotes another window than its tool call."),
        "window: none": tr("A thought on a window quotes a range that no tool call has."),
        "verdict: thought": tr("The last thought names the other verdict than the answer."),
        "verdict: explanation": tr("The explanation names the other verdict than the answer."),
        "verdict: unusual": tr("The last thought reads like those before the opposite answer."),
        "label: outside": tr("The label of a window names a line or band that lies outside of it."),
        "thought: outside": tr("A thought describes its window by lines that all lie outside of it."),
        "frame: window": tr(
            "A window is at the line of its label only if its wavelengths are taken in the other frame."
        ),
        "frame: text": tr("A text gives a line the wavelength that it has in the other frame."),
        "wavelength: wrong": tr("A text gives a line a wavelength that is not its own."),
        "sky: unnamed": tr(
            "A text reads a feature at a wavelength of the atmosphere or night sky without naming these."
        ),
        "sky: window": tr(
            "A window lies on a band of the atmosphere; its label names no line, its thoughts not the sky."
        ),
        "sky: named": tr("A text names the atmosphere or the night sky."),
        # Tool calls
        "zoom: none": tr("There is no tool call."),
        "zoom: one": tr("There is one tool call."),
        "zoom: two": tr("There are two tool calls."),
        "zoom: five": tr("There are five or six tool calls."),
        "zoom: many": tr("There are seven tool calls or more."),
        "zoom: repeated": tr("A window is opened twice."),
        "zoom: often": tr("A window is opened three times or more."),
        "zoom: overlap": tr("A window mostly repeats an earlier one."),
        "zoom: failed": tr("A tool call failed."),
        "zoom: failed often": tr("Two tool calls or more failed."),
        "zoom: no window": tr("A tool call has no window of two increasing numbers."),
        "zoom: narrow": tr("A window is narrower than 30 Å."),
        "zoom: wide": tr("A window is wider than 1500 Å."),
        "zoom: no label": tr("A window has no label."),
        # The answer and the form
        "answer: none": tr("There is no answer."),
        "answer: unreadable": tr("The answer is neither YES nor NO."),
        "answer: several": tr("There is more than one answer."),
        "answer: bare": tr("The answer has no explanation."),
        "end: thought": tr("The trace ends with a thought."),
        "end: zoom": tr("The trace ends with a tool call."),
        "end: mid-sentence": tr("The last text breaks off in the middle of a sentence."),
        "cannot tell": tr("The drafter says that the data allow no answer."),
        "form: tag": tr("A tag of the format is missing or not closed."),
        "form: call": tr("A tool call is not valid JSON."),
        "form: cut": tr("The output was cut short."),
        "form: characters": tr("Characters of the text are damaged."),
        "form: order": tr("Parts of the output are in excess, in the wrong order or in another form."),
        "form: other": tr("The format has another fault."),
        "text: repeated": tr("A long sentence is written twice."),
        "text: empty": tr("A thought is empty."),
        "text: short": tr("The texts have less than 600 characters in all."),
        "text: long": tr("The texts have more than 6000 characters in all."),
        # How the wavelengths are read
        "frame: rest": tr("Windows are in the rest frame."),
        "redshift: large": tr("The redshift is above 0.01."),
        "medium: air": tr("Wavelengths are in air."),
        # Claims and the spectrum
        "claim: emission for absorption": tr("A line in absorption is called emission."),
        "claim: absorption for emission": tr("A line in emission is called absorption."),
        "claim: line not there": tr("A line is claimed that the spectrum does not show."),
        "claim: emission unsupported": tr("Emission is claimed, and the spectrum does not show it for certain."),
        "claim: absorption unsupported": tr("Absorption is claimed, and the spectrum does not show it for certain."),
        "claim: line unsupported": tr("A line is called visible, and the spectrum does not show it for certain."),
        "claim: line only named": tr("A line is named where the spectrum shows less than 3σ."),
        "claim: nothing there": tr("A line is claimed where the spectrum shows less than 3σ of it."),
        "claim: opposite sign": tr("A line is claimed where the spectrum shows the opposite: a dip or a rise of 3σ."),
        "claim: weak called strong": tr("A line is called strong or clear, and the spectrum shows little of it."),
        "claim: never in absorption": tr("A line that is only known in emission is claimed in absorption."),
        "claim: hot line in a cool star": tr("A line of hot gas is claimed in the spectrum of a cool star."),
        "claim: forbidden line alone": tr("A forbidden line is claimed where hydrogen is not in emission."),
        "claim: line denied": tr("A line is denied that the spectrum shows."),
        "claim: line not covered": tr("A line is described that the spectrum does not cover."),
        "claim: bands not there": tr("Molecular bands are claimed that the spectrum does not show."),
        "claim: bands denied": tr("Molecular bands are denied that the spectrum shows."),
        "claim: width": tr("A line is called broad or narrow against its measured width."),
        "claim: maxima": tr("Two maxima are claimed or denied against the spectrum."),
        "claim: break": tr("The 4000 Å break is claimed or denied against the spectrum."),
        "claim: doubtful sign": tr(
            "Emission or absorption seems to be claimed against the spectrum, but the wording is often read wrongly."
        ),
        "claim: doubtful presence": tr(
            "A line seems to be claimed that is not there, but the wording is often read wrongly."
        ),
        "claim: doubtful denial": tr("A line seems to be denied that is there, but the wording is often read wrongly."),
        "claim: several wrong": tr("Two claims or more contradict the spectrum."),
        "claim: all agree": tr("All claims that can be checked agree with the spectrum."),
        # Families, which hold if one of theirs holds
        "any: window": tr("A text quotes another window than its tool call, or one that no tool call has."),
        "any: verdict": tr("The texts speak against the answer."),
        "any: frame": tr("Wavelengths are taken in the other frame, in a window or a text."),
        "any: sky": tr("A feature of the atmosphere or night sky is read without naming these."),
        "any: repeated": tr("A window is opened twice or more."),
        "any: failed": tr("A tool call failed or has no window."),
        "any: incomplete": tr("The trace is incomplete, or its format is damaged."),
        "any: line": tr("A line is claimed that the spectrum does not show, or cannot have."),
        "any: sign": tr("Emission is called absorption, or absorption emission."),
        "any: claim": tr("A claim contradicts the spectrum."),
    }


FACTS = tuple(sentences())
NUMBER = {name: number for number, name in enumerate(FACTS)}
CLAIMS = tuple(name for name in FACTS if name.startswith("claim: "))
"""Facts that need the spectrum; they are measured later than the others."""
NEUTRAL = frozenset(
    {
        *("sky: named", "zoom: one", "zoom: two", "zoom: five", "zoom: wide", "zoom: no label", "answer: bare"),
        *("text: short", "text: long", "frame: rest", "redshift: large", "medium: air", "claim: all agree"),
        *("claim: doubtful sign", "claim: doubtful presence", "claim: doubtful denial"),
    }
)
"""Facts that describe a trace and are no fault."""

FAMILIES = {
    "any: window": ("window: another", "window: none"),
    "any: verdict": ("verdict: thought", "verdict: explanation", "verdict: unusual"),
    "any: frame": ("frame: window", "frame: text"),
    "any: sky": ("sky: unnamed", "sky: window"),
    "any: repeated": ("zoom: repeated", "zoom: often"),
    "any: failed": ("zoom: failed", "zoom: no window"),
    "any: incomplete": (
        *("answer: none", "answer: unreadable", "answer: several", "end: thought", "end: zoom", "end: mid-sentence"),
        *("form: tag", "form: call", "form: cut", "form: characters", "form: other"),
    ),
    "any: line": (
        *("claim: line not there", "claim: nothing there", "claim: never in absorption"),
        *("claim: hot line in a cool star", "claim: forbidden line alone"),
    ),
    "any: sign": ("claim: emission for absorption", "claim: absorption for emission", "claim: opposite sign"),
    "any: claim": (
        *("claim: emission for absorption", "claim: absorption for emission", "claim: line not there"),
        *("claim: line denied", "claim: bands not there", "claim: bands denied", "claim: width", "claim: maxima"),
        "claim: break",
    ),
}
"""Facts that mean much the same: few examples show the family more often than each of its facts."""

Facts = NDArray[np.uint8]


def row(names: Iterable[str]) -> Facts:
    """Return the facts as 0 and 1 (n_facts,)."""
    facts = np.zeros(len(FACTS), dtype=np.uint8)
    for name in names:
        facts[NUMBER[name]] = 1
    return facts


def most_special(names: Sequence[str], shares: Mapping[str, float]) -> list[str]:
    """Return the names without families that one of their own facts nearly replaces.

    :param shares: the part of the traces in which each holds
    """
    return [
        name
        for name in names
        if not any(family in names and shares[family] >= 0.8 * shares[name] for family in FAMILIES.get(name, ()))
    ]


def with_families(rows: Facts) -> Facts:
    """Return rows (n, n_facts) in which each family has whether one of its facts holds."""
    widened = rows.copy()
    for family, members in FAMILIES.items():
        widened[:, NUMBER[family]] = rows[:, [NUMBER[name] for name in members]].max(axis=1)
    return widened
