"""A trained specialist: predict, save and load. Its folder has

- ``weights.safetensors``: the network's state (``weights.pt`` in folders of earlier releases);
- ``specialist.json``: task, threshold, settings, and the card: its training data and log.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.language import tr
from agent.policies.specialist.grid import Sampled, channels, sample
from agent.policies.specialist.network import CARD, EARLIER_WEIGHTS, SCHEMA, WEIGHTS, SpecialistError, SpecialistFolder
from agent.spectrum import Spectrum
from agent.trajectory.steps import Verdict
from training.data import split
from training.data.records import Question
from training.environment import environment
from training.model_card.facts import made_here
from training.settings import SettingsError, from_mapping
from training.specialist.learning import OnEpoch, SpecialistSettings, learn, log_odds, network

_AT_ONCE = 128


@dataclass(frozen=True)
class Specialist:
    """A network for one task.

    :param threshold: P at or above it is YES: the best F1 on the held-out part of the training data
    :param card: its training data and log, JSON values
    """

    task: str
    network: Any
    threshold: float
    settings: SpecialistSettings
    card: dict[str, Any]

    def predict(self, spectra: Iterable[Spectrum]) -> NDArray[np.float64]:
        """Return P(YES) of each spectrum (n,), with equal prior probabilities of YES and NO."""
        parts = []
        waiting = iter(spectra)
        while some := list(islice(waiting, _AT_ONCE)):
            parts.append(self.of_sampled(Sampled.stack([sample(spectrum) for spectrum in some])))
        return np.concatenate([np.zeros(0), *parts])

    def of_sampled(self, rows: Sampled) -> NDArray[np.float64]:
        """Return P(YES) of spectra already on the grid."""
        p: NDArray[np.float64] = 1 / (1 + np.exp(-log_odds(self.network, channels(rows))))
        return p

    def verdict(self, p: float) -> Verdict:
        return "YES" if p >= self.threshold else "NO"

    @property
    def drafter(self) -> dict[str, Any]:
        """The drafter as a predictions file names it, with the settings to train it again."""
        settings = dataclasses.asdict(self.settings) | {"threshold": self.threshold}
        return {"kind": "specialist", "name": "1-D convolutional network", "settings": settings}

    def save(self, folder: Path) -> None:
        """Write it to ``folder``, with its model card.

        :raises OSError, JournalError: it cannot be written
        :raises CardError: there is a card of another origin
        """
        from safetensors.torch import save_file

        from training.model_card.card import write

        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.network.state_dict(), folder / WEIGHTS)
        (folder / EARLIER_WEIGHTS).unlink(missing_ok=True)
        card = {
            "schema": SCHEMA,
            "task": self.task,
            "threshold": self.threshold,
            "weights_sha256": hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest(),
            "settings": dataclasses.asdict(self.settings),
            "card": self.card,
        }
        text = json.dumps(card, indent=1, ensure_ascii=False) + "\n"
        (folder / CARD).write_text(text, encoding="utf-8")
        write(folder, self._facts(folder.resolve().name))

    def _facts(self, name: str) -> dict[str, Any]:
        """Return the facts of the model card, without the names of the spectra."""
        numbers, log = self.card, self.card["log"]
        both = {label: numbers["train"][label] + numbers["held_out"][label] for label in ("YES", "NO")}
        data = {
            "kind": "questions",
            "rows": sum(both.values()),
            "sources": len(numbers["sources"]),
            "classes": {self.task: both},
            "surveys": numbers["surveys"],
            "simulated": numbers["simulated"],
        }
        held_out = min(log, key=lambda line: line["held_out_loss"])
        curve = {
            "steps": len(log),
            "loss": {"first": log[0]["loss"], "last": log[-1]["loss"]},
            "eval_loss": {"best": held_out["held_out_loss"], "step": held_out["epoch"], "times": len(log)},
        }
        settings = dataclasses.asdict(self.settings) | {"threshold": self.threshold}
        return made_here("specialist", name, data=data, curve=curve, settings=settings, environments=[environment()])

    @classmethod
    def load(cls, folder: Path) -> Specialist:
        """Load a specialist. :raises SpecialistError: there is none, or it is damaged"""
        read_folder = SpecialistFolder.read(folder)
        card, weights = read_folder.card, read_folder.weights
        try:
            settings = from_mapping(card["settings"], SpecialistSettings, str(folder / CARD))
            net = network(settings.dropout)
            net.load_state_dict(_weights(weights))
            return cls(str(card["task"]), net, float(card["threshold"]), settings, card["card"])
        except OSError as error:
            raise SpecialistError(f"{error.filename}: {error.strerror}") from error
        except (SettingsError, RuntimeError, ValueError, TypeError, KeyError) as error:
            raise SpecialistError(
                tr("{folder}: found no specialist that loads ({error})", folder=folder, error=_line(error))
            ) from error


def train(
    questions: Sequence[Question],
    settings: SpecialistSettings | None = None,
    on_epoch: OnEpoch = lambda _: None,
    rows: Sampled | None = None,
) -> Specialist:
    """Train on questions of one task.

    :param on_epoch: called after each epoch
    :param rows: their spectra on the grid, where they have been read already
    :raises SpecialistError: several tasks or none, or too few sources of a class
    :raises SpectrumError: a spectrum cannot be read
    """
    settings = settings or SpecialistSettings()
    tasks = sorted({question.task.key for question in questions})
    if len(tasks) != 1:
        raise SpecialistError(
            tr("found questions of {value}, expected those of one task", value=", ".join(tasks) or tr("no task"))
        )
    if rows is None:
        rows = Sampled.stack([sample(question.spectrum()) for question in questions])
    yes = np.array([question.label == "YES" for question in questions])
    held_out = _held_out(questions, yes, settings)
    learned = learn(rows, yes, held_out, settings, on_epoch)
    card = _training_card(questions, yes, held_out)
    card |= {"epoch_kept": learned.kept, "held_out_f1": learned.f1, "log": list(learned.log)}
    return Specialist(tasks[0], learned.network, learned.threshold, settings, card)


def _held_out(questions: Sequence[Question], yes: NDArray[np.bool_], settings: SpecialistSettings) -> NDArray[np.bool_]:
    """Select the validation rows: a part of the sources of each class, all rows of a source together."""
    fractions = {"train": 1 - settings.held_out, "held out": settings.held_out}
    sources = {question.source for question in split(questions, fractions, settings.seed)["held out"]}
    held_out = np.array([question.source in sources for question in questions])
    for label, which in (("YES", yes), ("NO", ~yes)):
        if not ((which & held_out).any() and (which & ~held_out).any()):
            number = len({question.source for question, is_one in zip(questions, which, strict=True) if is_one})
            raise SpecialistError(
                tr(
                    "found {there} sources that are {label}, expected enough to hold out {held_out:g} of them "
                    "and train on the rest",
                    there=number,
                    label=label,
                    held_out=settings.held_out,
                )
            )
    return held_out


def _training_card(
    questions: Sequence[Question], yes: NDArray[np.bool_], held_out: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the numbers of the training data, and the sources, so that a test on them is refused."""

    def counted(which: NDArray[np.bool_]) -> dict[str, int]:
        return {"YES": int((yes & which).sum()), "NO": int((~yes & which).sum())}

    return {
        "train": counted(~held_out),
        "held_out": counted(held_out),
        "surveys": dict(Counter(question.survey for question in questions)),
        "simulated": sum(question.simulated for question in questions),
        "sources": sorted({question.source for question in questions}),
    }


def _weights(path: Path) -> dict[str, Any]:
    import torch
    from safetensors.torch import load_file

    weights: dict[str, Any]
    # Plain tensors only: nothing in the file is executed.
    weights = load_file(path) if path.name == WEIGHTS else torch.load(path, weights_only=True)
    return weights


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
