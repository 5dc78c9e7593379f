"""Fingerprints of sources: length, steps, pictures and wording, and how well a program tells sources apart by them.

A scorer sees these too, and may learn which text is of one kind and which of another. Nothing here is random except
the resampling, which is seeded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from agent.language import deferred, joined
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Think
from reviewer.blind.leaks import authored_text

Floats = NDArray[np.float64]

FOLDS = 5
FEWEST_TRACES = 10
"""Traces of each source, below which no AUC is given."""
FEWEST_SPECTRA = 20
"""Spectra, below which no interval is given."""
_RESAMPLES, _SEED = 500, 1
_LIKE_A_WORD = 0.1
"""Scale of the layout features: the weight of a word among a hundred. At 1 the regression would not see the words."""

Trace = tuple[str, str | None, Trajectory]
"""Source, SHA-256 of the spectrum (None: pictures only), and trajectory."""

FEATURES: dict[str, str] = {
    "steps": deferred("steps"),
    "zooms": deferred("zooms"),
    "characters": deferred("characters of all thoughts and the explanation"),
    "words_per_thought": deferred("words per thought"),
    "words_of_explanation": deferred("words of the explanation"),
    "vocabulary": deferred("different words"),
    "first_picture": deferred("share with a first picture"),
    "with_picture": deferred("share of zooms with a picture"),
    "refused": deferred("share of zooms that the tool refused"),
    "label_characters": deferred("characters of a zoom's label"),
}
"""The layout features, each with its description."""

_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Separation:
    """How well a program tells the sources apart.

    :param auc: area under the ROC curve of predictions for spectra that were not trained on, 0.5 if it cannot tell
        them apart, 1 if it always can; for more than two sources, the mean over one source against the others
    :param low: 95 % bootstrap interval by spectrum; None from few spectra
    :param reason: why there is no AUC; empty if there is one
    """

    auc: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Fingerprints:
    """The fingerprints of a session's sources.

    :param traces: number of traces by source
    :param medians: of each layout feature, by source
    :param layout: from the layout features alone; ``wording`` from the words alone; ``both`` from both
    """

    traces: Mapping[str, int]
    medians: Mapping[str, Mapping[str, float]]
    layout: Separation
    wording: Separation
    both: Separation

    @property
    def sentence(self) -> str:
        """Say in one sentence how well the sources can be told apart."""
        if self.both.auc is None:
            return deferred(
                "Whether a program tells the sources apart from length, steps and wording alone is not known: "
                "{reason}.",
                reason=self.both.reason,
            )
        return deferred(
            "From length, steps and wording alone a program tells the sources apart with AUC {auc:.2f} (0.5: not at "
            "all, 1: always).",
            auc=self.both.auc,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, with the sentence and the descriptions of the features."""
        return {**asdict(self), "sentence": self.sentence, "features": FEATURES}


def fingerprints(traces: Sequence[Trace]) -> Fingerprints:
    """Measure the fingerprints of traces. The order of the traces changes nothing.

    The program is a logistic regression on the standardised layout features, on the TF-IDF of the words of thoughts,
    explanation and labels, or on both. It is trained on some spectra and tested on the others, so that both traces of
    a spectrum are on the same side.
    """
    ordered = sorted(traces, key=lambda trace: (trace[1] or "", trace[0], trace[2].content_hash()))
    sources = np.array([source for source, _, _ in ordered], dtype=object)
    counts = Counter(source for source, _, _ in ordered)
    data = _Data(
        layout=np.array([_layout(trajectory) for _, _, trajectory in ordered]).reshape(-1, len(FEATURES)),
        words=[_words(trajectory) for _, _, trajectory in ordered],
        sources=sources,
        spectra=np.array([sha256 or f"trace {number}" for number, (_, sha256, _) in enumerate(ordered)], dtype=object),
    )
    return Fingerprints(
        traces={source: counts[source] for source in sorted(counts)},
        medians={
            source: dict(zip(FEATURES, np.median(data.layout[sources == source], axis=0).tolist(), strict=True))
            for source in sorted(counts)
        },
        layout=_separation(data, with_layout=True, with_words=False),
        wording=_separation(data, with_layout=False, with_words=True),
        both=_separation(data, with_layout=True, with_words=True),
    )


def _layout(trajectory: Trajectory) -> list[float]:
    """Return the layout features, in the order of ``FEATURES``."""
    thoughts = [step.text for step in trajectory.steps if isinstance(step, Think)]
    explanation = " ".join(step.explanation for step in trajectory.steps if isinstance(step, Answer))
    zooms = trajectory.zooms
    return [
        len(trajectory.steps),
        len(zooms),
        sum(map(len, thoughts)) + len(explanation),
        _mean([len(_WORD.findall(text)) for text in thoughts]),
        len(_WORD.findall(explanation)),
        len({word.lower() for word in _WORD.findall(_words(trajectory))}),
        float(trajectory.overview is not None),
        _mean([zoom.picture is not None for zoom in zooms]),
        _mean([not zoom.ok for zoom in zooms]),
        _mean([len(zoom.label) for zoom in zooms]),
    ]


