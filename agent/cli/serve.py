"""``spec-o3 serve``: serve a model with vLLM, with the flags that Spec-o3 models need."""

from __future__ import annotations

import errno
import json
import os
import shlex
import signal
import socket
import sys
import tempfile
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from agent.cli.command import CHECK_FAILED, DONE, CannotRun
from agent.cli.inspect_options import ADDRESS
from agent.cli.options import (
    HOST,
    JsonOutput,
    argument,
    at_least_one,
    number_where,
    option,
    output_file,
    port_number,
    whole,
)
from agent.language import deferred, tr

if TYPE_CHECKING:
    from agent.vllm import Build, Server, Service, VllmLog


fraction = number_where(lambda number: 0 < number <= 1, deferred("a fraction above 0, at most 1"))


def _adapter(text: str) -> Any:
    from agent.vllm.flags import Adapter

    name, equals, folder = text.partition("=")
    if not (name and equals and folder):
        raise ArgumentTypeError(tr("found {text!r}, expected NAME=FOLDER", text=text))
    return Adapter(name, Path(folder))


@dataclass(kw_only=True)
class Options(JsonOutput):
    model: str = option("model folder, or a name on Hugging Face", metavar="NAME")
    host: str = option(HOST, default="127.0.0.1")
    port: int = option("port to listen on", default=8000, read=port_number)
    name: str | None = option("model name for clients (default: name of the folder or model)", metavar="NAME")
    context: int | None = option(
        "tokens of the longest conversation (default 24576, or the model's own limit if that is less)",
        metavar="TOKENS",
        read=whole(1024),
    )
    sequences: int | None = option(
        "conversations processed at once (default: vLLM decides; on a CPU 8)", read=at_least_one
    )
    memory: float = option("fraction of the GPU's memory to use", default=0.9, read=fraction)
    dtype: str = option("number format; auto: the model's own, on a CPU float32", default="auto")
    adapter: list[Any] = option(
        "LoRA adapter, served as model NAME; can be repeated",
        metavar="NAME=FOLDER",
        read=_adapter,
        repeat=True,
    )
    replicas: int = option(
        "copies of the model, one per GPU, behind one address; vLLM distributes the requests, and with --engine ray "
        "Ray Serve does, on all machines of a cluster",
        default=1,
        read=at_least_one,
    )
    data_parallel: int = option(
        "the same as --replicas, under vLLM's name for it",
        default=1,
        read=at_least_one,
    )
    engine: Literal["local", "ray"] = option(
        "local: processes on this machine; ray: replicas on a Ray cluster, through Ray Serve LLM",
        default="local",
    )
    address: str | None = option(ADDRESS, metavar="ADDRESS")
    images: int = option("pictures per conversation", default=10, read=at_least_one)
    pixels: int | None = option("shrink pictures to at most N pixels", read=whole(3136))
    tool_calls: str | None = option(
        "native tool calls, for models that were not trained on Spec-o3's own form, with that parser "
        "of vLLM (default: off; without PARSER hermes, the form of Qwen models)",
        metavar="PARSER",
        bare="hermes",
    )
    python: Path | None = option("Python that has vLLM (default: this one)")
    log: Path | None = option("file for vLLM's complete log", read=output_file)
    dry_run: bool = option("print the command without starting the server")
    extra: list[str] = argument("further arguments, passed to vLLM", default=[], metavar="-- ARGUMENTS")


def run(arguments: Options) -> int:
    from agent.vllm import Service, find_build

    names = (
        "model",
        "host",
        "port",
        "name",
        "context",
        "sequences",
        "memory",
        "dtype",
        "images",
        "pixels",
        "tool_calls",
    )
    on_ray = arguments.engine == "ray"
    service = Service(
        **{name: getattr(arguments, name) for name in names},
        adapters=tuple(arguments.adapter),
        data_parallel=arguments.data_parallel * (1 if on_ray else arguments.replicas),
        extra=tuple(arguments.extra),
    )
    build = find_build(arguments.python)
    if on_ray:
        return _serve_on_ray(service, build, arguments)
    if arguments.address is not None:
        raise CannotRun(tr("--address has no effect without --engine ray"))
    return _serve(service, build, arguments)


def _serve(service: Service, build: Build, arguments: Options) -> int:
    from agent.vllm import VllmLog, command, environment
    from agent.vllm.server import Started, describe_ready

    line, variables = command(service, build), environment(build)
    if arguments.dry_run:
        _show(line, variables, arguments.json)
        return DONE
    _check_port(service)
    started = Started.now(build)
    log = VllmLog()

    def show(server: Server) -> None:
        ready = describe_ready(server, service, build, log, started)
        print(json.dumps(ready.to_json()) if arguments.json else ready.to_text(), flush=True)

    return _run(line, variables, log, service, arguments, f"vLLM {build.version} starts", show)


