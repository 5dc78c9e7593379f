"""A conversation as a Spec-o3 model is sent it: the messages of ``agent.messages``, pictures as data URLs.

Rendered by Qwen2.5-VL's stock chat template this is the text the checkpoints were trained on, byte for byte,
as long as the server hands the template each block as a block. vLLM finds out by itself to do so for this
template (``--chat-template-content-format auto`` comes to ``openai``). Under ``string`` it would put every
picture of a message before its text, and line feeds between its texts: not what the model was trained on.

Turns are sent again exactly as they were written, so what was sent before is always the beginning of what is
sent next, and a server's prefix cache holds to the last turn.
"""

from __future__ import annotations

import hashlib
from typing import Any

from PIL import Image

from agent.conversation import Conversation
from agent.messages import tool_result
from agent.pictures import data_url
from agent.tool_schema import TOOL_BLOCK

Block = dict[str, Any]
Message = dict[str, Any]

TOOL_BLOCK_SHA256 = hashlib.sha256(TOOL_BLOCK.encode()).hexdigest()
END = "<|im_end|>"
"""What ends a turn under the template. It writes one itself, so a server that leaves it in the text would
have it twice."""


def messages(conversation: Conversation) -> list[Message]:
    """System turn, with the tool block if there is a tool; the question; then turns and tool results."""
    found = [
        _message("system", _text(conversation.system + (TOOL_BLOCK if conversation.with_tool else ""))),
        _message("user", _picture(conversation.overview), _text("\n" + conversation.prompt)),
    ]
    for exchange in conversation.exchanges:
        found.append(_message("assistant", _text(exchange.text.removesuffix(END))))
        if (seen := exchange.observation) is not None:
            found.append(tool_result(seen.text, None if seen.image is None else _picture(seen.image)))
    return found


def _message(role: str, *blocks: Block) -> Message:
    return {"role": role, "content": list(blocks)}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _picture(image: Image.Image) -> Block:
    return {"type": "image_url", "image_url": {"url": data_url(image)}}
