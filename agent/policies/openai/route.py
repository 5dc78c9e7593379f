"""What decides which of several servers writes a turn: hashes of the conversation's parts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SESSION_HEADER = "x-session-id"
"""Header with the hash of the conversation's beginning, for balancers that keep a session at one server (Ray Serve)."""


@dataclass(frozen=True)
class Route:
    """Hashes of a conversation: of its beginning (all before the first answer, with its picture), of the conversation
    at its last turn (None: this is the first), and of it now.
    """

    beginning: bytes
    before: bytes | None
    now: bytes

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, Any]]) -> Route:
        """Return the hashes of a request's messages."""
        hashed = hashlib.blake2b(digest_size=16)
        beginning: bytes | None = None
        before: bytes | None = None
        for message in messages:
            if message["role"] == "assistant":
                before = hashed.digest()
                beginning = beginning or before
            content = message.get("content")
            for part in content if isinstance(content, list) else [content]:
                # Later pictures follow from the texts, which hold the tool's arguments.
                if beginning is None or not isinstance(part, Mapping) or "text" in part:
                    _add(hashed, part)
            hashed.update(json.dumps([message["role"], message.get("tool_calls")], default=str).encode())
        now = hashed.digest()
        return cls(beginning or now, before, now)

    def weight(self, url: str) -> bytes:
        """Return the weight of a server in the choice: the largest is chosen."""
        return hashlib.blake2b(url.encode(), key=self.beginning, digest_size=8).digest()


def session(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the value of ``SESSION_HEADER``, one for all turns of a conversation and all samples of a spectrum."""
    first = next((index for index, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    return Route.of(messages[:first]).beginning.hex()


def _add(hashed: hashlib.blake2b, part: object) -> None:
    if isinstance(part, Mapping):
        # A picture may be sent with its bytes once and named afterwards.
        known = part.get("uuid") or part.get("text")
        if known is None and isinstance(address := part.get("image_url"), Mapping):
            known = address.get("url")
        part = known or part
    hashed.update((part if isinstance(part, str) else json.dumps(part, default=str)).encode(errors="replace"))
