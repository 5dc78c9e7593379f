"""Measured facts of traces: each fault is found, and a sound trace has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from reviewer.similar import facts
from reviewer.similar.of_claims import compared
from reviewer.similar.of_texts import facts_of_texts

HALPHA = Zoom("s2", {"wavelength_range": [6500, 6630], "label": "Hα"}, picture="ab" * 32)
SOUND = (
    Think("s1", "The spectrum is blue. First zoom: Hα, 6500 to 6630 Å."),
    HALPHA,
    Think("s3", "In the window 6500 to 6630 Å, Hα is in emission. So this is a cataclysmic variable."),
    Answer("s4", "YES", "Hα emission."),
)


def trace(*steps: Think | Zoom | Answer, **other: object) -> Trajectory:
    values: dict = {
        "task": "cv",
        "prompt": "Is it?",
        "spectrum_name": "a.fits",
        "spectrum_sha256": None,
        "steps": steps,
        "drafter": Drafter("model", "a drafter"),
    }
    return Trajectory(**(values | other))


def zoom(number: int, lo: float, hi: float, label: str = "Hα", **other: object) -> Zoom:
    return replace(HALPHA, id=f"z{number}", arguments={"wavelength_range": [lo, hi], "label": label}, **other)


def claims_of(trajectory: Trajectory, spectrum: Spectrum) -> set[str]:
    return compared(trajectory, spectrum).all_facts()


def third(text: str) -> tuple[Think | Zoom | Answer, ...]:
    return (*SOUND[:2], Think("s3", text), SOUND[3])


def test_a_sound_trace_has_no_fault() -> None:
    assert facts_of_texts(trace(*SOUND)) - facts.NEUTRAL == set()


def test_every_fact_has_a_sentence_and_a_place() -> None:
    said = facts.sentences()
    assert tuple(said) == facts.FACTS
    assert len(set(said.values())) == len(said)
    assert all(sentence.endswith(".") for sentence in said.values())
    assert set(facts.FACTS) >= facts.NEUTRAL | set(facts.CLAIMS)
    assert facts.row(["zoom: one"]).sum() == 1


def test_a_family_holds_if_one_of_its_facts_does() -> None:
    rows = facts.with_families(np.array([facts.row(["frame: text"]), facts.row(["zoom: one"])]))
    assert rows[:, facts.NUMBER["any: frame"]].tolist() == [1, 0]
    assert rows.sum() == 3
    assert set(facts.FAMILIES) == {name for name in facts.FACTS if name.startswith("any: ")}
    shares = {"any: frame": 0.9, "frame: text": 0.8, "frame: window": 0.3}
    assert facts.most_special(list(shares), shares) == ["frame: text", "frame: window"]
    assert facts.most_special(["any: frame", "frame: window"], shares) == ["any: frame", "frame: window"]


FAULTY = {
    "window: another": trace(*third("In the window 6400 to 6530 Å, Hα is in emission.")),
    "window: none": trace(*third("Between 5000 and 5100 Å the line is in emission.")),
    "verdict: thought": trace(*third("Hα is strong, so the answer is NO.")),
    "verdict: explanation": trace(*SOUND[:3], Answer("s4", "YES", "Too narrow: NO.")),
    "label: outside": trace(SOUND[0], zoom(1, 5000, 5100), *SOUND[2:]),
    "thought: outside": trace(*third("Hβ is broad here.")),
    "frame: window": trace(SOUND[0], zoom(1, 6900, 7000, frame="rest", z=0.06), *SOUND[2:], redshift=0.06),
    "frame: text": trace(
        SOUND[0], replace(HALPHA, frame="rest", z=0.06), *third("Hα lies at 6958 Å.")[2:], redshift=0.06
    ),
    "wavelength: wrong": trace(*third("Hα lies at 6700 Å.")),
    "sky: unnamed": trace(*third("The star absorbs at 7605 Å.")),
    "sky: window": trace(SOUND[0], zoom(1, 7630, 7780, "band"), *SOUND[2:]),
    "zoom: none": trace(SOUND[0], SOUND[3]),
    "zoom: repeated": trace(*SOUND[:2], Think("t", "Again."), zoom(1, 6500, 6630), *SOUND[2:]),
    "zoom: often": trace(*SOUND[:2], zoom(1, 6500, 6630), zoom(2, 6501, 6630), *SOUND[2:]),
    "zoom: overlap": trace(*SOUND[:2], zoom(1, 6510, 6600), *SOUND[2:]),
    "zoom: failed": trace(SOUND[0], zoom(1, 1, 2, ok=False, picture=None), *SOUND[1:]),
    "zoom: no window": trace(SOUND[0], zoom(1, 6600, 6500), *SOUND[1:]),
    "zoom: narrow": trace(SOUND[0], zoom(1, 6560, 6570), *SOUND[1:]),
    "zoom: many": trace(*(zoom(n, 5000 + 200 * n, 5100 + 200 * n, "x") for n in range(7)), *SOUND[2:]),
    "answer: none": trace(*SOUND[:3]),
    "answer: unreadable": trace(*SOUND[:3], Answer("s4", None, "Hα emission.")),
    "answer: several": trace(*SOUND, Answer("s5", "NO", "No.")),
    "end: thought": trace(*SOUND[:3]),
    "end: zoom": trace(*SOUND[:2]),
    "end: mid-sentence": trace(*SOUND[:2], Think("s3", "The line is broad because the")),
    "cannot tell": trace(*SOUND, cannot_tell="too noisy"),
    "form: tag": trace(*SOUND, faults=("turn 1: <think> not closed",)),
    "form: call": trace(*SOUND, faults=("turn 1: broken JSON in a tool call: its window and label were read",)),
    "form: cut": trace(*SOUND, faults=("turn 3: truncated: the limit of tokens was reached",)),
    "form: characters": trace(*SOUND, faults=("turn 3: 4 damaged characters repaired",)),
    "form: order": trace(*SOUND, faults=("turn 3: text outside the tags",)),
    "form: other": trace(*SOUND, faults=("turn 3: something new",)),
    "text: empty": trace(Think("s0", " "), *SOUND),
    "text: repeated": trace(
        Think("s0", long := "The continuum rises to the blue, and lines of hydrogen stand out of it."),
        *SOUND,
        Think("s9", long),
    ),
}


def test_a_fault_is_found() -> None:
    assert [name for name, trajectory in FAULTY.items() if name not in facts_of_texts(trajectory)] == []


def test_facts_that_are_not_tested_here_need_the_spectrum_or_the_words() -> None:
    rest = set(facts.FACTS) - set(FAULTY) - facts.NEUTRAL - set(facts.CLAIMS) - set(facts.FAMILIES)
    assert rest == {"verdict: unusual", "zoom: failed often"}


SOUND_SENTENCES = (
    "The dip at 7605 Å is the telluric A band. | I leave out what is seen at 7605 Å. | Hα lies at 6563 Å. | "
    "One should not mistake the band at 7605 Å for a stellar one; it is terrestrial. | Next I zoom on Hβ. | "
    "Molecules in the air above the telescope make the dip at 7605 Å. | Hα in 6500–6630 Å is a broad line. | "
    "The plot starts at 6500 Å and stops at 6630 Å, where Hα is broad. | "
    "Not measurable: the continuum at 7605 Å is not above zero. | "
    "He II 4686 is absent, and the spectrum runs from 3700 to 9100 Å. | "
    "Ca II K strong (only 60 % of 3927–3943 Å has data)."
)


def test_sound_sentences_are_no_faults() -> None:
    for text in SOUND_SENTENCES.split(" | "):
        assert facts_of_texts(trace(*third(f"Hα is here. {text}"))) - facts.NEUTRAL == set(), text


def test_the_atmosphere_of_the_star_does_not_explain_a_band_of_the_earth() -> None:
    for text in (
        "Molecules in the stellar atmosphere make the dip at 7605 Å.",
        "The band at 7605 Å is formed in the atmosphere of this star.",
        "It is hard to overlook the trough at 7605 Å.",
    ):
        assert "sky: unnamed" in facts_of_texts(trace(*third(text))), text


def test_the_window_of_a_band_index_is_not_one_of_the_sky() -> None:
    of_index = zoom(1, 6952, 7202, "M-dwarf bands (TiO5)", frame="rest", z=0.042)
    of_nothing = replace(of_index, arguments={**of_index.arguments, "label": "M-dwarf bands"})
    for window, expected in ((of_index, False), (of_nothing, True)):
        found = facts_of_texts(trace(SOUND[0], window, *SOUND[2:], redshift=0.042))
        assert ("sky: window" in found) is expected


def test_windows_of_bands_and_of_two_features_are_in_their_frame() -> None:
    for label, lo, hi in (("C2 4737", 4550, 4900), ("Hβ breadth and C2 5165", 4782, 5240), ("TiO 7054", 6952, 7252)):
        for z in (0.012, 0.05):
            own = zoom(1, lo, hi, label, frame="rest", z=z)
            stretched = zoom(1, lo * (1 + z), hi * (1 + z), label, frame="rest", z=z)
            assert "frame: window" not in facts_of_texts(trace(SOUND[0], own, SOUND[3], redshift=z)), (label, z)
            assert "frame: window" in facts_of_texts(trace(SOUND[0], stretched, SOUND[3], redshift=z)) or z < 0.05


def test_a_wavelength_in_the_other_frame_is_not_also_one_of_the_sky() -> None:
    said = third("Hα lies at 6886 Å.")[2:]
    found = facts_of_texts(trace(SOUND[0], replace(HALPHA, frame="rest", z=0.0493), *said, redshift=0.0493))
    assert "frame: text" in found
    assert "sky: unnamed" not in found


def test_a_fault_that_lost_nothing_is_not_a_damaged_call() -> None:
    assert "form: call" not in facts_of_texts(trace(*SOUND, faults=("turn 1: arguments given as text",)))


CLAIMED = {
    "claim: emission for absorption": ("a", "Hβ is in strong emission."),
    "claim: absorption for emission": ("cv", "Hα is in absorption."),
    "claim: line not there": ("a", "[O III] 5007 is prominent."),
    "claim: line denied": ("a", "There is no Hβ absorption."),
    "claim: bands not there": ("a", "TiO bands are strong."),
    "claim: bands denied": ("gm", "No TiO bands."),
    "claim: nothing there": ("a", "He II 4686 is prominent."),
    "claim: line only named": ("a", "This is He II 4686."),
    "claim: weak called strong": ("a", "The emission of He II 4686 is strong."),
    "claim: never in absorption": ("a", "[O III] 5007 shows a deep trough."),
    "claim: forbidden line alone": ("a", "We also have [N II] 6583."),
    "claim: hot line in a cool star": ("gm", "He I 5876 is in emission."),
}


TRUE = {
    "a": "Hβ is in absorption. There are no TiO bands. No [O III] 5007 emission.",
    "cv": "Hα is in emission.",
    "gm": "TiO bands are strong.",
}


@pytest.mark.parametrize("name", CLAIMED)
def test_a_wrong_claim_is_found_and_a_true_one_is_not(name: str) -> None:
    kind, text = CLAIMED[name]
    spectrum = simulate(kind, "SDSS", 60.0, 1)
    answer = Answer("s4", "NO", "So it is not one.")
    assert name in claims_of(trace(Think("s1", text), answer), spectrum)
    assert claims_of(trace(Think("s1", TRUE[kind]), answer), spectrum) <= {"claim: all agree"}


def test_labels_plans_and_bounds_are_no_claims() -> None:
    spectrum = simulate("a", "SDSS", 60.0, 1)
    said = "Hβ emission: equivalent width 20 Å, expected below −8 Å: no (−1.3). Then I look at Hβ emission."
    sound = Answer("s4", "NO", "So it is not one.")
    assert claims_of(trace(Think("s1", said), zoom(1, 4800, 4900, "Hβ emission"), sound), spectrum) == set()


def test_the_opposite_of_a_claim_is_told_from_nothing() -> None:
    spectrum = simulate("fgk", "SDSS", 6.0, 2)  # Hβ is 4σ deep, too little for the hints
    found = claims_of(trace(Think("s1", "Hβ is in emission."), Answer("s4", "NO", "No.")), spectrum)
    assert found == {"claim: emission unsupported", "claim: opposite sign"}


def test_sentences_on_the_next_window_and_on_missing_data_are_no_claims() -> None:
    spectrum = simulate("a", "SDSS", 60.0, 1)
    said = "After this comes Hβ emission: 4800 to 4900 Å. Hβ emission (only 60 % has data)."
    made = trace(Think("s1", said), zoom(1, 4800, 4900, "Hβ emission"), Answer("s4", "NO", "No."))
    assert claims_of(made, spectrum) == set()
    seen = Think("s2", "In the window 4800 to 4900 Å, Hβ is in emission.")
    assert "claim: emission for absorption" in claims_of(trace(*made.steps[:2], seen, made.steps[2]), spectrum)
