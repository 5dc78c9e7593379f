"""Run one input at one fuzz target and check the outcome.

Expected for every input: a value or the target's own refusal, in one sentence, within seconds, nothing left behind.
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
"""Processor seconds that one input may take."""
LONGEST_SENTENCE = 500
MOST_SPECTRA = 6
"""Spectra that are read per file; more cost time and show nothing new."""
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("agent", "reviewer", "training")


SENTENCES: deque[str] = deque(maxlen=10)
"""The latest arguments of ``check_sentence``."""


class DidNotHold(AssertionError):
    """A check that every input must pass failed for this one."""


class TooSlow(BaseException):
    """An input took longer than it may; no target catches it."""


Try = Callable[[bytes], None]
"""Runs a target on an input. :raises DidNotHold: also lets undeclared exceptions through"""


@dataclass(frozen=True)
class Target:
    """A parser of outside input.

    :param make: makes the function that runs one input, given an empty folder
    :param seeds: small valid inputs, made by the program itself
    :param mutate: changes an input at random
    """

    name: str
    make: Callable[[Path], Try]
    seeds: Callable[[], Iterable[bytes]]
    mutate: Mutate


@dataclass(frozen=True)
class Find:
    """A failed check; ``kind`` is the same for every input with the same fault."""

    kind: str
    story: str


@contextmanager
def refused_by(*declared: type[Exception], where: Path | None = None) -> Iterator[None]:
    """Accept the exceptions that a target declares, and check their sentences.

    :param where: folder of the input: the only one that a sentence may name
    """
    try:
        yield
    except declared as refusal:
        check_sentence(str(refusal), where)


def check_sentence(text: str, where: Path | None = None) -> None:
    """:raises DidNotHold: the text is not a proper sentence for a person"""
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
    """Run one input; return the failed check, or None."""
    signal.signal(signal.SIGVTALRM, _time_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        attempt(data)
    except (Exception, TooSlow) as error:
        return _find_of(error)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None


def _time_up(number: int, frame: FrameType | None) -> None:
    raise TooSlow(f"more than {SECONDS:.0f} s of processor time")


def _find_of(error: BaseException) -> Find:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if any(f"/{package}/" in f.filename for package in PACKAGES)] or frames
    last = ours[-1]
    place = f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.lineno} {last.name}"
    detail = "" if not isinstance(error, DidNotHold) else ": " + re.sub(r"\d+", "N", str(error))[:40]
    return Find(f"{type(error).__name__} at {place}{detail}", "".join(traceback.format_exception(error))[-6000:])


class Lines:
    """Records the executed lines of the product. Slow: for measuring a corpus, and for fuzzing without atheris."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, int]] = set()
        self._is_ours: dict[str, bool] = {}

    def __enter__(self) -> Lines:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: object) -> Callable[..., object] | None:
        file = frame.f_code.co_filename
        if file not in self._is_ours:
            inside = file.removeprefix(f"{ROOT}/")
            self._is_ours[file] = inside != file and inside.split("/")[0] in PACKAGES
        return self._line if self._is_ours[file] else None

    def _line(self, frame: FrameType, event: str, _: object) -> Callable[..., object]:
        if event == "line":
            self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def by_lines(
    attempt: Callable[[bytes], object], seeds: Sequence[bytes], mutate: Mutate, chance: random.Random, until: float
) -> None:
    """Fuzz guided by executed lines, for use without atheris: an input that reaches a new line is kept and
    mutated further."""
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
