"""Simulated spectra as files: read back exactly, marked as simulated, labelled as they are."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import app
from agent.batch.labels import Labels
from agent.simulate import CLASSES, KINDS, simulate, truth
from agent.simulate.files import LOOK_ALIKES_OF, for_task, orders
from agent.spectrum import Spectrum, SpectrumError, read
from agent.spectrum.readers import own

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
numbers = st.floats(-1e30, 1e30)
scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | numbers | text


@st.composite
def spectra(draw: st.DrawFn) -> Spectrum:
    size = draw(st.integers(2, 12))
    steps = draw(st.lists(st.floats(1e-3, 50.0), min_size=size, max_size=size))
    values: dict[str, Any] = {
        "wavelength": 3000.0 + np.cumsum(steps),
        "flux": draw(st.lists(numbers, min_size=size, max_size=size)),
        "ivar": draw(st.lists(st.floats(0, 1e300), min_size=size, max_size=size)),
        "mask": draw(st.lists(st.booleans(), min_size=size, max_size=size)),
        "medium": draw(st.sampled_from(["vacuum", "air"])),
        "frame": draw(st.sampled_from(["observed", "rest"])),
        "errors": draw(st.sampled_from(["measured", "estimated"])),
        "ids": draw(st.dictionaries(text, text, max_size=3)),
        "snr": draw(st.dictionaries(text, numbers, max_size=3)),
        "meta": draw(st.dictionaries(text, scalars, max_size=4)),
        "redshift": draw(st.none() | st.floats(-0.99, 10)),
        "ra": draw(st.none() | st.floats(0, 360)),
        "dec": draw(st.none() | st.floats(-90, 90)),
    }
    # The JSON form calls a spectrum without a name "spectrum".
    values["name"] = draw(text.filter(bool))
    values |= {key: draw(text) for key in ("flux_unit", "survey", "catalogue_class")}
    return Spectrum(**values)


@given(spectra())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_spectrum_of_our_own_layout_is_read_back_exactly(tmp_path: Path, spectrum: Spectrum) -> None:
    own.write(spectrum, tmp_path / "any.fits")
    again = read(tmp_path / "any.fits")
    assert again == spectrum
    assert again.sha256 == spectrum.sha256


@pytest.mark.parametrize("survey", ["LAMOST", "SDSS", "DESI"])
def test_a_simulated_spectrum_keeps_everything_its_mark_above_all(tmp_path: Path, survey: str) -> None:
    made = simulate("qso", survey, 12.5, seed=3, redshift=0.4)
    own.write(made, tmp_path / made.name)
    again = read(tmp_path / made.name)
    assert again == made
    assert again.meta["simulated"] is True
    assert (again.meta["kind"], again.meta["state"], again.meta["seed"]) == ("qso", "broad-line", 3)
    assert again.survey == f"simulated {survey}"


def test_another_program_sees_the_table_and_that_it_is_simulated(tmp_path: Path) -> None:
    made = simulate("cv", "SDSS", 20, seed=1)
    own.write(made, tmp_path / made.name)
    with fits.open(tmp_path / made.name) as hdus:
        assert hdus[0].header["SIMULATE"] is True
        assert hdus[0].header["OBJECT"] == made.name
        assert np.array_equal(hdus["SPECTRUM"].data["FLUX"], made.flux)
        assert np.array_equal(hdus["SPECTRUM"].data["MASK"], made.mask)


def test_equal_spectra_are_equal_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        own.write(simulate("wd", "DESI", 9, seed=5), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda hdus: hdus[0].header.set("SPECO3", "spec-o3/spectrum/9"), "SPECO3 = 'spec-o3/spectrum/9'"),
        (lambda hdus: hdus[2].header.set("EXTNAME", "OTHER"), "no table FACTS"),
        (lambda hdus: hdus["FACTS"].data["JSON"].__setitem__(0, "{"), "FACTS that are no JSON object"),
        (lambda hdus: hdus["SPECTRUM"].data["IVAR"].__setitem__(3, -1), "a negative inverse variance"),
    ],
)
def test_a_spoiled_file_is_refused_by_name(tmp_path: Path, spoil: Any, words: str) -> None:
    path = tmp_path / "spoiled.fits"
    own.write(simulate("a", "LAMOST", 9, seed=5), path)
    with fits.open(path, mode="update") as hdus:
        spoil(hdus)
    with pytest.raises(SpectrumError, match="wanted") as refused:
        read(path)
    assert words in str(refused.value)


def run(folder: Path, *options: str) -> list[dict[str, str]]:
    assert app.main(["simulate", str(folder), *options]) == 0
    with (folder / "labels.csv").open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_a_task_gets_its_class_and_its_look_alikes_at_the_ratio_asked_for(tmp_path: Path) -> None:
    rows = run(tmp_path / "cv", "--task", "cv", "--n", "18", "--ratio", "1:5", "--survey", "LAMOST,DESI")
    assert [row["label"] for row in rows] == ["YES"] * 3 + ["NO"] * 15
    assert {row["kind"] for row in rows if row["label"] == "NO"} == set(LOOK_ALIKES_OF["cv"])
    assert {row["survey"] for row in rows} == {"simulated LAMOST", "simulated DESI"}
    assert all(5 <= float(row["snr"]) <= 40 for row in rows)
    for row in rows:
        spectrum = read(tmp_path / "cv" / row["file"])
        assert spectrum.name == row["file"]
        assert (spectrum.meta["kind"], spectrum.survey) == (row["kind"], row["survey"])


def test_labels_answer_every_task_of_one_file(tmp_path: Path) -> None:
    """Eight rows a file: whoever asks for one task gets its answer and no other's."""
    run(tmp_path / "all", "--n", str(len(KINDS)))
    names = {order.kind: order.spectrum().name for order in orders(KINDS, ["LAMOST"], (5, 40), 0)}
    for task in CLASSES:
        labels = Labels.read(
            tmp_path / "all" / "labels.csv", lambda key, task=task: key == task if key in CLASSES else None
        )
        assert len(labels) == len(KINDS)
        assert {kind: labels.of(name) for kind, name in names.items()} == {k: truth(k, task) for k in KINDS}


