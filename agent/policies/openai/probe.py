"""Whether a model sees the tools and the pictures of a request: short requests, once per model and settings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from PIL import Image, ImageDraw, ImageFont

from agent.policies.openai.errors import ErrorResponse, ServerFailure
from agent.trajectory.messages import data_url

ToolUse = Literal["shown", "dropped", "refused", "unknown"]
"""Whether the model sees the tools of a request: ``dropped`` by the server's chat template, ``refused`` by the server
(as vLLM does unless tool calls are switched on), or ``unknown``, because the server does not count tokens."""
PictureUse = Literal["seen", "ignored", "unknown"]
"""Whether the model sees a picture; ``unknown`` if the server's counts say nothing."""

Body = dict[str, Any]
Send = Callable[[Body], Awaitable[tuple[int, str]]]
"""Sends a request, with retries: the prompt tokens that the server counted (0: none), and the text of the answer."""

SECONDS = 20.0
"""Seconds for which the health of a server waits for it."""
TOKENS = 1024
"""Tokens allowed for an answer: a model that reasons answers a limit of a few tokens with an error."""
TOKENS_OF_OPEN_SERVERS = 16
"""The same for servers of open models, which end an answer at its limit without an error."""
OPEN_SERVERS = ("vLLM", "SGLang", "llama.cpp")
REFUSES_PICTURES = ("vLLM", "SGLang")
"""Servers that refuse a picture that their model cannot see: nothing to find out."""
NUMBER = "4738"
HELLO = "Hello"
QUESTION = "Which number is written in the picture?"
LONGER = f"{QUESTION} Number only."
"""The same by a few tokens longer, thirteen if each letter is one: fewer than any model has for the picture."""


@dataclass(frozen=True)
class ProbeResult:
    """What the requests showed."""

    tools: ToolUse
    pictures: PictureUse


async def probed(send: Send, tools: Sequence[Mapping[str, Any]], server: str) -> ProbeResult:
    """Find out what the model sees.

    The server counts the tokens of a short message with and without ``tools``: an equal count means that its chat
    template drops them. A question with a picture of a number must count more than a somewhat longer one without: a
    smaller count, and an answer without the number, mean that the picture is ignored. A server whose counts do not
    follow the text gives equal ones, which say nothing.

    :param server: its name as in ``Health``
    :raises ServerFailure: there is no answer, not even without tools and pictures
    """
    asks_picture = server not in REFUSES_PICTURES
    if not (tools or asks_picture):
        return ProbeResult("unknown", "unknown")
    limit = TOKENS_OF_OPEN_SERVERS if server in OPEN_SERVERS else TOKENS
    requests = [_body(HELLO, limit)]
    if tools:
        requests.append(_body(HELLO, limit) | {"tools": tools})
    if asks_picture:
        requests += [_body(LONGER, limit), _body(QUESTION, limit, with_picture=True)]
    replies = await asyncio.gather(*map(send, requests), return_exceptions=True)
    plain = replies[0]
    if isinstance(plain, BaseException):
        raise plain
    use = _tool_use(plain[0], replies[1]) if tools else "unknown"
    return ProbeResult(use, _picture_use(*replies[-2:]) if asks_picture else "unknown")


def _tool_use(without: int, reply: tuple[int, str] | BaseException) -> ToolUse:
    if isinstance(reply, BaseException):
        cause = reply.__cause__ if isinstance(reply, ServerFailure) else None
        if not (isinstance(cause, ErrorResponse) and cause.refuses_tools):
            raise reply
        return "refused"
    if not (without and reply[0]):
        return "unknown"
    return "shown" if reply[0] > without else "dropped"


def _picture_use(longer: tuple[int, str] | BaseException, picture: tuple[int, str] | BaseException) -> PictureUse:
    if isinstance(longer, BaseException) or isinstance(picture, BaseException):
        return "unknown"
    if NUMBER in picture[1] or picture[0] > longer[0] > 0:
        return "seen"
    return "ignored" if longer[0] > picture[0] > 0 else "unknown"


def _body(text: str, limit: int, with_picture: bool = False) -> Body:
    picture = {"type": "image_url", "image_url": {"url": data_url(_picture())}} if with_picture else None
    content = [picture, {"type": "text", "text": text}] if picture else text
    return {"messages": [{"role": "user", "content": content}], "stream": False, "max_tokens": limit}


@cache
def _picture() -> Image.Image:
    """Return black digits on white, large enough for any vision model."""
    image = Image.new("RGB", (640, 320), "white")
    ImageDraw.Draw(image).text((320, 160), NUMBER, "black", ImageFont.load_default(192), anchor="mm")
    return image
