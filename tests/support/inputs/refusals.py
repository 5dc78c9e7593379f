"""Checks of a refusal: a declared exception with one sentence for a person, within seconds of processor time."""

from __future__ import annotations

import re
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LONGEST_SENTENCE = 500
SECONDS = 8.0
"""Processor seconds that one input may take: many times what any valid one needs."""


def check_sentence(text: str, where: Path | None = None) -> None:
    """Check that the text is a proper sentence for a person.

    :param where: folder of the input: the only one that the sentence may name
    """
    said = text if where is None else text.replace(str(where), "")
    assert text.strip(), "a refusal without a word"
    assert len(said) <= LONGEST_SENTENCE, f"a refusal of {len(said)} characters: {text[:80]!r}"
    hidden = next((c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")), None)
    assert hidden is None, f"a refusal with an invisible character: {text[:80]!r}"
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", text), f"a refusal that changes direction: {text[:80]!r}"
    for internal in (str(ROOT), sys.prefix, "site-packages", "Traceback ("):
        assert internal not in said, f"a refusal that names what is inside the program: {text[:200]!r}"


@contextmanager
def refused_by(*declared: type[Exception], where: Path | None = None) -> Iterator[None]:
    """Accept the declared exceptions, if their sentences are proper and the block did not take too long."""
    start = time.process_time()
    try:
        yield
    except declared as refusal:
        check_sentence(str(refusal), where)
    assert time.process_time() - start < SECONDS
