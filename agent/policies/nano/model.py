"""A Qwen2.5-VL in numpy: it reads a conversation with pictures and writes a turn token by token, in float32.

What was read is kept: the next turn of a conversation reads only its new tokens, and every conversation finds the
system turn read already.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agent.conversation import ConversationTooLong, Piece, PolicyError, Remark, Score, Usage
from agent.language import deferred
from agent.plot import pixels_sha256
from agent.policies import Sampling
from agent.policies.nano.folder import Array, Folder, Weights, read
from agent.policies.nano.language import Cache, LanguageModel, Positions
from agent.policies.nano.pictures import Preprocessor
from agent.policies.nano.tokens import Script, TokenText, Vocabulary
from agent.policies.nano.vision import VisionTower
from agent.policies.yes_no import AnswerOdds
from agent.processes import one_thread

AT_ONCE = 256
"""Tokens that are read together; a stop is noticed between two such parts."""
KEPT = 8
"""Conversations whose keys and values are kept."""


class TurnStopped(Exception):
    """The turn was stopped."""


@dataclass(frozen=True)
class _Picture:
    """A picture among the tokens: its first token, and the rows and columns of its tokens."""

    image: Image.Image
    first: int
    rows: int
    columns: int

    @property
    def after(self) -> int:
        return self.first + self.rows * self.columns


@dataclass(frozen=True)
class Input:
    """A conversation as the model reads it.

    :param ids: the tokens, (n,)
    :param identity: the same, with a number that stands for the pixels at a picture's tokens; two conversations with
        equal identities up to a token have equal keys and values up to it
    :param positions: in time, height and width, (3, n)
    """

    ids: NDArray[np.int64]
    identity: NDArray[np.int64]
    positions: Positions
    pictures: tuple[_Picture, ...]

    @property
    def next_position(self) -> int:
        return int(self.positions.max()) + 1


class _Kept:
    """A cache and the identity of the tokens in it."""

    def __init__(self, cache: Cache, identity: NDArray[np.int64]) -> None:
        self.cache = cache
        self.identity = identity

    def shared(self, identity: NDArray[np.int64]) -> int:
        """Return the number of leading tokens that both have."""
        n = min(self.cache.length, len(identity))
        different = np.flatnonzero(self.identity[:n] != identity[:n])
        return int(different[0]) if len(different) else n


class NanoModel:
    """The model. Safe to use from many threads at once."""

    def __init__(self, folder: Folder) -> None:
        """:raises PolicyError: a file cannot be used"""
        weights = Weights(folder.path)
        config = folder.config
        self.folder = folder
        self.context = config.text_config.max_position_embeddings
        self.vocabulary = Vocabulary(folder)
        self.preprocessor = Preprocessor(folder.pictures)
        self.vision = VisionTower(config.vision_config, weights)
        self.language = LanguageModel(config.text_config, weights, config.tie_word_embeddings)
        self._lock = threading.Lock()
        self._kept: list[_Kept] = []

    @classmethod
    def load(cls, path: Path) -> NanoModel:
        """Load the model of a folder. :raises PolicyError: which file, what was found and what was expected"""
        return cls(read(path))

    def input(self, script: Script) -> Input:
        """Return the tokens of a conversation. :raises PolicyError: a text has the mark of a picture in it"""
        ids: list[int] = []
        marks: list[int] = []
        pictures: list[_Picture] = []
        positions: list[NDArray[np.int64]] = []
        at = 0
        for part in script:
            if isinstance(part, str):
                new = self.vocabulary.ids(part)
                if not set(self.vocabulary.never).isdisjoint(new):
                    raise ConversationTooLong(
                        deferred("a text of the conversation has the mark of a picture in it: remove it there")
                    )
                marks += new
                positions.append(np.tile(np.arange(at, at + len(new)), (3, 1)))
                at += len(new)
            else:
                rows, columns = self.preprocessor.tokens(self.preprocessor.grid(part))
                pictures.append(_Picture(part, len(ids), rows, columns))
                new = [self.vocabulary.picture] * (rows * columns)
                # Negative, unlike any token.
                marks += [-1 - int(pixels_sha256(part)[:15], 16)] * len(new)
                down, right = np.divmod(np.arange(len(new)), columns)
                positions.append(at + np.stack([np.zeros_like(down), down, right]))
                at += max(rows, columns)
            ids += new
        return Input(np.array(ids), np.array(marks), np.concatenate(positions, axis=1), tuple(pictures))

    def states(self, given: Input, cache: Cache, halted: Callable[[], bool] = lambda: False) -> Array:
        """Read what ``cache`` does not hold yet and return the states of these tokens, (new, width).

        :raises TurnStopped: ``halted`` returned true
        """
        with one_thread():
            past = cache.length
            x = self.language.embedding[given.ids[past:]]
            for picture in given.pictures:
                if picture.after > past:
                    if halted():
                        raise TurnStopped
                    patches = self.preprocessor.patches(picture.image)
                    x[picture.first - past : picture.after - past] = self.vision(patches)
            states = []
            for first in range(0, len(x), AT_ONCE):
                if halted():
                    raise TurnStopped
                part = given.positions[:, past + first : past + first + AT_ONCE]
                states.append(self.language.read(x[first : first + AT_ONCE], part, cache))
            return np.concatenate(states)

    def write(
        self, script: Script, sampling: Sampling, number: int = 0, halted: Callable[[], bool] = lambda: False
    ) -> Generator[Piece, None, None]:
        """Write one turn: its text token by token, then a remark if it was cut, the score and the tokens.

        :param number: of the turn in its conversation, so that each turn has its own random numbers of one seed
        :param halted: whether to stop, called before each token and while a conversation is read
        :raises PolicyError: the conversation is too long
        """
        given = self.input(script)
        n = len(given.ids)
        if n >= self.context:
            raise PolicyError(
                deferred(
                    "the conversation has {n} tokens and the model holds {context}: allow fewer turns",
                    n=n,
                    context=self.context,
                )
            )
        limit = min(sampling.max_tokens, self.context - n)
        choose = _Chooser(sampling, number)
        text, odds = TokenText(self.vocabulary), AnswerOdds(lambda: self.vocabulary.texts)
        written, ended = 0, False
        with self._cache_for(given, n + limit) as (cache, cached, identity):
            try:
                states = self.states(given, cache, halted)
                while not ended and written < limit and not halted():
                    logits = self.language.logits(states[-1:])[0]
                    logits[list(self.vocabulary.never)] = -np.inf
                    token = choose(logits)
                    written += 1
                    ended = token in self.vocabulary.ends
                    if ended:
                        break
                    before = text.text
                    if piece := text.add(token):
                        yield piece
                    odds.add(before, text.text, partial(np.asarray, logits))
                    if written < limit:
                        at = given.next_position + written - 1
                        identity[cache.length] = token
                        with one_thread():
                            states = self.language.read(self.language.embedding[[token]], np.full((3, 1), at), cache)
            except TurnStopped:
                return
        if rest := text.end():
            yield rest
        if not ended and written >= limit:
            yield Remark(f"cut at its limit of {limit} tokens")
        if (score := odds.of_answer(text.written)) is not None:
            yield Score(score)
        yield Usage(requests=1, prompt=n, cached=cached, completion=written)

    @contextmanager
    def _cache_for(self, given: Input, most: int) -> Iterator[tuple[Cache, int, NDArray[np.int64]]]:
        """Yield a cache with the longest known beginning of ``given``, its length, and the identity to extend.

        It belongs to the caller until the end, and is then kept for later turns.

        :param most: tokens that it will hold at most
        """
        with self._lock:
            best = max(self._kept, key=lambda kept: kept.shared(given.identity), default=None)
            # The last token is read again: its state is needed.
            length = 0 if best is None else min(best.shared(given.identity), len(given.ids) - 1)
            length = next((p.first for p in given.pictures if p.first < length < p.after), length)
            if best is not None and best.shared(given.identity) == best.cache.length:
                # Nothing in it belongs to another conversation.
                self._kept.remove(best)
                cache = best.cache
                cache.length = length
            else:
                cache = Cache(self.folder.config.text_config)
                if best is not None:
                    cache.copy_from(best.cache, length)
        identity = np.zeros(most, np.int64)
        identity[: len(given.identity)] = given.identity
        try:
            yield cache, length, identity
        finally:
            with self._lock:
                self._kept = [*self._kept, _Kept(cache, identity)][-KEPT:]


class _Chooser:
    """Chooses the next token from the logits: the most likely one, or at random with a temperature."""

    def __init__(self, sampling: Sampling, number: int) -> None:
        self._temperature = sampling.temperature
        self._top_p = sampling.top_p
        self._random = np.random.default_rng(None if sampling.seed is None else [sampling.seed, number])

    def __call__(self, logits: Array) -> int:
        if self._temperature == 0:
            return int(logits.argmax())
        scaled = logits.astype(np.float64) / self._temperature
        weights = np.exp(scaled - scaled.max())
        order = np.argsort(-weights, kind="stable")
        sums = np.cumsum(weights[order]) / weights.sum()
        # The fewest most likely tokens whose probabilities reach top_p.
        allowed = int(np.searchsorted(sums, self._top_p)) + 1
        among = weights[order[:allowed]]
        drawn = self._random.random() * among.sum()
        return int(order[min(int(np.searchsorted(np.cumsum(among), drawn, side="right")), len(among) - 1)])
