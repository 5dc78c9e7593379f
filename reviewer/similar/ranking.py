"""Ranking of all traces: by likeness to one, and by a few examples of a kind (*more like these*).

The model of examples is a naive Bayes classifier against all traces: each fact weighs by how much more frequent it is
among the examples, shrunk because they are few, and words and spectra add how near a trace is to the examples, as far
as the examples are near to each other. Fewer than ``FEWEST`` examples show no kind: traces are ranked by their likeness
to them. Its constants were chosen on simulated failures; ``docs/team/similar.md`` has what it reaches on others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reviewer.similar import facts
from reviewer.similar.index import Corpus

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

FACTS_OF_LIKENESS = 0.6
"""Weight of the facts beside the words in the likeness of two traces."""
PRIOR = 1.0
"""Examples' worth of the frequency in all traces, by which the frequency among few examples is shrunk."""
OTHERS = 10.0
"""Counterexamples' worth of the frequency in all traces."""
OF_WORDS = 0.3
"""Part of the log odds of the words that counts."""
OF_SPECTRA = 0.3
"""Part of the log odds of the spectra that counts."""
TEMPERED = 0.85
"""Factor of all log odds for probabilities: facts depend on each other, so their sum is too certain."""
RARE = 0.05
"""Part of all traces below which a fault can define a kind."""
SIGNS = 0.03
"""Part of the facts that are a sign of a kind."""
LEFT = 0.2
"""Part of the traces with a rare fault that all examples have which are not of the kind."""
START = 0.02
"""Share of a kind from which its estimation begins."""
OF_NEUTRAL = 0.3
"""Part of the log odds of a fact that is no fault that counts."""
OF_MEMBERS = 0.5
"""Part of the log odds of a fact that counts if its family counts too."""
STEPS = 12
"""Of the estimation of that share."""
PURITY = 0.9
"""Part of right traces that is wanted above a suggested cut."""
EXPECTED = 0.93
"""Part that the model has to expect there: its probabilities are a little too certain."""
FEWEST = 3
"""Examples that can show what is common to a kind, so that a cut is suggested."""
_LEAST = 0.5
"""Traces that a fact counts as having at least: none is never certain to be."""
_BLOCK = 8192


@dataclass(frozen=True)
class Ranking:
    """All traces by example.

    :param order: rows of the corpus, the likeliest first, without examples and counterexamples
    :param probability: of each row of ``order`` to be of the kind
    :param few: whether the examples are too few to have a kind: ``probability`` is then the likeness to them
    :param cut: number of rows of ``order`` above which ``PURITY`` is expected; 0: none is suggested
    :param reasons: the facts that weigh most, with their log odds
    """

    order: Places
    probability: Floats
    cut: int
    reasons: tuple[tuple[str, float], ...]
    few: bool = False


def alike(corpus: Corpus, words: NDArray[np.float32], own: NDArray[np.uint8]) -> Floats:
    """Return the likeness of every trace to one (n,): 1 the same words and facts, 0 nothing in common."""
    weights = rarity(corpus)
    mine = _unit_facts(own[np.newaxis].astype(np.float32), weights)[0]
    likeness = np.zeros(corpus.items.size)
    for start in range(0, corpus.items.size, _BLOCK):
        rows = slice(start, start + _BLOCK)
        of_facts = _unit_facts(corpus.facts[rows].astype(np.float32), weights) @ mine
        likeness[rows] = corpus.words[rows].astype(np.float32) @ words + FACTS_OF_LIKENESS * of_facts
    return likeness / (1.0 + FACTS_OF_LIKENESS)


def near(corpus: Corpus, examples: Sequence[int], spectra: Floats) -> Floats:
    """Return the mean likeness of every trace to the examples (n,): of texts and, where both have one, of spectra.

    :param spectra: likeness of every spectrum to that of each example (n, n_examples), NaN without one
    """
    texts = [alike(corpus, corpus.words[row].astype(np.float32), corpus.facts[row]) for row in examples]
    each = np.column_stack(texts)
    return np.asarray(np.where(np.isnan(spectra), each, (each + spectra) / 2).mean(axis=1))