def _run(
    line: list[str],
    variables: dict[str, str],
    log: VllmLog,
    service: Service,
    arguments: Options,
    title: str,
    show: Callable[[Server], None],
    stop_signal: signal.Signals = signal.SIGTERM,
    answers: Callable[[], bool] | None = None,
) -> int:
    """Run one child process until it ends or a signal asks to stop; ``show`` prints what it serves once it answers."""
    from agent.vllm import Server
    from agent.vllm.server import POLL_SECONDS, default_log, wait_until_ready

    report = _reporter()
    file = arguments.log or default_log(service)
    with _stop_requests() as requests, Server(line, variables, file, stop_signal) as server:
        report(tr("{title}; its complete log: {log}", title=title, log=server.log))
        if wait_until_ready(server, service, log, report, requests.any, answers):
            show(server)
        while server.status is None and not requests.any():
            for text in server.lines():
                log.read(text)
            time.sleep(POLL_SECONDS)
        if not requests.any():
            for text in server.lines():
                log.read(text)
            print(
                tr("spec-o3: vLLM ended: {why} (its log: {log})", why=log.why(server.status), log=server.log),
                file=sys.stderr,
            )
            return CHECK_FAILED
        report("stopping")
        server.stop(hurry=requests.repeated)
    return DONE


def _serve_on_ray(service: Service, build: Build, arguments: Options) -> int:
    from agent.vllm import VllmLog
    from agent.vllm.on_ray import application, check_ray, ray_environment, run_command
    from agent.vllm.server import has_written, servers_toml

    configuration = application(service, build, arguments.replicas)
    if arguments.dry_run:
        # Indented JSON is YAML too, as `serve run FILE` and `serve deploy FILE` read it.
        print(json.dumps(configuration, indent=2))
        return DONE
    version = check_ray(build)
    _check_port(service)
    url, name = f"{service.url}/v1", service.served_name

    def show(server: Server) -> None:
        lines = servers_toml(name, url, name)
        facts = {"url": url, "models": [name], "context": service.context_length, "servers_toml": lines}
        facts |= {"replicas": arguments.replicas, "ray": version, "vllm": build.version, "log": str(server.log)}
        text = tr(
            "Serving {model} on Ray at {url}. For servers.toml:\n\n{lines}\n\nCtrl C stops it.",
            model=service.model,
            url=url,
            lines=lines,
        )
        print(json.dumps(facts) if arguments.json else text, flush=True)

    with tempfile.TemporaryDirectory(prefix="spec-o3-") as folder:
        file = Path(folder) / "application.yaml"
        file.write_text(json.dumps(configuration, indent=2), encoding="utf-8")
        line = run_command(build, file, arguments.address)
        title = f"Ray {version} starts vLLM {build.version}, {arguments.replicas} times"
        answers = partial(has_written, service.url, name)
        return _run(line, ray_environment(build), VllmLog(), service, arguments, title, show, signal.SIGINT, answers)


def _reporter() -> Callable[[str], None]:
    """Return a function that prints a line of progress, with the seconds since now."""
    since = time.monotonic()

    def report(message: str) -> None:
        print(f"{time.monotonic() - since:5.0f} s  {message}", file=sys.stderr, flush=True)

    return report


class _StopRequests:
    """Counts the stop signals that arrived: the first asks to stop, the second to hurry."""

    def __init__(self) -> None:
        self._count = 0

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        self._count += 1

    def any(self) -> bool:
        return self._count > 0

    def repeated(self) -> bool:
        return self._count > 1


@contextmanager
def _stop_requests() -> Iterator[_StopRequests]:
    """Within the block SIGINT, SIGTERM and SIGHUP are counted instead of ending the process. A signal that is
    ignored, as SIGHUP is under ``nohup``, stays ignored.
    """
    requests = _StopRequests()
    handled = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) != signal.SIG_IGN
    ]
    before = {number: signal.signal(number, requests.on_signal) for number in handled}
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _check_port(service: Service) -> None:
    """:raises CannotRun: the port is in use, or this user may not listen on it"""
    family = socket.AF_INET6 if ":" in service.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do: a port that was in use a minute ago counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((service.host, service.port))
        except OSError as error:
            why = tr("another program listens there") if error.errno == errno.EADDRINUSE else error.strerror
            raise CannotRun(
                tr(
                    "port {port} on {host}: {why}; choose another with --port",
                    port=service.port,
                    host=service.host,
                    why=why,
                )
            ) from error


def _show(line: list[str], variables: dict[str, str], as_json: bool) -> None:
    shown = {"command": line, "environment": _own(variables)}
    print(json.dumps(shown) if as_json else _as_words(line, variables))


def _own(variables: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if os.environ.get(name) != value}


def _as_words(line: list[str], variables: dict[str, str]) -> str:
    return shlex.join([*(f"{name}={value}" for name, value in _own(variables).items()), *line])
