"""The table of all numbers of a report; the answers of model judges; ``session.json``.
No file contains a name of a person.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from agent.tables import CsvTable
from reviewer.blind.plan import CANNOT_TELL, SESSION_FORMAT
from reviewer.blind.report.model import p_value
from reviewer.blind.report.names import Names
from reviewer.blind.report.statistics import Row
from reviewer.blind.results import JudgeScore, Results, ShownTrace
from reviewer.blind.sheet import PreferenceAnswer

STATISTICS_COLUMNS: Mapping[str, Callable[[Row], object]] = MappingProxyType(
    {
        "section": lambda row: row.section,
        "of": lambda row: row.of,
        "dimension": lambda row: row.dimension,
        "statistic": lambda row: row.statistic,
        "value": lambda row: row.estimate.value,
        "low": lambda row: row.estimate.low,
        "high": lambda row: row.estimate.high,
        "n": lambda row: row.estimate.n,
        "n_of": lambda row: row.n_of,
        "unit": lambda row: row.unit,
        "population": lambda row: row.population,
        "p": lambda row: p_value(row.estimate),
        "p_adjusted": lambda row: row.adjusted,
        "claim": lambda row: row.claim,
        "reason": lambda row: row.estimate.reason,
        "definition": lambda row: row.estimate.definition,
        "detail": lambda row: json.dumps(dict(row.estimate.detail), ensure_ascii=False, allow_nan=False),
    }
)
"""The columns of ``statistics.csv``, each with its value in a row."""


def statistics_csv(rows: Iterable[Row]) -> str:
    """Return every number of the report; an empty value has its reason in words."""
    return to_csv(
        tuple(STATISTICS_COLUMNS), (tuple(value(row) for value in STATISTICS_COLUMNS.values()) for row in rows)
    )


JUDGEMENT_COLUMNS = (
    *("judge", "kind", "sample", "item", "source", "version"),
    *("left_item", "left_source", "left_version", "right_item", "right_source", "right_version"),
    *("coherence", "consistency", "coherence_cannot_tell", "consistency_cannot_tell", "preference", "comment"),
    *("reasoning", "replies", "settings"),
)
"""The columns of ``judgements.csv``; those that ``answers.csv`` has too mean the same."""


def judgements_csv(results: Results, names: Names) -> str:
    """Return one row per judgement of a model judge; the reasoning is separate, and all settings are JSON."""
    rows = []
    for judgement in results.judgements:
        shown = [results.traces[version] for version in judgement.shown]
        traces = [part for trace in shown for part in (names.traces[trace.version], trace.source, trace.text)]
        score = judgement.answer if isinstance(judgement.answer, JudgeScore) else None
        scores = (score.coherence, score.consistency) if score else (None, None)
        side = judgement.answer.preference if isinstance(judgement.answer, PreferenceAnswer) else None
        rows.append(
            (
                *(judgement.judge, judgement.kind, judgement.settings.get("sample", 1)),
                *((*traces, *[None] * 6) if judgement.kind == "scores" else (*[None] * 3, *traces)),
                *(None if given == CANNOT_TELL else given for given in scores),
                *(None if given is None else flag(given == CANNOT_TELL) for given in scores),
                *(side, judgement.answer.comment if judgement.answer else None, judgement.reasoning),
                *(json.dumps(judgement.replies, ensure_ascii=False), json.dumps(judgement.settings, sort_keys=True)),
            )
        )
    return to_csv(JUDGEMENT_COLUMNS, rows)


def flag(value: bool) -> str:
    """Return the form that R and pandas read as a logical value."""
    return "true" if value else "false"


def spectrum_numbers(results: Results) -> dict[str, int]:
    """Return the number of each spectrum within the session by its SHA-256, in the order of the items."""
    traces = sorted(results.traces.values(), key=lambda trace: (trace.item, trace.version))
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
    place_of = {response.token: response.place for response in results.responses}
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
            _item(names, listed, content_hashes[listed.version], spectra)
            for listed in sorted(results.traces.values(), key=lambda trace: names.traces[trace.version])
        ],
        "orders": {
            called: [
                {
                    "place": response.place,
                    "kind": response.kind,
                    "items": [names.traces[version] for version in response.shown],
                    "repeat_of": None if response.repeat_of is None else place_of[response.repeat_of],
                    "gold": response.gold is not None,
                    "training": response.training,
                }
                for response in results.responses
                if response.scorer == initials
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
        "item": names.traces[trace.version],
        "content_hash": content_hash,
        "spectrum": None if trace.spectrum is None else spectra[trace.spectrum],
        "spectrum_sha256": trace.spectrum,
        "source": trace.source,
        "source_kind": trace.source_kind,
        "version": trace.text,
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
    """Return a table; None is an empty cell, and a text that is a formula in spreadsheets gets an apostrophe."""
    written = io.StringIO()
    table = CsvTable(written, head)
    for row in rows:
        table.row(row)
    return written.getvalue()
