"""What a real vLLM makes of our messages and pictures, and of streams that are left."""

import json
import re

import pytest
from openai import OpenAI
from PIL import Image

from agent.policies.spec_o3 import messages
from agent.trajectory.messages import data_url
from agent.vllm import picture_tokens
from agent.vllm.flags import LARGEST_OVERVIEW, LARGEST_ZOOM
from tests.agent.trajectory.test_trajectory import as_trajectory, conversation, published_cases
from tests.models.support.learned_traces import inspected
from tests.models.support.real_server import ENDLESS, TRAINED, WRITTEN, until

TRACE = inspected("cv")
IMAGE = "<|image_pad|>"


def sent(said: list[dict]) -> list[dict]:
    """Messages of a trajectory as an API takes them: pictures as data URLs."""
    return [{**message, "content": [_sent(block) for block in message["content"]]} for message in said]


def _sent(block: dict) -> dict:
    if block["type"] != "image":
        return block
    return {"type": "image_url", "image_url": {"url": data_url(block["image"])}}


@pytest.fixture(scope="module")
def client(vllm_server):
    return OpenAI(base_url=vllm_server.url, api_key="none")


@pytest.fixture(scope="module")
def rendered(vllm_server):
    """What the server's model reads of messages, each picture as one mark."""

    def render(said: list[dict], add_generation_prompt: bool) -> str:
        asked = {"model": TRAINED, "messages": said, "add_generation_prompt": add_generation_prompt}
        tokens = vllm_server.post("/tokenize", asked)["tokens"]
        text = vllm_server.post("/detokenize", {"model": TRAINED, "tokens": tokens})["prompt"]
        return re.sub(f"({re.escape(IMAGE)})+", IMAGE, text)

    return render


@pytest.fixture(scope="module")
def processor(tiny_model):
    from transformers import AutoProcessor

    return AutoProcessor.from_pretrained(tiny_model)


def test_the_tiny_model_has_the_stock_chat_template(processor, shared):
    """As far as the published one is the stock one: without tools."""
    lines = (shared / "conformance" / "chat_template_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if not case["tools"] and _plain(case["messages"])]
    assert len(cases) >= 6
    for case in cases:
        prompt = case["add_generation_prompt"]
        assert processor.apply_chat_template(case["messages"], add_generation_prompt=prompt) == case["text"]


def _plain(said: list[dict]) -> bool:
    return all(message["role"] != "tool" and "tool_calls" not in message for message in said)


def test_what_we_send_reaches_the_model_as_the_published_template_wrote_it(rendered, shared):
    cases = published_cases(shared)
    assert len(cases) >= 5
    for case in cases:
        before, unanswered = conversation(as_trajectory(case["messages"]))
        said = messages(before)
        for turn in unanswered:
            said.append({"role": "assistant", "content": [{"type": "text", "text": turn}]})
        assert rendered(said, add_generation_prompt=False) == case["text"]


def test_a_trajectory_reaches_the_model_as_it_was_trained_on(rendered, processor):
    said = TRACE.messages[:-1]
    wanted = processor.apply_chat_template(said, add_generation_prompt=True)
    assert wanted.count(IMAGE) == len(TRACE.pictures) == 5
    assert rendered(sent(said), add_generation_prompt=True) == wanted


def test_the_model_sees_our_pictures_and_in_their_order(vllm_server, tiny_model, processor):
    """The server finds each token of a conversation as likely as the same model does in this process; with
    the pictures the other way round it does not.
    """
    swatches = [Image.new("RGB", (300, 180), colour) for colour in ("red", "green", "blue", "black", "yellow")]
    said, swapped = (TRACE.trajectory.to_messages(order)[:-1] for order in (swatches, swatches[::-1]))
    here = likelihoods(tiny_model, processor, said, swatches)
    there, otherwise = (served_likelihoods(vllm_server, sent(one)) for one in (said, swapped))
    assert len(here) == len(there) == len(otherwise) > 1000
    assert furthest(here, there) < 1e-3
    assert furthest(there, otherwise) > 1


def likelihoods(folder, processor, said: list[dict], pictures) -> list[float]:
    """The log-probability of each token after the first, in this process."""
    import torch
    from transformers import AutoModelForImageTextToText

    text = processor.apply_chat_template(said, add_generation_prompt=True)
    inputs = processor(text=[text], images=pictures, return_tensors="pt")
    with torch.no_grad():
        found = AutoModelForImageTextToText.from_pretrained(folder)(**inputs).logits[0].log_softmax(-1)
    ids = inputs["input_ids"][0, 1:]
    return found[:-1].gather(1, ids[:, None])[:, 0].tolist()


def served_likelihoods(server, said: list[dict]) -> list[float]:
    """The same, by the server."""
    asked = {"model": TRAINED, "messages": said, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}
    found = server.post("/v1/chat/completions", asked)["prompt_logprobs"]
    return [next(iter(token.values()))["logprob"] for token in found[1:]]


def furthest(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def test_an_answer_to_a_picture_comes_piece_by_piece(client):
    stream = client.chat.completions.create(
        model=TRAINED, messages=sent(TRACE.messages[:2]), stream=True, temperature=0, max_tokens=200
    )
    pieces = [chunk.choices[0].delta.content for chunk in stream if chunk.choices]
    assert "".join(filter(None, pieces)) == TRACE.turns[0]
    assert len(pieces) > 10


def test_a_stream_that_is_left_frees_its_place_on_the_server(client, vllm_server):
    assert until(vllm_server.idle)
    written = vllm_server.metric(WRITTEN)
    stream = client.chat.completions.create(
        model=ENDLESS, messages=sent(TRACE.messages[:2]), stream=True, temperature=0, max_tokens=3000
    )
    pieces = iter(stream)
    next(pieces)
    stream.close()
    assert until(vllm_server.idle)
    assert vllm_server.metric(WRITTEN) - written < 3000


def test_tokens_of_a_picture_are_those_of_transformers_own_processor():
    processing = pytest.importorskip("transformers.models.qwen2_vl.image_processing_qwen2_vl")
    for width, height in (LARGEST_OVERVIEW, LARGEST_ZOOM, (792, 472), (551, 351), (447, 312)):
        high, wide = processing.smart_resize(height, width, factor=28)
        assert picture_tokens(width, height) == high // 28 * (wide // 28)
