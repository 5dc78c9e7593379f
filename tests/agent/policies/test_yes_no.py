"""The score of a served answer: log odds of YES from the log-probabilities that a server lists per token."""

from __future__ import annotations

import json
from math import exp, log

import pytest

from agent.conversation import PolicyError, Remark, Score, Stop
from agent.loop import Ended, inspect
from agent.policies import Sampling
from agent.policies.native import Native
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.policies.yes_no import NOT_LISTED, AnswerOdds, pieces_of_score
from agent.simulate import simulate
from agent.tasks import load
from tests.support.model_server import HASTY, TRAJECTORY, BadServer, Raw, Say, chunk, look, problem, talking

SPECTRUM = simulate("cv", "LAMOST", 30, 3)
TASK = load()["cv"]
WITH = Sampling(logprobs=True)


def token(text: str, probability: float = 0.9, **others: float) -> dict:
    """A token with its probability and those of alternatives, as vLLM lists them."""
    listed = {text: probability} | others
    entries = [{"token": name, "logprob": log(value), "bytes": list(name.encode())} for name, value in listed.items()]
    return {**entries[0], "top_logprobs": sorted(entries, key=lambda entry: -entry["logprob"])}


def tokens(word: str = "YES", probability: float = 0.7, **others: float) -> list[dict]:
    """An answer whose word is one token with these alternatives."""
    before = ["<think>", "Not \\boxed{NO}, I think", ".</think>", "<answer>", "\\", "boxed", "{"]
    return [*map(token, before), token(word, probability, **others), *map(token, ["}", " Hα.", "</answer>"])]


def score(given: list[dict]) -> float | None:
    found = pieces_of_score("".join(one["token"] for one in given), given)
    assert all(isinstance(piece, Score) for piece in found)
    return found[0].log_odds if found else None


def test_the_classes_are_sums_of_the_tokens_that_begin_them():
    given = tokens(probability=0.5, NO=0.2, Yes=0.1, N=0.05, **{" YES": 0.06, "no": 0.04, "NOT": 0.03, "Maybe": 0.02})
    assert score(given) == pytest.approx(log((0.5 + 0.1 + 0.06) / (0.2 + 0.05 + 0.04)))
    assert score(tokens("NO", 0.75, YES=0.25)) == pytest.approx(-log(3))
    parts = [*tokens()[:-4], token("Y", 0.6, N=0.3, Q=0.1), token("ES", 1.0), *tokens()[-3:]]
    assert score(parts) == pytest.approx(log(2))
    joined = [*map(token, ["<think>a</think>", "<answer>\\"]), token("boxed{YES}", 0.8, **{"boxed{NO}": 0.1, "x": 0.1})]
    assert score([*joined, token("</answer>")]) == pytest.approx(log(8))


def test_a_class_that_is_not_listed_gets_the_least_listed_probability():
    assert score(tokens(probability=0.9, Q=0.06, R=0.01)) == pytest.approx(log(0.9 / 0.01))
    # 0 cannot be listed: servers write a number that stands for it.
    given = tokens(probability=0.9, Q=0.06, NO=exp(-50))
    for entry in given[-4]["top_logprobs"]:
        entry["logprob"] = NOT_LISTED if entry["token"] == "NO" else entry["logprob"]
    assert score(given) == pytest.approx(log(0.9 / 0.06))


def test_the_written_token_counts_though_it_is_not_among_the_most_probable():
    given = tokens("YES", 0.001, Q=0.9, R=0.05)
    listed = given[-4]["top_logprobs"]
    given[-4]["top_logprobs"] = [entry for entry in listed if entry["token"] != "YES"]
    assert score(given) == pytest.approx(log(0.001 / 0.05))
    # vLLM lists it in the place of the least probable one; then it is no bound of the others.
    given[-4]["top_logprobs"] = listed
    assert score(given) == pytest.approx(log(0.001 / 0.05))


@pytest.mark.parametrize(
    "written",
    [
        "<think>It is \\boxed{YES}.</think>" + look(6400, 6700),
        "<think>So.</think><answer>YES</answer>",
        "<think>So.</think><answer>\\boxed{Yes, it is}</answer>",
        "<think>It could be \\boxed{YES}",
    ],
)
def test_without_an_answer_in_a_box_there_is_no_score(written):
    parts = [token(written[start : start + 3], 0.8, NO=0.1, Q=0.1) for start in range(0, len(written), 3)]
    assert pieces_of_score(written, parts) == ()


def test_what_a_server_sends_in_place_of_log_probabilities_gives_no_score():
    given = tokens()
    for wrong in (None, "much", float("nan"), [], True):
        given[-4] = {"token": "YES", "logprob": wrong, "top_logprobs": wrong}
        assert score(given) is None
    given[-4] = {"token": "YES", "logprob": -0.1, "top_logprobs": [None, {"token": 3, "logprob": -1}, "NO"]}
    assert score(given) is None


