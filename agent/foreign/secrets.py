"""Remove secrets from the log of another agent, and values that no trajectory can hold, before anything is stored."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent.foreign.record import Call, Event, ForeignTrace, Result, Words
from agent.text import LONE_SURROGATE

REMOVED = "[secret removed]"
DEEPEST = 20
"""Objects and lists within each other that arguments may have; what is inside is left out."""
_NOT_BEFORE = r"(?<![A-Za-z0-9_])"
_SECRETS = [
    re.compile(pattern)
    for pattern in (
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,20000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)",
        _NOT_BEFORE + r"sk-(?:ant-|proj-|or-|svcacct-|lf-)?[A-Za-z0-9_-]{20,}",  # OpenAI, Anthropic, OpenRouter
        _NOT_BEFORE + r"AIza[A-Za-z0-9_-]{35}",  # Google
        _NOT_BEFORE + r"ya29\.[A-Za-z0-9_-]{20,}",
        _NOT_BEFORE + r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS
        _NOT_BEFORE + r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
        _NOT_BEFORE + r"glpat-[A-Za-z0-9_-]{20,}",
        _NOT_BEFORE + r"hf_[A-Za-z0-9]{30,}",  # Hugging Face
        _NOT_BEFORE + r"so3_[A-Za-z0-9_-]{43}",  # ours
        _NOT_BEFORE + r"xox[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
        _NOT_BEFORE + r"(?:gsk|xai|nvapi|r8|pplx|tvly)[_-][A-Za-z0-9_-]{30,}",  # Groq, xAI, NVIDIA, Replicate, ...
        _NOT_BEFORE + r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",  # JWT
    )
]
_NAMES = r"(?:api|secret|access|private)[_-]?key|secret|passw(?:or)?d|token|credentials?"
_BEHIND = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<kept>\b(?:Bearer|Basic)[ \t]+)(?P<secret>[A-Za-z0-9._~+/=-]{16,})",
        r"(?P<kept>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']{0,100}:)(?P<secret>[^\s/@\"']{1,200})(?=@)",
        # NAME_KEY=value, export TOKEN="value", "api_key": "value", --password value
        rf"(?P<kept>(?:\b|_)(?:{_NAMES}|(?:auth|access|refresh|bearer|api)[_-]?token|[a-z0-9]{{2,40}}_(?:key|token|secret))"
        r"[\"']?[ \t]{0,8}(?::|=>?)[ \t]{0,8}[\"']?)(?P<secret>[^\s\"',;&<>{}()\[\]]{8,})",
    )
]
_NAMED = re.compile(rf"(?:^|[_-])(?:{_NAMES}|[a-z]+[_-]token|authorization)$", re.IGNORECASE)
"""Names of arguments whose value is a secret, whatever it looks like."""
_WORDS = re.compile(r"[A-Za-z]+|[0-9.+eE-]+")


class _Scrubber:
    def __init__(self) -> None:
        self.removed = 0
        self.too_deep = 0

    def text(self, text: str) -> str:
        """Return a text without secrets and without half characters, which no file can hold."""
        text = LONE_SURROGATE.sub("\ufffd", text)
        for pattern in _SECRETS:
            text, number = pattern.subn(REMOVED, text)
            self.removed += number
        for pattern in _BEHIND:
            text = pattern.sub(self._behind, text)
        return text

    def _behind(self, match: re.Match[str]) -> str:
        secret = match["secret"]
        # A word or a number behind "token:" is prose; a secret mixes letters with digits or signs.
        is_prose = _WORDS.fullmatch(secret) and len(secret) < 16 and not match["kept"].rstrip("\"'").endswith("=")
        if is_prose or secret.startswith(REMOVED[:7]):
            return match[0]
        self.removed += 1
        return f"{match['kept']}{REMOVED}"

    def value(self, value: Any, depth: int = 0, name: str = "") -> Any:
        """Return a JSON value without secrets, and without what JSON cannot hold."""
        if isinstance(value, str):
            if value and _NAMED.search(name) and value != REMOVED:
                self.removed += 1
                return REMOVED
            return self.text(value)
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if isinstance(value, Mapping | list | tuple) and depth >= DEEPEST:
            self.too_deep += 1
            return "[nested too deeply]"
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(inner, depth + 1, str(key)) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(inner, depth + 1, name) for inner in value]
        return value if value is None or isinstance(value, bool | int | float) else str(value)

    def event(self, event: Event) -> Event:
        match event:
            case Words():
                return replace(event, text=self.text(event.text))
            case Call():
                return Call(self.text(event.id), self.text(event.name), self.value(event.arguments))
            case Result():
                return replace(event, call_id=self.text(event.call_id), text=self.text(event.text))


def scrubbed(trace: ForeignTrace) -> ForeignTrace:
    """Return a trace in whose texts and arguments each secret is ``[secret removed]``; a fault says how many."""
    scrubber = _Scrubber()
    clean = replace(
        trace,
        name=scrubber.text(trace.name),
        agent=scrubber.text(trace.agent),
        model=scrubber.text(trace.model),
        events=tuple(map(scrubber.event, trace.events)),
        own=scrubber.value(trace.own),
    )
    faults = list(map(scrubber.text, trace.faults))
    if number := scrubber.removed:
        faults.append("1 secret was removed" if number == 1 else f"{number} secrets were removed")
    if scrubber.too_deep:
        faults.append(f"arguments nest deeper than {DEEPEST} levels: the inner values were left out")
    return replace(clean, faults=tuple(faults))
