"""Questions and outcomes of a benchmark, for tests."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from agent import tasks
from agent.conversation import Conversation, PolicyError, Usage
from agent.simulate import simulate, truth
from agent.tool import TOOL_NAME
from agent.trajectory import Drafter
from training.bench.outcomes import Outcome
from training.data.records import Question

VERDICTS = {"+": "YES", "-": "NO", "?": None}


def outcomes(truth: str, said: str, task: str = "cv", **given) -> list[Outcome]:
    """One outcome a character: ``truth`` of + and -, ``said`` of +, - and ? (neither)."""
    return [
        Outcome(
            **{
                "key": f"test_{task}.parquet#{number:04d}",
                "source": f"star-{number:04d}.fits",
                "task": task,
                "label": VERDICTS[true],
                "predicted": VERDICTS[word],
                "answered": VERDICTS[word],
                "format_ok": True,
                "calls": 2,
                **given,
            }
        )
        for number, (true, word) in enumerate(zip(truth, said, strict=True))
    ]


def under(name: str, some: Iterable[Outcome]) -> list[Outcome]:
    """The same of other spectra: their sources begin with ``name``."""
    return [replace(one, key=f"{name} {one.key}", source=f"{name}-{one.source}") for one in some]


TASKS = tasks.load()


def question(kind: str, task: str, number: int, snr: float = 12.0, survey: str = "LAMOST") -> Question:
    """One about a simulated spectrum, which is made when it is asked for."""
    source = f"simulated-{kind}-{number}.fits"
    read = partial(simulate, kind, survey, snr, number)
    return Question(source, source, TASKS[task], truth(kind, task), f"simulated {survey}", snr, True, read)


def some_questions(number: int, task: str = "cv", kinds: Sequence[str] = ("cv", "fgk")) -> list[Question]:
    """So many, of these kinds in turn."""
    return [question(kinds[n % len(kinds)], task, n) for n in range(number)]


WAYS = ("right", "false positive", "false negative", "no answer", "bad form", "tool error", "turn limit")


def way_of(name: str) -> str:
    """How the policy goes about the spectrum of that name; the same each time."""
    return WAYS[zlib.crc32(name.encode()) % len(WAYS)]


class Wayward:
    """Looks once, then answers as ``way_of`` says; what it writes would be markup if nobody took care."""

    def __init__(self, sample: int = 0) -> None:
        self.drafter = Drafter("model", "wayward <b>model</b>", {"seed": sample})

    def turn(self, conversation: Conversation) -> Iterator[str | Usage]:
        way = way_of(conversation.spectrum.name)
        yield Usage(1, 1000, 0, 50)
        if not conversation.exchanges and conversation.with_tool:
            window = [100, 200] if way == "tool error" else [6500, 6630]
            yield "<think>The continuum rises & falls; is Hα <script>alert(1)</script> there?</think>\n"
            yield self._call(window)
        elif way == "turn limit" and conversation.with_tool:
            yield "<think>Once more.</think>\n" + self._call([4800, 4920])
        else:
            yield self._answer(way, conversation.task.key in conversation.spectrum.name)

    def _call(self, window: list[int]) -> str:
        call = {"name": TOOL_NAME, "arguments": {"wavelength_range": window, "label": "Hα"}}
        return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"

    def _answer(self, way: str, is_class: bool) -> str:
        said = {"false positive": "YES", "false negative": "NO"}.get(way, "YES" if is_class else "NO")
        if way == "no answer":
            return "<think>I cannot tell.</think>"
        if way == "bad form":
            return f"It is clear: <answer>{said}, because of the lines.</answer>"
        return rf"<think>The lines decide.</think><answer>\boxed{{{said}}} Because of the lines.</answer>"


class Broken(Wayward):
    """Its server fails for some spectra, every time."""

    def turn(self, conversation: Conversation) -> Iterator[str | Usage]:
        if way_of(conversation.spectrum.name) == "no answer":
            raise PolicyError("the server is out of memory")
        yield from super().turn(conversation)
