"""Damaged text in training data: which kinds a record has, and records without any.

A model learns damaged characters like any others. Only text that the model reads or learns counts: prompt, thoughts,
calls, observations and answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agent.language import tr
from agent.trajectory.tags import turn_text
from training.data.records import DataError, Dropped, Example
from training.data.splits import AnyRecord, Record

# The bytes 80 to BF of UTF-8 as Latin-1 and Windows-1252 show them.
_LATER = "[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
KINDS: Mapping[str, re.Pattern[str]] = {
    "lost characters (U+FFFD)": re.compile("\ufffd"),
    "control characters": re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
    # Not the pairs that begin with Å or Ä: "4000 Å–5000 Å" is right.
    "UTF-8 read in another encoding (as Ã… for Å)": re.compile(
        f"[ÂÃÎÏ]{_LATER}|[â-è]{_LATER}{{2}}|ð{_LATER}{{3}}|锟斤拷"
    ),
}
"""What damaged characters are found by, by the name of their kind in the data card. A lone surrogate is not among them:
in published rows it is read as U+FFFD, and in rows of ours it is refused."""


def damage(record: AnyRecord) -> tuple[str, ...]:
    """Return the ``KINDS`` of damage in the text of a record."""
    text = _text(record)
    return tuple(kind for kind, pattern in KINDS.items() if pattern.search(text))


def without_damaged(records: Sequence[Record], dropped: list[Dropped]) -> list[Record]:
    """Return the records without damage; the others are added to ``dropped``.

    :raises DataError: all are damaged
    """
    kept = []
    for record in records:
        if kinds := damage(record):
            dropped.append(Dropped(record.key, f"damaged text: {', '.join(kinds)}"))
        else:
            kept.append(record)
    if records and not kept:
        raise DataError(
            tr(
                "skip_damaged: found damaged text in every row ({n}); repair the data, or use it as it is "
                "(--set skip_damaged=false)",
                n=len(records),
            )
        )
    return kept


def _text(record: AnyRecord) -> str:
    if not isinstance(record, Example):
        return record.task.prompt
    trajectory = record.trajectory
    # A label within a call is escaped, so it is read from the zoom as well.
    zooms = [text for zoom in trajectory.zooms for text in (zoom.label, zoom.observation)]
    return "\n".join([trajectory.system, trajectory.prompt, *map(turn_text, trajectory.turns()), *zooms])
