"""The settings of model judges as a table: what each saw, and how its answers were sampled."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from reviewer.blind.report.judges import JudgeStatistics

_SETTINGS = (
    *("sees", "model requested", "model served", "temperature", "reasoning", "samples per question", "dimensions"),
    *("version of our prompt", "JSON schema", "preset", "judgements", "unread answers", "answers with reasoning"),
)


def judge_settings(judges: Sequence[JudgeStatistics]) -> str:
    """Return one row per setting and one column per judge."""
    columns = [_cells(one) for one in judges]
    heads = "".join(f'<th scope="col">{escape(one.judge)}</th>' for one in judges)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cells[row])}</td>" for cells in columns)}</tr>'
        for row, name in enumerate(_SETTINGS)
    )
    return (
        '<div class="wide"><table><caption>Settings, as each judgement recorded them</caption><thead>'
        f"<tr><th></th>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
        '<p class="faint">A judge that sees neither pictures nor measured values judges the text alone. Reasoning is '
        "kept separately from the verdict.</p>"
    )


def _cells(one: JudgeStatistics) -> tuple[str, ...]:
    """Return a judge's settings in the order of ``_SETTINGS``."""
    setup = one.setup
    separately = tuple("in separate requests" if apart else "in one request" for apart in setup.separately)
    reasoning = tuple("as the server has it" if how == "server" else how for how in setup.reasoning)
    temperature = tuple(f"{value:g}" for value in setup.temperature)
    values: tuple[tuple[object, ...], ...] = (
        *(setup.sees, setup.model, setup.served, temperature, reasoning, setup.samples, separately),
        *(setup.prompt_version, setup.json_schema, setup.preset),
    )
    words = (" and ".join(str(part) if part != "" else "none" for part in parts) for parts in values)
    return (*(one or "not recorded" for one in words), *map(str, (one.judgements, one.unread, one.with_reasoning)))
