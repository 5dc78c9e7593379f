"""What the data say about a trace: hints on its zooms, parts of its texts tied to pixels, and disagreements between
texts and tool calls.
"""

from __future__ import annotations

from typing import Any

from agent.hints import thought_on, windows_after
from agent.hints.spans import Span, SpanReader
from agent.language import current, tr
from agent.trajectory import Trajectory
from agent.trajectory.statements import disagreements, sentence, text_of_step
from reviewer.pictures import as_stated
from reviewer.store import Item
from reviewer.web.context import Context
from reviewer.web.models.evidence import Hint, StatementDisagreement, Statements
from reviewer.web.models.evidence import Span as ShownSpan
from reviewer.web.models.opening import Checks


def checks_of(context: Context, item: Item) -> Checks:
    """Return what the data say about the present version of an item; measured once per version and language."""
    checks: Checks = context.aids.get(_checks_key(item), lambda: _measured(context, item))
    return checks


def known_checks(context: Context, item: Item) -> Checks | None:
    """Return the same if it was measured before; None: it was not. For answers that must not wait for it."""
    return context.aids.known(_checks_key(item))


def _checks_key(item: Item) -> tuple[str, ...]:
    return ("checks", str(item.version.id), current())


def _measured(context: Context, item: Item) -> Checks:
    stated = _statements(context, item, item.version.trajectory)
    return Checks(hints=hints_of(context, item), spans=stated.spans, disagreements=stated.disagreements)


def hints_of(context: Context, item: Item) -> dict[str, list[Hint]]:
    """Return the hints on each zoom of an item's present version; none without a spectrum."""
    sha256, task = item.row.spectrum_sha256, context.tasks.get(item.row.task)
    if sha256 is None:
        return {}
    trajectory = item.version.trajectory
    spectrum = as_stated(context.gallery.spectrum(sha256), trajectory)
    return {
        z.id: [
            Hint.model_validate(hint)
            for hint in context.hints(spectrum, z, task, thought_on(trajectory, z), windows_after(trajectory, z))
        ]
        for z in trajectory.zooms
    }


def statements_of(context: Context, item: Item, steps: list[dict[str, Any]]) -> Statements:
    """Return the spans of each text, with offsets in UTF-16 units as JavaScript counts them, and the disagreements.

    :param steps: of the page, which may have been edited. A page that hides the answer sends what it shows, so nothing
        else is in the result
    :raises TrajectoryError: a step cannot be read
    """
    return _statements(context, item, Trajectory.from_json({**item.version.trajectory.to_json(), "steps": steps}))


def _statements(context: Context, item: Item, trajectory: Trajectory) -> Statements:
    first = context.store.items.versions(item.id)[0].trajectory if item.version.number > 1 else item.version.trajectory
    spans = _reader(context, item).spans(trajectory, first)
    return Statements(
        spans={
            step.id: [_shown(span, text_of_step(step)) for span in spans[step.id]]
            for step in trajectory.steps
            if step.id in spans
        },
        disagreements=[
            StatementDisagreement(step=difference.step, text=tr(sentence(difference, trajectory)))
            for difference in disagreements(trajectory, first)
        ],
    )


def _reader(context: Context, item: Item) -> SpanReader:
    """Return the reader of an item's spectrum; it keeps what it has measured."""
    sha256, redshift = item.row.spectrum_sha256, item.version.trajectory.redshift
    task = context.tasks.get(item.row.task)
    if sha256 is None:
        return SpanReader(None, redshift, task)
    spectrum = context.gallery.spectrum(sha256)
    reader: SpanReader = context.aids.get(
        ("spans", sha256, str(redshift), item.row.task), lambda: SpanReader(spectrum, redshift, task)
    )
    return reader


def _shown(span: Span, text: str) -> ShownSpan:
    return ShownSpan(
        start=_utf16(text[: span.start]),
        end=_utf16(text[: span.end]),
        kind=span.kind,
        status=span.status,
        range=None if span.range is None else (round(span.range[0], 2), round(span.range[1], 2)),
        about=span.about,
        note=span.note,
        new=span.new,
    )


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