def rank(
    corpus: Corpus,
    examples: Sequence[int],
    counterexamples: Sequence[int] = (),
    spectra: Callable[[Sequence[int]], Floats] | None = None,
    among: NDArray[np.bool_] | None = None,
) -> Ranking:
    """Rank all traces.

    :param examples: rows of the corpus, at least one; ``counterexamples`` likewise
    :param spectra: returns the likeness of every spectrum to those of some rows (n, n_rows), NaN without one
    :param among: the traces that are ranked (n,); what is usual is learned from all. None: all
    """
    rest = np.ones(corpus.items.size, dtype=bool) if among is None else among.copy()
    rest[[*examples, *counterexamples]] = False
    rows = np.flatnonzero(rest)

    def likeness_of(some: Sequence[int]) -> Floats:
        return np.full((corpus.items.size, len(some)), np.nan) if spectra is None else spectra(some)

    if len(examples) < FEWEST:
        likeness = near(corpus, examples, likeness_of(examples))
        if counterexamples:
            unlike = near(corpus, counterexamples, likeness_of(counterexamples))
            likeness -= np.maximum(unlike - likeness, 0.0)
        order = rows[np.argsort(-likeness[rows], kind="stable")]
        return Ranking(order, likeness[order], 0, (), few=True)
    log_odds, share, weights = _classified(corpus, examples, counterexamples, likeness_of(examples))
    order = rows[np.argsort(-log_odds[rows], kind="stable")]
    probability = _probability(TEMPERED * log_odds[order], share)
    cut = 0
    if order.size:
        expected = np.cumsum(probability) / np.arange(1, order.size + 1)
        good = np.flatnonzero(expected >= EXPECTED)
        cut = int(good[-1]) + 1 if good.size else 0
    weight = dict(zip(facts.FACTS, weights.tolist(), strict=True))
    shares = dict(zip(facts.FACTS, corpus.facts[list(examples)].mean(axis=0).tolist(), strict=True))
    strongest = sorted((name for name in facts.FACTS if weight[name] > 1.0), key=lambda name: -weight[name])
    reasons = tuple((name, weight[name]) for name in facts.most_special(strongest, shares)[:6])
    return Ranking(order, probability, cut, reasons)


def _classified(
    corpus: Corpus, examples: Sequence[int], others: Sequence[int], spectra: Floats
) -> tuple[Floats, float, Floats]:
    """Return the log odds (n,) of each trace to be like the examples, but for the share of such traces, that share, and
    what each fact adds where it is present, compared with where it is not.

    Which part of the traces with a fault are of the kind cannot be learned from examples alone: the more of the
    examples have a rare fault, the more of the traces with it are taken to be of the kind, up to 1 − ``LEFT``.
    """
    number = corpus.items.size
    rows = corpus.facts.astype(np.float32)
    common = np.clip(rows.sum(axis=0, dtype=np.float64), _LEAST, number - _LEAST) / number
    neutral = np.array([name in facts.NEUTRAL for name in facts.FACTS])
    inside = corpus.facts[list(examples)].sum(axis=0, dtype=np.float64)
    outside = corpus.facts[list(others)].sum(axis=0, dtype=np.float64)
    explained = np.where((common < RARE) & ~neutral, (1 - LEFT) * (inside / len(examples)) ** 2, 0.0)
    among = (inside + PRIOR * common) / (len(examples) + PRIOR)
    against = (outside + OTHERS * common * (1 - explained)) / (len(others) + OTHERS)
    counted = np.where(neutral, OF_NEUTRAL, 1.0) * _information(common, inside, len(examples))
    counted[[facts.NUMBER[name] for members in facts.FAMILIES.values() for name in members]] *= OF_MEMBERS
    present, absent = counted * np.log(among / against), counted * np.log((1 - among) / (1 - against))
    log_odds = rows @ (present - absent).astype(np.float32) + absent.sum()
    log_odds += OF_WORDS * _of_words(corpus, examples) + OF_SPECTRA * _of_spectra(spectra, examples)
    share = START
    for _ in range(STEPS):
        share = float(np.clip(_probability(TEMPERED * log_odds, share).mean(), 1e-6, 0.2))
    return log_odds, share, present - absent


