"""What a person has typed and not sent, as the server must give it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Words = tuple[str, ...]
"""The texts of a draft and its comment: what a person would miss."""

_KEPT_WHEN_REFUSED = ("version_moved", "lease_lost", "not_allowed")


def words_of(body: Mapping[str, Any]) -> Words:
    """The words of an autosave's body."""
    steps = body.get("steps", ())
    texts = [step.get("text") or step.get("explanation") or "" for step in steps if step["kind"] != "zoom"]
    return (*texts, body.get("comment", ""))


@dataclass
class Unsent:
    """The unsent text of one person on each item: by the version it was drawn from, the latest last."""

    kept: dict[int, dict[int, Words]] = field(default_factory=dict)

    def expected(self, item: int) -> tuple[int, Words] | None:
        """The version and the words that the item's answer must hold; None: nothing unsent."""
        kept = self.kept.get(item)
        return next(reversed(kept.items())) if kept else None

    def after(self, kind: str, what: Mapping[str, Any], refused: str | None = None) -> Unsent:
        """What is kept once this was done, or refused."""
        if kind == "decide" and refused is None:
            return self._after_a_decision(what)
        if kind not in ("autosave", "discard", "version"):
            return self
        item, base = what["item"], what["base"]
        kept = dict(self.kept.get(item, {}))
        if (kind == "autosave" and refused is None) or (kind == "version" and refused in _KEPT_WHEN_REFUSED):
            kept.pop(base, None)
            kept[base] = tuple(what["words"])
        elif refused is None:
            kept.pop(base, None)
        return Unsent({**self.kept, item: kept})

    def _after_a_decision(self, what: Mapping[str, Any]) -> Unsent:
        """The comment on that version was said; other words than the version's own are still unsent."""
        kept = dict(self.kept.get(what["item"], {}))
        unsent = kept.get(what["version"])
        if unsent is None:
            return self
        if unsent[:-1] == tuple(what["texts"]):
            del kept[what["version"]]
        else:
            kept[what["version"]] = (*unsent[:-1], "")
        return Unsent({**self.kept, what["item"]: kept})


def unsent_after(actions: Iterable[Any]) -> Unsent:
    """What one person must find, after all of these were answered."""
    unsent = Unsent()
    for one in actions:
        if one.told:
            unsent = unsent.after(one.kind, one.what, one.refused)
    return unsent
