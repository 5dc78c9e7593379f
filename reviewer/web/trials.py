"""Evidence on trial for the page: what it needs of a recorded trial, only for the version that was tried."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from reviewer.store import StoredTrial

_SHARES = ("necessity", "sufficiency", "placebo", "still_claims")


def trial_of(trials: Sequence[StoredTrial], content_hash: str) -> Mapping[str, Any] | None:
    """Return the last trial of the text with this content hash, ``agent.trial.report.Trial.to_json``; None without one.

    :param trials: of the item, oldest first
    """
    return next((one.result for one in reversed(trials) if one.result["content_hash"] == content_hash), None)


def trial_json(trials: Sequence[StoredTrial], content_hash: str) -> dict[str, Any] | None:
    """Return the trial of this text for the page; that only another text was tried; or None without any trial."""
    if not trials:
        return None
    found = trial_of(trials, content_hash)
    return {"of_this_version": False} if found is None else result_json(found)


def result_json(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page needs of a trial. Each outcome has its number, by which its picture is requested."""
    drafter = result["drafter"]
    return {
        "of_this_version": True,
        "key": key_of(result),
        "drafter": {"kind": drafter.get("kind", ""), "name": drafter.get("name", "")},
        "seed": result["seed"],
        "passed": result["passed"],
        **{name: {"k": result[name]["k"], "n": result[name]["n"]} for name in _SHARES},
        "outcomes": [{**one, "number": number} for number, one in enumerate(result["outcomes"])],
        "skipped": list(result["skipped"]),
    }


def key_of(result: Mapping[str, Any]) -> str:
    """Return a name that no other trial has: the addresses of its pictures are cached without limit."""
    canonical = json.dumps(dict(result), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:24]
