"""Estimate of the length of a prompt in tokens, before it is sent."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image

CHARACTERS_PER_TOKEN = 3.5
"""English prose has about 4 with current tokenizers; numbers and names of lines have fewer."""
PIXELS_PER_TOKEN = 28 * 28
"""Of a picture: one token per 28 x 28 pixels, as Qwen2-VL and its successors have it (Wang et al. 2024,
arXiv:2409.12191). Other vision models differ."""
TOKENS_PER_MESSAGE = 8


def prompt_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """Return about how many tokens the messages of a chat have, pictures included."""
    total = 0.0
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        total += TOKENS_PER_MESSAGE + sum(_block_tokens(block) for block in blocks)
    return math.ceil(total)


def _block_tokens(block: Mapping[str, Any]) -> float:
    if block["type"] == "text":
        return len(block["text"]) / CHARACTERS_PER_TOKEN
    png = base64.b64decode(block["image_url"]["url"].partition(",")[2])
    with Image.open(io.BytesIO(png)) as picture:
        width, height = picture.size
    return width * height / PIXELS_PER_TOKEN
