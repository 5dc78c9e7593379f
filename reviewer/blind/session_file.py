"""A report's ``session.json`` as a plan: the same texts are scored again, here or in another database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from agent.errors import Refusal
from agent.language import deferred, tr
from reviewer.blind.plan import SESSION_FORMAT, TEXT_VERSIONS, PlanError, TextVersion

FindItems = Callable[[Iterable[str]], Mapping[str, int]]
"""From content hashes to the items with these texts in the file's version; the store's ``items_by_content``."""

_RERUN_FIELDS = ("name", "mode", "each", "repeats", "seed")
_RERUN_IF_THERE = ("design", "strata", "giveaways", "earlier", "analysis")  # files of earlier releases lack them
_UNCHANGED = deferred("an unchanged session.json of a report")


class SessionFileError(Refusal):
    """A file that is not a report's ``session.json``: what was found."""


def read_session(path: Path) -> Mapping[str, Any]:
    """Read a report's ``session.json``. :raises SessionFileError: it cannot be read, or is something else"""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SessionFileError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SessionFileError(
            tr("{path}: found no JSON ({error}), expected a report's session.json", path=path, error=error)
        ) from error
    if not isinstance(data, Mapping) or data.get("format") != SESSION_FORMAT:
        raise SessionFileError(
            tr(
                "{path}: found no {session_format!r}, expected a report's session.json",
                path=path,
                session_format=SESSION_FORMAT,
            )
        )
    return data


def session_version(session: Mapping[str, Any]) -> TextVersion:
    """Return the version of the texts of a file. Of a file from before versions were told apart, only texts as drafted
    can be scored again.

    :raises PlanError: the file has something else in its place
    """
    plan = session.get("plan")
    version = plan.get("version", "drafted") if isinstance(plan, Mapping) else "drafted"
    if version not in TEXT_VERSIONS:
        raise PlanError("session", tr("the version {version!r:.60}", version=version), tr(_UNCHANGED))
    return cast(TextVersion, version)


def rerun_plan(session: Mapping[str, Any], find: FindItems) -> dict[str, Any]:
    """Return the fields of a plan for the same texts, found in this database by their content.

    The scorers are missing, as the file has no names. Orders and sides are sampled again for the new scorers; the
    pairs are those that the same items make.

    :raises PlanError: the file lacks a field, or has something else in its place
    :raises NotFound: (of the store) a text is not the current version of any item here
    """
    try:
        plan = session["plan"]
        gold = {row["item"]: row for row in plan["gold"]}
        texts = {row["item"]: row["content_hash"] for row in session["items"]}
        people = any(row["source_kind"] == "person" for row in session["items"])
        kept = {name: plan[name] for name in _RERUN_FIELDS}
        kept |= {name: plan[name] for name in _RERUN_IF_THERE if name in plan}
        training = plan.get("training", [])
        if people and "analysis" in kept:
            kept["analysis"] = {**kept["analysis"], "first": None, "second": None}
        sources = [] if people else plan["sources"]
    except (KeyError, TypeError) as error:
        raise PlanError("session", tr("a file without {error}", error=error), tr(_UNCHANGED)) from None
    for text in texts.values():
        if not isinstance(text, str):
            raise PlanError("session", tr("the content_hash {text!r:.60}", text=text), tr(_UNCHANGED))
    version = session_version(session)
    here = find(texts.values())
    try:
        # Of both versions, an item has two texts.
        items = sorted({here[text] for number, text in texts.items() if number not in {*gold, *training}})
        trained = [here[texts[number]] for number in training]
        gold_items = [{**row, "item": here[texts[number]]} for number, row in gold.items()]
    except (KeyError, TypeError) as error:
        raise PlanError("session", tr("no item {error}", error=error), tr(_UNCHANGED)) from None
    return {
        **kept,
        "version": version,
        # A source that is a person has another name in the file.
        "sources": sources,
        "items": items,
        "gold": gold_items,
        "training": trained,
    }
