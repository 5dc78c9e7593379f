"""The session of a conversation, by which a balancer sends its turns to one server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

SESSION_HEADER = "x-session-id"
"""Header with the hash of the conversation's beginning, for balancers that keep a session at one server (Ray Serve)."""


def session(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the value of ``SESSION_HEADER``, one for all turns of a conversation and all samples of a spectrum."""
    hashed = hashlib.blake2b(digest_size=16)
    for message in messages:
        if message["role"] == "assistant":
            break
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            _add(hashed, part)
        hashed.update(json.dumps([message["role"], message.get("tool_calls")], default=str).encode())
    return hashed.hexdigest()


def _add(hashed: hashlib.blake2b, part: object) -> None:
    if isinstance(part, Mapping):
        # A picture may be sent with its bytes once and named afterwards.
        known = part.get("uuid") or part.get("text")
        if known is None and isinstance(address := part.get("image_url"), Mapping):
            known = address.get("url")
        part = known or part
    hashed.update((part if isinstance(part, str) else json.dumps(part, default=str)).encode(errors="replace"))
