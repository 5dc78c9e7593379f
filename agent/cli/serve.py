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
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from agent.cli.command import CHECK_FAILED, DONE, CannotRun

if TYPE_CHECKING:
    from agent.vllm import Build, Service
    from agent.vllm.flags import Adapter


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="model folder, or a name on Hugging Face")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1: this machine only)"
    )
    parser.add_argument("--port", type=_whole(1, 65535), default=8000, help="port to listen on (default 8000)")
    parser.add_argument("--name", help="model name for clients (default: name of the folder or model)")
    parser.add_argument(
        "--context",
        type=_whole(1024),
        metavar="TOKENS",
        help="tokens of the longest conversation (default 24576, or the model's own limit if that is less)",
    )
    parser.add_argument(
        "--sequences",
        type=_whole(1),
        metavar="N",
        help="conversations processed at once (default: vLLM decides; on a CPU 8)",
    )
    parser.add_argument(
        "--memory", type=_fraction, default=0.9, help="fraction of the GPU's memory to use (default 0.9)"
    )
    parser.add_argument(
        "--dtype", default="auto", help="number format (default auto: the model's own; on a CPU float32)"
    )
    parser.add_argument(
        "--adapter",
        action="append",
        default=[],
        type=_adapter,
        metavar="NAME=FOLDER",
        help="LoRA adapter, served as model NAME; can be repeated",
    )
    parser.add_argument(
        "--data-parallel", type=_whole(1), default=1, metavar="N", help="copies of the model, one per GPU (default 1)"
    )
    parser.add_argument(
        "--images", type=_whole(1), default=10, metavar="N", help="pictures per conversation (default 10)"
    )
    parser.add_argument("--pixels", type=_whole(3136), metavar="N", help="shrink pictures to at most N pixels")
    parser.add_argument(
        "--tool-calls",
        nargs="?",
        const="hermes",
        metavar="PARSER",
        help="native tool calls, for models that were not trained on Spec-o3's own form, with that parser of vLLM "
        "(default: off; without PARSER hermes, the form of Qwen models)",
    )
    parser.add_argument("--python", type=Path, metavar="FILE", help="Python that has vLLM (default: this one)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="file for vLLM's complete log")
    parser.add_argument("--dry-run", action="store_true", help="print the command without starting the server")
    parser.add_argument("--json", action="store_true", help="when the server is ready, print what it serves as JSON")
    parser.add_argument("extra", nargs="*", metavar="-- ARGUMENTS", help="further arguments, passed to vLLM")


def run(arguments: Namespace) -> int:
    from agent.vllm import ServeError, Service, command, environment, find_build

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
    try:
        service = Service(
            **{name: getattr(arguments, name) for name in names},
            adapters=tuple(arguments.adapter),
            data_parallel=arguments.data_parallel,
            extra=tuple(arguments.extra),
        )
        build = find_build(arguments.python)
        line, variables = command(service, build), environment(build)
        if arguments.dry_run:
            _show(line, variables, arguments.json)
            return DONE
        _check_port(service)
        return _serve(service, build, line, variables, arguments)
    except ServeError as error:
        raise CannotRun(str(error)) from error


def _serve(service: Service, build: Build, line: list[str], variables: dict[str, str], arguments: Namespace) -> int:
    from agent.vllm import Server, VllmLog
    from agent.vllm.server import POLL_SECONDS, Started, describe_ready, wait_until_ready

    started = Started.now(build)
    log = VllmLog()

    def report(message: str) -> None:
        print(f"{time.monotonic() - started.at:5.0f} s  {message}", file=sys.stderr, flush=True)

    with _stop_requests() as requests, Server(line, variables, arguments.log or _log(service)) as server:
        report(f"vLLM {build.version} starts; its complete log: {server.log}")
        if wait_until_ready(server, service, log, report, requests.any):
            ready = describe_ready(server, service, build, log, started)
            print(json.dumps(ready.to_json()) if arguments.json else ready.to_text(), flush=True)
        while server.status is None and not requests.any():
            for text in server.lines():
                log.read(text)
            time.sleep(POLL_SECONDS)
        if not requests.any():
            for text in server.lines():
                log.read(text)
            print(f"spec-o3: vLLM ended: {log.why(server.status)} (its log: {server.log})", file=sys.stderr)
            return CHECK_FAILED
        report("stopping")
        server.stop(hurry=requests.repeated)
    return DONE


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
            why = "another program listens there" if error.errno == errno.EADDRINUSE else error.strerror
            raise CannotRun(f"port {service.port} on {service.host}: {why}; choose another with --port") from error


def _log(service: Service) -> Path:
    """Return the log file of this port, in the user's folder for program state (XDG); each start replaces it."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return state / "spec-o3" / f"vllm-{service.port}.log"


def _show(line: list[str], variables: dict[str, str], as_json: bool) -> None:
    own = {name: value for name, value in variables.items() if os.environ.get(name) != value}
    if as_json:
        print(json.dumps({"command": line, "environment": own}))
    else:
        print(shlex.join([*(f"{name}={value}" for name, value in own.items()), *line]))


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    expected = f"{least} to {most}" if most is not None else f"{least} or more"

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number, {expected}")
        return int(text)

    return read


def _fraction(text: str) -> float:
    try:
        fraction = float(text)
    except ValueError:
        fraction = -1.0
    if not 0 < fraction <= 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a fraction above 0, at most 1")
    return fraction


def _adapter(text: str) -> Adapter:
    from agent.vllm.flags import Adapter

    name, equals, folder = text.partition("=")
    if not (name and equals and folder):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected NAME=FOLDER")
    return Adapter(name, Path(folder))
