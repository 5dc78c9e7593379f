"""Data of the nano model: its spectra, what is stated about them, and the traces of the script."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.conversation import Conversation
from agent.hints.claims import claims_of
from agent.hints.evidence import evidence
from agent.loop import run
from agent.measure import rest
from agent.simulate import CLASSES, simulate, truth
from agent.templates import bundled
from agent.tool import overview
from agent.trajectory.steps import Think
from agent.trajectory.tags import turn_text as written_turn
from agent.trial import edits
from agent.trial.edits import Edited
from agent.trial.run import trial
from training.nano.cold_start import overview_states
from training.nano.scoring import Judged, counts
from training.nano.sight import features, heights, stated
from training.nano.spectra import HELD_OUT, SHORTEST, WHITE_DWARFS, known_spectrum, question, tasks, templates
from training.nano.teacher import (
    ARMS,
    MOST_CALLS,
    STATES,
    Script,
    State,
    Subject,
    log_odds,
    phrases,
    planned_calls,
    read,
    repeated,
    sentence,
    so_far,
    state_of,
    state_read,
    states_read,
    subjects,
    taught,
    turn_text,
    varied,
)

NUMBERS = range(len(CLASSES))


def small(image):
    return image.reduce(4)


def written(arm, spectrum, task):
    """Everything that the script writes about a spectrum."""
    return " ".join(step.text for step in run(spectrum, tasks()[task], Script(arm)).steps if isinstance(step, Think))


@pytest.mark.parametrize(
    ("kind", "task", "text"),
    [
        ("cv", "cv", "Hα in emission."),
        ("a", "cv", "No Hα emission."),
        ("a", "cv", "Hβ in absorption."),
        ("cc", "cc", "C2 5165 band is present."),
        ("gm", "cc", "No C2 5165 band."),
        ("ss", "ss", "ZrO 6474 band is present."),
        ("fgk", "ss", "No ZrO 6474 band."),
        ("o", "o", "He II 5412 in absorption."),
        ("a", "o", "No He II 5412 absorption."),
        ("a", "a", "Hδ in absorption."),
    ],
)
@pytest.mark.parametrize("arm", ARMS)
def test_what_is_stated_of_a_kind(kind, task, text, arm):
    assert text in written(arm, simulate(kind, "SDSS", 100, 2), task)


@pytest.mark.parametrize("task", CLASSES)
def test_each_sentence_claims_what_it_says_and_nothing_else(task):
    of_task = subjects(task)
    for feature in tasks()[task].features:
        subject = of_task.get(feature.name)
        for state in STATES:
            claims = claims_of(sentence(task, feature, state))
            if subject is None or state not in ("there", "likely", "too much", "absent"):
                assert claims == (), (feature.name, state)
                continue
            assert {claim.positive for claim in claims} <= {state != "absent"}, (feature.name, state)
            if subject.line is not None:
                assert [(claim.subject, claim.property) for claim in claims] == [(subject.name, subject.sense)]


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("number", NUMBERS)
def test_no_claim_of_a_trace_contradicts_the_hints(arm, number):
    known = known_spectrum("test", number)
    data = evidence(rest(known.spectrum))
    for claim in claims_of(written(arm, known.spectrum, known.task)):
        if claim.property in ("emission", "absorption"):
            state = data.named(claim.subject).state
            assert not (claim.positive and state in {"none", "emission", "absorption"} - {claim.property}), claim
            assert not (not claim.positive and state == claim.property), claim


@pytest.mark.parametrize("task", CLASSES)
@pytest.mark.parametrize("arm", ARMS)
def test_a_plan_fits_into_the_turns_and_looks_at_primary_features(arm, task):
    plan = planned_calls(task, arm)
    assert len(plan) <= MOST_CALLS[arm]
    names = [name for planned in plan for name in planned.features]
    assert len(names) == len(set(names))
    assert {f.name for f in tasks()[task].features if f.role == "primary"} & set(names)
    if arm == "picture":
        assert all(planned.window and planned.window[0] < planned.window[1] for planned in plan)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_trace_follows_its_plan_and_answers_by_the_rule_of_what_it_measured(arm, number):
    known = known_spectrum("sft", number)
    example = taught(known, arm, small)
    trace = example.trajectory
    assert [zoom.label for zoom in trace.zooms] == [planned.name for planned in planned_calls(known.task, arm)]
    assert trace.answer is not None
    final = [step for step in trace.steps if isinstance(step, Think)][-1].text
    odds = float(re.findall(r"Log odds so far: ([−+]?[\d.]+)\.", final)[-1].replace("−", "-"))
    assert (trace.answer.verdict == "YES") == (odds > 0)
    assert trace.faults == ()
    assert len(example.pictures()) == 1 + sum(zoom.drawn for zoom in trace.zooms)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("task", CLASSES)
def test_the_script_writes_its_phrases_alone(arm, task):
    spectrum = simulate(task, "SDSS", 30, 3)
    conversation = Conversation(spectrum, tasks()[task], overview(spectrum), 8, measure=arm == "measure")
    text = "".join(Script(arm).turn(conversation))
    for phrase in sorted(phrases(), key=len, reverse=True):
        text = text.replace(phrase, "")
    assert text.strip() == ""


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("task", ["cv", "gm"])
def test_the_evidence_of_the_script_passes_its_trial(arm, task):
    spectrum = simulate(task, "SDSS", 60, 4)
    tried = trial(run(spectrum, tasks()[task], Script(arm)), None, spectrum, tasks()[task], Script(arm))
    assert tried.necessity.n > 0
    assert tried.necessity.value == 1.0
    assert tried.passed


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("task", CLASSES)
def test_the_script_knows_a_clear_member_of_each_class_and_of_no_other(arm, task):
    for kind in {task, "fgk", "dm"}:
        trace = run(simulate(kind, "SDSS", 80, 2), tasks()[task], Script(arm))
        assert trace.answer is not None
        assert (trace.answer.verdict == "YES") == (kind == task), kind


def test_log_odds_add_up_and_stay_at_nothing_without_a_primary_feature():
    task = tasks()["cv"]
    states: dict[str, State] = {"Blue continuum": "there", "He II 4686 emission": "there"}
    assert log_odds(task, states) <= 0
    with_primary: dict[str, State] = {**states, "Hα emission": "there", "Hα breadth": "there"}
    assert log_odds(task, with_primary) > 1
    assert log_odds(task, {**with_primary, "[O III] 5007 emission": "there"}) < log_odds(task, with_primary)
    assert log_odds(task, {**with_primary, "[O III] 5007 emission": "unmeasured"}) == log_odds(task, with_primary)


def test_a_feature_without_the_one_that_it_requires_does_not_count():
    task = tasks()["cv"]
    breadth = next(f for f in task.features if f.name == "Hα breadth")
    assert breadth.requires is not None
    without: dict[str, State] = {breadth.requires: "absent"}
    assert log_odds(task, {**without, "Hα breadth": "there"}) == log_odds(task, without)


@pytest.mark.parametrize("task", CLASSES)
@pytest.mark.parametrize("arm", ARMS)
def test_a_feature_is_stated_after_the_one_that_it_requires(arm, task):
    names = [name for planned in planned_calls(task, arm) for name in planned.features]
    features = {feature.name: feature for feature in tasks()[task].features}
    for place, name in enumerate(names):
        assert features[name].requires not in names[place + 1 :], name


@pytest.mark.parametrize(("odds", "shown"), [(-9.0, "−9.0"), (0.0, "0"), (0.5, "+0.5"), (10.0, "+10.0")])
def test_how_log_odds_are_stated(odds, shown):
    assert so_far(odds) == f"Log odds so far: {shown}."


LINE = "Hα at 6562.8 Å (air, as observed). {}: Hα {} (docs/hints.md)."


@pytest.mark.parametrize(
    ("answer", "states"),
    [
        (
            LINE.format(
                "Certain", "in emission, EW −1\u202f034 ± 3 Å (±2\u202f489 km/s), at 3 ± 4 km/s; FWHM 1\u202f660 ± 110"
            ),
            {"Hα emission": "there", "Hα breadth": "there", "Hα filled in (outburst)": "too much"},
        ),
        (
            LINE.format("Certain", "in emission, EW −3.0 ± 0.3 Å (±200 km/s), at 3 ± 4 km/s; FWHM 240 ± 11"),
            {"Hα emission": "weak", "Hα breadth": "absent", "Hα filled in (outburst)": "there"},
        ),
        (
            LINE.format("Certain", "in absorption, EW 3.0 ± 0.3 Å (±200 km/s), at 3 ± 4 km/s; FWHM 900 ± 11"),
            {"Hα emission": "absent", "Hα breadth": "unmeasured", "Hα filled in (outburst)": "absent"},
        ),
        (
            LINE.format("Not certain", "not certain: not above the scatter; EW −12 ± 3 Å (absorption > 0)"),
            {"Hα emission": "likely", "Hα breadth": "unmeasured", "Hα filled in (outburst)": "likely"},
        ),
        (
            LINE.format("Not certain", "not certain: not above the scatter; EW −12 ± 7 Å (absorption > 0)"),
            {"Hα emission": "possible", "Hα breadth": "unmeasured", "Hα filled in (outburst)": "possible"},
        ),
        (LINE.format("Not certain", "not certain: another line is nearer"), {"Hα emission": "open"}),
        (
            "Hα at 6562.8 Å (air, as observed). Absent: no Hα: nothing deeper than 4 %.",
            {"Hα emission": "absent", "Hα breadth": "unmeasured", "Hα filled in (outburst)": "there"},
        ),
        (
            "Hα: outside the data, which cover 3800–5800 Å (air, as observed). Nothing can be said about it.",
            {"Hα emission": "unmeasured", "Hα filled in (outburst)": "unmeasured"},
        ),
    ],
)
def test_what_an_answer_of_measure_says_of_a_line(answer, states):
    features = {feature.name: feature for feature in tasks()["cv"].features}
    assert {name: state_read(features[name], read(answer)) for name in states} == states


@pytest.mark.parametrize(
    ("name", "answer", "state"),
    [
        (
            "TiO5",
            "TiO5 (air). Measured: 0.52 ± 0.02 (mean flux …); TiO by all its indices: present.",
            "there",
        ),
        (
            "TiO5",
            "TiO5 (air). Measured: 0.79 ± 0.02 (mean flux …); TiO by all its indices: present.",
            "weak",
        ),
        (
            "TiO5",
            "TiO5 (air). Measured: 1.02 ± 0.02 (mean flux …); TiO by all its indices: absent.",
            "absent",
        ),
        ("TiO5", "TiO5 (air, as observed). Not measured: no data (mean flux …).", "unmeasured"),
        ("TiO 6159", "TiO 6159 at 6158.5 Å (air, as observed). Certain: TiO bands: TiO5 0.52 ± 0.02.", "there"),
        ("TiO 6159", "TiO 6159 at 6158.5 Å (air, as observed). Absent: no TiO bands: TiO5 1.02 ± 0.02.", "absent"),
        ("TiO 6159", "TiO 6159 at 6158.5 Å (air, as observed). Not certain: TiO not certain: TiO5 0.9 ± 0.2.", "open"),
    ],
)
def test_what_an_answer_of_measure_says_of_a_band(name, answer, state):
    feature = next(f for f in tasks()["cc"].features if name in f.name)
    assert state_read(feature, read(answer)) == state


@pytest.mark.parametrize("number", NUMBERS)
def test_every_planned_answer_of_measure_is_read(number):
    known = known_spectrum("sft", number)
    for zoom in taught(known, "measure", small).trajectory.zooms:
        reading = read(zoom.observation)
        assert reading.level or "outside the data" in zoom.observation
        if reading.level == "Certain" and "EW" in zoom.observation:
            assert reading.sense
            assert {"equivalent_width"} <= set(reading.numbers)


@pytest.mark.parametrize("number", NUMBERS)
def test_turns_follow_from_the_overview_and_the_answers_alone(number):
    trace = taught(known_spectrum("sft", number), "measure", small).trajectory
    task = tasks()[trace.task]
    states = [overview_states(trace)]
    for place, turn in enumerate(trace.turns()):
        assert turn_text(task, "measure", states) == written_turn(turn)
        if place < len(trace.zooms):
            states.append(
                states_read(task, planned_calls(trace.task, "measure")[place], trace.zooms[place].observation)
            )


def test_varied_answers_differ_in_their_numbers_alone_and_are_read_as_every_state():
    task = tasks()["cv"]
    planned = next(planned for planned in planned_calls("cv", "measure") if planned.name == "Hα")
    features = [feature for feature in task.features if feature.name in planned.features]
    words = "in emission, EW −24.0 ± 1.5 Å (±900 km/s), at 3 ± 4 km/s; FWHM 1\u202f100 ± 60 km/s"
    answer, rng = LINE.format("Certain", words), np.random.default_rng(0)
    other = [varied(answer, features, rng) for _ in range(60)]
    assert {re.sub(r"[\d.\u202f]+", "", text) for text in other} == {re.sub(r"[\d.\u202f]+", "", answer)}
    seen = [states_read(task, planned, text) for text in other]
    assert {states["Hα emission"] for states in seen} == {"there", "weak"}
    assert {states["Hα breadth"] for states in seen} == {"there", "absent"}


def test_a_removed_line_is_not_stated_any_more():
    spectrum = simulate("cv", "SDSS", 60, 4)
    subject = subjects("cv")["Hα emission"]
    removed = edits.remove(spectrum, rest(spectrum), subject, np.random.default_rng(0))
    assert isinstance(removed, Edited)
    assert "Hα in emission." in written("picture", spectrum, "cv")
    assert "Hα in emission." not in written("picture", removed.spectrum, "cv")


def test_a_line_that_the_hints_deny_is_left_open():
    data = evidence(rest(simulate("cv", "SDSS", 60, 4)))
    emission = next(f for f in tasks()["cv"].features if f.name == "Hα emission")
    subject = subjects("cv")["Hα emission"]
    assert state_of(emission, subject, data) == "there"
    other: Subject = replace(subject, sense="absorption")
    assert state_of(emission, other, data) == "open"
    assert state_of(replace(emission, below=-900.0), subject, data) == "weak"
    assert state_of(replace(emission, span=(12000.0, 12010.0)), subject, data) == "unmeasured"


def test_phrases_are_single_and_cover_every_task():
    assert len(set(phrases())) == len(phrases())
    assert all(tasks()[key].prompt in phrases() for key in CLASSES)


def test_repeated_texts_are_whole_clauses_or_what_stands_between_numbers():
    answer = "Hα at 6562.8 Å (air). In emission, EW {}.5 ± 0.2 Å (absorption > 0). Errors are 1σ."
    answers = [answer.format(number) for number in range(9)]
    texts = repeated(answers, 5)
    assert "Hα at 6562.8 Å (air)." in texts
    assert " Errors are 1σ." in texts
    assert " In emission, EW " in texts
    assert not any("3.5" in text for text in texts)


def test_a_spectrum_is_the_same_each_time_keeps_a_part_and_is_in_one_part():
    first, again, other = known_spectrum("sft", 11), known_spectrum("sft", 11), known_spectrum("validation", 11)
    assert first.spectrum.sha256 == again.spectrum.sha256
    assert first.spectrum.name != other.spectrum.name
    for number in range(64):
        wavelength = known_spectrum("validation", number).spectrum.wavelength
        assert wavelength[-1] - wavelength[0] > SHORTEST - 10


def test_learned_spectra_are_simulated_real_and_edited_and_of_both_media():
    some = [known_spectrum("sft", number) for number in range(96)]
    real = [known for known in some if known.spectrum.name.startswith("template-")]
    assert 15 < len(real) < 60
    assert 20 < sum("edited" in known.spectrum.meta for known in some) < 70
    assert {known.spectrum.medium for known in some} == {"air", "vacuum"}
    others = [known_spectrum("test", number) for number in range(32)]
    assert not any(known.spectrum.name.startswith("template-") or "edited" in known.spectrum.meta for known in others)


def test_a_template_is_observed_where_it_has_data():
    known = next(k for k in (known_spectrum("sft", n) for n in range(200)) if k.kind == "M giant")
    template = next(t for t in templates() if t.about.id in known.spectrum.name)
    assert known.spectrum.wavelength[0] > template.coverage[0] - 5
    assert known.spectrum.wavelength[-1] < template.coverage[1] + 5
    assert known.label == ("YES" if known.task == "gm" else "NO")


def test_templates_that_figures_are_measured_on_are_not_learned_from():
    ids = {template.about.id for template in bundled().templates}
    assert ids > HELD_OUT
    assert not HELD_OUT & {template.about.id for template in templates()}


def test_rare_types_of_white_dwarfs_are_there_as_often_as_intended():
    known = [known_spectrum("grpo", 4 + len(CLASSES) * place) for place in range(300)]
    types = Counter(white.state for white in known if white.kind == "wd")
    assert set(types) == set(WHITE_DWARFS)
    number = types.total()
    for name, share in WHITE_DWARFS.items():
        assert abs(types[name] - share * number) < 4 * np.sqrt(share * (1 - share) * number)
    assert 0.1 < number / len(known) < 0.35


def test_a_question_makes_its_spectrum_again():
    again = question("validation", 2)
    known = known_spectrum("validation", 2)
    assert again.spectrum().sha256 == known.spectrum.sha256
    assert again.label == truth(known.kind, known.task)


def test_what_a_picture_is_learned_to_show_is_what_the_trace_states():
    known = known_spectrum("sft", 0)
    example = taught(known, "picture", small)
    rows = list(stated(example))
    number = len(example.pictures())
    assert {picture for picture, _, _ in rows} <= set(range(number))
    assert {(known.task, name) for _, name, _ in rows} <= set(features())
    text = " ".join(step.text for step in example.trajectory.steps if isinstance(step, Think))
    for _, name, state in rows:
        feature = next(f for f in tasks()[known.task].features if f.name == name)
        assert sentence(known.task, feature, STATES[state]) in text


def test_the_height_of_the_curve_is_read_from_its_ink():
    picture = np.full((1, 100, 40, 3), 255, np.uint8)
    picture[0, 20:30, :20, 0] = 0
    seen = heights(picture, 4)[0]
    assert seen[0] == pytest.approx([0.25, 0.205, 0.295], abs=0.001)
    assert np.isnan(seen[3]).all()


def judged(label: str, verdict: str | None) -> Judged:
    return Judged("cv", "cv", label, verdict, 0.0)


def test_no_answer_counts_as_no():
    some = [judged("YES", "YES"), judged("YES", None), judged("NO", "YES"), judged("NO", "NO")]
    plain = counts(some, "cv")
    assert (plain.hit, plain.false, plain.missed, plain.n) == (1, 1, 1, 4)
    assert plain.f1 == 0.5
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
