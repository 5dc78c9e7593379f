"""A cluster of Ray on this machine with two logical nodes, and a policy that ends its worker."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.conversation import Conversation, Piece, Policy
from agent.trajectory import Drafter

ROOT = Path(__file__).resolve().parents[2]
_NODES = """
import sys
from ray.cluster_utils import Cluster

node = dict(num_cpus=2, object_store_memory=200 * 2**20)
found = Cluster(initialize_head=True, head_node_args=dict(node, include_dashboard=False))
found.add_node(**node)
print(found.address, flush=True)
sys.stdin.read()
found.shutdown()
"""


@contextmanager
def two_nodes() -> Iterator[str]:
    """Start the cluster in a process of its own, for the time of the block; give its address."""
    # Without the idle workers that each command would start in advance, a second of CPU time each.
    variables = os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_prestart_worker_first_driver": "0"}
    with subprocess.Popen(
        [sys.executable, "-c", _NODES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=variables,
        cwd=ROOT,
    ) as nodes:
        assert nodes.stdout is not None
        assert nodes.stdin is not None
        try:
            yield nodes.stdout.readline().decode().strip()
        finally:
            nodes.stdin.close()
            nodes.wait()


def workers() -> list[int]:
    """Return the process ids of the actors that run the loop, on clusters that this process started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes()
            if command.startswith(b"ray::") and b"MapWorker" in command and os.getpid() in _ancestors(path):
                found.append(int(path.name))
        except OSError:
            continue
    return found


def _ancestors(process: Path) -> Iterator[int]:
    parent = 0
    while parent != 1:
        parent = int((process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        if not parent:
            return
        yield parent
        process = process.with_name(str(parent))


class EndsItsWorker:
    """Answers NO, but ends its process at a spectrum whose name begins with "poison"."""

    drafter = Drafter("model", "ends its worker")

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        if conversation.spectrum.name.startswith("poison"):
            os._exit(1)
        yield r"<think>Nothing to see.</think><answer>\boxed{NO} No lines.</answer>"


def ends_its_worker(sample: int) -> Policy:
    return EndsItsWorker()
