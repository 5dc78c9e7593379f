"""Few examples of a class of spectra, on the demo's items: what is like them comes first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from reviewer.drafting import demo
from reviewer.similar.background import Similar
from reviewer.store import Draft, Store


@pytest.fixture(scope="module")
def similar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Similar]:
    with Store.open(tmp_path_factory.mktemp("few") / "annotations.db") as store:
        for spectrum, trajectory in demo.demo_items():
            if trajectory.task in ("cc", "gm", "wd"):
                store.items.add_all([Draft(trajectory, spectrum, batch="demo")])
        similar = Similar(store)
        similar.find(store.spectra.get(store.queue.rows([1])[0].spectrum_sha256 or ""), set())
        similar.wait(120)
        yield similar
        similar.close()


def kinds(similar: Similar) -> dict[int, str]:
    """What each item's spectrum shows, which its name does not tell."""
    by_name = {recipe.spectrum().name: recipe.kind for recipe in demo.RECIPES}
    rows = similar.index.store.queue.rows(similar.corpus.items.tolist())
    return {row.item_id: by_name[row.name] for row in rows}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_few_carbon_stars_are_followed_by_the_others(similar: Similar, number: int) -> None:
    carbon = [item for item, kind in kinds(similar).items() if kind == "cc"]
    assert len(carbon) == 3
    examples = carbon[:number]
    corpus, ranking = similar.by_examples(examples, [], set())
    first = corpus.items[ranking.order].tolist()
    assert set(first[: 3 - number]) == set(carbon) - set(examples)
    assert ranking.few == (number < 3)
    # It really ranks: hardly any two have the same score.
    assert np.unique(ranking.probability.round(9)).size > 0.9 * ranking.order.size
    assert (np.diff(ranking.probability) <= 0).all()


def test_only_the_items_of_a_filter_are_ranked_in_the_same_order(similar: Similar) -> None:
    known = kinds(similar)
    carbon = [item for item, kind in known.items() if kind == "cc"]
    some = list(known)[3:12]
    for examples in (carbon[:1], carbon):
        corpus, everything = similar.by_examples(examples, [], set())
        of_some_corpus, of_some = similar.by_examples(examples, [], set(), among=some)
        expected = [item for item in corpus.items[everything.order].tolist() if item in some]
        assert of_some_corpus.items[of_some.order].tolist() == expected


def test_a_counterexample_pushes_what_is_like_it_back(similar: Similar) -> None:
    known = kinds(similar)
    carbon = [item for item, kind in known.items() if kind == "cc"]
    dwarf, *others = [item for item, kind in known.items() if kind == "wd" and item not in carbon]

    def scores(counterexamples: list[int]) -> dict[int, float]:
        corpus, ranking = similar.by_examples(carbon[:1], counterexamples, set())
        return dict(zip(corpus.items[ranking.order].tolist(), ranking.probability.tolist(), strict=True))

    without, with_it = scores([]), scores([dwarf])
    assert dwarf not in with_it
    assert all(with_it[item] < without[item] for item in others)
    assert with_it[carbon[1]] == without[carbon[1]]
