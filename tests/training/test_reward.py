"""The reward is the published one, oddities included."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.reward import Reward, score


def test_every_published_score_is_given(shared):
    lines = (shared / "conformance" / "reward_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert cases
    for case in cases:
        reward = score(case["response"], case["ground_truth"])
        assert (reward.score, reward.predicted) == (case["score"], case["predicted"]), case["response"]


@pytest.mark.parametrize(
    ("response", "truth", "reward"),
    [
        (r"<think>a</think><answer>\boxed{YES}</answer>", "YES", Reward(1.0, "YES", True)),
        (r"<think>a</think><answer>\boxed{YES}</answer>", "NO", Reward(0.0, "YES", True)),
        (r"<answer>\boxed{NO}</answer><think>after</think>", "NO", Reward(1.0, "NO", True)),
        (r"<think>a</think>\boxed{NO}", "NO", Reward(0.8, "NO", False)),
        ("<think>a</think><answer>no, not yes</answer>", "NO", Reward(-0.2, "YES", False)),
        ("", "NO", Reward(-0.2, "", False)),
        (r"<think>a</think><answer>\boxed{}</answer> so yes", "YES", Reward(0.8, "YES", False)),
        ("<think>a</think>\nneither\n  of  both \n\n", "YES", Reward(-0.2, "of both", False)),
    ],
)
def test_form_and_class_are_scored_apart(response, truth, reward):
    assert score(response, truth) == reward


def test_what_bad_form_costs_can_be_set():
    assert score(r"\boxed{NO}", "NO", alpha=0.5).score == 0.5


@given(st.text(), st.sampled_from(["YES", "NO"]))
def test_every_text_gets_one_of_four_scores(response, truth):
    assert score(response, truth).score in (1.0, 0.8, 0.0, -0.2)
