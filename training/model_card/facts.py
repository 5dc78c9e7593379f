"""The facts of a model card: plain values from the files of a finished run, without paths and without names of people.

``card.json`` has them next to the weights, so that a card can be renewed where the run is no longer there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.errors import Refusal
from agent.json_lines import write_atomic
from agent.language import tr
from agent.settings_file import parse_yaml
from training.run import ENVIRONMENT, LINEAGE, SETTINGS, Run

FACTS = "card.json"
SCHEMA = "spec-o3/model-card/1"
ADAPTER = "adapter_config.json"

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_MACHINES = ("host",)
"""Settings that name a machine."""
_OF_DATA = ("kind", "rows", "sources", "classes", "surveys", "simulated")


class CardError(Refusal, ValueError):
    """A card that cannot be made: which folder or file, what was found, what was expected."""


def made_here(kind: str, name: str, **more: Any) -> dict[str, Any]:
    """Return the facts of a model that has no base; ``more`` are those that are known."""
    known = {"base": "", "adapter": False, "stages": [], "data": None, "settings": None, "environments": []}
    return {"schema": SCHEMA, "kind": kind, "name": name, **known, "curve": {}, "scores": [], **more}


def facts_of(run: Run) -> dict[str, Any]:
    """Return the facts of a finished run.

    :raises CardError: there is no finished run, or one of its files is damaged
    """
    if not (run.folder / LINEAGE).is_file():
        raise CardError(
            tr(
                "{folder}: found no {lineage}, expected the folder of a training run or its model",
                folder=run.folder,
                lineage=LINEAGE,
            )
        )
    if not run.finished:
        raise CardError(
            tr(
                "{folder}: found an unfinished training run, without {name}/: the same command continues it",
                folder=run.folder,
                name=run.model.name,
            )
        )
    stages = _read(run.folder / LINEAGE)
    base = str(stages[0].get("name", "")) if stages else ""
    return {
        "schema": SCHEMA,
        "kind": str(stages[-1].get("kind")),
        "name": run.folder.resolve().name,
        "base": base if is_hub_name(base) else "",
        "adapter": (run.model / ADAPTER).is_file(),
        "stages": [_stage(stage) for stage in stages],
        "data": _data(run.folder / "data_card.json"),
        "settings": without_paths(parse_yaml((run.folder / SETTINGS).read_text("utf-8"))),
        "environments": _read(run.folder / ENVIRONMENT),
        "curve": curve(run.logged()),
        "scores": [],
    }


def read_facts(folder: Path) -> dict[str, Any] | None:
    """Return the facts in a model's folder; None if there are none. :raises CardError: they are damaged"""
    file = folder / FACTS
    if not file.is_file():
        return None
    facts = _read(file)
    if not isinstance(facts, dict) or facts.get("schema") != SCHEMA:
        raise CardError(tr("{file}: schema: found another one or none, expected {schema!r}", file=file, schema=SCHEMA))
    return facts


def write_facts(folder: Path, facts: Mapping[str, Any]) -> None:
    """:raises JournalError: it cannot be written"""
    write_atomic(folder / FACTS, json.dumps(facts, ensure_ascii=False, indent=1) + "\n")


def is_hub_name(name: str) -> bool:
    """Return whether this is the name of a repository on the hub, and of no folder here."""
    return _HUB_NAME.fullmatch(name) is not None and not Path(name).exists()


def without_paths(value: Any) -> Any:
    """Return settings in which each path has only its last part, and without the names of other machines."""
    if isinstance(value, Mapping):
        return {key: without_paths(inner) for key, inner in value.items() if key not in _MACHINES}
    if isinstance(value, list | tuple):
        return [without_paths(inner) for inner in value]
    if isinstance(value, str) and ("/" in value or "\\" in value) and not is_hub_name(value):
        return re.split(r"[/\\]", value.rstrip("/\\"))[-1]
    return value


def curve(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summarise a log: number of steps, first and last value of what was learned, best validation."""
    values_of: dict[str, Any] = {"steps": max((int(line["step"]) for line in lines if "step" in line), default=0)}
    for name in ("loss", "reward"):
        values = [line[name] for line in lines if line.get(name) is not None]
        if values:
            values_of[name] = {"first": values[0], "last": values[-1]}
    for name, best in (("eval_loss", min), ("validation_reward", max)):
        measured = [line for line in lines if line.get(name) is not None]
        if measured:
            # Of equal ones the first, whose weights are kept.
            best_line = best(measured, key=lambda line: float(line[name]))
            values_of[name] = {"best": best_line[name], "step": best_line["step"], "times": len(measured)}
            if best_line.get("validation_f1") is not None:
                values_of[name]["f1"] = best_line["validation_f1"]
    return values_of


def _stage(stage: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = without_paths(stage)
    # The folder of a run can have the form of a name on the hub: runs/sft.
    return plain if plain.get("kind") == "base" else plain | {"name": Path(str(stage.get("name"))).name}


def _data(file: Path) -> dict[str, Any] | None:
    """Return what the data card counts, without the rows that it names."""
    if not file.is_file():
        return None
    card = _read(file)
    data = {name: card.get(name) for name in _OF_DATA}
    data["left_out"] = [{"reason": row["reason"], "rows": row["rows"]} for row in card.get("dropped") or ()]
    if trajectories := card.get("trajectories"):
        data |= {"calls": trajectories.get("calls"), "drafters": trajectories.get("drafters")}
    return data


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise CardError(f"{file}: {error.strerror or error}") from error
    except ValueError as error:
        raise CardError(tr("{file}: found no JSON, expected a file of a training run", file=file)) from error
