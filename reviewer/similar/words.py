"""Vectors of the words of traces: TF-IDF of words and word pairs, reduced by a truncated SVD.

The fitted model is kept as an npz file of plain arrays, without pickles. Fitting is done in small pieces, with a pause
after each, because the app answers requests meanwhile.
"""

from __future__ import annotations

import io
import itertools
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from agent.errors import Refusal
from agent.language import tr
from agent.trajectory import Trajectory, Verdict
from reviewer.similar.files import write_atomically
from reviewer.similar.of_texts import last_thought, texts_of
from reviewer.similar.shapes import principal_directions

if TYPE_CHECKING:
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfVectorizer

# scipy and scikit-learn are imported where they are used: they would slow the start of the app.

SIZE = 96
"""Elements of a vector."""
MOST_TERMS = 20_000
COMMON = 0.9
"""Part of the traces above which a term tells nothing."""
FEWEST_FOR_VERDICTS = 200
"""Traces with an answer from which the usual answer after a thought is learned."""
_SEED = 1
_PIECE = 8

_TERM = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\W\d_]+\d?(?!\d)|(?<![\d.,±−-])\d{4,5}(?![\d.]*\d)"
)

Vectors = NDArray[np.float32]
_Entry = TypeVar("_Entry")


class WordsError(Refusal, ValueError):
    """A file of a model that cannot be used."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters."""
    return _TERM.findall(text.lower())


def terms_of(text: str) -> list[str]:
    """Return the words of a text, and the pairs of neighbouring words in one line. Each Chinese
    character is a word; of numbers, only wavelengths are."""
    terms: list[str] = []
    for line in text.splitlines():
        words = words_of(line)
        terms += words
        terms += [f"{word} {other}" for word, other in itertools.pairwise(words)]
    return terms


@dataclass(frozen=True)
class Texts:
    """What the model reads of a trace: all texts, the last thought before the answer, and the answer."""

    whole: str
    last: str
    verdict: Verdict | None

    @classmethod
    def of(cls, trajectory: Trajectory) -> Texts:
        answer = trajectory.answer
        return cls("\n".join(texts_of(trajectory)), last_thought(trajectory), answer.verdict if answer else None)


