"""The policies with a real model, behind a real vLLM and in this process; and how that vLLM renders our messages.

This is one module, so that only one test worker starts a vLLM.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import exp, log
from pathlib import Path

import pytest
from openai import OpenAI
from PIL import Image

from agent.conversation import Conversation, Exchange, PolicyError, Stop
from agent.loop import Ended, Event, Text, ToolResult, inspect
from agent.policies import Sampling
from agent.policies.local.policy import Local
from agent.policies.spec_o3 import SpecO3, messages
from agent.simulate import simulate
from agent.tasks import load
from agent.tool import overview
from agent.trajectory.messages import data_url
from agent.vllm import picture_tokens
from agent.vllm.flags import LARGEST_OVERVIEW, LARGEST_ZOOM
from tests.agent.trajectory.test_trajectory import as_trajectory, conversation, published_cases
from tests.models.support.learned_traces import INSPECTED, inspected, shown, turn_texts
from tests.models.support.real_server import CONTEXT, ENDLESS, TRAINED, WRITTEN, wait_until

ROOT = Path(__file__).resolve().parents[2]
TASKS = load()
WILD = Sampling(temperature=2.0, max_tokens=40, seed=1)


def events(policy, key: str = "cv", stop: Stop | None = None) -> list[Event]:
    return list(inspect(shown(key), TASKS[key], policy, stop=stop))


def ended(policy, key: str = "cv") -> Ended:
    last = events(policy, key)[-1]
    assert isinstance(last, Ended)
    return last


def stopped_text(policy) -> tuple[Ended, str]:
    """Run an endless turn and stop it at its third piece; return the last event and the text so far."""
    stop, pieces = Stop(), []
    for event in inspect(shown("cv"), TASKS["cv"], policy, stop=stop):
        if isinstance(event, Text):
            pieces.append(event.text)
            if len(pieces) == 3:
                stop.set()
    return event, "".join(pieces)


@pytest.fixture(params=["served", "local"])
def policy(request):
    """A function that makes the policy of each kind: ``policy(sampling, endless=False)``."""
    if request.param == "served":
        server = request.getfixturevalue("vllm_server")
        return lambda sampling=None, endless=False: server.policy(ENDLESS if endless else TRAINED, sampling)
    model, adapter = (str(request.getfixturevalue(name)) for name in ("tiny_model", "adapter"))
    return lambda sampling=None, endless=False: Local(model, adapter if endless else None, sampling=sampling)


@pytest.mark.parametrize("key", INSPECTED)
def test_the_model_repeats_its_learned_trace_exactly(policy, key):
    found = events(policy(), key)
    assert turn_texts(found) == inspected(key).turns
    end = found[-1]
    assert (end.reason, end.trajectory.faults) == ("answered", ())
    assert [event.picture is not None for event in found if isinstance(event, ToolResult)] == [True] * 4
    assert end.usage.requests == 5


def test_a_turn_is_streamed_in_pieces(policy):
    pieces = [event for event in events(policy()) if isinstance(event, Text) and event.turn == 1]
    assert len(pieces) > 10


def test_the_same_seed_gives_the_same_text_and_another_seed_does_not(policy):
    first, again, other = (turn_texts(events(policy(WILD.for_sample(n)))) for n in (0, 0, 1))
    assert first == again != other


def test_a_turn_without_end_is_cut_at_its_limit_and_listed_as_a_fault(policy):
    end = ended(policy(Sampling(max_tokens=60), endless=True))
    assert end.reason == "no call and no answer"
    assert "turn 1: cut at its limit of 60 tokens" in end.trajectory.faults
    assert end.usage.completion == 60


def test_an_inspection_stopped_in_a_turn_keeps_the_text_so_far(policy):
    end, text = stopped_text(policy(endless=True))
    assert end.reason == "stopped"
    assert end.trajectory.steps[0].text == text.removeprefix("<think>").strip()


def is_cut_short(vllm_server, abandon: Callable[[int], object]) -> bool:
    """Whether an abandoned turn ends before its limit of tokens, which ``abandon`` is given. On busy cores a whole turn
    can be written before its first piece is sent; then the next try counts.
    """
    limit = 3000
    for _ in range(10):
        assert wait_until(vllm_server.idle)
        written = vllm_server.metric(WRITTEN)
        abandon(limit)
        assert wait_until(vllm_server.idle)
        if vllm_server.metric(WRITTEN) - written < limit:
            return True
    return False


def test_a_stop_frees_the_slot_on_the_server(vllm_server):
    assert is_cut_short(
        vllm_server, lambda limit: stopped_text(vllm_server.policy(ENDLESS, Sampling(max_tokens=limit)))
    )


def test_the_server_caches_the_earlier_turns(vllm_server):
    """A spectrum that is new to the server: only the system turn is cached before."""
    unseen = simulate("cv", "LAMOST", 20.0, seed=4)
    *_, end = inspect(unseen, TASKS["cv"], vllm_server.policy())
    assert end.usage.requests == 5
    assert end.usage.cached > end.usage.prompt / 2


def test_inspections_at_once_do_not_mix(vllm_server):
    keys = [*INSPECTED] * 2
    with ThreadPoolExecutor(len(keys)) as pool:
        found = list(pool.map(lambda key: turn_texts(events(vllm_server.policy(), key)), keys))
    assert found == [inspected(key).turns for key in keys]


def test_the_trace_names_the_server(vllm_server):
    drafter = ended(vllm_server.policy()).trajectory.drafter
    assert (drafter.kind, drafter.name) == ("model", TRAINED)
    served = {"server": "vLLM", "server_version": vllm_server.facts["vllm"], "context": CONTEXT}
    assert served.items() <= drafter.settings.items()


def test_the_health_check_reports_server_and_model(vllm_server):
    assert wait_until(vllm_server.idle)
    health = vllm_server.policy().endpoint.check()
    assert (health.ok, health.model, health.context) == (True, TRAINED, CONTEXT)
    assert (health.server, health.version) == ("vLLM", vllm_server.facts["vllm"])
    assert (health.running, health.waiting) == (0, 0)


def test_a_conversation_too_long_for_the_server_raises_a_readable_error(vllm_server):
    spectrum = shown("cv")
    before = (Exchange("<think>More and more.</think>" * CONTEXT, None),)
    conversation = Conversation(spectrum, TASKS["cv"], overview(spectrum), 7, before)
    with pytest.raises(PolicyError, match=r"4,?096 tokens"):
        list(vllm_server.policy().turn(conversation))


def test_an_unknown_model_is_reported_in_a_sentence(vllm_server):
    end = ended(vllm_server.policy("spec-o3-7b"))
    assert end.reason == "policy failed"
    assert "spec-o3-7b" in end.detail
    assert TRAINED in end.detail


def test_serve_reports_its_models_and_its_memory(vllm_server):
    facts = vllm_server.facts
    assert facts["models"] == [TRAINED, ENDLESS]
    assert (facts["cpu"], facts["context"], facts["gpus"]) == (True, CONTEXT, [])
    assert facts["conversations"] == facts["cache_tokens"] / CONTEXT > 1
    assert facts["main_memory_bytes"] > 2**30


def test_an_untrained_model_gives_a_trace_with_faults(random_model):
    end = ended(Local(str(random_model), sampling=Sampling(max_tokens=60)))
    assert end.reason == "no call and no answer"
    assert "turn 1: cut at its limit of 60 tokens" in end.trajectory.faults
    assert end.trajectory.answer is None


def test_many_spectra_are_inspected_from_the_command_line(vllm_server, tmp_path):
    from astropy.table import Table

    for key in ("cv", "cc"):
        spectrum = shown(key)
        columns = {name: getattr(spectrum, name) for name in ("wavelength", "flux", "ivar")}
        Table(columns).write(tmp_path / f"{key}.csv")
    options = ["--task", "cv", "--policy", "spec-o3", "--server", vllm_server.url, "--model", TRAINED, "--json"]
    line = [sys.executable, ROOT / "app.py", "inspect", *options, "--out", "r.jsonl", "cv.csv", "cc.csv"]
    done = subprocess.run(list(map(str, line)), cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    assert '"yes": 2' in done.stdout


# The server itself: messages, pictures, abandoned streams

TRACE = inspected("cv")
IMAGE = "<|image_pad|>"


def sent(chat: list[dict]) -> list[dict]:
    """Messages of a trajectory as an API takes them: pictures as data URLs."""
    return [{**message, "content": [_sent(block) for block in message["content"]]} for message in chat]


def _sent(block: dict) -> dict:
    if block["type"] != "image":
        return block
    return {"type": "image_url", "image_url": {"url": data_url(block["image"])}}


@pytest.fixture(scope="module")
def client(vllm_server):
    return OpenAI(base_url=vllm_server.url, api_key="none")


@pytest.fixture(scope="module")
def rendered(vllm_server):
    """A function that returns the text that the server's model reads, with each picture as one mark."""

    def render(chat: list[dict], add_generation_prompt: bool) -> str:
        request = {"model": TRAINED, "messages": chat, "add_generation_prompt": add_generation_prompt}
        tokens = vllm_server.post("/tokenize", request)["tokens"]
        text = vllm_server.post("/detokenize", {"model": TRAINED, "tokens": tokens})["prompt"]
        return re.sub(f"({re.escape(IMAGE)})+", IMAGE, text)

    return render


