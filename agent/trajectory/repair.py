r"""Repair characters that a broken writer damaged, if only one original is possible; the rest becomes U+FFFD.

In published cold-start rows ``\u03b1`` became U+0003 and ``b1``, ``\boxed`` became U+0008 and ``oxed``, or more was
lost. Forms as listed by github.com/KMnO4-zx/agentic-rl-lab (09-spec-o3/prepare_data.py) for all 942 rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

_GREEK = dict(zip("12345", "αβγδε", strict=True))
_LATIN = "×°²³µ·Åéöü"
_SYMBOLS = "–—‘’“”…→⇒−∼≈≃≠≤≥≲≳≪≫₀₁₂₃₄Å"


def _greek(match: re.Match[str]) -> str:
    letter = chr(0x300 + int(match[1], 16))
    return letter if letter.isalpha() else match[0]


def _latin(match: re.Match[str]) -> str:
    letter = chr(int(match[1], 16))
    return letter if letter in _LATIN else match[0]


def _symbol(match: re.Match[str]) -> str:
    symbol = chr(0x2000 + int(match[1], 16))
    return symbol if symbol in _SYMBOLS else match[0]


_REPAIRS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    ("\x1b\\[[0-9;]*m", ""),  # a terminal's colour
    ("\x08oxed(?=\\{)", r"\\boxed"),
    ("\x07lpha\\b", "α"),
    ("\x08eta\\b", "β"),
    # Carbon is the only molecule in these texts that is written so.
    ("(?<![A-Za-z])C(?:\x00(?:82|02|b2)|\x02082|\x02\x082|\x08(?:2|\x02)?)", "C₂"),
    ("\x03([9ab][0-9a-f]|c[0-9])", _greek),
    # Balmer lines: the last digit of the code point, or its place in the alphabet, is left.
    ("(?<=H)(?:\x03b?|\x00b)([1-5])", lambda match: _GREEK[match[1]]),
    ("(?<=H)\x01b?(?![0-9a-f])", "α"),
    ("(?<=H)\x02b?(?![0-9a-f])", "β"),
    ("\x00b1(?=\\s?\\d)", "±"),
    ("\x00([0-9a-f]{2})", _latin),
    ("\x02([0-9a-f]{3})", _symbol),
    ("(?<=\\d)(?:\x0213|[\x13\x14])(?=\\d)", "–"),
    # After a number, and not before a letter, it is a unit.
    ("(?<=\\d)( ?)(?:\x005|\x0c5|\x1c5|[\x05\x15])(?![0-9A-Za-z])", r"\1Å"),
    ("(?<=[A-Za-z])\x19(?=[a-z])", "’"),
    ("\x1c([^\x1c\x1d\n]{1,80})\x1d", r"“\1”"),
    ("(?<= )\x13(?= )", "–"),
    ("(?<= )\x14(?= )", "—"),
)
_COMPILED = tuple((re.compile(pattern), replacement) for pattern, replacement in _REPAIRS)


def repair(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with its characters restored, and one sentence per kind of repair.

    Afterwards it has no control character but tab and line feed; line ends are ``\\n``.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    damaged = len(_CONTROL.findall(text))
    if not damaged:
        return text, ()
    for pattern, replacement in _COMPILED:
        text = pattern.sub(replacement, text)
    lost = list(_CONTROL.finditer(text))
    faults = []
    if damaged > len(lost):
        faults.append(f"{damaged - len(lost)} damaged characters repaired")
    for match in lost[:5]:
        near = _CONTROL.sub("\ufffd", text[max(0, match.start() - 12) : match.end() + 12])
        faults.append(f"U+{ord(match[0]):04X} could not be repaired, in {near!r}")
    if len(lost) > 5:
        faults.append(f"{len(lost) - 5} more characters could not be repaired")
    return _CONTROL.sub("\ufffd", text), tuple(faults)