@dataclass(frozen=True)
class Words:
    """A fitted model.

    :param terms: the vocabulary; ``idf`` (n_terms,) and ``components`` (SIZE, n_terms) belong to it
    :param verdict: (n_terms + 1,) weights and intercept of the log odds of YES after a last thought; all 0: not learned
    :param fitted: number of traces of which the corpus consisted
    """

    terms: tuple[str, ...]
    idf: NDArray[np.float32]
    components: NDArray[np.float32]
    verdict: NDArray[np.float32]
    fitted: int

    def transform(self, texts: Sequence[Texts]) -> tuple[Vectors, NDArray[np.float32]]:
        """Return unit vectors (n, SIZE), 0 for a trace without known terms, and how much each answer surprises after
        its last thought (n,): 1 minus the probability that the words give it; 0 without an answer.
        """
        if not texts:
            return np.zeros((0, SIZE), dtype=np.float32), np.zeros(0, dtype=np.float32)
        vectors = np.asarray(self._tfidf.transform([t.whole for t in texts]) @ self.components.T, dtype=np.float32)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 1e-6)
        odds = self._tfidf.transform([t.last for t in texts]) @ self.verdict[:-1] + self.verdict[-1]
        sign = np.array([{"YES": 1.0, "NO": -1.0}.get(t.verdict or "", 0.0) if t.last else 0.0 for t in texts])
        surprise = np.where(sign == 0, 0.0, 1.0 / (1.0 + np.exp(np.clip(sign * odds, -30.0, 30.0))))
        return vectors, surprise.astype(np.float32)

    def words_of(self, direction: NDArray[np.float32], number: int = 6) -> list[str]:
        """Return the terms that a direction (SIZE,) has most of, without words that are part of a pair in the list."""
        strength = direction @ self.components
        chosen: list[str] = []
        for at in np.argsort(-strength)[: 4 * number]:
            term = self.terms[at]
            if strength[at] <= 0 or any(term in other.split() or other in term for other in chosen):
                continue
            chosen.append(term)
        return chosen[:number]

    @cached_property
    def _tfidf(self) -> TfidfVectorizer:
        vectorizer = _vectorizer({term: number for number, term in enumerate(self.terms)})
        vectorizer.idf_ = self.idf.astype(np.float64)
        return vectorizer

    def write(self, path: Path) -> None:
        """Write the model, so that its file is complete or absent. :raises OSError: it cannot be written"""
        buffer = io.BytesIO()
        about = json.dumps({"terms": self.terms, "fitted": self.fitted}, ensure_ascii=False).encode()
        np.savez_compressed(
            buffer,
            about=np.frombuffer(about, dtype=np.uint8),
            idf=self.idf,
            components=self.components,
            verdict=self.verdict,
        )
        write_atomically(path, buffer.getvalue())

    @classmethod
    def read(cls, path: Path) -> Words:
        """Read a model.

        :raises OSError: there is no such file
        :raises WordsError: it is damaged, or from another version of the program
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                about = json.loads(bytes(file["about"]))
                words = cls(
                    tuple(map(str, about["terms"])),
                    np.asarray(file["idf"], dtype=np.float32),
                    np.asarray(file["components"], dtype=np.float32),
                    np.asarray(file["verdict"], dtype=np.float32),
                    int(about["fitted"]),
                )
        except OSError:
            raise
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zipfile.error) as error:
            raise WordsError(
                tr("{file}: found {error}, expected a model of words", file=path.name, error=error)
            ) from error
        number = len(words.terms)
        if (words.idf.shape, words.components.shape, words.verdict.shape) != ((number,), (SIZE, number), (number + 1,)):
            raise WordsError(tr("{file}: found arrays of other sizes than its {n} terms", file=path.name, n=number))
        if not all(np.isfinite(array).all() for array in (words.idf, words.components, words.verdict)):
            raise WordsError(tr("{file}: found numbers that are not finite", file=path.name))
        return words


def fit(corpus: Sequence[Texts], traces: int, pause: Callable[[], None] = lambda: None) -> Words:
    """Fit a model.

    :param corpus: a sample of the traces; ``traces``: how many there are
    :param pause: called after each small piece of the work
    """
    counts: Counter[str] = Counter()
    for piece in _pieces(corpus):
        for texts in piece:
            counts.update(set(terms_of(texts.whole)))
        pause()
    fewest = 1 if len(corpus) < 50 else 2 if len(corpus) < 1000 else 4
    most = max(COMMON * len(corpus), 1)
    usable = [(term, n) for term, n in counts.items() if fewest <= n <= most] or list(counts.items())
    chosen = sorted(sorted(usable, key=lambda texts: (-texts[1], texts[0]))[:MOST_TERMS])
    terms = tuple(term for term, _ in chosen) or ("",)
    idf = np.log((1 + len(corpus)) / (1 + np.array([counts[term] for term in terms]))) + 1
    vectorizer = _vectorizer({term: number for number, term in enumerate(terms)})
    vectorizer.idf_ = idf
    matrix = _transformed(vectorizer, [texts.whole for texts in corpus], pause)
    components = np.zeros((SIZE, len(terms)), dtype=np.float32)
    size = min(SIZE, len(terms) - 1, len(corpus) - 1)
    if size > 0 and matrix.nnz:
        components[:size] = principal_directions(matrix, size, _SEED)
    pause()
    verdict = _learn_verdicts(vectorizer, corpus, pause)
    return Words(terms, idf.astype(np.float32), components, verdict, traces)


def _learn_verdicts(
    vectorizer: TfidfVectorizer, corpus: Sequence[Texts], pause: Callable[[], None]
) -> NDArray[np.float32]:
    """Return the weights of a logistic regression of the answer on the words of the last thought: learned from all
    traces, because nearly all conclude as they think.
    """
    from sklearn.linear_model import LogisticRegression

    learned = np.zeros(len(vectorizer.vocabulary) + 1, dtype=np.float32)
    used = [texts for texts in corpus if texts.verdict is not None and texts.last.strip()]
    verdicts = np.array([texts.verdict == "YES" for texts in used])
    if len(used) < FEWEST_FOR_VERDICTS or not 0.02 < verdicts.mean() < 0.98:
        return learned
    model = LogisticRegression(C=1.0, class_weight="balanced", max_iter=200)
    model.fit(_transformed(vectorizer, [texts.last for texts in used], pause), verdicts)
    learned[:-1], learned[-1] = model.coef_[0], model.intercept_[0]
    return learned


def _vectorizer(vocabulary: dict[str, int]) -> TfidfVectorizer:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=terms_of, vocabulary=vocabulary, sublinear_tf=True, dtype=np.float32)


def _transformed(vectorizer: TfidfVectorizer, texts: Sequence[str], pause: Callable[[], None]) -> sparse.csr_matrix:
    from scipy import sparse

    parts = []
    for piece in _pieces(texts):
        parts.append(vectorizer.transform(piece))
        pause()
    return sparse.vstack(parts, format="csr") if parts else sparse.csr_matrix((0, len(vectorizer.vocabulary)))


def _pieces(sequence: Sequence[_Entry]) -> Iterator[Sequence[_Entry]]:
    return (sequence[start : start + _PIECE] for start in range(0, len(sequence), _PIECE))
