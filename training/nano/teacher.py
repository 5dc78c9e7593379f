"""The script that writes the traces: it zooms on the windows of its task, states what each shows, and knows the truth.

Loop, tool, pictures and observations are those of live vetting. Each sentence comes again word for word in thousands of
traces, so that each is one token of the nano model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import overload

from PIL import Image

from agent.conversation import Conversation, Piece
from agent.loop import Ended, Started, ToolResult, inspect
from agent.simulate import CLASSES, KINDS, truth
from agent.tool import TOOL_BLOCK, TOOL_NAME
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Verdict
from training.data import source_of
from training.data.records import Example
from training.nano.features import overview, statement, statements
from training.nano.spectra import Part, Simulated, simulated, tasks

DRAFTER = Drafter("baseline", "script of the nano model", {"version": 1})
LABEL_SOURCE = "simulation"

Shrink = Callable[[Image.Image], Image.Image]
"""A picture as small as the model will see it."""


@dataclass(frozen=True)
class View:
    """A window in Å, and the features that are stated about it."""

    label: str
    window: tuple[int, int]
    features: tuple[str, ...]


_HALPHA = View("Hα", (6400, 6720), ("Hα", "He I 6678"))
_HBETA = View("Hβ", (4600, 5060), ("He II 4686", "Hβ", "[O III] 5007"))
_HBETA_CARBON = View("Hβ and C2 4737", (4600, 5060), ("He II 4686", "C2 4737", "Hβ", "[O III] 5007"))
_BLUE = View("Hδ and Hγ", (3900, 4420), ("Ca II K", "Hδ", "G band", "Hγ"))
_HELIUM = View("He I 4471 and He II", (4420, 4720), ("He I 4471", "He II 4542", "He II 4686"))
_YELLOW = View("He II 5412 and He I 5876", (5340, 5960), ("He II 5412", "He I 5876", "Na D"))
_CALCIUM = View("Ca II K and He I 4026", (3820, 4060), ("Ca II K", "He I 4026"))
_SWAN = View("C2 bands", (4600, 5800), ("C2 4737", "C2 5165", "TiO 5167", "C2 5636"))
_RED = View("TiO and CaH", (6050, 7200), ("TiO 6159", "CaH 6385", "CaH 6975", "TiO 7054"))
_ZIRCONIUM = View("ZrO 6474", (6280, 6600), ("ZrO 6345", "ZrO 6474", "Narrow Hα"))
_ZIRCONIUM_BLUE = View("ZrO 5551", (5380, 5920), ("ZrO 5551", "Na D"))
_FAR_RED = View("Na I and Ca II", (8100, 8720), ("Na I 8190", "Ca II 8542"))

VIEWS: Mapping[str, tuple[View, ...]] = MappingProxyType(
    {
        "cv": (_HALPHA, _HBETA, _BLUE),
        "cc": (_SWAN, _RED),
        "ss": (_ZIRCONIUM, _ZIRCONIUM_BLUE, _RED),
        "gm": (_RED, _ZIRCONIUM, _FAR_RED),
        "wd": (_HBETA_CARBON, _BLUE, _HELIUM, _HALPHA),
        "o": (_HELIUM, _YELLOW, _BLUE),
        "b": (_HELIUM, _BLUE, _YELLOW),
        "a": (_BLUE, _CALCIUM, _HBETA),
    }
)
"""The zooms of each task, in their order."""

NOUNS: Mapping[str, str] = MappingProxyType(
    {
        "cv": "a cataclysmic variable",
        "cc": "a carbon star",
        "ss": "an S star",
        "gm": "an M giant",
        "wd": "a white dwarf",
        "o": "an O star",
        "b": "a B star",
        "a": "an A star",
        "dme": "an active M dwarf",
        "dm": "an M dwarf",
        "fgk": "an F, G or K star",
        "gba": "a barium or CH giant",
        "sd": "a hot subdwarf",
        "be": "a Be star",
        "tts": "a T Tauri star",
        "qso": "a quasar",
        "hii": "an H II galaxy",
        "pn": "a planetary nebula",
        "wr": "a Wolf-Rayet star",
        "sky": "blank sky",
    }
)


@dataclass(frozen=True)
class Script:
    """A policy that knows one spectrum: it zooms where the task says, states what is there, and answers."""

    known: Simulated

    @property
    def drafter(self) -> Drafter:
        return DRAFTER

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn: what the last picture shows, then a zoom or the answer."""
        views, done = VIEWS[conversation.task.key], len(conversation.exchanges)
        if done:
            seen = [statement(name, self.known.clean) for name in views[done - 1].features]
        else:
            seen = [overview(self.known.clean)]
        if done < len(views):
            yield f"<think>{' '.join(seen)} {announced(views[done])}</think>\n{called(views[done])}"
        else:
            # What it is comes after the verdict: the odds of the verdict are then those of all kinds together.
            yield f"<think>{' '.join(seen)}</think>{answered(conversation.task.key, self.known.kind)}"


