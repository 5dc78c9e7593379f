"""How many tokens a conversation is to a Qwen2.5-VL model, and the context length that follows from it."""

from __future__ import annotations

from agent.policies.sampling import Sampling

PATCH = 28
"""Pixels a side of what becomes one token: patches of 14, merged two by two (arXiv 2502.13923)."""
LARGEST_OVERVIEW = (832, 472)
"""Width and height in pixels of the largest full picture that ``agent.plot`` draws (over 10,000 pixels)."""
LARGEST_ZOOM = (747, 432)
"""Width and height in pixels of the largest picture of a window."""
TURNS = 8
"""``agent.loop.MAX_TURNS``; said again, for a server is started without loading matplotlib."""
PROMPT = 2048
"""Tokens for tool block, guide and first picture (``max_prompt_length`` of the published training)."""
TOOL_TEXT = 64
"""Tokens allowed for what the tool says beside a picture, and for the marks of its turn."""


def picture_tokens(width: int, height: int) -> int:
    """Tokens of a picture of so many pixels: sides rounded to multiples of 28, one token for each square.

    As Qwen2.5-VL's processor rounds within its limits, 4 and 16,384 tokens, which no picture of ours reaches.
    """
    return round(width / PATCH) * round(height / PATCH)


def conversation_tokens(
    turns: int = TURNS, max_tokens: int = Sampling().max_tokens, pictures_tokens: int | None = None
) -> int:
    """Tokens of the longest conversation: every turn as long as it may be, a look after each but the last.

    :param pictures_tokens: of one window's picture; the largest if not given
    """
    look = picture_tokens(*LARGEST_ZOOM) if pictures_tokens is None else pictures_tokens
    return PROMPT + turns * max_tokens + (turns - 1) * (look + TOOL_TEXT)


_STEP = 8192
CONTEXT = -(-conversation_tokens() // _STEP) * _STEP
"""The default context: what the longest conversation needs, rounded up to a multiple of 8,192. No
conversation with our default settings can be refused for its length."""
