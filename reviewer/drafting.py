"""Spectra from files, drafted one after the other by whoever thinks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from agent.conversation import Policy
from agent.loop import run
from agent.spectrum import SpectrumError, read_all
from agent.tasks import Task
from agent.trajectory import Verdict
from reviewer.store import Draft


@dataclass(frozen=True)
class Refused:
    """A file, or the rest of one, that gave no draft; in the words of whatever refused it."""

    reason: str


def draft_files(
    paths: Iterable[Path], task: Task, policy: Policy, label: Verdict | None = None, batch: str = ""
) -> Iterator[Draft | Refused]:
    """A draft for each spectrum of each file, as they are made.

    :param label: the known truth of all of them
    :raises PolicyError: the policy cannot go on
    """
    for path in paths:
        try:
            for spectrum in read_all(path):
                trajectory = run(spectrum, task, policy)
                if label is not None:
                    trajectory = replace(trajectory, label=label, label_source="given when drafted")
                yield Draft(trajectory, spectrum, batch=batch)
        except SpectrumError as error:
            yield Refused(str(error))


def _baseline() -> Policy:
    from agent.policies.baseline import Baseline

    return Baseline()


# A policy is made when it is asked for: what another one needs (torch, a server) is nobody else's concern.
POLICIES: dict[str, Callable[[], Policy]] = {"baseline": _baseline}
