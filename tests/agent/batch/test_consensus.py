"""Samples to one outcome: the vote, its spread, where the traces part, and when a person is asked."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import tasks
from agent.batch.consensus import DEFINITION, Consensus, Limits, consensus, to_json, typical_snr
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.statistics import wilson
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Think, Zoom
from tests.support.strategies import trajectories as any_trajectory

CV = tasks.load()["cv"]
STAR = simulate("cv", "LAMOST", 30, 3)


def trace(*acts: object, spectrum: Spectrum = STAR) -> Trajectory:
    """A trace that looks at each window given and ends with each verdict given."""
    steps: list = []
    for act in acts:
        if isinstance(act, tuple):
            frame, z = ("rest", spectrum.redshift) if spectrum.redshift else ("observed", 0.0)
            arguments = {"wavelength_range": list(act), "label": f"around {sum(act) / 2:.0f}"}
            steps.append(Zoom(f"s{len(steps)}", arguments, frame, z, spectrum.medium))
        else:
            steps.append(Answer(f"s{len(steps)}", act))
    return Trajectory("cv", "?", spectrum.name, spectrum.sha256, tuple(steps), Drafter("model", "x"))


def vote(verdicts: str, spectrum: Spectrum = STAR, **limits: float) -> Consensus:
    """Y and N are answers, - a trace without one."""
    meant = {"Y": trace((6500, 6600), "YES"), "N": trace((6500, 6600), "NO"), "-": trace((6500, 6600))}
    return consensus([meant[v] for v in verdicts], spectrum, CV, Limits(**limits))


def without_data(lo: float, hi: float) -> Spectrum:
    inside = (STAR.wavelength > lo) & (STAR.wavelength < hi)
    return replace(STAR, ivar=np.where(inside, 0.0, STAR.ivar))


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        ("Y", "YES"),
        ("N", "NO"),
        ("YY", "YES"),
        ("YYN", "YES"),
        ("NNNNY", "NO"),
        ("YYYYNN", "YES"),
        ("YN", None),
        ("Y-", None),
        ("YYYNN", None),
        ("YYY--", None),
        ("-", None),
        ("", None),
    ],
)
def test_two_thirds_of_all_samples_decide_and_less_asks_a_person(verdicts, wanted):
    found = vote(verdicts)
    assert found.verdict == wanted
    assert found.ask == (wanted is None) == bool(found.reasons)
    assert (found.yes, found.no, found.none) == tuple(verdicts.count(v) for v in "YN-")


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        ("--", "No answer from 2 samples."),
        ("-", "No answer from 1 sample."),
        ("", "There are no samples."),
        ("YNYN-", "The samples are split: 2 YES, 2 NO, 1 without an answer."),
        (
            "YYYN-",
            "Too thin a majority: 60 % of 5 samples say YES (3 YES, 1 NO, 1 without an answer); wanted 67 %.",
        ),
    ],
)
def test_a_thin_majority_is_told_with_its_numbers(verdicts, sentence):
    assert vote(verdicts).reasons == (sentence,)


def test_the_majority_wanted_is_a_setting():
    assert vote("YYYYN", majority=0.9).ask
    assert vote("YYN-", majority=0.5).verdict == "YES"
    assert vote("YN", majority=0.5).ask


@pytest.mark.parametrize("wrong", [{"majority": 0.0}, {"majority": 1.1}, {"snr": math.nan}, {"coverage": 2}])
def test_limits_that_mean_nothing_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: found .* wanted"):
        Limits(**wrong)


def test_noise_asks_a_person_whatever_the_samples_say():
    noisy = simulate("cv", "LAMOST", 1.5, 3)
    found = vote("YYYYY", noisy)
    assert (found.verdict, found.leaning) == (None, "YES")
    assert found.reasons == (f"S/N {typical_snr(noisy):.1f} per pixel (median of the spectrum); wanted 3 or more.",)
    assert vote("YYYYY", noisy, snr=0.5).verdict == "YES"


def test_a_blank_sky_has_no_signal_rather_than_a_negative_zero():
    (reason, *_) = vote("Y", replace(STAR, flux=np.full(len(STAR), -1e-9))).reasons
    assert reason.startswith("S/N 0.0 per pixel")


def test_noise_is_measured_and_the_catalogue_is_not_believed():
    assert vote("Y", replace(STAR, snr={"r": 0.1})).verdict == "YES"
    assert vote("Y", replace(STAR, ivar=STAR.ivar / 1e4, snr={"r": 100.0})).ask


def test_noise_that_is_not_defined_is_said_to_be():
    found = vote("Y", replace(STAR, ivar=np.zeros(len(STAR))))
    assert found.snr is None
    assert "S/N undefined: no data in 3700–9099 Å." in found.reasons


def test_a_primary_feature_without_valid_pixels_asks_a_person_and_is_named():
    found = vote("YYYYY", without_data(6500, 6630))
    assert found.reasons == (
        "Hα emission and Hα breadth: 0 % of 6517–6612 Å (rest frame, vacuum) has data; wanted 50 %.",
    )
    assert vote("YYYYY", without_data(5850, 5900)).verdict == "YES"  # He I is secondary
    assert vote("YYYYY", without_data(6500, 6540)).verdict == "YES"


def test_a_primary_feature_beyond_the_end_of_the_data_asks_a_person():
    red = STAR.wavelength > 5500
    cut = Spectrum(STAR.wavelength[red], STAR.flux[red], STAR.ivar[red])
    (reason,) = vote("YYYYY", cut).reasons
    assert reason.startswith("Hβ emission: 0 % of 4821–4904 Å")


def test_coverage_is_judged_where_the_redshift_puts_the_feature():
    far = replace(STAR, redshift=0.8)
    names = [reason.partition(":")[0] for reason in vote("NNN", far).reasons]
    assert names == ["Hα emission and Hα breadth"]


def test_answers_that_follow_a_look_at_nothing_do_not_count():
    blind, seeing = trace((6500, 6600), (9500, 9600), "YES"), trace((9500, 9600), (6500, 6600), "YES")
    assert consensus([seeing], STAR, CV).verdict == "YES"
    assert consensus([blind], STAR, CV).reasons == (
        "1 of 1 YES answers followed on a look where the spectrum has no data (9500–9600 Å observed).",
    )
    assert consensus([seeing, seeing, blind], STAR, CV).verdict == "YES"
    assert consensus([seeing, blind, blind], STAR, CV).ask


def test_a_look_at_dead_pixels_is_a_look_at_nothing_in_the_rest_frame_too():
    dead = replace(without_data(7000, 7300), redshift=0.05)
    assert consensus([trace((6700, 6900), "NO", spectrum=dead)], dead, CV).ask
    assert consensus([trace((7000, 7300), "NO", spectrum=dead)], dead, CV).verdict == "NO"


def test_the_interval_is_wilsons():
    # Values of the closed form solved by hand: |p - x| = sqrt(x (1 - x) / n) at both ends.
    assert vote("--").interval is None
    for yes, n in ((0, 1), (1, 1), (3, 4), (5, 8), (40, 64)):
        for end in wilson(yes / n, n, z=1.0):
            assert abs(yes / n - end) == pytest.approx(math.sqrt(end * (1 - end) / n), abs=1e-12)
    assert wilson(1.0, 5, z=1.0) == (pytest.approx(5 / 6), 1.0)


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_interval_holds_the_fraction_and_stays_within_0_and_1(yes, no):
    if yes + no:
        interval = wilson(yes / (yes + no), yes + no, z=1.0)
        assert 0 <= interval[0] <= yes / (yes + no) <= interval[1] <= 1
        assert interval[0] < interval[1]


def test_the_fraction_is_of_those_that_answered():
    found = vote("YYYN-")
    assert found.yes_fraction == 0.75
    assert found.interval == wilson(3 / 4, 4, z=1.0)
    assert vote("--").yes_fraction is None


def test_samples_that_do_the_same_are_one_path():
    found = consensus([trace((6500, 6600), (4800, 4900), "YES")] * 3, STAR, CV)
    assert found.parts_at is None
    (first,) = found.paths
    (second,) = first.next
    (answer,) = second.next
    assert [n.samples for n in (first, second, answer)] == [(0, 1, 2)] * 3
    assert (answer.what, answer.verdict, answer.turn, answer.next) == ("answer", "YES", 3, ())


def test_traces_part_where_their_windows_share_no_more_than_half():
    alike, other = trace((6510, 6610), "YES"), trace((6575, 6675), "YES")
    found = consensus([trace((6500, 6600), "YES"), alike, other], STAR, CV)
    assert found.parts_at == 1
    assert [(n.samples, n.window) for n in found.paths] == [((0, 1), (6500, 6610)), ((2,), (6575, 6675))]


def test_traces_part_at_the_turn_where_one_answers_and_another_looks_or_stops():
    first = (6500, 6600)
    found = consensus([trace(first, "YES"), trace(first, (4800, 4900), "YES"), trace(first)], STAR, CV)
    assert found.parts_at == 2
    assert [n.what for n in found.paths[0].next] == ["answer", "look", "nothing"]


def test_different_answers_part_too():
    assert vote("YYN").parts_at == 2


def test_windows_of_the_rest_frame_are_shown_as_observed():
    moved = replace(STAR, redshift=0.1)
    (node,) = consensus([trace((6500, 6600), "YES", spectrum=moved)], moved, CV).paths
    assert node.window == pytest.approx((7150, 7260))


@given(st.lists(any_trajectory(), max_size=4))
def test_whatever_the_traces_are_each_has_one_way_to_its_end_and_json_can_hold_it(traces):
    form = json.loads(json.dumps(to_json(consensus(traces, STAR, CV)), allow_nan=False))
    for sample, one in enumerate(traces):
        way = [n for n in nodes(form["paths"]) if sample in n["samples"]]
        assert [n["turn"] for n in way] == list(range(1, len(way) + 1))
        assert [n["what"] for n in way] == ["look"] * len(one.zooms) + ["answer"]
        assert way[-1]["verdict"] == one.answer.verdict
        assert way[-1]["next"] == [] or len(way[-1]["samples"]) > 1


def nodes(tree: list) -> Iterator[dict]:
    for node in tree:
        yield node
        yield from nodes(node["next"])


def test_the_json_form_says_what_its_numbers_are():
    form = to_json(vote("YYYN-"))
    assert {k: form[k] for k in ("samples", "yes", "no", "none", "verdict", "ask", "leaning")} == {
        "samples": 5,
        "yes": 3,
        "no": 1,
        "none": 1,
        "verdict": None,
        "ask": True,
        "leaning": "YES",
    }
    assert form["definition"] == DEFINITION
    assert set(form["paths"][0]) == {"turn", "samples", "what", "window", "label", "verdict", "next"}


def test_a_real_inspection_has_an_outcome():
    star = simulate("cv", "SDSS", 20, 11)
    found = consensus([run(star, CV, Baseline())], star, CV)
    assert (found.verdict, found.parts_at) == ("YES", None)
    assert found.paths[0].what == "look"


def test_a_thought_without_an_act_is_no_answer():
    thinking = replace(trace(), steps=(Think("s1", "Hm."),))
    assert consensus([thinking], STAR, CV).paths[0].what == "nothing"
