"""SpecVI-Bench files and data splits."""

import json
import pickle
import tempfile
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.tool import frame_of
from tests.support.cli import parsed
from tests.support.inputs.refusals import check_sentence
from tests.support.training_data import published_set, specvi_file, specvi_row
from training.bench.build import Entry, Selected
from training.bench.build.record import write_parquet
from training.cli.sft import Options as SftOptions
from training.cli.sft import settings_of
from training.data import DataError, examples, questions, refuse_leaks, shared_sources, source_of, split, without
from training.data.records import Question
from training.data.splits import sample
from training.run import Run
from training.settings import ModelSettings
from training.sft import SftSettings, prepare


def test_a_row_keeps_its_own_prompt_under_the_projects_task_key(tmp_path: Path) -> None:
    first, second = questions([specvi_file(tmp_path / "train_cv.parquet", [specvi_row(0), specvi_row(1)])])
    assert (first.task.key, first.label, first.survey, first.snr) == ("cv", "NO", "LAMOST", None)
    assert first.task.prompt == "The published words about cv.\n\nGuide."
    assert first.task.features == load()["cv"].features
    assert first.source == "spec-56414-HD161547N531412F01_sp07-000.fits"
    assert second.label == "YES"
    assert second.task is first.task


@pytest.mark.parametrize("group", [1, 64, 1000])
def test_spectra_are_found_in_any_order(tmp_path: Path, group: int) -> None:
    found = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(n) for n in range(150)], group)])
    for number in (149, 0, 63, 64, 65, 128, 100, 1):
        spectrum = found[number].spectrum()
        assert spectrum.flux[0] == number + 0.5
        assert spectrum.name == f"{found[number].source}.gz"
        assert spectrum.medium == "vacuum"


def test_no_redshift_is_taken_as_zero(tmp_path: Path) -> None:
    found = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0), specvi_row(1)])])
    assert [q.spectrum().redshift for q in found] == [0.01, 0.0]
    assert frame_of(found[1].spectrum()) == ("observed", 0.0)


def test_facts_of_the_spectrum_are_known_after_it_is_read(tmp_path: Path) -> None:
    (question,) = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0)])])
    spectrum = replace(question.spectrum(), snr={"r": 12.5})
    known = question.known(spectrum)
    assert (known.survey, known.snr, known.simulated) == ("LAMOST", 12.5, False)
    assert replace(known, snr=None) == question


def test_a_question_can_be_pickled(tmp_path: Path) -> None:
    (question,) = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0)])])
    assert np.array_equal(pickle.loads(pickle.dumps(question.spectrum))().flux, question.spectrum().flux)


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (question,) = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0)])])
    question.spectrum()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_benchmark_built_here_has_survey_snr_and_the_whole_spectrum(tmp_path: Path) -> None:
    spectrum = simulate("wd", "DESI", 12.0, 3)
    entry = Entry("key", spectrum.name, lambda: spectrum)
    path = tmp_path / "test_wd.parquet"
    write_parquet(path, [Selected(entry, "YES", None, None, 12.0, spectrum.survey, True)], load()["wd"])
    (question,) = questions([path])
    assert (question.survey, question.snr, question.simulated) == ("simulated DESI", 12.0, True)
    assert question.task.prompt == load()["wd"].prompt
    assert question.spectrum() == spectrum


def a_benchmark(folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    for part, first in (("train", 0), ("test", 100)):
        for name, key in (("carbon", "cc"), ("cv", "cv")):
            rows = [specvi_row(first + n, name) for n in range(3)]
            specvi_file(folder / f"data/{part}_{key}.parquet", rows)
    return folder


def test_a_folder_of_the_benchmark_gives_one_part(tmp_path: Path) -> None:
    folder = a_benchmark(tmp_path / "bench")
    assert [q.key for q in questions([folder], part="test")] == [
        f"test_{key}.parquet#{n}" for key in ("cc", "cv") for n in range(3)
    ]
    assert {q.key[:5] for q in questions([folder / "data"], part="train")} == {"train"}
    with pytest.raises(DataError, match=r"found train_\*\.parquet and test_\*\.parquet, expected one of the two"):
        questions([folder])


def test_one_task_of_several_can_be_selected(tmp_path: Path) -> None:
    folder = a_benchmark(tmp_path / "bench")
    assert {q.task.key for q in questions([folder], part="test", task="carbon")} == {"cc"}
    assert {q.task.key for q in questions([folder], part="test", task=["cv", "cc"])} == {"cc", "cv"}
    with pytest.raises(DataError, match="task: found 'comet', expected one of"):
        questions([folder], part="test", task="comet")
    with pytest.raises(DataError, match="found no question of task wd"):
        questions([folder], part="test", task="wd")


def test_the_spectra_in_both_published_sets_are_found_and_can_be_dropped(tmp_path: Path) -> None:
    learned = examples([published_set(tmp_path / "sft", range(6))])
    train = questions([specvi_file(tmp_path / "train_cv.parquet", [specvi_row(n) for n in range(10, 20)])])
    test = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(n) for n in (2, 5, 30, 31)])])
    refuse_leaks(learned, train)
    with pytest.raises(DataError, match=r"^2 spectra are in the training and in the test data: ") as leak:
        refuse_leaks(learned, test)
    assert "sp07-002.fits, spec-56414-HD161547N531412F01_sp07-005.fits;" in str(leak.value)
    kept, dropped = without(learned, shared_sources(learned, test))
    assert (len(kept), [left_out.source[-8:] for left_out in dropped]) == (4, ["002.fits", "005.fits"])
    refuse_leaks(kept, test)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data_source": "tns"}, "row 1: data_source: found 'tns', expected one of"),
        ({"reward_model": {"ground_truth": "CV", "type": "rule"}}, "row 1: reward_model.ground_truth: found 'CV'"),
        ({"extra_info": specvi_row(1)["extra_info"] | {"name": ""}}, "row 1: extra_info.name: found nothing"),
        ({"prompt": [{"role": "system", "content": "x"}]}, "row 1: prompt: found 0 user turns"),
        ({"prompt": [{"role": "user", "content": "<image>"}]}, "row 1: prompt: found 1 user turns with text"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0), specvi_row(1, **changes)])
    with pytest.raises(DataError) as wrong:
        questions([path])
    assert f"{path}: {message}" in str(wrong.value)


