"""Copy a log of another agent with what people decided about its traces: edited scores of Inspect, ``extra`` of ATIF.

An item knows the log and the trace that it was imported from by their names; an export of ours by the item's key.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.foreign import detect
from agent.foreign.inspect_log import run_name
from agent.language import tr
from reviewer.exchange.exports import ExportError, flush
from reviewer.exchange.item import review_of
from reviewer.exchange.logs_out import REVIEW, inspect_ai_or_refuse
from reviewer.store import QueueFilter, Store

SCORE = "review"
"""The score of Inspect whose edits are the decisions, in their order; its last value is the state of the item."""
_PAGE = 500


@dataclass(frozen=True)
class VerdictsWritten:
    """What a copy of a log has.

    :param items: whose review was written
    :param unmatched: names of traces of the log that no item has
    :param blind: traces left out, because the person scores their items in a blind session that is not closed
    """

    items: tuple[int, ...]
    unmatched: tuple[str, ...]
    blind: int


@dataclass
class _Reviews:
    """Finds the reviews of the traces of a log."""

    store: Store
    by_name: Mapping[str, Sequence[int]]
    hidden: frozenset[int]

    def __post_init__(self) -> None:
        self.items: list[int] = []
        self.unmatched: list[str] = []
        self.blind = 0

    def of(self, name: str, extra: object) -> list[dict[str, Any]]:
        """Return the reviews of the items of a trace.

        :param name: of the trace; the names of its parts begin with it
        :param extra: its extra data, which in an export of ours has the item's key
        """
        key = extra.get(REVIEW, {}).get("key") if isinstance(extra, Mapping) else None
        own = self.store.imported_comments.item_of_key(key) if isinstance(key, str) else None
        named = [item for other, items in self.by_name.items() if _is_of(other, name) for item in items]
        items = sorted({*named, *([] if own is None else [own])})
        shown = [item for item in items if item not in self.hidden]
        self.blind += len(items) - len(shown)
        if not items:
            self.unmatched.append(name)
        self.items += shown
        return [review_of(self.store, item) for item in shown]


def _is_of(name: str, trace: str) -> bool:
    return name == trace or name.startswith(f"{trace}, ")


def write_verdicts(store: Store, log: Path, out: Path, person: str | None = None) -> VerdictsWritten:
    """Write a copy of a log with the reviews of its traces; the log stays as it is.

    :param person: initials; what this person scores blind is left out
    :raises ExportError: the log has another format, ``out`` exists, or the extra ``inspect`` is missing
    :raises OSError: a file cannot be read or written
    """
    if not log.is_file():
        raise ExportError(tr("{path}: found no such file", path=log))
    if out.exists():
        raise ExportError(tr("{file}: the file exists; give another name", file=out))
    form = detect(log)
    writers: Mapping[str | None, Callable[[Path, Path, _Reviews], None]] = {"inspect": _inspect, "atif": _atif}
    if form not in writers:
        raise ExportError(
            tr("{path}: verdicts go back into logs of Inspect and ATIF only; `spec-o3 tables` has them all", path=log)
        )
    hidden = store.blind.scoring.hidden_items(person) if person is not None else frozenset[int]()
    reviews = _Reviews(store, _by_name(store, str(form)), hidden)
    handle, name = tempfile.mkstemp(prefix=f".{out.name}.", suffix=out.suffix, dir=out.parent)
    os.close(handle)
    try:
        writers[form](log, Path(name), reviews)
        os.chmod(name, 0o644)
        flush(Path(name))
        os.link(name, out)  # fails if it exists by now
    except FileExistsError as error:
        raise ExportError(tr("{file}: the file exists; give another name", file=out)) from error
    finally:
        with suppress(OSError):
            os.unlink(name)
    return VerdictsWritten(tuple(sorted(set(reviews.items))), tuple(reviews.unmatched), reviews.blind)


def _by_name(store: Store, form: str) -> dict[str, list[int]]:
    """Return the items that were imported from logs of this format, by the name of their trace."""
    by_name: dict[str, list[int]] = {}
    after = None
    while rows := store.queue.page(QueueFilter(), "", after, _PAGE).rows:
        for row in rows:
            settings = store.items.get(row.item_id).version.trajectory.drafter.settings
            if settings.get("format") == form and isinstance(settings.get("log"), str):
                by_name.setdefault(settings["log"], []).append(row.item_id)
        after = rows[-1].item_id
    return by_name


def _inspect(log: Path, out: Path, reviews: _Reviews) -> None:
    inspect_ai_or_refuse()
    from inspect_ai.log import ProvenanceData, edit_score, read_eval_log, write_eval_log
    from inspect_ai.scorer import ScoreEdit

    try:
        content = read_eval_log(str(log))
    except Exception as error:  # of many kinds: zip, JSON, pydantic
        raise ExportError(
            tr("{path}: found no log of Inspect ({name})", path=log, name=type(error).__name__)
        ) from error
    for sample in content.samples or ():
        for number, review in enumerate(reviews.of(run_name(log, sample.id, sample.epoch), sample.metadata)):
            score = f"{SCORE} {number + 1}" if number else SCORE
            # The decisions, then the outcome: the last edit is the value that Inspect shows.
            edits = [(d["verb"], d["person"], d["reason"], d) for d in review["decisions"]]
            outcome = {key: review[key] for key in ("item", "key", "version")}
            for value, author, reason, metadata in [*edits, (review["state"], "spec-o3", None, outcome)]:
                provenance = ProvenanceData(author=author, reason=reason or None)
                edit = ScoreEdit(value=value, answer=review["verdict"], metadata=metadata, provenance=provenance)
                edit_score(content, sample.id, score, edit, recompute_metrics=False, epoch=sample.epoch)
    write_eval_log(content, str(out))


def _atif(log: Path, out: Path, reviews: _Reviews) -> None:
    text = log.read_text(encoding="utf-8-sig")
    try:
        whole = json.loads(text)
        numbered = [(log.name, whole)]
    except ValueError:
        whole = None
        lines = enumerate(text.splitlines(), start=1)
        try:
            numbered = [(f"{log.name}, line {n}", json.loads(line)) for n, line in lines if line.strip()]
        except ValueError as error:
            raise ExportError(tr("{path}: found no JSON ({error})", path=log, error=error)) from error
    for name, trace in numbered:
        if not isinstance(trace, dict):
            raise ExportError(tr("{path}: found no trajectory in ATIF", path=log))
        given = trace.get("extra")
        extra: dict[str, Any] = given if isinstance(given, dict) else {}
        if of_trace := reviews.of(name, extra):
            trace["extra"] = {**extra, REVIEW: of_trace[0] if len(of_trace) == 1 else of_trace}
    if whole is not None:
        written = json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
    else:
        written = "".join(json.dumps(trace, ensure_ascii=False) + "\n" for _, trace in numbered)
    out.write_text(written, encoding="utf-8")
