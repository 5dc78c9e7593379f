"""Sampling a blind session, and text that would reveal the system."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, count, pairwise, product
from random import Random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from agent.language import localized, speaking
from agent.policies.giveaways import label_mentions, mentions_label
from agent.tasks import load
from agent.trajectory.steps import Answer, Think, Zoom
from reviewer.blind.balance import TooFew, assign_evenly, balanced_sides, shared_counts
from reviewer.blind.leaks import _PATTERNS, find_leaks, leaks_in_steps
from reviewer.blind.order import block_of, repeat_distance, spectrum_distance
from reviewer.blind.plan import AnalysisPlan, Assignment, Candidate, Filter, Gold, Plan, PlanError, SampledSession
from reviewer.blind.sampling import sample
from reviewer.drafting.demo import demo_items

SCORERS = ("AA", "BB", "CC", "DD", "EE", "FF")
SOURCES = ("gpt-5", "o3", "Spec-o3-7B")


def numbered() -> object:
    return map("t{}".format, count()).__next__


def sampled(plan: Plan, candidates: list[Candidate]) -> SampledSession:
    return sample(plan, candidates, numbered())


def campaign(
    spectra: int = 12, sources: tuple[str, ...] = SOURCES[:2], tasks: tuple[str, ...] = ("cc", "cv")
) -> list[Candidate]:
    """One trajectory per source and spectrum; the spectra are divided among the tasks."""
    numbers = count(1)
    return [
        Candidate(item, 1000 + item, source, tasks[n % len(tasks)], f"sha-{n}")
        for n, source in product(range(spectra), sources)
        for item in [next(numbers)]
    ]


@st.composite
def campaigns(sample) -> list[Candidate]:
    """Candidates of any kind: missing sources, several of one spectrum, some with barred scorers."""
    return [
        Candidate(
            item=item,
            version=sample(st.integers(1, 3)) * 1000 + item,
            source=sample(st.sampled_from([*SOURCES, *SOURCES[:2]])),
            task=sample(st.sampled_from(["cv", "cc"])),
            spectrum=sample(st.sampled_from(["a", "b", "c", "d", "e", None])),
            barred=sample(st.sampled_from([frozenset(), frozenset({"AA"}), frozenset({"BB", "ZZ"})])),
            gives_away=sample(st.sampled_from([False, False, True])),
        )
        for item in range(1, sample(st.integers(12, 40)) + 1)
    ]


@st.composite
def plans(sample) -> Plan:
    scorers = SCORERS[: sample(st.integers(3, 6))]
    return Plan(
        name="any",
        scorers=scorers,
        mode=sample(st.sampled_from(["scores", "pairs", "both"])),
        sources=sample(st.sampled_from([SOURCES[:2], SOURCES, ()])),
        design=sample(st.sampled_from(["same spectra", "same spectra", "separate"])),
        number=sample(st.sampled_from([None, None, 1])),
        each=sample(st.sampled_from([1, 2, 2, len(scorers)])),
        repeats=sample(st.sampled_from([0, 0, 1])),
        seed=sample(st.integers(0, 10**6)),
        giveaways=sample(st.sampled_from(["flag", "leave out"])),
    )


def sampled_if_possible(plan: Plan, candidates: list[Candidate]) -> SampledSession:
    """The sampled session, if one is possible; no scorer is barred if a trace needs more than two."""
    candidates = [replace(c, barred=frozenset()) for c in candidates] if plan.each > 2 else candidates
    try:
        return sampled(plan, candidates)
    except TooFew:
        assume(False)
        raise


def firsts(session: SampledSession, kind: str) -> list[Assignment]:
    return [a for a in session.assignments if a.kind == kind and a.repeat_of is None and not a.gold]


# ---- what holds for every session


def check_scorers(session: SampledSession, plan: Plan, candidates: list[Candidate]) -> None:
    """No scorer gets an item that they worked on, and every item has its scorers."""
    scorers_of = defaultdict(list)
    for kind in plan.kinds:
        for assignment in firsts(session, kind):
            assert not any(assignment.scorer in c.barred for c in assignment.shown)
            assert plan.giveaways == "flag" or not any(c.gives_away for c in assignment.shown)
            scorers_of[kind, frozenset(c.item for c in assignment.shown)].append(assignment.scorer)
    assert scorers_of
    for scorers in scorers_of.values():
        assert len(scorers) == len(set(scorers)) == plan.each


def check_numbers(session: SampledSession, plan: Plan, candidates: list[Candidate]) -> None:
    """Every source of a task has the same number."""
    arms = plan.sources or sorted({c.source for c in candidates})
    for kind in plan.kinds:
        of = Counter(
            (tuple(sorted(c.source for c in assignment.shown)), assignment.shown[0].task)
            for assignment in firsts(session, kind)
        )
        groups = [tuple(sorted(arm)) for arm in combinations(arms, 1 if kind == "scores" else 2)]
        for task in {task for _, task in of}:
            numbers = {of[arm, task] for arm in groups}
            assert len(numbers) == 1
            assert plan.number is None or numbers == {plan.number * plan.each}


def check_places(session: SampledSession, plan: Plan, candidates: list[Candidate]) -> None:
    """Places run from one, and scores come before pairs."""
    for scorer in plan.scorers:
        mine = session.of(scorer)
        assert [assignment.place for assignment in mine] == list(range(1, len(mine) + 1))
        assert [assignment.kind for assignment in mine] == sorted(
            (assignment.kind for assignment in mine), reverse=True
        )
    tokens = [assignment.token for assignment in session.assignments]
    assert len(set(tokens)) == len(tokens)


def check_repeats(session: SampledSession, plan: Plan, candidates: list[Candidate]) -> None:
    """A repeat comes long after its first showing, with swapped sides."""
    by_token = {assignment.token: assignment for assignment in session.assignments}
    for scorer, kind in product(plan.scorers, plan.kinds):
        mine = [assignment for assignment in session.of(scorer) if assignment.kind == kind]
        repeats = [assignment for assignment in mine if assignment.repeat_of is not None]
        assert len(repeats) == plan.repeats == len({assignment.repeat_of for assignment in repeats})
        for assignment in repeats:
            first = by_token[assignment.repeat_of]
            assert (first.scorer, first.kind, first.repeat_of) == (scorer, kind, None)
            assert first.shown[::-1] == assignment.shown
            assert assignment.place - first.place >= repeat_distance(len(mine) - len(repeats))


def check_pairs(session: SampledSession, plan: Plan, candidates: list[Candidate]) -> None:
    """Pairs are of one spectrum and task and of two sources."""
    for left, right in (assignment.shown for assignment in session.assignments if assignment.kind == "pair"):
        assert (left.spectrum, left.task) == (right.spectrum, right.task)
        assert left.spectrum is not None
        assert left.source != right.source


def check_sides(session: SampledSession, plan: Plan, candidates: list[Candidate]) -> None:
    """For two sources, sides are balanced in total, per pair and per scorer."""
    for two in combinations(SOURCES, 2):
        in_front: dict[object, Counter[str]] = defaultdict(Counter)
        for assignment in firsts(session, "pair"):
            if {c.source for c in assignment.shown} == set(two):
                left = assignment.shown[0].source
                pair = frozenset(c.item for c in assignment.shown)
                for group in ("all", ("pair", pair), ("scorer", assignment.scorer)):
                    in_front[group][left] += 1
        for lefts in in_front.values():
            assert abs(lefts[two[0]] - lefts[two[1]]) <= 1


def check_blocks(session: SampledSession, plan: Plan, candidates: list[Candidate]) -> None:
    """A sampled spectrum has one trace of every source and goes to the same scorers."""
    if plan.design == "separate":
        return
    arms = set(plan.sources or {c.source for c in candidates})
    blocks: dict[object, list[Assignment]] = defaultdict(list)
    for assignment in (first for kind in plan.kinds for first in firsts(session, kind)):
        blocks[block_of(assignment.shown[0])].append(assignment)
    questions = (len(arms) if plan.mode != "pairs" else 0) + (
        len(arms) * (len(arms) - 1) // 2 if plan.mode != "scores" else 0
    )
    for some in blocks.values():
        items = {c.item: c.source for assignment in some for c in assignment.shown}
        assert sorted(items.values()) == sorted(arms)
        scorers = Counter(assignment.scorer for assignment in some)
        assert len(scorers) == plan.each
        assert set(scorers.values()) == {questions}


CHECKS = (check_scorers, check_numbers, check_places, check_repeats, check_pairs, check_sides, check_blocks)


@given(plans(), campaigns(), st.randoms())
@settings(max_examples=75)
def test_what_holds_for_every_session(plan, candidates, random) -> None:
    session = sampled_if_possible(plan, candidates)
    assert session == sampled_if_possible(plan, random.sample(candidates, len(candidates)))
    for check in CHECKS:
        check(session, plan, candidates)


@given(st.integers(1, 40), st.integers(1, 6), st.data(), st.integers())
def test_loads_differ_by_one_at_most_if_no_scorer_is_barred(items, scorers, data, seed) -> None:
    each = data.draw(st.integers(1, scorers))
    all_scorers = SCORERS[:scorers]
    loads: Counter[str] = Counter()
    assign_evenly([frozenset(all_scorers)] * items, each, all_scorers, Random(seed), loads, [0] * items)
    assert max(loads[s] for s in all_scorers) - min(loads[s] for s in all_scorers) <= 1


@given(st.lists(st.frozensets(st.sampled_from("abc"), min_size=1), min_size=1, max_size=6), st.integers(0, 99))
@example([frozenset("abc"), frozenset("a"), frozenset("a"), frozenset("ab"), frozenset("ab")], 0)
def test_with_exclusions_loads_are_as_even_as_possible(allowed, seed) -> None:
    loads: Counter[str] = Counter()
    assign_evenly(allowed, 1, "abc", Random(seed), loads, [0] * len(allowed))
    best = min(sum(n * n for n in Counter(sharing).values()) for sharing in product(*(sorted(a) for a in allowed)))
    assert sum(n * n for n in loads.values()) == best


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(SCORERS)), unique=True), st.integers(0, 99))
def test_sides_are_balanced_on_any_graph(showings, seed) -> None:
    swapped = balanced_sides(showings, Random(seed))
    lean: Counter[object] = Counter()
    for (pair, scorer), coin in zip(showings, swapped, strict=True):
        for group in ("all", pair, scorer):
            lean[group] += 1 if coin else -1
    assert all(abs(n) <= 1 for n in lean.values())


def test_both_sides_occur() -> None:
    sides = {balanced_sides([(1, "AA")], Random(seed))[0] for seed in range(20)}
    assert sides == {True, False}


# ---- gold items


@given(st.integers(0, 4), st.integers(4, 30), st.integers(0, 1000))
def test_gold_items_are_spread_evenly_over_the_list(gold, spectra, seed) -> None:
    candidates = campaign(spectra)
    golden = tuple(Gold(c.item, coherence=5) for c in candidates[:gold])
    session = sampled(Plan("gold", ("AA", "BB"), gold=golden, repeats=1, seed=seed), candidates)
    for scorer in ("AA", "BB"):
        mine = session.of(scorer)
        places = [assignment.place for assignment in mine if assignment.gold]
        assert len(places) == gold
        assert {assignment.shown[0].item for assignment in mine if assignment.gold} == {g.item for g in golden}
        assert not any(assignment.gold and assignment.repeat_of for assignment in mine)
        for n, place in enumerate(places):
            # In its part of the list, shifted by at most the gold items before it.
            assert n * len(mine) / gold - gold <= place <= (n + 1) * len(mine) / gold + gold


def test_gold_is_in_no_stratum_and_not_shown_to_those_who_worked_on_it() -> None:
    candidates = campaign(4)
    candidates[0] = replace(candidates[0], barred=frozenset({"AA"}))
    session = sampled(Plan("gold", ("AA", "BB"), gold=(Gold(1, 5, 5), Gold(2, 5, 5))), candidates)
    assert sorted(
        (assignment.scorer, assignment.shown[0].item) for assignment in session.assignments if assignment.gold
    ) == [("AA", 2), ("BB", 1), ("BB", 2)]
    assert {1, 2}.isdisjoint(c.item for assignment in firsts(session, "scores") for c in assignment.shown)
    assert "The gold item 1 is not shown to AA, who worked on it." in session.notes


def test_repeats_and_giveaways_do_not_change_what_is_scored() -> None:
    candidates = campaign(20)
    plain = Plan("plain", SCORERS, number=3)
    more = replace(plain, repeats=2, giveaways="leave out")
    assert {c.item for c in sampled(plain, candidates).candidates} == {
        c.item for c in sampled(more, candidates).candidates
    }


def test_the_published_session_can_be_sampled() -> None:
    """Six astronomers, fifty traces of each of two sources."""
    plan = Plan("paper", SCORERS, number=50, each=6, repeats=5, seed=7)
    session = sampled(plan, campaign(60, tasks=("cv",)))
    assert len(session.candidates) == 100
    assert Counter(assignment.scorer for assignment in session.assignments) == dict.fromkeys(SCORERS, 105)
    orders = {tuple(assignment.shown[0].item for assignment in session.of(scorer)) for scorer in SCORERS}
    assert len(orders) == len(SCORERS)


def test_another_seed_is_another_session_and_tokens_are_new_each_time() -> None:
    plan, candidates = Plan("seeds", SCORERS, number=2), campaign(30)
    assert sampled(plan, candidates) != sampled(replace(plan, seed=2), candidates)
    # Tokens do not follow from the seed.
    first, second = sample(plan, candidates), sample(plan, candidates)
    assert {assignment.token for assignment in first.assignments}.isdisjoint(
        assignment.token for assignment in second.assignments
    )


# ---- too few


def test_a_stratum_that_is_too_small_is_named_with_its_numbers() -> None:
    candidates = [c for c in campaign(12) if c.item != 1]
    candidates[0] = replace(candidates[0], gives_away=True)
    with pytest.raises(TooFew) as few:
        sampled(Plan("few", ("AA", "BB"), number=6, giveaways="leave out"), candidates)
    left_out = "1 trajectories reveal their authors and were left out."
    assert str(few.value) == (
        f"Found 5 of cc, expected 6 spectra of each: lower the number, or add trajectories. {left_out}"
    )
    with pytest.raises(TooFew) as few:
        sampled(Plan("few", ("AA", "BB"), design="separate", number=6, giveaways="leave out"), candidates)
    assert str(few.value) == (
        f"Found 5 of cc by gpt-5; 5 of cc by o3, expected 6 trajectories of each source and task. {left_out}"
    )


def test_notes_are_stored_in_english_and_shown_in_the_language_of_the_reader() -> None:
    candidates = [c for c in campaign(12) if c.item != 1]
    with speaking("zh"):
        drawn = sampled(Plan("notes", ("AA", "BB")), candidates)
        shown = localized(drawn.notes)
    (note,) = drawn.notes
    assert re.fullmatch(r"1 spectrum was left out because a source has no trajectory of it \((o3|gpt-5) in 1\)\.", note)
    assert re.fullmatch(r"有 1 条光谱未包括，因为某个来源没有其轨迹（1 条没有 (o3|gpt-5)）。", shown[0])


def test_too_few_scorers_for_an_item_are_reported_with_the_item() -> None:
    candidates = [replace(campaign()[0], barred=frozenset({"AA"}))]
    with pytest.raises(TooFew, match=r"items: item 1 may be seen by 1 of 2 scorers, expected 2"):
        sampled(Plan("few", ("AA", "BB"), items=(1,)), candidates)
    with pytest.raises(TooFew, match=r"no trajectories to sample.*fewer than 2 of the 2 scorers may score"):
        sampled(Plan("few", ("AA", "BB")), candidates)


def test_a_task_that_a_source_lacks_is_left_out_with_a_note() -> None:
    candidates = [c for c in campaign(12) if (c.task, c.source) != ("cc", "o3")]
    session = sampled(Plan("uneven", ("AA", "BB")), candidates)
    assert {c.task for c in session.candidates} == {"cv"}
    assert session.notes == (
        "6 spectra were left out because a source has no trajectory of them (o3 in 6).",
        "No spectra of cc were sampled: none has a trajectory of every source.",
    )
    separate = sampled(Plan("uneven", ("AA", "BB"), design="separate"), candidates)
    assert {c.task for c in separate.candidates} == {"cv"}
    assert separate.notes == ("No trajectories of the task cc were sampled: 6 of cc by gpt-5; 0 of cc by o3.",)


def test_sources_without_a_common_spectrum_need_the_separate_design() -> None:
    candidates = [replace(c, spectrum=None) if c.source == "o3" else c for c in campaign(12)]
    with pytest.raises(TooFew, match=r"No spectrum has a trajectory of every source .* design “separate”"):
        sampled(Plan("apart", ("AA", "BB")), candidates)
    session = sampled(Plan("apart", ("AA", "BB"), design="separate"), candidates)
    assert Counter(c.source for c in session.candidates) == {"gpt-5": 12, "o3": 12}


# ---- blocks


@pytest.mark.parametrize(("each", "of"), [(2, 5), (3, 6), (4, 6)])
def test_every_two_scorers_share_equal_numbers_of_spectra(each, of) -> None:
    scorers, spectra = SCORERS[:of], 50
    # For 4 of 6, all 15 numbers would have to be 20: then a scorer's 33 spectra would be shared with 100 / 3.
    apart = 2 if (each, of) == (4, 6) else 1
    for seed in range(8):
        loads: Counter[str] = Counter()
        strata = [n % 3 for n in range(spectra)]
        assigned = assign_evenly([frozenset(scorers)] * spectra, each, scorers, Random(seed), loads, strata)
        shared = shared_counts(assigned, scorers).values()
        assert max(shared) - min(shared) <= apart
        assert max(loads.values()) - min(loads.values()) <= 1
        assert sum(loads.values()) == spectra * each
        of_stratum = Counter((scorer, n) for some, n in zip(assigned, strata, strict=True) for scorer in some)
        for n in range(3):
            numbers = [of_stratum[scorer, n] for scorer in scorers]
            assert max(numbers) - min(numbers) <= 1


def test_a_session_has_the_balance_of_its_blocks() -> None:
    """Also in mode both: the pairs of a spectrum go to those who score it."""
    session = sampled(Plan("blocks", SCORERS, mode="both", seed=9), campaign(50))
    mine = {scorer: {block_of(one.shown[0]) for one in session.of(scorer)} for scorer in SCORERS}
    shared = [len(mine[combination] & mine[other]) for combination, other in combinations(SCORERS, 2)]
    assert set(shared) == {3, 4}
    assert sorted({len(blocks) for blocks in mine.values()}) == [16, 17]
    assert all(len(session.of(scorer)) == 3 * len(mine[scorer]) for scorer in SCORERS)


def test_shared_numbers_are_as_even_as_exclusions_allow() -> None:
    allowed = [frozenset("abcd") - {"a"} if n % 2 else frozenset("abcd") for n in range(40)]
    assigned = assign_evenly(allowed, 2, "abcd", Random(3), Counter(), [0] * 40)
    assert all(set(some) <= may for some, may in zip(assigned, allowed, strict=True))
    counts = shared_counts(assigned, "abcd")
    assert max(counts.values()) - min(counts.values()) <= 2


def test_traces_of_one_spectrum_are_kept_apart_and_each_source_comes_first_equally_often() -> None:
    for seed, spectra in product(range(5), (6, 30, 100)):
        plan = Plan("order", SCORERS[:2], each=2, seed=seed, repeats=3)
        for scorer in plan.scorers:
            mine = sampled(plan, campaign(spectra)).of(scorer)
            places: dict[object, list[Assignment]] = defaultdict(list)
            for one in mine:
                if one.repeat_of is None:
                    places[block_of(one.shown[0])].append(one)
            for place, other in places.values():
                assert other.place - place.place >= spectrum_distance(spectra)
            lead = Counter(min(some, key=lambda one: one.place).shown[0].source for some in places.values())
            assert abs(lead["gpt-5"] - lead["o3"]) <= 1


@pytest.mark.parametrize("mode", ["scores", "pairs"])
def test_three_sources_are_shown_in_three_passes(mode) -> None:
    plan = Plan("order", SCORERS[:3], mode=mode, repeats=4, seed=5)
    session = sampled(plan, campaign(40, SOURCES))
    for scorer in plan.scorers:
        mine = session.of(scorer)
        places: dict[object, list[Assignment]] = defaultdict(list)
        for one in mine:
            places[block_of(one.shown[0])].append(one)
        firsts_by_arm: Counter[object] = Counter()
        for some in places.values():
            some.sort(key=lambda one: one.place)
            assert len(some) >= 3
            # Repeats too are far from the other traces of their spectrum.
            assert all(later.place - one.place >= 10 for one, later in pairwise(some))
            firsts_by_arm[frozenset(c.source for c in some[0].shown)] += 1
        assert len(firsts_by_arm) == 3
        assert max(firsts_by_arm.values()) - min(firsts_by_arm.values()) <= 1


def test_a_number_holds_for_each_survey_and_label() -> None:
    marked = [
        replace(
            c, survey=("LAMOST", "SDSS")[int(c.spectrum[4:]) % 3 == 0], label=("YES", "NO")[int(c.spectrum[4:]) % 2]
        )
        for c in campaign(60, tasks=("cv",))
    ]
    session = sampled(Plan("strata", ("AA", "BB"), strata=("survey", "label"), number=5), marked)
    of = Counter((c.survey, c.label, c.source) for c in session.candidates)
    assert set(of.values()) == {5}
    assert len(of) == 8
    with pytest.raises(TooFew, match=r"Found 20 of cv, SDSS, expected 30 spectra of each"):
        sampled(Plan("strata", ("AA", "BB"), strata=("survey",), number=30), marked)
    lacking = [c for c in marked if (c.survey, c.source) != ("SDSS", "o3")]
    with pytest.raises(TooFew, match=r"Found 0 of cv, SDSS, expected 5 .* left out because .* \(o3 in 20\)"):
        sampled(Plan("strata", ("AA", "BB"), strata=("survey",), number=5), lacking)
    separate = Plan("strata", ("AA", "BB"), design="separate", strata=("survey",))
    assert {c.survey for c in sampled(separate, lacking).candidates} == {"LAMOST"}


@pytest.mark.parametrize("design", ["same spectra", "separate"])
def test_what_has_no_label_is_in_no_stratum_of_labels(design) -> None:
    marked = [replace(c, label="YES" if c.item <= 12 and c.item % 2 else None) for c in campaign(12, tasks=("cv",))]
    session = sampled(Plan("labels", ("AA", "BB"), design=design, strata=("label",), number=6), marked)
    # One of the two traces has it, so it is known of the spectrum.
    assert {c.item for c in session.candidates} == set(range(1, 13))
    number, what = (6, "spectra") if design == "same spectra" else (12, "trajectories")
    assert session.notes == (f"{number} {what} were left out because their label is not known.",)
    assert len(sampled(Plan("labels", ("AA", "BB"), design=design, strata=("label",)), marked).candidates) == 24


def test_training_items_come_first_in_the_plans_order_and_are_in_no_stratum() -> None:
    candidates = campaign(12)
    candidates[4] = replace(candidates[4], barred=frozenset({"BB"}))
    session = sampled(Plan("training", ("AA", "BB"), training=(5, 2), seed=4), candidates)
    assert [one.shown[0].item for one in session.of("AA")[:2]] == [5, 2]
    assert [one.training for one in session.of("AA")[:3]] == [True, True, False]
    assert [one.shown[0].item for one in session.of("BB") if one.training] == [2]
    assert "The training item 5 is not shown to BB, who worked on it." in session.notes
    counted = {c.item for assignment in session.assignments if not assignment.training for c in assignment.shown}
    assert counted.isdisjoint({5, 2, 1, 6})  # their spectra lack a trace now
    with pytest.raises(PlanError, match="training"):
        Plan("training", ("AA",), each=1, training=(1,), items=(1, 2)).check()


def test_earlier_showings_are_declared_or_bar_the_scorer() -> None:
    candidates = [replace(c, exposed=frozenset({"AA"})) if c.item in (1, 2, 3) else c for c in campaign(12)]
    declared = sampled(Plan("again", ("AA", "BB", "CC")), candidates)
    mine = {c.item for one in declared.of("AA") for c in one.shown}
    assert len(mine & {1, 2, 3}) > 0
    assert declared.notes == (f"{len(mine & {1, 2, 3})} of {len(mine)} traces were shown to AA in an earlier session.",)
    barred = sampled(Plan("again", ("AA", "BB", "CC"), earlier="bar"), candidates)
    assert {c.item for one in barred.of("AA") for c in one.shown}.isdisjoint({1, 2, 3, 4})
    assert barred.notes == ()
    # A gold item that was seen before measures nothing; for training it does no harm.
    plan = Plan("again", ("AA", "BB", "CC"), earlier="bar", gold=(Gold(1, 5),), training=(2,))
    again = sampled(plan, candidates)
    assert again.notes[-1] == ("The gold item 1 is not shown to AA, who worked on it or saw it in an earlier session.")
    assert again.of("AA")[0].training


def test_pairs_of_one_source_are_refused() -> None:
    with pytest.raises(TooFew, match="two sources or more; found gpt-5"):
        sampled(Plan("alone", ("AA", "BB"), mode="pairs"), campaign(sources=("gpt-5",)))


def test_a_primary_comparison_of_a_source_that_is_not_there_is_refused() -> None:
    analysis = AnalysisPlan(first="gpt-5", second="gpt-6")
    with pytest.raises(TooFew, match=r"analysis: found no trajectory of gpt-6, expected two of the sources gpt-5, o3"):
        sampled(Plan("misspelt", ("AA", "BB"), analysis=analysis), campaign(sources=("gpt-5", "o3")))


def test_an_item_that_does_not_exist_is_named() -> None:
    with pytest.raises(TooFew, match="items: found no item 99"):
        sampled(Plan("missing", ("AA", "BB"), items=(1, 99)), campaign())
    with pytest.raises(TooFew, match="gold items: found no item 77"):
        sampled(Plan("missing", ("AA", "BB"), gold=(Gold(77, 5),)), campaign())


def test_more_repeats_than_fit_are_refused() -> None:
    plan = Plan("repeats", ("AA", "BB"), items=(1, 2, 3, 4), repeats=4)
    with pytest.raises(TooFew) as few:
        sampled(plan, campaign())
    assert str(few.value) == (
        "repeats: found 4 for AA, who has 4 showings; at 2 places from the first showing at most 3 fit"
    )


# ---- plans


@given(plans(), st.lists(st.integers(1, 9), unique=True, max_size=3))
@settings(max_examples=30)
def test_a_plan_is_read_from_its_json(plan, gold) -> None:
    plan = replace(plan, filter=Filter(states=("approved",), snr_min=5.0))
    if plan.mode != "pairs":
        plan = replace(plan, gold=tuple(Gold(item, 0, None, 2) for item in gold))
    assert Plan.from_json(plan.to_json()) == plan


GOOD = {"name": "november", "scorers": ["AA", "bb"]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": " "}, "name: found ' ', expected a text that is not empty"),
        ({"scorers": []}, "scorers: found none, expected the initials of at least one"),
        ({"scorers": ["AA", "aa"]}, "scorers: found AA twice, expected each once"),
        ({"scorer": ["AA"]}, "scorer: found an unknown field, expected one of name, scorers"),
        ({"mode": "votes"}, "mode: found 'votes', expected one of scores, pairs, both"),
        ({"each": 3}, "each: found 3 scorers per item, with 2 scorers, expected 1 to 2"),
        ({"number": 0}, "number: found 0, expected a whole number, 1 or more"),
        ({"seed": 1.5}, "seed: found 1.5, expected a whole number, 0 or more"),
        ({"items": [1], "number": 2}, "items: found items and a number or a filter"),
        ({"items": [0]}, "items: found [0], expected a list of item numbers"),
        ({"filter": {"snr": 3}}, "filter.snr: found an unknown field, expected one of states"),
        ({"filter": {"simulated": 1}}, "filter.simulated: found 1, expected true or false"),
        ({"filter": {"states": ["done"]}}, "filter.states: found ['done'], expected some of screening, revision"),
        ({"filter": []}, "filter: found [], expected a table of keys and values"),
        ({"gold": [{"item": 1}]}, "gold[0]: found neither coherence nor consistency"),
        ({"gold": [{"item": 1, "coherence": 5}] * 2}, "gold: found an item twice"),
        ({"gold": [{"item": 1, "coherence": 5}], "items": [1, 2]}, "items: found 1 among the gold items"),
        (
            {"gold": [{"item": 1, "coherence": 5}], "mode": "pairs"},
            "gold: found gold items in a session of pairs alone",
        ),
        ({"mode": "pairs", "sources": ["o3"]}, "sources: found one source, expected two or more"),
    ],
)
def test_an_invalid_plan_is_refused_with_its_field(changed, message) -> None:
    assert Plan.from_json(GOOD).scorers == ("AA", "BB")
    with pytest.raises(PlanError) as refused:
        Plan.from_json(GOOD | changed)
    assert str(refused.value).startswith(message)


def marked(texts: str, kind: str) -> list[tuple[str, str, str]]:
    """Kind, giveaway and text of each text; the giveaway stands in « »."""
    return [(kind, re.search("«(.*)»", text)[1], text.replace("«", "").replace("»", "")) for text in texts.split(" | ")]


TELLING = [
    *marked("As «GPT-4o» I see a blue continuum. | Reply by «gpt-5-mini». | «ChatGPT» thinks so.", "model"),
    *marked(
        "«o3» would look at Hα first. | This was «o4-mini». | «Spec-o3-7B» zooms first. | I, «spec o3», zoom.", "model"
    ),
    *marked("written by «Claude Opus» | I am «Qwen2.5-VL-7B». | «Llama-3.1» here | by «LLaMA»", "model"),
    *marked("«Gemini 2.5» looked | «DeepSeek-R1»: | «AstroSage-70B» agrees", "model"),
    *marked("I was made by «OpenAI». | «Anthropic»'s", "company"),
    *marked("«As an AI language model», I cannot see. | Speaking «as an AI», I doubt it.", "machine"),
    *marked("but «as a large language model» I may err | «I'm a vision language model».", "machine"),
    *marked("«I was trained» on spectra.", "machine"),
    *marked("«By the scorecard» this is a clear decision (+4.9). | A draft of the «rule-based baseline».", "baseline"),
    *marked("Start −3.1, «total +4.9; YES needs more than» 0: YES.", "baseline"),
    *marked("From the start of −3.1 «the points add up to» +4.9.", "baseline"),
    *marked("«The label» says CV. | which agrees with the «ground truth» | the «known answer»", "label"),
    *marked("Here «the user wants» a verdict. | «The prompt asks» for Hα. | «<tool_call>» was refused", "prompt"),
    *marked(r"so «\boxed{»YES} | call «spectral_visualization_tool»", "prompt"),
    *marked("In «spec-55859-F5902_sp01-004.fits» Hα is broad. | «spec-3586-55181-0123» shows", "file"),
    *marked("«simulated-cv-0001.fits»", "file"),
    *marked("This is «J123456.78+123456.7». | like «SDSS J1234+5678» | the star «J123456.78−123456.7»", "designation"),
    *marked("(«obsid 14812345») | «plate-mjd-fiber 3586-55181-0123» | the fibre «3586-55181-0123»", "designation"),
    *marked("«TARGETID 39627835576420141» | «TARGETID=39627835576420141»", "designation"),
]


def test_thousands_of_giveaways_are_all_found() -> None:
    leaks = find_leaks("x.fits gpt-4 " * 3000)
    assert [leak.words for leak in leaks[:2]] == ["x.fits", "gpt-4"]
    assert len(leaks) == 6000


def test_a_giveaway_is_found_at_its_place() -> None:
    for kind, words, text in TELLING:
        places = {(leak.kind, text[leak.start : leak.end]) for leak in find_leaks(text) if leak.words == words}
        assert places == {(kind, words)}, text
        # The quick search for the words of a pattern never prevents a match of the pattern.
        for pattern in _PATTERNS:
            for match in pattern.pattern.finditer(text):
                assert any(word in match[0].lower() for word in pattern.words), match[0]


PROSE = [
    "[O III] 5007 is strong, O I 6300 and O3 ozone are not.",
    "An O3 V star would show N V; an O4 star would not.",
    "[O3] against Hβ, log([O3]/Hβ) and O3/O2 ratios.",
    "The model atmosphere fits; as a model of the disc this is too simple.",
    "Observed with GMOS on Gemini North. Gemini observations would help.",
    "As a whole, the object's spectrum is blue. As an emission-line star it is odd.",
    "I am a little unsure whether this is a C2 band.",
    "LAMOST's blue arm ends near 5900 Å; DESI has three arms; SDSS has two.",
    "Windows 6500-6600, 4800-4920 and 5577-6300-6364 Å, z = 0.0123.",
    "The prompt emission, the turn-off and photographic plates.",
    "A label for Hβ is not needed; the file of lines.",
    "Compared with a T Tauri star (Teff 3586 K), J and H bands are missing.",
    "JD 2451545, MJD 55181.",
    "Our knowledge of the redshift; my reading of the continuum.",
    "Spectral type M4; spec-type dMe.",
    "The signal is 5000-55000 counts.",
]


def test_ordinary_prose_gives_nothing_away() -> None:
    assert [text for text in PROSE if find_leaks(text)] == []


def test_the_guides_of_all_tasks_give_nothing_away() -> None:
    assert {key: find_leaks(task.prompt) for key, task in load().items()} == dict.fromkeys(load(), ())


def test_in_the_demo_only_the_phrases_of_the_baseline_are_found() -> None:
    for _, trajectory in demo_items():
        found = {(leak.kind, leak.words) for _, leak in leaks_in_steps(trajectory.steps)}
        sums = {find for find in found if re.fullmatch(r"total \S+(, .*)?; YES needs more than", find[1])}
        assert len(sums) == 1
        assert {kind for kind, _ in sums} == {"baseline"}
        assert found - sums <= {("baseline", "By the scorecard")}


def test_steps_are_numbered_and_a_zooms_label_and_observation_are_read() -> None:
    steps = (
        Think("a", "Nothing here."),
        Zoom("b", {"wavelength_range": [1, 2], "label": "as o3 would"}, observation="gpt-5 drew this"),
        Answer("c", "YES", "As an AI I say so."),
    )
    found = [(number, leak.words) for number, leak in leaks_in_steps(steps)]
    assert found == [(2, "o3"), (2, "gpt-5"), (3, "As an AI")]


def test_of_overlapping_finds_the_longer_is_kept() -> None:
    (found,) = find_leaks("see spec-3586-55181-0123.fits")
    assert (found.kind, found.words) == ("file", "spec-3586-55181-0123.fits")


@given(st.lists(st.sampled_from([*[text for _, _, text in TELLING], "Hα is broad.", " ", "\n"]), max_size=6))
def test_finds_are_in_order_and_never_overlap(texts) -> None:
    text = " ".join(texts)
    found = find_leaks(text)
    assert all(text[leak.start : leak.end] == leak.words for leak in found)
    assert all(leak.end <= following.start for leak, following in pairwise(found))


LABEL_PHRASES = (
    """
the label; labelled as a; ground-truth; I've been told; as instructed; it is known to be; expected class
answer was known; asked to answer; already know; system turn; catalogue says; supposed to be
desired outcome
this star was already confirmed as
""".strip()
    .replace("\n", "; ")
    .split("; ")
)


@given(st.text(max_size=200), st.sampled_from(LABEL_PHRASES))
def test_every_mention_of_a_label_is_found(around, phrase) -> None:
    text = f"{around} {phrase} {around}"
    assert (mentions_label(text) is None) == (label_mentions(text) == ())
    assert label_mentions(f"x {phrase} x")
