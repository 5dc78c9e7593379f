"""A trajectory as the chat messages that a Spec-o3 model was trained on.

The tool description is in the system turn, and a tool result is a user turn with ``<tool_response>``, so the stock
chat template of Qwen2.5-VL gives the published text. Contents are lists of blocks: Arrow columns need that."""

from __future__ import annotations

import base64
import hashlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self, TypeVar

from PIL import Image

from agent.language import tr
from agent.plot import png_bytes
from agent.tool import tool_block
from agent.trajectory.steps import Step, TrajectoryError, Zoom
from agent.trajectory.tags import turn_text

Block = dict[str, Any]
Message = dict[str, Any]
Made = TypeVar("Made")


def to_messages(
    system: str,
    prompt: str,
    turns: Sequence[Sequence[Step]],
    images: Sequence[object] | None = None,
    measure: bool = False,
    sky: bool = False,
) -> list[Message]:
    """Return system, user (first picture, question, guide), then assistant and tool-result turns in order.

    An image block is ``{"type": "image"}``, with the picture under ``"image"`` where ``images`` has one for
    each (the overview, then one per zoom with a picture).

    :param measure: describe the ``measure`` tool too; ``sky``: ``sky_context`` too

    :raises TrajectoryError: the number of ``images`` is not the number of pictures
    """
    pictures = 1 + sum(isinstance(turn[-1], Zoom) and turn[-1].drawn for turn in turns)
    blocks = _image_blocks(pictures, images)
    messages = [
        _message("system", _text(system + tool_block(measure, sky))),
        _message("user", next(blocks), _text("\n" + prompt)),
    ]
    for turn in turns:
        messages.append(_message("assistant", _text(turn_text(turn))))
        if isinstance(turn[-1], Zoom):
            messages.append(tool_result(turn[-1].observation, next(blocks) if turn[-1].drawn else None))
    return messages


def tool_result(observation: str, image: Block | None) -> Message:
    """Return the turn that answers a call: the picture, directly followed by the text; for an error only the text."""
    inside = [] if image is None else [image]
    return _message("user", _text("<tool_response>\n"), *inside, _text(f"{observation}\n</tool_response>"))


def _image_blocks(pictures: int, images: Sequence[object] | None) -> Iterator[Block]:
    if images is None:
        return iter([{"type": "image"} for _ in range(pictures)])
    if len(images) != pictures:
        raise TrajectoryError(
            tr(
                "images: found {n_images}, expected {pictures}: the overview and one per zoom",
                n_images=len(images),
                pictures=pictures,
            )
        )
    return iter([{"type": "image", "image": image} for image in images])


def _message(role: str, *blocks: Block) -> Message:
    return {"role": role, "content": list(blocks)}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


class DataUrl(str):
    """A picture as ``data:image/png;base64,...``, the form of a picture in chat APIs.

    ``uuid``: the SHA-256 of the PNG file, hex. Equal files have the same, and no others.
    """

    uuid: str

    def __new__(cls, text: str, uuid: str) -> Self:
        text_with_uuid = super().__new__(cls, text)
        text_with_uuid.uuid = uuid
        return text_with_uuid

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # str has one
        return str(self), self.uuid

    @classmethod
    def of(cls, png: bytes) -> Self:
        """Make it from a PNG file."""
        encoded = base64.b64encode(png).decode("ascii")
        return cls(f"data:image/png;base64,{encoded}", hashlib.sha256(png).hexdigest())


# By id: an image cannot be hashed. An id is unique only while its image exists
# is it kept here.
_encoded: dict[int, bytes] = {}
_urls: dict[int, DataUrl] = {}


def png_of(image: Image.Image) -> bytes:
    """Return the image as PNG bytes, encoded once."""
    return _once(_encoded, image, png_bytes)


def data_url(image: Image.Image) -> DataUrl:
    """Return the image as a data URL, encoded once: the turns of a conversation send their images again."""
    return _once(_urls, image, lambda image: DataUrl.of(_encoded.get(id(image)) or png_bytes(image)))


def _once(kept: dict[int, Made], image: Image.Image, make: Callable[[Image.Image], Made]) -> Made:
    key = id(image)
    known = kept.get(key)
    if known is None:
        known = kept[key] = make(image)
        weakref.finalize(image, kept.pop, key, None)
    return known
