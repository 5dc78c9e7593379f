"""The finished nano model as a folder: float16 weights, settings of the numpy runtime, and a model card with scores."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.json_lines import write_atomic
from agent.policies.nano.folder import ABSTAIN, CONFIG, GENERATION
from agent.simulate import CLASSES
from agent.statistics import wilson
from agent.tables import markdown_table
from training.model_card.card import write
from training.model_card.facts import facts_of
from training.nano.scoring import Judged, counts
from training.run import Run
from training.settings import ModelSettings

LICENCE = "apache-2.0"
"""Of weights that began as random numbers of this program: that of the program."""
LEAST_F1 = 0.7
"""A task with less F1 on simulated spectra is left to a person."""
CONFUSIONS = 15
"""Confused kinds that the card lists."""
SCORES = "scores.json"


def package(model: Path, folder: Path, version: str, judged: Sequence[Judged]) -> None:
    """Write the folder from the weights of a stage: it is what ``--policy nano --model`` and transformers load.

    :param model: of a finished run
    :param judged: answers to simulated test questions, for the card and the tasks that do not pass
    :raises ModelError: the weights cannot be loaded
    :raises CardError: there is no finished run
    """
    from training.model import load, save

    save(load(ModelSettings(name=str(model), frozen=(), dtype="float16")), folder)
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    _write(folder / CONFIG, config | {"torch_dtype": "float16"})
    settings = json.loads((folder / GENERATION).read_text("utf-8"))
    # The numpy runtime and transformers then choose the same tokens: the most likely ones, without a penalty.
    settings |= {"do_sample": False, "repetition_penalty": 1.0}
    settings.pop("temperature", None)
    _write(folder / GENERATION, settings)
    failed = {
        task: f"for this class its F1 on simulated spectra is {counted.f1 or 0.0:.2f}, below {LEAST_F1}"
        for task in CLASSES
        if ((counted := counts(judged, task)).f1 or 0.0) < LEAST_F1
    }
    _write(folder / ABSTAIN, {"version": version, "tasks": list(CLASSES), "abstain": failed})
    _write(folder / SCORES, scores(judged))
    write(folder, _facts(Run(model.parent)) | {"about": about(version, judged, failed)})


def _facts(run: Run) -> dict[str, Any]:
    """Return the facts of the card: those of the stage, under the name of the finished model."""
    return facts_of(run) | {"kind": "nano", "name": "nano", "license": LICENCE}


def scores(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return F1 and counts per task as plain values."""
    counted = {task: counts(judged, task) for task in CLASSES}
    return {
        "simulated": True,
        "questions": len(judged),
        "unanswered": sum(answer.verdict is None for answer in judged),
        "tasks": {
            task: {"f1": answer.f1, "n": answer.n, "hit": answer.hit, "false": answer.false}
            for task, answer in counted.items()
        },
    }


def about(version: str, judged: Sequence[Judged], failed: dict[str, str]) -> str:
    """Return the sections of the model card about what it is and its scores on simulated test spectra."""
    rows = []
    for task in CLASSES:
        counted = counts(judged, task)
        right = counted.n - counted.false - counted.missed
        low, high = wilson(right / counted.n, counted.n) if counted.n else (0.0, 1.0)
        f1 = "–" if counted.f1 is None else f"{100 * counted.f1:.1f}"
        accuracy = f"{100 * right / max(counted.n, 1):.1f} ({100 * low:.1f} to {100 * high:.1f})"
        rows.append([task, str(counted.n), f1, accuracy, failed.get(task, "")])
    wrong = Counter(
        (answer.question.task.key, str(answer.question.spectrum().meta["kind"]), str(answer.verdict))
        for answer in judged
        if not answer.right
    ).most_common(CONFUSIONS)
    confused = [[task, kind, verdict, str(number)] for (task, kind, verdict), number in wrong]
    sure = [
        [f"{low:g} to {high:g}" if high < 99 else f"above {low:g}", str(len(some)), _share(some)]
        for low, high in ((0, 1), (1, 2), (2, 4), (4, 99))
        if (some := [answer for answer in judged if low <= abs(answer.log_odds) < high])
    ]
    return (
        f"## Nano model, version {version}\n\n"
        "A Qwen2.5-VL of a few million parameters for the eight classes of this program. It was trained from random "
        "weights by `spec-o3 nano`: SFT on traces that a script wrote about simulated spectra, then GRPO with the "
        "published reward. **It has seen no real spectrum**, and it writes only sentences of that script. Recipes, "
        "spectrographs and all settings are in `docs/nano.md`.\n\n"
        f"## Simulated test spectra\n\n{len(judged)} questions that were not trained on; percent, the accuracy with "
        "its 95 % Wilson interval.\n\n"
        f"{markdown_table(['task', 'questions', 'F1', 'accuracy', 'left to a person because'], rows)}\n\n"
        f"## Confused kinds\n\n{markdown_table(['task', 'kind', 'answer', 'number'], confused)}\n\n"
        "## Log odds and right answers\n\nHow often the answer is right, by the distance of its log odds from 0.\n\n"
        f"{markdown_table(['distance', 'answers', 'right'], sure)}\n"
    )


def _share(some: Sequence[Judged]) -> str:
    return f"{100 * sum(judged.right for judged in some) / len(some):.1f} %"


def _write(path: Path, values: dict[str, Any]) -> None:
    write_atomic(path, json.dumps(values, ensure_ascii=False, indent=2) + "\n")
