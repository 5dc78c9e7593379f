"""The rendering compared with the processor's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.trajectory.tags import turn_text
from tests.models.support.learned_traces import INSPECTED, inspected
from training.render import IMAGE, Renderer


@pytest.fixture(scope="module")
def renderer(random_model: Path) -> Renderer:
    from transformers import AutoProcessor

    return Renderer(AutoProcessor.from_pretrained(random_model))


@pytest.mark.parametrize("key", INSPECTED)
def test_token_ids_are_those_of_the_whole_text(renderer: Renderer, key: str) -> None:
    trace = inspected(key)
    rendered = renderer.example(trace.trajectory, trace.pictures)
    text = renderer.processor.apply_chat_template(trace.messages)
    pictures = [picture.convert("RGB") for picture in trace.pictures]
    whole = renderer.processor(text=[text], images=pictures)["input_ids"][0]
    # The template ends with a line feed after the last turn, which belongs to no role.
    assert list(rendered.ids) == list(whole)[: len(rendered)]
    assert renderer.processor.tokenizer.decode(list(whole)[len(rendered) :]).strip() in ("", "<|im_start|>assistant")


def test_a_trace_that_measured_has_both_tools_and_no_picture_there(renderer: Renderer) -> None:
    trace = inspected("cv")
    first = trace.trajectory.zooms[0]
    measured = replace(first, tool="measure", picture=None, arguments={"feature": "Hα"}, observation="Hα: certain.")
    trajectory = trace.trajectory.with_steps(
        tuple(measured if step is first else step for step in trace.trajectory.steps)
    )
    pictures = [picture for number, picture in enumerate(trace.pictures) if number != 1]
    rendered = renderer.example(trajectory, pictures)
    text = renderer.processor.apply_chat_template(trajectory.to_messages())
    assert text.count('"function": {"name": "') == 2
    whole = renderer.processor(text=[text], images=[picture.convert("RGB") for picture in pictures])["input_ids"][0]
    assert list(rendered.ids) == list(whole)[: len(rendered)]


@pytest.mark.parametrize("key", INSPECTED)
def test_spoken_tokens_are_the_assistants_text_and_its_end(renderer: Renderer, key: str) -> None:
    trace = inspected(key)
    rendered = renderer.example(trace.trajectory, trace.pictures)
    runs: list[list[int]] = []
    for index, (token, spoken) in enumerate(zip(rendered.ids, rendered.spoken, strict=True)):
        if spoken and not (index and rendered.spoken[index - 1]):
            runs.append([])
        if spoken:
            runs[-1].append(token)
    texts = [renderer.processor.tokenizer.decode(run, skip_special_tokens=False) for run in runs]
    assert texts == [turn_text(turn) + "<|im_end|>" for turn in trace.trajectory.turns()]
    image = renderer.processor.tokenizer.convert_tokens_to_ids(IMAGE)
    assert not any(spoken for token, spoken in zip(rendered.ids, rendered.spoken, strict=True) if token == image)


def test_without_the_tool_there_is_one_turn(renderer: Renderer) -> None:
    trace = inspected("cv")
    rendered = renderer.example(trace.trajectory, trace.pictures, with_tool=False)
    text = renderer.processor.tokenizer.decode(list(rendered.ids), skip_special_tokens=False)
    assert len(rendered.images) == 1
    assert text.count("<|im_start|>assistant") == 1
    assert "tool" not in text
    assert text.count("<think>") == text.count("<answer>") == 1
