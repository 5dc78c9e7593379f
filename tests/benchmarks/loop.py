"""Cost of an inspection without the model: the loop, the pictures, and HTTP to a server; Markdown.

    python -m tests.benchmarks.loop [--trajectories N]

A policy that answers at once zooms five times on a simulated LAMOST spectrum. "loop" is the time from the end of a
turn to the call of the next one: reading the text, drawing, hashing. "through a server" is a whole turn with a
server process that answers at once, its own work included.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from agent import tasks
from agent.conversation import Conversation, Piece, Policy
from agent.loop import run
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.trajectory import Drafter
from agent.trajectory.tags import TOOL_NAME
from tests.benchmarks.results import ROOT, Results, command_line, median_95_longest

CENTRES = (6563, 4861, 4686, 5876, 4340)
ZOOMS = len(CENTRES)


class AtOnce:
    """Zooms on each line and answers; records the milliseconds of the loop between its turns."""

    drafter = Drafter("model", "answers at once")

    def __init__(self) -> None:
        self.between: list[float] = []
        self.trajectories = 0
        self._ended = 0.0

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        done = len(conversation.exchanges)
        if done:
            self.between.append(1000 * (time.perf_counter() - self._ended))
        else:
            self.trajectories += 1
        if done < ZOOMS:
            yield _zoom(CENTRES[done], 60 + self.trajectories % 40)
        else:
            yield r"<think>It is clear.</think><answer>\boxed{YES} Balmer emission.</answer>"
        self._ended = time.perf_counter()


def _zoom(centre: int, half: int) -> str:
    window = f"[{centre - half}, {centre + half}]"
    call = f'{{"name": "{TOOL_NAME}", "arguments": {{"label": "line", "wavelength_range": {window}}}}}'
    return f"<think>A closer look.</think>\n<tool_call>\n{call}\n</tool_call>"


class Timed:
    """Wraps a policy and records the milliseconds from each call of a turn to the next call."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.turns: list[float] = []
        self._called = 0.0

    @property
    def drafter(self) -> Drafter:
        return self.policy.drafter

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        now = time.perf_counter()
        if conversation.exchanges:
            self.turns.append(1000 * (now - self._called))
        self._called = now
        yield from self.policy.turn(conversation)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--trajectories", type=int, default=40, help="inspections of each kind (40)")
    number = parser.parse_args().trajectories
    task, spectrum = tasks.load()["cv"], simulate("cv", "LAMOST", 20.0, 1)
    results = Results()
    table = results.table({"a turn with a tool call, ms": "", "median": "{:.1f}", "95th percentile": "{:.1f}"})
    policy = AtOnce()
    run(spectrum, task, policy)
    policy.between.clear()
    start = time.perf_counter()
    for _ in range(number):
        run(spectrum, task, policy)
    seconds = time.perf_counter() - start
    table.row("loop", *median_95_longest(policy.between)[:2])
    with scripted_server() as url:
        served = Timed(SpecO3(Endpoint(url)))
        run(spectrum, task, served)
        served.turns.clear()
        for _ in range(number):
            run(spectrum, task, served)
    table.row("through a server that answers at once", *median_95_longest(served.turns)[:2])
    rate = number / seconds
    results.text(f"{rate:.1f} trajectories of {ZOOMS} tool calls per second on one core, the full spectrum included.")


@contextmanager
def scripted_server() -> Iterator[str]:
    """Run the tests' model server, which answers at once, as a process; yield its address."""
    command = [sys.executable, "-m", "tests.support.model_server", "--port", "0", "--delay", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield next(word for word in process.stdout.readline().split() if word.startswith("http"))
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
