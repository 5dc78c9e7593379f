"""Simulated traces with planted failures of eight kinds, for the measurement of *more like these* and of groups.

A few hundred simulated spectra are drafted by the baseline; each draft is used many times, with other wordings, true
remarks and zooms of its own. Each kind of failure is planted with several wordings, and traces without a failure use
the same vocabulary (``wordings``).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.hints.evidence import Evidence, at_rest, evidence
from agent.lines import lines
from agent.loop import run
from agent.policies.baseline.rule import Baseline, short_name
from agent.simulate import KINDS, simulate
from agent.simulate.instrument import SURVEYS
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom, new_step_id
from tests.benchmarks.people.wordings import Wordings

SHARE = 0.01
"""Part of the traces with a failure of each kind."""
_LINES = ("Hα", "Hβ", "Hγ", "He II 4686", "He I 5876", "Ca II K", "[O III] 5007", "[N II] 6583", "Mg II 4481", "Hδ")
_COOL = ("cc", "ss", "gm", "dm", "gba", "fgk")
_NEVER = dict.fromkeys((*_COOL, "a", "b", "o", "wd", "sd"), ("[O III] 5007", "[N II] 6583", "[O III] 4959"))
"""Lines that spectra of a kind never have, as they are simulated, whatever can be measured of them."""
for _kind in (*_COOL, "a"):
    _NEVER[_kind] += ("He II 4686", "He I 5876", "He I 4471")
_ABSORBED = {"a": ("Hα", "Hβ", "Hγ", "Hδ"), "b": ("Hβ", "Hγ", "Hδ"), "fgk": ("Hβ", "Ca II K", "Hα")}
"""Lines that spectra of a kind have in absorption, as they are simulated."""
_ATMOSPHERE = (7605.0, 6870.0, 7620.0, 6880.0, 7640.0)


@dataclass(frozen=True)
class Base:
    """A simulated spectrum, the baseline's draft of it, and what the data show of some lines."""

    spectrum: Spectrum
    task: Task
    trajectory: Trajectory
    shown: dict[str, str]
    """State of each line by its name: emission, absorption, none, ..."""


@dataclass(frozen=True)
class Planted:
    base: Base
    trajectory: Trajectory
    failure: str
    """The kind that was planted; "" for none."""


@dataclass
class _Draft:
    """A trace in the making."""

    base: Base
    steps: list[Any]
    rng: random.Random
    words: Wordings
    faults: list[str] = field(default_factory=list)

    @property
    def thoughts(self) -> list[int]:
        return [number for number, step in enumerate(self.steps) if isinstance(step, Think)]

    @property
    def zooms(self) -> list[int]:
        return [number for number, step in enumerate(self.steps) if isinstance(step, Zoom)]

    @property
    def class_name(self) -> str:
        return short_name(self.base.task)

    def say(self, number: int, sentence: str, first: bool = False) -> None:
        step = self.steps[number]
        parts = (sentence, step.text) if first else (step.text, sentence)
        self.steps[number] = replace(step, text=" ".join(part for part in parts if part))

    def insert(self, at: int, *steps: Any) -> None:
        for offset, step in enumerate(steps):
            named = replace(step, id=new_step_id(tuple(self.steps)))
            self.steps.insert(at + offset, named)

    def of_kind(self, known: dict[str, tuple[str, ...]]) -> str | None:
        """Return a line that is known for the kind of spectrum; None for other kinds."""
        found = known.get(self.base.spectrum.meta["kind"], ())
        return self.rng.choice(found) if found else None

    def line(self, *states: str) -> str | None:
        """Return a line in one of these states; None if there is none."""
        found = [name for name, state in self.base.shown.items() if state in states]
        return self.rng.choice(found) if found else None


def bases(number: int, seed: int) -> list[Base]:
    """Draft ``number`` simulated spectra: half of the class of the question, a third with a redshift."""
    rng = random.Random(seed)
    tasks = load()
    found = []
    for at in range(number):
        key = list(tasks)[at % len(tasks)]
        kind = key if rng.random() < 0.5 else rng.choice(KINDS)
        z = round(rng.uniform(0.012, 0.09), 5) if rng.random() < 0.33 else 0.0
        spectrum = simulate(kind, rng.choice(list(SURVEYS)), rng.uniform(10, 60), 10_000 * seed + at, z)
        drafted = run(spectrum, tasks[key], Baseline())
        data = evidence(at_rest(spectrum, spectrum.redshift or 0.0))
        found.append(Base(spectrum, tasks[key], drafted, {name: _state(data, name) for name in _LINES}))
    return found


