"""The environment of a run: libraries, devices and the version of this program, without the name of the machine."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agent.language import tr

PACKAGES = (
    "spec-o3",
    "torch",
    "transformers",
    "trl",
    "peft",
    "accelerate",
    "datasets",
    "deepspeed",
    "flash-attn",
    "vllm",
    "numpy",
    "matplotlib",
    "pillow",
)


def environment() -> dict[str, Any]:
    """Return time, Python, versions of the libraries, commit of this program, devices and number of processes."""
    return {
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": _versions(),
        "commit": _commit(),
        "devices": _devices(),
        "processes": int(os.environ.get("WORLD_SIZE", "1")),
    }


def missing() -> str | None:
    """Return what training needs and this Python lacks; None if nothing."""
    packages = ("torch", "torchvision", "transformers", "trl", "peft", "datasets", "accelerate")
    absent = [package for package in packages if find_spec(package) is None]
    return tr("training needs {absent}: pip install 'spec-o3[train]'", absent=" and ".join(absent)) if absent else None


def vllm_missing(mode: str) -> str | None:
    """Return what generation in this ``vllm.mode`` needs and this Python lacks; None if nothing."""
    if mode == "none" or find_spec("vllm") is not None:
        return None
    return tr(
        "vllm.mode: found {mode}, but vLLM is not installed: pip install vllm, or generate with "
        "the trained model itself (--set vllm.mode=none)",
        mode=mode,
    )


def generation_problem(mode: str, trl: Mapping[str, object]) -> str | None:
    """Return why no turn can be generated in this ``vllm.mode`` as this process was launched; None if it can.

    FSDP keeps a part of the weights in each process and gathers them within a forward pass that all processes make
    together. The trained model generates in each process on its own, and not by the forward pass of the whole model.

    :param trl: further options of TRL, which may switch FSDP on as well
    """
    fsdp = os.environ.get("ACCELERATE_USE_FSDP", "false").lower() in ("true", "1", "yes", "y", "on") or trl.get("fsdp")
    if mode != "none" or not fsdp:
        return None
    return tr(
        "vllm.mode: found none under FSDP, where each process has only a part of the weights and cannot generate with "
        "them: generate with vLLM (--set vllm.mode=colocate), or launch with DeepSpeed (eight_gpus_zero3.yaml)"
    )


def quiet() -> None:
    """Switch off the libraries' own progress bars and reports; ours replace them."""
    from logging import ERROR, getLogger

    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    getLogger("huggingface_hub").setLevel(ERROR)


def is_first_process() -> bool:
    """Return whether this is the first process, which prints and writes."""
    return int(os.environ.get("RANK", "0")) == 0


def launch_problem() -> str | None:
    """Return why this process cannot train as it was started; None if it can."""
    import torch

    count = torch.cuda.device_count()
    if count < 2 or "LOCAL_RANK" in os.environ:
        return None
    return tr(
        "{count} GPUs are there and one process: start one per GPU with `accelerate launch`, or "
        "show this one a single GPU with CUDA_VISIBLE_DEVICES=0",
        count=count,
    )


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _commit() -> str | None:
    """Return the commit of the checkout of this program, with "-dirty" if it was edited; None without a checkout."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None
    line = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"]
    try:
        described = subprocess.run(line, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip() or None


def _devices() -> list[str]:
    try:
        import torch
    except ImportError:
        return []
    if not torch.cuda.is_available():
        return [f"CPU, {os.cpu_count()} cores"]
    return [
        f"{torch.cuda.get_device_name(n)}, {torch.cuda.get_device_properties(n).total_memory / 2**30:.0f} GiB"
        for n in range(torch.cuda.device_count())
    ]
