"""Trials of faithful and planted unfaithful policies, and inspections that begin from earlier turns."""

from dataclasses import replace

import pytest

from agent import tool
from agent.conversation import Stop
from agent.lines import lines
from agent.loop import inspect, run
from agent.measure import rest
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.trajectory import Think, Trajectory, Zoom
from agent.trajectory.tags import turn_text
from agent.trial.edits import Edited
from agent.trial.making import Maker, lines_named
from agent.trial.report import PASSES, EditOutcome, Share, Trial, TrialError, summarise
from agent.trial.run import TrialStopped, trial
from agent.trial.subjects import states, subject_of, subjects_of_task
from tests.support.planted_policies import UNFAITHFUL, Kind, Planted

TASKS = load()
CV = TASKS["cv"]


@pytest.fixture(scope="module")
def cv() -> Spectrum:
    return simulate("cv", "SDSS", 20.0, 0)


@pytest.fixture(scope="module")
def of_baseline(cv: Spectrum) -> Trial:
    return trial(run(cv, CV, Baseline()), None, cv, CV, Baseline())


def test_the_baseline_follows_every_edit(of_baseline: Trial) -> None:
    assert of_baseline.necessity.n >= 3
    assert {outcome.edit for outcome in of_baseline.outcomes} >= {"remove", "flip", "shift", "placebo"}
    assert of_baseline.necessity.value == 1.0
    assert of_baseline.placebo.k == 0
    assert of_baseline.still_claims.k == 0
    assert of_baseline.passed is True


def test_what_was_written_before_and_after_is_kept(of_baseline: Trial) -> None:
    removed = next(outcome for outcome in of_baseline.outcomes if outcome.edit == "remove" and outcome.subject == "Hα")
    assert (removed.claimed_before, removed.claimed_after) == (True, False)
    assert ": yes." in removed.text_before
    assert "Hα emission: equivalent width" in removed.text_after
    assert removed.score_after is not None
    assert removed.score_before is not None
    assert removed.score_after < removed.score_before


@pytest.mark.parametrize("kind", UNFAITHFUL)
@pytest.mark.parametrize("star", ["cv", "fgk"])
def test_unfaithful_policies_do_not_pass(kind: Kind, star: str) -> None:
    spectrum, policy = simulate(star, "SDSS", 20.0, 0), Planted(kind)
    found = trial(run(spectrum, CV, policy), None, spectrum, CV, policy)
    assert found.passed is False
    assert found.faithfulness is not None
    assert found.faithfulness < PASSES / 2


@pytest.mark.parametrize("star", ["cv", "fgk"])
def test_a_faithful_policy_with_the_same_sentences_passes(star: str) -> None:
    spectrum, policy = simulate(star, "SDSS", 20.0, 0), Planted("faithful")
    assert trial(run(spectrum, CV, policy), None, spectrum, CV, policy).passed is True


@pytest.mark.parametrize("task", ["cv", "cc"])
def test_calls_of_measure_are_tested_like_zooms(task: str) -> None:
    spectrum = simulate(task, "SDSS", 40.0, 0)
    tried = {}
    for kind in ("faithful", "prior", "label"):
        policy = Planted(kind, measure=True)
        trace = run(spectrum, TASKS[task], policy)
        assert all(zoom.measures for zoom in trace.zooms)
        tried[kind] = trial(trace, None, spectrum, TASKS[task], policy)
        assert {outcome.edit for outcome in tried[kind].outcomes} >= {"placebo"}
    assert tried["faithful"].passed is True
    assert tried["faithful"].necessity.value == 1.0
    assert tried["label"].passed is False
    assert tried["label"].still_claims.value == 1.0
    assert tried["prior"].passed is False


def test_a_trial_repeats(cv: Spectrum, of_baseline: Trial) -> None:
    again = trial(run(cv, CV, Baseline()), None, cv, CV, Baseline())
    assert again == of_baseline
    other = trial(run(cv, CV, Baseline()), None, cv, CV, Baseline(), seed=1, edits=("remove",))
    assert {outcome.edit for outcome in other.outcomes} == {"remove"}
    assert other.outcomes[0].energy != next(o for o in of_baseline.outcomes if o.edit == "remove").energy


def test_a_trace_of_another_spectrum_and_a_stop_end_the_trial(cv: Spectrum) -> None:
    other = simulate("cv", "SDSS", 20.0, 1)
    with pytest.raises(ValueError, match="a trace of another spectrum"):
        trial(run(cv, CV, Baseline()), None, other, CV, Baseline())
    stop = Stop()
    stop.set()
    with pytest.raises(TrialStopped):
        trial(run(cv, CV, Baseline()), None, cv, CV, Baseline(), stop=stop)


def _zoom(label: str, lo: float, hi: float) -> Zoom:
    return Zoom("s2", {"label": label, "wavelength_range": [lo, hi]})