def announced(view: View) -> str:
    """Return the sentence before a zoom."""
    return f"Zoom on {view.label}."


def called(view: View) -> str:
    """Return the text of the tool call of a zoom."""
    call = {"name": TOOL_NAME, "arguments": {"label": view.label, "wavelength_range": list(view.window)}}
    return f"<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"


def answered(task: str, kind: str) -> str:
    """Return the answer to a task about a kind."""
    verdict: Verdict = truth(kind, task)
    return rf"<answer>\boxed{{{verdict}}} {_explained(kind)}</answer>"


def _explained(kind: str) -> str:
    return f"Most like {NOUNS[kind]}."


def phrases() -> list[str]:
    """Return the fixed texts that become one token each: what comes again in every inspection, word for word."""
    views = list(dict.fromkeys(view for task in CLASSES for view in VIEWS[task]))
    observation = "Generated spectral visualization focused on wavelength range"
    return [
        TOOL_BLOCK,
        *(tasks()[task].prompt for task in CLASSES),
        *("system\nYou are a helpful assistant.", "user\n", "assistant\n"),
        *("<think>", "</think>", "</answer>", "<tool_response>\n", "\n</tool_response>"),
        *(rf"<answer>\boxed{{{verdict}}} " for verdict in ("YES", "NO")),
        *(_explained(kind) for kind in KINDS),
        *(f" {announced(view)}</think>\n{called(view)}" for view in views),
        *(f"{observation} {view.window} Å for {view.label}." for view in views),
        *statements(),
    ]


def taught(known: Simulated, shrink: Shrink) -> Example:
    """Return the inspection of a spectrum by the script, like an approved trace."""
    pictures: list[Image.Image] = []
    for event in inspect(known.spectrum, tasks()[known.task], Script(known)):
        if isinstance(event, Started):
            pictures.append(shrink(event.overview))
        elif isinstance(event, ToolResult) and event.picture is not None:
            pictures.append(shrink(event.picture))
        elif isinstance(event, Ended):
            labelled = replace(event.trajectory, label=known.label, label_source=LABEL_SOURCE)
            return _example(known, labelled, pictures)
    raise AssertionError("an inspection ends with Ended")


@dataclass(frozen=True)
class Traces(Sequence[Example]):
    """The first ``length`` traces of a part; each is made when it is needed, and none is kept."""

    part: Part
    length: int
    shrink: Shrink

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, at: int) -> Example: ...
    @overload
    def __getitem__(self, at: slice) -> list[Example]: ...
    def __getitem__(self, at: int | slice) -> Example | list[Example]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(self.length))]
        if not 0 <= at < self.length:
            raise IndexError(f"{at} of {self.length} traces")
        return taught(simulated(self.part, at), self.shrink)


def _example(known: Simulated, trajectory: Trajectory, pictures: Sequence[Image.Image]) -> Example:
    return Example(
        key=known.spectrum.name,
        source=source_of(known.spectrum.name),
        trajectory=trajectory,
        pictures=lambda: pictures,
        survey=known.spectrum.survey,
        snr=known.spectrum.snr["median"],
    )
