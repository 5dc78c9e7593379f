"""One input at one target, and what must hold whatever it is: an answer or the target's own refusal, in one
sentence, in seconds, with nothing left behind.
"""

from __future__ import annotations

import random
import re
import signal
import sys
import time
import traceback
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tests.soak.mutations import Mutate

SECONDS = 8.0
"""Of processor time that one input may take."""
LONGEST_SENTENCE = 500
MOST_SPECTRA = 6
"""Of one file that are read; a file of more costs time and shows nothing new."""
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("agent", "reviewer", "training")


SENTENCES: deque[str] = deque(maxlen=10)
"""The latest that ``check_sentence`` was given."""


class DidNotHold(AssertionError):
    """Something that was promised of every input did not hold for this one."""


class TooSlow(BaseException):
    """An input took longer than it may; no target catches it."""


Try = Callable[[bytes], None]
"""Gives an input to a target. :raises DidNotHold: and anything that nobody declared"""


@dataclass(frozen=True)
class Target:
    """Where bytes come in.

    :param make: from an empty folder to the function that tries one input
    :param seeds: small valid inputs, made by the program itself
    :param mutate: how they are spoiled
    """

    name: str
    make: Callable[[Path], Try]
    seeds: Callable[[], Iterable[bytes]]
    mutate: Mutate


@dataclass(frozen=True)
class Find:
    """What did not hold: ``kind`` is the same for every input that shows the same fault."""

    kind: str
    story: str


@contextmanager
def refused_by(*declared: type[Exception], where: Path | None = None) -> Iterator[None]:
    """Let a target refuse with what it declares, and look at the sentence.

    :param where: the folder the input lies in: the only one that a sentence may name
    """
    try:
        yield
    except declared as refusal:
        check_sentence(str(refusal), where)


def check_sentence(text: str, where: Path | None = None) -> None:
    """:raises DidNotHold: it is no sentence for a person"""
    SENTENCES.append(text)
    named = "" if where is None else str(where)
    if not text.strip():
        raise DidNotHold("a refusal without a word")
    if len(text.replace(named, "") if named else text) > LONGEST_SENTENCE:
        raise DidNotHold(f"a refusal of {len(text)} characters: {text[:80]!r}")
    hidden = next((c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")), None)
    if hidden is not None or re.search("[\u202a-\u202e\u2066-\u2069]", text):
        raise DidNotHold(f"a refusal with a character nobody sees ({hidden!r}): {text[:80]!r}")
    for inside in (str(ROOT), sys.prefix, "site-packages", "Traceback ("):
        if inside in (text.replace(named, "") if named else text):
            raise DidNotHold(f"a refusal that names what is inside the program: {text[:200]!r}")


def tried(attempt: Try, data: bytes) -> Find | None:
    """What did not hold for this input; None if everything did."""
    signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        attempt(data)
    except (Exception, TooSlow) as error:
        return _find_of(error)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None


def _ring(number: int, frame: FrameType | None) -> None:
    raise TooSlow(f"more than {SECONDS:.0f} s of processor time")


def _find_of(error: BaseException) -> Find:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if any(f"/{package}/" in f.filename for package in PACKAGES)] or frames
    last = ours[-1]
    place = f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.lineno} {last.name}"
    said = "" if not isinstance(error, DidNotHold) else ": " + re.sub(r"\d+", "N", str(error))[:40]
    return Find(f"{type(error).__name__} at {place}{said}", "".join(traceback.format_exception(error))[-6000:])


class Lines:
    """Which lines of the product have run. Slow: for measuring a corpus, and for fuzzing without atheris."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, int]] = set()
        self._wanted: dict[str, bool] = {}

    def __enter__(self) -> Lines:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: object) -> Callable[..., object] | None:
        file = frame.f_code.co_filename
        if file not in self._wanted:
            inside = file.removeprefix(f"{ROOT}/")
            self._wanted[file] = inside != file and inside.split("/")[0] in PACKAGES
        return self._line if self._wanted[file] else None

    def _line(self, frame: FrameType, event: str, _: object) -> Callable[..., object]:
        if event == "line":
            self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def by_lines(
    attempt: Callable[[bytes], object], seeds: Sequence[bytes], mutate: Mutate, chance: random.Random, until: float
) -> None:
    """Fuzz with lines as feedback, where atheris is not installed: an input that reaches a new line is kept
    and spoiled further."""
    lines = Lines()
    kept = list(seeds) or [b""]
    for number in range(sys.maxsize):
        if time.monotonic() > until:
            return
        data = kept[number] if number < len(seeds) else mutate(chance.choice(kept), chance)
        before = len(lines.seen)
        with lines:
            attempt(data)
        if len(lines.seen) > before and number >= len(seeds):
            kept.append(data)
