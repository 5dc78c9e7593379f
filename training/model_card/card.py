"""Write and renew the model card: ``README.md`` next to the weights, and the facts that it is made from.

Text that a person wrote between the two marks of the card is kept when it is renewed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.json_lines import write_atomic
from agent.language import tr
from training.model_card.facts import CardError, facts_of, read_facts, write_facts
from training.model_card.scores import renewed
from training.model_card.text import BEGIN, END, card_text
from training.run import LINEAGE, Run

README, CERTIFICATE = "README.md", "certificate.json"


def renew(
    folder: Path,
    scores: Sequence[Mapping[str, Any]] = (),
    license: str | None = None,
    datasets: Sequence[str] = (),
) -> Path:
    """Write or renew the card of a finished run, or of the folder of a model that has its facts; return its path.

    :param folder: of a run, or of the model in it
    :param scores: to add; those already there stay, and one of the same name and data is replaced
    :param license: of the base model, where it is not known; it stays stated in later renewals
    :param datasets: names on the hub of the data; they stay as well
    :raises CardError: there is no finished model or no facts, or the card is one of another origin
    :raises JournalError: it cannot be written
    """
    model, facts = _facts(folder)
    facts["scores"] = renewed(facts["scores"], scores)
    if license is not None:
        facts["license"] = license
    if datasets:
        facts["datasets"] = sorted({*facts.get("datasets", ()), *datasets})
    return write(model, facts)


def write(model: Path, facts: Mapping[str, Any]) -> Path:
    """Write facts and card into the folder of a model; return the path of the card.

    :raises CardError: there is a card without the marks of a person's own text
    :raises JournalError: they cannot be written
    """
    own = _own_text(model / README)
    write_facts(model, facts)
    write_atomic(model / README, card_text(facts, own, _certificate(model)))
    return model / README


def _facts(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the folder of the model and its facts: from the run if it is here, with what was added to the card."""
    runs = [Run(folder), *([Run(folder.parent)] if Run(folder.parent).model.name == folder.name else [])]
    run = next((run for run in runs if (run.folder / LINEAGE).is_file()), None)
    if run is None:
        facts = read_facts(folder)
        if facts is None:
            raise CardError(
                tr("{folder}: found no training run and no model of one, expected one of the two", folder=folder)
            )
        return folder, facts
    facts = facts_of(run)
    before = read_facts(run.model) or {}
    return run.model, facts | {name: before[name] for name in ("scores", "license", "datasets") if name in before}


def _own_text(readme: Path) -> str:
    """Return the text between the marks. :raises CardError: a card without them, which would be lost"""
    if not readme.is_file():
        return ""
    text = readme.read_text("utf-8")
    _, begins, rest = text.partition(BEGIN)
    own, ends, _ = rest.partition(END)
    if not begins or not ends:
        raise CardError(
            tr(
                "{readme}: found a card without the marks of your own text ({begin} and {end}): move it, "
                "or put the text to keep between these two lines",
                readme=readme,
                begin=BEGIN,
                end=END,
            )
        )
    return own.strip()


def _certificate(model: Path) -> str:
    file = model / CERTIFICATE
    if not file.is_file():
        return "none"
    return f"`{CERTIFICATE}`, SHA-256 {hashlib.sha256(file.read_bytes()).hexdigest()}"
