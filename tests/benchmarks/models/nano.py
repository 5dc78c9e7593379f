"""The nano model: whether it writes what transformers writes, and how long a person waits for it; Markdown.

    python -m tests.benchmarks.models.nano --model FOLDER [--traces N] [--zooms N] [--no-reference]

Each trace is a whole inspection of another simulated spectrum: all kinds, surveys, S/N of 8 to 60, and the tasks of
the folder's abstain.json. "first words" is the time from the request to the first text on the page, "verdict" the
time to the answer; both contain drawing, and the first inspection also the loading of the model. The program is kept
on two cores.

The reference is the policy "local", transformers in float32, if this Python has it. Where the logits of the two most
likely tokens are about 1e-4 apart, two programs in float32 may choose different ones, as transformers itself does with
another of its attention functions. So for a turn that differs, the smallest such distance is given; a larger one is an
error.

``--zooms`` is for random weights, which never call the tool: after the model's own text, each turn gets a tool call,
and the last an answer.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter

import numpy as np

from agent.conversation import Conversation, Piece, Policy
from agent.loop import Ended, Text, inspect
from agent.policies import Sampling
from agent.policies.local.model import Loaded, Weights
from agent.policies.nano import folder
from agent.policies.nano.folder import Array
from agent.policies.nano.policy import Nano, model
from agent.policies.spec_o3 import messages
from agent.simulate import KINDS, simulate, truth
from agent.simulate.instrument import SURVEYS
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.tool import TOOL_NAME
from agent.trajectory import Drafter
from tests.benchmarks.results import Results

CORES = 2
SHOWN = 10
"""Differing traces that are described."""
CENTRES = (6563, 4861, 4686, 5876, 4340, 5165, 7100)


@dataclass(frozen=True)
class Trace:
    """What a policy wrote, one text per turn, and the seconds to the first text and to the end.

    ``ties``: for each turn the smallest distance between the logits of the two most likely tokens, if it is watched.
    """

    texts: tuple[str, ...]
    reason: str
    first: float
    end: float
    ties: tuple[float, ...] = ()


class Watched(Nano):
    """The nano policy; it records how close to each other the two most likely tokens came, turn by turn."""

    def __init__(self, path: Path, sampling: Sampling) -> None:
        super().__init__(path, sampling)
        self.ties: list[float] = []
        language = model(path).language
        logits = language.logits

        def watched(states: Array) -> Array:
            found = logits(states)
            second, first = np.partition(found[-1], -2)[-2:]
            self.ties[-1] = min(self.ties[-1], float(first - second))
            return found

        language.logits = watched

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        if not conversation.exchanges:
            self.ties = []
        self.ties.append(float("inf"))
        yield from super().turn(conversation)


class Driven:
    """A policy whose turns end with a tool call or, after so many zooms, with an answer."""

    def __init__(self, policy: Policy, zooms: int) -> None:
        self._policy = policy
        self._zooms = zooms

    @property
    def drafter(self) -> Drafter:
        return self._policy.drafter

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        yield from self._policy.turn(conversation)
        done = len(conversation.exchanges)
        if done == self._zooms:
            yield r"<answer>\boxed{YES}</answer>"
            return
        low = CENTRES[done % len(CENTRES)] - 100
        call = f'{{"name": "{TOOL_NAME}", "arguments": {{"wavelength_range": [{low}, {low + 200}]}}}}'
        yield f"\n<tool_call>\n{call}\n</tool_call>"


class Reference:
    """The policy "local": transformers in this process. Like the nano model, it writes no token of a picture."""

    def __init__(self, path: Path, sampling: Sampling) -> None:
        self._loaded = Loaded.load(Weights(str(path)))
        self._loaded.model.generation_config.suppress_tokens = list(model(path).vocabulary.never)
        self._sampling = sampling

    @property
    def drafter(self) -> Drafter:
        return Drafter("model", "transformers")

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        pieces: list[Piece] = []
        seen = [exchange.observation for exchange in conversation.exchanges]
        images = [conversation.overview, *(one.image for one in seen if one and one.image)]
        self._loaded.write(messages(conversation), images, self._sampling, pieces.append, lambda: False)
        yield from pieces


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.models.nano",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument(
        "--model", type=Path, default=folder.PACKAGED, help="the model's folder (default: the packaged)"
    )
    parser.add_argument("--traces", type=int, default=100, help="inspections (100)")
    parser.add_argument("--max-tokens", type=int, default=256, help="most tokens of a turn (256)")
    parser.add_argument("--zooms", type=int, help="add a tool call to each turn, so many, and then an answer")
    parser.add_argument("--no-reference", action="store_true", help="measure times only")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    known = load()
    about = folder.abstain(arguments.model)
    tasks = [known[key] for key in (about.tasks if about else known)]
    sampling = Sampling(max_tokens=arguments.max_tokens)
    results = Results()
    nano = inspected(Watched(arguments.model, sampling), arguments.traces, tasks, arguments.zooms)
    report_times(results, nano)
    if arguments.no_reference or not all(map(find_spec, ("torch", "transformers"))):
        results.text("Not compared with transformers.")
        return
    reference = inspected(Reference(arguments.model, sampling), arguments.traces, tasks, arguments.zooms)
    report_differences(results, nano, reference)


def questions(number: int, tasks: Sequence[Task]) -> Iterator[tuple[Spectrum, Task]]:
    """Yield so many spectra with a task each; every second one is of the task's own class."""
    for n, task in enumerate(islice(cycle(tasks), number)):
        own = [kind for kind in KINDS if truth(kind, task.key) == "YES"]
        kinds = own if n // len(tasks) % 2 == 0 and own else KINDS
        survey = sorted(SURVEYS)[n % len(SURVEYS)]
        yield simulate(kinds[n % len(kinds)], survey, 8.0 + n * 7 % 53, seed=1000 + n), task


