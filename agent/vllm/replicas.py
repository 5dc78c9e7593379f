"""Several vLLM servers with one model on this machine: one process, port and GPU each, started again when they end."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from agent.language import tr
from agent.vllm.flags import Build, ServeError, Service, command, environment
from agent.vllm.log import VllmLog
from agent.vllm.server import POLL_SECONDS, Ready, Server, Started, StopRequested, describe_ready, gpus, is_healthy

RESTARTS = 3
"""How often a server is started again within ``WINDOW_SECONDS``; one that ends more often is given up."""
WINDOW_SECONDS = 600.0
_DEVICES = "CUDA_VISIBLE_DEVICES"
_PARALLEL = ("--tensor-parallel-size", "-tp", "--pipeline-parallel-size", "-pp")

Report = Callable[[str], None]


def services(service: Service, number: int) -> tuple[Service, ...]:
    """Return the service of each server, on ports from ``service.port`` on.

    :raises ServeError: the last port is too large
    """
    if service.port + number - 1 > 65535:
        last = service.port + number - 1
        raise ServeError(
            tr("--replicas {number}: the last port would be {last}, expected 65535 or less", number=number, last=last)
        )
    return tuple(replace(service, port=service.port + offset) for offset in range(number))


def environments(service: Service, build: Build, number: int, given: Mapping[str, str]) -> tuple[dict[str, str], ...]:
    """Return the environment of each server, with the GPUs that are its own. Without a GPU all are the same.

    :param given: our environment; its ``CUDA_VISIBLE_DEVICES`` are the GPUs to share out, if it is set
    :raises ServeError: there are too few GPUs
    """
    common = environment(build, given)
    if build.cpu:
        return (common,) * number
    each = _gpus_per_server(service)
    named = given.get(_DEVICES)
    visible = [name.strip() for name in named.split(",") if name.strip()] if named is not None else None
    if visible is None:
        # Without nvidia-smi their number is unknown: vLLM reports what is missing.
        count = len(gpus()) or number * each
        visible = [str(index) for index in range(count)]
    if len(visible) < number * each:
        where = f" in {_DEVICES}" if named is not None else ""
        raise ServeError(
            tr(
                "--replicas {number} needs {number2} GPUs, {each} per server: found {n_visible}{where}; use "
                "fewer replicas",
                number=number,
                number2=number * each,
                each=each,
                n_visible=len(visible),
                where=where,
            )
        )
    shares = (visible[index * each : (index + 1) * each] for index in range(number))
    return tuple(common | {_DEVICES: ",".join(share)} for share in shares)


def _gpus_per_server(service: Service) -> int:
    count = service.data_parallel
    words = [word for argument in service.extra for word in argument.split("=", 1)]
    for option, value in pairwise(words):
        if option.replace("_", "-") in _PARALLEL and value.isdecimal():
            count *= int(value)
    return count


@dataclass
class Replica:
    """One of the servers. ``ready``: what it is and costs, None until it has answered; ``given_up``: it ended too often
    and is not started again; ``restarts``: when it was started again.
    """

    service: Service
    build: Build
    variables: Mapping[str, str]
    log_file: Path
    ready: Ready | None = None
    given_up: bool = False
    restarts: list[float] = field(default_factory=list)
    _server: Server | None = None
    _log: VllmLog = field(default_factory=VllmLog)
    _started: Started | None = None
    _answers: bool = False

    def start(self) -> None:
        """Start it. :raises ServeError: it cannot be started"""
        if self.log_file.exists() and self.restarts:
            # The log of the process that ended may be needed.
            self.log_file.replace(self.log_file.with_suffix(".before.log"))
        self._started, self._log, self._answers = Started.now(self.build), VllmLog(), False
        self._server = Server(command(self.service, self.build), self.variables, self.log_file)

    def step(self, report: Report) -> None:
        """Read its log, note that it answers, and start it again if it has ended.

        :raises ServeError: it ended before it ever answered
        """

        def say(message: str) -> None:
            report(tr("port {port}: {message}", port=self.service.port, message=message))

        server = self._server
        if server is None or self._started is None:
            return
        ended = server.status is not None
        # Asked before its log is read, which then has the figures of what is ready.
        first_answer = not ended and not self._answers and is_healthy(self.service.url)
        for line in server.lines():
            if (message := self._log.read(line)) and not self._answers:
                say(message)
        if ended:
            self._restart(server, say)
        elif first_answer:
            self._answers = True
            if self.ready is not None:
                say(tr("answers again, after {seconds:.0f} s", seconds=time.monotonic() - self._started.at))
            self.ready = describe_ready(server, self.service, self.build, self._log, self._started)

    def _restart(self, server: Server, say: Report) -> None:
        why = self._log.why(server.status)
        if self.ready is None:
            raise ServeError(
                tr(
                    "vLLM on port {port} ended before it answered: {why} (its log: {log_file})",
                    port=self.service.port,
                    why=why,
                    log_file=self.log_file,
                )
            )
        self.stop()
        now = time.monotonic()
        self.restarts = [at for at in self.restarts if now - at < WINDOW_SECONDS]
        minutes = WINDOW_SECONDS / 60
        if len(self.restarts) >= RESTARTS:
            self.given_up = True
            say(
                tr(
                    "vLLM ended: {why}. It ended {n} times within {minutes:.0f} minutes and is not started again "
                    "(its log: {log})",
                    why=why,
                    n=RESTARTS + 1,
                    minutes=minutes,
                    log=self.log_file,
                )
            )
            return
        self.restarts.append(now)
        say(
            tr(
                "vLLM ended: {why}. It is started again, for time {n} of {most} in {minutes:.0f} min",
                why=why,
                n=len(self.restarts),
                most=RESTARTS,
                minutes=minutes,
            )
        )
        try:
            self.start()
        except ServeError as error:
            # The others go on.
            self.given_up = True
            say(tr("it is not started again: {error}", error=error))

    def stop(self, hurry: StopRequested = lambda: False) -> None:
        """Stop it and all that it started."""
        if self._server is not None:
            self._server.stop(hurry=hurry)
            self._server.close()
            self._server = None


def run_replicas(
    replicas: Sequence[Replica],
    report: Report,
    on_ready: Callable[[Sequence[Ready]], None],
    stop_requested: StopRequested,
    hurry: StopRequested,
) -> bool:
    """Start all of them and keep them running until a stop is requested, then stop them; False: all were given up.

    :param report: takes a line about one of them
    :param on_ready: called once, when all have answered
    :param hurry: whether to kill those that are still stopping
    :raises ServeError: one cannot be started, or ended before it ever answered
    """
    announced = False
    try:
        for one in replicas:
            one.start()
        while not stop_requested():
            for one in replicas:
                one.step(report)
            ready = [one.ready for one in replicas if one.ready is not None]
            if not announced and len(ready) == len(replicas):
                announced = True
                on_ready(ready)
            if all(one.given_up for one in replicas):
                return False
            time.sleep(POLL_SECONDS)
        report("stopping")
        return True
    finally:
        with ThreadPoolExecutor(len(replicas)) as pool:
            list(pool.map(lambda one: one.stop(hurry), replicas))


def servers_toml(key: str, urls: Sequence[str], model: str) -> str:
    """Return the lines for servers.toml."""
    from agent.policies.servers import RESERVED_KEYS

    name = re.sub(r"[^a-z0-9._-]+", "-", key.rpartition("/")[2].lower()).strip("-._")[:60] or "model"
    name = f"{name}-server" if name in RESERVED_KEYS else name
    listed = ", ".join(f'"{url}"' for url in urls)
    addresses = f"urls = [{listed}]" if len(urls) > 1 else f"url = {listed}"
    return f'[[server]]\nkey = "{name}"\n{addresses}\nmodel = "{model}"'


def to_json(ready: Sequence[Ready]) -> dict[str, Any]:
    """Return what all of them are and cost."""
    found = [one.to_json() for one in ready]
    urls = [str(one["url"]) for one in found]
    name = ready[0].service.served_name
    return {"urls": urls, "servers_toml": servers_toml(name, urls, name), "replicas": found}


def to_text(ready: Sequence[Ready]) -> str:
    """Return the same as lines for a person."""
    found = to_json(ready)
    seconds = max(one.seconds for one in ready)
    lines = [
        tr(
            "Serving {model} at {n_ready} addresses, after {seconds:.0f} s.",
            model=ready[0].service.model,
            n_ready=len(ready),
            seconds=seconds,
        )
    ]
    for one in ready:
        address = f"{one.service.url}/v1"
        if one.cache_tokens is None:
            line = tr("{address}; its log: {log}", address=address, log=one.log)
        else:
            tokens = one.cache_tokens
            line = tr("{address}, cache for {n:,} tokens; its log: {log}", address=address, n=tokens, log=one.log)
        lines.append(f"  {line}")
    lines += [tr("For servers.toml:"), "", found["servers_toml"], ""]
    return "\n".join([*lines, tr("One that ends is started again. Ctrl C stops all of them.")])


def log_file(folder_or_file: Path | None, service: Service) -> Path:
    """Return the log file of a server: the default one of its port, or the given one with the port in its name."""
    if folder_or_file is None:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        return state / "spec-o3" / f"vllm-{service.port}.log"
    return folder_or_file.with_name(f"{folder_or_file.stem}-{service.port}{folder_or_file.suffix}")
