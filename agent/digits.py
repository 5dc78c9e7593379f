"""Whole numbers in text from outside."""

from __future__ import annotations

MOST_DIGITS = 18
"""What fits into 64 bits, and so into a database."""


def whole_number(text: str) -> int | None:
    """The number that a text of digits 0 to 9 is; None for any other text, and for one of more digits than
    anybody means. ``int`` itself raises on thousands of digits, and on some of what ``str.isdigit`` takes for
    one, such as ².
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None
