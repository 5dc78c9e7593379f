"""What a text gives away, and what only looks like it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.policies.native import label_mentions, mentions_label
from agent.simulate import simulate
from agent.tasks import load
from agent.trajectory.steps import Answer, Step, Think, Zoom
from reviewer.blind.leaks import _PATTERNS, giveaways, in_steps
from reviewer.drafting.demo import demo_items

TELLING = [
    ("model", "GPT-4o", "As GPT-4o I see a blue continuum."),
    ("model", "gpt-5-mini", "Reply by gpt-5-mini."),
    ("model", "ChatGPT", "ChatGPT thinks so."),
    ("model", "o3", "o3 would look at Hα first."),
    ("model", "o4-mini", "This was o4-mini."),
    ("model", "Spec-o3-7B", "Spec-o3-7B zooms first."),
    ("model", "spec o3", "I, spec o3, zoom."),
    ("model", "Claude Opus", "written by Claude Opus"),
    ("model", "Claude", "Claude says YES."),
    ("model", "Qwen2.5-VL-7B", "I am Qwen2.5-VL-7B."),
    ("model", "Llama-3.1", "Llama-3.1 here"),
    ("model", "LLaMA", "by LLaMA"),
    ("model", "Gemini 2.5", "Gemini 2.5 looked"),
    ("model", "DeepSeek-R1", "DeepSeek-R1:"),
    ("model", "AstroSage-70B", "AstroSage-70B agrees"),
    ("company", "OpenAI", "I was made by OpenAI."),
    ("company", "Anthropic", "Anthropic's"),
    ("machine", "As an AI language model", "As an AI language model, I cannot see."),
    ("machine", "as an AI", "Speaking as an AI, I doubt it."),
    ("machine", "as a large language model", "but as a large language model I may err"),
    ("machine", "I'm a vision language model", "I'm a vision language model."),
    ("machine", "I was trained", "I was trained on spectra."),
    ("baseline", "By the scorecard", "By the scorecard this is a clear decision (+4.9)."),
    ("baseline", "the points add up to", "From the start of −3.1 the points add up to +4.9."),
    ("label", "The label", "The label says CV."),
    ("label", "ground truth", "which agrees with the ground truth"),
    ("label", "known answer", "the known answer"),
    ("prompt", "the user wants", "Here the user wants a verdict."),
    ("prompt", "The prompt asks", "The prompt asks for Hα."),
    ("prompt", "<tool_call>", "<tool_call> was refused"),
    ("prompt", r"\boxed{", r"so \boxed{YES}"),
    ("prompt", "spectral_visualization_tool", "call spectral_visualization_tool"),
    ("file", "spec-55859-F5902_sp01-004.fits", "In spec-55859-F5902_sp01-004.fits Hα is broad."),
    ("file", "spec-3586-55181-0123", "spec-3586-55181-0123 shows"),
    ("file", "simulated-cv-0001.fits", "simulated-cv-0001.fits"),
    ("designation", "J123456.78+123456.7", "This is J123456.78+123456.7."),
    ("designation", "SDSS J1234+5678", "like SDSS J1234+5678"),
    ("designation", "J123456.78−123456.7", "the star J123456.78−123456.7"),
    ("designation", "obsid 14812345", "(obsid 14812345)"),
    ("designation", "3586-55181-0123", "the fibre 3586-55181-0123"),
    ("designation", "plate-mjd-fiber 3586-55181-0123", "plate-mjd-fiber 3586-55181-0123"),
    ("designation", "TARGETID 39627835576420141", "TARGETID 39627835576420141"),
    ("designation", "TARGETID=39627835576420141", "TARGETID=39627835576420141"),
]


@pytest.mark.parametrize(("kind", "words", "text"), TELLING)
def test_what_tells_is_found_where_it_stands(kind, words, text) -> None:
    found = next(one for one in giveaways(text) if one.words == words)
    assert found.kind == kind
    assert text[found.start : found.end] == words


@pytest.mark.parametrize(
    "text",
    [
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
    ],
)
def test_ordinary_prose_gives_nothing_away(text) -> None:
    assert giveaways(text) == ()


def test_the_guides_of_all_tasks_are_ordinary_prose() -> None:
    assert {key: giveaways(task.prompt) for key, task in load().items()} == dict.fromkeys(load(), ())


def test_of_the_demo_only_the_baselines_own_turns_of_phrase_are_found() -> None:
    for _, trajectory in demo_items():
        found = {(one.kind, one.words) for _, one in in_steps(trajectory.steps)}
        assert {("baseline", "the points add up to")} <= found
        assert found <= {("baseline", "the points add up to"), ("baseline", "By the scorecard")}


@cache
def baseline_steps(kind: str, task: str, survey: str, snr: float) -> tuple[Step, ...]:
    return run(simulate(kind, survey, snr, 5), load()[task], Baseline()).steps


@pytest.mark.parametrize(
    ("kind", "task", "survey"), [("cv", "cv", "SDSS"), ("gm", "ss", "DESI"), ("a", "wd", "LAMOST")]
)
def test_of_other_baseline_traces_too(kind, task, survey) -> None:
    assert {one.kind for _, one in in_steps(baseline_steps(kind, task, survey, 9.0))} == {"baseline"}


def test_steps_are_numbered_and_a_zooms_label_is_read() -> None:
    steps = (
        Think("a", "Nothing here."),
        Zoom("b", {"wavelength_range": [1, 2], "label": "as o3 would"}, observation="gpt-5 drew this"),
        Answer("c", "YES", "As an AI I say so."),
    )
    assert [(number, one.words) for number, one in in_steps(steps)] == [(2, "o3"), (3, "As an AI")]


def test_of_overlapping_finds_the_longer_is_kept() -> None:
    (found,) = giveaways("see spec-3586-55181-0123.fits")
    assert (found.kind, found.words) == ("file", "spec-3586-55181-0123.fits")


@given(st.lists(st.sampled_from([*[text for _, _, text in TELLING], "Hα is broad.", " ", "\n"]), max_size=6))
def test_finds_are_in_order_and_never_overlap(texts) -> None:
    text = " ".join(texts)
    found = giveaways(text)
    assert all(text[one.start : one.end] == one.words for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(("kind", "words", "text"), TELLING)
def test_no_pattern_finds_what_its_own_words_do_not_announce(kind, words, text) -> None:
    """The quick look for a pattern's words never keeps the pattern from a match."""
    for one in _PATTERNS:
        for match in one.pattern.finditer(text):
            assert any(word in match[0].lower() for word in one.words), match[0]


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


@given(
    st.text(max_size=200),
    st.sampled_from(LABEL_PHRASES),
)
def test_every_mention_of_a_label_is_found(around, phrase) -> None:
    text = f"{around} {phrase} {around}"
    assert (mentions_label(text) is None) == (label_mentions(text) == ())
    assert label_mentions(f"x {phrase} x")
