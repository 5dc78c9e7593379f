"""The header of one FITS HDU: cards by keyword, parsed one at a time."""

from __future__ import annotations

import re
from math import isfinite

_STRING = re.compile(r"\s*'((?:[^']|'')*)'")

Value = str | int | float | bool | None
_OF_SIZE = re.compile(r"SIMPLE|XTENSION|BITPIX|NAXIS[0-9]*|PCOUNT|GCOUNT|GROUPS")


class Header:
    """The cards of one HDU, parsed when asked for. A card that cannot be parsed reads as missing."""

    def __init__(self, raw: bytes) -> None:
        text = raw.decode("latin-1")
        self._cards: dict[str, str] = {}
        self.says_its_size_twice = False
        """Which of the two counts is not agreed on between programs."""
        for start in range(0, len(text), 80):
            if text[start + 8 : start + 10] == "= ":
                key = text[start : start + 8].rstrip()
                self.says_its_size_twice |= key in self._cards and _OF_SIZE.fullmatch(key) is not None
                self._cards.setdefault(key, text[start + 10 : start + 80])

    def __contains__(self, key: str) -> bool:
        return key in self._cards

    def __getitem__(self, key: str) -> Value:
        return _card_value(self._cards.get(key, ""))

    def text(self, key: str) -> str:
        """The value as text without padding, "" if it is missing or cannot be parsed."""
        value = self[key]
        return "" if value is None else str(value).strip()

    def number(self, key: str) -> float | None:
        """The value as a finite float, None if it is missing or no number."""
        value = self[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            try:
                value = float(str(value))
            except ValueError:
                return None
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if isfinite(number) else None

    def integer(self, key: str, default: int = 0) -> int:
        value = self[key]
        return value if isinstance(value, int) and not isinstance(value, bool) else default


def _card_value(card: str) -> Value:
    quoted = _STRING.match(card)
    if quoted:
        return quoted[1].replace("''", "'").rstrip()
    bare = card.split("/", 1)[0].strip()
    if bare in ("T", "F"):
        return bare == "T"
    try:
        return int(bare)
    except ValueError:
        pass
    try:
        return float(bare.replace("D", "E").replace("d", "e"))
    except ValueError:
        return None
