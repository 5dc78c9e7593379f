"""Evidence on trial for the page: what it needs of a trial, what the policy wrote, and pictures of edited windows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from agent import tool
from agent.language import tr
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trajectory.messages import png_of
from agent.trial.report import Trial, TrialError
from reviewer.store import NotFound

_SHARES = ("necessity", "sufficiency", "placebo", "still_claims", "sky_necessity", "sky_placebo")
_TEXTS = ("text_after", "text_before")


def result_json(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page needs of a trial. Texts and pictures are requested later, by the number of the outcome."""
    drafter = result["drafter"]
    return {
        "of_this_version": True,
        "key": key_of(result),
        "drafter": {"kind": drafter.get("kind", ""), "name": drafter.get("name", "")},
        "temperature": drafter.get("settings", {}).get("temperature") or None,
        "seed": result["seed"],
        "passed": result["passed"],
        **{name: {"k": result[name]["k"], "n": result[name]["n"]} for name in _SHARES if name in result},
        "outcomes": [_outcome_json(number, outcome) for number, outcome in enumerate(result["outcomes"])],
        "skipped": list(result["skipped"]),
    }


def _outcome_json(number: int, outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {"number": number} | {name: value for name, value in outcome.items() if name not in _TEXTS}


def edit_texts(result: Mapping[str, Any], number: int) -> dict[str, str]:
    """Return what the policy wrote after an edit, and without it. :raises NotFound: there is no such outcome"""
    if not 0 <= number < len(result["outcomes"]):
        raise NotFound(
            tr(
                "This trial has no outcome {number}; it has {n_result}, from 0.",
                number=number,
                n_result=len(result["outcomes"]),
            )
        )
    outcome = result["outcomes"][number]
    return {"after": outcome["text_after"], "before": outcome.get("text_before", "")}


def edited_window(
    result: Mapping[str, Any], number: int, trajectory: Trajectory, spectrum: Spectrum, task: Task
) -> bytes:
    """Edit the spectrum again and draw the window of the tool call, as the policy got it; return a PNG file.

    :raises NotFound: there is no such outcome, or the edit cannot be repeated here
    """
    # Not at the start of the app.
    from agent.trial.making import edited_again

    try:
        zoom, edited = edited_again(Trial.from_json(result), number, trajectory, spectrum, task)
    except TrialError as error:
        raise NotFound(str(error)) from error
    observation = tool.call(edited.spectrum, dict(zoom.arguments))
    if observation.image is None:
        raise NotFound(tr("The tool refused the window in the edited spectrum: {text}", text=observation.text))
    return png_of(observation.image)


def key_of(result: Mapping[str, Any]) -> str:
    """Return a name that no other trial has: the addresses of its pictures are cached without limit."""
    canonical = json.dumps(dict(result), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:24]
