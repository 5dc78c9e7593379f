"""A vLLM server as a child process: start it, wait until it answers, report what it costs, stop it and all that
it started. Also the GPUs of this machine, as nvidia-smi lists them.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agent.language import tr
from agent.vllm.flags import Build, ServeError, Service, max_conversations
from agent.vllm.log import VllmLog
from agent.vllm.pictures import picture_limit

GRACE_SECONDS = 20.0
"""Time that a server has to stop by itself before it is killed."""
POLL_SECONDS = 0.2
"""Time between two checks of the child process."""
SILENCE_SECONDS = 30.0
"""Time without a log line after which "still starting" is reported."""
WRITING_SECONDS = 10.0
"""Time in which a server that is ready writes one token."""
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
# No proxy between this machine and itself.
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_PROC = Path("/proc")
_GPU_FIELDS = ("index", "name", "memory.total", "memory.used", "driver_version", "compute_cap")

StopRequested = Callable[[], bool]


@dataclass(frozen=True)
class Gpu:
    """One GPU; memory in MiB, ``used`` by all programs. ``capability`` is CUDA's, for example 8.9."""

    index: int
    name: str
    total: int
    used: int
    driver: str
    capability: str


def gpus() -> tuple[Gpu, ...]:
    """List the GPUs that the driver knows; none if there is no driver or it does not answer."""
    command = ["nvidia-smi", f"--query-gpu={','.join(_GPU_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    rows = ([word.strip() for word in line.split(",")] for line in output.splitlines() if line.strip())
    return tuple(gpu for row in rows if len(row) == len(_GPU_FIELDS) and (gpu := _gpu(row)) is not None)


def _gpu(row: list[str]) -> Gpu | None:
    index, name, total, used, driver, capability = row
    try:
        return Gpu(int(index), name, int(total), int(used), driver, capability)
    except ValueError:  # "[N/A]": a GPU that shares its memory, or is being reset
        return None


class Server:
    """The child process, in a session of its own: Ctrl C in the terminal does not reach it directly.

    Its output goes into a file, from which we read, so the log is complete even if this process dies. On Linux
    the child is ended when this process dies. ``stop_signal`` is the signal on which it stops in an orderly way.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        stop_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        """Start it. :raises ServeError: it cannot be started, or its log cannot be written"""
        self.log = log
        self._stop_signal = stop_signal
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("wb") as output:
                self._child = subprocess.Popen(
                    command,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=partial(_die_with_parent, stop_signal),
                )
            self._reading = log.open("rb")
        except OSError as error:
            raise ServeError(
                tr("{value}: {strerror}; no server was started", value=error.filename or log, strerror=error.strerror)
            ) from error
        self._partial_line = b""
        self._stopped = False

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def status(self) -> int | None:
        """Exit status, negative for a signal; None while it runs."""
        return self._child.poll()

    def lines(self) -> Iterator[str]:
        """Read the whole lines written since the last call; each update of a progress bar is a line too."""
        text = self._partial_line + self._reading.read().replace(b"\r", b"\n")
        whole, _, self._partial_line = text.rpartition(b"\n")
        if self.status is not None:
            whole, self._partial_line = whole + b"\n" + self._partial_line, b""
        for line in whole.splitlines():
            yield line.decode(errors="replace")

    def stop(self, grace: float = GRACE_SECONDS, hurry: StopRequested = lambda: False) -> None:
        """Ask it to stop, and kill what is left of it after ``grace`` seconds, or as soon as ``hurry`` is true."""
        if self._stopped:
            return
        deadline = time.monotonic() + grace
        if self.status is None:
            self._child.send_signal(self._stop_signal)
        while self.status is None and time.monotonic() < deadline and not hurry():
            time.sleep(0.05)
        # The processes that it started are in its process group and may outlive it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._child.wait()
        self._stopped = True

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop it, if it has not been stopped, and close its log."""
        self.stop()
        self._reading.close()


def _die_with_parent(stop_signal: signal.Signals) -> None:
    # A shell gives its background jobs an ignored SIGINT, which they pass on.
    signal.signal(stop_signal, signal.SIG_DFL)
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, stop_signal)