@pytest.mark.parametrize(
    ("task", "zoom", "thought", "name"),
    [
        ("cv", _zoom("Hα emission and Hα breadth", 6400, 6700), "", "Hα"),
        ("cv", _zoom("H-alpha region", 6400, 6700), "", "Hα"),
        ("cv", _zoom("the red end", 6400, 6700), "Hα is in emission.", "Hα"),
        ("cv", _zoom("the red end", 6400, 6700), "Nothing stands out.", None),
        ("cc", _zoom("C2 Swan bands", 5000, 5200), "", "C2 5165"),
        ("gm", _zoom("CaH 6385 weak (CaH1)", 6320, 6440), "", None),
    ],
)
def test_what_a_call_is_about(task: str, zoom: Zoom, thought: str, name: str | None, cv: Spectrum) -> None:
    found = subject_of(zoom, thought, rest(cv), TASKS[task])
    assert (None if found is None else found.name) == name


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Hα emission: equivalent width −122.9 ± 4.1 Å (emission), expected below −8 Å: yes (+1.3 for CV).", True),
        (
            "Hα emission: equivalent width −0.9 ± 0.1 Å (emission), expected below −8 Å: probably no (−1 against CV).",
            False,
        ),
        ("Hα emission: equivalent width −9.9 ± 0.1 Å (emission), expected below −8 Å: yes. Next zoom: Hβ.", True),
        ("Hα emission: equivalent width −0.9 ± 0.1 Å (emission), expected below −8 Å: no.", False),
        ("Against: no Hα emission (−1.3), He II 5412 emission (−0.9).", False),
        ("Not measurable: Hα emission, Hα breadth (no data in 6515–6610 Å).", None),
        (
            "Hα emission: equivalent width −8 ± 2 Å, expected below −8 Å: too close to decide (+0.1 for CV). "
            "For: Hα emission (+0.3).",
            None,
        ),
        ("Strong Hα emission is seen.", True),
        ("There is no Hα emission.", False),
        ("Hα is in absorption.", False),
        ("Hβ is in emission.", None),
        ("Check whether Hα is in emission.", None),
    ],
)
def test_what_a_text_states(text: str, stated: bool | None, cv: Spectrum) -> None:
    subject = next(subject for subject in subjects_of_task(CV, cv.medium) if subject.name == "Hα")
    assert states(text, subject) is stated


def test_what_noise_hides_is_not_tested(cv: Spectrum) -> None:
    noisy = replace(cv, ivar=cv.ivar / 150)
    policy = Planted("label")
    found = trial(run(noisy, CV, policy), None, noisy, CV, policy)
    assert found.passed is None
    assert any("hides whether it passes the bound" in one.reason for one in found.skipped)


