"""Groups of alike traces: k-means on words and facts, each group named by what defines it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reviewer.similar import facts
from reviewer.similar.index import Corpus
from reviewer.similar.ranking import rarity

FACTS_OF_GROUPS = 0.5
"""Weight of the faults beside the words: groups are to be of faults rather than of classes of objects."""
NUMBERS = (6, 12, 24)
"""Numbers of groups that are tried where none is given."""
MOST = 60
TYPICAL = 3
_SAMPLE = 2000
_SEED = 1
_DEFINING = 2.0
"""How many times as frequent a fact is in a group as elsewhere, to define it."""

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Group:
    """A group of alike traces.

    :param facts: the names of the facts that define it, the most special first; ``words`` likewise
    :param rows: of the corpus, the most typical first
    """

    facts: tuple[str, ...]
    words: tuple[str, ...]
    rows: Places


def groups(
    corpus: Corpus, rows: Places, number: int | None = None, step: Callable[[], None] = lambda: None
) -> list[Group]:
    """Group these rows of the corpus, the largest group first.

    :param number: of groups; None: the one of ``NUMBERS`` whose groups are best separated
    :param step: called between the steps of the work; it may raise an exception to stop
    """
    if rows.size == 0:
        return []
    # Not above: it would slow the start of the app.
    from sklearn.cluster import MiniBatchKMeans

    vectors = _vectors(corpus, rows)
    step()
    distinct = np.unique(vectors[np.linspace(0, rows.size - 1, min(rows.size, _SAMPLE)).astype(int)], axis=0).shape[0]
    tried = [min(number or k, MOST, distinct) for k in ((number,) if number else NUMBERS)]
    best: tuple[float, NDArray[np.intp], NDArray[np.float32]] | None = None
    for k in sorted(set(tried)):
        model = MiniBatchKMeans(k, batch_size=4096, n_init=3, max_iter=50, random_state=_SEED).fit(vectors)
        score = _separation(vectors, model.labels_) if len(set(tried)) > 1 else 0.0
        if best is None or score > best[0]:
            best = score, model.labels_, model.cluster_centers_
        step()
    assert best is not None
    _, labels, centres = best
    grouped = []
    for label in range(centres.shape[0]):
        inside = np.flatnonzero(labels == label)
        if inside.size:
            near = np.argsort(((vectors[inside] - centres[label]) ** 2).sum(axis=1), kind="stable")
            grouped.append(_group(corpus, rows, rows[inside[near]]))
            step()
    return sorted(grouped, key=lambda group: -group.rows.size)


def _vectors(corpus: Corpus, rows: Places) -> NDArray[np.float32]:
    faults = np.array([at for at, name in enumerate(facts.FACTS) if name not in facts.NEUTRAL], dtype=np.intp)
    weighted = corpus.facts[np.ix_(rows, faults)].astype(np.float32) * rarity(corpus)[faults]
    return np.hstack([corpus.words[rows].astype(np.float32), FACTS_OF_GROUPS * weighted])


def _separation(vectors: NDArray[np.float32], labels: NDArray[np.intp]) -> float:
    sample = np.random.default_rng(_SEED).permutation(vectors.shape[0])[:_SAMPLE]
    if not 1 < len(set(labels[sample].tolist())) < sample.size:
        return -1.0
    from sklearn.metrics import silhouette_score

    return float(silhouette_score(vectors[sample], labels[sample]))


def _group(corpus: Corpus, rows: Places, inside: Places) -> Group:
    """Describe a group by the facts and words that are more frequent in it than in all that was grouped."""
    common = corpus.facts[rows].mean(axis=0) + 1.0 / (rows.size + 1)
    here = corpus.facts[inside].mean(axis=0)
    special = here * np.log(np.maximum(here, 1e-9) / common)
    defining = [at for at in np.argsort(-special) if here[at] >= 0.3 and here[at] >= _DEFINING * common[at]]
    if not defining:
        defining = [at for at in np.argsort(-special)[:1] if here[at] >= 0.5 and special[at] > 0.1]
    terms: list[str] = []
    if corpus.model is not None:
        mean = corpus.words[rows].astype(np.float32).mean(axis=0)
        terms = corpus.model.words_of(corpus.words[inside].astype(np.float32).mean(axis=0) - mean)
    shares = dict(zip(facts.FACTS, here.tolist(), strict=True))
    names = facts.most_special([facts.FACTS[at] for at in defining], shares)
    return Group(tuple(names[:4]), tuple(terms), inside)
