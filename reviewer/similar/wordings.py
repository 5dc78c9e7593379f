"""Which wordings of claims are read wrongly, learned from the traces themselves.

Most claims agree with the spectrum. So a phrase that many traces use and that often disagrees is rather a plan, a
question or a denial that is taken for a claim: *still open is Hα emission*, *where Hα ought to be, there is only
continuum*. Names of lines and numbers do not count. A fault that a drafter makes in many traces in the same words
cannot be told from that, so what such a phrase says becomes a fact of its own (``claim: doubtful``): examples still
find it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agent.errors import Refusal
from agent.language import tr
from agent.lines import Line
from agent.lines.names import mentions
from reviewer.similar.files import write_atomically
from reviewer.similar.words import words_of

Sort = Literal["sign", "presence", "denial"]
"""What is compared with the spectrum: emission or absorption, that a line is there, or that it is not."""
SORTS: tuple[Sort, ...] = ("sign", "presence", "denial")

WORDS = 3
"""Words of a phrase."""
DOUBTFUL = 1 / 3
"""Part of the uses of a phrase that disagree with the spectrum from which it is taken to be read wrongly."""
SHARE = 0.005
"""Part of the traces in which these uses have to be: what is rarer may be a failure."""
FEWEST_USES = 5
FEWEST = 300
"""Traces from which phrases are learned."""


class WordingsError(Refusal, ValueError):
    """A file that cannot be used."""


@dataclass(frozen=True)
class Reading:
    """A statement about a line as it was read, and what the spectrum shows.

    :param text: its sentence, ``masked``
    :param disagrees: with the spectrum; None where the measurement leaves it open
    :param facts: that follow if the sentence is read rightly
    """

    sort: Sort
    text: str
    disagrees: bool | None
    facts: frozenset[str]


@dataclass(frozen=True)
class Wordings:
    """What was learned.

    :param doubtful_phrases: by what they seem to say
    :param fitted: number of traces of which the corpus consisted
    """

    doubtful_phrases: Mapping[Sort, frozenset[str]]
    fitted: int = 0

    def doubtful(self, reading: Reading) -> bool:
        """Return whether the sentence of a reading has a phrase that is read wrongly."""
        return not self.doubtful_phrases.get(reading.sort, frozenset()).isdisjoint(_phrases(reading.text))

    def write(self, path: Path) -> None:
        """Write a file that is complete or absent. :raises OSError: it cannot be written"""
        phrases = {sort: sorted(some) for sort, some in self.doubtful_phrases.items()}
        write_atomically(path, json.dumps({"fitted": self.fitted, "phrases": phrases}, ensure_ascii=False).encode())

    @classmethod
    def read(cls, path: Path) -> Wordings:
        """Read a file.

        :raises OSError: there is no such file
        :raises WordingsError: it is damaged
        """
        try:
            stored: dict[str, Any] = json.loads(path.read_bytes())
            return cls({sort: frozenset(map(str, stored["phrases"][sort])) for sort in SORTS}, int(stored["fitted"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise WordingsError(
                tr("{file}: found {error}, expected phrases that are read wrongly", file=path.name, error=error)
            ) from error


def masked(sentence: str) -> str:
    """Return a sentence with *line* and *band* in place of their names, and without numbers."""
    parts, end = [], 0
    for first, last, entry in mentions(sentence):
        parts += [sentence[end:first], "line" if isinstance(entry, Line) else "band"]
        end = last
    return "".join(letter for letter in "".join([*parts, sentence[end:]]) if not letter.isdigit())


def fit(readings: Sequence[Sequence[Reading]], traces: int) -> Wordings:
    """Learn from a sample of traces.

    :param readings: of each trace of the sample
    :param traces: how many there are in all
    """
    misread = {sort: _read_wrongly(sort, readings) if len(readings) >= FEWEST else frozenset() for sort in SORTS}
    return Wordings(misread, traces)


def _read_wrongly(sort: Sort, readings: Sequence[Sequence[Reading]]) -> frozenset[str]:
    used: Counter[str] = Counter()
    disagreeing: Counter[str] = Counter()
    for trace in readings:
        known = [reading for reading in trace if reading.sort == sort and reading.disagrees is not None]
        used.update({phrase for reading in known for phrase in _phrases(reading.text)})
        disagreeing.update({phrase for reading in known if reading.disagrees for phrase in _phrases(reading.text)})
    enough = max(FEWEST_USES, SHARE * len(readings))
    return frozenset(phrase for phrase, n in disagreeing.items() if n >= enough and n >= DOUBTFUL * used[phrase])


def _phrases(text: str) -> set[str]:
    words = words_of(text)
    size = min(WORDS, len(words))
    return {" ".join(words[at : at + size]) for at in range(len(words) - size + 1)}
