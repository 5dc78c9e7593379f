"""Tables and figures of the page as HTML, and counts in words.

On narrow screens each row of a table is a block, and a figure has its narrow form: nothing is cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from reviewer.blind.report.svg import NARROW, WIDE


@dataclass(frozen=True)
class TableRow:
    """A row of a table.

    :param heading: of the row, as HTML; ``cells`` as well
    :param kind: class of the row
    """

    heading: str
    cells: Sequence[str]
    kind: str = ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table of texts; the first cell of a row is its heading."""
    return table_of(head, (TableRow(escape(first), list(map(escape, more))) for first, *more in rows), caption)


def table_of(
    head: Sequence[str],
    rows: Iterable[TableRow],
    caption: str = "",
    kind: str = "",
    groups: Sequence[tuple[str, int]] = (),
) -> str:
    """Return a table whose cells are HTML.

    :param head: heads of the columns, the first one that of the rows' headings
    :param kind: class of the table
    :param groups: heads above those of the columns after the first, each with its number of columns
    """
    above = [f'<th scope="colgroup" colspan="{count}">{escape(name)}</th>' for name, count in groups]
    heads = "".join(f'<th scope="col">{escape(one)}</th>' for one in head)
    group_of = [f"{name}: " for name, count in groups for _ in range(count)] or [""] * (len(head) - 1)
    names = [f"{group}{name}" for group, name in zip(group_of, head[1:], strict=True)]
    of = f' class="{kind}"' if kind else ""
    first = f"<tr><td></td>{''.join(above)}</tr>" if above else ""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "".join(_row(one, names) for one in rows)
    return (
        f'<div class="scroll"><table{of}>{title}<thead>{first}<tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _row(one: TableRow, names: Sequence[str]) -> str:
    cells = "".join(f'<td data-head="{escape(name)}">{cell}</td>' for name, cell in zip(names, one.cells, strict=True))
    of = f' class="{one.kind}"' if one.kind else ""
    return f'<tr{of}><th scope="row">{one.heading}</th>{cells}</tr>'


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
