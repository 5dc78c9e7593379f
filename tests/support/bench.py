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


def outcomes(truth: str, predicted: str, task: str = "cv", **given) -> list[Outcome]:
    """Return one outcome per character: ``truth`` of + and -, ``predicted`` of +, - and ? (no verdict)."""
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
        for number, (true, word) in enumerate(zip(truth, predicted, strict=True))
    ]


def under(name: str, some: Iterable[Outcome]) -> list[Outcome]:
    """Return the same outcomes for other spectra, whose sources begin with ``name``."""
    return [replace(outcome, key=f"{name} {outcome.key}", source=f"{name}-{outcome.source}") for outcome in some]


TASKS = tasks.load()


def question(kind: str, task: str, number: int, snr: float = 12.0, survey: str = "LAMOST") -> Question:
    """Return a question about a simulated spectrum, which is made when it is read."""
    source = f"simulated-{kind}-{number}.fits"
    read = partial(simulate, kind, survey, snr, number)
    return Question(source, source, TASKS[task], truth(kind, task), f"simulated {survey}", snr, True, read)


def some_questions(number: int, task: str = "cv", kinds: Sequence[str] = ("cv", "fgk")) -> list[Question]:
    """Return ``number`` questions, about these kinds in turn."""
    return [question(kinds[n % len(kinds)], task, n) for n in range(number)]


WAYS = ("right", "false positive", "false negative", "no answer", "bad form", "tool error", "turn limit")


def way_of(name: str) -> str:
    """Return the policy's behaviour for the spectrum of this name, always the same."""
    return WAYS[zlib.crc32(name.encode()) % len(WAYS)]


class Wayward:
    """Zooms once, then behaves as ``way_of`` returns; its output contains markup."""

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
        verdict = {"false positive": "YES", "false negative": "NO"}.get(way, "YES" if is_class else "NO")
        if way == "no answer":
            return "<think>I cannot tell.</think>"
        if way == "bad form":
            return f"It is clear: <answer>{verdict}, because of the lines.</answer>"
        return rf"<think>The lines decide.</think><answer>\boxed{{{verdict}}} Because of the lines.</answer>"


class Broken(Wayward):
    """A policy whose server always fails for some spectra."""

    def turn(self, conversation: Conversation) -> Iterator[str | Usage]:
        if way_of(conversation.spectrum.name) == "no answer":
            raise PolicyError("the server is out of memory")
        yield from super().turn(conversation)


class Varied(Wayward):
    """Answers without a zoom; of the samples of a spectrum some are YES, some NO, and some no answer (``varied``)."""

    def __init__(self, sample: int = 0) -> None:
        super().__init__(sample)
        self.sample = sample

    def turn(self, conversation: Conversation) -> Iterator[str | Usage]:
        yield Usage(1, 1000, 400, 50)
        verdict = varied(conversation.spectrum.name, self.sample)
        yield (
            "<think>I cannot tell.</think>"
            if verdict is None
            else rf"<think>The lines decide.</think><answer>\boxed{{{verdict}}} So.</answer>"
        )


def varied(name: str, sample: int) -> str | None:
    """Return the answer of ``Varied``, always the same."""
    return ("YES", "NO", "YES", None, "NO")[zlib.crc32(f"{name} {sample}".encode()) % 5]