def _information(common: Floats, inside: Floats, number: int) -> Floats:
    """Return the probability (n_facts,) that a fact is a sign of the kind, and is not among the examples by chance; 1
    for facts that are rarer among them than elsewhere.

    ``inside`` of ``number`` examples have it. By chance they follow a binomial distribution with the frequency in all
    traces; as a sign, one with any frequency, each as likely as another.
    """
    ways = np.array([math.comb(number, round(count)) for count in inside], dtype=np.float64)
    by_chance = ways * common**inside * (1.0 - common) ** (number - inside)
    odds = SIGNS / (1.0 - SIGNS) / (number + 1) / np.maximum(by_chance, 1e-300)
    return np.where(inside > common * number, odds / (1.0 + odds), 1.0)


def _of_words(corpus: Corpus, examples: Sequence[int]) -> Floats:
    """Return the log odds (n,) of the words: of two normal distributions along the direction of the examples, whose
    distance is how far each example lies along the direction of the others.
    """
    number = len(examples)
    if number < 2 or corpus.items.size <= number:
        return np.zeros(corpus.items.size)
    own = corpus.words[list(examples)].astype(np.float64)
    mean = np.mean([corpus.words[s : s + _BLOCK].astype(np.float64).sum(axis=0) for s in _blocks(corpus)], axis=0)
    mean = mean * len(_blocks(corpus)) / corpus.items.size
    direction = _unit(own.mean(axis=0) - mean)
    along = np.concatenate(
        [
            (corpus.words[s : s + _BLOCK].astype(np.float32) - mean.astype(np.float32)) @ direction
            for s in _blocks(corpus)
        ]
    )
    spread = float(along.std()) or 1.0
    left_out = [float((own[at] - mean) @ _unit(np.delete(own, at, axis=0).mean(axis=0) - mean)) for at in range(number)]
    distance = max(float(np.mean(left_out)) / spread, 0.0)
    return np.asarray(distance * (along / spread) - distance**2 / 2, dtype=np.float64)


def _of_spectra(likeness: Floats, examples: Sequence[int]) -> Floats:
    """Return the log odds (n,) of the spectra, as those of the words: of two normal distributions of the likeness to
    the examples, whose distance is how much more alike the examples are than all traces are to them. A trace without
    a spectrum says nothing.
    """
    own = np.asarray(likeness[list(examples)])
    np.fill_diagonal(own, np.nan)
    if np.isfinite(own).sum() < 2:
        return np.zeros(likeness.shape[0])
    has = np.isfinite(likeness).any(axis=1)
    mean = np.zeros(likeness.shape[0])
    mean[has] = np.nanmean(likeness[has], axis=1)
    centre, spread = float(mean[has].mean()), float(mean[has].std()) or 1.0
    distance = max((float(np.nanmean(own)) - centre) / spread, 0.0)
    return np.where(has, distance * (mean - centre) / spread - distance**2 / 2, 0.0)


def _probability(log_odds: Floats, share: float) -> Floats:
    """Return the probabilities of log odds and a prior share."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(log_odds + np.log(share / (1.0 - share)), -50.0, 50.0))))


def rarity(corpus: Corpus) -> NDArray[np.float32]:
    """Return a weight per fact: the rarer, the more; less for facts that are no fault."""
    number = max(corpus.items.size, 1)
    weights = np.log((number + 1) / (corpus.facts.sum(axis=0, dtype=np.float64) + 1)) + 0.1
    neutral = np.array([0.3 if name in facts.NEUTRAL else 1.0 for name in facts.FACTS])
    return np.asarray(np.minimum(weights, 5.0) * neutral, dtype=np.float32)


def _unit_facts(rows: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    weighted = rows * weights
    return np.asarray(weighted / np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1.0))


def _unit(vector: Floats) -> Floats:
    return vector / (float(np.linalg.norm(vector)) or 1.0)


def _blocks(corpus: Corpus) -> range:
    return range(0, corpus.items.size, _BLOCK)