def inspected(policy: Policy, number: int, tasks: Sequence[Task], zooms: int | None) -> list[Trace]:
    """Return one trace per question, one after the other."""
    shown = policy if zooms is None else Driven(policy, zooms)
    found = []
    for spectrum, task in questions(number, tasks):
        texts: dict[int, str] = {}
        start, first = perf_counter(), float("nan")
        for event in inspect(spectrum, task, shown):
            if isinstance(event, Text):
                if not texts:
                    first = perf_counter() - start
                texts[event.turn] = texts.get(event.turn, "") + event.text
        assert isinstance(event, Ended)
        assert event.reason != "policy failed", event.detail
        ties = tuple(policy.ties) if isinstance(policy, Watched) else ()
        found.append(Trace(tuple(texts.values()), event.reason, first, perf_counter() - start, ties))
    return found


def report_times(results: Results, traces: Sequence[Trace]) -> None:
    table = results.table({"seconds": "", "median": "{:.2f}", "95th percentile": "{:.2f}", "longest": "{:.2f}"})
    for name, times in (("first words", [t.first for t in traces]), ("verdict", [t.end for t in traces])):
        late = statistics.quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]
        table.row(name, statistics.median(times), late, max(times))
    turns = sum(len(trace.texts) for trace in traces)
    answered = sum(trace.reason == "answered" for trace in traces)
    results.text(f"{len(traces)} inspections of {turns} turns in all; {answered} with an answer.")


def report_differences(results: Results, nano: Sequence[Trace], reference: Sequence[Trace]) -> None:
    pairs = list(enumerate(zip(nano, reference, strict=True)))
    different = [
        (n, ours, theirs) for n, (ours, theirs) in pairs if (ours.texts, ours.reason) != (theirs.texts, theirs.reason)
    ]
    results.text(
        f"{len(pairs)} traces against transformers: {len(pairs) - len(different)} identical, {len(different)} different"
    )
    for n, ours, theirs in different[:SHOWN]:
        turn = next(
            (at for at, (a, b) in enumerate(zip(ours.texts, theirs.texts, strict=False)) if a != b),
            min(len(ours.texts), len(theirs.texts)),
        )
        a, b = (next(iter(trace.texts[turn : turn + 1]), trace.reason) for trace in (ours, theirs))
        at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        tie = ours.ties[turn] if turn < len(ours.ties) else float("nan")
        results.text(
            f"Trace {n}, turn {turn + 1}, character {at}: {a[at : at + 60]!r}; transformers: {b[at : at + 60]!r}. "
            f"Smallest distance of the two most likely tokens in that turn: {tie:.1e}."
        )


if __name__ == "__main__":
    main()
