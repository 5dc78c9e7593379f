"""The finished nano model as a folder: float16 weights, settings of the numpy runtime, and a model card with scores."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.json_lines import write_atomic
from agent.policies.nano.folder import ABSTAIN, CONFIG, GENERATION
from agent.simulate import CLASSES
from agent.tables import markdown_table
from training.environment import environment
from training.model_card.card import write
from training.model_card.facts import curve, made_here
from training.nano.scoring import Judged, counts
from training.nano.teacher import Arm
from training.settings import ModelSettings

LICENCE = "apache-2.0"
"""Of weights that began as random numbers of this program: that of the program."""
LEAST_F1 = 0.7
"""A task with less F1 on simulated spectra is left to a person."""
CONFUSIONS = 15
"""Confused kinds that the card lists."""
SCORES = "scores.json"
ARM_NAMES: Mapping[Arm, str] = {"picture": "pictures alone", "measure": "with `measure`"}


def save(model: Path, folder: Path, version: str) -> None:
    """Write the weights of a stage as the program runs them: what ``--policy nano --model`` and transformers load.

    :raises ModelError: the weights cannot be loaded
    """
    from training.model import load
    from training.model import save as save_model

    save_model(load(ModelSettings(name=str(model), frozen=(), dtype="float16")), folder)
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    _write(folder / CONFIG, config | {"torch_dtype": "float16"})
    settings = json.loads((folder / GENERATION).read_text("utf-8"))
    # The numpy runtime and transformers then choose the same tokens: the most likely ones, without a penalty.
    settings |= {"do_sample": False, "repetition_penalty": 1.0}
    settings.pop("temperature", None)
    _write(folder / GENERATION, settings)
    _write(folder / ABSTAIN, {"version": version, "tasks": list(CLASSES), "abstain": {}, "measure": True})


def finish(
    folder: Path,
    version: str,
    judged: Mapping[Arm, Sequence[Judged]],
    settings: Mapping[str, Any],
    log: Path,
) -> None:
    """Write the model card, the scores, and which tasks are left to a person.

    :param judged: answers to simulated test spectra, for the card and the tasks that do not pass
    :param settings: with which it was trained; ``log``: of the steps of its cold start
    """
    failed = {
        task: f"for this class its F1 on simulated spectra is {counted.f1 or 0.0:.2f}, below {LEAST_F1}"
        for task in CLASSES
        if ((counted := counts(judged["measure"], task)).f1 or 0.0) < LEAST_F1
    }
    _write(folder / ABSTAIN, {"version": version, "tasks": list(CLASSES), "abstain": failed, "measure": True})
    _write(folder / SCORES, {"simulated": True, "arms": {arm: scores(some) for arm, some in judged.items()}})
    more = {
        "license": LICENCE,
        "settings": settings,
        "environments": [environment()],
        "curve": curve([json.loads(line) for line in log.read_text("utf-8").splitlines()]),
        "about": about(version, judged, failed),
    }
    write(folder, made_here("nano", "nano", **more))


def scores(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return F1 and counts per task as plain values."""
    counted = {task: counts(judged, task) for task in CLASSES}
    return {
        "questions": len(judged),
        "unanswered": sum(answer.verdict is None for answer in judged),
        "tasks": {
            task: {"f1": answer.f1, "n": answer.n, "hit": answer.hit, "false": answer.false}
            for task, answer in counted.items()
        },
    }


def about(version: str, judged: Mapping[Arm, Sequence[Judged]], failed: Mapping[str, str]) -> str:
    """Return the sections of the model card about what it is and its scores on simulated test spectra."""
    rows = []
    for task in CLASSES:
        counted = {arm: counts(some, task) for arm, some in judged.items()}
        f1 = ["–" if answer.f1 is None else f"{100 * answer.f1:.1f}" for answer in counted.values()]
        rows.append([task, str(counted["measure"].n), *f1, failed.get(task, "")])
    some = judged["measure"]
    wrong = Counter((answer.task, answer.kind, str(answer.verdict)) for answer in some if not answer.right)
    confused = [[task, kind, verdict, str(number)] for (task, kind, verdict), number in wrong.most_common(CONFUSIONS)]
    sure = [
        [f"{low:g} to {high:g}" if high < 99 else f"above {low:g}", str(len(kept)), _share(kept)]
        for low, high in ((0, 1), (1, 2), (2, 4), (4, 99))
        if (kept := [answer for answer in some if low <= abs(answer.log_odds) < high])
    ]
    columns = ["task", "spectra", *(f"F1, {ARM_NAMES[arm]}" for arm in judged), "left to a person because"]
    return (
        f"## Nano model, version {version}\n\n"
        "A Qwen2.5-VL of a few million parameters for the eight classes of this program. It was trained from random "
        "weights by `spec-o3 nano` on simulated spectra and on template spectra of real stars with simulated noise. "
        "Its teacher is a script that measures as the rule-based baseline does and answers by its rule: the model can "
        "become as good as that rule, and it writes only sentences of the script. It looks at windows of the spectrum, "
        "or asks the `measure` tool, which the program offers it. All settings and the figures on real spectra are in "
        "`docs/nano.md`.\n\n"
        f"## Simulated test spectra\n\n{len(some)} that were not trained on; percent.\n\n"
        f"{markdown_table(columns, rows)}\n\n"
        f"## Confused kinds, with `measure`\n\n{markdown_table(['task', 'kind', 'answer', 'number'], confused)}\n\n"
        "## Log odds and right answers, with `measure`\n\nHow often the answer is right, by the distance of its log "
        f"odds from 0.\n\n{markdown_table(['distance', 'answers', 'right'], sure)}\n"
    )


def _share(some: Sequence[Judged]) -> str:
    return f"{100 * sum(judged.right for judged in some) / len(some):.1f} %"


def _write(path: Path, values: dict[str, Any]) -> None:
    write_atomic(path, json.dumps(values, ensure_ascii=False, indent=2) + "\n")
