"""Work on several cores: results in order, limited prefetch, and no process left running.

Imports little, because every started process imports this module.
"""

import multiprocessing
import os
import signal
import time
from contextlib import closing

import pytest

from agent.processes import AHEAD, ProcessLost, ordered_map


def slow_if_even(number: int) -> tuple[int, int]:
    time.sleep(0.02 if number % 2 == 0 else 0.0)
    return number, os.getpid()


def refused(number: int) -> int:
    raise OSError(28, "No space left on device")


def killed(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_the_input(processes):
    done = list(ordered_map(slow_if_even, range(20), processes))
    assert [number for number, _ in done] == list(range(20))
    assert (os.getpid() in {pid for _, pid in done}) == (processes == 1)


def test_only_a_few_items_are_taken_ahead():
    taken = []
    items = (taken.append(number) or number for number in range(100))
    with closing(ordered_map(slow_if_even, items, 2)) as done:
        for number, _ in done:
            assert len(taken) <= number + 2 * AHEAD
            if number == 30:
                break
    assert len(taken) < 50
    assert not [p for p in multiprocessing.active_children() if p.is_alive()]


def test_errors_of_workers_reach_the_caller():
    with pytest.raises(OSError, match="No space left") as raised:
        list(ordered_map(refused, range(3), 2))
    assert raised.value.errno == 28
    with pytest.raises(ProcessLost, match="ended from outside"):
        list(ordered_map(killed, range(3), 2))
    assert list(ordered_map(refused, [], 2)) == []
