"""``spec-o3`` in processes of their own, forked from one that has imported the program already.

Each has its exit status, its output and its working directory as if started by hand; only the imports are shared.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """``python app.py ARGUMENTS`` in this folder."""
    command = [str(ROOT / "app.py"), *map(str, arguments)]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    if not hasattr(os, "fork"):
        return subprocess.run(
            [sys.executable, *command],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=300,
            env=environment,
            check=False,
        )
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "out", Path(folder) / "err"]
        wanted = {"argv": command, "cwd": str(cwd), "files": [*map(str, files)], "environment": environment}
        print(json.dumps(wanted), file=server.stdin, flush=True)
        status = int(server.stdout.readline())
        out, err = (file.read_text(encoding="utf-8") for file in files)
    return subprocess.CompletedProcess(command, status, out, err)


@cache
def _server() -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.support.cli"]
    server = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.kill)
    return server


def _serve() -> None:
    """Fork once per line of standard input; the child runs the command, the parent prints its exit status."""
    import app

    app.parser()  # imports the modules of all commands
    for line in iter(sys.stdin.readline, ""):
        wanted = json.loads(line)
        if child := os.fork():
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            continue
        for number, file in enumerate((os.devnull, *wanted["files"])):
            os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), number)
        os.environ.clear()
        os.environ.update(wanted["environment"])
        os.chdir(wanted["cwd"])
        sys.argv = wanted["argv"]
        raise SystemExit(app.main())


if __name__ == "__main__":
    _serve()