def test_without_log_probabilities_the_turn_has_a_remark():
    (remark,) = pieces_of_score(TRAJECTORY[-1], ())
    assert isinstance(remark, Remark)
    assert "no log-probabilities" in remark.text
    assert pieces_of_score(TRAJECTORY[0], ()) == ()


def test_log_odds_from_logits_and_from_a_complete_list_are_the_same():
    probabilities = {"YES": 0.5, "NO": 0.2, "Yes": 0.1, "N": 0.05, "Maybe": 0.15}
    from_logits = AnswerOdds(lambda: tuple(probabilities))
    before = "<answer>\\boxed{"
    from_logits.add(before, before + "YES", lambda: [log(value) + 7 for value in probabilities.values()])
    whole = before + "YES}</answer>"
    assert from_logits.of_answer(whole) == pytest.approx(score(tokens(probability=0.5, **probabilities)))


def ended(policy) -> Ended:
    *_, end = inspect(SPECTRUM, TASK, policy)
    assert isinstance(end, Ended)
    return end


def answering(body) -> Say:
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    return Say(TRAJECTORY[turn]) if turn < 2 else Say(tokens=tokens("YES", 0.8, NO=0.1, Q=0.1))


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("kind", [SpecO3, Native])
def test_an_answer_of_a_server_has_the_score_of_its_log_probabilities(kind, stream):
    with BadServer(answering) as server:
        end = ended(kind(Endpoint(server.url, "spec-o3"), WITH, stream=stream))
    assert end.trajectory.answer.score == pytest.approx(log(8))
    assert end.trajectory.faults == ()
    assert all(chat.body["logprobs"] is True and chat.body["top_logprobs"] == 20 for chat in server.chats)
    assert end.trajectory.drafter.settings["logprobs"] is True


@pytest.mark.parametrize("kind", [SpecO3, Native])
def test_by_default_nothing_is_requested_and_there_is_no_score(kind):
    with BadServer(answering) as server:
        end = ended(kind(Endpoint(server.url, "spec-o3")))
    assert end.trajectory.answer.score is None
    assert not any("logprobs" in name for chat in server.chats for name in chat.body)
    assert "logprobs" not in end.trajectory.drafter.settings


REFUSALS = [
    problem(400, "Unsupported parameter: 'logprobs' is not supported with this model.", "unsupported_parameter"),
    problem(400, "Unknown parameter: 'top_logprobs'.", parameter="top_logprobs"),
    problem(403, "You are not allowed to request logprobs from this model"),
]


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("kind", [SpecO3, Native])
def test_a_server_that_refuses_log_probabilities_gives_the_answer_without_a_score_and_a_remark(kind, refusal):
    def behaviour(body):
        return refusal if "logprobs" in body or "top_logprobs" in body else talking()(body)

    with BadServer(behaviour) as server:
        end = ended(kind(Endpoint(server.url, "spec-o3", limits=HASTY), WITH))
    assert end.trajectory.answer.score is None
    assert end.trajectory.faults == ("turn 1: the server does not take logprobs: it was left out",)
    assert end.trajectory.drafter.settings["logprobs"] == "left out: not taken by the server"
    assert len(server.chats) == 1 + len(TRAJECTORY)


def test_servers_that_list_less_are_named():
    message = "Requested sample logprobs of 20, which is greater than max allowed: 5"
    with BadServer([problem(400, message)]) as server, pytest.raises(PolicyError, match="--max-logprobs 20, or leave"):
        list(Endpoint(server.url, "spec-o3", limits=HASTY).stream([], WITH, Stop()))
    with BadServer(talking()) as server:
        end = ended(SpecO3(Endpoint(server.url, "spec-o3"), WITH))
    assert end.trajectory.faults == ("turn 3: the server sent no log-probabilities: the answer has no score",)


def test_malformed_log_probabilities_do_not_break_a_turn():
    wrong = [{"content": None}, {"content": "x"}, "x", None, {"content": [None, 3, {"token": None}]}, []]
    answer = TRAJECTORY[-1]
    events = [chunk({"content": ""}, logprobs=one) for one in wrong] + [chunk({"content": answer}, "stop")]
    with BadServer([Raw(events)]) as server:
        end = ended(SpecO3(Endpoint(server.url, "spec-o3"), WITH))
    assert (end.reason, end.trajectory.answer.verdict, end.trajectory.answer.score) == ("answered", "YES", None)


def test_the_settings_of_a_run_name_the_option_so_that_a_journal_notices():
    assert Sampling().settings() == {"temperature": 0.0, "top_p": 1.0, "max_tokens": 2048}
    assert Sampling(logprobs=True).settings()["logprobs"] is True
    assert json.loads(json.dumps(Sampling(logprobs=True).settings())) == Sampling(logprobs=True).settings()