def test_a_row_without_a_spectrum_is_named_when_the_spectrum_is_read(tmp_path: Path) -> None:
    row = specvi_row(1)
    row["extra_info"] = {"index": "1", "name": "x.fits", "tools_kwargs": {"other": 3}}
    (question,) = questions([specvi_file(tmp_path / "test_cv.parquet", [row])])
    with pytest.raises(DataError, match=r"test_cv\.parquet: row 0: .*without create_kwargs"):
        question.spectrum()


@pytest.mark.parametrize("keep", [8, 0.9])
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, keep: float) -> None:
    path = specvi_file(tmp_path / "test_cv.parquet", [specvi_row(n) for n in range(20)])
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep if keep > 1 else len(whole) * keep)])
    with pytest.raises(DataError, match="damaged Parquet file") as wrong:
        questions([path])
    assert "\n" not in str(wrong.value)


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    path = specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0)])
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(DataError, match="found no rows"):
        questions([path])


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
        st.integers(0, 40).map("spec-{}.fits".format), st.sampled_from(["cv", "wd"]), st.sampled_from(["YES", "NO"])
    ),
    max_size=80,
).map(lambda made: [question(*row, key=f"row {n}") for n, row in enumerate(made)])


@given(rows, st.integers(0, 2**32))
def test_every_row_is_in_one_part_and_no_source_in_two(records: list[Question], seed: int) -> None:
    parts = split(records, THREE, seed)
    assert Counter(record.key for part in parts.values() for record in part) == Counter(
        record.key for record in records
    )
    sources = [{record.source for record in part} for part in parts.values()]
    assert sum(map(len, sources)) == len(set().union(*sources))
    refuse_leaks(parts["train"], parts["test"])


@given(rows, st.integers(0, 2**32), st.randoms())
def test_the_order_of_rows_does_not_matter(records, seed, random):
    kinds: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for record in records:
        kinds[record.source].add((record.task.key, record.label))
    parts = split(records, THREE, seed)
    for kind in {frozenset(kind) for kind in kinds.values()}:
        alike = {source for source, own in kinds.items() if own == kind}
        for name, fraction in THREE.items():
            there = len({record.source for record in parts[name]} & alike)
            assert abs(there - fraction * len(alike)) < 1 + 1e-9


def test_rows_keep_their_order_and_the_seed_decides() -> None:
    records = [question(f"{n}.fits") for n in range(50)]
    for part in split(records, THREE, 1).values():
        assert [r.key for r in part] == [r.key for r in records if r in part]
    records = [question(f"{n}.fits") for n in range(50)]
    halves = {"a": 0.5, "b": 0.5}
    assert split(records, halves, 1) == split(records, halves, 1)
    assert split(records, halves, 1) != split(records, halves, 2)
    parts = split([question(f"{n}.fits") for n in range(9)], {"none": 0.0, "all": 1.0}, 3)
    assert (len(parts["none"]), len(parts["all"])) == (0, 9)


def test_kinds_of_one_source_do_not_all_go_to_one_part() -> None:
    """Forty seeds, two sources of different kinds: over all seeds the fractions hold."""
    counts: Counter[str] = Counter()
    for seed in range(40):
        for name, part in split([question("a", "cv"), question("b", "wd")], {"x": 0.5, "y": 0.5}, seed).items():
            counts[name] += len(part)
    assert 20 < counts["x"] < 60


