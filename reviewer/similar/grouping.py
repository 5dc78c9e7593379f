"""Groups of alike traces, computed in the background: one computation at a time, the latest result of each person."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reviewer.rules.workflow import State
from reviewer.similar.background import Similar, without
from reviewer.similar.files import Keys
from reviewer.similar.groups import groups
from reviewer.store import Store

log = logging.getLogger("spec_o3.similar")

Stage = Literal["waiting", "running", "done", "failed", "stopped"]
_STEPS = 40
"""Steps of the work, about: reading, a fit per number of groups, a description per group."""


@dataclass(frozen=True)
class FoundGroup:
    """A group: names of facts and words that define it, its items, the most typical first, and their states."""

    facts: tuple[str, ...]
    words: tuple[str, ...]
    items: Keys
    states: NDArray[np.str_]


@dataclass
class Job:
    """One computation.

    :param items: number of items that are grouped; ``missing``: of items that are not indexed yet
    """

    stage: Stage = "waiting"
    steps: int = 0
    items: int = 0
    missing: int = 0
    groups: tuple[FoundGroup, ...] = ()
    cancelled: bool = False

    @property
    def progress(self) -> float:
        """The finished part of the work, from 0 to 1, estimated by the number of steps."""
        return 1.0 if self.stage == "done" else min(self.steps / _STEPS, 0.95)


class _Cancelled(Exception):
    """The person started another computation, or the server stops."""


class Grouping:
    """The computations of one server."""

    def __init__(self, similar: Similar, store: Store) -> None:
        self._similar = similar
        self._store = store
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        self._pool: ThreadPoolExecutor | None = None

    def job(self, person: str) -> Job | None:
        """Return the person's latest computation."""
        return self._jobs.get(person)

    def start(self, person: str, items: Sequence[int] | None, hidden: Collection[int], number: int | None) -> Job:
        """Begin to group items; an earlier computation of the person ends.

        :param items: None: all; ``hidden`` ones are left out
        :param number: of groups; None: chosen by their separation
        """
        with self._lock:
            if person in self._jobs:
                self._jobs[person].cancelled = True
            job = self._jobs[person] = Job()
            self._pool = self._pool or ThreadPoolExecutor(1, thread_name_prefix="groups")
            self._pool.submit(self._run, job, items, hidden, number)
        return job

    def close(self) -> None:
        """End all computations."""
        with self._lock:
            for job in self._jobs.values():
                job.cancelled = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job, items: Sequence[int] | None, hidden: Collection[int], number: int | None) -> None:
        def step() -> None:
            job.steps += 1
            if job.cancelled:
                raise _Cancelled

        try:
            job.stage = "running"
            step()
            corpus = without(self._similar.corpus, hidden)
            if items is None:
                rows = np.arange(corpus.items.size)
                job.missing = max(corpus.items_in_store - self._similar.index.corpus.items.size, 0)
            else:
                chosen = np.array(sorted(set(items) - set(hidden)), dtype=np.int64)
                rows = corpus.places(chosen)
                job.missing = int(chosen.size - rows.size)
            job.items = int(rows.size)
            grouped = groups(corpus, rows, number, step)
            states: dict[int, State] = self._store.traces.states(corpus.items[rows].tolist())
            job.groups = tuple(
                FoundGroup(
                    group.facts,
                    group.words,
                    corpus.items[group.rows],
                    np.array([states.get(item, "") for item in corpus.items[group.rows].tolist()]),
                )
                for group in grouped
            )
            job.stage = "done"
        except _Cancelled:
            job.stage = "stopped"
        except Exception:  # a closed database, or a bug: the page shows that it failed
            log.exception("groups: the computation failed")
            job.stage = "failed"
