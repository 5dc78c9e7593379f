"""No spectrum is on two sides of a split, whatever its rows, and who is where depends on the seed alone."""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.spectrum import Spectrum
from agent.tasks import load
from training.data import DataError, refuse_leaks, source_of, split, without
from training.data.records import Question

TASKS = load()
THREE = {"train": 0.7, "held out": 0.1, "test": 0.2}


def never_read() -> Spectrum:
    raise AssertionError("a split needs no spectrum")


def question(source: str, task: str = "cv", label: str = "YES", key: str = "") -> Question:
    assert label in ("YES", "NO")
    verdict = "YES" if label == "YES" else "NO"
    return Question(key or source, source, TASKS[task], verdict, "LAMOST", None, False, never_read)


rows = st.lists(
    st.tuples(
        st.integers(0, 40).map("spec-{}.fits".format),
        st.sampled_from(["cv", "wd"]),
        st.sampled_from(["YES", "NO"]),
    ),
    max_size=80,
).map(lambda made: [question(*row, key=f"row {n}") for n, row in enumerate(made)])


@given(rows, st.integers(0, 2**32))
def test_every_row_is_in_one_part_and_no_source_in_two(records: list[Question], seed: int) -> None:
    parts = split(records, THREE, seed)
    assert Counter(one.key for part in parts.values() for one in part) == Counter(one.key for one in records)
    sources = [{one.source for one in part} for part in parts.values()]
    assert sum(map(len, sources)) == len(set().union(*sources))
    refuse_leaks(parts["train"], parts["test"])


@given(rows, st.integers(0, 2**32), st.randoms())
def test_the_order_of_rows_does_not_matter(records: list[Question], seed: int, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(records)
    random.shuffle(shuffled)
    one, other = split(records, THREE, seed), split(shuffled, THREE, seed)
    assert {name: {r.key for r in part} for name, part in one.items()} == {
        name: {r.key for r in part} for name, part in other.items()
    }


@given(rows, st.integers(0, 2**32))
def test_each_kind_of_source_is_divided_in_the_fractions_to_within_one(records: list[Question], seed: int) -> None:
    kinds: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in records:
        kinds[one.source].add((one.task.key, one.label))
    parts = split(records, THREE, seed)
    for kind in {frozenset(kind) for kind in kinds.values()}:
        alike = {source for source, its in kinds.items() if its == kind}
        for name, fraction in THREE.items():
            there = len({one.source for one in parts[name]} & alike)
            assert abs(there - fraction * len(alike)) < 1 + 1e-9


def test_rows_keep_their_order_within_a_part() -> None:
    records = [question(f"{n}.fits") for n in range(50)]
    for part in split(records, THREE, 1).values():
        assert [r.key for r in part] == [r.key for r in records if r in part]


def test_another_seed_divides_otherwise() -> None:
    records = [question(f"{n}.fits") for n in range(50)]
    halves = {"a": 0.5, "b": 0.5}
    assert split(records, halves, 1) == split(records, halves, 1)
    assert split(records, halves, 1) != split(records, halves, 2)


def test_kinds_of_one_source_do_not_all_go_to_one_part() -> None:
    """Forty seeds, two sources of a kind each of their own: over all of them the fractions hold."""
    counts: Counter[str] = Counter()
    for seed in range(40):
        for name, part in split([question("a", "cv"), question("b", "wd")], {"x": 0.5, "y": 0.5}, seed).items():
            counts[name] += len(part)
    assert 20 < counts["x"] < 60


def test_a_part_of_nothing_gets_nothing() -> None:
    parts = split([question(f"{n}.fits") for n in range(9)], {"none": 0.0, "all": 1.0}, 3)
    assert (len(parts["none"]), len(parts["all"])) == (0, 9)


@pytest.mark.parametrize("fractions", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}])
def test_fractions_must_make_one(fractions: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="wanted parts of 0 or more that make 1"):
        split([question("a")], fractions, 0)


@given(rows, rows)
def test_leaks_are_refused_exactly_where_there_are_some(one: list[Question], other: list[Question]) -> None:
    shared = {r.source for r in one} & {r.source for r in other}
    if shared:
        with pytest.raises(DataError, match="in the training and in the test data"):
            refuse_leaks(one, other)
    kept, dropped = without(one, shared)
    refuse_leaks(kept, other)
    assert len(kept) + len(dropped) == len(one)


def test_a_leak_names_the_first_and_counts_all() -> None:
    records = [question(f"{n}.fits") for n in range(9)]
    with pytest.raises(DataError, match=r"^9 spectra are .*: 0\.fits, 1\.fits, 2\.fits, …; wanted none in both"):
        refuse_leaks(records, records)
    with pytest.raises(DataError, match=r"^1 spectrum is .*: 0\.fits; wanted"):
        refuse_leaks(records[:1], [replace(records[0], key="other")])


@pytest.mark.parametrize(
    ("name", "target", "source"),
    [
        ("spec-1.fits.gz", "", "spec-1.fits"),
        ("/data/dr8/spec-1.FITS.GZ", "", "spec-1.FITS"),
        ("C:\\data\\spec-1.fits", "", "spec-1.fits"),
        ("coadd.fits.gz#39", "", "coadd.fits#39"),
        ("coadd.fits", "39", "coadd.fits#39"),
        ("coadd.fits#39", "39", "coadd.fits#39"),
    ],
)
def test_a_source_is_the_file_without_folder_and_compression(name: str, target: str, source: str) -> None:
    assert source_of(name, target) == source


@pytest.mark.parametrize("name", ["", " ", "spectrum"])
def test_a_spectrum_without_a_name_is_known_by_its_hash(name: str) -> None:
    assert source_of(name, sha256="ab12") == "sha256:ab12"
    with pytest.raises(ValueError, match="neither name nor hash"):
        source_of(name)
