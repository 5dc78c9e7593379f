"""Recognises drafts that are in the database already, in the present text or in an earlier one of an item.

The content hash of a row is not enough: an export holds the approved version, not the draft, and a ShareGPT row has
lost the step ids. Two texts are the same if every turn of the conversation is, for the same spectrum under the same
name and the same task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.trajectory import Trajectory
from agent.trajectory.tags import turn_text
from reviewer.rules.campaign import STATES, State
from reviewer.store import Draft, Store
from reviewer.store.values import LARGEST_ID


@dataclass(frozen=True)
class Recognised:
    """What the database has for a draft.

    :param same: the item that has this text, in any version; None if none has
    :param others: the items of the same spectrum and task with another text
    """

    same: int | None
    others: tuple[int, ...]


class Recognition:
    """Compares drafts with the items of the same spectrum and task. A spectrum that one of the two does not have is
    compared by its name."""

    def __init__(self, store: Store, newest: int = LARGEST_ID) -> None:
        """:param newest: items with a higher number are left out, because the import itself adds them"""
        self._store = store
        self._newest = newest
        self._texts: dict[int, frozenset[bytes]] = {}

    def find(self, draft: Draft) -> Recognised:
        spectrum = (
            draft.spectrum if isinstance(draft.spectrum, str) or draft.spectrum is None else draft.spectrum.sha256
        )
        trajectory = draft.trajectory
        items = self._store.queue.of_spectrum(
            spectrum or trajectory.spectrum_sha256, trajectory.spectrum_name, trajectory.task, self._newest
        )
        text = _digest(trajectory) if items else b""
        same = next((item for item in items if text in self._of(item)), None)
        return Recognised(same, tuple(item for item in items if item != same))

    def _of(self, item: int) -> frozenset[bytes]:
        if item not in self._texts:
            if len(self._texts) == _CACHED:
                self._texts.clear()
            versions = self._store.items.versions(item)
            self._texts[item] = frozenset(_digest(version.trajectory) for version in versions)
        return self._texts[item]


_CACHED = 1000  # items whose texts are kept


def _digest(trajectory: Trajectory) -> bytes:
    turns = "\0".join((trajectory.spectrum_name, *(turn_text(turn) for turn in trajectory.turns())))
    return hashlib.sha256(turns.encode("utf-8", "surrogatepass")).digest()


def by_state(store: Store, ranges: Iterable[Sequence[int]], listed: int) -> Mapping[State, tuple[int, list[int]]]:
    """Return by state, in the order of the states, how many items of these ranges are in it, and the first of them.

    :param ranges: first and last item of each
    :param listed: items to return of each state
    """
    listing = store.queue.states(list(ranges), listed)
    return {state: listing[state] for state in STATES if state in listing}
