"""Build a benchmark as published (arXiv:2601.06498): positives from a catalogue, hard negatives by rejection sampling.

A weak classifier (``training.specialist``, or a file of predictions) scores spectra of an archive; those above P = 0.8
become negatives. A candidate without a label counts as NO, so missed class members become wrong labels.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from agent.language import tr
from agent.spectrum import Spectrum, SpectrumError
from agent.trajectory.steps import Verdict
from training.data import DataError

Part = Literal["train", "test"]
Kind = Literal["hard", "random"]
Ratio = tuple[int, int]
"""YES to NO."""

BATCH = 64


@dataclass(frozen=True)
class Recipe:
    """Settings of a benchmark; the defaults are the published proportions.

    :param keep: negatives are candidates with a probability above this
    :param test_share: of the positives
    :param snr_min: least signal-to-noise per pixel, of positives and candidates alike
    :param fill: take random candidates, also without a probability, if there are too few hard ones, and mark them
    """

    task: str
    keep: float = 0.8
    test_share: float = 0.4
    train_ratio: Ratio = (1, 1)
    test_ratio: Ratio = (1, 5)
    snr_min: float = 10.0
    seed: int = 0
    fill: bool = False


@dataclass(frozen=True)
class Entry:
    """A spectrum that may be selected; ``key`` names its file in messages."""

    key: str
    source: str
    spectrum: Callable[[], Spectrum] = field(compare=False)


@dataclass(frozen=True)
class Selected:
    """A spectrum of the benchmark.

    :param negative: how a negative was found; None for a positive
    :param p: the weak classifier's P(YES) of a negative; None if it has none
    """

    entry: Entry
    label: Verdict
    negative: Kind | None
    p: float | None
    snr: float
    survey: str
    simulated: bool


class WeakClassifier(Protocol):
    """The weak classifier."""

    def learn(self, positives: Sequence[Spectrum], candidates: Iterator[tuple[Entry, Spectrum]]) -> None:
        """Train on the positives against candidates, which are taken from ``candidates`` and not used otherwise."""

    def p(self, entries: Sequence[Entry], spectra: Sequence[Spectrum]) -> list[float | None]:
        """Return P(YES) of each; None if it is unknown."""

    def description(self) -> dict[str, object]:
        """Return a description for the card: JSON values."""


@dataclass
class Built:
    """A finished selection: the content of each part, in its order, and how it was found.

    :param needed: negatives that each part wants; ``scored``: candidates scored; ``accepted``: of them, with
        a probability above the bar
    :param left_out: how many, by reason
    """

    train: list[Selected] = field(default_factory=list)
    test: list[Selected] = field(default_factory=list)
    needed: dict[Part, int] = field(default_factory=dict)
    scored: int = 0
    accepted: int = 0
    exhausted: bool = False
    left_out: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def part(self, which: Part) -> list[Selected]:
        return self.train if which == "train" else self.test

    def negatives(self, which: Part) -> int:
        return sum(selected.label == "NO" for selected in self.part(which))

    def missing(self, which: Part) -> int:
        return max(0, self.needed[which] - self.negatives(which))

    @property
    def short(self) -> int:
        """Number of missing negatives."""
        return self.missing("train") + self.missing("test")

    @property
    def acceptance(self) -> float | None:
        return self.accepted / self.scored if self.scored else None

    def leave_out(self, key: str, reason: str) -> None:
        self.left_out[reason] += 1
        named = self.examples.setdefault(reason, [])
        if len(named) < 5:
            named.append(key)


def build(
    recipe: Recipe,
    positives: Sequence[Entry],
    candidates: Sequence[Entry],
    weak: WeakClassifier,
    placed: Mapping[str, Part] | None = None,
    done: Callable[[int], None] = lambda _: None,
) -> Built:
    """Select a benchmark. Equal seeds and inputs give equal benchmarks.

    :param placed: the part of each source in the benchmark of another task; here it may only be in the same part
    :param done: called with the number of negatives found
    :raises DataError: fewer than two positives that can be used
    """
    return _Builder(recipe, weak, placed or {}, done).build(positives, candidates)


class _Builder:
    def __init__(
        self, recipe: Recipe, weak: WeakClassifier, placed: Mapping[str, Part], done: Callable[[int], None]
    ) -> None:
        self.recipe, self.weak, self.placed, self.done = recipe, weak, placed, done
        self.rng = np.random.default_rng([recipe.seed, *recipe.task.encode()])
        self.benchmark = Built()
        self.sources: set[str] = set()
        self.numbers: set[bytes] = set()
        self.rejected: list[Selected] = []

    def build(self, positives: Sequence[Entry], candidates: Sequence[Entry]) -> Built:
        built, recipe = self.benchmark, self.recipe
        usable = list(self._usable(self._shuffled(positives)))
        if len(usable) < 2:
            raise DataError(
                tr(
                    "{task}: found {n_usable} positives to use of {n_positives}{found}, expected 2 or more",
                    task=recipe.task,
                    n_usable=len(usable),
                    n_positives=len(positives),
                    found=_left_out_text(built),
                )
            )
        self._place_positives([_selected(entry, spectrum, "YES") for entry, spectrum in usable])
        ratios: dict[Part, Ratio] = {"train": recipe.train_ratio, "test": recipe.test_ratio}
        for which, (yes, no) in ratios.items():
            built.needed[which] = round(len(built.part(which)) * no / yes)
        kept = {entry.entry.source for entry in built.train}
        sampled = self._usable(self._shuffled(candidates))
        self.weak.learn([spectrum for entry, spectrum in usable if entry.source in kept], sampled)
        del usable
        self._select_negatives(sampled)
        if built.short and recipe.fill:
            self._fill()
        for part in (built.train, built.test):
            part[:] = [part[i] for i in self.rng.permutation(len(part))]
        return built

    def _shuffled(self, entries: Sequence[Entry]) -> list[Entry]:
        ordered = sorted(entries, key=lambda entry: (entry.source, entry.key))
        return [ordered[i] for i in self.rng.permutation(len(ordered))]

    def _usable(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, Spectrum]]:
        """Yield each spectrum once, if it can be read and is good enough."""
        for entry in entries:
            if entry.source in self.sources:
                self.benchmark.leave_out(entry.key, "the same source again")
                continue
            self.sources.add(entry.source)
            try:
                spectrum = entry.spectrum()
            except (SpectrumError, DataError):
                self.benchmark.leave_out(entry.key, "cannot be read")
                continue
            before, numbers = len(self.numbers), _numbers(spectrum)
            self.numbers.add(numbers)
            if len(self.numbers) == before:
                self.benchmark.leave_out(entry.key, "the same numbers under another name")
            elif not spectrum.snr_typical >= self.recipe.snr_min:
                self.benchmark.leave_out(entry.key, f"S/N below {self.recipe.snr_min:g}")
            else:
                yield entry, spectrum

    def _place_positives(self, positives: Sequence[Selected]) -> None:
        """Put two fifths into the test set, required ones first; at least one into each part."""
        number = min(max(1, round(self.recipe.test_share * len(positives))), len(positives) - 1)
        free = [positive for positive in positives if positive.entry.source not in self.placed]
        bound = [positive for positive in positives if positive.entry.source in self.placed]
        self.benchmark.train += [entry for entry in bound if self.placed[entry.entry.source] == "train"]
        self.benchmark.test += [entry for entry in bound if self.placed[entry.entry.source] == "test"]
        more = max(0, number - len(self.benchmark.test))
        self.benchmark.test += free[:more]
        self.benchmark.train += free[more:]

    def _select_negatives(self, sampled: Iterator[tuple[Entry, Spectrum]]) -> None:
        while self.benchmark.short:
            some = [pair for pair, _ in zip(sampled, range(BATCH), strict=False)]
            if not some:
                self.benchmark.exhausted = True
                return
            entries, spectra = [entry for entry, _ in some], [spectrum for _, spectrum in some]
            for entry, spectrum, p in zip(entries, spectra, self.weak.p(entries, spectra), strict=True):
                if self.benchmark.short:
                    self._judge(_selected(entry, spectrum, "NO", p))
            self.done(self.benchmark.negatives("train") + self.benchmark.negatives("test"))

    def _judge(self, candidate: Selected) -> None:
        if candidate.p is None and self.recipe.fill:
            self.rejected.append(candidate)
            return
        if candidate.p is None:
            self.benchmark.leave_out(candidate.entry.key, "no prediction for it")
            return
        self.benchmark.scored += 1
        if candidate.p <= self.recipe.keep:
            self.rejected.append(candidate)
            return
        self.benchmark.accepted += 1
        if not self._put(candidate):
            self.benchmark.leave_out(candidate.entry.key, "in another task's part of the benchmark")

    def _put(self, negative: Selected) -> bool:
        """Put entries into the test set first; a source of another task's benchmark goes into the same part as
        there.
        """
        bound = self.placed.get(negative.entry.source)
        parts: tuple[Part, ...] = ("test", "train") if bound is None else (bound,)
        for part in parts:
            if self.benchmark.missing(part):
                self.benchmark.part(part).append(negative)
                return True
        return False

    def _fill(self) -> None:
        for entry in self.rejected:
            if not self.benchmark.short:
                return
            self._put(Selected(**{**vars(entry), "negative": "random"}))


def _selected(entry: Entry, spectrum: Spectrum, label: Verdict, p: float | None = None) -> Selected:
    return Selected(
        entry,
        label,
        None if label == "YES" else "hard",
        p,
        spectrum.snr_typical,
        spectrum.survey or "unknown",
        spectrum.meta.get("simulated") is True,
    )


def _numbers(spectrum: Spectrum) -> bytes:
    digest = hashlib.sha256(spectrum.wavelength.tobytes())
    digest.update(spectrum.flux.tobytes())
    return digest.digest()


def _left_out_text(built: Built) -> str:
    reasons = ", ".join(f"{number}: {reason}" for reason, number in built.left_out.items())
    return f" ({reasons})" if reasons else ""
