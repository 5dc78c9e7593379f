"""vLLM's log, read line by line: progress, memory figures, and why a server ended.

The patterns are from vLLM 0.32. A line that reads otherwise is skipped, and its figure is then not reported.
"""

from __future__ import annotations

import re
from collections import deque

from agent.language import deferred, tr

_CAUSES = (
    (
        re.compile(r"less than desired GPU memory utilization \(([\d.]+), ([\d.]+) GiB\)"),
        deferred(
            "too little GPU memory is free: --memory {0} needs {1} GiB, and another program uses some of it "
            "(nvidia-smi names it); end that one, or request less with --memory"
        ),
    ),
    (
        re.compile(
            r"To serve at least one request .*?\((\d+)\)[^(]*\(([\d.]+) GiB KV cache is needed"
            r".*?memory \(([\d.]+) GiB\).*?maximum model length is (\d+)"
        ),
        deferred(
            "one conversation of {0} tokens needs {1} GiB of cache, and {2} GiB are left; --context {3} is the "
            "most that fits"
        ),
    ),
    (
        re.compile(
            r"To serve at least one request .*?\((\d+)\)[^(]*\(([\d.]+) GiB KV cache is needed"
            r".*?memory \(([\d.]+) GiB\)"
        ),
        deferred(
            "one conversation of {0} tokens needs {1} GiB of cache, and {2} GiB are left; a smaller --context or fewer "
            "--sequences need less"
        ),
    ),
    (
        re.compile(r"No available memory for the cache blocks"),
        deferred(
            "after the weights no memory is left for the cache; give more with --memory (at most about 0.95), "
            "end other programs on the GPU, or serve a smaller model"
        ),
    ),
    (
        re.compile(r"CUDA out of memory|OutOfMemoryError|not enough GPU memory|CUDA error: out of memory"),
        deferred(
            "the GPU ran out of memory; end other programs on it (nvidia-smi names them), or serve a smaller "
            "model; a smaller --context or fewer --sequences need less"
        ),
    ),
    (
        re.compile(r"Available memory on node .*? is less than requested memory for kv"),
        deferred("too little main memory is free for the cache; set VLLM_CPU_KVCACHE_SPACE to fewer GiB"),
    ),
    (
        re.compile(
            r"max_model_len \((\d+)\) is greater than the derived max_model_len \(max_position_embeddings=(\d+)"
        ),
        deferred("--context {0} is longer than the model supports; --context {1} is the most"),
    ),
    (
        re.compile(r"[Aa]ddress already in use"),
        deferred("the port is taken by another program; choose one with --port"),
    ),
    (
        re.compile(r"gated repo|GatedRepoError|Access to model \S+ is restricted"),
        deferred("the model is gated: accept its terms on its Hugging Face page, then `hf auth login`"),
    ),
    (
        re.compile(
            r"RepositoryNotFoundError|is not a valid model identifier|Repo id must be in the form|"
            r"Invalid repository ID or local directory"
        ),
        deferred(
            "no such model: found neither a folder with a config.json nor a model of that name on Hugging Face "
            "(a private one needs `hf auth login`)"
        ),
    ),
    (
        re.compile(
            r"couldn't connect to '?https://|OfflineModeIsEnabled|LocalEntryNotFoundError|"
            r"Temporary failure in name resolution|outgoing traffic has been disabled"
        ),
        deferred(
            "the model is not on this machine and Hugging Face cannot be reached; fetch it where there is "
            "network (`hf download NAME --local-dir FOLDER`) and serve the folder"
        ),
    ),
    (re.compile(r"No space left on device"), deferred("the disk is full; models are downloaded to HF_HOME")),
    (
        re.compile(
            r"Failed to infer device type|found no NVIDIA driver|No CUDA GPUs are available|"
            r"NVIDIA driver on your system is too old"
        ),
        deferred(
            "vLLM found no GPU that it can use (nvidia-smi should list one, with a recent driver); without a GPU "
            "it takes vLLM's build for the CPU"
        ),
    ),
    (re.compile(r"Bfloat16 is only supported on GPUs"), deferred("this GPU does not support bfloat16; --dtype half")),
    (
        re.compile(r"number of available GPUs|Not enough GPUs|local_rank .*? out of bounds|invalid device ordinal"),
        deferred("there are fewer GPUs than requested; fewer with --data-parallel"),
    ),
    (
        re.compile(r"SafetensorError|HeaderTooLarge|MetadataIncompleteBuffer|Error while deserializing header"),
        deferred("the model's weights are damaged or cut short; fetch them again"),
    ),
    (
        re.compile(
            r"Unrecognized model in|should have a `model_type`|does not recognize this architecture|"
            r"Model architectures .*? (?:are not supported|failed to be inspected)"
        ),
        deferred("the model's config.json names no architecture that this vLLM knows; expected a Qwen2.5-VL model"),
    ),
    (
        re.compile(r"No adapter found for|Loading lora \S+ failed"),
        deferred("an adapter cannot be loaded; --adapter wants NAME=FOLDER, the folder as PEFT saves it"),
    ),
    (re.compile(r"error: (unrecognized arguments: .*|argument .*)"), deferred("vLLM refuses an argument: {0}")),
    (re.compile(r"No module named '([\w.]+)'"), deferred("its Python lacks the module {0}; install vLLM again")),
)
_KILLED = deferred(
    "it was killed from outside; Linux does that when main memory runs out. A smaller model needs less, and "
    "on the CPU a smaller VLLM_CPU_KVCACHE_SPACE"
)
_ERROR = re.compile(r"\b\w*(?:Error|Exception)\b: ")


