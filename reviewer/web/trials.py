"""Evidence on trial for the page: what it needs of a stored trial, only for the version that was tried."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from agent.trajectory import Trajectory

StoredTrial = Mapping[str, Any]
"""A trial in its JSON form, ``agent.trial.report.Trial.to_json``."""

_SHARES = ("necessity", "sufficiency", "placebo", "still_claims")


def trial_of(trials: Sequence[StoredTrial], trajectory: Trajectory) -> StoredTrial | None:
    """Return the last trial of exactly this trajectory, None if there is none.

    :param trials: of the item, oldest first
    """
    if not trials:
        return None
    content_hash = trajectory.content_hash()
    return next((one for one in reversed(trials) if one["content_hash"] == content_hash), None)


def trial_json(trials: Sequence[StoredTrial], trajectory: Trajectory) -> dict[str, Any] | None:
    """Return the trial of this version for the page, or that only another version was tried; None without a trial."""
    if not trials:
        return None
    found = trial_of(trials, trajectory)
    if found is None:
        return {"of_this_version": False}
    drafter = found["drafter"]
    return {
        "of_this_version": True,
        "key": key_of(found),
        "drafter": {"kind": drafter.get("kind", ""), "name": drafter.get("name", "")},
        "seed": found["seed"],
        "passed": found["passed"],
        **{name: {"k": found[name]["k"], "n": found[name]["n"]} for name in _SHARES},
        "outcomes": [{**one, "number": number} for number, one in enumerate(found["outcomes"])],
        "skipped": list(found["skipped"]),
    }


def key_of(trial: StoredTrial) -> str:
    """Return a name for this trial that no other trial has: addresses of its pictures are cached without limit."""
    canonical = json.dumps(dict(trial), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:24]
