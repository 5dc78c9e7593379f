"""Fake vLLM server, which ``spec-o3 serve`` starts in the tests.

Prints the lines of vLLM 0.32, answers /health, has a child process, and misbehaves as ``FAKE_VLLM`` requests.
"""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

BEHAVIOUR = os.environ.get("FAKE_VLLM", "well")
ENGINE = "(EngineCore pid=7) INFO 11-21 04:03:16 "
LOADING = [
    "(APIServer pid=6) INFO 11-21 04:02:33 [model.py:733] Resolved architecture: Qwen2_5_VLForConditionalGeneration",
    "\rLoading safetensors checkpoint shards:   0% Completed | 0/2 [00:00<?, ?it/s]",
    "\rLoading safetensors checkpoint shards: 100% Completed | 2/2 [00:01<00:00, 1.2it/s]",
    ENGINE + "[gpu_model_runner.py:5149] Model loading took 7.16 GiB memory and 3.210000 seconds",
    ENGINE + "[gpu_worker.py:760] Available KV cache memory: 11.68 GiB",
    ENGINE + "[kv_cache_utils.py:2327] GPU KV cache size: 340,224 tokens, "
    "Maximum concurrency for 24,576 tokens per request: 13.84x",
]
SUMMARY = "\nRuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"
DEATHS = {
    "no memory": "(EngineCore pid=7) ERROR 11-21 04:03:16 [core.py:900] torch.OutOfMemoryError: CUDA out of "
    "memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB." + SUMMARY,
    "memory taken": "ValueError: Free memory on device cuda:0 (10.21/23.65 GiB) on startup is less than "
    "desired GPU memory utilization (0.9, 21.29 GiB). Decrease GPU memory utilization or reduce GPU memory "
    "used by other processes." + SUMMARY,
    "cache too small": "ValueError: To serve at least one request with the model's max seq len (24576), "
    "(1.31 GiB KV cache is needed, which is larger than the available KV cache memory (0.87 GiB). Based on "
    "the available memory, the estimated maximum model length is 16272. Try increasing" + SUMMARY,
    "no network": "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't "
    "find them in the cached files.",
    "gated": "OSError: You are trying to access a gated repo.\nMake sure to have access to it.",
    "no such model": "OSError: someone/nothing is not a local folder and is not a valid model identifier",
    "too long": "  Value error, User-specified max_model_len (24576) is greater than the derived "
    "max_model_len (max_position_embeddings=8192.0 or model_max_length=None in model's config.json).",
    "bad config": "  Value error, Unrecognized model in there. Should have a `model_type` key in its config",
    "bad weights": "safetensors_rust.SafetensorError: Error while deserializing header: incomplete metadata",
    "port": "OSError: [Errno 98] Address already in use",
    "no gpu": "RuntimeError: Failed to infer device type, please set the environment variable",
    "something new": "KeyError: 'nobody has seen this'",
}


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health" else 404)
        self.end_headers()
        if BEHAVIOUR == "dies later":
            print("torch.OutOfMemoryError: CUDA out of memory.", flush=True)
            os._exit(1)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    if BEHAVIOUR in DEATHS:
        print(DEATHS[BEHAVIOUR], file=sys.stderr)
        raise SystemExit(1)
    if BEHAVIOUR == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if BEHAVIOUR == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    host, port = (sys.argv[sys.argv.index(option) + 1] for option in ("--host", "--port"))
    told = os.environ["FAKE_VLLM_TOLD"]
    # Several servers write into a folder, one file per port.
    with open(os.path.join(told, f"{port}.json") if os.path.isdir(told) else told, "w") as file:
        cache, gpus = os.environ.get("VLLM_CPU_KVCACHE_SPACE"), os.environ.get("CUDA_VISIBLE_DEVICES")
        json.dump(
            {"pid": os.getpid(), "worker": worker.pid, "arguments": sys.argv[1:], "cache": cache, "gpus": gpus}, file
        )
    print("\n".join(LOADING), flush=True)
    while BEHAVIOUR == "slow":
        time.sleep(1)
    HTTPServer((host, int(port)), Health).serve_forever()


if __name__ == "__main__":
    main()
