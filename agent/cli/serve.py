"""``spec-o3 serve``: serve a model with vLLM, with the flags that Spec-o3 models need."""

from __future__ import annotations

import argparse
import errno
import json
import os
import shlex
import signal
import socket
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, output_file, port_number
from agent.language import tr

if TYPE_CHECKING:
    from agent.vllm import Build, Server, Service, VllmLog
    from agent.vllm.flags import Adapter


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help=tr("model folder, or a name on Hugging Face"))
    parser.add_argument(
        "--host", default="127.0.0.1", help=tr("address to listen on (default 127.0.0.1: this machine only)")
    )
    parser.add_argument("--port", type=port_number, default=8000, help=tr("port to listen on (default 8000)"))
    parser.add_argument("--name", help=tr("model name for clients (default: name of the folder or model)"))
    parser.add_argument(
        "--context",
        type=_whole(1024),
        metavar="TOKENS",
        help=tr("tokens of the longest conversation (default 24576, or the model's own limit if that is less)"),
    )
    parser.add_argument(
        "--sequences",
        type=_whole(1),
        metavar="N",
        help=tr("conversations processed at once (default: vLLM decides; on a CPU 8)"),
    )
    parser.add_argument(
        "--memory", type=_fraction, default=0.9, help=tr("fraction of the GPU's memory to use (default 0.9)")
    )
    parser.add_argument(
        "--dtype", default="auto", help=tr("number format (default auto: the model's own; on a CPU float32)")
    )
    parser.add_argument(
        "--adapter",
        action="append",
        default=[],
        type=_adapter,
        metavar="NAME=FOLDER",
        help=tr("LoRA adapter, served as model NAME; can be repeated"),
    )
    parser.add_argument(
        "--replicas",
        type=_whole(1),
        default=1,
        metavar="N",
        help=tr(
            "copies of the model, one per GPU, behind one address; vLLM distributes the requests, and with "
            "--engine ray Ray Serve does, on all machines of a cluster (default 1)"
        ),
    )
    parser.add_argument(
        "--data-parallel",
        type=_whole(1),
        default=1,
        metavar="N",
        help=tr("the same as --replicas, under vLLM's name for it (default 1)"),
    )
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help=tr("local: processes on this machine (default); ray: replicas on a Ray cluster, through Ray Serve LLM"),
    )
    parser.add_argument(
        "--address",
        metavar="ADDRESS",
        help=tr("with --engine ray: the Ray cluster, for example auto or HOST:6379 (default: Ray is started here)"),
    )
    parser.add_argument(
        "--images", type=_whole(1), default=10, metavar="N", help=tr("pictures per conversation (default 10)")
    )
    parser.add_argument("--pixels", type=_whole(3136), metavar="N", help=tr("shrink pictures to at most N pixels"))
    parser.add_argument(
        "--tool-calls",
        nargs="?",
        const="hermes",
        metavar="PARSER",
        help=tr(
            "native tool calls, for models that were not trained on Spec-o3's own form, with that parser "
            "of vLLM (default: off; without PARSER hermes, the form of Qwen models)"
        ),
    )
    parser.add_argument("--python", type=Path, metavar="FILE", help=tr("Python that has vLLM (default: this one)"))
    parser.add_argument("--log", type=output_file, metavar="FILE", help=tr("file for vLLM's complete log"))
    parser.add_argument("--dry-run", action="store_true", help=tr("print the command without starting the server"))
    parser.add_argument(
        "--json", action="store_true", help=tr("when the server is ready, print what it serves as JSON")
    )
    parser.add_argument("extra", nargs="*", metavar="-- ARGUMENTS", help=tr("further arguments, passed to vLLM"))


def run(arguments: Namespace) -> int:
    from agent.vllm import ServeError, Service, find_build

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
    try:
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
    except ServeError as error:
        raise CannotRun(str(error)) from error


def _serve(service: Service, build: Build, arguments: Namespace) -> int:
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
    arguments: Namespace,
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


def _serve_on_ray(service: Service, build: Build, arguments: Namespace) -> int:
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
    handled = [one for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) != signal.SIG_IGN]
    before = {one: signal.signal(one, requests.on_signal) for one in handled}
    try:
        yield requests
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


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
    found = {"command": line, "environment": _own(variables)}
    print(json.dumps(found) if as_json else _as_words(line, variables))


def _own(variables: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if os.environ.get(name) != value}


def _as_words(line: list[str], variables: dict[str, str]) -> str:
    return shlex.join([*(f"{name}={value}" for name, value in _own(variables).items()), *line])


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    expected = f"{least} to {most}" if most is not None else tr("{least} or more", least=least)

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(
                tr("found {text!r}, expected a whole number, {expected}", text=text, expected=expected)
            )
        return int(text)

    return read


def _fraction(text: str) -> float:
    try:
        fraction = float(text)
    except ValueError:
        fraction = -1.0
    if not 0 < fraction <= 1:
        raise argparse.ArgumentTypeError(tr("found {text!r}, expected a fraction above 0, at most 1", text=text))
    return fraction


def _adapter(text: str) -> Adapter:
    from agent.vllm.flags import Adapter

    name, equals, folder = text.partition("=")
    if not (name and equals and folder):
        raise argparse.ArgumentTypeError(tr("found {text!r}, expected NAME=FOLDER", text=text))
    return Adapter(name, Path(folder))
