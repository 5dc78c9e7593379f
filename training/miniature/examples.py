"""Examples of the miniature proof: single pictures with one sentence, and whole inspections, drafted and corrected.

A script replaces the drafting model and the reviewer. It knows what was simulated: a corrected trace states it, a draft
has planted errors. Loop, tool, pictures and observations are those of live vetting.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from agent import tool
from agent.conversation import Conversation, Piece
from agent.loop import Ended, Started, ToolResult, inspect
from agent.plot import pixels_sha256
from agent.tool import TOOL_BLOCK, TOOL_NAME
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Think, Verdict
from agent.trajectory.tags import turn_text
from training.data.records import Example, Question
from training.miniature.spectra import LINES, PAIRS, Target, practice_spectrum

DRAFTER = Drafter("baseline", "script of the miniature proof", {"version": 3})
HABIT = 0.85
"""Share of traces that zoom on the bluest line of the task, as astronomers classify stars; the others zoom on the
reddest. In a clear spectrum both show the shape."""
LABEL_SOURCE = "simulation"

Shrink = Callable[[Image.Image], Image.Image]
"""A picture as small as the model will see it."""


@dataclass(frozen=True)
class Errors:
    """Planted errors of a draft.

    :param misread: share of drafts that take the shape of the lines for that of the look-alike, and answer so
    :param astray: share of drafts that first zoom on a line that says nothing about the question
    """

    misread: float = 0.0
    astray: float = 0.0


@dataclass(frozen=True)
class Script:
    """A policy that knows the answer: it zooms on a line of the task, states what is there, and answers.

    :param label: whose lines it claims to see, and its answer unless ``answer`` is another
    :param target: the line of the task that it zooms on
    :param first: a line that it zooms on before those of the task, if it goes astray
    :param answer: of a draft of which only the answer was corrected
    """

    label: Verdict
    target: Target
    first: Target | None = None
    answer: Verdict | None = None

    @property
    def drafter(self) -> Drafter:
        return DRAFTER

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn: a zoom, or what the last one shows and the answer."""
        pair = PAIRS[conversation.task.key]
        shape = pair.yes if self.label == "YES" else pair.no
        answer = rf"<answer>\boxed{{{self.answer or self.label}}}</answer>"
        if not conversation.with_tool:
            seen = " ".join(f"{target.name}: {shape}." for target in pair.targets)
            yield f"<think>{seen}</think>{answer}"
            return
        targets = (*([self.first] if self.first else []), self.target)
        done = len(conversation.exchanges)
        seen = ""
        if done:
            last = targets[done - 1]
            seen = f"{last.name}: {shape if last in pair.targets else 'no help'}."
        if done == len(targets):
            yield f"<think>{seen}</think>{answer}"
            return
        target = targets[done]
        call = {"name": TOOL_NAME, "arguments": {"label": target.name, "wavelength_range": list(target.window)}}
        written = json.dumps(call, ensure_ascii=False)
        yield f"<think>{seen}{' ' if seen else ''}Zoom on {target.name}.</think>\n<tool_call>\n{written}\n</tool_call>"


def script_of(question: Question, number: int, errors: Errors, right_answer: bool = False) -> Script:
    """Return the script of a trace: with errors, a draft, else the trace as it is after its review.

    :param right_answer: the draft's answer is corrected and its text left as it is
    """
    rng = np.random.default_rng([number, 7])
    targets = PAIRS[question.task.key].targets
    wrong: Verdict = "NO" if question.label == "YES" else "YES"
    misread, astray = rng.random() < errors.misread, rng.random() < errors.astray
    others = [line for line in LINES.values() if line not in targets]
    first = others[int(rng.integers(len(others)))]
    target = targets[0] if rng.random() < HABIT else targets[-1]
    answer = question.label if right_answer else None
    return Script(wrong if misread else question.label, target, first if astray else None, answer)


def inspected(question: Question, script: Script, shrink: Shrink, with_tool: bool) -> Example:
    """Return an inspection by ``script``, like an approved trace."""
    pictures: list[Image.Image] = []
    for event in inspect(question.spectrum(), question.task, script, with_tool=with_tool):
        if isinstance(event, Started):
            pictures.append(shrink(event.overview))
        elif isinstance(event, ToolResult) and event.picture is not None:
            pictures.append(shrink(event.picture))
        elif isinstance(event, Ended):
            labelled = replace(event.trajectory, label=question.label, label_source=LABEL_SOURCE)
            return _example(question.key, question.source, labelled, pictures)
    raise AssertionError("an inspection ends with Ended")


def practised(number: int, shrink: Shrink) -> Example:
    """Return one picture of a line that has nothing to do with the tasks, and what it shows.

    Of four pictures one is an overview: where its line is, and whether it is in emission or in absorption.
    """
    spectrum, shape, centre, window = practice_spectrum(number)
    if number % 4:
        image = tool.call(spectrum, {"wavelength_range": list(window)}).image
        prompt, text = "What does the zoom show?", f"{shape}."
    else:
        image = tool.overview(spectrum)
        sense = "absorption" if shape in ("broad", "narrow") else "emission"
        text = "no line." if shape == "no line" else f"{sense} near {round(centre, -2):.0f}."
        prompt = "What does the overview show?"
    assert image is not None, "a window within the spectrum is drawn"
    trajectory = Trajectory(
        task="mini_practice",
        prompt=prompt,
        spectrum_name=spectrum.name,
        spectrum_sha256=spectrum.sha256,
        steps=(Think("s1", text),),
        drafter=DRAFTER,
        overview=pixels_sha256(image),
        simulated=True,
    )
    return _example(f"practice {number}", spectrum.name, trajectory, [shrink(image)])


def texts(examples: Sequence[Example]) -> list[str]:
    """Return all texts in the examples, for the tokenizer."""
    texts_read = []
    for example in examples:
        trajectory = example.trajectory
        texts_read += [trajectory.system, trajectory.prompt]
        texts_read += [turn_text(turn) for turn in trajectory.turns()]
        texts_read += [zoom.observation for zoom in trajectory.zooms]
    return texts_read


def phrases(prompts: Sequence[str]) -> list[str]:
    """Return the fixed texts that become one token each: what comes again in every inspection, word for word.

    The text of an inspection stays that of live vetting; only its number of tokens is small.
    """
    call = json.dumps({"name": TOOL_NAME, "arguments": {"label": "|", "wavelength_range": [0, 0]}})
    before, after = call.split("|")
    return [
        TOOL_BLOCK,
        *prompts,
        *("system\nYou are a helpful assistant.", "user\n", "assistant\n"),
        *("<think>", "</think>", "<answer>", "</answer>", r"\boxed{", "<tool_response>\n", "\n</tool_response>"),
        f"\n<tool_call>\n{before}",
        after.removesuffix("0, 0]}}"),
        "]}}\n</tool_call>",
        "Generated spectral visualization focused on wavelength range (",
        ") Å for ",
    ]


def _example(key: str, source: str, trajectory: Trajectory, pictures: Sequence[Image.Image]) -> Example:
    return Example(key=key, source=source, trajectory=trajectory, pictures=lambda: pictures)
