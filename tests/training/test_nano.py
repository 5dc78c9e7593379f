"""Data of the nano model: simulated spectra, what is stated about them, and the traces of the script."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from agent.conversation import Conversation
from agent.loop import run
from agent.simulate import CLASSES, KINDS, simulate, truth
from agent.tool import overview as drawn
from training.nano.features import FEATURES, LOST, OUTSIDE, overview, statement, statements
from training.nano.scoring import Judged, counts
from training.nano.spectra import SHORTEST, WHITE_DWARFS, Simulated, question, simulated, tasks
from training.nano.teacher import NOUNS, VIEWS, Script, Traces, phrases, taught

SEEDS = {"wd": 1, "gm": 2, "dm": 3}
CLEAN = {kind: simulate(kind, "SDSS", 1e6, SEEDS.get(kind, 5)) for kind in KINDS}


def small(image):
    return image.reduce(4)


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("cv", "Hα: broad emission."),
        ("dme", "Narrow Hα: narrow emission."),
        ("pn", "[O III] 5007: narrow emission."),
        ("wd", "Hβ: very broad absorption."),
        ("cc", "C2 5165: deep band."),
        ("cc", "TiO 5167: no band."),
        ("gm", "TiO 7054: deep band."),
        ("gm", "C2 5165: no band."),
        ("ss", "ZrO 6474: clear band."),
        ("gm", "ZrO 6474: no band."),
        ("dm", "CaH 6975: clear band."),
        ("gm", "CaH 6975: no band."),
        ("o", "He II 5412: weak absorption."),
        ("a", "He II 5412: no line."),
        ("a", "He II 4686: no line."),
        ("fgk", "TiO 7054: no band."),
    ],
)
def test_what_a_picture_shows_of_a_kind(kind, seen):
    assert statement(seen.split(":")[0], CLEAN[kind]) == seen


def test_a_feature_outside_the_data_and_one_in_noise_are_stated_so():
    red = simulate("b", "SDSS", 1e6, 5)
    cut = type(red)(wavelength=red.wavelength[2000:], flux=red.flux[2000:], ivar=red.ivar[2000:])
    assert statement("Hγ", cut) == f"Hγ: {OUTSIDE}."
    noisy = simulate("b", "SDSS", 2, 5)
    clean = type(red)(
        wavelength=red.wavelength, flux=red.flux * np.median(noisy.flux) / np.median(red.flux), ivar=noisy.ivar
    )
    assert statement("He I 4471", clean) == f"He I 4471: {LOST}."


def test_the_overview_states_continuum_and_emission():
    assert overview(CLEAN["o"]).startswith("The continuum is")
    assert overview(CLEAN["pn"]).endswith("with strong emission lines.")
    assert overview(CLEAN["gm"]) == "The continuum is red."


def test_every_statement_of_a_feature_is_a_phrase_and_every_kind_has_words():
    known = set(statements())
    assert {statement(name, clean) for name in FEATURES for clean in CLEAN.values()} <= known
    assert known <= set(phrases())
    assert len(set(phrases())) == len(phrases())
    assert set(NOUNS) == set(KINDS)
    assert isinstance(simulated("sft", 1), Simulated)


def test_a_spectrum_is_the_same_each_time_keeps_a_part_and_is_in_one_part():
    one, again, other = simulated("sft", 11), simulated("sft", 11), simulated("validation", 11)
    assert one.spectrum.sha256 == again.spectrum.sha256
    assert one.clean.sha256 == again.clean.sha256
    assert one.spectrum.name != other.spectrum.name
    assert one.spectrum.wavelength.size == one.clean.wavelength.size
    wavelength = simulated("sft", 379).spectrum.wavelength  # it starts red of where it would end
    assert wavelength[-1] - wavelength[0] > SHORTEST


def test_the_clean_spectrum_is_the_noisy_one_without_noise():
    for number in range(16):
        known = simulated("sft", number)
        if known.kind == "sky":
            assert not known.clean.flux.any()
            continue
        good = known.spectrum.ivar > 0
        pulls = (known.spectrum.flux - known.clean.flux)[good] * np.sqrt(known.spectrum.ivar[good])
        assert 0.7 < np.median(np.abs(pulls)) / 0.6745 < 1.3


def test_each_task_has_its_share_of_yes_and_any_kind_among_the_others():
    kinds: set[str] = set()
    for task in range(len(CLASSES)):
        some = [simulated("sft", task + len(CLASSES) * place) for place in range(30)]
        kinds |= {one.kind for one in some}
        assert {one.task for one in some} == {CLASSES[task]}
        assert 3 <= sum(one.label == "YES" for one in some) <= 19
    assert len(kinds) >= 18


def test_rare_types_of_white_dwarfs_are_there_as_often_as_intended():
    known = [simulated("grpo", 4 + len(CLASSES) * place) for place in range(400)]
    types = Counter(one.state for one in known if one.kind == "wd")
    assert set(types) == set(WHITE_DWARFS)
    number = types.total()
    for name, share in WHITE_DWARFS.items():
        assert abs(types[name] - share * number) < 4 * np.sqrt(share * (1 - share) * number)
    assert 0.1 < number / len(known) < 0.35


@pytest.mark.parametrize("number", range(8))
def test_a_trace_zooms_on_the_windows_of_its_task_and_gives_the_true_answer(number):
    known = simulated("sft", number)
    example = taught(known, small)
    trace = example.trajectory
    assert [zoom.arguments["label"] for zoom in trace.zooms] == [view.label for view in VIEWS[known.task]]
    assert trace.answer is not None
    assert trace.answer.verdict == trace.label == truth(known.kind, known.task)
    assert NOUNS[known.kind] in trace.answer.explanation
    assert trace.faults == ()
    assert len(example.pictures()) == 1 + sum(zoom.ok for zoom in trace.zooms)


def test_the_script_writes_the_text_of_its_phrases():
    known = simulated("sft", 0)
    spectrum = known.spectrum
    text = "".join(Script(known).turn(Conversation(spectrum, tasks()["cv"], drawn(spectrum), 8)))
    rest = text
    for phrase in sorted(phrases(), key=len, reverse=True):
        rest = rest.replace(phrase, "")
    assert rest == ""


def test_traces_are_made_when_they_are_needed():
    traces = Traces("sft", 1000, small)
    assert len(traces) == 1000
    assert traces[3].trajectory == traces[3].trajectory
    assert len(traces[4:6]) == 2
    with pytest.raises(IndexError):
        traces[1000]


def test_a_question_simulates_its_spectrum_again():
    found = question("validation", 2)
    assert found.spectrum().sha256 == simulated("validation", 2).spectrum.sha256
    assert run(found.spectrum(), found.task, Script(simulated("validation", 2))).answer.verdict == found.label


def judged(label: str, odds: float) -> Judged:
    place = next(n for n in range(0, 800, 8) if simulated("validation", n).label == label)
    return Judged(question("validation", place), "YES" if odds > 0 else "NO", odds, "")


def test_counts_depend_on_the_bound_and_on_what_is_left_to_a_person():
    some = [judged("YES", 2.0), judged("YES", 0.4), judged("NO", 0.2), judged("NO", -3.0)]
    plain = counts(some, "cv")
    assert (plain.hit, plain.false, plain.missed, plain.left, plain.n) == (2, 1, 0, 0, 4)
    assert plain.f1 == pytest.approx(0.8)
    moved = counts(some, "cv", bound=0.25)
    assert (moved.hit, moved.false, moved.f1) == (2, 0, 1.0)
    sure = counts(some, "cv", even=1.0)
    assert (sure.hit, sure.false, sure.left, sure.coverage) == (1, 0, 2, 0.5)
    assert counts(some, "wd").f1 is None


def test_a_folder_with_other_files_is_refused(tmp_path: Path):
    from training.nano.stages import SCALES, StagesError, train

    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StagesError, match="found other files, expected an empty folder"):
        train(tmp_path, 0, SCALES["quick"], print)


def test_a_simulated_spectrum_by_another_spectrograph():
    from agent.simulate.instrument import SURVEYS

    seen = simulate("cv", "LAMOST", 20, 3, instrument=SURVEYS["DESI"])
    assert seen.wavelength[0] == pytest.approx(3600)
    assert seen.meta["state"] == simulate("cv", "LAMOST", 20, 3).meta["state"]
