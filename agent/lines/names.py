"""Find the lines and bands that a text names: "Zoom on H-alpha", "He II λ4686", "TiO γ' 7054", "C2 Swan bands"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from agent.lines import Band, Line, bands, lines

# Names of groups, each with its species in the lists.
_GROUPS = {
    "balmer": "H I",
    "paschen": "H I",
    "swan": "C2",
    "calcium triplet": "Ca II",
    "ca ii triplet": "Ca II",
    "cat": "Ca II",
    "h&k": "Ca II",
    "na d": "Na I",
    "nad": "Na I",
    "sodium": "Na I",
    "mg b": "Mg I",
    "bowen": "C III / N III",
    "g band": "CH",
}
_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta"}


def named(text: str) -> tuple[Line | Band, ...]:
    """Return the lines and bands that the text names individually, in the order of the lists."""
    plain = _plain(text)
    # "CaH" is the molecule, not the H line of calcium: where a molecule is named, no line is.
    for_lines = _plain(_molecules().sub(" ", text))
    return tuple(
        entry for entry, pattern in _patterns() if pattern.search(for_lines if isinstance(entry, Line) else plain)
    )


def mentions(text: str) -> Iterator[tuple[int, int, Line | Band]]:
    """Yield the places ``text[start:end]`` where lines and bands are named individually, in reading order, the longest
    name where several would fit.
    """
    plain, places = _with_places(text)
    masked = _molecules().sub(lambda match: " " * len(match[0]), text)
    for_lines, _ = _with_places(masked)
    spans = [
        (places[match.start()], places[match.end()], entry)
        for entry, pattern in _patterns()
        for match in pattern.finditer(for_lines if isinstance(entry, Line) and len(for_lines) == len(plain) else plain)
    ]
    end = 0
    for first, last, entry in sorted(spans, key=lambda place: (place[0], -place[1])):
        if first >= end:
            yield first, last, entry
            end = last


def _with_places(text: str) -> tuple[str, list[int]]:
    """Return the text in the form that the patterns are for, and the place in ``text`` of each of its letters."""
    letters = [_plain_letter(letter) for letter in text]
    places = [number for number, letter in enumerate(letters) for _ in letter]
    return "".join(letters), [*places, len(text)]


@cache
def _plain_letter(letter: str) -> str:
    return _plain(letter)


def species_named(text: str) -> frozenset[str]:
    """Return the species that the text names, also by the name of a group ("Balmer" is H I, "Swan" C2)."""
    plain = _plain(text)
    known = {entry.species for entry, _ in _patterns()}
    named = {species for species in known if _pattern(species).search(plain)}
    return frozenset(named | {species for group, species in _GROUPS.items() if _pattern(group).search(plain)})


@cache
def _molecules() -> re.Pattern[str]:
    """Return a pattern of the molecules of the list, as they are written; "CaH & K" are lines."""
    names = "|".join(sorted({re.escape(band.species) for band in bands()}, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z])({names})(?![a-z])(?!\s*(?:&|and|\+|/|,)\s*K\b)")


@cache
def _patterns() -> tuple[tuple[Line | Band, re.Pattern[str]], ...]:
    entries: list[Line | Band] = [*lines(), *bands()]
    return tuple(
        (entry, re.compile("|".join(_pattern(name).pattern for name in (entry.name, *entry.aliases))))
        for entry in entries
    )


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of the name, with any usual separator between its parts, as a word of its own."""
    parts = re.findall(r"[a-z]+|[0-9]+|[^a-z0-9\s_-]", _plain(name))
    return re.compile(r"(?<![a-z0-9])" + r"[\s_-]*".join(re.escape(part) for part in parts) + r"(?![a-z0-9])")


def _plain(text: str) -> str:
    plain = text.replace("λ", " ").replace("₂", "2").lower()
    for letter, word in _GREEK.items():
        plain = plain.replace(letter, word)
    return plain