def _words(trajectory: Trajectory) -> str:
    return "\n".join(authored_text(step) for step in trajectory.steps)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


@dataclass(frozen=True)
class _Data:
    """Traces in a fixed order: features (n, n_features), texts, sources (n,) and spectra (n,)."""

    layout: Floats
    words: list[str]
    sources: NDArray[np.object_]
    spectra: NDArray[np.object_]


def _separation(data: _Data, with_layout: bool, with_words: bool) -> Separation:
    reason = _why_not(data, with_words and not with_layout)
    if reason:
        return Separation(None, reason=reason)
    names = sorted(set(data.sources))
    chances = np.zeros((len(data.words), len(names)))
    folds = GroupKFold(min(FOLDS, len(set(data.spectra))))
    for train, test in folds.split(data.layout, data.sources, data.spectra):
        features = _features(data, train, with_layout, with_words)
        model = LogisticRegression(C=10.0, class_weight="balanced", max_iter=2000)
        model.fit(features[train], data.sources[train])
        columns = [names.index(source) for source in model.classes_]
        chances[np.ix_(test, columns)] = model.predict_proba(features[test])
    truth = np.array([names.index(source) for source in data.sources])
    low, high = _interval(truth, chances, data.spectra)
    return Separation(_macro_auc(truth, chances), low, high)


def _why_not(data: _Data, words_only: bool) -> str:
    """Return why there is no AUC; an empty text if there is one."""
    counts = Counter(data.sources.tolist())
    if len(counts) < 2:
        return deferred("there are no two sources")
    few = [
        deferred("{source} has {n}", source=source, n=counts[source])
        for source in sorted(counts)
        if counts[source] < FEWEST_TRACES
    ]
    if few:
        return deferred(
            "it takes {needed} traces of each source, and {found}", needed=FEWEST_TRACES, found=joined(few, ", ")
        )
    if len(set(data.spectra)) < FOLDS:
        return deferred("it takes traces of {n} spectra", n=FOLDS)
    if words_only and not any(_WORD.search(text) for text in data.words):
        return deferred("the traces have no words")
    return ""


def _features(data: _Data, train: NDArray[np.intp], with_layout: bool, with_words: bool) -> sparse.csr_array:
    """Return (n, n_features) for all traces, scaled by the training traces alone."""
    parts = []
    if with_layout:
        layout = StandardScaler().fit(data.layout[train]).transform(data.layout)
        parts.append(sparse.csr_array(_LIKE_A_WORD * layout))
    if with_words and any(_WORD.search(data.words[number]) for number in train):
        texts = TfidfVectorizer(token_pattern=_WORD.pattern, sublinear_tf=True)
        texts.fit([data.words[number] for number in train])
        parts.append(sparse.csr_array(texts.transform(data.words)))
    return sparse.csr_array(sparse.hstack(parts)) if parts else sparse.csr_array((len(data.words), 1))


def _macro_auc(truth: NDArray[np.intp], chances: Floats) -> float:
    """Return the mean AUC of one source against the others (Mann and Whitney 1947: by ranks, ties count half)."""
    number = chances.shape[1]
    # Of two sources, both have the same.
    return float(np.mean([_auc(truth == source, chances[:, source]) for source in range(number if number > 2 else 1)]))


def _auc(positive: NDArray[np.bool_], score: Floats) -> float:
    n, others = int(positive.sum()), int((~positive).sum())
    return float((rankdata(score)[positive].sum() - n * (n + 1) / 2) / (n * others))


def _interval(
    truth: NDArray[np.intp], chances: Floats, spectra: NDArray[np.object_]
) -> tuple[float | None, float | None]:
    """Return the 95 % percentile bootstrap interval by spectrum; None from few spectra."""
    names, groups = np.unique(spectra.astype(str), return_inverse=True)
    if names.size < FEWEST_SPECTRA:
        return None, None
    members = [np.flatnonzero(groups == number) for number in range(names.size)]
    rng = np.random.default_rng(_SEED)
    areas = []
    for _ in range(_RESAMPLES):
        rows = np.concatenate([members[number] for number in rng.integers(names.size, size=names.size)])
        if len(set(truth[rows].tolist())) == chances.shape[1]:
            areas.append(_macro_auc(truth[rows], chances[rows]))
    low, high = np.percentile(areas, [2.5, 97.5]).tolist()
    return low, high
