"""SpecVI-Bench's Parquet files: each row asked in its own words, its spectrum found in any order."""

import pickle
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.simulate import simulate
from agent.tasks import load
from agent.tool import frame_of
from tests.support.made_data import published_set, specvi_file, specvi_row
from training.bench.build import Entry, Taken
from training.bench.build.specvi_file import write
from training.data import DataError, examples, questions, refuse_leaks, shared_sources, without


def test_a_row_is_asked_in_its_own_words_under_our_key(tmp_path: Path) -> None:
    first, second = questions([specvi_file(tmp_path / "train_cv.parquet", [specvi_row(0), specvi_row(1)])])
    assert (first.task.key, first.label, first.survey, first.snr) == ("cv", "NO", "LAMOST", None)
    assert first.task.prompt == "The published words about cv.\n\nGuide."
    assert first.task.features == load()["cv"].features
    assert first.source == "spec-56414-HD161547N531412F01_sp07-000.fits"
    assert second.label == "YES"
    assert second.task is first.task


def test_carbon_is_our_cc(tmp_path: Path) -> None:
    (question,) = questions([specvi_file(tmp_path / "test_cc.parquet", [specvi_row(0, "carbon")])])
    assert question.task.key == "cc"


@pytest.mark.parametrize("group", [1, 50, 64, 100, 1000])
def test_spectra_are_found_in_any_order(tmp_path: Path, group: int) -> None:
    asked = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(n) for n in range(150)], group)])
    for number in (149, 0, 63, 64, 65, 128, 100, 1):
        spectrum = asked[number].spectrum()
        assert spectrum.flux[0] == number + 0.5
        assert spectrum.name == f"{asked[number].source}.gz"
        assert spectrum.medium == "vacuum"


def test_no_redshift_is_taken_as_zero(tmp_path: Path) -> None:
    asked = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0), specvi_row(1)])])
    assert [q.spectrum().redshift for q in asked] == [0.01, 0.0]
    assert frame_of(asked[1].spectrum()) == ("observed", 0.0)


def test_what_only_the_spectrum_says_is_known_once_it_is_read(tmp_path: Path) -> None:
    (question,) = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0)])])
    spectrum = replace(question.spectrum(), snr={"r": 12.5})
    known = question.known(spectrum)
    assert (known.survey, known.snr, known.simulated) == ("LAMOST", 12.5, False)
    assert replace(known, snr=None) == question


def test_a_question_travels_to_other_processes(tmp_path: Path) -> None:
    (question,) = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0)])])
    assert np.array_equal(pickle.loads(pickle.dumps(question.spectrum))().flux, question.spectrum().flux)


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (question,) = questions([specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0)])])
    question.spectrum()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_benchmark_built_here_says_survey_and_noise_and_gives_the_whole_spectrum(tmp_path: Path) -> None:
    spectrum = simulate("wd", "DESI", 12.0, 3)
    entry = Entry("key", spectrum.name, lambda: spectrum)
    path = tmp_path / "test_wd.parquet"
    write(path, [Taken(entry, "YES", None, None, 12.0, spectrum.survey, True)], load()["wd"])
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
    with pytest.raises(DataError, match=r"found train_\*\.parquet and test_\*\.parquet, wanted one of the two"):
        questions([folder])


def test_one_task_of_several_is_asked(tmp_path: Path) -> None:
    folder = a_benchmark(tmp_path / "bench")
    assert {q.task.key for q in questions([folder], part="test", task="carbon")} == {"cc"}
    assert {q.task.key for q in questions([folder], part="test", task=["cv", "cc"])} == {"cc", "cv"}
    with pytest.raises(DataError, match="task: found 'comet', wanted one of"):
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
    assert (len(kept), [one.source[-8:] for one in dropped]) == (4, ["002.fits", "005.fits"])
    refuse_leaks(kept, test)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data_source": "tns"}, "row 1: data_source: found 'tns', wanted one of"),
        (
            {"reward_model": {"ground_truth": "CV", "type": "rule"}},
            "row 1: reward_model.ground_truth: found 'CV'",
        ),
        ({"extra_info": specvi_row(1)["extra_info"] | {"name": ""}}, "row 1: extra_info.name: found nothing"),
        ({"prompt": [{"role": "system", "content": "x"}]}, "row 1: prompt: found 0 user turns"),
        ({"prompt": [{"role": "user", "content": "<image>"}]}, "row 1: prompt: found 1 user turns with text"),
    ],
)
def test_a_wrong_field_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = specvi_file(tmp_path / "test_cv.parquet", [specvi_row(0), specvi_row(1, **changes)])
    with pytest.raises(DataError) as wrong:
        questions([path])
    assert f"{path}: {said}" in str(wrong.value)


def test_a_row_without_a_spectrum_is_named_when_it_is_asked_for(tmp_path: Path) -> None:
    row = specvi_row(1)
    row["extra_info"] = {"index": "1", "name": "x.fits", "tools_kwargs": {"other": 3}}
    (question,) = questions([specvi_file(tmp_path / "test_cv.parquet", [row])])
    with pytest.raises(DataError, match=r"test_cv\.parquet: row 0: .*without create_kwargs"):
        question.spectrum()


@pytest.mark.parametrize("keep", [8, 0.3, 0.9])
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