def _state(data: Evidence, name: str) -> str:
    return data.line(next(line for line in lines() if line.name == name)).state


def planted(found: Sequence[Base], number: int, seed: int, words: Wordings) -> Iterator[Planted]:
    """Yield ``number`` traces, ``SHARE`` of them with each failure, in the order of their spectra."""
    rng = random.Random(seed)
    kinds = [kind for kind in FAILURES for _ in range(round(SHARE * number))]
    kinds += [""] * (number - len(kinds))
    rng.shuffle(kinds)
    for at in range(len(found)):
        for kind in kinds[at :: len(found)]:
            yield _one(found, at, kind, rng, words)


def _one(found: Sequence[Base], at: int, kind: str, rng: random.Random, words: Wordings) -> Planted:
    """Make one trace over a spectrum, or over another one if a failure of this kind cannot be planted in it."""
    while True:
        base = found[at]
        draft = _Draft(base, list(base.trajectory.steps), rng, words)
        _reworded(draft)
        if not kind or FAILURES[kind](draft):
            trajectory = replace(
                base.trajectory.with_steps(tuple(draft.steps)),
                faults=tuple(draft.faults),
                drafter=Drafter("model", "simulated"),
                cannot_tell="",
            )
            return Planted(base, trajectory, kind)
        at = rng.randrange(len(found))


# ---- wordings of all traces

_WINDOW = re.compile(r"In the window (\d+) to (\d+) Å")
_NEXT = re.compile(r"(?:First|Next) zoom: ([^.]+?), (\d+) to (\d+) Å\.")
_END = re.compile(r"Start [−+]?[\d.]+, total .*$", re.DOTALL)


def _reworded(draft: _Draft) -> None:
    """Write the draft in other words, with true remarks, and sometimes with one more zoom or a small fault of form."""
    rng, words = draft.rng, draft.words
    verdict = draft.base.trajectory.answer.verdict if draft.base.trajectory.answer else None
    for number in draft.thoughts:
        text = draft.steps[number].text
        text = _WINDOW.sub(lambda m: rng.choice(words.windows).format(lo=m[1], hi=m[2]), text)
        text = _NEXT.sub(lambda m: rng.choice(words.nexts).format(what=m[1], lo=m[2], hi=m[3]), text)
        text = _END.sub("", text).rstrip()
        draft.steps[number] = replace(draft.steps[number], text=text)
    last = draft.thoughts[-1]
    if rng.random() < 0.4:
        doubts = words.doubts_of_yes if verdict == "YES" else words.doubts_of_no
        draft.say(last, rng.choice(doubts).format(name=draft.class_name))
    draft.say(last, _conclusion(draft, verdict == "YES"))
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        _remark(draft)
    if rng.random() < 0.12:
        _refine(draft)
    answer = draft.steps[-1]
    if isinstance(answer, Answer):
        draft.steps[-1] = replace(answer, score=None, explanation=answer.explanation.partition(" By the scorecard")[0])
    if rng.random() < 0.01:
        draft.faults.append(f"turn {rng.randint(1, 4)}: {rng.choice(words.harmless_faults)}")


def _conclusion(draft: _Draft, yes: bool) -> str:
    pool = draft.words.yes if yes else draft.words.no
    return draft.rng.choice(pool).format(name=draft.class_name)


def _remark(draft: _Draft) -> None:
    """Add a true remark with the vocabulary of the failures to a thought."""
    rng, words = draft.rng, draft.words
    at = rng.choice(draft.thoughts)
    first, last = draft.base.spectrum.wavelength[[0, -1]]
    match rng.randrange(6):
        case 0:
            if name := draft.line("emission"):
                draft.say(at, rng.choice(words.emission).format(line=name), first=rng.random() < 0.5)
        case 1:
            if name := draft.of_kind(_ABSORBED) or draft.line("absorption"):
                draft.say(at, rng.choice(words.absorption).format(line=name), first=rng.random() < 0.5)
        case 2:
            if name := draft.of_kind(_NEVER) or draft.line("none"):
                draft.say(at, rng.choice(words.absent).format(line=name), first=rng.random() < 0.5)
        case 3:
            wavelength = rng.choice(_ATMOSPHERE)
            if first < wavelength < last:
                shown = wavelength / (1 + (draft.base.trajectory.redshift or 0.0))
                draft.say(at, rng.choice(words.atmosphere).format(at=round(shown)))
        case 4:
            z = draft.base.trajectory.redshift or 0.0
            if z:
                draft.say(at, rng.choice(words.frames).format(z=f"{z:.4f}"))
        case _:
            draft.say(at, rng.choice(words.others))


