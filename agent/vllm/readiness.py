"""From the start of a server until it answers, and what it then costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from agent.doctor.machine import Gpu, gpus
from agent.vllm.flags import Build, ServeError, Service, at_a_time
from agent.vllm.log import VllmLog
from agent.vllm.server import Server, answers, tree_bytes

BETWEEN = 0.2  # seconds between two looks at the child
QUIET = 30.0  # seconds without a word after which it is said that it still starts


def wait(server: Server, service: Service, log: VllmLog, say: Callable[[str], None], asked: Asked) -> bool:
    """Wait until it answers, passing on what of its log is worth it; False if it was asked to stop first.

    :raises ServeError: it ended before that; says why
    """
    said_at = time.monotonic()
    while not asked():
        for line in server.lines():
            if told := log.read(line):
                say(told)
                said_at = time.monotonic()
        if server.status is not None:
            raise ServeError(f"vLLM ended before it answered: {log.why(server.status)} (its log: {server.log})")
        if answers(service.url):
            return True
        if time.monotonic() - said_at > QUIET:
            say(f"still starting; vLLM's last line: {log.last:.120}" if log.last else "still starting")
            said_at = time.monotonic()
        time.sleep(BETWEEN)
    return False


Asked = Callable[[], bool]
"""Whether the server is to be ended."""


@dataclass(frozen=True)
class Ready:
    """A server that answers. ``cache_tokens`` None: its log did not say; ``main_memory`` bytes of all its
    processes; ``gpus`` now, ``used_before`` MiB of each before it started.
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
        """How many conversations of full length the cache holds at once."""
        return None if self.cache_tokens is None else self.cache_tokens / self.service.context_length

    def to_json(self) -> dict[str, Any]:
        return {
            "url": f"{self.service.url}/v1",
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

    def told(self) -> str:
        """The same for a person."""
        lines = [f"Serving {self.service.model}, after {self.seconds:.0f} s."]
        lines += [f"  {name:8} {text}" for name, text in self._facts()]
        return "\n".join([*lines, "Ctrl C stops it."])

    def _facts(self) -> Iterable[tuple[str, str]]:
        service = self.service
        yield "url", f"{service.url}/v1"
        yield "model", ", ".join(self.to_json()["models"])
        yield "context", f"{service.context_length:,} tokens"
        if self.cache_tokens is not None:
            room = f"room for {self.conversations:.1f} conversations of that length, or more shorter ones"
            most = at_a_time(service, self.build)
            written = f"; {most} are written at a time" if most else ""
            yield "cache", f"{self.cache_tokens:,} tokens: {room}{written}"
        if self.weights_gib is not None:
            yield "weights", f"{self.weights_gib:g} GiB"
        for gpu, before in zip(self.gpus, self.used_before, strict=False):
            told = f"{gpu.used:,} of {gpu.total:,} MiB in use, {before:,} before it started ({gpu.name})"
            yield f"GPU {gpu.index}", told
        if self.main_memory is not None:
            yield "memory", f"{self.main_memory / 2**30:.1f} GiB of main memory"
        yield "vLLM", f"{self.build.version}{', on the CPU' if self.build.cpu else ''}; its log: {self.log}"


def ready(server: Server, service: Service, build: Build, log: VllmLog, started: Started) -> Ready:
    """What the server that now answers is and costs."""
    return Ready(
        service=service,
        build=build,
        pid=server.pid,
        log=str(server.log),
        seconds=time.monotonic() - started.at,
        weights_gib=log.weights,
        cache_tokens=log.tokens,
        main_memory=tree_bytes(server.pid),
        gpus=() if build.cpu else gpus(),
        used_before=started.used,
    )


@dataclass(frozen=True)
class Started:
    """The moment before a server is started: the clock, and MiB in use on each GPU."""

    at: float
    used: tuple[int, ...]

    @classmethod
    def now(cls, build: Build) -> Started:
        return cls(time.monotonic(), () if build.cpu else tuple(gpu.used for gpu in gpus()))
