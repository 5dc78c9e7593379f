"""Validation while GRPO learns: greedy inspections of held-out questions, the best weights, and early stopping."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from training.data.records import Question
from training.grpo.round import RoundRunner
from training.grpo.settings import GrpoSettings
from training.model import Loaded, load, resolved, save, saved_state
from training.run import Run

BEST = "best"
"""The folder with the weights of the best validation, while the run is not finished."""
REWARD = "validation_reward"
"""Its key in the log."""
_STEP = "validation.json"


class Validation:
    """Inspects ``questions`` every ``validate_rounds`` rounds and after the last, and keeps the best weights.

    The history is in the run's log, so that a resumed run continues it.

    :param updates: optimizer steps per round
    """

    def __init__(
        self, settings: GrpoSettings, questions: Sequence[Question], runner: RoundRunner, run: Run, updates: int
    ) -> None:
        self._settings = settings
        self._questions = questions
        self._runner = runner
        self._run = run
        self._updates = updates
        self._rewards: list[float] = []

    @property
    def best(self) -> Path:
        return self._run.folder / BEST

    def callback(self, trainer: Any, loaded: Loaded) -> Any:
        """Return the callback of the trainer that runs the validations."""
        from transformers import TrainerCallback

        every = self._settings.validate_rounds * self._updates

        class OnStep(TrainerCallback):  # type: ignore[misc]
            def on_train_begin(_, args: Any, state: Any, control: Any, **__: Any) -> None:
                self._rewards = self._logged(state.global_step)
                if state.is_world_process_zero:
                    self._forget_after(state.global_step)
                if state.global_step == 0:
                    self._validate(trainer, loaded, 0)

            def on_step_end(_, args: Any, state: Any, control: Any, **__: Any) -> None:
                step = state.global_step
                if step % every == 0 or step == state.max_steps:
                    self._validate(trainer, loaded, step)
                    if self._hopeless():
                        control.should_training_stop = True

        return OnStep()

    def finish(self, folder: Path, merge: bool) -> None:
        """Move the best weights to ``folder``; with ``merge``, an adapter merged into its base."""
        if merge:
            # Under `full`, the start adapter is merged into its base.
            merged = replace(resolved(self._settings.model), adapter=str(self.best), method="full")
            save(load(merged), folder)
            shutil.rmtree(self.best)
            return
        (self.best / _STEP).unlink()
        shutil.rmtree(folder, ignore_errors=True)
        self.best.rename(folder)

    def _logged(self, step: int) -> list[float]:
        """Return the rewards of the validations up to ``step``, as the first process has them in its log."""
        from accelerate.utils import broadcast_object_list

        lines = [line for line in self._run.logged() if line["step"] <= step]
        (rewards,) = broadcast_object_list([[line[REWARD] for line in lines if REWARD in line]])
        return list(rewards)

    def _validate(self, trainer: Any, loaded: Loaded, step: int) -> None:
        numbers = self._runner.validate(self._questions, trainer.writer)
        reward = float(numbers["reward"] or 0.0)
        better = all(reward > other for other in self._rewards)
        self._rewards.append(reward)
        state = saved_state(trainer) if better else None
        if not trainer.is_world_process_zero():
            return
        named = {f"validation_{name}": value for name, value in numbers.items()}
        self._run.append({"step": step, "round": step // self._updates, **named})
        if better:
            save(loaded, self.best, state)
            (self.best / _STEP).write_text(json.dumps({"step": step, **numbers}) + "\n", "utf-8")

    def _hopeless(self) -> bool:
        """Whether the last ``patience`` validations brought no better reward."""
        since = len(self._rewards) - 1 - self._rewards.index(max(self._rewards))
        return self._settings.patience is not None and since >= self._settings.patience

    def _forget_after(self, step: int) -> None:
        """Delete weights that were saved after ``step``, which a resumed run repeats."""
        try:
            saved = json.loads((self.best / _STEP).read_text("utf-8"))["step"]
        except (OSError, ValueError, KeyError):
            saved = step + 1
        if saved > step:
            shutil.rmtree(self.best, ignore_errors=True)