def _refine(draft: _Draft) -> None:
    """Open a narrower part of a window once more, or, rarely, the same window."""
    if not draft.zooms:
        return
    at = draft.rng.choice(draft.zooms)
    zoom = draft.steps[at]
    lo, hi = zoom.window
    part = 0.0 if draft.rng.random() < 0.15 else draft.rng.uniform(0.1, 0.3)
    window = [round(lo + part * (hi - lo)), round(hi - part * (hi - lo))]
    thought = Think("new", draft.rng.choice(draft.words.refine).format(lo=window[0], hi=window[1]))
    draft.insert(at + 1, thought, replace(zoom, arguments={**zoom.arguments, "wavelength_range": window}))


# ---- failures


def _other_window(draft: _Draft) -> bool:
    """Quote another window than was opened, in the thought on it."""
    places = [n for n in draft.zooms if n + 1 < len(draft.steps) and isinstance(draft.steps[n + 1], Think)]
    if not places:
        return False
    rng = draft.rng
    at = rng.choice(places)
    lo, hi = draft.steps[at].window
    shift = rng.choice((-1, 1)) * rng.uniform(0.1, 1.5) * (hi - lo)
    other = round(lo + shift), round(hi + shift)
    text = draft.steps[at + 1].text
    pattern = rf"{round(lo)}(\D{{1,12}}){round(hi)}"
    changed = re.sub(pattern, lambda m: f"{other[0]}{m[1]}{other[1]}", text, count=1)
    if changed == text or rng.random() < 0.3:
        changed = f"{rng.choice(draft.words.other_window).format(lo=other[0], hi=other[1])} {changed}"
    draft.steps[at + 1] = replace(draft.steps[at + 1], text=changed)
    return True


def _line_not_there(draft: _Draft) -> bool:
    """Claim a line that the spectrum does not show."""
    name = draft.of_kind(_NEVER)
    if name is None or len(draft.thoughts) < 2:
        return False
    at = draft.rng.choice(draft.thoughts[1:])
    draft.say(at, draft.rng.choice(draft.words.ghost).format(line=name), first=draft.rng.random() < 0.5)
    return True


def _other_frame(draft: _Draft) -> bool:
    """Take observed wavelengths as rest wavelengths: in a window, in a text, or in both."""
    z = draft.base.trajectory.redshift or 0.0
    if not z or not draft.zooms:
        return False
    rng = draft.rng
    how = rng.choice(("window", "text", "both"))
    if how != "text":
        at = rng.choice(draft.zooms)
        zoom = draft.steps[at]
        lo, hi = zoom.window
        window = [round(lo * (1 + z)), round(hi * (1 + z))]
        draft.steps[at] = replace(zoom, arguments={**zoom.arguments, "wavelength_range": window})
        for near in (at - 1, at + 1):
            if 0 <= near < len(draft.steps) and isinstance(draft.steps[near], Think):
                text = draft.steps[near].text
                text = re.sub(rf"{round(lo)}(\D{{1,12}}){round(hi)}", rf"{window[0]}\g<1>{window[1]}", text)
                draft.steps[near] = replace(draft.steps[near], text=text)
    if how != "window":
        name = rng.choice(("Hα", "Hβ", "Hγ", "Ca II K"))
        rest = next(line for line in lines() if line.name == name).at(draft.base.trajectory.medium)
        at = rng.choice(draft.thoughts)
        sentence = rng.choice(draft.words.wrong_frame).format(line=name, at=round(rest * (1 + z)))
        draft.say(at, sentence, first=rng.random() < 0.5)
    return True


