"""Session fixtures: a real tiny model and a real vLLM; ``make test-models`` makes the Python environment."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.models.support.learned_traces import INSPECTED, inspected
from tests.models.support.real_server import CONTEXT, ENDLESS, PATIENCE, TRAINED, VllmServer
from tests.support.cli import free_port

CACHE = ROOT / ".cache"
INPUTS = (Path(__file__).with_name("support") / "tiny.py", ROOT / "training" / "miniature" / "model.py")
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
def vllm_server(tiny_model: Path, adapter: Path) -> Iterator[VllmServer]:
    """A real vLLM, started and stopped by ``spec-o3 serve``, once per session."""
    _require("vllm")
    log = CACHE / f"vllm-{os.getpid()}.log"
    line = [sys.executable, ROOT / "app.py", "serve", "--json", "--log", log, "--port", free_port()]
    line += ["--model", tiny_model, "--name", TRAINED, "--adapter", f"{ENDLESS}={adapter}"]
    line += ["--context", CONTEXT, "--", "--enable-prompt-tokens-details"]
    # A small cache, so that it starts on a laptop; no network access.
    variables = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(list(map(str, line)), env=variables, stdout=subprocess.PIPE, text=True) as serve:
        assert serve.stdout is not None
        try:
            facts = serve.stdout.readline()
            assert facts, f"vLLM did not start; its log is {log}"
            yield VllmServer(json.loads(facts))
        finally:
            serve.send_signal(signal.SIGTERM)
        assert serve.wait(PATIENCE) == 0
    assert not Path(f"/proc/{json.loads(facts)['pid']}").exists(), "spec-o3 serve left its server behind"


def _made(name: str, *options: str) -> Path:
    """Return the folder that ``tiny.py`` made, now or earlier; its name ends with a hash of its inputs."""
    _require("torch", "transformers", "peft")
    sources = [file.read_text(encoding="utf-8") for file in INPUTS]
    texts = [text for key in INSPECTED for text in inspected(key).texts]
    digest = hashlib.sha256("\0".join(sources + texts).encode()).hexdigest()
    folder = CACHE / f"{name}-{digest[:12]}"
    CACHE.mkdir(exist_ok=True)
    # Two test workers may need the same model at the same time: the second waits for the first.
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            unfinished = CACHE / f"{name}-{os.getpid()}"
            command = [sys.executable, "-m", "tests.models.support.tiny", unfinished, *options]
            subprocess.run(command, cwd=ROOT, check=True)
            for old in CACHE.glob(f"{name}-????????????"):
                shutil.rmtree(old)
            unfinished.rename(folder)
    return folder


def _require(*packages: str) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        pytest.skip(f"no {' and '.join(missing)} in this Python: run make test-models")
