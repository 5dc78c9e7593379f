"""A session's numbers and raw answers as CSV, and as JSON what it takes to run it again. Nobody's name is in
any of them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent.text import CsvTable
from reviewer.blind.report.rows import Row
from reviewer.blind.report.statistics import Names
from reviewer.blind.results import JudgedScore, Results, Said, ShownTrace
from reviewer.blind.sheet import OwnPreference, OwnScore

SESSION_FORMAT = "spec-o3 blind session 1"


def statistics_csv(rows: Iterable[Row]) -> str:
    """Every number of the report; an empty value has its reason in words."""
    head = (
        "section",
        "of",
        "dimension",
        "statistic",
        "value",
        "low",
        "high",
        "n",
        "n_of",
        "reason",
        "definition",
        "detail",
    )
    return _csv(
        head,
        (
            (
                *(one.section, one.of, one.dimension, one.statistic),
                *(e.value, e.low, e.high, e.n, e.n_of, e.reason, e.definition),
                json.dumps(dict(e.detail), ensure_ascii=False, allow_nan=False),
            )
            for one in rows
            for e in (one.estimate,)
        ),
    )


def scores_csv(results: Results, names: Names) -> str:
    """One row for each trace that somebody was asked to score, repeats and gold items among them."""
    head = (
        *("scorer", "place", "item", "use", "source", "task", "simulated", "verdict", "label"),
        *("coherence", "consistency", "changes", "comment"),
    )
    return _csv(head, (_score(results, names, one) for one in _said(results, names, "scores")))


def preferences_csv(results: Results, names: Names) -> str:
    """One row for each pair that somebody was shown, repeats among them."""
    head = (
        *("scorer", "place", "use", "task", "left_item", "right_item", "left_source", "right_source"),
        *("preference", "preferred_source", "changes", "comment"),
    )
    return _csv(head, (_preference(results, names, one) for one in _said(results, names, "pair")))


def wrong_steps_csv(results: Results, names: Names) -> str:
    """One row for each step that a scorer marked as wrong; steps count from 1."""
    rows = (
        (
            *(names.scorers[one.scorer], one.place, names.items[trace.item], _use(one)),
            *(trace.source, trace.task, int(step.removeprefix("s"))),
        )
        for one in _said(results, names, "scores")
        if isinstance(one.answer, OwnScore)
        for trace in (results.traces[one.shown[0]],)
        for step in one.answer.wrong_steps
    )
    return _csv(("scorer", "place", "item", "use", "source", "task", "step"), rows)


def judgements_csv(results: Results, names: Names) -> str:
    """What model judges said, reasoning apart from the verdict."""
    rows = []
    for one in results.judgements:
        items = [names.items[results.traces[version].item] for version in one.shown]
        score = one.answer if isinstance(one.answer, JudgedScore) else None
        side = one.answer.preference if isinstance(one.answer, OwnPreference) else None
        comment = one.answer.comment if one.answer else None
        rows.append(
            (
                *(one.judge, items[0], items[1] if len(items) > 1 else None),
                *((score.coherence, score.consistency) if score else (None, None)),
                *(
                    side,
                    comment,
                    one.reasoning,
                    json.dumps(one.said),
                    json.dumps(one.settings, sort_keys=True),
                ),
            )
        )
    head = ("judge", "item", "right_item", "coherence", "consistency", "preference", "comment")
    return _csv((*head, "reasoning", "said", "settings"), rows)


def session_json(results: Results, names: Names, content_hashes: Mapping[int, str]) -> str:
    """The plan, the exact items, the orders and sides, and the rubric as it was.

    :param content_hashes: of each version that was shown
    """
    by_version = {version: names.items[trace.item] for version, trace in results.traces.items()}
    place_of = {one.token: one.place for one in results.said}
    data = {
        "format": SESSION_FORMAT,
        "session": results.session,
        "plan": _plan(results, names),
        "drawn_at": results.drawn_at.isoformat(),
        "opened_at": results.opened_at.isoformat(),
        "closed_at": results.closed_at.isoformat(),
        "notes": [names.note(note) for note in results.notes],
        "items": [
            _item(names, one, content_hashes[one.version])
            for one in sorted(results.traces.values(), key=lambda trace: trace.item)
        ],
        "orders": {
            called: [
                {
                    "place": one.place,
                    "kind": one.kind,
                    "items": [by_version[version] for version in one.shown],
                    "repeat_of": None if one.repeat_of is None else place_of[one.repeat_of],
                    "gold": one.gold is not None,
                }
                for one in results.said
                if one.scorer == initials
            ]
            for initials, called in names.scorers.items()
        },
        "rubric": results.rubric.to_json(),
        "questions": {
            task: {"title": asked.title, "question": asked.question, "guide": asked.guide}
            for task, asked in sorted(results.questions.items())
        },
    }
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _plan(results: Results, names: Names) -> dict[str, Any]:
    """The plan with its scorers by their new names, and items by their number within the session."""
    plan = results.plan.to_json()
    plan["name"] = names.anonymous(plan["name"])
    plan["filter"]["batch"] = plan["filter"]["batch"] and names.anonymous(plan["filter"]["batch"])
    plan["scorers"] = list(names.scorers.values())
    # What was asked for and shown to nobody has no number here.
    plan["items"] = [names.items[item] for item in results.plan.items if item in names.items]
    plan["gold"] = [{**gold, "item": names.items[gold["item"]]} for gold in plan["gold"] if gold["item"] in names.items]
    return plan


def _item(names: Names, trace: ShownTrace, content_hash: str) -> dict[str, Any]:
    return {
        "item": names.items[trace.item],
        "content_hash": content_hash,
        "spectrum_sha256": trace.spectrum,
        "source": trace.source,
        "source_kind": trace.source_kind,
        "task": trace.task,
        "simulated": trace.simulated,
        "label": trace.label,
        "verdict": trace.verdict,
        "characters": trace.characters,
    }


def _score(results: Results, names: Names, one: Said) -> tuple[object, ...]:
    trace = results.traces[one.shown[0]]
    answer = one.answer if isinstance(one.answer, OwnScore) else None
    return (
        names.scorers[one.scorer],
        one.place,
        names.items[trace.item],
        _use(one),
        trace.source,
        trace.task,
        "yes" if trace.simulated else "no",
        trace.verdict,
        trace.label,
        *((answer.coherence, answer.consistency) if answer else (None, None)),
        one.changes,
        names.anonymous(answer.comment) if answer else "",
    )


def _preference(results: Results, names: Names, one: Said) -> tuple[object, ...]:
    left, right = (results.traces[version] for version in one.shown)
    answer = one.answer if isinstance(one.answer, OwnPreference) else None
    won = {"left": left.source, "right": right.source}.get(answer.preference) if answer else None
    return (
        names.scorers[one.scorer],
        one.place,
        _use(one),
        left.task,
        names.items[left.item],
        names.items[right.item],
        left.source,
        right.source,
        answer.preference if answer else None,
        won,
        one.changes,
        names.anonymous(answer.comment) if answer else "",
    )


def _said(results: Results, names: Names, kind: str) -> list[Said]:
    # Not in the plan's order of scorers, which would tell who is who.
    order = {initials: place for place, initials in enumerate(names.scorers)}
    asked = [one for one in results.said if one.kind == kind]
    return sorted(asked, key=lambda one: (order[one.scorer], one.place))


def _use(one: Said) -> str:
    return "gold" if one.gold is not None else "repeat" if one.repeat_of is not None else "result"


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO()
    table = CsvTable(written, head)
    for row in rows:
        table.row(row)
    return written.getvalue()
