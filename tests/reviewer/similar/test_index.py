"""The index over a real store: likeness, files, new versions, and damage."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from agent.simulate import simulate
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from reviewer.rules.workflow import Rules
from reviewer.similar import facts, ranking
from reviewer.similar.index import Index
from reviewer.store import Draft, Store
from tests.support.campaign import Desk, people

HOT = "The Balmer lines are broad and the continuum rises to the blue."
COOL = "Titanium oxide bands cut deeply into a red continuum."


def trace(task: str, text: str, number: int, verdict: str = "YES", **other: object) -> Trajectory:
    window = [6500, 6620] if task == "cv" else [7050, 7150]
    steps = (
        Think("s1", f"{text} Object {'abcdefghij'[number % 10]}."),
        Zoom("s2", {"wavelength_range": window, "label": "window"}, picture="ab" * 32),
        Think("s3", f"{text} I conclude."),
        Answer("s4", verdict, text),
    )
    values: dict = {
        "task": task,
        "prompt": "Is it?",
        "spectrum_name": f"{task}-{number}.fits",
        "spectrum_sha256": None,
        "steps": steps,
        "drafter": Drafter("model", "a drafter", {"number": number}),
    }
    return Trajectory(**(values | other))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.settings.set_rules(None, Rules())
        kinds = (("cv", HOT), ("gm", COOL))
        store.items.add_all(Draft(trace(*kind, number)) for number in range(12) for kind in kinds)
        yield store


def filled(store: Store) -> Index:
    index = Index(store, store.path.with_name("annotations.db.similar"))
    index.folder.mkdir(exist_ok=True)
    index.load(writing=True)
    index.fill([], lambda: None, lambda: None)
    return index


def nearest(index: Index, item: int, number: int) -> list[int]:
    corpus = index.corpus
    place = corpus.place(item)
    assert place is not None
    likeness = ranking.alike(corpus, corpus.words[place].astype(np.float32), corpus.facts[place])
    order = [int(corpus.items[at]) for at in np.argsort(-likeness, kind="stable")]
    return [other for other in order if other != item][:number]


def test_traces_of_the_same_words_are_nearer_than_those_of_another_task(store: Store) -> None:
    index = filled(store)
    assert index.corpus.items.size == index.corpus.items_in_store == 24
    for item in (1, 2):
        found = nearest(index, item, 11)
        assert {other % 2 for other in found} == {item % 2}


def test_a_common_fault_makes_traces_of_the_same_words_alike(store: Store) -> None:
    faulty = [store.items.add(trace("cv", HOT, 20 + n, faults=("turn 2: <think> not closed",))) for n in range(3)]
    assert set(nearest(filled(store), faulty[0], 2)) == set(faulty[1:])


def test_a_restart_uses_the_files(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = filled(store).corpus

    def refused(*_: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr("reviewer.similar.index.facts_of_texts", refused)
    monkeypatch.setattr("reviewer.similar.words.fit", refused)
    after = filled(store).corpus
    np.testing.assert_array_equal(after.words, before.words)
    np.testing.assert_array_equal(after.facts, before.facts)
    assert after.claims.all()


@pytest.mark.parametrize("name", ["words", f"facts{facts.VERSION}", "model"])
@pytest.mark.parametrize("damage", ["shortened", "changed", "deleted"])
def test_damaged_files_are_made_again(store: Store, name: str, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    index = filled(store)
    before = index.corpus
    (path,) = index.folder.glob(f"{name}*.np[yz]")
    data = bytearray(path.read_bytes())
    if damage == "deleted":
        path.unlink()
    elif damage == "shortened":
        path.write_bytes(data[: len(data) // 2])
    else:
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)
    with caplog.at_level(logging.WARNING):
        after = filled(store).corpus
    assert bool(caplog.records) is (damage != "deleted")
    np.testing.assert_array_equal(after.facts, before.facts)
    np.testing.assert_allclose(after.words.astype(float), before.words.astype(float), atol=1e-3)


def test_no_file_is_a_pickle(store: Store) -> None:
    index = filled(store)
    for path in index.folder.glob("*.np[yz]"):
        loaded = np.load(path, allow_pickle=False)
        if path.suffix == ".npz":
            assert all(loaded[key].dtype != object for key in loaded.files)


def test_a_new_version_replaces_the_vector(store: Store) -> None:
    before = filled(store).corpus
    desk = Desk(store)
    desk.decide("RE", 1, "keep")
    desk.edit("RE", 1, COOL)
    after = filled(store).corpus
    assert after.items.size == 24
    assert after.versions[0] != before.versions[0]
    assert not np.array_equal(after.words[0], before.words[0])
    np.testing.assert_array_equal(after.words[1], before.words[1])


def test_withdrawn_items_are_left_out(store: Store) -> None:
    filled(store)
    with store.database.write() as db:
        db.execute("UPDATE standings SET state = 'withdrawn' WHERE item = 3")
    index = filled(store)
    assert index.corpus.place(3) is None
    assert index.corpus.items.size == 23


def test_the_model_is_fitted_again_when_the_corpus_has_grown(store: Store) -> None:
    first = filled(store)
    assert first.corpus.model.fitted == 24
    store.items.add(trace("cv", HOT, 30))
    again = filled(store).corpus
    assert (again.model.fitted, again.items.size) == (24, 25)
    store.items.add_all(Draft(trace("cv", "Helium stands out in this spectrum.", 40 + n)) for n in range(50))
    grown = filled(store).corpus
    assert (grown.model.fitted, grown.items.size) == (75, 75)
    assert "helium" in grown.model.terms


def test_claims_are_compared_with_the_spectrum_after_the_texts(store: Store) -> None:
    spectrum = simulate("a", "SDSS", 60.0, 1)
    sha256 = store.spectra.add(spectrum)
    steps = (Think("s1", "Hα is in strong emission."), Answer("s2", "NO", "[O III] 5007 is in emission."))
    trajectory = trace("gm", "", 99, spectrum_sha256=spectrum.sha256, steps=steps)
    item = store.items.add(trajectory, sha256)
    seen = []
    index = Index(store, store.path.with_name("annotations.db.similar"))
    index.folder.mkdir(exist_ok=True)

    def published() -> None:
        place = index.corpus.place(item)
        if place is not None:
            seen.append((bool(index.corpus.claims[place]), named(index, item) & set(facts.CLAIMS)))

    index.load(writing=True)
    index.fill([], lambda: None, published)
    assert seen[0] == (False, set())
    assert seen[-1][0]
    assert "claim: line not there" in seen[-1][1]


def test_wordings_are_learned_of_all_traces_and_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewer.similar.wordings.FEWEST", 5)
    spectrum = simulate("a", "SDSS", 60.0, 1)
    sha256 = store.spectra.add(spectrum)

    def add(number: int, text: str) -> int:
        steps = (Think("s1", text), Answer("s2", "NO", "It is hot."))
        return store.items.add(trace("gm", "", number, spectrum_sha256=spectrum.sha256, steps=steps), sha256)

    plans = [add(100 + n, "Still open is [O III] 5007 with its neighbour.") for n in range(6)]
    wrong = add(110, "[O III] 5007 is in strong emission.")
    index = filled(store)
    assert "claim: line only named" not in named(index, plans[0])
    assert {"claim: doubtful presence"} == named(index, plans[0]) & set(facts.CLAIMS)
    assert "claim: line not there" in named(index, wrong)
    later = add(120, "Still open is [O III] 5007 with its neighbour.")
    monkeypatch.setattr("reviewer.similar.wordings.fit", lambda *_: pytest.fail("learned again"))
    assert "claim: doubtful presence" in named(filled(store), later)
    (index.folder / "wordings.json").write_text("damaged")
    monkeypatch.undo()
    later = add(121, "Still open is [O III] 5007 with its neighbour.")
    again = filled(store)
    assert "claim: line only named" in named(again, plans[0])  # with so few traces nothing is learned
    assert "claim: doubtful presence" not in named(again, plans[0])


def named(index: Index, item: int) -> set[str]:
    row = index.corpus.facts[index.corpus.place(item)]
    return {name for name, there in zip(facts.FACTS, row, strict=True) if there}


def test_a_stop_keeps_what_was_written(store: Store) -> None:
    index = Index(store, store.path.with_name("annotations.db.similar"))
    index.folder.mkdir(exist_ok=True)
    index.load(writing=True)
    stop, pieces = Event(), 0

    class Stopped(Exception):
        pass

    def pause() -> None:
        nonlocal pieces
        pieces += 1
        if pieces > 30:
            stop.set()
            raise Stopped

    with pytest.raises(Stopped):
        index.fill([], pause, lambda: None)
    assert stop.is_set()
    assert filled(store).corpus.items.size == 24
