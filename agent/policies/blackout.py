"""A key that its own server repeats goes no further: blacked out of what comes back, however it is cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agent.policies.chunks import CallPiece, Delta

INSTEAD = "[key]"
SHORTEST = 6
"""Characters; what is shorter ("none", "x") is no secret, and would be blacked out of ordinary words."""


class Blackout:
    """Takes one secret out of texts, values and the pieces of one turn. None takes out nothing."""

    def __init__(self, secret: str | None) -> None:
        self._secret = secret if secret and len(secret) >= SHORTEST else None
        self._held: dict[str, str] = {}

    def text(self, text: str) -> str:
        return text.replace(self._secret, INSTEAD) if self._secret else text

    def value(self, found: object) -> object:
        """The same value of JSON with the secret out of all its texts, names of fields included."""
        match found:
            case str():
                return self.text(found)
            case Mapping():
                return {self.text(str(name)): self.value(one) for name, one in found.items()}
            case list():
                return [self.value(one) for one in found]
        return found

    def delta(self, delta: Delta) -> Delta:
        """A piece of the turn. What could be the beginning of the secret is held back for the next piece."""
        if self._secret is None:
            return delta
        return replace(
            delta,
            text=self._piece("text", delta.text),
            reasoning=self._piece("reasoning", delta.reasoning),
            finish=delta.finish and self.text(delta.finish),
            calls=tuple(self._call(call) for call in delta.calls),
        )

    def rest(self) -> Delta:
        """What was held back and turned out to be no secret, at the end of the turn."""
        held, self._held = self._held, {}
        calls = tuple(
            CallPiece(int(place.removeprefix("call ")), "", "", words)
            for place, words in held.items()
            if place.startswith("call ") and words
        )
        return Delta(text=held.get("text", ""), reasoning=held.get("reasoning", ""), calls=calls)

    def _call(self, call: CallPiece) -> CallPiece:
        arguments = self._piece(f"call {call.index}", call.arguments)
        return replace(call, id=self.text(call.id), name=self.text(call.name), arguments=arguments)

    def _piece(self, place: str, words: str) -> str:
        assert self._secret is not None
        words = self.text(self._held.pop(place, "") + words)
        held = _beginning_of(self._secret, words)
        if held:
            self._held[place] = words[len(words) - held :]
        return words[: len(words) - held]


def _beginning_of(secret: str, words: str) -> int:
    """How many of the last characters are those that ``secret`` begins with."""
    most = min(len(secret) - 1, len(words))
    return next((n for n in range(most, 0, -1) if words.endswith(secret[:n])), 0)