def _again_and_again(draft: _Draft) -> bool:
    """Open the same window three to five times."""
    if not draft.zooms:
        return False
    rng = draft.rng
    at = rng.choice(draft.zooms)
    zoom = draft.steps[at]
    lo, hi = zoom.window
    for _ in range(rng.randint(2, 4)):
        jitter = rng.choice((0, 0, 1, 2))
        window = [lo - jitter, hi + jitter]
        thought = Think("new", rng.choice(draft.words.again).format(lo=round(lo), hi=round(hi), what=zoom.label))
        draft.insert(at + 1, thought, replace(zoom, arguments={**zoom.arguments, "wavelength_range": window}))
    return True


def _against_itself(draft: _Draft) -> bool:
    """Answer the opposite of what the last thought concludes."""
    answer = draft.steps[-1]
    if not isinstance(answer, Answer) or answer.verdict is None:
        return False
    other = "NO" if answer.verdict == "YES" else "YES"
    explanation = answer.explanation
    if draft.rng.random() < 0.5:
        explanation = _conclusion(draft, other == "YES")
    draft.steps[-1] = replace(answer, verdict=other, explanation=explanation)
    return True


def _emission_for_absorption(draft: _Draft) -> bool:
    """Call a line in absorption emission."""
    name = draft.of_kind(_ABSORBED)
    if name is None or len(draft.thoughts) < 2:
        return False
    at = draft.rng.choice(draft.thoughts[1:])
    draft.say(at, draft.rng.choice(draft.words.called_emission).format(line=name), first=draft.rng.random() < 0.5)
    return True


def _atmosphere_as_star(draft: _Draft) -> bool:
    """Read a band of the atmosphere as a feature of the star."""
    first, last = draft.base.spectrum.wavelength[[0, -1]]
    wavelength = draft.rng.choice(_ATMOSPHERE)
    if not first < wavelength < last or not draft.zooms:
        return False
    rng = draft.rng
    shown = wavelength / (1 + (draft.base.trajectory.redshift or 0.0))
    at = rng.choice(draft.thoughts)
    if rng.random() < 0.4:
        last_zoom = draft.zooms[-1]
        zoom = draft.steps[last_zoom]
        window = [round(shown - rng.uniform(50, 120)), round(shown + rng.uniform(50, 120))]
        arguments = {"wavelength_range": window, "label": rng.choice(draft.words.atmosphere_labels)}
        thought = Think("new", rng.choice(draft.words.refine).format(lo=window[0], hi=window[1]))
        draft.insert(last_zoom + 1, thought, replace(zoom, arguments=arguments))
        at = next(n for n in draft.thoughts if n > last_zoom + 2)
        if rng.random() < 0.5:
            draft.say(at, rng.choice(draft.words.window_as_star).format(name=draft.class_name), first=True)
            return True
    draft.say(at, rng.choice(draft.words.as_star).format(at=round(shown), name=draft.class_name))
    return True


def _breaks_off(draft: _Draft) -> bool:
    """End without an answer, or with damaged output."""
    rng = draft.rng
    how = rng.choice(("no answer", "in the middle", "damaged"))
    turn = len(draft.zooms) + 1
    if how == "damaged":
        draft.faults += [f"turn {turn}: {fault}" for fault in rng.sample(draft.words.faults, rng.choice((1, 2)))]
        answer = draft.steps[-1]
        if isinstance(answer, Answer) and rng.random() < 0.5:
            draft.steps[-1] = replace(answer, verdict=None)
        return True
    draft.steps = [step for step in draft.steps if not isinstance(step, Answer)]
    if how == "in the middle":
        last = draft.steps[-1]
        text = last.text[: rng.randint(len(last.text) // 3, len(last.text) - 20)].rstrip(". ")
        draft.steps[-1] = replace(last, text=text)
        if rng.random() < 0.6:
            draft.faults.append(f"turn {turn}: {rng.choice(draft.words.cuts)}")
    return True


FAILURES: dict[str, Callable[[_Draft], bool]] = {
    "quotes another window than was opened": _other_window,
    "names a line that is not there": _line_not_there,
    "takes wavelengths in the wrong frame": _other_frame,
    "opens the same window again and again": _again_and_again,
    "answers against its last thought": _against_itself,
    "calls absorption emission": _emission_for_absorption,
    "reads the atmosphere as the star": _atmosphere_as_star,
    "breaks off or is damaged": _breaks_off,
}
