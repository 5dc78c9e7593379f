"""Data of the nano model: its spectra, what is stated about them, and the traces of the script."""

from __future__ import annotations

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
from agent.policies.baseline.scorecard import assess
from agent.simulate import CLASSES, simulate, truth
from agent.templates import bundled
from agent.tool import overview
from agent.trajectory.steps import Think
from agent.trial import edits
from agent.trial.edits import Edited
from agent.trial.run import trial
from training.nano.scoring import Judged, counts
from training.nano.sight import features, heights, stated
from training.nano.spectra import HELD_OUT, SHORTEST, WHITE_DWARFS, known_spectrum, question, tasks, templates
from training.nano.teacher import (
    ARMS,
    MOST_CALLS,
    STATES,
    Script,
    Subject,
    log_odds,
    phrases,
    planned_calls,
    repeated,
    sentence,
    so_far,
    state_of,
    subjects,
    taught,
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
            if subject is None or state not in ("there", "too much", "absent"):
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
    assessed = assess(known.spectrum, tasks()[known.task], None)
    stated = {name for planned in planned_calls(known.task, arm) for name in planned.features}
    stated |= {f.name for f in tasks()[known.task].features if f.kind == "slope"}
    odds = log_odds(assessed, stated)
    assert (trace.answer.verdict == "YES") == (odds > 0)
    assert so_far(odds) in [step for step in trace.steps if isinstance(step, Think)][-1].text
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


@pytest.mark.parametrize("task", CLASSES)
def test_with_every_feature_the_log_odds_are_those_of_the_rule(task):
    for number in range(4):
        assessed = assess(simulate(task, "SDSS", 20, number), tasks()[task], None)
        assert log_odds(assessed, {f.name for f in tasks()[task].features}) == pytest.approx(assessed.score)


@pytest.mark.parametrize(
    ("odds", "shown"), [(-9.0, "−6.0"), (-0.1, "0"), (0.0, "0"), (0.1, "+0.5"), (2.2, "+2.0"), (9.0, "+6.0")]
)
def test_log_odds_are_stated_in_halves_and_above_nothing_only_if_they_are(odds, shown):
    assert so_far(odds) == f"Log odds so far: {shown}."


def test_a_removed_line_is_not_stated_any_more():
    spectrum = simulate("cv", "SDSS", 60, 4)
    subject = subjects("cv")["Hα emission"]
    removed = edits.remove(spectrum, rest(spectrum), subject, np.random.default_rng(0))
    assert isinstance(removed, Edited)
    assert "Hα in emission." in written("picture", spectrum, "cv")
    assert "Hα in emission." not in written("picture", removed.spectrum, "cv")


def test_a_line_that_the_hints_deny_is_left_open():
    spectrum = simulate("cv", "SDSS", 60, 4)
    task = tasks()["cv"]
    finding = next(f for f in assess(spectrum, task, None).findings if f.feature.name == "Hα emission")
    data = evidence(rest(spectrum))
    subject = subjects("cv")["Hα emission"]
    assert state_of(finding, subject, data) == "there"
    other: Subject = replace(subject, sense="absorption")
    assert state_of(replace(finding, presence=0.9), other, data) == "open"
    assert state_of(replace(finding, presence=0.5), subject, data) == "open"
    assert state_of(replace(finding, presence=0.0), subject, data) == "weak"
    assert state_of(replace(finding, presence=None), subject, data) == "unmeasured"


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
