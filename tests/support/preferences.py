"""Answers to pairs for tests of the statistics of preferences."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from reviewer.agreement.preference import VERDICTS, Verdict, Votes


def votes(*given_votes: tuple[str, str, Verdict], pairs: list[str] | None = None) -> Votes:
    """Votes on one pair each, unless ``pairs`` names the pairs."""
    names = tuple(pairs or (f"p{i:03}" for i in range(len(given_votes))))
    return Votes(names, *(tuple(v[i] for v in given_votes) for i in range(3)))  # type: ignore[arg-type]


def many(a: str, b: str, wins: int, losses: int = 0, equal: int = 0, bad: int = 0) -> Votes:
    outcomes: list[Verdict] = ["a"] * wins + ["b"] * losses + ["equal"] * equal + ["both bad"] * bad
    return votes(*((a, b, outcome) for outcome in outcomes))


any_votes = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz"), st.sampled_from(VERDICTS)).filter(
        lambda vote: vote[0] != vote[1]
    ),
    max_size=14,
)


def panel(won: ArrayLike) -> Votes:
    """(n_pairs, n_scorers): whether each of S1, S2, ... chose x over y."""
    table = np.asarray(won, dtype=bool)
    pairs, scorers = (index.ravel() for index in np.indices(table.shape))
    return Votes(
        tuple(f"p{i:03}" for i in pairs),
        ("x",) * table.size,
        ("y",) * table.size,
        tuple("a" if one else "b" for one in table.ravel()),
        tuple(f"S{i + 1}" for i in scorers),
    )


def of_four_sources() -> Votes:
    """600 random votes on 100 pairs of the sources w, x, y and z."""
    outcomes = np.random.default_rng(0).choice(["a", "b", "equal"], 600)
    compared = (("wxyz"[n % 4], "wxyz"[(n + 1) % 4], outcome) for n, outcome in enumerate(outcomes))
    return votes(*compared, pairs=[f"p{n // 6}" for n in range(600)])