@pytest.mark.parametrize("fractions", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}])
def test_fractions_must_add_up_to_one(fractions: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected parts of 0 or more with the sum 1"):
        split([question("a")], fractions, 0)


@given(rows, rows)
def test_leaks_are_refused_exactly_if_there_are_any(training: list[Question], test: list[Question]) -> None:
    shared = {r.source for r in training} & {r.source for r in test}
    if shared:
        with pytest.raises(DataError, match="in the training and in the test data"):
            refuse_leaks(training, test)
    kept, dropped = without(training, shared)
    refuse_leaks(kept, test)
    assert len(kept) + len(dropped) == len(training)


def test_a_leak_names_the_first_sources_and_counts_all() -> None:
    records = [question(f"{n}.fits") for n in range(9)]
    with pytest.raises(DataError, match=r"^9 spectra are .*: 0\.fits, 1\.fits, 2\.fits, …; expected none in both"):
        refuse_leaks(records, records)
    with pytest.raises(DataError, match=r"^1 spectrum is .*: 0\.fits; expected"):
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
def test_a_source_is_the_file_name_without_folder_and_compression(name: str, target: str, source: str) -> None:
    assert source_of(name, target) == source


@pytest.mark.parametrize("name", ["", " ", "spectrum"])
def test_a_spectrum_without_a_name_is_known_by_its_hash(name: str) -> None:
    assert source_of(name, sha256="ab12") == "sha256:ab12"
    with pytest.raises(ValueError, match="neither name nor hash"):
        source_of(name)


def invalid_utf8(values: list[str]) -> pa.Array:
    """A text column in which each value begins with a byte that is invalid in UTF-8."""
    column = pa.array([b"\xff" + value.encode() for value in values], pa.binary())
    return pa.Array.from_buffers(pa.string(), len(column), column.buffers())


@pytest.mark.parametrize("place", ["data_source", "name"])
def test_text_of_a_benchmark_that_is_no_utf8_is_refused(place: str, tmp_path: Path) -> None:
    table = pa.Table.from_pylist([specvi_row(n) for n in range(2)])
    where = table.schema.get_field_index("data_source" if place == "data_source" else "extra_info")
    column: pa.Array = table.column(where).combine_chunks()
    if place == "data_source":
        spoiled = invalid_utf8(column.to_pylist())
    else:
        names = [field.name for field in column.type]
        parts = [invalid_utf8(column.field(n).to_pylist()) if n == "name" else column.field(n) for n in names]
        spoiled = pa.StructArray.from_arrays(parts, names)
    path = tmp_path / "test_cv.parquet"
    pq.write_table(table.set_column(where, table.column_names[where], spoiled), path)
    with pytest.raises(DataError) as refused:
        questions([path])
    check_sentence(str(refused.value), tmp_path)


def chosen(found: list[Any], number: int, seed: int = 42) -> set[str]:
    return {one.source for one in sample(found, number, seed)}


def test_n_trajectories_are_selected_by_the_seed_alone_with_labels_in_their_share(tmp_path: Path) -> None:
    found = examples([published_set(tmp_path / "set", range(40))])
    ten = sample(found, 10, 42)
    assert len(ten) == 10
    assert [one.key for one in ten] == [one.key for one in found if one in ten]
    assert Counter(one.trajectory.label for one in ten) == {"YES": 5, "NO": 5}
    assert chosen(found[::-1], 10) == chosen(found, 10) < chosen(found, 20)
    assert chosen(found, 10, seed=1) != chosen(found, 10)
    assert sample(found, 40, 1) == found
    with pytest.raises(DataError, match="trajectories: found 40 to learn from, expected at least the 41 to select"):
        sample(found, 41, 42)


def test_sft_learns_from_n_trajectories_and_the_run_records_it(tmp_path: Path) -> None:
    folder = published_set(tmp_path / "set", range(40))
    settings = SftSettings(ModelSettings("base"), str(tmp_path / "run"), (str(folder),), held_out=0.25, trajectories=12)
    renderer: Any = SimpleNamespace(example=lambda trajectory, pictures, with_tool: range(100))
    prepared = prepare(settings, renderer)
    assert (len(prepared.examples), len(prepared.held_out), prepared.card.rows) == (12, 10, 22)
    every = prepare(replace(settings, trajectories=None), renderer)
    assert prepared.held_out == every.held_out
    assert {example.key for example in prepared.examples} < {example.key for example in every.examples}
    (left_out,) = prepared.card.dropped
    assert (left_out.reason, left_out.rows) == ("not among the 12 trajectories selected with seed 42", 18)
    run = Run(tmp_path / "run")
    run.begin("sft", settings)
    assert json.loads((run.folder / "lineage.json").read_text())[-1]["trajectories"] == 12
    assert "trajectories: 12" in (run.folder / "settings.yaml").read_text()
    given = parsed(SftOptions, "--config", "sft_qwen2_5_vl_7b", "--trajectories", 200)
    assert settings_of(given).trajectories == 200