def test_one_seed_gives_one_folder_and_another_shares_nothing_with_it(tmp_path: Path) -> None:
    for name, seed in (("one", "4"), ("again", "4"), ("other", "5")):
        run(tmp_path / name, "--kinds", "cv,dme", "--n", "4", "--seed", seed, "--redshift", "0.001:0.01")
    files = {name: {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("one", "again")}
    assert files["one"] == files["again"]
    shared = set(files["one"]) & {p.name for p in (tmp_path / "other").iterdir()}
    assert shared == {"labels.csv"}
    assert 0.001 <= (read(tmp_path / "one" / "simulated-cv-4000000.fits").redshift or 0) <= 0.01


def test_every_task_has_look_alikes_that_are_no_member_of_its_class() -> None:
    assert set(LOOK_ALIKES_OF) == set(CLASSES)
    for task, kinds in LOOK_ALIKES_OF.items():
        assert [truth(kind, task) for kind in kinds] == ["NO"] * len(kinds)
        asked = for_task(task, 40, (1, 1))
        assert [truth(kind, task) for kind in asked] == ["YES"] * 20 + ["NO"] * 20


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--task", "xx"], "--task: no task 'xx'; there are cv, cc"),
        (["--kinds", "cv,xx"], "--kinds: found 'xx', wanted one of cv, cc"),
        (["--survey", "HST"], "--survey: found 'HST', wanted one of LAMOST, SDSS, DESI"),
        (["--n", "0"], "--n: found 0, wanted 1 to"),
        (["--snr", "0:3"], "--snr: found 0, wanted more than 0"),
        (["--seed", "-1"], "--seed: found -1, wanted 0 or more"),
        (["--redshift=-2:0"], "--redshift: found -2, wanted more than -1"),
    ],
)
def test_what_cannot_be_simulated_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert app.main(["simulate", str(tmp_path / "new"), *options]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_a_folder_with_files_in_it_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert app.main(["simulate", str(tmp_path), "--n", "1"]) == 2
    assert "wanted a new or an empty folder" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_the_result_is_told_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path / "x", "--task", "b", "--n", "4", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["spectra"] == 4
    assert told["kinds"] == {"b": 1, "be": 1, "o": 1, "a": 1}
    assert told["tasks"] == ["b"]
