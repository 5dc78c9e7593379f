"""Who is asked, as a row of the table names it: a server's model, the baseline, or the model of one of our
training runs with the stages that it has been through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STAGES: Mapping[tuple[str, ...], str] = {
    (): "base",
    ("sft",): "SFT",
    ("grpo",): "RL without SFT",
    ("sft", "grpo"): "SFT + RL",
}
"""What the ablations of the paper call a model, by the runs that made it (``training.run.lineage``)."""
WITHOUT_TOOL = "without the tool"


@dataclass(frozen=True)
class Contender:
    """Weights to be loaded, what to call them, and how they came to be ("" where that is not known)."""

    name: str
    model: str
    adapter: str | None = None
    stage: str = ""


def contender(model: str, adapter: str | None = None) -> Contender:
    """The weights that ``--model`` means: those of a training run where it is one's folder.

    :raises ModelError: an adapter that does not name its base, or one on another
    """
    from training.model import resolved
    from training.run import lineage
    from training.settings import ModelSettings

    given = ModelSettings(model, adapter)
    found = resolved(given)
    runs = lineage(given)
    is_of_a_run = any(one.get("kind") != "base" for one in runs)
    # Of weights without a lineage nobody knows what they were trained on.
    name = Path(adapter or model).expanduser().name
    return Contender(name, found.name, found.adapter, stage(runs) if is_of_a_run else "")


def stage(runs: Sequence[Mapping[str, Any]]) -> str:
    """What the runs from the base to here amount to; a stage that was run twice counts once."""
    kinds = tuple(dict.fromkeys(str(one.get("kind")) for one in runs if one.get("kind") != "base"))
    return STAGES.get(kinds, " + ".join(kinds))


def called(name: str, stage: str, with_tool: bool) -> str:
    """The row's name: who, and in brackets what was done or left out."""
    said = ", ".join(filter(None, (stage, "" if with_tool else WITHOUT_TOOL)))
    return f"{name} ({said})" if said else name
