"""Tables and figures of the page as HTML, and counts in words.

On narrow screens each row of a table is a block, and a figure has its narrow form: nothing is cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Protocol

from agent.tables import HtmlRow, html_table
from reviewer.blind.report.svg import NARROW, WIDE


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table of texts; the first cell of a row is its heading."""
    return html_table(head, (HtmlRow(cells, heading) for heading, *cells in rows), caption)


class Drawing(Protocol):
    """A function that returns a drawing as SVG.

    :param width: of the drawing, in pixels
    """

    def __call__(self, *, width: float) -> str: ...


def figure(draw: Drawing, caption: str, note: str = "") -> str:
    """Return a figure with its caption, and what it shows in smaller letters."""
    more = f'<small class="faint">{escape(note)}</small>' if note else ""
    forms = (("wide-screen", WIDE), ("narrow-screen", NARROW))
    both = "".join(f'<div class="{kind}">{draw(width=width)}</div>' for kind, width in forms)
    return f"<figure><figcaption>{escape(caption)}{more}</figcaption>{both}</figure>"


def many(count: int, what: str, several: str = "") -> str:
    """Return ``1 trace`` or ``2 traces``."""
    return f"{count} {what if count == 1 else several or what + 's'}"
