"""Scores of a model card from the reports of the bench."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.language import tr
from training.bench.report import SCHEMA, SCORES
from training.bench.scores import Value, percent
from training.model_card.facts import CardError

TASK_TYPE = "image-text-to-text"
"""The hub's name of what these models do."""


def scores_of(report: Path) -> dict[str, Any]:
    """Return the scores of one finished run of the bench, with intervals, as the facts of a card.

    :param report: its folder, or ``scores.json`` in it
    :raises CardError: there is no report, it is damaged, or questions are still to come
    """
    file = report / SCORES if report.is_dir() else report
    try:
        report_data = json.loads(file.read_text("utf-8"))
        if report_data["schema"] != SCHEMA:
            raise CardError(
                tr(
                    "{file}: schema: found {found!r:.60}, expected {schema!r}",
                    file=file,
                    found=report_data["schema"],
                    schema=SCHEMA,
                )
            )
        if report_data["open"]:
            raise CardError(
                tr(
                    "{file}: found a run with {n} samples to come, expected a finished one",
                    file=file,
                    n=report_data["open"],
                )
            )
        own, settings = report_data["scores"], report_data["settings"]
        return {
            "name": report_data["name"],
            "data": report_data["data"],
            "simulated": report_data["simulated"],
            "questions": own["n"],
            "spectra": own["spectra"],
            "failed": report_data["failed"],
            "unread": report_data["unread"],
            "left_out": len(report_data.get("left_out", ())),
            "samples": settings.get("samples", 1),
            "with_tool": settings["with_tool"],
            "max_turns": settings["max_turns"],
            **{name: own[name] for name in ("f1", "accuracy", "f1_of")},
            "tasks": [
                {name: task[name] for name in ("task", "n", "positives", "f1", "precision", "recall", "accuracy")}
                for task in own["tasks"]
            ],
        }
    except OSError as error:
        raise CardError(
            tr("{file}: {value}; expected the folder of a run of the bench", file=file, value=error.strerror or error)
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, CardError):
            raise
        raise CardError(
            tr("{file}: found no report of the bench that can be read ({error!r:.80})", file=file, error=error)
        ) from error


def renewed(before: Sequence[Mapping[str, Any]], added: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the scores with others added; one with the same name and data replaces the earlier one."""
    places = {(scored["name"], scored["data"]): scored for scored in [*before, *added]}
    return list(places.values())


def results(scores: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return the hub's ``model-index`` of the scores; fractions, each with its interval as arguments."""
    rows = [
        {
            "task": {"type": TASK_TYPE, "name": "Spectral vetting" if task == "all" else f"Spectral vetting: {task}"},
            "dataset": {
                "name": score["data"],
                "type": re.sub(r"[^a-z0-9]+", "-", score["data"].lower()).strip("-"),
                "config": f"{score['name']}, {task}",
            },
            "metrics": metrics,
        }
        for score in scores
        for task, of in [("all", score), *((task["task"], task) for task in score["tasks"])]
        if (metrics := [_metric(kind, of[kind], task) for kind in ("f1", "accuracy") if _has_value(of[kind])])
    ]
    return [{"name": name, "results": rows}] if rows else []


def cell(value: Mapping[str, Any]) -> str:
    """Format a score in percent with its interval."""
    return percent(Value(**value))


def _has_value(value: Mapping[str, Any]) -> bool:
    return value["value"] is not None


def _metric(kind: str, value: Mapping[str, Any], task: str) -> dict[str, Any]:
    word = {"f1": "F1 of YES", "accuracy": "accuracy"}[kind]
    metric: dict[str, Any] = {
        "type": kind,
        "value": round(value["value"], 4),
        "name": f"{word}, mean over tasks" if task == "all" else word,
    }
    if value["lo"] is not None and value["hi"] is not None:
        metric["args"] = {"interval_95_low": round(value["lo"], 4), "interval_95_high": round(value["hi"], 4)}
    return metric
