"""``spec-o3`` in processes that are forked from one with the program's modules imported.

Exit status, output, working directory and environment are as if started by hand; only the imports, some seconds of
processor time for the web app, are shared.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from agent.cli.options import add_options, options_of

ROOT = Path(__file__).resolve().parents[2]


_numbers = count()
_PORTS = range(20_000, 32_000)
_next_ports = count(997 * os.getpid())


def free_port(in_a_row: int = 1) -> int:
    """Return a TCP port of this machine that no program uses now, the first of so many in a row.

    It is none of those that the system gives to connections, one of which could take it before the caller does, and
    this process is given it once only.
    """
    while True:
        ports = [_PORTS[next(_next_ports) % len(_PORTS)] for _ in range(in_a_row)]
        if ports[-1] - ports[0] == in_a_row - 1 and all(map(_is_free, ports)):
            return ports[0]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Process:
    """A forked process, with the part of ``subprocess.Popen`` that tests use."""

    def __init__(self, pid: int, status: Path) -> None:
        self.pid = pid
        self._status = status
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and self._status.exists():
            self.returncode = int(self._status.read_text(encoding="ascii"))
        return self.returncode

    def wait(self, timeout: float = 300) -> int:
        give_up = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > give_up:
                raise subprocess.TimeoutExpired("spec-o3", timeout)
            time.sleep(0.005)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


Running = Process | subprocess.Popen[bytes]


def start(
    *arguments: object, cwd: Path = ROOT, out: Path | None = None, err: Path | None = None, env: Mapping[str, str] = {}
) -> Running:
    """Start ``python app.py ARGUMENTS`` in its own session.

    :param out: file to which standard output is appended; None: it is discarded
    :param err: the same for standard error; None: the same as ``out``
    """
    command = [str(ROOT / "app.py"), *map(str, arguments)]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", **env}
    files = [str(out or os.devnull), str(err or out or os.devnull)]
    if not hasattr(os, "fork"):
        with open(files[0], "ab") as to, open(files[1], "ab") as errors:
            command = [sys.executable, *command]
            return subprocess.Popen(command, cwd=cwd, env=environment, stdout=to, stderr=errors, start_new_session=True)
    server, folder = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    status = Path(folder) / str(next(_numbers))
    request = {"argv": command, "cwd": str(cwd), "files": files, "environment": environment, "status": str(status)}
    print(json.dumps(request), file=server.stdin, flush=True)
    return Process(int(server.stdout.readline()), status)


def parsed(options: type, *argv: object) -> Any:
    """The options of a command, given as on its command line."""
    parser = ArgumentParser()
    add_options(parser, options)
    return options_of(parser, options, parser.parse_args(list(map(str, argv))), "")


def run(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run ``python app.py ARGUMENTS`` to its end."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        status = start(*arguments, cwd=cwd, out=out, err=err).wait()
        texts = (file.read_text(encoding="utf-8") for file in (out, err))
        return subprocess.CompletedProcess(list(map(str, arguments)), status, *texts)


@cache
def _server() -> tuple[subprocess.Popen[str], str]:
    """The process that forks, and the folder where exit statuses are written."""
    folder = tempfile.mkdtemp(prefix="spec-o3-")
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.support.cli"]
    server = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(server.kill)
    return server, folder


def _serve() -> None:
    """Fork once per line of standard input and print the child's number; a child's exit status goes into a file."""
    import app

    app.parser()  # imports the modules of all commands
    for name in ("agent.batch.run", "reviewer.drafting.run", "reviewer.exchange.imports", "reviewer.exchange.exports"):
        import_module(name)  # which commands import when they run
    running: dict[int, str] = {}

    def reap(*_: object) -> None:
        while running:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            file = Path(running.pop(pid))
            partial = file.with_suffix(".part")
            partial.write_text(str(os.waitstatus_to_exitcode(status)), encoding="ascii")
            partial.rename(file)

    signal.signal(signal.SIGCHLD, reap)
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        if request["argv"][1:2] == ["app"]:
            pass
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        child = os.fork()
        if child:
            running[child] = request["status"]
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            print(child, flush=True)
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.setsid()
        for number, file in enumerate((os.devnull, *request["files"])):
            os.dup2(os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["cwd"])
        sys.argv = request["argv"]
        raise SystemExit(app.main())


if __name__ == "__main__":
    _serve()
