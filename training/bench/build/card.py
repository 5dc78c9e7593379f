"""How a benchmark was made, beside it: ``build_TASK.json`` for programs, ``card_TASK.md`` for people.

The JSON also says which source is in which part, so that another task's benchmark in the same folder keeps
out of its test set what is in this one's training set.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

from agent.tasks import Task
from training.bench.build import Built, Part, Recipe, Taken
from training.data import DataError

SCHEMA = "spec-o3/bench-build/1"
PARTS: tuple[Part, ...] = get_args(Part)


def file_name(part: Part, task: str) -> str:
    return f"{part}_{task}.parquet"


def told(built: Built, recipe: Recipe, weak: Mapping[str, object]) -> dict[str, Any]:
    """Everything there is to say of how it was made, JSON values; nothing of when or where."""
    return {
        "schema": SCHEMA,
        "made_by": f"spec-o3 {version('spec-o3')}",
        "recipe": vars(recipe),
        "weak_classifier": dict(weak),
        "candidates": {
            "scored": built.looked,
            "accepted": built.accepted,
            "acceptance": built.acceptance,
            "all_looked_at": built.exhausted,
        },
        "left_out": dict(built.left_out),
        "left_out_examples": built.examples,
        "parts": {part: _part(built, part) for part in PARTS},
        "sources": {part: sorted(one.entry.source for one in built.part(part)) for part in PARTS},
    }


def placed(folder: Path, task: str) -> dict[str, Part]:
    """Which sources other tasks' builds in ``folder`` have in which part.

    :raises DataError: a build's JSON is damaged, or there is one of this task already
    """
    found: dict[str, Part] = {}
    for path in sorted(folder.glob("build_*.json")):
        if path.name == f"build_{task}.json":
            raise DataError(f"{path}: found a benchmark of this task, wanted a folder without one")
        try:
            sources = json.loads(path.read_text(encoding="utf-8"))["sources"]
            found |= {str(name): part for part in PARTS for name in sources[part]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}: found no build to be read ({error})") from error
    return found


def markdown(said: Mapping[str, Any], task: Task) -> str:
    """The card."""
    recipe, weak, candidates = said["recipe"], said["weak_classifier"], said["candidates"]
    lines = [
        f"# {task.title}: a benchmark made with `spec-o3 bench build`",
        "",
        f"{said['made_by']}, seed {recipe['seed']}. SpecVI-Bench's layout: "
        f"`data/{file_name('train', task.key)}` and `data/{file_name('test', task.key)}`.",
        "",
        "| part | YES | NO | of them hard | random | simulated | surveys |",
        "|---|---|---|---|---|---|---|",
    ]
    for part in PARTS:
        one = said["parts"][part]
        surveys = ", ".join(f"{name} {number}" for name, number in one["surveys"].items())
        lines.append(
            f"| {part} | {one['YES']} | {one['NO']} | {one['hard']} | {one['random']} | {one['simulated']} | "
            f"{surveys} |"
        )
    acceptance = candidates["acceptance"]
    rate = "" if acceptance is None else f", {100 * acceptance:.2f} %"
    lines += [
        "",
        f"- Positives: what the labels call YES, S/N {recipe['snr_min']:g} a pixel or more.",
        f"- Hard negatives: candidates to which the weak classifier gives P(YES) > {recipe['keep']:g}: "
        f"{candidates['accepted']} of {candidates['scored']} scored{rate}.",
        f"- Weak classifier: {_weak(weak)}.",
        "- A candidate that the labels do not mention counts as NO. Members of the class that the catalogue "
        "lacks are likely among the hard negatives; look at them before you believe a wrong YES.",
        "- No spectrum is in both parts: split by source, and one spectrum under two names is taken once. "
        "Two observations of one object are two spectra.",
    ]
    if said["parts"]["train"]["simulated"] or said["parts"]["test"]["simulated"]:
        lines.append("- **Simulated spectra are among these**, marked in `extra_info.simulated`.")
    lines += ["", "Left out:", ""]
    lines += [f"- {number}: {reason}" for reason, number in said["left_out"].items()] or ["- nothing"]
    return "\n".join(lines) + "\n"


def _part(built: Built, part: Part) -> dict[str, Any]:
    rows: list[Taken] = built.part(part)
    return {
        "YES": sum(one.label == "YES" for one in rows),
        "NO": built.negatives(part),
        "hard": sum(one.negative == "hard" for one in rows),
        "random": sum(one.negative == "random" for one in rows),
        "missing": built.missing(part),
        "simulated": sum(one.simulated for one in rows),
        "surveys": dict(sorted(Counter(one.survey for one in rows).items())),
    }


def _weak(weak: Mapping[str, Any]) -> str:
    if weak["kind"] == "predictions":
        return f"the predictions in {weak['file']} (SHA-256 {weak['sha256']})"
    of = weak["trained_on"]
    return (
        f"a small 1-D network trained on the {of['YES']} training positives against {of['NO']} random "
        f"candidates, which are set aside; F1 {weak['held_out_f1']:.3f} on the fifth it did not learn from"
    )
