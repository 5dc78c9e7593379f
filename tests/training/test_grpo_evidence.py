"""GRPO: the evidence of rollouts on trial, with policies that follow their evidence and others that do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from agent.trajectory import Drafter
from agent.trial.edits import Edited
from tests.support.training_data import Scripted, question, renderer
from training.data.records import Question
from training.grpo import evidence
from training.grpo.evidence import Evidence, outcomes_of, planned
from training.grpo.rollout import Continuation, GeneratedTurn, Limits, Request, Rollout, continue_rollouts, run_rollouts
from training.grpo.round import TrajectoryMetrics, evidence_metrics
from training.grpo.settings import GrpoSettings
from training.render import ASSISTANT, Renderer
from training.settings import ModelSettings, SettingsError, from_mapping

DRAFTER = Drafter("model", "scripted")
LIMITS = Limits()
CLAIM, DENIAL, SILENCE = "Strong Hα emission is seen.", "No Hα emission is seen.", "Hm."


def call(label: str = "Hα", window: str = "[6500, 6620]") -> str:
    arguments = f'{{"label": "{label}", "wavelength_range": {window}}}'
    return (
        "<think>Next.</think>\n<tool_call>\n"
        f'{{"name": "spectral_visualization_tool", "arguments": {arguments}}}\n</tool_call>'
    )


def answer(thought: str, verdict: str = "YES") -> str:
    return rf"<think>{thought}</think><answer>\boxed{{{verdict}}} So it is.</answer>"


class Seeing(Scripted):
    """Scripted, but the script also gets the request, and so the pictures."""

    def __init__(self, made: Renderer, script: Callable[[Request, int], str]) -> None:
        super().__init__(made, lambda so_far, number: "")
        self._seeing = script

    def _written(self, request: Request) -> GeneratedTurn:
        number = self._tokenizer.decode(request.so_far.ids).count(ASSISTANT)
        ids = (*self._tokenizer.encode(self._seeing(request, number)), self._end)
        return GeneratedTurn(ids[: request.limit], None)


class OneAtATime:
    """A continuous generator: the newest conversation first."""

    def __init__(self, writer: Seeing) -> None:
        self.ends = writer.ends
        self._writer = writer
        self._open: list[Request] = []

    def submit(self, requests: Sequence[Request]) -> None:
        self._open += requests

    def collect(self) -> list[tuple[int, GeneratedTurn]]:
        if not self._open:
            return []
        request = self._open.pop()
        return [(request.row, self._writer.write([request])[0])]


def pixels(request: Request, number: int) -> bytes:
    return request.so_far.images[number].tobytes()


class Policy:
    """A zoom on Hα, then an answer; ``then`` gives it from whether the overview and the zoom are the original ones."""

    def __init__(self, then: Callable[[bool, bool], str], first: str = "") -> None:
        self._then = then
        self._first = first or call()
        self._original: tuple[bytes, bytes] | None = None

    def __call__(self, request: Request, number: int) -> str:
        if number == 1:
            return self._first
        seen = pixels(request, 0), pixels(request, -1)
        self._original = self._original or seen
        return self._then(seen[0] == self._original[0], seen[1] == self._original[1])


def tried(
    policy: Callable[[Request, int], str], asked: Question | None = None, continuous: bool = False
) -> tuple[Rollout, Evidence | None, Seeing]:
    """Inspect once, put the evidence on trial, and return what became of it."""
    made = renderer()
    writer = Seeing(made, policy)
    rollouts = run_rollouts([asked or question()], made, writer, LIMITS, DRAFTER).rollouts
    tests = planned(rollouts, 7)
    pairs = [one for test in tests for one in (test.removed, test.placebo)]
    generator = OneAtATime(writer) if continuous else writer
    continued = continue_rollouts(pairs, made, generator, LIMITS, DRAFTER, len(rollouts)).rollouts
    (found,) = outcomes_of(tests, rollouts, continued)
    return rollouts[0], found, writer


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("label", ["YES", "NO"])
@pytest.mark.parametrize("verdict", ["YES", "NO"])
def test_evidence_that_is_followed_counts_whatever_the_answer_and_the_label(verdict, label, continuous):
    policy = Policy(lambda overview, zoom: answer(CLAIM if zoom else DENIAL, verdict))
    _, found, _ = tried(policy, question(label=label), continuous)
    assert found == Evidence(removal_followed=True, placebo_followed=False)
    assert found.holds


@pytest.mark.parametrize(
    ("then", "removal", "placebo"),
    [
        (lambda overview, zoom: answer(CLAIM), False, False),  # claims it whatever the picture
        (lambda overview, zoom: answer(CLAIM if overview else SILENCE), True, True),  # anything makes it change
        (lambda overview, zoom: answer(CLAIM, "YES" if zoom else "NO"), False, False),  # moves the answer alone
        (lambda overview, zoom: answer(CLAIM if zoom else DENIAL, "YES" if overview else "NO"), True, True),
        (lambda overview, zoom: answer(CLAIM) if overview else SILENCE, False, True),  # ends without an answer
    ],
)
def test_evidence_that_is_not_followed_does_not_count(then, removal, placebo):
    _, found, _ = tried(Policy(then))
    assert found == Evidence(removal, placebo)
    assert not found.holds


@pytest.mark.parametrize(
    "policy",
    [
        lambda request, number: answer(CLAIM),  # no call
        Policy(lambda overview, zoom: answer(SILENCE)),  # no claim
        Policy(lambda overview, zoom: answer(DENIAL)),
        Policy(lambda overview, zoom: answer(SILENCE), call("the middle")),  # no feature
        Policy(lambda overview, zoom: answer(CLAIM), call(window="[1, 2]")),  # no picture
        Policy(lambda overview, zoom: f"<think>{CLAIM}</think>"),  # no answer
        Policy(lambda overview, zoom: call()),  # no answer either: the limit of turns
    ],
)
def test_nothing_is_tested_without_a_claim_that_follows_a_call(policy):
    _, found, writer = tried(policy)
    assert found is None
    assert sum(writer.asked) < 9, "nothing was continued"


def test_a_removal_that_leaves_the_line_is_not_tested(monkeypatch):
    monkeypatch.setattr(evidence, "remove", lambda spectrum, *_: Edited(spectrum, (6500.0, 6600.0), 1.0))
    _, found, _ = tried(Policy(lambda overview, zoom: answer(CLAIM if zoom else DENIAL)))
    assert found is None


def test_a_line_that_the_noise_hides_is_not_tested():
    clear = question()
    spectrum = clear.spectrum()
    noisy = replace(clear, spectrum=lambda: replace(spectrum, ivar=spectrum.ivar / 1e4))
    _, found, _ = tried(Policy(lambda overview, zoom: answer(CLAIM if zoom else DENIAL)), noisy)
    assert found is None


def test_a_continuation_keeps_the_sampled_tokens_and_sees_the_edited_spectrum():
    made = renderer()
    writer = Seeing(made, Policy(lambda overview, zoom: answer(CLAIM)))
    rollouts = run_rollouts([question(), question(seed=2)], made, writer, LIMITS, DRAFTER).rollouts
    tests = planned(rollouts, 7)
    before = len(writer.requests)
    pairs = [one for test in tests for one in (test.removed, test.placebo)]
    continued = continue_rollouts(pairs, made, writer, LIMITS, DRAFTER, 2).rollouts
    requests = writer.requests[before:]
    assert [request.row for request in requests] == [2, 3, 4, 5], "one batch, with rows of their own"
    for number, one in enumerate(continued):
        original = rollouts[number // 2]
        turn = len(original.turns[0]) + 1
        assert one.completion.ids[:turn] == original.completion.ids[:turn]
        assert one.turns[0] == original.turns[0]
        assert one.trajectory.steps[:1] == original.trajectory.steps[:1]
        assert one.images[0].tobytes() != original.images[0].tobytes()
        assert one.trajectory.spectrum_sha256 != original.trajectory.spectrum_sha256
        assert one.logprobs is None
    assert [test.row for test in tests] == [0, 1]


def test_a_continuation_on_the_same_spectrum_repeats_the_rollout():
    made = renderer()
    turns = [call(), call("Hβ", "[4800, 4920]"), call("Hγ", "[4300, 4380]"), answer(CLAIM)]
    writer = Scripted(made, lambda so_far, number: turns[number - 1])
    (rollout,) = run_rollouts([question()], made, writer, LIMITS, DRAFTER).rollouts
    for number in (1, 2, 3):
        continuation = Continuation(rollout, number, rollout.question.spectrum())
        (again,) = continue_rollouts([continuation], made, writer, LIMITS, DRAFTER, 1).rollouts
        assert again.completion.ids == rollout.completion.ids
        assert again.completion.spoken == rollout.completion.spoken
        assert (again.turns, again.trajectory) == (rollout.turns, rollout.trajectory)


def test_a_cut_turn_with_a_call_is_continued_with_its_own_tokens():
    made = renderer()
    limits = Limits(turn=len(call()))  # without its end token
    writer = Scripted(made, lambda so_far, number: call() if number == 1 else answer(CLAIM)[: limits.turn])
    (rollout,) = run_rollouts([question()], made, writer, limits, DRAFTER).rollouts
    assert rollout.truncated
    continuation = Continuation(rollout, 1, rollout.question.spectrum())
    (again,) = continue_rollouts([continuation], made, writer, limits, DRAFTER, 1).rollouts
    assert again.completion.ids == rollout.completion.ids


def test_a_continuation_that_no_longer_fits_ends_without_an_answer():
    made = renderer()
    writer = Seeing(made, Policy(lambda overview, zoom: answer(CLAIM)))
    (rollout,) = run_rollouts([question()], made, writer, LIMITS, DRAFTER).rollouts
    small = Limits(response=len(call()) + 5)
    continuation = Continuation(rollout, 1, rollout.question.spectrum())
    (cut,) = continue_rollouts([continuation], made, writer, small, DRAFTER, 1).rollouts
    assert cut.truncated
    assert cut.trajectory.answer is None


def test_one_call_is_chosen_by_the_seed_alone():
    def policy(request: Request, number: int) -> str:
        turns = [call(), call("Hβ", "[4800, 4920]"), answer("Hβ is in emission.")]
        return turns[number - 1].replace("Next.", CLAIM)

    made = renderer()
    rollouts = run_rollouts([question()], made, Seeing(made, policy), LIMITS, DRAFTER).rollouts
    chosen = [[(test.turns, test.subject.name) for test in planned(rollouts, seed)] for seed in range(12)]
    assert chosen == [[(test.turns, test.subject.name) for test in planned(rollouts, seed)] for seed in range(12)]
    assert {one[0] for one in chosen} == {(1, "Hα"), (2, "Hβ")}
    first, again = (planned(rollouts, 3)[0].removed.spectrum.flux for _ in range(2))
    assert np.array_equal(first, again)


def metrics(evidence: Evidence | None) -> TrajectoryMetrics:
    return TrajectoryMetrics("cv", 1.0, True, True, "YES", "YES", 1, 0, 2, 100, 90, False, evidence)


def test_the_logged_numbers_count_what_was_tested():
    found = evidence_metrics(
        [metrics(Evidence(True, False)), metrics(Evidence(True, True)), metrics(Evidence(False, False)), metrics(None)]
    )
    assert found["evidence"] == 1 / 4
    assert found["evidence_tested"] == 3
    assert (found["removal_followed"], found["placebo_followed"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    nothing = evidence_metrics([metrics(None)] * 2)
    assert nothing == {"evidence": 0.0, "evidence_tested": 0, "removal_followed": None, "placebo_followed": None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"evidence": -0.2}, "evidence: found -0.2, expected a number, 0 or more"),
        ({"evidence": 0.2, "with_tool": False}, "evidence: found 0.2 with `with_tool: false`, expected 0, or"),
        ({"evidence": 0.2, "max_turns": 1}, "evidence: found 0.2 with `max_turns: 1`, expected 0, or"),
    ],
)
def test_a_weight_that_makes_no_sense_is_refused(changes: dict, message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        from_mapping({"model": {"name": "base"}, "output": "run", **changes}, GrpoSettings, "file")
    assert message in str(refused.value)


def test_the_published_reward_is_the_default() -> None:
    settings = GrpoSettings(ModelSettings("base"), "run")
    assert settings.evidence == 0.0
    assert replace(settings, evidence=0.2).evidence == 0.2
