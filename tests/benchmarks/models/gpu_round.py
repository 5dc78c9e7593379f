"""A GRPO round on one GPU: a process of its own, started by ``gpu_figures``.

    python -m tests.benchmarks.models.gpu_round '{"scale": "tiny", "rollouts": 2, ...}'

It prints a row of ``COLUMNS`` as a line of JSON. A colocated vLLM can be made only once in a process, and gives its
memory back only at the end of it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from tests.benchmarks.models.published_sizes import NAME, SCALES, processor, write
from tests.benchmarks.models.scripted import forced, longest_end

if TYPE_CHECKING:
    from training.data.records import Question
    from training.grpo.settings import GrpoSettings

CONFIG = "grpo_qwen2_5_vl_3b_lora"
"""The settings for one GPU."""
COLUMNS = {
    "per group": "{}",
    "trajectories": "{}",
    "generate s": "{:.1f}",
    "draw s": "{:.1f}",
    "learn and sync s": "{:.1f}",
    "GPU s per trajectory": "{:.2f}",
    "turns": "{:.1f}",
    "written": "{:.0f}",
    "tokens": "{:.0f}",
}


@dataclass(frozen=True)
class Round:
    """What is measured: the second of two rounds.

    :param scale: key of ``SCALES``
    :param prompts: groups; an even number, because a round is learned from in two updates
    :param rollouts: trajectories per group
    :param zooms: tool calls per trajectory
    :param turn_tokens: tokens that the model writes in each turn
    :param folder: where the model is, or is written if it is not there yet, and where the run is written
    """

    scale: str
    prompts: int
    rollouts: int
    zooms: int
    turn_tokens: int
    folder: str


def main(text: str) -> None:
    with rows_output() as rows:
        rows.write(json.dumps(measured(Round(**json.loads(text)))) + "\n")


@contextmanager
def rows_output() -> Iterator[TextIO]:
    """Yield standard output for rows alone; all else that this process prints goes to standard error from now on.

    vLLM and TRL print to standard output, also when the process ends.
    """
    with os.fdopen(os.dup(1), "w", buffering=1) as output:
        os.dup2(2, 1)
        yield output


def measured(wanted: Round) -> list[Any]:
    """Run two rounds and return the cells of the second; see ``COLUMNS``."""
    from training.grpo.learning import arguments_of, trainer_of
    from training.grpo.settings import rounds
    from training.model import load
    from training.run import Run

    scale, folder = SCALES[wanted.scale], Path(wanted.folder)
    model = folder / NAME
    if not model.is_dir():
        write(scale, model, "cuda" if scale.text else "cpu")
    settings = settings_of(wanted, model)
    asked = questions(wanted.prompts)
    loaded = load(settings.model)
    run = Run(Path(settings.output))
    run.begin("grpo", settings, "new")
    arguments = arguments_of(settings, rounds(settings, len(asked)))
    trainer: Any = trainer_of(settings, loaded, asked, run, arguments)
    trainer.add_callback(run.callback())
    trainer.writer = writer = forced(trainer.writer, loaded.processor.tokenizer, wanted.turn_tokens, wanted.zooms)
    trainer.train()
    last = [line for line in run.logged() if "reward" in line][-1]
    trajectories = wanted.prompts * wanted.rollouts
    stages = [last[f"seconds_{stage}"] for stage in ("writing", "drawing", "learning")]
    return [
        *(wanted.rollouts, trajectories, *stages, sum(stages) / trajectories),
        *(last["turns"], writer.written / trajectories, last["tokens"]),
    ]


def settings_of(wanted: Round, model: Path) -> GrpoSettings:
    """Return the settings for one GPU, with what is measured.

    :param model: the folder of the model
    """
    from training.cli.common import config_file
    from training.grpo.settings import GrpoSettings
    from training.settings import read

    scale = SCALES[wanted.scale]
    turn = wanted.turn_tokens + longest_end(processor(scale).tokenizer, wanted.zooms)
    output = Path(wanted.folder) / f"run-{wanted.rollouts}"
    changes = [f"model.name={model}", f"output={output}", f"prompts={wanted.prompts}", f"rollouts={wanted.rollouts}"]
    changes += [f"mini_batch={wanted.prompts // 2}", "rounds=2", f"turn_tokens={turn}", "traces=0", "save_rounds=100"]
    if scale.text is None:
        changes += ["vllm.mode=none", "model.dtype=float32", "response_tokens=2000"]
    return read(config_file(CONFIG), GrpoSettings, changes)


def questions(number: int) -> list[Question]:
    """Return so many questions about different simulated spectra."""
    from tests.models.support.rollouts import question

    return [question("cv" if seed % 2 else "cc", seed) for seed in range(number)]


if __name__ == "__main__":
    main(sys.argv[1])
