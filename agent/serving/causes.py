"""Why a vLLM server ended: what it wrote, and what to do about it. The first that is found is told.

Seen in vLLM 0.32's own logs or sources. Where vLLM's last line is a summary ("Engine core initialization
failed"), the cause stands before it, so whoever looks gives the whole end of the log.
"""

from __future__ import annotations

import re

_SMALLER = "a smaller --context or fewer --sequences need less"

_CAUSES = (
    (
        r"less than desired GPU memory utilization \(([\d.]+), ([\d.]+) GiB\)",
        "too little GPU memory is free: --memory {0} asks for {1} GiB, and another program holds some of it "
        "(nvidia-smi names it); end that one, or ask for less with --memory",
    ),
    (
        r"To serve at least one request .*?\((\d+)\)[^(]*\(([\d.]+) GiB KV cache is needed"
        r".*?memory \(([\d.]+) GiB\).*?maximum model length is (\d+)",
        "one conversation of {0} tokens needs {1} GiB of cache, and {2} GiB are left; --context {3} is the "
        "most that fits",
    ),
    (
        r"To serve at least one request .*?\((\d+)\)[^(]*\(([\d.]+) GiB KV cache is needed"
        r".*?memory \(([\d.]+) GiB\)",
        "one conversation of {0} tokens needs {1} GiB of cache, and {2} GiB are left; " + _SMALLER,
    ),
    (
        r"No available memory for the cache blocks",
        "after the weights no memory is left for the cache; give more with --memory (at most about 0.95), "
        "end other programs on the GPU, or serve a smaller model",
    ),
    (
        r"CUDA out of memory|OutOfMemoryError|not enough GPU memory|CUDA error: out of memory",
        "the GPU ran out of memory; end other programs on it (nvidia-smi names them), or serve a smaller "
        "model; " + _SMALLER,
    ),
    (
        r"Available memory on node .*? is less than requested memory for kv",
        "too little main memory is free for the cache; set VLLM_CPU_KVCACHE_SPACE to fewer GiB",
    ),
    (
        r"max_model_len \((\d+)\) is greater than the derived max_model_len \(max_position_embeddings=(\d+)",
        "--context {0} is longer than the model was made for; --context {1} is the most",
    ),
    (r"[Aa]ddress already in use", "the port is taken by another program; choose one with --port"),
    (
        r"gated repo|GatedRepoError|Access to model \S+ is restricted",
        "the model is gated: accept its terms on its Hugging Face page, then `hf auth login`",
    ),
    (
        r"RepositoryNotFoundError|is not a valid model identifier|Repo id must be in the form|"
        r"Invalid repository ID or local directory",
        "no such model: found neither a folder with a config.json nor a model of that name on Hugging Face "
        "(a private one needs `hf auth login`)",
    ),
    (
        r"couldn't connect to '?https://|OfflineModeIsEnabled|LocalEntryNotFoundError|"
        r"Temporary failure in name resolution|outgoing traffic has been disabled",
        "the model is not on this machine and Hugging Face cannot be reached; fetch it where there is "
        "network (`hf download NAME --local-dir FOLDER`) and serve the folder",
    ),
    (r"No space left on device", "the disk is full; HF_HOME says where models are downloaded to"),
    (
        r"Failed to infer device type|found no NVIDIA driver|No CUDA GPUs are available|"
        r"NVIDIA driver on your system is too old",
        "vLLM found no GPU that it can use (nvidia-smi should list one, with a recent driver); without a GPU "
        "it takes vLLM's build for the CPU",
    ),
    (r"Bfloat16 is only supported on GPUs", "this GPU does not know bfloat16; --dtype half"),
    (
        r"number of available GPUs|Not enough GPUs|local_rank .*? out of bounds|invalid device ordinal",
        "there are fewer GPUs than were asked for; fewer with --data-parallel",
    ),
    (
        r"SafetensorError|HeaderTooLarge|MetadataIncompleteBuffer|Error while deserializing header",
        "the model's weights are damaged or cut short; fetch them again",
    ),
    (
        r"Unrecognized model in|should have a `model_type`|does not recognize this architecture|"
        r"Model architectures .*? (?:are not supported|failed to be inspected)",
        "the model's config.json names no architecture that this vLLM knows; wanted a Qwen2.5-VL model",
    ),
    (
        r"No adapter found for|Loading lora \S+ failed",
        "an adapter cannot be loaded; --adapter wants NAME=FOLDER, the folder as PEFT saves it",
    ),
    (r"error: (unrecognized arguments: .*|argument .*)", "vLLM refuses an argument: {0}"),
    (r"No module named '([\w.]+)'", "its Python lacks the module {0}; install vLLM again"),
)
_KILLED = (
    "it was killed from outside; Linux does that when main memory runs out. A smaller model needs less, and "
    "on the CPU a smaller VLLM_CPU_KVCACHE_SPACE"
)
_ERROR = re.compile(r"\b\w*(?:Error|Exception)\b: ")


def cause(log: str, status: int | None) -> str:
    """Why it ended and what to do, one sentence.

    :param log: the end of what it wrote, long enough to hold every process's traceback
    :param status: its exit status, negative for a signal, as ``subprocess`` gives it
    """
    for pattern, told in _CAUSES:
        if found := re.search(pattern, log):
            return told.format(*found.groups())
    if status == -9:
        return _KILLED
    lines = log.splitlines()
    errors = [line for line in lines if _ERROR.search(line)]
    return f"vLLM's own words: {(errors or lines or ['none'])[-1]}"
