"""Tables and figures of the page as HTML, and counts in words. On narrow screens each row of a table is a block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from plotly.graph_objects import Figure

from agent.tables import HtmlRow, html_table


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table of texts; the first cell of a row is its heading."""
    return html_table(head, (HtmlRow(cells, heading) for heading, *cells in rows), caption)


def figure(drawing: Figure, caption: str, note: str = "") -> str:
    """Return a figure with its caption, and what it shows in smaller letters. ``figures.js`` draws it."""
    more = f'<small class="faint">{escape(note)}</small>' if note else ""
    # No text of the drawing can end the script.
    data = drawing.to_json().replace("<", "\\u003c")
    return (
        f"<figure><figcaption>{escape(caption)}{more}</figcaption>"
        f'<div class="plot" role="img" aria-label="{escape(caption)}">'
        f'<script type="application/json">{data}</script></div></figure>'
    )


def many(count: int, what: str, several: str = "") -> str:
    """Return ``1 trace`` or ``2 traces``."""
    return f"{count} {what if count == 1 else several or what + 's'}"
