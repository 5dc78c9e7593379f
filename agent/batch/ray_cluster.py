"""A cluster of Ray (https://docs.ray.io): the one that is running at an address, or one of this machine for one run.
Also what Ray says about its problems, in one line.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

from agent.errors import Refusal
from agent.language import tr
from agent.processes import cores
from agent.text import one_line

CONNECT_SECONDS = 5.0
SHUTDOWN_SECONDS = 10.0
RECEIVER = "outcomes"
"""Name of the thread that receives what the workers deliver."""


class RayError(Refusal):
    """Ray cannot be used or has ended the run: what it said, and what to do."""


@dataclass(frozen=True)
class Workers:
    """How many workers there are and what each one asks of Ray.

    :param address: of a running cluster ("auto": the one of this machine); None: start Ray here, for this run
    :param number: of workers; None: one per core of the cluster
    :param conversations: at a time, of all workers together; a worker has at least one
    :param cpus: share of a core that each worker asks for. Below one, because Ray Data's own tasks need some, too
    """

    address: str | None
    number: int | None = None
    conversations: int = 1
    cpus: float = 0.5


@dataclass(frozen=True)
class Cluster:
    """A connected cluster: its workers, the conversations at a time in each, the share of a core that each asks for."""

    workers: int
    threads: int
    cpus: float


@contextmanager
def ray_cluster(workers: Workers) -> Generator[Cluster, None, None]:
    """Connect to a cluster, or start one on this machine, for the time of the block.

    :raises RayError: Ray is not installed, or there is no cluster at the address
    """
    # Ray reports its use to its makers unless told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Its processes write warnings about its own workings to this terminal.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    # A thread of Ray Data that outlives the connection must not open another one, to whatever cluster it finds.
    os.environ["RAY_ENABLE_AUTO_CONNECT"] = "0"
    try:
        import ray
    except ImportError as error:
        raise RayError(tr("Ray is not installed ({error}): pip install 'spec-o3[scale]'", error=error)) from error
    where: dict[str, Any] = {"address": workers.address}
    if workers.address is None:  # "local": without it, Ray looks for a cluster that is already running here
        # Enough for the workers and for Ray Data's own tasks; the cores themselves are shared as always.
        number = workers.number or cores()
        where = {"address": "local", "num_cpus": round(number * workers.cpus) + 2, "include_dashboard": False}
    _check_address(workers.address)
    handlers = {
        number_of_signal: signal.getsignal(number_of_signal) for number_of_signal in (signal.SIGTERM, signal.SIGINT)
    }
    # Ray prints messages about its processes to standard output, which is for our result.
    with redirect_stdout(sys.stderr):
        try:
            ray.init(**where, logging_level=logging.ERROR, log_to_driver=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise RayError(
                tr("Ray at {value}: {error}", value=workers.address or tr("this machine"), error=error)
            ) from error
        finally:
            # Ray takes SIGTERM for itself, and would lose what a stopped run keeps.
            if threading.current_thread() is threading.main_thread():
                for number_of_signal, handler in handlers.items():
                    signal.signal(number_of_signal, handler)
        try:
            here = workers.address is None
            number = workers.number or (cores() if here else int(ray.cluster_resources().get("CPU", 1)))
            yield Cluster(number, -(-workers.conversations // number), workers.cpus)
        finally:
            # The threads of a run that was stopped notice only now, and would write about it.
            with Problems().listening():
                ray.shutdown()
                for thread in threading.enumerate():
                    if thread.name == RECEIVER:
                        thread.join(SHUTDOWN_SECONDS)


def _check_address(address: str | None) -> None:
    """Find out in seconds that nothing listens at an address; Ray takes minutes. :raises RayError: nothing does"""
    host, colon, port = (address or "").rpartition(":")
    if not (colon and host and port.isdecimal()) or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        raise RayError(
            tr(
                "Ray at {address}: found nothing there ({value}), expected a cluster (ray start --head)",
                address=address,
                value=error.strerror or error,
            )
        ) from error


class Problems(logging.Handler):
    """Receives what Ray Data writes into its log instead of showing it, and keeps the last exception: without it nobody
    would know why units are missing.
    """

    def __init__(self) -> None:
        super().__init__()
        self.last = ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.last = error_text(record.exc_info[1])

    @contextmanager
    def listening(self) -> Generator[None, None, None]:
        """Within the block, Ray Data's log goes here alone."""
        import ray.data  # it sets up its log when it is imported

        log = logging.getLogger(ray.data.__name__)
        before, handlers, log.handlers, log.propagate = log.propagate, log.handlers, [self], False
        try:
            yield
        finally:
            log.handlers, log.propagate = handlers, before


def error_text(error: BaseException) -> str:
    """Return an error of Ray in one line. Its text may be the traceback of a worker, whose last line has the reason."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return one_line(f"{type(error).__name__}: {lines[-1] if lines else ''}", 300)