def cause(log: str, status: int | None) -> str:
    """Return why it ended and what to do, as one sentence.

    :param log: the end of its log, long enough to hold every process's traceback
    :param status: its exit status, negative for a signal, as ``subprocess`` gives it
    """
    for pattern, message in _CAUSES:
        if match := pattern.search(log):
            return tr(message).format(*match.groups())
    if status == -9:
        return tr(_KILLED)
    lines = log.splitlines()
    errors = [line for line in lines if _ERROR.search(line)]
    return tr("vLLM's message: {line}", line=(errors or lines or [tr("none")])[-1])


KEPT = 2000  # last lines, searched for the cause of an end

_ENGINE = re.compile(r"^\(\w+ pid=\d+\)")
_MARKS = re.compile(r"^(?:\(\w+ pid=\d+\) )?(?:[A-Z]+ [\d-]+ [\d:]+ \[[^\]]*\] )?")
_WEIGHTS = re.compile(r"Model loading took ([\d.]+) (?:GiB|GB)(?: memory)? and ([\d.]+) seconds")
_READ = re.compile(r"Loading weights took ([\d.]+) seconds")
_LEFT = re.compile(r"Available KV cache memory: ([\d.]+) GiB|Explicitly set \(([\d.]+)/[\d.]+\) ?GiB for KV")
_TOKENS = re.compile(r"KV cache size: ([\d,]+) tokens")
_PASSED_ON = re.compile(
    r"Resolved architecture: \S+|Loading safetensors checkpoint shards: +\d+%.*?\| \d+/\d+|"
    r"torch\.compile (?:takes|took) [\d.]+ ?s|Graph capturing finished in [\d.]+ secs?"
)


class VllmLog:
    """The figures in the log so far.

    ``weights`` and ``cache`` are GiB per engine, ``tokens`` the capacity of the caches of all engines; None if not
    logged yet.
    """

    def __init__(self) -> None:
        self.weights: float | None = None
        self.cache: float | None = None
        self._tokens: dict[str, int] = {}
        self._tail: deque[str] = deque(maxlen=KEPT)

    @property
    def tokens(self) -> int | None:
        return sum(self._tokens.values()) if self._tokens else None

    @property
    def last(self) -> str:
        """The last line that is not empty, without process, time and place."""
        words = (_MARKS.sub("", line).strip() for line in reversed(self._tail))
        return next(filter(None, words), "")

    def read(self, line: str) -> str | None:
        """Read a line; return what to report of it, if anything."""
        line = line.strip()
        if not line:
            return None
        self._tail.append(line)
        if match := _WEIGHTS.search(line):
            self.weights = float(match[1])
            return tr("weights loaded: {size} GiB in {seconds:.1f} s", size=match[1], seconds=float(match[2]))
        if match := _READ.search(line):
            return tr("weights read in {seconds:.1f} s", seconds=float(match[1]))
        if match := _LEFT.search(line):
            self.cache = float(match[1] or match[2])
            return tr("memory for the cache: {size:g} GiB", size=self.cache)
        if match := _TOKENS.search(line):
            engine = _ENGINE.match(line)
            self._tokens[engine[0] if engine else ""] = int(match[1].replace(",", ""))
            return tr("the cache holds {tokens} tokens", tokens=match[1])
        match = _PASSED_ON.search(line)
        return match[0] if match else None

    def why(self, status: int | None) -> str:
        """Return why the server ended, and what to do. ``status`` is its exit status, negative for a signal."""
        return cause("\n".join(self._tail), status)