def wait_until_ready(
    server: Server,
    service: Service,
    log: VllmLog,
    report: Callable[[str], None],
    stop_requested: StopRequested,
    answers: Callable[[], bool] | None = None,
) -> bool:
    """Wait until it answers and report its progress; False if a stop was requested first.

    :param answers: whether it is ready; None: whether its ``/health`` says so
    :raises ServeError: it ended before that, with the reason
    """
    reported_at = time.monotonic()
    while not stop_requested():
        ended = server.status is not None
        # Asked before its log is read, which then has the figures of what is ready.
        ready = not ended and (answers() if answers is not None else is_healthy(service.url))
        for line in server.lines():
            if message := log.read(line):
                report(message)
                reported_at = time.monotonic()
        if ended:
            raise ServeError(
                tr("vLLM ended before it answered: {why} (its log: {log})", why=log.why(server.status), log=server.log)
            )
        if ready:
            return True
        if time.monotonic() - reported_at > SILENCE_SECONDS:
            last = tr("still starting; vLLM's last line: {line:.120}", line=log.last)
            report(last if log.last else tr("still starting"))
            reported_at = time.monotonic()
        time.sleep(POLL_SECONDS)
    return False


def is_healthy(url: str) -> bool:
    """Whether the server at ``url`` answers that it is healthy."""
    try:
        with _direct.open(f"{url}/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False


def has_written(url: str, model: str) -> bool:
    """Whether the server at ``url`` has written one token, asked through its chat API."""
    body = {"model": model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with _direct.open(request, timeout=WRITING_SECONDS) as answer:
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False


def default_log(service: Service) -> Path:
    """Return the file for the complete log of a server, by its port."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return state / "spec-o3" / f"vllm-{service.port}.log"


def servers_toml(key: str, url: str, model: str) -> str:
    """Return the lines for servers.toml; the key is made of the last part of ``key``."""
    from agent.policies.servers import RESERVED_KEYS

    name = re.sub(r"[^a-z0-9._-]+", "-", key.rpartition("/")[2].lower()).strip("-._")[:60] or "model"
    name = f"{name}-server" if name in RESERVED_KEYS else name
    return f'[[server]]\nkey = "{name}"\nurl = "{url}"\nmodel = "{model}"'


@dataclass(frozen=True)
class Started:
    """The moment before a server starts: the clock, and MiB in use on each GPU."""

    at: float
    used: tuple[int, ...]

    @classmethod
    def now(cls, build: Build) -> Started:
        return cls(time.monotonic(), () if build.cpu else tuple(gpu.used for gpu in gpus()))


@dataclass(frozen=True)
class Ready:
    """A server that answers. ``cache_tokens`` None: not in its log; ``main_memory``: bytes of all its
    processes; ``gpus``: as they are now; ``used_before``: MiB of each before it started.
    """

    service: Service
    build: Build
    pid: int
    log: str
    seconds: float
    weights_gib: float | None
    cache_tokens: int | None
    main_memory: int | None
    gpus: tuple[Gpu, ...]
    used_before: tuple[int, ...]

    @property
    def conversations(self) -> float | None:
        """Number of conversations of full length that fit into the cache at once."""
        return None if self.cache_tokens is None else self.cache_tokens / self.service.context_length

    def to_json(self) -> dict[str, Any]:
        url, name = f"{self.service.url}/v1", self.service.served_name
        return {
            "url": url,
            "servers_toml": servers_toml(name, url, name),
            "models": [self.service.served_name, *(adapter.name for adapter in self.service.adapters)],
            "context": self.service.context_length,
            "cache_tokens": self.cache_tokens,
            "conversations": self.conversations,
            "weights_gib": self.weights_gib,
            "main_memory_bytes": self.main_memory,
            "gpus": [asdict(gpu) for gpu in self.gpus],
            "vllm": self.build.version,
            "cpu": self.build.cpu,
            "seconds": round(self.seconds, 1),
            "pid": self.pid,
            "log": self.log,
        }

    def to_text(self) -> str:
        """Return the same as lines for a person."""
        lines = [tr("Serving {model}, after {seconds:.0f} s.", model=self.service.model, seconds=self.seconds)]
        lines += [f"  {name:8} {text}" for name, text in self._facts()]
        return "\n".join([*lines, tr("Ctrl C stops it.")])

    def _facts(self) -> Iterable[tuple[str, str]]:
        service = self.service
        yield "url", f"{service.url}/v1"
        yield tr("model"), ", ".join(self.to_json()["models"])
        yield tr("context"), tr("{n:,} tokens", n=service.context_length)
        if self.cache_tokens is not None:
            cache_text = tr(
                "{tokens:,} tokens: room for {n:.1f} conversations of that length, or more shorter ones",
                tokens=self.cache_tokens,
                n=self.conversations,
            )
            if limit := max_conversations(service, self.build):
                cache_text = tr("{room}; at most {n} are written at a time", room=cache_text, n=limit)
            yield tr("cache"), cache_text
        pictures = picture_limit(service.model)
        if pictures is not None and service.pixels is None:
            yield (
                tr("pictures"),
                tr(
                    "at most {tokens:,} tokens each: no memory is reserved for one of {own:,}, the model's own limit",
                    tokens=pictures.tokens,
                    own=pictures.own_tokens,
                ),
            )
        if self.weights_gib is not None:
            yield tr("weights"), f"{self.weights_gib:g} GiB"
        for gpu, before in zip(self.gpus, self.used_before, strict=False):
            used = tr(
                "{used:,} of {total:,} MiB in use, {before:,} before it started ({name})",
                used=gpu.used,
                total=gpu.total,
                before=before,
                name=gpu.name,
            )
            yield f"GPU {gpu.index}", used
        if self.main_memory is not None:
            yield tr("memory"), tr("{size:.1f} GiB of main memory", size=self.main_memory / 2**30)
        yield (
            "vLLM",
            (
                tr("{version}, on the CPU; its log: {log}", version=self.build.version, log=self.log)
                if self.build.cpu
                else tr("{version}; its log: {log}", version=self.build.version, log=self.log)
            ),
        )


def describe_ready(server: Server, service: Service, build: Build, log: VllmLog, started: Started) -> Ready:
    """Collect what the server that now answers is and what it costs."""
    return Ready(
        service=service,
        build=build,
        pid=server.pid,
        log=str(server.log),
        seconds=time.monotonic() - started.at,
        weights_gib=log.weights,
        cache_tokens=log.tokens,
        main_memory=tree_memory(server.pid),
        gpus=() if build.cpu else gpus(),
        used_before=started.used,
    )


def tree_memory(pid: int) -> int | None:
    """Main memory of a process and all its descendants, in bytes; None if there is no /proc.

    The proportional set size counts memory shared by several of them once; where it is not readable, the
    resident set size is used.
    """
    if not (_PROC / str(pid)).is_dir():
        return None
    return 1024 * sum(_kilobytes(member) for member in _tree(pid))


def _tree(pid: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for stat in _PROC.glob("[0-9]*/stat"):
        try:
            # The name, in brackets, may hold anything; after the last bracket come state, parent, ...
            parent = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        children[parent].append(int(stat.parent.name))
    tree = [pid]
    for member in tree:
        tree += children[member]
    return tree


def _kilobytes(pid: int) -> int:
    for name, field in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        try:
            lines = (_PROC / str(pid) / name).read_text().splitlines()
        except OSError:
            continue
        kilobytes = next((line.split()[1] for line in lines if line.startswith(field)), None)
        if kilobytes is not None:
            return int(kilobytes)
    return 0
