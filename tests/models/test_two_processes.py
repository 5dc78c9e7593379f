"""Training in two processes (gloo, CPU): one is killed, the run is resumed, and equals one that was not interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.models.support.learned_set import asked, written
from training.environment import missing
from training.grpo.settings import GrpoSettings
from training.run import Run
from training.settings import ModelSettings, to_yaml
from training.sft import SftSettings

pytestmark = pytest.mark.skipif(missing() is not None, reason="no accelerate in this Python: run make test-models")
PATIENCE = 300
CLOCK = ("seconds", "seconds_writing", "seconds_drawing", "seconds_learning")

Settings = SftSettings | GrpoSettings


def sft(folder: Path, model: Path) -> SftSettings:
    data = written(folder / "set").parent
    return SftSettings(
        ModelSettings(str(model), dtype="float32"),
        str(folder / "run"),
        (str(data),),
        trajectories=2,
        epochs=4,
        batch_size=1,
        learning_rate=1e-3,
        save_steps=1,
        gradient_checkpointing=False,
    )


def grpo(folder: Path, model: Path) -> GrpoSettings:
    return GrpoSettings(
        ModelSettings(str(model), dtype="float32"),
        str(folder / "run"),
        (str(asked(folder / "questions.jsonl", ("cv", "cc"))),),
        # One question for two processes.
        validation=(str(asked(folder / "validation.jsonl", ("wd",))),),
        validate_rounds=1,
        prompts=2,
        rollouts=4,
        mini_batch=2,
        per_device=4,
        rounds=3,
        turn_tokens=100,
        response_tokens=800,
        learning_rate=1e-4,
        writing_batch=8,
        save_rounds=1,
        traces=0,
        gradient_checkpointing=False,
    )


@pytest.mark.parametrize(("kind", "given", "fixture"), [("sft", sft, "random_model"), ("grpo", grpo, "tiny_model")])
def test_a_run_whose_second_process_is_killed_resumes(
    kind: str,
    given: Callable[[Path, Path], Settings],
    fixture: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    settings = given(tmp_path, request.getfixturevalue(fixture))
    whole = replace(settings, output=f"{settings.output}-whole")
    assert launched(kind, whole).wait(PATIENCE) == 0
    run = Run(Path(settings.output))
    with launched(kind, settings) as launcher:
        wait_for(lambda: run.checkpoint() is not None, launcher)
        os.kill(processes_of(launcher)[1], signal.SIGKILL)
        # The launcher ends the first process, which would wait for ever.
        assert launcher.wait(PATIENCE) != 0
    assert not run.finished
    assert launched(kind, settings).wait(PATIENCE) == 0
    assert run.finished
    assert numbers(run) == numbers(Run(Path(whole.output)))
    weights = [(Run(Path(setting.output)).model / "model.safetensors").read_bytes() for setting in (settings, whole)]
    assert weights[0] == weights[1]


def launched(kind: str, settings: Settings, *options: str) -> subprocess.Popen[bytes]:
    config = Path(f"{settings.output}.yaml")
    config.write_text(to_yaml(settings), "utf-8")
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launcher, str(ROOT / "app.py"), kind, "--config", str(config), *options]
    return subprocess.Popen(
        command,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=Path(f"{settings.output}.err").open("ab"),
    )


def wait_for(condition: Callable[[], bool], launcher: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert launcher.poll() is None, "it ended before a checkpoint"
        assert time.monotonic() < end
        time.sleep(0.02)


def processes_of(launcher: subprocess.Popen[bytes]) -> list[int]:
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children").read_text()
    found = sorted(int(part) for part in children.split())
    assert len(found) == 2
    return found


def numbers(run: Run) -> list[dict[str, Any]]:
    """Return the lines of the log, without times: each step once."""
    return [{name: value for name, value in line.items() if name not in CLOCK} for line in run.logged()]
