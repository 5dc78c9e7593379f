"""Scoring the same items once more: from a report's ``session.json`` to a plan for this database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from agent.text import OneLine
from reviewer.blind.fields import PlanError
from reviewer.blind.report.tables import SESSION_FORMAT

Find = Callable[[Iterable[str]], Mapping[str, int]]
"""From content hashes to the items whose current text they are; the store's ``items_by_content``."""

_KEPT = ("name", "mode", "each", "repeats", "seed")


class NotASession(OneLine):
    """A file that is no ``session.json``: what was found."""


def read(path: Path) -> Mapping[str, Any]:
    """The file's content. :raises NotASession: it cannot be read, or is something else"""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotASession(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise NotASession(f"{path}: found no JSON ({error}), wanted a report's session.json") from error
    if not isinstance(data, Mapping) or data.get("format") != SESSION_FORMAT:
        raise NotASession(f"{path}: found no {SESSION_FORMAT!r}, wanted a report's session.json")
    return data


def plan_data(session: Mapping[str, Any], find: Find) -> dict[str, Any]:
    """The fields of a plan for the same texts, found in this database by their content; its scorers are
    missing, as the file has no names.

    Orders and sides are drawn anew for the new scorers; the pairs are those that the same items make.

    :raises PlanError: the file lacks a field, or has something else in its place
    :raises NotFound: (of the store) a text is not here as an item's current version
    """
    try:
        plan = session["plan"]
        gold = {one["item"]: one for one in plan["gold"]}
        texts = {one["item"]: one["content_hash"] for one in session["items"]}
        people = any(one["source_kind"] == "person" for one in session["items"])
        kept = {name: plan[name] for name in _KEPT}
        sources = [] if people else plan["sources"]
    except (KeyError, TypeError) as error:
        raise PlanError("session", f"a file without {error}", "a report's session.json as it was") from None
    for text in texts.values():
        if not isinstance(text, str):
            raise PlanError("session", f"the content_hash {text!r:.60}", "a report's session.json as it was")
    here = find(texts.values())
    try:
        drawn = sorted(here[text] for number, text in texts.items() if number not in gold)
        golden = [{**one, "item": here[texts[number]]} for number, one in gold.items()]
    except (KeyError, TypeError) as error:
        raise PlanError("session", f"no item {error}", "a report's session.json as it was") from None
    return {
        **kept,
        # A source that is a person goes by another name in the file.
        "sources": sources,
        "items": drawn,
        "gold": golden,
    }