@pytest.fixture(scope="module")
def processor(tiny_model):
    from transformers import AutoProcessor

    return AutoProcessor.from_pretrained(tiny_model)


def test_the_tiny_model_has_the_stock_chat_template(processor, shared):
    """Compared on cases without tools, for which the published template is the stock one."""
    lines = (shared / "conformance" / "chat_template_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if not case["tools"] and _plain(case["messages"])]
    assert len(cases) >= 6
    for case in cases:
        prompt = case["add_generation_prompt"]
        assert processor.apply_chat_template(case["messages"], add_generation_prompt=prompt) == case["text"]


def _plain(chat: list[dict]) -> bool:
    return all(message["role"] != "tool" and "tool_calls" not in message for message in chat)


def test_our_messages_reach_the_model_as_with_the_published_template(rendered, shared):
    cases = published_cases(shared)
    assert len(cases) >= 5
    for case in cases:
        before, unanswered = conversation(as_trajectory(case["messages"]))
        chat = messages(before)
        for turn in unanswered:
            chat.append({"role": "assistant", "content": [{"type": "text", "text": turn}]})
        assert rendered(chat, add_generation_prompt=False) == case["text"]


def test_a_trajectory_reaches_the_model_as_in_training(rendered, processor):
    chat = TRACE.messages[:-1]
    expected = processor.apply_chat_template(chat, add_generation_prompt=True)
    assert expected.count(IMAGE) == len(TRACE.pictures) == 5
    assert rendered(sent(chat), add_generation_prompt=True) == expected


def test_the_model_sees_our_pictures_in_their_order(vllm_server, tiny_model, processor):
    """The server and the same model in this process give each token the same probability; with the pictures in
    reverse order they do not.
    """
    swatches = [Image.new("RGB", (300, 180), colour) for colour in ("red", "green", "blue", "black", "yellow")]
    chat, swapped = (TRACE.trajectory.to_messages(order)[:-1] for order in (swatches, swatches[::-1]))
    local = likelihoods(tiny_model, processor, chat, swatches)
    served, served_swapped = (served_likelihoods(vllm_server, sent(messages_sent)) for messages_sent in (chat, swapped))
    assert len(local) == len(served) == len(served_swapped) > 1000
    assert largest_difference(local, served) < 1e-3
    assert largest_difference(served, served_swapped) > 1


def likelihoods(folder, processor, chat: list[dict], pictures) -> list[float]:
    """The log-probability of each token after the first, in this process."""
    import torch
    from transformers import AutoModelForImageTextToText

    text = processor.apply_chat_template(chat, add_generation_prompt=True)
    inputs = processor(text=[text], images=pictures, return_tensors="pt")
    with torch.no_grad():
        found = AutoModelForImageTextToText.from_pretrained(folder)(**inputs).logits[0].log_softmax(-1)
    ids = inputs["input_ids"][0, 1:]
    return found[:-1].gather(1, ids[:, None])[:, 0].tolist()


def served_likelihoods(server, chat: list[dict]) -> list[float]:
    """The same, computed by the server."""
    request = {"model": TRAINED, "messages": chat, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}
    found = server.post("/v1/chat/completions", request)["prompt_logprobs"]
    return [next(iter(token.values()))["logprob"] for token in found[1:]]


def largest_difference(first: list[float], second: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(first, second, strict=True))


def test_an_answer_to_a_picture_is_streamed_in_pieces(client):
    stream = client.chat.completions.create(
        model=TRAINED, messages=sent(TRACE.messages[:2]), stream=True, temperature=0, max_tokens=200
    )
    pieces = [chunk.choices[0].delta.content for chunk in stream if chunk.choices]
    assert "".join(filter(None, pieces)) == TRACE.turns[0]
    assert len(pieces) > 10


def test_an_abandoned_stream_frees_its_slot_on_the_server(client, vllm_server):
    def abandon(limit: int) -> None:
        stream = client.chat.completions.create(
            model=ENDLESS, messages=sent(TRACE.messages[:2]), stream=True, temperature=0, max_tokens=limit
        )
        next(iter(stream))
        stream.close()

    assert is_cut_short(vllm_server, abandon)


def raw_log_odds(client, key: str) -> float:
    """The log odds of YES at the token that begins the answer word, from a whole response of the server."""
    asked = sent(inspected(key).messages[:-1])
    found = client.chat.completions.create(
        model=TRAINED, messages=asked, temperature=0, max_tokens=200, logprobs=True, top_logprobs=20
    )
    before = ""
    for token in found.choices[0].logprobs.content:
        if re.search(r"<answer>\\boxed\{[A-Z]", before + token.token):
            break
        before += token.token
    sums = {"YES": 0.0, "NO": 0.0}
    for top_logprob in token.top_logprobs:
        word = re.search(r"<answer>\\boxed\{\s*([A-Za-z]+)", before + top_logprob.token)
        for verdict in sums:
            if word is not None and (word[1].upper() == verdict or verdict.startswith(word[1].upper())):
                sums[verdict] += exp(top_logprob.logprob)
    least = exp(min(top_logprob.logprob for top_logprob in token.top_logprobs if top_logprob.token != token.token))
    return log(sums["YES"] or least) - log(sums["NO"] or least)


@pytest.mark.parametrize("key", ["cv", "cc"])
def test_the_score_is_that_of_the_raw_log_probabilities_and_the_same_in_this_process(
    vllm_server, tiny_model, client, key
):
    with_logprobs = Sampling(logprobs=True)
    expected = raw_log_odds(client, key)
    streamed = vllm_server.policy(sampling=with_logprobs)
    for policy in (streamed, SpecO3(streamed.endpoint, with_logprobs, stream=False)):
        end = ended(policy, key)
        assert end.trajectory.answer.score == pytest.approx(expected, abs=1e-3)
        assert end.trajectory.faults == ()
        assert (end.trajectory.answer.verdict == "YES") == (expected > 0)
    here = ended(Local(str(tiny_model), sampling=with_logprobs), key).trajectory.answer.score
    assert here == pytest.approx(expected, rel=0.05)
    assert ended(vllm_server.policy(), key).trajectory.answer.score is None


def test_the_tokens_of_a_picture_agree_with_the_processor_of_transformers():
    processing = pytest.importorskip("transformers.models.qwen2_vl.image_processing_qwen2_vl")
    for width, height in (LARGEST_OVERVIEW, LARGEST_ZOOM, (792, 472), (551, 351), (447, 312)):
        high, wide = processing.smart_resize(height, width, factor=28)
        assert picture_tokens(width, height) == high // 28 * (wide // 28)
