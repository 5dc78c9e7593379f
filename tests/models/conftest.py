"""A real model and a real vLLM for a session of tests: ``make test-models`` makes the Python for them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.models.support.learned_traces import INSPECTED, inspected
from tests.models.support.real_server import CONTEXT, ENDLESS, PATIENCE, TRAINED, VllmServer

HERE = Path(__file__).resolve().parent
ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
LEARNED = (HERE / "support" / "tiny.py", ROOT / "training" / "miniature" / "model.py")


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """The tiny Qwen2.5-VL that plays the game; trained once, and again after a change to what it learns."""
    return _made("tiny")


@pytest.fixture(scope="session")
def random_model() -> Path:
    """The same as it was before it learned anything."""
    return _made("random", "--random")


@pytest.fixture(scope="session")
def adapter(tiny_model: Path) -> Path:
    """A PEFT adapter with which the trained model never ends its first turn."""
    return _made("endless", "--adapter-of", str(tiny_model))


@pytest.fixture(scope="session")
def vllm_server(tiny_model: Path, adapter: Path) -> Iterator[VllmServer]:
    """A real vLLM, started by ``spec-o3 serve`` and ended with it."""
    _wants("vllm")
    log = CACHE / f"vllm-{os.getpid()}.log"
    line = [sys.executable, ROOT / "app.py", "serve", "--json", "--log", log, "--port", _free_port()]
    line += ["--model", tiny_model, "--name", TRAINED, "--adapter", f"{ENDLESS}={adapter}"]
    line += ["--context", CONTEXT, "--", "--enable-prompt-tokens-details"]
    # A small cache, so that it starts on a laptop; nothing is asked of the network.
    variables = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(list(map(str, line)), env=variables, stdout=subprocess.PIPE, text=True) as serve:
        assert serve.stdout is not None
        try:
            told = serve.stdout.readline()
            assert told, f"vLLM did not start; its log is {log}"
            yield VllmServer(json.loads(told))
        finally:
            serve.send_signal(signal.SIGTERM)
        assert serve.wait(PATIENCE) == 0
    assert not Path(f"/proc/{json.loads(told)['pid']}").exists(), "spec-o3 serve left its server behind"


def _made(name: str, *options: str) -> Path:
    """What ``tiny.py`` makes, now or earlier; the folder's name ends with a hash of what decides it."""
    _wants("torch", "transformers", "peft")
    sources = [file.read_text(encoding="utf-8") for file in LEARNED]
    texts = [text for key in INSPECTED for text in inspected(key).texts]
    digest = hashlib.sha256("\0".join(sources + texts).encode()).hexdigest()
    folder = CACHE / f"{name}-{digest[:12]}"
    if not folder.is_dir():
        unfinished = CACHE / f"{name}-{os.getpid()}"
        subprocess.run([sys.executable, "-m", "tests.models.support.tiny", unfinished, *options], cwd=ROOT, check=True)
        # Another session may have made the same meanwhile.
        with suppress(OSError):
            unfinished.rename(folder)
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def _wants(*packages: str) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        pytest.skip(f"no {' and '.join(missing)} in this Python: run make test-models")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
