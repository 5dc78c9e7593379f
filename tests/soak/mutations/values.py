"""Bytes of any kind, lines of text, and the values inside JSON, spoiled."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

Mutate = Callable[[bytes, random.Random], bytes]

LONGEST = 2**20
"""Bytes of an input; what grows beyond is cut off."""
NASTY_TEXTS = (
    *(
        "",
        " ",
        "\0",
        "\n",
        "\r\nforged",
        "\x1b[2J",
        "‮fdp.exe",
        "a" * 4000,
        "../" * 8 + "etc/passwd",
        "/etc/passwd",
    ),
    *("C:\\con", "NUL", "=1+1", "@SUM(A1)", "<script>alert(1)</script>", "]]>", "\ud800", "\uffff", "𝕊" * 50),
    *(
        "YES",
        "NO",
        "vacuum",
        "nan",
        "inf",
        "-0",
        "1e999",
        "9" * 400,
        "{{}}",
        "%s%n",
        "ß" * 300,
        "x\ty",
        "'; --",
    ),
)
NASTY_NUMBERS = (
    *(0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 10**400),
    *(0.1, -0.0, 5e-324, 1.7976931348623157e308, float("nan"), float("inf"), float("-inf")),
)
_JSON_WORDS = (
    b"1e999",
    b"-1e999",
    b"NaN",
    b"Infinity",
    b"1" * 5000,
    b'"\\ud800"',
    b"[" * 3000,
    b'{"a":' * 1500,
)


def spoiled_bytes(data: bytes, chance: random.Random) -> bytes:
    """One to four changes of any bytes: flipped, overwritten, cut out, doubled, moved."""
    changed = bytearray(data or b"\0")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        length = min(chance.choice((1, 2, 4, 8, 80, 512)), max(1, len(changed) - at))
        match chance.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                changed[at : at + length] = chance.randbytes(length)
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = changed[at : at + length]
            case 4:
                changed[at : at + length] = chance.choice((b"\0", b"\xff", b" ", b"9", b"\n", b"[")) * length
            case _:
                there = chance.randrange(len(changed) + 1)
                changed[at:at] = changed[there : there + length]
    return bytes(changed[:LONGEST])


def spoiled_json(data: bytes, chance: random.Random) -> bytes:
    """JSON, or each line of it, with a value somewhere inside replaced, dropped, renamed or doubled."""
    lines = data.split(b"\n")
    number = chance.randrange(len(lines))
    try:
        value = json.loads(lines[number])
    except (ValueError, RecursionError):
        try:
            value, lines, number = json.loads(data), [b""], 0
        except (ValueError, RecursionError):
            return spoiled_bytes(data, chance)
    if chance.random() < 0.1:
        text = json.dumps(value).encode()
        words = [m.span() for m in re.finditer(rb"-?\d+(?:\.\d+)?|\"[^\"]*\"", text)]
        if words:
            start, end = chance.choice(words)
            lines[number] = text[:start] + chance.choice(_JSON_WORDS) + text[end:]
            return b"\n".join(lines)[:LONGEST]
    for _ in range(chance.randint(1, 3)):
        value = _spoiled_value(value, chance)
    lines[number] = json.dumps(value, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)[:LONGEST]


def _spoiled_value(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        match chance.randrange(12):
            case 0:
                return {k: v for k, v in value.items() if k != key}
            case 1:
                return {(chance.choice(NASTY_TEXTS) if k == key else k): v for k, v in value.items()}
            case 2:
                return value | {chance.choice(NASTY_TEXTS): value[key]}
        return value | {key: _spoiled_value(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        match chance.randrange(10):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value[:at] + [value[at]] * chance.choice((2, 3, 50)) + value[at + 1 :]
        return [*value[:at], _spoiled_value(value[at], chance), *value[at + 1 :]]
    if isinstance(value, str) and value and chance.random() < 0.4:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice(NASTY_TEXTS) + value[at + chance.randrange(3) :]
    others = (None, True, False, [], {}, [value], {"": value}, [[]], *NASTY_NUMBERS, *NASTY_TEXTS)
    return chance.choice(others)


def spoiled_text(data: bytes, chance: random.Random) -> bytes:
    """Lines of text with a word replaced, a line doubled, or a separator changed."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            lines[at:at] = [lines[at]] * chance.choice((1, 2, 200))
        case 1:
            words = re.split(rb"([\s,;|=]+)", lines[at])
            words[chance.randrange(len(words))] = _nasty(chance)
            lines[at] = b"".join(words)
        case 2:
            lines = lines[:at] + lines[at + 1 :]
        case 3:
            old, new = chance.sample((b",", b";", b"\t", b"|", b" ", b"=", b'"', b"#"), 2)
            lines[at] = lines[at].replace(old, new)
        case _:
            return spoiled_bytes(data, chance)
    return b"\n".join(lines)[:LONGEST]


def _nasty(chance: random.Random) -> bytes:
    word = chance.choice((*NASTY_TEXTS, *NASTY_NUMBERS))
    text = word if isinstance(word, str) else ("9" * 5000 if word == 10**400 else repr(word))
    return text.encode("utf-8", "surrogatepass")
