"""What a model server does wrong, said in a sentence each."""

import re
import socket

import pytest

from agent.conversation import PolicyError
from agent.policies.openai.endpoint import Endpoint, Patience
from tests.support.asking import HASTY, KEY, turn
from tests.support.bad_server import DONE, WEB_PAGE, BadServer, Cut, Raw, Say, Stall, Status, chunk, problem


def failure(*answers, patience: Patience = HASTY) -> str:
    """What is said when a server answers so."""
    with BadServer(answers, api_key=KEY) as server, pytest.raises(PolicyError) as raised:
        turn(Endpoint(server.url, "spec-o3", KEY, patience))
    said = str(raised.value)
    assert KEY not in said
    assert said.endswith((".", ".)"))
    return said.replace(server.url, "URL")


def test_no_server():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        with pytest.raises(PolicyError, match=r"No server at .* Start one: spec-o3 serve .*Tried 3 times"):
            turn(Endpoint(url, "spec-o3", None, HASTY))


def test_no_such_machine():
    with pytest.raises(PolicyError, match=r"No machine is known by the name of no-such-host\.invalid"):
        turn(Endpoint("http://no-such-host.invalid:8000/v1", "spec-o3", None, HASTY))


def test_https_where_there_is_none():
    with BadServer() as server, pytest.raises(PolicyError, match="No safe connection to https"):
        turn(Endpoint(server.url.replace("http", "https"), "spec-o3", None, HASTY))


def test_no_first_word_in_time():
    said = failure(Stall(), patience=Patience(first=0.2))
    assert said.startswith("URL had not begun to answer after 0.2 s")


def test_silence_in_the_middle():
    said = failure(Stall("It is"), patience=Patience(between=0.2))
    assert said.startswith("URL stopped in the middle of its answer: nothing for 0.2 s.")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        # vLLM, its wordings from 2023 to 2026
        (
            "This model's maximum context length is 4096 tokens. However, you requested 5048 tokens (3000 in "
            "the messages, 2048 in the completion). Please reduce the length of the messages or completion.",
            None,
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length "
            "is 4096 tokens and your request has 3000 input tokens (2048 > 4096 - 3000).",
            None,
        ),
        (
            "This model's maximum context length is 4096 tokens. However, you requested 2048 output tokens "
            "and your prompt contains at least 3000 input tokens, for a total of at least 5048 tokens.",
            None,
        ),
        (
            "The decoder prompt (length 3000) is longer than the maximum model length of 4096. Make sure "
            "that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.",
            None,
        ),
        # OpenAI
        (
            "This model's maximum context length is 4096 tokens. However, your messages resulted in 3000 "
            "tokens. Please reduce the length of the messages.",
            "context_length_exceeded",
        ),
        (
            "Input tokens exceed the configured limit of 4096 tokens. Your messages resulted in 3000 tokens.",
            "context_length_exceeded",
        ),
        # SGLang
        ("The input (3000 tokens) is longer than the model's context length (4096 tokens).", None),
    ],
)
def test_too_long_a_conversation(message, code):
    said = failure(problem(400, message, code))
    assert said == (
        "The conversation has grown too long for the model: 3,000 tokens to read and up to 2,048 to write, "
        "of 4,096 it holds. Allow fewer turns or fewer tokens a turn, or serve it with a larger "
        "--max-model-len."
    )


def test_too_long_a_conversation_without_the_numbers():
    said = failure(problem(400, "the request exceeds the available context size, try increasing it"))
    assert said.startswith("The conversation has grown too long for the model. Allow fewer turns")


def test_a_key_that_is_not_accepted_is_not_repeated():
    said = failure(problem(401, f"Incorrect API key provided: {KEY}."))
    assert said == "URL did not accept the API key it was given (401). servers.toml says where its key is."


def test_a_key_that_is_wanted():
    with BadServer(api_key=KEY) as server, pytest.raises(PolicyError, match="wants an API key, and has none"):
        turn(Endpoint(server.url, "spec-o3", None, HASTY))


def test_a_key_that_may_not_and_is_blacked_out_wherever_it_is_repeated():
    said = failure(problem(403, f"Project of {KEY} has no access."))
    assert said == "URL does not let this API key use spec-o3 (403): Project of [key] has no access."


def test_a_model_that_is_not_served_and_those_that_are():
    unknown = problem(404, "The model `x` does not exist.")
    with BadServer([unknown], models=["a", "b"]) as server, pytest.raises(PolicyError) as raised:
        turn(Endpoint(server.url, "x", None, HASTY))
    assert str(raised.value) == f"{server.url} does not serve x. It serves a, b."


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (Status(413, "<html>Request Entity Too Large</html>"), "more than URL accepts at once (413)"),
        (
            Status(422, {"detail": [{"loc": ["body", "n"], "msg": "bad"}]}),
            "URL refused the request (422): body.n: bad.",
        ),
        (problem(400, "At most 1 image(s) may be provided in one prompt."), "--limit-mm-per-prompt"),
        (problem(400, "spec-o3 is not a multimodal model"), "spec-o3 cannot see pictures"),
        (
            problem(429, "No money.", "insufficient_quota"),
            "The account behind the key for URL has nothing left",
        ),
        (Status(429), "URL has too much to do (429): this is a 429"),
        (Status(503, "<html>nginx</html>", kind="text/html"), "URL failed (503): a web page"),
        (WEB_PAGE, "URL answered with a web page: it is no model server."),
        (Status(200, {"choices": []}), "URL does not stream its answers"),
        (
            Status(200, {"error": {"message": "out of memory", "code": 500}}),
            "URL failed (500): out of memory",
        ),
        (Raw([chunk({"content": "It is"}), '{"choices": [{"delt']), "URL sent something that is not JSON"),
        (Raw([chunk({"content": "It is"}), "[1]"]), "URL sent JSON that is not an object"),
        (Raw(['{"error": {"message": "engine dead", "code": 500}}']), "URL failed (500): engine dead"),
        (Raw(['{"error": {"message": "no such image", "code": 400}}']), "request (400): no such image"),
        (Raw(['{"object": "error", "message": "broken"}']), "URL refused the request (no status): broken"),
        (Raw([chunk({"content": "It is"})]), "URL broke off in the middle of its answer"),
        (Raw(), "URL sent an empty answer"),
        (Raw([DONE]), "URL sent an empty answer"),
        (Cut(), "URL closed the connection without an answer"),
    ],
)
def test_each_failure_is_said_in_a_sentence(answer, wanted):
    assert wanted in failure(answer)


def test_how_often_it_was_tried_is_said():
    assert re.search(r"\(Tried 3 times in \d+ s\.\)$", failure(Status(503)))


def test_a_server_that_went_away_between_two_turns():
    with BadServer([Say("Yes.")]) as server:
        endpoint = Endpoint(server.url, "spec-o3", None, HASTY)
        turn(endpoint)
    with pytest.raises(PolicyError, match="No server at"):
        turn(endpoint)
