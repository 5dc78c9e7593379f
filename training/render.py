r"""Render a conversation as the token ids that a Spec-o3 model reads, with a mask of the assistant's tokens.

Used by SFT, GRPO and the printed mask. The chat template is tokenized in pieces, at line feeds and special tokens, so
the ids are those of the whole text. Unlike the published SFT, the line feed after ``<|im_end|>`` is not trained.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PIL import Image

from agent.language import tr
from agent.policies.local.chat_template import form_of
from agent.trajectory import Trajectory
from agent.trajectory.steps import Zoom
from agent.trajectory.tags import CONTROL, RESERVED

START, END = "<|im_start|>", "<|im_end|>"
ASSISTANT = f"{START}assistant\n"
_IN_BRACKETS = re.compile(r"<[^<>\s]+>")
VISION_START, IMAGE, VISION_END = "<|vision_start|>", "<|image_pad|>", "<|vision_end|>"


@dataclass(frozen=True)
class Rendered:
    """Token ids (n,), whether each was spoken by the assistant (n,), and the pictures in their order."""

    ids: tuple[int, ...] = ()
    spoken: tuple[bool, ...] = ()
    images: tuple[Image.Image, ...] = ()

    def __add__(self, other: Rendered) -> Rendered:
        return Rendered(self.ids + other.ids, self.spoken + other.spoken, self.images + other.images)

    def __len__(self) -> int:
        return len(self.ids)


class Renderer:
    """Renders with one processor: its tokenizer, its rule for how many tokens a picture takes, and the form of its chat
    template. What the template writes at the beginning of a turn is not spoken by the assistant.

    :param processor: a ``Qwen2_5_VLProcessor``
    """

    def __init__(self, processor: Any) -> None:
        self.processor = processor
        self.form = form_of(processor)
        self._tokenizer = processor.tokenizer
        self._image_processor = processor.image_processor
        self._image = self._tokenizer.convert_tokens_to_ids(IMAGE)
        self._control = _control_pattern(self._tokenizer)

    def opening(
        self,
        system: str,
        prompt: str,
        overview: Image.Image,
        with_tool: bool = True,
        measure: bool = False,
        sky: bool = False,
    ) -> Rendered:
        """Render the system turn and the question, up to the beginning of the assistant's turn.

        :param measure: describe the ``measure`` tool too; ``sky``: ``sky_context`` too
        """
        instructions = self.form.system(system, with_tool, measure, sky)
        return (
            self._text(START, f"system\n{instructions}", END, "\n", START, "user\n")
            + self._picture(overview)
            + self._text("", f"\n{prompt}", END, "\n", START, f"assistant\n{self.form.opening}")
        )

    def speech(self, text: str) -> Rendered:
        """Render an assistant turn and its end token."""
        return self._text("", text.removeprefix(self.form.opening), END, spoken=True)

    def result(self, observation: str, image: Image.Image | None) -> Rendered:
        """Render a tool result, from the end of one assistant turn to the beginning of the next."""
        return (
            self._text("", "\n", START, "user\n<tool_response>\n")
            + (Rendered() if image is None else self._picture(image))
            + self._text("", f"{observation}\n</tool_response>", END, "\n", START, f"assistant\n{self.form.opening}")
        )

    def example(self, trajectory: Trajectory, pictures: Sequence[Image.Image], with_tool: bool = True) -> Rendered:
        """Render a whole trajectory; without the tool, its thoughts and the answer as one turn.

        :param pictures: the overview, then one for each zoom that got one; without the tool only the first is
            shown
        :raises ValueError: fewer or more pictures than the trajectory has
        """
        expected = 1 + sum(zoom.drawn for zoom in trajectory.zooms)
        if len(pictures) != expected:
            raise ValueError(
                tr(
                    "pictures: found {n_pictures}, expected {wanted}: the overview and one per zoom",
                    n_pictures=len(pictures),
                    wanted=expected,
                )
            )
        rendered = self.opening(
            *(trajectory.system, trajectory.prompt, pictures[0], with_tool, trajectory.measure, trajectory.sky)
        )
        if not with_tool:
            steps = tuple(step for step in trajectory.steps if not isinstance(step, Zoom))
            return rendered + self.speech(self.form.turn(steps))
        shown = iter(pictures[1:])
        for turn in trajectory.turns():
            rendered += self.speech(self.form.turn(turn))
            if isinstance(last := turn[-1], Zoom):
                rendered += self.result(last.observation, next(shown) if last.drawn else None)
        return rendered

    def image_tokens(self, image: Image.Image) -> int:
        """Return the number of tokens of a picture."""
        merged: int = self._image_processor.merge_size**2
        patches: int = self._image_processor.get_number_of_image_patches(image.height, image.width, {})
        return patches // merged

    def _picture(self, image: Image.Image) -> Rendered:
        opaque = image.convert("RGB")
        marks = self._tokenizer.convert_tokens_to_ids([VISION_START, VISION_END])
        ids = (marks[0], *[self._image] * self.image_tokens(opaque), marks[1])
        return Rendered(ids, (False,) * len(ids), (opaque,))

    def _text(self, *parts: str, spoken: bool = False) -> Rendered:
        """Render control tokens and texts in turn. A control token within a text is encoded as text."""
        ids: list[int] = []
        for number, part in enumerate(parts):
            for piece in self._pieces(part) if number % 2 else [part]:
                ids += self._tokenizer.encode(piece, add_special_tokens=False) if piece else []
        return Rendered(tuple(ids), (spoken,) * len(ids))

    def _pieces(self, text: str) -> Iterator[str]:
        """Yield the text cut within its control tokens, so that the tokenizer recognises none."""
        begin = 0
        for token in self._control.finditer(text):
            yield text[begin : token.start() + 1]
            begin = token.start() + 1
        yield text[begin:]


def _control_pattern(tokenizer: Any) -> re.Pattern[str]:
    """Return what finds the control tokens in a text: the special tokens of the tokenizer, and others in angle brackets
    that it adds to its vocabulary, but for the tags of the format. An added word or sentence is part of the texts.
    """
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    tokens = {token.content for token in added if token.special or _IN_BRACKETS.fullmatch(token.content)}
    tokens |= {token for token in CONTROL if token.startswith("<|")}
    tokens -= set(RESERVED).difference(CONTROL)
    return re.compile("|".join(re.escape(token) for token in sorted(tokens, key=len, reverse=True) if len(token) > 1))


if TYPE_CHECKING:
    from torch import Tensor

UNSPOKEN = -100
"""The label of a token without loss, as in torch and transformers."""


def for_learning(rendered: Sequence[Rendered], processor: Any) -> dict[str, Tensor]:
    """Pad rows on the right and add labels: ``labels`` is the id at tokens of the assistant, else -100.

    :param processor: a ``Qwen2_5_VLProcessor``
    :returns: ``input_ids``, ``attention_mask``, ``labels`` (rows, longest); what ``pixels`` gives; and
        ``mm_token_type_ids`` (rows, longest), 1 at picture tokens, where the processor knows of them
    """
    import torch

    batch = _padded(rendered, processor)
    spoken = torch.zeros_like(batch["input_ids"], dtype=torch.bool)
    for row, sequence in enumerate(rendered):
        spoken[row, : len(sequence)] = torch.tensor(sequence.spoken)
    batch["labels"] = batch["input_ids"].masked_fill(~spoken, UNSPOKEN)
    return batch


def pixels(rendered: Sequence[Rendered], processor: Any) -> dict[str, Tensor]:
    """Return ``pixel_values`` (patches of all pictures, values) and ``image_grid_thw`` (pictures, 3); empty without
    pictures.

    The number of patches of a picture is the product of its row of ``image_grid_thw``.
    """
    images = [image for sequence in rendered for image in sequence.images]
    return dict(processor.image_processor(images=images, return_tensors="pt")) if images else {}


def _padded(rendered: Sequence[Rendered], processor: Any) -> dict[str, Tensor]:
    import torch

    tokenizer = processor.tokenizer
    longest = max(map(len, rendered))
    ids = torch.full((len(rendered), longest), tokenizer.pad_token_id, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, sequence in enumerate(rendered):
        ids[row, : len(sequence)] = torch.tensor(sequence.ids)
        mask[row, : len(sequence)] = 1
    batch = {"input_ids": ids, "attention_mask": mask, **pixels(rendered, processor)}
    if "mm_token_type_ids" in processor.model_input_names:
        # Without it transformers 5 gives the tokens of a picture, and all that follow, the positions of words.
        batch["mm_token_type_ids"] = (ids == tokenizer.convert_tokens_to_ids(IMAGE)).int()
    return batch
