"""A trajectory as the chat messages that a Spec-o3 model was trained on.

The tool description is in the system turn, and a tool result is a user turn with ``<tool_response>``, so the stock
chat template of Qwen2.5-VL gives the published text. Contents are lists of blocks: Arrow columns need that."""

from __future__ import annotations

import base64
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

from PIL import Image

from agent.plot import png_bytes
from agent.tool import TOOL_BLOCK
from agent.trajectory.steps import Step, TrajectoryError, Zoom
from agent.trajectory.tags import turn_text

Block = dict[str, Any]
Message = dict[str, Any]


def to_messages(
    system: str, prompt: str, turns: Sequence[Sequence[Step]], images: Sequence[object] | None = None
) -> list[Message]:
    """Return system, user (first picture, question, guide), then assistant and tool-result turns in order.

    An image block is ``{"type": "image"}``, with the picture under ``"image"`` where ``images`` has one for
    each (the overview, then one per zoom with a picture).

    :raises TrajectoryError: the number of ``images`` is not the number of pictures
    """
    pictures = 1 + sum(isinstance(turn[-1], Zoom) and turn[-1].ok for turn in turns)
    blocks = _image_blocks(pictures, images)
    messages = [
        _message("system", _text(system + TOOL_BLOCK)),
        _message("user", next(blocks), _text("\n" + prompt)),
    ]
    for turn in turns:
        messages.append(_message("assistant", _text(turn_text(turn))))
        if isinstance(turn[-1], Zoom):
            messages.append(tool_result(turn[-1].observation, next(blocks) if turn[-1].ok else None))
    return messages


def tool_result(observation: str, image: Block | None) -> Message:
    """Return the turn that answers a call: the picture, directly followed by the text; for an error only the text."""
    inside = [] if image is None else [image]
    return _message("user", _text("<tool_response>\n"), *inside, _text(f"{observation}\n</tool_response>"))


def _image_blocks(pictures: int, images: Sequence[object] | None) -> Iterator[Block]:
    if images is None:
        return iter([{"type": "image"} for _ in range(pictures)])
    if len(images) != pictures:
        raise TrajectoryError(f"images: found {len(images)}, expected {pictures}: the overview and one per zoom")
    return iter([{"type": "image", "image": image} for image in images])


def _message(role: str, *blocks: Block) -> Message:
    return {"role": role, "content": list(blocks)}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


# By id: an image cannot be hashed. An id is unique only while its image exists
# is it kept here.
_encoded: dict[int, bytes] = {}


def png_of(image: Image.Image) -> bytes:
    """Return the image as PNG bytes, always the same, because the turns of a conversation send their images again."""
    key = id(image)
    encoded = _encoded.get(key)
    if encoded is None:
        encoded = _encoded[key] = png_bytes(image)
        weakref.finalize(image, _encoded.pop, key, None)
    return encoded


def data_url(image: Image.Image) -> str:
    """Return ``data:image/png;base64,...``, the form of a picture in chat APIs."""
    return "data:image/png;base64," + base64.b64encode(png_of(image)).decode("ascii")
