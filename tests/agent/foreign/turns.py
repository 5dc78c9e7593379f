"""A trace as an agent with our MCP tools would have it: turns of thoughts, a call and its result; artificial traces."""

import io
import random
from dataclasses import dataclass, replace
from functools import cache

from agent import tool
from agent.foreign.record import Call, Event, Result, Words
from agent.plot import pixels_sha256
from agent.spectrum import Spectrum
from agent.tool import MEASURE, TOOL_NAME
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Think, Zoom
from tests.support.drawn_traces import a_spectrum, a_trace

SYSTEM = "You vet spectra."
PREFIX = "mcp__spec-o3__"


@dataclass(frozen=True)
class Turn:
    """``thoughts`` come before the call; every second one is reasoning that a client keeps apart."""

    thoughts: tuple[str, ...]
    call: Call
    result: Result


def turns(trajectory: Trajectory, spectrum: Spectrum) -> list[Turn]:
    opened = f"handle: h1\nspectrum: {spectrum.name}\nsha256: {spectrum.sha256}"
    given = {"path": spectrum.name, "reasoning": ""}
    rows = [
        Turn((), Call("c0", f"{PREFIX}open_spectrum", given), Result("c0", opened, (_png(tool.overview(spectrum)),)))
    ]
    thoughts: list[str] = []
    for step in trajectory.steps:
        if isinstance(step, Think):
            thoughts.append(step.text)
            continue
        *spoken, reasoning = thoughts or [""]
        thoughts, given, call = [], {"handle": "h1", "reasoning": reasoning}, f"c{len(rows)}"
        if isinstance(step, Answer):
            name = "submit_verdict"
            given |= {"task": trajectory.task, "verdict": step.verdict, "explanation": step.explanation}
            result = Result(call, "submitted")
        else:
            name, given = step.tool, given | dict(step.arguments)
            seen = tool.call(spectrum, dict(step.arguments), step.tool)
            pictures = () if step.picture is None else (_png(seen.image),)
            result = Result(call, step.observation, pictures, step.ok)
        rows.append(Turn(tuple(spoken), Call(call, PREFIX + name, given), result))
    return rows


def prompt_of(trajectory: Trajectory) -> str:
    return f"Is it one? Submit your verdict.\n{trajectory.prompt}"


def events(trajectory: Trajectory, spectrum: Spectrum, system: bool = True) -> tuple[Event, ...]:
    """What a reader should give."""
    read: list[Event] = [Words("system", SYSTEM)] if system else []
    read.append(Words("user", prompt_of(trajectory)))
    for turn in turns(trajectory, spectrum):
        read += [Words("assistant", text, is_thought=bool(n % 2)) for n, text in enumerate(turn.thoughts)]
        read += [turn.call, turn.result]
    return (*read, Words("assistant", "Done."))


def _png(image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()


@cache
def an_example(number: int) -> tuple[Trajectory, Spectrum]:
    """Trace ``number``: thoughts that repeat or are missing, windows of integers and fractions, refused calls."""
    rng = random.Random(number)
    spectrum = a_spectrum(f"s{number}.fits", rng.choice([None, 0.0, 0.01]))
    frame, z = tool.frame_of(spectrum)
    steps: list[Think | Zoom | Answer] = []

    def think() -> None:
        # Different ones: the reasoning of a call that repeats what the agent wrote before it is no second thought.
        texts = ["Look again.", f"Hα “{rng.random():.3f}” Å\nnext line", '{"a": [1]}', "🔭 [x](y)", "a  wide one"]
        for text in rng.sample(texts, rng.randint(0, 4)):
            steps.append(Think(f"s{len(steps) + 1}", text))

    for _ in range(rng.randint(0, 5)):
        think()
        start = rng.choice([rng.randint(6000, 6900), round(rng.uniform(6000, 6900), 2), 9000])
        if rng.random() < 0.2:
            arguments, seen = {"feature": "Hα"}, None
            steps.append(Zoom(f"s{len(steps) + 1}", arguments, frame, z, "vacuum", "Hα: none", True, None, MEASURE))
            continue
        arguments = {"wavelength_range": [start, start + 60]} | ({"label": "Hα"} if rng.random() < 0.5 else {})
        seen = tool.call(spectrum, arguments)
        steps.append(
            Zoom(f"s{len(steps) + 1}", arguments, frame, z, "vacuum", seen.text, seen.ok, seen.picture, TOOL_NAME)
        )
    think()
    steps.append(Answer(f"s{len(steps) + 1}", rng.choice(["YES", "NO"]), "because"))
    trace = a_trace(spectrum, steps=tuple(steps), overview=pixels_sha256(tool.overview(spectrum)))
    return replace(trace, redshift=spectrum.redshift), spectrum