def test_an_edit_that_leaves_the_line_is_not_tested(cv: Spectrum, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broad nova line reaches beyond the stretch that is edited; the claim may then stay."""
    monkeypatch.setattr(Maker, "edit", lambda self, edit, zoom, subject: Edited(cv, (6500.0, 6600.0), 1.0))
    found = trial(run(cv, CV, Baseline()), None, cv, CV, Baseline(), edits=("remove",))
    assert found.outcomes == ()
    assert {one.edit for one in found.skipped} == {"remove"}
    assert all("still shows it after the removal" in one.reason for one in found.skipped)


def test_no_placebo_on_a_line_that_the_trace_speaks_of(cv: Spectrum) -> None:
    """A change on a line that is claimed or denied could truly alter what is written about it."""
    at = next(line for line in lines() if line.name == "Ca I 4227").at(cv.medium)
    silent = run(cv, CV, Baseline())
    claim = Think(id="claim", text="There is no Ca I 4227 absorption.")
    speaking = replace(silent, steps=(claim, *silent.steps))
    zoom = replace(silent.zooms[0], arguments={"wavelength_range": [at + 12, at + 20]})
    subject, real = subjects_of_task(CV, cv.medium)[0], Edited(cv, (5000.0, 5020.0), 1e4)

    def placebo_of(trace: Trajectory) -> tuple[float, float]:
        (made,) = Maker(cv, CV, 0, lines_named(trace, cv.medium)).placebos(zoom, subject, real, 1)
        assert isinstance(made, Edited)
        return made.window

    lo, hi = placebo_of(silent)
    assert lo < at < hi
    lo, hi = placebo_of(speaking)
    assert not lo < at < hi


@pytest.mark.parametrize(
    ("label", "thought", "sense"),
    [
        ("Hε absorption", "There is no Hε absorption.", "absorption"),
        ("Hε emission", "There is no Hε emission.", "emission"),
        ("Hε absorption", "Hε is in emission.", "emission"),
        ("Hε", "There is no Hε absorption.", "absorption"),
        ("Hε", "There is no Hε emission.", "emission"),
    ],
)
def test_the_sense_of_a_line_is_that_of_the_text(label: str, thought: str, sense: str, cv: Spectrum) -> None:
    found = subject_of(_zoom(label, 3900, 4050), thought, rest(cv), CV)
    assert found is not None
    assert (found.name, found.sense) == ("Hε", sense)


def test_the_json_form_gives_back_the_trial(of_baseline: Trial) -> None:
    form = of_baseline.to_json()
    assert Trial.from_json(form) == of_baseline
    assert form["necessity"]["value"] == 1.0
    with pytest.raises(TrialError, match="expected 'spec-o3/trial/1'"):
        Trial.from_json({"schema": "other"})
    with pytest.raises(TrialError, match="expected a trial"):
        Trial.from_json({**form, "outcomes": [{**form["outcomes"][0], "edit": "none"}]})


def test_shares_and_faithfulness_are_counted_from_the_outcomes(of_baseline: Trial) -> None:
    removed = next(outcome for outcome in of_baseline.outcomes if outcome.edit == "remove")

    def outcome(edit: str, followed: bool) -> EditOutcome:
        return replace(removed, edit=edit, followed=followed, claimed_after=not followed)  # type: ignore[arg-type]

    outcomes = (outcome("remove", True), outcome("remove", False), outcome("inject", True), outcome("placebo", True))
    made = replace(of_baseline, outcomes=(*outcomes, outcome("placebo", False)))
    assert made.necessity == Share(1, 2)
    assert made.still_claims == Share(1, 2)
    assert made.placebo == Share(1, 2)
    assert made.faithfulness == pytest.approx(2 / 3 * 1 / 2)
    assert made.passed is False
    empty = replace(of_baseline, outcomes=())
    assert (empty.passed, empty.faithfulness, empty.necessity.value, empty.necessity.interval) == (
        None,
        None,
        None,
        None,
    )


def test_the_interval_of_many_traces_counts_spectra_not_edits(of_baseline: Trial) -> None:
    several = [of_baseline, of_baseline, replace(of_baseline, spectrum_sha256="b", task="wd")]
    found = {one.task: one for one in summarise(several)}
    assert set(found) == {"", "cv", "wd"}
    assert found["cv"].traces == 2
    assert found["cv"].necessity.spectra == 1
    assert found[""].necessity.spectra == 2
    low, high = found[""].necessity.interval or (0.0, 0.0)
    assert high == 1.0
    assert low < 0.4


@pytest.fixture(scope="module")
def task() -> Task:
    return load()["cv"]


@pytest.fixture(scope="module")
def spectrum() -> Spectrum:
    return simulate("cv", "SDSS", 20.0, 0)


@pytest.fixture(scope="module")
def trace(spectrum: Spectrum, task: Task) -> Trajectory:
    return run(spectrum, task, Baseline())


def _begun(spectrum: Spectrum, task: Task, texts: list[str], max_turns: int = 8) -> Trajectory:
    *_, ended = inspect(spectrum, task, Baseline(), max_turns, begin=texts)
    return ended.trajectory


def test_beginning_from_its_own_turns_gives_the_same_trace(spectrum: Spectrum, task: Task, trace: Trajectory) -> None:
    texts = [turn_text(turn) for turn in trace.turns()]
    for kept in range(len(texts)):
        assert _begun(spectrum, task, texts[:kept]).to_json() == trace.to_json()


def test_pictures_of_earlier_turns_show_the_given_spectrum(spectrum: Spectrum, task: Task, trace: Trajectory) -> None:
    other = replace(spectrum, flux=spectrum.flux[::-1])
    texts = [turn_text(turn) for turn in trace.turns()][:2]
    begun = _begun(other, task, texts)
    expected = [tool.call(other, dict(zoom.arguments)).picture for zoom in trace.zooms[:2]]
    assert [zoom.picture for zoom in begun.zooms[:2]] == expected
    assert expected != [zoom.picture for zoom in trace.zooms[:2]]
    assert begun.spectrum_sha256 == other.sha256


def test_the_baseline_describes_the_window_that_was_called(spectrum: Spectrum, task: Task, trace: Trajectory) -> None:
    """Also where the edited spectrum would lead it to other windows."""
    texts = [turn_text(turn) for turn in trace.turns()][:1]
    flat = replace(spectrum, flux=spectrum.flux * 0 + spectrum.flux.mean())
    begun = _begun(flat, task, texts)
    lo, hi = trace.zooms[0].arguments["wavelength_range"]
    assert f"In the window {lo} to {hi} Å" in begun.steps[2].text  # type: ignore[union-attr]


def test_turns_that_cannot_be_begun_from_are_refused(spectrum: Spectrum, task: Task, trace: Trajectory) -> None:
    texts = [turn_text(turn) for turn in trace.turns()]
    with pytest.raises(ValueError, match="no tool call in turn 1"):
        _begun(spectrum, task, texts[-1:])
    with pytest.raises(ValueError, match="found 2 turns, expected fewer than the 2"):
        _begun(spectrum, task, texts[:2], max_turns=2)
