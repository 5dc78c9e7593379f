"""Policy for a nano model: in this process, without a server, torch or transformers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agent.conversation import CannotTell, Conversation, Piece, PolicyError
from agent.language import deferred
from agent.policies import Sampling
from agent.policies.nano import folder
from agent.policies.nano.model import NanoModel
from agent.policies.nano.tokens import script
from agent.policies.openai.health import Health
from agent.policies.spec_o3 import tool_settings
from agent.trajectory import Drafter
from agent.trajectory.forms import SPEC_O3
from agent.trajectory.tags import parse

NAME = "nano (demonstration model)"
HELD = 2
"""Models in memory at once."""

_loading = threading.Lock()
_held: OrderedDict[tuple[Path, str], NanoModel] = OrderedDict()


class Nano:
    """The policy.

    :param path: the folder of the model
    :param measure: offer the ``measure`` tool; None: as the folder says
    """

    def __init__(self, path: Path, sampling: Sampling | None = None, measure: bool | None = None) -> None:
        self.path = path
        self._measure = measure
        self.sampling = sampling or Sampling()

    @property
    def measure(self) -> bool:
        """Whether it gets the ``measure`` tool. :raises PolicyError: the folder cannot be read"""
        if self._measure is None:
            about = folder.abstain(self.path)
            return about is not None and about.measure
        return self._measure

    @property
    def drafter(self) -> Drafter:
        """The weights by version and hash, and the sampling. :raises PolicyError: the weights cannot be read"""
        about = folder.abstain(self.path)
        settings: dict[str, Any] = {
            **tool_settings(SPEC_O3, measure=self.measure),
            "server": "numpy, in process",
            "server_version": np.__version__,
            "weights_sha256": folder.sha256(self.path),
            **self.sampling.settings(),
        }
        if about is not None:
            settings["weights_version"] = about.version
        return Drafter("model", NAME, settings)

    def check(self) -> Health:
        """Check whether it can be used. The model is loaded if it is not yet, which takes a fraction of a second."""
        try:
            loaded = model(self.path)
        except PolicyError as problem:
            return Health(False, problem.sentence, NAME)
        about = loaded.folder.abstain
        if about is None:
            sentence = deferred("{name}, in this process", name=NAME)
        else:
            sentence = deferred("{name}, in this process, for {tasks}", name=NAME, tasks=", ".join(about.tasks))
        return Health(True, sentence, NAME, "numpy", np.__version__, loaded.context)

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Stream the next turn; with an answer also its score, and the reason why it does not count if there is one."""
        loaded = model(self.path)
        about, key = loaded.folder.abstain, conversation.task.key
        if about is not None and key not in about.tasks:
            raise PolicyError(
                deferred(
                    "{name} was not trained on the task {key!r:.60}; it knows {tasks}",
                    name=NAME,
                    key=key,
                    tasks=", ".join(about.tasks),
                )
            )
        text = ""
        number, stop = len(conversation.exchanges), conversation.stop
        with closing(loaded.write(script(conversation), self.sampling, number, lambda: stop.is_set)) as pieces:
            for piece in pieces:
                if isinstance(piece, str):
                    text += piece
                yield piece
        reason = None if about is None else about.abstain.get(key)
        if reason is not None and parse(text).answer is not None:
            yield CannotTell(reason)


@dataclass(frozen=True)
class ManySpectra:
    """Makes the policy of each sample in a run on many spectra, in this process or in others: it can be pickled."""

    path: Path
    sampling: Sampling = field(default_factory=Sampling)

    def __call__(self, sample: int = 0) -> Nano:
        """Make the policy of sample ``sample`` (from 0)."""
        return Nano(self.path, self.sampling.for_sample(sample))


def model(path: Path) -> NanoModel:
    """Return the model of a folder, loading it if it was not yet or if its weights have changed.

    :raises PolicyError: it cannot be loaded
    """
    with _loading:
        if (problem := folder.problem(path)) is not None:
            raise PolicyError(problem)
        key = path.resolve(), folder.sha256(path)
        held = _held.pop(key, None) or NanoModel.load(path)
        _held[key] = held
        while len(_held) > HELD:
            _held.popitem(last=False)
        return held
