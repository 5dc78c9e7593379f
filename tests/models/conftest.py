"""Session fixtures: a real tiny model and a real vLLM; ``make test-models`` makes the Python environment."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.models.support.learned_traces import INSPECTED, inspected
from tests.models.support.real_server import ENDLESS, VllmServer, served
from tests.models.support.successors import ARCHITECTURES

CACHE = ROOT / ".cache"
SUPPORT = Path(__file__).with_name("support")
INPUTS = (SUPPORT / "tiny.py", ROOT / "training" / "miniature" / "model.py")
"""The files that define the tiny models; after a change of one, the models are made again."""


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """The trained tiny Qwen2.5-VL; kept in ``.cache`` until one of its inputs changes."""
    return _made("tiny")


@pytest.fixture(scope="session")
def random_model() -> Path:
    """The same model with its random initial weights."""
    return _made("random", "--random")


@pytest.fixture(scope="session")
def adapter(tiny_model: Path) -> Path:
    """A PEFT adapter with which the trained model never ends its first turn."""
    return _made("endless", "--adapter-of", str(tiny_model))


@pytest.fixture(scope="session")
def successors() -> dict[str, Path]:
    """The trained tiny models of the architectures after Qwen2.5-VL, by ``model_type``."""
    made = SUPPORT / "successors.py"
    return {name: _made(name, name, module="successors", inputs=(*INPUTS, made)) for name in ARCHITECTURES}


@pytest.fixture(scope="session")
def vllm_server(tiny_model: Path, adapter: Path) -> Iterator[VllmServer]:
    """A real vLLM, started and stopped by ``spec-o3 serve``, once per session."""
    _require("vllm")
    log = CACHE / f"vllm-{os.getpid()}.log"
    with served(tiny_model, log, "--adapter", f"{ENDLESS}={adapter}") as server:
        yield server


@pytest.fixture(scope="session")
def imported() -> None:
    """Import TRL without its warnings; it imports vLLM if that is installed. One thread, because the models are small,
    and because sums must be in the same order as in other processes.
    """
    _require("trl")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from trl import GRPOTrainer
    assert GRPOTrainer
    import torch

    torch.set_num_threads(1)


def _made(name: str, *options: str, module: str = "tiny", inputs: Sequence[Path] = INPUTS) -> Path:
    """Return the folder that a module of ``support`` made, now or earlier; its name ends with a hash of its inputs."""
    _require("torch", "transformers", "peft")
    sources = [file.read_text(encoding="utf-8") for file in inputs]
    texts = [text for key in INSPECTED for text in inspected(key).texts]
    digest = hashlib.sha256("\0".join(sources + texts).encode()).hexdigest()
    folder = CACHE / f"{name}-{digest[:12]}"
    CACHE.mkdir(exist_ok=True)
    # Two test workers may need the same model at the same time: the second waits for the first.
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            unfinished = CACHE / f"{name}-{os.getpid()}"
            command = [sys.executable, "-m", f"tests.models.support.{module}", unfinished, *options]
            subprocess.run(command, cwd=ROOT, check=True)
            for old in CACHE.glob(f"{name}-????????????"):
                shutil.rmtree(old)
            unfinished.rename(folder)
    return folder


def _require(*packages: str) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        pytest.skip(f"no {' and '.join(missing)} in this Python: run make test-models")
