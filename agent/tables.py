"""Tables as CSV, Markdown and HTML: the one writer of each form. jinja2 is loaded with the first HTML table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from jinja2 import Template

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


class CsvTable:
    """A CSV file being written: the heading, then the rows; lines end in a line feed."""

    def __init__(self, out: TextIO, heading: Sequence[str]) -> None:
        self._out = out
        self.row(heading)

    def row(self, cells: Iterable[object]) -> None:
        line = io.StringIO(newline="")
        # csv quotes a carriage return only if lines end in one; unquoted it would begin a new row.
        csv.writer(line, lineterminator="\r\n").writerow([cell(value) for value in cells])
        self._out.write(line.getvalue().removesuffix("\r\n") + "\n")


def cell(value: object) -> str:
    """Format a value for a table: empty for None, all digits of a float, text that is no formula.

    Text keeps its line feeds and all that UTF-8 and CSV can hold; NUL and lone surrogates are removed.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(float(value)) if isinstance(value, float) else str(value)
    text = value.replace("\0", "").encode("utf-8", "replace").decode()
    return f"'{text}" if is_formula(text) else text


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet might calculate this text instead of showing it."""
    return text.startswith(("\t", "\r", "\n")) or text.lstrip().startswith(_FORMULA)


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table of escaped cells."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


@dataclass(frozen=True)
class HtmlRow:
    """A row of an HTML table. A text is escaped; markup (``markupsafe.Markup``) is not.

    :param heading: of the row; None: it has cells alone
    :param kind: class of the row
    """

    cells: Sequence[str]
    heading: str | None = None
    kind: str = ""


def html_table(
    head: Sequence[str],
    rows: Iterable[HtmlRow],
    caption: str = "",
    kind: str = "",
    groups: Sequence[tuple[str, int]] = (),
    frame: str = "scroll",
) -> str:
    """Return an HTML table. Each cell names its column, for pages that show a row as a block on narrow screens.

    :param head: of the columns, the first one that of the rows' headings if there are any; without text: no heading
    :param kind: class of the table
    :param groups: heads above those of the columns after the first, each with its number of columns
    :param frame: class of the element around the table
    """
    group_of = ["", *(f"{name}: " for name, count in groups for _ in range(count))] if groups else [""] * len(head)
    names = [f"{group}{name}" for group, name in zip(group_of, head, strict=True)]
    return _template().render(head=head, rows=rows, caption=caption, kind=kind, groups=groups, frame=frame, names=names)


_HTML = """\
<div class="{{ frame }}"><table{% if kind %} class="{{ kind }}"{% endif %}>
{%- if caption %}<caption>{{ caption }}</caption>{% endif %}<thead>
{%- if groups %}<tr><td></td>
{%- for name, count in groups %}<th scope="colgroup" colspan="{{ count }}">{{ name }}</th>{% endfor %}</tr>
{%- endif %}<tr>
{%- for name in head %}{% if name %}<th scope="col">{{ name }}</th>{% else %}<td></td>{% endif %}{% endfor -%}
</tr></thead><tbody>
{%- for row in rows %}<tr{% if row.kind %} class="{{ row.kind }}"{% endif %}>
{%- if row.heading is not none %}<th scope="row">{{ row.heading }}</th>{% endif %}
{%- set own = names[1:] if row.heading is not none else names %}
{%- for cell in row.cells %}<td data-head="{{ own[loop.index0] }}">{{ cell }}</td>{% endfor -%}
</tr>{% endfor %}</tbody></table></div>"""


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    return Environment(autoescape=True, undefined=StrictUndefined).from_string(_HTML)
