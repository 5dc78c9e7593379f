"""The table of all numbers of a report; the answers of model judges; ``session.json``.
No file contains a name of a person.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent.text import CsvTable
from reviewer.blind.plan import SESSION_FORMAT
from reviewer.blind.report.model import p_value, population
from reviewer.blind.report.names import Names
from reviewer.blind.report.statistics import Row
from reviewer.blind.results import JudgeScore, Results, ShownTrace
from reviewer.blind.sheet import PreferenceAnswer


def statistics_csv(rows: Iterable[Row]) -> str:
    """Return every number of the report; an empty value has its reason in words."""
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
        "unit",
        "population",
        "p",
        "p_adjusted",
        "claim",
        "reason",
        "definition",
        "detail",
    )
    return to_csv(
        head,
        (
            (
                *(one.section, one.of, one.dimension, one.statistic),
                *(e.value, e.low, e.high, e.n, one.n_of, one.unit, population(e), p_value(e), one.adjusted, one.claim),
                *(e.reason, e.definition),
                json.dumps(dict(e.detail), ensure_ascii=False, allow_nan=False),
            )
            for one in rows
            for e in (one.estimate,)
        ),
    )


def judgements_csv(results: Results, names: Names) -> str:
    """Return the judgements of model judges, reasoning separate from the verdict."""
    rows = []
    for one in results.judgements:
        items = [names.items[results.traces[version].item] for version in one.shown]
        score = one.answer if isinstance(one.answer, JudgeScore) else None
        side = one.answer.preference if isinstance(one.answer, PreferenceAnswer) else None
        comment = one.answer.comment if one.answer else None
        rows.append(
            (
                *(one.judge, items[0], items[1] if len(items) > 1 else None),
                *((score.coherence, score.consistency) if score else (None, None)),
                *(
                    side,
                    comment,
                    one.reasoning,
                    json.dumps(one.replies),
                    json.dumps(one.settings, sort_keys=True),
                ),
            )
        )
    head = ("judge", "item", "right_item", "coherence", "consistency", "preference", "comment")
    return to_csv((*head, "reasoning", "said", "settings"), rows)


def spectrum_numbers(results: Results) -> dict[str, int]:
    """Return the number of each spectrum within the session by its SHA-256, in the order of the items."""
    traces = sorted(results.traces.values(), key=lambda trace: trace.item)
    shown = dict.fromkeys(trace.spectrum for trace in traces if trace.spectrum is not None)
    return {sha256: number for number, sha256 in enumerate(shown, start=1)}


def session_json(
    results: Results, names: Names, content_hashes: Mapping[int, str], analysis_sha256: str | None = None
) -> str:
    """Return the plan, the exact items, the orders and sides, and the rubric.

    :param content_hashes: of each version that was shown
    :param analysis_sha256: of the analysis plan
    """
    spectra = spectrum_numbers(results)
    by_version = {version: names.items[trace.item] for version, trace in results.traces.items()}
    place_of = {one.token: one.place for one in results.responses}
    data = {
        "format": SESSION_FORMAT,
        "session": results.session,
        "plan": _plan(results, names),
        "analysis_sha256": analysis_sha256,
        "drawn_at": results.drawn_at.isoformat(),
        "opened_at": results.opened_at.isoformat(),
        "closed_at": results.closed_at.isoformat(),
        "notes": [names.note(note) for note in results.notes],
        "items": [
            _item(names, one, content_hashes[one.version], spectra)
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
                    "training": one.training,
                }
                for one in results.responses
                if one.scorer == initials
            ]
            for initials, called in names.scorers.items()
        },
        "rubric": results.rubric.to_json(),
        "questions": {
            task: {"title": question.title, "question": question.question, "guide": question.guide}
            for task, question in sorted(results.questions.items())
        },
    }
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _plan(results: Results, names: Names) -> dict[str, Any]:
    """Return the plan with scorers by their new names and items by their number within the session."""
    plan = results.plan.to_json()
    plan["name"] = names.anonymous(plan["name"])
    plan["filter"]["batch"] = plan["filter"]["batch"] and names.anonymous(plan["filter"]["batch"])
    plan["scorers"] = list(names.scorers.values())
    # An item of the plan that was shown to nobody has no number here.
    plan["items"] = [names.items[item] for item in results.plan.items if item in names.items]
    plan["gold"] = [{**gold, "item": names.items[gold["item"]]} for gold in plan["gold"] if gold["item"] in names.items]
    plan["training"] = [names.items[item] for item in results.plan.training if item in names.items]
    plan["analysis"]["stopping"] = names.anonymous(plan["analysis"]["stopping"])
    return plan


def _item(names: Names, trace: ShownTrace, content_hash: str, spectra: Mapping[str, int]) -> dict[str, Any]:
    return {
        "item": names.items[trace.item],
        "content_hash": content_hash,
        "spectrum": None if trace.spectrum is None else spectra[trace.spectrum],
        "spectrum_sha256": trace.spectrum,
        "source": trace.source,
        "source_kind": trace.source_kind,
        "task": trace.task,
        "survey": trace.survey,
        "snr": trace.snr,
        "simulated": trace.simulated,
        "label": trace.label,
        "verdict": trace.verdict,
        "characters": trace.characters,
        "reveals": trace.reveals,
    }


def to_csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO()
    table = CsvTable(written, head)
    for row in rows:
        table.row(row)
    return written.getvalue()
