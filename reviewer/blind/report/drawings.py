"""The drawings of the report as plotly figures: intervals, distributions, preferences, every score, judges against
people, and residuals along the order. They fit any width from 340 pixels on; colours are variables of the page.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go

from agent.statistics import FloatArray
from reviewer.agreement.distribution import Distribution
from reviewer.agreement.preference import Preference
from reviewer.agreement.values import SCALE, Estimate, Scores
from reviewer.blind.report.numbers import percent, two_decimals, value_with_interval

_LINE, _BAR, _CELL = 17, 24, 20  # heights in pixels: a line of text, a bar, a row of cells
_SOURCES = ("var(--first)", "var(--second)", "var(--third)", "var(--bad)")
_SYMBOLS = ("circle", "square", "triangle-up", "diamond")
_DASHES = ("solid", "dash", "dot")
_CHARACTERS = 50
"""In a line of text across the narrowest figure; of Chinese, Japanese and Korean ones half as many."""
_BOLD = 0.88
"""Share of that number in a bold line."""
_EMPTY = "rgba(0,0,0,0)"


def _figure(height: float, **layout: object) -> go.Figure:
    """Return an empty figure whose drawing area has this height in pixels."""
    bottom = int(layout.pop("bottom", 30))  # type: ignore[call-overload]
    figure = go.Figure()
    figure.update_layout(
        template="none",
        height=height + 8 + bottom,
        margin={"l": 12, "r": 12, "t": 8, "b": bottom},
        font={"family": "system-ui, sans-serif", "size": 12.5, "color": "var(--ink)"},
        paper_bgcolor=_EMPTY,
        plot_bgcolor=_EMPTY,
        showlegend=False,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        hoverlabel={"bgcolor": "var(--card)", "bordercolor": "var(--line)", "font": {"color": "var(--ink)"}},
        **layout,
    )
    axis = {"gridcolor": "var(--line)", "zeroline": False, "fixedrange": True, "automargin": True}
    figure.update_xaxes(title_font_size=12.5, **axis)
    figure.update_yaxes(title_font_size=12.5, **axis)
    return figure


def _rows(figure: go.Figure, height: float) -> None:
    """Make the vertical axis one of pixels from the top, for rows with texts of their own."""
    figure.update_yaxes(range=[height, 0], visible=False)


def _lines(text: str, share: float = 1.0) -> list[str]:
    """Return a text in lines that fit into this share of the narrowest figure, without markup."""
    most = int(_CHARACTERS * share / (1 if max(text, default=" ") < "\u2e80" else 2))
    return [escape(line, quote=False) for line in textwrap.wrap(text, most)]


def _text(text: str, share: float = 1.0) -> str:
    return "<br>".join(_lines(text, share))


def _write(figure: go.Figure, top: float | None, text: str, x: float = 0.0) -> None:
    """Write lines at the left, or with ``x`` 1 at the right.

    :param top: pixels below the top of ``_rows``; None: below the axis
    """
    side = "right" if x else "left"
    place = {"y": 0, "yref": "paper", "yshift": -22} if top is None else {"y": top, "yref": "y"}
    colour = "var(--faint)" if top is None else "var(--ink)"
    place |= {"x": x, "xref": "paper", "xanchor": side, "yanchor": "top", "align": side}
    figure.add_annotation(text=text, font={"color": colour}, showarrow=False, borderpad=0, **place)


def intervals(
    rows: Sequence[tuple[str, Estimate]],
    low: float,
    high: float,
    reference: float | None = None,
    ends: tuple[str, str] = ("", ""),
    strong: Sequence[int] = (),
    band: tuple[float, float] | None = None,
) -> go.Figure:
    """Draw one row per estimate: its label with the numbers, and below a dot and the interval as a bar.

    :param low: start of the axis, or lower if an interval is; ``high`` its end
    :param reference: position of a vertical line, such as no difference
    :param ends: the meaning of the left and of the right end
    :param strong: the numbers of the rows that the figure is about, which have a diamond instead of a dot
    :param band: a range behind all rows, such as a margin
    """
    texts = []
    for number, (label, estimate) in enumerate(rows):
        numbers = value_with_interval(estimate) if estimate.value is not None else f"undefined: {estimate.reason}"
        texts.append(_lines(f"{label}: {numbers}", _BOLD if number in strong else 1.0))
    tops = [0.0]
    for (_, estimate), lines in zip(rows, texts, strict=True):
        tops.append(tops[-1] + _LINE * len(lines) + (28 if estimate.value is not None else 10))
    names = [_text(f"← {ends[0]}", 0.5), _text(f"{ends[1]} →", 0.5)] if any(ends) else []
    below = _LINE * max((name.count("<br>") + 1 for name in names), default=0)
    figure = _figure(tops[-1], bottom=30 + below)
    _rows(figure, tops[-1])
    given = [v for _, row in rows for v in (row.low, row.value, row.high) if v is not None] + list(band or ())
    start, stop = min([low, *given]), max([high, *given])
    edge = 0.03 * (stop - start)
    figure.update_xaxes(range=[start - edge, stop + edge], nticks=6)
    if band is not None:
        figure.add_vrect(*band, fillcolor="var(--equal)", opacity=0.45, line_width=0, layer="below")
    if reference is not None:
        figure.add_vline(reference, line={"color": "var(--ink)", "dash": "dash", "width": 1}, layer="below")
    for number, ((label, estimate), lines, top) in enumerate(zip(rows, texts, tops[:-1], strict=True)):
        text, is_strong = "<br>".join(lines), number in strong
        _write(figure, top, f"<b>{text}</b>" if is_strong else text)
        if estimate.value is None:
            continue
        y = top + _LINE * len(lines) + 10
        if estimate.low is not None and estimate.high is not None:
            bar = {"color": "var(--first)", "width": 5 if is_strong else 3}
            figure.add_scatter(x=[estimate.low, estimate.high], y=[y, y], mode="lines", line=bar, opacity=0.6)
            figure.data[-1].hoverinfo = "skip"
        marker = {
            "color": "var(--first)",
            "symbol": "diamond" if is_strong else "circle",
            "size": 12 if is_strong else 9,
        }
        hover = f"{_text(label)}<br>{value_with_interval(estimate)}"
        figure.add_scatter(x=[estimate.value], y=[y], mode="markers", marker=marker, hovertext=hover, hoverinfo="text")
    for x, name in enumerate(names):
        _write(figure, None, name, x)
    return figure


def distributions(of_sources: Mapping[str, Distribution]) -> go.Figure:
    """Draw for each source how often each score and "cannot tell" was given; bars are shares of answers."""
    figure = _figure(230, barmode="group", bargap=0.15)
    rows = 0
    for number, (source, shape) in enumerate(of_sources.items()):
        counts = [*shape.counts, shape.cannot_tell]
        answers = sum(counts)
        mean = (
            "no score" if shape.mean.value is None else f"mean {two_decimals(shape.mean.value)}, {shape.mean.n} scores"
        )
        name = _lines(f"{source}: {mean}", 0.85)
        rows += len(name)
        figure.add_bar(
            x=[*map(str, shape.scale), "?"],
            y=[count / answers if answers else 0 for count in counts],
            name="<br>".join(name),
            text=[str(count) if count else "" for count in counts],
            textposition="outside",
            cliponaxis=False,
            marker={"color": _SOURCES[number % 4], "pattern": {"shape": ("", "/", "x", ".")[number // 4 % 4]}},
            hovertemplate="%{x}: %{text} answers, %{y:.0%}<extra></extra>",
        )
    top = _LINE * rows + 34
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(tickformat=".0%", rangemode="tozero", nticks=5)
    figure.update_layout(showlegend=True, height=230 + 30 + top, margin_t=top)
    figure.update_layout(legend={"orientation": "v", "y": 1.0, "yref": "container", "yanchor": "top"})
    return figure


_ANSWERS = (("first", "var(--first)"), ("equal", "var(--equal)"), ("bad", "var(--bad)"), ("second", "var(--second)"))


def preferences(rates: Mapping[str, Preference]) -> go.Figure:
    """Draw the shares of the answers as parts of one bar, for each heading; the shares in words above it."""
    parts: list[tuple[Preference, float, tuple[tuple[str, float], ...]]] = []
    top, texts = 0.0, []
    for heading, rate in rates.items():
        shares = (
            (f"{rate.source} better", rate.wins.value or 0.0),
            ("equal", rate.equal.value or 0.0),
            ("both bad", rate.both_bad.value or 0.0),
            (f"{rate.other} better", rate.losses.value or 0.0),
        )
        shares_text = ", ".join(f"{words} {percent(share)}" for words, share in shares)
        about = f"{shares_text}, of {rate.wins.n} answers" if rate.wins.value is not None else str(rate.wins)
        title, lines = _lines(heading, _BOLD), _lines(about)
        texts.append((top, "<br>".join([*(f"<b>{line}</b>" for line in title), *lines])))
        top += _LINE * (len(title) + len(lines)) + 8
        if rate.wins.value is not None:
            parts.append((rate, top + _BAR / 2, shares))
            top += _BAR
        top += 16
    figure = _figure(max(top, 24.0), barmode="stack", bottom=8)
    _rows(figure, max(top, 24.0))
    figure.update_xaxes(range=[0, 1], visible=False)
    for number, (kind, colour) in enumerate(_ANSWERS):
        figure.add_bar(
            orientation="h",
            x=[shares[number][1] for _, _, shares in parts],
            y=[y for _, y, _ in parts],
            width=_BAR,
            marker={"color": colour, "line": {"color": "var(--card)", "width": 1.5}},
            text=[percent(shares[number][1]) if shares[number][1] >= 0.1 else "" for _, _, shares in parts],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": "var(--on-pale)" if kind == "equal" else "var(--on-colour)"},
            hovertext=[f"{_text(shares[number][0])}<br>{percent(shares[number][1])}" for _, _, shares in parts],
            hoverinfo="text",
        )
    for y, text in texts:
        _write(figure, y, text)
    return figure


def score_map(table: Scores, groups: Mapping[str, Sequence[str]]) -> go.Figure:
    """Draw every score as a coloured cell: for each source a row per scorer and a column per trace, by mean score.

    A trace that a scorer did not score has no cell.

    :param groups: the traces of each source, in order
    """
    means = dict(zip(table.items, table.item_means(), strict=True))
    place = {item: row for row, item in enumerate(table.items)}
    shown = {
        source: sorted((i for i in items if not np.isnan(means.get(i, np.nan))), key=lambda i: means[i])
        for source, items in groups.items()
    }
    shown = {source: items for source, items in shown.items() if items}
    tall = sum(_LINE * len(_lines(f"{source} ({len(items)})", _BOLD)) for source, items in shown.items())
    height = max(24.0, tall + len(shown) * (len(table.raters) * _CELL + 22))
    figure = _figure(height, bottom=60)
    _rows(figure, height)
    if not shown:
        _write(figure, 0, "nobody gave a score")
    top, ticks = 0.0, []
    for source, items in shown.items():
        lines = _lines(f"{source} ({len(items)})", _BOLD)
        _write(figure, top, f"<b>{'<br>'.join(lines)}</b>")
        top += _LINE * len(lines) + 6
        middles = [top + _CELL * (row + 0.5) for row in range(len(table.raters))]
        ticks += middles
        rows = table.values[[place[item] for item in items]].T
        figure.add_heatmap(
            x=[n / len(items) for n in range(len(items) + 1)],
            y=middles,
            z=[[None if np.isnan(value) else int(value) for value in row] for row in rows],
            customdata=[[[item, rater] for item in items] for rater in table.raters],
            hovertemplate="item %{customdata[0]}, %{customdata[1]}: %{z}<extra></extra>",
            coloraxis="coloraxis",
            xgap=1 if len(items) <= 60 else 0,
            ygap=2,
        )
        top += len(table.raters) * _CELL + 16
    figure.update_xaxes(range=[0, 1], visible=False)
    labels = [escape(rater) for rater in table.raters] * len(shown)
    figure.update_yaxes(visible=bool(shown), tickvals=ticks, ticktext=labels, showgrid=False, ticks="")
    colours = [(edge, f"var(--score-{s})") for s in SCALE for edge in (s / len(SCALE), (s + 1) / len(SCALE))]
    bar = {"orientation": "h", "thickness": 14, "len": 1, "lenmode": "fraction", "y": 0, "yanchor": "top", "ypad": 4}
    bar |= {"title": {"text": "score", "font": {"size": 12.5}}, "tickvals": list(SCALE), "outlinewidth": 0}
    figure.update_layout(coloraxis={"cmin": -0.5, "cmax": SCALE[-1] + 0.5, "colorscale": colours, "colorbar": bar})
    return figure


@dataclass(frozen=True)
class Panel:
    """A judge's scores of one dimension against the people's mean scores.

    :param items: (n_traces,), the names of the traces
    :param people: (n_traces,), as ``judge``; without NaN
    :param sources: (n_traces,), the number of each trace's source
    """

    items: Sequence[str]
    people: FloatArray
    judge: FloatArray
    sources: Sequence[int]


def against_people(panel: Panel, names: Sequence[str]) -> go.Figure:
    """Draw a judge's score of each trace against the people's mean score; the line is equality.

    :param names: of the sources
    """
    lines = sum(len(_lines(name, 0.85)) for name in names)
    figure = _figure(330, bottom=56)
    edges = [SCALE[0] - 0.25, SCALE[-1] + 0.25]
    line = {"color": "var(--ink)", "dash": "dash", "width": 1}
    figure.add_scatter(x=edges, y=edges, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    # Equal points lie on a small spiral, so that each can be seen.
    before: dict[tuple[float, float], int] = {}
    points: list[tuple[float, float]] = []
    for x, y in zip(panel.people, panel.judge, strict=True):
        key = (round(float(x), 2), round(float(y), 2))
        number = before[key] = before.get(key, -1) + 1
        away, turn = 0.045 * number**0.5, 2.4 * number
        points.append((float(x + away * np.cos(turn)), float(y + away * np.sin(turn))))
    for number, name in enumerate(names):
        own = [n for n, source in enumerate(panel.sources) if source == number]
        figure.add_scatter(
            x=[points[n][0] for n in own],
            y=[points[n][1] for n in own],
            mode="markers",
            name=_text(name, 0.85),
            marker={"color": _SOURCES[number % 4], "symbol": _SYMBOLS[number % 4], "size": 8, "opacity": 0.7},
            customdata=[[panel.items[n], two_decimals(panel.people[n]), two_decimals(panel.judge[n])] for n in own],
            hovertemplate="item %{customdata[0]}: people %{customdata[1]}, judge %{customdata[2]}<extra></extra>",
        )
    top = _LINE * lines + 30
    figure.update_layout(showlegend=True, height=330 + 56 + top, margin_t=top)
    figure.update_layout(legend={"orientation": "v", "y": 1.0, "yref": "container", "yanchor": "top"})
    figure.update_xaxes(range=edges, dtick=1, title="mean score of the people", constrain="domain")
    figure.update_yaxes(range=edges, dtick=1, title="score of the judge", scaleanchor="x", constrain="domain")
    return figure


def residuals(quarters: Mapping[str, FloatArray]) -> go.Figure:
    """Draw each scorer's mean residual in the quarters of their order, one line per scorer."""
    rows = -(-len(quarters) // 3)
    figure = _figure(210, bottom=44)
    figure.add_hline(0, line={"color": "var(--ink)", "dash": "dash", "width": 1}, layer="below")
    for number, (scorer, values) in enumerate(quarters.items()):
        shown = [None if np.isnan(value) else float(value) for value in values]
        figure.add_scatter(
            x=list(range(1, len(shown) + 1)),
            y=shown,
            name=escape(scorer),
            mode="lines+markers",
            line={"color": _SOURCES[number % 4], "dash": _DASHES[number // 4 % 3]},
            marker={"symbol": _SYMBOLS[number % 4], "size": 7},
            hovertemplate=f"{escape(scorer)}, quarter %{{x}}: %{{y:.2f}}<extra></extra>",
        )
    top = 22 * rows + 16
    figure.update_layout(showlegend=True, height=210 + 44 + top, margin_t=top)
    figure.update_layout(legend={"y": 1.0, "yref": "container", "yanchor": "top"})
    figure.update_xaxes(dtick=1, title="quarter of the order", showgrid=False)
    figure.update_yaxes(nticks=6)
    return figure
