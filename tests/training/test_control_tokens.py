"""Control tokens of the tokenizer in any text of a trace: left out of training with the place, said at import, and
encoded as text where they are rendered all the same.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from agent.trajectory import Answer, Think, Trajectory, Zoom
from agent.trajectory.tags import CONTROL
from reviewer.exchange.imports import Findings, continue_import, own_row, request_of, start_or_resume
from tests.support.drawn_traces import a_spectrum, a_store, a_trace
from training.data.trajectory_rows import reason_unfit
from training.render import Renderer

PLACES = ("system", "prompt", "think", "label", "observation", "explanation")


def with_text(trace: Trajectory, place: str, text: str) -> Trajectory:
    """Return the trace with a text at the end of one of its texts."""
    if place in ("system", "prompt"):
        return replace(trace, **{place: getattr(trace, place) + text})
    steps = list(trace.steps)
    kind, name = {
        "think": (Think, "text"),
        "label": (Zoom, "label"),
        "observation": (Zoom, "observation"),
        "explanation": (Answer, "explanation"),
    }[place]
    number = next(n for n, step in enumerate(steps) if isinstance(step, kind))
    if place == "label":
        changed = {"arguments": {**steps[number].arguments, "label": f"a {text}"}}
    else:
        changed = {name: f"{getattr(steps[number], name)} {text}"}
    steps[number] = replace(steps[number], **changed)
    return replace(trace, steps=tuple(steps))


@pytest.mark.parametrize("place", PLACES)
def test_a_trace_with_a_control_token_is_no_example(place: str) -> None:
    trace = a_trace(a_spectrum("a.fits"))
    assert reason_unfit(trace) == ""
    assert [token for token in CONTROL if token not in reason_unfit(with_text(trace, place, token))] == []
    for format_tag in ("<think>", "<tool_call>") if place in ("system", "prompt") else ():
        assert reason_unfit(with_text(trace, place, format_tag)) == ""


@pytest.mark.parametrize("place", PLACES)
def test_an_import_says_how_many_and_where(tmp_path: Path, place: str) -> None:
    spectrum = a_spectrum("a.fits")
    rows = [a_trace(spectrum), with_text(a_trace(spectrum), place, "<|video_pad|>")]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(own_row(row, spectrum, {})) + "\n" for row in rows), encoding="utf-8")
    with a_store(tmp_path / "a.db") as store:
        job = start_or_resume(store, request_of(path, None, "", False, "import"))
        found = Findings.of(continue_import(store, job.id))
    assert (found.added, found.control) == (2, 1)
    (where,) = found.control_texts
    assert where.startswith("row 2: ")
    assert "<|video_pad|>" in where


class Tokenizer:
    """A tokenizer that adds tokens of its own, as ``tokenizers`` has it."""

    SPECIAL = (*(token for token in CONTROL if token.startswith("<|") and "fim" not in token), "[INST]")
    TOOL = ("<tool_call>", "</tool_call>")
    # As in Qwen2.5-VL, not all control tokens are special.
    OTHERS = (*(token for token in CONTROL if "fim" in token), "<|own_token|>", *TOOL)
    PHRASE = "So it is a cataclysmic variable."

    def __init__(self) -> None:
        from tokenizers import AddedToken, models, pre_tokenizers
        from tokenizers import Tokenizer as Bpe

        self.inner = Bpe(models.BPE())
        self.inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        self.inner.add_tokens(sorted(pre_tokenizers.ByteLevel.alphabet()))
        self.inner.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in self.SPECIAL])
        self.inner.add_tokens([AddedToken(token, normalized=False) for token in (*self.OTHERS, self.PHRASE)])

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        return list(self.inner.encode(text).ids)

    def convert_tokens_to_ids(self, tokens: str | list[str]) -> int | list[int]:
        return self.inner.token_to_id(tokens) if isinstance(tokens, str) else [*map(self.inner.token_to_id, tokens)]

    @property
    def added_tokens_decoder(self) -> dict[int, object]:
        return dict(self.inner.get_added_tokens_decoder())


class Pictures:
    merge_size = 2

    def get_number_of_image_patches(self, height: int, width: int, _: object) -> int:
        return 16


@pytest.mark.parametrize("place", [place for place in PLACES if place != "label"])
def test_a_control_token_in_a_text_is_rendered_as_text(place: str) -> None:
    pytest.importorskip("tokenizers")
    tokenizer = Tokenizer()
    renderer = Renderer(SimpleNamespace(tokenizer=tokenizer, image_processor=Pictures()))
    trace = a_trace(a_spectrum("a.fits"))
    pictures = [Image.new("RGB", (28, 28))] * (1 + sum(zoom.ok for zoom in trace.zooms))
    plain = renderer.example(trace, pictures)
    assert plain.ids.count(tokenizer.convert_tokens_to_ids("<tool_call>")) >= len(trace.zooms)
    for token in {*Tokenizer.SPECIAL, *Tokenizer.OTHERS}.difference(Tokenizer.TOOL):
        number = tokenizer.convert_tokens_to_ids(token)
        rendered = renderer.example(with_text(trace, place, token * 2), pictures)
        assert rendered.ids.count(number) == plain.ids.count(number), token
        assert (
            tokenizer.inner.decode(list(rendered.ids), skip_special_tokens=False).replace(" ", "").count(token[1:]) >= 2
        )
    rendered = renderer.example(with_text(trace, place, Tokenizer.PHRASE), pictures)
    assert rendered.ids.count(tokenizer.convert_tokens_to_ids(Tokenizer.PHRASE)) == 1
