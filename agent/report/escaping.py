"""Words of others as Markdown that says just these words: no markup, link, picture or HTML comes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# What begins markup anywhere in a line. A link or an address that some readers make of bare text is broken at
# the colon, the first dot or the @.
_ANYWHERE = re.compile(r"[\\`*_~\[\]$|!@]|:(?=/)|\.(?=[^\W\d])")
# A backslash before these is no escape to every reader of Markdown.
_ENTITIES = {"&": "&amp;", "<": "&lt;"}
# What makes a heading, a list, a quote, a rule or an underline at the start of a line.
_AT_START = re.compile(r"^(\d{0,9})([#+=.)>-])")
# Not white space, and nothing to be seen: in a file that is read as text they hide what is there. Those that
# turn the reading direction are among them.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LINE_ENDS = re.compile(r"\r\n?|\n")


def escaped(text: str) -> str:
    """``text`` within a line or a table's cell; the ends of its lines become spaces."""
    return _escaped(re.sub(r"[ \t\r\n]+", " ", _printable(text)).strip())


def quoted(text: str) -> str:
    """``text`` as a block quote, its lines and paragraphs kept. Empty text gives an empty quote."""
    lines = [_escaped(line.strip()) for line in _LINE_ENDS.split(_printable(text))]
    written = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        # A backslash keeps the line's end where one more line of the same paragraph follows.
        written.append(f"> {line}\\" if line and following else f"> {line}".rstrip())
    return "\n".join(written)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _escaped(line: str) -> str:
    marked = _AT_START.sub(r"\1\\\2", _ANYWHERE.sub(r"\\\g<0>", line))
    return re.sub("[&<]", lambda found: _ENTITIES[found[0]], marked)


def _printable(text: str) -> str:
    # Half a character cannot be written as UTF-8.
    return _CONTROLS.sub(" ", text.encode("utf-8", "replace").decode())
