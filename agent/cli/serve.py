"""``spec-o3 serve``: a model behind vLLM, with the flags that Spec-o3 models want."""

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

from agent.cli.command import BAD_NEWS, DONE, CannotRun

if TYPE_CHECKING:
    from agent.vllm import Build, Service
    from agent.vllm.flags import Adapter

BETWEEN = 0.2  # seconds between two looks at the child


def add(parser: ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="a folder, or a name on Hugging Face")
    parser.add_argument("--host", default="127.0.0.1", help="address to serve on (127.0.0.1: this machine only)")
    parser.add_argument("--port", type=_whole(1, 65535), default=8000, help="port to serve on (8000)")
    parser.add_argument("--name", help="what clients call the model (the folder's or the model's own name)")
    parser.add_argument(
        "--context",
        type=_whole(1024),
        metavar="TOKENS",
        help="longest conversation (24576, or what the model was made for if that is less)",
    )
    parser.add_argument(
        "--sequences", type=_whole(1), metavar="N", help="conversations at a time (vLLM's choice; on a CPU 8)"
    )
    parser.add_argument("--memory", type=_share, default=0.9, help="share of the GPU's memory to take (0.9)")
    parser.add_argument("--dtype", default="auto", help="number format (auto: the model's own; on a CPU float32)")
    parser.add_argument(
        "--adapter",
        action="append",
        default=[],
        type=_adapter,
        metavar="NAME=FOLDER",
        help="a LoRA adapter, asked for as model NAME; may be given again",
    )
    parser.add_argument("--data-parallel", type=_whole(1), default=1, metavar="N", help="copies, one a GPU (1)")
    parser.add_argument("--images", type=_whole(1), default=10, metavar="N", help="pictures a conversation (10)")
    parser.add_argument("--pixels", type=_whole(3136), metavar="N", help="make larger pictures smaller than this")
    parser.add_argument("--python", type=Path, metavar="FILE", help="the Python that has vLLM (this one)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="where vLLM's whole log goes")
    parser.add_argument("--dry-run", action="store_true", help="print the command and start nothing")
    parser.add_argument("--json", action="store_true", help="once it answers, print what is served as JSON")
    parser.add_argument("extra", nargs="*", metavar="-- ARGUMENTS", help="more arguments, for vLLM itself")


def run(arguments: Namespace) -> int:
    from agent.vllm import ServeError, Service, command, environment, find_build

    names = ("model", "host", "port", "name", "context", "sequences", "memory", "dtype", "images", "pixels")
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
        _is_free(service)
        return _serve(service, build, line, variables, arguments)
    except ServeError as error:
        raise CannotRun(str(error)) from error


def _serve(service: Service, build: Build, line: list[str], variables: dict[str, str], arguments: Namespace) -> int:
    from agent.vllm import Server, VllmLog
    from agent.vllm.readiness import Started, ready, wait

    started = Started.now(build)
    log = VllmLog()

    def say(told: str) -> None:
        print(f"{time.monotonic() - started.at:5.0f} s  {told}", file=sys.stderr, flush=True)

    with _asked_to_stop() as asked, Server(line, variables, arguments.log or _log(service)) as server:
        say(f"vLLM {build.version} starts; its whole log: {server.log}")
        if wait(server, service, log, say, asked.once):
            made = ready(server, service, build, log, started)
            print(json.dumps(made.to_json()) if arguments.json else made.told(), flush=True)
        while server.status is None and not asked.once():
            for told in server.lines():
                log.read(told)
            time.sleep(BETWEEN)
        if not asked.once():
            for told in server.lines():
                log.read(told)
            print(f"spec-o3: vLLM ended: {log.why(server.status)} (its log: {server.log})", file=sys.stderr)
            return BAD_NEWS
        say("stopping")
        server.stop(hurry=asked.twice)
    return DONE


class _Asked:
    """How often somebody asked for the end: Ctrl C, or a signal. The second time it is urgent."""

    def __init__(self) -> None:
        self.times = 0

    def hear(self, number: int, frame: FrameType | None) -> None:
        self.times += 1

    def once(self) -> bool:
        return self.times > 0

    def twice(self) -> bool:
        return self.times > 1


@contextmanager
def _asked_to_stop() -> Iterator[_Asked]:
    """Within the block SIGINT, SIGTERM and SIGHUP are heard and not obeyed at once. One that is ignored, as
    SIGHUP is under ``nohup``, stays ignored.
    """
    asked = _Asked()
    heard = [one for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) != signal.SIG_IGN]
    before = {one: signal.signal(one, asked.hear) for one in heard}
    try:
        yield asked
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _is_free(service: Service) -> None:
    """:raises CannotRun: somebody listens there, or nobody may"""
    family = socket.AF_INET6 if ":" in service.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as one:
        # As servers do: a port that was in use a minute ago is free.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((service.host, service.port))
        except OSError as error:
            why = "another program listens there" if error.errno == errno.EADDRINUSE else error.strerror
            raise CannotRun(f"port {service.port} on {service.host}: {why}; choose another with --port") from error


def _log(service: Service) -> Path:
    """One file a port, in the user's own folder for such things (XDG); the last start's is replaced."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return state / "spec-o3" / f"vllm-{service.port}.log"


def _show(line: list[str], variables: dict[str, str], as_json: bool) -> None:
    own = {name: value for name, value in variables.items() if os.environ.get(name) != value}
    if as_json:
        print(json.dumps({"command": line, "environment": own}))
    else:
        print(shlex.join([*(f"{name}={value}" for name, value in own.items()), *line]))


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    wanted = f"{least} to {most}" if most is not None else f"{least} or more"

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"found {text!r}, wanted a whole number, {wanted}")
        return int(text)

    return read


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted a share above 0, at most 1")
    return share


def _adapter(text: str) -> Adapter:
    from agent.vllm.flags import Adapter

    name, equals, folder = text.partition("=")
    if not (name and equals and folder):
        raise argparse.ArgumentTypeError(f"found {text!r}, wanted NAME=FOLDER")
    return Adapter(name, Path(folder))
